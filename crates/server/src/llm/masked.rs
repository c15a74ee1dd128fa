//! `llm.json` as the API shows and replaces it: with masked keys. A mask that is sent back keeps the key.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use super::settings::{in_words, read};
use super::{Error, Model, Models};
use crate::config::Home;
use cdpilot::fields::Problem;

/// What stands for a key.
pub const MASK: &str = "********";
/// Maximum length of an alias, in characters.
const LONGEST_ALIAS: usize = 100;

/// A URL, divided where credentials can be.
struct Address<'t> {
    /// `https://`.
    scheme: &'t str,
    user: Option<&'t str>,
    /// Host, port and path.
    place: &'t str,
    query: Option<&'t str>,
    fragment: Option<&'t str>,
}

impl<'t> Address<'t> {
    fn of(url: &'t str) -> Self {
        let (url, fragment) = divided(url, '#');
        let (url, query) = divided(url, '?');
        let scheme = url.find(':').map_or(0, |at| at + 1);
        let (scheme, _) = url.split_at(scheme);
        let behind = url.get(scheme.len()..).unwrap_or_default();
        let slashes = behind.len() - behind.trim_start_matches(['/', '\\']).len();
        let (scheme, place) = url.split_at(scheme.len() + slashes);
        let end = place.find(['/', '\\']).unwrap_or(place.len());
        let user = place.get(..end).and_then(|authority| authority.rfind('@'));
        let (user, place) = match user {
            Some(at) => (place.get(..at), place.get(at + 1..).unwrap_or_default()),
            None => (None, place),
        };
        Self { scheme, user, place, query, fragment }
    }
}

/// A text up to a character, and what follows it.
fn divided(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(text, rest)| (text, Some(rest)))
}

/// A URL with masks in place of the user, the password, and the values of its query.
fn masked_url(url: &str) -> String {
    let Address { scheme, user, place, query, fragment } = Address::of(url);
    let mut shown = scheme.to_owned();
    if user.is_some() {
        shown.push_str(MASK);
        shown.push('@');
    }
    shown.push_str(place);
    if let Some(query) = query {
        let pair = |pair: &str| match pair.split_once('=') {
            _ if pair.is_empty() => String::new(),
            Some((name, "")) => format!("{name}="),
            Some((name, _)) => format!("{name}={MASK}"),
            None => MASK.to_owned(),
        };
        let pairs: Vec<String> = query.split('&').map(pair).collect();
        shown.push('?');
        shown.push_str(&pairs.join("&"));
    }
    if fragment.is_some() {
        shown.push('#');
        shown.push_str(MASK);
    }
    shown
}

/// The credentials in a URL, as written and decoded.
pub(super) fn secrets_in(url: &str) -> Vec<String> {
    let Address { user, query, .. } = Address::of(url);
    let user = user.into_iter().flat_map(|user| [user].into_iter().chain(user.split(':')));
    let values = query.into_iter().flat_map(|query| query.split('&'));
    let values = values.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
    let both =
        |text: &str| [text.to_owned(), percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()];
    let mut all: Vec<String> = user.chain(values).flat_map(both).filter(|text| !text.is_empty()).collect();
    // Longest first: one may contain another.
    all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    all.dedup();
    all
}

/// How values of keys are written.
#[derive(Debug, Clone, Copy)]
enum Keys {
    Masked,
    Plain,
}

impl Models {
    /// The content of `llm.json` with masks in place of keys, header values, and credentials in URLs; a missing key is `null`.
    #[must_use]
    pub fn masked(&self) -> Value {
        self.written(Keys::Masked)
    }

