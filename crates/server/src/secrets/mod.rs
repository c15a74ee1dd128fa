//! Secrets of the home that conversations may type but never see: passwords, and keys of one-time codes.
//!
//! Each belongs to one origin. `secrets.json` in the home (mode 0600) lists them; their values are in the keyring of the
//! system where there is one, else in that file. A value leaves this module in two ways only: to be typed, and to be
//! redacted.
//!
//! | file | contents |
//! |---|---|
//! | `store` | the secrets of a home |
//! | `file` | `secrets.json` |
//! | `keyring` | the keyring of the system |
//! | `check` | names, origins and values that are accepted |
//! | `totp` | one-time codes (RFC 6238) |

mod check;
mod file;
mod keyring;
mod store;
mod totp;

use std::path::PathBuf;

pub use store::{SecretInfo, SecretKind, SecretPlace, SecretStore};

use cdpilot::code::Code;

/// Why a secret cannot be stored, removed or used. No message contains a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A name, origin or value is not accepted.
    #[error("{field}: {problem}")]
    NotAccepted {
        /// `name`, `origin` or `value`.
        field: &'static str,
        /// Why, and what to give instead.
        problem: String,
    },
    /// There is no secret with this name.
    #[error("there is no secret {name:?}; {known}")]
    NotFound {
        /// The name.
        name: String,
        /// The names that there are, as a sentence.
        known: String,
    },
    /// The file cannot be read or written.
    #[error("cannot {what} {}: {problem}", .path.display())]
    File {
        /// `read`, `write` or `use`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// The keyring of the system failed.
    #[error("the keyring of the system {problem}")]
    Keyring {
        /// What failed, and what to do.
        problem: String,
    },
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> Code {
        match self {
            Self::NotAccepted { .. } => Code::BadRequest,
            Self::NotFound { .. } => Code::NotFound,
            Self::File { .. } | Self::Keyring { .. } => Code::Internal,
        }
    }
}
