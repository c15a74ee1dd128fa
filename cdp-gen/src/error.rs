//! What can go wrong between a protocol file and generated Rust.

use std::fmt;
use std::path::{Path, PathBuf};

/// Every failure of the generator, as a sentence that names the place.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory could not be read or written.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A text that should be JSON is not.
    Json {
        /// Which text.
        what: String,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// The JSON is not a protocol description, or holds a construct the model does not know.
    Schema {
        /// Path of the element, as in `Page.navigate.url`.
        at: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A correction found nothing to correct, so upstream has changed.
    Patch {
        /// The correction's name.
        name: &'static str,
        /// What it looked for.
        problem: String,
    },
    /// A line of the item list is malformed, unsorted or double.
    Items {
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// An item or a domain that the protocol does not have.
    Unknown {
        /// The name as given.
        name: String,
    },
    /// Two protocol names become the same Rust name.
    Collision {
        /// Where both would stand.
        scope: String,
        /// The Rust name.
        name: String,
    },
    /// A protocol name that no rule turns into a Rust name.
    Name {
        /// Where it stands.
        scope: String,
        /// The name.
        name: String,
    },
    /// The import step could not use what the package or browser gave it.
    Import {
        /// What is wrong.
        problem: String,
    },
    /// A running browser could not be queried.
    Http {
        /// The address.
        url: String,
        /// What went wrong.
        problem: String,
    },
    /// The command line is not understood.
    Usage {
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn schema(at: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Schema { at: at.into(), problem: problem.into() }
    }

    pub(crate) fn import(problem: impl Into<String>) -> Self {
        Self::Import { problem: problem.into() }
    }

    #[cfg(feature = "import")]
    pub(crate) fn http(url: &str, problem: impl fmt::Display) -> Self {
        Self::Http { url: url.to_owned(), problem: problem.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Json { what, source } => write!(f, "{what} is not valid JSON: {source}"),
            Self::Schema { at, problem } => write!(f, "protocol, {at}: {problem}"),
            Self::Patch { name, problem } => {
                write!(f, "correction `{name}` no longer fits: {problem}")
            }
            Self::Items { line, problem } => write!(f, "item list, line {line}: {problem}"),
            Self::Unknown { name } => write!(f, "the pinned protocol has no `{name}`"),
            Self::Collision { scope, name } => write!(f, "{scope}: two names become `{name}`"),
            Self::Name { scope, name } => write!(f, "{scope}: `{name}` has no Rust name"),
            Self::Import { problem } => write!(f, "import: {problem}"),
            Self::Http { url, problem } => write!(f, "{url}: {problem}"),
            Self::Usage { problem } => f.write_str(problem),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Json { source, .. } => Some(source),
            _ => None,
        }
    }
}
