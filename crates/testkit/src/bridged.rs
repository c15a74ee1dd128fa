//! A browser whose dialogs go over a bridge, driven by raw calls.
//!
//! Every page, frame process and popup gets the bridge before its scripts run. What comes in is noted
//! and answered at once as [`Bridged::accept`] and [`Bridged::text`] say, so a script that asks runs
//! through. `https://secure.test` and `https://other.test` are made up by interception.

use std::collections::HashMap;

use cdpilot::browser::BrowserProcess;
use cdpilot::cdp::{Capacity, Event, Item, Session, Subscription, Watch};
use cdpilot::supervisor::bridge::{Bridge, CallKind, Fulfil, RefusedCall};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use super::chrome::soon;
use super::lease::Lease;
use super::site::Site;

/// What handled a dialog or request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandledBy {
    Bridge,
    Native,
    Refused(RefusedCall),
}

#[derive(Debug, Clone)]
pub struct BridgeCall {
    pub way: HandledBy,
    pub kind: String,
    pub message: String,
    pub default: String,
    /// The frame that the request or dialog belongs to.
    pub frame: String,
    /// The body of a request.
    pub body: String,
    /// Whether `postData` was present, and the number of `postDataEntries`.
    pub carried: (bool, usize),
}

impl BridgeCall {
    pub fn short(&self) -> (HandledBy, &str, &str) {
        (self.way, &self.kind, &self.message)
    }
}

/// What is enabled.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub bridge: bool,
    pub bypass_csp: bool,
    /// Whether requests of service workers are intercepted too.
    pub workers: bool,
}

pub const ALL: Setup = Setup { bridge: true, bypass_csp: true, workers: true };

pub struct Bridged {
    pub site: Site,
    pub bridge: Bridge,
    pub accept: bool,
    pub text: String,
    pub met: Vec<BridgeCall>,
    /// Pages of the `https` hosts: header lines and the document, by path.
    pub secure: HashMap<String, (Value, String)>,
    /// The first page.
    pub page: Session,
    /// All sessions with their target's type, in order.
    pub sessions: Vec<(String, Session)>,
    pub loads: usize,
    /// How answers of the bridge are modified.
    pub spoil: Option<&'static str>,
    /// Whether calls are left unanswered.
    pub hold: bool,
    held: Vec<(Session, Value, String)>,
    /// The last unmodified answer.
    last: String,
    setup: Setup,
    events: Subscription,
    browser: BrowserProcess,
    _lease: Lease,
}

impl Bridged {
    pub fn start(setup: Setup) -> Option<Self> {
        // Its own page is the only one.
        let lease = Lease::take_empty()?;
        let browser = lease.connect();
        let connection = browser.connection().clone();
        let methods = [
            "Target.attachedToTarget",
            "Target.detachedFromTarget",
            "Fetch.requestPaused",
            "Page.javascriptDialogOpening",
            "Page.loadEventFired",
        ];
        let events = connection.subscribe(Watch::everything().only(&methods), Capacity::of(100_000));
        let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        connection.call_raw("Target.setAutoAttach", &auto, soon()).unwrap();
        // It ends with the connection, and so do the service workers in it.
        let context = json!({"disposeOnDetach": true});
        let context = connection.call_raw("Target.createBrowserContext", &context, soon()).unwrap().value().unwrap();
        let page = json!({"url": "about:blank", "browserContextId": context["browserContextId"]});
        let made = connection.call_raw("Target.createTarget", &page, soon()).unwrap();
        let target = made.value().unwrap()["targetId"].as_str().unwrap().to_owned();
        let mut bridged = Self {
            site: Site::start(),
            bridge: Bridge::new().unwrap(),
            accept: true,
            text: "typed".to_owned(),
            met: Vec::new(),
            secure: HashMap::new(),
            page: connection.session(""),
            sessions: Vec::new(),
            loads: 0,
            spoil: None,
            hold: false,
            held: Vec::new(),
            last: String::new(),
            setup,
            events,
            browser,
            _lease: lease,
        };
        while bridged.page.id().is_empty() {
            let event = bridged.event(soon()).expect("the page is attached");
            let params: Value = serde_json::from_slice(event.params()).unwrap();
            if event.method() == "Target.attachedToTarget" && params["targetInfo"]["targetId"] == *target {
                bridged.page = bridged.browser.connection().session(params["sessionId"].as_str().unwrap());
            }
            bridged.fold(&event);
        }
        // A navigation that comes before the first document is set up gets lost.
        bridged.eval(LOADED);
        Some(bridged)
    }

