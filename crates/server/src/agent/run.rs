//! The life of a run: its thread, its place among the others, its end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::agents::Inner;
use super::events::{AGENT_EVENT, AgentEvent, COMPLETE, ERROR, complete, error};
use super::feed::Entry as FeedEntry;
use super::live::{Interrupted, Live};
use super::messages::Entry;
use super::routine::RoutineRun;
use super::settings::Settings;
use super::slots::{MOST_RUNS, Slot};
use super::turn::{End, SHORT, Turn};
use super::{Error, WRITE, compile, repair};
use crate::store::{Batch, ConversationState};
use cdpilot::code::Code;
use cdpilot::sync::{Deadline, spawn};

/// Time limit for closing the tabs of an idle conversation.
const CLOSE: Duration = Duration::from_secs(10);
/// How long a run waits for its place at once.
const QUEUED: Duration = Duration::from_secs(3600);

/// Begins a run: stores the changes that `changes` returns, and starts its thread. Returns the id of the last event before.
pub(super) fn begin(
    inner: &Arc<Inner>,
    live: &Arc<Live>,
    changes: impl FnOnce(&Live) -> Result<Batch, Error>,
) -> Result<u64, Error> {
    let was_at_rest = live.begin()?;
    let mut begun_run = Ending { live, at_rest: was_at_rest, is_over: false };
    let begun = match inner.is_ending() {
        true => Err(Error::Ending),
        false => changes(live).and_then(|batch| live.commit(&inner.store, batch)),
    };
    let committed = begun?;
    begun_run.is_over = true; // the thread ends the run
    let cancel = live.cancel();
    let short: String = live.id.chars().take(SHORT).collect();
    let (thread_inner, thread_live) = (Arc::clone(inner), Arc::clone(live));
    match spawn(format!("agent-{short}"), move || body(&thread_inner, &thread_live)) {
        Ok(thread) => live.set_thread(&cancel, thread),
        Err(problem) => {
            let error = Error::Thread { problem: problem.to_string() };
            finish(inner, live, failed(&error), None);
            return Err(error);
        }
    }
    Ok(committed.first_event - 1)
}

/// Ends a run when it is dropped, also after a panic, unless it is over already.
struct Ending<'l> {
    live: &'l Live,
    at_rest: bool,
    is_over: bool,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.live.end(self.at_rest);
        }
    }
}

fn body(inner: &Inner, live: &Live) {
    let mut ending = Ending { live, at_rest: true, is_over: false };
    let run = catch_unwind(AssertUnwindSafe(|| match slot(inner, live) {
        None => (End::Interrupted, None),
        Some(slot) => turn(inner, live, slot),
    }));
    let (end, pictures) = run.unwrap_or_else(|_| {
        let problem = "an internal error ended the run; resume it or send a message".to_owned();
        (End::Failed { code: Code::Internal, problem }, None)
    });
    ending.at_rest = end != End::Waiting;
    finish(inner, live, end, pictures);
    ending.is_over = true;
}

/// Waits for a place among the runs; `None` when the run is interrupted.
pub(super) fn slot<'i>(inner: &'i Inner, live: &Live) -> Option<Slot<'i>> {
    let cancel = live.cancel();
    let mut is_reported = false;
    let slot = loop {
        let queued = || {
            live.set_queued(true);
            if !std::mem::replace(&mut is_reported, true) {
                let text =
                    format!("Queued: {MOST_RUNS} conversations are running. This one starts when one of them ends.");
                report(inner, live, &text);
            }
        };
        let slot = inner.slots.take(Deadline::after(QUEUED).cancelled_by(&cancel), queued);
        if slot.is_some() || cancel.is_set() {
            break slot;
        }
    };
    live.set_queued(false);
    slot
}

/// Runs a turn. Returns its end, and the images of results that the model did not get yet.
fn turn<'i>(inner: &'i Inner, live: &'i Live, slot: Slot<'i>) -> (End, Option<Entry>) {
    make_room(inner, live);
    let mut turn = match Turn::load(inner, live, slot) {
        Ok(turn) => turn,
        Err(error) => return (failed(&error), None),
    };
    let end = turn.run().unwrap_or_else(|error| failed(&error));
    turn.end_routine(&end);
    let is_verified = end == End::Finished && turn.routine.as_ref().is_some_and(RoutineRun::is_verified);
    let pictures = turn.take_pictures();
    drop(turn);
    // Nobody goes on with it: its pages are of no more use.
    if is_verified && let Some(session) = live.take_session() {
        inner.control.close_session(&session, Deadline::after(CLOSE));
    }
    (end, pictures)
}

/// Closes the tabs of the conversations that have been idle for the longest time while the browser has no room for another tab.
/// A conversation that has tabs needs no room.
pub(super) fn make_room(inner: &Inner, live: &Live) {
    if live.has_used_session() {
        return;
    }
    let stored = inner.store.conversation(&live.id, Deadline::after(WRITE)).ok().flatten();
    let settings = stored.and_then(|stored| Settings::read(&stored).ok());
    let profile = settings.and_then(|settings| inner.control.profile(settings.profile.as_deref()).ok());
    let Some(profile) = profile else { return };
    while profile.is_full() {
        let Some(oldest) = inner.longest_idle() else { return };
        let Some(session) = oldest.take_session() else { continue };
        inner.control.close_session(&session, Deadline::after(CLOSE));
        report(inner, &oldest, "The tabs were closed to make room for another conversation.");
    }
}

fn failed(error: &Error) -> End {
    End::Failed { code: error.kind(), problem: error.to_string() }
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
        End::Interrupted | End::Failed { .. } | End::MaxSteps(_) | End::Routine(_) => {
            ended(inner, live, &end, pictures)
        }
    };
    if let Err(problem) = stored {
        tracing::warn!(conversation = %live.id, %problem, "the end of a run could not be stored");
        let (code, problem) = (problem.kind(), format!("the end of the run could not be stored: {problem}"));
        live.feed.publish([FeedEntry::Unstored(Arc::new(error(&live.id, code.as_str(), &problem)))]);
    }
    live.end(end != End::Waiting);
    if end == End::Waiting {
        inner.waits(&live.id);
    }
}

/// Stores an end before the task was done: all calls get results, and the turn can be resumed.
fn ended(inner: &Inner, live: &Live, end: &End, pictures: Option<Entry>) -> Result<(), Error> {
    let (batch, results) = repair::repaired(inner, live, Batch::new())?;
    let batch = results.iter().chain(&pictures).fold(batch, |batch, entry| batch.message(entry.body()));
    let batch = batch.unfinished(true);
    let batch = match compile::ended(inner, live, end) {
        Some((recording, state)) => batch.compilation(recording, state),
        None => batch,
    };
    let id = live.id.as_str();
    let batch = match end {
        End::Failed { code, problem } => {
            let batch = batch.state(ConversationState::Error);
            batch.event(ERROR, error(id, code.as_str(), problem))
        }
        End::Routine(ending) => {
            let batch = batch.state(ConversationState::Error);
            batch.event(ERROR, error(id, ending.code, &ending.problem))
        }
        End::MaxSteps(most) => {
            let problem = format!("the run has reached agent.max_steps ({most}); resume it to continue");
            batch.state(ConversationState::Idle).event(ERROR, error(id, Code::Conflict.as_str(), &problem))
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
