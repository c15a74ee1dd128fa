//! The text as a whole: normal form, limits and hidden characters.

use super::problem::Problems;

/// The longest text, in bytes of its normal form.
pub const MAX_BYTES: usize = 64 * 1024;
/// The longest line, in characters.
pub const MAX_LINE_CHARS: usize = 4_000;
/// The most steps of a routine.
pub const MAX_STEPS: usize = 200;

/// The most inputs of a routine.
pub const MAX_INPUTS: usize = 100;

/// The most hidden characters that one message lists.
const MAX_LISTED: usize = 5;

/// The normal form of a text: line feeds as line ends, no byte order mark, no blanks at the ends of lines, exactly one
/// line end at the end. Nothing else changes, and the normal form of a normal form is itself.
#[must_use]
pub fn normalise(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let mut normal = String::with_capacity(text.len() + 1);
    for line in text.split('\n') {
        normal.push_str(line.trim_end_matches([' ', '\t']));
        normal.push('\n');
    }
    normal.truncate(normal.trim_end_matches('\n').len());
    normal.push('\n');
    normal
}

/// The code point of a character that a reader cannot see, such as `U+202E`; `None` for visible ones.
pub(super) fn hidden_name(c: char) -> Option<String> {
    is_hidden(c).then(|| format!("U+{:04X}", u32::from(c)))
}

/// Control, bidirectional, zero-width, tag and other invisible characters. The emoji selectors U+FE0E and U+FE0F are
/// admitted, as people type them without noticing.
fn is_hidden(c: char) -> bool {
    let invisible = matches!(
        u32::from(c),
        0xad | 0x34f
            | 0x61c
            | 0x115f
            | 0x1160
            | 0x17b4
            | 0x17b5
            | 0x180b..=0x180f
            | 0x200b..=0x200f
            | 0x2028..=0x202e
            | 0x2060..=0x206f
            | 0x3164
            | 0xfe00..=0xfe0d
            | 0xfeff
            | 0xffa0
            | 0xfff0..=0xfffb
            | 0x1d173..=0x1d17a
            | 0xe0000..=0xe0fff
    );
    invisible || (c.is_control() && c != '\t' && c != '\n')
}

/// Checks what holds for any text. `false`: the text is too long to be parsed.
pub(super) fn check_text(text: &str, problems: &mut Problems) -> bool {
    if text.len() > MAX_BYTES {
        let line = 1 + text.as_bytes().iter().take(MAX_BYTES).filter(|byte| **byte == b'\n').count();
        let message = format!(
            "the text has {} bytes, the limit is {MAX_BYTES}; shorten it, or write the task as several routines",
            text.len()
        );
        problems.add(line, "TOO_LONG", message);
        return false;
    }
    for (i, line) in text.lines().enumerate() {
        let chars = line.chars().count();
        if chars > MAX_LINE_CHARS {
            let message =
                format!("the line has {chars} characters, the limit is {MAX_LINE_CHARS}; write several shorter lines");
            problems.add(i + 1, "TOO_LONG", message);
        }
        check_hidden(i + 1, line, problems);
    }
    true
}

fn check_hidden(number: usize, line: &str, problems: &mut Problems) {
    let mut listed: Vec<String> = Vec::new();
    for (column, c) in line.chars().enumerate() {
        let Some(name) = hidden_name(c) else { continue };
        if listed.len() == MAX_LISTED {
            listed.push("more".to_owned());
            break;
        }
        listed.push(format!("{name} at column {}", column + 1));
    }
    if !listed.is_empty() {
        let message = format!("the line contains invisible characters; remove {}", listed.join(", "));
        problems.add(number, "HIDDEN_CHARACTERS", message);
    }
}
