//! Redacts secrets in texts before people, models or logs see them.
//!
//! Recognises known secrets of the task, credentials in URLs, values after words such as `password=` or `Bearer`,
//! tokens of known issuers, and values of fields whose label asks for a secret. This is a safety net with known gaps,
//! not a guarantee.
//!
//! | file | what it covers |
//! |---|---|
//! | `forms` | tokens of known issuers, private keys, values after a word such as `password=` |
//! | `addresses` | CDP URLs, and credentials in any URL |
//! | `endpoint` | credentials of a CDP endpoint, in errors that the endpoint reports |
//! | `headers` | values of HTTP headers |
//! | `json` | values of JSON |
//! | `labels` | labels of form fields that ask for a secret |

use std::borrow::Cow;

mod addresses;
pub(crate) mod endpoint;
mod forms;
mod headers;
mod json;
mod labels;

pub use addresses::redact_addresses;
pub(crate) use headers::cover_header;

use addresses::redact_among_others;
use forms::cover_forms;
use labels::is_secret_label;

/// Minimum length of a secret of the task, in characters; shorter ones would match too much.
const SHORTEST_OWN: usize = 4;

/// Secrets of the task, redacted in all texts. `Debug` shows none of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// The replacement for a secret.
    pub const COVER: &str = "[secret]";

    /// Creates a set of secrets. Secrets of less than four characters are ignored.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut all: Vec<String> =
            secrets.into_iter().map(Into::into).filter(|s: &String| s.chars().count() >= SHORTEST_OWN).collect();
        // Longest first: one may contain another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(all)
    }

    /// The same set with more secrets. Those of less than four characters are ignored.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.0.iter().cloned().chain(more))
    }

    /// Redacts the secrets of the set, and nothing else.
    #[must_use]
    pub fn cover_own<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.0.iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), Self::COVER));
            }
        }
        text
    }

    /// Redacts everything that looks like a secret.
    #[must_use]
    pub fn cover<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = self.cover_own(text);
        if text.contains("://") {
            let covered = redact_among_others(&text, Self::COVER);
            if covered != *text {
                text = Cow::Owned(covered);
            }
        }
        match cover_forms(&text) {
            Some(covered) => Cow::Owned(covered),
            None => text,
        }
    }

    /// Redacts the value of a form field: all of it when the label asks for a password, a token or a similar secret, in
    /// any of the common languages. The bullets of a password field stay.
    #[must_use]
    pub fn cover_field<'a>(&self, label: &str, value: &'a str) -> Cow<'a, str> {
        let is_masked = value.chars().all(|c| c == '•');
        if !is_masked && is_secret_label(label) {
            return Cow::Borrowed(Self::COVER);
        }
        self.cover(value)
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}
