//! The walk over the events, which makes the steps.

use std::collections::HashMap;

use super::super::event::{Event, EventType};
use super::describe;
use super::facts::{self, Class};
use super::form::Form;
use super::names::Names;
use super::tabs::Tabs;
use super::types::{Action, Anchor, Input, Postcondition, Step, StepType, StepValue, SubmitBy, Target, Warning};

/// A step that is about to be added.
pub(super) struct New {
    pub(super) kind: StepType,
    pub(super) action: Action,
    pub(super) description: String,
    pub(super) sources: Vec<u64>,
    pub(super) target: Option<Target>,
    pub(super) value: Option<StepValue>,
    pub(super) postcondition: Option<Postcondition>,
}

/// Makes steps from events.
pub(super) struct Builder<'e> {
    pub(super) events: Vec<&'e Event>,
    /// Position of the next event that is not passive, for each position.
    pub(super) next: Vec<Option<usize>>,
    /// Position of the next action, for each position.
    next_action: Vec<Option<usize>>,
    /// Events that are part of an earlier step.
    pub(super) taken: Vec<bool>,
    pub(super) steps: Vec<Step>,
    /// Position of the step that an event belongs to, by the index of the event.
    pub(super) owners: HashMap<u64, usize>,
    pub(super) tabs: Tabs,
    pub(super) viewport: (f64, f64),
    pub(super) form: Option<Form<'e>>,
    /// Events that the next edit takes along: the click into its field, its focus.
    pub(super) before_edit: Vec<u64>,
    names: Names,
    inputs: Vec<Input>,
    warnings: Vec<Warning>,
}

/// Viewport of recordings that do not say it.
const USUAL_VIEWPORT: (f64, f64) = (1280.0, 720.0);

