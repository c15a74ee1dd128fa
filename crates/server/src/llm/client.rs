//! Requests to a model, with deadline, retries, and the forms that its endpoint accepts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue};

use super::accepted::{Refusal, refusal};
use super::attempt::Attempt;
use super::stream::Piece;
use super::types::Forms;
use super::{Answer, ChatRequest, Error, Model, Patience, ToolSpec, leaked, masked};
use cdpilot::sync::Deadline;

/// How often cancellation is checked during a pause.
const CANCEL_CHECK: Duration = Duration::from_millis(100);

/// The end of errors about an invalid URL.
const EXAMPLE: &str = "give one such as https://api.example.com/v1";

/// A client of one model. Cheap to clone; clones share what they learn about the endpoint.
#[derive(Debug, Clone)]
pub struct Client {
    /// May contain a key.
    pub(super) url: Key,
    pub(super) host: String,
    model: String,
    pub(super) key: Option<Key>,
    pub(super) headers: Arc<[(String, Key)]>,
    /// Credentials in the URL.
    pub(super) secrets: Arc<[Key]>,
    /// Maximum number of output tokens.
    most: Option<u32>,
    /// What the endpoint accepts. Locked only to copy or change it.
    forms: Arc<Mutex<Forms>>,
    /// Whether the model has made calls through the interface for tools: then a call in its text is text, which a page may have
    /// written.
    calls: Arc<AtomicBool>,
    /// Whether the endpoint is on this machine.
    is_local: bool,
}

/// A key, a header value or a URL; never printed.
#[derive(Clone)]
pub(super) struct Key(pub(super) String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(key)")
    }
}

