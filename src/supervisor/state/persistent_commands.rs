//! Persistent commands of a page, for all of its sessions.
//!
//! `Fetch.enable` is one setting per session, shared by the dialog bridge, the navigation policy, logins and routes;
//! this module computes it (that of the browser session: `first_documents`). Logins require that all requests are
//! intercepted and each one is continued.
//!
//! Network conditions are one setting per session too: blocked WebSockets and throttling are sent as one command. While
//! a page is offline, only that command is kept, because any other would replace it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use serde::Deserialize;

use super::super::bridge::Bridge;
use super::super::error::Error;
use super::super::origin::{http_origin, is_same_or_secure};
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

/// Settings of one page.
#[derive(Debug, Default)]
struct PageCommands {
    commands: BTreeMap<&'static str, (SessionScope, PersistentCommand)>,
    login: Option<Login>,
    throttle: Option<Throttle>,
    /// The origin that the login is for: given with it, or that of the address that a client has opened, or of the
    /// document that was shown when it was set. Never that of a redirect.
    for_origin: Option<String>,
    /// Whether the origin was given, or a server of it has received the login: it does not change any more.
    is_bound: bool,
    answered: VecDeque<Arc<str>>,
    locates: bool,
    /// Origins that may access the geolocation.
    located: HashSet<String>,
    /// Scripts to remove once the top frame shows an origin.
    once: Vec<(String, ScriptIdentifier)>,
}

impl PageCommands {
    fn answer(&mut self, challenge: &AuthRequired) -> Option<Login> {
        let Some(login) = &self.login else { return None };
        let origin = &challenge.auth_challenge.origin;
        if !self.for_origin.as_ref().is_some_and(|opened| is_same_or_secure(origin, opened)) {
            return None; // the login is for another origin
        }
        (self.for_origin, self.is_bound) = (Some(origin.clone()), true);
        if self.answered.contains(&challenge.request_id) {
            return None; // requested again: the credentials were wrong
        }
        self.answered.push_back(Arc::clone(&challenge.request_id));
        if self.answered.len() > MAX_AUTH_REQUESTS {
            self.answered.pop_front();
        }
        Some(login.clone())
    }
}

