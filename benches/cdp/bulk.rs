//! Workloads with many events, large answers, many tabs.

use std::time::Duration;

use cdpilot::cdp::protocol::{page, runtime, target};
use cdpilot::cdp::{Capacity, Item, Latency, Session};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::Result;
use crate::lane::{Contestant, Lane, compare, patience, rounds};
use crate::measure::measure;
use crate::raw::{Raw, Request, field};
use crate::table::{Goal, Row};
use crate::workloads::{EVALUATE, rate};

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A page that logs continuously.
pub(crate) fn flood(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    const CHUNK: usize = 1_000;
    let (count, turns) = if quick { (20_000, 2) } else { (100_000, 3) };
    let script = |from: usize| format!("for(let i={from};i<{from}+{CHUNK};i++)console.log(i)");
    let raw: Contestant<'_> = Box::new(|| {
        lane.raw(|raw, session| {
            // Enabling replays earlier console messages.
            raw.call("Runtime.discardConsoleEntries", "{}", Some(session))?;
            raw.call("Runtime.enable", "{}", Some(session))?;
            measure(rate(count), || {
                for from in (0..count).step_by(CHUNK) {
                    let params = format!(r#"{{"expression":"{}"}}"#, script(from));
                    let request = raw.request(EVALUATE, &params, Some(session));
                    raw.queue(&request);
                }
                raw.flush()?;
                let mut seen = 0;
                while seen < count {
                    let message = raw.next()?;
                    seen += usize::from(raw.text(message).starts_with(br#"{"method":"Runtime.consoleAPICalled""#));
                }
                Ok(())
            })
        })
    });
    let mut dropped = 0;
    let ours: Contestant<'_> = Box::new(|| {
        lane.ours(Latency::Balanced, |session| {
            session.call_raw("Runtime.discardConsoleEntries", &json!({}), patience())?;
            let events = session.subscribe(&["Runtime.consoleAPICalled"], Capacity::of(8192));
            session.call(&runtime::Enable::new(), patience())?;
            measure(rate(count), || {
                for from in (0..count).step_by(CHUNK) {
                    session.send(&runtime::Evaluate::new(script(from)))?;
                }
                let mut seen = 0;
                while seen < count {
                    match events.next(patience())? {
                        Item::Event(_) => seen += 1,
                        Item::Lagged(lost) => {
                            let lost = usize::try_from(lost)?;
                            (seen, dropped) = (seen + lost, dropped + lost);
                        }
                    }
                }
                Ok(())
            })
        })
    });
    let samples = rounds(turns, &mut [raw, ours])?;
    let [raw, ours] = &samples[..] else { return Ok(Vec::new()) };
    let name = format!("flood of {count} events");
    let memory = compare(raw, ours, |s| s.memory);
    let lost = (0.0, dropped as f64 / turns as f64, f64::NAN);
    Ok(vec![
        Row::new(name.as_str(), lane.name, compare(raw, ours, |s| s.value), "events/s", Goal::AtLeast(0.98)),
        Row::new(name.as_str(), lane.name, compare(raw, ours, |s| s.cpu), "ms CPU", Goal::Told),
        Row::new(name.as_str(), lane.name, memory, "MiB peak", Goal::Below(10.0)),
        Row::new(name.as_str(), lane.name, lost, "dropped", Goal::Below(1.0)),
    ])
}

/// The suffix of the row's name, and the call.
type Call<'a> = (&'a str, &'a dyn Fn(&Session) -> Result<()>);

/// Runs one call many times, with the raw loop and with cdpilot; rows for time and processor time.
fn single(
    lane: &Lane,
    name: &str,
    (method, params): (&str, &str),
    (count, turns): (usize, usize),
    contestants: &[Call<'_>],
    (goal, cpu_goal): (Goal, Goal),
) -> Result<Vec<Row>> {
    const SCREEN: &str = r#"{"width":1280,"height":720,"deviceScaleFactor":1,"mobile":false}"#;
    const SET_SCREEN: &str = "Emulation.setDeviceMetricsOverride";
    let each = |time: Duration| millis(time) / count as f64;
    let mut all: Vec<Contestant<'_>> = vec![Box::new(|| {
        lane.raw(|raw, session| {
            raw.call(SET_SCREEN, SCREEN, Some(session))?;
            let request = raw.request(method, params, Some(session));
            let mut run = |count: usize| -> Result<()> {
                for _ in 0..count {
                    let id = raw.send(&request)?;
                    raw.wait(id)?;
                }
                Ok(())
            };
            run(1)?;
            measure(each, || run(count))
        })
    })];
    for (_, call) in contestants {
        all.push(Box::new(move || {
            lane.ours(Latency::Balanced, |session| {
                let screen: serde_json::Value = serde_json::from_str(SCREEN)?;
                session.call_raw(SET_SCREEN, &screen, patience())?;
                call(session)?;
                measure(each, || (0..count).try_for_each(|_| call(session)))
            })
        }));
    }
    let samples = rounds(turns, &mut all)?;
    let mut rows = Vec::new();
    for ((kind, _), ours) in contestants.iter().zip(&samples[1..]) {
        let name = format!("{name}{kind}");
        let cpu = compare(&samples[0], ours, |s| s.cpu / count as f64);
        rows.push(Row::new(name.as_str(), lane.name, compare(&samples[0], ours, |s| s.value), "ms", goal));
        rows.push(Row::new(name, lane.name, cpu, "ms CPU", cpu_goal));
    }
    Ok(rows)
}