/// What happens while a model answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress<'a> {
    /// A part of the text has arrived.
    Text(&'a str),
    /// A part of the reasoning has arrived.
    Reasoning(&'a str),
    /// An attempt failed; what has arrived is void, and the next one begins after the pause.
    Again {
        /// Why it failed.
        error: &'a Error,
        /// The pause before the next attempt.
        pause: Duration,
    },
    /// The endpoint refused a part of the request, which is left out from now on. Reported once for each.
    Adapted(Refusal),
}

impl Client {
    /// A client for the model of an alias. Sends nothing yet.
    ///
    /// # Errors
    /// [`Error::NoKey`]; [`Error::Unusable`] for an invalid URL or header.
    pub fn new(alias: &str, model: &Model) -> Result<Self, Error> {
        let bad = |field: &str, problem: &str| Error::Unusable {
            at: format!("models.{alias}.{field}"),
            problem: problem.to_owned(),
        };
        // The value is not repeated: it may contain a password.
        let bad_url = |problem: &str| bad("base_url", &format!("{problem}; {EXAMPLE}"));
        let url = url::Url::parse(&model.base_url).map_err(|_| bad_url("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad_url("is not an http or https URL"));
        }
        let host = url.host_str().ok_or_else(|| bad_url("has no host"))?.to_owned();
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
                return Err(bad(&format!("headers.{name}"), "cannot be sent as an HTTP header"));
            }
        }
        Ok(Self {
            url: Key(of_chat(&model.base_url)),
            secrets: masked::secrets_in(&model.base_url).into_iter().map(Key).collect(),
            is_local: matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]"),
            host,
            model: model.model.clone(),
            key: key.map(Key),
            headers: model.headers.iter().map(|(name, value)| (name.clone(), Key(value.clone()))).collect(),
            most: model.max_output_tokens,
            forms: Arc::default(),
            calls: Arc::default(),
        })
    }

    /// Whether the endpoint has not refused images so far.
    #[must_use]
    pub fn accepts_images(&self) -> bool {
        self.forms.lock().images
    }

    /// Sends a request, with retries where these may help, and waits for the whole answer.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::Refused`], [`Error::Malformed`], [`Error::Timeout`], [`Error::Cancelled`].
    pub fn ask(&self, request: &ChatRequest, deadline: Deadline<'_>) -> Result<Answer, Error> {
        self.request(request, Patience::short(), false, deadline, &mut |_| {})
    }

    /// Sends a request whose answer arrives in parts, and reports these and each repetition. An empty answer is repeated as
    /// well. Calls that the model wrote as text are recovered. Ends within 100 ms of a cancellation.
    ///
    /// # Errors
    /// As [`ask`](Self::ask); [`Error::Empty`].
    pub fn chat(
        &self,
        request: &ChatRequest,
        retry_policy: Patience,
        deadline: Deadline<'_>,
        on: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Answer, Error> {
        self.request(request, retry_policy, true, deadline, on)
    }

    /// Recovers calls that the model wrote as text, unless it has made others properly before. Those of such a model count as
    /// unreadable: it is told how calls are made.
    fn read_calls(&self, answer: &mut Answer, tools: &[ToolSpec]) {
        if !answer.tool_calls.is_empty() {
            self.calls.store(true, Ordering::Relaxed);
        }
        if !self.calls.load(Ordering::Relaxed) {
            leaked::recover(answer, tools);
            return;
        }
        let mut read = answer.clone();
        leaked::recover(&mut read, tools);
        answer.unreadable_calls |= read.is_recovered || read.unreadable_calls;
    }

    fn request(
        &self,
        request: &ChatRequest,
        patience: Patience,
        streams: bool,
        deadline: Deadline<'_>,
        on: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Answer, Error> {
        let began = Instant::now();
        let mut tries = 0;
        loop {
            tries += 1;
            let forms = *self.forms.lock();
            let body = request.to_value(&self.model, self.most, &forms, streams);
            let mut pass_on = |piece: Piece| match &piece {
                Piece::Text(text) => on(Progress::Text(text)),
                Piece::Reasoning(text) => on(Progress::Reasoning(text)),
            };
            let attempt = self.try_once(body.to_string(), began, deadline, &mut pass_on);
            let (error, requested) = match attempt {
                Attempt::Answered(mut answer) if streams => {
                    self.read_calls(&mut answer, &request.tools);
                    let answer = answer.with_ids();
                    if !answer.is_empty() {
                        return Ok(answer);
                    }
                    let error = Error::Empty { host: self.host.clone(), finish: answer.finish };
                    if error.is_filtered() {
                        return Err(error); // the same request is filtered again
                    }
                    (error, None)
                }
                Attempt::Answered(answer) => return Ok(answer),
                Attempt::Failed(error) => return Err(error),
                Attempt::Again(error, pause) => (error, pause),
                Attempt::Refused { status, reason, pause } => {
                    if let Some(refusal) = refusal(status, &reason, &body) {
                        self.forms.lock().without(refusal);
                        tries -= 1; // another request, not another attempt; each refusal occurs once
                        on(Progress::Adapted(refusal));
                        continue;
                    }
                    let is_transient = matches!(status, 408 | 409 | 425 | 429 | 500..=599);
                    let problem = match pause.filter(|_| is_transient) {
                        Some(pause) => format!("{reason} (it asks to retry after {} s)", seconds(pause)),
                        None => reason,
                    };
                    let error = Error::Refused { host: self.host.clone(), status, problem };
                    if !is_transient {
                        return Err(error);
                    }
                    (error, pause)
                }
            };
            // An earlier attempt would fail, and a later one is up to the caller.
            let pause = match patience.pause_after(tries, requested) {
                Some(pause) if deadline.left() > pause => pause,
                _ if deadline.is_cancelled() => return Err(Error::Cancelled),
                _ => return Err(error),
            };
            tracing::debug!(host = %self.host, tries, ?pause, %error, "asking the model again");
            on(Progress::Again { error: &error, pause });
            let until = deadline.within(pause);
            while !until.passed() {
                cdpilot::sync::pause(until.left().min(CANCEL_CHECK));
            }
            if deadline.is_cancelled() {
                return Err(Error::Cancelled);
            }
        }
    }

    /// The keys that an endpoint may repeat.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let headers = self.headers.iter().map(|(_, value)| value);
        self.key.iter().chain(headers).chain(self.secrets.iter()).map(|Key(key)| key.as_str())
    }

    /// The HTTP client of one attempt; it can be shut down by itself.
    pub(super) fn agent(&self) -> Agent {
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let config = config.user_agent(concat!("cdpilot/", env!("CARGO_PKG_VERSION")));
        // A proxy is only for other machines.
        let config = if self.is_local { config.proxy(None) } else { config };
        config.build().new_agent()
    }
}

/// The URL for chat completions: the query of the base URL stays behind the path.
fn of_chat(base_url: &str) -> String {
    let base_url = base_url.split('#').next().unwrap_or_default();
    let (path, query) = base_url.split_at(base_url.find('?').unwrap_or(base_url.len()));
    format!("{}/chat/completions{query}", path.trim_end_matches('/'))
}

/// Whole seconds, rounded up.
fn seconds(pause: Duration) -> u64 {
    pause.as_secs().saturating_add(u64::from(pause.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_of_a_base_url_stays_behind_the_path() {
        for (base, url) in [
            ("https://a.test/v1", "https://a.test/v1/chat/completions"),
            ("https://a.test/v1/", "https://a.test/v1/chat/completions"),
            ("https://a.test/v1/?key=a/b", "https://a.test/v1/chat/completions?key=a/b"),
            ("https://a.test?v=1#x", "https://a.test/chat/completions?v=1"),
        ] {
            assert_eq!(of_chat(base), url);
        }
    }
}
