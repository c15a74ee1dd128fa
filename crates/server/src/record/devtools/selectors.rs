//! Selectors: lists of alternatives, each a list of selectors from the outer shadow root to the inner one.

use serde_json::{Value, json};

use super::super::event::Element;

/// Between the selectors of one alternative, from a shadow host to what is inside.
const INSIDE: &str = " >>> ";
/// The longest text that makes a selector, in characters.
const MAX_TEXT: usize = 64;

/// The alternatives for an element, the most lasting first.
pub(super) fn of(element: &Element) -> Vec<Value> {
    let mut all = Vec::new();
    // A name with a bracket would be read as an attribute.
    if !element.name.is_empty() && !element.name.contains('[') {
        let role = match element.role.as_str() {
            "" => String::new(),
            role => format!("[role=\"{role}\"]"),
        };
        all.push(json!([format!("aria/{}{role}", element.name)]));
    }
    for selector in &element.selectors {
        all.push(selector.split(INSIDE).map(str::to_owned).collect());
    }
    let is_short = !element.text.is_empty() && element.text.chars().count() <= MAX_TEXT;
    if is_short && !element.text.contains('\n') && !element.sensitive {
        all.push(json!([format!("text/{}", element.text)]));
    }
    if all.is_empty() && !element.tag.is_empty() {
        all.push(json!([element.tag]));
    }
    all
}

/// The element that alternatives describe; `None` if they are no selectors.
pub(super) fn element(alternatives: &Value) -> Option<Element> {
    let mut element = Element::default();
    for alternative in alternatives.as_array()? {
        let parts: Vec<&str> = match alternative {
            Value::String(selector) => vec![selector],
            Value::Array(parts) => parts.iter().map(Value::as_str).collect::<Option<_>>()?,
            _ => return None,
        };
        match parts.as_slice() {
            [] => {}
            [.., last] if last.starts_with("aria/") => {
                let (name, role) = aria(last.trim_start_matches("aria/"));
                if element.name.is_empty() {
                    element.name = name;
                }
                if element.role.is_empty() {
                    element.role = role;
                }
            }
            [only] if only.starts_with("text/") => {
                if element.text.is_empty() {
                    only.trim_start_matches("text/").clone_into(&mut element.text);
                }
            }
            parts => element.selectors.push(parts.join(INSIDE)),
        }
    }
    Some(element)
}

/// Name and role of `Name[role="button"]`.
fn aria(selector: &str) -> (String, String) {
    let Some((name, rest)) = selector.split_once('[') else { return (selector.trim().to_owned(), String::new()) };
    let mut named = name.trim().to_owned();
    let mut role = String::new();
    for attribute in rest.split('[') {
        let Some((key, value)) = attribute.trim_end_matches([']', ' ']).split_once('=') else { continue };
        let value = value.trim().trim_matches(['"', '\'']);
        match key.trim() {
            "role" => value.clone_into(&mut role),
            "name" => value.clone_into(&mut named),
            _ => {}
        }
    }
    (named, role)
}
