//! A connection of one JSON object per line: stdin and stdout.
//!
//! The calling thread reads. `mcp-call-N` handle calls; `mcp-write` writes all output; `mcp-watch` detects changes of
//! the tools and sends keepalive progress for long calls. All threads end with the connection.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde_json::Value;

use super::super::{Fault, Id, Message, Request};
use super::calls::Calls;
use super::lines::{Line, Lines};
use super::subscription::Subscription;
use super::{Backend, Peer, answer, is_modern};
use crate::tools::Session;
use cdpilot::sync::{Cancel, Deadline, Thread, spawn};

/// Number of bytes read at once.
const PIECE: usize = 64 * 1024;
/// Error code for too many requests, from the range that JSON-RPC reserves for servers.
const BUSY: i64 = -32000;
/// How often running calls are checked for keepalive progress.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Limits of a connection.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum number of concurrent calls.
    pub calls: usize,
    /// Maximum number of queued calls; more are refused.
    pub queue: usize,
    /// Maximum length of a line, in bytes.
    pub line_bytes: usize,
    /// Maximum number of unsent lines.
    pub unsent: usize,
    /// How long a client may read nothing while lines are unsent.
    pub writing: Duration,
    /// Maximum number of subscriptions.
    pub subscriptions: usize,
    /// Interval of keepalive progress for calls with a progress token.
    pub tick: Duration,
    /// How long running calls may continue after the input ended.
    pub grace: Duration,
    /// How long cancelled calls may take to return.
    pub end: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 8,
            queue: 32,
            line_bytes: 4 * 1024 * 1024,
            unsent: 64,
            writing: Duration::from_secs(30),
            subscriptions: 16,
            tick: Duration::from_secs(5),
            grace: Duration::from_secs(3),
            end: Duration::from_secs(2),
        }
    }
}

/// Serves a connection until its input ends. Running calls may then continue for `grace`, or not at all when `skip_grace` is
/// set.
///
/// # Errors
/// I/O errors, or a thread cannot be started.
pub fn serve(
    backend: &Arc<dyn Backend>,
    session: &Session,
    mut input: impl Read,
    output: impl Write + Send + 'static,
    skip_grace: &Cancel,
    limits: &Limits,
) -> io::Result<()> {
    let mut connection = Connection::start(backend, session, output, limits)?;
    let mut lines = Lines::of(limits.line_bytes);
    let mut piece = vec![0; PIECE];
    let ended = loop {
        let count = match input.read(&mut piece) {
            Ok(0) => break Ok(()),
            Ok(count) => lines.take(&piece[..count]),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => continue,
            Err(problem) => break Err(problem),
        };
        if !count.into_iter().all(|line| connection.take(line)) {
            break Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client reads no answers"));
        }
    };
    if ended.is_ok() {
        // The last line may lack a line break.
        let _ = lines.end().is_none_or(|line| connection.take(line));
    }
    connection.end(skip_grace);
    ended
}

/// A queued call.
struct Job {
    id: Id,
    request: Request,
    cancel: Cancel,
}

/// Shared by all threads of a connection.
struct Shared {
    backend: Arc<dyn Backend>,
    calls: Calls,
    limits: Limits,
    /// The session of this connection.
    session: Session,
}

struct Connection {
    shared: Arc<Shared>,
    out: Sender<String>,
    jobs: Sender<Job>,
    waiting: Receiver<Job>,
    workers: Vec<Thread>,
    /// Number of accepted calls that are not finished.
    open: Arc<AtomicUsize>,
    /// Signals that a call has finished.
    done: (Sender<()>, Receiver<()>),
    /// Wakes the watcher; dropping it ends the watcher.
    nudge: Sender<()>,
    watcher: Thread,
    writer: Thread,
}

