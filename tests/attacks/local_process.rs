//! Attacks of a local process.

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    Vec::new()
}
