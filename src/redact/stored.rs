//! A stored secret in all forms in which pages repeat it, and fingerprints to find it in a page that must not learn it.

use std::collections::{BTreeSet, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::Covered;

/// Length from which a secret is redacted within longer words too, in characters.
const LONG: usize = 8;
/// What `encodeURIComponent` leaves.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');
/// What forms leave when they encode fields.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*').remove(b' ');

/// The forms of a secret to redact: as it is, in upper and lower case, encoded for URLs, forms, HTML, JSON and as Base64.
pub fn forms_of(secret: &str) -> impl Iterator<Item = Covered> + use<> {
    let folded = secret.split_whitespace().collect::<Vec<_>>().join(" ");
    let reversed: String = secret.chars().rev().collect();
    let plain = [secret.to_owned(), folded, secret.to_uppercase(), secret.to_lowercase(), reversed];
    let is_short = secret.chars().count() < LONG;
    let mut unique: BTreeSet<String> = (0..3).flat_map(|offset| base64_at(secret, offset)).collect();
    for text in &plain {
        let json = serde_json::to_string(text).unwrap_or_default();
        unique.extend([
            utf8_percent_encode(text, COMPONENT).to_string(),
            utf8_percent_encode(text, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(text, FORM).to_string().replace(' ', "+"),
            in_html(text),
            in_html(text).replace('"', "&quot;"),
            in_html(text).replace('"', "&quot;").replace('\'', "&#39;"),
            in_html(text).replace('"', "&quot;").replace('\'', "&#x27;"),
            json.trim_matches('"').to_owned(),
            text.clone(),
        ]);
    }
    unique.into_iter().map(move |form| match form {
        form if is_short => Covered::alone(form),
        form if plain.contains(&form) => Covered::also_encoded(form),
        form => Covered::anywhere(form),
    })
}

/// Length of the shortest part of a typed secret that is redacted, in characters.
pub(super) const PART: usize = 6;
/// Longest secret whose parts are redacted, in characters.
const MOST_IN_PARTS: usize = 256;

/// The parts of a secret that are redacted once it was typed; `None` for one that has none, or too many.
#[allow(dead_code, reason = "not used in builds without tools")]
pub fn parts_of(secret: &str) -> Option<Covered> {
    let forms: Vec<String> = typed_forms(secret).collect();
    // A secret has no line breaks.
    (!forms.is_empty()).then(|| Covered::in_parts(forms.join("\n")))
}

/// A secret forwards and backwards, and in one case: nothing for a secret that has no parts, or too many.
fn typed_forms(secret: &str) -> impl Iterator<Item = String> + use<> {
    let length = secret.chars().count();
    let all = [secret.to_owned(), secret.chars().rev().collect(), secret.to_uppercase(), secret.to_lowercase()];
    let unique: BTreeSet<String> = all.into_iter().filter(|_| (PART..=MOST_IN_PARTS).contains(&length)).collect();
    unique.into_iter()
}

/// The parts of a secret that pages are searched for, once it was typed.
#[allow(dead_code, reason = "not used in builds without tools")]
pub fn fingerprinted_parts(secret: &str, base: u32) -> Vec<Fingerprint> {
    let windows = typed_forms(secret).flat_map(|form| windows(&form).map(str::to_owned).collect::<Vec<_>>());
    windows.map(|window| Fingerprint::of(&window, base)).collect()
}

/// All parts of a text with [`PART`] characters.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().map(|(at, _)| at);
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]).skip(PART);
    starts.zip(ends).filter_map(|(start, end)| text.get(start..end))
}

/// Redacts all parts of some forms of a secret, each a line, with at least [`PART`] characters; `None` if there are none.
pub(super) fn cover_parts(text: &str, forms: &str) -> Option<String> {
    let parts: HashSet<&str> = forms.lines().flat_map(windows).collect();
    let begins: HashSet<char> = forms.chars().collect();
    let (mut covered, mut rest, mut end) = (String::new(), 0, 0);
    for part in windows(text).filter(|part| part.chars().next().is_some_and(|c| begins.contains(&c))) {
        if !parts.contains(part) {
            continue;
        }
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        if start > end || end == 0 {
            covered.push_str(text.get(rest..start)?);
            covered.push_str(super::Secrets::COVER);
        }
        end = start + part.len();
        rest = end;
    }
    (end > 0).then(|| covered + text.get(rest..).unwrap_or_default())
}

/// What Base64 contains of a text that follows a number of other bytes, modulo 3, in both alphabets.
fn base64_at(text: &str, offset: usize) -> [String; 2] {
    let bytes: Vec<u8> = std::iter::repeat_n(0, offset).chain(text.bytes()).collect();
    // The characters that the bytes before and behind it share are left out.
    let (start, end) = ([0, 2, 3][offset], bytes.len() * 8 / 6);
    let part = |encoded: String| encoded.get(start..end).unwrap_or_default().to_owned();
    [part(STANDARD_NO_PAD.encode(&bytes)), part(URL_SAFE_NO_PAD.encode(&bytes))]
}

