//! Compiling a recording into a routine, with the person at the terminal.

use std::time::Duration;

use clap::Args;
use crossbeam_channel::RecvTimeoutError;
use serde_json::Value;

use super::super::args::Global;
use super::super::chat::input::Input;
use super::super::chat::link::{Item, Link};
use super::super::chat::watch::{Interrupts, Pausing};
use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::super::files::read_text;
use super::super::output::{Out, clean, one_line};
use super::super::record::find;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{AnswerCompilation, CompileRecording, FinalizeCompilation};

/// How often Ctrl-C and the time limit are looked at.
const POLL: Duration = Duration::from_millis(200);
/// Size limit of an answer from a file or stdin, bytes.
const MOST: u64 = 64 * 1024;

#[derive(Debug, Args)]
pub(super) struct Compile {
    /// ID or name of the recording [default: the last one]
    recording: Option<String>,
    /// Model to use, by its alias [default: agent.model in config.yaml]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Save the routine under this name, without asking
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Leave out the event with this number; several times
    #[arg(long, value_name = "N")]
    exclude: Vec<u64>,
    /// Answer the open questions, or say what to change in the routine; - reads it from stdin
    #[arg(long, value_name = "TEXT", conflicts_with = "new")]
    answer: Option<String>,
    /// Compile anew although a compilation waits for you
    #[arg(long)]
    new: bool,
}

/// What a compilation has come to.
enum Ended {
    /// `asking` or `review`.
    Result(Value),
    Failed(Value),
    TimedOut,
}

/// What the person does with a routine that they have read.
enum Choice {
    Save(String),
    Change(String),
    Later,
}

pub(super) fn run(link: &Link<'_>, args: &Compile, global: &Global, out: &Out) -> Result<Exit, Failure> {
    let id = find::active_or_last(link, args.recording.as_deref())?;
    let interrupts = Interrupts::register()?;
    let limit = super::following(global).map(Deadline::after);
    let state = link.ask(&Request::at(op::COMPILATION, &[&id]))?;
    let waits = matches!(state["status"].as_str(), Some("asking" | "review"));
    // To what was shown, and to nothing that came meanwhile.
    let answered = |text: String, result: &Value| {
        let round = result["round"].as_u64().and_then(|round| u32::try_from(round).ok()).or(Some(0));
        Request::at(op::ANSWER_COMPILATION, &[&id]).and(&AnswerCompilation { text, round })
    };
    let mut next = match &args.answer {
        Some(text) if text == "-" => Some(answered(read_text(text, MOST)?, &state["result"])),
        Some(text) => Some(answered(text.clone(), &state["result"])),
        None if waits && !args.new => None,
        None => {
            let wanted = CompileRecording { model: args.model.clone(), exclude: args.exclude.clone() };
            Some(Request::at(op::COMPILE_RECORDING, &[&id]).and(&wanted))
        }
    };
    let mut result = state["result"].clone();
    loop {
        if let Some(request) = next.take() {
            match follow(link, &request, &id, &interrupts.pause_run(), limit, out)? {
                Ended::Result(ended) => result = ended,
                Ended::Failed(data) => return failed(&data, out),
                Ended::TimedOut => {
                    let problem = "the time limit has passed, and the model goes on; `cdpilot routine compile` shows the result later";
                    return Err(Failure::new(Code::Timeout, problem));
                }
            }
        }
        if result["status"] == "asking" {
            let question = result["question"].as_str().unwrap_or_default();
            // Set off: the text of a model must not look like a line of this program.
            let lines: Vec<String> = question.lines().map(|line| format!("  {}", one_line(&clean(line)))).collect();
            out.line(&format!("Round {} of at most 5:\n{}", result["round"], lines.join("\n")));
            let answer = if out.json { None } else { Input::ask("Answer:")? };
            match answer.map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty()) {
                Some(answer) => next = Some(answered(answer, &result)),
                None => {
                    out.object(&result);
                    out.aside(&format!("waits for your answer; `cdpilot routine compile {id} --answer TEXT` gives it"));
                    return Ok(Exit::Dialog);
                }
            }
            continue;
        }
        show(&result, out);
        match choice(args, out)? {
            Choice::Save(name) => match save(link, &id, &name, &result, out) {
                // A name in use: another one can be given at the terminal.
                Err(failure) if args.name.is_none() && failure.kind() == Some(Code::Conflict) => {
                    out.aside(&failure.error)
                }
                saved => return saved,
            },
            Choice::Change(text) => next = Some(answered(text, &result)),
            Choice::Later => {
                out.object(&result);
                out.aside(&format!(
                    "not saved yet; `cdpilot routine compile {id} --name NAME` saves it, `--answer TEXT` says what to change"
                ));
                return Ok(Exit::Dialog);
            }
        }
    }
}

