//! Processes that are killed or suspended at any moment: what is left, and what removes it.
//!
//! Each round has a home, a server and a browser of its own. One of its processes gets `SIGKILL` or `SIGSTOP` in one phase
//! of its life. What is left three seconds later is written down; then a person's next steps follow, `cdpilot browser
//! start` and `cdpilot doctor --fix`, after which nothing of before may be left, and after `cdpilot serve --stop` nothing
//! at all. What a command acknowledged before is there afterwards.
//!
//! An ordinary run has two rounds, `make faults` 100.
#![allow(clippy::print_stdout)] // the table

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cdpilot::sync::{Deadline, pause, spawn};
use parking_lot::Mutex;
use rustix::process::Signal;
use serde_json::Value;

use crate::cli_run::{Program, Ran, has_browser};
use crate::support::busy_machine;
use crate::support::home_processes::{Kind, Process, files, processes, until};
use crate::support::share::{rounds, seed};
use crate::support::site::{Answer, Held, Site};

/// After this nothing is left, except for what the next start and `doctor --fix` remove.
const LEFT_AFTER: Duration = Duration::from_secs(3);
/// Rounds under way at a time: most of a round is waiting.
const AT_ONCE: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Start,
    Navigation,
    Close,
    Idle,
    Stop,
}

const PHASES: [Phase; 5] = [Phase::Start, Phase::Navigation, Phase::Close, Phase::Idle, Phase::Stop];
const VICTIMS: [Kind; 4] = [Kind::Server, Kind::Browser, Kind::Renderer, Kind::Reaper];

/// One fault, and what came of it.
#[derive(Debug, Clone)]
struct Row {
    phase: Phase,
    victim: Kind,
    signal: Signal,
    seed: u64,
    /// Whether the victim was there to get the signal.
    hit: bool,
    left: String,
    removed: String,
}

/// A home with a folder for temporary files of its own.
struct Struck {
    program: Program,
    home: PathBuf,
    site: Site,
    slow: Held,
}

impl Struck {
    fn new() -> Self {
        let program = Program::new();
        let home = program.temp.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("config.yaml"), "server: {port: 0}\nbrowser: {cdp_port: 0, headless: true}\n").unwrap();
        let (site, slow) = (Site::start(), Held::default());
        site.page("/", "<title>Here</title><p>Here<a id=d href='/file' download>File</a>");
        site.page("/other", "<title>There</title><p>There");
        site.put("/file", Answer::bytes("application/octet-stream", b"complete".repeat(1000)));
        site.put("/slow", Answer::html("<title>Late</title>").held_by(&slow));
        Self { program: program.env("CDPILOT_HOME", home.to_str().unwrap()), home, site, slow }
    }

    fn temp(&self) -> &Path {
        self.program.temp.path()
    }

    fn run(&self, line: &str) -> Ran {
        self.program.run(&line.split(' ').collect::<Vec<_>>())
    }

    fn does(&self, line: &str) -> Ran {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    }

    fn begin(&self, line: &str) -> Child {
        self.program.command(&line.split(' ').collect::<Vec<_>>()).spawn().unwrap()
    }

    fn processes(&self) -> Vec<Process> {
        processes(self.temp())
    }

    /// A process of a kind, any of them.
    fn victim(&self, kind: Kind, random: &mut fastrand::Rng) -> Option<Process> {
        let fits: Vec<Process> = self.processes().into_iter().filter(|process| process.kind == kind).collect();
        (!fits.is_empty()).then(|| fits[random.usize(..fits.len())].clone())
    }
}

impl Drop for Struck {
    fn drop(&mut self) {
        self.slow.release();
        // For the test that failed.
        let until = crate::support::soon();
        while !until.passed() {
            let left = self.processes();
            left.iter().for_each(|process| {
                let _ = process.signal(Signal::KILL);
            });
            if left.is_empty() {
                break;
            }
            pause(Duration::from_millis(20));
        }
    }
}

/// What the home acknowledged.
struct Acknowledged {
    download: PathBuf,
}

