//! Speed of calls, events and dialogs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::super::failure::Failure;
use super::row::{Rows, Unit};
use super::{Part, Run};
use crate::code::Code;
use crate::supervisor::{self, DialogAnswer, DialogPolicy, FrameRef, LogEvent, Supervisor};
use crate::sync::{Deadline, spawn};

const SUM: &str = "1 + 1";
/// Calls before the measurement.
const WARM_UP: usize = 50;
/// Threads of the parallel measurement.
const THREADS: usize = 8;
/// Console messages per script.
const MESSAGES: usize = 1000;
/// Dialogs per script.
const DIALOGS: usize = 50;

fn evaluate(supervisor: &Supervisor, script: &str, deadline: Deadline<'_>) -> Result<(), Failure> {
    supervisor.evaluate(&FrameRef::Top, script, deadline)?;
    Ok(())
}

fn rate(count: usize, began: Instant) -> f64 {
    count as f64 / began.elapsed().as_secs_f64().max(1e-9)
}

/// Splits `0..count` into ranges of `size`.
fn pieces(count: usize, size: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..count).step_by(size).map(move |from| from..count.min(from + size))
}

pub(super) fn calls(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let supervisor = run.browsers.supervisor(DialogPolicy::default(), run.watch)?;
    let (count, depth) = (run.plan.calls, run.plan.in_flight);
    for _ in 0..WARM_UP {
        run.watch.check()?;
        evaluate(&supervisor, SUM, run.watch.soon())?;
    }
    let (mut page, mut browser, mut deep, mut parallel) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..run.plan.rounds {
        run.step("calls", round, run.plan.rounds)?;
        let micros = |began: Instant| began.elapsed().as_secs_f64() * 1e6 / count as f64;
        let began = Instant::now();
        for _ in 0..count {
            run.watch.check()?;
            evaluate(&supervisor, SUM, run.watch.soon())?;
        }
        page.push(micros(began));
        let connection = supervisor.connection();
        let began = Instant::now();
        for _ in 0..count {
            run.watch.check()?;
            let asked = connection.call_raw("Browser.getVersion", &json!({}), run.watch.soon());
            asked.map_err(supervisor::Error::from)?;
        }
        browser.push(micros(began));
        deep.push(in_flight(run, &supervisor, depth, count)?);
        parallel.push(threads(run, &supervisor, count)?);
    }
    let part = Part::Calls;
    rows.add_known(part, ("call_page", "script in a page, sequential"), Unit::Micros, page);
    rows.add_known(part, ("call_browser", "browser-level call, sequential"), Unit::Micros, browser);
    let name = format!("scripts, {depth} concurrent from one thread");
    rows.add_known(part, ("calls_in_flight", name), Unit::PerSecond, deep);
    let name = format!("scripts, {THREADS} threads in parallel");
    rows.add_known(part, ("calls_threads", name), Unit::PerSecond, parallel);
    Ok(())
}

/// Concurrent calls from one thread. They use the connection, since calls of the supervisor block.
fn in_flight(run: &Run<'_>, supervisor: &Supervisor, depth: usize, count: usize) -> Result<f64, Failure> {
    let now = supervisor.view();
    let top = now.pages.first().and_then(|page| page.top_frame.as_ref());
    let session = top.and_then(|top| now.frame(top.as_str())).and_then(|frame| frame.session_id.clone());
    let session = session.ok_or_else(|| Failure::from(supervisor::Error::NoPage))?;
    let session = supervisor.connection().session(session);
    let params = json!({ "expression": SUM });
    let mut under_way = VecDeque::new();
    let began = Instant::now();
    for _ in 0..count {
        under_way.push_back(session.send_raw("Runtime.evaluate", &params).map_err(supervisor::Error::from)?);
        if under_way.len() == depth
            && let Some(oldest) = under_way.pop_front()
        {
            run.watch.check()?;
            oldest.wait_raw(run.watch.soon()).map_err(supervisor::Error::from)?;
        }
    }
    for reply in under_way {
        reply.wait_raw(run.watch.soon()).map_err(supervisor::Error::from)?;
    }
    Ok(rate(count, began))
}

