//! Recordings: what a person did in a browser. What their events mean is not known here.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use super::conversations::count;
use super::recording_events::{self as events, NewRecordingEvent, RecordingPicture};
use super::texts::texts;
use super::{Error, Store, now, parsed, text_of};
use cdpilot::sync::Deadline;

texts! {
    /// State of a recording.
    RecordingStatus {
        /// `active`: events are added, unless it is paused.
        Active = "active",
        /// `stopped`: it has ended.
        Stopped = "stopped",
        /// `error`: it could not begin.
        Error = "error",
    }
}

texts! {
    /// Why a recording ended.
    StopReason {
        /// `user`: it was stopped.
        User = "user",
        /// `browser_disconnected`: the browser ended, or its connection was lost.
        BrowserDisconnected = "browser_disconnected",
        /// `server_ended`: the server ended.
        ServerEnded = "server_ended",
        /// `window_closed`: the last tab that was recorded was closed.
        WindowClosed = "window_closed",
        /// `limit`: it has reached a limit of events or time.
        Limit = "limit",
    }
}

/// A recording, without its events.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecording {
    /// Its id, as given when it was created.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Its state.
    pub status: RecordingStatus,
    /// Whether it is active and paused.
    pub paused: bool,
    /// Which window was recorded, as given.
    pub launch_mode: Option<String>,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Id of the conversation whose tabs were recorded.
    pub conversation: Option<String>,
    /// Where it began; empty before that is known.
    pub start_url: String,
    /// Size of the viewport in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// When it began, in seconds since 1970.
    pub started_at: f64,
    /// When it ended, in seconds since 1970.
    pub stopped_at: Option<f64>,
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
    /// What the person wanted to do, in their words.
    pub intent_note: String,
    /// Number of its events.
    pub event_count: u64,
    /// Number of its events of the type `gap`.
    pub gaps: u64,
    /// Number of the last change of its events.
    pub revision: u64,
    /// State of its compilation, as given; null before.
    pub compile: Value,
    /// Settings, as given.
    pub settings: Value,
    /// Ids of the routines that were made from it, the oldest first.
    pub routines: Vec<String>,
}

/// A recording to create.
#[derive(Debug, Clone)]
pub struct NewRecording {
    /// An id that is not in use.
    pub id: String,
    /// Key of the browser; `None` for one that was made elsewhere.
    pub browser: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Which window is recorded.
    pub launch_mode: Option<String>,
    /// Name of the profile.
    pub profile: Option<String>,
    /// Id of the conversation whose tabs are recorded.
    pub conversation: Option<String>,
    /// Where it begins; empty if that is not known yet.
    pub start_url: String,
    /// Size of the viewport in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// When it began, in seconds since 1970; `None`: now.
    pub started_at: Option<f64>,
    /// What the person wants to do.
    pub intent_note: String,
    /// Settings: an object, which the store does not interpret.
    pub settings: Value,
}

impl NewRecording {
    /// A recording that begins now, of which nothing else is known.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            browser: None,
            name: None,
            launch_mode: None,
            profile: None,
            conversation: None,
            start_url: String::new(),
            viewport: None,
            started_at: None,
            intent_note: String::new(),
            settings: Value::Object(serde_json::Map::new()),
        }
    }
}

/// Result of beginning a recording.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordingBegun {
    /// It is active.
    Begun(Box<StoredRecording>),
    /// Nothing was stored: the browser has an active recording.
    Busy {
        /// Its id.
        recording: String,
    },
}

/// Changes of a recording.
#[derive(Debug, Clone, Default)]
pub struct RecordingChange {
    /// Whether it is paused. Refused unless it is active.
    pub paused: Option<bool>,
    /// Where it began.
    pub start_url: Option<String>,
    /// Size of the viewport in CSS pixels.
    pub viewport: Option<(u32, u32)>,
    /// What the person wanted to do.
    pub intent_note: Option<String>,
    /// State of its compilation.
    pub compile: Option<Value>,
    /// Settings: an object.
    pub settings: Option<Value>,
}

/// The end of a recording.
#[derive(Debug, Clone, Copy)]
pub struct RecordingEnd {
    /// Its state from now on.
    pub status: RecordingStatus,
    /// Why it ended.
    pub reason: Option<StopReason>,
    /// Its last event, by number and time. It is added unless the last one is of the same type.
    pub closing: Option<fn(u64, f64) -> NewRecordingEvent>,
}

