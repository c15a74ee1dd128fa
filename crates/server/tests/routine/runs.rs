//! Runs of routines by a model that follows a script: what it is held to, step by step.

use cdpilot_server::config::Confirm;
use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::support::agent_plan::{Do, model_of};
use crate::support::api::{Events, TestServer};
use crate::support::site::Site;

const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 8px }</style>";

/// A run that has come to a question or to its end.
struct Run<'t> {
    tasks: &'t Tasks,
    routine: String,
    id: String,
    /// The data of the last event.
    last: (String, Value),
}

fn tasks(plans: Vec<Vec<Do>>) -> Option<Tasks> {
    let served = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Never)?;
    Some(Tasks::of(served, model_of(plans)))
}

fn step(command: &str, n: u32) -> Do {
    Do::Call("routine_step", json!({ "command": command, "n": n }))
}

fn keywords(word: &str) -> Do {
    Do::Call("highlight", json!({ "keywords": [word] }))
}

impl<'t> Run<'t> {
    fn store(tasks: &Tasks, text: &str) -> String {
        let name = format!("r{}", tasks.served.api.get("/routines").ok()["count"]);
        let body = json!({ "name": name, "routine_markdown": text });
        tasks.served.api.post("/routines", &body).ok()["routine_id"].as_str().unwrap().to_owned()
    }

    fn of(tasks: &'t Tasks, routine: &str, body: &Value) -> Self {
        let mut body = body.clone();
        body.as_object_mut().unwrap().entry("login").or_insert("own".into());
        body.as_object_mut().unwrap().entry("guard").or_insert("off".into());
        let path = format!("/routines/{routine}/run");
        let mut stream = tasks.served.api.events_of("POST", &path, Some(&body.to_string()), "");
        let (_, _, connected) = stream.next();
        let id = connected["conversation_id"].as_str().unwrap().to_owned();
        let mut run = Self { tasks, routine: routine.to_owned(), id, last: Default::default() };
        run.follow(&mut stream);
        run
    }

    /// Stores a text and runs it.
    fn of_text(tasks: &'t Tasks, text: &str, body: &Value) -> Self {
        Self::of(tasks, &Self::store(tasks, text), body)
    }

    fn follow(&mut self, stream: &mut Events) {
        while let Some((name, _, data)) = stream.try_next() {
            if matches!(name.as_str(), "help_request" | "complete" | "error") {
                self.last = (name, data);
                return;
            }
        }
    }

    /// Answers the open question, and follows the run.
    fn answer(&mut self, body: Value) {
        let mut body = body;
        if body["decision"].is_string() {
            body["approval_id"] = self.last.1["approval_id"].clone();
        }
        let before = self.tasks.events(&self.id).len();
        let path = |end: &str| format!("/agent/conversations/{}/{end}", self.id);
        self.tasks.served.api.post(&path("answer"), &body).ok();
        let last = format!("Last-Event-ID: {before}\r\n");
        let mut stream = self.tasks.served.api.events_of("GET", &path("stream"), None, &last);
        self.follow(&mut stream);
    }

    fn report(&self) -> Value {
        self.tasks.served.api.get(&format!("/routines/{}/runs/{}", self.routine, self.id)).ok()
    }

    /// Success or code of all calls of a tool.
    fn outcomes(&self, tool: &str) -> Vec<String> {
        let events = self.tasks.events(&self.id).into_iter().map(|(_, data)| data);
        let of_tool = events.filter(|data| data["type"] == "ObservationEvent" && data["tool_name"] == tool);
        of_tool.map(|data| data["code"].as_str().unwrap_or("ok").to_owned()).collect()
    }

    fn errors(&self) -> String {
        let events = self.tasks.events(&self.id).into_iter().map(|(_, data)| data);
        events.filter_map(|data| data["error"].as_str().map(ToOwned::to_owned)).collect::<Vec<_>>().join("\n")
    }

    fn statuses(&self) -> Vec<String> {
        let report = self.report();
        let steps = report["steps"].as_array().unwrap().iter();
        steps.map(|step| step["status"].as_str().unwrap().to_owned()).collect()
    }
}

