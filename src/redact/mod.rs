//! Covers secrets in texts, before a person, a model or a log sees them.
//!
//! Recognised are the secrets that the caller names, user and password in addresses, values after words such as
//! `password=` or `Bearer`, tokens in the format of known issuers, and values of fields whose label asks for a secret.
//! This is a safety net with known holes, not a guarantee.
//!
//! | file | what it covers |
//! |---|---|
//! | `forms` | tokens of known issuers, private keys, values after a word such as `password=` |
//! | `addresses` | CDP addresses, and the login in any other address |
//! | `endpoint` | what leads to a CDP endpoint, in errors that the endpoint reports |
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

/// A shorter secret of the task is not looked for: it would cover half of every text.
const SHORTEST_OWN: usize = 4;

/// Secrets of the task that must not be shown, whatever text they appear in. Its `Debug` shows none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Replaces a secret.
    pub const COVER: &str = "[secret]";

    /// These secrets. Ones of less than four characters are passed over.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut all: Vec<String> =
            secrets.into_iter().map(Into::into).filter(|s: &String| s.chars().count() >= SHORTEST_OWN).collect();
        // The longest first: one may be part of another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(all)
    }

    /// These and more.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.0.iter().cloned().chain(more))
    }

    /// The text with everything that looks like a secret covered.
    #[must_use]
    pub fn cover<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.0.iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), Self::COVER));
            }
        }
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

    /// The value of a form field with secrets covered: all of it when the field's label asks for a password, a token or
    /// the like, in any of the common languages. The bullets of a password field stay.
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