impl Connection {
    fn start(
        backend: &Arc<dyn Backend>,
        session: &Session,
        output: impl Write + Send + 'static,
        limits: &Limits,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            backend: Arc::clone(backend),
            calls: Calls::new(limits.subscriptions),
            limits: limits.clone(),
            session: session.clone(),
        });
        let (out, unsent) = bounded(limits.unsent.max(1));
        let writer = spawn("mcp-write", move || write(&unsent, output))?;
        let (nudge, nudged) = bounded(1);
        let watcher = {
            let (shared, out) = (Arc::clone(&shared), out.clone());
            spawn("mcp-watch", move || watch(&shared, &out, &nudged))?
        };
        let (jobs, waiting) = bounded(limits.queue.max(1));
        let (workers, open) = (Vec::new(), Arc::default());
        Ok(Self { shared, out, jobs, waiting, workers, open, done: bounded(1), nudge, watcher, writer })
    }

    /// Handles a line. Returns whether the client still reads the output.
    fn take(&mut self, line: Line) -> bool {
        let bad = |code, problem: String| Some(Fault::new(code, problem).to_value(None));
        let message = match line {
            Line::Text(text) => match Message::read(&text) {
                Ok(Message::Request(request)) => self.requested(request),
                // The server sends no requests, so it expects no responses.
                Ok(Message::Answer { .. }) => None,
                Err((fault, id)) => Some(fault.to_value(id.as_ref())),
            },
            Line::TooLong => {
                let most = self.shared.limits.line_bytes;
                bad(Fault::INVALID_REQUEST, format!("the line exceeds {most} bytes and was ignored"))
            }
            Line::NoText => bad(Fault::PARSE, "the line is not UTF-8".to_owned()),
        };
        message.is_none_or(|message| send(&self.out, &message, self.shared.limits.writing))
    }

    /// Handles a request or notification. Returns an immediate answer, if any.
    fn requested(&mut self, request: Request) -> Option<Value> {
        let Some(id) = request.id.clone() else {
            self.notified(&request);
            return None;
        };
        let refused = |fault: Fault| Some(fault.to_value(Some(&id)));
        match request.method.as_str() {
            "tools/list" | "tools/call" => self.start_call(id.clone(), request).err().and_then(refused),
            "subscriptions/listen" if matches!(is_modern(&request.params), Ok(true)) => {
                let listened = Subscription::of(&id, &request).and_then(|subscription| {
                    let first = subscription.acknowledged();
                    self.shared.calls.listen(subscription).map(|()| first)
                });
                let _ = self.nudge.try_send(());
                listened.map_or_else(refused, Some)
            }
            _ => {
                let peer = Peer { notify: &|_| {}, cancel: &Cancel::new(), session: &self.shared.session };
                answer(&*self.shared.backend, &request, &peer)
            }
        }
    }

    fn notified(&self, request: &Request) {
        match request.method.as_str() {
            "notifications/initialized" => {
                self.shared.calls.initialized();
                let _ = self.nudge.try_send(());
            }
            "notifications/cancelled" => {
                let id = request.params.get("requestId").cloned().map(serde_json::from_value);
                if let Some(Ok(id)) = id {
                    self.shared.calls.cancel(&id);
                }
            }
            _ => {}
        }
    }

    fn start_call(&mut self, id: Id, request: Request) -> Result<(), Fault> {
        let cancel = self.shared.calls.begin(&id, &request)?;
        let refuse = |problem: String| {
            let _ = self.shared.calls.end(&id, &cancel);
            Err(Fault::new(BUSY, problem))
        };
        let open = self.open.load(Ordering::Acquire);
        if open >= self.workers.len() && self.workers.len() < self.shared.limits.calls.max(1) {
            match self.worker() {
                Ok(worker) => self.workers.push(worker),
                Err(problem) if self.workers.is_empty() => {
                    return refuse(format!("cannot start a thread: {problem}; try again"));
                }
                Err(problem) => tracing::warn!(%problem, "cannot start another thread for calls"),
            }
        }
        let job = Job { id: id.clone(), request, cancel: cancel.clone() };
        self.open.fetch_add(1, Ordering::AcqRel);
        if self.jobs.try_send(job).is_err() {
            self.open.fetch_sub(1, Ordering::AcqRel);
            let queue = self.shared.limits.queue;
            return refuse(format!("{queue} calls are queued, the limit; retry after some are answered"));
        }
        Ok(())
    }

    fn worker(&self) -> io::Result<Thread> {
        let (shared, out) = (Arc::clone(&self.shared), self.out.clone());
        let (waiting, open, done) = (self.waiting.clone(), Arc::clone(&self.open), self.done.0.clone());
        spawn(format!("mcp-call-{}", self.workers.len()), move || {
            for job in waiting {
                work(&shared, &out, job);
                open.fetch_sub(1, Ordering::AcqRel);
                let _ = done.try_send(());
            }
        })
    }

    /// Ends the connection: waits for running calls, cancels them, sends final messages, and joins the threads.
    fn end(self, skip_grace: &Cancel) {
        let Self { shared, out, jobs, waiting, workers, open: _, done, nudge, watcher, writer } = self;
        let grace = Deadline::after(shared.limits.grace);
        while !shared.calls.is_idle() && !skip_grace.is_set() && !grace.passed() {
            let _ = done.1.recv_timeout(Duration::from_millis(50));
        }
        let last = shared.calls.cancel_all();
        drop((jobs, waiting, nudge));
        let until = Deadline::after(shared.limits.end);
        let all: Vec<Thread> = workers.into_iter().chain([watcher]).collect();
        wait(all, until);
        for message in last {
            let _ = send(&out, &message, until.left());
        }
        drop(out);
        wait(vec![writer], Deadline::after(shared.limits.end));
    }
}

