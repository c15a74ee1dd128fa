//! A flat session: calls and events of one target over the shared connection.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::connection::{CallOptions, Connection};
use super::error::Error;
use super::reply::{RawReply, Reply};
use super::rt::Command;
use super::subscription::{Capacity, Subscription, Watch};
use crate::sync::Deadline;

/// A session of a connection (`Target.attachToTarget` with `flatten`). Clones are handles of the same session; they
/// keep the connection open.
#[derive(Clone)]
pub struct Session {
    connection: Connection,
    id: Arc<str>,
}

impl Session {
    pub(super) fn new(connection: Connection, id: Arc<str>) -> Self {
        Self { connection, id }
    }

    /// The id that the browser gave the session; it is valid on this connection only.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The connection of the session.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends a command and waits for its result.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn call<C: Command>(&self, command: &C, deadline: Deadline<'_>) -> Result<C::Returns, Error> {
        self.send_by(command, deadline)?.wait(deadline)
    }

    /// Sends a command. The returned handle waits for the result.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn send<C: Command>(&self, command: &C) -> Result<Reply<C>, Error> {
        self.send_by(command, super::connection::send_deadline())
    }

    /// Sends a command; sending fails at the deadline.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn send_by<C: Command>(&self, command: &C, deadline: Deadline<'_>) -> Result<Reply<C>, Error> {
        let options = CallOptions { session: Some(&self.id), deadline, interruptible: false };
        Ok(Reply::new(self.connection.start(Cow::Borrowed(C::METHOD), command, options)?))
    }

    /// Sends any command by name and waits for its result as JSON.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn call_raw(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<RawReply, Error> {
        let options = CallOptions { session: Some(&self.id), deadline, interruptible: false };
        Reply::raw(self.connection.start(method.into(), params, options)?).wait_raw(deadline)
    }

    /// Sends any command by name. The returned handle waits for the result.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn send_raw(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Result<Reply<RawReply>, Error> {
        let deadline = super::connection::send_deadline();
        let options = CallOptions { session: Some(&self.id), deadline, interruptible: false };
        Ok(Reply::raw(self.connection.start(method.into(), params, options)?))
    }

    /// Subscribes to events of this session. Subscribe before sending the command that enables them.
    #[must_use]
    pub fn subscribe(&self, methods: &[&'static str], capacity: Capacity) -> Subscription {
        self.connection.subscribe(Watch::session(Arc::clone(&self.id)).only(methods), capacity)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.id).finish()
    }
}