impl Acknowledged {
    /// A profile, a label and a download.
    fn of(at: &Struck) -> Self {
        at.does("browser profiles create kept --color #112233");
        at.does(&format!("browser open {}", at.site.url("a", "/")));
        at.does("browser label t1 kept");
        at.does(&format!("browser open {}", at.site.url("a", "/other")));
        let response = at.does("browser click --selector #d --target kept --json").json();
        let path = response["downloads"][0]["path"].as_str().map(str::to_owned);
        let path = path.unwrap_or_else(|| {
            let response = at.does("browser download --json").json();
            response["download"]["path"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
        });
        Self { download: path.into() }
    }

    fn check(&self, at: &Struck, label: bool, what: &str) {
        let profiles = at.does("browser profiles --json").stdout;
        assert!(profiles.contains("kept") && profiles.contains("#112233"), "{what}: {profiles}");
        assert_eq!(fs::read(&self.download).unwrap(), b"complete".repeat(1000), "{what}");
        if label {
            let tabs = at.does("browser tabs --json").stdout;
            assert!(tabs.contains("\"kept\""), "{what}: {tabs}");
        }
    }
}

/// Ends the browser, or the server with it.
const STOPS: [&str; 2] = ["browser stop", "serve --stop"];

/// Brings the home to a moment of a phase. The command that is under way then, and the victim. In the phase `Stop` the
/// command is `stop`.
fn moment(
    at: &Struck,
    phase: Phase,
    victim: Kind,
    stop: &str,
    random: &mut fastrand::Rng,
) -> (Option<Child>, Option<Process>) {
    let jitter = |random: &mut fastrand::Rng, most: u64| pause(Duration::from_millis(random.u64(..=most)));
    let command = match phase {
        Phase::Start => {
            let mut command = at.begin("browser start");
            // As soon as it is there; a moment is what is being varied.
            let deadline = crate::support::soon();
            let found =
                until(deadline, || at.victim(victim, random), |found| found.is_some() || command_ended(&command));
            jitter(random, 400);
            let found = found.or_else(|| at.victim(victim, random));
            if found.is_none() {
                let _ = command.wait();
            }
            return (Some(command), found.or_else(|| at.victim(victim, random)));
        }
        Phase::Navigation => {
            let command = at.begin(&format!("browser navigate {} --target kept", at.site.url("a", "/slow")));
            at.site.wait_requested("a.localhost/slow", 1);
            Some(command)
        }
        Phase::Close => {
            let command = at.begin("browser close t2");
            jitter(random, 120);
            Some(command)
        }
        Phase::Idle => None,
        Phase::Stop => {
            let found = at.victim(victim, random);
            let command = at.begin(stop);
            jitter(random, 60);
            return (Some(command), found);
        }
    };
    (command, at.victim(victim, random))
}

fn command_ended(command: &Child) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", command.id())).map_or(true, |stat| stat.contains(") Z "))
}

/// What is left of the processes and files of before, by kind.
fn left(at: &Struck, before: &[Process], server_lives: bool, browser_lives: bool) -> Vec<String> {
    let now = at.processes();
    let groups: Vec<u32> = before.iter().filter(|old| old.kind == Kind::Browser).map(|old| old.pid).collect();
    let old = |process: &&Process| before.iter().any(|old| old.same(process)) || groups.contains(&process.group);
    let allowed = |process: &&Process| match process.kind {
        Kind::Command => true,
        Kind::Server => server_lives && !process.stopped,
        _ => browser_lives && !process.stopped,
    };
    let mut left: Vec<String> = now
        .iter()
        .filter(old)
        .filter(|process| !allowed(process))
        .map(|process| format!("{}{}", process.kind.name(), if process.stopped { " (stopped)" } else { "" }))
        .collect();
    if !now.iter().any(|process| process.kind == Kind::Browser) {
        let browser_files = files(at.temp(), &at.home);
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let kind = |name: String| match name.as_str() {
            name if name.starts_with("cdpilot-browser-") => "temporary folder".to_owned(),
            "cdpilot-browser.json" => "marker".to_owned(),
            name if name.starts_with("Singleton") => "profile lock".to_owned(),
            other => other.to_owned(),
        };
        let server = now.iter().any(|process| process.kind == Kind::Server);
        left.extend(browser_files.iter().map(name).filter(|name| !server || name != "server.json").map(kind));
    }
    left.sort();
    left.dedup();
    left
}

