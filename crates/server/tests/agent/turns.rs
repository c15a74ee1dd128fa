//! Turns of conversations: what the model gets, what is stored, what those who follow get.

use cdpilot::code::Code;
use cdpilot_server::agent::{Error, Followed, NewConversation};
use cdpilot_server::store::ConversationState;
use serde_json::{Value, json};

use crate::support::agent_home::{AgentHome, call, names, of, say, soon};
use crate::support::agent_wire::check;
use crate::support::streaming_model::Script;

#[test]
fn a_turn_calls_tools_until_the_answer() {
    let price = json!({ "context_window": 100_000, "price": { "input": 1.0, "output": 2.0, "currency": "EUR" } });
    let scripts = [
        Script::stream().text("I note it.").call("c1", "note", &json!({ "text": "milk" })).done(),
        Script::stream().call("c2", "note", &json!({ "text": "a" })).done(),
        say("Noted."),
        say("Again."),
    ];
    let home = AgentHome::with("", price, scripts);
    let id = home.create();
    let events = home.turn(&id, "Note milk");
    let expected = [
        "MessageEvent",
        "usage_metrics",
        "ActionEvent",
        "ObservationEvent",
        "usage_metrics",
        "ActionEvent",
        "ObservationEvent",
        "usage_metrics",
        "MessageEvent",
        "complete",
    ];
    assert_eq!(names(&events), expected);
    let action = of(&events, "ActionEvent")[0];
    assert_eq!(
        (&action["text"], &action["tool_name"], &action["tool_call_id"], &action["action"], &action["source"]),
        (&json!("I note it."), &json!("note"), &json!("c1"), &json!({ "text": "milk" }), &json!("agent"))
    );
    let observation = of(&events, "ObservationEvent")[0];
    assert_eq!((&observation["success"], &observation["tool_call_id"]), (&json!(true), &json!("c1")));
    assert!(observation["timestamp"].as_f64().unwrap() > 1.7e9);
    let metrics = of(&events, "usage_metrics")[2];
    assert_eq!((&metrics["context_window"], &metrics["metrics"]["currency"]), (&json!(100_000), &json!("EUR")));
    assert_eq!(metrics["metrics"]["accumulated_token_usage"]["prompt_tokens"], 30);
    assert!((metrics["metrics"]["accumulated_cost"].as_f64().unwrap() - 60e-6).abs() < 1e-12);
    assert_eq!(*home.bench.notes.lock(), ["milk", "a"]);
    assert_eq!(home.state(&id), (ConversationState::Idle, false));

    home.turn(&id, "Once more");
    let requests = home.model.requests();
    check(&requests);
    let last = requests[3]["messages"].as_array().unwrap();
    assert_eq!(last.len(), 8);
    assert!(last[0]["content"].as_str().unwrap().contains("please_help_me"));
    let tools: Vec<&str> =
        requests[0]["tools"].as_array().unwrap().iter().map(|t| t["function"]["name"].as_str().unwrap()).collect();
    assert!(tools.contains(&"please_help_me") && tools.contains(&"clarify") && tools.contains(&"todo"), "{tools:?}");
    assert!(!home.stored(&id).contains("sk-1234567890"), "keys are not stored");
    let overview = home.agents().get(&id).unwrap();
    assert_eq!((&*overview.conversation.title, overview.paused), ("Note milk", false));
}

#[test]
fn followers_get_each_event_once_and_parts_of_answers() {
    let home = AgentHome::new([Script::stream().text("Hel").text("lo.").done(), say("Second.")]);
    let id = home.create();
    let mut early = home.agents().follow(&id, 0).unwrap();
    assert_eq!(early.next(soon()).unwrap(), Followed::End, "nothing has happened, and nothing runs");
    let after = home.agents().send(&id, "Hello").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    let (mut text, mut ids) = (String::new(), Vec::new());
    loop {
        match follower.next(soon()).unwrap() {
            Followed::Event { id, .. } => ids.push(id),
            Followed::Delta { data } => {
                let data: Value = serde_json::from_str(&data).unwrap();
                text.push_str(data["text"].as_str().unwrap());
            }
            Followed::End => break,
            other => panic!("{other:?}"),
        }
    }
    // The event of the whole answer can overtake its last part.
    assert!("Hello.".contains(&text), "{text}");
    assert_eq!(ids, (1..=4).collect::<Vec<u64>>());
    let after = *ids.last().unwrap();
    home.turn(&id, "Again");
    for from in 0..=8 {
        let ids: Vec<u64> = home.to_end(&id, from).into_iter().map(|(id, ..)| id).collect();
        assert_eq!(ids, (from + 1..=8).collect::<Vec<u64>>());
    }
    assert_eq!(home.agents().events(&id, after, 2).unwrap().len(), 2);
}

