//! Many dialogs, many tabs.
#![allow(clippy::print_stdout)] // figures, for whoever asks with --nocapture

use std::collections::HashMap;
use std::time::{Duration, Instant};

use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::{ClosedBy, DialogPolicy, EventKind, FrameRef, PageState, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::{Task, soon, text};
use crate::support::leaks::alone;
use crate::support::ledger::{Book, Ledger};
use crate::support::share::{rounds, share};

fn assert_complete(ledger: &Ledger, count: usize, by: &str) {
    let Book { opened, closed, .. } = ledger.book();
    let expected: Vec<String> = (1..=count).map(|n| format!("d-{n}")).collect();
    assert_eq!(opened, expected, "each once and in order");
    assert_eq!(closed.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), expected, "each once and in order");
    for (number, (_, data)) in closed.iter().enumerate() {
        assert_eq!((&data["closed_by"], &data["message"]), (&json!(by), &json!(number.to_string())));
    }
}

fn dialogs() -> usize {
    rounds("CDPILOT_TEST_DIALOGS", 100, 300)
}

/// So many take so long on a busy machine.
fn long(count: usize) -> Deadline<'static> {
    Deadline::after(Duration::from_millis(120) * u32::try_from(count).unwrap())
}

#[test]
fn hundreds_of_dialogs_are_answered_by_callers() {
    let Some(task) = Task::leased("by-hand") else { return };
    let ledger = Ledger::follow(task.log());
    let count = dialogs();
    task.site.page("/", "<iframe src='@b/inner'></iframe>");
    task.site.page("/inner", "inner");
    task.go(&task.site.url("a", "/"));
    let frame = task.frame("/inner").frame_id;
    let began = Instant::now();
    task.run_in(
        &frame,
        &format!(
            "window.got = []; for (let i = 0; i < {count}; i++) \
         got.push(i % 3 == 0 ? String(alert(i)) : i % 3 == 1 ? confirm(i) : prompt(i, ''))"
        ),
    );
    // Follows the log, as a front door would.
    let (mut seen, mut answered) = (0, 0);
    while answered < count {
        let tail = task.log().wait_since(seen, 100, soon());
        assert!(!tail.entries.is_empty(), "no dialog after {answered}: {:?}", task.view().dialogs);
        for entry in tail.entries {
            seen = entry.seq;
            if entry.kind() == EventKind::DialogOpened {
                let data: Value = serde_json::to_value(&*entry.event).unwrap();
                let number: usize = data["message"].as_str().unwrap().parse().unwrap();
                assert_eq!(number, answered);
                let answer = if number.is_multiple_of(2) { text(&format!("t{number}")) } else { Dismiss };
                let closed = task.respond(data["id"].as_str(), answer, soon()).unwrap();
                assert_eq!((closed.closed_by, closed.accepted), (ClosedBy::Agent, number.is_multiple_of(2)));
                answered += 1;
            }
        }
    }
    println!("{count} dialogs by hand: {:?}", began.elapsed());
    let got = task.eval_in(&frame, "got");
    let expected: Vec<Value> = (0..count)
        .map(|i| match (i % 3, i % 2 == 0) {
            (0, _) => json!("undefined"),
            (1, accepted) => json!(accepted),
            (_, true) => json!(format!("t{i}")),
            (_, false) => Value::Null,
        })
        .collect();
    assert_eq!(got, Value::Array(expected));
    assert_complete(&ledger, count, "agent");
    assert_eq!((task.view().dialogs.len(), task.view().recent.len()), (0, 20));
    assert_eq!(task.connection().counters().in_flight, 0);
}

#[test]
fn hundreds_of_dialogs_are_answered_by_a_policy() {
    // `make soak` has more dialogs, and both policies.
    let few = if dialogs() > 300 { 2 } else { 1 };
    for policy in share([DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept], few) {
        let options = SupervisorOptions::task("by-policy").policy(policy);
        let Some(task) = Task::leased_with(options) else { return };
        let ledger = Ledger::follow(task.log());
        let count = dialogs();
        let began = Instant::now();
        let script = format!("let n = 0; for (let i = 0; i < {count}; i++) n += confirm(i); n");
        let accepted = task.evaluate(&FrameRef::Top, &script, long(count)).unwrap().result.value;
        println!("{count} dialogs by {policy:?}: {:?}", began.elapsed());
        assert_eq!(accepted, if policy == DialogPolicy::AutoAccept { count } else { 0 });
        task.until("the last record", |now| {
            now.recent.last().is_some_and(|closed| *closed.dialog.id == format!("d-{count}"))
        });
        assert_complete(&ledger, count, "auto_policy");
    }
}

/// The resident memory of this process in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// How many threads this process has, those of the site not counted.
fn threads() -> usize {
    let all = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let names = all.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.filter(|name| !name.starts_with("site")).count()
}

#[test]
fn many_tabs_need_no_additional_threads() {
    alone(module_path!(), "many_tabs_need_no_additional_threads", || {
        let (threads_before, memory_before) = (threads(), memory());
        let Some(task) = Task::leased("hundred") else { return };
        let many = rounds("CDPILOT_TEST_TABS", 20, 100);
        task.site.page("/", "<title>tab</title>");
        let began = Instant::now();
        let mut tabs = HashMap::from([(task.target(), 0)]);
        for n in 1..many {
            let url = task.site.url(["a", "b", "c"][n % 3], &format!("/?{n}"));
            tabs.insert(task.open_page(&url, None, soon()).unwrap(), n);
        }
        let opened = began.elapsed();
        let now = task.until("all of them", |now| {
            now.pages.len() == many && now.pages.iter().all(|page| page.state == PageState::Ready)
        });
        let began = Instant::now();
        for page in now.pages.iter() {
            let script = format!("{} * 2", tabs[&page.target_id]);
            let target = FrameRef::TopOf(page.target_id.clone());
            assert_eq!(task.evaluate(&target, &script, soon()).unwrap().value, tabs[&page.target_id] * 2);
        }
        let requested = began.elapsed();
        let grown = threads() - threads_before;
        println!("{many} tabs: opened in {opened:?}, asked in {requested:?}, {grown} more threads");
        println!("memory {} KiB, {} KiB before", memory(), memory_before);
        let began = Instant::now();
        task.stop(soon());
        println!("stopped in {:?}", began.elapsed());
        // The supervisor, the connection, and what reads the browser's error output.
        assert!(grown <= 3, "{grown} more threads");
    });
}
