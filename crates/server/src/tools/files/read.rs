//! `read_file`: reads lines of a text file, or shows an image.

use cdpilot::code::Code;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Image, Outcome, Tool, ToolContext, ToolError};
use super::UNTRUSTED;
use super::picture;

/// Maximum size of a file, in bytes.
const LARGEST: u64 = 16 << 20;
/// Maximum size of an image, in bytes.
const LARGEST_PICTURE: usize = 5 << 20;
/// Maximum length of a result, in characters.
const CHARS: usize = 30_000;
/// Default and maximum number of lines of a result.
const LINES: usize = 500;
const MOST_LINES: usize = 2_000;
/// Maximum length of a line, in characters.
const LONGEST_LINE: usize = 2_000;
/// Number of bytes checked for NUL.
const LOOKED_AT: usize = 8 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    /// File in the workspace
    path: String,
    /// First line [1]
    offset: Option<usize>,
    /// Lines [500]
    limit: Option<usize>,
    /// Prefix lines with their number
    #[serde(default)]
    line_numbers: bool,
}

pub(super) fn tool() -> Tool {
    Tool::of("read_file", "Read lines of a text file in the workspace, or show an image.", move |call, arguments| {
        read(call, &arguments)
    })
    .reading()
}

fn read(call: &ToolContext<'_>, wanted: &Read) -> Result<Outcome, ToolError> {
    let workspace = call.scope.workspace();
    let place = workspace.place(&wanted.path)?;
    let bytes = workspace.read(&place, LARGEST)?;
    let shown = place.shown();
    if let Some(media_type) = picture(&bytes) {
        if bytes.len() > LARGEST_PICTURE {
            let message = format!("{shown} is an image of {} bytes; the limit is {LARGEST_PICTURE}", bytes.len());
            return Err(ToolError::new(Code::TooLarge, message).with("bytes", bytes.len()));
        }
        let outcome = Outcome::default().with("path", shown).with("type", media_type).with("bytes", bytes.len());
        let mut outcome = outcome.with("untrusted", UNTRUSTED);
        outcome.images.push(Image { media_type, bytes });
        return Ok(outcome);
    }
    if is_binary(&bytes) {
        let message = format!("{shown} is a binary file of {} bytes; only text and images can be read", bytes.len());
        return Err(ToolError::new(Code::BadRequest, message).with("bytes", bytes.len()));
    }
    let text = String::from_utf8_lossy(&bytes);
    let is_exact = matches!(text, std::borrow::Cow::Borrowed(_));
    let total = text.lines().count();
    let first = wanted.offset.unwrap_or(1).max(1);
    if first > total.max(1) {
        return Err(ToolError::new(
            Code::BadRequest,
            format!("offset {first} is past the end: {shown} has {total} lines"),
        ));
    }
    let most = wanted.limit.unwrap_or(LINES).clamp(1, MOST_LINES);
    let (mut content, mut chars, mut last) = (String::new(), 0, first - 1);
    for (number, line) in text.lines().enumerate().skip(first - 1).take(most) {
        let mut line = cut(line);
        if wanted.line_numbers {
            line = format!("{}\t{line}", number + 1);
        }
        chars += line.chars().count() + 1;
        if chars > CHARS && last >= first {
            break;
        }
        content.push_str(&line);
        content.push('\n');
        last = number + 1;
    }
    let mut outcome =
        Outcome::default().with("path", shown).with("content", content).with("first_line", first).with("lines", total);
    if last < total {
        outcome =
            outcome.with("truncated", format!("lines {first} to {last} of {total}; continue with offset {}", last + 1));
    }
    outcome = outcome.with("untrusted", UNTRUSTED);
    if !is_exact {
        outcome = outcome.with("note", "the file is not valid UTF-8; invalid bytes are shown as \u{FFFD}");
    }
    Ok(outcome)
}

/// Whether the content is binary: a NUL byte near the start.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}

fn cut(line: &str) -> String {
    let total = line.chars().count();
    if total <= LONGEST_LINE {
        return line.to_owned();
    }
    let kept: String = line.chars().take(LONGEST_LINE).collect();
    format!("{kept}… [{} characters omitted]", total - LONGEST_LINE)
}
