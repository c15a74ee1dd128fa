//! Answers to dialogs, pending and to come.

use std::time::Duration;

use cdpilot::supervisor::ClosedBy;
use cdpilot_server::control::{DialogOutcome, DialogReply};

use crate::support::chrome::soon;
use crate::support::test_home::{TestHome, eval_value, run, seen};

#[test]
fn an_answer_goes_to_the_pending_dialog_or_is_armed() {
    let Some(home) = TestHome::new("") else { return };
    home.site.page("/", "<title>page</title>");
    home.site.page("/two", "<title>two</title>");
    let profile = home.main();
    let one = home.open("/").tab_id;
    let url = home.site.url("b", "/two");
    let two = profile.open_tab(cdpilot_server::control::NewTab::new(url), soon()).unwrap().tab_id;
    let reply = |accept: bool| {
        if accept { DialogReply::accept() } else { DialogReply::dismiss() }
    };
    let answer = |reply: DialogReply| profile.answer_dialog(reply, soon());
    let open = |tab: &str, script: &str| {
        let before = profile.dialogs(None).unwrap().0.len();
        run(&profile, tab, script);
        let now = seen(&profile, "a dialog", |now| now.dialogs.len() > before);
        now.dialogs.last().unwrap().id.to_string()
    };

    // None is pending: the answer waits, two minutes at most, and the one after it takes its place.
    profile.tab(Some(&one)).unwrap();
    let long = reply(false).timeout(Duration::from_secs(900));
    assert_eq!(answer(long).unwrap(), DialogOutcome::Armed { time: Duration::from_secs(120), replaced: None });
    let short = reply(true).timeout(Duration::from_secs(60)).prompt_text("Ada");
    let DialogOutcome::Armed { time, replaced: Some(replaced) } = answer(short).unwrap() else { panic!() };
    assert_eq!((time, replaced.accept), (Duration::from_secs(60), false));
    let missing = answer(reply(true).dialog_id("d-99")).unwrap_err();
    assert_eq!(missing.code(), "DIALOG_NOT_FOUND", "{missing}");
    assert_eq!(eval_value(&profile, Some(&one), "prompt('name?')"), "Ada");
    seen(&profile, "its record", |now| !now.recent.is_empty());
    let (pending, recent) = profile.dialogs(Some(&one)).unwrap();
    assert!(pending.is_empty() && recent[0].closed_by == ClosedBy::Armed && recent.len() == 1, "{recent:?}");

    // It was for one only. What is pending is answered at once.
    let id = open(&one, "window.sure = confirm('sure?')");
    let missing = answer(reply(true).dialog_id("d-99")).unwrap_err();
    assert!(missing.code() == "DIALOG_NOT_FOUND" && missing.to_string().contains(&id), "{missing}");
    let elsewhere = reply(true).target(two.clone()).dialog_id(id.clone());
    assert_eq!(answer(elsewhere).unwrap_err().code(), "DIALOG_NOT_FOUND", "it is on another tab");

    // Several: they are named, and a tab or an id chooses.
    let second = open(&two, "window.sure = confirm('really?')");
    let several = answer(reply(true)).unwrap_err();
    assert!(
        several.code() == "SEVERAL_DIALOGS" && several.to_string().contains(&format!("{id}, {second}")),
        "{several}"
    );
    // By its id, on whatever tab.
    let DialogOutcome::Answered(_) = answer(reply(false).dialog_id(second.clone())).unwrap() else {
        panic!("it was pending")
    };
    let second = open(&two, "window.sure = confirm('once more?')");
    let DialogOutcome::Answered(closed) = answer(reply(false).target(two.clone())).unwrap() else {
        panic!("it was pending")
    };
    assert_eq!((&*closed.dialog.id, closed.accepted, closed.closed_by), (&*second, false, ClosedBy::Agent));
    assert!(matches!(answer(reply(true)).unwrap(), DialogOutcome::Answered(closed) if closed.accepted));
    assert_eq!(eval_value(&profile, Some(&one), "window.sure"), true);
    assert_eq!(eval_value(&profile, Some(&two), "window.sure"), false);

    // Armed for a tab, it is for no other one.
    assert!(matches!(answer(reply(true).target(two.clone())).unwrap(), DialogOutcome::Armed { .. }));
    let other = open(&one, "alert('mine')");
    assert_eq!(eval_value(&profile, Some(&two), "confirm('theirs')"), true);
    answer(reply(true).dialog_id(other)).unwrap();
    assert_eq!(profile.status().pending_dialogs, 0);
    profile.stop(soon()).unwrap();
    assert_eq!(answer(reply(true)).unwrap_err().code(), "BROWSER_NOT_RUNNING");
}
