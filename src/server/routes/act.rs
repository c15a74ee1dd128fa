//! Acting: actions, raw commands, dialogs, files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::super::failure::Failure;
use super::super::read;
use super::super::types::{
    Action, AnswerDialog, ArmChooser, ChooserArmed, DialogAnswered, Disarmed, Downloaded, Nothing, RawCommand,
    RawResult, Uploaded, WaitDownload,
};
use super::{Call, LONGEST, SHORTEST};
use crate::control::{self, DialogOutcome, DialogReply, RawCall};
use crate::page::{Act, ActKind, Outcome, Upload};
use crate::supervisor::Supervisor;
use crate::sync::Deadline;

/// What answering a dialog may take, and giving files to an input.
const ANSWERING: Duration = Duration::from_secs(8);

pub(super) fn act(call: &Call<'_>, action: Action) -> Result<Outcome, Failure> {
    let Action(mut action) = action;
    let nested = nested_targets(&mut action)?;
    let mut act = Act::parse(action)?;
    let shortest = millis(SHORTEST);
    act.timeout_ms = act.timeout_ms.map(|time| time.max(shortest));
    if runs_scripts(&act) && !call.front.control.config().browser.evaluate_enabled {
        return Err(control::Error::EvaluateDisabled.into());
    }
    let handle = call.tab()?;
    for wanted in nested {
        if call.profile()?.tab_to_read(Some(&wanted))?.info.target_id != handle.info.target_id {
            let problem = "the actions of a batch are for one tab; name it beside `actions`, or send several batches";
            return Err(Failure::bad(problem));
        }
    }
    Ok(call.profile()?.act(&handle, &act, act.deadline(call.deadline))?)
}

/// Takes the tabs out that actions of a batch name by themselves.
fn nested_targets(action: &mut Value) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    // Not deeper than the page layer goes.
    let mut open: Vec<&mut Value> = action.get_mut("actions").into_iter().collect();
    while let Some(actions) = open.pop() {
        for action in actions.as_array_mut().into_iter().flatten() {
            let Some(action) = action.as_object_mut() else { continue };
            match action.remove("targetId") {
                None | Some(Value::Null) => {}
                Some(Value::String(target)) => found.push(target),
                Some(_) => return Err(Failure::bad("targetId is not a text")),
            }
            open.extend(action.get_mut("actions"));
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Whether an action runs a script of the caller, itself or in a batch.
fn runs_scripts(act: &Act) -> bool {
    match &act.kind {
        ActKind::Evaluate { .. } => true,
        ActKind::Wait(conditions) => conditions.script.is_some(),
        ActKind::Batch { actions, .. } => actions.iter().any(runs_scripts),
        _ => false,
    }
}

pub(super) fn raw(call: &Call<'_>, command: RawCommand) -> Result<RawResult, Failure> {
    let before: Vec<_> = call.dialogs().into_iter().map(|dialog| dialog.id).collect();
    let params = Value::Object(command.params.unwrap_or_default());
    let raw = RawCall { method: command.method, params, target: call.target.clone(), frame: command.frame_id };
    match call.profile()?.raw(raw, call.deadline) {
        Ok(result) => Ok(RawResult { result, blocked_by_dialog: false, pending_dialogs: Vec::new() }),
        Err(error) => {
            let failure = Failure::from(error);
            let pending_dialogs = call.dialogs();
            // Under way when it opened: the command has most likely opened it, and has done its work.
            let opened = pending_dialogs.iter().any(|dialog| !before.contains(&dialog.id));
            if failure.is_blocked_by_dialog() && opened {
                return Ok(RawResult { result: Map::new().into(), blocked_by_dialog: true, pending_dialogs });
            }
            Err(failure)
        }
    }
}

pub(super) fn dialog(call: &Call<'_>, answer: AnswerDialog) -> Result<DialogAnswered, Failure> {
    let reply = DialogReply {
        target: call.target.clone(),
        accept: answer.accept,
        prompt_text: answer.prompt_text,
        dialog_id: answer.dialog_id,
        timeout: call.wish,
    };
    Ok(match call.profile()?.answer_dialog(reply, Deadline::after(ANSWERING))? {
        DialogOutcome::Answered(dialog) => DialogAnswered { armed: false, armed_for_ms: None, dialog: Some(dialog) },
        DialogOutcome::Armed(time) => DialogAnswered { armed: true, armed_for_ms: Some(millis(time)), dialog: None },
    })
}

pub(super) fn disarm_dialog(call: &Call<'_>, _: Nothing) -> Result<Disarmed, Failure> {
    Ok(Disarmed { disarmed: call.profile()?.disarm_dialogs(call.target.as_deref())? })
}

pub(super) fn chooser(call: &Call<'_>, arm: ArmChooser) -> Result<ChooserArmed, Failure> {
    let files = call.front.control.files();
    let checked: Result<Vec<PathBuf>, _> = arm.paths.iter().map(|path| files.check_upload(Path::new(path))).collect();
    let paths = checked?;
    let tab = call.tab()?.tab;
    let target_id = tab.target().to_string();
    let at = tab.ref_of(arm.reference, arm.locator, Deadline::after(call.within(ANSWERING, LONGEST)))?;
    let wait = match &at {
        Some(_) => call.within(ANSWERING, LONGEST),
        None => call.within(Supervisor::CHOOSER_LIMIT, Supervisor::CHOOSER_LIMIT),
    };
    let count = paths.len();
    let (armed, given) = match tab.arm_chooser(&paths, at.as_deref(), Deadline::after(wait))? {
        Upload::Done(given) => (false, Some(given)),
        // What becomes of them is told by the events.
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
        }),
    })
}

pub(super) fn download(call: &Call<'_>, wait: WaitDownload) -> Result<Downloaded, Failure> {
    if wait.path.as_deref().is_some_and(str::is_empty) {
        return Err(Failure::bad(format!("{} is no name of a file; leave path out", read::shown("\"\""))));
    }
    Ok(Downloaded { download: call.tab()?.tab.wait_download(wait.path.as_deref(), call.deadline)? })
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
