//! A proxy in front of a real browser, for what endpoints far away do: it cuts connections, goes
//! silent, refuses new ones, and closes native dialogs by itself.
//!
//! It hands WebSocket frames on whole, so that a command of its own fits in between.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use cdpilot::sync::{Thread, pause, spawn};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Ids of the proxy's own commands begin here.
const OWN: u64 = 2_000_000_000;

#[derive(Default)]
struct Shared {
    sockets: Mutex<Vec<TcpStream>>,
    refuses: AtomicBool,
    silent: AtomicBool,
    /// Milliseconds after which native dialogs are dismissed, 0: never.
    dismisses: AtomicU64,
    dismissed: AtomicU64,
    /// What becomes of screenshots that are higher than so many pixels.
    captures: Mutex<Option<(f64, Capture)>>,
    /// A method that is refused, as by endpoints that do not allow it.
    refused: Mutex<Option<&'static str>>,
    /// Heights of the screenshots that were requested.
    heights: Mutex<Vec<f64>>,
    over: AtomicBool,
    /// Number of open connections of clients.
    open: AtomicUsize,
}

/// What the proxy does to a screenshot that is too high.
#[derive(Debug, Clone, Copy)]
pub enum Capture {
    Refused,
    NeverAnswered,
}

/// The proxy. Dropping it ends it and its connections.
pub struct Proxy {
    address: SocketAddr,
    path: String,
    shared: Arc<Shared>,
    thread: Option<Thread>,
}

impl Proxy {
    /// In front of the browser at this WebSocket address.
    pub fn of(url: &str) -> Self {
        let place = url.strip_prefix("ws://").expect("a ws:// address");
        let (host, path) = place.split_once('/').unwrap();
        let browser: SocketAddr = host.parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::<Shared>::default();
        let inner = Arc::clone(&shared);
        let thread = spawn("site-proxy", move || {
            let mut pairs = Vec::new();
            for client in listener.incoming().flatten() {
                if inner.over.load(Ordering::SeqCst) {
                    break;
                }
                if inner.refuses.load(Ordering::SeqCst) {
                    continue; // closed at once
                }
                pairs.extend(connect(client, browser, &inner));
                pairs.retain(|thread: &Thread| !thread.is_finished());
            }
            inner.cut();
        })
        .unwrap();
        Self { address, path: path.to_owned(), shared, thread: Some(thread) }
    }

