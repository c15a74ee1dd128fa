//! Requests of the HTTP API as JSON lines: `{"id": 7, "POST": "/act", "body": {"kind": "click", "ref": "e12"}}`.

use serde::Serialize;
use serde_json::{Map, Value};

use super::input::Line;
use cdpilot::code::Code;
use cdpilot_server::api::Method;
use cdpilot_server::server::{LocalApi, LocalRequest};

/// A request as an example.
pub(super) const EXAMPLE: &str = r#"{"id": 1, "POST": "/act", "body": {"kind": "click", "ref": "e12"}}"#;

/// A line of stdin that is not empty.
#[derive(Debug)]
pub(super) struct Request {
    /// Repeated in the answer.
    id: Option<Value>,
    /// The request, or why the line is none.
    pub(super) call: Result<LocalRequest, String>,
}

/// The output line for a [`Request`]: status and body of the HTTP answer.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    status: u16,
    body: Map<String, Value>,
}

impl Request {
    /// Parses a line. `None` for an empty one.
    pub(super) fn parse(line: Line) -> Option<Self> {
        let expected = |problem: String| format!("{problem}; expected a request, for example {EXAMPLE}");
        let read = match line {
            Line::Text(text) if text.trim().is_empty() => return None,
            Line::Text(text) => match serde_json::from_str(&text) {
                Ok(Value::Object(map)) => Ok(map),
                Ok(_) => Err(expected("the line is not a JSON object".to_owned())),
                Err(problem) => Err(expected(format!("the line is not JSON: {problem}"))),
            },
            Line::Unreadable(problem) => Err(problem.to_owned()),
        };
        Some(match read {
            Ok(mut map) => Self { id: map.remove("id"), call: request_of(map) },
            Err(problem) => Self { id: None, call: Err(problem) },
        })
    }

    /// Whether it is answered at once, without waiting for a page.
    pub(super) fn is_quick(&self) -> bool {
        self.call.as_ref().map_or(true, LocalRequest::is_quick)
    }

    pub(super) fn answer(self, api: &LocalApi) -> Answer {
        let (status, body) = self.call.map_or_else(
            |problem| {
                let fields =
                    [("ok", false.into()), ("error", problem.into()), ("code", Code::BadRequest.as_str().into())];
                (400, fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
            },
            |request| api.answer(&request),
        );
        Answer { kind: "answer", id: self.id, status, body }
    }
}

/// The request of an object: the path under its method, and the body.
fn request_of(mut map: Map<String, Value>) -> Result<LocalRequest, String> {
    let mut targets = Method::ALL.into_iter().filter_map(|method| Some((method, map.remove(method.name())?)));
    let (first, second) = (targets.next(), targets.next());
    let (method, target) = match (first, second) {
        (Some((method, Value::String(target))), None) => (method, target),
        (Some((method, _)), None) => return Err(format!("{method} must be a path, such as \"/snapshot\"")),
        (Some((one, _)), Some((other, _))) => return Err(format!("{one} and {other}: send one request per line")),
        (None, _) => {
            let known = format!("expected a request, for example {EXAMPLE}");
            return Err(match map.keys().next() {
                Some(field) => format!("unknown field `{}`; {known}", shown(field)),
                None => known,
            });
        }
    };
    let body = match map.remove("body") {
        None | Some(Value::Null) => None,
        Some(Value::Object(body)) => Some(body),
        Some(_) => return Err("body must be a JSON object".to_owned()),
    };
    if let Some(field) = map.keys().next() {
        let known = "a request has id, body and one of GET, POST, PATCH, DELETE; all other fields belong into the body, or \
                     into the query of the path";
        return Err(format!("unknown field `{}`; {known}", shown(field)));
    }
    LocalRequest::new(method, &target, body.as_ref())
}

/// The beginning of a text, to be quoted.
fn shown(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(line: &str) -> Request {
        Request::parse(Line::Text(line.to_owned())).unwrap()
    }

    #[test]
    fn objects_become_requests() {
        assert!(Request::parse(Line::Text("  \t".to_owned())).is_none());
        let read = parsed(r#"{"id":{"a":7},"POST":"/act","body":{"kind":"click","ref":"e1"}}"#);
        assert_eq!((read.id.clone(), read.is_quick()), (Some(json!({ "a": 7 })), false));
        assert_eq!(format!("{:?}", read.call), "Ok(POST /act)");
        let quick = parsed(r#"{"GET":"/dialogs?targetId=t1"}"#);
        assert!(quick.is_quick() && quick.id.is_none());
        assert_eq!(format!("{:?}", parsed(r#"{"PATCH":"/act","body":{}}"#).call), "Ok(PATCH /act)");
        assert!(parsed(EXAMPLE).call.is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, wanted) in [
            (r#"{"POST":"/act","kind":"click"}"#, "`kind`"),
            (r#"{"POST":"/act","body":[]}"#, "body"),
            (r#"{"POST":7}"#, "POST must be a path"),
            (r#"{"GET":"/tabs","POST":"/act"}"#, "one request per line"),
            (r#"{"PUT":"/act"}"#, "`PUT`"),
            (r#"{"GET":"/text?selector=a b"}"#, "percent-encode"),
            (r#"{"GET":"/tabs\r\nX: y"}"#, "percent-encode"),
            (r#"{"GET":"tabs"}"#, "path"),
            ("{}", EXAMPLE),
            ("click e12", EXAMPLE),
            ("{nonsense", "not JSON"),
            ("[1]", "not a JSON object"),
            (r#"{"cmd":"eval","frame":"top","script":"1"}"#, "`cmd`"),
        ] {
            let problem = parsed(line).call.unwrap_err();
            assert!(problem.contains(wanted), "{line}: {problem}");
        }
        assert_eq!(parsed(r#"{"id":[1],"GET":1}"#).id, Some(json!([1])), "a malformed request keeps its id");
    }
}
