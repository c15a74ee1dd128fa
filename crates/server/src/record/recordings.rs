//! The recordings of a home.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use serde_json::json;

use super::accept::{self, MOST_AT_ONCE, Metadata};
use super::capture::{self, Capture, CaptureRequest, Scope};
use super::interchange::MAX_EVENTS;
use super::sink::{self, Changes, RecordingSink, Shared, closing};
use super::{Error, Event, EventType, Follower, STORE, trail};
use crate::control::{Control, Profile, StartWith};
use crate::store::{
    Image, NewRecording, RecordingBegun, RecordingChange, RecordingEnd, RecordingPicture, RecordingStatus, StopReason,
    Store, StoredRecording, new_id,
};
use cdpilot::sync::Deadline;

/// Maximum number of recordings in a list.
const MOST_LISTED: usize = 1_000;

/// The source of recordings from files.
pub(super) const IMPORT: &str = "import";
/// The source of recordings of what the agent of a conversation did.
const CONVERSATION: &str = "conversation";
/// The setting of a recording with the note that came in its file.
const FILE_NOTE: &str = "file_note";

/// Whether the note of a recording came in its file: it is not what the person who compiles it has said.
#[must_use]
pub fn has_note_of_file(recording: &StoredRecording) -> bool {
    recording.settings[FILE_NOTE].as_str().is_some_and(|note| !note.trim().is_empty())
}

/// Which window is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// One that is opened for the recording.
    Dedicated,
    /// The one in front.
    Current,
}

impl Window {
    /// Its name in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dedicated => "dedicated_window",
            Self::Current => "current_window",
        }
    }
}

/// A recording to start.
#[derive(Debug)]
pub struct StartRecording {
    /// The profile whose browser is recorded; for a conversation, that of its session.
    pub profile: Profile,
    /// Id of the conversation whose tabs are recorded, instead of a window.
    pub conversation: Option<String>,
    /// Which window is recorded.
    pub window: Window,
    /// A name.
    pub name: Option<String>,
    /// Address that is opened first.
    pub start_url: Option<String>,
}

/// A recording that was made elsewhere.
#[derive(Debug, Default)]
pub(super) struct Complete {
    pub(super) name: Option<String>,
    pub(super) intent_note: String,
    pub(super) events: Vec<Event>,
    pub(super) pictures: Vec<RecordingPicture>,
    pub(super) metadata: Metadata,
    /// When it began and ended, if that is known; otherwise the times of its events.
    pub(super) times: (Option<f64>, Option<f64>),
    /// How it came here.
    pub(super) source: &'static str,
}

/// The recordings of a home. Dropping it ends those in progress.
pub struct Recordings {
    shared: Arc<Shared>,
    control: Arc<Control>,
    own_addresses: Vec<String>,
    /// Locked for map operations only.
    captures: Mutex<HashMap<String, Held>>,
    is_ending: AtomicBool,
}

/// The capture of an active recording.
struct Held {
    capture: Arc<Capture>,
    /// Somebody ends it and waits for it.
    is_stopping: bool,
}

/// Who ends a capture.
enum Stopping {
    /// This request.
    Here(Arc<Capture>),
    /// Another request.
    Elsewhere,
    /// Nobody: there is none.
    WithoutCapture,
}

impl std::fmt::Debug for Recordings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recordings").field("captures", &self.captures.lock().len()).finish_non_exhaustive()
    }
}

