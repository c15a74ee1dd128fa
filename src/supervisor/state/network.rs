//! Network requests: one record each while in flight, then passed to the ring of its page.
//!
//! Observed in Chromium 156:
//! - A request keeps its id over redirects; each leg begins with `requestWillBeSent`, which contains the response of
//!   the previous leg.
//! - All sessions report a request under the same id: a navigation that moves a frame to another process begins on one
//!   session and ends on another. So records are keyed by id alone.
//! - Requests of an old document are mostly reported as cancelled; those that may outlive it (`keepalive`) never end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::super::page_ring::RingUpdate;
use super::super::request_detail::{RawHeaders, RequestDetail};
use super::super::traffic::{Loading, NetworkRequest, Traffic};
use super::network_events::{Failed, Finished, Head, Response, Sent, Socket};
use super::network_extra::Extras;
use super::{Effect, Now, SessionKey, State};
use crate::cdp::protocol::network as protocol;
use crate::cdp::protocol::page::FrameId;
use crate::cdp::protocol::target::TargetId;

/// Maximum number of tracked requests in flight, over all pages; the oldest is dropped first.
const OPEN: usize = 2048;
/// Maximum length of a URL, in bytes.
const URL: usize = 2048;
/// Maximum length of a `data:` URL, in bytes: the rest is content.
const DATA_URL: usize = 64;
/// Bytes of responses that a process keeps for us, all together and of one.
const BODIES: i64 = 20 * 1024 * 1024;
const BODY: i64 = 5 * 1024 * 1024;
/// Size of an entry without its texts, in bytes.
const ENTRY: usize = 256;
/// Chromium's error for requests of a document that was left.
const LEFT: &str = "net::ERR_ABORTED";

/// A request in flight.
#[derive(Debug)]
struct Open {
    entry: NetworkRequest,
    /// Loader id of the document that made it, or that it loads.
    loader: Arc<str>,
    /// Start in seconds of Chromium's clock; none for a socket.
    began: Option<f64>,
}

impl Open {
    fn is_navigation(&self) -> bool {
        !self.loader.is_empty() && self.loader == self.entry.raw_id
    }
}

/// The network of all pages.
#[derive(Debug, Default)]
pub(super) struct Network {
    on: bool,
    last: u64,
    open: HashMap<Arc<str>, Open>,
    /// Ids by number, with the published entry of those that count as in flight.
    order: BTreeMap<u64, (Arc<str>, Option<Arc<Loading>>)>,
    pub(super) extras: Extras,
    updates: Vec<RingUpdate<NetworkRequest>>,
    lost: u64,
    changed: bool,
}

impl Network {
    pub(super) fn keep(&mut self, entry: &NetworkRequest) {
        let bytes =
            ENTRY + entry.url.len() + entry.failure.as_ref().map_or(0, |text| text.len()) + entry.detail.bytes();
        let entry = Arc::new(entry.clone());
        self.updates.push(RingUpdate::Put { page: entry.target_id.clone(), number: entry.number, bytes, entry });
    }

    /// Changes a tracked request.
    pub(super) fn update(&mut self, id: &str, change: impl FnOnce(&mut NetworkRequest)) {
        self.update_open(id, |open| change(&mut open.entry));
    }

    fn update_open(&mut self, id: &str, change: impl FnOnce(&mut Open)) {
        let Some(open) = self.open.get_mut(id) else { return };
        change(open);
        let entry = open.entry.clone();
        self.keep(&entry);
    }

    /// The response headers arrived; the body is pending.
    fn has_head(&mut self, id: &str, now: Now) {
        let Some(open) = self.open.get(id) else { return };
        if let Some((_, Some(shown))) = self.order.get_mut(&open.entry.number) {
            *shown = Arc::new(Loading { answered: Some(now.instant), ..(**shown).clone() });
            self.changed = true;
        }
    }

    /// A request ended.
    fn end(&mut self, id: &str, change: impl FnOnce(&mut Open)) {
        self.update_open(id, change);
        if let Some(open) = self.open.get(id) {
            self.extras.ended(id, &open.entry);
        }
        self.give_up(id);
    }

