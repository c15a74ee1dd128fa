//! Drafts of traces, as the recorder writes them.

mod forms;
mod pages;
mod steps;

use serde_json::{Value, json};

use super::super::event::{Area, Container, Element, Event, EventType, PageShown};
use super::{Draft, Effect, Postcondition, Step, draft};

const SHOP: &str = "https://shop.example/";

/// Builds a trace, numbered from 1.
#[derive(Default)]
struct Trace(Vec<Event>);

impl Trace {
    fn add(&mut self, event_type: EventType, element: Option<Element>, data: Value) -> &mut Event {
        let event_index = self.0.len() as u64 + 1;
        let page = PageShown { url: SHOP.to_owned(), title: "Shop".to_owned() };
        let data = data.as_object().cloned().unwrap_or_default();
        let event = Event {
            event_index,
            event_type,
            timestamp: event_index as f64,
            by: Default::default(),
            tab: 1,
            frame: Vec::new(),
            page,
            element,
            data,
            keyframe: None,
            keyframe_after: None,
        };
        self.0.push(event);
        self.0.last_mut().unwrap()
    }

    fn click(&mut self, role: &str, name: &str) -> &mut Event {
        self.add(EventType::Click, Some(element(role, name)), json!({ "button": "left", "count": 1, "modifiers": [] }))
    }

    fn input(&mut self, name: &str, value: &str) -> &mut Event {
        self.add(EventType::Input, Some(element("textbox", name)), json!({ "value": value, "source_count": 3 }))
    }

    fn key(&mut self, key: &str, role: &str, name: &str) -> &mut Event {
        self.add(EventType::Keydown, Some(element(role, name)), json!({ "key": key, "modifiers": [] }))
    }

    fn submit(&mut self) -> &mut Event {
        self.add(EventType::Submit, Some(element("form", "Order")), json!({}))
    }

    fn navigated(&mut self, url: &str, caused_by: Option<u64>) -> &mut Event {
        let event = self.add(EventType::TabNavigated, None, json!({ "url": url, "caused_by": caused_by }));
        event.page.url = url.to_owned();
        event
    }

    fn of_tab(&mut self, event_type: EventType, tab: u64, data: Value) -> &mut Event {
        let event = self.add(event_type, None, data);
        event.tab = tab;
        event
    }

    fn draft(&self) -> Draft {
        draft("rec-1", None, &self.0)
    }

    fn steps(&self) -> Vec<Step> {
        self.draft().normalized_steps
    }

    /// The descriptions of the steps.
    fn descriptions(&self) -> Vec<String> {
        self.steps().into_iter().map(|step| step.description).collect()
    }
}

fn element(role: &str, name: &str) -> Element {
    let selectors = if name.is_empty() { Vec::new() } else { vec![format!("#{}", name.replace(' ', "-"))] };
    Element { tag: "div".to_owned(), role: role.to_owned(), name: name.to_owned(), selectors, ..Element::default() }
}

fn within(kind: &str, title: &str) -> Option<Container> {
    Some(Container { kind: kind.to_owned(), title: title.to_owned(), ..Container::default() })
}

fn at(y: f64) -> Option<Area> {
    Some(Area { x: 100.0, y, width: 80.0, height: 20.0 })
}

fn goes_to(url: &str) -> Option<Postcondition> {
    Some(Postcondition::One(Effect::Url { url: url.to_owned() }))
}
