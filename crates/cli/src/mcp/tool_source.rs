//! Where the tools run: in the running server of the home, else in a server started here. Resolved again when that
//! server has stopped.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::super::args::{Global, Serve};
use super::super::client::{self, Source, exit_of};
use super::super::connect::session;
use super::super::failure::Failure;
use super::super::local_tools::LocalTools;
use super::super::serve;
use super::super::settings::env;
use super::http_backend::{HttpBackend, NoAnswer};
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, pause};
use cdpilot_server::config::Home;
use cdpilot_server::control::Session;
use cdpilot_server::mcp::server::{Backend, LOADED_ONLY, Peer, ToolServer, instructions_for};
use cdpilot_server::mcp::{Fault, Request};
use cdpilot_server::server::{Error, OfferError, Server, ServerOptions};

/// Time limit for an answer; the server's own limit for a call is 120 s.
const CALL_LIMIT: Duration = Duration::from_secs(130);
/// Time limit for requests that need no page.
const QUICK_LIMIT: Duration = Duration::from_secs(15);
/// How long to wait for a server that is just starting or stopping.
const TRANSITION_LIMIT: Duration = Duration::from_secs(5);

/// The tools, wherever they run.
pub(super) struct ToolSource {
    home: Option<Home>,
    url: Option<String>,
    options: Global,
    toolsets: Vec<String>,
    profile: Option<String>,
    /// The session that the user chose, instead of one for this connection.
    session: Option<String>,
    /// Tools of the current folder, which run in this process.
    local_tools: Option<LocalTools>,
    /// Where the tools run at the moment. The lock is held only to copy the handle.
    location: Mutex<Option<Arc<Location>>>,
    /// Held while resolving, so that only one server is started.
    turns: Mutex<()>,
}

/// Where tools run.
enum Location {
    /// In a running server.
    Remote(HttpBackend),
    /// In this process.
    Local(Box<LocalServer>),
}

/// Our own server, so that other commands of the home share its browser.
struct LocalServer {
    offer: ToolServer,
    server: Server,
}

/// Why no tools are available.
enum Unavailable {
    Failed(Failure),
    Offer(OfferError),
}

impl From<Failure> for Unavailable {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Unavailable> for Failure {
    fn from(none: Unavailable) -> Self {
        match none {
            Unavailable::Failed(failure) => failure,
            Unavailable::Offer(OfferError::Toolset(problem)) => {
                Self::usage(format!("--toolsets: {problem}; `cdpilot tools list --toolsets` lists the toolsets"))
            }
            Unavailable::Offer(OfferError::Control(error)) => Self::new(error.kind(), error.to_string()),
            Unavailable::Offer(other) => Self::internal(other.to_string()),
        }
    }
}

impl ToolSource {
    pub(super) fn new(global: &Global, toolsets: Vec<String>, profile: Option<String>) -> Result<Self, Failure> {
        let options = Global { profile: profile.clone(), ..global.clone() };
        let (home, url) = (Home::find().ok(), global.url.clone());
        let local_tools =
            home.as_ref().map(|home| LocalTools::new(home, "mcp", &toolsets, &["clarify"], None)).transpose()?;
        Ok(Self {
            home,
            url,
            options,
            toolsets,
            profile,
            session: session(global),
            local_tools,
            location: Mutex::default(),
            turns: Mutex::default(),
        })
    }

    /// Checks that tools are available and all requested toolsets exist.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let ping = Request { id: None, method: "ping".to_owned(), params: Map::new() };
        loop {
            let deadline = Deadline::after(QUICK_LIMIT);
            let location = self.location(deadline)?;
            let Location::Remote(http_backend) = &*location else { return Ok(()) };
            match http_backend.ask(&ping, &Session::default(), deadline.renewed(QUICK_LIMIT)) {
                Ok(reply) if reply.body.get("result").is_some() => return Ok(()),
                Ok(reply) => return Err(refused(&reply.body)),
                Err(NoAnswer::Nobody(sentence)) => {
                    self.forget(&location);
                    if !self.is_free(http_backend, deadline)? {
                        let next = "check --url and CDPILOT_URL, or start one with `cdpilot serve`";
                        return Err(Failure::unreachable(format!("{sentence}; {next}")));
                    }
                }
                Err(none) => return Err(Failure::unreachable(fault(http_backend, &none).message)),
            }
        }
    }

