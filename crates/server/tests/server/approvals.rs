//! What cannot be undone waits for the approval of a person, and happens only if it is still what was shown.

use serde_json::{Value, json};

use crate::server_tasks::{Tasks, results};
use crate::support::agent_plan::Do;
use crate::support::share::{rounds, seed, share};
use crate::support::site::Site;

const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 8px }</style>";

fn shop(site: &Site) {
    site.page(
        "/",
        &format!(
            "{STYLE}<form method=post action=/order><input name=item aria-label=Item value=Lamp><input type=hidden name=csrf_token value=tok123>
             <input type=password name=pin aria-label=PIN value=hunter2hunter2><button>Place order</button></form>"
        ),
    );
    site.page("/order", &format!("{STYLE}<h1>Thank you</h1><button>Back to the shop</button>"));
}

fn ordering(site: &Site) -> Vec<Do> {
    vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Place order<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("Done."),
    ]
}

/// A conversation whose run has come to a question or its end.
pub(crate) struct Waiting<'t> {
    tasks: &'t Tasks,
    id: String,
}

impl<'t> Waiting<'t> {
    pub(crate) fn of(tasks: &'t Tasks, plan: usize, body: &Value) -> Self {
        let waiting = Self { tasks, id: tasks.create_as(body) };
        waiting.follow(&mut tasks.send(&waiting.id, plan));
        waiting
    }

    /// Reads events up to a question or the end. Returns the question.
    fn follow(&self, stream: &mut crate::support::api::Events) -> Option<Value> {
        while let Some((name, _, data)) = stream.try_next() {
            match name.as_str() {
                "help_request" => return Some(data),
                "complete" | "error" => return None,
                _ => {}
            }
        }
        None
    }

    fn route(&self, end: &str) -> String {
        format!("/agent/conversations/{}/{end}", self.id)
    }

    /// The open question.
    pub(crate) fn question(&self) -> Value {
        let shown = self.tasks.served.api.get(&format!("/agent/conversations/{}", self.id)).ok();
        shown["conversation"]["question"].clone()
    }

    pub(crate) fn asked(&self) -> Value {
        let events = self.tasks.events(&self.id);
        events.into_iter().rev().find(|(name, _)| name == "help_request").expect("a question").1
    }

    pub(crate) fn decide(&self, body: Value) {
        let mut body = body;
        body["approval_id"] = self.asked()["approval_id"].clone();
        let before = self.tasks.events(&self.id).len();
        self.tasks.served.api.post(&self.route("answer"), &body).ok();
        let last = before.to_string();
        let mut stream =
            self.tasks.served.api.events_of("GET", &self.route("stream"), None, &format!("Last-Event-ID: {last}\r\n"));
        self.follow(&mut stream);
    }

    pub(crate) fn results(&self) -> Vec<Value> {
        let events = self.tasks.events(&self.id);
        results(&events).into_iter().cloned().collect()
    }

    /// Runs a script in the tab of the conversation, as another client.
    fn change(&self, script: &str) {
        let tabs = self.tasks.served.api.get("/tabs").ok();
        let tab =
            tabs["tabs"].as_array().unwrap().iter().find(|tab| tab["url"].as_str().unwrap().contains("a.localhost"));
        let body = json!({ "kind": "evaluate", "fn": script, "targetId": tab.unwrap()["targetId"] });
        self.tasks.served.api.post("/act", &body).ok();
    }
}

