//! `cdpilot secrets`: stores, lists and removes secrets that conversations may type.

use std::io::{self, IsTerminal as _, Read as _};
use std::time::Duration;

use clap::{Args, Subcommand};
use inquire::{Password, PasswordDisplayMode};
use serde_json::Value;

use super::args::Global;
use super::client::{Request, of_answer};
use super::connect::{Connector, ask};
use super::failure::{Exit, Failure};
use super::output::{Out, clean};
use super::settings::Settings;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{NewSecret, SecretValue};

/// Time limit of a request. A keyring may ask its user.
const PATIENCE: Duration = Duration::from_secs(30);
/// Size limit for a value from stdin, bytes.
const MOST: u64 = 64 * 1024;

const AFTER: &str = "\
Examples:
  cdpilot secrets set shop_password --origin https://shop.example
  pass show shop | head -n 1 | cdpilot secrets set shop_password --origin https://shop.example
  cdpilot chat --secret shop_password 'Log in to https://shop.example and list my orders'

The model writes {{secret:shop_password}} where the password belongs. cdpilot types the value in its place, \
only into fields for passwords and one-time codes of that origin, in forms that are sent to it; --field allows another \
field. Values are stored in the keyring of the system if there is \
one, else in secrets.json in the home (mode 0600). For one-time codes, store totp:KEY or an otpauth:// address.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct Secrets {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Store a secret; its value is read from stdin, or asked for at a terminal
    Set {
        /// Name: 1 to 64 letters, digits, `_`, `-` or dots
        name: String,
        /// Origin of the pages in which it may be typed, for example `https://example.com`
        #[arg(long, value_name = "URL", required_unless_present = "field")]
        origin: Option<String>,
        /// Label, name or id of a field that it may be typed into, besides fields for passwords and one-time codes;
        /// without --origin, it is added to the stored secret
        #[arg(long, value_name = "NAME")]
        field: Vec<String>,
    },
    /// List names and origins; values are never shown
    List,
    /// Remove a secret
    Remove {
        /// Name of the secret
        name: String,
    },
}

pub(super) fn run(secrets: &Secrets, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let request = match &secrets.what {
        What::Set { name, origin, field } => {
            let value = origin.is_some().then(|| value(name).map(SecretValue)).transpose()?;
            let (name, origin, fields) = (name.clone(), origin.clone(), field.clone());
            Request::new(op::SET_SECRET, &NewSecret { name, origin, value, fields })
        }
        What::List => Request::of(op::SECRETS),
        What::Remove { name } => Request::at(op::DELETE_SECRET, &[name]),
    };
    let connector = Connector::new(global)?;
    let found = connector.find()?;
    let answer = ask(&connector, found, true, &request, settings.timeout(PATIENCE), out)?;
    if let Some(failure) = of_answer(&answer) {
        return Err(failure);
    }
    out.raw(&answer.text);
    match &secrets.what {
        What::Set { .. } => {
            let secret = &answer.value["secret"];
            let (name, origin) = (field(secret, "name"), field(secret, "origin"));
            out.line(&format!("stored {name} for {origin} in {}{}", place(secret), fields(secret)));
        }
        What::List => list(&answer.value, out),
        What::Remove { name } => out.line(&format!("removed {}", clean(name))),
    }
    Ok(Exit::Done)
}

fn list(answer: &Value, out: &Out) {
    let all = answer["secrets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let width = |name: &str| all.iter().map(|secret| field(secret, name).chars().count()).max().unwrap_or_default();
    let (names, origins) = (width("name"), width("origin"));
    for secret in all {
        let (name, origin) = (field(secret, "name"), field(secret, "origin"));
        let kind = if secret["kind"] == "totp" { "one-time codes" } else { "text" };
        out.line(&format!("{name:names$}  {origin:origins$}  {kind}, in {}{}", place(secret), fields(secret)));
    }
    if all.is_empty() {
        out.aside("no secrets; `cdpilot secrets set NAME --origin https://…` stores one");
    }
}

/// The fields that it may be typed into, besides those for passwords and codes.
fn fields(secret: &Value) -> String {
    let names: Vec<_> =
        secret["fields"].as_array().into_iter().flatten().filter_map(Value::as_str).map(clean).collect();
    if names.is_empty() { String::new() } else { format!(", also for the fields {}", names.join(", ")) }
}

fn place(secret: &Value) -> &'static str {
    if secret["stored_in"] == "keyring" { "the keyring" } else { "secrets.json" }
}

fn field(secret: &Value, name: &str) -> String {
    clean(secret[name].as_str().unwrap_or_default()).into_owned()
}

/// The value: from the terminal without showing it, else all of stdin without the line break at its end.
fn value(name: &str) -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        let ask = format!("Value of {name}:");
        let ask = Password::new(&ask).with_display_mode(PasswordDisplayMode::Hidden).without_confirmation();
        return ask.prompt().map_err(|problem| Failure::usage(format!("no value was entered: {problem}")));
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(MOST + 1).read_to_string(&mut text);
    read.map_err(|problem| Failure::usage(format!("cannot read the value from stdin: {problem}")))?;
    if text.len() as u64 > MOST {
        return Err(Failure::usage("the value on stdin is larger than 64 KiB; give one of at most 4,096 characters"));
    }
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    match text {
        "" => {
            Err(Failure::usage("there is no value on stdin; pipe it in, or run this at a terminal to be asked for it"))
        }
        text => Ok(text.to_owned()),
    }
}
