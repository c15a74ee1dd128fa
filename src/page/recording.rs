//! Recording: what is done in some pages, in one order.
//!
//! The script reports what a person does in a document (`record.js`); navigations, dialogs, downloads and tabs come from the
//! event log. A report is repeated until it is [acknowledged](Recorder::acknowledge), so that a full queue or a lost connection
//! loses nothing while its document lives.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::live::LiveFrame;
use super::screenshot::Edges;
use super::script;
use super::world::Node;
use super::{Error, Tab};
use crate::cdp::RecvError;
use crate::cdp::protocol::browser::GetWindowForTarget;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::supervisor::{EventRecord, Evidence, Origin, RecordingFeed, RecordingSpec, Supervisor};
use crate::sync::Deadline;
use cdpilot_picture::{Canvas, PictureType, Rect, TextSize, encode, outline, write_on};

/// Largest screenshot of a recording, in pixels.
pub const KEYFRAME: (u32, u32) = (960, 540);
/// Height of the line of text above it.
const BANNER: u32 = 22;
const QUALITY: u8 = 70;
const YELLOW: [u8; 3] = [0xff, 0xd4, 0x00];
const BLACK: [u8; 3] = [0; 3];
const PAINT: [u8; 3] = [0x20, 0x20, 0x20];
/// Characters of the line of text that fit.
const BANNER_CHARACTERS: usize = 150;

/// What is recorded.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RecorderOptions {
    /// The pages. Those that they open join them.
    pub pages: Vec<TargetId>,
    /// Whether file choosers are intercepted as usual. If not, they are shown to the person who uses the pages.
    pub keeps_choosers: bool,
}

impl RecorderOptions {
    /// Records these pages, which a person uses.
    #[must_use]
    pub fn of(pages: Vec<TargetId>) -> Self {
        Self { pages, keeps_choosers: false }
    }

    /// Whether file choosers are intercepted as usual.
    #[must_use]
    pub fn keeps_choosers(mut self, keeps: bool) -> Self {
        self.keeps_choosers = keeps;
        self
    }
}

/// A report of what was done in a document. All texts are untrusted.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The token of the document.
    pub doc: String,
    /// Its number in the document.
    pub n: u64,
    /// The number of the first report of the same event: this one replaces it. Equal to `n` for a new event.
    pub of: u64,
    /// When it happened, in milliseconds since 1970.
    pub at: f64,
    /// What happened: a type of event, or `hello`, `ready`, `shown`, `hidden`, `closed`.
    pub kind: String,
    /// The element, described as in a recording.
    pub element: Option<Value>,
    /// Facts of this kind of event.
    pub data: Map<String, Value>,
    /// The number of the report that caused it; 0 if none did.
    pub cause: u64,
    /// When the press or key that caused it came, in milliseconds since 1970; 0 if none did.
    pub pressed: f64,
    /// Address of the document.
    pub url: String,
    /// Title of the document.
    pub title: String,
    /// Where sensitive fields of the document are: left, top, width and height, in CSS pixels of its viewport.
    pub areas: Vec<(f64, f64, f64, f64)>,
}

/// A report with the page and frame that it comes from.
#[derive(Debug, Clone)]
pub struct Reported {
    /// The report.
    pub report: Report,
    origin: Origin,
}

impl Reported {
    /// The page.
    #[must_use]
    pub fn page(&self) -> &TargetId {
        &self.origin.page
    }

    /// The frame; `None` if it is not known.
    #[must_use]
    pub fn frame(&self) -> Option<&FrameId> {
        self.origin.frame.as_ref()
    }
}

/// An item of a recording.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Recorded {
    /// Something was done in a document.
    Report(Box<Reported>),
    /// An entry of the event log, with its time in Unix seconds: of one of the pages, of the browser, or a new page.
    Event {
        /// When, in Unix seconds.
        at: f64,
        /// The entry.
        record: EventRecord,
    },
    /// A page joined the recording.
    Joined {
        /// The page.
        page: TargetId,
        /// The page that opened it.
        opener: Option<TargetId>,
    },
    /// The text of a prompt that was accepted; its `DialogClosed` follows.
    PromptText {
        /// The page.
        page: TargetId,
        /// The text.
        text: Arc<str>,
    },
}

