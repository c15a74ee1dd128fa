//! The Chrome DevTools Protocol: transport, connection, sessions and generated types.
//!
//! This module is independent of pages. It owns one reader thread per connection (`cdp-read-…`), the table of pending
//! calls, and the shared write path.
//!
//! | file | contents |
//! |---|---|
//! | `stream`, `poller` | a non-blocking byte stream, and waiting for it |
//! | `connect`, `http` | connecting to an endpoint, HTTP requests to it |
//! | `ws`, `pipe` | the two framings: WebSocket and NUL-terminated |
//! | `writer` | the shared write path |
//! | `reader` | the reading role: the thread, and the waiting caller that takes it over |
//! | `spin` | whether a waiting caller spins before it sleeps |
//! | `envelope` | ids, methods and ranges of a message, without decoding it |
//! | `pending`, `reply` | pending calls, and their handles |
//! | `subscription` | bounded queues of events |
//! | `connection`, `session` | the public interface |
//! | `rt`, `protocol` | support code of the generated types, and the types |

mod connect;
mod connection;
mod envelope;
mod error;
mod event;
pub mod http;
mod oversized;
mod pending;
mod pipe;
mod poller;
pub mod protocol;
mod reader;
mod reply;
pub mod rt;
mod session;
mod spin;
mod stream;
mod subscription;
#[cfg(feature = "tls")]
mod tls;
mod writer;
mod ws;

use crate::redact::endpoint as covered;

pub use connect::{ConnectOptions, Latency};
pub(crate) use connection::CallOptions;
pub use connection::{Connection, Counters};
pub use error::{CloseReason, Error, GoneReason, TimeoutKind};
pub use event::Event;
pub use reply::{Answer, RawReply, Reply};
pub use session::Session;
pub use subscription::{Capacity, Item, RecvError, Subscription, Watch};

/// Whether a command is answered by the browser process, even if the page's renderer has crashed or is blocked
/// (measured on Chromium 156). Other commands are not answered then.
#[must_use]
pub fn answered_by_browser(method: &str) -> bool {
    const PREFIXES: [&str; 5] = ["Target.", "Browser.", "Storage.", "Inspector.", "Fetch."];
    const METHODS: [&str; 10] = [
        "Page.navigate",
        "Page.reload",
        "Page.close",
        "Page.navigateToHistoryEntry",
        "Page.getNavigationHistory",
        "Page.handleJavaScriptDialog",
        "Network.getCookies",
        "Network.setCookies",
        "Network.setCookie",
        "Network.deleteCookies",
    ];
    PREFIXES.iter().any(|prefix| method.starts_with(prefix)) || METHODS.contains(&method)
}

#[doc(hidden)]
pub mod fuzzing {
    //! Entry points for property tests and fuzzers; not a stable interface.

    /// Scans one message as the reader does. Returns whether it is an envelope.
    #[must_use]
    pub fn envelope(text: &[u8]) -> bool {
        super::envelope::scan(text).is_some()
    }

    /// A message with lone surrogates replaced, as the reader does before it scans it.
    #[must_use]
    pub fn well_formed(text: &[u8]) -> Vec<u8> {
        crate::text::replace_lone_surrogates(text).into_owned()
    }

    /// The parts of a message envelope; bodies as their text.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[allow(missing_docs)]
    pub struct EnvelopeParts {
        pub id: Option<u64>,
        pub method: Option<String>,
        pub session: Option<String>,
        pub params: Option<Vec<u8>>,
        pub result: Option<Vec<u8>>,
        pub error: Option<Vec<u8>>,
    }

    /// Scans one message as the reader does.
    #[must_use]
    pub fn envelope_parts(text: &[u8]) -> Option<EnvelopeParts> {
        let envelope = super::envelope::scan(text)?;
        let body = |range: Option<std::ops::Range<usize>>| range.map(|range| text[range].to_vec());
        Some(EnvelopeParts {
            id: envelope.id,
            method: envelope.method.map(Into::into),
            session: envelope.session.map(Into::into),
            params: body(envelope.params),
            result: body(envelope.result),
            error: body(envelope.error),
        })
    }

    /// The result of decoding a stream of bytes.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    #[allow(missing_docs)]
    pub struct Decoded {
        /// Messages and control frames, in order.
        pub came: Vec<DecodedItem>,
        /// Why the connection would end here.
        pub refused: Option<String>,
    }

    /// One decoded item.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[allow(missing_docs)]
    pub enum DecodedItem {
        Message(Vec<u8>),
        Oversized(usize),
        Ping(Vec<u8>),
        Pong,
        Close(Option<u16>),
    }

    /// Decodes WebSocket frames received in these pieces; messages above `limit` bytes are skipped.
    #[must_use]
    pub fn decode_frames(pieces: &[&[u8]], limit: usize) -> Decoded {
        let mut decoder = super::ws::Decoder::new(limit);
        decode(pieces, |input| decoder.next(input))
    }

    /// Decodes pipe messages received in these pieces; messages above `limit` bytes are skipped.
    #[must_use]
    pub fn decode_pipe(pieces: &[&[u8]], limit: usize) -> Decoded {
        let mut decoder = super::pipe::Decoder::new(limit);
        decode(pieces, |input| decoder.next(input))
    }

    fn decode(
        pieces: &[&[u8]],
        mut next: impl FnMut(&mut &[u8]) -> Result<Option<super::ws::Incoming>, super::CloseReason>,
    ) -> Decoded {
        use super::ws::Incoming;
        let mut decoded = Decoded::default();
        for piece in pieces {
            let mut input = *piece;
            // Like the reader: until a piece is consumed and yields no more messages.
            loop {
                match next(&mut input) {
                    Ok(Some(incoming)) => decoded.came.push(match incoming {
                        Incoming::Message(bytes) => DecodedItem::Message(bytes.to_vec()),
                        Incoming::Oversized(skipped) => DecodedItem::Oversized(skipped.bytes()),
                        Incoming::Ping(bytes) => DecodedItem::Ping(bytes.to_vec()),
                        Incoming::Pong => DecodedItem::Pong,
                        Incoming::Close(code) => DecodedItem::Close(code),
                    }),
                    Ok(None) if input.is_empty() => break,
                    Ok(None) => {}
                    Err(reason) => {
                        decoded.refused = Some(reason.to_string());
                        return decoded;
                    }
                }
            }
        }
        decoded
    }
}
