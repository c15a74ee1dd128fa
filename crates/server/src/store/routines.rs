//! Routines with all their versions. What their texts mean is not known here.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use super::conversations::count;
use super::texts::texts;
use super::{Error, Store, now, parsed, text_of};
use cdpilot::sync::Deadline;

texts! {
    /// Whether the present text of a routine is known to work.
    Trust {
        /// `untried`: no run of it has ended.
        Untried = "untried",
        /// `verified`: its last run was done to the end.
        Verified = "verified",
        /// `failing`: its last run failed.
        Failing = "failing",
    }
}

texts! {
    /// What a version of a routine is.
    VersionState {
        /// `accepted`: it is or was the text of the routine.
        Accepted = "accepted",
        /// `proposed`: a run proposes it, and nobody has decided.
        Proposed = "proposed",
        /// `rejected`: it was proposed and rejected.
        Rejected = "rejected",
    }
}

/// A routine.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRoutine {
    /// Its id, as given when it was created.
    pub id: String,
    /// Its name, which no other routine has.
    pub name: String,
    /// Number of the version that its text is, from 1.
    pub version: u64,
    /// Its text.
    pub markdown: String,
    /// Id of the recording that it was made from.
    pub recording: Option<String>,
    /// Whether that recording still exists.
    pub source_present: bool,
    /// Whether its text is known to work.
    pub trust: Trust,
    /// What a person has allowed for later runs: an array, as given.
    pub allowed: Value,
    /// How runs are made unless they say otherwise: an object, as given.
    pub defaults: Value,
    /// The newest version that is proposed, with the run that proposes it.
    pub proposed: Option<(u64, String)>,
    /// Numbers of the steps that can be done without a model: an array, as stored with the events of its text; null without any.
    pub fast_steps: Value,
    /// When it was created, in seconds since 1970.
    pub created_at: f64,
    /// When it was last changed, in seconds since 1970.
    pub updated_at: f64,
}

/// A version of a routine.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutineVersion {
    /// Its number, from 1.
    pub n: u64,
    /// Its text.
    pub markdown: String,
    /// What it is.
    pub state: VersionState,
    /// The run that has proposed it.
    pub run: Option<String>,
    /// When it was stored, in seconds since 1970.
    pub created_at: f64,
    /// Recorded events of its steps, as given; null without any.
    pub step_events: Value,
}

/// A routine to create.
#[derive(Debug, Clone)]
pub struct NewRoutine {
    /// An id that is not in use.
    pub id: String,
    /// A name that is not in use.
    pub name: String,
    /// Its text.
    pub markdown: String,
    /// Id of the recording that it was made from.
    pub recording: Option<String>,
    /// How runs are made unless they say otherwise: an object.
    pub defaults: Value,
    /// Recorded events of its steps: an object of arrays, by the number of the step; null without any.
    pub step_events: Value,
}

/// Changes of a routine.
#[derive(Debug, Clone, Default)]
pub struct RoutineChange {
    /// A new name.
    pub name: Option<String>,
    /// A new text, which becomes a version of its own if it differs.
    pub markdown: Option<String>,
    /// New defaults.
    pub defaults: Option<Value>,
    /// Recorded events of the steps of the new text.
    pub step_events: Value,
}

const COLUMNS: &str = "id, name, version, markdown, recording, trust, allowed, defaults, created_at, updated_at, \
    (SELECT n FROM routine_versions WHERE routine = routines.id AND state = 'proposed' ORDER BY n DESC LIMIT 1), \
    (SELECT run FROM routine_versions WHERE routine = routines.id AND state = 'proposed' ORDER BY n DESC LIMIT 1), \
    EXISTS (SELECT 1 FROM recordings WHERE id = routines.recording), \
    (SELECT json_extract(step_events, '$.fast') FROM routine_versions WHERE routine = routines.id AND n = routines.version)";

impl Store {
    /// Stores a routine as version 1.
    ///
    /// # Errors
    /// [`Error::Conflict`] when its id or its name is in use; the errors of writing, see
    /// [`create_conversation`](Self::create_conversation).
    pub fn create_routine(&self, new: NewRoutine, deadline: Deadline<'_>) -> Result<StoredRoutine, Error> {
        self.write(deadline, move |on| create(on, &new))
    }

