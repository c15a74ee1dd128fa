//! From a point of a frame to the point of the top viewport that shows it.

use super::act::Point;
use super::{Error, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

/// Why events at a point do not get into a frame.
#[derive(Debug, Clone)]
pub(super) struct Barred {
    /// In words.
    pub(super) reason: String,
    /// What lies over it.
    pub(super) covered_by: Option<String>,
}

impl Tab {
    /// The first of some points of a frame's viewport that gets events through all frames around it, in
    /// the top viewport, CSS pixels. The frames around are scrolled so that it is in view.
    pub(super) fn lift(
        &self,
        _frame: &FrameId,
        points: Vec<Point>,
        _deadline: Deadline,
    ) -> Result<Result<Point, Barred>, Error> {
        let barred = || Barred { reason: "it is outside of the viewport".to_owned(), covered_by: None };
        Ok(points.into_iter().next().ok_or_else(barred))
    }
}
