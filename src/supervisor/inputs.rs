//! The input queues of a supervisor's thread, and the order in which they are read.
//!
//! Events and answers arrive in separate queues, but their order matters: a frame tree applied after an event that the
//! browser sent later would restore an old URL. So they are merged by their position in the connection's message
//! stream.

use crossbeam_channel::{Receiver, Select, Sender, TryRecvError};

use super::navigation_policy::ResolvedName;
use super::redial::RedialOutcome;
use super::state::{AUTH_REQUIRED, CALL, CHOOSER, DOWNLOAD_PROGRESS, DOWNLOAD_WILL_BEGIN, NETWORK, Request};
use crate::cdp::protocol::{page, runtime, target};
use crate::cdp::rt::Event as _;
use crate::cdp::{Answer, Capacity, Connection, Event, Subscription, Watch};
use crate::sync::Deadline;

/// Events that change the state: losing one causes a resync.
const LIFECYCLE: [&str; 22] = [
    CHOOSER,
    DOWNLOAD_WILL_BEGIN,
    DOWNLOAD_PROGRESS,
    target::AttachedToTargetEvent::METHOD,
    target::DetachedFromTargetEvent::METHOD,
    target::TargetInfoChangedEvent::METHOD,
    crate::cdp::protocol::inspector::TargetCrashedEvent::METHOD,
    crate::cdp::protocol::inspector::TargetReloadedAfterCrashEvent::METHOD,
    page::DomContentEventFiredEvent::METHOD,
    page::LoadEventFiredEvent::METHOD,
    page::FrameAttachedEvent::METHOD,
    page::FrameStartedNavigatingEvent::METHOD,
    page::FrameStoppedLoadingEvent::METHOD,
    page::FrameNavigatedEvent::METHOD,
    page::NavigatedWithinDocumentEvent::METHOD,
    page::FrameDetachedEvent::METHOD,
    page::JavascriptDialogOpeningEvent::METHOD,
    page::JavascriptDialogClosedEvent::METHOD,
    runtime::ExecutionContextCreatedEvent::METHOD,
    runtime::ExecutionContextDestroyedEvent::METHOD,
    runtime::ExecutionContextsClearedEvent::METHOD,
    // Its order relative to the others matters.
    runtime::BindingCalledEvent::METHOD,
];
/// Events of which only the newest matter. They have their own queue, so that a flood does not displace other events.
const CONSOLE: [&str; 2] = [runtime::ConsoleApiCalledEvent::METHOD, runtime::ExceptionThrownEvent::METHOD];

/// Maximum number of events waiting for one subscriber.
pub(super) const FOLLOWED: usize = 4096;

/// The queues of the supervisor's thread.
pub(super) struct Inputs {
    /// `None` while there is no connection.
    browser: Option<FromBrowser>,
    pub(super) requests: Receiver<Request>,
    close: Receiver<()>,
    /// Outcome of reconnecting.
    pub(super) dialed: Receiver<RedialOutcome>,
    /// Resolved host names.
    pub(super) found: Receiver<ResolvedName>,
    /// Read from the queues to be compared, but not applied yet.
    next_event: Option<Event>,
    next_answer: Option<Answer>,
}

/// Subscriptions and answers of one connection.
struct FromBrowser {
    lifecycle: Subscription,
    /// Requests that sessions of pages intercept: calls of the dialog bridge, forged ones, and others. They have their own queue, so
    /// that a flood of forged calls does not displace other events.
    calls: Subscription,
    /// Documents that the session of the browser intercepts, of all its pages.
    documents: Subscription,
    console: Subscription,
    /// Network events, once enabled; in a separate queue too.
    network: Option<Subscription>,
    /// Subscriptions for followers of page events, by number.
    followed: Vec<(u64, Subscription)>,
    answers: Receiver<Answer>,
    answers_in: Sender<Answer>,
}

impl FromBrowser {
    fn of(connection: &Connection) -> Self {
        // Answers are to commands of the state machine, a few per attach; this is enough for hundreds of pages at once.
        let (answers_in, answers) = crossbeam_channel::bounded(16 * 1024);
        Self {
            lifecycle: connection.subscribe(Watch::everything().only(&LIFECYCLE), Capacity::of(8192)),
            calls: connection.subscribe(Watch::sessions().only(&[CALL, AUTH_REQUIRED]), Capacity::of(1024)),
            documents: connection.subscribe(Watch::browser().only(&[CALL]), Capacity::of(1024)),
            console: connection.subscribe(Watch::everything().only(&CONSOLE), Capacity::of(1024)),
            network: None,
            followed: Vec::new(),
            answers,
            answers_in,
        }
    }
}

/// The next event of a queue, if there is one.
fn taken_from(queue: &Subscription) -> Option<Event> {
    let event = queue.channel().try_recv().ok()?;
    queue.taken(&event);
    Some(event)
}

/// The number of events that a queue lost, read after its next event was taken, and that event.
fn with_losses(queue: &Subscription) -> (u64, Option<Event>) {
    let event = taken_from(queue);
    (queue.lag(), event)
}

