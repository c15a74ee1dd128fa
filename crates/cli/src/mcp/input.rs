//! stdin that a signal ends too.

use std::io::{self, Read};

use cdpilot::sync::Cancel;

/// stdin until it closes or a signal arrives.
pub(super) struct Input {
    #[cfg(unix)]
    wake: std::os::unix::net::UnixStream,
}

#[cfg(unix)]
mod unix {
    use std::os::unix::net::UnixStream;

    use rustix::event::{PollFd, PollFlags, poll};

    use super::super::super::signals::Signals;
    use super::{Cancel, Input, Read, io};
    use cdpilot::sync::spawn;

    impl Input {
        /// Registers signal handlers. The first signal ends the input and sets `hurry`; a second one ends the program.
        pub(in super::super) fn start(hurry: &Cancel) -> io::Result<Self> {
            let signals = Signals::register()?;
            let (wake, rung) = UnixStream::pair()?;
            let hurry = hurry.clone();
            let thread = spawn("cli-signal", move || {
                signals.wait();
                hurry.set();
                drop(rung);
            })?;
            // Never joined: it ends with the process.
            std::mem::forget(thread);
            Ok(Self { wake })
        }
    }

    impl Read for Input {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let stdin = io::stdin();
            loop {
                let mut watched = [PollFd::new(&self.wake, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
                match poll(&mut watched, None) {
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(problem) => return Err(problem.into()),
                    Ok(_) => {}
                }
                if !watched[0].revents().is_empty() {
                    return Ok(0);
                }
                if !watched[1].revents().is_empty() {
                    // Nothing stays in the buffer of the standard library, since `into` is larger.
                    return stdin.lock().read(into);
                }
            }
        }
    }
}

#[cfg(not(unix))]
impl Input {
    /// Here signals end the process, and the browser with it.
    #[allow(clippy::unnecessary_wraps)] // fails on Unix only
    pub(super) fn start(_hurry: &Cancel) -> io::Result<Self> {
        Ok(Self {})
    }
}

#[cfg(not(unix))]
impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        io::stdin().lock().read(into)
    }
}
