//! The Model Context Protocol: our tools for others, and others' tools for ours.
//!
//! Two eras are spoken: [2025-11-25](https://modelcontextprotocol.io/specification/2025-11-25), which begins with
//! `initialize`, and [2026-07-28](https://modelcontextprotocol.io/specification/2026-07-28), in which each request says
//! what it needs to be understood.
//!
//! | file | what it holds |
//! |---|---|
//! | `message` | JSON-RPC messages and errors |
//! | `server` | our tools for others |
//! | `client` | others' tools for ours |

pub mod client;
mod message;
pub mod server;

pub use message::{Fault, Id, Message, Request};

/// The revision whose requests stand by themselves.
pub const MODERN: &str = "2026-07-28";
/// The newest one that begins with `initialize`.
pub const LEGACY: &str = "2025-11-25";
/// Older ones that differ in nothing that is used here.
pub const OLDER: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];