#[test]
fn what_cannot_be_undone_waits_for_its_approval() {
    let site = Site::start();
    shop(&site);
    let Some(tasks) = Tasks::new(vec![ordering(&site)]) else { return };
    let api = &tasks.served.api;
    let waiting = Waiting::of(&tasks, 0, &json!({}));
    let asked = waiting.asked();
    assert_eq!((&asked["kind"], &asked["effect"]), (&json!("approval"), &json!("purchase")), "{asked:#}");
    assert_eq!(asked["action"], "click the button \"Place order\"");
    assert_eq!(asked["origin"], site.url("a", ""));
    assert_eq!(asked["destination"], site.url("a", "/order"));
    // All that a form sends is shown, but nothing secret.
    assert_eq!(asked["values"], json!({ "Item": "Lamp", "PIN": "[secret]", "csrf_token": "tok123" }));
    let picture = api.ask("GET", asked["image"].as_str().unwrap(), None, "");
    assert_eq!(picture.status, 200);
    assert_eq!(site.heads("a.localhost/order").len(), 0);
    assert_eq!(waiting.question()["kind"], "approval");
    // Only a decision about this approval is an answer.
    let answer = waiting.route("answer");
    api.post(&answer, &json!({ "text": "yes" })).fails(409, "CONFLICT");
    api.post(&answer, &json!({ "approval_id": "other", "decision": "once" })).fails(409, "CONFLICT");
    for wrong in [
        json!({}),
        json!({ "decision": "once" }),
        json!({ "text": "a", "approval_id": asked["approval_id"], "decision": "once" }),
    ] {
        api.post(&answer, &wrong).fails(400, "BAD_REQUEST");
    }
    api.post(&answer, &json!({ "approval_id": asked["approval_id"], "decision": "always" })).fails(400, "BAD_REQUEST");
    assert_eq!(site.heads("a.localhost/order").len(), 0);
    waiting.decide(json!({ "decision": "once" }));
    assert_eq!(site.heads("a.localhost/order").len(), 1);
    assert!(waiting.results().last().unwrap()["text"].as_str().unwrap().contains("Back to the shop"));
    // The model gets the result of its call, and nothing about the approval.
    let messages = tasks.model.requests().last().unwrap()["messages"].to_string();
    assert!(messages.contains("Clicked") && !messages.contains("needs your approval"), "{messages}");
    api.post(&answer, &json!({ "approval_id": asked["approval_id"], "decision": "once" })).fails(409, "CONFLICT");
}

#[test]
fn a_refusal_ends_the_call_and_tells_the_model_why() {
    let site = Site::start();
    shop(&site);
    let Some(tasks) = Tasks::new(vec![ordering(&site)]) else { return };
    let waiting = Waiting::of(&tasks, 0, &json!({}));
    waiting.decide(json!({ "decision": "refuse", "note": "It is too expensive." }));
    let last = waiting.results().pop().unwrap();
    assert_eq!((&last["success"], &last["code"]), (&json!(false), &json!("APPROVAL_REFUSED")), "{last}");
    assert!(last["error"].as_str().unwrap().contains("It is too expensive."), "{last}");
    assert_eq!(site.heads("a.localhost/order").len(), 0);
    // Withdrawn by a stop.
    let waiting = Waiting::of(&tasks, 0, &json!({}));
    tasks.served.api.post(&waiting.route("stop"), &json!({})).ok();
    assert_eq!(waiting.results().pop().unwrap()["code"], "CANCELLED");
    assert_eq!(site.heads("a.localhost/order").len(), 0);
}

/// Changes of a page between an approval and its action, after each of which the action is another one.
const CHANGES: [&str; 24] = [
    "form.action = '/other'",
    "form.action = 'http://b.localhost:PORT/order'",
    "form.setAttribute('action', '')",
    "form.method = form.method === 'post' ? 'get' : 'post'",
    "form.item.value = 'Car'",
    "form.item.value += ' '",
    "form.item.name = 'thing'",
    "form.item.disabled = true",
    "form.item.remove()",
    "form.csrf_token.value = 'x'",
    "form.pin.value = 'another'",
    "form.colour.selectedIndex = 1",
    "form.gift.checked = true",
    "form.insertAdjacentHTML('beforeend', '<input name=more value=1>')",
    "form.insertAdjacentHTML('beforeend', '<input type=hidden name=to value=eve>')",
    "go.textContent = 'Place order for all'",
    "go.setAttribute('aria-label', 'Cancel order')",
    "go.formAction = '/other'",
    "go.name = 'pay'; go.value = 'all'",
    "go.id = 'pay-all'",
    "go.type = 'button'",
    "go.outerHTML = go.outerHTML",
    "form.outerHTML = form.outerHTML",
    "location.reload()",
];

/// A shop with a button, or with a field in which Enter is pressed.
fn changing(site: &Site) {
    let fields = "<input name=item aria-label=Item value=Lamp><input type=hidden name=csrf_token value=tok123>
        <select name=colour aria-label=Colour><option>Red<option>Blue</select><input type=checkbox name=gift aria-label=Gift>
        <input type=password name=pin aria-label=PIN value=hunter2hunter2>";
    site.page(
        "/button",
        &format!("{STYLE}<form method=post action=/order>{fields}<button>Place order</button></form>"),
    );
    site.page("/enter", &format!("{STYLE}<form method=post action=/order>{fields}<button>Go on</button></form>"));
}

