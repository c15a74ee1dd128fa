//! Options of WebDriver sessions.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::endpoint::Endpoint;
use super::super::options::{Surroundings, Switch};
use crate::cdp::ConnectOptions;
use crate::setters;

/// How to attach, for every kind of address.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AttachOptions {
    /// The CDP connection. Its headers and root certificates also apply to WebDriver commands.
    pub connect: ConnectOptions,
    /// Sessions of `webdriver+…` addresses.
    pub webdriver: WebDriverOptions,
}

impl AttachOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { AttachOptions:
    connect(ConnectOptions),
    webdriver(WebDriverOptions),
}

impl From<ConnectOptions> for AttachOptions {
    fn from(connect: ConnectOptions) -> Self {
        Self { connect, webdriver: WebDriverOptions::default() }
    }
}

/// How to open and keep a WebDriver session. `Debug` only shows the names of capabilities, since hosted grids take keys
/// in them.
#[derive(Clone)]
#[non_exhaustive]
pub struct WebDriverOptions {
    /// Capabilities to request (`alwaysMatch`), such as `{"browserName": "MicrosoftEdge"}`. They replace the defaults:
    /// `browserName` is `chrome`, and the options of Chrome or Edge contain `--headless=new` where needed.
    /// `unhandledPromptBehavior` is always `ignore`: the supervisor handles dialogs.
    pub capabilities: Map<String, Value>,
    /// How long the server may take to create a session; a grid queues requests until a slot is free. Default 60 s.
    pub session_timeout: Duration,
    /// Interval of harmless commands, since CDP traffic does not count as activity and grids end idle sessions
    /// (Selenium Grid after 300 s, hosted ones from 90 s). Default 30 s. `None`: no such commands.
    pub keep_alive: Option<Duration>,
}

impl Default for WebDriverOptions {
    fn default() -> Self {
        Self {
            capabilities: Map::new(),
            session_timeout: Duration::from_secs(60),
            keep_alive: Some(Duration::from_secs(30)),
        }
    }
}

impl WebDriverOptions {
    /// The default options, as [`Default`] gives them.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { WebDriverOptions:
    capabilities(Map<String, Value>),
    session_timeout(Duration),
    keep_alive(Option<Duration>),
}

impl fmt::Debug for WebDriverOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capabilities, session_timeout, keep_alive } = self;
        f.debug_struct("WebDriverOptions")
            .field("capabilities", &capabilities.keys().collect::<Vec<_>>())
            .field("session_timeout", session_timeout)
            .field("keep_alive", keep_alive)
            .finish()
    }
}

/// The body of the request for a session: <https://www.w3.org/TR/webdriver2/#new-session>.
pub(super) fn request(extra: &Map<String, Value>, driver: &Endpoint) -> Value {
    let mut wanted = Map::new();
    wanted.insert("browserName".to_owned(), "chrome".into());
    wanted.extend(extra.clone());
    // A driver refuses options of another browser, so only those of the requested browser are added.
    let options = match wanted.get("browserName").and_then(Value::as_str) {
        Some("chrome") => Some("goog:chromeOptions"),
        Some("MicrosoftEdge" | "msedge") => Some("ms:edgeOptions"),
        _ => None,
    };
    if let Some(name) = options
        && !wanted.contains_key(name)
    {
        wanted.insert(name.to_owned(), json!({ "args": arguments(driver) }));
    }
    // With any other value the driver closes dialogs by itself with its next command.
    wanted.insert("unhandledPromptBehavior".to_owned(), "ignore".into());
    json!({ "capabilities": { "alwaysMatch": wanted } })
}

/// Arguments of the browser: with a driver on this machine as for a started browser, otherwise headless, since it is
/// not known whether there is a display.
fn arguments(driver: &Endpoint) -> Vec<&'static str> {
    let mut around = Surroundings::read();
    let local = driver.is_loopback();
    around.display &= local;
    let mut arguments = Vec::new();
    if around.headless(Switch::Auto, &[]).on {
        arguments.push("--headless=new");
    }
    if local && around.no_sandbox(Switch::Auto, &[]).on {
        arguments.push("--no-sandbox");
    }
    arguments
}
