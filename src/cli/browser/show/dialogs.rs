//! Dialogs.

use serde_json::Value;

use super::super::super::output::Out;
use super::{is, list, note, word};

/// Dialogs that an answer tells of, beside what was asked for. They are told even when little is wanted: who
/// does not know of them wonders why nothing works.
pub(in super::super) fn pending(value: &Value, out: &Out) {
    let open = list(value, "pending_dialogs");
    if open.is_empty() && is(value, "blockedByDialog") {
        out.line("a dialog is open; `cdpilot browser dialogs` shows it");
    }
    open.iter().for_each(|dialog| out.line(&line(dialog)));
    if !open.is_empty() {
        note("answer with `cdpilot browser dialog --accept` or `--dismiss`", out);
    }
}

/// A dialog on one line.
pub(super) fn line(dialog: &Value) -> String {
    let typed = Some(word(dialog, "default_prompt")).filter(|text| !text.is_empty());
    let typed = typed.map(|text| format!(" [{text}]")).unwrap_or_default();
    let origin = Some(word(dialog, "origin")).filter(|origin| !origin.is_empty() && origin != "null");
    let origin = origin.map(|origin| format!(" of {origin}")).unwrap_or_default();
    format!("dialog {} {}{origin}: {}{typed}", word(dialog, "id"), word(dialog, "type"), word(dialog, "message"))
}

pub(in super::super) fn dialogs(value: &Value, out: &Out) {
    let (open, closed) = (list(value, "pending_dialogs"), list(value, "recent_dialogs"));
    if open.is_empty() {
        note("no dialog is open", out);
    }
    pending(value, out);
    for dialog in closed {
        let how = if is(dialog, "accepted") { "accepted" } else { "dismissed" };
        out.line(&out.look.dim(&format!("{}, {how} by {}", line(dialog), word(dialog, "closed_by"))));
    }
}

pub(in super::super) fn answered(value: &Value, out: &Out) {
    let dialog = if value["dialog"].is_object() { &value["dialog"] } else { value };
    if !dialog["id"].is_null() {
        let how = if is(dialog, "accepted") { "accepted" } else { "dismissed" };
        note(&format!("{how}: {}", line(dialog)), out);
    } else if value["armed"].is_null() || is(value, "armed") || value["armed"].is_object() {
        note("the next dialog gets this answer; do now what opens it", out);
    } else {
        note("answered", out);
    }
    pending(value, out);
}