/// An answer of 5 MB.
pub(crate) fn large(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    const EXPRESSION: &str = "'x'.repeat(5*1024*1024)";
    let params = format!(r#"{{"expression":"{EXPRESSION}"}}"#);
    let typed = |session: &Session| -> Result<()> {
        session.call(&runtime::Evaluate::new(EXPRESSION), patience())?;
        Ok(())
    };
    let untyped = |session: &Session| -> Result<()> {
        session.call_raw(EVALUATE, &json!({"expression": EXPRESSION}), patience())?;
        Ok(())
    };
    let size = if quick { (5, 3) } else { (10, 7) };
    // The best client measured takes 1.14 of the raw time.
    let goals = (Goal::AtMost(1.14), Goal::AtMost(2.0));
    single(lane, "5 MB answer", (EVALUATE, &params), size, &[("", &typed), (", untyped", &untyped)], goals)
}

/// A screenshot of the page.
pub(crate) fn screenshot(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    let take = |session: &Session| -> Result<()> {
        session.call(&page::CaptureScreenshot::new(), patience())?;
        Ok(())
    };
    let size = if quick { (10, 3) } else { (20, 7) };
    // Limited by Chromium's frames; all good clients are equal.
    let method = ("Page.captureScreenshot", "{}");
    single(lane, "screenshot 1280x720", method, size, &[("", &take)], (Goal::AtMost(1.05), Goal::Told))
}

/// Attaching to 50 tabs and enabling two domains on each.
pub(crate) fn attach(lane: &Lane, quick: bool) -> Result<Vec<Row>> {
    let (count, turns) = if quick { (10, 3) } else { (50, 9) };
    let mut opener = lane.bare()?;
    let tabs = (0..count).map(|_| lane.tab(&mut opener)).collect::<Result<Vec<_>>>()?;
    drop(opener);
    let raw: Contestant<'_> = Box::new(|| {
        let mut raw = lane.bare()?;
        let mut sessions = Vec::new();
        let sample = measure(millis, || {
            sessions = attach_raw(&mut raw, &tabs)?;
            Ok(())
        })?;
        for session in sessions {
            raw.call("Target.detachFromTarget", &format!(r#"{{"sessionId":"{session}"}}"#), None)?;
        }
        Ok(sample)
    });
    let ours: Contestant<'_> = Box::new(|| {
        let connection = lane.connect(Latency::Balanced)?;
        let mut sessions = Vec::new();
        let sample = measure(millis, || {
            let attach = |id: &String| {
                let mut command = target::AttachToTarget::new(id.as_str().into());
                command.flatten = Some(true);
                connection.send(&command)
            };
            let attached = tabs.iter().map(attach).collect::<std::result::Result<Vec<_>, _>>()?;
            let mut enabled = Vec::new();
            for reply in attached {
                let session = connection.session(reply.wait(patience())?.session_id.as_str());
                enabled.push((session.send(&page::Enable::new())?, session.send(&runtime::Enable::new())?));
                sessions.push(session);
            }
            for (page, runtime) in enabled {
                page.wait(patience())?;
                runtime.wait(patience())?;
            }
            Ok(())
        })?;
        for session in sessions {
            connection.call_raw("Target.detachFromTarget", &json!({"sessionId": session.id()}), patience())?;
        }
        connection.close();
        Ok(sample)
    });
    let samples = rounds(turns, &mut [raw, ours])?;
    let mut closer = lane.bare()?;
    for tab in &tabs {
        closer.call("Target.closeTarget", &format!(r#"{{"targetId":"{tab}"}}"#), None)?;
    }
    let [raw, ours] = &samples[..] else { return Ok(Vec::new()) };
    let name = format!("attach to {count} tabs");
    // The best client measured takes 4.7 times the raw loop.
    Ok(vec![
        Row::new(name.as_str(), lane.name, compare(raw, ours, |s| s.value), "ms", Goal::AtMost(4.7)),
        Row::new(name.as_str(), lane.name, compare(raw, ours, |s| s.cpu), "ms CPU", Goal::Told),
    ])
}

/// Attaches to all tabs in parallel and enables the domains as answers arrive.
fn attach_raw(raw: &mut Raw, tabs: &[String]) -> Result<Vec<String>> {
    let mut first = None;
    for tab in tabs {
        let request: Request =
            raw.request("Target.attachToTarget", &format!(r#"{{"targetId":"{tab}","flatten":true}}"#), None);
        let id = raw.queue(&request);
        first.get_or_insert(id);
    }
    raw.flush()?;
    let attaching = first.map_or(0..0, |first| first..first + tabs.len() as u64);
    let (mut sessions, mut enabled) = (Vec::new(), 0);
    let deadline = Deadline::after_secs(120);
    while enabled < 2 * tabs.len() {
        if deadline.passed() {
            return Err("attaching took too long".into());
        }
        let message = raw.next()?;
        let Some(id) = raw.id(message.clone()) else { continue };
        if !attaching.contains(&id) {
            enabled += 1;
            continue;
        }
        let session = field(std::str::from_utf8(raw.text(message))?, "sessionId")?.to_owned();
        for method in ["Page.enable", "Runtime.enable"] {
            let request = raw.request(method, "{}", Some(&session));
            raw.queue(&request);
        }
        raw.flush()?;
        sessions.push(session);
    }
    Ok(sessions)
}