/// Whether an event changes the state.
pub(super) fn carries_state(method: &str) -> bool {
    LIFECYCLE.contains(&method)
}

/// Why a wait for input ended.
pub(super) enum WakeReason {
    /// An event that changes the state, or an answer.
    BrowserMessage,
    Document,
    Call,
    Console,
    Network,
    /// An event for a follower.
    Followed,
    Request,
    Redialed,
    NameResolved,
    Close,
    Time,
}

/// The next input from the browser.
pub(super) enum NextInput {
    Event(Event),
    Answer(Answer),
    /// The queues are empty.
    Nothing,
    /// The connection has ended and the queues are empty.
    Ended,
}

impl Inputs {
    pub(super) fn new(
        connection: &Connection,
        requests: Receiver<Request>,
        found: Receiver<ResolvedName>,
        close: Receiver<()>,
    ) -> Self {
        Self {
            browser: Some(FromBrowser::of(connection)),
            requests,
            close,
            dialed: crossbeam_channel::never(),
            found,
            next_event: None,
            next_answer: None,
        }
    }

    /// Drops the queues of a lost connection.
    pub(super) fn part(&mut self) {
        self.browser = None;
        self.next_event = None;
        self.next_answer = None;
    }

    /// Subscribes on a new connection.
    pub(super) fn join(&mut self, connection: &Connection) {
        self.part();
        self.browser = Some(FromBrowser::of(connection));
    }

    /// Where answers go.
    pub(super) fn answers_in(&self) -> Option<&Sender<Answer>> {
        self.browser.as_ref().map(|browser| &browser.answers_in)
    }

    pub(super) fn wait(&self, until: Deadline<'_>) -> WakeReason {
        if self.next_event.is_some() || self.next_answer.is_some() {
            return WakeReason::BrowserMessage;
        }
        let mut select = Select::new_biased();
        // In order of priority: console messages come last.
        let mut sources =
            vec![(select.recv(&self.close), WakeReason::Close), (select.recv(&self.dialed), WakeReason::Redialed)];
        sources.push((select.recv(&self.found), WakeReason::NameResolved));
        if let Some(browser) = &self.browser {
            sources.push((select.recv(browser.lifecycle.channel()), WakeReason::BrowserMessage));
            sources.push((select.recv(&browser.answers), WakeReason::BrowserMessage));
        }
        sources.push((select.recv(&self.requests), WakeReason::Request));
        if let Some(browser) = &self.browser {
            sources.push((select.recv(browser.documents.channel()), WakeReason::Document));
            sources.push((select.recv(browser.calls.channel()), WakeReason::Call));
            sources.push((select.recv(browser.console.channel()), WakeReason::Console));
            if let Some(network) = &browser.network {
                sources.push((select.recv(network.channel()), WakeReason::Network));
            }
            for (_, events) in &browser.followed {
                sources.push((select.recv(events.channel()), WakeReason::Followed));
            }
        }
        match select.ready_deadline(until.instant()) {
            Ok(ready) => sources.into_iter().find(|(i, _)| *i == ready).map_or(WakeReason::Time, |(_, what)| what),
            Err(_) => WakeReason::Time,
        }
    }

    /// The next event or answer, in the order of the connection.
    pub(super) fn next(&mut self) -> NextInput {
        let Some(answers) = self.browser.as_ref().map(|browser| browser.answers.clone()) else {
            return NextInput::Nothing;
        };
        let event = self.take_event();
        // An answer received before this event was queued before the event was.
        let answer = self.next_answer.take().or_else(|| answers.try_recv().ok());
        match (event, answer) {
            (Ok(event), None) => NextInput::Event(event),
            (Ok(event), Some(answer)) => self.earlier(event, answer),
            (Err(_), Some(answer)) => match self.take_event() {
                Ok(event) => self.earlier(event, answer), // it arrived between the two reads
                Err(_) => NextInput::Answer(answer),
            },
            (Err(TryRecvError::Empty), None) => NextInput::Nothing,
            (Err(TryRecvError::Disconnected), None) => NextInput::Ended,
        }
    }

    fn take_event(&mut self) -> Result<Event, TryRecvError> {
        if let Some(event) = self.next_event.take() {
            return Ok(event);
        }
        let browser = self.browser.as_ref().ok_or(TryRecvError::Empty)?;
        let event = browser.lifecycle.channel().try_recv()?;
        browser.lifecycle.taken(&event);
        Ok(event)
    }

    fn earlier(&mut self, event: Event, answer: Answer) -> NextInput {
        if event.number() <= answer.after() {
            self.next_answer = Some(answer);
            NextInput::Event(event)
        } else {
            self.next_event = Some(event);
            NextInput::Answer(answer)
        }
    }

    /// The next intercepted request, and the number of those lost since the last call. Losses are reported even if no request is
    /// left: a lost one is paused, and must not wait until another one comes.
    pub(super) fn next_call(&mut self) -> (u64, Option<Event>) {
        self.browser.as_ref().map_or((0, None), |browser| with_losses(&browser.calls))
    }