    fn event(&self, deadline: Deadline<'_>) -> Option<Event> {
        match self.events.next(deadline) {
            Ok(Item::Event(event)) => Some(event),
            Ok(Item::Lagged(missed)) => panic!("{missed} events were lost"),
            Err(_) => None,
        }
    }

    fn fold(&mut self, event: &Event) {
        let params: Value = serde_json::from_slice(event.params()).unwrap();
        let session = self.browser.connection().session(event.session().unwrap_or_default());
        match event.method() {
            "Target.attachedToTarget" => self.attached(&params),
            "Target.detachedFromTarget" => {
                self.sessions.retain(|(_, known)| known.id() != params["sessionId"]);
            }
            "Page.loadEventFired" => self.loads += usize::from(session.id() == self.page.id()),
            "Fetch.requestPaused" => self.paused(&session, &params),
            _ => {
                self.met.push(BridgeCall {
                    way: HandledBy::Native,
                    kind: text(&params["type"]),
                    message: text(&params["message"]),
                    default: text(&params["defaultPrompt"]),
                    frame: text(&params["frameId"]),
                    body: String::new(),
                    carried: (false, 0),
                });
                let answer = json!({"accept": self.accept, "promptText": self.text});
                session.send_raw("Page.handleJavaScriptDialog", &answer).unwrap();
            }
        }
    }

