//! Runs of routines and their reports. A run has the id of its conversation, and outlives it.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use super::conversations::count;
use super::texts::texts;
use super::{ConversationState, Error, Image, Store, Trust, now, parsed, text_of};
use cdpilot::sync::Deadline;

texts! {
    /// Where a run of a routine is.
    RunStatus {
        /// `running`: it is in progress, perhaps paused.
        Running = "running",
        /// `waiting`: it waits for the answer to a question.
        Waiting = "waiting",
        /// `done`: it was done to its end.
        Done = "done",
        /// `failed`: a step could not be done.
        Failed = "failed",
        /// `stopped`: a person stopped it.
        Stopped = "stopped",
        /// `interrupted`: the server ended meanwhile; it can be resumed.
        Interrupted = "interrupted",
    }
}

/// A run of a routine.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// The id of its conversation.
    pub id: String,
    /// The routine; `None` for a text that is not stored as a routine.
    pub routine: Option<String>,
    /// The version of the routine.
    pub version: u64,
    /// Where it is.
    pub status: RunStatus,
    /// Why it stopped, for one that was not done.
    pub code: Option<String>,
    /// Steps, result and costs, as given.
    pub report: Value,
    /// When it was started, in seconds since 1970.
    pub started_at: f64,
    /// When it ended, in seconds since 1970.
    pub ended_at: Option<f64>,
}

/// A change of a run that is stored with a [batch](super::Batch).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunChange {
    /// Where it is.
    pub status: Option<RunStatus>,
    /// Why it stopped.
    pub code: Option<String>,
    /// The report.
    pub report: Option<Value>,
    /// What the run says about the trust in the version that was run; `None`: nothing.
    pub trust: Option<Trust>,
    /// Pictures of the report, by number.
    pub images: Vec<(u64, Image)>,
}

const COLUMNS: &str = "id, routine, version, status, code, report, started_at, ended_at";

