//! Life cycle of one server: started on first use, supervised while it runs, restarted on use after it ended.
//!
//! The server's own thread does all of this; callers wait for its state. Lock order: the state's lock is the only one
//! here, held for reading and changing the state only.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde_json::{Map, Value, json};

use super::handshake::{self, Problem, ProtocolRevision};
use super::link::{Duty, Failed, Link};
use super::listing::{Listed, is_let_in, listed};
use super::process::Running;
use super::relist::Relist;
use super::stderr::Tail;
use super::{Limits, results};
use crate::config::McpServer;
use crate::tools::{Handler, Outcome, Registry, Source, Tool, ToolContext, ToolError};
use cdpilot::code::Code;
use cdpilot::redact::Secrets;
use cdpilot::sync::{Deadline, Thread, on_panic, spawn};
use cdpilot::text::shown;

/// Callers wait for a restart that is at most this far away; otherwise they get an error at once.
const SHORT_PAUSE: Duration = Duration::from_secs(1);
/// After running this long, a server's earlier failures are forgotten.
const STEADY: Duration = Duration::from_secs(60);
/// Attempts to list the tools when names are taken in the meantime.
const TRIES: usize = 3;
/// Maximum length of the reason in an error, in characters.
const MAX_REASON_CHARS: usize = 2_000;
/// Minimum length of a secret that is redacted in stderr output, in bytes.
const MIN_SECRET_BYTES: usize = 4;

/// State of the server.
#[derive(Debug, Clone)]
enum Phase {
    /// Not requested yet.
    Idle,
    /// Starting.
    Starting,
    /// Being ended before a restart.
    Ending,
    /// Running, with its tools registered.
    Up(Arc<Link>),
    /// Ended or failed; restarted on use, not before `again`.
    Down { again: Instant, why: String },
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Stopped permanently.
    is_stopped: bool,
    /// The connection to abandon when the server is stopped.
    link: Option<Arc<Link>>,
    /// Whether its tools are registered; they stay registered while it is down.
    is_listed: bool,
    /// Failures since it last ran for [`STEADY`].
    failures: u32,
    /// The server ends on the probe; start it without.
    is_legacy: bool,
    thread: Option<Thread>,
}

/// A configured server.
pub(super) struct Server {
    name: String,
    toolset: String,
    settings: McpServer,
    limits: Limits,
    registry: Weak<Registry>,
    state: Mutex<State>,
    changed: Condvar,
    /// For its tools, which refer to it.
    me: Weak<Server>,
}

impl std::fmt::Debug for Server {
    // The settings contain secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why the server could not be started.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("program {0:?} not found; install it, or set command to its path")]
    NoProgram(String),
    #[error("cannot start {0:?}: {1}")]
    Spawn(String, std::io::Error),
    #[error("{0}")]
    Handshake(#[from] Problem),
    #[error("cdpilot is ending")]
    Over,
}

impl Server {
    pub(super) fn new(name: &str, settings: McpServer, registry: &Arc<Registry>, limits: Limits) -> Arc<Self> {
        let state = State {
            phase: Phase::Idle,
            is_stopped: false,
            link: None,
            is_listed: false,
            failures: 0,
            is_legacy: false,
            thread: None,
        };
        Arc::new_cyclic(|me| Self {
            name: name.to_owned(),
            toolset: super::toolset(name),
            settings,
            limits,
            registry: Arc::downgrade(registry),
            state: Mutex::new(state),
            changed: Condvar::new(),
            me: Weak::clone(me),
        })
    }

    pub(super) fn registry(&self) -> Option<Arc<Registry>> {
        self.registry.upgrade()
    }

    /// Stops the server permanently. Returns its thread, to be joined.
    pub(super) fn end(&self) -> Option<Thread> {
        let (link, thread) = {
            let mut state = self.state.lock();
            state.is_stopped = true;
            (state.link.take(), state.thread.take())
        };
        self.changed.notify_all();
        if let Some(link) = link {
            link.abandon();
        }
        thread
    }

