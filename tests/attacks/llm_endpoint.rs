//! Attacks of a llm endpoint.

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    Vec::new()
}
