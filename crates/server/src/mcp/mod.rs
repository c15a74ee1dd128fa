//! Model Context Protocol: a server for cdpilot's tools, and a client for the tools of other MCP servers.
//!
//! Two protocol revisions are supported: [2025-11-25](https://modelcontextprotocol.io/specification/2025-11-25), which
//! begins with `initialize`, and [2026-07-28](https://modelcontextprotocol.io/specification/2026-07-28), whose requests are
//! self-contained.
//!
//! | file | what it holds |
//! |---|---|
//! | `message` | JSON-RPC messages and errors |
//! | `server` | the MCP server |
//! | `client` | the MCP client |

pub mod client;
mod message;
pub mod server;

pub use message::{Fault, Id, Message, Request};

/// The protocol revision with self-contained requests.
pub const MODERN: &str = "2026-07-28";
/// The newest protocol revision that begins with `initialize`.
pub const LEGACY: &str = "2025-11-25";
/// Older protocol revisions without relevant differences.
pub const OLDER: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
