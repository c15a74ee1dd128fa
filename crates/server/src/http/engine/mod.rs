//! The engine that serves HTTP/1.1 within bounds: connections, requests and answers. Independent of browsers and routes.
//!
//! One thread, `http-in`, owns the listener and every connection, reads heads and bodies, asks the [`Handler`] to admit a
//! request before its body is read, and detects clients that disconnect. Requests go to one of two [`Lane`]s with their own
//! threads and bounded queues, so that requests that wait for pages never delay the others. Workers write what the socket
//! accepts immediately; `http-in` sends the rest. Each event stream has a thread.
//!
//! Refusals by the engine are JSON with the codes of the control API. Every malformed request is 400 `BAD_REQUEST`; a head
//! or body that does not arrive in time is 408 `TIMEOUT` (504 is for operations that take too long). The connection is
//! closed after every refusal.

mod answer;
mod chunks;
mod connection;
mod encode;
mod event_loop;
pub mod fuzzing;
mod head;
mod limits;
mod request;
mod request_reader;
mod server;
mod shared;
mod streams;
mod wire;
mod workers;

pub use answer::{Answer, Body, Event, EventSource, Next};
pub use limits::Limits;
pub use request::{Head, Request};
pub use server::{HttpServer, Listener};

/// The application served by the engine. Its methods are called from several threads at once.
pub trait Handler: Send + Sync {
    /// Admits a request before its body is read. A refusal is sent, and the connection closed. Runs on the thread of all
    /// connections: it must not wait.
    ///
    /// # Errors
    /// The refusal to send.
    fn admit(&self, head: &Head) -> Result<(), Answer>;

    /// Maximum size of the body of an admitted request, in bytes; `None` for the one of the [limits](Limits). Runs on the thread
    /// of all connections: it must not wait.
    fn body_bytes(&self, _head: &Head) -> Option<usize> {
        None
    }

    /// Whether handling the request changes something and then streams the events of it: it is refused before it is handled when
    /// the limit of streams is reached.
    fn is_streamed_change(&self, _head: &Head) -> bool {
        false
    }

    /// The lane that handles the request. Runs on the thread of all connections: it must not wait.
    fn lane(&self, head: &Head) -> Lane;

    /// Handles the request. A panic is answered with 500 `INTERNAL`.
    fn handle(&self, request: Request) -> Answer;
}

/// The group of threads that handles a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Requests answered immediately from known state.
    Control,
    /// Requests that wait for pages or browsers.
    Action,
}
