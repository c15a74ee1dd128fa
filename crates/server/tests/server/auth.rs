//! Authentication of the control server, over sockets.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use cdpilot_server::config::Token;
use cdpilot_server::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};
use cdpilot_server::server::{Auth, Tickets};
use http::StatusCode;
use proptest::prelude::*;

use crate::support::raw::{Got, Raw};

const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

struct Desk(Auth);

impl Handler for Desk {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        self.0.check(head)
    }

    fn lane(&self, _: &Head) -> Lane {
        Lane::Control
    }

    fn handle(&self, _: Request) -> Answer {
        Answer::bytes(StatusCode::OK, "text/plain", b"in".to_vec())
    }
}

struct Guarded {
    server: HttpServer,
    tickets: Arc<Tickets>,
    port: u16,
}

fn guarded() -> Guarded {
    let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let allowed = ["Pilot.Example.com".to_owned(), "other.example:8443".to_owned(), "bad:port".to_owned()];
    let auth = Auth::new(Token::given(TOKEN), listener.address(), &allowed);
    let tickets = Arc::clone(auth.tickets());
    let port = listener.address().port();
    Guarded { server: HttpServer::start(listener, Limits::default(), Arc::new(Desk(auth))).unwrap(), tickets, port }
}

impl Guarded {
    /// Sends a head in which `PORT` is replaced by the port of the server.
    #[track_caller]
    fn ask(&self, first: &str, headers: &[&str]) -> Got {
        let head = format!("{first} HTTP/1.1\r\n{}\r\n\r\n", headers.join("\r\n"));
        Raw::to(&self.server).send(head.replace("PORT", &self.port.to_string())).answer()
    }

    /// The status and, of a failure, the code.
    #[track_caller]
    fn reply(&self, first: &str, headers: &[&str]) -> (u16, String) {
        let got = self.ask(first, headers);
        assert!(!got.text().contains(TOKEN), "{}", got.text());
        (got.status, if got.status >= 400 { got.code() } else { String::new() })
    }

    /// With a good host and token.
    #[track_caller]
    fn with(&self, more: &str) -> (u16, String) {
        let token = format!("Authorization: Bearer {TOKEN}");
        self.reply("GET /tabs", &["Host: 127.0.0.1:PORT", &token, more])
    }

    /// The secret that a ticket is exchanged for, as the header that shows it.
    fn secret(&self) -> String {
        let ticket = self.tickets.issue().unwrap();
        let body = self.exchange(&ticket, &["Origin: http://127.0.0.1:PORT"]);
        assert_eq!(body, in_());
        // The handler exchanges it; here authentication is tested alone.
        format!("Authorization: Bearer {}", self.tickets.exchange(&ticket).unwrap().unwrap())
    }

