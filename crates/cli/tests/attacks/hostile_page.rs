//! Attacks of a hostile page: everything that a document, its frames and its workers can do.

mod deceit;
mod door;
mod flood;
mod places;
mod ports;
mod server;
mod shell;

use super::Row;

pub(super) fn listed() -> Vec<Row> {
    [ports::listed(), places::listed(), deceit::listed(), flood::listed(), server::listed(), shell::listed()]
        .into_iter()
        .flatten()
        .collect()
}
