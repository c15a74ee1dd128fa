//! Tables: events in, effects and log entries out.

use std::time::Instant;

use serde_json::{Value, json};

use super::super::dialog_policy::{BridgeMode, DialogPolicy};
use super::super::options::{Pages, SupervisorOptions};
use super::{Effect, Now, State};
use crate::cdp::Event;

/// An event of the page's session.
type Step = (&'static str, Value);

struct Row {
    name: &'static str,
    policy: DialogPolicy,
    events: Vec<Step>,
    effects: &'static [&'static str],
    log: &'static [&'static str],
}

fn now() -> Now {
    Now { instant: Instant::now(), unix: 1.0 }
}

/// A page in session `S` whose own events are all that comes next.
fn attached(policy: DialogPolicy) -> State {
    let (mut state, sent) = attach(SupervisorOptions { policy, ..SupervisorOptions::task("table") });
    assert!(sent.contains(&"S Runtime.runIfWaitingForDebugger".to_owned()), "a page that waits is let go: {sent:?}");
    state.take_log();
    state
}

/// A state machine with a page in session `S`, and what was sent for it.
fn attach(options: SupervisorOptions) -> (State, Vec<String>) {
    let (bridge, pages) = (BridgeMode::Never, Pages::All);
    let mut state = State::new(SupervisorOptions { bridge, pages, ..options });
    state.begin(now());
    let info = json!({
        "targetId": "P", "type": "page", "title": "", "url": "http://a.test/", "attached": true, "canAccessOpener": false
    });
    let params = json!({ "sessionId": "S", "targetInfo": info, "waitingForDebugger": true });
    state.on_event(&Event::made_up("Target.attachedToTarget", None, &params), now());
    let sent = shown(state.take_effects());
    (state, sent)
}

fn shown(effects: Vec<Effect>) -> Vec<String> {
    let one = |effect| match effect {
        Effect::Interrupt { session, dialog } => format!("{session} interrupted by {dialog}"),
        Effect::Release { session, opener, waits } => {
            format!("{session} is {}, opened by {opener:?}", if waits { "released" } else { "left" })
        }
        Effect::HearNetwork => "hear the network".to_owned(),
        Effect::LookUp { host } => format!("look up {host}"),
        Effect::Follow { number, .. } => format!("subscriber {number} listens"),
        Effect::Unfollow { number } => format!("subscriber {number} ends"),
        Effect::Send { session, command, .. } => {
            let params = command.params();
            let shown = if params == json!({}) { String::new() } else { format!(" {params}") };
            let command = format!("{}{shown}", command.method());
            format!("{} {command}", session.as_deref().unwrap_or("browser"))
        }
    };
    effects.into_iter().map(one).collect()
}

fn opening(kind: &str) -> Step {
    let params = json!({
        "url": "http://a.test/", "frameId": "P", "message": "sure?", "type": kind, "hasBrowserHandler": true,
        "defaultPrompt": "Ada"
    });
    ("Page.javascriptDialogOpening", params)
}

fn closed(result: bool) -> Step {
    ("Page.javascriptDialogClosed", json!({ "result": result, "userInput": "", "frameId": "P" }))
}

#[test]
fn a_new_page_is_sent_these_commands_and_let_go_last() {
    let (mut state, sent) = attach(SupervisorOptions { network: true, ..SupervisorOptions::task("table") });
    let network =
        r#"S Network.enable {"maxPostDataSize":1,"maxResourceBufferSize":5242880,"maxTotalBufferSize":20971520}"#;
    let filter = r#"[{"type":"page"},{"exclude":true}]"#;
    let expected = [
        format!(
            r#"browser Target.setAutoAttach {{"autoAttach":true,"filter":{filter},"flatten":true,"waitForDebuggerOnStart":true}}"#
        ),
        "hear the network".to_owned(),
        network.to_owned(),
        "S Page.enable".to_owned(),
        "S Runtime.enable".to_owned(),
        r#"S Target.setAutoAttach {"autoAttach":true,"flatten":true,"waitForDebuggerOnStart":true}"#.to_owned(),
        "S Page.getFrameTree".to_owned(),
        "S Runtime.runIfWaitingForDebugger".to_owned(),
    ];
    assert_eq!(sent, expected);
    state.watch_network(false);
    assert_eq!(shown(state.take_effects()), ["S Network.disable"]);
    state.watch_network(true);
    assert_eq!(shown(state.take_effects()), ["hear the network", network]);
}

