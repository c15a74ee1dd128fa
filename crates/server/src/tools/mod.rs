//! Tools for models: name, description, JSON Schema and handler, grouped in toolsets.
//!
//! A tool returns `{"success": true, …}` or `{"success": false, "error", "code"}`. Secrets are redacted and long results
//! truncated. Entry points (MCP, CLI) list the tools of the enabled [`toolsets`] in the [`Registry`] and call them
//! by name.
//!
//! | file | what it holds |
//! |---|---|
//! | `tool` | a tool and its handler |
//! | `context` | context of a call: session, scope, deadline, cancellation, progress |
//! | `schema` | JSON Schema of arguments |
//! | `arguments` | lenient decoding of arguments |
//! | `origin` | where the texts come from that a caller has read |
//! | `outcome` | results and errors |
//! | `truncate` | size limits of results |
//! | `registry` | all tools by name, and external sources of tools |
//! | `toolbox` | the tools of a home |
//! | `toolsets` | toolsets, and which are enabled |
//! | `guard` | what a call would do that cannot be undone |
//! | `browser` | the browser |
//! | `files` | files of the workspace |
//! | `terminal` | commands |
//! | `session_search`, `memory`, `skills` | earlier conversations; notes for later ones; saved instructions |
//! | `todo`, `clarify` | to-do list; questions to the user |
//! | `web`, `search`, `vision` | pages as text, web search, questions about images |
//!
//! An embedding program registers its own tools in its own toolset; they are enabled and disabled like any other:
//!
//! ```
//! use cdpilot_server::tools::{Outcome, Registry, Tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Greet {
//!     /// Name of the person
//!     name: String,
//! }
//!
//! let registry = Registry::new(); // or that of a `Toolbox`
//! let greet = Tool::of("greet", "Greet a person.", |_, arguments: Greet| {
//!     Ok(Outcome::default().with("greeting", format!("Hello, {}!", arguments.name)))
//! });
//! registry.register("manners", greet)?;
//! # Ok::<(), cdpilot_server::tools::RegistryError>(())
//! ```

mod arguments;
pub mod browser;
mod clarify;
mod context;
mod files;
mod guard;
mod memory;
mod origin;
mod outcome;
mod registry;
mod schema;
mod search;
mod secrets;
mod session_search;
mod skills;
mod terminal;
mod todo;
mod tool;
mod toolbox;
pub mod toolsets;
mod truncate;
mod vision;
pub mod visual;
mod web;

pub use crate::control::Session;
pub use cdpilot::page::{SecretSource, SecretTarget, TypedSecrets, is_only_secrets};
pub use clarify::{AskUser, Question};
pub use context::{Progress, Scope, ToolContext};
pub(crate) use files::picture as media_type;
pub use guard::{Allowed, Effect, EffectKind, Effects, Guard, SentForm, approval_needed, unshowable};
pub(crate) use origin::{KEEPING, Origins};
pub(crate) use outcome::SECRET_FIELD;
pub use outcome::{Image, Outcome, ToolError};
pub use registry::{Registry, RegistryError, Source};
pub(crate) use schema::without_null;
pub use secrets::secrets;
pub(crate) use secrets::{of_models as secrets_of_models, secrets_with};
pub use tool::{Handler, Tool};
pub use toolbox::{Toolbox, ToolboxError, ToolboxOptions, enabled, folder_tools, needs_browser};
pub use truncate::Capped;
