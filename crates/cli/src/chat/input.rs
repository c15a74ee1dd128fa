//! Lines that are typed, or that come from a pipe.

use std::io::{BufRead as _, IsTerminal as _, stderr, stdin};

use inquire::{InquireError, Text};

use super::super::failure::Failure;

/// What was entered.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Entered {
    Line(String),
    /// Ctrl-C at the prompt.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

pub(in super::super) struct Input;

impl Input {
    /// Whether a person can be asked.
    pub(super) fn is_terminal() -> bool {
        stdin().is_terminal() && stderr().is_terminal()
    }

    /// Reads the next line.
    pub(super) fn read(prompt: &str) -> Result<Entered, Failure> {
        if Self::is_terminal() {
            return match Text::new(prompt).prompt() {
                Ok(line) => Ok(Entered::Line(line)),
                Err(InquireError::OperationInterrupted) => Ok(Entered::Interrupted),
                Err(InquireError::OperationCanceled) => Ok(Entered::End),
                Err(problem) => Err(Failure::internal(format!("cannot read the terminal: {problem}"))),
            };
        }
        let mut line = String::new();
        match stdin().lock().read_line(&mut line) {
            Ok(0) => Ok(Entered::End),
            Ok(_) => Ok(Entered::Line(line)),
            Err(problem) => Err(Failure::usage(format!("cannot read stdin: {problem}"))),
        }
    }

    /// A line that was typed while nothing was read. Does not wait. `None` on systems where it cannot be known.
    pub(super) fn pending() -> Option<String> {
        if !Self::is_terminal() || !is_readable() {
            return None;
        }
        let mut line = String::new();
        stdin().lock().read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line)
    }

    /// Asks the person at the terminal. `None`: Ctrl-C or Ctrl-D.
    pub(in super::super) fn ask(prompt: &str) -> Result<Option<String>, Failure> {
        Ok(match Self::read(prompt)? {
            Entered::Line(line) => Some(line),
            Entered::Interrupted | Entered::End => None,
        })
    }
}

/// Whether a line can be read from the terminal without waiting: terminals hand on whole lines.
#[cfg(unix)]
fn is_readable() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

#[cfg(not(unix))]
fn is_readable() -> bool {
    false
}