const COLUMNS: &str = "id, name, status, paused, launch_mode, profile, conversation, start_url, width, height, started_at, stopped_at, \
    stop_reason, intent_note, event_count, gaps, revision, compile, settings, \
    (SELECT json_group_array(id) FROM (SELECT id FROM routines WHERE recording = recordings.id ORDER BY created_at, id))";

impl Store {
    /// Stores a recording in the state `active`, unless its browser has an active one.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn begin_recording(&self, new: NewRecording, deadline: Deadline<'_>) -> Result<RecordingBegun, Error> {
        let settings = text_of(&new.settings)?;
        self.write(deadline, move |on| {
            if insert(on, &new, &settings, RecordingStatus::Active)? {
                return Ok(RecordingBegun::Begun(Box::new(existing(on, &new.id)?)));
            }
            let sql = "SELECT id FROM recordings WHERE browser = ?1 AND status = ?2";
            let other =
                on.query_row(sql, params![new.browser, RecordingStatus::Active], |row| row.get(0)).optional()?;
            let recording = other.ok_or_else(|| in_use(&new.id))?;
            Ok(RecordingBegun::Busy { recording })
        })
    }

    /// Id of the active recording of a browser.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn active_recording(&self, browser: &str, deadline: Deadline<'_>) -> Result<Option<String>, Error> {
        self.read(deadline, |on| active_in(on, browser))
    }

    /// Stores a recording that has ended, with its events and pictures.
    ///
    /// # Errors
    /// [`Error::Conflict`] when its id is in use, or for events with the same number; the errors of writing, see
    /// [`create_conversation`](Self::create_conversation).
    pub fn add_recording(
        &self,
        new: NewRecording,
        all: Vec<NewRecordingEvent>,
        pictures: Vec<RecordingPicture>,
        stopped_at: f64,
        deadline: Deadline<'_>,
    ) -> Result<StoredRecording, Error> {
        let settings = text_of(&new.settings)?;
        let all = events::rows(all)?;
        self.write(deadline, move |on| {
            if !insert(on, &new, &settings, RecordingStatus::Stopped)? {
                return Err(in_use(&new.id));
            }
            events::add(on, &new.id, &all)?;
            events::put_pictures(on, &new.id, &pictures)?;
            let sql = "UPDATE recordings SET stopped_at = ?2, stop_reason = ?3 WHERE id = ?1";
            on.execute(sql, params![new.id, stopped_at, StopReason::User])?;
            existing(on, &new.id)
        })
    }

    /// A recording; `None` when there is none with this id.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn recording(&self, id: &str, deadline: Deadline<'_>) -> Result<Option<StoredRecording>, Error> {
        self.read(deadline, |on| one(on, id))
    }

    /// At most `limit` recordings, the last begun first.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn recordings(&self, limit: usize, deadline: Deadline<'_>) -> Result<Vec<StoredRecording>, Error> {
        self.read(deadline, |on| {
            let sql = format!("SELECT {COLUMNS} FROM recordings ORDER BY started_at DESC, id LIMIT ?1");
            let mut query = on.prepare(&sql)?;
            let mut rows = query.query([count(limit)])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(recording(row)?);
            }
            Ok(all)
        })
    }

    /// Changes a recording.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] for `paused` unless it is active; the errors of writing, see
    /// [`create_conversation`](Self::create_conversation).
    pub fn change_recording(
        &self,
        id: &str,
        change: RecordingChange,
        deadline: Deadline<'_>,
    ) -> Result<StoredRecording, Error> {
        let id = id.to_owned();
        let compile = change.compile.as_ref().map(text_of).transpose()?;
        let settings = change.settings.as_ref().map(text_of).transpose()?;
        self.write(deadline, move |on| {
            let before = existing(on, &id)?;
            if change.paused.is_some() && before.status != RecordingStatus::Active {
                return Err(Error::conflict(format!("the recording is {}", before.status.as_str())));
            }
            let (width, height) = change.viewport.unzip();
            let sql = "UPDATE recordings SET paused = coalesce(?2, paused), start_url = coalesce(?3, start_url), \
                       width = coalesce(?4, width), height = coalesce(?5, height), \
                       intent_note = coalesce(?6, intent_note), compile = coalesce(?7, compile), \
                       settings = coalesce(?8, settings) WHERE id = ?1";
            let note = change.intent_note.as_deref();
            on.execute(sql, params![id, change.paused, change.start_url, width, height, note, compile, settings])?;
            existing(on, &id)
        })
    }

    /// Ends a recording. One that has ended stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`]; the errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn end_recording(&self, id: &str, end: RecordingEnd, deadline: Deadline<'_>) -> Result<StoredRecording, Error> {
        let id = id.to_owned();
        self.write(deadline, move |on| {
            let before = existing(on, &id)?;
            if before.status != RecordingStatus::Active {
                return Ok(before);
            }
            close(on, &before, &end, now())?;
            existing(on, &id)
        })
    }

    /// Ends the recordings that a crash or the end of the server has interrupted, at the time of their last event; to be called
    /// once after opening. Returns their ids.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn recover_recordings(&self, end: RecordingEnd, deadline: Deadline<'_>) -> Result<Vec<String>, Error> {
        self.write(deadline, move |on| {
            let mut query = on.prepare("SELECT id FROM recordings WHERE status = ?1 ORDER BY started_at")?;
            let ids = query.query_map([RecordingStatus::Active], |row| row.get(0))?;
            let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
            for id in &ids {
                let before = existing(on, id)?;
                let last = events::last_time(on, id)?.unwrap_or(before.started_at);
                close(on, &before, &end, last.max(before.started_at).min(now()))?;
            }
            Ok(ids)
        })
    }

    /// Deletes a recording with its events and pictures. Routines that were made from it stay. False when there is none with this
    /// id.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn delete_recording(&self, id: &str, deadline: Deadline<'_>) -> Result<bool, Error> {
        let id = id.to_owned();
        self.write(deadline, move |on| Ok(on.execute("DELETE FROM recordings WHERE id = ?1", [&id])? > 0))
    }
}

