//! Results of actions, scripts and navigations.

use serde_json::Value;

use super::super::super::output::Out;
use super::dialogs::in_the_way;
use super::{is, list, note, one_line, pending, plainly, whole, word};
use cdpilot::code::Code;

/// Prints effects of an action, one per line: tabs, downloads, console errors, dialogs, changes.
fn followed(value: &Value, out: &Out) {
    for tab in list(value, "newTabs") {
        let id = [word(tab, "tabId"), word(tab, "targetId")].into_iter().find(|id| !id.is_empty());
        let title = Some(word(tab, "title")).filter(|title| !title.is_empty());
        let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
        note(&format!("new tab {} {}{title}", id.unwrap_or_default(), word(tab, "url")), out);
    }
    if let Some(blocked) = value["blockedPopups"].as_u64().filter(|blocked| *blocked > 0) {
        note(
            &format!(
                "{} closed immediately: the limit of open tabs (browser.tabs.max in config.yaml) is reached; close a tab first",
                if blocked == 1 { "1 new tab was".to_owned() } else { format!("{blocked} new tabs were") }
            ),
            out,
        );
    }
    list(value, "downloads").iter().for_each(|download| note(&downloaded(download), out));
    for message in list(value, "consoleErrors") {
        let text = message.as_str().map_or_else(|| message.to_string(), one_line);
        note(&format!("console error: {text}"), out);
    }
    if value["input"] == "synthetic" {
        note("used synthetic events: the browser did not respond to input", out);
    }
    for chooser in list(value, "fileChoosers") {
        note(&chosen(chooser), out);
    }
    if is(value, "navigated") || is(value, "blockedByDialog") {
        list(value, "answered_dialogs").iter().for_each(|dialog| note(&answered(dialog), out));
    }
    unauthorized(value, out);
    list(value, "notices").iter().for_each(|notice| note(&noticed(notice), out));
    whole(value["changes"].as_str().unwrap_or_default(), out);
    pending(value, out);
}

/// `alert: Wrong password`, `invalid "Email": Please fill out this field.`
fn noticed(notice: &Value) -> String {
    let kind = word(notice, "kind");
    let kind = match &*kind {
        "dialog" => "page dialog",
        "text" => "new text",
        kind => kind,
    };
    let name = Some(word(notice, "name")).filter(|name| !name.is_empty());
    let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let text = Some(word(notice, "text")).filter(|text| !text.is_empty());
    format!("{kind}{name}{}", text.map(|text| format!(": {text}")).unwrap_or_default())
}

/// Outcome of a file chooser.
fn chosen(chooser: &Value) -> String {
    let problem = word(chooser, "problem");
    let files: Vec<String> = list(chooser, "files").iter().filter_map(Value::as_str).map(one_line).collect();
    match (problem.is_empty(), files.is_empty()) {
        (false, _) => format!("file chooser opened, but the files were not set: {problem}"),
        (true, false) => format!("file chooser opened, files set: {}", files.join(", ")),
        (true, true) => {
            "a file chooser opened and was closed without files; give files with `cdpilot upload FILE --ref REF` \
            (ref of the file field), or with `cdpilot upload FILE` before the click"
                .to_owned()
        }
    }
}

/// `confirm "Sure?" accepted by the armed answer`.
fn answered(dialog: &Value) -> String {
    let how = if is(dialog, "accepted") { "accepted" } else { "dismissed" };
    let by = if dialog["closed_by"] == "armed" { "the armed answer" } else { "the dialog policy" };
    let message = Some(word(dialog, "message")).filter(|message| !message.is_empty());
    let message = message.map(|message| format!(" \"{message}\"")).unwrap_or_default();
    format!("{}{message} {how} by {by}", word(dialog, "type"))
}

/// `navigated to https://… (200)`.
fn went(value: &Value) -> String {
    let status = value["status"].as_u64().map(|status| format!(" ({status})")).unwrap_or_default();
    format!("navigated to {}{status}", word(value, "url"))
}

/// Names the option for credentials after an answer with the status 401.
pub(super) fn unauthorized(value: &Value, out: &Out) {
    if value["status"] == 401 {
        let what = "status 401: for HTTP authentication, `cdpilot emulate --credentials USER:PASSWORD`, then";
        note(&format!("{what} `cdpilot reload`"), out);
    }
}

/// The result line of an action after which the page shows nothing else.
const UNCHANGED: &str = "done (no visible change)";

/// The result line of an action, from the answer's `settled`.
fn ended(value: &Value) -> String {
    let failed = &value["failedLoad"];
    if failed.is_object() {
        let error = Some(word(failed, "error")).filter(|error| !error.is_empty());
        let error = error.map(|error| format!(" ({error})")).unwrap_or_default();
        return format!("done, but the page did not load: {}{error}", word(failed, "url"));
    }
    let dialogs: Vec<String> = list(value, "answered_dialogs").iter().map(answered).collect();
    if !dialogs.is_empty() && !is(value, "navigated") && !is(value, "blockedByDialog") {
        return format!("done ({})", dialogs.join("; "));
    }
    let why = match value["settled"].as_str().unwrap_or_default() {
        "navigation_pending" if is(value, "navigated") => return format!("done: {}, still loading", went(value)),
        _ if is(value, "navigated") => return format!("done: {}", went(value)),
        "no_change" if !list(value, "newTabs").is_empty() => "a new tab opened",
        "no_change" if !word(value, "changes").is_empty() => return "done".to_owned(),
        "no_change" => return UNCHANGED.to_owned(),
        "page_changing" => "the page is still changing",
        "requests_pending" => "requests are still pending",
        "navigation_pending" => "a navigation is still pending",
        "download_started" => "a download started",
        "dialog_opened" => "a dialog opened",
        "tab_closed" => "the tab closed",
        "page_unresponsive" => "the page does not respond",
        "browser_ended" => "the browser ended",
        _ => return "done".to_owned(),
    };
    format!("done ({why})")
}

