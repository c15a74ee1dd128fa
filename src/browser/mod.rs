//! Browsers: finding, starting, attaching, the single connection, and stopping.
//!
//! | file | contents |
//! |---|---|
//! | `find`, `install` | the executable, and how to install one |
//! | `options`, `flags` | options, decisions derived from them, the command line |
//! | `profile`, `lock`, `marker` | the profile folder, and which processes use it |
//! | `process`, `stderr`, `unix`, `windows` | the process and its children, always reaped |
//! | `reap`, `orphan` | cleanup after a killed process: proof and end |
//! | `crash_handlers` | Chromium's crash handlers on Linux |
//! | `port_file`, `launch` | starting, up to the first answer |
//! | `backend`, `endpoint`, `resolve`, `redial` | addresses, redacted when printed; connecting and reconnecting |
//! | `webdriver` | sessions of WebDriver servers, and the CDP address of their browser |
//! | `disk_space` | free disk space |
//! | `context` | isolated browser contexts |
//!
//! A started browser ends with this process: its pipe closes when this process ends in any way, and Chromium exits
//! then; a reaper process in its process group kills it when it does not, and removes its temporary profile and its
//! temporary files. Should the reaper be killed together with this process and the browser hang, the next start ends it
//! ([`reap()`]). A browser that was not started here is never stopped; a WebDriver session that was opened here is
//! deleted, and its server stops the browser.

mod backend;
mod context;
#[cfg(target_os = "linux")]
mod crash_handlers;
mod disk_space;
mod endpoint;
mod error;
pub mod find;
mod flags;
pub mod install;
mod launch;
mod lock;
#[cfg(unix)]
mod marker;
mod options;
#[cfg(unix)]
mod orphan;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
mod port_file;
mod process;
mod profile;
mod reap;
mod redial;
mod resolve;
mod running;
mod stderr;
mod user_agent;
mod webdriver;

pub use backend::{Backend, Surface};
pub use context::Context;
pub use disk_space::{DiskSpace, disk_space, is_disk_full};
pub use endpoint::{Endpoint, Scheme};
pub use error::{Error, Holder};
pub use flags::{Facts, RESOLVER_RULES, check as check_argument, flags};
pub use options::{Decision, LaunchOptions, Surroundings, Switch, TransportKind, UserAgent, container_sign};
pub use profile::{clear_stale_lock, holder_of, is_suspended, recover, resume, resume_process};
pub use reap::{Leftover, Reaped, reap};
pub use redial::Redial;
pub use resolve::{Resolve, default_profiles, resolve};
pub use running::{BrowserProcess, Version};
pub use user_agent::version_of;
pub use webdriver::{AttachOptions, WebDriverOptions, WebDriverProblem};

pub use crate::cdp::{ConnectOptions, Latency};
pub use crate::redact::redact_addresses as redact;