/// False when the id is in use, or the browser has an active recording.
fn insert(on: &Connection, new: &NewRecording, settings: &str, status: RecordingStatus) -> Result<bool, Error> {
    let (width, height) = new.viewport.unzip();
    let sql = "INSERT INTO recordings (id, browser, name, status, launch_mode, profile, conversation, start_url, width, height, \
               started_at, intent_note, settings) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
               ON CONFLICT DO NOTHING";
    let row = params![
        new.id,
        new.browser,
        new.name,
        status,
        new.launch_mode,
        new.profile,
        new.conversation,
        new.start_url,
        width,
        height,
        new.started_at.unwrap_or_else(now),
        new.intent_note,
        settings
    ];
    Ok(on.execute(sql, row)? > 0)
}

fn active_in(on: &Connection, browser: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT id FROM recordings WHERE browser = ?1 AND status = ?2";
    Ok(on.query_row(sql, params![browser, RecordingStatus::Active], |row| row.get(0)).optional()?)
}

fn in_use(id: &str) -> Error {
    Error::conflict(format!("there is a recording {id:?} already"))
}

/// Ends an active recording.
fn close(on: &Connection, before: &StoredRecording, end: &RecordingEnd, at: f64) -> Result<(), Error> {
    if let Some(closing) = end.closing {
        events::close(on, &before.id, closing, at)?;
    }
    let sql = "UPDATE recordings SET status = ?2, paused = 0, stopped_at = ?3, stop_reason = ?4 WHERE id = ?1";
    on.execute(sql, params![before.id, end.status, at, end.reason])?;
    Ok(())
}

pub(super) fn existing(on: &Connection, id: &str) -> Result<StoredRecording, Error> {
    one(on, id)?.ok_or_else(|| Error::not_found("recording", id))
}

fn one(on: &Connection, id: &str) -> Result<Option<StoredRecording>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM recordings WHERE id = ?1");
    on.query_row(&sql, [id], |row| Ok(recording(row))).optional()?.transpose()
}

/// A row with [`COLUMNS`].
fn recording(row: &Row<'_>) -> Result<StoredRecording, Error> {
    let json =
        |at: usize| -> Result<Value, Error> { parsed(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?) };
    let (width, height): (Option<u32>, Option<u32>) = (row.get(8)?, row.get(9)?);
    let routines = json(19)?;
    Ok(StoredRecording {
        id: row.get(0)?,
        name: row.get(1)?,
        status: row.get(2)?,
        paused: row.get(3)?,
        launch_mode: row.get(4)?,
        profile: row.get(5)?,
        conversation: row.get(6)?,
        start_url: row.get(7)?,
        viewport: width.zip(height),
        started_at: row.get(10)?,
        stopped_at: row.get(11)?,
        stop_reason: row.get(12)?,
        intent_note: row.get(13)?,
        event_count: row.get(14)?,
        gaps: row.get(15)?,
        revision: row.get(16)?,
        compile: json(17)?,
        settings: json(18)?,
        routines: routines.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}
