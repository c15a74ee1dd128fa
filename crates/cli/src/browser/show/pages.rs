//! Snapshots, text, images, frames, console, events.

use serde_json::Value;

use super::super::super::output::{Out, clean};
use super::{is, list, note, one_line, pending, short, whole, word};

/// Prints the snapshot to stdout and notes to stderr.
pub(in super::super) fn snapshot(value: &Value, out: &Out) {
    if is(value, "blockedByDialog") {
        out.warning("no snapshot: a dialog is open");
        return beside(value, out);
    }
    match value["snapshot"].as_str() {
        Some(text) => whole(text, out),
        None => whole(&aria_lines(value), out),
    }
    if value["stats"]["lines"] == 0 && !is(value, "loading") {
        out.aside(match value["url"].as_str() {
            _ if is(value, "unchanged") => "no change since the last snapshot",
            Some("about:blank") => "the page is empty (about:blank); `cdpilot navigate URL` opens one",
            _ => "nothing to show with these options, or the page has no content yet; `cdpilot wait --text TEXT` waits",
        });
    }
    if let Some(group) = value["snapshot"].as_str().and_then(folded) {
        out.aside(&format!("similar elements are folded: `cdpilot snapshot --expand {group}` shows those at {group}"));
    }
    let picture = word(value, "path");
    if !picture.is_empty() {
        out.aside(&format!("screenshot: {picture}"));
    }
    if is(value, "full") {
        out.aside("no earlier snapshot to compare with (new document or other options): this is the full snapshot");
    }
    if is(value, "truncated") && !value["snapshot"].as_str().unwrap_or_default().ends_with(" lines]") {
        out.aside("truncated: there is more beyond the limits (see --limit, --max-chars, --depth)");
    }
    let note = value["snapshot"].as_str().and_then(|text| text.lines().last()?.strip_prefix("[truncated: "));
    if let Some((shown, _)) = note.filter(|_| is(value, "truncated")).and_then(|note| note.split_once(" of ")) {
        out.aside(&format!(
            "{shown} lines shown; --offset continues after lines already read, --max-chars 0 shows all"
        ));
    }
    loading(value, out);
    pdf(value, out);
    beside(value, out);
}

/// The ref of the first folded run in a snapshot.
fn folded(snapshot: &str) -> Option<&str> {
    snapshot.lines().find_map(|line| {
        let (count, rest) =
            line.trim_start_matches(['+', ' ']).strip_prefix("- ")?.split_once(" more like these [ref=")?;
        count.bytes().all(|digit| digit.is_ascii_digit()).then(|| rest.trim_end_matches(']'))
    })
}

fn pdf(value: &Value, out: &Out) {
    if is(value, "pdf") {
        out.aside("the tab shows a PDF, which is not read; `cdpilot download --document` saves the file");
    }
}

fn loading(value: &Value, out: &Out) {
    if is(value, "loading") {
        out.aside("the tab is loading, and its server has not answered yet; try again later, or navigate elsewhere");
    }
}

/// Prints open dialogs to stderr.
fn beside(value: &Value, out: &Out) {
    super::dialogs::in_the_way(value, out);
}

/// The nodes of an `aria` snapshot as lines.
pub(in super::super) fn aria_lines(value: &Value) -> String {
    let mut lines = String::new();
    for node in list(value, "nodes") {
        let depth = usize::try_from(node["depth"].as_u64().unwrap_or_default()).unwrap_or_default();
        lines.push_str(&"  ".repeat(depth.min(100)));
        lines.push_str(&format!("- {}", word(node, "role")));
        let put = |lines: &mut String, before: &str, name: &str, behind: &str| {
            let text = word(node, name);
            if !text.is_empty() {
                lines.push_str(&format!("{before}{text}{behind}"));
            }
        };
        put(&mut lines, " \"", "name", "\"");
        put(&mut lines, " [ref=", "ref", "]");
        put(&mut lines, ": ", "value", "");
        put(&mut lines, " (", "description", ")");
        lines.push('\n');
    }
    lines
}

/// Prints the matches of a locator, one per line.
pub(in super::super) fn found(value: &Value, out: &Out) {
    for found in list(value, "matches") {
        let name = Some(word(found, "name")).filter(|name| !name.is_empty());
        let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
        let hidden = if found["visible"] == false { " (hidden)" } else { "" };
        let frame = Some(word(found, "frameId")).filter(|frame| !frame.is_empty());
        let frame = frame.map(|frame| format!(" in frame {frame}")).unwrap_or_default();
        out.line(&format!("{} {}{name}{hidden}{frame}", word(found, "ref"), word(found, "role")));
    }
    let (shown, total) = (list(value, "matches").len() as u64, value["total"].as_u64().unwrap_or_default());
    if total == 0 {
        out.aside("no matches");
    } else if total > shown {
        out.aside(&format!("{} more matches; --limit shows more", total - shown));
    }
}

/// Prints a property of an element.
pub(in super::super) fn got(value: &Value, out: &Out) {
    got_or(value, "is not rendered, so it has no box", out);
}

pub(in super::super) fn got_value(value: &Value, out: &Out) {
    got_or(value, "has no value; `get text` reads its text", out);
}

pub(in super::super) fn got_attribute(value: &Value, out: &Out) {
    got_or(value, "does not have this attribute", out);
}

/// Prints a property, or why the element has none.
fn got_or(value: &Value, absent: &str, out: &Out) {
    match &value["value"] {
        Value::String(text) if text.is_empty() => out.aside("empty"),
        Value::String(text) => whole(text, out),
        Value::Null => {
            let element = &value["element"];
            let name = Some(word(element, "name")).filter(|name| !name.is_empty());
            let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
            out.aside(&format!("no value: {} {}{name} {absent}", word(element, "ref"), word(element, "role")));
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                out.line(&format!("{name}: {value}"));
            }
        }
        other => out.line(&other.to_string()),
    }
    if is(value, "truncated") {
        out.aside("truncated after 100,000 characters");
    }
}

