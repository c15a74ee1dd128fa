//! Capturing viewport, page or element.

use std::time::{Duration, Instant};

use serde::Deserialize;

use super::super::error::Shown;
use super::super::world::Node;
use super::super::{Error, Tab};
use super::boxes::{BoxOptions, NodePosition, View};
use super::options::ScreenshotOptions;
use super::scrolled::{InnerScroller, Scrolled};
use crate::cdp;
use crate::cdp::protocol::page::{CaptureScreenshot, GetLayoutMetrics, Viewport};
use crate::supervisor::{self, FrameRef};
use crate::sync::{Deadline, pause};
use cdpilot_picture::{NumberLabel, Rect};

/// Maximum number of labels.
const MOST_LABELS: usize = 150;
/// Maximum number of pixels, to bound the memory.
const MOST_PIXELS: f64 = 60.0 * 1000.0 * 1000.0;
/// Maximum side, in device pixels.
const LONGEST_SIDE: f64 = 30_000.0;
/// How long a drawing tab may take to answer. A capture that takes longer may never be answered, because its document
/// was replaced. It is requested again, each time with twice the time.
const DRAWN: Duration = Duration::from_millis(400);
/// A capture of a page that has not responded for this long is not repeated.
const STUCK: Duration = Duration::from_secs(5);
/// Pause before a page between two documents is captured again.
const BETWEEN: Duration = Duration::from_millis(20);
/// How often a screenshot is repeated because labelled elements moved or its document was replaced.
const RETAKES: u32 = 2;

/// An element with a label.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) shown: Shown,
    /// In CSS pixels of the top viewport.
    pub(super) label: NumberLabel,
}

impl Shot {
    /// The labels of its elements.
    pub(super) fn labels(&self) -> Vec<&NumberLabel> {
        self.marks.iter().map(|mark| &mark.label).collect()
    }
}

/// A capture of the browser.
#[derive(Debug, Default)]
pub(super) struct Shot {
    pub(super) png: Vec<u8>,
    /// The captured area, in CSS pixels of the top viewport.
    pub(super) area: Rect,
    pub(super) marks: Vec<Mark>,
    /// How many more elements could have been labelled.
    pub(super) over: usize,
    /// Where it was cut, in CSS pixels from the top of the page or element.
    pub(super) cut_at: Option<f64>,
    pub(super) url: String,
    pub(super) notes: Vec<String>,
    pub(super) rescued: bool,
}

/// The area to capture, in CSS pixels of the top viewport.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Frame {
    pub(in super::super) area: Rect,
    pub(in super::super) view: View,
    /// Whether it is a part of the document instead of the viewport.
    pub(in super::super) clipped: bool,
    /// Whether it extends beyond the viewport.
    pub(in super::super) beyond: bool,
}

#[derive(Deserialize)]
struct Picked {
    id: Option<u32>,
    bad: Option<String>,
}

impl Tab {
    pub(super) fn take(&self, options: &ScreenshotOptions, deadline: Deadline<'_>) -> Result<Shot, Error> {
        self.arrived(deadline)?;
        let mut tries = 0;
        let mut shot = loop {
            tries += 1;
            match self.take_once(options, deadline) {
                // The earlier document was replaced.
                Err(Error::DocumentGone { .. })
                    if tries <= RETAKES && options.reference.is_none() && options.element.is_none() => {}
                outcome => break outcome?,
            }
        };
        let now = self.supervisor.view();
        shot.url = now.page(self.target.as_str()).map(|page| page.url.to_string()).unwrap_or_default();
        Ok(shot)
    }

    fn take_once(&self, options: &ScreenshotOptions, deadline: Deadline<'_>) -> Result<Shot, Error> {
        let view = self.view(deadline)?;
        match (&options.reference, &options.element) {
            (Some(reference), _) => {
                let (node, _) = self.resolve(reference)?;
                self.take_element(&node, reference, options, deadline)
            }
            (None, Some(selector)) => {
                let node = self.picked(selector, options.frame.as_deref(), deadline)?;
                self.take_element(&node, selector, options, deadline)
            }
            (None, None) if options.full_page => self.take_page(&view, options, deadline),
            (None, None) => self.take_viewport(view, options, deadline),
        }
    }

