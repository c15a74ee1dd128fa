//! Settings: the home folder, `config.yaml`, the token, and who serves the home at the moment.
//!
//! The room reads and writes files below the home and knows nothing of browsers.
//!
//! | file | what it holds |
//! |---|---|
//! | `home` | the folders of a home |
//! | `settings`, `tools`, `kinds` | `config.yaml` |
//! | `token` | the token that programs show |
//! | `running` | `run/server.json`, and that one server at most serves a home |
//! | `nearest` | what somebody most likely meant |

mod error;
mod home;
mod kinds;
mod nearest;
mod running;
mod settings;
mod token;
mod tools;

pub use error::Error;
pub use home::Home;
pub use kinds::{AutoSwitch, Bridge, Policy, Transport};
pub use nearest::nearest;
pub use running::{Claim, Claimed, Running};
pub use settings::{Agent, Browser, Config, Navigation, Profile, RESERVED_PORT, Server, TabLimits};
pub use token::Token;
pub use tools::{CustomTools, McpServer, McpTools, Platform, Search, Terminal, Tools};
