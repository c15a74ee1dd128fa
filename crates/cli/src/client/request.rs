//! A request to the server.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Map, Value};

use cdpilot_server::api::Method;

/// A request to one of the routes.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Request {
    pub(in super::super) method: Method,
    /// Already percent-encoded.
    path: String,
    query: Vec<(&'static str, String)>,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(in super::super) body: Option<Value>,
}

impl Request {
    fn new(method: Method, path: &str) -> Self {
        Self { method, path: path.to_owned(), query: Vec::new(), headers: Vec::new(), body: None }
    }

    pub(in super::super) fn get(path: &str) -> Self {
        Self::new(Method::Get, path)
    }

    pub(in super::super) fn delete(path: &str) -> Self {
        Self::new(Method::Delete, path)
    }

    /// A request with an empty object as body.
    pub(in super::super) fn post(path: &str) -> Self {
        Self { body: Some(Value::Object(Map::new())), ..Self::new(Method::Post, path) }
    }

    /// Adds a path segment, percent-encoded.
    pub(in super::super) fn segment(mut self, text: &str) -> Self {
        self.path.push('/');
        self.path.push_str(&encode(text));
        self
    }

    /// A field of the query, if there is a value.
    pub(in super::super) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// A header.
    pub(in super::super) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// A switch in the query, when it is on.
    pub(in super::super) fn flag(self, name: &'static str, on: bool) -> Self {
        self.query(name, on.then_some("true"))
    }

    /// A field of the body, if there is a value.
    pub(in super::super) fn field(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let (Some(Value::Object(body)), Some(value)) = (&mut self.body, value) {
            body.insert(name.to_owned(), value.into());
        }
        self
    }

    /// The fields of a request type as fields of the body, without those that are `null`.
    pub(in super::super) fn object(mut self, fields: &impl Serialize) -> Self {
        if let (Some(Value::Object(body)), Ok(Value::Object(fields))) = (&mut self.body, serde_json::to_value(fields)) {
            body.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        }
        self
    }

    /// Replaces a field that the body has.
    pub(in super::super) fn replace(mut self, name: &str, value: impl Into<Value>) -> Self {
        let field = self.body.as_mut().and_then(|body| body.get_mut(name));
        debug_assert!(field.is_some(), "no field {name}");
        if let Some(field) = field {
            *field = value.into();
        }
        self
    }

    pub(super) fn address(&self, base: &str) -> String {
        let mut address = format!("{base}{}", self.path);
        for (index, (name, value)) in self.query.iter().enumerate() {
            address.push(if index == 0 { '?' } else { '&' });
            address.push_str(name);
            address.push('=');
            address.push_str(&encode(value));
        }
        address
    }
}

/// Characters that are not percent-encoded: letters, digits and `-._~`.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode(text: &str) -> String {
    match text {
        // As they are, these segments would change the path.
        "." | ".." => text.replace('.', "%2E"),
        _ => utf8_percent_encode(text, KEPT).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_whatever_is_in_them() {
        let request = Request::delete("/tabs").segment("a/b ü?").query("profile", Some("x&y=z")).flag("full", true);
        let request = request.flag("off", false).query("none", None::<&str>);
        assert_eq!(request.address("http://h:1"), "http://h:1/tabs/a%2Fb%20%C3%BC%3F?profile=x%26y%3Dz&full=true");
        assert_eq!(Request::delete("/tabs").segment("..").address(""), "/tabs/%2E%2E");
    }

    #[test]
    fn bodies_hold_what_is_there() {
        let request = Request::post("/x").field("a", Some(1)).field("b", None::<String>);
        let request = request.object(&serde_json::json!({"c": false, "d": null}));
        assert_eq!(request.body, Some(serde_json::json!({"a": 1, "c": false})));
        assert_eq!(Request::get("/x").field("a", Some(1)).body, None);
    }
}