    pub(in super::super) fn view(&self, deadline: Deadline<'_>) -> Result<View, Error> {
        Ok(self.call::<View>(&self.top()?, "view", &(), deadline)?.1.result)
    }

    fn take_viewport(&self, view: View, options: &ScreenshotOptions, deadline: Deadline<'_>) -> Result<Shot, Error> {
        let frame = Frame { area: view.rect(), view, clipped: false, beyond: false };
        self.labelled(frame, options, BoxOptions::default(), deadline)
    }

    fn take_page(&self, view: &View, options: &ScreenshotOptions, deadline: Deadline<'_>) -> Result<Shot, Error> {
        let page = FrameRef::TopOf(self.target.clone());
        let metrics = self.supervisor.call(&page, &GetLayoutMetrics::new(), deadline)?.result;
        let (size, room) = (metrics.css_content_size, metrics.css_layout_viewport);
        #[expect(clippy::cast_precision_loss, reason = "sides of a viewport")]
        let room = (room.client_width as f64, room.client_height as f64);
        let (whole_width, whole_height) = (size.width.max(room.0), size.height.max(room.1));
        let inner = self.call::<Option<InnerScroller>>(&self.top()?, "innerScroller", &(), deadline)?.1.result;
        let note_inner = |shot: &mut Shot| shot.notes.extend(inner.as_ref().map(InnerScroller::note));
        if whole_width <= room.0 && whole_height <= room.1 {
            let mut shot = self.take_viewport(*view, options, deadline)?;
            note_inner(&mut shot);
            return Ok(shot);
        }
        let (width, height) = within_limits(whole_width, whole_height, view.ratio);
        let area = Rect { x: size.x - view.x, y: size.y - view.y, width, height };
        let frame = Frame { area, view: *view, clipped: true, beyond: true };
        let mut shot = self.labelled(frame, options, BoxOptions { whole: true, uncovered: true }, deadline)?;
        if height < whole_height || width < whole_width {
            shot.cut_at = (height < whole_height).then_some(height);
            shot.notes.push(format!(
                "cut: the page is {whole_width:.0}x{whole_height:.0} CSS pixels, the screenshot shows the first {width:.0}x{height:.0}; \
                 capture elements of it for the rest"
            ));
        }
        note_inner(&mut shot);
        Ok(shot)
    }

    fn take_element(
        &self,
        node: &Node,
        name: &str,
        options: &ScreenshotOptions,
        deadline: Deadline<'_>,
    ) -> Result<Shot, Error> {
        let how = BoxOptions { whole: true, uncovered: false };
        let (view, place) = self.place(node, how, deadline)?;
        let gone = || Error::StaleRef { reference: name.to_owned(), why: "it was removed from the page" };
        let unseen = || Error::not_actionable(name, "it is not visible, so it cannot be captured");
        let place = place.ok_or_else(gone)?;
        let all = place.all.ok_or_else(unseen)?;
        let is_whole = place.part.is_some_and(|part| part.holds(&all));
        let is_top = node.frame == self.top()?;
        let is_large = all.width > view.width || all.height > view.height;
        let frame = |area: Rect, view: View, beyond: bool| {
            let area = on_pixels(&area, &view);
            Frame { area, view, clipped: true, beyond }
        };
        if is_whole && view.rect().holds(&all) {
            return self.labelled(frame(all, view, false), options, BoxOptions::default(), deadline);
        }
        if is_whole && is_top && is_large && !self.is_pinned(node, deadline)? {
            let (width, height) = within_limits(all.width, all.height, view.ratio);
            let area = Rect { width, height, ..all };
            let mut shot = self.labelled(frame(area, view, true), options, how, deadline)?;
            if area != all {
                shot.cut_at = (height < all.height).then_some(height);
                shot.notes.push(format!(
                    "cut: the element is {:.0}x{:.0} CSS pixels, the screenshot shows the first {width:.0}x{height:.0}",
                    all.width, all.height
                ));
            }
            return Ok(shot);
        }
        let before = self.bring(node, deadline)?;
        let shot = self.place(node, BoxOptions::default(), deadline).and_then(|(view, place)| {
            let place = place.ok_or_else(gone)?;
            let part = place.part.ok_or_else(unseen)?;
            let mut shot = self.labelled(frame(part, view, false), options, BoxOptions::default(), deadline)?;
            if !place.all.is_some_and(|all| part.holds(&all)) {
                shot.notes.push("only the part of the element that its frame or container shows".to_owned());
            }
            Ok(shot)
        });
        self.put_back(before, deadline);
        shot
    }

