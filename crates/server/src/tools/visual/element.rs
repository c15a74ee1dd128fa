//! `element_interaction`: previews, confirmations, and carrying out.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::guard::{Checked, Doing, Guard, check_element, check_keys, check_secrets};
use super::super::schema::schema_of;
use super::super::tool::Handler;
use super::super::{Outcome, SECRET_FIELD, Tool, ToolContext, ToolError, arguments};
use super::action::{Action, Given, Pending};
use super::interaction::{Interaction, Values};
use super::moves::{scroll, set_slider, swipe, upload};
use super::observation::{Observation, cut, is_disabled, named, quoted};
use super::observe::with_picture;
use super::presence::{check, needs_preview, present};
use super::waiting::{press_key, wait};
use super::{Visual, VisualTools, failed, failed_at};
use crate::config::Confirm;
use crate::control::{TabHandle, TabInfo};
use cdpilot::code::Code;
use cdpilot::page::{self, Act, Locator, LookOptions, Using, VisibleElement};
use cdpilot::redact::Secrets;

/// What the names of actions that confirm others begin with.
const CONFIRM: &str = "confirm_";
/// Length of what a field holds in a preview, in characters.
const MOST_CONTENT: usize = 300;
/// Length of the HTML in a preview, in characters.
const HTML: usize = 800;
/// Longest text that is typed key by key, in characters.
const MOST_TYPED: usize = 500;
/// Time limit of typing, and what each character adds to it: a busy page takes several milliseconds for a key.
const TYPING_LIMIT: Duration = Duration::from_secs(20);
const TIME_PER_CHARACTER: Duration = Duration::from_millis(10);
/// Length of what a field holds, as far as it is read, in characters.
const MOST_HELD: usize = 1_200;
/// Time limit for reading what a field holds.
const HELD_LIMIT: Duration = Duration::from_secs(1);
/// Maximum number of console errors, notices and downloads that an observation lists.
const MOST_LISTED: usize = 5;

/// The description for models.
const ALWAYS: &str = "Act on an element by its id. click, keyboard_input, select and drag_and_drop show a preview: confirm it with the \
     confirm_ action if the yellow box is around the right element; any other call drops it. The rest runs at once.";
const AUTO: &str = "Act on an element by its id, at once. If click, keyboard_input, select or drag_and_drop shows a preview instead, \
     confirm it with the confirm_ action if the yellow box is around the right element; any other call drops it.";
const NEVER: &str = "Act on an element by its id, at once.";
/// What longer names of actions end with.
const LONG: &str = "_element";

pub(super) fn tool(visual: &VisualTools) -> Tool {
    let description = match visual.confirms {
        Confirm::Always => ALWAYS,
        Confirm::Auto => AUTO,
        Confirm::Never => NEVER,
    };
    let handler = Interacting { visual: visual.clone(), schema: interaction_schema(true) };
    let schema = interaction_schema(visual.confirms != Confirm::Never);
    Tool::new("element_interaction", description, schema, Arc::new(handler))
}

/// The schema of `element_interaction`, with or without the actions that confirm others.
pub(crate) fn interaction_schema(confirms: bool) -> Value {
    let mut schema = schema_of::<Interaction>();
    if confirms {
        return schema;
    }
    let actions = schema.pointer_mut("/properties/action/enum").and_then(Value::as_array_mut);
    if let Some(actions) = actions {
        actions.retain(|action| !action.as_str().is_some_and(|action| action.starts_with(CONFIRM)));
    }
    schema
}

/// `element_interaction`, with the longer names of its actions.
struct Interacting {
    visual: VisualTools,
    schema: Value,
}

