//! What answers a dialog: the policy, an armed answer, the watchdog, another client; and failures.

use std::sync::Barrier;
use std::time::Duration;

use cdpilot::cdp::protocol::page::{Enable, HandleJavaScriptDialog};
use cdpilot::cdp::protocol::target::{AttachToTarget, TargetId};
use cdpilot::cdp::{ConnectOptions, Connection, Session};
use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::{BridgeMode, ClosedBy, DialogPolicy, Error, EventKind, FrameRef, SupervisorOptions};
use serde_json::json;

use crate::support::chrome::{ACCEPT, Task, soon, text};
use crate::support::lease::Lease;

fn with_policy(name: &str, policy: DialogPolicy) -> Option<Task> {
    Task::leased_with(SupervisorOptions::task(name).policy(policy))
}

/// One dialog of each type, and the result in the page.
const ALL: &str = "JSON.stringify([String(alert('one')), confirm('two'), prompt('three', 'preset')])";

#[test]
fn a_policy_answers_and_records_dialogs() {
    for (policy, got) in [
        (DialogPolicy::AutoDismiss, json!(["undefined", false, null])),
        (DialogPolicy::AutoAccept, json!(["undefined", true, "preset"])),
    ] {
        let Some(task) = with_policy("policy", policy) else { return };
        task.site.page("/", "<iframe src='@b/inner'></iframe>");
        task.site.page("/inner", "inner");
        task.go(&task.site.url("a", "/"));
        for frame in [task.top(), task.frame("/inner").frame_id] {
            let value = task.evaluate(&FrameRef::Id(frame), ALL, soon()).unwrap().result.value;
            assert_eq!(value, got.to_string(), "nothing was in the way of the call");
        }
        let now = task.until("the records", |now| now.recent.len() == 6);
        assert!(now.dialogs.is_empty());
        for closed in now.recent.iter() {
            assert_eq!((closed.closed_by, closed.accepted), (ClosedBy::AutoPolicy, policy == DialogPolicy::AutoAccept));
            assert!(closed.closed_at >= closed.dialog.opened_at);
        }
    }
}

#[test]
fn an_automatic_answer_is_never_pending() {
    let Some(task) = with_policy("unseen", DialogPolicy::AutoDismiss) else { return };
    let log = task.log();
    std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            let mut most = 0;
            task.until("twenty records", |now| {
                most = most.max(now.dialogs.len());
                now.recent.len() == 20
            });
            most
        });
        task.eval("for (let i = 0; i < 20; i++) confirm(i)");
        assert_eq!(seen.join().unwrap(), 0);
    });
    let entries = log.since(0, 1000).entries;
    assert_eq!(entries.iter().filter(|entry| entry.kind() == EventKind::DialogOpened).count(), 20);
}

#[test]
fn a_policy_decides_beforeunload_dialogs() {
    for (policy, path) in [(DialogPolicy::AutoDismiss, "/"), (DialogPolicy::AutoAccept, "/next")] {
        let Some(task) = with_policy("leaving", policy) else { return };
        task.site.page("/", "here");
        task.site.page("/next", "there");
        task.go(&task.site.url("a", "/"));
        task.eval("onbeforeunload = event => event.preventDefault()");
        let gone = task.navigate(&FrameRef::Top, &task.site.url("a", "/next"), soon());
        assert_eq!(gone.is_ok(), policy == DialogPolicy::AutoAccept);
        task.until(path, |now| now.pages[0].url.ends_with(path));
        assert_eq!(task.eval("location.pathname"), path);
    }
}

#[test]
fn an_armed_answer_is_used_once_under_every_policy() {
    for policy in [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept] {
        let Some(task) = with_policy("armed", policy) else { return };
        task.arm(text("dropped"), Duration::from_secs(60)).unwrap();
        task.disarm().unwrap();
        task.arm(text("armed"), Duration::from_secs(60)).unwrap();
        assert_eq!(task.eval("window.got = prompt('first', 'preset')"), "armed");
        let now = task.until("the record", |now| now.recent.len() == 1);
        assert_eq!((now.recent[0].closed_by, now.recent[0].accepted), (ClosedBy::Armed, true));
        task.run("window.got = prompt('second', 'preset')");
        let expected = match policy {
            DialogPolicy::MustRespond => {
                assert_eq!(&*task.dialog().message, "second");
                task.answer(text("by hand"));
                json!("by hand")
            }
            DialogPolicy::AutoDismiss => json!(null),
            _ => json!("preset"),
        };
        task.until("the second record", |now| now.recent.len() == 2);
        assert_eq!(task.eval("window.got"), expected);
        task.arm(Dismiss, Duration::from_secs(60)).unwrap();
        assert_eq!(task.eval("confirm('third')"), false);
    }
}

#[test]
fn an_armed_answer_expires() {
    let Some(task) = Task::leased("expired") else { return };
    task.arm(ACCEPT, Duration::ZERO).unwrap();
    task.run("window.got = confirm('nobody is there')");
    task.dialog();
    task.answer(Dismiss);
    assert_eq!(task.eval("window.got"), false);
}

