//! The HTTP client: one request and its answer on a connection of its own. No proxy, no redirects, no connection
//! pool. Answer heads are parsed by `httparse`.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use http::Uri;

use super::dial;
use crate::sync::Deadline;

/// Longest head of an answer, in bytes.
const MAX_HEAD: usize = 64 * 1024;
/// Most headers of an answer.
const MAX_HEADERS: usize = 100;
/// How long a read or write waits before it checks deadline and cancellation.
const SLICE: Duration = Duration::from_millis(100);
/// Bytes read at once.
const CHUNK: usize = 16 * 1024;

/// Why there is no answer. No variant names the address: it may hold a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The name or value of a header is not valid HTTP.
    #[error("a header name or value is not valid")]
    Header,
    /// The host has no address or refuses the connection.
    #[error("{problem}")]
    Connect { problem: String },
    /// A thread could not be started.
    #[error("cannot start a thread: {problem}")]
    Thread { problem: String },
    /// The deadline passed.
    #[error("no response within {} ms", .after.as_millis())]
    Timeout { after: Duration },
    /// The caller's deadline was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The connection broke.
    #[error("the connection broke ({0})")]
    Broken(io::ErrorKind),
    /// The endpoint closed the connection before a complete head.
    #[error("the endpoint closed the connection before it responded")]
    NoAnswer,
    /// The endpoint closed the connection before a complete body.
    #[error("the endpoint closed the connection during the response")]
    Incomplete,
    /// The head or the body exceeds its limit.
    #[error("the response of the endpoint is too long")]
    TooLong,
    /// The answer does not start with an HTTP status line.
    #[error("the endpoint does not speak HTTP")]
    NotHttp,
    /// The body is not encoded as its head says.
    #[error("the response of the endpoint is not valid HTTP")]
    Malformed,
}

/// A connected byte stream. Its operations wait until its own deadline.
pub trait Wire {
    /// What its operations fail with.
    type Error: From<Error>;

