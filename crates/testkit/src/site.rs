//! A small web site on loopback whose pages a test defines.
//!
//! ```ignore
//! let site = Site::start();
//! site.page("/", "<iframe src='@b/inner'></iframe>");
//! site.page("/inner", "hello");
//! let top = site.url("a", "/"); // http://a.localhost:PORT/
//! ```
//!
//! Chromium takes every name below `localhost` for loopback, and `a.localhost` and `b.localhost` for
//! different sites, so that frames between them run in processes of their own. Every host gets the same
//! pages. In a page `@a`, `@b`, `@c` stand for the address of that host, `@1` for `127.0.0.1` and `@l`
//! for plain `localhost`, each followed by `/`.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

use cdpilot::sync::{Thread, spawn};
use parking_lot::{Condvar, Mutex};

/// The response for a path.
#[derive(Clone)]
pub struct Answer {
    status: &'static str,
    kind: &'static str,
    headers: String,
    body: String,
    /// Sent unchanged, instead of `body`.
    bytes: Option<Arc<[u8]>>,
    held_by: Option<Held>,
    /// Holds back the second half of `bytes`.
    half_held_by: Option<Held>,
}

impl Answer {
    pub fn html(body: impl Into<String>) -> Self {
        let kind = "text/html; charset=utf-8";
        Self {
            status: "200 OK",
            kind,
            headers: String::new(),
            body: body.into(),
            bytes: None,
            held_by: None,
            half_held_by: None,
        }
    }

    /// Adds a header line.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }

    /// Bytes of a media type, sent unchanged.
    pub fn bytes(kind: &'static str, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { kind, bytes: Some(bytes.into()), ..Self::html("") }
    }

    /// Of another media type.
    pub fn kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }

    /// With another status line.
    pub fn status(mut self, status: &'static str) -> Self {
        self.status = status;
        self
    }

    pub fn script(body: impl Into<String>) -> Self {
        Self { kind: "text/javascript", ..Self::html(body) }
    }

    /// Responds only when released.
    pub fn held_by(mut self, held: &Held) -> Self {
        self.held_by = Some(held.clone());
        self
    }

    /// Sends the second half of its bytes only when released.
    pub fn half_held_by(mut self, held: &Held) -> Self {
        self.half_held_by = Some(held.clone());
        self
    }
}

/// Delays responses until a test releases them. Clones share their state.
#[derive(Clone, Default)]
pub struct Held {
    inner: Arc<(Mutex<bool>, Condvar)>,
}

impl Held {
    pub fn release(&self) {
        *self.inner.0.lock() = true;
        self.inner.1.notify_all();
    }

    pub fn wait(&self) {
        let mut open = self.inner.0.lock();
        while !*open {
            self.inner.1.wait(&mut open);
        }
    }
}

#[derive(Default)]
struct State {
    answers: HashMap<String, Answer>,
    /// Requested paths, in order, with the host.
    requested: Vec<String>,
    /// Request heads, with path and host.
    heads: Vec<(String, String)>,
    /// The name and password that a path requires, in Base64.
    locked: HashMap<String, String>,
    /// Everything that may block a thread.
    held: Vec<Held>,
    sockets: HashMap<u64, TcpStream>,
    threads: HashMap<u64, Thread>,
    /// Connections whose thread has ended.
    over: Vec<u64>,
    next: u64,
    stopping: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

pub struct Site {
    shared: Arc<Shared>,
    port: u16,
    acceptor: Option<Thread>,
}

impl Site {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let server = Arc::clone(&shared);
        let acceptor = Some(spawn("site", move || accept(&server, &listener, port)).unwrap());
        Self { shared, port, acceptor }
    }

