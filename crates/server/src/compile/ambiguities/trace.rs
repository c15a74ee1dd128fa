//! The events in order, each with the action before and after it on the same page.

use std::collections::HashMap;

use crate::record::draft::facts;
use crate::record::{Event, EventType};

/// An event and its place among the actions of its tab.
pub(super) struct Seen<'e> {
    pub(super) event: &'e Event,
    /// Number of the page that its tab showed; a page that is loaded again has another number.
    pub(super) visit: usize,
    /// Position of the previous action in the same document. A script may have changed its address since.
    pub(super) before: Option<usize>,
    /// Position of the next action in the same tab, also on another page.
    pub(super) after: Option<usize>,
}

/// The events of a recording in order.
pub(super) struct Trace<'e>(pub(super) Vec<Seen<'e>>);

#[derive(Default)]
struct Tab<'e> {
    visit: usize,
    page: &'e str,
    last_action: Option<usize>,
}

impl<'e> Trace<'e> {
    pub(super) fn new(events: &'e [Event]) -> Self {
        let mut events: Vec<&Event> = events.iter().collect();
        events.sort_by_key(|event| event.event_index);
        let mut tabs: HashMap<u64, Tab<'e>> = HashMap::new();
        let mut visits = 0;
        let mut seen: Vec<Seen<'e>> = Vec::with_capacity(events.len());
        for (position, event) in events.into_iter().enumerate() {
            let tab = tabs.entry(event.tab).or_default();
            let page = page(facts::url(event));
            let (is_page, is_document) = match event.event_type {
                // A new document is viewed after it was opened; a script only changes the address.
                EventType::TabNavigated if facts::cause(event).is_some() => (page != tab.page, false),
                EventType::TabNavigated | EventType::TabBack | EventType::TabForward | EventType::PageView => {
                    (true, true)
                }
                _ => (tab.visit == 0, false),
            };
            if is_page {
                visits += 1;
                (tab.visit, tab.page) = (visits, page);
            }
            if is_document {
                tab.last_action = None;
            }
            seen.push(Seen { event, visit: tab.visit, before: tab.last_action, after: None });
            if is_action(event) {
                tab.last_action = Some(position);
            }
        }
        let mut next: HashMap<u64, usize> = HashMap::new();
        for (position, seen) in seen.iter_mut().enumerate().rev() {
            seen.after = next.get(&seen.event.tab).copied();
            if is_action(seen.event) {
                next.insert(seen.event.tab, position);
            }
        }
        Self(seen)
    }

    pub(super) fn get(&self, position: Option<usize>) -> Option<&Seen<'e>> {
        self.0.get(position?)
    }
}

/// Whether an event may open, choose or submit something.
fn is_action(event: &Event) -> bool {
    match event.event_type {
        EventType::Keydown => facts::text(event, "key") != Some("Tab"),
        EventType::Click
        | EventType::Input
        | EventType::Change
        | EventType::Submit
        | EventType::Drag
        | EventType::FileChosen => true,
        _ => false,
    }
}

/// An address without its query and fragment. A fragment that is a path, as in `#/orders`, stays.
pub(super) fn page(url: &str) -> &str {
    let (start, is_routed) = match url.find("#/").or_else(|| url.find("#!")) {
        Some(fragment) => (fragment + 1, true),
        None => (0, false),
    };
    let ends: &[char] = if is_routed { &['?'] } else { &['?', '#'] };
    let end = url.get(start..).and_then(|rest| rest.find(ends)).map_or(url.len(), |end| start + end);
    url.get(..end).unwrap_or(url)
}
