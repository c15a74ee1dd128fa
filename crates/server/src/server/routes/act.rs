//! Actions, raw CDP commands, dialogs and files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::super::error::ApiError;
use super::{Call, MAX_TIMEOUT, MIN_TIMEOUT};
use crate::api::{
    AnswerDialog, ArmChooser, ChooserArmed, DialogAnswered, Disarmed, Downloaded, NoFields, RawCommand, RawResult,
    Uploaded, WaitDownload,
};
use crate::control::{self, DialogOutcome, DialogReply, RawCall};
use cdpilot::page::{Act, ActKind, Outcome, Upload};
use cdpilot::supervisor::{DialogType, Supervisor};

/// Time limit for answering a dialog and for setting files on an input.
const ANSWERING: Duration = Duration::from_secs(8);

pub(super) fn act(call: &Call<'_>, mut action: Value) -> Result<Outcome, ApiError> {
    let nested = nested_targets(&mut action)?;
    let mut act = Act::parse(action)?;
    let shortest = millis(MIN_TIMEOUT);
    act.timeout_ms = act.timeout_ms.map(|time| time.max(shortest));
    if runs_scripts(&act) && !call.context.control.config().browser.evaluate_enabled {
        return Err(control::Error::EvaluateDisabled.into());
    }
    let handle = call.tab()?;
    for wanted in nested {
        if call.profile()?.tab_to_read(Some(&wanted))?.info.target_id != handle.info.target_id {
            let problem = "actions: all actions of a batch must be for the same tab; send targetId next to `actions`, or send one batch per tab";
            return Err(ApiError::bad(problem));
        }
    }
    Ok(call.profile()?.act(&handle, &act, act.deadline(call.deadline))?)
}