/// Calls from several threads.
fn threads(run: &Run<'_>, supervisor: &Arc<Supervisor>, count: usize) -> Result<f64, Failure> {
    let refused = |problem: std::io::Error| Failure::internal(format!("cannot start a thread: {problem}"));
    let (send, ended) = crossbeam_channel::bounded(THREADS);
    let (each, deadline) = (count.div_ceil(THREADS), run.watch.soon());
    let began = Instant::now();
    let all = (1..=THREADS).map(|number| {
        let (supervisor, send) = (Arc::clone(supervisor), send.clone());
        spawn(format!("cli-bench-{number}"), move || {
            let _ = send.send((0..each).try_for_each(|_| evaluate(&supervisor, SUM, deadline)));
        })
    });
    let all = all.collect::<std::io::Result<Vec<_>>>().map_err(refused)?;
    all.into_iter().for_each(crate::sync::Thread::join);
    ended.try_iter().collect::<Result<(), _>>()?;
    Ok(rate(each * THREADS, began))
}

pub(super) fn events(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let supervisor = run.browsers.supervisor(DialogPolicy::default(), run.watch)?;
    let count = run.plan.events;
    let (mut came, mut logged) = (Vec::new(), Vec::new());
    for round in 0..run.plan.rounds {
        run.step("events", round, run.plan.rounds)?;
        let (first, received) = (supervisor.log().last(), supervisor.connection().counters().events);
        let began = Instant::now();
        for piece in pieces(count, MESSAGES) {
            run.watch.check()?;
            let script = format!("for (let i = {}; i < {}; i++) console.log(i)", piece.start, piece.end);
            evaluate(&supervisor, &script, run.watch.soon())?;
        }
        // The answer to a script arrives after its messages.
        let each = rate(count, began);
        let received = supervisor.connection().counters().events - received;
        came.push((received >= count as u64).then_some(each));
        // The newest message is always kept: once it is there, the log has seen all others.
        let last = format!("the end of round {round}");
        evaluate(&supervisor, &format!("console.log('{last}')"), run.watch.soon())?;
        let there = supervisor.wait_until(run.watch.soon(), |now| now.console.last().is_some_and(|c| *c.text == last));
        let grown = there.map(|_| supervisor.log().last() - first - 1);
        logged.push(grown.map(|grown| (grown as f64 / count as f64 * 100.0).min(100.0)));
    }
    let part = Part::Events;
    rows.add(part, ("events", "console messages"), Unit::PerSecond, came);
    rows.add(part, ("events_logged", "share of them in the event log"), Unit::Percent, logged);
    Ok(())
}

pub(super) fn dialogs(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let mut rates = [Vec::new(), Vec::new()];
    for (by_hand, rates) in [false, true].into_iter().zip(&mut rates) {
        let policy = if by_hand { DialogPolicy::MustRespond } else { DialogPolicy::AutoAccept };
        let supervisor = run.browsers.supervisor(policy, run.watch)?;
        for round in 0..run.plan.rounds {
            run.step(
                if by_hand { "dialogs, answered one by one" } else { "dialogs, answered by the policy" },
                round,
                run.plan.rounds,
            )?;
            let mut seen = supervisor.log().last();
            let began = Instant::now();
            for piece in pieces(run.plan.dialogs, DIALOGS) {
                run.watch.check()?;
                let script = format!("for (let i = {}; i < {}; i++) confirm(i)", piece.start, piece.end);
                if by_hand {
                    supervisor.start_script(&FrameRef::Top, &script)?;
                    answer(run, &supervisor, piece.len(), &mut seen)?;
                } else {
                    evaluate(&supervisor, &script, run.watch.soon())?;
                }
            }
            rates.push(rate(run.plan.dialogs, began));
        }
    }
    let [policy, hand] = rates;
    rows.add_known(Part::Dialogs, ("dialogs_policy", "accepted by the policy"), Unit::PerSecond, policy);
    rows.add_known(Part::Dialogs, ("dialogs_hand", "answered one by one from the event log"), Unit::PerSecond, hand);
    Ok(())
}

/// Follows the event log and answers `count` dialogs.
fn answer(run: &Run<'_>, supervisor: &Supervisor, count: usize, seen: &mut u64) -> Result<(), Failure> {
    let mut answered = 0;
    while answered < count {
        run.watch.check()?;
        let tail = supervisor.log().wait_since(*seen, MESSAGES, run.watch.soon());
        if tail.entries.is_empty() {
            return Err(Failure::new(Code::Timeout, "a dialog did not open in time; allow more with --timeout"));
        }
        for entry in tail.entries {
            *seen = entry.seq;
            if let LogEvent::DialogOpened(dialog) = &*entry.event {
                supervisor.respond(Some(&*dialog.id), DialogAnswer::Dismiss, run.watch.soon())?;
                answered += 1;
            }
        }
    }
    Ok(())
}
