//! A session on a WebDriver server: opened, kept alive, deleted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, SendError, Sender, bounded};
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::super::Error;
use super::super::endpoint::Endpoint;
use super::driver::Driver;
use super::error::WebDriverProblem as Problem;
use crate::cdp::Connection;
use crate::sync::{Deadline, Thread, spawn};

/// How long a server may still answer with a session after the deadline; that session is deleted.
const LATE_ANSWER: Duration = Duration::from_secs(60);
/// How long one keep-alive command may take.
const KEEP_ALIVE_TIME: Duration = Duration::from_secs(10);
/// How long the deletion by a drop may take.
const DROP_TIME: Duration = Duration::from_secs(5);

/// A session opened here. Dropping it deletes it.
pub(in crate::browser) struct Session {
    driver: Driver,
    id: String,
    alive: Option<KeepAlive>,
    ended: bool,
    /// The connection to its browser. The lock is held for copying a handle.
    connection: Connected,
}

/// The connection that ends with a session, once there is one.
type Connected = Arc<Mutex<Option<Connection>>>;

impl Session {
    /// Opens a session. Also returns its capabilities.
    pub(super) fn open(
        driver: Driver,
        request: Value,
        keep_alive: Option<Duration>,
        deadline: Deadline<'_>,
    ) -> Result<(Self, Value), Error> {
        let (driver, mut made) = create(driver, request, deadline)?;
        let Some(id) = id_of(&made) else {
            let problem = "its answer contains no session id".to_owned();
            return Err(driver.error(Problem::Answer { status: Some(200), problem }));
        };
        let capabilities = made.get_mut("capabilities").map(Value::take).unwrap_or_default();
        let mut session = Self { driver, id, alive: None, ended: false, connection: Connected::default() };
        if let Some(interval) = keep_alive {
            let (driver, path) = (session.driver.clone(), format!("{}/timeouts", path(&session.id)));
            session.alive = Some(KeepAlive::start(driver, path, interval, Arc::clone(&session.connection))?);
        }
        Ok((session, capabilities))
    }

