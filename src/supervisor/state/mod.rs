//! The state machine: events, answers and requests in; effects and views out.
//!
//! It has one owner, does no I/O, and reads no clock: the time is passed in as [`Now`]. This allows testing all rules
//! about dialogs, frames and sessions without a browser.

mod arrival;
mod bridging;
mod choosers;
mod confined;
mod console;
mod console_table;
mod console_text;
mod dialogs;
mod downloads;
mod effect;
mod first_documents;
mod frames;
#[cfg_attr(not(feature = "navigation"), allow(dead_code, unreachable_pub))]
mod interception;
mod navigation_checks;
mod network;
mod network_events;
mod network_extra;
mod pages;
mod pending_response;
mod persistent_commands;
mod reconnect;
mod recording;
mod requests;
mod routing;
mod sessions;
mod subscriptions;
#[cfg(test)]
mod table_tests;
mod view;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

pub(super) use bridging::CALL;
pub(super) use choosers::CHOOSER;
pub(super) use dialogs::origin_of;
pub(super) use downloads::{DOWNLOAD_PROGRESS, DOWNLOAD_WILL_BEGIN};
pub(super) use effect::{Effect, SessionKey};
pub(super) use network_events::{Head, NETWORK};
pub(super) use persistent_commands::AUTH_REQUIRED;
pub(super) use requests::{Request, Response};
pub(super) use sessions::{ATTACH_LIMIT, detach, resume};

use super::log::{EventRecord, LogEvent as Noted};
use super::options::{Pages, SupervisorOptions};
use super::outgoing::Outgoing;
use crate::cdp::protocol::browser::BrowserContextId;
use crate::cdp::protocol::{inspector, page, runtime, target};
use crate::cdp::rt::Event as _;
use crate::cdp::{self, Event, RawReply};

/// The time, in both forms that are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    /// For deadlines.
    pub(super) instant: Instant,
    /// For records: Unix seconds.
    pub(super) unix: f64,
}

/// A line for the event log.
pub(super) type LogLine = (f64, EventRecord);

/// The parts of the view that changed.
#[derive(Debug, Default, Clone, Copy)]
struct Dirty {
    phase: bool,
    pages: bool,
    frames: bool,
    dialogs: bool,
    recent: bool,
    console: bool,
    bridge: bool,
    downloads: bool,
}

/// The state of a supervisor.
#[derive(Debug)]
pub(super) struct State {
    options: SupervisorOptions,
    phase: super::Phase,
    generation: u64,
    sessions: HashMap<SessionKey, sessions::SessionRec>,
    pages: Vec<pages::PageRec>,
    frames: frames::Frames,
    dialogs: dialogs::Dialogs,
    console: console::Ring,
    bridging: bridging::Bridging,
    network: network::Network,
    downloads: downloads::Downloads,
    choosers: choosers::Choosers,
    persistent: persistent_commands::PersistentCommands,
    navigation_checks: navigation_checks::NavigationChecks,
    routing: routing::Routing,
    /// Browser contexts behind a proxy.
    confined: HashSet<BrowserContextId>,
    followers: subscriptions::Followers,
    recordings: recording::Recordings,
    interception: interception::Interception,
    requests: requests::Requests,
    /// Pending commands, and how to handle their answers.
    waiting: HashMap<u64, Waiting>,
    next_tag: u64,
    effects: Vec<Effect>,
    log: Vec<LogLine>,
    dirty: Dirty,
    undecodable: u64,
}

/// What a pending command is for.
#[derive(Debug)]
enum Waiting {
    /// The browser accepted `AttachPages`.
    Started,
    /// A session confirms the answer to a request with a route; the number of bytes on their way.
    Answered { session: SessionKey, request: Arc<str>, bytes: usize },
    /// A session of a worker is ready for network conditions.
    Prepared { session: SessionKey },
    /// A session confirmed its settings and can be resumed.
    Caught { session: SessionKey },
    /// A session confirmed a change of the intercepted patterns; `page`: the session of a page or frame.
    Routed { change: u64, page: bool },
    /// A step of attaching a session.
    Step { session: SessionKey, step: sessions::Step },
    /// An answer to a dialog.
    Dialog { id: Arc<str> },
    /// A step of setting up the bridge in a session.
    Bridge { session: SessionKey, last: bool },
    /// The browser intercepts first documents.
    FirstDocuments,
    /// A requested page was created.
    Created { request: u64 },
    /// A page that is about to be closed navigates to a blank document.
    Blanked { target: target::TargetId },
    /// The browser's description of a page.
    Info,
    /// The navigation history of a page that was just attached.
    History { target: target::TargetId },
    /// A file chooser receives its files.
    Chooser { chosen: super::chooser::ChosenFiles, reply: requests::Response<super::chooser::ChosenFiles> },
    /// A page was closed.
    Closed { target: target::TargetId },
    /// A session has the script of a recording.
    RecordingScript { session: SessionKey },
}