    /// The URL of a path on a host: `a`, `b`, … for `a.localhost`, `1` for `127.0.0.1`, `l` for
    /// `localhost`.
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("{}{path}", origin(host, self.port))
    }

    /// Puts a page at a path. The query of a URL is ignored.
    pub fn page(&self, path: &str, html: &str) {
        self.put(path, Answer::html(html));
    }

    pub fn put(&self, path: &str, answer: Answer) {
        let mut state = self.shared.state.lock();
        state.held.extend(answer.held_by.clone());
        state.held.extend(answer.half_held_by.clone());
        state.answers.insert(path.to_owned(), answer);
    }

    /// The heads of the requests for `a.localhost/path` so far.
    pub fn heads(&self, path: &str) -> Vec<String> {
        let state = self.shared.state.lock();
        state.heads.iter().filter(|(requested, _)| requested == path).map(|(_, head)| head.clone()).collect()
    }

    /// Requires this `name:password` for a path.
    pub fn lock(&self, path: &str, secret: &str) {
        let code = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, secret);
        self.shared.state.lock().locked.insert(path.to_owned(), code);
    }

    /// The requested paths of a host, such as `b.localhost`.
    pub fn requested_from(&self, host: &str) -> Vec<String> {
        let state = self.shared.state.lock();
        state.requested.iter().filter(|requested| requested.split('/').next() == Some(host)).cloned().collect()
    }

    /// Redirects requests for a path to the percent-encoded URL in its query.
    pub fn leads(&self, path: &str) {
        let answer = Answer::html("").status("302 Found").header("Location", "@query");
        self.put(path, answer);
    }

    /// All requests: host and path.
    pub fn requested(&self) -> Vec<String> {
        self.shared.state.lock().requested.clone()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Waits until a path, such as `a.localhost/path`, has been requested `times` times.
    pub fn wait_requested(&self, path: &str, times: usize) {
        let mut state = self.shared.state.lock();
        let deadline = super::soon().instant();
        while state.requested.iter().filter(|requested| *requested == path).count() < times {
            let late = self.shared.changed.wait_until(&mut state, deadline).timed_out();
            assert!(!late, "{path} was not asked for {times} times, but: {:?}", state.requested);
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let held: Vec<Held> = {
            let mut state = self.shared.state.lock();
            state.stopping = true;
            std::mem::take(&mut state.held)
        };
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the acceptor
        drop(self.acceptor.take());
        let (sockets, threads) = {
            let mut state = self.shared.state.lock();
            (std::mem::take(&mut state.sockets), std::mem::take(&mut state.threads))
        };
        held.iter().for_each(Held::release);
        for socket in sockets.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        drop(threads);
    }
}

fn origin(host: &str, port: u16) -> String {
    match host {
        "1" => format!("http://127.0.0.1:{port}"),
        "l" => format!("http://localhost:{port}"),
        name => format!("http://{name}.localhost:{port}"),
    }
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener, port: u16) {
    for socket in listener.incoming() {
        let mut state = shared.state.lock();
        if state.stopping {
            return;
        }
        let over = std::mem::take(&mut state.over);
        let ended: Vec<Thread> = over.iter().filter_map(|number| state.threads.remove(number)).collect();
        let (Ok(socket), number) = (socket, state.next) else { continue };
        let Ok(copy) = socket.try_clone() else { continue };
        state.next += 1;
        state.sockets.insert(number, copy);
        let server = Arc::clone(shared);
        let thread = spawn(format!("site-{number}"), move || {
            let _ = serve(&server, &socket, port);
            let mut state = server.state.lock();
            state.sockets.remove(&number);
            state.over.push(number);
        });
        state.threads.extend(thread.map(|thread| (number, thread)));
        drop(state);
        drop(ended);
    }
}

/// Answers one request and closes the connection.
fn serve(shared: &Shared, mut socket: &TcpStream, port: u16) -> std::io::Result<()> {
    let (mut head, mut chunk) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match socket.read(&mut chunk)? {
            0 => return Ok(()), // opened ahead of time and not used
            n => head.extend_from_slice(&chunk[..n]),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let target = head.split(' ').nth(1).unwrap_or("/");
    let path = target.split('?').next().unwrap_or(target);
    let host = head.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap_or_default();
    let host = host.split(':').next().unwrap_or(host);
    let answer = {
        let mut state = shared.state.lock();
        state.requested.push(format!("{host}{path}"));
        state.heads.push((format!("{host}{path}"), head.to_string()));
        let known = |code: &String| head.lines().any(|line| line.ends_with(&format!("Basic {code}")));
        match state.locked.get(path) {
            Some(code) if !known(code) => {
                let refused = Answer::html("locked").status("401 Unauthorized");
                Some(refused.header("WWW-Authenticate", "Basic realm=\"here\""))
            }
            _ => state.answers.get(path).cloned(),
        }
    };
    shared.changed.notify_all();
    let answer = answer.map(|mut answer| {
        if answer.headers.contains("@query") {
            let query = target.split_once('?').map_or("", |(_, query)| query);
            let query = query.replace("%3A", ":").replace("%2F", "/").replace("%5B", "[").replace("%5D", "]");
            answer.headers = answer.headers.replace("@query", &query);
        }
        answer
    });
    let answer = answer.unwrap_or_else(|| Answer { status: "404 Not Found", ..Answer::html("no such page") });
    if let Some(held) = &answer.held_by {
        held.wait();
    }
    if let Some(bytes) = &answer.bytes {
        let head = head_of(&answer, bytes.len());
        socket.write_all(head.as_bytes())?;
        let (first, second) = bytes.split_at(bytes.len() / 2);
        socket.write_all(first)?;
        if let Some(held) = &answer.half_held_by {
            held.wait();
        }
        return socket.write_all(second);
    }
    let mut body = answer.body.clone();
    for name in ["a", "b", "c", "1", "l"] {
        body = body.replace(&format!("@{name}/"), &format!("{}/", origin(name, port)));
    }
    socket.write_all((head_of(&answer, body.len()) + &body).as_bytes())
}

fn head_of(answer: &Answer, length: usize) -> String {
    let Answer { status, kind, headers, .. } = answer;
    let own = if headers.to_ascii_lowercase().contains("content-length:") {
        String::new()
    } else {
        format!("Content-Length: {length}\r\n")
    };
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{own}{headers}Connection: close\r\n\r\n")
}
