//! Whether the recorded effects of an action followed.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::super::ends::POSTCONDITION_FAILED;
use super::super::report::RunCause;
use super::act::current_address;
use super::cause;
use super::find::patience;
use super::state::FastCall;
use crate::agent::turn::Turn;
use crate::control::Profile;
use crate::record::draft::Effect;
use crate::replay::{FastAction, Replaced, What};
use cdpilot::supervisor::LogEvent;
use cdpilot::sync::pause;

/// How often an effect is looked for.
const AGAIN: Duration = Duration::from_millis(40);
/// Most events of the browser that are looked through.
const MOST_EVENTS: usize = 10_000;
/// Fields of a result that say that something happened.
const SIGNS: [&str; 7] =
    ["navigated", "changes", "notices", "new_tabs", "downloads", "pending_dialogs", "recent_dialogs"];

/// What followed from an action.
pub(super) enum Followed {
    /// All that was recorded.
    Yes {
        /// Whether something shows that it had an effect.
        is_seen: bool,
        /// Whether that is certain: what was there before proves nothing.
        is_certain: bool,
    },
    /// An effect is missing.
    No(RunCause),
    /// The run was interrupted meanwhile.
    Held,
}

/// Whether each recorded effect is there already. Only an address can be.
pub(super) fn present(pages: &Profile, tab: &str, action: &FastAction, replaced: &Replaced) -> Vec<bool> {
    let address = current_address(pages, Some(tab)).unwrap_or_default();
    let is_there = |effect: &Effect| match effect {
        Effect::Url { url } => replaced.is_same_address(url, &address),
        _ => false,
    };
    action.effects.iter().map(is_there).collect()
}

impl Turn<'_> {
    /// Recorded values of the inputs, and those of the run.
    pub(super) fn replaced(&self) -> Replaced {
        let fast = self.routine.as_ref().and_then(|run| run.report.fast.as_ref());
        fast.map(|fast| Replaced(fast.inputs.clone())).unwrap_or_default()
    }

    /// Waits for the recorded effects of a call.
    pub(super) fn follow_effects(
        &mut self,
        pages: &Profile,
        call: &FastCall,
        action: &FastAction,
        result: &Value,
    ) -> Followed {
        let checks_itself =
            matches!(action.what, What::Fill { .. } | What::Check { .. } | What::Select { .. } | What::Upload { .. });
        let has_sign = SIGNS.iter().any(|sign| match &result[*sign] {
            Value::Null | Value::Bool(false) => false,
            Value::Array(all) => !all.is_empty(),
            Value::String(text) => !text.is_empty(),
            _ => true,
        });
        if action.effects.is_empty() {
            let is_seen = checks_itself || has_sign || !matches!(action.what, What::Click { .. });
            return Followed::Yes { is_seen, is_certain: true };
        }
        let until = Instant::now() + patience(action.seconds);
        let mut is_certain = true;
        for (at, effect) in action.effects.iter().enumerate() {
            while !self.has_followed(pages, call, action, effect, result) {
                if self.cancel.is_set() {
                    return Followed::Held;
                }
                if Instant::now() >= until {
                    let found = current_address(pages, self.tab_now(action.tab).as_deref()).unwrap_or_default();
                    let found = format!("it was done once, and did not follow; the page is {found}");
                    let (sought, found) = (self.offer.cover(&described(effect)), self.offer.cover(&found));
                    return Followed::No(cause(POSTCONDITION_FAILED, sought, found));
                }
                pause(AGAIN);
            }
            is_certain &= call.before.get(at) != Some(&true);
        }
        Followed::Yes { is_seen: true, is_certain }
    }

    fn has_followed(
        &mut self,
        pages: &Profile,
        call: &FastCall,
        action: &FastAction,
        effect: &Effect,
        result: &Value,
    ) -> bool {
        let replaced = self.replaced();
        match effect {
            Effect::Url { url } => {
                // A tab that was opened for it shows it.
                let tabs = self.routine.as_ref().and_then(|run| run.report.fast.as_ref()).map(|fast| fast.tabs.clone());
                let tab = self.tab_now(action.tab);
                let own = current_address(pages, tab.as_deref());
                let others = tabs.into_iter().flatten().filter(|(_, target)| !call.tabs.contains(target));
                let others = others.filter_map(|(_, target)| current_address(pages, Some(&target)));
                own.into_iter().chain(others).any(|seen| replaced.is_same_address(url, &seen))
            }
            Effect::Tab { tab, url } => {
                let Some(fast) = self.routine.as_mut().and_then(|run| run.report.fast.as_mut()) else { return false };
                let known: Vec<&String> = fast.tabs.values().collect();
                let new = pages.targets().into_iter().filter(|one| !call.tabs.contains(one) && !known.contains(&one));
                let mut new = new.filter(|target| {
                    let shown = current_address(pages, Some(target)).unwrap_or_default();
                    url.is_empty() || url == "about:blank" || replaced.is_same_address(url, &shown)
                });
                match new.next() {
                    Some(target) => {
                        fast.tabs.insert(*tab, target);
                        true
                    }
                    None => fast.tabs.get(tab).is_some_and(|known| !call.tabs.contains(known)),
                }
            }
            Effect::TabClosed { tab } => {
                let target = self.tab_now(*tab);
                target.is_none_or(|target| !pages.targets().contains(&target))
            }
            Effect::Download { .. } => {
                let is_reported = result["downloads"].as_array().is_some_and(|all| !all.is_empty());
                is_reported || {
                    let tail = pages.events().since(call.events, MOST_EVENTS);
                    tail.entries.iter().any(|entry| matches!(&*entry.event, LogEvent::Download(_)))
                }
            }
            // It is an action of its own.
            Effect::Dialog(_) => true,
        }
    }
}

fn described(effect: &Effect) -> String {
    match effect {
        Effect::Url { url } => format!("the page {url} afterwards"),
        Effect::Tab { url, .. } => format!("a new tab with {url}"),
        Effect::TabClosed { .. } => "its tab closed".to_owned(),
        Effect::Download { filename, .. } => format!("a download of {filename:?}"),
        Effect::Dialog(answer) => format!("the {} {:?}", answer.dialog, answer.message),
    }
}
