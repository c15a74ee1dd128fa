//! Running a routine and following the run.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::time::Duration;

use clap::Args;
use crossbeam_channel::RecvTimeoutError;
use serde_json::Value;

use super::super::args::Global;
use super::super::chat::link::{Item, Link};
use super::super::chat::watch::{Interrupts, Pausing};
use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::super::output::{Out, clean, one_line};
use super::show;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::agent::RunLimits;
use cdpilot_server::api::RunRoutine;
use cdpilot_server::api::operations as op;
use cdpilot_server::config::Guard;

/// How often the time limit is looked at.
const POLL: Duration = Duration::from_millis(200);
/// Size limit of an input from a file or stdin, bytes.
const MOST: u64 = 64 * 1024;
/// How long a lost connection is restored.
const RESTORED: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(super) struct Run {
    /// Name or id of the routine
    name: String,
    /// Value of an input: NAME=VALUE, NAME=@FILE, or NAME=- for stdin; sensitive ones are seen by no model
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Model to use, by its alias; none: without a model, which needs recorded steps
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Stop instead of asking a model; needs recorded steps
    #[arg(long)]
    fast_only: bool,
    /// Compare each step with the recording that the routine was made from; uses no login unless --login profile is given
    #[arg(long)]
    verify: bool,
    /// Whose login it uses: that of the profile, or none in a context of its own [default: that of the routine, else profile]
    #[arg(long, value_name = "WHOSE", value_parser = ["profile", "own"])]
    login: Option<String>,
    /// Which actions need approval: off, irreversible, all [default: agent.guard in config.yaml]
    #[arg(long, value_name = "WHICH", value_parser = super::guard)]
    guard: Option<Guard>,
    /// Hosts that it may reach, with --login own; several times
    #[arg(long, value_name = "PATTERN")]
    host: Vec<String>,
    /// Stored secret that may be typed, besides those that the routine names; several times
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// Limit of the whole run in seconds [default: 3600]
    #[arg(long, value_name = "N")]
    max_seconds: Option<f64>,
    /// Limit of the cost, in the currency of the model's price
    #[arg(long, value_name = "N")]
    max_cost: Option<f64>,
    /// Limit of the requests to the model in one step, or for one item of a list [default: 60]
    #[arg(long, value_name = "N")]
    max_steps: Option<u32>,
}

pub(super) fn run(link: &Link<'_>, args: &Run, global: &Global, out: &Out) -> Result<Exit, Failure> {
    let limits = RunLimits { seconds: args.max_seconds, cost: args.max_cost, model_steps: args.max_steps };
    let wanted = RunRoutine {
        inputs: inputs(&args.input)?,
        secrets: args.secret.clone(),
        model: args.model.clone(),
        login: args.login.as_deref().map(|whose| super::login(whose == "own")),
        profile: global.profile.clone(),
        browser_id: None,
        guard: args.guard,
        hosts: (!args.host.is_empty()).then(|| args.host.clone()),
        fast_only: args.fast_only,
        verify: args.verify,
        limits: (limits != RunLimits::default()).then_some(limits),
    };
    let request = Request::at(op::RUN_ROUTINE, &[&args.name]).and(&wanted);
    let following = Following { name: args.name.clone(), ..Following::default() };
    finish(link, following, &request, global, out)
}

/// Continues a run that was stopped, interrupted or has failed.
pub(super) fn resume(link: &Link<'_>, name: &str, id: &str, global: &Global, out: &Out) -> Result<Exit, Failure> {
    // Of this routine, and where its events are.
    link.ask(&Request::at(op::ROUTINE_RUN, &[name, id]))?;
    let last = link.ask(&Request::at(op::CONVERSATION, &[id]))?["conversation"]["last_event"].as_u64();
    link.ask(&Request::at(op::RESUME, &[id]))?;
    let following = Following { name: name.to_owned(), id: id.to_owned(), last: last.unwrap_or_default() };
    let rest = following.rest();
    finish(link, following, &rest, global, out)
}

/// Follows a run to its end, and reports it.
fn finish(
    link: &Link<'_>,
    mut following: Following,
    request: &Request,
    global: &Global,
    out: &Out,
) -> Result<Exit, Failure> {
    let interrupts = Interrupts::register()?;
    let limit = super::following(global).map(Deadline::after);
    let ended = following.follow(link, request, &interrupts.pause_run(), limit, out)?;
    let name = following.name.as_str();
    let report = link.ask(&Request::at(op::ROUTINE_RUN, &[name, &following.id]))?;
    out.object(&report);
    let again = format!("`cdpilot routine resume {name} {}` continues it", following.id);
    match ended {
        Ended::Done => {
            show::result(&report, out);
            show::verification(&report, out);
            show::proposal(name, &report, out);
            out.aside(&format!("done; `cdpilot routine runs {name} {}` shows the report", following.id));
            Ok(Exit::Done)
        }
        Ended::Stopped => {
            out.line(&format!("stopped; {again}"));
            Ok(Exit::Failed)
        }
        Ended::Interrupted => {
            out.line(&format!("interrupted, because the server ended; {again}"));
            Ok(Exit::Failed)
        }
        Ended::Failed(problem) => {
            for step in report["steps"].as_array().into_iter().flatten().filter(|step| step["status"] == "failed") {
                out.line(&show::step_line(step));
            }
            show::verification(&report, out);
            let code = report["code"].as_str().unwrap_or("INTERNAL").to_owned();
            if out.json {
                return Ok(Exit::Failed);
            }
            Err(Failure::of_text(code, problem))
        }
        Ended::Waits(question) => {
            out.line(&format!("waits for you: {}", one_line(&question)));
            out.aside(&format!(
                "answer it with `cdpilot chat --conversation {id}`, which lists the answers, or in the page of `cdpilot ui`; the run goes \
                 on then",
                id = following.id
            ));
            Ok(Exit::Dialog)
        }
        Ended::TimedOut => {
            let problem = format!(
                "the time limit has passed, and the run {} goes on; `cdpilot routine runs` shows where it is",
                following.id
            );
            Err(Failure::new(Code::Timeout, problem))
        }
    }
}

