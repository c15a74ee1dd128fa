//! Making untrusted text safe to parse and to display.
//!
//! | file | contents |
//! |---|---|
//! | `escapes` | escaping invisible characters |
//! | `glob` | matching with wildcards |
//! | `names` | spelling of names |
//! | `surrogates` | JSON with lone surrogates, which Rust strings cannot hold |

mod escapes;
mod glob;
mod names;
mod surrogates;

pub use escapes::{escaped_json, is_hidden, shown};
pub(crate) use glob::{GlobPart, glob_matches};
pub use names::camel_case;
pub use surrogates::replace_lone_surrogates;
