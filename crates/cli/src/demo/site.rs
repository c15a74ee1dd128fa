//! The demo's web sites: three host names on one loopback port. Chromium resolves names below `localhost` to this machine and
//! treats each as a separate site, so that frames of other hosts run in their own process.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::StatusCode;

use super::super::failure::Failure;
use cdpilot_server::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};

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
    server: HttpServer,
}

impl Sites {
    pub(super) fn start() -> Result<Self, Failure> {
        let failed = |problem: io::Error| Failure::internal(format!("cannot serve local pages: {problem}"));
        let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).map_err(failed)?;
        let pages = Arc::new(Pages { port: listener.address().port() });
        let server = HttpServer::start(listener, Limits::default(), pages).map_err(failed)?;
        Ok(Self { server })
    }

    /// The address of a host's first page.
    pub(super) fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.server.address().port())
    }

    /// The host names.
    pub(super) fn hosts() -> [&'static str; 3] {
        ["a.localhost", "b.localhost", "c.localhost"]
    }
}

struct Pages {
    port: u16,
}

impl Handler for Pages {
    fn admit(&self, _: &Head) -> Result<(), Answer> {
        Ok(())
    }

    fn lane(&self, _: &Head) -> Lane {
        Lane::Control
    }

    fn handle(&self, request: Request) -> Answer {
        let host = request.header("host").unwrap_or_default();
        let host = host.split_once(':').map_or(host, |(name, _)| name);
        match page(host, &request.path) {
            None => Answer::bytes(StatusCode::NOT_FOUND, "text/plain", Vec::new()),
            Some((media_type, text)) => {
                let text = text.replace("{{port}}", &self.port.to_string());
                Answer::bytes(StatusCode::OK, media_type, text.into_bytes())
            }
        }
    }
}

fn page(host: &str, path: &str) -> Option<(&'static str, &'static str)> {
    let part = PARTS.iter().find(|(at, ..)| *at == path).map(|(_, kind, text)| (*kind, *text));
    let page = PAGES.iter().find(|(of, at, ..)| *of == host && *at == path);
    part.filter(|_| Sites::hosts().contains(&host)).or_else(|| page.map(|(_, _, kind, text)| (*kind, *text)))
}
