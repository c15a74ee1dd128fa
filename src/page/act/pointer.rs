//! The mouse, and what is done to a whole tab.

use serde::{Deserialize, Serialize};

use super::super::input::{Buttons, Sent, UNANSWERED, modifier_bits, moved, pressed, released, wheeled};
use super::super::world::Node;
use super::super::{Error, Tab};
use super::arrive::{COMING, is_end};
use super::ready::{Needs, Ready};
use super::{Act, ActKind, Button, Did, Input, Locator, Modifier, MouseEvent, MouseKind, Point};
use crate::cdp::protocol::emulation::SetDeviceMetricsOverride;
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// No mouse goes farther, CSS pixels.
const FARTHEST: f64 = 1e6;
/// How often a press may go to something else.
const ASTRAY: u32 = 3;
/// A viewport's sides, CSS pixels.
const SIDES: std::ops::RangeInclusive<u32> = 1..=8192;

/// A click: the same for trusted and synthetic ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Click<'a> {
    pub(super) button: Button,
    pub(super) count: i64,
    pub(super) modifiers: &'a [Modifier],
}

#[derive(Serialize)]
struct AskClick {
    id: u32,
    button: i64,
    count: i64,
    modifiers: i64,
    /// Of trusted input, which may still come and then must not count.
    instead: bool,
}

/// Where a press went instead of the element that it was meant for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Landed {
    /// What got it.
    pub(super) over: Option<String>,
    /// Whether it was kept from that.
    kept: bool,
    /// How many presses the element had received before.
    received: u32,
    /// No event of the press came to the check.
    pub(super) unseen: bool,
}

impl Landed {
    /// Whether nothing has received anything yet.
    fn can_be_repeated(&self, click: Click<'_>) -> bool {
        click.count == 0 || (self.kept && self.received == 0)
    }

    pub(super) fn error(self, ready: &Ready, click: Click<'_>) -> Error {
        let what = format!("the {}", ready.tag);
        let Some(over) = self.over else {
            let reason =
                "no event of the press has come: the page stops mouse events or is behind another tab, so what \
                          received it is not known; take a snapshot before you repeat the action"
                    .to_owned();
            return Error::NotActionable { what, reason, covered_by: None };
        };
        let reason = match (click.count, self.kept, self.received) {
            (0, ..) => format!("{over} covers it whenever the mouse arrives"),
            (_, true, 0) => format!(
                "{over} takes its place whenever the mouse arrives; the press was blocked, so nothing was clicked"
            ),
            (_, true, _) => {
                format!("the first press reached it; the second one hit {over} and was blocked")
            }
            (_, false, _) => format!("{over} covered it at the moment of the press and received the press"),
        };
        Error::NotActionable { what, reason, covered_by: Some(over) }
    }
}

impl Tab {
    /// Clicks, hovers, and single mouse events.
    pub(super) fn point_at(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        self.emulate_focus();
        match &act.kind {
            ActKind::Click { at, double, button, modifiers } => {
                let click = Click { button: *button, count: if *double { 2 } else { 1 }, modifiers };
                let presses = if *double { 2 } else { 1 };
                self.click(act, at, Needs { presses, ..Needs::CLICK }, click, deadline)
            }
            ActKind::Hover { at } => {
                let click = Click { button: Button::Left, count: 0, modifiers: &[] };
                self.click(act, at, Needs::HOVER, click, deadline)
            }
            ActKind::ClickCoords { x, y, double, button } => {
                only_trusted(act, "clickCoords")?;
                let at = Point { x: *x, y: *y };
                self.check_point(at, deadline)?;
                let click = Click { button: *button, count: if *double { 2 } else { 1 }, modifiers: &[] };
                let mut events = vec![moved(at, Buttons::default(), 0)];
                events.extend(presses(at, click, 0));
                did(self.send_mouse(events, deadline)?)
            }
            ActKind::Mouse { events } => {
                only_trusted(act, "mouse")?;
                self.mouse_events(events, deadline)
            }
            _ => Err(Error::BadRequest { problem: "this is nothing for the mouse".to_owned() }),
        }
    }

