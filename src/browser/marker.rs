//! The marker in the profile of every started browser: the owner process and the browser process.
//!
//! It is written before the browser runs and removed when the browser has ended normally. A remaining marker proves to
//! a later start which process is a browser whose owner has ended. It is locked while its owner lives, which also keeps
//! two processes of this library out of one profile. There is none on Windows, where a job object ends the browser with
//! its owner.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::process::list;

/// The file name in the profile folder.
const NAME: &str = "cdpilot-browser.json";
/// A marker of another format proves nothing.
const FORMAT: u32 = 1;
/// Maximum size of a marker, in bytes.
const MAX_SIZE: u64 = 64 * 1024;

/// A process: its id and start time, since ids are reused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Who {
    pub(super) pid: u32,
    pub(super) started: String,
}

impl Who {
    /// The process that has this id now.
    pub(super) fn now(pid: u32) -> Option<Self> {
        Some(Self { pid, started: list::read(pid)?.started })
    }

    /// Whether this process is still running.
    pub(super) fn runs(&self) -> bool {
        list::read(self.pid).is_some_and(|seen| seen.started == self.started)
    }
}

/// The content of a marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    /// The process that started the browser.
    pub(super) owner: Who,
    /// The browser, leader of its process group.
    pub(super) browser: Who,
    /// For people who find the file.
    executable: String,
}

/// The content of the marker in a profile, if it is a plain file of this user.
pub(super) fn read(dir: &Path) -> Option<Record> {
    let file = OpenOptions::new().read(true).custom_flags(flags()).open(dir.join(NAME)).ok()?;
    read_from(&file)
}

fn read_from(file: &File) -> Option<Record> {
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.uid() != rustix::process::geteuid().as_raw() {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_SIZE).read_to_end(&mut text).ok()?;
    serde_json::from_slice::<Record>(&text).ok().filter(|record| record.format == FORMAT)
}

/// Open flags: never follow a link or wait for a pipe.
fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

/// The result of claiming a profile.
#[derive(Debug)]
pub(super) enum Claim {
    /// Claimed, with the marker that the last owner left.
    Ours(Marker, Option<Record>),
    /// Claimed by another running process of this library, which may not have written its marker yet.
    Taken(Option<Record>),
}

/// The marker of a claimed profile. Dropped before it was written, it leaves no trace; afterwards only
/// [`Marker::remove`] removes it.
#[derive(Debug)]
pub(super) struct Marker {
    path: PathBuf,
    file: File,
    empty: bool,
}

impl Marker {
    /// Claims a profile. The claim ends with this process in any case: it is a lock on a file.
    pub(super) fn claim(dir: &Path) -> io::Result<Claim> {
        let path = dir.join(NAME);
        loop {
            let mut how = OpenOptions::new();
            how.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags());
            let file = how.open(&path)?;
            // On a file system without locks there is none to respect.
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
                return Ok(Claim::Taken(read_from(&file)));
            }
            // The last owner may have removed it while it was being opened.
            let (ours, current) = (file.metadata()?, std::fs::symlink_metadata(&path));
            if current.is_ok_and(|current| (current.dev(), current.ino()) == (ours.dev(), ours.ino())) {
                let old = read_from(&file);
                return Ok(Claim::Ours(Self { path, file, empty: ours.len() == 0 }, old));
            }
        }
    }

    /// Writes which browser uses the profile.
    pub(super) fn write(&mut self, browser: u32, executable: &Path) -> io::Result<()> {
        let gone = || io::Error::other("the process cannot be read");
        let record = Record {
            format: FORMAT,
            owner: Who::now(std::process::id()).ok_or_else(gone)?,
            browser: Who::now(browser).ok_or_else(gone)?,
            executable: executable.display().to_string(),
        };
        self.file.set_permissions(Permissions::from_mode(0o600))?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.empty = false;
        self.file.write_all(&serde_json::to_vec(&record)?)
    }

    /// Removes it: the browser has ended.
    pub(super) fn remove(mut self) {
        self.empty = false; // once only: the next file of this name may have another owner
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        if self.empty {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
