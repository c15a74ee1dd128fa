//! Rules of steps, by tables of texts and the problems of each.

use std::collections::BTreeMap;

use crate::routine_texts::{VALID, assert_problems, assert_table, one, with, without};
use cdpilot_server::routine::{RecordedEvent, StepEvents};

#[test]
fn steps() {
    assert_table(&[
        ("empty step", without(&[20]), &[(19, "EMPTY_STEP")]),
        ("only keywords", with(&[(11, &[]), (14, &["Click {{city}}."])]), &[(9, "EMPTY_STEP")]),
        ("only a rule", one(20, "---"), &[(19, "EMPTY_STEP")]),
        ("only reasoning", one(20, "**Reasoning:** None."), &[(19, "EMPTY_STEP")]),
        ("keywords below a blank line", one(10, "\n**Keywords:** main-search"), &[(11, "KEYWORDS_PLACE")]),
        (
            "keywords at the end",
            with(&[(10, &[]), (12, &["**Keywords:** main-search", ""])]),
            &[(11, "KEYWORDS_PLACE")],
        ),
        (
            "keywords twice",
            with(&[(10, &["**Keywords:** main-search", "**Keywords:** other"])]),
            &[(11, "KEYWORDS_TWICE")],
        ),
        ("keywords not bold", one(10, "Keywords: main-search"), &[(10, "LABEL_SHAPE")]),
        ("keyword singular", one(10, "**Keyword**: main-search"), &[(10, "LABEL_SHAPE")]),
        ("keywords in a sentence", one(11, "Keywords: type {{city}} there."), &[]),
        ("keywords empty", one(10, "**Keywords:**"), &[(10, "KEYWORD_SHAPE")]),
        ("two words", one(10, "**Keywords:** main search"), &[(10, "KEYWORD_SHAPE")]),
        ("quotes", one(10, "**Keywords:** \"main-search\""), &[(10, "KEYWORD_SHAPE")]),
        ("list of tokens", one(10, "**Keywords:** main-search, go"), &[(10, "KEYWORD_SHAPE")]),
        ("one character", one(10, "**Keywords:** x"), &[(10, "KEYWORD_SHAPE")]),
        ("only punctuation", one(10, "**Keywords:** --"), &[(10, "KEYWORD_SHAPE")]),
        ("placeholder as keyword", one(10, "**Keywords:** {{city}}"), &[(10, "KEYWORD_SHAPE")]),
        ("generic", one(10, "**Keywords:** Button"), &[(10, "KEYWORD_GENERIC")]),
        ("not generic", one(10, "**Keywords:** save"), &[]),
        ("letters of other scripts", one(10, "**Keywords:** Übersicht_价格.1"), &[]),
        ("hex", one(10, "**Keywords:** btn-3fa9c81d"), &[(10, "KEYWORD_HASH")]),
        ("hex letters only", one(10, "**Keywords:** effaced"), &[]),
        ("style class", one(10, "**Keywords:** css-1x2y3z"), &[(10, "KEYWORD_HASH")]),
        ("named style class", one(10, "**Keywords:** css-editor"), &[]),
        ("counted id", one(10, "**Keywords:** :r1:"), &[(10, "KEYWORD_HASH")]),
        ("view id", one(10, "**Keywords:** ember123"), &[(10, "KEYWORD_HASH")]),
        ("long number", one(10, "**Keywords:** item_1700000000"), &[(10, "KEYWORD_HASH")]),
        ("ref as keyword", one(10, "**Keywords:** e12"), &[(10, "KEYWORD_HASH")]),
        ("names with digits", one(10, "**Keywords:** ta_perf4w"), &[]),
        (
            "reasoning in the middle",
            with(&[(14, &["**Reasoning:** It is first.", "", "Click it."])]),
            &[(14, "REASONING_PLACE"), (19, "REASONING_TWICE")],
        ),
        (
            "reasoning before an instruction",
            one(12, "\n**Reasoning:** So it is.\n\nPress Enter.\n"),
            &[(13, "REASONING_PLACE")],
        ),
        ("reasoning empty", one(17, "**Reasoning:**"), &[(17, "EMPTY_REASONING")]),
        ("reasoning not bold", one(17, "Reasoning: It is sorted."), &[(17, "LABEL_SHAPE")]),
        ("element ref", one(14, "Click element e12."), &[(14, "ELEMENT_ID")]),
        ("ref in brackets", one(14, "Click \"Next\" [e12]."), &[(14, "ELEMENT_ID")]),
        ("ref with at", one(14, "Click @e5."), &[(14, "ELEMENT_ID")]),
        ("ref of a snapshot", one(14, "Click the button [ref=e7]."), &[(14, "ELEMENT_ID")]),
        ("id of a screenshot", one(14, "Click `element_id`: \"yswq38\"."), &[(14, "ELEMENT_ID")]),
        ("id in reasoning", one(17, "**Reasoning:** It was element_id yswq38."), &[(17, "ELEMENT_ID")]),
        ("words like ids", one(14, "Mail me@e12.example about E330, list[e1], e12 and element field2."), &[]),
        ("if shown", one(14, "If shown: press \"Accept\".\nFor each card press \"+\"."), &[]),
        ("if shown empty", one(14, "If shown:"), &[(14, "EMPTY_INSTRUCTION")]),
        ("if shown in lower case", one(14, "if shown, press \"Accept\"."), &[(14, "INSTRUCTION_SHAPE")]),
        ("bold for each", one(14, "**For each** card press \"+\"."), &[(14, "INSTRUCTION_SHAPE")]),
        ("read in brackets", one(14, "- Read <total>: the sum."), &[(14, "INSTRUCTION_SHAPE")]),
        ("read in lower case", one(14, "read total: the sum."), &[(14, "INSTRUCTION_SHAPE")]),
        ("read a text", one(14, "Read the total: it is below.\nread on: below."), &[]),
        ("read twice", one(14, "Read price: the old price."), &[(15, "READ_TWICE")]),
    ]);
}

