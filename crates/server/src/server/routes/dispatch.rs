//! Dispatch: finds the route of a request, runs it, and builds the answer.

use std::sync::LazyLock;
use std::time::Duration;

use http::StatusCode;
use http::header::{ALLOW, CACHE_CONTROL, HeaderValue};
use serde_json::{Map, Value, json};

use super::super::ServerContext;
use super::super::error::ApiError;
use super::super::params;
use super::{Call, MAX_TIMEOUT, MIN_TIMEOUT, Reply, Route, TABLE, common_schema};
use crate::api::{CLIENT_HEADER, Method, SESSION_HEADER, TimeLimit, Vocabulary};
use crate::config::nearest;
use crate::control::Session;
use crate::http::{Answer, Body, Head, Request};
use cdpilot::code::Code;

/// Result of looking up a route.
pub(in crate::server) enum RouteMatch {
    /// The route, with the values of its path parameters.
    Route(&'static Route, Vec<String>),
    /// The path exists with other methods: the path of the route, and the methods.
    OtherMethods(&'static str, Vec<Method>),
    /// No such path; the most similar one.
    NotFound(Option<&'static str>),
}

/// Finds the route of a request.
pub(in crate::server) fn find(head: &Head) -> RouteMatch {
    let here: Vec<(&'static Route, Vec<String>)> =
        TABLE.iter().filter_map(|route| Some((route, in_path(route.spec.path, head)?))).collect();
    // A fixed path takes precedence over one with parameters.
    let fixed = here.iter().any(|(_, names)| names.is_empty());
    let here: Vec<_> = here.into_iter().filter(|(_, names)| !fixed || names.is_empty()).collect();
    let wanted = match head.method.as_str() {
        "HEAD" => Some(Method::Get),
        name => Method::parse(name),
    };
    if here.is_empty() {
        return RouteMatch::NotFound(nearest(&head.path, TABLE.iter().map(|route| route.spec.path)));
    }
    let methods = here.iter().map(|(route, _)| route.spec.method).collect();
    let path = here.first().map_or("", |(route, _)| route.spec.path);
    match here.into_iter().find(|(route, _)| Some(route.spec.method) == wanted) {
        Some((route, names)) => RouteMatch::Route(route, names),
        None => RouteMatch::OtherMethods(path, methods),
    }
}

/// The values of path parameters, if the path of a request matches a route.
fn in_path(path: &str, head: &Head) -> Option<Vec<String>> {
    if path == "/" {
        return head.segments.is_empty().then(Vec::new);
    }
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    if parts.len() != head.segments.len() {
        return None;
    }
    let mut names = Vec::new();
    for (part, segment) in parts.into_iter().zip(&head.segments) {
        match part.strip_prefix(':') {
            Some(_) if segment.is_empty() => return None,
            Some(_) => names.push(segment.clone()),
            None if part == segment => {}
            None => return None,
        }
    }
    Some(names)
}

/// The route of a request and the values of its path parameters; else the failure, and the methods that its path supports.
type Found = Result<(&'static Route, Vec<String>), (ApiError, Vec<Method>)>;

fn find_or_fail(request: &Request) -> Found {
    match find(request) {
        RouteMatch::Route(route, names) => Ok((route, names)),
        RouteMatch::OtherMethods(pattern, methods) => {
            let path = if has_secret(request) { pattern.to_owned() } else { params::shown(&request.path) };
            let allowed = names(&methods).join(", ");
            let error = format!("{path} does not support {}; supported methods: {allowed}", request.method);
            Err((ApiError::new(Code::MethodNotAllowed, error), methods))
        }
        RouteMatch::NotFound(near) => {
            let hint = near.map_or_else(|| "; ".to_owned(), |near| format!("; did you mean {near}? "));
            let path = if has_secret(request) { "with this path".to_owned() } else { params::shown(&request.path) };
            let error = format!("no route {path}{hint}GET /openapi.json lists all routes");
            Err((ApiError::new(Code::NotFound, error), Vec::new()))
        }
    }
}

/// Whether a path may contain the id of a browser, which is a secret: behind `/browsers/`, also where that is misspelt.
fn has_secret(head: &Head) -> bool {
    let is_browsers = |segment: &String| segment.to_ascii_lowercase().starts_with("browser");
    head.segments.iter().position(is_browsers).is_some_and(|at| at + 1 < head.segments.len())
}

fn names(methods: &[Method]) -> Vec<&'static str> {
    methods.iter().map(|method| method.name()).collect()
}

/// Answers a request.
pub(in crate::server) fn answer(context: &ServerContext, request: &Request) -> Answer {
    let (route, names) = match find_or_fail(request) {
        Ok(found) => found,
        Err((failure, methods)) => {
            let answer = written(context, &failure, vocabulary(request));
            let mut allowed = names(&methods);
            if methods.contains(&Method::Get) {
                allowed.push("HEAD");
            }
            return match HeaderValue::from_str(&allowed.join(", ")) {
                Ok(methods) if !allowed.is_empty() => answer.with(ALLOW, methods),
                _ => answer,
            };
        }
    };
    match outcome(context, request, route, names) {
        Ok(Reply::Other(answer)) => answer,
        Ok(Reply::Fields(mut fields)) => {
            // A saved state is for restoring.
            if route.spec.path != "/state/save" {
                cover(context, &mut fields);
            }
            Answer::json(StatusCode::OK, &fields).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
        }
        Err(failure) => written(context, &failure, vocabulary(request)),
    }
}

/// Redacts stored secrets, which no answer contains.
fn cover(context: &ServerContext, fields: &mut Map<String, Value>) {
    let secrets = context.control.secret_store().covers();
    if !secrets.is_empty() {
        secrets.cover_fields(fields);
    }
}

/// Answers a request that did not come over HTTP, with the fields of the answer.
pub(in crate::server) fn answer_locally(
    context: &ServerContext,
    request: &Request,
) -> Result<Map<String, Value>, ApiError> {
    let (route, names) = find_or_fail(request).map_err(|(failure, _)| failure)?;
    if !route.is_local() {
        let error = format!("{} {} is only available from the control server", route.spec.method, route.spec.path);
        return Err(ApiError::new(Code::NotFound, error));
    }
    match outcome(context, request, route, names)? {
        Reply::Fields(fields) => Ok(fields),
        Reply::Other(Answer { body: Body::Bytes(bytes), .. }) => serde_json::from_slice(&bytes)
            .map_err(|problem| ApiError::new(Code::Internal, format!("the answer is not a JSON object: {problem}"))),
        Reply::Other(_) => Err(ApiError::new(Code::Internal, "the answer is a stream")),
    }
}

/// Runs a request: the fields of its answer, `ok` included.
fn outcome(context: &ServerContext, request: &Request, route: &Route, names: Vec<String>) -> Result<Reply, ApiError> {
    if route.spec.for_tests && !context.has_test_routes {
        let path = route.spec.path;
        return Err(ApiError::new(
            Code::NotFound,
            format!("{path} is served only for tests, with CDPILOT_TEST_ROUTES=1"),
        ));
    }
    let mut call = Call::new(context, request, names, request.deadline(route.spec.timeout));
    match read_and_run(route, &mut call) {
        Ok(Reply::Other(answer)) => Ok(Reply::Other(answer)),
        Ok(Reply::Fields(fields)) => {
            let mut map = Map::new();
            map.insert("ok".to_owned(), true.into());
            map.extend(fields);
            if !map.contains_key("rescued") && call.was_rescued() {
                map.insert("rescued".to_owned(), true.into());
            }
            Ok(Reply::Fields(map))
        }
        Err(failure) => {
            let mut failure = failure;
            if failure.is_blocked_by_dialog() {
                let dialogs = call.dialogs();
                if let Some(dialog) = dialogs.first() {
                    failure.naming(dialog);
                }
                failure = failure.with("pending_dialogs", &dialogs);
            }
            if call.was_rescued() {
                failure = failure.with("rescued", &true);
            }
            Err(failure)
        }
    }
}

fn read_and_run(route: &Route, call: &mut Call<'_>) -> Result<Reply, ApiError> {
    let request = call.request;
    call.session = session(call.context, request)?;
    let spec = &route.spec;
    let mut fields = if spec.has_body() {
        let asked = params::query(&request.query, &QUERY_OF_BODIES[usize::from(spec.of_profile)])?;
        let mut fields = params::body(&request.body, &route.schema)?;
        if let Some(profile) = asked.get("profile") {
            match fields.insert("profile".to_owned(), profile.clone()) {
                Some(other) if other != *profile && !other.is_null() => {
                    return Err(ApiError::bad("profile differs between query and body; send it once"));
                }
                _ => {}
            }
        }
        fields
    } else {
        if !spec.fields_in_query && !request.body.is_empty() {
            return Err(ApiError::bad(format!(
                "{} takes no body; send the fields as query parameters",
                request.method
            )));
        }
        params::query(&request.query, &route.schema)?
    };
    if route.spec.of_profile {
        call.profile = text(&mut fields, "profile");
    }
    if route.spec.of_tab {
        call.target = text(&mut fields, "targetId");
    }
    if route.spec.time == TimeLimit::Common
        && let Some(time) = fields.remove("timeoutMs").filter(|time| !time.is_null())
    {
        let millis = time.as_u64().filter(|millis| *millis > 0);
        let millis = millis.ok_or_else(|| ApiError::bad("timeoutMs: expected an integer of milliseconds above 0"))?;
        let requested_timeout = Duration::from_millis(millis).clamp(MIN_TIMEOUT, MAX_TIMEOUT);
        call.requested_timeout = Some(requested_timeout);
        call.deadline = request.deadline(requested_timeout);
    }
    if route.spec.of_tab && fields.remove("rescue").is_some_and(|rescue| rescue == true) {
        call.rescue_first()?;
    }
    (route.run)(call, fields, &route.schema)
}

/// The session that a request names, else the default session.
fn session(context: &ServerContext, request: &Request) -> Result<Session, ApiError> {
    let name = request.header(SESSION_HEADER);
    if name.is_none() && request.headers.contains_key(SESSION_HEADER) {
        return Err(ApiError::bad(format!("{SESSION_HEADER} is sent twice or is not ASCII; send one session name")));
    }
    context.control.session(name).map_err(|error| {
        let failure = ApiError::from(error);
        let name = match vocabulary(request) {
            Vocabulary::Http => SESSION_HEADER,
            Vocabulary::Cli => "--session",
        };
        ApiError { error: format!("{name}: {}", failure.error), ..failure }
    })
}

/// What the query of an operation with a body may contain: nothing, or the profile.
static QUERY_OF_BODIES: LazyLock<[Value; 2]> = LazyLock::new(|| {
    let with = |properties: Value| json!({ "type": "object", "properties": properties, "additionalProperties": false });
    [with(json!({})), with(json!({ "profile": common_schema("profile") }))]
});

fn text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// The terms in which a client reads advice.
fn vocabulary(request: &Request) -> Vocabulary {
    Vocabulary::of_client(request.header(CLIENT_HEADER))
}

/// A failure as an answer.
fn written(context: &ServerContext, failure: &ApiError, vocabulary: Vocabulary) -> Answer {
    let status = StatusCode::from_u16(failure.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut body = failure.body(vocabulary);
    cover(context, &mut body);
    Answer::json(status, &body).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}