    /// Other models instead of these ones, in the shape of `llm.json`. Where a key or the value of a header is the mask, that
    /// of the model with the same alias is kept, and so is a URL that is sent as [`masked`](Self::masked) shows it.
    ///
    /// # Errors
    /// [`Error::UnknownSetting`]; [`Error::Setting`] for a wrong value, a default that does not exist, a mask without a value to
    /// keep, and a mask beside a URL of another host, to which the stored value would be sent.
    pub fn replaced(&self, new: Value) -> Result<Self, Error> {
        let wrong = |at: &str, problem: String| Err(Error::Setting { at: at.to_owned(), problem });
        if new.is_object() && !new.get("models").is_some_and(Value::is_object) {
            return wrong("models", "expected an object with the models by alias; {} removes all".to_owned());
        }
        let mut new = read(new).map_err(|misfit| match misfit.problem {
            Problem::Unknown { .. } => Error::UnknownSetting { problem: in_words(&misfit.problem), at: misfit.at },
            _ => Error::Setting { problem: in_words(&misfit.problem), at: misfit.at },
        })?;
        for (alias, model) in &mut new.models {
            let at = |field: &str| format!("models.{alias}.{field}");
            if alias.trim() != alias || alias.is_empty() || alias.chars().count() > LONGEST_ALIAS || alias == "default"
            {
                let problem = "an alias has 1 to 100 characters, no spaces around it, and is not \"default\"";
                return wrong(&format!("models.{alias}"), problem.to_owned());
            }
            if model.model.trim().is_empty() {
                return wrong(&at("model"), "the name of the model at the endpoint is missing".to_owned());
            }
            let url = url::Url::parse(&model.base_url).ok();
            if !url.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some()) {
                let problem = "expected an http or https URL, such as https://api.example.com/v1";
                return wrong(&at("base_url"), problem.to_owned());
            }
            let stored = self.models.get(alias);
            keep_secrets(alias, model, stored)?;
            if let Some(field) = unsendable(model) {
                let problem = "it contains a line break or another control character, which HTTP headers cannot carry";
                return wrong(&at(&field), problem.to_owned());
            }
            if model.context_window == Some(0) {
                return wrong(
                    &at("context_window"),
                    "expected a number of tokens above 0; omit it if unknown".to_owned(),
                );
            }
            let prices =
                model.price.iter().flat_map(|price| [Some(price.input), price.cached_input, Some(price.output)]);
            if prices.flatten().any(|price| !price.is_finite() || price < 0.0) {
                return wrong(&at("price"), "a price is a number of 0 or more, per 1,000,000 tokens".to_owned());
            }
        }
        match &new.default {
            Some(default) if !new.models.contains_key(default) => {
                let known: Vec<&str> = new.models.keys().map(String::as_str).collect();
                wrong("default", format!("no model has the alias {default:?}; aliases: {}", known.join(", ")))
            }
            _ => Ok(new),
        }
    }

    /// Writes `llm.json`, readable by its owner only. The file is replaced as a whole.
    ///
    /// # Errors
    /// [`Error::NotSaved`].
    pub fn save(&self, home: &Home) -> Result<(), Error> {
        let path = home.root().join("llm.json");
        let failed = |problem: std::io::Error| Error::NotSaved { path: path.clone(), problem: problem.to_string() };
        let text = serde_json::to_string_pretty(&self.written(Keys::Plain)).map_err(|e| failed(e.into()))?;
        // Created with mode 0600.
        let mut file = tempfile::Builder::new().prefix(".llm").tempfile_in(home.root()).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|problem| failed(problem.error))?;
        Ok(())
    }

    fn written(&self, keys: Keys) -> Value {
        let models: Map<String, Value> =
            self.models.iter().map(|(alias, model)| (alias.clone(), written(model, keys))).collect();
        json!({ "models": models, "default": self.default })
    }
}

/// The fields of a model, the secret ones included.
fn written(model: &Model, keys: Keys) -> Value {
    let shown = |secret: &String| match keys {
        Keys::Masked => MASK.to_owned(),
        Keys::Plain => secret.clone(),
    };
    let headers: Map<String, Value> =
        model.headers.iter().map(|(name, value)| (name.clone(), shown(value).into())).collect();
    let Ok(Value::Object(mut fields)) = serde_json::to_value(model) else { return Value::Null };
    fields.insert("api_key".to_owned(), model.api_key.as_ref().map(shown).into());
    fields.insert("headers".to_owned(), headers.into());
    if matches!(keys, Keys::Masked) {
        fields.insert("base_url".to_owned(), masked_url(&model.base_url).into());
    }
    Value::Object(fields)
}

