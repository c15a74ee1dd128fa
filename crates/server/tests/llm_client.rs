//! Asking a model: what is sent, what is read, what is tried again.

use std::io::Write as _;
use std::time::Instant;

use cdpilot::sync::{Cancel, Deadline, spawn};
use cdpilot_server::config::Home;
use cdpilot_server::llm::{ChatRequest, Client, Error, Message, Model, Models, Role, ToolSpec};
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::fake_model::{FakeModel, ModelAnswer};

const KEY: &str = "sk-secret-of-a-test";

fn model(url: &str) -> Model {
    serde_json::from_value(json!({ "model": "big-one", "base_url": url, "api_key": KEY })).unwrap()
}

fn hello() -> ChatRequest {
    ChatRequest::new(vec![Message::text(Role::User, "Hello")])
}

#[test]
fn a_conversation_with_tools_and_images_is_sent_unchanged() {
    let target = FakeModel::saying([ModelAnswer::call("c1", "look", &json!({ "at": 1 })), ModelAnswer::text("Done.")]);
    let client = Client::new("one", &model(&target.url())).unwrap();
    let tools = vec![ToolSpec::new("look", "Looks.", json!({ "type": "object" }))];
    let mut ask = hello().tools(tools).max_tokens(99).temperature(0.0);
    let answer = client.ask(&ask, soon()).unwrap();
    assert_eq!((answer.text.as_str(), answer.finish.as_str()), ("", "stop"));
    let call = &answer.tool_calls[0];
    assert_eq!(
        (call.id.as_str(), call.function.name.as_str(), call.function.arguments.as_str()),
        ("c1", "look", "{\"at\":1}")
    );
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.cached_input, usage.output), (10, 4, 5));
    ask.messages.push(answer.to_message());
    ask.messages.push(Message::result(call, "seen"));
    ask.messages.push(Message::text(Role::User, "And this?").with_image("image/png", vec![1, 2, 3]));
    assert_eq!(client.ask(&ask, soon()).unwrap().text, "Done.");

    let requested = target.requested();
    assert_eq!(
        (requested[0].path.as_str(), requested[0].authorization.as_deref()),
        ("/v1/chat/completions", Some(&*format!("Bearer {KEY}")))
    );
    assert_eq!((&requested[0].body["model"], &requested[0].body["max_tokens"]), (&json!("big-one"), &json!(99)));
    assert_eq!(requested[0].body["tools"][0]["function"]["name"], "look");
    let sent = &requested[1].body["messages"];
    assert_eq!(sent[1]["tool_calls"][0]["id"], "c1");
    assert_eq!(sent[2], json!({ "role": "tool", "content": "seen", "tool_call_id": "c1" }));
    assert_eq!(sent[3]["content"][1]["image_url"]["url"], "data:image/png;base64,AQID");
}

#[test]
fn only_transient_failures_are_retried() {
    let target = FakeModel::saying([
        ModelAnswer::failing(500, "broken").header("Retry-After", "0"),
        ModelAnswer::failing(429, "{}").header("Retry-After", "0"),
        ModelAnswer::text("Yes."),
    ]);
    let client = Client::new("one", &model(&target.url())).unwrap();
    assert_eq!(client.ask(&hello(), soon()).unwrap().text, "Yes.");
    assert_eq!(target.requested().len(), 3);

    let response = json!({ "error": { "message": format!("the key {KEY} is wrong") } }).to_string();
    let target = FakeModel::saying([ModelAnswer::failing(401, &response)]);
    let client = Client::new("one", &model(&target.url())).unwrap();
    let refused = client.ask(&hello(), soon()).unwrap_err();
    assert_eq!(refused.to_string(), "127.0.0.1 refused with status 401: the key … is wrong");
    assert_eq!((refused.code(), target.requested().len()), ("MODEL_ERROR", 1));

    // A pause that is longer than there is time is not begun.
    let target = FakeModel::saying([ModelAnswer::failing(429, "later").header("Retry-After", "3600")]);
    let client = Client::new("one", &model(&target.url())).unwrap();
    let refused = client.ask(&hello(), soon()).unwrap_err();
    assert!(matches!(refused, Error::Refused { status: 429, .. }), "{refused}");

    // Nor is one that is longer than anybody should wait, however much time there is.
    let target = FakeModel::saying([ModelAnswer::failing(429, "later").header("Retry-After", "3600")]);
    let client = Client::new("one", &model(&target.url())).unwrap();
    let refused = client.ask(&hello(), Deadline::after_secs(300)).unwrap_err();
    assert!(refused.to_string().contains("3600 s") && target.requested().len() == 1, "{refused}");

    for nonsense in ["", "{}", "[1]", "{\"choices\": []}", "<html>"] {
        let target = FakeModel::saying([ModelAnswer::failing(200, nonsense)]);
        let client = Client::new("one", &model(&target.url())).unwrap();
        let wrong = client.ask(&hello(), soon()).unwrap_err();
        assert!(matches!(wrong, Error::Malformed { .. }), "{nonsense}: {wrong}");
        assert!(wrong.to_string().contains(&format!("starts with {nonsense:?}")), "{nonsense}: {wrong}");
    }
}

