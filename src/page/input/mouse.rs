//! The mouse, through `Input.dispatchMouseEvent` on the page's session. Chromium finds the frame at a point by itself,
//! in any process.
//!
//! Chromium 156 delivers moves and wheel turns when the page draws its next frame. A background tab draws none: a
//! single move is confirmed after 5 s there, a wheel turn after more than 8 s, while a button press delivers the moves
//! before it at once. With focus emulation the tab draws in the background too, but only once a second when three
//! differing frames have not been displayed. A screencast counts as displaying them, so everything is confirmed at
//! once. A wheel turn is confirmed before the page has received it.

use std::sync::Arc;
use std::time::Duration;

use super::super::act::{Button, Modifier, Point};
use super::super::{Error, Tab};
use crate::cdp;
use crate::cdp::protocol::emulation::SetFocusEmulationEnabled;
use crate::cdp::protocol::input::{DispatchMouseEvent, DispatchMouseEventType, MouseButton};
use crate::supervisor::{self, Frame, FrameRef};
use crate::sync::Deadline;

/// How long trusted input may stay unconfirmed.
pub(in super::super) const UNANSWERED: Duration = Duration::from_secs(1);

/// Pressed buttons: a set of `MouseEvent.buttons` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Buttons(pub(in super::super) i64);

/// The state of a tab's mouse.
#[derive(Debug, Default)]
pub(in super::super) struct Mouse {
    /// The position of the pointer.
    pub(in super::super) at: Option<Point>,
    /// The pressed buttons.
    pub(in super::super) buttons: Buttons,
    /// Sessions with focus emulation.
    focused: Vec<Arc<str>>,
}

/// The fate of sent input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Sent {
    /// The page has handled it.
    Handled {
        /// Whether a script of the page was terminated meanwhile.
        rescued: bool,
    },
    /// It triggered something that ends the page's answers: a dialog, the end of the document or of the tab.
    Cut,
    /// Chromium did not confirm it.
    Unanswered,
    /// The page is too busy to handle it.
    Busy,
}

impl Tab {
    /// Makes a page, and its frames with a process of their own, behave as focused and visible. Does not wait for the
    /// answer: input sent afterwards arrives afterwards.
    pub(in super::super) fn emulate_focus(&self) {
        let now = self.supervisor.view();
        let there = |f: &Frame| f.session_id.clone().map(|session| (session, f.frame_id.clone()));
        let mut there: Vec<_> = now.frames_of(self.target.as_str()).filter_map(there).collect();
        {
            let focused = &mut self.mouse.lock().focused;
            focused.retain(|old| there.iter().any(|(session, _)| session == old));
            there.retain(|(session, _)| {
                let new = !focused.contains(session);
                if new {
                    focused.push(Arc::clone(session));
                }
                new
            });
        }
        let top = self.top().ok();
        for (_, frame) in there {
            let is_top = top.as_ref() == Some(&frame);
            self.supervisor.post(&FrameRef::Id(frame), &SetFocusEmulationEnabled::new(true));
            if is_top {
                self.keep_drawing();
            }
        }
    }

    /// Sends mouse events, all before the first is confirmed.
    pub(in super::super) fn send_mouse(
        &self,
        events: Vec<DispatchMouseEvent>,
        deadline: Deadline<'_>,
    ) -> Result<Sent, Error> {
        if let Some(last) = events.last() {
            let mut mouse = self.mouse.lock();
            mouse.at = Some(Point { x: last.x, y: last.y });
            mouse.buttons = Buttons(last.buttons.unwrap_or(0));
        }
        let page = FrameRef::TopOf(self.target.clone());
        let calls = events.into_iter().map(|event| (page.clone(), event)).collect();
        let mut sent = Sent::Handled { rescued: false };
        for outcome in self.supervisor.session_calls(calls, deadline) {
            match outcome {
                Ok(done) => {
                    if let Sent::Handled { rescued } = &mut sent {
                        *rescued |= done.rescued;
                    }
                }
                Err(error) if is_cut(&error) => return Ok(Sent::Cut),
                Err(error) if is_silence(&error) => sent = Sent::Unanswered,
                Err(error) if error.is_unresponsive() => return Ok(Sent::Busy),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(sent)
    }
}

/// Whether the error is an effect of the input itself.
fn is_cut(error: &supervisor::Error) -> bool {
    error.is_blocked_by_dialog()
        || matches!(
            error,
            supervisor::Error::Cdp(cdp::Error::SessionGone { .. })
                | supervisor::Error::PageNotFound { .. }
                | supervisor::Error::FrameDetached { .. }
                | supervisor::Error::Navigating { .. }
        )
}

fn is_silence(error: &supervisor::Error) -> bool {
    match error {
        supervisor::Error::Cdp(error) => error.is_timeout(),
        supervisor::Error::Timeout { .. } => true,
        _ => false,
    }
}

/// The modifier bits of mouse events.
pub(in super::super) fn modifier_bits(modifiers: &[Modifier], mac: bool) -> i64 {
    let bit = |modifier: &Modifier| match modifier {
        Modifier::Alt => 1,
        Modifier::Control => 2,
        Modifier::Meta => 4,
        Modifier::ControlOrMeta => {
            if mac {
                4
            } else {
                2
            }
        }
        Modifier::Shift => 8,
    };
    modifiers.iter().map(bit).fold(0, |all, bit| all | bit)
}

impl Buttons {
    /// The set of one button.
    pub(in super::super) fn of(button: Button) -> Self {
        Self(match button {
            Button::Left => 1,
            Button::Right => 2,
            Button::Middle => 4,
        })
    }

    fn named(self) -> MouseButton {
        match self.0 {
            0 => MouseButton::None,
            bits if bits & 1 != 0 => MouseButton::Left,
            bits if bits & 2 != 0 => MouseButton::Right,
            _ => MouseButton::Middle,
        }
    }
}

/// A mouse move to a point, with buttons held.
pub(in super::super) fn moved(at: Point, buttons: Buttons, modifiers: i64) -> DispatchMouseEvent {
    let mut event = DispatchMouseEvent::new(DispatchMouseEventType::MouseMoved, at.x, at.y);
    event.button = Some(buttons.named());
    event.buttons = Some(buttons.0);
    event.modifiers = Some(modifiers);
    event
}

/// A button press, the `count`th in a row.
pub(in super::super) fn pressed(at: Point, button: Button, count: i64, modifiers: i64) -> DispatchMouseEvent {
    let mut event = DispatchMouseEvent::new(DispatchMouseEventType::MousePressed, at.x, at.y);
    event.button = Some(Buttons::of(button).named());
    event.buttons = Some(Buttons::of(button).0);
    event.click_count = Some(count);
    event.modifiers = Some(modifiers);
    event
}

/// A button release.
pub(in super::super) fn released(at: Point, button: Button, count: i64, modifiers: i64) -> DispatchMouseEvent {
    let mut event = pressed(at, button, count, modifiers);
    event.r#type = DispatchMouseEventType::MouseReleased;
    event.buttons = Some(0);
    event
}

/// A turn of the wheel.
pub(in super::super) fn wheeled(at: Point, delta: (f64, f64), buttons: Buttons) -> DispatchMouseEvent {
    let mut event = DispatchMouseEvent::new(DispatchMouseEventType::MouseWheel, at.x, at.y);
    (event.delta_x, event.delta_y) = (Some(delta.0), Some(delta.1));
    event.buttons = Some(buttons.0);
    event
}