/// Settings of all pages.
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
            others.filter(|(_, rec)| applies_to(sessions, rec.kind)).map(|(key, _)| Arc::clone(key)).collect();
        for session in others {
            self.send(Some(&session), 0, now.0.clone());
        }
        if !keep {
            // Resetting network conditions also resets the blocked URLs for ports.
            let sessions = self.sessions.iter().filter(|(_, rec)| rec.page == *page);
            let sessions: Vec<SessionKey> = sessions.map(|(key, _)| Arc::clone(key)).collect();
            for session in sessions {
                self.cut_off_session(&session);
            }
        }
        Ok(())
    }

    /// Sends the settings of its page to a new session.
    pub(super) fn send_persistent_commands(&mut self, session: &SessionKey) {
        self.cut_off_session(session);
        let Some(rec) = self.sessions.get(session) else { return };
        let of_page = self.persistent.pages.get(&rec.page);
        let commands = of_page.iter().flat_map(|of_page| of_page.commands.values());
        let commands = commands.filter(|(sessions, _)| applies_to(*sessions, rec.kind));
        let commands: Vec<Outgoing> = commands.map(|(_, command)| command.0.clone()).collect();
        for command in commands {
            self.send(Some(session), 0, command);
        }
        // For sessions with frames, the bridge has already done so.
        if self.catching(session).is_some_and(|catch| !catch.is_empty())
            && (self.bridging.made().is_none() || !self.has_frames(session))
        {
            self.set_fetch(session);
        }
    }

    /// A cross-process frame is gone. Settings of its process were reset with its session, even if another frame of the
    /// page is in that process by now (Chromium 156): they are sent again.
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

    /// The network throttling of a page.
    pub(super) fn throttle_of(&self, page: &TargetId) -> Option<Throttle> {
        self.persistent.pages.get(page).and_then(|of_page| of_page.throttle)
    }

    /// Whether a page is offline. This command stays in effect; network conditions of single URLs would replace it.
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

    /// The browser rejected other network conditions.
    pub(super) fn keep_throttle(&mut self, page: &TargetId, throttle: Option<Throttle>) {
        if let Some(of_page) = self.persistent.pages.get_mut(page) {
            of_page.throttle = throttle;
        }
    }

    /// Sends a session its intercepted patterns.
    fn set_fetch(&mut self, session: &SessionKey) {
        if let Some(catch) = self.catching(session) {
            self.send(Some(session), 0, catch.command());
        }
    }

    /// What a session intercepts; `None` for a session without `Fetch`.
    pub(super) fn catching(&self, session: &str) -> Option<Catch> {
        let rec = self.sessions.get(session)?;
        if !rec.kind.has_network() && rec.kind != SessionKind::Shared {
            return None;
        }
        let policy = self.options.navigation_policy();
        let all = policy.is_some_and(|policy| policy.holds_requests());
        let patterns = self.request_patterns();
        let client = self.pages.iter().find(|page| page.target == rec.page).and_then(|page| page.client.as_ref());
        let routes = self.routing.patterns(&rec.page, client);
        if !rec.kind.has_frames() {
            // A shared worker; requests of other workers are intercepted by their page's session.
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
        let shown = self.page_index(page).and_then(|index| http_origin(&self.pages[index].url));
        let of_page = self.persistent_of(page)?;
        let had = of_page.login.is_some();
        let has = login.is_some();
        let given = login.as_ref().and_then(|login| login.origin.clone());
        of_page.is_bound = given.is_some();
        of_page.for_origin = given.or(shown);
        of_page.login = login;
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

    /// A client opens an address in a page.
    pub(super) fn opens(&mut self, page: &TargetId, origin: String) {
        if let Some(of_page) = self.persistent.pages.get_mut(page).filter(|of_page| !of_page.is_bound) {
            of_page.for_origin = Some(origin);
        }
    }

    /// Intercepted requests of a session were lost: continues held ones, except documents, which the policy has not
    /// decided about. These are cancelled first, since `Fetch.disable` continues all requests.
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

    /// A server requests a name and password.
    pub(super) fn login_requested(&mut self, session: &SessionKey, challenge: AuthRequired) {
        let of_page = self.page_of(session).and_then(|page| self.persistent.pages.get_mut(&page));
        let proxy = challenge.auth_challenge.source.as_deref() == Some("Proxy");
        let login = of_page.filter(|_| !proxy).and_then(|of_page| of_page.answer(&challenge));
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
        let request = fetch::RequestId::from(&*challenge.request_id);
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

    /// A page navigates to a URL, or shows it.
    pub(super) fn locate(&mut self, page: &TargetId, url: &str) {
        let Some(of_page) = self.persistent.pages.get_mut(page).filter(|of_page| of_page.locates) else { return };
        let Some(origin) = http_origin(url) else { return };
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

    /// Registers a script for removal. One registered before for the same origin is removed at once.
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

    /// The connection was lost with all its scripts; their ids may be reused.
    pub(super) fn forget_scripts(&mut self) {
        for of_page in self.persistent.pages.values_mut() {
            of_page.once.clear();
        }
    }

    /// The top frame of a page shows a document: scripts for its first document there have run.
    pub(super) fn once_shown(&mut self, page: &TargetId, url: &str) {
        let Some(of_page) = self.persistent.pages.get_mut(page).filter(|of_page| !of_page.once.is_empty()) else {
            return;
        };
        let Some(origin) = http_origin(url) else { return };
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

    /// The geolocation permissions of a lost connection have to be granted again.
    pub(super) fn unlocate(&mut self) {
        for of_page in self.persistent.pages.values_mut() {
            of_page.located.clear();
        }
    }
}

impl Catch {
    /// The command that sets up this interception.
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
    /// The pattern of the bridge, if nothing else is intercepted.
    fn pattern(&self) -> Option<Arc<str>> {
        self.made().map(Bridge::pattern).map(Into::into)
    }
}

fn applies_to(sessions: SessionScope, kind: SessionKind) -> bool {
    match sessions {
        SessionScope::Page => kind == SessionKind::Page,
        SessionScope::Frames => kind.has_frames(),
        SessionScope::All => kind.has_network(),
    }
}
