//! Words by which finders recognise what the structure of a page does not decide: English, German, French, Spanish.

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
        if c.is_ascii() {
            line.push(c.to_ascii_lowercase());
        } else {
            line.extend(c.to_lowercase());
        }
    }
    line.truncate(line.trim_end().len());
    if line.is_empty() { text.trim().to_owned() } else { line }
}

/// Whether a line contains an entry of a list as whole words.
pub(super) fn says(line: &str, list: &[&str]) -> bool {
    let mut starts = Vec::new();
    let mut at = 0;
    for word in line.split(' ').take(COMPARED) {
        starts.push((at, at + word.len()));
        at += word.len() + 1;
    }
    starts.iter().enumerate().any(|(first, (start, _))| {
        let ends = starts.iter().skip(first).take(LONGEST);
        ends.into_iter().any(|(_, end)| line.get(*start..*end).is_some_and(|phrase| is(phrase, list)))
    })
}

/// Whether a line is an entry of a list.
pub(super) fn is(line: &str, list: &[&str]) -> bool {
    list.binary_search(&line).is_ok()
}
