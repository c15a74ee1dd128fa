//! Commands to the browser as a whole.

use serde_json::{Value, json};

use super::error::Error;
use super::handle::Supervisor;
use crate::cdp::protocol::target::TargetId;
use crate::sync::Deadline;

impl Supervisor {
    /// Sends any command to the browser itself, not to one of its pages. Answered also while a dialog is open. The
    /// caller must not send commands that detach or close pages behind the supervisor's back.
    ///
    /// # Errors
    /// [`Error::Cdp`], [`Error::Reconnecting`], [`Error::NotActive`].
    pub fn browser_raw(&self, method: &str, params: &Value, deadline: Deadline<'_>) -> Result<Value, Error> {
        if !self.connected(deadline)?.is_active() {
            return Err(self.not_active());
        }
        let params = if params.is_null() { &json!({}) } else { params };
        Ok(self.connection().call_raw(method.to_owned(), params, deadline)?.value()?)
    }

    /// Brings a page to the front. Answered also while it shows a dialog or hangs.
    ///
    /// # Errors
    /// [`Error::PageNotFound`] and those of [`browser_raw`](Self::browser_raw).
    pub fn bring_to_front(&self, page: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        if self.view().page(page.as_str()).is_none() {
            return Err(Error::PageNotFound { target: page.to_string() });
        }
        self.browser_raw("Target.activateTarget", &json!({ "targetId": page }), deadline).map(drop)
    }
}
