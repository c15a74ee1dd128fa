//! The live picture of a tab: frames of its screencast.
//!
//! Chromium has one screencast per target, so a tab has one, whoever watches: each watcher asks for the frame after the last
//! one that it has seen. The one that waits receives the frames for all. A frame is acknowledged when it is received; Chromium
//! sends two that are not, so a screencast that nobody watches any more costs nothing. The same screencast makes a tab in the
//! background draw ([`Tab::keep_drawing`]).

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::{Condvar, Mutex};
use serde::Deserialize;

use super::screenshot::{PictureType, ScreenshotOptions};
use super::{Error, Tab};
use crate::cdp::protocol::page::{ScreencastFrameAck, StartScreencast, StartScreencastFormat};
use crate::cdp::{Capacity, RecvError, rt};
use crate::supervisor::{self, EventFilter, FrameRef, PageEvent, PageEvents};
use crate::sync::Deadline;

/// Largest frames, in pixels. A larger viewport is scaled down.
const LARGEST: (i64, i64) = (1600, 1200);
/// JPEG quality of frames, 1 to 100.
const QUALITY: u8 = 60;
/// Frames that may wait: more than Chromium sends without an acknowledgement.
const WAITING: Capacity = Capacity { events: 4, bytes: 16 << 20 };
/// How long after its last question a watcher counts as watching.
const WATCHED: Duration = Duration::from_secs(10);
/// How often a watcher that waits for another one looks for its deadline.
const CHECK: Duration = Duration::from_millis(200);
/// How long a frame may take before the screencast is started again. Each start drops a frame that is in progress, so this
/// is doubled each time until one arrives.
const FRAME_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest it becomes.
const MOST_PATIENCE: Duration = Duration::from_secs(8);
/// Shortest time between two screenshots in place of frames.
const SCREENSHOT_PACE: Duration = Duration::from_millis(150);

/// A frame of the live picture.
#[derive(Clone)]
#[non_exhaustive]
pub struct LiveFrame {
    /// Its number; a later frame has a larger one, also after a restart of this program.
    pub number: u64,
    /// A JPEG, in Base64.
    pub jpeg: Arc<str>,
    /// Width of the viewport it shows, in CSS pixels. The image may be smaller.
    pub width: f64,
    /// Height of the viewport it shows, in CSS pixels.
    pub height: f64,
}

impl fmt::Debug for LiveFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LiveFrame({}, {} bytes of Base64)", self.number, self.jpeg.len())
    }
}

/// The session of a page and the loader id of its document.
type Shown = Option<(Arc<str>, Option<Arc<str>>)>;

/// The screencast of a tab.
#[derive(Default)]
pub(super) struct Live {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_begun: bool,
    /// The frames to come; `None` while a watcher receives them.
    frames: Option<PageEvents>,
    latest: Option<LiveFrame>,
    /// Number of the last frame.
    number: u64,
    watched: Option<Instant>,
    /// When the last frame came, or the screencast was started after it.
    since: Option<Instant>,
    /// How often it was started since, because no frame came.
    restarts: u32,
    /// The session of the page, and the document that it showed then.
    shown: Shown,
    /// When the last screenshot was taken in place of a frame.
    shot: Option<Instant>,
}

impl State {
    fn is_watched(&self) -> bool {
        self.is_begun && self.watched.is_some_and(|at| at.elapsed() < WATCHED)
    }

    /// How long a frame may still take.
    fn patience(&self) -> Duration {
        let limit = FRAME_TIMEOUT.saturating_mul(1 << self.restarts.min(8)).min(MOST_PATIENCE);
        self.since.map_or(Duration::ZERO, |at| limit.saturating_sub(at.elapsed()))
    }

    /// Numbers a new frame.
    fn count(&mut self) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        self.number = (self.number + 1).max(u64::try_from(now).unwrap_or_default());
    }

    /// The next watcher starts the screencast again; frames that are still on their way are dropped.
    fn end(&mut self) -> Option<PageEvents> {
        self.is_begun = false;
        self.latest = None;
        self.restarts = 0;
        self.frames.take()
    }
}

