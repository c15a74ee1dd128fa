//! Profiles: starting and stopping their browsers.
//!
//! One caller at a time starts or stops a browser; others wait until their deadlines. No lock is held meanwhile.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::Receiver;
use parking_lot::{Condvar, Mutex};

use super::breaker::Breaker;
use super::launch::{self, BringUpError, Facts};
use super::settings::Settings;
use super::shared::Shared;
use super::tab_index::TabIndex;
use super::{Error, Session, StartWith, Status, events};
use crate::config::AutoSwitch;
use cdpilot::page::{self, PageOptions};
use cdpilot::supervisor::{EventLog, Phase, ProtectedPort, Supervisor, TargetId, View};
use cdpilot::sync::{Deadline, Thread};

/// A handle of a profile and its running browser for one session. Cheap to clone; clones, and handles
/// [for other sessions](Self::for_session), share the profile.
#[derive(Debug, Clone)]
pub struct Profile {
    pub(super) core: Arc<Core>,
    pub(super) session: Session,
}

/// State shared by all sessions of a profile.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) shared: Arc<Shared>,
    settings: Settings,
    events: Arc<EventLog>,
    events_start: String,
    state: Mutex<BrowserState>,
    changed: Condvar,
    pub(super) tab_index: Arc<Mutex<TabIndex>>,
    /// Notified when the owner of a new tab is known.
    pub(super) owner_known: Condvar,
}

/// A running browser of a profile, with its tabs and its supervisor.
#[derive(Debug)]
pub struct Running {
    /// The tabs of the browser, with their refs, requests and downloads.
    pub tabs: page::Tabs,
    pub(super) facts: Facts,
    /// The initial empty page, until it is used.
    pub(super) initial: Mutex<Option<TargetId>>,
    /// The sessions whose requests are watched, by their keys.
    pub(super) watched: Mutex<HashSet<Arc<str>>>,
    /// Closes when the browser has ended and cleanup is done.
    pub(super) over: Receiver<()>,
    pub(super) end_thread: Mutex<Option<Thread>>,
    /// Blocks pages of all profiles from its debugging port.
    pub(super) _port: Option<ProtectedPort>,
}

#[derive(Debug, Default)]
struct BrowserState {
    stage: Stage,
    breaker: Breaker,
    /// It is being reset or deleted: no browser may start.
    retired: bool,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Down,
    /// Being `started` or `stopped`.
    Busy(&'static str),
    Up(Arc<Running>),
}

impl Running {
    /// A browser whose supervisor somebody else stops.
    pub(super) fn adopted(supervisor: Arc<Supervisor>, options: PageOptions, facts: Facts) -> Result<Self, Error> {
        let tabs = page::Tabs::with_options(supervisor, options)?;
        // Its other end is gone: there is no cleanup to wait for.
        let (_, over) = crossbeam_channel::bounded(0);
        Ok(Self {
            tabs,
            facts,
            initial: Mutex::default(),
            watched: Mutex::default(),
            over,
            end_thread: Mutex::default(),
            _port: None,
        })
    }

    /// The supervisor that owns the connection to this browser. It ends when the browser stops.
    #[must_use]
    pub fn supervisor(&self) -> &Arc<Supervisor> {
        self.tabs.supervisor()
    }

    /// The current view of its supervisor.
    pub(super) fn view(&self) -> Arc<View> {
        self.supervisor().view()
    }

    /// Why it ended; `None` while it runs.
    pub(super) fn ended(&self) -> Option<String> {
        match &self.view().phase {
            Phase::Ended(reason) => Some(reason.to_string()),
            _ => None,
        }
    }

    /// Ends it and waits until cleanup is done.
    fn stop(&self, deadline: Deadline<'_>) {
        self.supervisor().stop(deadline);
        let _ = self.over.recv_deadline(deadline.instant());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Its thread ends with the supervisor.
        self.supervisor().stop(Deadline::after_secs(5));
        drop(self.end_thread.lock().take());
    }
}

/// One caller's turn to start or stop. Dropped without an outcome, the state is `Down`.
struct Turn<'a> {
    core: &'a Core,
    outcome: Stage,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.core.state.lock().stage = std::mem::take(&mut self.outcome);
        self.core.changed.notify_all();
    }
}

impl Profile {
    pub(super) fn new(shared: Arc<Shared>, settings: Settings) -> Self {
        let core = Core {
            shared,
            settings,
            events: Arc::default(),
            events_start: events::new_start(),
            state: Mutex::default(),
            changed: Condvar::new(),
            tab_index: Arc::default(),
            owner_known: Condvar::new(),
        };
        Self { core: Arc::new(core), session: Session::default() }
    }

