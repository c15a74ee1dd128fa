//! The thread that receives reports and writes events.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use serde_json::{Map, Value, json};

use super::super::{Actor, Event, EventType, PageShown, StopReason};
use super::actors::Actions;
use super::film::{Film, now};
use super::order::Documents;
use super::pictures::Job;
use super::rows::{self, object};
use super::tabs::Tabs;
use super::{Order, Scope, Sink, Written};
use crate::control::{Profile, Running};
use crate::store;
use cdpilot::cdp::RecvError;
use cdpilot::code::Code;
use cdpilot::page::{Recorded, Recorder, Reported};
use cdpilot::supervisor::TargetId;
use cdpilot::sync::Deadline;

/// Address of an empty document.
pub(super) const BLANK: &str = "about:blank";
/// Longest wait for the next item.
const TURN: Duration = Duration::from_millis(100);
/// How long the store is tried again before what it does not take is given up.
const STORING: Duration = Duration::from_secs(60);
/// Most events that wait for the store.
const MOST_WAITING: usize = 10_000;
/// Most events of a recording.
const MOST_EVENTS: u64 = 20_000;
/// Time limits for ending the recorder in one tab, and for everything that was still on its way.
const ENDING: Duration = Duration::from_secs(2);
const DRAINING: Duration = Duration::from_secs(5);

/// Which pages belong to the recording.
pub(super) struct Pages {
    pub(super) profile: Profile,
    pub(super) scope: Scope,
    pub(super) window: Option<i64>,
    pub(super) own_addresses: Vec<String>,
}

/// What the service says to the thread.
pub(super) struct Signals {
    pub(super) is_paused: Arc<AtomicBool>,
    /// How often it was paused, so that a short pause is noticed too.
    pub(super) pauses: Arc<AtomicU64>,
    /// When the first address was open, in milliseconds since 1970; 0 before that. Until then, nobody has done anything.
    pub(super) begun: Arc<AtomicU64>,
}

/// A second screenshot that is still to be taken.
pub(super) struct Afterwards {
    pub(super) due: Instant,
    pub(super) job: (u64, TargetId, Arc<str>),
    pub(super) text: String,
}

/// The thread's state.
pub(super) struct Worker {
    pub(super) recorder: Recorder,
    pub(super) running: Arc<Running>,
    pub(super) pages: Pages,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) film: Arc<Film>,
    pub(super) jobs: Sender<Job>,
    pub(super) next: u64,
    pub(super) tabs: Tabs,
    pub(super) documents: Documents,
    pub(super) actions: Actions,
    /// The events of reports, by document and number.
    pub(super) rows: HashMap<(String, u64), u64>,
    /// The names under which forms send sensitive fields that were used.
    pub(super) parameters: BTreeSet<String>,
    /// Events that are not stored yet, with the reports that they acknowledge.
    pub(super) waiting: Vec<Event>,
    pub(super) reports: Vec<Reported>,
    pub(super) failing: Option<Instant>,
    pub(super) afterwards: VecDeque<Afterwards>,
    pub(super) was_cut: bool,
    pub(super) was_paused: bool,
    /// Pauses that a gap stands for.
    pub(super) pauses: u64,
    /// In Unix seconds.
    pub(super) begun: f64,
}

/// Why the thread ends.
enum End {
    Stopped(Sender<()>),
    /// The recording is not active any more.
    Over,
    ByItself(StopReason),
}

impl Worker {
    pub(super) fn new(
        recorder: Recorder,
        running: Arc<Running>,
        pages: Pages,
        sink: Arc<dyn Sink>,
        (film, jobs): (Arc<Film>, Sender<Job>),
        next: u64,
        seen: u64,
    ) -> Self {
        Self {
            recorder,
            running,
            pages,
            sink,
            film,
            jobs,
            next,
            tabs: Tabs::default(),
            documents: Documents::default(),
            actions: Actions::after(seen),
            rows: HashMap::new(),
            parameters: BTreeSet::new(),
            waiting: Vec::new(),
            reports: Vec::new(),
            failing: None,
            afterwards: VecDeque::new(),
            was_cut: false,
            was_paused: false,
            pauses: 0,
            begun: f64::INFINITY,
        }
    }

