//! A routine of the evaluation, recorded once and run without a model: to the same end, with no request to a model.

use std::sync::Arc;

use cdpilot_eval::Assets;
use cdpilot_eval::sites::Sites;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::cli_chat::{api_of, prepared};
use crate::support::agent_plan::{Do, model_of_shared};

/// What is done in each step: the id of a list and its option, or the name of a tab.
const WORK: [(&str, &str); 6] = [
    ("fs_cap", "smallover"),
    ("fs_fa_div", "o3"),
    ("fs_sh_relvol", "o1"),
    ("", "Fundamental"),
    ("fs_fa_pe", "u20"),
    ("fs_fa_pb", "u2"),
];

/// The filters that a site was told of, in order.
fn filters(run: &cdpilot_eval::sites::Run) -> Vec<String> {
    let all = run.tracked().events;
    let chosen = all.iter().filter(|event| event["eventType"] == "select");
    chosen
        .map(|event| format!("{}={}", event["elementId"].as_str().unwrap(), event["value"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_routine_of_the_evaluation_runs_without_a_model() {
    let Some(at) = AtHome::browsing() else { return };
    let plans = Arc::new(Mutex::new(vec![Vec::new()]));
    let (at, model) = prepared(at, model_of_shared(&plans));
    let sites = Sites::start(Assets::embedded("sites"), 0).unwrap();
    let run = sites.begin(7);
    let origin = sites.places(&run).a;
    assert_eq!(at.program.run(&["routine", "list"]).code, Some(0));
    let api = api_of(&at);
    let recording = api.post("/recordings", &json!({ "start_url": format!("{origin}/finviz/") })).ok();
    let path = |end: &str| format!("/recordings/{}{end}", recording["recording_id"].as_str().unwrap());
    let of_type = |answer: &Value, kind: &str| {
        answer["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["event_type"] == kind)
            .cloned()
            .collect::<Vec<_>>()
    };
    let begun = api.until("the page", &path("/events"), |answer| !of_type(answer, "page_view").is_empty());
    let target = of_type(&begun, "tab_created")[0]["data"]["target_id"].clone();
    for (list, value) in WORK {
        let act = match list {
            "" => json!({ "kind": "click", "locator": format!("role=tab[name={value}]"), "targetId": target }),
            id => json!({ "kind": "select", "selector": format!("#{id}"), "values": [value], "targetId": target }),
        };
        api.post("/act", &act).ok();
    }
    let expected: Vec<String> =
        WORK.iter().filter(|(id, _)| !id.is_empty()).map(|(id, value)| format!("{id}={value}")).collect();
    api.until("the last filter", &path("/events"), |_| filters(&run) == expected);
    api.post(&path("/stop"), &json!({})).ok();
    let events = api.get(&path("/events?limit=5000")).ok();
    let done: Vec<u64> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| ["change", "click"].contains(&event["event_type"].as_str().unwrap()))
        .map(|event| event["event_index"].as_u64().unwrap())
        .collect();
    assert_eq!(done.len(), WORK.len(), "{events:#}");
    // The golden text, with the recorded action of each step.
    let golden = std::fs::read_to_string(testkit::root().join("eval/routines/finviz_filter_simple.md")).unwrap();
    let text = golden.replace("{{a}}", &origin);
    let steps: Value = done
        .iter()
        .enumerate()
        .map(|(at, event)| ((at + 1).to_string(), json!([event])))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let all: Vec<u64> = (1..=events["events"].as_array().unwrap().len() as u64).collect();
    let topics = ["position_or_identity", "subset", "filter_touched", "varying_value", "computed_value", "overlay"];
    let ask = |topic: &&str| ("ask_user", json!({ "question": format!("{topic}?"), "topic": topic, "events": all }));
    plans.lock()[0] = vec![
        Do::Calls(vec![
            ("trace_viewer", json!({ "command": "summary" })),
            ("trace_viewer", json!({ "command": "normalized_steps" })),
        ]),
        Do::Calls(topics[..3].iter().map(ask).collect()),
        Do::Calls(topics[3..].iter().map(ask).collect()),
        Do::Call("submit_routine", json!({ "markdown": text, "step_events": steps })),
        Do::Say("Made."),
        Do::Say("Made."),
    ];
    api.post(&path("/intent-note"), &json!({ "intent_note": "Follow plan 0" })).ok();
    let compile = ["routine", "compile", recording["recording_id"].as_str().unwrap(), "--name", "stocks"];
    let mut compiled = at.program.run(&compile);
    while compiled.code == Some(4) {
        compiled = at.program.run(&[&compile[..], &["--answer", "Always this one."]].concat());
    }
    assert_eq!(compiled.code, Some(0), "{compiled:?}");
    let (asked, before) = (model.requests().len(), filters(&run).len());
    let ran = at.program.run(&["routine", "run", "stocks", "--model", "none", "--login", "own", "--guard", "off"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("done"), "{ran:?}");
    assert_eq!(filters(&run)[before..], expected, "{ran:?}");
    assert_eq!(model.requests().len(), asked, "{ran:?}");
    let runs = at.program.run(&["routine", "runs", "stocks", "--json"]).json();
    assert!(runs["runs"][0]["steps"].as_array().unwrap().iter().all(|step| step["how"] == "fast"), "{runs:#}");
}
