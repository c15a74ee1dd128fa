//! Ids that give access to a browser. Only their hashes are stored.

use std::fmt::Write as _;

use blake2::{Blake2s256, Digest as _};
use rusqlite::{OptionalExtension as _, params};

use super::{Error, Store};
use cdpilot::sync::Deadline;

/// How long expired ids are kept, in seconds, so that they are reported as expired and not as unknown.
const KEPT_EXPIRED: f64 = 24.0 * 60.0 * 60.0;

/// The browser that an id gives access to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserBinding {
    /// The browser of a profile, by its name.
    Profile(String),
    /// The browser at an endpoint, by its address.
    Endpoint(String),
}

impl BrowserBinding {
    /// The key of the browser: it has at most one id.
    fn key(&self) -> String {
        match self {
            Self::Profile(name) => format!("profile:{name}"),
            Self::Endpoint(address) => format!("endpoint:{}", hash(address)),
        }
    }

    fn profile(&self) -> Option<&str> {
        match self {
            Self::Profile(name) => Some(name),
            Self::Endpoint(_) => None,
        }
    }

    fn endpoint(&self) -> Option<&str> {
        match self {
            Self::Endpoint(address) => Some(address),
            Self::Profile(_) => None,
        }
    }
}

/// A registered browser.
#[derive(Debug, Clone, PartialEq)]
pub struct RegisteredBrowser {
    /// The browser.
    pub binding: BrowserBinding,
    /// When it was registered, in seconds since 1970.
    pub created_at: f64,
    /// When the id expires, in seconds since 1970.
    pub expires_at: f64,
}

/// Result of looking up an id.
#[derive(Debug, Clone, PartialEq)]
pub enum BrowserLookup {
    /// The id is valid.
    Valid(RegisteredBrowser),
    /// The id has expired, at most a day ago or since the last [sweep](Store::sweep_browser_ids).
    Expired(RegisteredBrowser),
    /// No browser has this id: it was never given, or it was removed or replaced.
    Unknown,
}

impl BrowserLookup {
    /// The browser of a valid id.
    #[must_use]
    pub fn valid(self) -> Option<RegisteredBrowser> {
        match self {
            Self::Valid(browser) => Some(browser),
            _ => None,
        }
    }
}

impl Store {
    /// Registers an id (the text of a UUID, in any case) for a browser, from `created_at` until `expires_at`, in seconds
    /// since 1970. An earlier id of the same browser is removed.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the id is in use, and the errors of writing, see
    /// [`create_conversation`](Self::create_conversation).
    pub fn register_browser_id(
        &self,
        id: &str,
        binding: BrowserBinding,
        created_at: f64,
        expires_at: f64,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let (hash, key) = (hash_of_id(id), binding.key());
        self.write(deadline, move |on| {
            on.execute("DELETE FROM browser_ids WHERE binding = ?1", [&key])?;
            let sql = "INSERT INTO browser_ids (hash, binding, endpoint, profile, created_at, expires_at) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (hash) DO NOTHING";
            let row = params![hash, key, binding.endpoint(), binding.profile(), created_at, expires_at];
            if on.execute(sql, row)? == 0 {
                return Err(Error::conflict("another browser has this browser_id"));
            }
            Ok(())
        })
    }

    /// The browser of an id, and whether the id is valid at the time `now`, in seconds since 1970.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn find_browser_id(&self, id: &str, now: f64, deadline: Deadline<'_>) -> Result<BrowserLookup, Error> {
        let hash = hash_of_id(id);
        self.read(deadline, |on| {
            let sql = "SELECT endpoint, profile, created_at, expires_at FROM browser_ids WHERE hash = ?1";
            let row = on.query_row(sql, [hash], |row| {
                let (endpoint, profile): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
                let endpoint = endpoint.map(BrowserBinding::Endpoint);
                let binding = endpoint.unwrap_or_else(|| BrowserBinding::Profile(profile.unwrap_or_default()));
                Ok(RegisteredBrowser { binding, created_at: row.get(2)?, expires_at: row.get(3)? })
            });
            Ok(match row.optional()? {
                None => BrowserLookup::Unknown,
                Some(browser) if browser.expires_at <= now => BrowserLookup::Expired(browser),
                Some(browser) => BrowserLookup::Valid(browser),
            })
        })
    }

    /// Removes an id. False when it is unknown.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn remove_browser_id(&self, id: &str, deadline: Deadline<'_>) -> Result<bool, Error> {
        let hash = hash_of_id(id);
        self.write(deadline, move |on| Ok(on.execute("DELETE FROM browser_ids WHERE hash = ?1", [&hash])? > 0))
    }

    /// Removes ids that expired more than a day before `now`, in seconds since 1970. Returns their number.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn sweep_browser_ids(&self, now: f64, deadline: Deadline<'_>) -> Result<usize, Error> {
        let before = now - KEPT_EXPIRED;
        self.write(deadline, move |on| Ok(on.execute("DELETE FROM browser_ids WHERE expires_at < ?1", [before])?))
    }
}

/// The hash of an id, independent of its case.
fn hash_of_id(id: &str) -> String {
    hash(&id.trim().to_ascii_lowercase())
}

/// BLAKE2s-256 in hexadecimal.
fn hash(text: &str) -> String {
    Blake2s256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
