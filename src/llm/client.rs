//! Requests to a model, with deadline and retries.

use std::time::{Duration, Instant};

use crossbeam_channel::RecvTimeoutError;
use ureq::http::{HeaderName, HeaderValue};
use ureq::{Agent, Body, Timeout};

use super::{Answer, ChatRequest, Error, Model};
use crate::sync::{Deadline, spawn};

/// Maximum number of attempts.
const MAX_TRIES: u32 = 4;
/// Pause before the second attempt; doubled each time.
const PAUSE: Duration = Duration::from_millis(500);
/// Longest pause that an endpoint may request.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Maximum size of an answer, in bytes.
const MAX_ANSWER: u64 = 16 << 20;
/// How often cancellation is checked.
const CANCEL_CHECK: Duration = Duration::from_millis(100);
/// Maximum length of an endpoint's message that is passed on, in characters.
const MAX_MESSAGE: usize = 300;

/// How much of an invalid answer is quoted, in characters.
const MAX_EXCERPT: usize = 60;

/// A client of one model. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    url: String,
    host: String,
    model: String,
    key: Option<Key>,
    headers: Vec<(String, Key)>,
    /// Maximum number of output tokens.
    most: Option<u32>,
}

/// A key or header value; never printed.
#[derive(Clone)]
struct Key(String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(key)")
    }
}

/// The result of one attempt.
enum Attempt {
    Answered(Answer),
    /// Another attempt may succeed, after the pause that the endpoint requested, if any.
    Again(Error, Option<Duration>),
    Failed(Error),
}

