//! Compares seeing and acting with bare protocol calls and with playwright-core, on the same browser, in
//! the same run.
//!
//! `cargo bench --bench page -- [--quick] [--json]`. playwright-core takes part when Node is there and
//! `npm ci` was run in `benches/page`. The contestants take turns page by page; figures are medians in
//! milliseconds. Nothing here fails because something was slow.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a bench prints

mod pages;
mod peer;

use std::sync::Arc;
use std::time::Instant;

use cdpilot::browser::{BrowserProcess, LaunchOptions, TransportKind};
use cdpilot::cdp::protocol::target::TargetId;
use cdpilot::page::{Act, ActKind, AnchorQuery, Locator, LookOptions, SnapshotOptions, Tab, Tabs};
use cdpilot::supervisor::{FrameRef, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn soon() -> Deadline<'static> {
    Deadline::after_secs(60)
}

/// One row of the table: milliseconds.
struct Row {
    what: String,
    ours: f64,
    raw: f64,
    raw_is: &'static str,
    peer: Option<f64>,
    note: String,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let asked = |flag: &str| args.iter().any(|arg| arg == flag);
    let rounds = if asked("--quick") { 7 } else { 25 };
    let options = LaunchOptions::new().headless(true).transport(TransportKind::PipeAndPort(0));
    let browser = BrowserProcess::launch(&options)?;
    let endpoint = browser.endpoint().map(|endpoint| endpoint.url()).unwrap_or_default();
    let version = browser.version().product.clone();
    let site = pages::Site::start()?;
    let supervisor = Arc::new(Supervisor::start(browser, SupervisorOptions::task("bench"))?);
    let target = supervisor.view().pages.first().map(|page| page.target_id.clone()).ok_or("no page")?;
    let all = Tabs::new(Arc::clone(&supervisor));
    let tab = all.tab(&target)?;
    let mut rows = Vec::new();
    let memory_before = resident();
    for page in pages::ALL {
        eprintln!("{}", page.name);
        show(&supervisor, &target, &site.url(page.path), page.frames)?;
        let seen = tab.snapshot(&folded(), soon())?;
        let note = format!("{} lines, {} KB folded", seen.stats.lines, seen.stats.chars / 1024);
        let mut ours = Vec::new();
        let mut raw = Vec::new();
        for _ in 0..rounds {
            let whole = SnapshotOptions::new().max_chars(0);
            ours.push(timed(|| tab.snapshot(&whole, soon()).map(drop).map_err(Into::into))?);
            raw.push(timed(|| ax_trees(&supervisor, &target))?);
        }
        let peer = peer::measure(&endpoint, &site.url(page.path), "see", rounds);
        rows.push(Row {
            what: format!("snapshot, {}", page.name),
            ours: median(ours),
            raw: median(raw),
            raw_is: "getFullAXTree",
            peer,
            note,
        });
        rows.push(anchors(page.name, &tab, rounds)?);
        let (ours, raw) = clicks(&tab, &supervisor, &target, rounds)?;
        let peer = peer::measure(&endpoint, &site.url(page.path), "click", rounds);
        rows.push(Row {
            what: format!("click, {}", page.name),
            ours,
            raw,
            raw_is: "three Input events",
            peer,
            note: String::new(),
        });
    }
    for page in pages::LOOKS {
        eprintln!("{}", page.name);
        show(&supervisor, &target, &site.url(page.path), page.frames)?;
        rows.push(looks(page.name, &tab, &supervisor, &target, rounds)?);
    }
    show(&supervisor, &target, "about:blank", 0)?;
    tab.snapshot(&folded(), soon())?; // what was known of the page before goes with it
    print(&rows, asked("--json"), &version, (memory_before, resident()));
    supervisor.stop(soon());
    Ok(())
}

fn folded() -> SnapshotOptions {
    SnapshotOptions::new().fold(true).max_chars(0)
}

/// Opens a page, and waits for its frames and their content.
fn show(supervisor: &Supervisor, target: &TargetId, url: &str, frames: usize) -> Result<()> {
    let top = FrameRef::TopOf(target.clone());
    supervisor.navigate(&top, url, soon())?;
    let there = |s: &cdpilot::supervisor::View| {
        s.frames_of(target.as_str()).filter(|f| f.session_id.is_some() && !f.origin.is_empty()).count() > frames
    };
    supervisor.wait_until(soon(), there).ok_or("frames are missing")?;
    let loaded = "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))";
    for frame in supervisor.view().frames_of(target.as_str()) {
        supervisor.evaluate(&frame.frame_id.clone().into(), loaded, soon())?;
    }
    Ok(())
}

/// Chromium's accessibility tree of every frame, requested sequentially.
fn ax_trees(supervisor: &Supervisor, target: &TargetId) -> Result<()> {
    for frame in supervisor.view().frames_of(target.as_str()) {
        let params = json!({ "frameId": frame.frame_id });
        let session = FrameRef::Id(frame.frame_id.clone());
        let reply = supervisor.call_raw(&session, "Accessibility.getFullAXTree", &params, soon());
        let reply = match reply {
            // A frame that shares its CDP session with another one is given in the command.
            Err(cdpilot::supervisor::Error::NotAFrameCommand { .. }) => {
                let top = FrameRef::TopOf(target.clone());
                supervisor.call_raw(&top, "Accessibility.getFullAXTree", &params, soon())?
            }
            reply => reply?,
        };
        let _: Value = reply.result.decode()?;
    }
    Ok(())
}

