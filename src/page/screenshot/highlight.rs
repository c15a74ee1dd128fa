//! A coloured area over an element, for a person. The browser draws it over the page and changes nothing in it.
//! Screenshots are captured without it.

use std::time::Duration;

use super::super::world::Node;
use super::super::{Error, Tab};
use crate::cdp::protocol::dom::{self, Rgba};
use crate::cdp::protocol::overlay::{Enable, HideHighlight, HighlightConfig, HighlightNode};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::FrameRef;
use crate::sync::Deadline;

/// Opacity of the area.
const FILL: f64 = 0.25;
/// Frames that a document with a process of its own must begin before one without the highlight is certainly displayed:
/// they are committed, activated, drawn and presented one after the other, and few may be in flight at a time.
pub(super) const UNTIL_SEEN: u32 = 6;
/// How long to wait for these frames.
const DRAWN: Duration = Duration::from_secs(5);

/// The present highlight.
#[derive(Debug, Clone)]
pub(in super::super) struct Highlighted {
    node: Node,
    colour: [u8; 3],
}

impl Tab {
    /// Highlights the element of a ref, in any frame, until [`clear_highlight`](Self::clear_highlight), another
    /// highlight, or the end of its document. One element per tab at a time.
    ///
    /// # Errors
    /// [`Error::BadRef`], [`Error::StaleRef`], those of the supervisor.
    pub fn highlight(&self, reference: &str, colour: [u8; 3], deadline: Deadline<'_>) -> Result<(), Error> {
        let (node, _) = self.resolve(reference)?;
        self.highlight_node(&node, colour, deadline)
    }

    /// As [`highlight`](Self::highlight), for a node.
    ///
    /// # Errors
    /// As [`highlight`](Self::highlight).
    pub fn highlight_node(&self, node: &Node, colour: [u8; 3], deadline: Deadline<'_>) -> Result<(), Error> {
        self.clear_highlight(deadline)?;
        self.show_highlight(&Highlighted { node: node.clone(), colour }, deadline)
    }

    /// Removes the highlight.
    ///
    /// # Errors
    /// Those of the supervisor.
    pub fn clear_highlight(&self, deadline: Deadline<'_>) -> Result<(), Error> {
        // Taken out first: the lock is not held during a call.
        let shown = self.highlighted.lock().take();
        match shown {
            Some(shown) => self.hide_highlight(&shown.node.frame, deadline),
            None => Ok(()),
        }
    }

    /// Runs something while nothing is highlighted.
    pub(in super::super) fn unhighlighted<T>(
        &self,
        deadline: Deadline<'_>,
        action: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let shown = self.highlighted.lock().clone();
        let Some(shown) = shown else { return action(self) };
        self.hide_highlight(&shown.node.frame, deadline)?;
        let outcome = action(self);
        if let Err(error) = self.show_highlight(&shown, deadline) {
            tracing::debug!(%error, "cannot restore the highlight");
        }
        outcome
    }

    fn show_highlight(&self, shown: &Highlighted, deadline: Deadline<'_>) -> Result<(), Error> {
        let at = FrameRef::Id(shown.node.frame.clone());
        let object = self.object(&shown.node, deadline)?;
        let outcome = (|| {
            self.supervisor.session_call(&at, &dom::Enable::new(), deadline)?;
            self.supervisor.session_call(&at, &Enable::new(), deadline)?;
            let mut config = HighlightConfig::new();
            let [red, green, blue] = shown.colour.map(i64::from);
            let colour = |alpha: f64| Rgba { a: Some(alpha), ..Rgba::new(red, green, blue) };
            (config.content_color, config.padding_color) = (Some(colour(FILL)), Some(colour(FILL)));
            config.border_color = Some(colour(1.0));
            let mut highlight = HighlightNode::new(config);
            highlight.object_id = Some(object.clone());
            self.supervisor.session_call(&at, &highlight, deadline)
        })();
        self.release(&shown.node.frame, object);
        outcome?;
        *self.highlighted.lock() = Some(shown.clone());
        Ok(())
    }

    fn hide_highlight(&self, frame: &FrameId, deadline: Deadline<'_>) -> Result<(), Error> {
        let now = self.supervisor.view();
        let Some(session) = now.frame(frame.as_str()).and_then(|frame| frame.session_id.as_ref()) else {
            return Ok(()); // gone with its frame
        };
        self.supervisor.session_call(&FrameRef::Id(frame.clone()), &HideHighlight::new(), deadline)?;
        let top = self.top()?;
        if now.frame(top.as_str()).is_some_and(|top| top.session_id.as_ref() != Some(session)) {
            // A capture only makes the process of the page draw first.
            if let Err(error) = self.draw_frame(frame, deadline.within(DRAWN)) {
                tracing::debug!(%error, "the highlight may still be visible");
            }
        }
        Ok(())
    }

    /// Makes a frame with a process of its own draw its present state.
    fn draw_frame(&self, frame: &FrameId, deadline: Deadline<'_>) -> Result<(), Error> {
        if !self.view(deadline)?.hidden {
            self.call::<()>(frame, "drawn", &UNTIL_SEEN, deadline)?;
            return Ok(());
        }
        // A tab that is not in front only draws while it is captured.
        let mut anew = true;
        loop {
            let args = serde_json::json!({ "anew": anew, "most": UNTIL_SEEN });
            let (_, counted) = self.call::<u32>(frame, "counted", &args, deadline)?;
            if counted.result >= UNTIL_SEEN || deadline.passed() {
                return Ok(());
            }
            self.supervisor.screenshot(&FrameRef::TopOf(self.target.clone()), deadline)?;
            anew = false;
        }
    }
}
