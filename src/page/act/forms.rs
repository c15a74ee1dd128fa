//! Form fields.
//!
//! Text is typed with key events. Fields with a picker (dates, times, colours, ranges) and lists of options are set,
//! with the `input` and `change` events of a choice. Checkboxes, radio buttons and switches are clicked, on their label
//! where they are hidden behind it, and checked afterwards.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::super::error::Shown;
use super::super::world::Node;
use super::super::{Error, Tab};
use super::actionability::{Needs, Ready};
use super::typing::{Mode, Typing, gone, named};
use super::{Act, Field, FieldValue, Input, Locator, Performed};
use crate::sync::Deadline;

/// How long a page may take to show a changed checkbox.
const CHECK_TIME: Duration = Duration::from_secs(1);
/// Why a choice may not be what is shown.
const HIDDEN_LIST: &str = "the list is not visible: if the page shows another control in its place, choose there";
/// How long one in-page call waits.
const WAIT_SLICE: Duration = Duration::from_millis(250);
/// Time reserved before the deadline for the page's reason.
const RESERVED: Duration = Duration::from_millis(250);

/// The answer of the in-page call `choose`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChooseReply {
    gone: bool,
    wrong: bool,
    single: bool,
    unknown: Option<String>,
    options: Vec<(String, String)>,
    more: usize,
    disabled: Option<String>,
    /// A value that names several options, which are in `options`.
    ambiguous: Option<String>,
    values: Vec<String>,
    labels: Vec<String>,
    kept: bool,
    /// Whether the list cannot be seen.
    hidden: bool,
}

/// The answer of the in-page call `tick`: a checkbox, radio button or switch.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TickReply {
    gone: bool,
    wrong: bool,
    id: u32,
    checked: Option<bool>,
    radio: bool,
    off: Option<String>,
    via: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EndReply {
    gone: bool,
    done: bool,
    problem: Option<String>,
}

impl Tab {
    /// Selects options of a `<select>`.
    pub(super) fn select(
        &self,
        at: &Locator,
        values: &[String],
        force: bool,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        let there = self.ready(at, Needs::PRESENT, force, deadline)?;
        if there.tag != "select" {
            return Err(not_actionable(at, "it is not a <select>; click it, then click one of its options"));
        }
        let ready = self.ready(at, Needs::EDIT, force, deadline)?;
        let chosen = loop {
            let ms = deadline.left().saturating_sub(RESERVED).min(WAIT_SLICE);
            let ms = u64::try_from(ms.as_millis()).unwrap_or(0);
            let args = json!({ "id": ready.node.id, "values": values, "ms": ms, "identity": ready.bound });
            let chosen: ChooseReply = self.call_on_node(&ready.node, "choose", &args, deadline)?;
            // Pages fill lists when a server has answered.
            if (chosen.unknown.is_none() && chosen.disabled.is_none()) || deadline.left() <= RESERVED + WAIT_SLICE {
                break chosen;
            }
        };
        if chosen.gone || chosen.wrong {
            return Err(gone(at));
        }
        if chosen.single {
            let problem = format!("{} accepts one option, but {} were given", named(at), values.len());
            return Err(Error::BadRequest { problem });
        }
        if let Some(value) = &chosen.ambiguous {
            let problem = format!(
                "{} has several options that {value:?} names: {}; give label=… for a label or value=… for a value",
                named(at),
                listed(&chosen)
            );
            return Err(Error::BadRequest { problem });
        }
        if let Some(value) = &chosen.unknown {
            let problem = format!("{} has no option {value:?}; its options: {}", named(at), listed(&chosen));
            return Err(Error::BadRequest { problem });
        }
        if let Some(value) = &chosen.disabled {
            return Err(not_actionable(at, &format!("its option {value:?} is disabled")));
        }
        if !chosen.kept {
            return Err(not_actionable(at, "the page changed the selection to another one"));
        }
        Ok(Performed {
            result: Some(json!({ "values": chosen.values, "labels": chosen.labels })),
            hint: chosen.hidden.then_some(HIDDEN_LIST),
            rescued: ready.rescued,
            element: Some(ready.shown),
            ..Performed::default()
        })
    }