    /// How the auth takes a request to exchange a ticket.
    #[track_caller]
    fn exchange(&self, ticket: &str, headers: &[&str]) -> (u16, String) {
        let ticket = format!("Authorization: Ticket {ticket}");
        let own = ["Host: 127.0.0.1:PORT", ticket.as_str(), "Content-Type: application/json", "Content-Length: 2"];
        let all: Vec<&str> = own.into_iter().chain(headers.iter().copied()).collect();
        let head = format!("POST /ui/secret HTTP/1.1\r\n{}\r\n\r\n{{}}", all.join("\r\n"));
        let got = Raw::to(&self.server).send(head.replace("PORT", &self.port.to_string())).answer();
        (got.status, if got.status >= 400 { got.code() } else { String::new() })
    }
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

fn in_() -> (u16, String) {
    (200, String::new())
}

#[test]
fn every_route_requires_the_token() {
    let guarded = guarded();
    let host = "Host: 127.0.0.1:PORT";
    let short = &TOKEN[..63];
    for good in [format!("Authorization: Bearer {TOKEN}"), format!("authorization: bearer  {TOKEN}")] {
        assert_eq!(guarded.reply("GET /tabs", &[host, &good]), in_(), "{good}");
    }
    for bad in [
        "X: none".to_owned(),
        "Authorization: ".to_owned(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer ".to_owned(),
        format!("Authorization: {TOKEN}"),
        format!("Authorization: Basic {TOKEN}"),
        format!("Authorization: Bearer {short}"),
        format!("Authorization: Bearer {short}0"),
        format!("Authorization: Bearer {TOKEN}0"),
        format!("Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer {TOKEN}"),
        format!("X-Token: {TOKEN}"),
        format!("Cookie: cdpilot_session={TOKEN}"),
        format!("Cookie: token={TOKEN}"),
    ] {
        for route in [
            "GET /tabs",
            "GET /",
            "POST /act",
            "DELETE /tabs/t1",
            "OPTIONS /tabs",
            "GET /nothing",
            "GET /health/",
            "POST /health",
            "GET //health",
        ] {
            assert_eq!(guarded.reply(route, &[host, &bad]), refused(401, "UNAUTHORIZED"), "{route} {bad}");
        }
    }
    let got = guarded.ask("GET /tabs", &[host]);
    assert_eq!((got.header("www-authenticate"), got.closes()), (Some("Bearer"), true));
    // Never in the address.
    for query in ["token", "access_token", "ticket", "key"] {
        assert_eq!(guarded.reply(&format!("GET /?{query}={TOKEN}"), &[host]), refused(401, "UNAUTHORIZED"), "{query}");
    }
    // Health needs none.
    assert_eq!(guarded.reply("GET /health", &[host]), in_());
    assert_eq!(guarded.reply("GET /health?x=1", &[host]), in_());
}

#[test]
fn requests_with_another_host_are_refused() {
    let guarded = guarded();
    let token = format!("Authorization: Bearer {TOKEN}");
    for good in [
        "127.0.0.1:PORT",
        "localhost:PORT",
        "LocalHost:PORT",
        "[::1]:PORT",
        "pilot.example.com",
        "PILOT.example.com:PORT".to_lowercase().replace("port", "PORT").as_str(),
        "other.example:8443",
    ] {
        assert_eq!(guarded.reply("GET /tabs", &[&format!("Host: {good}"), &token]), in_(), "{good}");
    }
    for bad in [
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:1",
        "127.0.0.1:PORT0",
        "127.0.0.1:+PORT",
        "127.0.0.1:PORT:PORT",
        "127.0.0.2:PORT",
        "127.1:PORT",
        "2130706433:PORT",
        "localhost",
        "localhost.:PORT",
        "localhost:80",
        "[::1]",
        "::1:PORT",
        "[::1]x:PORT",
        "[::ffff:127.0.0.1]:PORT",
        "0.0.0.0:PORT",
        "evil.example:PORT",
        "127.0.0.1.evil.example:PORT",
        "evil.example@127.0.0.1:PORT",
        "127.0.0.1:PORT,evil.example",
        "127.0.0.1:PORT/",
        "pilot.example.com:1",
        "other.example",
        "other.example:PORT",
        "x.pilot.example.com",
        "pilot.example.com.",
    ] {
        let host = format!("Host: {bad}");
        for route in ["GET /tabs", "GET /health", "POST /act", "GET /?ticket=x"] {
            assert_eq!(guarded.reply(route, &[&host, &token]), refused(403, "FORBIDDEN_HOST"), "{route} {bad:?}");
        }
    }
    // A target that names the host counts beside the header.
    assert_eq!(guarded.reply("GET http://localhost:PORT/tabs", &["Host: 127.0.0.1:PORT", &token]), in_());
    assert_eq!(
        guarded.reply("GET http://evil.example/tabs", &["Host: 127.0.0.1:PORT", &token]),
        refused(403, "FORBIDDEN_HOST")
    );
    assert_eq!(
        guarded.reply("GET http://127.0.0.1:PORT/tabs", &["Host: evil.example", &token]),
        refused(403, "FORBIDDEN_HOST")
    );
    // None at all.
    let mut old = Raw::to(&guarded.server);
    assert_eq!(old.send(format!("GET /health HTTP/1.0\r\n{token}\r\n\r\n")).answer().code(), "FORBIDDEN_HOST");
    assert_eq!(guarded.reply("GET /health", &[&token]), refused(400, "BAD_REQUEST"));
}

#[test]
fn cross_origin_requests_are_refused() {
    let guarded = guarded();
    for good in [
        "Origin: http://127.0.0.1:PORT",
        "Origin: http://LOCALHOST:PORT",
        "Origin: http://[::1]:PORT",
        "Origin: https://pilot.example.com",
        "Origin: http://pilot.example.com",
        "Sec-Fetch-Site: same-origin",
        "Sec-Fetch-Site: none",
    ] {
        let good = if good.contains("LOCAL") { good.replace("LOCALHOST", "LocalHost") } else { good.to_owned() };
        assert_eq!(guarded.with(&good), in_(), "{good}");
    }
    for bad in [
        "Origin: null",
        "Origin: ",
        "Origin: http://evil.example",
        "Origin: http://127.0.0.1",
        "Origin: http://127.0.0.1:1",
        "Origin: https://127.0.0.1:PORT",
        "Origin: file://",
        "Origin: 127.0.0.1:PORT",
        "Origin: http://127.0.0.1:PORT/",
        "Origin: http://127.0.0.1:PORT http://evil.example",
        "Origin: chrome-extension://127.0.0.1:PORT",
        "Origin: http://127.0.0.1:PORT\r\nOrigin: http://evil.example",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: ",
        "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site",
        "Origin: http://127.0.0.1:PORT\r\nSec-Fetch-Site: same-site",
    ] {
        assert_eq!(guarded.with(bad), refused(403, "FORBIDDEN_ORIGIN"), "{bad}");
        assert_eq!(
            guarded.reply("GET /health", &["Host: 127.0.0.1:PORT", bad]),
            refused(403, "FORBIDDEN_ORIGIN"),
            "{bad}"
        );
    }
    // A preflight is answered like any other request, without a word of CORS.
    let preflight = ["Host: 127.0.0.1:PORT", "Origin: http://evil.example", "Access-Control-Request-Method: POST"];
    let got = guarded.ask("OPTIONS /act", &preflight);
    assert_eq!((got.status, got.code().as_str()), (403, "FORBIDDEN_ORIGIN"));
    assert!(!got.headers.iter().any(|(name, _)| name.starts_with("access-control")));
}

#[test]
fn a_ticket_opens_only_the_ui_page() {
    let guarded = guarded();
    let host = "Host: 127.0.0.1:PORT";
    let ticket = guarded.tickets.issue().unwrap();
    assert!(ticket.len() == 64 && ticket.bytes().all(|b| b.is_ascii_hexdigit()), "{ticket}");
    for route in ["GET /tabs", "POST /", "GET /health/", "POST /ui/ticket", "POST /ui/secret"] {
        let route = format!("{route}?ticket={ticket}");
        assert_eq!(guarded.reply(&route, &[host]), refused(401, "UNAUTHORIZED"), "{route}");
    }
    let header = format!("Authorization: Ticket {ticket}");
    for route in ["GET /tabs", "GET /", "POST /ui/ticket", "GET /ui/secret", "POST /ui/secret/"] {
        assert_eq!(guarded.reply(route, &[host, &header]), refused(401, "UNAUTHORIZED"), "{route}");
    }
    for cookie in [&ticket, TOKEN] {
        let cookie = format!("Cookie: cdpilot_session={cookie}; token={cookie}");
        assert_eq!(guarded.reply("GET /tabs", &[host, &cookie]), refused(401, "UNAUTHORIZED"));
    }
    // Not for a page of others, and not spent by it.
    let page = format!("GET /?ticket={ticket}");
    assert_eq!(guarded.reply(&page, &[host, "Sec-Fetch-Site: cross-site"]), refused(403, "FORBIDDEN_ORIGIN"));
    // The page has no secret in it, so loading it again does no harm. No cookie is set, and nothing is sent elsewhere.
    for _ in 0..2 {
        let got = guarded.ask(&page, &[host, "Accept: text/html", "Sec-Fetch-Site: none"]);
        assert_eq!((got.status, got.header("set-cookie"), got.header("location")), (200, None, None));
    }
    // Without a ticket it says how to get in.
    for path in ["/", "/?ticket=", &format!("/?ticket={TOKEN}"), &format!("/?ticket={}", "0".repeat(64))] {
        let got = guarded.ask(&format!("GET {path}"), &[host, "Accept: text/html,*/*;q=0.8"]);
        assert_eq!((got.status, got.header("content-type")), (401, Some("text/html; charset=utf-8")), "{path}");
        assert!(got.text().contains("cdpilot ui"), "{path}");
        assert_eq!((got.header("set-cookie"), got.header("www-authenticate")), (None, Some("Bearer")));
        let policy = got.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'self';") && !policy.contains("unsafe"), "{policy}");
        // All scripts and styles are files of this server.
        let tags = got.text().matches("<script").count();
        assert!(tags == got.text().matches("src=\"/ui/").count() && !got.text().contains("<style"), "{path}");
    }
    assert_eq!(guarded.reply("GET /", &[host, "Accept: application/json"]), refused(401, "UNAUTHORIZED"));
}

#[test]
fn files_of_the_ui_need_no_token_and_nothing_else_below_them_is_open() {
    let guarded = guarded();
    let host = "Host: 127.0.0.1:PORT";
    for file in ["main.js", "style.css"] {
        assert_eq!(guarded.ask(&format!("GET /ui/{file}"), &[host]).status, 200, "{file}");
    }
    assert_eq!(guarded.reply("GET /ui/main.js", &["Host: evil.test"]), refused(403, "FORBIDDEN_HOST"));
    assert_eq!(guarded.reply("GET /ui/main.js", &[host, "Origin: http://evil.test"]), refused(403, "FORBIDDEN_ORIGIN"));
    for path in ["/ui/none.js", "/ui/index.html", "/ui/", "/ui/main.js/", "/ui/%6dain.js", "/ui/../tabs", "/ui/ticket"]
    {
        assert_eq!(guarded.reply(&format!("GET {path}"), &[host]), refused(401, "UNAUTHORIZED"), "{path}");
    }
    assert_eq!(guarded.reply("POST /ui/main.js", &[host]), refused(401, "UNAUTHORIZED"));
}

#[test]
fn a_ticket_is_exchanged_once_by_the_ui_origin() {
    let guarded = guarded();
    let ticket = guarded.tickets.issue().unwrap();
    for foreign in [
        &[][..],
        &["Sec-Fetch-Site: none"],
        &["Sec-Fetch-Site: same-site"],
        &["Sec-Fetch-Site: cross-site"],
        &["Origin: http://127.0.0.1:1"],
        &["Origin: null"],
        &["Origin: http://127.0.0.1:PORT", "Sec-Fetch-Site: same-site"],
    ] {
        assert_eq!(guarded.exchange(&ticket, foreign), refused(403, "FORBIDDEN_ORIGIN"), "{foreign:?}");
    }
    for wrong in ["", "x", TOKEN, &ticket[..63]] {
        let reply = guarded.exchange(wrong, &["Sec-Fetch-Site: same-origin"]);
        assert_eq!(reply, refused(401, "UNAUTHORIZED"), "{wrong}");
    }
    assert_eq!(guarded.exchange(&ticket, &["Sec-Fetch-Site: same-origin"]), in_());
    assert!(guarded.tickets.exchange(&ticket).unwrap().is_some());
    assert_eq!(guarded.exchange(&ticket, &["Sec-Fetch-Site: same-origin"]), refused(401, "UNAUTHORIZED"), "twice");
}

#[test]
fn a_ui_secret_is_sent_as_a_header_and_cannot_issue_tickets() {
    let guarded = guarded();
    let host = "Host: 127.0.0.1:PORT";
    let secret = guarded.secret();
    for route in ["GET /tabs", "GET /", "POST /act", "DELETE /tabs/t1", "GET /events"] {
        assert_eq!(guarded.reply(route, &[host, &secret]), in_(), "{route}");
        assert_eq!(
            guarded.reply(route, &[host, &secret, "Sec-Fetch-Site: same-site"]),
            refused(403, "FORBIDDEN_ORIGIN"),
            "{route}"
        );
        let cookie = secret.replace("Authorization: Bearer ", "Cookie: cdpilot_session=");
        assert_eq!(guarded.reply(route, &[host, &cookie, "Sec-Fetch-Site: same-origin"]), refused(401, "UNAUTHORIZED"));
    }
    // It ends by itself: it does not become another one.
    for route in ["POST /ui/ticket", "POST /ui/secret"] {
        assert_eq!(guarded.reply(route, &[host, &secret]), refused(401, "UNAUTHORIZED"), "{route}");
    }
    // Another server's tickets and secrets are its own.
    let other = self::guarded();
    assert_eq!(other.reply("GET /tabs", &[host, &secret]), refused(401, "UNAUTHORIZED"));
}

#[test]
fn no_response_contains_secrets() {
    let auth = Auth::new(Token::given(TOKEN), SocketAddr::from(([127, 0, 0, 1], 1)), &[]);
    let ticket = auth.tickets().issue().unwrap();
    let shown = format!("{auth:?}");
    assert!(!shown.contains(TOKEN) && !shown.contains(&ticket), "{shown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_other_host_or_origin_is_accepted(name in "[a-z0-9.:@\\[\\]-]{0,20}", port in proptest::option::of(any::<u16>()), origin in any::<bool>()) {
        static GUARDED: OnceLock<Guarded> = OnceLock::new();
        let guarded = GUARDED.get_or_init(guarded);
        let host = name + &port.map(|port| format!(":{port}")).unwrap_or_default();
        let ours = ["127.0.0.1", "localhost", "[::1]", "pilot.example.com"].map(|name| format!("{name}:{}", guarded.port));
        prop_assume!(!ours.contains(&host) && host != "pilot.example.com" && host != "other.example:8443");
        let token = format!("Authorization: Bearer {TOKEN}");
        let (status, _) = if origin {
            guarded.reply("GET /tabs", &["Host: 127.0.0.1:PORT", &format!("Origin: http://{host}"), &token])
        } else {
            guarded.reply("GET /tabs", &[&format!("Host: {host}"), &token])
        };
        prop_assert_eq!(status, 403);
    }
}
