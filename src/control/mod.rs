//! The browsers of a home: profiles, their life, their tabs, where they may go, and the files around them.
//!
//! What the front doors share: they parse and print, this room decides. A [`Profile`](crate::config::Profile) that runs
//! has one supervisor, and everything goes through that.
//!
//! | file | what it holds |
//! |---|---|
//! | `error` | what can go wrong, with the codes of answers |

mod error;

pub use error::Error;
