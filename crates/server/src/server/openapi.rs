//! `openapi.json`, generated from the table of routes and the types of requests and answers.

use std::sync::LazyLock;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::routes::{MAX_TIMEOUT, MIN_TIMEOUT, Route, TABLE, common_fields, common_schema, event_schema};
use super::status::statuses;
use crate::api::{Access, Failed, SESSION_HEADER};
use crate::tools::without_null;
use cdpilot::page::ACTIONS;

/// The document.
pub(super) static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

const WHERE: &str = "/components/schemas";

fn document() -> Value {
    let settings = || SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = WHERE.into());
    let mut request_schemas = settings().into_generator();
    let mut answer_schemas = settings().for_serialize().into_generator();
    let mut paths = Map::new();
    for route in TABLE.iter() {
        let (path, names) = templated(route);
        let path = paths.entry(path).or_insert_with(|| json!({}));
        path[route.spec.method.name().to_lowercase()] =
            operation(route, &names, &mut request_schemas, &mut answer_schemas);
    }
    let failed = answer_schemas.subschema_for::<Failed>().to_value();
    let event = event_schema(&mut answer_schemas);
    let mut schemas: Map<String, Value> = request_schemas.take_definitions(true);
    for (name, schema) in answer_schemas.take_definitions(true) {
        schemas.entry(name).or_insert(schema);
    }
    schemas.insert("Event".to_owned(), event);
    let mut responses = Map::new();
    for (status, codes) in statuses().into_iter().filter(|(status, _)| *status != 499) {
        let response = json!({
            "description": codes.join(", "),
            "content": { "application/json": { "schema": failed } },
        });
        responses.insert(format!("Failed{status}"), response);
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "cdpilot",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Control browsers: tabs, snapshots, actions, dialogs. Success is {\"ok\": true, …}, \
                            failure is {\"ok\": false, error, code, details?}.",
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": responses,
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "The content of the file `token` in the home." },
                "ticket": {
                    "type": "http",
                    "scheme": "ticket",
                    "description": "A ticket of `POST /ui/ticket`, sent by the web UI.",
                },
            },
        },
    });
    exact(&mut document);
    keep_used(&mut document);
    document
}

/// The path in OpenAPI notation, and the names of its parameters.
fn templated(route: &Route) -> (String, Vec<&'static str>) {
    let part = |part: &str| part.strip_prefix(':').map_or_else(|| part.to_owned(), |name| format!("{{{name}}}"));
    (route.spec.path.split('/').map(part).collect::<Vec<_>>().join("/"), route.spec.path_parameters().collect())
}

fn operation(
    route: &Route,
    names: &[&str],
    request_schemas: &mut SchemaGenerator,
    answer_schemas: &mut SchemaGenerator,
) -> Value {
    let mut parameters: Vec<Value> = names
        .iter()
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } }))
        .collect();
    let input = whole((route.input)(request_schemas).to_value(), request_schemas);
    let answer = (route.output)(answer_schemas).to_value();
    let mut operation = json!({ "summary": route.spec.summary, "operationId": id(route) });
    if route.spec.fields_in_query {
        parameters.extend(common_fields(&route.spec).map(parameter));
        parameters.extend(in_query(&input));
        let schema = json!({ "type": "object", "description": "A JSON-RPC 2.0 message." });
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    } else if route.spec.method.has_body() {
        if route.spec.of_profile {
            parameters.push(parameter("profile"));
        }
        operation["requestBody"] = body(route, input);
    } else {
        parameters.extend(common_fields(&route.spec).map(parameter));
        parameters.extend(in_query(&input));
    }
    if route.spec.path == "/events" {
        let schema = json!({ "type": "string" });
        let description = "The `id` of the last event received, `<start>-<n>`. An id of another log is answered with the \
                           event `reset`, followed by all retained events.";
        parameters
            .push(json!({ "name": "Last-Event-ID", "in": "header", "schema": schema, "description": description }));
    }
    if route.spec.of_profile {
        let schema = json!({ "type": "string", "minLength": 1, "maxLength": 128 });
        let description = "Name of the session, which has its own current tab, tabs and armed answers. Default: the default \
                           session.";
        parameters
            .push(json!({ "name": SESSION_HEADER, "in": "header", "schema": schema, "description": description }));
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if route.spec.access == Access::Open {
        operation["security"] = json!([]);
    }
    if route.spec.access == Access::Ticket {
        operation["security"] = json!([{ "ticket": [] }]);
    }
    operation["responses"] = if route.spec.fields_in_query { of_messages(route) } else { responses(route, &answer) };
    operation
}

