//! What a request sends, by name and value, and whether it only reads.

use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::super::guard::origin_of;
use super::KIND;
use crate::tools::{Effect, SentForm};
use cdpilot::supervisor::InterceptedRequest;

/// Headers that give a request another method.
const OVERRIDES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];
/// Longest address in a report, in characters.
const MOST_ADDRESS: usize = 200;
/// Most values of one request that are read.
const MOST_FIELDS: usize = 501;

/// A request as it was when it was held. Untrusted.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Facts {
    /// The tab.
    pub(super) page: String,
    /// The address of the document that sends it, as far as it says.
    pub(super) document: String,
    /// The origin of that document; empty if it has none.
    pub(super) origin: String,
    /// In capital letters.
    pub(super) method: String,
    pub(super) url: String,
    /// Its body, if that is text.
    pub(super) body: Option<Arc<str>>,
    /// The media type of the body.
    pub(super) kind: String,
    /// Whether it is the navigation of a page or frame.
    pub(super) is_document: bool,
    /// Whether no page waits for its answer.
    pub(super) is_beacon: bool,
    /// A header that gives it another method.
    pub(super) overrides: Option<String>,
}

impl Facts {
    pub(super) fn of(request: &InterceptedRequest) -> Self {
        let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
        let document = header("referer");
        let named = header("origin");
        let origin = if named.is_empty() || named == "null" { origin_of(&document) } else { named };
        Self {
            page: request.page().to_string(),
            document,
            origin,
            method: request.method().to_owned(),
            url: request.url().to_owned(),
            body: request.body().map(Arc::from),
            kind: header("content-type"),
            is_document: request.resource_type() == "document",
            is_beacon: matches!(request.resource_type(), "ping" | "cspviolationreport"),
            overrides: OVERRIDES.iter().find_map(|name| request.header(name).map(|value| format!("{name}: {value}"))),
        }
    }

