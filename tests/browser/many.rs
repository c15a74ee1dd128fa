//! Many concurrent browsers on one machine, and two that request one profile.
#![allow(clippy::print_stdout)] // figures

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use cdpilot::browser::{BrowserProcess, Error, TransportKind};
use cdpilot::cdp::protocol::target::GetTargets;
use cdpilot::sync::{Deadline, spawn};
use crossbeam_channel::bounded;

use crate::browser_real::{assert_nothing_left, group, options, root_of, soon};
use crate::support::busy_machine;
use crate::support::leaks::{Baseline, alone};
use crate::support::share::rounds;

/// Does something so many times side by side; the results, in any order.
fn side_by_side<T: Send + 'static>(times: usize, what: impl Fn(usize) -> T + Send + Sync + 'static) -> Vec<T> {
    let (what, (send, results)) = (Arc::new(what), bounded(times));
    let threads: Vec<_> = (0..times)
        .map(|number| {
            let (what, send) = (Arc::clone(&what), send.clone());
            spawn("test-many", move || drop(send.send(what(number)))).unwrap()
        })
        .collect();
    drop(send);
    threads.into_iter().for_each(cdpilot::sync::Thread::join);
    results.into_iter().collect() // one that panicked is missing
}

/// Memory of a process group in MiB, what is shared counted once; where the system tells.
fn memory(pid: u32) -> u64 {
    let of = |pid: u32| -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        text.lines().find_map(|line| line.strip_prefix("Pss:"))?.split_whitespace().next()?.parse().ok()
    };
    group(pid).into_iter().filter_map(of).sum::<u64>() >> 10
}

#[test]
fn many_browsers_start_at_once_and_leave_nothing() {
    let many = rounds("CDPILOT_TEST_BROWSERS", 4, 20);
    /// Two cores, and others at work on them.
    const LONG: Duration = Duration::from_secs(150);
    let _alone = busy_machine();
    alone(module_path!(), "many_browsers_start_at_once_and_leave_nothing", || {
        let Some(options) = options(TransportKind::Pipe) else { return };
        // The tests beside this one have deadlines to keep.
        let _ = rustix::process::nice(5);
        BrowserProcess::launch(&options).unwrap().close(soon()).unwrap();
        let baseline = Baseline::now();
        let began = Instant::now();
        let start = Barrier::new(many);
        let browsers = side_by_side(many, move |number| {
            let transport = if number % 2 == 0 { TransportKind::Pipe } else { TransportKind::Port(0) };
            let mut options = options.clone().transport(transport).start_timeout(LONG);
            options.connect.connect_timeout = LONG;
            start.wait();
            BrowserProcess::launch(&options).unwrap_or_else(|error| panic!("browser {number}: {error}"))
        });
        let started = began.elapsed();
        assert_eq!(browsers.len(), many);
        let ports: BTreeSet<u16> = browsers.iter().filter_map(BrowserProcess::endpoint).map(|at| at.port()).collect();
        let profiles: BTreeSet<_> = browsers.iter().map(root_of).collect();
        assert_eq!((ports.len(), profiles.len()), (many / 2, many));
        for browser in &browsers {
            browser.connection().call(&GetTargets::default(), Deadline::after(LONG)).unwrap();
        }
        let answered = began.elapsed() - started;
        let memory: u64 = browsers.iter().filter_map(BrowserProcess::pid).map(memory).sum();
        let ids: Vec<_> = browsers.iter().map(|browser| (browser.pid().unwrap(), root_of(browser))).collect();
        let began = Instant::now();
        let (send, take) = bounded(many);
        browsers.into_iter().for_each(|browser| send.send(browser).unwrap());
        let closed = side_by_side(many, move |_| take.recv().unwrap().close(Deadline::after(LONG)));
        println!("{many} browsers: started in {started:?}, answered in {answered:?}, closed in {:?}", began.elapsed());
        println!("{many} browsers: {memory} MiB (0 where the system does not tell)");
        assert_eq!(closed.iter().filter(|closed| closed.is_ok()).count(), many, "{closed:?}");
        for (pid, root) in ids {
            assert_nothing_left(pid, &root);
        }
        baseline.assert_back(soon());
    });
}

#[test]
fn one_of_two_simultaneous_launches_gets_the_profile() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(folder.path().join("profile"));
    let start = Barrier::new(2);
    let outcomes = side_by_side(2, move |_| {
        start.wait();
        BrowserProcess::launch(&options)
    });
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 1));
    let error = lost.into_iter().find_map(Result::err).unwrap();
    assert!(matches!(error, Error::ProfileInUse { .. }), "{error:?}");
    for browser in won {
        browser.unwrap().close(soon()).unwrap();
    }
}
