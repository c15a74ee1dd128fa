//! The control server: HTTP in front of `control`. It parses, authorises, calls and answers.
//!
//! | file | what it holds |
//! |---|---|
//! | `gate` | who may ask: host, origin, token |
//! | `tickets`, `ui` | the web UI: how it gets in, and its page |
//! | `start` | a server of a home, from its claim to its end |
//! | `routes` | what may be asked |
//! | `toolboxes` | the tools of the home, for those who ask over MCP |
//! | `types` | what requests are read into and answers are made of |
//! | `read` | queries and bodies |
//! | `failure`, `status` | what failures are told as |
//! | `openapi` | the description, made of the table of routes and of the types |

mod failure;
mod gate;
mod openapi;
mod read;
mod routes;
mod start;
mod status;
mod tickets;
mod toolboxes;
mod types;
mod ui;

use std::sync::Arc;

pub use gate::Gate;
pub use start::{Error, Server, ServerOptions};
pub use tickets::Tickets;

use crate::control::Control;
use crate::redact::Secrets;
pub use toolboxes::{OfferError, Toolboxes};

/// What all requests work with.
struct Front {
    control: Arc<Control>,
    toolboxes: Arc<Toolboxes>,
    tickets: Arc<Tickets>,
    /// What is covered in texts of pages.
    secrets: Secrets,
    /// Where the server is: `http://127.0.0.1:18791`.
    url: String,
}
