//! Sections and headings, by tables of texts and the problems of each; and what messages say.

use crate::routine_texts::{VALID, assert_problems, assert_table, one, problems, with, without};
use cdpilot_server::routine::normalise;

#[test]
fn whole_texts() {
    let long_line = format!("Type {}.", "a".repeat(4_000));
    let steps: String = (1..=201).map(|n| format!("\n## Step {n}: Wait\nWait for page {n}.\n")).collect();
    assert_table(&[
        ("valid", VALID.to_owned(), &[]),
        ("no line end at the end", VALID.trim_end().to_owned(), &[]),
        ("windows line ends", VALID.replace('\n', "\r\n"), &[]),
        ("old line ends", VALID.replace('\n', "\r"), &[]),
        ("byte order mark", format!("\u{feff}{VALID}"), &[]),
        ("blanks at line ends", VALID.replace('\n', " \t\n"), &[]),
        ("empty", String::new(), &[(1, "NO_GOAL"), (1, "NO_STARTING_URL"), (1, "NO_STEPS")]),
        ("one line of text", "Buy it".to_owned(), &[(1, "NO_GOAL"), (1, "NO_STARTING_URL"), (1, "NO_STEPS")]),
        ("line ends lost", VALID.replace('\n', " "), &[(1, "ONE_LINE")]),
        ("line ends escaped", VALID.replace('\n', "\\n"), &[(1, "ONE_LINE")]),
        ("1 MB", format!("{VALID}{}", "All is well.\n".repeat(80_000)), &[(5034, "TOO_LONG")]),
        ("1 MB in one line", "a".repeat(1 << 20), &[(1, "TOO_LONG")]),
        ("long line", one(14, &long_line), &[(14, "TOO_LONG")]),
        (
            "201 steps",
            format!("{}{steps}", with(&[(6, &[]), (7, &[])]).split("\n## Step 1").next().unwrap()),
            &[(607, "TOO_LONG")],
        ),
        ("bidirectional", one(14, "Click \u{202e}txen\u{202c}."), &[(14, "HIDDEN_CHARACTERS")]),
        ("zero width", one(1, "# Workflow: Buy\u{200b} it"), &[(1, "HIDDEN_CHARACTERS")]),
        ("tag characters", one(23, "The price.\u{e0041}\u{e0042}"), &[(23, "HIDDEN_CHARACTERS")]),
        ("control characters", one(14, "Click\u{0} \u{1b}[1m."), &[(14, "HIDDEN_CHARACTERS")]),
        ("emoji and other scripts", one(14, "Click “❤️ Größe 价格”."), &[]),
        ("table in a step", with(&[(14, &["Choose:", "", "| a | b |", "|---|---|", "| 1 | 2 |"])]), &[]),
        ("code block in a step", with(&[(14, &["```", "## Step 2: no step", "# none", "```"])]), &[]),
        ("tilde code block", with(&[(14, &["~~~text", "```", "## Notes", "~~~"])]), &[]),
        ("code block without end", one(14, "```js"), &[(14, "CODE_BLOCK_OPEN")]),
        ("text above the goal", format!("Hello.\n{VALID}"), &[(1, "TEXT_PLACE")]),
        ("text below the goal", one(2, "It is cheap."), &[(2, "TEXT_PLACE")]),
    ]);
}

