//! Properties that must hold for any input. The fuzz targets call these checks, and so does an ordinary test with
//! the seeds, `crates/cli/tests/fuzz_seeds.rs`; a check fails by panicking.

use cdpilot::cdp::fuzzing::{self, DecodedItem};
use cdpilot::page::{CookieFormat, read_cookies};
use cdpilot_cli::fuzzing::{Read, stdin_lines};
use cdpilot_server::http::fuzzing::{Asked, BODY_BYTES, requests};
use serde_json::Value;
use serde_json::value::RawValue;

/// Splits a stream into pieces: the first byte is the number of cuts, the following bytes are their positions.
fn pieces(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (count, rest) = data.split_first()?;
    let (cuts, whole) = rest.split_at_checked(usize::from(*count) % 16)?;
    let mut pieces = Vec::new();
    let mut left = whole;
    for cut in cuts {
        let (piece, rest) = left.split_at(usize::from(*cut).min(left.len()));
        pieces.push(piece);
        left = rest;
    }
    pieces.push(left);
    Some((whole, pieces))
}

/// Cookie texts are parsed in every format: accepted cookies can be set, and each rejected one has a line number of the text.
pub fn cookie_text(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let lines = text.matches('\n').count() + 1;
    for format in [CookieFormat::Auto, CookieFormat::Netscape, CookieFormat::Json] {
        let read = read_cookies(&text, format, None, 1.8e9);
        for (line, cookie) in &read.cookies {
            assert!((1..=lines).contains(line), "line {line} of {lines}");
            let is_plain = |text: &str| !text.chars().any(|c| c == ';' || c.is_control());
            assert!(is_plain(&cookie.name) && is_plain(&cookie.value), "{cookie:?}");
            assert!(cookie.url.is_some() != cookie.domain.is_some(), "{cookie:?}");
        }
        for faulty in &read.rejected {
            assert!((1..=lines).contains(&faulty.line), "line {} of {lines}: {}", faulty.line, faulty.reason);
        }
    }
}

/// The envelope of a message is scanned without a panic, with the same result as the JSON library.
pub fn envelope(data: &[u8]) {
    let found = fuzzing::envelope_parts(data);
    assert_eq!(found.is_some(), fuzzing::envelope(data));
    let Ok(Value::Object(object)) = serde_json::from_slice(data) else { return };
    let found = found.expect("an object that the JSON library reads was refused");
    for body in [&found.params, &found.result, &found.error].into_iter().flatten() {
        serde_json::from_slice::<Value>(body).expect("a body is one value");
    }
    // The scanner recognises keys without escapes; of duplicate keys either may be used.
    let text = String::from_utf8_lossy(data);
    let keys = ["id", "method", "sessionId", "params", "result", "error"];
    if text.contains('\\') || keys.iter().any(|key| text.matches(&format!("\"{key}\"")).count() > 1) {
        return;
    }
    let string = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let body = |key: &str| object.get(key).filter(|value| key != "error" || !value.is_null()).cloned();
    let parsed = |body: Option<Vec<u8>>| body.and_then(|body| serde_json::from_slice(&body).ok());
    if let Some(id) = object.get("id").and_then(Value::as_u64).filter(|id| *id < 10_u64.pow(19)) {
        assert_eq!(found.id, Some(id));
    }
    assert_eq!((found.method, found.session), (string("method"), string("sessionId")));
    assert_eq!(parsed(found.params), body("params"));
    assert_eq!(parsed(found.result), body("result"));
    assert_eq!(parsed(found.error), body("error"));
}

/// Only lone surrogates are replaced: the length stays, valid text is unchanged, and no string is rejected because of a
/// surrogate afterwards.
pub fn surrogates(data: &[u8]) {
    let replaced = fuzzing::well_formed(data);
    assert_eq!(replaced.len(), data.len());
    assert_eq!(fuzzing::well_formed(&replaced), replaced);
    match (serde_json::from_slice::<Value>(data), serde_json::from_slice::<Value>(&replaced)) {
        (Ok(before), after) => assert_eq!(after.ok(), Some(before)),
        (Err(_), Err(problem)) if serde_json::from_slice::<&RawValue>(data).is_ok() => {
            let problem = problem.to_string();
            assert!(!problem.contains("surrogate") && !problem.contains("hex escape"), "{problem}");
        }
        _ => {}
    }
}

/// A stream gives the same messages however it is split, and none above the limit.
pub fn frame_decoder(data: &[u8]) {
    const LIMIT: usize = 300; // small, so that inputs of a few hundred bytes get there
    let Some((whole, pieces)) = pieces(data) else { return };
    for decode in [fuzzing::decode_frames, fuzzing::decode_pipe] {
        let at_once = decode(&[whole], LIMIT);
        assert_eq!(decode(&pieces, LIMIT), at_once, "pieces {:?}", pieces.iter().map(|p| p.len()).collect::<Vec<_>>());
        let each: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(decode(&each, LIMIT), at_once, "byte by byte");
        for came in &at_once.came {
            match came {
                DecodedItem::Message(bytes) => assert!(bytes.len() <= LIMIT),
                DecodedItem::Oversized(bytes) => assert!(*bytes > LIMIT),
                DecodedItem::Ping(bytes) => assert!(bytes.len() <= 125),
                DecodedItem::Pong | DecodedItem::Close(_) => {}
            }
        }
    }
}

/// Lines of standard input are the same however they are split; each one is accepted or rejected with a message.
pub fn stdin_requests(data: &[u8]) {
    let Some((whole, pieces)) = pieces(data) else { return };
    let read = stdin_lines(&[whole]);
    assert_eq!(stdin_lines(&pieces), read);
    for line in read {
        match line {
            Read::Request(text) => assert!(text.contains("Ok(")),
            Read::Invalid(problem) => assert!(!problem.is_empty()),
            Read::Empty => {}
        }
    }
}

/// A request to the dialog bridge that was not signed with its key is never accepted as a call.
pub fn bridge_request(data: &[u8]) {
    assert!(!cdpilot::supervisor::bridge::fuzzing::bridge_request(data), "a forged call was taken");
}

/// A connection gives the same requests however its bytes are split; none is above the limit, and nothing follows a
/// rejected one.
pub fn http_request(data: &[u8]) {
    let Some((whole, pieces)) = pieces(data) else { return };
    let at_once = requests(&[whole]);
    assert_eq!(requests(&pieces), at_once, "pieces {:?}", pieces.iter().map(|p| p.len()).collect::<Vec<_>>());
    let each: Vec<&[u8]> = whole.chunks(1).collect();
    assert_eq!(requests(&each), at_once, "byte by byte");
    for (n, asked) in at_once.iter().enumerate() {
        match asked {
            Asked::Request { path, body, .. } => assert!(!path.is_empty() && body.len() <= BODY_BYTES),
            Asked::Refused(status) => assert!((400..=503).contains(status) && n + 1 == at_once.len()),
        }
    }
}
