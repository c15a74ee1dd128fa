//! Making untrusted text safe to parse and to display.
//!
//! | file | contents |
//! |---|---|
//! | `escapes` | escaping invisible characters |
//! | `glob` | matching with wildcards |
//! | `serde_words` | messages of serde about wrong values, in words |
//! | `surrogates` | JSON with lone surrogates, which Rust strings cannot hold |

mod escapes;
mod glob;
mod serde_words;
mod surrogates;

pub(crate) use escapes::escaped_json;
pub(crate) use escapes::{is_hidden, shown};
pub(crate) use glob::{GlobPart, glob_matches};
pub(crate) use serde_words::{expected_in_words, serde_in_words};
pub(crate) use surrogates::replace_lone_surrogates;
