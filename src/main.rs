//! The `cdpilot` program.

fn main() {}
