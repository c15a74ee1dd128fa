//! What is sent to the browser as input.

pub(super) mod keys;
mod layout;