#[test]
fn headings() {
    assert_table(&[
        ("no goal", without(&[1]), &[(1, "NO_GOAL")]),
        ("empty goal", one(1, "# Workflow:"), &[(1, "NO_GOAL")]),
        ("title without workflow", one(1, "# Buy a ticket"), &[(1, "NO_GOAL")]),
        ("workflow without mark", one(1, "Workflow: Buy a ticket"), &[(1, "HEADING_SHAPE")]),
        ("goal without mark", one(1, "Routine: Buy a ticket"), &[(1, "HEADING_SHAPE")]),
        ("workflow too low", one(1, "## workflow - Buy a ticket"), &[(1, "HEADING_SHAPE")]),
        ("routine instead of workflow", one(1, "# Routine: Buy a ticket"), &[(1, "HEADING_SHAPE")]),
        ("two goals", one(2, "# Workflow: Sell it"), &[(2, "GOAL_TWICE")]),
        ("no prerequisites", without(&[3, 4]), &[(1, "NO_STARTING_URL")]),
        ("prerequisites misspelled", one(3, "## Prerequesites:"), &[(3, "HEADING_SHAPE")]),
        ("bold prerequisites", one(3, "**Prerequisites**"), &[(3, "HEADING_SHAPE")]),
        ("two prerequisites", one(5, "## Prerequisites"), &[(5, "SECTION_TWICE")]),
        ("inputs first", with(&[(2, &["", "## Inputs", "- city", ""]), (6, &[]), (7, &[])]), &[(6, "SECTION_ORDER")]),
        ("inputs last", with(&[(6, &[]), (7, &[]), (21, &["", "## Inputs", "- city", ""])]), &[(20, "SECTION_ORDER")]),
        (
            "result first",
            with(&[(8, &["", "## Result", "The price.", ""]), (22, &[]), (23, &[])]),
            &[(9, "SECTION_ORDER")],
        ),
        ("goal last", format!("{}\n# Workflow: Buy\n", without(&[1])), &[(24, "SECTION_ORDER")]),
        ("unknown section", one(21, "\n## Notes\nNothing."), &[(22, "UNKNOWN_SECTION")]),
        ("heading in a step", with(&[(12, &["", "### Details", "Press Enter.", ""])]), &[(13, "UNKNOWN_SECTION")]),
        ("steps as a section", one(8, "\n## Steps"), &[(9, "UNKNOWN_SECTION")]),
        ("parameters", one(6, "## Parameters"), &[(6, "HEADING_SHAPE")]),
        ("results", one(22, "### Results:"), &[(22, "HEADING_SHAPE")]),
        ("no blank in a heading", one(9, "##Step 1: Search"), &[(9, "HEADING_SHAPE")]),
        ("no blank and no title", one(9, "##Step 1"), &[(9, "HEADING_SHAPE")]),
        ("step too low", one(9, "### Step 1: Search"), &[(9, "HEADING_SHAPE")]),
        ("step in lower case", one(9, "## step 1 - Search"), &[(9, "HEADING_SHAPE")]),
        ("step with dash", one(9, "## Step 1 – Search"), &[(9, "HEADING_SHAPE")]),
        ("step without number", one(9, "## Step: Search"), &[(9, "HEADING_SHAPE")]),
        ("number without step", one(9, "## 1. Search"), &[(9, "HEADING_SHAPE")]),
        ("step with zero", one(9, "## Step 01: Search"), &[(9, "HEADING_SHAPE")]),
        ("step without mark", one(9, "Step 1: Search"), &[(9, "HEADING_SHAPE")]),
        ("bold step", one(9, "**Step 1: Search**"), &[(9, "HEADING_SHAPE")]),
        ("indented step", one(9, "  ## Step 1: Search"), &[(9, "HEADING_SHAPE")]),
        ("step without title", one(9, "## Step 1:"), &[(9, "STEP_TITLE")]),
        ("bold in a title", one(9, "## Step 1: **Search** for __it__"), &[]),
        ("text that is no heading", one(14, "Press #5, then\n#results in Step 2 of the wizard: Next."), &[]),
        ("two steps 3", with(&[(21, &["", "## Step 3: End", "Close it.", ""])]), &[(22, "STEP_NUMBER")]),
        ("gap", one(19, "## Step 4: Report"), &[(19, "STEP_NUMBER")]),
        ("from 0", with(&[(9, &["## Step 0: Search"])]), &[(9, "STEP_NUMBER")]),
        ("huge number", one(19, "## Step 99999999999: Report"), &[(19, "HEADING_SHAPE")]),
        (
            "no steps",
            with(&[(7, &["- city"])]).split("## Step 1").next().unwrap().to_owned(),
            &[(7, "INPUT_UNUSED"), (7, "NO_STEPS")],
        ),
    ]);
}

