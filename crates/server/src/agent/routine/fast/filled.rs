//! Fields that were filled in: before their form is sent, they still hold it. Pages that load late set their fields again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::find::{LOOK, look};
use super::{NOT_ACTIONABLE, cause};
use crate::agent::routine::report::RunCause;
use crate::agent::turn::Turn;
use crate::control::Profile;
use crate::record::FrameStep;
use crate::record::draft::Anchor;
use crate::replay::{FastAction, Strictness, Target, What, described};
use cdpilot::sync::Deadline;

/// Most fields that are looked at again.
const MOST: usize = 40;

/// A field that was filled in, and what it held then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Filled {
    tab: String,
    frame: Vec<FrameStep>,
    anchor: Anchor,
    held: Value,
}

impl Turn<'_> {
    /// Keeps what a field holds that an action has filled in. A page that was left takes its fields with it.
    pub(super) fn keep_filled(&mut self, pages: &Profile, action: &FastAction, is_left: bool) {
        let is_field = matches!(action.what, What::Fill { .. } | What::Check { .. } | What::Select { .. });
        let kept = action.element.as_ref().filter(|anchor| is_field && !anchor.sensitive && !is_left);
        let tab = self.tab_now(action.tab);
        let filled = kept.zip(tab).and_then(|(anchor, tab)| {
            let held = held(pages, &tab, anchor, &action.frame)?;
            Some(Filled { tab, frame: action.frame.clone(), anchor: anchor.clone(), held })
        });
        let Some(fast) = self.fast_mut() else { return };
        if is_left {
            fast.filled.clear();
        }
        if let Some(filled) = filled.filter(|_| fast.filled.len() < MOST) {
            fast.filled.retain(|one| one.anchor != filled.anchor || one.frame != filled.frame);
            fast.filled.push(filled);
        }
    }

    /// Why an action would send something else than what was filled in: the page has emptied or switched a field meanwhile.
    pub(super) fn changed_field(&self, pages: &Profile, tab: &str, action: &FastAction) -> Option<RunCause> {
        if !matches!(action.what, What::Click { .. } | What::Press { .. }) {
            return None;
        }
        let fast = self.routine.as_ref()?.report.fast.as_ref()?;
        let own = fast.filled.iter().filter(|one| one.tab == tab);
        let changed = own
            .filter(|one| action.element.as_ref() != Some(&one.anchor))
            .find(|one| held(pages, tab, &one.anchor, &one.frame).is_some_and(|now| is_lost(&one.held, &now)))?;
        let sought = format!("{} as it was filled in", described(&changed.anchor));
        Some(cause(NOT_ACTIONABLE, sought, "the page has emptied or changed it since; nothing was sent"))
    }
}

/// What a field holds, as the data of an event; `None` if that is not known.
fn held(pages: &Profile, tab: &str, anchor: &Anchor, frame: &[FrameStep]) -> Option<Value> {
    let found = look(pages, tab, anchor, frame, Strictness::default()).ok()?;
    let (Target::One(reference) | Target::InState(reference, _)) = found else { return None };
    let handle = pages.tab_to_read(Some(tab)).ok()?;
    let (node, _) = handle.tab.resolve(&reference).ok()?;
    let held = handle.tab.traced(&node, Deadline::after(LOOK)).ok()?.held;
    held.is_object().then_some(held)
}

/// Whether a field lost what it held. Pages write texts in other forms: a text is lost when the field is empty.
fn is_lost(was: &Value, now: &Value) -> bool {
    let text = |held: &Value| held.get("value").and_then(Value::as_str).map(|text| !text.trim().is_empty());
    match (text(was), text(now)) {
        (Some(was), Some(now)) => was && !now,
        _ => ["checked", "values"].iter().any(|key| !was[*key].is_null() && was[*key] != now[*key]),
    }
}