fn shop(site: &Site) {
    site.page(
        "/",
        &format!(
            "{STYLE}<h1>Shop</h1><input id=main-search aria-label=Search><button onclick=\"document.title='found ' + \
             document.querySelector('input').value; out.textContent = '12 lamps'\">Find</button><p id=out></p>\
             <button disabled>Gone</button>"
        ),
    );
}

fn text(site: &Site, plan: usize) -> String {
    format!(
        "# Workflow: Find lamps\n\n## Prerequisites\nStarting URL: {}\n\n## Inputs\n- word (default lamp)\n\n\
         ## Step 1: Search\n**Keywords:** main-search\nType \"{{{{word}}}}\" into the search field.\n\n\
         ## Step 2: Find\nPress Find.\nRead count: the text below the button.\n\n\
         ## Step 3: Close the banner\nIf shown: close the banner.\n\n\
         ## Step 4: Report\nCompare {{{{step2.count}}}} with the budget.\n\n## Result\nThe number of lamps.\n\n\
         ```json\n{{\"type\": \"object\", \"properties\": {{\"count\": {{\"type\": \"integer\"}}}}, \"required\": [\"count\"]}}\n```\n\
         Follow plan {plan}\n",
        site.url("a", "/")
    )
}

#[test]
fn a_model_does_the_steps_in_order_and_the_report_says_so() {
    let site = Site::start();
    shop(&site);
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        keywords("main-search"),
        Do::Call(
            "element_interaction",
            json!({ "action": "keyboard_input", "element_id": "id:Search", "text": "lamp" }),
        ),
        step("done", 1),
        Do::Look,
        Do::Call("element_interaction", json!({ "action": "click", "element_id": "id:>Find<" })),
        Do::Call("routine_step", json!({ "command": "read", "n": 2, "name": "count", "value": "12 lamps" })),
        Do::Call("routine_step", json!({ "command": "done", "n": 2, "note": "Found them." })),
        step("done", 3),
        step("done", 4),
        Do::Say("There are 12."),
        Do::Say("There are twelve. ```json\n{\"count\": \"many\"}\n```"),
        Do::Say("Here: ```json\n{\"count\": 12}\n```"),
    ];
    let Some(tasks) = tasks(vec![plan]) else { return };
    let run = Run::of_text(&tasks, &text(&site, 0), &json!({}));
    let report = run.report();
    assert_eq!(run.last.0, "complete", "{:#} {report:#}", run.last.1);
    assert_eq!([&report["status"], &report["run_id"], &report["version"]], [&json!("done"), &json!(run.id), &json!(1)]);
    assert_eq!(run.statuses(), ["done", "done", "skipped", "done"]);
    assert_eq!(report["counts"], json!({ "done": 3, "skipped": 1, "failed": 0, "pending": 0 }));
    assert_eq!(report["result"]["data"], json!({ "count": 12 }));
    assert_eq!(report["result"]["final_url"], site.url("a", "/"));
    assert_eq!([&report["steps"][1]["note"], &report["steps"][1]["how"]], [&json!("Found them."), &json!("model")]);
    assert_eq!(report["model_requests"], 14);
    let image = tasks.served.api.ask("GET", report["steps"][1]["image"].as_str().unwrap(), None, "");
    assert_eq!(image.status, 200);
    // What was read stands in the later instruction, and the input in its own.
    let requests = tasks.model.requests();
    let messages = requests.last().unwrap()["messages"].to_string();
    assert!(
        messages.contains("Compare 12 lamps with the budget") && messages.contains("Type \\\"lamp\\\""),
        "{messages}"
    );
    assert!(requests[0]["messages"][0]["content"].as_str().unwrap().contains("routine_step"));
    // The routine is verified by it, until its text changes.
    let path = format!("/routines/{}", run.routine);
    assert_eq!(tasks.served.api.get(&path).ok()["routine"]["trust"], "verified");
    let runs = tasks.served.api.get(&format!("{path}/runs")).ok();
    assert_eq!([&runs["count"], &runs["runs"][0]["status"]], [&json!(1), &json!("done")]);
    // The report outlives its conversation.
    tasks.served.api.delete(&format!("/agent/conversations/{}", run.id)).ok();
    assert_eq!(run.report()["status"], "done");
}

