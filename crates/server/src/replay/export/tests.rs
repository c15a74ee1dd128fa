//! Exports of recordings: what is written for an action, and what a script leaves out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Exported, Source, Target, export};
use crate::record::Event;
use crate::replay::Recorded;
use crate::routine::parse;

const START: &str = "https://shop.example/orders";

fn event(index: u64, kind: &str, element: Value, data: Value) -> Event {
    let mut event = json!({ "event_index": index, "event_type": kind, "timestamp": index, "tab": 1, "data": data,
                            "page": { "url": START, "title": "Orders" } });
    if !element.is_null() {
        event["element"] = element;
    }
    serde_json::from_value(event).unwrap()
}

fn click(index: u64, role: &str, name: &str) -> Event {
    event(index, "click", json!({ "tag": "b", "role": role, "name": name }), json!({ "button": "left", "count": 1 }))
}

fn input(index: u64, name: &str, value: &str) -> Event {
    let element = json!({ "tag": "input", "role": "textbox", "name": name, "selectors": [format!("#{name}")] });
    event(index, "input", element, json!({ "value": value }))
}

/// A routine with these steps, of which each has recorded events.
fn exported(inputs: &str, steps: &[(&str, Vec<u64>)], events: &[Event], target: Target) -> Exported {
    let mut text = format!("# Workflow: Order\n\n## Prerequisites\nStarting URL: {START}\n{inputs}");
    let mut recorded = Recorded::default();
    for (at, (step, indexes)) in steps.iter().enumerate() {
        text.push_str(&format!("\n## Step {0}: Part {0}\n{step}\n", at + 1));
        recorded.steps.insert((at + 1).to_string(), indexes.clone());
    }
    let routine = parse(&text).unwrap();
    recorded.note_text(&routine, events);
    let source = Source { name: "order", version: 3, routine: &routine, recorded: &recorded, events };
    export(&source, target)
}

#[test]
fn what_needs_a_model_is_marked_and_stops_the_script() {
    let events =
        [click(1, "button", "Open"), click(2, "button", "Pay"), click(3, "button", "Close"), input(4, "Total", "12")];
    let steps = [
        ("Press Open.\nRead total: the amount.", vec![1]),
        ("For each order, press Pay.", vec![2]),
        ("Press \"Close\".\nThen wait.", vec![]),
        ("Type {{step1.total}} into Total.", vec![4]),
    ];
    for target in [Target::Playwright, Target::Http] {
        let done = exported("", &steps, &events, target);
        let omitted: Vec<(u32, &str)> = done.omitted.iter().map(|part| (part.step, part.why.as_str())).collect();
        assert_eq!(
            omitted,
            [
                (1, "a model reads the value total from the page"),
                (2, "it works through a list, and its recorded actions are in no row, item or card with a title"),
                (3, "it was not recorded"),
                (4, "it uses the value total that step 1 reads from a page"),
            ]
        );
        let (mark, stop) = match target {
            Target::Playwright => ("//", "throw new Error(\"Step 3 is not exported: it was not recorded\");"),
            Target::Http => ("#", "raise Failed(\"step 3 is not exported: it was not recorded\")"),
        };
        assert!(done.text.contains(stop), "{}", done.text);
        assert!(done.text.contains(&format!("    {mark} Press \"Close\".\n    {mark} Then wait.\n")), "{}", done.text);
        assert!(done.text.contains("\"Open\"") && !done.text.contains("\"Pay\""), "{}", done.text);
    }
}

