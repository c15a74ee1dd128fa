//! The recorded actions of a routine, as a run without a model does them.

use std::collections::{BTreeMap, BTreeSet};

use cdpilot::page::{Button, Modifier};
use serde::{Deserialize, Serialize};

use super::heal::Found;
use super::list::{FastList, doubled, listed};
use super::reads::{ReadPlace, places, reads_last, values_of};
use super::same::is_telling;
use super::steps::{Recorded, with_effects};
use super::values::{Filled, StepText};
use super::verify::quoted;
use crate::record::draft::{
    Action as Draft, Anchor, DialogAnswer, Effect, FieldValue, Postcondition, Step as DraftStep, StepValue, SubmitBy,
    draft,
};
use crate::record::{Event, EventType, FrameStep};
use crate::routine::{InstructionKind, Routine, Step};

/// Longest recorded time of an action that counts, in seconds: a person may have paused.
const LONGEST: f64 = 60.0;

/// What a run can do without a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The steps by their numbers.
    pub steps: BTreeMap<u32, FastStep>,
}

/// A step that can be done without a model, or why it cannot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FastStep {
    /// Its actions in order.
    pub actions: Vec<FastAction>,
    /// Why it needs a model, as a part of a sentence.
    pub needs_model: Option<String>,
    /// Whether it is done only when the element of its first action is shown.
    pub if_shown: bool,
    /// The list that it works through.
    pub list: Option<FastList>,
    /// Where the values stand that it reads when its actions are done, by name.
    pub reads: BTreeMap<String, Vec<ReadPlace>>,
    /// Whether it is not known where one of them stands, so that a model reads it.
    pub is_unread: bool,
}

/// A recorded action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FastAction {
    /// What is done.
    pub what: What,
    /// Number of the tab in the recording.
    pub tab: u64,
    /// The address of its page, without what follows the path; empty if it is not known.
    #[serde(default)]
    pub page: String,
    /// The frames from the top document to that of the element.
    #[serde(default)]
    pub frame: Vec<FrameStep>,
    /// The element, with the values of the run in its texts.
    #[serde(default)]
    pub element: Option<Anchor>,
    /// What followed from it.
    #[serde(default)]
    pub effects: Vec<Effect>,
    /// The event that it is.
    pub event: u64,
    /// Seconds that the page took before it.
    pub seconds: f64,
    /// The entry of the list that it is for: its position among those of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<usize>,
}

/// What an action does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum What {
    /// A click.
    Click { button: Button, double: bool, modifiers: Vec<Modifier> },
    /// Text for a field; placeholders of secrets and of read values stand in it.
    Fill { text: String },
    /// The state of a checkbox, a switch or a radio button.
    Check { on: bool },
    /// Options of a list, by value or label.
    Select { values: Vec<String> },
    /// A key or chord, pressed a number of times.
    Press { key: String, times: u32 },
    /// The pointer over an element.
    Hover,
    /// The element is dragged to another one.
    Drag { to: Box<Anchor> },
    /// Files for a file field: paths below `uploads/`.
    Upload { paths: Vec<String> },
    /// The answer to a dialog.
    Dialog { answer: DialogAnswer },
    /// An address that was opened.
    Open { url: String },
    /// A tab that was opened by hand.
    OpenTab { url: String },
    /// Back in the history.
    Back,
    /// Forward in the history.
    Forward,
    /// The page was loaded again.
    Reload,
    /// The tab was closed.
    CloseTab,
}

/// Why a step needs a model.
type Refusal = String;

/// What a run of a routine can do without a model. `given`: the values of its inputs that are not sensitive.
#[must_use]
pub fn plan(routine: &Routine, recorded: &Recorded, events: &[Event], given: &BTreeMap<String, String>) -> Plan {
    let mut plan = Plan::default();
    let mut is_first = true;
    for step in &routine.steps {
        let if_shown = step.instructions.iter().all(|one| one.kind == InstructionKind::IfShown);
        let planned = actions(routine, recorded, events, given, step, &mut is_first);
        let planned = planned.and_then(|mut actions| {
            if let Some(title) = doubled(&actions, events).filter(|_| !step.is_list()) {
                return Err(format!(
                    "several entries had the title {}, so it is not known which one was meant",
                    quoted(&title)
                ));
            }
            let list = step.is_list().then(|| listed(&mut actions, step, events)).transpose()?;
            Ok((actions, list))
        });
        let (actions, list, needs_model) = match planned {
            Ok((actions, list)) => (actions, list, None),
            Err(refusal) => (Vec::new(), None, Some(refusal)),
        };
        let reads = places(step, &StepText::of(routine, step, &recorded.inputs, given), &recorded.reads);
        let is_unread = values_of(step).any(|name| !reads.contains_key(name));
        plan.steps.insert(step.n, FastStep { actions, needs_model, if_shown, list, reads, is_unread });
    }
    plan
}

