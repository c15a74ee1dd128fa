//! What a person has allowed for all later runs of a routine.

use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};

use crate::agent::now;
use crate::routine::Routine;
use crate::tools::Effect;

/// How long a permission holds, in seconds: 90 days.
const LASTING: f64 = 90.0 * 86_400.0;

/// An effect that a person has allowed for a step of a routine, in all later runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Permission {
    /// Number of the step.
    pub step: u32,
    /// What the step said when the permission was given.
    pub digest: String,
    /// Kind of effect.
    pub effect: String,
    /// Origin of the page.
    pub origin: String,
    /// Origin that something is sent to; empty if nothing is.
    #[serde(default)]
    pub destination: String,
    /// Role of the element, or `request`.
    pub role: String,
    /// Name of the element, or method and address of the request.
    pub name: String,
    /// Until when it holds, in seconds since 1970.
    pub expires_at: f64,
}

impl Permission {
    /// The permission for the effect of a question, given now.
    pub(in crate::agent) fn of(step: u32, digest: String, question: &serde_json::Value) -> Self {
        let text = |name: &str| question[name].as_str().unwrap_or_default().to_owned();
        Self {
            step,
            digest,
            effect: text("effect"),
            origin: text("origin"),
            destination: crate::agent::guard::origin_of(&text("destination")),
            role: text("role"),
            name: text("name"),
            expires_at: now() + LASTING,
        }
    }

    /// Whether it still holds: it is not too old, and the step says what it said then.
    #[must_use]
    pub fn holds_in(&self, routine: &Routine) -> bool {
        let step = routine.steps.iter().find(|step| step.n == self.step);
        self.expires_at > now() && step.is_some_and(|step| step.digest() == self.digest)
    }
}

/// The permissions of a run, for the step in progress.
#[derive(Debug, Default)]
pub(in crate::agent) struct StepScope {
    permissions: Vec<Permission>,
    /// The step in progress; 0: none.
    step: AtomicU32,
}

impl StepScope {
    pub(super) fn new(permissions: Vec<Permission>) -> Self {
        Self { permissions, step: AtomicU32::new(0) }
    }

    pub(super) fn set_step(&self, n: u32) {
        self.step.store(n, Ordering::Release);
    }

    /// Whether an effect is allowed in the step in progress.
    pub(in crate::agent) fn allows(&self, effect: &Effect) -> bool {
        let step = self.step.load(Ordering::Acquire);
        let (role, name) = effect.element.clone().unwrap_or_default();
        let destination = crate::agent::guard::origin_of(&effect.destination);
        // Without a role, nothing says what was seen.
        step > 0
            && !role.is_empty()
            && self.permissions.iter().any(|permission| {
                permission.step == step
                    && permission.effect == effect.kind.as_str()
                    && permission.origin == effect.origin
                    && permission.destination == destination
                    && permission.role == role
                    && permission.name == name
            })
    }
}
