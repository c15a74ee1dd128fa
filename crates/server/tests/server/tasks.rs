//! Whole tasks of conversations over HTTP, with a browser and an endpoint that is strict about the wire format.

use serde_json::{Value, json};

use crate::support::agent_plan::{Do, model_of};
use crate::support::agent_wire::check;
use crate::support::api::{Events, TestServer};
use crate::support::lease::Lease;
use crate::support::proxy::Proxy;
use crate::support::site::{Answer, Site};
use crate::support::streaming_model::StreamingModel;

const ROUTE: &str = "/agent/conversations";

/// A server with a browser, and a model that follows plans: the first message names the plan by its number.
pub(crate) struct Tasks {
    pub(crate) served: TestServer,
    pub(crate) model: StreamingModel,
}

impl Tasks {
    pub(crate) fn new(plans: Vec<Vec<Do>>) -> Option<Self> {
        Self::with_tabs(plans, 32)
    }

    /// With another limit of tabs.
    pub(crate) fn with_tabs(plans: Vec<Vec<Do>>, most: usize) -> Option<Self> {
        let served = TestServer::browsing_with(|config, _| config.browser.tabs.max = most)?;
        Some(Self::of(served, model_of(plans)))
    }

    /// With a server and a model.
    pub(crate) fn of(served: TestServer, model: StreamingModel) -> Self {
        let tasks = Self { served, model };
        tasks.configure();
        tasks
    }

    fn configure(&self) {
        let models = json!({ "models": { "one": { "model": "m", "base_url": self.model.url() } } });
        self.served.api.post("/api/config/llm", &models).ok();
    }

    /// Creates a conversation, in which nothing needs approval unless the body has a guard.
    pub(crate) fn create(&self, body: &Value) -> String {
        let mut body = body.clone();
        body.as_object_mut().unwrap().entry("guard").or_insert("off".into());
        self.create_as(&body)
    }