impl Client {
    /// A client for the model of an alias. Sends nothing yet.
    ///
    /// # Errors
    /// [`Error::NoKey`]; [`Error::Unreachable`] for an invalid URL.
    pub fn new(alias: &str, model: &Model) -> Result<Self, Error> {
        let bad =
            |problem: &str| Error::Unreachable { host: format!("the model {alias:?}"), problem: problem.to_owned() };
        let url = url::Url::parse(&model.base_url).map_err(|_| bad("its base_url is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("its base_url is not an http or https URL"));
        }
        let host = url.host_str().ok_or_else(|| bad("its base_url has no host"))?.to_owned();
        let key = match (&model.api_key, &model.api_key_env) {
            (Some(key), _) => Some(key.trim().to_owned()),
            (None, Some(variable)) => match std::env::var(variable) {
                Ok(key) if !key.trim().is_empty() => Some(key.trim().to_owned()),
                _ => return Err(Error::NoKey { variable: variable.clone(), model: alias.to_owned() }),
            },
            (None, None) => None,
        };
        for (name, value) in &model.headers {
            if HeaderName::from_bytes(name.as_bytes()).is_err() || HeaderValue::from_str(value).is_err() {
                return Err(bad(&format!("its header {name:?} is not valid")));
            }
        }
        let headers = model.headers.iter().map(|(name, value)| (name.clone(), Key(value.clone()))).collect();
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let config = config.user_agent(concat!("cdpilot/", env!("CARGO_PKG_VERSION")));
        let local = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        // A proxy is only for other machines.
        let config = if local { config.proxy(None) } else { config };
        Ok(Self {
            agent: config.build().new_agent(),
            url: format!("{}/chat/completions", model.base_url.trim_end_matches('/')),
            host,
            model: model.model.clone(),
            key: key.map(Key),
            headers,
            most: model.max_output_tokens,
        })
    }

    /// Sends a request, with retries where these may help.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::Refused`], [`Error::Malformed`], [`Error::Timeout`], [`Error::Cancelled`].
    pub fn ask(&self, ask: &ChatRequest, deadline: Deadline<'_>) -> Result<Answer, Error> {
        let began = Instant::now();
        let body = ask.to_value(&self.model, self.most).to_string();
        let mut tries = 0;
        loop {
            tries += 1;
            let (error, pause) = match self.try_once(body.clone(), began, deadline) {
                Attempt::Answered(answer) => return Ok(answer),
                Attempt::Failed(error) => return Err(error),
                Attempt::Again(error, pause) => (error, pause),
            };
            let pause = pause.unwrap_or(PAUSE * 2_u32.pow(tries - 1));
            // An earlier attempt would fail, and a later one is up to the caller.
            if tries >= MAX_TRIES || pause > MAX_PAUSE || deadline.left() <= pause {
                return Err(error);
            }
            tracing::debug!(host = %self.host, tries, ?pause, %error, "asking the model again");
            let until = deadline.within(pause);
            while !until.passed() {
                crate::sync::pause(until.left().min(CANCEL_CHECK));
            }
            if deadline.is_cancelled() {
                return Err(Error::Cancelled);
            }
        }
    }

    /// Runs on its own thread, since nothing else can end a request on cancellation.
    fn try_once(&self, body: String, began: Instant, deadline: Deadline<'_>) -> Attempt {
        let late = || Error::Timeout { host: self.host.clone(), after: began.elapsed() };
        let left = deadline.left();
        if left.is_zero() {
            return Attempt::Failed(late());
        }
        let (sender, answer) = crossbeam_channel::bounded(1);
        let client = self.clone();
        let thread = spawn("llm-ask", move || {
            let _ = sender.try_send(client.send(body, left));
        });
        let thread = match thread {
            Ok(thread) => thread,
            Err(problem) => {
                return Attempt::Failed(Error::Unreachable { host: self.host.clone(), problem: problem.to_string() });
            }
        };
        let tried = loop {
            match answer.recv_deadline(deadline.next_check()) {
                Ok(tried) => break tried,
                Err(RecvTimeoutError::Timeout) if deadline.is_cancelled() => break Attempt::Failed(Error::Cancelled),
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Err(_) => break Attempt::Failed(late()),
            }
        };
        if !thread.is_finished() && matches!(tried, Attempt::Failed(_)) {
            // The thread ends by its deadline; its result is ignored.
            std::mem::forget(thread);
        }
        match tried {
            Attempt::Failed(Error::Timeout { host, .. }) => {
                Attempt::Failed(Error::Timeout { host, after: began.elapsed() })
            }
            tried => tried,
        }
    }

    fn send(&self, body: String, left: Duration) -> Attempt {
        let mut request = self.agent.post(&self.url).header("Content-Type", "application/json");
        let has_own = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        for (name, Key(value)) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(Key(key)) = self.key.as_ref().filter(|_| !has_own) {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let sent = request.config().timeout_global(Some(left)).build().send(body);
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return self.failed(error),
        };
        let status = response.status().as_u16();
        let pause = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let text = match read(response.body_mut()) {
            Ok(text) => text,
            Err(error) => return self.failed(error),
        };
        let refused = |problem| Error::Refused { host: self.host.clone(), status, problem };
        match (status, pause) {
            (200, _) => match (Answer::read(&text), said(&text)) {
                (Ok(answer), _) => Attempt::Answered(answer),
                // Some gateways answer so when the model behind them refuses.
                (Err(_), Some(reason)) => Attempt::Failed(refused(self.shortened(&reason))),
                (Err(problem), None) => {
                    let begin: String = self.covered(text.trim()).chars().take(MAX_EXCERPT).collect();
                    // The message may quote a value of the answer.
                    let problem = self.shortened(&problem);
                    let problem = format!("{problem}; it starts with {begin:?}; check base_url in llm.json");
                    Attempt::Failed(Error::Malformed { host: self.host.clone(), problem })
                }
            },
            (300..=399, _) => Attempt::Failed(refused(
                "it redirects to another address, and the key is not sent there; set base_url in llm.json to the final address"
                    .to_owned(),
            )),
            (408 | 409 | 425 | 429 | 500..=599, Some(seconds)) => {
                let problem = format!("{} (retry after {seconds} s)", self.reason(&text));
                Attempt::Again(refused(problem), Some(Duration::from_secs(seconds)))
            }
            (408 | 409 | 425 | 429 | 500..=599, None) => Attempt::Again(refused(self.reason(&text)), None),
            _ => Attempt::Failed(refused(self.reason(&text))),
        }
    }

    fn failed(&self, error: ureq::Error) -> Attempt {
        let host = self.host.clone();
        match error {
            ureq::Error::Timeout(Timeout::Global) => Attempt::Failed(Error::Timeout { host, after: Duration::ZERO }),
            ureq::Error::BodyExceedsLimit(most) => {
                Attempt::Failed(Error::Malformed { host, problem: format!("it is larger than {most} bytes") })
            }
            error => Attempt::Again(Error::Unreachable { host, problem: self.covered(&error.to_string()) }, None),
        }
    }

    /// The endpoint's reason for a refusal: its error message, or the start of the text.
    fn reason(&self, text: &str) -> String {
        self.shortened(said(text).as_deref().unwrap_or(text))
    }

    /// Covered before it is cut: a part of a key would not be recognised.
    fn shortened(&self, text: &str) -> String {
        let short: String = self.covered(text.trim()).chars().take(MAX_MESSAGE).collect();
        if short.is_empty() { "no reason given".to_owned() } else { short }
    }

    /// Some endpoints repeat the key in their errors.
    fn covered(&self, text: &str) -> String {
        let secrets = self.key.iter().chain(self.headers.iter().map(|(_, value)| value));
        let secrets = secrets.filter(|Key(secret)| secret.len() >= 4);
        secrets.fold(text.to_owned(), |text, Key(secret)| text.replace(secret.as_str(), "…"))
    }
}

/// The error of an answer: `error.message` as of OpenAI, or `error` as of others.
fn said(text: &str) -> Option<String> {
    let reply: serde_json::Value = serde_json::from_str(text).ok()?;
    let error = reply.get("error")?;
    error.get("message").or(Some(error))?.as_str().map(str::to_owned)
}

fn read(body: &mut Body) -> Result<String, ureq::Error> {
    let bytes = body.with_config().limit(MAX_ANSWER).read_to_vec()?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
