//! Connecting to the same browser again after the connection was lost.

use std::sync::Arc;

use super::Error;
use super::endpoint::Endpoint;
use super::resolve::{Resolve, default_profiles, resolve};
use super::running::Version;
use super::stderr::Log;
use crate::cdp::{self, ConnectOptions, Connection};
use crate::sync::Deadline;

/// How a browser is reached. Its `Debug` shows no secret of the address.
#[derive(Debug, Clone)]
pub struct Redial {
    /// As it was asked for: a restarted browser has another WebSocket address.
    asked: Endpoint,
    options: ConnectOptions,
    /// What a browser of ours writes; its end is the browser's.
    log: Option<Arc<Log>>,
}

impl Redial {
    pub(super) fn new(asked: Endpoint, options: ConnectOptions) -> Self {
        Self { asked, options, log: None }
    }

    /// For a browser that we started, which is not waited for when it has ended.
    pub(super) fn of_ours(mut self, log: &Arc<Log>) -> Self {
        self.log = Some(Arc::clone(log));
        self
    }

    /// Whether the browser is one of ours that has ended: nobody will answer.
    #[must_use]
    pub fn browser_has_ended(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.wait(Deadline::after_millis(0), |told| told.ended).ended)
    }

    /// Connects.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::NotCdp`], [`Error::Cdp`]; none of them shows a secret.
    pub fn connect(&self, deadline: Deadline) -> Result<(Connection, Version), Error> {
        let (_, connection, version) = self.dial(deadline)?;
        Ok((connection, version))
    }

    pub(super) fn dial(&self, deadline: Deadline) -> Result<(Endpoint, Connection, Version), Error> {
        let options = &self.options;
        let how =
            Resolve { headers: &options.headers, roots: &options.tls_roots, profiles: default_profiles(), deadline };
        let endpoint = resolve(&self.asked, &how)?;
        let mut how = options.clone();
        how.connect_timeout = how.connect_timeout.min(deadline.left());
        how.headers = endpoint.headers(&how.headers);
        let connection = Connection::connect(&endpoint.url(), &how).map_err(|problem| match problem {
            cdp::Error::Connect { problem } => Error::Unreachable { endpoint: endpoint.to_string(), problem },
            other => Error::Cdp(other),
        })?;
        // The connect timeout is for connecting; a busy browser gets as much again to answer.
        let version = Version::ask(&connection, Deadline::after(options.connect_timeout))?;
        Ok((endpoint, connection, version))
    }
}
