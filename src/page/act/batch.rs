//! Several actions in a row.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Error, Tab};
use super::{Act, ActKind, Outcome, Settle, notices};
use crate::supervisor::{self, View};
use crate::sync::Deadline;

/// Maximum number of actions in a batch, nested batches included.
const MAX_ACTIONS: usize = 100;
/// Maximum nesting depth of batches.
const MAX_DEPTH: usize = 5;
/// How long a page may take to unload after an action on it failed.
const UNLOAD_TIME: Duration = Duration::from_secs(5);

impl Tab {
    /// Runs actions one after the other. Ends early after the first failure, with `stop_on_error`, and when the
    /// following actions would hit something else than the caller meant: after a navigation, after the tab closed, and
    /// when a dialog opened. `settle` applies to actions without one of their own.
    pub(super) fn batch(
        &self,
        actions: &[Act],
        stop_on_error: bool,
        settle: Option<Settle>,
        actor: Option<&str>,
        deadline: Deadline<'_>,
    ) -> Result<Outcome, Error> {
        if count(actions, 1)? > MAX_ACTIONS {
            let problem = format!("a batch has at most {MAX_ACTIONS} actions; split it into several");
            return Err(Error::BadRequest { problem });
        }
        let before = self.supervisor.view();
        if let Some(open) = before.dialogs_of(self.target.as_str()).next() {
            return Err(supervisor::Error::blocked_by_dialog("act", &open.id).into());
        }
        let url = before.page(self.target.as_str()).map(|page| page.url.to_string());
        let mut outcome_so_far =
            Outcome { target_id: Some(self.target.clone()), url: url.unwrap_or_default(), ..Outcome::default() };
        let (mut results, mut failed) = (Vec::new(), 0);
        for (index, act) in actions.iter().enumerate() {
            let here = self.shown(&self.supervisor.view());
            let act = &Act { settle: act.settle.or(settle), ..act.clone() };
            let outcome = self.act_in_turn(act, actor, act.deadline(deadline));
            let mut reason = self.gone_since(here.as_ref(), outcome.is_err(), deadline);
            let ok = match outcome {
                Ok(outcome) => {
                    if outcome.navigated {
                        reason = reason.or(Some("navigation"));
                    }
                    if outcome.blocked_by_dialog {
                        reason = Some("dialog");
                    }
                    outcome_so_far.absorb(&outcome);
                    // A nested batch succeeded if all of its actions did.
                    let ok = outcome.failed.unwrap_or(0) == 0;
                    results.push(done(&outcome, ok));
                    ok
                }
                Err(error) => {
                    if error.is_blocked_by_dialog() {
                        reason = Some("dialog");
                    }
                    results.push(failure(&error));
                    false
                }
            };
            failed += usize::from(!ok);
            if deadline.passed() {
                reason = reason.or(Some("timeout"));
            }
            let skipped = actions.len() - index - 1;
            if let Some(reason) = reason.filter(|_| skipped > 0) {
                let url = &outcome_so_far.url;
                outcome_so_far.aborted =
                    Some(json!({ "reason": reason, "afterAction": index, "url": url, "skipped": skipped }));
                break;
            }
            if !ok && stop_on_error {
                break;
            }
        }
        outcome_so_far.results = Some(results);
        outcome_so_far.failed = Some(failed);
        Ok(outcome_so_far)
    }

    /// The document of the top frame; `None` when the tab is closed.
    fn shown(&self, now: &View) -> Option<Arc<str>> {
        let top = now.page(self.target.as_str())?.top_frame.as_ref()?;
        now.document_of(top)
    }

    /// Why the rest of the batch cannot run: the tab closed or shows another document. A failed action may have failed
    /// because the page is unloading: waits for that.
    fn gone_since(&self, here: Option<&Arc<str>>, has_failed: bool, deadline: Deadline<'_>) -> Option<&'static str> {
        let target = self.target.as_str();
        let leaves = |now: &View| {
            let top = now.page(target).and_then(|page| page.top_frame.as_ref());
            top.and_then(|top| now.frame(top.as_str())).is_some_and(|top| top.navigating)
        };
        if has_failed && self.supervisor.caught_up(deadline).is_ok() {
            let over = |now: &View| !leaves(now) || now.dialogs_of(target).next().is_some();
            self.supervisor.wait_until(deadline.within(UNLOAD_TIME), over);
        }
        let now = self.supervisor.view();
        if now.page(target).is_none() {
            return Some("closed");
        }
        Some("navigation").filter(|_| self.shown(&now).as_ref() != here)
    }
}

impl Outcome {
    fn absorb(&mut self, other: &Self) {
        self.url.clone_from(&other.url);
        self.navigated |= other.navigated;
        self.status = other.status.or(self.status);
        self.settled = other.settled;
        notices::absorb(&mut self.notices, &other.notices);
        self.rescued |= other.rescued;
        self.new_tabs.extend(other.new_tabs.iter().cloned());
        self.blocked_popups += other.blocked_popups;
        self.downloads.extend(other.downloads.iter().cloned());
        self.console_errors.extend(other.console_errors.iter().cloned());
        self.failed_load.clone_from(&other.failed_load);
        self.file_choosers.extend(other.file_choosers.iter().cloned());
        self.answered_dialogs.extend(other.answered_dialogs.iter().cloned());
        self.blocked_by_dialog = other.blocked_by_dialog;
        self.pending_dialogs.clone_from(&other.pending_dialogs);
    }
}

fn count(actions: &[Act], depth: usize) -> Result<usize, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::BadRequest {
            problem: format!("batches are nested deeper than {MAX_DEPTH} levels; flatten them"),
        });
    }
    if actions.is_empty() {
        let problem = "actions is empty; give at least one action".to_owned();
        return Err(Error::BadRequest { problem });
    }
    let mut all = actions.len();
    for act in actions {
        if let ActKind::Batch { actions, .. } = &act.kind {
            all += count(actions, depth + 1)?;
        }
    }
    Ok(all)
}

fn done(outcome: &Outcome, ok: bool) -> Value {
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.insert("ok".to_owned(), ok.into());
        map.remove("targetId");
    }
    value
}

fn failure(error: &Error) -> Value {
    let mut value = json!({ "ok": false, "error": error.to_string(), "code": error.code() });
    if let (Some(details), Some(map)) = (error.details(), value.as_object_mut()) {
        map.insert("details".to_owned(), details);
    }
    value
}