/// An action that is done without a preview needs no confirmation: one that comes all the same is no failure of the step. Waiting does
/// not undo a failure.
#[test]
fn a_needless_confirmation_is_no_failure_and_waiting_is_no_success() {
    let site = Site::start();
    shop(&site);
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        keywords("main-search"),
        Do::Call(
            "element_interaction",
            json!({ "action": "keyboard_input", "element_id": "id:Search", "text": "lamp" }),
        ),
        step("done", 1),
        Do::Look,
        Do::Unseen(">Find<"),
        Do::Call("routine_step", json!({ "command": "read", "n": 2, "name": "count", "value": "12 lamps" })),
        step("done", 2),
        step("done", 3),
        Do::Look,
        Do::Call("element_interaction", json!({ "action": "click", "element_id": "zzzzzz" })),
        Do::Call("element_interaction", json!({ "action": "wait", "value": "1" })),
        step("done", 4),
        Do::Call("routine_step", json!({ "command": "blocked", "n": 4, "note": "It is not there." })),
    ];
    let served = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Auto);
    let Some(tasks) = served.map(|served| Tasks::of(served, model_of(vec![plan]))) else { return };
    let run = Run::of_text(&tasks, &text(&site, 0), &json!({}));
    let errors = run.errors();
    assert!(errors.contains("was done at once, without a preview, so there is nothing to confirm"), "{errors}");
    assert_eq!(run.outcomes("routine_step"), ["ok", "ok", "ok", "ok", "ok", "CONFLICT"], "{errors}");
    assert_eq!(run.statuses()[1], "done");
    assert!(errors.contains("the last action of step 4 has failed"), "{errors}");
}

#[test]
fn what_a_step_does_not_admit_is_refused() {
    let site = Site::start();
    shop(&site);
    let act =
        |action: &str, part: &str| json!({ "action": action, "element_id": format!("id:{part}"), "text": "lamp" });
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        // Before a step is begun.
        keywords("main-search"),
        Do::Call("element_interaction", json!({ "action": "click", "element_id": "e1" })),
        step("begin", 2),
        step("begin", 9),
        step("done", 1),
        step("begin", 1),
        // The first look uses the keyword, letter for letter, and nothing else.
        Do::Look,
        keywords("Main-Search"),
        Do::Call("highlight", json!({ "keywords": ["main-search", "Find"] })),
        keywords("main-search"),
        Do::Look,
        Do::Call("element_interaction", act("keyboard_input", ">Gone<")),
        step("done", 1),
        Do::Call("element_interaction", act("keyboard_input", "Search")),
        step("begin", 2),
        step("done", 2),
        step("done", 1),
        step("begin", 1),
        // A step without a keyword takes none, that of another step neither.
        keywords("main-search"),
        Do::Look,
        step("done", 2),
        Do::Call("routine_step", json!({ "command": "read", "n": 2, "name": "total", "value": "1" })),
        Do::Call("routine_step", json!({ "command": "item", "n": 2, "state": "found", "items": [{ "title": "a" }] })),
        Do::Say("All done."),
        Do::Say("Really."),
        Do::Say("Yes."),
        Do::Say("Yes!"),
    ];
    let Some(tasks) = tasks(vec![plan]) else { return };
    let run = Run::of_text(&tasks, &text(&site, 0), &json!({ "inputs": { "word": "lamp" } }));
    let (report, errors) = (run.report(), run.errors());
    let steps = run.outcomes("routine_step");
    let expected = [
        "CONFLICT",
        "BAD_REQUEST",
        "CONFLICT",
        "ok",
        "CONFLICT",
        "CONFLICT",
        "CONFLICT",
        "ok",
        "CONFLICT",
        "CONFLICT",
        "BAD_REQUEST",
        "BAD_REQUEST",
    ];
    assert_eq!(steps, expected, "{errors}");
    assert_eq!(
        run.outcomes("highlight"),
        ["CONFLICT", "CONFLICT", "CONFLICT", "CONFLICT", "ok", "ok", "CONFLICT", "ok"],
        "{errors}"
    );
    for words in
        ["step 1 is next", "no step 9", "letter for letter", "the last action of step 1 has failed", "has no keyword"]
    {
        assert!(errors.contains(words), "{words}: {errors}");
    }
    assert_eq!([&report["status"], &report["code"]], [&json!("failed"), &json!("POSTCONDITION_FAILED")], "{report:#}");
    assert_eq!(run.statuses(), ["done", "failed", "skipped", "skipped"]);
    assert_eq!(tasks.served.api.get(&format!("/routines/{}", run.routine)).ok()["routine"]["trust"], "failing");
}

