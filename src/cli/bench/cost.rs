//! Time and memory of browsers, tabs and contexts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::failure::Failure;
use super::browsers::{self, BrowserSource};
use super::memory::{self, Amount};
use super::row::{Rows, Unit};
use super::{Part, Run};
use crate::code::Code;
use crate::supervisor::{DialogPolicy, PageState, Supervisor};
use crate::sync::pause;

/// A nearly empty page, so that the tab itself is measured.
const PAGE: &str = "data:text/html,<title>bench</title><p>A page with a few words.";
/// Interval between memory readings until they are stable.
const POLL_INTERVAL: Duration = Duration::from_millis(400);
/// Time limit for that.
const SETTLE: Duration = Duration::from_secs(5);
const SETTLE_QUICK: Duration = Duration::from_millis(1500);

pub(super) fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Growth per item in KiB: total, and without file-backed pages.
fn growth(before: Option<Amount>, after: Option<Amount>, count: usize) -> [Option<f64>; 2] {
    let each = |kib: Option<f64>| kib.map(|kib| kib / count.max(1) as f64);
    let Some((before, after)) = before.zip(after) else { return [None; 2] };
    [each(after.more_than(before)), each(after.own_more_than(before))]
}

/// Two rows for the memory of a browser, from KiB.
fn browser_rows(
    rows: &mut Rows,
    part: Part,
    (id, what): (&'static str, &str),
    own: &'static str,
    kib: &[[Option<f64>; 2]],
) {
    let mebibytes = |n: usize| kib.iter().map(move |both| both[n].map(|kib| kib / 1024.0));
    rows.add(part, (id, what), Unit::Mebibytes, mebibytes(0));
    rows.add(part, (own, "without file-backed pages"), Unit::Mebibytes, mebibytes(1));
}

/// Memory of the browsers once it is stable: new processes take a moment to allocate, ending ones to free.
fn settled(run: &Run<'_>, all: &[Arc<Supervisor>]) -> Result<Option<Amount>, Failure> {
    let until = run.watch.within(if run.plan.quick { SETTLE_QUICK } else { SETTLE });
    let mut last = browsers::memory(all);
    loop {
        run.watch.check()?;
        pause(POLL_INTERVAL); // the system sends no notification
        let now = browsers::memory(all);
        let more = |now: Amount, last: Amount| now.own_more_than(last).or_else(|| now.more_than(last));
        let still = |now: Amount, last: Amount| more(now, last).is_none_or(|more| more.abs() < now.kib() / 200.0);
        match (now, last) {
            (Some(now), Some(last)) if !still(now, last) && !until.passed() => {}
            _ => return Ok(now),
        }
        last = now;
    }
}

/// Measures one browser, tabs in it, and further browsers. Nothing is closed before the last reading: freed memory of our own
/// process would be reused unnoticed.
pub(super) fn memory(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let wants = |part| run.plan.wants(part);
    if ![Part::Memory, Part::Tabs, Part::Browsers].into_iter().any(wants) {
        return Ok(());
    }
    run.step("browser", 0, 1)?;
    let before = memory::own();
    let mut all = vec![run.browsers.supervisor(DialogPolicy::default(), run.watch)?];
    if wants(Part::Memory) {
        let browser = settled(run, &all)?;
        let browser = [browser.map(Amount::kib), browser.and_then(Amount::own_kib)];
        let name = ("browser", "browser with a blank page, all processes");
        browser_rows(rows, Part::Memory, name, "browser_own", &[browser]);
        rows.add(Part::Memory, ("own", "this program, without a browser"), Unit::Kibibytes, [before.map(Amount::kib)]);
        let [more, _] = growth(before, memory::own(), 1);
        rows.add(Part::Memory, ("own_more", "this program, added by the browser"), Unit::Kibibytes, [more]);
    }
    let tabs = if wants(Part::Tabs) { open_tabs(run, rows, &all)? } else { Vec::new() };
    if wants(Part::Browsers) {
        browsers(run, rows, &mut all)?;
    }
    if let Some(first) = all.first().filter(|_| !tabs.is_empty()) {
        let mut times = Vec::new();
        for (number, tab) in tabs.iter().enumerate() {
            run.step("closing tabs", number, tabs.len())?;
            let began = Instant::now();
            first.close_page(&tab.as_str().into(), run.watch.soon())?;
            times.push(millis(began));
        }
        rows.add_known(Part::Tabs, ("tab_close", "close a tab"), Unit::Millis, times);
    }
    Ok(())
}

/// Opens tabs and leaves them open; returns their ids.
fn open_tabs(run: &Run<'_>, rows: &mut Rows, all: &[Arc<Supervisor>]) -> Result<Vec<String>, Failure> {
    let Some(first) = all.first() else { return Ok(Vec::new()) };
    let shares = run.plan.shares(run.plan.tabs);
    let (mut tabs, mut times, mut browser, mut own) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut memory, mut own_memory) = (settled(run, all)?, memory::own());
    for (round, share) in shares.iter().copied().enumerate() {
        run.step("tabs", round, shares.len())?;
        let began = Instant::now();
        for _ in 0..share {
            run.watch.check()?;
            tabs.push(first.open_page(PAGE, None, run.watch.soon())?.to_string());
        }
        ready(run, first, &tabs)?;
        times.push(millis(began) / share as f64);
        let (now, own_now) = (settled(run, all)?, memory::own());
        browser.push(growth(memory, now, share));
        own.push(growth(own_memory, own_now, share)[0]);
        (memory, own_memory) = (now, own_now);
    }
    rows.add_known(Part::Tabs, ("tab_open", "open a tab and attach to it"), Unit::Millis, times);
    browser_rows(rows, Part::Tabs, ("tab_browser", "browser memory per tab"), "tab_browser_own", &browser);
    rows.add(Part::Tabs, ("tab_own", "memory of this program per tab"), Unit::Kibibytes, own);
    Ok(tabs)
}

