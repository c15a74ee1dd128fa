//! The one way to start a thread, and the one timed pause.

use std::io;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Stack of the threads we start, in bytes. They fold events and move buffers; nothing recurses on
/// input deeper than the JSON reader's own limit.
const STACK: usize = 512 * 1024;

/// A named thread with one owner. Dropping it waits for its end.
///
/// Whoever owns a `Thread` must have told it to end before dropping it. A thread that drops its own
/// handle (the last owner of a value may be one of its threads) does not wait for itself.
#[derive(Debug)]
pub struct Thread {
    handle: Option<JoinHandle<()>>,
}

impl Thread {
    /// Waits for the end of the thread. A panic in it has been reported by the panic hook already.
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

/// Starts a thread. The name is what `top -H`, a debugger and the leak tests show (Linux cuts it to
/// 15 bytes).
///
/// # Errors
/// When the system refuses another thread.
#[allow(clippy::disallowed_methods)] // the one place that may
pub fn spawn(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    let handle = Builder::new().name(name.into()).stack_size(STACK).spawn(body)?;
    Ok(Thread { handle: Some(handle) })
}

/// A timed pause, for what gives no signal to wait on (a port another process is about to open, a
/// back-off between tries). Never a substitute for waiting on a cause.
#[allow(clippy::disallowed_methods)] // the one place that may
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}
