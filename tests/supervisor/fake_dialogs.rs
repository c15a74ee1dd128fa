//! Rare orders of dialog events, with a fake browser.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cdpilot::cdp;
use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::{
    ClosedBy, ClosedDialog, DialogPolicy, DialogType, Error, EventKind, FrameRef, Supervisor, SupervisorOptions,
};
use cdpilot::sync::{Deadline, pause};
use serde_json::json;

use crate::support::chrome::{ACCEPT, blocking, soon, text, until};
use crate::support::fake_cdp::{Action, Fake, Gate};
use crate::support::fake_pages::{
    PAGE, SESSION, attached, browser, closing, folded, frame, opening, supervise, supervise_with, tell, tree,
};

const ANSWER: &str = "Page.handleJavaScriptDialog";

fn open(fake: &Fake, supervisor: &Supervisor, message: &str) {
    tell(fake, "Page.javascriptDialogOpening", opening(PAGE, "confirm", message));
    until(supervisor, message, |now| now.dialogs.iter().any(|dialog| &*dialog.message == message));
}

fn close(fake: &Fake, result: bool) {
    tell(fake, "Page.javascriptDialogClosed", closing(PAGE, result));
}

/// How each dialog ended, oldest first.
fn ends(recent: &[ClosedDialog]) -> Vec<(&str, ClosedBy, bool)> {
    recent.iter().map(|closed| (&*closed.dialog.id, closed.closed_by, closed.accepted)).collect()
}

#[test]
fn whoever_reads_an_event_finds_its_effect_in_the_view() {
    let fake = browser();
    let supervisor = supervise(&fake);
    let (send, read) = crossbeam_channel::bounded(0);
    let (done, looked) = crossbeam_channel::bounded(0);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut seen, mut early) = (0, 0);
            while read.recv().is_ok() {
                loop {
                    let tail = supervisor.log().wait_since(seen, 100, soon());
                    let view = supervisor.view();
                    seen = tail.entries.last().map_or(seen, |entry| entry.seq);
                    if tail.entries.iter().any(|entry| entry.kind() == EventKind::DialogOpened) {
                        early += usize::from(view.dialogs.is_empty());
                        done.send(()).unwrap();
                        break;
                    }
                }
            }
            early
        });
        for number in 0..3_000 {
            send.send(()).unwrap();
            open(&fake, &supervisor, &format!("{number}"));
            looked.recv().unwrap();
            close(&fake, true);
            until(&supervisor, "no dialog", |now| now.dialogs.is_empty());
        }
        drop(send);
        assert_eq!(reader.join().unwrap(), 0, "events that were reported before the view had their effect");
    });
}

#[test]
fn a_duplicate_dialog_closed_event_counts_once() {
    let fake = browser();
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    close(&fake, true);
    close(&fake, true);
    open(&fake, &supervisor, "two");
    let now = folded(&fake, &supervisor);
    assert_eq!(ends(&now.recent), [("d-1", ClosedBy::Remote, true)]);
    assert_eq!(now.dialogs.len(), 1, "the second is not touched");
    supervisor.respond(None, ACCEPT, soon()).unwrap();
    close(&fake, true);
    close(&fake, true);
    open(&fake, &supervisor, "three");
    let now = folded(&fake, &supervisor);
    assert_eq!(ends(&now.recent), [("d-1", ClosedBy::Remote, true), ("d-2", ClosedBy::Agent, true)]);
    assert_eq!(&*now.dialogs[0].id, "d-3");
}

#[test]
fn a_dialog_closed_event_may_precede_or_follow_the_answer() {
    for before in [true, false] {
        let fake = browser();
        if before {
            fake.on(ANSWER).after_event("Page.javascriptDialogClosed", closing(PAGE, true)).reply(json!({}));
        }
        let supervisor = supervise(&fake);
        for message in ["one", "two", "three"] {
            open(&fake, &supervisor, message);
            let closed = supervisor.respond(None, ACCEPT, soon()).unwrap();
            assert_eq!((closed.closed_by, closed.accepted), (ClosedBy::Agent, true));
            if !before {
                close(&fake, true);
            }
        }
        let now = folded(&fake, &supervisor);
        let by_us = |id| (id, ClosedBy::Agent, true);
        assert_eq!(ends(&now.recent), [by_us("d-1"), by_us("d-2"), by_us("d-3")], "closing first: {before}");
        assert_eq!(fake.log(|log| log.of(ANSWER).len()), 3);
    }
}

