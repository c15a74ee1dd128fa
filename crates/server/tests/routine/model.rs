//! What a routine consists of, and what is made from it: print, fill, digests, secrets, differences.

use std::collections::BTreeMap;

use crate::routine_texts::{VALID, one, with};
use cdpilot_server::routine::{
    Context, Difference, DifferenceKind, InstructionKind, PlaceholderKind, Routine, address, check, differences, fill,
    normalise, parse, placeholders, secrets_used, unified,
};

#[track_caller]
fn parsed(text: &str) -> Routine {
    let routine = parse(text);
    assert!(routine.is_ok(), "{routine:#?}\n{text}");
    routine.unwrap_or_else(|_| unreachable!())
}

/// A text with everything that a routine can have.
const FULL: &str = r#"# Workflow: Order a book

## Prerequisites

**Starting URL:** https://shop.example/{{country}}/?q={{title}}
- Signed in as {{user}}.

The cart is empty.

## Inputs

- title
- country (default "de, at")
- user (secret account)
- note (default old note, sensitive)

## Step 1: Find {{title}}
**Keywords:** search.box

Type "{{title}}" and
press Enter.
If shown: accept the cookies.
- Read price: the number
  below the title
  | a | b |
1. For each result, press "+".

```js
## Step 2: text

{{title}}
```
Then wait.

**Reasoning:** It is quick,
and cheap.


## Step 2: Pay
Type {{secret:card.no}} and {{note}}, if it is below {{step1.price}}.

## Result

What was ordered.

```json
{"type": "object",
 "properties": {"title": {"const": "{{title}}"}}}
```

In one line.
"#;

#[test]
fn all_parts_are_parsed() {
    let admits = |_: &str| Ok(());
    let routine = check(FULL, &Context { admits: &admits, events: None }).unwrap();
    assert_eq!(routine.goal, "Order a book");
    assert_eq!(routine.prerequisites, ["- Signed in as {{user}}.", "The cart is empty."]);
    assert_eq!(routine.starting_url, "https://shop.example/{{country}}/?q={{title}}");
    let inputs = serde_json::to_value(&routine.inputs).unwrap();
    let expected = serde_json::json!([
        { "name": "title", "sensitive": false },
        { "name": "country", "default": "de, at", "sensitive": false },
        { "name": "user", "sensitive": true, "secret": "account" },
        { "name": "note", "default": "old note", "sensitive": true },
    ]);
    assert_eq!(inputs, expected);
    assert_eq!(routine.inputs[1].line, 13);
    let [find, pay] = &routine.steps[..] else { panic!("two steps") };
    assert_eq!((find.n, find.title.as_str(), find.line), (1, "Find {{title}}", 17));
    assert_eq!((find.keyword.as_deref(), find.keyword_line()), (Some("search.box"), 18));
    assert_eq!(find.reasoning.as_deref(), Some("It is quick,\nand cheap."));
    let read = InstructionKind::Read { name: "price".to_owned() };
    let code = "```js\n## Step 2: text\n\n{{title}}\n```";
    let expected = [
        (20, InstructionKind::Plain, "Type \"{{title}}\" and\npress Enter.", "Type \"{{title}}\" and\npress Enter."),
        (22, InstructionKind::IfShown, "If shown: accept the cookies.", "accept the cookies."),
        (
            23,
            read,
            "- Read price: the number\n  below the title\n  | a | b |",
            "the number\n  below the title\n  | a | b |",
        ),
        (26, InstructionKind::ForEach, "1. For each result, press \"+\".", "For each result, press \"+\"."),
        (28, InstructionKind::Plain, code, code),
        (33, InstructionKind::Plain, "Then wait.", "Then wait."),
    ];
    let found = find.instructions.iter().map(|i| (i.line, i.kind.clone(), i.text.as_str(), i.body()));
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!((pay.n, pay.keyword.as_deref(), pay.reasoning.as_deref()), (2, None, None));
    assert_eq!(pay.keyword_line(), pay.line);
    assert!(!find.is_list() && parsed(&one(14, "For each result, press \"+\".")).steps[1].is_list());
    let result = routine.result.as_ref().unwrap();
    assert_eq!(result.text, "What was ordered.\n\n\nIn one line.");
    assert_eq!(result.schema.as_ref().unwrap()["type"], "object");
    assert_eq!(routine.to_string(), FULL);
    assert_eq!(secrets_used(&routine), ["account", "card.no"]);
}

