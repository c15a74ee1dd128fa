//! Secrets recognised by their format: tokens of known issuers, private keys, and values after words such as
//! `password=`.
//!
//! A redacted range never contains a line break, except in a private key, and never a ref (`[ref=e12]`).

use super::Secrets;

/// Replaces a secret.
const COVER: &str = Secrets::COVER;

/// Words before a secret: `word=…`, `word: …`, also as the last part of a longer word (`csrf_token`).
const WORDS: [&str; 18] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "pwd",
    "secret",
    "token",
    "api_key",
    "api-key",
    "apikey",
    "authorization",
    "credential",
    "session_id",
    "sessionid",
    "private_key",
    "access_key",
    "secret_key",
];
/// Words before `key` in two-word names: `API key: …`.
const KEYS: [&str; 4] = ["api", "access", "secret", "private"];
/// Words followed by a space and a secret, as in an `Authorization` header.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// Prefixes of tokens of well-known issuers, and the minimum length of the token.
const TOKENS: [(&str, usize); 22] = [
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 20),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("AKIA", 20),
    ("ASIA", 20),
    ("AIza", 30),
    ("npm_", 30),
    ("hf_", 20),
    ("SG.", 30),
    ("ya29.", 20),
    ("eyJ", 30),
];
/// The beginning of a ref in a snapshot.
const REF: &str = "[ref=";
/// Characters that end an unquoted value.
const STOPS: &str = "&,;\"'<>)";

/// Whether a word, or its last part, names a secret: `password`, `csrfToken`, `X-Api-Key`.
pub(super) fn is_secret_word(word: &str) -> bool {
    WORDS.iter().any(|known| {
        let end = word.len().checked_sub(known.len()).and_then(|from| word.get(from..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(known))
    })
}

/// Whether a word is the `key` of a two-word name such as "API key".
fn is_secret_key(before: &str, word: &str) -> bool {
    word.eq_ignore_ascii_case("key")
        && before.strip_suffix(' ').is_some_and(|before| {
            KEYS.iter().any(|kind| {
                let from = before.len().checked_sub(kind.len());
                from.and_then(|from| before.get(from..)).is_some_and(|end| end.eq_ignore_ascii_case(kind))
            })
        })
}

/// Redacts secrets by their format; `None` if there are none.
pub(super) fn cover_forms(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0; // end of what has been copied
    let mut at = 0;
    while let Some((start, end)) = next_word(text, at) {
        let covered = private_key(text, start)
            .or_else(|| token(&text[start..end]).then_some((start, end)))
            .or_else(|| after_word(text, start, end));
        at = end;
        if let Some((from, to)) = covered {
            out.push_str(&text[kept..from]);
            out.push_str(COVER);
            kept = to;
            at = to.max(end);
        }
    }
    if kept == 0 {
        return None;
    }
    out.push_str(&text[kept..]);
    Some(out)
}

/// Whether a character may be part of a token.
fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The next run of token characters.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text.get(from..)?.find(in_word)?;
    let length = text[start..].find(|c| !in_word(c)).unwrap_or(text.len() - start);
    Some((start, start + length))
}

fn token(word: &str) -> bool {
    TOKENS.iter().any(|(begin, length)| word.len() >= *length && word.starts_with(begin))
}

/// A private key in PEM format, from its first dashes to the end.
fn private_key(text: &str, start: usize) -> Option<(usize, usize)> {
    let rest = text[start..].strip_prefix("-----BEGIN")?;
    if !rest.split('\n').next().is_some_and(|line| line.contains("PRIVATE KEY")) {
        return None;
    }
    let end = rest.find("-----END").and_then(|end| rest[end + 8..].find("-----").map(|last| end + 8 + last + 5));
    Some((start, start + 10 + end.unwrap_or(rest.len())))
}

