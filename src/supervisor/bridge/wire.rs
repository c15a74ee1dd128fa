//! The format of calls and answers: an authentication code, a line feed, and the lines that it covers.
//!
//! Texts from the page are written in printable ASCII; `%` and all other UTF-16 units as `%` and four hexadecimal
//! digits. So the signed text arrives unchanged byte for byte, whatever the page's encoding, and lone surrogates are
//! preserved.

use super::mac::{self, Key};
use super::{Call, CallKind, Nonce, RefusedCall};

/// Maximum length of messages and default texts, in UTF-16 units; the script truncates longer ones.
pub(super) const TEXT_LIMIT: usize = 64 * 1024;
/// Maximum length of a call: two fully escaped texts, and room for the rest.
const BODY_LIMIT: usize = 2 * TEXT_LIMIT * 5 + 256;
/// Number of hexadecimal digits of a code or nonce.
const DIGITS: usize = 32;

/// Results in answers.
pub(super) const ACCEPTED: &str = "1";
pub(super) const DISMISSED: &str = "0";
pub(super) const NATIVE: &str = "n";

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGIT: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|half| char::from(DIGIT[usize::from(half)])).collect()
}

fn unhex(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; DIGITS] = text.try_into().ok()?;
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; DIGITS / 2];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn sign(key: Key, lines: &str) -> String {
    hex(&key.code(lines.as_bytes())) + "\n" + lines
}

/// Reads a call. Nothing but the code is parsed before it is verified.
pub(super) fn read_call(key: Key, body: &[u8]) -> Result<Call, RefusedCall> {
    if body.len() > BODY_LIMIT {
        return Err(RefusedCall::TooLong);
    }
    let (code, lines) = body.split_at_checked(DIGITS + 1).ok_or(RefusedCall::BadCode)?;
    let claimed = unhex(&code[..DIGITS]).filter(|_| code[DIGITS] == b'\n').ok_or(RefusedCall::BadCode)?;
    if !mac::same(claimed, key.code(lines)) {
        return Err(RefusedCall::BadCode);
    }
    std::str::from_utf8(lines).ok().and_then(parse_call).ok_or(RefusedCall::BadForm)
}

fn parse_call(lines: &str) -> Option<Call> {
    let mut lines = lines.split('\n');
    let mut next = || lines.next();
    if next()? != "q" {
        return None;
    }
    let document = u128::from_be_bytes(unhex(next()?.as_bytes())?);
    let number = next()?.parse().ok()?;
    let kind = match next()? {
        "alert" => CallKind::Alert,
        "confirm" => CallKind::Confirm,
        "prompt" => CallKind::Prompt,
        _ => return None,
    };
    let cut = next()? == "1";
    let (message, default_prompt) = (unescape(next()?)?, unescape(next()?)?);
    let nothing_more = next().is_none();
    nothing_more.then_some(Call { nonce: Nonce { document, number }, kind, message, default_prompt, cut })
}

pub(super) fn write_answer(key: Key, nonce: Nonce, verdict: &str, text: &str) -> String {
    let Nonce { document, number } = nonce;
    let document = hex(&document.to_be_bytes());
    sign(key, &format!("a\n{document}\n{number}\n{verdict}\n{}", escape(text)))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(plain @ b' '..=b'~') if plain != b'%' => out.push(char::from(plain)),
            _ => {
                out.push('%');
                out.push_str(&hex(&unit.to_be_bytes()));
            }
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut units = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'%' => {
                let (digits, tail) = rest.split_at_checked(4)?;
                let known = digits.iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
                let digits = std::str::from_utf8(digits).ok().filter(|_| known)?;
                units.push(u16::from_str_radix(digits, 16).ok()?);
                rest = tail;
            }
            b' '..=b'~' => units.push(u16::from(*first)),
            _ => return None,
        }
    }
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A call as the script writes it.
    pub(crate) fn write_call(key: Key, document: u128, number: u64, kind: &str, texts: [&str; 2]) -> String {
        let [message, default] = texts.map(escape);
        sign(key, &format!("q\n{}\n{number}\n{kind}\n0\n{message}\n{default}", hex(&document.to_be_bytes())))
    }

    proptest! {
        #[test]
        fn texts_come_back(text in any::<String>()) {
            let escaped = escape(&text);
            prop_assert!(escaped.bytes().all(|c| (b' '..=b'~').contains(&c)), "{escaped}");
            prop_assert_eq!(unescape(&escaped), Some(text));
        }

        #[test]
        fn unescape_never_panics(text in any::<String>()) {
            let _ = unescape(&text);
        }

        #[test]
        fn signed_nonsense_is_refused(lines in "[qa01n%\n ~0-9a-z]{0,200}") {
            let key = Key::new([7; 16]);
            let outcome = read_call(key, sign(key, &lines).as_bytes());
            prop_assert_eq!(outcome.map(drop), Err(RefusedCall::BadForm));
        }
    }
}
