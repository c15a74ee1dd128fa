//! The demo's web sites: three host names on one loopback port. Chromium resolves names below `localhost` to this machine and
//! treats each as a separate site, so that frames of other hosts run in their own process.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tiny_http::{Header, Request, Response, Server};

use super::super::failure::Failure;
use crate::sync::{Thread, spawn};

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
    port: u16,
    server: Arc<Server>,
    // Ends once the server is unblocked, which dropping does first.
    _thread: Thread,
}

impl Sites {
    pub(super) fn start() -> Result<Self, Failure> {
        let failed = |problem: String| Failure::internal(format!("cannot serve local pages: {problem}"));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Arc::new(Server::http(address).map_err(|problem| failed(problem.to_string()))?);
        let port = server.server_addr().to_ip().map(|address| address.port()).unwrap_or_default();
        let serving = Arc::clone(&server);
        let thread = spawn("cli-sites", move || {
            for request in serving.incoming_requests() {
                answer(request, port);
            }
        });
        let thread = thread.map_err(|problem| failed(problem.to_string()))?;
        Ok(Self { port, server, _thread: thread })
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
    let asked = request.headers().iter().find(|header| header.field.equiv("Host"));
    let host = asked.map(|header| header.value.as_str()).unwrap_or_default();
    let host = host.split_once(':').map_or(host, |(name, _)| name);
    let found = page(host, request.url());
    // A reader that went away is none of our business.
    let _ = match found {
        None => request.respond(Response::empty(404)),
        Some((kind, text)) => {
            let text = text.replace("{{port}}", &port.to_string());
            let kind = Header::from_bytes("Content-Type", kind);
            request.respond(kind.into_iter().fold(Response::from_string(text), Response::with_header))
        }
    };
}

fn page(host: &str, path: &str) -> Option<(&'static str, &'static str)> {
    let part = PARTS.iter().find(|(at, ..)| *at == path).map(|(_, kind, text)| (*kind, *text));
    let page = PAGES.iter().find(|(of, at, ..)| *of == host && *at == path);
    part.filter(|_| Sites::hosts().contains(&host)).or_else(|| page.map(|(_, _, kind, text)| (*kind, *text)))
}
