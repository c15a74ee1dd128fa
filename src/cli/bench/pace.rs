//! How fast calls, events and dialogs go.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::super::failure::Failure;
use super::row::{Rows, Unit};
use super::{Part, Run};
use crate::supervisor::{self, DialogAnswer, DialogPolicy, FrameRef, LogEvent, Supervisor};
use crate::sync::{Deadline, spawn};

const SUM: &str = "1 + 1";
/// Calls before anything is measured.
const WARM_UP: usize = 50;
/// Threads of the parallel workload.
const THREADS: usize = 8;
/// Console messages of one script.
const MESSAGES: usize = 1000;
/// Dialogs of one script.
const DIALOGS: usize = 50;

fn evaluate(supervisor: &Supervisor, script: &str, deadline: Deadline) -> Result<(), Failure> {
    supervisor.evaluate(&FrameRef::Top, script, deadline)?;
    Ok(())
}

fn rate(count: usize, began: Instant) -> f64 {
    count as f64 / began.elapsed().as_secs_f64().max(1e-9)
}

/// Pieces of a count, as ranges.
fn pieces(count: usize, size: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..count).step_by(size).map(move |from| from..count.min(from + size))
}

pub(super) fn calls(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let supervisor = run.rig.supervisor(DialogPolicy::default(), run.watch)?;
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
    rows.add_known(part, ("call_page", "a script in a page, one after the other"), Unit::Micros, page);
    rows.add_known(part, ("call_browser", "the browser itself, one after the other"), Unit::Micros, browser);
    let name = format!("scripts, {depth} under way from one thread");
    rows.add_known(part, ("calls_in_flight", name), Unit::PerSecond, deep);
    let name = format!("scripts, {THREADS} threads with one each");
    rows.add_known(part, ("calls_threads", name), Unit::PerSecond, parallel);
    Ok(())
}

/// Many calls under way from one thread. Calls of the supervisor wait, so these go beside it.
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
    let refused = |problem: std::io::Error| Failure::internal(format!("the system refuses a thread: {problem}"));
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
    let supervisor = run.rig.supervisor(DialogPolicy::default(), run.watch)?;
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
        // The answer to a script comes behind its messages.
        let each = rate(count, began);
        let received = supervisor.connection().counters().events - received;
        came.push((received >= count as u64).then_some(each));
        // The newest message is always kept, so the log has seen the others once it is there.
        let last = format!("the end of round {round}");
        evaluate(&supervisor, &format!("console.log('{last}')"), run.watch.soon())?;
        let there = supervisor.wait_until(run.watch.soon(), |now| now.console.last().is_some_and(|c| *c.text == last));
        let grown = there.map(|_| supervisor.log().last() - first - 1);
        logged.push(grown.map(|grown| (grown as f64 / count as f64 * 100.0).min(100.0)));
    }
    let part = Part::Events;
    rows.add(part, ("events", "a flood of console messages"), Unit::PerSecond, came);
    rows.add(part, ("events_logged", "of them in the event log, the rest left out"), Unit::Percent, logged);
    Ok(())
}

pub(super) fn dialogs(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let mut rates = [Vec::new(), Vec::new()];
    for (by_hand, rates) in [false, true].into_iter().zip(&mut rates) {
        let policy = if by_hand { DialogPolicy::MustRespond } else { DialogPolicy::AutoAccept };
        let supervisor = run.rig.supervisor(policy, run.watch)?;
        for round in 0..run.plan.rounds {
            run.step(if by_hand { "dialogs by hand" } else { "dialogs by the policy" }, round, run.plan.rounds)?;
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
    rows.add_known(Part::Dialogs, ("dialogs_hand", "seen in the event log and answered"), Unit::PerSecond, hand);
    Ok(())
}

/// Follows the event log, as a program would, and answers so many dialogs.
fn answer(run: &Run<'_>, supervisor: &Supervisor, count: usize, seen: &mut u64) -> Result<(), Failure> {
    let mut answered = 0;
    while answered < count {
        run.watch.check()?;
        let tail = supervisor.log().wait_since(*seen, MESSAGES, run.watch.soon());
        if tail.entries.is_empty() {
            return Err(Failure::new("TIMEOUT", "a dialog did not open"));
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
