//! Login state: the cookies of a browser context and the storage of its origins, to be restored in another one.
//!
//! | file | contents |
//! |---|---|
//! | `read` | state as JSON, own format and Playwright's |
//! | `cookie` | complete cookies |
//! | `origins` | the known origins |
//! | `save`, `load` | saving and restoring |
//! | `origin.js` | the script that runs in an empty document of an origin |
//!
//! The storage of an origin is read and written in a hidden page (`HiddenPage`), whose document requests are fulfilled
//! with an empty document that loads nothing. Service workers are bypassed, so that none answers first. The navigation
//! policy checks the origin by its name, without a lookup. Databases with the right schema are cleared and filled,
//! because a version change would wait for every tab that has them open. Other databases are deleted and created again,
//! but only while no tab of the origin is open: a blocked deletion would happen later, unnoticed.

mod cookie;
mod load;
mod origins;
mod read;
mod save;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::setters;

pub use cookie::{PartitionKey, StateCookie};
pub use load::{LoadedState, RejectedCookie};
pub use save::{SaveState, SavedState};

/// The script that runs in an empty document of an origin: `origin.js`, minified by `build.rs`.
const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/origin.js"));
/// The `format` of a state.
pub const STATE_FORMAT: &str = "cdpilot-state";
/// The format version that is written, and the only one that is read.
pub const STATE_VERSION: u32 = 1;

/// The cookies of a browser context and the storage of its origins. Secret: its holder is logged in. `Debug` shows
/// counts only.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoginState {
    /// Always `cdpilot-state`.
    format: String,
    /// Always 1.
    version: u32,
    /// All cookies, including partitioned ones.
    pub cookies: Vec<StateCookie>,
    /// The storage of origins. Origins without data are left out.
    pub origins: Vec<OriginState>,
}

/// The storage of one origin. `Debug` shows counts only.
#[derive(Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OriginState {
    /// The origin: scheme, host, and port unless it is the default one.
    pub origin: String,
    /// Items of `localStorage`. Absent: restoring does not change `localStorage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_storage: Option<BTreeMap<String, String>>,
    /// Whether `localStorage` had more items than these: restoring then adds items and deletes none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub local_storage_partial: bool,
    /// Items of `sessionStorage` of one tab.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub session_storage: BTreeMap<String, String>,
    /// IndexedDB databases: `{name, version, stores: [{name, keyPath, autoIncrement, indexes, records, partial}]}`. A
    /// store that could not be read has no `records`; one with `partial` had more. Restoring deletes no record of
    /// either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub indexed_db: Vec<Value>,
    /// Parts of the state that are not supported, such as databases in Playwright's format.
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

setters!(OriginState:
    local_storage(some BTreeMap<String, String>),
    local_storage_partial(bool),
    session_storage(BTreeMap<String, String>),
    indexed_db(each Value),
);

impl OriginState {
    /// An origin without data.
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
#[non_exhaustive]
pub struct Skipped {
    /// What was left out: `localStorage`, `sessionStorage`, `IndexedDB name/store` (cut after 200 characters), or
    /// `origin` for all data of the origin.
    pub what: String,
    /// Why it was left out.
    pub reason: String,
    /// The number of records, items or databases.
    pub count: u64,
}

impl Skipped {
    fn one(what: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self { what: what.into(), reason: reason.to_string(), count: 1 }
    }
}

/// When items of `sessionStorage` are restored in the tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SessionRestore {
    /// They have been restored.
    Now,
    /// When the tab next shows a document of the origin, once, unless it has items by then.
    NextVisit,
}

/// What was saved or restored of one origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OriginReport {
    /// The origin, such as `https://example.com`.
    pub origin: String,
    /// Number of `localStorage` items.
    pub local_storage: usize,
    /// Number of `sessionStorage` items.
    pub session_storage: usize,
    /// When `sessionStorage` is restored. Only when restoring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_restore: Option<SessionRestore>,
    /// Number of IndexedDB databases.
    pub databases: usize,
    /// Data that was left out.
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
