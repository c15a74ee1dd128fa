//! Effects of steps: dialogs, downloads, and where they are kept.

use super::super::event::Event;
use super::describe;
use super::facts;
use super::types::{Action, Effect, Effects, EffectsKind, Postcondition, StepType, StepValue};
use super::walk::{Builder, New, target};

/// How many of the latest effects of a step are searched for the address that a new one replaces.
const SEARCHED: usize = 8;

impl Builder<'_> {
    /// The step that caused an event: the named one, else the last one in the same tab.
    fn cause_or_last(&self, event: &Event) -> Option<usize> {
        let named = self.cause(event);
        named.or_else(|| if event.tab == 0 { self.steps.len().checked_sub(1) } else { self.tabs.last_step(event.tab) })
    }

    /// The step that an event names as its cause.
    pub(super) fn cause(&self, event: &Event) -> Option<usize> {
        facts::cause(event).and_then(|cause| self.owners.get(&cause)).copied()
    }

    pub(super) fn dialog(&mut self, event: &Event) {
        self.close_form();
        let answer = facts::dialog(event);
        if let Some(position) = self.cause_or_last(event) {
            return self.follows(position, event, Effect::Dialog(answer));
        }
        self.use_tab(event);
        let action = if answer.accepted { Action::AcceptDialog } else { Action::DismissDialog };
        let new = New {
            kind: StepType::Dialog,
            action,
            description: describe::dialog(&answer),
            sources: vec![event.event_index],
            target: Some(target(event)),
            value: Some(StepValue::Dialog(answer)),
            postcondition: None,
        };
        self.push(new, event.tab);
    }

    pub(super) fn download(&mut self, event: &Event) {
        self.close_form();
        let url = facts::text(event, "url").unwrap_or_default().to_owned();
        let filename = facts::text(event, "filename").unwrap_or_default().to_owned();
        if let Some(position) = self.cause_or_last(event) {
            return self.follows(position, event, Effect::Download { url, filename });
        }
        self.use_tab(event);
        let new = New {
            kind: StepType::Download,
            action: Action::Download,
            description: format!("Download {}", describe::quoted(&filename)),
            sources: vec![event.event_index],
            target: Some(target(event)),
            value: Some(StepValue::Download { url, filename }),
            postcondition: None,
        };
        self.push(new, event.tab);
    }

    /// Adds an effect to a step. An address replaces an earlier one, as after a redirect.
    pub(super) fn follows(&mut self, position: usize, event: &Event, effect: Effect) {
        self.owners.insert(event.event_index, position);
        let Some(step) = self.steps.get_mut(position) else { return };
        let mut of = match step.postcondition.take() {
            None => Vec::new(),
            Some(Postcondition::One(one)) => vec![one],
            Some(Postcondition::Several(several)) => several.of,
        };
        match of.iter_mut().rev().take(SEARCHED).find(|earlier| is_replaced(earlier, &effect)) {
            Some(earlier) => *earlier = effect,
            None => of.push(effect),
        }
        step.postcondition = if of.len() == 1 {
            of.pop().map(Postcondition::One)
        } else {
            Some(Postcondition::Several(Effects { kind: EffectsKind::All, of }))
        };
    }
}

fn is_replaced(earlier: &Effect, effect: &Effect) -> bool {
    match (earlier, effect) {
        (Effect::Url { .. }, Effect::Url { .. }) => true,
        (Effect::Tab { tab: earlier, .. }, Effect::Tab { tab, .. }) => earlier == tab,
        _ => false,
    }
}
