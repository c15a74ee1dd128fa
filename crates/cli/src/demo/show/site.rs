//! The demo's web sites: three host names on one loopback port. Chromium resolves names below `localhost` to this machine and
//! treats each as a separate site, so that frames of other hosts run in their own process.

use std::net::Ipv4Addr;
use std::sync::Arc;

use cdpilot::code::Code;
use cdpilot::sync::{Thread, spawn};
use tiny_http::{Header, Request, Response, Server};

use super::Problem;

/// The pages: host, path, type, text. `{{port}}` stands for the port.
const PAGES: [(&str, &str, &str, &str); 4] = [
    ("a.localhost", "/", HTML, include_str!("site/desk.html")),
    ("a.localhost", "/notes", HTML, include_str!("site/notes.html")),
    ("b.localhost", "/", HTML, include_str!("site/shop.html")),
    ("c.localhost", "/", HTML, include_str!("site/till.html")),
];
/// What they share.
const PARTS: [(&str, &str, &str); 2] = [
    ("/demo.css", "text/css; charset=utf-8", include_str!("site/demo.css")),
    ("/demo.js", "text/javascript; charset=utf-8", include_str!("site/demo.js")),
];
const HTML: &str = "text/html; charset=utf-8";

/// The running sites. Dropping them stops the server.
pub(super) struct Sites {
    server: Arc<Server>,
    port: u16,
    _thread: Thread,
}

impl Sites {
    pub(super) fn start() -> Result<Self, Problem> {
        let failed = |problem: &dyn std::fmt::Display| {
            Problem::new(Code::Internal, format!("cannot serve local pages: {problem}"))
        };
        let server = Arc::new(Server::http((Ipv4Addr::LOCALHOST, 0)).map_err(|problem| failed(&problem))?);
        let port = server.server_addr().to_ip().map(|address| address.port()).unwrap_or_default();
        let serving = Arc::clone(&server);
        let thread = spawn("demo-sites", move || {
            for request in serving.incoming_requests() {
                answer(request, port);
            }
        });
        Ok(Self { server, port, _thread: thread.map_err(|problem| failed(&problem))? })
    }

    /// The address of a host's first page.
    pub(super) fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.port)
    }

    /// The host names.
    pub(super) fn hosts() -> [&'static str; 3] {
        ["a.localhost", "b.localhost", "c.localhost"]
    }
}

impl Drop for Sites {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

fn answer(request: Request, port: u16) {
    let host = request.headers().iter().find(|header| header.field.equiv("Host")).map(|header| header.value.as_str());
    let host = host.and_then(|host| host.split(':').next()).unwrap_or_default();
    // A client that is gone needs no answer.
    let _ = match page(host, request.url()) {
        None => request.respond(Response::empty(404)),
        Some((media_type, text)) => {
            let header = Header::from_bytes("Content-Type", media_type);
            let response = Response::from_string(text.replace("{{port}}", &port.to_string()));
            request.respond(header.into_iter().fold(response, Response::with_header))
        }
    };
}

fn page(host: &str, path: &str) -> Option<(&'static str, &'static str)> {
    let part = PARTS.iter().find(|(at, ..)| *at == path).map(|(_, kind, text)| (*kind, *text));
    let page = PAGES.iter().find(|(of, at, ..)| *of == host && *at == path);
    part.filter(|_| Sites::hosts().contains(&host)).or_else(|| page.map(|(_, _, kind, text)| (*kind, *text)))
}
