//! The browser as the rest of the program has it.

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

/// What a browser has to end by itself after `Browser.close`; it is killed then.
const GENTLE: Duration = Duration::from_millis(2500);
/// What a dropped browser may take to end.
const DROP_TIME: Duration = Duration::from_secs(5);

/// A browser that we started or attached to, with its one connection.
///
/// Dropping it does what [`BrowserProcess::close`] does, within about five seconds.
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
    /// `None` for a browser that we attached to.
    running: Option<Running>,
    /// `None` for a pipe, which cannot be made again.
    redial: Option<Redial>,
    /// The WebDriver session that the browser belongs to.
    session: Option<webdriver::Session>,
}

/// What the browser says it is, from `Browser.getVersion`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Product and version, as `Chrome/156.0.8078.79`.
    pub product: String,
    /// Protocol version, `1.3`.
    pub protocol: String,
    /// Revision of the source.
    pub revision: String,
    /// User agent.
    pub user_agent: String,
    /// Version of V8.
    pub js: String,
}

impl Version {
    pub(super) fn ask(connection: &Connection, deadline: Deadline) -> Result<Self, cdp::Error> {
        let told = connection.call(&GetVersion::new(), deadline)?;
        Ok(Self {
            product: told.product,
            protocol: told.protocol_version,
            revision: told.revision,
            user_agent: told.user_agent,
            js: told.js_version,
        })
    }
}

impl BrowserProcess {
    /// Starts a browser and waits for its first answer.
    ///
    /// By the way it clears up behind processes that were killed, see [`reap`](super::reap()).
    ///
    /// # Errors
    /// See [`Error`]. A browser that ends while starting is reported at once, with its exit status and
    /// the end of what it wrote to its standard error. Nothing of it is left in any case.
    pub fn launch(options: &LaunchOptions) -> Result<Self, Error> {
        let started = launch::start(options)?;
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

    /// Connects to a browser that somebody else started: `ws://…`, `wss://…`, `http://host:port`,
    /// `host:port`; or takes one from a WebDriver server: `webdriver+http://…`, `webdriver+https://…`.
    /// User and password in the address go into an `Authorization` header.
    ///
    /// A Chrome whose owner allowed debugging in its settings asks its owner first; the wait for that
    /// is part of the connect timeout. A WebDriver server has a limit of its own, see
    /// [`WebDriverOptions`](super::WebDriverOptions).
    ///
    /// # Errors
    /// [`Error::BadUrl`], [`Error::Unreachable`], [`Error::NotCdp`], [`Error::NoCdp`],
    /// [`Error::WebDriver`], [`Error::Cdp`]; none of them shows the secret parts of the address. A
    /// WebDriver session that could not be used is deleted before.
    pub fn attach(url: &str, options: &ConnectOptions) -> Result<Self, Error> {
        Self::attach_with(url, &options.clone().into())
    }

    /// Like [`attach`](Self::attach), with options for WebDriver servers.
    ///
    /// # Errors
    /// Those of [`attach`](Self::attach).
    pub fn attach_with(url: &str, options: &AttachOptions) -> Result<Self, Error> {
        let asked = match Backend::parse(url)? {
            Backend::Cdp(asked) => asked,
            Backend::WebDriver(asked) => {
                let opened = webdriver::open(&asked, options)?;
                let mut browser = Self::attach_to(&opened.endpoint, &opened.connect, opened.deadline)?;
                opened.session.connected(&browser.connection);
                browser.session = Some(opened.session);
                return Ok(browser);
            }
            rest @ Backend::RestOnly(_) => return Err(Error::no_cdp(&rest, "it is an HTTP interface only")),
        };
        let options = &options.connect;
        let deadline = Deadline::after(options.connect_timeout);
        Self::attach_to(&asked, options, deadline)
    }

    /// Connects to an address that was parsed before.
    ///
    /// # Errors
    /// Those of [`attach`](Self::attach).
    pub fn attach_to(endpoint: &Endpoint, options: &ConnectOptions, deadline: Deadline) -> Result<Self, Error> {
        let redial = Redial::new(endpoint.clone(), options.clone());
        let (endpoint, connection, version) = redial.dial(deadline)?;
        Ok(Self { connection, endpoint: Some(endpoint), version, running: None, session: None, redial: Some(redial) })
    }

    /// The connection. Cloning it copies a handle; it ends when the browser is closed or dropped.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// How to connect again when the connection is lost; `None` where that cannot be done.
    #[must_use]
    pub fn redial(&self) -> Option<&Redial> {
        self.redial.as_ref()
    }

    /// Goes on over another connection to the same browser. Returns the old one.
    pub fn replace_connection(&mut self, connection: Connection) -> Connection {
        std::mem::replace(&mut self.connection, connection)
    }

    /// Where others may attach; `None` for a pipe alone.
    #[must_use]
    pub fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint.as_ref()
    }

