//! Routes: which one applies to a request that the policy allows, delayed requests, and confirmation of changes by the
//! browser.
//!
//! An intercepted request is first checked for a call of the dialog bridge, then by the policy, then against the
//! routes, newest first; otherwise it continues. Routes add only their own patterns, so that without routes nothing
//! more is intercepted. A delayed request is kept with its due time, at which the supervisor's thread wakes up; the
//! policy then checks it again. CORS preflights are intercepted as separate requests and answered for routes that
//! fulfil. Chromium 156 reports requests of `fetch()` as `XHR` here, and those of dedicated workers on the session of
//! their page only.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::error::Error;
use super::super::interception::HandOver;
use super::super::network_route::{
    AbortReason, Encoded, FulfilRequest, Fulfilment, Header, HeaderList, NetworkRoute, RouteAction, RouteAnswer,
    RouteRule,
};
use super::super::persistent_commands::Throttle;
use super::super::url_glob::UrlGlob;
use super::bridging::Caught;
use super::effect::RoutePattern;
use super::navigation_checks::CheckRequester;
use super::pending_response::PendingResponse;
use super::{Now, Outgoing, SessionKey, State, Waiting};
use crate::cdp;
use crate::cdp::protocol::fetch;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;
use crate::redact::cover_header;

/// Maximum number of routes.
const MAX_ROUTES: usize = 256;
/// Maximum size of the bodies of all routes, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of delayed requests; further ones continue without their delay.
const MAX_HELD: usize = 1024;
/// Maximum size of bodies on their way to the browser, in bytes. Further requests wait until it has received some.
const MAX_IN_FLIGHT_BYTES: usize = 64 * 1024 * 1024;
/// Interval at which such a request is retried.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// How long to wait for the browser to confirm a change. The confirmation does not depend on pages.
const CONFIRM_LIMIT: Duration = Duration::from_secs(1);
/// The same for an interceptor, whose caller sets its own deadline: a busy machine may take longer than a second.
const INTERCEPTOR_CONFIRM_LIMIT: Duration = Duration::from_secs(10);

/// A route.
#[derive(Debug)]
struct Route {
    number: u64,
    rule: Arc<RouteRule>,
    body: Encoded,
    glob: UrlGlob,
    hits: u64,
    /// Queue for its requests, for an interceptor.
    hand: Option<HandOver>,
    /// Number of requests that it still applies to. At 0 it stays until its delayed requests have continued: `Fetch`
    /// releases requests that match no pattern any more.
    left: Option<u32>,
}

/// The route that applies to a request.
#[derive(Debug, Clone)]
pub(super) struct MatchedRoute {
    number: u64,
    rule: Arc<RouteRule>,
    body: Encoded,
    pub(super) hand: Option<HandOver>,
}

impl MatchedRoute {
    /// The match with the embedder's answer to the request.
    pub(super) fn answered(self, action: RouteAction, body: Encoded) -> Self {
        let rule = RouteRule { action, ..(*self.rule).clone() };
        Self { rule: Arc::new(rule), body, hand: None, ..self }
    }
}

/// A delayed request.
#[derive(Debug)]
struct Held {
    until: Instant,
    session: SessionKey,
    caught: Arc<Caught>,
    document: Option<FrameId>,
    met: MatchedRoute,
}

/// A change that the browser has not confirmed yet.
#[derive(Debug)]
struct Change {
    response: Option<PendingResponse>,
    open: usize,
    until: Instant,
    /// What to revert if a page's session rejects the change.
    undo: Option<Rollback>,
}

/// How to revert a change.
#[derive(Debug)]
pub(super) enum Rollback {
    /// The route is removed.
    Route(u64),
    /// The page's previous throttling is restored.
    Throttle(TargetId, Option<Throttle>),
}

/// The routes of all pages.
#[derive(Debug, Default)]
pub(super) struct Routing {
    routes: Vec<Route>,
    last: u64,
    /// Whether there has ever been a route or login: then all intercepted requests are ours.
    used: bool,
    held: Vec<Held>,
    changes: HashMap<u64, Change>,
    last_change: u64,
    /// Size of bodies that the browser has not received yet, in bytes.
    bytes_in_flight: usize,
}

