//! What actions came to.

use serde_json::Value;

use super::super::super::output::Out;
use super::{is, list, note, one_line, pending, plainly, whole, word};

/// What followed, each on its line.
fn followed(value: &Value, out: &Out) {
    if is(value, "navigated") {
        note(&format!("now at {}", word(value, "url")), out);
    }
    for tab in list(value, "newTabs") {
        let told = tab.as_str().map(one_line).unwrap_or_else(|| {
            let id = [word(tab, "tabId"), word(tab, "targetId")].into_iter().find(|id| !id.is_empty());
            format!("{} {}", id.unwrap_or_default(), word(tab, "url"))
        });
        note(&format!("new tab {}", told.trim()), out);
    }
    list(value, "downloads").iter().for_each(|download| note(&downloaded(download), out));
    for message in list(value, "consoleErrors") {
        let text = message.as_str().map_or_else(|| message.to_string(), one_line);
        note(&format!("console error: {text}"), out);
    }
    if is(value, "rescued") {
        note("a script of the page was ended: it did not let go", out);
    }
    if value["input"] == "synthetic" {
        note("by script: the browser did not answer input", out);
    }
    whole(value["delta"].as_str().unwrap_or_default(), out);
    pending(value, out);
}

pub(in super::super) fn acted(value: &Value, out: &Out) {
    let settled = word(value, "settled");
    note(&if settled.is_empty() { "done".to_owned() } else { format!("done; {settled}") }, out);
    if !value["result"].is_null() {
        plainly(&value["result"], out);
    }
    followed(value, out);
}

pub(in super::super) fn highlighted(value: &Value, out: &Out) {
    note("done", out);
    pending(value, out);
}

/// Only the value: it may be what a program reads.
pub(in super::super) fn evaluated(value: &Value, out: &Out) {
    match value.get("result") {
        Some(result) => plainly(result, out),
        None if is(value, "blockedByDialog") => {}
        None => out.line("undefined"),
    }
    followed(value, out);
}

pub(in super::super) fn result(value: &Value, out: &Out) {
    plainly(&value["result"], out);
    pending(value, out);
}

pub(in super::super) fn navigated(value: &Value, out: &Out) {
    let status = value["status"].as_u64().filter(|status| *status >= 400);
    let status = status.map(|status| format!(" (HTTP status {status})")).unwrap_or_default();
    let stays = if value["navigated"].as_bool() == Some(false) { "still at " } else { "" };
    let parts = [word(value, "title"), word(value, "url")];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    out.line(&format!("{stays}{}{status}", parts.join(" - ")));
    if is(value, "rescued") {
        note("a script of the page before was ended: it did not let go", out);
    }
    pending(value, out);
}

pub(in super::super) fn batch(value: &Value, out: &Out) {
    let inner = &value["result"];
    let value = if value["results"].is_array() || !inner.is_object() { value } else { inner };
    for (index, result) in list(value, "results").iter().enumerate() {
        let number = index + 1;
        if is(result, "ok") {
            note(&format!("{number}: {}", out.look.green("done")), out);
            followed(result, out);
        } else {
            let told = format!("{} ({})", word(result, "error"), word(result, "code"));
            out.line(&format!("{number}: {} {told}", out.look.red("failed:")));
        }
    }
    let aborted = &value["aborted"];
    if aborted.is_object() {
        let after = aborted["afterAction"].as_u64().map(|index| format!(" after action {}", index + 1));
        note(&format!("ended{}: {}", after.unwrap_or_default(), word(aborted, "reason")), out);
    }
    pending(value, out);
}

fn downloaded(download: &Value) -> String {
    let place = [word(download, "path"), word(download, "suggestedFilename")].into_iter().find(|text| !text.is_empty());
    let state = Some(word(download, "state")).filter(|state| state != "completed");
    let state = state.map(|state| format!(" ({state})")).unwrap_or_default();
    format!("downloaded {}{state}", place.unwrap_or_default())
}

pub(in super::super) fn download(value: &Value, out: &Out) {
    let download = if value["download"].is_object() { &value["download"] } else { value };
    out.line(&downloaded(download));
}
