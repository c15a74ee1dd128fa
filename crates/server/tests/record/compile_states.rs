//! States of compilations: questions over a restart, revisions, failures, the routine that is saved.

use std::sync::Barrier;

use serde_json::{Value, json};

use crate::recording_compile::{Compiling, Trace, ask, element, look, stocks, stocks_routine, submit, to_end};
use crate::support::agent_plan::Do;

fn right() -> Do {
    submit(&stocks_routine(), json!({ "1": [3, 4], "2": [5] }))
}

/// What the state says about an error.
fn code(state: &Value) -> &str {
    assert_eq!(state["status"], "error", "{state:#}");
    state["error"]["code"].as_str().unwrap()
}

#[test]
fn questions_and_the_review_outlive_restarts() {
    let changed = stocks_routine().replace("Press Apply filters.", "Press Apply filters, and wait for the table.");
    let plan = vec![
        look(),
        ask("Which country?", "country", &[4]),
        right(),
        Do::Say("Two filters."),
        submit(&changed, json!({ "1": [3, 4], "2": [5] })),
        Do::Say("It waits now."),
        right(),
        Do::Say("It does not wait any more."),
    ];
    let mut compiling = Compiling::new(vec![plan]);
    let id = compiling.store(0, "", &stocks());
    assert_eq!(compiling.state(&id)["status"], "none");
    let ended = compiling.compile(&id);
    let result = ended.result();
    assert_eq!(
        [&result["status"], &result["question"], &result["round"]],
        [&json!("asking"), &json!("Which country?"), &json!(1)]
    );
    assert!(std::path::Path::new(result["trace_path"].as_str().unwrap()).exists());
    compiling.tasks.served.restart();
    let state = compiling.state(&id);
    assert_eq!([&state["status"], &state["result"]["question"]], [&json!("asking"), &json!("Which country?")]);
    assert_eq!(state["questions"][0]["answer"], Value::Null);
    let ended = compiling.answer(&id, " Always the USA. ");
    assert_eq!(ended.result()["status"], "review");
    compiling.tasks.served.restart();
    let state = compiling.state(&id);
    assert_eq!([&state["status"], &state["result"]["summary_message"]], [&json!("review"), &json!("Two filters.")]);
    let asked = &state["questions"][0];
    assert_eq!([&asked["topic"], &asked["events"]], [&json!("country"), &json!([4])]);
    assert_eq!(asked["answer"], "Always the USA.");
    // Revised twice; the differences are those from the text that was read.
    let ended = compiling.answer(&id, "Wait for the table.");
    assert_eq!(ended.result()["routine_markdown"], changed);
    let difference = ended.result()["difference"].as_str().unwrap();
    assert!(difference.contains("-Press Apply filters.\n+Press Apply filters, and wait"), "{difference}");
    compiling.tasks.served.restart();
    let ended = compiling.answer(&id, "No, do not wait.");
    assert_eq!(ended.result()["routine_markdown"], stocks_routine());
    assert!(ended.result()["difference"].as_str().unwrap().contains("+Press Apply filters.\n"));
    let requests = compiling.tasks.model.requests();
    let messages = requests.last().unwrap()["messages"].to_string();
    assert!(messages.contains("Always the USA.") && messages.contains("No, do not wait."), "{messages}");
    let saved = compiling.finalize(&id, "filters");
    assert_eq!(saved["routine"]["routine_markdown"], stocks_routine());
}

