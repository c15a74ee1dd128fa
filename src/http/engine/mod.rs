//! The engine that serves HTTP/1.1 within bounds: connections, requests and answers. Knows nothing of browsers or routes.
//!
//! One thread, `http-in`, owns the listener and every connection, reads heads and bodies, asks the [`Handler`] who may
//! in before a byte of a body is read, and watches for clients that hang up. Requests go to one of two [`Lane`]s with
//! threads and a bounded queue of their own, so that what waits for pages never holds up what does not. Workers write
//! what the system takes at once; `http-in` sends the rest. Each event stream has a thread.
//!
//! Every refusal of the engine itself is JSON with the codes of the control API. Malformed requests are 400
//! `BAD_REQUEST`, whatever it is that is wrong with them; a head or body that does not arrive in time is 408 `TIMEOUT`
//! (504 is for operations that take too long). The connection is closed behind every refusal.

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

/// What the engine serves. Everything may be called from several threads at once.
pub trait Handler: Send + Sync {
    /// Whether a request may go on, asked before its body is read. What is returned instead is sent, and
    /// the connection closed. Runs on the thread of all connections: it must not wait.
    ///
    /// # Errors
    /// The refusal.
    fn admit(&self, head: &Head) -> Result<(), Answer>;

    /// How many bytes the body of an admitted request may have; `None` for what the [limits](Limits) say. Runs on the thread
    /// of all connections: it must not wait.
    fn body_bytes(&self, _head: &Head) -> Option<usize> {
        None
    }

    /// Which lane does the request. Runs on the thread of all connections: it must not wait.
    fn lane(&self, head: &Head) -> Lane;

    /// Does the request. A panic is answered as 500 `INTERNAL`.
    fn handle(&self, request: Request) -> Answer;
}

/// Which threads do a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// What is answered from what is known, at once.
    Control,
    /// What waits for pages or browsers.
    Action,
}
