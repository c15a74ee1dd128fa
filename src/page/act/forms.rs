//! Form fields.
//!
//! Text is typed, with the events of keys. What has a picker (dates, times, colours, ranges) and lists of options
//! are set, with the `input` and `change` that a choice causes. Boxes, radio buttons and switches are
//! clicked, on their label where they are hidden behind it, and looked at afterwards.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::super::error::Shown;
use super::super::world::Node;
use super::super::{Error, Tab};
use super::ready::{Needs, Ready};
use super::typing::{Mode, Typing, gone, named, refusal};
use super::{Act, ActKind, Button, Did, Field, FieldValue, Input, Locator};
use crate::sync::Deadline;

/// How long a page may take to show that a box is ticked.
const SHOWS: Duration = Duration::from_secs(1);
/// How long one wait in the page takes.
const SLICE: Duration = Duration::from_millis(250);
/// What is kept back of a deadline for the page to say why not.
const ANSWER: Duration = Duration::from_millis(250);

/// What came of choosing options.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chosen {
    gone: bool,
    wrong: bool,
    single: bool,
    unknown: Option<String>,
    options: Vec<(String, String)>,
    more: usize,
    disabled: Option<String>,
    values: Vec<String>,
    kept: bool,
}

/// Something that is ticked.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tick {
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
struct Ended {
    gone: bool,
    done: bool,
    problem: Option<String>,
}

impl Tab {
    /// [`ActKind::Select`], [`ActKind::Check`], [`ActKind::Uncheck`] and [`ActKind::Fill`].
    pub(super) fn fill_in(&self, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        match &act.kind {
            ActKind::Select { at, values } => self.select(at, values, act.force, deadline),
            ActKind::Check { at } => self.tick(at, true, act, deadline),
            ActKind::Uncheck { at } => self.tick(at, false, act, deadline),
            ActKind::Fill { fields, submit } => self.fill(fields, *submit, act, deadline),
            _ => Err(Error::BadRequest { problem: "this is nothing for a form".to_owned() }),
        }
    }

    fn select(&self, at: &Locator, values: &[String], force: bool, deadline: Deadline) -> Result<Did, Error> {
        let there = self.ready(at, Needs::PRESENT, force, deadline)?;
        if there.tag != "select" {
            return Err(not_actionable(at, "it is no <select>; click it, then click its option"));
        }
        let ready = self.ready(at, Needs::EDIT, force, deadline)?;
        let chosen = loop {
            let ms = deadline.left().saturating_sub(ANSWER).min(SLICE);
            let ms = u64::try_from(ms.as_millis()).unwrap_or(0);
            let args = json!({ "id": ready.node.id, "values": values, "ms": ms });
            let chosen: Chosen = self.call_on_node(&ready.node, "choose", &args, deadline)?;
            // Pages fill lists when a server has answered.
            if (chosen.unknown.is_none() && chosen.disabled.is_none()) || deadline.left() <= ANSWER + SLICE {
                break chosen;
            }
        };
        if chosen.gone || chosen.wrong {
            return Err(gone(at));
        }
        if chosen.single {
            let problem = format!("{} takes one option, {} were given", named(at), values.len());
            return Err(Error::BadRequest { problem });
        }
        if let Some(value) = &chosen.unknown {
            let problem = format!("{} has no option {value:?}; there are: {}", named(at), listed(&chosen));
            return Err(Error::BadRequest { problem });
        }
        if let Some(value) = &chosen.disabled {
            return Err(not_actionable(at, &format!("its option {value:?} is disabled")));
        }
        if !chosen.kept {
            return Err(not_actionable(at, "the page put another choice in its place"));
        }
        Ok(Did {
            result: Some(json!({ "values": chosen.values })),
            rescued: ready.rescued,
            element: Some(ready.shown),
            ..Did::default()
        })
    }

