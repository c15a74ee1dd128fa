//! Commands to the page layer: seeing what a tab shows, and acting on it.

use serde_json::{Map, Value, json};

use super::super::failure::Failure;
use crate::page::{Act, Error, SnapshotOptions, Tab};
use crate::sync::Deadline;

/// A command to one tab.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OnTab {
    /// A snapshot.
    See(Box<SnapshotOptions>),
    /// An action.
    Act(Box<Act>),
}

/// The words for it.
pub(super) const HELP: [(&str, &str); 7] = [
    (
        "see [interactive] [compact] [urls] [fold] [diff]",
        "what the tab shows, with refs; as JSON all that a snapshot takes",
    ),
    ("act {\"kind\": …}", "any action, as JSON: {\"cmd\": \"act\", \"kind\": \"click\", \"ref\": \"e12\"}"),
    ("click REF", "click what a ref stands for; with a selector as JSON"),
    ("hover REF", "move the mouse over it"),
    ("type REF TEXT", "put a text into it, in place of what is there"),
    ("press KEY", "press a key or a chord: Enter, Control+a"),
    ("choose REF VALUE", "choose an option by value or label"),
];

/// Reads one from words; `None` for another word.
pub(super) fn from_words(word: &str, rest: &str) -> Option<Result<OnTab, String>> {
    let usage = |usage: &str| Err(format!("usage: {usage}"));
    let (first, text) = rest.split_once(char::is_whitespace).map_or((rest, ""), |(a, b)| (a, b.trim_start()));
    let act = |value: Value| match Act::parse(value) {
        Ok(act) => Ok(OnTab::Act(Box::new(act))),
        Err(error) => Err(error.to_string()),
    };
    Some(match word {
        "see" => see(rest),
        "act" => match serde_json::from_str(rest) {
            Ok(value) => act(value),
            Err(problem) => Err(format!("not a JSON object: {problem}")),
        },
        "click" | "hover" if first.is_empty() => usage("click REF"),
        "click" | "hover" => act(json!({ "kind": word, "ref": first })),
        "type" if text.is_empty() => usage("type REF TEXT"),
        "type" => act(json!({ "kind": "type", "ref": first, "text": text })),
        "press" if first.is_empty() => usage("press KEY"),
        "press" => act(json!({ "kind": "press", "key": first })),
        "choose" if text.is_empty() => usage("choose REF VALUE"),
        "choose" => act(json!({ "kind": "select", "ref": first, "values": [text] })),
        _ => return None,
    })
}

fn see(words: &str) -> Result<OnTab, String> {
    let mut options = SnapshotOptions::default();
    for word in words.split_whitespace() {
        match word {
            "interactive" => options.interactive = true,
            "compact" => options.compact = true,
            "urls" => options.urls = true,
            "fold" => options.fold = true,
            "diff" => options.diff = true,
            _ => return Err(format!("unknown word `{word}`; usage: {}", HELP[0].0)),
        }
    }
    Ok(OnTab::See(Box::new(options)))
}

/// Whether a JSON command is one of these.
pub(super) fn knows(name: &str) -> bool {
    matches!(name, "see" | "act")
}

/// Reads one from a JSON object without its `cmd`, and the tab it is for.
pub(super) fn from_json(name: &str, mut map: Map<String, Value>) -> Result<(OnTab, Option<String>), String> {
    let target = match map.remove("target") {
        None => None,
        Some(Value::String(target)) => Some(target),
        Some(_) => return Err("target is not a text".to_owned()),
    };
    let value = Value::Object(map);
    let read = if name == "see" {
        serde_json::from_value(value).map(|options| OnTab::See(Box::new(options))).map_err(|e| e.to_string())
    } else {
        Act::parse(value).map(|act| OnTab::Act(Box::new(act))).map_err(|e| e.to_string())
    };
    read.map(|command| (command, target))
}

impl OnTab {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::See(_) => "see",
            Self::Act(_) => "act",
        }
    }

    /// Carries it out.
    pub(super) fn run(&self, tab: &Tab, deadline: Deadline) -> Result<Map<String, Value>, Failure> {
        let told = match self {
            Self::See(options) => serde_json::to_value(tab.snapshot(options, deadline)?),
            Self::Act(act) => serde_json::to_value(tab.act(act, act.deadline(deadline))?),
        };
        match told {
            Ok(Value::Object(map)) => Ok(map),
            Ok(_) => Ok(Map::new()),
            Err(problem) => Err(Error::BadRequest { problem: problem.to_string() }.into()),
        }
    }
}
