//! `GET|POST /api/config/llm` and `GET /api/config`: models of the home with masked keys.

use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::fake_model::{FakeModel, ModelAnswer};

const KEY: &str = "sk-live-0123456789";

fn models() -> Value {
    json!({
        "models": {
            "main": { "model": "large-1", "base_url": "https://api.example.com/v1", "api_key": KEY, "headers": { "X-Team": "seven" } },
            "local": { "model": "small-1", "base_url": "http://127.0.0.1:9/v1", "profile": "small", "vision": false },
        },
        "default": "main",
    })
}

#[test]
fn without_models_the_answer_says_so() {
    let served = TestServer::start();
    let shown = served.api.get("/api/config/llm").ok();
    assert_eq!((&shown["models"], &shown["default"]), (&json!({}), &Value::Null));
    let shown = served.api.get("/api/config").ok();
    assert_eq!(
        (&shown["is_configured"], &shown["llm"], &shown["llm_configs"]),
        (&json!(false), &Value::Null, &json!([]))
    );
    assert_eq!((&shown["agent"]["max_steps"], &shown["agent"]["confirm"]), (&json!(100), &json!("always")));
}

#[test]
fn models_are_replaced_as_a_whole_and_keys_never_shown() {
    let served = TestServer::start();
    let file = served.home.root().join("llm.json");
    let stored = || -> Value { serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap() };
    let shown = served.api.post("/api/config/llm", &models()).ok();
    assert_eq!(
        (&shown["models"]["main"]["api_key"], &shown["models"]["local"]["api_key"]),
        (&json!("********"), &Value::Null)
    );
    assert_eq!(served.api.get("/api/config/llm").ok()["models"], shown["models"]);
    assert_eq!(stored()["models"]["main"]["api_key"], KEY);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    // What is shown can be sent back with a change; masks keep the values.
    let mut changed = json!({ "models": shown["models"], "default": "local" });
    changed["models"]["main"]["model"] = json!("large-2");
    served.api.post("/api/config/llm", &changed).ok();
    assert_eq!(
        (
            &stored()["models"]["main"]["api_key"],
            &stored()["models"]["main"]["headers"]["X-Team"],
            &stored()["default"]
        ),
        (&json!(KEY), &json!("seven"), &json!("local"))
    );
    assert_eq!(stored()["models"]["main"]["model"], "large-2");

    // A renamed model must bring its key; a missing one is removed.
    let main = changed["models"]["main"].clone();
    let renamed = json!({ "models": { "big": main } });
    let refused = served.api.post("/api/config/llm", &renamed).fails(400, "BAD_REQUEST");
    assert!(refused["error"].as_str().unwrap().contains("models.big.api_key"), "{refused}");
    assert_eq!(stored()["default"], "local", "nothing was changed");
    served.api.post("/api/config/llm", &json!({ "models": {} })).ok();
    assert_eq!(stored(), json!({ "models": {}, "default": null }));
    for text in [shown, served.api.get("/api/config").ok(), refused] {
        assert!(!text.to_string().contains(KEY) && !text.to_string().contains("seven"), "{text}");
    }
}

#[test]
fn wrong_models_are_refused_by_their_place() {
    let served = TestServer::start();
    served.api.post("/api/config/llm", &models()).ok();
    for (pointer, field, value, status_code, place) in [
        ("/models/main", "modle", json!("x"), "UNKNOWN_FIELD", "models.main.modle"),
        ("/models/main", "vision", json!("yes"), "BAD_REQUEST", "models.main.vision"),
        ("/models/main", "base_url", json!("ftp://a.test"), "BAD_REQUEST", "models.main.base_url"),
        ("", "default", json!("nobody"), "BAD_REQUEST", "default"),
        ("", "defualt", json!("main"), "UNKNOWN_FIELD", "defualt"),
        ("", "models", json!(5), "BAD_REQUEST", "models"),
    ] {
        let mut new = models();
        new.pointer_mut(pointer).unwrap()[field] = value;
        let refused = served.api.post("/api/config/llm", &new).fails(400, status_code);
        assert!(refused["error"].as_str().unwrap().starts_with(place), "{refused}");
    }
    assert_eq!(served.api.get("/api/config/llm").ok()["default"], "main");
}

#[test]
fn the_settings_list_models_with_their_alias() {
    let served = TestServer::start();
    served.api.post("/api/config/llm", &models()).ok();
    let shown = served.api.get("/api/config").ok();
    assert_eq!((&shown["is_configured"], &shown["default_llm_alias"]), (&json!(true), &json!("main")));
    let entry = |entry: &Value| {
        (entry["alias"].clone(), entry["has_api_key"].clone(), entry["is_default"].clone(), entry["api_key"].clone())
    };
    assert_eq!(entry(&shown["llm"]), (json!("main"), json!(true), json!(true), json!("********")));
    assert_eq!(entry(&shown["llm_configs"][0]), (json!("local"), json!(false), json!(false), Value::Null));
}