impl Plan {
    /// Whether the program can do something without a model.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.steps.values().any(|step| step.needs_model.is_none())
    }

    /// The numbers of the steps that can be done without a model.
    #[must_use]
    pub fn fast_steps(&self) -> Vec<u32> {
        let fast = self.steps.iter().filter(|(_, step)| step.needs_model.is_none() && !step.is_unread);
        fast.map(|(n, _)| *n).collect()
    }
}

fn actions(
    routine: &Routine,
    recorded: &Recorded,
    events: &[Event],
    given: &BTreeMap<String, String>,
    step: &Step,
    is_first: &mut bool,
) -> Result<Vec<FastAction>, Refusal> {
    if !reads_last(step) {
        return Err("it reads a value before its last action".to_owned());
    }
    let indexes = recorded.of_step(step.n);
    let only_reads = step.instructions.iter().all(|one| matches!(one.kind, InstructionKind::Read { .. }));
    if indexes.is_empty() && !only_reads {
        return Err("it was not recorded".to_owned());
    }
    if recorded.digests.get(&step.n.to_string()) != Some(&step.digest()) {
        return Err("its text was changed after it was recorded; verify the routine to use it again".to_owned());
    }
    let of_step: Vec<Event> = with_effects(events, indexes).into_iter().cloned().collect();
    let text = StepText::of(routine, step, &recorded.inputs, given);
    if step.is_list() && !text.is_as_recorded() {
        return Err("it works through a list, and with other inputs that may be other entries".to_owned());
    }
    let drafted = draft("", None, &of_step).workflow.steps;
    let sensitive = drafted.iter().filter_map(|step| step.target.as_ref()).flat_map(|target| &target.fields);
    let sensitive = sensitive.filter(|field| field.element.sensitive).count();
    let mut building = Building {
        text: &text,
        found: &recorded.found,
        events: &of_step,
        all: events,
        sensitive: (0, sensitive),
        done: Vec::new(),
    };
    for one in &drafted {
        if std::mem::take(is_first) && one.action == Draft::Open && is_start(routine, one) {
            continue;
        }
        building.add(one)?;
    }
    if building.done.is_empty() && !only_reads {
        return Err("nothing that was recorded of it can be done without a model".to_owned());
    }
    Ok(building.done)
}

/// Whether a step opens the starting address, which a run has opened already.
fn is_start(routine: &Routine, step: &DraftStep) -> bool {
    let Some(StepValue::Url { url }) = &step.value else { return false };
    let bare = |url: &str| url.trim_end_matches('/').split('#').next().unwrap_or_default().to_owned();
    bare(url) == bare(&routine.starting_url)
}

struct Building<'b> {
    text: &'b StepText,
    found: &'b BTreeMap<u64, Found>,
    events: &'b [Event],
    all: &'b [Event],
    /// How many sensitive fields there were so far, and how many the step has.
    sensitive: (usize, usize),
    done: Vec<FastAction>,
}

