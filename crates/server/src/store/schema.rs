//! The tables, as a list of steps from each format of the file to the next.

use std::path::Path;

use rusqlite::Connection;

use super::Error;

/// Step `n` leads from format `n` to format `n + 1`. Steps that were released are never changed.
pub(super) const STEPS: &[&str] = &[AGENT, ROUTINES, RECORDINGS, STEP_EVENTS, ACTIONS, TEXTS];

/// Conversations of the agent, and ids of browsers.
const AGENT: &str = "
CREATE TABLE conversations (
    id TEXT PRIMARY KEY NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    state TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    settings TEXT NOT NULL,
    usage TEXT NOT NULL DEFAULT 'null',
    message_count INTEGER NOT NULL DEFAULT 0,
    unfinished INTEGER NOT NULL DEFAULT 0,
    images INTEGER NOT NULL DEFAULT 0,
    last_event INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX conversations_by_time ON conversations (updated_at);

CREATE TABLE messages (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, n)
) STRICT;

CREATE TABLE events (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    id INTEGER NOT NULL,
    ts REAL NOT NULL,
    event TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (conversation, id)
) STRICT;

CREATE TABLE images (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (conversation, n)
) STRICT;

CREATE TABLE intents (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    at REAL NOT NULL,
    outcome TEXT,
    closed_at REAL,
    UNIQUE (conversation, call_id)
) STRICT;

CREATE TABLE questions (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    asked_at REAL NOT NULL,
    answer TEXT,
    answered_at REAL
) STRICT;
CREATE INDEX questions_by_conversation ON questions (conversation);

CREATE TABLE browser_ids (
    hash TEXT PRIMARY KEY NOT NULL,
    binding TEXT NOT NULL UNIQUE,
    endpoint TEXT,
    profile TEXT,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL
) STRICT;
";

/// Routines with their versions, and runs of them.
const ROUTINES: &str = "
CREATE TABLE routines (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    markdown TEXT NOT NULL,
    recording TEXT,
    trust TEXT NOT NULL DEFAULT 'untried',
    allowed TEXT NOT NULL DEFAULT '[]',
    defaults TEXT NOT NULL DEFAULT '{}',
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL
) STRICT;
CREATE INDEX routines_by_time ON routines (updated_at);

