//! Whether trusted input has reached its element. Chromium also confirms input that went elsewhere, and on a slow
//! machine confirms it late.
//!
//! In the document of the element and in every document around it, capturing listeners of the isolated world
//! (`script/input-probe.js`) receive `pointerdown` first. If it goes to another element, the whole sequence up to the
//! click is kept from the page and the element is located again, a limited number of times. A press that was received
//! by a frame above the element cannot be kept back; the error says so and the press is not repeated. A drag is
//! verified in the same way before it moves.
//!
//! If Chromium confirms no input although the page draws and its event loop turns, the same sequence is dispatched by
//! script; the answer says so, and late trusted events are kept from the page.

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
const MAX_MOVES: u32 = 4;
/// How many frames that document draws before the move is tried again.
const RETRY_FRAMES: u32 = 12;
/// After this many drawn frames without the input, it counts as lost.
pub(super) const LOST_AFTER_FRAMES: u32 = 3;
/// How long a slowly drawing page may take to receive input that was not confirmed in time.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Trusted events that have arrived in a document since counting began.
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
struct CameArgs<'a> {
    types: &'a [&'a str],
    ms: u64,
    last: bool,
}

#[derive(Serialize)]
struct MissedArgs<'a> {
    types: &'a [&'a str],
    ms: u128,
    frames: u32,
}

/// A press is followed by one of these.
const RELEASED: [&str; 2] = ["mouseup", "dragstart"];

/// Whether the button is still down.
fn is_held(arrived: &Done<Arrived>) -> bool {
    arrived.result.mousedown > 0 && arrived.result.mouseup == 0 && arrived.result.dragstart == 0
}

impl Tab {
    /// Moves the mouse over an element of another process until the move arrives.
    pub(super) fn arrive(
        &self,
        ready: &Ready,
        at: Point,
        modifiers: i64,
        deadline: Deadline<'_>,
    ) -> Result<Sent, Error> {
        for turn in 0..MAX_MOVES {
            let sent = self.send_mouse(vec![moved(at, Buttons::default(), modifiers)], deadline.within(UNANSWERED))?;
            if !matches!(sent, Sent::Handled { .. }) {
                return Ok(sent);
            }
            let frames = if turn == 0 { LOST_AFTER_FRAMES } else { RETRY_FRAMES };
            match self.missed(&ready.node, &["mousemove"], frames, deadline) {
                Ok(arrived) if arrived.result.mousemove > 0 => return Ok(sent),
                Ok(_) => {}
                Err(error) if error.is_blocked_by_dialog() => return Ok(Sent::Cut),
                Err(error) => return Err(error),
            }
        }
        let reason =
            "mouse events at its position do not reach its frame; scroll it into view, or use input: synthetic"
                .to_owned();
        Err(Error::not_actionable(format!("the {}", ready.tag), reason))
    }

    /// Presses the button over an element of another process. Right after a frame appeared or was scrolled, Chromium
    /// may deliver the press to the document around it, although the move before it arrived.
    pub(super) fn press_elsewhere(
        &self,
        ready: &Ready,
        presses: &[DispatchMouseEvent],
        deadline: Deadline<'_>,
    ) -> Result<Sent, Error> {
        for _ in 0..MAX_MOVES {
            let sent = self.send_mouse(presses.to_vec(), deadline.within(UNANSWERED))?;
            if presses.is_empty() || !matches!(sent, Sent::Handled { .. }) {
                return Ok(sent);
            }
            let missed = |types| self.missed(&ready.node, types, RETRY_FRAMES, deadline);
            let came = match missed(&["pointerdown", "mousedown", "mouseup"]) {
                // On a slow machine the release arrives well after the press; while something is dragged it does not
                // arrive at all.
                Ok(came) if is_held(&came) => missed(&RELEASED),
                came => came,
            };
            // Or the release went elsewhere, and the button would stay down.
            let came = match (came, presses.last()) {
                (Ok(came), Some(release)) if is_held(&came) => {
                    self.send_mouse(vec![release.clone()], deadline.within(UNANSWERED))?;
                    missed(&RELEASED)
                }
                (came, _) => came,
            };
            match came {
                // A document around it may have received the press and blocked it: the caller reports that.
                Ok(came) if came.result.pointerdown + came.result.mousedown + came.result.mouseup == 0 => {
                    if self.landed(&ready.node, "strayed", deadline).is_some() {
                        return Ok(sent);
                    }
                }
                // It has arrived, or has triggered something that ends the answers.
                Err(error) if !error.is_blocked_by_dialog() && !is_end(&error) => return Err(error),
                _ => return Ok(sent),
            }
        }
        let reason =
            "mouse events at its position do not reach its frame; scroll it into view, or use input: synthetic"
                .to_owned();
        Err(Error::not_actionable(format!("the {}", ready.tag), reason))
    }

    /// Which trusted events have arrived in a document.
    pub(super) fn came(
        &self,
        node: &Node,
        types: &[&str],
        ms: u64,
        last: bool,
        deadline: Deadline<'_>,
    ) -> Result<Arrived, Error> {
        let ask = CameArgs { types, ms, last };
        Ok(self.call_in(&node.frame, &node.doc, "came", &ask, deadline)?.result)
    }

    /// Waits until one of some trusted events has arrived in a document, or until it has drawn so many frames. Returns
    /// which have arrived.
    pub(super) fn missed(
        &self,
        node: &Node,
        types: &[&str],
        frames: u32,
        deadline: Deadline<'_>,
    ) -> Result<Done<Arrived>, Error> {
        let ask = MissedArgs { types, ms: MAX_WAIT.as_millis(), frames };
        self.call_in(&node.frame, &node.doc, "missed", &ask, deadline)
    }
}

/// Whether the error says that the document is gone.
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
