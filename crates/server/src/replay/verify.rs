//! The comparison of a run with its recording.

use serde_json::Value;

use super::same::{Replaced, item, key};
use super::steps::cause;
use crate::record::draft::facts::short;
use crate::record::{Element, Event, EventType, PageShown};

/// A recorded effect is missing.
const POSTCONDITION_FAILED: &str = "POSTCONDITION_FAILED";
/// The recorded element was not used.
const TARGET_NOT_FOUND: &str = "TARGET_NOT_FOUND";
/// Another element was used, too.
const TARGET_AMBIGUOUS: &str = "TARGET_AMBIGUOUS";
/// Roles of fields for text.
const FIELDS: [&str; 4] = ["textbox", "searchbox", "combobox", "spinbutton"];
/// Longest text in a report, in characters.
const MOST_TEXT: usize = 120;

/// A step, with what was recorded and what the run did.
#[derive(Debug, Clone)]
pub struct StepTrace<'e> {
    /// Number of the step.
    pub n: u32,
    /// Recorded events of the step and their effects, in order.
    pub recorded: Vec<&'e Event>,
    /// Events of the run while the step was in progress, in order.
    pub seen: Vec<&'e Event>,
    /// Whether the step is done only if its target is shown, and was skipped.
    pub is_skipped: bool,
    /// Whether a value that the step enters is read from a page in each run.
    pub has_read_value: bool,
}

/// A recorded action or effect that a run does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// Number of the step; 0 for the end of the routine.
    pub n: u32,
    /// The code of the reason.
    pub code: &'static str,
    /// What was recorded. Untrusted.
    pub sought: String,
    /// What the run did instead. Untrusted.
    pub found: String,
}

