//! Routes of network requests.

use serde_json::Value;

use super::super::super::output::Out;
use super::{list, note, table, word};

/// Summarises what a route does.
fn outcome(route: &Value) -> String {
    let mut parts = Vec::new();
    parts.extend(route["delayMs"].as_u64().map(|millis| format!("delay {millis} ms")));
    parts.extend(route["abort"].as_str().map(|reason| format!("abort ({reason})")));
    if let Some(status) = route["fulfil"]["status"].as_u64() {
        parts.push(format!("fulfil {status}, {} bytes", word(&route["fulfil"], "bodyBytes")));
    }
    let headers = list(route, "requestHeaders");
    if !headers.is_empty() {
        let names: Vec<String> = headers.iter().map(|header| word(header, "name")).collect();
        parts.push(format!("request headers {}", names.join(", ")));
    }
    parts.extend(route["times"].as_u64().map(|times| format!("{times} requests left")));
    parts.join(", ")
}

pub(in super::super) fn route_added(value: &Value, out: &Out) {
    let route = &value["route"];
    out.line(&format!("{}  {}: {}", word(route, "id"), word(route, "pattern"), outcome(route)));
}

pub(in super::super) fn routes(value: &Value, out: &Out) {
    let routes = list(value, "routes");
    if routes.is_empty() {
        return note("no routes", out);
    }
    let row = |route: &Value| {
        vec![
            word(route, "id"),
            word(route, "hits"),
            word(route, "method"),
            word(route, "resourceType"),
            word(route, "targetId"),
            outcome(route),
            word(route, "pattern"),
        ]
    };
    let rows: Vec<Vec<String>> = routes.iter().map(row).collect();
    table(&["id", "hits", "method", "type", "tab", "outcome", "pattern"], &rows, out);
}