impl Handler for Interacting {
    fn call(&self, call: &ToolContext<'_>, mut given: Map<String, Value>) -> Result<Outcome, ToolError> {
        let short = given.get("action").and_then(Value::as_str).and_then(|action| action.strip_suffix(LONG));
        if let Some(short) = short.map(ToOwned::to_owned) {
            given.insert("action".to_owned(), short.into());
        }
        let read = arguments::read(&self.schema, given);
        let visual = self.visual.on(call);
        if read.is_err() {
            visual.take_pending();
        }
        let wanted = read?;
        // Conversations store calls, but no text of secret fields.
        let is_secret = call.scope.is_conversation().then(|| is_secret(&visual, &wanted)).flatten();
        let done = run(&visual, &wanted);
        match is_secret {
            Some(is_secret) => done
                .map(|outcome| outcome.with(SECRET_FIELD, is_secret))
                .map_err(|error| error.with(SECRET_FIELD, is_secret)),
            None => done,
        }
    }
}

/// Whether the text of a call is for a secret field; `None` without a text, or if the field is not known.
fn is_secret(visual: &Visual<'_>, wanted: &Interaction) -> Option<bool> {
    wanted.text.as_deref().filter(|text| !text.is_empty())?;
    if wanted.action == Action::Wait {
        return None;
    }
    let state = visual.state();
    if wanted.action.confirmed().is_some() {
        return state.lock().pending.as_ref().map(|pending| pending.bound.is_secret);
    }
    let handle = visual.tab(wanted.tab_id.as_deref()).ok()?;
    let element = state.lock().element(handle.tab.target().as_str(), wanted.element_id.as_deref()?);
    let (element, _) = element.ok()?;
    handle.tab.is_secret_field(&element.node, visual.deadline().within(HELD_LIMIT)).ok()
}

pub(super) fn bad(problem: impl Into<String>) -> ToolError {
    ToolError::new(Code::BadRequest, problem)
}

fn run(visual: &Visual<'_>, wanted: &Interaction) -> Result<Outcome, ToolError> {
    let pending = visual.take_pending();
    let mut observation = Observation::default();
    visual.unblocked_into(&mut observation)?;
    if let Some(action) = wanted.action.confirmed() {
        return confirm(visual, wanted, action, pending, observation);
    }
    let handle = visual.tab(wanted.tab_id.as_deref())?;
    observation.rescued_if(visual.responds(&handle).map_err(failed)?);
    let element_of = |id: &str, observation: &mut Observation| {
        let (element, note) = visual.state().lock().element(handle.tab.target().as_str(), id)?;
        observation.done.extend(note);
        present(visual, &handle, element, observation)
    };
    if wanted.action == Action::Wait {
        return wait(visual, &handle, wanted, observation);
    }
    let name = wanted.action.name();
    let required = || wanted.element_id.as_deref().ok_or_else(|| bad(format!("{name} requires element_id")));
    if wanted.action == Action::Scroll {
        let element = wanted.element_id.as_deref().map(|id| element_of(id, &mut observation)).transpose()?;
        return scroll(visual, &handle, wanted, element.as_ref(), observation);
    }
    if wanted.action == Action::UploadFile && wanted.element_id.is_none() {
        return upload(visual, &handle, wanted, None, observation);
    }
    if wanted.action == Action::PressKey {
        let element = wanted.element_id.as_deref().map(|id| element_of(id, &mut observation)).transpose()?;
        return press_key(visual, &handle, wanted, element.as_ref(), observation);
    }
    let element = element_of(required()?, &mut observation)?;
    let given = given(wanted)?;
    match wanted.action {
        Action::Hover => {
            let act = Act::hover(ref_of(&element));
            carry_out(
                visual,
                &handle,
                &[&element],
                act,
                format!("Moved the mouse over {}.", named(&element)),
                observation,
            )
        }
        Action::Swipe => {
            let _checked = permitted(visual, &handle, wanted.action, &element, None, &given)?;
            swipe(visual, &handle, wanted, &element, observation)
        }
        Action::SetSlider => {
            let _checked = permitted(visual, &handle, wanted.action, &element, None, &given)?;
            set_slider(visual, &handle, wanted, &element, observation)
        }
        Action::UploadFile => upload(visual, &handle, wanted, Some(&element), observation),
        action => {
            let onto = match (action, wanted.target_element_id.as_deref()) {
                (Action::DragAndDrop, Some(id)) => Some(element_of(id, &mut observation)?),
                (Action::DragAndDrop, None) => return Err(bad("drag_and_drop requires target_element_id")),
                _ => None,
            };
            if is_disabled(&element) {
                let message = format!("{} is disabled; nothing was done", named(&element));
                return Err(ToolError::new(Code::NotActionable, message));
            }
            check_fitness(visual, &handle, action, &element, &given)?;
            if needs_preview(visual, &handle, action, (&element, onto.as_ref()), &given)? {
                preview(visual, &handle, Planned { action, element, onto, given }, observation)
            } else {
                let _checked = permitted(visual, &handle, action, &element, onto.as_ref(), &given)?;
                commit(visual, &handle, action, &element, onto.as_ref(), &given, observation)
            }
        }
    }
}

