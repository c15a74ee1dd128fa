//! Life cycle of one command and its descendants.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::RecvTimeoutError;
use parking_lot::{Condvar, Mutex};

use super::lines::Lines;
use super::system::{self, ProcessTree};
use cdpilot::process::stdio;
use cdpilot::redact::Secrets;
use cdpilot::sync::{Deadline, Thread, on_panic, spawn};

/// How long a command may take to end after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(1);
/// How long killed processes may take to disappear.
const KILL_TIME: Duration = Duration::from_secs(5);
/// How long to wait for the end of the output after the command itself has ended.
const OUTPUT_GRACE: Duration = Duration::from_millis(300);

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// It exited with this code.
    Code(i32),
    /// It was killed by this signal.
    Signal(String),
}

/// Why input could not be written to a command.
#[derive(Debug)]
pub(super) enum WriteError {
    /// Stdin is closed.
    Closed,
    /// The command does not read its stdin; earlier or current input is still pending.
    Stuck,
    /// Writing failed.
    Failed(io::Error),
}

/// State of a job, updated by its threads.
#[derive(Debug, Default)]
struct State {
    lines: Lines,
    ended: Option<(Ended, Instant)>,
    /// The output has ended.
    output_ended: bool,
    /// The command and all its descendants have ended.
    all_ended: bool,
    /// Descendants outlived the command and were ended.
    had_descendants: bool,
    tree: Option<Arc<ProcessTree>>,
    input: Input,
}

#[derive(Debug, Default)]
enum Input {
    #[default]
    Closed,
    Open(ChildStdin),
    /// A writer thread holds stdin.
    Busy,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A command and its descendants. Dropping it ends them.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) command: String,
    pub(super) started: Instant,
    shared: Arc<Shared>,
    threads: Vec<Thread>,
}

impl Job {
    /// Starts a command.
    ///
    /// # Errors
    /// The process or its threads cannot be started.
    pub(super) fn start(command: &str, folder: &Path, secrets: &Secrets, input: bool) -> io::Result<Self> {
        let variables = super::environment::scrubbed(secrets);
        let (mut child, tree, output) = system::start(command, folder, variables, input)?;
        let number = child.id();
        let taken = child.stdin.take().map_or(Input::Closed, Input::Open);
        let shared = Arc::new(Shared::default());
        *shared.state.lock() = State { tree: Some(Arc::new(tree)), input: taken, ..State::default() };
        let mut job = Self {
            command: command.to_owned(),
            started: Instant::now(),
            shared: Arc::clone(&shared),
            threads: Vec::new(),
        };
        let (stop, stopped) = match stdio::stop() {
            Ok(stop) => stop,
            Err(problem) => return Err(shared.abandon(child, problem)),
        };
        let reading = Arc::clone(&shared);
        let reader = spawn(format!("term-out-{number}"), move || {
            let _guard = on_panic(|| {
                reading.state.lock().output_ended = true;
                reading.changed.notify_all();
            });
            stdio::read_until_stopped(output, &stopped, |bytes| {
                reading.state.lock().lines.take(bytes);
                reading.changed.notify_all();
            });
            let mut state = reading.state.lock();
            state.lines.finish();
            state.output_ended = true;
            drop(state);
            reading.changed.notify_all();
        });
        match reader {
            Ok(reader) => job.threads.push(reader),
            Err(problem) => return Err(shared.abandon(child, problem)),
        }
        let mut child = Some(child);
        let (give, given) = crossbeam_channel::bounded::<Child>(1);
        let ending = Arc::clone(&shared);
        let waiter = spawn(format!("term-end-{number}"), move || {
            if let Ok(child) = given.recv() {
                ending.wait_for_end(child, stop);
            }
        });
        match waiter {
            Ok(waiter) => {
                if let Some(child) = child.take() {
                    let _ = give.send(child);
                }
                job.threads.push(waiter);
                Ok(job)
            }
            Err(problem) => match child.take() {
                Some(child) => Err(shared.abandon(child, problem)),
                None => Err(problem),
            },
        }
    }

    /// Waits until the command and its descendants have ended. Returns whether they have.
    pub(super) fn wait(&self, deadline: Deadline<'_>) -> bool {
        self.shared.wait(deadline, |state| state.all_ended)
    }

    /// Terminates the command and its descendants, then kills the remaining ones. Returns whether all have ended.
    pub(super) fn end(&self) -> bool {
        self.terminate();
        if self.wait(Deadline::after(GRACE)) {
            return true;
        }
        if let Some(tree) = self.tree() {
            tree.kill();
        }
        self.wait(Deadline::after(KILL_TIME))
    }

