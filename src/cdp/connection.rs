//! The connection: the handles of callers, and the state shared with the reader thread.
//!
//! # Locking rules
//! | lock | held for | by |
//! |---|---|---|
//! | `reading` | a turn of reading | reader thread or one waiting caller, `try_lock` only |
//! | `pending` table | a map operation | any thread |
//! | a call's slot | storing or taking the outcome | who completes, who waits |
//! | writer's queue | a queue operation | any sending thread |
//! | subscriber list | copying a pointer | the holder of `reading`; who subscribes |
//!
//! `reading` comes first; the others are never held together. Only `reading` is held during I/O, which is its purpose.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use parking_lot::Mutex;
use serde::Serialize;

use super::connect::{self, ConnectOptions};
use super::covered::Covered;
use super::error::{CloseReason, Error, TimeoutKind};
use super::pending::{Entry, Pending, ReplyTo, Slot};
use super::pipe;
use super::poller::{Poller, Wake};
use super::reader::{Decoder, Reading};
use super::reply::{Answer, Call, RawReply, Reply};
use super::rt::Command;
use super::session::Session;
use super::spin::Spin;
use super::stream::Stream;
use super::subscription::{Capacity, Subscribers, Subscription, Watch};
use super::writer::{SendError, Writer};
use super::ws;
use crate::sync::{Deadline, Thread, spawn};

/// Chromium closes the connection without an error when a message is larger.
const MAX_OUTGOING: usize = 100 * 1024 * 1024;

/// The deadline of a send that does not belong to a call with its own deadline.
pub(super) fn send_deadline() -> Deadline<'static> {
    Deadline::after_secs(10)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Ws,
    #[cfg_attr(not(unix), allow(dead_code, reason = "pipes of browsers are inherited descriptors"))]
    Pipe,
}

/// State shared by the threads of a connection.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) stream: Arc<Stream>,
    pub(super) framing: Framing,
    /// Secrets that error texts must not contain.
    pub(super) covered: Covered,
    pub(super) poller: Poller,
    /// Wakes a caller that holds the reading role.
    pub(super) lead_wake: Wake,
    pub(super) writer: Writer,
    pub(super) pending: Pending,
    pub(super) subscribers: Arc<Subscribers>,
    pub(super) reading: Mutex<Reading>,
    /// Whether a caller gave up the reading role with messages left in the buffer.
    pub(super) handed_over: AtomicBool,
    pub(super) spin: Spin,
    pub(super) keepalive: Option<Duration>,
    pub(super) garbage: AtomicU64,
    born: Instant,
    /// Time of the last read, in milliseconds after `born`.
    pub(super) last_read: AtomicU64,
    closed: AtomicBool,
}

impl Inner {
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn mark_read(&self) {
        if self.keepalive.is_some() {
            let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.last_read.store(now, Ordering::Relaxed);
        }
    }

    pub(super) fn silence(&self) -> Duration {
        self.born.elapsed().saturating_sub(Duration::from_millis(self.last_read.load(Ordering::Relaxed)))
    }

    /// Ends the connection: all waits fail, the threads end. The first reason is kept.
    pub(super) fn end(&self, reason: CloseReason) {
        let local = reason == CloseReason::Local;
        if !self.pending.close(reason) {
            return;
        }
        if local && self.framing == Framing::Ws {
            let _ = self.writer.post(ws::close(), &self.poller);
        }
        self.closed.store(true, Ordering::Release);
        // Before the browser can notice the end and report that its targets go.
        self.subscribers.close();
        self.writer.close();
        self.stream.shutdown();
        self.lead_wake.wake();
        self.poller.wake();
    }
}

/// Statistics of a connection, for status pages and tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Calls waiting for their answer.
    pub in_flight: usize,
    /// Number of events received since the connection was made.
    pub events: u64,
    /// Answers that arrived after their call had ended.
    pub late_answers: u64,
    /// Answers to ids that were never used.
    pub unknown_answers: u64,
    /// Messages that were not valid CDP.
    pub garbage: u64,
    /// Answers dropped because an inbox was full.
    pub lost_answers: u64,
}

/// A connection to a browser. Clones are handles of the same connection; when the last handle (including sessions) is
/// dropped, the connection and its thread end.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
    owner: Arc<Owner>,
}

