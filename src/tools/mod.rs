//! What a model may call: tools with a name, a description, a JSON Schema and a handler, and the sets they come in.
//!
//! A tool answers `{"success": true, …}` or `{"success": false, "error", "code"}`; nothing secret leaves in it, and no
//! more than a model can read. Whoever offers tools (MCP, a chat, a shell) asks the [`Registry`] for those of the
//! [toolsets](toolsets) that are enabled, and calls them by name.
//!
//! | file | what it holds |
//! |---|---|
//! | `tool` | a tool and its handler |
//! | `context` | what a call is made with: session, scope, deadline, cancellation, progress |
//! | `schema` | what a tool takes, as JSON Schema |
//! | `arguments` | what a call brings, as models send it |
//! | `outcome` | what comes of a call |
//! | `caps` | how much text a model is given at once |
//! | `registry` | all tools there are, by name, and where some of them come from |
//! | `toolbox` | the tools of a home, put together |
//! | `sets` | toolsets, and what is on |
//! | `browser` | the browser |
//! | `files` | files of the workspace |
//! | `terminal` | commands |
//! | `todo`, `clarify` | what is to be done; asking the person |
//! | `web`, `search`, `look` | pages as text, searching the web, looking at pictures |
//!
//! A program that embeds the library adds tools of its own, under a toolset of their own; they are turned on and off like
//! any other:
//!
//! ```
//! use cdpilot::tools::{Outcome, Registry, Tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Greet {
//!     /// Whom
//!     name: String,
//! }
//!
//! let registry = Registry::new(); // or that of a `Toolbox`
//! let greet = Tool::of("greet", "Greet somebody.", |_, whom: Greet| {
//!     Ok(Outcome::default().with("greeting", format!("Hello, {}!", whom.name)))
//! });
//! registry.register("manners", greet)?;
//! # Ok::<(), cdpilot::tools::RegistryError>(())
//! ```

mod arguments;
pub mod browser;
mod clarify;
mod context;
mod files;
mod outcome;
mod registry;
mod schema;
mod search;
mod secrets;
mod terminal;
mod todo;
mod tool;
mod toolbox;
pub mod toolsets;
mod truncate;
mod vision;
mod web;

pub use crate::control::Session;
pub use clarify::{AskUser, Question};
pub use context::{Progress, Scope, ToolContext};
pub(crate) use files::picture as media_type;
pub use outcome::{Image, Outcome, ToolError};
pub use registry::{Registry, RegistryError, Source};
pub(crate) use schema::without_null;
pub use secrets::secrets;
pub use tool::{Handler, Tool};
pub use toolbox::{Toolbox, ToolboxError, ToolboxOptions, enabled, folder_tools, needs_browser};
pub use truncate::Capped;
