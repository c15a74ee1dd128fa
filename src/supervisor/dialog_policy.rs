//! Automatic answers to dialogs: the task's default policy, rules by type, origin and frame, and armed answers.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::dialog_call::DialogAnswer;
use super::snapshot::{Dialog, DialogType};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;

/// How a dialog without an armed answer is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DialogPolicy {
    /// The dialog stays open until it is answered, at most for the dialog timeout (then dismissed).
    #[default]
    MustRespond,
    /// The dialog is dismissed at once and recorded.
    AutoDismiss,
    /// The dialog is accepted at once and recorded; a prompt gets its own default text.
    AutoAccept,
    /// The dialog stays open until it is answered, without a limit.
    Hold,
}

/// An unknown name of a dialog policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialog policy `{0}`; one of: auto_accept, auto_dismiss, hold, must_respond")]
pub struct UnknownPolicy(pub String);

impl FromStr for DialogPolicy {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Self, UnknownPolicy> {
        match name {
            "must_respond" => Ok(Self::MustRespond),
            "auto_dismiss" => Ok(Self::AutoDismiss),
            "auto_accept" => Ok(Self::AutoAccept),
            "hold" => Ok(Self::Hold),
            other => Err(UnknownPolicy(other.to_owned())),
        }
    }
}

/// When dialogs use the [dialog bridge](super::bridge), for endpoints that answer native dialogs themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BridgeMode {
    /// On for browsers on other machines, and from the moment another client closes a dialog within a tenth of a
    /// second.
    #[default]
    Auto,
    /// The bridge is on from the start.
    Always,
    /// The bridge is never used.
    Never,
}

/// Selects dialogs. All given conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DialogMatch {
    /// Only dialogs of this type. Default: all types.
    #[serde(rename = "type")]
    pub kind: Option<DialogType>,
    /// Text that the message contains, case-sensitive.
    pub text: Option<String>,
    /// The origin of its frame: `https://shop.example`, with a non-default port if any, or a host alone
    /// (`shop.example`, any scheme and port). A host may begin with `*.`, which matches the host and its subdomains.
    /// `null` matches frames without an origin.
    pub origin: Option<String>,
    /// The frame that opened the dialog.
    pub frame: Option<FrameId>,
    /// The page that shows the dialog.
    pub target: Option<TargetId>,
    /// The client that armed it. Does not restrict which dialogs match; it keeps equal matches of two clients apart, so
    /// that one does not replace or disarm the other's answer.
    #[serde(skip)]
    pub client: Option<Arc<str>>,
}

impl DialogMatch {
    /// Every dialog of every page; narrow it with the other methods.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Matches dialogs of one type.
    #[must_use]
    pub fn of(kind: DialogType) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// Also requires this text in the message.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Also requires this origin.
    #[must_use]
    pub fn from_origin(mut self, origin: impl Into<String>) -> Self {
        self.origin = Some(origin.into());
        self
    }

    /// Also requires this frame.
    #[must_use]
    pub fn in_frame(mut self, frame: FrameId) -> Self {
        self.frame = Some(frame);
        self
    }

    /// Also requires this page.
    #[must_use]
    pub fn on_page(mut self, target: TargetId) -> Self {
        self.target = Some(target);
        self
    }

    /// Sets the client, see [`client`](Self::client).
    #[must_use]
    pub fn by(mut self, client: Option<&str>) -> Self {
        self.client = client.map(Arc::from);
        self
    }

    /// Whether a dialog matches. `message` is its original text.
    pub(super) fn holds(&self, dialog: &Dialog, message: &str) -> bool {
        self.kind.is_none_or(|kind| kind == dialog.kind)
            && self.text.as_ref().is_none_or(|text| message.contains(text.as_str()))
            && self.origin.as_ref().is_none_or(|pattern| origin_matches(pattern, &dialog.origin))
            && self.frame.as_ref().is_none_or(|frame| dialog.frame_id.as_ref() == Some(frame))
            && self.target.as_ref().is_none_or(|target| dialog.target_id == *target)
    }
}