#[test]
fn a_keyword_without_a_match_leads_to_a_look_and_then_to_a_person() {
    let site = Site::start();
    shop(&site);
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        keywords("missing-field"),
        keywords("missing-field"),
        Do::Look,
        Do::Call("routine_step", json!({ "command": "blocked", "n": 1 })),
        Do::Call("routine_step", json!({ "command": "blocked", "n": 1, "note": "There is no such field." })),
        Do::Call("routine_step", json!({ "command": "done", "n": 1, "note": "The user did it." })),
        Do::Say("Done."),
    ];
    let Some(tasks) = tasks(vec![plan]) else { return };
    let text = format!(
        "# Workflow: Search\n\n## Prerequisites\nStarting URL: {}\n\n## Step 1: Search\n**Keywords:** missing-field\nType x. Follow plan 0\n",
        site.url("a", "/")
    );
    let mut run = Run::of_text(&tasks, &text, &json!({}));
    assert_eq!(run.last.0, "help_request", "{:#}", run.last.1);
    assert!(
        run.last.1["message"]
            .as_str()
            .unwrap()
            .contains("Step 1 of the routine cannot be done: There is no such field.")
    );
    assert_eq!(run.report()["status"], "waiting");
    assert_eq!(run.outcomes("highlight"), ["ok", "CONFLICT", "ok"]);
    run.answer(json!({ "text": "I have done it." }));
    let report = run.report();
    assert_eq!([&report["status"], &report["steps"][0]["how"]], [&json!("done"), &json!("person")], "{report:#}");
}

#[test]
fn no_item_of_a_list_is_done_twice() {
    let site = Site::start();
    shop(&site);
    let item = |state: &str, titles: &[&str]| {
        let items: Vec<Value> =
            titles.iter().map(|title| json!({ "title": title, "address": format!("/{title}") })).collect();
        Do::Call("routine_step", json!({ "command": "item", "n": 1, "state": state, "items": items }))
    };
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        step("done", 1),
        item("done", &["a"]),
        item("found", &["a", "b", "c"]),
        item("done", &["a"]),
        item("begun", &["a"]),
        item("begun", &["b"]),
        item("done", &["a"]),
        item("begun", &["a"]),
        Do::Call(
            "routine_step",
            json!({ "command": "item", "n": 1, "state": "begun", "items": [{ "title": " A ", "address": "http://a.localhost/a#top" }] }),
        ),
        item("found", &["a", "b"]),
        item("skipped", &["b"]),
        step("done", 1),
        item("begun", &["c"]),
        step("done", 1),
        item("done", &["c"]),
        step("done", 1),
        Do::Say("Done."),
    ];
    let Some(tasks) = tasks(vec![plan]) else { return };
    let text = format!(
        "# Workflow: Vote\n\n## Prerequisites\nStarting URL: {}\n\n## Step 1: Vote\nFor each card about lamps, press Vote. Follow plan 0\n",
        site.url("a", "/")
    );
    let run = Run::of_text(&tasks, &text, &json!({}));
    let (report, errors) = (run.report(), run.errors());
    let expected = [
        "ok", "CONFLICT", "CONFLICT", "ok", "CONFLICT", "ok", "CONFLICT", "ok", "CONFLICT", "CONFLICT", "ok", "ok",
        "CONFLICT", "ok", "CONFLICT", "ok", "ok",
    ];
    assert_eq!(run.outcomes("routine_step"), expected, "{errors}");
    assert!(errors.contains("\"a\" is done already") && errors.contains("was not begun"), "{errors}");
    assert_eq!(report["steps"][0]["items"], json!({ "done": 2, "total": 2 }), "{report:#}");
    assert_eq!(report["status"], "done");
}