    /// At most `limit` routines, the last changed first.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn routines(&self, limit: usize, deadline: Deadline<'_>) -> Result<Vec<StoredRoutine>, Error> {
        self.read(deadline, |on| {
            let sql = format!("SELECT {COLUMNS} FROM routines ORDER BY updated_at DESC, id LIMIT ?1");
            let mut query = on.prepare(&sql)?;
            let mut rows = query.query([count(limit)])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(routine(row)?);
            }
            Ok(all)
        })
    }

    /// A routine by its id or its name; `None` when there is none.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn routine(&self, id_or_name: &str, deadline: Deadline<'_>) -> Result<Option<StoredRoutine>, Error> {
        self.read(deadline, |on| one(on, id_or_name))
    }

    /// Changes a routine, if `version` is the present one. A text that differs becomes a version of its own, and counts as untried.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] for a version that is not the present one, and for a name that is in use; the errors
    /// of writing, see [`create_conversation`](Self::create_conversation).
    pub fn change_routine(
        &self,
        id: &str,
        version: u64,
        change: RoutineChange,
        deadline: Deadline<'_>,
    ) -> Result<StoredRoutine, Error> {
        let id = id.to_owned();
        let defaults = change.defaults.as_ref().map(text_of).transpose()?;
        self.write(deadline, move |on| {
            let before = existing(on, &id)?;
            if before.version != version {
                let problem = format!(
                    "the routine has version {} by now, not {version}; read it again, and repeat your change there",
                    before.version
                );
                return Err(Error::conflict(problem));
            }
            if let Some(name) = &change.name {
                check_name(on, name, &id)?;
            }
            let sql = "UPDATE routines SET name = coalesce(?2, name), defaults = coalesce(?3, defaults), updated_at = ?4 \
                       WHERE id = ?1";
            on.execute(sql, params![id, change.name, defaults, now()])?;
            if let Some(markdown) = change.markdown.as_ref().filter(|markdown| **markdown != before.markdown) {
                let n = next_version(on, &id)?;
                put_version(on, &id, n, markdown, VersionState::Accepted, None)?;
                put_step_events(on, &id, n, &change.step_events)?;
                set_text(on, &id, n, markdown)?;
            }
            existing(on, &id)
        })
    }

    /// The versions of a routine, the newest first.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn routine_versions(&self, id: &str, deadline: Deadline<'_>) -> Result<Vec<RoutineVersion>, Error> {
        self.read(deadline, |on| {
            let sql =
                "SELECT n, markdown, state, run, created_at, step_events FROM routine_versions WHERE routine = ?1 ORDER BY n DESC";
            let mut query = on.prepare(sql)?;
            let mut rows = query.query([id])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(RoutineVersion {
                    n: row.get(0)?,
                    markdown: row.get(1)?,
                    state: row.get(2)?,
                    run: row.get(3)?,
                    created_at: row.get(4)?,
                    step_events: parsed(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?,
                });
            }
            Ok(all)
        })
    }

    /// Stores a version that a run proposes, with the recorded events of its steps. The text of the routine stays.
    ///
    /// # Errors
    /// [`Error::NotFound`]; the errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn propose_version(
        &self,
        id: &str,
        markdown: &str,
        run: &str,
        step_events: Value,
        deadline: Deadline<'_>,
    ) -> Result<u64, Error> {
        let (id, markdown, run) = (id.to_owned(), markdown.to_owned(), run.to_owned());
        self.write(deadline, move |on| {
            existing(on, &id)?;
            let n = next_version(on, &id)?;
            put_version(on, &id, n, &markdown, VersionState::Proposed, Some(&run))?;
            put_step_events(on, &id, n, &step_events)?;
            Ok(n)
        })
    }

    /// Replaces the recorded events of the steps of a version.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn set_step_events(&self, id: &str, n: u64, events: Value, deadline: Deadline<'_>) -> Result<(), Error> {
        let id = id.to_owned();
        self.write(deadline, move |on| put_step_events(on, &id, n, &events))
    }

    /// Makes a version the text of its routine (a proposed one, or an older one again), or rejects a proposed one.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when a version that is not proposed is rejected; the errors of writing, see
    /// [`create_conversation`](Self::create_conversation).
    pub fn decide_version(
        &self,
        id: &str,
        n: u64,
        accepted: bool,
        deadline: Deadline<'_>,
    ) -> Result<StoredRoutine, Error> {
        let id = id.to_owned();
        self.write(deadline, move |on| {
            let before = existing(on, &id)?;
            let sql = "SELECT markdown, state FROM routine_versions WHERE routine = ?1 AND n = ?2";
            let version: Option<(String, VersionState)> =
                on.query_row(sql, params![id, n], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            let (markdown, state) = version.ok_or_else(|| Error::not_found("version of the routine", n.to_string()))?;
            let sql = "UPDATE routine_versions SET state = ?3 WHERE routine = ?1 AND n = ?2";
            match (accepted, state) {
                (false, VersionState::Proposed) => {
                    on.execute(sql, params![id, n, VersionState::Rejected])?;
                }
                (false, _) => {
                    return Err(Error::conflict(format!("version {n} is not proposed, so it cannot be rejected")));
                }
                (true, VersionState::Accepted) if n == before.version => {}
                (true, VersionState::Accepted) => {
                    // An older text again, as a new version: the history stays as it was.
                    let next = next_version(on, &id)?;
                    put_version(on, &id, next, &markdown, VersionState::Accepted, None)?;
                    let sql = "UPDATE routine_versions SET step_events = (SELECT step_events FROM routine_versions \
                               WHERE routine = ?1 AND n = ?3) WHERE routine = ?1 AND n = ?2";
                    on.execute(sql, params![id, next, n])?;
                    set_text(on, &id, next, &markdown)?;
                }
                (true, _) => {
                    on.execute(sql, params![id, n, VersionState::Accepted])?;
                    set_text(on, &id, n, &markdown)?;
                }
            }
            existing(on, &id)
        })
    }

    /// Replaces what a person has allowed for later runs of a routine, by a function of what is allowed now. `None`: nothing changes.
    ///
    /// # Errors
    /// [`Error::NotFound`]; those of `change`; the errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn change_allowed(
        &self,
        id: &str,
        mut change: impl FnMut(Value) -> Result<Value, Error> + Send + 'static,
        deadline: Deadline<'_>,
    ) -> Result<StoredRoutine, Error> {
        let id = id.to_owned();
        self.write(deadline, move |on| {
            let before = existing(on, &id)?;
            let allowed = text_of(&change(before.allowed)?)?;
            on.execute("UPDATE routines SET allowed = ?2 WHERE id = ?1", params![id, allowed])?;
            existing(on, &id)
        })
    }

    /// Deletes a routine with its versions and the reports of its runs. False when there is none with this id.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn delete_routine(&self, id: &str, deadline: Deadline<'_>) -> Result<bool, Error> {
        let id = id.to_owned();
        self.write(deadline, move |on| Ok(on.execute("DELETE FROM routines WHERE id = ?1", [&id])? > 0))
    }
}

