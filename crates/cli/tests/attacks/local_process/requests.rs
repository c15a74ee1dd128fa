//! Requests without a valid token, and requests that exhaust the server.

use std::io::{Read as _, Write as _};

use super::super::Attack;
use super::{Target, status};

pub(super) const ATTACKS: &[Attack<Target>] = &[
    Attack {
        name: "requests every route with no token, a wrong token, a part of the token, or the token in another place",
        witness: "an answer other than 401 and 403",
        run: every_route,
    },
    Attack {
        name: "requests routes with other spellings of their paths and other methods",
        witness: "an answer of success",
        run: spellings,
    },
    Attack {
        name: "names another host or origin",
        witness: "an answer other than 403, though the token is right",
        run: other_hosts,
    },
    Attack {
        name: "smuggles a second request into a request of ambiguous length",
        witness: "a second answer on the connection, or success of the first",
        run: smuggles,
    },
    Attack { name: "guesses the ticket of the web UI", witness: "the page with status 200", run: guesses_tickets },
    Attack {
        name: "replays a used ticket, and uses it as a token",
        witness: "a second secret, and an answer other than 401",
        run: replays_tickets,
    },
    Attack {
        name: "exhausts the memory for request bodies through a route without a token",
        witness: "a request with the token, which must be answered",
        run: fills_bodies,
    },
    Attack {
        name: "holds every connection with a head that never ends",
        witness: "requests with the token meanwhile, which must be answered",
        run: holds_connections,
    },
    Attack {
        name: "sends a body without an end",
        witness: "bytes that the server reads, and a request with the token meanwhile",
        run: endless_body,
    },
    Attack {
        name: "sends a head of megabytes, of thousands of lines, or of empty lines",
        witness: "an answer of success, and bytes that the server reads",
        run: huge_heads,
    },
];

fn every_route(target: &Target) -> Result<(), String> {
    let token = target.token();
    let credentials = [
        String::new(),
        format!("Authorization: Bearer {}\r\n", "0".repeat(64)),
        format!("Authorization: Bearer {}\r\n", &token[..63]),
        format!("Authorization: Bearer {token}0\r\n"),
        format!("Authorization: Basic {token}\r\n"),
        format!("Authorization: Ticket {token}\r\n"),
        format!("Cookie: token={token}; Authorization=Bearer {token}\r\n"),
        format!("X-Token: {token}\r\nProxy-Authorization: Bearer {token}\r\n"),
        format!("Authorization: Bearer {token}\r\nAuthorization: Bearer x\r\n"),
    ];
    let described = target.served.api.described();
    let mut routes: Vec<(String, String)> = Vec::new();
    for (path, operations) in described["paths"].as_object().unwrap() {
        let path: Vec<&str> = path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect();
        let methods = operations.as_object().unwrap().keys().map(|method| method.to_uppercase());
        routes.extend(methods.filter(|method| method != "PARAMETERS").map(|method| (method, path.join("/"))));
    }
    for more in ["/mcp", "/events", "/openapi.json", "/ui/ticket", "/ui/secret", "/nothing"] {
        routes.extend(["GET", "POST", "DELETE"].map(|method| (method.to_owned(), more.to_owned())));
    }
    assert!(routes.len() > 40, "{routes:?}");
    for (method, path) in routes.iter().filter(|(method, path)| !(method == "GET" && path == "/health")) {
        let body = if method == "GET" { "" } else { "{}" };
        for credential in &credentials {
            let query = format!("{path}?token={token}&access_token={token}&ticket={token}");
            for path in [path, &query] {
                match target.status(method, path, credential, body) {
                    // 403: a ticket is refused before it is looked at, where it does not come from the page.
                    401 | 403 => {}
                    other => return Err(format!("{method} {path} with {credential:?}: {other}")),
                }
            }
        }
    }
    Ok(())
}

