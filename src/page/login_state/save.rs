//! From a browser to a state.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{LoginState, OriginReport, OriginState, SCRIPT, Skipped, StateCookie, origins};
use crate::page::{Error, Storage, Tabs};
use crate::supervisor::{HiddenPage, TargetId};
use crate::sync::Deadline;

/// Room for what all origins store, bytes of JSON.
const ROOM: u64 = 16 << 20;
/// Room for a whole state, bytes of JSON: less than `POST /state/load` takes.
const WHOLE: u64 = 46 << 20;
/// How long one tab may take to tell its session storage.
const TAB: Duration = Duration::from_secs(3);

/// What is saved.
#[derive(Debug, Clone, Default)]
pub struct SaveState {
    /// These origins only, and the cookies that are sent to them. Empty: all that are known.
    pub origins: Vec<String>,
}

/// A state, and what is in it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub struct SavedState {
    /// The state. It holds secrets.
    pub state: LoginState,
    /// How many cookies it has.
    pub cookies: usize,
    /// What was saved of each origin, and what was left out. Origins that store nothing are left out.
    pub origins: Vec<OriginReport>,
    /// Cookies that were left out.
    pub skipped: Vec<Skipped>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
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

/// An origin on the way, and whether it has databases that are to be read.
struct Reading {
    state: OriginState,
    report: OriginReport,
    has_databases: bool,
}

impl Tabs {
    /// Reads the cookies of a tab's browser context and what its origins store. Tabs are not disturbed, and nothing is
    /// sent over the network: `localStorage` and IndexedDB are read in empty documents that a hidden page shows. Origins
    /// that the navigation policy refuses, and what cannot be held, are reported. `sessionStorage` is that of the tab, or
    /// of the first other tab that shows the origin.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for what is no origin; [`Error::Supervisor`].
    pub fn save_state(&self, tab: &TargetId, what: &SaveState, deadline: Deadline) -> Result<SavedState, Error> {
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
        let beyond = all.len().saturating_sub(origins::MOST) as u64;
        all.truncate(origins::MOST);
        let cookies: Vec<StateCookie> = cookies.into_iter().map(StateCookie::from).collect();
        let mut room = ROOM.min(WHOLE.saturating_sub(size(&cookies)));
        let mut hidden = Hidden { tabs: self, tab, page: None };
        // What is small and holds most logins first: one large database leaves no room for anything else.
        let mut all: Vec<Reading> =
            all.iter().map(|origin| hidden.local_storage(origin, &mut room, deadline)).collect();
        self.add_sessions(&mut all, self.session_items(&pages, deadline), &mut room);
        for reading in all.iter_mut().filter(|reading| reading.has_databases) {
            match hidden.read("databases", &reading.state.origin, &mut room, deadline) {
                Ok(told) => {
                    reading.state.indexed_db = told.databases;
                    reading.report.skipped.extend(told.skipped);
                }
                Err(error) => reading.report.skipped.push(Skipped::one("IndexedDB", error)),
            }
        }
        let (mut states, mut reports) = (Vec::new(), Vec::new());
        for Reading { state, mut report, .. } in all {
            report.local_storage = state.local_storage.as_ref().map_or(0, BTreeMap::len);
            (report.session_storage, report.databases) = (state.session_storage.len(), state.indexed_db.len());
            let is_told = !report.skipped.is_empty();
            if !state.is_empty() {
                states.push(state);
                reports.push(report);
            } else if is_told {
                reports.push(report);
            }
        }
        let mut skipped = Vec::new();
        if opaque > 0 {
            let reason = "cookies of an opaque partition, which no other browser has".to_owned();
            skipped.push(Skipped { what: "cookies".to_owned(), reason, count: opaque });
        }
        if beyond > 0 {
            let reason = format!("more than {} origins; name the ones that matter", origins::MOST);
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

    /// The session storage of each origin that a tab shows: of the first one that has any.
    fn session_items(&self, pages: &[crate::supervisor::PageView], deadline: Deadline) -> Sessions {
        let now = self.supervisor().view();
        let mut all = Sessions::new();
        for page in pages {
            let top = page.top_frame.as_ref().and_then(|top| now.frame(top.as_str()));
            let Some(origin) = top.and_then(|top| origins::origin_of(&top.origin)) else { continue };
            if matches!(all.get(&origin), Some(Ok(items)) if !items.is_empty()) {
                continue;
            }
            let told =
                self.tab(&page.target_id).and_then(|tab| tab.storage(Storage::Session, None, deadline.within(TAB)));
            match told {
                Ok(items) => drop(all.insert(origin, Ok(items))),
                Err(error) => {
                    all.entry(origin).or_insert_with(|| Err(Skipped::one("sessionStorage", error)));
                }
            }
        }
        all
    }
}

/// The bytes of something as JSON.
fn size(value: &impl Serialize) -> u64 {
    serde_json::to_string(value).map_or(u64::MAX, |text| text.len() as u64)
}

/// The hidden page, opened when it is needed.
pub(super) struct Hidden<'a> {
    pub(super) tabs: &'a Tabs,
    /// A tab of the browser context.
    pub(super) tab: &'a TargetId,
    pub(super) page: Option<HiddenPage<'a>>,
}

impl<'a> Hidden<'a> {
    /// Shows an empty document of an origin.
    pub(super) fn show(&mut self, origin: &str, deadline: Deadline) -> Result<&HiddenPage<'a>, Error> {
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
        page.show(origin, deadline)?; // one that fails is given up
        Ok(self.page.insert(page))
    }

    /// Calls our script in a document of an origin.
    pub(super) fn call<T: serde::de::DeserializeOwned>(
        &mut self,
        origin: &str,
        ask: &Value,
        deadline: Deadline,
    ) -> Result<T, Error> {
        let unread = |problem: String| Error::Internal { frame: "of a hidden page".to_owned(), problem };
        let argument = serde_json::value::to_raw_value(ask).map_err(|error| unread(error.to_string()))?;
        let told = self.show(origin, deadline)?.call(SCRIPT, argument, deadline);
        if told.is_err() {
            self.page = None;
        }
        // No sentence of serde: it could show what it found.
        serde_json::from_str(told?.get()).map_err(|_| unread("its answer has another form".to_owned()))
    }

    /// Reads the `localStorage` of an origin.
    fn local_storage(&mut self, origin: &str, room: &mut u64, deadline: Deadline) -> Reading {
        let (mut state, mut report) = (OriginState::new(origin), OriginReport::new(origin));
        let has_databases = match self.read("localStorage", origin, room, deadline) {
            Ok(told) => {
                state.local_storage = told.local_storage.map(|items| items.into_iter().collect());
                state.local_storage_partial = told.partial && state.local_storage.is_some();
                report.skipped = told.skipped;
                told.has_databases
            }
            Err(error) => {
                report.skipped.push(Skipped::one("origin", error));
                false
            }
        };
        Reading { state, report, has_databases }
    }

    /// Reads a part of what an origin stores, and takes its size from the room that is left.
    fn read(&mut self, part: &str, origin: &str, room: &mut u64, deadline: Deadline) -> Result<Told, Error> {
        let ask = json!({ "read": part, "origin": origin, "room": *room });
        let told: Told = self.call(origin, &ask, deadline)?;
        if told.origin != origin {
            let shown = crate::supervisor::Error::NotShown {
                origin: origin.to_owned(),
                problem: "the browser shows another origin instead".to_owned(),
            };
            return Err(shown.into());
        }
        *room = told.room;
        Ok(told)
    }
}
