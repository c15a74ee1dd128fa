//! Requests handed over to interceptors, and their outcomes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::super::error::Error;
use super::super::interception::{HandOver, Handed, Shared};
use super::super::network_route::{AbortReason, Encoded, RouteAction, RouteRule};
use super::super::url_glob::UrlGlob;
use super::bridging::Caught;
use super::pending_response::PendingResponse;
use super::routing::{MatchedRoute, fail};
use super::{Now, Response, SessionKey, State};
use crate::cdp::protocol::page::FrameId;

/// Maximum number of requests handed over at once; further ones are not answered.
const MOST: usize = 1024;

/// A request that waits for its answer.
#[derive(Debug)]
struct HeldRequest {
    until: Instant,
    session: SessionKey,
    caught: Arc<Caught>,
    document: Option<FrameId>,
    met: MatchedRoute,
}

/// Requests handed over, by number.
#[derive(Debug, Default)]
pub(super) struct Interception {
    requests: HashMap<u64, HeldRequest>,
    last: u64,
}

impl Interception {
    /// Drops requests of sessions that are gone, which the browser no longer holds.
    pub(super) fn drop_of(&mut self, is_ended: impl Fn(&str) -> bool) {
        self.requests.retain(|_, held| !is_ended(&held.session));
    }

    pub(super) fn next_check(&self) -> Option<Instant> {
        self.requests.values().map(|held| held.until).min()
    }

    fn take(&mut self, which: impl Fn(&HeldRequest) -> bool) -> Vec<HeldRequest> {
        let mut numbers: Vec<u64> =
            self.requests.iter().filter(|(_, held)| which(held)).map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.into_iter().filter_map(|number| self.requests.remove(&number)).collect()
    }
}

impl State {
    pub(super) fn intercept(&mut self, rule: RouteRule, glob: UrlGlob, hand: HandOver, reply: Response<()>, now: Now) {
        match self.insert_route(rule, glob, Encoded::default(), Some(hand)) {
            Ok(_) => self.renew_all_for(PendingResponse::Done(reply, Ok(())), now),
            Err(error) => self.requests.respond_later(PendingResponse::Done(reply, Err(error))),
        }
    }

    /// Hands a request over. If that is not possible, it continues without interception.
    pub(super) fn hand_over(
        &mut self,
        session: &SessionKey,
        caught: &Arc<Caught>,
        document: Option<FrameId>,
        met: MatchedRoute,
        now: Now,
    ) {
        let (Some(hand), Some(page)) = (met.hand.clone(), self.page_of(session)) else { return };
        self.interception.last += 1;
        let number = self.interception.last;
        let until = now.instant + hand.timeout;
        let handed = Handed {
            number,
            until,
            url: caught.url().to_owned(),
            method: caught.method().to_owned(),
            resource_type: caught.kind(),
            page,
            frame: caught.frame(),
            headers: caught.headers(),
            body: caught.body(),
            is_preflight: caught.preflight_for().is_some(),
        };
        if self.interception.requests.len() >= MOST || !hand.offer(handed) {
            self.unanswered(session, caught, document, &met, now);
            return;
        }
        let (session, caught) = (Arc::clone(session), Arc::clone(caught));
        self.interception.requests.insert(number, HeldRequest { until, session, caught, document, met });
    }

    /// The embedder answered a request or released it.
    pub(super) fn intercepted(
        &mut self,
        number: u64,
        answer: Option<(RouteAction, Encoded)>,
        reply: Option<Response<()>>,
        now: Now,
    ) {
        let held = self.interception.requests.remove(&number);
        if let Some(reply) = reply {
            let outcome = if held.is_some() { Ok(()) } else { Err(Error::RequestGone) };
            self.requests.respond_later(PendingResponse::Done(reply, outcome));
        }
        match (held, answer) {
            (None, _) => {}
            (Some(held), None) => self.release(held, now),
            (Some(HeldRequest { session, caught, document, met, .. }), Some((action, body))) => {
                self.decide_anew(session, caught, document, met.answered(action, body), now);
            }
        }
    }

    /// An interceptor was dropped.
    pub(super) fn end_interception(&mut self, shared: &Arc<Shared>, now: Now) {
        let is_of = |hand: Option<&HandOver>| hand.is_some_and(|hand| Arc::ptr_eq(&hand.shared, shared));
        if self.remove_hands(|hand| is_of(Some(hand))) {
            for held in self.interception.take(|held| is_of(held.met.hand.as_ref())) {
                self.release(held, now);
            }
            self.renew_all(None, now);
        }
    }

    /// Continues requests that were not answered in time.
    pub(super) fn check_intercepted(&mut self, now: Now) {
        for held in self.interception.take(|held| held.until <= now.instant) {
            self.release(held, now);
        }
    }

    fn release(&mut self, held: HeldRequest, now: Now) {
        let HeldRequest { session, caught, document, met, .. } = held;
        self.unanswered(&session, &caught, document, &met, now);
    }

    /// A request was not answered: it fails, or continues without its interceptor.
    fn unanswered(
        &mut self,
        session: &SessionKey,
        caught: &Arc<Caught>,
        document: Option<FrameId>,
        met: &MatchedRoute,
        now: Now,
    ) {
        if met.hand.as_ref().is_some_and(|hand| hand.fails_unanswered) {
            self.send(Some(session), 0, fail(&caught.request(), AbortReason::BlockedByClient));
        } else {
            self.pass_without(session, caught, document, met, now);
        }
    }
}
