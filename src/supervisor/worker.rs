//! The thread around the fold: takes what comes, folds it, sends what the fold wants sent, publishes.
//!
//! It never waits for an answer: answers come back as messages. It publishes once per batch of
//! events, so that a flood costs readers nothing.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, Select};

use super::log::EventLog;
use super::snapshot::Snapshot;
use super::state::{Effect, Now, Outgoing, Request, SessionKey, State};
use crate::cdp::protocol::{page, runtime, target};
use crate::cdp::rt::{Command, Event as _};
use crate::cdp::{Answer, Capacity, Connection, Error, Event, Subscription, Watch};
use crate::sync::Published;

/// Events folded before the view is published.
const BATCH: usize = 256;
/// Longest sleep when nothing is due.
const IDLE: Duration = Duration::from_secs(60);

/// Events that carry state: none may be lost without a resync.
const LIFECYCLE: [&str; 14] = [
    target::AttachedToTargetEvent::METHOD,
    target::DetachedFromTargetEvent::METHOD,
    target::TargetInfoChangedEvent::METHOD,
    crate::cdp::protocol::inspector::TargetCrashedEvent::METHOD,
    crate::cdp::protocol::inspector::TargetReloadedAfterCrashEvent::METHOD,
    page::FrameAttachedEvent::METHOD,
    page::FrameNavigatedEvent::METHOD,
    page::NavigatedWithinDocumentEvent::METHOD,
    page::FrameDetachedEvent::METHOD,
    page::JavascriptDialogOpeningEvent::METHOD,
    page::JavascriptDialogClosedEvent::METHOD,
    runtime::ExecutionContextCreatedEvent::METHOD,
    runtime::ExecutionContextDestroyedEvent::METHOD,
    runtime::ExecutionContextsClearedEvent::METHOD,
];
/// Events of which the newest count. A queue of their own: a flood of them pushes out nothing else.
const CONSOLE: [&str; 2] = [runtime::ConsoleApiCalledEvent::METHOD, runtime::ExceptionThrownEvent::METHOD];

/// The queues a supervisor's thread reads from.
pub(super) struct Inputs {
    pub(super) lifecycle: Subscription,
    pub(super) console: Subscription,
    pub(super) answers: Receiver<Answer>,
    pub(super) answers_in: crossbeam_channel::Sender<Answer>,
    pub(super) requests: Receiver<Request>,
    pub(super) close: Receiver<()>,
}

impl Inputs {
    pub(super) fn new(connection: &Connection, requests: Receiver<Request>, close: Receiver<()>) -> Self {
        // Answers are to commands of our own, a handful per attach; the room is for hundreds of
        // pages at once.
        let (answers_in, answers) = crossbeam_channel::bounded(16 * 1024);
        Self {
            lifecycle: connection.subscribe(Watch::everything().only(&LIFECYCLE), Capacity::of(8192)),
            console: connection.subscribe(Watch::everything().only(&CONSOLE), Capacity::of(1024)),
            answers,
            answers_in,
            requests,
            close,
        }
    }
}

/// What the thread works with.
pub(super) struct Worker {
    pub(super) connection: Connection,
    pub(super) inputs: Inputs,
    pub(super) state: State,
    pub(super) published: Arc<Published<Snapshot>>,
    pub(super) log: Arc<EventLog>,
}

enum Woken {
    Lifecycle,
    Console,
    Answer,
    Request,
    Close,
    Time,
}

pub(super) fn now() -> Now {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    Now { instant: Instant::now(), unix }
}

impl Worker {
    pub(super) fn run(mut self) {
        self.state.begin(now());
        loop {
            self.carry_out();
            self.publish();
            if self.state.has_ended() {
                break;
            }
            match self.wait() {
                Woken::Lifecycle => self.fold_lifecycle(),
                Woken::Console => self.fold_console(),
                Woken::Answer => self.fold_answers(),
                Woken::Request => {
                    if let Ok(request) = self.inputs.requests.try_recv() {
                        self.state.on_request(request, now());
                    }
                }
                Woken::Close => self.state.end("stopped", now()),
                Woken::Time => {}
            }
            self.state.on_tick(now());
        }
        // Requests that slipped in are refused, not left without an answer.
        while let Ok(request) = self.inputs.requests.try_recv() {
            self.state.on_request(request, now());
        }
        self.log.end();
    }

    fn wait(&self) -> Woken {
        let now = now();
        let idle = now.instant + IDLE;
        let until = self.state.next_tick(now).map_or(idle, |next| next.min(idle));
        let mut select = Select::new_biased();
        // In order of precedence: what a flood of console messages must not hold up comes first.
        let sources = [
            (select.recv(&self.inputs.close), Woken::Close),
            (select.recv(self.inputs.lifecycle.channel()), Woken::Lifecycle),
            (select.recv(&self.inputs.answers), Woken::Answer),
            (select.recv(&self.inputs.requests), Woken::Request),
            (select.recv(self.inputs.console.channel()), Woken::Console),
        ];
        match select.ready_deadline(until) {
            Ok(ready) => sources.into_iter().find(|(i, _)| *i == ready).map_or(Woken::Time, |(_, what)| what),
            Err(_) => Woken::Time,
        }
    }

