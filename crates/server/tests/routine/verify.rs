//! Runs that are compared with the recording of their routine: a person's work is recorded, compiled, and repeated by a model that
//! follows a script.

use std::sync::Arc;

use cdpilot_server::config::{Confirm, Guard};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::recording_compile::to_end;
use crate::support::agent_plan::{Do, model_of_shared};
use crate::support::api::TestServer;
use crate::support::share::rounds;
use crate::support::streaming_model::StreamingModel;

const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 6px }</style>";
/// The plan of the compilation; those of runs follow.
const COMPILE: usize = 0;

/// A routine that was made from a recording of work on invoices.
struct Shop {
    stage: Stage,
    plans: Arc<Mutex<Vec<Vec<Do>>>>,
    _model: StreamingModel,
    routine: String,
    text: String,
}

fn pages(served: &TestServer) {
    let form = "<title>Invoices</title><form action=/found><label>Customer <input name=customer></label> \
        <label>Note <input name=note></label> <label>Status <select name=status><option value=all>All<option value=due>Due \
        <option value=paid>Paid</select></label> <label><input type=checkbox name=old> Old ones</label> <button>Show</button></form>";
    served.site.page("/", &format!("{STYLE}{form}"));
    let row = |n: u32| {
        let script = format!("document.title = 'Archived {n}'; this.closest('tr').classList.add('done')");
        format!(
            "<tr><th>Invoice {n}</th><td><button data-n={n} onclick=\"{script}\">Archive</button>\
             <button data-print={n}>Print</button></td></tr>"
        )
    };
    let rows: String = [1001, 1002, 1003].map(row).concat();
    let more = "<form action=/closed method=post><button>Close the year</button></form>";
    served
        .site
        .page("/found", &format!("{STYLE}<title>Found</title><table>{rows}</table><a href=/help>Help</a>{more}"));
    served.site.page("/help", &format!("{STYLE}<title>Help</title>Help"));
    served.site.page("/closed", &format!("{STYLE}<title>Closed</title>Closed"));
}

/// Numbers of the events of these types.
fn indexes(events: &[Value], kinds: &[&str]) -> Vec<u64> {
    let of_kind = events.iter().filter(|event| kinds.contains(&event["event_type"].as_str().unwrap()));
    of_kind.map(|event| event["event_index"].as_u64().unwrap()).collect()
}

impl Shop {
    /// `closes`: the person also does what cannot be undone, as a last step.
    fn new(closes: bool) -> Option<Self> {
        let served = TestServer::browsing_with(|config, _| {
            config.agent.confirm = Confirm::Never;
            config.agent.guard = Guard::Irreversible;
        })?;
        pages(&served);
        let plans = Arc::new(Mutex::new(vec![Vec::new()]));
        let model = model_of_shared(&plans);
        let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
        served.api.post("/api/config/llm", &models).ok();
        let stage = Stage::of(served, "/");
        let api = &stage.served.api;
        let shows = |title: &str| {
            api.until(title, &stage.path("/events?limit=5000"), |answer| {
                answer["events"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|event| event["event_type"] == "page_view" && event["page"]["title"] == title)
            });
        };
        stage.person.click("document.querySelector('input')");
        stage.person.write("Ada");
        stage.person.eval("document.querySelector('select').focus()");
        stage.person.press("ArrowDown", 0);
        stage.person.click("document.querySelector('button')");
        shows("Found");
        stage.person.click("document.querySelector('[data-n=\"1002\"]')");
        if closes {
            stage.person.click("document.querySelector('form button')");
            shows("Closed");
        }
        let events = stage.events();
        let clicks: Vec<u64> = events
            .iter()
            .filter(|event| event["event_type"] == "click" && event["element"]["role"] == "button")
            .map(|event| event["event_index"].as_u64().unwrap())
            .collect();
        let mut step_events = json!({
            "1": indexes(&events, &["input", "change"]), "2": [clicks[0]], "3": [clicks[1]],
        });
        let start = stage.served.site.url("a", "/");
        let mut text = format!(
            "# Workflow: Archive the invoice\n\n## Prerequisites\nStarting URL: {start}\nFollow plan 1\n\n## Inputs\n- customer (default Ada)\n\n\
             ## Step 1: Fill in the filter\nType {{{{customer}}}} into Customer, and set Status to due (Due).\n\n\
             ## Step 2: Show them\nPress Show.\n\n## Step 3: Archive it\nPress Archive in the row Invoice 1002.\n"
        );
        if closes {
            text.push_str("\n## Step 4: Close\nPress Close the year.\n");
            step_events["4"] = json!([clicks[2]]);
        }
        let questions = ["position_or_identity", "subset", "filter_touched", "varying_value", "computed_value"];
        let all: Vec<u64> = (1..=events.len() as u64).collect();
        let ask = |topic: &str| ("ask_user", json!({ "question": format!("{topic}?"), "topic": topic, "events": all }));
        plans.lock()[COMPILE] = vec![
            Do::Calls(vec![
                ("trace_viewer", json!({ "command": "summary" })),
                ("trace_viewer", json!({ "command": "normalized_steps" })),
            ]),
            Do::Calls(questions[..3].iter().map(|topic| ask(topic)).collect()),
            Do::Calls(questions[3..].iter().map(|topic| ask(topic)).collect()),
            Do::Call("submit_routine", json!({ "markdown": text, "step_events": step_events })),
            Do::Say("Archives an invoice."),
        ];
        // The model is chosen by the plan in the first message, which has the name of the recording.
        api.post(&stage.path("/intent-note"), &json!({ "intent_note": "plan 0" })).ok();
        let post =
            |end: &str, body: Value| to_end(&mut api.events_of("POST", &stage.path(end), Some(&body.to_string()), ""));
        assert_eq!(post("/compile", json!({})).result()["status"], "asking");
        assert_eq!(post("/compile/answer", json!({ "text": "Always this one." })).result()["status"], "asking");
        let ended = post("/compile/answer", json!({ "text": "The customer differs." }));
        assert_eq!(ended.result()["status"], "review", "{:#}", ended.data);
        let saved = api.post(&stage.path("/compile/finalize"), &json!({ "name": "archive" })).ok();
        let routine = saved["routine_id"].as_str().unwrap().to_owned();
        assert_eq!(saved["routine"]["trust"], "untried");
        Some(Self { stage, plans, _model: model, routine, text })
    }

