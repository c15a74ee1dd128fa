//! A minimal agent: a model chooses tools until it is done. The model here is a script; put a client of your own in its place.
//!
//! `cargo run -p cdpilot-server --example agent -- https://example.com`

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Home};
use cdpilot_server::control::{Control, Overrides};
use cdpilot_server::tools::{Scope, Session, Tool, ToolContext, Toolbox, ToolboxOptions};
use serde_json::{Map, Value, json};

/// What a model wants next.
pub(crate) enum Step {
    /// A tool is called with these arguments.
    Call(&'static str, Value),
    /// The task is done, and this is the answer.
    Done(String),
}

/// Chooses the next step from the tools there are and the result of the last step.
pub(crate) type Model<'a> = dyn FnMut(&[Tool], &Value) -> Step + 'a;

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "https://example.com/".to_owned());
    let mut steps = 0;
    let mut model = |_: &[Tool], last: &Value| {
        steps += 1;
        match steps {
            1 => Step::Call("browser_navigate", json!({ "url": url })),
            2 => Step::Call("browser_snapshot", json!({})),
            _ => Step::Done(last["snapshot"].as_str().unwrap_or_default().to_owned()),
        }
    };
    run(Home::find()?, Overrides::default(), &mut model, &mut std::io::stdout())
}

/// Runs a model to its answer, with the browser of a home.
pub(crate) fn run(
    home: Home,
    overrides: Overrides,
    model: &mut Model<'_>,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    home.prepare()?;
    let config = Config::parse("", Path::new("config.yaml"))?;
    let control = Arc::new(Control::open(home, config, overrides)?);
    let options = ToolboxOptions::default();
    let toolbox = Toolbox::open(&control, &options)?;
    let scope = Scope::new(control.home(), control.config(), &options);
    let tools = toolbox.enabled("mcp", &[]).tools(toolbox.toolsets(), toolbox.registry(), &scope);
    let (session, mut last) = (Session::default(), Value::Null);
    loop {
        let (name, arguments) = match model(&tools, &last) {
            Step::Call(name, arguments) => (name, arguments),
            Step::Done(answer) => break writeln!(out, "{answer}")?,
        };
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        let deadline = Deadline::after_secs(60);
        let call = ToolContext::new(&session, &scope, deadline);
        last = match toolbox.registry().call(name, &call, arguments) {
            Ok(outcome) => outcome.to_value(),
            Err(error) => error.to_value(), // the model reads what to do instead
        };
        writeln!(out, "{name}: {}", last["success"])?;
    }
    control.stop(Deadline::after_secs(5));
    Ok(())
}
