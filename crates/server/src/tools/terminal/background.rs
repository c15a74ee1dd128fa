//! `process`: manages background processes.

use cdpilot::code::Code;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::guard::check_input;
use super::super::{Effects, Outcome, Tool, ToolContext, ToolError};
use super::Shell;
use super::foreground::with_end;
use super::job::{Ended, WriteError};
use super::table::Known;

/// Maximum length of the output, in characters.
const CHARS: usize = 20_000;
/// Default and maximum number of lines of a log.
const LINES: usize = 200;
const MOST_LINES: usize = 2_000;
/// Maximum length of the input, in bytes.
const INPUT: usize = 64 << 10;
/// How long a process may take to read its input, in seconds.
const READING_S: u64 = 5;
/// Default time limit of `wait`, in seconds.
const WAIT_S: u64 = 30;
/// Time reserved before the call's deadline to report the result of a wait.
const MARGIN: Duration = Duration::from_millis(500);
/// Maximum length of a command in a list, in characters.
const COMMAND: usize = 200;

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Poll,
    Log,
    Write,
    Kill,
    Wait,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Manage {
    /// poll: new output; log: any lines; wait: until it ends
    action: Action,
    /// Process id (p1); not for list
    id: Option<String>,
    /// For write; end lines with \n
    input: Option<String>,
    /// For write: close stdin afterwards
    #[serde(default)]
    close: bool,
    /// For log: first line [the last 200]
    offset: Option<usize>,
    /// For log: lines
    limit: Option<usize>,
    /// For wait [30]
    timeout_s: Option<u64>,
}

pub(super) fn tool(shell: &Arc<Shell>) -> Tool {
    let (enabled, shell) = (shell.settings.enabled, Arc::clone(shell));
    Tool::when(
        "process",
        "Manage background processes of terminal: list, poll, log, write, wait, kill.",
        move |_| enabled,
        move |call, arguments| manage(&shell, call, arguments),
    )
    .with_effects(Effects::Checked)
}

fn manage(shell: &Shell, call: &ToolContext<'_>, wanted: Manage) -> Result<Outcome, ToolError> {
    if wanted.action == Action::List {
        let all: Vec<Value> = shell.tables.of(call.session).all().iter().map(row).collect();
        return Ok(Outcome::default().with("processes", all));
    }
    let id = wanted
        .id
        .as_deref()
        .ok_or_else(|| ToolError::new(Code::BadRequest, "id is missing; this action requires it"))?;
    let known = shell.tables.of(call.session).find(id)?;
    match wanted.action {
        Action::List | Action::Poll => Ok(new_output(&known)),
        Action::Log => Ok(log(&known, &wanted)),
        Action::Write => {
            check_input(call, id, wanted.input.as_deref().unwrap_or_default())?;
            write(&known, wanted, call)
        }
        Action::Kill => {
            let was_running = known.job.ended().is_none();
            if !known.job.end() {
                return Err(ToolError::new(Code::Internal, format!("{} did not end after SIGKILL", known.id())));
            }
            Ok(new_output(&known).with("killed", was_running))
        }
        Action::Wait => {
            let last = call.deadline.earlier_by(MARGIN);
            let time = Duration::from_secs(wanted.timeout_s.unwrap_or(WAIT_S));
            known.job.wait(last.within(time));
            if last.is_cancelled() {
                return Err(ToolError::new(
                    Code::Cancelled,
                    "cancelled: the client disconnected; the process keeps running",
                ));
            }
            Ok(new_output(&known))
        }
    }
}

/// Status and new output since the last poll.
fn new_output(known: &Known) -> Outcome {
    let mut seen = known.seen.lock();
    let (part, total) = known.job.lines(|lines| (lines.part(*seen, usize::MAX, CHARS), lines.total()));
    let has_more = part.next < total && !part.text.is_empty() && part.text.ends_with('\n');
    *seen = part.next;
    drop(seen);
    let mut outcome = state(known).with("output", part.text).with("lines", total);
    if part.dropped > 0 {
        outcome = outcome.with("lost", format!("{} lines were dropped: the output exceeded the buffer", part.dropped));
    }
    if has_more {
        outcome = outcome.with("truncated", "more output; poll again");
    }
    outcome
}

fn state(known: &Known) -> Outcome {
    let status = match known.job.ended() {
        None => "running",
        Some((Ended::Code(_), _)) => "exited",
        Some((Ended::Signal(_), _)) => "killed",
    };
    with_end(Outcome::default().with("id", known.id()).with("status", status), &known.job)
}

fn row(known: &Known) -> Value {
    let mut fields = state(known).fields;
    let command: String = known.job.command.chars().take(COMMAND).collect();
    fields.insert("command".to_owned(), command.into());
    fields.insert("lines".to_owned(), known.job.lines(super::lines::Lines::total).into());
    fields.entry("seconds").or_insert_with(|| json!(known.job.started.elapsed().as_secs()));
    Value::Object(fields)
}

/// Lines by number.
fn log(known: &Known, wanted: &Manage) -> Outcome {
    let most = wanted.limit.unwrap_or(LINES).clamp(1, MOST_LINES);
    let (first, total, part) = known.job.lines(|lines| {
        let total = lines.total();
        let first = wanted.offset.map_or_else(|| total.saturating_sub(most), |first| first.max(1) - 1);
        (first, total, lines.part(first, most, CHARS))
    });
    let mut outcome = state(known).with("output", part.text).with("first_line", first + 1).with("lines", total);
    if part.dropped > 0 {
        outcome = outcome.with("lost", format!("{} of these lines were dropped from the buffer", part.dropped));
    }
    if part.next < total {
        outcome = outcome.with("truncated", format!("continue with offset {}", part.next + 1));
    }
    outcome
}

fn write(known: &Known, wanted: Manage, call: &ToolContext<'_>) -> Result<Outcome, ToolError> {
    let input = wanted.input.unwrap_or_default();
    if input.is_empty() && !wanted.close {
        return Err(ToolError::new(Code::BadRequest, "input is missing; pass input, or close: true to close stdin"));
    }
    if input.len() > INPUT {
        return Err(ToolError::new(Code::TooLarge, format!("input exceeds {INPUT} bytes; write it in parts")));
    }
    let (id, bytes) = (known.id(), input.len());
    let deadline = call.deadline.within(Duration::from_secs(READING_S));
    match known.job.write(input.into_bytes(), wanted.close, deadline) {
        Ok(()) => Ok(state(known).with("written", bytes)),
        Err(WriteError::Closed) => {
            Err(ToolError::new(Code::Conflict, format!("stdin of {id} is closed; use poll to see its status")))
        }
        Err(WriteError::Stuck) => Err(ToolError::new(
            Code::Busy,
            format!("{id} does not read its stdin; the input is delivered when it does"),
        )),
        Err(WriteError::Failed(problem)) => {
            Err(ToolError::new(Code::Internal, format!("cannot write to {id}: {problem}")))
        }
    }
}
