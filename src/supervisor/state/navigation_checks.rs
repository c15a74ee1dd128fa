//! Enforces the navigation policy: each document request of a page or frame is held until the policy has decided.
//!
//! Document requests are intercepted by `Fetch`, redirects one by one; unknown host names are resolved on other
//! threads. Documents without a request (files, cached documents, internal pages of the browser) are checked when a
//! frame shows them, and replaced by a blank document.
//!
//! - Literal addresses, `localhost` and names that were resolved a moment ago are decided at once. Others are resolved
//!   while the request stays paused. A name without an address is allowed, because Chromium cannot reach it either. A
//!   lookup that takes longer than `LOOKUP_LIMIT` is refused, because the owner of the name could be slow for this
//!   process only.
//! - A refused request of a page fails with `Aborted`, so that the page stays where it is; that of a frame with
//!   `BlockedByClient`, so that the frame shows an error.
//! - A document whose server turns out to have a refused address (`remoteIPAddress`, while requests are recorded;
//!   behind a proxy this is the address of the proxy) is replaced by a blank one too. Documents that a page showed
//!   before the attach are left alone.
//! - Chromium sends the request for the first document of `Target.createTarget` before the session exists; therefore
//!   pages are opened on `about:blank` and then navigated.
//! - If intercepted requests are lost, loading is stopped before any request is released.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::error::Error;
use super::super::log::LogEvent as Noted;
use super::super::navigation_policy::{
    BlockedNavigation, NavigationPolicy, Place, Refused, ResolvedName, Verdict, patterns_of, shown,
};
use super::super::persistent_commands::Throttle;
use super::bridging::Caught;
use super::effect::Effect;
use super::network_events::Response as ResponseReceived;
use super::pending_response::PendingResponse;
use super::requests::{BLANK, Response};
use super::routing::{MatchedRoute, go_on};
use super::sessions::{SessionKind, SessionRec};
use super::{Now, Outgoing, SessionKey, State};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::protocol::{fetch, network, page};
use crate::cdp::rt::Command as _;

/// How long a resolved name is cached.
const NAME_TTL: Duration = Duration::from_secs(30);
/// How long a name that could not be resolved is remembered for the session of the browser.
const UNKNOWN_TTL: Duration = Duration::from_secs(5);
/// Maximum number of cached names.
const MAX_NAMES: usize = 512;
/// How long a document request waits for a name.
const LOOKUP_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of requests and callers that wait for names.
const MAX_WAITING: usize = 1024;

/// What a check is for.
#[derive(Debug)]
pub(super) enum CheckRequester {
    /// A held document request.
    Document { session: SessionKey, caught: Arc<Caught>, frame: FrameId, met: Option<MatchedRoute> },
    /// A document request held by the session of the browser; the session is that of its page.
    FirstDocument { session: SessionKey, caught: Arc<Caught>, frame: FrameId },
    /// Another held request of a page.
    Request { session: SessionKey, caught: Arc<Caught>, met: Option<MatchedRoute> },
    /// A call.
    Caller(Response<()>),
}

#[derive(Debug)]
struct WaitingCheck {
    place: Place,
    url: String,
    until: Instant,
    asker: CheckRequester,
}

/// Cached names, and the checks that wait for names.
#[derive(Debug, Default)]
pub(super) struct NavigationChecks {
    known: HashMap<Arc<str>, (Vec<IpAddr>, Instant)>,
    /// Names that could not be resolved, until when: the session of the browser asks for the same name again at once.
    unknown: HashMap<Arc<str>, Instant>,
    waiting: Vec<WaitingCheck>,
    /// Number of blocked navigations.
    blocked: u64,
    /// Sessions with blocked URLs for protected ports.
    pub(super) cut_off: HashSet<SessionKey>,
}

impl NavigationChecks {
    fn known(&self, host: &str, now: Now) -> Option<&[IpAddr]> {
        let (addresses, until) = self.known.get(host)?;
        (*until > now.instant).then_some(addresses)
    }

    fn awaits(&self, host: &str) -> bool {
        self.waiting.iter().any(|waits| *waits.place.host == *host)
    }

    fn take(&mut self, which: impl Fn(&WaitingCheck) -> bool) -> Vec<WaitingCheck> {
        let (taken, kept) = std::mem::take(&mut self.waiting).into_iter().partition(which);
        self.waiting = kept;
        taken
    }
}

