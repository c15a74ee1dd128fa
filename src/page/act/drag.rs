//! Dragging with the mouse.
//!
//! Chromium 156 turns plain mouse events into drag and drop: while the button is down, moves over something draggable
//! become `dragstart`, `dragover` and `drop`, in every frame. Between processes it loses the source: `dragend` is not
//! dispatched there and that document receives no mouse events, until `dragCancel` is dispatched where the drag began.
//! `dropEffect` is `none` in that `dragend`.

use std::cell::Cell;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::input::keys::Chord;
use super::super::input::{Buttons, Sent, UNANSWERED, moved, pressed, released};
use super::super::world::{Doc, Node};
use super::super::{Error, Tab};
use super::actionability::{Needs, Ready};
use super::input_probe::{Arrived, LOST_AFTER_FRAMES};
use super::pointer::{Click, performed};
use super::{Act, ActKind, Button, Input, Locator, Performed, Point};
use crate::cdp::protocol::input::{DispatchDragEvent, DispatchDragEventType, DragData};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// Default number of moves between the two ends.
const STEPS: u32 = 10;
/// Maximum number of moves between the two ends.
const MAX_STEPS: u32 = 1000;
/// Length of the first move, in CSS pixels: Chromium ignores moves of less than four.
const FIRST_MOVE: f64 = 6.0;
/// A target that has moved this far while something is dragged is followed, in CSS pixels.
const FOLLOWED: f64 = 3.0;
/// How long the events at the end of a drag may take, in milliseconds.
const END_EVENTS_MS: u64 = 300;
/// How long an end that the page replaced on the press is located again.
const RELOCATE: Duration = Duration::from_secs(1);
/// How long the cancellation of a drag between processes may take.
const CANCEL: Duration = Duration::from_secs(1);

/// One end of a drag, as the caller described it.
enum DragEnd {
    At(Locator),
    Point(Point),
}