/// Whether a text may contain encoded characters, or ones that are not seen.
pub(super) fn may_be_encoded(text: &str) -> bool {
    text.contains(['%', '&', '\\']) || text.contains(UNSEEN)
}

/// Characters that are not seen.
const UNSEEN: [char; 6] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];

/// A byte of a decoded text, and the start and end of what stands for it.
#[derive(Clone, Copy)]
struct Decoded {
    byte: u8,
    start: usize,
    end: usize,
}

/// Redacts secrets of which some or all characters are encoded, also twice: for URLs, HTML or JSON. `None` if there are none.
pub(super) fn cover_encoded<'s>(text: &str, secrets: impl Iterator<Item = &'s str> + Clone) -> Option<String> {
    let plain = text.bytes().enumerate().map(|(start, byte)| Decoded { byte, start, end: start + 1 });
    let mut decoded: Vec<Decoded> = plain.collect();
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for _ in 0..2 {
        let before = decoded.len();
        decoded = decode(&decoded);
        if decoded.len() == before {
            break; // nothing is encoded
        }
        let bytes: Vec<u8> = decoded.iter().map(|decoded| decoded.byte).collect();
        for secret in secrets.clone().filter(|secret| !secret.is_empty()) {
            let found = memchr::memmem::find_iter(&bytes, secret.as_bytes());
            parts.extend(found.map(|at| (decoded[at].start, decoded[at + secret.len() - 1].end)));
        }
    }
    parts.sort_unstable();
    let (mut covered, mut rest) = (String::new(), 0);
    for (start, end) in parts {
        if start >= rest {
            covered.push_str(text.get(rest..start)?);
            covered.push_str(super::Secrets::COVER);
        }
        rest = rest.max(end);
    }
    (rest > 0).then(|| covered + text.get(rest..).unwrap_or_default())
}

/// Maximum number of bytes that stand for one character, as in `&#x10FFFF;`.
const LONGEST: usize = 12;

/// Decodes what is encoded once, and leaves out what is not seen.
fn decode(text: &[Decoded]) -> Vec<Decoded> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let mut window = [0; LONGEST];
        let ahead = &text[at..text.len().min(at + LONGEST)];
        window.iter_mut().zip(ahead).for_each(|(to, from)| *to = from.byte);
        match one(&window[..ahead.len()]) {
            None => {
                decoded.push(text[at]);
                at += 1;
            }
            Some((character, length)) => {
                let (start, end) = (text[at].start, text[at + length - 1].end);
                let mut bytes = [0; 4];
                let bytes: &[u8] = match &character {
                    Character::Byte(byte) => std::slice::from_ref(byte),
                    Character::Char(c) => c.encode_utf8(&mut bytes).as_bytes(),
                    Character::Unseen => &[],
                };
                decoded.extend(bytes.iter().map(|byte| Decoded { byte: *byte, start, end }));
                at += length;
            }
        }
    }
    decoded
}

/// What an encoded character stands for.
enum Character {
    Byte(u8),
    Char(char),
    Unseen,
}

/// The character at the start of a text if it is encoded or not seen, and how many bytes stand for it.
fn one(text: &[u8]) -> Option<(Character, usize)> {
    let hex = |digits: &[u8]| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let of = |code: u32| char::from_u32(code).map(Character::Char);
    match text {
        [b'%', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => {
            Some((Character::Byte(u8::try_from(hex(&[*a, *b])?).ok()?), 3))
        }
        [b'\\', b'u', digits @ ..] => Some((of(hex(digits.get(..4)?)?)?, 6)),
        [b'\\', next @ (b'"' | b'\\' | b'/'), ..] => Some((Character::Byte(*next), 2)),
        [b'&', rest @ ..] => {
            let end = rest.iter().position(|byte| *byte == b';')?;
            let character = match &rest[..end] {
                b"amp" => Character::Char('&'),
                b"lt" => Character::Char('<'),
                b"gt" => Character::Char('>'),
                b"quot" => Character::Char('"'),
                b"apos" => Character::Char('\''),
                [b'#', b'x' | b'X', digits @ ..] => of(hex(digits)?)?,
                [b'#', digits @ ..] => of(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
                _ => return None,
            };
            Some((character, end + 2))
        }
        // All begin with one of these bytes.
        [0xC2 | 0xE2 | 0xEF, ..] => {
            let unseen = UNSEEN.iter().find(|c| text.starts_with(c.encode_utf8(&mut [0; 4]).as_bytes()))?;
            Some((Character::Unseen, unseen.len_utf8()))
        }
        _ => None,
    }
}

/// A text as browsers write it in HTML.
fn in_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\u{a0}', "&nbsp;")
}

/// A fingerprint of a text: a page can find the text by it, but cannot read it from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Fingerprint {
    /// UTF-16 code units.
    pub(crate) length: usize,
    pub(crate) hash: u32,
}

