//! Saving the state of a browser.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LoginState, OriginReport, OriginState, SCRIPT, Skipped, StateCookie, origins};
use crate::page::{Error, Storage, Tabs};
use crate::setters;
use crate::supervisor::{HiddenPage, TargetId, http_origin};
use crate::sync::Deadline;

/// Maximum size of the storage of all origins, in bytes of JSON.
const MAX_STORAGE: u64 = 16 << 20;
/// Maximum size of a whole state, in bytes of JSON: below the body limit of `POST /state/load`.
const MAX_STATE: u64 = 46 << 20;
/// How long reading the session storage of one tab may take.
const TAB: Duration = Duration::from_secs(3);

/// Which part of a login state to save.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SaveState {
    /// Only these origins, and the cookies that are sent to them. Empty: all known origins.
    pub origins: Vec<String>,
}

impl SaveState {
    /// Saves the state of all origins that the tab shows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { SaveState:
    origins(each String),
}

/// A saved state with its summary.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SavedState {
    /// The state, to write to a file. It contains secrets: cookies and storage.
    pub state: LoginState,
    /// Number of cookies in the state.
    pub cookies: usize,
    /// What was saved of each origin, and what was left out. Origins without data are absent.
    pub origins: Vec<OriginReport>,
    /// Cookies that were left out.
    pub skipped: Vec<Skipped>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OriginReply {
    origin: String,
    local_storage: Option<Vec<(String, String)>>,
    #[serde(default)]
    partial: bool,
    #[serde(default)]
    has_databases: bool,
    #[serde(default)]
    databases: Vec<Value>,
    #[serde(default)]
    skipped: Vec<Skipped>,
    #[serde(default)]
    room: u64,
}

/// Items of session storage by origin, or why they could not be read.
type Sessions = BTreeMap<String, Result<BTreeMap<String, String>, Skipped>>;

/// An origin being read, and whether it has databases to read.
struct Reading {
    state: OriginState,
    report: OriginReport,
    has_databases: bool,
}

impl Tabs {
    /// Reads the cookies of a tab's browser context and the storage of its origins. Does not disturb tabs or send
    /// anything over the network: `localStorage` and IndexedDB are read in empty documents of a hidden page. Origins
    /// that the navigation policy refuses, and data that a state cannot hold, are reported. `sessionStorage` is that of
    /// the tab, or of the first other tab that shows the origin.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for an invalid origin; [`Error::Supervisor`].
    pub fn save_state(&self, tab: &TargetId, what: &SaveState, deadline: Deadline<'_>) -> Result<SavedState, Error> {
        let named = origins::named(&what.origins)?;
        let mut cookies = self.tab(tab)?.all_cookies(deadline)?;
        let opaque = cookies.iter().filter(|cookie| cookie.partition_key_opaque == Some(true)).count() as u64;
        cookies.retain(|cookie| cookie.partition_key_opaque != Some(true));
        let pages = self.pages_with(tab);
        let mut all = match named.is_empty() {
            true => self.known_origins(&pages, &cookies, deadline),
            false => {
                cookies.retain(|cookie| origins::is_sent_to(&cookie.domain, &named));
                named
            }
        };
        let beyond = all.len().saturating_sub(origins::MAX_ORIGINS) as u64;
        all.truncate(origins::MAX_ORIGINS);
        let cookies: Vec<StateCookie> = cookies.into_iter().map(StateCookie::from).collect();
        let mut room = MAX_STORAGE.min(MAX_STATE.saturating_sub(size(&cookies)));
        let mut hidden = Hidden { tabs: self, tab, page: None };
        // Small data with most logins first: one large database would leave no room for anything else.
        let mut all: Vec<Reading> =
            all.iter().map(|origin| hidden.local_storage(origin, &mut room, deadline)).collect();
        self.add_sessions(&mut all, self.session_items(&pages, deadline), &mut room);
        for reading in all.iter_mut().filter(|reading| reading.has_databases) {
            match hidden.read("databases", &reading.state.origin, &mut room, deadline) {
                Ok(reply) => {
                    reading.state.indexed_db = reply.databases;
                    reading.report.skipped.extend(reply.skipped);
                }
                Err(error) => reading.report.skipped.push(Skipped::one("IndexedDB", error)),
            }
        }
        let (mut states, mut reports) = (Vec::new(), Vec::new());
        for Reading { state, mut report, .. } in all {
            report.local_storage = state.local_storage.as_ref().map_or(0, BTreeMap::len);
            (report.session_storage, report.databases) = (state.session_storage.len(), state.indexed_db.len());
            let has_skipped = !report.skipped.is_empty();
            if !state.is_empty() {
                states.push(state);
                reports.push(report);
            } else if has_skipped {
                reports.push(report);
            }
        }
        let mut skipped = Vec::new();
        if opaque > 0 {
            let reason = "cookies of an opaque partition, which cannot be restored in another browser".to_owned();
            skipped.push(Skipped { what: "cookies".to_owned(), reason, count: opaque });
        }
        if beyond > 0 {
            let reason = format!("more than {} origins; give the origins to save", origins::MAX_ORIGINS);
            skipped.push(Skipped { what: "origins".to_owned(), reason, count: beyond });
        }
        let count = cookies.len();
        Ok(SavedState { state: LoginState::new(cookies, states), cookies: count, origins: reports, skipped })
    }