/// What an action needs besides its element.
fn given(wanted: &Interaction) -> Result<Given, ToolError> {
    let name = wanted.action.name();
    let values = wanted.value.as_ref().map(Values::texts).unwrap_or_default();
    match wanted.action {
        Action::KeyboardInput if wanted.text.is_none() => {
            Err(bad(format!("{name} requires text; empty clears the field")))
        }
        Action::Select if values.is_empty() => Err(bad(format!("{name} requires value: an option or several"))),
        _ => Ok(Given {
            text: wanted.text.clone().unwrap_or_default(),
            append: wanted.append,
            submit: wanted.submit,
            values,
        }),
    }
}

/// Refuses at once what cannot succeed: typing into a button, or choosing an option that a list does not have.
fn check_fitness(
    visual: &Visual<'_>,
    handle: &TabHandle,
    action: Action,
    element: &VisibleElement,
    given: &Given,
) -> Result<(), ToolError> {
    let deadline = visual.deadline();
    let problem = match action {
        Action::KeyboardInput => handle.tab.typing_problem(&element.node, &given.text, deadline),
        Action::Select => handle.tab.choice_problem(&element.node, &given.values, deadline),
        _ => return Ok(()),
    };
    match problem.map_err(|error| failed_at(error, &[element]))? {
        None => Ok(()),
        Some(problem) => {
            let message = format!("{}: {problem}; nothing was done", named(element));
            Err(ToolError::new(Code::NotActionable, message))
        }
    }
}

/// An action before its preview.
struct Planned {
    action: Action,
    element: VisibleElement,
    onto: Option<VisibleElement>,
    given: Given,
}

fn preview(
    visual: &Visual<'_>,
    handle: &TabHandle,
    planned: Planned,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let Planned { action, element, onto, given } = planned;
    let deadline = visual.deadline();
    let at = |error: page::Error| failed_at(error, &[&element]);
    let preview =
        handle.tab.preview(&element.id, (&element.node, &element.shown), action.question(), deadline).map_err(at)?;
    let target = match onto {
        Some(onto) => {
            let bound = handle.tab.bound(&onto.id, &onto.node, &onto.shown, deadline);
            let bound = bound.map_err(|error| failed_at(error, &[&onto]))?;
            Some((onto, bound))
        }
        None => None,
    };
    let page::Preview { bound, picture, .. } = preview;
    let Some(confirmation) = action.confirmation() else { return Err(bad("this action has no preview")) };
    said.done.push(format!("Nothing is done yet: {} of {} waits for its confirmation.", action.name(), element.id));
    let look = if visual.call.scope.is_blind() { "Read its HTML" } else { "Look at the yellow box in the picture" };
    said.done.push(format!("{look}: {}", action.question()));
    said.done.push(format!(
        "Confirm only if it is: element_interaction {}. Any other call drops the action.",
        json!({ "action": confirmation, "element_id": element.id })
    ));
    match action {
        Action::KeyboardInput if bound.is_secret => {
            said.done.push(format!("To type: {} characters, secret.", given.text.chars().count()));
        }
        Action::KeyboardInput if given.text.is_empty() && !given.append => {
            said.done.push("To clear the field.".to_owned());
        }
        Action::KeyboardInput => {
            let verb = if given.append { "append" } else { "type" };
            said.done.push(format!("To {verb}: {}{}.", quoted(&cut(&given.text, 300)), entered(given.submit)));
        }
        Action::Select => said.done.push(format!("To choose: {}.", chosen(visual, handle, &element, &given))),
        _ => {}
    }
    if action == Action::KeyboardInput
        && let Some(held) = held_by(visual, handle, &element).filter(|held| !held.is_empty())
    {
        said.page_texts.push(format!("holds: {}", quoted(&cut(&held, MOST_CONTENT))));
    }
    if let Some((onto, _)) = &target {
        said.done.push(format!("To drop on: {}.", named(onto)));
    }
    said.head = format!("Element {}, {}.", element.id, element.kind.name());
    said.page_texts.push(cut(&bound.html, HTML));
    if !bound.destination.is_empty() {
        said.page_texts.push(format!("leads to: {}", cut(&bound.destination, 200)));
    }
    let text = said.text(&[], None);
    let pending = json!({ "action": action.name(), "element_id": element.id });
    let tab = handle.tab.target().to_string();
    visual.state().lock().pending = Some(Pending { action, tab, element, bound, target, given });
    Ok(with_picture(visual.outcome(&text).with("pending", pending), picture))
}

