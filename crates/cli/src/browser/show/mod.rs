//! Prints answers as text. Content of pages is made safe for terminals.

mod acts;
mod browser;
mod dialogs;
mod pages;
mod requests;
mod routes;
mod stored;

use serde_json::Value;

use super::super::output::{Out, clean, one_line};

pub(super) use acts::{acted, batch, download, entered, evaluated, highlighted, navigated, result};
pub(super) use browser::{
    closed, deleted_profile, focused, labelled, made, opened, profiles, rescued, reset, status, stopped, tabs,
};
pub(super) use dialogs::{answer_with, answered, answered_with_text, dialogs, disarmed, line as dialog, pending};
pub(super) use pages::{
    aria_lines, console, errors, event, found, frames, got, got_attribute, got_value, path, picture, snapshot, text,
    uploaded,
};
pub(super) use requests::{archive, request, requests};
pub(super) use routes::{route_added, routes};
pub(super) use stored::{
    added, cookies, deleted_cookies, deleted_routes, emulated, imported, item, items, state_loaded, state_saved,
};

/// Maximum width of a table column, characters.
const WIDEST: usize = 60;

/// A field as one line of text; empty when it is missing.
pub(super) fn word(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::Null => String::new(),
        Value::String(text) => one_line(text),
        other => other.to_string(),
    }
}

fn is(value: &Value, name: &str) -> bool {
    value[name].as_bool() == Some(true)
}

pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Truncates text to `most` characters.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Prints a table. Empty columns are omitted, and the last column is not truncated.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>], out: &Out) {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let last = heads.len().saturating_sub(1);
    let used: Vec<(usize, usize)> = (0..heads.len())
        .filter_map(|column| Some((column, width(column).filter(|width| *width > 0)?)))
        .map(|(column, width)| (column, if column == last { width } else { width.min(WIDEST) }))
        .map(|(column, width)| (column, width.max(heads[column].chars().count())))
        .collect();
    let line = |cells: &[String]| {
        let cells = used.iter().map(|(column, width)| {
            let cell = cells.get(*column).map(String::as_str).unwrap_or_default();
            if *column == last { cell.to_owned() } else { format!("{:width$}  ", short(cell, *width), width = *width) }
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    if !out.quiet {
        let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
        out.line(&out.style.dim(&line(&heads)));
    }
    rows.iter().for_each(|row| out.line(&line(row)));
}

/// Prints names and values, one pair per line. Empty values are omitted.
fn pairs(pairs: &[(&str, String)], out: &Out) {
    let there = || pairs.iter().filter(|(_, value)| !value.is_empty());
    let width = there().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    there().for_each(|(name, value)| out.line(&format!("{}  {value}", out.style.dim(&format!("{name:width$}")))));
}

/// Prints a line, unless `--quiet`.
pub(super) fn note(line: &str, out: &Out) {
    if !out.quiet {
        out.line(line);
    }
}

/// Prints text of a page, with a line break at its end.
fn whole(text: &str, out: &Out) {
    let text = clean(text);
    if !text.is_empty() {
        out.text(&text);
        if !text.ends_with('\n') {
            out.text("\n");
        }
    }
}

/// Prints a value: strings as text, anything else as JSON.
fn plainly(value: &Value, out: &Out) {
    match value {
        Value::String(text) => whole(text, out),
        Value::Array(_) | Value::Object(_) => whole(&serde_json::to_string_pretty(value).unwrap_or_default(), out),
        other => out.line(&other.to_string()),
    }
}