#[test]
fn texts_of_pages_end_neither_literals_nor_comments() {
    let evil = "a\"); die(); //\n`${1}` \\ ' */ \u{2028}\u{202e}\u{e0041}";
    let events =
        [click(1, "button", evil), input(2, "Name\nprocess.exit(2)\u{2028}process.exit(2)", "not in the text")];
    let steps = [("Press the button.\n\n- process.exit(2)", vec![1]), ("Fill it in.", vec![2])];
    for (target, literal) in [
        (Target::Playwright, r#""a\"); die(); //\n`${1}` \\ ' */ \u2028\u202e\u{e0041}""#),
        (Target::Http, r#""a\"); die(); //\n`${1}` \\ ' */ \u2028\u202e\U000e0041""#),
    ] {
        let text = exported("", &steps, &events, target).text;
        assert!(text.contains(literal), "{text}");
        let mark = if target == Target::Http { "#" } else { "//" };
        let of_page: Vec<&str> =
            text.split(['\n', '\u{2028}']).filter(|line| line.contains("process.exit(2)")).collect();
        let is_harmless = |line: &&str| line.trim_start().starts_with(mark) || line.contains("(\"");
        assert!(of_page.len() > 3 && of_page.iter().all(is_harmless), "{of_page:#?}");
    }
}

#[test]
fn inputs_are_variables_wherever_their_recorded_values_were() {
    let found = "https://shop.example/orders/Ada/42?name=Ada&page=2";
    let mut events = vec![input(1, "Name", "Ada"), click(2, "button", "Ada (3)")];
    events.push(event(3, "tab_navigated", Value::Null, json!({ "url": found, "caused_by": 2 })));
    let inputs = "\n## Inputs\n- name (default Ada)\n- the-pass (sensitive)\n";
    let steps = [("Type {{name}} into Name.", vec![1]), ("Press {{name}} (3).", vec![2])];
    let text = exported(inputs, &steps, &events, Target::Playwright).text;
    for part in [
        "const input_name = process.env[\"INPUT_NAME\"] ?? \"Ada\";",
        "const secret_the_pass = secret(\"SECRET_THE_PASS\");",
        ".fill(input_name);",
        "getByRole(\"button\", { name: input_name + \" (3)\", exact: true }).click();",
        "isAt(\"https://shop.example/orders/\" + encoded(input_name) + \"/42\", { \"name\": input_name, \"page\": \"2\" })",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = exported(inputs, &steps, &events, Target::Http).text;
    for part in [
        "input_name = env(\"INPUT_NAME\", \"Ada\")",
        "secret_the_pass = env(\"SECRET_THE_PASS\")",
        "fill(tab1, find(tab1, role=\"textbox\", name=\"Name\"), input_name)",
        "expect_address(tab1, \"https://shop.example/orders/\" + encoded(input_name) + \"/42\", {\"name\": input_name, \"page\": \"2\"})",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_dialog_is_answered_where_it_opens() {
    let dialog = json!({ "type": "prompt", "message": "Why?", "accepted": true, "prompt_text": "old", "caused_by": 1 });
    let events = [click(1, "button", "Delete"), event(2, "dialog", Value::Null, dialog)];
    let answer =
        "answerDialogs(page, [{ type: \"prompt\", message: \"Why?\", accept: true, text: \"old\" }]), page.getByRole";
    let whole = [("Press Delete, and answer old.", vec![1, 2])];
    let parts = [("Press Delete, and answer old.", vec![1]), ("Answer old.", vec![2])];
    for steps in [&whole[..], &parts[..]] {
        let text = exported("", steps, &events, Target::Playwright).text;
        assert_eq!(text.matches("await Promise.all([answerDialogs(").count(), 1, "{text}");
        assert!(text.contains(answer), "{text}");
    }
}

#[test]
fn elements_are_named_as_playwright_finds_them() {
    let element = |role: &str, more: Value| {
        let mut element = json!({ "tag": "div", "role": role });
        for (name, value) in more.as_object().unwrap() {
            element[name] = value.clone();
        }
        element
    };
    let cases: BTreeMap<&str, Value> = [
        ("page.getByRole(\"link\", { name: new RegExp(\"^\\\\s*Inbox\\\\s*(?:[(\\\\[][\\\\d.,+]+[)\\\\]])?\\\\s*$\", \"i\") })", element("link", json!({ "name": "Inbox (3)" }))),
        ("page.getByText(\"More\", { exact: true })", element("generic", json!({ "text": "More" }))),
        ("page.locator(\"#menu\")", element("button", json!({ "selectors": ["div:nth-of-type(2)", "#menu"] }))),
        ("within(page, page, \"row\", \"Ada\", (at) => at.getByRole(\"button\", { name: \"Edit\", exact: true }))",
         element("button", json!({ "name": "Edit", "container": { "kind": "row", "title": "Ada", "href": "" } }))),
    ]
    .into();
    for (wanted, element) in cases {
        let events = [event(1, "click", element, json!({ "button": "left", "count": 1 }))];
        let text = exported("", &[("Press it.", vec![1])], &events, Target::Playwright).text;
        assert!(text.contains(&format!("await {wanted}.click();")), "{wanted}: {text}");
    }
    let mut framed = click(1, "button", "Pay");
    framed.frame = serde_json::from_value(json!([
        { "index": 0, "name": "till", "url": "https://pay.example/" }, { "index": 1, "name": "", "url": "https://pay.example/card/42" },
    ]))
    .unwrap();
    let text = exported("", &[("Press Pay.", vec![1])], &[framed], Target::Playwright).text;
    let frames = "page.frameLocator(\"iframe[name=\\\"till\\\"], frame[name=\\\"till\\\"]\").locator(\"iframe, frame\").nth(1).contentFrame()";
    assert!(text.contains(frames), "{text}");
}
