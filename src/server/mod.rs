//! The control server: HTTP in front of `control`. It parses, authorises, calls and answers.
//!
//! | file | what it holds |
//! |---|---|
//! | `http` | connections, requests, answers; knows nothing of browsers |
//! | `gate` | who may ask: host, origin, token, tickets |

mod gate;
pub mod http;

pub use gate::{Gate, Tickets};
