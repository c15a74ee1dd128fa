//! Tests of a dataset are read strictly: whatever is not understood is refused with its line.

use std::fs;

use cdpilot_eval::Assets;
use cdpilot_eval::dataset::{Dataset, parse};

use crate::support::share::share;

const GOOD: &str = "id: t
name: T
description: D
difficulty: medium
start_url: \"{{a}}/x/\"
instruction: Do it
final:
  - event_type: vote
    by: [id]
criteria:
  - description: first
    points: 1
    expected: {event_type: vote, id: 1}
  - description: second
    points: 2
    alternatives:
      - {event_type: click, element_id: a}
      - event_type: count_min
        condition: chat_interactions
        count: 3
    ordered_after: first
";

#[test]
fn what_is_left_out_has_the_documented_default() {
    let test = parse(GOOD).unwrap();
    assert_eq!((test.time_limit, test.cost_limit, test.currency.as_str()), (600.0, 1.0, "CNY"));
    assert_eq!((test.max(), test.needed(), test.criteria[1].after), (3.0, 3.0, Some(0)));
}

#[test]
fn faults_are_refused_with_their_line_and_what_is_right() {
    let table: &[(&str, &str, u64, &str)] = &[
        ("name: T", "nmae: T", 2, "did you mean \"name\"?"),
        ("name: T", "name: T\nname: U", 3, "name"),
        ("id: t", "id: T 1", 1, "lower-case letters"),
        ("difficulty: medium", "difficulty: simple", 4, "easy, medium, hard or very hard"),
        ("difficulty: medium", "difficulty: medium\ntime_limit: 0", 5, "above 0"),
        ("difficulty: medium", "difficulty: medium\ntime_limit: soon", 5, "above 0"),
        ("difficulty: medium", "difficulty: medium\ncurrency: yuan", 5, "three capitals"),
        ("start_url: \"{{a}}/x/\"", "start_url: https://example.com/", 5, "{{a}}/"),
        ("start_url: \"{{a}}/x/\"", "start_url: \"{{c}}/x/\"", 5, "{{c}}"),
        ("instruction: Do it", "instruction: Do it in 2031", 6, "2031"),
        ("instruction: Do it", "instruction: \"\"", 6, "empty"),
        ("instruction: Do it", "instruction: Do it {{tomorrow}}", 6, "{{today+3}}"),
        ("instruction: Do it\n", "", 1, "needs \"instruction\""),
        ("  - event_type: vote", "  - event_type: voted", 8, "no criterion is about"),
        ("    by: [id]", "    of: [id]", 9, "no key \"of\""),
        ("    points: 1", "    points: -1", 12, "above 0"),
        ("    points: 1", "    points: one", 12, "above 0"),
        ("    points: 1", "    point: 1", 12, "did you mean \"points\"?"),
        ("{event_type: vote, id: 1}", "{event_type: vote, element_href: /x}", 13, "not supported"),
        ("{event_type: vote, id: 1}", "{event_type: vote, check: done}", 13, "not supported"),
        ("{event_type: vote, id: 1}", "{event_type: vote, element_ids: a}", 13, "did you mean \"element_id\"?"),
        ("{event_type: vote, id: 1}", "{event_type: vote, value_contain: a}", 13, "did you mean \"value_contains\"?"),
        ("{event_type: vote, id: 1}", "{event_typ: vote}", 13, "event_type"),
        ("{event_type: vote, id: 1}", "{event_type: vote, id: [1]}", 13, "a text, a number"),
        ("{event_type: vote, id: 1}", "{event_type: vote, count: 2}", 13, "count_min"),
        ("{event_type: vote, id: 1}", "{event_type: vote, day: \"2031-01-01\"}", 13, "2031"),
        ("    expected: {event_type: vote, id: 1}\n", "", 11, "expected or alternatives"),
        ("    points: 2", "    points: 2\n    expected: {event_type: x}", 18, "not both"),
        ("description: second", "description: first", 14, "two criteria"),
        ("ordered_after: first", "ordered_after: frist", 21, "did you mean \"first\"?"),
        ("ordered_after: first", "ordered_after: second", 21, "itself"),
        ("        count: 3", "        count: 2.5", 20, "whole number"),
        ("        count: 3\n", "", 18, "needs \"condition\" and \"count\""),
        ("    alternatives:\n      - {event_type: click, element_id: a}\n", "    alternatives:\n", 17, "at least two"),
        ("criteria:", "criteria: &a [*a]\nx:", 10, ""),
    ];
    for (good, bad, line, part) in table {
        assert!(GOOD.contains(good), "{good}");
        let fault = parse(&GOOD.replacen(good, bad, 1)).expect_err(bad);
        assert!(fault.to_string().contains(part), "{bad}: {fault}");
        assert_eq!(fault.line, *line, "{bad}: {fault}");
    }
    let optional = GOOD
        .replace("    points: 1", "    points: 1\n    optional: true")
        .replace("    points: 2", "    points: 2\n    optional: true");
    assert!(parse(&optional).unwrap_err().problem.contains("all criteria are optional"));
}

