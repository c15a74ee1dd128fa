//! The demo's web sites: three host names on one loopback port. Chromium resolves names below `localhost` to this machine and
//! treats each as a separate site, so that frames of other hosts run in their own process.

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
pub(crate) struct Sites {
    pub(crate) port: u16,
    pub(crate) _server: Box<dyn std::any::Any>,
}

impl Sites {
    /// The address of a host's first page.
    pub(super) fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.port)
    }
}

/// The host names.
pub(super) fn hosts() -> [&'static str; 3] {
    ["a.localhost", "b.localhost", "c.localhost"]
}

/// The media type and the text of a page. `host`: as in the request, with the port.
pub(crate) fn page(host: &str, path: &str) -> Option<(&'static str, String)> {
    let (host, port) = host.split_once(':')?;
    let part = PARTS.iter().find(|(at, ..)| *at == path).map(|(_, kind, text)| (*kind, *text));
    let page = PAGES.iter().find(|(of, at, ..)| *of == host && *at == path);
    let found = part.filter(|_| hosts().contains(&host)).or_else(|| page.map(|(_, _, kind, text)| (*kind, *text)));
    found.map(|(kind, text)| (kind, text.replace("{{port}}", port)))
}