    /// Adds the session storage of origins, as far as there is room.
    fn add_sessions(&self, all: &mut [Reading], mut sessions: Sessions, room: &mut u64) {
        for Reading { state, report, .. } in all {
            let items = match sessions.remove(&state.origin) {
                Some(_) if self.supervisor().check_origin(&format!("{}/", state.origin)).is_err() => continue,
                Some(Ok(items)) => items,
                Some(Err(skipped)) => {
                    report.skipped.push(skipped);
                    continue;
                }
                None => continue,
            };
            match room.checked_sub(size(&items)) {
                Some(left) => {
                    *room = left;
                    state.session_storage = items;
                }
                None => report.skipped.push(Skipped {
                    what: "sessionStorage".to_owned(),
                    reason: "the state would be too large".to_owned(),
                    count: items.len() as u64,
                }),
            }
        }
    }

    /// The session storage of each origin that a tab shows: of the first tab that has any.
    fn session_items(&self, pages: &[crate::supervisor::PageView], deadline: Deadline<'_>) -> Sessions {
        let now = self.supervisor().view();
        let mut all = Sessions::new();
        for page in pages {
            let top = page.top_frame.as_ref().and_then(|top| now.frame(top.as_str()));
            let Some(origin) = top.and_then(|top| http_origin(&top.origin)) else { continue };
            if matches!(all.get(&origin), Some(Ok(items)) if !items.is_empty()) {
                continue;
            }
            let reply =
                self.tab(&page.target_id).and_then(|tab| tab.storage(Storage::Session, None, deadline.within(TAB)));
            match reply {
                Ok(items) => drop(all.insert(origin, Ok(items))),
                Err(error) => {
                    all.entry(origin).or_insert_with(|| Err(Skipped::one("sessionStorage", error)));
                }
            }
        }
        all
    }
}

/// The size of a value as JSON, in bytes.
fn size(value: &impl Serialize) -> u64 {
    serde_json::to_string(value).map_or(u64::MAX, |text| text.len() as u64)
}

/// The hidden page, opened on demand.
pub(super) struct Hidden<'a> {
    pub(super) tabs: &'a Tabs,
    /// A tab of the browser context.
    pub(super) tab: &'a TargetId,
    pub(super) page: Option<HiddenPage<'a>>,
}

impl<'a> Hidden<'a> {
    /// Shows an empty document of an origin.
    pub(super) fn show(&mut self, origin: &str, deadline: Deadline<'_>) -> Result<&HiddenPage<'a>, Error> {
        let supervisor = self.tabs.supervisor();
        supervisor.check_origin(&format!("{origin}/"))?;
        let page = match self.page.take() {
            Some(page) => page,
            None => {
                let now = supervisor.view();
                let context = now.page(self.tab.as_str()).and_then(|page| page.context.clone());
                supervisor.open_hidden(context, deadline)?
            }
        };
        page.show(origin, deadline)?; // a page that fails is dropped
        Ok(self.page.insert(page))
    }

    /// Calls the script in a document of an origin.
    pub(super) fn call<T: serde::de::DeserializeOwned>(
        &mut self,
        origin: &str,
        ask: &Value,
        deadline: Deadline<'_>,
    ) -> Result<T, Error> {
        let unread = |problem: String| Error::Internal { frame: "of a hidden page".to_owned(), problem };
        let argument = serde_json::value::to_raw_value(ask).map_err(|error| unread(error.to_string()))?;
        let reply = self.show(origin, deadline)?.call(SCRIPT, argument, deadline);
        if reply.is_err() {
            self.page = None;
        }
        // No message of serde: it could contain values.
        serde_json::from_str(reply?.get()).map_err(|_| unread("its answer has an unexpected format".to_owned()))
    }

    /// Reads the `localStorage` of an origin.
    fn local_storage(&mut self, origin: &str, room: &mut u64, deadline: Deadline<'_>) -> Reading {
        let (mut state, mut report) = (OriginState::new(origin), OriginReport::new(origin));
        let has_databases = match self.read("localStorage", origin, room, deadline) {
            Ok(reply) => {
                state.local_storage = reply.local_storage.map(|items| items.into_iter().collect());
                state.local_storage_partial = reply.partial && state.local_storage.is_some();
                report.skipped = reply.skipped;
                reply.has_databases
            }
            Err(error) => {
                report.skipped.push(Skipped::one("origin", error));
                false
            }
        };
        Reading { state, report, has_databases }
    }

    /// Reads one kind of storage of an origin, and subtracts its size from the remaining room.
    fn read(&mut self, part: &str, origin: &str, room: &mut u64, deadline: Deadline<'_>) -> Result<OriginReply, Error> {
        let ask = json!({ "read": part, "origin": origin, "room": *room });
        let reply: OriginReply = self.call(origin, &ask, deadline)?;
        if reply.origin != origin {
            let shown = crate::supervisor::Error::NotShown {
                origin: origin.to_owned(),
                problem: "the browser shows another origin instead".to_owned(),
            };
            return Err(shown.into());
        }
        *room = reply.room;
        Ok(reply)
    }
}