/// One round. Panics when something is left or lost.
fn round(phase: Phase, victim: Kind, signal: Signal, seed: u64) -> Row {
    let mut random = fastrand::Rng::with_seed(seed);
    let what = format!("{phase:?}, {}, {signal:?}, seed {seed}", victim.name());
    let at = Struck::new();
    let acknowledged = (phase != Phase::Start).then(|| Acknowledged::of(&at));
    let stop = STOPS[random.usize(..STOPS.len())];
    let (command, struck) = moment(&at, phase, victim, stop, &mut random);
    let before = at.processes();
    let hit = struck.as_ref().is_some_and(|process| process.signal(signal));
    let at_moment = Instant::now();
    // Of those that were started at the last moment.
    let before: Vec<Process> = before.into_iter().chain(at.processes()).collect();

    let server_lives = victim != Kind::Server && !(phase == Phase::Stop && stop == STOPS[1]);
    let browser_lives = server_lives && victim != Kind::Browser && phase != Phase::Stop;
    let deadline = Deadline::after(LEFT_AFTER);
    let first = until(deadline, || left(&at, &before, server_lives, browser_lives), Vec::is_empty);
    let took = at_moment.elapsed();
    println!("{what}: hit {hit}; after {} ms left {first:?}", took.as_millis());
    let mut removed = String::new();
    if let Some(mut command) = command {
        // The person gives up waiting.
        let _ = command.kill();
        let _ = command.wait();
    }
    at.slow.release();

    // The next steps of a person.
    let started = at.run("browser start");
    let gone = |old: &[Process]| {
        let now = at.processes();
        let server = now.iter().filter(|process| process.kind == Kind::Server).count();
        let browser = now.iter().filter(|process| process.kind == Kind::Browser).count();
        let stopped: Vec<&Process> = now.iter().filter(|process| process.stopped).collect();
        // Of browsers before that one, nothing.
        let leader = now.iter().find(|process| process.kind == Kind::Browser).map(|process| process.pid);
        let stale = |process: &&Process| {
            old.iter().any(|old| old.same(process) && old.kind != Kind::Server) && Some(process.group) != leader
        };
        let stale: Vec<&Process> = now.iter().filter(stale).filter(|process| !crash_handler(process)).collect();
        let mut problems = Vec::new();
        if (server, browser) != (1, 1) || !stopped.is_empty() || !stale.is_empty() {
            problems.push(format!("{server} servers, {browser} browsers, stopped {stopped:?}, stale {stale:?}"));
        }
        let folders = temporary_folders(&at);
        if folders.len() > 1 {
            problems.push(format!("temporary folders {folders:?}"));
        }
        problems
    };
    let clean = |patience| until(Deadline::after(patience), || gone(&before), Vec::is_empty);
    let after_start = if started.code == Some(0) { clean(LEFT_AFTER) } else { vec![format!("{started:?}")] };
    let outcome = |by: &str| {
        let still = struck.as_ref().is_some_and(|struck| at.processes().iter().any(|process| process.same(struck)));
        if still && signal == Signal::STOP { format!("{by} (resumed)") } else { by.to_owned() }
    };
    if !first.is_empty() && after_start.is_empty() {
        removed = outcome("next start");
    }
    if started.code != Some(0) {
        // Where a start does not help it says what does.
        let response = format!("{}{}", started.stdout, started.stderr);
        assert!(response.contains("doctor --fix"), "{what}: a start fails and does not say what helps: {started:?}");
    }
    let fixed = at.run("doctor --fix --json");
    if !after_start.is_empty() {
        let report: Value = fixed.json();
        println!("{what}: after the start {after_start:?}; doctor --fix: {}", report["fixed"]);
        if started.code != Some(0) {
            at.does("browser start");
        }
        let after_fix = clean(crate::support::LIMIT);
        assert!(after_fix.is_empty(), "{what}: left after doctor --fix: {after_fix:?}\n{report:#}");
        removed = outcome("doctor --fix");
    }
    assert_eq!(fixed.code, Some(0), "{what}: {fixed:?}");

    // All works.
    let kept_tabs = hit && matches!(victim, Kind::Renderer | Kind::Reaper) && !matches!(phase, Phase::Stop);
    acknowledged.iter().for_each(|acknowledged| acknowledged.check(&at, kept_tabs, &what));
    at.does(&format!("browser open {}", at.site.url("a", "/other")));
    assert_eq!(at.does("browser evaluate 6*7").stdout.trim(), "42", "{what}");

    // And nothing is left at the end.
    at.does("serve --stop");
    let nothing = || (at.processes(), files(at.temp(), &at.home));
    let (alive, target) =
        until(crate::support::soon(), nothing, |(alive, target)| alive.is_empty() && target.is_empty());
    assert!(alive.is_empty(), "{what}: left at the end: {alive:#?} {target:?}");
    if !target.is_empty() {
        // A stop that takes too long is cut off by the server's own limit; the next start removes its files.
        println!("{what}: left by a stop that was cut off: {target:?}");
        at.does("browser start");
        at.does("serve --stop");
        let target = until(crate::support::soon(), || files(at.temp(), &at.home), Vec::is_empty);
        assert!(target.is_empty(), "{what}: left at the end: {target:?}");
    }
    let left = match (hit, first.is_empty()) {
        (false, _) => "(it had ended before the signal)".to_owned(),
        (true, true) => format!("nothing, after {} ms", took.as_millis()),
        (true, false) => first.join(", "),
    };
    Row { phase, victim, signal, seed, hit, left, removed }
}

