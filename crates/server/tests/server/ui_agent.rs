//! The web UI's conversations, used in a real browser as a person would: by what the page shows.

use std::process::Command;

use cdpilot::browser::TransportKind;
use cdpilot::page::Act;
use serde_json::{Value, json};

use crate::server_tasks::Tasks;
use crate::support::agent_plan::{Do, model_of};
use crate::support::api::TestServer;
use crate::support::chrome::{launch, soon};
use crate::support::page_libraries;
use crate::support::share::{rounds, share};
use crate::support::site::Site;
use crate::support::streaming_model::{Script, StreamingModel};
use crate::support::test_tab::TestTab;

const STYLE: &str = "<style>body { font: 16px sans-serif } * { margin: 8px }</style>";

/// A server for what needs no browser, and a model that follows plans.
fn without_browser(plans: Vec<Vec<Do>>) -> (TestServer, StreamingModel) {
    let (served, model) = (TestServer::start(), model_of(plans));
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    served.api.post("/api/config/llm", &models).ok();
    (served, model)
}

/// A person at the web UI.
pub(crate) struct Person {
    paged: TestTab,
}

impl Person {
    /// Opens the address that `cdpilot ui` prints.
    pub(crate) fn at(served: &TestServer) -> Option<Self> {
        let person = Self { paged: TestTab::new("ui-agent")? };
        person.acts(Act::resize(1280, 800));
        person.opens(&served.server().ui_url().unwrap());
        Some(person)
    }

    fn opens(&self, url: &str) {
        self.paged.supervisor().navigate(&self.paged.top(), url, soon()).unwrap();
        self.paged.loaded();
        self.until("!document.getElementById('app').hidden && document.body.dataset.view");
    }

    /// Loads the page again.
    pub(crate) fn reloads(&self) {
        self.paged.supervisor().reload(&self.paged.top(), soon()).unwrap();
        self.paged.loaded();
        self.until("!document.getElementById('app').hidden && document.body.dataset.view");
    }

    pub(crate) fn acts(&self, act: Act) {
        self.paged.tab.act(&act, soon()).unwrap();
    }

