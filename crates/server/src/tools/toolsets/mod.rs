//! Toolsets: named bundles of tools and other toolsets.
//!
//! | file | what it holds |
//! |---|---|
//! | `defined` | predefined toolsets: core, composite, platform |
//! | `resolve` | resolves toolset names to tools, with problems |
//! | `settings` | checks the names in the settings |
//! | `enabled` | enabled toolsets and disabled tools |
//!
//! Besides the predefined toolsets there are registered ones (`mcp-<server>`) and custom ones.

mod defined;
mod enabled;
mod resolve;
mod settings;

pub use defined::{DEFINED, Defined, Kind};
pub use enabled::Enabled;
pub use resolve::{Info, Problem, Resolved, Toolsets, suggestion};
pub use settings::setting_problems;
