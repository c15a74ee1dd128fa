//! Attacks of a cdp endpoint.

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    Vec::new()
}
