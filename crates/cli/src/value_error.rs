//! Invalid numbers on the command line: says which numbers are accepted, in place of the parser's words.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A number above any range.
const HUGE: &str = "9223372036854775807";

/// The error for an invalid value, with the accepted range when the value must be a number.
pub(super) fn plain(command: &mut clap::Command, args: &[OsString], problem: clap::Error) -> clap::Error {
    let Some(ContextValue::String(value)) = problem.get(ContextKind::InvalidValue) else { return problem };
    let Some(ContextValue::String(arg)) = problem.get(ContextKind::InvalidArg) else { return problem };
    let Some(expected) = expected(command, args, value, &problem) else { return problem };
    let text = format!("invalid value '{value}' for '{arg}': give {expected}\n\nFor more information, try '--help'.\n");
    clap::Error::raw(ErrorKind::ValueValidation, text)
}

/// The numbers that an argument accepts; `None` if it was not the parser of numbers that refused the value.
fn expected(command: &mut clap::Command, args: &[OsString], value: &str, problem: &clap::Error) -> Option<String> {
    let source = std::error::Error::source(problem)?.to_string();
    if source.contains("float literal") || source.contains("float from empty") {
        return Some("a number".to_owned());
    }
    if let Some((_, range)) = source.split_once(" is not in ") {
        return Some(within(range));
    }
    if !source.contains("digit found in string")
        && !source.contains("integer from empty")
        && !source.contains("number too ")
    {
        return None;
    }
    // The range is known to the parser alone: 0 is within it or names it, and so does a huge number.
    let mut range_of = |number: &str| {
        let error = command.try_get_matches_from_mut(replaced(args, value, number)).err()?;
        let source = std::error::Error::source(&error)?.to_string();
        source.split_once(" is not in ").map(|(_, range)| within(range))
    };
    let range = range_of("0").or_else(|| range_of(HUGE));
    Some(range.unwrap_or_else(|| "a whole number, 0 or more".to_owned()))
}

/// `1..=100` in words.
fn within(range: &str) -> String {
    let (least, most) = range.split_once("..=").or(range.split_once("..")).unwrap_or((range, ""));
    // The ends of types are no limits that a person has in mind.
    let is_type_end = [u64::MAX.to_string(), i64::MAX.to_string(), u32::MAX.to_string()].iter().any(|end| end == most);
    match most {
        "" => format!("a whole number, {least} or more"),
        _ if is_type_end => format!("a whole number, {least} or more"),
        _ => format!("a whole number from {least} to {most}"),
    }
}

/// The arguments with another value in place of the invalid one.
fn replaced(args: &[OsString], value: &str, number: &str) -> Vec<OsString> {
    let with = |arg: &OsString| match arg.to_str() {
        Some(text) if text == value => number.into(),
        Some(text) => match text.split_once('=') {
            Some((name, given)) if given == value => format!("{name}={number}").into(),
            _ => arg.clone(),
        },
        None => arg.clone(),
    };
    args.iter().map(with).collect()
}
