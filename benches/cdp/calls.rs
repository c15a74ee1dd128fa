//! Workloads with the calls that users of the crate make: scripts through a supervisor, a tab and a page.

use std::sync::Arc;
use std::time::Duration;

use cdpilot::cdp::Latency;
use cdpilot::cdp::protocol::runtime::{CallFunctionOn, Evaluate, RemoteObjectId};
use cdpilot::page::Tabs;
use cdpilot::supervisor::{FrameRef, Supervisor};
use cdpilot::{Browser, BrowserOptions, Page};
use serde_json::{Value, json};

use crate::Result;
use crate::lane::{Contestant, Lane, compare, patience, rounds};
use crate::measure::{Sample, measure};
use crate::table::{Goal, Row};
use crate::workloads::{EVALUATE, SUM};

const OBJECT: &str = "({a:1,b:[true,null,'text']})";
const RAW_OBJECT: &str = r#"{"expression":"({a:1,b:[true,null,'text']})","returnByValue":true}"#;
/// Calls before the measurement.
const WARM_UP: usize = 50;

/// One round of a contestant: so many calls in a row.
#[derive(Clone, Copy)]
struct Run {
    count: usize,
}

impl Run {
    fn sample(self, mut call: impl FnMut() -> Result<()>) -> Result<Sample> {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / self.count as f64;
        (0..WARM_UP).try_for_each(|_| call())?;
        measure(each, || (0..self.count).try_for_each(|_| call()))
    }

    fn raw<'a>(self, lane: &'a Lane, params: &'static str, spin: bool) -> Contestant<'a> {
        Box::new(move || {
            lane.raw(|raw, session| {
                let request = raw.request(EVALUATE, params, Some(session));
                raw.spin(spin)?;
                self.sample(|| {
                    let id = raw.send(&request)?;
                    raw.wait(id).map(drop)
                })
            })
        })
    }

    fn supervisor<'a>(self, lane: &'a Lane, latency: Latency, script: &'static str, expected: Value) -> Contestant<'a> {
        Box::new(move || {
            lane.supervised(latency, |supervisor| {
                self.sample(|| is(&supervisor.evaluate(&FrameRef::Top, script, patience())?.value, &expected))
            })
        })
    }

    fn function(self, lane: &Lane) -> Contestant<'_> {
        Box::new(move || {
            lane.supervised(Latency::Balanced, |supervisor| {
                let mut call = CallFunctionOn::new("function() { return 1 + 1; }");
                call.object_id = Some(window(supervisor)?);
                call.await_promise = Some(true);
                self.sample(|| is(&supervisor.call_function(&FrameRef::Top, &call, patience())?.value, &json!(2)))
            })
        })
    }

    fn tab<'a>(self, lane: &'a Lane, script: &'static str, expected: Value) -> Contestant<'a> {
        Box::new(move || {
            lane.supervised(Latency::Balanced, |supervisor| {
                let target = supervisor.view().pages.first().map(|page| page.target_id.clone()).ok_or("no page")?;
                let tab = Tabs::new(Arc::clone(supervisor)).tab(&target)?;
                self.sample(|| is(&tab.evaluate(script, None, patience())?.value, &expected))
            })
        })
    }

    /// Only an address can be attached to, so there is no such contestant over a pipe.
    fn page<'a>(self, lane: &'a Lane, address: &'a str) -> Contestant<'a> {
        Box::new(move || {
            let browser = Browser::attach_with(address, BrowserOptions::new().pages(lane.pages()))?;
            let page: Page = browser.page()?;
            self.sample(|| is(&page.evaluate("1+1")?, &json!(2)))
        })
    }
}

fn is(value: &Value, expected: &Value) -> Result<()> {
    if value == expected { Ok(()) } else { Err(format!("{value} instead of {expected}").into()) }
}

fn window(supervisor: &Supervisor) -> Result<RemoteObjectId> {
    let found = supervisor.call(&FrameRef::Top, &Evaluate::new("window"), patience())?;
    Ok(found.result.result.object_id.ok_or("no window")?)
}

/// One script after the other, through a supervisor, a tab and a page.
pub(crate) fn calls(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    let (count, turns) = if quick { (100, 9) } else { (150, 31) };
    let run = Run { count };
    let object = || json!({"a": 1, "b": [true, null, "text"]});
    let mut contestants = vec![
        run.raw(lane, SUM, false),
        run.raw(lane, RAW_OBJECT, false),
        run.supervisor(lane, Latency::Balanced, "1+1", json!(2)),
        run.supervisor(lane, Latency::Balanced, OBJECT, object()),
        run.supervisor(lane, Latency::Quiet, "1+1", json!(2)),
        run.supervisor(lane, Latency::Low, "1+1", json!(2)),
        run.function(lane),
        run.tab(lane, "1+1", json!(2)),
        run.tab(lane, OBJECT, object()),
    ];
    if let Some(address) = lane.address() {
        contestants.push(run.page(lane, address));
    }
    let samples = rounds(turns, &mut contestants)?;
    let [raw, raw_object, ours @ ..] = &samples[..] else { return Ok(Vec::new()) };
    let primitive = Goal::AtMost(1.15);
    let cases = [
        ("Supervisor::evaluate", raw, primitive),
        ("Supervisor::evaluate, object", raw_object, Goal::AtMost(1.3)),
        ("Supervisor::evaluate, quiet", raw, Goal::Told),
        ("Supervisor::evaluate, low", raw, Goal::AtMost(0.65)),
        ("Supervisor::call_function", raw, primitive),
        ("Tab::evaluate", raw, primitive),
        ("Tab::evaluate, object", raw_object, Goal::AtMost(1.3)),
        ("Page::evaluate", raw, primitive),
    ];
    let mut rows = Vec::new();
    for ((name, raw, goal), ours) in cases.into_iter().zip(ours) {
        rows.push(Row::new(name, lane.name, compare(raw, ours, |s| s.value), "µs", goal));
        let cost = compare(raw, ours, |s| s.cpu * 1e3 / count as f64);
        rows.push(Row::new(name, lane.name, cost, "ms CPU/1k", Goal::Told));
    }
    Ok(rows)
}
