//! The recording as a model reads it: a summary, rows of events, one event, the derived steps.
//!
//! All texts of pages are cut and stand in quotation marks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::Evidence;
pub(super) use crate::record::draft::facts::short as cut;
use crate::record::draft::{Effect, Postcondition};
use crate::record::{Actor, Element, Event, EventType};
use cdpilot::text::shown;

/// Most rows of one answer.
pub const MOST_ROWS: usize = 50;
/// Longest event in full, in characters.
const MOST_DETAIL: usize = 8_000;
/// Longest name or text of an element in a row, and longest value, in characters.
const MOST_TEXT: usize = 80;
const MOST_VALUE: usize = 300;
/// Longest address, in characters.
const MOST_ADDRESS: usize = 150;
/// Most pages in a summary.
const MOST_PAGES: usize = 40;
/// Most runs of event numbers in a list.
const MOST_RUNS: usize = 30;

impl Evidence {
    /// An overview: what was recorded, on which pages, and what it leaves open.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "Recording {}", quoted(self.name.as_deref().unwrap_or("without a name"), MOST_TEXT));
        match self.intent_note.trim() {
            "" => out.push_str("Intent note of the person: none\n"),
            note => {
                let _ = writeln!(out, "Intent note of the person: {}", quoted(note, MOST_DETAIL));
            }
        }
        let mut types: BTreeMap<&str, usize> = BTreeMap::new();
        let mut pages: Vec<(&str, &str, usize)> = Vec::new();
        for event in &self.events {
            *types.entry(event.event_type.as_str()).or_default() += 1;
            let (url, title) = (event.page.url.as_str(), event.page.title.as_str());
            match pages.iter_mut().find(|(known, ..)| *known == url) {
                Some((_, _, count)) => *count += 1,
                None if !url.is_empty() => pages.push((url, title, 1)),
                None => {}
            }
        }
        let types: Vec<String> = types.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let (first, last) = (self.events.first(), self.events.last());
        let range = first.zip(last).map_or_else(String::new, |(first, last)| {
            format!(", numbered {} to {}", first.event_index, last.event_index)
        });
        let _ = writeln!(out, "Events: {}{range} ({})", self.events.len(), types.join(", "));
        let pictures = self.events.iter().filter(|event| event.keyframe.is_some()).count();
        let _ = writeln!(out, "Events with a screenshot: {pictures}");
        let _ = writeln!(out, "Derived steps: {} (command normalized_steps)", self.draft.normalized_step_count);
        out.push_str("Pages, in the order of their first event:\n");
        for (url, title, count) in pages.iter().take(MOST_PAGES) {
            let _ = writeln!(out, "- {} {} ({count} events)", cut(url, MOST_ADDRESS), quoted(title, MOST_TEXT));
        }
        if pages.len() > MOST_PAGES {
            let _ = writeln!(out, "- and {} more", pages.len() - MOST_PAGES);
        }
        if let Some(page) = self.events.iter().rev().map(|event| &event.page).find(|page| !page.url.is_empty()) {
            let _ = writeln!(
                out,
                "Page that the person saw last: {} {}",
                cut(&page.url, MOST_ADDRESS),
                quoted(&page.title, MOST_TEXT)
            );
        }
        for warning in &self.draft.workflow.warnings {
            let _ = writeln!(out, "Warning: {}", cut(&warning.message, MOST_VALUE));
        }
        out.push_str(&self.open_points());
        out
    }

    /// The ambiguities, a line each.
    fn open_points(&self) -> String {
        if self.ambiguities.is_empty() {
            return "Ambiguities: none was found. Ask all the same if you are not sure what the person wants.\n"
                .to_owned();
        }
        let mut out =
            "Ambiguities that must be asked (ask_user with the topic) or settled (submit_routine, settled):\n"
                .to_owned();
        for one in &self.ambiguities {
            let by = if one.settled_by_event { "an event or the intent note" } else { "the intent note only" };
            let _ = writeln!(
                out,
                "- {} topic {}, events {}: {} Suggested question: {} Can be settled by a quotation of {by}.",
                one.id,
                one.kind.as_str(),
                numbers(&one.events),
                shown(&one.problem),
                shown(&one.question)
            );
        }
        out
    }

    /// At most `count` events from place `start` (from 0), a row each.
    #[must_use]
    pub fn rows(&self, start: usize, count: usize) -> String {
        let mut out = String::new();
        for event in self.events.iter().skip(start).take(count.clamp(1, MOST_ROWS)) {
            out.push_str(&row(event));
            out.push('\n');
        }
        let end = start.saturating_add(count.clamp(1, MOST_ROWS)).min(self.events.len());
        out.push_str(&rest(end, self.events.len(), "events"));
        out
    }

    /// At most `count` derived steps from place `start` (from 0), a line each.
    #[must_use]
    pub fn step_rows(&self, start: usize, count: usize) -> String {
        let mut out = String::new();
        for step in self.draft.normalized_steps.iter().skip(start).take(count.clamp(1, MOST_ROWS)) {
            let events = numbers(&step.source_event_indexes);
            let _ = write!(out, "{} {} (events {events})", step.id, cut(&step.description, MOST_VALUE));
            let effects: &[Effect] = match &step.postcondition {
                None => &[],
                Some(Postcondition::One(effect)) => std::slice::from_ref(effect),
                Some(Postcondition::Several(effects)) => &effects.of,
            };
            for effect in effects {
                let _ = write!(out, " -> {}", effect_text(effect));
            }
            out.push('\n');
        }
        let total = self.draft.normalized_steps.len();
        let end = start.saturating_add(count.clamp(1, MOST_ROWS)).min(total);
        out.push_str(&rest(end, total, "steps"));
        out
    }

    /// One event in full, as JSON, cut to 8,000 characters. `None` for a number that the recording does not have.
    #[must_use]
    pub fn detail(&self, index: u64) -> Option<String> {
        let event = self.event(index)?;
        let mut value = serde_json::to_value(event).ok()?;
        if let Some(fields) = value.as_object_mut() {
            for name in ["keyframe", "keyframe_after"] {
                if let Some(path) = fields.get_mut(name) {
                    *path = Value::from("use command keyframe");
                }
            }
        }
        Some(cut(&value.to_string(), MOST_DETAIL))
    }

    /// The numbers that events have, for an error.
    #[must_use]
    pub fn known_events(&self) -> String {
        match (self.events.first(), self.events.last()) {
            (Some(first), Some(last)) => format!(
                "its events have numbers from {} to {}, without those that the person left out",
                first.event_index, last.event_index
            ),
            _ => "it has no events".to_owned(),
        }
    }
}