    /// Writes all of it.
    fn write_all(&self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Waits for bytes; 0 at the end of the stream.
    fn read_some(&self, into: &mut [u8]) -> Result<usize, Self::Error>;
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// Host, path and query; scheme and user information are not sent.
    pub uri: &'a Uri,
    /// Headers beside `Host`, `Connection` and `Content-Length`.
    pub headers: &'a [(String, String)],
    /// The body, if there is one.
    pub body: Option<&'a [u8]>,
    /// Longest body of the answer, in bytes.
    pub max_answer: usize,
}

/// The head of an answer and the bytes that arrived with it.
pub struct Head {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub rest: Vec<u8>,
}

impl Head {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// The path and query of a request line.
pub fn path(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
}

/// The `Host` header: host and port without user information.
pub fn host(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    uri.port_u16().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Appends headers after checking that each is one header and nothing more.
pub fn push_headers(head: &mut String, headers: &[(String, String)]) -> Result<(), Error> {
    for (name, value) in headers {
        let name_ok = http::HeaderName::from_bytes(name.as_bytes()).is_ok();
        if !name_ok || http::HeaderValue::from_str(value).is_err() {
            return Err(Error::Header);
        }
        head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
    }
    Ok(())
}

/// Sends a request and reads status and body of the answer.
pub fn exchange<W: Wire>(wire: &W, request: &Request<'_>) -> Result<(u16, Vec<u8>), W::Error> {
    let Request { method, uri, headers, body, max_answer } = *request;
    let mut head = format!("{method} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", path(uri), host(uri));
    if let Some(body) = body {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    push_headers(&mut head, headers)?;
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(body.unwrap_or_default());
    let sent = wire.write_all(&bytes);
    let head = match (read_head(wire), sent) {
        // An endpoint may refuse before it has read everything.
        (Ok(head), _) => head,
        (Err(_), Err(problem)) | (Err(problem), Ok(())) => return Err(problem),
    };
    let status = head.status;
    Ok((status, read_body(wire, head, max_answer)?))
}

/// Reads the head of an answer.
pub fn read_head<W: Wire>(wire: &W) -> Result<Head, W::Error> {
    let mut text = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = wire.read_some(&mut chunk)?;
        if count == 0 {
            return Err(Error::NoAnswer.into());
        }
        text.extend_from_slice(chunk.get(..count).unwrap_or_default());
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        match response.parse(&text) {
            Ok(httparse::Status::Complete(length)) => {
                let status = response.code.unwrap_or(0);
                let text_of = |value: &[u8]| String::from_utf8_lossy(value).trim().to_owned();
                let headers = response.headers.iter().map(|h| (h.name.to_owned(), text_of(h.value))).collect();
                return Ok(Head { status, headers, rest: text.split_off(length) });
            }
            Ok(httparse::Status::Partial) if text.len() <= MAX_HEAD => {}
            Ok(httparse::Status::Partial) => return Err(Error::TooLong.into()),
            Err(_) => return Err(Error::NotHttp.into()),
        }
    }
}

fn read_body<W: Wire>(wire: &W, head: Head, max: usize) -> Result<Vec<u8>, W::Error> {
    if head.status == 204 {
        return Ok(Vec::new());
    }
    let is_chunked = head.header("transfer-encoding").is_some_and(|t| t.eq_ignore_ascii_case("chunked"));
    let length = head.header("content-length").and_then(|l| l.parse::<usize>().ok());
    let mut raw = head.rest;
    let mut chunk = vec![0; CHUNK];
    loop {
        if raw.len() > max || length.is_some_and(|l| l > max) {
            return Err(Error::TooLong.into());
        }
        if is_chunked {
            match dechunk(&raw) {
                Some(Some(body)) => return Ok(body),
                Some(None) => {}
                None => return Err(Error::Malformed.into()),
            }
        } else if let Some(length) = length
            && raw.len() >= length
        {
            raw.truncate(length);
            return Ok(raw);
        }
        let count = wire.read_some(&mut chunk)?;
        if count == 0 {
            let is_open_ended = !is_chunked && length.is_none();
            return if is_open_ended { Ok(raw) } else { Err(Error::Incomplete.into()) };
        }
        raw.extend_from_slice(chunk.get(..count).unwrap_or_default());
    }
}

/// RFC 9112 section 7.1. `None`: not valid; `Some(None)`: incomplete.
fn dechunk(mut raw: &[u8]) -> Option<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let Some((size, length)) = (match httparse::parse_chunk_size(raw) {
            Ok(httparse::Status::Complete((at, size))) => Some((at, usize::try_from(size).ok()?)),
            Ok(httparse::Status::Partial) => None,
            Err(_) => return None,
        }) else {
            return Some(None);
        };
        if length == 0 {
            return Some(Some(body));
        }
        let Some(chunk) = raw.get(size..size.checked_add(length)?) else { return Some(None) };
        body.extend_from_slice(chunk);
        let Some(rest) = raw.get(size + length + 2..) else { return Some(None) };
        raw = rest;
    }
}

/// A plain TCP connection.
#[derive(Debug)]
pub struct Tcp<'a> {
    socket: TcpStream,
    began: Instant,
    deadline: Deadline<'a>,
}

impl<'a> Tcp<'a> {
    /// Connects to the host of an address within `limit`. Reads and writes wait until the deadline.
    ///
    /// # Errors
    /// Those of [`dial::tcp`], [`Error::Broken`].
    pub fn connect(uri: &Uri, limit: Duration, deadline: Deadline<'a>) -> Result<Self, Error> {
        let began = Instant::now();
        let port = uri.port_u16().unwrap_or(80);
        let socket = dial::tcp(uri.host().unwrap_or_default(), port, deadline.within(limit))?;
        let broken = |problem: io::Error| Error::Broken(problem.kind());
        socket.set_nodelay(true).map_err(broken)?;
        socket.set_read_timeout(Some(SLICE)).map_err(broken)?;
        socket.set_write_timeout(Some(SLICE)).map_err(broken)?;
        Ok(Self { socket, began, deadline })
    }

