//! The text of a page, for reading.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::page::{Error, Tab};
use crate::supervisor::Frame;
use crate::sync::Deadline;

/// The text of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub struct PageText {
    /// It, as the page wrote it: untrusted.
    pub text: String,
    /// Whether something was left out: beyond the limit, or nested deeper than 700 levels.
    pub truncated: bool,
    /// The server of the page has not answered yet, so there is no text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loading: bool,
}

impl PageText {
    /// Characters returned unless another number is given.
    pub const CHARS: usize = 40_000;
}

/// The text of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameText {
    /// Its address.
    pub url: String,
    /// Its text.
    pub text: PageText,
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    text: String,
    #[serde(default)]
    truncated: bool,
    #[serde(default)]
    missing: bool,
    bad: Option<String>,
}

impl Tab {
    /// The text of the tab's top frame as a person would read it: of its article when there is one, else of
    /// its main part, else of everything; or of the first match of a selector. What is hidden is left out,
    /// and so are fields and frames. Shadow roots are read, closed ones as far as a snapshot has seen them.
    /// Blocks stand on lines of their own, list items have their mark, table cells a tab between them. Where the server of
    /// the page has not answered, the answer comes within two seconds, without text.
    ///
    /// `max_chars` defaults to 40,000; 0: no limit.
    ///
    /// # Errors
    /// [`Error::NoMatch`], [`Error::BadRequest`] for what is no selector, [`Error::Supervisor`].
    pub fn text(
        &self,
        selector: Option<&str>,
        max_chars: Option<usize>,
        deadline: Deadline,
    ) -> Result<PageText, Error> {
        self.text_in(None, selector, max_chars, deadline)
    }

    /// The same for a frame: its id, or the ref of its `<iframe>`.
    ///
    /// # Errors
    /// As [`text`](Self::text), and [`Error::BadRequest`] or [`Error::StaleRef`] for what names no frame.
    pub fn text_in(
        &self,
        frame: Option<&str>,
        selector: Option<&str>,
        max_chars: Option<usize>,
        deadline: Deadline,
    ) -> Result<PageText, Error> {
        let args = json!({ "selector": selector, "most": max_chars.unwrap_or(PageText::CHARS) });
        let read = |deadline| {
            self.arrived(deadline)?;
            let frame = match frame {
                Some(frame) => self.frame_named(frame, deadline)?,
                None => self.top()?,
            };
            self.call::<Told>(&frame, "text", &args, deadline)
        };
        let Some((_, told)) = self.unless_loading(deadline, read)? else {
            return Ok(PageText { text: String::new(), truncated: false, loading: true });
        };
        let told = told.result;
        let shown = || selector.unwrap_or_default().chars().take(200).collect::<String>();
        if told.missing {
            return Err(Error::NoMatch {
                selector: shown(),
                place: frame.map_or_else(|| "the main frame".to_owned(), |frame| format!("frame {frame}")),
            });
        }
        if told.bad.is_some() {
            return Err(Error::BadRequest { problem: format!("{:?} is no CSS selector", shown()) });
        }
        Ok(PageText { text: told.text, truncated: told.truncated, loading: false })
    }

    /// The texts of the frames in the tab, in the order they came, without those that have none: so many frames at most,
    /// and so many characters of each. A frame that cannot be read is left out.
    #[must_use]
    pub fn frame_texts(&self, most: usize, max_chars: usize, deadline: Deadline) -> Vec<FrameText> {
        let now = self.supervisor.view();
        let inner = |frame: &&Frame| frame.parent_frame_id.is_some() && frame.session_id.is_some();
        let frames: Vec<&Frame> = now.frames_of(self.target.as_str()).filter(inner).take(most).collect();
        let ids: Vec<_> = frames.iter().map(|frame| frame.frame_id.clone()).collect();
        let args = json!({ "selector": null, "most": max_chars });
        let answers = self.call_all::<Told, _>(&ids, "text", |_| &args, deadline);
        let told = frames.iter().zip(answers).filter_map(|(frame, answer)| {
            let told = answer.ok()?.1.result;
            let text = PageText { text: told.text, truncated: told.truncated, loading: false };
            (!text.text.trim().is_empty()).then(|| FrameText { url: frame.url.to_string(), text })
        });
        told.collect()
    }
}
