//! Recordings, events and drafts as lines of text. Texts of pages are untrusted: they are cleaned and cut.

use serde_json::Value;

use super::super::output::one_line;

/// Characters of a text of a page that are shown.
const SHOWN: usize = 60;
/// Characters of an address that are shown.
const SHOWN_URL: usize = 100;

/// A recording in one line.
pub(super) fn recording(one: &Value) -> String {
    let status = match (&one["status"], &one["paused"]) {
        (status, paused) if status == "active" && paused == true => "paused".to_owned(),
        (status, _) => text(status),
    };
    let name = text(&one["name"]);
    let name = if name.is_empty() { String::new() } else { format!("  {name}") };
    let url = cut(&text(&one["start_url"]), SHOWN_URL);
    let url = if url.is_empty() { url } else { format!("  {url}") };
    format!("{}  {status:<7}  {}{name}{url}", text(&one["recording_id"]), counted(one))
}

/// How a recording ended.
pub(super) fn ended(one: &Value) -> String {
    let why = match one["stop_reason"].as_str() {
        Some("browser_disconnected") => ": the browser ended",
        Some("server_ended") => ": the server ended",
        Some("window_closed") => ": the window was closed",
        Some("limit") => ": it has reached its limit",
        _ => "",
    };
    let id = text(&one["recording_id"]);
    format!("stopped{why}, {}; `cdpilot record show {id}` shows it", counted(one))
}

fn counted(one: &Value) -> String {
    let (events, gaps) = (number(&one["event_count"]), number(&one["gaps"]));
    let events = if events == 1 { "1 event".to_owned() } else { format!("{events} events") };
    match gaps {
        0 => events,
        1 => format!("{events}, 1 gap"),
        gaps => format!("{events}, {gaps} gaps"),
    }
}

/// An event in one line: its number, its type, what it was about.
pub(in super::super) fn event(event: &Value) -> String {
    let kind = text(&event["event_type"]);
    let about = about(event, &kind);
    let about = if about.is_empty() { String::new() } else { format!("  {about}") };
    let by = if event["by"] == "agent" { "  (agent)" } else { "" };
    format!("{:>3}  {kind}{about}{by}", number(&event["event_index"]))
}

fn about(event: &Value, kind: &str) -> String {
    let (data, element) = (&event["data"], element(event));
    let with = |more: String| match (element.is_empty(), more.is_empty()) {
        (_, true) => element.clone(),
        (true, _) => more,
        _ => format!("{element}: {more}"),
    };
    match kind {
        "click" => {
            let button = text(&data["button"]);
            let button =
                if matches!(button.as_str(), "" | "left") { String::new() } else { format!(" ({button} button)") };
            let count = match number(&data["count"]) {
                0 | 1 => String::new(),
                2 => " (double)".to_owned(),
                count => format!(" ({count} times)"),
            };
            format!("{element}{button}{count}")
        }
        "input" if data["value"].is_null() => with("(not recorded)".to_owned()),
        "input" => with(quoted(&text(&data["value"]))),
        "change" => with(change(data)),
        "keydown" => with(keys(data)),
        "scroll" => with(format!("to {}, {}", number(&data["x"]), number(&data["y"]))),
        "drag" => format!("{} to {}", place(&data["from"]), place(&data["to"])),
        "file_chosen" => with(list(&data["names"])),
        "dialog" => {
            let how = if data["accepted"] == true { "accepted" } else { "dismissed" };
            let entered = data["prompt_text"].as_str().map(|entered| format!(" with {}", quoted(entered)));
            format!("{} {}: {how}{}", text(&data["type"]), quoted(&text(&data["message"])), entered.unwrap_or_default())
        }
        "download" => quoted(&text(&data["filename"])),
        "gap" => {
            let count = data["count"].as_u64().map_or_else(
                || "events are".to_owned(),
                |count| match count {
                    1 => "1 event is".to_owned(),
                    count => format!("{count} events are"),
                },
            );
            format!("{count} missing: {}", cut(&text(&data["why"]), SHOWN_URL))
        }
        "tab_created" | "tab_activated" | "tab_ready" | "tab_navigated" | "tab_back" | "tab_forward" | "tab_closed" => {
            let url = data["url"].as_str().or_else(|| event["page"]["url"].as_str()).unwrap_or_default();
            format!("tab {} {}", number(&event["tab"]), cut(&one_line(url), SHOWN_URL)).trim_end().to_owned()
        }
        "page_view" | "recording_started" => cut(&text(&event["page"]["url"]), SHOWN_URL),
        _ => element,
    }
}

/// The element of an event: its role and its name, what is around it, and its frame.
fn element(event: &Value) -> String {
    let element = &event["element"];
    if !element.is_object() {
        return String::new();
    }
    let mut shown = place(element);
    let container = &element["container"];
    let (kind, title) = (text(&container["kind"]), text(&container["title"]));
    if !title.is_empty() {
        shown = format!("{shown} in {kind} {}", quoted(&title));
    }
    if let Some(frame) = event["frame"].as_array().and_then(|frames| frames.last()) {
        let name = Some(text(&frame["name"])).filter(|name| !name.is_empty()).unwrap_or_else(|| text(&frame["url"]));
        shown = format!("{shown} in frame {}", quoted(&name));
    }
    shown
}

/// An element by its role and name, or a place as it is given.
fn place(value: &Value) -> String {
    if let Some(plain) = value.as_str() {
        return cut(&one_line(plain), SHOWN);
    }
    let first = |names: &[&str]| names.iter().map(|name| text(&value[*name])).find(|text| !text.is_empty());
    let role = first(&["role", "tag"]).unwrap_or_default();
    match first(&["name", "label", "text", "test_id"]) {
        Some(name) => format!("{role} {}", quoted(&name)).trim_start().to_owned(),
        None => role,
    }
}

