//! Heads of requests and responses.

use super::Destination;

/// Maximum size of a head in bytes.
pub(super) const LONGEST: usize = 256 * 1024;
/// Maximum number of header lines.
const LINES: usize = 256;
/// Headers that are about one connection.
const OF_CONNECTION: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "upgrade"];

/// What a head says, and how it is passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read<T> {
    /// More bytes are needed.
    Partial,
    /// It is not valid.
    Invalid,
    /// It has this many bytes.
    Whole(T, usize),
}

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) to: Destination,
    /// The head to send; empty for `CONNECT`.
    pub(super) sent: Vec<u8>,
}

/// Reads the head of a request: `CONNECT host:port`, or a method and an `http://` address.
pub(super) fn request(bytes: &[u8]) -> Read<RequestHead> {
    let mut lines = [httparse::EMPTY_HEADER; LINES];
    let mut parsed = httparse::Request::new(&mut lines);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < LONGEST => return Read::Partial,
        _ => return Read::Invalid,
    };
    let (Some(method), Some(target)) = (parsed.method, parsed.path) else { return Read::Invalid };
    if method == "CONNECT" {
        return match place(target, None) {
            Some((host, port)) => {
                Read::Whole(RequestHead { to: Destination { host, port, is_tunnel: true }, sent: Vec::new() }, length)
            }
            None => Read::Invalid,
        };
    }
    let rest = target.get(..7).filter(|start| start.eq_ignore_ascii_case("http://")).and_then(|_| target.get(7..));
    let Some(rest) = rest else { return Read::Invalid };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    // A user name would make another host of it.
    let found = (!authority.contains('@')).then(|| place(authority, Some(80))).flatten();
    let Some((host, port)) = found else { return Read::Invalid };
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let mut sent = format!("{method} {path} HTTP/1.1\r\n").into_bytes();
    append(&mut sent, parsed.headers);
    Read::Whole(RequestHead { to: Destination { host, port, is_tunnel: false }, sent }, length)
}

/// Reads the head of a response, and whether another one follows (`100 Continue`).
pub(super) fn response(bytes: &[u8]) -> Read<(Vec<u8>, bool)> {
    let mut lines = [httparse::EMPTY_HEADER; LINES];
    let mut parsed = httparse::Response::new(&mut lines);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < LONGEST => return Read::Partial,
        _ => return Read::Invalid,
    };
    let code = parsed.code.unwrap_or_default();
    let mut sent = format!("HTTP/1.1 {code} {}\r\n", parsed.reason.unwrap_or_default()).into_bytes();
    append(&mut sent, parsed.headers);
    Read::Whole((sent, (100..200).contains(&code)), length)
}

/// Appends header lines without those about the connection, which ends with this message.
fn append(sent: &mut Vec<u8>, lines: &[httparse::Header<'_>]) {
    for line in lines.iter().filter(|line| !OF_CONNECTION.iter().any(|name| line.name.eq_ignore_ascii_case(name))) {
        sent.extend_from_slice(line.name.as_bytes());
        sent.extend_from_slice(b": ");
        sent.extend_from_slice(line.value);
        sent.extend_from_slice(b"\r\n");
    }
    sent.extend_from_slice(b"Connection: close\r\n\r\n");
}

/// Host and port of `host:port`.
fn place(authority: &str, usual: Option<u16>) -> Option<(String, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            (host, port.strip_prefix(':'))
        }
        None => match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = port.filter(|port| !port.is_empty()).map_or(usual.ok_or(()), |port| port.parse().map_err(drop)).ok()?;
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    (!host.is_empty() && host.chars().all(is_host)).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(text: &str) -> Option<(String, u16, bool, String)> {
        match request(text.as_bytes()) {
            Read::Whole(RequestHead { to, sent }, length) => {
                assert_eq!(length, text.len());
                Some((to.host, to.port, to.is_tunnel, String::from_utf8(sent).unwrap()))
            }
            Read::Partial | Read::Invalid => None,
        }
    }

    #[test]
    fn requests_are_sent_in_origin_form_and_close() {
        let text = "GET http://Shop.test:8080/a?b HTTP/1.1\r\nHost: shop.test:8080\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: x\r\nCookie: a=b\r\n\r\n";
        let sent = "GET /a?b HTTP/1.1\r\nHost: shop.test:8080\r\nCookie: a=b\r\nConnection: close\r\n\r\n";
        assert_eq!(to(text), Some(("shop.test".to_owned(), 8080, false, sent.to_owned())));
        for (target, host, port, path) in [
            ("http://a.test", "a.test", 80, "/"),
            ("http://a.test.?q", "a.test", 80, "/?q"),
            ("HTTP://[::1]:81/x", "::1", 81, "/x"),
            ("http://127.0.0.1/", "127.0.0.1", 80, "/"),
        ] {
            let (found, number, _, sent) = to(&format!("GET {target} HTTP/1.1\r\n\r\n")).unwrap();
            assert_eq!((&*found, number), (host, port), "{target}");
            assert!(sent.starts_with(&format!("GET {path} HTTP/1.1\r\n")), "{sent}");
        }
        assert_eq!(to("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n").unwrap().0, "a.test");
        assert_eq!(to("CONNECT [::1]:443 HTTP/1.1\r\n\r\n").unwrap(), ("::1".to_owned(), 443, true, String::new()));
    }

    #[test]
    fn what_names_no_host_is_invalid() {
        for target in [
            "GET / HTTP/1.1",
            "GET http:/// HTTP/1.1",
            "GET https://a.test/ HTTP/1.1",
            "GET http://a.test@b.test/ HTTP/1.1",
            "GET http://a.test:99999/ HTTP/1.1",
            "GET ftp://a.test/ HTTP/1.1",
            "CONNECT a.test HTTP/1.1",
            "CONNECT a.test:443:444/ HTTP/1.1",
            "CONNECT :443 HTTP/1.1",
            "SSH-2.0-OpenSSH",
        ] {
            assert_eq!(request(format!("{target}\r\n\r\n").as_bytes()), Read::Invalid, "{target}");
        }
        assert_eq!(request(b"GET http://a.test/ HTTP/1.1\r\nHost:"), Read::Partial);
        assert_eq!(request(&vec![b'a'; LONGEST]), Read::Invalid);
    }

    #[test]
    fn responses_say_that_the_connection_ends() {
        let text = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
        let expected = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n".to_vec();
        assert_eq!(response(text.as_bytes()), Read::Whole((expected, false), text.len() - 2));
        assert!(matches!(response(b"HTTP/1.1 103 Early Hints\r\n\r\n"), Read::Whole((_, true), _)));
        assert_eq!(response(b"HTTP/1.1 200"), Read::Partial);
        assert_eq!(response(b"garbage\r\n\r\n"), Read::Invalid);
    }
}
