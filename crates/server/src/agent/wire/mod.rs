//! Requests with effects of a conversation's pages: each is held before it leaves, until it is known who allowed it.
//!
//! A conversation with a guard has a [`Wire`]. It intercepts all requests of its pages whose method may change something, those of
//! frames, workers and popups included, from before the first navigation. A request passes if
//! - it is what an approved action was approved for ([`Cover`]), or the conversation allows it for good (grants, `requests`),
//! - it is background traffic: a person has approved it twice for the same document while no action was under way, it differs
//!   in digits only, and it contains nothing that the model typed,
//! - it only reads by its own grammar: a GraphQL query,
//! - a person uses the pages, because the run is paused or waits for help.
//!
//! Beacons fail without a question: no page waits for their answer. Everything else is held while a person is asked, at most
//! [`WAIT`]; then it fails. While no run is in progress, nobody can be asked, so it fails at once.
//!
//! | file | contents |
//! |---|---|
//! | `facts` | what a request sends, by name and value, and whether it only reads |
//! | `ask` | the question about a held request, and what follows its answer |

mod ask;
mod facts;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::guard::Grant;
use super::routine::StepScope;
use crate::control::{self, WatchRequests};
use crate::tools::{Effect, EffectKind, SentForm};
use cdpilot::cdp::RecvError;
use cdpilot::supervisor::{AbortReason, InterceptRule, InterceptedRequest, Interceptor, Supervisor};
use cdpilot::sync::{Cancel, Deadline, Thread, spawn};

pub(super) use ask::Answered;
pub(super) use facts::Facts;

/// How long a page waits for a person.
const WAIT: Duration = Duration::from_secs(110);
/// How often the thread looks whether it is still needed.
const CHECK: Duration = Duration::from_millis(100);
/// How long a call may go on while a request is held.
const PATIENCE: Duration = Duration::from_secs(3);
/// Most requests that are held, and that are remembered as background traffic.
const MOST_HELD: usize = 32;
const MOST_SEEN: usize = 512;
/// Most texts of the model that are remembered, and the length of the shortest, in characters.
const MOST_TYPED: usize = 64;
const SHORTEST_TYPED: usize = 3;
/// Most requests that are reported as not sent.
const MOST_UNSENT: usize = 20;
/// How often a person has to approve what a document sends without an action, before it counts as background traffic.
const BACKGROUND: u32 = 2;
/// After so many refusals, a request of a document fails without a question.
const MOST_REFUSED: u32 = 2;
/// How long what was approved stays allowed after the next call has begun.
const LATE: Duration = Duration::from_secs(2);

/// What the run of the conversation is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    /// No run is in progress.
    #[default]
    Idle,
    /// The model acts, or a question is open.
    Guarding,
    /// A person uses the pages.
    Open,
}

/// What an approved action may send.
#[derive(Debug, Clone)]
struct Cover {
    /// The tab.
    tab: String,
    /// The origin of the page that was shown.
    origin: String,
    /// The form that was shown, which is sent once; `None`: the action sends no form, so that its page decides what it sends to its
    /// own origin.
    form: Option<SentForm>,
    since: Instant,
}

impl Cover {
    fn is_for(&self, facts: &Facts) -> bool {
        if self.tab != facts.page {
            return false;
        }
        match &self.form {
            Some(form) => facts.sends(form),
            None => !self.origin.is_empty() && facts.goes_to(&self.origin) && facts.comes_from(&self.origin),
        }
    }
}

/// A request that waits for a person.
struct Held {
    request: InterceptedRequest,
    facts: Facts,
    since: Instant,
    /// Whether a call was under way.
    during: bool,
}

#[derive(Default)]
struct State {
    mode: Mode,
    /// Ends the call under way.
    acting: Option<Cancel>,
    /// Whether that call types text.
    types: bool,
    covers: Vec<Cover>,
    /// What the call before was approved for.
    covers_before: Vec<Cover>,
    grants: Vec<Grant>,
    /// What a person has allowed for the step in progress of a routine.
    routine: Option<Arc<StepScope>>,
    /// Requests that the conversation may send: a method and the beginning of an address.
    permitted: Vec<(String, String)>,
    /// Requests that were approved when the page no longer waited.
    once: Vec<String>,
    typed: VecDeque<String>,
    /// How often a person has approved a request of a document that it sent without an action.
    seen: HashMap<(String, String), u32>,
    /// How often a person has refused a request of a document; of those that it sent without an action, by its path.
    refused: HashMap<(String, String), u32>,
    held: VecDeque<Held>,
    asked: Option<Held>,
    /// Requests that failed without a question, since they were reported.
    unsent: Vec<String>,
}

