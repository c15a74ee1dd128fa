//! The oracle plays every test; models that do nothing, click at random or open every address pass none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::eval_run::assert_columns;
use crate::support::share::{is_whole, share};

/// Longest evaluation: 28 tests with 100 models.
const LONGEST: Duration = Duration::from_secs(8 * 3600);

/// Results by test and model.
type Results = BTreeMap<(String, String), Vec<Value>>;

/// Runs tests with models; the exit status and the results.
fn results(at: &AtHome, args: &[&str]) -> (Option<i32>, Results) {
    let out = at.home.root().parent().unwrap().join("out").display().to_string();
    let args = [&["eval", "run", "--json", "--out", &out], args].concat();
    let ran = at.program.run_within(LONGEST, &args, |_| {});
    let shown = ran.json();
    let mut all = Results::new();
    let Some(list) = shown["results"].as_array() else { panic!("{ran:?}") };
    for result in list {
        let text = |name: &str| result[name].as_str().unwrap().to_owned();
        all.entry((text("id"), text("model"))).or_default().push(result.clone());
    }
    (ran.code, all)
}

/// Every site, and every ability of the table in `eval/README.md`: of these the oracle plays a share in each run.
const PLAYED: [&str; 10] = [
    "bluebook_picture",
    "cloudstack_create_instance",
    "dataflow_lowest_quarter",
    "dialogs_storage",
    "finviz_filter_sort_open",
    "flaky_queue",
    "gbr_detailed",
    "northstar_add_bag",
    "payment_declined",
    "techforum_gbr_figures",
];

/// `CDPILOT_TEST_ROUNDS=5`: all 28 tests, as often, one after the other and with four at a time.
#[test]
fn the_oracle_passes_every_test() {
    let Some(at) = AtHome::browsing() else { return };
    let rounds: Option<usize> = std::env::var("CDPILOT_TEST_ROUNDS").ok().map(|count| count.parse().unwrap());
    let plays_all = rounds.is_some() || is_whole();
    let played = if plays_all { Vec::new() } else { share(PLAYED, 1) };
    let expected = if plays_all { 28 } else { played.len() };
    for round in 0..rounds.unwrap_or(1) {
        for jobs in if rounds.is_some() { &["1", "4"][..] } else { &["2"] } {
            let (code, all) = results(&at, &[&["--model", "oracle", "--jobs", jobs], &played[..]].concat());
            let missed: Vec<String> = all
                .values()
                .flatten()
                .filter(|result| result["score"] != result["max"])
                .map(|result| {
                    format!("{}: {} of {}, {}", result["id"], result["score"], result["max"], result["cause"])
                })
                .collect();
            assert!(missed.is_empty() && code == Some(0), "round {round}, {jobs} jobs: {missed:#?}");
            assert_eq!(all.len(), expected);
        }
    }
    let out = std::fs::read_dir(at.home.root().parent().unwrap().join("out")).unwrap();
    assert_columns(&out.last().unwrap().unwrap().path());
    // The models of the program are in the settings only while they are needed.
    let settings = std::fs::read_to_string(at.home.root().join("llm.json")).unwrap_or_default();
    assert!(!settings.contains("oracle"), "{settings}");
}

/// The golden routines; each run plays a share.
const REPLAYED: [&str; 6] = [
    "replay_finviz_filter_simple",
    "replay_northstar_reviews",
    "replay_stackhollow_clippings",
    "replay_stackhollow_duplicates",
    "replay_stackhollow_export",
    "replay_techforum_upvote",
];

#[test]
fn the_oracle_follows_the_routines() {
    let Some(at) = AtHome::browsing() else { return };
    let played = if is_whole() { REPLAYED.to_vec() } else { share(REPLAYED, 2) };
    let args = [&["--track", "replay", "--model", "oracle", "--jobs", "2"], &played[..]].concat();
    let (code, all) = results(&at, &args);
    let missed: Vec<&Value> = all.values().flatten().filter(|result| result["score"] != result["max"]).collect();
    assert!(missed.is_empty() && code == Some(0), "{missed:#?}");
    assert_eq!(all.len(), played.len());
}

/// Without an ability the oracle fails exactly the tests that the table in `eval/README.md` names. Only with
/// `CDPILOT_TEST_ROUNDS`: it takes 250 runs.
#[test]
fn without_an_ability_the_oracle_fails_the_tests_of_the_table() {
    let readme = std::fs::read_to_string(testkit::root().join("eval/README.md")).unwrap();
    let rows: Vec<(String, BTreeSet<String>)> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `oracle-without-"))
        .filter_map(|line| line.split_once("` | "))
        .map(|(ability, tests)| {
            let names = tests.trim_end_matches(" |").split(", ").filter(|name| !name.is_empty());
            (format!("oracle-without-{ability}"), names.map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(rows.len(), 9, "{rows:?}");
    for (model, tests) in &rows {
        assert!(tests.iter().any(|test| PLAYED.contains(&test.as_str())), "{model}: none of its tests is played");
    }
    if std::env::var_os("CDPILOT_TEST_ROUNDS").is_none() {
        return;
    }
    let Some(at) = AtHome::browsing() else { return };
    for (model, expected) in rows {
        let (_, all) = results(&at, &["--jobs", "4", "--model", &model]);
        let failed = all.values().flatten().filter(|result| result["passed"] == false);
        let failed: BTreeSet<String> = failed.map(|result| result["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(failed, expected, "{model}");
    }
}

/// `CDPILOT_TEST_SEEDS=100`: all tests, by so many models that click at random and by one that opens every address.
#[test]
fn whoever_does_not_do_the_task_passes_no_test() {
    let Some(at) = AtHome::browsing() else { return };
    let seeds: usize = std::env::var("CDPILOT_TEST_SEEDS").map_or(0, |count| count.parse().unwrap());
    let mut nothing = vec!["--model", "scripted-nothing", "--jobs", "4"];
    if seeds == 0 {
        nothing.extend(share(["gbr", "finviz_complex", "dialogs_draft"], 1));
    }
    let (code, all) = results(&at, &nothing);
    assert_eq!(code, Some(1));
    for result in all.values().flatten() {
        assert_eq!((&result["score"], &result["passed"]), (&json!(0.0), &json!(false)), "{result}");
    }
    let models: Vec<String> = match seeds {
        0 => share(["scripted-random-1", "scripted-addresses"].map(str::to_owned), 1),
        seeds => {
            (1..=seeds).map(|seed| format!("scripted-random-{seed}")).chain(["scripted-addresses".to_owned()]).collect()
        }
    };
    let mut args = vec!["--jobs", "4"];
    for model in &models {
        args.extend(["--model", model]);
    }
    if seeds == 0 {
        args.push("payment_checkout");
    }
    let (_, all) = results(&at, &args);
    let passed: Vec<&Value> = all.values().flatten().filter(|result| result["passed"] == true).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}