    /// The next document that the session of the browser intercepted; like [`next_call`](Self::next_call).
    pub(super) fn next_document(&mut self) -> (u64, Option<Event>) {
        self.browser.as_ref().map_or((0, None), |browser| with_losses(&browser.documents))
    }

    /// Number of events and answers that [`next`](Self::next) has not returned yet.
    pub(super) fn pending(&self) -> usize {
        let read = usize::from(self.next_event.is_some()) + usize::from(self.next_answer.is_some());
        read + self.browser.as_ref().map_or(0, |browser| browser.lifecycle.channel().len() + browser.answers.len())
    }

    /// Subscribes to network events.
    pub(super) fn hear_network(&mut self, connection: &Connection) {
        if let Some(browser) = &mut self.browser {
            let hear = || connection.subscribe(Watch::everything().only(&NETWORK), Capacity::of(4096));
            browser.network.get_or_insert_with(hear);
        }
    }

    /// The next event of a network request.
    pub(super) fn next_network(&mut self) -> Option<Event> {
        taken_from(self.browser.as_ref()?.network.as_ref()?)
    }

    /// Number of network events lost since the last call.
    pub(super) fn lost_network(&self) -> u64 {
        let network = self.browser.as_ref().and_then(|browser| browser.network.as_ref());
        network.map_or(0, Subscription::lag)
    }

    /// Subscribes to the events of a follower.
    pub(super) fn follow(&mut self, connection: &Connection, number: u64, methods: &[&'static str]) {
        if let Some(browser) = &mut self.browser {
            let events = connection.subscribe(Watch::everything().only(methods), Capacity::of(FOLLOWED));
            browser.followed.push((number, events));
        }
    }

    pub(super) fn unfollow(&mut self, number: u64) {
        if let Some(browser) = &mut self.browser {
            browser.followed.retain(|(other, _)| *other != number);
        }
    }

    /// The numbers of all followers.
    pub(super) fn followers(&self) -> Vec<u64> {
        self.browser.iter().flat_map(|browser| browser.followed.iter().map(|(number, _)| *number)).collect()
    }

    /// The next event for a follower, and the number of events lost before it.
    pub(super) fn next_followed(&mut self, number: u64) -> Option<(u64, Event)> {
        let (_, events) = self.browser.as_ref()?.followed.iter().find(|(other, _)| *other == number)?;
        let lost = events.lag();
        Some((lost, taken_from(events)?))
    }

    /// The length of the longest queue.
    pub(super) fn waiting(&self) -> usize {
        let Some(browser) = &self.browser else { return 0 };
        let network = browser.network.as_ref().map_or(0, |network| network.channel().len());
        network.max(browser.lifecycle.channel().len()).max(browser.console.channel().len()).max(browser.answers.len())
    }

    /// The next console message or exception.
    pub(super) fn next_console(&mut self) -> Option<Event> {
        taken_from(&self.browser.as_ref()?.console)
    }

    /// Number of state events lost since the last call.
    pub(super) fn lost(&self) -> u64 {
        let Some(browser) = &self.browser else { return 0 };
        let _ = browser.console.lag(); // lost console messages do not matter
        browser.lifecycle.lag()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::cdp::ConnectOptions;

    #[test]
    fn a_document_that_is_lost_while_another_one_is_read_is_reported_with_the_last() {
        let (_commands, to_browser) = rustix::pipe::pipe().unwrap();
        let (from_browser, events) = rustix::pipe::pipe().unwrap();
        let connection = Connection::over_pipe(from_browser, to_browser, &ConnectOptions::default()).unwrap();
        let (_requests, requests) = crossbeam_channel::bounded(1);
        let (_found, found) = crossbeam_channel::bounded(1);
        let (_close, close) = crossbeam_channel::bounded(1);
        let mut inputs = Inputs::new(&connection, requests, found, close);
        let marks = connection.subscribe(Watch::everything().only(&["Test.mark"]), Capacity::of(8));
        let mut events = std::fs::File::from(events);
        let mut send = |sizes: &[usize]| {
            for size in sizes {
                let body = "x".repeat(*size);
                write!(
                    events,
                    "{{\"method\":\"{CALL}\",\"params\":{{\"requestId\":\"{size}\",\"body\":\"{body}\"}}}}\0"
                )
                .unwrap();
            }
            write!(events, "{{\"method\":\"Test.mark\",\"params\":{{}}}}\0").unwrap();
            marks.next(Deadline::after_secs(30)).unwrap();
        };
        send(&[1]);
        let (lost, first) = inputs.next_document();
        assert_eq!((lost, first.is_some()), (0, true));
        // Together they exceed the queue.
        send(&[17 << 20, (17 << 20) + 1]);
        let (lost, last) = inputs.next_document();
        assert!(lost == 1 && last.is_some_and(|event| event.params().starts_with(b"{\"requestId\":\"17825793\"")));
        let (lost, none) = inputs.next_document();
        assert!(lost == 0 && none.is_none());
    }
}