#[test]
fn a_dialog_with_another_result_was_closed_by_another_client() {
    let fake = browser();
    fake.on(ANSWER).after_event("Page.javascriptDialogClosed", closing(PAGE, false)).reply(json!({}));
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    let gone = supervisor.respond(None, ACCEPT, soon()).unwrap_err();
    assert!(matches!(&gone, Error::DialogGone { id } if id == "d-1"), "{gone:?}");
    assert_eq!(ends(&folded(&fake, &supervisor).recent), [("d-1", ClosedBy::Remote, false)]);
}

#[test]
fn an_unconfirmed_answer_is_confirmed_by_the_closed_event() {
    let fake = browser();
    fake.on(ANSWER).never();
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    let late = supervisor.respond(None, ACCEPT, Deadline::after_millis(200)).unwrap_err();
    assert!(matches!(late, Error::Timeout { .. }), "{late:?}");
    assert_eq!(supervisor.view().dialogs.len(), 1, "it is open for all that is known");
    let again = supervisor.respond(None, Dismiss, soon()).unwrap_err();
    assert!(matches!(again, Error::DialogGone { .. }), "it is being answered: {again:?}");
    close(&fake, true);
    let now = until(&supervisor, "the record", |now| !now.recent.is_empty());
    assert_eq!(ends(&now.recent), [("d-1", ClosedBy::Agent, true)]);
}

#[test]
fn an_answer_without_effect_can_be_repeated() {
    let fake = browser();
    fake.on(ANSWER).times(1).never();
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    let late = supervisor.respond(None, ACCEPT, Deadline::after_millis(200)).unwrap_err();
    assert!(matches!(late, Error::Timeout { .. }), "{late:?}");
    let seen = supervisor.version();
    assert!(supervisor.wait_newer(seen, soon()).is_some(), "after ten seconds it is free again");
    let closed = supervisor.respond(None, Dismiss, soon()).unwrap();
    assert_eq!((closed.closed_by, closed.accepted), (ClosedBy::Agent, false));
    assert_eq!(fake.log(|log| log.of(ANSWER).len()), 2);
}

#[test]
fn a_missing_dialog_was_closed_by_another_client() {
    let fake = browser();
    fake.on(ANSWER).error(-32602, "No dialog is showing");
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    let gone = supervisor.respond(None, ACCEPT, soon()).unwrap_err();
    assert!(matches!(&gone, Error::DialogGone { id } if id == "d-1"), "{gone:?}");
    let now = supervisor.view();
    assert_eq!(ends(&now.recent), [("d-1", ClosedBy::Remote, false)]);
    assert!(now.dialogs.is_empty());
}

#[test]
fn an_answer_that_fails_leaves_the_dialog_open() {
    let fake = browser();
    fake.on(ANSWER).times(1).error(-32000, "Not now");
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    let failed = supervisor.respond(None, ACCEPT, soon()).unwrap_err();
    assert!(matches!(&failed, Error::Cdp(cdp::Error::Protocol { code: -32000, .. })), "{failed:?}");
    let now = supervisor.view();
    assert_eq!((now.dialogs.len(), now.recent.len()), (1, 0));
    supervisor.respond(Some("d-1"), ACCEPT, soon()).unwrap();
    assert_eq!(ends(&supervisor.view().recent), [("d-1", ClosedBy::Agent, true)]);
}

#[test]
fn a_failed_policy_answer_leaves_the_dialog_pending() {
    let fake = browser();
    fake.on(ANSWER).times(1).error(-32000, "Not now");
    let policy = DialogPolicy::AutoAccept;
    let supervisor = supervise_with(&fake, SupervisorOptions::task("policy").policy(policy));
    open(&fake, &supervisor, "one");
    supervisor.respond(None, Dismiss, soon()).unwrap();
    assert_eq!(ends(&supervisor.view().recent), [("d-1", ClosedBy::Agent, false)]);
}

