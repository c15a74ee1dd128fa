//! A session: a client of the browsers, with its own current tab, its own tabs and its own state.
//!
//! A [`Profile`](super::Profile) handle is for one session ([`Profile::for_session`](super::Profile::for_session)), so
//! that a session is passed as a value wherever tabs are concerned. [`PerSession`] keeps other state, of tools for
//! example, by session.
//!
//! A session is an MCP connection, a conversation, or whoever sends `X-Cdpilot-Session` (`--session`). Requests without
//! one share the default session of the profile. While a session is opening a tab, a page without an opener is shown to
//! no other session until it is known whose it is. Armed answers carry the name of their session, so that two sessions
//! that share a tab do not replace each other's answers. An isolated session opens its tabs in its own browser context,
//! which is disposed of when the session ends.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::actions::Noted;
use super::{Error, Hosts, Profile, Running, tab_index};
use crate::http::proxy::Proxy;
use cdpilot::browser::Context;
use cdpilot::page::{Emulation, Viewport};
use cdpilot::supervisor::{BrowserContextId, ClosedDialog, Supervisor, TargetId};
use cdpilot::sync::Deadline;

/// Time limit for setting the viewport of a tab.
const FIT: Duration = Duration::from_secs(2);
/// Length of the prefix of a generated id that names a session in the event log.
const SHORT: usize = 8;

/// A client of the browsers with a current tab of its own. The default session of a profile is shared by all callers
/// without one. Clones are the same session; when the last one is dropped, the session's state is dropped and its tabs
/// are left without an owner.
///
/// ```
/// use cdpilot_server::control::Session;
///
/// let session = Session::new();
/// assert_ne!(session, Session::default());
/// assert!(Session::default().is_default());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Session(Option<Arc<Client>>);

/// Watches the requests of the pages of a session.
pub trait WatchRequests: Send + Sync {
    /// The session is about to have its first page in a browser. Pages that are assigned to the client
    /// ([`Supervisor::assign_page`]) are its own.
    ///
    /// # Errors
    /// The page is not opened.
    fn watch(&self, supervisor: &Supervisor, client: &Arc<str>, deadline: Deadline<'_>) -> Result<(), Error>;
}

/// State of a session. Its locks are held for one map operation.
pub(super) struct Client {
    id: String,
    /// Distinguishes it from all other sessions of this process: a name and the id of a connection may be equal.
    key: Arc<str>,
    /// How the event log names it.
    actor: String,
    is_isolated: bool,
    /// Whether it uses the default browser context of an endpoint that refuses others.
    may_share: bool,
    /// Width and height of its tabs in browsers without a window, in CSS pixels.
    viewport: Option<(u32, u32)>,
    /// The hosts that it may reach; `None`: all.
    hosts: Option<Hosts>,
    /// Watches the requests of its pages.
    watcher: Option<Arc<dyn WatchRequests>>,
    /// What it has done in pages; `None` if that is not noted.
    pub(super) noted: Option<Noted>,
    /// Whether its idle tabs stay open.
    is_kept: AtomicBool,
    profiles: Mutex<HashMap<u64, InProfile>>,
    /// What [`PerSession`] keeps, by its number.
    state: Mutex<HashMap<u64, Arc<dyn Any + Send + Sync>>>,
}

/// What a session keeps of one profile.
#[derive(Debug, Default)]
struct InProfile {
    current: Option<CurrentTab>,
    /// Closed dialogs that the client knows of.
    dialogs: Option<HashSet<DialogKey>>,
    /// Tab, URL and title that were reported to the client last.
    place: Option<(String, String, String)>,
    /// The browser context of an isolated session.
    context: Option<Arc<Context>>,
    /// The proxy of that context.
    proxy: Option<Proxy>,
    /// Whether the endpoint refused a browser context, so that the default one is used.
    is_sharing: bool,
    /// Tabs that have the viewport of the session.
    fitted: HashSet<TargetId>,
    /// Browser contexts that the session created by raw CDP commands.
    created_contexts: HashSet<String>,
}

/// Dialog ids restart with each start of the browser.
type DialogKey = (Arc<str>, u64);

/// The tab used when a request names none.
#[derive(Debug, Clone)]
pub(super) struct CurrentTab {
    pub(super) target: TargetId,
    /// Label or tab id.
    pub(super) name: String,
    /// Which start of the browser it belongs to.
    pub(super) run: u64,
}

impl Default for Client {
    fn default() -> Self {
        Self::new(String::new(), String::new(), false)
    }
}

impl std::fmt::Debug for Client {
    /// Without what other modules keep in it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("actor", &self.actor)
            .field("is_isolated", &self.is_isolated)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(this), Some(that)) => Arc::ptr_eq(this, that),
            _ => false,
        }
    }
}

