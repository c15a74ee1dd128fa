//! `openapi.json` compared with the routes.

use serde_json::{Value, json};

use crate::support::api::TestServer;

#[test]
fn every_route_of_the_contract_is_described() {
    let served = TestServer::start();
    let described = served.api.described();
    assert_eq!(described["openapi"], "3.1.0");
    let contract = "GET / GET /health GET /doctor POST /start POST /stop GET /profiles POST /profiles DELETE /profiles/{name} \
        POST /profiles/{name}/reset GET /tabs POST /tabs/open POST /tabs/focus POST /tabs/label DELETE /tabs/{targetId} \
        POST /navigate GET /snapshot POST /screenshot POST /pdf GET /console GET /errors GET /requests GET /text \
        GET /dialogs GET /frames POST /cdp POST /act POST /hooks/file-chooser POST /hooks/dialog POST /wait/download \
        GET /cookies POST /cookies DELETE /cookies GET /storage/local POST /storage/local DELETE /storage/local \
        GET /storage/session POST /storage/session DELETE /storage/session POST /emulate GET /events GET /openapi.json POST /mcp";
    let words: Vec<&str> = contract.split_whitespace().collect();
    for pair in words.chunks(2) {
        let (method, path) = (pair[0].to_lowercase(), pair[1]);
        assert!(described["paths"][path][&method].is_object(), "{method} {path}");
    }
    let names = |path: &str| -> Vec<&str> {
        let all = described["paths"][path]["get"]["parameters"].as_array().unwrap();
        all.iter().map(|parameter| parameter["name"].as_str().unwrap()).collect()
    };
    for wanted in
        "format targetId limit maxChars interactive compact depth selector frame labels urls diff fold expand \
        profile"
            .split_whitespace()
    {
        assert!(names("/snapshot").contains(&wanted), "{wanted}");
    }
}

#[test]
fn exactly_the_described_routes_exist() {
    let served = TestServer::with(|_, options| options.test_routes = true);
    for (path, operations) in served.api.described()["paths"].as_object().unwrap() {
        let path = path.replace("{name}", "nobody").replace("{targetId}", "nobody").replace("{id}", "r1");
        for method in ["GET", "POST", "DELETE", "PATCH"] {
            let known = operations.get(method.to_lowercase()).is_some();
            // Refused for unknown fields, before any effect.
            let response = match method {
                "GET" | "DELETE" => served.api.call(method, &format!("{path}?nobody=1"), None),
                _ => served.api.call(method, &path, Some(r#"{"nobody": 1}"#)),
            };
            if known && path == "/mcp" && method == "POST" {
                // Where JSON-RPC is spoken, errors are its own.
                assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32600)));
                continue;
            }
            let code = response.json()["code"].as_str().unwrap_or_default().to_owned();
            let wanted: &[&str] = if known { &["UNKNOWN_FIELD", "BAD_REQUEST"] } else { &["METHOD_NOT_ALLOWED"] };
            assert!(wanted.contains(&code.as_str()), "{method} {path}: {code}");
        }
    }
}

#[test]
fn every_action_kind_is_described_with_its_fields() {
    let served = TestServer::start();
    let schema =
        &served.api.described()["paths"]["/act"]["post"]["requestBody"]["content"]["application/json"]["schema"];
    let kinds: Vec<&str> = schema["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["properties"]["kind"]["const"].as_str())
        .collect();
    let known: Vec<&str> = cdpilot::page::ACTIONS.iter().map(|action| action.kind).collect();
    assert_eq!(kinds, known);
    let fits = |value: Value| crate::support::schema::fits(served.api.described(), schema, &value);
    assert_eq!(
        fits(json!({ "kind": "click", "ref": "e1", "targetId": "t1", "timeoutMs": 5, "profile": null })),
        Ok(())
    );
    assert_eq!(fits(json!({ "kind": "batch", "actions": [{ "kind": "wait", "text": "x" }] })), Ok(()));
    assert_eq!(fits(json!({ "kind": "fill", "fields": [{ "ref": "e1", "value": true }] })), Ok(()));
    assert!(fits(json!({ "kind": "click", "text": "x" })).is_err());
    // Accepted and refused as the route does.
    for (request, is_accepted) in [
        (json!({ "kind": "focus", "ref": "e1", "input": "trusted", "force": true }), true),
        (json!({ "kind": "focus", "ref": "e1", "input": "synthetic" }), false),
        (json!({ "kind": "resize", "width": 800, "height": 600, "force": false, "input": null }), true),
        (json!({ "kind": "resize", "width": 800, "height": 600, "force": true }), false),
        (json!({ "kind": "click", "ref": "e1", "input": "synthetic", "force": true }), true),
    ] {
        assert_eq!(fits(request.clone()).is_ok(), is_accepted, "{request}");
    }
    assert!(fits(json!({ "kind": "batch", "actions": [{ "kind": "press" }] })).is_err());
}
