//! Commands of actions. Names, arguments and requests of the plain ones come from the table of actions; those with a syntax
//! of their own are in `act` and `forms`.

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use serde_json::{Map, Value};

use super::super::failure::Failure;
use super::call::{ActionOptions, Call, Element, OptionalElement};
use super::fields::{arg, arguments, value};
use super::{act, forms, show};
use cdpilot::page::{ACTIONS, ActKind, ActionSpec, CommandSpec, FieldType};

#[derive(Debug)]
pub(in super::super) enum Action {
    Plain(Plain),
    Special(Special),
}

/// An action whose arguments are its fields.
#[derive(Debug)]
pub(in super::super) struct Plain {
    kind: ActKind,
    acting: ActionOptions,
}

#[derive(Debug, Subcommand)]
pub(in super::super) enum Special {
    /// Type text into a field
    Type(forms::Type),
    /// Drag from one element or position to another
    Drag(act::Drag),
    /// Select options of a list
    Select(forms::Select),
    /// Fill several form fields
    Fill(forms::Fill),
    /// Wait for text, an element, a URL, a load state, a script or a time
    Wait(act::Wait),
    /// Run JavaScript in the page
    #[command(alias = "eval")]
    Evaluate(act::Evaluate),
    /// Run several actions in one request
    Batch(forms::Batch),
}

impl Action {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        match self {
            Self::Plain(plain) => {
                let show = match plain.kind {
                    ActKind::Check { .. } | ActKind::Uncheck { .. } | ActKind::InsertText { .. } => show::entered,
                    _ => show::acted,
                };
                Ok(Call::new(plain.acting.request(plain.kind.clone()), show))
            }
            Self::Special(Special::Type(typing)) => typing.call(),
            Self::Special(Special::Drag(drag)) => Ok(drag.call()),
            Self::Special(Special::Select(select)) => select.call(),
            Self::Special(Special::Fill(fill)) => fill.call(),
            Self::Special(Special::Wait(wait)) => wait.call(),
            Self::Special(Special::Evaluate(evaluate)) => evaluate.call(),
            Self::Special(Special::Batch(batch)) => batch.call(),
        }
    }

    /// Whether `--frame` may be given beside a ref.
    pub(super) fn takes_ref_and_frame(&self) -> bool {
        matches!(self, Self::Special(Special::Wait(_) | Special::Evaluate(_)))
    }
}

/// The action of a plain command.
fn plain(name: &str) -> Option<&'static ActionSpec> {
    ACTIONS.iter().find(|action| action.command.is_some_and(|command| command.name == name))
}

impl Subcommand for Action {
    /// Adds the commands in the order of the table.
    fn augment_subcommands(all: clap::Command) -> clap::Command {
        let special = Special::augment_subcommands(clap::Command::new("special"));
        ACTIONS.iter().fold(all, |all, action| match (action.command, special.find_subcommand(action.kind)) {
            (Some(plain), _) => all.subcommand(effective(action, command(action, plain))),
            // In the order of this list, not of the other one.
            (None, Some(special)) => all.subcommand(effective(action, special.clone().display_order(None))),
            (None, None) => all,
        })
    }

    fn augment_subcommands_for_update(all: clap::Command) -> clap::Command {
        Self::augment_subcommands(all)
    }

    fn has_subcommand(name: &str) -> bool {
        plain(name).is_some() || Special::has_subcommand(name)
    }
}

impl FromArgMatches for Action {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        match matches.subcommand().and_then(|(name, matches)| Some((plain(name)?, matches))) {
            Some((action, matches)) => Plain::read(action, matches).map(Self::Plain),
            None => Special::from_arg_matches(matches).map(Self::Special),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Without the options that have no effect on an action. They are still read, and the server says why they are refused.
fn effective(action: &ActionSpec, command: clap::Command) -> clap::Command {
    let no_effect = [("force", action.takes_force), ("synthetic", action.takes_input)];
    let hidden = no_effect.into_iter().filter(|(_, takes)| !takes);
    hidden.fold(command, |command, (option, _)| {
        let has_it = command.get_arguments().any(|arg| arg.get_id() == option);
        if has_it { command.mut_arg(option, |arg| arg.hide(true)) } else { command }
    })
}

fn command(action: &'static ActionSpec, plain: CommandSpec) -> clap::Command {
    let fields = || arguments(action.fields);
    let element = fields().find(|(field, _)| matches!(field.value, FieldType::Element));
    let others = fields().filter(|(field, _)| !matches!(field.value, FieldType::Element));
    let mut command = clap::Command::new(plain.name);
    if let Some(alias) = plain.alias {
        command = command.alias(alias);
    }
    if element.is_some_and(|(_, argument)| argument.positional) {
        command = Element::augment_args(command);
    }
    command = command.args(others.map(|(field, argument)| arg(field, argument)));
    if let Some((_, argument)) = element.filter(|(_, argument)| !argument.positional) {
        command = OptionalElement::augment_args(command).mut_arg("at", |arg| {
            let usual = arg.get_help().map(ToString::to_string).unwrap_or_default();
            arg.help(format!("{usual} {}", argument.help))
        });
    }
    // Last: groups of arguments set their own description.
    ActionOptions::augment_args(command).about(plain.about)
}

impl Plain {
    fn read(action: &ActionSpec, matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut fields = Map::from_iter([("kind".to_owned(), action.kind.into())]);
        let mut element = None;
        for (field, argument) in arguments(action.fields) {
            match (field.value, argument.positional) {
                (FieldType::Element, true) => element = Some(Element::from_arg_matches(matches)?.locator()),
                (FieldType::Element, false) => element = Some(OptionalElement::from_arg_matches(matches)?.locator()),
                _ => fields.extend(value(field, matches).map(|value| (field.name.to_owned(), value))),
            }
        }
        // The arguments have the types of the fields.
        let invalid = |problem: serde_json::Error| clap::Error::raw(ErrorKind::InvalidValue, problem);
        let mut kind: ActKind = serde_json::from_value(Value::Object(fields)).map_err(invalid)?;
        if let (Some(at), Some(element)) = (kind.locator_mut(), element) {
            *at = element;
        }
        Ok(Self { kind, acting: ActionOptions::from_arg_matches(matches)? })
    }
}