    /// Sets the connection to its browser: it is closed when the server reports that the session has ended.
    pub(in crate::browser) fn connected(&self, connection: &Connection) {
        *self.connection.lock() = Some(connection.clone());
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The address of the server.
    pub(in crate::browser) fn server(&self) -> &Endpoint {
        self.driver.server()
    }

    /// Deletes the session: <https://www.w3.org/TR/webdriver2/#delete-session>. Succeeds if it no longer exists.
    pub(in crate::browser) fn end(&mut self, deadline: Deadline<'_>) -> Result<(), Error> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        drop(self.connection.lock().take());
        let alive = self.alive.take().map(KeepAlive::tell);
        let deleted = delete(&self.driver, &self.id, deadline);
        if let Some(alive) = alive {
            alive.finish(deadline);
        }
        deleted.map_err(|problem| Error::SessionLeft {
            endpoint: self.driver.server().to_string(),
            problem: problem.what(),
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Err(problem) = self.end(Deadline::after(DROP_TIME)) {
            tracing::warn!("{problem}");
        }
    }
}

/// Requests a session, on a thread, since the server may answer after the deadline; that session is deleted then.
fn create(driver: Driver, request: Value, deadline: Deadline<'_>) -> Result<(Driver, Value), Error> {
    let began = Instant::now();
    let (send, made) = bounded(0); // a session that is not received returns to the thread
    let asker = driver.clone();
    let late = Deadline::after(deadline.left().saturating_add(LATE_ANSWER));
    let thread = spawn("wd-new", move || {
        let outcome = ask(&asker, &request, late);
        if let Err(SendError(Ok((driver, made)))) = send.send(outcome)
            && let Some(id) = id_of(&made)
            && let Err(problem) = delete(&driver, &id, Deadline::after(KEEP_ALIVE_TIME))
        {
            tracing::warn!(server = %driver.server(), "a late session could not be deleted: {}", problem.what());
        }
    })
    .map_err(|problem| Error::system("cannot start a thread", problem))?;
    loop {
        match made.recv_deadline(deadline.next_check()) {
            Ok(outcome) => {
                thread.join();
                return outcome.map_err(|problem| driver.error(problem));
            }
            Err(RecvTimeoutError::Timeout) if deadline.passed() => {
                std::mem::forget(thread); // joining would wait for the server
                return Err(driver.error(Problem::Timeout { after: began.elapsed() }));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::system("cannot request a session", "its thread has ended"));
            }
        }
    }
}

/// Requests at the path of the address; without one also at the path of older grids. Returns the driver with the
/// session.
fn ask(driver: &Driver, request: &Value, deadline: Deadline<'_>) -> Result<(Driver, Value), Problem> {
    let new = |driver: &Driver| driver.command("POST", "/session", Some(request), deadline);
    let first = new(driver);
    let elsewhere = match &first {
        Err(Problem::Refused { code, .. }) => code == "unknown command",
        Err(Problem::Answer { status, .. }) => matches!(status, Some(404 | 405)),
        _ => false,
    };
    if elsewhere && driver.server().path.is_empty() {
        let below = driver.below("/wd/hub");
        if let Ok(made) = new(&below) {
            return Ok((below, made));
        }
    }
    first.map(|made| (driver.clone(), made))
}

fn id_of(made: &Value) -> Option<String> {
    made.get("sessionId").and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned)
}

fn delete(driver: &Driver, id: &str, deadline: Deadline<'_>) -> Result<(), Problem> {
    match driver.command("DELETE", &path(id), None, deadline) {
        Err(problem) if !is_gone(&problem) => Err(problem),
        _ => Ok(()),
    }
}

/// Whether the server reports that the session does not exist.
fn is_gone(problem: &Problem) -> bool {
    matches!(problem, Problem::Refused { code, .. } if code == "invalid session id")
}

/// The path of a session. Ids are the server's: characters with a meaning in paths are escaped.
fn path(id: &str) -> String {
    const DOTS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~').remove(b':').remove(b'=');
    const KEPT: &AsciiSet = &DOTS.remove(b'.');
    // `.` and `..` alone would be read as folders.
    format!("/session/{}", utf8_percent_encode(id, if id.len() > 2 { KEPT } else { DOTS }))
}

/// The thread that keeps a session alive. It requests the session's timeouts: every command counts as activity, and
/// this one also works while a dialog is open and does not affect it.
struct KeepAlive {
    stop: Sender<()>,
    ended: Receiver<()>,
    thread: Thread,
}

impl KeepAlive {
    fn start(driver: Driver, path: String, interval: Duration, connection: Connected) -> Result<Self, Error> {
        let (stop, stopped) = bounded::<()>(1);
        let (alive, ended) = bounded::<()>(0);
        let interval = interval.max(Duration::from_millis(10));
        let body = move || {
            let _alive = alive;
            let mut quiet = false;
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                match driver.command("GET", &path, None, Deadline::after(KEEP_ALIVE_TIME)) {
                    Ok(_) => quiet = false,
                    Err(problem) if is_gone(&problem) => {
                        tracing::warn!(server = %driver.server(), "the WebDriver session has ended by itself");
                        // A grid may leave the connection open although nothing answers on it.
                        let connection = connection.lock().take();
                        if let Some(connection) = connection {
                            connection.session_ended();
                        }
                        return;
                    }
                    Err(problem) if !quiet => {
                        quiet = true;
                        tracing::warn!(server = %driver.server(), "the WebDriver session is not kept alive: {}", problem.what());
                    }
                    Err(_) => {}
                }
            }
        };
        let thread = spawn("wd-alive", body).map_err(|problem| Error::system("cannot start a thread", problem))?;
        Ok(Self { stop, ended, thread })
    }

    /// Signals the thread to end.
    fn tell(self) -> Self {
        let _ = self.stop.try_send(());
        self
    }

    /// Waits until the thread has ended.
    fn finish(self, deadline: Deadline<'_>) {
        if self.ended.recv_deadline(deadline.instant()) == Err(RecvTimeoutError::Timeout) {
            std::mem::forget(self.thread); // its command is pending; it ends by itself with the answer
        }
    }
}
