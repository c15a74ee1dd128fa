//! The mouse, through `Input.dispatchMouseEvent` on the page's session. Chromium finds the frame at a point by
//! itself, in whatever process.
//!
//! Chromium 156 sends moves and wheel turns to a page when it draws the next frame. A tab in the background draws
//! none: there a lone move is answered after 5 s, a wheel turn after more than 8 s, while a button press takes the
//! moves before it along at once. With the focus emulated the tab draws, in the background too, but once a second only
//! when three frames that differ have not been shown to anybody. A screencast has them shown, so that everything is
//! answered at once. A wheel turn is answered before the page has seen it.

use std::sync::Arc;
use std::time::Duration;

use super::super::act::{Button, Modifier, Point};
use super::super::{Error, Tab};
use crate::cdp;
use crate::cdp::protocol::emulation::SetFocusEmulationEnabled;
use crate::cdp::protocol::input::{DispatchMouseEvent, DispatchMouseEventType, MouseButton};
use crate::cdp::protocol::page::{StartScreencast, StartScreencastFormat};
use crate::supervisor::{self, Frame, FrameRef};
use crate::sync::Deadline;

/// How long trusted input may stay unanswered.
pub(in super::super) const UNANSWERED: Duration = Duration::from_secs(1);

/// Which buttons are down: a set of `MouseEvent.buttons` bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Buttons(pub(in super::super) i64);

/// The mouse of a tab, as it was left.
#[derive(Debug, Default)]
pub(in super::super) struct Mouse {
    /// Where it is.
    pub(in super::super) at: Option<Point>,
    /// What is down.
    pub(in super::super) buttons: Buttons,
    /// The sessions in which the focus is emulated.
    focused: Vec<Arc<str>>,
}

/// What became of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Sent {
    /// The page has handled it.
    Handled {
        /// A script of the page was ended meanwhile.
        rescued: bool,
    },
    /// It set something off that ends the page's answers: a dialog, the end of the document or of the tab.
    Cut,
    /// Chromium did not answer.
    Unanswered,
    /// The page is busy, so that it could not.
    Busy,
}

impl Tab {
    /// Makes the page, and a frame of it with a process of its own, believe that they have the focus and
    /// are seen. Without an answer to wait for: input sent behind it comes behind it.
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

    /// Has the page draw its frames also where nobody sees them: by a screencast that nobody looks at. Its
    /// pictures are tiny, and of those that are not acknowledged Chromium makes two.
    pub(in super::super) fn keep_drawing(&self) {
        let mut cast = StartScreencast::new();
        cast.format = Some(StartScreencastFormat::Jpeg);
        (cast.max_width, cast.max_height, cast.quality) = (Some(16), Some(16), Some(1));
        self.supervisor.post(&FrameRef::TopOf(self.target.clone()), &cast);
    }

    /// Sends mouse events, all under way before the first is answered.
    pub(in super::super) fn send_mouse(
        &self,
        events: Vec<DispatchMouseEvent>,
        deadline: Deadline,
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
                Err(supervisor::Error::Unresponsive { .. }) => return Ok(Sent::Busy),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(sent)
    }
}

/// What follows from the input itself.
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

/// The bits of `Input.dispatchMouseEvent`'s `modifiers`.
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
    /// Just one.
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

/// The mouse goes to a point, with buttons down.
pub(in super::super) fn moved(at: Point, buttons: Buttons, modifiers: i64) -> DispatchMouseEvent {
    let mut event = DispatchMouseEvent::new(DispatchMouseEventType::MouseMoved, at.x, at.y);
    event.button = Some(buttons.named());
    event.buttons = Some(buttons.0);
    event.modifiers = Some(modifiers);
    event
}

/// A button goes down for the `count`th time in a row.
pub(in super::super) fn pressed(at: Point, button: Button, count: i64, modifiers: i64) -> DispatchMouseEvent {
    let mut event = DispatchMouseEvent::new(DispatchMouseEventType::MousePressed, at.x, at.y);
    event.button = Some(Buttons::of(button).named());
    event.buttons = Some(Buttons::of(button).0);
    event.click_count = Some(count);
    event.modifiers = Some(modifiers);
    event
}

/// It comes up again.
pub(in super::super) fn released(at: Point, button: Button, count: i64, modifiers: i64) -> DispatchMouseEvent {
    let mut event = pressed(at, button, count, modifiers);
    event.r#type = DispatchMouseEventType::MouseReleased;
    event.buttons = Some(0);
    event
}

/// The wheel turns.
pub(in super::super) fn wheeled(at: Point, delta: (f64, f64), buttons: Buttons) -> DispatchMouseEvent {
    let mut event = DispatchMouseEvent::new(DispatchMouseEventType::MouseWheel, at.x, at.y);
    (event.delta_x, event.delta_y) = (Some(delta.0), Some(delta.1));
    event.buttons = Some(buttons.0);
    event
}