    /// Sets the viewport's size, or closes the tab.
    pub(super) fn whole_tab(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        match &act.kind {
            ActKind::Resize { width, height } => self.resize(*width, *height, deadline),
            ActKind::Close {} => {
                self.supervisor.close_page(&self.target, deadline)?;
                Ok(Did::default())
            }
            _ => Err(Error::BadRequest { problem: "this is nothing for a whole tab".to_owned() }),
        }
    }

    fn resize(&self, width: u32, height: u32, deadline: Deadline) -> Result<Did, Error> {
        for (side, name) in [(width, "width"), (height, "height")] {
            if !SIDES.contains(&side) {
                let problem = format!("{name} is {side}; it has to be from {} to {}", SIDES.start(), SIDES.end());
                return Err(Error::BadRequest { problem });
            }
        }
        let metrics = SetDeviceMetricsOverride::new(width.into(), height.into(), 0.0, false);
        let done = self.supervisor.session_call(&FrameRef::TopOf(self.target.clone()), &metrics, deadline)?;
        let (_, sized) = self.call::<(f64, f64)>(&self.top()?, "sized", &(width, height), deadline)?;
        if sized.result != (f64::from(width), f64::from(height)) {
            let reason = format!("its viewport is {} x {} afterwards", sized.result.0, sized.result.1);
            return Err(Error::NotActionable { what: "the window".to_owned(), reason, covered_by: None });
        }
        Ok(Did { rescued: done.rescued || sized.rescued, ..Did::default() })
    }

    /// Fails for a point outside of the viewport.
    pub(super) fn check_point(&self, at: Point, deadline: Deadline) -> Result<(), Error> {
        let (_, size) = self.call::<(f64, f64)>(&self.top()?, "viewport", &(), deadline)?;
        let (width, height) = size.result;
        // Written so that what is no number fails too.
        if at.x >= 0.0 && at.x < width && at.y >= 0.0 && at.y < height {
            return Ok(());
        }
        let problem =
            format!("the point {}, {} is outside of the viewport, which is {width} x {height} CSS pixels", at.x, at.y);
        Err(Error::BadRequest { problem })
    }

    fn click(&self, act: &Act, at: &Locator, needs: Needs, click: Click<'_>, deadline: Deadline) -> Result<Did, Error> {
        let mut astray = 0;
        loop {
            let ready = self.ready(at, needs, act.force, deadline)?;
            let modifiers = modifier_bits(click.modifiers, ready.mac);
            let done = if act.input == Some(Input::Synthetic) {
                self.synthetic_click(&ready.node, click, modifiers, false, deadline)?
            } else {
                let point = self.point_of(&ready)?;
                let done = match self.trusted_click(&ready, point, click, modifiers, deadline) {
                    // The frame went on to another document before a button was down.
                    Err(error) if is_end(&error) && at.selector.is_some() && !deadline.passed() => continue,
                    outcome => outcome?,
                };
                if let Some(landed) = self.astray(&ready, click, &done, deadline) {
                    astray += 1;
                    if landed.can_be_repeated(click) && astray < ASTRAY {
                        continue; // it may be what shows while the mouse comes for the first time
                    }
                    return Err(landed.error(&ready, click));
                }
                done
            };
            return Ok(Did { rescued: done.rescued || ready.rescued, element: Some(ready.shown), ..done });
        }
    }

    /// What got the mouse instead of the element that it was meant for, as far as the document of the element and those around
    /// it can tell.
    fn astray(&self, ready: &Ready, click: Click<'_>, done: &Did, deadline: Deadline) -> Option<Landed> {
        if done.input.is_some() {
            return None;
        }
        let name = if click.count == 0 { "hovered" } else { "landed" };
        // Of input that a dialog cut off the rest may come later.
        self.landed(&ready.node, name, deadline).filter(|landed| !(landed.unseen && done.cut))
    }

