//! One plain HTTP/1.1 GET, enough for a debugging port on this machine.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::error::Error;

/// For the connection and for each read or write.
const STEP: Duration = Duration::from_secs(5);
/// For the whole answer.
const WHOLE: Duration = Duration::from_secs(20);
/// The protocol description is 1.6 MB; ten times that is no description.
const LIMIT: usize = 16 << 20;

/// The body of a successful answer, as text.
///
/// # Errors
/// The address is not plain `http://`, nobody answers in time, or the answer is no success.
pub fn get(url: &str) -> Result<String, Error> {
    let fail = |problem: &dyn std::fmt::Display| Error::http(url, problem);
    let rest = url.strip_prefix("http://").ok_or_else(|| fail(&"only http:// is spoken here"))?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let with_port = if has_port(host) { host.to_owned() } else { format!("{host}:80") };
    let mut stream = connect(&with_port).map_err(|error| fail(&error))?;
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| fail(&error))?;
    let answer = read_answer(&mut stream).map_err(|error| fail(&error))?;
    let body = body(&answer).map_err(|error| fail(&error))?;
    String::from_utf8(body).map_err(|error| fail(&error))
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn connect(host: &str) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::other("the name has no address");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, STEP) {
            Ok(stream) => {
                stream.set_read_timeout(Some(STEP))?;
                stream.set_write_timeout(Some(STEP))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Reads until the answer is complete by its own measure, or the peer closes.
fn read_answer(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let end = Instant::now() + WHOLE;
    let mut answer = Vec::new();
    let mut chunk = vec![0; 64 << 10];
    while !complete(&answer) {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            break;
        }
        answer.extend_from_slice(&chunk[..count]);
        if answer.len() > LIMIT || Instant::now() > end {
            return Err(std::io::Error::other("the answer is too long or too slow"));
        }
    }
    Ok(answer)
}

fn complete(answer: &[u8]) -> bool {
    match Head::split(answer) {
        Some((head, body)) => match head.length {
            Length::Known(length) => body.len() >= length,
            Length::Chunked => body.ends_with(b"0\r\n\r\n") && unchunk(body).is_ok(),
            Length::UntilClose => false,
        },
        None => false,
    }
}

enum Length {
    Known(usize),
    Chunked,
    UntilClose,
}

struct Head {
    status: u16,
    length: Length,
}

impl Head {
    fn split(answer: &[u8]) -> Option<(Self, &[u8])> {
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&answer[..end]);
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let mut length = Length::UntilClose;
        for line in lines {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            match name.as_str() {
                "transfer-encoding" if value.eq_ignore_ascii_case("chunked") => {
                    length = Length::Chunked;
                }
                "content-length" if !matches!(length, Length::Chunked) => {
                    length = value.parse().map_or(Length::UntilClose, Length::Known);
                }
                _ => {}
            }
        }
        Some((Self { status, length }, &answer[end + 4..]))
    }
}

/// Takes the body out of a whole answer.
///
/// # Errors
/// Says what is wrong with the answer.
pub fn body(answer: &[u8]) -> Result<Vec<u8>, String> {
    let (head, body) = Head::split(answer).ok_or("the answer is not HTTP")?;
    if head.status != 200 {
        return Err(format!("answered with status {}", head.status));
    }
    match head.length {
        Length::Chunked => unchunk(body),
        Length::Known(length) if body.len() < length => Err("the answer is cut short".to_owned()),
        Length::Known(length) => Ok(body[..length].to_vec()),
        Length::UntilClose => Ok(body.to_vec()),
    }
}

fn unchunk(mut rest: &[u8]) -> Result<Vec<u8>, String> {
    let short = || "a chunk is cut short".to_owned();
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").ok_or_else(short)?;
        let line = String::from_utf8_lossy(&rest[..end]);
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| "a chunk has no size".to_owned())?;
        rest = &rest[end + 2..];
        if size == 0 {
            return Ok(body);
        }
        let after = size.checked_add(2).ok_or_else(short)?;
        if rest.len() < after {
            return Err(short());
        }
        body.extend_from_slice(&rest[..size]);
        rest = &rest[after..];
    }
}