impl State {
    pub(super) fn new(options: SupervisorOptions) -> Self {
        Self {
            options,
            phase: super::Phase::Starting,
            generation: 1,
            sessions: HashMap::new(),
            pages: Vec::new(),
            frames: frames::Frames::default(),
            dialogs: dialogs::Dialogs::default(),
            console: console::Ring::default(),
            bridging: bridging::Bridging::default(),
            network: network::Network::default(),
            downloads: downloads::Downloads::default(),
            choosers: choosers::Choosers::default(),
            persistent: persistent_commands::PersistentCommands::default(),
            navigation_checks: navigation_checks::NavigationChecks::default(),
            routing: routing::Routing::default(),
            confined: HashSet::new(),
            followers: subscriptions::Followers::default(),
            recordings: recording::Recordings::default(),
            interception: interception::Interception::default(),
            requests: requests::Requests::default(),
            waiting: HashMap::new(),
            next_tag: 1,
            effects: Vec::new(),
            log: Vec::new(),
            dirty: Dirty::default(),
            undecodable: 0,
        }
    }

    /// Starts: attaches to the pages, and opens one if the task requests it.
    pub(super) fn begin(&mut self, now: Now) {
        self.begin_bridge(now);
        self.watch_network(self.options.network);
        self.intercept_first_documents();
        let tag = self.expect(Waiting::Started);
        self.send(None, tag, self.attach_pages());
        if let Pages::New { url, context } = self.options.pages.clone() {
            self.create_page(url, context, false, None);
        }
    }

    /// Processes one event.
    pub(super) fn on_event(&mut self, event: &Event, now: Now) {
        if event.is_cut() {
            self.undecodable += 1;
            self.cut_event(event, now);
            return;
        }
        if let Err(error) = self.apply(event, now) {
            self.undecodable += 1;
            tracing::debug!(method = event.method(), %error, "event ignored");
        }
    }