#[test]
fn the_watchdog_dismisses_unanswered_dialogs() {
    let dialog_timeout = Duration::from_millis(300);
    let options = SupervisorOptions::task("watchdog").dialog_timeout(dialog_timeout);
    let Some(task) = Task::leased_with(options) else { return };
    task.run("window.got = confirm('anybody?')");
    let opened = task.dialog();
    let now = task.until("the watchdog", |now| !now.recent.is_empty());
    let closed = &now.recent[0];
    assert_eq!((closed.closed_by, closed.accepted, &closed.dialog), (ClosedBy::Watchdog, false, &opened));
    assert!(closed.closed_at - closed.dialog.opened_at >= 0.299, "not before its time: {closed:?}");
    assert!(now.dialogs.is_empty());
    assert_eq!(task.eval("window.got"), false);
}

#[test]
fn an_answer_without_a_dialog_is_an_error() {
    let Some(task) = Task::leased("errors") else { return };
    assert!(matches!(task.respond(None, ACCEPT, soon()), Err(Error::NoDialog)));
    assert!(matches!(
        task.respond(Some("d-1"), ACCEPT, soon()),
        Err(Error::DialogNotFound { id, known }) if id == "d-1" && known.is_empty()
    ));
    task.run("window.got = confirm('?')");
    task.dialog();
    let error = task.respond(Some("d-7"), ACCEPT, soon()).unwrap_err();
    assert!(matches!(&error, Error::DialogNotFound { id, known } if id == "d-7" && known == &["d-1"]), "{error:?}");
    assert!(error.to_string().contains("d-1"), "{error}");
    assert_eq!(task.view().dialogs.len(), 1, "it is as it was");
    task.respond(Some("d-1"), ACCEPT, soon()).unwrap();
    let again = task.respond(Some("d-1"), Dismiss, soon());
    assert!(matches!(again, Err(Error::DialogNotFound { .. } | Error::DialogGone { .. })), "{again:?}");
    assert_eq!(task.eval("window.got"), true);
}

#[test]
fn one_of_several_concurrent_answers_wins() {
    let Some(task) = Task::leased("race") else { return };
    for round in 0..10 {
        task.run(&format!("window.got = prompt('round {round}')"));
        let id = task.dialog().id;
        let together = Barrier::new(4);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let (task, together, id) = (&task, &together, &id);
            let one = move |n: usize| {
                together.wait();
                (n, task.respond(Some(id), text(&n.to_string()), soon()))
            };
            let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || one(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let winners: Vec<usize> = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(n, _)| *n).collect();
        let [winner] = winners[..] else { panic!("{outcomes:?}") };
        for (_, outcome) in outcomes.iter().filter(|(n, _)| *n != winner) {
            assert!(matches!(outcome, Err(Error::DialogGone { .. } | Error::DialogNotFound { .. })), "{outcome:?}");
        }
        assert_eq!(task.eval("window.got"), winner.to_string());
    }
    assert_eq!(task.view().recent.len(), 10);
}

/// A session of another client on a page, with its eyes open.
fn other_client(url: &str, target: &TargetId) -> Session {
    let connection = Connection::connect(url, &ConnectOptions::default()).unwrap();
    let mut attach = AttachToTarget::new(target.clone());
    attach.flatten = Some(true);
    let id = connection.call(&attach, soon()).unwrap().session_id;
    let session = connection.session(id.as_str());
    session.call(&Enable::new(), soon()).unwrap();
    session
}

#[test]
fn a_dialog_answered_by_another_client_is_recorded_as_such() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    // Faster than any person: with the bridge left to itself this would turn it on.
    let options = SupervisorOptions::task("remote").bridge(BridgeMode::Never);
    let task = Task::attach(url, options);
    let other = other_client(url, &task.target());
    for accept in [true, false] {
        task.run("window.got = confirm('who is it?')");
        let id = task.dialog().id;
        other.call(&HandleJavaScriptDialog::new(accept), soon()).unwrap();
        let now = task.until("the record", |now| now.recent.iter().any(|closed| closed.dialog.id == id));
        let closed = now.recent.last().unwrap();
        assert_eq!((closed.closed_by, closed.accepted), (ClosedBy::Remote, accept));
        assert!(now.dialogs.is_empty());
        assert_eq!(task.eval("window.got"), accept);
    }
    assert!(matches!(task.respond(None, ACCEPT, soon()), Err(Error::NoDialog)));
}

#[test]
fn several_pages_may_show_dialogs_at_the_same_time() {
    let Some(task) = Task::leased("several") else { return };
    let (first, second) = (task.target(), task.open_page("about:blank", None, soon()).unwrap());
    for (page, number) in [(&first, 1), (&second, 2)] {
        let script = format!("window.got = prompt('page {number}')");
        task.start_script(&FrameRef::TopOf(page.clone()), &script).unwrap();
    }
    let (one, two) = (task.dialog_saying("page 1"), task.dialog_saying("page 2"));
    assert_eq!((&one.target_id, &two.target_id), (&first, &second));
    let error = task.respond(None, ACCEPT, soon()).unwrap_err();
    assert!(matches!(&error, Error::SeveralDialogs { candidates } if candidates.len() == 2), "{error:?}");
    assert!(error.to_string().contains("d-1") && error.to_string().contains("d-2"), "{error}");
    task.respond(Some(&two.id), text("two"), soon()).unwrap();
    task.respond(None, text("one"), soon()).unwrap();
    for (page, got) in [(first, "one"), (second, "two")] {
        assert_eq!(task.evaluate(&FrameRef::TopOf(page), "window.got", soon()).unwrap().value, got);
    }
}
