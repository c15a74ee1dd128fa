//! Effects: what the state machine has its thread do.

use std::sync::Arc;

use super::super::TargetId;
use super::super::outgoing::Outgoing;

/// An id of a session; the protocol's `SessionId` without its wrapper.
pub(in crate::supervisor) type SessionKey = Arc<str>;

/// Something to do. Nothing here waits for an answer.
#[derive(Debug)]
pub(in crate::supervisor) enum Effect {
    /// Send a command; its answer comes back with the tag. Tag 0: the answer does not matter.
    Send { session: Option<SessionKey>, tag: u64, command: Outgoing },
    /// Detach from a target of another task. If it waits, it is resumed, unless its opener belongs to another supervisor, which does
    /// that.
    Release { session: SessionKey, opener: Option<TargetId>, waits: bool },
    /// Listen to the events of `Network`: sessions are about to send them.
    HearNetwork,
    /// End the waits of calls on this session: a dialog opened in its frame.
    Interrupt { session: SessionKey, dialog: Arc<str> },
    /// Look a name up.
    LookUp { host: Arc<str> },
    /// Listen to these events for a subscriber.
    Follow { number: u64, methods: Arc<[&'static str]> },
    /// Stop listening for a subscriber, who gets what has come.
    Unfollow { number: u64 },
}

/// Requests that a session's `Fetch` catches.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::supervisor) struct Catch {
    /// Those to the dialog bridge.
    pub(in crate::supervisor) bridge: Option<Arc<str>>,
    /// Those for documents.
    pub(in crate::supervisor) documents: bool,
    /// All of them.
    pub(in crate::supervisor) all: bool,
    /// Those that fit one of these URL patterns: they lead to protected ports.
    pub(in crate::supervisor) patterns: Vec<String>,
    /// All of them, and the questions of servers that ask for a name and password.
    pub(in crate::supervisor) logins: bool,
    /// Those that routes may be for.
    pub(in crate::supervisor) routes: Vec<RoutePattern>,
}

/// Requests that a route may be for.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::supervisor) struct RoutePattern {
    /// As `Fetch` takes it.
    pub(in crate::supervisor) url: String,
    /// In lower case.
    pub(in crate::supervisor) resource_type: Option<String>,
}

impl Catch {
    /// Whether there is nothing to catch.
    pub(in crate::supervisor) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
