//! The script of a fake browser: its reactions to commands.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::fake_cdp::Fake;
use super::fake_cdp_wire as wire;

/// A received command.
#[derive(Debug, Clone)]
pub struct Request {
    pub id: u64,
    pub method: String,
    pub params: Value,
    pub session: Option<String>,
    /// Index of its connection, from zero.
    pub connection: usize,
}

impl Request {
    pub fn parse(text: &str, connection: usize) -> Option<Self> {
        let message: Value = serde_json::from_str(text).ok()?;
        Some(Self {
            id: message["id"].as_u64()?,
            method: message["method"].as_str()?.to_owned(),
            params: message["params"].clone(),
            session: message["sessionId"].as_str().map(str::to_owned),
            connection,
        })
    }

    /// The message that answers it, to be sent later.
    pub fn answer(&self, result: &Value) -> String {
        wire::answer(self.id, self.session.as_deref(), result)
    }

    /// The message that refuses it.
    pub fn refusal(&self, code: i64, message: &str) -> String {
        json!({ "id": self.id, "error": { "code": code, "message": message } }).to_string()
    }
}

/// An action of the browser.
#[derive(Debug, Clone)]
pub enum Action {
    /// Answers the command.
    Reply(Value),
    /// Refuses the command.
    Error(i64, String),
    /// Sends an event.
    Event { session: Option<String>, method: String, params: Value },
    /// Sends any text as a message.
    Text(String),
    /// Sends a message in a Binary frame.
    Binary(Vec<u8>),
    /// Sends raw bytes.
    Raw(Vec<u8>),
    /// Sends a ping.
    Ping(Vec<u8>),
    /// Sends a close frame.
    Close(Option<u16>),
    /// Ends the connection without a close frame.
    Cut,
    /// Stops reading.
    StopReading,
    /// Performs these actions when the gate opens.
    Late(Gate, Vec<Action>),
}

impl Action {
    /// An event of the browser itself.
    pub fn event(method: &str, params: Value) -> Self {
        Self::Event { session: None, method: method.to_owned(), params }
    }

    /// An event of a session.
    pub fn event_in(session: &str, method: &str, params: Value) -> Self {
        Self::Event { session: Some(session.to_owned()), method: method.to_owned(), params }
    }
}

/// Delays actions until a test opens it. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    held: Arc<Mutex<Held>>,
}

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Held {
    open: bool,
    jobs: Vec<Job>,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "open: {}, held: {}", self.open, self.jobs.len())
    }
}

impl Gate {
    /// Performs the delayed actions, in order, and delays none from now on.
    pub fn open(&self) {
        let jobs = {
            let mut held = self.held.lock();
            held.open = true;
            std::mem::take(&mut held.jobs)
        };
        jobs.into_iter().for_each(|job| job());
    }

    pub fn pass(&self, job: impl FnOnce() + Send + 'static) {
        let mut held = self.held.lock();
        if held.open {
            drop(held);
            return job();
        }
        held.jobs.push(Box::new(job));
    }
}

pub(crate) type Handler = Arc<dyn Fn(&Request) -> Vec<Action> + Send + Sync>;

/// One rule of the script. The newest that matches a command applies.
#[derive(Clone)]
pub struct Rule {
    method: String,
    session: Option<String>,
    left: usize,
    handler: Handler,
}

/// Returns the newest rule for a command.
pub(crate) fn pick(rules: &mut [Rule], request: &Request) -> Option<Handler> {
    let fits = |rule: &&mut Rule| {
        let here = rule.session.is_none() || rule.session == request.session;
        here && rule.left > 0 && (rule.method == "*" || rule.method == request.method)
    };
    let rule = rules.iter_mut().rev().find(fits)?;
    rule.left -= 1;
    Some(Arc::clone(&rule.handler))
}

/// A rule under construction: first its conditions, then its action.
#[must_use = "finish it with reply, never, error, …"]
pub struct On<'a> {
    fake: &'a Fake,
    method: String,
    session: Option<String>,
    left: usize,
    before: Vec<Action>,
    copies: usize,
    gate: Option<Gate>,
}

impl<'a> On<'a> {
    pub fn new(fake: &'a Fake, method: &str) -> Self {
        let method = method.to_owned();
        Self { fake, method, session: None, left: usize::MAX, before: Vec::new(), copies: 1, gate: None }
    }

    /// Only on this session.
    pub fn in_session(mut self, session: &str) -> Self {
        self.session = Some(session.to_owned());
        self
    }

    /// Only for the next `times` commands.
    pub fn times(mut self, times: usize) -> Self {
        self.left = times;
        self
    }

    /// Sends this event first, on the session of the command.
    pub fn after_event(mut self, method: &str, params: Value) -> Self {
        self.before.push(Action::event(method, params));
        self
    }

    /// Answers twice.
    pub fn twice(mut self) -> Self {
        self.copies = 2;
        self
    }

    /// Answers when the gate opens.
    pub fn late(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Answers with this result.
    pub fn reply(self, result: Value) {
        self.with(move |_| vec![Action::Reply(result.clone())]);
    }

    /// Answers with the parameters of the command.
    pub fn echo(self) {
        self.with(|request| vec![Action::Reply(request.params.clone())]);
    }

    /// Answers with an error object.
    pub fn error(self, code: i64, message: &str) {
        let message = message.to_owned();
        self.with(move |_| vec![Action::Error(code, message.clone())]);
    }

    /// Does not answer.
    pub fn never(self) {
        self.with(|_| Vec::new());
    }

    /// Performs this action.
    pub fn act(self, action: Action) {
        self.with(move |_| vec![action.clone()]);
    }

    /// Calls the closure; all other actions are built on this.
    pub fn with(self, handler: impl Fn(&Request) -> Vec<Action> + Send + Sync + 'static) {
        let Self { fake, method, session, left, before, copies, gate } = self;
        let handler = move |request: &Request| {
            let mut actions = before.clone();
            for action in &mut actions {
                if let Action::Event { session, .. } = action {
                    session.clone_from(&request.session);
                }
            }
            for _ in 0..copies {
                actions.extend(handler(request));
            }
            match &gate {
                Some(gate) => vec![Action::Late(gate.clone(), actions)],
                None => actions,
            }
        };
        fake.add(Rule { method, session, left, handler: Arc::new(handler) });
    }
}