/// Removes the `targetId` of each action in a batch, and returns them.
fn nested_targets(action: &mut Value) -> Result<Vec<String>, ApiError> {
    let mut found = Vec::new();
    // Limited to the depth that `page` accepts.
    let mut open: Vec<&mut Value> = action.get_mut("actions").into_iter().collect();
    while let Some(actions) = open.pop() {
        for action in actions.as_array_mut().into_iter().flatten() {
            let Some(action) = action.as_object_mut() else { continue };
            match action.remove("targetId") {
                None | Some(Value::Null) => {}
                Some(Value::String(target)) => found.push(target),
                Some(_) => return Err(ApiError::bad("targetId: expected a string")),
            }
            open.extend(action.get_mut("actions"));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Whether an action or a part of a batch runs a script of the caller.
fn runs_scripts(act: &Act) -> bool {
    match &act.kind {
        ActKind::Evaluate { .. } => true,
        ActKind::Wait(conditions) => conditions.script.is_some(),
        ActKind::Batch { actions, .. } => actions.iter().any(runs_scripts),
        _ => false,
    }
}

pub(super) fn raw(call: &Call<'_>, command: RawCommand) -> Result<RawResult, ApiError> {
    let before: Vec<_> = call.dialogs().into_iter().map(|dialog| dialog.id).collect();
    let params = Value::Object(command.params.unwrap_or_default());
    let raw = RawCall { method: command.method, params, target: call.target.clone(), frame: command.frame_id };
    match call.profile()?.raw(raw, call.deadline) {
        Ok(result) => Ok(RawResult { result, blocked_by_dialog: false, pending_dialogs: Vec::new() }),
        Err(error) => {
            let failure = ApiError::from(error);
            let pending_dialogs = call.dialogs();
            // The dialog opened during the command, so most likely the command opened it and has taken effect.
            let opened = pending_dialogs.iter().any(|dialog| !before.contains(&dialog.id));
            if failure.is_blocked_by_dialog() && opened {
                return Ok(RawResult { result: Map::new().into(), blocked_by_dialog: true, pending_dialogs });
            }
            Err(failure)
        }
    }
}

pub(super) fn dialog(call: &Call<'_>, answer: AnswerDialog) -> Result<DialogAnswered, ApiError> {
    let text = answer.prompt_text.clone().filter(|text| !text.is_empty());
    let reply = DialogReply {
        target: call.target.clone(),
        accept: answer.accept,
        prompt_text: answer.prompt_text,
        dialog_id: answer.dialog_id,
        timeout: call.requested_timeout,
    };
    Ok(match call.profile()?.answer_dialog(reply, call.deadline.renewed(ANSWERING))? {
        DialogOutcome::Answered(dialog) => DialogAnswered {
            armed: false,
            armed_for_ms: None,
            replaced: None,
            prompt_text_ignored: text.is_some() && !(dialog.accepted && dialog.dialog.kind == DialogType::Prompt),
            dialog: Some(dialog),
        },
        DialogOutcome::Armed { time, replaced } => DialogAnswered {
            armed: true,
            armed_for_ms: Some(millis(time)),
            replaced,
            prompt_text_ignored: text.is_some() && !answer.accept,
            dialog: None,
        },
    })
}

pub(super) fn disarm_dialog(call: &Call<'_>, _: NoFields) -> Result<Disarmed, ApiError> {
    Ok(Disarmed { disarmed: call.profile()?.disarm_dialogs(call.target.as_deref())? })
}

pub(super) fn chooser(call: &Call<'_>, arm: ArmChooser) -> Result<ChooserArmed, ApiError> {
    let files = call.context.control.files();
    let checked: Result<Vec<PathBuf>, _> = arm.paths.iter().map(|path| files.check_upload(Path::new(path))).collect();
    let paths = checked?;
    let tab = call.tab()?.tab;
    let target_id = tab.target().to_string();
    let at = tab.ref_of(arm.reference, arm.locator, call.deadline.renewed(call.within(ANSWERING, MAX_TIMEOUT)))?;
    let wait = match &at {
        Some(_) => call.within(ANSWERING, MAX_TIMEOUT),
        None => call.within(Supervisor::CHOOSER_LIMIT, Supervisor::CHOOSER_LIMIT),
    };
    let count = paths.len();
    let (armed, given) = match tab.arm_chooser(&paths, at.as_deref(), call.deadline.renewed(wait))? {
        Upload::Done(given) => (false, Some(given)),
        // The event log reports what happens to them.
        Upload::Armed(_) => (true, None),
    };
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(ChooserArmed {
        armed,
        armed_for_ms: armed.then(|| millis(wait)),
        target_id,
        files: paths.iter().map(name).collect(),
        count,
        element: given.map(|given| Uploaded {
            reference: given.reference,
            role: given.shown.role,
            name: given.shown.name,
            files: given.count,
            cleared: given.cleared,
        }),
    })
}

pub(super) fn download(call: &Call<'_>, wait: WaitDownload) -> Result<Downloaded, ApiError> {
    if wait.path.as_deref().is_some_and(str::is_empty) {
        return Err(ApiError::bad("path: expected a file name, got an empty string; omit path for the suggested name"));
    }
    let (tab, path) = (call.tab()?.tab, wait.path.as_deref());
    let download = match wait.document {
        true => tab.download_document(path, call.deadline)?,
        false => tab.wait_download(path, call.deadline)?,
    };
    Ok(Downloaded { download })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scripts_are_found_in_batches_too() {
        let runs = |value: Value| runs_scripts(&Act::parse(value).unwrap());
        assert!(runs(json!({ "kind": "evaluate", "fn": "1" })));
        assert!(runs(json!({ "kind": "wait", "fn": "1" })));
        assert!(!runs(json!({ "kind": "wait", "text": "x" })));
        let batch = |inner: Value| json!({ "kind": "batch", "actions": [{ "kind": "batch", "actions": [inner] }] });
        assert!(runs(batch(json!({ "kind": "wait", "fn": "1" }))));
        assert!(!runs(batch(json!({ "kind": "press", "key": "a" }))));
    }

    #[test]
    fn tabs_of_single_actions_are_taken_out() {
        let mut batch = json!({ "kind": "batch", "actions": [
            { "kind": "close", "targetId": "t1" },
            { "kind": "batch", "actions": [{ "kind": "close", "targetId": "t2" }, { "kind": "close", "targetId": null }] },
        ] });
        assert_eq!(nested_targets(&mut batch).unwrap(), ["t1", "t2"]);
        assert!(!batch.to_string().contains("targetId"));
        let mut wrong = json!({ "kind": "batch", "actions": [{ "kind": "close", "targetId": 1 }] });
        assert!(nested_targets(&mut wrong).is_err());
    }
}
