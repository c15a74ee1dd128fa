//! `kill -9`: what was acknowledged is there afterwards, without gaps, and nothing twice.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::Duration;

use cdpilot::sync::pause;
use cdpilot_server::config::Home;
use cdpilot_server::store::{Batch, NewConversation, NewRecording, NewRoutine, RoutineChange, Store, StoredRecording};
use serde_json::{Value, json};

use crate::store_files::{Database, soon};
use crate::support::leaks::rerun;
use crate::support::share::rounds;

/// Set in the child process, to the home.
const HOME: &str = "CDPILOT_TEST_STORE_HOME";
/// Number of the run, which makes the contents of events unique.
const RUN: &str = "CDPILOT_TEST_STORE_RUN";
const WRITERS: u32 = 4;

/// Body of the child process: commits forever and prints what was acknowledged. A test of its own, so that this binary
/// can be started for it; without the variable it does nothing.
#[test]
fn the_process_that_is_killed() {
    let (Ok(home), Ok(run)) = (std::env::var(HOME), std::env::var(RUN)) else { return };
    let opened = Store::open(&Home::at(home), soon()).unwrap();
    assert_eq!(opened.damaged, None);
    let store = &opened.store;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut version = store.routine("r", soon()).unwrap().unwrap().version;
            loop {
                let text = format!("{run}-{version}");
                let change = RoutineChange { markdown: Some(text.clone()), ..RoutineChange::default() };
                version = store.change_routine("r", version, change, soon()).unwrap().version;
                println!("stored {version} {text}");
            }
        });
        scope.spawn(|| {
            for step in 0.. {
                let name = format!("{run}-{step}");
                store.begin_compilation("rec", &json!({ "status": "review", "name": name }), soon()).unwrap();
                let saved = name.clone();
                let decide = move |_: &StoredRecording| {
                    Ok((routine(&saved, &saved, Some("rec")), json!({ "status": "completed", "name": saved })))
                };
                store.finish_compilation("rec", decide, soon()).unwrap();
                println!("saved {name}");
            }
        });
        for writer in 0..WRITERS {
            let run = run.clone();
            scope.spawn(move || {
                // Two writers in each conversation.
                let id = format!("c{}", writer % 2);
                for step in 0.. {
                    let mark = format!("{run}-{writer}-{step}");
                    let batch = Batch::new()
                        .event("e", json!({ "mark": mark, "filler": "x".repeat(300) }))
                        .event("e", json!({ "mark": format!("{mark}-second") }))
                        .message(json!({ "mark": mark }));
                    let done = store.commit(&id, batch, soon()).unwrap();
                    println!("acknowledged {id} {} {} {mark}", done.first_event, done.first_message);
                }
            });
        }
    });
}

fn routine(id: &str, name: &str, recording: Option<&str>) -> NewRoutine {
    NewRoutine {
        id: id.to_owned(),
        name: name.to_owned(),
        markdown: "first".to_owned(),
        recording: recording.map(str::to_owned),
        defaults: json!({}),
        step_events: Value::Null,
    }
}

