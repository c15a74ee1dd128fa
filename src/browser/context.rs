//! Browser contexts: separate cookies, storage and cache without a separate process.

use std::net::SocketAddr;

use super::Error;
use crate::cdp::Connection;
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::target::{CreateBrowserContext, CreateTarget, DisposeBrowserContext, TargetId};
use crate::sync::Deadline;

/// An isolated browser context, like an incognito window. Dropping it closes its pages.
pub struct Context {
    connection: Connection,
    id: BrowserContextId,
    disposed: bool,
}

impl Context {
    /// Creates one: <https://chromedevtools.github.io/devtools-protocol/tot/Target/#method-createBrowserContext>.
    pub(crate) fn create(connection: &Connection, deadline: Deadline<'_>) -> Result<Self, Error> {
        Self::create_behind(connection, None, deadline)
    }

    /// As [`create`](Self::create), with a proxy for all of its requests, those to this machine included.
    pub(crate) fn create_behind(
        connection: &Connection,
        proxy: Option<SocketAddr>,
        deadline: Deadline<'_>,
    ) -> Result<Self, Error> {
        // With `dispose_on_detach` the browser cleans up if the connection ends without a command.
        let mut command = CreateBrowserContext { dispose_on_detach: Some(true), ..CreateBrowserContext::default() };
        if let Some(proxy) = proxy {
            command.proxy_server = Some(format!("http://{proxy}"));
            // Without this, Chromium connects to loopback addresses and names directly.
            command.proxy_bypass_list = Some("<-loopback>".to_owned());
        }
        let made = connection.call(&command, deadline)?;
        Ok(Self { connection: connection.clone(), id: made.browser_context_id, disposed: false })
    }

    /// The browser context id.
    #[must_use]
    pub fn id(&self) -> &BrowserContextId {
        &self.id
    }

    /// Whether the connection that it belongs to is open; the browser disposes of it when that connection ends.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        !self.connection.is_closed()
    }

    /// Opens a page in it. Returns when the page exists, not when it has loaded.
    ///
    /// # Errors
    /// [`Error::Cdp`].
    pub fn new_page(&self, url: &str, deadline: Deadline<'_>) -> Result<TargetId, Error> {
        let mut command = CreateTarget::new(url);
        command.browser_context_id = Some(self.id.clone());
        Ok(self.connection.call(&command, deadline)?.target_id)
    }

    /// Closes its pages and deletes its cookies and storage.
    ///
    /// # Errors
    /// [`Error::Cdp`].
    pub fn dispose(mut self, deadline: Deadline<'_>) -> Result<(), Error> {
        self.disposed = true;
        self.connection.call(&DisposeBrowserContext::new(self.id.clone()), deadline)?;
        Ok(())
    }
}

impl Drop for Context {
    /// Disposes of it without waiting for the answer.
    fn drop(&mut self) {
        if !self.disposed && !self.connection.is_closed() {
            let _ = self.connection.send(&DisposeBrowserContext::new(self.id.clone()));
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("id", &self.id.as_str()).finish_non_exhaustive()
    }
}