/// The options that are to be chosen, by their labels.
fn chosen(visual: &Visual<'_>, handle: &TabHandle, element: &VisibleElement, given: &Given) -> String {
    let labels = handle.tab.option_labels(&element.node, &given.values, visual.deadline().within(HELD_LIMIT));
    let labels = labels.ok().filter(|labels| labels.len() == given.values.len());
    let quoted: Vec<String> = labels.as_ref().unwrap_or(&given.values).iter().map(|label| quoted(label)).collect();
    quoted.join(", ")
}

/// What a field holds; `None` for a secret one, and for what is no field.
fn held_by(visual: &Visual<'_>, handle: &TabHandle, element: &VisibleElement) -> Option<String> {
    handle.tab.held_text(&element.node, visual.deadline().within(HELD_LIMIT)).ok().flatten()
}

fn entered(submit: bool) -> &'static str {
    if submit { ", then Enter" } else { "" }
}

fn confirm(
    visual: &Visual<'_>,
    wanted: &Interaction,
    action: Action,
    pending: Option<Pending>,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let none = |why: &str| {
        let first = action.name();
        ToolError::new(
            Code::Conflict,
            format!("{why}; nothing was done. Call {first} first, then {}", wanted.action.name()),
        )
    };
    let pending = pending.ok_or_else(|| none("no action waits for a confirmation"))?;
    if pending.action != action {
        return Err(none(&format!("{} was waiting, not {}", pending.action.name(), action.name())));
    }
    if wanted.element_id.as_deref().is_some_and(|id| id != pending.element.id && !is_alike(id, &pending.element.id)) {
        return Err(none(&format!("the action that was waiting is for {}", pending.element.id)));
    }
    let handle = visual.tab(Some(&pending.tab))?;
    if let Some(field) = pending.differs_in(wanted, &handle.info) {
        return Err(none(&format!("{field} is not the one of the preview")));
    }
    said.rescued_if(visual.responds(&handle).map_err(failed)?);
    let mut pending = pending;
    check(&handle, (&mut pending.element, &mut pending.bound), visual, &mut said)?;
    if let Some((onto, bound)) = &mut pending.target {
        check(&handle, (onto, bound), visual, &mut said)?;
    }
    let Pending { element, bound, target, given, .. } = &pending;
    said.done.extend(
        (wanted.element_id.as_deref().is_some_and(|id| id != element.id)).then(|| format!("Read as {}.", element.id)),
    );
    // The page may change until the action arrives.
    let _binding = handle.tab.bind(std::iter::once(bound).chain(target.as_ref().map(|(_, bound)| bound)));
    let onto = target.as_ref().map(|(onto, _)| onto);
    let checked = permitted(visual, &handle, action, element, onto, given);
    if checked.as_ref().is_err_and(is_unapproved) {
        // The confirmation is repeated once it is approved.
        visual.state().lock().pending = Some(pending.clone());
    }
    let _checked = checked?;
    let done = commit(visual, &handle, action, element, onto, given, said);
    if done.as_ref().is_err_and(is_unapproved) {
        visual.state().lock().pending = Some(pending.clone());
    }
    done
}