    /// The same profile for another session: with its current tab, its tabs and its armed answers.
    #[must_use]
    pub fn for_session(&self, session: &Session) -> Self {
        Self { core: Arc::clone(&self.core), session: session.clone() }
    }

    /// The session of this handle; the default session unless [`for_session`](Self::for_session) said otherwise.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.core.settings
    }

    /// Name of the profile.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.settings.name
    }

    /// The event log. It outlives restarts of the browser; the tabs of a browser that ends are logged as closed.
    #[must_use]
    pub fn events(&self) -> &Arc<EventLog> {
        &self.core.events
    }

    /// The random name of this event log. A new log, after a restart of the server or for a new profile, has another name
    /// and numbers its events from 1 again.
    #[must_use]
    pub fn events_start(&self) -> &str {
        &self.core.events_start
    }

    /// The browser that was started last and not stopped. It may have ended by itself.
    pub(super) fn last_started(&self) -> Option<Arc<Running>> {
        match &self.core.state.lock().stage {
            Stage::Up(running) => Some(Arc::clone(running)),
            _ => None,
        }
    }

    /// The running browser.
    ///
    /// # Errors
    /// [`Error::NotRunning`]; [`Error::Disabled`].
    pub fn running(&self) -> Result<Arc<Running>, Error> {
        if !self.core.shared.config.browser.enabled {
            return Err(Error::Disabled);
        }
        let running = self.last_started().filter(|running| running.ended().is_none());
        running.ok_or_else(|| Error::NotRunning { profile: self.core.settings.name.clone() })
    }

    /// Launches the browser or attaches to it. Does nothing if it is running, except to resume suspended (`SIGSTOP`)
    /// processes.
    ///
    /// # Errors
    /// [`Error::Disabled`]; [`Error::Resting`] after several failures; [`Error::Browser`] if it does not start;
    /// [`Error::Conflict`] if the settings do not allow it, the browser is running in the other `headless` mode, or
    /// another start or stop takes too long; [`Error::BadRequest`] for `headless` with a remote browser.
    pub fn start(&self, headless: Option<bool>, deadline: Deadline<'_>) -> Result<Status, Error> {
        self.start_with(&StartWith { headless: headless.map(Into::into), ..StartWith::default() }, deadline)
    }

    /// Like [`start`](Self::start), with more options for this start.
    ///
    /// # Errors
    /// Those of [`start`](Self::start); [`Error::BadRequest`] for invalid capabilities, or if the profile does not use
    /// WebDriver; [`Error::Conflict`] for capabilities if the browser is running.
    pub fn start_with(&self, with: &StartWith, deadline: Deadline<'_>) -> Result<Status, Error> {
        crate::config::check_capabilities(&with.capabilities).map_err(|problem| Error::BadRequest { problem })?;
        self.ensure_with(with, deadline)?;
        let resumed = cdpilot::browser::resume(&self.core.settings.user_data_dir);
        if !resumed.is_empty() {
            tracing::warn!(profile = self.name(), ?resumed, "resumed suspended processes of the browser");
        }
        Ok(self.status())
    }

    /// The running browser; starts it if needed.
    pub(super) fn ensure(&self, deadline: Deadline<'_>) -> Result<Arc<Running>, Error> {
        self.ensure_with(&StartWith::default(), deadline)
    }

    fn ensure_with(&self, with: &StartWith, deadline: Deadline<'_>) -> Result<Arc<Running>, Error> {
        if !self.core.shared.config.browser.enabled {
            return Err(Error::Disabled);
        }
        launch::check(&self.core.shared, &self.core.settings, with)?;
        let (mut turn, old) = loop {
            let mut state = self.core.state.lock();
            if self.core.shared.is_closing() || state.retired {
                let why =
                    if state.retired { "the profile is being reset or deleted" } else { "the server is stopping" };
                return Err(Error::Conflict { problem: format!("the browser cannot be started: {why}") });
            }
            let up = match &state.stage {
                Stage::Busy(what) => {
                    self.wait(what, state, deadline)?;
                    continue;
                }
                Stage::Up(running) => Some(Arc::clone(running)),
                Stage::Down => None,
            };
            match up {
                Some(running) if running.ended().is_none() => {
                    drop(state);
                    return self.check_matches(&running, with).map(|()| running);
                }
                up => {
                    state.breaker.check(Instant::now())?;
                    state.stage = Stage::Busy("started");
                    break (Turn { core: &self.core, outcome: Stage::Down }, up);
                }
            }
        };
        if let Some(old) = old {
            tracing::info!(profile = self.name(), reason = old.ended(), "the browser has ended; starting it again");
            old.stop(deadline);
        }
        let outcome = launch::bring_up(
            &self.core.shared,
            &self.core.settings,
            with,
            &self.core.events,
            &self.core.tab_index,
            deadline,
        );
        let running = match outcome {
            Ok(running) => Arc::new(running),
            Err(failure) => {
                self.core.shared.ports.take_back(self.name());
                return Err(match failure {
                    // A start that nobody waits for any more says nothing about the browser.
                    BringUpError::Launch(error) if deadline.is_cancelled() => error,
                    BringUpError::Launch(error) => {
                        self.core.state.lock().breaker.failed(error.to_string(), Instant::now());
                        error
                    }
                    BringUpError::Other(error) => error,
                });
            }
        };
        let mut state = self.core.state.lock();
        if self.core.shared.is_closing() || state.retired {
            drop(state);
            running.stop(deadline);
            return Err(Error::Conflict {
                problem: "the browser was stopped while it was starting; start it again".to_owned(),
            });
        }
        state.breaker.reset();
        drop(state);
        self.core.tab_index.lock().begin();
        turn.outcome = Stage::Up(Arc::clone(&running));
        drop(turn);
        Ok(running)
    }

    /// Makes a browser that is running already the one of this profile.
    pub(super) fn run(&self, running: Running) {
        self.core.tab_index.lock().begin();
        self.core.state.lock().stage = Stage::Up(Arc::new(running));
    }

    /// Checks the options of a start against the running browser.
    fn check_matches(&self, running: &Running, with: &StartWith) -> Result<(), Error> {
        let wanted = match with.headless {
            Some(AutoSwitch::On) => Some(true),
            Some(AutoSwitch::Off) => Some(false),
            Some(AutoSwitch::Auto) | None => None,
        };
        let differs = match (wanted, running.facts.headless) {
            (Some(wanted), Some(is)) if wanted != is && is => "is running headless",
            (Some(wanted), Some(is)) if wanted != is => "is running with a window",
            _ if !with.capabilities.is_empty() => "is already running, and capabilities apply to a new session only",
            _ => return Ok(()),
        };
        let problem = format!("the browser of profile {} {differs}; stop it first, then start it again", self.name());
        Err(Error::Conflict { problem })
    }

    /// Stops the browser, or disconnects from a remote one. Resets the count of failed starts.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another start or stop does not finish by the deadline.
    pub fn stop(&self, deadline: Deadline<'_>) -> Result<Status, Error> {
        loop {
            let mut state = self.core.state.lock();
            let running = match &state.stage {
                Stage::Busy(what) => {
                    self.wait(what, state, deadline)?;
                    continue;
                }
                Stage::Up(running) => Some(Arc::clone(running)),
                Stage::Down => None,
            };
            state.breaker.reset();
            let Some(running) = running else { break };
            state.stage = Stage::Busy("stopped");
            drop(state);
            let turn = Turn { core: &self.core, outcome: Stage::Down };
            running.stop(deadline);
            self.core.shared.ports.take_back(self.name());
            self.core.tab_index.lock().forget();
            drop(turn);
            break;
        }
        Ok(self.status())
    }

    /// Stops it and prevents further starts.
    pub(super) fn retire(&self, deadline: Deadline<'_>) -> Result<(), Error> {
        self.core.state.lock().retired = true;
        self.stop(deadline).map(drop).inspect_err(|_| self.resume())
    }

    /// Allows starts again.
    pub(super) fn resume(&self) {
        self.core.state.lock().retired = false;
    }

    /// Whether a browser may be running.
    pub(super) fn is_up(&self) -> bool {
        !matches!(self.core.state.lock().stage, Stage::Down)
    }

    /// Ends the event log, and with it the streams that follow it.
    pub(super) fn end_events(&self) {
        self.core.events.end();
    }

    /// Waits until another caller's turn is over.
    fn wait(
        &self,
        what: &'static str,
        mut state: parking_lot::MutexGuard<'_, BrowserState>,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let timed_out = self.core.changed.wait_until(&mut state, deadline.next_check()).timed_out();
        if !(timed_out && deadline.passed()) {
            return Ok(());
        }
        Err(Error::Conflict {
            problem: format!("the browser of profile {} is still being {what}; try again", self.name()),
        })
    }
}
