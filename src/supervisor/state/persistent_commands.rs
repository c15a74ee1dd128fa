//! Persistent commands of a page, over all sessions that it gets.
//!
//! `Fetch.enable` is one setting for a session, which the dialog bridge, the navigation policy and the logins
//! share with the routes: there is one place that says what it is to be. Logins need all requests caught, and each let go on.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde::Deserialize;

use super::super::bridge::Bridge;
use super::super::error::Error;
use super::super::persistent_commands::{CPU, Login, OFFLINE, PersistentCommand, SessionScope, Throttle};
use super::effect::Catch;
use super::navigation_checks::throttled;
use super::pending_response::PendingResponse;
use super::sessions::SessionKind;
use super::{Now, Outgoing, SessionKey, State};
use crate::cdp::protocol::browser::{PermissionDescriptor, PermissionSetting, SetPermission};
use crate::cdp::protocol::fetch::{self, AuthChallengeResponseResponse as Choice};
use crate::cdp::protocol::network::ResourceType;
use crate::cdp::protocol::page::{RemoveScriptToEvaluateOnNewDocument, ScriptIdentifier, StopLoading};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::rt;

/// Every address.
const EVERYTHING: &str = "*";

/// <https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#event-authRequired>
pub(in crate::supervisor) const AUTH_REQUIRED: &str = "Fetch.authRequired";
/// Authentication requests that are remembered, to recognise a repeated one.
const MAX_AUTH_REQUESTS: usize = 256;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuthRequired {
    request_id: Arc<str>,
    auth_challenge: Challenge,
}

#[derive(Debug, Deserialize)]
struct Challenge {
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    origin: String,
}

impl rt::Event<'_> for AuthRequired {
    const METHOD: &'static str = AUTH_REQUIRED;
}

/// What holds for one page.
#[derive(Debug, Default)]
struct PageCommands {
    commands: BTreeMap<&'static str, (SessionScope, PersistentCommand)>,
    login: Option<Login>,
    throttle: Option<Throttle>,
    /// The origin that the login is bound to, once one has requested it.
    for_origin: Option<String>,
    answered: VecDeque<Arc<str>>,
    locates: bool,
    /// Origins that may ask for the location.
    located: HashSet<String>,
    /// Scripts that are removed once the top frame shows an origin.
    once: Vec<(String, ScriptIdentifier)>,
}

impl PageCommands {
    fn answer(&mut self, asked: &AuthRequired) -> Option<Login> {
        let Some(login) = &self.login else { return None };
        let bound = self.for_origin.get_or_insert_with(|| asked.auth_challenge.origin.clone());
        if *bound != asked.auth_challenge.origin {
            return None; // the login is for one origin
        }
        if self.answered.contains(&asked.request_id) {
            return None; // asked again, the answer was wrong
        }
        self.answered.push_back(Arc::clone(&asked.request_id));
        if self.answered.len() > MAX_AUTH_REQUESTS {
            self.answered.pop_front();
        }
        Some(login.clone())
    }
}

/// What holds for all pages.
#[derive(Debug, Default)]
pub(super) struct PersistentCommands {
    pages: HashMap<TargetId, PageCommands>,
}

impl State {
    fn persistent_of(&mut self, page: &TargetId) -> Result<&mut PageCommands, Error> {
        if self.page_index(page).is_none() {
            return Err(Error::PageNotFound { target: page.to_string() });
        }
        Ok(self.persistent.pages.entry(page.clone()).or_default())
    }

    pub(super) fn set_persistent_command(
        &mut self,
        page: &TargetId,
        key: &'static str,
        sessions: SessionScope,
        now: PersistentCommand,
        keep: bool,
    ) -> Result<(), Error> {
        let of_page = self.persistent_of(page)?;
        if keep {
            of_page.commands.insert(key, (sessions, now.clone()));
        } else {
            of_page.commands.remove(key);
        }
        let others = self.sessions.iter().filter(|(_, rec)| rec.page == *page && rec.kind != SessionKind::Page);
        let others: Vec<SessionKey> =
            others.filter(|(_, rec)| meant(sessions, rec.kind)).map(|(key, _)| Arc::clone(key)).collect();
        for session in others {
            self.send(Some(&session), 0, now.0.clone());
        }
        if !keep {
            // Network conditions that are taken back take back those that cut off ports.
            let sessions = self.sessions.iter().filter(|(_, rec)| rec.page == *page);
            let sessions: Vec<SessionKey> = sessions.map(|(key, _)| Arc::clone(key)).collect();
            for session in sessions {
                self.cut_off_session(&session);
            }
        }
        Ok(())
    }