    /// Stops tracking a request.
    fn give_up(&mut self, id: &str) {
        if let Some(open) = self.open.remove(id) {
            self.changed |= self.order.remove(&open.entry.number).is_some_and(|(_, shown)| shown.is_some());
        }
    }

    /// A request no longer counts as in flight; its end may still be reported.
    fn leave(&mut self, id: &str) {
        let Some(open) = self.open.get_mut(id) else { return };
        let shown = self.order.get_mut(&open.entry.number).and_then(|(_, shown)| shown.take());
        if shown.is_some() {
            self.changed = true;
            self.update(id, |entry| entry.failure = Some(LEFT.into()));
        }
    }

    /// The URL that a frame is navigating to, if navigating there again has the same result: a GET request whose URL is
    /// not truncated.
    pub(super) fn destination_of(&self, frame: &FrameId) -> Option<String> {
        let newest = self.order.values().rev().filter_map(|(id, _)| self.open.get(id));
        let open =
            newest.into_iter().find(|open| open.is_navigation() && open.entry.frame_id.as_ref() == Some(frame))?;
        let again = &*open.entry.method == "GET" && open.entry.url.len() < URL && open.entry.url.starts_with("http");
        again.then(|| open.entry.url.to_string())
    }

    fn ids(&self, which: impl Fn(&Open) -> bool) -> Vec<Arc<str>> {
        self.open.iter().filter(|(_, open)| which(open)).map(|(id, _)| Arc::clone(id)).collect()
    }

    fn add(&mut self, open: Open, counts: bool, now: Now) {
        self.give_up(&Arc::clone(&open.entry.raw_id));
        while self.open.len() >= OPEN {
            let Some((_, (oldest, _))) = self.order.first_key_value() else { break };
            let oldest = Arc::clone(oldest);
            self.give_up(&oldest);
        }
        let entry = &open.entry;
        let shown = counts.then(|| {
            Arc::new(Loading {
                number: entry.number,
                target_id: entry.target_id.clone(),
                frame_id: entry.frame_id.clone(),
                resource_type: Arc::clone(&entry.resource_type),
                url: Arc::clone(&entry.url),
                since: now.instant,
                answered: None,
            })
        });
        self.changed = true; // the number of the newest request has changed
        self.order.insert(entry.number, (Arc::clone(&entry.raw_id), shown));
        self.keep(&open.entry.clone());
        self.open.insert(Arc::clone(&open.entry.raw_id), open);
    }
}

impl State {
    /// Enables or disables network events in all sessions.
    pub(super) fn watch_network(&mut self, on: bool) {
        if self.network.on == on {
            return;
        }
        self.network.on = on;
        self.network.changed = true;
        let sessions: Vec<SessionKey> = self.sessions.keys().map(Arc::clone).collect();
        for session in sessions {
            if on {
                self.network_session(&session);
            } else if self.has_network(&session) {
                self.send(Some(&session), 0, protocol::Disable::new());
            }
        }
        if !on {
            self.forget_open(|_| true);
        }
    }