    /// With the default guard, unless the body has one.
    pub(crate) fn create_as(&self, body: &Value) -> String {
        self.served.api.post(ROUTE, body).ok()["conversation_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn send(&self, id: &str, plan: usize) -> Events {
        let body = json!({ "text": format!("Follow plan {plan}") }).to_string();
        self.served.api.events_of("POST", &format!("{ROUTE}/{id}/messages"), Some(&body), "")
    }

    /// The data of all stored events of a run that has ended.
    pub(crate) fn events(&self, id: &str) -> Vec<(String, Value)> {
        let stored = self.served.api.get(&format!("{ROUTE}/{id}/events")).ok();
        let events = stored["events"].as_array().unwrap().iter();
        events.map(|event| (event["event"].as_str().unwrap().to_owned(), event["data"].clone())).collect()
    }

    /// Runs a plan. Returns the data of its events.
    fn run(&self, plan: usize) -> Vec<(String, Value)> {
        let id = self.create(&json!({}));
        let mut stream = self.send(&id, plan);
        while stream.try_next().is_some() {}
        let events = self.events(&id);
        assert_eq!(events.last().unwrap().0, "complete", "{:#?}", events.last());
        events
    }
}

pub(crate) fn results(events: &[(String, Value)]) -> Vec<&Value> {
    events.iter().map(|(_, data)| data).filter(|data| data["type"] == "ObservationEvent").collect()
}

fn assert_all_done(events: &[(String, Value)]) {
    let failed: Vec<&Value> = results(events).into_iter().filter(|data| data["success"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 8px }</style>";

/// Shows what was sent to a page as the title of its link.
const SHOW: &str = "<script>document.querySelector('a').title = location.search</script>";

#[test]
fn a_search_finds_its_result() {
    let site = Site::start();
    let form = format!("{STYLE}<form action=/found><input name=q aria-label=Search><button>Find</button></form>");
    site.page("/", &form);
    site.page("/found", &format!("{STYLE}<h1>Results</h1><a href=/one>Best offer</a>{SHOW}"));
    site.page("/one", &format!("{STYLE}<title>Offer</title><button>Price 42</button>"));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("keyboard_input", "aria-label=\"Search\"", "lamp"),
        Do::Act("confirm_keyboard_input", "", ""),
        Do::Act("click", ">Find<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Act("click", "Best offer", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("The best offer costs 42."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let events = tasks.run(0);
    assert_all_done(&events);
    let found = results(&events).into_iter().find(|data| data["text"].as_str().unwrap().contains("Best offer"));
    assert!(found.unwrap()["text"].as_str().unwrap().contains("title=\"?q=lamp\""), "{found:?}");
    assert!(results(&events).last().unwrap()["text"].as_str().unwrap().contains("Price 42"));
    check(&tasks.model.requests());
}

#[test]
fn a_form_with_a_list_and_a_date_is_sent() {
    let site = Site::start();
    site.page(
        "/",
        &format!(
            "{STYLE}<form action=/booked><select name=city aria-label=City><option value=b>Berlin<option value=p>Paris</select>
             <input type=date name=day aria-label=Day><button>Book</button></form>"
        ),
    );
    site.page("/booked", &format!("{STYLE}<h1>Booked</h1><a href=/>Done</a>{SHOW}"));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("select", "aria-label=\"City\"", "Paris"),
        Do::Act("confirm_select", "", ""),
        Do::Act("keyboard_input", "aria-label=\"Day\"", "2027-03-04"),
        Do::Act("confirm_keyboard_input", "", ""),
        Do::Act("click", ">Book<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("Booked."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let events = tasks.run(0);
    assert_all_done(&events);
    let booked = results(&events).last().unwrap()["text"].as_str().unwrap();
    assert!(booked.contains("city=p&amp;day=2027-03-04"), "{booked}");
    check(&tasks.model.requests());
}

#[test]
fn a_cascade_of_dialogs_is_answered_and_reported() {
    let site = Site::start();
    let ask = "if (confirm('Really?')) this.textContent = 'Hello ' + prompt('Name?', 'nobody')";
    site.page("/", &format!("{STYLE}<button onclick=\"{ask}\">Start</button>"));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Start<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Dialog("accept", ""),
        Do::Dialog("accept", "Ada"),
        Do::Look,
        Do::Say("Done."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let events = tasks.run(0);
    assert_all_done(&events);
    assert!(results(&events).last().unwrap()["text"].as_str().unwrap().contains("Hello Ada"), "{events:#?}");
    let dialogs: Vec<String> = events
        .iter()
        .filter(|(name, _)| name == "dialog")
        .map(|(_, data)| format!("{} {}", data["state"].as_str().unwrap(), data["dialog"]["message"].as_str().unwrap()))
        .collect();
    assert_eq!(dialogs, ["opened Really?", "closed Really?", "opened Name?", "closed Name?"]);
    check(&tasks.model.requests());
}

#[test]
fn a_button_in_a_nested_frame_of_another_site_is_clicked() {
    let site = Site::start();
    let frame = |url: &str| format!("{STYLE}<iframe width=600 height=400 src=\"{url}\"></iframe>");
    site.page("/", &frame(&site.url("b", "/middle")));
    site.page("/middle", &frame(&site.url("c", "/inner")));
    site.page("/inner", &format!("{STYLE}<button onclick=\"this.textContent='Pressed'\">Press</button>"));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Look,
        Do::Act("click", ">Press<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Look,
        Do::Say("Pressed."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let events = tasks.run(0);
    assert_all_done(&events);
    assert!(results(&events).last().unwrap()["text"].as_str().unwrap().contains(">Pressed<"), "{events:#?}");
    check(&tasks.model.requests());
}

#[test]
fn a_wrong_preview_is_cancelled_and_a_stale_element_is_refused() {
    let site = Site::start();
    site.page(
        "/",
        &format!(
            "{STYLE}<button onclick=\"fetch('/deleted')\">Delete</button>
             <button onclick=\"fetch('/saved'); this.remove()\">Save</button>"
        ),
    );
    site.put("/deleted", Answer::html(""));
    site.put("/saved", Answer::html(""));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Delete<", ""),
        // It is the wrong one: another preview drops it.
        Do::Act("click", ">Save<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Act("click", ">Save<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("Saved."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let events = tasks.run(0);
    let results = results(&events);
    let successes: Vec<&Value> = results.iter().map(|data| &data["success"]).collect();
    assert_eq!(successes, [true, true, true, true, false, false], "{results:#?}");
    assert_eq!(results[4]["code"], "STALE_REF", "{results:#?}");
    let requested = site.requested();
    assert_eq!(requested.iter().filter(|line| line.contains("/saved")).count(), 1, "{requested:?}");
    assert!(!requested.iter().any(|line| line.contains("/deleted")), "{requested:?}");
    check(&tasks.model.requests());
}

#[test]
fn help_is_given_after_a_restart_and_the_task_goes_on() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<button onclick=\"this.textContent='Open'\">Door</button>"));
    let url = site.url("a", "/");
    let plan = vec![
        Do::Tab("init", url.clone()),
        Do::Help("Which door?"),
        Do::Tab("init", url),
        Do::Act("click", ">Door<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("The door is open."),
    ];
    let Some(mut tasks) = Tasks::new(vec![plan]) else { return };
    let id = tasks.create(&json!({}));
    let mut stream = tasks.send(&id, 0);
    stream.next_of("help_request");
    drop(stream);
    tasks.served.restart();
    tasks.served.api.post(&format!("{ROUTE}/{id}/answer"), &json!({ "text": "The only one" })).ok();
    let mut stream = tasks.served.api.events(&format!("{ROUTE}/{id}/stream"), "");
    while stream.try_next().is_some() {}
    let events = tasks.events(&id);
    assert_eq!(events.last().unwrap().0, "complete");
    assert_all_done(&events);
    assert!(results(&events).last().unwrap()["text"].as_str().unwrap().contains(">Open<"));
    let last = tasks.model.requests().last().unwrap().to_string();
    assert!(
        last.contains("The only one") && last.contains("The browser session of this conversation is new"),
        "{last}"
    );
    check(&tasks.model.requests());
}

#[test]
fn an_endpoint_that_refuses_contexts_is_used_with_its_default_one() {
    let Some(lease) = Lease::take_empty() else { return };
    let proxy = Proxy::of(lease.url());
    proxy.refuse_method("Target.createBrowserContext");
    let site = Site::start();
    site.page("/", &format!("{STYLE}<button onclick=\"this.textContent='Open'\">Door</button>"));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Door<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Tab("list", String::new()),
        Do::Say("Open."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let api = &tasks.served.api;
    for round in 0..2 {
        let registered = api.post("/browsers/register", &json!({ "endpoint": proxy.url() })).ok();
        let id = tasks.create(&json!({ "browser_id": registered["browser_id"] }));
        let mut stream = tasks.send(&id, 0);
        while stream.try_next().is_some() {}
        let events = tasks.events(&id);
        assert_all_done(&events);
        assert_eq!(events.last().unwrap().0, "complete", "{:#?}", events.last());
        assert!(results(&events)[2]["text"].as_str().unwrap().contains(">Open<"), "{events:#?}");
        let said = events.iter().filter(|(_, data)| data.to_string().contains("refuses separate contexts")).count();
        assert_eq!(said, 1, "{round}: {events:#?}");
        // The tabs of the other conversation are not its own.
        let list = results(&events)[3]["text"].as_str().unwrap();
        assert_eq!(list.matches("http://a.localhost").count(), 1, "{round}: {list}");
    }
    for of_one in tasks.model.requests().chunks(5) {
        check(of_one);
    }
}

#[test]
fn a_confirmation_in_the_answer_of_its_preview_is_refused() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<button onclick=\"fetch('/bought'); this.textContent='Bought'\">Buy</button>"));
    site.put("/bought", Answer::html(""));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Unseen(">Buy<"),
        Do::Act("confirm_click", "", ""),
        Do::Look,
        Do::Say("Bought."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let events = tasks.run(0);
    let results = results(&events);
    let successes: Vec<&Value> = results.iter().map(|data| &data["success"]).collect();
    assert_eq!(successes, [true, true, false, true, true], "{results:#?}");
    assert!(
        results[2]["code"] == "CONFLICT" && results[2]["error"].as_str().unwrap().contains("not seen it"),
        "{results:#?}"
    );
    assert!(results[4]["text"].as_str().unwrap().contains(">Bought<"), "{results:#?}");
    assert_eq!(site.requested().iter().filter(|line| line.contains("/bought")).count(), 1);
    check(&tasks.model.requests());
}
