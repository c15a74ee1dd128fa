//! `kill -9`: acknowledged events are there afterwards, and no order is given twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use cdpilot::agent::{Followed, NewConversation};
use cdpilot::config::Home;
use cdpilot::store::ConversationState;
use cdpilot::sync::pause;
use cdpilot::tools::{Outcome, Tool};
use serde_json::{Value, json};

use crate::support::agent_home::{AgentHome, call, say, soon};
use crate::support::leaks::rerun;
use crate::support::streaming_model::{Script, StreamingModel};

/// Set in the child process, to the home.
const HOME: &str = "CDPILOT_TEST_AGENT_HOME";
const KILLS: u32 = 30;
/// Orders of a task.
const ORDERS: usize = 4;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    text: String,
}

/// Gives the orders of a task one after the other, and none a second time: what it has called is in the messages.
fn answer(request: &Value) -> Script {
    let messages = request["messages"].as_array().unwrap();
    let task = messages.iter().find(|message| message["role"] == "user").unwrap()["content"].as_str().unwrap();
    let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
    match calls {
        ORDERS => say("All is ordered."),
        next => call(&format!("call-{next}"), "order", &format!("{task}-{next}")),
    }
}

fn home_at(home: &Home) -> AgentHome {
    let made = AgentHome::at(home, "", json!({}), StreamingModel::answering(answer));
    let file = home.root().join("orders");
    let order = Tool::of("order", "Order.", move |_, Order { text }| {
        let mut orders = std::fs::OpenOptions::new().append(true).create(true).open(&file).unwrap();
        orders.write_all(format!("{text}\n").as_bytes()).unwrap();
        Ok(Outcome::default().with("ordered", text))
    });
    made.toolbox.registry().register("bench", order).unwrap();
    made
}

/// Body of the child process: resumes what was interrupted, then begins tasks forever, and prints the events that it
/// follows. A test of its own, so that this binary can be started for it; without the variable it does nothing.
#[test]
fn the_process_that_is_killed() {
    let Ok(path) = std::env::var(HOME) else { return };
    let home = home_at(&Home::at(path));
    let agents = home.agents();
    let follow = |id: &str, after: u64| {
        let mut follower = agents.follow(id, after).unwrap();
        loop {
            match follower.next(soon()).unwrap() {
                Followed::Event { id: event, .. } => println!("acknowledged {id} {event}"),
                Followed::End => return,
                _ => {}
            }
        }
    };
    for interrupted in agents.list(Some(ConversationState::Idle)).unwrap() {
        if interrupted.conversation.unfinished {
            let id = &interrupted.conversation.id;
            let after = agents.resume(id).unwrap();
            follow(id, after);
        }
    }
    loop {
        let id = agents.create(NewConversation::new().toolsets(["bench"])).unwrap();
        let after = agents.send(&id, &format!("task-{}", &id[..8])).unwrap();
        follow(&id, after);
    }
}

#[test]
fn acknowledged_events_survive_a_kill_and_no_order_is_given_twice() {
    let folder = tempfile::Builder::new().prefix("cdpilot-agent-crash-").tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut acknowledged: BTreeSet<(String, u64)> = BTreeSet::new();
    for run in 0..KILLS {
        let mut child = rerun(module_path!(), "the_process_that_is_killed")
            .env(HOME, home.root())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("acknowledged") {
            assert!(output.read_line(&mut text).unwrap() > 0, "run {run} ended: {text}");
        }
        pause(Duration::from_micros(fastrand::u64(0..60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        output.read_to_string(&mut text).unwrap();
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in lines.filter_map(|line| Some(line.split_once("acknowledged ")?.1)) {
            let (id, event) = line.trim().split_once(' ').unwrap();
            acknowledged.insert((id.to_owned(), event.parse().unwrap()));
        }
    }
    // The last ones are finished by the process of the test.
    let home_again = home_at(&home);
    let agents = home_again.agents();
    let (mut unknown, mut not_started, mut tasks) = (0, 0, 0);
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for overview in agents.list(None).unwrap() {
        let id = &overview.conversation.id;
        if overview.conversation.unfinished {
            let after = agents.resume(id).unwrap();
            home_again.to_end(id, after);
        }
        let events = agents.events(id, 0, usize::MAX).unwrap();
        assert!(events.iter().map(|event| event.id).eq(1..=events.len() as u64), "{id}");
        known.insert(id.clone(), events.len());
        let count = |part: &str| events.iter().filter(|event| event.data.contains(part)).count();
        unknown += count("not known whether");
        not_started += count("not started");
        tasks += usize::from(!events.is_empty());
    }
    for (id, event) in &acknowledged {
        assert!(known.get(id).is_some_and(|count| *event <= *count as u64), "event {event} of {id} is gone");
    }
    let orders = std::fs::read_to_string(home.root().join("orders")).unwrap();
    let orders: Vec<&str> = orders.lines().collect();
    let distinct: BTreeSet<&&str> = orders.iter().collect();
    assert_eq!(distinct.len(), orders.len(), "an order was given twice");
    let settled = orders.len() + not_started;
    assert!(settled <= tasks * ORDERS && settled + unknown >= tasks * ORDERS, "{settled} of {tasks} tasks");
    println!(
        "{KILLS} kills, {tasks} tasks, {} acknowledged events, {} orders, {unknown} calls with an unknown effect, {not_started} \
         not started",
        acknowledged.len(),
        orders.len()
    );
}
