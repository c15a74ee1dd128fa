//! Conditions of `wait`: the arguments of the in-page calls, and their names in messages.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::super::Error;
use super::super::world::Node;
use super::{LoadState, State, WaitFor};
use crate::cdp::protocol::page::FrameId;
use crate::redact::{Fingerprint, Secrets};
use crate::supervisor::{Value, View};

/// The longest `timeMs`, in milliseconds.
const MAX_TIME_MS: u64 = 30_000;

/// Arguments of the in-page call `holds`.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HoldsArgs<'a> {
    pub(super) text: Option<&'a str>,
    pub(super) text_gone: Option<&'a str>,
    pub(super) selector: Option<&'a str>,
    pub(super) selector_state: Option<State>,
    pub(super) id: Option<u32>,
    pub(super) state: Option<State>,
    pub(super) load: Option<&'a str>,
    pub(super) until: Option<&'static str>,
    pub(super) ms: u64,
    /// Texts that no answer may depend on, by their fingerprints at `base`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) needles: &'a [Fingerprint],
    pub(super) base: u32,
}

impl HoldsArgs<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_none()
            && self.text_gone.is_none()
            && self.selector.is_none()
            && self.id.is_none()
            && self.load.is_none()
    }
}

/// The answer of the in-page call: which of the given conditions hold.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct HoldsReply {
    pub(super) text: Option<bool>,
    pub(super) text_gone: Option<bool>,
    pub(super) selector: Option<bool>,
    pub(super) reference: Option<bool>,
    pub(super) load: Option<bool>,
    pub(super) bad: Option<String>,
    pub(super) gone: bool,
}

/// The conditions, in the order in which they are awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    Url,
    Load,
    /// No request is under way, and none was within the last half second.
    Quiet,
    Text,
    Selector,
    Reference,
    TextGone,
    Script,
}

impl Condition {
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

/// A wait in progress.
pub(super) struct Wait<'a> {
    pub(super) wanted: &'a WaitFor,
    pub(super) node: Option<Node>,
    pub(super) top: FrameId,
    /// The frame of `selector` and `fn`.
    pub(super) frame: FrameId,
    /// When a request was last under way.
    pub(super) busy: Option<Instant>,
    /// The last exception of `fn`.
    pub(super) thrown: Option<String>,
    /// Whether some document did not answer the last time.
    pub(super) unknown: bool,
    /// Whether the page did not respond the last time.
    pub(super) silent: bool,
    /// Whether a script of the page was terminated meanwhile.
    pub(super) rescued: bool,
    /// Fingerprints of texts that no answer may depend on, and their base.
    pub(super) hidden: (Vec<Fingerprint>, u32),
    /// Secrets, which no condition finds in an address.
    pub(super) redact: Option<&'a Secrets>,
}

impl Wait<'_> {
    /// All conditions that the caller gave.
    pub(super) fn all(&self) -> Vec<Condition> {
        let wanted = self.wanted;
        let given = [
            (Condition::Url, wanted.url.is_some()),
            (Condition::Load, wanted.load_state.is_some()),
            (Condition::Text, wanted.text.is_some()),
            (Condition::Selector, wanted.selector.is_some()),
            (Condition::Reference, wanted.reference.is_some()),
            (Condition::TextGone, wanted.text_gone.is_some()),
            (Condition::Script, wanted.script.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(what, _)| what).collect()
    }

    /// The arguments for one frame.
    pub(super) fn args_of(&self, frame: &FrameId, until: Option<Condition>) -> HoldsArgs<'_> {
        let wanted = self.wanted;
        let is_checked = |what: Condition| until.is_none_or(|until| until == what);
        let mut ask = HoldsArgs { needles: &self.hidden.0, base: self.hidden.1, ..HoldsArgs::default() };
        if is_checked(Condition::Text) {
            ask.text = wanted.text.as_deref();
        }
        if is_checked(Condition::TextGone) {
            ask.text_gone = wanted.text_gone.as_deref();
        }
        if is_checked(Condition::Selector) && *frame == self.frame {
            ask.selector = wanted.selector.as_deref();
            ask.selector_state = wanted.state.filter(|_| wanted.reference.is_none());
        }
        if is_checked(Condition::Load) && *frame == self.top {
            ask.load = wanted.load_state.map(LoadState::name);
        }
        if is_checked(Condition::Reference)
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
        top.and_then(|top| now.frame(top.as_str())).is_some_and(|frame| match self.redact {
            Some(secrets) => matches(wanted, &secrets.cover_own(&frame.url)),
            None => matches(wanted, &frame.url),
        })
    }

    /// Whether a removed element fulfils the condition; an error if it never will.
    pub(super) fn gone(&self, document: bool) -> Result<bool, Error> {
        if matches!(self.wanted.state, Some(State::Hidden | State::Gone)) {
            return Ok(true);
        }
        let why =
            if document { "its frame now shows another document" } else { "its element was removed from the document" };
        let reference = self.wanted.reference.as_deref().unwrap_or_default().trim_start_matches(['@', 'e']);
        Err(Error::StaleRef { reference: format!("e{reference}"), why })
    }

    /// A condition in error messages, as a noun phrase.
    pub(super) fn describe(&self, what: Condition) -> String {
        let wanted = self.wanted;
        let text = |text: &Option<String>| text.as_deref().unwrap_or_default().chars().take(100).collect::<String>();
        let state = serde_json::to_value(wanted.state.unwrap_or(State::Visible)).unwrap_or_default();
        let state = state.as_str().unwrap_or_default().to_owned();
        match what {
            Condition::Url => format!("a URL that matches {:?}", text(&wanted.url)),
            Condition::Load | Condition::Quiet => {
                format!("the load state {:?}", wanted.load_state.map_or("", LoadState::name))
            }
            Condition::Text => format!("the text {:?}", text(&wanted.text)),
            Condition::TextGone => format!("the text {:?} to disappear", text(&wanted.text_gone)),
            Condition::Selector if wanted.reference.is_none() && wanted.state.is_some() => {
                format!("an element that matches {:?} to be {state}", text(&wanted.selector))
            }
            Condition::Selector => format!("a visible element that matches {:?}", text(&wanted.selector)),
            Condition::Reference => format!("{} to be {state}", text(&wanted.reference)),
            Condition::Script => match &self.thrown {
                Some(thrown) => {
                    format!("fn to return a true value (it threw {})", thrown.chars().take(200).collect::<String>())
                }
                None => "fn to return a true value".to_owned(),
            },
        }
    }
}

pub(super) fn check(wanted: &WaitFor) -> Result<(), Error> {
    let bad = |problem: String| Err(Error::BadRequest { problem });
    if *wanted == (WaitFor { state: wanted.state, frame_id: wanted.frame_id.clone(), ..WaitFor::default() }) {
        return bad(
            "no condition was given; give at least one of timeMs, text, textGone, selector, url, loadState, fn, ref and locator".to_owned()
        );
    }
    if let Some(time) = wanted.time_ms.filter(|time| *time > MAX_TIME_MS) {
        return bad(format!("timeMs is {time}; the maximum is {MAX_TIME_MS}"));
    }
    Ok(())
}

/// Whether a JavaScript value is truthy.
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

/// Whether a URL matches a pattern: `*` matches any text, `?` matches one character.
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
