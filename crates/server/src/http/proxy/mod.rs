//! A forward proxy on loopback that admits only some hosts: what a browser context behind it sends goes there or nowhere.
//!
//! One thread serves all connections. Names are resolved and connections are made by threads of their own, at most
//! [`MOST_DIALS`] at a time. `CONNECT` becomes a tunnel. Other requests are sent in origin form with `Connection: close`, so
//! that each connection carries one request and each request is checked. A host that is not admitted gets `403` for
//! `CONNECT`, and no answer otherwise: Chromium would show the body of an answer as a page of that host.
//!
//! | file | contents |
//! |---|---|
//! | `event_loop` | the thread: connections, and bytes in both directions |
//! | `head` | heads of requests and responses |
//!
//! Without an answer, Chromium sends a refused request a second time. It sends requests for several hosts on one
//! connection of a proxy, which `Connection: close` prevents.

mod event_loop;
mod head;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mio::{Poll, Waker};

use cdpilot::sync::{Thread, spawn};

/// Maximum number of connections.
const MOST_CONNECTIONS: usize = 512;
/// Maximum number of threads that make connections.
const MOST_DIALS: usize = 32;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Destination {
    /// A name in lower case or an address; IPv6 without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether it is a tunnel, for `https`, `wss` or `ws`.
    pub(crate) is_tunnel: bool,
}

/// Which destinations are admitted. Called by the threads of the proxy; must not block.
pub(crate) trait Admission: Send + Sync + 'static {
    /// Whether a destination is admitted, before its name is resolved.
    fn admits(&self, to: &Destination) -> bool;
    /// Whether the address to which a destination was resolved is admitted, too.
    fn admits_address(&self, to: &Destination, address: SocketAddr) -> bool;
    /// A destination was refused.
    fn refused(&self, to: &Destination);
}

/// A running proxy. Dropping it closes its connections and ends its threads.
pub(crate) struct Proxy {
    address: SocketAddr,
    is_ending: Arc<AtomicBool>,
    waker: Arc<Waker>,
    _thread: Thread,
}

impl Proxy {
    /// Starts a proxy at a free port of this machine.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn start(admission: Arc<dyn Admission>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), event_loop::WAKER)?);
        let listener = mio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = listener.local_addr()?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let events = event_loop::EventLoop::new(poll, listener, admission, Arc::clone(&waker), Arc::clone(&is_ending))?;
        let thread = spawn("egress-proxy", move || events.run())?;
        Ok(Self { address, is_ending, waker, _thread: thread })
    }

    /// The address that it listens on.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::SeqCst);
        // If it cannot be woken, it notices with its next event.
        let _ = self.waker.wake();
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}
