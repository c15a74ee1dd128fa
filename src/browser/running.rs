//! The browser handle.

use std::path::Path;
use std::time::Duration;

use super::Error;
use super::backend::Backend;
use super::context::Context;
use super::endpoint::Endpoint;
use super::launch::{self, Running};
use super::options::{Decision, LaunchOptions};
use super::redial::Redial;
use super::webdriver::{self, AttachOptions};
use crate::cdp::protocol::browser::{Close, GetVersion};
use crate::cdp::{self, ConnectOptions, Connection};
use crate::sync::Deadline;

/// How long a browser may take to end after `Browser.close` before it is killed.
const CLOSE_TIME: Duration = Duration::from_millis(2500);
/// How long a dropped browser may take to end.
const DROP_TIME: Duration = Duration::from_secs(5);

/// A browser that was started or attached to, with its only connection.
///
/// Dropping it does the same as [`BrowserProcess::close`], within about five seconds.
///
/// ```no_run
/// use cdpilot::browser::{BrowserProcess, LaunchOptions};
/// use cdpilot::sync::Deadline;
/// let browser = BrowserProcess::launch(&LaunchOptions::default())?;
/// println!("{}", browser.version().product);
/// browser.close(Deadline::after_secs(5))?;
/// # Ok::<(), cdpilot::browser::Error>(())
/// ```
pub struct BrowserProcess {
    connection: Connection,
    endpoint: Option<Endpoint>,
    version: Version,
    /// `None` for a browser that was attached to.
    running: Option<Running>,
    /// `None` for a pipe, which cannot be reconnected.
    redial: Option<Redial>,
    /// The WebDriver session that the browser belongs to.
    session: Option<webdriver::Session>,
}

/// Version information, from `Browser.getVersion`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Version {
    /// Product and version, such as `Chrome/156.0.8078.79`.
    pub product: String,
    /// Protocol version, such as `1.3`.
    pub protocol: String,
    /// Revision of the source that the browser was built from, such as `@1a2b3c`.
    pub revision: String,
    /// The browser's own user agent string.
    pub user_agent: String,
    /// Version of its JavaScript engine, V8.
    pub js: String,
}

impl Version {
    pub(super) fn ask(connection: &Connection, deadline: Deadline<'_>) -> Result<Self, cdp::Error> {
        let version = connection.call(&GetVersion::new(), deadline)?;
        Ok(Self {
            product: version.product,
            protocol: version.protocol_version,
            revision: version.revision,
            user_agent: version.user_agent,
            js: version.js_version,
        })
    }
}

impl BrowserProcess {
    /// Starts a browser and waits for its first answer.
    ///
    /// Also cleans up after killed processes, see [`reap`](super::reap()).
    ///
    /// # Errors
    /// See [`Error`]. A browser that ends while starting is reported at once, with its exit status and the end of its
    /// standard error. Nothing of it remains in any case.
    pub fn launch(options: &LaunchOptions) -> Result<Self, Error> {
        Self::launch_until(options, Deadline::after(options.start_timeout))
    }

    /// As [`launch`](Self::launch), with a deadline in addition to the timeout of the options.
    ///
    /// # Errors
    /// Those of [`launch`](Self::launch).
    pub fn launch_until(options: &LaunchOptions, deadline: Deadline<'_>) -> Result<Self, Error> {
        let started = launch::start(options, deadline)?;
        tracing::debug!(
            pid = started.running.process.pid(),
            product = %started.version.product,
            headless = started.running.headless.on,
            no_sandbox = started.running.no_sandbox.on,
            "browser started"
        );
        let log = started.running.process.log();
        let redial = started.by_port.map(|how| Redial::new(how, options.connect.clone()).of_ours(log));
        Ok(Self {
            connection: started.connection,
            endpoint: started.endpoint,
            version: started.version,
            running: Some(started.running),
            redial,
            session: None,
        })
    }

    /// Connects to a running browser: `ws://…`, `wss://…`, `http://host:port`, `host:port`; or gets one from a
    /// WebDriver server: `webdriver+http://…`, `webdriver+https://…`. User and password in the address are sent in an
    /// `Authorization` header.
    ///
    /// A Chrome whose user allowed debugging in its settings asks the user first; that time is part of the connect
    /// timeout. A WebDriver server has a timeout of its own, see [`WebDriverOptions`](super::WebDriverOptions).
    ///
    /// # Errors
    /// [`Error::BadUrl`], [`Error::Unreachable`], [`Error::NotCdp`], [`Error::NoCdp`], [`Error::WebDriver`],
    /// [`Error::Cdp`]; none of them contains secret parts of the address. A WebDriver session that could not be used is
    /// deleted first.
    pub fn attach(url: &str, options: &ConnectOptions) -> Result<Self, Error> {
        Self::attach_with(url, &options.clone().into())
    }

    /// As [`attach`](Self::attach), with options for WebDriver servers.
    ///
    /// # Errors
    /// Those of [`attach`](Self::attach).
    pub fn attach_with(url: &str, options: &AttachOptions) -> Result<Self, Error> {
        let AttachOptions { connect, webdriver } = options;
        let both = connect.connect_timeout.saturating_add(webdriver.session_timeout);
        Self::attach_until(url, options, Deadline::after(both))
    }

