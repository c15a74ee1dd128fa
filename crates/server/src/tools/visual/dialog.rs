//! `dialog`: answers to dialogs.

use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

use super::super::guard::check_dialog;
use super::super::{Outcome, Tool, ToolError};
use super::observation::{Observation, cut, quoted};
use super::{Visual, VisualTools, failed};
use crate::control::{DialogOutcome, DialogReply};
use cdpilot::code::Code;
use cdpilot::page::LookOptions;

/// Maximum length of the message of a dialog in a sentence, in characters.
const MOST_MESSAGE: usize = 80;
/// How long an answer waits for a dialog to open; in effect not at all.
const AT_ONCE: Duration = Duration::from_millis(200);

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Reply {
    Accept,
    Dismiss,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answer {
    dialog_action: Reply,
    /// Text for a prompt
    prompt_text: Option<String>,
}

pub(super) fn tool(visual: &VisualTools) -> Tool {
    let visual = visual.clone();
    Tool::of("dialog", "Answer the open dialog. Alerts are accepted by themselves.", move |call, answer| {
        respond(&visual.on(call), answer)
    })
}

fn respond(visual: &Visual<'_>, answer: Answer) -> Result<Outcome, ToolError> {
    visual.take_pending();
    let profile = visual.profile()?;
    let (pending, recent) = profile.dialogs(None).map_err(failed)?;
    let none = || {
        let last = recent.iter().max_by(|a, b| a.closed_at.total_cmp(&b.closed_at)).map_or_else(String::new, |last| {
            let answer = if last.accepted { "accepted" } else { "dismissed" };
            let message = quoted(&cut(&last.dialog.message, MOST_MESSAGE));
            format!(" The last one, {} {message}, was {answer}.", last.dialog.kind.as_str())
        });
        ToolError::new(Code::NoDialog, format!("no dialog is open; call highlight to see the page.{last}"))
    };
    let dialog = pending.into_iter().next().ok_or_else(none)?;
    let accepts = answer.dialog_action == Reply::Accept;
    if accepts {
        check_dialog(visual.call, &dialog, answer.prompt_text.as_deref())?;
    }
    let reply = DialogReply {
        target: None,
        accept: accepts,
        prompt_text: answer.prompt_text,
        dialog_id: Some(dialog.id.to_string()),
        timeout: Some(AT_ONCE),
    };
    let (answered, _) = profile.answer_and_settle(reply, Some(&visual.secrets), visual.deadline()).map_err(failed)?;
    let DialogOutcome::Answered(closed) = answered else { return Err(none()) };
    visual.wait_for_next_dialog();
    let did = if closed.accepted { "Accepted" } else { "Dismissed" };
    let mut observation = Observation::default();
    observation.done.push(format!("{did} the {} dialog.", closed.dialog.kind.as_str()));
    if closed.accepted != accepts {
        observation.done.push("It was answered by somebody else before.".to_owned());
    }
    let handle = visual.profile()?.tab(Some(closed.dialog.target_id.as_str()));
    match handle {
        Ok(handle) => visual.shown(&handle, &LookOptions::new(), observation, false),
        // The tab was closed by the answer.
        Err(_) => {
            visual.tabs_into(&mut observation);
            Ok(visual.outcome(&observation.text(&[], None)))
        }
    }
}
