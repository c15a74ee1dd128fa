//! Workloads with small calls. Larger ones are in [`bulk`].

use std::collections::VecDeque;
use std::time::Duration;

use cdpilot::cdp::protocol::runtime;
use cdpilot::cdp::{Latency, Session};
use cdpilot::sync::spawn;
use serde_json::json;

use crate::lane::{Contestant, Lane, compare, patience, rounds};
use crate::measure::{Sample, measure};
use crate::table::{Goal, Row};
use crate::{Result, bulk, calls};

type Workload = fn(&Lane, bool) -> Result<Vec<Row>>;

pub(crate) const ALL: [(&str, Workload); 8] = [
    ("sequential", sequential),
    ("calls", calls::calls),
    ("in flight", in_flight),
    ("threads", threads),
    ("flood", bulk::flood),
    ("large", bulk::large),
    ("screenshot", bulk::screenshot),
    ("attach", bulk::attach),
];

pub(crate) const EVALUATE: &str = "Runtime.evaluate";
pub(crate) const SUM: &str = r#"{"expression":"1+1"}"#;

pub(crate) fn rate(count: usize) -> impl Fn(Duration) -> f64 {
    move |time| count as f64 / time.as_secs_f64()
}

fn typed(session: &Session) -> Result<()> {
    session.call(&runtime::Evaluate::new("1+1"), patience())?;
    Ok(())
}

fn untyped(session: &Session) -> Result<()> {
    session.call_raw(EVALUATE, &json!({"expression": "1+1"}), patience())?;
    Ok(())
}

/// One call after the other.
fn sequential(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    let (count, turns) = if quick { (100, 9) } else { (150, 31) };
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    let raw = |spin: bool| -> Contestant<'_> {
        Box::new(move || {
            lane.raw(|raw, session| {
                let request = raw.request(EVALUATE, SUM, Some(session));
                raw.spin(spin)?;
                let mut run = |count: usize| -> Result<()> {
                    for _ in 0..count {
                        let id = raw.send(&request)?;
                        raw.wait(id)?;
                    }
                    Ok(())
                };
                run(50)?;
                measure(each, || run(count))
            })
        })
    };
    let ours = |latency: Latency, call: fn(&Session) -> Result<()>| -> Contestant<'_> {
        Box::new(move || {
            lane.ours(latency, |session| {
                (0..50).try_for_each(|_| call(session))?;
                measure(each, || (0..count).try_for_each(|_| call(session)))
            })
        })
    };
    let samples = rounds(
        turns,
        &mut [
            raw(false),
            raw(true),
            ours(Latency::Quiet, typed),
            ours(Latency::Balanced, typed),
            ours(Latency::Balanced, untyped),
            ours(Latency::Low, typed),
        ],
    )?;
    let [blocking, spinning, quiet, balanced, balanced_untyped, low] = &samples[..] else { return Ok(Vec::new()) };
    let time =
        |name: &str, raw, ours, goal| Row::new(name, lane.name, compare(raw, ours, |s: &Sample| s.value), "µs", goal);
    let cost = |name: &str, ours| {
        let figures = compare(blocking, ours, |s: &Sample| s.cpu * 1e3 / count as f64);
        Row::new(name, lane.name, figures, "ms CPU/1k", Goal::Told)
    };
    Ok(vec![
        time("sequential, quiet", blocking, quiet, Goal::Told),
        time("sequential, balanced", blocking, balanced, Goal::AtMost(1.0)),
        time("sequential, balanced, untyped", blocking, balanced_untyped, Goal::AtMost(1.0)),
        time("sequential, low", blocking, low, Goal::AtMost(0.65)),
        time("sequential, low (raw: spin)", spinning, low, Goal::AtMost(1.15)),
        cost("sequential, quiet", quiet),
        cost("sequential, balanced", balanced),
        cost("sequential, low", low),
        cost("sequential, raw: spin", spinning),
    ])
}

fn raw_pipeline(lane: &Lane, depth: usize, count: usize) -> Contestant<'_> {
    Box::new(move || {
        lane.raw(|raw, session| {
            let request = raw.request(EVALUATE, SUM, Some(session));
            raw.pipeline(&request, depth, count / 10)?;
            measure(rate(count), || raw.pipeline(&request, depth, count))
        })
    })
}

fn throughput(lane: &Lane, name: &str, samples: &[Vec<Sample>], count: usize, goals: (f64, Goal)) -> Vec<Row> {
    let [raw, ours] = samples else { return Vec::new() };
    let calls = compare(raw, ours, |s| s.value);
    let cpu = compare(raw, ours, |s| s.cpu * 1e3 / count as f64);
    vec![
        Row::new(name, lane.name, calls, "calls/s", Goal::AtLeast(goals.0)),
        Row::new(name, lane.name, cpu, "ms CPU/1k", goals.1),
    ]
}

/// 64 calls in flight from one thread.
fn in_flight(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    const DEPTH: usize = 64;
    let (count, turns) = if quick { (3_000, 3) } else { (10_000, 9) };
    let run = |session: &Session, count: usize| -> Result<()> {
        let command = runtime::Evaluate::new("1+1");
        let mut under_way = VecDeque::with_capacity(DEPTH);
        for _ in 0..count {
            if under_way.len() == DEPTH
                && let Some(oldest) = under_way.pop_front()
            {
                cdpilot::cdp::Reply::wait(oldest, patience())?;
            }
            under_way.push_back(session.send(&command)?);
        }
        for reply in under_way {
            reply.wait(patience())?;
        }
        Ok(())
    };
    let ours: Contestant<'_> = Box::new(|| {
        lane.ours(Latency::Balanced, |session| {
            run(session, count / 10)?;
            measure(rate(count), || run(session, count))
        })
    });
    let samples = rounds(turns, &mut [raw_pipeline(lane, DEPTH, count), ours])?;
    Ok(throughput(lane, "64 in flight, 1 thread", &samples, count, (0.9, Goal::Below(4.0))))
}

/// Eight threads on one connection, each with one call after the other.
fn threads(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    const THREADS: usize = 8;
    let (count, turns) = if quick { (2_400, 3) } else { (8_000, 9) };
    let run = |session: &Session, count: usize| -> Result<()> {
        let (send, ended) = crossbeam_channel::bounded(THREADS);
        let mut all = Vec::new();
        for number in 0..THREADS {
            let (session, send) = (session.clone(), send.clone());
            all.push(spawn(format!("bench-{number}"), move || {
                let _ = send.send((0..count / THREADS).try_for_each(|_| typed(&session)));
            })?);
        }
        all.into_iter().for_each(cdpilot::sync::Thread::join);
        ended.try_iter().collect()
    };
    let ours: Contestant<'_> = Box::new(|| {
        lane.ours(Latency::Balanced, |session| {
            run(session, count / 10)?;
            measure(rate(count), || run(session, count))
        })
    });
    let samples = rounds(turns, &mut [raw_pipeline(lane, THREADS, count), ours])?;
    // The best other client measured reaches 0.84 of such a loop.
    Ok(throughput(lane, "8 in flight, 8 threads", &samples, count, (0.95, Goal::Told)))
}
