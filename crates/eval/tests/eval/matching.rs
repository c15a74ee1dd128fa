//! Which events satisfy which criteria: each key with its near misses, order, toggles, counts, placeholders.

use cdpilot_eval::dataset::{Test, parse};
use cdpilot_eval::{Cost, Facts, Places, Score, matches};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A test with these criteria, as YAML lists.
fn test(finals: &str, criteria: &str) -> Test {
    let finals = if finals.is_empty() { String::new() } else { format!("final:\n{finals}\n") };
    let yaml = format!(
        "id: t\nname: T\ndescription: D\ndifficulty: easy\nstart_url: \"{{{{a}}}}/x/\"\ninstruction: Do it\ntime_limit: 100\ncost_limit: 2\n\
         currency: USD\n{finals}criteria:\n{criteria}"
    );
    parse(&yaml).unwrap_or_else(|fault| panic!("{fault}\n{yaml}"))
}

fn one(pattern: &str) -> Test {
    test("", &format!("  - {{description: c, points: 1, expected: {{{pattern}}}}}\n"))
}

fn holds(test: &Test, events: &[Value]) -> Vec<bool> {
    let found = matches(test, events, &Places::default());
    (0..test.criteria.len()).map(|index| found.of(index).is_some()).collect()
}

#[test]
fn each_key_matches_its_field_and_nothing_near_it() {
    let click = |fields: Value| {
        let mut event = json!({ "eventType": "click", "page": "/x/" });
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event
    };
    let table: &[(&str, Value, &[Value])] = &[
        ("event_type: click", json!({}), &[json!({ "eventType": "Click" }), json!({ "eventType": "clicks" })]),
        (
            "event_type: click, page: /x/",
            json!({}),
            &[json!({ "page": "/x" }), json!({ "page": "/x/y" }), json!({ "page": null })],
        ),
        (
            "event_type: click, page_contains: /x",
            json!({ "page": "/a/x/b" }),
            &[json!({ "page": "/X/" }), json!({ "page": 1 })],
        ),
        (
            "event_type: click, element_id: a",
            json!({ "elementId": "a" }),
            &[json!({ "elementId": "ab" }), json!({ "elementId": "" }), json!({})],
        ),
        (
            "event_type: click, element_class: up",
            json!({ "elementClass": "b up c" }),
            &[json!({ "elementClass": "UP" }), json!({ "elementClass": { "baseVal": "up" } }), json!({})],
        ),
        (
            "event_type: click, element_text: Reply",
            json!({ "elementText": "Reply (2)" }),
            &[json!({ "elementText": "reply" }), json!({})],
        ),
        (
            "event_type: click, parent_text_contains: Ada",
            json!({ "parentText": "by Ada L." }),
            &[json!({ "parentText": "by ada" }), json!({})],
        ),
        (
            "event_type: click, value_contains: fed",
            json!({ "value": "the fed" }),
            &[json!({ "value": "Fed" }), json!({ "value": 1 }), json!({})],
        ),
        (
            "event_type: click, value_contains: fed",
            json!({ "inputValue": "fed" }),
            &[json!({ "value": "x", "inputValue": "fed" })],
        ),
        (
            "event_type: click, value_contains_any: [hi, hello]",
            json!({ "value": "oh hello" }),
            &[json!({ "value": "Hello" }), json!({ "value": "h" })],
        ),
        ("event_type: click, value_contains_any: hi", json!({ "value": "hi" }), &[json!({ "value": "h i" })]),
        (
            "event_type: click, value_length_min: 5",
            json!({ "valueLength": 5 }),
            &[json!({ "valueLength": 4 }), json!({ "valueLength": "9" }), json!({})],
        ),
        (
            "event_type: click, on: true",
            json!({ "on": true }),
            &[json!({ "on": "true" }), json!({ "on": 1 }), json!({ "on": null }), json!({})],
        ),
        (
            "event_type: click, n: 0",
            json!({ "n": 0.0 }),
            &[json!({ "n": "0" }), json!({ "n": false }), json!({ "n": 1 })],
        ),
        ("event_type: click, s: \"0\"", json!({ "s": "0" }), &[json!({ "s": 0 }), json!({ "s": "00" })]),
        (
            "event_type: click, z: null",
            json!({ "z": null }),
            &[json!({}), json!({ "z": false }), json!({ "z": "null" })],
        ),
        (
            "event_type: click, day: \"{{today+3}}\"",
            json!({ "day": "2024-10-07" }),
            &[json!({ "day": "2024-10-04" }), json!({ "day": "{{today+3}}" })],
        ),
    ];
    for (pattern, fits, misses) in table {
        let test = one(pattern);
        assert_eq!(holds(&test, &[click(fits.clone())]), [true], "{pattern}: {fits}");
        for miss in *misses {
            let event = click(miss.clone());
            assert_eq!(holds(&test, std::slice::from_ref(&event)), [false], "{pattern}: {event}");
        }
    }
}

