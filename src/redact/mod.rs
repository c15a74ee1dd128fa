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
//! | `stored` | a stored secret in all forms in which pages repeat it |

use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::RwLock;

mod addresses;
pub(crate) mod endpoint;
mod forms;
mod headers;
mod json;
mod labels;
mod placeholders;
mod stored;

pub use addresses::redact_addresses;
pub(crate) use headers::cover_header;
pub use stored::{Fingerprint, fingerprinted_parts, forms_of, parts_of};

use addresses::redact_among_others;
use forms::cover_forms;
use labels::is_secret_label;

/// Minimum length of a secret of the task, in characters; shorter ones would match too much.
const SHORTEST_OWN: usize = 4;

/// Secrets of the task, redacted in all texts. `Debug` shows none of them.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first: one may contain another.
    own: Arc<[Covered]>,
    changing: Vec<ChangingSecrets>,
}

/// A text to redact.
#[derive(Clone, PartialEq, Eq)]
pub struct Covered {
    text: String,
    /// Whether it is left alone as a part of a longer word or number: a short secret would match too much.
    whole: bool,
    /// Whether it is redacted, too, where some of its characters are encoded.
    encoded: bool,
    /// Whether every part of it with at least six characters is redacted, too.
    parts: bool,
}

impl Covered {
    /// A text to redact wherever it occurs.
    pub(crate) fn anywhere(text: impl Into<String>) -> Self {
        Self { text: text.into(), whole: false, encoded: false, parts: false }
    }

    /// Texts, each a line, of which every part with at least [six](stored::PART) characters is redacted wherever it occurs.
    #[allow(dead_code, reason = "not used in builds without tools")]
    pub(crate) fn in_parts(text: impl Into<String>) -> Self {
        Self { parts: true, ..Self::anywhere(text) }
    }

    /// A text to redact where no letter or digit precedes or follows it.
    pub(crate) fn alone(text: impl Into<String>) -> Self {
        Self { whole: true, ..Self::anywhere(text) }
    }

    /// A text to redact wherever it occurs, also where some of its characters are encoded.
    pub(crate) fn also_encoded(text: impl Into<String>) -> Self {
        Self { encoded: true, ..Self::anywhere(text) }
    }

    /// Whether it has enough characters to be redacted.
    pub fn is_long_enough(&self) -> bool {
        self.text.chars().count() >= SHORTEST_OWN
    }

    /// The text to redact.
    #[allow(dead_code, reason = "not used in builds without tools")]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Redacts it in a text; `None` if it does not occur.
    fn cover(&self, text: &str) -> Option<String> {
        if self.parts {
            return stored::cover_parts(text, &self.text);
        }
        if !self.whole {
            return text.contains(&self.text).then(|| text.replace(&self.text, Secrets::COVER));
        }
        let (mut covered, mut rest) = (String::new(), 0);
        for (at, _) in text.match_indices(&self.text) {
            let end = at + self.text.len();
            let before = text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            let behind = text[end..].chars().next().is_some_and(char::is_alphanumeric);
            if at >= rest && !before && !behind {
                covered.push_str(&text[rest..at]);
                covered.push_str(Secrets::COVER);
                rest = end;
            }
        }
        (rest > 0).then(|| covered + &text[rest..])
    }
}

/// Secrets that can be replaced while they are in use. Clones, and all [`Secrets`] that [include](Secrets::including) them,
/// share them.
#[derive(Clone, Default)]
pub struct ChangingSecrets(Arc<RwLock<Arc<[Covered]>>>);

#[allow(dead_code, reason = "not used in builds without tools")]
impl ChangingSecrets {
    /// Replaces them. Those of less than four characters are ignored.
    pub fn replace(&self, secrets: impl IntoIterator<Item = String>) {
        self.replace_covered(secrets.into_iter().map(Covered::anywhere));
    }

    /// Like [`replace`](Self::replace), with the places where they are redacted.
    pub fn replace_covered(&self, secrets: impl IntoIterator<Item = Covered>) {
        *self.0.write() = sorted(secrets);
    }

    fn get(&self) -> Arc<[Covered]> {
        Arc::clone(&self.0.read())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.read().is_empty()
    }

    /// Redacts these secrets, and nothing else.
    pub fn cover<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        let all = self.get();
        for secret in all.iter() {
            if let Some(covered) = secret.cover(&text) {
                text = Cow::Owned(covered);
            }
        }
        if let Some(covered) = cover_encoded(&text, &all) {
            text = Cow::Owned(covered);
        }
        text
    }
}

/// Redacts secrets where some of their characters are encoded; `None` if there are none.
fn cover_encoded(text: &str, all: &[Covered]) -> Option<String> {
    let secrets = all.iter().filter(|secret| secret.encoded).map(|secret| secret.text.as_str());
    (secrets.clone().next().is_some() && stored::may_be_encoded(text)).then(|| stored::cover_encoded(text, secrets))?
}

impl std::fmt::Debug for ChangingSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ChangingSecrets({})", self.get().len())
    }
}