    fn fold_lifecycle(&mut self) {
        let lost = self.inputs.lifecycle.lag();
        if lost > 0 {
            self.state.on_lag(lost, now());
        }
        for _ in 0..BATCH {
            match self.inputs.lifecycle.channel().try_recv() {
                Ok(event) => {
                    self.inputs.lifecycle.taken(&event);
                    self.fold(&event);
                }
                Err(crossbeam_channel::TryRecvError::Empty) => return,
                Err(crossbeam_channel::TryRecvError::Disconnected) => {
                    let reason = self.connection.close_reason().map(|r| r.to_string());
                    self.state.end(&reason.unwrap_or_else(|| "the connection ended".to_owned()), now());
                    return;
                }
            }
        }
    }

    fn fold_console(&mut self) {
        let _ = self.inputs.console.lag(); // counted by the subscription; old lines are of no use
        for _ in 0..BATCH {
            let Ok(event) = self.inputs.console.channel().try_recv() else { return };
            self.inputs.console.taken(&event);
            self.fold(&event);
        }
    }

    fn fold(&mut self, event: &Event) {
        self.state.on_event(event, now());
    }

    fn fold_answers(&mut self) {
        // Whatever came before an answer on the wire must be folded before it.
        self.fold_lifecycle();
        for _ in 0..BATCH {
            let Ok(answer) = self.inputs.answers.try_recv() else { return };
            self.state.on_answer(answer.tag, answer.into_result(), now());
        }
    }

    /// Publishes before interrupting: a caller that sent its call after that sees the dialog in the
    /// view, one that sent it before is interrupted.
    fn publish(&mut self) {
        let lines = self.state.take_log();
        if !lines.is_empty() {
            self.log.append(lines);
        }
        if let Some(view) = self.state.view(&self.published.get()) {
            self.published.publish(Arc::new(view));
        }
    }

    fn carry_out(&mut self) {
        loop {
            let effects = self.state.take_effects();
            if effects.is_empty() {
                return;
            }
            for effect in effects {
                match effect {
                    Effect::Send { session, tag, command } => {
                        if let Err(error) = self.send(session.as_ref(), tag, command) {
                            self.state.on_answer(tag, Err(error), now());
                        }
                    }
                    Effect::Interrupt { session, dialog } => {
                        self.publish();
                        self.connection.interrupt(&[session], &[dialog.to_string()]);
                    }
                }
            }
        }
    }

    fn send(&self, session: Option<&SessionKey>, tag: u64, command: Outgoing) -> Result<(), Error> {
        match command {
            Outgoing::AttachPages => {
                let pages = target::FilterEntry { exclude: None, r#type: Some("page".to_owned()) };
                let others = target::FilterEntry { exclude: Some(true), r#type: None };
                let mut attach = auto_attach();
                attach.filter = Some(vec![pages, others]);
                self.post(session, tag, &attach)
            }
            Outgoing::AttachChildren => self.post(session, tag, &auto_attach()),
            Outgoing::Detach { session: gone } => {
                let mut detach = target::DetachFromTarget::new();
                detach.session_id = Some(target::SessionId::from(&*gone));
                self.post(session, tag, &detach)
            }
            Outgoing::Resume => self.post(session, tag, &runtime::RunIfWaitingForDebugger::new()),
            Outgoing::EnablePage => self.post(session, tag, &page::Enable::new()),
            Outgoing::EnableRuntime => self.post(session, tag, &runtime::Enable::new()),
            Outgoing::FrameTree => self.post(session, tag, &page::GetFrameTree::new()),
            Outgoing::AnswerDialog { accept, text } => {
                let mut answer = page::HandleJavaScriptDialog::new(accept);
                answer.prompt_text = text;
                self.post(session, tag, &answer)
            }
            Outgoing::CreatePage { url, context } => {
                let mut create = target::CreateTarget::new(url);
                create.browser_context_id = context;
                self.post(session, tag, &create)
            }
            Outgoing::Blank => self.post(session, tag, &page::Navigate::new("about:blank")),
            Outgoing::ClosePage { target } => self.post(session, tag, &target::CloseTarget::new(target)),
        }
    }

    fn post<C: Command>(&self, session: Option<&SessionKey>, tag: u64, command: &C) -> Result<(), Error> {
        self.connection.start_to_inbox(command, session, &self.inputs.answers_in, tag)
    }
}

/// Paused on start: only a page that waits for us cannot open a dialog before we can see it. Without
/// the pause, a click that calls `window.open` hangs for seconds (Chromium 156).
fn auto_attach() -> target::SetAutoAttach {
    let mut attach = target::SetAutoAttach::new(true, true);
    attach.flatten = Some(true);
    attach
}
