//! Starting and stopping a server.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::bounded;
use mio::{Interest, Poll, Waker};
use parking_lot::Mutex;

use super::Handler;
use super::event_loop::{self, EventLoop};
use super::limits::Limits;
use super::shared::{Phase, Shared};
use super::streams::Streams;
use cdpilot::sync::{Deadline, Thread, spawn};

/// How long a dropped server waits for running requests.
const STOP_LIMIT: Duration = Duration::from_secs(2);
/// How long a cancelled handler may take to return.
const GRACE: Duration = Duration::from_secs(2);

/// Tries to find a port that is free on two addresses.
const TRIES: usize = 16;

/// A bound address that is not served yet, so that the handler can be built with the port.
#[derive(Debug)]
pub struct Listener {
    inner: Vec<mio::net::TcpListener>,
    address: SocketAddr,
}

impl Listener {
    /// Binds an address; port 0 is any free one.
    ///
    /// # Errors
    /// If the system refuses: the port is in use, or the address does not belong to this machine.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let inner = mio::net::TcpListener::bind(address)?;
        let address = inner.local_addr()?;
        Ok(Self { inner: vec![inner], address })
    }

    /// Binds an address and, on the same port, a second one.
    ///
    /// # Errors
    /// As [`bind`](Self::bind), of both.
    pub fn bind_both(address: SocketAddr, second: IpAddr) -> io::Result<Self> {
        let mut tries = TRIES;
        loop {
            let mut listener = Self::bind(address)?;
            match mio::net::TcpListener::bind(SocketAddr::new(second, listener.address.port())) {
                Ok(inner) => {
                    listener.inner.push(inner);
                    return Ok(listener);
                }
                // The port that the system gave on the first address may be taken on the second one.
                Err(problem) if address.port() == 0 && tries > 0 && problem.kind() == io::ErrorKind::AddrInUse => {
                    tries -= 1;
                }
                Err(problem) => return Err(problem),
            }
        }
    }

    /// The (first) address with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A running server. Dropping it stops it with two seconds of patience.
pub struct HttpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    streams: Arc<Streams>,
    workers: Arc<Mutex<Vec<Thread>>>,
    inbound: Option<Thread>,
}

impl HttpServer {
    /// Serves on a bound address.
    ///
    /// # Errors
    /// If a thread or poller cannot be created.
    pub fn start(listener: Listener, limits: Limits, handler: Arc<dyn Handler>) -> io::Result<Self> {
        let Listener { mut inner, address } = listener;
        let poll = Poll::new()?;
        for listener in &mut inner {
            poll.registry().register(listener, event_loop::LISTENER, Interest::READABLE)?;
        }
        let waker = Waker::new(poll.registry(), event_loop::WAKER)?;
        let (send, returns) = bounded(event_loop::return_queue_capacity(limits.connections));
        let shared = Arc::new(Shared::new(handler, limits, send, waker));
        let (streams, workers) = (Arc::<Streams>::default(), Arc::<Mutex<Vec<Thread>>>::default());
        let inbound = EventLoop::new(poll, inner, returns, &shared, &streams, &workers);
        let counted = shared.count_thread();
        let inbound = spawn("http-in", move || {
            let _counted = counted;
            inbound.run();
        })?;
        let inbound = Some(inbound);
        Ok(Self { address, shared, streams, workers, inbound })
    }

    /// The address it serves on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of open connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Whether the thread of all connections ended because of a panic or system error. The server then serves nothing; stop
    /// it.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed()
    }

    /// Calls `tell` once when the server [fails](Self::has_failed), at once when it has. It replaces the function that
    /// was set before, runs on the thread that ends, and must not wait.
    pub fn when_failed(&self, on_failure: impl FnOnce() + Send + 'static) {
        self.shared.when_failed(Box::new(on_failure));
    }

    /// Stops accepting requests, lets running ones continue until the deadline, then cancels them, and waits for all
    /// threads. Event streams end immediately. Returns whether all ended; a handler that ignores its
    /// [`Request::cancel`](super::Request::cancel) is abandoned after two more seconds.
    ///
    /// Must not be called from a handler: it would wait for itself.
    pub fn stop(mut self, deadline: Deadline<'_>) -> bool {
        self.end(deadline)
    }

    fn end(&mut self, deadline: Deadline<'_>) -> bool {
        let Some(inbound) = self.inbound.take() else { return true };
        self.shared.advance(Phase::Stopping);
        let mut ended = self.shared.wait_ended(deadline);
        if !ended {
            self.shared.advance(Phase::Cancelling);
            ended = self.shared.wait_ended(Deadline::after(GRACE));
        }
        self.shared.advance(Phase::Leaving);
        inbound.join();
        let threads = std::mem::take(&mut *self.workers.lock()).into_iter().chain(self.streams.threads());
        for thread in threads {
            if ended {
                thread.join();
            } else if !thread.is_finished() {
                std::mem::forget(thread); // dropping it would wait for it
            }
        }
        if !ended {
            tracing::error!("a cancelled request does not end; its thread is abandoned");
        }
        ended
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.end(Deadline::after(STOP_LIMIT));
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpServer({})", self.address)
    }
}
