//! Actions whose effect is disguised, or whose control is not called by its name, need approval all the same.

use std::time::Duration;

use cdpilot::sync::{Deadline, pause};
use cdpilot_server::config::Config;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::share::share;
use crate::support::site::Site;
use crate::support::streaming_model::{Script, StreamingModel};

/// A call: tool and arguments. `@Name` stands for the ref of the element with that name, `$a` for a site.
type Call = (&'static str, &'static str);

/// What pages disguise, and what is not called by its name.
const DISGUISED: [(&str, &[Call]); 9] = [
    (
        "<form method=post action=/order><input name=a aria-label=Line><button>Go</button></form>",
        &[("browser_type", r#"{"ref": "@Line", "text": "hi\n"}"#)],
    ),
    (
        "<form method=post action=/order><select name=s aria-label=Deed onchange='this.form.submit()'><option>None<option>Delete account</select></form>",
        &[("browser_select", r#"{"ref": "@Deed", "values": ["Delete account"]}"#)],
    ),
    (
        "<form method=post action=/order><input type=checkbox name=c aria-label=Agreed onchange='this.form.submit()'></form>",
        &[("browser_click", r#"{"ref": "@Agreed"}"#)],
    ),
    (
        "<button aria-label='Go on' onclick=\"fetch('/order', {method: 'POST'})\">Delete account</button>",
        &[("browser_click", r#"{"ref": "@Go on"}"#)],
    ),
    (
        "<button onclick=\"fetch('/order', {method: 'POST'})\">D\u{435}lete</button>",
        &[("browser_click", "{\"ref\": \"@D\u{435}lete\"}")],
    ),
    (
        "<form method=post action=/order><input type=hidden name=action value=delete><button>Next</button></form>",
        &[("browser_click", r#"{"ref": "@Next"}"#)],
    ),
    (
        "<button class='fa fa-trash' aria-label='' onclick=\"fetch('/order', {method: 'POST'})\"><svg width=20 height=20><title></title></svg></button>",
        &[("browser_click", r#"{"ref": "e1"}"#)],
    ),
    (
        "<input aria-label=Message onkeydown=\"if (event.key == 'Enter') fetch('/order', {method: 'POST'})\">",
        &[("browser_type", r#"{"ref": "@Message", "text": "hi", "submit": true}"#)],
    ),
    (
        "<p>x",
        &[(
            "browser_navigate",
            r#"{"url": "data:text/html,<form id=f method=post action=$a/order></form><script>f.submit()</script>"}"#,
        )],
    ),
];

/// The case that is refused without a question.
const LINE_BREAK: usize = 0;

const SEVERAL: &[Call] = &[
    ("browser_fill", r#"{"fields": [{"ref": "@To", "value": "ada"}, {"ref": "@Amount", "value": "5"}]}"#),
    ("browser_press", r#"{"key": "Enter"}"#),
];

/// A server with a browser, a site, and a model that makes the calls of the page that its task names.
struct World {
    site: Site,
    served: TestServer,
    _model: StreamingModel,
}

/// The ref of the element with a name in what the tools returned last.
fn reference(messages: &[Value], name: &str) -> String {
    let mark = format!("\"{name}\"");
    let found = messages.iter().rev().filter(|message| message["role"] == "tool").find_map(|message| {
        let result: Value = serde_json::from_str(message["content"].as_str()?).ok()?;
        let snapshot = result["snapshot"].as_str()?.to_owned();
        let line = snapshot.lines().find(|line| line.contains(&mark) && line.contains("[ref="))?.to_owned();
        Some(line.split("[ref=").nth(1)?.split(']').next()?.to_owned())
    });
    found.unwrap_or_else(|| "e0".to_owned())
}

fn arguments(given: &str, site: &str, messages: &[Value]) -> Value {
    let mut text = given.replace("$a", site);
    while let Some(at) = text.find("\"@") {
        let name = text[at + 2..].split('"').next().unwrap().to_owned();
        text = text.replace(&format!("\"@{name}\""), &format!("\"{}\"", reference(messages, &name)));
    }
    serde_json::from_str(&text).unwrap()
}

/// Opens the page that the task names, and makes its calls.
fn play(request: &Value, site: &str) -> Script {
    let messages = request["messages"].as_array().unwrap();
    let done = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
    let task = messages.iter().find(|message| message["role"] == "user").unwrap()["content"].to_string();
    let page = task.rsplit(' ').next().unwrap().trim_end_matches('"').to_owned();
    let calls = page.parse::<usize>().map_or(SEVERAL, |number| DISGUISED[number].1);
    let opening = format!(r#"{{"url": "{site}/{page}"}}"#);
    let next = match done {
        0 => Some(("browser_navigate", opening.as_str())),
        1 => Some(("browser_snapshot", r#"{"full": true}"#)),
        _ => calls.get(done - 2).copied(),
    };
    match next {
        Some((tool, given)) => {
            Script::stream().call(&format!("c{done}"), tool, &arguments(given, site, messages)).done()
        }
        None => Script::stream().text("Done.").done(),
    }
}

impl World {
    fn new() -> Option<Self> {
        let site = Site::start();
        site.page("/order", "<p>Done");
        let origin = site.url("a", "");
        let model = StreamingModel::answering(move |request| play(request, &origin));
        let served = TestServer::browsing_with(|_: &mut Config, _| ())?;
        let models = json!({ "models": { "one": { "model": "m", "base_url": model.url() } } });
        served.api.post("/api/config/llm", &models).ok();
        Some(Self { site, served, _model: model })
    }

    /// Lets the model work on a page. Returns what a person was asked about, and whether the task was done. Approvals are given,
    /// or the first one ends it.
    fn run(&self, guard: &str, page: &str, approves: bool) -> (Vec<String>, bool) {
        let api = &self.served.api;
        let body = json!({ "toolsets": ["browser"], "guard": guard });
        let id = api.post("/agent/conversations", &body).ok()["conversation_id"].as_str().unwrap().to_owned();
        let route = |end: &str| format!("/agent/conversations/{id}/{end}");
        let text = json!({ "text": format!("Look at page {page}") }).to_string();
        let mut stream = api.events_of("POST", &route("messages"), Some(&text), "");
        let (mut asked, mut is_done) = (Vec::new(), false);
        while let Some((name, _, data)) = stream.try_next() {
            match name.as_str() {
                "help_request" => {
                    asked.push(format!("{}: {}", data["effect"].as_str().unwrap_or("question"), data["action"]));
                    if !approves {
                        break;
                    }
                    api.post(&route("answer"), &json!({ "approval_id": data["approval_id"], "decision": "once" })).ok();
                }
                "complete" => is_done = true,
                "error" => panic!("{data}"),
                _ => {}
            }
        }
        drop(stream);
        api.call("DELETE", route("").trim_end_matches('/'), None);
        (asked, is_done)
    }

    /// How often something was ordered.
    fn orders(&self) -> usize {
        self.site.requested().iter().filter(|path| path.ends_with("/order")).count()
    }
}

#[test]
fn what_is_disguised_or_not_called_by_its_name_is_asked_about() {
    let Some(world) = World::new() else { return };
    for (number, (html, _)) in share(DISGUISED.into_iter().enumerate(), 3) {
        world.site.page(&format!("/{number}"), html);
        let (asked, _) = world.run("irreversible", &number.to_string(), false);
        // A line break in a field of one line is refused at once.
        let expected = usize::from(number != LINE_BREAK);
        assert_eq!((world.orders(), asked.len()), (0, expected), "{html}: {asked:?}");
    }
}

/// The pages do what they are supposed to disguise.
#[test]
fn without_approvals_each_disguised_action_has_its_effect() {
    let Some(world) = World::new() else { return };
    // A line break in a field of one line is refused at once.
    let cases = share(DISGUISED.into_iter().enumerate().filter(|(number, _)| *number != LINE_BREAK), 3);
    for (before, (number, (html, _))) in cases.into_iter().enumerate() {
        world.site.page(&format!("/{number}"), html);
        let (asked, is_done) = world.run("off", &number.to_string(), false);
        assert!(is_done && asked.is_empty(), "{html}: {asked:?}");
        let ordered = Deadline::after_secs(5);
        while world.orders() <= before && !ordered.passed() {
            pause(Duration::from_millis(10)); // the site does not signal requests
        }
        assert_eq!(world.orders(), before + 1, "{html}");
    }
}

#[test]
fn a_call_with_several_effects_is_made_once_all_are_approved() {
    let Some(world) = World::new() else { return };
    // The button comes after more fields than a question shows.
    let many = "<input type=checkbox>".repeat(70);
    let form = format!(
        "<form method=post action=/order><input name=to aria-label=To><input name=amount aria-label=Amount>{many}<button>Go on</button></form>"
    );
    world.site.page("/several", &form);
    let (asked, is_done) = world.run("all", "several", true);
    assert!(is_done, "{asked:?}");
    let actions = [
        "fill in the textbox \\\"To\\\"",
        "fill in the textbox \\\"Amount\\\"",
        "press Enter in the textbox \\\"Amount\\\"",
    ];
    assert!(asked.len() == 3 && asked.iter().zip(actions).all(|(asked, action)| asked.contains(action)), "{asked:#?}");
    assert_eq!(world.orders(), 1);
}