impl Eq for Session {}

impl Session {
    /// A new session with a random id, without a current tab.
    #[must_use]
    pub fn new() -> Self {
        let id = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        Self::connection(&id)
    }

    /// The session of a connection. Its id is a credential of its client, so the event log contains only its first
    /// characters.
    pub(super) fn connection(id: &str) -> Self {
        let actor = id.chars().take(SHORT).collect();
        Self(Some(Arc::new(Client::new(id.to_owned(), actor, false))))
    }

    /// A session with a name that its user chose; an isolated one has its own browser context in each profile.
    pub(super) fn named(name: &str, is_isolated: bool) -> Self {
        Self(Some(Arc::new(Client::new(name.to_owned(), name.to_owned(), is_isolated))))
    }

    /// The session with a viewport for its tabs in browsers without a window, in CSS pixels. No effect on the default session,
    /// and when it is in use already.
    #[must_use]
    pub fn with_viewport(mut self, width: u32, height: u32) -> Self {
        if let Some(client) = self.0.as_mut().and_then(Arc::get_mut) {
            client.viewport = Some((width, height));
        }
        self
    }

    /// The session with the default browser context at endpoints that refuse other ones, instead of an error. No effect on the
    /// default session, and when it is in use already.
    #[must_use]
    pub fn may_share_context(mut self) -> Self {
        if let Some(client) = self.0.as_mut().and_then(Arc::get_mut) {
            client.may_share = true;
        }
        self
    }

    /// The session with a watcher of the requests of its pages, from before the first of them. No effect on the default session,
    /// and when it is in use already.
    #[must_use]
    pub fn watched_by(mut self, watcher: Arc<dyn WatchRequests>) -> Self {
        if let Some(client) = self.0.as_mut().and_then(Arc::get_mut) {
            client.watcher = Some(watcher);
        }
        self
    }

    /// The session with a browser context that reaches only these hosts.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a session without its own context, and for one that is in use already: it would not be limited.
    pub fn with_hosts(mut self, hosts: Hosts) -> Result<Self, Error> {
        match self.0.as_mut().and_then(Arc::get_mut).filter(|client| client.is_isolated) {
            Some(client) => client.hosts = Some(hosts),
            None => {
                let problem = "only a new session with a browser context of its own can be limited to hosts".to_owned();
                return Err(Error::Conflict { problem });
            }
        }
        Ok(self)
    }

    /// The hosts that it may reach; `None`: all.
    #[must_use]
    pub fn hosts(&self) -> Option<&Hosts> {
        self.0.as_ref().and_then(|client| client.hosts.as_ref())
    }

    /// Whether its idle tabs stay open, instead of being closed after `browser.tabs.idle_minutes`.
    pub fn keep_tabs(&self, is_kept: bool) {
        if let Some(client) = &self.0 {
            client.is_kept.store(is_kept, Ordering::Relaxed);
        }
    }

    /// The id or name by which requests to a server select it; empty for the default session.
    #[must_use]
    pub fn id(&self) -> &str {
        self.0.as_ref().map_or("", |client| &client.id)
    }

    /// How the event log names it: its name, or the first 8 characters of a generated id. `None` for the default
    /// session.
    #[must_use]
    pub fn actor(&self) -> Option<&str> {
        self.0.as_ref().map(|client| &*client.actor)
    }

    /// Whether it is the default session.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it has its own browser context: cookies, storage and cache.
    #[must_use]
    pub fn is_isolated(&self) -> bool {
        self.0.as_ref().is_some_and(|client| client.is_isolated)
    }

    /// Distinguishes it from all other sessions; `None` for the default session.
    pub(crate) fn key(&self) -> Option<Arc<str>> {
        self.0.as_ref().map(|client| Arc::clone(&client.key))
    }

    /// Whether nothing is kept for it and nobody else holds it: `held` handles are the caller's.
    pub(super) fn is_unused(&self, held: usize) -> bool {
        self.0.as_ref().is_some_and(|client| {
            Arc::strong_count(client) <= held
                && client.state.lock().is_empty()
                && client.profiles.lock().values().all(|of| of.current.is_none() && of.context.is_none())
        })
    }