fn spellings(target: &Target) -> Result<(), String> {
    for path in [
        "//health",
        "/health/",
        "/health/../profiles",
        "/health/..%2fprofiles",
        "/health%2f..%2fprofiles",
        "/%68ealth",
        "/HEALTH",
        "/health;/profiles",
        "/health%00",
        "/health%3f/profiles",
        "/./health",
        "/%2e/health",
        "//profiles",
        "/%2e%2e/profiles",
        "/profiles/../health",
        "/health\\..\\profiles",
        "/profiles",
        "*",
    ] {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"] {
            let answered = target.status(method, path, "", "");
            if !(400..500).contains(&answered) {
                return Err(format!("{method} {path}: {answered}"));
            }
        }
    }
    for (method, path) in [("CONNECT", target.host()), ("CONNECT", "evil.test:80".to_owned())] {
        let answered = target.status(method, &path, "", "");
        if !(400..500).contains(&answered) {
            return Err(format!("{method} {path}: {answered}"));
        }
    }
    for (method, path) in [("POST", "/health"), ("DELETE", "/health"), ("TRACE", "/health"), ("PUT", "/health")] {
        if target.status(method, path, "", "") != 401 {
            return Err(format!("{method} {path}"));
        }
    }
    Ok(())
}

fn other_hosts(target: &Target) -> Result<(), String> {
    let (bearer, own, port) = (target.bearer(), target.host(), target.served.api.address.port());
    let ask = |target: &str, host: &str, more: &str| {
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{bearer}{more}\r\n")
    };
    for host in [
        format!("evil.test:{port}"),
        format!("127.0.0.1.evil.test:{port}"),
        format!("127.0.0.1:{port}.evil.test"),
        format!("evil.test@127.0.0.1:{port}"),
        format!("localhost.evil.test:{port}"),
        "127.0.0.1:1".to_owned(),
        "127.0.0.1".to_owned(),
        format!("0.0.0.0:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
    ] {
        for path in ["/profiles", "/health"] {
            let answered = status(&target.exchange(ask(path, &host, "").as_bytes()));
            if answered != 403 {
                return Err(format!("{path} of {host}: {answered}"));
            }
        }
    }
    for path in ["http://evil.test/profiles".to_owned(), format!("http://{own}@evil.test/profiles")] {
        let answered = status(&target.exchange(ask(&path, &own, "").as_bytes()));
        if answered != 403 {
            return Err(format!("{path}: {answered}"));
        }
    }
    for origin in ["null", "http://evil.test", "file://", "https://127.0.0.1", "http://localhost", ""] {
        let answered = status(&target.exchange(ask("/profiles", &own, &format!("Origin: {origin}\r\n")).as_bytes()));
        if answered != 403 {
            return Err(format!("Origin {origin:?}: {answered}"));
        }
    }
    Ok(())
}

fn smuggles(target: &Target) -> Result<(), String> {
    let (host, bearer) = (target.host(), target.bearer());
    let second = format!("GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let start = format!("POST /ui/ticket HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Type: application/json\r\n");
    // The framing is all that is wrong with them.
    let good = target.exchange(format!("{start}Content-Length: 2\r\n\r\n{{}}{second}").as_bytes());
    assert_eq!(good.matches("HTTP/1.1 200").count(), 2, "{good}");
    let chunked = "Transfer-Encoding: chunked\r\n";
    for (what, framing) in [
        ("two lengths", "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}".to_owned()),
        ("a length and chunks", format!("Content-Length: 2\r\n{chunked}\r\n2\r\n{{}}\r\n0\r\n\r\n")),
        ("chunks and a length", format!("{chunked}Content-Length: 2\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n")),
        ("two codings", format!("{chunked}Transfer-Encoding: identity\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n")),
        ("a list of codings", "Transfer-Encoding: chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("another coding", "Transfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("a blank before the colon", "Transfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n".to_owned()),
        ("a folded line", "X: y\r\n Content-Length: 2\r\n\r\n{}".to_owned()),
        ("a folded length", "Content-Length:\r\n 2\r\n\r\n{}".to_owned()),
        ("a bare line feed", "X: y\nContent-Length: 2\r\n\r\n{}".to_owned()),
        ("a bare carriage return", "X: y\rContent-Length: 2\r\n\r\n{}".to_owned()),
        ("a NUL", "X: y\0\r\nContent-Length: 2\r\n\r\n{}".to_owned()),
        ("a signed length", "Content-Length: +2\r\n\r\n{}".to_owned()),
        ("a length in hex", "Content-Length: 0x2\r\n\r\n{}".to_owned()),
        ("a list of lengths", "Content-Length: 2, 2\r\n\r\n{}".to_owned()),
        ("an empty length", "Content-Length: \r\n\r\n{}".to_owned()),
        ("a size that overflows", format!("{chunked}\r\n10000000000000002\r\n{{}}\r\n0\r\n\r\n")),
        ("a signed size", format!("{chunked}\r\n+2\r\n{{}}\r\n0\r\n\r\n")),
        ("a size with a bare line feed", format!("{chunked}\r\n2\n{{}}\r\n0\r\n\r\n")),
        ("an extension with a line feed", format!("{chunked}\r\n2;a\n{{}}\r\n0\r\n\r\n")),
        ("a chunk that goes on", format!("{chunked}\r\n2\r\n{{}}XX0\r\n\r\n")),
        ("two hosts", format!("Host: {host}\r\nContent-Length: 2\r\n\r\n{{}}")),
    ] {
        let answer = target.exchange(format!("{start}{framing}{second}").as_bytes());
        if answer.matches("HTTP/1.1 ").count() != 1 || !(400..500).contains(&status(&answer)) {
            return Err(format!("{what}: {answer}"));
        }
    }
    Ok(())
}

/// How the server answers to a ticket in the address of the page.
fn page(target: &Target, ticket: &str) -> u16 {
    target.status("GET", &format!("/?ticket={ticket}"), "Accept: text/html\r\n", "")
}

fn ticket(target: &Target) -> String {
    let url = target.served.server().ui_url().unwrap();
    url.split("ticket=").nth(1).unwrap().to_owned()
}

fn guesses_tickets(target: &Target) -> Result<(), String> {
    let ticket = ticket(target);
    let changed = |at: usize| {
        let with = if ticket.as_bytes()[at] == b'0' { "1" } else { "0" };
        format!("{}{with}{}", &ticket[..at], &ticket[at + 1..])
    };
    let mut guesses: Vec<String> = (0..64).map(changed).collect();
    guesses.extend((0..64).map(|length| ticket[..length].to_owned()));
    guesses.extend((0..100).map(|number| format!("{number:064x}")));
    guesses.extend([ticket.to_uppercase(), format!("{ticket}0"), format!(" {ticket}"), format!("{ticket}%00")]);
    guesses.extend([format!("x&ticket={}", changed(0)), "%s".to_owned(), target.token().to_owned()]);
    for guess in guesses.iter().filter(|guess| **guess != ticket) {
        let answered = page(target, &guess.replace(' ', "+"));
        if answered != 401 {
            return Err(format!("{guess}: {answered}"));
        }
    }
    assert_eq!(page(target, &ticket), 200, "the ticket itself");
    Ok(())
}

fn replays_tickets(target: &Target) -> Result<(), String> {
    let ticket = ticket(target);
    let own = format!("Origin: http://{}\r\n", target.host());
    let exchange = || {
        let headers = format!("Authorization: Ticket {ticket}\r\n{own}Connection: close\r\n");
        let host = target.host();
        let head = format!("POST /ui/secret HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Type: application/json\r\n");
        target.exchange(format!("{head}Content-Length: 2\r\n\r\n{{}}").as_bytes())
    };
    let first = exchange();
    assert_eq!(status(&first), 200, "{first}");
    let again = exchange();
    if status(&again) != 401 || page(target, &ticket) != 401 {
        return Err(again);
    }
    let body: serde_json::Value = serde_json::from_str(first.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let secret = body["secret"].as_str().unwrap();
    assert_eq!(target.status("GET", "/profiles", &format!("Authorization: Bearer {secret}\r\n"), ""), 200);
    for (path, credential) in [
        ("/profiles", format!("Authorization: Bearer {ticket}\r\n")),
        ("/profiles", format!("Authorization: Ticket {secret}\r\n")),
        ("/profiles", format!("Cookie: secret={secret}\r\n")),
    ] {
        let answered = target.status("GET", path, &credential, "");
        if answered != 401 {
            return Err(format!("{path} with {credential}: {answered}"));
        }
    }
    // A stolen UI secret cannot be extended.
    let renewed = target.status("POST", "/ui/ticket", &format!("Authorization: Bearer {secret}\r\n"), "{}");
    if renewed == 401 { Ok(()) } else { Err(format!("a new ticket for a secret: {renewed}")) }
}

/// Whether a request with the token is answered.
fn is_served(target: &Target) -> Result<(), String> {
    match target.status("POST", "/ui/ticket", &target.bearer(), "{}") {
        200 => Ok(()),
        other => Err(format!("a request with the token was answered with {other}")),
    }
}

fn fills_bodies(target: &Target) -> Result<(), String> {
    let host = target.host();
    let mut held = Vec::new();
    for (method, path) in [("GET", "/health"), ("HEAD", "/health"), ("POST", "/health"), ("GET", "/"), ("POST", "/act")]
    {
        for _ in 0..6 {
            let mut socket = target.connect();
            let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n");
            let _ = socket.write_all(format!("{head}Content-Length: 1048576\r\n\r\n{{").as_bytes());
            held.push(socket);
        }
    }
    is_served(target)
}

fn holds_connections(target: &Target) -> Result<(), String> {
    let host = target.host();
    let mut held = Vec::new();
    for number in 0..300 {
        let mut socket = target.connect();
        let _ = socket.write_all(format!("GET /health HTTP/1.1\r\nHost: {host}\r\nX: ").as_bytes());
        held.push(socket);
        if number % 50 == 49 {
            is_served(target)?;
        }
    }
    Ok(())
}

fn endless_body(target: &Target) -> Result<(), String> {
    const MOST: usize = 64 << 20;
    let host = target.host();
    for head in [
        format!(
            "POST /act HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        ),
        format!(
            "GET /health HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        ),
        format!("POST /act HTTP/1.1\r\nHost: {host}\r\nContent-Length: 18446744073709551615\r\n\r\n"),
    ] {
        let mut socket = target.connect();
        socket.write_all(head.as_bytes()).unwrap();
        let piece = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
        let mut taken = 0;
        while taken < MOST && socket.write_all(&piece).is_ok() {
            taken += piece.len();
        }
        if taken >= MOST {
            return Err(format!("{taken} bytes were taken"));
        }
        is_served(target)?;
    }
    Ok(())
}

fn huge_heads(target: &Target) -> Result<(), String> {
    const MOST: usize = 64 << 20;
    let host = target.host();
    let start = format!("GET /health HTTP/1.1\r\nHost: {host}\r\n");
    for head in [
        format!("{start}X: {}\r\n\r\n", "x".repeat(1 << 20)),
        format!("{start}{}\r\n", "X: y\r\n".repeat(5_000)),
        format!("{}{start}\r\n", "\r\n".repeat(5_000)),
        format!("GET /health?{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "x".repeat(1 << 20)),
        format!("{} /health HTTP/1.1\r\nHost: {host}\r\n\r\n", "G".repeat(1 << 20)),
    ] {
        let answered = status(&target.exchange(head.as_bytes()));
        // 0: the response was lost because the server did not read the remaining data.
        if answered == 200 {
            return Err(format!("{:.60}…: {answered}", head));
        }
    }
    let mut socket = target.connect();
    let mut taken = 0;
    while taken < MOST && socket.write_all(&[b'x'; 0x10000]).is_ok() {
        taken += 0x10000;
    }
    let _ = socket.read(&mut [0; 100]);
    if taken < MOST { is_served(target) } else { Err(format!("{taken} bytes were taken")) }
}
