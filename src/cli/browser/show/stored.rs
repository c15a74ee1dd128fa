//! What sites have stored, and what a tab is made to believe.

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

/// A count, or a list that is counted.
fn count(value: &Value) -> String {
    match value {
        Value::Array(list) => list.len().to_string(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

pub(in super::super) fn added(value: &Value, out: &Out) {
    note(format!("set {}", count(&value["added"])).trim_end(), out);
}

pub(in super::super) fn deleted(value: &Value, out: &Out) {
    note(format!("deleted {}", count(&value["deleted"])).trim_end(), out);
}

pub(in super::super) fn items(value: &Value, out: &Out) {
    let Some(items) = value["items"].as_object() else { return note("done", out) };
    if items.is_empty() {
        return note("nothing is stored", out);
    }
    if let (true, Some(Value::String(only))) = (items.len() == 1 && out.quiet, items.values().next()) {
        return whole(only, out);
    }
    let rows: Vec<Vec<String>> =
        items.keys().map(|key| vec![super::one_line(key), word(&value["items"], key)]).collect();
    table(&["key", "value"], &rows, out);
}

pub(in super::super) fn emulated(value: &Value, out: &Out) {
    note("done", out);
    pending(value, out);
}