    /// Method and address, for reports.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.url.chars().take(MOST_ADDRESS).collect::<String>())
    }

    /// The document, and the request with all digits alike: what is the same traffic.
    pub(super) fn shape(&self) -> (String, String) {
        let body = self.body.as_deref().unwrap_or_default();
        let all = format!("{} {} {} {body}", self.method, self.url, self.overrides.as_deref().unwrap_or_default());
        (self.document.clone(), all.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect())
    }

    /// The document, and the request without its query and body.
    pub(super) fn path(&self) -> (String, String) {
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        (self.document.clone(), format!("{} {path}", self.method))
    }

    pub(super) fn goes_to(&self, origin: &str) -> bool {
        origin_of(&self.url) == origin
    }

    pub(super) fn comes_from(&self, origin: &str) -> bool {
        self.origin == origin
    }

    /// Whether the address or the body contains a text, as it is or encoded.
    pub(super) fn contains(&self, text: &str) -> bool {
        let body = self.body.as_deref().unwrap_or_default();
        let plain = |given: &str| percent_encoding::percent_decode_str(given).decode_utf8_lossy().into_owned();
        let json = Value::from(text).to_string();
        let json = json.trim_matches('"');
        [body, &self.url].iter().any(|given| {
            given.contains(text) || given.contains(json) || {
                let decoded = plain(given);
                decoded.contains(text) || decoded.replace('+', " ").contains(text)
            }
        })
    }

    /// What it sends, by name and value; a body that is not understood as one value.
    pub(super) fn fields(&self) -> Vec<(String, String)> {
        let mut fields = self.fields_of_body();
        fields.extend(self.overrides.clone().map(|header| ("header".to_owned(), header)));
        fields
    }

    fn fields_of_body(&self) -> Vec<(String, String)> {
        let Some(body) = self.body.as_deref().filter(|body| !body.is_empty()) else { return Vec::new() };
        let kind = self.kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let fields = match kind.as_str() {
            "application/x-www-form-urlencoded" => pairs(body),
            "multipart/form-data" => parts(body, &self.kind),
            _ => serde_json::from_str::<Members<'_>>(body)
                .ok()
                .map(|members| members.0.into_iter().map(|(name, value)| (name, written(value))).collect()),
        };
        let fields: Vec<_> = fields.unwrap_or_else(|| vec![("body".to_owned(), body.to_owned())]);
        fields.into_iter().take(MOST_FIELDS).collect()
    }

    /// Whether it sends a form as it was shown: to its address, by its method, with its values and nothing else.
    pub(super) fn sends(&self, form: &SentForm) -> bool {
        let address = |url: &str| url.split('#').next().unwrap_or_default().to_owned();
        if !self.method.eq_ignore_ascii_case(&form.method)
            || address(&self.url) != address(&form.url)
            || self.overrides.is_some()
        {
            return false;
        }
        let Some(body) = self.body.as_deref() else {
            // Chromium gives none with files, which were approved when they were given to the page, and for an empty one.
            return form.has_files || form.fields.is_empty();
        };
        let kind = self.kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let sent = match kind.as_str() {
            "application/x-www-form-urlencoded" => pairs(body),
            "multipart/form-data" => parts(body, &self.kind),
            _ if body.is_empty() => Some(Vec::new()),
            _ => None,
        };
        let same = |a: &str, b: &str| a.replace("\r\n", "\n") == b.replace("\r\n", "\n");
        // Where the mouse was on a button that is a picture.
        let is_place = |name: &str, value: &str| {
            matches!(name.rsplit('.').next(), Some("x" | "y")) && value.parse::<i64>().is_ok()
        };
        sent.is_some_and(|sent| {
            sent.iter().all(|(name, value)| {
                is_place(name, value) || form.fields.iter().any(|(own, shown)| own == name && same(shown, value))
            })
        })
    }

    /// Whether it only reads by its own grammar: a GraphQL query.
    pub(super) fn only_reads(&self) -> bool {
        // A server may prefer a query in the address.
        let is_graphql = Url::parse(&self.url).is_ok_and(|url| {
            let path = url.path().to_ascii_lowercase();
            url.query().is_none() && path.split('/').any(|part| part == "graphql" || part == "gql")
        });
        if self.method != "POST" || !is_graphql || self.overrides.is_some() {
            return false;
        }
        let body = self.body.as_deref().unwrap_or_default();
        let value = serde_json::from_str::<Value>(body).ok();
        // Of two members with one name, a server may read the other one.
        let operations = value.as_ref().and_then(Value::as_array).map_or(1, Vec::len);
        if body.contains("\\u") || body.matches("\"query\"").count() != operations {
            return false;
        }
        match value {
            Some(Value::Array(all)) => !all.is_empty() && all.iter().all(is_query),
            Some(one) => is_query(&one),
            None => false,
        }
    }

    /// The effect that a person is asked about. `after`: the action that led to it, as part of a sentence; may be empty.
    pub(super) fn effect(&self, after: &str) -> Effect {
        let action = format!("send {}", self.line());
        let why = match after {
            "" => "a page sends it, and no action that was approved explains it".to_owned(),
            after => format!("it followed from the call of {after}, and nobody has approved it"),
        };
        let body = self.body.as_deref().unwrap_or_default();
        let bound = [self.page.as_str(), &self.method, &self.url, body];
        let effect = Effect::new(KIND, action, why, &bound).origin(&*self.origin).destination(&*self.url);
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        let address = self.url.get(..end).unwrap_or_default();
        let effect = effect.with_element("request", format!("{} {address}", self.method));
        self.fields().into_iter().fold(effect, |effect, (name, value)| effect.value(name, &value))
    }
}

fn pairs(body: &str) -> Option<Vec<(String, String)>> {
    Some(url::form_urlencoded::parse(body.as_bytes()).into_owned().collect())
}

/// The fields of a body of several parts.
fn parts(body: &str, kind: &str) -> Option<Vec<(String, String)>> {
    let boundary = kind.split("boundary=").nth(1)?.split(';').next()?.trim().trim_matches('"');
    let mut fields = Vec::new();
    for part in body.split(&format!("--{boundary}")).skip(1) {
        if part.starts_with("--") {
            break;
        }
        let part = part.strip_prefix("\r\n")?;
        let Some((head, value)) = part.split_once("\r\n\r\n") else { continue };
        let name = head.split("name=\"").nth(1)?.split('"').next()?.to_owned();
        let file = head.split("filename=\"").nth(1).and_then(|rest| rest.split('"').next());
        let name = file.map_or(name.clone(), |file| format!("{name} (file {file})"));
        fields.push((name, value.strip_suffix("\r\n").unwrap_or(value).to_owned()));
    }
    Some(fields)
}

