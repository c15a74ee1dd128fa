//! How runs end and go on: questions, stops, pauses, limits, panics, restarts.

use std::time::Instant;

use cdpilot::code::Code;
use cdpilot_server::llm::{ChatRequest, Client, Message, Model, Patience, Role};
use cdpilot_server::store::ConversationState;
use serde_json::{Value, json};

use crate::support::agent_home::{AgentHome, Event, call, names, of, say, soon};
use crate::support::agent_wire::check;
use crate::support::leaks::{Baseline, alone};
use crate::support::streaming_model::{Script, StreamingModel};

use ConversationState::{Active, Error, Idle, Waiting};

fn last(events: &[Event]) -> (&str, &Value) {
    let (_, name, data) = events.last().unwrap();
    (name, data)
}

/// Contents of the results that the model got last.
fn results(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap()).collect()
}

#[test]
fn a_question_is_answered_after_a_restart() {
    let asking = Script::stream().chunk(&json!({ "choices": [{ "delta": { "tool_calls": [
        { "index": 0, "id": "c1", "function": { "name": "picture", "arguments": "{}" } },
        { "index": 1, "id": "c2", "function": { "name": "please_help_me", "arguments": "{\"message\": \"Solve the CAPTCHA\"}" } },
        { "index": 2, "id": "c3", "function": { "name": "note", "arguments": "{}" } },
    ] } }] }));
    let mut home = AgentHome::new([asking.done(), say("Done.")]);
    let id = home.create();
    let after = home.agents().send(&id, "Log in").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    let (_, _, request) = home.until(&mut follower, |name, _| name == "help_request");
    assert_eq!((&request["kind"], &request["message"]), (&json!("help"), &json!("Solve the CAPTCHA")));
    assert_eq!(request["tool_call_id"], "c2");
    let soon_over = cdpilot::sync::Deadline::after_millis(50);
    assert_eq!(follower.next(soon_over).unwrap(), cdpilot_server::agent::Followed::Nothing, "it waits");
    drop(follower);
    home.reopen();
    assert_eq!(home.state(&id), (Waiting, true));
    let question = home.agents().get(&id).unwrap().question.unwrap();
    assert_eq!((&*question.call_id, &question.body["message"]), ("c2", &json!("Solve the CAPTCHA")));
    assert_eq!(home.agents().send(&id, "Hello").unwrap_err().kind(), Code::Conflict);
    let after = home.agents().answer(&id, "It is solved").unwrap();
    let events = home.to_end(&id, after);
    assert_eq!(last(&events).0, "complete");
    assert!(home.bench.notes.lock().is_empty());
    let requests = home.model.requests();
    check(&requests);
    let results = results(&requests[1]);
    assert!(results[1].contains("not started") && results[2].contains("It is solved"), "{results:?}");
    assert!(requests[1].to_string().contains("image_url"), "the picture before the question is shown");
    assert_eq!(home.state(&id), (Idle, false));
}

#[test]
fn an_answer_may_be_a_choice_and_a_question_can_be_withdrawn() {
    let ask = |id: &str| {
        Script::stream().call(id, "clarify", &json!({ "question": "Which?", "choices": ["red", "blue"] })).done()
    };
    let home = AgentHome::new([ask("c1"), ask("c2"), say("Done.")]);
    let id = home.create();
    let after = home.agents().send(&id, "Paint").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    let (_, _, request) = home.until(&mut follower, |name, _| name == "help_request");
    assert_eq!((&request["kind"], &request["choices"]), (&json!("clarify"), &json!(["red", "blue"])));
    home.agents().answer(&id, "blue").unwrap();
    home.until(&mut follower, |name, _| name == "help_request");
    home.agents().stop_run(&id, soon()).unwrap();
    let (_, _, end) = home.until(&mut follower, |name, _| name == "complete");
    assert_eq!(end["stopped"], true);
    assert_eq!(home.state(&id), (Idle, true));
    let after = home.agents().resume(&id).unwrap();
    home.to_end(&id, after);
    check(&home.model.requests());
    let request = &home.model.requests()[2];
    let results = results(request);
    assert!(results[0].contains("\"choice\":2") && results[1].contains("withdrawn"), "{results:?}");
}

