//! Whether trusted input has arrived where it was meant to: Chromium answers what went elsewhere too, and what is late
//! on a slow machine not in time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::input::{Buttons, Sent, UNANSWERED, moved};
use super::super::world::Node;
use super::super::{Error, Tab};
use super::Point;
use super::actionability::Ready;
use crate::cdp;
use crate::cdp::protocol::input::DispatchMouseEvent;
use crate::supervisor::{self, Done};
use crate::sync::Deadline;

/// How often a move into a frame of another process is tried.
const MOVES: u32 = 4;
/// How many frames that one draws before it is tried again.
const ARRIVING: u32 = 12;
/// How many frames a page draws before input does not come any more.
pub(super) const COMING: u32 = 3;
/// How long a page that draws, but slowly, may take to get input that was not answered in time.
const MISSED: Duration = Duration::from_secs(5);

/// Trusted events that have arrived in a document since it was told to count them.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arrived {
    pub(super) mousemove: u32,
    pub(super) pointerdown: u32,
    pub(super) mousedown: u32,
    pub(super) mouseup: u32,
    pub(super) dragstart: u32,
    pub(super) drop: u32,
    pub(super) dragend: u32,
    pub(super) keydown: u32,
}

#[derive(Serialize)]
struct AskCame<'a> {
    types: &'a [&'a str],
    ms: u64,
    last: bool,
}

#[derive(Serialize)]
struct AskMissed<'a> {
    types: &'a [&'a str],
    ms: u128,
    frames: u32,
}

/// One of these follows a press.
const RELEASED: [&str; 2] = ["mouseup", "dragstart"];

/// Whether the button is down.
fn is_held(came: &Done<Arrived>) -> bool {
    came.result.mousedown > 0 && came.result.mouseup == 0 && came.result.dragstart == 0
}

impl Tab {
    /// Moves the mouse over an element of another process until it gets there.
    pub(super) fn arrive(&self, ready: &Ready, at: Point, modifiers: i64, deadline: Deadline) -> Result<Sent, Error> {
        for turn in 0..MOVES {
            let sent = self.send_mouse(vec![moved(at, Buttons::default(), modifiers)], deadline.within(UNANSWERED))?;
            if !matches!(sent, Sent::Handled { .. }) {
                return Ok(sent);
            }
            let frames = if turn == 0 { COMING } else { ARRIVING };
            match self.missed(&ready.node, &["mousemove"], frames, deadline) {
                Ok(arrived) if arrived.result.mousemove > 0 => return Ok(sent),
                Ok(_) => {}
                Err(error) if error.is_blocked_by_dialog() => return Ok(Sent::Cut),
                Err(error) => return Err(error),
            }
        }
        let reason = "events at its point do not reach its frame".to_owned();
        Err(Error::NotActionable { what: format!("the {}", ready.tag), reason, covered_by: None })
    }

    /// Presses the button over an element of another process. Right after a frame has come or was scrolled
    /// Chromium may hand the press to the document around it, although the move before it got there.
    pub(super) fn press_elsewhere(
        &self,
        ready: &Ready,
        presses: &[DispatchMouseEvent],
        deadline: Deadline,
    ) -> Result<Sent, Error> {
        for _ in 0..MOVES {
            let sent = self.send_mouse(presses.to_vec(), deadline.within(UNANSWERED))?;
            if presses.is_empty() || !matches!(sent, Sent::Handled { .. }) {
                return Ok(sent);
            }
            let missed = |types| self.missed(&ready.node, types, ARRIVING, deadline);
            let came = match missed(&["pointerdown", "mousedown", "mouseup"]) {
                // On a slow machine the release comes well behind the press; where something is dragged it does not come.
                Ok(came) if is_held(&came) => missed(&RELEASED),
                came => came,
            };
            // Or it went elsewhere, and the button would stay down.
            let came = match (came, presses.last()) {
                (Ok(came), Some(release)) if is_held(&came) => {
                    self.send_mouse(vec![release.clone()], deadline.within(UNANSWERED))?;
                    missed(&RELEASED)
                }
                (came, _) => came,
            };
            match came {
                // A document around it may have got the press, and kept it from its page: the caller says so.
                Ok(came) if came.result.pointerdown + came.result.mousedown + came.result.mouseup == 0 => {
                    if self.landed(&ready.node, "strayed", deadline).is_some() {
                        return Ok(sent);
                    }
                }
                // It has come, or has set off something that ends the answers.
                Err(error) if !error.is_blocked_by_dialog() && !is_end(&error) => return Err(error),
                _ => return Ok(sent),
            }
        }
        let reason = "events at its point do not reach its frame".to_owned();
        Err(Error::NotActionable { what: format!("the {}", ready.tag), reason, covered_by: None })
    }

    /// Which trusted events have arrived in a document.
    pub(super) fn came(
        &self,
        node: &Node,
        types: &[&str],
        ms: u64,
        last: bool,
        deadline: Deadline,
    ) -> Result<Arrived, Error> {
        let ask = AskCame { types, ms, last };
        Ok(self.call_in(&node.frame, &node.doc, "came", &ask, deadline)?.result)
    }

    /// Which trusted events have arrived in a document: one of some types, or all that are to be expected
    /// before it has drawn so many frames.
    pub(super) fn missed(
        &self,
        node: &Node,
        types: &[&str],
        frames: u32,
        deadline: Deadline,
    ) -> Result<Done<Arrived>, Error> {
        let ask = AskMissed { types, ms: MISSED.as_millis(), frames };
        self.call_in(&node.frame, &node.doc, "missed", &ask, deadline)
    }
}

/// Whether the document is not there any more.
pub(super) fn is_end(error: &Error) -> bool {
    use supervisor::Error as E;
    matches!(
        error,
        Error::DocumentGone { .. }
            | Error::Supervisor(
                E::Cdp(cdp::Error::SessionGone { .. })
                    | E::FrameDetached { .. }
                    | E::FrameNotFound { .. }
                    | E::PageNotFound { .. }
                    | E::Navigating { .. }
            )
    )
}
