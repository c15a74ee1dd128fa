//! Mouse actions, and actions on the whole tab.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::input::{Buttons, Sent, UNANSWERED, modifier_bits, moved, pressed, released, wheeled};
use super::super::world::Node;
use super::super::{Error, Tab};
use super::actionability::{Needs, Ready};
use super::input_probe::{LOST_AFTER_FRAMES, is_end};
use super::{Act, Button, Input, Locator, Modifier, MouseEvent, MouseKind, Performed, Point};
use crate::cdp::protocol::emulation::SetDeviceMetricsOverride;
use crate::cdp::protocol::input::DispatchMouseEvent;
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// Largest coordinate of a mouse event, in CSS pixels.
const MAX_COORDINATE: f64 = 1e6;
/// How long a button is held down for the next frame.
const HELD: Duration = Duration::from_millis(250);
/// How often a press that hit something else is repeated.
const MAX_REPEATS: u32 = 3;
/// Range of a viewport's sides, in CSS pixels.
const SIDES: std::ops::RangeInclusive<u32> = 1..=8192;

/// The parameters of a click, trusted or synthetic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Click<'a> {
    pub(super) button: Button,
    pub(super) count: i64,
    pub(super) modifiers: &'a [Modifier],
}

impl<'a> Click<'a> {
    /// Only moves the mouse to the element.
    pub(super) const HOVER: Self = Click { button: Button::Left, count: 0, modifiers: &[] };

    pub(super) fn new(button: Button, double: bool, modifiers: &'a [Modifier]) -> Self {
        Self { button, count: if double { 2 } else { 1 }, modifiers }
    }
}

#[derive(Serialize)]
struct ClickArgs {
    id: u32,
    button: i64,
    count: i64,
    modifiers: i64,
    /// Dispatched in place of trusted input, which must have no effect if it still arrives.
    instead: bool,
}

/// Which element received a press instead of the intended one: the answer of the in-page call `landed`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PressReport {
    /// Description of the element that received it.
    pub(super) over: Option<String>,
    /// Whether the press was blocked before that element saw it.
    kept: bool,
    /// How many earlier presses the intended element had received.
    received: u32,
    /// No event of the press reached the check.
    pub(super) unseen: bool,
    /// What was pressed is gone, so that no click followed.
    unclicked: bool,
}

/// The hint for a press that no click followed.
const UNCLICKED: &str = "the page replaced what was pressed before the button was up, so no click followed; look at the page, and click \
     again if nothing happened";

impl PressReport {
    /// Whether no element has received anything yet.
    fn can_be_repeated(&self, click: Click<'_>) -> bool {
        click.count == 0 || (self.kept && self.received == 0)
    }

    pub(super) fn error(self, ready: &Ready, click: Click<'_>) -> Error {
        let what = format!("the {}", ready.tag);
        let Some(over) = self.over else {
            let reason =
                "it is not known what received the press, because the page stops mouse events or the tab is behind another one; \
                 take a snapshot before you repeat the action"
                    .to_owned();
            return Error::not_actionable(what, reason);
        };
        let reason = match (click.count, self.kept, self.received) {
            (0, ..) => format!("{over} covers it whenever the mouse is over it"),
            (_, true, 0) => {
                format!("{over} covers it whenever the mouse is over it; the press was blocked, so nothing was clicked")
            }
            (1, true, _) => {
                format!("{over} took its place when it was pressed; the rest of the click was blocked")
            }
            (_, true, _) => {
                format!("the first press reached it, but the second one hit {over} and was blocked")
            }
            (_, false, _) => format!("{over} covered it at that moment and received the press instead"),
        };
        Error::NotActionable { what, reason, covered_by: Some(over), waited: None }
    }
}

impl Tab {
    /// Clicks at a point of the viewport.
    pub(super) fn click_point(
        &self,
        act: &Act,
        at: Point,
        click: Click<'_>,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        only_trusted(act)?;
        self.check_point(at, deadline)?;
        let modifiers = match click.modifiers {
            [] => 0,
            held => modifier_bits(held, self.call::<bool>(&self.top()?, "isMac", &(), deadline)?.1.result),
        };
        let mut events = vec![moved(at, Buttons::default(), modifiers)];
        events.extend(presses(at, click, modifiers));
        performed(self.send_mouse(events, deadline)?)
    }