    /// Ends the connection's session on a server, or stops our own server.
    pub(super) fn close(&self, connection: &Session, deadline: Deadline<'_>) {
        let _turn = self.turns.lock();
        let location = self.location.lock().take();
        if let Some(Location::Remote(http_backend)) = location.as_deref() {
            http_backend.end(connection, deadline);
        }
        // A running call may still hold it; then the browser ends with the process.
        if let Some(Location::Local(own)) = location.and_then(Arc::into_inner) {
            let LocalServer { offer, server } = *own;
            drop(offer);
            server.stop(deadline);
        }
    }

    /// Whether to resolve again: another server, or none, serves the home by now. Never when the server's address was
    /// given. Of the deadline, only its cancellation counts.
    fn is_free(&self, stopped_backend: &HttpBackend, deadline: Deadline<'_>) -> Result<bool, Failure> {
        let until = deadline.renewed(TRANSITION_LIMIT);
        loop {
            let found = client::find(self.url.as_deref(), self.home.as_ref())?;
            match found.source {
                Source::Default | Source::Settings if found.may_start() => return Ok(true),
                // run/server.json may be of a server that is just stopping.
                Source::Running(_) if found.base() != stopped_backend.base() => return Ok(true),
                Source::Running(_) if !until.passed() => pause(Duration::from_millis(20)),
                _ => return Ok(false),
            }
        }
    }

    fn known(&self) -> Option<Arc<Location>> {
        self.location.lock().clone()
    }

    /// Where the tools run; finds a server, or starts one here. Of the deadline, only its cancellation counts.
    fn location(&self, deadline: Deadline<'_>) -> Result<Arc<Location>, Unavailable> {
        if let Some(location) = self.known() {
            return Ok(location);
        }
        let _turn = self.turns.lock();
        if let Some(location) = self.known() {
            return Ok(location);
        }
        let location = Arc::new(self.find(deadline)?);
        *self.location.lock() = Some(Arc::clone(&location));
        Ok(location)
    }

    fn find(&self, deadline: Deadline<'_>) -> Result<Location, Unavailable> {
        let until = deadline.renewed(TRANSITION_LIMIT);
        loop {
            let found = client::find(self.url.as_deref(), self.home.as_ref())?;
            let http_backend = HttpBackend::new(
                &found,
                self.home.as_ref(),
                &self.toolsets,
                self.profile.as_deref(),
                self.session.as_deref(),
            )?;
            let home = match (&found.source, self.home.as_ref()) {
                // No server serves the home. A program on the default port is not trusted, unless its address was
                // configured or a token for it was given.
                (Source::Default, Some(home)) if env("CDPILOT_TOKEN").is_none() || !http_backend.is_there(until) => {
                    home
                }
                (Source::Settings, Some(home)) if found.may_start() && !http_backend.is_there(until) => home,
                _ => return Ok(Location::Remote(http_backend)),
            };
            match Server::start(self.server_options(home)?) {
                Ok(server) => {
                    let offer = server.tools().offer(self.profile.as_deref(), &self.toolsets);
                    let offer = offer.map_err(Unavailable::Offer)?;
                    return Ok(Location::Local(Box::new(LocalServer { offer, server })));
                }
                // Another server was started meanwhile.
                Err(Error::Taken { .. }) if !until.passed() => pause(Duration::from_millis(20)),
                Err(problem) => return Err(Failure::from(problem).into()),
            }
        }
    }

    fn server_options(&self, home: &Home) -> Result<ServerOptions, Failure> {
        let serve = Serve { port: Some(0), bind: None, cdp_port: None, headless: None, stop: false, background: false };
        serve::options(&serve, &self.options, home.clone())
    }

    /// Drops a place whose server has stopped.
    fn forget(&self, gone: &Arc<Location>) {
        let mut location = self.location.lock();
        if location.as_ref().is_some_and(|now| Arc::ptr_eq(now, gone)) {
            *location = None;
        }
    }