#[test]
fn dialogs_of_older_browsers_have_no_frame() {
    let fake = browser();
    let supervisor = supervise(&fake);
    let mut old = opening(PAGE, "prompt", "old");
    old.as_object_mut().unwrap().remove("frameId");
    tell(&fake, "Page.javascriptDialogOpening", old);
    let now = until(&supervisor, "the dialog", |now| !now.dialogs.is_empty());
    assert_eq!((now.dialogs[0].frame_id.as_ref(), &*now.dialogs[0].origin), (None, "http://fake.test"));
    blocking(supervisor.evaluate(&FrameRef::Top, "1", soon()));
    supervisor.respond(None, text("given"), soon()).unwrap();
    assert_eq!(fake.log(|log| log.of(ANSWER)[0].params.clone()), json!({ "accept": true, "promptText": "given" }));
    tell(&fake, "Page.javascriptDialogClosed", json!({ "result": true, "userInput": "given" }));
    let mut second = opening(PAGE, "confirm", "again");
    second.as_object_mut().unwrap().remove("frameId");
    tell(&fake, "Page.javascriptDialogOpening", second);
    until(&supervisor, "the second", |now| now.dialogs.len() == 1);
    tell(&fake, "Page.javascriptDialogClosed", json!({ "result": false }));
    let now = folded(&fake, &supervisor);
    assert_eq!((now.dialogs.len(), now.recent.len()), (1, 1), "a closing without `userInput` is no closing");
    tell(&fake, "Page.javascriptDialogClosed", json!({ "result": false, "userInput": "" }));
    let now = until(&supervisor, "the second's end", |now| now.recent.len() == 2);
    assert_eq!(ends(&now.recent), [("d-1", ClosedBy::Agent, true), ("d-2", ClosedBy::Remote, false)]);
}

#[test]
fn a_dialog_of_an_unknown_type_is_answered_like_an_alert() {
    let fake = browser();
    let supervisor = supervise(&fake);
    tell(&fake, "Page.javascriptDialogOpening", opening(PAGE, "interrogation", "who goes there?"));
    let now = until(&supervisor, "the dialog", |now| !now.dialogs.is_empty());
    assert_eq!(now.dialogs[0].kind, DialogType::Alert);
    supervisor.respond(None, text("nobody"), soon()).unwrap();
    assert_eq!(
        fake.log(|log| log.of(ANSWER)[0].params.clone()),
        json!({ "accept": true }),
        "only a prompt takes a text"
    );
}

#[test]
fn a_dialog_that_opens_over_another_ends_it() {
    let fake = browser();
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    open(&fake, &supervisor, "two"); // the closing of the first was lost
    let now = folded(&fake, &supervisor);
    assert_eq!(ends(&now.recent), [("d-1", ClosedBy::Remote, false)]);
    assert_eq!(&*now.dialogs[0].id, "d-2");
}

#[test]
fn a_dialog_ends_with_its_frame_page_or_session() {
    let fake = browser();
    let supervisor = supervise(&fake);
    tell(&fake, "Page.frameAttached", json!({ "frameId": "F", "parentFrameId": PAGE }));
    tell(&fake, "Page.javascriptDialogOpening", opening("F", "alert", "of a frame"));
    until(&supervisor, "the dialog", |now| !now.dialogs.is_empty());
    tell(&fake, "Page.frameDetached", json!({ "frameId": "F", "reason": "remove" }));
    let now = until(&supervisor, "the record", |now| now.recent.len() == 1);
    assert_eq!(ends(&now.recent), [("d-1", ClosedBy::Lost, false)]);
    open(&fake, &supervisor, "of a page that crashes");
    tell(&fake, "Inspector.targetCrashed", json!({}));
    let now = until(&supervisor, "the record", |now| now.recent.len() == 2);
    assert_eq!(now.recent[1].closed_by, ClosedBy::Lost);
    tell(&fake, "Inspector.targetReloadedAfterCrash", json!({}));
    open(&fake, &supervisor, "of a page that goes");
    fake.emit(None, "Target.detachedFromTarget", json!({ "sessionId": SESSION, "targetId": PAGE }));
    let now = until(&supervisor, "the record", |now| now.recent.len() == 3);
    assert_eq!(now.recent[2].closed_by, ClosedBy::Lost);
    assert!(now.pages.is_empty() && now.frames.is_empty() && now.dialogs.is_empty());
}

#[test]
fn a_lost_connection_ends_waits_for_an_answer() {
    let fake = browser();
    let gate = Gate::default();
    fake.on(ANSWER).late(&gate).reply(json!({}));
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "one");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| supervisor.respond(None, ACCEPT, Deadline::after_secs(600)));
        fake.wait("the answer", |log| log.of(ANSWER).len() == 1);
        fake.cut();
        let error = waiting.join().unwrap().unwrap_err();
        let closed = matches!(&error, Error::Cdp(error) if error.is_closed());
        assert!(closed || matches!(error, Error::NotActive { .. } | Error::DialogGone { .. }), "{error:?}");
    });
    // The wait ends with the failed answer, which may precede the end of the connection.
    let now = until(&supervisor, "the end", |now| !now.is_active());
    assert_eq!(now.recent[0].closed_by, ClosedBy::Lost);
    let kinds: Vec<EventKind> = supervisor.log().since(0, 100).entries.iter().map(|entry| entry.kind()).collect();
    assert_eq!(kinds[kinds.len() - 2..], [EventKind::DialogClosed, EventKind::Ended]);
}

