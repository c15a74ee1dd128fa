//! What looks and actions have to do with the step in progress: its keyword, and whether its actions succeed.

use serde_json::{Map, Value};

use super::RoutineRun;
use super::report::KeywordUse;
use crate::agent::messages::{Entry, text_of};
use crate::store::Image;
use crate::tools::ToolError;
use cdpilot::code::Code;

/// The tool that finds elements, and its argument.
const HIGHLIGHT: &str = "highlight";
const KEYWORDS: &str = "keywords";
/// Tools that act on a page.
const ACTING: [&str; 10] = [
    crate::tools::browser::RECORDED,
    "element_interaction",
    "browser_click",
    "browser_type",
    "browser_press",
    "browser_select",
    "browser_fill",
    "browser_hover",
    "browser_drag",
    "browser_upload",
];
/// Longest error of an action that is kept, in characters.
const MOST_ERROR: usize = 200;

impl RoutineRun {
    /// Why a call is not made now; `None` if the step in progress admits it.
    pub(in crate::agent) fn refusal(&self, tool: &str, arguments: &Map<String, Value>) -> Option<ToolError> {
        let conflict = |problem: String| Some(ToolError::new(Code::Conflict, problem));
        let Some(n) = self.report.pinned else {
            let next = self.report.next();
            return match next {
                Some(next) if ACTING.contains(&tool) || has_keywords(tool, arguments) => {
                    conflict(format!("no step is in progress; call routine_step with command begin and n {next} first"))
                }
                _ => None,
            };
        };
        if tool != HIGHLIGHT {
            return None;
        }
        let state = self.report.steps.iter().find(|state| state.step.n == n)?;
        let keyword = self.step(n)?.keyword.as_deref();
        let given: Vec<&str> =
            arguments.get(KEYWORDS).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        match (keyword, given.as_slice(), state.keyword) {
            (Some(keyword), [], KeywordUse::Unused) => conflict(format!(
                "the first look of step {n} uses its keyword: call highlight with keywords [{keyword:?}]"
            )),
            (_, [], _) => None,
            (None, ..) => conflict(format!("step {n} has no keyword; call highlight without keywords")),
            (Some(keyword), _, KeywordUse::Missed) => conflict(format!(
                "{keyword:?} had no match; call highlight without keywords, then for each further page, and report the step as \
                 blocked if its element is on none"
            )),
            (Some(keyword), [one], _) if *one == keyword => None,
            (Some(keyword), ..) => conflict(format!(
                "the only keyword of step {n} is {keyword:?}, letter for letter; call highlight with that"
            )),
        }
    }

    /// Records the result of a call.
    pub(in crate::agent) fn called(&mut self, tool: &str, arguments: &Map<String, Value>, result: &Value) {
        let is_ok = result["success"] == true;
        if has_keywords(tool, arguments) && is_ok {
            let text = result["observation"].as_str().unwrap_or_default();
            let is_missed = text.lines().any(|line| line.starts_with("0 ") && line.contains("that match the keywords"));
            if let Some(state) = self.report.current() {
                state.keyword = if is_missed { KeywordUse::Missed } else { KeywordUse::Matched };
                self.is_changed = true;
            }
            return;
        }
        if !ACTING.contains(&tool) {
            return;
        }
        // A confirmation without a preview was neither done nor tried, and waiting is no action of a step.
        let action = arguments.get("action").and_then(Value::as_str).unwrap_or_default();
        let is_needless = action.starts_with("confirm_") && result["code"] == Code::Conflict.as_str();
        if is_needless || action == "wait" {
            return;
        }
        let is_preview = is_ok && result["pending"].is_object();
        let Some(state) = self.report.current() else { return };
        if is_preview {
            return;
        }
        state.has_acted |= is_ok;
        state.is_refused |= result["code"] == Code::ApprovalRefused.as_str();
        let error = result["code"].as_str().or_else(|| result["error"].as_str()).unwrap_or("it failed");
        state.failed = (!is_ok).then(|| error.chars().take(MOST_ERROR).collect());
        self.is_changed = true;
    }

    /// Records the results of the last calls that were stored while no run was in progress: an approval that was refused or withdrawn,
    /// a call that was interrupted.
    pub(in crate::agent) fn called_before(&mut self, entries: &[Entry]) {
        let Some(at) = entries.iter().rposition(|entry| !entry.message.tool_calls.is_empty()) else { return };
        let Some((asking, results)) = entries.get(at..).and_then(<[Entry]>::split_first) else { return };
        for call in &asking.message.tool_calls {
            let of_call = results.iter().find(|entry| entry.message.tool_call_id.as_deref() == Some(&*call.id));
            let text = of_call.map(|entry| text_of(&entry.message)).unwrap_or_default();
            let result: Value = serde_json::from_str(&text).unwrap_or_default();
            let arguments = serde_json::from_str(&call.function.arguments).unwrap_or_default();
            // What was interrupted may be done: the model looks, and says.
            if result["success"] == false && result["code"] != Code::Interrupted.as_str() {
                self.called(&call.function.name, &arguments, &result);
            }
        }
    }

    /// Keeps the last picture of the step in progress.
    pub(in crate::agent) fn pictured(&mut self, media_type: &str, bytes: &[u8]) {
        let (routine, run) = self.ids.clone();
        let (Some(routine), Some(n)) = (routine, self.report.pinned) else { return };
        let Some(state) = self.report.state(n) else { return };
        state.step.image = Some(format!("/routines/{routine}/runs/{run}/images/{n}"));
        self.images.retain(|(of, _)| *of != u64::from(n));
        self.images.push((u64::from(n), Image { media_type: media_type.to_owned(), bytes: bytes.to_vec() }));
        self.is_changed = true;
    }
}

fn has_keywords(tool: &str, arguments: &Map<String, Value>) -> bool {
    tool == HIGHLIGHT && arguments.get(KEYWORDS).is_some_and(|given| !given.is_null())
}