impl Route {
    fn holds_for(&self, page: &TargetId) -> bool {
        self.rule.target.as_ref().is_none_or(|target| target == page)
    }

    /// Whether it applies to the pages of a client.
    fn is_for(&self, client: Option<&Arc<str>>) -> bool {
        self.rule.client.is_none() || self.rule.client.as_ref() == client
    }

    /// Whether it is listed. An interceptor belongs to the receiver of its requests.
    fn is_listed(&self) -> bool {
        self.hand.is_none() && !self.is_spent()
    }

    fn is_spent(&self) -> bool {
        self.left == Some(0)
    }

    fn matches(&self, caught: &Caught) -> bool {
        let same = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        if let Some(method) = caught.preflight_for() {
            // A preflight is answered only in place of a server that is not contacted; other servers answer it
            // themselves.
            let is_handed = self.hand.as_ref().is_none_or(|hand| !hand.changing);
            return is_handed
                && self.answers_preflights()
                && same(&self.rule.method, &method)
                && self.glob.matches(caught.url());
        }
        if self.hand.as_ref().is_some_and(|hand| hand.changing) && is_safe(caught.method()) {
            return false;
        }
        let kind = caught.kind();
        let wanted = self.rule.resource_type.as_deref();
        let of_type = wanted.is_none_or(|wanted| one_type(wanted) == one_type(&kind));
        of_type && same(&self.rule.method, caught.method()) && self.glob.matches(caught.url())
    }

    fn answers_preflights(&self) -> bool {
        self.hand.is_some() || matches!(self.rule.action, RouteAction::Fulfil(_))
    }

    fn pattern(&self) -> RoutePattern {
        // A preflight has its own resource type.
        let of_type = self.rule.resource_type.clone().filter(|_| !self.answers_preflights());
        RoutePattern { url: self.glob.for_fetch(), resource_type: of_type }
    }
}

/// Whether a method changes nothing (RFC 9110, 9.2.1).
fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE")
}

/// `Fetch` reports requests of `fetch()` as XHR.
fn one_type(kind: &str) -> &str {
    if kind == "fetch" { "xhr" } else { kind }
}

impl Routing {
    pub(super) fn was_used(&self) -> bool {
        self.used
    }

    pub(super) fn use_it(&mut self) {
        self.used = true;
    }

    /// Whether a route may apply to the first document of a new page.
    pub(super) fn holds_for_new_pages(&self) -> bool {
        self.routes.iter().any(|route| route.rule.target.is_none())
    }

    /// The `Fetch` patterns for a page of a client.
    pub(super) fn patterns(&self, page: &TargetId, client: Option<&Arc<str>>) -> Vec<RoutePattern> {
        let applies = |route: &&Route| route.holds_for(page) && route.is_for(client);
        self.routes.iter().filter(applies).map(Route::pattern).collect()
    }

    /// Whether the requests of a client's pages are held if they may change something.
    pub(super) fn holds_changes_of(&self, client: Option<&Arc<str>>) -> bool {
        let holds = |route: &Route| route.hand.as_ref().is_some_and(|hand| hand.changing && hand.fails_unanswered);
        client.is_some() && self.routes.iter().any(|route| route.rule.client.as_ref() == client && holds(route))
    }

    /// Whether there are routes for the pages of a client.
    pub(super) fn has_routes_of(&self, client: Option<&Arc<str>>) -> bool {
        client.is_some() && self.routes.iter().any(|route| route.rule.client.as_ref() == client)
    }

    /// Whether request bodies may be needed.
    pub(super) fn reads_bodies(&self) -> bool {
        self.routes.iter().any(|route| route.hand.is_some())
    }

    pub(super) fn drop_held(&mut self, is_ended: impl Fn(&str) -> bool) {
        self.held.retain(|held| !is_ended(&held.session));
    }
}

