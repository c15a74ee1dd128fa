//! The current connection of a supervisor.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::browser::BrowserProcess;
use crate::cdp::Connection;

/// Connection and browser, shared by the handle and its thread.
///
/// # Locking
/// Both locks are held for copying a handle only, but `browser` also while
/// [`Supervisor::with_browser`](super::Supervisor::with_browser) runs; never both together.
pub(super) struct CurrentConnection {
    /// Number of the connection, and the connection.
    current: Mutex<(u64, Connection)>,
    pub(super) browser: Mutex<Option<BrowserProcess>>,
}

impl CurrentConnection {
    pub(super) fn new(connection: Connection, browser: Option<BrowserProcess>) -> Arc<Self> {
        Arc::new(Self { current: Mutex::new((1, connection)), browser: Mutex::new(browser) })
    }

    pub(super) fn current(&self) -> (u64, Connection) {
        self.current.lock().clone()
    }

    /// Replaces the connection.
    pub(super) fn replace(&self, connection: &Connection) {
        let old = {
            let mut current = self.current.lock();
            let number = current.0 + 1;
            std::mem::replace(&mut *current, (number, connection.clone()))
        };
        let old_too = self.browser.lock().as_mut().map(|browser| browser.replace_connection(connection.clone()));
        drop((old, old_too)); // outside the locks: dropping the last handle joins its thread
    }
}
