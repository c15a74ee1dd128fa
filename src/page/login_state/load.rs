//! Restoring a state in a browser.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::save::Hidden;
use super::{LoginState, OriginReport, OriginState, SessionRestore, Skipped};
use crate::cdp::protocol::page::AddScriptToEvaluateOnNewDocument;
use crate::page::{Error, Storage, Tab, Tabs};
use crate::supervisor::{TargetId, http_origin};
use crate::sync::Deadline;

/// Maximum number of pending cookie commands.
const AT_ONCE: usize = 200;
/// Maximum length of reported names, in characters.
const SHOWN: usize = 200;
/// The world in which session storage is restored: scripts of the page cannot interfere.
const WORLD: &str = "cdpilot-state";

/// Summary of a restored login state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadedState {
    /// Number of cookies set.
    pub cookies: usize,
    /// Cookies that were refused.
    pub rejected_cookies: Vec<RejectedCookie>,
    /// What was restored of each origin, and what was left out.
    pub origins: Vec<OriginReport>,
}

/// A cookie that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RejectedCookie {
    /// The name, at most 200 characters.
    pub name: String,
    /// The domain, at most 200 characters.
    pub domain: String,
    /// Why the browser or a check refused the cookie.
    pub problem: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RestoreReply {
    origin: String,
    #[serde(default)]
    local_storage: usize,
    #[serde(default)]
    databases: usize,
    #[serde(default)]
    skipped: Vec<Skipped>,
}

impl Tabs {
    /// Restores a state in a tab's browser context. Cookies of the same name, domain and path are overwritten, others
    /// stay; `localStorage` and the databases of each origin in the state are replaced. `sessionStorage` is restored in
    /// the tab: at once when it shows the origin, otherwise when it next does. Nothing is sent over the network; open
    /// pages use the cookies with their next request.
    ///
    /// # Errors
    /// [`Error::Supervisor`]. Anything that cannot be restored is reported instead.
    pub fn load_state(&self, tab: &TargetId, state: &LoginState, deadline: Deadline<'_>) -> Result<LoadedState, Error> {
        let into = self.tab(tab)?;
        let (cookies, rejected_cookies) = into.set_state_cookies(state, deadline)?;
        let now = self.supervisor().view();
        let shown: Vec<String> = self
            .pages_with(tab)
            .iter()
            .flat_map(|page| {
                now.frames_of(page.target_id.as_str()).filter_map(|f| http_origin(&f.origin)).collect::<Vec<_>>()
            })
            .collect();
        let mut hidden = Hidden { tabs: self, tab, page: None };
        let mut reports = Vec::new();
        for origin in &state.origins {
            let mut report = OriginReport::new(&origin.origin);
            report.skipped.extend(origin.unread.iter().cloned());
            if let Err(refused) = self.supervisor().check_origin(&format!("{}/", origin.origin)) {
                report.skipped.push(Skipped::one("origin", refused));
                reports.push(report);
                continue;
            }
            match write(&mut hidden, origin, shown.contains(&origin.origin), deadline) {
                Ok(Some(reply)) => {
                    (report.local_storage, report.databases) = (reply.local_storage, reply.databases);
                    report.skipped.extend(reply.skipped);
                }
                Ok(None) => {}
                Err(error) => report.skipped.push(Skipped::one("localStorage and IndexedDB", error)),
            }
            if !origin.session_storage.is_empty() {
                match into.restore_session(&origin.origin, &origin.session_storage, deadline) {
                    Ok(when) => {
                        report.session_storage = origin.session_storage.len();
                        report.session_restore = Some(when);
                    }
                    Err(error) => report.skipped.push(Skipped::one("sessionStorage", error)),
                }
            }
            reports.push(report);
        }
        Ok(LoadedState { cookies, rejected_cookies, origins: reports })
    }
}

/// Restores the data of an origin that does not belong to a tab.
fn write(
    hidden: &mut Hidden<'_>,
    origin: &OriginState,
    in_use: bool,
    deadline: Deadline<'_>,
) -> Result<Option<RestoreReply>, Error> {
    if origin.local_storage.is_none() && origin.indexed_db.is_empty() {
        return Ok(None);
    }
    let items: Option<Vec<_>> = origin.local_storage.as_ref().map(|items| items.iter().collect());
    let ask = json!({
        "origin": origin.origin, "localStorage": items, "partial": origin.local_storage_partial, "databases": origin.indexed_db, "inUse": in_use, "room": 0,
    });
    let reply: RestoreReply = hidden.call(&origin.origin, &ask, deadline)?;
    if reply.origin != origin.origin {
        let problem = "the browser shows another origin instead".to_owned();
        return Err(crate::supervisor::Error::NotShown { origin: origin.origin.clone(), problem }.into());
    }
    Ok(Some(reply))
}

impl Tab {
    fn set_state_cookies(
        &self,
        state: &LoginState,
        deadline: Deadline<'_>,
    ) -> Result<(usize, Vec<RejectedCookie>), Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let (mut set, mut rejected) = (0, Vec::new());
        let mut reject = |cookie: &super::StateCookie, problem: String| {
            let short = |text: &str| text.chars().take(SHOWN).collect();
            let (name, domain) = (short(&cookie.cookie.name), short(&cookie.cookie.domain));
            rejected.push(RejectedCookie { name, domain, problem });
        };
        let mut good = Vec::new();
        for cookie in &state.cookies {
            match cookie.problem(now) {
                Some(problem) => reject(cookie, problem.to_owned()),
                None => good.push(cookie),
            }
        }
        for some in good.chunks(AT_ONCE) {
            let calls = some.iter().map(|cookie| (self.page(), cookie.command())).collect();
            for (cookie, outcome) in some.iter().zip(self.supervisor.session_calls(calls, deadline)) {
                match outcome {
                    Ok(done) if done.result.success => set += 1,
                    Ok(_) => reject(cookie, "the browser refuses it".to_owned()),
                    Err(crate::supervisor::Error::Cdp(crate::cdp::Error::Protocol { .. })) => {
                        reject(cookie, "the browser reports that it is invalid".to_owned());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok((set, rejected))
    }

    /// Restores the tab's session storage of an origin.
    fn restore_session(
        &self,
        origin: &str,
        items: &BTreeMap<String, String>,
        deadline: Deadline<'_>,
    ) -> Result<SessionRestore, Error> {
        let now = self.supervisor.view();
        let top = now.page(self.target.as_str()).and_then(|page| page.top_frame.clone());
        let top = top.and_then(|top| now.frame(top.as_str()).and_then(|frame| http_origin(&frame.origin)));
        if top.as_deref() == Some(origin) {
            self.delete_storage(Storage::Session, None, deadline)?;
            self.set_storage(Storage::Session, items, deadline)?;
            return Ok(SessionRestore::Now);
        }
        let items: Vec<_> = items.iter().collect();
        let script = format!(
            "(() => {{ try {{ if (self !== top || self.origin !== {origin} || sessionStorage.length) return; \
             for (const [key, value] of {items}) sessionStorage.setItem(key, value); }} catch {{}} }})()",
            origin = json!(origin),
            items = json!(items),
        );
        let mut add = AddScriptToEvaluateOnNewDocument::new(script);
        add.world_name = Some(WORLD.to_owned());
        let script = self.supervisor.call(&self.page(), &add, deadline)?.result.identifier;
        self.supervisor.remove_script_at(&self.target, origin, script, deadline)?;
        Ok(SessionRestore::NextVisit)
    }
}
