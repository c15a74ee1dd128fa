//! A profile and the life of its browser.
//!
//! A start or a stop is one caller's turn; others wait for it by their deadlines, and no lock is held meanwhile.

use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::Receiver;
use parking_lot::{Condvar, Mutex};

use super::book::Book;
use super::breaker::Breaker;
use super::launch::{self, Facts, Failure};
use super::settings::Settings;
use super::shared::Shared;
use super::{Error, StartWith, Status, events};
use crate::page;
use crate::supervisor::{EventLog, Phase, ProtectedPort, Supervisor, TargetId, View};
use crate::sync::{Deadline, Thread};

/// One profile of a home, and its browser when it runs.
#[derive(Debug)]
pub struct Profile {
    pub(super) shared: Arc<Shared>,
    settings: Settings,
    events: Arc<EventLog>,
    events_start: String,
    life: Mutex<Life>,
    changed: Condvar,
    pub(super) book: Arc<Mutex<Book>>,
}

/// A browser that runs.
#[derive(Debug)]
pub struct Running {
    /// Its tabs; the supervisor is behind them.
    pub tabs: page::Tabs,
    pub(super) facts: Facts,
    /// The page that it opened with, as long as nobody used it.
    pub(super) initial: Mutex<Option<TargetId>>,
    /// Closes when it has ended and nothing of it is left.
    pub(super) over: Receiver<()>,
    pub(super) end_thread: Mutex<Option<Thread>>,
    /// Keeps pages of all profiles from its debugging port.
    pub(super) _port: Option<ProtectedPort>,
}

#[derive(Debug, Default)]
struct Life {
    stage: Stage,
    breaker: Breaker,
    /// It is being reset or deleted: nothing starts.
    retired: bool,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Down,
    /// Somebody is at it: `started` or `stopped`.
    Busy(&'static str),
    Up(Arc<Running>),
}

impl Running {
    /// Its supervisor.
    #[must_use]
    pub fn supervisor(&self) -> &Arc<Supervisor> {
        self.tabs.supervisor()
    }

    /// Everything that is known of it.
    pub(super) fn view(&self) -> Arc<View> {
        self.supervisor().view()
    }

    /// Why it has ended, if it has.
    pub(super) fn ended(&self) -> Option<String> {
        match &self.view().phase {
            Phase::Ended(reason) => Some(reason.to_string()),
            _ => None,
        }
    }

    /// Ends it, and waits until nothing of it is left.
    fn stop(&self, deadline: Deadline) {
        self.supervisor().stop(deadline);
        let _ = self.over.recv_deadline(deadline.instant());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Its thread ends with it.
        self.supervisor().stop(Deadline::after_secs(5));
        drop(self.end_thread.lock().take());
    }
}

/// One caller's turn to start or stop. Given up without an outcome, nothing runs.
struct Turn<'a> {
    profile: &'a Profile,
    outcome: Stage,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.profile.life.lock().stage = std::mem::take(&mut self.outcome);
        self.profile.changed.notify_all();
    }
}

