//! State as JSON: own format, and Playwright's `storageState`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{LoginState, OriginState, STATE_FORMAT, STATE_VERSION, Skipped, StateCookie, origins};
use crate::page::Error;
use crate::supervisor::http_origin;

/// Maximum number of cookies and origins of a state.
const MOST_COOKIES: usize = 20_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    cookies: Option<Vec<StateCookie>>,
    #[serde(default)]
    origins: Option<Vec<ReadOrigin>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReadOrigin {
    origin: String,
    #[serde(default)]
    local_storage: Option<Items>,
    #[serde(default)]
    local_storage_partial: bool,
    #[serde(default)]
    session_storage: Option<Items>,
    #[serde(default)]
    indexed_db: Vec<Value>,
    /// Playwright's field.
    #[serde(default, rename = "indexedDB")]
    foreign_databases: Vec<serde::de::IgnoredAny>,
}

/// Items by key, or Playwright's `[{name, value}]`.
struct Items(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Item {
            name: String,
            value: String,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Map(BTreeMap<String, String>),
            List(Vec<Item>),
        }
        // The message of an untagged enum is useless, and a part of it could contain a value.
        Ok(Self(match Any::deserialize(deserializer) {
            Ok(Any::Map(map)) => map,
            Ok(Any::List(list)) => list.into_iter().map(|item| (item.name, item.value)).collect(),
            Err(_) => {
                return Err(serde::de::Error::custom("items must be an object of strings, or a list of {name, value}"));
            }
        }))
    }
}

impl LoginState {
    /// Reads a state: own format, or Playwright's `storageState`.
    ///
    /// # Errors
    /// [`Error::BadRequest`] with the path of the invalid field, without its value.
    pub fn from_json(json: Value) -> Result<Self, Error> {
        let bad = |problem: String| Error::BadRequest { problem };
        let is_object = json.is_object();
        let read: Read = serde_path_to_error::deserialize(json).map_err(|error| {
            // Messages of serde may contain values.
            let at = error.path().to_string();
            let location = if at == "." { String::new() } else { format!(" at {at}") };
            bad(format!("the state cannot be read{location}: a field is missing or has the wrong type"))
        })?;
        match (read.format.as_deref(), read.version) {
            (Some(STATE_FORMAT), Some(version)) if version == u64::from(STATE_VERSION) => {}
            (Some(STATE_FORMAT), version) => {
                let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
                return Err(bad(format!(
                    "the state has version {version}, but only version {STATE_VERSION} is supported; use the version of cdpilot that wrote it"
                )));
            }
            (None, _) if is_object && read.cookies.is_some() && read.origins.is_some() => {}
            _ => {
                let what = "the state is neither a login state of cdpilot nor a storageState of Playwright";
                return Err(bad(format!("{what}; `cdpilot state save` writes one")));
            }
        }
        let (cookies, origins) = (read.cookies.unwrap_or_default(), read.origins.unwrap_or_default());
        if cookies.len() > MOST_COOKIES || origins.len() > origins::MAX_ORIGINS {
            return Err(bad(format!(
                "the state has {} cookies and {} origins; the maximum is {MOST_COOKIES} and {}",
                cookies.len(),
                origins.len(),
                origins::MAX_ORIGINS
            )));
        }
        let origins = origins.into_iter().enumerate().map(|(index, read)| {
            let origin = http_origin(&read.origin)
                .ok_or_else(|| bad(format!("origins[{index}].origin is not an http or https origin")))?;
            let foreign = read.foreign_databases.len() as u64;
            let reason = "databases in Playwright's format are not supported";
            let unread = (foreign > 0).then(|| Skipped {
                what: "IndexedDB".to_owned(),
                reason: reason.to_owned(),
                count: foreign,
            });
            Ok(OriginState {
                origin,
                local_storage: read.local_storage.map(|Items(items)| items),
                local_storage_partial: read.local_storage_partial,
                session_storage: read.session_storage.map(|Items(items)| items).unwrap_or_default(),
                indexed_db: read.indexed_db,
                unread: unread.into_iter().collect(),
            })
        });
        Ok(Self::new(cookies, origins.collect::<Result<_, Error>>()?))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::page::SameSite;

    #[test]
    fn a_state_is_read_as_it_was_written() {
        let json = json!({
            "format": "cdpilot-state", "version": 1,
            "cookies": [{
                "name": "a", "value": "1", "domain": ".x.test", "path": "/p", "httpOnly": true, "secure": true,
                "sameSite": "None", "partitionKey": {"topLevelSite": "https://top.test", "hasCrossSiteAncestor": true},
                "sourcePort": 8443, "sourceSecure": true,
            }],
            "origins": [{
                "origin": "https://x.test", "localStorage": {"k": "v"}, "sessionStorage": {"s": "t"},
                "indexedDb": [{"name": "d", "version": 2, "stores": []}],
            }],
        });
        let state = LoginState::from_json(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&state).unwrap(), json);
        let shown = format!("{state:?} {:?} {:?}", state.cookies, state.origins);
        assert!(!shown.contains("\"1\"") && !shown.contains("\"v\""), "{shown}");
    }

    #[test]
    fn playwrights_state_is_read() {
        let state = LoginState::from_json(json!({
            "cookies": [{"name": "a", "value": "1", "domain": "x.test", "path": "/", "expires": -1, "httpOnly": false,
                "secure": true, "sameSite": "Lax", "partitionKey": "https://top.test", "_crHasCrossSiteAncestor": true}],
            "origins": [{"origin": "https://x.test", "localStorage": [{"name": "k", "value": "v"}], "indexedDB": [{"name": "d"}]}],
        }))
        .unwrap();
        let cookie = &state.cookies[0];
        assert_eq!((cookie.cookie.expires, cookie.cookie.same_site), (None, Some(SameSite::Lax)));
        let key = cookie.partition_key.as_ref().unwrap();
        assert!(key.has_cross_site_ancestor && key.top_level_site == "https://top.test");
        let origin = &state.origins[0];
        assert_eq!(origin.local_storage.as_ref().unwrap()["k"], "v");
        assert!(origin.indexed_db.is_empty() && origin.unread[0].count == 1);
    }

    #[test]
    fn what_is_no_state_is_refused_without_its_values() {
        for bad in [
            json!([]),
            json!("s3cret"),
            json!({}),
            json!({"cookies": []}),
            json!({"format": "other", "version": 1, "cookies": [], "origins": []}),
            json!({"format": "cdpilot-state", "version": 2, "cookies": [], "origins": []}),
            json!({"format": "cdpilot-state", "cookies": [], "origins": []}),
            json!({"cookies": [{"name": "a", "value": {"s3cret": 1}, "domain": "x"}], "origins": []}),
            json!({"cookies": [{"name": "a", "value": "s3cret", "domain": 1}], "origins": []}),
            json!({"cookies": [], "origins": [{"origin": "https://x", "localStorage": ["s3cret"]}]}),
            json!({"cookies": [], "origins": [{"origin": "javascript:s3cret"}]}),
            json!({"cookies": "s3cret", "origins": []}),
        ] {
            let error = LoginState::from_json(bad.clone()).unwrap_err();
            assert!(error.code() == "BAD_REQUEST" && !error.to_string().contains("s3cret"), "{bad}: {error}");
        }
    }
}
