//! Network requests.

use serde_json::Value;

use super::super::super::output::Out;
use super::{is, list, note, table, whole, word};

/// The failure of a request, else its status.
fn outcome(request: &Value) -> String {
    if request["download"] == true {
        return "download".to_owned();
    }
    let outcome = [word(request, "failure"), word(request, "status")].into_iter().find(|text| !text.is_empty());
    outcome.unwrap_or_else(|| "…".to_owned())
}

fn took(request: &Value) -> String {
    request["durationMs"].as_f64().map(|millis| format!("{millis:.0} ms")).unwrap_or_default()
}

pub(in super::super) fn requests(value: &Value, out: &Out) {
    let requests = list(value, "requests");
    if requests.is_empty() {
        return note("no requests", out);
    }
    if requests.iter().any(|request| request["requestHeaders"].is_array() || request["responseHeaders"].is_array()) {
        for (index, request) in requests.iter().enumerate() {
            if index > 0 {
                out.line("");
            }
            detailed(request, out);
        }
        return;
    }
    let row = |request: &Value| {
        let [kind, method, url] = ["resourceType", "method", "url"].map(|name| word(request, name));
        vec![word(request, "id"), outcome(request), method, kind, took(request), url]
    };
    let rows: Vec<Vec<String>> = requests.iter().map(row).collect();
    table(&["id", "status", "method", "type", "took", "url"], &rows, out);
}

/// Prints a request with its headers.
fn detailed(request: &Value, out: &Out) {
    let [id, method, url, kind] = ["id", "method", "url", "resourceType"].map(|name| word(request, name));
    out.line(&out.style.bold(&format!("{id} {method} {url}")));
    let more = [kind, word(request, "protocol"), word(request, "remoteAddress"), took(request)];
    let more: Vec<String> = more.into_iter().filter(|text| !text.is_empty()).collect();
    out.line(&format!("{} ({})", outcome(request), more.join(", ")));
    for (mark, name) in [(">", "requestHeaders"), ("<", "responseHeaders")] {
        for header in list(request, name) {
            out.line(&format!("{} {}: {}", out.style.dim(mark), word(header, "name"), word(header, "value")));
        }
    }
}

pub(in super::super) fn request(value: &Value, out: &Out) {
    let request = &value["request"];
    detailed(request, out);
    if let Some(timing) = request["timing"].as_object() {
        let parts: Vec<String> = ["blocked", "dns", "connect", "tls", "send", "wait", "receive"]
            .into_iter()
            .filter_map(|name| Some(format!("{name} {:.1} ms", timing.get(name)?.as_f64()?)))
            .collect();
        out.line(&format!("timing: {}", parts.join(", ")));
    }
    for (name, what) in [("postData", "request body"), ("body", "response body")] {
        let body = &request[name];
        if !body.is_object() {
            continue;
        }
        let base64 = if is(body, "base64") { ", Base64" } else { "" };
        let cut = if is(body, "truncated") { ", truncated" } else { "" };
        note(&format!("\n{what} ({} bytes{base64}{cut}):", word(body, "bytes")), out);
        whole(body["body"].as_str().unwrap_or_default(), out);
    }
    if request["noBody"].is_string() {
        note(&format!("\nno response body: {}", word(request, "noBody")), out);
    }
}

pub(in super::super) fn archive(value: &Value, out: &Out) {
    out.line(&word(value, "path"));
    let left_out = value["bodiesLeftOut"].as_u64().filter(|count| *count > 0);
    let left_out = left_out.map(|count| format!(", {count} bodies omitted")).unwrap_or_default();
    note(&format!("{} requests{left_out}", word(value, "entries")), out);
}
