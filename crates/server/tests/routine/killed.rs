//! `kill -9` of the server during a run without a model: nothing is sent twice.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use cdpilot_server::config::{Config, Confirm, Home};
use cdpilot_server::control::Overrides;
use cdpilot_server::server::{Server, ServerOptions};
use serde_json::{Value, json};

use crate::recording_capture::Stage;
use crate::replay_fast::{Made, STYLE, Task, event};
use crate::support::api::{Api, TestServer};
use crate::support::leaks::rerun;
use crate::support::share::share;
use crate::support::site::{Answer, Held};

/// Set in the child process: the home of the server, and the CDP endpoint of its browser.
const HOME: &str = "CDPILOT_TEST_ROUTINE_HOME";
const BROWSER: &str = "CDPILOT_TEST_ROUTINE_BROWSER";
const PAGES: [(&str, &str); 4] = [("/", "one"), ("/one", "two"), ("/two", "three"), ("/three", "nothing")];

/// Body of the child process: a server, until it is killed. A test of its own, so that this binary can be started for it; without the
/// variable it does nothing.
#[test]
fn the_server_that_is_killed() {
    let Ok(path) = std::env::var(HOME) else { return };
    let mut config = Config::default();
    config.browser.cdp_port = 0;
    config.agent.confirm = Confirm::Never;
    config.browser.cdp_url = Some(std::env::var(BROWSER).unwrap());
    let mut options = ServerOptions::new(Home::at(path), Config::default());
    (options.port, options.config, options.overrides) = (Some(0), config, Overrides::new());
    let server = Server::start(options).unwrap();
    println!("serving {} {}", server.addr(), server.token().reveal());
    loop {
        std::thread::park();
    }
}

fn page(path: &str, next: &str) -> String {
    format!("{STYLE}<title>At {path}</title><form method=post action=/{next}><button>Order {next}</button></form>")
}

fn shop(served: &TestServer) {
    for (path, next) in PAGES {
        served.site.page(path, &page(path, next));
    }
}

const TEXT: &str =
    "\n## Step 1: One\nPress Order one.\n\n## Step 2: Two\nPress Order two.\n\n## Step 3: Three\nPress Order three.\n";

fn made() -> Option<Made> {
    let work = |stage: &Stage| {
        for (at, title) in ["At /one", "At /two", "At /three"].into_iter().enumerate() {
            stage.person.click("document.querySelector('button')");
            let there = |answer: &Value| answer.to_string().contains(&format!("\"{title}\""));
            stage.served.api.until(&format!("page {at}"), &stage.path("/events?limit=5000"), there);
        }
    };
    let steps = |events: &[Value]| {
        let of = |name: &str| vec![event(events, "click", &format!("\"Order {name}\""))];
        json!({ "1": of("one"), "2": of("two"), "3": of("three") })
    };
    Made::new(&Task { pages: &shop, work: &work, text: TEXT, steps: &steps })
}

/// Orders that were sent: one for each request.
fn orders(made: &Made, name: &str) -> usize {
    let all = made.stage.served.site.heads(&format!("a.localhost/{name}"));
    all.iter().filter(|head| head.starts_with("POST")).count()
}

fn child(home: &Home, browser: &str) -> (Child, Api) {
    let mut command = rerun(module_path!(), "the_server_that_is_killed");
    command.env(HOME, home.root()).env(BROWSER, browser).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines.find_map(|line| Some(line.unwrap().split_once("serving ")?.1.to_owned())).unwrap();
    let (address, token) = said.split_once(' ').unwrap();
    (child, Api { address: address.parse().unwrap(), token: token.to_owned() })
}

#[test]
fn nothing_is_sent_twice_whenever_the_server_is_killed() {
    let Some(mut made) = made() else { return };
    let names = ["one", "two", "three"];
    let run_path = format!("/routines/{}/run", made.routine);
    for (n, is_in_between) in share([(0, true), (0, false), (1, true), (1, false), (2, true)], 2) {
        let name = names[n];
        let before = names.map(|name| orders(&made, name));
        let (home, browser) = (made.stage.served.home.clone(), made.stage.served.cdp_url().to_owned());
        let held = Held::default();
        let (path, html) = (format!("/{name}"), page(&format!("/{name}"), PAGES[n + 1].1));
        let site = &made.stage.served.site;
        if is_in_between {
            // Its request has arrived, and the answer has not.
            site.put(&path, Answer::html(html).held_by(&held));
        } else {
            // The next element does not come.
            site.page(&path, &html.replace("<form", "<script src=/gate></script><form"));
            site.put("/gate", Answer::script("").held_by(&held));
        }
        let mut run = String::new();
        let served = &mut made.stage.served;
        let times = served.site.heads(&format!("a.localhost/{name}")).len() + 1;
        served.restart_meanwhile(|site| {
            let (mut child, api) = child(&home, &browser);
            let body = json!({ "model": "none", "login": "own", "guard": "off" }).to_string();
            let mut stream = api.events_of("POST", &run_path, Some(&body), "");
            let (_, connected) = stream.next_of("connected");
            connected["conversation_id"].as_str().unwrap().clone_into(&mut run);
            if is_in_between {
                site.wait_requested(&format!("a.localhost/{name}"), times);
            } else {
                let report = run_path.replace("/run", &format!("/runs/{run}"));
                api.until("the end of the step", &report, |report| report["steps"][n]["status"] == "done");
            }
            child.kill().unwrap();
            child.wait().unwrap();
            held.release();
        });
        shop(&made.stage.served);
        let api = &made.stage.served.api;
        let report = format!("/routines/{}/runs/{run}", made.routine);
        let interrupted = api.get(&report).ok();
        assert_eq!(interrupted["status"], "interrupted", "{interrupted:#}");
        api.post(&format!("/agent/conversations/{run}/resume"), &json!({})).ok();
        let ended = api.until("the end", &report, |report| {
            !["running", "interrupted"].contains(&report["status"].as_str().unwrap())
        });
        let sent: Vec<usize> = names.iter().zip(before).map(|(name, before)| orders(&made, name) - before).collect();
        let why = format!("killed at {name}, in between: {is_in_between}: {sent:?} {ended:#}");
        assert!(sent.iter().all(|times| *times <= 1), "{why}");
        if is_in_between {
            // It is not known what the server has made of the order: that is said, and nothing else is done.
            assert_eq!((&ended["status"], &ended["code"]), (&json!("failed"), &json!("INTERRUPTED")), "{why}");
            assert_eq!(sent.iter().sum::<usize>(), n + 1, "{why}");
        } else {
            assert_eq!((&ended["status"], &sent[..]), (&json!("done"), &[1, 1, 1][..]), "{why}");
        }
    }
}
