//! cdpilot: a browser supervisor, control server and visual agent over the Chrome DevTools Protocol,
//! without an async runtime.
//!
//! With `default-features = false` the crate is what embedding the supervisor needs: [`cdp`] (the
//! protocol client), `browser` (a browser process or endpoint) and `supervisor` (watching it). The feature
//! `page` adds `page` (seeing what a tab shows, and acting on it).
//!
//! The modules use only what stands below them: `cli` → `server` → `mcp` → `tools` → `control` → `page` → `supervisor` → `browser` →
//! [`cdp`] → `http`, `process`, `redact`, `text`, [`code`] and [`sync`]. Settings (`config`) and models (`llm`) stand beside them.

// What only upper modules use is unused in a build without them; the full build checks it.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub mod browser;
pub mod cdp;
#[cfg(feature = "cli")]
pub mod cli;
pub mod code;
#[cfg(feature = "server")]
pub mod config;
#[cfg(feature = "server")]
pub mod control;
#[cfg(feature = "page")]
mod handle;
pub mod http;
#[cfg(feature = "server")]
pub mod llm;
#[cfg(feature = "server")]
pub mod mcp;
#[cfg(feature = "page")]
pub mod page;
mod process;
mod redact;
#[cfg(feature = "server")]
pub mod server;
pub mod supervisor;
pub mod sync;
mod text;
#[cfg(feature = "server")]
pub mod tools;

#[cfg(feature = "page")]
pub use browser::LaunchOptions;
pub use code::Code as ErrorKind;
#[cfg(feature = "page")]
pub use handle::{Browser, BrowserOptions, Page};
#[cfg(feature = "page")]
pub use page::{Act, Error, Locator, State, WaitFor};
