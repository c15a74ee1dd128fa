//! A received event, decoded on demand.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::error::Error;
use super::reply::decode;
use super::rt;

/// An event. Clones share its data.
#[derive(Clone)]
pub struct Event {
    inner: Arc<Inner>,
}

struct Inner {
    text: Bytes,
    method: Box<str>,
    session: Option<Arc<str>>,
    params: Range<usize>,
    number: u64,
    /// Size of the message and the limit, if it was larger than that.
    cut: Option<(usize, usize)>,
}

/// Messages up to this size are copied out of the read buffer: a small message that is kept would pin the whole buffer.
/// Larger ones have their own buffer.
const COPY_BELOW: usize = 16 * 1024;

impl Event {
    pub(super) fn new(
        message: &Bytes,
        method: &str,
        session: Option<Arc<str>>,
        params: Option<Range<usize>>,
        number: u64,
    ) -> Self {
        let params = params.unwrap_or(0..0);
        let (text, params) = if message.len() <= COPY_BELOW {
            (Bytes::copy_from_slice(&message[params.clone()]), 0..params.len())
        } else {
            (message.clone(), params)
        };
        Self { inner: Arc::new(Inner { text, method: method.into(), session, params, number, cut: None }) }
    }

    /// An event whose message of `bytes` bytes exceeds the limit; only its beginning was kept.
    pub(super) fn cut(
        params: String,
        method: &str,
        session: Option<Arc<str>>,
        number: u64,
        (bytes, limit): (usize, usize),
    ) -> Self {
        let range = 0..params.len();
        let cut = Some((bytes, limit));
        Self {
            inner: Arc::new(Inner { text: params.into(), method: method.into(), session, params: range, number, cut }),
        }
    }

    /// An event that was not received, for tests.
    #[cfg(test)]
    pub(crate) fn made_up(method: &str, session: Option<&str>, params: &serde_json::Value) -> Self {
        let text = params.to_string();
        let range = 0..text.len();
        Self::new(&text.into(), method, session.map(Into::into), Some(range), 1)
    }

    /// Whether its message was larger than [`max_message`](super::ConnectOptions::max_message). It cannot be decoded
    /// then; [`params`](Self::params) contains the leading string parameters.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.inner.cut.is_some()
    }

    /// The name of the event, `Domain.event`.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.inner.method
    }

    /// The session that it was received on; `None` for the browser itself.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.inner.session.as_deref()
    }

    pub(crate) fn session_arc(&self) -> Option<&Arc<str>> {
        self.inner.session.as_ref()
    }

    /// Its position among the events of the connection, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.inner.number
    }

    /// The parameters as JSON text; `{}` without parameters.
    #[must_use]
    pub fn params(&self) -> &[u8] {
        match &self.inner.text[self.inner.params.clone()] {
            [] => b"{}",
            text => text,
        }
    }

    /// Whether the event has type `E`.
    #[must_use]
    pub fn is<'a, E: rt::Event<'a>>(&self) -> bool {
        self.method() == E::METHOD
    }

    /// The parameters as an `E`, with strings borrowed from the event.
    ///
    /// # Errors
    /// [`Error::Decode`] with the JSON path of the invalid value; [`Error::AnswerTooLarge`] if it [is
    /// cut](Self::is_cut).
    pub fn decode<'a, E: rt::Event<'a>>(&'a self) -> Result<E, Error> {
        if let Some((bytes, limit)) = self.inner.cut {
            return Err(Error::AnswerTooLarge { method: self.inner.method.to_string().into(), bytes, limit });
        }
        decode(self.params(), || self.inner.method.to_string().into())
    }

    /// Memory that the event uses in a queue, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.inner.text.len() + self.inner.method.len()
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("method", &self.method())
            .field("session", &self.session())
            .field("bytes", &self.inner.params.len())
            .finish()
    }
}