fn is_unapproved(error: &ToolError) -> bool {
    error.code == Code::ApprovalNeeded
}

/// Asks the guard of the call about an action, and binds its element. Every action has an arm: a new one is not forgotten.
fn permitted<'t>(
    visual: &Visual<'_>,
    handle: &'t TabHandle,
    action: Action,
    element: &VisibleElement,
    onto: Option<&VisibleElement>,
    given: &Given,
) -> Result<Checked<'t>, ToolError> {
    let (call, at) = (visual.call, (&element.node, &element.shown));
    match action {
        Action::Click => check_element(call, handle, at, Doing::new("click", Using::Press)),
        Action::KeyboardInput if call.scope.guard().is_some_and(Guard::resumes) => Ok(Checked::free()),
        Action::KeyboardInput => {
            check_secrets(call, handle, at, &given.text)?;
            check_element(call, handle, at, Doing { text: &given.text, ..Doing::new("type into", Using::Other) })
        }
        Action::Select => {
            let text = given.values.join(", ");
            check_element(call, handle, at, Doing { text: &text, ..Doing::new("choose in", Using::Other) })
        }
        Action::DragAndDrop => {
            let onto = onto.unwrap_or(element);
            check_element(call, handle, (&onto.node, &onto.shown), Doing::new("drop something on", Using::Press))
        }
        Action::Swipe => check_element(call, handle, at, Doing::new("swipe", Using::Other)),
        Action::SetSlider => {
            let text = given.values.join(", ");
            check_element(call, handle, at, Doing { text: &text, ..Doing::new("set", Using::Other) })
        }
        // They change nothing; an upload is asked about with its file.
        Action::Hover | Action::Scroll | Action::UploadFile | Action::Wait => Ok(Checked::free()),
        Action::PressKey => check_keys(call, handle, Some(at), (given.text.as_str(), false)),
        // A confirmation is carried out as what it confirms.
        Action::ConfirmClick | Action::ConfirmKeyboardInput | Action::ConfirmSelect | Action::ConfirmDragAndDrop => {
            Ok(Checked::free())
        }
    }
}

impl Pending {
    /// The first argument of a confirmation that is given and not that of the preview.
    fn differs_in(&self, wanted: &Interaction, tab: &TabInfo) -> Option<&'static str> {
        let Given { text, append, submit, values } = &self.given;
        let is_other_tab = |id: &String| ![&*tab.tab_id, &*tab.target_id].contains(&id.as_str());
        let onto = self.target.as_ref().map(|(onto, _)| onto.id.as_str());
        let given_values = wanted.value.as_ref().map(Values::texts);
        [
            ("tab_id", wanted.tab_id.as_ref().is_some_and(is_other_tab)),
            ("text", wanted.text.as_ref().is_some_and(|given| given != text && !self.is_covered(given))),
            ("append", wanted.append && !append),
            ("submit", wanted.submit && !submit),
            ("value", given_values.is_some_and(|given| given != *values)),
            ("target_element_id", wanted.target_element_id.as_deref().is_some_and(|given| Some(given) != onto)),
        ]
        .into_iter()
        .find_map(|(field, differs)| differs.then_some(field))
    }
}

impl Pending {
    /// Whether a text is what a conversation shows in place of that of a secret field.
    fn is_covered(&self, text: &str) -> bool {
        self.bound.is_secret && text == Secrets::COVER
    }
}

fn is_alike(text: &str, id: &str) -> bool {
    !matches!(page::matching_id(text, std::iter::once(id)), page::IdMatch::None)
}

