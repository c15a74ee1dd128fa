//! Uses of items of lists: clicks on or in one of several elements that are alike.

use std::collections::{HashMap, HashSet};

use super::alike::{action, shape, without_numbers};
use super::elements::{self, hints, is_day, is_option, opens_popup, role};
use super::fills::{Fill, Holds};
use super::listings::Listings;
use super::trace::{self, Seen, Trace};
use super::words::{self, line};
use crate::record::draft::facts;
use crate::record::{Container, Element, Event, EventType};

/// The use of an item.
pub(super) struct Use<'e> {
    pub(super) event: u64,
    /// The page, with `#` for numbers: pages of one list and of alike items are the same.
    pub(super) page: String,
    pub(super) element: &'e Element,
    /// The item; `None` for a result that has no container.
    pub(super) item: Option<&'e Container>,
    /// Name of the item and its address; identifies it on its page.
    pub(super) key: String,
    /// The action: role and name, without numbers and the name of the item.
    pub(super) action: String,
    /// Role and the address or selector without the part that differs between items; `None` if nothing is alike.
    pub(super) shape: Option<String>,
    /// Whether it sets a checkbox or switch: a position is never meant by it, and only several of them are a choice.
    pub(super) is_toggle: bool,
}

/// Uses of items in order.
pub(super) fn uses<'e>(trace: &Trace<'e>, fills: &[Fill<'_>], claimed: &HashSet<u64>) -> Vec<Use<'e>> {
    let mut listings = Listings::default();
    let mut uses = Vec::new();
    // An item whose name the person entered before is meant by its name.
    let mut typed: HashMap<String, u64> = HashMap::new();
    for field in fills.iter().flat_map(|fill| &fill.fields).filter(|field| field.holds == Holds::Text) {
        let first = field.events.first().copied().unwrap_or_default();
        let value = field.value.trim().to_lowercase();
        if value.len() > 2 {
            typed.entry(value).or_insert(first);
        }
    }
    for seen in &trace.0 {
        let event = seen.event;
        if let Some(element) = &event.element
            && !claimed.contains(&event.event_index)
            && !is_after_popup(trace, seen)
            && let Some(one) = item_use(event, element, &listings)
        {
            let name = line_of(one.item, element);
            if typed.get(&name).is_none_or(|typed| *typed > event.event_index) {
                uses.push(one);
            }
        }
        listings.event(seen);
    }
    uses
}

/// The name by which an item may have been typed.
fn line_of(item: Option<&Container>, element: &Element) -> String {
    item.map_or(elements::name(element), |item| item.title.as_str()).trim().to_lowercase()
}

/// Whether a click chooses in a list or menu that the action before it has opened.
fn is_after_popup(trace: &Trace<'_>, seen: &Seen<'_>) -> bool {
    let Some(before) = trace.get(seen.before).map(|before| before.event) else { return false };
    let Some((opener, element)) = before.element.as_ref().zip(seen.event.element.as_ref()) else { return false };
    if before.event_type == EventType::Change || opener.tag == "select" {
        return false;
    }
    let is_list = matches!(role(opener), "combobox" | "listbox") && !matches!(role(element), "link" | "button");
    is_list || (opens_popup(opener) && before.event_type == EventType::Click)
}

fn item_use<'e>(event: &'e Event, element: &'e Element, listings: &Listings) -> Option<Use<'e>> {
    let role = role(element);
    let is_check = event.event_type == EventType::Change && event.data.get("checked").is_some();
    let is_toggle = matches!(role, "checkbox" | "switch");
    let is_use = match event.event_type {
        EventType::Click => is_toggle || !(is_option(element) || is_control(role)),
        EventType::Drag => element.container.is_some(),
        _ => is_check && is_toggle,
    };
    if !is_use || is_day(element) || opens_popup(element) && element.container.is_none() {
        return None;
    }
    let title = &event.page.title;
    let item = element.container.as_ref().filter(|container| is_item(container));
    let item = item.filter(|item| !is_subject(item, title, &event.page.url));
    let name = line(elements::name(element));
    if is_paging(&name, role, item) {
        return None;
    }
    if item.is_none() && (is_toggle || !is_content(role) || !is_result(event, element, &name, listings)) {
        return None;
    }
    if is_navigation(element, item.is_some())
        || is_link_of_list(event, element, item.is_some())
        || (is_toggle && is_setting(event, element, item, &name))
    {
        return None;
    }
    let key = match item {
        Some(item) => format!("{}\u{1f}{}", item.title, item.href),
        None => format!("{name}\u{1f}{}", element.selectors.first().map_or("", String::as_str)),
    };
    let (action, shape) = (action(role, &name, item, element), shape(role, element));
    let page = without_numbers(trace::page(&event.page.url));
    Some(Use { event: event.event_index, page, element, item, key, action, shape, is_toggle })
}

/// Controls of forms and views, which are no items.
fn is_control(role: &str) -> bool {
    matches!(
        role,
        "tab"
            | "tablist"
            | "textbox"
            | "searchbox"
            | "combobox"
            | "listbox"
            | "spinbutton"
            | "slider"
            | "columnheader"
            | "menu"
            | "menubar"
            | "menuitem"
            | "form"
            | "separator"
            | "radiogroup"
    )
}

/// Whether elements of a role lead to an item or are one.
fn is_content(role: &str) -> bool {
    matches!(role, "link" | "row" | "cell" | "gridcell" | "listitem" | "article" | "heading" | "image" | "img")
}

fn is_item(container: &Container) -> bool {
    let kind = container.kind.as_str();
    let is_kind = matches!(
        kind,
        "row"
            | "item"
            | "card"
            | "listitem"
            | "list_item"
            | "list item"
            | "article"
            | "gridcell"
            | "treeitem"
            | "tile"
            | "result"
    );
    is_kind && !(container.title.trim().is_empty() && container.href.is_empty())
}

/// Whether a page is about an item, as that of a product: then the item is no choice.
fn is_subject(item: &Container, title: &str, url: &str) -> bool {
    if !item.href.is_empty() && facts::page(&item.href) == facts::page(url) {
        return true;
    }
    let (item, title) = (item.title.trim().to_lowercase(), title.to_lowercase());
    let is_part =
        title.split(['|', '–', '—', '·', ':']).flat_map(|part| part.split(" - ")).any(|part| part.trim() == item);
    !item.is_empty() && (is_part || (item.chars().count() >= 12 && title.contains(&item)))
}

fn is_paging(name: &str, role: &str, item: Option<&Container>) -> bool {
    let is_symbol = !name.is_empty() && name.chars().all(|c| "«»‹›<>←→…".contains(c));
    let is_number = !name.is_empty() && name.len() <= 3 && name.bytes().all(|byte| byte.is_ascii_digit());
    let is_page = name
        .rsplit_once(' ')
        .is_some_and(|(word, number)| words::is(word, words::PAGE) && number.bytes().all(|byte| byte.is_ascii_digit()));
    let is_row = item.is_some_and(|item| matches!(item.kind.as_str(), "row" | "card"));
    let is_number = is_number && !is_row && matches!(role, "link" | "button");
    is_symbol || is_number || is_page || words::is(name, words::PAGING)
}

fn is_navigation(element: &Element, is_item: bool) -> bool {
    let hints = hints(element);
    words::says(&hints, words::NAVIGATION) || (!is_item && words::says(&hints, words::FRAME))
}

/// Whether a checkbox or switch is a setting or filter: it is called like its item, or is on a page of settings.
fn is_setting(event: &Event, element: &Element, item: Option<&Container>, name: &str) -> bool {
    let title = line(item.map_or("", |item| item.title.as_str()));
    let is_named_so = !name.is_empty() && (title == name || title.starts_with(name));
    let is_unnamed = name.is_empty() && item.is_some_and(|item| item.kind != "row");
    let page = line(&format!("{} {}", trace::page(&event.page.url), event.page.title));
    is_named_so
        || is_unnamed
        || words::says(&page, words::ACCOUNT_CHANGE)
        || words::says(&hints(element), words::LISTING)
}

/// Whether an element without a container is one of several results.
fn is_result(event: &Event, element: &Element, name: &str, listings: &Listings) -> bool {
    let is_listed =
        listings.is_listing(event) && !words::is(name, words::SITE_LINKS) && !words::says(name, words::LISTING);
    is_listed || matches!(role(element), "row" | "listitem" | "article") || is_positional(element)
}

/// Whether a link sorts, filters or turns over the list that it is on, or leads to the first page of the site.
fn is_link_of_list(event: &Event, element: &Element, is_item: bool) -> bool {
    if words::says(&hints(element), words::HEADER_CELL) {
        return true;
    }
    let href = elements::href(element);
    if href.is_empty() {
        return false;
    }
    let (path, query) = href.split_once('?').unwrap_or((href, ""));
    let end = format!("/{}", path.trim_start_matches(['.', '/']));
    let is_same =
        path.is_empty() || path == trace::page(&event.page.url) || trace::page(&event.page.url).ends_with(&end);
    let names = query.split('&').filter_map(|part| part.split('=').next());
    let is_listing = names
        .map(|name| line(name.trim_start_matches("amp;")))
        .any(|name| words::is(&name, words::LISTING_QUERY) || words::is(&name, words::TURNING_QUERY));
    (is_same && (is_listing || (query.is_empty() && !is_item))) || (path == "/" && !is_item)
}

/// Whether an element can be found only by its place in a list.
fn is_positional(element: &Element) -> bool {
    let is_place = |selector: &String| {
        let steps = selector.split(['>', ' ']).filter(|step| step.contains(":nth-"));
        let mut tags = steps.map(|step| step.split([':', '.', '[']).next().unwrap_or_default());
        tags.any(|tag| matches!(tag, "li" | "tr" | "article" | "figure" | "dd"))
    };
    !element.selectors.is_empty() && element.selectors.iter().all(is_place)
}
