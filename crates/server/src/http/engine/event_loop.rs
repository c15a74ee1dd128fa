//! The event loop of all connections: the thread `http-in`.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use mio::event::Source as _;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use parking_lot::Mutex;

use super::Lane;
use super::answer::Answer;
use super::connection::{Connection, NextStep};
use super::request::Head;
use super::request_reader::Budget;
use super::shared::{Outcome, Phase, Return, Shared};
use super::streams::Streams;
use super::wire::Wire;
use super::workers::{self, Job, WorkerPool};
use cdpilot::sync::{Thread, fault_point};

pub(super) const LISTENER: Token = Token(0);
pub(super) const WAKER: Token = Token(1);
/// Token of the first connection.
const FIRST_TOKEN: usize = 2;
/// Connections above the limit that get a refusal; further ones are closed without an answer.
pub(super) const MAX_REFUSALS: usize = 64;
/// Connections taken in one turn.
const ACCEPTS: usize = 128;
/// How long accepting pauses when no descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// State of the event loop.
pub(super) struct EventLoop {
    poll: Poll,
    /// Empty once the server stops.
    listeners: Vec<TcpListener>,
    /// Connections may be waiting to be accepted.
    may_accept: bool,
    /// Accepting is paused until then.
    accept_paused_until: Option<Instant>,
    conns: HashMap<Token, Connection>,
    next: usize,
    /// Connections to continue in the next turn.
    again: Vec<Token>,
    /// The earliest timeout of a connection.
    sweep: Option<Instant>,
    /// Unsent bytes of all answers.
    unsent: usize,
    budget: Arc<Budget>,
    pools: Option<[WorkerPool; 2]>,
    workers: Arc<Mutex<Vec<Thread>>>,
    returns: Receiver<Return>,
    shared: Arc<Shared>,
}

impl EventLoop {
    pub(super) fn new(
        poll: Poll,
        listeners: Vec<TcpListener>,
        returns: Receiver<Return>,
        shared: &Arc<Shared>,
        streams: &Arc<Streams>,
        workers: &Arc<Mutex<Vec<Thread>>>,
    ) -> Self {
        let limits = &shared.limits;
        let pools = [
            WorkerPool::new("http-ctl", limits.control_threads, shared, streams),
            WorkerPool::new("http-act", limits.action_threads, shared, streams),
        ];
        Self {
            poll,
            listeners,
            may_accept: false,
            accept_paused_until: None,
            conns: HashMap::new(),
            next: FIRST_TOKEN,
            again: Vec::new(),
            sweep: None,
            unsent: 0,
            budget: Budget::new(limits.bodies_bytes),
            pools: Some(pools),
            workers: Arc::clone(workers),
            returns,
            shared: Arc::clone(shared),
        }
    }

