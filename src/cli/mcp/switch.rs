//! Whose tools they are: those of the server that serves the home, else our own. Looked at anew when that server has gone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::super::args::{Global, Serve};
use super::super::client::{self, Source, exit_of};
use super::super::connect::session;
use super::super::failure::Failure;
use super::super::nearby::Nearby;
use super::super::serve;
use super::super::settings::env;
use super::bridge::{Bridge, NoAnswer};
use crate::code::Code;
use crate::config::Home;
use crate::control::Session;
use crate::mcp::server::{Backend, LOADED_ONLY, Peer, ToolServer};
use crate::mcp::{Fault, Request};
use crate::server::{Error, OfferError, Server, ServerOptions};
use crate::sync::{Cancel, Deadline, pause};

/// What an answer of a server may take: it has 120 s for a call itself.
const ANSWER: Duration = Duration::from_secs(130);
/// The same for what needs no page.
const QUICK: Duration = Duration::from_secs(15);
/// How long a server that has only just begun is waited for.
const BEGUN: Duration = Duration::from_secs(5);

/// The tools, wherever they are.
pub(super) struct Switch {
    home: Option<Home>,
    url: Option<String>,
    options: Global,
    toolsets: Vec<String>,
    profile: Option<String>,
    /// The session that the user chose, instead of one for this connection.
    session: Option<String>,
    /// The tools of the folder that we were started in: a server that runs has another one.
    nearby: Option<Nearby>,
    /// Where the tools are at the moment. The lock is held for copying a handle.
    place: Mutex<Option<Arc<Place>>>,
    /// Held while a place is looked for, so that not two servers are started.
    turns: Mutex<()>,
}

/// Where tools are.
enum Place {
    /// With a server.
    There(Bridge),
    /// Here.
    Here(Box<Own>),
}

/// A server of our own, so that others of the home share its browser.
struct Own {
    offer: ToolServer,
    server: Server,
}

/// Why there are no tools.
enum NoPlace {
    Failed(Failure),
    Offer(OfferError),
}

impl From<Failure> for NoPlace {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<NoPlace> for Failure {
    fn from(none: NoPlace) -> Self {
        match none {
            NoPlace::Failed(failure) => failure,
            NoPlace::Offer(OfferError::Toolset(problem)) => {
                Self::usage(format!("--toolsets: {problem}; `cdpilot tools list` shows all"))
            }
            NoPlace::Offer(OfferError::Control(error)) => Self::new(error.code(), error.to_string()),
            NoPlace::Offer(other) => Self::internal(other.to_string()),
        }
    }
}

impl Switch {
    pub(super) fn new(global: &Global, toolsets: Vec<String>, profile: Option<String>) -> Result<Self, Failure> {
        let options = Global { profile: profile.clone(), ..global.clone() };
        let (home, url, session) = (Home::find().ok(), global.url.clone(), session(global));
        let nearby = home.as_ref().map(|home| Nearby::new(home, "mcp", &toolsets, &["clarify"], None)).transpose()?;
        Ok(Self {
            home,
            url,
            options,
            toolsets,
            profile,
            session,
            nearby,
            place: Mutex::default(),
            turns: Mutex::default(),
        })
    }

    /// Whether there are tools, and all that was asked for is known.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let ping = Request { id: None, method: "ping".to_owned(), params: Map::new() };
        loop {
            let place = self.place()?;
            let Place::There(bridge) = &*place else { return Ok(()) };
            match bridge.ask(&ping, &Session::default(), &Cancel::new(), Deadline::after(QUICK)) {
                Ok(told) if told.body.get("result").is_some() => return Ok(()),
                Ok(told) => return Err(refused(&told.body)),
                Err(NoAnswer::Nobody(sentence)) => {
                    self.forget(&place);
                    if !self.is_free(bridge)? {
                        return Err(Failure::unreachable(sentence));
                    }
                }
                Err(none) => return Err(Failure::unreachable(fault(bridge, &none).message)),
            }
        }
    }

