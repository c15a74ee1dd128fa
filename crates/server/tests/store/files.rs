//! The file of the database: modes, newer formats, damage, and the end of the thread.

use std::fs;
use std::path::{Path, PathBuf};

use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::config::Home;
use cdpilot_server::store::{Batch, Error, NewConversation, Store};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::support::leaks::{Baseline, alone};

pub(crate) use crate::support::soon;

/// An open database in a temporary home.
pub(crate) struct Database {
    // Field order: the database is closed before its folder goes.
    store: Option<Store>,
    home: Home,
    _folder: TempDir,
}

impl Database {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("cdpilot-store-").tempdir().unwrap();
        let home = Home::at(folder.path());
        home.prepare().unwrap();
        let mut database = Self { store: None, home, _folder: folder };
        assert_eq!(database.reopen().unwrap(), None);
        database
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Closes the database and opens it again. Returns the path of a damaged one.
    pub(crate) fn reopen(&mut self) -> Result<Option<PathBuf>, Error> {
        self.store = None;
        let opened = Store::open(&self.home, soon())?;
        self.store = Some(opened.store);
        Ok(opened.damaged)
    }

    pub(crate) fn close(&mut self) -> PathBuf {
        self.store = None;
        self.home.database()
    }

    pub(crate) fn create(&self, id: &str) {
        self.store().create_conversation(NewConversation::new(id, "default", "chat"), soon()).unwrap();
    }

    /// Names of the files of the database.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.home.root()).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.retain(|name| name.starts_with("cdpilot.db"));
        names.sort();
        names
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn the_files_are_private_and_closing_leaves_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut at = Database::new();
    at.create("c");
    assert_eq!(at.files(), ["cdpilot.db", "cdpilot.db-shm", "cdpilot.db-wal"]);
    let modes =
        |at: &Database| -> Vec<u32> { at.files().iter().map(|name| mode(&at.home.root().join(name))).collect() };
    assert_eq!(modes(&at), [0o600; 3]);
    let path = at.close();
    assert_eq!(at.files(), ["cdpilot.db"]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    at.reopen().unwrap();
    at.create("d");
    assert_eq!(modes(&at), [0o600; 3]);
}

#[test]
fn a_newer_file_is_refused_and_not_changed() {
    let mut at = Database::new();
    at.create("c");
    let path = at.close();
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 4711).unwrap();
    newer.execute_batch("CREATE TABLE something_new (x)").unwrap();
    drop(newer);
    let before = fs::read(&path).unwrap();
    let error = at.reopen().unwrap_err();
    let Error::NewerVersion { path: named, found: 4711, known } = &error else { panic!("{error:?}") };
    assert_eq!((named, *known), (&path, 6));
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()) && text.contains("4711") && text.contains(" 6;"), "{text}");
    assert_eq!((error.kind(), fs::read(&path).unwrap() == before), (Code::Internal, true));
}

#[test]
fn a_newer_version_that_is_only_in_the_log_is_refused_and_stays_there() {
    let mut at = Database::new();
    let path = at.close();
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 9).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // A copy while it is open, as after a kill.
    let copy = Home::at(folder.path());
    fs::copy(&path, copy.database()).unwrap();
    fs::copy(path.with_extension("db-wal"), copy.root().join("cdpilot.db-wal")).unwrap();
    let before = fs::read(copy.database()).unwrap();
    let error = Store::open(&copy, soon()).unwrap_err();
    assert!(matches!(error, Error::NewerVersion { found: 9, .. }), "{error:?}");
    assert!(
        fs::read(copy.database()).unwrap() == before
            && fs::metadata(copy.root().join("cdpilot.db-wal")).unwrap().len() > 0
    );
}

/// A database with enough pages, closed.
fn filled(id: &str) -> (Database, PathBuf) {
    let mut at = Database::new();
    at.create(id);
    let batch = (0..200).fold(Batch::new(), |batch, n| batch.message(json!({ "n": n, "text": "x".repeat(500) })));
    at.store().commit(id, batch, soon()).unwrap();
    let path = at.close();
    (at, path)
}

