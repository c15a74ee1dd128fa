//! Reconnecting to the same browser after the connection was lost.

use std::sync::Arc;

use super::Error;
use super::endpoint::Endpoint;
use super::resolve::{Resolve, default_profiles, resolve};
use super::running::Version;
use super::stderr::Log;
use crate::cdp::{self, ConnectOptions, Connection};
use crate::sync::Deadline;

/// How to connect to a browser. `Debug` shows no secret of the URL.
#[derive(Debug, Clone)]
pub struct Redial {
    /// The requested endpoint: a restarted browser has another WebSocket URL.
    requested: Endpoint,
    options: ConnectOptions,
    /// The standard error of a started browser; it ends with the browser.
    log: Option<Arc<Log>>,
}

impl Redial {
    pub(super) fn new(requested: Endpoint, options: ConnectOptions) -> Self {
        Self { requested, options, log: None }
    }

    /// For a started browser: reconnecting stops when it has ended.
    pub(super) fn of_ours(mut self, log: &Arc<Log>) -> Self {
        self.log = Some(Arc::clone(log));
        self
    }

    /// Whether the browser was started here and has ended, so that it will not answer.
    #[must_use]
    pub fn browser_has_ended(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.wait(Deadline::after_millis(0), |findings| findings.ended).ended)
    }

    /// Connects.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::NotCdp`], [`Error::Cdp`]; none of them contains a secret.
    pub fn connect(&self, deadline: Deadline<'_>) -> Result<(Connection, Version), Error> {
        let (_, connection, version) = self.dial(deadline)?;
        Ok((connection, version))
    }

    pub(super) fn dial(&self, deadline: Deadline<'_>) -> Result<(Endpoint, Connection, Version), Error> {
        let options = &self.options;
        let how =
            Resolve { headers: &options.headers, roots: &options.tls_roots, profiles: default_profiles(), deadline };
        let endpoint = resolve(&self.requested, &how)?;
        let how = ConnectOptions { headers: endpoint.headers(&options.headers), ..options.clone() };
        let connection =
            Connection::connect_until(&endpoint.url(), &how, deadline).map_err(|problem| match problem {
                cdp::Error::Connect { problem } => Error::Unreachable { endpoint: endpoint.to_string(), problem },
                other => Error::Cdp(other),
            })?;
        // The connect timeout is for connecting; a busy browser gets the same time again to answer.
        let version = Version::ask(&connection, deadline.renewed(options.connect_timeout))?;
        Ok((endpoint, connection, version))
    }
}