#[test]
fn up_to_three_questions_are_one_round_and_there_are_five_rounds() {
    let question = |text: &str| ("ask_user", json!({ "question": text, "topic": "other", "events": [3] }));
    let mut plan = vec![
        look(),
        Do::Calls(vec![
            question("First?"),
            ("draft", json!({ "command": "read" })),
            question("Second?"),
            question("Third?"),
            question("Fourth?"),
        ]),
        Do::Calls(vec![
            ("ask_user", json!({ "question": "Where?", "topic": "other", "events": [99] })),
            question("Fifth?"),
        ]),
    ];
    plan.extend((0..3).map(|_| ask("More?", "other", &[])));
    plan.extend([ask("Too many?", "other", &[]), right(), Do::Say("Done.")]);
    let compiling = Compiling::new(vec![plan]);
    let id = compiling.store(0, "", &stocks());
    let ended = compiling.compile(&id);
    assert_eq!(ended.result()["question"], "1. First?\n2. Second?\n3. Third?");
    // An event that the recording does not have is refused; the other question of that answer is asked.
    let ended = compiling.answer(&id, "1 a, 2 b, 3 c");
    assert_eq!([&ended.result()["question"], &ended.result()["round"]], [&json!("Fifth?"), &json!(2)]);
    for round in 3..=5 {
        let ended = compiling.answer(&id, "Yes.");
        assert_eq!([&ended.result()["question"], &ended.result()["round"]], [&json!("More?"), &json!(round)]);
    }
    let ended = compiling.answer(&id, "Yes.");
    assert_eq!(ended.result()["status"], "review");
    assert_eq!(
        compiling.refusals(&id),
        ["INTERRUPTED", "INTERRUPTED", "BAD_REQUEST", "CONFLICT"],
        "{}",
        compiling.results(&id)
    );
    assert_eq!(compiling.state(&id)["questions"].as_array().unwrap().len(), 7);
}

#[test]
fn a_second_compilation_ends_the_first_and_says_so() {
    let hangs = vec![look(), Do::Hang];
    let compiling = Compiling::new(vec![hangs]);
    let id = compiling.store(0, "", &stocks());
    let mut first = compiling.begin(&id, &json!({}));
    let (_, connected) = first.next_of("connected");
    assert_eq!(connected["replaced"], false);
    // It is at work.
    while first.next_of("agent_event").1["type"] != "TextDelta" {}
    let mut second = compiling.begin(&id, &json!({}));
    assert_eq!(second.next_of("connected").1["replaced"], true);
    let ended = to_end(&mut first);
    assert_eq!([&ended.name, ended.data["code"].as_str().unwrap()], ["error", "CANCELLED"], "{}", ended.data);
    assert!(ended.data["error"].as_str().unwrap().contains("another compilation"), "{}", ended.data);
    while second.next_of("agent_event").1["type"] != "TextDelta" {}
    let api = &compiling.tasks.served.api;
    assert_eq!(api.get("/agent/conversations?all").ok()["count"], 1);
    // Stopped by the person.
    let conversation = compiling.state(&id)["conversation_id"].as_str().unwrap().to_owned();
    api.post(&format!("/agent/conversations/{conversation}/stop"), &json!({})).ok();
    let ended = to_end(&mut second);
    assert_eq!(ended.data["code"], "CANCELLED", "{}", ended.data);
    assert_eq!(code(&compiling.state(&id)), "CANCELLED");
}

/// What a person has said stays said: after an error, the next attempt has the answers, and does not need to ask again.
#[test]
fn answers_are_kept_for_the_next_attempt() {
    let plan = vec![
        look(),
        ask("Which country?", "country", &[4]),
        Do::Say("Hm."),
        Do::Say("Hm."),
        Do::Say("Hm."),
        Do::Say("Hm."),
    ];
    let compiling = Compiling::new(vec![plan]);
    let id = compiling.store(0, "", &stocks());
    compiling.compile(&id).result();
    let answer = |round: u32| {
        let body = json!({ "text": "The USA.", "round": round }).to_string();
        let path = format!("/recordings/{id}/compile/answer");
        compiling.tasks.served.api.ask("POST", &path, Some(&body), "Accept: text/event-stream\r\n")
    };
    // An answer for another question is not taken.
    for wrong in [0, 2] {
        assert_eq!(answer(wrong).status, 409);
    }
    assert_eq!(compiling.state(&id)["status"], "asking");
    assert!(answer(1).text.contains("MODEL_ERROR"));
    assert_eq!(compiling.compile(&id).result()["status"], "asking");
    let requests = compiling.tasks.model.requests();
    let first = requests.last().unwrap()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(first.contains("Asked: Which country? Answered: The USA."), "{first}");
    assert_eq!(compiling.state(&id)["questions"][0]["answer"], "The USA.");
}

