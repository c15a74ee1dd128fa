//! Options of a supervisor.

use std::sync::Arc;
use std::time::Duration;

use super::dialog_policy::{BridgeMode, DialogPolicy, DialogRule};
use super::log::EventLog;
use super::navigation_policy::NavigationPolicy;
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::target::TargetId;
use crate::redact::Secrets;
use crate::setters;

/// The pages that belong to the task. Popups of its pages belong to it too.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Pages {
    /// A new page that the supervisor opens at the start.
    New {
        /// The URL to open.
        url: String,
        /// The browser context to open it in. Default: the default context.
        context: Option<BrowserContextId>,
    },
    /// An existing page, and the pages that it opens.
    Existing(TargetId),
    /// Every page of the browser, present and future.
    All,
    /// None at the start; pages are opened with [`Supervisor::open_page`](super::Supervisor::open_page).
    None,
}

impl Default for Pages {
    fn default() -> Self {
        Self::New { url: "about:blank".to_owned(), context: None }
    }
}

/// How to reconnect: immediately, then after increasing pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reconnect {
    /// Number of attempts before the supervisor ends. Default 8, about 20 s; 0: it ends at once.
    pub tries: u32,
    /// The pause before the second attempt; doubled for each further one. Default 250 ms.
    pub first_pause: Duration,
    /// Longest pause between attempts. Default 5 s.
    pub longest_pause: Duration,
    /// Time limit of one attempt. Default 5 s.
    pub try_timeout: Duration,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            tries: 8,
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(5),
            try_timeout: Duration::from_secs(5),
        }
    }
}

impl Reconnect {
    /// The default: 8 attempts in about 20 s.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A lost connection ends the supervisor.
    #[must_use]
    pub fn never() -> Self {
        Self { tries: 0, ..Self::default() }
    }

    /// Sets the number of attempts.
    #[must_use]
    pub fn tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// Sets the pauses between attempts.
    #[must_use]
    pub fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.first_pause = first;
        self.longest_pause = longest;
        self
    }

    /// The pause before an attempt, counted from 0, with 10 % jitter, so that many supervisors of one
    /// browser do not reconnect at the same moment.
    pub(super) fn pause(&self, tried: u32) -> Duration {
        if tried == 0 {
            return Duration::ZERO;
        }
        let grown = self.first_pause.saturating_mul(1 << (tried - 1).min(16)).min(self.longest_pause);
        grown.mul_f64(0.9 + 0.2 * fastrand::f64())
    }
}