    /// Ends the connection's session on a server, or the server and browser of this process.
    pub(super) fn close(&self, connection: &Session, deadline: Deadline) {
        let _turn = self.turns.lock();
        let place = self.place.lock().take();
        if let Some(Place::There(bridge)) = place.as_deref() {
            bridge.end(connection, deadline);
        }
        // A call that does not end holds it; then the browser ends with the process.
        if let Some(Place::Here(own)) = place.and_then(Arc::into_inner) {
            let Own { offer, server } = *own;
            drop(offer);
            server.stop(deadline);
        }
    }

    /// Whether somebody else, or nobody, may serve the home by now. Not where a person named the server.
    fn is_free(&self, gone: &Bridge) -> Result<bool, Failure> {
        let until = Deadline::after(BEGUN);
        loop {
            let found = client::find(self.url.as_deref(), self.home.as_ref())?;
            match found.source {
                Source::Default | Source::Settings if found.may_start() => return Ok(true),
                // Word of it may have been left by one that is just ending.
                Source::Running(_) if found.base() != gone.base() => return Ok(true),
                Source::Running(_) if !until.passed() => pause(Duration::from_millis(20)),
                _ => return Ok(false),
            }
        }
    }

    fn known(&self) -> Option<Arc<Place>> {
        self.place.lock().clone()
    }

    /// Where the tools are. A server is looked for, and started here when there is none.
    fn place(&self) -> Result<Arc<Place>, NoPlace> {
        if let Some(place) = self.known() {
            return Ok(place);
        }
        let _turn = self.turns.lock();
        if let Some(place) = self.known() {
            return Ok(place);
        }
        let place = Arc::new(self.find()?);
        *self.place.lock() = Some(Arc::clone(&place));
        Ok(place)
    }

    fn find(&self) -> Result<Place, NoPlace> {
        let until = Deadline::after(BEGUN);
        loop {
            let found = client::find(self.url.as_deref(), self.home.as_ref())?;
            let bridge = Bridge::new(
                &found,
                self.home.as_ref(),
                &self.toolsets,
                self.profile.as_deref(),
                self.session.as_deref(),
            )?;
            let home = match (&found.source, self.home.as_ref()) {
                // Nobody serves the home. Whoever listens where a server usually is, is not of it: it is asked only where
                // a person set that place, or gave a token for it.
                (Source::Default, Some(home)) if env("CDPILOT_TOKEN").is_none() || !bridge.is_there() => home,
                (Source::Settings, Some(home)) if found.may_start() && !bridge.is_there() => home,
                _ => return Ok(Place::There(bridge)),
            };
            match Server::start(self.server_options(home)?) {
                Ok(server) => {
                    let offer = server.tools().offer(self.profile.as_deref(), &self.toolsets);
                    let offer = offer.map_err(NoPlace::Offer)?;
                    return Ok(Place::Here(Box::new(Own { offer, server })));
                }
                // One has begun meanwhile.
                Err(Error::Taken { .. }) if !until.passed() => pause(Duration::from_millis(20)),
                Err(problem) => return Err(Failure::from(problem).into()),
            }
        }
    }

    fn server_options(&self, home: &Home) -> Result<ServerOptions, Failure> {
        let serve = Serve { port: Some(0), bind: None, cdp_port: None, headless: None, stop: false, background: false };
        serve::options(&serve, &self.options, home.clone())
    }

    /// Lets go of a place that turned out to be none.
    fn forget(&self, gone: &Arc<Place>) {
        let mut place = self.place.lock();
        if place.as_ref().is_some_and(|now| Arc::ptr_eq(now, gone)) {
            *place = None;
        }
    }

