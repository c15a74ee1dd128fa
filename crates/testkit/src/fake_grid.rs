//! A fake WebDriver server in this process. Like a grid it also forwards WebSocket handshakes, to a fake
//! browser.
//!
//! Each request gets a connection and a thread of its own. What comes in is recorded, and tests wait on
//! it. Everything ends when the `Grid` is dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

use cdpilot::sync::{Thread, spawn};
use crossbeam_channel::Receiver;
use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};

use super::fake_cdp::{Fake, soon};

/// The id of every session.
pub const ID: &str = "5e551on";

/// A received request.
#[derive(Debug, Clone)]
pub struct GridRequest {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl GridRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// A response.
#[derive(Clone)]
pub enum Answer {
    Json(u16, Value),
    /// The whole response, including its head.
    Raw(String),
    /// No response until the grid ends.
    Never,
    /// The inner response, once the gate opens.
    After(Receiver<()>, Box<Answer>),
}

/// A session with these capabilities.
pub fn session(capabilities: Value) -> Answer {
    Answer::Json(200, json!({ "value": { "sessionId": ID, "capabilities": capabilities } }))
}

/// An error response as specified.
pub fn refusal(status: u16, code: &str, message: &str) -> Answer {
    Answer::Json(status, json!({ "value": { "error": code, "message": message, "stacktrace": "" } }))
}

type Rule = Box<dyn Fn(&GridRequest) -> Answer + Send + Sync>;

#[derive(Default)]
struct State {
    seen: Vec<GridRequest>,
    sockets: Vec<TcpStream>,
    threads: Vec<Thread>,
    stopping: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    rule: Rule,
    cdp: Option<u16>,
}

pub struct Grid {
    shared: Arc<Shared>,
    port: u16,
    acceptor: Option<Thread>,
}

impl Grid {
    /// A grid that answers by `rule` and forwards WebSockets to `cdp`.
    pub fn start(cdp: Option<&Fake>, rule: impl Fn(&GridRequest) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            rule: Box::new(rule),
            cdp: cdp.map(Fake::port),
        });
        let server = Arc::clone(&shared);
        let acceptor = spawn("grid-accept", move || {
            for socket in listener.incoming().flatten() {
                let mut state = server.state.lock();
                if state.stopping {
                    return;
                }
                state.sockets.push(socket.try_clone().unwrap());
                let serving = Arc::clone(&server);
                state.threads.push(spawn("grid-serve", move || serve(&serving, &socket)).unwrap());
            }
        });
        Self { shared, port, acceptor: Some(acceptor.unwrap()) }
    }

    /// A grid that answers requests for new sessions with this, and all others with an empty result.
    pub fn with_session(cdp: Option<&Fake>, new: Answer) -> Self {
        Self::start(cdp, move |seen| match seen.method.as_str() {
            "POST" => new.clone(),
            _ => Answer::Json(200, json!({ "value": null })),
        })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn address(&self) -> String {
        format!("webdriver+http://127.0.0.1:{}", self.port)
    }

    /// The requests so far, without WebSocket handshakes.
    pub fn seen(&self) -> Vec<GridRequest> {
        self.shared.state.lock().seen.clone()
    }

    pub fn count(&self, method: &str) -> usize {
        self.shared.state.lock().seen.iter().filter(|seen| seen.method == method).count()
    }

    /// Waits for a number of requests with a method.
    pub fn wait(&self, method: &str, count: usize) {
        let mut state = self.shared.state.lock();
        while state.seen.iter().filter(|seen| seen.method == method).count() < count {
            let late = self.shared.changed.wait_until(&mut state, soon().instant()).timed_out();
            assert!(!late, "no {count} {method}: {:?}", state.seen);
        }
    }
}

impl Drop for Grid {
    fn drop(&mut self) {
        self.shared.state.lock().stopping = true;
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        drop(self.acceptor.take());
        let mut state = self.shared.state.lock();
        let threads = std::mem::take(&mut state.threads);
        for socket in state.sockets.drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        drop(state);
        drop(threads);
    }
}

fn serve(shared: &Arc<Shared>, socket: &TcpStream) {
    let mut input = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if input.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let mut lines = head.lines();
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut seen = GridRequest { method: method.to_owned(), path: path.to_owned(), headers, body: Value::Null };
    if seen.header("upgrade").is_some() {
        return forward(shared, socket, &head);
    }
    let length = seen.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if input.read_exact(&mut body).is_err() {
        return;
    }
    seen.body = serde_json::from_slice(&body).unwrap_or_default();
    let answer = (shared.rule)(&seen);
    shared.state.lock().seen.push(seen);
    shared.changed.notify_all();
    write(socket, answer);
    let _ = socket.shutdown(Shutdown::Both);
}

fn write(mut socket: &TcpStream, answer: Answer) {
    let text = match answer {
        Answer::Json(status, body) => {
            let body = body.to_string();
            // In two chunks, as some servers do.
            let (one, two) = body.split_at(body.len() / 2);
            format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n",
                one.len(),
                two.len()
            )
        }
        Answer::Raw(text) => text,
        Answer::Never => {
            let _ = socket.read(&mut [0; 16]);
            return;
        }
        Answer::After(gate, inner) => {
            let _ = gate.recv_deadline(soon().instant());
            return write(socket, *inner);
        }
    };
    let _ = socket.write_all(text.as_bytes());
}

/// Forwards a handshake and all following data to the browser.
fn forward(shared: &Arc<Shared>, client: &TcpStream, head: &str) {
    let browser = shared.cdp.and_then(|port| TcpStream::connect(("127.0.0.1", port)).ok());
    let Some(mut browser) = browser else {
        let _ = (&mut &*client).write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        let _ = client.shutdown(Shutdown::Both);
        return;
    };
    browser.write_all(head.as_bytes()).unwrap();
    let (mut from, mut to) = (browser.try_clone().unwrap(), client.try_clone().unwrap());
    let mut state = shared.state.lock();
    state.sockets.push(browser.try_clone().unwrap());
    state.threads.push(spawn("grid-back", move || pump(&mut from, &mut to)).unwrap());
    drop(state);
    pump(&mut client.try_clone().unwrap(), &mut browser);
}

fn pump(from: &mut TcpStream, to: &mut TcpStream) {
    let _ = std::io::copy(from, to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
