//! Runs without a model: a person's work is recorded and compiled, and the program repeats it.

use std::sync::Arc;

use cdpilot_server::config::Confirm;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::recording_compile::to_end;
use crate::support::agent_plan::{Do, model_of_shared};
use crate::support::api::{Api, TestServer};
use crate::support::streaming_model::StreamingModel;

pub(crate) const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 6px }</style>";

/// A routine that was made from a person's work.
pub(crate) struct Made {
    pub(crate) stage: Stage,
    pub(crate) plans: Arc<Mutex<Vec<Vec<Do>>>>,
    model: StreamingModel,
    pub(crate) routine: String,
}

/// What a person does: their work; the text of the routine and the events of its steps, as the model writes them.
pub(crate) struct Task<'t> {
    pub(crate) pages: &'t dyn Fn(&TestServer),
    pub(crate) work: &'t dyn Fn(&Stage),
    /// Everything below the Starting URL.
    pub(crate) text: &'t str,
    pub(crate) steps: &'t dyn Fn(&[Value]) -> Value,
}

/// The number of the n-th event of a type, from 0, whose element has a name or whose text is in the event.
pub(crate) fn event(events: &[Value], kind: &str, part: &str) -> u64 {
    let found = events.iter().find(|event| event["event_type"] == kind && event["element"].to_string().contains(part));
    found.unwrap_or_else(|| panic!("no {kind} of {part}: {events:#?}"))["event_index"].as_u64().unwrap()
}

/// What a request tells the model of a submission that was refused.
fn refusal(request: &Value) -> Option<String> {
    let last = request["messages"].as_array()?.last()?["content"].to_string();
    last.contains("problems").then_some(last)
}

/// Compiles a recording with a model that writes this text, and saves the routine.
pub(crate) fn compiled(
    api: &Api,
    (plans, model): (&Mutex<Vec<Vec<Do>>>, &StreamingModel),
    recording: &str,
    count: u64,
    text: &str,
    steps: &Value,
) -> String {
    let path = |end: &str| format!("/recordings/{recording}{end}");
    let topics =
        ["position_or_identity", "subset", "filter_touched", "varying_value", "computed_value", "overlay", "login"];
    let all: Vec<u64> = (1..=count).collect();
    let ask = |topic: &&str| ("ask_user", json!({ "question": format!("{topic}?"), "topic": topic, "events": all }));
    plans.lock()[0] = vec![
        Do::Calls(vec![
            ("trace_viewer", json!({ "command": "summary" })),
            ("trace_viewer", json!({ "command": "normalized_steps" })),
        ]),
        Do::Calls(topics[..3].iter().map(ask).collect()),
        Do::Calls(topics[3..6].iter().map(ask).collect()),
        Do::Calls(topics[6..].iter().map(ask).collect()),
        Do::Call("submit_routine", json!({ "markdown": text, "step_events": steps })),
        Do::Say("Made."),
        Do::Say("Made."),
        Do::Say("Made."),
    ];
    api.post(&path("/intent-note"), &json!({ "intent_note": "plan 0" })).ok();
    let post = |end: &str, body: Value| to_end(&mut api.events_of("POST", &path(end), Some(&body.to_string()), ""));
    let mut ended = post("/compile", json!({}));
    while ended.name == "complete" && ended.result()["status"] == "asking" {
        ended = post("/compile/answer", json!({ "text": "Always this one; it may differ." }));
    }
    let refused = || model.requests().iter().filter_map(refusal).collect::<Vec<_>>();
    assert_eq!((&*ended.name, &ended.data["result"]["status"]), ("complete", &json!("review")), "{:#?}", refused());
    let saved = api.post(&path("/compile/finalize"), &json!({ "name": "made" })).ok();
    saved["routine_id"].as_str().unwrap().to_owned()
}

/// Runs a routine, and returns its report.
pub(crate) fn run(api: &Api, routine: &str, body: &Value) -> Value {
    let path = format!("/routines/{routine}/run");
    let mut stream = api.events_of("POST", &path, Some(&body.to_string()), "");
    let (_, connected) = stream.next_of("connected");
    while let Some((name, _, data)) = stream.try_next() {
        assert_ne!(name, "help_request", "{data:#}");
        if matches!(&*name, "complete" | "error") {
            break;
        }
    }
    let id = connected["conversation_id"].as_str().unwrap();
    api.get(&format!("/routines/{}/runs/{id}", routine)).ok()
}

