//! A model endpoint for `cdpilot eval`: any number of conversations at a time, each answered by a function.

use std::sync::Arc;

use cdpilot::sync::{Thread, spawn};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tiny_http::{Header, Method, Response, Server};

/// What a model answers.
#[derive(Debug, Clone)]
pub enum Turn {
    /// It calls a tool.
    Call(&'static str, Value),
    /// It is done.
    Say(&'static str),
    /// It does not answer.
    Hang,
    /// The endpoint fails with this status.
    Fail(u16),
}

/// The endpoint. Four threads answer.
pub struct EvalModel {
    server: Arc<Server>,
    threads: Vec<Thread>,
}

impl EvalModel {
    /// `answer`: from the task and the number of answers before to the next one.
    pub fn new(answer: impl Fn(&str, usize) -> Turn + Send + Sync + 'static) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let answer = Arc::new(answer);
        let hanging = Arc::new(Mutex::new(Vec::new()));
        let threads = (0..4).map(|_| {
            let (server, answer) = (Arc::clone(&server), Arc::clone(&answer));
            let hanging = Arc::clone(&hanging);
            spawn("eval-model", move || {
                while let Ok(mut request) = server.recv() {
                    if *request.method() == Method::Get {
                        let _ = request.respond(Response::from_string("{\"data\": []}"));
                        continue;
                    }
                    let mut body = String::new();
                    let _ = request.as_reader().read_to_string(&mut body);
                    let body: Value = serde_json::from_str(&body).unwrap_or_default();
                    let messages = body["messages"].as_array().cloned().unwrap_or_default();
                    let task = messages.iter().find(|message| message["role"] == "user");
                    let task = task.and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned();
                    let answers = messages.iter().filter(|message| message["role"] == "assistant").count();
                    let delta = match answer(&task, answers) {
                        Turn::Say(text) => json!({ "content": text }),
                        Turn::Call(tool, arguments) => {
                            let function = json!({ "name": tool, "arguments": arguments.to_string() });
                            json!({ "tool_calls": [{ "index": 0, "id": format!("c{answers}"), "type": "function", "function": function }] })
                        }
                        Turn::Hang => {
                            hanging.lock().push(request);
                            continue;
                        }
                        Turn::Fail(status) => {
                            let _ = request.respond(Response::from_string("{\"error\": \"no\"}").with_status_code(status));
                            continue;
                        }
                    };
                    let part = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
                    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
                        "usage": { "prompt_tokens": 1000, "completion_tokens": 100 } });
                    let text = format!("data: {part}\n\ndata: {end}\n\ndata: [DONE]\n\n");
                    let kind = Header::from_bytes("Content-Type", "text/event-stream").unwrap();
                    let _ = request.respond(Response::from_string(text).with_header(kind));
                }
            })
            .unwrap()
        });
        let threads = threads.collect();
        Self { server, threads }
    }

    /// Its `base_url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.server.server_addr())
    }
}

impl Drop for EvalModel {
    fn drop(&mut self) {
        for _ in &self.threads {
            self.server.unblock();
        }
        self.threads.clear();
    }
}