/// What comes of one answer, and how often was asked for it.
fn answered(say: ModelAnswer) -> (Result<cdpilot_server::llm::Answer, Error>, usize) {
    let target = FakeModel::saying([say]);
    let client = Client::new("one", &model(&target.url())).unwrap();
    let outcome = client.ask(&hello(), soon());
    (outcome, target.requested().len())
}

#[test]
fn no_part_of_an_api_key_is_shown() {
    for before in 280..302 {
        let response = json!({ "error": { "message": format!("{} {KEY} is wrong", "x".repeat(before)) } }).to_string();
        let page = ModelAnswer::failing(200, &format!("<p>{} {KEY}", "x".repeat(before - 245)));
        for say in [
            ModelAnswer::failing(401, &response),
            ModelAnswer::failing(200, &response),
            ModelAnswer::failing(403, &format!("{response} .")),
            page,
        ] {
            let (refused, _) = answered(say);
            let refused = refused.unwrap_err().to_string();
            assert!(!refused.contains("sk-"), "{refused}");
        }
    }
}

#[test]
fn an_api_key_is_not_sent_to_a_redirect_target() {
    let elsewhere = FakeModel::saying([ModelAnswer::text("Here.")]);
    for status in [301, 302, 307, 308] {
        let (refused, requested) = answered(ModelAnswer::failing(status, "").header("Location", &elsewhere.url()));
        let refused = refused.unwrap_err();
        assert!(matches!(refused, Error::Refused { status: response, .. } if response == status), "{refused}");
        assert!(refused.to_string().contains("base_url"), "{refused}");
        assert_eq!((requested, elsewhere.requested().len()), (1, 0));
    }
}