/// Secrets that are long enough, longest first.
fn sorted(secrets: impl IntoIterator<Item = Covered>) -> Arc<[Covered]> {
    let mut all: Vec<Covered> = secrets.into_iter().filter(Covered::is_long_enough).collect();
    all.sort_by_key(|secret| std::cmp::Reverse(secret.text.len()));
    all.into()
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        let changing = |secrets: &Self| secrets.changing.iter().map(ChangingSecrets::get).collect::<Vec<_>>();
        self.own == other.own && changing(self) == changing(other)
    }
}

impl Eq for Secrets {}

impl Secrets {
    /// The replacement for a secret.
    pub const COVER: &str = "[secret]";

    /// Creates a set of secrets. Secrets of less than four characters are ignored.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { own: sorted(secrets.into_iter().map(Covered::anywhere)), changing: Vec::new() }
    }

    /// The same set with more secrets. Those of less than four characters are ignored.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = String>) -> Self {
        let own = sorted(self.own.iter().cloned().chain(more.into_iter().map(Covered::anywhere)));
        Self { own, changing: self.changing.clone() }
    }

    /// The same set with secrets that can be replaced later.
    #[allow(dead_code, reason = "not used in builds without tools")]
    #[must_use]
    pub fn including(&self, changing: &ChangingSecrets) -> Self {
        let mut all = self.changing.clone();
        all.push(changing.clone());
        Self { own: Arc::clone(&self.own), changing: all }
    }

    /// Redacts the secrets of the set, and nothing else.
    #[must_use]
    pub fn cover_own<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let changing: Vec<Arc<[Covered]>> = self.changing.iter().map(ChangingSecrets::get).collect();
        let mut all: Vec<&Covered> =
            self.own.iter().chain(changing.iter().flat_map(|secrets| secrets.iter())).collect();
        if all.len() > self.own.len() {
            // Longest first: one may contain another.
            all.sort_by_key(|secret| std::cmp::Reverse(secret.text.len()));
        }
        let mut text = Cow::Borrowed(text);
        for secret in all {
            if let Some(covered) = secret.cover(&text) {
                text = Cow::Owned(covered);
            }
        }
        for secrets in &changing {
            if let Some(covered) = cover_encoded(&text, secrets) {
                text = Cow::Owned(covered);
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
        match placeholders::cover_around(&text, cover_forms) {
            Some(covered) => Cow::Owned(covered),
            None => text,
        }
    }

    /// Redacts the value of a form field: all of it when the label asks for a password, a token or a similar secret, in
    /// any of the common languages. The bullets of a password field stay.
    #[must_use]
    pub fn cover_field<'a>(&self, label: &str, value: &'a str) -> Cow<'a, str> {
        let is_masked = value.chars().all(|c| c == '•');
        if !is_masked && is_secret_label(label) && !placeholders::is_only(value) {
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
        let second = ChangingSecrets::default();
        second.replace(["kestrel falcon".to_owned()]);
        assert_eq!(secrets.including(&second).cover("a kestrel falcon"), "a [secret]");
    }

    #[test]
    fn placeholders_are_names_and_no_secrets() {
        let secrets = Secrets::new(["kestrel"]);
        for same in [
            "{{secret:shop}}",
            "type {{secret:shop_password}} and {{ secret: shop.code }}",
            "password: {{secret:shop-1}}",
            r#"{"text":"{{secret:token}}"}"#,
        ] {
            assert_eq!(secrets.cover(same), same);
        }
        assert_eq!(secrets.cover_field("Password", "{{secret:shop}}"), "{{secret:shop}}");
        assert_eq!(
            secrets.cover_json(serde_json::json!({ "password": "{{secret:shop}}" }))["password"],
            "{{secret:shop}}"
        );
        // A secret in its place is still one.
        assert_eq!(secrets.cover("{{secret:kestrel}}"), "{{secret:[secret]}}");
        assert_eq!(secrets.cover("password: hunter2hunter2 {{secret:shop}}"), "password: [secret] {{secret:shop}}");
        let token = format!("{{{{secret:ghp_{}}}}}", "a1B2".repeat(9));
        assert!(!secrets.cover(&token).contains("a1B2"), "{}", secrets.cover(&token));
        assert_eq!(secrets.cover_field("Password", "x {{secret:shop}}"), "[secret]");
    }

    #[test]
    fn short_secrets_are_covered_where_they_stand_alone() {
        let changing = ChangingSecrets::default();
        changing.replace_covered([Covered::alone("4711")]);
        let secrets = Secrets::new(["kestrel"]).including(&changing);
        for (text, covered) in [
            ("4711", "[secret]"),
            ("pin=4711; 47110 and a4711, 4711", "pin=[secret]; 47110 and a4711, [secret]"),
            ("47114711 é4711 (4711)", "47114711 é4711 ([secret])"),
            ("47 11", "47 11"),
        ] {
            assert_eq!(secrets.cover_own(text), covered);
            assert_eq!(changing.cover(text), covered);
        }
    }
}