    /// Whether a node keeps its place in the viewport while the page scrolls.
    fn is_pinned(&self, node: &Node, deadline: Deadline<'_>) -> Result<bool, Error> {
        self.call_on_node(node, "isPinned", &serde_json::json!({ "id": node.id }), deadline)
    }

    fn place(
        &self,
        node: &Node,
        how: BoxOptions,
        deadline: Deadline<'_>,
    ) -> Result<(View, Option<NodePosition>), Error> {
        let (view, places) = self.places(std::slice::from_ref(node), how, deadline)?;
        Ok((view, places.into_iter().next().flatten()))
    }

    /// The first element that matches a selector.
    fn picked(&self, selector: &str, frame: Option<&str>, deadline: Deadline<'_>) -> Result<Node, Error> {
        let frame = frame.map_or_else(|| self.top(), |text| self.frame_named(text, deadline))?;
        let (doc, picked) =
            self.call::<Picked>(&frame, "pick", &serde_json::json!({ "selector": selector }), deadline)?;
        match picked.result {
            Picked { id: Some(id), .. } => Ok(Node { frame, doc, id }),
            Picked { bad: Some(problem), .. } => Err(Error::BadRequest { problem }),
            Picked { .. } => {
                let place = if frame == self.top()? { "the page".to_owned() } else { format!("frame {frame}") };
                Err(Error::NoMatch { selector: selector.to_owned(), place })
            }
        }
    }

    /// A capture, with the positions of the labelled elements at that moment.
    fn labelled(
        &self,
        frame: Frame,
        options: &ScreenshotOptions,
        how: BoxOptions,
        deadline: Deadline<'_>,
    ) -> Result<Shot, Error> {
        let shoot = || -> Result<Shot, Error> {
            let Scrolled { png, rescued, notes } = if frame.beyond {
                self.grab_scrolled(&frame, deadline)?
            } else {
                let (png, rescued) = self.grab(&frame, deadline)?;
                Scrolled { png, rescued, notes: Vec::new() }
            };
            Ok(Shot { png, rescued, notes, area: frame.area, ..Shot::default() })
        };
        if !options.labels {
            return shoot();
        }
        let (found, seen_rescued) = self.actionable(deadline)?;
        let nodes: Vec<Node> = found.iter().map(|(_, node, _)| node.clone()).collect();
        let how = BoxOptions { uncovered: true, ..how };
        let (_, mut before) = self.places(&nodes, how, deadline)?;
        let mut tries = 0;
        let (mut shot, places) = loop {
            let shot = shoot()?;
            let (_, after) = self.places(&nodes, how, deadline)?;
            if after == before || tries >= RETAKES {
                break (shot, after);
            }
            before = after;
            tries += 1;
        };
        shot.rescued |= seen_rescued;
        if places != before {
            shot.notes.push("labelled elements are moving: labels may be misplaced".to_owned());
        }
        for ((number, _, shown), place) in found.into_iter().zip(places) {
            let Some(NodePosition { part: Some(part), lines, .. }) = place else { continue };
            let Some(part) = part.and(&frame.area) else { continue };
            let lines = lines.iter().filter_map(|line| line.and(&frame.area)).collect();
            if shot.marks.len() < MOST_LABELS {
                shot.marks.push(Mark { shown, label: NumberLabel { number, part, lines } });
            } else {
                shot.over += 1;
            }
        }
        Ok(shot)
    }

    /// Captures. Stored secrets are painted over.
    pub(in super::super) fn grab(&self, frame: &Frame, deadline: Deadline<'_>) -> Result<(Vec<u8>, bool), Error> {
        if self.has_hidden() { self.grab_hiding(frame, deadline) } else { self.grab_as_it_is(frame, deadline) }
    }

    /// Captures what is in the viewport.
    pub(super) fn grab_as_it_is(&self, frame: &Frame, deadline: Deadline<'_>) -> Result<(Vec<u8>, bool), Error> {
        let began = Instant::now();
        self.grab_at_once(frame, deadline).map_err(|error| not_captured(error, began.elapsed()))
    }

