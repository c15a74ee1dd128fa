//! Words for cases that the structure of a page does not decide, in English, German, French and Spanish.

// Lists with many entries to a line.
#[rustfmt::skip]
mod lists;

pub(super) use lists::*;

/// Words of a phrase in a list, at most.
const LONGEST: usize = 4;
/// Words of a text that are compared.
const COMPARED: usize = 40;

/// The words of a text in lower case with single blanks between them: `cardNumber` and `card-number` are `card number`.
/// A text without letters and digits is kept as it is.
pub(super) fn line(text: &str) -> String {
    let mut line = if text.is_ascii() { ascii_line(text) } else { unicode_line(text) };
    line.truncate(line.trim_end().len());
    if line.is_empty() { text.trim().to_owned() } else { line }
}

/// Most texts are ASCII, and without optimisation this is several times faster.
fn ascii_line(text: &str) -> String {
    let mut line = Vec::with_capacity(text.len() + 8);
    let mut last = b' ';
    for byte in text.as_bytes() {
        match *byte {
            b'a'..=b'z' | b'0'..=b'9' => line.push(*byte),
            b'A'..=b'Z' => {
                if last.is_ascii_lowercase() {
                    line.push(b' ');
                }
                line.push(byte.to_ascii_lowercase());
            }
            _ if matches!(last, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9') => line.push(b' '),
            _ => {}
        }
        last = *byte;
    }
    String::from_utf8(line).unwrap_or_default()
}

fn unicode_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
            was_lower = false;
            continue;
        }
        if was_lower && c.is_uppercase() {
            line.push(' ');
        }
        was_lower = c.is_lowercase();
        line.extend(c.to_lowercase());
    }
    line
}

/// Whether a line contains an entry of a list as whole words.
pub(super) fn says(line: &str, list: &[&str]) -> bool {
    let mut rest = line;
    for _ in 0..COMPARED {
        let mut end = 0;
        for _ in 0..LONGEST {
            end += rest.get(end..).and_then(|rest| rest.find(' ')).unwrap_or(rest.len() - end);
            if rest.get(..end).is_some_and(|phrase| is(phrase, list)) {
                return true;
            }
            if end == rest.len() {
                break;
            }
            end += 1;
        }
        match rest.split_once(' ') {
            Some((_, next)) => rest = next,
            None => return false,
        }
    }
    false
}

/// Whether a line is an entry of a list.
pub(super) fn is(line: &str, list: &[&str]) -> bool {
    list.binary_search(&line).is_ok()
}
