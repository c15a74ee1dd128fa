//! The readable text of a page.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::page::{Error, Tab};
use crate::supervisor::Frame;
use crate::sync::Deadline;

/// The text of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PageText {
    /// The visible text of the document. Untrusted.
    pub text: String,
    /// Whether something was left out: beyond the limit, or nested deeper than 700 levels.
    pub truncated: bool,
    /// The server of the page has not answered yet, so there is no text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loading: bool,
    /// The document is a PDF, whose text is not read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pdf: bool,
}

impl PageText {
    /// Default maximum, in characters.
    pub const CHARS: usize = 40_000;
}

/// The text of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameText {
    /// The URL of the frame.
    pub url: String,
    /// The text of its document.
    pub text: PageText,
}

#[derive(Deserialize)]
struct TextReply {
    #[serde(default)]
    text: String,
    #[serde(default)]
    truncated: bool,
    #[serde(default)]
    missing: bool,
    #[serde(default)]
    pdf: bool,
    bad: Option<String>,
}

impl Tab {
    /// The visible text of the tab's top frame as a person would read it, or that of the first match of a selector. Leaves
    /// out hidden content, fields and frames. Reads shadow roots, closed ones as far as a snapshot has found them. Blocks are on lines of their own, list
    /// items have their marker, table cells are separated by tabs. When the server of the page has not answered,
    /// returns within two seconds without text.
    ///
    /// `max_chars` defaults to 40,000; 0: no limit.
    ///
    /// # Errors
    /// [`Error::NoMatch`], [`Error::BadRequest`] for an invalid selector, [`Error::Supervisor`].
    pub fn text(
        &self,
        selector: Option<&str>,
        max_chars: Option<usize>,
        deadline: Deadline<'_>,
    ) -> Result<PageText, Error> {
        self.text_in(None, selector, max_chars, deadline)
    }

    /// As [`text_in`](Self::text_in), of the main content alone: the article if there is only one, else the main part, else
    /// everything.
    ///
    /// # Errors
    /// As [`text_in`](Self::text_in).
    pub fn main_text(
        &self,
        frame: Option<&str>,
        max_chars: Option<usize>,
        deadline: Deadline<'_>,
    ) -> Result<PageText, Error> {
        self.read_text(frame, &json!({ "main": true, "most": max_chars.unwrap_or(PageText::CHARS) }), deadline)
    }

    /// As [`text`](Self::text), of a frame given by its id or the ref of its `<iframe>`.
    ///
    /// # Errors
    /// As [`text`](Self::text), and [`Error::BadRequest`] or [`Error::StaleRef`] if no such frame exists.
    pub fn text_in(
        &self,
        frame: Option<&str>,
        selector: Option<&str>,
        max_chars: Option<usize>,
        deadline: Deadline<'_>,
    ) -> Result<PageText, Error> {
        let args = json!({ "selector": selector, "most": max_chars.unwrap_or(PageText::CHARS) });
        self.read_text(frame, &args, deadline)
    }

    fn read_text(&self, frame: Option<&str>, args: &Value, deadline: Deadline<'_>) -> Result<PageText, Error> {
        let read = |deadline: Deadline<'_>| {
            self.arrived(deadline)?;
            let frame = match frame {
                Some(frame) => self.frame_named(frame, deadline)?,
                None => self.top()?,
            };
            self.call::<TextReply>(&frame, "text", args, deadline)
        };
        let Some((_, reply)) = self.unless_loading(deadline, read)? else {
            return Ok(PageText { text: String::new(), truncated: false, loading: true, pdf: false });
        };
        let reply = reply.result;
        let shown = || args["selector"].as_str().unwrap_or_default().chars().take(200).collect::<String>();
        if reply.missing {
            return Err(Error::NoMatch {
                selector: shown(),
                place: frame.map_or_else(|| "the main frame".to_owned(), |frame| format!("frame {frame}")),
            });
        }
        if reply.bad.is_some() {
            return Err(Error::BadRequest { problem: format!("the selector {:?} is not valid CSS", shown()) });
        }
        Ok(PageText { text: reply.text, truncated: reply.truncated, loading: false, pdf: reply.pdf })
    }

    /// The texts of the tab's frames, in order of their creation, without empty ones: at most `most` frames, with at
    /// most `max_chars` characters each. Frames that cannot be read are left out.
    #[must_use]
    pub fn frame_texts(&self, most: usize, max_chars: usize, deadline: Deadline<'_>) -> Vec<FrameText> {
        let now = self.supervisor.view();
        let inner = |frame: &&Frame| frame.parent_frame_id.is_some() && frame.session_id.is_some();
        let frames: Vec<&Frame> = now.frames_of(self.target.as_str()).filter(inner).take(most).collect();
        let ids: Vec<_> = frames.iter().map(|frame| frame.frame_id.clone()).collect();
        let args = json!({ "selector": null, "most": max_chars });
        let answers = self.call_all::<TextReply, _>(&ids, "text", |_| &args, deadline);
        let reply = frames.iter().zip(answers).filter_map(|(frame, answer)| {
            let reply = answer.ok()?.1.result;
            let text = PageText { text: reply.text, truncated: reply.truncated, loading: false, pdf: reply.pdf };
            (!text.text.trim().is_empty()).then(|| FrameText { url: frame.url.to_string(), text })
        });
        reply.collect()
    }
}