    fn ask(
        &self,
        request: &Request,
        peer: &Peer<'_>,
        patience: Duration,
        here: impl Fn(&ToolServer, &Peer<'_>) -> Result<Value, Fault>,
    ) -> Result<Value, Fault> {
        let mut again = false;
        loop {
            let place = self.place().map_err(|none| Fault::new(Fault::INTERNAL, Failure::from(none).error))?;
            let bridge = match &*place {
                Place::Here(own) => {
                    let chosen = own.server.control().session(self.session.as_deref());
                    let chosen = chosen.map_err(|bad| Fault::new(Fault::INVALID_REQUEST, bad.to_string()))?;
                    let session = if chosen.is_default() { peer.session } else { &chosen };
                    return here(&own.offer, &Peer { session, ..*peer });
                }
                Place::There(bridge) => bridge,
            };
            match bridge.ask(request, peer.session, peer.cancel, Deadline::after(patience)) {
                Ok(told) => return told.outcome(),
                Err(none) => {
                    if !matches!(none, NoAnswer::Cancelled | NoAnswer::Late) {
                        self.forget(&place);
                    }
                    // Nothing was asked of it: whoever serves the home now is asked instead.
                    let free = !again && matches!(none, NoAnswer::Nobody(_)) && self.is_free(bridge).unwrap_or(false);
                    if !free {
                        return Err(fault(bridge, &none));
                    }
                    again = true;
                }
            }
        }
    }
}

impl Backend for Switch {
    fn list(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        let mut told = self.ask(request, peer, QUICK, |offer, peer| offer.list(request, peer))?;
        if let (Some(nearby), Some(Value::Array(theirs))) = (&self.nearby, told.get_mut("tools")) {
            let mut ours = nearby.offer().list(request, peer)?;
            if let Some(Value::Array(ours)) = ours.get_mut("tools") {
                theirs.retain(|tool| !ours.iter().any(|own| own["name"] == tool["name"]));
                theirs.append(ours);
                theirs.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
            }
        }
        Ok(told)
    }

    fn call(&self, request: &Request, peer: &Peer<'_>) -> Result<Value, Fault> {
        let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = request.params.get("arguments").unwrap_or(&Value::Null);
        if let Some(nearby) = self.nearby.as_ref().filter(|nearby| nearby.does(name, arguments)) {
            return nearby.offer().call(request, peer);
        }
        self.ask(request, peer, ANSWER, |offer, peer| offer.call(request, peer))
    }

    fn names(&self) -> Option<BTreeSet<String>> {
        let ours = self.nearby.as_ref().and_then(|nearby| nearby.offer().names()).unwrap_or_default();
        // Nothing is looked for or started only to see whether something has changed.
        let theirs = match &*self.known()? {
            Place::Here(own) => own.offer.names()?,
            Place::There(bridge) => {
                let params = Map::from_iter([("_meta".to_owned(), json!({ LOADED_ONLY: true }))]);
                let list = Request { id: None, method: "tools/list".to_owned(), params };
                let told = bridge.ask(&list, &Session::default(), &Cancel::new(), Deadline::after(QUICK));
                let told = told.ok()?.outcome().ok()?;
                let tools = told["tools"].as_array()?.iter();
                tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
            }
        };
        Some(theirs.into_iter().chain(ours).collect())
    }
}

fn fault(bridge: &Bridge, none: &NoAnswer) -> Fault {
    let base = bridge.base();
    let message = match none {
        NoAnswer::Nobody(sentence) => format!("{sentence}; start one with `cdpilot serve`, and call again"),
        NoAnswer::Ended => {
            format!("the server at {base} ended before it answered; call again, its tabs may be gone with it")
        }
        NoAnswer::Late => format!("the server at {base} did not answer in time; call again"),
        NoAnswer::Cancelled => "the call was cancelled".to_owned(),
        NoAnswer::Other(what) => format!("{base}: {what}"),
    };
    Fault::new(Fault::INTERNAL, message)
}

/// A server that does not want to serve us.
fn refused(body: &Value) -> Failure {
    let error = &body["error"];
    if let Some(code) = body["code"].as_str() {
        let failure = Failure::new(code.to_owned(), error.as_str().unwrap_or_default());
        return failure.with(exit_of(code));
    }
    let message = error["message"].as_str().unwrap_or("what answers there is no cdpilot server");
    if error["data"]["code"].as_str().and_then(Code::parse) == Some(Code::UnknownToolset) {
        return Failure::usage(format!("--toolsets: {message}; `cdpilot tools list` shows all"));
    }
    Failure::new("BAD_REQUEST", message)
}