    /// Runs until the server has stopped.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(256);
        loop {
            match self.poll.poll(&mut events, self.patience()) {
                Ok(()) => {}
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => continue,
                Err(problem) => {
                    tracing::error!(%problem, "cannot wait for connections; the server ends");
                    break;
                }
            }
            fault_point(format_args!("http-in"));
            for event in &events {
                match event.token() {
                    LISTENER => self.may_accept = true,
                    WAKER => {}
                    token => {
                        let both = event.is_write_closed() || event.is_error();
                        self.on_socket_event(token, event.is_read_closed() || both, both, event.is_writable());
                    }
                }
            }
            for token in std::mem::take(&mut self.again) {
                self.advance_connection(token);
            }
            while let Ok(Return { token, outcome }) = self.returns.try_recv() {
                self.finish_request(token, outcome);
            }
            if self.shared.phase() != Phase::Serving && self.end() {
                break;
            }
            self.accept();
            self.expire();
        }
    }

    /// How long to wait for events.
    fn patience(&self) -> Option<Duration> {
        if !self.again.is_empty() || self.may_accept && self.accept_paused_until.is_none() {
            return Some(Duration::ZERO);
        }
        let accept_paused_until = self.accept_paused_until.filter(|_| self.may_accept);
        let next = [self.sweep, accept_paused_until].into_iter().flatten().min()?;
        // Rounded up: a poller with millisecond resolution would wake too early repeatedly.
        Some(next.saturating_duration_since(Instant::now()) + Duration::from_millis(1))
    }

    // ---- connections ------------------------------------------------------

    fn accept(&mut self) {
        if self.accept_paused_until.is_some_and(|until| until > Instant::now()) {
            return;
        }
        self.accept_paused_until = None;
        for _ in 0..ACCEPTS {
            if !self.may_accept {
                return;
            }
            let nobody = |taken: &io::Result<_>| matches!(taken, Err(e) if e.kind() == io::ErrorKind::WouldBlock);
            let Some(taken) = self.listeners.iter().map(TcpListener::accept).find(|taken| !nobody(taken)) else {
                self.may_accept = false;
                return;
            };
            match taken {
                Ok((socket, peer)) => self.admit(socket, peer),
                Err(problem) => match problem.kind() {
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset => {}
                    _ => {
                        // No descriptor or memory left. Closing an idle connection frees some.
                        tracing::warn!(%problem, "cannot accept a connection");
                        if !self.make_room() {
                            self.accept_paused_until = Some(Instant::now() + ACCEPT_PAUSE);
                        }
                        return;
                    }
                },
            }
        }
    }

    fn admit(&mut self, socket: TcpStream, peer: SocketAddr) {
        let full = self.conns.len() >= self.shared.limits.connections && !self.make_room();
        if full && self.conns.len() >= self.shared.limits.connections + MAX_REFUSALS {
            return;
        }
        let _ = socket.set_nodelay(true);
        let mut wire = Wire::new(socket);
        let token = self.free_token();
        if let Err(problem) = wire.register(self.poll.registry(), token, Interest::READABLE | Interest::WRITABLE) {
            tracing::warn!(%problem, "cannot watch a connection");
            return;
        }
        let mut conn = Connection::new(wire, peer, &self.shared.limits, &self.budget);
        if full {
            conn.refuse(&Answer::busy("the maximum number of connections is reached; try again"));
            self.unsent += conn.unsent();
        }
        self.conns.insert(token, conn);
        self.shared.connections.store(self.conns.len(), Ordering::Relaxed);
        self.advance_connection(token);
    }

    fn free_token(&mut self) -> Token {
        loop {
            let token = Token(self.next);
            self.next = self.next.checked_add(1).filter(|next| *next < usize::MAX).unwrap_or(FIRST_TOKEN);
            if !self.conns.contains_key(&token) {
                return token;
            }
        }
    }

    /// Closes the connection that has been idle longest, else the one whose head has been arriving longest, so that
    /// unauthenticated clients cannot occupy all connections with incomplete heads. Returns whether one was closed.
    fn make_room(&mut self) -> bool {
        for _ in 0..8 {
            let idle = self.conns.iter().filter_map(|(token, conn)| Some((conn.idle_since()?, *token)));
            let Some((_, token)) = idle.min() else {
                let slow = self.conns.iter().filter_map(|(token, conn)| Some((conn.head_since()?, *token)));
                let Some((_, token)) = slow.min() else { return false };
                self.close(token);
                return true;
            };
            if !self.conns.get(&token).is_some_and(|conn| conn.has_unread_request()) {
                self.close(token);
                return true;
            }
            self.advance_connection(token); // a request has just begun to arrive
        }
        false
    }

    fn on_socket_event(&mut self, token: Token, closed: bool, both: bool, writable: bool) {
        if let Some(conn) = self.conns.get_mut(&token) {
            if closed {
                conn.hung_up(both);
            }
            if conn.is_busy() && (closed || writable) {
                conn.wire.tell_writable();
            }
        }
        self.advance_connection(token);
    }

    /// Advances a connection as far as possible.
    fn advance_connection(&mut self, token: Token) {
        loop {
            let Some(conn) = self.conns.get_mut(&token) else { return };
            let unsent = conn.unsent();
            let handler = &*self.shared.handler;
            let turn = conn.advance_connection(&mut |head| {
                let admitted = catch_panic(|| handler.admit(head).map(|()| handler.body_bytes(head)));
                admitted.unwrap_or_else(|| Err(workers::failed()))
            });
            self.unsent = (self.unsent + conn.unsent()).saturating_sub(unsent);
            match turn {
                NextStep::Wait => break,
                NextStep::Again => {
                    self.again.push(token);
                    break;
                }
                NextStep::Close => return self.close(token),
                NextStep::Job { received, cancel, before } => {
                    let wire = Arc::clone(&conn.wire);
                    self.dispatch(Job { token, wire, received, cancel, before });
                }
            }
        }
        let expires = self.conns.get(&token).and_then(|conn| conn.expires(&self.shared.limits));
        self.sweep = [self.sweep, expires].into_iter().flatten().min();
    }

    fn dispatch(&mut self, job: Job) {
        let token = job.token;
        let refused = match (self.lane(&job.received.head), &mut self.pools) {
            (None, _) => Some(workers::failed()),
            (_, None) => Some(Answer::busy("the server is stopping")),
            (Some(lane), Some([control, action])) => {
                let pool = if lane == Lane::Control { control } else { action };
                let (started, refused) = pool.take(job);
                self.workers.lock().extend(started);
                refused.map(|_| Answer::busy("the request queue is full; try again"))
            }
        };
        if let (Some(answer), Some(conn)) = (refused, self.conns.get_mut(&token)) {
            conn.refuse(&answer);
            self.unsent += conn.unsent();
        }
    }

    fn lane(&self, head: &Head) -> Option<Lane> {
        catch_panic(|| self.shared.handler.lane(head))
    }

    fn finish_request(&mut self, token: Token, outcome: Outcome) {
        let Some(conn) = self.conns.get_mut(&token) else { return };
        let Outcome::Answered { bytes, at, keep } = outcome else { return self.close(token) };
        let left = bytes.len() - at;
        if left > 0 && self.unsent > self.shared.limits.unsent_bytes {
            tracing::warn!("too many unsent bytes; closing the connection of a slow client");
            return self.close(token);
        }
        conn.finish_request(bytes, at, keep && !self.listeners.is_empty());
        self.unsent += left;
        self.advance_connection(token);
    }

    fn close(&mut self, token: Token) {
        let Some(conn) = self.conns.remove(&token) else { return };
        self.unsent = self.unsent.saturating_sub(conn.unsent());
        if conn.is_busy() {
            conn.cancel();
            conn.wire.abandon();
        }
        self.shared.connections.store(self.conns.len(), Ordering::Relaxed);
        self.accept_paused_until = None; // a descriptor was freed
    }

    /// Handles timeouts of connections.
    fn expire(&mut self) {
        let now = Instant::now();
        if self.sweep.is_none_or(|sweep| sweep > now) {
            return;
        }
        let limits = &self.shared.limits;
        let expires = |conn: &Connection| conn.expires(limits);
        let late: Vec<Token> = self
            .conns
            .iter()
            .filter(|(_, conn)| expires(conn).is_some_and(|at| at <= now))
            .map(|(token, _)| *token)
            .collect();
        for token in late {
            let Some(conn) = self.conns.get_mut(&token) else { continue };
            let unsent = conn.unsent();
            if conn.expire() {
                self.unsent = (self.unsent + conn.unsent()).saturating_sub(unsent);
                self.advance_connection(token);
            } else {
                self.close(token);
            }
        }
        let limits = &self.shared.limits;
        self.sweep = self.conns.values().filter_map(|conn| conn.expires(limits)).min();
    }

    // ---- the end ----------------------------------------------------------

    /// One step of stopping. Returns whether it is complete.
    fn end(&mut self) -> bool {
        let phase = self.shared.phase();
        if !self.listeners.is_empty() {
            for mut listener in self.listeners.drain(..) {
                let _ = self.poll.registry().deregister(&mut listener);
            }
            self.pools = None; // the workers end when their queue is empty
        }
        let cancelling = phase >= Phase::Cancelling;
        let over = |conn: &Connection| !conn.is_busy() && (cancelling || !conn.is_sending());
        let over: Vec<Token> = self.conns.iter().filter(|(_, conn)| over(conn)).map(|(token, _)| *token).collect();
        over.into_iter().for_each(|token| self.close(token));
        if cancelling {
            self.conns.values().for_each(Connection::cancel);
        }
        self.conns.is_empty() || phase == Phase::Leaving
    }
}

/// Also after a panic: closes all connections and reports the failure.
impl Drop for EventLoop {
    fn drop(&mut self) {
        let tokens: Vec<Token> = self.conns.keys().copied().collect();
        tokens.into_iter().for_each(|token| self.close(token));
        self.pools = None;
        if self.shared.phase() == Phase::Serving {
            self.shared.fail();
        }
    }
}

/// Runs a method of the handler; `None` if it panicked.
fn catch_panic<T>(ask: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(ask)).ok()
}

/// Capacity of a queue with a place for every connection.
pub(super) fn return_queue_capacity(connections: usize) -> usize {
    connections + MAX_REFUSALS + 1
}