/// Waits until these pages are ready.
fn ready(run: &Run<'_>, supervisor: &Supervisor, pages: &[String]) -> Result<(), Failure> {
    let all = supervisor.wait_until(run.watch.soon(), |now| {
        pages.iter().all(|id| now.page(id).is_some_and(|page| page.state == PageState::Ready))
    });
    all.map(drop).ok_or_else(|| {
        Failure::new(Code::Timeout, "not all opened tabs became ready in time; allow more with --timeout")
    })
}

/// Starts browsers and leaves them running.
fn browsers(run: &Run<'_>, rows: &mut Rows, all: &mut Vec<Arc<Supervisor>>) -> Result<(), Failure> {
    let (mut times, mut browser, mut own) = (Vec::new(), Vec::new(), Vec::new());
    let (mut threads, mut files, mut processes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut memory, mut own_memory) = (settled(run, all)?, memory::own());
    for number in 0..run.plan.browsers {
        run.step("browsers", number, run.plan.browsers)?;
        let (threads_before, files_before) = (memory::own_threads(), memory::own_files());
        let began = Instant::now();
        all.push(run.browsers.supervisor(DialogPolicy::default(), run.watch)?);
        times.push(millis(began));
        let more = |now: Option<f64>, before: Option<f64>| Some(now? - before?);
        threads.push(more(memory::own_threads(), threads_before));
        files.push(more(memory::own_files(), files_before));
        let (now, own_now) = (settled(run, all)?, memory::own());
        browser.push(growth(memory, now, 1));
        processes.push(browsers::processes(all.last()).map(|processes| processes.len() as f64));
        own.push(growth(own_memory, own_now, 1)[0]);
        (memory, own_memory) = (now, own_now);
    }
    rows.add_known(Part::Browsers, ("more_start", "start and attach to its page"), Unit::Millis, times);
    browser_rows(rows, Part::Browsers, ("more_browser", "memory of its processes"), "more_browser_own", &browser);
    rows.add(Part::Browsers, ("more_own", "memory of this program per browser"), Unit::Kibibytes, own);
    rows.add(Part::Browsers, ("more_processes", "processes"), Unit::Count, processes);
    rows.add(Part::Browsers, ("more_threads", "threads of this program per browser"), Unit::Count, threads);
    rows.add(Part::Browsers, ("more_files", "file descriptors of this program per browser"), Unit::Count, files);
    Ok(())
}

/// Measures contexts with one tab each.
pub(super) fn contexts(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let supervisor = run.browsers.supervisor(DialogPolicy::default(), run.watch)?;
    let all = [Arc::clone(&supervisor)];
    let shares = run.plan.shares(run.plan.contexts);
    let (mut contexts, mut tabs, mut times, mut browser) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut memory = settled(run, &all)?;
    for (round, share) in shares.iter().copied().enumerate() {
        run.step("contexts", round, shares.len())?;
        let began = Instant::now();
        for _ in 0..share {
            run.watch.check()?;
            let made = supervisor.with_browser(|browser| browser.new_context(run.watch.soon()));
            let context = made.ok_or_else(|| Failure::internal("the supervisor has no browser"))??;
            let tab = supervisor.open_page(PAGE, Some(context.id().clone()), run.watch.soon())?;
            tabs.push(tab.to_string());
            contexts.push(context);
        }
        ready(run, &supervisor, &tabs)?;
        times.push(millis(began) / share as f64);
        let now = settled(run, &all)?;
        browser.push(growth(memory, now, share));
        memory = now;
    }
    let mut closing = Vec::new();
    for context in contexts {
        run.watch.check()?;
        let began = Instant::now();
        context.dispose(run.watch.soon())?;
        closing.push(millis(began));
    }
    rows.add_known(Part::Contexts, ("context_open", "create a context, open a tab, attach to it"), Unit::Millis, times);
    let name = ("context_browser", "browser memory per context with its tab");
    browser_rows(rows, Part::Contexts, name, "context_browser_own", &browser);
    rows.add_known(Part::Contexts, ("context_close", "close a context"), Unit::Millis, closing);
    Ok(())
}

/// Measures starting and stopping a browser.
pub(super) fn startup(run: &Run<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let (mut answers, mut pages, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..run.plan.rounds {
        run.step("start and stop", round, run.plan.rounds)?;
        let began = Instant::now();
        let browser = run.browsers.browser(run.watch)?;
        answers.push(millis(began));
        let supervisor = BrowserSource::supervise(browser, DialogPolicy::default(), run.watch)?;
        pages.push(millis(began));
        let began = Instant::now();
        supervisor.stop(run.watch.soon());
        ends.push(millis(began));
    }
    rows.add_known(Part::Startup, ("start_answer", "start to the first answer"), Unit::Millis, answers);
    rows.add_known(Part::Startup, ("start_page", "start to an attached page"), Unit::Millis, pages);
    rows.add_known(Part::Startup, ("end", "stop until no process or file is left"), Unit::Millis, ends);
    Ok(())
}
