//! Secrets that are typed but not seen: a text names one as `{{secret:NAME}}`, and its value takes this place at the moment of
//! typing, if the field belongs to the origin of the secret.
//!
//! The document of the focused field is asked for its origin and for the origins to which its form may be sent
//! (`script/secrets.js`, by getters that a page cannot replace); the source is then asked for the value for that
//! origin. If the page has several frames, key events are sent only while that document has the focus.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use super::super::world::Node;
use super::super::{Error, Tab};
use super::actionability::Ready;
use super::typing::{gone, named};
use super::{Act, Locator};
use crate::sync::Deadline;

const START: &str = "{{";
const END: &str = "}}";

/// The field that a secret is to be typed into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretTarget {
    /// The origin of its document; `null` if it has none of its own.
    pub origin: String,
    /// Whether it is for passwords or one-time codes, by its type or its `autocomplete`.
    pub fits: bool,
    /// Its name for people, its `name` and its `id`, as far as it has them. Untrusted.
    pub names: Vec<String>,
}

impl SecretTarget {
    /// A field of an origin.
    #[must_use]
    pub fn new(origin: impl Into<String>, fits: bool, names: Vec<String>) -> Self {
        Self { origin: origin.into(), fits, names }
    }

    /// How it is called in errors.
    #[must_use]
    pub fn name(&self) -> &str {
        self.names.first().map_or("this field", String::as_str)
    }
}

/// Where the values of secrets come from.
pub trait SecretSource: Send + Sync {
    /// The text to type for a secret into a field.
    ///
    /// # Errors
    /// Why it must not be typed there, as a sentence without its value.
    fn typed(&self, name: &str, target: &SecretTarget) -> Result<String, String>;

    /// A person has approved that a secret is typed into a field which is not for passwords or codes.
    fn allow(&self, _name: &str, _target: &SecretTarget) {}
}

/// The secrets that an action may type.
#[derive(Clone)]
pub struct TypedSecrets(Arc<dyn SecretSource>);

impl TypedSecrets {
    /// Secrets from a source.
    #[must_use]
    pub fn new(source: impl SecretSource + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// A person has approved that a secret is typed into a field which is not for passwords or codes.
    pub fn allow(&self, name: &str, target: &SecretTarget) {
        self.0.allow(name, target);
    }
}

impl fmt::Debug for TypedSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedSecrets")
    }
}

impl PartialEq for TypedSecrets {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A part of a text to type.
#[derive(Debug, PartialEq, Eq)]
enum Part<'t> {
    Text(&'t str),
    /// The name of a secret.
    Secret(&'t str),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let (mut all, mut rest) = (Vec::new(), text);
    let mut from = 0;
    while let Some(at) = rest[from..].find(START).map(|at| from + at) {
        let named = rest[at + START.len()..].split_once(END).and_then(|(inside, after)| {
            let name = inside.trim_start().strip_prefix("secret")?.trim_start().strip_prefix(':')?;
            Some((name.trim(), after))
        });
        let Some((name, after)) = named else {
            from = at + START.len();
            continue;
        };
        if at > 0 {
            all.push(Part::Text(&rest[..at]));
        }
        all.push(Part::Secret(name));
        (rest, from) = (after, 0);
    }
    if !rest.is_empty() {
        all.push(Part::Text(rest));
    }
    all
}

/// Whether a text seems to name a secret, as in `{{secret:NAME` or `{{secrets:NAME}}`, but does not.
fn is_misspelt(text: &str) -> bool {
    let seems = |behind: &str| {
        let behind = behind.trim_start().strip_prefix("secret").map(|rest| rest.strip_prefix('s').unwrap_or(rest));
        // `{{ secret_key }}` and `{{ secret }}` are variables of templates.
        let names = |rest: &str| rest.starts_with(':') || rest.starts_with(char::is_alphanumeric);
        behind.is_some_and(|rest| rest.starts_with(':') || (rest.starts_with(' ') && names(rest.trim_start())))
    };
    let starts = text.match_indices(START).filter(|(at, _)| seems(&text[at + START.len()..]));
    starts.count() > secrets_in(text).len()
}

/// The names of the secrets in a text to type, in order.
#[must_use]
pub fn secrets_in(text: &str) -> Vec<&str> {
    let name = |part| match part {
        Part::Secret(name) => Some(name),
        Part::Text(_) => None,
    };
    parts(text).into_iter().filter_map(name).collect()
}

/// Whether a text consists of the names of secrets only.
#[must_use]
pub fn is_only_secrets(text: &str) -> bool {
    let parts = parts(text.trim());
    !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Secret(_)))
}