#[test]
fn effects_do_not_show_what_their_commands_hold() {
    let mut state = attached(DialogPolicy::AutoAccept);
    let (method, params) = opening("prompt");
    state.on_event(&Event::made_up(method, Some("S"), &params), now());
    let shown = format!("{:?}", state.take_effects());
    assert!(shown.contains("Page.handleJavaScriptDialog") && !shown.contains("Ada"), "{shown}");
}

#[test]
fn events_lead_to_these_effects() {
    let rows = [
        Row {
            name: "a dialog that waits for an answer interrupts the calls of its session",
            policy: DialogPolicy::MustRespond,
            events: vec![opening("confirm")],
            effects: &["S interrupted by d-1"],
            log: &["DialogOpened"],
        },
        Row {
            name: "one that was closed at once interrupts nothing",
            policy: DialogPolicy::MustRespond,
            events: vec![opening("confirm"), closed(true)],
            effects: &[],
            log: &["DialogOpened", "DialogClosed"],
        },
        Row {
            name: "the next one interrupts for itself alone",
            policy: DialogPolicy::Hold,
            events: vec![opening("alert"), opening("alert")],
            effects: &["S interrupted by d-2"],
            log: &["DialogOpened", "DialogClosed", "DialogOpened"],
        },
        Row {
            name: "a policy dismisses",
            policy: DialogPolicy::AutoDismiss,
            events: vec![opening("confirm")],
            effects: &[r#"S Page.handleJavaScriptDialog {"accept":false}"#],
            log: &["DialogOpened"],
        },
        Row {
            name: "a policy accepts, a prompt with its own default",
            policy: DialogPolicy::AutoAccept,
            events: vec![opening("prompt")],
            effects: &[r#"S Page.handleJavaScriptDialog {"accept":true,"promptText":"Ada"}"#],
            log: &["DialogOpened"],
        },
        Row {
            name: "a closing event without a dialog changes nothing",
            policy: DialogPolicy::MustRespond,
            events: vec![closed(true)],
            effects: &[],
            log: &[],
        },
        Row {
            name: "a crash is reported",
            policy: DialogPolicy::MustRespond,
            events: vec![("Inspector.targetCrashed", json!({}))],
            effects: &[],
            log: &["Crashed"],
        },
        Row {
            name: "unknown events pass",
            policy: DialogPolicy::MustRespond,
            events: vec![("Future.happened", json!({ "anything": 1 }))],
            effects: &[],
            log: &[],
        },
    ];
    let mut wrong = Vec::new();
    for Row { name, policy, events, effects, log } in rows {
        let mut state = attached(policy);
        for (method, params) in events {
            state.on_event(&Event::made_up(method, Some("S"), &params), now());
        }
        let sent = shown(state.take_effects());
        let noted: Vec<String> = state.take_log().iter().map(|(_, line)| format!("{:?}", line.event.kind())).collect();
        if sent != effects || noted != log || state.undecodable > 0 {
            wrong.push(format!("{name}: {sent:?}, logged {noted:?}, {} not read", state.undecodable));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_event_that_cannot_be_read_changes_nothing() {
    let mut state = attached(DialogPolicy::MustRespond);
    for (method, params) in [
        ("Page.javascriptDialogOpening", json!({ "message": 1 })),
        ("Page.frameNavigated", json!({ "frame": {} })),
        ("Page.frameAttached", json!([])),
    ] {
        state.on_event(&Event::made_up(method, Some("S"), &params), now());
    }
    assert_eq!((shown(state.take_effects()), state.take_log().len(), state.undecodable), (vec![], 0, 3));
}