/// `getTabs`, `postTabsOpen`, `deleteTabsByTargetId`.
fn id(route: &Route) -> String {
    let mut id = route.spec.method.name().to_lowercase();
    for word in route.spec.path.split(['/', '-', '.']).filter(|word| !word.is_empty()) {
        let (by, word) = word.strip_prefix(':').map_or(("", word), |name| ("By", name));
        let mut letters = word.chars();
        id.push_str(by);
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id.push_str(letters.as_str());
    }
    if route.spec.path == "/" { id + "Status" } else { id }
}

/// Resolves a reference to a schema.
fn whole(schema: Value, generator: &SchemaGenerator) -> Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    name.and_then(|name| generator.definitions().get(name)).cloned().unwrap_or(schema)
}

/// A common field as a query parameter.
fn parameter(name: &str) -> Value {
    let mut schema = common_schema(name);
    let description = schema["description"].take();
    schema.as_object_mut().map(|schema| schema.remove("description"));
    json!({ "name": name, "in": "query", "schema": schema, "description": description })
}

/// The properties of a schema as query parameters.
fn in_query(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        // Query parameters cannot be `null`.
        schema.as_object_mut().into_iter().for_each(without_null);
        if schema["type"] == "boolean" {
            // The bare name means true.
            schema.as_object_mut().map(|schema| schema.remove("type"));
            schema["anyOf"] = json!([{ "type": "boolean" }, { "const": "" }]);
        }
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        let mut parameter = json!({ "name": name, "in": "query", "schema": schema });
        parameter["required"] = required.contains(&name.as_str()).into();
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameter
    };
    properties.into_iter().flatten().map(parameter).collect()
}

fn body(route: &Route, mut schema: Value) -> Value {
    if schema.get("properties").is_none() {
        schema["properties"] = json!({});
    }
    for name in common_fields(&route.spec) {
        let mut own = common_schema(name);
        if let Some(kind) = own.get("type").cloned() {
            own["type"] = json!([kind, "null"]);
        }
        schema["properties"][name] = own;
    }
    let names = schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
    let required = names || schema.get("oneOf").is_some();
    let mut body = json!({ "required": required, "content": { "application/json": { "schema": schema } } });
    if let Some(most) = route.spec.max_body {
        body["description"] = format!("At most {} MiB.", most >> 20).into();
    }
    body
}

fn responses(route: &Route, answer: &Value) -> Value {
    let schema = match route.spec.media {
        "application/json" if route.spec.path == "/openapi.json" => json!({ "type": "object" }),
        "application/json" => {
            let rescued = "A running script of the page was terminated during the request; the document was kept.";
            json!({ "allOf": [
                answer,
                {
                    "type": "object",
                    "properties": { "ok": { "const": true }, "rescued": { "type": "boolean", "description": rescued } },
                    "required": ["ok"],
                },
            ] })
        }
        "text/event-stream" => json!({
            "type": "string",
            "description": "Server-Sent Events; the `data` of each is JSON of this schema.",
            "contentMediaType": "application/json",
            "contentSchema": { "$ref": "#/components/schemas/Event" },
        }),
        _ => json!({ "type": "string" }),
    };
    let mut content = json!({ route.spec.media: { "schema": schema } });
    if route.spec.path == "/" {
        content["text/html"] = json!({ "schema": { "type": "string" } });
    }
    let mut responses = json!({ "200": { "description": "Success.", "content": content } });
    for (status, _) in statuses().into_iter().filter(|(status, _)| may_be(route, *status)) {
        responses[status.to_string()] = json!({ "$ref": format!("#/components/responses/Failed{status}") });
    }
    responses
}

/// Responses of a JSON-RPC route.
fn of_messages(route: &Route) -> Value {
    let object = json!({ "type": "object" });
    let message = |description: &str| json!({ "description": description, "content": { "application/json": { "schema": object } } });
    let mut responses = json!({
        "200": message("A JSON-RPC response; with `Accept: text/event-stream`, possibly a stream of messages that ends with the response."),
        "202": { "description": "Notification accepted; no body." },
    });
    for status in [400, 404, 406, 500, 503] {
        responses[status.to_string()] = message("A JSON-RPC error, or an error answer as of other routes.");
    }
    responses["200"]["content"]["text/event-stream"] = json!({ "schema": { "type": "string" } });
    for (status, _) in statuses().into_iter().filter(|(status, _)| may_be(route, *status)) {
        let described = responses.get(status.to_string()).is_some();
        if !described {
            responses[status.to_string()] = json!({ "$ref": format!("#/components/responses/Failed{status}") });
        }
    }
    responses
}

/// Whether a route can return a status.
fn may_be(route: &Route, status: u16) -> bool {
    match status {
        499 => false,
        401 => route.spec.access != Access::Open,
        413 | 415 => route.spec.method.has_body(),
        422 => matches!(route.spec.path, "/act" | "/cdp"),
        502 | 504 => {
            route.spec.of_profile || route.spec.path.starts_with("/profiles") || route.spec.path == "/recordings"
        }
        _ => true,
    }
}

