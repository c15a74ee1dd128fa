//! Toolsets: named bundles of tools and other toolsets.
//!
//! | file | what it holds |
//! |---|---|
//! | `defined` | those that come with cdpilot: core, composite, platform |
//! | `resolve` | from names to tools, with what is wrong on the way |
//! | `settings` | checks the names in the settings |
//! | `enabled` | what is on: for a session, for a platform, tool by tool |
//!
//! Beside the defined ones there are those that tools are registered into (`mcp-<server>`) and custom ones.

mod defined;
mod enabled;
mod resolve;
mod settings;

pub use defined::{DEFINED, Defined, Kind};
pub use enabled::Enabled;
pub use resolve::{Info, Problem, Resolved, Toolsets, suggestion};
pub use settings::setting_problems;
