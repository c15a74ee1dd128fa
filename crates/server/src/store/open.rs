//! The file of the database: creating, checking and migrating it, moving a damaged one aside.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::Error;
use super::error::{is_damage, is_interruption};
use super::readers::limit;
use super::schema::{self, Problem};
use crate::config::Home;
use cdpilot::sync::Deadline;

/// How long SQLite waits for another program that has locked the file.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// How long the check of the file may take. What is not checked by then counts as sound.
const CHECK_LIMIT: Duration = Duration::from_secs(10);
/// Page size of a new database, in bytes: rows of one or two kilobytes are listed in half the time of pages of 4,096.
const PAGE_BYTES: u32 = 8192;
/// Size in bytes that the write-ahead log is cut to after its content was moved into the database.
const LOG_BYTES: u32 = 16 << 20;
/// Names of the files that belong to a database, behind its own name.
const SIDE_FILES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The connection for writing, and the path that a damaged file was moved to.
pub(super) fn open(home: &Home, deadline: Deadline<'_>) -> Result<(Connection, Option<PathBuf>), Error> {
    let path = home.database();
    let mut moved = None;
    // An empty database with a log was emptied by something else than SQLite, which would delete the log.
    if size(&path) == 0 && size(&beside(&path, "-wal")) > 0 {
        moved = Some(move_aside(&path)?);
    }
    loop {
        create(home, &path).map_err(|problem| file_error(&path, &problem))?;
        match connect(&path, deadline) {
            Ok(connection) => return Ok((connection, moved)),
            Err(Problem::Sqlite(error)) if is_damage(&error) && moved.is_none() => moved = Some(move_aside(&path)?),
            Err(Problem::Sqlite(error)) => {
                return Err(match Error::from(error) {
                    Error::Failed { problem } | Error::Conflict { problem } => Error::File { path, problem },
                    other => other,
                });
            }
            Err(Problem::Other(error)) => return Err(error),
        }
    }
}

/// A connection for reading.
pub(super) fn open_reader(path: &Path) -> Result<Connection, Error> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LOCK_WAIT)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;")?;
    Ok(connection)
}

/// Creates the file readable by its owner only, or makes an existing one private. SQLite gives the log the same mode.
fn create(home: &Home, path: &Path) -> io::Result<()> {
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        options.mode(0o600);
        match options.open(path) {
            Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => {}
            other => return other.map(drop),
        }
        home.check_owner(path)?;
        for file in [path.to_owned()].into_iter().chain(SIDE_FILES.map(|end| beside(path, end))) {
            let Ok(facts) = fs::metadata(&file) else { continue };
            if facts.is_file() && facts.permissions().mode() & 0o177 != 0 {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
            }
        }
        Ok(())
    }
    #[cfg(not(unix))]
    match options.open(path) {
        Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => home.check_owner(path),
        other => other.map(drop),
    }
}

/// Opens, checks and migrates the file. A file of a newer format is not changed.
fn connect(path: &Path, deadline: Deadline<'_>) -> Result<Connection, Problem> {
    let sqlite = Problem::Sqlite;
    let mut connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(sqlite)?;
    connection.busy_timeout(LOCK_WAIT.min(deadline.left())).map_err(sqlite)?;
    // Closing moves the log into the database, which would change a newer one.
    const KEEP_LOG: DbConfig = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(KEEP_LOG, true).map_err(sqlite)?;
    let (found, known) = (schema::version(&connection).map_err(sqlite)?, schema::STEPS.len());
    let known = u32::try_from(known).unwrap_or(u32::MAX);
    if found > known {
        return Err(Problem::Other(Error::NewerVersion { path: path.to_owned(), found, known }));
    }
    check(&mut connection, path, deadline)?;
    connection.pragma_update(None, "page_size", PAGE_BYTES).map_err(sqlite)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(sqlite)?;
    if mode != "wal" {
        let problem = format!("its file system does not support a write-ahead log (SQLite chose {mode:?})");
        return Err(Problem::Other(Error::File { path: path.to_owned(), problem }));
    }
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; \
             PRAGMA journal_size_limit = {LOG_BYTES};"
        ))
        .map_err(sqlite)?;
    schema::migrate(&connection, path, schema::STEPS)?;
    connection.busy_timeout(LOCK_WAIT).map_err(sqlite)?;
    connection.set_db_config(KEEP_LOG, false).map_err(sqlite)?;
    Ok(connection)
}

/// Checks the pages of the file, as far as [`CHECK_LIMIT`] and half of the deadline allow.
fn check(connection: &mut Connection, path: &Path, deadline: Deadline<'_>) -> Result<(), Problem> {
    let within = deadline.within(CHECK_LIMIT.min(deadline.left() / 2));
    limit(connection, Some(within)).map_err(Problem::Sqlite)?;
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    limit(connection, None).map_err(Problem::Sqlite)?;
    match checked {
        Ok(answer) if answer == "ok" => Ok(()),
        Ok(answer) => {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            Err(Problem::Sqlite(rusqlite::Error::SqliteFailure(code, Some(answer))))
        }
        Err(error) if is_interruption(&error) => {
            tracing::warn!(path = %path.display(), "the database is too large to be checked completely");
            Ok(())
        }
        Err(error) => Err(Problem::Sqlite(error)),
    }
}

/// Renames a damaged database and the files that belong to it. Returns its new path.
fn move_aside(path: &Path) -> Result<PathBuf, Error> {
    let failed = |problem: io::Error| file_error(path, &problem);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let is_free =
        |target: &PathBuf| [""].iter().chain(&SIDE_FILES).all(|end| fs::symlink_metadata(beside(target, end)).is_err());
    // The name of a second that is taken: the next one.
    let target =
        (now..now.saturating_add(1000)).map(|second| beside(path, &format!(".damaged-{second}"))).find(is_free);
    let target = target.ok_or_else(|| failed(io::Error::other("no name is free to move the damaged file to")))?;
    // The database first: a log without a database is recognised at the next start and kept.
    for end in [""].iter().chain(&SIDE_FILES) {
        match fs::rename(beside(path, end), beside(&target, end)) {
            Err(problem) if problem.kind() != io::ErrorKind::NotFound => return Err(failed(problem)),
            _ => {}
        }
    }
    Ok(target)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

/// Size in bytes; 0 when there is no such file.
fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |facts| facts.len())
}

fn file_error(path: &Path, problem: &io::Error) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}
