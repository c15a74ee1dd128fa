//! The control server: HTTP in front of `control`. It parses, authorises, calls and answers.
//!
//! | file | what it holds |
//! |---|---|
//! | `auth` | who may ask: host, origin, token |
//! | `tickets`, `ui` | the web UI: how it gets in, and its page |
//! | `start` | a server of a home, from its claim to its end |
//! | `routes` | what may be asked |
//! | `home_tools` | the tools offered over MCP |
//! | `types` | what requests are read into and answers are made of |
//! | `read` | queries and bodies |
//! | `failure`, `status` | what failures are told as |
//! | `openapi` | the description, made of the table of routes and of the types |

mod auth;
mod error;
mod home_tools;
mod openapi;
mod params;
mod routes;
mod start;
mod status;
mod tickets;
mod types;
mod ui;

use std::sync::Arc;

pub use auth::Auth;
pub use start::{Error, Server, ServerOptions};
pub use tickets::Tickets;

use crate::control::Control;
use crate::redact::Secrets;
pub use home_tools::{HomeTools, OfferError};

/// The request header that names a session of the profile.
pub(crate) const SESSION_HEADER: &str = "X-Cdpilot-Session";

/// What all requests work with.
struct ServerContext {
    control: Arc<Control>,
    tools: Arc<HomeTools>,
    tickets: Arc<Tickets>,
    /// What is covered in texts of pages.
    secrets: Secrets,
    /// Where the server is: `http://127.0.0.1:18791`.
    url: String,
}
