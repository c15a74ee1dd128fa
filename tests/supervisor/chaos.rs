//! A connection that is lost at random moments, under concurrent operations.
#![allow(clippy::print_stdout)] // figures, for whoever asks with --nocapture

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cdpilot::cdp::ConnectOptions;
use cdpilot::cdp::protocol::target::TargetId;
use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::{ClosedBy, Error, FrameRef, Pages, Reconnect, Supervisor, SupervisorOptions, View};
use cdpilot::sync::{Deadline, pause};
use parking_lot::Mutex;

use crate::support::chrome::{soon, until};
use crate::support::leaks::{Baseline, alone};
use crate::support::lease::Lease;
use crate::support::ledger::{Ledger, count};
use crate::support::proxy::Proxy;
use crate::support::site::Site;

/// Deadline of each operation, and additional time for a busy machine.
const DEADLINE: Duration = Duration::from_secs(3);
const SLACK: Duration = crate::support::LIMIT;

/// Results of the operations.
#[derive(Default)]
struct Tally {
    over: AtomicBool,
    answered: AtomicUsize,
    /// By operation and reason.
    failed: Mutex<BTreeMap<String, usize>>,
}

impl Tally {
    /// Runs an operation, which has to come back.
    fn run<T>(&self, what: &str, operation: impl FnOnce(Deadline<'_>) -> Result<T, Error>) -> Option<T> {
        let began = Instant::now();
        let outcome = operation(Deadline::after(DEADLINE));
        assert!(began.elapsed() < DEADLINE + SLACK, "{what} took {:?}", began.elapsed());
        match outcome {
            Ok(value) => {
                self.answered.fetch_add(1, Ordering::Relaxed);
                Some(value)
            }
            Err(Error::NotActive { reason }) => panic!("{what}: it ended: {reason}"),
            Err(error) => {
                let text = error.to_string();
                let reason = text.split(['(', ';']).next().unwrap_or_default().to_owned();
                *self.failed.lock().entry(format!("{what}: {reason}")).or_default() += 1;
                None
            }
        }
    }

    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }
}

fn calls(supervisor: &Supervisor, page: &FrameRef, tally: &Tally) {
    while tally.goes_on() {
        if let Some(value) = tally.run("a call", |deadline| supervisor.evaluate(page, "6 * 7", deadline)) {
            assert_eq!(value.value, 42);
        }
        tally.run("cookies", |deadline| supervisor.cookies(page, &[], deadline));
    }
}

fn navigations(supervisor: &Supervisor, page: &FrameRef, site: &Site, tally: &Tally) {
    let mut number = 0;
    while tally.goes_on() {
        number += 1;
        let host = if number % 2 == 0 { "a" } else { "b" };
        let url = site.url(host, &format!("/?{number}"));
        tally.run("a navigation", |deadline| supervisor.navigate(page, &url, deadline));
    }
}

fn dialogs(supervisor: &Supervisor, tally: &Tally) {
    let mut open = None::<TargetId>;
    while tally.goes_on() {
        let Some(target) = open.clone() else {
            open = tally.run("opening", |deadline| supervisor.open_page("about:blank", None, deadline));
            continue;
        };
        let page = FrameRef::TopOf(target.clone());
        let requested = tally.run("a question", |_| supervisor.start_script(&page, "confirm('again?')"));
        let opened = |now: &View| now.dialogs_of(target.as_str()).next().is_some();
        if requested.is_some() && supervisor.wait_until(Deadline::after_millis(300), opened).is_some() {
            tally.run("an answer", |deadline| supervisor.respond(None, Dismiss, deadline));
        } else {
            // Its dialog is lost, or was never seen. Closing is the way out that a cut in the middle does
            // no harm: Chromium 156 may crash when a connection ends while it leaves a page under such a
            // dialog.
            tally.run("closing", |deadline| supervisor.close_page(&target, deadline));
            open = None;
        }
    }
}

/// The resident memory of this process in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

#[test]
fn repeated_connection_losses_lose_nothing() {
    alone(module_path!(), "repeated_connection_losses_lose_nothing", || {
        let cuts = count("CDPILOT_TEST_CUTS", 12);
        let baseline = Baseline::now();
        let Some(lease) = Lease::take_empty() else { return };
        let proxy = Proxy::of(lease.url());
        let site = Site::start();
        site.page("/", "<title>chaos</title>");
        // Cut so often, a busy machine may not get through a single attach in many tries.
        let reconnect = Reconnect::default().tries(1000).pauses(Duration::from_millis(5), Duration::from_millis(50));
        let options =
            SupervisorOptions::task("chaos").pages(Pages::None).reconnect(reconnect).start_timeout(soon().left());
        let supervisor = Supervisor::attach(&proxy.url(), &ConnectOptions::default(), options).unwrap();
        let ledger = Ledger::follow(supervisor.log());
        let open = |_| {
            let target = supervisor.open_page("about:blank", None, soon()).unwrap();
            let page = FrameRef::TopOf(target);
            supervisor.navigate(&page, &site.url("a", "/"), soon()).unwrap();
            page
        };
        let [one, two] = [0, 1].map(open);
        let tally = Tally::default();
        let mut memories = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| calls(&supervisor, &one, &tally));
            scope.spawn(|| navigations(&supervisor, &two, &site, &tally));
            scope.spawn(|| dialogs(&supervisor, &tally));
            for cut in 1..=cuts {
                // At any moment, also while everything is being attached again.
                pause(Duration::from_millis(fastrand::u64(0..600)));
                let generation = supervisor.view().generation;
                proxy.cut();
                let again = |now: &View| now.generation > generation;
                supervisor.wait_until(soon(), again).unwrap_or_else(|| {
                    tally.over.store(true, Ordering::Relaxed);
                    panic!("cut {cut}: no connection: {:#?}", supervisor.view())
                });
                if cut % 4 == 0 {
                    memories.push(memory());
                }
            }
            // How much happens between two cuts depends on the machine: enough has to, before this ends.
            let went_on = |now: &View| {
                let answered = now.recent.iter().any(|dialog| dialog.closed_by == ClosedBy::Agent);
                answered && tally.answered.load(Ordering::Relaxed) > cuts / 4
            };
            let enough = supervisor.wait_until(soon(), went_on).is_some();
            tally.over.store(true, Ordering::Relaxed);
            assert!(enough, "operations succeed once the connection is no longer cut");
        });
        until(&supervisor, "a connection", View::is_active);
        let (answered, failed) = (tally.answered.into_inner(), tally.failed.into_inner());
        let count_failed: usize = failed.values().sum();
        supervisor.stop(soon());
        let book = ledger.book();
        book.assert_balanced();
        let by = |who: &str| book.closed.iter().filter(|(_, data)| data["closed_by"] == *who).count();
        println!(
            "{cuts} cuts: {answered} operations answered, {count_failed} failed with a reason ({failed:#?}); {} dialogs: \
             {} by agent, {} lost, {} remote; memory in KiB: {memories:?}",
            book.opened.len(),
            by("agent"),
            by("lost"),
            by("remote"),
        );
        assert!(answered > cuts / 4 && by("agent") > 0, "something went on between the cuts");
        let (first, last) = (memories[memories.len() / 2], memories[memories.len() - 1]);
        assert!(last < first + 8 * 1024, "memory grows: {memories:?}");
        drop((ledger, supervisor, proxy, site));
        baseline.assert_back(soon());
    });
}
