//! Attacks of a mcp server.

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    Vec::new()
}
