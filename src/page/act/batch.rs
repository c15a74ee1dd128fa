//! Several actions in a row.