/// Stores a routine as version 1.
pub(super) fn create(on: &Connection, new: &NewRoutine) -> Result<StoredRoutine, Error> {
    check_name(on, &new.name, &new.id)?;
    let defaults = text_of(&new.defaults)?;
    let sql = "INSERT INTO routines (id, name, version, markdown, recording, defaults, created_at, updated_at) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?6)";
    on.execute(sql, params![new.id, new.name, new.markdown, new.recording, defaults, now()])?;
    put_version(on, &new.id, 1, &new.markdown, VersionState::Accepted, None)?;
    put_step_events(on, &new.id, 1, &new.step_events)?;
    existing(on, &new.id)
}

/// Refuses a name that another routine has.
fn check_name(on: &Connection, name: &str, id: &str) -> Result<(), Error> {
    let sql = "SELECT 1 FROM routines WHERE name = ?1 AND id <> ?2";
    if on.query_row(sql, [name, id], |_| Ok(())).optional()?.is_some() {
        return Err(Error::conflict(format!("there is a routine named {name:?} already; choose another name")));
    }
    Ok(())
}

fn next_version(on: &Connection, id: &str) -> Result<u64, Error> {
    let sql = "SELECT coalesce(max(n), 0) + 1 FROM routine_versions WHERE routine = ?1";
    Ok(on.query_row(sql, [id], |row| row.get(0))?)
}

fn put_version(
    on: &Connection,
    id: &str,
    n: u64,
    markdown: &str,
    state: VersionState,
    run: Option<&str>,
) -> Result<(), Error> {
    let sql =
        "INSERT INTO routine_versions (routine, n, markdown, state, run, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    on.execute(sql, params![id, n, markdown, state, run, now()])?;
    Ok(())
}

fn put_step_events(on: &Connection, id: &str, n: u64, events: &Value) -> Result<(), Error> {
    let sql = "UPDATE routine_versions SET step_events = ?3 WHERE routine = ?1 AND n = ?2";
    on.execute(sql, params![id, n, text_of(events)?])?;
    Ok(())
}

fn set_text(on: &Connection, id: &str, n: u64, markdown: &str) -> Result<(), Error> {
    let sql = "UPDATE routines SET version = ?2, markdown = ?3, trust = ?4, updated_at = ?5 WHERE id = ?1";
    on.execute(sql, params![id, n, markdown, Trust::Untried, now()])?;
    Ok(())
}

fn existing(on: &Connection, id: &str) -> Result<StoredRoutine, Error> {
    one(on, id)?.ok_or_else(|| Error::not_found("routine", id))
}

/// A routine by its id, else by its name.
fn one(on: &Connection, id_or_name: &str) -> Result<Option<StoredRoutine>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM routines WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC LIMIT 1");
    on.query_row(&sql, [id_or_name], |row| Ok(routine(row))).optional()?.transpose()
}

/// A row with [`COLUMNS`].
fn routine(row: &Row<'_>) -> Result<StoredRoutine, Error> {
    let json =
        |at: usize| -> Result<Value, Error> { parsed(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?) };
    let (proposed, run): (Option<u64>, Option<String>) = (row.get(10)?, row.get(11)?);
    let fast: Option<String> = row.get(13)?;
    Ok(StoredRoutine {
        id: row.get(0)?,
        name: row.get(1)?,
        version: row.get(2)?,
        markdown: row.get(3)?,
        recording: row.get(4)?,
        source_present: row.get(12)?,
        trust: row.get(5)?,
        allowed: json(6)?,
        defaults: json(7)?,
        fast_steps: fast.map_or(Ok(Value::Null), |fast| parsed(&fast))?,
        created_at: row.get(8)?,
        updated_at: row.get(9)?,
        proposed: proposed.map(|n| (n, run.unwrap_or_default())),
    })
}