    /// Where a press went, when not to the element that it was meant for: the first document that says so.
    pub(super) fn landed(&self, node: &Node, name: &str, deadline: Deadline) -> Option<Landed> {
        let deadline = deadline.within(UNANSWERED);
        // A document that is gone, or blocked by a dialog, has had the press.
        let here = self.call_in_brief::<Landed>(&node.frame, &node.doc, name, &(), deadline).ok()?.result;
        if here.over.is_some() || name == "hovered" {
            return Some(here).filter(|landed| landed.over.is_some());
        }
        let around = self.frames_around(&node.frame);
        let found = self.call_all_brief::<Landed, ()>(&around, name, |_| (), deadline);
        let mut landed = found.into_iter().filter_map(Result::ok).map(|(_, done)| done.result);
        landed.find(|landed| landed.kept && landed.over.is_some()).or(Some(here).filter(|here| here.unseen))
    }

    /// The frames around a frame, innermost first.
    fn frames_around(&self, frame: &FrameId) -> Vec<FrameId> {
        let now = self.supervisor.view();
        let parent = |frame: &FrameId| now.frame(frame.as_str()).and_then(|frame| frame.parent_frame_id.clone());
        std::iter::successors(parent(frame), parent).take(64).collect()
    }

    pub(super) fn point_of(&self, ready: &Ready) -> Result<Point, Error> {
        ready.point.ok_or_else(|| Error::NotActionable {
            what: format!("the {}", ready.tag),
            reason: "it has no point that receives events".to_owned(),
            covered_by: None,
        })
    }

    fn trusted_click(
        &self,
        ready: &Ready,
        at: Point,
        click: Click<'_>,
        modifiers: i64,
        deadline: Deadline,
    ) -> Result<Did, Error> {
        let silence = deadline.within(UNANSWERED);
        let over = moved(at, Buttons::default(), modifiers);
        let sent = if self.is_elsewhere(&ready.node) {
            // Where the frames of other processes are drawn is known to Chromium a moment after they were scrolled.
            match self.arrive(ready, at, modifiers, deadline)? {
                Sent::Handled { .. } => self.press_elsewhere(ready, &presses(at, click, modifiers), deadline)?,
                Sent::Cut => {
                    // A dialog that the move opened: the rest comes to the page behind it, as in the top document.
                    let page = FrameRef::TopOf(self.target.clone());
                    presses(at, click, modifiers).iter().for_each(|event| self.supervisor.post(&page, event));
                    Sent::Cut
                }
                other => other,
            }
        } else {
            let mut events = vec![over];
            events.extend(presses(at, click, modifiers));
            self.send_mouse(events, silence)?
        };
        match sent {
            Sent::Unanswered | Sent::Busy => self.instead(ready, click, modifiers, deadline),
            sent => did(sent),
        }
    }

    /// Whether a node is in another process than the top document, or may be.
    pub(super) fn is_elsewhere(&self, node: &Node) -> bool {
        let now = self.supervisor.view();
        let session = |frame: &str| now.frame(frame).and_then(|frame| frame.session_id.clone());
        let top = self.top().ok();
        top.is_none_or(|top| session(top.as_str()) != session(node.frame.as_str()))
    }

    /// The synthetic sequence in the place of trusted input that Chromium does not answer. Never both: what
    /// has arrived is not done again, and what arrives late is kept from the page.
    fn instead(&self, ready: &Ready, click: Click<'_>, modifiers: i64, deadline: Deadline) -> Result<Did, Error> {
        let last = if click.count == 0 { "mousemove" } else { "mouseup" };
        let mut rescued = false;
        loop {
            // A page that was busy, or is on a slow machine, first takes what waits for it.
            let node = &ready.node;
            let arrived = match self.missed(node, &[last], COMING, deadline) {
                Ok(arrived) => arrived,
                Err(error) if error.is_blocked_by_dialog() => return Ok(Did { rescued, cut: true, ..Did::default() }),
                Err(Error::DocumentGone { .. }) => return Ok(Did { rescued, cut: true, ..Did::default() }),
                Err(error) => return Err(error),
            };
            rescued |= arrived.rescued;
            let arrived = arrived.result;
            if if click.count == 0 { arrived.mousemove } else { arrived.mouseup } > 0 {
                return Ok(Did { rescued, ..Did::default() });
            }
            if arrived.mousedown == 0 {
                let done = self.synthetic_click(node, click, modifiers, true, deadline)?;
                return Ok(Did { rescued: rescued || done.rescued, ..done });
            }
            // Half of it is there.
            if deadline.passed() {
                return Err(Error::Timeout { what: "the release of the button".to_owned(), after_ms: 0 });
            }
        }
    }

