//! `cdpilot models`: sets up models, tests and lists them.

use std::io::{self, IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use inquire::{Password, PasswordDisplayMode, Text};
use serde_json::{Map, Value, json};

use super::args::Global;
use super::client::{Answer, Request, of_answer};
use super::connect::{Connector, ask};
use super::failure::{Exit, Failure};
use super::output::{Out, clean};
use super::settings::Settings;
use cdpilot_server::api::TestModel;
use cdpilot_server::api::operations as op;

/// Time limit of a request, that to a model included.
const PATIENCE: Duration = Duration::from_secs(60);
/// Size limit for a key from a file or stdin, bytes.
const MOST: u64 = 64 * 1024;

const AFTER: &str = "\
Examples:
  cdpilot models add
  cdpilot models add main --base-url https://api.example.com/v1 --model NAME --key-env MY_API_KEY
  cdpilot models add local --base-url http://localhost:8080/v1 --model NAME --no-vision --small
  cdpilot models test

`add` asks at a terminal for what is not given, sends the model one short request, and stores it in llm.json in the home \
(readable by its owner only) if that succeeds.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(super) struct Models {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a model, or replace the one with its name, after a test
    Add(Add),
    /// Send a model one short request
    Test {
        /// Name of the model [default: the default model]
        name: Option<String>,
    },
    /// List the models
    List,
    /// Remove a model
    Remove {
        /// Name of the model
        name: String,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// Name under which it is used here [default: main]
    name: Option<String>,
    /// Address of an OpenAI-compatible endpoint, for example `https://api.example.com/v1`
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Name of the model at the endpoint
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Environment variable of the server with the API key
    #[arg(long, value_name = "VARIABLE", conflicts_with = "key_file")]
    key_env: Option<String>,
    /// File with the API key; -: stdin
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The model does not accept pictures
    #[arg(long)]
    no_vision: bool,
    /// Use the prompts for small models
    #[arg(long)]
    small: bool,
    /// Make it the default model
    #[arg(long)]
    default: bool,
    /// Store it without a test
    #[arg(long)]
    no_test: bool,
}

/// The server that keeps the models.
struct Home<'a> {
    connector: Connector,
    patience: Duration,
    out: &'a Out,
}

impl Home<'_> {
    fn ask(&self, request: &Request) -> Result<Answer, Failure> {
        let answer = ask(&self.connector, self.connector.find()?, true, request, self.patience, self.out)?;
        match of_answer(&answer) {
            Some(failure) => Err(failure),
            None => Ok(answer),
        }
    }

    /// The models with masked keys, and the default.
    fn models(&self) -> Result<(Map<String, Value>, Option<String>), Failure> {
        let answer = self.ask(&Request::of(op::MODELS))?.value;
        let models = answer["models"].as_object().cloned().unwrap_or_default();
        Ok((models, answer["default"].as_str().map(str::to_owned)))
    }

    fn store(&self, models: &Map<String, Value>, default: Option<&str>) -> Result<Answer, Failure> {
        self.ask(&Request::of(op::SET_MODELS).and(&json!({ "models": models, "default": default })))
    }

    fn test(&self, wanted: &TestModel) -> Result<Answer, Failure> {
        self.out.aside("asking the model …");
        self.ask(&Request::new(op::TEST_MODEL, wanted))
    }
}

pub(super) fn run(models: &Models, global: &Global, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let home = Home { connector: Connector::new(global)?, patience: settings.timeout(PATIENCE), out };
    match &models.what {
        What::Add(wanted) => add(wanted, &home)?,
        What::Test { name } => {
            let answer = home.test(&TestModel { alias: name.clone(), model: None })?;
            out.raw(&answer.text);
            out.line(&replied(&answer.value));
        }
        What::List => {
            let answer = home.ask(&Request::of(op::MODELS))?;
            out.raw(&answer.text);
            list(&answer.value, out);
        }
        What::Remove { name } => {
            let (mut models, default) = home.models()?;
            if models.remove(name).is_none() {
                let known: Vec<&str> = models.keys().map(String::as_str).collect();
                return Err(Failure::usage(format!("there is no model {name:?}; models: {}", known.join(", "))));
            }
            let answer = home.store(&models, default.as_deref().filter(|default| default != name))?;
            out.raw(&answer.text);
            out.line(&format!("removed {}", clean(name)));
        }
    }
    Ok(Exit::Done)
}