/// Length of the leading spaces of a text.
fn blank(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// The leading quote of a text, and its length including the backslashes of an escaped one.
fn quote(text: &str) -> Option<(char, usize)> {
    let escapes = text.bytes().take_while(|byte| *byte == b'\\').count();
    let quote = text[escapes..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
    Some((quote, escapes + 1))
}

/// Whether the end of a partial line is inside a quoted string.
fn is_inside(line: &str, quote: char) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let marks = line.char_indices().filter(|(at, c)| {
        // An apostrophe is not a quote.
        let (before, after) = (line[..*at].chars().next_back(), line[at + c.len_utf8()..].chars().next());
        *c == quote && before != Some('\\') && !(quote == '\'' && is_letter(before) && is_letter(after))
    });
    marks.count() % 2 == 1
}

/// The secret after `word=`, `word: `, `"word": ` or `Bearer `, where the word ends at `end`.
fn after_word(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let word = &text[start..end];
    if SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) {
        let gap = blank(&text[end..]);
        return if gap > 0 { plain_value(text, end + gap, false) } else { None };
    }
    if !is_secret_word(word) && !is_secret_key(&text[..start], word) {
        return None;
    }
    let mut at = end;
    let closing = quote(&text[at..]); // `"password": …`
    at += closing.map_or(0, |(_, length)| length);
    at += blank(&text[at..]);
    if !text[at..].starts_with([':', '=']) {
        return None;
    }
    let signs = text[at..].bytes().take_while(|byte| matches!(byte, b':' | b'=' | b'>')).count();
    let is_assigned = text[at..at + signs].contains('=');
    at += signs;
    at += blank(&text[at..]);
    let Some((mark, length)) = quote(&text[at..]) else { return plain_value(text, at, is_assigned) };
    let line = text[..start].rfind('\n').map_or(0, |line| line + 1);
    if closing.is_none() && is_inside(&text[line..start], mark) {
        return None; // it closes the string that ends with the word: `"Password:"`
    }
    at += length;
    quoted_value(text, at, mark).or_else(|| plain_value(text, at, is_assigned))
}

/// A value up to its closing quote in the same line. Quoted text is always treated as a value.
fn quoted_value(text: &str, from: usize, mark: char) -> Option<(usize, usize)> {
    let is_escaped = text[..from - 1].ends_with('\\');
    let line = text[from..].split('\n').next().unwrap_or_default();
    let mut ends = line.match_indices(mark).map(|(at, _)| at);
    let end = ends.find(|at| line[..*at].ends_with('\\') == is_escaped)?;
    let value = line[..end].trim_end_matches('\\');
    (!value.is_empty() && value != COVER && !value.contains(REF)).then(|| (from, from + value.len()))
}

/// An unquoted value. After a colon an explanation may follow: unless `is_sure`, a secret must be long and contain more
/// than letters.
fn plain_value(text: &str, from: usize, is_sure: bool) -> Option<(usize, usize)> {
    let tail = &text[from..];
    // `Authorization: Bearer x`: handled with the next word.
    if SCHEMES.iter().any(|scheme| tail.get(..scheme.len()).is_some_and(|t| t.eq_ignore_ascii_case(scheme))) {
        return None;
    }
    let value = &tail[..tail.find(|c: char| c.is_whitespace() || STOPS.contains(c)).unwrap_or(tail.len())];
    let value = value.find(REF).map_or(value, |end| &value[..end]);
    if value.starts_with(COVER) {
        return None;
    }
    let mut value = value.trim_end_matches('\\');
    for (open, close) in [('{', '}'), ('[', ']')] {
        if !value.contains(open) {
            value = value.trim_end_matches(close); // `{token: x}`
        }
    }
    // `Bearer token:` and `Password: (required)` are labels.
    let content = value.trim_matches([':', '.', '?', '!', '(', '[', '*']);
    let plausible = is_sure || (content.len() >= 6 && content.chars().any(|c| !c.is_alphabetic() && c != '.'));
    (!value.is_empty() && plausible).then(|| (from, from + value.len()))
}