impl Recordings {
    /// The recordings of a home, with its browsers and its database. Those that the end of the server before has interrupted are
    /// stopped. `own_addresses`: hosts and ports of this server, whose pages are never recorded.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn new(control: Arc<Control>, store: Store, own_addresses: Vec<String>) -> Result<Self, Error> {
        let end = RecordingEnd {
            status: RecordingStatus::Stopped,
            reason: Some(StopReason::ServerEnded),
            closing: Some(closing),
        };
        store.recover_recordings(end, Deadline::after(STORE))?;
        let secrets = control.secret_store().clone();
        let shared = Shared { store, secrets, changes: Changes::default(), ended: Mutex::default() };
        Ok(Self {
            shared: Arc::new(shared),
            control,
            own_addresses,
            captures: Mutex::default(),
            is_ending: AtomicBool::new(false),
        })
    }

    /// All recordings, the last begun first, at most 1,000.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn list(&self) -> Result<Vec<StoredRecording>, Error> {
        Ok(self.store().recordings(MOST_LISTED, Deadline::after(STORE))?)
    }

    /// A recording.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn show(&self, id: &str) -> Result<StoredRecording, Error> {
        self.store().recording(id, Deadline::after(STORE))?.ok_or_else(|| Error::not_found(id))
    }

    /// Starts to record, after starting the browser if it is not running.
    ///
    /// # Errors
    /// [`Error::Active`] when the browser has an active recording; [`Error::BadRequest`] for a name; [`Error::Control`];
    /// [`Error::Unavailable`]; [`Error::Ending`]; [`Error::Store`].
    pub fn start(&self, wanted: StartRecording, deadline: Deadline<'_>) -> Result<StoredRecording, Error> {
        self.drop_ended();
        if self.is_ending.load(Ordering::Acquire) {
            return Err(Error::Ending);
        }
        let name = accept::name(wanted.name.as_deref())?;
        let profile = wanted.profile;
        let address =
            |url: &String| profile.address(url).map_err(|problem| Error::bad(format!("start_url: {problem}")));
        let start_url = wanted.start_url.as_ref().map(address).transpose()?;
        // Before a browser is started for nothing; another request may still be faster.
        if let Some(recording) = self.store().active_recording(profile.name(), Deadline::after(STORE))? {
            return Err(Error::Active { recording });
        }
        if profile.running().is_err() {
            profile.start_with(&StartWith::default(), deadline)?;
        }
        if let Some(url) = &start_url {
            profile.may_go(&*profile.running()?, url, deadline)?;
        }
        let scope = match (&wanted.conversation, wanted.window) {
            (Some(_), _) => Scope::Session,
            (None, Window::Dedicated) => Scope::DedicatedWindow,
            (None, Window::Current) => Scope::CurrentWindow,
        };
        let id = new_id()?;
        let new = NewRecording {
            browser: Some(profile.name().to_owned()),
            name: name.map(|name| self.cover(&name)),
            launch_mode: wanted.conversation.is_none().then(|| wanted.window.as_str().to_owned()),
            profile: Some(profile.name().to_owned()),
            conversation: wanted.conversation,
            start_url: start_url.clone().unwrap_or_default(),
            ..NewRecording::new(&id)
        };
        let begun = match self.store().begin_recording(new, Deadline::after(STORE))? {
            RecordingBegun::Busy { recording } => return Err(Error::Active { recording }),
            RecordingBegun::Begun(recording) => *recording,
        };
        let sink = RecordingSink { shared: Arc::clone(&self.shared), id: id.clone() };
        let request = CaptureRequest {
            profile,
            scope,
            start_url,
            first_index: begun.event_count + 1,
            own_addresses: self.own_addresses.clone(),
        };
        let capture = capture::begin(request, Arc::new(sink)).inspect_err(|_| {
            let ended = self.shared.end(&id, RecordingStatus::Error, None);
            let _ =
                ended.inspect_err(|problem| tracing::warn!(recording = %id, %problem, "its state cannot be stored"));
        })?;
        self.hold(&id, capture)
    }

    /// Keeps a capture that has begun.
    fn hold(&self, id: &str, capture: Capture) -> Result<StoredRecording, Error> {
        let started = capture.started();
        let held = Held { capture: Arc::new(capture), is_stopping: false };
        self.captures.lock().insert(id.to_owned(), held);
        let change = RecordingChange {
            start_url: Some(started.start_url).filter(|url| !url.is_empty()),
            viewport: Some(started.viewport),
            ..RecordingChange::default()
        };
        let recording = self.store().change_recording(id, change, Deadline::after(STORE))?;
        // Stopped before its capture was known, or the server ends.
        if recording.status != RecordingStatus::Active {
            let held = self.captures.lock().remove(id);
            drop(held);
        }
        if self.is_ending.load(Ordering::Acquire) {
            return self.stop(id, Deadline::after(STORE));
        }
        Ok(recording)
    }

    /// Stops a recording, and waits until its last events are stored. One that has ended stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn stop(&self, id: &str, deadline: Deadline<'_>) -> Result<StoredRecording, Error> {
        self.end(id, StopReason::User, deadline)
    }

    fn end(&self, id: &str, reason: StopReason, deadline: Deadline<'_>) -> Result<StoredRecording, Error> {
        self.drop_ended();
        let found = self.show(id)?;
        if found.status != RecordingStatus::Active {
            return Ok(found);
        }
        match self.begin_stop(id) {
            Stopping::Here(capture) => {
                capture.stop(deadline);
                let ended = self.ended(id, reason);
                let held = self.captures.lock().remove(id);
                drop(held);
                ended
            }
            Stopping::Elsewhere => self.wait_for_end(id, deadline),
            Stopping::WithoutCapture => self.ended(id, reason),
        }
    }

    /// Claims the end of a recording for this request.
    fn begin_stop(&self, id: &str) -> Stopping {
        match self.captures.lock().get_mut(id) {
            None => Stopping::WithoutCapture,
            Some(held) if held.is_stopping => Stopping::Elsewhere,
            Some(held) => {
                held.is_stopping = true;
                Stopping::Here(Arc::clone(&held.capture))
            }
        }
    }

    fn ended(&self, id: &str, reason: StopReason) -> Result<StoredRecording, Error> {
        self.shared.end(id, RecordingStatus::Stopped, Some(reason))?;
        self.show(id)
    }

    /// Waits until another request has stopped a recording.
    fn wait_for_end(&self, id: &str, deadline: Deadline<'_>) -> Result<StoredRecording, Error> {
        loop {
            let seen = self.shared.changes.last();
            let found = self.show(id)?;
            if found.status != RecordingStatus::Active || !self.shared.changes.wait(seen, deadline) {
                return Ok(found);
            }
        }
    }

    /// Waits until tabs that were opened so far are recorded: what is done in them from now on is. Without effect for a recording that
    /// is not active.
    pub fn catch_up(&self, id: &str, deadline: Deadline<'_>) {
        let capture = self.captures.lock().get(id).map(|held| Arc::clone(&held.capture));
        if let Some(capture) = capture {
            capture.catch_up(deadline);
        }
    }

    /// Pauses a recording or goes on. What happens while it is paused is not recorded.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when it has ended; [`Error::Store`].
    pub fn set_paused(&self, id: &str, is_paused: bool) -> Result<StoredRecording, Error> {
        let found = self.show(id)?;
        if found.status != RecordingStatus::Active {
            let problem = format!("the recording is {}; only an active one can be paused", found.status.as_str());
            return Err(Error::conflict(problem));
        }
        let capture = self.captures.lock().get(id).map(|held| Arc::clone(&held.capture));
        if let Some(capture) = capture {
            capture.pause(is_paused);
        }
        let change = RecordingChange { paused: Some(is_paused), ..RecordingChange::default() };
        let changed = self.store().change_recording(id, change, Deadline::after(STORE))?;
        self.shared.changes.publish();
        Ok(changed)
    }

    /// Stores what the person wanted to do, in place of an earlier note.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::BadRequest`] for a long note; [`Error::Store`].
    pub fn set_note(&self, id: &str, note: &str) -> Result<StoredRecording, Error> {
        let mut settings = self.show(id)?.settings;
        // What the person writes is theirs, also if it is what the file said.
        if let Some(fields) = settings.as_object_mut() {
            fields.remove(FILE_NOTE);
        }
        let change = RecordingChange {
            intent_note: Some(self.cover(&accept::note(note)?)),
            settings: Some(settings),
            ..RecordingChange::default()
        };
        Ok(self.store().change_recording(id, change, Deadline::after(STORE))?)
    }

    /// At most `limit` events with numbers above `after`.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<Event>, Error> {
        self.show(id)?;
        let stored = self.store().recording_events(id, after, limit, Deadline::after(STORE))?;
        stored.into_iter().map(|stored| sink::event(id, stored)).collect()
    }

    /// Follows a recording from the change behind number `after`; 0 is before the first one.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::BadRequest`] for a change that the recording does not have; [`Error::Store`].
    pub fn follow(&self, id: &str, after: u64) -> Result<Follower, Error> {
        let found = self.show(id)?;
        if after > found.revision {
            let problem = format!("the recording has no change {after}; its last one is {}", found.revision);
            return Err(Error::bad(problem));
        }
        Ok(Follower::new(Arc::clone(&self.shared), id, after))
    }

    /// The screenshot from before an event, or from `after` it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NoKeyframe`], [`Error::Store`].
    pub fn keyframe(&self, id: &str, index: u64, after: bool) -> Result<Image, Error> {
        self.show(id)?;
        let found = self.store().recording_picture(id, index, after, Deadline::after(STORE))?;
        found.ok_or(Error::NoKeyframe { index, after })
    }

    /// Stores events of another program, in one transaction, while the recording is active.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::BadRequest`] for invalid events; [`Error::Conflict`] when the recording has ended;
    /// [`Error::Store`] with a conflict for an `event_index` that is in use.
    pub fn append(&self, id: &str, events: Vec<Event>) -> Result<StoredRecording, Error> {
        let found = self.show(id)?;
        if found.status != RecordingStatus::Active {
            let problem = format!("the recording is {}; it takes no more events", found.status.as_str());
            return Err(Error::conflict(problem));
        }
        let rows = self.shared.rows(accept::checked(events, MOST_AT_ONCE)?)?;
        let changed = self.store().append_recording_events(id, rows, MAX_EVENTS as u64, Deadline::after(STORE))?;
        self.shared.changes.publish();
        Ok(changed)
    }

    /// Stores a recording that another program made.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for a name, a note or invalid events; [`Error::Store`].
    pub fn ingest(
        &self,
        name: Option<&str>,
        intent_note: &str,
        events: Vec<Event>,
        metadata: Metadata,
    ) -> Result<StoredRecording, Error> {
        let (name, intent_note) = (accept::name(name)?, accept::note(intent_note)?);
        let events = accept::checked(events, MAX_EVENTS)?;
        self.add(Complete { name, intent_note, events, metadata, source: "ingest", ..Complete::default() })
    }

    /// Stores what the agent of a conversation did, as a recording.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it did nothing in pages; [`Error::BadRequest`] for a name; [`Error::Store`].
    pub fn of_conversation(&self, id: &str, title: &str, name: Option<&str>) -> Result<StoredRecording, Error> {
        let name = accept::name(name)?.or_else(|| accept::name(Some(title)).ok().flatten());
        let events = self.trail(id)?;
        if !events.iter().any(|event| trail::is_action(event.event_type)) {
            let problem = "the conversation did nothing in pages that can be recorded: it has neither clicked nor filled in anything";
            return Err(Error::conflict(problem));
        }
        let start_url = events.iter().find(|event| event.event_type == EventType::TabNavigated);
        let start_url = start_url.and_then(|event| event.data["url"].as_str()).map(ToOwned::to_owned);
        let metadata = Metadata { start_url, ..Metadata::default() };
        let complete = Complete { name, events, metadata, source: CONVERSATION, ..Complete::default() };
        self.add_of(complete, Some(id))
    }

    /// What the agent of a conversation did, as events.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn trail(&self, conversation: &str) -> Result<Vec<Event>, Error> {
        let stored = self.store().actions(conversation, Deadline::after(STORE))?;
        let read = |body| {
            serde_json::from_value(body).map_err(|problem| {
                Error::from(crate::store::Error::Failed { problem: format!("an action cannot be read: {problem}") })
            })
        };
        stored.into_iter().map(read).collect()
    }

    /// Stores a recording that has ended, with checked events.
    pub(super) fn add(&self, complete: Complete) -> Result<StoredRecording, Error> {
        self.add_of(complete, None)
    }

    fn add_of(&self, complete: Complete, conversation: Option<&str>) -> Result<StoredRecording, Error> {
        let Complete { name, intent_note, events, pictures, metadata, times, source } = complete;
        let (first, last) = sink::times(&events);
        let started_at = times.0.unwrap_or(first);
        let first_address = || events.iter().map(|event| &event.page.url).find(|url| !url.is_empty()).cloned();
        let note = self.cover(&intent_note);
        let new = NewRecording {
            name: name.map(|name| self.cover(&name)),
            start_url: metadata.start_url.or_else(first_address).unwrap_or_default(),
            profile: metadata.profile,
            viewport: metadata.viewport.map(|viewport| (viewport.width, viewport.height)),
            started_at: Some(started_at),
            intent_note: note.clone(),
            conversation: conversation.map(ToOwned::to_owned),
            settings: match source {
                IMPORT => json!({ "source": source, FILE_NOTE: note }),
                _ => json!({ "source": source }),
            },
            ..NewRecording::new(&new_id()?)
        };
        let stopped_at = times.1.unwrap_or(last).max(started_at);
        let rows = self.shared.rows(events)?;
        Ok(self.store().add_recording(new, rows, pictures, stopped_at, Deadline::after(STORE))?)
    }

    /// Deletes a recording with its events and screenshots; an active one is stopped first. Routines that were made from it stay.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn delete(&self, id: &str, deadline: Deadline<'_>) -> Result<(), Error> {
        self.stop(id, deadline)?;
        let is_deleted = self.store().delete_recording(id, Deadline::after(STORE))?;
        self.shared.changes.publish();
        if is_deleted { Ok(()) } else { Err(Error::not_found(id)) }
    }

    /// Ends all recordings in progress, because the server ends. None can be started afterwards.
    pub fn stop_all(&self, deadline: Deadline<'_>) {
        self.is_ending.store(true, Ordering::Release);
        let ids: Vec<String> = self.captures.lock().keys().cloned().collect();
        for id in ids {
            let ended = self.end(&id, StopReason::ServerEnded, deadline);
            let _ = ended.inspect_err(|problem| tracing::warn!(recording = %id, %problem, "its end cannot be stored"));
        }
        // Those who follow a recording see its end.
        self.shared.changes.publish();
    }

    /// Drops the captures of recordings that ended by themselves. Captures are dropped by requests, since their own threads
    /// cannot wait for themselves.
    fn drop_ended(&self) {
        let ended = std::mem::take(&mut *self.shared.ended.lock());
        let mut captures = self.captures.lock();
        let dropped: Vec<Held> = ended.iter().filter_map(|id| captures.remove(id)).collect();
        drop(captures);
        drop(dropped);
    }

    pub(super) fn store(&self) -> &Store {
        &self.shared.store
    }

    /// A text without stored secrets.
    fn cover(&self, text: &str) -> String {
        self.control.secret_store().covers().cover(text).into_owned()
    }
}