    fn tick(&self, at: &Locator, want: bool, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        let ready = self.ready(at, Needs::PRESENT, act.force, deadline)?;
        let look = || self.call_on_node::<Tick>(&ready.node, "tick", &json!({ "id": ready.node.id }), deadline);
        let mut did = Did { rescued: ready.rescued, element: Some(ready.shown.clone()), ..Did::default() };
        for turn in 0..2 {
            let mut tick = look()?;
            if tick.wrong {
                return Err(not_actionable(at, "it is no checkbox, radio button or switch"));
            }
            if tick.checked == Some(want) {
                return Ok(did);
            }
            if tick.radio && !want {
                return Err(not_actionable(at, "a radio button is unticked by ticking another one of its group"));
            }
            while let Some(reason) = tick.off.take() {
                if deadline.left() <= SLICE + ANSWER {
                    return Err(not_actionable(at, &reason));
                }
                let args = json!({ "id": tick.id, "state": "enabled", "until": "reference", "ms": 250 });
                let _: serde_json::Value = self.call_on_node(&ready.node, "holds", &args, deadline)?;
                tick = look()?;
            }
            if tick.gone {
                return Err(gone(at));
            }
            let via = Node { id: tick.via.unwrap_or(tick.id), ..ready.node.clone() };
            let clicked = self.point_at(&click(self.locator_of(via), act.input), deadline)?;
            did.rescued |= clicked.rescued;
            did.input = did.input.or(clicked.input);
            let most = u64::try_from(SHOWS.min(deadline.left()).as_millis()).unwrap_or(0);
            let args = json!({ "id": tick.id, "want": want, "ms": most });
            match self.call_on_node::<Ended>(&ready.node, "ticked", &args, deadline) {
                Ok(ended) if ended.done || ended.gone => return Ok(did),
                // It goes through a third state.
                Ok(_) if turn == 0 && look().is_ok_and(|now| now.checked != tick.checked) => {}
                Ok(_) => break,
                // The click led on to another document.
                Err(Error::DocumentGone { .. }) => return Ok(did),
                Err(error) => return Err(error),
            }
        }
        let state = if want { "ticked" } else { "unticked" };
        Err(not_actionable(at, &format!("it was clicked and is not {state}; the page may not allow it")))
    }

    /// A node as a ref, for what takes nothing else.
    fn locator_of(&self, node: Node) -> Locator {
        let mut refs = self.refs.lock();
        let number = refs.number(&node);
        let number = number.unwrap_or_else(|| refs.show(node, Shown { role: String::new(), name: String::new() }));
        Locator { reference: Some(format!("e{number}")), ..Locator::default() }
    }

    fn fill(&self, fields: &[Field], submit: bool, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        self.emulate_focus();
        let (mut did, mut typed_in) = (Did::default(), None);
        for (index, field) in fields.iter().enumerate() {
            let place = |error: Error| in_field(error, index + 1, &field.at);
            let filled = self.fill_one(field, act, deadline).map_err(place)?;
            did.rescued |= filled.0.rescued;
            did.input = did.input.or(filled.0.input);
            did.element = filled.0.element.filter(|_| fields.len() == 1);
            typed_in = filled.1.then_some(field).or(typed_in);
            if self.has_dialog() {
                did.result = Some(json!({ "filled": index + 1, "of": fields.len() }));
                return Ok(did);
            }
        }
        if let Some(last) = typed_in.or(fields.last()).filter(|_| submit) {
            let at = self.by_ref(&last.at, deadline)?;
            let enter = self.press(act, &at, "Enter", 1, deadline)?;
            did.rescued |= enter.rescued;
            did.input = did.input.or(enter.input);
        }
        Ok(did)
    }