/// Puts stored keys in the place of masks.
fn keep_secrets(alias: &str, model: &mut Model, stored: Option<&Model>) -> Result<(), Error> {
    let wrong = |field: &str, problem: String| Error::Setting { at: format!("models.{alias}.{field}"), problem };
    if model.base_url.contains(MASK) {
        let kept = stored.map(|stored| &stored.base_url).filter(|kept| masked_url(kept) == model.base_url);
        model.base_url = kept.cloned().ok_or_else(|| {
            let problem =
                "keeps the stored URL, and that of this alias is another one; send the whole URL with its credentials";
            wrong("base_url", format!("{MASK} {problem}"))
        })?;
    }
    let is_elsewhere = stored.is_some_and(|stored| !is_same_host(&stored.base_url, &model.base_url));
    let keep = |field: &str, stored: Option<String>| match stored {
        None => {
            let problem = "keeps the stored value, and this alias has none (a renamed model needs it again); send the value, or null";
            Err(wrong(field, format!("{MASK} {problem}")))
        }
        Some(_) if is_elsewhere => {
            let problem = "keeps the stored value, which was given for another host than that of base_url; send the value again, or null";
            Err(wrong(field, format!("{MASK} {problem}")))
        }
        Some(kept) => Ok(kept),
    };
    if model.api_key.as_deref() == Some(MASK) {
        model.api_key = Some(keep("api_key", stored.and_then(|stored| stored.api_key.clone()))?);
    }
    model.api_key = model.api_key.take().filter(|key| !key.trim().is_empty());
    for (name, value) in &mut model.headers {
        if value == MASK {
            *value = keep(&format!("headers.{name}"), stored.and_then(|stored| stored.headers.get(name).cloned()))?;
        }
    }
    Ok(())
}

/// Whether two URLs lead to the same host; all loopback addresses are one.
fn is_same_host(one: &str, other: &str) -> bool {
    let host = |url: &str| {
        let url = url::Url::parse(url).ok()?;
        Some(match url.host()? {
            url::Host::Ipv4(ip) if ip.is_loopback() => "localhost".to_owned(),
            url::Host::Ipv6(ip) if ip.is_loopback() => "localhost".to_owned(),
            other => other.to_string(),
        })
    };
    host(one).is_some_and(|one| host(other) == Some(one))
}

