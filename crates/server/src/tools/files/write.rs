//! `write_file`; checks common to all changes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::guard::check_file_change;
use super::super::{Effects, Outcome, Tool, ToolContext, ToolError};
use super::system;
use super::workspace::{Place, Refusal, Stamp};
use cdpilot::code::Code;
use cdpilot::redact::Secrets;

/// Maximum size of a written or patched file, in bytes.
pub(super) const LARGEST: u64 = 4 << 20;
/// Replaces secrets in everything that models read.
const COVER: &str = Secrets::COVER;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    /// File in the workspace
    path: String,
    /// Complete content
    content: String,
}

pub(super) fn tool() -> Tool {
    Tool::of(
        "write_file",
        "Create or overwrite a file in the workspace. Creates missing folders.",
        |call, arguments| write(call, &arguments),
    )
    .with_effects(Effects::Checked)
}

fn write(call: &ToolContext<'_>, wanted: &Write) -> Result<Outcome, ToolError> {
    let workspace = call.scope.workspace();
    let place = workspace.place(&wanted.path)?;
    if hidden(&wanted.content) > 0 {
        // Only a file that already contains the placeholder may keep it. `put` reports a file that cannot be read.
        let before = workspace.read(&place, LARGEST).unwrap_or_default();
        keeps_secrets(&place, &String::from_utf8_lossy(&before), &wanted.content)?;
    }
    check_file_change(call, &place, None, &wanted.content)?;
    let was_there = put(&place, &wanted.content, None)?;
    Ok(Outcome::default()
        .with("path", place.shown())
        .with("bytes", wanted.content.len())
        .with("lines", wanted.content.lines().count())
        .with("created", !was_there))
}

/// Counts placeholders of hidden values: redacted secrets and shortened URLs.
fn hidden(text: &str) -> usize {
    let cut = |word: &&str| word.contains("://") && word.contains("/…");
    text.matches(COVER).count() + text.split_whitespace().filter(cut).count()
}

/// Fails when a change would write placeholders of hidden values to the file.
pub(super) fn keeps_secrets(path: &Place, before: &str, after: &str) -> Result<(), ToolError> {
    if hidden(after) <= hidden(before) {
        return Ok(());
    }
    let message = format!(
        "the new text contains {COVER} or a shortened URL (…), which replaces a hidden value: writing it to {} would destroy that value; \
         use patch on the lines around it",
        path.shown()
    );
    Err(ToolError::new(Code::Conflict, message))
}

/// Writes a file. Returns whether it existed.
pub(super) fn put(place: &Place, text: &str, known: Option<&Stamp>) -> Result<bool, ToolError> {
    if text.len() as u64 > LARGEST {
        let message = format!("{} would have {} bytes; the limit is {LARGEST}", place.shown(), text.len());
        return Err(ToolError::new(Code::TooLarge, message));
    }
    system::replace(&place.root, &place.relative, text.as_bytes(), known)
        .map_err(|refusal: Refusal| place.failed("write", &refusal))
}
