//! `patch`: replaces text in a file.

use cdpilot::code::Code;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use similar::TextDiff;

use super::super::guard::check_file_change;
use super::super::{Capped, Effects, Outcome, Tool, ToolContext, ToolError};
use super::workspace::Place;
use super::write::{LARGEST, keeps_secrets, put};

/// Maximum length of the diff, in characters.
const DIFF: usize = 6_000;
/// Time limit for computing the diff; it is coarser afterwards.
const DIFF_TIME: Duration = Duration::from_secs(2);
/// Number of lines, and of characters of each, compared to suggest the most similar line.
const LOOKED_AT: usize = 20_000;
const LINE: usize = 200;
/// Maximum number of line numbers listed for an ambiguous text.
const NAMED: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Patch {
    /// File in the workspace
    path: String,
    /// Exact current text, with enough context to be unique
    old_string: String,
    /// Replacement
    new_string: String,
    /// Replace every occurrence
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn tool() -> Tool {
    Tool::of("patch", "Replace text in a file in the workspace. Returns the diff.", move |call, arguments| {
        patch(call, &arguments)
    })
    .with_effects(Effects::Checked)
}

fn patch(call: &ToolContext<'_>, wanted: &Patch) -> Result<Outcome, ToolError> {
    let workspace = call.scope.workspace();
    if wanted.old_string.is_empty() {
        return Err(ToolError::new(Code::BadRequest, "old_string is empty; create files with write_file"));
    }
    if wanted.old_string == wanted.new_string {
        return Err(ToolError::new(Code::BadRequest, "old_string and new_string are identical; nothing would change"));
    }
    let place = workspace.place(&wanted.path)?;
    let (bytes, stamp) = workspace.read_stamped(&place, LARGEST)?;
    let before = String::from_utf8(bytes).map_err(|_| {
        ToolError::new(Code::BadRequest, format!("{} is not UTF-8 text; patch supports UTF-8 only", place.shown()))
    })?;
    // Models write LF, also for files with CRLF.
    let (mut old, mut new) = (wanted.old_string.clone(), wanted.new_string.clone());
    if !before.contains(&old) && before.contains("\r\n") && !old.contains('\r') {
        (old, new) = (old.replace('\n', "\r\n"), new.replace('\n', "\r\n"));
    }
    let places: Vec<usize> = before.match_indices(&old).map(|(at, _)| at).collect();
    if places.is_empty() {
        return Err(nowhere(&place, &before, &wanted.old_string));
    }
    if places.len() > 1 && !wanted.replace_all {
        let lines: Vec<usize> = places.iter().take(NAMED).map(|at| before[..*at].matches('\n').count() + 1).collect();
        let message = format!(
            "old_string occurs in {} {} times (lines {}); add context to make it unique, or set replace_all",
            place.shown(),
            places.len(),
            lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
        );
        return Err(ToolError::new(Code::Conflict, message).with("matches", places.len()).with("lines", lines));
    }
    // Check the resulting size before allocating it.
    let grown = (before.len() + places.len() * new.len()).saturating_sub(places.len() * old.len());
    if grown as u64 > LARGEST {
        let message = format!("{} would have {grown} bytes; the limit is {LARGEST}", place.shown());
        return Err(ToolError::new(Code::TooLarge, message));
    }
    let after = before.replace(&old, &new);
    keeps_secrets(&place, &before, &after)?;
    check_file_change(call, &place, Some(&wanted.old_string), &wanted.new_string)?;
    put(&place, &after, Some(&stamp))?;
    let deadline = call.deadline.within(DIFF_TIME).instant();
    let diff = TextDiff::configure().deadline(deadline).diff_lines(&before, &after);
    let shown = place.shown();
    let diff = diff.unified_diff().context_radius(2).header(&shown, &shown).to_string();
    Ok(Outcome::default()
        .with("path", shown)
        .with("replaced", places.len())
        .with("diff", Capped::of(&diff, DIFF).noted("call read_file to see the file")))
}

/// The error for a text that does not occur; suggests the most similar line.
fn nowhere(path: &Place, text: &str, wanted: &str) -> ToolError {
    let shown = path.shown();
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = wanted.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let first: String = first.chars().take(LINE).collect();
    let likeness = |line: &str| {
        let line: String = line.trim().chars().take(LINE).collect();
        if folded(&line) == folded(&first) { 2.0 } else { strsim::sorensen_dice(&line, &first) }
    };
    let mut nearest: Option<(f64, usize, &str)> = None;
    for (number, line) in text.lines().enumerate().take(LOOKED_AT) {
        let like = likeness(line);
        if like > nearest.map_or(0.4, |(best, ..)| best) {
            nearest = Some((like, number + 1, line));
        }
    }
    let error = |hint: String| ToolError::new(Code::NotFound, format!("old_string is not in {shown}; {hint}"));
    let Some((like, number, line)) = nearest else {
        return error("no similar text; call read_file again".to_owned());
    };
    let line: String = line.chars().take(LINE).collect();
    let why = if folded(text).contains(&folded(wanted)) {
        "it occurs with different whitespace"
    } else if like > 1.0 {
        "its first line occurs, the following lines differ"
    } else {
        "most similar"
    };
    error(format!("{why}: line {number} is {line:?}")).with("nearest_line", number)
}
