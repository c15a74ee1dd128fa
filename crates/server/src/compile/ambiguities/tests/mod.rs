//! Ambiguities of traces, as the recorder writes them.

mod items;
mod overlays;
mod pages;
mod subsets;
mod traces;
mod values;

use serde_json::{Value, json};

use super::{Ambiguity, AmbiguityKind, ambiguities};
use crate::record::draft::draft;
use crate::record::{Container, Element, Event, EventType, PageShown};

const SHOP: &str = "https://shop.example/";

/// Builds a trace, numbered from 1, of a page that each event shows.
struct Trace {
    events: Vec<Event>,
    page: PageShown,
}

impl Default for Trace {
    fn default() -> Self {
        Self { events: Vec::new(), page: PageShown { url: SHOP.to_owned(), title: "Shop".to_owned() } }
    }
}

impl Trace {
    /// A trace whose first page has this address.
    fn at(url: &str, title: &str) -> Self {
        let mut trace = Self::default();
        trace.shows(url, title);
        trace.add(EventType::PageView, None, json!({}));
        trace
    }

    fn shows(&mut self, url: &str, title: &str) {
        self.page = PageShown { url: url.to_owned(), title: title.to_owned() };
    }

    fn add(&mut self, event_type: EventType, element: Option<Element>, data: Value) -> &mut Event {
        let event_index = self.events.len() as u64 + 1;
        self.events.push(Event {
            event_index,
            event_type,
            timestamp: event_index as f64,
            by: Default::default(),
            tab: 1,
            frame: Vec::new(),
            page: self.page.clone(),
            element,
            data: data.as_object().cloned().unwrap_or_default(),
            keyframe: None,
            keyframe_after: None,
        });
        self.events.last_mut().unwrap()
    }

    fn click(&mut self, role: &str, name: &str) -> &mut Element {
        let data = json!({ "button": "left", "count": 1, "modifiers": [] });
        self.add(EventType::Click, Some(element(role, name)), data).element.as_mut().unwrap()
    }

    /// A click on an element in a container.
    fn click_in(&mut self, role: &str, name: &str, kind: &str, title: &str) -> &mut Element {
        let used = self.click(role, name);
        used.container = within(kind, title);
        used
    }

    fn input(&mut self, name: &str, value: &str) -> &mut Element {
        let data = json!({ "value": value, "source_count": 3 });
        self.add(EventType::Input, Some(element("textbox", name)), data).element.as_mut().unwrap()
    }

    fn search(&mut self, value: &str) {
        self.input("Search", value).role = "searchbox".to_owned();
    }

    fn secret(&mut self, name: &str) -> &mut Element {
        let event = self.add(EventType::Input, Some(element("textbox", name)), json!({ "value": null }));
        let element = event.element.as_mut().unwrap();
        element.sensitive = true;
        element
    }

    fn key(&mut self, key: &str, role: &str, name: &str) -> &mut Element {
        let event = self.add(EventType::Keydown, Some(element(role, name)), json!({ "key": key, "modifiers": [] }));
        event.element.as_mut().unwrap()
    }

    fn choose(&mut self, name: &str, value: &str, label: &str) -> &mut Element {
        let data = json!({ "values": [{ "value": value, "label": label }] });
        let event = self.add(EventType::Change, Some(select(name)), data);
        event.element.as_mut().unwrap()
    }

    fn check(&mut self, role: &str, name: &str, kind: &str, title: &str) {
        let mut used = element(role, name);
        used.container = within(kind, title);
        self.add(EventType::Change, Some(used), json!({ "checked": true }));
    }

    fn submit(&mut self) {
        let cause = self.events.len() as u64;
        self.add(EventType::Submit, Some(element("form", "")), json!({ "caused_by": cause }));
    }

    /// The last action opens another page, which loads.
    fn opens(&mut self, url: &str, title: &str) {
        let cause = self.events.len() as u64;
        self.shows(url, title);
        self.add(EventType::TabNavigated, None, json!({ "url": url, "caused_by": cause }));
        self.add(EventType::PageView, None, json!({}));
    }

    fn dialog(&mut self, kind: &str, message: &str) -> &mut Event {
        self.add(EventType::Dialog, None, json!({ "type": kind, "message": message, "accepted": true }))
    }

    fn all(&self) -> Vec<Ambiguity> {
        ambiguities(&self.events, &draft("rec-1", None, &self.events), "")
    }

    /// Kinds and events.
    fn found(&self) -> Vec<(AmbiguityKind, Vec<u64>)> {
        self.all().into_iter().map(|one| (one.kind, one.events)).collect()
    }

    /// Events of the ambiguities of one kind.
    fn of(&self, kind: AmbiguityKind) -> Vec<Vec<u64>> {
        self.found().into_iter().filter(|(found, _)| *found == kind).map(|(_, events)| events).collect()
    }
}

fn element(role: &str, name: &str) -> Element {
    let selectors = if name.is_empty() { Vec::new() } else { vec![format!("#{}", name.replace(' ', "-"))] };
    Element { tag: "div".to_owned(), role: role.to_owned(), name: name.to_owned(), selectors, ..Element::default() }
}

fn select(name: &str) -> Element {
    Element { tag: "select".to_owned(), ..element("combobox", name) }
}

fn within(kind: &str, title: &str) -> Option<Container> {
    Some(Container { kind: kind.to_owned(), title: title.to_owned(), ..Container::default() })
}

/// A case of a table: a name, and the trace.
type Case = (&'static str, fn(&mut Trace));
/// The same with what is expected.
type Expecting<T> = (&'static str, T, fn(&mut Trace));

/// Checks that each case has exactly these ambiguities of a kind.
fn check(kind: AmbiguityKind, expected: &[u64], cases: &[Case]) {
    for (name, build) in cases {
        let mut trace = Trace::default();
        build(&mut trace);
        let expected: &[&[u64]] = if expected.is_empty() { &[] } else { &[expected] };
        assert_eq!(trace.of(kind), expected, "{name}: {:#?}", trace.all());
    }
}
