//! Parses a [`Head`].
//!
//! Strict where two parsers could disagree about the end of a request (RFC 9112, section 11.2): one length only,
//! chunked only as the sole coding, no folded lines, no bare line feeds.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Instant;

use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;

use super::limits::MAX_HEADERS;
use super::request::{Framing, Head};

/// Parses a head including its empty line. The error is the message for the client.
pub(super) fn parse(bytes: &[u8], peer: SocketAddr, arrived: Instant) -> Result<Head, &'static str> {
    let mut lines = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut raw = httparse::Request::new(&mut lines);
    match raw.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
        Ok(_) => return Err("the request line or a header is malformed"),
        Err(httparse::Error::TooManyHeaders) => return Err("the request has more than 64 headers"),
        Err(httparse::Error::Version) => return Err("unsupported HTTP version; use HTTP/1.1"),
        Err(_) => return Err("the request line or a header is malformed"),
    }
    let old = raw.version == Some(0);
    let method =
        Method::from_bytes(raw.method.unwrap_or_default().as_bytes()).map_err(|_| "the method is malformed")?;
    let target = raw.path.unwrap_or_default();
    if !target.bytes().all(|b| (0x21..=0x7e).contains(&b) && b != b'#') {
        return Err("the request target is malformed");
    }
    let (authority, target) = absolute(target)?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if !(path.starts_with('/') || path == "*" && method == Method::OPTIONS) {
        return Err("the request target must be a path; begin it with /");
    }
    let mut headers = HeaderMap::with_capacity(raw.headers.len());
    for line in &*raw.headers {
        let name = HeaderName::from_bytes(line.name.as_bytes()).map_err(|_| "a header name is malformed")?;
        let value = HeaderValue::from_bytes(line.value).map_err(|_| "a header value is malformed")?;
        headers.append(name, value);
    }
    let hosts = headers.get_all(HOST).iter().count();
    if hosts > 1 || hosts == 0 && !old {
        return Err("the request must have exactly one Host header");
    }
    Ok(Head {
        segments: segments(path)?,
        query: pairs(query)?,
        framing: framing(&headers, old)?,
        keep_alive: keep_alive(&headers, old),
        expects_continue: expects_continue(&headers, old)?,
        path: path.to_owned(),
        authority,
        method,
        headers,
        peer,
        arrived,
    })
}

/// Splits an absolute request target into authority and path.
fn absolute(target: &str) -> Result<(Option<String>, &str), &'static str> {
    const SCHEME: &str = "http://";
    if !target.get(..SCHEME.len()).is_some_and(|start| start.eq_ignore_ascii_case(SCHEME)) {
        return Ok((None, target));
    }
    let rest = &target[SCHEME.len()..];
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match path {
        "" => Ok((Some(authority.to_owned()), "/")),
        path if path.starts_with('/') => Ok((Some(authority.to_owned()), path)),
        _ => Err("the path of the request target must begin with /"),
    }
}

fn framing(headers: &HeaderMap, old: bool) -> Result<Framing, &'static str> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let lengths = headers.get_all(CONTENT_LENGTH);
    if let Some(coding) = codings.next() {
        if headers.contains_key(CONTENT_LENGTH) {
            return Err("the request has both a Content-Length and a Transfer-Encoding");
        }
        if old || codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked") {
            return Err("unsupported Transfer-Encoding; only chunked is supported");
        }
        return Ok(Framing::Chunked);
    }
    let mut found = None;
    for length in lengths {
        let text = length.to_str().ok().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
        let text = text.ok_or("the Content-Length is not a number")?;
        // A number that does not fit exceeds every limit.
        let length = text.parse().unwrap_or(u64::MAX);
        if found.is_some_and(|found| found != length) {
            return Err("the request has several Content-Length values");
        }
        found = Some(length);
    }
    Ok(Framing::Length(found.unwrap_or(0)))
}

fn keep_alive(headers: &HeaderMap, old: bool) -> bool {
    let says = |wanted: &str| {
        let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|token| token.trim().eq_ignore_ascii_case(wanted))
    };
    !says("close") && (!old || says("keep-alive"))
}

fn expects_continue(headers: &HeaderMap, old: bool) -> Result<bool, &'static str> {
    match headers.get(EXPECT) {
        None => Ok(false),
        Some(value) if value.as_bytes().eq_ignore_ascii_case(b"100-continue") => Ok(!old),
        Some(_) => Err("unsupported Expect header; only 100-continue is supported"),
    }
}

fn segments(path: &str) -> Result<Vec<String>, &'static str> {
    let Some(path) = path.strip_prefix('/').filter(|path| !path.is_empty()) else { return Ok(Vec::new()) };
    path.split('/').map(|part| decode(part, false).ok_or("the path is not percent-encoded UTF-8")).collect()
}

fn pairs(query: &str) -> Result<Vec<(String, String)>, &'static str> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    let decoded = |text: &str| decode(text, true).ok_or("the query is not percent-encoded UTF-8");
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            Ok((decoded(name)?, decoded(value)?))
        })
        .collect()
}

/// Percent-decodes. In forms, a plus is a space and a stray percent sign is kept.
fn decode(text: &str, form: bool) -> Option<String> {
    let is_code = |rest: &str| rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    if !form && !text.split('%').skip(1).all(is_code) {
        return None;
    }
    let text = if form { Cow::Owned(text.replace('+', " ")) } else { Cow::Borrowed(text) };
    percent_decode_str(&text).decode_utf8().ok().map(Cow::into_owned)
}