#[test]
fn inputs_are_checked_before_a_tab_is_opened_and_sensitive_ones_are_seen_nowhere() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<form action=/sent><input name=card aria-label=Card><button>Go</button></form>"));
    site.page("/sent", "<h1>Sent</h1>");
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        Do::Look,
        Do::Call(
            "element_interaction",
            json!({ "action": "keyboard_input", "element_id": "id:Card", "text": "{{secret:card}}", "submit": true }),
        ),
        step("done", 1),
        Do::Say("Done."),
    ];
    let Some(tasks) = tasks(vec![plan]) else { return };
    let text = format!(
        "# Workflow: Pay\n\n## Prerequisites\nStarting URL: {}\n\n## Inputs\n- card (sensitive)\n- who\n\n\
         ## Step 1: Pay\nType {{{{card}}}} into Card for {{{{who}}}}, and press Enter. Follow plan 0\n",
        site.url("a", "/")
    );
    let routine = Run::store(&tasks, &text);
    let path = format!("/routines/{routine}/run");
    let api = &tasks.served.api;
    for (body, words) in [
        (json!({}), "missing card, who"),
        (json!({ "inputs": { "card": "x", "who": "y", "more": "z" } }), "unknown input \"more\""),
        (json!({ "inputs": { "card": "x" } }), "missing who"),
        (json!({ "inputs": { "card": "x", "who": "y".repeat(3000) } }), "inputs.who"),
        (json!({ "hosts": ["a.test"], "inputs": { "card": "x", "who": "y" } }), "hosts"),
        (json!({ "limits": { "cost": 1.0 }, "inputs": { "card": "x", "who": "y" } }), "limits.cost"),
    ] {
        let refused = api.post(&path, &body).fails(400, "BAD_REQUEST");
        assert!(refused["error"].as_str().unwrap().contains(words), "{refused}");
    }
    let doubled = api.call("POST", &path, Some(r#"{"inputs": {"card": "x", "who": "y", "who": "z"}}"#));
    assert_eq!((doubled.status, doubled.json()["code"].as_str()), (400, Some("BAD_REQUEST")), "{}", doubled.json());
    for body in [json!({ "model": "none" }), json!({ "fast_only": true }), json!({ "verify": true })] {
        let mut body = body;
        body["inputs"] = json!({ "card": "x", "who": "y" });
        api.post(&path, &body).fails(409, "CONFLICT");
    }
    assert_eq!(api.get("/agent/conversations").ok()["count"], 0);

    let run = Run::of(&tasks, &routine, &json!({ "inputs": { "card": "hunter22secret99", "who": "Ada {{card}}" } }));
    assert_eq!(run.report()["status"], "done", "{:#} {}", run.last.1, run.errors());
    let sent: Vec<String> = site.heads("a.localhost/sent");
    assert!(sent[0].contains("card=hunter22secret99"), "{sent:?}");
    let seen = [
        run.report().to_string(),
        json!(tasks.events(&run.id)).to_string(),
        api.get(&format!("/agent/conversations/{}/history", run.id)).ok().to_string(),
        json!(tasks.model.requests()).to_string(),
        api.get(&format!("/routines/{routine}")).ok().to_string(),
    ];
    for (at, text) in seen.iter().enumerate() {
        assert!(!text.contains("hunter22secret99"), "{at}");
    }
    // Names of the program itself that share a part with it stay as they are.
    assert!(!seen[3].contains("]_field"), "{}", seen[3]);
    // The value of an input is no placeholder of another one.
    assert!(seen[3].contains("Ada { {card}}"), "{}", seen[3]);
    for file in walk(tasks.served.home.root()) {
        let content = std::fs::read(&file).unwrap_or_default();
        assert!(!contains(&content, b"hunter22secret99"), "{}", file.display());
    }
}

fn contains(content: &[u8], wanted: &[u8]) -> bool {
    content.windows(wanted.len()).any(|part| part == wanted)
}

/// The files of the home itself; the profile of the browser holds what pages hold.
fn walk(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.is_file()).collect()
}