    /// Runs until the recording ends.
    pub(super) fn run(mut self, orders: &Receiver<Order>, signals: &Signals) {
        self.add(rows::event(0, EventType::RecordingStarted, now(), 0, PageShown::default()));
        let end = loop {
            match orders.try_recv() {
                Ok(Order::Stop(done)) => break End::Stopped(done),
                Ok(Order::CatchUp(done)) => {
                    self.catch_up();
                    let _ = done.send(());
                }
                Err(crossbeam_channel::TryRecvError::Disconnected) => break End::Over,
                Err(crossbeam_channel::TryRecvError::Empty) => {}
            }
            self.pause(signals.is_paused.load(Ordering::Acquire), signals.pauses.load(Ordering::Acquire));
            let begun = signals.begun.load(Ordering::Acquire);
            if begun > 0 {
                #[expect(clippy::cast_precision_loss, reason = "a time in milliseconds")]
                let seconds = begun as f64 / 1000.0;
                self.begun = seconds;
            }
            match self.recorder.next(Deadline::after(TURN)) {
                Ok(item) => {
                    self.take(item);
                    // What has come together is stored together.
                    let mut more = 200;
                    while more > 0
                        && let Ok(item) = self.recorder.next(Deadline::after(Duration::ZERO))
                    {
                        self.take(item);
                        more -= 1;
                    }
                }
                Err(RecvError::Timeout) => {}
                Err(RecvError::Closed) => break End::ByItself(StopReason::BrowserDisconnected),
            }
            self.find_tabs();
            self.idle(false);
            if let Err(end) = self.store() {
                break end;
            }
            if self.tabs.are_closed() && self.pages.scope != Scope::Session {
                break End::ByItself(StopReason::WindowClosed);
            }
            if self.next > MOST_EVENTS {
                break End::ByItself(StopReason::Limit);
            }
        };
        self.finish(end);
    }

    fn finish(&mut self, end: End) {
        if matches!(end, End::Stopped(_) | End::ByItself(StopReason::Limit)) {
            for page in self.tabs.open() {
                if let Ok(tab) = self.running.tabs.tab(&page) {
                    tab.end_recording(Deadline::after(ENDING));
                }
            }
            self.catch_up();
        }
        self.idle(true);
        if !matches!(end, End::Over) {
            let until = Deadline::after(DRAINING);
            while self.store().is_ok() && !self.waiting.is_empty() && !until.passed() {
                cdpilot::sync::pause(TURN);
            }
        }
        // The threads that make screenshots end when they have made those that wait.
        self.film.end();
        match end {
            End::Stopped(done) => {
                let _ = done.send(());
            }
            End::ByItself(reason) => self.sink.ended(reason),
            End::Over => {}
        }
    }

    /// Records the tabs of a session that it has by now: who opened a tab may be known only after the tab appeared.
    fn find_tabs(&mut self) {
        if self.pages.scope == Scope::Session {
            let pages = self.pages.profile.targets().into_iter().map(|page| TargetId::from(page.as_str()));
            for page in pages.filter(|page| self.tabs.get(page).is_none()).collect::<Vec<_>>() {
                self.join(&page);
            }
        }
    }

    /// Reads everything that the browser has sent so far, which includes the tabs that were opened.
    fn catch_up(&mut self) {
        self.find_tabs();
        let until = Deadline::after(DRAINING);
        if self.recorder.caught_up(Deadline::after(ENDING)).is_ok() {
            while !until.passed()
                && let Ok(item) = self.recorder.next(Deadline::after(Duration::ZERO))
            {
                self.take(item);
            }
        }
    }

    fn pause(&mut self, is_paused: bool, pauses: u64) {
        if pauses > self.pauses && !is_paused {
            self.gap(None, "the recording was paused");
            self.pauses = pauses;
        }
        self.was_paused = is_paused;
    }

    /// Numbers an event and has it stored. Returns its number.
    pub(super) fn add(&mut self, mut event: Event) -> u64 {
        event.event_index = self.next;
        self.next += 1;
        self.push(event)
    }

    pub(super) fn push(&mut self, mut event: Event) -> u64 {
        let index = event.event_index;
        if !self.parameters.is_empty() {
            let cover = |url: &mut String| *url = rows::without_values(url, &self.parameters);
            cover(&mut event.page.url);
            event.frame.iter_mut().for_each(|frame| cover(&mut frame.url));
            if let Some(container) = event.element.as_mut().and_then(|element| element.container.as_mut()) {
                cover(&mut container.href);
            }
            if let Some(Value::String(url)) = event.data.get_mut("url") {
                cover(url);
            }
        }
        match self.waiting.iter_mut().find(|waiting| waiting.event_index == index) {
            Some(waiting) => *waiting = event,
            None => self.waiting.push(event),
        }
        index
    }