impl CheckRequester {
    /// Whether the policy allows a place with these addresses.
    fn check(&self, policy: &NavigationPolicy, place: &Place, addresses: &[IpAddr]) -> Result<(), Refused> {
        match self {
            Self::Request { .. } => policy.check_request_addresses(place, addresses),
            Self::Document { .. } | Self::FirstDocument { .. } | Self::Caller(_) => {
                policy.check_addresses(place, addresses)
            }
        }
    }
}

impl State {
    /// Whether document requests are held until the policy has decided.
    pub(super) fn has_navigation_policy(&self) -> bool {
        self.options.navigation_policy().is_some()
    }

    /// URL patterns of requests to protected ports.
    pub(super) fn request_patterns(&self) -> Vec<String> {
        let ports = self.options.navigation_policy().map(NavigationPolicy::protected_ports).unwrap_or_default();
        ports.into_iter().flat_map(|port| patterns_of(port).0).collect()
    }

    /// Blocks a session's WebSockets to protected ports and blocked hosts, which `Fetch` does not intercept. Replaces
    /// earlier rules.
    pub(super) fn cut_off_session(&mut self, session: &SessionKey) {
        let applies = |rec: &&SessionRec| rec.kind.has_network() || rec.kind == SessionKind::Shared;
        let Some(rec) = self.sessions.get(session).filter(applies) else { return };
        if self.is_offline(&rec.page) {
            return; // already unreachable
        }
        match self.conditions(session) {
            Some(command) => {
                if command.method() == network::EmulateNetworkConditionsByRule::METHOD {
                    self.navigation_checks.cut_off.insert(Arc::clone(session));
                }
                self.send(Some(session), 0, command);
            }
            None if self.navigation_checks.cut_off.contains(session) => {
                self.send(Some(session), 0, cut_off(&[], None));
            }
            None => {}
        }
    }

    /// The network conditions of a session; `None` for the default. One command sets both blocked URLs and throttling.
    pub(super) fn conditions(&self, session: &str) -> Option<Outgoing> {
        let rec = self.sessions.get(session);
        let throttle = rec.and_then(|rec| self.throttle_of(&rec.page));
        let patterns = match rec {
            Some(rec) if rec.kind == SessionKind::Shared => self.worker_patterns(),
            _ => self.socket_patterns(),
        };
        if patterns.is_empty() {
            return throttle.map(|throttle| throttled(Some(throttle)));
        }
        Some(cut_off(&patterns, throttle).into())
    }

    /// URL patterns of blocked WebSockets.
    fn socket_patterns(&self) -> Vec<String> {
        let Some(policy) = self.options.navigation_policy() else { return Vec::new() };
        let unreachable = &self.options.unreachable_ports;
        let ports = policy.protected_ports().into_iter().filter(|port| !unreachable.contains(port));
        let blocked = if self.options.prepared { Vec::new() } else { policy.blocked_sockets() };
        ports.flat_map(|port| patterns_of(port).1).chain(blocked).collect()
    }

    /// URL patterns blocked in shared workers: HTTP too, since `Fetch` does not always intercept it.
    fn worker_patterns(&self) -> Vec<String> {
        let Some(policy) = self.options.navigation_policy() else { return Vec::new() };
        let ports = policy.protected_ports().into_iter().flat_map(|port| patterns_of(port).1);
        let http = |socket: String| [socket.replacen("ws", "http", 1), socket];
        ports.chain(policy.blocked_sockets()).flat_map(http).collect()
    }

    /// Sessions with blocked URLs are gone.
    pub(super) fn forget_cut_off(&mut self, is_ended: impl Fn(&str) -> bool) {
        self.navigation_checks.cut_off.retain(|session| !is_ended(session));
    }

    /// A document request is held.
    pub(super) fn document_caught(&mut self, session: &SessionKey, caught: &Arc<Caught>, frame: &FrameId, now: Now) {
        if self.is_refused(session) {
            self.send(Some(session), 0, refuse(caught, true));
            return;
        }
        let (url, frame) = (caught.url().to_owned(), frame.clone());
        let asker =
            CheckRequester::Document { session: Arc::clone(session), caught: Arc::clone(caught), frame, met: None };
        self.decide(url, asker, now);
    }

    /// Another request of a page is held.
    pub(super) fn request_caught(&mut self, session: &SessionKey, caught: &Arc<Caught>, now: Now) {
        let asker = CheckRequester::Request { session: Arc::clone(session), caught: Arc::clone(caught), met: None };
        self.decide(caught.url().to_owned(), asker, now);
    }