    /// The connection; starts the server if it is not running.
    fn link(&self, deadline: Deadline<'_>) -> Result<Arc<Link>, ToolError> {
        let mut has_waited = false;
        let mut state = self.state.lock();
        loop {
            let until = match &state.phase {
                _ if state.is_stopped => return Err(self.down("was stopped: cdpilot is ending")),
                // Detects a server that has just ended.
                Phase::Up(link) if !link.is_gone() => return Ok(Arc::clone(link)),
                Phase::Up(_) | Phase::Ending => deadline.instant(),
                Phase::Starting => {
                    has_waited = true;
                    deadline.instant()
                }
                Phase::Down { again, why } => {
                    let left = again.saturating_duration_since(Instant::now());
                    if !left.is_zero() && (has_waited || left > SHORT_PAUSE) {
                        let seconds = left.as_secs_f64().ceil();
                        return Err(self.down(&format!("{why}. Retry in {seconds} s")));
                    }
                    if left.is_zero() {
                        state = self.begin(state)?;
                        continue;
                    }
                    (*again).min(deadline.instant())
                }
                Phase::Idle => {
                    state = self.begin(state)?;
                    continue;
                }
            };
            if deadline.passed() {
                let message = format!("the MCP server {} is still starting; try again", self.name);
                let code = if deadline.is_cancelled() { Code::Cancelled } else { Code::Timeout };
                return Err(ToolError::new(code, message));
            }
            self.changed.wait_until(&mut state, until.min(deadline.next_check()));
        }
    }

