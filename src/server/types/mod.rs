//! Types of requests and answers; `openapi.json` is generated from them.

mod answers;
mod requests;

pub(super) use answers::*;
pub(super) use requests::*;
