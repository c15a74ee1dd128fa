//! The database of a home: conversations of the agent with their messages, events and images, ids of browsers, routines with
//! their versions and runs, recordings with their events and pictures.
//!
//! One thread writes, and a call that writes returns only once its transaction is committed and synced to the disk. Calls
//! that wait at the same time share one transaction. Reads have connections of their own and never wait for the writer.
//!
//! Times are seconds since 1970 (Unix time). JSON is stored as it is given; only references to new images in it are
//! replaced, see [`image_reference`](crate::store::image_reference).
//!
//! ```no_run
//! use cdpilot_server::config::Home;
//! use cdpilot_server::store::{Batch, ConversationState, NewConversation, Store, image_reference};
//! use cdpilot::sync::Deadline;
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let png = Vec::new();
//! let deadline = || Deadline::after_secs(10);
//! let opened = Store::open(&Home::find()?, deadline())?;
//! let store = opened.store;
//! store.create_conversation(NewConversation::new("c1", "default", "chat"), deadline())?;
//! let batch = Batch::new()
//!     .state(ConversationState::Active)
//!     .title("Buy a ticket")
//!     .message(json!({"role": "user", "content": "Buy a ticket"}))
//!     .image("image/png", png)
//!     .event("agent_event", json!({"kind": "screenshot", "image": image_reference(0)}));
//! let committed = store.commit("c1", batch, deadline())?;
//! let events = store.events("c1", committed.first_event - 1, 100, deadline())?;
//! # Ok(()) }
//! ```

mod batch;
mod browser_ids;
mod calls;
mod commit;
mod compilations;
mod conversations;
mod error;
mod open;
mod read;
mod readers;
mod recording_events;
mod recordings;
mod routines;
mod runs;
mod schema;
mod search;
mod texts;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;
use serde_json::Value;

pub(crate) use batch::image_place;
pub use batch::{Batch, image_reference};
pub use browser_ids::{BrowserBinding, BrowserLookup, RegisteredBrowser};
pub use calls::{Intent, IntentOutcome, Question, QuestionKind};
pub use commit::Committed;
pub(crate) use compilations::COMPILE_MODE;
pub use conversations::{Conversation, ConversationState, NewConversation};
pub use error::Error;
pub use read::{Image, StoredEvent, StoredMessage};
pub use recording_events::{NewRecordingEvent, RecordingPicture, StoredRecordingEvent};
pub use recordings::{
    NewRecording, RecordingBegun, RecordingChange, RecordingEnd, RecordingStatus, StopReason, StoredRecording,
};
pub use routines::{NewRoutine, RoutineChange, RoutineVersion, StoredRoutine, Trust, VersionState};
pub use runs::{RunChange, RunStatus, StoredRun};
pub(crate) use search::OF_SEARCH;
pub use search::{MOST_TERMS, StoredText, Term, TextQuery};

use crate::config::Home;
use cdpilot::sync::Deadline;
use readers::Readers;
use writer::Writer;

/// How many images of a conversation are kept, the newest ones.
pub const KEPT_IMAGES: u64 = 50;

/// A handle on the database of a home; clones are the same database. Dropping the last one ends the thread that writes,
/// after the waiting writes.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    // Field order: the writer closes last, which moves the log into the database.
    readers: Readers,
    writer: Writer,
}

/// An opened database.
#[derive(Debug)]
pub struct Opened {
    /// The database.
    pub store: Store,
    /// The path that a damaged database was moved to, for a report to the user. The open database is a new one then.
    pub damaged: Option<PathBuf>,
}

impl Store {
    /// Opens the database of a home ([`Home::database`], which must have been [prepared](Home::prepare)), and creates it if
    /// it is missing, readable by its owner only. It is migrated from older formats. A damaged one is moved to
    /// `cdpilot.db.damaged-<seconds>`, and a new one is begun. Only one process may have it open, as the server of the
    /// home.
    ///
    /// # Errors
    /// [`Error::NewerVersion`], [`Error::File`], [`Error::Busy`] when another program has locked it until the deadline,
    /// [`Error::DiskFull`].
    pub fn open(home: &Home, deadline: Deadline<'_>) -> Result<Opened, Error> {
        let (connection, damaged) = open::open(home, deadline)?;
        let writer = Writer::start(connection, writer::QUEUE)?;
        let inner = Inner { readers: Readers::new(home.database()), writer };
        Ok(Opened { store: Self { inner: Arc::new(inner) }, damaged })
    }

    fn read<T>(&self, deadline: Deadline<'_>, query: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        self.inner.readers.read(deadline, query)
    }

    fn write<T: Send + 'static>(
        &self,
        deadline: Deadline<'_>,
        work: impl FnMut(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.inner.writer.write(deadline, work)
    }
}

/// A new id for something that is stored: a random UUID of version 4 (RFC 9562).
///
/// # Errors
/// [`Error::Failed`] when the system has no random numbers.
pub fn new_id() -> Result<String, Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|problem| Error::Failed { problem: format!("no random numbers: {problem}") })?;
    let mut number = u128::from_be_bytes(bytes);
    number = number & !(0xf << 76) | 0x4 << 76;
    number = number & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{number:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    Ok([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}

/// The current time, in seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Deepest nesting of JSON that is stored: deeper values could not be parsed when read.
const DEEPEST: usize = 120;

/// The text of a JSON value.
fn text_of(value: &Value) -> Result<String, Error> {
    if is_deeper(value, DEEPEST) {
        return Err(Error::conflict(format!("a JSON value is nested more than {DEEPEST} levels deep")));
    }
    Ok(value.to_string())
}

fn is_deeper(value: &Value, than: usize) -> bool {
    let Some(less) = than.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, less)),
        Value::Object(fields) => fields.values().any(|field| is_deeper(field, less)),
        _ => false,
    }
}

/// The value of a stored JSON text.
fn parsed(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text)
        .map_err(|problem| Error::Failed { problem: format!("a stored value is no JSON: {problem}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_random_uuids_of_version_4() {
        let (first, second) = (new_id().unwrap(), new_id().unwrap());
        assert_ne!(first, second);
        let parts: Vec<usize> = first.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&first[14..15], "4");
        assert!("89ab".contains(&first[19..20]), "{first}");
    }

    #[test]
    fn what_is_stored_can_be_parsed() {
        let nested = |levels: usize| (0..levels).fold(Value::from(1), |inside, _| Value::Array(vec![inside]));
        let text = text_of(&nested(DEEPEST)).unwrap();
        assert_eq!(parsed(&text), Ok(nested(DEEPEST)));
        assert!(matches!(text_of(&nested(DEEPEST + 1)), Err(Error::Conflict { .. })));
        assert!(matches!(parsed("{"), Err(Error::Failed { .. })));
    }
}
