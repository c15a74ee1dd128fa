//! Time that scripts which the page started have taken, measured while the page is blocked.
//!
//! Chromium answers `Performance.getMetrics` during a script. `ScriptDuration` grows while a script runs that the page started: a
//! timer, a listener, a script element. It does not grow for a script of a CDP client, nor for reactions of promises.
//!
//! It also grows while a script of a CDP client calls a listener of the page (`element.click()`). A page that is stuck
//! in a reaction of a promise is rescued at the deadline of the call.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::cdp::{CallOptions, Connection, RawReply, Reply};
use crate::sync::Deadline;

/// Part of the time between two measurements that scripts of the page must have taken if one of them blocks it.
const BLOCKED_SHARE: f64 = 0.95;

/// Two measurements of one page.
#[derive(Default)]
pub(super) struct PageScripts {
    reply: Option<Reply<RawReply>>,
    first: Option<Sample>,
    second: Option<Sample>,
}

/// Seconds.
#[derive(Clone, Copy)]
struct Sample {
    at: f64,
    scripts: f64,
}

impl PageScripts {
    /// Begins to measure the scripts of a session. The answer is not waited for.
    pub(super) fn enable(connection: &Connection, session: &Arc<str>, deadline: Deadline<'_>) {
        let options = CallOptions { session: Some(session), deadline, interruptible: false };
        drop(connection.send_with(Cow::Borrowed("Performance.enable"), &json!({}), options));
    }

    /// Takes the first measurement, and the second once it is `due`. Returns whether a script of the page has run all the time
    /// between them. Never waits.
    pub(super) fn block_the_page(
        &mut self,
        connection: &Connection,
        session: &Arc<str>,
        due: bool,
        deadline: Deadline<'_>,
    ) -> bool {
        if let Some(reply) = self.reply.take() {
            match reply.poll_raw(Deadline::after(std::time::Duration::ZERO)) {
                Ok(Ok(raw)) if self.first.is_none() => self.first = sample(&raw),
                Ok(Ok(raw)) => self.second = sample(&raw),
                Ok(Err(_)) => {}
                Err(reply) => self.reply = Some(reply),
            }
        }
        if let (Some(first), Some(second)) = (self.first, self.second) {
            let passed = second.at - first.at;
            return passed > 0.0 && second.scripts - first.scripts >= passed * BLOCKED_SHARE;
        }
        if self.reply.is_none() && (due || self.first.is_none()) {
            let options = CallOptions { session: Some(session), deadline, interruptible: false };
            self.reply = connection.send_with(Cow::Borrowed("Performance.getMetrics"), &json!({}), options).ok();
        }
        false
    }
}

fn sample(reply: &RawReply) -> Option<Sample> {
    #[derive(Deserialize)]
    struct Returns {
        metrics: Vec<Metric>,
    }
    #[derive(Deserialize)]
    struct Metric {
        name: String,
        value: f64,
    }
    let metrics = reply.decode::<Returns>().ok()?.metrics;
    let value = |name: &str| metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    Some(Sample { at: value("Timestamp")?, scripts: value("ScriptDuration")? })
}
