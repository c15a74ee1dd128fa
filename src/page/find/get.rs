//! Reading one element.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::act::Locator;
use super::super::error::UNKNOWN_REF;
use super::super::{Error, Tab};
use super::Match;
use crate::sync::Deadline;

/// Maximum length of text or HTML, in characters.
const MAX_CHARS: usize = 100_000;

/// Which property of an element to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ElementProperty {
    /// The text as rendered, without hidden parts.
    Text,
    /// The element's own HTML with its content (`outerHTML`).
    Html,
    /// The value of a field. Passwords are covered.
    Value,
    /// An attribute; `null` if the element does not have it.
    Attribute,
    /// The box in the viewport of its frame, in CSS pixels; `null` if it is not rendered.
    Box,
    /// The number of elements that match the locator or selector.
    Count,
    /// Visible, enabled, editable, focused, checked.
    State,
}

/// The property that was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElementValue {
    /// The text, number, attribute, box or state.
    pub value: Value,
    /// Whether the text was cut at 100,000 characters.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The element that the value was read from; absent for counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Match>,
}

/// The box of an element, in CSS pixels of the viewport of its frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ElementBox {
    /// Distance from the left.
    pub x: f64,
    /// Distance from the top.
    pub y: f64,
    /// Width of the border box, in CSS pixels.
    pub width: f64,
    /// Height of the border box, in CSS pixels.
    pub height: f64,
}

/// The state of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ElementState {
    /// Whether it is rendered and has a size.
    pub visible: bool,
    /// Whether it is not disabled.
    pub enabled: bool,
    /// Whether it accepts text or a choice.
    pub editable: bool,
    /// Whether it has the focus.
    pub focused: bool,
    /// Whether it is checked; `null` for elements that cannot be.
    pub checked: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReadReply {
    gone: bool,
    value: Value,
    truncated: bool,
    visible: bool,
}

impl Tab {
    /// The state of an element at present. Does not wait: `{"visible": false}` alone when nothing matches.
    ///
    /// # Errors
    /// Those of [`get`](Self::get), except the ones that report a missing element.
    pub fn state_now(&self, at: &Locator, deadline: Deadline<'_>) -> Result<ElementValue, Error> {
        let absent = || ElementValue { value: json!({ "visible": false }), truncated: false, element: None };
        let locator = at.locator.clone().or(at.selector.as_ref().map(|selector| format!("css={selector}")));
        if let (None, Some(locator)) = (&at.reference, locator) {
            let total = self.matches_of(&locator, at.nth, at.frame_id.as_deref(), 0, deadline)?.total;
            if total == 0 {
                return Ok(absent());
            }
        }
        match self.get(ElementProperty::State, None, at, deadline) {
            Err(Error::StaleRef { why, .. }) if why != UNKNOWN_REF => Ok(absent()),
            Err(Error::NoMatch { .. } | Error::NoneLocated { .. }) => Ok(absent()),
            outcome => outcome,
        }
    }

    /// Reads a property of an element. Waits for the element when it is given by a locator. Changes and scrolls
    /// nothing.
    ///
    /// # Errors
    /// [`Error::BadRequest`], [`Error::StaleRef`], [`Error::NoMatch`], [`Error::NoneLocated`], [`Error::AmbiguousLocator`] and
    /// those of the supervisor.
    pub fn get(
        &self,
        what: ElementProperty,
        name: Option<&str>,
        at: &Locator,
        deadline: Deadline<'_>,
    ) -> Result<ElementValue, Error> {
        let bad = |problem: &str| Err(Error::BadRequest { problem: problem.to_owned() });
        match (what, name) {
            (ElementProperty::Attribute, None) => return bad("name is missing; give the attribute to read"),
            (ElementProperty::Attribute, Some(_)) | (_, None) => {}
            (_, Some(_)) => return bad("name is only allowed with what: attribute"),
        }
        if what == ElementProperty::Count {
            let locator = match (&at.locator, &at.selector) {
                (Some(locator), None) => locator.clone(),
                (None, Some(selector)) => format!("css={selector}"),
                _ => return bad("count needs a locator or a selector"),
            };
            let total = self.find(&locator, at.frame_id.as_deref(), Some(0), deadline)?.total;
            return Ok(ElementValue { value: json!(total), truncated: false, element: None });
        }
        let at = self.by_ref(at, deadline)?;
        let ready = self.present(&at, deadline)?;
        let args = json!({ "id": ready.node.id, "what": what, "name": name, "most": MAX_CHARS });
        let read: ReadReply = self.call_on_node(&ready.node, "get", &args, deadline)?;
        if read.gone {
            return Err(Error::DocumentGone { frame: ready.node.frame.to_string() });
        }
        let top = self.top()?;
        let number = self.refs.lock().reserve(ready.node.clone(), ready.shown.clone());
        let element = Match {
            reference: format!("e{number}"),
            role: ready.shown.role,
            name: ready.shown.name.chars().take(200).collect(),
            text: String::new(),
            frame_id: Some(ready.node.frame).filter(|frame| *frame != top),
            visible: read.visible,
        };
        Ok(ElementValue { value: read.value, truncated: read.truncated, element: Some(element) })
    }
}