impl Made {
    pub(crate) fn new(task: &Task<'_>) -> Option<Self> {
        let served = TestServer::browsing_with(|config, _| config.agent.confirm = Confirm::Never)?;
        Some(Self::on(served, task))
    }

    pub(crate) fn on(served: TestServer, task: &Task<'_>) -> Self {
        (task.pages)(&served);
        let plans = Arc::new(Mutex::new(vec![Vec::new()]));
        let model = model_of_shared(&plans);
        let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
        served.api.post("/api/config/llm", &models).ok();
        let stage = Stage::of(served, "/");
        (task.work)(&stage);
        let events = stage.events();
        let api = &stage.served.api;
        let start = stage.served.site.url("a", "/");
        let text =
            format!("# Workflow: Do it\n\n## Prerequisites\nStarting URL: {start}\nFollow plan 1\n{}", task.text);
        let steps = (task.steps)(&events);
        let routine = compiled(api, (&plans, &model), &stage.id, events.len() as u64, &text, &steps);
        Self { stage, plans, model, routine }
    }

    pub(crate) fn routine(&self) -> Value {
        self.stage.served.api.get(&format!("/routines/{}", self.routine)).ok()["routine"].clone()
    }

    /// Requests to the model so far.
    pub(crate) fn requests(&self) -> usize {
        self.model.requests().len()
    }

    /// What the program has told the model last, as JSON text.
    pub(crate) fn last_notice(&self) -> String {
        let requests = self.model.requests();
        let messages = requests.last().unwrap()["messages"].as_array().unwrap();
        let told = messages.iter().rfind(|message| message["content"].to_string().contains("is yours"));
        told.unwrap_or_else(|| panic!("no notice: {messages:#?}"))["content"].to_string()
    }

    /// How many pictures came with it.
    pub(crate) fn images_of_notice(&self) -> usize {
        let requests = self.model.requests();
        let first = requests.iter().rev().find_map(|request| {
            let messages = request["messages"].as_array()?;
            let at = messages.iter().rposition(|message| message["content"].to_string().contains("is yours"))?;
            let next = messages.get(at + 1).map(|message| message["content"].to_string()).unwrap_or_default();
            Some(next.matches("\"image_url\":").count())
        });
        first.unwrap_or_default()
    }

    /// Runs the routine, and returns its report.
    pub(crate) fn run(&self, body: &Value) -> Value {
        run(&self.stage.served.api, &self.routine, body)
    }

    /// Runs the routine up to a question; the id of the run, and the question.
    pub(crate) fn waiting(&self, body: &Value) -> (String, Value) {
        let path = format!("/routines/{}/run", self.routine);
        let mut stream = self.stage.served.api.events_of("POST", &path, Some(&body.to_string()), "");
        let (_, connected) = stream.next_of("connected");
        let (_, question) = stream.next_of("help_request");
        (connected["conversation_id"].as_str().unwrap().to_owned(), question)
    }

    /// The same without a model.
    pub(crate) fn fast(&self, inputs: Value) -> Value {
        self.run(&json!({ "model": "none", "login": "own", "inputs": inputs }))
    }

    /// Gives the model a plan for runs, and the routine the text that names it.
    pub(crate) fn plan(&self, plan: Vec<Do>) {
        let mut plans = self.plans.lock();
        plans.truncate(1);
        plans.push(plan);
    }
}

pub(crate) fn statuses(report: &Value) -> Vec<String> {
    let each = report["steps"].as_array().unwrap().iter();
    each.map(|step| format!("{} {}", step["status"].as_str().unwrap(), step["how"].as_str().unwrap_or("-"))).collect()
}

/// Work on invoices: a filter, a list, a row.
fn invoices(served: &TestServer) {
    let form = "<title>Invoices</title><form action=/found><label>Customer <input name=customer></label> \
        <label>Status <select name=status><option value=all>All<option value=due>Due</select></label> \
        <label><input type=checkbox name=old> Old ones</label> <button>Show</button></form>";
    served.site.page("/", &format!("{STYLE}{form}"));
    served.site.page("/found", &found(&[1001, 1002, 1003], "Archive"));
}

/// The list: each button asks the server for what it does.
pub(crate) fn found(numbers: &[u32], button: &str) -> String {
    let row = |n: &u32| {
        format!(
            "<tr><th>Invoice {n}</th><td><button data-n={n} onclick=\"fetch('/archive/{n}').then(() => {{ this.closest('tr').hidden = true; \
             document.title = 'Archived {n}' }})\">{button}</button></td></tr>"
        )
    };
    let rows: String = numbers.iter().map(row).collect();
    format!("{STYLE}<title>Found</title><table>{rows}</table>")
}