/// One end of a drag, located.
struct LocatedEnd {
    point: Point,
    ready: Option<Ready>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DragStartReply {
    point: (f64, f64),
    draggable: bool,
    items: Vec<(String, String)>,
    allowed: String,
    gone: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DropReply {
    effect: String,
}

/// One end of a drag for the page script: an element, or a point of its document's viewport.
#[derive(Serialize)]
struct EndArgs {
    id: Option<u32>,
    point: Option<(f64, f64)>,
}

impl Tab {
    /// Presses the button at one place and releases it at another.
    pub(super) fn drag(&self, act: &Act, deadline: Deadline<'_>) -> Result<Performed, Error> {
        let ActKind::Drag { start_ref, start_selector, start, end_ref, end_selector, end, steps, frame_id, .. } =
            &act.kind
        else {
            return Err(Error::BadRequest { problem: "the action is not a drag".to_owned() });
        };
        let from = end_of(("start", "startRef", "startSelector"), start_ref, start_selector, start, frame_id)?;
        let to = end_of(("end", "endRef", "endSelector"), end_ref, end_selector, end, frame_id)?;
        let steps = steps.unwrap_or(STEPS);
        if !(1..=MAX_STEPS).contains(&steps) {
            return Err(Error::BadRequest { problem: format!("steps is {steps}; use 1 to {MAX_STEPS}") });
        }
        self.emulate_focus();
        // The target first: if it does not exist, the page stays as it was.
        let to_spot = self.locate_end(&to, act.force, Needs::HOVER, deadline)?;
        // From now on this element, whatever a selector matches once the drag has begun.
        let to = match &to_spot.ready {
            Some(ready) => DragEnd::At(self.locator_of(ready.node.clone())),
            None => to,
        };
        let needs = Needs { presses: u8::from(act.input != Some(Input::Synthetic)), ..Needs::HOVER };
        let mut from_spot = self.locate_end(&from, act.force, needs, deadline)?;
        if self.scroll_both(&from_spot, &to_spot, deadline)? {
            from_spot = self.locate_end(&from, act.force, needs, deadline)?;
        }
        let rescued = [&to_spot, &from_spot].iter().any(|s| s.ready.as_ref().is_some_and(|ready| ready.rescued));
        let done = if act.input == Some(Input::Synthetic) {
            self.synthetic_drag(&from_spot, &to_spot, steps, deadline)?
        } else {
            self.trusted_drag(act, &from_spot, &to, &to_spot, steps, deadline)?
        };
        let element = from_spot.ready.map(|ready| ready.shown);
        Ok(Performed { rescued: done.rescued || rescued, element, ..done })
    }

    fn locate_end(
        &self,
        end: &DragEnd,
        force: bool,
        needs: Needs,
        deadline: Deadline<'_>,
    ) -> Result<LocatedEnd, Error> {
        match end {
            DragEnd::Point(point) => {
                self.check_point(*point, deadline)?;
                Ok(LocatedEnd { point: *point, ready: None })
            }
            DragEnd::At(locator) => {
                let ready = self.ready(locator, needs, force, deadline)?;
                Ok(LocatedEnd { point: self.point_of(&ready)?, ready: Some(ready) })
            }
        }
    }

    fn trusted_drag(
        &self,
        act: &Act,
        from: &LocatedEnd,
        to: &DragEnd,
        to_spot: &LocatedEnd,
        steps: u32,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let frames = self.all_frames();
        for armed in self.call_all::<serde_json::Value, _>(&frames, "arm", |_| (), deadline.within(CANCEL)) {
            match armed {
                Err(error) if error.is_blocked_by_dialog() => return Err(error),
                _ => {} // a frame that does not answer is not dragged from
            }
        }
        let elsewhere = from.ready.as_ref().filter(|ready| self.is_elsewhere(&ready.node));
        let sent = match elsewhere {
            Some(ready) => self.arrive(ready, from.point, 0, deadline)?,
            None => self.send_mouse(vec![moved(from.point, Buttons::default(), 0)], deadline.within(UNANSWERED))?,
        };
        if sent == Sent::Unanswered && !self.came_after_all(from, deadline)? {
            return self.synthetic_drag(from, to_spot, steps, deadline);
        }
        // Where the button is down, while it is.
        let down = Cell::new(Some(from.point));
        let carried = self.drag_to(act, from, to, to_spot, steps, &down, deadline);
        if let Some(point) = down.get() {
            match &carried {
                Ok(_) => self.release_button(point, deadline),
                Err(_) => self.cancel_drag(from.point, deadline),
            }
        }
        let Some((sent, rescued)) = carried? else { return Ok(Performed { cut: true, ..Performed::default() }) };
        if matches!(sent, Sent::Handled { .. } | Sent::Cut) {
            let began = self.end_drag(&frames, from.point, deadline)?;
            if let Some(ready) = from.ready.as_ref().filter(|_| !began && matches!(sent, Sent::Handled { .. })) {
                self.check_dragged(ready, deadline)?;
            }
        }
        Ok(Performed { rescued, ..performed(sent)? })
    }

    /// Ends a drag that cannot go on without a drop: Escape, and the button is released where it was pressed.
    fn cancel_drag(&self, from: Point, deadline: Deadline<'_>) {
        let deadline = deadline.uncancelled().renewed(CANCEL);
        if let Ok(escape) = Chord::parse("Escape") {
            let _ = self.send_keys(escape.events(1, false), deadline);
        }
        let _ = self.send_mouse(vec![moved(from, Buttons::of(Button::Left), 0)], deadline);
        self.release_button(from, deadline);
    }

    /// The place of the target once the drag has begun: where it receives events, or where it is if it receives none meanwhile.
    fn target_now(&self, act: &Act, to: &DragEnd, deadline: Deadline<'_>) -> Result<Point, Error> {
        match self.locate_end(to, true, Needs::DROP, deadline.within(RELOCATE)) {
            Ok(end) => Ok(end.point),
            Err(Error::NotActionable { .. }) => self.locate_end(to, true, Needs::PLACE, deadline).map(|end| end.point),
            Err(error @ (Error::StaleRef { .. } | Error::RefChanged { .. })) => {
                Ok(self.relocated(act, deadline).ok_or_else(|| replaced(&error))?.point)
            }
            Err(error) => Err(error),
        }
    }

    /// Releases the button, also after a cancellation.
    fn release_button(&self, point: Point, deadline: Deadline<'_>) {
        let up = released(point, Button::Left, 1, 0);
        if deadline.passed() {
            self.mouse.lock().buttons = Buttons::default();
            self.supervisor.post(&FrameRef::TopOf(self.target.clone()), &up);
        } else if let Err(error) = self.send_mouse(vec![up], deadline.uncancelled().within(UNANSWERED)) {
            tracing::debug!(%error, "the release at the end of a drag was not answered");
        }
    }

    /// Presses the button, moves the mouse and releases it. `down` is where the button may still be down afterwards.
    /// `None` when a dialog or the end of the document interrupted it.
    #[expect(clippy::too_many_arguments, reason = "one drag, both of its ends")]
    fn drag_to(
        &self,
        act: &Act,
        from: &LocatedEnd,
        to: &DragEnd,
        to_spot: &LocatedEnd,
        steps: u32,
        down: &Cell<Option<Point>>,
        deadline: Deadline<'_>,
    ) -> Result<Option<(Sent, bool)>, Error> {
        let held = Buttons::of(Button::Left);
        let mut sent = self.send_mouse(vec![pressed(from.point, Button::Left, 1, 0)], deadline)?;
        if let Some(ready) = &from.ready
            && let Some(landed) = self.landed(&ready.node, "landed", deadline)
            && !(landed.unseen && sent == Sent::Cut)
        {
            return Err(landed.error(ready, Click { button: Button::Left, count: 1, modifiers: &[] }));
        }
        // The drag begins before anything scrolls away under the mouse.
        let away = towards(from.point, to_spot.point);
        down.set(Some(away));
        let begun = self.send_mouse(vec![moved(away, held, 0)], deadline)?;
        if begun == Sent::Cut {
            down.set(None);
            return Ok(None);
        }
        if !matches!(begun, Sent::Handled { .. }) {
            return Ok(Some((begun, false)));
        }
        // The press may have moved or covered the target.
        let mut target = match self.target_now(act, to, deadline) {
            Err(error) if error.is_blocked_by_dialog() => {
                down.set(None);
                return Ok(None);
            }
            outcome => outcome?,
        };
        let mut start = from.point;
        let mut rescued = false;
        // One by one: once a drag has begun, the next event is handled differently. The last move twice: the one that starts the
        // drag does not count as a move over the target.
        for n in 1..=steps + 2 {
            if n == steps / 2 + 1 && steps > 2 {
                // What makes room for the dragged element moves the target.
                let place = self.locate_end(to, true, Needs::PLACE, deadline.within(RELOCATE));
                if let Ok(place) = place.map(|end| end.point)
                    && (place.x - target.x).hypot(place.y - target.y) >= FOLLOWED
                {
                    (start, target) = (between(start, target, f64::from(n - 1) / f64::from(steps)), place);
                }
            }
            let is_last = n == steps + 2;
            let event = match n {
                _ if is_last => released(target, Button::Left, 1, 0),
                n if n > steps => moved(target, held, 0),
                n => moved(between(start, target, f64::from(n) / f64::from(steps)), held, 0),
            };
            if n == steps {
                down.set(Some(target));
            }
            if n > steps {
                // Pages that follow the mouse once per frame see the last move, and have drawn it before the release.
                let _ = self.call_all_brief::<bool, ()>(&[self.top()?], "frames", |_| (), deadline.within(UNANSWERED));
            }
            sent = self.send_mouse(vec![event], deadline)?;
            rescued |= sent == Sent::Handled { rescued: true };
            if is_last || sent == Sent::Cut {
                down.set(None);
            }
            if !matches!(sent, Sent::Handled { .. }) {
                break;
            }
        }
        Ok(Some((sent, rescued)))
    }

    /// Locates the target again when the page has replaced it on the press.
    fn relocated(&self, act: &Act, deadline: Deadline<'_>) -> Option<LocatedEnd> {
        let ActKind::Drag { end_locator: Some(locator), frame_id, .. } = &act.kind else { return None };
        let at = Locator { locator: Some(locator.clone()), frame_id: frame_id.clone(), ..Locator::default() };
        let found = self.by_ref(&at, deadline.within(RELOCATE)).ok()?.into_owned();
        self.locate_end(&DragEnd::At(found), act.force, Needs::DROP, deadline.within(RELOCATE)).ok()
    }

    /// Scrolls so that both ends are in view, if they are in one document and fit into it. Returns whether anything was
    /// scrolled.
    fn scroll_both(&self, from: &LocatedEnd, to: &LocatedEnd, deadline: Deadline<'_>) -> Result<bool, Error> {
        let (Some(from), Some(to)) = (&from.ready, &to.ready) else { return Ok(false) };
        if from.node.frame != to.node.frame || from.node.doc != to.node.doc {
            return Ok(false);
        }
        let ask = json!({ "from": from.node.id, "to": to.node.id });
        Ok(self.call_in::<bool>(&from.node.frame, &from.node.doc, "bringBoth", &ask, deadline)?.result)
    }

    /// Fails when something draggable was pressed and moved, but no drag began.
    fn check_dragged(&self, ready: &Ready, deadline: Deadline<'_>) -> Result<(), Error> {
        let Node { frame, doc, .. } = &ready.node;
        match self.call_in::<bool>(frame, doc, "draggable", &(), deadline.within(CANCEL)) {
            Ok(done) if done.result => Err(Error::not_actionable(
                format!("the {}", ready.tag),
                "it is draggable, but no drag began (no dragstart event); increase steps",
            )),
            _ => Ok(()),
        }
    }

    /// Whether the mouse has reached the start of the drag, although Chromium has not confirmed it.
    fn came_after_all(&self, from: &LocatedEnd, deadline: Deadline<'_>) -> Result<bool, Error> {
        let node = match &from.ready {
            Some(ready) => ready.node.clone(),
            None => {
                let frame = self.top()?;
                Node { doc: self.document(&frame, deadline)?, frame, id: 0 }
            }
        };
        Ok(self.missed(&node, &["mousemove"], LOST_AFTER_FRAMES, deadline)?.result.mousemove > 0)
    }

    fn all_frames(&self) -> Vec<FrameId> {
        let now = self.supervisor.view();
        let there = now.frames_of(self.target.as_str()).filter(|frame| frame.session_id.is_some());
        there.map(|frame| frame.frame_id.clone()).collect()
    }

    /// Waits for the end of drag and drop in the source document, and cancels the drag when Chromium does not end it.
    /// Returns whether a drag began.
    fn end_drag(&self, frames: &[FrameId], from: Point, deadline: Deadline<'_>) -> Result<bool, Error> {
        let ask = |types: &[&str], ms| json!({ "types": types, "ms": ms, "last": false });
        let deadline = deadline.within(CANCEL * 2);
        let arrived = self.call_all::<Arrived, _>(frames, "came", |_| ask(&[], 0), deadline);
        let source = frames.iter().zip(arrived).find_map(|(frame, arrived)| {
            let (doc, done) = arrived.ok()?;
            (done.result.dragstart > 0).then(|| Node { frame: frame.clone(), doc, id: 0 })
        });
        let Some(source) = source else { return Ok(false) };
        match self.came(&source, &["dragend"], END_EVENTS_MS, false, deadline) {
            Ok(arrived) if arrived.dragend == 0 => {}
            _ => return Ok(true),
        }
        let nothing = DragData::new(Vec::new(), 1);
        let cancel = DispatchDragEvent::new(DispatchDragEventType::DragCancel, from.x, from.y, nothing);
        let page = FrameRef::TopOf(self.target.clone());
        if let Err(error) = self.supervisor.session_call(&page, &cancel, deadline) {
            tracing::debug!(%error, "a drag between frames was not ended");
        }
        // The drop happens in another process, at practically the same time.
        let _ = self.came(&source, &["dragend"], END_EVENTS_MS, true, deadline);
        Ok(true)
    }

    /// Drags by script: within one document all of it; between two, the dragged data is handed over.
    fn synthetic_drag(
        &self,
        from: &LocatedEnd,
        to: &LocatedEnd,
        steps: u32,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let (source, at) = self.place_of(from, deadline)?;
        let (target, end) = self.place_of(to, deadline)?;
        let done = |rescued| Performed { input: Some(Input::Synthetic), rescued, ..Performed::default() };
        let call = |of: &(FrameId, Doc), name: &str, ask: serde_json::Value| {
            self.call_in::<serde_json::Value>(&of.0, &of.1, name, &ask, deadline)
        };
        let outcome = (|| {
            let begun = self.call_in::<DragStartReply>(
                &source.0,
                &source.1,
                "syntheticDragBegin",
                &json!({ "from": at }),
                deadline,
            )?;
            let (rescued, begun) = (begun.rescued, begun.result);
            if begun.gone {
                return Err(Error::DocumentGone { frame: source.0.to_string() });
            }
            let here = source == target;
            if !begun.draggable {
                // Mouse events stay with the document that the button went down in.
                let beyond = (begun.point.0 + to.point.x - from.point.x, begun.point.1 + to.point.y - from.point.y);
                let end = if here { end } else { EndArgs { id: None, point: Some(beyond) } };
                call(&source, "syntheticMoves", json!({ "to": end, "steps": steps }))?;
                return Ok(done(rescued));
            }
            let ask =
                json!({ "to": end, "items": begun.items, "allowed": begun.allowed, "steps": steps, "here": here });
            let dropped = self.call_in::<DropReply>(&target.0, &target.1, "syntheticDrop", &ask, deadline)?.result;
            let effect = if dropped.effect.is_empty() { "none" } else { &dropped.effect };
            call(&source, "syntheticDragEnd", json!({ "effect": effect }))?;
            Ok(done(rescued))
        })();
        match outcome {
            Err(error) if error.is_blocked_by_dialog() => Ok(done(false)),
            Err(Error::DocumentGone { .. }) => Ok(done(false)),
            outcome => outcome,
        }
    }

    fn place_of(&self, locate_end: &LocatedEnd, deadline: Deadline<'_>) -> Result<((FrameId, Doc), EndArgs), Error> {
        if let Some(ready) = &locate_end.ready {
            let node = &ready.node;
            return Ok(((node.frame.clone(), node.doc.clone()), EndArgs { id: Some(node.id), point: None }));
        }
        let top = self.top()?;
        let doc = self.document(&top, deadline)?;
        Ok(((top, doc), EndArgs { id: None, point: Some((locate_end.point.x, locate_end.point.y)) }))
    }
}

/// The error of a drag whose target the page replaced on the press. It is not a stale ref: the drag must not be
/// repeated.
fn replaced(error: &Error) -> Error {
    let reason =
        format!("the page removed or replaced it when the button was pressed ({error}); the drag was cancelled");
    Error::not_actionable("the target of the drag", reason)
}

/// A point on the way from one to another.
fn between(from: Point, to: Point, part: f64) -> Point {
    Point { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}

/// A point a few pixels from `from` in the direction of `to`.
fn towards(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let part = (FIRST_MOVE / dx.hypot(dy).max(FIRST_MOVE)).min(1.0);
    Point { x: from.x + dx * part, y: from.y + dy * part }
}

/// One end of a drag. Exactly one of the three ways to give it must be used.
fn end_of(
    names: (&str, &str, &str),
    reference: &Option<String>,
    selector: &Option<String>,
    point: &Option<Point>,
    frame_id: &Option<String>,
) -> Result<DragEnd, Error> {
    let given = [reference.is_some(), selector.is_some(), point.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        let (at, by_ref, by_selector) = names;
        let problem = format!("give the {at} of the drag by exactly one of {by_ref}, {by_selector} and {at}");
        return Err(Error::BadRequest { problem });
    }
    Ok(match point {
        Some(point) => DragEnd::Point(*point),
        None => {
            let frame_id = frame_id.clone().filter(|_| selector.is_some());
            DragEnd::At(Locator {
                reference: reference.clone(),
                selector: selector.clone(),
                frame_id,
                ..Locator::default()
            })
        }
    })
}
