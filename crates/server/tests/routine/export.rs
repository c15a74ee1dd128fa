//! Exported routines do what was recorded: the test of Playwright and the script, as their users run them.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::replay_fast::{Made, STYLE, Task, event};
use crate::support::api::TestServer;
use crate::support::browser_path;
use crate::support::person::Person;
use crate::support::playwright_peer::PlaywrightPeer;
use crate::support::site::Answer;

const TITLE: &str = "Say \"hi\" \\ ${1} `x` // */ #\u{2028}\u{202e}";

fn pages(served: &TestServer) {
    let site = &served.site;
    let typed = "fetch('/typed/' + this.querySelector('[type=password]').value, { keepalive: true })";
    let form = "<title>Log in</title><form action=/found><label>Customer <input name=customer></label> \
        <label>Password <input type=password></label> \
        <label>Status <select name=status><option value=all>All<option value=due>Due</select></label> \
        <label><input type=checkbox name=old> Old ones</label> <button>Show</button></form>";
    site.page("/", &format!("{STYLE}{form}").replace("<form ", &format!("<form onsubmit=\"{typed}\" ")));
    let row = |n: u32| {
        let script = format!(
            "if (confirm('Archive invoice {n}?')) fetch('/archive/{n}').then(() => {{ this.disabled = true }})"
        );
        format!("<tr><th>Invoice {n}</th><td><button onclick=\"{script}\">Archive</button></td></tr>")
    };
    let card = |name: &str| {
        let marked = if name == "South" { " new" } else { "" };
        format!(
            "<div class='card{marked}'>{name} <button onclick=\"this.append('!'), fetch('/pin/{name}')\">Pin</button></div>"
        )
    };
    let rows: String = [1001, 1002, 1003].map(row).concat();
    let cards: String = ["North", "South", "West"].map(card).concat();
    let frame = "<iframe name=pay src=/stamp style='width: 200px; height: 60px'></iframe>";
    let odd = TITLE.replace('&', "&amp;").replace('"', "&quot;");
    let found = format!(
        "{STYLE}<title>Found</title><table>{rows}</table>{cards}{frame} <a href=/report.csv download>Report</a> \
         <button onclick=\"this.append('!'), fetch('/odd')\" aria-label=\"{odd}\">O</button> <a href=/help target=_blank>Help (3)</a>"
    );
    site.page("/found", &found);
    site.page("/stamp", "<style>* { margin: 0 } button { width: 100vw; height: 100vh }</style><button onclick=\"this.append('!'), fetch('/stamped')\">Stamp</button>");
    site.page(
        "/help",
        &format!("{STYLE}<title>Help</title><button onclick=\"this.append('!'), fetch('/read')\">Got it</button>"),
    );
    let file = Answer::bytes("text/csv", *b"1;2").header("Content-Disposition", "attachment; filename=report-2.csv");
    site.put("/report.csv", file);
}

const TEXT: &str = "
## Inputs
- customer (default Ada)
- password (sensitive)

## Step 1: Fill in the form
Type {{customer}} into Customer and {{password}} into Password, set Status to Due (due), and check Old ones.

## Step 2: Show them
Press Show.

## Step 3: Archive it
Press Archive in the row Invoice 1002, and accept the question.

## Step 4: Pin South
Press Pin on the card South.

## Step 5: Stamp it
Press Stamp.

## Step 6: Take the report
Press Report.

## Step 7: The odd one
Press the button O.

## Step 8: Read the help
Open Help and press Got it.
";

fn work(stage: &Stage) {
    let api = &stage.served.api;
    let path = stage.path("/events?limit=5000");
    let person = &stage.person;
    let asked = |end: &str| {
        api.until(end, &path, |_| stage.served.site.requested().iter().any(|path| path.ends_with(end)));
    };
    person.click("document.querySelector('input')");
    person.write("Ada");
    person.click("document.querySelector('[type=password]')");
    person.write("hunter22");
    person.eval("document.querySelector('select').focus()");
    person.press("ArrowDown", 0);
    person.click("document.querySelector('[name=old]')");
    person.click("document.querySelector('form button')");
    api.until("the list", &path, |answer| answer.to_string().contains("\"Found\""));
    person.click_and_answer("document.querySelectorAll('button')[1]", &[(true, "")]);
    asked("/archive/1002");
    person.click("document.querySelectorAll('.card button')[1]");
    asked("/pin/South");
    person.click("document.querySelector('iframe')");
    asked("/stamped");
    person.click("document.querySelector('[download]')");
    api.until("the download", &path, |answer| answer.to_string().contains("\"download\""));
    person.click("document.querySelector('[aria-label]')");
    asked("/odd");
    person.click("document.querySelector('[target]')");
    let opened = api.until("the help", &path, |answer| answer.to_string().contains("\"title\":\"Help\""));
    let target = opened["events"].as_array().unwrap().iter().rfind(|event| event["event_type"] == "tab_created");
    let target = target.unwrap()["data"]["target_id"].as_str().unwrap().to_owned();
    let second = Person::at(stage.served.cdp_url(), &target);
    second.click("document.querySelector('button')");
    asked("/read");
}

fn steps(events: &[Value]) -> Value {
    let first = events.iter().filter(|event| ["input", "change"].contains(&event["event_type"].as_str().unwrap()));
    let first: Vec<u64> = first.map(|event| event["event_index"].as_u64().unwrap()).collect();
    let click = |name: &str| event(events, "click", name);
    json!({
        "1": first, "2": [click("\"Show\"")], "3": [click("\"Archive\"")], "4": [click("\"Pin\"")], "5": [click("\"Stamp\"")],
        "6": [click("\"Report\"")], "7": [click("Say ")], "8": [click("\"Help (3)\""), click("\"Got it\"")],
    })
}