#[test]
fn an_approval_for_the_routine_holds_for_its_step_until_that_is_edited_or_taken_back() {
    let site = Site::start();
    site.page(
        "/",
        &format!(
            "{STYLE}<form method=post action=/order><input name=item value=Lamp><button>Place order</button></form>"
        ),
    );
    site.page("/order", &format!("{STYLE}<h1>Thank you</h1>"));
    let order = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        Do::Look,
        Do::Call("element_interaction", json!({ "action": "click", "element_id": "id:>Place order<" })),
        step("done", 1),
        Do::Say("Done."),
    ];
    let Some(tasks) = tasks(vec![order]) else { return };
    let text = |what: &str| {
        format!(
            "# Workflow: Order\n\n## Prerequisites\nStarting URL: {}\n\n## Step 1: Order\nPress Place order{what}. Follow plan 0\n",
            site.url("a", "/")
        )
    };
    let routine = Run::store(&tasks, &text(""));
    let guarded = json!({ "guard": "irreversible" });
    let mut run = Run::of(&tasks, &routine, &guarded);
    assert_eq!((run.last.0.as_str(), &run.last.1["routine_step"]), ("help_request", &json!(1)), "{:#}", run.last.1);
    run.answer(json!({ "decision": "routine" }));
    assert_eq!(run.report()["status"], "done", "{:#}", run.last.1);
    let api = &tasks.served.api;
    let path = format!("/routines/{routine}");
    let allowed = api.get(&path).ok()["routine"]["allowed"].clone();
    assert_eq!(allowed.as_array().unwrap().len(), 1, "{allowed:#}");
    assert_eq!(
        [&allowed[0]["step"], &allowed[0]["effect"], &allowed[0]["role"], &allowed[0]["name"], &allowed[0]["valid"]],
        [&json!(1), &json!("purchase"), &json!("button"), &json!("Place order"), &json!(true)]
    );
    // A later run does not ask.
    let run = Run::of(&tasks, &routine, &guarded);
    assert_eq!((run.last.0.as_str(), site.heads("a.localhost/order").len()), ("complete", 2), "{:#}", run.last.1);
    // Once the step says something else, it does.
    let changed =
        api.call("PATCH", &path, Some(&json!({ "version": 1, "routine_markdown": text(" twice") }).to_string())).ok();
    assert_eq!(changed["routine"]["allowed"][0]["valid"], false);
    assert_eq!(Run::of(&tasks, &routine, &guarded).last.0, "help_request");
    // With the old text again it holds again; taken back, it does not.
    api.post(&format!("{path}/versions/1/approve"), &json!({})).ok();
    assert_eq!(api.get(&path).ok()["routine"]["allowed"][0]["valid"], true);
    assert_eq!(api.delete(&format!("{path}/allowed/0")).ok()["routine"]["allowed"], json!([]));
    assert_eq!(Run::of(&tasks, &routine, &guarded).last.0, "help_request");
    assert_eq!(site.heads("a.localhost/order").len(), 2);
}

#[test]
fn a_step_whose_action_was_refused_is_done_only_with_the_help_of_a_person() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<form method=post action=/order><button>Place order</button></form><button type=button>Other</button>"));
    let click =
        |part: &str| Do::Call("element_interaction", json!({ "action": "click", "element_id": format!("id:{part}") }));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        step("begin", 1),
        Do::Look,
        click(">Place order<"),
        step("done", 1),
        // Another action of the step does not change that.
        click(">Other<"),
        step("done", 1),
        Do::Call("routine_step", json!({ "command": "blocked", "n": 1, "note": "The order was refused." })),
        step("done", 1),
        Do::Say("Done."),
    ];
    let Some(tasks) = tasks(vec![plan]) else { return };
    let text = format!(
        "# Workflow: Order\n\n## Prerequisites\nStarting URL: {}\n\n## Step 1: Order\nPress Place order. Follow plan 0\n",
        site.url("a", "/")
    );
    let mut run = Run::of_text(&tasks, &text, &json!({ "guard": "irreversible" }));
    run.answer(json!({ "decision": "refuse", "note": "not today" }));
    assert_eq!(run.last.0, "help_request", "{:#} {}", run.last.1, run.errors());
    assert_eq!(run.outcomes("routine_step"), ["ok", "CONFLICT", "CONFLICT"], "{}", run.errors());
    assert!(run.errors().contains("the user has refused an action of step 1"), "{}", run.errors());
    run.answer(json!({ "text": "Leave it." }));
    let report = run.report();
    assert_eq!([&report["status"], &report["steps"][0]["how"]], [&json!("done"), &json!("person")], "{report:#}");
    assert_eq!(site.heads("a.localhost/order").len(), 0);
}

