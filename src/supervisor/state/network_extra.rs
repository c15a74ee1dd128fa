//! Headers as sent over the network. Chromium reports them in separate events that contain only the id of the request,
//! arrive before or after the other events, and occur once per leg of a redirect. So they are matched to legs in order;
//! a leg that has none according to the browser (a cached response) is skipped.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::super::request_detail::RawHeaders;
use super::super::traffic::NetworkRequest;
use super::State;
use super::network_events::More;

/// Maximum number of tracked ids.
const IDS: usize = 1024;
/// Maximum number of legs per id: Chromium follows 20 redirects.
const LEGS: usize = 21;
/// Maximum number of headers per id that arrive before their leg.
const EARLY: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Request,
    Response,
}

/// The legs of one request.
#[derive(Debug, Default)]
struct Legs {
    newest: u64,
    /// Legs whose headers have not arrived, for requests and responses.
    awaited: [VecDeque<u64>; 2],
    /// Request headers that arrived before their leg.
    early: VecDeque<RawHeaders>,
    /// Legs that have ended in the meantime.
    ended: VecDeque<NetworkRequest>,
}

/// Requests with missing headers.
#[derive(Debug, Default)]
pub(super) struct Extras {
    legs: HashMap<Arc<str>, Legs>,
    order: VecDeque<Arc<str>>,
}

impl Extras {
    fn of(&mut self, id: &str) -> &mut Legs {
        if !self.legs.contains_key(id) {
            while self.order.len() >= IDS {
                if let Some(oldest) = self.order.pop_front() {
                    self.legs.remove(&oldest);
                }
            }
            self.order.push_back(id.into());
        }
        self.legs.entry(id.into()).or_default()
    }

    /// A leg begins. Returns its headers if they have already arrived.
    pub(super) fn began(&mut self, id: &str, number: u64) -> Option<RawHeaders> {
        let legs = self.of(id);
        legs.newest = number;
        for awaited in &mut legs.awaited {
            awaited.push_back(number);
            if awaited.len() > LEGS {
                awaited.pop_front();
            }
        }
        let early = legs.early.pop_front();
        if early.is_some() {
            legs.awaited[Side::Request as usize].retain(|leg| *leg != number);
        }
        early
    }

    /// The newest leg has no further headers.
    pub(super) fn none_for_newest(&mut self, id: &str) {
        if let Some(legs) = self.legs.get_mut(id) {
            let newest = legs.newest;
            legs.awaited.iter_mut().for_each(|awaited| awaited.retain(|leg| *leg != newest));
        }
    }

    /// A leg ended.
    pub(super) fn ended(&mut self, id: &str, request: &NetworkRequest) {
        let Some(legs) = self.legs.get_mut(id) else { return };
        if legs.awaited.iter().any(|awaited| awaited.contains(&request.number)) {
            legs.ended.push_back(request.clone());
            if legs.ended.len() > LEGS {
                legs.ended.pop_front();
            }
        }
    }

    /// Headers arrived. Returns the number of their leg.
    fn next(&mut self, id: &str, side: Side, headers: &RawHeaders) -> Option<u64> {
        let legs = self.of(id);
        let next = legs.awaited[side as usize].pop_front();
        if next.is_none() && side == Side::Request && legs.early.len() < EARLY {
            legs.early.push_back(headers.clone());
        }
        next
    }

    /// Takes a leg that has ended.
    fn take_ended(&mut self, id: &str, number: u64) -> Option<NetworkRequest> {
        let legs = self.legs.get_mut(id)?;
        let at = legs.ended.iter().position(|request| request.number == number)?;
        let request = legs.ended.get(at).cloned();
        if !legs.awaited.iter().any(|awaited| awaited.contains(&number)) {
            legs.ended.remove(at);
        }
        request
    }

    fn put_ended(&mut self, id: &str, request: &NetworkRequest) {
        if let Some(kept) =
            self.legs.get_mut(id).and_then(|legs| legs.ended.iter_mut().find(|kept| kept.number == request.number))
        {
            kept.clone_from(request);
        }
    }
}

impl State {
    /// The connection was lost: no missing headers will arrive.
    pub(super) fn forget_extras(&mut self) {
        self.network.extras = Extras::default();
    }

    pub(super) fn sent_more(&mut self, more: &More<'_>) {
        self.more(more, Side::Request);
    }

    pub(super) fn response_more(&mut self, more: &More<'_>) {
        self.more(more, Side::Response);
    }

    pub(super) fn served_from_cache(&mut self, id: &str) {
        self.network.update(id, |request| Arc::make_mut(&mut request.detail).from_cache = true);
    }

    fn more(&mut self, more: &More<'_>, side: Side) {
        let (id, headers) = (&*more.request_id, RawHeaders::of(Some(more.headers)));
        if !headers.are_known() {
            return;
        }
        let Some(number) = self.network.extras.next(id, side, &headers) else { return };
        let put = |request: &mut NetworkRequest| {
            let detail = Arc::make_mut(&mut request.detail);
            match side {
                Side::Request => detail.request_headers = headers.clone(),
                Side::Response => detail.response_headers = headers.clone(),
            }
        };
        if let Some(mut request) = self.network.extras.take_ended(id, number) {
            put(&mut request);
            self.network.keep(&request);
            self.network.extras.put_ended(id, &request);
            return;
        }
        self.network.update(id, |request| {
            if request.number == number {
                put(request);
            }
        });
    }
}
