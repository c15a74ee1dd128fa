//! A fake browser in this process, driven by a script: over a WebSocket on loopback, or over a pair of
//! pipes.
//!
//! ```ignore
//! let fake = Fake::start();
//! fake.on("Page.enable").after_event("Page.loadEventFired", json!({"timestamp": 1})).reply(json!({}));
//! fake.on("Runtime.evaluate").never();
//! let connection = fake.connect();
//! fake.emit(Some("S1"), "Page.frameDetached", json!({"frameId": "F", "reason": "swap"}));
//! fake.wait("the call", |log| log.requests.len() == 1);
//! ```
//!
//! A command without a rule is answered with `{}`. What comes in is recorded in a [`Log`] that tests
//! wait on. The threads end, and are joined, when the `Fake` is dropped.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use cdpilot::cdp::{ConnectOptions, Connection};
use cdpilot::sync::{Thread, spawn};
use serde_json::{Value, json};

use super::fake_cdp_link::Link;
use super::fake_cdp_rules::Rule;
pub use super::fake_cdp_rules::{Action, Gate, On, Request};
pub use super::fake_cdp_serve::Log;
use super::fake_cdp_serve::{Mode, Shared, accept};
use super::fake_cdp_wire::{self as wire, Frame};

pub use super::soon;

pub struct Fake {
    shared: Arc<Shared>,
    port: Option<u16>,
    acceptor: Option<Thread>,
}

impl Fake {
    /// A browser behind a WebSocket.
    pub fn start() -> Self {
        Self::listen(Mode::Cdp)
    }

    /// Accepts connections and never answers the handshake.
    pub fn silent_handshake() -> Self {
        Self::listen(Mode::Silent)
    }

    /// Runs a script on each accepted socket. The socket is shut down when the `Fake` is dropped.
    pub fn script(script: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::listen(Mode::Script(Arc::new(script)))
    }

    /// Runs a script on each socket once the handshake is done.
    pub fn upgraded(script: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::listen(Mode::Upgraded(Arc::new(script)))
    }