/// A value of JSON: a text as it is, anything else as it is written.
fn written(value: &RawValue) -> String {
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned())
}

/// All members of a JSON object, also those with the same name.
struct Members<'j>(Vec<(String, &'j RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Members(all))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Whether a request of GraphQL has queries only.
fn is_query(request: &Value) -> bool {
    let Some(fields) = request.as_object() else { return false };
    let is_known = |name: &String| matches!(name.as_str(), "query" | "variables" | "operationName" | "extensions");
    let Some(text) = fields.get("query").and_then(Value::as_str) else { return false };
    fields.keys().all(is_known) && has_queries_only(text)
}

/// Whether all operations of a GraphQL document (specification, section 2) are queries.
fn has_queries_only(text: &str) -> bool {
    // Block strings have escapes of their own.
    if text.contains("\"\"\"") {
        return false;
    }
    let (mut depth, mut word, mut count) = (0_u32, String::new(), 0);
    let mut chars = text.chars().peekable();
    // The keyword before the next block at the top level; a block without one is a query.
    let mut kind: Option<String> = None;
    while let Some(c) = chars.next() {
        match c {
            '#' => {
                while chars.peek().is_some_and(|next| !matches!(next, '\n' | '\r')) {
                    chars.next();
                }
            }
            // Strings only occur in arguments: what is in them is not read, but one at the top level is not understood.
            '"' if depth == 0 => return false,
            '"' => loop {
                match chars.next() {
                    Some('\\') => {
                        chars.next();
                    }
                    Some('"') | None => break,
                    Some(_) => {}
                }
            },
            '{' | '(' | '[' => {
                if depth == 0 && c == '{' {
                    count += 1;
                    if !matches!(kind.take().as_deref(), None | Some("query" | "fragment")) {
                        return false;
                    }
                }
                depth += 1;
            }
            '}' | ')' | ']' => {
                depth = match depth.checked_sub(1) {
                    Some(depth) => depth,
                    None => return false,
                }
            }
            _ => {}
        }
        if depth == 0 && (c.is_alphanumeric() || c == '_') {
            word.push(c);
        }
        if depth == 0 && !word.is_empty() && !chars.peek().is_some_and(|next| next.is_alphanumeric() || *next == '_') {
            let known = std::mem::take(&mut word);
            kind.get_or_insert(known);
        }
    }
    depth == 0 && count > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_told_from_mutations() {
        for text in [
            "{ me { name } }",
            "query Me($id: ID = \"mutation {\") { me(id: $id) { name } }",
            "# mutation\nquery { a } fragment F on User { name }",
        ] {
            assert!(has_queries_only(text), "{text}");
        }
        for text in [
            "mutation { pay(to: \"x\") }",
            "query { a } mutation { pay }",
            "subscription { a }",
            "query A { a } #\rmutation B { pay }",
            "fragment F on User { a } mutation{b}",
            "",
            "query",
            "{ a } }",
            "\"\"\"text\"\"\" mutation { a }",
            "query { a(x: \"\"\" \" \"\"\") } mutation M { pay(x: \"\"\" \" \"\"\") }",
        ] {
            assert!(!has_queries_only(text), "{text}");
        }
    }

    #[test]
    fn bodies_are_shown_by_name_and_value() {
        let of = |kind: &str, body: &str| {
            let facts = Facts {
                page: String::new(),
                document: String::new(),
                origin: String::new(),
                method: "POST".to_owned(),
                url: "http://a.test/x".to_owned(),
                body: Some(body.into()),
                kind: kind.to_owned(),
                is_document: false,
                is_beacon: false,
                overrides: None,
            };
            facts.fields().into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("|")
        };
        assert_eq!(of("application/x-www-form-urlencoded", "a=1+2&b=%C3%A9"), "a=1 2|b=é");
        assert_eq!(of("application/json", r#"{"a":"x","b":{"c":1}}"#), r#"a=x|b={"c":1}"#);
        assert_eq!(
            of("application/json", r#"{"to":"friend","to":"evil","n":{"a":1,"a":2}}"#),
            r#"to=friend|to=evil|n={"a":1,"a":2}"#
        );
        assert_eq!(of("text/plain", "hello"), "body=hello");
        let multipart = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n";
        assert_eq!(of("multipart/form-data; boundary=B", multipart), "a=1");
    }
}