/// A secret that was stored after the recording was made does not reach the model, its trace or the draft.
#[test]
fn secrets_that_were_stored_later_are_covered() {
    let mut trace = Trace::on("https://bank.example/", "Bank of hunter2-secret");
    trace.input(&element("textbox", "Reference", "reference"), "hunter2-secret");
    trace.click(&element("button", "Send hunter2-secret", "send"));
    let plan = vec![
        look(),
        Do::Call("trace_viewer", json!({ "command": "events" })),
        Do::Call("trace_viewer", json!({ "command": "event_detail", "event": 3 })),
        ask("Go on?", "varying_value", &[3]),
    ];
    let compiling = Compiling::new(vec![plan]);
    let id = compiling.store(0, "It is hunter2-secret.", &trace.end());
    let secret = json!({ "name": "late", "origin": "https://bank.example", "value": "hunter2-secret" });
    compiling.tasks.served.api.post("/secrets", &secret).ok();
    let ended = compiling.compile(&id);
    let trace = std::fs::read_to_string(ended.result()["trace_path"].as_str().unwrap()).unwrap();
    let sent = json!(compiling.tasks.model.requests()).to_string();
    for text in [&sent, &trace, &compiling.results(&id), &compiling.state(&id).to_string()] {
        assert!(!text.contains("hunter2-secret"), "{text}");
    }
    assert!(sent.contains("Reference"));
}