    /// Sends a new session what holds for its page.
    pub(super) fn send_persistent_commands(&mut self, session: &SessionKey) {
        self.cut_off_session(session);
        let Some(rec) = self.sessions.get(session) else { return };
        let of_page = self.persistent.pages.get(&rec.page);
        let commands = of_page.iter().flat_map(|of_page| of_page.commands.values());
        let commands = commands.filter(|(sessions, _)| meant(*sessions, rec.kind));
        let commands: Vec<Outgoing> = commands.map(|(_, command)| command.0.clone()).collect();
        for command in commands {
            self.send(Some(session), 0, command);
        }
        // The bridge has done so, where there is one, for sessions with frames.
        if self.catching(session).is_some_and(|catch| !catch.is_empty())
            && (self.bridging.made().is_none() || !self.has_frames(session))
        {
            self.set_fetch(session);
        }
    }

    /// A frame of another process is gone. What holds for a process as a whole went with its session, also where another
    /// frame of the page is in that process by now (Chromium 156): it is sent again.
    pub(super) fn resend_process_settings(&mut self, page: &TargetId) {
        let Some(of_page) = self.persistent.pages.get(page) else { return };
        let cpu = of_page.commands.get(CPU).map(|(_, command)| command.clone());
        let is_slow = of_page.throttle.is_some();
        if cpu.is_none() && !is_slow {
            return;
        }
        let sessions = self.sessions.iter().filter(|(_, rec)| rec.page == *page && rec.kind.has_frames());
        let sessions: Vec<SessionKey> = sessions.map(|(key, _)| Arc::clone(key)).collect();
        for session in sessions {
            if let Some(command) = &cpu {
                self.send(Some(&session), 0, command.0.clone());
            }
            if is_slow {
                self.cut_off_session(&session);
            }
        }
    }

    /// The limits of a page's network.
    pub(super) fn throttle_of(&self, page: &TargetId) -> Option<Throttle> {
        self.persistent.pages.get(page).and_then(|of_page| of_page.throttle)
    }

    /// Whether a page is to have no network at all. That command is kept; one about a part of the network would take its
    /// place.
    pub(super) fn is_offline(&self, page: &TargetId) -> bool {
        self.persistent.pages.get(page).is_some_and(|of_page| of_page.commands.contains_key(OFFLINE))
    }

    pub(super) fn set_throttle(
        &mut self,
        page: &TargetId,
        throttle: Option<Throttle>,
        reply: super::Response<()>,
        now: Now,
    ) {
        let had = match self.persistent_of(page) {
            Ok(of_page) => std::mem::replace(&mut of_page.throttle, throttle),
            Err(error) => {
                self.requests.respond_later(PendingResponse::Done(reply, Err(error)));
                return;
            }
        };
        let sessions = self.sessions.iter().filter(|(_, rec)| rec.page == *page && rec.kind.has_network());
        let sessions: Vec<SessionKey> = sessions.map(|(key, _)| Arc::clone(key)).collect();
        let mut commands = Vec::new();
        for session in sessions.into_iter().filter(|_| had != throttle && !self.is_offline(page)) {
            let command = self.conditions(&session).unwrap_or_else(|| throttled(None));
            commands.push((session, command));
        }
        let undo = super::routing::Rollback::Throttle(page.clone(), had);
        self.confirmed(commands, Some((PendingResponse::Done(reply, Ok(())), Some(undo))), now);
    }

    /// The browser refused other limits.
    pub(super) fn keep_throttle(&mut self, page: &TargetId, throttle: Option<Throttle>) {
        if let Some(of_page) = self.persistent.pages.get_mut(page) {
            of_page.throttle = throttle;
        }
    }

    /// Tells a session what requests to catch.
    fn set_fetch(&mut self, session: &SessionKey) {
        if let Some(catch) = self.catching(session) {
            self.send(Some(session), 0, catch.command());
        }
    }

    /// What a session is to catch; `None` for one that cannot.
    pub(super) fn catching(&self, session: &str) -> Option<Catch> {
        let rec = self.sessions.get(session)?;
        if !rec.kind.has_network() && rec.kind != SessionKind::Shared {
            return None;
        }
        let policy = self.options.navigation();
        let all = policy.is_some_and(|policy| policy.holds_requests());
        let patterns = self.request_patterns();
        let routes = self.routing.patterns(&rec.page);
        if !rec.kind.has_frames() {
            // A worker shared by pages; requests of other workers are caught by their page's session.
            return Some(Catch { all, patterns, routes, ..Catch::default() });
        }
        let (bridge, logins) = (self.bridging.pattern(), self.has_login(&rec.page));
        Some(Catch { bridge, documents: policy.is_some(), all, patterns, logins, routes })
    }

