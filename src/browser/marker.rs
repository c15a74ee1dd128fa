//! The marker in the profile of every browser that we start: who started it, and which process it is.
//!
//! It is there before the browser runs and goes when the browser has ended in order. What is left of
//! it tells a later start which process is proven to be a browser of ours whose owner is gone. While
//! its owner lives it is locked, so it also keeps two of us out of one profile. There is none on
//! Windows, where a job object ends the browser with us.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::process::list;

/// Its name in the profile folder.
const NAME: &str = "cdpilot-browser.json";
/// A marker of another format is nobody's proof.
const FORMAT: u32 = 1;
/// No marker is longer; what is, is none.
const LONGEST: u64 = 64 * 1024;

/// One process: its number, and when it was started, since numbers are used again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Who {
    pub(super) pid: u32,
    pub(super) started: String,
}

impl Who {
    /// The process that has this number now.
    pub(super) fn now(pid: u32) -> Option<Self> {
        Some(Self { pid, started: list::look(pid)?.started })
    }

    /// Whether this very process runs.
    pub(super) fn runs(&self) -> bool {
        list::look(self.pid).is_some_and(|seen| seen.started == self.started)
    }
}

/// What a marker says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    /// The process that started the browser.
    pub(super) owner: Who,
    /// The browser, leader of its process group.
    pub(super) browser: Who,
    /// For the person who finds it.
    executable: String,
}

/// What the marker in a profile says, if it is one of ours: a plain file of our user.
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
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice::<Record>(&text).ok().filter(|record| record.format == FORMAT)
}

/// Never through a link, and never waiting for a pipe that somebody put there.
fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

/// What comes of laying claim to a profile.
#[derive(Debug)]
pub(super) enum Claim {
    /// It is ours, with what the last owner left in the marker.
    Ours(Marker, Option<Record>),
    /// Another living process of ours has it. It may not have got as far as writing.
    Taken(Option<Record>),
}

/// The marker of a profile that is ours. Dropped before it was written, it is as if it had never
/// been; after that only [`Marker::remove`] takes it away.
#[derive(Debug)]
pub(super) struct Marker {
    path: PathBuf,
    file: File,
    empty: bool,
}

impl Marker {
    /// Lays claim to a profile. The claim ends with us, however we end: it is a lock on a file.
    pub(super) fn claim(dir: &Path) -> io::Result<Claim> {
        let path = dir.join(NAME);
        loop {
            let mut how = OpenOptions::new();
            how.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags());
            let file = how.open(&path)?;
            // A file system without locks has none to respect.
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
                return Ok(Claim::Taken(read_from(&file)));
            }
            // Its last owner may have removed it while we were opening it.
            let (ours, there) = (file.metadata()?, std::fs::symlink_metadata(&path));
            if there.is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())) {
                let old = read_from(&file);
                return Ok(Claim::Ours(Self { path, file, empty: ours.len() == 0 }, old));
            }
        }
    }

    /// Writes down which browser works here, started by us.
    pub(super) fn write(&mut self, browser: u32, executable: &Path) -> io::Result<()> {
        let gone = || io::Error::other("the process cannot be looked at");
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
        self.empty = false; // once only: the next file of this name is somebody else's
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
