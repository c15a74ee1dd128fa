//! Secrets in JSON: results of raw commands, and what tools tell.

use serde_json::Value;

use super::Secrets;

/// A string of this length that could be Base64 is taken for bytes.
const BYTES: usize = 256;
/// Fields that hold bytes.
const BINARY: [&str; 5] = ["data", "body", "bytes", "screenshotData", "postData"];

impl Secrets {
    /// Covers what looks like a secret in all texts of a value. Bytes in Base64 are left as they are: they would be
    /// broken, and read as tokens by chance.
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
        Value::Object(fields) => {
            let encoded = fields.get("base64Encoded") == Some(&Value::Bool(true));
            for (name, value) in fields.iter_mut() {
                let bytes = BINARY.contains(&name.as_str())
                    && value.as_str().is_some_and(|text| encoded || (text.len() >= BYTES && is_base64(text)));
                if !bytes {
                    walk(secrets, value);
                }
            }
        }
        _ => {}
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
        let told = secrets.cover_json(json!({
            "url": "ws://127.0.0.1:1/devtools/browser/abc", "list": [{"value": "say hunter22"}], "data": picture,
            "body": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "base64Encoded": true, "n": 1,
        }));
        assert_eq!(told["url"], "ws://127.0.0.1:1/…");
        assert_eq!(told["list"][0]["value"], "say [secret]");
        assert_eq!(told["data"], picture);
        assert_eq!(told["body"], "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9");
        let token = secrets.cover_json(json!({"body": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "base64Encoded": false}));
        assert_eq!(token["body"], "[secret]");
    }
}
