//! Fields of requests as arguments of commands: those that a command takes as they are, for actions and other operations.

use std::fmt;
use std::marker::PhantomData;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::super::failure::Failure;
use super::super::values::{number, whole};
use super::call::{frame, reference};
use cdpilot::page::spec;
use cdpilot::page::{ArgumentSpec, FieldSpec, FieldType};

/// Other spellings of values.
const SPELLINGS: [(&str, &str); 6] = [
    ("option", "Alt"),
    ("ctrl", "Control"),
    ("mod", "ControlOrMeta"),
    ("cmd", "Meta"),
    ("command", "Meta"),
    ("jpg", "jpeg"),
];

/// The fields of a request type that its command takes as they are.
pub(in super::super) struct Fields<T> {
    given: Map<String, Value>,
    of: PhantomData<fn() -> T>,
}

impl<T> fmt::Debug for Fields<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.given.fmt(f)
    }
}

impl<T: DeserializeOwned> Fields<T> {
    /// The request with these fields.
    pub(super) fn request(&self) -> Result<T, Failure> {
        self.with([])
    }

    /// The request with these fields and others, which the command reads itself.
    pub(super) fn with<const N: usize>(&self, others: [(&str, Value); N]) -> Result<T, Failure> {
        let mut fields = self.given.clone();
        fields.extend(others.map(|(name, value)| (name.to_owned(), value)));
        // Each argument has the type of its field.
        serde_json::from_value(Value::Object(fields)).map_err(|problem| Failure::internal(problem.to_string()))
    }
}

impl<T: spec::Fields> Args for Fields<T> {
    fn augment_args(command: Command) -> Command {
        command.args(arguments(T::FIELDS).map(|(field, argument)| arg(field, argument)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: spec::Fields> FromArgMatches for Fields<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = arguments(T::FIELDS).filter_map(|(field, _)| Some((field.name.to_owned(), value(field, matches)?)));
        Ok(Self { given: given.collect(), of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The fields that are arguments.
pub(super) fn arguments(fields: &'static [FieldSpec]) -> impl Iterator<Item = (&'static FieldSpec, ArgumentSpec)> {
    fields.iter().filter_map(|field| Some((field, field.argument?)))
}

/// The argument for a field.
pub(super) fn arg(field: &'static FieldSpec, argument: ArgumentSpec) -> Arg {
    let is_frame = matches!(field.name, "frame" | "frameId");
    let usual = if is_frame { "FRAME" } else { field.upper_name };
    let mut arg = Arg::new(field.name).help(argument.help).value_name(argument.value_name.unwrap_or(usual));
    if !argument.positional {
        arg = arg.long(field.kebab_name);
    }
    if let Some(alias) = argument.alias {
        arg = arg.alias(alias);
    }
    arg = match argument.default {
        Some(value) => arg.default_value(value),
        None => arg.required(field.required),
    };
    let (least, most) = argument.range.unwrap_or(match field.value {
        FieldType::Count => (1, u64::from(u32::MAX)),
        _ => (0, u64::MAX),
    });
    match field.value {
        FieldType::Boolean => arg.action(ArgAction::SetTrue),
        FieldType::Count | FieldType::Integer => arg.value_parser(whole::<u64>(least..=most)),
        FieldType::Number => arg.value_parser(number).allow_negative_numbers(true),
        FieldType::Choice(names) if names.len() > 6 => {
            arg.value_parser(PossibleValuesParser::new(names)).hide_possible_values(true)
        }
        FieldType::Choice(names) => arg.value_parser(PossibleValuesParser::new(names)),
        FieldType::List(FieldType::Choice(names)) => {
            arg.action(ArgAction::Append).value_delimiter(',').value_parser(|text: &str| choice(text, names))
        }
        FieldType::List(_) => arg.action(ArgAction::Append),
        _ if is_frame => arg.value_parser(frame),
        _ if argument.value_name == Some("REF") => arg.value_parser(reference),
        _ => arg.allow_negative_numbers(true),
    }
}

/// A value by its name, ignoring case, or by another spelling of it.
fn choice(text: &str, names: &[&str]) -> Result<String, String> {
    let is = |name: &str| name.eq_ignore_ascii_case(text);
    let spelled = SPELLINGS.iter().find(|(other, _)| is(other)).map(|(_, name)| *name);
    let found = names.iter().find(|name| is(name) || spelled == Some(**name));
    found.map(|name| (*name).to_owned()).ok_or_else(|| match names {
        [all @ .., last] => format!("give {} or {last}", all.join(", ")),
        [] => "no value is accepted".to_owned(),
    })
}

/// The value of the argument for a field, if it is given.
pub(super) fn value(field: &FieldSpec, matches: &ArgMatches) -> Option<Value> {
    let name = field.name;
    match field.value {
        FieldType::Boolean => Some(matches.get_flag(name).into()),
        FieldType::Count | FieldType::Integer => matches.get_one::<u64>(name).map(|number| (*number).into()),
        FieldType::Number => matches.get_one::<f64>(name).map(|number| (*number).into()),
        FieldType::List(_) => matches.get_many::<String>(name).map(|all| all.cloned().collect()),
        _ => matches.get_one::<String>(name).map(|text| text.as_str().into()),
    }
}