/// A recording in progress. Dropping it ends it at once.
pub struct Recorder {
    supervisor: Arc<Supervisor>,
    feed: RecordingFeed,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins to record. A supervisor has one recording at a time.
    ///
    /// # Errors
    /// [`AlreadyRecorded`](crate::supervisor::Error::AlreadyRecorded), [`PageNotFound`](crate::supervisor::Error::PageNotFound) and the errors of an ended supervisor.
    pub fn begin(
        supervisor: &Arc<Supervisor>,
        options: RecorderOptions,
        deadline: Deadline<'_>,
    ) -> Result<Self, Error> {
        let random = || format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let (binding, signal) = (format!("record{}", random()), format!("record{}", random()));
        let names = json!({ "binding": binding, "signal": signal });
        let source = source_of(&names).into();
        let again = format!("function() {{ if (globalThis.__cdpilot) globalThis.__cdpilot.calls.record({names}); }}");
        let (pages, keeps_choosers) = (options.pages, options.keeps_choosers);
        let spec = RecordingSpec { source, again: again.into(), binding: binding.into(), pages, keeps_choosers };
        let feed = supervisor.record(spec, deadline)?;
        Ok(Self { supervisor: Arc::clone(supervisor), feed })
    }

    /// Records another page too.
    ///
    /// # Errors
    /// [`PageNotFound`](crate::supervisor::Error::PageNotFound) and the errors of an ended supervisor.
    pub fn join(&self, page: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        Ok(self.supervisor.record_page(page, deadline)?)
    }

    /// Waits for the next item until the deadline.
    ///
    /// # Errors
    /// [`RecvError::Timeout`]; [`RecvError::Closed`] once the supervisor has ended and all earlier items were received.
    pub fn next(&self, deadline: Deadline<'_>) -> Result<Recorded, RecvError> {
        loop {
            return Ok(match self.feed.next(deadline)? {
                Evidence::Report { origin, payload } => match serde_json::from_str::<Report>(&payload) {
                    Ok(report) => Recorded::Report(Box::new(Reported { report, origin })),
                    // Its error would quote what was typed.
                    Err(_) => {
                        tracing::warn!("a report of the recording cannot be read");
                        continue;
                    }
                },
                Evidence::Event { at, record } => Recorded::Event { at, record },
                Evidence::Joined { page, opener } => Recorded::Joined { page, opener },
                Evidence::PromptText { page, text } => Recorded::PromptText { page, text },
            });
        }
    }

    /// Returns once everything that the browser has sent so far is in the queue.
    ///
    /// # Errors
    /// The deadline passed, or the supervisor has ended.
    pub fn caught_up(&self, deadline: Deadline<'_>) -> Result<(), Error> {
        self.supervisor.caught_up(deadline)?;
        Ok(())
    }

    /// Number of items lost since the last call. Reports among them are repeated.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.feed.lost()
    }

    /// The reports of the document up to this one are stored: they are not repeated.
    pub fn acknowledge(&self, reported: &Reported) {
        const FUNCTION: &str = "function(n) { if (globalThis.__cdpilot) globalThis.__cdpilot.calls.recorded(n); }";
        self.supervisor.post_to(&reported.origin, FUNCTION, &reported.report.n);
    }
}

/// The script for all documents. The token of a document is made in it.
fn source_of(names: &Value) -> String {
    const TOKEN: &str =
        "Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')";
    format!("({})({TOKEN});\nglobalThis.__cdpilot.calls.record({names});", script::SOURCE)
}

/// The window that shows a page; `None` if the browser has no windows.
#[must_use]
pub fn window_of(supervisor: &Supervisor, page: &TargetId, deadline: Deadline<'_>) -> Option<i64> {
    use crate::cdp::rt::Command as _;
    let answer = supervisor.browser_raw(GetWindowForTarget::METHOD, &json!({ "targetId": page }), deadline).ok()?;
    answer["windowId"].as_i64()
}

impl Tab {
    /// Ends the recorder in all documents of the tab. What it still has is reported before this returns.
    pub fn end_recording(&self, deadline: Deadline<'_>) {
        let now = self.supervisor.view();
        let frames: Vec<FrameId> = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect();
        // A document that does not answer has no recorder any more, or is stuck.
        drop(self.call_all::<(), _>(&frames, "recordingOver", |_| (), deadline));
    }

