//! Reading and writing the pipes of a process until stopped: a descendant of the process may hold the other end open
//! indefinitely.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::sync::Deadline;

/// Number of bytes read at once.
const BUFFER: usize = 64 << 10;
/// Number of reads after the stop, to drain available data: a stray process may write indefinitely.
const LAST_READS: usize = 16;

/// Stops reading and writing on drop.
#[derive(Debug)]
pub struct Stop {
    _end: PipeWriter,
}

/// The receiving side of a [`Stop`].
#[derive(Debug)]
pub struct Stopped(PipeReader);

/// Creates both sides of a stop.
pub fn stop() -> io::Result<(Stop, Stopped)> {
    let (stopped, end) = io::pipe()?;
    Ok((Stop { _end: end }, Stopped(stopped)))
}

/// Which of the descriptors are ready for the requested operation, or closed.
fn wait_ready<const N: usize>(
    fds: [(BorrowedFd<'_>, PollFlags); N],
    deadline: Option<Deadline<'_>>,
) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|(fd, what)| PollFd::from_borrowed_fd(fd, what));
    loop {
        let left = deadline.and_then(|deadline| Timespec::try_from(deadline.left()).ok());
        match poll(&mut polled, left.as_ref()) {
            Err(Errno::INTR) => {}
            Err(problem) => return Err(problem.into()),
            Ok(_) => return Ok(std::array::from_fn(|at| polled.get(at).is_some_and(|fd| !fd.revents().is_empty()))),
        }
    }
}

/// Whether a descriptor has something to read, or is closed, by the deadline.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(super) fn wait_readable(fd: BorrowedFd<'_>, deadline: Deadline<'_>) -> io::Result<bool> {
    wait_ready([(fd, PollFlags::IN)], Some(deadline)).map(|[ready]| ready)
}

/// Passes data to `take` until the end of the stream or the stop. Data available at the stop is still read, up to 1
/// MiB.
pub fn read_until_stopped(mut from: impl Read + AsFd, stopped: &Stopped, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; BUFFER];
    let mut reads_left = LAST_READS;
    loop {
        let both = [(from.as_fd(), PollFlags::IN), (stopped.0.as_fd(), PollFlags::IN)];
        let Ok([something, stop]) = wait_ready(both, None) else { return };
        if stop && (!something || reads_left == 0) {
            return;
        }
        reads_left -= usize::from(stop);
        if !something {
            continue;
        }
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => take(buffer.get(..read).unwrap_or_default()),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Writes all bytes to a non-blocking pipe, unless stopped first.
///
/// # Errors
/// The other end is closed, or writing was stopped.
pub fn write_until_stopped(to: &mut (impl Write + AsFd), mut bytes: &[u8], stopped: &Stopped) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => {
                let both = [(to.as_fd(), PollFlags::OUT), (stopped.0.as_fd(), PollFlags::IN)];
                let [_, stop] = wait_ready(both, None)?;
                if stop {
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
            Err(problem) => return Err(problem),
        }
    }
    Ok(())
}
