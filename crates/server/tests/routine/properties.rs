//! Properties of parsing, printing and comparing, for generated texts.

use std::collections::BTreeMap;

use cdpilot_server::routine::{
    Context, DifferenceKind, MAX_PROBLEMS, check, differences, fill, normalise, parse, placeholders, secrets_used,
    unified,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn admits(_: &str) -> Result<(), String> {
    Ok(())
}

fn context() -> Context<'static> {
    Context { admits: &admits, events: None }
}

/// Words that begin no heading, label or list item.
fn words() -> impl Strategy<Value = String> {
    "[A-Z][a-zé价]{1,8}( [a-z\"'(){}|*#0-9]{1,8}){0,5}".prop_filter("is text", |text| {
        let begins =
            ["For", "If", "Read", "Step", "Workflow", "Keyword", "Reasoning", "Input", "Output", "Requirements"];
        !begins.iter().any(|word| text.starts_with(word)) && !text.contains("{{")
    })
}

fn token() -> impl Strategy<Value = String> {
    select(&["main-search", "fs_cap", "Fundamental", "a.b", "Größe", "save"][..]).prop_map(str::to_owned)
}

fn blank_lines() -> impl Strategy<Value = String> {
    (0usize..3).prop_map(|count| "\n".repeat(count))
}

/// One block of a step: an instruction in one of its forms.
fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => words(),
        2 => (words(), words()).prop_map(|(a, b)| format!("{a}\n{b}")),
        1 => words().prop_map(|text| format!("If shown: {text}")),
        1 => words().prop_map(|text| format!("- For each row: {text}")),
        1 => words().prop_map(|text| format!("Read value: {text}")),
        1 => words().prop_map(|text| format!("- {text}\n- {text}\n  {text}")),
        1 => words().prop_map(|text| format!("| {text} |\n|---|")),
        1 => words().prop_map(|text| format!("```\n## Step 1: {text}\n\n# {text}\n```")),
        1 => words().prop_map(|text| format!("{text} {{{{first}}}} {{{{secret:a.b}}}}")),
    ]
}

fn step() -> impl Strategy<Value = String> {
    let blocks = prop::collection::vec(block(), 1..5);
    let keyword = prop::option::of(token());
    (words(), keyword, blocks, prop::option::of(words()), blank_lines()).prop_map(
        |(title, keyword, blocks, reasoning, end)| {
            let mut reads = false;
            let mut text = format!(": {title}\n");
            if let Some(keyword) = keyword {
                text.push_str(&format!("**Keywords:** {keyword}\n"));
            }
            for block in blocks {
                let is_read = block.starts_with("Read");
                if !(is_read && reads) {
                    text.push_str(&format!("\n{block}\n"));
                }
                reads |= is_read;
            }
            text.push_str("\nPress Enter.\n");
            if let Some(reasoning) = reasoning {
                text.push_str(&format!("\n**Reasoning:** {reasoning}\n"));
            }
            text + &end
        },
    )
}

/// A text that follows all rules.
fn valid() -> impl Strategy<Value = String> {
    let inputs = select(&["", " (default a b)", " (default \"a, b\")", " (sensitive)", " (sensitive, secret x.y)"][..]);
    let result = prop::option::of((words(), any::<bool>()));
    let steps = prop::collection::vec(step(), 1..6);
    (words(), words(), inputs, steps, result, blank_lines()).prop_map(|(goal, before, input, steps, result, blank)| {
        let mut text =
            format!("# Workflow: {goal}\n{blank}## Prerequisites\n{blank}- Starting URL: https://a.example/x\n");
        text.push_str(&format!("{before}\n\n## Inputs\n{blank}- first{input}\n"));
        for (i, step) in steps.iter().enumerate() {
            text.push_str(&format!("\n## Step {}{step}", i + 1));
        }
        text.push_str("Type {{first}}.\n");
        if text.contains("**Reasoning:**") {
            // The last line would follow the reasoning of the last step.
            text = text.replace("Type {{first}}.\n", "\n");
            text.push_str("\n## Result\nAbout {{first}}.\n");
        } else if let Some((words, has_schema)) = result {
            text.push_str(&format!("\n## Result\n{words}\n"));
            if has_schema {
                text.push_str("```json\n{\"type\": \"object\"}\n```\n");
            }
        }
        normalise(&text)
    })
}

#[derive(Debug, Clone)]
enum Edit {
    Delete(Index),
    Double(Index),
    Swap(Index, Index),
    Insert(Index, String),
    Cut(Index),
}

/// Lines that people and models write wrong.
const LINES: &[&str] = &[
    "## Step 2: Again",
    "##Step 1",
    "### Step 3: x",
    "## Inputs",
    "## Result",
    "# Title",
    "```",
    "~~~json",
    "```json",
    "**Keywords:** two words",
    "**Keywords:**",
    "**Reasoning:**",
    "Starting URL: x",
    "- name (default",
    "If shown:",
    "{{",
    "{{x}} {{step9.y}}",
    "For each",
    "Read a:",
    "\u{202e}",
    "\t",
    "[e12]",
    "## Notes",
    "#",
    "- ",
    "Step 4: x",
    "**",
    "Ω𝛀",
];

