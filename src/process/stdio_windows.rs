//! Reading and writing the pipes of a process. Once its job object has ended nothing holds the other end, so the end of
//! the stream is stop enough.

use std::io::{self, Read, Write};

/// Bytes read at once.
const BUFFER: usize = 64 << 10;

/// Does nothing here.
#[derive(Debug)]
pub(crate) struct Stop;

/// The other side of a [`Stop`].
#[derive(Debug)]
pub(crate) struct Stopped;

/// Both sides of a stop.
#[allow(clippy::unnecessary_wraps)] // as on Unix
pub(crate) fn stop() -> io::Result<(Stop, Stopped)> {
    Ok((Stop, Stopped))
}

/// Passes on what is read, until the end of the stream.
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

/// Writes all of it.
///
/// # Errors
/// The other end is closed.
pub(crate) fn write_until_stopped(to: &mut impl Write, bytes: &[u8], _stopped: &Stopped) -> io::Result<()> {
    to.write_all(bytes)
}
