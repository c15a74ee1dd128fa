//! Settings: the home folder, `config.yaml`, the token, and the running server.
//!
//! Reads and writes files below the home; does not depend on browsers.
//!
//! | file | contents |
//! |---|---|
//! | `home` | the folders of a home |
//! | `settings`, `tools`, `kinds` | `config.yaml` |
//! | `choices` | `tools.json` |
//! | `capabilities` | names of WebDriver capabilities |
//! | `token` | the API token |
//! | `running` | `run/server.json`, and the lock that admits one server per home |
//! | `nearest` | suggestions for unknown names |

mod capabilities;
mod choices;
mod error;
mod home;
mod kinds;
mod nearest;
mod running;
mod settings;
mod token;
mod tools;

pub use capabilities::check_capabilities;
pub use choices::Layers;
pub use error::Error;
pub use home::Home;
pub(crate) use home::{lock_file, replace_file};
pub use kinds::{AutoSwitch, Bridge, Confirm, Policy, RawCdp, SecretsIn, Subresources, Transport, UserAgent};
pub use nearest::nearest;
pub use running::{Claim, Claimed, Running};
pub use settings::{
    Agent, Browser, Config, Guard, Navigation, Profile, RESERVED_PORT, Routines, Secrets, Server, TabLimits, Viewport,
};
pub use token::Token;
pub use tools::{CustomTools, McpServer, McpTools, Memory, Platform, Search, Terminal, Tools};

/// Whether a file could not be opened because it, or a folder above it, does not exist.
pub(crate) fn is_absent(problem: &std::io::Error) -> bool {
    matches!(problem.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
