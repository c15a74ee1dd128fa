//! A real Selenium Grid with a hub and two nodes. Skipped with a message unless `scripts/ensure-grid.sh` has been run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cdpilot::browser::{AttachOptions, BrowserProcess};
use cdpilot::supervisor::{FrameRef, Supervisor, SupervisorOptions};
use cdpilot::sync::{Deadline, spawn};
use cdpilot_server::control::{Overrides, StartWith};
use crossbeam_channel::bounded;
use serde_json::json;

use crate::support::busy_machine;
use crate::support::grid::{Grid, Setup};
use crate::support::soon;
use crate::support::test_home::{TestHome, eval_value};

/// Enough for a session on a machine that has much to do.
fn options() -> AttachOptions {
    let mut options = AttachOptions::default();
    options.connect.connect_timeout = soon().left();
    options.webdriver.session_timeout = soon().left();
    options
}

fn home(grid: &Grid, profile: &str) -> TestHome {
    let overrides = Overrides::new().cdp_url(grid.address());
    TestHome::without_browser(profile, overrides)
}

#[test]
fn eight_tasks_run_on_two_nodes_and_a_ninth_is_refused() {
    let _busy = busy_machine();
    let Some(grid) = Grid::start(Setup { nodes: 2, slots: 4, session_timeout: 300, queue: 300, login: None }) else {
        return;
    };
    let began = Instant::now();
    let address = grid.address();
    let (send, results) = bounded(8);
    let task = |number: u32| {
        let (address, send) = (address.clone(), send.clone());
        let run = move || {
            let browser = BrowserProcess::attach_with(&address, &options()).unwrap();
            let mut task = SupervisorOptions::task(format!("fleet-{number}"));
            task.start_timeout = soon().left();
            let supervisor = Supervisor::start(browser, task).unwrap();
            supervisor.navigate(&FrameRef::Top, &format!("data:text/html,<title>{number}</title>"), soon()).unwrap();
            let title = supervisor.evaluate(&FrameRef::Top, "document.title", soon()).unwrap().to_string();
            send.send((number, title, supervisor)).unwrap();
        };
        spawn(format!("fleet-{number}"), run).unwrap()
    };
    let threads: Vec<_> = (0..8).map(task).collect();
    let mut all: Vec<(u32, String, Supervisor)> =
        (0..8).map(|_| results.recv_deadline(soon().instant()).unwrap()).collect();
    drop(threads);
    println!("eight sessions, each with a page that was read: {:?}", began.elapsed());
    all.sort_by_key(|(number, ..)| *number);
    assert!(all.iter().all(|(number, title, _)| *title == number.to_string()), "{all:?}");
    let placed = grid.sessions();
    assert!(placed.len() == 2 && placed.values().all(|sessions| sessions.len() == 4), "{placed:?}");
    let ids: BTreeSet<&String> = placed.values().flatten().collect();
    assert_eq!(ids.len(), 8);

    // No slot is free: an error within the deadline that says so, and no session comes later.
    let mut hurried = options();
    hurried.webdriver.session_timeout = Duration::from_secs(3);
    let error = BrowserProcess::attach_with(&address, &hurried).unwrap_err();
    let text = error.to_string();
    assert!(error.code() == "TIMEOUT" && text.contains("no free slot"), "{text}");
    let home = home(&grid, "");
    let error = home.main().start(None, Deadline::after_secs(3)).unwrap_err();
    assert_eq!(error.code(), "TIMEOUT", "{error}");

    let ends: Vec<_> = all
        .into_iter()
        .map(|(number, _, supervisor)| spawn(format!("fleet-end-{number}"), move || supervisor.stop(soon())).unwrap())
        .collect();
    drop(ends);
    // The requests that were given up got sessions when slots became free; those were deleted.
    grid.until("all sessions are deleted", |now| now.values().all(Vec::is_empty));
}