/// Runs the routine without a model; typing the password is approved.
fn run_with_password(made: &Made) {
    let api = &made.stage.served.api;
    let body = json!({ "model": "none", "login": "own", "inputs": { "password": "hunter22" } });
    let path = format!("/routines/{}/run", made.routine);
    let mut stream = api.events_of("POST", &path, Some(&body.to_string()), "");
    while let Some((name, _, data)) = stream.try_next() {
        match &*name {
            "help_request" => {
                let answer = json!({ "approval_id": data["approval_id"], "decision": "once" });
                let id = data["conversation_id"].as_str().unwrap();
                api.post(&format!("/agent/conversations/{id}/answer"), &answer).ok();
            }
            "complete" => return,
            "error" => panic!("{data:#}"),
            _ => {}
        }
    }
    panic!("the run did not end");
}

/// What the site was asked to do by a run, in order. It was sent the form once, with these values.
fn deeds(made: &Made, from: usize, customer: &str) -> Vec<String> {
    let deeds = ["/found", "/archive", "/pin", "/stamped", "/report", "/odd", "/help", "/read"];
    let all = made.stage.served.site.requested().into_iter().skip(from);
    let paths: Vec<String> = all.map(|path| path.trim_start_matches("a.localhost").to_owned()).collect();
    assert_eq!(paths.iter().filter(|path| *path == "/typed/hunter22").count(), 1, "{paths:?}");
    let sent = made.stage.served.site.heads("a.localhost/found");
    let sent = sent.last().unwrap().lines().next().unwrap().to_owned();
    assert_eq!(sent, format!("GET /found?customer={customer}&status=due&old=on HTTP/1.1"));
    paths.into_iter().filter(|path| deeds.iter().any(|deed| path.starts_with(deed))).collect()
}

const ALL: [&str; 8] = ["/found", "/archive/1002", "/pin/South", "/stamped", "/report.csv", "/odd", "/help", "/read"];

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn python(made: &Made, script: &str, variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("routine.py");
    std::fs::write(&file, script).unwrap();
    let api = &made.stage.served.api;
    let mut command = Command::new("python3");
    command.arg(&file).env("CDPILOT_URL", format!("http://{}", api.address)).env("CDPILOT_TOKEN", &api.token);
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn exported_scripts_do_what_was_recorded() {
    let Some(made) = Made::new(&Task { pages: &pages, work: &work, text: TEXT, steps: &steps }) else { return };
    let api = &made.stage.served.api;
    let export = |format: &str| api.get(&format!("/routines/{}/export?format={format}", made.routine));
    assert_eq!(made.routine()["fast_steps"], json!([1, 2, 3, 4, 5, 6, 7, 8]));
    for format in ["playwright", "http"] {
        let refused = export(format).fails(409, "CONFLICT");
        assert!(refused["error"].as_str().unwrap().contains("verify: true"), "{refused:#}");
    }
    for _ in 0..5 {
        run_with_password(&made);
    }
    let runs = api.get(&format!("/routines/{}/runs", made.routine)).ok();
    assert_eq!(made.routine()["trust"], "verified", "{:#}", runs["runs"][0]["steps"]);
    let site = &made.stage.served.site;

    let script = export("http").ok();
    let (text, name) = (script["content"].as_str().unwrap(), &script["filename"]);
    assert_eq!((name, &script["omitted"]), (&json!("made.py"), &json!([])), "{text}");
    let before = site.requested().len();
    let output = python(&made, text, &[("INPUT_CUSTOMER", "Bo Li"), ("SECRET_PASSWORD", "hunter22")]);
    assert!(output.status.success(), "{}\n{text}", said(&output));
    assert_eq!(deeds(&made, before, "Bo+Li"), ALL);

    let test = export("playwright").ok();
    let (text, name) = (test["content"].as_str().unwrap(), &test["filename"]);
    assert_eq!((name, &test["omitted"]), (&json!("made.spec.ts"), &json!([])), "{text}");
    for text in [text, script["content"].as_str().unwrap()] {
        assert!(!text.contains("hunter22") && !text.contains('\u{202e}'), "{text}");
    }
    let Some(peer) = PlaywrightPeer::with(text).filter(|_| browser_path().is_some()) else { return };
    let checked = peer.check();
    assert!(checked.status.success(), "{}\n{text}", said(&checked));
    let before = site.requested().len();
    let output = peer.run(&[("INPUT_CUSTOMER", "Bo Li"), ("SECRET_PASSWORD", "hunter22")]);
    assert!(output.status.success(), "{}\n{text}", said(&output));
    assert_eq!(deeds(&made, before, "Bo+Li"), ALL);
    // What is not there stops both, and nothing similar is used.
    site.page("/found", &format!("{STYLE}<title>Found</title><table><tr><th>Invoice 1003<td><button onclick=\"fetch('/archive/1003')\">Archive</button></table>"));
    let before = site.requested().len();
    let variables = [("SECRET_PASSWORD", "hunter22")];
    let output =
        python(&made, &script["content"].as_str().unwrap().replacen("PATIENCE = ", "PATIENCE = 1 or ", 1), &variables);
    assert!(said(&output).contains("button \"Archive\" in the row \"Invoice 1002\""), "{}", said(&output));
    let hurried = text.replacen("page.setDefaultTimeout(", "page.setDefaultTimeout(1_000 || ", 1);
    let output = PlaywrightPeer::with(&hurried).unwrap().run(&variables);
    assert!(said(&output).contains("Timeout 1000ms exceeded"), "{}", said(&output));
    let archived = |path: &String| path.contains("/archive/");
    assert!(!site.requested().split_off(before).iter().any(archived), "{:?}", site.requested().split_off(before));
}