    /// Whether somebody holds it beyond the caller's `held` handles: a request that is being handled.
    pub(super) fn is_in_use(&self, held: usize) -> bool {
        self.0.as_ref().is_some_and(|client| Arc::strong_count(client) > held)
    }

    /// Its state; `None` for the default session, whose state each profile keeps.
    pub(super) fn client(&self) -> Option<&Arc<Client>> {
        self.0.as_ref()
    }

    /// The state of a session that nobody else holds.
    pub(super) fn client_mut(&mut self) -> Option<&mut Client> {
        self.0.as_mut().and_then(Arc::get_mut)
    }
}

impl Client {
    fn new(id: String, actor: String, is_isolated: bool) -> Self {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let key = KEYS.fetch_add(1, Ordering::Relaxed).to_string().into();
        Self {
            id,
            key,
            actor,
            is_isolated,
            may_share: false,
            viewport: None,
            hosts: None,
            watcher: None,
            noted: None,
            is_kept: AtomicBool::new(false),
            profiles: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Whether its idle tabs stay open.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    pub(super) fn is_isolated(&self) -> bool {
        self.is_isolated
    }

    pub(super) fn tab(&self, profile: u64) -> Option<CurrentTab> {
        self.profiles.lock().get(&profile).and_then(|of| of.current.clone())
    }

    pub(super) fn set_tab(&self, profile: u64, tab: Option<CurrentTab>) {
        self.profiles.lock().entry(profile).or_default().current = tab;
    }
}

/// State per session, created on first use and dropped with the session.
pub struct PerSession<T> {
    key: u64,
    default: Arc<T>,
    make: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T: Send + Sync + 'static> PerSession<T> {
    /// State created by `make`, once for each session.
    pub fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        Self { key: KEYS.fetch_add(1, Ordering::Relaxed), default: Arc::new(make()), make: Box::new(make) }
    }

    /// The state of a session.
    pub fn of(&self, session: &Session) -> Arc<T> {
        let Some(client) = session.client() else { return Arc::clone(&self.default) };
        let made = client.state.lock().get(&self.key).cloned();
        let state = made.unwrap_or_else(|| {
            let new: Arc<dyn Any + Send + Sync> = Arc::new((self.make)());
            Arc::clone(client.state.lock().entry(self.key).or_insert(new))
        });
        // Only this value uses the key, so the type is T.
        state.downcast().unwrap_or_else(|_| Arc::clone(&self.default))
    }
}

impl<T> std::fmt::Debug for PerSession<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PerSession").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Profile {
    fn in_profile<T>(&self, work: impl FnOnce(&mut InProfile) -> T) -> T {
        let (client, profile) = self.core.tab_index.lock().client(&self.session);
        let mut profiles = client.profiles.lock();
        work(profiles.entry(profile).or_default())
    }

    /// Whether the session sees a tab, or the events of a recently closed one. While a session is opening the tab,
    /// waits for its owner until the deadline; `None` if it is unknown by then.
    #[must_use]
    pub fn sees(&self, target: &TargetId, deadline: Deadline<'_>) -> Option<bool> {
        if self.session.is_default() {
            return Some(true);
        }
        let pages = self.running().map(|running| Arc::clone(&running.view().pages)).ok();
        let mut index = self.core.tab_index.lock();
        loop {
            let is_visible = index.is_visible(&self.session, target, pages.as_deref());
            if is_visible.is_some() || deadline.passed() {
                return is_visible;
            }
            self.core.owner_known.wait_until(&mut index, deadline.next_check());
        }
    }

    /// Waits until a page is published. Returns whether it is by the deadline; true also when the browser is not
    /// running.
    #[must_use]
    pub fn wait_for_page(&self, target: &TargetId, deadline: Deadline<'_>) -> bool {
        let is_there = |now: &cdpilot::supervisor::View| now.page(target.as_str()).is_some();
        self.running().map_or(true, |running| running.supervisor().wait_until(deadline, is_there).is_some())
    }