    fn listen(mode: Mode) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = Some(listener.local_addr().unwrap().port());
        let shared = Arc::new(Shared::default());
        let server = Arc::clone(&shared);
        let acceptor = spawn("fake-accept", move || accept(&server, &listener, &mode)).unwrap();
        Self { shared, port, acceptor: Some(acceptor) }
    }

    /// A browser behind a pair of pipes, and a connection to it.
    #[cfg(unix)]
    pub fn over_pipe(options: &ConnectOptions) -> (Self, Connection) {
        let (from_client, to_browser) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let (from_browser, to_client) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let link = Link::pipe(to_client).unwrap();
        let shared = Arc::new(Shared::default());
        {
            let mut state = shared.state.lock();
            state.links.push(Arc::clone(&link));
            state.ready = 1;
            let server = Arc::clone(&shared);
            state.threads.push(spawn("fake-pipe", move || server.serve_pipe(&link, &from_client)).unwrap());
        }
        let fake = Self { shared, port: None, acceptor: None };
        let connection = Connection::over_pipe(from_browser, to_browser, options).unwrap();
        (fake, connection)
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/fake", self.port.unwrap())
    }

    pub fn port(&self) -> u16 {
        self.port.unwrap()
    }

    /// A connection to it with the usual options.
    pub fn connect(&self) -> Connection {
        self.connect_with(&ConnectOptions::default())
    }

    pub fn connect_with(&self, options: &ConnectOptions) -> Connection {
        Connection::connect(&self.address(), options).unwrap()
    }

    // ---- the script ----------------------------------------------------------------------------

    /// Begins a rule for a command; `*` is every command. A newer rule hides an older one.
    pub fn on(&self, method: &str) -> On<'_> {
        On::new(self, method)
    }

    pub fn add(&self, rule: Rule) {
        self.shared.state.lock().rules.push(rule);
    }

    /// Actions that are sent together with the handshake response, in the same write.
    pub fn greet(&self, actions: Vec<Action>) {
        self.shared.state.lock().greeting = actions;
    }

    // ---- at any time, on the newest connection -------------------------------------------------

    /// The newest connection, once its handshake is done.
    pub fn link(&self) -> Arc<Link> {
        let mut state = self.shared.state.lock();
        let deadline = soon().instant();
        while state.links.is_empty() || state.ready < state.links.len() {
            assert!(!self.shared.changed.wait_until(&mut state, deadline).timed_out(), "nobody connects");
        }
        Arc::clone(state.links.last().unwrap())
    }

    pub fn act(&self, action: Action) {
        match action {
            Action::StopReading => self.stop_reading(),
            action => self.link().perform(action, None),
        }
    }

    pub fn emit(&self, session: Option<&str>, method: &str, params: Value) {
        self.link().text(&wire::event(session, method, &params));
    }

    /// Sends `Flood.event` `count` times, numbered from zero, with padding.
    pub fn flood(&self, count: usize, size: usize) {
        let (link, pad) = (self.link(), "x".repeat(size));
        for n in 0..count {
            link.text(&wire::event(None, "Flood.event", &json!({ "n": n, "pad": pad })));
        }
    }

    /// Sends any text as a message.
    pub fn send_text(&self, text: &str) {
        self.link().text(text);
    }

    pub fn send_raw(&self, bytes: &[u8]) {
        self.link().raw(bytes);
    }

    pub fn binary(&self, payload: &[u8]) {
        self.act(Action::Binary(payload.to_vec()));
    }

    pub fn ping(&self, payload: &[u8]) {
        self.act(Action::Ping(payload.to_vec()));
    }

    pub fn garbage(&self) {
        self.send_text("this is not CDP");
    }

    pub fn close_with(&self, code: u16) {
        self.act(Action::Close(Some(code)));
    }

    /// Sends the head and half of a frame and ends the connection.
    pub fn drop_mid_frame(&self) {
        let mut bytes = Frame::of(wire::TEXT).head(1000);
        bytes.resize(bytes.len() + 500, b' ');
        self.send_raw(&bytes);
        self.cut();
    }

    /// Ends the connection without a close frame.
    pub fn cut(&self) {
        self.link().cut();
    }

    /// Ends every connection, including those before their handshake.
    pub fn cut_all(&self) {
        let links = self.shared.state.lock().links.clone();
        links.iter().for_each(|link| link.cut());
    }

    /// Stops reading; a read that is already waiting may still complete.
    pub fn stop_reading(&self) {
        self.shared.state.lock().paused = true;
    }

    pub fn go_on_reading(&self) {
        self.shared.state.lock().paused = false;
        self.shared.changed.notify_all();
    }

    // ---- what came in --------------------------------------------------------------------------

    /// Inspects the received messages.
    pub fn log<T>(&self, look: impl FnOnce(&Log) -> T) -> T {
        look(&self.shared.state.lock().log)
    }

    /// Waits until the received messages satisfy a condition; panics after the deadline.
    pub fn wait(&self, what: &str, enough: impl Fn(&Log) -> bool) {
        let mut state = self.shared.state.lock();
        let deadline = soon().instant();
        while !enough(&state.log) {
            if self.shared.changed.wait_until(&mut state, deadline).timed_out() && !enough(&state.log) {
                let seen: String = format!("{:?}", state.log).chars().take(4000).collect();
                drop(state);
                panic!("waited in vain for {what}; so far: {seen}");
            }
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let links = {
            let mut state = self.shared.state.lock();
            state.stopping = true;
            state.rules.clear(); // their closures may hold what they like
            state.links.clone()
        };
        self.shared.changed.notify_all();
        if let Some(port) = self.port {
            let _ = TcpStream::connect(("127.0.0.1", port)); // wakes the acceptor
        }
        drop(self.acceptor.take());
        let late = self.shared.state.lock().links.clone();
        links.iter().chain(&late).for_each(|link| link.cut());
        let threads = std::mem::take(&mut self.shared.state.lock().threads);
        drop(threads);
    }
}