    /// Where sensitive fields of all frames are in the top viewport, in CSS pixels: left, top, width and height of each.
    ///
    /// # Errors
    /// A frame does not answer, so that its fields are not known; a dialog is open.
    pub fn sensitive_parts(&self, deadline: Deadline<'_>) -> Result<Vec<(f64, f64, f64, f64)>, Error> {
        let now = self.supervisor.view();
        let frames: Vec<FrameId> = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect();
        let answers = self.call_all::<Vec<(f64, f64, f64, f64)>, _>(&frames, "sensitiveParts", |_| (), deadline);
        let mut all = Vec::new();
        for (frame, answer) in frames.iter().zip(answers) {
            match answer {
                Ok((_, done)) => all.extend(self.in_top_viewport(frame, &done.result, deadline)?),
                Err(_) if self.supervisor.view().frame(frame.as_str()).is_none() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Where parts of a frame are in the top viewport, in CSS pixels: left, top, width and height of each. Parts that are not
    /// visible are left out.
    ///
    /// # Errors
    /// The document is gone, or a dialog is open.
    pub fn in_top_viewport(
        &self,
        frame: &FrameId,
        parts: &[(f64, f64, f64, f64)],
        deadline: Deadline<'_>,
    ) -> Result<Vec<(f64, f64, f64, f64)>, Error> {
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        if *frame == self.top()? {
            return Ok(parts.to_vec());
        }
        let doc = self.document(frame, deadline)?;
        let node = Node { frame: frame.clone(), doc, id: 0 };
        let layout = self.layout(&[node], super::screenshot::BoxOptions::default(), deadline)?;
        let edges: Vec<Edges> = parts.iter().copied().map(Edges::from).collect();
        let lifted = layout.parts(frame, &edges).unwrap_or_default();
        Ok(lifted.into_iter().map(|part| (part.x, part.y, part.width, part.height)).collect())
    }
}

/// A screenshot of a recording: a frame of the live picture, at most 960 x 540 pixels, with a box around what is used and a line
/// of text above. Parts are in CSS pixels of the viewport: left, top, width and height; what is `covered` is painted over.
///
/// # Errors
/// The frame cannot be decoded.
pub fn keyframe(
    frame: &LiveFrame,
    marked: Option<(f64, f64, f64, f64)>,
    covered: &[(f64, f64, f64, f64)],
    text: &str,
) -> Result<Vec<u8>, Error> {
    use base64::Engine as _;
    let failed = |problem: String| Error::Internal { frame: "the live picture".to_owned(), problem };
    let jpeg = base64::engine::general_purpose::STANDARD.decode(&*frame.jpeg);
    let jpeg = jpeg.map_err(|error| failed(error.to_string()))?;
    let mut canvas = Canvas::decode_jpeg(&jpeg)?;
    let (width, height) = (f64::from(canvas.width), f64::from(canvas.height));
    let (across, down) = (width / frame.width.max(1.0), height / frame.height.max(1.0));
    let scaled = |(x, y, wide, high): (f64, f64, f64, f64), (across, down): (f64, f64)| {
        Rect::new(x * across, y * down, wide * across, high * down)
    };
    for part in covered {
        let part = scaled(*part, (across, down));
        #[expect(clippy::cast_possible_truncation, reason = "pixels of a picture")]
        let side = |from: f64, to: f64| (from.floor() as i64, to.ceil() as i64);
        let ((left, right), (top, bottom)) = (side(part.x, part.right()), side(part.y, part.bottom()));
        canvas.fill(left, top, right - left, bottom - top, PAINT);
    }
    let scale = (f64::from(KEYFRAME.0) / width).min(f64::from(KEYFRAME.1 - BANNER) / height).min(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the size of the frame")]
    let small = |side: f64| ((side * scale).floor() as u32).max(1);
    let mut canvas = canvas.resized(small(width), small(height))?;
    if let Some(marked) = marked {
        let marked = scaled(marked, (across * scale, down * scale));
        outline(&mut canvas, &marked, 4, 1, BLACK);
        outline(&mut canvas, &marked, 3, 3, YELLOW);
    }
    let mut whole = Canvas::white(canvas.width, canvas.height + BANNER);
    whole.paste(&canvas, 0, i64::from(BANNER));
    let banner = Rect::new(0.0, 0.0, f64::from(canvas.width), f64::from(BANNER));
    let text: String = text.chars().take(BANNER_CHARACTERS).collect();
    write_on(&mut whole, &banner, &text, TextSize::Large, (YELLOW, BLACK));
    Ok(encode(&whole, PictureType::Jpeg, QUALITY)?.bytes)
}