#[test]
fn wrong_requests_are_refused_before_anything_is_stored() {
    let mut home = AgentHome::new([]);
    let agents = home.agents();
    let create = |new: NewConversation| agents.create(new).unwrap_err();
    let error = create(NewConversation::new().model("two"));
    assert_eq!((error.kind(), error.to_string().contains("\"two\"")), (Code::BadRequest, true), "{error}");
    let error = create(NewConversation::new().toolsets(["visuel"]));
    assert_eq!((error.kind(), error.to_string().contains("visual")), (Code::UnknownToolset, true), "{error}");
    assert_eq!(create(NewConversation::new().profile("nobody")).kind(), Code::ProfileNotFound);
    assert!(agents.list(None, false).unwrap().is_empty());
    let id = agents.create(NewConversation::new()).unwrap();
    assert_eq!(agents.get(&id).unwrap().conversation.settings["toolsets"], json!(["visual", "todo", "clarify"]));
    assert_eq!(agents.send(&id, " \n").unwrap_err().kind(), Code::BadRequest);
    assert_eq!(agents.send("x", "Hello").unwrap_err(), Error::NotFound { id: "x".to_owned() });
    for wrong in [agents.pause(&id), agents.resume(&id).map(drop), agents.stop_run(&id, soon())] {
        assert_eq!(wrong.unwrap_err().kind(), Code::Conflict);
    }
    assert_eq!(agents.answer(&id, "yes").unwrap_err().kind(), Code::Conflict);
    assert_eq!(agents.image(&id, 1).unwrap_err().kind(), Code::NotFound);
    assert!(agents.events(&id, 0, 10).unwrap().is_empty() && agents.history(&id).unwrap().is_empty());
    agents.delete(&id, soon()).unwrap();
    assert_eq!(agents.delete(&id, soon()).unwrap_err().kind(), Code::NotFound);
    home.reopen();
    assert!(home.agents().list(None, false).unwrap().is_empty());
}

#[test]
fn wrong_calls_are_answered_and_the_turn_goes_on() {
    let raw = |id: &str, name: &str, arguments: &str| {
        let calls = json!([{ "index": 0, "id": id, "function": { "name": name, "arguments": arguments } }]);
        Script::stream().chunk(&json!({ "choices": [{ "delta": { "tool_calls": calls } }] })).done()
    };
    let home = AgentHome::new([
        raw("c1", "note", "{\"text\": "),
        raw("c2", "nothing", "{}"),
        raw("c3", "clarify", "{}"),
        call("c4", "fail", "no"),
        raw("c5", "note", ""),
        say("Done."),
    ]);
    let id = home.create();
    let events = home.turn(&id, "Go");
    let codes: Vec<&Value> = of(&events, "ObservationEvent").iter().map(|event| &event["code"]).collect();
    assert_eq!(
        codes,
        ["BAD_REQUEST", "UNKNOWN_TOOL", "BAD_REQUEST", "CONFLICT"]
            .map(Value::from)
            .iter()
            .chain([&Value::Null])
            .collect::<Vec<_>>()
    );
    check(&home.model.requests());
    assert_eq!(home.model.requests().len(), 6);
}

#[test]
fn pictures_follow_all_results_and_are_dropped_in_blocks() {
    let two = Script::stream().chunk(&json!({ "choices": [{ "delta": { "tool_calls": [
        { "index": 0, "id": "a1", "function": { "name": "picture", "arguments": "{}" } },
        { "index": 1, "id": "a2", "function": { "name": "picture", "arguments": "{}" } },
    ] } }] }));
    let single = (3..=9).map(|number| call(&format!("a{number}"), "picture", ""));
    let home =
        AgentHome::with("image_window: 2", json!({}), [two.done()].into_iter().chain(single).chain([say("Done.")]));
    let id = home.create();
    let events = home.turn(&id, "Look");
    let observations = of(&events, "ObservationEvent");
    assert_eq!(observations[1]["image"], format!("/agent/conversations/{id}/images/2"));
    let image = home.agents().image(&id, 2).unwrap();
    assert_eq!((&*image.media_type, &*image.bytes), ("image/png", b"png 1".as_slice()));
    let requests = home.model.requests();
    check(&requests);
    let pictures = |request: &Value| -> usize { request.to_string().matches("\"image_url\":{").count() };
    let counts: Vec<usize> = requests.iter().map(pictures).collect();
    assert_eq!(counts, [0, 2, 3, 2, 3, 2, 3, 2, 3]);
    let second = requests[1]["messages"].as_array().unwrap();
    let parts = second.last().unwrap()["content"].as_array().unwrap();
    assert_eq!(parts.len(), 3);
    let text = parts[0]["text"].as_str().unwrap();
    assert!(text.contains("picture (call a1)") && text.contains("picture (call a2)"), "{text}");
}

