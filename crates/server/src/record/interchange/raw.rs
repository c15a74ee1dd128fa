//! Checks of a JSON text before it is parsed: its size, its depth and how many values it has.

use serde_json::Value;

use super::error::ImportError;

/// The most bytes of a file.
pub(in super::super) const MAX_FILE: usize = 64 << 20;
/// The deepest nesting of lists and objects.
pub(in super::super) const MAX_DEPTH: usize = 32;
/// The most values of a file. It bounds the memory that a file of small values takes.
const MAX_VALUES: usize = 3_000_000;

/// The parsed text.
pub(in super::super) fn parse(content: &str) -> Result<Value, ImportError> {
    if content.len() > MAX_FILE {
        let problem = format!("the file has {} bytes, the limit is {MAX_FILE}", content.len());
        return Err(ImportError::new("", problem, "import a recording with fewer events or screenshots"));
    }
    scan(content.as_bytes())?;
    serde_json::from_str(content.trim_start_matches('\u{feff}')).map_err(|error| {
        let problem = format!("line {}, column {} is not valid JSON", error.line(), error.column());
        ImportError::new("", problem, "import the file as it was exported")
    })
}

/// Checks the depth of a value that was parsed elsewhere, by a parser with a limit of its own.
pub(in super::super) fn check_depth(value: &Value) -> Result<(), ImportError> {
    fn is_within(value: &Value, depth: usize) -> bool {
        match value {
            Value::Array(list) => depth > 0 && list.iter().all(|value| is_within(value, depth - 1)),
            Value::Object(map) => depth > 0 && map.values().all(|value| is_within(value, depth - 1)),
            _ => true,
        }
    }
    if is_within(value, MAX_DEPTH) { Ok(()) } else { Err(too_deep()) }
}

fn too_deep() -> ImportError {
    let problem = format!("lists and objects are nested more than {MAX_DEPTH} deep");
    ImportError::new("", problem, "import the file as it was exported")
}

/// Counts without parsing: what it counts in an invalid text is an upper bound of what a parser builds.
fn scan(bytes: &[u8]) -> Result<(), ImportError> {
    let (mut depth, mut values, mut in_string, mut escaped) = (0_usize, 0_usize, false, false);
    for byte in bytes {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => in_string = false,
            (true, _) => {}
            (false, b'"') => in_string = true,
            (false, b'[' | b'{') => (depth, values) = (depth + 1, values + 1),
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            (false, b',') => values += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        if values > MAX_VALUES {
            let problem = format!("the file has more than {MAX_VALUES} values");
            return Err(ImportError::new("", problem, "import a recording with fewer events"));
        }
    }
    Ok(())
}
