//! The envelope of a message: id, method, session, and the position of its body.
//!
//! The body is not inspected; its consumer decodes it. So a flood of events costs the reader little, and a malformed
//! body affects only its consumer.

use std::borrow::Cow;
use std::ops::Range;

/// The envelope of a message. Ranges are byte positions in the message.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) id: Option<u64>,
    pub(super) method: Option<Cow<'a, str>>,
    pub(super) session: Option<Cow<'a, str>>,
    pub(super) params: Option<Range<usize>>,
    pub(super) result: Option<Range<usize>>,
    pub(super) error: Option<Range<usize>>,
}

/// Scans a message. `None` if it is not a single JSON object.
pub(super) fn scan(text: &[u8]) -> Option<Envelope<'_>> {
    let mut envelope = Envelope::default();
    let mut at = skip_space(text, 0);
    at = expect(text, at, b'{')?;
    at = skip_space(text, at);
    if text.get(at) == Some(&b'}') {
        return end(text, at + 1).then_some(envelope);
    }
    loop {
        let key = at + 1..skip_string(text, at)? - 1;
        at = skip_space(text, key.end + 1);
        at = expect(text, at, b':')?;
        at = skip_space(text, at);
        let value = at..skip_value(text, at)?;
        at = skip_space(text, value.end);
        match &text[key] {
            b"id" => envelope.id = number(&text[value]),
            b"method" => envelope.method = string(&text[value]),
            b"sessionId" => envelope.session = string(&text[value]),
            b"params" => envelope.params = Some(value),
            b"result" => envelope.result = Some(value),
            // Some servers write the absent one of `result` and `error` as null.
            b"error" if &text[value.clone()] != b"null" => envelope.error = Some(value),
            _ => {}
        }
        match text.get(at)? {
            b',' => at = skip_space(text, at + 1),
            b'}' => return end(text, at + 1).then_some(envelope),
            _ => return None,
        }
    }
}

fn expect(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    (text.get(at) == Some(&byte)).then_some(at + 1)
}

fn end(text: &[u8], at: usize) -> bool {
    skip_space(text, at) == text.len()
}

pub(super) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// `at` is the position of the opening quote; returns the position after the closing one.
pub(super) fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    let mut at = expect(text, at, b'"')?;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2; // the backslash and the escaped character
    }
}

/// `at` is the position of the first byte of a value; returns the position after it. Brackets are counted, not matched:
/// errors are detected when the value is decoded.
fn skip_value(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match text.get(at)? {
            b'"' => at = skip_string(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b'}' | b']' | b',' | b':' if depth == 0 => return None,
            _ if depth == 0 => {
                let from = at;
                while let Some(b) = text.get(at) {
                    if matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') {
                        break;
                    }
                    at += 1;
                }
                return (at > from).then_some(at);
            }
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// A string value. Session ids and method names contain no escapes, so they are borrowed.
fn string(value: &[u8]) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_some() {
        return serde_json::from_slice::<String>(value).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

/// A call id. Call ids are assigned by this side, so only whole numbers are valid. Proxies that re-encode messages may
/// write `7` as `7.0`.
fn number(value: &[u8]) -> Option<u64> {
    let value = value.strip_suffix(b".0").unwrap_or(value);
    if value.is_empty() || value.len() > 19 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(value.iter().fold(0, |n, digit| n * 10 + u64::from(digit - b'0')))
}