fn change(data: &Value) -> String {
    if let Some(is_checked) = data["checked"].as_bool() {
        return if is_checked { "checked" } else { "unchecked" }.to_owned();
    }
    let Some(values) = data["values"].as_array() else { return quoted(&text(&data["value"])) };
    let label = |one: &Value| {
        let label = text(&one["label"]);
        quoted(&if label.is_empty() { text(&one["value"]) } else { label })
    };
    values.iter().map(label).collect::<Vec<_>>().join(", ")
}

fn keys(data: &Value) -> String {
    let held = data["modifiers"].as_array().into_iter().flatten().map(text);
    held.chain([text(&data["key"])]).collect::<Vec<_>>().join("+")
}

fn list(values: &Value) -> String {
    values.as_array().into_iter().flatten().map(|name| quoted(&text(name))).collect::<Vec<_>>().join(", ")
}

/// The steps of a draft, one a line.
pub(super) fn draft(draft: &Value) -> Vec<String> {
    let steps = draft["normalized_steps"].as_array().into_iter().flatten().zip(1..);
    let mut all: Vec<String> = steps
        .map(|(step, n)| format!("{n:>3}  {:<8}  {}", text(&step["type"]), cut(&text(&step["description"]), SHOWN_URL)))
        .collect();
    let warnings = draft["workflow"]["warnings"].as_array().into_iter().flatten();
    all.extend(warnings.map(|warning| format!("warning: {}", text(&warning["message"]))));
    all
}

/// A value as one line of text.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        Value::Null => String::new(),
        other => one_line(&other.to_string()),
    }
}

/// A whole number; fractions are cut off.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_f64().map_or(0, |number| number.max(0.0) as u64))
}

fn quoted(text: &str) -> String {
    format!("“{}”", cut(&one_line(text), SHOWN))
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(kind: &str, element: Value, data: Value) -> String {
        event(&json!({ "event_index": 12, "event_type": kind, "tab": 2, "element": element, "data": data,
                       "page": { "url": "https://a.test/", "title": "A" } }))
    }

    #[test]
    fn events_are_one_line_each() {
        let save =
            json!({ "role": "button", "name": "Save", "container": { "kind": "row", "title": "Harbour lease" } });
        let field = || json!({ "tag": "input", "role": "textbox", "label": "City" });
        let cases = [
            (
                "click",
                save.clone(),
                json!({ "button": "left", "count": 1 }),
                "click  button “Save” in row “Harbour lease”",
            ),
            (
                "click",
                json!({ "tag": "div" }),
                json!({ "button": "right", "count": 2 }),
                "click  div (right button) (double)",
            ),
            ("input", field(), json!({ "value": "Oslo\nBergen" }), "input  textbox “City”: “Oslo Bergen”"),
            ("input", field(), json!({ "value": null }), "input  textbox “City”: (not recorded)"),
            ("change", field(), json!({ "checked": true }), "change  textbox “City”: checked"),
            (
                "change",
                field(),
                json!({ "values": [{ "value": "n", "label": "North" }] }),
                "change  textbox “City”: “North”",
            ),
            ("keydown", Value::Null, json!({ "key": "Enter", "modifiers": ["Control"] }), "keydown  Control+Enter"),
            ("scroll", Value::Null, json!({ "x": 0, "y": 120.6 }), "scroll  to 0, 120"),
            (
                "dialog",
                Value::Null,
                json!({ "type": "confirm", "message": "Delete?", "accepted": true }),
                "dialog  confirm “Delete?”: accepted",
            ),
            (
                "file_chosen",
                field(),
                json!({ "names": ["a.pdf", "b.pdf"] }),
                "file_chosen  textbox “City”: “a.pdf”, “b.pdf”",
            ),
            (
                "gap",
                Value::Null,
                json!({ "count": null, "why": "the page ended" }),
                "gap  events are missing: the page ended",
            ),
            ("tab_navigated", Value::Null, json!({ "url": "https://b.test/" }), "tab_navigated  tab 2 https://b.test/"),
            ("page_view", Value::Null, json!({}), "page_view  https://a.test/"),
            ("recording_stopped", Value::Null, json!({}), "recording_stopped"),
        ];
        for (kind, element, data, wanted) in cases {
            assert_eq!(line(kind, element, data), format!(" 12  {wanted}"));
        }
    }

    #[test]
    fn texts_of_pages_stay_on_their_line() {
        let name = format!("a\u{202e}b\u{1b}[2J\n{}", "x".repeat(100));
        let line = line("click", json!({ "role": "button", "name": name }), json!({}));
        assert!(line.contains("“ab[2J xxx") && line.ends_with("…”") && line.chars().count() < 90, "{line}");
        assert!(!line.contains(['\u{202e}', '\u{1b}', '\n']), "{line}");
    }

    #[test]
    fn recordings_say_what_is_missing() {
        let one = |events: u64, gaps: u64| {
            ended(&json!({ "recording_id": "r", "stop_reason": "window_closed", "event_count": events, "gaps": gaps }))
        };
        assert!(one(1, 0).starts_with("stopped: the window was closed, 1 event; "), "{}", one(1, 0));
        assert!(one(12, 2).contains("12 events, 2 gaps"), "{}", one(12, 2));
        let paused = json!({ "recording_id": "r", "status": "active", "paused": true, "name": "n", "event_count": 2, "gaps": 0,
                             "start_url": "https://a.test/" });
        assert_eq!(recording(&paused), "r  paused   2 events  n  https://a.test/");
    }
}
