//! `kill -9`: acknowledged events are there afterwards, and no order is given twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use cdpilot::sync::{Thread, pause, spawn};
use cdpilot_server::agent::{Agents, Decision, Followed, NewConversation};
use cdpilot_server::config::Home;
use cdpilot_server::store::ConversationState;
use cdpilot_server::tools::{Effects, Outcome, Tool};
use crossbeam_channel::{Receiver, bounded};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::support::agent_home::{AgentHome, call, say, soon};
use crate::support::leaks::rerun;
use crate::support::share::rounds;
use crate::support::streaming_model::{Script, StreamingModel};

/// Set in the child process, to the home.
const HOME: &str = "CDPILOT_TEST_AGENT_HOME";
/// Set in the child process, to the address of the counting server.
const SERVER: &str = "CDPILOT_TEST_AGENT_SERVER";
/// Set in the child process if orders need approval, which it gives at once.
const GUARDED: &str = "CDPILOT_TEST_AGENT_GUARDED";
/// How long the server takes for an order.
const WORK: Duration = Duration::from_millis(8);
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

/// Counts orders, each as it arrives.
struct Counting {
    address: String,
    orders: Arc<Mutex<Vec<String>>>,
    /// One item for each order.
    arrived: Receiver<()>,
    _thread: Thread,
}

impl Counting {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let orders: Arc<Mutex<Vec<String>>> = Arc::default();
        let (send, arrived) = bounded(10_000);
        let all = Arc::clone(&orders);
        let thread = spawn("counting", move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut line = String::new();
                if BufReader::new(&stream).read_line(&mut line).unwrap_or(0) == 0 || line == "end\n" {
                    if line == "end\n" { return } else { continue }
                }
                all.lock().push(line.trim().to_owned());
                let _ = send.try_send(());
                pause(WORK);
                let _ = stream.write_all(b"ordered\n");
            }
        });
        Self { address, orders, arrived, _thread: thread.unwrap() }
    }

    /// Waits for the next order.
    fn next(&self) {
        while self.arrived.try_recv().is_ok() {}
        self.arrived.recv_timeout(crate::support::LIMIT).unwrap();
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = TcpStream::connect(&self.address).and_then(|mut stream| stream.write_all(b"end\n"));
    }
}

fn home_at(home: &Home, server: &str, is_guarded: bool) -> AgentHome {
    let made = AgentHome::at(home, "", json!({}), StreamingModel::answering(answer));
    let server = server.to_owned();
    let order = Tool::of("order", "Order.", move |_, Order { text }| {
        let mut stream = TcpStream::connect(&server).unwrap();
        stream.write_all(format!("{text}\n").as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        Ok(Outcome::default().with("ordered", text))
    });
    // What a tool of unknown effect does needs approval.
    let effects = if is_guarded { Effects::Unknown } else { Effects::None };
    made.toolbox.registry().register("bench", order.with_effects(effects)).unwrap();
    made
}

/// Approves the order that a conversation waits for, if any.
fn approve(agents: &Agents, id: &str) {
    if let Some(question) = agents.get(id).unwrap().question {
        agents.decide(id, &question.id, Decision::Once, "").unwrap();
    }
}

/// Body of the child process: resumes what was interrupted, then begins tasks forever, and prints the events that it
/// follows. A test of its own, so that this binary can be started for it; without the variable it does nothing.
#[test]
fn the_process_that_is_killed() {
    let Ok(path) = std::env::var(HOME) else { return };
    let home = home_at(&Home::at(path), &std::env::var(SERVER).unwrap(), std::env::var(GUARDED).is_ok());
    let agents = home.agents();
    let follow = |id: &str, after: u64| {
        let mut follower = agents.follow(id, after).unwrap();
        loop {
            match follower.next(soon()).unwrap() {
                Followed::Event { id: event, event: name, .. } => {
                    println!("acknowledged {id} {event}");
                    if name == "help_request" {
                        approve(agents, id);
                    }
                }
                Followed::End => return,
                _ => {}
            }
        }
    };
    for waiting in agents.list(Some(ConversationState::Waiting), false).unwrap() {
        let (id, after) = (&waiting.conversation.id, waiting.conversation.last_event);
        approve(agents, id);
        follow(id, after);
    }
    for interrupted in agents.list(Some(ConversationState::Idle), false).unwrap() {
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
    survive(false);
}

#[test]
fn an_order_that_was_approved_is_given_at_most_once_whenever_the_process_is_killed() {
    survive(true);
}

/// Kills the process again and again, as often as `CDPILOT_TEST_KILLS` says.
fn survive(is_guarded: bool) {
    let folder = tempfile::Builder::new().prefix("cdpilot-agent-crash-").tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut acknowledged: BTreeSet<(String, u64)> = BTreeSet::new();
    let server = Counting::start();
    let kills = rounds("CDPILOT_TEST_KILLS", 8, 30);
    for run in 0..kills {
        let mut child = rerun(module_path!(), "the_process_that_is_killed");
        if is_guarded {
            child.env(GUARDED, "1");
        }
        let mut child = child
            .env(HOME, home.root())
            .env(SERVER, &server.address)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("acknowledged") {
            assert!(output.read_line(&mut text).unwrap() > 0, "run {run} ended: {text}");
        }
        // Half of the time within 50 ms of an order, and then often while the server works on it.
        if run % 2 == 1 {
            server.next();
            pause(Duration::from_micros(fastrand::u64(0..50_000)));
        } else {
            pause(Duration::from_micros(fastrand::u64(0..60_000)));
        }
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
    let home_again = home_at(&home, &server.address, is_guarded);
    let agents = home_again.agents();
    let (mut unknown, mut not_started, mut tasks) = (0, 0, 0);
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for overview in agents.list(None, false).unwrap() {
        let id = &overview.conversation.id;
        let mut after = overview.conversation.last_event;
        if overview.conversation.unfinished && overview.question.is_none() {
            after = agents.resume(id).unwrap();
        }
        approve(agents, id);
        if overview.conversation.unfinished {
            let mut follower = agents.follow(id, after).unwrap();
            loop {
                match follower.next(soon()).unwrap() {
                    Followed::Event { event, .. } if event == "help_request" => approve(agents, id),
                    Followed::End => break,
                    _ => {}
                }
            }
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
    let orders = server.orders.lock().clone();
    let distinct: BTreeSet<&String> = orders.iter().collect();
    assert_eq!(distinct.len(), orders.len(), "an order was given twice");
    let settled = orders.len() + not_started;
    assert!(settled <= tasks * ORDERS && settled + unknown >= tasks * ORDERS, "{settled} of {tasks} tasks");
    println!(
        "{kills} kills, {tasks} tasks, {} acknowledged events, {} orders, {unknown} calls with an unknown effect, {not_started} \
         not started",
        acknowledged.len(),
        orders.len()
    );
}
