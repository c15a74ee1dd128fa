//! The dialog ledger: rules, armed answers, holds, and secrets in texts.

use std::time::Duration;

use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::{
    ArmedAnswer, ClosedBy, DialogMatch, DialogPolicy, DialogRule, DialogType, Error, Secrets, SupervisorOptions,
};
use serde_json::json;

use crate::support::chrome::{ACCEPT, Task, soon, text};
use crate::support::fake_pages::{PAGE, browser, closing, folded, opening, supervise, supervise_with, tell};

fn rule(when: DialogMatch, policy: DialogPolicy) -> DialogRule {
    DialogRule::new(when, policy)
}

#[test]
fn rules_decide_by_type_text_and_origin_before_the_policy() {
    let rules = vec![
        rule(DialogMatch::any().with_text("never mind"), DialogPolicy::AutoDismiss),
        rule(DialogMatch::of(DialogType::Prompt).from_origin("*.localhost"), DialogPolicy::AutoAccept),
        rule(DialogMatch::of(DialogType::Alert), DialogPolicy::AutoDismiss),
    ];
    let options = SupervisorOptions::task("rules").rules(rules);
    let Some(task) = Task::leased_with(options) else { return };
    task.site.page("/", "rules");
    task.go(&task.site.url("a", "/"));
    assert_eq!(task.eval("alert('an alert'); prompt('who?', 'preset')"), "preset");
    assert_eq!(task.eval("prompt('who? never mind', 'preset')"), json!(null));
    task.run("window.got = confirm('by hand')");
    assert_eq!(task.dialog().kind, DialogType::Confirm);
    task.answer(ACCEPT);
    assert_eq!(task.eval("got"), true);
    let by: Vec<_> = task.view().recent.iter().map(|closed| closed.closed_by).collect();
    assert_eq!(by, [ClosedBy::AutoPolicy, ClosedBy::AutoPolicy, ClosedBy::AutoPolicy, ClosedBy::Agent]);
}

#[test]
fn rules_decide_by_frame() {
    let Some(task) = Task::leased("rules-frames") else { return };
    task.site.page("/inner", "inner");
    let inner = format!(
        "<iframe src='{}' name=one></iframe><iframe src='{}' name=two></iframe>",
        task.site.url("b", "/inner"),
        task.site.url("c", "/inner")
    );
    task.site.page("/", &inner);
    task.go(&task.site.url("a", "/"));
    let (one, two) = (task.frame_named("one").frame_id, task.frame_named("two").frame_id);
    let rules = vec![
        rule(DialogMatch::any().in_frame(one.clone()), DialogPolicy::AutoAccept),
        rule(DialogMatch::any().in_frame(two.clone()), DialogPolicy::AutoDismiss),
    ];
    task.set_policy(DialogPolicy::MustRespond, rules).unwrap();
    assert_eq!(task.eval_in(&one, "confirm('one')"), true);
    assert_eq!(task.eval_in(&two, "confirm('two')"), false);
    task.run("window.got = confirm('top')");
    assert_eq!(&*task.dialog_saying("top").message, "top");
    task.answer(ACCEPT);
}

#[test]
fn armed_answers_apply_to_matching_dialogs_oldest_first() {
    let Some(task) = Task::leased("armed-fifo") else { return };
    let prompts = || DialogMatch::of(DialogType::Prompt);
    task.arm_when(ArmedAnswer::new(text("for names")).when(prompts().with_text("name")).times(2)).unwrap();
    task.arm_when(ArmedAnswer::new(text("first")).when(prompts())).unwrap();
    task.arm_when(ArmedAnswer::new(text("second")).when(prompts())).unwrap();
    task.arm_when(ArmedAnswer::new(ACCEPT).when(DialogMatch::any().from_origin("https://elsewhere.test"))).unwrap();
    let script = "[prompt('a'), prompt('your name'), prompt('b'), prompt('his name')].join()";
    assert_eq!(task.eval(script), "first,for names,second,for names");
    // Answers armed for others stay.
    task.run("window.got = [prompt('her name'), confirm('sure?')]");
    assert_eq!(&*task.dialog_saying("her name").message, "her name");
    task.answer(text("by hand"));
    task.dialog_saying("sure?");
    task.answer(Dismiss);
    assert_eq!(task.eval("got"), json!(["by hand", false]));
    let by: Vec<_> = task.view().recent.iter().map(|closed| closed.closed_by).collect();
    assert_eq!(by, [vec![ClosedBy::Armed; 4], vec![ClosedBy::Agent; 2]].concat());
}

#[test]
fn the_number_of_armed_answers_is_limited() {
    let fake = browser();
    let supervisor = supervise(&fake);
    let mut armed = 0;
    let refused = loop {
        match supervisor.arm(ACCEPT, Duration::from_secs(60)) {
            Ok(()) => armed += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::TooManyArmed { limit } if limit == armed), "{refused}");
    supervisor.disarm().unwrap();
    supervisor.arm(ACCEPT, Duration::from_secs(60)).unwrap();
}

