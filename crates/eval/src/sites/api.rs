//! `/api/…`: events of pages, and their list.

use std::time::{SystemTime, UNIX_EPOCH};

use http::StatusCode;
use http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, HeaderValue};
use serde_json::{Map, Value, json};

use super::Shared;
use super::runs::Run;
use cdpilot::code::Code;
use cdpilot_server::http::{Answer, Request};

/// Most events in one request.
const MAX_BATCH: usize = 1000;

const HELP: &str = "Events of the pages of a run. POST /api/track {eventType, …} or a list: a page reports events. \
GET /api/events: {events, sessions, lost}, in their order. GET or POST /api/events/clear: forget them. \
GET /api/sites: the sites. POST /api/runs {seed?, secret?}: begin a run with origins of its own; GET /api/runs/ID/events; \
DELETE /api/runs/ID: forget it (these three at http://localhost only).";

fn bad(problem: impl Into<String>) -> Answer {
    Answer::failure(StatusCode::BAD_REQUEST, Code::BadRequest, problem.into())
}

/// Answers a request below `/api/`.
pub(super) fn answer(shared: &Shared, run: &Run, request: &Request) -> Answer {
    // Other pages, also those of other runs, have nothing to say here, and nothing to read.
    let origin = match request.header("origin") {
        None => None,
        Some(origin) if is_of(shared, run, origin) => HeaderValue::try_from(origin).ok(),
        Some(_) => {
            let problem = "only pages of the run itself report its events";
            return Answer::failure(StatusCode::FORBIDDEN, Code::ForbiddenOrigin, problem);
        }
    };
    let answered = match (request.method.as_str(), request.path.as_str()) {
        ("OPTIONS", _) => Answer::json(StatusCode::OK, &json!({ "ok": true }))
            .with(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("content-type")),
        ("POST", "/api/track") => track(run, &request.body),
        ("GET", "/api/events") => events(run),
        ("GET" | "POST", "/api/events/clear") => {
            run.clear();
            Answer::json(StatusCode::OK, &json!({ "ok": true }))
        }
        ("GET", "/api/sites") => {
            let sites: Vec<Value> =
                shared.sites().iter().map(|id| json!({ "id": id, "path": format!("/{id}/") })).collect();
            Answer::json(StatusCode::OK, &json!({ "ok": true, "sites": sites }))
        }
        ("GET", "/api/help") => Answer::json(StatusCode::OK, &json!({ "ok": true, "help": HELP })),
        (_, path) if path == "/api/runs" || path.starts_with("/api/runs/") => return runs(shared, run, request),
        (_, "/api/track") => method_not_allowed("POST"),
        (_, "/api/events" | "/api/sites" | "/api/help") => method_not_allowed("GET"),
        (_, "/api/events/clear") => method_not_allowed("GET, POST"),
        (_, path) => {
            let problem = format!("there is no {path}; GET /api/help lists what there is");
            Answer::failure(StatusCode::NOT_FOUND, Code::NotFound, problem)
        }
    };
    match origin {
        Some(origin) => answered.with(ACCESS_CONTROL_ALLOW_ORIGIN, origin),
        None => answered,
    }
}

/// Whether an `Origin` is one of the run.
fn is_of(shared: &Shared, run: &Run, origin: &str) -> bool {
    let places = run.places(shared.runs.port());
    origin == places.a || origin == places.b
}

fn method_not_allowed(allowed: &'static str) -> Answer {
    let problem = format!("only {allowed} is possible here");
    Answer::failure(StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, problem)
        .with(ALLOW, HeaderValue::from_static(allowed))
}

fn track(run: &Run, body: &[u8]) -> Answer {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(problem) => return bad(format!("the body is not JSON: {problem}")),
    };
    let list = match value {
        Value::Array(list) => list,
        one => vec![one],
    };
    if list.len() > MAX_BATCH {
        return bad(format!("more than {MAX_BATCH} events in one request"));
    }
    if !list.iter().all(|event| event["eventType"].is_string()) {
        return bad("an event is an object with the text eventType");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let now = u64::try_from(now).unwrap_or(u64::MAX);
    for mut event in list {
        event["received_at"] = now.into();
        if event["timestamp"].is_null() {
            event["timestamp"] = now.into();
        }
        run.add(event);
    }
    Answer::json(StatusCode::OK, &json!({ "ok": true }))
}

fn events(run: &Run) -> Answer {
    let tracked = run.tracked();
    let mut sessions = Map::new();
    for event in &tracked.events {
        let Some(id) = event["sessionId"].as_str() else { continue };
        let session = sessions.entry(id.to_owned()).or_insert_with(|| {
            json!({ "site": event["site"], "difficulty": event["difficulty"], "start_time": event["timestamp"], "events_count": 0 })
        });
        session["events_count"] = (session["events_count"].as_u64().unwrap_or_default() + 1).into();
        session["last_activity"] = event["timestamp"].clone();
    }
    let body = json!({ "ok": true, "events": tracked.events, "sessions": sessions, "lost": tracked.lost });
    Answer::json(StatusCode::OK, &body)
}

/// Runs of a runner in another process. No page may begin or end one: a page of a run would see those of others.
fn runs(shared: &Shared, run: &Run, request: &Request) -> Answer {
    if run.id() != "standing" || request.header("origin").is_some() {
        return Answer::failure(StatusCode::FORBIDDEN, Code::ForbiddenOrigin, "pages cannot begin or end runs");
    }
    let id = request.path.strip_prefix("/api/runs").unwrap_or_default().trim_start_matches('/');
    let (id, rest) = id.split_once('/').unwrap_or((id, ""));
    let known = shared.runs.get(id);
    match (request.method.as_str(), known, rest) {
        ("POST", _, "") if id.is_empty() => {
            let body: Value = if request.body.is_empty() {
                Value::Null
            } else {
                match serde_json::from_slice(&request.body) {
                    Ok(body) => body,
                    Err(problem) => return bad(format!("the body is not JSON: {problem}")),
                }
            };
            let seed = match &body["seed"] {
                Value::Null => 1,
                seed => match seed.as_u64() {
                    Some(seed) => seed,
                    None => return bad("seed is a whole number, 0 or more"),
                },
            };
            let begun = shared.runs.begin(seed);
            if let Some(secret) = body["secret"].as_str() {
                begun.look_for(secret);
            }
            let places = begun.places(shared.runs.port());
            let answer = json!({ "ok": true, "id": begun.id(), "seed": begun.seed(), "a": places.a, "b": places.b, "today": places.today.iso(), "day": places.today.0 });
            Answer::json(StatusCode::OK, &answer)
        }
        ("GET", Some(run), "events") => events(&run),
        ("DELETE", Some(run), "") => {
            shared.runs.end(&run);
            Answer::json(StatusCode::OK, &json!({ "ok": true }))
        }
        _ if !id.is_empty() => {
            Answer::failure(StatusCode::NOT_FOUND, Code::NotFound, format!("there is no run {id:?} or it has ended"))
        }
        _ => method_not_allowed("POST"),
    }
}