pub(in super::super) fn text(value: &Value, out: &Out) {
    whole(value["text"].as_str().unwrap_or_default(), out);
    if is(value, "truncated") {
        out.aside("truncated: there is more; show it with --max-chars or --offset");
    }
    loading(value, out);
    pdf(value, out);
    beside(value, out);
}

pub(in super::super) fn picture(value: &Value, out: &Out) {
    let size = format!("{} x {}", word(value, "width"), word(value, "height"));
    let size = if value["width"].is_null() { String::new() } else { format!("  {}", out.style.dim(&size)) };
    out.line(&format!("{}{}", word(value, "path"), if out.quiet { "" } else { &size }));
    for label in list(value, "annotations") {
        note(&format!("{:>4}  {} {}", word(label, "number"), word(label, "role"), word(label, "name")), out);
    }
    list(value, "notes").iter().filter_map(Value::as_str).for_each(|text| out.aside(&one_line(text)));
    beside(value, out);
}

pub(in super::super) fn path(value: &Value, out: &Out) {
    out.line(&word(value, "path"));
    beside(value, out);
}

pub(in super::super) fn uploaded(value: &Value, out: &Out) {
    let names: Vec<String> = list(value, "files").iter().filter_map(Value::as_str).map(one_line).collect();
    let files = match names.as_slice() {
        [one] => one.clone(),
        several => format!("{} files ({})", several.len(), several.join(", ")),
    };
    let element = &value["element"];
    if is(value, "armed") {
        let time = value["armedForMs"].as_u64().map(|time| format!(" within {} s", time.div_ceil(1000)));
        let time = time.unwrap_or_default();
        note(
            &format!("armed {files} for the next file chooser of the tab; click the element that opens it{time}"),
            out,
        );
    } else if element.is_object() {
        let name = Some(word(element, "name")).filter(|name| !name.is_empty());
        let name = name.map(|name| format!(" \"{name}\"")).unwrap_or_default();
        note(&format!("uploaded {files} to {}{name} [ref={}]", word(element, "role"), word(element, "ref")), out);
    } else {
        note(&format!("uploaded {files}"), out);
    }
    pending(value, out);
}

pub(in super::super) fn frames(value: &Value, out: &Out) {
    let tree = &value["frame_tree"];
    let children = list(tree, "children");
    frame(&tree["top"], children, 0, out);
    if is(tree, "truncated") {
        out.aside("truncated: there are more frames; list them with --full");
    }
}

/// Prints a frame and, indented below it, its child frames.
fn frame(of: &Value, all: &[Value], depth: usize, out: &Out) {
    // Guards against cycles in an invalid answer.
    if !of.is_object() || depth > 50 {
        return;
    }
    let id = word(of, "frame_id");
    let apart = if is(of, "is_oopif") { " (own process)" } else { "" };
    out.line(&format!("{}{id}  {}{apart}", "  ".repeat(depth), word(of, "url")));
    let inside = all.iter().filter(|child| !id.is_empty() && word(child, "parent_frame_id") == id);
    inside.for_each(|child| frame(child, all, depth + 1, out));
}

pub(in super::super) fn console(value: &Value, out: &Out) {
    let messages = list(value, "messages");
    if messages.is_empty() {
        note("no messages", out);
    }
    for message in messages {
        let level = word(message, "level");
        let painted = match level.as_str() {
            "error" => out.style.red(&format!("{level:<7}")),
            "warning" | "warn" => out.style.yellow(&format!("{level:<7}")),
            _ => out.style.dim(&format!("{level:<7}")),
        };
        let text = clean(message["text"].as_str().unwrap_or_default());
        // Continuation lines are indented, to distinguish them from messages.
        let mut lines = text.lines();
        out.line(&format!("{painted} {}{}", lines.next().unwrap_or_default(), out.style.dim(&place(message))));
        lines.for_each(|line| out.line(&format!("        {line}")));
    }
}

pub(in super::super) fn errors(value: &Value, out: &Out) {
    let errors = list(value, "errors");
    if errors.is_empty() {
        note("no errors", out);
    }
    for error in errors {
        out.line(&format!("{}{}", out.style.red(&word(error, "message")), out.style.dim(&place(error))));
        let stack = error["stack"].as_str().unwrap_or_default();
        stack.lines().skip(1).take(5).for_each(|line| note(&format!("    {}", one_line(line)), out));
    }
}

/// ` (url:line)`.
fn place(value: &Value) -> String {
    let (url, line) = (word(value, "url"), word(value, "line"));
    match (url.is_empty(), line.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!(" ({})", short(&url, 80)),
        (false, false) => format!(" ({}:{line})", short(&url, 80)),
    }
}

/// Prints an event on one line.
pub(in super::super) fn event(name: &str, value: &Value, out: &Out) {
    if name == "reset" {
        return out.aside(match value["reason"].as_str() {
            Some("other_start") => {
                "the event given by --since is not stored; the stored events follow, if there are any"
            }
            _ => "events were lost; all stored events follow",
        });
    }
    let mut rest = value.clone();
    if let Some(map) = rest.as_object_mut() {
        ["seq", "ts", "type"].iter().for_each(|name| drop(map.remove(*name)));
    }
    let seq = word(value, "seq");
    out.line(&format!(
        "{} {} {}",
        out.style.dim(&format!("{seq:>6}")),
        out.style.bold(name),
        one_line(&rest.to_string())
    ));
}
