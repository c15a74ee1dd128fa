//! `docs/api.md` is generated from `openapi.json`. `UPDATE_DOCS=1` writes it.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::support::api::TestServer;

const HEAD: &str = "\
# HTTP API

Generated from `GET /openapi.json` by a test. The server parses requests with the same types.

Every route except `GET /health` and `GET /ui/:file` requires `Authorization: Bearer <token>`, with the token of the home;
`POST /ui/secret` takes `Authorization: Ticket <ticket>` of the web UI instead. Bodies are `application/json`, at most 1 MiB unless the route states another
limit. Unknown fields and parameters are refused; the error names them. A success is `{\"ok\": true, …}` with the fields below, a failure
`{\"ok\": false, \"error\", \"code\", \"details\"?}` with the HTTP status of its code. With the header `X-Cdpilot-Client: cli`, `error`
advises commands and flags instead of routes and fields. `?` marks optional fields and parameters.
";

const EVENTS: &str = "
## Events

`GET /events` sends these kinds of events. `event:` is the kind, `id:` is `<start>-<seq>`, and `data:` is a JSON object with the fields
below. Texts of pages are untrusted.
";

fn resolved<'a>(described: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str().and_then(|name| described.pointer(name.trim_start_matches('#'))) {
        Some(found) => found,
        None => schema,
    }
}

/// A type in a few words.
fn kind(described: &Value, schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let found = resolved(described, schema);
        return if found["enum"].is_array() || found["oneOf"].is_array() {
            kind(described, found)
        } else {
            let name = name.rsplit('/').next().unwrap_or_default();
            format!("[{name}](#{})", name.to_lowercase())
        };
    }
    if let Some(words) = schema["enum"].as_array() {
        return words
            .iter()
            .map(|word| format!("`{}`", word.as_str().unwrap_or("null")))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(word) = schema.get("const") {
        return format!("`{}`", word.as_str().map_or_else(|| word.to_string(), str::to_owned));
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[several].as_array() {
            let is_value = |choice: &&Value| choice["type"] != "null" && choice["const"] != "";
            let response = choices.iter().filter(is_value).map(|choice| kind(described, choice));
            return response.collect::<Vec<_>>().join(", ");
        }
    }
    let plain = |name: &Value| match name.as_str() {
        Some("array") => format!("list of {}", kind(described, &schema["items"])),
        Some(name) => name.to_owned(),
        None => "anything".to_owned(),
    };
    match schema["type"].as_array() {
        Some(names) => names.iter().filter(|name| **name != "null").map(plain).collect::<Vec<_>>().join(", "),
        None => plain(&schema["type"]),
    }
}

fn one_line(text: &Value) -> String {
    text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Fields that many operations have: described once.
const COMMON: [&str; 6] = ["profile", "targetId", "X-Cdpilot-Session", "rescue", "timeoutMs", "rescued"];

/// The rows of the common fields, as one operation that has all of them describes them.
fn common_rows(described: &Value) -> Vec<(&'static str, String)> {
    let operation = &described["paths"]["/reload"]["post"];
    let mut rows = String::new();
    parameters(described, operation, &mut rows);
    fields(described, &operation["requestBody"]["content"]["application/json"]["schema"], &mut rows);
    let answer = &described["paths"]["/"]["get"]["responses"]["200"];
    fields(described, &answer["content"]["application/json"]["schema"], &mut rows);
    let row = |name: &&'static str| {
        let row = rows.lines().find(|row| row.starts_with(&format!("| `{name}`?"))).unwrap_or_else(|| panic!("{name}"));
        (*name, format!("{row}\n"))
    };
    COMMON.iter().map(row).collect()
}