fn archived(made: &Made) -> Vec<String> {
    let all = made.stage.served.site.requested();
    all.iter().filter_map(|path| path.split_once("/archive/").map(|(_, n)| n.to_owned())).collect()
}

const TEXT: &str = "\n## Inputs\n- customer (default Ada)\n\n## Step 1: Fill in the filter\nType {{customer}} into Customer, set Status \
     to Due (due), and check Old ones.\n\n## Step 2: Show them\nPress Show.\n\n## Step 3: Archive it\nPress Archive in the row Invoice 1002.\n";

pub(crate) fn of_invoices() -> Option<Made> {
    let work = |stage: &Stage| {
        let api = &stage.served.api;
        stage.person.click("document.querySelector('input')");
        stage.person.write("Ada");
        stage.person.eval("document.querySelector('select').focus()");
        stage.person.press("ArrowDown", 0);
        stage.person.click("document.querySelector('[name=old]')");
        stage.person.click("document.querySelector('button')");
        api.until("the list", &stage.path("/events?limit=5000"), |answer| answer.to_string().contains("\"Found\""));
        stage.person.click("document.querySelectorAll('button')[1]");
        api.until("the archive", &stage.path("/events?limit=5000"), |_| {
            stage.served.site.requested().iter().any(|path| path.contains("/archive/1002"))
        });
    };
    let steps = |events: &[Value]| {
        let kinds = ["input", "change"];
        let first = events.iter().filter(|event| kinds.contains(&event["event_type"].as_str().unwrap()));
        let first: Vec<u64> = first.map(|event| event["event_index"].as_u64().unwrap()).collect();
        json!({ "1": first, "2": [event(events, "click", "\"Show\"")], "3": [event(events, "click", "\"Archive\"")] })
    };
    Made::new(&Task { pages: &invoices, work: &work, text: TEXT, steps: &steps })
}

#[test]
fn what_was_recorded_is_done_without_a_model() {
    let Some(made) = of_invoices() else { return };
    assert_eq!(made.routine()["fast_steps"], json!([1, 2, 3]));
    let (before, archives) = (made.requests(), archived(&made).len());
    let report = made.fast(json!({}));
    assert_eq!(report["status"], "done", "{report:#}");
    assert_eq!(statuses(&report), ["done fast", "done fast", "done fast"], "{report:#}");
    assert_eq!((&report["model_requests"], made.requests()), (&json!(0), before));
    assert_eq!(archived(&made)[archives..], ["1002"]);
    let site = &made.stage.served.site;
    let shown = |query: &str| site.heads("a.localhost/found").iter().filter(|head| head.contains(query)).count();
    assert_eq!(shown("/found?customer=Ada&status=due&old=on "), 2);
    let text = report["result"]["text"].as_str().unwrap();
    assert!(text.contains("Invoice 1003") && !text.contains("Invoice 1002"), "{text}");
    // Another value of the input is typed in place of the recorded one, and the row is found in another place.
    site.page("/found", &found(&[1003, 1002], "Archive"));
    let report = made.fast(json!({ "customer": "Bo Li" }));
    assert_eq!(report["status"], "done", "{report:#}");
    assert_eq!(shown("/found?customer=Bo+Li&status=due&old=on "), 1);
    assert_eq!(archived(&made)[archives..], ["1002", "1002"]);
}