/// Ends the connection and joins its thread.
struct Owner {
    inner: Arc<Inner>,
    thread: Mutex<Option<Thread>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inner.end(CloseReason::Local);
        drop(self.thread.lock().take());
    }
}

/// Options of one call.
pub(crate) struct CallOptions<'a> {
    pub(crate) session: Option<&'a Arc<str>>,
    pub(crate) deadline: Deadline<'a>,
    /// Whether [`Connection::interrupt`] ends the wait.
    pub(crate) interruptible: bool,
}

/// Where the outcome of a call goes, and whether sending may wait.
enum AnswerTo {
    /// To a slot; sending may wait until the deadline.
    Wait(Arc<Slot>),
    /// To an inbox; sending never waits.
    Inbox { inbox: Sender<Answer>, tag: u64 },
}

impl Connection {
    /// Connects to a CDP WebSocket URL (`ws://…`, with the feature `tls` also `wss://…`).
    ///
    /// # Errors
    /// [`Error::Address`], [`Error::Connect`], [`Error::Timeout`] (with the step), and [`Error::System`] if no thread
    /// or descriptor is available. None of them contains the URL.
    pub fn connect(address: &str, options: &ConnectOptions) -> Result<Self, Error> {
        Self::connect_until(address, options, Deadline::after(options.connect_timeout))
    }

    /// As [`connect`](Self::connect), with a deadline in addition to the timeout of the options.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect).
    pub fn connect_until(address: &str, options: &ConnectOptions, deadline: Deadline<'_>) -> Result<Self, Error> {
        let deadline = deadline.within(options.connect_timeout);
        let target = connect::parse(address, connect::Protocol::WebSocket)?;
        let socket = connect::tcp(&target, deadline)?;
        let stream = connect::stream(socket, &target, &options.tls_roots, deadline)?;
        let early = ws::handshake(&stream, &target.uri, &options.headers, deadline)?;
        let decoder = Decoder::Ws(Box::new(ws::Decoder::new(options.max_message)));
        let covered = Covered::of(address, &options.headers);
        Self::over(Arc::new(stream), Framing::Ws, Reading::new(decoder, &early), covered, options)
    }

    /// Uses the two pipes of a browser started with `--remote-debugging-pipe`.
    ///
    /// # Errors
    /// [`Error::System`].
    #[cfg(unix)]
    pub fn over_pipe(
        from_browser: std::os::fd::OwnedFd,
        to_browser: std::os::fd::OwnedFd,
        options: &ConnectOptions,
    ) -> Result<Self, Error> {
        let stream = Stream::pipe(from_browser, to_browser).map_err(system("cannot set up the pipe"))?;
        let decoder = Decoder::Pipe(pipe::Decoder::new(options.max_message));
        Self::over(Arc::new(stream), Framing::Pipe, Reading::new(decoder, &[]), Covered::default(), options)
    }

    fn over(
        stream: Arc<Stream>,
        framing: Framing,
        reading: Reading,
        covered: Covered,
        options: &ConnectOptions,
    ) -> Result<Self, Error> {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let inner = Arc::new(Inner {
            poller: Poller::new(&stream).map_err(system("cannot wait for the connection"))?,
            lead_wake: Wake::new().map_err(system("cannot wait for the connection"))?,
            writer: Writer::new(Arc::clone(&stream)),
            stream,
            framing,
            covered,
            pending: Pending::default(),
            subscribers: Arc::default(),
            reading: Mutex::new(reading),
            handed_over: AtomicBool::new(false),
            spin: Spin::new(options.latency),
            keepalive: options.keepalive,
            garbage: AtomicU64::new(0),
            born: Instant::now(),
            last_read: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        });
        let reader = Arc::clone(&inner);
        let name = format!("cdp-read-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let thread = spawn(name, move || reader.read_loop()).map_err(system("cannot start a thread"))?;
        let owner = Arc::new(Owner { inner: Arc::clone(&inner), thread: Mutex::new(Some(thread)) });
        Ok(Self { inner, owner })
    }

    /// Sends a command to the browser itself and waits for its result.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn call<C: Command>(&self, command: &C, deadline: Deadline<'_>) -> Result<C::Returns, Error> {
        let options = CallOptions { session: None, deadline, interruptible: false };
        Reply::<C>::new(self.start(Cow::Borrowed(C::METHOD), command, options)?).wait(deadline)
    }