    /// As [`attach_with`](Self::attach_with), with a deadline in addition to the timeouts of the options.
    ///
    /// # Errors
    /// Those of [`attach`](Self::attach).
    pub fn attach_until(url: &str, options: &AttachOptions, deadline: Deadline<'_>) -> Result<Self, Error> {
        let requested = match Backend::parse(url)? {
            Backend::Cdp(requested) => requested,
            Backend::WebDriver(requested) => {
                let (opened, deadline) = webdriver::open(&requested, options, deadline)?;
                let mut browser = Self::attach_to(&opened.endpoint, &opened.connect, deadline)?;
                opened.session.connected(&browser.connection);
                browser.session = Some(opened.session);
                return Ok(browser);
            }
            rest @ Backend::RestOnly(_) => return Err(Error::no_cdp(&rest, "it only has an HTTP interface")),
        };
        let options = &options.connect;
        Self::attach_to(&requested, options, deadline.within(options.connect_timeout))
    }

    /// Connects to a parsed address.
    ///
    /// # Errors
    /// Those of [`attach`](Self::attach).
    pub fn attach_to(endpoint: &Endpoint, options: &ConnectOptions, deadline: Deadline<'_>) -> Result<Self, Error> {
        let redial = Redial::new(endpoint.clone(), options.clone());
        let (endpoint, connection, version) = redial.dial(deadline)?;
        Ok(Self { connection, endpoint: Some(endpoint), version, running: None, session: None, redial: Some(redial) })
    }

    /// The connection. Clones share it; it ends when the browser is closed or dropped.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// How to reconnect after the connection was lost; `None` where that is not possible.
    #[must_use]
    pub fn redial(&self) -> Option<&Redial> {
        self.redial.as_ref()
    }

    /// Replaces the connection by another one to the same browser. Returns the old one.
    pub fn replace_connection(&mut self, connection: Connection) -> Connection {
        std::mem::replace(&mut self.connection, connection)
    }

    /// The endpoint for other programs; `None` with a pipe only.
    #[must_use]
    pub fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint.as_ref()
    }

    /// Product, protocol and engine versions, as the browser reported them at the start. Waits for nothing.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Whether it ends with this process: it was started here, or belongs to a WebDriver session that was opened here.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.running.is_some() || self.session.is_some()
    }

    /// The WebDriver server it came from.
    #[must_use]
    pub fn webdriver(&self) -> Option<&Endpoint> {
        self.session.as_ref().map(webdriver::Session::server)
    }

    /// The process id of a started browser, on Unix also its process group id.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.process.pid())
    }

    /// The executable of a started browser.
    #[must_use]
    pub fn executable(&self) -> Option<&Path> {
        self.running.as_ref().map(|running| running.executable.as_path())
    }

    /// The profile folder of a started browser.
    #[must_use]
    pub fn user_data_dir(&self) -> Option<&Path> {
        self.running.as_ref().map(|running| running.profile.dir())
    }

    /// Whether a started browser runs without a window, and why.
    #[must_use]
    pub fn headless(&self) -> Option<&Decision> {
        self.running.as_ref().map(|running| &running.headless)
    }

    /// Whether a started browser runs without its sandbox, and why.
    #[must_use]
    pub fn no_sandbox(&self) -> Option<&Decision> {
        self.running.as_ref().map(|running| &running.no_sandbox)
    }

    /// Kills the renderers of a started browser, which crashes all its pages. For pages that keep the browser itself so
    /// busy that it executes no command. Returns how many; 0 on Windows and for a browser that was attached to.
    pub fn kill_renderers(&self) -> usize {
        self.running.as_ref().map_or(0, |running| running.process.kill_renderers())
    }

    /// The end of the standard error of a started browser, at most 2,000 characters, addresses redacted.
    #[must_use]
    pub fn stderr(&self) -> Option<String> {
        self.running.as_ref().map(|running| running.process.log().quote())
    }

    /// Creates an isolated browser context.
    ///
    /// # Errors
    /// [`Error::Cdp`].
    pub fn new_context(&self, deadline: Deadline<'_>) -> Result<Context, Error> {
        Context::create(&self.connection, deadline)
    }

    /// Ends the browser. A started browser is asked to close, and killed if it does not (after 2.5 s, or half of the
    /// remaining time); then none of its processes remains, and a temporary profile is removed. For an attached one,
    /// only the connection ends. A WebDriver session is deleted, and its server ends the browser.
    ///
    /// # Errors
    /// [`Error::StillRunning`], [`Error::ProfileLeft`] and [`Error::SessionLeft`]: what could not be cleaned up.
    pub fn close(mut self, deadline: Deadline<'_>) -> Result<(), Error> {
        self.shut(deadline)
    }

    fn shut(&mut self, deadline: Deadline<'_>) -> Result<(), Error> {
        let Some(mut running) = self.running.take() else {
            self.connection.close();
            return self.session.take().map_or(Ok(()), |mut session| session.end(deadline));
        };
        // A call would wait for an answer that a closing browser may not send. The end of the browser is detected
        // instead.
        if self.connection.send(&Close::new()).is_err() {
            running.process.terminate();
        }
        let gentle = deadline.within(CLOSE_TIME.min(deadline.left() / 2));
        if !running.process.wait_ended(gentle) {
            tracing::debug!(pid = running.process.pid(), "the browser did not close by itself and is killed");
        }
        self.connection.close();
        running.life_line = None;
        // While a process is still running, marker and lock must remain.
        running.process.end(deadline)?;
        running.profile.close(running.process.pid(), deadline)
    }
}

impl Drop for BrowserProcess {
    fn drop(&mut self) {
        if let Err(problem) = self.shut(Deadline::after(DROP_TIME)) {
            tracing::warn!("{problem}");
        }
    }
}

impl std::fmt::Debug for BrowserProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browser")
            .field("product", &self.version.product)
            .field("pid", &self.pid())
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
