//! Attacks of a model.

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    Vec::new()
}