impl<'e> Builder<'e> {
    pub(super) fn new(events: &'e [Event]) -> Self {
        let mut events: Vec<&Event> = events.iter().collect();
        events.sort_by_key(|event| event.event_index);
        let mut next = vec![None; events.len()];
        let mut next_action = vec![None; events.len()];
        let (mut shown, mut action) = (None, None);
        for ((position, event), (next, next_action)) in
            events.iter().enumerate().zip(next.iter_mut().zip(next_action.iter_mut())).rev()
        {
            (*next, *next_action) = (shown, action);
            let class = facts::class(event);
            shown = if class == Class::Passive { shown } else { Some(position) };
            action = if class == Class::Action { Some(position) } else { action };
        }
        Self {
            next,
            next_action,
            taken: vec![false; events.len()],
            events,
            steps: Vec::new(),
            owners: HashMap::new(),
            tabs: Tabs::default(),
            viewport: USUAL_VIEWPORT,
            form: None,
            before_edit: Vec::new(),
            names: Names::default(),
            inputs: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> (Vec<Step>, Vec<Input>, Vec<Warning>) {
        for position in 0..self.events.len() {
            if self.taken.get(position) == Some(&false)
                && let Some(event) = self.events.get(position).copied()
            {
                self.event(position, event);
                self.tabs.shows(event);
            }
        }
        self.close_form();
        self.drop_final_closes();
        if self.steps.is_empty() {
            self.warnings.push(Warning {
                code: "empty".to_owned(),
                message: "The recording has no action".to_owned(),
                event_index: None,
                count: None,
                after_step: None,
            });
        }
        (self.steps, self.inputs, self.warnings)
    }

    fn event(&mut self, position: usize, event: &'e Event) {
        match event.event_type {
            EventType::RecordingStarted => self.viewport = facts::viewport(event).unwrap_or(self.viewport),
            EventType::RecordingStopped | EventType::PageView | EventType::TabReady => {}
            EventType::Focus => {
                if self.is_before_edit(position, event) {
                    self.before_edit.push(event.event_index);
                }
            }
            EventType::TabCreated => self.tab_created(event),
            EventType::TabActivated => self.tab_activated(event),
            EventType::TabNavigated => self.navigated(event),
            EventType::TabBack => self.moved_in_history(event, Action::Back, "back"),
            EventType::TabForward => self.moved_in_history(event, Action::Forward, "forward"),
            EventType::TabClosed => self.tab_closed(event),
            EventType::Click => self.click(position, event),
            EventType::Input | EventType::Change => self.edit(event),
            EventType::Keydown => self.key(position, event),
            EventType::Submit => self.submit(event),
            EventType::Scroll => self.scroll(position, event),
            EventType::Hover => {
                let description = format!("Point at {}", describe::target(event));
                self.action(event, StepType::Hover, Action::Hover, description, None);
            }
            EventType::Drag => {
                let end = |key: &str| event.data.get(key).cloned().unwrap_or_default();
                let (from, to) = (end("from"), end("to"));
                let description = describe::drag(event, &to);
                self.action(event, StepType::Drag, Action::Drag, description, Some(StepValue::Drag { from, to }));
            }
            EventType::FileChosen => self.files(position, event),
            EventType::Dialog => self.dialog(event),
            EventType::Download => self.download(event),
            EventType::Gap => self.gap(event),
        }
    }

    /// Adds a step and returns its position.
    pub(super) fn push(&mut self, mut new: New, tab: u64) -> usize {
        let position = self.steps.len();
        new.sources.sort_unstable();
        new.sources.dedup();
        self.owners.extend(new.sources.iter().map(|source| (*source, position)));
        self.tabs.did(tab, position);
        self.steps.push(Step {
            id: step_id(position),
            kind: new.kind,
            action: new.action,
            description: new.description,
            source_event_indexes: new.sources,
            target: new.target,
            value: new.value,
            postcondition: new.postcondition,
        });
        position
    }

    /// Adds the step of an action in a page, after a step to its tab if another one was used.
    pub(super) fn action(
        &mut self,
        event: &Event,
        kind: StepType,
        action: Action,
        description: String,
        value: Option<StepValue>,
    ) -> usize {
        self.close_form();
        self.use_tab(event);
        let sources = std::mem::take(&mut self.before_edit).into_iter().chain([event.event_index]).collect();
        let target = Some(target(event));
        self.push(New { kind, action, description, sources, target, value, postcondition: None }, event.tab)
    }

    /// Adds the form step that is open.
    pub(super) fn close_form(&mut self) {
        let Some(mut form) = self.form.take() else { return };
        let closed = form.close(&step_id(self.steps.len()), &mut self.names);
        self.inputs.extend(closed.inputs);
        let action = if closed.submit.is_some() { Action::FillSubmit } else { Action::Fill };
        let target = Target { element: None, fields: closed.fields, submit: closed.submit, ..target(form.first) };
        let sources = std::mem::take(&mut form.sources);
        let new = New {
            kind: StepType::Form,
            action,
            description: closed.description,
            sources,
            target: Some(target),
            value: None,
            postcondition: None,
        };
        self.push(new, form.first.tab);
    }

    /// The next event that is not passive.
    pub(super) fn after(&self, position: usize) -> Option<(usize, &'e Event)> {
        let next = self.next.get(position).copied().flatten()?;
        self.events.get(next).map(|event| (next, *event))
    }

    /// Whether an event only prepares an edit of the same field, or the choice of a file in it.
    fn is_before_edit(&self, position: usize, event: &Event) -> bool {
        self.after(position).is_some_and(|(_, next)| {
            let is_edit = matches!(next.event_type, EventType::Input | EventType::Change | EventType::FileChosen);
            is_edit && facts::is_same_element(event, next)
        })
    }

    /// The submission that an action caused: the next action, in the same document.
    pub(super) fn take_submit(&mut self, position: usize, event: &Event) -> Option<u64> {
        if !self.is_before_submit(position, event) {
            return None;
        }
        let next = self.next_action.get(position).copied().flatten()?;
        let submit = self.events.get(next)?;
        let taken = self.taken.get_mut(next).filter(|taken| !**taken)?;
        *taken = true;
        Some(submit.event_index)
    }

    fn click(&mut self, position: usize, event: &'e Event) {
        let is_of_edit = facts::is_plain_click(event) || facts::is_selecting_click(event);
        if is_of_edit && self.is_before_edit(position, event) {
            return self.before_edit.push(event.event_index);
        }
        let submit = if facts::is_plain_click(event) { self.take_submit(position, event) } else { None };
        if self.ends_form(event, submit, SubmitBy::Click) {
            return;
        }
        let (button, count) = facts::click(event);
        let modifiers = facts::modifiers(event);
        let action = match (button.as_str(), count) {
            ("right", _) => Action::RightClick,
            ("middle", _) => Action::MiddleClick,
            (_, 1) => Action::Click,
            _ => Action::DoubleClick,
        };
        let mut description = describe::click(event, action, &modifiers);
        if submit.is_some() {
            description.push_str(", which submits the form");
        }
        let value = Some(StepValue::Click { button, count, modifiers });
        let step = self.action(event, StepType::Click, action, description, value);
        self.add_source(step, submit);
    }

    /// Ends the open form with its submission, if the action that caused it may belong to the form.
    pub(super) fn ends_form(&mut self, event: &'e Event, submit: Option<u64>, by: SubmitBy) -> bool {
        let Some((form, submit)) = self.form.as_mut().zip(submit).filter(|(form, _)| form.admits(event)) else {
            return false;
        };
        form.submitted(by, Some(event));
        form.sources.extend([event.event_index, submit]);
        self.close_form();
        true
    }

    pub(super) fn add_source(&mut self, position: usize, source: Option<u64>) {
        if let Some((step, source)) = self.steps.get_mut(position).zip(source) {
            step.source_event_indexes.push(source);
            self.owners.insert(source, position);
        }
    }

    fn edit(&mut self, event: &'e Event) {
        if !self.form.as_ref().is_some_and(|form| form.admits(event)) {
            self.close_form();
            self.use_tab(event);
        }
        let before = std::mem::take(&mut self.before_edit);
        let form = self.form.get_or_insert_with(|| Form::new(event));
        form.sources.extend(before);
        form.edit(event);
    }

    fn submit(&mut self, event: &'e Event) {
        if let Some(form) = self.form.as_mut().filter(|form| form.admits(event)) {
            form.submitted(SubmitBy::Other, None);
            form.sources.push(event.event_index);
            return self.close_form();
        }
        let description = format!("Submit {}", describe::target(event));
        self.action(event, StepType::Submit, Action::Submit, description, None);
    }

    /// Whether a form is open and the next event edits another of its fields or submits it.
    pub(super) fn continues_form(&self, position: usize) -> bool {
        let Some((form, (next, event))) = self.form.as_ref().zip(self.after(position)) else { return false };
        let is_part = match event.event_type {
            EventType::Input | EventType::Change | EventType::Submit => true,
            EventType::Click => self.is_before_edit(next, event) || self.is_before_submit(next, event),
            EventType::Keydown => self.is_before_submit(next, event),
            _ => false,
        };
        is_part && form.admits(event)
    }

    fn is_before_submit(&self, position: usize, event: &Event) -> bool {
        let next = self.next_action.get(position).copied().flatten().and_then(|next| self.events.get(next));
        next.is_some_and(|next| next.event_type == EventType::Submit && facts::document(next) == facts::document(event))
    }

    fn files(&mut self, position: usize, event: &'e Event) {
        let names = facts::file_names(event);
        let description = describe::files(event, &names);
        let value = Some(StepValue::Files { names });
        let step = self.action(event, StepType::Files, Action::ChooseFiles, description, value);
        // The field reports the choice once more as an edit.
        let mut last = position;
        while let Some((next, edit)) = self.after(last).filter(|(_, edit)| {
            matches!(edit.event_type, EventType::Input | EventType::Change) && facts::is_same_element(event, edit)
        }) {
            if let Some(taken) = self.taken.get_mut(next) {
                *taken = true;
            }
            self.add_source(step, Some(edit.event_index));
            last = next;
        }
    }

    fn gap(&mut self, event: &Event) {
        self.close_form();
        let count = event.data.get("count").and_then(serde_json::Value::as_u64);
        let missing = match count {
            Some(1) => "1 event is missing".to_owned(),
            Some(count) => format!("{count} events are missing"),
            None => "An unknown number of events is missing".to_owned(),
        };
        let after_step = self.steps.last().map(|step| step.id.clone());
        let place = match &after_step {
            Some(step) => format!("after {step}"),
            None => "before the first step".to_owned(),
        };
        let why = facts::short(facts::text(event, "why").unwrap_or("the reason was not recorded"), 200);
        self.warnings.push(Warning {
            code: "gap".to_owned(),
            message: format!("{missing} {place}: {why}"),
            event_index: Some(event.event_index),
            count,
            after_step,
        });
    }
}

fn step_id(position: usize) -> String {
    format!("step_{:03}", position + 1)
}

/// Where an event happened.
pub(super) fn target(event: &Event) -> Target {
    Target {
        tab: event.tab,
        page_url: event.page.url.clone(),
        frame: event.frame.clone(),
        element: event.element.as_ref().map(Anchor::from),
        ..Target::default()
    }
}
