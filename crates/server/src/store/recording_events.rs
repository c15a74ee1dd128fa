//! Events and pictures of recordings.

use rusqlite::{Connection, OptionalExtension as _, Row, Statement, params};
use serde_json::Value;

use super::conversations::count;
use super::recordings::{RecordingStatus, StoredRecording, existing};
use super::{Error, Image, Store, parsed, text_of};
use cdpilot::sync::Deadline;

/// The type of events that say that something is missing.
const GAP: &str = "gap";

/// An event to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecordingEvent {
    /// Its number, from 1.
    pub index: u64,
    /// Its type, such as `click`.
    pub kind: &'static str,
    /// The event: an object with its number in `event_index`.
    pub body: Value,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRecordingEvent {
    /// Its number, from 1.
    pub index: u64,
    /// Number of the change that wrote it.
    pub revision: u64,
    /// The event, as given.
    pub body: Value,
    /// Whether there is a picture from before it.
    pub has_before: bool,
    /// Whether there is a picture from after it.
    pub has_after: bool,
}

/// A picture of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingPicture {
    /// Number of the event.
    pub index: u64,
    /// Whether it shows the page after the event, else before it.
    pub after: bool,
    /// The picture.
    pub image: Image,
}

const COLUMNS: &str = "event_index, revision, body, \
    EXISTS (SELECT 1 FROM recording_keyframes AS k WHERE k.recording = e.recording AND k.event_index = e.event_index AND k.after = 0), \
    EXISTS (SELECT 1 FROM recording_keyframes AS k WHERE k.recording = e.recording AND k.event_index = e.event_index AND k.after = 1)";

impl Store {
    /// Stores events and pictures of an active recording in one transaction. An event or a picture that exists is replaced; an event
    /// that [other programs](Self::append_recording_events) gave its number is moved behind the last one.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when the recording is not active; the errors of writing, see
    /// [`create_conversation`](Self::create_conversation).
    pub fn write_recording(
        &self,
        id: &str,
        all: Vec<NewRecordingEvent>,
        pictures: Vec<RecordingPicture>,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let (id, all) = (id.to_owned(), rows(all)?);
        self.write(deadline, move |on| {
            active(on, &id)?;
            let mut numbers = Numbers::of(on, &id)?;
            for row in &all {
                numbers.make_room(row.index)?;
                numbers.put(row, false)?;
            }
            put_pictures(on, &id, &pictures)?;
            for picture in &pictures {
                numbers.changed(picture.index)?;
            }
            numbers.store()
        })
    }

