//! The worker threads that handle requests.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use http::{Method, StatusCode};
use mio::Token;

use super::answer::{Answer, Body};
use super::encode::{self, Delivery};
use super::request::Request;
use super::request_reader::ReceivedRequest;
use super::shared::{Outcome, Phase, Shared};
use super::streams::{Stream, Streams};
use super::wire::Wire;
use cdpilot::code::Code;
use cdpilot::sync::{Cancel, Thread, fault_point, spawn};

/// A request on its way to a worker.
pub(super) struct Job {
    pub(super) token: Token,
    pub(super) wire: Arc<Wire>,
    pub(super) received: Box<ReceivedRequest>,
    pub(super) cancel: Cancel,
    /// Bytes to send before the answer.
    pub(super) before: Vec<u8>,
}

/// A pool of worker threads with one bounded queue. When it is dropped, the threads end once the queue is empty.
pub(super) struct WorkerPool {
    name: &'static str,
    most: usize,
    queue: Sender<Job>,
    jobs: Receiver<Job>,
    /// Requests that are queued or being handled.
    open: Arc<AtomicUsize>,
    threads: usize,
    shared: Arc<Shared>,
    streams: Arc<Streams>,
}

impl WorkerPool {
    pub(super) fn new(name: &'static str, most: usize, shared: &Arc<Shared>, streams: &Arc<Streams>) -> Self {
        let (queue, jobs) = bounded(shared.limits.queue.max(1));
        let (shared, streams) = (Arc::clone(shared), Arc::clone(streams));
        Self { name, most: most.max(1), queue, jobs, open: Arc::default(), threads: 0, shared, streams }
    }

    /// Queues a request, or returns it if the queue is full or no thread can be started. A newly started thread is returned
    /// in both cases, because dropping it here would wait for its end.
    pub(super) fn take(&mut self, job: Job) -> (Option<Thread>, Option<Job>) {
        let open = self.open.fetch_add(1, Ordering::AcqRel) + 1;
        let mut started = None;
        if open > self.threads && self.threads < self.most {
            match self.start() {
                Ok(thread) => started = Some(thread),
                Err(problem) => tracing::warn!(%problem, lane = self.name, "cannot start another worker thread"),
            }
        }
        let refused =
            if self.threads == 0 { Some(job) } else { self.queue.try_send(job).err().map(TrySendError::into_inner) };
        if refused.is_some() {
            self.open.fetch_sub(1, Ordering::AcqRel);
        }
        (started, refused)
    }

    fn start(&mut self) -> std::io::Result<Thread> {
        let (jobs, shared, streams) = (self.jobs.clone(), Arc::clone(&self.shared), Arc::clone(&self.streams));
        let open = Arc::clone(&self.open);
        let counted = shared.count_thread();
        let thread = spawn(format!("{}-{}", self.name, self.threads), move || {
            let _counted = counted;
            for job in jobs {
                let token = job.token;
                // A panic outside of the handler ends the connection, not the thread.
                let worked = catch_unwind(AssertUnwindSafe(|| work(job, &shared, &streams)));
                if worked.is_err() {
                    shared.give_back(token, Outcome::Broken);
                }
                open.fetch_sub(1, Ordering::AcqRel);
            }
        })?;
        self.threads += 1;
        Ok(thread)
    }
}

fn work(job: Job, shared: &Arc<Shared>, streams: &Arc<Streams>) {
    let Job { token, wire, received, cancel, before } = job;
    let ReceivedRequest { head, body, held } = *received;
    let head_only = head.method == Method::HEAD;
    let mut keep = head.keep_alive;
    fault_point(format_args!("http-lane"));
    let is_reserving = !head_only && shared.handler.is_streamed_change(&head);
    let reserved = is_reserving.then(|| streams.reserve(shared.limits.streams)).transpose();
    let (reservation, refused) = match reserved {
        Ok(reservation) => (reservation, None),
        Err(refused) => (None, Some(refused)),
    };
    let answer = if cancel.is_set() {
        disconnected()
    } else if let Some(refused) = refused {
        refused
    } else {
        let request = Request { head, body, cancel: cancel.clone() };
        caught(|| {
            fault_point(format_args!("http-handler"));
            shared.handler.handle(request)
        })
    };
    drop(held);
    if let Body::Events(_) = &answer.body {
        keep = false; // its end is the connection's
        if !head_only {
            let start = encode::answer(&answer, Delivery { keep, head_only });
            let Body::Events(source) = answer.body else { return };
            let stream = Stream { token, wire: Arc::clone(&wire), cancel, source, start: [before, start].concat() };
            match streams.start(stream, reservation, shared) {
                Ok(()) => return,
                Err(refused) => return write(refused, Vec::new(), Delivery { keep, head_only }, token, &wire, shared),
            }
        }
    }
    write(answer, before, Delivery { keep, head_only }, token, &wire, shared);
}

/// Writes what the socket accepts immediately and leaves the rest to `http-in`.
fn write(answer: Answer, before: Vec<u8>, delivery: Delivery, token: Token, wire: &Wire, shared: &Shared) {
    let keep = delivery.keep && shared.phase() == Phase::Serving;
    let answer = encode::answer(&answer, Delivery { keep, ..delivery });
    let bytes = if before.is_empty() { answer } else { [before, answer].concat() };
    let mut at = 0;
    let outcome = match wire.write_from(&bytes, &mut at) {
        Ok(true) => Outcome::Answered { bytes: Vec::new(), at: 0, keep },
        Ok(false) => Outcome::Answered { bytes, at, keep },
        Err(_) => Outcome::Broken,
    };
    shared.give_back(token, outcome);
}

/// The answer of a handler, or 500 if it panicked. The panic hook logs the location.
pub(super) fn caught(handle: impl FnOnce() -> Answer) -> Answer {
    catch_unwind(AssertUnwindSafe(handle)).unwrap_or_else(|_| failed())
}

/// The answer for a handler that panicked.
pub(super) fn failed() -> Answer {
    Answer::failure(
        StatusCode::INTERNAL_SERVER_ERROR,
        Code::Internal,
        "internal error while handling this request; see the server log. Other requests are not affected",
    )
}

/// The client disconnected while the request was queued, so nobody reads this answer.
fn disconnected() -> Answer {
    let status = StatusCode::from_u16(499).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    Answer::failure(
        status,
        Code::Cancelled,
        "the client disconnected or the server stopped while the request was queued",
    )
}