    /// Whether requests of a session belong to its page. Those of a shared worker belong to no page.
    fn has_network(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|rec| rec.kind.has_network())
    }

    /// Enables network events in a session, before its target is resumed.
    pub(super) fn network_session(&mut self, session: &SessionKey) {
        if self.network.on && self.has_network(session) {
            let mut enable = protocol::Enable::new();
            enable.max_total_buffer_size = Some(BODIES);
            enable.max_resource_buffer_size = Some(BODY);
            enable.max_post_data_size = Some(1); // what is sent is never looked at
            self.effects.push(Effect::HearNetwork);
            self.send(Some(session), 0, enable);
        }
    }

    pub(super) fn request_sent(&mut self, session: &SessionKey, event: &Sent<'_>, now: Now) {
        let Some(page) = self.page_of(session).filter(|_| self.has_network(session)) else { return };
        let id = &*event.request_id;
        match (&event.redirect_response, self.network.open.get(id)) {
            (Some(response), Some(_)) => {
                let more = event.redirect_has_extra_info;
                if !more {
                    self.network.extras.none_for_newest(id);
                }
                self.network.end(id, |open| {
                    answered(&mut open.entry, response);
                    open.entry.redirected = true;
                    took(open, event.timestamp);
                });
            }
            // The script of a worker is reported both on its page's session and on its own.
            (None, Some(open)) if *open.entry.url == *shown(&event.request.url) => return,
            _ => {}
        }
        let kind = event.kind.as_deref().unwrap_or("Other").to_ascii_lowercase();
        self.network.last += 1;
        let number = self.network.last;
        let has_wire = event.request.url.starts_with("http");
        let over_the_wire = has_wire.then(|| self.network.extras.began(id, number)).flatten();
        let detail = RequestDetail {
            request_headers: over_the_wire.unwrap_or_else(|| RawHeaders::of(event.request.headers)),
            has_post_data: event.request.has_post_data == Some(true),
            began: Some(event.timestamp),
            ..RequestDetail::default()
        };
        let entry = NetworkRequest {
            id: format!("r{number}").into(),
            method: (*event.request.method).into(),
            url: shown(&event.request.url).into(),
            resource_type: kind.as_str().into(),
            status: None,
            ok: None,
            failure: None,
            started_at: event.wall_time,
            duration_ms: None,
            target_id: page,
            frame_id: event.frame_id.clone(),
            number,
            wire_bytes: None,
            redirected: false,
            session: Arc::clone(session),
            raw_id: id.into(),
            detail: Arc::new(detail),
        };
        let open = Open { entry, loader: (*event.loader_id).into(), began: Some(event.timestamp) };
        let counts = kind != "eventsource" && !self.is_of_the_past(&open);
        self.network.add(open, counts, now);
    }

    /// Whether its document was left.
    fn is_of_the_past(&self, open: &Open) -> bool {
        let Some(frame) = &open.entry.frame_id else { return false };
        if open.loader.is_empty() || open.is_navigation() {
            return false;
        }
        let shows = self.frames.loader(frame).unwrap_or_default();
        !shows.is_empty() && shows != open.loader
    }

    pub(super) fn response_received(&mut self, event: &Response<'_>, now: Now) {
        if !event.has_extra_info {
            self.network.extras.none_for_newest(&event.request_id);
        }
        self.network.update(&event.request_id, |entry| answered(entry, &event.response));
        self.network.has_head(&event.request_id, now);
    }

    pub(super) fn request_finished(&mut self, event: &Finished<'_>) {
        self.network.end(&event.request_id, |open| {
            open.entry.failure = None; // it outlived its document
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as intended
            let bytes = event.encoded_data_length.map(|bytes| bytes as u64);
            open.entry.wire_bytes = bytes;
            took(open, event.timestamp);
        });
    }

    pub(super) fn request_failed(&mut self, event: &Failed<'_>) {
        let because =
            event.blocked_reason.as_deref().or(event.cors_error_status.as_ref().map(|cors| &*cors.cors_error));
        let error = if event.error_text.is_empty() { "net::ERR_FAILED" } else { &event.error_text };
        let failure = match because {
            Some(because) => format!("{error} ({because})"),
            None => error.to_owned(),
        };
        self.network.end(&event.request_id, |open| {
            // Chromium reports a script or stylesheet with an HTTP error status as cancelled.
            let refused = open.entry.status.is_some_and(|status| status >= 400);
            open.entry.failure = (!refused).then(|| failure.into());
            took(open, event.timestamp);
        });
    }

    pub(super) fn socket_created(&mut self, session: &SessionKey, event: &Socket<'_>, now: Now) {
        let Some(page) = self.page_of(session).filter(|_| self.has_network(session)) else { return };
        self.network.last += 1;
        let number = self.network.last;
        let entry = NetworkRequest {
            id: format!("r{number}").into(),
            method: "GET".into(),
            url: shown(&event.url).into(),
            resource_type: "websocket".into(),
            status: None,
            ok: None,
            failure: None,
            started_at: now.unix,
            duration_ms: None,
            target_id: page,
            frame_id: None,
            number,
            wire_bytes: None,
            redirected: false,
            session: Arc::clone(session),
            raw_id: (*event.request_id).into(),
            detail: Arc::default(),
        };
        self.network.add(Open { entry, loader: Arc::default(), began: None }, false, now);
    }

    pub(super) fn socket_closed(&mut self, id: &str) {
        self.network.end(id, |open| {
            if open.entry.status.is_none() {
                open.entry.failure = Some("the WebSocket was closed before it opened".into());
            }
        });
    }

    /// A frame shows another document: requests of the previous one no longer count as in flight.
    pub(super) fn left_document(&mut self, page: &TargetId, frame: &FrameId, loader: &str, main: bool) {
        let of_frame = |open: &Open| main || open.entry.frame_id.as_ref() == Some(frame);
        let left = self.network.ids(|open| {
            open.entry.target_id == *page
                && of_frame(open)
                && open.entry.frame_id.is_some()
                && *open.loader != *loader
                && !open.is_navigation()
        });
        for id in left {
            self.network.leave(&id);
        }
    }

    /// A session is gone. A navigation that began there may end on another session.
    pub(super) fn left_session(&mut self, session: &str) {
        let left = self.network.ids(|open| *open.entry.session == *session && !open.is_navigation());
        for id in left {
            self.network.leave(&id);
        }
    }

    /// Drops requests that no further event will report.
    pub(super) fn forget_open(&mut self, which: impl Fn(&TargetId) -> bool) {
        for id in self.network.ids(|open| which(&open.entry.target_id)) {
            self.network.leave(&id);
            self.network.give_up(&id);
        }
    }

    pub(super) fn forget_network_of(&mut self, page: &TargetId) {
        self.forget_open(|target| target == page);
        self.network.updates.push(RingUpdate::Drop(page.clone()));
    }

    /// Events were lost: the ends of some requests are unknown.
    pub(in crate::supervisor) fn network_lost(&mut self, lost: u64) {
        self.network.lost += lost;
        self.network.changed = true;
        self.forget_open(|_| true);
        self.forget_extras();
    }

    /// Takes the pending changes of the page rings.
    pub(in crate::supervisor) fn take_requests(&mut self) -> Vec<RingUpdate<NetworkRequest>> {
        std::mem::take(&mut self.network.updates)
    }

    /// The requests in flight, if they changed.
    pub(in crate::supervisor) fn take_traffic(&mut self) -> Option<Traffic> {
        let network = &mut self.network;
        std::mem::take(&mut network.changed).then(|| Traffic {
            watched: network.on,
            last: network.last,
            loading: network.order.values().filter_map(|(_, shown)| shown.clone()).collect(),
            lost: network.lost,
        })
    }
}

