//! Handles of pending calls. Sending returns a handle, waiting is a separate step, dropping discards the answer: this
//! allows pipelining without futures.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use serde::Deserialize;

use super::connection::Inner;
use super::error::{Error, TimeoutKind};
use super::pending::{Body, Outcome, Slot};
use super::rt::Command;
use crate::sync::Deadline;

/// The result of a raw call, as JSON text.
#[derive(Debug, Clone)]
pub struct RawReply {
    body: Body,
    method: Cow<'static, str>,
}

impl RawReply {
    /// The JSON text of the result; `{}` without a result.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        if self.body.range.is_empty() {
            return Bytes::from_static(b"{}");
        }
        self.body.message.slice(self.body.range.clone())
    }

    /// The result as a `T`.
    ///
    /// # Errors
    /// [`Error::Decode`] with the JSON path of the invalid value.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Error> {
        let text = match &self.body.message[self.body.range.clone()] {
            [] => b"{}",
            text => text,
        };
        decode(text, || self.method.clone())
    }

    /// The result as a JSON value.
    ///
    /// # Errors
    /// [`Error::Decode`] if the text is not JSON.
    pub fn value(&self) -> Result<serde_json::Value, Error> {
        self.decode()
    }
}

/// An answer delivered to an inbox instead of a waiting thread.
#[derive(Debug)]
pub struct Answer {
    /// The tag that the call was sent with.
    pub tag: u64,
    after: u64,
    method: Cow<'static, str>,
    outcome: Outcome,
}

impl Answer {
    pub(super) fn new(tag: u64, after: u64, method: Cow<'static, str>, outcome: Outcome) -> Self {
        Self { tag, after, method, outcome }
    }

    /// Number of events received on the connection before it.
    pub(crate) fn after(&self) -> u64 {
        self.after
    }

    /// The name of the command that was sent, `Domain.command`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The outcome of the call.
    ///
    /// # Errors
    /// The error of a failed call.
    pub fn into_result(self) -> Result<RawReply, Error> {
        let method = self.method;
        self.outcome.map(|body| RawReply { body, method })
    }
}

/// A call in flight. Dropping it discards the answer.
#[derive(Debug)]
pub struct Reply<C> {
    call: Call,
    command: PhantomData<fn() -> C>,
}

impl<C: Command> Reply<C> {
    pub(super) fn new(call: Call) -> Self {
        Self { call, command: PhantomData }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// The error of the call; [`Error::Timeout`] at the deadline.
    pub fn wait(mut self, deadline: Deadline<'_>) -> Result<C::Returns, Error> {
        self.call.wait(deadline)?.decode()
    }

    /// The result if it arrives by the deadline, else the handle.
    ///
    /// # Errors
    /// The handle, at the deadline.
    pub fn poll(mut self, deadline: Deadline<'_>) -> Result<Result<C::Returns, Error>, Self> {
        match self.call.poll(deadline) {
            Some(outcome) => Ok(outcome.and_then(|raw| raw.decode())),
            None => Err(self),
        }
    }
}

impl Reply<RawReply> {
    pub(super) fn raw(call: Call) -> Self {
        Self { call, command: PhantomData }
    }

    /// Waits for the result of a raw call.
    ///
    /// # Errors
    /// The error of the call; [`Error::Timeout`] at the deadline.
    pub fn wait_raw(mut self, deadline: Deadline<'_>) -> Result<RawReply, Error> {
        self.call.wait(deadline)
    }

    /// The result if it arrives by the deadline, else the handle.
    ///
    /// # Errors
    /// The handle, at the deadline.
    pub fn poll_raw(mut self, deadline: Deadline<'_>) -> Result<Result<RawReply, Error>, Self> {
        self.call.poll(deadline).ok_or(self)
    }
}

/// The untyped part of a [`Reply`].
#[derive(Debug)]
pub(super) struct Call {
    pub(super) inner: Arc<Inner>,
    pub(super) slot: Arc<Slot>,
    pub(super) id: u64,
    pub(super) method: Cow<'static, str>,
    pub(super) sent: Instant,
}

impl Call {
    fn wait(&mut self, deadline: Deadline<'_>) -> Result<RawReply, Error> {
        self.poll(deadline).unwrap_or_else(|| {
            Err(Error::Timeout { kind: TimeoutKind::Reply, method: self.method.clone(), after: self.sent.elapsed() })
        })
    }

    fn poll(&mut self, deadline: Deadline<'_>) -> Option<Result<RawReply, Error>> {
        let outcome = loop {
            if let Some(outcome) = self.inner.await_slot(&self.slot, self.sent, Deadline::at(deadline.next_check())) {
                break outcome;
            }
            if deadline.passed() {
                return None;
            }
        };
        let method = self.method.clone();
        Some(outcome.map(|body| RawReply { body, method }))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.slot.is_done() {
            self.inner.pending.remove(self.id);
        }
    }
}

/// Decodes JSON. The path is computed only after a failure.
pub(super) fn decode<'a, T: Deserialize<'a>>(
    text: &'a [u8],
    method: impl FnOnce() -> Cow<'static, str>,
) -> Result<T, Error> {
    serde_json::from_slice(text).map_err(|first| {
        let mut json = serde_json::Deserializer::from_slice(text);
        let (path, problem) = match serde_path_to_error::deserialize::<_, T>(&mut json) {
            Err(error) => (error.path().to_string(), error.inner().to_string()),
            Ok(_) => (".".to_owned(), first.to_string()),
        };
        Error::Decode { method: method(), path, problem }
    })
}
