//! What is not kept: texts that nobody sees, secrets, and orders. An early warning, besides the question to the person.

use super::Error;
use cdpilot::redact::Secrets;

/// Longest note, in characters.
const MOST_NOTE: usize = 1_000;

/// Words for what nobody may have, and for giving it away; an order needs one of each.
const SECRET: &[&str] =
    &["password", "passwort", "token", "api key", "api-key", "secret", "credential", "one-time code", "cookie", "cvv"];
const AWAY: &[&str] = &[
    "send ", "forward", "post ", "e-mail", "email", "upload", "submit", "share ", "paste ", "give ", "schick", "sende",
];
/// Parts of texts that address a model.
const ORDERS: &[&str] = &[
    "ignore previous",
    "ignore all previous",
    "ignore your instructions",
    "ignore the above",
    "disregard previous",
    "disregard all",
    "previous instructions",
    "system prompt",
    "do not tell the user",
    "don't tell the user",
    "without telling the user",
    "without asking",
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
    if let Some(odd) = text.chars().find(|c| is_unseen(*c)) {
        return Err(Error::Refused(format!("it has an invisible character (U+{:04X})", u32::from(odd))));
    }
    if text.contains("<!--") || text.contains("-->") {
        return Err(Error::Refused("it has a comment, as the origins of notes are; leave it out".to_owned()));
    }
    if secrets.cover(text) != text || text.contains(Secrets::COVER) {
        return Err(Error::Refused("it looks like a secret; store it with `cdpilot secrets add`".to_owned()));
    }
    let lower = text.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(ORDERS) || (has(SECRET) && has(AWAY)) {
        let why = "it is an order to a model, or about giving secrets away; notes are facts, and people write orders themselves";
        return Err(Error::Refused(why.to_owned()));
    }
    Ok(text.to_owned())
}

/// Whether a character is not seen, or changes the direction of others.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
            | 0xFE00..=0xFE0F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
}