    pub(super) fn tick(&self, at: &Locator, want: bool, act: &Act, deadline: Deadline<'_>) -> Result<Performed, Error> {
        let ready = self.ready(at, Needs::PRESENT, act.force, deadline)?;
        let look = || self.call_on_node::<TickReply>(&ready.node, "tick", &json!({ "id": ready.node.id }), deadline);
        let mut performed =
            Performed { rescued: ready.rescued, element: Some(ready.shown.clone()), ..Performed::default() };
        for turn in 0..2 {
            let mut tick = look()?;
            if tick.wrong {
                return Err(not_actionable(at, "it is not a checkbox, radio button or switch"));
            }
            if tick.checked == Some(want) {
                return Ok(performed);
            }
            if tick.radio && !want {
                return Err(not_actionable(at, "a radio button cannot be unchecked; check another one of its group"));
            }
            while let Some(reason) = tick.off.take() {
                if deadline.left() <= WAIT_SLICE + RESERVED {
                    return Err(not_actionable(at, &reason));
                }
                let args = json!({ "id": tick.id, "state": "enabled", "until": "reference", "ms": 250 });
                let _: serde_json::Value = self.call_on_node(&ready.node, "holds", &args, deadline)?;
                tick = look()?;
            }
            if tick.gone {
                // After a click the page may draw it anew.
                return if turn > 0 { Ok(performed) } else { Err(gone(at)) };
            }
            let via = Node { id: tick.via.unwrap_or(tick.id), ..ready.node.clone() };
            let click = Act { input: act.input, ..Act::click(self.locator_of(via)).force() };
            let clicked = click.kind.perform(self, &click, deadline)?;
            performed.rescued |= clicked.rescued;
            performed.input = performed.input.or(clicked.input);
            let most = u64::try_from(CHECK_TIME.min(deadline.left()).as_millis()).unwrap_or(0);
            let args = json!({ "id": tick.id, "want": want, "ms": most });
            match self.call_on_node::<EndReply>(&ready.node, "ticked", &args, deadline) {
                Ok(ended) if ended.done || ended.gone => return Ok(performed),
                // It has a third state in between.
                Ok(_) if turn == 0 && look().is_ok_and(|now| now.checked != tick.checked) => {}
                Ok(_) => break,
                // The click navigated.
                Err(Error::DocumentGone { .. }) => return Ok(performed),
                Err(error) => return Err(error),
            }
        }
        let state = if want { "checked" } else { "unchecked" };
        Err(not_actionable(at, &format!("it was clicked and is still not {state}; the page may not allow it")))
    }

    /// A locator for a node: its ref, a new one if it has none.
    pub(super) fn locator_of(&self, node: Node) -> Locator {
        let mut refs = self.refs.lock();
        let number = refs.number(&node);
        let number = number.unwrap_or_else(|| refs.show(node, Shown::default()));
        Locator { reference: Some(format!("e{number}")), ..Locator::default() }
    }