    /// Sends a command to the browser itself. The returned handle waits for the result.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn send<C: Command>(&self, command: &C) -> Result<Reply<C>, Error> {
        let options = CallOptions { session: None, deadline: send_deadline(), interruptible: false };
        Ok(Reply::new(self.start(Cow::Borrowed(C::METHOD), command, options)?))
    }

    /// Sends any command by name to the browser itself and waits for its result as JSON.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn call_raw(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
        deadline: Deadline<'_>,
    ) -> Result<RawReply, Error> {
        let options = CallOptions { session: None, deadline, interruptible: false };
        Reply::raw(self.start(method.into(), params, options)?).wait_raw(deadline)
    }

    /// Sends any command by name to the browser itself. The returned handle waits for the result.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn send_raw(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &impl Serialize,
    ) -> Result<Reply<RawReply>, Error> {
        let options = CallOptions { session: None, deadline: send_deadline(), interruptible: false };
        self.send_with(method.into(), params, options)
    }

    /// The session with this id. Nothing is sent.
    #[must_use]
    pub fn session(&self, id: impl Into<Arc<str>>) -> Session {
        Session::new(self.clone(), id.into())
    }

    /// Subscribes to events. Subscribe before sending the command that enables them.
    #[must_use]
    pub fn subscribe(&self, watch: Watch, capacity: Capacity) -> Subscription {
        self.inner.subscribers.add(watch, capacity)
    }

    /// Ends the connection now. Pending calls fail, subscriptions end, the thread ends.
    pub fn close(&self) {
        self.inner.end(CloseReason::Local);
        // Taken out first, since joining must not hold the lock.
        let thread = self.owner.thread.lock().take();
        drop(thread);
    }

    /// Ends the connection because a thread that serves it panicked. Does not wait for the reader thread.
    pub(crate) fn abort(&self) {
        self.inner.end(CloseReason::Panicked);
    }

    /// Ends the connection because the WebDriver session of its browser has ended. Does not wait for the reader thread.
    pub(crate) fn session_ended(&self) {
        self.inner.end(CloseReason::SessionEnded);
    }

    /// Whether the connection has ended; `true` once any call has failed for that reason.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.pending.closed().is_some()
    }

    /// Why the connection ended; `None` while it is open.
    #[must_use]
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.inner.pending.closed()
    }

    /// Counters of the connection.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let pending = &self.inner.pending;
        Counters {
            in_flight: pending.in_flight(),
            events: pending.events.load(Ordering::Relaxed),
            late_answers: pending.late.load(Ordering::Relaxed),
            unknown_answers: pending.unknown.load(Ordering::Relaxed),
            garbage: self.inner.garbage.load(Ordering::Relaxed),
            lost_answers: pending.lost_answers.load(Ordering::Relaxed),
        }
    }

    /// Sends any command by name, with all options.
    pub(crate) fn send_with(
        &self,
        method: Cow<'static, str>,
        params: &impl Serialize,
        options: CallOptions<'_>,
    ) -> Result<Reply<RawReply>, Error> {
        Ok(Reply::raw(self.start(method, params, options)?))
    }

    /// Sends a call whose outcome goes to its own slot.
    pub(super) fn start<P: Serialize + ?Sized>(
        &self,
        method: Cow<'static, str>,
        params: &P,
        options: CallOptions<'_>,
    ) -> Result<Call, Error> {
        let slot = Arc::new(Slot::default());
        let sent = Instant::now();
        let id = self.post(method.clone(), params, options, AnswerTo::Wait(Arc::clone(&slot)))?;
        Ok(Call { inner: Arc::clone(&self.inner), slot, id, method, sent })
    }

    /// Sends a call whose outcome goes to an inbox, tagged with `tag`. Never waits.
    pub(crate) fn start_to_inbox<C: Command>(
        &self,
        command: &C,
        session: Option<&Arc<str>>,
        inbox: &Sender<Answer>,
        tag: u64,
    ) -> Result<(), Error> {
        let options = CallOptions { session, deadline: send_deadline(), interruptible: false };
        let way = AnswerTo::Inbox { inbox: inbox.clone(), tag };
        self.post(Cow::Borrowed(C::METHOD), command, options, way).map(drop)
    }

    /// Ends the waits of interruptible calls on these sessions with [`Error::Interrupted`].
    pub(crate) fn interrupt(&self, sessions: &[Arc<str>], causes: &[String]) {
        let wake =
            self.inner.pending.interrupt(sessions, |method| Error::Interrupted { method, causes: causes.to_vec() });
        if wake {
            self.inner.lead_wake.wake();
        }
    }

    fn post<P: Serialize + ?Sized>(
        &self,
        method: Cow<'static, str>,
        params: &P,
        options: CallOptions<'_>,
        way: AnswerTo,
    ) -> Result<u64, Error> {
        let inner = &self.inner;
        let id = inner.pending.next_id();
        let text = encode(id, &method, params, options.session)?;
        let bytes = text.len();
        if bytes > MAX_OUTGOING {
            return Err(Error::TooLarge { method, bytes, limit: MAX_OUTGOING });
        }
        let frame = match inner.framing {
            Framing::Ws => ws::frame(text),
            Framing::Pipe => pipe::frame(text),
        };
        let began = Instant::now();
        let session = options.session.cloned();
        let interruptible = options.interruptible;
        let (to, waits) = match way {
            AnswerTo::Wait(slot) => (ReplyTo::Slot(slot), true),
            AnswerTo::Inbox { inbox, tag } => (ReplyTo::Inbox { inbox, tag }, false),
        };
        // Registered before sending: the answer may arrive first.
        inner.pending.insert(id, Entry { method: method.clone(), session, to, interruptible })?;
        let sent = if waits {
            inner.writer.send(frame, &inner.poller, options.deadline)
        } else {
            inner.writer.post(frame, &inner.poller)
        };
        match sent {
            Ok(()) => Ok(id),
            Err(error) => {
                inner.pending.remove(id);
                Err(match error {
                    SendError::Timeout => Error::Timeout { kind: TimeoutKind::Send, method, after: began.elapsed() },
                    SendError::Closed => closed(inner, method),
                    SendError::Io(e) => {
                        inner.end(CloseReason::Io(e.kind().to_string()));
                        closed(inner, method)
                    }
                })
            }
        }
    }
}

