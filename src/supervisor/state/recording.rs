//! A recording: its script in all documents of its pages, their reports, and the entries of the event log that belong to it.
//!
//! The script runs in the isolated world `cdpilot`. A session that is attached again after a lost connection has a world
//! of its own; the one of the earlier session goes on in documents that are still there, and its binding calls arrive here
//! again, because the binding is set in every world of that name.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::error::Error;
use super::super::log::EventRecord;
use super::super::recording::{Evidence, FeedEnd, Order, RecordingSpec};
use super::pending_response::PendingResponse;
use super::{Effect, Response, SessionKey, State, Waiting};
use crate::cdp::protocol::page::{
    AddScriptToEvaluateOnNewDocument, AddScriptToEvaluateOnNewDocumentReturns, FrameId,
    RemoveScriptToEvaluateOnNewDocument, ScriptIdentifier,
};
use crate::cdp::protocol::runtime::{
    AddBinding, BindingCalledEvent, CallFunctionOn, ExecutionContextCreatedEvent, RemoveBinding,
};
use crate::cdp::protocol::target::{TargetId, TargetInfo};
use crate::cdp::{self, RawReply};

/// The isolated world in which this program reads pages.
pub(super) const WORLD: &str = "cdpilot";

/// Recordings of a task.
#[derive(Debug, Default)]
pub(super) struct Recordings {
    current: Option<Recording>,
    /// The frames of our worlds, by session and execution context.
    contexts: HashMap<(SessionKey, i64), FrameId>,
}

#[derive(Debug)]
struct Recording {
    spec: RecordingSpec,
    feed: FeedEnd,
    /// The script in the sessions that have it.
    scripts: Vec<(SessionKey, ScriptIdentifier)>,
}

impl State {
    pub(super) fn change_recording(&mut self, order: Order, reply: Option<Response<()>>) {
        let outcome = match order {
            Order::Begin { spec, feed } => self.begin_recording(spec, feed),
            Order::Join { page } => self.join_recording(&page),
            Order::End => {
                if self.recordings.current.as_ref().is_some_and(|current| current.feed.is_over()) {
                    self.end_recording();
                }
                Ok(())
            }
        };
        if let Some(reply) = reply {
            self.requests.respond_later(PendingResponse::Done(reply, outcome));
        }
    }

    fn begin_recording(&mut self, spec: RecordingSpec, feed: FeedEnd) -> Result<(), Error> {
        if self.recordings.current.as_ref().is_some_and(|current| !current.feed.is_over()) {
            return Err(Error::AlreadyRecorded);
        }
        self.end_recording();
        let pages = spec.pages.clone();
        if let Some(gone) = pages.iter().find(|page| self.page_index(page).is_none()) {
            return Err(Error::PageNotFound { target: gone.to_string() });
        }
        let spec = RecordingSpec { pages: Vec::new(), ..spec };
        self.recordings.current = Some(Recording { spec, feed, scripts: Vec::new() });
        pages.iter().try_for_each(|page| self.join_recording(page))
    }

    fn join_recording(&mut self, page: &TargetId) -> Result<(), Error> {
        let Some(at) = self.page_index(page) else {
            return Err(Error::PageNotFound { target: page.to_string() });
        };
        let opener = self.pages[at].opener.clone();
        let Some(current) = &mut self.recordings.current else { return Ok(()) };
        if current.spec.pages.contains(page) {
            return Ok(());
        }
        current.spec.pages.push(page.clone());
        current.feed.offer(Evidence::Joined { page: page.clone(), opener });
        let sessions = self.sessions.iter().filter(|(_, rec)| rec.page == *page);
        let sessions: Vec<SessionKey> = sessions.map(|(key, _)| Arc::clone(key)).collect();
        for session in sessions {
            self.recording_session(&session);
            self.send_chooser_mode(&session);
        }
        Ok(())
    }

    fn end_recording(&mut self) {
        let Some(ended) = self.recordings.current.take() else { return };
        for (session, script) in ended.scripts {
            self.send(Some(&session), 0, RemoveScriptToEvaluateOnNewDocument::new(script));
            self.send(Some(&session), 0, RemoveBinding::new(&*ended.spec.binding));
        }
        if !ended.spec.keeps_choosers {
            let recorded = self.sessions.iter().filter(|(_, rec)| ended.spec.pages.contains(&rec.page));
            let recorded: Vec<SessionKey> = recorded.map(|(key, _)| Arc::clone(key)).collect();
            for session in recorded {
                self.send_chooser_mode(&session);
            }
        }
    }

    /// A new page: it joins if a recorded page opened it.
    pub(super) fn join_popup(&mut self, info: &TargetInfo) {
        let of_frame = info.opener_frame_id.as_ref().and_then(|frame| self.frames.page(frame));
        let opener = info.opener_id.clone().or(of_frame);
        let Some(current) = &mut self.recordings.current else { return };
        if opener.as_ref().is_some_and(|opener| current.spec.pages.contains(opener)) {
            current.spec.pages.push(info.target_id.clone());
            current.feed.offer(Evidence::Joined { page: info.target_id.clone(), opener });
        }
    }