/// What happens to a request.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail,
    Hold,
}

/// The requests of one conversation. Clones are the same; the last one ends the threads.
#[derive(Clone)]
pub(super) struct Wire(Arc<Owner>);

/// Dropped in this order: the threads end when the state is gone.
struct Owner {
    /// Locked for operations in memory only.
    state: Arc<Mutex<State>>,
    /// One for each browser.
    threads: Mutex<Vec<Thread>>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Wire")
    }
}

impl WatchRequests for Wire {
    fn watch(&self, supervisor: &Supervisor, client: &Arc<str>, deadline: Deadline<'_>) -> Result<(), control::Error> {
        let rule = InterceptRule::new("**").by(Arc::clone(client)).changing().fails_unanswered().timeout(WAIT);
        let interceptor = supervisor.intercept(rule, deadline)?;
        let state = Arc::downgrade(&self.0.state);
        // Without its thread, the interceptor is dropped, and the requests continue: then nothing may be opened.
        match spawn("agent-requests", move || watched(&interceptor, &state)) {
            Ok(thread) => {
                let mut threads = self.0.threads.lock();
                threads.retain(|thread| !thread.is_finished());
                threads.push(thread);
                Ok(())
            }
            Err(problem) => Err(control::Error::Conflict { problem: format!("no thread could be started: {problem}") }),
        }
    }
}

/// Decides about requests until the conversation or the browser is gone.
fn watched(interceptor: &Interceptor, state: &Weak<Mutex<State>>) {
    loop {
        match interceptor.next(Deadline::after(CHECK)) {
            Ok(request) => {
                let Some(state) = state.upgrade() else { return };
                decided(request, &state);
            }
            Err(RecvError::Timeout) => match state.upgrade() {
                Some(state) => state.lock().end_waiting(),
                None => return,
            },
            Err(_) => return,
        }
    }
}

fn decided(request: InterceptedRequest, state: &Mutex<State>) {
    let facts = Facts::of(&request);
    let mut now = state.lock();
    match now.verdict(&facts) {
        Verdict::Pass => {
            drop(now);
            let _ = request.continue_();
        }
        Verdict::Fail => {
            if now.unsent.len() < MOST_UNSENT {
                now.unsent.push(facts.line());
            }
            drop(now);
            let _ = request.fail(AbortReason::BlockedByClient);
        }
        Verdict::Hold => {
            // A navigation ends only when it is known what becomes of it.
            if facts.is_document
                && let Some(acting) = &now.acting
            {
                acting.set();
            }
            let during = now.acting.is_some();
            now.held.push_back(Held { request, facts, since: Instant::now(), during });
        }
    }
}

impl State {
    /// Remembers what a person has said about a request.
    fn learn(&mut self, held: &Held, approved: bool) {
        let (of, key) = match (approved, held.during) {
            (true, true) => return,
            (true, false) => (&mut self.seen, held.facts.shape()),
            (false, true) => (&mut self.refused, held.facts.shape()),
            // What a page reports of itself is never the same twice.
            (false, false) => (&mut self.refused, held.facts.path()),
        };
        if of.len() < MOST_SEEN {
            *of.entry(key).or_default() += 1;
        }
    }

    /// Ends a call that waits for a page which waits for a person.
    fn end_waiting(&self) {
        let is_late = self.held.front().is_some_and(|held| held.since.elapsed() > PATIENCE);
        if let Some(acting) = self.acting.as_ref().filter(|_| is_late && !self.types) {
            acting.set();
        }
    }

    /// Whether a person has allowed such requests: for the conversation, for its kind or origin, or in a step of a routine.
    fn allows(&self, facts: &Facts) -> bool {
        let is_permitted = |(method, address): &(String, String)| {
            (method == "*" || *method == facts.method) && facts.url.starts_with(address.as_str())
        };
        let effect = facts.effect("");
        self.permitted.iter().any(is_permitted)
            || self.routine.as_ref().is_some_and(|scope| scope.allows(&effect))
            || self.grants.iter().any(|grant| grant.allows(&effect))
    }

