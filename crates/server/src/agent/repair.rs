//! Results for calls that were interrupted: a model gets no call without its result.

use serde_json::{Value, json};

use super::agents::Inner;
use super::events::{AGENT_EVENT, AgentEvent};
use super::live::Live;
use super::messages::{Entry, unanswered};
use super::{Error, WRITE};
use crate::llm::{Message, Role, ToolCall};
use crate::store::{Batch, Intent, IntentOutcome};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// How many messages at the end are read at first; more if no answer of the model is among them.
const TAIL: u64 = 64;

/// Adds to a batch what ends the calls without a result. Returns the results, which are to be appended first.
pub(super) fn repaired(inner: &Inner, live: &Live, batch: Batch) -> Result<(Batch, Vec<Entry>), Error> {
    let deadline = || Deadline::after(WRITE);
    let count = inner.store.conversation(&live.id, deadline())?.map_or(0, |found| found.message_count);
    let mut length = TAIL;
    let tail = loop {
        let from = count.saturating_sub(length) + 1;
        let tail = inner.store.messages(&live.id, from, usize::MAX, deadline())?;
        let tail: Vec<Message> = tail.iter().map(|stored| Entry::read(&stored.body, |_| None).message).collect();
        if from == 1 || tail.iter().any(|message| message.role == Role::Assistant) {
            break tail;
        }
        length *= 4;
    };
    let open = inner.store.open_intents(&live.id, deadline())?;
    Ok(ended(batch, &unanswered(tail.iter()), &open))
}

/// Adds to a batch the events of these calls, and closes all open intents.
pub(super) fn ended(batch: Batch, calls: &[ToolCall], open: &[Intent]) -> (Batch, Vec<Entry>) {
    let mut batch = batch;
    for intent in open {
        batch = batch.close_intent(&*intent.call_id, IntentOutcome::Unknown);
    }
    let mut results = Vec::new();
    for call in calls {
        let result = if open.iter().any(|intent| intent.call_id == call.id) { interrupted() } else { not_started() };
        let event = AgentEvent::observation(&call.function.name, &call.id, &result);
        batch = batch.event(AGENT_EVENT, event.into_value());
        results.push(Entry::result(call, &result));
    }
    (batch, results)
}

fn interrupted() -> Value {
    failed("interrupted: not known whether it was done; look at the page before you repeat it")
}

/// The result of a call that was not made.
pub(super) fn not_started() -> Value {
    failed("not started; call it again if it is still needed")
}

fn failed(error: &str) -> Value {
    json!({ "success": false, "error": error, "code": Code::Interrupted })
}
