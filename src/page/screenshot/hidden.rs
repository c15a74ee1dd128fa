//! Stored secrets in pictures: what shows one is painted over.
//!
//! The page is asked where it shows one before and after the capture, by fingerprints, so that no frame learns a secret. What
//! it draws without text (on a canvas, in a picture) is not found.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::super::world::{Doc, Node};
use super::super::{Error, Tab};
use super::boxes::{BoxOptions, Edges, Layout};
use super::scrolled::pixels;
use super::take::Frame;
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;
use cdpilot_picture::Rect;
use cdpilot_picture::{Canvas, PictureType, QUALITY, encode};

/// Time limit for all frames. One that does not answer is painted over as a whole.
const ANSWER: Duration = Duration::from_secs(2);
/// How often a capture is repeated because what is painted over has moved.
const RETAKES: u32 = 3;
const PAINT: [u8; 3] = [0x20, 0x20, 0x20];

/// The answer of the in-page call `shownSecrets`.
#[derive(Deserialize)]
struct ShownSecrets {
    rects: Vec<Edges>,
    whole: bool,
}

impl Tab {
    /// Whether there are secrets that pictures must not show.
    pub(in super::super) fn has_hidden(&self) -> bool {
        self.options.hidden.as_ref().is_some_and(|hidden| !hidden.fingerprints(1).is_empty())
    }

    /// Captures, with secrets painted over.
    pub(super) fn grab_hiding(&self, frame: &Frame, deadline: Deadline<'_>) -> Result<(Vec<u8>, bool), Error> {
        let mut before = self.shown_secrets(deadline)?;
        let mut tries = 0;
        let (png, rescued, parts) = loop {
            let (png, rescued) = self.grab_as_it_is(frame, deadline)?;
            let mut after = self.shown_secrets(deadline)?;
            let is_moving = after != before;
            if is_moving && tries < RETAKES {
                before = after;
                tries += 1;
                continue;
            }
            // What moves may have been anywhere between, what appears and disappears was at its place.
            if is_moving && !after.is_empty() && !before.is_empty() {
                let reason =
                    "a stored secret moves in it, so that it cannot be painted over; try again when it stands still";
                return Err(Error::not_actionable("the page", reason));
            }
            after.append(&mut before);
            break (png, rescued, after);
        };
        if parts.is_empty() {
            self.keep(frame, &png);
            return Ok((png, rescued));
        }
        let mut canvas = Canvas::decode(&png)?;
        let scale = f64::from(canvas.width) / frame.area.width;
        for part in &parts {
            let (left, top) =
                (pixels(((part.x - frame.area.x) * scale).floor()), pixels(((part.y - frame.area.y) * scale).floor()));
            let right = pixels(((part.right() - frame.area.x) * scale).ceil());
            let bottom = pixels(((part.bottom() - frame.area.y) * scale).ceil());
            canvas.fill(left, top, right - left, bottom - top, PAINT);
        }
        let png = encode(&canvas, PictureType::Png, QUALITY)?.bytes;
        self.keep(frame, &png);
        Ok((png, rescued))
    }

    /// Keeps a picture of the whole viewport as the last one of the page.
    fn keep(&self, frame: &Frame, png: &[u8]) {
        if !frame.clipped {
            self.supervisor.keep_picture(&self.target, png);
        }
    }

    /// Fails if the page shows a secret: for outputs in which it cannot be painted over.
    pub(super) fn check_nothing_hidden(&self, deadline: Deadline<'_>) -> Result<(), Error> {
        match self.has_hidden() && !self.shown_secrets(deadline)?.is_empty() {
            true => Err(unseen()),
            false => Ok(()),
        }
    }

    /// Where the page shows secrets, in CSS pixels of the top viewport.
    fn shown_secrets(&self, deadline: Deadline<'_>) -> Result<Vec<Rect>, Error> {
        let Some(hidden) = &self.options.hidden else { return Ok(Vec::new()) };
        let base = fastrand::u32(..) | 1;
        let args = json!({ "needles": hidden.fingerprints(base), "base": base });
        let top = self.top()?;
        let now = self.supervisor.view();
        let frames: Vec<FrameId> = now.frames_of(self.target.as_str()).map(|frame| frame.frame_id.clone()).collect();
        let answers = self.call_all::<ShownSecrets, _>(&frames, "shownSecrets", |_| &args, deadline.within(ANSWER));
        let mut found: Vec<(Node, ShownSecrets)> = Vec::new();
        for (frame, answer) in frames.into_iter().zip(answers) {
            match answer {
                Ok((_, done)) if done.result.rects.is_empty() && !done.result.whole => {}
                Ok((doc, done)) => found.push((Node { frame, doc, id: 0 }, done.result)),
                Err(error) if frame == top || error.is_blocked_by_dialog() => return Err(error),
                Err(_) if self.supervisor.view().frame(frame.as_str()).is_none() => {}
                Err(_) => {
                    let unknown = Node { frame, doc: Doc("".into()), id: 0 };
                    found.push((unknown, ShownSecrets { rects: Vec::new(), whole: true }));
                }
            }
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let nodes: Vec<Node> = found.iter().map(|(node, _)| node.clone()).collect();
        let layout = self.layout(&nodes, BoxOptions { whole: true, uncovered: false }, deadline.within(ANSWER))?;
        let mut parts = Vec::new();
        for (node, shown) in &found {
            parts.extend(self.lifted(&layout, &node.frame, shown)?);
        }
        Ok(parts)
    }

    fn lifted(&self, layout: &Layout, frame: &FrameId, shown: &ShownSecrets) -> Result<Vec<Rect>, Error> {
        let lifted = if shown.whole {
            layout.frame(frame).map(|part| part.into_iter().collect())
        } else {
            layout.parts(frame, &shown.rects)
        };
        match lifted {
            Some(parts) => Ok(parts),
            None if self.supervisor.view().frame(frame.as_str()).is_none() => Ok(Vec::new()),
            None => Err(Error::not_actionable("the page", "a frame that shows a stored secret moves; try again")),
        }
    }
}

fn unseen() -> Error {
    let reason = "it shows a stored secret, which can be painted over only in a screenshot";
    Error::not_actionable("the page", reason)
}
