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
use std::sync::Arc;

use parking_lot::RwLock;

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
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first: one may contain another.
    own: Arc<[String]>,
    changing: Option<ChangingSecrets>,
}

/// Secrets that can be replaced while they are in use. Clones, and all [`Secrets`] that [include](Secrets::including) them,
/// share them.
#[derive(Clone, Default)]
pub(crate) struct ChangingSecrets(Arc<RwLock<Arc<[String]>>>);

#[allow(dead_code, reason = "not used in builds without tools")]
impl ChangingSecrets {
    /// Replaces them. Those of less than four characters are ignored.
    pub(crate) fn replace(&self, secrets: impl IntoIterator<Item = String>) {
        *self.0.write() = sorted(secrets);
    }

    fn get(&self) -> Arc<[String]> {
        Arc::clone(&self.0.read())
    }
}

impl std::fmt::Debug for ChangingSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChangingSecrets({})", self.get().len())
    }
}

/// Secrets that are long enough, longest first.
fn sorted(secrets: impl IntoIterator<Item = impl Into<String>>) -> Arc<[String]> {
    let mut all: Vec<String> =
        secrets.into_iter().map(Into::into).filter(|s: &String| s.chars().count() >= SHORTEST_OWN).collect();
    all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    all.into()
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        let changing = |secrets: &Self| secrets.changing.as_ref().map(ChangingSecrets::get);
        self.own == other.own && changing(self) == changing(other)
    }
}

impl Eq for Secrets {}

impl Secrets {
    /// The replacement for a secret.
    pub const COVER: &str = "[secret]";

    /// Creates a set of secrets. Secrets of less than four characters are ignored.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { own: sorted(secrets), changing: None }
    }

    /// The same set with more secrets. Those of less than four characters are ignored.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = String>) -> Self {
        let own = sorted(self.own.iter().cloned().chain(more));
        Self { own, changing: self.changing.clone() }
    }

    /// The same set with secrets that can be replaced later.
    #[allow(dead_code, reason = "not used in builds without tools")]
    #[must_use]
    pub(crate) fn including(&self, changing: &ChangingSecrets) -> Self {
        Self { own: Arc::clone(&self.own), changing: Some(changing.clone()) }
    }

    /// Redacts the secrets of the set, and nothing else.
    #[must_use]
    pub fn cover_own<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let changing = self.changing.as_ref().map(ChangingSecrets::get).unwrap_or_default();
        let (mut own, mut changing) = (self.own.iter().peekable(), changing.iter().peekable());
        let mut text = Cow::Borrowed(text);
        // Longest first, of both.
        while let Some(secret) = match (own.peek(), changing.peek()) {
            (Some(first), Some(second)) if second.len() > first.len() => changing.next(),
            (Some(_), _) => own.next(),
            (None, _) => changing.next(),
        } {
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
        write!(f, "Secrets({})", self.own.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_that_are_replaced_are_covered_everywhere() {
        let changing = ChangingSecrets::default();
        let secrets = Secrets::new(["kestrel"]).including(&changing);
        let other = secrets.and(["heron".to_owned()]);
        assert_eq!(secrets.cover("kestrel falcon"), "[secret] falcon");
        changing.replace(["falcon".to_owned(), "a kestrel".to_owned(), "abc".to_owned()]);
        assert_eq!(secrets.cover("a kestrel, kestrel falcon abc"), "[secret], [secret] [secret] abc");
        assert_eq!(other.cover("heron falcon"), "[secret] [secret]");
        changing.replace([]);
        assert_eq!(secrets.cover("falcon"), "falcon");
    }
}
