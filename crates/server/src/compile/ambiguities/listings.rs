//! Pages that show a list which was searched, sorted or filtered.

use std::collections::{HashMap, HashSet};

use super::elements::{self, role};
use super::trace::{self, Seen};
use super::words::{self, line};
use crate::record::draft::facts;
use crate::record::{Event, EventType};

/// Pages whose list was searched, sorted or filtered.
#[derive(Default)]
pub(super) struct Listings {
    /// By tab: the page that is a list now.
    pages: HashMap<u64, String>,
    /// Tabs in which a search field was filled, until the result is shown.
    searching: HashSet<u64>,
}

impl Listings {
    /// Takes an event. Events are taken in order.
    pub(super) fn event(&mut self, seen: &Seen<'_>) {
        let event = seen.event;
        let element = event.element.as_ref();
        let name = || line(element.map(elements::label).unwrap_or_default());
        let lists = match event.event_type {
            EventType::Input => {
                if element.is_some_and(elements::is_search) {
                    self.searching.insert(event.tab);
                }
                false
            }
            EventType::Keydown => facts::text(event, "key") == Some("Enter") && self.searching.contains(&event.tab),
            EventType::Submit => self.searching.contains(&event.tab),
            EventType::TabNavigated => self.searching.remove(&event.tab),
            EventType::Change => {
                let title = element.and_then(|element| element.container.as_ref()).map_or("", |around| &around.title);
                words::says(&name(), words::LISTING) || words::says(&line(title), words::LISTING)
            }
            EventType::Click => element.is_some_and(|element| {
                let is_control =
                    matches!(role(element), "button" | "link" | "option" | "menuitem" | "menuitemradio" | "tab");
                let is_search = self.searching.contains(&event.tab) && role(element) == "button";
                let name = line(elements::name(element));
                role(element) == "columnheader" || is_search || (is_control && words::says(&name, words::LISTING))
            }),
            _ => false,
        };
        if lists {
            self.pages.insert(event.tab, trace::page(facts::url(event)).to_owned());
        }
    }

    /// Whether an event is on a page whose list was searched, sorted or filtered before.
    pub(super) fn is_listing(&self, event: &Event) -> bool {
        let url = event.page.url.as_str();
        let query = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or(query));
        let is_query = query
            .split('&')
            .filter_map(|part| part.split_once('='))
            .any(|(name, value)| !value.is_empty() && words::is(&line(name), words::LISTING_QUERY));
        is_query || self.pages.get(&event.tab).is_some_and(|page| page == trace::page(url))
    }
}
