//! A control server with its own home, and a client of it.
//!
//! Every answer of success is checked against `openapi.json`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cdpilot_server::config::{Config, Confirm, Home};
use cdpilot_server::control::Overrides;
use cdpilot_server::server::{Server, ServerOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::chrome::soon;
use super::lease::Lease;
use super::schema;
use super::site::Site;
use super::{browser_path, chrome};

/// A server with a home and a site of its own.
pub(crate) struct TestServer {
    pub(crate) site: Site,
    pub(crate) api: Api,
    pub(crate) home: Home,
    server: Option<Server>,
    options: ServerOptions,
    hangs: AtomicUsize,
    _folder: TempDir,
    /// Returned last.
    _lease: Option<Lease>,
}

impl TestServer {
    /// For tests that need no browser. One is launched by requests that start it, if there is one here.
    pub(crate) fn start() -> Self {
        Self::with(|_, _| {})
    }

    /// Attaches to a leased browser when one is needed. `None` if there is none on this machine and none is required.
    pub(crate) fn browsing() -> Option<Self> {
        Self::browsing_with(|_, _| {})
    }

    /// The same with other settings.
    pub(crate) fn browsing_with(change: impl FnOnce(&mut Config, &mut ServerOptions)) -> Option<Self> {
        let lease = Lease::take_empty()?;
        let mut server = Self::with(|config, options| {
            options.overrides = Overrides::new();
            config.browser.cdp_url = Some(lease.url().to_owned());
            change(config, options);
        });
        server._lease = Some(lease);
        Some(server)
    }

    /// Launches its browser: for what depends on how a browser is started and ended. `None` as with
    /// [`browsing`](Self::browsing).
    pub(crate) fn launching() -> Option<Self> {
        Self::launching_with(|_, _| {})
    }

    /// The same with other settings.
    pub(crate) fn launching_with(change: impl FnOnce(&mut Config, &mut ServerOptions)) -> Option<Self> {
        chrome::options(cdpilot::browser::TransportKind::Pipe)?;
        Some(Self::with(change))
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config, &mut ServerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        let mut config = Config::default();
        config.browser.cdp_port = 0;
        config.agent.confirm = Confirm::Always;
        let mut options = ServerOptions::new(home.clone(), Config::default());
        options.port = Some(0);
        options.overrides = {
            let mut options = Overrides::new().headless(true);
            options.executable = browser_path();
            options
        };
        change(&mut config, &mut options);
        options.config = config;
        let server = Server::start(options.clone()).unwrap();
        let api = Api { address: server.addr(), token: server.token().reveal().to_owned() };
        let (server, hangs) = (Some(server), AtomicUsize::new(0));
        Self { site: Site::start(), api, home, server, options, hangs, _folder: folder, _lease: None }
    }

    /// Stops the server and starts another one for the same home.
    pub(crate) fn restart(&mut self) {
        self.restart_after(|| {});
    }

    /// Does something between the end of the server and the start of another one for the same home.
    pub(crate) fn restart_after(&mut self, meanwhile: impl FnOnce()) {
        if let Some(server) = self.server.take() {
            server.stop(soon());
        }
        meanwhile();
        let server = Server::start(self.options.clone()).unwrap();
        self.api.address = server.addr();
        self.server = Some(server);
    }

    /// The same for what needs the site.
    pub(crate) fn restart_meanwhile(&mut self, meanwhile: impl FnOnce(&Site)) {
        if let Some(server) = self.server.take() {
            server.stop(soon());
        }
        meanwhile(&self.site);
        self.restart();
    }

    /// Restarts the server at the same port.
    pub(crate) fn restart_in_place(&mut self) {
        self.options.port = Some(self.api.address.port());
        self.restart();
    }

    /// The CDP endpoint of the leased browser.
    pub(crate) fn cdp_url(&self) -> &str {
        self._lease.as_ref().unwrap().url()
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Opens a tab with a page of the site, loaded. Its target id.
    pub(crate) fn open(&self, path: &str) -> String {
        let tab = self.api.post("/tabs/open", &json!({ "url": self.site.url("a", path) })).ok();
        tab["targetId"].as_str().unwrap().to_owned()
    }

    /// Puts a page on the site and opens it.
    pub(crate) fn show(&self, html: &str) -> String {
        self.site.page("/", html);
        self.open("/")
    }

    /// Starts a script in the last used tab that is not waited for, and is nobody's but the page's.
    pub(crate) fn run(&self, script: &str) {
        let script = json!({ "expression": format!("void setTimeout(() => {{ {script} }})") });
        self.api.post("/cdp", &json!({ "method": "Runtime.evaluate", "params": script })).ok();
    }

    /// Lets the page of the last used tab fall into an endless loop, and returns when it is about to.
    pub(crate) fn hang(&self) {
        // Ends the loop before it, if there is one.
        self.api.post("/rescue", &json!({})).ok();
        self.site.page("/hangs", "x");
        let times = self.hangs.fetch_add(1, Ordering::Relaxed) + 1;
        self.run("setTimeout(() => { const ask = new XMLHttpRequest(); ask.open('GET', '/hangs', false); ask.send(); for (;;); }, 50)");
        self.site.wait_requested("a.localhost/hangs", times);
    }

    /// Opens an alert in the last used tab, and waits for it. Its id.
    pub(crate) fn dialog(&self, script: &str) -> String {
        self.run(script);
        let seen = self.api.until("a dialog", "/dialogs", |response| response["pending_dialogs"][0].is_object());
        seen["pending_dialogs"][0]["id"].as_str().unwrap().to_owned()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop(soon());
        }
    }
}

/// A client.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
    requested: String,
}

