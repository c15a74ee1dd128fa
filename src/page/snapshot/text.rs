//! The `ai` format: one line per node, indented by two spaces per level.
//!
//! A page cannot forge lines: names are quoted as JSON, and so are values and texts with control characters.

use std::fmt::Write as _;

use serde_json::Value;

use super::collect::{Item, gets_ref};
use super::fold::lifted;
use super::tree::NodeDetails;

/// A line of the text.
pub(super) struct Line<'a> {
    item: &'a Item,
    /// The only text inside the element, shown on the same line.
    inner: Option<&'a str>,
}

impl<'a> Line<'a> {
    pub(super) fn item(&self) -> &'a Item {
        self.item
    }
}

/// The lines of a snapshot. An element that only contains text shares its line with it.
pub(super) fn lines(items: &[Item]) -> Vec<Line<'_>> {
    let mut lines = Vec::with_capacity(items.len());
    let mut at = 0;
    while let Some(item) = items.get(at) {
        at += 1;
        let mut inner = None;
        if &*item.role != "text"
            && item.folded == 0
            && item.more.as_ref().is_none_or(|more| more.value.is_none())
            && let Some(only) = items.get(at)
            && &*only.role == "text"
            && only.depth == item.depth + 1
            && items.get(at + 1).is_none_or(|next| next.depth <= item.depth)
        {
            inner = Some(&*only.name);
            at += 1;
        }
        lines.push(Line { item, inner });
    }
    lines
}

/// The items without the focus, and the same items with the focus marked; `None` when none has the focus. Items that
/// exist only because of the focus are left out of both.
pub(super) fn without_focus(items: &[Item]) -> Option<(Vec<Item>, Vec<Item>)> {
    let active = |item: &Item| item.more.as_ref().is_some_and(|more| more.active);
    if !items.iter().any(active) {
        return None;
    }
    let calm = |item: &Item| {
        let name = if item.is_named_by_focus() { "".into() } else { item.name.clone() };
        let more =
            item.more.as_ref().map(|more| Box::new(NodeDetails { active: false, by_focus: false, ..(**more).clone() }));
        let has_ref = item.has_ref && (item.folded > 0 || gets_ref(&item.role, &name, more.as_deref()));
        Item { name, has_ref, more, ..item.clone() }
    };
    let only_focused = |item: &Item| active(item) && &*item.role == "generic" && !calm(item).has_ref;
    let kept = lifted(items.to_vec(), |item| !only_focused(item), |_| true);
    let calm: Vec<Item> = kept.iter().map(calm).collect();
    let shown = kept.into_iter().zip(&calm).map(|(item, calm)| Item { has_ref: calm.has_ref, ..item }).collect();
    Some((calm, shown))
}

/// Writes the lines.
pub(super) fn written(lines: &[Line<'_>], reference: impl Fn(&Item) -> Option<u32>) -> String {
    let mut text = String::with_capacity(lines.len() * 48);
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        write_line(&mut text, line, reference(line.item));
    }
    text
}

fn write_line(out: &mut String, line: &Line<'_>, reference: Option<u32>) {
    let item = line.item;
    for _ in 0..item.depth {
        out.push_str("  ");
    }
    out.push_str("- ");
    if item.folded > 0 {
        let _ = write!(out, "{} more like these", item.folded);
    } else if &*item.role == "text" {
        out.push_str("text: ");
        push_value(out, &item.name);
        return;
    } else {
        out.push_str(&item.role);
        // The content follows anyway.
        if !item.name.is_empty() && !item.is_named_by_focus() {
            out.push(' ');
            push_quoted(out, &item.name);
        }
    }
    if let Some(number) = reference {
        let _ = write!(out, " [ref=e{number}]");
    }
    if item.folded > 0 {
        return;
    }
    if let Some(more) = &item.more {
        push_states(out, more);
    }
    let value = item.more.as_ref().and_then(|more| more.value.as_deref()).or(line.inner);
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        out.push_str(": ");
        push_value(out, value);
    }
}