#[test]
fn an_approval_is_void_once_anything_it_is_for_has_changed() {
    let site = Site::start();
    changing(&site);
    site.page("/order", "");
    let button = vec![
        Do::Tab("init", site.url("a", "/button")),
        Do::Act("click", ">Place order<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("Done."),
    ];
    let enter = vec![
        Do::Tab("init", site.url("a", "/enter")),
        Do::Enter("aria-label=\"Item\"", "Chair"),
        Do::Act("confirm_keyboard_input", "", ""),
        Do::Say("Done."),
    ];
    let Some(tasks) = Tasks::new(vec![button, enter]) else { return };
    let cases = rounds("CDPILOT_TEST_APPROVALS", 4, 100);
    let mut random = fastrand::Rng::with_seed(seed());
    let mut codes = std::collections::BTreeMap::<String, usize>::new();
    for case in 0..cases {
        let plan = random.usize(..2);
        // One change, or several.
        let count = if random.u8(..3) == 0 { 2 } else { 1 };
        // Different ones: the same twice may change nothing.
        // Enter goes to the field: an equal button in place of the other one changes nothing.
        let all = CHANGES.into_iter().filter(|change| plan == 0 || *change != "go.outerHTML = go.outerHTML");
        let changes = random.choose_multiple(all, count);
        let script = changes.join("; ").replace("PORT", &site.port().to_string());
        // Enter in a field that is gone or off does nothing anyway; a form without a button is sent by Enter, too.
        let script = format!(
            "() => {{ const form = document.forms[0], go = document.querySelector('button'); try {{ {script} }} catch {{}} return 1 }}"
        );
        let waiting = Waiting::of(&tasks, plan, &json!({}));
        assert!(!waiting.question().is_null(), "case {case}");
        waiting.change(&script);
        waiting.decide(json!({ "decision": "once" }));
        let last = waiting.results().pop().unwrap();
        assert_eq!(last["success"], false, "case {case}, plan {plan}, {changes:?}: {last}");
        let sent =
            ["a", "b"].map(|host| ["order", "other"].map(|path| site.heads(&format!("{host}.localhost/{path}")).len()));
        assert_eq!(sent, [[0, 0], [0, 0]], "case {case}, plan {plan}, {changes:?}: {last}");
        *codes.entry(last["code"].as_str().unwrap().to_owned()).or_default() += 1;
        tasks.served.api.call("DELETE", &format!("/agent/conversations/{}", waiting.id), None);
    }
    println!("{cases} changes: {codes:?}");
}

#[test]
fn what_is_allowed_for_a_site_or_a_kind_is_not_asked_again() {
    let site = Site::start();
    let list = format!(
        "{STYLE}<button onclick='fetch(\"/gone\", {{method: \"POST\"}})'>Delete one</button>
         <button onclick='fetch(\"/gone\", {{method: \"POST\"}})'>Delete two</button>
         <button onclick='fetch(\"/sent\", {{method: \"POST\"}})'>Send message</button>"
    );
    site.page("/", &list);
    site.page("/gone", "");
    site.page("/sent", "");
    let click = |part: &'static str| [Do::Act("click", part, ""), Do::Act("confirm_click", "", "")];
    let plan = |host: &str| {
        let mut plan = vec![Do::Tab("init", site.url("a", "/"))];
        plan.extend(click(">Delete one<"));
        plan.push(Do::Tab("open", site.url(host, "/")));
        plan.extend(click(">Delete two<"));
        plan.extend(click(">Send message<"));
        plan.push(Do::Say("Done."));
        plan
    };
    let Some(tasks) = Tasks::new(vec![plan("a"), plan("b")]) else { return };
    let asked_after = |plan: usize, decision: &str| {
        let waiting = Waiting::of(&tasks, plan, &json!({}));
        assert_eq!(waiting.asked()["action"], "click the button \"Delete one\"");
        waiting.decide(json!({ "decision": decision }));
        waiting.asked()["action"].as_str().unwrap().to_owned()
    };
    let (second, other) = ("click the button \"Delete two\"", "click the button \"Send message\"");
    // Of each pair, one is asked again and the other is not.
    let pairs = [[(0, "once", second), (0, "origin", other)], [(1, "origin", second), (1, "kind", other)]];
    for (plan, decision, next) in share(pairs, 1).into_iter().flatten() {
        assert_eq!(asked_after(plan, decision), next, "plan {plan}, {decision}");
    }
}

/// Requests of a page that are held while one of them is asked about go with what is allowed then.
#[test]
fn requests_that_are_held_already_follow_what_is_allowed() {
    let site = Site::start();
    let script = "for (const n of ['one', 'two', 'three']) fetch('/' + n, { method: 'POST', body: 'a=' + n })";
    site.page("/", &format!("{STYLE}<button>Look</button><script>{script}</script>"));
    for path in ["/one", "/two", "/three"] {
        site.page(path, "");
    }
    let plan = || vec![Do::Tab("init", site.url("a", "/")), Do::Look, Do::Say("Done.")];
    let Some(tasks) = Tasks::new(vec![plan(), plan()]) else { return };
    for (plan, decision) in ["kind", "origin"].into_iter().enumerate() {
        let waiting = Waiting::of(&tasks, plan, &json!({ "guard": "irreversible" }));
        assert!(
            waiting.asked()["request"]["url"].as_str().unwrap().starts_with(&site.url("a", "/")),
            "{}",
            waiting.asked()
        );
        waiting.decide(json!({ "decision": decision }));
        assert_eq!(waiting.question(), Value::Null, "{decision}");
        for path in ["one", "two", "three"] {
            site.wait_requested(&format!("a.localhost/{path}"), plan + 1);
        }
    }
}

#[test]
fn the_guard_can_be_off_and_for_everything() {
    let site = Site::start();
    shop(&site);
    site.page("/more", &format!("{STYLE}<button>Show more</button>"));
    let showing = vec![
        Do::Tab("init", site.url("a", "/more")),
        Do::Act("click", ">Show more<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("Done."),
    ];
    let Some(tasks) = Tasks::new(vec![ordering(&site), showing]) else { return };
    for guard in share(["off", "default", "all"], 1) {
        match guard {
            "off" => {
                Waiting::of(&tasks, 0, &json!({ "guard": "off" }));
                assert_eq!(site.heads("a.localhost/order").len(), 1);
            }
            "default" => {
                let waiting = Waiting::of(&tasks, 1, &json!({}));
                assert!(waiting.question().is_null());
            }
            _ => {
                let waiting = Waiting::of(&tasks, 1, &json!({ "guard": "all" }));
                assert_eq!(waiting.asked()["effect"], "action");
                waiting.decide(json!({ "decision": "once" }));
                assert!(waiting.question().is_null());
            }
        }
    }
    tasks.served.api.post("/agent/conversations", &json!({ "guard": "some" })).fails(400, "BAD_REQUEST");
}

#[test]
fn enter_waits_for_approval_with_what_was_typed_and_the_dialog_of_an_approved_click_does_not() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<form method=post action=/order><input name=to aria-label=To><input name=text aria-label=Text></form>"));
    site.page("/ask", &format!("{STYLE}<button onclick=\"if (confirm('Delete all?')) fetch('/order', {{method: 'POST'}})\">Delete all</button>"));
    site.page("/order", "");
    let typing = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("keyboard_input", "aria-label=\"To\"", "Ada"),
        Do::Act("confirm_keyboard_input", "", ""),
        Do::Enter("aria-label=\"Text\"", "Hello"),
        Do::Act("confirm_keyboard_input", "", ""),
        Do::Say("Done."),
    ];
    let asking = vec![
        Do::Tab("init", site.url("a", "/ask")),
        Do::Act("click", ">Delete all<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Dialog("accept", ""),
        Do::Say("Done."),
    ];
    let Some(tasks) = Tasks::new(vec![typing, asking]) else { return };
    for part in share(["typed", "dialog"], 1) {
        let before = site.heads("a.localhost/order").len();
        if part == "typed" {
            // Two fields and no button: Enter sends nothing.
            let waiting = Waiting::of(&tasks, 0, &json!({}));
            assert!(waiting.question().is_null(), "{}", waiting.question());
            site.page("/", &format!("{STYLE}<form method=post action=/order><input name=to aria-label=To><input name=text aria-label=Text><button>Go on</button></form>"));
            let waiting = Waiting::of(&tasks, 0, &json!({}));
            let asked = waiting.asked();
            assert_eq!(asked["action"], "press Enter in the textbox \"Text\"");
            assert_eq!(asked["values"], json!({ "To": "Ada", "Text": "Hello" }));
            assert_eq!(site.heads("a.localhost/order").len(), 0);
            waiting.decide(json!({ "decision": "once" }));
            assert_eq!(site.heads("a.localhost/order").len(), 1);
            assert!(waiting.question().is_null());
        } else {
            // The question of the page about what was approved.
            let waiting = Waiting::of(&tasks, 1, &json!({}));
            waiting.decide(json!({ "decision": "once" }));
            assert!(waiting.question().is_null(), "{}", waiting.question());
        }
        assert_eq!(site.heads("a.localhost/order").len(), before + 1);
    }
}