#[test]
fn sections() {
    assert_table(&[
        ("bold starting url", one(4, "**Starting URL:** https://shop.example/"), &[]),
        ("starting url as an item", one(4, "- **Starting URL**: https://shop.example/\n- Signed in."), &[]),
        ("no starting url", one(4, "Signed in."), &[(3, "NO_STARTING_URL")]),
        ("empty starting url", one(4, "Starting URL:"), &[(4, "NO_STARTING_URL")]),
        ("start url", one(4, "start URL: https://shop.example/"), &[(4, "LABEL_SHAPE")]),
        ("two starting urls", one(5, "Starting URL: https://b.example/"), &[(5, "STARTING_URL_TWICE")]),
        ("refused url", one(4, "Starting URL: https://evil.example/"), &[(4, "URL_REFUSED")]),
        ("refused scheme", one(4, "Starting URL: file:///etc/passwd"), &[(4, "URL_REFUSED")]),
        ("refused bare scheme", one(4, "Starting URL: javascript:alert(1)"), &[(4, "URL_REFUSED")]),
        ("url without scheme", one(4, "Starting URL: shop.example/a"), &[(4, "URL_SYNTAX")]),
        ("host and port", one(4, "Starting URL: localhost:3000/a"), &[(4, "URL_SYNTAX")]),
        ("url in brackets", one(4, "Starting URL: <https://shop.example/>"), &[(4, "URL_SYNTAX")]),
        ("url and text", one(4, "Starting URL: https://shop.example/ (signed in)"), &[(4, "URL_SYNTAX")]),
        ("url with password", one(4, "Starting URL: https://a:b@shop.example/"), &[(4, "URL_CREDENTIALS")]),
        ("input in the url", one(4, "Starting URL: https://shop.example/{{city}}?q={{city}}"), &[]),
        ("input as the url", one(4, "Starting URL: {{city}}"), &[]),
        (
            "default that is refused",
            with(&[(4, &["Starting URL: https://{{city}}/"]), (7, &["- city (default evil.example)"])]),
            &[(4, "URL_REFUSED")],
        ),
        (
            "sensitive input in the url",
            with(&[(4, &["Starting URL: https://shop.example/{{city}}"]), (7, &["- city (sensitive)"])]),
            &[(4, "SENSITIVE_PLACE")],
        ),
        ("unfilled url", one(4, "Starting URL: {{a}}/shop/"), &[(4, "UNFILLED_PLACEHOLDER")]),
        ("unfilled in a step", one(14, "Open {{b}}/x."), &[(14, "UNFILLED_PLACEHOLDER")]),
        (
            "all forms of inputs",
            with(&[
                (
                    7,
                    &[
                        "- city (default Berlin (Mitte), sensitive)",
                        "- b (sensitive, default \"x, \\\"y\\\" \\\\\")",
                        "- c-d (sensitive, secret shop.pass_word)",
                        "- e (secret x)",
                        "- f (default 5\" screen)",
                    ],
                ),
                (14, &["Type {{b}}, {{c-d}}, {{e}}, {{f}}."]),
            ]),
            &[],
        ),
        ("input without mark", one(7, "city"), &[(7, "INPUT_SYNTAX")]),
        ("input with a text", one(7, "- city: where to go"), &[(7, "INPUT_SYNTAX")]),
        ("input in braces", one(7, "- {{city}}"), &[(7, "INPUT_SYNTAX")]),
        ("input open", one(7, "- city (default x"), &[(7, "INPUT_SYNTAX")]),
        ("default with comma", one(7, "- city (default a, b)"), &[(7, "INPUT_SYNTAX")]),
        ("default twice", one(7, "- city (default a, default b)"), &[(7, "INPUT_SYNTAX")]),
        ("default without end", one(7, "- city (default \"a)"), &[(7, "INPUT_SYNTAX")]),
        ("default and secret", one(7, "- city (default a, secret b)"), &[(7, "INPUT_SYNTAX")]),
        ("secret as default", one(7, "- city (default {{secret:a}})"), &[(7, "INPUT_SYNTAX")]),
        ("input twice", with(&[(7, &["- city", "- City"])]), &[(8, "INPUT_TWICE")]),
        ("no inputs", without(&[7]), &[(6, "EMPTY_SECTION"), (10, "INPUT_UNDECLARED")]),
        ("input unused", with(&[(7, &["- city", "- date"])]), &[(8, "INPUT_UNUSED")]),
        ("result empty", without(&[23]), &[(22, "EMPTY_SECTION")]),
        ("schema", with(&[(23, &["Data:", "```json", "{\"type\": \"object\"}", "```"])]), &[]),
        ("schema alone", with(&[(23, &["```json", "{}", "```"])]), &[]),
        ("schema is a list", with(&[(23, &["```json", "[1]", "```"])]), &[(23, "RESULT_SCHEMA")]),
        ("schema is broken", with(&[(23, &["```json", "{", "\"a\": }", "```"])]), &[(25, "RESULT_SCHEMA")]),
        ("schema is empty", with(&[(23, &["```json", "```"])]), &[(24, "RESULT_SCHEMA")]),
        ("schema without language", with(&[(23, &["```", "{\"a\": 1}", "```"])]), &[(23, "RESULT_SCHEMA")]),
        ("two schemas", with(&[(23, &["```json", "{}", "```", "```json", "{}", "```"])]), &[(26, "RESULT_SCHEMA")]),
        (
            "schema of unknown type",
            with(&[(23, &["```json", "{\"type\": \"strin\"}", "```"])]),
            &[(23, "RESULT_SCHEMA")],
        ),
        (
            "schema with an inner type",
            with(&[(23, &["```json", "{\"properties\": {\"a\": {\"type\": 5}}}", "```"])]),
            &[(23, "RESULT_SCHEMA")],
        ),
        (
            "schema that is not checked",
            with(&[(23, &["```json", "{\"pattern\": \"x\"}", "```"])]),
            &[(23, "RESULT_SCHEMA")],
        ),
        (
            "schema that names nothing",
            with(&[(23, &["```json", "{\"required\": [\"a\"]}", "```"])]),
            &[(23, "RESULT_SCHEMA")],
        ),
        ("schema with a list", with(&[(23, &["```json", "{\"items\": \"string\"}", "```"])]), &[(23, "RESULT_SCHEMA")]),
        ("placeholder in a schema", with(&[(23, &["```json", "{\"const\": \"{{x}}\"}", "```"])]), &[]),
    ]);
}