fn push_states(out: &mut String, more: &NodeDetails) {
    push_token(out, "checked", more.checked.as_ref());
    push_flag(out, "disabled", more.disabled);
    match more.expanded {
        Some(true) => out.push_str(" [expanded]"),
        Some(false) => out.push_str(" [expanded=false]"),
        None => {}
    }
    push_token(out, "pressed", more.pressed.as_ref());
    push_flag(out, "selected", more.selected == Some(true));
    push_flag(out, "active", more.active);
    push_flag(out, "required", more.required);
    push_token(out, "invalid", more.invalid.as_ref());
    if let Some(level) = more.level {
        let _ = write!(out, " [level={level}]");
    }
    if more.cursor {
        out.push_str(" [cursor=pointer]");
    }
    if let Some(url) = &more.url {
        push_mark(out, "url=", url);
    }
    if let Some(hint) = &more.hint {
        push_mark(out, "", hint);
    }
}

/// A state with a text of the page, which cannot end it.
fn push_mark(out: &mut String, start: &str, text: &str) {
    out.push_str(" [");
    out.push_str(start);
    out.extend(text.chars().filter(|c| !breaks_lines(*c) && !matches!(c, '[' | ']')));
    out.push(']');
}

fn push_flag(out: &mut String, name: &str, on: bool) {
    if on {
        let _ = write!(out, " [{name}]");
    }
}

/// `true` is written as a flag, a string with its value, `false` not at all.
fn push_token(out: &mut String, name: &str, value: Option<&Value>) {
    match value {
        Some(Value::Bool(true)) => push_flag(out, name, true),
        Some(Value::String(word)) if word == "true" => push_flag(out, name, true),
        Some(Value::String(word)) if word != "false" && !word.is_empty() => {
            let word: String = word.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(20).collect();
            let _ = write!(out, " [{name}={word}]");
        }
        _ => {}
    }
}

fn push_quoted(out: &mut String, text: &str) {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    for c in quoted.chars() {
        // JSON does not escape these.
        if breaks_lines(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
}

fn push_value(out: &mut String, text: &str) {
    if text.chars().any(breaks_lines) { push_quoted(out, text) } else { out.push_str(text) }
}

/// Whether a reader may take a character for a line break, or a terminal for a control sequence.
fn breaks_lines(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A first line of at most this length is kept whatever the limit, so that reading on always makes progress.
const FIRST_LINE: usize = 400;

/// Cuts at whole lines to at most `max` characters including the last line, which reports it. Returns whether something
/// was cut.
pub(super) fn cut(text: String, max: usize, skipped: usize) -> (String, bool) {
    if max == 0 || text.len() <= max || text.chars().count() <= max {
        return (text, false);
    }
    let all = text.lines().count() + skipped;
    let note = |kept: usize| format!("[truncated: {kept} of {all} lines]");
    let room = max.saturating_sub(note(all).len() + 1);
    let (mut kept, mut used, mut end) = (0, 0, 0);
    for line in text.split_inclusive('\n') {
        used += line.chars().count();
        if used > room && (kept > 0 || used > FIRST_LINE) {
            break;
        }
        kept += 1;
        end += line.len();
    }
    let mut text = text;
    text.truncate(end);
    text.push_str(&note(kept));
    (text, true)
}

/// A text without its first lines.
pub(super) fn after(text: String, lines: usize) -> String {
    match lines {
        0 => text,
        _ if lines >= text.lines().count() => {
            let all = text.lines().count();
            format!("[offset {lines} is beyond the end ({all} lines)]")
        }
        _ => text.split_inclusive('\n').skip(lines).collect(),
    }
}

/// The refs in a text. A page can write something similar into its texts, so these may be more than exist.
pub(super) fn refs(text: &str) -> impl Iterator<Item = &str> {
    text.split("[ref=").skip(1).filter_map(|rest| rest.split_once(']').map(|(reference, _)| reference))
}
