//! Where pages may go: each document that a page or frame asks for is held until that is known.
//!
//! Requests for documents are caught by `Fetch`, redirects one by one; a name that is not known yet is looked
//! up beside this thread. What makes no request (files, what comes out of a cache, pages of the browser itself)
//! is checked when a frame shows it, and replaced by a blank document.

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
use super::routing::MatchedRoute;
use super::sessions::{SessionKind, SessionRec};
use super::{Now, Outgoing, SessionKey, State};
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::cdp::protocol::{fetch, network, page};
use crate::cdp::rt::Command as _;

/// How long a name that was looked up counts.
const NAME_TTL: Duration = Duration::from_secs(30);
/// Names that are remembered.
const MAX_NAMES: usize = 512;
/// How long a document waits for a name.
const LOOKUP_LIMIT: Duration = Duration::from_secs(5);
/// Documents and callers that wait for names at once.
const MAX_WAITING: usize = 1024;

/// Who wants to know.
#[derive(Debug)]
pub(super) enum CheckRequester {
    /// A document that is held.
    Document { session: SessionKey, caught: Arc<Caught>, frame: FrameId, met: Option<MatchedRoute> },
    /// Another request of a page, which is held.
    Request { session: SessionKey, caught: Arc<Caught>, met: Option<MatchedRoute> },
    /// A caller.
    Caller(Response<()>),
}

#[derive(Debug)]
struct WaitingCheck {
    place: Place,
    url: String,
    until: Instant,
    asker: CheckRequester,
}

/// What is known of names, and who waits for more.
#[derive(Debug, Default)]
pub(super) struct NavigationChecks {
    known: HashMap<Arc<str>, (Vec<IpAddr>, Instant)>,
    waiting: Vec<WaitingCheck>,
    /// Navigations that were blocked so far.
    blocked: u64,
    /// Sessions that have rules for ports.
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
    /// Whether this may go to a place that has these addresses.
    fn check(&self, policy: &NavigationPolicy, place: &Place, addresses: &[IpAddr]) -> Result<(), Refused> {
        match self {
            Self::Request { .. } => policy.check_request_addresses(place, addresses),
            Self::Document { .. } | Self::Caller(_) => policy.check_addresses(place, addresses),
        }
    }
}

impl State {
    /// Whether documents are held until it is known whether they may be shown.
    pub(super) fn has_navigation_policy(&self) -> bool {
        self.options.navigation().is_some()
    }

    /// URL patterns of requests to protected ports.
    pub(super) fn request_patterns(&self) -> Vec<String> {
        let ports = self.options.navigation().map(NavigationPolicy::protected_ports).unwrap_or_default();
        ports.into_iter().flat_map(|port| patterns_of(port).0).collect()
    }

