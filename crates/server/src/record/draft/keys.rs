//! Key steps.

use super::super::event::{Event, EventType};
use super::describe;
use super::facts;
use super::types::{Action, StepType, StepValue, SubmitBy};
use super::walk::Builder;

impl<'e> Builder<'e> {
    pub(super) fn key(&mut self, position: usize, event: &'e Event) {
        let key = facts::text(event, "key").unwrap_or_default().to_owned();
        let modifiers = facts::modifiers(event);
        let is_enter = key == "Enter" && modifiers.is_empty();
        let mut sources = vec![event.event_index];
        let mut last = position;
        // A key that is pressed again and again in the same place is one step. Each Enter may have its own effect.
        while let Some((next, again)) = self.after(last).filter(|(_, again)| !is_enter && is_again(event, again)) {
            if let Some(taken) = self.taken.get_mut(next) {
                *taken = true;
            }
            sources.push(again.event_index);
            last = next;
        }
        if key == "Tab" && self.continues_form(last) {
            return self.before_edit.extend(sources);
        }
        let submit = if is_enter { self.take_submit(position, event) } else { None };
        if self.ends_form(event, submit, SubmitBy::Enter) {
            return;
        }
        let count = sources.len() as u64;
        let mut description = describe::press(event, &key, &modifiers, count);
        if submit.is_some() {
            description.push_str(", which submits the form");
        }
        let value = Some(StepValue::Key { key, modifiers, count });
        let step = self.action(event, StepType::Key, Action::Press, description, value);
        for source in sources.into_iter().skip(1).chain(submit) {
            self.add_source(step, Some(source));
        }
    }
}

/// Whether a key press repeats another one in the same place.
fn is_again(event: &Event, again: &Event) -> bool {
    let is_same_key = again.event_type == EventType::Keydown
        && facts::text(again, "key") == facts::text(event, "key")
        && facts::modifiers(again) == facts::modifiers(event);
    let is_same_place = match (&event.element, &again.element) {
        (None, None) => facts::document(event) == facts::document(again),
        _ => facts::is_same_element(event, again),
    };
    is_same_key && is_same_place
}
