//! The control server: the HTTP API of `control`. It authenticates and parses requests, calls `control`, and answers.
//!
//! | file | content |
//! |---|---|
//! | `auth` | authentication: host, origin, token |
//! | `tickets`, `ui` | the web UI: sign-in and page |
//! | `settings_check` | the part of `doctor` about the server and the tools |
//! | `start` | starting and stopping the server of a home |
//! | `routes` | the routes |
//! | `home_tools` | the tools offered over MCP |
//! | `local` | the same requests without HTTP |
//! | `params` | parsing of queries and bodies |
//! | `error`, `status` | error answers and their HTTP statuses |
//! | `openapi` | `openapi.json`, generated from routes and types |

mod auth;
mod error;
mod home_tools;
mod local;
mod openapi;
mod params;
mod routes;
pub mod settings_check;
mod start;
mod status;
mod tickets;
mod ui;

use std::sync::Arc;

pub use auth::Auth;
pub use local::{LocalApi, LocalRequest};
pub use start::{Error, Server, ServerOptions};
pub use tickets::Tickets;

use crate::control::Control;
use cdpilot::redact::Secrets;
pub use home_tools::{HomeTools, OfferError};

/// The conversations and recordings of the home, and its database.
struct AgentParts {
    agents: crate::agent::Agents,
    recordings: Arc<crate::record::Recordings>,
    store: crate::store::Store,
}

/// State shared by all requests.
struct ServerContext {
    control: Arc<Control>,
    tools: Arc<HomeTools>,
    tickets: Arc<Tickets>,
    /// Secrets to mask in texts of pages.
    secrets: Secrets,
    /// Conversations, recordings and their database, or why they are not available.
    agent: Result<AgentParts, error::ApiError>,
    /// URL of the server, `http://127.0.0.1:18791`.
    url: String,
    /// Whether routes for tests are served.
    has_test_routes: bool,
}
