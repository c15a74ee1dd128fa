//! Runs that wait for a person: `routines.notify` is used once for each question, and a run that waits too long ends.

use std::io::{Seek as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde_json::{Value, json};

use super::ends::LIMIT_REACHED;
use super::{Ending, RoutineRun};
use crate::agent::agents::Inner;
use crate::agent::{Error, WRITE, now};
use crate::store::{RunChange, RunStatus};
use cdpilot::sync::{Deadline, pause};

/// How long a run waits for a person.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// How often runs that have waited too long are looked for.
const EVERY: Duration = Duration::from_secs(60);
/// Time limit of `routines.notify`.
const TELLING: Duration = Duration::from_secs(30);
/// How often it is seen whether a command has ended.
const AGAIN: Duration = Duration::from_millis(50);
/// Longest queue of runs for `routines.notify`.
const MOST_UNTOLD: usize = 64;

/// Where runs report that they wait, and where that is read.
pub(in crate::agent) fn channel() -> (Sender<String>, Receiver<String>) {
    bounded(MOST_UNTOLD)
}

/// Body of the thread that tells people and ends runs, until all senders are dropped.
pub(in crate::agent) fn watch(inner: &Inner, waiting: &Receiver<String>) {
    loop {
        let guarded = |work: &dyn Fn()| {
            if catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!("a run that waits could not be looked after: a panic");
            }
        };
        guarded(&|| end_late(inner));
        let until = Instant::now() + EVERY;
        loop {
            match waiting.recv_deadline(until) {
                Ok(id) => guarded(&|| tell(inner, &id)),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

/// Ends the runs whose question nobody has answered for a day.
fn end_late(inner: &Inner) {
    let before = now() - LONGEST.as_secs_f64();
    let late = match inner.store.runs_waiting_since(before, Deadline::after(WRITE)) {
        Ok(late) => late,
        Err(problem) => return tracing::warn!(%problem, "runs that wait could not be looked for"),
    };
    for id in late {
        let problem = "it waited for a person for 24 hours; start the run again".to_owned();
        if let Err(problem) = inner.end_waiting(&id, Some(&Ending { code: LIMIT_REACHED, problem })) {
            tracing::warn!(run = id, %problem, "a run that has waited too long could not be ended");
        }
    }
}

/// What becomes of the run of a conversation that waits, when it ends instead: stopped, or for a reason.
pub(in crate::agent) fn ended(inner: &Inner, id: &str, why: Option<&Ending>) -> Result<Option<RunChange>, Error> {
    let Some(mut run) = RoutineRun::of(&inner.store, id)? else { return Ok(None) };
    match why {
        Some(ending) => run.end_early(ending),
        None => run.end(RunStatus::Stopped, None),
    }
    run.drop_verification(inner);
    run.drop_healing(inner);
    Ok(run.take_change())
}

/// Tells the person, as `routines.notify` says.
fn tell(inner: &Inner, id: &str) {
    let Some(how) = inner.control.config().routines.notify.as_deref().map(str::trim).filter(|how| !how.is_empty())
    else {
        return;
    };
    let message = match message(inner, id) {
        Ok(Some(message)) => message.to_string(),
        Ok(None) => return,
        Err(problem) => return tracing::warn!(run = id, %problem, "routines.notify: the run could not be read"),
    };
    let told = match how.starts_with("http://") || how.starts_with("https://") {
        true => post(how, &message),
        false => execute(inner, how, &message),
    };
    // The command and the address may contain keys.
    if let Err(problem) = told {
        tracing::warn!(run = id, problem, "routines.notify failed: nobody was told that a run waits");
    }
}

/// What is told; `None` if nothing is asked any more.
fn message(inner: &Inner, id: &str) -> Result<Option<Value>, Error> {
    let deadline = || Deadline::after(WRITE);
    let (Some(question), Some(run)) = (inner.store.open_question(id, deadline())?, inner.store.run(id, deadline())?)
    else {
        return Ok(None);
    };
    let routine = match &run.routine {
        Some(routine) => inner.store.routine(routine, deadline())?,
        None => None,
    };
    Ok(Some(json!({
        "event": "run_waiting",
        "run_id": id,
        "routine_id": run.routine,
        "routine": routine.map(|routine| routine.name),
        "step": super::step_of(&run),
        "kind": question.kind.as_str(),
        "question": question.body["message"],
    })))
}

fn post(address: &str, message: &str) -> Result<(), String> {
    let agent = ureq::Agent::config_builder().timeout_global(Some(TELLING)).build().new_agent();
    let sent = agent.post(address).header("Content-Type", "application/json").send(message);
    sent.map(drop).map_err(|problem| match problem {
        ureq::Error::StatusCode(status) => format!("the webhook answered {status}"),
        ureq::Error::Timeout(_) => format!("the webhook did not answer within {} s", TELLING.as_secs()),
        _ => "the webhook could not be reached".to_owned(),
    })
}

/// Runs a command of the person's own settings, with the message on its stdin.
fn execute(inner: &Inner, command: &str, message: &str) -> Result<(), String> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    // A file, as writing into a pipe would wait for a command that does not read.
    let input = input_of(message).map_err(|problem| format!("its input could not be written: {problem}"))?;
    let mut process = Command::new(shell);
    process.arg(flag).arg(command).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process.spawn().map_err(|problem| format!("the command could not be started: {problem}"))?;
    let until = Instant::now() + TELLING;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the command ended with {status}")),
            Ok(None) if Instant::now() < until && !inner.is_ending() => pause(AGAIN),
            Ok(None) => return Err(killed(child)),
            Err(problem) => return Err(format!("the command cannot be waited for: {problem}")),
        }
    }
}

fn input_of(message: &str) -> std::io::Result<Stdio> {
    let mut file = tempfile::tempfile()?;
    file.write_all(message.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

fn killed(mut child: Child) -> String {
    let _ = child.kill();
    let _ = child.wait();
    format!("the command was ended: it ran for more than {} s, or the server ends", TELLING.as_secs())
}
