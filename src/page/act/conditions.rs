//! What is waited for: what documents are asked, and how it is spoken of.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::super::Error;
use super::super::world::Node;
use super::{State, WaitFor};
use crate::cdp::protocol::page::FrameId;
use crate::supervisor::{Value, View};

/// The longest time that can be waited for.
const MOST: u64 = 30_000;

/// What is asked of a document.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ask<'a> {
    pub(super) text: Option<&'a str>,
    pub(super) text_gone: Option<&'a str>,
    pub(super) selector: Option<&'a str>,
    pub(super) selector_state: Option<State>,
    pub(super) id: Option<u32>,
    pub(super) state: Option<State>,
    pub(super) load: Option<&'a str>,
    pub(super) until: Option<&'static str>,
    pub(super) ms: u64,
}

impl Ask<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_none()
            && self.text_gone.is_none()
            && self.selector.is_none()
            && self.id.is_none()
            && self.load.is_none()
    }
}

/// What it answers.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Holds {
    pub(super) text: Option<bool>,
    pub(super) text_gone: Option<bool>,
    pub(super) selector: Option<bool>,
    pub(super) reference: Option<bool>,
    pub(super) load: Option<bool>,
    pub(super) bad: Option<String>,
    pub(super) gone: bool,
}

/// The conditions, in the order they are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Url,
    Load,
    /// No request is under way, nor was half a second before.
    Quiet,
    Text,
    Selector,
    Reference,
    TextGone,
    Script,
}

impl What {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Url | Self::Quiet | Self::Script => "change",
            Self::Load => "load",
            Self::Text => "text",
            Self::Selector => "selector",
            Self::Reference => "reference",
            Self::TextGone => "textGone",
        }
    }
}

/// What is waited for, with what it is about.
pub(super) struct Wait<'a> {
    pub(super) wanted: &'a WaitFor,
    pub(super) node: Option<Node>,
    pub(super) top: FrameId,
    /// The frame of selector and script.
    pub(super) frame: FrameId,
    /// When a request was under way last.
    pub(super) busy: Option<Instant>,
    /// What the script threw last.
    pub(super) thrown: Option<String>,
    /// Some document could not be asked last time.
    pub(super) unknown: bool,
    /// The page did not answer when it was asked last.
    pub(super) silent: bool,
    /// A script of the page was ended meanwhile.
    pub(super) rescued: bool,
}

impl Wait<'_> {
    /// All that are given.
    pub(super) fn all(&self) -> Vec<What> {
        let wanted = self.wanted;
        let given = [
            (What::Url, wanted.url.is_some()),
            (What::Load, wanted.load_state.is_some()),
            (What::Text, wanted.text.is_some()),
            (What::Selector, wanted.selector.is_some()),
            (What::Reference, wanted.reference.is_some()),
            (What::TextGone, wanted.text_gone.is_some()),
            (What::Script, wanted.script.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(what, _)| what).collect()
    }

    /// What a frame is asked.
    pub(super) fn ask_of(&self, frame: &FrameId, until: Option<What>) -> Ask<'_> {
        let wanted = self.wanted;
        let asked = |what: What| until.is_none_or(|until| until == what);
        let mut ask = Ask::default();
        if asked(What::Text) {
            ask.text = wanted.text.as_deref();
        }
        if asked(What::TextGone) {
            ask.text_gone = wanted.text_gone.as_deref();
        }
        if asked(What::Selector) && *frame == self.frame {
            ask.selector = wanted.selector.as_deref();
            ask.selector_state = wanted.state.filter(|_| wanted.reference.is_none());
        }
        if asked(What::Load) && *frame == self.top {
            ask.load = wanted.load_state.as_deref();
        }
        if asked(What::Reference)
            && let Some(node) = self.node.as_ref().filter(|node| node.frame == *frame)
        {
            ask.id = Some(node.id);
            ask.state = Some(wanted.state.unwrap_or(State::Visible));
        }
        ask
    }

    pub(super) fn url_holds(&self, now: &View, target: &str) -> bool {
        let Some(wanted) = &self.wanted.url else { return true };
        let top = now.page(target).and_then(|page| page.top_frame.as_ref());
        top.and_then(|top| now.frame(top.as_str())).is_some_and(|frame| matches(wanted, &frame.url))
    }

    /// What it means that the element is gone.
    pub(super) fn gone(&self, document: bool) -> Result<bool, Error> {
        if matches!(self.wanted.state, Some(State::Hidden | State::Gone)) {
            return Ok(true);
        }
        let why =
            if document { "its frame shows another document" } else { "its element is not in the document any more" };
        let reference = self.wanted.reference.as_deref().unwrap_or_default().trim_start_matches(['@', 'e']);
        Err(Error::StaleRef { reference: format!("e{reference}"), why })
    }

    /// A condition in words.
    pub(super) fn told(&self, what: What) -> String {
        let wanted = self.wanted;
        let text = |text: &Option<String>| text.as_deref().unwrap_or_default().chars().take(100).collect::<String>();
        let state = serde_json::to_value(wanted.state.unwrap_or(State::Visible)).unwrap_or_default();
        let state = state.as_str().unwrap_or_default().to_owned();
        match what {
            What::Url => format!("an address like {:?}", text(&wanted.url)),
            What::Load | What::Quiet => format!("the load state {:?}", text(&wanted.load_state)),
            What::Text => format!("the text {:?}", text(&wanted.text)),
            What::TextGone => format!("the end of the text {:?}", text(&wanted.text_gone)),
            What::Selector if wanted.reference.is_none() && wanted.state.is_some() => {
                format!("{:?} in the state {state}", text(&wanted.selector))
            }
            What::Selector => format!("something visible for {:?}", text(&wanted.selector)),
            What::Reference => format!("{} in the state {state}", text(&wanted.reference)),
            What::Script => match &self.thrown {
                Some(thrown) => {
                    format!("something true from fn (it threw {})", thrown.chars().take(200).collect::<String>())
                }
                None => "something true from fn".to_owned(),
            },
        }
    }
}

pub(super) fn check(wanted: &WaitFor) -> Result<(), Error> {
    let bad = |problem: String| Err(Error::BadRequest { problem });
    if *wanted == (WaitFor { state: wanted.state, frame_id: wanted.frame_id.clone(), ..WaitFor::default() }) {
        return bad(
            "there is nothing to wait for; give timeMs, text, textGone, selector, url, loadState, fn or ref".to_owned()
        );
    }
    if let Some(time) = wanted.time_ms.filter(|time| *time > MOST) {
        return bad(format!("timeMs is {time}; at most {MOST} can be waited for"));
    }
    if let Some(state) = wanted.load_state.as_deref()
        && !["load", "domcontentloaded", "networkidle"].contains(&state)
    {
        let state: String = state.chars().take(40).collect();
        return bad(format!("loadState {state:?} is not known; it is load, domcontentloaded or networkidle"));
    }
    Ok(())
}

/// Whether a value is true in JavaScript.
pub(super) fn is_true(value: &Value) -> bool {
    match &value.value {
        serde_json::Value::Null => false,
        serde_json::Value::Bool(truth) => *truth,
        serde_json::Value::Number(number) => number.as_f64() != Some(0.0),
        serde_json::Value::String(text) if value.described => {
            !(value.kind == "number" && (text == "NaN" || text == "-0"))
        }
        serde_json::Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// Whether an address is like a pattern: `*` stands for anything, `?` for one character or itself.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}