impl State {
    pub(super) fn add_route(
        &mut self,
        (rule, glob, body): (RouteRule, UrlGlob, Encoded),
        reply: super::Response<NetworkRoute>,
        now: Now,
    ) {
        let response = match self.insert_route(rule, glob, body, None) {
            Ok(route) => PendingResponse::Route(reply, Ok(route)),
            Err(error) => {
                self.requests.respond_later(PendingResponse::Route(reply, Err(error)));
                return;
            }
        };
        let undo = Rollback::Route(self.routing.last);
        self.renew_all(Some((response, Some(undo))), now);
    }

    pub(super) fn insert_route(
        &mut self,
        rule: RouteRule,
        glob: UrlGlob,
        body: Encoded,
        hand: Option<HandOver>,
    ) -> Result<NetworkRoute, Error> {
        if let Some(target) = rule.target.as_ref().filter(|target| self.page_index(target).is_none()) {
            return Err(Error::PageNotFound { target: target.to_string() });
        }
        let length = |rule: &RouteRule| match &rule.action {
            RouteAction::Fulfil(answer) => answer.body.len(),
            _ => 0,
        };
        let bytes: usize = self.routing.routes.iter().map(|route| length(&route.rule)).sum();
        if self.routing.routes.len() >= MAX_ROUTES || bytes + length(&rule) > MAX_BODY_BYTES {
            let problem = format!(
                "the limit is reached: {} routes with {bytes} bytes of bodies; remove some first",
                self.routing.routes.len()
            );
            return Err(Error::TooManyRoutes { problem });
        }
        self.routing.used = true;
        self.routing.last += 1;
        let left = rule.times;
        let route = Route { number: self.routing.last, rule: Arc::new(rule), body, glob, hits: 0, hand, left };
        let listed = self.listed(&route);
        self.routing.routes.push(route);
        Ok(listed)
    }

    /// All routes, oldest first.
    pub(super) fn list_routes(&self) -> Vec<NetworkRoute> {
        let listed = self.routing.routes.iter().filter(|route| route.is_listed());
        listed.map(|route| self.listed(route)).collect()
    }

    pub(super) fn remove_routes(&mut self, id: Option<&str>, reply: super::Response<Vec<NetworkRoute>>, now: Now) {
        let is_meant = |route: &Route| route.is_listed() && id.is_none_or(|id| id_of(route.number) == id);
        let removed: Vec<NetworkRoute> =
            self.routing.routes.iter().filter(|route| is_meant(route)).map(|route| self.listed(route)).collect();
        if let Some(id) = id.filter(|_| removed.is_empty()) {
            let known =
                self.routing.routes.iter().filter(|route| route.is_listed()).map(|route| id_of(route.number)).collect();
            let error = Error::RouteNotFound { id: id.chars().take(40).collect(), known };
            self.requests.respond_later(PendingResponse::Routes(reply, Err(error)));
            return;
        }
        self.routing.routes.retain(|route| !is_meant(route));
        // Their delayed requests continue unchanged.
        let remaining: Vec<u64> = self.routing.routes.iter().map(|route| route.number).collect();
        let (held, free) =
            std::mem::take(&mut self.routing.held).into_iter().partition(|held| remaining.contains(&held.met.number));
        self.routing.held = held;
        let free: Vec<Held> = free;
        for held in free {
            let mut rule = (*held.met.rule).clone();
            rule.action = RouteAction::Continue { headers: Vec::new() };
            let met = MatchedRoute { rule: Arc::new(rule), ..held.met };
            self.go_on(Held { met, ..held }, now);
        }
        self.renew_all(Some((PendingResponse::Routes(reply, Ok(removed)), None)), now);
    }