    /// The address of the browser, through the proxy.
    pub fn url(&self) -> String {
        format!("ws://{}/{}", self.address, self.path)
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// New connections are closed at once, or not any more.
    pub fn refuse(&self, refuse: bool) {
        self.shared.refuses.store(refuse, Ordering::SeqCst);
    }

    /// Nothing is handed on any more, though connections stay open: a half-open socket.
    pub fn silence(&self, silent: bool) {
        self.shared.silent.store(silent, Ordering::SeqCst);
    }

    /// Screenshots higher than so many pixels fail, as where the graphics processor does not draw more at once.
    pub fn limit_captures(&self, pixels: f64, how: Capture) {
        *self.shared.captures.lock() = Some((pixels, how));
    }

    /// Commands of a method are refused, as by endpoints that do not allow it.
    pub fn refuse_method(&self, method: &'static str) {
        *self.shared.refused.lock() = Some(method);
    }

    /// Heights of the screenshots that were requested, in CSS pixels; those of the viewport are not counted.
    pub fn capture_heights(&self) -> Vec<f64> {
        std::mem::take(&mut *self.shared.heights.lock())
    }

    /// Number of open connections of clients.
    pub fn connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Native dialogs are dismissed after so long.
    pub fn dismiss_dialogs(&self, after: Duration) {
        self.shared.dismisses.store(u64::try_from(after.as_millis()).unwrap(), Ordering::SeqCst);
    }

    /// How many it dismissed.
    pub fn dismissed(&self) -> u64 {
        self.shared.dismissed.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        drop(self.thread.take());
    }
}

impl Shared {
    fn cut(&self) {
        for socket in self.sockets.lock().drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

/// Connects a client with the browser: a thread for each direction.
fn connect(client: TcpStream, browser: SocketAddr, shared: &Arc<Shared>) -> Vec<Thread> {
    let Ok(server) = TcpStream::connect(browser) else { return Vec::new() };
    for socket in [&client, &server] {
        let _ = socket.set_nodelay(true);
        shared.sockets.lock().push(socket.try_clone().unwrap());
    }
    let to_server = Arc::new(Mutex::new(server.try_clone().unwrap()));
    let (up, down) = (Arc::clone(shared), Arc::clone(shared));
    let (client_in, server_out) = (client.try_clone().unwrap(), Arc::clone(&to_server));
    let to_client = Arc::new(Mutex::new(client.try_clone().unwrap()));
    let client_out = Arc::clone(&to_client);
    shared.open.fetch_add(1, Ordering::SeqCst);
    let upwards = move || {
        let ended = carry(&client_in, true, &up, |frame, text| match up.answered(text) {
            None => server_out.lock().write_all(frame),
            Some(answer) if answer.is_null() => Ok(()),
            Some(answer) => client_out.lock().write_all(&text_frame(&answer.to_string(), false)),
        });
        drop(ended);
        let _ = client_in.shutdown(Shutdown::Both);
        let _ = server_out.lock().shutdown(Shutdown::Both);
        up.open.fetch_sub(1, Ordering::SeqCst);
    };
    let downwards = move || {
        let ended = carry(&server, false, &down, |frame, text| {
            if text.contains(&format!(r#"{{"id":{OWN}"#)) {
                return Ok(()); // the answer to a command of our own
            }
            to_client.lock().write_all(frame)?;
            if text.starts_with(r#"{"method":"Page.javascriptDialogOpening""#) {
                down.dismiss(text, &to_server)?;
            }
            Ok(())
        });
        drop(ended);
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    };
    vec![spawn("site-proxy-up", upwards).unwrap(), spawn("site-proxy-down", downwards).unwrap()]
}

/// A short text frame; from a client masked, with zeros.
fn text_frame(text: &str, masked: bool) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_be_bytes();
    let mut frame = vec![0x81, if masked { 0x80 | 126 } else { 126 }, length[0], length[1]];
    if masked {
        frame.extend([0; 4]);
    }
    frame.extend(text.as_bytes());
    frame
}

impl Shared {
    /// What a command is answered with here. Null: nothing, ever.
    fn answered(&self, text: &str) -> Option<Value> {
        let refused = self.refused.lock().filter(|method| text.contains(&format!("\"{method}\"")));
        match refused {
            Some(_) => {
                let command: Value = serde_json::from_str(text).unwrap();
                Some(json!({ "id": command["id"], "error": { "code": -32000, "message": "Not supported" } }))
            }
            None => self.captured(text),
        }
    }

    /// The answer to a screenshot that is too high.
    fn captured(&self, text: &str) -> Option<Value> {
        if !text.contains("Page.captureScreenshot") {
            return None;
        }
        let command: Value = serde_json::from_str(text).unwrap();
        let height = command["params"]["clip"]["height"].as_f64()?;
        self.heights.lock().push(height);
        let (_, how) = self.captures.lock().filter(|(limit, _)| height > *limit)?;
        Some(match how {
            Capture::NeverAnswered => Value::Null,
            Capture::Refused => json!({
                "id": command["id"],
                "error": { "code": -32000, "message": "Unable to capture screenshot" },
                "sessionId": command["sessionId"],
            }),
        })
    }

    fn dismiss(&self, event: &str, to_server: &Mutex<TcpStream>) -> io::Result<()> {
        let after = self.dismisses.load(Ordering::SeqCst);
        let Some(session) = event.rsplit_once(r#""sessionId":""#).map(|(_, rest)| rest.trim_end_matches(['"', '}']))
        else {
            return Ok(());
        };
        if after == 0 {
            return Ok(());
        }
        pause(Duration::from_millis(after)); // that is what this proxy does
        self.dismissed.fetch_add(1, Ordering::SeqCst);
        let command = format!(
            r#"{{"id":{OWN},"method":"Page.handleJavaScriptDialog","params":{{"accept":false}},"sessionId":"{session}"}}"#
        );
        to_server.lock().write_all(&text_frame(&command, true))
    }
}

/// Hands on a head of HTTP, then frame after frame with its text when it is the browser's.
fn carry(
    mut from: &TcpStream,
    masked: bool,
    shared: &Shared,
    mut to: impl FnMut(&[u8], &str) -> io::Result<()>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        from.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    to(&head, "")?;
    loop {
        let mut frame = vec![0; 2];
        from.read_exact(&mut frame)?;
        let more = match frame[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        read_more(from, &mut frame, more)?;
        let length = match more {
            0 => usize::from(frame[1] & 0x7f),
            _ => frame[2..].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)),
        };
        if masked {
            read_more(from, &mut frame, 4)?;
        }
        let body = frame.len();
        read_more(from, &mut frame, length)?;
        while shared.silent.load(Ordering::SeqCst) {
            if shared.sockets.lock().is_empty() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            pause(Duration::from_millis(5)); // holds everything back, as a dead link does
        }
        let unmasked: Vec<u8>;
        let payload = if masked {
            let key = &frame[body - 4..body];
            unmasked = frame[body..].iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
            &unmasked
        } else {
            &frame[body..]
        };
        to(&frame, std::str::from_utf8(payload).unwrap_or_default())?;
    }
}

fn read_more(mut from: &TcpStream, frame: &mut Vec<u8>, more: usize) -> io::Result<()> {
    let start = frame.len();
    frame.resize(start + more, 0);
    from.read_exact(&mut frame[start..])
}