CREATE TABLE routine_versions (
    routine TEXT NOT NULL REFERENCES routines (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    markdown TEXT NOT NULL,
    state TEXT NOT NULL,
    run TEXT,
    created_at REAL NOT NULL,
    PRIMARY KEY (routine, n)
) STRICT;

CREATE TABLE routine_runs (
    id TEXT PRIMARY KEY NOT NULL,
    routine TEXT REFERENCES routines (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    status TEXT NOT NULL,
    code TEXT,
    report TEXT NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL
) STRICT;
CREATE INDEX routine_runs_by_routine ON routine_runs (routine, started_at);

CREATE TABLE routine_run_images (
    run TEXT NOT NULL REFERENCES routine_runs (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    bytes BLOB NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (run, n)
) STRICT;
";

/// Recordings with their events and pictures. A browser has one that is active.
const RECORDINGS: &str = "
CREATE TABLE recordings (
    id TEXT PRIMARY KEY NOT NULL,
    browser TEXT,
    name TEXT,
    status TEXT NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    launch_mode TEXT,
    profile TEXT,
    conversation TEXT,
    start_url TEXT NOT NULL DEFAULT '',
    width INTEGER,
    height INTEGER,
    started_at REAL NOT NULL,
    stopped_at REAL,
    stop_reason TEXT,
    intent_note TEXT NOT NULL DEFAULT '',
    event_count INTEGER NOT NULL DEFAULT 0,
    gaps INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    compile TEXT NOT NULL DEFAULT 'null',
    settings TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE UNIQUE INDEX recordings_active ON recordings (browser) WHERE status = 'active';
CREATE INDEX recordings_by_time ON recordings (started_at);
CREATE INDEX routines_by_recording ON routines (recording);

CREATE TABLE recording_events (
    recording TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
    event_index INTEGER NOT NULL,
    type TEXT NOT NULL,
    revision INTEGER NOT NULL,
    posted INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (recording, event_index)
) STRICT;
CREATE INDEX recording_events_by_revision ON recording_events (recording, revision);

CREATE TABLE recording_keyframes (
    recording TEXT NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
    event_index INTEGER NOT NULL,
    after INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (recording, event_index, after)
) STRICT;
";

/// Recorded events of the steps of a version.
const STEP_EVENTS: &str = "
ALTER TABLE routine_versions ADD COLUMN step_events TEXT NOT NULL DEFAULT 'null';
";

/// What the agents of conversations did in pages.
const ACTIONS: &str = "
CREATE TABLE actions (
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    n INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, n)
) STRICT;
";

/// Texts that are searched.
const TEXTS: &str = "
CREATE TABLE texts (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    at REAL NOT NULL,
    role TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX texts_by_conversation ON texts (conversation, n);
CREATE VIRTUAL TABLE texts_by_word USING fts5 (
    body, content = 'texts', content_rowid = 'n', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
CREATE VIRTUAL TABLE texts_by_part USING fts5 (
    body, content = 'texts', content_rowid = 'n', tokenize = 'trigram remove_diacritics 1'
);
CREATE TRIGGER texts_added AFTER INSERT ON texts BEGIN
    INSERT INTO texts_by_word (rowid, body) VALUES (new.n, new.body);
    INSERT INTO texts_by_part (rowid, body) VALUES (new.n, new.body);
END;
CREATE TRIGGER texts_removed AFTER DELETE ON texts BEGIN
    INSERT INTO texts_by_word (texts_by_word, rowid, body) VALUES ('delete', old.n, old.body);
    INSERT INTO texts_by_part (texts_by_part, rowid, body) VALUES ('delete', old.n, old.body);
END;
INSERT INTO texts (conversation, at, role, body)
    SELECT conversation, updated_at, json_extract(body, '$.role'), substr(json_extract(body, '$.content'), 1, 16000)
    FROM messages JOIN conversations ON conversations.id = conversation
    WHERE json_extract(body, '$.role') IN ('user', 'assistant', 'tool') AND json_extract(body, '$.kind') IS NULL
        AND json_extract(body, '$.content') <> ''
    ORDER BY updated_at, conversation, messages.n;
";

/// The format of the file: 0 for a new one.
pub(super) fn version(connection: &Connection) -> Result<u32, rusqlite::Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Applies the missing steps, each in one transaction. A file of a newer format is refused, see [`Error::NewerVersion`].
pub(super) fn migrate(connection: &Connection, path: &Path, steps: &[&str]) -> Result<(), Problem> {
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    loop {
        // Read inside the transaction: another process may apply the same step.
        connection.execute_batch("BEGIN IMMEDIATE").map_err(Problem::Sqlite)?;
        let done = next_step(connection, path, steps, known);
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = connection.execute_batch(end).map_err(Problem::Sqlite);
        if done.and_then(|done| ended.map(|()| done))? {
            return Ok(());
        }
    }
}

/// Why a file cannot be migrated.
#[derive(Debug)]
pub(super) enum Problem {
    /// SQLite failed; the file may be damaged.
    Sqlite(rusqlite::Error),
    /// The file is of no use.
    Other(Error),
}

/// Applies one step; true when none was missing.
fn next_step(connection: &Connection, path: &Path, steps: &[&str], known: u32) -> Result<bool, Problem> {
    let found = version(connection).map_err(Problem::Sqlite)?;
    if found > known {
        return Err(Problem::Other(Error::NewerVersion { path: path.to_owned(), found, known }));
    }
    let Some(step) = steps.get(found as usize) else { return Ok(true) };
    connection.execute_batch(step).map_err(Problem::Sqlite)?;
    connection.pragma_update(None, "user_version", found + 1).map_err(Problem::Sqlite)?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(connection: &Connection) -> Vec<String> {
        let mut query = connection.prepare("SELECT name FROM sqlite_schema ORDER BY rowid").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn missing_steps_are_applied_in_order() {
        let (file, path) = (Connection::open_in_memory().unwrap(), Path::new("cdpilot.db"));
        let steps = ["CREATE TABLE a (x)", "ALTER TABLE a RENAME TO b", "CREATE TABLE a (y); INSERT INTO b VALUES (7)"];
        migrate(&file, path, &steps[..1]).unwrap();
        assert_eq!((version(&file).unwrap(), names(&file)), (1, vec!["a".to_owned()]));
        migrate(&file, path, &steps).unwrap();
        migrate(&file, path, &steps).unwrap();
        assert_eq!((version(&file).unwrap(), names(&file)), (3, vec!["b".to_owned(), "a".to_owned()]));
        assert_eq!(file.query_row("SELECT count(*) FROM b", [], |row| row.get::<_, u32>(0)).unwrap(), 1);
        let newer = migrate(&file, path, &steps[..2]);
        let Err(Problem::Other(error)) = newer else { panic!("{newer:?}") };
        assert_eq!(error, Error::NewerVersion { path: path.to_owned(), found: 3, known: 2 });
        assert_eq!(version(&file).unwrap(), 3);
    }

    #[test]
    fn a_failed_step_leaves_the_format_before_it() {
        let (file, path) = (Connection::open_in_memory().unwrap(), Path::new("cdpilot.db"));
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"];
        assert!(matches!(migrate(&file, path, &steps), Err(Problem::Sqlite(_))));
        assert_eq!((version(&file).unwrap(), names(&file)), (1, vec!["a".to_owned()]));
    }

    #[test]
    fn an_empty_file_gets_all_tables() {
        let file = Connection::open_in_memory().unwrap();
        migrate(&file, Path::new("cdpilot.db"), STEPS).unwrap();
        assert_eq!(version(&file).unwrap() as usize, STEPS.len());
        let agent = ["conversations", "messages", "events", "images", "intents", "questions", "browser_ids"];
        let others = ["actions", "routines", "recordings", "recording_events", "recording_keyframes"];
        for table in agent.into_iter().chain(others) {
            assert!(names(&file).iter().any(|name| name == table), "{table}");
        }
    }
}
