//! The dialog bridge: when it is on, in which sessions, and the calls that it receives.
//!
//! The bridge is set up in the session of every page and frame before it is resumed. `BridgeMode::Auto` turns it on for
//! endpoints that are not loopback, and when a native dialog is closed by another party within `TOO_FAST`. For each
//! frame the view says whether the bridge is installed, was used, or was bypassed by a native dialog (`BridgeLife`).
//! Its calls are dismissed before a page is navigated, because Chromium waits for them. While the bridge is on, content
//! security policies are bypassed (`Page.setBypassCSP`), including the `sandbox` directive.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::bridge::{Bridge, Call, CallKind, Fulfil, RefusedCall};
use super::super::dialog_policy::BridgeMode;
use super::super::log::LogEvent as Noted;
use super::super::network_route::AbortReason;
use super::super::snapshot::{BridgeLife, BridgeReason, BridgeView, Dialog, DialogType};
use super::effect::Catch;
use super::routing;
use super::{Now, Outgoing, SessionKey, State, Waiting};
use crate::cdp::protocol::fetch;
use crate::cdp::protocol::page::{AddScriptToEvaluateOnNewDocument, FrameId, SetBypassCsp};
use crate::cdp::protocol::target::TargetId;
use crate::cdp::{self, rt};

/// The event that reports calls:
/// <https://chromedevtools.github.io/devtools-protocol/tot/Fetch/#event-requestPaused>.
pub(in crate::supervisor) const CALL: &str = "Fetch.requestPaused";
/// A dialog closed within this time was closed by the endpoint, not by a person.
const TOO_FAST: Duration = Duration::from_millis(100);

impl rt::Event<'_> for Caught {
    const METHOD: &'static str = CALL;
}

/// The fields of the event that are used; the whole event is long.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Caught {
    request_id: Arc<str>,
    /// May be missing for workers.
    #[serde(default)]
    frame_id: Option<FrameId>,
    resource_type: Option<String>,
    request: CaughtRequest,
}

impl Caught {
    pub(super) fn url(&self) -> &str {
        &self.request.url
    }

    pub(super) fn request(&self) -> Arc<str> {
        Arc::clone(&self.request_id)
    }

    pub(super) fn method(&self) -> &str {
        &self.request.method
    }

    /// Drops the request body, which would be kept for as long as the request is held.
    pub(super) fn drop_body(&mut self) {
        self.request.post_data = None;
    }

    pub(super) fn frame(&self) -> Option<FrameId> {
        self.frame_id.clone()
    }

    /// The request body, where it was kept.
    pub(super) fn body(&self) -> Option<Arc<str>> {
        self.request.post_data.as_deref().map(Into::into)
    }

    /// The resource type, in lower case.
    pub(super) fn kind(&self) -> String {
        self.resource_type.as_deref().unwrap_or("Other").to_ascii_lowercase()
    }