    fn listed(&self, route: &Route) -> NetworkRoute {
        let rule = &route.rule;
        let headers = |all: &HeaderList| {
            let header = |(name, value): &(String, String)| Header {
                name: name.clone(),
                value: cover_header(&self.options.secrets, name, value).into_owned(),
            };
            all.iter().map(header).collect()
        };
        let (abort, fulfil, request_headers) = match &rule.action {
            RouteAction::Abort(reason) => (Some(*reason), None, Vec::new()),
            RouteAction::Fulfil(answer) => {
                let (status, body_bytes) = (answer.status, answer.body.len());
                (None, Some(RouteAnswer { status, headers: headers(&answer.headers), body_bytes }), Vec::new())
            }
            RouteAction::Continue { headers: own } => (None, None, headers(own)),
        };
        NetworkRoute {
            id: id_of(route.number),
            pattern: self.options.secrets.cover(&rule.pattern).into_owned(),
            target_id: rule.target.as_ref().map(ToString::to_string),
            method: rule.method.clone(),
            resource_type: rule.resource_type.clone(),
            abort,
            fulfil,
            request_headers,
            delay_ms: (!rule.delay.is_zero()).then(|| u64::try_from(rule.delay.as_millis()).unwrap_or(u64::MAX)),
            times: route.left,
            hits: route.hits,
            client: rule.client.clone(),
        }
    }

    /// Like [`renew_all`](Self::renew_all), for a response without rollback.
    pub(super) fn renew_all_for(&mut self, response: PendingResponse, now: Now) {
        self.renew_within(INTERCEPTOR_CONFIRM_LIMIT, Some((response, None)), now);
    }

    /// Removes interceptors. Returns whether there were any.
    pub(super) fn remove_hands(&mut self, which: impl Fn(&HandOver) -> bool) -> bool {
        let before = self.routing.routes.len();
        self.routing.routes.retain(|route| !route.hand.as_ref().is_some_and(&which));
        self.routing.routes.len() < before
    }

    /// A page has a client, whose routes apply to it from now on; `response` follows when the browser has confirmed that.
    pub(super) fn assign_page(
        &mut self,
        page: &TargetId,
        client: Option<Arc<str>>,
        reply: super::Response<()>,
        now: Now,
    ) {
        let Some(at) = self.page_index(page) else {
            self.requests.respond_later(PendingResponse::Done(reply, Ok(())));
            return;
        };
        let before = std::mem::replace(&mut self.pages[at].client, client.clone());
        let renews = before != client
            && (self.routing.has_routes_of(before.as_ref()) || self.routing.has_routes_of(client.as_ref()));
        let of_page = |(_, rec): &(&SessionKey, &super::sessions::SessionRec)| renews && rec.page == *page;
        let sessions: Vec<SessionKey> = self.sessions.iter().filter(of_page).map(|(key, _)| Arc::clone(key)).collect();
        for session in &sessions {
            let kind = self.sessions.get(session).map(|rec| rec.kind);
            if let Some(kind) = kind {
                self.hold_session(session, kind, page);
            }
        }
        let commands = sessions.into_iter().filter_map(|session| {
            let catch = self.catching(&session)?;
            Some((session, catch.command()))
        });
        let commands = commands.collect();
        self.confirmed_within(
            INTERCEPTOR_CONFIRM_LIMIT,
            commands,
            Some((PendingResponse::Done(reply, Ok(())), None)),
            now,
        );
    }

    /// Updates the interception of all sessions; `response` follows when the browser has confirmed it.
    pub(super) fn renew_all(&mut self, response: Option<(PendingResponse, Option<Rollback>)>, now: Now) {
        self.renew_within(CONFIRM_LIMIT, response, now);
    }

    fn renew_within(&mut self, limit: Duration, response: Option<(PendingResponse, Option<Rollback>)>, now: Now) {
        let sessions: Vec<SessionKey> = self.sessions.keys().map(Arc::clone).collect();
        let commands = sessions.into_iter().filter_map(|session| {
            let catch = self.catching(&session)?;
            Some((session, catch.command()))
        });
        let commands = commands.collect();
        self.confirmed_within(limit, commands, response, now);
    }

    /// Sends commands; `response` follows when the browser has confirmed them. If a page's session rejects one, the
    /// change is reverted and the response is an error.
    pub(super) fn confirmed(
        &mut self,
        commands: Vec<(SessionKey, Outgoing)>,
        response: Option<(PendingResponse, Option<Rollback>)>,
        now: Now,
    ) {
        self.confirmed_within(CONFIRM_LIMIT, commands, response, now);
    }

