//! Facts of elements that the finders share.

use super::words::{self, line};
use crate::record::draft::facts;
use crate::record::{Container, Element, Event};

/// The longest part of a selector or tag that is searched for words, in bytes.
const HINT: usize = 300;

/// The role of an element; that of its tag, if the recording has none.
pub(super) fn role(element: &Element) -> &str {
    match (element.role.as_str(), element.tag.as_str()) {
        ("" | "generic" | "none" | "presentation", tag) => match tag {
            "a" => "link",
            "button" => "button",
            "select" => "combobox",
            "input" | "textarea" => "textbox",
            "tr" => "row",
            "td" => "cell",
            "li" => "listitem",
            "article" => "article",
            _ => "generic",
        },
        (role, _) => role,
    }
}

/// The name of an element as a person reads it; empty if it has none.
pub(super) fn name(element: &Element) -> &str {
    let text = if element.sensitive { "" } else { element.text.as_str() };
    [element.name.as_str(), &element.label, text].into_iter().find(|name| !name.trim().is_empty()).unwrap_or_default()
}

/// The label of a field; its accessible name or test id, if it has none.
pub(super) fn label(element: &Element) -> &str {
    let parts = [element.label.as_str(), &element.name, &element.test_id];
    parts.into_iter().find(|part| !part.trim().is_empty()).unwrap_or_default()
}

/// The first tag of the HTML of an element, with its attributes.
pub(super) fn opening_tag(element: &Element) -> &str {
    let end = element.html.find('>').unwrap_or(element.html.len()).min(HINT);
    element.html.get(..end).unwrap_or_default()
}

/// Where a link leads, as its HTML says; empty if it does not.
pub(super) fn href(element: &Element) -> &str {
    let href = opening_tag(element).split_once(" href=\"").and_then(|(_, rest)| rest.split('"').next());
    href.unwrap_or_default()
}

/// Selectors, test id and attributes of an element as words, without the address of a link.
pub(super) fn hints(element: &Element) -> String {
    let mut text = String::new();
    let selectors = element.selectors.iter().filter(|selector| !selector.contains("[href="));
    for part in selectors.chain([&element.test_id]) {
        text.push_str(part.get(..HINT).unwrap_or(part));
        text.push(' ');
    }
    let tag = opening_tag(element);
    let (before, after) = tag.split_once(" href=\"").unwrap_or((tag, ""));
    text.push_str(before);
    text.push_str(after.split_once('"').map_or("", |(_, after)| after));
    line(&text)
}

/// Identifies the element of an event on its page, also when its name changes with its value.
pub(super) fn key(event: &Event) -> Option<String> {
    let element = event.element.as_ref()?;
    let own = match element.selectors.first() {
        Some(selector) => selector.clone(),
        None if label(element).is_empty() => return facts::identity(event),
        None => format!("{} {}", role(element), label(element)),
    };
    let container = element.container.as_ref().map(|container| container.title.as_str()).unwrap_or_default();
    Some(format!("{}\u{1f}{}\u{1f}{own}\u{1f}{container}", event.tab, super::trace::page(&event.page.url)))
}

/// The form or dialog around an element.
pub(super) fn form_of(element: &Element) -> Option<&Container> {
    element.container.as_ref().filter(|container| matches!(container.kind.as_str(), "form" | "dialog" | "alertdialog"))
}

/// Whether a button opens a menu or list.
pub(super) fn opens_popup(element: &Element) -> bool {
    role(element) == "button" && {
        let tag = opening_tag(element);
        tag.contains("aria-haspopup=") && !tag.contains("aria-haspopup=\"false\"") && !tag.contains("=\"dialog\"")
    }
}

/// Whether an element is a choice of an open list or menu.
pub(super) fn is_option(element: &Element) -> bool {
    let is_role = matches!(
        role(element),
        "option" | "menuitem" | "menuitemradio" | "menuitemcheckbox" | "treeitem" | "radio" | "checkbox"
    );
    is_role || ["role=\"option\"", "dropdown-item", "menu-item"].iter().any(|hint| opening_tag(element).contains(hint))
}

/// Whether a click chooses a day of a calendar: a day number in a grid, or a button or cell named like a date.
pub(super) fn is_day(element: &Element) -> bool {
    let role = role(element);
    if !matches!(role, "gridcell" | "cell" | "button") {
        return false;
    }
    let name = name(element).trim();
    let (kind, title) =
        element.container.as_ref().map_or(("", ""), |around| (around.kind.as_str(), around.title.as_str()));
    // The row of a calendar has other days; that of a table has anything.
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_week = || line(title).split(' ').all(|word| is_number(word) || words::is(word, words::CALENDAR));
    if matches!(kind, "card" | "item") || (kind == "row" && !is_week()) {
        return false;
    }
    if name.len() <= 2 {
        let is_number = name.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
        return is_number && (role == "gridcell" || matches!(kind, "row" | "dialog"));
    }
    let line = line(name);
    name.len() <= 60 && name.bytes().any(|byte| byte.is_ascii_digit()) && words::says(&line, words::CALENDAR)
}

/// Whether an element is a field in which a person looks for something.
pub(super) fn is_search(element: &Element) -> bool {
    if role(element) == "searchbox" || opening_tag(element).contains("type=\"search\"") {
        return true;
    }
    let own = [element.name.as_str(), &element.label, &element.test_id, element.selectors.first().map_or("", |s| s)];
    own.into_iter().any(|part| words::says(&line(part.get(..HINT).unwrap_or(part)), words::SEARCH))
}