/// Finding a recorded element again, compared with a whole snapshot.
fn anchors(name: &str, tab: &Tab, rounds: usize) -> Result<Row> {
    let query = AnchorQuery { role: "button".to_owned(), key: "press me".to_owned(), ..AnchorQuery::default() };
    let (mut ours, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let all = SnapshotOptions::new().max_chars(0);
        ours.push(timed(|| tab.anchors(&query, soon()).map(drop).map_err(Into::into))?);
        whole.push(timed(|| tab.snapshot(&all, soon()).map(drop).map_err(Into::into))?);
    }
    let found = tab.anchors(&query, soon())?.matches.len();
    Ok(Row {
        what: format!("anchor, {name}"),
        ours: median(ours),
        raw: median(whole),
        raw_is: "whole snapshot",
        peer: None,
        note: format!("{found} found"),
    })
}

/// A click by ref until the settled answer, compared with bare input events at the same point.
fn clicks(tab: &Tab, supervisor: &Supervisor, target: &TargetId, rounds: usize) -> Result<(f64, f64)> {
    let seen = tab.snapshot(&folded(), soon())?;
    let button = seen.refs.iter().find(|(_, info)| info.name == "press me").map(|(reference, _)| reference.clone());
    let button = button.ok_or("the button is missing")?;
    let at = Locator { reference: Some(button), ..Locator::default() };
    let click = Act::new(ActKind::Click { at, double: false, button: Default::default(), modifiers: Vec::new() });
    let top = FrameRef::TopOf(target.clone());
    let place =
        "(() => { const b = document.querySelector('#press').getBoundingClientRect(); return [b.x + 5, b.y + 5]; })()";
    let place = supervisor.evaluate(&top, place, soon())?.result.value;
    let (mut ours, mut raw) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(timed(|| tab.act(&click, soon()).map(drop).map_err(Into::into))?);
        raw.push(timed(|| {
            for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
                let button = if kind == "mouseMoved" { "none" } else { "left" };
                let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": button, "clickCount": 1 });
                supervisor.call_raw(&top, "Input.dispatchMouseEvent", &event, soon())?;
            }
            Ok(())
        })?);
    }
    Ok((median(ours), median(raw)))
}

/// A numbered picture of all elements, compared with a screenshot of Chromium.
fn looks(name: &str, tab: &Tab, supervisor: &Supervisor, target: &TargetId, rounds: usize) -> Result<Row> {
    let top = FrameRef::TopOf(target.clone());
    let seen = tab.look_at(&LookOptions::new(), soon())?;
    let (mut ours, mut raw) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(timed(|| tab.look_at(&LookOptions::new(), soon()).map(drop).map_err(Into::into))?);
        raw.push(timed(|| {
            let reply = supervisor.call_raw(&top, "Page.captureScreenshot", &json!({ "format": "png" }), soon())?;
            let _: Value = reply.result.decode()?;
            Ok(())
        })?);
    }
    let note = format!("{} elements on {} pages, {} KB", seen.all.len(), seen.pages, seen.picture.bytes.len() / 1024);
    let (ours, raw) = (median(ours), median(raw));
    Ok(Row { what: format!("look, {name}"), ours, raw, raw_is: "captureScreenshot", peer: None, note })
}

/// Milliseconds.
fn timed(body: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    body()?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Resident memory of this process in MiB; 0 if unknown.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn print(rows: &[Row], as_json: bool, browser: &str, memory: (f64, f64)) {
    if as_json {
        let row = |row: &Row| json!({ "what": row.what, "ours": row.ours, "raw": row.raw, "rawIs": row.raw_is, "playwright": row.peer, "note": row.note });
        let rows: Vec<Value> = rows.iter().map(row).collect();
        println!(
            "{:#}",
            json!({ "browser": browser, "unit": "ms", "rows": rows, "memoryBeforeMiB": memory.0, "memoryAfterMiB": memory.1 })
        );
        return;
    }
    println!("{:34} {:>9} {:>9} {:>7}  {:>11} {:>7}", "ms, medians", "ours", "raw", "ratio", "playwright", "ratio");
    for row in rows {
        let peer = row.peer.map_or_else(|| "-".to_owned(), |peer| format!("{peer:.1}"));
        let ratio = row.peer.map_or_else(String::new, |peer| format!("{:.2}", row.ours / peer));
        println!(
            "{:34} {:>9.1} {:>9.1} {:>7.2}  {:>11} {:>7}  raw: {}{}{}",
            row.what,
            row.ours,
            row.raw,
            row.ours / row.raw,
            peer,
            ratio,
            row.raw_is,
            if row.note.is_empty() { "" } else { "; " },
            row.note
        );
    }
    println!("{browser}; our memory before {:.1} MiB, afterwards {:.1} MiB", memory.0, memory.1);
}