    pub(super) fn gap(&mut self, count: Option<u64>, why: &str) {
        let mut event = rows::event(0, EventType::Gap, now(), 0, PageShown::default());
        event.data = object(json!({ "count": count, "why": why }));
        self.add(event);
    }

    /// An event of a tab.
    pub(super) fn tab_event(
        &mut self,
        page: &TargetId,
        kind: EventType,
        at: f64,
        data: Map<String, Value>,
    ) -> Option<u64> {
        if self.was_paused {
            return None;
        }
        let tab = self.tabs.get(page)?;
        let mut event = rows::event(0, kind, at, tab.number, tab.shown.clone());
        event.data = data;
        event.by = self.actor(page, at);
        Some(self.add(event))
    }

    pub(super) fn actor(&mut self, page: &TargetId, at: f64) -> Actor {
        let actor = self.actions.actor(self.pages.profile.events(), page.as_str(), at);
        if at > self.begun { actor } else { Actor::Person }
    }

    pub(super) fn take(&mut self, item: Recorded) {
        let lost = self.recorder.lost();
        if lost > 0 {
            tracing::debug!(lost, "items of a recording came faster than they were read");
        }
        match item {
            Recorded::Report(reported) => {
                let found = self.documents.take(*reported, Instant::now());
                if let Some(again) = found.again {
                    self.recorder.acknowledge(&again);
                }
                for reported in found.new {
                    self.report(reported);
                }
            }
            Recorded::Joined { page, opener } => self.joined(&page, opener.as_ref()),
            Recorded::PromptText { page, text } => {
                if let Some(tab) = self.tabs.get_mut(&page) {
                    tab.prompt = Some(text.to_string());
                }
            }
            Recorded::Event { at, record } => self.log_entry(at, &record),
            _ => {}
        }
    }

    /// What is due at the end of a turn.
    pub(super) fn idle(&mut self, all: bool) {
        let overdue = self.documents.overdue(Instant::now(), all);
        if overdue.missing > 0 {
            self.gap(Some(overdue.missing), "reports of a document were lost");
        }
        for reported in overdue.new {
            self.report(reported);
        }
        while self.afterwards.front().is_some_and(|next| all || next.due <= Instant::now()) {
            self.picture_afterwards();
        }
    }

    /// Whether a page belongs to this server.
    pub(super) fn is_own(&self, url: &str) -> bool {
        let place = url.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
        place.is_some_and(|place| self.pages.own_addresses.iter().any(|own| own == place))
    }

    /// Stores what waits. A failing store is tried again; what it does not take for a long time is given up and counted.
    fn store(&mut self) -> Result<(), End> {
        if self.waiting.is_empty() {
            self.acknowledge();
            return Ok(());
        }
        let written = self.sink.write(Written { events: self.waiting.clone(), pictures: Vec::new() });
        match written {
            Ok(()) => {
                self.waiting.clear();
                self.failing = None;
                self.acknowledge();
                Ok(())
            }
            Err(store::Error::NotFound { .. }) => Err(End::Over),
            Err(error) if error.kind() == Code::Conflict => Err(End::Over),
            Err(error) => {
                let since = *self.failing.get_or_insert_with(Instant::now);
                tracing::warn!(%error, waiting = self.waiting.len(), "events of a recording cannot be stored; trying again");
                if since.elapsed() > STORING && self.waiting.len() > MOST_WAITING {
                    let lost = self.waiting.len();
                    self.waiting.clear();
                    self.gap(u64::try_from(lost).ok(), "the database did not take them");
                }
                cdpilot::sync::pause(TURN);
                Ok(())
            }
        }
    }

    /// Everything that was reported is stored.
    fn acknowledge(&mut self) {
        let mut last: HashMap<String, Reported> = HashMap::new();
        for reported in self.reports.drain(..) {
            last.insert(reported.report.doc.clone(), reported);
        }
        for reported in last.values() {
            self.recorder.acknowledge(reported);
        }
    }
}