    /// Makes a session's WebSockets to protected ports and blocked hosts fail, which `Fetch` does not catch. The rules take the place of
    /// those before.
    pub(super) fn cut_off_session(&mut self, session: &SessionKey) {
        let meant = |rec: &&SessionRec| rec.kind.has_network() || rec.kind == SessionKind::Shared;
        let Some(rec) = self.sessions.get(session).filter(meant) else { return };
        if self.is_offline(&rec.page) {
            return; // nothing is reached
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

    /// What a session's network is to be like, where it is not as usual. There is one setting for what is cut off and what
    /// is slowed down.
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

    /// URL patterns of WebSockets that are cut off.
    fn socket_patterns(&self) -> Vec<String> {
        let Some(policy) = self.options.navigation() else { return Vec::new() };
        let unreachable = &self.options.unreachable_ports;
        let ports = policy.protected_ports().into_iter().filter(|port| !unreachable.contains(port));
        let blocked = if self.options.prepared { Vec::new() } else { policy.blocked_sockets() };
        ports.flat_map(|port| patterns_of(port).1).chain(blocked).collect()
    }

    /// URL patterns of what is cut off from a worker that pages share: HTTP too, since `Fetch` does not always catch it.
    fn worker_patterns(&self) -> Vec<String> {
        let Some(policy) = self.options.navigation() else { return Vec::new() };
        let ports = policy.protected_ports().into_iter().flat_map(|port| patterns_of(port).1);
        let http = |socket: String| [socket.replacen("ws", "http", 1), socket];
        ports.chain(policy.blocked_sockets()).flat_map(http).collect()
    }

    /// A session that may have had rules for ports is gone.
    pub(super) fn forget_cut_off(&mut self, gone: impl Fn(&str) -> bool) {
        self.navigation_checks.cut_off.retain(|session| !gone(session));
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

    /// Another request of a page was caught, and waits.
    pub(super) fn request_caught(&mut self, session: &SessionKey, caught: &Arc<Caught>, now: Now) {
        let asker = CheckRequester::Request { session: Arc::clone(session), caught: Arc::clone(caught), met: None };
        self.decide(caught.url().to_owned(), asker, now);
    }

    /// A caller wants to know whether a page may go somewhere.
    pub(super) fn may_visit(&mut self, url: String, reply: Response<()>, now: Now) {
        self.decide(url, CheckRequester::Caller(reply), now);
    }

    pub(super) fn decide(&mut self, url: String, asker: CheckRequester, now: Now) {
        let verdict = match (self.options.navigation(), &asker) {
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
            let outcome = self.options.navigation().map_or(Ok(()), |policy| asker.check(policy, &place, addresses));
            self.decided(&url, asker, outcome, now);
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

    /// A name was looked up.
    pub(in crate::supervisor) fn found(&mut self, found: ResolvedName, now: Now) {
        let known = &mut self.navigation_checks.known;
        if known.len() >= MAX_NAMES {
            known.retain(|_, (_, until)| *until > now.instant);
        }
        if known.len() >= MAX_NAMES {
            known.clear();
        }
        for waits in self.navigation_checks.take(|waits| waits.place.host == found.host) {
            let policy = self.options.navigation();
            let outcome = policy.map_or(Ok(()), |policy| waits.asker.check(policy, &waits.place, &found.addresses));
            self.decided(&waits.url, waits.asker, outcome, now);
        }
        // That there is no such name may be over in a moment.
        if !found.addresses.is_empty() {
            self.navigation_checks.known.insert(found.host, (found.addresses, now.instant + NAME_TTL));
        }
    }

    /// Whether a request waits for a host name.
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
            (CheckRequester::Document { session, caught, frame, .. }, Err(refused)) => {
                let main = self.is_top(&session, &frame);
                self.send(Some(&session), 0, refuse(&caught, main));
                self.blocked(&session, &frame, url, &refused, now);
            }
        }
    }

    /// Whether a frame is the top one of its page, also of one that is not known yet: a page's top frame has
    /// the id of its target.
    fn is_top(&self, session: &SessionKey, frame: &FrameId) -> bool {
        let page = self.page_of(session).and_then(|page| self.page_index(&page)).map(|index| &self.pages[index]);
        page.is_some_and(|page| page.top.as_ref() == Some(frame) || page.target.as_str() == frame.as_str())
    }

    /// Tells of a navigation that was blocked.
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
                page.url = BLANK.into(); // a popup that has shown nothing yet, and shows nothing now
            }
            let (url, reason) = (url.into(), refused.reason.as_str().into());
            page.blocked = Some(Arc::new(BlockedNavigation { number, url, reason }));
        }
    }

    /// A frame shows an address: one that it may not show is left for a blank one.
    pub(super) fn guard_frame(&mut self, session: &SessionKey, frame: &FrameId, url: &str, now: Now) {
        let main = self.is_top(session, frame);
        let refused = self.options.navigation().map(|policy| policy.check_frame(url, main));
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

    /// The server of a document answered: it is known now who that is.
    pub(super) fn document_response(&mut self, session: &SessionKey, came: &ResponseReceived<'_>, now: Now) {
        let (Some("Document"), Some(frame)) = (came.kind.as_deref(), &came.frame_id) else { return };
        let (Some(url), Some(address)) = (&came.response.url, &came.response.remote_ip_address) else { return };
        let refused = self.options.navigation().map(|policy| policy.check_reached(url, address));
        if let Some(Err(refused)) = refused {
            self.send_away(session, frame, url, &refused, now);
        }
    }

    /// A session is gone, and what it held.
    pub(super) fn unguard(&mut self, gone: impl Fn(&str) -> bool) {
        let gone = &gone;
        let held = |waits: &WaitingCheck| match &waits.asker {
            CheckRequester::Document { session, .. } | CheckRequester::Request { session, .. } => gone(session),
            CheckRequester::Caller(_) => false,
        };
        drop(self.navigation_checks.take(held));
        self.routing.drop_held(gone);
        self.interception.drop_of(gone);
    }

    /// No more answers will be sent.
    pub(super) fn stop_navigation_checks(&mut self, reason: &str) {
        for waits in self.navigation_checks.take(|_| true) {
            if let CheckRequester::Caller(reply) = waits.asker {
                let ended = Error::NotActive { reason: reason.to_owned() };
                self.requests.respond_later(PendingResponse::Done(reply, Err(ended)));
            }
        }
    }

    /// Refuses requests whose host name takes too long: a name server could be slow for this program alone.
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

    /// Whether a page shows what it did before we came.
    pub(super) fn was_there(&self, page: &TargetId) -> bool {
        self.page_index(page).is_some_and(|index| self.pages[index].was_there)
    }
}

impl Refused {
    /// The error for a caller.
    pub(in crate::supervisor) fn error(self, url: &str) -> Error {
        Error::NavigationBlocked { url: shown(url), reason: self.reason }
    }
}

/// Fails a request that may not be sent: for the document of the main frame, or another one.
fn refuse(caught: &Caught, main: bool) -> fetch::FailRequest {
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