#[test]
fn a_run_whose_sensitive_input_is_gone_is_not_resumed() {
    let site = Site::start();
    shop(&site);
    let Some(mut tasks) = tasks(vec![vec![Do::Tab("init", site.url("a", "/")), Do::Help("Which one?")]]) else {
        return;
    };
    let text = format!(
        "# Workflow: Pay\n\n## Prerequisites\nStarting URL: {}\n\n## Inputs\n- card (sensitive)\n\n## Step 1: Pay\nType {{{{card}}}}. Follow plan 0\n",
        site.url("a", "/")
    );
    let run = Run::of_text(&tasks, &text, &json!({ "inputs": { "card": "hunter22" } }));
    assert_eq!(run.last.0, "help_request", "{:#}", run.last.1);
    let path = format!("/agent/conversations/{}", run.id);
    tasks.served.api.post(&format!("{path}/stop"), &json!({})).ok();
    tasks.served.restart();
    let refused = tasks.served.api.post(&format!("{path}/resume"), &json!({})).fails(409, "CONFLICT");
    assert!(refused["error"].as_str().unwrap().contains("the value of the input \"card\" is gone"), "{refused}");
}

#[test]
fn a_login_page_and_a_limit_end_a_run_by_name() {
    let site = Site::start();
    site.page(
        "/login",
        &format!("{STYLE}<h1>Please sign in</h1><input type=password aria-label=Password><button>Sign in</button>"),
    );
    shop(&site);
    let plan = |start: &str| {
        let mut plan = vec![Do::Tab("init", site.url("a", start)), step("begin", 1)];
        plan.extend((0..6).map(|_| Do::Look));
        plan
    };
    let Some(tasks) = tasks(vec![plan("/login"), plan("/"), vec![Do::Tab("init", site.url("a", "/")), Do::Hang]])
    else {
        return;
    };
    let text = |title: &str, plan: usize| {
        format!(
            "# Workflow: Orders\n\n## Prerequisites\nStarting URL: {}\n\n## Step 1: {title}\nOpen the list. Follow plan {plan}\n",
            site.url("a", "/")
        )
    };
    let run = Run::of_text(&tasks, &text("Open the orders", 0), &json!({}));
    let report = run.report();
    assert_eq!([&report["status"], &report["code"]], [&json!("failed"), &json!("LOGIN_REQUIRED")], "{report:#}");
    assert_eq!([&run.last.1["code"], &json!(run.last.0)], [&json!("LOGIN_REQUIRED"), &json!("error")]);
    assert!(run.last.1["error"].as_str().unwrap().contains(&site.url("a", "/login")), "{:#}", run.last.1);
    // A step that is about the login expects it.
    let limits = json!({ "limits": { "model_steps": 4 } });
    let run = Run::of_text(&tasks, &text("Log in", 0), &limits);
    assert_eq!(run.report()["code"], "LIMIT_REACHED", "{:#}", run.last.1);
    let run = Run::of_text(&tasks, &text("Open the orders", 1), &limits);
    let report = run.report();
    assert_eq!(
        [&report["code"], &report["steps"][0]["status"]],
        [&json!("LIMIT_REACHED"), &json!("failed")],
        "{report:#}"
    );
    assert!(run.last.1["error"].as_str().unwrap().contains("limits.model_steps"), "{:#}", run.last.1);
}

#[test]
fn a_conversation_in_replay_mode_takes_a_routine_as_its_first_message() {
    let site = Site::start();
    shop(&site);
    let plan = vec![step("begin", 1), step("done", 1), Do::Say("Done.")];
    let Some(tasks) = tasks(vec![plan]) else { return };
    let id = tasks.create(&json!({ "mode": "routine_replay" }));
    let path = format!("/agent/conversations/{id}/messages");
    let refused = tasks.served.api.post(&path, &json!({ "text": "Buy a lamp" })).fails(400, "BAD_REQUEST");
    assert!(refused["details"]["problems"].as_array().is_some_and(|all| !all.is_empty()), "{refused}");
    let text = format!(
        "# Workflow: Look\n\n## Prerequisites\nStarting URL: {}\n\n## Step 1: Look\nLook at it. Follow plan 0\n",
        site.url("a", "/")
    );
    let mut stream = tasks.served.api.events_of("POST", &path, Some(&json!({ "text": text }).to_string()), "");
    while stream.try_next().is_some() {}
    assert_eq!(tasks.events(&id).last().unwrap().0, "complete");
    let tools = tasks.model.requests().last().unwrap()["tools"].to_string();
    assert!(tools.contains("routine_step"), "{tools}");
}