    fn synthetic_click(
        &self,
        node: &Node,
        click: Click<'_>,
        modifiers: i64,
        instead: bool,
        deadline: Deadline,
    ) -> Result<Did, Error> {
        let button = match click.button {
            Button::Left => 0,
            Button::Middle => 1,
            Button::Right => 2,
        };
        let ask = AskClick { id: node.id, button, count: click.count, modifiers, instead };
        self.synthetic(node, "syntheticClick", &ask, deadline)
    }

    /// Runs a synthetic sequence. What ends the document meanwhile was set off by it.
    pub(super) fn synthetic(
        &self,
        node: &Node,
        name: &str,
        ask: &impl Serialize,
        deadline: Deadline,
    ) -> Result<Did, Error> {
        let input = Some(Input::Synthetic);
        match self.call_in::<serde_json::Value>(&node.frame, &node.doc, name, ask, deadline) {
            Ok(done) => Ok(Did { input, rescued: done.rescued, ..Did::default() }),
            Err(error) if error.is_blocked_by_dialog() => Ok(Did { input, ..Did::default() }),
            Err(Error::DocumentGone { .. }) => Ok(Did { input, ..Did::default() }),
            Err(error) => Err(error),
        }
    }

    /// One after the other while a button is down, for what follows a drag; at once otherwise.
    fn mouse_events(&self, events: &[MouseEvent], deadline: Deadline) -> Result<Did, Error> {
        let (mut held, mut pressed_at, mut count) = (self.mouse.lock().buttons, None::<Point>, 0);
        let mut whole = Did::default();
        for event in events {
            if ![event.x, event.y, event.delta_x, event.delta_y].iter().all(|number| number.abs() <= FARTHEST) {
                let problem = format!("a mouse event's numbers have to lie within {FARTHEST} CSS pixels");
                return Err(Error::BadRequest { problem });
            }
            // What is dragged may leave the viewport. Chromium does not answer what begins outside.
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
            whole.rescued |= did(sent)?.rescued;
            if sent == Sent::Cut {
                break;
            }
        }
        Ok(whole)
    }
}

/// Some actions have no synthetic form.
fn only_trusted(act: &Act, kind: &str) -> Result<(), Error> {
    if act.input != Some(Input::Synthetic) {
        return Ok(());
    }
    let problem = format!(
        "{kind} has no synthetic form; leave out input, or use click, hover, type, press, select, fill, drag or scroll"
    );
    Err(Error::BadRequest { problem })
}

/// A button down and up, so often.
fn presses(at: Point, click: Click<'_>, modifiers: i64) -> Vec<crate::cdp::protocol::input::DispatchMouseEvent> {
    let once = |count| [pressed(at, click.button, count, modifiers), released(at, click.button, count, modifiers)];
    (1..=click.count).flat_map(once).collect()
}

/// What is told of input that was sent.
pub(super) fn did(sent: Sent) -> Result<Did, Error> {
    match sent {
        Sent::Handled { rescued } => Ok(Did { rescued, ..Did::default() }),
        Sent::Cut => Ok(Did { cut: true, ..Did::default() }),
        Sent::Unanswered | Sent::Busy => {
            Err(Error::Timeout { what: "the browser's answer to input".to_owned(), after_ms: 0 })
        }
    }
}