#[test]
fn messages_say_exactly_what_to_write() {
    let cases = [
        ("##Step 1: Find it", "write `## Step 1: Find it`"),
        ("### Step 1: Find it", "write `## Step 1: Find it`"),
        ("## step 1 - Find it", "write `## Step 1: Find it`"),
        ("## Step 7: Find it", "write `## Step 1: Find it`"),
        ("##Step 1", "write `## Step 1: <title>`"),
    ];
    for (heading, wanted) in cases {
        let found = problems(&one(9, heading), None);
        assert!(found.iter().any(|problem| problem.line == 9 && problem.message.contains(wanted)), "{found:#?}");
    }
    let message = |text: &str| problems(text, None).first().map(|problem| problem.message.clone()).unwrap();
    assert!(message(&one(14, "a\u{202e}b")).contains("remove U+202E at column 2"));
    assert!(message(&one(10, "**Keywords:** main-search button")).contains("write `**Keywords:** main-search`"));
    assert!(message(&one(11, "Type {{ctiy}}.")).contains("write `{{city}}`"));
    assert!(message(&one(20, "{{step2.prize}}")).contains("write `{{step2.price}}`"));
    assert!(message(&one(14, "{{ city }}")).contains("write `{{city}}`"));
    assert!(message(&one(7, "- city (default a, b)")).contains("`(default \"a, b\")`"));
    assert!(message(&one(4, "Starting URL: shop.example/a")).contains("`https://shop.example/a`"));
    assert!(
        message(&one(4, "Starting URL: https://evil.example/")).contains("the host evil.example is blocked; write")
    );
    assert!(message(&one(1, "# Buy it")).contains("write `# Workflow: Buy it`"));
    assert!(message(&one(14, "if shown, press \"x\".")).contains("write `If shown: press \"x\".`"));
    assert!(message(&one(3, "### prerequisite")).contains("write `## Prerequisites`"));
}

#[test]
fn problems_are_sorted_and_limited() {
    let many = one(14, &"Click {{x1}}.\n".repeat(80));
    let found = problems(&many, None);
    assert_eq!(found.len(), cdpilot_server::routine::MAX_PROBLEMS);
    assert!(found.is_sorted_by_key(|problem| problem.line));
    assert_eq!(found[0].to_string(), format!("line 14: {} (INPUT_UNDECLARED)", found[0].message));
    assert_eq!(serde_json::to_value(&found[0]).unwrap()["code"], "INPUT_UNDECLARED");
}

#[test]
fn several_problems_are_reported_at_once() {
    let text = with(&[
        (4, &["Starting URL: https://evil.example/"]),
        (9, &["##Step 1: Search"]),
        (10, &["**Keywords:** link"]),
        (20, &["Compare {{step2.prize}} of element e3 \u{200b}."]),
    ]);
    let expected = [
        (4, "URL_REFUSED"),
        (9, "HEADING_SHAPE"),
        (10, "KEYWORD_GENERIC"),
        (20, "ELEMENT_ID"),
        (20, "HIDDEN_CHARACTERS"),
        (20, "VALUE_UNKNOWN"),
    ];
    assert_problems("several", &text, None, &expected);
    assert_eq!(normalise(&text), text, "problems leave the text as it is");
}
