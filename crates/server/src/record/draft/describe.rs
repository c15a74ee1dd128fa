//! Sentences about steps. Texts of pages are quoted, and cut.

use serde_json::Value;

use super::super::event::{Element, Event, FrameStep};
use super::facts::{self, short};
use super::types::{Action, DialogAnswer, SubmitBy};

/// The longest quoted text, in characters.
const QUOTED: usize = 80;
/// The longest address, in characters.
const ADDRESS: usize = 200;
/// Fields and files that one sentence lists.
const LISTED: usize = 8;

pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", short(text, QUOTED))
}

pub(super) fn address(url: &str) -> String {
    short(url, ADDRESS)
}

/// The used element: `button “Save” in row “Harbour lease”`.
pub(super) fn target(event: &Event) -> String {
    let mut sentence = match &event.element {
        Some(element) => element_with_container(element),
        None => "the page".to_owned(),
    };
    if let Some(frame) = event.frame.last() {
        sentence.push_str(&format!(" in {}", frame_name(frame)));
    }
    sentence
}

fn frame_name(frame: &FrameStep) -> String {
    if !frame.name.trim().is_empty() {
        return format!("frame {}", quoted(&frame.name));
    }
    match url::Url::parse(&frame.url).ok().and_then(|url| url.host_str().map(str::to_owned)) {
        Some(host) => format!("a frame of {}", short(&host, QUOTED)),
        None => format!("frame {}", frame.index.saturating_add(1)),
    }
}

fn element_with_container(element: &Element) -> String {
    let mut sentence = element_name(element);
    if let Some(container) = element.container.as_ref().filter(|container| !container.title.trim().is_empty()) {
        let kind = if container.kind.is_empty() { "section" } else { &container.kind };
        sentence.push_str(&format!(" in {} {}", short(kind, 20), quoted(&container.title)));
    }
    sentence
}

/// `button “Save”`, or `textbox without a name`.
pub(super) fn element_name(element: &Element) -> String {
    let noun = match (element.role.as_str(), element.tag.as_str()) {
        ("" | "generic" | "none" | "presentation", "a") => "link",
        ("" | "generic" | "none" | "presentation", "input" | "textarea") => "field",
        ("" | "generic" | "none" | "presentation", "select") => "list",
        ("" | "generic" | "none" | "presentation", "button") => "button",
        ("" | "generic" | "none" | "presentation", _) => "element",
        (role, _) => role,
    };
    let noun = short(noun, 40);
    let text = if element.sensitive { "" } else { &element.text };
    let names = [element.name.as_str(), &element.label, text, &element.test_id];
    match names.into_iter().find(|name| !name.trim().is_empty()) {
        Some(name) => format!("{noun} {}", quoted(name)),
        None => match element.selectors.first() {
            Some(selector) => format!("{noun} `{}`", short(selector, QUOTED)),
            None => format!("{noun} without a name"),
        },
    }
}

pub(super) fn click(event: &Event, action: Action, modifiers: &[String]) -> String {
    let verb = match action {
        Action::DoubleClick => "Double-click",
        Action::RightClick => "Right-click",
        Action::MiddleClick => "Middle-click",
        _ => "Click",
    };
    let held = if modifiers.is_empty() { String::new() } else { format!(" holding {}", modifiers.join("+")) };
    format!("{verb} {}{held}", target(event))
}

pub(super) fn press(event: &Event, key: &str, modifiers: &[String], count: u64) -> String {
    let keys: Vec<String> = modifiers.iter().cloned().chain([key_name(key)]).collect();
    let times = if count > 1 { format!(" {count} times") } else { String::new() };
    let at = if event.element.is_some() { format!(" in {}", target(event)) } else { String::new() };
    format!("Press {}{times}{at}", keys.join("+"))
}

fn key_name(key: &str) -> String {
    if key == " " { "Space".to_owned() } else { short(key, 30) }
}