/// Stops a run once it is where it should be; it leaves an idle conversation.
fn stop(home: &AgentHome, id: &str, after: u64) -> Vec<Event> {
    let began = Instant::now();
    home.agents().stop_run(id, soon()).unwrap();
    assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
    assert_eq!(home.state(id), (Idle, true));
    let events = home.to_end(id, after);
    let (name, data) = last(&events);
    assert_eq!((name, &data["stopped"]), ("complete", &json!(true)));
    events
}

#[test]
fn a_run_stops_within_a_second_wherever_it_is() {
    let scripts = [
        Script::stream().text("Let me").hang(),
        call("c1", "wait", ""),
        Script::status(503, "", "{\"error\": {\"message\": \"busy\"}}"),
        say("Done."),
    ];
    let home = AgentHome::new(scripts);
    let id = home.create();
    // While the model answers.
    let after = home.agents().send(&id, "Go").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    while !matches!(follower.next(soon()).unwrap(), cdpilot_server::agent::Followed::Delta { .. }) {}
    assert_eq!(home.agents().send(&id, "And?").unwrap_err().kind(), Code::Conflict);
    assert_eq!(home.state(&id), (Active, true));
    stop(&home, &id, after);
    // While a tool works.
    let after = home.agents().resume(&id).unwrap();
    home.bench.wait_for(1);
    let events = stop(&home, &id, after);
    let observation = of(&events, "ObservationEvent")[0];
    assert!(observation["error"].as_str().unwrap().contains("not known whether it was done"), "{observation}");
    // While it pauses before the next attempt.
    let after = home.agents().send(&id, "Go on").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    let (_, _, event) = home.until(&mut follower, |_, data| data["type"] == "SystemEvent");
    assert!(event["text"].as_str().unwrap().contains("repeated in 8 s"), "{event}");
    stop(&home, &id, after);
    let after = home.agents().resume(&id).unwrap();
    assert_eq!(last(&home.to_end(&id, after)).0, "complete");
    assert_eq!(home.state(&id), (Idle, false));
    check(&home.model.requests());
}

#[test]
fn a_run_pauses_between_calls() {
    let two = Script::stream().chunk(&json!({ "choices": [{ "delta": { "tool_calls": [
        { "index": 0, "id": "c1", "function": { "name": "wait", "arguments": "{}" } },
        { "index": 1, "id": "c2", "function": { "name": "note", "arguments": "{\"text\": \"x\"}" } },
    ] } }] }));
    let home = AgentHome::new([two.done(), say("Done.")]);
    let id = home.create();
    let after = home.agents().send(&id, "Go").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    home.bench.wait_for(1);
    home.agents().pause(&id).unwrap();
    assert_eq!(home.agents().pause(&id).unwrap_err().kind(), Code::Conflict);
    home.bench.open_gate();
    home.until(&mut follower, |_, data| data["type"] == "ObservationEvent");
    let overview = home.agents().get(&id).unwrap();
    assert_eq!((overview.conversation.state, overview.paused), (Active, true));
    assert!(home.bench.notes.lock().is_empty());
    home.agents().resume(&id).unwrap();
    home.until(&mut follower, |name, _| name == "complete");
    assert_eq!(*home.bench.notes.lock(), ["x"]);
    check(&home.model.requests());
}

#[test]
fn the_number_of_steps_is_limited() {
    let steps = (0..3).map(|number| call(&format!("c{number}"), "note", &number.to_string()));
    let home = AgentHome::with("max_steps: 2", json!({}), steps.chain([say("Done.")]));
    let id = home.create();
    let events = home.turn(&id, "Go");
    let (name, data) = last(&events);
    assert!(name == "error" && data["error"].as_str().unwrap().contains("agent.max_steps (2)"), "{data}");
    assert_eq!(home.state(&id), (Idle, true));
    let after = home.agents().resume(&id).unwrap();
    assert_eq!(last(&home.to_end(&id, after)).0, "complete");
    check(&home.model.requests());
}