/// The field whose value cannot be sent in a header.
fn unsendable(model: &Model) -> Option<String> {
    let has_control = |text: &String| text.chars().any(char::is_control);
    if model.api_key.as_ref().is_some_and(has_control) {
        return Some("api_key".to_owned());
    }
    model.headers.iter().find(|(_, value)| has_control(value)).map(|(name, _)| format!("headers.{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> Models {
        let model = Model::new("m", "https://a.test/v1").api_key("sk-1");
        let model = model.headers([("X-Team".to_owned(), "seven".to_owned())].into());
        Models::new().model("one", model).model("two", Model::new("n", "http://b.test")).default_model("one")
    }

    #[test]
    fn keys_and_headers_are_masked_and_kept_by_alias() {
        let shown = stored().masked();
        assert_eq!(
            (&shown["models"]["one"]["api_key"], &shown["models"]["two"]["api_key"], &shown["default"]),
            (&json!(MASK), &Value::Null, &json!("one"))
        );
        assert_eq!(shown["models"]["one"]["headers"]["X-Team"], MASK);
        assert!(!shown.to_string().contains("sk-1") && !shown.to_string().contains("seven"));
        assert_eq!(stored().replaced(shown.clone()).unwrap(), stored(), "what is shown can be sent back");
        let mut renamed = shown.clone();
        let one = renamed["models"]["one"].take();
        renamed["models"] = json!({ "uno": one });
        renamed["default"] = Value::Null;
        let refused = stored().replaced(renamed.clone()).unwrap_err().to_string();
        assert!(refused.contains("models.uno.api_key") && refused.contains("needs it again"), "{refused}");
        renamed["models"]["uno"]["api_key"] = json!("sk-2");
        let refused = stored().replaced(renamed).unwrap_err().to_string();
        assert!(refused.contains("models.uno.headers.X-Team"), "{refused}");
    }

    #[test]
    fn a_mask_does_not_send_a_key_to_another_host() {
        let moved = |alias: &str, url: &str, key: Value| {
            let mut new = stored().masked();
            new["models"][alias]["base_url"] = json!(url);
            new["models"][alias]["api_key"] = key;
            stored().replaced(new)
        };
        let refused = moved("one", "https://evil.test/v1", json!(MASK)).unwrap_err().to_string();
        assert!(refused.starts_with("models.one.api_key") && refused.contains("another host"), "{refused}");
        let refused = moved("one", "https://evil.test/v1", json!("sk-2")).unwrap_err().to_string();
        assert!(refused.starts_with("models.one.headers.X-Team"), "{refused}");
        let same = moved("one", "https://a.test:8443/v2", json!(MASK)).unwrap();
        assert_eq!(same.models["one"].api_key.as_deref(), Some("sk-1"));
        assert_eq!(moved("two", "https://evil.test", Value::Null).unwrap().models["two"].api_key, None);
        let local = Models::new().model("one", Model::new("m", "http://127.0.0.1:1/v1").api_key("sk-1"));
        let mut new = local.masked();
        new["models"]["one"]["base_url"] = json!("http://localhost:2");
        assert_eq!(local.replaced(new).unwrap().models["one"].api_key.as_deref(), Some("sk-1"));
    }

    #[test]
    fn credentials_in_urls_are_masked_and_kept() {
        for (url, shown) in [
            ("https://a.test/v1", "https://a.test/v1"),
            ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
            ("https://ada:love@a.test/v1", "https://********@a.test/v1"),
            ("https://sk-1@a.test", "https://********@a.test"),
            ("https:ada:l@ve@a.test/@b", "https:********@a.test/@b"),
            ("https://a.test/v1?key=sk-1&v=2&empty=&sk-2", "https://a.test/v1?key=********&v=********&empty=&********"),
            ("https://ada:x@a.test?key=sk-1#sk-3", "https://********@a.test?key=********#********"),
        ] {
            let stored = Models::new().model("one", Model::new("m", url));
            let masked = stored.masked();
            assert_eq!(masked["models"]["one"]["base_url"], shown);
            assert_eq!(stored.replaced(masked.clone()).unwrap(), stored, "what is shown can be sent back");
            if shown != url {
                let mut other = masked.clone();
                other["models"] = json!({ "two": masked["models"]["one"] });
                let refused = stored.replaced(other).unwrap_err().to_string();
                assert!(refused.starts_with("models.two.base_url"), "{refused}");
                let mut moved = masked;
                moved["models"]["one"]["base_url"] = json!(shown.replace("a.test", "evil.test"));
                let refused = stored.replaced(moved).unwrap_err().to_string();
                assert!(refused.starts_with("models.one.base_url"), "{refused}");
            }
        }
        assert_eq!(
            secrets_in("https://ada:l%21ve@a.test/v1?key=sk-1&v="),
            ["ada:l%21ve", "ada:l!ve", "l%21ve", "l!ve", "sk-1", "ada"]
        );
        assert!(secrets_in("https://a.test/v1").is_empty());
    }

    #[test]
    fn wrong_settings_are_refused_with_their_place() {
        let model = |fields: Value| {
            let mut model = json!({ "model": "m", "base_url": "http://a.test" });
            if let (Value::Object(model), Value::Object(fields)) = (&mut model, fields) {
                model.extend(fields);
            }
            json!({ "models": { "one": model } })
        };
        for (new, at) in [
            (json!({}), "models"),
            (json!({ "models": [] }), "models"),
            (json!({ "models": {}, "default": "one" }), "default"),
            (json!({ "models": { "": { "model": "m", "base_url": "http://a.test" } } }), "models."),
            (json!({ "models": { "default": { "model": "m", "base_url": "http://a.test" } } }), "models.default"),
            (model(json!({ "base_url": "file:///x" })), "models.one.base_url"),
            (model(json!({ "model": " " })), "models.one.model"),
            (model(json!({ "vision": "yes" })), "models.one.vision"),
            (model(json!({ "modle": "m" })), "models.one.modle"),
            (
                model(json!({ "api_key": MASK, "api_key_env": "X" }))
                    .pointer("/models")
                    .map(|m| json!({ "models": { "three": m["one"] } }))
                    .unwrap(),
                "models.three.api_key",
            ),
            (json!({ "models": { "one": "sk-7" } }), "models.one"),
            (model(json!({ "api_key": ["sk-7"] })), "models.one.api_key"),
            (model(json!({ "headers": "sk-7" })), "models.one.headers"),
            (model(json!({ "api_key": "sk-7\r\nX: 1" })), "models.one.api_key"),
            (model(json!({ "headers": { "X-Key": "sk-7\n" } })), "models.one.headers.X-Key"),
            (model(json!({ "context_window": 0 })), "models.one.context_window"),
            (model(json!({ "price": { "input": -1, "output": 1, "currency": "EUR" } })), "models.one.price"),
        ] {
            match stored().replaced(new.clone()).unwrap_err() {
                Error::Setting { at: place, problem } | Error::UnknownSetting { at: place, problem } => {
                    assert_eq!(place, at, "{new}: {problem}");
                    assert!(!problem.contains("sk-7") && !problem.contains("struct"), "{problem}");
                }
                other => panic!("{new}: {other}"),
            }
        }
        let empty = model(json!({ "api_key": "" }));
        assert_eq!(stored().replaced(empty).unwrap().models["one"].api_key, None);
    }
}
