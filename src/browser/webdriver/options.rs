//! What a session is asked for.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::endpoint::Endpoint;
use super::super::options::{Surroundings, Switch};
use crate::cdp::ConnectOptions;

/// How to attach, for every kind of address.
#[derive(Debug, Clone, Default)]
pub struct AttachOptions {
    /// The CDP connection. Its headers and root certificates hold for WebDriver commands too.
    pub connect: ConnectOptions,
    /// Sessions of `webdriver+…` addresses.
    pub webdriver: WebDriverOptions,
}

impl From<ConnectOptions> for AttachOptions {
    fn from(connect: ConnectOptions) -> Self {
        Self { connect, webdriver: WebDriverOptions::default() }
    }
}

/// How a WebDriver session is opened and kept. Its `Debug` shows the names of capabilities only, since
/// hosted grids take keys among them.
#[derive(Clone)]
pub struct WebDriverOptions {
    /// Capabilities to ask for (`alwaysMatch`), as `{"browserName": "MicrosoftEdge"}`. Each replaces
    /// what is asked for otherwise: `browserName` is `chrome`, and the options of Chrome or Edge hold
    /// `--headless=new` where it is needed. `unhandledPromptBehavior` always is `ignore`: dialogs are the
    /// supervisor's.
    pub capabilities: Map<String, Value>,
    /// How long the server has for a session; a grid lets requests wait for a free slot. Default 60 s.
    pub session_timeout: Duration,
    /// After so much time the server is asked for something harmless, since CDP traffic does not count
    /// as activity and grids end idle sessions (Selenium Grid after 300 s, hosted ones from 90 s).
    /// Default 30 s.
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
    // A driver refuses options of another browser, so only those of the browser asked for are added.
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

/// What the browser needs to start: beside a driver on this machine what a browser of our own would, on
/// another one no window, since nobody knows whether there is a display.
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