#[test]
fn a_held_dialog_outlasts_the_watchdog() {
    let options = SupervisorOptions::task("held")
        .policy(DialogPolicy::Hold)
        .rules(vec![rule(DialogMatch::any().with_text("watched"), DialogPolicy::MustRespond)])
        .dialog_timeout(Duration::from_millis(100));
    let fake = browser();
    let supervisor = supervise_with(&fake, options);
    fake.on("Page.handleJavaScriptDialog").reply(json!({}));
    tell(&fake, "Page.javascriptDialogOpening", opening(PAGE, "confirm", "watched"));
    let now = supervisor.wait_until(soon(), |now| now.recent.len() == 1).unwrap();
    assert_eq!(now.recent[0].closed_by, ClosedBy::Watchdog);
    tell(&fake, "Page.javascriptDialogOpening", opening(PAGE, "confirm", "held"));
    supervisor.wait_until(soon(), |now| now.dialogs.len() == 1).unwrap();
    // A watched one on top of it takes its time; the held one is there until another follows it.
    let closed = supervisor.respond(None, ACCEPT, soon()).unwrap();
    assert_eq!((&*closed.dialog.message, closed.closed_by), ("held", ClosedBy::Agent));
    assert!(folded(&fake, &supervisor).dialogs.is_empty());
    tell(&fake, "Page.javascriptDialogClosed", closing(PAGE, true));
}

#[test]
fn secrets_in_dialogs_are_redacted_everywhere() {
    let options = SupervisorOptions::task("covered").secrets(Secrets::new(["open sesame"]));
    assert!(!format!("{options:?}").contains("sesame"));
    let Some(task) = Task::leased_with(options) else { return };
    let token = ["ghp", "_", "a1B2c3D4e5F6g7H8i9J0k1"].concat();
    task.arm_when(ArmedAnswer::new(ACCEPT).when(DialogMatch::any().with_text(&token))).unwrap();
    // Matched as the page wrote it. Accepted without a text, a prompt gives its preset, as it was.
    let script = format!("prompt('your token is {token}, say open sesame', 'password=hunter2')");
    task.set_policy(DialogPolicy::AutoAccept, Vec::new()).unwrap();
    assert_eq!(task.eval(&script), "password=hunter2", "armed");
    assert_eq!(task.eval(&script), "password=hunter2", "by policy");
    // The value may come back before the end of its dialog is recorded.
    task.until("both dialogs in the ledger", |now| now.recent.len() == 2);
    let shown = format!("{:?} {:?}", task.view(), task.log().since(0, 1000));
    for secret in [token.as_str(), "sesame", "hunter2"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    assert_eq!(&*task.view().recent[0].dialog.message, "your token is [secret], say [secret]");
}

#[test]
fn only_text_that_looks_like_a_secret_is_redacted() {
    let secrets = Secrets::new(["correct horse", "abc"]);
    let join = |parts: &[&str]| parts.concat();
    let key = join(&["-----BEGIN RSA PRIV", "ATE KEY-----\nMIIE\n-----END RSA PRIV", "ATE KEY-----"]);
    for (text, expected) in [
        ("Delete 3 files?".to_owned(), None),
        ("abc is too short to look for".to_owned(), None),
        ("Enter your password:".to_owned(), None),
        ("Password: please choose one".to_owned(), None),
        ("Token: expired".to_owned(), None),
        ("a basic question".to_owned(), Some("a basic question")),
        ("https://shop.test/cart".to_owned(), None),
        ("the correct horse it is".to_owned(), Some("the [secret] it is")),
        ("password=x".to_owned(), Some("password=[secret]")),
        ("pwd: 'tr0ub4dor & 3', ok?".to_owned(), Some("pwd: '[secret]', ok?")),
        (r#"{"api_key": "k3y-value"}"#.to_owned(), Some(r#"{"api_key": "[secret]"}"#)),
        ("?access_token=abc123&x=1".to_owned(), Some("?access_token=[secret]&x=1")),
        ("Authorization: Bearer abcdef123456".to_owned(), Some("Authorization: Bearer [secret]")),
        (join(&["key ", "AKIA", "IOSFODNN7EXAMPLE", "."]), Some("key [secret]")),
        (join(&["ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"]), Some("[secret]")),
        (format!("take {key} away"), Some("take [secret] away")),
        ("https://ada:lovelace@shop.test/".to_owned(), Some("https://[secret]@shop.test/")),
        ("https://ada:lovelace@shop.test/a?b=c".to_owned(), Some("https://[secret]@shop.test/a?b=c")),
        // What pages and files are full of stays whole.
        ("https://shop.test/search?q=shoes&page=2#top".to_owned(), None),
        ("https://shop.test/session/new".to_owned(), None),
        ("https://shop.test/?token=abc&page=2".to_owned(), Some("https://shop.test/?token=[secret]&page=2")),
        ("http://h:4444/session/0a1b2c3d4e5f60718293".to_owned(), Some("http://h:4444/…")),
        ("http://127.0.0.1:9333/devtools/page/0a1b".to_owned(), Some("http://127.0.0.1:9333/…")),
        ("ws://127.0.0.1:9333/devtools/browser/0a1b".to_owned(), Some("ws://127.0.0.1:9333/…")),
        ("Grüße, 密码=1".to_owned(), None),
    ] {
        assert_eq!(secrets.cover(&text), expected.unwrap_or(&text), "{text}");
    }
}
