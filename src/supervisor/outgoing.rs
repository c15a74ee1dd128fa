//! Commands that are sent without waiting, without their types.

use std::fmt;
use std::sync::Arc;

use crossbeam_channel::Sender;

use crate::cdp::rt::Command;
use crate::cdp::{self, Answer, Connection};

trait Sendable: Send + Sync {
    fn start(
        &self,
        connection: &Connection,
        session: Option<&Arc<str>>,
        inbox: &Sender<Answer>,
        tag: u64,
    ) -> Result<(), cdp::Error>;

    #[cfg(test)]
    fn params(&self) -> serde_json::Value;
}

impl<C: Command + Send + Sync> Sendable for C {
    fn start(
        &self,
        connection: &Connection,
        session: Option<&Arc<str>>,
        inbox: &Sender<Answer>,
        tag: u64,
    ) -> Result<(), cdp::Error> {
        connection.start_to_inbox(self, session, inbox, tag)
    }

    #[cfg(test)]
    fn params(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap()
    }
}

/// A command of the protocol without its type; `From` makes it of any command. Its `Debug` shows the method only: parameters may
/// hold secrets.
#[derive(Clone)]
pub(super) struct Outgoing {
    method: &'static str,
    command: Arc<dyn Sendable>,
}

impl<C: Command + Send + Sync + 'static> From<C> for Outgoing {
    fn from(command: C) -> Self {
        Self { method: C::METHOD, command: Arc::new(command) }
    }
}

impl Outgoing {
    /// Its method, `Domain.command`.
    pub(super) fn method(&self) -> &'static str {
        self.method
    }

    /// Sends it; the answer goes to the inbox, marked with the tag. Never waits.
    pub(super) fn start(
        &self,
        connection: &Connection,
        session: Option<&Arc<str>>,
        inbox: &Sender<Answer>,
        tag: u64,
    ) -> Result<(), cdp::Error> {
        self.command.start(connection, session, inbox, tag)
    }

    /// Whether it is the same value, not only an equal one.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.command, &other.command)
    }

    /// Its parameters.
    #[cfg(test)]
    pub(super) fn params(&self) -> serde_json::Value {
        self.command.params()
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outgoing").field(&self.method).finish()
    }
}