    /// Sends SIGTERM to the command and its descendants.
    pub(super) fn terminate(&self) {
        if let Some(tree) = self.tree() {
            tree.terminate();
        }
    }

    fn tree(&self) -> Option<Arc<ProcessTree>> {
        self.shared.state.lock().tree.clone()
    }

    /// How the command ended and how long it ran; `None` while it runs.
    pub(super) fn ended(&self) -> Option<(Ended, Duration)> {
        let state = self.shared.state.lock();
        state.ended.as_ref().map(|(ended, at)| (ended.clone(), at.duration_since(self.started)))
    }

    /// Whether descendants outlived the command and were ended.
    pub(super) fn had_descendants(&self) -> bool {
        self.shared.state.lock().had_descendants
    }

    /// Calls `look` with the output. The job is locked meanwhile.
    pub(super) fn lines<T>(&self, look: impl FnOnce(&Lines) -> T) -> T {
        look(&self.shared.state.lock().lines)
    }

    /// Writes to stdin, then closes it if `close` is set. Writes on a separate thread, because the command may never
    /// read.
    pub(super) fn write(&self, bytes: Vec<u8>, close: bool, deadline: Deadline<'_>) -> Result<(), WriteError> {
        let mut state = self.shared.state.lock();
        let mut input = match std::mem::replace(&mut state.input, Input::Busy) {
            Input::Open(input) => input,
            Input::Closed => {
                state.input = Input::Closed;
                return Err(WriteError::Closed);
            }
            Input::Busy => return Err(WriteError::Stuck),
        };
        drop(state);
        let shared = Arc::clone(&self.shared);
        let (sender, done) = crossbeam_channel::bounded(1);
        let writer = spawn("term-in", move || {
            let outcome = input.write_all(&bytes).and_then(|()| input.flush());
            let keep = outcome.is_ok() && !close;
            shared.state.lock().input = if keep { Input::Open(input) } else { Input::Closed };
            let _ = sender.try_send(outcome);
        });
        let writer = writer.map_err(WriteError::Failed)?;
        loop {
            match done.recv_deadline(deadline.next_check()) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Err(WriteError::Closed),
                Ok(Err(error)) => return Err(WriteError::Failed(error)),
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Err(_) => {
                    // The thread ends when the command reads its stdin or ends.
                    std::mem::forget(writer);
                    return Err(WriteError::Stuck);
                }
            }
        }
    }
}

impl Shared {
    fn wait(&self, deadline: Deadline<'_>, holds: impl Fn(&State) -> bool) -> bool {
        let mut state = self.state.lock();
        while !holds(&state) {
            let timed_out = self.changed.wait_until(&mut state, deadline.next_check()).timed_out();
            if timed_out && deadline.passed() {
                return holds(&state);
            }
        }
        true
    }

    /// Waits for the command to end, then ends its remaining descendants.
    fn wait_for_end(&self, mut child: Child, stop: stdio::Stop) {
        let status = child.wait();
        let ended = status.map_or_else(|problem| Ended::Signal(format!("unknown: {problem}")), system::ended);
        self.state.lock().ended = Some((ended, Instant::now()));
        self.changed.notify_all();
        let output_ended = self.wait(Deadline::after(OUTPUT_GRACE), |state| state.output_ended);
        let tree = self.state.lock().tree.take();
        if let Some(tree) = tree {
            let had_descendants = tree.is_alive().unwrap_or(!output_ended);
            tree.clear(KILL_TIME);
            self.state.lock().had_descendants = had_descendants;
        }
        drop(stop);
        self.wait(Deadline::after(OUTPUT_GRACE), |state| state.output_ended);
        let mut state = self.state.lock();
        // Nobody reads from the pipe any more.
        if matches!(state.input, Input::Open(_)) {
            state.input = Input::Closed;
        }
        state.all_ended = true;
        drop(state);
        self.changed.notify_all();
    }

    /// Ends a command whose threads could not be started.
    fn abandon(&self, mut child: Child, problem: io::Error) -> io::Error {
        let tree = self.state.lock().tree.take();
        if let Some(tree) = tree {
            tree.clear(KILL_TIME);
        }
        let _ = child.kill();
        let _ = child.wait();
        let mut state = self.state.lock();
        state.all_ended = true;
        problem
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let all_ended = self.shared.state.lock().all_ended;
        if !all_ended && !self.end() {
            tracing::warn!("a command did not end although it was killed; it is abandoned");
            // Joining would wait for the command.
            self.threads.drain(..).for_each(std::mem::forget);
        }
    }
}