    fn has_frames(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|rec| rec.kind.has_frames())
    }

    /// The protected ports have changed.
    pub(super) fn ports_changed(&mut self) {
        let sessions: Vec<SessionKey> = self.sessions.keys().map(Arc::clone).collect();
        for session in sessions {
            self.set_fetch(&session);
            self.cut_off_session(&session);
        }
    }

    pub(super) fn has_login(&self, page: &TargetId) -> bool {
        self.persistent.pages.get(page).is_some_and(|of_page| of_page.login.is_some())
    }

    pub(super) fn set_login(&mut self, page: &TargetId, login: Option<Login>) -> Result<(), Error> {
        let of_page = self.persistent_of(page)?;
        let had = of_page.login.is_some();
        let has = login.is_some();
        of_page.login = login;
        of_page.for_origin = None;
        of_page.answered.clear();
        if has {
            self.routing.use_it();
        }
        if had != has {
            let sessions = self.sessions.iter().filter(|(_, rec)| rec.page == *page);
            let sessions: Vec<SessionKey> = sessions.map(|(key, _)| Arc::clone(key)).collect();
            for session in sessions {
                self.set_fetch(&session);
            }
        }
        Ok(())
    }

    /// Caught requests of a session were lost: what is held goes on, but for documents, which nobody has decided
    /// about. Stopping comes first, since letting go means all.
    pub(super) fn renew_fetch(&mut self, session: &SessionKey) {
        let Some(catch) = self.catching(session) else { return };
        let others = Catch { documents: false, ..catch } != Catch::default();
        if self.has_navigation_policy() && self.has_frames(session) {
            self.send(Some(session), 0, StopLoading::new());
        }
        if others {
            self.send(Some(session), 0, fetch::Disable::new());
            self.set_fetch(session);
        }
    }

    /// A server asks for a name and password.
    pub(super) fn login_asked(&mut self, session: &SessionKey, asked: AuthRequired) {
        let of_page = self.page_of(session).and_then(|page| self.persistent.pages.get_mut(&page));
        let proxy = asked.auth_challenge.source.as_deref() == Some("Proxy");
        let login = of_page.filter(|_| !proxy).and_then(|of_page| of_page.answer(&asked));
        let answer = match login {
            Some(login) => {
                let mut answer = fetch::AuthChallengeResponse::new(Choice::ProvideCredentials);
                (answer.username, answer.password) = (Some(login.username), Some(login.password));
                answer
            }
            // What the browser does with a proxy that asks.
            None if proxy => fetch::AuthChallengeResponse::new(Choice::Default),
            // The page shows what the server says to that.
            None => fetch::AuthChallengeResponse::new(Choice::CancelAuth),
        };
        let request = fetch::RequestId::from(&*asked.request_id);
        self.send(Some(session), 0, fetch::ContinueWithAuth::new(request, answer));
    }

    pub(super) fn allow_location(&mut self, page: &TargetId, allowed: bool) -> Result<(), Error> {
        let of_page = self.persistent_of(page)?;
        of_page.locates = allowed;
        if allowed {
            let url = self.page_index(page).map(|index| Arc::clone(&self.pages[index].url));
            self.locate(page, &url.unwrap_or_default());
            return Ok(());
        }
        let origins: Vec<String> = of_page.located.drain().collect();
        for origin in origins {
            self.send_location(page, origin, false);
        }
        Ok(())
    }

    /// A page navigates to an address, or shows it.
    pub(super) fn locate(&mut self, page: &TargetId, url: &str) {
        let Some(of_page) = self.persistent.pages.get_mut(page).filter(|of_page| of_page.locates) else { return };
        let Some(origin) = origin_of(url) else { return };
        if of_page.located.insert(origin.clone()) {
            self.send_location(page, origin, true);
        }
    }

    fn send_location(&mut self, page: &TargetId, origin: String, allowed: bool) {
        let context = self.page_index(page).and_then(|index| self.pages[index].context.clone());
        let setting = if allowed { PermissionSetting::Granted } else { PermissionSetting::Prompt };
        let mut set = SetPermission::new(PermissionDescriptor::new("geolocation"), setting);
        set.origin = Some(origin);
        set.browser_context_id = context;
        self.send(None, 0, set);
    }

    /// Keeps a script for removal. One kept before for the same origin is removed at once.
    pub(super) fn remove_script_at(
        &mut self,
        page: &TargetId,
        origin: String,
        script: ScriptIdentifier,
    ) -> Result<(), Error> {
        let once = &mut self.persistent_of(page)?.once;
        let old = once.iter().position(|(at, _)| *at == origin).map(|at| once.swap_remove(at).1);
        once.push((origin, script));
        if let Some(script) = old {
            self.remove_script(page, script);
        }
        Ok(())
    }

    /// The connection is lost, and with it every script: their ids may come again for others.
    pub(super) fn forget_scripts(&mut self) {
        for of_page in self.persistent.pages.values_mut() {
            of_page.once.clear();
        }
    }

    /// The top frame of a page shows a document: scripts that were for its first one there have run.
    pub(super) fn once_shown(&mut self, page: &TargetId, url: &str) {
        let Some(of_page) = self.persistent.pages.get_mut(page).filter(|of_page| !of_page.once.is_empty()) else {
            return;
        };
        let Some(origin) = origin_of(url) else { return };
        let Some(at) = of_page.once.iter().position(|(once, _)| *once == origin) else { return };
        let (_, script) = of_page.once.swap_remove(at);
        self.remove_script(page, script);
    }

    fn remove_script(&mut self, page: &TargetId, script: ScriptIdentifier) {
        let session = self.page_index(page).map(|index| Arc::clone(&self.pages[index].session));
        if let Some(session) = session {
            self.send(Some(&session), 0, RemoveScriptToEvaluateOnNewDocument::new(script));
        }
    }

    pub(super) fn forget_persistent_of(&mut self, page: &TargetId) {
        self.persistent.pages.remove(page);
    }

    /// What was allowed over the connection that is lost is to be said again.
    pub(super) fn unlocate(&mut self) {
        for of_page in self.persistent.pages.values_mut() {
            of_page.located.clear();
        }
    }
}