    /// Runs the script in a session of a recorded page, before scripts of its documents. `Runtime` is enabled: before that, worlds
    /// that are created get no binding (Chromium 156).
    pub(super) fn recording_session(&mut self, session: &SessionKey) {
        let Some(rec) = self.sessions.get(session).filter(|rec| rec.kind.has_frames()) else { return };
        let Some(current) = self.recordings.current.as_ref() else { return };
        if !current.spec.pages.contains(&rec.page) || current.scripts.iter().any(|(known, _)| known == session) {
            return;
        }
        let mut binding = AddBinding::new(&*current.spec.binding);
        binding.execution_context_name = Some(WORLD.to_owned());
        let mut script = AddScriptToEvaluateOnNewDocument::new(&*current.spec.source);
        (script.run_immediately, script.world_name) = (Some(true), Some(WORLD.to_owned()));
        self.send(Some(session), 0, binding);
        let tag = self.expect(Waiting::RecordingScript { session: Arc::clone(session) });
        self.send(Some(session), tag, script);
    }

    pub(super) fn recording_script_added(&mut self, session: &SessionKey, result: Result<RawReply, cdp::Error>) {
        let added = result.and_then(|raw| raw.decode::<AddScriptToEvaluateOnNewDocumentReturns>());
        let Ok(added) = added else { return };
        match &mut self.recordings.current {
            Some(current) => current.scripts.push((Arc::clone(session), added.identifier)),
            None => self.send(Some(session), 0, RemoveScriptToEvaluateOnNewDocument::new(added.identifier)),
        }
    }

    /// A frame shows another document. The empty document of a new window and the one after it may share the window with all that
    /// runs in it, but not its listeners, and then no script runs again (Chromium 156).
    pub(super) fn record_again(&mut self, session: &SessionKey, frame: &FrameId) {
        let Some(current) = &self.recordings.current else { return };
        if self.page_of(session).is_none_or(|page| !current.spec.pages.contains(&page)) {
            return;
        }
        let here = |((of, _), shown): &(&(SessionKey, i64), &FrameId)| of == session && *shown == frame;
        let contexts: Vec<i64> =
            self.recordings.contexts.iter().filter(here).map(|((_, context), _)| *context).collect();
        for context in contexts {
            let mut call = CallFunctionOn::new(&*current.spec.again);
            (call.execution_context_id, call.silent) = (Some(context), Some(true));
            self.effects.push(Effect::Send { session: Some(Arc::clone(session)), tag: 0, command: call.into() });
        }
    }

    /// Whether file choosers of a page are shown to the person who uses it.
    pub(super) fn shows_choosers(&self, page: &TargetId) -> bool {
        let current = self.recordings.current.as_ref();
        current.is_some_and(|current| !current.spec.keeps_choosers && current.spec.pages.contains(page))
    }

    /// The script reported something.
    pub(super) fn binding_called(&mut self, session: &SessionKey, event: &BindingCalledEvent<'_>) {
        let Some(current) = &self.recordings.current else { return };
        if *event.name != *current.spec.binding {
            return;
        }
        let Some(page) = self.page_of(session).filter(|page| current.spec.pages.contains(page)) else { return };
        let context = event.execution_context_id;
        let frame = self.recordings.contexts.get(&(Arc::clone(session), context)).cloned();
        current.feed.offer(Evidence::report(page, frame, Arc::clone(session), context, &event.payload));
    }

    /// Passes an entry of the event log on, if it belongs to the recording.
    pub(super) fn record_event(&self, at: f64, record: &EventRecord) {
        use super::super::log::EventKind;
        let Some(current) = &self.recordings.current else { return };
        let page = record.target_id.as_ref();
        let is_new = record.kind() == EventKind::TabOpened;
        if is_new || page.is_none_or(|page| current.spec.pages.contains(page)) {
            current.feed.offer(Evidence::Event { at, record: record.clone() });
        }
    }

    /// A person or client accepted a prompt with a text.
    pub(super) fn record_prompt(&self, page: &TargetId, text: &str) {
        let Some(current) = &self.recordings.current else { return };
        if current.spec.pages.contains(page) {
            current.feed.offer(Evidence::PromptText { page: page.clone(), text: text.into() });
        }
    }

    /// A world of ours was created in a frame.
    pub(super) fn recording_context(&mut self, session: &SessionKey, event: &ExecutionContextCreatedEvent<'_>) {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Aux {
            frame_id: Option<String>,
        }
        if *event.context.name != *WORLD {
            return;
        }
        let aux = event.context.aux_data.and_then(|raw| serde_json::from_str::<Aux>(raw.get()).ok());
        if let Some(frame) = aux.and_then(|aux| aux.frame_id) {
            self.recordings.contexts.insert((Arc::clone(session), event.context.id), FrameId::from(frame));
        }
    }

    pub(super) fn forget_recording_context(&mut self, session: &SessionKey, context: i64) {
        self.recordings.contexts.remove(&(Arc::clone(session), context));
    }

    /// Forgets the worlds of sessions that are gone or were reset.
    pub(super) fn forget_recording_contexts(&mut self, is_gone: impl Fn(&str) -> bool) {
        self.recordings.contexts.retain(|(session, _), _| !is_gone(session));
    }

    /// Forgets sessions that are gone.
    pub(super) fn forget_recording_scripts(&mut self, is_gone: impl Fn(&str) -> bool) {
        if let Some(current) = &mut self.recordings.current {
            current.scripts.retain(|(session, _)| !is_gone(session));
        }
    }
}
