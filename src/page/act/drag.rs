//! Dragging, with the mouse.
//!
//! Chromium 156 makes drag and drop of plain mouse events: with the button down, moves over something draggable
//! become `dragstart`, `dragover` and `drop`, in every frame. Between processes it forgets the source: `dragend`
//! does not come there and its document takes no mouse events any more, until `dragCancel` is dispatched at the
//! place where the drag began. `dropEffect` is `none` in that `dragend`.

use std::cell::Cell;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::input::{Buttons, Sent, UNANSWERED, moved, pressed, released};
use super::super::world::{Doc, Node};
use super::super::{Error, Tab};
use super::arrive::{Arrived, COMING};
use super::pointer::{Click, did};
use super::ready::{Needs, Ready};
use super::{Act, ActKind, Button, Did, Input, Locator, Point};
use crate::cdp::protocol::input::{DispatchDragEvent, DispatchDragEventType, DispatchMouseEventType, DragData};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::FrameRef;
use crate::sync::{Cancel, Deadline};

/// Moves on the way when nothing is said.
const STEPS: u32 = 10;
/// Moves on the way at most.
const MOST: u32 = 1000;
/// How far the mouse moves before a drag begins, CSS pixels: Chromium takes less than four for no movement.
const BEGINNING: f64 = 6.0;
/// How long the events at the end of a drag may take.
const ENDING: u64 = 300;
/// How long an end that the page replaces on the press is looked for.
const ANEW: Duration = Duration::from_secs(1);
/// How long the end of a forgotten drag may take.
const CANCEL: Duration = Duration::from_secs(1);

/// One end of a drag, as it was asked for.
enum End {
    At(Locator),
    Point(Point),
}

