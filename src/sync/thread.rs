//! The one way to start a thread, and the one timed pause.

use std::io;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Stack size of threads, in bytes. They fold events and move buffers; no recursion depends on input beyond the limit
/// of the JSON parser.
const STACK: usize = 512 * 1024;

/// A named thread with one owner. Dropping it waits for its end.
///
/// The owner must signal the thread to end before dropping it. A thread that drops its own handle (the last owner of a
/// value may be one of its threads) does not wait for itself.
#[derive(Debug)]
pub struct Thread {
    handle: Option<JoinHandle<()>>,
}

impl Thread {
    /// Waits for the end of the thread. A panic in it has already been reported by the panic hook.
    pub fn join(mut self) {
        self.finish();
    }

    /// Whether the thread has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn finish(&mut self) {
        if let Some(handle) = self.handle.take()
            && handle.thread().id() != std::thread::current().id()
        {
            let _ = handle.join();
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Starts a thread. The name is shown by `top -H`, debuggers and the leak tests (Linux cuts it to 15 bytes).
///
/// # Errors
/// When the system refuses another thread.
#[allow(clippy::disallowed_methods)] // the one place that may
pub fn spawn(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    let handle = Builder::new().name(name.into()).stack_size(STACK).spawn(body)?;
    Ok(Thread { handle: Some(handle) })
}

/// A timed pause, for changes without a signal (a port that another process is about to open, a back-off between
/// attempts). Never a substitute for waiting on a cause.
#[allow(clippy::disallowed_methods)] // the one place that may
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}
