//! Secrets in texts of pages: covered before anybody gets to see them.
//!
//! A page may show a token or a password in a dialog. What is recognised: the task's own secrets, user
//! and password in addresses, what follows words like `password=` or `Bearer`, and tokens by the form
//! their issuers gave them. This is a net with known holes, not a proof.

use std::borrow::Cow;

use crate::browser;

const COVER: &str = "[secret]";
/// Words before a secret: `word=…`, `word: …`.
const WORDS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
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
    "client_secret",
];
/// Words that a secret follows after a blank, as in an `Authorization` header.
const SCHEMES: [&str; 2] = ["bearer", "basic"];
/// How tokens of well-known issuers begin, and the least length of the whole.
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
/// A shorter secret of the task is not looked for: it would cover half of every text.
const SHORTEST_OWN: usize = 4;

/// Secrets of the task that must not be shown, whatever text they appear in. Its `Debug` shows none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// These secrets. Ones of less than four characters are passed over.
    pub fn new(secrets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut all: Vec<String> =
            secrets.into_iter().map(Into::into).filter(|s: &String| s.chars().count() >= SHORTEST_OWN).collect();
        // The longest first: one may be part of another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self(all)
    }

    /// These and more.
    #[must_use]
    pub fn and(&self, more: impl IntoIterator<Item = String>) -> Self {
        Self::new(self.0.iter().cloned().chain(more))
    }

    /// The text with everything that looks like a secret covered.
    #[must_use]
    pub fn cover<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.0.iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), COVER));
            }
        }
        if text.contains("://") {
            let covered = browser::redact_among_others(&text, COVER);
            if covered != *text {
                text = Cow::Owned(covered);
            }
        }
        match cover_forms(&text) {
            Some(covered) => Cow::Owned(covered),
            None => text,
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

/// Covers what is known by its form. `None` when there is nothing.
fn cover_forms(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0; // where what is not copied yet begins
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

/// What tokens are made of.
fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// The next run of such characters.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text.get(from..)?.find(in_word)?;
    let length = text[start..].find(|c| !in_word(c)).unwrap_or(text.len() - start);
    Some((start, start + length))
}

fn token(word: &str) -> bool {
    TOKENS.iter().any(|(begin, length)| word.len() >= *length && word.starts_with(begin))
}

/// A key in PEM form, from its dashes to the end.
fn private_key(text: &str, start: usize) -> Option<(usize, usize)> {
    let rest = text[start..].strip_prefix("-----BEGIN")?;
    if !rest.split('\n').next().is_some_and(|line| line.contains("PRIVATE KEY")) {
        return None;
    }
    let end = rest.find("-----END").and_then(|end| rest[end + 8..].find("-----").map(|last| end + 8 + last + 5));
    Some((start, start + 10 + end.unwrap_or(rest.len())))
}

/// The secret after `word=`, `word: ` or `Bearer `, where the word ends here.
fn after_word(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let word = text[start..end].to_ascii_lowercase();
    let rest = &text[end..];
    let blank = |rest: &str| rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let mut skip = rest.strip_prefix('"').map_or(0, |_| 1); // `"password": "…"`
    let sure = if SCHEMES.contains(&word.as_str()) {
        skip = blank(rest);
        (skip > 0).then_some(false)?
    } else if WORDS.iter().any(|known| word.ends_with(known)) {
        skip += blank(&rest[skip..]);
        let sign = rest[skip..].chars().next().filter(|c| matches!(c, '=' | ':'))?;
        skip += 1;
        skip += blank(&rest[skip..]);
        sign == '='
    } else {
        return None;
    };
    let mut from = end + skip;
    let tail = &text[from..];
    // `Authorization: Bearer x`: the next word sees to it.
    if SCHEMES.iter().any(|scheme| tail.get(..scheme.len()).is_some_and(|t| t.eq_ignore_ascii_case(scheme))) {
        return None;
    }
    let quote = tail.chars().next().filter(|c| matches!(c, '"' | '\''));
    let tail = if let Some(quote) = quote {
        from += 1;
        &tail[quote.len_utf8()..]
    } else {
        tail
    };
    let stop = |c: char| quote.map_or_else(|| c.is_whitespace() || "&,;\"'<>)".contains(c), |quote| c == quote);
    let value = &tail[..tail.find(stop).unwrap_or(tail.len())];
    // After a colon there may be an explanation. A secret is long and more than letters.
    let plausible = sure || (value.len() >= 6 && value.chars().any(|c| !c.is_alphabetic() && c != '.'));
    (!value.is_empty() && plausible).then(|| (from, from + value.len()))
}
