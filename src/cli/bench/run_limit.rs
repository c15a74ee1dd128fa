//! Ends the run: deadline and signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::failure::Failure;
use super::super::settings::Settings;
use crate::code::Code;
use crate::sync::Deadline;

/// Default time limit of a run.
const USUAL: Duration = Duration::from_secs(600);
const QUICK: Duration = Duration::from_secs(180);
/// Time limit of one operation.
const OPERATION: Duration = Duration::from_secs(30);
/// Exit status after a second signal. The browser ends with the process.
#[cfg(unix)]
const IMPATIENT: i32 = 130;

/// Tells whether to continue. The first signal ends the run in order, a second one immediately.
pub(super) struct RunLimit {
    limit: Duration,
    deadline: Deadline<'static>,
    signalled: Arc<AtomicBool>,
    #[cfg(unix)]
    ids: Vec<signal_hook::SigId>,
}

impl RunLimit {
    pub(super) fn start(settings: &Settings, quick: bool) -> Result<Self, Failure> {
        let limit = settings.timeout(if quick { QUICK } else { USUAL });
        let mut watch = Self {
            limit,
            deadline: Deadline::after(limit),
            signalled: Arc::default(),
            #[cfg(unix)]
            ids: Vec::new(),
        };
        watch.listen().map_err(|problem| Failure::internal(format!("cannot register signal handlers: {problem}")))?;
        Ok(watch)
    }

    #[cfg(unix)]
    fn listen(&mut self) -> std::io::Result<()> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::flag;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            self.ids.push(flag::register_conditional_shutdown(signal, IMPATIENT, Arc::clone(&self.signalled))?);
            self.ids.push(flag::register(signal, Arc::clone(&self.signalled))?);
        }
        Ok(())
    }

    /// Here Ctrl-C ends the process, and the browsers with it.
    #[cfg(not(unix))]
    #[allow(clippy::unnecessary_wraps, clippy::unused_self)] // as on Unix
    fn listen(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    /// Fails when the run has to end.
    pub(super) fn check(&self) -> Result<(), Failure> {
        const KEPT: &str = "the results so far are listed";
        if self.signalled.load(Ordering::Relaxed) {
            return Err(Failure::new(Code::Interrupted, format!("interrupted; {KEPT}")));
        }
        if self.deadline.passed() {
            let seconds = self.limit.as_secs_f64();
            let hint = "allow more with --timeout, or measure less with --quick or --only";
            return Err(Failure::new(Code::Timeout, format!("not finished within {seconds} s; {KEPT}; {hint}")));
        }
        Ok(())
    }

    /// Deadline for one operation.
    pub(super) fn soon(&self) -> Deadline<'static> {
        self.deadline.within(OPERATION)
    }

    /// Deadline of `limit`, within the run's deadline.
    pub(super) fn within(&self, limit: Duration) -> Deadline<'static> {
        self.deadline.within(limit)
    }
}

#[cfg(unix)]
impl Drop for RunLimit {
    fn drop(&mut self) {
        self.ids.drain(..).for_each(|id| {
            signal_hook::low_level::unregister(id);
        });
    }
}