/// Follows a compilation until it asks something, has a routine, or fails. Ctrl-C stops it.
fn follow(
    link: &Link<'_>,
    request: &Request,
    id: &str,
    interrupt: &Pausing<'_>,
    limit: Option<Deadline<'_>>,
    out: &Out,
) -> Result<Ended, Failure> {
    let items = link.open(request)?;
    let mut conversation = String::new();
    let mut is_stopping = false;
    loop {
        if limit.is_some_and(|limit| limit.passed()) {
            return Ok(Ended::TimedOut);
        }
        if interrupt.came() && !conversation.is_empty() && !std::mem::replace(&mut is_stopping, true) {
            // One that has just ended cannot be stopped; its last event follows.
            let _ = link.ask(&Request::at(op::STOP_RUN, &[&conversation]));
        }
        match items.recv_timeout(POLL) {
            Ok(Item::Event { name, data, .. }) => match name.as_str() {
                "connected" => {
                    conversation = data["conversation_id"].as_str().unwrap_or_default().to_owned();
                    if data["replaced"] == true {
                        out.aside("the compilation of this recording that was not finished has ended");
                    }
                }
                "agent_event" => event(&data, out),
                "complete" => return Ok(Ended::Result(data["result"].clone())),
                "error" => return Ok(Ended::Failed(data)),
                _ => {}
            },
            Ok(Item::Alive) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Item::Closed) | Err(RecvTimeoutError::Disconnected) => {
                let state = link.ask(&Request::at(op::COMPILATION, &[id]))?;
                return match state["result"].is_null() {
                    false => Ok(Ended::Result(state["result"].clone())),
                    true => Err(Failure::new(Code::Interrupted, "the connection was lost; run the command again")),
                };
            }
        }
    }
}

/// A line about what the model does.
fn event(data: &Value, out: &Out) {
    let text = match data["type"].as_str() {
        Some("ActionEvent") => action(&data["tool_name"], &data["action"]),
        Some("ObservationEvent") if data["success"] == false => {
            format!("  refused: {}", one_line(data["error"].as_str().unwrap_or_default()))
        }
        Some("SystemEvent") => one_line(data["text"].as_str().unwrap_or_default()),
        _ => return,
    };
    out.aside(&text);
}

fn action(tool: &Value, arguments: &Value) -> String {
    let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
    match (tool.as_str().unwrap_or_default(), arguments["command"].as_str().unwrap_or_default()) {
        ("trace_viewer", "summary") => "reads the summary of the recording".to_owned(),
        ("trace_viewer", "events") => format!("reads events from row {}", number("start")),
        ("trace_viewer", "normalized_steps") => "reads the derived steps".to_owned(),
        ("trace_viewer", "event_detail") => format!("reads event {}", number("event")),
        ("trace_viewer", "keyframe") => format!("looks at the screenshot of event {}", number("event")),
        ("draft", "read") => "reads its draft".to_owned(),
        ("draft", _) => "writes the routine".to_owned(),
        ("ask_user", _) => "asks".to_owned(),
        ("submit_routine", _) => "submits the routine".to_owned(),
        (other, _) => clean(other).into_owned(),
    }
}

fn failed(data: &Value, out: &Out) -> Result<Exit, Failure> {
    out.object(data);
    if let Some(path) = data["trace_path"].as_str() {
        out.aside(&format!("all messages are in {path}"));
    }
    let code = data["code"].as_str().unwrap_or("INTERNAL").to_owned();
    Err(Failure::of_text(code, data["error"].as_str().unwrap_or("the compilation has failed").to_owned()))
}

/// Prints a routine that is to be read.
fn show(result: &Value, out: &Out) {
    if out.json {
        return;
    }
    match result["difference"].as_str() {
        Some("") => out.line("The text has not changed."),
        Some(difference) => out.line(&clean(difference.trim_end())),
        None => out.line(&clean(result["routine_markdown"].as_str().unwrap_or_default().trim_end())),
    }
    out.aside("");
    out.aside(&clean(result["summary_message"].as_str().unwrap_or_default()));
    for left_out in result["left_out"].as_array().into_iter().flatten() {
        let events: Vec<String> =
            left_out["events"].as_array().into_iter().flatten().map(ToString::to_string).collect();
        let why = one_line(left_out["why"].as_str().unwrap_or_default());
        out.aside(&format!("left out: events {} ({why})", events.join(", ")));
    }
}

fn choice(args: &Compile, out: &Out) -> Result<Choice, Failure> {
    if let Some(name) = &args.name {
        return Ok(Choice::Save(name.clone()));
    }
    if out.json {
        return Ok(Choice::Later);
    }
    let Some(text) = Input::ask("What to change (Enter: nothing, save it):")? else { return Ok(Choice::Later) };
    if !text.trim().is_empty() {
        return Ok(Choice::Change(text.trim().to_owned()));
    }
    let name = Input::ask("Name of the routine:")?.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    Ok(name.map_or(Choice::Later, Choice::Save))
}

fn save(link: &Link<'_>, id: &str, name: &str, result: &Value, out: &Out) -> Result<Exit, Failure> {
    let routine_markdown = result["routine_markdown"].as_str().map(ToOwned::to_owned);
    let wanted = FinalizeCompilation { name: name.to_owned(), routine_markdown };
    let saved = link.ask(&Request::at(op::FINALIZE_COMPILATION, &[id]).and(&wanted))?;
    out.object(&saved);
    out.line(&format!("saved as {}; `cdpilot routine run {} --verify` tries it once", clean(name), clean(name)));
    Ok(Exit::Done)
}