/// The answer of the in-page call `secretPlace`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SecretPlace {
    gone: bool,
    /// The origin of the document; `null` if it has none of its own.
    origin: String,
    /// Whether it is for passwords or one-time codes.
    fits: bool,
    /// Its name for people, its `name` and its `id`.
    names: Vec<String>,
    /// Whether the field belongs to a form.
    form: bool,
    /// The origins to which the form may be sent.
    sends: Vec<String>,
}

impl Tab {
    /// What a field is for a secret.
    ///
    /// # Errors
    /// [`Error::StaleRef`] when it is gone; those of the supervisor.
    pub fn secret_target(&self, node: &Node, deadline: Deadline<'_>) -> Result<SecretTarget, Error> {
        let place: SecretPlace = self.call_on_node(node, "secretPlace", &json!({ "id": node.id }), deadline)?;
        if place.gone {
            let why = "it was removed from the document";
            return Err(Error::StaleRef { reference: "the field".to_owned(), why });
        }
        Ok(SecretTarget { origin: place.origin, fits: place.fits, names: place.names })
    }

    /// The text to type into a field that has the focus, with the values of the secrets that it names. `None`: it names none.
    pub(super) fn with_secrets(
        &self,
        text: &str,
        act: &Act,
        field: Option<(&Ready, &Locator)>,
        deadline: Deadline<'_>,
    ) -> Result<Option<String>, Error> {
        let Some(TypedSecrets(source)) = &act.secrets else { return Ok(None) };
        if is_misspelt(text) {
            let problem = "the text seems to name a secret; write it as {{secret:NAME}}. Nothing was typed".to_owned();
            return Err(Error::BadRequest { problem });
        }
        if secrets_in(text).is_empty() {
            return Ok(None);
        }
        let Some((ready, at)) = field else {
            let problem = "a secret is typed only into a field that is named: give its ref".to_owned();
            return Err(Error::BadRequest { problem });
        };
        let refused = |reason: String| Error::not_actionable(named(at), format!("{reason}; nothing was typed"));
        let place: SecretPlace =
            self.call_on_node(&ready.node, "secretPlace", &json!({ "id": ready.node.id }), deadline)?;
        if place.gone {
            return Err(gone(at));
        }
        let [Part::Secret(name)] = *parts(text.trim()) else {
            let reason = "a secret is typed alone: give {{secret:NAME}} without anything before or after it";
            return Err(refused(reason.to_owned()));
        };
        let target = SecretTarget { origin: place.origin.clone(), fits: place.fits, names: place.names };
        let typed = source.typed(name, &target).map_err(refused)?;
        if !place.form {
            let reason = "it belongs to no form, so it is not known where a secret in it would be sent";
            return Err(refused(reason.to_owned()));
        }
        match place.sends.iter().find(|sends| **sends != place.origin) {
            None => {
                let ask = json!({ "id": ready.node.id });
                let covered: serde_json::Value = self.call_on_node(&ready.node, "coverField", &ask, deadline)?;
                if covered == true { Ok(Some(typed)) } else { Err(gone(at)) }
            }
            Some(other) if other == "null" => {
                Err(refused("its form is sent to an address without an origin, such as that of a script".to_owned()))
            }
            Some(other) => {
                Err(refused(format!("its form may be sent to {other}, and its page is of {}", place.origin)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_found_in_texts() {
        assert_eq!(secrets_in("a {{secret:x}}{{ secret:y }} {{secret: z.1 }}"), ["x", "y", "z.1"]);
        for text in ["", "plain", "{{secret:x", "{{x}}", "{ {secret:x}}"] {
            assert!(secrets_in(text).is_empty() && !is_only_secrets(text), "{text}");
        }
        assert!(
            is_misspelt("{{secret:x") && is_misspelt("{{ secret x }}") && is_misspelt("{{secret:a}} {{secrets:b}}")
        );
        for text in
            ["{{x}} and {{ secret:y }}", "{{", "{{ secret_key }}", "{{secret}}", "{{ secret }}", "{{ secretary: 1 }}"]
        {
            assert!(!is_misspelt(text), "{text}");
        }
        assert_eq!(parts("a{{secret:x}}b"), [Part::Text("a"), Part::Secret("x"), Part::Text("b")]);
        assert!(is_only_secrets(" {{secret:x}} ") && is_only_secrets("{{secret:x}}{{secret:y}}"));
        assert!(!is_only_secrets("a{{secret:x}}"));
    }
}
