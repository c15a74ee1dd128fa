//! Dialogs, and how to answer them.

use serde_json::Value;

use super::super::super::output::Out;
use super::{is, list, note, word};

/// Prints the open dialogs of an answer, even with `--quiet`: they block further commands.
pub(in super::super) fn pending(value: &Value, out: &Out) {
    let open = list(value, "pending_dialogs");
    if open.is_empty() && is(value, "blockedByDialog") {
        out.line("a dialog is open; `cdpilot dialogs` shows it");
    }
    open.iter().for_each(|dialog| out.line(&line(dialog)));
    if !open.is_empty() {
        note(&answer_with(open), out);
    }
}

/// [`pending`] on stderr, for commands whose stdout is parsed.
pub(super) fn in_the_way(value: &Value, out: &Out) {
    let open = list(value, "pending_dialogs");
    open.iter().for_each(|dialog| out.warning(&line(dialog)));
    if !open.is_empty() || is(value, "blockedByDialog") {
        out.warning(&answer_with(open));
    }
}

/// The command that answers these dialogs.
pub(in super::super) fn answer_with(open: &[Value]) -> String {
    let prompt = if open.iter().any(|dialog| dialog["type"] == "prompt") { " [--prompt TEXT]" } else { "" };
    let several = if open.len() > 1 { "; choose one with --id ID" } else { "" };
    format!("answer with `cdpilot dialog --accept{prompt}` or `--dismiss`{several}")
}

/// The question of a dialog.
fn question(dialog: &Value) -> String {
    match (word(dialog, "type").as_str(), dialog["closed_at"].is_null()) {
        ("beforeunload", true) => {
            "leave this page? --accept leaves and discards unsaved changes, --dismiss stays".to_owned()
        }
        ("beforeunload", false) => "leave this page?".to_owned(),
        _ => word(dialog, "message"),
    }
}

/// Describes a dialog on one line.
pub(in super::super) fn line(dialog: &Value) -> String {
    let typed = Some(word(dialog, "default_prompt")).filter(|text| !text.is_empty());
    let typed = typed.map(|text| format!(" [{text}]")).unwrap_or_default();
    let origin = Some(word(dialog, "origin")).filter(|origin| !origin.is_empty() && origin != "null");
    let origin = origin.map(|origin| format!(" from {origin}")).unwrap_or_default();
    format!("dialog {} {}{origin}: {}{typed}", word(dialog, "id"), word(dialog, "type"), question(dialog))
}

pub(in super::super) fn dialogs(value: &Value, out: &Out) {
    let (open, closed) = (list(value, "pending_dialogs"), list(value, "recent_dialogs"));
    if open.is_empty() {
        note("no open dialog", out);
    }
    pending(value, out);
    for armed in list(value, "armed_answers") {
        let tab = [word(armed, "tab_id"), word(armed, "target_id")].into_iter().find(|tab| !tab.is_empty());
        let tab = tab.unwrap_or_else(|| "all tabs".to_owned());
        let how = if is(armed, "accept") { "accept" } else { "dismiss" };
        let kind = Some(word(armed, "type")).filter(|kind| !kind.is_empty());
        let kind = kind.map(|kind| format!("{kind} ")).unwrap_or_default();
        let left = armed["expires_in_ms"].as_u64().unwrap_or_default().div_ceil(1000);
        out.line(&format!("armed for {tab}: {how} the next {kind}dialog, expires in {left} s"));
    }
    for dialog in closed {
        let how = if is(dialog, "accepted") { "accepted" } else { "dismissed" };
        let by = match word(dialog, "closed_by").as_str() {
            "agent" => "",
            "armed" => " by an armed answer",
            "auto_policy" => " by the dialog policy",
            "watchdog" => " because it was not answered in time",
            "remote" => " by another client",
            "lost" => ", lost when its page or the connection closed",
            _ => "",
        };
        out.line(&out.style.dim(&format!("{}, {how}{by}", line(dialog))));
    }
}

/// As [`answered`], for an answer with a text.
pub(in super::super) fn answered_with_text(value: &Value, out: &Out) {
    answered(value, out);
    if is(value, "armed") && !is(value, "promptTextIgnored") {
        note("the text of --prompt is used if that dialog is a prompt", out);
    }
}

pub(in super::super) fn answered(value: &Value, out: &Out) {
    let dialog = if value["dialog"].is_object() { &value["dialog"] } else { value };
    if !dialog["id"].is_null() {
        let how = if is(dialog, "accepted") { "accepted" } else { "dismissed" };
        note(&format!("{how}: {}", line(dialog)), out);
    } else if value["armed"].is_null() || is(value, "armed") || value["armed"].is_object() {
        let time = value["armed_for_ms"].as_u64().or(value["armedForMs"].as_u64());
        let time = time.map(|time| format!(" for {} s", time.div_ceil(1000))).unwrap_or_default();
        note(&format!("no open dialog; armed{time}: the next dialog of the tab gets this answer"), out);
        let replaced = &value["replaced"];
        if replaced.is_object() {
            let how = if is(replaced, "accept") { "accept" } else { "dismiss" };
            note(&format!("it replaces the armed answer: {how}"), out);
        }
        note("`cdpilot dialog --disarm` removes it, `cdpilot dialogs` shows it", out);
    } else {
        note("answered", out);
    }
    if is(value, "promptTextIgnored") {
        out.warning("the text of --prompt was not used: only an accepted prompt takes one");
    }
    pending(value, out);
}

pub(in super::super) fn disarmed(value: &Value, out: &Out) {
    match value["disarmed"].as_u64().unwrap_or_default() {
        0 => note("no armed answers", out),
        1 => note("disarmed: 1 answer", out),
        several => note(&format!("disarmed: {several} answers"), out),
    }
}