impl Api {
    pub(crate) fn get(&self, path: &str) -> ApiResponse {
        self.call("GET", path, None)
    }

    pub(crate) fn delete(&self, path: &str) -> ApiResponse {
        self.call("DELETE", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> ApiResponse {
        self.call("POST", path, Some(&body.to_string()))
    }

    pub(crate) fn act(&self, body: &Value) -> ApiResponse {
        self.post("/act", body)
    }

    /// What a script is worth in the last used tab.
    pub(crate) fn eval(&self, script: &str) -> Value {
        self.act(&json!({ "kind": "evaluate", "fn": script })).ok()["result"].take()
    }

    pub(crate) fn call(&self, method: &str, path: &str, body: Option<&str>) -> ApiResponse {
        let response = self.ask(method, path, body, "Accept: application/json\r\n");
        if response.status == 200 && path != "/openapi.json" {
            self.check(method, path, &response);
        }
        response
    }

    /// One request on a connection of its own, with further header lines.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&str>, headers: &str) -> ApiResponse {
        self.ask_as(&format!("Bearer {}", self.token), method, path, body, headers)
    }

    /// The same with another `Authorization`.
    pub(crate) fn ask_as(&self, who: &str, method: &str, path: &str, body: Option<&str>, headers: &str) -> ApiResponse {
        let mut socket = self.send_as(who, method, path, body, headers);
        let mut bytes = Vec::new();
        socket.read_to_end(&mut bytes).unwrap_or_else(|problem| panic!("{method} {path}: {problem}"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {path}: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        ApiResponse { status, head: head.to_owned(), text: body.to_owned(), requested: format!("{method} {path}") }
    }

    /// Sends a request and leaves the answer to be read.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&str>, headers: &str) -> TcpStream {
        self.send_as(&format!("Bearer {}", self.token), method, path, body, headers)
    }

    fn send_as(&self, who: &str, method: &str, path: &str, body: Option<&str>, headers: &str) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(150))).unwrap();
        let of_body = body.map(|body| format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {who}\r\nConnection: close\r\n{}{headers}\r\n",
            self.address,
            of_body.unwrap_or_default()
        );
        socket.write_all((head + body.unwrap_or_default()).as_bytes()).unwrap();
        socket
    }

    /// Follows events.
    pub(crate) fn events(&self, path: &str, headers: &str) -> Events {
        self.events_of("GET", path, None, headers)
    }

    /// Follows events that a request answers with.
    pub(crate) fn events_of(&self, method: &str, path: &str, body: Option<&str>, headers: &str) -> Events {
        let headers = format!("Accept: text/event-stream\r\n{headers}");
        let mut lines = BufReader::new(self.send(method, path, body, &headers));
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        if !line.contains(" 200 ") {
            let mut rest = String::new();
            std::io::Read::read_to_string(&mut lines, &mut rest).ok();
            panic!("{line} {rest}");
        }
        while line != "\r\n" {
            line.clear();
            lines.read_line(&mut line).unwrap();
        }
        Events { lines }
    }

    /// Asks until the answer is as wanted.
    pub(crate) fn until(&self, what: &str, path: &str, accept: impl Fn(&Value) -> bool) -> Value {
        let deadline = soon();
        loop {
            let response = self.get(path).ok();
            if accept(&response) {
                return response;
            }
            assert!(!deadline.passed(), "waited in vain for {what}, now: {response:#}");
            cdpilot::sync::pause(Duration::from_millis(20));
        }
    }

    /// The description of all routes.
    pub(crate) fn described(&self) -> &'static Value {
        static DESCRIBED: OnceLock<Value> = OnceLock::new();
        DESCRIBED.get_or_init(|| self.get("/openapi.json").json())
    }

    fn check(&self, method: &str, path: &str, response: &ApiResponse) {
        let described = self.described();
        let path = path.split('?').next().unwrap();
        let fits = |template: &str| {
            let (template, path): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
            let same = |(part, name): (&&str, &&str)| part == name || part.starts_with('{');
            template.len() == path.len() && template.iter().zip(&path).all(same)
        };
        let paths = described["paths"].as_object().unwrap();
        let found = paths.get_key_value(path).or_else(|| paths.iter().find(|(template, _)| fits(template)));
        let (_, operations) = found.unwrap_or_else(|| panic!("{path} is not described"));
        let content = &operations[method.to_lowercase()]["responses"]["200"]["content"]["application/json"];
        if let Err(problem) = schema::fits(described, &content["schema"], &response.json()) {
            panic!("{method} {path}: {problem} in {}", response.text);
        }
    }
}