    /// What the browser says it is.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Whether it ends with us: we started it, or it belongs to a WebDriver session that we opened.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.running.is_some() || self.session.is_some()
    }

    /// The WebDriver server that it came from.
    #[must_use]
    pub fn webdriver(&self) -> Option<&Endpoint> {
        self.session.as_ref().map(webdriver::Session::server)
    }

    /// Process id, of a browser that we started. On Unix it is the id of its process group too.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.process.pid())
    }

    /// The executable, of a browser that we started.
    #[must_use]
    pub fn executable(&self) -> Option<&Path> {
        self.running.as_ref().map(|running| running.executable.as_path())
    }

    /// The profile folder, of a browser that we started.
    #[must_use]
    pub fn user_data_dir(&self) -> Option<&Path> {
        self.running.as_ref().map(|running| running.profile.dir())
    }

    /// Whether it runs without a window and why, of a browser that we started.
    #[must_use]
    pub fn headless(&self) -> Option<&Decision> {
        self.running.as_ref().map(|running| &running.headless)
    }

    /// Whether it runs without its sandbox and why, of a browser that we started.
    #[must_use]
    pub fn no_sandbox(&self) -> Option<&Decision> {
        self.running.as_ref().map(|running| &running.no_sandbox)
    }

    /// Kills the renderers of a browser that we started: all its pages crash. For pages that keep the browser itself so
    /// busy that it carries out no command. How many there were; none on Windows, or of a browser that we attached to.
    pub fn kill_renderers(&self) -> usize {
        self.running.as_ref().map_or(0, |running| running.process.kill_renderers())
    }

    /// The end of what it wrote to its standard error, at most 2,000 characters, addresses redacted; of
    /// a browser that we started.
    #[must_use]
    pub fn stderr(&self) -> Option<String> {
        self.running.as_ref().map(|running| running.process.log().quote())
    }

    /// Makes an isolated context.
    ///
    /// # Errors
    /// [`Error::Cdp`].
    pub fn new_context(&self, deadline: Deadline) -> Result<Context, Error> {
        Context::create(&self.connection, deadline)
    }

    /// Ends it. One that we started is asked to close and killed when it does not (after 2.5 s, or half
    /// of the time there is); then none of its processes is left, and a temporary profile is removed.
    /// Of one that we attached to only the connection ends. A WebDriver session is deleted, and its
    /// server ends the browser.
    ///
    /// # Errors
    /// [`Error::StillRunning`], [`Error::ProfileLeft`] and [`Error::SessionLeft`]: what could not be
    /// cleaned up.
    pub fn close(mut self, deadline: Deadline) -> Result<(), Error> {
        self.shut(deadline)
    }

    fn shut(&mut self, deadline: Deadline) -> Result<(), Error> {
        let Some(mut running) = self.running.take() else {
            self.connection.close();
            return self.session.take().map_or(Ok(()), |mut session| session.end(deadline));
        };
        // A call would wait for an answer that a closing browser may not give. Its end is the answer.
        if self.connection.send(&Close::new()).is_err() {
            running.process.terminate();
        }
        let gentle = deadline.within(GENTLE.min(deadline.left() / 2));
        if !running.process.wait_ended(gentle) {
            tracing::debug!(pid = running.process.pid(), "the browser did not close by itself and is killed");
        }
        self.connection.close();
        running.life_line = None;
        // Of what still runs, the marker and the lock have to tell.
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
        f.debug_struct("BrowserProcess")
            .field("product", &self.version.product)
            .field("pid", &self.pid())
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
