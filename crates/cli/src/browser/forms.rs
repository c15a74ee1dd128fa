//! Commands for text and forms with a syntax of their own.

use clap::Args;
use serde_json::{Map, Value};

use super::super::failure::Failure;
use super::act::{input, split};
use super::call::{ActionOptions, Call, Selector, Tab, element, json, locator, reference, request};
use super::show;
use cdpilot::page::{Act, ActKind, Field, FieldValue};

#[derive(Debug, Args)]
#[command(override_usage = "cdpilot browser type [REF] <TEXT> [OPTIONS]\n       \
                            cdpilot browser type [REF] --text-file <FILE> [OPTIONS]")]
pub(in super::super) struct Type {
    /// Ref or locator of the field, then the text. The text alone goes to the focused element, after its present
    /// content, or to the field given by --ref or --selector
    #[arg(
        value_name = "REF|TEXT",
        required_unless_present = "text_file",
        num_args = 1..=2,
        allow_negative_numbers = true
    )]
    given: Vec<String>,
    /// Read the text from the first line of this file; `-`: stdin. Use it for passwords: arguments are visible to other
    /// programs and stay in the shell history
    #[arg(long, value_name = "FILE")]
    text_file: Option<String>,
    #[command(flatten)]
    by: Selector,
    /// Press Enter afterwards
    #[arg(long)]
    submit: bool,
    /// Wait 75 ms between characters
    #[arg(long)]
    slowly: bool,
    /// Append to the field's content instead of replacing it
    #[arg(long)]
    append: bool,
    /// Alternative to the positional REF
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    #[command(flatten)]
    acting: ActionOptions,
}

#[derive(Debug, Args)]
#[command(override_usage = "cdpilot browser select <REF> <VALUE>... [OPTIONS]\n       \
                            cdpilot browser select --selector <CSS> <VALUE>... [OPTIONS]")]
pub(in super::super) struct Select {
    /// Ref or locator of the list, then values or labels of the options
    #[arg(value_name = "REF|VALUE", required = true, allow_negative_numbers = true)]
    given: Vec<String>,
    #[command(flatten)]
    by: Selector,
    /// Alternative to the positional REF
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    at: Option<String>,
    #[command(flatten)]
    acting: ActionOptions,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "cdpilot browser fill <REF> <VALUE> [<REF> <VALUE>]... [OPTIONS]\n       \
                      cdpilot browser fill --fields <FIELDS> [OPTIONS]",
    after_help = "FIELDS is a JSON list such as [{\"ref\": \"e1\", \"value\": \"Ada\"}]. An element is given by ref, \
                  locator or selector; a value is a string, a number, true, false or a list of options."
)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["pairs", "fields", "fields_file"]))]
pub(in super::super) struct Fill {
    /// Pairs of field and value: ref or locator, then text, true, false or an option of the list
    #[arg(value_name = "REF|VALUE", num_args = 2.., allow_negative_numbers = true)]
    pairs: Vec<String>,
    /// Fields as JSON, see below; `-`: read from stdin
    #[arg(long, value_name = "FIELDS")]
    fields: Option<String>,
    /// Read the fields from this JSON file; `-`: stdin
    #[arg(long, value_name = "FILE")]
    fields_file: Option<String>,
    /// Press Enter in the last text field afterwards
    #[arg(long)]
    submit: bool,
    #[command(flatten)]
    acting: ActionOptions,
}

#[derive(Debug, Args)]
#[command(
    after_help = "ACTIONS is a JSON list such as [{\"kind\": \"click\", \"ref\": \"e1\"}]; docs/api.md describes the kinds and \
                  their fields under POST /act. The batch ends at the first failed action, unless --continue is \
                  given. It always ends when the tab navigates or closes, when a dialog opens, and at the time limit."
)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["actions", "actions_file"]))]
pub(in super::super) struct Batch {
    /// Actions as JSON, see below; `-`: read from stdin
    #[arg(long, value_name = "ACTIONS")]
    actions: Option<String>,
    /// Read the actions from this JSON file; `-`: stdin
    #[arg(long, value_name = "FILE")]
    actions_file: Option<String>,
    /// Continue after a failed action
    #[arg(long = "continue")]
    go_on: bool,
    #[command(flatten)]
    tab: Tab,
}