fn closed(inner: &Inner, method: Cow<'static, str>) -> Error {
    Error::Closed { method, reason: inner.pending.closed().unwrap_or(CloseReason::Local) }
}

fn system(what: &'static str) -> impl Fn(std::io::Error) -> Error {
    move |e| Error::System { what, problem: e.to_string() }
}

/// Writes a request as JSON text.
fn encode<P: Serialize + ?Sized>(
    id: u64,
    method: &str,
    params: &P,
    session: Option<&Arc<str>>,
) -> Result<Vec<u8>, Error> {
    let mut text = Vec::with_capacity(256);
    let mut part = |prefix: &str, value: &dyn erased::Json| -> Result<(), Error> {
        text.extend_from_slice(prefix.as_bytes());
        value.write(&mut text).map_err(|e| Error::Encode { method: method.to_owned().into(), problem: e.to_string() })
    };
    part("{\"id\":", &id)?;
    part(",\"method\":", &method)?;
    part(",\"params\":", &erased::Of(params))?;
    if let Some(session) = session {
        part(",\"sessionId\":", &&**session)?;
    }
    text.push(b'}');
    Ok(text)
}

/// Serialising through a trait object keeps one copy of [`encode`]'s body for all commands.
mod erased {
    use serde::Serialize;

    pub(super) struct Of<'a, P: ?Sized>(pub(super) &'a P);

    pub(super) trait Json {
        fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()>;
    }

    impl<P: Serialize + ?Sized> Json for Of<'_, P> {
        fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
            serde_json::to_writer(out, self.0)
        }
    }

    impl Json for u64 {
        fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
            serde_json::to_writer(out, self)
        }
    }

    impl Json for &str {
        fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
            serde_json::to_writer(out, self)
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("closed", &self.is_closed()).field("counters", &self.counters()).finish()
    }
}