    /// A call checks a URL.
    pub(super) fn may_visit(&mut self, url: String, reply: Response<()>, now: Now) {
        self.decide(url, CheckRequester::Caller(reply), now);
    }

    pub(super) fn decide(&mut self, url: String, asker: CheckRequester, now: Now) {
        let verdict = match (self.options.navigation_policy(), &asker) {
            (Some(policy), CheckRequester::Request { .. }) => policy.check_request(&url),
            (Some(policy), _) => policy.check(&url),
            (None, _) => Ok(Verdict::Pass),
        };
        match verdict {
            Err(refused) => self.decided(&url, asker, Err(refused), now),
            Ok(Verdict::Pass) => self.decided(&url, asker, Ok(()), now),
            Ok(Verdict::Look(place)) => self.look_up(place, url, asker, now),
        }
    }

    fn look_up(&mut self, place: Place, url: String, asker: CheckRequester, now: Now) {
        if let Some(addresses) = self.navigation_checks.known(&place.host, now) {
            let outcome =
                self.options.navigation_policy().map_or(Ok(()), |policy| asker.check(policy, &place, addresses));
            self.decided(&url, asker, outcome, now);
            return;
        }
        let is_first = matches!(asker, CheckRequester::FirstDocument { .. });
        if is_first && self.navigation_checks.unknown.get(&place.host).is_some_and(|until| *until > now.instant) {
            self.decided(&url, asker, Ok(()), now);
            return;
        }
        if self.navigation_checks.waiting.len() >= MAX_WAITING {
            let refused = Refused::new("too many host names are being resolved; retry in a moment");
            self.decided(&url, asker, Err(refused), now);
            return;
        }
        if !self.navigation_checks.awaits(&place.host) {
            self.effects.push(Effect::LookUp { host: Arc::clone(&place.host) });
        }
        self.navigation_checks.waiting.push(WaitingCheck { place, url, until: now.instant + LOOKUP_LIMIT, asker });
    }

    /// A name was resolved.
    pub(in crate::supervisor) fn found(&mut self, found: ResolvedName, now: Now) {
        let known = &mut self.navigation_checks.known;
        if known.len() >= MAX_NAMES {
            known.retain(|_, (_, until)| *until > now.instant);
        }
        if known.len() >= MAX_NAMES {
            known.clear();
        }
        for waits in self.navigation_checks.take(|waits| waits.place.host == found.host) {
            let policy = self.options.navigation_policy();
            let outcome = policy.map_or(Ok(()), |policy| waits.asker.check(policy, &waits.place, &found.addresses));
            self.decided(&waits.url, waits.asker, outcome, now);
        }
        let NavigationChecks { known, unknown, .. } = &mut self.navigation_checks;
        unknown.retain(|_, until| *until > now.instant);
        // A failed lookup is not cached for others: it may be temporary.
        if !found.addresses.is_empty() {
            known.insert(found.host, (found.addresses, now.instant + NAME_TTL));
        } else if unknown.len() < MAX_NAMES {
            unknown.insert(found.host, now.instant + UNKNOWN_TTL);
        }
    }

    /// Whether a check waits for a host name.
    pub(in crate::supervisor) fn awaits_name(&self, host: &str) -> bool {
        self.navigation_checks.awaits(host)
    }

    fn decided(&mut self, url: &str, asker: CheckRequester, outcome: Result<(), Refused>, now: Now) {
        match (asker, outcome) {
            (CheckRequester::Caller(reply), outcome) => {
                let outcome = outcome.map_err(|refused| refused.error(url));
                self.requests.respond_later(PendingResponse::Done(reply, outcome));
            }
            (CheckRequester::Request { session, caught, .. }, Err(refused)) => {
                tracing::debug!(url = shown(url), reason = refused.reason, "request of a page blocked");
                self.send(Some(&session), 0, refuse(&caught, false));
            }
            (CheckRequester::Document { session, caught, frame, met }, Ok(())) => {
                self.passed(&session, &caught, Some(frame), met, now);
            }
            (CheckRequester::Request { session, caught, met }, Ok(())) => {
                self.passed(&session, &caught, None, met, now)
            }
            // The session of the page may hold it too, and applies routes.
            (CheckRequester::FirstDocument { caught, .. }, Ok(())) => self.send(None, 0, go_on(&caught.request())),
            (CheckRequester::FirstDocument { session, caught, frame }, Err(refused)) => {
                self.send(None, 0, refuse(&caught, true));
                self.blocked(&session, &frame, url, &refused, now);
            }
            (CheckRequester::Document { session, caught, frame, .. }, Err(refused)) => {
                let main = self.is_top(&session, &frame);
                self.send(Some(&session), 0, refuse(&caught, main));
                self.blocked(&session, &frame, url, &refused, now);
            }
        }
    }