/// Whether an origin (`scheme://host[:port]` or `null`) matches a pattern, see [`DialogMatch::origin`].
fn origin_matches(pattern: &str, origin: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    let Some((scheme, place)) = origin.split_once("://") else { return pattern.eq_ignore_ascii_case(origin) };
    let place = match pattern.split_once("://") {
        Some((wanted, _)) if !wanted.eq_ignore_ascii_case(scheme) => return false,
        Some(_) => place,
        // A host without a port matches any port.
        None if has_port(pattern) => place,
        None => {
            if has_port(place) {
                place.rsplit_once(':').map_or(place, |(host, _)| host)
            } else {
                place
            }
        }
    };
    let wanted = pattern.split_once("://").map_or(pattern, |(_, wanted)| wanted);
    match wanted.strip_prefix("*.") {
        Some(domain) => {
            let cut = place.len().checked_sub(domain.len());
            let tail = cut.and_then(|cut| place.get(cut..).map(|tail| (cut, tail)));
            tail.is_some_and(|(cut, tail)| {
                tail.eq_ignore_ascii_case(domain) && (cut == 0 || place.as_bytes()[cut - 1] == b'.')
            })
        }
        None => wanted.eq_ignore_ascii_case(place),
    }
}

/// Whether a text is `host:port`; an IPv6 address is in brackets.
fn has_port(place: &str) -> bool {
    place.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

/// A policy for matching dialogs. The first matching rule decides; the task's policy applies to the rest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DialogRule {
    /// The dialogs that the rule applies to.
    #[serde(default)]
    pub when: DialogMatch,
    /// The policy for them.
    pub policy: DialogPolicy,
}

impl DialogRule {
    /// Creates a rule: `policy` for dialogs that match `when`.
    #[must_use]
    pub fn new(when: DialogMatch, policy: DialogPolicy) -> Self {
        Self { when, policy }
    }
}

/// An answer given in advance; it takes precedence over policies. Of several that match, the oldest is used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArmedAnswer {
    /// What the dialog is answered with.
    pub answer: DialogAnswer,
    /// The dialogs that it applies to.
    pub when: DialogMatch,
    /// Number of dialogs to answer. Default 1.
    pub times: u32,
    /// How long the answer stays armed; at most two minutes, which is the default.
    pub time: Duration,
}

impl ArmedAnswer {
    /// Longest time that an answer can stay armed.
    pub const LIMIT: Duration = Duration::from_secs(120);

    /// Arms the answer for the next dialog within two minutes.
    #[must_use]
    pub fn new(answer: DialogAnswer) -> Self {
        Self { answer, when: DialogMatch::any(), times: 1, time: Self::LIMIT }
    }

    /// Restricts the answer to matching dialogs.
    #[must_use]
    pub fn when(mut self, when: DialogMatch) -> Self {
        self.when = when;
        self
    }

    /// Number of dialogs to answer (default 1).
    #[must_use]
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Sets how long the answer stays armed, at most two minutes.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::origin_matches;

    #[test]
    fn origins_are_matched_whole_or_by_host() {
        for (pattern, origin, holds) in [
            ("https://a.test", "https://a.test", true),
            ("https://a.test/", "https://a.test", true),
            ("https://a.test", "http://a.test", false),
            ("https://a.test", "https://a.test:8443", false),
            ("https://a.test:8443", "https://a.test:8443", true),
            ("a.test", "http://a.test:8080", true),
            ("A.Test", "https://a.test", true),
            ("a.test:8080", "http://a.test:8080", true),
            ("a.test:8080", "http://a.test", false),
            ("a.test", "https://b.a.test", false),
            ("*.a.test", "https://b.a.test:1", true),
            ("*.a.test", "https://a.test", true),
            ("*.a.test", "https://xa.test", false),
            ("https://*.a.test", "https://c.b.a.test", true),
            ("https://*.a.test", "http://c.a.test", false),
            ("[::1]", "http://[::1]:80", true),
            ("null", "null", true),
            ("a.test", "null", false),
        ] {
            assert_eq!(origin_matches(pattern, origin), holds, "{pattern} {origin}");
        }
    }
}