impl Catch {
    /// The command that makes a session catch this.
    pub(super) fn command(self) -> Outgoing {
        if self.is_empty() {
            return fetch::Disable::new().into(); // what is caught goes on, into nothing
        }
        let of = |url: &str| fetch::RequestPattern { url_pattern: Some(url.to_owned()), ..Default::default() };
        let mut enable = fetch::Enable::new();
        // With logins every address: Chromium 156 cancels those of requests that match no pattern, without an event.
        enable.patterns = Some(if self.logins || self.all {
            vec![of(EVERYTHING)]
        } else {
            let mut documents = self.documents.then(|| of(EVERYTHING));
            if let Some(documents) = &mut documents {
                documents.resource_type = Some(ResourceType::Document);
            }
            let patterns = self.bridge.as_deref().into_iter().chain(self.patterns.iter().map(|url| &**url));
            let routes = self.routes.iter().map(|route| {
                let mut pattern = of(&route.url);
                pattern.resource_type = route.resource_type.as_deref().map(resource_type);
                pattern
            });
            patterns.map(of).chain(documents).chain(routes).collect()
        });
        enable.handle_auth_requests = self.logins.then_some(true);
        enable.into()
    }
}

/// The type of `Fetch` for one in lower case.
fn resource_type(kind: &str) -> ResourceType {
    match kind {
        "document" => ResourceType::Document,
        "stylesheet" => ResourceType::Stylesheet,
        "image" => ResourceType::Image,
        "media" => ResourceType::Media,
        "font" => ResourceType::Font,
        "script" => ResourceType::Script,
        "texttrack" => ResourceType::TextTrack,
        // Chromium 156 calls requests of `fetch()` so here.
        "fetch" | "xhr" => ResourceType::Xhr,
        "eventsource" => ResourceType::EventSource,
        "manifest" => ResourceType::Manifest,
        "ping" => ResourceType::Ping,
        "cspviolationreport" => ResourceType::CspViolationReport,
        "prefetch" => ResourceType::Prefetch,
        _ => ResourceType::OtherValue,
    }
}

impl super::bridging::Bridging {
    /// What the bridge alone wants caught.
    fn pattern(&self) -> Option<Arc<str>> {
        self.made().map(Bridge::pattern).map(Into::into)
    }
}

fn meant(sessions: SessionScope, kind: SessionKind) -> bool {
    match sessions {
        SessionScope::Page => kind == SessionKind::Page,
        SessionScope::Frames => kind.has_frames(),
        SessionScope::All => kind.has_network(),
    }
}

/// The origin of a web address.
fn origin_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let place = rest[..end].rsplit('@').next().filter(|place| !place.is_empty())?;
    Some(format!("{scheme}://{place}"))
}
