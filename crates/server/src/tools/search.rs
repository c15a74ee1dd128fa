//! `web_search`: web search with a SearXNG instance.

use std::time::{Duration, Instant};

use base64::Engine as _;
use crossbeam_channel::RecvTimeoutError;
use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::{Agent, Timeout};
use url::Url;

use super::web::UNTRUSTED;
use super::{Outcome, Registry, RegistryError, Tool, ToolContext, ToolError};
use crate::config;
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, spawn};

/// The toolset; `browser` and `web` include the tool too.
pub(super) const SEARCH: &str = "search";
/// Default and maximum number of results.
const RESULTS: usize = 5;
const MOST_RESULTS: usize = 20;
/// Maximum length of a query, title, URL and description, in characters.
const QUERY: usize = 1_000;
const TITLE: usize = 200;
const ADDRESS: usize = 2_000;
const DESCRIPTION: usize = 500;
/// Maximum size of a response, in bytes.
const LARGEST: u64 = 4 << 20;
/// How to enable JSON responses.
const FORMATS: &str = "add json to search.formats in its settings.yml (off by default)";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    /// Results [5]
    limit: Option<usize>,
}

/// A SearXNG instance.
#[derive(Clone)]
struct Instance {
    agent: Agent,
    url: Url,
    host: String,
    /// For the `Authorization` header; never shown.
    login: Option<String>,
    time: Duration,
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Hit>,
    #[serde(default)]
    answers: Vec<Value>,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(default)]
    title: Option<String>,
    url: Option<String>,
    content: Option<String>,
}

/// Registers the tool; it is available when an instance is configured.
///
/// # Errors
/// The name is taken.
pub(super) fn register(registry: &Registry, settings: &config::Search) -> Result<(), RegistryError> {
    let instance = settings.url.as_deref().map(|url| Instance::of(url, settings.timeout_s));
    let is_configured = instance.is_some();
    let tool = Tool::when(
        "web_search",
        "Search the web.",
        move |_| is_configured,
        move |call, arguments: Search| {
            let instance = instance
                .clone()
                .unwrap_or_else(|| Err(failed("web_search is not configured; set tools.search.url in config.yaml")))?;
            search(&instance, call, &arguments)
        },
    );
    registry.register(SEARCH, tool.reading().needing("tools.search.url in config.yaml"))
}

fn failed(problem: impl Into<String>) -> ToolError {
    ToolError::new(Code::SearchError, problem)
}

fn search(instance: &Instance, call: &ToolContext<'_>, wanted: &Search) -> Result<Outcome, ToolError> {
    let query = wanted.query.trim();
    if query.is_empty() || query.chars().count() > QUERY {
        return Err(ToolError::new(Code::BadRequest, format!("query must have 1 to {QUERY} characters")));
    }
    if let Some(hosts) = call.session.hosts() {
        hosts.check(instance.url.as_str())?;
    }
    let text = instance.ask(query, call.deadline)?;
    let answer: Answer = serde_json::from_str(&text).map_err(|_| {
        let problem = format!("{} did not respond with JSON; {FORMATS}", instance.host);
        failed(problem)
    })?;
    let most = wanted.limit.unwrap_or(RESULTS).clamp(1, MOST_RESULTS);
    let cut =
        |text: Option<&str>, most: usize| -> String { text.unwrap_or_default().trim().chars().take(most).collect() };
    let is_web =
        |hit: &&Hit| hit.url.as_deref().is_some_and(|url| url.starts_with("http://") || url.starts_with("https://"));
    let results: Vec<Value> = answer
        .results
        .iter()
        .filter(is_web)
        .take(most)
        .map(|hit| {
            json!({
                "title": cut(hit.title.as_deref(), TITLE),
                "url": cut(hit.url.as_deref(), ADDRESS),
                "description": cut(hit.content.as_deref(), DESCRIPTION),
            })
        })
        .collect();
    let mut outcome = Outcome::default().with("results", results);
    // A string in older versions of SearXNG, an object in newer ones.
    let direct = answer.answers.first().and_then(|direct| direct.as_str().or_else(|| direct.get("answer")?.as_str()));
    if let Some(direct) = direct {
        outcome = outcome.with("answer", cut(Some(direct), DESCRIPTION));
    }
    Ok(outcome.with("untrusted", UNTRUSTED))
}

