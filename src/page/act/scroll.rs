//! Scrolling.

use super::super::{Error, Tab};
use super::{Act, Did};
use crate::sync::Deadline;

impl Tab {
    /// To come.
    pub(super) fn scroll(&self, _act: &Act, _deadline: Deadline) -> Result<Did, Error> {
        Err(Error::BadRequest { problem: "not there yet".to_owned() })
    }
}