/// Options of a [`Supervisor`](super::Supervisor).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SupervisorOptions {
    /// Name of the task; part of the thread's name.
    pub task: String,
    /// The pages of the task. Default: a new one with `about:blank`.
    pub pages: Pages,
    /// The policy for dialogs that match no rule.
    pub policy: DialogPolicy,
    /// Policies for matching dialogs; the first match decides.
    pub rules: Vec<DialogRule>,
    /// Secrets to redact in the texts of dialogs. Tokens of known formats are always redacted.
    pub secrets: Secrets,
    /// Whether dialogs use the dialog bridge.
    pub bridge: BridgeMode,
    /// Whether the browser counts as running on another machine, for [`BridgeMode::Auto`]. Set by
    /// [`Supervisor::attach`](super::Supervisor::attach) for addresses that are not loopback.
    pub remote: bool,
    /// How long a dialog waits for an answer before the watchdog dismisses it. Default 300 s; zero
    /// means the default.
    pub dialog_timeout: Duration,
    /// Time limit for the start, including attaching. Default 15 s.
    pub start_timeout: Duration,
    /// How to reconnect when the connection is lost. Not possible over a pipe, whose browser ends with it, nor over a
    /// connection created by the caller.
    pub reconnect: Reconnect,
    /// How long a script may run without a pause, while calls wait for its page, before it is terminated. Default 10 s;
    /// zero: never.
    pub rescue_after: Duration,
    /// How long after a document has loaded its scripts are not terminated; while it loads they never are. Default 10 s.
    pub rescue_after_load: Duration,
    /// Whether network requests are recorded from the start, see [`watch_network`](super::Supervisor::watch_network).
    /// Default false: it costs four or five messages per request. The module `page` enables it for its callers.
    pub network: bool,
    /// The navigation policy. Default none: no request is held or blocked. With one, `Fetch` of the session of the browser belongs to
    /// the supervisor, as does `Fetch` of its pages: navigations of all tabs of the browser wait for it.
    #[cfg(feature = "navigation")]
    pub navigation: Option<NavigationPolicy>,
    /// Ports that the browser itself cannot connect to, because of its command line. WebSockets to other protected
    /// ports are blocked in each session. Default none.
    pub unreachable_ports: Vec<u16>,
    /// Whether the browser was started for the navigation policy: without network prediction and with the policy's
    /// resolver rules. Default false: prerendering and WebSockets to blocked hosts are disabled in each session.
    pub prepared: bool,
    /// Maximum number of pages. A popup beyond that is closed at once, before it runs
    /// anything, and reported as [`EventKind::PopupBlocked`](super::EventKind::PopupBlocked). Default none.
    pub max_pages: Option<usize>,
    /// Whether pages opened through this supervisor, and the popups of such pages, are closed when it stops. Default true.
    pub close_own_pages: bool,
    /// The log to append to, which may outlive the supervisor. When the supervisor ends, it appends a `TabClosed` for
    /// each open page and does not [end](crate::sync::Log::end) the log. Default none: its own log, which ends with it.
    pub log: Option<Arc<EventLog>>,
}

/// Default dialog timeout: five minutes.
const DIALOG_TIMEOUT: Duration = Duration::from_secs(300);

impl Default for SupervisorOptions {
    fn default() -> Self {
        Self {
            task: "default".to_owned(),
            pages: Pages::default(),
            policy: DialogPolicy::default(),
            bridge: BridgeMode::default(),
            remote: false,
            rules: Vec::new(),
            secrets: Secrets::default(),
            dialog_timeout: DIALOG_TIMEOUT,
            start_timeout: Duration::from_secs(15),
            reconnect: Reconnect::default(),
            rescue_after: Duration::from_secs(10),
            rescue_after_load: Duration::from_secs(10),
            network: false,
            #[cfg(feature = "navigation")]
            navigation: None,
            unreachable_ports: Vec::new(),
            prepared: false,
            max_pages: None,
            close_own_pages: true,
            log: None,
        }
    }
}

impl SupervisorOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { SupervisorOptions:
    pages(Pages),
    policy(DialogPolicy),
    rules(Vec<DialogRule>),
    secrets(Secrets),
    bridge(BridgeMode),
    remote(bool),
    dialog_timeout(Duration),
    start_timeout(Duration),
    reconnect(Reconnect),
    rescue_after(Duration),
    rescue_after_load(Duration),
    network(bool),
    unreachable_ports(each u16),
    prepared(bool),
    max_pages(some usize),
    close_own_pages(bool),
    log(some Arc<EventLog>),
}

#[cfg(feature = "navigation")]
setters! { SupervisorOptions: navigation(some NavigationPolicy) }

impl SupervisorOptions {
    /// Default options for a task.
    #[must_use]
    pub fn task(name: impl Into<String>) -> Self {
        Self { task: name.into(), ..Self::default() }
    }

    #[cfg(feature = "navigation")]
    pub(super) fn navigation_policy(&self) -> Option<&NavigationPolicy> {
        self.navigation.as_ref()
    }

    #[cfg(not(feature = "navigation"))]
    pub(super) fn navigation_policy(&self) -> Option<&NavigationPolicy> {
        None
    }

    pub(super) fn watchdog(&self) -> Duration {
        if self.dialog_timeout.is_zero() { DIALOG_TIMEOUT } else { self.dialog_timeout }
    }
}
