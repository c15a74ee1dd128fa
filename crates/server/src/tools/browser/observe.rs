//! Tools that read: snapshots, screenshots, console, images.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Capped, Image, Outcome, Tool, ToolContext, ToolError};
use super::result::frames;
use super::{Browser, BrowserTools, soon};
use crate::control::TabHandle;
use cdpilot::page::{Act, PictureType, ScreenshotOptions, Snapshot, SnapshotOptions};

/// Maximum size of a snapshot, in characters.
const SNAPSHOT: usize = 15_000;
/// Maximum size of a snapshot inside another result, in characters.
const SHORT: usize = 6_000;
/// Time limit of a snapshot inside another result.
const ALONG: Duration = Duration::from_secs(10);
/// Maximum number of console messages; the newest are kept.
const MESSAGES: usize = 100;
/// Lists images of the page, except data URLs.
const IMAGES: &str = "[...document.images].filter(i => !i.currentSrc.startsWith('data:')).slice(0, 200)
    .map(i => ({src: i.currentSrc || i.src, alt: i.alt, width: i.naturalWidth, height: i.naturalHeight}))";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SnapshotArguments {
    /// Include text, not only interactive elements
    #[serde(default)]
    full: bool,
    /// Ref of a folded group to expand
    expand: Option<String>,
    /// Frame id, or ref of an iframe
    frame: Option<String>,
    /// Only changes since the last snapshot
    #[serde(default)]
    diff: bool,
    /// Lines to skip
    #[serde(default)]
    offset: usize,
    target: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScreenshotArguments {
    /// Only this element
    r#ref: Option<String>,
    /// Entire page, not only the viewport
    #[serde(default)]
    full_page: bool,
    /// Number the elements; [3] is ref e3
    #[serde(default)]
    labels: bool,
    target: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConsoleArguments {
    /// Clear them afterwards
    #[serde(default)]
    clear: bool,
    /// Run this JavaScript instead
    expression: Option<String>,
    target: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TabArguments {
    target: Option<String>,
}

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    let (snapshots, screenshots, console, images) =
        (browser.clone(), browser.clone(), browser.clone(), browser.clone());
    vec![
        Tool::of(
            "browser_snapshot",
            "Read the page, all frames, as lines with refs (e12) for other tools. Lists frames and dialogs.",
            move |call, arguments: SnapshotArguments| {
                let browser = snapshots.on(call);
                let tab = browser.tab_to_read(arguments.target.as_deref())?.tab;
                // A diff uses the options of the last snapshot.
                let continues =
                    arguments.diff && !arguments.full && arguments.expand.is_none() && arguments.frame.is_none();
                let view = tab.last_view(true).filter(|_| continues).unwrap_or_else(|| {
                    let mut options = SnapshotOptions::default();
                    options.interactive = !arguments.full && arguments.expand.is_none();
                    options.fold = true;
                    options.expand = arguments.expand;
                    options.frame = arguments.frame;
                    options
                });
                let redact = Some(browser.secrets.clone());
                let mut options = view;
                options.diff = arguments.diff;
                options.max_chars = 0;
                options.redact = redact;
                let seen = tab.snapshot(&options, soon(call))?;
                let outcome = browser.placed(
                    snapshot_outcome(&seen, arguments.offset),
                    seen.target_id.as_str(),
                    &seen.url,
                    &seen.title,
                );
                Ok(browser.finished(hinted(outcome, &seen, options.interactive)))
            },
        )
        .reading(),
        Tool::of("browser_screenshot", "Take a screenshot of the viewport.", move |call, arguments| {
            screenshot(&screenshots.on(call), call, arguments)
        })
        .reading(),
        Tool::of("browser_console", "List console messages and errors of the page.", move |call, arguments| {
            messages(&console.on(call), call, arguments)
        }),
        Tool::of(
            "browser_get_images",
            "List images of the page: URL, alt text, size.",
            move |call, arguments: TabArguments| {
                let images = images.on(call);
                let found = evaluated(&images.tab_to_read(arguments.target.as_deref())?, IMAGES, &images, call)?;
                let count = found.as_array().map_or(0, Vec::len);
                Ok(images.finished(Outcome::default().with("images", found).with("count", count)))
            },
        )
        .reading(),
    ]
}

/// A short snapshot to include in another result.
pub(super) fn short(browser: &Browser<'_>, target: Option<&str>, call: &ToolContext<'_>) -> Result<Outcome, ToolError> {
    let redact = Some(browser.secrets.clone());
    let mut options = SnapshotOptions::default();
    options.interactive = true;
    options.fold = true;
    options.max_chars = 0;
    options.redact = redact;
    let seen = browser.tab_to_read(target)?.tab.snapshot(&options, call.deadline.within(ALONG))?;
    let text = Capped::of(seen.snapshot.as_deref().unwrap_or_default(), SHORT).noted("call browser_snapshot");
    let outcome = Outcome::default().with_covered("snapshot", text).with("element_count", seen.refs.len());
    Ok(hinted(outcome, &seen, true))
}

/// Adds a hint to an empty snapshot, which is easily mistaken for an empty page, and to one with folded elements.
fn hinted(outcome: Outcome, seen: &Snapshot, is_interactive: bool) -> Outcome {
    let text = seen.snapshot.as_deref().unwrap_or_default();
    if seen.pdf {
        return outcome.with(
            "hint",
            "a PDF, whose content is not read; browser_console with this expression saves the file: \
             Object.assign(document.createElement('a'), {href: location.href, download: ''}).click()",
        );
    }
    if let Some(group) = text.lines().find_map(folded_group) {
        return outcome.with(
            "hint",
            format!("similar elements are folded; browser_snapshot with expand: {group:?} shows those of {group}"),
        );
    }
    if !text.is_empty() || seen.loading || seen.blocked_by_dialog || seen.unchanged {
        return outcome;
    }
    if !is_interactive {
        return outcome.with("hint", "the page shows nothing, at least not yet; call browser_wait");
    }
    outcome.with("hint", "no interactive elements; call browser_snapshot with full: true to read the text")
}

/// The ref of a line that stands for folded elements: `- 12 more like these [ref=e40]`.
fn folded_group(line: &str) -> Option<&str> {
    let (count, rest) = line.trim_start().strip_prefix("- ")?.split_once(" more like these [ref=")?;
    count.bytes().all(|digit| digit.is_ascii_digit()).then(|| rest.trim_end_matches(']'))
}

fn snapshot_outcome(seen: &Snapshot, offset: usize) -> Outcome {
    let text = seen.snapshot.as_deref().unwrap_or_default();
    let capped = Capped::after(text, offset, SNAPSHOT);
    let next = offset + capped.text.lines().count();
    let mut outcome = Outcome::default()
        .with_covered("snapshot", capped.noted(&format!("call again with offset {next}")))
        .with("element_count", seen.refs.len());
    let lines = text.lines().count();
    if offset > 0 && offset >= lines && !text.is_empty() {
        outcome = outcome.with("note", format!("offset {offset} is beyond the end ({lines} lines)"));
    }
    if let Some(frames) = frames(&seen.frame_tree) {
        outcome = outcome.with("frame_tree", frames);
    }
    if seen.blocked_by_dialog {
        outcome = outcome.with("blockedByDialog", true);
    }
    for (name, is_set) in [("full", seen.full), ("truncated", seen.truncated), ("unchanged", seen.unchanged)] {
        if is_set {
            outcome = outcome.with(name, true);
        }
    }
    if seen.loading {
        outcome = outcome
            .with("loading", true)
            .with("note", "the server has not responded yet; call browser_wait, or navigate elsewhere");
    }
    outcome
}

fn screenshot(
    browser: &Browser<'_>,
    call: &ToolContext<'_>,
    wanted: ScreenshotArguments,
) -> Result<Outcome, ToolError> {
    let mut options = ScreenshotOptions::for_model();
    options.reference = wanted.r#ref;
    options.full_page = wanted.full_page;
    options.labels = wanted.labels;
    let tab = browser.tab_to_read(wanted.target.as_deref())?.tab;
    let picture = match tab.screenshot(&options, soon(call)) {
        Ok(picture) => picture,
        // The page cannot be rendered while a dialog is open: use the last screenshot.
        Err(error) if error.is_blocked_by_dialog() => {
            let Some(last) = tab.supervisor().last_picture(tab.target()) else { return Err(error.into()) };
            let mut outcome = Outcome::default()
                .with("url", &*last.url)
                .with("blockedByDialog", true)
                .with("taken_at", last.taken_at)
                .with("note", "a dialog is open; this screenshot was taken before it opened");
            outcome.images.push(Image { media_type: "image/png", bytes: last.png.to_vec() });
            return Ok(browser.finished(outcome));
        }
        Err(error) => return Err(error.into()),
    };
    let media_type = if picture.kind == PictureType::Png { "image/png" } else { "image/jpeg" };
    let mut outcome = Outcome::default().with("width", picture.width).with("height", picture.height);
    if let Some(annotations) = picture.annotations {
        outcome = outcome.with("annotations", json!(annotations));
    }
    if let Some(at) = picture.cut_at {
        outcome = outcome.with("cut_at", at);
    }
    outcome.images.push(Image { media_type, bytes: picture.bytes });
    Ok(browser.finished(outcome))
}

fn messages(browser: &Browser<'_>, call: &ToolContext<'_>, wanted: ConsoleArguments) -> Result<Outcome, ToolError> {
    if let Some(expression) = wanted.expression {
        let result = evaluated(&browser.tab(wanted.target.as_deref())?, &expression, browser, call)?;
        let kind = match &result {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let outcome = Outcome::default().with("result_type", kind);
        return Ok(browser.finished(browser.with_result(outcome, result)?));
    }
    let tab = browser.tab_to_read(wanted.target.as_deref())?.tab;
    let (messages, errors) = (tab.console(None, None, wanted.clear), tab.errors(None, wanted.clear));
    let (total, failed) = (messages.len(), errors.len());
    let messages = newest(messages.iter().map(|message| {
        let entry = json!({ "type": message.level, "text": message.text, "source": "console" });
        with_location(entry, message.url.as_deref(), message.line)
    }));
    let errors = newest(errors.iter().map(|error| {
        let entry = json!({ "message": error.message, "source": "exception" });
        with_location(entry, error.url.as_deref(), error.line)
    }));
    let left_out = total + failed - messages.len() - errors.len();
    let mut outcome = Outcome::default()
        .with("console_messages", messages)
        .with("js_errors", errors)
        .with("total_messages", total)
        .with("total_errors", failed);
    if left_out > 0 {
        outcome = outcome
            .with("left_out", left_out)
            .with("note", "only the newest entries are shown; call again with clear: true to start over");
    }
    Ok(browser.finished(outcome))
}

/// Adds the script URL and line.
fn with_location(mut entry: Value, url: Option<&str>, line: Option<i64>) -> Value {
    if let Some(url) = url.filter(|url| !url.is_empty()) {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        entry["at"] = format!("{url}{line}").into();
    }
    entry
}

/// The newest entries within the size limit.
fn newest(all: impl DoubleEndedIterator<Item = Value>) -> Vec<Value> {
    let mut room = SNAPSHOT;
    let mut kept: Vec<Value> = all
        .rev()
        .take(MESSAGES)
        .take_while(|entry| {
            let size = entry.to_string().len();
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        })
        .collect();
    kept.reverse();
    kept
}

fn evaluated(on: &TabHandle, script: &str, browser: &Browser<'_>, call: &ToolContext<'_>) -> Result<Value, ToolError> {
    call.scope.check_script()?;
    super::act::may_evaluate(browser)?;
    let act = Act::parse(json!({ "kind": "evaluate", "fn": script }))?;
    let outcome = super::act::scripted(browser, call, on, act)?;
    Ok(outcome.result.unwrap_or_default())
}
