//! Login state: the cookies of a browser context and what its origins store, to be put into another one.
//!
//! | file | what it holds |
//! |---|---|
//! | `read` | state as JSON, ours and Playwright's |
//! | `cookie` | cookies with all that they have |
//! | `origins` | which origins there are |
//! | `save`, `load` | from a browser, and into one |
//! | `origin.js` | what runs in an empty document of an origin |

mod cookie;
mod load;
mod origins;
mod read;
mod save;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

pub use cookie::{PartitionKey, StateCookie};
pub use load::{LoadedState, RejectedCookie};
pub use save::{SaveState, SavedState};

/// What runs in an empty document of an origin.
const SCRIPT: &str = include_str!("origin.js");
/// The `format` of a state.
pub const STATE_FORMAT: &str = "cdpilot-state";
/// The only `version` there is.
pub const STATE_VERSION: u32 = 1;

/// The cookies of a browser context and what its origins store. It holds secrets: whoever has it is logged in. `Debug`
/// shows counts.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoginState {
    /// `cdpilot-state`.
    format: String,
    /// 1.
    version: u32,
    /// The cookies, partitioned ones included.
    pub cookies: Vec<StateCookie>,
    /// What origins store. One without anything is left out.
    pub origins: Vec<OriginState>,
}

/// What one origin stores. `Debug` shows counts.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OriginState {
    /// The origin: scheme, host, and port where it is not the usual one.
    pub origin: String,
    /// Items of `localStorage`. Absent: loading leaves them as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_storage: Option<BTreeMap<String, String>>,
    /// Whether `localStorage` had more items than these: loading adds them then, and deletes none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub local_storage_partial: bool,
    /// Items of `sessionStorage`, of one tab.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub session_storage: BTreeMap<String, String>,
    /// Databases of IndexedDB: `{name, version, stores: [{name, keyPath, autoIncrement, indexes, records, partial}]}`. A
    /// store that could not be read has no `records`; one with `partial` had more. Loading deletes no record of either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub indexed_db: Vec<Value>,
    /// What the state has and cannot be read, such as databases in Playwright's form.
    #[serde(skip)]
    pub unread: Vec<Skipped>,
}

impl LoginState {
    /// A state of cookies and origins.
    #[must_use]
    pub fn new(cookies: Vec<StateCookie>, origins: Vec<OriginState>) -> Self {
        Self { format: STATE_FORMAT.to_owned(), version: STATE_VERSION, cookies, origins }
    }
}

impl OriginState {
    /// An origin that stores nothing.
    #[must_use]
    pub fn new(origin: impl Into<String>) -> Self {
        Self {
            origin: origin.into(),
            local_storage: None,
            local_storage_partial: false,
            session_storage: BTreeMap::new(),
            indexed_db: Vec::new(),
            unread: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.local_storage.as_ref().is_none_or(BTreeMap::is_empty)
            && self.session_storage.is_empty()
            && self.indexed_db.is_empty()
    }
}

impl fmt::Debug for LoginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cookies, origins) = (self.cookies.len(), self.origins.len());
        f.debug_struct("LoginState").field("cookies", &cookies).field("origins", &origins).finish_non_exhaustive()
    }
}

impl fmt::Debug for OriginState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OriginState").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Something that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    /// What: `localStorage`, `sessionStorage`, `IndexedDB name/store` (cut off after 200 characters), or `origin` for all
    /// of it.
    pub what: String,
    /// Why.
    pub reason: String,
    /// How many records, items or databases.
    pub count: u64,
}

impl Skipped {
    fn one(what: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self { what: what.into(), reason: reason.to_string(), count: 1 }
    }
}

/// When items of `sessionStorage` are put into the tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionRestore {
    /// They are there.
    Now,
    /// When the tab next shows a document of the origin, once, unless the tab has items of it already.
    NextVisit,
}

/// What was saved or restored of one origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OriginReport {
    /// The origin.
    pub origin: String,
    /// Items of `localStorage`.
    pub local_storage: usize,
    /// Items of `sessionStorage`.
    pub session_storage: usize,
    /// When those are restored. Loading only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_restore: Option<SessionRestore>,
    /// Databases of IndexedDB.
    pub databases: usize,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

impl OriginReport {
    fn new(origin: &str) -> Self {
        Self {
            origin: origin.to_owned(),
            local_storage: 0,
            session_storage: 0,
            session_restore: None,
            databases: 0,
            skipped: Vec::new(),
        }
    }
}
