//! cdpilot: a browser supervisor, control server and visual agent over the Chrome DevTools Protocol,
//! without an async runtime.
//!
//! With `default-features = false` the crate is what embedding the supervisor needs: [`cdp`] (the
//! protocol client), `browser` (a browser process or endpoint) and `supervisor` (watching it). The feature
//! `page` adds `page` (seeing what a tab shows, and acting on it).
//!
//! The rooms use only what stands below them: `cli` → `server` → `mcp` → `tools` → `control` → `page` → `supervisor` → `browser` →
//! [`cdp`] → [`sync`] and `text`. Settings (`config`) and models (`llm`) stand beside them.

pub mod browser;
pub mod cdp;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "server")]
pub mod config;
#[cfg(feature = "server")]
pub mod control;
mod error_kind;
#[cfg(feature = "page")]
mod handle;
#[cfg(feature = "server")]
pub mod llm;
#[cfg(feature = "server")]
pub mod mcp;
#[cfg(feature = "page")]
pub mod page;
#[cfg(feature = "server")]
pub mod server;
pub mod supervisor;
pub mod sync;
mod text;
#[cfg(feature = "server")]
pub mod tools;

#[cfg(feature = "page")]
pub use browser::LaunchOptions;
pub use error_kind::ErrorKind;
#[cfg(feature = "page")]
pub use handle::{Browser, BrowserOptions, Page};
#[cfg(feature = "page")]
pub use page::{Act, Error, Locator, State, WaitFor};