impl Building<'_> {
    fn add(&mut self, step: &DraftStep) -> Result<(), Refusal> {
        let effects = effects_of(step.postcondition.as_ref());
        let element = step.target.as_ref().and_then(|target| target.element.as_ref());
        match (step.action, &step.value) {
            (
                Draft::Click | Draft::DoubleClick | Draft::RightClick | Draft::MiddleClick,
                Some(StepValue::Click { button, modifiers, .. }),
            ) => {
                let unknown = || "it has a click that no tool can do".to_owned();
                let what = What::Click {
                    button: Button::from_name(button).ok_or_else(unknown)?,
                    double: step.action == Draft::DoubleClick,
                    modifiers: modifiers
                        .iter()
                        .map(|key| Modifier::from_name(key).ok_or_else(unknown))
                        .collect::<Result<_, _>>()?,
                };
                self.push(step, what, element, effects)?;
            }
            (Draft::Fill | Draft::FillSubmit, _) => self.form(step, effects)?,
            (Draft::Press, Some(StepValue::Key { key, modifiers, count })) => {
                let chord: Vec<&str> = modifiers.iter().map(String::as_str).chain([key.as_str()]).collect();
                let times = u32::try_from(*count).unwrap_or(1).clamp(1, 1_000);
                // The next field is used by itself.
                if chord != ["Tab"] && chord != ["Shift", "Tab"] {
                    self.push(step, What::Press { key: chord.join("+"), times }, element, effects)?;
                }
            }
            (Draft::Hover, _) => self.push(step, What::Hover, element, effects)?,
            (Draft::Drag, Some(StepValue::Drag { to, .. })) => {
                let text = |key: &str| to.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
                let end = Anchor { role: text("role"), name: text("name"), ..Anchor::default() };
                if end.role.is_empty() || end.name.trim().is_empty() {
                    return Err("it was dragged to a place without a name".to_owned());
                }
                let to = Box::new(self.anchor(&end)?);
                self.push(step, What::Drag { to }, element, effects)?;
            }
            (Draft::ChooseFiles, Some(StepValue::Files { names })) => {
                let path = self.text.unknown().filter(|_| names.len() == 1);
                let path = path.ok_or("it needs files, whose folder is not recorded")?;
                self.push(step, What::Upload { paths: vec![path] }, element, effects)?;
            }
            (Draft::AcceptDialog | Draft::DismissDialog, Some(StepValue::Dialog(answer))) => {
                let what = What::Dialog { answer: self.answer(answer)? };
                self.push(step, what, None, effects)?;
            }
            (Draft::Open, Some(StepValue::Url { url })) => {
                let url = self.text.name(url).ok_or_else(|| unclear(url))?;
                self.push(step, What::Open { url }, None, effects)?;
            }
            (Draft::OpenTab, Some(StepValue::Tab { .. })) => {
                let opened = effects.iter().find_map(|effect| match effect {
                    Effect::Url { url } => Some(url.clone()),
                    _ => None,
                });
                let url = opened.ok_or("it opened an empty tab")?;
                self.push(step, What::OpenTab { url }, None, effects)?;
            }
            (Draft::Back, _) => self.push(step, What::Back, None, effects)?,
            (Draft::Forward, _) => self.push(step, What::Forward, None, effects)?,
            (Draft::Reload, _) => self.push(step, What::Reload, None, effects)?,
            (Draft::CloseTab, _) => self.push(step, What::CloseTab, None, effects)?,
            // Actions bring their element into view and their tab to the front; downloads follow from actions.
            (Draft::ScrollToReveal | Draft::ScrollContainer | Draft::SwitchTab | Draft::Download, _) => {}
            (other, _) => return Err(format!("it has a recorded {other:?}, which needs a model")),
        }
        Ok(())
    }

    /// Adds the fields of a form, and what submitted it.
    fn form(&mut self, step: &DraftStep, effects: Vec<Effect>) -> Result<(), Refusal> {
        let Some(target) = &step.target else { return Ok(()) };
        let last = target.fields.len();
        let is_sent = target.submit.is_some();
        for (at, field) in target.fields.iter().enumerate() {
            let what = match &field.value {
                FieldValue::Checked { checked } => What::Check { on: *checked },
                FieldValue::Variable { sensitive: true, .. } => {
                    let (at, count) = self.sensitive;
                    self.sensitive.0 += 1;
                    let text = self.text.sensitive(at, count).ok_or_else(|| {
                        format!("its text does not say what is typed into {}", quoted(&field.element.name))
                    })?;
                    What::Fill { text }
                }
                FieldValue::Variable { choices, .. } if !choices.is_empty() => {
                    let values = choices.iter().map(|choice| self.choice(&choice.value, &choice.label));
                    What::Select { values: values.collect::<Result<_, _>>()? }
                }
                FieldValue::Variable { default, .. } => {
                    What::Fill { text: self.value(default.as_deref().unwrap_or_default(), &field.element.name)? }
                }
            };
            let effects = if at + 1 == last && !is_sent { effects.clone() } else { Vec::new() };
            self.push(step, what, Some(&field.element), effects)?;
        }
        match &target.submit {
            None => Ok(()),
            Some(submit) => match (submit.by, &submit.element) {
                (SubmitBy::Click, Some(element)) => {
                    let what = What::Click { button: Button::Left, double: false, modifiers: Vec::new() };
                    self.push(step, what, Some(element), effects)
                }
                (SubmitBy::Enter, element) => {
                    self.push(step, What::Press { key: "Enter".to_owned(), times: 1 }, element.as_ref(), effects)
                }
                _ => Err("it is not recorded how its form was submitted".to_owned()),
            },
        }
    }

    /// A typed text in this run.
    fn value(&self, recorded: &str, field: &str) -> Result<String, Refusal> {
        match self.text.value(recorded) {
            Filled::Text(text) => Ok(text),
            Filled::Unclear => Err(unclear(recorded)),
            Filled::Missing => {
                self.text.unknown().ok_or_else(|| format!("its text does not say what is typed into {}", quoted(field)))
            }
        }
    }

    /// An option in this run: by what the text of the step says, label or value.
    fn choice(&self, value: &str, label: &str) -> Result<String, Refusal> {
        let shown = if label.trim().is_empty() { value } else { label };
        match (self.text.value(shown), self.text.value(value)) {
            (Filled::Text(text), _) if !shown.is_empty() => Ok(text),
            (Filled::Missing, Filled::Text(text)) if !value.is_empty() => Ok(text),
            (Filled::Missing, Filled::Missing) => {
                self.text.unknown().ok_or_else(|| format!("its text does not say that {} is chosen", quoted(shown)))
            }
            _ => Err(unclear(shown)),
        }
    }

    fn answer(&self, answer: &DialogAnswer) -> Result<DialogAnswer, Refusal> {
        let prompt_text = answer.prompt_text.as_deref().map(|text| self.value(text, "the dialog")).transpose()?;
        let message = self.text.name(&answer.message).unwrap_or_else(|| answer.message.clone());
        Ok(DialogAnswer { prompt_text, message, ..answer.clone() })
    }

    /// An element with the values of this run in its texts.
    fn anchor(&self, recorded: &Anchor) -> Result<Anchor, Refusal> {
        let name = |text: &str| self.text.name(text).ok_or_else(|| unclear(text));
        let mut now = Anchor {
            name: name(&recorded.name)?,
            label: name(&recorded.label)?,
            text: name(&recorded.text)?,
            ..recorded.clone()
        };
        if let Some(container) = &mut now.container {
            container.title = name(&container.title)?;
        }
        if now != *recorded {
            // They are those of the recorded value.
            (now.selectors, now.test_id) = (Vec::new(), String::new());
            if let Some(container) = &mut now.container {
                container.href.clear();
            }
        }
        Ok(now)
    }

    fn push(
        &mut self,
        step: &DraftStep,
        what: What,
        element: Option<&Anchor>,
        effects: Vec<Effect>,
    ) -> Result<(), Refusal> {
        let index = self.event_of(step, element);
        let anew = self.found.get(&index).filter(|_| element.is_some());
        let element = anew.map(|found| &found.element).or(element);
        let element = element.map(|element| self.anchor(element)).transpose()?;
        let needs = matches!(
            what,
            What::Click { .. }
                | What::Fill { .. }
                | What::Check { .. }
                | What::Select { .. }
                | What::Hover
                | What::Drag { .. }
                | What::Upload { .. }
        );
        let is_known = |element: &Anchor| {
            let texts = [&element.name, &element.label, &element.text, &element.test_id];
            let is_imported = element.tag.is_empty() && !element.selectors.is_empty();
            texts.iter().any(|text| !text.trim().is_empty())
                || is_imported
                || element.selectors.iter().any(|selector| is_telling(selector))
        };
        if needs && !element.as_ref().is_some_and(is_known) {
            return Err("an element that was used has no name, text, tooltip or id, so it cannot be told from others"
                .to_owned());
        }
        let target = step.target.as_ref();
        let tab = target.map_or(0, |target| target.tab);
        let recorded_frame = target.map(|target| target.frame.clone()).unwrap_or_default();
        let frame = anew.map_or(recorded_frame, |found| found.frame.clone());
        // A dialog that the action causes is answered by an action of its own.
        let (dialogs, effects): (Vec<Effect>, Vec<Effect>) =
            effects.into_iter().partition(|effect| matches!(effect, Effect::Dialog(_)));
        let seconds = self.seconds_before(index);
        let has_dialogs = !dialogs.is_empty();
        let (own, after) = if has_dialogs { (Vec::new(), effects) } else { (effects, Vec::new()) };
        let page = self.page_of(index);
        self.done.push(FastAction {
            what,
            tab,
            page: page.clone(),
            frame,
            element,
            effects: own,
            event: index,
            seconds,
            entry: None,
        });
        let count = dialogs.len();
        for (at, dialog) in dialogs.into_iter().enumerate() {
            let Effect::Dialog(answer) = dialog else { continue };
            let what = What::Dialog { answer: self.answer(&answer)? };
            // What followed came after the last answer.
            let effects = if at + 1 == count { after.clone() } else { Vec::new() };
            let (frame, element) = (Vec::new(), None);
            let page = page.clone();
            self.done.push(FastAction { what, tab, page, frame, element, effects, event: index, seconds, entry: None });
        }
        Ok(())
    }

    /// The event of a draft step that used an element; its first one otherwise.
    fn event_of(&self, step: &DraftStep, element: Option<&Anchor>) -> u64 {
        let own = self.events.iter().filter(|event| step.source_event_indexes.contains(&event.event_index));
        let is_it = |event: &&Event| {
            element.zip(event.element.as_ref()).is_some_and(|(wanted, seen)| {
                seen.selectors == wanted.selectors && seen.role == wanted.role && seen.name == wanted.name
            })
        };
        let first = step.source_event_indexes.first().copied().unwrap_or_default();
        own.rev().find(is_it).map_or(first, |event| event.event_index)
    }

    /// The address of the page of an event, without what follows its path.
    fn page_of(&self, index: u64) -> String {
        let event = self.all.iter().find(|event| event.event_index == index);
        let url = event.map(|event| event.page.url.split(['?', '#']).next().unwrap_or_default());
        url.filter(|url| url.contains("://")).unwrap_or_default().to_owned()
    }

    /// Seconds between an event and the action before it.
    fn seconds_before(&self, index: u64) -> f64 {
        let at = self.all.iter().position(|event| event.event_index == index);
        let Some((at, event)) = at.and_then(|at| Some((at, self.all.get(at)?))) else { return 0.0 };
        let before = self.all.get(..at).unwrap_or_default();
        let is_act = |event: &&Event| {
            matches!(event.event_type, EventType::Click | EventType::Keydown | EventType::Change | EventType::Input)
        };
        let earlier = before.iter().rev().find(is_act).or(before.first());
        earlier.map_or(0.0, |earlier| (event.timestamp - earlier.timestamp).clamp(0.0, LONGEST))
    }
}

fn unclear(recorded: &str) -> Refusal {
    format!("it is not clear what stands for {} with these inputs", quoted(recorded))
}

fn effects_of(postcondition: Option<&Postcondition>) -> Vec<Effect> {
    match postcondition {
        None => Vec::new(),
        Some(Postcondition::One(one)) => vec![one.clone()],
        Some(Postcondition::Several(several)) => several.of.clone(),
    }
}

/// The recorded values of the inputs of a routine that are not sensitive, as they were when it was compiled.
#[must_use]
pub fn recorded_inputs(routine: &Routine) -> BTreeMap<String, String> {
    let plain = routine.inputs.iter().filter(|input| !input.sensitive);
    plain.filter_map(|input| Some((input.name.clone(), input.default.clone()?))).collect()
}

/// What each step says, for noticing later edits.
#[must_use]
pub fn digests(routine: &Routine) -> BTreeMap<String, String> {
    routine.steps.iter().map(|step| (step.n.to_string(), step.digest())).collect()
}

/// The tabs that a plan uses.
#[must_use]
pub fn tabs_used(plan: &Plan) -> BTreeSet<u64> {
    plan.steps.values().flat_map(|step| &step.actions).map(|action| action.tab).collect()
}