    fn routine(&self) -> Value {
        self.stage.served.api.get(&format!("/routines/{}", self.routine)).ok()["routine"].clone()
    }

    /// Gives the routine another text and another plan.
    fn write(&self, change: impl Fn(&str) -> String, plan: Vec<Do>) {
        let number = {
            let mut plans = self.plans.lock();
            plans.push(plan);
            plans.len() - 1
        };
        let text = change(&self.text).replace("plan 1", &format!("plan {number}"));
        let body = json!({ "version": self.routine()["version"], "routine_markdown": text });
        let path = format!("/routines/{}", self.routine);
        self.stage.served.api.call("PATCH", &path, Some(&body.to_string())).ok();
    }

    /// Runs the routine with `verify`. Returns the report.
    fn verify(&self, more: Value) -> Value {
        let mut body = json!({ "verify": true });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let path = format!("/routines/{}/run", self.routine);
        let api = &self.stage.served.api;
        let mut stream = api.events_of("POST", &path, Some(&body.to_string()), "");
        let (_, connected) = stream.next_of("connected");
        while let Some((name, _, data)) = stream.try_next() {
            assert_ne!(name, "help_request", "{data:#}");
            if matches!(&*name, "complete" | "error") {
                break;
            }
        }
        let id = connected["conversation_id"].as_str().unwrap();
        let report = api.get(&format!("/routines/{}/runs/{id}", self.routine)).ok();
        // No recording of the run is left.
        assert_eq!(api.get("/recordings").ok()["count"], 1, "{report:#}");
        report
    }

    fn start(&self) -> Do {
        Do::Tab("init", self.stage.served.site.url("a", "/"))
    }
}

fn step(command: &str, n: u32) -> Do {
    Do::Call("routine_step", json!({ "command": command, "n": n }))
}

fn fill(value: &'static str) -> Do {
    Do::Act("keyboard_input", "name=\"customer\"", value)
}

fn select(value: &'static str) -> Do {
    Do::Act("select", "name=\"status\"", value)
}

fn press(part: &'static str) -> Do {
    Do::Act("click", part, "")
}

/// The right plan, with other calls in place of the three steps.
fn plan(shop: &Shop, steps: [Vec<Do>; 3]) -> Vec<Do> {
    let mut plan = vec![shop.start()];
    for (at, calls) in steps.into_iter().enumerate() {
        let n = at as u32 + 1;
        if n == 1 {
            plan.push(step("begin", 1));
        }
        plan.extend(calls);
        plan.push(step("done", n));
    }
    plan.push(Do::Say("Archived."));
    plan
}

fn right() -> [Vec<Do>; 3] {
    [vec![fill("Ada"), select("due")], vec![press(">Show<")], vec![press("data-n=\"1002\"")]]
}