/// What a watcher does next.
enum Turn {
    Return(LiveFrame),
    Begin,
    Receive(PageEvents),
    Wait,
}

/// Params of `Page.screencastFrame`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    data: Arc<str>,
    metadata: Metadata,
    session_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    device_width: f64,
    device_height: f64,
}

impl rt::Event<'_> for Frame {
    const METHOD: &'static str = "Page.screencastFrame";
}

/// Gives the frames back when a watcher has received one, gives up or panics.
struct Receiving<'a> {
    live: &'a Live,
    frames: Option<PageEvents>,
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        let old = {
            let mut state = self.live.state.lock();
            match self.frames.take() {
                Some(frames) if state.is_begun && state.frames.is_none() => {
                    state.frames = Some(frames);
                    None
                }
                frames => {
                    // Not begun, because the subscription failed, or ended in the meantime.
                    state.is_begun &= state.frames.is_some();
                    frames
                }
            }
        };
        drop(old); // outside of the lock
        self.live.changed.notify_all();
    }
}

impl Tab {
    /// Waits for a frame of the live picture that is newer than number `after` (0: any). Returns the newest one; `None` if
    /// the page has not drawn anything new by the deadline, as while a dialog is open.
    ///
    /// The page draws as if it were visible; it is not brought to the front. While the tab has stored secrets to hide,
    /// frames are screenshots in which they are painted over.
    ///
    /// # Errors
    /// [`Error::Supervisor`]: the page is closed, the connection is lost, cancelled. While secrets are hidden, those of
    /// [`screenshot`](Self::screenshot).
    pub fn live_frame(&self, after: u64, deadline: Deadline<'_>) -> Result<Option<LiveFrame>, Error> {
        loop {
            // Each time: a secret may be stored while a frame is waited for.
            if self.has_hidden() {
                return self.live_screenshot(deadline);
            }
            if deadline.is_cancelled() {
                return Err(supervisor::Error::Cancelled.into());
            }
            if deadline.passed() {
                return Ok(None);
            }
            match self.live.turn(after) {
                Turn::Return(_) if self.has_hidden() => {}
                Turn::Return(frame) => return Ok(Some(frame)),
                Turn::Wait => self.live.wait(deadline),
                Turn::Begin => {
                    let mut receiving = Receiving { live: &self.live, frames: None };
                    let filter = EventFilter::of::<Frame>().capacity(WAITING);
                    receiving.frames = Some(self.supervisor.subscribe(&self.target, filter, deadline)?);
                    self.cast_live();
                }
                Turn::Receive(frames) => {
                    let receiving = Receiving { live: &self.live, frames: Some(frames) };
                    let patience = self.live.patience(self.document_shown());
                    let is_late = !self.receive(&receiving, deadline.within(patience.min(FRAME_TIMEOUT)))?;
                    // A lost connection or another process of the page ends a screencast without a word.
                    if is_late && self.live.is_overdue() {
                        self.cast_live();
                    }
                }
            }
        }
    }

    fn document_shown(&self) -> Shown {
        let now = self.supervisor.view();
        let page = now.page(self.target.as_str())?;
        let document = page.top_frame.as_ref().and_then(|top| now.document_of(top));
        Some((Arc::clone(&page.session), document))
    }

    /// Receives all frames that have arrived, and waits for the first one. Whether there was one.
    fn receive(&self, receiving: &Receiving<'_>, deadline: Deadline<'_>) -> Result<bool, Error> {
        let Some(frames) = &receiving.frames else { return Ok(false) };
        let mut newest = None;
        let mut next = frames.next(deadline);
        loop {
            match next {
                Ok(PageEvent::Event { event, .. }) => {
                    // A frame of an unknown form is as good as none.
                    if let Ok(frame) = event.decode::<Frame>() {
                        let ack = ScreencastFrameAck::new(frame.session_id);
                        self.supervisor.post(&FrameRef::TopOf(self.target.clone()), &ack);
                        newest = Some(frame);
                    }
                }
                Ok(PageEvent::Lost { .. }) => {}
                Err(RecvError::Timeout) => break,
                Err(RecvError::Closed) => {
                    return Err(supervisor::Error::PageNotFound { target: self.target.to_string() }.into());
                }
            }
            next = frames.try_next();
        }
        let Some(Frame { data, metadata, .. }) = newest else { return Ok(false) };
        let mut state = self.live.state.lock();
        state.count();
        (state.since, state.restarts) = (Some(Instant::now()), 0);
        let (width, height) = (metadata.device_width, metadata.device_height);
        state.latest = Some(LiveFrame { number: state.number, jpeg: data, width, height });
        Ok(true)
    }

