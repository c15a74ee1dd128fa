//! A valid text, ways to change it, and the comparison of its problems.

use std::collections::BTreeSet;

use cdpilot_server::routine::{Context, Problem, StepEvents, check};

/// A text without problems; the cases change some of its lines.
pub(crate) const VALID: &str = r#"# Workflow: Buy a ticket

## Prerequisites
Starting URL: https://shop.example/

## Inputs
- city

## Step 1: Search
**Keywords:** main-search
Type "{{city}}" into the search field.

## Step 2: Open the first result
Click the first result.
Read price: the price below the title.

**Reasoning:** The list is sorted by date.

## Step 3: Report
Compare {{step2.price}} with the budget.

## Result
The price.
"#;

/// Replaces lines of the valid text; an empty list removes the line.
pub(crate) fn with(changes: &[(usize, &[&str])]) -> String {
    let mut text = String::new();
    for (i, line) in VALID.lines().enumerate() {
        match changes.iter().find(|(number, _)| *number == i + 1) {
            Some((_, lines)) => lines.iter().for_each(|line| text.extend([*line, "\n"])),
            None => text.extend([line, "\n"]),
        }
    }
    text
}

pub(crate) fn one(line: usize, changed: &str) -> String {
    with(&[(line, &[changed])])
}

pub(crate) fn without(lines: &[usize]) -> String {
    with(&lines.iter().map(|line| (*line, &[][..])).collect::<Vec<_>>())
}

/// The policy of the cases: only `https` and not `evil.example`.
pub(crate) fn admits(address: &str) -> Result<(), String> {
    match address {
        _ if address.contains("evil.example") => Err("the host evil.example is blocked".to_owned()),
        _ if !address.starts_with("https://") => Err("only https addresses are admitted.".to_owned()),
        _ => Ok(()),
    }
}

pub(crate) fn problems(text: &str, events: Option<&StepEvents>) -> Vec<Problem> {
    check(text, &Context { admits: &admits, events }).err().unwrap_or_default()
}

/// Compares lines and codes, and checks the form of each message.
#[track_caller]
pub(crate) fn assert_problems(name: &str, text: &str, events: Option<&StepEvents>, expected: &[(usize, &str)]) {
    let problems = problems(text, events);
    let found: Vec<(usize, &str)> = problems.iter().map(|problem| (problem.line, problem.code)).collect();
    let begin: String = text.chars().take(2_000).collect();
    assert_eq!(found, expected, "{name}: {problems:#?}\n{begin}");
    for problem in &problems {
        let message = &problem.message;
        assert!(message.contains("write ") || message.contains("remove "), "{name}: no remedy in {message:?}");
        assert!(message.contains("; "), "{name}: no reason in {message:?}");
        assert!(!message.ends_with(['.', ' ', ':', ';']) && !message.contains('\n'), "{name}: form of {message:?}");
        assert!(!message.starts_with(char::is_uppercase), "{name}: form of {message:?}");
        assert!(message.chars().count() < 700, "{name}: length of {message:?}");
    }
}

pub(crate) type Case = (&'static str, String, &'static [(usize, &'static str)]);

pub(crate) fn assert_table(cases: &[Case]) {
    let names: BTreeSet<&str> = cases.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names.len(), cases.len(), "each case has a name of its own");
    for (name, text, expected) in cases {
        assert_problems(name, text, None, expected);
    }
}
