//! Answers to dialogs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::{Outcome, Scope, Tool, ToolContext, ToolError};
use super::{Browser, BrowserTools, soon};
use crate::control::{DialogOutcome, DialogReply};

/// How long an answer waits for a dialog that is not there: not at all, as far as that can be said.
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
    /// For a prompt
    prompt_text: Option<String>,
    /// Which, when several wait
    dialog_id: Option<String>,
}

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    let (there, browser) = (browser.clone(), browser.clone());
    let is_there = move |scope: &Scope| there.is_reachable(scope);
    vec![
        Tool::when(
            "browser_dialog",
            "Answer a dialog of the page (alert, confirm, prompt, leaving). Reports what changed.",
            is_there,
            move |call, answer| respond(&browser.on(call), call, answer),
        )
        .needing("a browser that runs; browser_navigate starts one"),
    ]
}

fn respond(browser: &Browser<'_>, call: &ToolContext<'_>, answer: Answer) -> Result<Outcome, ToolError> {
    let profile = browser.profile()?;
    if profile.dialogs(None)?.0.is_empty() {
        return Err(ToolError::new("NO_DIALOG", "no dialog is open; take a snapshot to see how the page stands"));
    }
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
            // Its text is known from the result before.
            let dialog = json!({
                "id": closed.dialog.id, "type": closed.dialog.kind, "closed_by": closed.closed_by, "accepted": closed.accepted,
            });
            let outcome = Outcome::default().with("action", action).with("dialog", dialog);
            Ok(browser.finished(match settled {
                Some(settled) => browser.caused(outcome, &settled),
                None => outcome,
            }))
        }
        DialogOutcome::Armed(_) => Err(ToolError::new("NO_DIALOG", "it has been closed meanwhile")),
    }
}