    /// Starts the supervising thread.
    fn begin<'a>(
        &'a self,
        mut state: parking_lot::MutexGuard<'a, State>,
    ) -> Result<parking_lot::MutexGuard<'a, State>, ToolError> {
        let Some(me) = self.me.upgrade() else { return Err(self.down("was stopped")) };
        state.phase = Phase::Starting;
        let old = state.thread.take();
        // The previous thread has finished its work; it is joined below.
        match spawn(format!("mcp-{}", self.thread_name()), move || me.run()) {
            Ok(thread) => state.thread = Some(thread),
            Err(problem) => {
                state.phase = Phase::Idle;
                return Err(self.down(&format!("cannot be started: {problem}")));
            }
        }
        parking_lot::MutexGuard::unlocked(&mut state, || drop(old));
        Ok(state)
    }

    fn thread_name(&self) -> String {
        self.name.chars().filter(|c| !c.is_control()).collect()
    }

    fn down(&self, how: &str) -> ToolError {
        ToolError::new(Code::McpServerDown, format!("the MCP server {} {how}", self.name))
    }

    /// The supervising thread: starts the server, supervises it, and ends it.
    fn run(&self) {
        let _guard = on_panic(|| {
            let why = "failed: its thread panicked; see the log".to_owned();
            let again = Instant::now() + self.limits.first_pause;
            self.change(|state| {
                state.link = None;
                state.phase = Phase::Down { again, why };
            });
        });
        let begun = Instant::now();
        let tail = Arc::new(Tail::new(&self.name, self.cover()));
        let why = match self.start(&tail) {
            Ok(running) => {
                let link = Arc::clone(&running.link);
                self.change(|state| {
                    state.is_listed = true;
                    state.phase = Phase::Up(link);
                });
                let why = self.attend(&running.link);
                self.change(|state| state.phase = Phase::Ending);
                running.end(self.limits.patience);
                why
            }
            Err(failure) => format!("cannot be started: {failure}"),
        };
        let output = tail.quote();
        let why = if output.is_empty() { why } else { format!("{why}; it wrote: {output}") };
        // On one line, since it is also logged.
        let why: String = shown(&self.cover()(&why).replace('\n', " ")).chars().take(MAX_REASON_CHARS).collect();
        if !self.state.lock().is_stopped {
            tracing::warn!(server = self.name, "an MCP server {why}");
        }
        self.change(|state| {
            state.link = None;
            if begun.elapsed() > STEADY {
                state.failures = 0;
            }
            let doubled = 2_u32.saturating_pow(state.failures.min(16));
            let pause = self.limits.first_pause.saturating_mul(doubled).min(self.limits.longest_pause);
            state.failures = state.failures.saturating_add(1);
            state.phase = Phase::Down { again: Instant::now() + pause, why };
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock());
        self.changed.notify_all();
    }

    /// Starts the process, negotiates, and registers the tools. A server that ends on the probe is started again
    /// without it.
    fn start(&self, tail: &Arc<Tail>) -> Result<Running, Failure> {
        let deadline = Deadline::after(self.limits.start);
        let mut probe = !self.state.lock().is_legacy;
        loop {
            let running = Running::start(&self.thread_name(), &self.settings, Arc::clone(tail))
                .map_err(|problem| self.not_started(problem))?;
            {
                let mut state = self.state.lock();
                if state.is_stopped {
                    return Err(Failure::Over);
                }
                state.link = Some(Arc::clone(&running.link));
            }
            let greeted = handshake::negotiate(&running.link, probe, deadline, &self.limits);
            let listed = greeted.and_then(|revision| self.list(&running.link, deadline).map(|()| revision));
            self.state.lock().is_legacy = listed == Ok(ProtocolRevision::Legacy);
            match listed {
                Ok(_) => return Ok(running),
                Err(problem) => {
                    // The output until now tells why.
                    running.end(self.limits.patience);
                    if problem != Problem::Gone || !probe {
                        return Err(problem.into());
                    }
                    probe = false;
                    tail.forget();
                }
            }
        }
    }

    fn not_started(&self, problem: std::io::Error) -> Failure {
        let command = self.settings.command.clone();
        if problem.kind() == std::io::ErrorKind::NotFound {
            return Failure::NoProgram(command);
        }
        Failure::Spawn(command, problem)
    }

    /// Supervises the server until it has to be ended. Returns the reason.
    fn attend(&self, link: &Link) -> String {
        let mut relist = Relist::default();
        loop {
            match link.duty(relist.due(Instant::now())) {
                Duty::Gone => return "has ended".to_owned(),
                Duty::Suspect => {
                    let method = if link.is_modern() { "server/discover" } else { "ping" };
                    let pending = link.ask(method, Map::new(), Deadline::after(self.limits.alive));
                    if matches!(pending, Err(Failed::Late)) {
                        return "stopped responding and was ended".to_owned();
                    }
                }
                Duty::List => {
                    if let Err(problem) = self.list(link, Deadline::after(self.limits.start)) {
                        tracing::warn!(server = self.name, %problem, "the tools of an MCP server cannot be listed again");
                    }
                    relist.listed(Instant::now());
                }
            }
        }
    }

    /// Registers the server's current tools and removes others.
    fn list(&self, link: &Link, deadline: Deadline<'_>) -> Result<(), Problem> {
        // Excluded tools do not count for the limit: a server may have thousands.
        let described = handshake::list(link, |own| is_let_in(own, &self.settings.tools), deadline)?;
        let Some(registry) = self.registry() else { return Ok(()) };
        for _ in 0..TRIES {
            let tools = listed(&self.name, &described, &self.settings.tools, &registry);
            let tools = tools.into_iter().map(|tool| self.tool(tool)).collect();
            // Another server may have taken a name in the meantime.
            let refused = registry.replace(&self.toolset, tools);
            if refused.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn tool(&self, tool: Listed) -> Tool {
        let handler = Arc::new(OfServer { server: Weak::clone(&self.me), own: tool.own });
        let made = Tool::new(&tool.name, &tool.description, tool.schema, handler);
        if tool.read_only { made.reading() } else { made }
    }

    /// Redacts values of the server's environment and other known secrets.
    fn cover(&self) -> super::stderr::Cover {
        let given = Secrets::new(self.settings.env.values().filter(|value| value.len() >= MIN_SECRET_BYTES));
        let registry = Weak::clone(&self.registry);
        Box::new(move |text| {
            let text = given.cover(text);
            registry.upgrade().map_or_else(|| text.clone().into_owned(), |registry| registry.cover(&text))
        })
    }

    fn call(&self, own: &str, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        let deadline = call.deadline.within(self.limits.call);
        let link = self.link(deadline)?;
        let params =
            Map::from_iter([("name".to_owned(), json!(own)), ("arguments".to_owned(), Value::Object(arguments))]);
        let pending = link.begin("tools/call", params, deadline, true);
        let answered = pending.and_then(|pending| pending.wait(deadline, call.progress));
        let name = &self.name;
        let failed = |code, message| Err(ToolError::new(code, message));
        match answered {
            Ok(result) => results::outcome(result),
            Err(Failed::Fault(fault)) => Err(results::refused(&fault)),
            Err(Failed::Cancelled) => failed(
                Code::Cancelled,
                format!("cancelled: the call to the MCP server {name} was abandoned by the client"),
            ),
            Err(Failed::Late) => {
                link.suspect();
                let message =
                    format!("the MCP server {name} did not respond in time; the call may or may not have taken effect");
                failed(Code::Timeout, message)
            }
            Err(Failed::Gone) => {
                let message = format!(
                    "the MCP server {name} ended during the call, which may or may not have taken effect; \
                     the next call restarts it"
                );
                failed(Code::McpServerGone, message)
            }
        }
    }
}

impl Source for Server {
    fn toolset(&self) -> &str {
        &self.toolset
    }

    /// Tools stay registered while the server is down: a call restarts it.
    fn load(&self, deadline: Deadline<'_>) -> Result<(), ToolError> {
        if self.state.lock().is_listed {
            return Ok(());
        }
        self.link(deadline).map(drop)
    }
}

/// A tool of a server, under the server's own name.
struct OfServer {
    server: Weak<Server>,
    own: String,
}

impl Handler for OfServer {
    fn call(&self, call: &ToolContext<'_>, arguments: Map<String, Value>) -> Result<Outcome, ToolError> {
        match self.server.upgrade() {
            Some(server) => server.call(&self.own, call, arguments),
            None => Err(ToolError::new(Code::McpServerDown, "the MCP server of this tool was stopped")),
        }
    }
}
