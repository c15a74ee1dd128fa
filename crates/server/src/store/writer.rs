//! The thread that writes: takes jobs from a bounded queue and commits those that wait together in one transaction.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use rusqlite::Connection;

use super::Error;
use cdpilot::sync::{Deadline, Thread, spawn};

/// How many jobs may wait. Each has a thread that waits for it, which bounds their size too.
pub(super) const QUEUE: usize = 64;
/// How many jobs are committed in one transaction at most.
const MOST_TOGETHER: usize = 64;

/// The queue of the thread `store-write`. Dropping it waits until the queue is empty and the thread has ended.
pub(super) struct Writer {
    // Field order: the thread ends when the queue has no sender.
    queue: Sender<Box<dyn Job>>,
    _thread: Thread,
}

impl Writer {
    /// Starts the thread. At most `places` jobs wait for it.
    pub(super) fn start(connection: Connection, queue_length: usize) -> Result<Self, Error> {
        let (queue, jobs) = bounded(queue_length);
        let thread = spawn("store-write", move || work_off(connection, &jobs));
        let thread =
            thread.map_err(|problem| Error::Failed { problem: format!("cannot start its thread: {problem}") })?;
        Ok(Self { queue, _thread: thread })
    }

    /// Runs `work` in a transaction and returns once it is committed. If `work` fails or panics, nothing of it is written.
    /// It may run twice: again alone, when a transaction with other jobs could not be committed.
    ///
    /// # Errors
    /// [`Error::Busy`] when the queue is full until the deadline, [`Error::Timeout`], [`Error::Cancelled`],
    /// [`Error::Closed`], [`Error::DiskFull`], and the errors of `work`.
    pub(super) fn write<T: Send + 'static>(
        &self,
        deadline: Deadline<'_>,
        work: impl FnMut(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (since, claim) = (Instant::now(), Arc::new(Claim::default()));
        let (reply, outcome) = bounded(1);
        let mut job: Box<dyn Job> = Box::new(Work { work, claim: Arc::clone(&claim), result: None, reply });
        loop {
            match self.queue.send_deadline(job, deadline.next_check()) {
                Ok(()) => break,
                Err(SendTimeoutError::Disconnected(_)) => return Err(Error::Closed),
                Err(SendTimeoutError::Timeout(_)) if deadline.is_cancelled() => {
                    return Err(Error::late(deadline, since, false));
                }
                Err(SendTimeoutError::Timeout(_)) if deadline.passed() => {
                    let places = self.queue.capacity().unwrap_or(QUEUE);
                    return Err(Error::Busy { problem: format!("{places} writes are waiting") });
                }
                Err(SendTimeoutError::Timeout(same)) => job = same,
            }
        }
        loop {
            match outcome.recv_deadline(deadline.next_check()) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Closed),
                Err(RecvTimeoutError::Timeout) if deadline.passed() => {
                    return Err(Error::late(deadline, since, !claim.abandon()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("waiting", &self.queue.len()).finish_non_exhaustive()
    }
}

/// Whether a job begins or its caller gives up, whichever is first.
#[derive(Debug, Default)]
struct Claim(AtomicU8);

const BEGUN: u8 = 1;
const ABANDONED: u8 = 2;

impl Claim {
    /// The thread begins the job; false when its caller gave up.
    fn begin(&self) -> bool {
        self.0.compare_exchange(0, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The caller gives up; false when the job has begun.
    fn abandon(&self) -> bool {
        self.0.compare_exchange(0, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// A job of any result type.
trait Job: Send {
    /// Begins the job; false when its caller gave up.
    fn begin(&self) -> bool;
    /// Runs the work. False when it failed; the error is kept for [`finish`](Self::finish).
    fn run(&mut self, connection: &Connection) -> bool;
    /// Reports the result to the caller: the error of the work, the error of the transaction, or the value.
    fn finish(self: Box<Self>, committed: Result<(), Error>);
}

struct Work<T, F> {
    work: F,
    claim: Arc<Claim>,
    result: Option<Result<T, Error>>,
    reply: Sender<Result<T, Error>>,
}

impl<T: Send, F: FnMut(&Connection) -> Result<T, Error> + Send> Job for Work<T, F> {
    fn begin(&self) -> bool {
        self.claim.begin()
    }

    fn run(&mut self, connection: &Connection) -> bool {
        let work = catch_unwind(AssertUnwindSafe(|| (self.work)(connection)));
        let result = work.unwrap_or_else(|_| Err(Error::Failed { problem: "the operation panicked".to_owned() }));
        self.result.insert(result).is_ok()
    }

    fn finish(self: Box<Self>, committed: Result<(), Error>) {
        let result = match self.result {
            Some(Ok(value)) => committed.map(|()| value),
            Some(Err(error)) => Err(error),
            None => Err(committed.err().unwrap_or(Error::Closed)),
        };
        // The caller may be gone.
        let _ = self.reply.try_send(result);
    }
}

/// Body of the thread: works until the last sender is gone and the queue is empty.
fn work_off(connection: Connection, queue: &Receiver<Box<dyn Job>>) {
    while let Ok(first) = queue.recv() {
        let waiting = std::iter::once(first).chain(queue.try_iter().take(MOST_TOGETHER - 1));
        commit(&connection, waiting.filter(|job| job.begin()).collect());
    }
}

/// Commits all jobs together; if that fails, each alone, so that none suffers from another one.
fn commit(connection: &Connection, mut jobs: Vec<Box<dyn Job>>) {
    let together = transact(connection, &mut jobs);
    match together {
        Err(Stopped::Inside(_)) if jobs.len() > 1 => {
            for job in jobs {
                commit(connection, vec![job]);
            }
        }
        Err(Stopped::Before(error) | Stopped::Inside(error)) => {
            jobs.into_iter().for_each(|job| job.finish(Err(error.clone())));
        }
        Ok(()) => jobs.into_iter().for_each(|job| job.finish(Ok(()))),
    }
}

/// Why a transaction was not committed.
enum Stopped {
    /// It could not begin.
    Before(Error),
    /// It was rolled back.
    Inside(Error),
}

fn transact(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), Stopped> {
    if jobs.is_empty() {
        return Ok(());
    }
    connection.execute_batch("BEGIN IMMEDIATE").map_err(|error| Stopped::Before(error.into()))?;
    let done = run_all(connection, jobs).and_then(|()| connection.execute_batch("COMMIT").map_err(Error::from));
    // SQLite ends a transaction by itself after some errors, for example of a full disk.
    if done.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    done.map_err(Stopped::Inside)
}

/// Runs each job inside a savepoint, so that a failed one leaves nothing behind.
fn run_all(connection: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<(), Error> {
    for job in jobs {
        connection.execute_batch("SAVEPOINT job")?;
        let is_done = job.run(connection);
        if connection.is_autocommit() {
            return Err(Error::Failed { problem: "the transaction was rolled back".to_owned() });
        }
        connection.execute_batch(if is_done { "RELEASE job" } else { "ROLLBACK TO job; RELEASE job" })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cdpilot::sync::Cancel;

    fn soon() -> Deadline<'static> {
        Deadline::after_secs(30)
    }

    fn writer(places: usize) -> (tempfile::TempDir, Writer, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let connection = Connection::open(&path).unwrap();
        let sql = "PRAGMA journal_mode = WAL; CREATE TABLE numbers (n INTEGER PRIMARY KEY, filler TEXT)";
        connection.execute_batch(sql).unwrap();
        (folder, Writer::start(connection, places).unwrap(), Connection::open(&path).unwrap())
    }

    fn insert(connection: &Connection, n: u32) -> Result<u32, Error> {
        connection.execute("INSERT INTO numbers (n) VALUES (?1)", [n])?;
        Ok(n)
    }

    fn numbers(connection: &Connection) -> Vec<u32> {
        let mut query = connection.prepare("SELECT n FROM numbers ORDER BY n").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// Keeps the thread busy until the returned sender is used, and returns once it is.
    fn hold<'scope>(scope: &'scope std::thread::Scope<'scope, '_>, writer: &'scope Writer) -> Sender<()> {
        let (begun, has_begun) = bounded(1);
        let (go_on, wait) = bounded::<()>(1);
        scope.spawn(move || {
            writer.write(soon(), move |_| {
                let _ = begun.try_send(());
                let _ = wait.recv();
                Ok(())
            })
        });
        has_begun.recv().unwrap();
        go_on
    }

    fn waiting(writer: &Writer, number: usize) {
        let deadline = soon();
        while writer.queue.len() != number {
            assert!(!deadline.passed(), "{writer:?}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_failing_and_a_panicking_job_leave_their_neighbours_committed() {
        let (_folder, writer, reader) = writer(8);
        std::thread::scope(|scope| {
            let go_on = hold(scope, &writer);
            let writer = &writer;
            let good = scope.spawn(|| writer.write(soon(), |on| insert(on, 1)));
            let failing = scope.spawn(|| writer.write(soon(), |on| insert(on, 2).and_then(|_| insert(on, 2))));
            let panicking = scope.spawn(|| {
                writer.write(soon(), |on| -> Result<u32, Error> {
                    insert(on, 3)?;
                    panic!("on purpose")
                })
            });
            let other = scope.spawn(|| writer.write(soon(), |on| insert(on, 4)));
            waiting(writer, 4);
            go_on.send(()).unwrap();
            assert_eq!((good.join().unwrap(), other.join().unwrap()), (Ok(1), Ok(4)));
            assert!(matches!(failing.join().unwrap(), Err(Error::Conflict { .. })));
            assert_eq!(panicking.join().unwrap(), Err(Error::Failed { problem: "the operation panicked".to_owned() }));
        });
        assert_eq!(numbers(&reader), [1, 4]);
        assert_eq!(writer.write(soon(), |on| insert(on, 5)), Ok(5), "the thread goes on");
    }

    #[test]
    fn a_lost_transaction_is_repeated_for_each_job_alone() {
        let (_folder, writer, reader) = writer(8);
        std::thread::scope(|scope| {
            let go_on = hold(scope, &writer);
            let writer = &writer;
            let good = scope.spawn(|| writer.write(soon(), |on| insert(on, 1)));
            waiting(writer, 1);
            let ending = scope.spawn(|| {
                writer.write(soon(), |on| {
                    on.execute_batch("ROLLBACK")?;
                    Err::<(), _>(Error::DiskFull)
                })
            });
            waiting(writer, 2);
            let other = scope.spawn(|| writer.write(soon(), |on| insert(on, 2)));
            waiting(writer, 3);
            go_on.send(()).unwrap();
            assert_eq!((good.join().unwrap(), other.join().unwrap()), (Ok(1), Ok(2)));
            assert_eq!(ending.join().unwrap(), Err(Error::DiskFull));
        });
        assert_eq!(numbers(&reader), [1, 2]);
    }

    #[test]
    fn a_full_disk_is_reported_and_the_thread_goes_on() {
        let (_folder, writer, reader) = writer(8);
        let most = |pages: u32| {
            writer.write(soon(), move |on| {
                Ok(on.pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, u32>(0))?)
            })
        };
        let big = || {
            writer
                .write(soon(), |on| Ok(on.execute("INSERT INTO numbers (filler) VALUES (?1)", ["x".repeat(100_000)])?))
        };
        most(10).unwrap();
        assert_eq!(big(), Err(Error::DiskFull));
        assert_eq!(writer.write(soon(), |on| insert(on, 7)), Ok(7), "small writes have room");
        most(1000).unwrap();
        assert_eq!(big(), Ok(1));
        assert_eq!(numbers(&reader), [7, 8]);
    }

    #[test]
    fn a_full_queue_is_busy_and_an_abandoned_job_is_not_run() {
        let (_folder, writer, reader) = writer(1);
        std::thread::scope(|scope| {
            let go_on = hold(scope, &writer);
            let writer = &writer;
            let late = scope.spawn(|| writer.write(Deadline::after_millis(200), |on| insert(on, 1)));
            waiting(writer, 1);
            let full = writer.write(Deadline::after_millis(20), |on| insert(on, 2));
            assert_eq!(full, Err(Error::Busy { problem: "1 writes are waiting".to_owned() }));
            let cancel = Cancel::new();
            cancel.set();
            let cancelled = writer.write(soon().cancelled_by(&cancel), |on| insert(on, 3));
            assert_eq!(cancelled, Err(Error::Cancelled { unknown: false }));
            let late = late.join().unwrap();
            assert!(
                matches!(late, Err(Error::Timeout { unknown: false, after }) if after.as_millis() >= 200),
                "{late:?}"
            );
            go_on.send(()).unwrap();
            assert_eq!(writer.write(soon(), |on| insert(on, 4)), Ok(4));
        });
        assert_eq!(numbers(&reader), [4]);
    }

    #[test]
    fn a_job_that_has_begun_may_still_be_written_after_its_caller_gave_up() {
        let (_folder, writer, reader) = writer(1);
        let (begun, has_begun) = bounded(1);
        let (go_on, wait) = bounded::<()>(1);
        let cancel = Cancel::new();
        std::thread::scope(|scope| {
            let late = scope.spawn(|| {
                writer.write(soon().cancelled_by(&cancel), move |on| {
                    let _ = begun.try_send(());
                    let _ = wait.recv();
                    insert(on, 1)
                })
            });
            has_begun.recv().unwrap();
            cancel.set();
            assert_eq!(late.join().unwrap(), Err(Error::Cancelled { unknown: true }));
        });
        go_on.send(()).unwrap();
        writer.write(soon(), |on| insert(on, 2)).unwrap();
        assert_eq!(numbers(&reader), [1, 2]);
    }

    #[test]
    fn dropping_drains_the_queue() {
        let (_folder, writer, reader) = writer(8);
        std::thread::scope(|scope| {
            let go_on = hold(scope, &writer);
            let (reply, _nobody) = bounded(1);
            let work = |on: &Connection| insert(on, 1);
            let job = Work { work, claim: Arc::default(), result: None, reply };
            writer.queue.send(Box::new(job)).unwrap();
            go_on.send(()).unwrap();
        });
        drop(writer);
        assert_eq!(numbers(&reader), [1]);
    }
}