    fn verdict(&mut self, facts: &Facts) -> Verdict {
        if self.mode == Mode::Open || facts.only_reads() || self.allows(facts) {
            return Verdict::Pass;
        }
        let effect = facts.effect("");
        if let Some(at) = self.covers.iter().position(|cover| cover.is_for(facts)) {
            if self.covers[at].form.is_some() {
                self.covers.remove(at);
            }
            return Verdict::Pass;
        }
        if let Some(at) = self.once.iter().position(|approved| *approved == effect.fingerprint) {
            self.once.remove(at);
            return Verdict::Pass;
        }
        let key = facts.shape();
        let count = self.seen.get(&key).copied().unwrap_or_default();
        if count >= BACKGROUND && !self.typed.iter().any(|typed| facts.contains(typed)) {
            return Verdict::Pass;
        }
        let is_refused = |key| self.refused.get(key).is_some_and(|count| *count >= MOST_REFUSED);
        if is_refused(&key) || (self.acting.is_none() && is_refused(&facts.path())) {
            return Verdict::Fail;
        }
        let is_full = self.held.len() >= MOST_HELD;
        if self.mode == Mode::Idle || facts.is_beacon || is_full { Verdict::Fail } else { Verdict::Hold }
    }
}

impl Wire {
    /// The requests of a conversation. `permitted`: those that it may send, as `METHOD ADDRESS`.
    pub(super) fn new(permitted: &[String]) -> Self {
        let split = |text: &String| {
            let (method, address) = text.split_once(' ').unwrap_or(("*", text));
            (method.to_uppercase(), address.trim().to_owned())
        };
        let permitted = permitted.iter().map(split).filter(|(_, address)| !address.is_empty()).collect();
        let state = Arc::new(Mutex::new(State { permitted, ..State::default() }));
        Self(Arc::new(Owner { state, threads: Mutex::default() }))
    }

    /// A run begins, with what a person has allowed for the rest of the conversation.
    pub(super) fn begin_run(&self, grants: Vec<Grant>, routine: Option<Arc<StepScope>>) {
        let mut state = self.0.state.lock();
        (state.mode, state.grants, state.routine) = (Mode::Guarding, grants, routine);
        // Those that are held already and are allowed by now need no question of their own.
        let held = std::mem::take(&mut state.held);
        let (allowed, kept) = held.into_iter().partition(|one| state.allows(&one.facts));
        state.held = kept;
        drop(state);
        let allowed: VecDeque<Held> = allowed;
        for one in allowed {
            let _ = one.request.continue_();
        }
    }

    /// The user has said something new: what was refused may be asked about again.
    pub(super) fn forget_refused(&self) {
        self.0.state.lock().refused.clear();
    }

    /// The question about the request that was asked about is no longer open.
    pub(super) fn forget_asked(&self) {
        let asked = self.0.state.lock().asked.take();
        drop(asked);
    }

    /// The run has ended. `waiting`: with a question, for which requests are held on. The others fail.
    pub(super) fn end_run(&self, waiting: bool) {
        let mut state = self.0.state.lock();
        state.acting = None;
        if waiting {
            return;
        }
        state.mode = Mode::Idle;
        state.covers.clear();
        let held: Vec<Held> = state.held.drain(..).collect();
        let asked = state.asked.take();
        for one in held.iter().chain(&asked) {
            let line = one.facts.line();
            state.unsent.push(line);
        }
        drop(state);
        // Outside the lock: each tells the supervisor.
        drop((held, asked));
    }

    /// A person uses the pages, or no longer does.
    pub(super) fn set_open(&self, is_open: bool) {
        self.0.state.lock().mode = if is_open { Mode::Open } else { Mode::Guarding };
    }

