//! Persistent commands: settings of a page that each of its sessions gets, including later ones and those after a
//! reconnect; and HTTP credentials.

use std::fmt;

use super::error::Error;
use super::handle::Supervisor;
use super::origin::http_origin;
use super::outgoing::Outgoing;
use super::state::Request;
use crate::cdp::protocol::page::ScriptIdentifier;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt::Command;
use crate::setters;
use crate::sync::Deadline;

/// Key of the command that takes a page offline. While it is set, no other network condition is sent.
pub(crate) const OFFLINE: &str = "offline";

/// Key of the command that throttles the CPU.
pub(crate) const CPU: &str = "cpu";

/// The sessions of a page that a persistent command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionScope {
    /// The session of the page itself.
    Page,
    /// Those of the page and of its cross-process frames.
    Frames,
    /// All of them, those of workers included.
    All,
}

/// A command that is sent to each new session of a page. Its `Debug` shows the method only: parameters may hold secrets.
#[derive(Clone)]
pub struct PersistentCommand(pub(super) Outgoing);

impl PersistentCommand {
    /// Wraps a typed command with its parameters.
    #[must_use]
    pub fn new<C: Command + Send + Sync + 'static>(command: C) -> Self {
        Self(command.into())
    }
}

impl PartialEq for PersistentCommand {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }
}

impl fmt::Debug for PersistentCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PersistentCommand").field(&self.0.method()).finish()
    }
}

/// A user name and password for HTTP authentication. `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    pub(super) username: String,
    pub(super) password: String,
    pub(super) origin: Option<String>,
}

impl Login {
    /// Credentials from a user name and a password.
    #[must_use]
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self { username: username.into(), password: password.into(), origin: None }
    }

    /// For servers of this origin, such as `https://example.com`, and no other. `None` if that is not the address of a
    /// website.
    #[must_use]
    pub fn for_origin(mut self, origin: &str) -> Option<Self> {
        self.origin = Some(http_origin(origin)?);
        Some(self)
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

/// Network throttling of a page.
///
/// ```
/// use cdpilot::supervisor::Throttle;
/// let slow = Throttle::new().latency_ms(400.0).download_kbps(500.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Throttle {
    /// Minimum time from a request to its response, in milliseconds. Default 0.
    pub latency_ms: f64,
    /// Maximum download speed, in kilobits per second. Default `None`: no limit.
    pub download_kbps: Option<f64>,
    /// Maximum upload speed, in kilobits per second. Default `None`: no limit.
    pub upload_kbps: Option<f64>,
}

setters!(Throttle: latency_ms(f64), download_kbps(some f64), upload_kbps(some f64));

impl Throttle {
    /// No latency and no limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Kilobits per second as the protocol has it: bytes per second, -1 for no limit.
    pub(super) fn wire(kbps: Option<f64>) -> f64 {
        kbps.map_or(-1.0, |kbps| kbps * 1000.0 / 8.0)
    }
}

impl Supervisor {
    /// Throttles the network of a page with its frames and workers; `None` ends it. Works where requests are
    /// [watched](Self::watch_network).
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Cdp`] when the browser cannot, [`Error::Timeout`], [`Error::NotActive`].
    pub fn set_throttle(
        &self,
        page: &TargetId,
        throttle: Option<Throttle>,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let page = page.clone();
        self.ask("throttling the network", deadline, |reply| Request::Throttle { page, throttle, reply })
    }

    /// Keeps a command for a page, under a key: each session of these kinds that the page gets from now on is
    /// sent it before its target goes on, over a new connection too. The sessions that it has get `now`, which
    /// is the same command, or when nothing is to be kept any more the one that takes it back; the page's own
    /// session does not, since the caller has sent it there to see what the browser says. No answers are waited
    /// for.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn set_persistent_command(
        &self,
        page: &TargetId,
        key: &'static str,
        sessions: SessionScope,
        now: PersistentCommand,
        keep: bool,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let page = page.clone();
        self.ask("applying an emulation setting", deadline, |reply| Request::SetPersistentCommand {
            page,
            key,
            sessions,
            now,
            keep,
            reply,
        })
    }

    /// Answers servers that ask the page for a name and password. Both go to one origin and no other, since a page
    /// may hold what strangers put there: that of the [`Login`], or else that of the address that is opened by
    /// [`navigate`](Self::navigate) (before it, of the document that is shown). A server to which that one redirects
    /// gets nothing, except the same host over TLS.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn set_login(&self, page: &TargetId, login: Option<Login>, deadline: Deadline<'_>) -> Result<(), Error> {
        let page = page.clone();
        self.ask("setting HTTP credentials", deadline, |reply| Request::Login { page, login, reply })
    }

    /// Removes a script ([`Page.addScriptToEvaluateOnNewDocument`](crate::cdp::protocol::page::AddScriptToEvaluateOnNewDocument))
    /// of a page once its top frame shows a document of an origin: the script has run there then.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn remove_script_at(
        &self,
        page: &TargetId,
        origin: &str,
        script: ScriptIdentifier,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let (page, origin) = (page.clone(), origin.to_owned());
        self.ask("scheduling the removal of a script", deadline, |reply| Request::RemoveScript {
            page,
            origin,
            script,
            reply,
        })
    }

    /// Lets the origins that a page shows ask for its location, or no longer. Told for each origin as the page
    /// sets out for it.
    ///
    /// # Errors
    /// [`Error::PageNotFound`], [`Error::Timeout`], [`Error::NotActive`].
    pub fn allow_location(&self, page: &TargetId, allowed: bool, deadline: Deadline<'_>) -> Result<(), Error> {
        let page = page.clone();
        self.ask("setting the geolocation permission", deadline, |reply| Request::Location { page, allowed, reply })
    }
}
