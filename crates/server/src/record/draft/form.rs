//! Form steps: edits of the fields of one form, one after the other.

use std::collections::HashMap;

use super::super::event::{Container, Event, EventType};
use super::describe::{self, Filled};
use super::facts;
use super::names::{self, Names};
use super::types::{Anchor, Choice, Field, FieldValue, FormSubmit, Input, SubmitBy};

/// Value of a field after an edit.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Edited {
    /// A text; `None` if it is not known.
    Text(Option<String>),
    Choice(Vec<Choice>),
    Checked(bool),
}

struct Open<'e> {
    event: &'e Event,
    edited: Edited,
    is_sensitive: bool,
}

/// A form whose fields are being filled.
pub(super) struct Form<'e> {
    pub(super) first: &'e Event,
    document: String,
    container: Option<&'e Container>,
    /// Fields in the order of entry. A field that was moved to the end leaves `None`.
    fields: Vec<Option<Open<'e>>>,
    positions: HashMap<String, usize>,
    pub(super) sources: Vec<u64>,
    submit: Option<(SubmitBy, Option<&'e Event>)>,
}

/// A form step as it was closed.
pub(super) struct Closed {
    pub(super) fields: Vec<Field>,
    pub(super) submit: Option<FormSubmit>,
    pub(super) inputs: Vec<Input>,
    pub(super) description: String,
}

/// The form around an element, if it is known.
fn form_of(event: &Event) -> Option<&Container> {
    let container = event.element.as_ref()?.container.as_ref()?;
    matches!(container.kind.as_str(), "form" | "dialog").then_some(container)
}

impl<'e> Form<'e> {
    pub(super) fn new(first: &'e Event) -> Self {
        Self {
            first,
            document: facts::document(first),
            container: form_of(first),
            fields: Vec::new(),
            positions: HashMap::new(),
            sources: Vec::new(),
            submit: None,
        }
    }

    /// Whether an element may be in the same form: in the same document, and not in another known form.
    pub(super) fn admits(&self, event: &Event) -> bool {
        let is_other = |known: &Container| form_of(event).is_some_and(|form| form != known);
        self.document == facts::document(event) && !self.container.is_some_and(is_other)
    }

    /// Takes an edit. Another edit of the same field replaces the earlier value.
    pub(super) fn edit(&mut self, event: &'e Event) {
        self.container = self.container.or_else(|| form_of(event));
        self.sources.push(event.event_index);
        let edited = match (facts::choices(event), event.data.get("checked").and_then(serde_json::Value::as_bool)) {
            (Some(choices), _) => Some(Edited::Choice(choices)),
            (None, Some(checked)) => Some(Edited::Checked(checked)),
            (None, None) => facts::value(event).map(|value| Edited::Text(Some(value))),
        };
        let is_hidden = event.event_type == EventType::Input && edited.is_none();
        let is_sensitive = is_hidden || event.element.as_ref().is_some_and(|element| element.sensitive);
        let identity = facts::identity(event);
        let known = identity.as_ref().and_then(|identity| self.positions.get(identity)).copied();
        let earlier = known.and_then(|position| self.fields.get_mut(position));
        // The choice of a radio button takes effect when it was made last.
        let is_radio = event.element.as_ref().is_some_and(|element| element.role == "radio");
        match earlier {
            Some(slot) if !is_radio => {
                if let Some(open) = slot {
                    open.edited = edited.unwrap_or_else(|| open.edited.clone());
                    open.is_sensitive |= is_sensitive;
                }
            }
            earlier => {
                if let Some(slot) = earlier {
                    *slot = None;
                }
                if let Some(identity) = identity {
                    self.positions.insert(identity, self.fields.len());
                }
                let edited = edited.unwrap_or(Edited::Text(None));
                self.fields.push(Some(Open { event, edited, is_sensitive }));
            }
        }
    }

    pub(super) fn submitted(&mut self, by: SubmitBy, event: Option<&'e Event>) {
        self.submit = Some((by, event));
    }

    /// Closes the form: names its inputs and describes it.
    pub(super) fn close(&self, step: &str, names: &mut Names) -> Closed {
        let mut closed = Closed { fields: Vec::new(), submit: None, inputs: Vec::new(), description: String::new() };
        let mut parts = Vec::new();
        for open in self.fields.iter().flatten() {
            let element = open.event.element.as_ref();
            let (value, part) = if let Edited::Checked(checked) = open.edited {
                (FieldValue::Checked { checked }, describe::field(open.event, &Filled::Checked(checked)))
            } else {
                let input = open.input(step, names);
                let part = describe::field(open.event, &open.filled(&input.name));
                let choices = match &open.edited {
                    Edited::Choice(choices) if !open.is_sensitive => choices.clone(),
                    _ => Vec::new(),
                };
                let value = FieldValue::Variable {
                    name: input.name.clone(),
                    required: input.required,
                    sensitive: input.sensitive,
                    default: input.default.clone(),
                    choices,
                };
                closed.inputs.push(input);
                (value, part)
            };
            parts.push(part);
            let mut element = element.map(Anchor::from).unwrap_or_default();
            if open.is_sensitive {
                element.sensitive = true;
                element.text.clear();
            }
            closed.fields.push(Field { element, value });
        }
        closed.description = describe::form(&parts, self.submit);
        closed.submit = self.submit.map(|(by, event)| FormSubmit {
            by,
            element: event.and_then(|event| event.element.as_ref()).map(Anchor::from),
        });
        closed
    }
}

impl Open<'_> {
    fn input(&self, step: &str, names: &mut Names) -> Input {
        let element = self.event.element.as_ref();
        let recorded = match &self.edited {
            Edited::Text(text) => text.clone(),
            Edited::Choice(choices) => {
                Some(choices.iter().map(|choice| choice.value.as_str()).collect::<Vec<_>>().join(", "))
            }
            Edited::Checked(_) => None,
        };
        let default = recorded.filter(|_| !self.is_sensitive);
        Input {
            name: names.take(element),
            label: names::label(element),
            required: default.is_none(),
            sensitive: self.is_sensitive,
            default,
            step: step.to_owned(),
        }
    }

    fn filled<'f>(&'f self, input: &'f str) -> Filled<'f> {
        match &self.edited {
            _ if self.is_sensitive => Filled::Input(input),
            Edited::Text(Some(text)) => Filled::Text(text),
            Edited::Choice(choices) => {
                let label = |choice: &Choice| match choice.label.trim() {
                    "" => choice.value.clone(),
                    label => label.to_owned(),
                };
                Filled::Choice(choices.iter().map(label).collect())
            }
            _ => Filled::Input(input),
        }
    }
}
