//! Recordings: what a person does in a browser, as events and pictures.
//!
//! | file | contents |
//! |---|---|
//! | `event` | events |
//! | `recordings` | the service: begin, pause, stop, list, delete |
//! | `sink` | what a capture writes to; stored events |
//! | `accept` | events that other programs send |
//! | `follow` | following the events of a recording |
//! | `transfer` | files of recordings: import and export |
//! | `capture` | follows the pages of a browser |
//! | `draft` | the steps that the events amount to |
//! | `interchange`, `devtools` | formats of files: that of cdpilot, that of the Recorder of Chrome DevTools |
//!
//! Events are stored before they are shown. A page is never asked for what it did: what cannot be known is a `gap`.

mod accept;
mod capture;
pub mod devtools;
pub mod draft;
mod error;
mod event;
mod follow;
pub mod interchange;
mod recordings;
mod sink;
mod trail;
mod transfer;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use accept::Metadata;
pub(crate) use capture::{frame_path, stored_address};
pub use error::Error;
pub use event::{Actor, Area, Container, Element, Event, EventType, FrameStep, PageShown};
pub use follow::{Followed, Follower};
pub use recordings::{Recordings, StartRecording, Window, has_note_of_file};
pub use sink::stored_events;
pub use trail::{Trail, TrailCall};
pub use transfer::Format;

pub use crate::store::{RecordingStatus, StopReason};

/// Time limit for an operation on the database.
const STORE: Duration = Duration::from_secs(10);

/// The current time, in seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