    /// Captures. A background tab does not draw by itself: Chromium 156 would answer when it happens to draw, after
    /// many seconds or never. A screencast that nobody reads makes it draw. A capture during a navigation is refused or
    /// never answered.
    fn grab_at_once(&self, frame: &Frame, deadline: Deadline<'_>) -> Result<(Vec<u8>, bool), supervisor::Error> {
        let page = FrameRef::TopOf(self.target.clone());
        let mut command = CaptureScreenshot::new();
        // Half the time, for files that are a tenth larger.
        command.optimize_for_speed = Some(true);
        if frame.clipped {
            let Rect { x, y, width, height } = frame.area.moved(frame.view.x, frame.view.y);
            command.clip = Some(Viewport::new(x, y, width, height, 1.0));
            command.capture_beyond_viewport = Some(false);
        }
        // A background tab with focus emulation also counts as visible.
        let mut slice = DRAWN;
        let mut is_drawing = !frame.view.hidden;
        if !is_drawing {
            self.keep_drawing();
        }
        loop {
            let captured = if self.has_hidden() {
                self.supervisor.capture_unkept(&page, &command, deadline.within(slice))
            } else {
                self.supervisor.capture(&page, &command, deadline.within(slice))
            };
            match captured {
                Err(error) if is_between(&error) && !deadline.passed() => pause(BETWEEN),
                Err(error) if is_late(&error, is_drawing) && !deadline.passed() => slice = slice.saturating_mul(2),
                outcome => return outcome.map(|done| (done.result, done.rescued)),
            }
            self.keep_drawing();
            is_drawing = false;
        }
    }
}

/// Sides within the limits of a screenshot, in CSS pixels.
fn within_limits(width: f64, height: f64, ratio: f64) -> (f64, f64) {
    let side = LONGEST_SIDE / ratio;
    let width = width.min(side);
    (width, height.min(side).min((MOST_PIXELS / (width * ratio * ratio)).floor()))
}

/// The error of a capture. It does not affect the page: the area may be too large, or drawn too slowly.
fn not_captured(error: supervisor::Error, after: Duration) -> Error {
    let is_late = match &error {
        supervisor::Error::Timeout { .. } => true,
        error if error.is_unresponsive() => true,
        supervisor::Error::Cdp(inner) => inner.is_timeout(),
        _ => false,
    };
    match error {
        _ if is_late => Error::NotCaptured {
            problem: format!("the browser did not finish it within {} ms", after.as_millis()),
            is_late,
        },
        supervisor::Error::Cdp(cdp::Error::Protocol { message, .. }) => {
            Error::NotCaptured { problem: format!("the browser refused it ({message})"), is_late }
        }
        error => error.into(),
    }
}

/// Whether the answer is only late. A page that does not respond for [`STUCK`] is reported before the deadline.
fn is_late(error: &supervisor::Error, is_first: bool) -> bool {
    match error {
        supervisor::Error::Cdp(error) => error.is_timeout(),
        supervisor::Error::Timeout { .. } => true,
        // On an overloaded machine a healthy page may take seconds to respond.
        supervisor::Error::Unresponsive { after: silent, .. } | supervisor::Error::PageBusy { busy: silent, .. } => {
            is_first || *silent < STUCK
        }
        _ => false,
    }
}

/// Whether the tab is between two documents.
fn is_between(error: &supervisor::Error) -> bool {
    matches!(error, supervisor::Error::Cdp(cdp::Error::Protocol { message, .. }) if message.contains("Not attached to an active page"))
}

/// The device pixels that a rectangle covers; its viewport starts on whole pixels.
pub(super) fn on_pixels(area: &Rect, view: &View) -> Rect {
    let ratio = view.ratio;
    // Less than a hundredth of a pixel is a rounding error.
    let down = |at: f64| (at * ratio + 0.01).floor() / ratio;
    let up = |at: f64| (at * ratio - 0.01).ceil() / ratio;
    let (x, y) = (down(area.x + view.x) - view.x, down(area.y + view.y) - view.y);
    let (right, bottom) = (up(area.right() + view.x) - view.x, up(area.bottom() + view.y) - view.y);
    Rect { x, y, width: (right - x).max(1.0 / ratio), height: (bottom - y).max(1.0 / ratio) }
}
