//! A model endpoint that streams prepared answers over plain sockets, so that it can also be slow, cut off and wrong.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

use cdpilot::sync::{Thread, spawn};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// A part of what the endpoint does with a request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends these bytes.
    Send(String),
    /// Waits until the client hangs up.
    Hang,
}

/// What the endpoint does with one request; it closes the connection afterwards.
#[derive(Debug, Clone, Default)]
pub struct Script(Vec<Step>);

impl Script {
    /// The head of a stream.
    pub fn stream() -> Self {
        Self::default().send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    }

    /// A whole answer that is no stream.
    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::default().send(&format!(
            "HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        ))
    }

    pub fn send(mut self, text: &str) -> Self {
        self.0.push(Step::Send(text.to_owned()));
        self
    }

    /// An event of the stream. Fields that every chunk has are added.
    pub fn chunk(self, chunk: &Value) -> Self {
        let mut chunk = chunk.clone();
        for (name, value) in [
            ("id", json!("chatcmpl-1")),
            ("object", json!("chat.completion.chunk")),
            ("created", json!(1_700_000_000)),
            ("model", json!("m")),
        ] {
            chunk.as_object_mut().unwrap().entry(name).or_insert(value);
        }
        for choice in chunk["choices"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            choice.entry("index").or_insert(json!(0));
            choice.entry("finish_reason").or_insert(Value::Null);
        }
        self.send(&format!("data: {chunk}\n\n"))
    }

    /// The chunks of the stream.
    pub fn chunks(&self) -> Vec<Value> {
        let texts = self.0.iter().filter_map(|step| match step {
            Step::Send(text) => text.strip_prefix("data: "),
            _ => None,
        });
        texts.filter_map(|text| serde_json::from_str(text.trim()).ok()).collect()
    }

    /// A part of the text.
    pub fn text(self, text: &str) -> Self {
        self.chunk(&json!({ "choices": [{ "delta": { "content": text } }] }))
    }

    /// A tool call.
    pub fn call(self, id: &str, name: &str, arguments: &Value) -> Self {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let calls = json!([{ "index": 0, "id": id, "type": "function", "function": function }]);
        self.chunk(&json!({ "choices": [{ "delta": { "tool_calls": calls } }] }))
    }

    pub fn hang(mut self) -> Self {
        self.0.push(Step::Hang);
        self
    }

    /// The end of an answer, with its token counts.
    pub fn done(self) -> Self {
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": { "cached_tokens": 4 } });
        self.chunk(&json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }))
            .chunk(&json!({ "choices": [], "usage": usage }))
            .send("data: [DONE]\n\n")
    }
}

/// The endpoint. Without a prepared answer it closes the connection.
pub struct StreamingModel {
    address: std::net::SocketAddr,
    requests: Arc<Mutex<Vec<Value>>>,
    open: Arc<Mutex<Option<TcpStream>>>,
    ended: Arc<std::sync::atomic::AtomicBool>,
    thread: Option<Thread>,
}

impl StreamingModel {
    pub fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        let mut scripts: VecDeque<Script> = scripts.into_iter().collect();
        Self::answering(move |_| scripts.pop_front().unwrap_or_default())
    }

    /// Answers each request by a function.
    pub fn answering(mut answer: impl FnMut(&Value) -> Script + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, open) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
        let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (seen, current, end) = (Arc::clone(&requests), Arc::clone(&open), Arc::clone(&ended));
        let thread = spawn("streaming-model", move || {
            while let Ok((socket, _)) = listener.accept() {
                if end.load(std::sync::atomic::Ordering::Acquire) {
                    return;
                }
                *current.lock() = socket.try_clone().ok();
                if let Some(request) = read(&socket) {
                    let script = answer(&request);
                    seen.lock().push(request);
                    play(socket, script);
                }
                *current.lock() = None;
            }
        });
        Self { address, requests, open, ended, thread: Some(thread.unwrap()) }
    }

    /// Its `base_url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().clone()
    }
}

impl Drop for StreamingModel {
    fn drop(&mut self) {
        self.ended.store(true, std::sync::atomic::Ordering::Release);
        if let Some(socket) = self.open.lock().take() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        let _ = TcpStream::connect(self.address); // it accepts once more, and sees the end
        drop(self.thread.take());
    }
}

fn read(socket: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(socket);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn play(mut socket: TcpStream, script: Script) {
    for step in script.0 {
        match step {
            Step::Send(text) => {
                if socket.write_all(text.as_bytes()).is_err() {
                    return;
                }
            }
            Step::Hang => {
                let _ = socket.read(&mut [0]);
            }
        }
    }
}
