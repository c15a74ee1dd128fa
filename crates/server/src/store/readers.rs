//! Connections for reading: they never wait for the writer.

use std::path::PathBuf;
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rusqlite::Connection;

use super::Error;
use super::open::open_reader;
use cdpilot::sync::Deadline;

/// How many reads may run at the same time.
const READERS: usize = 4;
/// How many steps of SQLite's virtual machine a query takes between two checks of its deadline.
const STEPS_PER_CHECK: i32 = 1000;

/// A bounded pool of read-only connections, opened on demand.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    /// Free places; `None` where the connection is not open yet.
    free: Receiver<Option<Connection>>,
    /// The other end of `free`. There is a place for each connection, so that sending never waits.
    put_back: Sender<Option<Connection>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        let (put_back, free) = bounded(READERS);
        for _ in 0..READERS {
            let _ = put_back.try_send(None);
        }
        Self { path, free, put_back }
    }

    /// Runs queries in one read transaction: they see one state of the database. They are interrupted at the deadline.
    ///
    /// # Errors
    /// [`Error::Busy`] when no connection is free before the deadline, [`Error::Timeout`], [`Error::Cancelled`], and the
    /// errors of `query`.
    pub(super) fn read<T>(
        &self,
        deadline: Deadline<'_>,
        query: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let since = Instant::now();
        let mut pooled = self.take(deadline, since)?;
        let connection = match pooled.connection.take() {
            Some(connection) => connection,
            None => open_reader(&self.path)?,
        };
        let connection = pooled.connection.insert(connection);
        limit(connection, Some(deadline))?;
        let result = connection.transaction().map_err(Error::from).and_then(|in_one| query(&in_one));
        limit(connection, None)?;
        result.map_err(|error| match error {
            Error::Timeout { .. } => Error::late(deadline, since, false),
            other => other,
        })
    }

    fn take(&self, deadline: Deadline<'_>, since: Instant) -> Result<PooledConnection<'_>, Error> {
        loop {
            match self.free.recv_deadline(deadline.next_check()) {
                Ok(connection) => return Ok(PooledConnection { connection, readers: self }),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Closed),
                Err(RecvTimeoutError::Timeout) if deadline.is_cancelled() => {
                    return Err(Error::late(deadline, since, false));
                }
                Err(RecvTimeoutError::Timeout) if deadline.passed() => {
                    return Err(Error::Busy { problem: format!("{READERS} reads are running") });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// A place of the pool, put back when dropped.
struct PooledConnection<'r> {
    connection: Option<Connection>,
    readers: &'r Readers,
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        // After a panic the connection is closed: the deadline of the query is still set.
        let connection = self.connection.take().filter(|_| !std::thread::panicking());
        let _ = self.readers.put_back.try_send(connection);
    }
}

/// Interrupts the queries of a connection at a deadline, until the next call.
pub(super) fn limit(connection: &mut Connection, deadline: Option<Deadline<'_>>) -> Result<(), rusqlite::Error> {
    let check = deadline.map(|deadline| {
        let (at, cancel) = (Deadline::at(deadline.instant()), deadline.cancel().cloned());
        move || match &cancel {
            Some(cancel) => at.cancelled_by(cancel).passed(),
            None => at.passed(),
        }
    });
    connection.progress_handler(STEPS_PER_CHECK, check)
}
