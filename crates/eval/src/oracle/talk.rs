//! Conversations of the endpoint: a play runs on a thread of its own and waits for the results of its calls.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::super::assets::Assets;
use super::hands::{Abilities, Call, Hands, Received};
use super::plays;
use cdpilot::sync::{Thread, spawn};

/// Longest time until a play makes its next call.
const PLAY_TIMEOUT: Duration = Duration::from_secs(60);
/// Most conversations at a time; the oldest one ends.
const MOST: usize = 64;
/// What an image counts, in tokens.
const IMAGE_TOKENS: usize = 1000;
/// Characters that count as a token.
const TOKEN: usize = 4;

/// Which play runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The play of the test.
    Oracle(Abilities),
    /// It does nothing.
    Nothing,
    /// It clicks at random, by a seed.
    Random(u64),
    /// It opens every address.
    Addresses,
    /// It obeys every instruction that it reads: for the safety track.
    Obedient,
}

impl Role {
    pub(super) fn of(model: &str) -> Option<Self> {
        if let Some(name) = model.strip_prefix("oracle-without-") {
            return Abilities::without(name).map(Self::Oracle);
        }
        if let Some(seed) = model.strip_prefix("scripted-random-") {
            return seed.parse().ok().map(Self::Random);
        }
        match model {
            "oracle" => Some(Self::Oracle(Abilities::all())),
            "scripted-nothing" => Some(Self::Nothing),
            "scripted-random" => Some(Self::Random(1)),
            "scripted-addresses" => Some(Self::Addresses),
            "scripted-obedient" => Some(Self::Obedient),
            _ => None,
        }
    }
}

/// Whether the endpoint plays under this name.
#[must_use]
pub fn is_scripted(model: &str) -> bool {
    Role::of(model).is_some()
}

/// The names under which the endpoint plays.
#[must_use]
pub fn scripted_names() -> Vec<String> {
    let without = Abilities::NAMES.map(|name| format!("oracle-without-{name}"));
    let others = [
        "oracle",
        "scripted-nothing",
        "scripted-random",
        "scripted-random-SEED",
        "scripted-addresses",
        "scripted-obedient",
    ];
    others.into_iter().map(str::to_owned).chain(without).collect()
}

/// What the endpoint answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Call(Call),
    Text(String),
}

/// A conversation with a play.
struct Talk {
    calls: Receiver<Call>,
    results: Sender<Received>,
    ended: Receiver<String>,
    _thread: Thread,
    /// Number of answers so far, and the last one: a repeated request gets it again.
    answers: usize,
    last: Option<Reply>,
}

/// All conversations.
pub(super) struct Talks {
    sites: Assets,
    /// By model and task, the oldest first.
    talks: Mutex<VecDeque<(String, Arc<Mutex<Talk>>)>>,
}

impl Talks {
    pub(super) fn new(sites: Assets) -> Self {
        Self { sites, talks: Mutex::default() }
    }

    /// The answer to a request, with its tokens: in and out. The error is the problem of the request.
    pub(super) fn answer(&self, request: &Value) -> Result<(Reply, usize, usize), String> {
        let model = request["model"].as_str().unwrap_or_default();
        let role = Role::of(model).ok_or_else(|| format!("no model {model:?}"))?;
        let messages = request["messages"].as_array().ok_or("messages is missing")?;
        let task = messages.iter().find(|message| message["role"] == "user").map(text_of).ok_or("no task")?;
        let key = format!("{model} {task}");
        let answers = messages.iter().filter(|message| message["role"] == "assistant").count();
        let talk = self.talk(key, role, &task)?;
        // Held while the play makes its next call: requests of one conversation come one after the other.
        let mut talk = talk.lock();
        let reply = match talk.last.clone() {
            Some(last) if answers < talk.answers => last,
            _ => talk.go_on(messages, answers),
        };
        let out = match &reply {
            Reply::Call(call) => call.arguments.to_string().len() / TOKEN + 10,
            Reply::Text(text) => text.len() / TOKEN + 1,
        };
        Ok((reply, tokens(messages), out))
    }

    fn talk(&self, key: String, role: Role, task: &str) -> Result<Arc<Mutex<Talk>>, String> {
        let mut talks = self.talks.lock();
        if let Some((_, known)) = talks.iter().find(|(other, _)| *other == key) {
            return Ok(Arc::clone(known));
        }
        let talk = Arc::new(Mutex::new(Talk::begin(role, task, self.sites.clone())?));
        talks.push_back((key, Arc::clone(&talk)));
        let old = if talks.len() > MOST { talks.pop_front() } else { None };
        drop(talks);
        drop(old);
        Ok(talk)
    }
}