/// A field of a form step, with what is done to it.
pub(super) enum Filled<'f> {
    Text(&'f str),
    /// Value or label of options.
    Choice(Vec<String>),
    Checked(bool),
    /// A secret, or a value that is not known: the name of the input.
    Input(&'f str),
}

pub(super) fn field(event: &Event, filled: &Filled<'_>) -> String {
    let target = target(event);
    match filled {
        Filled::Text("") => format!("clear {target}"),
        Filled::Text(text) => format!("enter {} in {target}", quoted(text)),
        Filled::Choice(options) if options.is_empty() => format!("choose nothing in {target}"),
        Filled::Choice(options) => {
            let options: Vec<String> = options.iter().take(LISTED).map(|option| quoted(option)).collect();
            format!("choose {} in {target}", options.join(", "))
        }
        Filled::Checked(true) => format!("check {target}"),
        Filled::Checked(false) => format!("uncheck {target}"),
        Filled::Input(name) => format!("enter the input `{name}` in {target}"),
    }
}

/// A form step, from the parts of its fields.
pub(super) fn form(fields: &[String], submit: Option<(SubmitBy, Option<&Event>)>) -> String {
    let mut parts: Vec<String> = fields.iter().take(LISTED).cloned().collect();
    match fields.len().saturating_sub(LISTED) {
        0 => {}
        1 => parts.push("fill 1 more field".to_owned()),
        more => parts.push(format!("fill {more} more fields")),
    }
    parts.extend(submit.map(|submit| match submit {
        (SubmitBy::Click, Some(event)) => format!("submit with {}", target(event)),
        (SubmitBy::Enter, _) => "submit with Enter".to_owned(),
        _ => "submit the form".to_owned(),
    }));
    let sentence = match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    };
    capital(&sentence)
}

fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

pub(super) fn scroll(event: &Event, direction: &str, container: Option<&str>) -> String {
    match (container, &event.element) {
        (Some(title), _) if !title.trim().is_empty() => format!("Scroll {direction} in {}", quoted(title)),
        (_, Some(_)) => format!("Scroll {direction} in {}", target(event)),
        (Some(_), None) => format!("Scroll {direction} in a part of the page"),
        (None, None) => format!("Scroll {direction} until the next element is in view"),
    }
}

pub(super) fn drag(event: &Event, to: &Value) -> String {
    let part = |key: &str| to.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let role = part("role").or_else(|| part("tag")).map_or_else(|| "element".to_owned(), |role| short(role, 40));
    let name = ["name", "label", "text"].into_iter().find_map(part);
    let number = |key: &str| to.get(key).and_then(Value::as_f64);
    let end = match (name, number("x"), number("y")) {
        (Some(name), ..) => format!("to {role} {}", quoted(name)),
        (None, Some(x), Some(y)) => format!("to position {}, {}", x.round(), y.round()),
        _ => "to another place".to_owned(),
    };
    format!("Drag {} {end}", target(event))
}

pub(super) fn files(event: &Event, names: &[String]) -> String {
    let listed: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
    let more = names.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = match names.len() {
        0 => return format!("Choose no file in {}", target(event)),
        1 => "file",
        _ => "files",
    };
    format!("Choose {noun} {}{more} in {}", listed.join(", "), target(event))
}

pub(super) fn dialog(answer: &DialogAnswer) -> String {
    let verb = if answer.accepted { "Accept" } else { "Dismiss" };
    let text = match &answer.prompt_text {
        Some(text) if answer.accepted => format!(" with {}", quoted(text)),
        _ => String::new(),
    };
    format!("{verb} the {} dialog {}{text}", short(&answer.dialog, 20), quoted(&answer.message))
}

/// `tab 2 “Orders”`.
pub(super) fn tab(number: u64, title: &str) -> String {
    let title = if title.trim().is_empty() { String::new() } else { format!(" {}", quoted(title)) };
    format!("tab {number}{title}")
}

/// The goal of a recording without a name.
pub(super) fn goal(last: &str, url: &str) -> String {
    let host = url::Url::parse(facts::page(url)).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = host.map_or_else(String::new, |host| format!(" on {}", short(&host, QUOTED)));
    match last {
        "" => "Nothing was recorded".to_owned(),
        last => format!("Repeat the recorded steps{host}, which end with: {last}"),
    }
}
