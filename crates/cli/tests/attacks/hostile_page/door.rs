//! A port that records every connection and answers HTTP requests so that every site may read the response.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cdpilot::sync::{Thread, spawn};
use parking_lot::{Condvar, Mutex};

/// How long a connection may stay silent.
const SILENT: Duration = Duration::from_millis(300);
const ANSWER: &str = "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n\
                      Content-Length: 3\r\nConnection: close\r\n\r\n<p>";

#[derive(Default)]
struct Shared {
    seen: Mutex<Vec<String>>,
    changed: Condvar,
    stops: AtomicBool,
}

pub(super) struct Door {
    pub(super) port: u16,
    shared: Arc<Shared>,
    acceptor: Option<Thread>,
}

impl Door {
    pub(super) fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        let server = Arc::clone(&shared);
        let acceptor = spawn("door", move || {
            for socket in listener.incoming() {
                if server.stops.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(socket) = socket {
                    serve(&server, socket);
                }
            }
        });
        Self { port, shared, acceptor: Some(acceptor.unwrap()) }
    }

    /// The first line received over each connection so far.
    pub(super) fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().clone()
    }

    /// Waits until there have been more than so many connections.
    pub(super) fn wait_beyond(&self, count: usize) -> bool {
        let deadline = crate::support::soon().instant();
        let mut seen = self.shared.seen.lock();
        while seen.len() <= count {
            if self.shared.changed.wait_until(&mut seen, deadline).timed_out() {
                return false;
            }
        }
        true
    }
}

fn serve(shared: &Shared, mut socket: TcpStream) {
    let mut bytes = [0; 4096];
    let _ = socket.set_read_timeout(Some(SILENT));
    let read = socket.read(&mut bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..read]);
    let line = text.lines().next().unwrap_or_default();
    shared.seen.lock().push(if line.is_empty() { "a connection".to_owned() } else { line.to_owned() });
    shared.changed.notify_all();
    let _ = socket.write_all(ANSWER.as_bytes());
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::Release);
        let _ = TcpStream::connect(("127.0.0.1", self.port)); // wakes the acceptor
        drop(self.acceptor.take());
    }
}
