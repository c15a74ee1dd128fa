//! What is known of a recording that is compiled.

use super::submission::folded;
use super::view::cut;
use super::{Ambiguity, ambiguities};
use crate::record::draft::{Draft, draft};
use crate::record::{Element, Event};

/// Longest question, in characters.
const MOST_QUESTION: usize = 2_000;

/// A recording that is compiled.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Id of the recording.
    pub recording_id: String,
    /// Its name.
    pub name: Option<String>,
    /// What the person wanted to do, in their words; empty without a note.
    pub intent_note: String,
    /// Its events in order, without those that the person excluded.
    pub events: Vec<Event>,
    /// The steps derived from these events.
    pub draft: Draft,
    /// What the events leave open.
    pub ambiguities: Vec<Ambiguity>,
}

impl Evidence {
    /// The evidence of a recording. `exclude`: numbers of events that the person left out.
    #[must_use]
    pub fn new(id: &str, name: Option<&str>, intent_note: &str, events: Vec<Event>, exclude: &[u64]) -> Self {
        let events: Vec<Event> = events.into_iter().filter(|event| !exclude.contains(&event.event_index)).collect();
        let draft = draft(id, name, &events);
        let ambiguities = ambiguities(&events, &draft, intent_note);
        Self {
            recording_id: id.to_owned(),
            name: name.map(ToOwned::to_owned),
            intent_note: intent_note.to_owned(),
            events,
            draft,
            ambiguities,
        }
    }

    /// The event with this number.
    #[must_use]
    pub fn event(&self, index: u64) -> Option<&Event> {
        let at = self.events.binary_search_by_key(&index, |event| event.event_index).ok()?;
        self.events.get(at)
    }

    /// A question of a model as the person gets it: on one line, with the open points that count as asked by it. The person answers
    /// these, whatever the model has written.
    #[must_use]
    pub fn question(&self, question: &str, topic: &str, events: &[u64]) -> String {
        let mut text = cut(question.trim(), MOST_QUESTION);
        let is_put = |ambiguity: &&Ambiguity| folded(&text).contains(&folded(&ambiguity.question));
        let open = self.ambiguities.iter().filter(|ambiguity| ambiguity.is_about(topic, events));
        let open: Vec<&Ambiguity> = open.filter(|ambiguity| !is_put(ambiguity)).collect();
        for ambiguity in open {
            text.push_str(&format!(" [{}]", cut(&ambiguity.question, MOST_QUESTION)));
        }
        text
    }

    /// The ambiguity with this id.
    #[must_use]
    pub fn ambiguity(&self, id: &str) -> Option<&Ambiguity> {
        self.ambiguities.iter().find(|ambiguity| ambiguity.id == id)
    }
}

/// All texts of an event: of its element, its page and its data.
pub(super) fn texts(event: &Event) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(element) = &event.element {
        all.extend(element_texts(element));
        if let Some(container) = &element.container {
            all.extend([container.title.clone(), container.href.clone()]);
        }
    }
    all.extend([event.page.title.clone(), event.page.url.clone()]);
    let mut open: Vec<&serde_json::Value> = event.data.values().collect();
    while let Some(value) = open.pop() {
        match value {
            serde_json::Value::String(text) => all.push(text.clone()),
            serde_json::Value::Array(items) => open.extend(items),
            serde_json::Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    all.retain(|text| !text.is_empty());
    all
}

/// The texts of an element in which a keyword may occur: what `highlight` searches.
pub(super) fn element_texts(element: &Element) -> Vec<String> {
    let own = [&element.html, &element.name, &element.text, &element.label, &element.test_id];
    own.into_iter().chain(&element.selectors).filter(|text| !text.is_empty()).cloned().collect()
}