#[test]
fn what_is_not_there_any_more_stops_the_run_and_nothing_similar_is_used() {
    let Some(made) = of_invoices() else { return };
    let archives = archived(&made).len();
    let site = &made.stage.served.site;
    let row = "<table><tr><th>Invoice 1002</th><td><button onclick=\"fetch('/archive/wrong')\">";
    for (html, code, found_part) in [
        (found(&[1001, 1003], "Archive"), "TARGET_NOT_FOUND", "Invoice 1001"),
        (found(&[1002], "Delete everything"), "TARGET_NOT_FOUND", "nothing of this kind"),
        (found(&[10021], "Archive"), "TARGET_NOT_FOUND", "Invoice 10021"),
        (
            format!("{}{row}Archive</button></td></tr></table>", found(&[1002], "Archive")),
            "TARGET_AMBIGUOUS",
            "2 of them",
        ),
        (
            "<title>Found</title><dialog open><h2>Invoice 1002</h2><button onclick=\"fetch('/archive/wrong')\">Archive</button></dialog>".to_owned(),
            "TARGET_NOT_FOUND",
            "in dialog",
        ),
    ] {
        site.page("/found", &html);
        let report = made.fast(json!({}));
        assert_eq!((&report["status"], &report["code"]), (&json!("failed"), &json!(code)), "{report:#}");
        let cause = &report["steps"][2]["cause"];
        assert_eq!(cause["sought"], "button \"Archive\" in row \"Invoice 1002\"", "{report:#}");
        assert!(cause["found"].as_str().unwrap().contains(found_part), "{report:#}");
        assert_eq!(statuses(&report), ["done fast", "done fast", "failed -"], "{report:#}");
    }
    assert_eq!(archived(&made).len(), archives, "nothing was archived");
}

#[test]
fn a_model_finds_what_has_changed_and_the_run_goes_on_without_it() {
    let Some(made) = of_invoices() else { return };
    let site = &made.stage.served.site;
    let api = &made.stage.served.api;
    let changed =
        found(&[1001, 1002], "Put away").replace("</table>", "</table><p>Since May, buttons say Put away.</p>");
    site.page("/found", &changed);
    // The program has made four calls; the fifth answer is the first one of the model.
    made.plan(vec![
        Do::Look,
        Do::Look,
        Do::Look,
        Do::Look,
        Do::Look,
        Do::Act("click", "data-n=\"1002\"", ""),
        Do::Call("routine_step", json!({ "command": "done", "n": 3 })),
        Do::Say("Archived."),
    ]);
    let (archives, requests) = (archived(&made).len(), made.requests());
    let report = made.run(&json!({ "login": "own" }));
    assert_eq!(statuses(&report), ["done fast", "done fast", "healed model"], "{report:#}");
    assert_eq!((made.requests() - requests, &archived(&made)[archives..]), (4, &["1002".to_owned()][..]));
    let notice = made.last_notice();
    assert!(
        notice.contains("button \\\"Archive\\\" in row \\\"Invoice 1002\\\"")
            && notice.contains("nothing of this kind"),
        "{notice}"
    );
    // It got the picture of the recording, if there is one, and that of the page.
    let images = made.images_of_notice();
    let recorded = report["steps"][2]["recorded_image"].as_str();
    assert_eq!(images, 1 + usize::from(recorded.is_some()), "{report:#}");
    if let Some(path) = recorded {
        assert!(made.stage.picture(path).starts_with(&[0xff, 0xd8]), "{path}");
    }
    assert_eq!(api.get("/recordings").ok()["count"], 1, "no recording of the run is left");
    // What it has found is proposed, and used once a person has approved it.
    let proposed = made.routine()["proposed"].clone();
    assert_eq!((&proposed["run_id"], &report["proposed_version"]), (&report["run_id"], &proposed["version"]));
    let version = format!("/routines/{}/versions/{}", made.routine, proposed["version"]);
    let shown = api.get(&version).ok();
    let change = &shown["found"][0];
    assert_eq!(
        [&change["step"], &change["was"], &change["now"]],
        [
            &json!(3),
            &json!("button \"Archive\" in row \"Invoice 1002\""),
            &json!("button \"Put away\" in row \"Invoice 1002\"")
        ]
    );
    // The film of a busy machine may have nothing of the moment.
    let was_filmed =
        made.stage.events().iter().any(|event| event["element"]["name"] == "Archive" && event["keyframe"].is_string());
    assert_eq!(change["recorded_image"].is_string(), was_filmed, "{change:#}");
    for picture in [&change["recorded_image"], &change["image"]].into_iter().filter(|picture| picture.is_string()) {
        let bytes = made.stage.picture(picture.as_str().unwrap());
        assert!(bytes.starts_with(&[0xff, 0xd8]) || bytes.starts_with(b"\x89PNG"), "{picture}: {} bytes", bytes.len());
    }
    assert_eq!(made.fast(json!({}))["code"], "TARGET_NOT_FOUND");
    api.post(&format!("{version}/approve"), &json!({})).ok();
    let report = made.fast(json!({}));
    assert_eq!(statuses(&report), ["done fast", "done fast", "done fast"], "{report:#}");
    assert_eq!(archived(&made)[archives..], ["1002", "1002"]);
}
