//! Which effects of a conversation a person approves, and what was approved.

use std::collections::HashSet;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::settings::Settings;
use crate::config;
use crate::secrets::SecretStore;
use crate::tools::{Allowed, Effect, EffectKind, Guard, Image, ToolError, approval_needed};
use cdpilot::code::Code;

/// What a person has allowed for the rest of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The kind of effect.
    kind: String,
    /// The only origin at which it is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// The only effect that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

impl Grant {
    /// Effects of a kind, at one origin or at all.
    pub(super) fn of_kind(kind: &str, origin: Option<&str>) -> Self {
        Self { kind: kind.to_owned(), origin: origin.map(ToOwned::to_owned), fingerprint: None }
    }

    /// One effect, as often as it occurs.
    pub(super) fn of_effect(kind: &str, fingerprint: &str) -> Self {
        Self { kind: kind.to_owned(), origin: None, fingerprint: Some(fingerprint.to_owned()) }
    }

    fn allows(&self, effect: &Effect) -> bool {
        self.kind == effect.kind.as_str()
            && self.origin.as_ref().is_none_or(|origin| *origin == effect.origin)
            && self.fingerprint.as_ref().is_none_or(|fingerprint| *fingerprint == effect.fingerprint)
    }
}

/// The grants in the settings of a conversation.
pub(super) fn grants_of(settings: &Settings) -> Vec<Grant> {
    let stored = settings.more.get(GRANTS).cloned().unwrap_or(Value::Null);
    serde_json::from_value(stored).unwrap_or_default()
}

/// The setting with the grants.
pub(super) const GRANTS: &str = "grants";

/// An effect that waits for approval, with a picture of its element.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) effect: Effect,
    pub(super) picture: Option<Image>,
}

/// What a person has approved of a call that is made once more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resumed<'a> {
    /// The fingerprint of the effect.
    pub(super) fingerprint: &'a str,
    /// Those that were approved for the same call before.
    pub(super) before: &'a [String],
    /// Whether the effect follows a first part of the call, which is done.
    pub(super) follows: bool,
}

#[derive(Debug, Default)]
struct State {
    /// The fingerprint that the call in progress was approved with.
    approved: Option<String>,
    /// Whether the first part of the call in progress is done already.
    resumes: bool,
    /// Fingerprints that were approved for the call in progress, none of which is done yet.
    used: HashSet<String>,
    wanted: Option<Wanted>,
    /// The kind of the effect that was approved in this call, and in the one before.
    kind: Option<EffectKind>,
    kind_before: Option<EffectKind>,
}

/// The guard of a run.
pub(super) struct RunGuard {
    all: bool,
    grants: Vec<Grant>,
    secrets: SecretStore,
    names: Vec<String>,
    /// Locked for operations in memory only.
    state: Mutex<State>,
}

impl RunGuard {
    /// The guard of a conversation; `None` if it is off.
    pub(super) fn of(settings: &Settings, default: config::Guard, secrets: &SecretStore) -> Option<Self> {
        let own = settings.more.get("guard").and_then(|guard| serde_json::from_value(guard.clone()).ok());
        let all = match own.unwrap_or(default) {
            config::Guard::Off => return None,
            config::Guard::Irreversible => false,
            config::Guard::All => true,
        };
        let (grants, names) = (grants_of(settings), settings.secrets());
        Some(Self { all, grants, secrets: secrets.clone(), names, state: Mutex::default() })
    }

    /// Begins a call; `approved`: what a person has approved of it.
    pub(super) fn begin(&self, approved: Option<Resumed<'_>>) {
        let mut state = self.state.lock();
        state.wanted = None;
        state.kind_before = state.kind.take();
        match approved {
            Some(Resumed { fingerprint, before, follows }) => {
                (state.approved, state.resumes) = (Some(fingerprint.to_owned()), follows);
                state.used = before.iter().cloned().collect();
            }
            None => (state.approved, state.resumes, state.used) = (None, false, HashSet::new()),
        }
    }

    /// The effect for which the last call needs approval.
    pub(super) fn take_wanted(&self) -> Option<Wanted> {
        self.state.lock().wanted.take()
    }
}

fn void() -> ToolError {
    let message = "the approval is void, because the page or what it would send has changed since. It was not done; look at the page again";
    ToolError::new(Code::ApprovalVoid, message)
}

impl Guard for RunGuard {
    fn guards_all(&self) -> bool {
        self.all
    }

    fn permit(&self, effect: Effect, picture: &dyn Fn() -> Option<Image>) -> Result<Allowed, ToolError> {
        let mut state = self.state.lock();
        if self.grants.iter().any(|grant| grant.allows(&effect)) {
            // It may have been approved for all effects of its kind.
            if state.approved.take().is_some() {
                state.kind = Some(effect.kind);
            }
            return Ok(Allowed::Free);
        }
        if state.used.contains(&effect.fingerprint) {
            return Ok(Allowed::Approved);
        }
        if let Some(approved) = state.approved.take() {
            if approved == effect.fingerprint {
                state.kind = Some(effect.kind);
                state.used.insert(approved);
                return Ok(Allowed::Approved);
            }
            return Err(void());
        }
        drop(state);
        let needed = approval_needed(&effect);
        // Outside the lock: this captures the page.
        let picture = picture();
        self.state.lock().wanted = Some(Wanted { effect, picture });
        Err(needed)
    }

    fn allow_free(&self, _: &str) -> Result<(), ToolError> {
        if self.state.lock().approved.take().is_some() { Err(void()) } else { Ok(()) }
    }

    fn resumes(&self) -> bool {
        self.state.lock().resumes
    }

    fn has_just_approved(&self, kind: EffectKind) -> bool {
        self.state.lock().kind_before.is_some_and(|before| before == kind || kind == EffectKind::Unknown)
    }

    fn secret_named(&self, value: &str) -> Option<String> {
        self.secrets.name_of(value, &self.names)
    }
}