/// The inputs as they are given.
fn inputs(given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let mut all = BTreeMap::new();
    let mut has_stdin = false;
    for one in given {
        let Some((name, value)) = one.split_once('=') else {
            return Err(Failure::usage(format!("--input {:?} is not NAME=VALUE", clean(one))));
        };
        let value = match value {
            "-" if has_stdin => return Err(Failure::usage("only one --input can be read from stdin")),
            "-" => {
                has_stdin = true;
                read(name, std::io::stdin().lock())?
            }
            value => match value.strip_prefix('@') {
                Some(path) => {
                    let file = std::fs::File::open(path);
                    let file = file
                        .map_err(|problem| Failure::usage(format!("--input {name}: cannot read {path}: {problem}")))?;
                    read(name, file)?
                }
                None => value.to_owned(),
            },
        };
        if all.insert(name.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("--input {} is given twice", clean(name))));
        }
    }
    Ok(all)
}

fn read(name: &str, from: impl std::io::Read) -> Result<String, Failure> {
    let mut text = String::new();
    let read = from.take(MOST + 1).read_to_string(&mut text);
    read.map_err(|problem| Failure::usage(format!("--input {name}: {problem}")))?;
    if text.len() as u64 > MOST {
        return Err(Failure::usage(format!("--input {name}: more than {MOST} bytes")));
    }
    // The line end of a file with one line does not belong to the value.
    Ok(text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text)).to_owned())
}

/// Why a run is not followed any more.
enum Ended {
    Done,
    Stopped,
    /// The server has ended meanwhile.
    Interrupted,
    Failed(String),
    Waits(String),
    TimedOut,
}

/// A run that is followed.
#[derive(Debug, Default)]
struct Following {
    name: String,
    id: String,
    /// Id of the last event that was read.
    last: u64,
}

impl Following {
    /// The events that follow.
    fn rest(&self) -> Request {
        Request::at(op::CONVERSATION_STREAM, &[&self.id]).header("last-event-id", self.last)
    }

    /// Follows the run. Ctrl-C stops it.
    fn follow(
        &mut self,
        link: &Link<'_>,
        request: &Request,
        interrupt: &Pausing<'_>,
        limit: Option<Deadline<'_>>,
        out: &Out,
    ) -> Result<Ended, Failure> {
        let mut items = link.open(request)?;
        let mut is_stopping = false;
        loop {
            if limit.is_some_and(|limit| limit.passed()) {
                return Ok(Ended::TimedOut);
            }
            if interrupt.came() && !self.id.is_empty() && !std::mem::replace(&mut is_stopping, true) {
                // A run that has just ended cannot be stopped; its last events follow.
                let _ = link.ask(&Request::at(op::STOP_RUN, &[&self.id]));
            }
            match items.recv_timeout(POLL) {
                Ok(Item::Event { id, name, data }) => {
                    self.last = id.unwrap_or(self.last);
                    if let Some(ended) = self.event(&name, &data, out) {
                        return Ok(ended);
                    }
                }
                Ok(Item::Alive) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Item::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    let until = Deadline::after(RESTORED);
                    items = loop {
                        match link.open(&self.rest()) {
                            Err(failure) if failure.exit == Exit::NoBrowser && !until.passed() => {
                                cdpilot::sync::pause(POLL);
                            }
                            opened => break opened?,
                        }
                    };
                    // Another server does not continue it by itself.
                    let report = link.ask(&Request::at(op::ROUTINE_RUN, &[&self.name, &self.id]))?;
                    if report["status"] == "interrupted" {
                        return Ok(Ended::Interrupted);
                    }
                }
            }
        }
    }

    fn event(&mut self, name: &str, data: &Value, out: &Out) -> Option<Ended> {
        let text = |field: &str| clean(data[field].as_str().unwrap_or_default()).into_owned();
        match name {
            "connected" if self.id.is_empty() => {
                self.id = text("conversation_id");
                out.aside(&format!("run {} of {}", self.id, clean(&self.name)));
            }
            "agent_event" if data["type"] == "ObservationEvent" && data["tool_name"] == "routine_step" => {
                let result: Value = serde_json::from_str(data["message"].as_str()?).ok()?;
                let n = result["step"].as_u64()?;
                match result["status"].as_str() {
                    Some(status) => out.line(&format!("step {n}  {}", clean(status))),
                    None => out.aside(&format!("step {n}  {}", one_line(&clean(result["title"].as_str()?)))),
                }
                if let Some(title) = result["next"]["title"].as_str() {
                    let n = result["next"]["step"].as_u64().unwrap_or_default();
                    out.aside(&format!("step {n}  {}", one_line(&clean(title))));
                }
            }
            "help_request" => return Some(Ended::Waits(text("message"))),
            "complete" if data["stopped"] == true => return Some(Ended::Stopped),
            "complete" => return Some(Ended::Done),
            "error" => return Some(Ended::Failed(text("error"))),
            _ => {}
        }
        None
    }
}
