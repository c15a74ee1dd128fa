//! The queues a supervisor's thread reads from, and the order it reads them in.
//!
//! Events and answers come in queues of their own, but the order in which the browser sent them counts:
//! a frame tree folded after an event that the browser sent later would put an old address back. So
//! they are merged again by their place on the wire.

use crossbeam_channel::{Receiver, Select, Sender, TryRecvError};

use super::state::Request;
use crate::cdp::protocol::{page, runtime, target};
use crate::cdp::rt::Event as _;
use crate::cdp::{Answer, Capacity, Connection, Event, Subscription, Watch};
use crate::sync::Deadline;

/// Events that carry state: none may be lost without a resync.
const LIFECYCLE: [&str; 16] = [
    target::AttachedToTargetEvent::METHOD,
    target::DetachedFromTargetEvent::METHOD,
    target::TargetInfoChangedEvent::METHOD,
    crate::cdp::protocol::inspector::TargetCrashedEvent::METHOD,
    crate::cdp::protocol::inspector::TargetReloadedAfterCrashEvent::METHOD,
    page::DomContentEventFiredEvent::METHOD,
    page::LoadEventFiredEvent::METHOD,
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

/// The queues.
pub(super) struct Inputs {
    lifecycle: Subscription,
    console: Subscription,
    answers: Receiver<Answer>,
    pub(super) answers_in: Sender<Answer>,
    pub(super) requests: Receiver<Request>,
    close: Receiver<()>,
    /// Taken out of their queues to be compared, and later than what was folded last.
    next_event: Option<Event>,
    next_answer: Option<Answer>,
}

/// What a wait ended with.
pub(super) enum Woken {
    /// An event that carries state, or an answer.
    Told,
    Console,
    Request,
    Close,
    Time,
}

/// The next thing the browser told.
pub(super) enum Next {
    Event(Event),
    Answer(Answer),
    /// Nothing is left for now.
    Nothing,
    /// Nothing will come any more.
    Ended,
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
            next_event: None,
            next_answer: None,
        }
    }

    pub(super) fn wait(&self, until: Deadline) -> Woken {
        if self.next_event.is_some() || self.next_answer.is_some() {
            return Woken::Told;
        }
        let mut select = Select::new_biased();
        // In order of precedence: what a flood of console messages must not hold up comes first.
        let sources = [
            (select.recv(&self.close), Woken::Close),
            (select.recv(self.lifecycle.channel()), Woken::Told),
            (select.recv(&self.answers), Woken::Told),
            (select.recv(&self.requests), Woken::Request),
            (select.recv(self.console.channel()), Woken::Console),
        ];
        match select.ready_deadline(until.instant()) {
            Ok(ready) => sources.into_iter().find(|(i, _)| *i == ready).map_or(Woken::Time, |(_, what)| what),
            Err(_) => Woken::Time,
        }
    }

    /// The next event or answer, as they came over the wire.
    pub(super) fn next(&mut self) -> Next {
        let event = self.take_event();
        // An answer that came before this event was in its queue before the event was in its own.
        let answer = self.next_answer.take().or_else(|| self.answers.try_recv().ok());
        match (event, answer) {
            (Ok(event), None) => Next::Event(event),
            (Ok(event), Some(answer)) => self.earlier(event, answer),
            (Err(_), Some(answer)) => match self.take_event() {
                Ok(event) => self.earlier(event, answer), // it came between the two looks
                Err(_) => Next::Answer(answer),
            },
            (Err(TryRecvError::Empty), None) => Next::Nothing,
            (Err(TryRecvError::Disconnected), None) => Next::Ended,
        }
    }

    fn take_event(&mut self) -> Result<Event, TryRecvError> {
        if let Some(event) = self.next_event.take() {
            return Ok(event);
        }
        let event = self.lifecycle.channel().try_recv()?;
        self.lifecycle.taken(&event);
        Ok(event)
    }

    fn earlier(&mut self, event: Event, answer: Answer) -> Next {
        if event.number() <= answer.after() {
            self.next_answer = Some(answer);
            Next::Event(event)
        } else {
            self.next_event = Some(event);
            Next::Answer(answer)
        }
    }

    /// The next console message or exception.
    pub(super) fn next_console(&mut self) -> Option<Event> {
        let event = self.console.channel().try_recv().ok()?;
        self.console.taken(&event);
        Some(event)
    }

    /// Events that carry state and were lost since the last look.
    pub(super) fn lost(&self) -> u64 {
        let _ = self.console.lag(); // counted by the subscription; old lines are of no use
        self.lifecycle.lag()
    }
}
