//! `terminal`: runs a command and waits for its end, or starts it in the background.

use cdpilot::code::Code;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::guard::check_command;
use super::super::{Effects, Outcome, Tool, ToolContext, ToolError};
use super::Shell;
use super::job::{Ended, Job};

/// Maximum length of the output, in characters.
const CHARS: usize = 20_000;
/// Maximum length of a command, in bytes.
const MAX_COMMAND_BYTES: usize = 64 << 10;
/// Time reserved before the call's deadline for ending the command.
const ENDING: Duration = Duration::from_millis(1500);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Run {
    /// For sh -c (Windows: cmd /C)
    command: String,
    /// Keep running; manage it with process
    #[serde(default)]
    background: bool,
    /// Time limit in seconds; not for background
    timeout_s: Option<u64>,
    /// Folder in the workspace
    workdir: Option<String>,
}

pub(super) fn tool(shell: &Arc<Shell>) -> Tool {
    let (enabled, shell) = (shell.settings.enabled, Arc::clone(shell));
    Tool::when(
        "terminal",
        "Run a shell command in the workspace. Ends all its processes unless background is set.",
        move |_| enabled,
        move |call, arguments| run(&shell, call, &arguments),
    )
    .with_effects(Effects::Checked)
}

fn run(shell: &Shell, call: &ToolContext<'_>, wanted: &Run) -> Result<Outcome, ToolError> {
    if wanted.command.trim().is_empty() || wanted.command.contains('\0') {
        return Err(ToolError::new(Code::BadRequest, "command is empty; pass a shell command"));
    }
    if wanted.command.len() > MAX_COMMAND_BYTES {
        let message = format!("command exceeds {MAX_COMMAND_BYTES} bytes; save a script with write_file and run it");
        return Err(ToolError::new(Code::TooLarge, message));
    }
    let folder = call.scope.workspace().folder(wanted.workdir.as_deref())?.full();
    check_command(call, &wanted.command, &folder)?;
    let start = || {
        Job::start(&wanted.command, &folder, &shell.secrets, wanted.background)
            .map_err(|problem| ToolError::new(Code::Internal, format!("cannot start the command: {problem}")))
    };
    if wanted.background {
        let known = shell.tables.of(call.session).add(start)?;
        let note = "use process to read its output and exit code; it is killed when the session ends";
        return Ok(Outcome::default().with("id", known.id()).with("status", "running").with("note", note));
    }
    let most = shell.settings.timeout_s.max(1);
    let seconds = wanted.timeout_s.unwrap_or(most).clamp(1, most);
    let reserve = ENDING.min(call.deadline.left() / 4);
    let last = call.deadline.earlier_by(reserve);
    let job = start()?;
    if !job.wait(last.within(Duration::from_secs(seconds))) {
        let is_cancelled = last.is_cancelled();
        let after = job.started.elapsed().as_secs();
        job.end();
        let output = job.lines(|lines| lines.short(CHARS));
        if is_cancelled {
            return Err(ToolError::new(Code::Cancelled, "cancelled: the client disconnected; the command was ended"));
        }
        let message = format!(
            "the command exceeded its time limit and was ended after {after} s; increase timeout_s (maximum {most}) or set background"
        );
        return Err(ToolError::new(Code::Timeout, message).with("output", output));
    }
    let (output, total) = job.lines(|lines| (lines.short(CHARS), lines.total()));
    let outcome = Outcome::default().with("output", output).with("lines", total);
    let outcome = with_end(outcome, &job);
    Ok(if job.had_descendants() {
        outcome.with("note", "processes left running were ended; use background to keep them")
    } else {
        outcome
    })
}

/// Adds the duration and the exit code or signal, once the command has ended.
pub(super) fn with_end(outcome: Outcome, job: &Job) -> Outcome {
    let Some((ended, took)) = job.ended() else { return outcome };
    let outcome = outcome.with("seconds", (took.as_secs_f64() * 10.0).round() / 10.0);
    match ended {
        Ended::Code(code) => outcome.with("exit_code", code),
        Ended::Signal(signal) => outcome.with("signal", signal),
    }
}
