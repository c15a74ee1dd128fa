//! The connection that a supervisor works with at the moment.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::browser::BrowserProcess;
use crate::cdp::Connection;

/// Connection and browser, shared by the handle and its thread.
///
/// # Locking
/// Both locks are held for copying a handle only, but `browser` also while
/// [`Supervisor::with_browser`](super::Supervisor::with_browser) runs; never both together.
pub(super) struct Link {
    /// With the number of the connection.
    current: Mutex<(u64, Connection)>,
    pub(super) browser: Mutex<Option<BrowserProcess>>,
}

impl Link {
    pub(super) fn new(connection: Connection, browser: Option<BrowserProcess>) -> Arc<Self> {
        Arc::new(Self { current: Mutex::new((1, connection)), browser: Mutex::new(browser) })
    }

    pub(super) fn current(&self) -> (u64, Connection) {
        self.current.lock().clone()
    }

    /// Goes on over another connection.
    pub(super) fn replace(&self, connection: &Connection) {
        let old = {
            let mut current = self.current.lock();
            let number = current.0 + 1;
            std::mem::replace(&mut *current, (number, connection.clone()))
        };
        let old_too = self.browser.lock().as_mut().map(|browser| browser.replace_connection(connection.clone()));
        drop((old, old_too)); // outside of the locks: the last handle ends its thread
    }
}