    /// A call begins. It is cancelled when a navigation is held, or another request for a while, unless it types.
    pub(super) fn begin_call(&self, cancel: &Cancel, types: bool, texts: impl Iterator<Item = String>) {
        let mut state = self.0.state.lock();
        state.types = types;
        state.acting = Some(cancel.clone());
        // What an approved press leaves to a timer may come a moment later.
        let (kept, before) =
            std::mem::take(&mut state.covers).into_iter().partition(|cover| cover.since.elapsed() < LATE);
        (state.covers, state.covers_before) = (kept, before);
        for text in texts.filter(|text| text.chars().count() >= SHORTEST_TYPED) {
            if state.typed.len() >= MOST_TYPED {
                state.typed.pop_front();
            }
            state.typed.push_back(text);
        }
    }

    /// The call answers a question of the page about what the call before was approved for, which stays allowed.
    pub(super) fn keep_covers(&self) {
        let mut state = self.0.state.lock();
        let before = std::mem::take(&mut state.covers_before);
        state.covers.extend(before);
    }

    /// The call is over. What it was approved for stays allowed until the next one.
    pub(super) fn end_call(&self) {
        self.0.state.lock().acting = None;
    }

    /// An action was approved: what it sends is allowed.
    pub(super) fn cover(&self, effect: &Effect) {
        if effect.tab.is_empty() {
            return;
        }
        let form = effect.form.clone();
        let cover = Cover { tab: effect.tab.clone(), origin: effect.origin.clone(), form, since: Instant::now() };
        self.0.state.lock().covers.push(cover);
    }

    /// The requests that failed without a question since the last time.
    pub(super) fn take_unsent(&self) -> Vec<String> {
        std::mem::take(&mut self.0.state.lock().unsent)
    }

    /// Whether a request is held.
    fn has_held(&self) -> bool {
        !self.0.state.lock().held.is_empty()
    }

    /// The next held request, which a person is asked about.
    fn take_held(&self) -> Option<(Facts, bool)> {
        let mut state = self.0.state.lock();
        loop {
            let held = state.held.pop_front()?;
            if held.since.elapsed() < WAIT {
                let facts = (held.facts.clone(), held.during);
                let before = state.asked.replace(held);
                drop(state);
                drop(before);
                return Some(facts);
            }
            let line = held.facts.line();
            state.unsent.push(line);
        }
    }

    /// Sends the request that a person was asked about, or fails it. False if the page no longer waits for it; one that is
    /// approved then passes when the page sends it again.
    fn answer(&self, approved: bool, fingerprint: &str) -> bool {
        let asked = {
            let mut state = self.0.state.lock();
            let asked = state.asked.take();
            if let Some(held) = &asked {
                state.learn(held, approved);
            }
            asked
        };
        let answered = match asked {
            Some(held) if approved => held.request.continue_().is_ok(),
            Some(held) => held.request.fail(AbortReason::BlockedByClient).is_ok(),
            None => false,
        };
        if approved && !answered {
            self.0.state.lock().once.push(fingerprint.to_owned());
        }
        answered
    }
}