/// Rows without those of common fields, which are only named.
fn without_common(rows: &str, common: &[(&'static str, String)]) -> (String, String) {
    let (mut own, mut named) = (String::new(), Vec::new());
    for row in rows.split_inclusive('\n') {
        match common.iter().find(|(_, common)| common == row) {
            Some((name, _)) => named.push(format!("`{name}`")),
            None => own += row,
        }
    }
    (own, named.join(", "))
}

/// The fields of an object, those of its parts included, as rows of a table.
fn fields(described: &Value, schema: &Value, out: &mut String) {
    let schema = resolved(described, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        fields(described, part, out);
    }
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let none = Map::new();
    for (name, field) in schema["properties"].as_object().unwrap_or(&none) {
        if name == "ok" {
            continue;
        }
        let mark = if required(name) { "" } else { "?" };
        let response = match &field["description"] {
            Value::Null => one_line(&resolved(described, field)["description"]),
            response => one_line(response),
        };
        let _ = writeln!(out, "| `{name}`{mark} | {} | {response} |", kind(described, field));
    }
}

fn table(what: &str, rows: &str, common: &[(&'static str, String)], out: &mut String) {
    let (own, named) = without_common(rows, common);
    if !own.is_empty() {
        let _ = writeln!(out, "\n| {what} | | |\n|---|---|---|\n{}", own.trim_end());
    }
    if !named.is_empty() {
        let _ = writeln!(out, "\n[Common](#common-fields) {what}: {named}.");
    }
}

fn parameters(described: &Value, operation: &Value, rows: &mut String) {
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let mark = if parameter["required"] == true { "" } else { "?" };
        let name = parameter["name"].as_str().unwrap_or_default();
        let response = one_line(&parameter["description"]);
        let _ = writeln!(rows, "| `{name}`{mark} | {} | {response} |", kind(described, &parameter["schema"]));
    }
}

fn operation(
    described: &Value,
    common: &[(&'static str, String)],
    (method, path): (&str, &str),
    operation: &Value,
    out: &mut String,
) {
    let _ = writeln!(
        out,
        "\n### {} {path}\n\n{}.",
        method.to_uppercase(),
        one_line(&operation["summary"]).trim_end_matches('.')
    );
    let mut rows = String::new();
    parameters(described, operation, &mut rows);
    table("parameter", &rows, common, out);
    let limit = one_line(&operation["requestBody"]["description"]);
    if !limit.is_empty() {
        let _ = writeln!(out, "\nBody: {}", limit.replacen("At most", "at most", 1));
    }
    let body = resolved(described, &operation["requestBody"]["content"]["application/json"]["schema"]);
    match body["oneOf"].as_array() {
        // The kinds of actions.
        Some(choices) => {
            for choice in choices {
                let choice = resolved(described, choice);
                let name = choice["properties"]["kind"]["const"].as_str().unwrap_or_default();
                let _ = writeln!(out, "\n#### `{name}`\n\n{}", one_line(&choice["description"]));
                let mut rows = String::new();
                fields(described, choice, &mut rows);
                table("field", &rows, common, out);
            }
        }
        None => {
            let mut rows = String::new();
            fields(described, body, &mut rows);
            table("field of the body", &rows, common, out);
        }
    }
    let content = &operation["responses"]["200"]["content"];
    let mut rows = String::new();
    fields(described, &content["application/json"]["schema"], &mut rows);
    table("field of the answer", &rows, common, out);
}

fn written(described: &Value) -> String {
    let mut out = HEAD.to_owned();
    let common = common_rows(described);
    out += "\n## Common fields\n\nOf many requests and answers; each route names those that it has.\n";
    let rows: String = common.iter().map(|(_, row)| row.as_str()).collect();
    table("field", &rows, &[], &mut out);
    out += "\n## Routes\n";
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, response) in methods.as_object().unwrap() {
            operation(described, &common, (method, path), response, &mut out);
        }
    }
    out += EVENTS;
    for kind in described["components"]["schemas"]["Event"]["oneOf"].as_array().unwrap() {
        let (name, mut rows) = (one_line(&kind["title"]), String::new());
        fields(described, kind, &mut rows);
        let _ = writeln!(out, "\n### {name}\n\n{}", one_line(&kind["description"]));
        table("field", &rows, &[], &mut out);
    }
    out += "\n## Shapes\n";
    for (name, schema) in described["components"]["schemas"].as_object().unwrap() {
        let mut rows = String::new();
        fields(described, schema, &mut rows);
        if !rows.is_empty() {
            let _ = writeln!(out, "\n### {name}\n\n{}", one_line(&schema["description"]));
            table("field", &rows, &[], &mut out);
        }
    }
    out
}

#[test]
fn api_md_is_up_to_date() {
    let served = TestServer::start();
    let page = written(served.api.described());
    let path = testkit::root().join("docs/api.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/api.md is out of date: UPDATE_DOCS=1 cargo test --workspace --test server -- server_docs"
    );
}
