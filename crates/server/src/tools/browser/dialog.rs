//! Answering dialogs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::guard::check_dialog;
use super::super::{Outcome, Scope, Tool, ToolContext, ToolError};
use super::{Browser, BrowserTools, soon};
use crate::control::{DialogOutcome, DialogReply};
use cdpilot::code::Code;
use cdpilot::supervisor::{Dialog, DialogType};

/// How long an answer waits for a dialog to open; in effect not at all.
const AT_ONCE: Duration = Duration::from_millis(200);

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Dismiss,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answer {
    action: Action,
    /// Text for a prompt
    prompt_text: Option<String>,
    /// When several are open
    dialog_id: Option<String>,
}

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    let (availability, browser) = (browser.clone(), browser.clone());
    let is_available = move |scope: &Scope| availability.is_reachable(scope);
    vec![
        Tool::when(
            "browser_dialog",
            "Answer a dialog (alert, confirm, prompt, beforeunload). Reports what changed.",
            is_available,
            move |call, answer| respond(&browser.on(call), call, answer),
        )
        .needing("a running browser; start it with browser_navigate"),
    ]
}

fn respond(browser: &Browser<'_>, call: &ToolContext<'_>, answer: Answer) -> Result<Outcome, ToolError> {
    let profile = browser.profile()?;
    let pending = profile.dialogs(None)?.0;
    if pending.is_empty() {
        return Err(ToolError::new(Code::NoDialog, "no dialog is open; call browser_snapshot to see the page"));
    }
    let is_meant = |dialog: &&Dialog| answer.dialog_id.as_deref().is_none_or(|id| *dialog.id == *id);
    if answer.action == Action::Accept
        && let Some(dialog) = pending.iter().find(is_meant)
    {
        check_dialog(call, dialog, answer.prompt_text.as_deref())?;
    }
    let has_text = answer.prompt_text.as_ref().is_some_and(|text| !text.is_empty());
    let reply = DialogReply {
        target: None,
        accept: answer.action == Action::Accept,
        prompt_text: answer.prompt_text,
        dialog_id: answer.dialog_id,
        timeout: Some(AT_ONCE),
    };
    let (answered, settled) = profile.answer_and_settle(reply, Some(&browser.secrets), soon(call))?;
    match answered {
        DialogOutcome::Answered(closed) => {
            let action = if closed.accepted { "accept" } else { "dismiss" };
            // The previous result had its text.
            let dialog = json!({
                "id": closed.dialog.id, "type": closed.dialog.kind, "closed_by": closed.closed_by, "accepted": closed.accepted,
            });
            let mut outcome = Outcome::default().with("action", action).with("dialog", dialog);
            if has_text && !(closed.accepted && closed.dialog.kind == DialogType::Prompt) {
                outcome = outcome.with("prompt_text_ignored", true);
            }
            Ok(browser.finished(match settled {
                Some(settled) => browser.caused(outcome, &settled),
                None => outcome,
            }))
        }
        DialogOutcome::Armed { .. } => {
            Err(ToolError::new(Code::NoDialog, "the dialog was already closed; call browser_snapshot to see the page"))
        }
    }
}