/// Each test of the program, broken in each of these ways.
#[test]
fn broken_files_are_refused_with_a_line_and_none_panics() {
    type Break = fn(&str) -> String;
    let breaks: [(&str, Break); 8] = [
        ("cut in the middle of a criterion", |yaml| yaml[..yaml.rfind("points").unwrap()].to_owned()),
        ("an unknown key", |yaml| yaml.replacen("difficulty:", "dificulty:", 1)),
        ("a key twice", |yaml| format!("id: other\n{yaml}")),
        ("points below 0", |yaml| yaml.replacen("points: ", "points: -", 1)),
        ("an open bracket", |yaml| yaml.replacen("criteria:", "criteria: [", 1)),
        ("an unknown placeholder", |yaml| yaml.replacen("{{a}}", "{{A}}", 1)),
        ("a tab", |yaml| yaml.replacen("criteria:\n  -", "criteria:\n\t-", 1)),
        ("a list in place of a text", |yaml| yaml.replacen("name:", "name: [a]\nx:", 1)),
    ];
    let embedded = Assets::embedded("dataset");
    let paths = embedded.ending(".yaml").unwrap();
    assert!(paths.len() * breaks.len() >= 200, "{}", paths.len());
    for path in share(paths, 8) {
        let yaml = String::from_utf8(embedded.read(&path).unwrap().unwrap().into_owned()).unwrap();
        for (how, make) in &breaks {
            let fault = parse(&make(&yaml)).err().unwrap_or_else(|| panic!("{path}: {how} is accepted"));
            assert!(fault.line > 0 && !fault.problem.is_empty(), "{path}: {how}: {fault}");
        }
        // Any other damage may leave a valid test, but never a panic.
        for _ in 0..20 {
            let mut bytes = yaml.clone().into_bytes();
            let at = fastrand::usize(..bytes.len());
            bytes[at] = *fastrand::choice(b"{}[]:,-&*!|>'\"%@ \n\t#0a").unwrap();
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn a_dataset_is_refused_without_traces_that_prove_it() {
    let folder = tempfile::tempdir().unwrap();
    let (tests, traces) = (folder.path().join("tests"), folder.path().join("fixtures"));
    fs::create_dir_all(&tests).unwrap();
    fs::create_dir_all(&traces).unwrap();
    let load = || {
        let loaded = Dataset::load(&Assets::folder(&tests).unwrap(), Some(&Assets::folder(&traces).unwrap()));
        loaded.map_err(|problem| problem.to_string())
    };
    assert!(load().unwrap_err().contains("contains no tests"));
    let yaml = GOOD.split("  - description: second").next().unwrap();
    fs::write(tests.join("t.yaml"), yaml).unwrap();
    let write = |criteria: &str, nothing: &str| {
        fs::write(traces.join("t.json"), format!("{{\"nothing\": [{nothing}], \"criteria\": {{{criteria}}}}}"))
            .unwrap();
    };
    let vote = |id: &str| format!("{{\"eventType\": \"vote\", \"id\": {id}}}");
    let trace = |passes: &str, near: &str| format!("\"first\": {{\"passes\": [{passes}], \"near_misses\": [{near}]}}");
    assert!(load().unwrap_err().contains("no traces"));
    let near = format!("[{}], [{}]", vote("2"), vote("\"1\""));
    write(&trace(&vote("1"), &near), "");
    assert_eq!(load().unwrap().tests.len(), 1);
    for (criteria, nothing, part) in [
        (trace(&vote("2"), &near), "", "does not satisfy"),
        (trace(&vote("1"), &format!("[{}]", vote("2"))), "", "at least 2 near misses"),
        (trace(&vote("1"), &format!("[{}], []", vote("2"))), "", "not empty"),
        (trace(&vote("1"), &format!("[{}], [{}]", vote("2"), vote("1"))), "", "near miss 2"),
        (trace(&vote("1"), &near), vote("1").as_str(), "does nothing satisfies"),
        (
            format!("{}, {}", trace(&vote("1"), &near), trace(&vote("1"), &near).replace("first", "other")),
            "",
            "no criterion \"other\"",
        ),
        ("\"first\": 1".to_owned(), "", "invalid type"),
    ] {
        write(&criteria, nothing);
        let problem = load().unwrap_err();
        assert!(problem.contains(part), "{problem}");
    }
    write(&trace(&vote("1"), &near), "");
    fs::write(tests.join("u.yaml"), yaml).unwrap();
    assert!(load().unwrap_err().contains("ids are unique"));
    fs::write(tests.join("u.yaml"), "id: [").unwrap();
    let problem = load().unwrap_err();
    assert!(problem.contains("u.yaml:1: "), "{problem}");
}