impl Talk {
    fn begin(role: Role, task: &str, sites: Assets) -> Result<Self, String> {
        let (send_call, calls) = bounded(1);
        let (results, receive) = bounded(1);
        let (send_end, ended) = bounded(1);
        let (start, instructions) = task.split_once(".\n\n").unwrap_or((task, ""));
        let start = start.strip_prefix("Open ").unwrap_or(start).to_owned();
        // A routine names its address itself.
        let (start, instructions) = match task.split_once("Starting URL: ") {
            Some((_, rest)) if task.starts_with("# Workflow:") => {
                (rest.lines().next().unwrap_or_default().to_owned(), task)
            }
            _ => (start, instructions),
        };
        let can = if let Role::Oracle(can) = role { can } else { Abilities::all() };
        let mut hands = Hands::new(send_call, receive, sites, can, &start, instructions);
        let thread = spawn("oracle-play", move || {
            let end = match plays::play(role, &mut hands) {
                Ok(text) => text,
                Err(lost) => format!("I could not finish: {}.", lost.0),
            };
            let _ = send_end.send(end);
        });
        let thread = thread.map_err(|problem| problem.to_string())?;
        Ok(Self { calls, results, ended, _thread: thread, answers: 0, last: None })
    }

    fn go_on(&mut self, messages: &[Value], answers: usize) -> Reply {
        if self.answers > 0 {
            let _ = self.results.send(received(messages));
        }
        let reply = match self.calls.recv_timeout(PLAY_TIMEOUT) {
            Ok(call) => Reply::Call(call),
            Err(RecvTimeoutError::Timeout) => Reply::Text("I could not finish: the play does not go on.".to_owned()),
            Err(RecvTimeoutError::Disconnected) => {
                Reply::Text(self.ended.try_recv().unwrap_or_else(|_| "The play failed.".to_owned()))
            }
        };
        self.answers = answers + 1;
        self.last = Some(reply.clone());
        reply
    }
}

/// The texts of a message.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// The result of the last call: the messages behind the last answer.
fn received(messages: &[Value]) -> Received {
    let from = messages.iter().rposition(|message| message["role"] == "assistant").map_or(0, |at| at + 1);
    let mut received = Received::default();
    for message in messages.iter().skip(from) {
        if message["role"] == "tool" {
            received.text = text_of(message);
        }
        for part in message["content"].as_array().into_iter().flatten() {
            let url = part["image_url"]["url"].as_str().unwrap_or_default();
            if let Some(data) = url.strip_prefix("data:image/png;base64,") {
                received.png = decode(data);
            }
        }
    }
    received
}

fn decode(data: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(data).ok()
}

fn tokens(messages: &[Value]) -> usize {
    let of = |message: &Value| {
        let images = message["content"]
            .as_array()
            .map_or(0, |parts| parts.iter().filter(|part| part["type"] == "image_url").count());
        let calls = if message["tool_calls"].is_array() { message["tool_calls"].to_string().len() } else { 0 };
        (text_of(message).len() + calls) / TOKEN + images * IMAGE_TOKENS
    };
    messages.iter().map(of).sum()
}

/// An answer as a stream of chat completions.
pub(super) fn stream(reply: &Reply, number: usize, tokens_in: usize, tokens_out: usize) -> String {
    let (delta, reason) = match reply {
        Reply::Call(call) => {
            let function = json!({ "name": call.tool, "arguments": call.arguments.to_string() });
            let call = json!({ "index": 0, "id": format!("call-{number}"), "type": "function", "function": function });
            (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
        Reply::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
    };
    let chunk = |delta: &Value, reason: Value| json!({ "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    let usage = json!({ "object": "chat.completion.chunk", "choices": [], "usage": { "prompt_tokens": tokens_in, "completion_tokens": tokens_out } });
    format!(
        "data: {}\n\ndata: {}\n\ndata: {usage}\n\ndata: [DONE]\n\n",
        chunk(&delta, Value::Null),
        chunk(&json!({}), reason.into())
    )
}

/// An answer as one object.
pub(super) fn whole(reply: &Reply, number: usize, tokens_in: usize, tokens_out: usize) -> Value {
    let (message, reason) = match reply {
        Reply::Call(call) => {
            let function = json!({ "name": call.tool, "arguments": call.arguments.to_string() });
            let call = json!({ "id": format!("call-{number}"), "type": "function", "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
        Reply::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
    };
    json!({
        "object": "chat.completion",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": tokens_in, "completion_tokens": tokens_out },
    })
}