    pub(super) fn fill(
        &self,
        fields: &[Field],
        submit: bool,
        act: &Act,
        deadline: Deadline<'_>,
    ) -> Result<Performed, Error> {
        if fields.is_empty() {
            return Err(Error::BadRequest { problem: "fields is empty; give at least one field".to_owned() });
        }
        self.emulate_focus();
        let (mut performed, mut typed_in) = (Performed::default(), None);
        let (mut taken, mut selected) = (Vec::new(), Vec::new());
        for (index, field) in fields.iter().enumerate() {
            let place = |error: Error| in_field(error, index, fields);
            let filled = self.fill_one(field, act, deadline).map_err(place)?;
            performed.rescued |= filled.0.rescued;
            performed.input = performed.input.or(filled.0.input);
            performed.element = filled.0.element.filter(|_| fields.len() == 1);
            typed_in = filled.1.then_some(field).or(typed_in);
            match filled.0.result {
                Some(serde_json::Value::Object(mut chosen)) => {
                    chosen.insert("field".to_owned(), json!(index + 1));
                    selected.push(chosen);
                }
                Some(value) => taken.push(json!({ "field": index + 1, "value": value })),
                None => {}
            }
            if self.has_dialog() {
                performed.result = Some(json!({ "filled": index + 1, "of": fields.len() }));
                return Ok(performed);
            }
        }
        if let Some(last) = typed_in.or(fields.last()).filter(|_| submit) {
            let at = self.by_ref(&last.at, deadline)?;
            let enter = self.press(act, &at, "Enter", 1, deadline)?;
            performed.rescued |= enter.rescued;
            performed.input = performed.input.or(enter.input);
        }
        let parts = [("taken", json!(taken)), ("selected", json!(selected))];
        let parts: serde_json::Map<_, _> =
            parts.into_iter().filter(|(_, all)| *all != json!([])).map(|(name, all)| (name.to_owned(), all)).collect();
        performed.result = (!parts.is_empty()).then(|| parts.into());
        Ok(performed)
    }

    /// Fills in one field. Returns whether text was typed into it.
    fn fill_one(&self, field: &Field, act: &Act, deadline: Deadline<'_>) -> Result<(Performed, bool), Error> {
        let at = self.by_ref(&field.at, deadline)?;
        let at = &*at;
        let there = self.ready(at, Needs::PRESENT, act.force, deadline)?;
        let bad = |problem: String| Err(Error::BadRequest { problem });
        match kind_of(&there) {
            Filled::Choice => {
                let values = match &field.value {
                    FieldValue::Text(text) => vec![text.clone()],
                    FieldValue::Number(number) => vec![number.to_string()],
                    FieldValue::Texts(texts) => texts.clone(),
                    FieldValue::Flag(_) => {
                        return bad("it is a list of options; give the value or label of an option".to_owned());
                    }
                };
                Ok((self.select(at, &values, act.force, deadline)?, false))
            }
            Filled::Ticked => {
                let want = match &field.value {
                    FieldValue::Flag(want) => *want,
                    FieldValue::Text(text) if text == "true" || text == "false" => text == "true",
                    _ => return bad("it is a checkbox, radio button or switch; give true or false".to_owned()),
                };
                Ok((self.tick(at, want, act, deadline)?, false))
            }
            Filled::File => Err(not_actionable(at, "it is a file input; use upload")),
            Filled::Text => {
                let text = match &field.value {
                    FieldValue::Text(text) => text.replace("\r\n", "\n"),
                    FieldValue::Number(number) => number.to_string(),
                    FieldValue::Flag(_) => return bad("it is a text field; give text, not true or false".to_owned()),
                    FieldValue::Texts(_) => {
                        return bad("it is a text field; give one text, not a list".to_owned());
                    }
                };
                Ok((self.fill_typed(at, &text, act, deadline)?, true))
            }
        }
    }

    /// Types a text into a field, and reads it back.
    fn fill_typed(&self, at: &Locator, text: &str, act: &Act, deadline: Deadline<'_>) -> Result<Performed, Error> {
        let ready = self.ready(at, Needs::EDIT, act.force, deadline)?;
        let focused = self.focus_field(&ready, at, Mode::Replace, deadline)?;
        let with_secrets = self.with_secrets(text, act, Some((&ready, at)), deadline)?;
        let how = Typing { has_secret: with_secrets.is_some(), ..Typing::default() };
        let text = with_secrets.as_deref().unwrap_or(text);
        let performed =
            Performed { rescued: ready.rescued, element: Some(ready.shown.clone()), ..Performed::default() };
        match focused.kind.as_str() {
            "picked" => {
                self.set_field(&ready, at, text, deadline)?;
                return Ok(performed);
            }
            "line" | "lines" | "rich" => {}
            _ => return Err(not_actionable(at, "it does not accept text")),
        }
        let done = self.type_checked((&ready, at), focused, Mode::Replace, text, how, act.input, deadline)?;
        let input = done.typed.synthetic.then_some(Input::Synthetic);
        Ok(Performed { input, result: done.taken.map(|taken| json!(taken)), ..performed })
    }