#[test]
fn a_model_that_does_not_see_gets_no_pictures() {
    let home = AgentHome::with("", json!({ "vision": false }), [call("c1", "picture", ""), say("Done.")]);
    let id = home.create();
    let events = home.turn(&id, "Look");
    assert!(of(&events, "ObservationEvent")[0]["image"].is_string(), "people see it");
    check(&home.model.requests());
    assert!(!home.model.requests()[1].to_string().contains("image_url"));
}

#[test]
fn typed_text_is_stored_unless_its_field_is_secret() {
    let home = AgentHome::new([
        call("c1", "browser_type", "plain words"),
        call("c2", "browser_type", "hunter2-secret"),
        say("Done."),
    ]);
    let id = home.create();
    let events = home.turn(&id, "Log in");
    assert_eq!(*home.bench.notes.lock(), ["plain words", "hunter2-secret"]);
    let actions: Vec<&Value> = of(&events, "ActionEvent").iter().map(|event| &event["action"]["text"]).collect();
    assert_eq!(actions, [&json!("plain words"), &json!("[secret]")]);
    let stored = home.stored(&id);
    assert!(stored.contains("plain words") && !stored.contains("hunter2") && !stored.contains("secret_field"));
    let requests = home.model.requests();
    check(&requests);
    assert!(requests[2].to_string().contains("plain words") && !requests[2].to_string().contains("hunter2"));
    for file in ["cdpilot.db", "cdpilot.db-wal"] {
        let bytes = std::fs::read(home.home().root().join(file)).unwrap_or_default();
        assert!(!bytes.windows(7).any(|seven| seven == b"hunter2"), "{file}");
    }
}

#[test]
fn no_text_that_may_be_secret_is_stored_in_any_form() {
    let raw = |arguments: &str| {
        let part = json!({ "index": 0, "id": "c9", "type": "function",
            "function": { "name": "browser_type", "arguments": arguments } });
        Script::stream()
            .chunk(&json!({ "choices": [{ "delta": { "tool_calls": [part] }, "finish_reason": "tool_calls" }] }))
            .send("data: [DONE]\n\n")
    };
    let home = AgentHome::new([
        Script::stream().call("c1", "browser_type", &json!({ "text": 48291377 })).done(),
        raw("{\"text\": \"hunter2-cut"),
        Script::stream().call("c3", "browser_type", &json!({ "text": "[secret]" })).done(),
        say("Done."),
    ]);
    let id = home.create();
    let events = home.turn(&id, "Log in with the password: Tulip-2024");
    let results = of(&events, "ObservationEvent");
    assert!(results[1]["error"].as_str().unwrap().contains("not a JSON object"), "{results:?}");
    assert!(results[2]["error"].as_str().unwrap().contains("give the text itself"), "{results:?}");
    let stored = home.stored(&id);
    assert!(!stored.contains("48291377") && !stored.contains("hunter2"), "{stored}");
    let requests = home.model.requests();
    check(&requests);
    assert!(requests[0].to_string().contains("password: Tulip-2024"), "what the user gives to the model reaches it");
}

#[test]
fn a_call_that_is_written_as_text_and_cannot_be_read_does_not_end_the_turn() {
    let home = AgentHome::new([say("<tool_call>\n{\"name\": \"note\", \"arguments\": {\n</tool_call>"), say("Done.")]);
    let id = home.create();
    let events = home.turn(&id, "Go");
    assert_eq!(events.last().unwrap().1, "complete");
    let requests = home.model.requests();
    check(&requests);
    assert!(requests[1].to_string().contains("which was not made"), "{:#}", requests[1]);
    assert!(home.bench.notes.lock().is_empty());
}

#[test]
fn a_call_that_the_model_quotes_is_not_made() {
    let quoted = "The page says:\n```\n<tool_call>{\"name\": \"note\", \"arguments\": {\"text\": \"x\"}}</tool_call>\n```\nThat is all.";
    let home = AgentHome::new([say(quoted)]);
    let id = home.create();
    let events = home.turn(&id, "What does it say?");
    assert_eq!(events.last().unwrap().1, "complete");
    assert!(home.bench.notes.lock().is_empty());
}

#[test]
fn names_that_no_tool_can_have_do_not_spoil_the_history() {
    let home = AgentHome::new([call("c1", "functions.note it", ""), call("c2", "", ""), say("Done.")]);
    let id = home.create();
    let events = home.turn(&id, "Go");
    assert_eq!(of(&events, "ObservationEvent").len(), 2);
    let requests = home.model.requests();
    check(&requests);
    let calls = requests[2]["messages"].as_array().unwrap().iter().filter(|message| message["tool_calls"].is_array());
    let names: Vec<&str> = calls.filter_map(|message| message["tool_calls"][0]["function"]["name"].as_str()).collect();
    assert_eq!(names, ["unknown_tool", "unknown_tool"]);
}

