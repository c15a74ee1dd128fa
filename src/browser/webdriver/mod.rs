//! Browsers of a W3C WebDriver server, such as a Selenium Grid.
//!
//! A session provides a browser and its CDP address; all work uses CDP then. WebDriver is only used to open the
//! session, to keep it alive and to delete it.
//!
//! | file | contents |
//! |---|---|
//! | `options` | options of sessions |
//! | `driver`, `error` | commands and answers |
//! | `session` | opened, kept alive by a thread (`wd-alive`), deleted |
//! | `address` | the CDP address in a session's capabilities |
//!
//! Grids count WebDriver commands as activity, but not CDP traffic, so the timeouts of the session are requested
//! periodically: that command is answered during a dialog. With `unhandledPromptBehavior: ignore` chromedriver leaves
//! every dialog alone, including `beforeunload`. Headers and tokens are never sent to another host.

mod address;
mod driver;
mod error;
mod options;
mod session;

pub use error::WebDriverProblem;
pub use options::{AttachOptions, WebDriverOptions};
pub(super) use session::Session;

use serde_json::Value;

use super::Error;
use super::backend::Backend;
use super::endpoint::Endpoint;
use super::resolve::{Resolve, resolve};
use crate::cdp::ConnectOptions;
use crate::sync::Deadline;
use driver::Driver;

/// A session and how to connect to its browser. Dropping it deletes the session.
pub(super) struct Opened {
    pub(super) session: Session,
    /// The WebSocket address of the browser.
    pub(super) endpoint: Endpoint,
    /// Options of the connection: headers are only sent where they were meant for.
    pub(super) connect: ConnectOptions,
}

/// Opens a session at `requested` and finds the CDP address of its browser. Also returns the deadline for connecting.
pub(super) fn open<'c>(
    requested: &Endpoint,
    options: &AttachOptions,
    deadline: Deadline<'c>,
) -> Result<(Opened, Deadline<'c>), Error> {
    if requested.scheme().is_encrypted() && !cfg!(feature = "tls") {
        return Err(Error::BadUrl { problem: "webdriver+https needs a build with the feature `tls`".to_owned() });
    }
    let AttachOptions { connect, webdriver } = options;
    let request = options::request(&webdriver.capabilities, requested);
    let (driver, session_deadline) = (Driver::new(requested, connect), deadline.within(webdriver.session_timeout));
    let (session, capabilities) = Session::open(driver, request, webdriver.keep_alive, session_deadline)?;
    tracing::debug!(server = %session.server(), "WebDriver session opened");
    warn_of_prompts(&capabilities);

    let mut connect = connect.clone();
    let deadline = deadline.within(connect.connect_timeout);
    let found = address::find(&capabilities, session.id(), requested)?
        .ok_or_else(|| Error::no_cdp(&Backend::WebDriver(requested.clone()), "its session provides no CDP address"))?;
    if !address::may_know(&found, requested) {
        connect.headers.clear();
    }
    let how = Resolve { headers: &connect.headers, roots: &connect.tls_roots, profiles: Vec::new(), deadline };
    let endpoint = resolve(&found, &how)?;
    Ok((Opened { session, endpoint, connect }, deadline))
}

/// A server may override the requested behaviour.
fn warn_of_prompts(capabilities: &Value) {
    let behavior = capabilities.get("unhandledPromptBehavior");
    let behavior = behavior.map(|behavior| behavior.get("default").unwrap_or(behavior));
    if behavior.is_some_and(|behavior| behavior != "ignore") {
        tracing::warn!(
            "the WebDriver server closes dialogs by itself: it did not accept unhandledPromptBehavior=ignore"
        );
    }
}