impl Store {
    /// Stores a run in the state `running`. Of earlier ones of its routine that have ended, `keep` stay, the newest; pictures that are
    /// older than `keep_days` are removed.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the id is in use; the errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn create_run(
        &self,
        id: &str,
        routine: Option<(&str, u64)>,
        report: &Value,
        (keep, keep_days): (usize, u32),
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let (id, report) = (id.to_owned(), text_of(report)?);
        let routine = routine.map(|(routine, version)| (routine.to_owned(), version));
        self.write(deadline, move |on| {
            let sql = "INSERT INTO routine_runs (id, routine, version, status, report, started_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let (of, version) = routine.as_ref().map_or((None, 0), |(of, version)| (Some(of), *version));
            on.execute(sql, params![id, of, version, RunStatus::Running, report, now()])?;
            let sql = "DELETE FROM routine_runs WHERE routine IS ?1 AND ended_at IS NOT NULL AND id NOT IN \
                       (SELECT id FROM routine_runs WHERE routine IS ?1 ORDER BY started_at DESC LIMIT ?2)";
            on.execute(sql, params![of, count(keep)])?;
            let sql = "DELETE FROM routine_run_images WHERE at < ?1";
            on.execute(sql, [now() - f64::from(keep_days) * 86_400.0])?;
            Ok(())
        })
    }

    /// A run; `None` when there is none with this id.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn run(&self, id: &str, deadline: Deadline<'_>) -> Result<Option<StoredRun>, Error> {
        self.read(deadline, |on| {
            let sql = format!("SELECT {COLUMNS} FROM routine_runs WHERE id = ?1");
            on.query_row(&sql, [id], |row| Ok(run(row))).optional()?.transpose()
        })
    }

    /// At most `limit` runs of a routine, the newest first.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn runs(&self, routine: &str, limit: usize, deadline: Deadline<'_>) -> Result<Vec<StoredRun>, Error> {
        self.read(deadline, |on| {
            let sql =
                format!("SELECT {COLUMNS} FROM routine_runs WHERE routine = ?1 ORDER BY started_at DESC, id LIMIT ?2");
            let mut query = on.prepare(&sql)?;
            let mut rows = query.query(params![routine, count(limit)])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(run(row)?);
            }
            Ok(all)
        })
    }

    /// Ids of the runs whose open question was asked before a time, in seconds since 1970.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn runs_waiting_since(&self, before: f64, deadline: Deadline<'_>) -> Result<Vec<String>, Error> {
        self.read(deadline, |on| {
            let sql = "SELECT r.id FROM routine_runs AS r JOIN questions AS q ON q.conversation = r.id \
                       WHERE r.status = 'waiting' AND q.answered_at IS NULL AND q.asked_at < ?1";
            let mut query = on.prepare(sql)?;
            let rows = query.query_map([before], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// A picture of a report; `None` when there is none with this number, or when it is no longer kept.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn run_image(&self, id: &str, n: u64, deadline: Deadline<'_>) -> Result<Option<Image>, Error> {
        self.read(deadline, |on| {
            let sql = "SELECT media_type, bytes FROM routine_run_images WHERE run = ?1 AND n = ?2";
            let image = on.query_row(sql, params![id, i64::try_from(n).unwrap_or(i64::MAX)], |row| {
                Ok(Image { media_type: row.get(0)?, bytes: row.get(1)? })
            });
            Ok(image.optional()?)
        })
    }
}

/// Applies a change of the run of a conversation.
pub(super) fn apply(on: &Connection, id: &str, change: &RunChange) -> Result<(), Error> {
    let report = change.report.as_ref().map(text_of).transpose()?;
    let has_ended = change.status.map(|status| !matches!(status, RunStatus::Running | RunStatus::Waiting));
    let sql = "UPDATE routine_runs SET status = coalesce(?2, status), report = coalesce(?4, report), \
               code = CASE WHEN ?2 IS NULL THEN code ELSE ?3 END, \
               ended_at = CASE ?5 WHEN 1 THEN ?6 WHEN 0 THEN NULL ELSE ended_at END WHERE id = ?1";
    if on.execute(sql, params![id, change.status, change.code, report, has_ended, now()])? == 0 {
        return Err(Error::not_found("run", id));
    }
    for (n, image) in &change.images {
        let sql = "INSERT INTO routine_run_images (run, n, media_type, bytes, at) VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT (run, n) DO UPDATE SET media_type = ?3, bytes = ?4, at = ?5";
        on.execute(sql, params![id, n, image.media_type, image.bytes, now()])?;
    }
    let Some(trust) = change.trust else { return Ok(()) };
    // Of the version that was run only.
    let sql = "UPDATE routines SET trust = ?2 WHERE (id, version) IN (SELECT routine, version FROM routine_runs WHERE id = ?1)";
    on.execute(sql, params![id, trust])?;
    Ok(())
}

/// Lets the run of a conversation follow its state, where nothing else is stored of its end.
pub(super) fn follow(on: &Connection, id: &str, state: ConversationState) -> Result<(), Error> {
    let (status, ended_at) = match state {
        ConversationState::Active => (RunStatus::Running, None),
        ConversationState::Waiting => (RunStatus::Waiting, None),
        ConversationState::Idle => (RunStatus::Stopped, Some(now())),
        ConversationState::Error => (RunStatus::Failed, Some(now())),
    };
    // An end that is stored with its reason stays.
    let sql = "UPDATE routine_runs SET status = ?2, ended_at = ?3, code = iif(?2 = 'failed', 'MODEL_ERROR', NULL) \
               WHERE id = ?1 AND (?3 IS NULL OR status IN ('running', 'waiting'))";
    on.execute(sql, params![id, status, ended_at])?;
    Ok(())
}

/// Marks the runs that a crash has interrupted.
pub(super) fn recover(on: &Connection) -> Result<(), Error> {
    let sql = "UPDATE routine_runs SET status = ?1, code = 'INTERRUPTED', ended_at = ?3 WHERE status = ?2 AND NOT EXISTS \
               (SELECT 1 FROM questions WHERE conversation = routine_runs.id AND answered_at IS NULL)";
    on.execute(sql, params![RunStatus::Interrupted, RunStatus::Running, now()])?;
    Ok(())
}

/// A row with [`COLUMNS`].
fn run(row: &Row<'_>) -> Result<StoredRun, Error> {
    Ok(StoredRun {
        id: row.get(0)?,
        routine: row.get(1)?,
        version: row.get(2)?,
        status: row.get(3)?,
        code: row.get(4)?,
        report: parsed(row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?)?,
        started_at: row.get(6)?,
        ended_at: row.get(7)?,
    })
}
