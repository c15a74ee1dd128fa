//! Attacks of a search endpoint.

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    Vec::new()
}
