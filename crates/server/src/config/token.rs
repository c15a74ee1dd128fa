//! The API token of the server.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use super::{Error, Home};

/// Random bytes of a new token.
const BYTES: usize = 32;

/// The API token. Secret: never printed, and hidden in `Debug`.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The token of a home, created if missing, readable by its owner only (mode 0600).
    ///
    /// # Errors
    /// [`Error::File`], [`Error::BadToken`].
    pub fn of(home: &Home) -> Result<Self, Error> {
        if let Some(token) = Self::read(home)? {
            return Ok(token);
        }
        let path = home.token();
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|problem| Error::File {
            doing: "create",
            path: path.clone(),
            problem: problem.to_string(),
        })?;
        let text = bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        // Written completely to another file, and renamed only if no other process was first.
        let failed = |problem: &std::io::Error| Error::file("write", &path, problem);
        let mut file = tempfile::NamedTempFile::new_in(home.root()).map_err(|e| failed(&e))?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(|e| failed(&e))?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(Self(text)),
            Err(problem) => Self::read(home)?.ok_or_else(|| failed(&problem.error)),
        }
    }

    /// The token of a home, if it has one.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::BadToken`].
    pub fn read(home: &Home) -> Result<Option<Self>, Error> {
        let path = home.token();
        let text = match home.read(&path) {
            Ok(text) => text,
            Err(problem) if super::is_absent(&problem) => return Ok(None),
            Err(problem) => return Err(Error::file("read", path, &problem)),
        };
        let text = text.trim();
        if text.len() < 2 * BYTES || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Error::BadToken { path });
        }
        Ok(Some(Self(text.to_owned())))
    }

    /// A given token, for example from an environment variable.
    #[must_use]
    pub fn given(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether `shown` is the token. Takes constant time for texts of the same length.
    #[must_use]
    pub fn is(&self, shown: &str) -> bool {
        let (ours, shown) = (self.0.as_bytes(), shown.as_bytes());
        let differing = ours.iter().zip(shown).fold(0, |differing, (a, b)| differing | (a ^ b));
        std::hint::black_box(differing) == 0 && ours.len() == shown.len()
    }

    /// The text of the token, for a request header.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