#[test]
fn placeholders_refer_to_something() {
    assert_table(&[
        ("undeclared", one(14, "Click {{undeclared}}."), &[(14, "INPUT_UNDECLARED")]),
        ("nearly declared", one(11, "Type {{ctiy}}."), &[(11, "INPUT_UNDECLARED")]),
        ("undeclared in the goal", one(1, "# Workflow: Buy {{what}}"), &[(1, "INPUT_UNDECLARED")]),
        ("input in a title", one(9, "## Step 1: Search {{city}}"), &[]),
        ("blanks inside", one(14, "Click {{ city }}."), &[(14, "PLACEHOLDER_SYNTAX")]),
        ("not closed", one(14, "Click {{city."), &[(14, "PLACEHOLDER_SYNTAX")]),
        ("unknown kind", one(14, "Click {{input:city}}."), &[(14, "PLACEHOLDER_SYNTAX")]),
        ("step without number", one(20, "Compare {{step.price}}."), &[(20, "PLACEHOLDER_SYNTAX")]),
        ("single braces", one(14, "Type {\"a\": {\"b\": 1}}."), &[]),
        ("secret", one(14, "Type {{secret:shop.pass_word-1}}."), &[]),
        ("secret in a title", one(9, "## Step 1: Type {{secret:a}}"), &[(9, "SECRET_PLACE")]),
        ("secret in the url", one(4, "Starting URL: https://shop.example/{{secret:a}}"), &[(4, "SECRET_PLACE")]),
        ("value unknown", one(20, "Compare {{step2.prize}}."), &[(20, "VALUE_UNKNOWN")]),
        ("value of no step", one(20, "Compare {{step9.price}}."), &[(20, "VALUE_UNKNOWN")]),
        ("value of a later step", one(11, "Type {{city}} {{step2.price}}."), &[(11, "VALUE_LATER")]),
        ("value of the same step", one(14, "Click {{step2.price}}."), &[(14, "VALUE_LATER")]),
        ("value in the prerequisites", one(5, "For {{step2.price}}.\n"), &[(5, "VALUE_LATER")]),
        ("value in the result", one(23, "{{step2.price}}"), &[]),
        ("input only in the result", with(&[(11, &["Press Enter."]), (23, &["About {{city}}."])]), &[]),
    ]);
}

fn recorded(steps: &[(u32, &[u64])], existing: std::ops::Range<u64>) -> StepEvents {
    let texts = |index: u64| vec![format!("<input id=\"main-search\" data-n={index}>"), "Search".to_owned()];
    let event = |index: &u64| RecordedEvent { event_index: *index, texts: texts(*index) };
    let steps: BTreeMap<u32, Vec<RecordedEvent>> =
        steps.iter().map(|(n, indexes)| (*n, indexes.iter().map(event).collect())).collect();
    StepEvents { steps, existing: existing.collect() }
}

#[test]
fn recorded_events() {
    let other = one(10, "**Keywords:** Main-Search");
    type Case<'c> = (&'c str, &'c str, &'c [(u32, &'c [u64])], &'c [(usize, &'c str)]);
    let cases: &[Case<'_>] = &[
        ("in order", VALID, &[(1, &[1, 2]), (2, &[5]), (3, &[])], &[]),
        ("only some steps", VALID, &[(2, &[5])], &[]),
        ("unknown", VALID, &[(1, &[1]), (2, &[40, 41])], &[(13, "EVENTS_UNKNOWN")]),
        ("order of steps", VALID, &[(1, &[4]), (2, &[3])], &[(13, "EVENTS_ORDER")]),
        ("order in a step", VALID, &[(1, &[4, 2, 1])], &[(9, "EVENTS_ORDER")]),
        ("twice", VALID, &[(1, &[4]), (2, &[4])], &[(13, "EVENTS_TWICE")]),
        ("twice in a step", VALID, &[(1, &[4, 4])], &[(9, "EVENTS_TWICE")]),
        ("no such step", VALID, &[(9, &[4])], &[(19, "EVENTS_STEP")]),
        ("keyword in another case", &other, &[(1, &[4])], &[(10, "KEYWORD_NOT_RECORDED")]),
        ("keyword of another step", &other, &[(1, &[]), (2, &[4])], &[]),
    ];
    for (name, text, steps, expected) in cases {
        assert_problems(name, text, Some(&recorded(steps, 0..10)), expected);
    }
}
