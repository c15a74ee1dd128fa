//! A browser: found, started or attached to, with its one connection, and stopped again.
//!
//! | file | what it holds |
//! |---|---|
//! | `find`, `install` | where the executable is, how to get one |
//! | `options`, `flags` | what a browser is started with, what is decided, the command line |
//! | `profile`, `lock`, `marker` | the profile folder and who works in it |
//! | `process`, `stderr`, `unix`, `windows` | the process and its family, always reaped |
//! | `reap`, `orphan` | what was left behind when we were killed: proof and end |
//! | `linux`, `ps` | what the system tells about processes |
//! | `ready`, `launch` | the way to the first answer |
//! | `backend`, `endpoint`, `resolve`, `redial` | addresses and what they mean, redacted when printed; connecting, and again |
//! | `webdriver` | sessions of WebDriver servers, and the CDP address of their browser |
//! | `space` | room on disks |
//! | `context` | isolated contexts inside a browser |
//!
//! A browser that we start ends with us: its pipe closes when we end, however that happens, and
//! Chromium leaves then; a guard in its process group kills it when it does not, and removes its
//! temporary profile and its temporary files. Should the guard be killed along with us and the browser hang, the next start
//! ends it ([`reap()`]). A browser that we did not start is never stopped; a WebDriver session that we
//! opened is deleted, and its server stops the browser.

mod backend;
mod context;
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
mod process;
mod profile;
mod ready;
mod reap;
mod redial;
mod resolve;
mod running;
mod space;
mod stderr;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "ps.rs"]
mod system;
mod user_agent;
mod webdriver;

pub use backend::{Backend, Surface};
pub use context::Context;
pub(crate) use endpoint::redact_among_others;
pub use endpoint::{Endpoint, Scheme, redact};
pub use error::{Error, Holder};
pub use flags::{Facts, RESOLVER_RULES, flags};
pub use options::{Decision, LaunchOptions, Surroundings, Switch, TransportKind, UserAgent, container_sign};
pub use profile::{clear_stale_lock, holder_of, is_suspended, recover, resume, resume_process};
pub use reap::{Leftover, Reaped, reap};
pub use redial::Redial;
pub use resolve::{Resolve, default_profiles, resolve};
pub use running::{BrowserProcess, Version};
pub use space::{Space, is_full, space};
pub use user_agent::version_of;
pub use webdriver::{AttachOptions, WebDriverOptions, WebDriverProblem};

pub use crate::cdp::{ConnectOptions, Latency};