/// How far `scroll` scrolled; `None` for the result of another action.
fn scrolled(result: &Value) -> Option<String> {
    let fields = result.as_object().filter(|fields| fields.len() == 2)?;
    let (x, y) = (fields.get("x")?.as_f64()?, fields.get("y")?.as_f64()?);
    Some(match (x, y) {
        (0.0, 0.0) => "not scrolled: there is nothing further in this direction".to_owned(),
        (0.0, y) => format!("scrolled {} px {}", y.abs(), if y > 0.0 { "down" } else { "up" }),
        (x, 0.0) => format!("scrolled {} px {}", x.abs(), if x > 0.0 { "right" } else { "left" }),
        (x, y) => format!("scrolled {x} px to the right, {y} px down"),
    })
}

/// Result of an action that changes its element itself: that nothing else changed needs no mention.
pub(in super::super) fn entered(value: &Value, out: &Out) {
    let line = ended(value);
    after(if line == UNCHANGED { "done" } else { &line }, value, out);
}

pub(in super::super) fn acted(value: &Value, out: &Out) {
    after(&ended(value), value, out);
}

/// Prints the result line, then the value and the effects.
fn after(line: &str, value: &Value, out: &Out) {
    note(line, out);
    if let Some(line) = scrolled(&value["result"]) {
        note(&line, out);
    } else if !value["result"].is_null() {
        plainly(&value["result"], out);
    }
    followed(value, out);
}

pub(in super::super) fn highlighted(value: &Value, out: &Out) {
    note("done", out);
    pending(value, out);
}

/// Prints only the value to stdout: programs may parse it.
pub(in super::super) fn evaluated(value: &Value, out: &Out) {
    match value.get("result") {
        Some(result) => plainly(result, out),
        None if is(value, "blockedByDialog") => {
            out.warning("no value yet: the script is waiting for the dialog that it opened");
            return in_the_way(value, out);
        }
        None => out.line("undefined"),
    }
    if let Some(hint) = value["hint"].as_str() {
        out.aside(hint);
    }
    if is(value, "navigated") {
        note(&went(value), out);
    }
    followed(value, out);
}

pub(in super::super) fn result(value: &Value, out: &Out) {
    plainly(&value["result"], out);
    pending(value, out);
}

pub(in super::super) fn navigated(value: &Value, out: &Out) {
    if value["navigated"].as_bool() == Some(false) && is(value, "blockedByDialog") {
        let asks = list(value, "pending_dialogs").iter().any(|dialog| dialog["type"] == "beforeunload");
        let why = if asks {
            "a beforeunload dialog keeps the page; `cdpilot dialog --accept` leaves it"
        } else {
            "a dialog is open"
        };
        out.warning(&format!("not navigated, still at {}: {why}", word(value, "url")));
        return in_the_way(value, out);
    }
    if value["navigated"].as_bool() == Some(false) {
        for download in list(value, "downloads") {
            out.line(&format!("a download started: {}", downloaded(download).trim_start_matches("downloaded ")));
        }
        out.line(&format!("the page stays at {}", word(value, "url")));
    } else {
        out.line(&format!("done: {}", went(value)));
        unauthorized(value, out);
        let title = word(value, "title");
        if !title.is_empty() {
            note(&title, out);
        }
    }
    for dialog in list(value, "dismissed_dialogs") {
        let message = Some(word(dialog, "message")).filter(|message| !message.is_empty());
        let message = message.map(|message| format!(" \"{message}\"")).unwrap_or_default();
        match is(dialog, "accepted") {
            true => note("accepted the beforeunload dialog of the previous page", out),
            false => note(&format!("dismissed {}{message}", word(dialog, "type")), out),
        }
    }
    pending(value, out);
}

pub(in super::super) fn batch(value: &Value, out: &Out) {
    let inner = &value["result"];
    let value = if value["results"].is_array() || !inner.is_object() { value } else { inner };
    for (index, result) in list(value, "results").iter().enumerate() {
        let number = index + 1;
        if is(result, "ok") {
            note(&format!("{number}: {}", out.style.green(&ended(result))), out);
            followed(result, out);
        } else {
            let error = match Code::parse(&word(result, "code")) {
                Some(Code::BlockedByDialog) => "the tab shows a dialog; answer it first".to_owned(),
                _ => word(result, "error"),
            };
            out.line(&format!("{number}: {} {error}", out.style.red("failed:")));
        }
    }
    let aborted = &value["aborted"];
    if aborted.is_object() {
        let after = aborted["afterAction"].as_u64().map(|index| format!(" after action {}", index + 1));
        note(&format!("stopped{}: {}", after.unwrap_or_default(), word(aborted, "reason")), out);
    }
    pending(value, out);
}

pub(super) fn downloaded(download: &Value) -> String {
    let place = [word(download, "path"), word(download, "suggestedFilename")].into_iter().find(|text| !text.is_empty());
    let state = Some(word(download, "state")).filter(|state| state != "completed");
    let state = state.map(|state| format!(" ({state})")).unwrap_or_default();
    format!("downloaded {}{state}", place.unwrap_or_default())
}

pub(in super::super) fn download(value: &Value, out: &Out) {
    let download = if value["download"].is_object() { &value["download"] } else { value };
    out.line(&downloaded(download));
}
