//! Reads stdin line by line, and the signals that end the session, on one thread that can be stopped.

use crossbeam_channel::{Receiver, Sender};

use super::End;
#[cfg(unix)]
use cdpilot::sync::Thread;
use cdpilot::sync::spawn;

/// Maximum length of a line, bytes; a longer one is answered with an error.
const MAX_LINE: usize = 1 << 20;
/// Capacity of the line queue.
const AHEAD: usize = 16;

/// A line of stdin.
pub(super) enum Line {
    Text(String),
    /// Too long, or not UTF-8; with the message.
    Unreadable(&'static str),
}

/// The reading thread. Dropping it stops the thread.
pub(super) struct Input {
    /// Disconnects when stdin closes.
    pub(super) lines: Receiver<Line>,
    #[cfg(unix)]
    _signals: unix::Signals,
    #[cfg(unix)]
    _thread: Thread,
}

impl Input {
    #[cfg(unix)]
    pub(super) fn start(control: Sender<End>) -> std::io::Result<Self> {
        let (send, lines) = crossbeam_channel::bounded(AHEAD);
        let (signals, bell) = unix::Signals::register()?;
        let thread = spawn("cli-in", move || unix::read(&bell, send, &control))?;
        Ok(Self { lines, _signals: signals, _thread: thread })
    }

    /// Here a read of stdin cannot be cancelled, so the thread ends with stdin or the process.
    #[cfg(not(unix))]
    pub(super) fn start(_control: Sender<End>) -> std::io::Result<Self> {
        use std::io::BufRead;
        let (send, lines) = crossbeam_channel::bounded(AHEAD);
        let thread = spawn("cli-in", move || {
            let mut stdin = std::io::stdin().lock();
            let mut splitter = Splitter::default();
            while let Ok(bytes) = stdin.fill_buf() {
                let (count, done) = (bytes.len(), bytes.is_empty());
                let lines = if done { splitter.end().into_iter().collect() } else { splitter.push(bytes) };
                stdin.consume(count);
                if lines.into_iter().any(|line| send.send(line).is_err()) || done {
                    return;
                }
            }
        })?;
        std::mem::forget(thread);
        Ok(Self { lines })
    }
}

/// Splits bytes into lines of limited length.
#[derive(Default)]
pub(super) struct Splitter {
    begun: Vec<u8>,
    too_long: bool,
}

impl Splitter {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.begun.len() + piece.len() > MAX_LINE {
                self.too_long = true;
                self.begun.clear();
            }
            if !self.too_long {
                self.begun.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                lines.extend(self.end());
            }
        }
        lines
    }

    pub(super) fn end(&mut self) -> Option<Line> {
        let bytes = std::mem::take(&mut self.begun);
        if std::mem::take(&mut self.too_long) {
            return Some(Line::Unreadable("the line is longer than 1 MiB"));
        }
        if bytes.is_empty() {
            return None;
        }
        Some(String::from_utf8(bytes).map_or(Line::Unreadable("the line is not UTF-8"), Line::Text))
    }
}

#[cfg(unix)]
mod unix {
    use std::io::{self, BufRead, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use rustix::event::{PollFd, PollFlags, poll};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{SigId, flag, low_level};

    use super::{End, Line, Sender, Splitter};

    /// Byte that stops the thread; signals write another byte.
    const LEAVE: u8 = b'q';
    /// Exit status after a second signal. The browser ends with the process.
    const IMPATIENT: i32 = 130;

    /// Handlers of the signals that end the session: the first in order, a second one immediately.
    pub(super) struct Signals {
        bell: UnixStream,
        ids: Vec<SigId>,
    }

    impl Signals {
        /// Registers the handlers; the returned stream becomes readable when a signal arrives.
        pub(super) fn register() -> io::Result<(Self, UnixStream)> {
            let (bell, other) = UnixStream::pair()?;
            let received = Arc::new(AtomicBool::new(false));
            let mut signals = Self { bell, ids: Vec::new() };
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                signals.ids.push(flag::register_conditional_shutdown(signal, IMPATIENT, Arc::clone(&received))?);
                signals.ids.push(flag::register(signal, Arc::clone(&received))?);
                signals.ids.push(low_level::pipe::register(signal, signals.bell.try_clone()?)?);
            }
            Ok((signals, other))
        }
    }

    impl Drop for Signals {
        fn drop(&mut self) {
            let _ = self.bell.write_all(&[LEAVE]);
            self.ids.drain(..).for_each(|id| {
                low_level::unregister(id);
            });
        }
    }

    /// Drops `lines` when stdin has closed, which disconnects the receiver.
    pub(super) fn read(mut bell: &UnixStream, lines: Sender<Line>, control: &Sender<End>) {
        let stdin = io::stdin();
        let mut splitter = Splitter::default();
        let mut lines = Some(lines);
        loop {
            let mut watched = vec![PollFd::new(bell, PollFlags::IN)];
            watched.extend(lines.is_some().then(|| PollFd::new(&stdin, PollFlags::IN)));
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return,
                Ok(_) => {}
            }
            let (rung, ready) =
                (!watched[0].revents().is_empty(), watched.get(1).is_some_and(|fd| !fd.revents().is_empty()));
            if rung {
                let mut byte = [0];
                if bell.read(&mut byte).is_ok_and(|read| read == 1) && byte[0] != LEAVE {
                    let _ = control.send(End::Signal);
                    continue;
                }
                return;
            }
            if let Some(send) = lines.as_ref().filter(|_| ready) {
                // Takes all buffered bytes, since poll does not see them.
                let mut stdin = stdin.lock();
                let bytes = stdin.fill_buf().unwrap_or_default();
                let (count, done) = (bytes.len(), bytes.is_empty());
                let cut = if done { splitter.end().into_iter().collect() } else { splitter.push(bytes) };
                stdin.consume(count);
                let gone = cut.into_iter().any(|line| send.send(line).is_err());
                if gone || done {
                    lines = None; // no more lines; a signal may still come
                }
            }
        }
    }
}