    /// Repeats an operation that waits for a slice at most.
    fn retry(&self, mut operation: impl FnMut() -> io::Result<usize>) -> Result<usize, Error> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        loop {
            if self.deadline.is_cancelled() {
                return Err(Error::Cancelled);
            }
            // Checked before each operation: an endpoint that sends a byte now and then must not hold the caller.
            if self.deadline.passed() {
                return Err(Error::Timeout { after: self.began.elapsed() });
            }
            match operation() {
                Ok(count) => return Ok(count),
                Err(problem) if !matches!(problem.kind(), Interrupted | TimedOut | WouldBlock) => {
                    return Err(Error::Broken(problem.kind()));
                }
                Err(_) => {}
            }
        }
    }
}

impl Wire for Tcp<'_> {
    type Error = Error;

    fn write_all(&self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let written = self.retry(|| (&self.socket).write(bytes))?;
            bytes = bytes.get(written..).filter(|_| written > 0).ok_or(Error::Broken(io::ErrorKind::WriteZero))?;
        }
        Ok(())
    }

    fn read_some(&self, into: &mut [u8]) -> Result<usize, Error> {
        self.retry(|| (&self.socket).read(into))
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    /// Answers with these bytes, a few at a time, whatever is written.
    struct Canned(Mutex<Vec<u8>>);

    impl Wire for Canned {
        type Error = Error;

        fn write_all(&self, _: &[u8]) -> Result<(), Error> {
            Err(Error::Broken(io::ErrorKind::BrokenPipe))
        }

        fn read_some(&self, into: &mut [u8]) -> Result<usize, Error> {
            let mut left = self.0.lock();
            let count = left.len().min(7).min(into.len());
            into[..count].copy_from_slice(&left[..count]);
            left.drain(..count);
            Ok(count)
        }
    }

    fn answer(bytes: &[u8], max_answer: usize) -> Result<(u16, Vec<u8>), Error> {
        let uri = Uri::from_static("http://h:1/a?b");
        let request = Request { method: "GET", uri: &uri, headers: &[], body: None, max_answer };
        exchange(&Canned(Mutex::new(bytes.to_vec())), &request)
    }

    #[test]
    fn an_endpoint_that_sends_a_byte_now_and_then_does_not_outlast_the_deadline() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let uri: Uri = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let drips = crate::sync::spawn("drips", move || {
            let (mut socket, _) = listener.accept().unwrap();
            while socket.write_all(b"x").is_ok() {
                crate::sync::pause(Duration::from_millis(2));
            }
        })
        .unwrap();
        let deadline = Deadline::after_millis(300);
        let connection = Tcp::connect(&uri, Duration::from_secs(5), deadline).unwrap();
        let mut byte = [0];
        let ended = (0..100_000).find_map(|_| connection.read_some(&mut byte).err());
        assert!(matches!(ended, Some(Error::Timeout { .. })), "{ended:?}");
        drop(connection);
        drips.join();
    }

    #[test]
    fn an_answer_is_complete_or_an_error() {
        let whole = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\n{\"a\": 1 }";
        assert_eq!(answer(whole, 9), Ok((400, b"{\"a\": 1 }".to_vec())), "also when the request was not read whole");
        for end in 1..whole.len() {
            let problem = answer(&whole[..end], 9).unwrap_err();
            assert!(matches!(problem, Error::Broken(_) | Error::Incomplete), "{end}: {problem}");
        }
        assert_eq!(answer(whole, 8), Err(Error::TooLong));
        assert_eq!(answer(b"HTTP/1.0 200 OK\r\n\r\nopen", 9), Ok((200, b"open".to_vec())));
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
        assert_eq!(answer(chunked, 99), Ok((200, b"abcd".to_vec())));
        assert_eq!(answer(&chunked[..chunked.len() - 9], 99), Err(Error::Incomplete));
    }

    #[test]
    fn a_header_that_is_more_than_one_is_refused() {
        let mut head = String::new();
        let push = |head: &mut String, name: &str, value: &str| push_headers(head, &[(name.into(), value.into())]);
        assert_eq!(push(&mut head, "X-A", "1\r\nX-B: 2"), Err(Error::Header));
        assert_eq!(push(&mut head, "X A", "1"), Err(Error::Header));
        assert_eq!(push(&mut head, "X-A", "1"), Ok(()));
        assert_eq!(head, "X-A: 1\r\n");
    }
}
