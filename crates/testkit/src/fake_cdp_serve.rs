//! The serving half of the fake browser: its state, and the threads that accept, read and answer.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use cdpilot::sync::{Thread, spawn};
use parking_lot::{Condvar, Mutex};
use serde_json::json;
use tungstenite::Message;
use tungstenite::handshake::server::{ErrorResponse, Request as Upgrade, Response};
use tungstenite::protocol::WebSocketConfig;

use super::fake_cdp_link::{Io, Link};
use super::fake_cdp_rules::{Action, Request, Rule, pick};

/// Everything received so far.
#[derive(Debug, Default)]
pub struct Log {
    pub requests: Vec<Request>,
    /// Path and headers of each handshake.
    pub handshakes: Vec<(String, Vec<(String, String)>)>,
    pub pings: usize,
    pub pongs: Vec<Vec<u8>>,
    /// Codes of the close frames.
    pub closes: Vec<Option<u16>>,
    /// Messages that are not commands.
    pub garbage: Vec<String>,
    /// Connections that are over.
    pub gone: usize,
}

impl Log {
    /// The names of the commands, in order.
    pub fn methods(&self) -> Vec<&str> {
        self.requests.iter().map(|request| request.method.as_str()).collect()
    }

    /// The commands of this name.
    pub fn of(&self, method: &str) -> Vec<&Request> {
        self.requests.iter().filter(|request| request.method == method).collect()
    }
}

#[derive(Default)]
pub(crate) struct State {
    pub log: Log,
    pub rules: Vec<Rule>,
    pub greeting: Vec<Action>,
    pub links: Vec<Arc<Link>>,
    /// Links that are ready; `links` also contains those in their handshake.
    pub ready: usize,
    pub paused: bool,
    pub stopping: bool,
    pub threads: Vec<Thread>,
}

#[derive(Default)]
pub(crate) struct Shared {
    pub state: Mutex<State>,
    pub changed: Condvar,
}

/// What to do with a socket that was accepted.
pub(crate) type Script = Arc<dyn Fn(TcpStream) + Send + Sync>;

#[derive(Clone)]
pub(crate) enum Mode {
    Cdp,
    /// Accepts and sends nothing.
    Silent,
    /// Leaves the socket to the test, before or after the handshake.
    Script(Script),
    Upgraded(Script),
}

pub(crate) fn accept(shared: &Arc<Shared>, listener: &TcpListener, mode: &Mode) {
    for socket in listener.incoming() {
        let mut state = shared.state.lock();
        if state.stopping {
            return;
        }
        let Ok(socket) = socket else { continue };
        let _ = socket.set_nodelay(true);
        let Ok(link) = Link::tcp(&socket, state.links.len()) else { continue };
        state.links.push(Arc::clone(&link));
        let (server, mode) = (Arc::clone(shared), mode.clone());
        let name = format!("fake-conn-{}", link.number);
        let thread = spawn(name, move || {
            match mode {
                Mode::Cdp => drop(server.serve(&link, &socket)),
                Mode::Silent => {
                    let mut state = server.state.lock();
                    while !state.stopping {
                        server.changed.wait(&mut state);
                    }
                }
                Mode::Script(script) => script(socket),
                Mode::Upgraded(script) => {
                    if server.upgrade(&link, &socket).is_ok() {
                        link.release();
                        script(socket);
                    }
                }
            }
            link.cut();
            server.note(|log| log.gone += 1);
        });
        state.threads.extend(thread);
    }
}

impl Shared {
    fn note(&self, with: impl FnOnce(&mut Log)) {
        with(&mut self.state.lock().log);
        self.changed.notify_all();
    }

    #[allow(clippy::result_large_err)] // the callback's type is tungstenite's
    fn upgrade<'a>(&self, link: &'a Link, socket: &'a TcpStream) -> Result<tungstenite::WebSocket<Io<'a>>, ()> {
        let note = |request: &Upgrade, response: Response| -> Result<Response, ErrorResponse> {
            let value = |v: &tungstenite::http::HeaderValue| String::from_utf8_lossy(v.as_bytes()).into_owned();
            let headers = request.headers().iter().map(|(n, v)| (n.to_string(), value(v))).collect();
            self.note(|log| log.handshakes.push((request.uri().to_string(), headers)));
            Ok(response)
        };
        link.hold();
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        tungstenite::accept_hdr_with_config(Io { read: socket, link }, note, Some(config)).map_err(drop)
    }

    fn serve(&self, link: &Arc<Link>, socket: &TcpStream) -> Result<(), ()> {
        let upgraded = self.upgrade(link, socket);
        if upgraded.is_err() {
            self.state.lock().ready += 1; // settled, if not well
        }
        let mut messages = upgraded?;
        let greeting = self.state.lock().greeting.clone();
        for action in greeting {
            link.perform(action, None);
        }
        link.release();
        self.state.lock().ready += 1;
        self.changed.notify_all();
        loop {
            self.wait_while_paused()?;
            match messages.read().map_err(drop)? {
                Message::Text(text) => self.take(link, text.as_str()),
                Message::Binary(_) => self.note(|log| log.garbage.push("a Binary frame".to_owned())),
                Message::Ping(_) => self.note(|log| log.pings += 1),
                Message::Pong(payload) => self.note(|log| log.pongs.push(payload.to_vec())),
                Message::Close(frame) => {
                    self.note(|log| log.closes.push(frame.map(|frame| frame.code.into())));
                }
                Message::Frame(_) => {}
            }
        }
    }

    #[cfg(unix)]
    pub(crate) fn serve_pipe(&self, link: &Arc<Link>, from_client: &std::os::fd::OwnedFd) {
        let (mut text, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
        while self.wait_while_paused().is_ok()
            && link.wait_pipe(from_client, rustix::event::PollFlags::IN).unwrap_or(false)
        {
            let Ok(n @ 1..) = rustix::io::read(from_client, &mut chunk[..]) else { break };
            for byte in &chunk[..n] {
                if *byte == 0 {
                    let whole = std::mem::take(&mut text);
                    self.take(link, &String::from_utf8_lossy(&whole));
                } else {
                    text.push(*byte);
                }
            }
        }
        link.cut();
        self.note(|log| log.gone += 1);
    }

    fn wait_while_paused(&self) -> Result<(), ()> {
        let mut state = self.state.lock();
        while state.paused && !state.stopping {
            self.changed.wait(&mut state);
        }
        if state.stopping { Err(()) } else { Ok(()) }
    }

    /// Records a message and does what the script says.
    fn take(&self, link: &Arc<Link>, text: &str) {
        let Some(request) = Request::parse(text, link.number) else {
            return self.note(|log| log.garbage.push(text.to_owned()));
        };
        let handler = {
            let mut state = self.state.lock();
            state.log.requests.push(request.clone());
            pick(&mut state.rules, &request)
        };
        self.changed.notify_all();
        let actions = handler.map_or_else(|| vec![Action::Reply(json!({}))], |handler| handler(&request));
        for action in actions {
            match action {
                Action::StopReading => self.state.lock().paused = true,
                action => link.perform(action, Some(&request)),
            }
        }
    }
}
