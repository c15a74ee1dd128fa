//! Which effects of a conversation a person approves, and what was approved.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::routine::StepScope;
use super::settings::Settings;
use super::wire::Wire;
use crate::config;
use crate::secrets::SecretStore;
use crate::tools::{Allowed, Effect, Guard, Image, ToolError, approval_needed, unshowable};
use cdpilot::code::Code;
use cdpilot::supervisor::Dialog;

/// What a person has allowed for the rest of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The kind of effect.
    kind: String,
    /// The only origin at which it is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// With an origin: the only origin that something is sent to; empty for effects that send nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destination: Option<String>,
    /// The only effect that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
}

impl Grant {
    /// Effects of a kind, wherever they are.
    pub(super) fn of_kind(kind: &str) -> Self {
        Self { kind: kind.to_owned(), origin: None, destination: None, fingerprint: None }
    }

    /// Effects of a kind in pages of one origin, which send to the origin of one address, or nothing if it is empty.
    pub(super) fn at(kind: &str, origin: &str, destination: &str) -> Self {
        let destination = Some(origin_of(destination));
        Self { destination, origin: Some(origin.to_owned()), ..Self::of_kind(kind) }
    }

    /// One effect, as often as it occurs.
    pub(super) fn of_effect(kind: &str, fingerprint: &str) -> Self {
        Self { fingerprint: Some(fingerprint.to_owned()), ..Self::of_kind(kind) }
    }

    pub(super) fn allows(&self, effect: &Effect) -> bool {
        self.kind == effect.kind.as_str()
            && self.origin.as_ref().is_none_or(|origin| *origin == effect.origin)
            && self.destination.as_ref().is_none_or(|destination| *destination == origin_of(&effect.destination))
            && self.fingerprint.as_ref().is_none_or(|fingerprint| *fingerprint == effect.fingerprint)
    }
}

/// The origin of an address; empty without one.
pub(super) fn origin_of(address: &str) -> String {
    let origin = Url::parse(address).map(|url| url.origin());
    origin.ok().filter(url::Origin::is_tuple).map(|origin| origin.ascii_serialization()).unwrap_or_default()
}

/// The grants in the settings of a conversation.
pub(super) fn grants_of(settings: &Settings) -> Vec<Grant> {
    let stored = settings.more.get(GRANTS).cloned().unwrap_or(Value::Null);
    serde_json::from_value(stored).unwrap_or_default()
}

/// Which actions of a conversation a person approves. `default`: that of the server.
pub(super) fn level(settings: &Settings, default: config::Guard) -> config::Guard {
    let own = settings.more.get("guard").and_then(|guard| serde_json::from_value(guard.clone()).ok());
    own.unwrap_or(default)
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
    /// What was approved in this call, and in the one before, as far as the element said what it asks.
    foreseen: Option<Foreseen>,
    foreseen_before: Option<Foreseen>,
}

/// What the element of an approved effect says of itself.
#[derive(Debug)]
struct Foreseen {
    frame: String,
    attributes: String,
    /// In Unix seconds, shortly before the effect.
    since: f64,
}

impl Foreseen {
    /// Whether a dialog was opened by the element, with a text that its attributes contain.
    fn opened(&self, dialog: &Dialog) -> bool {
        let in_frame = dialog.frame_id.as_ref().is_some_and(|frame| frame.as_str() == self.frame);
        let message = dialog.message.trim();
        in_frame && dialog.opened_at >= self.since && !message.is_empty() && self.attributes.contains(message)
    }
}

/// The guard of a run.
pub(super) struct RunGuard {
    all: bool,
    grants: Vec<Grant>,
    /// What a person has allowed for the step in progress of a routine.
    routine: Option<Arc<StepScope>>,
    secrets: SecretStore,
    names: Vec<String>,
    /// Holds the requests of its pages.
    wire: Wire,
    /// Locked for operations in memory only.
    state: Mutex<State>,
}

impl RunGuard {
    /// The guard of a conversation; `None` if it is off.
    pub(super) fn of(
        settings: &Settings,
        default: config::Guard,
        secrets: &SecretStore,
        routine: Option<(Arc<StepScope>, Vec<String>)>,
        wire: impl FnOnce() -> Wire,
    ) -> Option<Self> {
        let all = match level(settings, default) {
            config::Guard::Off => return None,
            config::Guard::Irreversible => false,
            config::Guard::All => true,
        };
        let (grants, mut names) = (grants_of(settings), settings.secrets());
        let (routine, lent) = routine.unzip();
        names.extend(lent.unwrap_or_default());
        let wire = wire();
        wire.begin_run(grants.clone(), routine.clone());
        Some(Self { all, grants, routine, secrets: secrets.clone(), names, wire, state: Mutex::default() })
    }

    /// Begins a call; `approved`: what a person has approved of it.
    pub(super) fn begin(&self, approved: Option<Resumed<'_>>) {
        let mut state = self.state.lock();
        state.wanted = None;
        state.foreseen_before = state.foreseen.take();
        match approved {
            Some(Resumed { fingerprint, before, follows }) => {
                (state.approved, state.resumes) = (Some(fingerprint.to_owned()), follows);
                state.used = before.iter().cloned().collect();
            }
            None => (state.approved, state.resumes, state.used) = (None, false, HashSet::new()),
        }
    }

    /// The requests of its pages.
    pub(super) fn wire(&self) -> &Wire {
        &self.wire
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
        let in_routine = self.routine.as_ref().is_some_and(|scope| scope.allows(&effect));
        if in_routine || self.grants.iter().any(|grant| grant.allows(&effect)) {
            // It may have been approved for all effects of its kind.
            state.approved = None;
            self.wire.cover(&effect);
            return Ok(Allowed::Free);
        }
        if state.used.contains(&effect.fingerprint) {
            self.wire.cover(&effect);
            return Ok(Allowed::Approved);
        }
        if let Some(approved) = state.approved.take() {
            if approved == effect.fingerprint {
                state.used.insert(approved);
                self.wire.cover(&effect);
                return Ok(Allowed::Approved);
            }
            return Err(void());
        }
        drop(state);
        if let Some(why) = effect.unshowable() {
            return Err(unshowable(&effect, &why));
        }
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

    fn foresee(&self, frame: &str, attributes: &str) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let (frame, attributes) = (frame.to_owned(), attributes.to_owned());
        self.state.lock().foreseen = Some(Foreseen { frame, attributes, since });
    }

    fn has_foreseen(&self, dialog: &Dialog) -> bool {
        let state = self.state.lock();
        let has_foreseen = state.foreseen.iter().chain(&state.foreseen_before).any(|foreseen| foreseen.opened(dialog));
        drop(state);
        if has_foreseen {
            self.wire.keep_covers();
        }
        has_foreseen
    }

    fn secret_named(&self, value: &str) -> Option<String> {
        let name = self.secrets.name_of(value, &self.names)?;
        Some(name.rsplit_once('/').map_or(name.as_str(), |(_, name)| name).to_owned())
    }
}