    /// Whether a frame is the top frame of its page. The top frame of an unknown page has the id of its target.
    fn is_top(&self, session: &SessionKey, frame: &FrameId) -> bool {
        let page = self.page_of(session).and_then(|page| self.page_index(&page)).map(|index| &self.pages[index]);
        page.is_some_and(|page| page.top.as_ref() == Some(frame) || page.target.as_str() == frame.as_str())
    }

    /// Reports a blocked navigation.
    fn blocked(&mut self, session: &SessionKey, frame: &FrameId, url: &str, refused: &Refused, now: Now) {
        let Some(page) = self.page_of(session) else { return };
        self.navigation_checks.blocked += 1;
        let main = self.is_top(session, frame);
        let url = shown(url);
        let (shown, reason) = (Arc::from(url.as_str()), Arc::from(&*refused.reason));
        let blocked = Noted::NavigationBlocked { url: shown, reason, frame_id: frame.clone(), main };
        self.note(Some(&page), now, blocked);
        if !main {
            return;
        }
        let number = self.navigation_checks.blocked;
        if let Some(page) = self.page_mut(&page) {
            if page.url.is_empty() {
                page.url = BLANK.into(); // a popup that never showed a document
            }
            let (url, reason) = (url.into(), refused.reason.as_str().into());
            page.blocked = Some(Arc::new(BlockedNavigation { number, url, reason }));
        }
    }

    /// A frame shows a URL: if it is blocked, navigates the frame to a blank document.
    pub(super) fn guard_frame(&mut self, session: &SessionKey, frame: &FrameId, url: &str, now: Now) {
        let main = self.is_top(session, frame);
        let refused = self.options.navigation_policy().map(|policy| policy.check_frame(url, main));
        if let Some(Err(refused)) = refused {
            self.send_away(session, frame, url, &refused, now);
        }
    }

    fn send_away(&mut self, session: &SessionKey, frame: &FrameId, url: &str, refused: &Refused, now: Now) {
        let of_session = self.sessions.get(session).and_then(super::sessions::SessionRec::frame);
        let frame_in = (of_session.as_ref() != Some(frame)).then(|| frame.clone());
        self.send(Some(session), 0, blank(frame_in));
        self.blocked(session, frame, url, refused, now);
    }

    /// A document's response arrived: checks the server's address.
    pub(super) fn document_response(&mut self, session: &SessionKey, response: &ResponseReceived<'_>, now: Now) {
        let (Some("Document"), Some(frame)) = (response.kind.as_deref(), &response.frame_id) else { return };
        let (Some(url), Some(address)) = (&response.response.url, &response.response.remote_ip_address) else { return };
        // Behind a proxy, the address is that of the proxy, which checks those of servers.
        if self.sessions.get(session).is_some_and(|rec| self.is_confined(&rec.page)) {
            return;
        }
        let refused = self.options.navigation_policy().map(|policy| policy.check_reached(url, address));
        if let Some(Err(refused)) = refused {
            self.send_away(session, frame, url, &refused, now);
        }
    }

    /// Refuses documents that the session of the browser holds for pages.
    pub(super) fn refuse_first_documents(&mut self, of: impl Fn(&str) -> bool) {
        let held =
            |waits: &WaitingCheck| matches!(&waits.asker, CheckRequester::FirstDocument { session, .. } if of(session));
        for waits in self.navigation_checks.take(held) {
            if let CheckRequester::FirstDocument { caught, .. } = waits.asker {
                self.send(None, 0, refuse(&caught, true));
            }
        }
    }

    /// Sessions are gone: drops their held requests. What the session of the browser holds for them is refused.
    pub(super) fn unguard(&mut self, gone: impl Fn(&str) -> bool) {
        let gone = &gone;
        self.refuse_first_documents(gone);
        let held = |waits: &WaitingCheck| match &waits.asker {
            CheckRequester::Document { session, .. } | CheckRequester::Request { session, .. } => gone(session),
            CheckRequester::FirstDocument { .. } | CheckRequester::Caller(_) => false,
        };
        drop(self.navigation_checks.take(held));
        self.routing.drop_held(gone);
        self.interception.drop_of(gone);
    }