impl Profile {
    pub(super) fn new(shared: Arc<Shared>, settings: Settings) -> Self {
        Self {
            shared,
            settings,
            events: Arc::default(),
            events_start: events::new_start(),
            life: Mutex::default(),
            changed: Condvar::new(),
            book: Arc::default(),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// What happens in its browser: one log as long as this lives, whatever becomes of the browser. A tab that ends with
    /// its browser is told as closed.
    #[must_use]
    pub fn events(&self) -> &Arc<EventLog> {
        &self.events
    }

    /// The name of this event log among all that the profile ever had: one log ends with the server or the profile, and
    /// the next one counts from 1 again.
    #[must_use]
    pub fn events_start(&self) -> &str {
        &self.events_start
    }

    /// The browser that was started last and not stopped; it may have ended by itself.
    pub(super) fn last_started(&self) -> Option<Arc<Running>> {
        match &self.life.lock().stage {
            Stage::Up(running) => Some(Arc::clone(running)),
            _ => None,
        }
    }

    /// The browser.
    ///
    /// # Errors
    /// [`Error::NotRunning`]; [`Error::Disabled`].
    pub fn running(&self) -> Result<Arc<Running>, Error> {
        if !self.shared.config.browser.enabled {
            return Err(Error::Disabled);
        }
        let running = self.last_started().filter(|running| running.ended().is_none());
        running.ok_or_else(|| Error::NotRunning { profile: self.settings.name.clone() })
    }

    /// Starts the browser, or attaches to it. One that runs is left as it is; processes of it that are suspended
    /// (`SIGSTOP`) are resumed.
    ///
    /// # Errors
    /// [`Error::Disabled`]; [`Error::Resting`] after several failures; [`Error::Browser`] when it does not start;
    /// [`Error::Conflict`] when the settings do not allow it, when the browser runs and `headless` is something else, or
    /// when another start or stop takes too long; [`Error::BadRequest`] for `headless` of a browser that is attached to.
    pub fn start(&self, headless: Option<bool>, deadline: Deadline) -> Result<Status, Error> {
        self.start_with(&StartWith { headless, ..StartWith::default() }, deadline)
    }

    /// The same with more wishes, which hold for this start.
    ///
    /// # Errors
    /// As [`start`](Self::start); [`Error::BadRequest`] for capabilities that there are not, or that the profile's browser
    /// does not take; [`Error::Conflict`] for capabilities when the browser runs.
    pub fn start_with(&self, with: &StartWith, deadline: Deadline) -> Result<Status, Error> {
        crate::config::check_capabilities(&with.capabilities).map_err(|problem| Error::BadRequest { problem })?;
        self.ensure_with(with, deadline)?;
        let resumed = crate::browser::resume(&self.settings.user_data_dir);
        if !resumed.is_empty() {
            tracing::warn!(profile = self.name(), ?resumed, "resumed processes of the browser that were stopped");
        }
        Ok(self.status())
    }

    /// The browser, started when it does not run.
    pub(super) fn ensure(&self, deadline: Deadline) -> Result<Arc<Running>, Error> {
        self.ensure_with(&StartWith::default(), deadline)
    }

    fn ensure_with(&self, with: &StartWith, deadline: Deadline) -> Result<Arc<Running>, Error> {
        if !self.shared.config.browser.enabled {
            return Err(Error::Disabled);
        }
        launch::check(&self.shared, &self.settings, with)?;
        let (mut turn, old) = loop {
            let mut life = self.life.lock();
            if self.shared.is_closing() || life.retired {
                let why = if life.retired { "the profile is being reset or deleted" } else { "the server is ending" };
                return Err(Error::Conflict { problem: format!("{why}, its browser is not started any more") });
            }
            let up = match &life.stage {
                Stage::Busy(what) => {
                    self.wait(what, life, deadline)?;
                    continue;
                }
                Stage::Up(running) => Some(Arc::clone(running)),
                Stage::Down => None,
            };
            match up {
                Some(running) if running.ended().is_none() => {
                    drop(life);
                    return self.as_wished(&running, with).map(|()| running);
                }
                up => {
                    life.breaker.check(Instant::now())?;
                    life.stage = Stage::Busy("started");
                    break (Turn { profile: self, outcome: Stage::Down }, up);
                }
            }
        };
        if let Some(old) = old {
            tracing::info!(profile = self.name(), reason = old.ended(), "the browser has ended and is started anew");
            old.stop(deadline);
        }
        let outcome = launch::bring_up(&self.shared, &self.settings, with, &self.events, &self.book, deadline);
        let running = match outcome {
            Ok(running) => Arc::new(running),
            Err(failure) => {
                self.shared.ports.take_back(self.name());
                return Err(match failure {
                    Failure::Launch(error) => {
                        self.life.lock().breaker.failed(error.to_string(), Instant::now());
                        error
                    }
                    Failure::Other(error) => error,
                });
            }
        };
        let mut life = self.life.lock();
        if self.shared.is_closing() || life.retired {
            drop(life);
            running.stop(deadline);
            return Err(Error::Conflict { problem: "the browser was stopped while it was started".to_owned() });
        }
        life.breaker.reset();
        drop(life);
        self.book.lock().begin();
        turn.outcome = Stage::Up(Arc::clone(&running));
        drop(turn);
        Ok(running)
    }

    /// Refuses wishes that a browser which runs does not fulfil.
    fn as_wished(&self, running: &Running, with: &StartWith) -> Result<(), Error> {
        let differs = match (with.headless, running.facts.headless) {
            (Some(wanted), Some(is)) if wanted != is && is => "without a window",
            (Some(wanted), Some(is)) if wanted != is => "with a window",
            _ if !with.capabilities.is_empty() => "already, and capabilities hold for a new session only",
            _ => return Ok(()),
        };
        let problem =
            format!("the browser of profile {} runs {differs}; stop it first, then start it again", self.name());
        Err(Error::Conflict { problem })
    }

    /// Stops the browser; of one that somebody else started only the connection ends. What is known of failures to
    /// start is forgotten.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is being started or stopped at the moment and that takes too long.
    pub fn stop(&self, deadline: Deadline) -> Result<Status, Error> {
        loop {
            let mut life = self.life.lock();
            let running = match &life.stage {
                Stage::Busy(what) => {
                    self.wait(what, life, deadline)?;
                    continue;
                }
                Stage::Up(running) => Some(Arc::clone(running)),
                Stage::Down => None,
            };
            life.breaker.reset();
            let Some(running) = running else { break };
            life.stage = Stage::Busy("stopped");
            drop(life);
            let turn = Turn { profile: self, outcome: Stage::Down };
            running.stop(deadline);
            self.shared.ports.take_back(self.name());
            self.book.lock().forget();
            drop(turn);
            break;
        }
        Ok(self.status())
    }

    /// Stops it; it is not started any more.
    pub(super) fn retire(&self, deadline: Deadline) -> Result<(), Error> {
        self.life.lock().retired = true;
        self.stop(deadline).map(drop).inspect_err(|_| self.resume())
    }

    /// It may be started again.
    pub(super) fn resume(&self) {
        self.life.lock().retired = false;
    }

    /// Whether there may be something to stop.
    pub(super) fn is_up(&self) -> bool {
        !matches!(self.life.lock().stage, Stage::Down)
    }

    /// Nothing will happen any more; who follows the events is told.
    pub(super) fn end_events(&self) {
        self.events.end();
    }

    /// Waits until somebody else's turn is over.
    fn wait(
        &self,
        what: &'static str,
        mut life: parking_lot::MutexGuard<'_, Life>,
        deadline: Deadline,
    ) -> Result<(), Error> {
        if !self.changed.wait_until(&mut life, deadline.instant()).timed_out() {
            return Ok(());
        }
        Err(Error::Conflict { problem: format!("the browser of profile {} is being {what}; try again", self.name()) })
    }
}