    /// The browser context in which the session opens tabs; `None` for the default context.
    pub(super) fn context(&self, running: &Running, deadline: Deadline<'_>) -> Result<Option<BrowserContextId>, Error> {
        if !self.session.is_isolated() {
            return Ok(None);
        }
        let known = self.in_profile(|of| of.context.clone()).filter(|context| context.is_usable());
        if let Some(context) = known {
            return Ok(Some(context.id().clone()));
        }
        if let Some(hosts) = self.session.hosts() {
            return self.confined_context(running, hosts, deadline).map(Some);
        }
        let made = match running.supervisor().new_context(deadline) {
            Ok(made) => Arc::new(made),
            // The endpoint has no contexts, or allows none.
            Err(error) if error.is_refusal() && self.session.client().is_some_and(|client| client.may_share) => {
                self.in_profile(|of| of.is_sharing = true);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let id = made.id().clone();
        self.core.tab_index.lock().context_of(&self.session, id.clone());
        let before = self.in_profile(|of| of.context.replace(made));
        drop(before); // outside the lock: this sends a command
        Ok(Some(id))
    }

    /// A new browser context for the session that reaches only some hosts.
    fn confined_context(
        &self,
        running: &Running,
        hosts: &Hosts,
        deadline: Deadline<'_>,
    ) -> Result<BrowserContextId, Error> {
        if !running.facts.is_local {
            let problem = "this browser is on another machine, from which the proxy that would hold the conversation to its \
                 hosts cannot be reached; use a browser of this machine, or no hosts";
            return Err(Error::Conflict { problem: problem.to_owned() });
        }
        let proxy = hosts.proxy()?;
        let made = Arc::new(running.supervisor().new_context_behind(proxy.address(), deadline)?);
        let id = made.id().clone();
        self.core.tab_index.lock().context_of(&self.session, id.clone());
        let before = self.in_profile(|of| (of.context.replace(made), of.proxy.replace(proxy)));
        drop(before); // outside the lock: this sends a command and waits for a thread
        Ok(id)
    }

    /// Whether the session uses the default browser context, because the endpoint has refused another one.
    pub(crate) fn is_sharing_context(&self) -> bool {
        self.in_profile(|of| of.is_sharing)
    }

    /// Assigns a page to the session, whose watcher sees its requests from now on.
    ///
    /// # Errors
    /// Those of the watcher, and of assigning.
    pub(super) fn assign(&self, running: &Running, target: &TargetId, deadline: Deadline<'_>) -> Result<(), Error> {
        let Some(key) = self.session.key() else {
            return Ok(running.supervisor().assign_page(target, None, deadline)?);
        };
        let watcher = self.session.client().and_then(|client| client.watcher.as_ref());
        if let Some(watcher) = watcher.filter(|_| running.watched.lock().insert(Arc::clone(&key))) {
            let watched = watcher.watch(running.supervisor(), &key, deadline);
            watched.inspect_err(|_| {
                running.watched.lock().remove(&key);
            })?;
        }
        Ok(running.supervisor().assign_page(target, Some(key), deadline)?)
    }

    /// Gives a tab the viewport of the session, once, if the browser has no window. A failure is only logged.
    pub(super) fn fit(&self, running: &Running, target: &TargetId) {
        let Some((width, height)) = self.session.client().and_then(|client| client.viewport) else { return };
        let is_headless = running.facts.headless == Some(true);
        let is_blocked = running.view().dialogs.iter().any(|dialog| dialog.target_id == *target);
        if !is_headless || is_blocked || !self.in_profile(|of| of.fitted.insert(target.clone())) {
            return;
        }
        let now = running.view();
        self.in_profile(|of| of.fitted.retain(|known| known == target || now.page(known.as_str()).is_some()));
        let change = Emulation::new().viewport(Viewport::new(width, height));
        let fitted = running.tabs.tab(target).and_then(|tab| tab.emulate(&change, Deadline::after(FIT)));
        if let Err(problem) = fitted {
            tracing::debug!(%problem, "the viewport of a tab was not set");
            self.in_profile(|of| of.fitted.remove(target));
        }
    }

    /// Whether the session may use a browser context in raw CDP commands: its own one, and those that it created. The default
    /// session may use all.
    pub(super) fn may_use_context(&self, id: &str) -> bool {
        self.session.is_default()
            || self.in_profile(|of| {
                of.created_contexts.contains(id) || of.context.as_ref().is_some_and(|own| own.id().as_str() == id)
            })
    }

    /// Records a browser context that the session created by a raw CDP command.
    pub(super) fn created_context(&self, id: &str) {
        self.in_profile(|of| of.created_contexts.insert(id.to_owned()));
    }

    /// Whether a browser context is the own one of this isolated session.
    pub(super) fn is_own_context(&self, id: &str) -> bool {
        self.in_profile(|of| of.context.as_ref().is_some_and(|own| own.id().as_str() == id))
    }

    fn recent_dialogs(&self) -> Vec<ClosedDialog> {
        let Ok((_, recent)) = self.dialogs(None) else { return Vec::new() };
        recent
    }

    /// Begins a result for the session's client. Dialogs that closed before the first one are not reported as new.
    pub(crate) fn begin_result(&self) {
        let known = || self.recent_dialogs().iter().map(key).collect();
        if self.in_profile(|of| of.dialogs.is_none()) {
            let known = known();
            self.in_profile(|of| of.dialogs.get_or_insert(known).len());
        }
    }

    /// The dialogs that closed since the session last called this.
    pub(crate) fn new_recent_dialogs(&self) -> Vec<ClosedDialog> {
        let recent = self.recent_dialogs();
        let now: HashSet<DialogKey> = recent.iter().map(key).collect();
        let known = self.in_profile(|of| of.dialogs.replace(now)).unwrap_or_default();
        recent.into_iter().filter(|closed| !known.contains(&key(closed))).collect()
    }

    /// Whether tab, URL or title differ from those last reported to the client. Records them as reported.
    pub(crate) fn is_news(&self, target: &str, url: &str, title: &str) -> bool {
        let place = Some((target.to_owned(), url.to_owned(), title.to_owned()));
        self.in_profile(|of| {
            of.place != place && {
                of.place = place;
                true
            }
        })
    }

    /// Whether the session has no current tab, so that navigating needs a new one.
    pub(crate) fn needs_tab(&self) -> bool {
        let Ok(running) = self.running() else { return true };
        let now = running.view();
        let found = self.core.tab_index.lock().find(&self.session, None, true, &now.pages);
        let is_empty = !now.pages.iter().any(tab_index::is_shown);
        is_empty || matches!(found, Err(Error::NoTabOpen | Error::NoCurrentTab))
    }

    /// The tab ids of the open tabs that belong to the session.
    pub(super) fn owned_tabs(&self) -> Vec<String> {
        let Ok(running) = self.running() else { return Vec::new() };
        let now = running.view();
        let mut index = self.core.tab_index.lock();
        let owned = index.owned_by(&self.session, &now.pages);
        owned.iter().filter_map(|target| index.tab_id(target, &now.pages)).collect()
    }

    /// Closes the tabs of the session, and disposes of its browser context. Returns how many tabs it closed.
    pub(super) fn end_session(&self, deadline: Deadline<'_>) -> usize {
        let Ok(running) = self.running() else { return 0 };
        let mut closed = 0;
        // Its pages may open popups until they are closed.
        while !deadline.passed() {
            let owned = self.core.tab_index.lock().owned_by(&self.session, &running.view().pages);
            if owned.is_empty() {
                break;
            }
            closed += owned.iter().filter(|target| self.close(&running, target, deadline).is_ok()).count();
            // A popup of a closed page was created before the page closed; its attachment is reported by the time that the
            // supervisor answers.
            let _ = running.supervisor().browser_raw("Target.getTargets", &serde_json::Value::Null, deadline);
            let is_closed =
                |now: &cdpilot::supervisor::View| owned.iter().all(|target| now.page(target.as_str()).is_none());
            running.supervisor().wait_until(deadline, is_closed);
        }
        drop(self.in_profile(|of| of.context.take()));
        closed
    }
}

fn key(closed: &ClosedDialog) -> DialogKey {
    (Arc::clone(&closed.dialog.id), closed.closed_at.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_has_its_own_state_which_ends_with_it() {
        let state = PerSession::new(|| Mutex::new(0));
        let (first, second) = (Session::new(), Session::new());
        *state.of(&first).lock() += 1;
        *state.of(&Session::default()).lock() += 10;
        assert_eq!(*state.of(&first).lock(), 1);
        assert_eq!(*state.of(&first.clone()).lock(), 1);
        assert_eq!(*state.of(&second).lock(), 0);
        assert_eq!(*state.of(&Session::default()).lock(), 10);
        let kept = Arc::downgrade(&state.of(&first));
        drop(first);
        assert!(kept.upgrade().is_none());
    }
}