/// The kind of effect of a request by itself.
const KIND: EffectKind = EffectKind::Request;

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(method: &str, url: &str, body: &str) -> Facts {
        Facts {
            page: "T1".to_owned(),
            document: "http://a.test/page".to_owned(),
            origin: "http://a.test".to_owned(),
            method: method.to_owned(),
            url: url.to_owned(),
            body: Some(body.into()),
            kind: "application/x-www-form-urlencoded".to_owned(),
            is_document: false,
            is_beacon: false,
            overrides: None,
        }
    }

    fn guarding() -> State {
        State { mode: Mode::Guarding, ..State::default() }
    }

    #[test]
    fn nothing_passes_that_nobody_allowed() {
        let post = facts("POST", "http://a.test/transfer", "to=mallory");
        let mut state = guarding();
        state.acting = Some(Cancel::new());
        assert_eq!(state.verdict(&post), Verdict::Hold);
        for method in ["PUT", "PATCH", "DELETE", "PURGE"] {
            assert_eq!(state.verdict(&Facts { method: method.to_owned(), ..post.clone() }), Verdict::Hold, "{method}");
        }
        assert_eq!(state.verdict(&Facts { is_beacon: true, ..post.clone() }), Verdict::Fail);
        state.mode = Mode::Idle;
        assert_eq!(state.verdict(&post), Verdict::Fail);
        state.mode = Mode::Open;
        assert_eq!(state.verdict(&post), Verdict::Pass);
    }

    #[test]
    fn background_traffic_is_what_a_person_has_approved_twice() {
        let (poll, mut state) = (facts("POST", "http://a.test/poll?t=1", "n=1"), guarding());
        // What was never sent teaches nothing.
        for _ in 0..5 {
            assert_eq!(state.verdict(&poll), Verdict::Hold);
        }
        state.seen.insert(poll.shape(), BACKGROUND);
        let third = Facts { url: "http://a.test/poll?t=3".to_owned(), body: Some("n=3".into()), ..poll.clone() };
        assert_eq!(state.verdict(&third), Verdict::Pass);
        state.typed.push_back("n=7".to_owned());
        for other in [
            Facts { body: Some("n=7".into()), ..poll.clone() },
            Facts { body: Some("n=1000".into()), ..poll.clone() },
            Facts { body: Some("transfer=1".into()), ..poll.clone() },
            Facts { url: "http://a.test/poll?x=1".to_owned(), ..poll.clone() },
            Facts { document: "http://a.test/other".to_owned(), ..poll.clone() },
            Facts { url: "http://a.test/transfer".to_owned(), ..poll.clone() },
            Facts { method: "DELETE".to_owned(), ..poll.clone() },
        ] {
            assert_eq!(state.verdict(&other), Verdict::Hold, "{other:?}");
        }
        // After two refusals it fails without a question.
        let other = facts("POST", "http://a.test/x", "a=1");
        state.refused.insert(other.shape(), MOST_REFUSED);
        assert_eq!(state.verdict(&other), Verdict::Fail);
        // Without an action: whatever the page sends there. With one, a person is asked.
        state.refused = HashMap::from([(facts("POST", "http://a.test/log", "").path(), MOST_REFUSED)]);
        let report = facts("POST", "http://a.test/log?v=abc", "at=xyz");
        assert_eq!(state.verdict(&report), Verdict::Fail);
        assert_eq!(state.verdict(&Facts { method: "PUT".to_owned(), ..report.clone() }), Verdict::Hold);
        state.acting = Some(Cancel::new());
        assert_eq!(state.verdict(&report), Verdict::Hold);
    }

    #[test]
    fn an_approval_covers_what_was_shown() {
        let fields = vec![("to".to_owned(), "alice".to_owned()), ("sum".to_owned(), "5\r\n6".to_owned())];
        let form =
            SentForm { method: "post".to_owned(), url: "http://a.test/pay#x".to_owned(), fields, has_files: false };
        let cover =
            Cover { tab: "T1".to_owned(), origin: "http://a.test".to_owned(), form: Some(form), since: Instant::now() };
        let sent = facts("POST", "http://a.test/pay", "to=alice&sum=5%0D%0A6");
        assert!(cover.is_for(&sent));
        for other in [
            facts("POST", "http://a.test/pay", "to=mallory&sum=5%0D%0A6"),
            facts("POST", "http://a.test/pay", "to=alice&sum=5%0D%0A6&also=1"),
            facts("PUT", "http://a.test/pay", "to=alice&sum=5%0D%0A6"),
            facts("POST", "http://a.test/other", "to=alice&sum=5%0D%0A6"),
            facts("POST", "http://b.test/pay", "to=alice&sum=5%0D%0A6"),
            Facts { page: "T2".to_owned(), ..sent.clone() },
            Facts { overrides: Some("x-http-method-override: DELETE".to_owned()), ..sent.clone() },
        ] {
            assert!(!cover.is_for(&other), "{other:?}");
        }
        // One approval, one sending.
        let mut state = State { covers: vec![cover.clone()], ..guarding() };
        assert_eq!((state.verdict(&sent), state.verdict(&sent)), (Verdict::Pass, Verdict::Hold));
        // A press without a form: what its page sends to its own origin.
        let press = Cover { form: None, ..cover };
        assert!(press.is_for(&sent));
        for other in [
            facts("POST", "http://b.test/pay", ""),
            Facts { origin: "http://b.test".to_owned(), ..sent.clone() },
            Facts { page: "T2".to_owned(), ..sent },
        ] {
            assert!(!press.is_for(&other), "{other:?}");
        }
    }
}