/// Compares the steps of a run with the recording. The first miss of each step, in order.
#[must_use]
pub fn verify_steps(steps: &[StepTrace<'_>], replaced: &Replaced) -> Vec<Miss> {
    steps.iter().filter(|step| !step.is_skipped).filter_map(|step| Comparison { step, replaced }.miss()).collect()
}

/// Compares the page at the end of a run with the one that the person saw last.
#[must_use]
pub fn verify_end(recorded: &PageShown, seen: &PageShown, replaced: &Replaced) -> Option<Miss> {
    if recorded.url.is_empty() {
        return None;
    }
    let is_same = replaced.is_same_address(&recorded.url, &seen.url)
        && (recorded.title.trim().is_empty() || replaced.key(&recorded.title) == key(&seen.title));
    let page = |page: &PageShown| format!("{} {}", cut(&page.url), quoted(&page.title));
    (!is_same).then(|| Miss {
        n: 0,
        code: POSTCONDITION_FAILED,
        sought: format!("the page at the end: {}", page(recorded)),
        found: page(seen),
    })
}

/// Compares an action that was not done, because it needs approval, with what was recorded in its step. `refused`: role and name of
/// its element, or `request` and the request.
#[must_use]
pub fn verify_refused(n: u32, recorded: &[&Event], refused: &(String, String), replaced: &Replaced) -> Option<Miss> {
    let (role, name) = refused;
    if role == "request" || role.is_empty() {
        return None;
    }
    let is_it = |element: &Element| element.role == *role && replaced.key(&element.name) == key(name);
    let is_recorded = recorded.iter().filter_map(|event| event.element.as_ref()).any(is_it);
    let sought = recorded.iter().rfind(|event| event.element.is_some()).map(|event| described(event));
    (!is_recorded).then(|| Miss {
        n,
        code: TARGET_NOT_FOUND,
        sought: sought.unwrap_or_else(|| "no action in this step".to_owned()),
        found: format!("{role} {}", quoted(name)),
    })
}

struct Comparison<'c, 'e> {
    step: &'c StepTrace<'e>,
    replaced: &'c Replaced,
}

impl Comparison<'_, '_> {
    fn miss(&self) -> Option<Miss> {
        let recorded = &self.step.recorded;
        let acts = recorded.iter().enumerate().filter(|(at, event)| self.counts(*at, event));
        for (_, event) in acts {
            if let Some(miss) = self.missing_act(event) {
                return Some(miss);
            }
        }
        if let Some(effect) = recorded.iter().find(|event| is_effect(event) && !self.has_effect(event)) {
            return Some(self.missed(POSTCONDITION_FAILED, effect));
        }
        self.unrecorded()
    }

    /// An action of the run that was not recorded although it may have had the same effect on something else: the recorded one in
    /// another row, more often, or anything in a step that was not recorded.
    fn unrecorded(&self) -> Option<Miss> {
        let sets = |event: &Event| matches!(event.event_type, EventType::Input | EventType::Change);
        let is_press = |event: &&&Event| sets(event) || matches!(event.event_type, EventType::Click | EventType::Drag);
        let is_recorded = |seen: &Event| self.step.recorded.iter().any(|event| self.is_same_act(event, seen));
        let miss = |sought: String, seen: &Event| {
            Some(Miss { n: self.step.n, code: TARGET_AMBIGUOUS, sought, found: described(seen) })
        };
        for seen in self.step.seen.iter().filter(is_press) {
            if self.step.recorded.is_empty() {
                return miss("no action in this step".to_owned(), seen);
            }
            let alike = self
                .step
                .recorded
                .iter()
                .find(|event| event.event_type == seen.event_type && self.is_alike(event, seen));
            if is_recorded(seen) {
                continue;
            }
            if let Some(alike) = alike {
                return miss(format!("only {}", described(alike)), seen);
            }
            // Values that were set on the way to the recorded one, or to no other.
            let is_of_field = |event: &&&Event| sets(event) && is_same_field(event, seen);
            if sets(seen) && !self.step.recorded.iter().any(|event| is_of_field(&event)) {
                return miss("no value of this field in this step".to_owned(), seen);
            }
        }
        let submissions =
            |events: &[&Event]| events.iter().filter(|event| event.event_type == EventType::Submit).count();
        let (once, often) = (submissions(&self.step.recorded), submissions(&self.step.seen));
        if let Some(first) =
            self.step.seen.iter().find(|event| event.event_type == EventType::Submit).filter(|_| often > once)
        {
            return miss(format!("{once} submissions of a form"), first)
                .map(|miss| Miss { found: format!("{often} submissions"), ..miss });
        }
        let clicks = self.step.recorded.iter().filter(|event| event.event_type == EventType::Click);
        for recorded in clicks.filter(|event| event.element.as_ref().is_some_and(|one| !FIELDS.contains(&&*one.role))) {
            let count = |events: &[&Event]| events.iter().filter(|event| self.is_same_act(recorded, event)).count();
            let (once, often) = (count(&self.step.recorded), count(&self.step.seen));
            if often > once {
                return miss(format!("{}, {once} times", described(recorded)), recorded)
                    .map(|miss| Miss { found: format!("{often} times"), ..miss });
            }
        }
        None
    }

    /// Whether two elements differ only in the item that they are in.
    fn is_alike(&self, recorded: &Event, seen: &Event) -> bool {
        match (&recorded.element, &seen.element) {
            (Some(own), Some(other)) => item(own).is_some() && self.replaced.is_same_kind(own, other),
            _ => false,
        }
    }

    /// Whether a recorded action has to be found again: the last value of each field, and clicks that are not only the way into a
    /// field.
    fn counts(&self, at: usize, event: &Event) -> bool {
        let later = self.step.recorded.get(at + 1..).unwrap_or_default();
        let is_later = |kinds: &[EventType]| {
            later.iter().any(|other| kinds.contains(&other.event_type) && is_same_field(event, other))
        };
        match event.event_type {
            EventType::Click => {
                let is_field = event.element.as_ref().is_some_and(|element| FIELDS.contains(&&*element.role));
                !(is_field && is_later(&[EventType::Input, EventType::Change]))
            }
            EventType::Input => !is_later(&[EventType::Input]),
            EventType::Change => !is_later(&[EventType::Change]),
            EventType::Keydown => event.data.get("key").and_then(Value::as_str) == Some("Enter"),
            EventType::Drag | EventType::FileChosen => true,
            _ => false,
        }
    }

    fn missing_act(&self, event: &Event) -> Option<Miss> {
        let is_last = |at: usize, seen: &Event| {
            let later = self.step.seen.get(at + 1..).unwrap_or_default();
            let sets = |kind: EventType| matches!(kind, EventType::Input | EventType::Change);
            !sets(seen.event_type) || !later.iter().any(|other| sets(other.event_type) && is_same_field(seen, other))
        };
        let mut seen = self.step.seen.iter().enumerate();
        if seen.any(|(at, seen)| is_last(at, seen) && self.is_same_act(event, seen)) {
            return None;
        }
        // Another way to the same effect: Enter instead of the button. Not among items, where the effect may be that of another one.
        let effects: Vec<&&Event> = self
            .step
            .recorded
            .iter()
            .filter(|other| is_effect(other) && cause(other) == Some(event.event_index))
            .collect();
        let is_press = matches!(event.event_type, EventType::Click | EventType::Keydown);
        let is_of_item = event.element.as_ref().is_some_and(|element| item(element).is_some());
        if is_press && !is_of_item && !effects.is_empty() && effects.iter().all(|effect| self.has_effect(effect)) {
            return None;
        }
        Some(self.missed(TARGET_NOT_FOUND, event))
    }

    fn is_same_act(&self, recorded: &Event, seen: &Event) -> bool {
        let sets = |event: &Event| matches!(event.event_type, EventType::Input | EventType::Change);
        let is_same_type = recorded.event_type == seen.event_type || (sets(recorded) && sets(seen));
        if !is_same_type {
            return false;
        }
        let is_same_element = match (&recorded.element, &seen.element) {
            (Some(own), Some(other)) => self.replaced.is_same(own, other),
            (None, _) => true,
            (Some(_), None) => false,
        };
        is_same_element && self.is_same_data(recorded, seen)
    }

    fn is_same_data(&self, recorded: &Event, seen: &Event) -> bool {
        let (own, other) = (&recorded.data, &seen.data);
        let is_sensitive = recorded.element.as_ref().is_some_and(|element| element.sensitive);
        match recorded.event_type {
            EventType::Click => {
                let button =
                    |event: &Event| event.data.get("button").and_then(Value::as_str).unwrap_or("left").to_owned();
                button(recorded) == button(seen)
            }
            EventType::Keydown => own.get("key") == other.get("key"),
            EventType::Input if is_sensitive => true,
            EventType::Input | EventType::Change if self.step.has_read_value => true,
            EventType::Input => self.is_same_text(own.get("value"), other.get("value")),
            EventType::Change => match (own.get("values"), own.get("checked")) {
                (Some(values), _) => self.is_same_choice(values, other.get("values")),
                (None, Some(checked)) => Some(checked) == other.get("checked"),
                (None, None) => self.is_same_text(own.get("value"), other.get("value")),
            },
            EventType::FileChosen => own.get("names") == other.get("names"),
            EventType::Drag => {
                let ends = |data: &serde_json::Map<String, Value>| {
                    ["from", "to"].map(|end| data.get(end).map(name_of).unwrap_or_default())
                };
                ends(own).map(|end| self.replaced.key(&end)) == ends(other).map(|end| key(&end))
            }
            _ => true,
        }
    }

    fn is_same_text(&self, own: Option<&Value>, other: Option<&Value>) -> bool {
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(value) => value.to_string(),
        };
        let (own, other) = (self.replaced.value(&text(own)), text(other));
        own.split_whitespace().eq(other.split_whitespace())
    }

    fn is_same_choice(&self, own: &Value, other: Option<&Value>) -> bool {
        let values = |all: &Value, part: &str| -> Vec<String> {
            let all = all.as_array().into_iter().flatten();
            all.map(|one| one[part].as_str().unwrap_or_default().to_owned()).collect()
        };
        let Some(other) = other else { return false };
        let filled =
            |part: &str| -> Vec<String> { values(own, part).iter().map(|value| self.replaced.value(value)).collect() };
        filled("value") == values(other, "value") || filled("label") == values(other, "label")
    }

    fn has_effect(&self, effect: &Event) -> bool {
        self.step.seen.iter().any(|seen| self.is_same_effect(effect, seen))
    }

    fn is_same_effect(&self, effect: &Event, seen: &Event) -> bool {
        let text =
            |event: &Event, name: &str| event.data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let shows = |kinds: &[EventType]| kinds.contains(&seen.event_type);
        match effect.event_type {
            EventType::Submit => shows(&[EventType::Submit]),
            EventType::TabNavigated | EventType::TabBack | EventType::TabForward => {
                let url = address(seen);
                let is_shown = shows(&[
                    EventType::TabNavigated,
                    EventType::TabBack,
                    EventType::TabForward,
                    EventType::TabReady,
                    EventType::PageView,
                ]);
                is_shown && self.replaced.is_same_address(&address(effect), &url)
            }
            EventType::TabCreated => shows(&[EventType::TabCreated]),
            EventType::TabClosed => shows(&[EventType::TabClosed]),
            EventType::Download => {
                let plain = |name: String| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
                shows(&[EventType::Download]) && plain(text(effect, "filename")) == plain(text(seen, "filename"))
            }
            EventType::Dialog => {
                shows(&[EventType::Dialog])
                    && text(effect, "type") == text(seen, "type")
                    && effect.data.get("accepted") == seen.data.get("accepted")
                    && self.replaced.key(&text(effect, "message")) == key(&text(seen, "message"))
            }
            _ => true,
        }
    }

    /// A miss, with what the run did that is most like it.
    fn missed(&self, code: &'static str, event: &Event) -> Miss {
        let of_type = || self.step.seen.iter().rev().filter(|seen| seen.event_type == event.event_type);
        let is_alike = |seen: &&&Event| match (&event.element, &seen.element) {
            (Some(own), Some(other)) => self.replaced.is_same_kind(own, other),
            _ => false,
        };
        let alike = of_type().find(is_alike).or_else(|| of_type().next());
        let found = alike.map_or_else(|| "nothing of this kind".to_owned(), |seen| described(seen));
        Miss { n: self.step.n, code, sought: described(event), found }
    }
}