    /// Loses its connections, or gets its network back.
    fn network(&self, is_there: bool) {
        let call =
            |method, params| self.paged.supervisor().call_raw(&self.paged.top(), method, &params, soon()).unwrap();
        call("Network.enable", json!({}));
        let conditions =
            json!({ "offline": !is_there, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        call("Network.emulateNetworkConditions", conditions);
    }

    pub(crate) fn clicks(&self, locator: &str) {
        self.acts(Act::click(locator));
    }

    pub(crate) fn types(&self, locator: &str, text: &str) {
        self.acts(Act::fill(locator, text));
    }

    fn press(&self, key: &str) {
        self.acts(Act::press(key));
    }

    /// Waits until a condition holds in the page.
    pub(crate) fn until(&self, condition: &str) {
        let script = format!(
            "new Promise(done => {{ const began = Date.now(), look = () => ({condition}) ? done('') : Date.now() - began > 25000 \
             ? done(document.body.innerText) : setTimeout(look, 20); look(); }})"
        );
        let shown = self.paged.eval(&script);
        assert!(shown.is_empty(), "{condition} did not come true in the page: {shown}");
    }

    /// Waits until the text is visible within an element.
    pub(crate) fn sees(&self, id: &str, text: &str) {
        self.until(&format!("document.getElementById('{id}')?.innerText.includes({})", json!(text)));
    }

    pub(crate) fn eval(&self, script: &str) -> Value {
        let shown = self.paged.eval(script);
        serde_json::from_str(&shown).unwrap_or(Value::String(shown))
    }

    /// Gives a task in a new conversation.
    fn asks(&self, text: &str) {
        self.clicks("role=button[name=\"New task\"]");
        self.types("label=Task", text);
        self.press("Enter");
        self.until("location.hash.startsWith('#/c/')");
    }
}

pub(crate) fn shop(site: &Site) {
    site.page(
        "/",
        &format!(
            "{STYLE}<title>Shop</title><h1>Shop</h1><form method=post action=/order><input name=item aria-label=Item value=Lamp>
             <button>Place order</button></form><p><input aria-label=Code></p>"
        ),
    );
    site.page("/order", "<h1>Thank you</h1>");
}

fn ordering(site: &Site) -> Vec<Do> {
    vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Place order<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Say("The lamp is ordered."),
    ]
}

#[test]
fn a_new_user_sets_up_a_model_and_gives_a_task() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<title>Here</title><button>Go</button>"));
    let model = model_of(vec![vec![Do::Tab("init", site.url("a", "/")), Do::Say("It has one button.")]]);
    let Some(served) = TestServer::browsing() else { return };
    let Some(person) = Person::at(&served) else { return };
    person.sees("view-settings", "Set up a model");
    // One that does not answer is named, and can be corrected.
    person.types("label=\"Model\"", "m");
    person.types("label=\"Address\"", "http://127.0.0.1:9/v1");
    person.clicks("role=button[name=Save]");
    person.sees("view-settings", "Saved, but a test failed: 127.0.0.1 cannot be reached");
    person.types("label=\"Model\"", "m");
    person.types("label=\"Address\"", &model.url());
    person.clicks("role=button[name=Save]");
    // The next thing to do is a task.
    person.sees("view-agent", "No conversation yet.");
    person.asks("Look at the page, by plan 0");
    person.sees("narration", "It has one button.");
    person.sees("badge", "Done");
    person.sees("conversations", "Look at the page");
    person.until("document.getElementById('picture').naturalWidth > 100");
    for part in ["You", "Tab", "Open http", "Model", "Done"] {
        person.sees("timeline", part);
    }
    // A line opens with all fields of its event.
    person.clicks("css=#timeline .done summary >> nth=0");
    person.sees("timeline", "\"tool_call_id\"");
    person.sees("timeline", "Copy as command");
    // The same call as a request: what was copied can be sent.
    person.eval("window.copied = []; navigator.clipboard.writeText = text => { window.copied.push(text); return Promise.resolve(); }; 1");
    person.clicks("css=#timeline .done >> role=button[name=\"Copy as curl\"]");
    person.until("window.copied.length");
    let copied = person.eval("window.copied[0]").as_str().unwrap().to_owned();
    assert!(copied.contains("$CDPILOT_TOKEN"), "{copied}");
    let quoted = |from: &str| copied.split_once(from).unwrap().1.split('\'').nth(1).unwrap().to_owned();
    let (url, body) = (quoted("curl "), quoted("--data-raw "));
    let route = url.splitn(4, '/').nth(3).unwrap();
    let called = served.api.post(&format!("/{route}"), &serde_json::from_str(&body).unwrap());
    assert!(called.text.contains("observation"), "{copied}: {}", called.text);
}