    fn apply(&mut self, event: &Event, now: Now) -> Result<(), cdp::Error> {
        let session = event.session_arc();
        match (event.method(), session) {
            (target::AttachedToTargetEvent::METHOD, parent) => {
                self.attached(&event.decode()?, parent, now);
            }
            (target::DetachedFromTargetEvent::METHOD, _) => {
                let event: target::DetachedFromTargetEvent = event.decode()?;
                self.detached(event.session_id.as_str(), now);
            }
            (target::TargetInfoChangedEvent::METHOD, _) => {
                self.info(&event.decode::<target::TargetInfoChangedEvent>()?.target_info)
            }
            (inspector::TargetCrashedEvent::METHOD, Some(session)) => self.crashed(session, now),
            (inspector::TargetReloadedAfterCrashEvent::METHOD, Some(session)) => self.revived(session, now),
            (page::DomContentEventFiredEvent::METHOD | page::LoadEventFiredEvent::METHOD, Some(session)) => {
                self.ask_info(session);
            }
            (page::FrameAttachedEvent::METHOD, Some(session)) => self.frame_attached(session, &event.decode()?, now),
            (page::FrameNavigatedEvent::METHOD, Some(session)) => {
                let event: page::FrameNavigatedEvent = event.decode()?;
                self.frame_navigated(session, &event, now);
                self.record_again(session, &event.frame.id);
            }
            (page::FrameStartedNavigatingEvent::METHOD, Some(session)) => {
                let event: page::FrameStartedNavigatingEvent<'_> = event.decode()?;
                self.first_document_begins(session, &event);
                self.navigating(session, &event.frame_id, true);
                self.sets_out(session, &event);
            }
            (page::FrameStoppedLoadingEvent::METHOD, Some(session)) => {
                let event: page::FrameStoppedLoadingEvent = event.decode()?;
                self.loading_stopped(session, &event.frame_id);
                self.stopped_loading(session, &event.frame_id, now);
            }
            (page::NavigatedWithinDocumentEvent::METHOD, Some(session)) => {
                self.moved_within(session, &event.decode()?, now);
            }
            (page::FrameDetachedEvent::METHOD, Some(session)) => self.frame_detached(session, &event.decode()?, now),
            (page::JavascriptDialogOpeningEvent::METHOD, Some(session)) => {
                self.dialog_opened(session, &event.decode()?, now);
            }
            (page::JavascriptDialogClosedEvent::METHOD, Some(session)) => {
                self.dialog_closed(session, &event.decode()?, now);
            }
            (runtime::ExecutionContextCreatedEvent::METHOD, Some(session)) => {
                let event = event.decode()?;
                self.recording_context(session, &event);
                self.context_created(session, &event);
            }
            (runtime::ExecutionContextDestroyedEvent::METHOD, Some(session)) => {
                let event: runtime::ExecutionContextDestroyedEvent<'_> = event.decode()?;
                self.forget_recording_context(session, event.execution_context_id);
                self.context_destroyed(session, event.execution_context_id);
            }
            (runtime::ExecutionContextsClearedEvent::METHOD, Some(session)) => {
                self.forget_recording_contexts(|reset| *reset == **session);
                self.contexts_cleared(session);
            }
            (runtime::BindingCalledEvent::METHOD, Some(session)) => self.binding_called(session, &event.decode()?),
            (CALL, Some(session)) => self.call_caught(session, event.decode()?, now),
            (CALL, None) => self.first_document_caught(event.decode()?, now),
            (AUTH_REQUIRED, Some(session)) => self.login_requested(session, event.decode()?),
            (CHOOSER, Some(session)) => self.chooser_opened(session, &event.decode()?, now),
            (DOWNLOAD_WILL_BEGIN, None) => self.download_begins(event.decode()?, now),
            (DOWNLOAD_PROGRESS, None) => self.download_goes_on(event.decode()?, now),
            (network_events::SENT, Some(session)) => self.request_sent(session, &event.decode()?, now),
            (network_events::RESPONSE, Some(session)) => {
                let event = event.decode()?;
                self.response_received(&event, now);
                self.document_response(session, &event, now);
            }
            (network_events::SOCKET_OPEN, _) => self.response_received(&event.decode()?, now),
            (network_events::SENT_MORE, _) => self.sent_more(&event.decode::<network_events::SentMore<'_>>()?.0),
            (network_events::RESPONSE_MORE, _) => {
                self.response_more(&event.decode::<network_events::ResponseMore<'_>>()?.0);
            }
            (network_events::CACHED, _) => {
                let id = event.decode::<network_events::Cached<'_>>()?.request_id;
                self.served_from_cache(&id);
            }
            (network_events::FINISHED, _) => self.request_finished(&event.decode()?),
            (network_events::FAILED, _) => self.request_failed(&event.decode()?),
            (network_events::SOCKET, Some(session)) => self.socket_created(session, &event.decode()?, now),
            (network_events::SOCKET_CLOSED, _) => {
                self.socket_closed(&event.decode::<network_events::SocketClosed<'_>>()?.request_id);
            }
            (runtime::ConsoleApiCalledEvent::METHOD, Some(session)) => {
                self.console_called(session, &event.decode()?, now);
            }
            (runtime::ExceptionThrownEvent::METHOD, Some(session)) => self.exception(session, &event.decode()?, now),
            _ => {}
        }
        Ok(())
    }

    /// Processes the answer to a command of the state machine.
    pub(super) fn on_answer(&mut self, tag: u64, result: Result<RawReply, cdp::Error>, now: Now) {
        match self.waiting.remove(&tag) {
            None => {}
            Some(Waiting::Started) => match result {
                Ok(_) => {
                    self.requests.listed = true;
                    self.requests.listed_at = Some(now.instant);
                    self.drop_detached(now);
                }
                Err(error) if error.is_closed() => {} // the end of the connection is reported separately
                Err(error) => self.end(&error.to_string(), now),
            },
            Some(Waiting::Prepared { session }) => self.shared_worker_ready(&session),
            Some(Waiting::FirstDocuments) => self.first_documents_intercepted(result.err()),
            Some(Waiting::Caught { session }) => self.send(Some(&session), 0, sessions::resume()),
            Some(Waiting::Routed { change, page }) => self.route_confirmed(change, result.err().filter(|_| page)),
            Some(Waiting::Answered { session, request, bytes }) => {
                self.route_answered(&session, request, bytes, result.err());
            }
            Some(Waiting::Step { session, step }) => self.step_done(&session, step, &result, now),
            Some(Waiting::Dialog { id }) => self.dialog_answered(&id, result.err(), now),
            Some(Waiting::Bridge { session, last }) => self.bridge_step_done(&session, last, result.err(), now),
            Some(Waiting::Created { request }) => {
                let created = result.and_then(|raw| raw.decode::<target::CreateTargetReturns>());
                self.page_created(request, created, now);
            }
            // On success, an event reports the blank document.
            Some(Waiting::Blanked { target }) if result.is_err() => self.requests.blanked(&target),
            Some(Waiting::Blanked { .. }) => {}
            Some(Waiting::Info) => {
                if let Ok(returned) = result.and_then(|raw| raw.decode::<target::GetTargetInfoReturns>()) {
                    self.titled(&returned.target_info.target_id, &returned.target_info.title);
                }
            }
            Some(Waiting::History { target }) => {
                if let Ok(history) = result.and_then(|raw| raw.decode::<page::GetNavigationHistoryReturns>()) {
                    self.titled_at_attach(&target, &history);
                }
            }
            Some(Waiting::Chooser { chosen, reply }) => self.files_set(chosen, reply, result.err()),
            Some(Waiting::Closed { target }) => self.close_answered(&target, result.err()),
            Some(Waiting::RecordingScript { session }) => self.recording_script_added(&session, result),
        }
        self.settle(now);
    }

    /// An event was too large to read. An intercepted request of a page fails, events that carry state cause a resync, others
    /// are dropped.
    fn cut_event(&mut self, event: &Event, now: Now) {
        match (event.method(), event.session_arc()) {
            (CALL, session) => self.oversized_caught(session, event.params()),
            (method, _) if super::inputs::carries_state(method) => self.on_lag(1, now),
            _ => {}
        }
    }

    /// Events were lost: reads the state again where possible.
    pub(super) fn on_lag(&mut self, lost: u64, now: Now) {
        self.note(None, now, Noted::Resync { lost });
        let sessions: Vec<SessionKey> =
            self.sessions.iter().filter(|(_, s)| s.kind.has_frames()).map(|(key, _)| Arc::clone(key)).collect();
        for session in sessions {
            self.reseed(&session);
        }
    }

    /// The connection ended permanently.
    pub(super) fn end(&mut self, reason: &str, now: Now) {
        if matches!(self.phase, super::Phase::Ended(_)) {
            return;
        }
        self.phase = super::Phase::Ended(reason.into());
        self.dirty.phase = true;
        self.lose_dialogs(|_| true, now);
        self.note(None, now, Noted::Ended { reason: reason.into() });
        if self.shares_log() {
            // A shared log continues with the pages of the next browser.
            let open = self.pages.iter().filter(|page| page.refused.is_none()).map(|page| page.target.clone());
            let closed: Vec<LogLine> = open.map(|page| (now.unix, EventRecord::closed_at_end(page))).collect();
            self.log.extend(closed);
        }
        self.forget_choosers(&super::Error::NotActive { reason: reason.to_owned() });
        self.stop_navigation_checks(reason);
        self.stop_confirming();
        self.requests.fail_all(reason);
        self.waiting.clear();
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.phase, super::Phase::Ended(_))
    }

    /// Whether the pages that it resumes may have changed since the view was built.
    pub(super) fn pages_changed(&self) -> bool {
        self.dirty.pages || self.dirty.phase
    }

    /// The pages of the task whose popups it resumes: none without a connection.
    pub(super) fn page_ids(&self) -> impl Iterator<Item = super::TargetId> + '_ {
        let is_cut_off = matches!(self.phase, super::Phase::Reconnecting(_) | super::Phase::Ended(_));
        self.pages.iter().filter(move |_| !is_cut_off).map(|page| page.target.clone())
    }

    /// Takes the pending effects.
    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether the log continues after this supervisor ends.
    pub(super) fn shares_log(&self) -> bool {
        self.options.log.is_some()
    }

    /// Takes the pending log entries.
    pub(super) fn take_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.log)
    }

    fn expect(&mut self, what: Waiting) -> u64 {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.waiting.insert(tag, what);
        tag
    }

    fn send(&mut self, session: Option<&SessionKey>, tag: u64, command: impl Into<Outgoing>) {
        self.effects.push(Effect::Send { session: session.cloned(), tag, command: command.into() });
    }

    fn note(&mut self, target: Option<&target::TargetId>, now: Now, event: Noted) {
        let record = EventRecord::new(target.cloned(), event);
        self.record_event(now.unix, &record);
        self.log.push((now.unix, record));
    }
}