    fn confirmed_within(
        &mut self,
        limit: Duration,
        commands: Vec<(SessionKey, Outgoing)>,
        response: Option<(PendingResponse, Option<Rollback>)>,
        now: Now,
    ) {
        let open = commands.len();
        let (response, undo) = response.map_or((None, None), |(response, undo)| (Some(response), undo));
        if open == 0 {
            if let Some(response) = response {
                self.requests.respond_later(response);
            }
            return;
        }
        self.routing.last_change += 1;
        let change = self.routing.last_change;
        for (session, command) in commands {
            // Sessions of workers may not support the command.
            let page = self.sessions.get(&session).is_some_and(|rec| rec.kind.has_frames());
            let tag = self.expect(Waiting::Routed { change, page });
            self.send(Some(&session), tag, command);
        }
        self.routing.changes.insert(change, Change { response, open, until: now.instant + limit, undo });
    }

    /// A session has answered its command, or is gone.
    pub(super) fn route_confirmed(&mut self, change: u64, error: Option<cdp::Error>) {
        let Some(open) = self.routing.changes.get_mut(&change) else { return };
        let mut undo = None;
        if let Some(error @ cdp::Error::Protocol { .. }) = error {
            match &mut open.response {
                Some(PendingResponse::Done(_, outcome)) => *outcome = Err(error.into()),
                Some(PendingResponse::Route(_, outcome)) => *outcome = Err(error.into()),
                _ => {}
            }
            undo = open.undo.take();
        }
        open.open = open.open.saturating_sub(1);
        if open.open == 0 {
            self.change_over(change);
        }
        match undo {
            Some(Rollback::Route(number)) => self.routing.routes.retain(|route| route.number != number),
            Some(Rollback::Throttle(page, had)) => self.keep_throttle(&page, had),
            None => {}
        }
    }

    /// The browser answered a command for an intercepted request. If it rejected a route's changes, the request is
    /// failed, since it would wait forever.
    pub(super) fn route_answered(
        &mut self,
        session: &SessionKey,
        request: Arc<str>,
        bytes: usize,
        error: Option<cdp::Error>,
    ) {
        self.routing.bytes_in_flight = self.routing.bytes_in_flight.saturating_sub(bytes);
        if let Some(error @ cdp::Error::Protocol { .. }) = error {
            tracing::warn!(%error, "the browser rejected the changes of a route; the request fails");
            self.send(Some(session), 0, fail(&request, AbortReason::Failed));
        }
    }

    fn change_over(&mut self, change: u64) {
        if let Some(response) = self.routing.changes.remove(&change).and_then(|change| change.response) {
            self.requests.respond_later(response);
        }
    }

    /// The connection was lost: pending changes count as confirmed, since the next connection starts with the current
    /// settings.
    pub(super) fn stop_confirming(&mut self) {
        self.routing.bytes_in_flight = 0;
        let changes: Vec<u64> = self.routing.changes.keys().copied().collect();
        for change in changes {
            self.change_over(change);
        }
    }

    /// The policy allows an intercepted request: it continues, or a route applies.
    pub(super) fn passed(
        &mut self,
        session: &SessionKey,
        caught: &Arc<Caught>,
        document: Option<FrameId>,
        met: Option<MatchedRoute>,
        now: Now,
    ) {
        let first = met.is_none();
        let Some(met) = met.or_else(|| self.meet(session, caught, u64::MAX)) else {
            self.send(Some(session), 0, go_on(&caught.request()));
            return;
        };
        if met.hand.is_some() {
            self.hand_over(session, caught, document, met, now);
            return;
        }
        let delay = Some(met.rule.delay).filter(|delay| first && !delay.is_zero() && caught.preflight_for().is_none());
        let full =
            self.routing.bytes_in_flight > 0 && self.routing.bytes_in_flight + met.body.len() > MAX_IN_FLIGHT_BYTES;
        let Some(delay) =
            delay.or_else(|| full.then_some(RETRY_INTERVAL)).filter(|_| self.routing.held.len() < MAX_HELD)
        else {
            if full {
                let reason = AbortReason::Failed;
                self.send(Some(session), 0, fail(&caught.request(), reason));
            } else {
                self.carry_out(session, caught, &met);
            }
            return;
        };
        let until = now.instant + delay;
        let (session, caught) = (Arc::clone(session), Arc::clone(caught));
        self.routing.held.push(Held { until, session, caught, document, met });
    }