#[test]
fn answers_of_all_endpoint_types_are_parsed() {
    let body = |message: Value, usage: Value| {
        let body = json!({ "choices": [{ "message": message }], "usage": usage });
        answered(ModelAnswer::failing(200, &body.to_string())).0.unwrap()
    };
    let said = json!({ "content": [{ "type": "text", "text": "Y" }, { "type": "thinking" }, { "type": "text", "text": "es." }] });
    let answer = body(
        said,
        json!({ "prompt_tokens": null, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": null } }),
    );
    assert_eq!((answer.text.as_str(), answer.usage.unwrap().output), ("Yes.", 7));
    assert!(body(json!({ "content": null }), Value::Null).usage.is_none());
    let call = |arguments: Value| {
        let calls = json!([{ "id": "c", "function": { "name": "look", "arguments": arguments } }]);
        body(json!({ "tool_calls": calls }), Value::Null).tool_calls[0].function.arguments.clone()
    };
    assert_eq!(
        (call(json!({ "at": 1 })), call(json!("{}")), call(Value::Null)),
        ("{\"at\":1}".into(), "{}".into(), String::new())
    );

    // What a gateway refuses with 200 says why, and what is too large is not asked for again.
    let (refused, requested) =
        answered(ModelAnswer::failing(200, &json!({ "error": { "message": "no credits", "code": 402 } }).to_string()));
    assert!(refused.unwrap_err().to_string().contains("no credits") && requested == 1);
    let (refused, requested) = answered(ModelAnswer::failing(200, &"x".repeat(17 << 20)));
    assert!(matches!(refused, Err(Error::Malformed { .. })) && requested == 1, "{refused:?}");
}

#[test]
fn a_model_request_ends_at_its_deadline() {
    let target = FakeModel::saying([]);
    let client = Client::new("one", &model(&target.url())).unwrap();
    let late = client.ask(&hello(), Deadline::after_millis(300)).unwrap_err();
    assert!(matches!(&late, Error::Timeout { after, .. } if after.as_millis() >= 300), "{late:?}");
    let cancel = Cancel::new();
    let (requested, given_up) = (cancel.clone(), crossbeam_channel::bounded(1));
    let thread = spawn("asks", move || {
        let outcome = client.ask(&hello(), soon().cancelled_by(&requested));
        given_up.0.send(outcome).unwrap();
    });
    let began = Instant::now();
    while target.requested().len() < 2 && began.elapsed().as_secs() < 20 {
        cdpilot::sync::pause(std::time::Duration::from_millis(5)); // the double tells nobody
    }
    cancel.set();
    let outcome = given_up.1.recv_timeout(soon().left()).unwrap();
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    drop(thread);
}

#[test]
fn an_endless_answer_ends_at_the_deadline() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let endless = spawn("endless", move || {
        let (mut socket, _) = listener.accept().unwrap();
        let begun = socket.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let mut written = begun;
        // Until the client hangs up; it takes its time to say little.
        while written.is_ok() {
            cdpilot::sync::pause(std::time::Duration::from_millis(20));
            written = socket.write_all(b"1\r\n \r\n");
        }
    });
    let began = Instant::now();
    let late = Client::new("one", &model(&url)).unwrap().ask(&hello(), Deadline::after_millis(500)).unwrap_err();
    assert!(matches!(late, Error::Timeout { .. }) && began.elapsed().as_secs() < 10, "{late}");
    drop(endless.unwrap()); // waited for: the connection is closed
}

#[test]
fn models_are_found_by_their_alias() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let none = Models::of(&home).unwrap().find(None).unwrap_err();
    assert!(none.to_string().contains("llm.json") && none.to_string().contains("`cdpilot models add`"), "{none}");
    let write = |response: Value| std::fs::write(folder.path().join("llm.json"), response.to_string()).unwrap();
    let one = json!({ "model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "CDPILOT_TEST_NO_SUCH_KEY" });
    write(json!({ "models": { "one": one } }));
    let models = Models::of(&home).unwrap();
    assert_eq!(models.find(None).unwrap().0, "one", "the only one is meant");
    let unknown = models.find(Some("two")).unwrap_err();
    assert_eq!(unknown.to_string(), "unknown model \"two\"; llm.json contains one");
    write(json!({ "models": { "one": one }, "default": "other" }));
    let unknown = Models::of(&home).unwrap().find(None).unwrap_err();
    assert_eq!(unknown.to_string(), "the default model \"other\" does not exist; llm.json contains one");
    let bad = Client::new("one", &model("user:s3cret@h")).unwrap_err().to_string();
    assert!(bad.starts_with("llm.json: models.one.base_url is not a") && !bad.contains("s3cret"), "{bad}");
    let no_key = Client::new("one", models.find(Some("one")).unwrap().1).unwrap_err();
    assert!(matches!(&no_key, Error::NoKey { variable, .. } if variable == "CDPILOT_TEST_NO_SUCH_KEY"), "{no_key}");
    write(json!({ "models": { "one": one, "two": one }, "default": "two" }));
    assert_eq!(Models::of(&home).unwrap().find(Some("default")).unwrap().0, "two");
    write(json!({ "models": { "one": { "model": "m", "base_url": 5 } } }));
    let wrong = Models::of(&home).unwrap_err();
    assert!(matches!(&wrong, Error::Wrong { at, .. } if at == "models.one.base_url"), "{wrong}");
    assert!(!format!("{:?}", model("http://h/v1")).contains(KEY));
}

#[test]
fn every_model_field_is_read_and_unknown_ones_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let write = |response: &Value| std::fs::write(folder.path().join("llm.json"), response.to_string()).unwrap();
    let whole = json!({ "models": { "one": {
        "model": "m", "base_url": "http://127.0.0.1:1/v1", "api_key": null, "api_key_env": "KEY", "profile": "small",
        "context_window": 128_000, "vision": false, "max_output_tokens": 4096, "headers": { "X-Team": "seven" },
        "price": { "input": 1.5, "cached_input": 0.1, "output": 6, "currency": "EUR" },
    }, "two": { "model": "m", "base_url": "http://127.0.0.1:1/v1" } }, "default": "two" });
    write(&whole);
    let models = Models::of(&home).unwrap();
    let (_, one) = models.find(Some("one")).unwrap();
    assert_eq!((one.vision, one.max_output_tokens, one.headers["X-Team"].as_str()), (false, Some(4096), "seven"));
    assert_eq!(one.price.as_ref().unwrap().currency, "EUR");
    assert!(models.find(None).unwrap().1.vision, "true when it is left out");
    for (pointer, wrong, at, meant) in [
        ("/models/one", "max_output_token", "models.one.max_output_token", "did you mean max_output_tokens?"),
        ("/models/two", "visoin", "models.two.visoin", "did you mean vision?"),
        ("/models/one/price", "curency", "models.one.price.curency", "did you mean currency?"),
        ("", "defualt", "defualt", "did you mean default?"),
        ("/models/one", "zzz", "models.one.zzz", "known fields: model, base_url, api_key"),
    ] {
        let mut response = whole.clone();
        response.pointer_mut(pointer).unwrap()[wrong] = json!(1);
        write(&response);
        let error = Models::of(&home).unwrap_err().to_string();
        assert!(error.contains(&format!("invalid at {at}:")) && error.contains(meant), "{error}");
    }
    std::fs::write(folder.path().join("llm.json"), "{").unwrap();
    assert!(matches!(Models::of(&home), Err(Error::Syntax { .. })));
}

#[test]
fn credentials_of_a_base_url_are_sent_and_covered() {
    let target = FakeModel::saying([
        ModelAnswer::text("Yes."),
        ModelAnswer::failing(401, "the key query-secret of ada:url-password is wrong"),
    ]);
    let url = format!("{}?key=query-secret", target.url().replace("http://", "http://ada:url-password@"));
    let client = Client::new("one", &Model::new("m", url)).unwrap();
    let shown = format!("{client:?}");
    assert!(!shown.contains("query-secret") && !shown.contains("url-password"), "{shown}");
    client.ask(&hello(), soon()).unwrap();
    assert_eq!(target.requested()[0].path, "/v1/chat/completions?key=query-secret");
    let refused = client.ask(&hello(), soon()).unwrap_err().to_string();
    assert!(refused.ends_with("the key … of … is wrong"), "{refused}");
}

#[test]
fn headers_and_the_answer_limit_are_sent() {
    let target = FakeModel::saying([
        ModelAnswer::text("Yes."),
        ModelAnswer::text("Yes."),
        ModelAnswer::failing(401, "the team seven-of-nine is unknown"),
    ]);
    let model: Model = serde_json::from_value(json!({ "model": "m", "base_url": target.url(), "api_key": KEY,
        "headers": { "authorization": "Custom abc", "X-Team": "seven-of-nine" }, "max_output_tokens": 50 }))
    .unwrap();
    let client = Client::new("one", &model).unwrap();
    assert!(!format!("{client:?}{model:?}").contains("seven-of-nine"));
    client.ask(&hello(), soon()).unwrap();
    client.ask(&hello().max_tokens(20), soon()).unwrap();
    let refused = client.ask(&hello(), soon()).unwrap_err().to_string();
    assert!(refused.contains("the team … is unknown"), "{refused}");
    let requested = target.requested();
    assert_eq!(
        requested[0].authorization.as_deref(),
        Some("Custom abc"),
        "the header of the settings replaces the key's"
    );
    assert_eq!((&requested[0].body["max_tokens"], &requested[1].body["max_tokens"]), (&json!(50), &json!(20)));
    let bad: Model =
        serde_json::from_value(json!({ "model": "m", "base_url": target.url(), "headers": { "a b": "x" } })).unwrap();
    assert!(Client::new("one", &bad).unwrap_err().to_string().contains("headers.a b "));
}