    /// Fills in one field. Whether text was typed into it.
    fn fill_one(&self, field: &Field, act: &Act, deadline: Deadline) -> Result<(Did, bool), Error> {
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
                        return bad("it is a list of options; give the value or label of one".to_owned());
                    }
                };
                let did = self.select(at, &values, act.force, deadline)?;
                Ok((Did { result: None, ..did }, false))
            }
            Filled::Ticked => {
                let want = match &field.value {
                    FieldValue::Flag(want) => *want,
                    FieldValue::Text(text) if text == "true" || text == "false" => text == "true",
                    _ => return bad("it is ticked or not; give true or false".to_owned()),
                };
                Ok((self.tick(at, want, act, deadline)?, false))
            }
            Filled::File => Err(not_actionable(at, "it takes files; use upload")),
            Filled::Text => {
                let text = match &field.value {
                    FieldValue::Text(text) => text.replace("\r\n", "\n"),
                    FieldValue::Number(number) => number.to_string(),
                    FieldValue::Flag(_) => return bad("it takes text; true and false are for boxes".to_owned()),
                    FieldValue::Texts(_) => {
                        return bad("it takes one text; several are for lists of options".to_owned());
                    }
                };
                Ok((self.fill_typed(at, &text, act, deadline)?, true))
            }
        }
    }

    /// A dialog that has just opened may take the focus while the text is typed: it is then typed once more.
    fn fill_typed(&self, at: &Locator, text: &str, act: &Act, deadline: Deadline) -> Result<Did, Error> {
        match self.fill_typed_once(at, text, act, true, deadline)? {
            Some(did) => Ok(did),
            None => self.fill_typed_once(at, text, act, false, deadline).map(Option::unwrap_or_default),
        }
    }

    /// `None` when the field lost the focus before it had the text and that `may_repeat`.
    fn fill_typed_once(
        &self,
        at: &Locator,
        text: &str,
        act: &Act,
        may_repeat: bool,
        deadline: Deadline,
    ) -> Result<Option<Did>, Error> {
        let ready = self.ready(at, Needs::EDIT, act.force, deadline)?;
        let focused = self.focus_field(&ready, at, Mode::Replace, deadline)?;
        let did = Did { rescued: ready.rescued, element: Some(ready.shown.clone()), ..Did::default() };
        match focused.kind.as_str() {
            "picked" => {
                self.set_field(&ready, at, text, deadline)?;
                return Ok(Some(did));
            }
            "line" if text.contains('\n') => {
                let problem = "it has one line and the text has several".to_owned();
                return Err(Error::BadRequest { problem });
            }
            "line" | "lines" | "rich" => {}
            _ => return Err(not_actionable(at, "it takes no text")),
        }
        let typed = if act.input == Some(Input::Synthetic) {
            self.synthetic_text(Some((&ready.node, Mode::Replace)), text, false, deadline)?
        } else {
            self.type_into(&ready, &focused, Mode::Replace, text, Typing::default(), deadline)?
        };
        let did = Did { input: typed.synthetic.then_some(Input::Synthetic), ..did };
        if typed.blocked {
            return Ok(Some(did));
        }
        if let Some(took) = self.took(&ready, text, deadline).filter(|took| !took.gone && !took.same) {
            if may_repeat && took.lost {
                return Ok(None);
            }
            let nothing = took.now == focused.was || (took.empty && !text.is_empty());
            let reason = match took.most {
                Some(most) => Some(format!("it takes at most {most} characters")),
                None if took.bad || (nothing && focused.kind != "rich") => Some(refusal(&took)),
                None => None,
            };
            if let Some(reason) = reason {
                return Err(not_actionable(at, &reason));
            }
        }
        Ok(Some(did))
    }

    /// Sets the value of a field that has a picker.
    pub(super) fn set_field(&self, ready: &Ready, at: &Locator, text: &str, deadline: Deadline) -> Result<(), Error> {
        let args = json!({ "id": ready.node.id, "value": text });
        let ended: Ended = self.call_on_node(&ready.node, "setField", &args, deadline)?;
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

fn click(at: Locator, input: Option<Input>) -> Act {
    let kind = ActKind::Click { at, double: false, button: Button::Left, modifiers: Vec::new() };
    Act { kind, timeout_ms: None, input, force: true, delta: false, settle: None, redact: None }
}

fn not_actionable(at: &Locator, reason: &str) -> Error {
    Error::NotActionable { what: named(at), reason: reason.to_owned(), covered_by: None }
}

fn listed(chosen: &Chosen) -> String {
    let one = |(value, label): &(String, String)| {
        if value == label || label.is_empty() { format!("{value:?}") } else { format!("{value:?} ({label})") }
    };
    let mut options: Vec<String> = chosen.options.iter().map(one).collect();
    if chosen.more > 0 {
        options.push(format!("{} more", chosen.more));
    }
    if options.is_empty() { "none".to_owned() } else { options.join(", ") }
}

/// The error, naming which field it is about.
fn in_field(error: Error, number: usize, at: &Locator) -> Error {
    match error {
        Error::NotActionable { what, reason, covered_by } => {
            Error::NotActionable { what: format!("field {number} ({what})"), reason, covered_by }
        }
        Error::BadRequest { problem } => {
            Error::BadRequest { problem: format!("field {number} ({}): {problem}", named(at)) }
        }
        other => other,
    }
}
