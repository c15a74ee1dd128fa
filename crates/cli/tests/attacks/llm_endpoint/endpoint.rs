//! An HTTP endpoint that sends exactly the bytes of an attack.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cdpilot::sync::{Thread, pause, spawn};
use parking_lot::Mutex;

/// What should take a moment, on a busy machine too.
use crate::support::LIMIT as PATIENCE;

/// Does something that an attack tries to hold up.
pub(in super::super) fn in_time<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let (send, done) = crossbeam_channel::bounded(1);
    let thread = spawn("attacked", move || drop(send.send(work()))).unwrap();
    match done.recv_timeout(PATIENCE) {
        Ok(done) => {
            thread.join();
            Ok(done)
        }
        Err(_) => {
            std::mem::forget(thread); // it hangs
            Err(format!("{what} does not return"))
        }
    }
}

/// A whole answer.
pub(in super::super) fn http(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[derive(Clone)]
enum Script {
    Answer(Arc<dyn Fn() -> Vec<u8> + Send + Sync>),
    /// The first bytes, and then the others again and again; nothing more when there are none.
    Flood(Vec<u8>, Vec<u8>),
    /// The first bytes, and then one after another.
    Drip(Vec<u8>),
}

#[derive(Default)]
struct Shared {
    script: Mutex<Option<Script>>,
    heads: Mutex<Vec<String>>,
    sockets: Mutex<Vec<TcpStream>>,
    threads: Mutex<Vec<Thread>>,
    flooded: AtomicUsize,
    over: AtomicBool,
}

/// The endpoint.
pub(in super::super) struct Endpoint {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Option<Thread>,
}

impl Endpoint {
    pub(in super::super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let server = Arc::clone(&shared);
        let accept = move || {
            for socket in listener.incoming() {
                let Ok(socket) = socket else { return };
                if server.over.load(Ordering::Acquire) {
                    return;
                }
                server.sockets.lock().push(socket.try_clone().unwrap());
                let serving = Arc::clone(&server);
                let thread = spawn("hostile-endpoint", move || serving.serve(socket)).unwrap();
                server.threads.lock().push(thread);
            }
        };
        Self { port, shared, acceptor: Some(spawn("hostile-accept", accept).unwrap()) }
    }

    pub(in super::super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Answers every request so from now on.
    pub(in super::super) fn answers(&self, answer: impl Fn() -> Vec<u8> + Send + Sync + 'static) {
        self.set(Script::Answer(Arc::new(answer)));
    }

    /// Answers without an end.
    pub(in super::super) fn floods(&self, head: Vec<u8>, piece: Vec<u8>) {
        self.set(Script::Flood(head, piece));
    }

    /// Answers a byte at a time, without an end.
    pub(in super::super) fn drips(&self, head: &[u8]) {
        self.set(Script::Drip(head.to_vec()));
    }

    fn set(&self, script: Script) {
        self.shared.flooded.store(0, Ordering::Release);
        *self.shared.script.lock() = Some(script);
    }

    /// Bytes of the flood that were taken so far.
    pub(in super::super) fn flooded(&self) -> usize {
        self.shared.flooded.load(Ordering::Acquire)
    }

    /// The heads of the requests that came.
    pub(in super::super) fn heads(&self) -> Vec<String> {
        self.shared.heads.lock().clone()
    }
}

impl Shared {
    fn serve(&self, mut socket: TcpStream) {
        let Some(head) = request(&mut socket) else { return };
        self.heads.lock().push(head);
        let Some(script) = self.script.lock().clone() else { return };
        match script {
            Script::Answer(answer) => drop(socket.write_all(&answer())),
            Script::Flood(head, piece) => {
                let mut ok = socket.write_all(&head).is_ok();
                while ok && !piece.is_empty() && !self.over.load(Ordering::Acquire) {
                    ok = socket.write_all(&piece).is_ok();
                    self.flooded.fetch_add(if ok { piece.len() } else { 0 }, Ordering::AcqRel);
                }
                // Until the client or the test ends it.
                let _ = socket.read(&mut [0]);
            }
            Script::Drip(head) => {
                let mut ok = socket.write_all(&head).is_ok();
                while ok && !self.over.load(Ordering::Acquire) {
                    pause(Duration::from_millis(5)); // the attack: slow on purpose
                    ok = socket.write_all(b" ").is_ok();
                }
            }
        }
        let _ = socket.shutdown(Shutdown::Write);
        // Remaining data of the client is read, so that it reads the response.
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    }
}

/// Reads a request: its head.
fn request(socket: &mut TcpStream) -> Option<String> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let count = socket.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = memchr::memmem::find(&bytes, b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let mut left = length.unwrap_or(0).saturating_sub(bytes.len() - end - 4);
        while left > 0 {
            let count = socket.read(&mut piece).ok().filter(|count| *count > 0)?;
            left = left.saturating_sub(count);
        }
        return Some(head);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the acceptor
        drop(self.acceptor.take());
        for socket in self.shared.sockets.lock().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        let threads = std::mem::take(&mut *self.shared.threads.lock());
        drop(threads);
    }
}
