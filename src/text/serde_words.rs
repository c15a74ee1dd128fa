//! Messages of serde about a wrong value, in the words of whoever wrote the value.

/// A message of serde about the value at `path` (`.` or nothing for the whole), without names of Rust types. Of given
/// values, only numbers and unknown names among known ones are repeated.
pub fn serde_in_words(path: &str, message: &str) -> String {
    let path = if path == "." { "" } else { path };
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    if let Some(name) = quoted_after(message, "missing field ") {
        return format!("{} is missing", below(name));
    }
    if let Some(name) = quoted_after(message, "duplicate field ") {
        return format!("{} is given twice; give it once", below(name));
    }
    if let Some(problem) = variant_in_words(message) {
        return format!("{place}{problem}");
    }
    if message.starts_with("data did not match any variant") {
        return format!("{place}the value has the wrong type");
    }
    let Some((given, expected)) = message.rsplit_once(", expected ") else { return format!("{place}{message}") };
    let expected = expected_in_words(expected);
    match given.split_once(": ") {
        // A string of the right type, which may be secret.
        Some(("invalid value", given)) if given.starts_with("string") => format!("{place}expected {expected}"),
        Some(("invalid type" | "invalid value", given)) => format!("{place}expected {expected}{}", got(given)),
        _ => format!("{place}{given}, expected {expected}"),
    }
}

/// serde's message about an unknown name of a value: the name, and those that exist.
fn variant_in_words(message: &str) -> Option<String> {
    let name = quoted_after(message, "unknown variant ")?;
    let (_, known) = message.rsplit_once(", expected ")?;
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let known = match known.split_last()? {
        (last, []) => (*last).to_owned(),
        (last, first) => format!("{} or {last}", first.join(", ")),
    };
    Some(format!("{name:?} is not valid; use {known}"))
}

/// The type that serde expects, without the name of a Rust type.
pub fn expected_in_words(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "string or map" => "a string",
        other if other.starts_with("a sequence of ") => "a list",
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => "an object",
        other => other,
    }
}

/// What was given instead, as the end of a message.
fn got(given: &str) -> String {
    let number = given.split('`').nth(1).filter(|_| given.starts_with("integer ") || given.starts_with("floating "));
    match (number, given) {
        (Some(number), _) => format!(", got {number}"),
        (_, "null" | "unit value") => ", got null".to_owned(),
        (_, "map") => ", got an object".to_owned(),
        (_, "sequence") => ", got a list".to_owned(),
        _ if given.starts_with("string") => ", got a string".to_owned(),
        _ if given.starts_with("boolean") => ", got a boolean".to_owned(),
        _ => String::new(),
    }
}

/// The name in backticks after the beginning of a message.
fn quoted_after<'a>(message: &'a str, beginning: &str) -> Option<&'a str> {
    message.strip_prefix(beginning)?.split('`').nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rust_type_is_named() {
        for (path, message, words) in [
            (".", "missing field `url`", "url is missing"),
            ("fields[0]", "missing field `value`", "fields[0].value is missing"),
            (
                "timeoutMs",
                "invalid type: string \"s3cret\", expected u64",
                "timeoutMs: expected a whole number, 0 or more, got a string",
            ),
            (
                "port",
                "invalid value: integer `70000`, expected u16",
                "port: expected a whole number from 0 to 65535, got 70000",
            ),
            (
                "headless",
                "invalid value: string \"maybe\", expected auto, true or false",
                "headless: expected auto, true or false",
            ),
            ("all", "invalid type: null, expected a boolean", "all: expected true or false, got null"),
            ("", "invalid type: sequence, expected struct Act", "expected an object, got a list"),
            (
                "transport",
                "unknown variant `tcp`, expected one of `auto`, `port`, `pipe`",
                "transport: \"tcp\" is not valid; use auto, port or pipe",
            ),
            (
                "area",
                "unknown variant `x`, expected `local` or `session`",
                "area: \"x\" is not valid; use local or session",
            ),
            ("a", "data did not match any variant of untagged enum FieldValue", "a: the value has the wrong type"),
            ("a", "something else", "a: something else"),
        ] {
            assert_eq!(serde_in_words(path, message), words);
        }
    }
}