    /// Closes the tab.
    pub(super) fn close_tab(&self, deadline: Deadline<'_>) -> Result<Performed, Error> {
        self.supervisor.close_page(&self.target, deadline)?;
        Ok(Performed::default())
    }

    /// Sets the size of the viewport.
    pub(super) fn resize(&self, width: u32, height: u32, deadline: Deadline<'_>) -> Result<Performed, Error> {
        for (side, name) in [(width, "width"), (height, "height")] {
            if !SIDES.contains(&side) {
                let problem = format!("{name} is {side}; use {} to {}", SIDES.start(), SIDES.end());
                return Err(Error::BadRequest { problem });
            }
        }
        let metrics = SetDeviceMetricsOverride::new(width.into(), height.into(), 0.0, false);
        let done = self.supervisor.session_call(&FrameRef::TopOf(self.target.clone()), &metrics, deadline)?;
        let (_, sized) = self.call::<(f64, f64)>(&self.top()?, "sized", &(width, height), deadline)?;
        if sized.result != (f64::from(width), f64::from(height)) {
            let reason = format!("its viewport is {} x {} after the resize", sized.result.0, sized.result.1);
            return Err(Error::not_actionable("the window", reason));
        }
        Ok(Performed { rescued: done.rescued || sized.rescued, ..Performed::default() })
    }

    /// Fails for a point outside the viewport.
    pub(super) fn check_point(&self, at: Point, deadline: Deadline<'_>) -> Result<(), Error> {
        let (_, size) = self.call::<(f64, f64)>(&self.top()?, "viewport", &(), deadline)?;
        let (width, height) = size.result;
        // Also fails for NaN.
        if at.x >= 0.0 && at.x < width && at.y >= 0.0 && at.y < height {
            return Ok(());
        }
        let problem =
            format!("the point {}, {} is outside the viewport, which is {width} x {height} CSS pixels", at.x, at.y);
        Err(Error::BadRequest { problem })
    }