#[test]
fn an_approval_is_answered_in_the_page() {
    let site = Site::start();
    shop(&site);
    let Some(tasks) = Tasks::new(vec![ordering(&site)]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    let stages = [
        ("refused", "Follow plan 0"),
        ("allowed once", "Once more, follow plan 0"),
        ("allowed for the rest", "A third time, follow plan 0"),
        ("refused elsewhere", "A fourth time, follow plan 0"),
    ];
    for (stage, task) in share(stages, 2) {
        let orders = || site.requested().iter().filter(|path| *path == "a.localhost/order").count();
        let before = orders();
        person.asks(task);
        person.sees("question", "click the button \"Place order\"");
        for part in [site.url("a", "/order"), "Lamp".to_owned()] {
            person.sees("question", &part);
        }
        person.until("document.querySelector('#question img').naturalWidth > 100");
        person.until("document.title.startsWith('●')");
        assert_eq!(orders(), before, "{stage}");
        match stage {
            "refused" => {
                // The question is there after a reload.
                person.opens(&tasks.served.server().ui_url().unwrap());
                person.clicks("text=Follow plan 0");
                person.sees("question", "Place order");
                person.types("label=\"A word to the model\"", "Too expensive");
                person.clicks("role=button[name=Refuse]");
            }
            "allowed once" => {
                person.clicks("role=button[name=\"Allow once\"]");
                person.sees("narration", "The lamp is ordered.");
                site.wait_requested("a.localhost/order", before + 1);
            }
            "allowed for the rest" => {
                person.clicks("text=\"For the rest of this conversation\"");
                person.clicks("role=button[name*=\"Allow all purchases at\"]");
                site.wait_requested("a.localhost/order", before + 1);
                // What is allowed for the rest of a conversation is shown.
                let origin = site.url("a", "").replace("http://", "");
                person.sees("allowed", &format!("without a question: purchases at {origin}."));
            }
            _ => {
                let hash = person.eval("location.hash").as_str().unwrap().to_owned();
                let route = format!("/agent/conversations/{}", hash.trim_start_matches("#/c/"));
                let question = tasks.served.api.get(&route).ok()["conversation"]["question"]["id"].clone();
                let answer = json!({ "approval_id": question, "decision": "refuse", "note": "Too expensive" });
                tasks.served.api.post(&format!("{route}/answer"), &answer).ok();
            }
        }
        if stage.starts_with("refused") {
            // The page follows, whoever has refused.
            person.sees("timeline", "Too expensive");
            person.until("document.getElementById('question').childElementCount === 0");
            person.sees("badge", "Done");
            assert_eq!(orders(), before, "{stage}");
        }
    }
}

#[test]
fn a_person_takes_over_and_hands_back() {
    let site = Site::start();
    shop(&site);
    let plan =
        vec![Do::Tab("init", site.url("a", "/")), Do::Help("Type the code of your letter."), Do::Say("Thank you.")];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.asks("Follow plan 0");
    person.sees("question", "Type the code of your letter.");
    person.clicks("role=button[name=\"Use the page\"]");
    person.sees("where", "You can click and type here");
    let code = |script: &str| {
        let tabs = tasks.served.api.get("/tabs").ok();
        let tab =
            tabs["tabs"].as_array().unwrap().iter().find(|tab| tab["title"] == "Shop").unwrap()["targetId"].clone();
        let body = json!({ "kind": "evaluate", "fn": script, "targetId": tab });
        tasks.served.api.post("/act", &body).ok()["result"].clone()
    };
    // Where the field is in the picture.
    let field = "(() => { const box = document.querySelector('[aria-label=Code]').getBoundingClientRect(); \
                 return [(box.x + 20) / innerWidth, (box.y + box.height / 2) / innerHeight]; })()";
    let place = code(field);
    person.until("document.getElementById('picture').src.startsWith('blob:')");
    let picture = person.eval(
        "(() => { const box = document.getElementById('picture').getBoundingClientRect(); \
         return [box.x, box.y, box.width, box.height]; })()",
    );
    let part = |of: &Value, index: usize| of[index].as_f64().unwrap();
    let x = part(&picture, 0) + part(&place, 0) * part(&picture, 2);
    let y = part(&picture, 1) + part(&place, 1) * part(&picture, 3);
    person.acts(Act::click_at(x, y));
    for key in ["l", "a", "m", "p", "Backspace"] {
        person.press(key);
    }
    let deadline = soon();
    while code("document.querySelector('[aria-label=Code]').value") != "lam" {
        assert!(!deadline.passed(), "{}", code("document.querySelector('[aria-label=Code]').value"));
    }
    person.clicks("role=button[name=\"I have done it\"]");
    person.sees("narration", "Thank you.");
    // The model was told what was done, without what was typed.
    let messages = tasks.model.requests().last().unwrap()["messages"].to_string();
    assert!(messages.contains("the field \\\"Code\\\" was changed"), "{messages}");
    assert!(!messages.contains("lam\""), "{messages}");
}

#[test]
fn a_run_is_paused_resumed_and_stopped() {
    let site = Site::start();
    shop(&site);
    let Some(tasks) = Tasks::new(vec![vec![Do::Tab("init", site.url("a", "/")), Do::Hang]]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.asks("Follow plan 0");
    person.sees("timeline", "Tab");
    person.sees("badge", "Running");
    person.clicks("role=button[name=Pause]");
    person.sees("badge", "Paused");
    person.clicks("role=button[name=Resume]");
    person.sees("badge", "Running");
    person.clicks("role=button[name=Pause]");
    person.sees("badge", "Paused");
    // A message replaces what a paused run was doing.
    person.types("label=Task", "Something else, by plan 0");
    person.clicks("role=button[name=\"Send instead\"]");
    person.sees("timeline", "Something else");
    person.sees("badge", "Running");
    person.clicks("role=button[name=Stop]");
    person.sees("badge", "Stopped");
    // Commands and the conversation's removal.
    person.types("label=Task", "/ne");
    person.sees("slash", "/new");
    person.sees("slash", "There are no routines yet.");
    person.press("Enter");
    person.sees("title", "New task");
    person.clicks("role=button[name=\"Delete the conversation Follow plan 0\"]");
    person.clicks("text=Delete?");
    person.sees("conversations", "No conversation yet.");
}

#[test]
fn texts_of_models_and_pages_stay_texts_in_their_boxes() {
    let site = Site::start();
    let evil = format!(
        "<img src=x onerror=\"window.hacked = 1\"><script>window.hacked = 1</script>{}\u{202e}",
        "w".repeat(5000)
    );
    site.page(
        "/",
        &format!("{STYLE}<title>{}</title><button title='{}'>Go</button>", "T".repeat(3000), "x".repeat(3000)),
    );
    let say: &'static str = Box::leak(evil.into_boxed_str());
    let Some(tasks) = Tasks::new(vec![vec![Do::Tab("init", site.url("a", "/")), Do::Help(&say[..3900]), Do::Say(say)]])
    else {
        return;
    };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.asks("Follow plan 0");
    person.sees("question", "onerror");
    person.clicks("role=button[name=\"I have done it\"]");
    person.sees("badge", "Done");
    person.until("document.querySelectorAll('#timeline summary').length > 5");
    for width in [1280, 800, 360] {
        person.acts(Act::resize(width, 740));
        person.until(&format!("innerWidth === {width}"));
        assert_eq!(
            person.eval("document.documentElement.scrollWidth <= innerWidth && window.hacked === undefined"),
            true,
            "{width}"
        );
        let outside = "[...document.querySelectorAll('#stage *, #side *')].filter(it => it.getClientRects().length \
                       && it.getBoundingClientRect().right > innerWidth + 1 && !it.closest('pre, code, .hidden-label')).map(it => it.id || it.className)";
        assert_eq!(person.eval(outside), json!([]), "{width}");
    }
}

#[test]
fn the_page_survives_a_restart_of_the_server() {
    let (mut served, _model) = without_browser(vec![vec![Do::Help("Are you there?"), Do::Say("Good.")]]);
    let Some(person) = Person::at(&served) else { return };
    person.asks("Follow plan 0");
    person.sees("question", "Are you there?");
    served.restart_in_place();
    // The secrets of pages end with the server.
    person.sees("outside", "You are not signed in.");
    person.opens(&served.server().ui_url().unwrap());
    person.clicks("text=Follow plan 0");
    person.sees("question", "Are you there?");
    person.types("label=\"Your answer\"", "Yes");
    person.clicks("role=button[name=Answer]");
    person.sees("narration", "Good.");
}

#[test]
fn a_dialog_of_the_page_is_answered_above_the_conversation() {
    let site = Site::start();
    site.page(
        "/",
        &format!(
            "{STYLE}<title>Shop</title><button onclick=\"document.title = confirm('Leave a tip?')\">Go on</button>"
        ),
    );
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Go on<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Help("What about the dialog?"),
        Do::Say("Good."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.asks("Follow plan 0");
    person.sees("dialogs", "Leave a tip?");
    person.sees("question", "What about the dialog?");
    person.clicks("css=#dialogs >> role=button[name=OK]");
    person.until("document.getElementById('dialogs-bar').hidden");
    tasks.served.api.until("the answer", "/tabs", |tabs| tabs["tabs"].to_string().contains("\"title\":\"true\""));
}

#[test]
fn what_stands_behind_the_picture_is_shown_beside_it() {
    let site = Site::start();
    site.page(
        "/",
        &format!(
            "{STYLE}<title>Shop</title><button id=b>Go on</button><script>console.log('Hello from the page')</script>"
        ),
    );
    let plan = vec![Do::Tab("init", site.url("a", "/")), Do::Help("Look."), Do::Say("Good.")];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.asks("Follow plan 0");
    person.sees("question", "Look.");
    person.clicks("role=button[name=\"Live view\"]");
    person.until("document.getElementById('picture').src.startsWith('blob:')");
    person.clicks("role=tab[name=Snapshot]");
    person.sees("panel-snapshot", "button \"Go on\"");
    // A line marks its element in the picture.
    person.acts(Act::hover("css=#snapshot [data-ref]"));
    person.until("document.querySelector('#screen .box')");
    person.clicks("role=tab[name=Console]");
    person.sees("panel-console", "Hello from the page");
    person.clicks("role=tab[name=Network]");
    person.sees("panel-network", "200 GET");
    person.clicks("css=#panel-network summary >> nth=0");
    person.sees("panel-network", "<button id=b>");
    // The keyboard moves between the panels.
    person.acts(Act::press("ArrowRight").on("role=tab[name=Network]"));
    person.sees("panel-console", "Hello from the page");
}

#[test]
fn a_run_is_saved_as_a_file_that_needs_nothing_else() {
    let site = Site::start();
    shop(&site);
    let Some(tasks) = Tasks::new(vec![vec![Do::Tab("init", site.url("a", "/")), Do::Say("<b>Done</b> & over.")]])
    else {
        return;
    };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.asks("Follow plan 0");
    person.sees("badge", "Done");
    person.eval("const make = URL.createObjectURL; URL.createObjectURL = blob => { if (blob.type === 'text/html') window.saved = blob; return make(blob); }; 1");
    person.clicks("role=button[name=\"Save as a file\"]");
    person.until("window.saved");
    let saved = person.eval("window.saved.text()").as_str().unwrap().to_owned();
    for part in ["Follow plan 0", "Calls tab", "&lt;b&gt;Done&lt;/b&gt; &amp; over.", "src=\"data:image/"] {
        assert!(saved.contains(part), "{part}: {}", saved.chars().take(3000).collect::<String>());
    }
    assert!(!saved.contains("src=\"/") && !saved.contains("<script") && !saved.contains("href="));
}

#[test]
fn prompts_are_sent_again_and_again() {
    let (served, _model) = without_browser(vec![vec![Do::Say("Round done.")]]);
    let Some(person) = Person::at(&served) else { return };
    person.clicks("role=link[name=Models]");
    person.clicks("role=button[name=\"Add a prompt\"]");
    person.types("label=\"Prompt 1\"", "Follow plan 0");
    person.press("Tab");
    person.clicks("text=\"Use in place of a single task\"");
    person.clicks("role=link[name=Agent]");
    person.clicks("role=button[name=\"Start the loop\"]");
    person.until("document.querySelectorAll('#conversations .dot').length >= 2");
    person.sees("loop-state", "Round 2");
    person.clicks("role=button[name=\"Stop the loop\"]");
    person.until("!document.getElementById('loop')?.innerText.includes('Stop the loop')");
    person.clicks("role=button[name=\"New task\"]");
    person.sees("loop", "Start the loop");
    let stored = person.eval("localStorage.getItem('cdpilot-sisyphus')");
    assert!(stored.to_string().contains("Follow plan 0"), "{stored}");
    let other =
        person.eval("Object.keys(localStorage).filter(it => !['cdpilot-sisyphus', 'cdpilot-options'].includes(it))");
    assert_eq!(other, json!([]));
    person.eval("localStorage.clear(); 1");
}

#[test]
fn profiles_and_browser_ids_are_managed_in_the_page() {
    let (served, _model) = without_browser(vec![vec![Do::Say("Good.")]]);
    let Some(person) = Person::at(&served) else { return };
    person.clicks("role=link[name=Browser]");
    person.types("label=\"Name of the profile\"", "work");
    person.clicks("role=button[name=Create]");
    person.sees("profiles", "work");
    person.clicks("role=button[name=\"Create an id\"]");
    person.sees("browser-id", "Shown only now.");
    let id = person.eval("document.querySelector('#browser-id code').textContent").as_str().unwrap().to_owned();
    person.types("label=\"Browser id\"", &id);
    person.clicks("role=button[name=Check]");
    person.until("document.getElementById('view-browser').innerText.includes('Valid until')");
    person.clicks("css=#profiles >> role=button[name=Delete]");
    person.clicks("css=#profiles >> text=\"Delete for good?\"");
    person.until("!document.getElementById('profiles').innerText.includes('work')");
    let known = served.api.get("/profiles").ok()["profiles"].as_array().unwrap().len();
    assert_eq!(known, 1);
}

#[test]
fn a_plan_is_asked_for_and_changed() {
    let model = StreamingModel::answering(|request| {
        let messages = request["messages"].as_array().unwrap();
        let last = messages.iter().rev().find(|message| message["role"] == "user").unwrap()["content"].to_string();
        let todo = |id: &str, text: &str| json!({ "id": id, "content": text, "status": "pending" });
        let is_called = messages.last().unwrap()["role"] == "tool";
        match (last.contains("Follow this plan instead"), is_called) {
            (false, false) => {
                assert!(last.contains("write your plan as a to-do list"), "{last}");
                let todos = json!({ "todos": [todo("1", "Look for lamps"), todo("2", "Look for shades")] });
                Script::stream().call("c1", "todo", &todos).done()
            }
            (false, true) => Script::stream().text("Is this right?").done(),
            (true, _) => Script::stream()
                .text(&format!("I follow it: {}", last.contains("1. Look for shades\\n2. Look for bulbs")))
                .done(),
        }
    });
    let served = TestServer::with(|_, _| {});
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    served.api.post("/api/config/llm", &models).ok();
    let Some(person) = Person::at(&served) else { return };
    person.clicks("text=Options");
    person.clicks("label=\"Show a plan first, and ask me\"");
    person.asks("Furnish my room");
    person.sees("narration", "Is this right?");
    person.sees("plan", "Look for lamps");
    person.sees("badge", "Done");
    person.clicks("role=button[name=Change]");
    person.clicks("role=button[name=\"Move step 2 up\"]");
    person.types("label=\"Step 2\"", "Look for bulbs");
    person.clicks("role=button[name=\"Send to the agent\"]");
    person.sees("narration", "I follow it: true");
    person.eval("localStorage.clear(); 1");
}

#[test]
fn calls_with_odd_arguments_and_methods_are_shown_and_copied_safely() {
    let site = Site::start();
    site.page("/", &format!("{STYLE}<title>Shop</title><link rel=icon href='data:,'><script>fetch('/x', {{ method: \"X|echo$IFS'PWNED'|cat\" }}).catch(() => 1)</script>"));
    let odd = [
        ("todo", json!({ "todos": [null, 5, { "id": {}, "content": ["x"] }] })),
        ("clarify", json!({ "question": { "toString": 1 } })),
        ("tab", json!({ "action": "init", "url": { "toString": 1 } })),
        ("terminal", json!({ "command": { "toString": 1 } })),
        ("tab", json!({ "action": "init", "url": site.url("a", "/") })),
    ];
    let model = StreamingModel::answering(move |request| {
        let messages = request["messages"].as_array().unwrap();
        let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        match odd.get(calls) {
            Some((tool, arguments)) => Script::stream().call(&format!("c{calls}"), tool, arguments).done(),
            None => Script::stream().text("All done.").done(),
        }
    });
    let Some(served) = TestServer::browsing() else { return };
    let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
    served.api.post("/api/config/llm", &models).ok();
    let Some(person) = Person::at(&served) else { return };
    person.asks("Go");
    // The page sends a request with an effect while it loads.
    person.sees("question", "X|echo$IFS'PWNED'|cat");
    person.clicks("css=#question >> role=button[name=\"Allow once\"]");
    person.sees("narration", "All done.");
    person.sees("badge", "Done");
    person.eval("window.copied = []; navigator.clipboard.writeText = text => { window.copied.push(text); return Promise.resolve(); }; 1");
    person.clicks("role=tab[name=Network]");
    person.sees("panel-network", "/x");
    person.clicks("css=#panel-network li:last-child summary");
    person.clicks("css=#panel-network li:last-child >> role=button[name=\"Copy as curl\"]");
    person.until("window.copied.length");
    let copied = person.eval("window.copied[0]").to_string();
    assert!(copied.contains("-X 'X|echo$IFS'"), "{copied}");
}

#[test]
fn dialogs_that_follow_each_other_are_answered_one_after_the_other() {
    let Some(tasks) = Tasks::new(vec![vec![Do::Say("Good.")]]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    tasks.served.show("<title>Shop</title>");
    tasks.served.api.post("/cdp", &json!({ "method": "Runtime.evaluate", "params": { "expression": "setTimeout(() => { alert('first'); document.title = prompt('second'); }); 1" } })).ok();
    person.sees("dialogs", "first");
    person.clicks("css=#dialogs >> role=button[name=OK]");
    person.sees("dialogs", "second");
    person.types("css=#dialogs input", "Ada");
    person.clicks("css=#dialogs >> role=button[name=OK]");
    tasks.served.api.until("the answer", "/tabs", |tabs| tabs["tabs"].to_string().contains("\"title\":\"Ada\""));
}

#[test]
fn downloads_of_the_browser_are_listed() {
    let Some(tasks) = Tasks::new(vec![vec![Do::Say("Good.")]]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.clicks("role=link[name=Browser]");
    let served = &tasks.served;
    served.site.put("/file", crate::support::site::Answer::bytes("application/octet-stream", vec![7; 1234]));
    served.show("<title>Shop</title><a id=d href=/file download=lamp.bin>Get</a>");
    served.api.post("/act", &json!({ "kind": "click", "selector": "#d" })).ok();
    person.sees("downloads", "lamp.bin");
    person.sees("downloads", "1234 bytes");
}

#[test]
fn a_host_is_admitted_in_the_page() {
    let site = Site::start();
    shop(&site);
    let host = format!("b.localhost:{}", site.port());
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Host(host.clone()),
        Do::Tab("open", site.url("b", "/")),
        Do::Say("Good."),
    ];
    let Some(tasks) = Tasks::new(vec![plan]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    person.clicks("text=Options");
    person.types("label=\"Only these hosts\"", "a.localhost");
    person.asks("Follow plan 0");
    person.sees("question", &host);
    person.clicks("role=button[name=\"Admit for this conversation\"]");
    person.sees("narration", "Good.");
    site.wait_requested("b.localhost/", 1);
    person.eval("localStorage.clear(); 1");
}

/// What a conversation's badge says.
fn badge_of(info: &Value) -> &'static str {
    match (info["status"].as_str().unwrap(), info["paused"] == true, info["unfinished"] == true) {
        ("active", true, _) => "Paused",
        ("active", ..) => "Running",
        ("waiting", ..) => "Waiting for you",
        ("error", ..) => "Failed",
        (_, _, true) => "Stopped",
        _ => "Done",
    }
}

fn signal(process: &str, what: &str) {
    assert!(Command::new("kill").args([what, "--", process]).status().unwrap().success());
}

/// Reloads, second windows, restarts of the server and sleep at random moments; 100 with `CDPILOT_TEST_MOMENTS=100`.
#[test]
fn the_page_shows_what_the_server_knows_after_any_interruption() {
    let moments = share(0..rounds("CDPILOT_TEST_MOMENTS", 5, 5), 2);
    let site = Site::start();
    shop(&site);
    let mut plan = vec![Do::Tab("init", site.url("a", "/"))];
    plan.extend([Do::Look, Do::Look, Do::Look, Do::Help("Ready?"), Do::Say("Good.")]);
    let Some(mut tasks) = Tasks::new(vec![plan]) else { return };
    let Some(browser) = launch(TransportKind::Pipe) else { return };
    let pid = browser.pid().unwrap();
    let person = Person { paged: TestTab::of("ui-agent", browser) };
    person.acts(Act::resize(1280, 800));
    person.opens(&tasks.served.server().ui_url().unwrap());
    for moment in moments {
        person.asks(&format!("Round {moment}, follow plan 0"));
        let hash = person.eval("location.hash").as_str().unwrap().to_owned();
        let route = format!("/agent/conversations/{}", hash.trim_start_matches("#/c/"));
        let at = fastrand::u64(1..14);
        tasks.served.api.until("a moment", &route, |shown| {
            let info = &shown["conversation"];
            info["last_event"].as_u64().unwrap() >= at || info["status"] == "waiting"
        });
        let rests = |shown: &Value| ["waiting", "idle"].contains(&shown["conversation"]["status"].as_str().unwrap());
        match moment % 5 {
            0 => {
                person.paged.supervisor().reload(&person.paged.top(), soon()).unwrap();
                person.paged.loaded();
            }
            1 => {
                let url = tasks.served.server().ui_url().unwrap();
                person.opens(&format!("{url}{hash}"));
            }
            2 => {
                tasks.served.restart_in_place();
                person.sees("outside", "You are not signed in.");
                let url = tasks.served.server().ui_url().unwrap();
                person.opens(&format!("{url}{hash}"));
            }
            // The person's machine sleeps while the run goes on; with 4, it has no network at first when it wakes up.
            kind => {
                person.network(kind != 4);
                signal(&format!("-{pid}"), "-STOP");
                tasks.served.api.until("rest", &route, rests);
                signal(&format!("-{pid}"), "-CONT");
                person.network(true);
            }
        }
        // The run comes to its question, or was interrupted.
        let shown = tasks.served.api.until("rest", &route, rests);
        let info = &shown["conversation"];
        person.sees("badge", badge_of(info));
        if let Some(question) = info["question"]["body"]["message"].as_str() {
            person.sees("question", question);
        }
        let events = tasks.served.api.get(&format!("{route}/events")).ok();
        let ids = events["events"].as_array().unwrap().iter().filter(|event| event["event"] != "usage_metrics");
        let ids: Vec<&Value> = ids.map(|event| &event["id"]).collect();
        let same = format!(
            "JSON.stringify([...document.querySelectorAll('#timeline li[data-id]')].map(it => Number(it.dataset.id))) === {}",
            json!(json!(ids).to_string())
        );
        person.until(&same);
        tasks.served.api.delete(&route);
    }
}

#[test]
fn a_long_timeline_keeps_the_page_small() {
    let (served, _model) = without_browser(vec![vec![Do::Say("Good.")]]);
    let Some(person) = Person::at(&served) else { return };
    let shown = person.eval(
        "import('/ui/timeline.js').then(timeline => { \
           const events = Array.from({ length: 10000 }, (_, id) => ({ id: id + 1, name: 'agent_event', type: 'SystemEvent', time: 1, text: 'Event ' + id, arguments: '', thinking: '' })); \
           timeline.show({ events, first: 0 }); \
           for (let part = 0; part < 100; part++) timeline.append(events.slice(part * 100, part * 100 + 100)); \
           return [document.querySelectorAll('#timeline li').length, document.querySelectorAll('*').length]; })",
    );
    assert!(shown[0].as_u64().unwrap() <= 202 && shown[1].as_u64().unwrap() < 3_000, "{shown}");
    // The newest line stays in view.
    person.until("(list => list.scrollTop > 1000 && list.scrollHeight - list.scrollTop - list.clientHeight < 2)(document.getElementById('timeline'))");
    // Another width needs nothing from the server.
    person.eval("performance.clearResourceTimings(); window.asked = []; const send = fetch; window.fetch = (...all) => { window.asked.push(String(all[0])); return send(...all); }; 1");
    person.acts(Act::resize(600, 800));
    person.until("innerWidth === 600");
    let asked =
        person.eval("window.asked.filter(url => !/profiles|tabs|dialogs|conversations|[0-9]\\/(\\?|$)/.test(url))");
    assert_eq!(asked, json!([]));
}

/// What the accessibility checker looks at, each at light and dark colours.
const VIEWS: [&str; 10] =
    ["new task", "commands", "options", "approval", "Snapshot", "Network", "Console", "narrow", "browser", "models"];

/// What axe finds in the view that is shown, at these colours.
fn problems(person: &Person, axe: &str, schemes: &[&str]) -> Vec<Value> {
    let mut found = Vec::new();
    for scheme in schemes {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        let supervisor = person.paged.supervisor();
        supervisor.call_raw(&person.paged.top(), "Emulation.setEmulatedMedia", &media, soon()).unwrap();
        person.paged.eval(&format!("{axe}; 1"));
        let run = "axe.run(document, { resultTypes: ['violations'] }).then(done => done.violations.map(it => \
                   [it.impact, it.id, it.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' ' + node.failureSummary.slice(0, 200))]))";
        let violations = person.eval(run);
        found.extend(violations.as_array().unwrap().iter().map(|it| json!([scheme, it])));
    }
    found
}

#[test]
fn an_accessibility_checker_finds_nothing_serious_in_any_view() {
    let site = Site::start();
    shop(&site);
    let Some(axe) = page_libraries::read("axe-core/axe.min.js") else { return };
    let Some(tasks) = Tasks::new(vec![ordering(&site)]) else { return };
    let Some(person) = Person::at(&tasks.served) else { return };
    let turns = share(VIEWS.iter().flat_map(|view| ["light", "dark"].map(|scheme| (*view, scheme))), 6);
    let check = |what: &str| {
        assert!(VIEWS.contains(&what), "{what} has no turn");
        let schemes: Vec<&str> = turns.iter().filter(|(view, _)| *view == what).map(|(_, scheme)| *scheme).collect();
        let serious: Vec<Value> = problems(&person, &axe, &schemes)
            .into_iter()
            .filter(|it| ["serious", "critical"].contains(&it[1][0].as_str().unwrap_or_default()))
            .collect();
        assert!(serious.is_empty(), "{what}: {serious:#?}");
    };
    check("new task");
    person.types("label=Task", "/");
    check("commands");
    person.types("label=Task", "");
    person.clicks("text=Options");
    check("options");
    person.asks("Follow plan 0");
    person.sees("question", "Place order");
    check("approval");
    for panel in ["Snapshot", "Network", "Console"] {
        person.clicks(&format!("role=tab[name={panel}]"));
        person.until(&format!("document.getElementById('panel-{}').childElementCount", panel.to_lowercase()));
        check(panel);
    }
    person.acts(Act::resize(360, 740));
    check("narrow");
    person.acts(Act::resize(1280, 800));
    person.clicks("role=link[name=Browser]");
    person.sees("tabs", "Shop");
    check("browser");
    person.clicks("role=link[name=Models]");
    person.sees("models", "Address");
    check("models");
}
