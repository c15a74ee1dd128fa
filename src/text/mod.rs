//! Making untrusted text safe to parse and to display.
//!
//! | file | contents |
//! |---|---|
//! | `escapes` | escaping invisible characters |
//! | `surrogates` | JSON with lone surrogates, which Rust strings cannot hold |

#[cfg(feature = "server")]
mod escapes;
mod surrogates;

#[cfg(feature = "cli")]
pub(crate) use escapes::escaped_json;
#[cfg(feature = "server")]
pub(crate) use escapes::{is_hidden, shown};
pub(crate) use surrogates::replace_lone_surrogates;
