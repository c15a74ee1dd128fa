//! Follows the pages of a browser and writes their events.
//!
//! | file | contents |
//! |---|---|
//! | `begin` | which pages are recorded, and the start |
//! | `worker` | the thread `rec-…` that receives reports and writes events |
//! | `reports`, `entries` | reports of pages and entries of the event log as events |
//! | `order` | reports of each document in their order, each once |
//! | `rows` | the parts of an event |
//! | `tabs` | tabs of the recording, and their histories |
//! | `actors` | who did what: actions of this program, by the event log |
//! | `film` | the thread `film-…` that keeps the newest frames of the live picture |
//! | `pictures` | the thread `pics-…` that makes screenshots of them |
//!
//! Nothing is acknowledged to a page before it is stored. The worker never waits for a page: what has to be asked of one is
//! asked by the other two threads.

mod actors;
mod begin;
mod entries;
mod film;
mod order;
mod pictures;
mod reports;
mod rows;
mod tabs;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::Sender;
use parking_lot::Mutex;

pub(super) use begin::begin;
pub(super) use rows::dialog as dialog_data;
pub(crate) use rows::{address as stored_address, path as frame_path};

use super::{Event, StopReason};
use crate::control::Profile;
use crate::store;
use cdpilot::sync::{Deadline, Thread};

/// Receives the events of a recording.
pub(super) trait Sink: Send + Sync {
    /// Stores events and pictures in one transaction: an event or a picture that exists is replaced.
    ///
    /// # Errors
    /// [`store::Error::Conflict`] and [`store::Error::NotFound`] once the recording is not active: end then. Other errors may pass.
    fn write(&self, batch: Written) -> Result<(), store::Error>;

    /// The recording ended by itself. Nothing is written afterwards. Returns without waiting for the capture.
    fn ended(&self, reason: StopReason);
}

/// Events and pictures that are stored together.
#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    pub(super) events: Vec<Event>,
    pub(super) pictures: Vec<Keyframe>,
}

/// A picture of an event.
#[derive(Debug, Clone)]
pub(super) struct Keyframe {
    pub(super) event_index: u64,
    pub(super) after: bool,
    pub(super) jpeg: Vec<u8>,
}

/// How often a stop looks for a worker that has ended.
const STOPPED: Duration = Duration::from_millis(200);

/// Which browser and tabs to record, and from which event number.
pub(super) struct CaptureRequest {
    /// The profile; for the tabs of a session, of that session.
    pub(super) profile: Profile,
    pub(super) scope: Scope,
    /// Address that is opened first.
    pub(super) start_url: Option<String>,
    /// Number of the first event.
    pub(super) first_index: u64,
    /// `host:port` of this server, whose pages are never recorded.
    pub(super) own_addresses: Vec<String>,
}

/// Which tabs are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those of a window that is opened for the recording.
    DedicatedWindow,
    /// Those of the window in front.
    CurrentWindow,
    /// Those of the session.
    Session,
}

/// Where a recording began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Started {
    pub(super) start_url: String,
    /// Width and height in CSS pixels.
    pub(super) viewport: (u32, u32),
}

/// What the worker is to do. It signals when that is done.
#[derive(Debug)]
pub(super) enum Order {
    /// Write everything, and end.
    Stop(Sender<()>),
    /// Read everything that the browser has sent so far, and record the tabs that were opened.
    CatchUp(Sender<()>),
}

/// A capture in progress. Dropping it ends it without its last events.
#[derive(Debug)]
pub(super) struct Capture {
    started: Started,
    is_paused: Arc<AtomicBool>,
    /// How often it was paused.
    pauses: Arc<AtomicU64>,
    orders: Sender<Order>,
    worker: Mutex<Option<Thread>>,
}

impl Capture {
    /// Address and viewport when the recording began.
    pub(super) fn started(&self) -> Started {
        self.started.clone()
    }

    /// Pauses it or goes on. What happens while it is paused is not recorded.
    pub(super) fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Release);
        self.pauses.fetch_add(u64::from(is_paused), Ordering::AcqRel);
    }

    /// Waits until tabs that were opened so far are recorded, at most until the deadline: what is done in them from now on is.
    pub(super) fn catch_up(&self, deadline: Deadline<'_>) {
        let (done, is_done) = crossbeam_channel::bounded(1);
        if self.orders.send_deadline(Order::CatchUp(done), deadline.instant()).is_ok() {
            let _ = is_done.recv_deadline(deadline.instant());
        }
    }

    /// Ends it, and waits until everything is written, at most until the deadline.
    pub(super) fn stop(&self, deadline: Deadline<'_>) {
        let (done, is_done) = crossbeam_channel::bounded(1);
        if self.orders.send_deadline(Order::Stop(done), deadline.instant()).is_ok() {
            while !deadline.passed() {
                match is_done.recv_deadline(deadline.within(STOPPED).instant()) {
                    Err(crossbeam_channel::RecvTimeoutError::Timeout) => {
                        // It ended by itself before it could take the order.
                        if self.worker.lock().as_ref().is_none_or(Thread::is_finished) {
                            break;
                        }
                    }
                    Ok(()) | Err(crossbeam_channel::RecvTimeoutError::Disconnected) => break,
                }
            }
        }
        let worker = self.worker.lock().take();
        drop(worker);
    }
}
