//! Reading and writing the pipes of a process. Ending its job object closes the other end of the pipes, so no separate
//! stop is needed.

use std::io::{self, Read, Write};

/// Number of bytes read at once.
const BUFFER: usize = 64 << 10;

/// Has no effect on Windows.
#[derive(Debug)]
pub(crate) struct Stop;

/// The receiving side of a [`Stop`].
#[derive(Debug)]
pub struct Stopped;

/// Creates both sides of a stop.
#[allow(clippy::unnecessary_wraps)] // as on Unix
pub(crate) fn stop() -> io::Result<(Stop, Stopped)> {
    Ok((Stop, Stopped))
}

/// Passes data to `take` until the end of the stream.
pub(crate) fn read_until_stopped(mut from: impl Read, _stopped: &Stopped, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => take(buffer.get(..read).unwrap_or_default()),
            Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Writes all bytes.
///
/// # Errors
/// The other end is closed.
pub(crate) fn write_until_stopped(to: &mut impl Write, bytes: &[u8], _stopped: &Stopped) -> io::Result<()> {
    to.write_all(bytes)
}