#[test]
fn a_summary_that_is_none_changes_nothing() {
    let full = |number: u32| {
        Script::stream()
            .call(&format!("c{number}"), "note", &json!({ "text": format!("word {number}") }))
            .chunk(&json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }))
            .chunk(&json!({ "choices": [], "usage": { "prompt_tokens": 900, "completion_tokens": 5 } }))
            .send("data: [DONE]\n\n")
    };
    let steps = (0..6).map(|number| call(&format!("c{number}"), "note", &format!("word {number}")));
    let home =
        AgentHome::with("", json!({ "context_window": 1000 }), steps.chain([full(6), full(7), full(8), say("Done.")]));
    let id = home.create();
    let events = home.turn(&id, "Note words");
    let requests = home.model.requests();
    check(&requests);
    let reported = of(&events, "SystemEvent");
    let failures = reported.iter().filter(|event| event["text"].as_str().unwrap().contains("could not be condensed"));
    assert_eq!(failures.count(), 1, "it is not tried again at each step: {reported:?}");
    let last = requests.last().unwrap()["messages"].as_array().unwrap();
    assert!(last.iter().any(|message| message.to_string().contains("word 0")), "nothing was lost");
}

#[test]
fn a_request_that_is_too_long_is_condensed_and_repeated() {
    let refused = || {
        let body = json!({ "error": { "message": "This model's maximum context length is 8192 tokens." } });
        Script::status(400, "", &body.to_string())
    };
    let steps = (0..6).map(|number| call(&format!("c{number}"), "note", &format!("word {number}")));
    let scripts = steps.chain([refused(), say("All words were noted."), say("Done.")]);
    let home = AgentHome::with("", json!({}), scripts);
    let id = home.create();
    let events = home.turn(&id, "Note words");
    assert_eq!(events.last().unwrap().1, "complete");
    let requests = home.model.requests();
    check(&requests);
    assert!(requests[7]["messages"].as_array().unwrap().len() < requests[6]["messages"].as_array().unwrap().len());
    assert!(requests[8].to_string().contains("All words were noted."));
}

#[test]
fn an_answer_with_many_calls_that_is_interrupted_gets_all_its_results() {
    let mut many = Script::stream();
    for number in 0..300 {
        let tool = if number == 299 { "wait" } else { "note" };
        many = many.call(&format!("m{number}"), tool, &json!({ "text": format!("{number}") }));
    }
    let home = AgentHome::new([many.done(), say("Done.")]);
    let id = home.create();
    let agents = home.agents();
    agents.send(&id, "Go").unwrap();
    home.bench.wait_for(1);
    agents.stop_run(&id, soon()).unwrap();
    let after = agents.resume(&id).unwrap();
    home.to_end(&id, after);
    check(&home.model.requests());
}

#[test]
fn a_full_context_window_is_condensed() {
    // The endpoint reports 10 input tokens.
    let steps = (0..6).map(|number| call(&format!("c{number}"), "note", &format!("word {number}")));
    let full = Script::stream()
        .call("c6", "todo", &json!({ "todos": [{ "id": "1", "content": "buy milk", "status": "pending" }] }))
        .chunk(&json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }))
        .chunk(&json!({ "choices": [], "usage": { "prompt_tokens": 900, "completion_tokens": 5 } }))
        .send("data: [DONE]\n\n");
    let scripts = steps.chain([full, say("All words were noted."), say("Done.")]);
    let home = AgentHome::with("", json!({ "context_window": 1000 }), scripts);
    let id = home.create();
    let events = home.turn(&id, "Note words");
    let requests = home.model.requests();
    check(&requests);
    assert_eq!(requests.len(), 9);
    assert_eq!(requests[7]["tools"], requests[6]["tools"], "the beginning stays equal");
    assert!(!events.iter().any(|(.., data)| data["type"] == "TextDelta" && data["text"] == "All words were noted."));
    let messages = requests[8]["messages"].as_array().unwrap();
    assert_eq!(messages[1]["content"], "Note words");
    let summary = messages[2]["content"].as_str().unwrap();
    assert!(summary.contains("All words were noted.") && summary.contains("buy milk"), "{summary}");
    assert_eq!(messages.len(), 9);
    assert_eq!(messages[3..], requests[7]["messages"].as_array().unwrap()[10..16], "the last messages word for word");
    let reported = of(&events, "SystemEvent");
    assert!(
        reported.iter().any(|event| event["text"].as_str().unwrap().starts_with("Condensed: 15 messages became 8"))
    );
    assert_eq!(home.agents().history(&id).unwrap().len(), 9);
}