    /// Clicks or hovers an element.
    pub(super) fn click(
        &self,
        act: &Act,
        at: &Locator,
        click: Click<'_>,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let needs = match click.count {
            0 => Needs::HOVER,
            1 => Needs { presses: 1, ..Needs::CLICK },
            _ => Needs { presses: 2, ..Needs::CLICK },
        };
        let mut misdirected_presses = 0;
        loop {
            let ready = self.ready(at, needs, act.force, deadline)?;
            let modifiers = modifier_bits(click.modifiers, ready.mac);
            let done = if act.input == Some(Input::Synthetic) {
                self.synthetic_click(&ready.node, click, modifiers, false, deadline)?
            } else {
                let point = self.point_of(&ready)?;
                let averted = if ready.bound.is_some() { self.avert(&ready.node, deadline) } else { Vec::new() };
                let outcome = self.trusted_click(&ready, point, click, modifiers, deadline);
                if outcome.is_err() {
                    for frame in &averted {
                        self.post_to(frame, "landed", &());
                    }
                }
                let mut done = match outcome {
                    // The frame navigated before the button was down.
                    Err(error) if is_end(&error) && at.selector.is_some() && !deadline.passed() => continue,
                    outcome => outcome?,
                };
                let mut landed = self.astray(&ready, click, &done, deadline);
                if landed.take_if(|landed| landed.unclicked && landed.over.is_none() && !landed.unseen).is_some() {
                    done.hint = (click.count == 1 && click.button == Button::Left).then_some(UNCLICKED);
                }
                let is_averted = self.was_averted(&averted, deadline);
                if let Some(landed) = landed.map(|landed| PressReport { kept: landed.kept || is_averted, ..landed }) {
                    misdirected_presses += 1;
                    if landed.can_be_repeated(click) && misdirected_presses < MAX_REPEATS {
                        continue; // it may only appear on the first hover
                    }
                    return Err(landed.error(&ready, click));
                }
                done
            };
            return Ok(Performed { rescued: done.rescued || ready.rescued, element: Some(ready.shown), ..done });
        }
    }

    /// Blocks the next press in all frames but that of a node and those around it: a page may move one of them under the
    /// mouse. Returns these frames.
    fn avert(&self, node: &Node, deadline: Deadline<'_>) -> Vec<FrameId> {
        let around = self.frames_around(&node.frame);
        let now = self.supervisor.view();
        let others = now.frames_of(self.target.as_str()).filter(|frame| frame.session_id.is_some());
        let others = others.map(|frame| frame.frame_id.clone());
        let others: Vec<FrameId> = others.filter(|id| *id != node.frame && !around.contains(id)).collect();
        // One that does not answer draws nothing new either.
        let answers =
            self.call_all_brief::<serde_json::Value, ()>(&others, "avert", |_| (), deadline.within(UNANSWERED));
        others.into_iter().zip(answers).filter_map(|(frame, answer)| answer.ok().map(|_| frame)).collect()
    }

    /// Ends the blocking of presses in frames. Returns whether one of them has blocked a press.
    fn was_averted(&self, frames: &[FrameId], deadline: Deadline<'_>) -> bool {
        let answers = self.call_all_brief::<PressReport, ()>(frames, "landed", |_| (), deadline.within(UNANSWERED));
        answers.into_iter().filter_map(Result::ok).any(|(_, done)| done.result.kept)
    }

    /// The element that received the mouse instead of the intended one, as far as the document of the element and those
    /// around it can see.
    fn astray(&self, ready: &Ready, click: Click<'_>, done: &Performed, deadline: Deadline<'_>) -> Option<PressReport> {
        if done.input.is_some() {
            return None;
        }
        let name = if click.count == 0 { "hovered" } else { "landed" };
        // After an interruption by a dialog, the rest of the input may arrive later.
        self.landed(&ready.node, name, deadline).filter(|landed| !(landed.unseen && done.cut))
    }

    /// The element that received a press instead of the intended one, from the first document that reports one.
    pub(super) fn landed(&self, node: &Node, name: &str, deadline: Deadline<'_>) -> Option<PressReport> {
        let deadline = deadline.within(UNANSWERED);
        // A document that is gone or blocked by a dialog has received the press.
        let here = self.call_in_brief::<PressReport>(&node.frame, &node.doc, name, &(), deadline).ok()?.result;
        if here.over.is_some() || name == "hovered" {
            return Some(here).filter(|landed| landed.over.is_some());
        }
        let around = self.frames_around(&node.frame);
        let found = self.call_all_brief::<PressReport, ()>(&around, name, |_| (), deadline);
        let mut landed = found.into_iter().filter_map(Result::ok).map(|(_, done)| done.result);
        let is_odd = |here: &PressReport| here.unseen || here.unclicked;
        landed.find(|landed| landed.kept && landed.over.is_some()).or(Some(here).filter(is_odd))
    }

    /// The frames around a frame, innermost first.
    fn frames_around(&self, frame: &FrameId) -> Vec<FrameId> {
        let now = self.supervisor.view();
        let parent = |frame: &FrameId| now.frame(frame.as_str()).and_then(|frame| frame.parent_frame_id.clone());
        std::iter::successors(parent(frame), parent).take(64).collect()
    }

    pub(super) fn point_of(&self, ready: &Ready) -> Result<Point, Error> {
        ready
            .point
            .ok_or_else(|| Error::not_actionable(format!("the {}", ready.tag), "no point of it receives mouse events"))
    }

    fn trusted_click(
        &self,
        ready: &Ready,
        at: Point,
        click: Click<'_>,
        modifiers: i64,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let silence = deadline.within(UNANSWERED);
        let over = moved(at, Buttons::default(), modifiers);
        let sent = if self.is_elsewhere(&ready.node) {
            // Chromium knows the position of a scrolled frame of another process a moment later.
            match self.arrive(ready, at, modifiers, deadline)? {
                Sent::Handled { .. } => self.press_elsewhere(ready, &presses(at, click, modifiers), deadline)?,
                Sent::Cut => {
                    // The move opened a dialog: the rest reaches the page after it, as in the top document.
                    let page = FrameRef::TopOf(self.target.clone());
                    presses(at, click, modifiers).iter().for_each(|event| self.supervisor.post(&page, event));
                    Sent::Cut
                }
                other => other,
            }
        } else {
            let mut events = vec![over];
            events.extend(presses(at, click, modifiers));
            match click.count {
                1 => self.press_and_release(ready, events, silence)?,
                _ => self.send_mouse(events, silence)?,
            }
        };
        match sent {
            Sent::Unanswered | Sent::Busy => self.instead(ready, click, modifiers, deadline),
            sent => performed(sent),
        }
    }

    /// Sends a press and its release, with a frame between them for pages that listen to the release from the next frame on.
    fn press_and_release(
        &self,
        ready: &Ready,
        events: Vec<DispatchMouseEvent>,
        deadline: Deadline<'_>,
    ) -> Result<Sent, Error> {
        let mut events = events;
        let Some(release) = events.pop() else { return Ok(Sent::Handled { rescued: false }) };
        let pressed = self.send_mouse(events, deadline);
        let Ok(Sent::Handled { rescued }) = pressed else {
            // A dialog, no answer, a cancellation: the button must not stay down.
            self.mouse.lock().buttons = Buttons::default();
            self.supervisor.post(&FrameRef::TopOf(self.target.clone()), &release);
            return pressed;
        };
        // A document that is gone or does not answer gets the release all the same.
        let node = &ready.node;
        let _ = self.call_in_brief::<f64>(&node.frame, &node.doc, "heldDown", &(), deadline.within(HELD));
        Ok(match self.send_mouse(vec![release], deadline.uncancelled().renewed(UNANSWERED))? {
            Sent::Handled { rescued: more } => Sent::Handled { rescued: rescued || more },
            other => other,
        })
    }

    /// Whether a node is in another process than the top document, or may be.
    pub(super) fn is_elsewhere(&self, node: &Node) -> bool {
        let now = self.supervisor.view();
        let session = |frame: &str| now.frame(frame).and_then(|frame| frame.session_id.clone());
        let top = self.top().ok();
        top.is_none_or(|top| session(top.as_str()) != session(node.frame.as_str()))
    }

    /// Dispatches the synthetic sequence because Chromium does not confirm trusted input. Never both: input that has
    /// arrived is not repeated, and input that arrives late is blocked.
    fn instead(
        &self,
        ready: &Ready,
        click: Click<'_>,
        modifiers: i64,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let last = if click.count == 0 { "mousemove" } else { "mouseup" };
        let mut rescued = false;
        loop {
            // A page that was busy, or is on a slow machine, first handles pending input.
            let node = &ready.node;
            let arrived = match self.missed(node, &[last], LOST_AFTER_FRAMES, deadline) {
                Ok(arrived) => arrived,
                Err(error) if error.is_blocked_by_dialog() => {
                    return Ok(Performed { rescued, cut: true, ..Performed::default() });
                }
                Err(Error::DocumentGone { .. }) => return Ok(Performed { rescued, cut: true, ..Performed::default() }),
                Err(error) => return Err(error),
            };
            rescued |= arrived.rescued;
            let arrived = arrived.result;
            if if click.count == 0 { arrived.mousemove } else { arrived.mouseup } > 0 {
                return Ok(Performed { rescued, ..Performed::default() });
            }
            if arrived.mousedown == 0 {
                let done = self.synthetic_click(node, click, modifiers, true, deadline)?;
                return Ok(Performed { rescued: rescued || done.rescued, ..done });
            }
            // Only a part of it has arrived.
            if deadline.passed() {
                return Err(Error::Timeout { what: "the release of the mouse button".to_owned(), after_ms: 0 });
            }
        }
    }

    fn synthetic_click(
        &self,
        node: &Node,
        click: Click<'_>,
        modifiers: i64,
        instead: bool,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let button = match click.button {
            Button::Left => 0,
            Button::Middle => 1,
            Button::Right => 2,
        };
        let ask = ClickArgs { id: node.id, button, count: click.count, modifiers, instead };
        self.synthetic(node, "syntheticClick", &ask, deadline)
    }

    /// Runs a synthetic sequence. If the document ends meanwhile, the sequence caused it.
    pub(super) fn synthetic(
        &self,
        node: &Node,
        name: &str,
        ask: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let input = Some(Input::Synthetic);
        match self.call_in::<serde_json::Value>(&node.frame, &node.doc, name, ask, deadline) {
            Ok(done) => Ok(Performed { input, rescued: done.rescued, ..Performed::default() }),
            Err(error) if error.is_blocked_by_dialog() => Ok(Performed { input, ..Performed::default() }),
            Err(Error::DocumentGone { .. }) => Ok(Performed { input, ..Performed::default() }),
            Err(error) => Err(error),
        }
    }

    /// Sends the events of `mouse` one after the other.
    pub(super) fn mouse_events(
        &self,
        act: &Act,
        events: &[MouseEvent],
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        only_trusted(act)?;
        let (mut held, mut pressed_at, mut count) = (self.mouse.lock().buttons, None::<Point>, 0);
        let mut whole = Performed::default();
        for event in events {
            if ![event.x, event.y, event.delta_x, event.delta_y].iter().all(|number| number.abs() <= MAX_COORDINATE) {
                let problem =
                    format!("the coordinates and deltas of mouse events must be within ±{MAX_COORDINATE} CSS pixels");
                return Err(Error::BadRequest { problem });
            }
            // A drag may leave the viewport. Chromium does not confirm input that begins outside.
            if matches!(event.kind, MouseKind::Down | MouseKind::Wheel) {
                self.check_point(Point { x: event.x, y: event.y }, deadline)?;
            }
        }
        for event in events {
            let at = Point { x: event.x, y: event.y };
            let sent = match event.kind {
                MouseKind::Move => moved(at, held, 0),
                MouseKind::Down => {
                    count = if pressed_at == Some(at) { count + 1 } else { 1 };
                    (pressed_at, held) = (Some(at), Buttons::of(Button::Left));
                    pressed(at, Button::Left, count, 0)
                }
                MouseKind::Up => {
                    held = Buttons::default();
                    released(at, Button::Left, count.max(1), 0)
                }
                MouseKind::Wheel => wheeled(at, (event.delta_x, event.delta_y), held),
            };
            let sent = self.send_mouse(vec![sent], deadline)?;
            whole.rescued |= performed(sent)?.rescued;
            if sent == Sent::Cut {
                break;
            }
        }
        Ok(whole)
    }
}

/// Refuses `input: synthetic` for an action without a synthetic form.
fn only_trusted(act: &Act) -> Result<(), Error> {
    if act.input != Some(Input::Synthetic) {
        return Ok(());
    }
    let problem = format!(
        "{} has no synthetic form; leave out input, or use click, hover, type, press, select, fill, drag or scroll",
        act.kind.name()
    );
    Err(Error::BadRequest { problem })
}

/// `click.count` presses and releases of a button.
fn presses(at: Point, click: Click<'_>, modifiers: i64) -> Vec<crate::cdp::protocol::input::DispatchMouseEvent> {
    let once = |count| [pressed(at, click.button, count, modifiers), released(at, click.button, count, modifiers)];
    (1..=click.count).flat_map(once).collect()
}

/// Turns the fate of sent input into the result of an action.
pub(super) fn performed(sent: Sent) -> Result<Performed, Error> {
    match sent {
        Sent::Handled { rescued } => Ok(Performed { rescued, ..Performed::default() }),
        Sent::Cut => Ok(Performed { cut: true, ..Performed::default() }),
        Sent::Unanswered | Sent::Busy => {
            Err(Error::Timeout { what: "the browser to confirm the input".to_owned(), after_ms: 0 })
        }
    }
}