/// Carries out an action that was confirmed.
fn commit(
    visual: &Visual<'_>,
    handle: &TabHandle,
    action: Action,
    element: &VisibleElement,
    onto: Option<&VisibleElement>,
    given: &Given,
    said: Observation,
) -> Result<Outcome, ToolError> {
    let what = named(element);
    let (act, done) = match action {
        Action::KeyboardInput => {
            let length = given.text.chars().count();
            let secrets = page::secrets_in(&given.text);
            let done = if given.text.is_empty() && !given.append {
                format!("Cleared {what}{}.", entered(given.submit))
            } else if !secrets.is_empty() {
                format!("Typed the secret {} into {what}{}.", secrets.join(", "), entered(given.submit))
            } else {
                let noun = if length == 1 { "character" } else { "characters" };
                let verb = if given.append { "Appended" } else { "Typed" };
                let to = if given.append { "to" } else { "into" };
                format!("{verb} {length} {noun} {to} {what}{}.", entered(given.submit))
            };
            // The keys of a long text are sent in groups: one at a time would take minutes.
            let is_guarded = visual.call.scope.guard().is_some();
            let act = match length {
                _ if given.append => Act::type_text(ref_of(element), given.text.as_str()).append(),
                0..=MOST_TYPED => Act::type_text(ref_of(element), given.text.as_str()),
                _ => Act::fill(ref_of(element), given.text.as_str()),
            };
            let act = if given.submit && !is_guarded { act.submit() } else { act };
            let limit = TYPING_LIMIT + TIME_PER_CHARACTER * u32::try_from(length).unwrap_or(u32::MAX);
            return typed(visual, handle, element, given, act.timeout(limit), done, said);
        }
        Action::Select => {
            let done = format!("Chose {} in {what}.", chosen(visual, handle, element, given));
            (Act::select(ref_of(element), given.values.iter().map(String::as_str)), done)
        }
        Action::DragAndDrop => {
            let onto = onto.ok_or_else(|| bad("drag_and_drop requires target_element_id"))?;
            let done = format!("Dragged {what} onto {}.", named(onto));
            (Act::drag_onto(ref_of(element), ref_of(onto)), done)
        }
        _ => (Act::click(ref_of(element)), format!("Clicked {what}.")),
    };
    let elements: Vec<&VisibleElement> = std::iter::once(element).chain(onto).collect();
    carry_out(visual, handle, &elements, act, done, said)
}

/// Types into a field. Fields may refuse characters or change them, so what the field holds is reported if it differs.
fn typed(
    visual: &Visual<'_>,
    handle: &TabHandle,
    element: &VisibleElement,
    given: &Given,
    act: Act,
    done: String,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let held = || held_by(visual, handle, element);
    let guard = visual.call.scope.guard();
    let outcome = if guard.is_some_and(Guard::resumes) && given.submit {
        None
    } else {
        Some(perform(visual, handle, act, &[element]))
    };
    let outcome = outcome.transpose().map_err(|mut error| {
        if let Some(held) = held() {
            error
                .message
                .push_str(&format!(". The field now holds {}", visual.secrets.cover(&quoted(&cut(&held, 300)))));
        }
        error
    })?;
    said.done.push(done);
    if let Some(outcome) = &outcome {
        effects(outcome, &mut said);
    }
    if guard.is_some()
        && given.submit
        && !outcome.as_ref().is_some_and(|typed| typed.navigated || typed.blocked_by_dialog)
    {
        let entered = entered_guarded(visual, handle, element)?;
        effects(&entered, &mut said);
    }
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // After Enter the field may be used for something else.
    let is_comparable = !given.submit && page::secrets_in(&given.text).is_empty();
    let is_taken = |held: &str| match given.append {
        true => held.chars().count() >= MOST_HELD || folded(held).ends_with(&folded(&given.text)),
        false => folded(held) == folded(&cut(&given.text, MOST_HELD)),
    };
    if let Some(held) = held().filter(|held| is_comparable && !is_taken(held)) {
        said.page_texts.push(format!("the field holds, different from what was typed: {}", quoted(&cut(&held, 300))));
    }
    shown_after(visual, handle, said)
}