#[test]
fn an_order_needs_two_events() {
    let test = test(
        "",
        "  - {description: a, points: 1, expected: {event_type: say, value_contains: hi}}\n\
         \x20 - {description: b, points: 1, expected: {event_type: say, value_contains: status}, ordered_after: a}\n\
         \x20 - {description: c, points: 1, expected: {event_type: say, value_contains: disk}, ordered_after: b}\n",
    );
    let say = |text: &str| json!({ "eventType": "say", "value": text });
    assert_eq!(holds(&test, &[say("hi status disk")]), [true, false, false], "one message is not three");
    assert_eq!(holds(&test, &[say("hi status disk"), say("hi status disk")]), [true, true, false]);
    assert_eq!(holds(&test, &[say("disk"), say("status"), say("hi")]), [true, false, false]);
    assert_eq!(holds(&test, &[say("hi"), say("x"), say("status"), say("disk")]), [true, true, true]);
    assert_eq!(holds(&test, &[say("status"), say("disk")]), [false, false, false]);
}

#[test]
fn of_a_toggle_the_last_event_counts() {
    let test = test(
        "  - {event_type: vote, by: [id]}\n  - {event_type: set}",
        "  - {description: a, points: 1, expected: {event_type: vote, id: 1, on: true}}\n\
         \x20 - {description: b, points: 1, expected: {event_type: set, weekly: true}}\n",
    );
    let vote = |id: u32, on: bool| json!({ "eventType": "vote", "id": id, "on": on });
    let set = |weekly: bool| json!({ "eventType": "set", "weekly": weekly });
    assert_eq!(holds(&test, &[vote(1, true), set(true)]), [true, true]);
    assert_eq!(holds(&test, &[vote(1, true), vote(1, false), set(true), set(false)]), [false, false]);
    assert_eq!(holds(&test, &[vote(1, true), vote(2, false), vote(1, false), vote(1, true)]), [true, false]);
}

#[test]
fn counts_need_as_many_events_as_they_say() {
    let test = test(
        "",
        "  - {description: a, points: 1, expected: {event_type: count_min, condition: chat_interactions, count: 3}}\n\
         \x20 - {description: b, points: 1, expected: {event_type: count_min, condition: like, count: 2, page: /x/}}\n",
    );
    let chat = |kind: &str, id: &str| json!({ "eventType": kind, "elementId": id });
    let all = [chat("input", "chat-input"), chat("click", "send-btn"), chat("keydown_enter", "chat-input")];
    assert_eq!(holds(&test, &all), [true, false]);
    assert_eq!(holds(&test, &all[..2]), [false, false]);
    let near = [chat("click", "chat-input"), chat("input", "send-btn"), chat("submit", "chat-input")];
    assert_eq!(holds(&test, &near), [false, false]);
    let like = |page: &str| json!({ "eventType": "like", "page": page });
    assert_eq!(holds(&test, &[like("/x/"), like("/y/"), like("/x/")]), [false, true]);
    assert_eq!(holds(&test, &[like("/x/"), like("/y/")]), [false, false]);
}

