//! Rules of the Keywords line.

use super::events::StepEvents;
use super::model::Step;
use super::problem::{Problems, quoted};

/// Words that name kinds of elements or occur on nearly every page, so that they do not tell an element from others.
const GENERIC: &[&str] = &[
    "back",
    "body",
    "btn",
    "button",
    "cancel",
    "card",
    "cell",
    "checkbox",
    "class",
    "click",
    "close",
    "container",
    "content",
    "div",
    "dropdown",
    "element",
    "false",
    "field",
    "footer",
    "form",
    "header",
    "here",
    "href",
    "icon",
    "id",
    "image",
    "img",
    "input",
    "item",
    "label",
    "li",
    "link",
    "list",
    "main",
    "menu",
    "more",
    "nav",
    "next",
    "no",
    "ok",
    "open",
    "option",
    "page",
    "primary",
    "role",
    "row",
    "section",
    "select",
    "span",
    "submit",
    "tab",
    "table",
    "td",
    "text",
    "textarea",
    "tr",
    "true",
    "type",
    "ul",
    "undefined",
    "wrapper",
    "yes",
];

/// Beginnings of names that frameworks generate, and what follows them.
const GENERATED: &[&str] = &["css-", "sc-", "jss", "ember", "svelte-", "mui-", "emotion-", "jsx-", "yui_", "radix-"];

/// The longest keyword, in characters.
const MAX_KEYWORD: usize = 80;

pub(super) fn check(step: &Step, events: Option<&StepEvents>, problems: &mut Problems) {
    let Some(keyword) = &step.keyword else { return };
    let line = step.keyword_line();
    let shown = quoted(keyword);
    if is_generated(keyword) {
        let message = format!(
            "{shown} looks generated and can change at any time; write a stable token of the element, such as its name \
             or label, or remove the line"
        );
        problems.add(line, "KEYWORD_HASH", message);
    } else if !is_token(keyword) {
        let message = match keyword
            .split(|c| !is_token_char(c))
            .filter(|part| is_usable(part))
            .max_by_key(|part| part.len())
        {
            Some(part) => format!("{shown} is not one bare token; write {}", quoted(&format!("**Keywords:** {part}"))),
            None => format!(
                "{shown} is not one bare token; write `**Keywords:** <token>` with letters, digits, `-`, `_` and `.`, at \
                 least 2 of them, or remove the line"
            ),
        };
        problems.add(line, "KEYWORD_SHAPE", message);
    } else if is_generic(keyword) {
        let message = format!(
            "{shown} occurs on nearly every page; write a token that only this element has, such as its id or label, or \
             remove the line"
        );
        problems.add(line, "KEYWORD_GENERIC", message);
    } else if events.is_some_and(|events| events.lacks(step.n, keyword)) {
        let message = format!(
            "{shown} does not occur in the recorded events of step {}; write a token of its elements, with the same \
             letter case, or remove the line",
            step.n
        );
        problems.add(line, "KEYWORD_NOT_RECORDED", message);
    }
}

fn is_token_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn is_token(text: &str) -> bool {
    let length = text.chars().count();
    (2..=MAX_KEYWORD).contains(&length) && text.chars().all(is_token_char) && text.chars().any(char::is_alphanumeric)
}

fn is_generic(token: &str) -> bool {
    GENERIC.contains(&token.to_lowercase().as_str())
}

fn is_usable(token: &str) -> bool {
    is_token(token) && !is_generic(token) && !is_generated(token)
}

/// Whether the token is a hash or an id that a program generated.
fn is_generated(token: &str) -> bool {
    // React: `:r1:`, `«r1»`.
    let inner = token.trim_matches([':', '«', '»']);
    if inner.len() < token.len() && inner.starts_with(['r', 'R']) && inner.len() <= 5 && is_ascii_token(inner) {
        return true;
    }
    let is_ref =
        token.strip_prefix('e').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    let prefixed = GENERATED.iter().any(|prefix| token.strip_prefix(prefix).is_some_and(|rest| is_mixed(prefix, rest)));
    is_ref || prefixed || token.split(['-', '_', '.']).any(is_hash)
}

fn is_ascii_token(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What a generated name has behind its prefix: only digits, or letters with digits or with both cases.
fn is_mixed(prefix: &str, rest: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| rest.as_bytes().iter().any(wanted);
    let digits = has(u8::is_ascii_digit);
    if !prefix.ends_with(['-', '_']) {
        return digits && rest.bytes().all(|byte| byte.is_ascii_digit());
    }
    let both_cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    rest.len() >= 5 && is_ascii_token(rest) && (digits || both_cases)
}

/// Hex with digits, long runs of digits, or letters and digits in turns.
fn is_hash(part: &str) -> bool {
    let bytes = part.as_bytes();
    let hex = bytes.len() >= 8 && bytes.iter().all(u8::is_ascii_hexdigit) && bytes.iter().any(u8::is_ascii_digit);
    let longest_run = part.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    let turns =
        bytes.windows(2).filter(|pair| matches!(pair, [a, b] if a.is_ascii_digit() != b.is_ascii_digit())).count();
    hex || longest_run >= 6 || (part.is_ascii() && bytes.len() >= 6 && turns >= 4)
}
