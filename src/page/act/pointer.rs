//! The mouse, and what is done to a whole tab.

use super::super::{Error, Tab};
use super::{Act, Did};
use crate::sync::Deadline;

impl Tab {
    /// To come.
    pub(super) fn point_at(&self, _act: &Act, _deadline: Deadline) -> Result<Did, Error> {
        Err(Error::BadRequest { problem: "not there yet".to_owned() })
    }

    /// To come.
    pub(super) fn whole_tab(&self, _act: &Act, _deadline: Deadline) -> Result<Did, Error> {
        Err(Error::BadRequest { problem: "not there yet".to_owned() })
    }
}