/// Of several compilations that are begun at once one goes on, and the others say so.
#[test]
fn of_compilations_begun_at_once_one_goes_on() {
    let compiling = Compiling::new(vec![vec![look(), right(), Do::Say("Done.")]]);
    let id = compiling.store(0, "", &stocks());
    let barrier = Barrier::new(6);
    let ends: Vec<String> = std::thread::scope(|scope| {
        let begin = || {
            let (barrier, compiling, id) = (&barrier, &compiling, &id);
            scope.spawn(move || {
                barrier.wait();
                let path = format!("/recordings/{id}/compile");
                let answer = compiling.tasks.served.api.ask("POST", &path, Some("{}"), "Accept: text/event-stream\r\n");
                let last = answer.text.lines().rfind(|line| line.starts_with("event: ")).map(ToOwned::to_owned);
                last.unwrap_or_else(|| format!("{} {}", answer.status, answer.text))
            })
        };
        let all: Vec<_> = (0..6).map(|_| begin()).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(compiling.state(&id)["status"], "review", "{ends:#?}");
    assert_eq!(ends.iter().filter(|end| *end == "event: complete").count(), 1, "{ends:#?}");
    assert!(ends.iter().all(|end| end.starts_with("event: ") || end.contains("another compilation")), "{ends:#?}");
    assert_eq!(compiling.tasks.served.api.get("/agent/conversations?all").ok()["count"], 1, "{ends:#?}");
}

/// A routine that is saved is not changed by an answer that comes at the same time.
#[test]
fn an_answer_does_not_undo_a_saved_routine() {
    let compiling = Compiling::new(vec![vec![look(), right(), Do::Say("Done."), Do::Say("Nothing to change.")]]);
    let api = &compiling.tasks.served.api;
    for round in 0..6 {
        let id = compiling.store(0, "", &stocks());
        compiling.compile(&id).result();
        let barrier = Barrier::new(2);
        let (saved, answered) = std::thread::scope(|scope| {
            let save = scope.spawn(|| {
                barrier.wait();
                api.post(&format!("/recordings/{id}/compile/finalize"), &json!({ "name": format!("r{round}") })).status
            });
            let answer = scope.spawn(|| {
                barrier.wait();
                let body = json!({ "text": "Change it." }).to_string();
                api.ask(
                    "POST",
                    &format!("/recordings/{id}/compile/answer"),
                    Some(&body),
                    "Accept: text/event-stream\r\n",
                )
                .status
            });
            (save.join().unwrap(), answer.join().unwrap())
        });
        let status = compiling.state(&id)["status"].as_str().unwrap().to_owned();
        let expected = if saved == 200 { "completed" } else { "review" };
        assert_eq!(status, expected, "{saved} {answered}");
        assert!(saved == 200 || answered == 200, "{saved} {answered}");
    }
}

/// Stopping or deleting its conversation while it waits for an answer ends a compilation.
#[test]
fn a_compilation_that_waits_can_be_stopped() {
    let plan = vec![look(), ask("Which?", "other", &[3])];
    let compiling = Compiling::new(vec![plan]);
    let id = compiling.store(0, "", &stocks());
    let api = &compiling.tasks.served.api;
    for ends_by_delete in [false, true] {
        assert_eq!(compiling.compile(&id).result()["status"], "asking");
        let conversation = compiling.state(&id)["conversation_id"].as_str().unwrap().to_owned();
        let path = format!("/agent/conversations/{conversation}");
        match ends_by_delete {
            true => api.delete(&path).ok(),
            false => api.post(&format!("{path}/stop"), &json!({})).ok(),
        };
        assert_eq!(code(&compiling.state(&id)), "CANCELLED");
        let answer =
            api.post(&format!("/recordings/{id}/compile/answer"), &json!({ "text": "This." })).fails(409, "CONFLICT");
        assert!(answer["error"].as_str().unwrap().contains("has failed; compile again"), "{answer}");
        let shown = api.get(&format!("/recordings/{id}")).ok();
        assert_eq!(shown["recording"]["compile"]["code"], "CANCELLED");
    }
}

#[test]
fn a_failed_compilation_says_why_and_keeps_the_draft() {
    let draft = || Do::Call("draft", json!({ "command": "write", "markdown": "# Workflow: Half\n" }));
    let plans = vec![
        // Ends without a routine, whatever it is told.
        vec![look(), draft(), Do::Say("Done."), Do::Say("Done."), Do::Say("Done."), Do::Say("Done.")],
        // Calls what does not exist, and then nothing new.
        (0..9).map(|_| Do::Call("browser_click", json!({ "ref": "e1" }))).collect(),
        // Is interrupted by the end of the server.
        vec![look(), draft(), Do::Hang],
    ];
    let mut compiling = Compiling::new(plans);
    let id = compiling.store(0, "", &stocks());
    let ended = compiling.compile(&id);
    assert_eq!([&ended.name, ended.data["code"].as_str().unwrap()], ["error", "MODEL_ERROR"], "{}", ended.data);
    assert!(std::path::Path::new(ended.data["trace_path"].as_str().unwrap()).exists());
    let state = compiling.state(&id);
    assert_eq!([code(&state), state["draft"].as_str().unwrap()], ["MODEL_ERROR", "# Workflow: Half\n"]);
    let path = format!("/recordings/{id}");
    compiling
        .tasks
        .served
        .api
        .post(&format!("{path}/compile/answer"), &json!({ "text": "go on" }))
        .fails(409, "CONFLICT");
    compiling
        .tasks
        .served
        .api
        .post(&format!("{path}/compile/finalize"), &json!({ "name": "x" }))
        .fails(409, "CONFLICT");
    // The next attempt has the draft.
    compiling.compile(&id);
    let requests = compiling.tasks.model.requests();
    assert!(requests.last().unwrap()["messages"].to_string().contains("has left a draft"));

    let id = compiling.store(1, "", &stocks());
    let ended = compiling.compile(&id);
    assert_eq!(ended.data["code"], "MODEL_ERROR", "{}", ended.data);
    assert!(compiling.results(&id).contains("the tools are ask_user, draft, submit_routine, trace_viewer"));

    let id = compiling.store(2, "", &stocks());
    let mut stream = compiling.begin(&id, &json!({}));
    while stream.next_of("agent_event").1["type"] != "TextDelta" {}
    compiling.tasks.served.restart();
    let state = compiling.state(&id);
    assert_eq!([code(&state), state["draft"].as_str().unwrap()], ["INTERRUPTED", "# Workflow: Half\n"]);
    let shown = compiling.tasks.served.api.get(&format!("/recordings/{id}")).ok();
    assert_eq!(shown["recording"]["compile"]["status"], "error");
}

#[test]
fn an_endpoint_that_is_down_is_an_error_with_its_reason() {
    let compiling = Compiling::new(vec![]);
    let models = json!({ "models": { "one": { "model": "m", "base_url": "http://127.0.0.1:9/v1" } } });
    compiling.tasks.served.api.post("/api/config/llm", &models).ok();
    let id = compiling.store(0, "", &stocks());
    let mut stream = compiling.begin(&id, &json!({}));
    // It is repeated for a while; a person does not wait for the end of that.
    while !stream.next_of("agent_event").1["text"].as_str().unwrap_or_default().contains("is repeated") {}
    let conversation = compiling.state(&id)["conversation_id"].as_str().unwrap().to_owned();
    compiling.tasks.served.api.post(&format!("/agent/conversations/{conversation}/stop"), &json!({})).ok();
    assert_eq!(to_end(&mut stream).data["code"], "CANCELLED");
    let unknown = json!({ "model": "two" });
    compiling.tasks.served.api.post(&format!("/recordings/{id}/compile"), &unknown).fails(400, "BAD_REQUEST");
    assert_eq!(code(&compiling.state(&id)), "CANCELLED");
}

#[test]
fn what_cannot_be_compiled_is_refused() {
    let compiling = Compiling::new(vec![vec![look(), right(), Do::Say("Done.")]]);
    let api = &compiling.tasks.served.api;
    let id = compiling.store(0, "", &stocks());
    let path = |end: &str| format!("/recordings/{id}/compile{end}");
    for (body, part) in [
        (json!({ "exclude": [99] }), "no event 99"),
        (json!({ "exclude": [1, 2, 3, 4, 5, 6, 7] }), "all events"),
        (json!({ "models": "one" }), "models"),
    ] {
        let refused =
            api.post(&path(""), &body).fails(400, if part == "models" { "UNKNOWN_FIELD" } else { "BAD_REQUEST" });
        assert!(refused["error"].as_str().unwrap().contains(part), "{refused}");
    }
    api.post(&path("/answer"), &json!({ "text": "hm" })).fails(409, "CONFLICT");
    api.post(&path("/finalize"), &json!({ "name": "n" })).fails(409, "CONFLICT");
    let missing = "/recordings/00000000-0000-0000-0000-000000000000/compile";
    api.get(missing).fails(404, "NOT_FOUND");
    api.post(missing, &json!({})).fails(404, "NOT_FOUND");
    assert_eq!(compiling.state(&id)["status"], "none");
    // Left out events are seen by no model, and belong to no step.
    let mut stream = compiling.begin(&id, &json!({ "exclude": [4] }));
    let ended = to_end(&mut stream);
    assert_eq!(ended.name, "error", "{}", ended.data);
    assert_eq!(compiling.refusals(&id)[0], "EVENTS_UNKNOWN");
    assert!(!compiling.results(&id).contains("fs_geo"));
    api.post(&path("/answer"), &json!({ "text": " " })).fails(400, "BAD_REQUEST");
}

#[test]
fn a_name_in_use_loses_nothing_and_two_at_once_save_one() {
    let compiling = Compiling::new(vec![vec![look(), right(), Do::Say("Done.")]]);
    let api = &compiling.tasks.served.api;
    api.post("/routines", &json!({ "name": "taken", "routine_markdown": stocks_routine() })).ok();
    let id = compiling.store(0, "", &stocks());
    compiling.compile(&id).result();
    let path = format!("/recordings/{id}/compile/finalize");
    // Another text than the one that was read is not saved.
    let other = json!({ "name": "own", "routine_markdown": stocks_routine().replace("Press", "Push") });
    api.post(&path, &other).fails(409, "CONFLICT");
    let refused =
        api.post(&path, &json!({ "name": "taken", "routine_markdown": stocks_routine() })).fails(409, "CONFLICT");
    assert_eq!(refused["details"]["name"], "taken");
    api.post(&path, &json!({ "name": "a/b" })).fails(400, "BAD_REQUEST");
    assert_eq!(compiling.state(&id)["status"], "review");
    let barrier = Barrier::new(4);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let save = |n: usize| {
            let (barrier, path) = (&barrier, &path);
            scope.spawn(move || {
                barrier.wait();
                api.post(path, &json!({ "name": format!("own {n}") })).status
            })
        };
        let all: Vec<_> = (0..4).map(save).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(api.get("/routines").ok()["count"], 2);
    // What is edited keeps the events of the steps that stay as they are.
    let routines = api.get("/routines").ok();
    let routine = routines["routines"].as_array().unwrap().iter().find(|one| one["name"] != "taken").unwrap();
    assert_eq!(routine["source_recording_id"], id);
}