/// Crash handlers leave the group of their browser, and end by themselves a moment after it.
fn crash_handler(process: &Process) -> bool {
    process.line.contains("crashpad")
}

fn temporary_folders(at: &Struck) -> Vec<PathBuf> {
    let is_ours =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cdpilot-browser-"));
    files(at.temp(), &at.home).into_iter().filter(is_ours).filter(|path| path.is_dir()).collect()
}

#[test]
fn everything_that_a_fault_leaves_is_removed_by_the_next_start() {
    let _alone = busy_machine();
    if !has_browser() {
        return;
    }
    let rounds = rounds("CDPILOT_TEST_FAULT_ROUNDS", 2, 40);
    let seed = seed();
    let mut random = fastrand::Rng::with_seed(seed);
    // Every combination as often as the others.
    let mut plan = Vec::new();
    while plan.len() < rounds {
        let mut all = Vec::new();
        for phase in PHASES {
            for victim in VICTIMS {
                all.extend([Signal::KILL, Signal::STOP].map(|signal| (phase, victim, signal)));
            }
        }
        random.shuffle(&mut all);
        plan.extend(all.into_iter().map(|(phase, victim, signal)| (phase, victim, signal, random.u64(..))));
    }
    plan.truncate(rounds);
    plan.reverse();
    let (plan, rows, failed) =
        (Arc::new(Mutex::new(plan)), Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|worker| {
            let (plan, rows, failed) = (Arc::clone(&plan), Arc::clone(&rows), Arc::clone(&failed));
            spawn(format!("faults-{worker}"), move || {
                loop {
                    let Some((phase, victim, signal, seed)) = plan.lock().pop() else { break };
                    // In a short phase the victim may have ended before the signal: then once more.
                    let try_it = || {
                        let row = round(phase, victim, signal, seed);
                        if row.hit { row } else { round(phase, victim, signal, seed.wrapping_add(1)) }
                    };
                    match std::panic::catch_unwind(try_it) {
                        Ok(row) => rows.lock().push(row),
                        Err(problem) => {
                            let text = problem.downcast_ref::<String>().cloned().unwrap_or_default();
                            let name = victim.name();
                            failed.lock().push(format!("{phase:?}, {name}, {signal:?}, seed {seed}: {text}"));
                        }
                    }
                }
            })
            .unwrap()
        })
        .collect();
    drop(workers);
    let mut rows = std::mem::take(&mut *rows.lock());
    rows.sort_by_key(|row| (row.phase, row.victim, row.signal.as_raw(), row.seed));
    println!("\n| phase | victim | signal | left after 3 s | removed by |\n|---|---|---|---|---|");
    for Row { phase, victim, signal, left, removed, .. } in &rows {
        let signal = if *signal == Signal::KILL { "SIGKILL" } else { "SIGSTOP" };
        println!("| {phase:?} | {} | {signal} | {left} | {removed} |", victim.name());
    }
    let failed = failed.lock();
    assert!(failed.is_empty(), "{} of {rounds} rounds failed (seed {seed}):\n{}", failed.len(), failed.join("\n\n"));
    assert_eq!(rows.len(), rounds);
}