/// A kind of damage, and the function that does it.
type Damage<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn a_damaged_file_is_moved_aside_with_its_log() {
    let truncated = |path: &Path, keep: u64| fs::File::options().write(true).open(path).unwrap().set_len(keep).unwrap();
    let scrambled = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        let half = bytes.len() / 2;
        bytes[half..].fill(0xA5);
        fs::write(path, bytes).unwrap();
    };
    let damages: [Damage<'_>; 5] = [
        ("garbage", &|path| fs::write(path, "no database at all, but a text. ".repeat(500)).unwrap()),
        ("half of it", &|path| truncated(path, fs::metadata(path).unwrap().len() / 2)),
        ("half of a page", &|path| truncated(path, 2000)),
        ("overwritten pages", &scrambled),
        ("emptied, with a log", &|path| {
            truncated(path, 0);
            fs::write(path.with_extension("db-wal"), "a log").unwrap();
        }),
    ];
    for (name, damage) in damages {
        let (mut at, path) = filled("c");
        damage(&path);
        let before = fs::read(&path).unwrap();
        let log = fs::read(path.with_extension("db-wal")).ok();
        let moved = at.reopen().unwrap().unwrap_or_else(|| panic!("{name}: not noticed"));
        let stem = moved.file_name().unwrap().to_str().unwrap().strip_prefix("cdpilot.db.damaged-").unwrap().to_owned();
        assert!(stem.parse::<u64>().is_ok_and(|seconds| seconds > 1_700_000_000), "{name}: {stem}");
        assert!(fs::read(&moved).unwrap() == before, "{name}");
        if log.is_some() {
            let moved_log = PathBuf::from(format!("{}-wal", moved.display()));
            assert_eq!(fs::read(moved_log).ok(), log, "{name}");
        }
        assert_eq!(at.store().conversation("c", soon()).unwrap(), None, "{name}");
        at.create("c");
        assert_eq!(at.reopen().unwrap(), None, "{name}: the new one is sound");
        assert!(at.store().conversation("c", soon()).unwrap().is_some());
        // The same second once more.
        let path = at.close();
        damage(&path);
        let again = at.reopen().unwrap().unwrap();
        assert!(again != moved && again.exists() && moved.exists(), "{name}: {again:?}");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_reported_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("none"));
    let missing = Store::open(&home, soon()).unwrap_err();
    assert!(matches!(&missing, Error::File { path, .. } if *path == home.database()), "{missing:?}");
    let home = Home::at(folder.path());
    fs::create_dir(home.database()).unwrap();
    let error = Store::open(&home, soon()).unwrap_err();
    assert!(matches!(&error, Error::File { path, .. } if *path == home.database()), "{error:?}");
    assert!(home.database().is_dir());
}

#[test]
fn a_lock_of_another_program_is_busy_and_harms_nothing() {
    let mut at = Database::new();
    let path = at.close();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE x (y)").unwrap();
    let error = Store::open(at.home(), Deadline::after_millis(100)).unwrap_err();
    assert_eq!(error.kind(), Code::Busy, "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    assert_eq!(at.reopen().unwrap(), None);
    at.create("c");
}

#[test]
fn dropping_the_last_handle_ends_the_thread_and_closes_the_files() {
    alone(module_path!(), "dropping_the_last_handle_ends_the_thread_and_closes_the_files", || {
        let mut at = Database::new();
        at.close();
        let baseline = Baseline::now();
        at.reopen().unwrap();
        let handle = at.store().clone();
        at.create("c");
        assert!(handle.conversation("c", soon()).unwrap().is_some());
        let open = baseline.left_over();
        if Path::new("/proc/self/task").exists() {
            assert!(open.iter().any(|line| line.contains("store-write")), "{open:?}");
            assert!(open.iter().any(|line| line.contains("cdpilot.db-wal")), "{open:?}");
        }
        at.close();
        assert!(handle.conversation("c", soon()).unwrap().is_some(), "a clone keeps it open");
        drop(handle);
        baseline.assert_back(soon());
    });
}