#[test]
fn a_routine_is_verified_by_a_run_that_does_what_was_recorded() {
    let Some(shop) = Shop::new(false) else { return };
    shop.write(str::to_owned, plan(&shop, right()));
    let report = shop.verify(json!({}));
    assert_eq!([&report["status"], &report["verification"]["verified"]], [&json!("done"), &json!(true)], "{report:#}");
    assert_eq!(shop.routine()["trust"], "verified");
    // With another value of an input, which the comparison takes into account; Enter instead of the button.
    let enter = Do::Call(
        "element_interaction",
        json!({ "action": "press_key", "key": "Enter", "element_id": "id:name=\"customer\"" }),
    );
    let [_, _, third] = right();
    shop.write(str::to_owned, plan(&shop, [vec![select("due"), fill("Bo")], vec![enter], third]));
    assert_eq!(shop.routine()["trust"], "untried");
    let report = shop.verify(json!({ "inputs": { "customer": "Bo" } }));
    assert_eq!(report["verification"], json!({ "verified": true, "problems": [] }), "{report:#}");
    assert_eq!(shop.routine()["trust"], "verified");
    // A run without verification does not make it verified.
    // The program does the first two steps, with three calls; the model does the one whose text was changed.
    let calls =
        [Do::Look, Do::Look, Do::Look, Do::Look, press("data-n=\"1002\""), step("done", 3), Do::Say("Archived.")];
    shop.write(|text| text.replace("Archive it", "Archive"), calls.to_vec());
    let report = shop.run_plainly();
    assert_eq!(report["status"], "done", "{report:#}");
    let how: Vec<&Value> = report["steps"].as_array().unwrap().iter().map(|step| &step["how"]).collect();
    assert_eq!(how, ["fast", "fast", "model"], "{report:#}");
    assert_eq!(shop.routine()["trust"], "untried");
}

impl Shop {
    fn run_plainly(&self) -> Value {
        let path = format!("/routines/{}/run", self.routine);
        let api = &self.stage.served.api;
        let body = json!({ "login": "own" }).to_string();
        let mut stream = api.events_of("POST", &path, Some(&body), "");
        let (_, connected) = stream.next_of("connected");
        while stream.try_next().is_some() {}
        let id = connected["conversation_id"].as_str().unwrap();
        api.get(&format!("/routines/{}/runs/{id}", self.routine)).ok()
    }
}

