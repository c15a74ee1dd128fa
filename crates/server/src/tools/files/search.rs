//! `search_files`: searches content or file names; respects `.gitignore` and is bounded in time and size.

use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Outcome, Progress, Tool, ToolContext, ToolError};
use super::grep::{LARGEST, Matches};
use super::read::is_binary;
use super::workspace::{Place, Workspace, slashed};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// Default and maximum number of results.
const RESULTS: usize = 100;
const MOST_RESULTS: usize = 500;
/// Approximate maximum length of a result, in characters.
const CHARS: usize = 24_000;
/// Maximum number of context lines before and after a match.
const AROUND: usize = 10;
/// Maximum number of folder entries visited, and of bytes read from files.
const ENTRIES: usize = 200_000;
const BYTES: u64 = 512 << 20;
/// Maximum size of a compiled pattern, in bytes.
const PATTERN: usize = 1 << 20;
/// Time reserved before the deadline to report the matches so far.
const MARGIN: Duration = Duration::from_millis(300);
/// Maximum folder depth.
const DEPTH: usize = 64;

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Default)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Content,
    Files,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// Regular expression; with target files: glob for names
    pattern: String,
    /// Folder or file to search [workspace]
    path: Option<String>,
    /// Only files that match, as *.rs
    glob: Option<String>,
    /// Search content or file names [content]
    #[serde(default)]
    target: Target,
    /// Maximum results [100]
    limit: Option<usize>,
    /// Context lines
    #[serde(default)]
    context: usize,
}

pub(super) fn tool() -> Tool {
    Tool::of(
        "search_files",
        "Search lines or file names in the workspace. Respects .gitignore.",
        move |call, arguments| search(call, &arguments),
    )
    .reading()
}

/// A search in progress.
struct Progressing<'a, 'b> {
    call: &'a ToolContext<'b>,
    until: Deadline<'b>,
    entries: usize,
    searched: usize,
    bytes: u64,
    skipped: usize,
    stopped: Option<String>,
}

fn search(call: &ToolContext<'_>, wanted: &Search) -> Result<Outcome, ToolError> {
    let workspace = call.scope.workspace();
    let place = workspace.place(wanted.path.as_deref().unwrap_or("."))?;
    let most = wanted.limit.unwrap_or(RESULTS).clamp(1, MOST_RESULTS);
    let begin = place.full();
    if !begin.exists() {
        return Err(ToolError::new(
            Code::NotFound,
            format!("{} does not exist in the workspace; search_files with target files lists files", place.shown()),
        ));
    }
    let globs = globs(&place, wanted)?;
    let lines = if wanted.target == Target::Content { Some(pattern(&wanted.pattern)?) } else { None };
    // Reserve time to report the result.
    let until = call.deadline.earlier_by(MARGIN);
    let mut run = Progressing { call, until, entries: 0, searched: 0, bytes: 0, skipped: 0, stopped: None };
    let (mut found, mut names) = (Matches::default(), Vec::new());
    let kept = workspace.kept();
    let walk = WalkBuilder::new(&begin)
        .hidden(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(Some(DEPTH))
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(move |entry| entry.file_name() != ".git" && !kept.holds(entry.path()))
        .build();
    for entry in walk {
        if run.is_over()? {
            break;
        }
        let Ok(entry) = entry else {
            run.skipped += 1;
            continue;
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(relative) = entry.path().strip_prefix(&place.root) else { continue };
        if globs.iter().any(|glob| !glob.matched(entry.path(), false).is_whitelist()) {
            continue;
        }
        match &lines {
            None if names.len() >= most => run.stopped = Some(format!("more than {most} files match")),
            None => names.push(slashed(relative)),
            Some(lines) => {
                let Some(text) = run.read(workspace, &place.root, relative) else { continue };
                if found.add(&slashed(relative), &text, lines, wanted.context.min(AROUND), most, CHARS) {
                    run.stopped = Some(format!("more than {} lines match", found.lines));
                }
            }
        }
    }
    let mut outcome = match wanted.target {
        Target::Files => Outcome::default().with("count", names.len()).with("files", names),
        Target::Content => Outcome::default()
            .with("count", found.lines)
            .with("matches", found.text)
            .with("files_with_matches", found.files)
            .with("files_searched", run.searched),
    };
    if run.skipped > 0 {
        let note = format!("{} files were skipped: too large, binary, or unreadable", run.skipped);
        outcome = outcome.with("skipped", note);
    }
    if let Some(why) = run.stopped {
        let note = format!("{why}; narrow path, glob or pattern");
        outcome = outcome.with("truncated", note);
    }
    Ok(outcome)
}

impl Progressing<'_, '_> {
    /// Whether the search has to stop: cancelled, or at a limit.
    fn is_over(&mut self) -> Result<bool, ToolError> {
        if self.until.is_cancelled() {
            return Err(ToolError::new(Code::Cancelled, "cancelled: the client disconnected"));
        }
        self.entries += 1;
        if self.stopped.is_none() {
            self.stopped = if self.until.passed() {
                Some(format!("the time limit was reached after {} files", self.searched.max(self.entries)))
            } else if self.entries > ENTRIES {
                Some(format!("{ENTRIES} files and folders were visited"))
            } else if self.bytes > BYTES {
                Some(format!("{} MB were searched", BYTES >> 20))
            } else {
                None
            };
        }
        if self.entries.is_multiple_of(2_000) {
            let done = u32::try_from(self.entries).unwrap_or(u32::MAX);
            let message = format!("{} files searched", self.searched);
            (self.call.progress)(Progress { done: f64::from(done), total: None, message });
        }
        Ok(self.stopped.is_some())
    }

    /// The text of a file; `None` if it cannot be searched.
    fn read(&mut self, workspace: &Workspace, root: &Path, relative: &Path) -> Option<String> {
        let path = Place { root: root.to_owned(), relative: relative.to_owned() };
        let read = workspace.open(&path).ok().and_then(|(file, stamp)| {
            let mut bytes = Vec::new();
            let is_small = stamp.bytes <= LARGEST;
            (is_small && file.take(LARGEST).read_to_end(&mut bytes).is_ok()).then_some(bytes)
        });
        let Some(bytes) = read.filter(|bytes| !is_binary(bytes)) else {
            self.skipped += 1;
            return None;
        };
        self.bytes += bytes.len() as u64;
        self.searched += 1;
        Some(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

/// The globs that paths must match.
fn globs(place: &Place, wanted: &Search) -> Result<Vec<Override>, ToolError> {
    let of_names = (wanted.target == Target::Files).then_some(&wanted.pattern);
    let glob = |text: &String| {
        let bad =
            |error: ignore::Error| ToolError::new(Code::BadRequest, format!("{text:?} is not a valid glob: {error}"));
        let mut builder = OverrideBuilder::new(&place.root);
        builder.add(text.trim_start_matches('!')).map_err(bad)?;
        builder.build().map_err(bad)
    };
    of_names.into_iter().chain(&wanted.glob).map(glob).collect()
}

fn pattern(text: &str) -> Result<Regex, ToolError> {
    let built = RegexBuilder::new(text).size_limit(PATTERN).dfa_size_limit(PATTERN).build();
    built.map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        ToolError::new(
            Code::BadRequest,
            format!("pattern is not a valid regular expression: {why}; escape literal special characters with \\"),
        )
    })
}