    fn attached(&mut self, params: &Value) {
        let kind = text(&params["targetInfo"]["type"]);
        let session = self.browser.connection().session(params["sessionId"].as_str().unwrap());
        // A worker may have ended already.
        let send = |method: &'static str, params: Value| match session.send_raw(method, &params) {
            Err(cdpilot::cdp::Error::SessionGone { .. }) => {}
            sent => drop(sent.unwrap()),
        };
        let mut patterns = vec![json!({"urlPattern": "https://*.test/*"})];
        if self.setup.bridge {
            patterns.push(json!({"urlPattern": self.bridge.pattern(), "requestStage": "Request"}));
        }
        if kind == "page" || kind == "iframe" {
            send("Page.enable", json!({}));
            send("Fetch.enable", json!({"patterns": patterns}));
            send("Page.setBypassCSP", json!({"enabled": self.setup.bypass_csp}));
            if self.setup.bridge {
                let script = json!({"source": &**self.bridge.source(), "runImmediately": true});
                send("Page.addScriptToEvaluateOnNewDocument", script);
            }
            let auto = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
            send("Target.setAutoAttach", auto);
        } else if self.setup.workers {
            send("Fetch.enable", json!({"patterns": patterns}));
        }
        send("Runtime.runIfWaitingForDebugger", json!({}));
        self.sessions.push((kind, session));
    }

    fn paused(&mut self, session: &Session, params: &Value) {
        let request = &params["request"];
        let (url, id) = (text(&request["url"]), &params["requestId"]);
        let entries = request["postDataEntries"].as_array().map_or(0, Vec::len);
        let post_data = request["postData"].as_str();
        let mut met = BridgeCall {
            way: HandledBy::Bridge,
            kind: String::new(),
            message: String::new(),
            default: String::new(),
            frame: text(&params["frameId"]),
            body: post_data.unwrap_or_default().to_owned(),
            carried: (post_data.is_some(), entries),
        };
        let method = text(&request["method"]);
        match self.bridge.read(&url, &method, post_data.map(str::as_bytes)) {
            Ok(call) => {
                let kind = match call.kind {
                    CallKind::Alert => "alert",
                    CallKind::Confirm => "confirm",
                    CallKind::Prompt => "prompt",
                };
                met.kind = kind.to_owned();
                let answer = self.bridge.answer(&call, self.accept, Some(&self.text)).body().to_owned();
                let native = self.bridge.leave_to_browser(&call).body().to_owned();
                let older = std::mem::replace(&mut self.last, answer.clone());
                let (status, body) = match self.spoil {
                    None => (Fulfil::STATUS, answer),
                    Some("native") => (Fulfil::STATUS, native),
                    // Another verdict under the same code.
                    Some("accepted") => (Fulfil::STATUS, native.replacen("\nn\n", "\n1\n", 1)),
                    Some("code") => (Fulfil::STATUS, "0".repeat(32) + &answer[32..]),
                    Some("cut") => (Fulfil::STATUS, answer[..answer.len() - 1].to_owned()),
                    Some("empty") => (Fulfil::STATUS, String::new()),
                    Some("older") => (Fulfil::STATUS, older),
                    Some(_) => (500, answer),
                };
                if self.hold {
                    self.held.push((session.clone(), id.clone(), body));
                } else {
                    fulfil(session, id, status, &body);
                }
                (met.message, met.default) = (call.message, call.default_prompt);
            }
            Err(RefusedCall::Foreign) => {
                self.serve(session, id, &url);
                return;
            }
            Err(refused) => {
                met.way = HandledBy::Refused(refused);
                session
                    .send_raw("Fetch.failRequest", &json!({"requestId": id, "errorReason": "AccessDenied"}))
                    .unwrap();
            }
        }
        self.met.push(met);
    }

    fn serve(&self, session: &Session, id: &Value, url: &str) {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let (headers, html) = self.secure.get(path).cloned().unwrap_or_else(|| (json!([]), "nothing here".to_owned()));
        let mut headers = headers.as_array().unwrap().clone();
        headers.push(json!({"name": "Content-Type", "value": "text/html; charset=utf-8"}));
        let answer =
            json!({"requestId": id, "responseCode": 200, "responseHeaders": headers, "body": base64(html.as_bytes())});
        session.send_raw("Fetch.fulfillRequest", &answer).unwrap();
    }

    /// Evaluates a script in a session, and answers its dialogs.
    pub fn eval_in(&mut self, session: &Session, script: &str) -> Value {
        let params = json!({
            "expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true
        });
        let mut reply = session.send_raw("Runtime.evaluate", &params).unwrap();
        let deadline = soon();
        let outcome = loop {
            match reply.poll_raw(Deadline::after_millis(5)) {
                Ok(outcome) => break outcome.unwrap().value().unwrap(),
                Err(back) => reply = back,
            }
            self.pump();
            assert!(!deadline.passed(), "no answer to: {script}; met: {:#?}", self.met);
        };
        self.pump();
        assert!(outcome.get("exceptionDetails").is_none(), "{script}: {outcome:#}");
        outcome["result"]["value"].clone()
    }

    /// The same in the first page.
    pub fn eval(&mut self, script: &str) -> Value {
        let page = self.page.clone();
        self.eval_in(&page, script)
    }

    /// Processes received events.
    pub fn pump(&mut self) {
        while let Ok(event) = self.events.try_next() {
            let Item::Event(event) = event else { panic!("events were lost") };
            self.fold(&event);
        }
    }

    /// Processes events until a condition holds.
    pub fn until(&mut self, what: &str, accept: impl Fn(&Self) -> bool) {
        let deadline = soon();
        while !accept(self) {
            let Some(event) = self.event(deadline) else { panic!("waited in vain for {what}; met: {:#?}", self.met) };
            self.fold(&event);
        }
    }

    /// Answers the calls that were held.
    pub fn release(&mut self) {
        self.hold = false;
        for (session, id, body) in self.held.drain(..) {
            fulfil(&session, &id, Fulfil::STATUS, &body);
        }
    }

    /// Shows a page in the first tab and waits until it is loaded.
    pub fn go(&mut self, url: &str) {
        self.pump();
        let loads = self.loads;
        let moved = self.page.send_raw("Page.navigate", &json!({"url": url})).unwrap();
        self.until(url, |now| now.loads > loads);
        let outcome = moved.wait_raw(soon()).unwrap().value().unwrap();
        assert!(outcome.get("errorText").is_none(), "{url}: {outcome}");
    }

    /// The session of the document whose URL ends with this text, loaded.
    pub fn session(&mut self, url: &str) -> Session {
        let deadline = soon();
        loop {
            for (kind, session) in self.sessions.clone() {
                if (kind == "page" || kind == "iframe") && self.address(&session).ends_with(url) {
                    self.eval_in(&session, LOADED);
                    return session;
                }
            }
            assert!(!deadline.passed(), "no document {url}");
        }
    }

    fn address(&mut self, session: &Session) -> String {
        text(&self.eval_in(session, "location.href"))
    }

    /// The calls and requests since the last call.
    pub fn taken(&mut self) -> Vec<BridgeCall> {
        self.pump();
        std::mem::take(&mut self.met)
    }
}

const LOADED: &str =
    "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))";

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn fulfil(session: &Session, id: &Value, status: u16, body: &str) {
    let headers: Vec<Value> =
        Fulfil::HEADERS.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let params = json!({
        "requestId": id, "responseCode": status, "responseHeaders": headers, "body": base64(body.as_bytes())
    });
    session.send_raw("Fetch.fulfillRequest", &params).unwrap();
}
