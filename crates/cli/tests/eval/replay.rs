//! Routines of the evaluation, recorded once and run without a model: to the same end, with no request to a model.

use std::sync::Arc;

use cdpilot_eval::dataset::Dataset;
use cdpilot_eval::sites::Sites;
use cdpilot_eval::{Assets, matches};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::cli_chat::{api_of, prepared};
use crate::support::agent_plan::{Do, model_of_shared};

/// The seed of the sites.
const SEED: u64 = 7;
/// Events that are actions.
const ACTIONS: [&str; 4] = ["click", "input", "change", "dialog"];

/// What is done in a step: the number of the step, the action, and the answer to the dialog that it opens.
type Work = (u32, Value, Option<(bool, &'static str)>);

fn click(selector: &str) -> Value {
    json!({ "kind": "click", "selector": selector })
}

/// Records the work of the routine of a test, and runs the routine without a model. `work` gets the value of an expression in the page
/// of the test. `reads`: a value that a model has to read once, by step, name and text.
fn replayed(
    id: &str,
    look: (&str, &str),
    work: impl Fn(&Value) -> Vec<Work>,
    reads: Option<(u32, &str, &str)>,
) -> Option<Value> {
    let at = AtHome::browsing()?;
    let plans = Arc::new(Mutex::new(vec![Vec::new()]));
    let (at, model) = prepared(at, model_of_shared(&plans));
    let sites = Sites::start(Assets::embedded("sites"), 0).unwrap();
    let run = sites.begin(SEED);
    let places = sites.places(&run);
    let dataset = Dataset::load(&Assets::embedded("dataset"), None).unwrap();
    let test = dataset.test(id).unwrap();
    assert_eq!(at.program.run(&["routine", "list"]).code, Some(0));
    let api = api_of(&at);
    let start = places.fill(&test.start_url).unwrap().into_owned();
    let recording = api.post("/recordings", &json!({ "start_url": start })).ok();
    let path = |end: &str| format!("/recordings/{}{end}", recording["recording_id"].as_str().unwrap());
    let all = |answer: &Value| answer["events"].as_array().unwrap().clone();
    let is_action = |event: &Value| ACTIONS.contains(&event["event_type"].as_str().unwrap());
    let begun = api.until("the page", &path("/events"), |answer| {
        all(answer).iter().any(|event| event["event_type"] == "page_view")
    });
    let created = all(&begun).into_iter().find(|event| event["event_type"] == "tab_created").unwrap();
    let target = &created["data"]["target_id"];
    let act = |body: &Value| {
        let mut body = body.clone();
        body["targetId"] = target.clone();
        api.post("/act", &body).ok()
    };
    let seen = |expression: &str| act(&json!({ "kind": "evaluate", "fn": expression }))["result"].clone();
    act(&json!({ "kind": "wait", "selector": look.0 }));
    let mut steps = std::collections::BTreeMap::<String, Vec<u64>>::new();
    let mut known = 0;
    for (step, body, dialog) in work(&seen(look.1)) {
        if let Some((accept, text)) = dialog {
            let hook = json!({ "accept": accept, "promptText": text, "targetId": target });
            api.post("/hooks/dialog", &hook).ok();
        }
        act(&body);
        let wanted = known + 1 + usize::from(dialog.is_some());
        let now = api.until("the action", &path("/events?limit=5000"), |answer| {
            all(answer).iter().filter(|event| is_action(event)).count() >= wanted
        });
        let done: Vec<u64> = all(&now)
            .iter()
            .filter(|event| is_action(event))
            .map(|event| event["event_index"].as_u64().unwrap())
            .collect();
        steps.entry(step.to_string()).or_default().extend(&done[known..]);
        known = done.len();
    }
    api.post(&path("/stop"), &json!({})).ok();
    let count = all(&api.get(&path("/events?limit=5000")).ok()).len();
    let file = test.routine_file.as_ref().unwrap();
    let golden = std::fs::read_to_string(testkit::root().join("eval").join(file)).unwrap();
    // Keywords of the golden texts are for models that look at the page; the model of the test learns from the text which plan to follow.
    let lines = golden.lines().filter(|line| !line.starts_with("**Keywords:**")).map(|line| match line {
        line if line.starts_with("Starting URL: ") => format!("{line}\nFollow plan 0\n"),
        line => format!("{line}\n"),
    });
    let text = lines.collect::<String>().replace("{{a}}", &places.a);
    let topics =
        ["position_or_identity", "subset", "filter_touched", "varying_value", "computed_value", "overlay", "login"];
    let events: Vec<usize> = (1..=count).collect();
    let ask = |topic: &&str| ("ask_user", json!({ "question": format!("{topic}?"), "topic": topic, "events": events }));
    plans.lock()[0] = vec![
        Do::Calls(vec![
            ("trace_viewer", json!({ "command": "summary" })),
            ("trace_viewer", json!({ "command": "normalized_steps" })),
        ]),
        Do::Calls(topics[..3].iter().map(ask).collect()),
        Do::Calls(topics[3..6].iter().map(ask).collect()),
        Do::Calls(topics[6..].iter().map(ask).collect()),
        Do::Call("submit_routine", json!({ "markdown": text, "step_events": steps })),
        Do::Say("Made."),
        Do::Say("Made."),
        Do::Say("Made."),
    ];
    api.post(&path("/intent-note"), &json!({ "intent_note": "Follow plan 0" })).ok();
    let compile = ["routine", "compile", recording["recording_id"].as_str().unwrap(), "--name", "golden"];
    let mut compiled = at.program.run(&compile);
    while compiled.code == Some(4) {
        compiled = at.program.run(&[&compile[..], &["--answer", "Always this one."]].concat());
    }
    assert_eq!(compiled.code, Some(0), "{compiled:?}");
    if let Some((n, name, value)) = reads {
        // The programs' calls come before those of the model, which follows the plan by its position.
        let calls = steps.values().map(Vec::len).sum();
        let mut plan: Vec<Do> = (0..calls).map(|_| Do::Look).collect();
        plan.push(Do::Call("routine_step", json!({ "command": "read", "n": n, "name": name, "value": value })));
        plan.push(Do::Call("routine_step", json!({ "command": "done", "n": n })));
        let data = format!("Done. ```json\n{{\"{name}\": {value}}}\n```");
        plan.extend((0..4).map(|_| Do::Say(Box::leak(data.clone().into_boxed_str()))));
        plans.lock()[0] = plan;
        let ran = at.program.run(&["routine", "run", "golden", "--login", "own", "--guard", "off"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let approved = at.program.run(&["routine", "approve", "golden"]);
        assert_eq!(approved.code, Some(0), "{approved:?}");
    }
    let asked = model.requests().len();
    run.clear();
    let ran = at.program.run(&["routine", "run", "golden", "--model", "none", "--login", "own", "--guard", "off"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("done"), "{ran:?}");
    assert_eq!(model.requests().len(), asked, "{ran:?}");
    api.until("the end of the test", "/tabs", |_| {
        let found = matches(test, &run.tracked().events, &places);
        (0..test.criteria.len()).all(|index| found.of(index).is_some())
    });
    let runs = at.program.run(&["routine", "runs", "golden", "--json"]).json();
    let last = runs["runs"][0].clone();
    assert!(last["steps"].as_array().unwrap().iter().all(|step| step["how"] == "fast"), "{last:#}");
    Some(last)
}

#[test]
fn a_filter_is_set_without_a_model() {
    let lists = ["fs_cap smallover", "fs_fa_div o3", "fs_sh_relvol o1", "", "fs_fa_pe u20", "fs_fa_pb u2"];
    let work = |_: &Value| {
        let work = lists.iter().zip(1..).map(|(one, step)| match one.split_once(' ') {
            Some((id, value)) => {
                (step, json!({ "kind": "select", "selector": format!("#{id}"), "values": [value] }), None)
            }
            None => (step, json!({ "kind": "click", "locator": "role=tab[name=Fundamental]" }), None),
        });
        work.collect()
    };
    replayed("replay_finviz_filter_simple", ("#fs_cap", "1"), work, None);
}

#[test]
fn cards_of_a_list_are_upvoted_and_collected_without_a_model() {
    let work = |_: &Value| {
        let mut work: Vec<Work> = vec![
            (1, json!({ "kind": "fill", "fields": [{ "selector": "#main-search", "value": "AI" }] }), None),
            (1, click("#search-button"), None),
        ];
        // 21 has both marks from the beginning.
        for id in [7, 12, 18] {
            work.push((2, click(&format!("[data-question='{id}'] .upvote-btn")), None));
            work.push((2, click(&format!("[data-question='{id}'] .collect-btn")), None));
        }
        work.push((3, click("[data-question='4'] .comment-toggle"), None));
        work
    };
    replayed("replay_techforum_upvote", ("#main-search", "1"), work, None);
}

#[test]
fn clippings_of_a_list_that_grows_are_filed_without_a_model() {
    let titles = "new Promise((done) => { const end = document.getElementById('status'); end.scrollIntoView(); const again = () => \
        document.querySelectorAll('.clipping').length < 60 ? setTimeout(again, 50) : done([...document.querySelectorAll('.clipping')].map((one, at) => \
        (/\\bferry\\b/i.test(one.querySelector('h2').textContent) ? at + 1 : 0)).filter(Boolean)); again() })";
    let work = |places: &Value| {
        let places: Vec<u64> = serde_json::from_value(places.clone()).unwrap();
        assert_eq!(places.len(), 23);
        places.iter().map(|at| (1, click(&format!(".clipping:nth-child({at}) button")), None)).collect()
    };
    let report = replayed("replay_stackhollow_clippings", (".clipping", titles), work, None);
    assert!(report.is_none_or(|report| report["steps"][0]["items"] == json!({ "done": 23, "total": 23 })));
}

#[test]
fn reviews_in_a_drawer_are_marked_without_a_model() {
    let work = |_: &Value| {
        let mut work: Vec<Work> = vec![(1, click("#open-reviews"), None)];
        work.extend([1, 4, 7].map(|id| (2, click(&format!("[data-review='{id}'] button")), None)));
        work.push((3, click("#reviews .close"), None));
        work
    };
    replayed("replay_northstar_reviews", ("#open-reviews", "1"), work, None);
}

#[test]
fn two_documents_with_one_title_are_told_apart_by_their_questions() {
    let rows = "[...document.querySelectorAll('#rows tr')].map((row, at) => [row.textContent.includes('Harbour lease, signed copy'), \
        row.textContent.includes('Scan 0412'), at + 1])";
    let work = |rows: &Value| {
        let of = |column: usize| -> Vec<u64> {
            let rows = rows.as_array().unwrap().iter().filter(|row| row[column] == true);
            rows.map(|row| row[2].as_u64().unwrap()).collect()
        };
        let bin = |at: u64| click(&format!("#rows tr:nth-child({at}) .delete"));
        let (copies, scan) = (of(0), of(1)[0]);
        // Which copy is on hold follows from the seed; the kept one stays in its place.
        let (kept, deleted) = (copies[usize::from(HELD_IS_SECOND)], copies[usize::from(!HELD_IS_SECOND)]);
        let scan = if deleted < scan { scan - 1 } else { scan };
        vec![
            (1, bin(kept), Some((false, ""))),
            (1, bin(deleted), Some((true, ""))),
            (2, click(&format!("#rows tr:nth-child({scan}) .rename")), Some((true, "Quay survey, sheet 4"))),
        ]
    };
    replayed("replay_stackhollow_duplicates", ("#rows tr", rows), work, None);
}

/// Whether the second of the two documents with one title is on hold, with this seed.
const HELD_IS_SECOND: bool = true;

#[test]
fn a_number_that_a_question_gives_is_read_without_a_model() {
    let place = "1 + [...document.querySelectorAll('.clipping')].findIndex((one) => one.textContent.includes('Lighthouse lamp replaced'))";
    let work = |place: &Value| {
        vec![
            (1, click(&format!(".clipping:nth-child({}) button", place.as_u64().unwrap())), None),
            (2, click("#export"), Some((true, ""))),
        ]
    };
    let report = replayed("replay_stackhollow_export", (".clipping", place), work, Some((2, "count", "1")));
    assert!(report.is_none_or(|report| report["result"]["data"] == json!({ "count": 1 })));
}
