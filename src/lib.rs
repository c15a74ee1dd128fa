//! Drives and supervises Chromium-based browsers over the Chrome DevTools Protocol. Blocking calls with deadlines, no async runtime.
//!
//! ```no_run
//! use std::time::Duration;
//! use cdpilot::{Act, Browser, LaunchOptions};
//!
//! let browser = Browser::launch(LaunchOptions::new())?;
//! let page = browser.page()?;
//! page.goto("https://example.com")?; // waits for load
//! page.click("e12")?; // ref, locator or CSS
//! let title: String = page.evaluate("document.title")?;
//! page.timeout(Duration::from_secs(2)).wait_for("text=Done")?;
//! page.act(Act::fill("label=Name", "Ada").submit())?;
//! # Ok::<(), cdpilot::Error>(())
//! ```
//!
//! [`Browser`] and [`Page`] have default deadlines; dropping the browser ends it and its threads. [`page::Tab`] and
//! [`supervisor::Supervisor`] take a [`Deadline`](sync::Deadline) with each call. Every error has a [`kind`](ErrorKind).
//!
//! | module | contents | feature |
//! |---|---|---|
//! | crate root | [`Browser`], [`Page`] and the types they take | `page` |
//! | [`page`] | snapshots with refs, actions, screenshots, cookies, downloads | `page` |
//! | [`supervisor`] | state, dialogs, frames, event log, protocol events, interception, routes | none |
//! | [`browser`], [`cdp`] | finding, launching and attaching to browsers; the protocol: connections, sessions, types | none |
//! | [`code`], [`sync`] | error codes; deadlines, cancellation, named threads | none |
//! | `control`, `config`, `secrets`, `llm`, `tools` | profiles, settings, secrets, models, tools for models; **unstable**: they may change in any release | `server` |
//! | `agent`, `store` | conversations of a model that uses the browser, and their database; **unstable** | `agent` |
//! | `cli`, `server`, `mcp`, `http`, `eval` | the program; hidden, **unstable** | `cli`, `server`, `eval` |
//!
//! A module uses only the modules below it: `cli` → `eval`, `server` → `agent`, `mcp` → `tools` → `control` → `page` → `supervisor` →
//! `browser` → [`cdp`] → `http`, `process`, `redact`, `text`, [`code`] and [`sync`]. `config`, `secrets`, `llm` and `store` stand beside
//! `control`; `server` and `cli` share `api`, the types of the HTTP API.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))] // used by upper modules
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "page"), allow(rustdoc::broken_intra_doc_links))]

#[doc(hidden)]
#[cfg(feature = "agent")]
pub mod agent;
#[cfg(feature = "server")]
mod api;
pub mod browser;
pub mod cdp;
#[doc(hidden)]
#[cfg(feature = "cli")]
pub mod cli;
pub mod code;
/// **Unstable:** may change in any release.
///
#[cfg(feature = "server")]
pub mod config;
/// **Unstable:** may change in any release.
///
#[cfg(feature = "server")]
pub mod control;
#[doc(hidden)]
#[cfg(feature = "eval")]
pub mod eval;
#[cfg(feature = "page")]
mod handle;
#[doc(hidden)]
pub mod http;
/// **Unstable:** may change in any release.
///
#[cfg(feature = "server")]
pub mod llm;
#[doc(hidden)]
#[cfg(feature = "server")]
pub mod mcp;
#[cfg(feature = "page")]
pub mod page;
mod process;
mod redact;
#[doc(hidden)]
#[cfg(feature = "server")]
pub mod secrets;
#[doc(hidden)]
#[cfg(feature = "server")]
pub mod server;
mod setters;
#[doc(hidden)]
#[cfg(feature = "agent")]
pub mod store;
pub mod supervisor;
pub mod sync;
mod text;
/// **Unstable:** may change in any release.
///
#[cfg(feature = "server")]
pub mod tools;

#[cfg(feature = "page")]
pub use browser::LaunchOptions;
pub use code::Code as ErrorKind;
#[cfg(feature = "page")]
pub use handle::{Browser, BrowserOptions, Page};
#[cfg(feature = "page")]
pub use page::{Act, Error, LoadState, Locator, State, WaitFor};
