//! Local and session storage of the tab's document.
//!
//! Read and changed by the page script: an isolated world shares the storage of its document's origin. Other documents
//! of the origin receive `storage` events, as for any change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::page::{Error, Tab};
use crate::sync::Deadline;

/// Which of the two web storages of an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// `localStorage`: per origin, persistent.
    Local,
    /// `sessionStorage`: per origin and tab.
    Session,
}

impl Storage {
    fn name(self) -> &'static str {
        match self {
            Self::Local => "localStorage",
            Self::Session => "sessionStorage",
        }
    }
}

#[derive(Deserialize)]
struct StorageReply {
    items: Option<Vec<(String, String)>>,
    none: Option<String>,
    #[serde(default)]
    origin: String,
    full: Option<String>,
}

impl Tab {
    /// The items of the top frame's origin, or the one with a key.
    ///
    /// # Errors
    /// [`Error::NoStorage`] for a document without storage: an opaque origin (`about:blank`, `data:`, sandboxed) or
    /// blocked storage; [`Error::Supervisor`].
    pub fn storage(
        &self,
        storage: Storage,
        key: Option<&str>,
        deadline: Deadline<'_>,
    ) -> Result<BTreeMap<String, String>, Error> {
        self.storage_call(storage, json!({ "key": key }), deadline)
    }

    /// Sets items. Returns all items afterwards.
    ///
    /// # Errors
    /// As [`storage`](Self::storage); [`Error::BadRequest`] when the quota is exceeded.
    pub fn set_storage(
        &self,
        storage: Storage,
        items: &BTreeMap<String, String>,
        deadline: Deadline<'_>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let set: Vec<(&String, &String)> = items.iter().collect();
        self.storage_call(storage, json!({ "set": set }), deadline)
    }

    /// Deletes the item with a key, or all. Returns the remaining items.
    ///
    /// # Errors
    /// As [`storage`](Self::storage).
    pub fn delete_storage(
        &self,
        storage: Storage,
        key: Option<&str>,
        deadline: Deadline<'_>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let args = key.map_or_else(|| json!({ "clear": true }), |key| json!({ "remove": key }));
        self.storage_call(storage, args, deadline)
    }

    fn storage_call(
        &self,
        storage: Storage,
        mut args: Value,
        deadline: Deadline<'_>,
    ) -> Result<BTreeMap<String, String>, Error> {
        if let Some(args) = args.as_object_mut() {
            args.insert("session".to_owned(), (storage == Storage::Session).into());
        }
        self.arrived(deadline)?;
        let (_, reply) = self.call::<StorageReply>(&self.top()?, "storage", &args, deadline)?;
        let reply = reply.result;
        if let Some(why) = reply.none {
            return Err(Error::NoStorage { kind: storage.name(), origin: reply.origin, why });
        }
        if let Some(key) = reply.full {
            let key: String = key.chars().take(80).collect();
            let problem = format!("{} has no space left for {key:?}; delete items first", storage.name());
            return Err(Error::BadRequest { problem });
        }
        Ok(reply.items.unwrap_or_default().into_iter().collect())
    }
}
