//! stdin, which a signal ends as well.

use std::io::{self, Read};

use crate::sync::Cancel;

/// stdin until it ends or a signal comes.
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
    use crate::sync::spawn;

    impl Input {
        /// Signals are heard from now on. The first ends the input and sets the flag; a second one ends the program.
        pub(in super::super) fn start(hurry: &Cancel) -> io::Result<Self> {
            let signals = Signals::register()?;
            let (wake, rung) = UnixStream::pair()?;
            let hurry = hurry.clone();
            let thread = spawn("cli-signal", move || {
                signals.wait();
                hurry.set();
                drop(rung);
            })?;
            // Nobody waits for it: it ends with the program.
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
                    // Nothing stays in the buffer of the standard library: `into` is larger than that.
                    return stdin.lock().read(into);
                }
            }
        }
    }
}

#[cfg(not(unix))]
impl Input {
    /// Signals end the program here, and the browser with it.
    #[allow(clippy::unnecessary_wraps)] // elsewhere it may fail
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
