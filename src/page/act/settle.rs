//! What an action caused, and when that has ended.

use super::super::{Error, Tab};
use super::{Act, Outcome};
use crate::sync::Deadline;

impl Tab {
    /// Does it and tells what came of it.
    pub(super) fn settled(&self, act: &Act, deadline: Deadline) -> Result<Outcome, Error> {
        let did = self.perform(act, deadline)?;
        let now = self.supervisor.snapshot();
        let page = now.page(self.target.as_str());
        let url = page.map(|page| page.url.to_string()).unwrap_or_default();
        let (result, input, rescued) = (did.result, did.input, did.rescued);
        Ok(Outcome { target_id: Some(self.target.clone()), url, result, input, rescued, ..Outcome::default() })
    }
}