#[test]
fn golden_routines_are_valid_once_they_are_filled_in() {
    for text in [
        include_str!("../../../../eval/routines/finviz_filter_simple.md"),
        include_str!("../../../../eval/routines/techforum_upvote.md"),
    ] {
        assert_eq!(parsed(text).to_string(), text);
        let admits = |address: &str| match address.starts_with("http://127.0.0.1:16605/") {
            true => Ok(()),
            false => Err(format!("{address} is another site")),
        };
        let context = Context { admits: &admits, events: None };
        let unfilled: Vec<&str> = check(text, &context).unwrap_err().iter().map(|problem| problem.code).collect();
        assert_eq!(unfilled, ["UNFILLED_PLACEHOLDER"]);
        let filled = text.replace("{{a}}", "http://127.0.0.1:16605");
        assert_eq!(check(&filled, &context).map_err(|problems| problems.len()), Ok(parsed(&filled)));
    }
}

#[test]
fn normal_form() {
    let cases = [
        ("", "\n"),
        ("a", "a\n"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("\u{feff}a \t\n\n \n", "a\n"),
        ("\n\n a\u{a0}\n", "\n\n a\u{a0}\n"),
    ];
    for (text, normal) in cases {
        assert_eq!(normalise(text), normal);
        assert_eq!(normalise(normal), normal);
    }
    let windows = format!("\u{feff}{}\r\n\r\n", FULL.replace('\n', " \r\n"));
    assert_eq!(parsed(&windows).to_string(), FULL);
    assert_eq!(parsed(&windows), parsed(FULL));
}

#[test]
fn inputs_are_filled_in() {
    let routine = parsed(FULL);
    let values = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let filled = fill(&routine, &values(&[("title", "War &\r\nPeace"), ("note", "n0te"), ("user", "me")]));
    assert!(filled.contains("https://shop.example/de%2C%20at/?q=War%20%26%0D%0APeace\n"), "{filled}");
    assert!(filled.contains("## Step 1: Find War & Peace\n") && filled.contains("\nWar & Peace\n```"), "{filled}");
    assert!(filled.contains("Signed in as {{user}}.") && filled.contains("{{secret:card.no}} and {{note}}"));
    assert!(filled.contains("- note (sensitive)\n") && !filled.contains("old note") && !filled.contains("n0te"));
    assert!(filled.contains("{\"const\": \"{{title}}\"}") && filled.contains("{{step1.price}}"));
    assert_eq!(filled.lines().count(), FULL.lines().count());
    assert!(fill(&routine, &values(&[])).contains("Find {{title}}\n"));
    assert_eq!(
        address(&routine, &values(&[("title", "x"), ("country", "a/../b")])),
        "https://shop.example/a%2F..%2Fb/?q=x"
    );
}

#[test]
fn values_cannot_change_the_routine() {
    let text = with(&[(7, &["- city", "- b"]), (14, &["{{city}}", "", "{{city}}{{b}} and {{b}}{secret:x}"])]);
    let routine = parsed(&text);
    for city in
        ["## Step 9: Pay", "```", "~~~", "**Keywords:** pay", "a\n## Step 9: Pay", "{{secret:bank}}", "{", "{{{"]
    {
        for b in ["{secret:bank}}", "{", "{{b}}", "#"] {
            let values = BTreeMap::from([("city".to_owned(), city.to_owned()), ("b".to_owned(), b.to_owned())]);
            let filled = fill(&routine, &values);
            assert!(!filled.contains("{{secret"), "{city:?} {b:?}\n{filled}");
            let again = parsed(&filled);
            assert_eq!(again.steps.len(), 3);
            assert_eq!(again.steps[1].keyword, None);
            assert_eq!(placeholders(&filled).len(), 1, "{city:?} {b:?}\n{filled}");
        }
    }
}

#[test]
fn placeholders_of_a_text() {
    let text = "{{a}} {{secret:B.c}} {{step12.x_y}}\n{{ a }} {{step0.x}} {{}} {a} }} {{open\n{{b}}";
    let found = placeholders(text);
    let kinds: Vec<_> = found.iter().map(|found| (found.kind.clone(), &text[found.range.clone()])).collect();
    let value = PlaceholderKind::Value { step: 12, name: "x_y".to_owned() };
    let expected = [
        (PlaceholderKind::Input("a".to_owned()), "{{a}}"),
        (PlaceholderKind::Secret("B.c".to_owned()), "{{secret:B.c}}"),
        (value, "{{step12.x_y}}"),
        (PlaceholderKind::Malformed, "{{ a }}"),
        (PlaceholderKind::Malformed, "{{step0.x}}"),
        (PlaceholderKind::Malformed, "{{}}"),
        (PlaceholderKind::Malformed, "{{open"),
        (PlaceholderKind::Input("b".to_owned()), "{{b}}"),
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn digests_tell_edits_of_a_step() {
    let digest = |text: &str| parsed(text).steps[1].digest();
    let digest_of_valid = digest(VALID);
    assert_eq!(digest_of_valid.len(), 16);
    assert_eq!(digest_of_valid, "1fdb34000d4fac73", "stored digests must stay valid");
    for same in [one(17, "**Reasoning:** Other."), one(10, "**Keywords:** other"), one(18, "\n")] {
        assert_eq!(digest(&same), digest_of_valid, "{same}");
    }
    let mut digests = vec![digest_of_valid];
    for edited in [
        one(13, "## Step 2: Open the last result"),
        one(13, "## Step 2: Open the first result\n**Keywords:** first"),
        one(14, "Click the last result."),
        one(14, "Click the first result.\n"),
        one(14, "Click the first result.\nWait."),
    ] {
        digests.push(digest(&edited));
    }
    let count = digests.len();
    digests.sort();
    digests.dedup();
    // A blank line between two instructions says nothing.
    assert_eq!(digests.len(), count - 1);
    let moved = with(&[
        (8, &["", "## Step 1: Wait", "Wait.", ""]),
        (9, &["## Step 2: Search"]),
        (13, &["## Step 3: Open the first result"]),
    ]);
    let moved = moved.replace("## Step 3: Report", "## Step 4: Report");
    assert_eq!(parsed(&moved).steps[2].digest(), digest(VALID), "the number is not part of it");
}

#[test]
fn differences_by_lines() {
    let row = |kind, old_line, new_line, text: &str| Difference { kind, old_line, new_line, text: text.to_owned() };
    let expected = [
        row(DifferenceKind::Same, Some(1), Some(1), "a"),
        row(DifferenceKind::Removed, Some(2), None, "b"),
        row(DifferenceKind::Added, None, Some(2), "B"),
        row(DifferenceKind::Same, Some(3), Some(3), "c"),
        row(DifferenceKind::Added, None, Some(4), "d"),
    ];
    assert_eq!(differences("a\nb\nc\n", "a\nB\nc\nd"), expected);
    assert_eq!(serde_json::to_value(DifferenceKind::Removed).unwrap(), "removed");
    assert_eq!(unified("a\nb\nc\n", "a\nB\nc\nd\n"), "--- old\n+++ new\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n");
    assert_eq!(unified("", "a\n"), "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!((unified(VALID, VALID), differences("", "")), (String::new(), Vec::new()));
    let far = unified(VALID, &with(&[(1, &["# Workflow: Sell"]), (23, &["The price, again."])]));
    assert_eq!(far.matches("@@ -").count(), 2, "{far}");
}

#[test]
fn very_different_texts_are_compared_quickly() {
    let text = |word: &str| format!("begin\n{}end\n", (0..6_000).map(|i| format!("{word}{i}\n")).collect::<String>());
    let rows = differences(&text("a"), &text("b"));
    assert_eq!(rows.len(), 12_002);
    assert_eq!(rows.iter().filter(|row| row.kind == DifferenceKind::Same).count(), 2);
}

#[test]
fn hostile_texts_are_refused_quickly() {
    let head = VALID.split("## Step 1").next().unwrap();
    for part in ["```a\n", "## Inputs\n", "{{x1}} ", "- i\n", "# a\n", "{{", "Read a: b\n{{step1.b}}\n", "~~~\n# x\n"] {
        let text = format!("{head}## Step 1: a\n{}", part.repeat(60_000 / part.len()));
        let admits = |_: &str| Ok(());
        let problems = check(&text, &Context { admits: &admits, events: None });
        assert!(problems.is_err_and(|problems| problems.len() <= cdpilot_server::routine::MAX_PROBLEMS));
    }
}