/// A faulty routine: what its text says instead, and what a model does that follows it.
type Faulty = (&'static str, fn(&str) -> String, [Vec<Do>; 3]);

fn faulty() -> Vec<Faulty> {
    let same: fn(&str) -> String = str::to_owned;
    let archive = |n: &'static str| vec![press(n)];
    let first = |calls: Vec<Do>| [calls, right()[1].clone(), right()[2].clone()];
    let second = |calls: Vec<Do>| [right()[0].clone(), calls, right()[2].clone()];
    let third = |calls: Vec<Do>| [right()[0].clone(), right()[1].clone(), calls];
    vec![
        // Wrong target.
        ("row above", |text| text.replace("row Invoice 1002", "row Invoice 1001"), third(archive("data-n=\"1001\""))),
        ("row below", |text| text.replace("row Invoice 1002", "row Invoice 1003"), third(archive("data-n=\"1003\""))),
        ("first row", |text| text.replace("row Invoice 1002", "first row"), third(archive("data-n=\"1001\""))),
        ("other button", |text| text.replace("Press Archive", "Press Print"), third(archive("data-print=\"1002\""))),
        (
            "other button of another row",
            |text| text.replace("Press Archive", "Press Print"),
            third(archive("data-print=\"1001\"")),
        ),
        ("link", |text| text.replace("Press Archive in the row Invoice 1002", "Open Help"), third(archive(">Help<"))),
        (
            "other field",
            |text| text.replace("into Customer", "into Note"),
            first(vec![Do::Act("keyboard_input", "name=\"note\"", "Ada"), select("due")]),
        ),
        ("checkbox instead of list", same, first(vec![fill("Ada"), press("name=\"old\"")])),
        // Wrong value.
        ("other name", |text| text.replace("{{customer}}", "{{customer}}m"), first(vec![fill("Adam"), select("due")])),
        ("beginning of the name", same, first(vec![fill("Ad"), select("due")])),
        ("empty", same, first(vec![fill(""), select("due")])),
        ("other case", same, first(vec![fill("ada"), select("due")])),
        ("other option", |text| text.replace("due (Due)", "paid (Paid)"), first(vec![fill("Ada"), select("paid")])),
        ("no option", |text| text.replace(", and set Status to due (Due)", ""), first(vec![fill("Ada")])),
        (
            "no name",
            |text| text.replace("Type {{customer}} into Customer, and set", "Leave {{customer}} alone. Set"),
            first(vec![select("due")]),
        ),
        ("overwritten", same, first(vec![fill("Ada"), select("due"), fill("Bob")])),
        ("chosen and taken back", same, first(vec![fill("Ada"), select("due"), select("all")])),
        ("swapped", same, first(vec![fill("due"), select("due")])),
        // Missing step, or one without an effect.
        ("nothing in step 3", same, third(vec![])),
        ("only looks in step 3", same, third(vec![Do::Look])),
        ("nothing in step 1", same, first(vec![])),
        ("nothing in step 2", same, second(vec![])),
        ("other page in step 2", same, second(vec![Do::Look])),
        ("archived twice elsewhere", same, third([archive("data-n=\"1001\""), archive("data-n=\"1003\"")].concat())),
        ("ends elsewhere", same, third([archive("data-n=\"1002\""), archive(">Help<")].concat())),
        ("another one last", same, third([archive("data-n=\"1002\""), archive("data-n=\"1003\"")].concat())),
        // Wrong order.
        ("shown before it was filled in", same, [vec![press(">Show<")], vec![], right()[2].clone()]),
        (
            "archived in step 2",
            same,
            [right()[0].clone(), [right()[1].clone(), right()[2].clone()].concat(), vec![Do::Look]],
        ),
        ("filled in after it was shown", same, [vec![Do::Look], vec![press(">Show<")], right()[2].clone()]),
        ("all in step 1", same, [right().concat(), vec![Do::Look], vec![Do::Look]]),
    ]
}

/// None of thirty faulty routines is verified, and each says where it fails.
#[test]
fn faulty_routines_are_not_verified() {
    let Some(shop) = Shop::new(false) else { return };
    let mut all = faulty();
    assert_eq!(all.len(), 30);
    fastrand::shuffle(&mut all);
    for (name, change, steps) in all.into_iter().take(rounds("CDPILOT_TEST_FAULTY", 4, 30)) {
        shop.write(change, plan(&shop, steps));
        let report = shop.verify(json!({}));
        assert_eq!(shop.routine()["trust"], "failing", "{name}: {report:#}");
        assert_eq!(report["status"], "failed", "{name}: {report:#}");
        let failed = report["steps"].as_array().unwrap().iter().find(|step| step["status"] == "failed").unwrap();
        println!("{name}: step {}: {}, not {}", failed["n"], failed["cause"]["sought"], failed["cause"]["found"]);
    }
}

#[test]
fn a_routine_without_a_recorded_action_is_not_compared() {
    let Some(shop) = Shop::new(false) else { return };
    let path = format!("/routines/{}/run", shop.routine);
    let api = &shop.stage.served.api;
    // A step was deleted, or two changed places.
    let swapped = |text: &str| {
        text.replace("Step 2: Show them\nPress Show.", "Step 2: X\nX.")
            .replace("Step 3: Archive it\nPress Archive in the row Invoice 1002.", "Step 3: Show them\nPress Show.")
            .replace("Step 2: X\nX.", "Step 2: Archive it\nPress Archive in the row Invoice 1002.")
    };
    let cut = |text: &str| text.split("\n## Step 3").next().unwrap().to_owned();
    for change in [&swapped as &dyn Fn(&str) -> String, &cut] {
        shop.write(change, vec![Do::Say("No.")]);
        let refused = api.post(&path, &json!({ "verify": true })).fails(409, "CONFLICT");
        assert!(refused["error"].as_str().unwrap().contains("a recorded action is in none of its steps"), "{refused}");
        assert_eq!(shop.routine()["trust"], "untried");
    }
    api.delete(&shop.stage.path("")).ok();
    let refused = api.post(&path, &json!({ "verify": true })).fails(409, "CONFLICT");
    assert!(refused["error"].as_str().unwrap().contains("was deleted"), "{refused}");
    let plain = api.post("/routines", &json!({ "name": "plain", "routine_markdown": shop.text })).ok();
    let path = format!("/routines/{}/run", plain["routine_id"].as_str().unwrap());
    let refused = api.post(&path, &json!({ "verify": true })).fails(409, "CONFLICT");
    assert!(refused["error"].as_str().unwrap().contains("made from a recording"), "{refused}");
}

#[test]
fn an_irreversible_last_step_is_not_done_and_the_report_says_so() {
    let Some(shop) = Shop::new(true) else { return };
    let mut calls = plan(&shop, right());
    calls.pop();
    calls.extend([press(">Close the year<"), step("done", 4), Do::Say("Closed.")]);
    shop.write(str::to_owned, calls);
    let report = shop.verify(json!({}));
    assert_eq!(report["verification"], json!({ "verified": true, "up_to": 3, "problems": [] }), "{report:#}");
    assert_eq!([&report["status"], &report["steps"][3]["status"]], [&json!("done"), &json!("skipped")]);
    assert!(report["steps"][3]["note"].as_str().unwrap().contains("not done in this verification"), "{report:#}");
    assert_eq!(shop.routine()["trust"], "verified");
    // Once, by the person.
    let requested = shop.stage.served.site.requested();
    assert_eq!(requested.iter().filter(|path| path.ends_with("/closed")).count(), 1, "{requested:?}");
}