    fn ask(
        &self,
        request: &Request,
        peer: &Peer<'_>,
        timeout: Duration,
        here: impl Fn(&ToolServer, &Peer<'_>) -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        let mut again = false;
        loop {
            let deadline = Deadline::after(timeout).cancelled_by(peer.cancel);
            let location =
                self.location(deadline).map_err(|none| Fault::new(Fault::INTERNAL, Failure::from(none).error))?;
            let http_backend = match &*location {
                Location::Local(own) => {
                    let chosen = own.server.control().session(self.session.as_deref());
                    let chosen = chosen.map_err(|bad| Fault::new(Fault::INVALID_REQUEST, bad.to_string()))?;
                    let session = if chosen.is_default() { peer.session } else { &chosen };
                    return here(&own.offer, &Peer { session, ..*peer });
                }
                Location::Remote(http_backend) => http_backend,
            };
            match http_backend.ask(request, peer.session, deadline.renewed(timeout)) {
                Ok(reply) => return reply.outcome(),
                Err(none) => {
                    if !matches!(none, NoAnswer::Cancelled | NoAnswer::Late) {
                        self.forget(&location);
                    }
                    // The request was not sent: retry with the server that serves the home now.
                    let free = !again
                        && matches!(none, NoAnswer::Nobody(_))
                        && self.is_free(http_backend, deadline).unwrap_or(false);
                    if !free {
                        return Err(fault(http_backend, &none));
                    }
                    again = true;
                }
            }
        }
    }
}

impl Backend for ToolSource {
    /// By the names of the toolsets: what they contain is known to the server, which is not started for this.
    fn instructions(&self) -> String {
        let has = |names: &[&str]| self.toolsets.iter().any(|toolset| names.contains(&toolset.as_str()));
        let all = has(&["all", "*"]);
        let browser = self.toolsets.is_empty()
            || self.toolsets.iter().any(|toolset| toolset == "browser" || toolset.starts_with("cdpilot"));
        let tools = [("browser_snapshot", all || browser), ("element_interaction", all || has(&["visual"]))];
        instructions_for(&tools.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name.to_owned()).collect())
    }

    fn list(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        let mut listed = self.ask(request, peer, QUICK_LIMIT, |offer, peer| offer.list(request, peer))?;
        if let (Some(local_tools), Some(Value::Array(theirs))) = (&self.local_tools, listed.get_mut("tools")) {
            let mut ours = local_tools.offer().list(request, peer)?;
            if let Some(Value::Array(ours)) = ours.get_mut("tools") {
                theirs.retain(|tool| !ours.iter().any(|own| own["name"] == tool["name"]));
                theirs.append(ours);
                theirs.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
            }
        }
        Ok(listed)
    }

    fn call(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = request.params.get("arguments").unwrap_or(&Value::Null);
        if let Some(local_tools) = self.local_tools.as_ref().filter(|local_tools| local_tools.does(name, arguments)) {
            return local_tools.offer().call(request, peer);
        }
        self.ask(request, peer, CALL_LIMIT, |offer, peer| offer.call(request, peer))
    }

    fn names(&self) -> Option<BTreeSet<String>> {
        let ours = self.local_tools.as_ref().and_then(|local_tools| local_tools.offer().names()).unwrap_or_default();
        // Only queries a known server: detecting changes must not start one.
        let theirs = match &*self.known()? {
            Location::Local(own) => own.offer.names()?,
            Location::Remote(http_backend) => {
                let params = Map::from_iter([("_meta".to_owned(), json!({ LOADED_ONLY: true }))]);
                let list = Request { id: None, method: "tools/list".to_owned(), params };
                let reply = http_backend.ask(&list, &Session::default(), Deadline::after(QUICK_LIMIT));
                let result = reply.ok()?.outcome().ok()?;
                let tools = result["tools"].as_array()?.iter();
                tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
            }
        };
        Some(theirs.into_iter().chain(ours).collect())
    }
}

fn fault(http_backend: &HttpBackend, none: &NoAnswer) -> Fault {
    let base = http_backend.base();
    let message = match none {
        NoAnswer::Nobody(sentence) => format!("{sentence}; start one with `cdpilot serve`, then call the tool again"),
        NoAnswer::Ended => {
            format!("the server at {base} stopped before it answered; call the tool again (tabs may be gone)")
        }
        NoAnswer::Late => format!("the server at {base} did not answer in time; call the tool again"),
        NoAnswer::Cancelled => "the call was cancelled".to_owned(),
        NoAnswer::Other(what) => format!("{base}: {what}"),
    };
    Fault::new(Fault::INTERNAL, message)
}

/// The error of a server that refuses our requests.
fn refused(body: &Value) -> Failure {
    let error = &body["error"];
    if let Some(code) = body["code"].as_str() {
        let failure = Failure::of_text(code.to_owned(), error.as_str().unwrap_or_default());
        return failure.with(exit_of(code));
    }
    let message = error["message"].as_str().unwrap_or("the program at this address is not a cdpilot server");
    if error["data"]["code"].as_str().and_then(Code::parse) == Some(Code::UnknownToolset) {
        return Failure::usage(format!("--toolsets: {message}; `cdpilot tools list --toolsets` lists the toolsets"));
    }
    Failure::new(Code::BadRequest, message)
}