fn add(wanted: &Add, home: &Home<'_>) -> Result<(), Failure> {
    let (mut models, default) = home.models()?;
    let name = match &wanted.name {
        Some(name) => name.clone(),
        None => given(None, "Name of the model here:", Some("main"), "NAME")?,
    };
    let example = "https://api.example.com/v1";
    let base_url = given(wanted.base_url.as_deref(), &format!("Address, such as {example}:"), None, "--base-url")?;
    let model = given(wanted.model.as_deref(), "Name of the model at that address:", None, "--model")?;
    let key = key(wanted)?;
    let mut fields = json!({
        "model": model, "base_url": base_url, "vision": !wanted.no_vision,
        "profile": if wanted.small { "small" } else { "big" },
    });
    if let Some(variable) = &wanted.key_env {
        fields["api_key_env"] = variable.as_str().into();
    }
    if let Some(key) = key {
        fields["api_key"] = key.into();
    }
    let mut fields = fields.as_object().cloned().unwrap_or_default();
    if !wanted.no_test {
        let tested = home.test(&TestModel { alias: Some(name.clone()), model: Some(fields.clone()) });
        let answer = tested.map_err(|failure| {
            let error = format!("{}; nothing was stored (--no-test stores it without a test)", failure.error);
            Failure { error, ..failure }
        })?;
        home.out.line(&replied(&answer.value));
        if !wanted.no_vision && answer.value["withPicture"] == false {
            home.out.line("the endpoint does not accept pictures: stored as a model without vision");
            fields.insert("vision".to_owned(), false.into());
        }
    }
    models.insert(name.clone(), Value::Object(fields));
    let default = if wanted.default || default.is_none() { Some(name.clone()) } else { default };
    let answer = home.store(&models, default.as_deref())?;
    home.out.raw(&answer.text);
    let is_default = if default.as_deref() == Some(&name) { ", the default model" } else { "" };
    home.out.line(&format!("stored {}{is_default}; `cdpilot chat` uses it", clean(&name)));
    Ok(())
}

/// A value, asked for at a terminal if it is not given.
fn given(value: Option<&str>, question: &str, default: Option<&str>, option: &str) -> Result<String, Failure> {
    if let Some(value) = value {
        return Ok(value.to_owned());
    }
    if !io::stdin().is_terminal() {
        let missing = || Failure::usage(format!("{option} is missing; without a terminal, nothing can be asked for"));
        return default.map(str::to_owned).ok_or_else(missing);
    }
    let text = Text::new(question);
    let text = match default {
        Some(default) => text.with_default(default),
        None => text,
    };
    let entered = text.prompt().map_err(|problem| Failure::usage(format!("nothing was entered: {problem}")))?;
    Ok(entered.trim().to_owned())
}

/// The key: from a file, stdin or the terminal. `None` without one.
fn key(wanted: &Add) -> Result<Option<String>, Failure> {
    let mut text = String::new();
    match &wanted.key_file {
        Some(path) if path.as_os_str() == "-" => {
            let read = io::stdin().lock().take(MOST).read_to_string(&mut text);
            read.map_err(|problem| Failure::usage(format!("cannot read the key from stdin: {problem}")))?;
        }
        Some(path) => {
            let read = std::fs::read_to_string(path);
            text = read.map_err(|problem| Failure::usage(format!("cannot read {}: {problem}", path.display())))?;
        }
        None if wanted.key_env.is_none() && io::stdin().is_terminal() => {
            let ask = Password::new("API key (empty: none):").with_display_mode(PasswordDisplayMode::Hidden);
            let asked = ask.without_confirmation().prompt();
            text = asked.map_err(|problem| Failure::usage(format!("no key was entered: {problem}")))?;
        }
        None => {}
    }
    let key = text.trim();
    Ok((!key.is_empty()).then(|| key.to_owned()))
}

fn replied(answer: &Value) -> String {
    let (alias, reply) = (field(answer, "alias"), field(answer, "reply"));
    let with = if answer["withPicture"] == true { ", with a picture" } else { "" };
    format!("{alias} answered in {} ms{with}: {reply}", answer["tookMs"])
}

fn list(answer: &Value, out: &Out) {
    let none = Map::new();
    let models = answer["models"].as_object().unwrap_or(&none);
    let width = models.keys().map(|name| name.chars().count()).max().unwrap_or_default();
    for (name, model) in models {
        let mut facts = vec![field(model, "model"), field(model, "base_url")];
        let is_default = answer["default"] == name.as_str();
        facts.extend([
            (!is_default).then(String::new).unwrap_or_else(|| "default".to_owned()),
            if model["vision"] == false { "no pictures".to_owned() } else { String::new() },
            if model["profile"] == "small" { "prompts for small models".to_owned() } else { String::new() },
        ]);
        facts.retain(|fact| !fact.is_empty());
        out.line(&format!("{:width$}  {}", clean(name), facts.join("  ")));
    }
    if models.is_empty() {
        out.aside("no models; `cdpilot models add` adds one");
    }
}

fn field(value: &Value, name: &str) -> String {
    clean(value[name].as_str().unwrap_or_default()).into_owned()
}