#[test]
fn a_model_without_progress_is_warned_and_then_helped() {
    let same = (0..8).map(|number| call(&format!("c{number}"), "note", "x"));
    let home = AgentHome::new(same.chain([say("Done.")]));
    let id = home.create();
    let after = home.agents().send(&id, "Go").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    let (_, _, event) = home.until(&mut follower, |_, data| data["type"] == "SystemEvent");
    assert!(event["text"].as_str().unwrap().contains("The model was warned"), "{event}");
    let (_, _, request) = home.until(&mut follower, |name, _| name == "help_request");
    assert!(request["message"].as_str().unwrap().contains("after a warning"), "{request}");
    let requests = home.model.requests();
    assert_eq!(requests.len(), 8);
    let warning = requests[4]["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    assert!(warning.as_str().unwrap().contains("try another way"), "{warning}");
    let after = home.agents().answer(&id, "Use the menu").unwrap();
    home.to_end(&id, after);
    check(&home.model.requests());
    let last = &home.model.requests()[8]["messages"];
    assert_eq!(last.as_array().unwrap().last().unwrap()["content"], "Use the menu");
}

#[test]
fn an_answer_that_was_cut_off_is_no_end() {
    let cut = Script::stream()
        .text("I think")
        .chunk(&json!({ "choices": [{ "delta": {}, "finish_reason": "length" }] }))
        .send("data: [DONE]\n\n");
    let home = AgentHome::new([cut, say("Done.")]);
    let id = home.create();
    let events = home.turn(&id, "Go");
    assert_eq!(last(&events).0, "complete");
    assert_eq!(of(&events, "usage_metrics")[1]["metrics"]["accumulated_cost"], Value::Null);
    check(&home.model.requests());
}

#[test]
fn a_panic_ends_one_conversation_alone() {
    let home = AgentHome::new([call("c1", "boom", ""), say("Done.")]);
    let (id, other) = (home.create(), home.create());
    let events = home.turn(&id, "Go");
    let (name, data) = last(&events);
    assert_eq!((name, &data["code"]), ("error", &json!("INTERNAL")));
    assert_eq!(home.state(&id), (Error, true));
    assert_eq!(home.state(&other), (Idle, false));
    let after = home.agents().resume(&id).unwrap();
    assert_eq!(last(&home.to_end(&id, after)).0, "complete");
    assert!(results(&home.model.requests()[1])[0].contains("not known"));
    check(&home.model.requests());
}

#[test]
fn a_model_that_fails_is_reported() {
    let home = AgentHome::new([Script::status(401, "", "{\"error\": {\"message\": \"wrong key\"}}"), say("Done.")]);
    let id = home.create();
    let events = home.turn(&id, "Go");
    let (name, data) = last(&events);
    assert_eq!((name, &data["code"]), ("error", &json!("MODEL_ERROR")));
    assert!(data["error"].as_str().unwrap().contains("wrong key"), "{data}");
    assert_eq!(home.state(&id), (Error, true));
    let events = home.turn(&id, "Again");
    assert_eq!(last(&events).0, "complete");
}

#[test]
fn sixteen_run_at_once_and_the_next_one_queues() {
    let waits = (0..16).map(|_| call("c1", "wait", ""));
    let home = AgentHome::new(waits.chain((0..40).map(|_| say("Done."))));
    let ids: Vec<String> = (0..17).map(|_| home.create()).collect();
    for id in &ids[..16] {
        home.agents().send(id, "Go").unwrap();
    }
    home.bench.wait_for(16);
    let after = home.agents().send(&ids[16], "Go").unwrap();
    let mut follower = home.agents().follow(&ids[16], after).unwrap();
    let (_, _, event) = home.until(&mut follower, |_, data| data["type"] == "SystemEvent");
    assert!(event["text"].as_str().unwrap().starts_with("Queued: 16"), "{event}");
    assert!(home.agents().get(&ids[16]).unwrap().queued);
    assert_eq!(home.agents().list(Some(Active), false).unwrap().len(), 17);
    home.bench.open_gate();
    for id in &ids {
        assert_eq!(last(&home.to_end(id, 0)).0, "complete");
        assert_eq!(home.state(id), (Idle, false));
    }
}

#[test]
fn the_end_of_all_leaves_no_thread_and_what_ran_can_be_resumed() {
    alone(module_path!(), "the_end_of_all_leaves_no_thread_and_what_ran_can_be_resumed", || {
        let scripts = [call("c1", "wait", ""), call("c1", "wait", ""), say("Done."), say("Done.")];
        let mut home = AgentHome::new(scripts);
        home.close();
        let before = Baseline::now();
        home.reopen();
        let ids = [home.create(), home.create()];
        for id in &ids {
            home.agents().send(id, "Go").unwrap();
        }
        home.bench.wait_for(2);
        let began = Instant::now();
        home.close();
        assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
        before.assert_back(soon());
        home.reopen();
        for id in &ids {
            assert_eq!(home.state(id), (Idle, true));
            let events = home.to_end(id, 0);
            assert_eq!((last(&events).0, &last(&events).1["stopped"]), ("complete", &json!(true)));
            let after = home.agents().resume(id).unwrap();
            assert_eq!(last(&home.to_end(id, after)).0, "complete");
        }
    });
}

#[test]
fn a_running_conversation_can_be_deleted() {
    let home = AgentHome::new([call("c1", "wait", "")]);
    let id = home.create();
    home.agents().send(&id, "Go").unwrap();
    home.bench.wait_for(1);
    let mut follower = home.agents().follow(&id, 0).unwrap();
    home.agents().delete(&id, soon()).unwrap();
    assert_eq!(home.agents().get(&id).unwrap_err().kind(), Code::NotFound);
    while follower.next(soon()).unwrap() != cdpilot_server::agent::Followed::End {}
}

/// Measures; prints only.
#[test]
fn the_overhead_of_a_step() {
    const STEPS: usize = 60;
    let steps = (0..STEPS).map(|number| call(&format!("c{number}"), "note", &number.to_string()));
    let home = AgentHome::new(steps.chain([say("Done.")]));
    let id = home.create();
    let after = home.agents().send(&id, "Go").unwrap();
    let mut follower = home.agents().follow(&id, after).unwrap();
    let (began, mut delays) = (Instant::now(), Vec::new());
    loop {
        match follower.next(soon()).unwrap() {
            cdpilot_server::agent::Followed::Event { data, .. } => {
                let data: Value = serde_json::from_str(&data).unwrap();
                if let Some(at) = data["timestamp"].as_f64() {
                    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
                    delays.push((now.as_secs_f64() - at) * 1e3);
                }
            }
            cdpilot_server::agent::Followed::End => break,
            _ => {}
        }
    }
    let step = began.elapsed().as_secs_f64() * 1e3 / STEPS as f64;
    delays.sort_by(f64::total_cmp);
    let (median, worst) = (delays[delays.len() / 2], delays[delays.len() - 1]);
    println!(
        "a step: {step:.2} ms with the scripted endpoint; creation of an event to its follower, commit included: median {median:.2} ms, worst {worst:.2} ms"
    );
    assert_eq!(names(&home.to_end(&id, 0)).len(), 3 * STEPS + 4);

    // The same requests without the loop.
    let endpoint = StreamingModel::new((0..STEPS).map(|_| call("c1", "note", "1")));
    let client = Client::new("one", &Model::new("m", endpoint.url())).unwrap();
    let request = ChatRequest::new(vec![Message::text(Role::User, "Go ".repeat(3_000))]);
    let began = Instant::now();
    for _ in 0..STEPS {
        client.chat(&request, Patience::short(), soon(), &mut |_| ()).unwrap();
    }
    println!("a request alone: {:.2} ms", began.elapsed().as_secs_f64() * 1e3 / STEPS as f64);
}

#[test]
fn a_paused_run_gives_its_place_to_others() {
    let home = AgentHome::new((0..17).map(|_| call("c1", "wait", "")).chain((0..17).map(|_| say("Done."))));
    let (agents, paused) = (home.agents(), home.create());
    let after = agents.send(&paused, "Go").unwrap();
    home.bench.wait_for(1);
    agents.pause(&paused).unwrap();
    home.bench.open_gate();
    let mut follower = agents.follow(&paused, after).unwrap();
    home.until(&mut follower, |_, data| data["type"] == "ObservationEvent");
    home.bench.close_gate();
    for _ in 0..16 {
        agents.send(&home.create(), "Go").unwrap();
    }
    home.bench.wait_for(16);
    // When it goes on, it queues like any other.
    agents.resume(&paused).unwrap();
    home.until(&mut follower, |_, data| data["text"].as_str().is_some_and(|text| text.starts_with("Queued")));
    assert!(agents.get(&paused).unwrap().queued);
    home.bench.open_gate();
    let events = home.to_end(&paused, after);
    assert_eq!(last(&events).0, "complete");
}