    /// Sets the value of a field with a picker.
    pub(super) fn set_field(
        &self,
        ready: &Ready,
        at: &Locator,
        text: &str,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let args = json!({ "id": ready.node.id, "value": text });
        let ended: EndReply = self.call_on_node(&ready.node, "setField", &args, deadline)?;
        if ended.gone {
            return Err(gone(at));
        }
        ended.problem.map_or(Ok(()), |reason| Err(not_actionable(at, &reason)))
    }
}

/// How a field is filled in.
enum Filled {
    Text,
    Choice,
    Ticked,
    File,
}

fn kind_of(ready: &Ready) -> Filled {
    match (ready.tag.as_str(), ready.kind.as_str()) {
        ("select", _) => Filled::Choice,
        ("input", "checkbox" | "radio") => Filled::Ticked,
        ("input", "file") => Filled::File,
        ("input" | "textarea", _) => Filled::Text,
        _ if ready.editable => Filled::Text,
        _ => match ready.shown.role.as_str() {
            "checkbox" | "radio" | "switch" | "menuitemcheckbox" | "menuitemradio" => Filled::Ticked,
            _ => Filled::Text,
        },
    }
}

fn not_actionable(at: &Locator, reason: &str) -> Error {
    Error::not_actionable(named(at), reason)
}

fn listed(chosen: &ChooseReply) -> String {
    let one = |(value, label): &(String, String)| {
        if value == label || label.is_empty() { format!("{value:?}") } else { format!("{value:?} ({label})") }
    };
    let mut options: Vec<String> = chosen.options.iter().map(one).collect();
    if chosen.more > 0 {
        options.push(format!("{} more", chosen.more));
    }
    if options.is_empty() { "none".to_owned() } else { options.join(", ") }
}

/// Adds the number of the field to an error, and the fields that are filled already.
fn in_field(error: Error, index: usize, fields: &[Field]) -> Error {
    if error.is_blocked_by_dialog() {
        return error;
    }
    let (number, at) = (index + 1, &fields[index].at);
    let filled: Vec<String> = fields[..index].iter().map(|field| called(&field.at)).collect();
    let filled = match filled.as_slice() {
        [] => None,
        [one] => Some(format!("field 1 ({one}) is already filled")),
        several => Some(format!("fields 1 to {index} ({}) are already filled", several.join(", "))),
    };
    let error = match error {
        Error::NotActionable { what, reason, covered_by, waited } => {
            Error::NotActionable { what: format!("field {number} ({what})"), reason, covered_by, waited }
        }
        Error::BadRequest { problem } => {
            Error::BadRequest { problem: format!("field {number} ({}): {problem}", called(at)) }
        }
        other if fields.len() == 1 => return other,
        other => Error::InField { number, name: called(at), error: Box::new(other), filled: String::new() },
    };
    match (filled, error) {
        (None, error) => error,
        (Some(filled), Error::NotActionable { what, reason, covered_by, waited }) => {
            Error::NotActionable { what, reason: format!("{reason}; {filled}"), covered_by, waited }
        }
        (Some(filled), Error::BadRequest { problem }) => Error::BadRequest { problem: format!("{problem}; {filled}") },
        (Some(filled), Error::InField { number, name, error, .. }) => {
            Error::InField { number, name, error, filled: format!("; {filled}") }
        }
        (Some(_), error) => error,
    }
}

/// A field as the caller addressed it.
fn called(at: &Locator) -> String {
    at.locator.clone().unwrap_or_else(|| named(at))
}