    /// The request headers known before the request is sent.
    pub(super) fn headers(&self) -> BTreeMap<String, String> {
        let raw = self.request.headers.as_ref();
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// The method that a CORS preflight requests permission for.
    pub(super) fn preflight_for(&self) -> Option<String> {
        if self.request.method != "OPTIONS" {
            return None;
        }
        let is_requested_method =
            |(name, _): &(String, String)| name.eq_ignore_ascii_case("access-control-request-method");
        self.headers().into_iter().find(is_requested_method).map(|(_, method)| method)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CaughtRequest {
    url: String,
    method: String,
    post_data: Option<String>,
    headers: Option<Box<RawValue>>,
}

/// How a dialog was reported, and therefore how it is answered.
#[derive(Debug)]
pub(super) enum AnswerPath {
    /// Native dialog, answered on the session of its page.
    Native,
    /// Call of the bridge, answered on the session of its frame.
    Bridge { session: SessionKey, request: Arc<str>, call: Call },
}

/// State of the dialog bridge of a task.
#[derive(Debug, Default)]
pub(super) struct Bridging {
    /// Created when the bridge is turned on, and kept: installed documents use this one.
    bridge: Option<Bridge>,
    view: BridgeView,
}

impl Bridging {
    pub(super) fn view(&self) -> BridgeView {
        self.view
    }

    pub(super) fn made(&self) -> Option<&Bridge> {
        self.bridge.as_ref()
    }

    /// The response to a call.
    pub(super) fn answer(&self, call: &Call, accept: bool, text: Option<&str>) -> Option<Fulfil> {
        self.bridge.as_ref().map(|bridge| bridge.answer(call, accept, text))
    }
}

impl State {
    /// Turns the bridge on if that is known from the start.
    pub(super) fn begin_bridge(&mut self, now: Now) {
        match self.options.bridge {
            BridgeMode::Always => self.turn_bridge_on(BridgeReason::Asked, now),
            BridgeMode::Auto if self.options.remote => self.turn_bridge_on(BridgeReason::RemoteEndpoint, now),
            BridgeMode::Auto | BridgeMode::Never => {}
        }
    }

    fn turn_bridge_on(&mut self, reason: BridgeReason, now: Now) {
        if self.bridging.bridge.is_some() {
            return;
        }
        match Bridge::new() {
            Ok(bridge) => self.bridging.bridge = Some(bridge),
            Err(error) => {
                self.note(None, now, Noted::Bridge { on: None, failed: Some(error.to_string().into()) });
                return;
            }
        }
        self.bridging.view.on = Some(reason);
        self.dirty.bridge = true;
        self.note(None, now, Noted::Bridge { on: Some(reason), failed: None });
        let sessions: Vec<SessionKey> = self.sessions.keys().map(Arc::clone).collect();
        for session in sessions {
            self.bridge_session(&session);
        }
    }

    /// Installs the bridge in a session, before the scripts of its document run.
    pub(super) fn bridge_session(&mut self, session: &SessionKey) {
        let Some(bridge) = &self.bridging.bridge else { return };
        // Its source is a secret.
        let mut script = AddScriptToEvaluateOnNewDocument::new(&**bridge.source());
        script.run_immediately = Some(true);
        let Some(catch) = self.catching(session).map(Catch::command) else { return };
        let Some(rec) = self.sessions.get_mut(session).filter(|rec| rec.kind.has_frames()) else { return };
        rec.bridge = BridgeLife::Installing;
        self.dirty.bridge = true;
        let steps: [Outgoing; 3] = [SetBypassCsp::new(true).into(), catch, script.into()];
        let last = steps.len() - 1;
        for (number, step) in steps.into_iter().enumerate() {
            let tag = self.expect(Waiting::Bridge { session: Arc::clone(session), last: number == last });
            self.send(Some(session), tag, step);
        }
    }

    pub(super) fn bridge_step_done(&mut self, session: &SessionKey, last: bool, error: Option<cdp::Error>, now: Now) {
        let Some(rec) = self.sessions.get_mut(session) else { return };
        let target = rec.page.clone();
        match error {
            Some(error) if !matches!(rec.bridge, BridgeLife::Failed(_)) => {
                let problem: Arc<str> = error.to_string().into();
                rec.bridge = BridgeLife::Failed(Arc::clone(&problem));
                self.note(Some(&target), now, Noted::Bridge { on: None, failed: Some(problem) });
            }
            None if last && rec.bridge == BridgeLife::Installing => rec.bridge = BridgeLife::Installed,
            _ => return,
        }
        self.dirty.bridge = true;
    }

    /// A request was intercepted: a call of the bridge, a forged one, or another request.
    pub(super) fn call_caught(&mut self, session: &SessionKey, mut caught: Caught, now: Now) {
        let reads_bodies = self.routing.reads_bodies();
        let Some(bridge) = &mut self.bridging.bridge else {
            caught.request.post_data.take_if(|_| !reads_bodies);
            self.let_pass(session, &Arc::new(caught), now);
            return;
        };
        let request = &caught.request;
        let body = request.post_data.as_deref().map(str::as_bytes);
        let call = match bridge.read(&request.url, &request.method, body) {
            Ok(call) => call,
            Err(RefusedCall::Foreign) => {
                // The body would be kept for as long as the request is held.
                caught.request.post_data.take_if(|_| !reads_bodies);
                self.let_pass(session, &Arc::new(caught), now);
                return;
            }
            Err(refused) => {
                tracing::debug!(%refused, "a request to the dialog bridge is refused");
                self.bridging.view.refused += 1;
                self.dirty.bridge = true;
                self.send(Some(session), 0, routing::fail(&caught.request_id, AbortReason::AccessDenied));
                return;
            }
        };
        let known = self.sessions.get(session).and_then(|rec| self.pages.iter().find(|page| page.target == rec.page));
        let Some(page) = known else {
            let answer = bridge.leave_to_browser(&call);
            self.send(Some(session), 0, answered(&caught.request_id, &answer));
            return;
        };
        let (target, url) = (page.target.clone(), Arc::clone(&page.url));
        self.bridging.view.calls += 1;
        self.dirty.bridge = true;
        if let Some(rec) = self.sessions.get_mut(session) {
            rec.bridge = BridgeLife::Live;
        }
        let kind = match call.kind {
            CallKind::Alert => DialogType::Alert,
            CallKind::Confirm => DialogType::Confirm,
            CallKind::Prompt => DialogType::Prompt,
        };
        // For an empty document that was never loaded, Chromium names the frame that created it; an unknown one is left
        // out.
        let frame = caught.frame_id.clone().filter(|frame| self.frames.get(frame).is_some());
        let (message, default) = (call.message.as_str().into(), call.default_prompt.as_str().into());
        let way = AnswerPath::Bridge { session: Arc::clone(session), request: Arc::clone(&caught.request_id), call };
        self.open_dialog(super::dialogs::Opening { target, kind, message, default, frame, url: &url, way }, now);
    }

    /// A request whose body exceeds the read limit was intercepted: its URL is unknown. One of a page or frame fails.
    pub(super) fn oversized_caught(&mut self, session: Option<&SessionKey>, params: &[u8]) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Begun {
            request_id: Arc<str>,
        }
        let Ok(Begun { request_id }) = serde_json::from_slice(params) else { return };
        let Some(session) = session else { return self.oversized_first_document(&request_id) };
        if self.page_of(session).is_some() {
            let reason = AbortReason::BlockedByClient;
            self.send(Some(session), 0, routing::fail(&request_id, reason));
        }
    }

    /// Continues a request if the policy allows it, or applies a route. Without policy, login and routes the request
    /// belongs to another client that intercepts requests too.
    fn let_pass(&mut self, session: &SessionKey, caught: &Arc<Caught>, now: Now) {
        if self.page_of(session).is_none() {
            return; // belongs to a hidden page, whose owner answers it
        }
        let frame = caught.frame_id.as_ref().filter(|_| caught.resource_type.as_deref() == Some("Document"));
        if let Some(frame) = frame.filter(|_| self.has_navigation_policy()) {
            self.document_caught(session, caught, frame, now);
        } else if self.has_navigation_policy() {
            self.request_caught(session, caught, now);
        } else if self.routing.was_used() {
            self.passed(session, caught, None, None, now);
        }
    }

    /// A native dialog opened although the bridge is installed.
    pub(super) fn native_seen(&mut self, frame: Option<&FrameId>, kind: DialogType) {
        if kind == DialogType::BeforeUnload {
            return; // always native
        }
        let session = frame.and_then(|frame| self.frames.session(frame));
        if let Some(rec) = session.and_then(|session| self.sessions.get_mut(&session))
            && matches!(rec.bridge, BridgeLife::Installed | BridgeLife::Live)
        {
            rec.bridge = BridgeLife::Native;
            self.dirty.bridge = true;
        }
    }

    /// Another client closed a native dialog.
    pub(super) fn closed_by_others(&mut self, dialog: &Dialog, now: Now) {
        let open_for = now.unix - dialog.opened_at;
        let fast = (0.0..TOO_FAST.as_secs_f64()).contains(&open_for);
        // Chromium also closes the dialogs of a page that is being left.
        let left = self.page_index(&dialog.target_id).is_none_or(|at| self.pages[at].closing)
            || self.frames.any_navigating(&dialog.target_id);
        let fast = fast && !left;
        if self.options.bridge == BridgeMode::Auto && dialog.kind != DialogType::BeforeUnload && fast {
            self.turn_bridge_on(BridgeReason::ClosedByOthers, now);
        }
    }

    /// A frame shows another document: pending calls of the old one are gone without an event.
    pub(super) fn lose_calls(&mut self, page: &TargetId, frame: Option<&FrameId>, now: Now) {
        let known: Vec<FrameId> = self.frames.on_page(page);
        self.lose_dialogs(
            |dialog| {
                let is_removed = dialog.frame_id.as_ref().is_some_and(|id| Some(id) == frame || !known.contains(id));
                dialog.bridged && dialog.target_id == *page && is_removed
            },
            now,
        );
    }

    /// Too many requests at once: the ids of some held requests were lost. All requests are continued except documents;
    /// the pages then call the native functions.
    pub(in crate::supervisor) fn calls_lost(&mut self, now: Now) {
        if self.bridging.bridge.is_some() {
            self.lose_dialogs(|dialog| dialog.bridged, now);
        }
        self.unguard(|_| true);
        let sessions: Vec<SessionKey> = self.sessions.keys().map(Arc::clone).collect();
        for session in sessions {
            self.renew_fetch(&session);
        }
    }
}

/// The answer to a call.
pub(super) fn answered(request: &str, answer: &Fulfil) -> fetch::FulfillRequest {
    let request = fetch::RequestId::from(request);
    let mut fulfil = fetch::FulfillRequest::new(request, i64::from(Fulfil::STATUS));
    let header = |(name, value): &(&str, &str)| fetch::HeaderEntry::new(*name, *value);
    fulfil.response_headers = Some(Fulfil::HEADERS.iter().map(header).collect());
    fulfil.body = Some(rt::Base64::encode(answer.body().as_bytes()));
    fulfil
}