/// Makes schemas as strict as parsing: numbers get the bounds of their formats, and an action accepts only the fields of
/// its kind.
fn exact(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let most = match map.get("format").and_then(Value::as_str) {
                Some("uint8") => Some(u64::from(u8::MAX)),
                Some("uint16") => Some(u64::from(u16::MAX)),
                Some("uint32") => Some(u64::from(u32::MAX)),
                Some("uint64" | "uint") => Some(u64::MAX),
                _ => None,
            };
            if let Some(most) = most
                && !map.contains_key("maximum")
            {
                map.insert("maximum".to_owned(), most.into());
            }
            kinds(map);
            map.values_mut().for_each(exact);
        }
        Value::Array(all) => all.iter_mut().for_each(exact),
        _ => {}
    }
}

/// The description of a field without effect.
const NO_EFFECT: &str = "Without effect on this action.";

/// Copies the fields shared by all kinds into each kind. Those that have no effect on an action keep the values that are
/// accepted for it.
fn kinds(map: &mut Map<String, Value>) {
    let is_of_kinds = map
        .get("oneOf")
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().all(|one| one.pointer("/properties/kind").is_some()));
    if !is_of_kinds {
        return;
    }
    let Some(Value::Object(shared)) = map.remove("properties") else { return };
    map.remove("type");
    let Some(Value::Array(all)) = map.get_mut("oneOf") else { return };
    for one in all {
        one["additionalProperties"] = false.into();
        let kind = one.pointer("/properties/kind/const").and_then(Value::as_str);
        let action = ACTIONS.iter().find(|action| kind == Some(action.kind));
        let no_force = action.is_some_and(|action| !action.takes_force);
        let no_input = action.is_some_and(|action| !action.takes_input);
        if let Some(own) = one.get_mut("properties").and_then(Value::as_object_mut) {
            own.extend(shared.clone());
            if no_force {
                own.insert("force".to_owned(), json!({ "description": NO_EFFECT, "const": false }));
            }
            if no_input {
                let accepted = json!([{ "const": "trusted" }, { "type": "null" }]);
                own.insert("input".to_owned(), json!({ "description": NO_EFFECT, "anyOf": accepted }));
            }
        }
    }
}

/// Removes unused schemas.
fn keep_used(document: &mut Value) {
    loop {
        let mut used = Vec::new();
        references(document, &mut used);
        let used: Vec<String> = used.iter().filter_map(|path| path.rsplit('/').next()).map(str::to_owned).collect();
        let Some(schemas) = document.pointer_mut(WHERE).and_then(Value::as_object_mut) else { return };
        let before = schemas.len();
        schemas.retain(|name, _| used.contains(name));
        if schemas.len() == before {
            return;
        }
    }
}

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(all) => all.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// The description of `timeoutMs` states these limits.
const _: () = assert!(MIN_TIMEOUT.as_millis() == 200 && MAX_TIMEOUT.as_millis() == 120_000);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_route_is_described_and_every_reference_leads_somewhere() {
        let mut ids = HashSet::new();
        for route in TABLE.iter() {
            let operation = &DOCUMENT["paths"][templated(route).0][route.spec.method.name().to_lowercase()];
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{}", route.spec.path);
            assert!(operation["responses"]["200"].is_object(), "{}", route.spec.path);
            assert_eq!(operation["requestBody"].is_object(), route.spec.method.has_body(), "{}", route.spec.path);
        }
        let mut found = Vec::new();
        references(&DOCUMENT, &mut found);
        assert!(found.len() > 100);
        for path in found {
            assert!(DOCUMENT.pointer(path.trim_start_matches('#')).is_some(), "{path}");
        }
    }

    #[test]
    fn a_name_of_a_type_means_one_thing_in_requests_and_answers() {
        let mut request_schemas = SchemaSettings::draft2020_12().into_generator();
        let mut answer_schemas = SchemaSettings::draft2020_12().for_serialize().into_generator();
        for route in TABLE.iter() {
            let _ = ((route.input)(&mut request_schemas), (route.output)(&mut answer_schemas));
        }
        let answer_schemas = answer_schemas.take_definitions(true);
        for (name, mut schema) in request_schemas.take_definitions(true) {
            let Some(mut other) = answer_schemas.get(&name).cloned() else { continue };
            without_defaults(&mut schema);
            without_defaults(&mut other);
            assert_eq!(other, schema, "{name}");
        }
    }

    /// Removes what may differ: an answer has the fields that a request may leave out.
    fn without_defaults(schema: &mut Value) {
        match schema {
            Value::Object(map) => {
                for name in ["required", "default"] {
                    map.remove(name);
                }
                map.values_mut().for_each(without_defaults);
            }
            Value::Array(all) => all.iter_mut().for_each(without_defaults),
            _ => {}
        }
    }
}