impl Type {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let read = self.text_file.as_deref().map(first_line).transpose()?;
        let given: Vec<&String> = self.given.iter().chain(&read).collect();
        let (at, text) = match (&self.at, given.as_slice()) {
            (None, [text]) if self.text_file.is_none() && self.by.selector.is_none() && is_ref(text) => {
                return Err(Failure::usage(format!(
                    "{text:?} looks like a ref and the text is missing; give `type {text} TEXT`, or `insert-text {text}` to \
                     insert these characters into the focused element"
                )));
            }
            (at, [text]) => (at.clone(), *text),
            (None, [at, text]) if self.by.selector.is_none() => (Some(element(at).map_err(not_one)?), *text),
            (_, [_, _, _]) => {
                return Err(Failure::usage("the text is given twice; give either the TEXT argument or --text-file"));
            }
            _ => return Err(Failure::usage("the field is given twice; give only one of REF, --ref and --selector")),
        };
        let at = self.by.locator(at.as_deref());
        let (submit, slowly, append) = (self.submit, self.slowly, self.append);
        let kind = ActKind::Type { at, text: text.clone(), submit, slowly, append };
        Ok(Call::new(self.acting.request(kind), show::entered))
    }
}

/// Whether a text is written as a ref with its letter: `e12` or `@e12`.
fn is_ref(text: &str) -> bool {
    text.trim_start_matches('@').starts_with('e') && reference(text).is_ok()
}

/// The first line of a file, without the line break.
fn first_line(file: &str) -> Result<String, Failure> {
    let text = input(file)?;
    Ok(text.split('\n').next().unwrap_or_default().trim_end_matches('\r').to_owned())
}

/// The error for a first argument that is not a ref.
fn not_one(problem: String) -> Failure {
    Failure::usage(format!("{problem}; put text with spaces in quotes"))
}

impl Select {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let (at, values) = match &self.at {
            Some(at) => (Some(at.clone()), self.given.clone()),
            None => split(self.given.clone(), &self.by, 1, "the values to choose")?,
        };
        let kind = ActKind::Select { at: self.by.locator(at.as_deref()), values };
        Ok(Call::new(self.acting.request(kind), show::entered))
    }
}

impl Fill {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let fields = if self.pairs.is_empty() {
            let text = given(self.fields.as_deref(), self.fields_file.as_deref())?;
            let mut fields = list(json(&text, "--fields")?, "--fields", "ref")?;
            fields.iter_mut().for_each(|field| refs(field, &["ref"]));
            fields
        } else {
            self.pairs.chunks(2).map(pair).collect::<Result<Vec<_>, _>>()?
        };
        // Fields in JSON stay as they are: the server's errors name what is wrong in them.
        let request = self.acting.request(ActKind::Fill { fields: Vec::new(), submit: self.submit });
        Ok(Call::new(request.common("fields", Some(fields)), show::entered))
    }
}

/// Reads one pair of field and value.
fn pair(pair: &[String]) -> Result<Value, Failure> {
    let [at, value] = pair else {
        return Err(Failure::usage(format!("field {:?} has no value; give a value after each field", pair.concat())));
    };
    let at = element(at).map_err(not_one)?;
    let value = match value.as_str() {
        "true" => FieldValue::Flag(true),
        "false" => FieldValue::Flag(false),
        text => text.into(),
    };
    let field = Field { at: locator(Some(&at)), value };
    serde_json::to_value(field).map_err(|problem| Failure::internal(problem.to_string()))
}

impl Batch {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        let text = given(self.actions.as_deref(), self.actions_file.as_deref())?;
        let mut actions = list(json(&text, "--actions")?, "--actions", "kind")?;
        for action in &mut actions {
            refs(action, &["ref", "startRef", "endRef"]);
            let fields = action.get_mut("fields").and_then(Value::as_array_mut);
            fields.into_iter().flatten().for_each(|field| refs(field, &["ref"]));
        }
        let kind = ActKind::Batch { actions: Vec::new(), stop_on_error: self.go_on.then_some(false) };
        Ok(Call::new(request(&Act::new(kind), &self.tab).common("actions", Some(actions)), show::batch))
    }
}

fn given(text: Option<&str>, file: Option<&str>) -> Result<String, Failure> {
    match (text, file) {
        (Some("-"), _) => input("-"),
        (Some(text), _) => Ok(text.to_owned()),
        (None, file) => input(file.unwrap_or("-")),
    }
}

/// Reads a list of objects; a single object counts as a list of one. `has` names a field for the error.
fn list(value: Value, what: &str, has: &str) -> Result<Vec<Value>, Failure> {
    match value {
        Value::Array(list) if list.is_empty() => {
            Err(Failure::usage(format!("{what} is an empty list; give at least one object")))
        }
        Value::Array(list) if list.iter().all(Value::is_object) => Ok(list),
        Value::Object(one) => Ok(vec![Value::Object(one)]),
        _ => Err(Failure::usage(format!("{what} must be a list of objects, for example [{{\"{has}\": …}}]"))),
    }
}

/// Normalises refs, which may be written in each form and as numbers.
fn refs(value: &mut Value, names: &[&str]) {
    let Some(map): Option<&mut Map<String, Value>> = value.as_object_mut() else { return };
    for name in names {
        let text = match map.get(*name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        if let Ok(at) = reference(&text) {
            map.insert((*name).to_owned(), at.into());
        }
    }
}
