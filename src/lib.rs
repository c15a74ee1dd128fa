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
//!
//! A module uses only the modules below it: [`page`] → [`supervisor`] → [`browser`] → [`cdp`] → [`code`] and [`sync`]. The control
//! server, its tools for models and the program are crates of their own, which use this one.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "page"), allow(rustdoc::broken_intra_doc_links))]

pub mod browser;
pub mod cdp;
pub mod code;
#[doc(hidden)]
pub mod fields;
#[cfg(feature = "page")]
mod handle;
#[doc(hidden)]
pub mod http;
#[cfg(feature = "page")]
pub mod page;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod redact;
mod setters;
pub mod supervisor;
pub mod sync;
#[doc(hidden)]
pub mod text;

#[cfg(feature = "page")]
pub use browser::LaunchOptions;
pub use code::Code as ErrorKind;
#[cfg(feature = "page")]
pub use handle::{Browser, BrowserOptions, Page};
#[cfg(feature = "page")]
pub use page::{Act, Error, LoadState, Locator, State, WaitFor};
