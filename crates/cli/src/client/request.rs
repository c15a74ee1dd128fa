//! A request to the server.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Map, Value};

use cdpilot_server::api::{Operation, Spec};

/// A request for an operation.
#[derive(Debug, Clone)]
pub(in super::super) struct Request {
    pub(in super::super) operation: Spec,
    /// Percent-encoded.
    path: String,
    query: Vec<(String, String)>,
    pub(super) headers: Vec<(&'static str, String)>,
    /// Of operations with a body; empty without fields.
    pub(in super::super) body: Option<Value>,
}

impl Request {
    /// A request without fields and path parameters.
    pub(in super::super) fn of<I, A>(operation: Operation<I, A>) -> Self {
        Self::with_fields(operation.spec, &[], Map::new())
    }

    /// A request without fields, with the values of the path parameters in order.
    pub(in super::super) fn at<I, A>(operation: Operation<I, A>, path: &[&str]) -> Self {
        Self::with_fields(operation.spec, path, Map::new())
    }

    /// A request with fields; those that are `null` are left out.
    pub(in super::super) fn new<I: Serialize, A>(operation: Operation<I, A>, fields: &I) -> Self {
        Self::of(operation).and(fields)
    }

    /// A request with the values of the path parameters in order, and its fields.
    pub(in super::super) fn with_fields(operation: Spec, path: &[&str], fields: Map<String, Value>) -> Self {
        let mut values = path.iter();
        let segment = |segment: &str| match segment.strip_prefix(':') {
            Some(_) => encode(values.next().copied().unwrap_or_default()),
            None => segment.to_owned(),
        };
        let path = operation.path.split('/').map(segment).collect::<Vec<_>>().join("/");
        let body = operation.method.has_body().then(|| Value::Object(Map::new()));
        let mut request = Self { operation, path, query: Vec::new(), headers: Vec::new(), body };
        fields.into_iter().for_each(|(name, value)| request.put(name, value));
        request
    }

    /// Adds the fields of a request type; those that are `null` are left out.
    pub(in super::super) fn and(mut self, fields: &impl Serialize) -> Self {
        if let Ok(Value::Object(fields)) = serde_json::to_value(fields) {
            fields.into_iter().filter(|(_, value)| !value.is_null()).for_each(|(name, value)| self.put(name, value));
        }
        self
    }

    /// Adds a common field, if there is a value.
    pub(in super::super) fn common(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.put(name.to_owned(), value.into());
        }
        self
    }

    /// Adds the tab, if there is one.
    pub(in super::super) fn tab(self, target: Option<&str>) -> Self {
        self.common("targetId", target)
    }

    /// Adds the profile, if there is one and the operation is for a profile. It is always in the query.
    pub(in super::super) fn profile(mut self, name: Option<&str>) -> Self {
        let name = name.filter(|_| self.operation.of_profile);
        self.query.extend(name.map(|name| ("profile".to_owned(), name.to_owned())));
        self
    }

    /// A field as the operation takes it: in the body, else in the query. A `null` stays, and a switch that is off is not in a
    /// query.
    fn put(&mut self, name: String, value: Value) {
        match (&mut self.body, value) {
            (Some(Value::Object(body)), value) if self.operation.has_body() => {
                body.insert(name, value);
            }
            (_, Value::Bool(false)) => {}
            (_, Value::String(text)) => self.query.push((name, text)),
            (_, value) => self.query.push((name, value.to_string())),
        }
    }

    /// Sets the body of an operation that takes messages.
    pub(in super::super) fn message(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    /// A header.
    pub(in super::super) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// Whether it has this field in its body.
    pub(in super::super) fn has(&self, name: &str) -> bool {
        self.body.as_ref().is_some_and(|body| body.get(name).is_some())
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
    use serde_json::json;

    use cdpilot_server::api::{FramesQuery, Highlight, operations as op};

    use super::*;

    #[test]
    fn addresses_hold_whatever_is_in_them() {
        let close = Request::at(op::CLOSE_TAB, &["a/b ü?"]).profile(Some("x&y=z"));
        assert_eq!(close.address("http://h:1"), "http://h:1/tabs/a%2Fb%20%C3%BC%3F?profile=x%26y%3Dz");
        assert_eq!(Request::at(op::CLOSE_TAB, &[".."]).address(""), "/tabs/%2E%2E");
        let full = |full| Request::new(op::FRAMES, &FramesQuery { full }).tab(None).address("");
        assert_eq!((full(true), full(false)), ("/frames?full=true".to_owned(), "/frames".to_owned()));
        assert_eq!(Request::of(op::STATUS).address(""), "/");
    }

    #[test]
    fn bodies_hold_what_is_there() {
        let on = |reference: Option<&str>| {
            let fields = Highlight { reference: reference.map(str::to_owned), locator: None };
            Request::new(op::HIGHLIGHT, &fields).tab(Some("t1")).body
        };
        assert_eq!(on(Some("e1")), Some(json!({ "ref": "e1", "targetId": "t1" })));
        assert_eq!(on(None), Some(json!({ "targetId": "t1" })));
        assert_eq!(Request::of(op::TABS).body, None);
        let message = Request::of(op::MCP).common("toolsets", Some("visual")).message(json!({ "id": 1 }));
        assert_eq!((message.address(""), message.body), ("/mcp?toolsets=visual".to_owned(), Some(json!({ "id": 1 }))));
    }
}
