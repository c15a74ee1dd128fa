//! What is not kept: texts that nobody sees, secrets, and orders. An early warning, besides the question to the person.

use super::Error;
use super::notes::is_origin;
use cdpilot::redact::Secrets;

/// Longest note, in characters.
const MOST_NOTE: usize = 1_000;

/// Words for what nobody may have, and for giving it away; an order needs one of each.
const SECRET: &[&str] =
    &["password", "passwort", "token", "api key", "api-key", "secret", "credential", "one-time code", "cookie", "cvv"];
const AWAY: &[&str] = &[
    "send ", "forward", "post ", "e-mail", "email", "upload", "submit", "share ", "paste ", "give ", "schick", "sende",
];
/// Words behind which a password or a number follows that nobody else may have.
const NUMBERS: &[&str] =
    &["password", "passwort", "passcode", "mot de passe", "contraseña", "pwd", "pin", "cvv", "cvc", "tan"];
/// Parts of texts that address a model.
const ORDERS: &[&str] = &[
    "ignore previous",
    "ignore all previous",
    "ignore your instructions",
    "ignore the above",
    "disregard previous",
    "disregard all",
    "disregard the",
    "override the",
    "<system",
    "system:",
    "system prompt",
    "do not tell the user",
    "don't tell the user",
    "without telling the user",
    "never ask the user",
    "never ask for approval",
    "ignoriere alle",
];

/// A text as a note, on one line.
pub(super) fn checked(content: &str, secrets: &Secrets) -> Result<String, Error> {
    let text = content.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_start_matches("- ").trim();
    if text.is_empty() {
        return Err(Error::Refused("it is empty".to_owned()));
    }
    if text.chars().count() > MOST_NOTE {
        return Err(Error::Refused(format!("it has more than {MOST_NOTE} characters; write one fact in a sentence")));
    }
    if let Some(odd) = unseen_in(text) {
        return Err(Error::Refused(format!("it has an invisible character (U+{:04X})", u32::from(odd))));
    }
    if text.contains("<!--") || text.contains("-->") {
        return Err(Error::Refused("it has a comment, as the origins of notes are; leave it out".to_owned()));
    }
    if text.contains("<<") || text.contains(">>") {
        return Err(Error::Refused("it has << or >>, as the ends of texts in prompts have; leave them out".to_owned()));
    }
    let behind = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
    if behind.is_some_and(|(_, origin)| is_origin(origin)) {
        return Err(Error::Refused("it ends like the origin of a note; leave that out".to_owned()));
    }
    if secrets.cover(text) != text || text.contains(Secrets::COVER) || names_number(text) || has_card(text) {
        return Err(Error::Refused("it looks like a secret; store it with `cdpilot secrets set`".to_owned()));
    }
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(ORDERS) || (has(SECRET) && has(AWAY)) {
        let why = "it is an order to a model, or about giving secrets away; notes are facts, and people write orders themselves";
        return Err(Error::Refused(why.to_owned()));
    }
    Ok(text.to_owned())
}

/// Whether a text names a password or the like and has a word with digits, which may be it.
fn names_number(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let is_named =
        NUMBERS.iter().any(|name| if name.contains(' ') { lower.contains(name) } else { words.contains(name) });
    is_named && words.iter().any(|word| word.len() >= 3 && word.chars().any(|c| c.is_ascii_digit()))
}

/// Whether a text has the number of a payment card: 13 to 19 digits with their check digit (ISO/IEC 7812-1).
fn has_card(text: &str) -> bool {
    let mut digits = Vec::new();
    for c in text.chars().chain(['x']) {
        match c.to_digit(10) {
            Some(digit) => digits.push(digit),
            None if matches!(c, ' ' | '-') => {}
            None => {
                let sum = digits.iter().rev().enumerate().map(|(at, digit)| match at % 2 {
                    1 if *digit > 4 => digit * 2 - 9,
                    1 => digit * 2,
                    _ => *digit,
                });
                if (13..=19).contains(&digits.len()) && sum.sum::<u32>() % 10 == 0 {
                    return true;
                }
                digits.clear();
            }
        }
    }
    false
}

/// The first character of a text that nobody sees.
pub(crate) fn unseen_in(text: &str) -> Option<char> {
    let is_letter = |c: Option<char>| c.is_some_and(|c| matches!(u32::from(c), 0x620..=0x6FF));
    let all: Vec<char> = text.chars().collect();
    let odd = all.iter().enumerate().find(|(at, c)| {
        // Persian is written with it.
        let joins = **c == '\u{200c}'
            && is_letter(at.checked_sub(1).and_then(|at| all.get(at).copied()))
            && is_letter(all.get(at + 1).copied());
        is_unseen(**c) && !joins && !matches!(**c, '\n' | '\r' | '\t')
    });
    odd.map(|(_, c)| *c)
}

/// Whether a character is not seen, or changes the direction of others.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0xAD | 0x61C | 0x180E | 0x115F | 0x1160 | 0x2800 | 0x3164 | 0xFFA0 | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
            | 0xFE00..=0xFE0E | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
}
