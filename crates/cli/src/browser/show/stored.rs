//! Cookies, storage, login states, emulation.

use serde_json::Value;

use super::super::super::output::Out;
use super::{is, list, note, pending, short, table, whole, word};

pub(in super::super) fn cookies(value: &Value, out: &Out) {
    let cookies = list(value, "cookies");
    if cookies.is_empty() {
        return note("no cookies", out);
    }
    let row = |cookie: &Value| {
        let mut marks = Vec::new();
        marks.extend(is(cookie, "httpOnly").then_some("http only".to_owned()));
        marks.extend(is(cookie, "secure").then_some("secure".to_owned()));
        marks.extend(cookie["sameSite"].as_str().map(str::to_owned));
        let value = short(&word(cookie, "value"), 40);
        vec![word(cookie, "domain"), word(cookie, "path"), word(cookie, "name"), value, marks.join(", ")]
    };
    let rows: Vec<Vec<String>> = cookies.iter().map(row).collect();
    table(&["domain", "path", "name", "value", ""], &rows, out);
}

/// A number, or the length of a list.
fn count(value: &Value) -> String {
    match value {
        Value::Array(list) => list.len().to_string(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

pub(in super::super) fn added(value: &Value, out: &Out) {
    note(&format!("set {}", number(&value["added"], "cookie")), out);
}

pub(in super::super) fn imported(value: &Value, out: &Out) {
    let is_other = value["added"] == 0 && value["format"] == "netscape";
    if let (true, Some(first)) = (is_other, list(value, "rejected").first()) {
        let (line, why) = (count(&first["line"]), word(first, "reason"));
        return out.warning(&format!(
            "error: no cookie was found; give a cookie file (Netscape) or JSON; line {line}: {why}"
        ));
    }
    for faulty in list(value, "rejected") {
        note(&format!("skipped line {}: {}", count(&faulty["line"]), word(faulty, "reason")), out);
    }
    let listed = list(value, "rejected").len();
    let left = match value["rejectedCount"].as_u64().unwrap_or(listed as u64) {
        0 => String::new(),
        lines if lines > listed as u64 => format!(", skipped {lines} lines, of which {listed} are listed"),
        1 => ", skipped 1 line".to_owned(),
        lines => format!(", skipped {lines} lines"),
    };
    note(&format!("set {}{left}", number(&value["added"], "cookie")), out);
}

pub(in super::super) fn deleted_cookies(value: &Value, out: &Out) {
    note(&format!("deleted {}", number(&value["deleted"], "cookie")), out);
}

pub(in super::super) fn deleted_routes(value: &Value, out: &Out) {
    note(&format!("deleted {}", number(&value["deleted"], "route")), out);
}

/// One requested item.
pub(in super::super) fn item(value: &Value, out: &Out) {
    match value["items"].as_object() {
        Some(items) if items.is_empty() => note("no item has this key", out),
        _ => items(value, out),
    }
}

pub(in super::super) fn items(value: &Value, out: &Out) {
    let Some(items) = value["items"].as_object() else { return note("done", out) };
    if items.is_empty() {
        return note("no items", out);
    }
    if let (true, Some(Value::String(only))) = (items.len() == 1 && out.quiet, items.values().next()) {
        return whole(only, out);
    }
    let rows: Vec<Vec<String>> =
        items.keys().map(|key| vec![super::one_line(key), word(&value["items"], key)]).collect();
    table(&["key", "value"], &rows, out);
}

/// `1 cookie`, `2 cookies`.
fn number(value: &Value, what: &str) -> String {
    let count = count(value);
    format!("{count} {what}{}", if count == "1" { "" } else { "s" })
}

pub(in super::super) fn state_saved(value: &Value, out: &Out) {
    let saved = format!(
        "saved {} and {} to {}",
        number(&value["cookies"], "cookie"),
        number(&value["origins"], "origin"),
        word(value, "path")
    );
    note(&saved, out);
    origins(value, out);
}

pub(in super::super) fn state_loaded(value: &Value, out: &Out) {
    let restored = [number(&value["cookies"], "cookie"), number(&value["origins"], "origin")].join(" and ");
    note(&format!("restored {restored}"), out);
    for cookie in list(value, "rejectedCookies") {
        let line = format!(
            "cookie {} of {} was not set: {}",
            word(cookie, "name"),
            word(cookie, "domain"),
            word(cookie, "problem")
        );
        note(&line, out);
    }
    origins(value, out);
}

/// Prints what was saved or restored per origin, and what was skipped.
fn origins(value: &Value, out: &Out) {
    let row = |origin: &Value| {
        let session = match origin["sessionRestore"].as_str() {
            Some("next_visit") => format!("{} (restored on the next visit)", count(&origin["sessionStorage"])),
            _ => count(&origin["sessionStorage"]),
        };
        vec![word(origin, "origin"), count(&origin["localStorage"]), session, count(&origin["databases"])]
    };
    let rows: Vec<Vec<String>> = list(value, "origins").iter().map(row).collect();
    if !rows.is_empty() {
        table(&["origin", "localStorage", "sessionStorage", "databases"], &rows, out);
    }
    let of_origins = list(value, "origins").iter().flat_map(|origin| {
        list(origin, "skipped").iter().map(|skipped| (word(origin, "origin"), skipped)).collect::<Vec<_>>()
    });
    let skipped = list(value, "skipped").iter().map(|skipped| (String::new(), skipped)).chain(of_origins);
    for (origin, skipped) in skipped {
        let (what, reason) = (word(skipped, "what"), word(skipped, "reason"));
        let what = format!("{origin} {what}");
        note(&format!("skipped {} ({}): {reason}", what.trim(), count(&skipped["count"])), out);
    }
}

/// The settings are printed by the command itself: the answer does not repeat them.
pub(in super::super) fn emulated(value: &Value, out: &Out) {
    pending(value, out);
}
