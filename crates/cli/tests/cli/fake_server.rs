//! A server that records its requests and sends prepared answers.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use cdpilot::sync::{Thread, spawn};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tiny_http::{Header, Response, Server};

use crate::cli_run::Program;

pub(crate) const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// What was asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) url: String,
    pub(crate) body: Value,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

type Answers = Box<dyn Fn(&ReceivedRequest) -> (u16, String) + Send>;

pub(crate) struct FakeServer {
    port: u16,
    server: Arc<Server>,
    requested: Arc<Mutex<Vec<ReceivedRequest>>>,
    _thread: Thread,
}

impl FakeServer {
    pub(crate) fn new(answers: impl Fn(&ReceivedRequest) -> (u16, String) + Send + 'static) -> Self {
        Self::boxed(Box::new(answers))
    }

    /// The same answer to everything.
    pub(crate) fn always(status: u16, answer: Value) -> Self {
        Self::new(move |_| (status, answer.to_string()))
    }

    fn boxed(answers: Answers) -> Self {
        let server = Arc::new(Server::http(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap());
        let port = server.server_addr().to_ip().unwrap().port();
        let requested = Arc::new(Mutex::new(Vec::new()));
        let (serving, writing) = (Arc::clone(&server), Arc::clone(&requested));
        let thread = spawn("fake-server", move || {
            for mut request in serving.incoming_requests() {
                let mut text = String::new();
                let _ = request.as_reader().read_to_string(&mut text);
                let header =
                    |header: &Header| (header.field.as_str().as_str().to_lowercase(), header.value.to_string());
                let one = ReceivedRequest {
                    method: request.method().to_string(),
                    url: request.url().to_owned(),
                    body: serde_json::from_str(&text).unwrap_or_default(),
                    headers: request.headers().iter().map(header).collect(),
                };
                let (status, answer) = answers(&one);
                writing.lock().push(one);
                let kind = if answer.starts_with('{') { "application/json" } else { "text/event-stream" };
                let kind = Header::from_bytes("content-type", kind).unwrap();
                let _ = request.respond(Response::from_string(answer).with_status_code(status).with_header(kind));
            }
        });
        Self { port, server, requested, _thread: thread.unwrap() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What was asked since the last time.
    pub(crate) fn requested(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut *self.requested.lock())
    }

    /// The program with a home of its own and this server.
    pub(crate) fn program(&self) -> Program {
        let program = program();
        program.env("CDPILOT_URL", &self.url())
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

/// The program with a home of its own, with a token in it.
pub(crate) fn program() -> Program {
    let program = Program::new();
    let home = program.temp.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("token"), TOKEN).unwrap();
    let home = home.to_str().unwrap().to_owned();
    program.env("CDPILOT_HOME", &home)
}

/// What a server says when all went well.
pub(crate) fn ok() -> Value {
    json!({ "ok": true })
}