#[test]
fn a_page_that_opens_one_dialog_after_another_is_not_closed_under_them() {
    let fake = browser();
    let supervisor = supervise(&fake);
    tell(&fake, "Page.frameAttached", json!({ "frameId": "F", "parentFrameId": PAGE }));
    folded(&fake, &supervisor);
    fake.on("Page.navigate").reply(json!({ "frameId": PAGE }));
    fake.on(ANSWER).with(|_| {
        vec![Action::Reply(json!({})), Action::event_in(SESSION, "Page.javascriptDialogClosed", closing("F", false))]
    });
    // It asks again whenever its script is terminated, twice, and shows the blank document then.
    let terminations = AtomicUsize::new(0);
    fake.on("Runtime.terminateExecution").with(move |_| {
        let event = match terminations.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Action::event_in(SESSION, "Page.javascriptDialogOpening", opening("F", "alert", "again")),
            _ => {
                let mut blank = frame(PAGE, None, "/");
                blank["url"] = "about:blank".into();
                Action::event_in(SESSION, "Page.frameNavigated", json!({ "frame": blank, "type": "Navigation" }))
            }
        };
        vec![Action::Reply(json!({})), event]
    });
    supervisor.close_page(&PAGE.into(), soon()).unwrap();
    let sent = fake.log(|log| log.methods().into_iter().map(str::to_owned).collect::<Vec<_>>());
    let ends: Vec<&str> = sent
        .iter()
        .map(String::as_str)
        .filter(|method| method.ends_with("Execution") || method.ends_with("closeTarget"))
        .collect();
    let terminated = "Runtime.terminateExecution";
    assert_eq!(ends, [terminated, terminated, terminated, "Target.closeTarget"]);
}

#[test]
fn a_call_of_another_process_has_its_time_however_long_the_dialog_is_open() {
    let fake = browser();
    let supervisor = supervise(&fake);
    tell(&fake, "Page.frameAttached", json!({ "frameId": "F", "parentFrameId": PAGE }));
    fake.on("Page.getFrameTree").in_session("S2").reply(tree(&frame("F", Some(PAGE), "/inner"), &[]));
    tell(&fake, "Target.attachedToTarget", attached("S2", "F", "iframe", Some(PAGE)));
    until(&supervisor, "the frame", |now| {
        now.frame("F").is_some_and(|frame| frame.session_id.as_deref() == Some("S2"))
    });
    // Probes are answered at once, the call when its gate opens.
    let gate = Gate::default();
    let late = gate.clone();
    fake.on("Runtime.evaluate").in_session("S2").with(move |request| {
        let answer = Action::Reply(json!({ "result": { "type": "number", "value": 7 } }));
        let is_call = request.params["expression"].as_str().is_some_and(|script| script.contains("slow"));
        vec![if is_call { Action::Late(late.clone(), vec![answer]) } else { answer }]
    });
    open(&fake, &supervisor, "for long");
    pause(Duration::from_millis(1200)); // longer than a call has
    let answered = std::thread::scope(|scope| {
        scope.spawn(|| {
            pause(Duration::from_millis(200)); // longer than until the first look at the dialogs
            gate.open();
        });
        supervisor.evaluate(&FrameRef::Id("F".into()), "slow()", soon())
    });
    assert_eq!(answered.unwrap().value, 7);
}

#[test]
fn a_page_is_closed_although_the_first_dismissal_of_its_dialog_has_no_effect() {
    let fake = browser();
    let supervisor = supervise(&fake);
    open(&fake, &supervisor, "stubborn");
    let dismissals = AtomicUsize::new(0);
    fake.on(ANSWER).with(move |_| match dismissals.fetch_add(1, Ordering::Relaxed) {
        0 => Vec::new(), // never answered
        _ => {
            let closed = Action::event_in(SESSION, "Page.javascriptDialogClosed", closing(PAGE, false));
            vec![Action::Reply(json!({})), closed]
        }
    });
    supervisor.close_page(&PAGE.into(), soon()).unwrap();
    assert_eq!(fake.log(|log| log.of(ANSWER).len()), 2);
}