    /// A screenshot in place of a frame.
    fn live_screenshot(&self, deadline: Deadline<'_>) -> Result<Option<LiveFrame>, Error> {
        let (old, early) = {
            let mut state = self.live.state.lock();
            let early = state.shot.map(|at| SCREENSHOT_PACE.saturating_sub(at.elapsed()));
            state.shot = Some(Instant::now() + early.unwrap_or_default());
            (state.end(), early)
        };
        drop(old);
        if let Some(early) = early.filter(|early| !early.is_zero()) {
            crate::sync::pause(early.min(deadline.left()));
        }
        let options = ScreenshotOptions { kind: PictureType::Jpeg, quality: Some(QUALITY), ..Default::default() };
        let shot = self.screenshot(&options, deadline)?;
        let mut state = self.live.state.lock();
        state.count();
        let (width, height) = (f64::from(shot.width) / shot.scale, f64::from(shot.height) / shot.scale);
        let jpeg = STANDARD.encode(&shot.bytes).into();
        Ok(Some(LiveFrame { number: state.number, jpeg, width, height }))
    }

    /// Makes the page draw frames even when it is not visible, by a screencast. While nobody watches it, its images are tiny,
    /// and Chromium makes two, since none is acknowledged.
    pub(super) fn keep_drawing(&self) {
        let (is_watched, old) = {
            let mut state = self.live.state.lock();
            if state.is_watched() { (true, None) } else { (false, state.end()) }
        };
        drop(old);
        if is_watched { self.cast_live() } else { self.cast((16, 16), 1) }
    }

    fn cast_live(&self) {
        self.live.state.lock().since = Some(Instant::now());
        self.cast(LARGEST, QUALITY);
    }

    fn cast(&self, (width, height): (i64, i64), quality: u8) {
        let mut cast = StartScreencast::new();
        cast.format = Some(StartScreencastFormat::Jpeg);
        (cast.max_width, cast.max_height, cast.quality) = (Some(width), Some(height), Some(i64::from(quality)));
        self.supervisor.post(&FrameRef::TopOf(self.target.clone()), &cast);
    }
}

impl Live {
    /// How long a frame may still take. Another document, or another session after a reconnect, begins anew.
    fn patience(&self, shown: Shown) -> Duration {
        let mut state = self.state.lock();
        if state.shown != shown {
            state.shown = shown;
            (state.since, state.restarts) = (Some(Instant::now()), 0);
        }
        state.patience()
    }

    /// Whether the screencast must be started again, because no frame came in time. Counts that start.
    fn is_overdue(&self) -> bool {
        let mut state = self.state.lock();
        let is_overdue = state.patience().is_zero();
        state.restarts += u32::from(is_overdue);
        is_overdue
    }

    fn turn(&self, after: u64) -> Turn {
        let mut state = self.state.lock();
        state.watched = Some(Instant::now());
        if let Some(frame) = state.latest.as_ref().filter(|frame| frame.number > after) {
            return Turn::Return(frame.clone());
        }
        if !state.is_begun {
            state.is_begun = true;
            return Turn::Begin;
        }
        state.frames.take().map_or(Turn::Wait, Turn::Receive)
    }

    /// Waits for the watcher that receives the frames.
    fn wait(&self, deadline: Deadline<'_>) {
        let mut state = self.state.lock();
        if state.is_begun && state.frames.is_none() {
            self.changed.wait_until(&mut state, deadline.within(CHECK).instant());
        }
    }
}