    /// A request continues without its interceptor: an older route may apply.
    pub(super) fn pass_without(
        &mut self,
        session: &SessionKey,
        caught: &Arc<Caught>,
        document: Option<FrameId>,
        met: &MatchedRoute,
        now: Now,
    ) {
        match self.meet(session, caught, met.number) {
            Some(older) if older.hand.is_some() => self.hand_over(session, caught, document, older, now),
            Some(older) => {
                let delay = Some(older.rule.delay).filter(|delay| !delay.is_zero() && caught.preflight_for().is_none());
                match delay.filter(|_| self.routing.held.len() < MAX_HELD) {
                    Some(delay) => {
                        let (session, caught) = (Arc::clone(session), Arc::clone(caught));
                        let until = now.instant + delay;
                        self.routing.held.push(Held { until, session, caught, document, met: older });
                    }
                    None => self.decide_anew(Arc::clone(session), Arc::clone(caught), document, older, now),
                }
            }
            None => {
                let met = met.clone().answered(RouteAction::Continue { headers: Vec::new() }, Encoded::default());
                self.decide_anew(Arc::clone(session), Arc::clone(caught), document, met, now);
            }
        }
    }

    /// The newest matching route with a number below `below`.
    fn meet(&mut self, session: &SessionKey, caught: &Caught, below: u64) -> Option<MatchedRoute> {
        if self.routing.routes.is_empty() {
            return None;
        }
        let page = self.page_of(session)?;
        let client = self.pages.iter().find(|rec| rec.target == page).and_then(|rec| rec.client.clone());
        let matches = |route: &Route| {
            route.number < below
                && !route.is_spent()
                && route.holds_for(&page)
                && route.is_for(client.as_ref())
                && route.matches(caught)
        };
        let at = self.routing.routes.iter().rposition(matches)?;
        let route = self.routing.routes.get_mut(at)?;
        let (rule, body, hand) = (Arc::clone(&route.rule), route.body.clone(), route.hand.clone());
        let met = MatchedRoute { number: route.number, rule, body, hand };
        if caught.preflight_for().is_some() {
            return Some(met);
        }
        route.hits += 1;
        if let Some(left) = &mut route.left {
            *left -= 1;
        }
        Some(met)
    }

    fn carry_out(&mut self, session: &SessionKey, caught: &Caught, met: &MatchedRoute) {
        let request = caught.request();
        let mut bytes = 0;
        let command: Outgoing = match &met.rule.action {
            RouteAction::Abort(reason) => fail(&request, *reason).into(),
            RouteAction::Fulfil(answer) => {
                let (answer, body) = fulfilled(caught, answer, &met.body);
                bytes = body;
                answer.into()
            }
            RouteAction::Continue { headers } if headers.is_empty() => go_on(&request).into(),
            RouteAction::Continue { headers } => {
                let is_own = |name: &str| headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
                let kept = caught.headers().into_iter().filter(|(name, _)| !is_own(name));
                let mut changed = go_on(&request);
                changed.headers = Some(kept.chain(headers.iter().cloned()).map(entry).collect());
                changed.into()
            }
        };
        self.routing.bytes_in_flight += bytes;
        let (session, request) = (Arc::clone(session), caught.request());
        let tag = self.expect(Waiting::Answered { session: Arc::clone(&session), request, bytes });
        self.send(Some(&session), tag, command);
    }

    /// The delay of a request is over. The policy may have changed in the meantime.
    fn go_on(&mut self, held: Held, now: Now) {
        let Held { session, caught, document, met, .. } = held;
        self.decide_anew(session, caught, document, met, now);
    }

    /// Applies a route to a request, if the policy still allows the request.
    pub(super) fn decide_anew(
        &mut self,
        session: SessionKey,
        caught: Arc<Caught>,
        document: Option<FrameId>,
        met: MatchedRoute,
        now: Now,
    ) {
        let url = caught.url().to_owned();
        if !self.has_navigation_policy() {
            self.passed(&session, &caught, document, Some(met), now);
            return;
        }
        let met = Some(met);
        let asker = match document {
            Some(frame) => CheckRequester::Document { session, caught, frame, met },
            None => CheckRequester::Request { session, caught, met },
        };
        self.decide(url, asker, now);
    }