fn edit() -> impl Strategy<Value = Edit> {
    let line = prop_oneof![select(LINES).prop_map(str::to_owned), ".{0,20}"];
    prop_oneof![
        any::<Index>().prop_map(Edit::Delete),
        any::<Index>().prop_map(Edit::Double),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Edit::Swap(a, b)),
        (any::<Index>(), line).prop_map(|(at, line)| Edit::Insert(at, line)),
        any::<Index>().prop_map(Edit::Cut),
    ]
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for edit in edits {
        if lines.is_empty() {
            break;
        }
        let count = lines.len();
        match edit {
            Edit::Delete(at) => drop(lines.remove(at.index(count))),
            Edit::Double(at) => lines.insert(at.index(count), lines[at.index(count)].clone()),
            Edit::Swap(a, b) => lines.swap(a.index(count), b.index(count)),
            Edit::Insert(at, line) => lines.insert(at.index(count), line.clone()),
            Edit::Cut(at) => {
                let line = &mut lines[at.index(count)];
                let half = line.chars().count() / 2;
                *line = line.chars().take(half).collect();
            }
        }
    }
    lines.join("\n")
}

/// Either problems in order, or a routine that prints to the normal form and says the same when it is parsed again.
fn assert_consistent(text: &str) {
    let normal = normalise(text);
    assert_eq!(normalise(&normal), normal);
    match parse(text) {
        Ok(routine) => {
            assert_eq!(routine.to_string(), normal);
            assert_eq!(parse(&normal), Ok(routine.clone()));
            let numbers: Vec<u32> = routine.steps.iter().map(|step| step.n).collect();
            assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>());
            assert!(!routine.goal.is_empty() && !routine.starting_url.is_empty());
            assert!(routine.steps.iter().all(|step| !step.instructions.is_empty() && step.digest().len() == 16));
            assert_eq!(fill(&routine, &BTreeMap::new()).lines().count(), normal.lines().count());
            assert!(secrets_used(&routine).is_sorted());
        }
        Err(problems) => assert!(!problems.is_empty()),
    }
    match check(text, &context()) {
        Ok(routine) => assert_eq!(parse(text), Ok(routine)),
        Err(problems) => {
            assert!(!problems.is_empty() && problems.len() <= MAX_PROBLEMS);
            assert!(problems.is_sorted_by_key(|problem| problem.line));
            let lines = normal.lines().count().max(1);
            assert!(problems.iter().all(|problem| (1..=lines).contains(&problem.line)), "{problems:?}");
            assert!(problems.iter().all(|problem| !problem.message.contains('\n')));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn valid_texts_print_and_parse_back(text in valid()) {
        let routine = check(&text, &context());
        prop_assert!(routine.is_ok(), "{:#?}\n{}", routine, text);
        assert_consistent(&text);
        assert_consistent(&text.replace('\n', "\r\n"));
    }

    #[test]
    fn edited_texts_are_parsed_or_refused(text in valid(), edits in prop::collection::vec(edit(), 1..6)) {
        assert_consistent(&edited(&text, &edits));
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "(?s).{0,300}") {
        assert_consistent(&text);
    }

    #[test]
    fn any_lines_are_parsed_or_refused(lines in prop::collection::vec(select(LINES), 0..40)) {
        assert_consistent(&lines.join("\n"));
        assert_consistent(&format!("# Workflow: a\n## Prerequisites\nStarting URL: https://a.example\n{}", lines.join("\n")));
    }

    #[test]
    fn inserted_values_add_no_placeholder(text in valid(), value in "[{}a\r\n#`*: ]{0,12}|\\{\\{secret:a\\}\\}|(?s).{0,20}") {
        let routine = parse(&text).unwrap();
        let filled = fill(&routine, &BTreeMap::from([("first".to_owned(), value)]));
        prop_assert_eq!(filled.lines().count(), text.lines().count());
        prop_assert!(placeholders(&filled).len() <= placeholders(&text).len(), "{}", filled);
        if let Ok(again) = parse(&filled) {
            prop_assert_eq!(again.steps.len(), routine.steps.len());
        }
    }

    #[test]
    fn differences_give_both_texts(text in valid(), edits in prop::collection::vec(edit(), 0..6)) {
        let new = edited(&text, &edits);
        let rows = differences(&text, &new);
        let without = |kind| rows.iter().filter(|row| row.kind != kind).map(|row| row.text.as_str()).collect::<Vec<_>>();
        prop_assert_eq!(without(DifferenceKind::Added), text.lines().collect::<Vec<_>>());
        prop_assert_eq!(without(DifferenceKind::Removed), new.lines().collect::<Vec<_>>());
        prop_assert!(rows.iter().filter_map(|row| row.old_line).eq(1..=text.lines().count()));
        prop_assert!(rows.iter().filter_map(|row| row.new_line).eq(1..=new.lines().count()));
        prop_assert_eq!(unified(&text, &new).is_empty(), text.lines().eq(new.lines()));
    }
}