impl ApiResponse {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|problem| panic!("{}: {problem}: {}", self.requested, self.text))
    }

    /// The answer of a success.
    pub(crate) fn ok(self) -> Value {
        let response = self.json();
        assert!(self.status == 200 && response["ok"] == true, "{}: {} {response:#}", self.requested, self.status);
        response
    }

    /// The answer of a failure: its status, its code and its shape.
    pub(crate) fn fails(self, status: u16, code: &str) -> Value {
        let response = self.json();
        assert_eq!((self.status, response["code"].as_str()), (status, Some(code)), "{}: {response:#}", self.requested);
        assert_eq!(response["ok"], false);
        assert!(response["error"].as_str().is_some_and(|error| error.len() > 10), "{response}");
        response
    }
}

/// A stream of events.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    /// The next event: its name, its id and what it says.
    pub(crate) fn next(&mut self) -> (String, String, Value) {
        self.try_next().expect("the stream has ended")
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn try_next(&mut self) -> Option<(String, String, Value)> {
        let (mut name, mut id, mut data) = (String::new(), String::new(), Value::Null);
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("event", value)) => name = value.to_owned(),
                Some(("id", value)) => id = value.to_owned(),
                Some(("data", value)) => data = serde_json::from_str(value).unwrap(),
                _ if line.is_empty() && !data.is_null() => return Some((name, id, data)),
                _ => {} // comments, lengths of chunks
            }
        }
    }

    /// The next event of a name.
    pub(crate) fn next_of(&mut self, wanted: &str) -> (String, Value) {
        loop {
            let (name, id, data) = self.next();
            if name == wanted {
                return (id, data);
            }
        }
    }
}
