//! The running server of a home: at most one, and its address.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Error, Home};
use cdpilot::sync::{Deadline, pause};

/// How long to wait for processes that check for a server.
const CHECK_TIME: Duration = Duration::from_millis(500);

/// The content of `run/server.json`: the server of a home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Running {
    /// Process id of the server.
    pub pid: u32,
    /// The port that the server listens on.
    pub port: u16,
    /// The base URL, such as `http://127.0.0.1:18791`.
    pub url: String,
    /// The start time, in Unix seconds.
    pub started_at: f64,
    /// The version of cdpilot.
    pub version: String,
    /// The environment variables that set its browser, each with a hash of its value: a CDP URL is secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, u64>,
}

/// The environment variables that set the browser of a server. They are read when it starts.
const OF_SERVER: [&str; 3] = ["CDPILOT_BROWSER", "CDPILOT_CDP_URL", "CDPILOT_HEADLESS"];

/// The exclusive right to serve a home. It ends with the process, in any case.
#[derive(Debug)]
pub struct Claim {
    // Held, not read: the lock lasts as long as the file is open.
    _lock: File,
    written: PathBuf,
}

/// The result of claiming a home.
#[derive(Debug)]
pub enum Claimed {
    /// This process has the right to serve the home.
    Ours(Claim),
    /// Another server runs; its address, unless it is just starting.
    Taken(Option<Running>),
}

impl Running {
    /// The variables of this process that set the browser of a server, for [`Running::environment`].
    #[must_use]
    pub fn environment_now() -> BTreeMap<String, u64> {
        let set = OF_SERVER.into_iter().filter_map(|name| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
            // A background server gets the absolute path.
            let is_path = name == "CDPILOT_BROWSER" && Path::new(&value).components().count() > 1;
            let value =
                if is_path { std::path::absolute(&value).map_or(value, PathBuf::into_os_string) } else { value };
            let mut hash = DefaultHasher::new();
            value.hash(&mut hash);
            Some((name.to_owned(), hash.finish()))
        });
        set.collect()
    }

    /// The variables of this process that set a browser which the running server does not use.
    #[must_use]
    pub fn ignored_environment(&self) -> Vec<String> {
        let now = Self::environment_now().into_iter();
        now.filter(|(name, value)| self.environment.get(name) != Some(value)).map(|(name, _)| name).collect()
    }

    /// The server that runs for the home at present. `None` when there is none: stale files are ignored, without a
    /// process scan.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn of(home: &Home) -> Result<Option<Self>, Error> {
        if !home.run().exists() {
            return Ok(None);
        }
        let lock = open_lock(home)?;
        match lock.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(read(home)),
            Err(TryLockError::Error(problem)) => Err(Error::file("lock", lock_path(home), &problem)),
        }
    }

    /// The process that serves the home, or is about to: it has the lock, but may not have published its address yet.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn process_of(home: &Home) -> Result<Option<u32>, Error> {
        if !home.run().exists() {
            return Ok(None);
        }
        let mut lock = open_lock(home)?;
        match lock.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = lock.read_to_string(&mut text);
                Ok(text.trim().parse().ok().or_else(|| Some(read(home)?.pid)))
            }
            Err(TryLockError::Error(problem)) => Err(Error::file("lock", lock_path(home), &problem)),
        }
    }
}

impl Claim {
    /// Claims the home.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn of(home: &Home) -> Result<Claimed, Error> {
        let lock = open_lock(home)?;
        let failed = |problem: &std::io::Error| Error::file("lock", lock_path(home), problem);
        let until = Deadline::after(CHECK_TIME);
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(problem)) => return Err(failed(&problem)),
                Err(TryLockError::WouldBlock) => {}
            }
            // Processes that only check hold a shared lock for a moment; a server holds an exclusive one.
            match lock.try_lock_shared() {
                Ok(()) if !until.passed() => lock.unlock().map_err(|problem| failed(&problem))?,
                Ok(()) => return Ok(Claimed::Taken(read(home))),
                // A forked process keeps its parent's released lock until it executes its program.
                Err(TryLockError::WouldBlock) => match read(home) {
                    None if !until.passed() => {}
                    running => return Ok(Claimed::Taken(running)),
                },
                Err(TryLockError::Error(problem)) => return Err(failed(&problem)),
            }
            pause(Duration::from_millis(1));
        }
        // On a full disk the file stays empty, and the process id is known once the address has been published.
        let _ = lock.set_len(0).and_then(|()| write!(&lock, "{}", std::process::id()));
        let written = path(home);
        // The file of an earlier server is stale.
        let _ = fs::remove_file(&written);
        Ok(Claimed::Ours(Self { _lock: lock, written }))
    }

    /// Publishes the address of the server.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn announce(&self, running: &Running) -> Result<(), Error> {
        let failed = |problem: &std::io::Error| Error::file("write", &self.written, problem);
        let folder = self.written.parent().unwrap_or(&self.written);
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| failed(&e))?;
        serde_json::to_writer(&mut file, running).map_err(|e| failed(&e.into()))?;
        file.flush().map_err(|e| failed(&e))?;
        file.persist(&self.written).map_err(|e| failed(&e.error))?;
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.written);
    }
}

fn path(home: &Home) -> PathBuf {
    home.run().join("server.json")
}

fn lock_path(home: &Home) -> PathBuf {
    home.run().join("server.lock")
}

fn open_lock(home: &Home) -> Result<File, Error> {
    let path = lock_path(home);
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Never follows a link.
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(&path).map_err(|problem| Error::file("open", path, &problem))
}

fn read(home: &Home) -> Option<Running> {
    serde_json::from_str(&home.read(&path(home)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use cdpilot::sync::spawn;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare().unwrap();
        (folder, home)
    }

    fn running(pid: u32) -> Running {
        Running {
            pid,
            port: 1,
            url: "http://127.0.0.1:1".into(),
            started_at: 1.0,
            version: "1".into(),
            environment: BTreeMap::new(),
        }
    }

    #[test]
    fn looking_for_a_server_keeps_none_from_starting() {
        let (_folder, home) = home();
        let end = Arc::new(AtomicBool::new(false));
        let look = |_| {
            let (home, end) = (home.clone(), Arc::clone(&end));
            let look = move || {
                while !end.load(Ordering::Relaxed) {
                    Running::of(&home).unwrap();
                }
            };
            spawn("looks", look).unwrap()
        };
        let looking: Vec<_> = (0..3).map(look).collect();
        let ours = (0..50).filter(|_| matches!(Claim::of(&home).unwrap(), Claimed::Ours(_))).count();
        end.store(true, Ordering::Relaxed);
        drop(looking);
        assert_eq!(ours, 50);
    }

    #[test]
    fn what_a_dead_server_left_is_not_told_of_its_successor() {
        let (_folder, home) = home();
        fs::write(path(&home), serde_json::to_string(&running(7)).unwrap()).unwrap();
        assert_eq!(Running::of(&home).unwrap(), None);
        let Claimed::Ours(claim) = Claim::of(&home).unwrap() else { panic!("nobody serves") };
        assert_eq!(Running::of(&home).unwrap(), None);
        assert!(matches!(Claim::of(&home).unwrap(), Claimed::Taken(None)));
        assert_eq!(Running::process_of(&home).unwrap(), Some(std::process::id()));
        claim.announce(&running(8)).unwrap();
        assert_eq!(Running::of(&home).unwrap(), Some(running(8)));
        drop(claim);
        assert_eq!(Running::of(&home).unwrap(), None);
        assert_eq!(Running::process_of(&home).unwrap(), None);
    }
}