/// Whether an event followed from an action.
fn is_effect(event: &Event) -> bool {
    match event.event_type {
        EventType::Dialog | EventType::Download | EventType::Submit => true,
        EventType::TabCreated
        | EventType::TabNavigated
        | EventType::TabBack
        | EventType::TabForward
        | EventType::TabClosed => cause(event).is_some(),
        _ => false,
    }
}

fn is_same_field(one: &Event, other: &Event) -> bool {
    match (&one.element, &other.element) {
        (Some(one), Some(other)) => {
            one.role == other.role
                && one.name == other.name
                && one.selectors == other.selectors
                && one.container == other.container
        }
        _ => false,
    }
}

fn address(event: &Event) -> String {
    let url = event.data.get("url").and_then(Value::as_str).filter(|url| !url.is_empty());
    url.unwrap_or(&event.page.url).to_owned()
}

fn name_of(end: &Value) -> String {
    end["name"].as_str().or_else(|| end.as_str()).unwrap_or_default().to_owned()
}

/// An event as a clause.
fn described(event: &Event) -> String {
    let element = event.element.as_ref().map(element_text).unwrap_or_default();
    let text = |name: &str| event.data.get(name).and_then(Value::as_str).map(quoted).unwrap_or_default();
    match event.event_type {
        EventType::Input if event.element.as_ref().is_some_and(|element| element.sensitive) => {
            format!("text in {element}")
        }
        EventType::Input => format!("{} in {element}", text("value")),
        EventType::Change => {
            let first = event.data.get("values").and_then(|values| values.get(0));
            let value = match (first, event.data.get("checked")) {
                (Some(one), _) => quoted(
                    one["label"]
                        .as_str()
                        .filter(|label| !label.is_empty())
                        .or(one["value"].as_str())
                        .unwrap_or_default(),
                ),
                (None, Some(Value::Bool(true))) => "checked".to_owned(),
                (None, Some(_)) => "unchecked".to_owned(),
                (None, None) => text("value"),
            };
            format!("{value} in {element}")
        }
        EventType::Keydown => format!("key {} in {element}", text("key")),
        EventType::Click => format!("click on {element}"),
        EventType::Dialog => {
            let is_accepted = event.data.get("accepted").and_then(Value::as_bool) == Some(true);
            format!("dialog {} {}", text("message"), if is_accepted { "accepted" } else { "dismissed" })
        }
        EventType::Download => format!("download of {}", text("filename")),
        EventType::TabNavigated | EventType::TabBack | EventType::TabForward => {
            format!("page {}", cut(&address(event)))
        }
        other => format!("{} {element}", other.as_str().replace('_', " ")).trim_end().to_owned(),
    }
}

fn element_text(element: &Element) -> String {
    let name = [&element.name, &element.label, &element.text].into_iter().find(|text| !text.trim().is_empty());
    let mut out = if element.role.is_empty() { element.tag.clone() } else { element.role.clone() };
    if let Some(name) = name {
        out.push(' ');
        out.push_str(&quoted(name));
    }
    if let Some(container) = item(element) {
        out.push_str(&format!(" in {} {}", container.kind, quoted(&container.title)));
    }
    out
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text))
}

fn cut(text: &str) -> String {
    short(text, MOST_TEXT)
}
