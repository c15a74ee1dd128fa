//! What requests are parsed into and answers are made of; `openapi.json` is generated from the same.

mod answers;
mod requests;

pub(super) use answers::*;
pub(super) use requests::*;