/// Events or messages of a conversation: their marks by number.
fn marks<T>(rows: Vec<T>, row: impl Fn(T) -> (u64, Value)) -> BTreeMap<u64, String> {
    let all: BTreeMap<u64, String> = rows
        .into_iter()
        .map(|one| {
            let (n, body) = row(one);
            (n, body["mark"].as_str().unwrap().to_owned())
        })
        .collect();
    assert!(all.keys().copied().eq(1..=all.len() as u64), "numbers have no gaps");
    let distinct: BTreeSet<&String> = all.values().collect();
    assert_eq!(distinct.len(), all.len(), "nothing is stored twice");
    all
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let mut at = Database::new();
    for id in ["c0", "c1"] {
        at.store().create_conversation(NewConversation::new(id, "default", "chat"), soon()).unwrap();
    }
    at.store().create_routine(routine("r", "routine", None), soon()).unwrap();
    at.store().begin_recording(NewRecording::new("rec"), soon()).unwrap();
    let mut saved = BTreeSet::new();
    let mut texts = BTreeMap::from([(1, "first".to_owned())]);
    let mut acknowledged: Vec<(String, u64, u64, String)> = Vec::new();
    let mut unacknowledged = 0;
    let kills = u32::try_from(rounds("CDPILOT_TEST_KILLS", 6, 60)).unwrap();
    for run in 0..kills {
        at.close();
        let mut child = rerun(module_path!(), "the_process_that_is_killed")
            .envs([(HOME, at.home().root().to_str().unwrap()), (RUN, &run.to_string())])
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
        // The last line may be incomplete. The first follows the name of the test on the same line.
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in lines.clone().filter_map(|line| Some(line.split_once("stored ")?.1)) {
            let (version, text) = line.trim().split_once(' ').unwrap();
            texts.insert(version.parse().unwrap(), text.to_owned());
        }
        saved.extend(lines.clone().filter_map(|line| Some(line.split_once("saved ")?.1.trim().to_owned())));
        for line in lines.filter_map(|line| Some(line.split_once("acknowledged ")?.1)) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [id, event, message, mark] = words[..] else { panic!("{line}") };
            acknowledged.push((id.to_owned(), event.parse().unwrap(), message.parse().unwrap(), mark.to_owned()));
        }

        assert_eq!(at.reopen().unwrap(), None, "run {run}");
        // A routine and the end of its compilation are stored together.
        let recording = at.store().recording("rec", soon()).unwrap().unwrap();
        assert!(saved.iter().all(|name| recording.routines.contains(name)), "run {run}: {saved:?}");
        if let Some(name) = recording.compile["name"].as_str() {
            let is_completed = recording.compile["status"] == "completed";
            assert_eq!(recording.routines.iter().any(|saved| saved == name), is_completed, "run {run}: {name}");
        }
        let of = |id: &str| {
            let events = marks(at.store().events(id, 0, usize::MAX, soon()).unwrap(), |event| {
                (event.id, serde_json::from_str(&event.data).unwrap())
            });
            let messages = marks(at.store().messages(id, 1, usize::MAX, soon()).unwrap(), |row| (row.n, row.body));
            let conversation = at.store().conversation(id, soon()).unwrap().unwrap();
            assert_eq!(conversation.last_event, events.len() as u64);
            assert_eq!((conversation.message_count, messages.len() * 2), (messages.len() as u64, events.len()));
            (events, messages)
        };
        let stored = BTreeMap::from([("c0", of("c0")), ("c1", of("c1"))]);
        for (id, event, message, mark) in &acknowledged {
            let (events, messages) = &stored[id.as_str()];
            assert_eq!(events.get(event), Some(mark), "run {run}: event {event} of {id}");
            assert_eq!(events.get(&(event + 1)), Some(&format!("{mark}-second")), "run {run}");
            assert_eq!(messages.get(message), Some(mark), "run {run}: message {message} of {id}");
        }
        // Every version that was acknowledged is there, without gaps, and the newest is the text of the routine.
        let routine = at.store().routine("routine", soon()).unwrap().unwrap();
        let versions = at.store().routine_versions("r", soon()).unwrap();
        let versions: BTreeMap<u64, String> = versions.into_iter().map(|one| (one.n, one.markdown)).collect();
        assert!(
            versions.keys().copied().eq(1..=routine.version),
            "run {run}: {} of {}",
            versions.len(),
            routine.version
        );
        assert_eq!(versions.get(&routine.version), Some(&routine.markdown), "run {run}");
        for (version, text) in &texts {
            assert_eq!(versions.get(version), Some(text), "run {run}: version {version}");
        }
        let all: usize = stored.values().map(|(_, messages)| messages.len()).sum();
        unacknowledged = all - acknowledged.len();
        assert!(unacknowledged <= (WRITERS * (run + 1)) as usize, "a killed writer leaves one commit at most");
    }
    println!(
        "{kills} kills, {} acknowledged commits, {unacknowledged} commits whose report was lost",
        acknowledged.len()
    );
}
