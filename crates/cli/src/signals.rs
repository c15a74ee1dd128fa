//! SIGINT, SIGTERM and SIGHUP: the first one stops the program in order, a second one immediately.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use cdpilot::sync::spawn;

/// Exit status after a second signal. The browsers end with the process.
const IMPATIENT: i32 = 130;

/// Registered signal handlers.
pub(super) struct Signals {
    bell: UnixStream,
    ring: UnixStream,
}

impl Signals {
    pub(super) fn register() -> io::Result<Self> {
        let (bell, other) = UnixStream::pair()?;
        let received = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register_conditional_shutdown(signal, IMPATIENT, Arc::clone(&received))?;
            flag::register(signal, Arc::clone(&received))?;
            low_level::pipe::register(signal, other.try_clone()?)?;
        }
        other.set_nonblocking(true)?;
        Ok(Self { bell, ring: other })
    }

    /// A function that ends [`wait`](Self::wait) as a signal does.
    pub(super) fn ring(&self) -> io::Result<impl FnOnce() + Send + 'static> {
        let mut ring = self.ring.try_clone()?;
        Ok(move || drop(ring.write_all(&[0])))
    }

    /// Waits for a signal; one that arrived before counts.
    pub(super) fn wait(&self) {
        let mut byte = [0];
        while (&self.bell).read(&mut byte).is_err_and(|problem| problem.kind() == io::ErrorKind::Interrupted) {}
    }
}

/// Exits with status `code` after `time`, unless the returned sender is dropped before.
pub(super) fn exit_after(time: Duration, code: i32) -> Sender<()> {
    let (keep, dropped) = bounded(0);
    let late = spawn("cli-late", move || {
        if dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("not everything stopped in time");
            std::process::exit(code);
        }
    });
    // Never joined: it ends with the process.
    std::mem::forget(late);
    keep
}