impl Instance {
    fn of(text: &str, time_s: u64) -> Result<Self, ToolError> {
        // Errors must not repeat the URL, which may contain a password.
        let wrong =
            |problem: &str| failed(format!("tools.search.url in config.yaml {problem}; set it to https://host"));
        let mut url = Url::parse(text).map_err(|_| wrong("is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("is neither http nor https"));
        }
        let host = url.host_str().ok_or_else(|| wrong("has no host"))?.to_owned();
        let login = (!url.username().is_empty() || url.password().is_some()).then(|| {
            let plain = |text: &str| -> Vec<u8> { percent_decode_str(text).collect() };
            let pair = [plain(url.username()), vec![b':'], plain(url.password().unwrap_or_default())].concat();
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
        });
        // Cannot fail for a URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').trim_end_matches("/search").to_owned();
        url.set_path(&format!("{path}/search"));
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let config = config.user_agent(concat!("cdpilot/", env!("CARGO_PKG_VERSION")));
        let is_local = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        // Local instances are requested directly, without a proxy.
        let config = if is_local { config.proxy(None) } else { config };
        Ok(Self { agent: config.build().new_agent(), url, host, login, time: Duration::from_secs(time_s.max(1)) })
    }

    /// Sends the query on a separate thread, since a blocking request cannot be cancelled.
    fn ask(&self, query: &str, deadline: Deadline<'_>) -> Result<String, ToolError> {
        let began = Instant::now();
        let deadline = deadline.within(self.time);
        let late = || {
            let message = format!("{} did not respond within {} ms; try again", self.host, began.elapsed().as_millis());
            ToolError::new(Code::Timeout, message)
        };
        let left = deadline.left();
        if left.is_zero() {
            return Err(late());
        }
        let (sender, answer) = crossbeam_channel::bounded(1);
        let (instance, query) = (self.clone(), query.to_owned());
        let thread = spawn("web-search", move || {
            let _ = sender.try_send(instance.send(&query, left));
        });
        let thread = thread.map_err(|problem| failed(problem.to_string()))?;
        let outcome = loop {
            match answer.recv_deadline(deadline.next_check()) {
                Ok(Ok(text)) => return Ok(text),
                Ok(Err(Some(error))) => return Err(error),
                Ok(Err(None)) => return Err(late()),
                Err(RecvTimeoutError::Timeout) if deadline.is_cancelled() => {
                    break ToolError::new(Code::Cancelled, "cancelled: the client disconnected");
                }
                Err(RecvTimeoutError::Timeout) if !deadline.passed() => {}
                Err(_) => break late(),
            }
        };
        // The thread ends at its deadline; its result is dropped.
        std::mem::forget(thread);
        Err(outcome)
    }

    /// Sends the query and reads the response. `Err(None)` stands for a timeout.
    fn send(&self, query: &str, left: Duration) -> Result<String, Option<ToolError>> {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        let mut request = self.agent.get(url.as_str()).header("Accept", "application/json");
        if let Some(login) = &self.login {
            request = request.header("Authorization", login);
        }
        let problem = |error: ureq::Error| match error {
            ureq::Error::Timeout(Timeout::Global) => None,
            // The message may contain the URL, and that a key.
            ureq::Error::BadUri(_) => Some(failed(format!("the query cannot be sent to {}", self.host))),
            error => Some(failed(format!("{} cannot be reached: {}", self.host, self.covered(&error.to_string())))),
        };
        let mut response = request.config().timeout_global(Some(left)).build().call().map_err(problem)?;
        let status = response.status().as_u16();
        let host = &self.host;
        let why = match status {
            200 => None,
            301 | 302 | 303 | 307 | 308 => {
                Some(format!("{host} redirects the request (status {status}); set tools.search.url to the final URL"))
            }
            401 => Some(format!(
                "{host} requires a login (status 401); set tools.search.url to https://user:password@host"
            )),
            403 => Some(format!("{host} refused the request (status 403); {FORMATS}")),
            429 => Some(format!("{host} limits requests (status 429); try again later, or configure its limiter")),
            status => Some(format!("{host} responded with status {status}")),
        };
        if let Some(why) = why {
            return Err(Some(failed(why)));
        }
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.contains("html") {
            return Err(Some(failed(format!("{host} responded with HTML instead of JSON; {FORMATS}"))));
        }
        response.body_mut().with_config().limit(LARGEST).read_to_string().map_err(problem)
    }

    /// Redacts the parts of the configured URL other than the host.
    fn covered(&self, text: &str) -> String {
        match self.url.query() {
            Some(query) if !query.is_empty() => text.replace(query, "…"),
            _ => text.to_owned(),
        }
    }
}