fn answered(entry: &mut NetworkRequest, head: &Head<'_>) {
    let status = head.status;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, as intended
    let status = status as u16;
    entry.status = Some(status);
    entry.ok = Some((200..300).contains(&status));
    Arc::make_mut(&mut entry.detail).answered(head);
}

fn took(open: &mut Open, until: f64) {
    open.entry.duration_ms = open.began.map(|began| ((until - began) * 1e6).round() / 1e3).filter(|ms| *ms >= 0.0);
}

/// A URL as published: without user information, and truncated.
fn shown(url: &str) -> String {
    let limit = if url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) { DATA_URL } else { URL };
    let end = (0..=limit.min(url.len())).rev().find(|end| url.is_char_boundary(*end)).unwrap_or(0);
    let (kept, cut) = url.split_at(end);
    let mut text = String::with_capacity(kept.len());
    match kept.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let place = rest[..authority].rfind('@').map_or(0, |at| at + 1);
            text.extend([scheme, "://", &rest[place..]]);
        }
        None => text.push_str(kept),
    }
    if !cut.is_empty() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn addresses_are_shown_without_secrets_and_whole_up_to_a_length() {
        for (url, text) in [
            ("https://a.test/x?y=1#z", "https://a.test/x?y=1#z"),
            ("https://user:pass@a.test/x", "https://a.test/x"),
            ("https://a.test/x?mail=a@b.test", "https://a.test/x?mail=a@b.test"),
            ("wss://user@a.test", "wss://a.test"),
            ("blob:https://a.test/1-2", "blob:https://a.test/1-2"),
            ("about:blank", "about:blank"),
        ] {
            assert_eq!(shown(url), text);
        }
        assert_eq!(shown(&format!("https://a.test/{}", "é".repeat(3000))).chars().last(), Some('…'));
        assert_eq!(shown(&format!("data:text/plain,{}", "x".repeat(3000))).len(), 64 + '…'.len_utf8());
    }
}