/// Joins threads; abandons those that do not end in time.
fn wait(threads: Vec<Thread>, until: Deadline<'_>) {
    for thread in threads {
        while !thread.is_finished() && !until.passed() {
            cdpilot::sync::pause(Duration::from_millis(5));
        }
        if thread.is_finished() {
            thread.join();
        } else {
            tracing::warn!("a call did not end; it is abandoned");
            std::mem::forget(thread);
        }
    }
}

/// Queues a line for writing. Returns whether there was room in time.
fn send(out: &Sender<String>, message: &Value, timeout: Duration) -> bool {
    out.send_timeout(line(message), timeout).is_ok()
}

/// Serialises a message; JSON without formatting has no line breaks.
fn line(message: &Value) -> String {
    let mut line = message.to_string();
    line.push('\n');
    line
}

fn write(unsent: &Receiver<String>, mut output: impl Write) {
    for line in unsent {
        let written = output.write_all(line.as_bytes());
        let flushed = written.and_then(|()| if unsent.is_empty() { output.flush() } else { Ok(()) });
        if let Err(problem) = flushed {
            tracing::debug!(%problem, "the client reads no answers");
            return;
        }
    }
    let _ = output.flush();
}

fn work(shared: &Shared, out: &Sender<String>, job: Job) {
    let Job { id, request, cancel } = job;
    if cancel.is_set() {
        return;
    }
    let patience = shared.limits.writing;
    let notify = |message: Value| {
        if shared.calls.is_new_progress(&id, &message) {
            let _ = send(out, &message, patience);
        }
    };
    let peer = Peer { notify: &notify, cancel: &cancel, session: &shared.session };
    let answered = catch_unwind(AssertUnwindSafe(|| answer(&*shared.backend, &request, &peer)));
    let message = answered.unwrap_or_else(|_| {
        let problem = "internal error in this call, see the log; the connection stays usable";
        Some(Fault::new(Fault::INTERNAL, problem).to_value(Some(&id)))
    });
    // A cancelled request gets no answer.
    if shared.calls.end(&id, &cancel)
        && let Some(message) = message
    {
        let _ = send(out, &message, patience);
    }
}

fn watch(shared: &Shared, out: &Sender<String>, nudged: &Receiver<()>) {
    let pace = shared.backend.pace();
    let mut known = None;
    let mut looked = Instant::now();
    loop {
        let is_due = match nudged.recv_timeout(pace.min(POLL_INTERVAL)) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => looked.elapsed() >= pace,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        shared.calls.tick(shared.limits.tick, |message| drop(out.try_send(line(&message))));
        if !shared.calls.is_listened() {
            known = None;
        } else if is_due {
            looked = Instant::now();
            let Some(now) = shared.backend.names() else { continue };
            if known.as_ref().is_some_and(|known| *known != now) {
                for message in shared.calls.changed() {
                    let _ = send(out, &message, shared.limits.writing);
                }
            }
            known = Some(now);
        }
    }
}