impl Fingerprint {
    /// The fingerprint of a text: a polynomial of its UTF-16 code units at `base`, modulo 2^32.
    pub fn of(text: &str, base: u32) -> Self {
        let step = |(length, hash): (usize, u32), unit: u16| {
            (length + 1, hash.wrapping_mul(base).wrapping_add(u32::from(unit)))
        };
        let (length, hash) = text.encode_utf16().fold((0, 0), step);
        Self { length, hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::ChangingSecrets;

    #[test]
    fn a_secret_is_covered_in_all_its_forms() {
        let secret = "Tr0ub4 dor&3\"<é'/+";
        let changing = ChangingSecrets::default();
        changing.replace_covered(forms_of(secret));
        for text in [
            secret.to_owned(),
            secret.to_uppercase(),
            "tr0ub4 dor&3\"<é'/+".to_owned(),
            "Tr0ub4%20dor%263%22%3C%C3%A9'%2F%2B".to_owned(),
            "Tr0ub4+dor%263%22%3C%C3%A9%27%2F%2B".to_owned(),
            "Tr0ub4 dor&amp;3&quot;&lt;é&#39;/+".to_owned(),
            "Tr0ub4 dor&amp;3&quot;&lt;é'/+".to_owned(),
            "TR0UB4 DOR&amp;3\"&lt;É'/+".to_owned(),
            "tr0ub4%20dor%263%22%3C%C3%A9'%2F%2B".to_owned(),
            "Tr0ub4 dor&3\\\"<é'/+".to_owned(),
            base64::engine::general_purpose::STANDARD.encode(secret),
        ] {
            let covered = changing.cover(&format!("x {text} y")).into_owned();
            assert!(covered.starts_with("x [secret]") && covered.ends_with(" y"), "{text}: {covered}");
        }
        assert_eq!(changing.cover("Tr0ub4 dor"), "Tr0ub4 dor");
    }

    #[test]
    fn a_secret_is_covered_in_mixed_encodings() {
        let changing = ChangingSecrets::default();
        changing.replace_covered(forms_of("Zq7!worT&x<9Kp"));
        let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        for text in [
            "a/do?p=Zq7%21worT%26x<9Kp".to_owned(),
            "k=Zq7!worT%26x%3c9Kp".to_owned(),
            "Zq7%2521worT%2526x%253C9Kp".to_owned(),
            "&#90;&#x71;7!worT&amp;x&lt;9Kp".to_owned(),
            "\\u005aq7!worT\\u0026x<9Kp".to_owned(),
            "Zq7!\u{200b}worT\u{ad}&x<9Kp".to_owned(),
            base64("ada:Zq7!worT&x<9Kp"),
            base64("xZq7!worT&x<9Kpyz"),
            base64("yyZq7!worT&x<9Kp"),
        ] {
            let covered = changing.cover(&text).into_owned();
            assert!(covered.contains("[secret]"), "{text}: {covered}");
            assert!(!covered.contains("worT") && !covered.contains("d29y"), "{text}: {covered}");
        }
        for text in ["100 % of &amp; é\u{200b}ü", "%", "&#x;", "\\u12", "a%2"] {
            assert_eq!(changing.cover(text), text);
        }
    }

    #[test]
    fn parts_of_a_typed_secret_are_covered() {
        let changing = ChangingSecrets::default();
        changing.replace_covered(forms_of("Tr0ub4dor-Kestrel").chain(parts_of("Tr0ub4dor-Kestrel")));
        for (text, covered) in [
            ("x T~r0ub4dor-Kestrel y", "x T~[secret] y"),
            ("Tr0ub4d, or-Kest!", "[secret], [secret]!"),
            ("lertseK-rod4bu0rT", "[secret]"),
            ("tr0ub4dor-kest", "[secret]"),
            ("Tr0ub and estrel", "Tr0ub and [secret]"),
            ("Kestr", "Kestr"),
            ("Tr0ub4Tr0ub4", "[secret]"),
            ("über Tr0ub4 ä", "über [secret] ä"),
        ] {
            assert_eq!(changing.cover(text), covered, "{text}");
        }
        assert_eq!(fingerprinted_parts("abcdefg", 31).len(), 6);
        assert!(fingerprinted_parts("abcde", 31).is_empty());
    }

    #[test]
    fn fingerprints_tell_texts_apart() {
        let of = |text: &str| Fingerprint::of(text, 0x9E37_79B1);
        assert_eq!(of("kestrel"), of("kestrel"));
        assert_ne!(of("kestrel"), of("kestrle"));
        assert_ne!(Fingerprint::of("kestrel", 31), of("kestrel"));
        assert_eq!(of("a😀").length, 3);
        // 31 * 'a' + 'b'
        assert_eq!(Fingerprint::of("ab", 31).hash, 31 * 97 + 98);
    }
}
