//! Secrets in JSON: results of raw commands and of tools.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::forms::is_secret_word;
use super::{ChangingSecrets, Secrets, placeholders};

/// Minimum length of a string that is treated as Base64-encoded bytes.
const BYTES: usize = 256;
/// Fields that contain bytes.
const BINARY: [&str; 5] = ["data", "body", "bytes", "screenshotData", "postData"];
/// Parts of names of pagination tokens, which are not secrets.
const PAGING: [&str; 5] = ["page", "next", "continu", "sync", "cursor"];

impl ChangingSecrets {
    /// Redacts these secrets, and nothing else, in all texts and field names of a value.
    pub(crate) fn cover_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(covered) = self.cover(text) {
                    *text = covered;
                }
            }
            Value::Array(all) => all.iter_mut().for_each(|value| self.cover_json(value)),
            Value::Object(fields) => self.cover_fields(fields),
            _ => {}
        }
    }

    /// As [`cover_json`](Self::cover_json), for the fields of an object.
    pub fn cover_fields(&self, fields: &mut Map<String, Value>) {
        fields.values_mut().for_each(|value| self.cover_json(value));
        rename(fields, |name| self.cover(name));
    }
}

impl Secrets {
    /// Redacts what looks like a secret in all texts of a value, including field names, and the values of fields named
    /// like a secret: `{"password": "…"}`, `{"name": "token", "value": "…"}`. Base64-encoded bytes are not changed:
    /// they may match token formats by chance and would be corrupted.
    #[must_use]
    pub fn cover_json(&self, mut value: Value) -> Value {
        walk(self, &mut value);
        value
    }
}

fn walk(secrets: &Secrets, value: &mut Value) {
    match value {
        Value::String(text) => {
            let covered = secrets.cover(text);
            if *covered != **text {
                *text = covered.into_owned();
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|value| walk(secrets, value)),
        Value::Object(fields) => walk_fields(secrets, fields),
        _ => {}
    }
}

fn walk_fields(secrets: &Secrets, fields: &mut Map<String, Value>) {
    let encoded = fields.get("base64Encoded") == Some(&Value::Bool(true));
    let is_pair = fields.get("name").and_then(Value::as_str).is_some_and(names_secret);
    for (name, value) in fields.iter_mut() {
        let bytes = BINARY.contains(&name.as_str())
            && value.as_str().is_some_and(|text| encoded || (text.len() >= BYTES && is_base64(text)));
        if is_secret(name, value) || (is_pair && name == "value" && is_text(value)) {
            *value = Secrets::COVER.into();
        } else if !bytes {
            walk(secrets, value);
        }
    }
    rename(fields, |name| secrets.cover(name));
}

/// Redacts names of fields.
fn rename(fields: &mut Map<String, Value>, cover: impl Fn(&str) -> Cow<'_, str>) {
    if fields.keys().any(|name| *cover(name) != **name) {
        let before = std::mem::take(fields);
        for (name, value) in before {
            let covered = cover(&name).into_owned();
            let mut unique = covered.clone();
            // Two names may differ only in the secret.
            for number in 2.. {
                if !fields.contains_key(&unique) {
                    break;
                }
                unique = format!("{covered} {number}");
            }
            fields.insert(unique, value);
        }
    }
}

/// Whether a field is named like a secret and contains one.
fn is_secret(name: &str, value: &Value) -> bool {
    let is_number = value.is_number() && (name.to_ascii_lowercase().contains("pass") || name.ends_with("pwd"));
    (is_text(value) || is_number) && names_secret(name)
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty() && !placeholders::is_only(text))
}

fn names_secret(name: &str) -> bool {
    is_secret_word(name) && {
        let name = name.to_ascii_lowercase();
        !PAGING.iter().any(|part| name.contains(part))
    }
}

fn is_base64(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_');
    text.len().is_multiple_of(4) && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_covered_and_bytes_are_not() {
        let secrets = Secrets::new(["hunter22"]);
        let picture = format!("eyJ{}", "abcd".repeat(100) + "a");
        let covered = secrets.cover_json(json!({
            "url": "ws://127.0.0.1:1/devtools/browser/abc", "list": [{"value": "say hunter22"}], "data": picture,
            "body": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "base64Encoded": true, "n": 1,
        }));
        assert_eq!(covered["url"], "ws://127.0.0.1:1/…");
        assert_eq!(covered["list"][0]["value"], "say [secret]");
        assert_eq!(covered["data"], picture);
        assert_eq!(covered["body"], "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9");
        let token = secrets.cover_json(json!({"body": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "base64Encoded": false}));
        assert_eq!(token["body"], "[secret]");
    }

    #[test]
    fn names_of_fields_and_fields_named_after_a_secret_are_covered() {
        let token = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0"].concat();
        let other = ["gh", "p_", "z1B2c3D4e5F6g7H8i9J0"].concat();
        let covered = Secrets::new(["hunter22"]).cover_json(json!({
            token: 1, other: 2, "of hunter22": { "password": "correcthorse", "csrfToken": "abc", "pwd": 123_456 },
            "cookies": [{"name": "session_id", "value": "abc"}, {"name": "theme", "value": "dark"}],
            "nextPageToken": "abc", "token": 7, "secret": true, "authorization": "",
        }));
        let expected = json!({
            "[secret]": 1, "[secret] 2": 2,
            "of [secret]": { "password": "[secret]", "csrfToken": "[secret]", "pwd": "[secret]" },
            "cookies": [{"name": "session_id", "value": "[secret]"}, {"name": "theme", "value": "dark"}],
            "nextPageToken": "abc", "token": 7, "secret": true, "authorization": "",
        });
        assert_eq!(covered, expected);
    }
}