    /// Continues requests whose delay is over, and ends waits for confirmation.
    pub(super) fn check_routes(&mut self, now: Now) {
        self.check_intercepted(now);
        if self.routing.held.iter().any(|held| held.until <= now.instant) {
            let (due, held) =
                std::mem::take(&mut self.routing.held).into_iter().partition(|held| held.until <= now.instant);
            self.routing.held = held;
            let due: Vec<Held> = due;
            for held in due {
                self.go_on(held, now);
            }
        }
        let Routing { routes, held, .. } = &mut self.routing;
        let before = routes.len();
        routes.retain(|route| !route.is_spent() || held.iter().any(|held| held.met.number == route.number));
        if routes.len() < before {
            self.renew_all(None, now);
        }
        let late = self.routing.changes.iter().filter(|(_, change)| change.until <= now.instant);
        let late: Vec<u64> = late.map(|(change, _)| *change).collect();
        for change in late {
            self.change_over(change);
        }
    }

    pub(super) fn next_route_check(&self) -> Option<Instant> {
        let held = self.routing.held.iter().map(|held| held.until);
        let changes = self.routing.changes.values().map(|change| change.until);
        held.chain(changes).chain(self.interception.next_check()).min()
    }

    /// A page was closed: removes its routes.
    pub(super) fn forget_routes_of(&mut self, page: &TargetId) {
        self.routing.routes.retain(|route| route.rule.target.as_ref() != Some(page));
    }
}

fn id_of(number: u64) -> String {
    format!("route{number}")
}

/// The response to a request, and the size of its body. Pages of other origins are allowed to read it.
fn fulfilled(caught: &Caught, answer: &Arc<Fulfilment>, body: &Encoded) -> (FulfilRequest, usize) {
    let sent: BTreeMap<String, String> =
        caught.headers().into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    let own = |name: &str| answer.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let mut more: HeaderList = Vec::new();
    let origin = sent.get("origin").filter(|origin| !caught.url().starts_with(&format!("{origin}/")));
    if let Some(origin) = origin.filter(|_| !own("access-control-allow-origin")) {
        let mut add = |name: &str, value: &str| more.push((name.to_owned(), value.to_owned()));
        add("Access-Control-Allow-Origin", origin);
        add("Access-Control-Allow-Credentials", "true");
        if !own("vary") {
            add("Vary", "Origin");
        }
    }
    if caught.preflight_for().is_none() {
        let headers = answer.headers.iter().cloned().chain(more).map(entry).collect();
        return (FulfilRequest::new(caught.request(), answer.status, headers, body.clone()), body.len());
    }
    for (asked, allowed) in [
        ("access-control-request-method", "Access-Control-Allow-Methods"),
        ("access-control-request-headers", "Access-Control-Allow-Headers"),
    ] {
        more.extend(sent.get(asked).map(|value| (allowed.to_owned(), value.clone())));
    }
    if let Some(allowed) =
        answer.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("access-control-allow-origin"))
    {
        more.push(allowed.clone());
    }
    let (headers, empty) = (more.into_iter().map(entry).collect(), Encoded::default());
    let bytes = empty.len();
    (FulfilRequest::new(caught.request(), 204, headers, empty), bytes)
}

fn entry((name, value): (String, String)) -> fetch::HeaderEntry {
    fetch::HeaderEntry::new(name, value)
}

/// A caught request goes on.
pub(super) fn go_on(request: &str) -> fetch::ContinueRequest {
    fetch::ContinueRequest::new(fetch::RequestId::from(request))
}

/// A caught request fails.
pub(super) fn fail(request: &str, reason: AbortReason) -> fetch::FailRequest {
    fetch::FailRequest::new(fetch::RequestId::from(request), reason.wire())
}

#[cfg(test)]
#[path = "routing_tests.rs"]
mod tests;
