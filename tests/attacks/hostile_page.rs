//! Attacks of a hostile page.

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    Vec::new()
}
