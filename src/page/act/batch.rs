//! Several actions in a row.

use serde_json::{Value, json};

use super::super::{Error, Tab};
use super::{Act, Kind, Outcome};
use crate::sync::Deadline;

/// Actions of a batch at most, those of batches in it counted too.
const MOST: usize = 100;
/// Batches in batches at most.
const DEEPEST: usize = 5;

impl Tab {
    /// Does them one after the other. Ends early after the first that fails, if so wished, and after one
    /// that leaves the document or closes the tab: what follows was meant for what was there.
    pub(super) fn batch(&self, actions: &[Act], stop_on_error: bool, deadline: Deadline) -> Result<Outcome, Error> {
        if count(actions, 1)? > MOST {
            let problem = format!("a batch has at most {MOST} actions; send several");
            return Err(Error::BadRequest { problem });
        }
        let mut told = Outcome { target_id: Some(self.target.clone()), ..Outcome::default() };
        let (mut results, mut failed) = (Vec::new(), 0);
        for (index, act) in actions.iter().enumerate() {
            let own = act.deadline(deadline);
            let left = actions.len() - index - 1;
            match self.act(act, own) {
                Ok(outcome) => {
                    let closed = self.supervisor.snapshot().page(self.target.as_str()).is_none();
                    let reason = if closed {
                        Some("closed")
                    } else if outcome.blocked_by_dialog {
                        Some("dialog")
                    } else {
                        Some("navigation").filter(|_| outcome.navigated)
                    };
                    told.absorb(&outcome);
                    results.push(succeeded(&outcome));
                    if let Some(reason) = reason.filter(|_| left > 0) {
                        let url = &told.url;
                        told.aborted =
                            Some(json!({ "reason": reason, "afterAction": index, "url": url, "skipped": left }));
                        break;
                    }
                }
                Err(error) => {
                    failed += 1;
                    results.push(failure(&error));
                    if stop_on_error {
                        break;
                    }
                }
            }
        }
        told.results = Some(results);
        told.failed = Some(failed);
        Ok(told)
    }
}

impl Outcome {
    fn absorb(&mut self, other: &Self) {
        self.url.clone_from(&other.url);
        self.navigated |= other.navigated;
        self.rescued |= other.rescued;
        self.new_tabs.extend(other.new_tabs.iter().cloned());
        self.downloads.extend(other.downloads.iter().cloned());
        self.console_errors.extend(other.console_errors.iter().cloned());
        self.blocked_by_dialog = other.blocked_by_dialog;
        self.pending_dialogs.clone_from(&other.pending_dialogs);
    }
}

fn count(actions: &[Act], depth: usize) -> Result<usize, Error> {
    if depth > DEEPEST {
        return Err(Error::BadRequest { problem: format!("batches may stand in each other {DEEPEST} deep") });
    }
    let mut all = actions.len();
    for act in actions {
        if let Kind::Batch { actions, .. } = &act.kind {
            all += count(actions, depth + 1)?;
        }
    }
    Ok(all)
}

fn succeeded(outcome: &Outcome) -> Value {
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.insert("ok".to_owned(), true.into());
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