    /// The supervisor ends. Requests that wait for a name are refused: the browser would send them when the connection ends.
    pub(super) fn stop_navigation_checks(&mut self, reason: &str) {
        self.refuse_first_documents(|_| true);
        for waits in self.navigation_checks.take(|_| true) {
            match waits.asker {
                CheckRequester::Caller(reply) => {
                    let ended = Error::NotActive { reason: reason.to_owned() };
                    self.requests.respond_later(PendingResponse::Done(reply, Err(ended)));
                }
                CheckRequester::Document { session, caught, .. } | CheckRequester::Request { session, caught, .. } => {
                    self.send(Some(&session), 0, refuse(&caught, false));
                }
                CheckRequester::FirstDocument { .. } => {}
            }
        }
    }

    /// Refuses requests whose host name was not resolved in time, for example by a slow name server.
    pub(super) fn check_lookups(&mut self, now: Now) {
        for waits in self.navigation_checks.take(|waits| waits.until <= now.instant) {
            let host = &waits.place.host;
            let seconds = LOOKUP_LIMIT.as_secs();
            let refused = Refused::new(format!(
                "the host name {host} could not be resolved within {seconds} s, so its address cannot be checked; retry"
            ));
            self.decided(&waits.url, waits.asker, Err(refused), now);
        }
    }

    pub(super) fn next_lookup_check(&self) -> Option<Instant> {
        self.navigation_checks.waiting.iter().map(|waits| waits.until).min()
    }

    /// Whether a page still shows the document from before the attach.
    pub(super) fn was_there(&self, page: &TargetId) -> bool {
        self.page_index(page).is_some_and(|index| self.pages[index].was_there)
    }
}

impl Refused {
    /// The error for a call.
    pub(in crate::supervisor) fn error(self, url: &str) -> Error {
        Error::NavigationBlocked { url: shown(url), reason: self.reason }
    }
}

/// Fails a request that may not be sent: for the document of the main frame, or another one.
pub(super) fn refuse(caught: &Caught, main: bool) -> fetch::FailRequest {
    // A page stays where it is; a frame says that something is missing.
    let reason = if main { network::ErrorReason::Aborted } else { network::ErrorReason::BlockedByClient };
    fetch::FailRequest::new(fetch::RequestId::from(&*caught.request()), reason)
}

/// A navigation to the empty document, of the session's own frame or another one of it.
pub(super) fn blank(frame: Option<FrameId>) -> page::Navigate {
    let mut blank = page::Navigate::new(BLANK);
    blank.frame_id = frame;
    blank
}

/// Requests that fit one of these URL patterns fail; the others are slowed down.
fn cut_off(patterns: &[String], throttle: Option<Throttle>) -> network::EmulateNetworkConditionsByRule {
    let cut = |url: &String| {
        // Nothing else than being cut off: no latency, no limit of the throughput.
        let mut rule = network::NetworkConditions::new(&**url, 0.0, -1.0, -1.0);
        rule.offline = Some(true);
        rule
    };
    let rest = throttle.map(|throttle| {
        let (down, up) = (Throttle::wire(throttle.download_kbps), Throttle::wire(throttle.upload_kbps));
        network::NetworkConditions::new("", throttle.latency_ms, down, up)
    });
    let rules = patterns.iter().map(cut).chain(rest).collect::<Vec<_>>();
    let mut cut_off = network::EmulateNetworkConditionsByRule::new(rules);
    // Deprecated. With it all rules cut off, without it Chromium 156 reads `offline` of each.
    cut_off.offline = throttle.is_none().then_some(!patterns.is_empty());
    cut_off
}

/// Requests are slowed down, or no longer.
pub(super) fn throttled(throttle: Option<Throttle>) -> Outgoing {
    let (down, up) = throttle.map_or((None, None), |limits| (limits.download_kbps, limits.upload_kbps));
    let latency = throttle.map_or(0.0, |limits| limits.latency_ms);
    #[expect(deprecated, reason = "older browsers have nothing else")]
    let set = network::EmulateNetworkConditions::new(false, latency, Throttle::wire(down), Throttle::wire(up));
    set.into()
}

#[cfg(test)]
#[cfg(feature = "navigation")]
#[path = "navigation_checks_tests.rs"]
mod tests;
