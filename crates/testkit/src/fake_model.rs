//! A model endpoint that sends prepared answers and records its requests.

use std::collections::VecDeque;
use std::sync::Arc;

use cdpilot::sync::{Thread, spawn};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tiny_http::{Header, Response, Server};

/// One answer.
#[derive(Debug, Clone)]
pub struct ModelAnswer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl ModelAnswer {
    /// A message of the model.
    pub fn message(message: Value) -> Self {
        let usage =
            json!({ "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": { "cached_tokens": 4 } });
        let body = json!({ "choices": [{ "message": message, "finish_reason": "stop" }], "usage": usage });
        Self { status: 200, headers: Vec::new(), body: body.to_string() }
    }

    pub fn text(text: &str) -> Self {
        Self::message(json!({ "role": "assistant", "content": text }))
    }

    /// The model calls a tool.
    pub fn call(id: &str, name: &str, arguments: &Value) -> Self {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        let calls = json!([{ "id": id, "type": "function", "function": function }]);
        Self::message(json!({ "role": "assistant", "content": null, "tool_calls": calls }))
    }

    pub fn failing(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), body: body.to_owned() }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A request that was received.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub path: String,
    pub authorization: Option<String>,
    pub body: Value,
}

/// The endpoint. Requests beyond the prepared answers hang until the end.
pub struct FakeModel {
    server: Arc<Server>,
    requested: Arc<Mutex<Vec<ModelRequest>>>,
    thread: Option<Thread>,
}

impl FakeModel {
    pub fn saying(answers: impl IntoIterator<Item = ModelAnswer>) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let requested = Arc::new(Mutex::new(Vec::new()));
        let (at, seen) = (Arc::clone(&server), Arc::clone(&requested));
        let mut answers: VecDeque<ModelAnswer> = answers.into_iter().collect();
        let thread = spawn("fake-model", move || {
            let mut hanging = Vec::new();
            while let Ok(mut request) = at.recv() {
                let mut body = String::new();
                let _ = request.as_reader().read_to_string(&mut body);
                let header = |name: &'static str| {
                    let found = request.headers().iter().find(|header| header.field.equiv(name));
                    found.map(|header| header.value.to_string())
                };
                seen.lock().push(ModelRequest {
                    path: request.url().to_owned(),
                    authorization: header("Authorization"),
                    body: serde_json::from_str(&body).unwrap_or_default(),
                });
                let Some(say) = answers.pop_front() else {
                    hanging.push(request);
                    continue;
                };
                let mut response = Response::from_string(say.body).with_status_code(say.status);
                for (name, value) in say.headers {
                    response.add_header(Header::from_bytes(name, value).unwrap());
                }
                let _ = request.respond(response);
            }
        });
        Self { server, requested, thread: Some(thread.unwrap()) }
    }

    /// Its `base_url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.server.server_addr())
    }

    pub fn requested(&self) -> Vec<ModelRequest> {
        self.requested.lock().clone()
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.server.unblock();
        drop(self.thread.take());
    }
}