#[test]
fn a_faulty_file_is_named_and_can_be_replaced() {
    let served = TestServer::start();
    std::fs::write(served.home.root().join("llm.json"), "{").unwrap();
    let refused = served.api.get("/api/config/llm").fails(502, "MODEL_ERROR");
    assert!(refused["error"].as_str().unwrap().contains("llm.json is not valid JSON"), "{refused}");
    let shown = served.api.get("/api/config").ok();
    assert_eq!(
        (&shown["is_configured"], &shown["llm"], &shown["agent"]["max_steps"]),
        (&json!(false), &Value::Null, &json!(100))
    );
    assert!(shown["problem"].as_str().unwrap().contains("llm.json is not valid JSON"), "{shown}");
    served.api.post("/api/config/llm", &models()).ok();
    assert_eq!(served.api.get("/api/config/llm").ok()["default"], "main");
    assert_eq!(served.api.get("/api/config").ok()["problem"], Value::Null);
}

#[test]
fn settings_that_cannot_be_written_are_an_internal_error() {
    let served = TestServer::start();
    std::fs::create_dir(served.home.root().join("llm.json")).unwrap(); // cannot be replaced by a file
    let refused = served.api.post("/api/config/llm", &models()).fails(500, "INTERNAL");
    assert!(refused["error"].as_str().unwrap().contains("llm.json"), "{refused}");
    assert!(!refused.to_string().contains(KEY), "{refused}");
}

#[test]
fn credentials_in_a_base_url_are_masked_and_kept() {
    let served = TestServer::start();
    let url = "https://ada:url-password@api.example.com/v1?key=query-secret";
    let new = json!({ "models": { "main": { "model": "m", "base_url": url } } });
    let shown = served.api.post("/api/config/llm", &new).ok();
    assert_eq!(shown["models"]["main"]["base_url"], "https://********@api.example.com/v1?key=********");
    served.api.post("/api/config/llm", &json!({ "models": shown["models"] })).ok();
    let stored: Value =
        serde_json::from_str(&std::fs::read_to_string(served.home.root().join("llm.json")).unwrap()).unwrap();
    assert_eq!(stored["models"]["main"]["base_url"], url);
    let renamed = json!({ "models": { "other": shown["models"]["main"] } });
    let refused = served.api.post("/api/config/llm", &renamed).fails(400, "BAD_REQUEST");
    for text in [shown, refused, served.api.get("/api/config").ok()] {
        assert!(!text.to_string().contains("url-password") && !text.to_string().contains("query-secret"), "{text}");
    }
}

#[test]
fn a_key_that_was_accepted_is_not_lost_to_a_concurrent_change() {
    let served = TestServer::start();
    let file = served.home.root().join("llm.json");
    let model =
        |key: &str| json!({ "models": { "main": { "model": "m", "base_url": "http://a.test", "api_key": key } } });
    served.api.post("/api/config/llm", &model("key-0")).ok();
    for round in 1..=40 {
        let key = format!("key-{round}");
        std::thread::scope(|threads| {
            threads.spawn(|| served.api.post("/api/config/llm", &model("********")).ok());
            threads.spawn(|| served.api.post("/api/config/llm", &model(&key)).ok());
        });
        let stored: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(stored["models"]["main"]["api_key"], key);
    }
}

#[test]
fn tools_use_the_new_models_and_redact_their_keys() {
    let served = TestServer::start();
    let image = served.home.media().join("p.png");
    std::fs::write(&image, b"\x89PNG\r\n\x1a\n0000").unwrap();
    let look = || {
        let params = json!({ "name": "vision_analyze", "arguments": { "image": image, "question": "What?" } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        served.api.ask("POST", "/mcp?toolsets=vision", Some(&body), "").json()["result"]["structuredContent"].clone()
    };
    let settings = |model: &FakeModel, key: &str| json!({ "models": { "main": { "model": "m", "base_url": model.url(), "api_key": key } } });
    assert_eq!(look()["code"], "TOOL_UNAVAILABLE");
    let first = FakeModel::saying([ModelAnswer::text("the first")]);
    served.api.post("/api/config/llm", &settings(&first, "kestrel-one")).ok();
    assert_eq!(look()["analysis"], "the first");
    let second = FakeModel::saying([ModelAnswer::text("it shows kestrel-two")]);
    served.api.post("/api/config/llm", &settings(&second, "kestrel-two")).ok();
    assert_eq!(look()["analysis"], "it shows [secret]");
    assert_eq!(second.requested()[0].authorization.as_deref(), Some("Bearer kestrel-two"));
    // Also after the file was edited.
    let third = FakeModel::saying([ModelAnswer::text("it shows kestrel-three")]);
    let text = settings(&third, "kestrel-three").to_string();
    std::fs::write(served.home.root().join("llm.json"), text).unwrap();
    assert_eq!(look()["analysis"], "it shows [secret]");
    served.api.post("/api/config/llm", &json!({ "models": {} })).ok();
    assert_eq!(look()["code"], "TOOL_UNAVAILABLE");
}