    /// Stores events of other programs for an active recording in one transaction. `most` is how many events it may have.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when the recording is not active, for a number that is in use, and for too many
    /// events; the errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn append_recording_events(
        &self,
        id: &str,
        all: Vec<NewRecordingEvent>,
        most: u64,
        deadline: Deadline<'_>,
    ) -> Result<StoredRecording, Error> {
        let (id, all) = (id.to_owned(), rows(all)?);
        self.write(deadline, move |on| {
            let before = active(on, &id)?;
            if before.event_count + all.len() as u64 > most {
                return Err(Error::conflict(format!("a recording has at most {most} events")));
            }
            add(on, &id, &all)?;
            existing(on, &id)
        })
    }

    /// At most `limit` events with numbers above `after`, in order. Empty for an unknown recording.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn recording_events(
        &self,
        id: &str,
        after: u64,
        limit: usize,
        deadline: Deadline<'_>,
    ) -> Result<Vec<StoredRecordingEvent>, Error> {
        self.list(id, "event_index", after, limit, deadline)
    }

    /// At most `limit` events that were written or replaced by changes with numbers above `after`, in the order of the changes.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn recording_changes(
        &self,
        id: &str,
        after: u64,
        limit: usize,
        deadline: Deadline<'_>,
    ) -> Result<Vec<StoredRecordingEvent>, Error> {
        self.list(id, "revision", after, limit, deadline)
    }

    fn list(
        &self,
        id: &str,
        column: &str,
        after: u64,
        limit: usize,
        deadline: Deadline<'_>,
    ) -> Result<Vec<StoredRecordingEvent>, Error> {
        self.read(deadline, |on| {
            let sql = format!(
                "SELECT {COLUMNS} FROM recording_events AS e WHERE recording = ?1 AND {column} > ?2 ORDER BY {column} LIMIT ?3"
            );
            let mut query = on.prepare(&sql)?;
            let mut rows = query.query(params![id, number(after), count(limit)])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(event(row)?);
            }
            Ok(all)
        })
    }

    /// A picture of an event: from before it, or from `after` it.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn recording_picture(
        &self,
        id: &str,
        index: u64,
        after: bool,
        deadline: Deadline<'_>,
    ) -> Result<Option<Image>, Error> {
        self.read(deadline, |on| {
            let sql =
                "SELECT media_type, bytes FROM recording_keyframes WHERE recording = ?1 AND event_index = ?2 AND after = ?3";
            let image = on.query_row(sql, params![id, number(index), after], |row| {
                Ok(Image { media_type: row.get(0)?, bytes: row.get(1)? })
            });
            Ok(image.optional()?)
        })
    }

    /// Which events of a recording have a picture: their numbers, and whether it is one from after the event.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn pictured_events(&self, id: &str, deadline: Deadline<'_>) -> Result<Vec<(u64, bool)>, Error> {
        self.read(deadline, |on| {
            let sql =
                "SELECT event_index, after FROM recording_keyframes WHERE recording = ?1 ORDER BY event_index, after";
            let mut query = on.prepare(sql)?;
            let rows = query.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// All pictures of a recording, in the order of its events.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn recording_pictures(&self, id: &str, deadline: Deadline<'_>) -> Result<Vec<RecordingPicture>, Error> {
        self.read(deadline, |on| {
            let sql = "SELECT event_index, after, media_type, bytes FROM recording_keyframes WHERE recording = ?1 \
                       ORDER BY event_index, after";
            let mut query = on.prepare(sql)?;
            let rows = query.query_map([id], |row| {
                let image = Image { media_type: row.get(2)?, bytes: row.get(3)? };
                Ok(RecordingPicture { index: row.get(0)?, after: row.get(1)?, image })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// An event as it is stored.
pub(super) struct EventRow {
    index: u64,
    kind: &'static str,
    body: String,
}

/// Events as they are stored.
pub(super) fn rows(all: Vec<NewRecordingEvent>) -> Result<Vec<EventRow>, Error> {
    let row = |event: NewRecordingEvent| -> Result<EventRow, Error> {
        Ok(EventRow { index: event.index, kind: event.kind, body: text_of(&event.body)? })
    };
    all.into_iter().map(row).collect()
}

/// Stores events with numbers that are not in use.
pub(super) fn add(on: &Connection, id: &str, all: &[EventRow]) -> Result<(), Error> {
    let mut numbers = Numbers::of(on, id)?;
    for row in all {
        if numbers.find(row.index)?.is_some() {
            return Err(Error::conflict(format!("the recording has an event with event_index {} already", row.index)));
        }
        numbers.put(row, true)?;
    }
    numbers.store()
}

pub(super) fn put_pictures(on: &Connection, id: &str, pictures: &[RecordingPicture]) -> Result<(), Error> {
    let sql = "INSERT INTO recording_keyframes (recording, event_index, after, media_type, bytes) VALUES (?1, ?2, ?3, ?4, ?5) \
               ON CONFLICT (recording, event_index, after) DO UPDATE SET media_type = ?4, bytes = ?5";
    let mut put = on.prepare(sql)?;
    for picture in pictures {
        put.execute(params![id, picture.index, picture.after, picture.image.media_type, picture.image.bytes])?;
    }
    Ok(())
}

/// Adds the last event, unless the last one is of its type.
pub(super) fn close(
    on: &Connection,
    id: &str,
    closing: fn(u64, f64) -> NewRecordingEvent,
    at: f64,
) -> Result<(), Error> {
    let sql = "SELECT event_index, type FROM recording_events WHERE recording = ?1 ORDER BY event_index DESC LIMIT 1";
    let last: Option<(u64, String)> = on.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (last, kind) = last.unwrap_or_default();
    let event = closing(last + 1, at);
    if event.kind == kind {
        return Ok(());
    }
    let mut numbers = Numbers::of(on, id)?;
    rows(vec![event])?.iter().try_for_each(|row| numbers.put(row, false))?;
    numbers.store()
}

/// The time of the last event.
pub(super) fn last_time(on: &Connection, id: &str) -> Result<Option<f64>, Error> {
    let sql = "SELECT body FROM recording_events WHERE recording = ?1 ORDER BY event_index DESC LIMIT 1";
    let body: Option<String> = on.query_row(sql, [id], |row| row.get(0)).optional()?;
    Ok(body.map(|body| parsed(&body)).transpose()?.and_then(|body| body["timestamp"].as_f64()))
}

/// The recording, if it is active.
fn active(on: &Connection, id: &str) -> Result<StoredRecording, Error> {
    let found = existing(on, id)?;
    match found.status {
        RecordingStatus::Active => Ok(found),
        ended => Err(Error::conflict(format!("the recording is {}; it takes no more events", ended.as_str()))),
    }
}

/// The numbers of a recording while its events are written.
struct Numbers<'a> {
    on: &'a Connection,
    id: &'a str,
    events: u64,
    gaps: u64,
    revision: u64,
    find: Statement<'a>,
    put: Statement<'a>,
}

impl<'a> Numbers<'a> {
    fn of(on: &'a Connection, id: &'a str) -> Result<Self, Error> {
        let find = on.prepare("SELECT type, posted FROM recording_events WHERE recording = ?1 AND event_index = ?2")?;
        let put = on.prepare(
            "INSERT INTO recording_events (recording, event_index, type, revision, posted, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (recording, event_index) DO UPDATE SET type = ?3, revision = ?4, body = ?6",
        )?;
        let sql = "SELECT event_count, gaps, revision FROM recordings WHERE id = ?1";
        let found = on.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
        let (events, gaps, revision) = found.ok_or_else(|| Error::not_found("recording", id))?;
        Ok(Self { on, id, events, gaps, revision, find, put })
    }

    /// The type of the event with a number, and whether another program gave the event this number.
    fn find(&mut self, index: u64) -> Result<Option<(String, bool)>, Error> {
        let found = self.find.query_row(params![self.id, index], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?)
    }

    fn put(&mut self, row: &EventRow, is_posted: bool) -> Result<(), Error> {
        match self.find(row.index)? {
            Some((before, _)) => self.gaps -= u64::from(before == GAP),
            None => self.events += 1,
        }
        self.gaps += u64::from(row.kind == GAP);
        self.revision += 1;
        self.put.execute(params![self.id, row.index, row.kind, self.revision, is_posted, row.body])?;
        Ok(())
    }

    /// An event has changed, because a screenshot of it was stored.
    fn changed(&mut self, index: u64) -> Result<(), Error> {
        self.revision += 1;
        let sql = "UPDATE recording_events SET revision = ?3 WHERE recording = ?1 AND event_index = ?2";
        self.on.execute(sql, params![self.id, index, self.revision])?;
        Ok(())
    }

    /// Moves events of other programs behind the last one, if one of them has this number.
    fn make_room(&mut self, index: u64) -> Result<(), Error> {
        if self.find(index)?.is_none_or(|(_, is_posted)| !is_posted) {
            return Ok(());
        }
        let sql = "SELECT event_index FROM recording_events WHERE recording = ?1 AND event_index >= ?2 AND posted \
                   ORDER BY event_index";
        let mut query = self.on.prepare(sql)?;
        let moved = query.query_map(params![self.id, index], |row| row.get(0))?.collect::<Result<Vec<u64>, _>>()?;
        let sql = "SELECT max(event_index) FROM recording_events WHERE recording = ?1";
        let mut last: u64 = self.on.query_row(sql, [self.id], |row| row.get(0))?;
        let sql = "UPDATE recording_events SET event_index = ?3, revision = ?4, body = json_set(body, '$.event_index', ?3) \
                   WHERE recording = ?1 AND event_index = ?2";
        let mut update = self.on.prepare(sql)?;
        for before in moved {
            last += 1;
            self.revision += 1;
            update.execute(params![self.id, before, last, self.revision])?;
        }
        Ok(())
    }

    fn store(&self) -> Result<(), Error> {
        let sql = "UPDATE recordings SET event_count = ?2, gaps = ?3, revision = ?4 WHERE id = ?1";
        self.on.execute(sql, params![self.id, self.events, self.gaps, self.revision])?;
        Ok(())
    }
}

/// A number as SQLite takes it: clients may send larger ones.
fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A row with [`COLUMNS`].
fn event(row: &Row<'_>) -> Result<StoredRecordingEvent, Error> {
    let body: String = row.get(2)?;
    Ok(StoredRecordingEvent {
        index: row.get(0)?,
        revision: row.get(1)?,
        body: parsed(&body)?,
        has_before: row.get(3)?,
        has_after: row.get(4)?,
    })
}