#[test]
fn one_of_the_alternatives_is_enough_and_optional_points_need_an_event() {
    let test = test(
        "",
        "  - description: a\n    points: 4\n    alternatives: [{event_type: xx}, {event_type: yy}]\n\
         \x20 - {description: b, points: 1, expected: {event_type: zz}, optional: true}\n\
         \x20 - {description: c, points: 1, expected: {event_type: ww}}\n",
    );
    let score = |kinds: &[&str], facts: &Facts| {
        let events: Vec<Value> = kinds.iter().map(|kind| json!({ "eventType": kind })).collect();
        Score::of(&test, &events, &Places::default(), facts, |cost| (cost.currency == "USD").then_some(cost.amount))
    };
    let usd = |amount| Some(Cost { amount, currency: "USD".to_owned() });
    let quick = Facts { seconds: 25.0, cost: usd(0.5), timed_out: false, over_cost: false };
    let done = score(&["yy"], &quick);
    assert_eq!((done.score, done.max, done.passed), (4.0, 6.0, true), "4 of the 5 points that are not optional");
    assert_eq!((done.efficiency, done.usage), (0.75, Some(0.75)));
    assert!((done.composite.unwrap() - 0.9).abs() < 1e-9);
    let little = score(&["ww", "zz"], &quick);
    assert_eq!((little.score, little.passed, little.efficiency, little.usage), (2.0, false, 0.0, Some(0.0)));
    assert_eq!(little.composite, Some(0.0));
    let nothing = score(&[], &quick);
    assert_eq!((nothing.score, nothing.passed), (0.0, false));
    let late = score(&["xx"], &Facts { timed_out: true, seconds: 100.0, ..quick.clone() });
    assert_eq!((late.passed, late.efficiency), (true, 0.0));
    let dear = score(&["xx"], &Facts { cost: usd(3.0), over_cost: true, ..quick.clone() });
    assert_eq!((dear.passed, dear.usage), (true, Some(0.0)));
    let unknown = score(&["xx"], &Facts { cost: None, ..quick.clone() });
    assert_eq!((unknown.usage, unknown.composite), (None, None), "not full marks");
    let foreign = score(&["xx"], &Facts { cost: Some(Cost { amount: 0.1, currency: "EUR".to_owned() }), ..quick });
    assert_eq!((foreign.usage, foreign.composite), (None, None));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Further events never take away a point, unless they state what is `final`.
    #[test]
    fn further_events_take_no_points_away(
        kinds in proptest::collection::vec(0_u8..5, 0..12),
        more in proptest::collection::vec((0_usize..13, 0_u8..5), 0..6),
    ) {
        let test = test(
            "",
            "  - {description: a, points: 1, expected: {event_type: k0}}\n\
             \x20 - {description: b, points: 1, expected: {event_type: k1}, ordered_after: a}\n\
             \x20 - {description: c, points: 1, alternatives: [{event_type: k2}, {event_type: k0}], ordered_after: b}\n\
             \x20 - {description: d, points: 1, expected: {event_type: count_min, condition: k3, count: 2}, ordered_after: a}\n\
             \x20 - {description: e, points: 1, expected: {event_type: k4}}\n",
        );
        let event = |kind: u8| json!({ "eventType": format!("k{kind}") });
        let before: Vec<Value> = kinds.iter().map(|kind| event(*kind)).collect();
        let mut after = before.clone();
        for (at, kind) in more {
            after.insert(at.min(after.len()), event(kind));
        }
        let (before, after) = (holds(&test, &before), holds(&test, &after));
        for (index, had) in before.iter().enumerate() {
            prop_assert!(!had || after[index], "criterion {index}: {before:?} {after:?}");
        }
    }
}