/// Presses Enter in a field once the guard of the call allows it: what is sent is known only after the text was typed.
fn entered_guarded(
    visual: &Visual<'_>,
    handle: &TabHandle,
    element: &VisibleElement,
) -> Result<page::Outcome, ToolError> {
    let checked = check_keys(visual.call, handle, Some((&element.node, &element.shown)), ("Enter", true));
    let _checked = checked.map_err(|mut error| {
        error.message.push_str("; the text is typed, Enter was not pressed");
        error
    })?;
    perform(visual, handle, Act::press("Enter").on(ref_of(element)), &[element])
}

/// Where an action takes place.
pub(super) fn ref_of(element: &VisibleElement) -> Locator {
    Locator::by_ref(element.reference.as_str())
}

/// Performs an action of the page layer and answers with what is to be seen then.
pub(super) fn carry_out(
    visual: &Visual<'_>,
    handle: &TabHandle,
    elements: &[&VisibleElement],
    act: Act,
    done: String,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let outcome = perform(visual, handle, act, elements)?;
    said.done.push(done);
    effects(&outcome, &mut said);
    shown_after(visual, handle, said)
}

/// Performs an action on some elements: that of the action first.
pub(super) fn perform(
    visual: &Visual<'_>,
    handle: &TabHandle,
    mut act: Act,
    elements: &[&VisibleElement],
) -> Result<page::Outcome, ToolError> {
    act.redact = Some(visual.secrets.clone());
    act.secrets = Some(visual.call.scope.typed_secrets());
    let deadline = act.deadline(visual.call.deadline);
    visual.profile()?.act(handle, &act, deadline).map_err(|error| failed_at(error, elements))
}

/// What an action has caused besides its purpose.
pub(super) fn effects(outcome: &page::Outcome, said: &mut Observation) {
    said.navigated |= outcome.navigated;
    if let Some(status) = outcome.status.filter(|status| *status >= 400) {
        said.done.push(format!("The server answered with HTTP status {status}."));
    }
    for tab in outcome.new_tabs.iter().take(MOST_LISTED) {
        let id = tab.tab_id.as_deref().unwrap_or("a tab");
        said.page_texts.push(format!("new tab {id}: {}", cut(&tab.url, 120)));
    }
    if outcome.blocked_popups > 0 {
        let count = outcome.blocked_popups;
        said.done.push(format!(
            "{count} new tabs were closed at once: the limit of open tabs is reached. Close a tab first."
        ));
    }
    for error in outcome.console_errors.iter().take(MOST_LISTED) {
        said.page_texts.push(format!("console error: {}", cut(error, 160)));
    }
    // Other new text is in the picture.
    let listed = outcome.notices.iter().filter(|notice| notice.kind != page::NoticeKind::Text);
    for notice in listed.take(MOST_LISTED) {
        said.page_texts.push(format!("{}: {} {}", notice.kind.as_str(), cut(&notice.name, 60), cut(&notice.text, 160)));
    }
    for download in outcome.downloads.iter().take(MOST_LISTED) {
        said.page_texts.push(format!("download: {}", cut(&download.suggested_filename, 100)));
    }
    for closed in outcome.answered_dialogs.iter().take(MOST_LISTED) {
        said.page_texts.push(format!(
            "{} dialog, answered: {}",
            closed.dialog.kind.as_str(),
            quoted(&cut(&closed.dialog.message, 160))
        ));
    }
    if outcome.rescued {
        said.done.push("A script that blocked the page was ended.".to_owned());
    }
}

/// What is to be seen after an action; the tab may have been closed by it.
pub(super) fn shown_after(
    visual: &Visual<'_>,
    handle: &TabHandle,
    mut said: Observation,
) -> Result<Outcome, ToolError> {
    let is_open = visual.profile()?.tab_to_read(Some(handle.tab.target().as_str())).is_ok();
    if !is_open {
        said.done.push("The tab was closed.".to_owned());
        if let Some(opener) = visual.back_to_opener(handle.tab.target().as_str()) {
            said.done.push(format!("{}, which opened it, is the current tab.", opener.info.tab_id));
            return visual.shown(&opener, &LookOptions::new(), said, true);
        }
        visual.tabs_into(&mut said);
        return Ok(visual.outcome(&said.text(&[], None)));
    }
    visual.shown(handle, &LookOptions::new(), said, false)
}