#[test]
fn a_failing_node_ends_only_its_own_tasks() {
    let _busy = busy_machine();
    let login = Some(("fleet", "s3cret"));
    let setup = Setup { nodes: 2, slots: 1, session_timeout: 300, queue: 60, login };
    let Some(mut grid) = Grid::start(setup) else { return };

    // Without the password nobody is let in, and no error repeats it.
    let error = BrowserProcess::attach_with(&grid.open_address(), &options()).unwrap_err();
    assert!(error.to_string().contains("password"), "{error}");
    let profile = "profiles: {cdpilot: {capabilities: {browserName: chrome, platformName: linux, 'se:name': nightly}}}";
    let home = home(&grid, profile);
    let main = home.main();
    assert_eq!(main.status().headless, None);
    for (capabilities, words) in [
        (json!({ "platform": "linux" }), "there is no capability platform"),
        (json!({ "unhandledPromptBehavior": "accept" }), "always `ignore`"),
    ] {
        let with = StartWith::new().capabilities(capabilities.as_object().unwrap().clone());
        let error = main.start_with(&with, soon()).unwrap_err();
        assert!(error.code() == "BAD_REQUEST" && error.to_string().contains(words), "{error}");
    }
    let wrong = StartWith::new().capabilities(json!({ "platformName": "plan9" }).as_object().unwrap().clone());
    let error = main.start_with(&wrong, soon()).unwrap_err();
    assert!(error.to_string().contains("capabilities") && !error.to_string().contains("s3cret"), "{error}");

    let status = main.start(None, soon()).unwrap();
    assert_eq!((status.headless, status.transport.as_str()), (None, "remote"));
    let error = main.start_with(&wrong, soon()).unwrap_err();
    assert!(error.code() == "CONFLICT" && error.to_string().contains("stop it first"), "{error}");
    assert!(!format!("{status:?}").contains("s3cret"), "{status:?}");
    main.open_tab(cdpilot_server::control::NewTab::new("about:blank"), soon()).unwrap();
    assert_eq!(eval_value(&main, None, "6 * 7"), 42);
    let placed = grid.sessions();
    let (first, _) = placed.iter().find(|(_, sessions)| !sessions.is_empty()).unwrap();

    // Its node fails while a script runs.
    let tab = main.tab(None).unwrap().tab;
    let (send, response) = bounded(1);
    let (supervisor, target) = (std::sync::Arc::clone(tab.supervisor()), tab.target().clone());
    let caller = spawn("fleet-call", move || {
        let forever = "new Promise(() => globalThis.waits = true)";
        let _ = send.send(supervisor.evaluate(&FrameRef::TopOf(target), forever, Deadline::after_secs(30)).map(drop));
    });
    let waits = || eval_value(&main, None, "globalThis.waits === true") == true;
    while !waits() {}
    grid.kill(first);
    let error = response.recv_deadline(soon().instant()).expect("the call ends by itself").unwrap_err();
    // A Grid may leave the connection open: then the call ends at its deadline.
    assert!(
        matches!(error.code(), "BROWSER_NOT_RUNNING" | "BROWSER_ERROR" | "TAB_NOT_FOUND" | "TIMEOUT"),
        "{} {error}",
        error.code()
    );
    drop(caller);

    // The next start is placed on the node that is left.
    let _ = main.stop(soon());
    main.start(None, soon()).unwrap();
    main.open_tab(cdpilot_server::control::NewTab::new("about:blank"), soon()).unwrap();
    assert_eq!(eval_value(&main, None, "6 * 7"), 42);
    let placed = grid.sessions();
    let second: Vec<&String> =
        placed.iter().filter(|(uri, _)| *uri != first).flat_map(|(_, sessions)| sessions).collect();
    assert_eq!(second.len(), 1, "{placed:?}");
    main.stop(soon()).unwrap();
    let first = first.clone();
    grid.until("the session is deleted", |now| now.iter().all(|(uri, sessions)| *uri == first || sessions.is_empty()));
}

#[test]
fn after_the_grid_ends_a_session_the_next_start_works() {
    let _busy = busy_machine();
    let setup = Setup { nodes: 1, slots: 1, session_timeout: 5, queue: 60, login: None };
    let Some(grid) = Grid::start(setup) else { return };
    // It is kept alive too seldom for this Grid.
    let mut idle = options();
    idle.webdriver.keep_alive = Some(Duration::from_secs(15));
    let browser = BrowserProcess::attach_with(&grid.address(), &idle).unwrap();
    let mut task = SupervisorOptions::task("fleet-idle");
    task.start_timeout = soon().left();
    let supervisor = Supervisor::start(browser, task).unwrap();
    assert_eq!(supervisor.evaluate(&FrameRef::Top, "1 + 1", soon()).unwrap().to_string(), "2");
    // The Grid leaves its connection open, on which nobody answers any more.
    assert!(supervisor.wait_until(soon(), |now| !now.is_active()).is_some(), "it is noticed");
    let error = supervisor.evaluate(&FrameRef::Top, "1 + 1", soon()).unwrap_err();
    assert!(error.code() == "BROWSER_NOT_RUNNING" && error.to_string().contains("session has ended"), "{error}");
    supervisor.stop(soon());
    grid.until("it is gone", |now| now.values().all(Vec::is_empty));

    // One that is kept alive outlives the timeout.
    let mut kept = options();
    kept.webdriver.keep_alive = Some(Duration::from_secs(1));
    let browser = BrowserProcess::attach_with(&grid.address(), &kept).unwrap();
    let mut task = SupervisorOptions::task("fleet-kept");
    task.start_timeout = soon().left();
    let supervisor = Supervisor::start(browser, task).unwrap();
    let longer = "new Promise(done => setTimeout(() => done('still there'), 9000))";
    assert_eq!(supervisor.evaluate(&FrameRef::Top, longer, soon()).unwrap().to_string(), "still there");
    supervisor.stop(soon());
    grid.until("it is deleted", |now| now.values().all(Vec::is_empty));
}