/// One end, found.
struct Spot {
    point: Point,
    ready: Option<Ready>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Begun {
    point: (f64, f64),
    draggable: bool,
    items: Vec<(String, String)>,
    allowed: String,
    gone: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Dropped {
    effect: String,
}

/// One end for a script: an element or a point of its document's viewport.
#[derive(Serialize)]
struct Place {
    id: Option<u32>,
    point: Option<(f64, f64)>,
}

impl Tab {
    /// Presses the button at one place and releases it at another.
    pub(super) fn drag(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        let ActKind::Drag { start_ref, start_selector, start, end_ref, end_selector, end, steps, frame_id, .. } =
            &act.kind
        else {
            return Err(Error::BadRequest { problem: "this is nothing to drag".to_owned() });
        };
        let from = end_of(("start", "startRef", "startSelector"), start_ref, start_selector, start, frame_id)?;
        let to = end_of(("end", "endRef", "endSelector"), end_ref, end_selector, end, frame_id)?;
        let steps = steps.unwrap_or(STEPS);
        if !(1..=MOST).contains(&steps) {
            return Err(Error::BadRequest { problem: format!("steps is {steps}; it has to be from 1 to {MOST}") });
        }
        self.emulate_focus();
        // First where it goes: an end that is not there leaves the page as it was.
        let to_spot = self.spot(&to, act.force, Needs::HOVER, deadline)?;
        let needs = Needs { presses: u8::from(act.input != Some(Input::Synthetic)), ..Needs::HOVER };
        let mut from_spot = self.spot(&from, act.force, needs, deadline)?;
        if self.bring_both(&from_spot, &to_spot, deadline)? {
            from_spot = self.spot(&from, act.force, needs, deadline)?;
        }
        let rescued = [&to_spot, &from_spot].iter().any(|s| s.ready.as_ref().is_some_and(|ready| ready.rescued));
        let done = if act.input == Some(Input::Synthetic) {
            self.synthetic_drag(&from_spot, &to_spot, steps, deadline)?
        } else {
            self.trusted_drag(act, &from_spot, &to, &to_spot, steps, deadline)?
        };
        let element = from_spot.ready.map(|ready| ready.shown);
        Ok(Did { rescued: done.rescued || rescued, element, ..done })
    }

    fn spot(&self, end: &End, force: bool, needs: Needs, deadline: Deadline) -> Result<Spot, Error> {
        match end {
            End::Point(point) => {
                self.check_point(*point, deadline)?;
                Ok(Spot { point: *point, ready: None })
            }
            End::At(locator) => {
                let ready = self.ready(locator, needs, force, deadline)?;
                Ok(Spot { point: self.point_of(&ready)?, ready: Some(ready) })
            }
        }
    }

    fn trusted_drag(
        &self,
        act: &Act,
        from: &Spot,
        to: &End,
        to_spot: &Spot,
        steps: u32,
        deadline: Deadline,
    ) -> Result<Did, Error> {
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
        // Where the button is down.
        let down = Cell::new(Some(from.point));
        let carried = self.carry(act, from, to, to_spot, steps, &down, deadline);
        if let Some(point) = down.get() {
            self.let_go(point, deadline);
        }
        let Some((sent, rescued)) = carried? else { return Ok(Did { cut: true, ..Did::default() }) };
        if matches!(sent, Sent::Handled { .. } | Sent::Cut) {
            let began = self.end_drag(&frames, from.point, deadline)?;
            if let Some(ready) = from.ready.as_ref().filter(|_| !began && matches!(sent, Sent::Handled { .. })) {
                self.check_dragged(ready, deadline)?;
            }
        }
        Ok(Did { rescued, ..did(sent)? })
    }

    /// Releases the button, also when nobody wants the drag any more.
    fn let_go(&self, point: Point, deadline: Deadline) {
        let up = released(point, Button::Left, 1, 0);
        if deadline.passed() {
            self.mouse.lock().buttons = Buttons::default();
            self.supervisor.post(&FrameRef::TopOf(self.target.clone()), &up);
        } else if let Err(error) = Cancel::shielded(|| self.send_mouse(vec![up], deadline.within(UNANSWERED))) {
            tracing::debug!(%error, "the release at the end of a drag was not answered");
        }
    }

    /// Presses the button, moves the mouse and releases it. `down` is where it is down in the end, when it may be. `None` when
    /// a dialog or the end of the document cut it off.
    #[expect(clippy::too_many_arguments, reason = "one drag, both of its ends")]
    fn carry(
        &self,
        act: &Act,
        from: &Spot,
        to: &End,
        to_spot: &Spot,
        steps: u32,
        down: &Cell<Option<Point>>,
        deadline: Deadline,
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
        // What the press brought into the way, or out of view.
        let target = match self.spot(to, act.force, Needs::DROP, deadline) {
            Ok(spot) => spot.point,
            Err(Error::NotActionable { .. }) => to_spot.point,
            Err(error @ (Error::StaleRef { .. } | Error::RefChanged { .. })) => {
                down.set(Some(from.point));
                self.spot_anew(act, deadline).ok_or_else(|| replaced(&error))?.point
            }
            Err(error) if error.is_blocked_by_dialog() => {
                down.set(None);
                return Ok(None);
            }
            Err(error) => {
                down.set(Some(from.point));
                return Err(error);
            }
        };
        down.set(Some(target));
        let step = |n: u32| {
            let part = f64::from(n) / f64::from(steps);
            let way = |from: f64, to: f64| from + (to - from) * part;
            moved(Point { x: way(from.point.x, target.x), y: way(from.point.y, target.y) }, held, 0)
        };
        // The last twice: what the drag began with is no move over its end yet.
        let events = (1..=steps).map(step).chain([moved(target, held, 0), released(target, Button::Left, 1, 0)]);
        let mut rescued = false;
        for event in events {
            // One by one: a drag that began changes what the next one does.
            let is_last = event.r#type == DispatchMouseEventType::MouseReleased;
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

    /// The end of the drag, by its locator, when the page has replaced the element on the press.
    fn spot_anew(&self, act: &Act, deadline: Deadline) -> Option<Spot> {
        let ActKind::Drag { end_locator: Some(locator), frame_id, .. } = &act.kind else { return None };
        let at = Locator { locator: Some(locator.clone()), frame_id: frame_id.clone(), ..Locator::default() };
        let found = self.by_ref(&at, deadline.within(ANEW)).ok()?.into_owned();
        self.spot(&End::At(found), act.force, Needs::DROP, deadline.within(ANEW)).ok()
    }

    /// Scrolls so that both ends are in view, where they are in one document and fit in it. Whether anything was scrolled.
    fn bring_both(&self, from: &Spot, to: &Spot, deadline: Deadline) -> Result<bool, Error> {
        let (Some(from), Some(to)) = (&from.ready, &to.ready) else { return Ok(false) };
        if from.node.frame != to.node.frame || from.node.doc != to.node.doc {
            return Ok(false);
        }
        let ask = json!({ "from": from.node.id, "to": to.node.id });
        Ok(self.call_in::<bool>(&from.node.frame, &from.node.doc, "bringBoth", &ask, deadline)?.result)
    }

    /// Fails when something that can be dragged was pressed and moved, and no drag began.
    fn check_dragged(&self, ready: &Ready, deadline: Deadline) -> Result<(), Error> {
        let Node { frame, doc, .. } = &ready.node;
        match self.call_in::<bool>(frame, doc, "draggable", &(), deadline.within(CANCEL)) {
            Ok(done) if done.result => Err(Error::NotActionable {
                what: format!("the {}", ready.tag),
                reason: "it is draggable, but no drag began (no dragstart event); try more steps".to_owned(),
                covered_by: None,
            }),
            _ => Ok(()),
        }
    }

    /// Whether the mouse has come to where the drag begins, though Chromium has not said so.
    fn came_after_all(&self, from: &Spot, deadline: Deadline) -> Result<bool, Error> {
        let node = match &from.ready {
            Some(ready) => ready.node.clone(),
            None => {
                let frame = self.top()?;
                Node { doc: self.document(&frame, deadline)?, frame, id: 0 }
            }
        };
        Ok(self.missed(&node, &["mousemove"], COMING, deadline)?.result.mousemove > 0)
    }

    fn all_frames(&self) -> Vec<FrameId> {
        let now = self.supervisor.view();
        let there = now.frames_of(self.target.as_str()).filter(|frame| frame.session_id.is_some());
        there.map(|frame| frame.frame_id.clone()).collect()
    }

    /// Waits for the end of drag and drop where it began, and ends it there when Chromium does not. Whether one began.
    fn end_drag(&self, frames: &[FrameId], from: Point, deadline: Deadline) -> Result<bool, Error> {
        let ask = |types: &[&str], ms| json!({ "types": types, "ms": ms, "last": false });
        let deadline = deadline.within(CANCEL * 2);
        let arrived = self.call_all::<Arrived, _>(frames, "came", |_| ask(&[], 0), deadline);
        let source = frames.iter().zip(arrived).find_map(|(frame, arrived)| {
            let (doc, done) = arrived.ok()?;
            (done.result.dragstart > 0).then(|| Node { frame: frame.clone(), doc, id: 0 })
        });
        let Some(source) = source else { return Ok(false) };
        match self.came(&source, &["dragend"], ENDING, false, deadline) {
            Ok(arrived) if arrived.dragend == 0 => {}
            _ => return Ok(true),
        }
        let nothing = DragData::new(Vec::new(), 1);
        let cancel = DispatchDragEvent::new(DispatchDragEventType::DragCancel, from.x, from.y, nothing);
        let page = FrameRef::TopOf(self.target.clone());
        if let Err(error) = self.supervisor.session_call(&page, &cancel, deadline) {
            tracing::debug!(%error, "a drag between frames was not ended");
        }
        // The drop is in another process, and as good as there.
        let _ = self.came(&source, &["dragend"], ENDING, true, deadline);
        Ok(true)
    }

    /// By script: in one document all of it, between two what was dragged is handed over.
    fn synthetic_drag(&self, from: &Spot, to: &Spot, steps: u32, deadline: Deadline) -> Result<Did, Error> {
        let (source, at) = self.place_of(from, deadline)?;
        let (target, end) = self.place_of(to, deadline)?;
        let done = |rescued| Did { input: Some(Input::Synthetic), rescued, ..Did::default() };
        let call = |of: &(FrameId, Doc), name: &str, ask: serde_json::Value| {
            self.call_in::<serde_json::Value>(&of.0, &of.1, name, &ask, deadline)
        };
        let outcome = (|| {
            let begun =
                self.call_in::<Begun>(&source.0, &source.1, "syntheticDragBegin", &json!({ "from": at }), deadline)?;
            let (rescued, begun) = (begun.rescued, begun.result);
            if begun.gone {
                return Err(Error::DocumentGone { frame: source.0.to_string() });
            }
            let here = source == target;
            if !begun.draggable {
                // The mouse stays with the document it went down in.
                let beyond = (begun.point.0 + to.point.x - from.point.x, begun.point.1 + to.point.y - from.point.y);
                let end = if here { end } else { Place { id: None, point: Some(beyond) } };
                call(&source, "syntheticMoves", json!({ "to": end, "steps": steps }))?;
                return Ok(done(rescued));
            }
            let ask =
                json!({ "to": end, "items": begun.items, "allowed": begun.allowed, "steps": steps, "here": here });
            let dropped = self.call_in::<Dropped>(&target.0, &target.1, "syntheticDrop", &ask, deadline)?.result;
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

    fn place_of(&self, spot: &Spot, deadline: Deadline) -> Result<((FrameId, Doc), Place), Error> {
        if let Some(ready) = &spot.ready {
            let node = &ready.node;
            return Ok(((node.frame.clone(), node.doc.clone()), Place { id: Some(node.id), point: None }));
        }
        let top = self.top()?;
        let doc = self.document(&top, deadline)?;
        Ok(((top, doc), Place { id: None, point: Some((spot.point.x, spot.point.y)) }))
    }
}

/// The error of a drag whose end the page took away on the press. It is no stale ref: nothing may begin the drag again.
fn replaced(error: &Error) -> Error {
    let reason = format!(
        "the page removed or changed it when the button was pressed ({error}); the button was released where the drag began"
    );
    Error::NotActionable { what: "the end of the drag".to_owned(), reason, covered_by: None }
}

/// A point a little away from a place in the direction of another one.
fn towards(from: Point, to: Point) -> Point {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let part = (BEGINNING / dx.hypot(dy).max(BEGINNING)).min(1.0);
    Point { x: from.x + dx * part, y: from.y + dy * part }
}

/// One end of a drag: exactly one way to say it.
fn end_of(
    names: (&str, &str, &str),
    reference: &Option<String>,
    selector: &Option<String>,
    point: &Option<Point>,
    frame_id: &Option<String>,
) -> Result<End, Error> {
    let given = [reference.is_some(), selector.is_some(), point.is_some()];
    if given.iter().filter(|given| **given).count() != 1 {
        let (at, by_ref, by_selector) = names;
        let problem = format!("the {at} of the drag has to be given in one way: {by_ref}, {by_selector} or {at}");
        return Err(Error::BadRequest { problem });
    }
    Ok(match point {
        Some(point) => End::Point(*point),
        None => {
            let frame_id = frame_id.clone().filter(|_| selector.is_some());
            End::At(Locator {
                reference: reference.clone(),
                selector: selector.clone(),
                frame_id,
                ..Locator::default()
            })
        }
    })
}
