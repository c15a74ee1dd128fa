//! The life of a run: its thread, its place among the others, its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::agents::Inner;
use super::events::{AGENT_EVENT, AgentEvent, COMPLETE, ERROR, complete, error};
use super::live::{Interrupted, Live};
use super::messages::Entry;
use super::slots::MOST_RUNS;
use super::turn::{End, SHORT, Turn};
use super::{Error, repair};
use crate::store::{Batch, ConversationState};
use crate::sync::{Deadline, spawn};

/// How long a run may wait for its place.
const QUEUED: Duration = Duration::from_secs(7 * 24 * 3600);

/// Begins a run: stores the changes that `changes` returns, and starts its thread. Returns the id of the last event before.
pub(super) fn begin(
    inner: &Arc<Inner>,
    live: &Arc<Live>,
    changes: impl FnOnce(&Live) -> Result<Batch, Error>,
) -> Result<u64, Error> {
    let was_at_rest = live.feed.is_at_rest();
    live.begin()?;
    let begun = match inner.is_ending() {
        true => Err(Error::Ending),
        false => changes(live).and_then(|batch| live.commit(&inner.store, batch)),
    };
    let committed = match begun {
        Ok(committed) => committed,
        Err(error) => {
            live.end(was_at_rest);
            return Err(error);
        }
    };
    let short: String = live.id.chars().take(SHORT).collect();
    let (thread_inner, thread_live) = (Arc::clone(inner), Arc::clone(live));
    match spawn(format!("agent-{short}"), move || body(&thread_inner, &thread_live)) {
        Ok(thread) => live.set_thread(thread),
        Err(problem) => {
            let error = Error::Thread { problem: problem.to_string() };
            finish(inner, live, failed(&error), None);
            return Err(error);
        }
    }
    Ok(committed.first_event - 1)
}

fn body(inner: &Inner, live: &Live) {
    let cancel = live.cancel();
    let queued = || {
        live.set_queued(true);
        let text = format!("Queued: {MOST_RUNS} conversations are running. This one starts when one of them ends.");
        report(inner, live, &text);
    };
    let slot = inner.slots.take(Deadline::after(QUEUED).cancelled_by(&cancel), queued);
    live.set_queued(false);
    let (end, pictures) = match slot {
        None => (End::Interrupted, None),
        Some(_) => {
            let run = catch_unwind(AssertUnwindSafe(|| turn(inner, live)));
            run.unwrap_or_else(|_| {
                let problem = "an internal error ended the run; resume it or send a message".to_owned();
                (End::Failed { code: "INTERNAL", problem }, None)
            })
        }
    };
    drop(slot);
    finish(inner, live, end, pictures);
}

/// Runs a turn. Returns its end, and the images of results that the model did not get yet.
fn turn(inner: &Inner, live: &Live) -> (End, Option<Entry>) {
    let mut turn = match Turn::load(inner, live) {
        Ok(turn) => turn,
        Err(error) => return (failed(&error), None),
    };
    let end = turn.run().unwrap_or_else(|error| failed(&error));
    (end, turn.take_pictures())
}

fn failed(error: &Error) -> End {
    End::Failed { code: error.kind().as_str(), problem: error.to_string() }
}

/// Stores an event of the program. A failure is only logged.
pub(super) fn report(inner: &Inner, live: &Live, text: &str) {
    let event = AgentEvent::system(text).into_value();
    if let Err(problem) = live.commit(&inner.store, Batch::new().event(AGENT_EVENT, event)) {
        tracing::warn!(conversation = %live.id, %problem, "an event could not be stored");
    }
}

/// Stores the end of a run, and ends it.
fn finish(inner: &Inner, live: &Live, end: End, pictures: Option<Entry>) {
    let stored = match &end {
        End::Finished | End::Waiting => Ok(()),
        End::Interrupted | End::Failed { .. } | End::MaxSteps(_) => ended(inner, live, &end, pictures),
    };
    if let Err(problem) = stored {
        tracing::warn!(conversation = %live.id, %problem, "the end of a run could not be stored");
    }
    live.end(end != End::Waiting);
}

/// Stores an end before the task was done: all calls get results, and the turn can be resumed.
fn ended(inner: &Inner, live: &Live, end: &End, pictures: Option<Entry>) -> Result<(), Error> {
    let (batch, results) = repair::repaired(inner, live, Batch::new())?;
    let batch = results.iter().chain(&pictures).fold(batch, |batch, entry| batch.message(entry.body()));
    let batch = batch.unfinished(true);
    let id = live.id.as_str();
    let batch = match end {
        End::Failed { code, problem } => {
            let batch = batch.state(ConversationState::Error);
            batch.event(ERROR, error(id, code, problem))
        }
        End::MaxSteps(most) => {
            let problem = format!("the run has reached agent.max_steps ({most}); resume it to continue");
            batch.state(ConversationState::Idle).event(ERROR, error(id, "CONFLICT", &problem))
        }
        _ => {
            let batch = batch.state(ConversationState::Idle);
            let batch = match live.interrupted() {
                Some(Interrupted::Ending) => {
                    let event = AgentEvent::system("Interrupted: the server is stopping. Resume to continue.");
                    batch.event(AGENT_EVENT, event.into_value())
                }
                _ => batch,
            };
            batch.event(COMPLETE, complete(id, false, true))
        }
    };
    live.commit(&inner.store, batch).map(drop)
}