fn rest(end: usize, total: usize, what: &str) -> String {
    match end < total {
        true => format!("{} more {what}; continue with start {end}\n", total - end),
        false => format!("End of the {total} {what}.\n"),
    }
}

/// Numbers of events: runs as `4 to 9`, cut.
pub(super) fn numbers(all: &[u64]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in all {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let shown = runs.iter().take(MOST_RUNS).map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    });
    let more = if runs.len() > MOST_RUNS { ", …" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// An event on one line.
fn row(event: &Event) -> String {
    let mut out = format!("[{}] {}", event.event_index, event.event_type.as_str());
    if event.by == Actor::Agent {
        out.push_str(" by an agent");
    }
    if let Some(element) = &event.element {
        let _ = write!(out, " {}", element_text(element));
    }
    out.push_str(&data_text(event));
    let _ = write!(out, " | tab {}", event.tab);
    if !event.frame.is_empty() {
        let urls: Vec<String> = event.frame.iter().map(|step| cut(&step.url, MOST_TEXT)).collect();
        let _ = write!(out, ", frame {}", urls.join(" > "));
    }
    if !event.page.url.is_empty() {
        let _ = write!(out, ", page {} {}", cut(&event.page.url, MOST_ADDRESS), quoted(&event.page.title, MOST_TEXT));
    }
    match (&event.keyframe, &event.keyframe_after) {
        (Some(_), Some(_)) => out.push_str(" | screenshots before and after"),
        (Some(_), None) => out.push_str(" | screenshot before"),
        (None, Some(_)) => out.push_str(" | screenshot after"),
        (None, None) => {}
    }
    out
}

fn element_text(element: &Element) -> String {
    let role = if element.role.is_empty() { &element.tag } else { &element.role };
    let name = [&element.name, &element.label, &element.text].into_iter().find(|text| !text.trim().is_empty());
    let mut out = role.clone();
    if let Some(name) = name {
        let _ = write!(out, " {}", quoted(name, MOST_TEXT));
    }
    if element.sensitive {
        out.push_str(" (sensitive)");
    }
    if let Some(container) = element.container.as_ref().filter(|container| !container.kind.is_empty()) {
        let _ = write!(out, " in {}", container.kind);
        if !container.title.is_empty() {
            let _ = write!(out, " {}", quoted(&container.title, MOST_TEXT));
        }
    }
    if !element.test_id.is_empty() {
        let _ = write!(out, ", test id {}", quoted(&element.test_id, MOST_TEXT));
    }
    if let Some(selector) = element.selectors.first() {
        let _ = write!(out, ", selector {}", quoted(selector, MOST_TEXT));
    }
    out
}

fn data_text(event: &Event) -> String {
    let data = |name: &str| event.data.get(name);
    let text = |name: &str, most: usize| data(name).and_then(Value::as_str).map(|text| quoted(text, most));
    match event.event_type {
        EventType::Input => match data("value") {
            Some(Value::Null) | None => ", value not recorded".to_owned(),
            Some(_) => text("value", MOST_VALUE).map_or_else(String::new, |value| format!(", value {value}")),
        },
        EventType::Change => {
            if let Some(values) = data("values").and_then(Value::as_array) {
                let options = values.iter().take(10).map(|one| {
                    let part = |name: &str| quoted(one[name].as_str().unwrap_or_default(), MOST_TEXT);
                    format!("value {} (label {})", part("value"), part("label"))
                });
                return format!(", chosen option: {}", options.collect::<Vec<_>>().join(", "));
            }
            match (data("checked"), text("value", MOST_VALUE)) {
                (Some(Value::Bool(true)), _) => ", checked".to_owned(),
                (Some(Value::Bool(false)), _) => ", unchecked".to_owned(),
                (_, Some(value)) => format!(", value {value}"),
                _ => String::new(),
            }
        }
        EventType::Click => {
            let count = data("count").and_then(Value::as_u64).unwrap_or(1);
            let button = data("button").and_then(Value::as_str).unwrap_or("left");
            match (button, count) {
                ("left", 1) => String::new(),
                ("left", 2) => ", double click".to_owned(),
                (button, count) => format!(", {} button, {count} times", cut(button, 10)),
            }
        }
        EventType::Keydown => text("key", 40).map_or_else(String::new, |key| format!(", key {key}")),
        EventType::FileChosen => {
            format!(", files {}", data("names").map_or_else(String::new, |n| cut(&n.to_string(), MOST_VALUE)))
        }
        EventType::Dialog => {
            let accepted =
                if data("accepted").and_then(Value::as_bool) == Some(true) { "accepted" } else { "dismissed" };
            let kind = data("type").and_then(Value::as_str).unwrap_or("alert");
            let message = text("message", MOST_VALUE).unwrap_or_default();
            let answer = text("prompt_text", MOST_VALUE).map_or_else(String::new, |text| format!(" with {text}"));
            format!(" {} {message} {accepted}{answer}", cut(kind, 20))
        }
        EventType::TabNavigated | EventType::TabBack | EventType::TabForward | EventType::TabCreated => {
            let caused = data("caused_by").and_then(Value::as_u64);
            let url = data("url").and_then(Value::as_str).unwrap_or_default();
            let by = caused.map_or_else(String::new, |cause| format!(", caused by event {cause}"));
            format!(" to {}{by}", cut(url, MOST_ADDRESS))
        }
        EventType::Download => text("filename", MOST_TEXT).map_or_else(String::new, |name| format!(" of {name}")),
        EventType::Gap => text("why", MOST_VALUE).map_or_else(String::new, |why| format!(": {why}")),
        EventType::Drag => {
            let end = |name: &str| data(name).map_or_else(String::new, |end| cut(&end.to_string(), MOST_VALUE));
            format!(" from {} to {}", end("from"), end("to"))
        }
        _ => String::new(),
    }
}

fn effect_text(effect: &Effect) -> String {
    match effect {
        Effect::Url { url } => format!("the tab shows {}", cut(url, MOST_ADDRESS)),
        Effect::Tab { tab, url } => format!("tab {tab} opens with {}", cut(url, MOST_ADDRESS)),
        Effect::TabClosed { tab } => format!("tab {tab} closes"),
        Effect::Dialog(answer) => format!(
            "a {} {} is {}",
            answer.dialog,
            quoted(&answer.message, MOST_VALUE),
            if answer.accepted { "accepted" } else { "dismissed" }
        ),
        Effect::Download { filename, .. } => format!("{} is downloaded", quoted(filename, MOST_TEXT)),
    }
}

/// A text of a page in quotation marks, cut.
pub(super) fn quoted(text: &str, most: usize) -> String {
    format!("\"{}\"", cut(text, most).replace('"', "'"))
}
