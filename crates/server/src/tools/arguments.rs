//! Arguments of tools, read as models write them. Errors never repeat a given value, which may be a password.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ToolError;
use crate::config::nearest;
use cdpilot::code::Code;
use cdpilot::fields::{self, Misfit, Problem, Style};

/// Decodes arguments by the schema of their type.
///
/// # Errors
/// `BAD_REQUEST`.
pub(super) fn read<I: DeserializeOwned>(schema: &Value, arguments: Map<String, Value>) -> Result<I, ToolError> {
    fields::read(Value::Object(arguments), schema, Style::Lenient)
        .map_err(|misfit| ToolError::new(Code::BadRequest, format!("invalid arguments: {}", in_words(&misfit))))
}

fn in_words(misfit: &Misfit) -> String {
    let Problem::Unknown { name, known, required } = &misfit.problem else { return misfit.to_string() };
    let around = misfit.at.strip_suffix(name.as_str()).unwrap_or_default();
    let near = nearest(name, known.iter().map(String::as_str));
    let hint = near.map_or_else(String::new, |near| format!("did you mean {around}{near}? "));
    format!("unknown argument {}; {hint}{}", misfit.at, accepted(known, required))
}

/// Lists the accepted arguments.
fn accepted(known: &[String], required: &[String]) -> String {
    let optional: Vec<&str> = known.iter().filter(|name| !required.contains(name)).map(String::as_str).collect();
    match (required, optional.as_slice()) {
        ([], []) => "no arguments are accepted".to_owned(),
        ([], optional) => format!("optional: {}", optional.join(", ")),
        (required, []) => format!("required: {}", required.join(", ")),
        (required, optional) => format!("required: {}; optional: {}", required.join(", "), optional.join(", ")),
    }
}
