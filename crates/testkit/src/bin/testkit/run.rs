//! Workers that run tests.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cdpilot::sync::{Deadline, pause, spawn};

use serde::{Deserialize, Serialize};

use crate::full::needs_full;
use crate::pool::{Kind, Launches, Leased};
use crate::tests::Test;
use crate::usage::Group;

/// A test that takes longer hangs, and is killed.
const LIMIT: Duration = Duration::from_secs(900);

/// From the environment.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) workers: usize,
    /// Selects the share of exhaustive loops.
    pub(crate) seed: u64,
    /// Whether exhaustive loops run as a whole.
    pub(crate) is_thorough: bool,
    /// What all tests lease; `None` if the runner chooses.
    pub(crate) leased: Option<Kind>,
}

impl Settings {
    pub(crate) fn read() -> Self {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self {
            // Tests spend half of their time waiting. With more at a time, each takes more CPU time: 119 tests on two cores took 77 s
            // of it and 64 s with 3 at a time, 79 s and 56 s with 4, 85 s and 50 s with 6.
            workers: number("RUST_TEST_THREADS").and_then(|n| n.try_into().ok()).unwrap_or(cores * 2).max(1),
            seed: number("CDPILOT_TEST_SEED").unwrap_or(now.as_secs() % 1_000_000),
            is_thorough: std::env::var("CDPILOT_TEST_ALL").is_ok_and(|value| value == "1"),
            leased: match std::env::var("CDPILOT_TEST_BROWSER").as_deref() {
                Ok("full") => Some(Kind::Full),
                Ok("shell") => Some(Kind::Shell),
                _ => None,
            },
        }
    }

    /// What a test leases: the headless shell, which is cheaper, and in every eighth run the full browser.
    fn kind(&self, test: &Test) -> Kind {
        let mut hasher = DefaultHasher::new();
        test.name.hash(&mut hasher);
        let is_turn = hasher.finish().wrapping_add(self.seed).is_multiple_of(8);
        if needs_full(&test.name) {
            return Kind::Full;
        }
        self.leased.unwrap_or(if is_turn || self.is_thorough { Kind::Full } else { Kind::Shell })
    }
}

/// How a test went.
#[derive(Debug)]
pub(crate) struct TestResult {
    pub(crate) test: Test,
    pub(crate) passed: bool,
    /// Why it did nothing: what is missing on this machine.
    pub(crate) omitted: Option<String>,
    /// CPU seconds of its processes and of the browser that it leased.
    pub(crate) cpu: Option<f64>,
    /// Wall time, in seconds.
    pub(crate) wall: f64,
}

/// How a run went.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) results: Vec<TestResult>,
    /// Second attempts of failed tests.
    pub(crate) retried: Vec<TestResult>,
    /// For each browser that was launched, the test that launched it.
    pub(crate) launches: Vec<String>,
    /// Duration of the run.
    pub(crate) seconds: f64,
}

impl Outcome {
    pub(crate) fn failed(&self) -> impl Iterator<Item = &TestResult> {
        self.results.iter().filter(|result| !result.passed)
    }
}

/// Runs tests, those first that took longest the last time.
pub(crate) fn all(tests: &[Test], settings: &Settings) -> Result<Outcome, String> {
    let begin = Instant::now();
    let folder = tempfile::Builder::new().prefix("testkit-").tempdir().map_err(|problem| problem.to_string())?;
    let launches = Arc::new(Launches::new(folder.path())?);
    let mut times = read_times();
    let mut queue: Vec<Test> = tests.to_vec();
    let expected = |test: &Test| times.get(&test.name).map_or(0.0, |cost| cost.wall);
    queue.sort_by(|one, other| expected(other).total_cmp(&expected(one)));
    let queue = Arc::new(Mutex::new(VecDeque::from(queue)));
    let results = Arc::new(Mutex::new(Vec::new()));
    let mut threads = Vec::new();
    for number in 0..settings.workers {
        let (queue, results, launches) = (Arc::clone(&queue), Arc::clone(&results), Arc::clone(&launches));
        let (output, settings) = (folder.path().join(format!("output-{number}")), settings.clone());
        let thread = spawn(format!("worker-{number}"), move || {
            let group = Group::new(&number.to_string());
            let mut worker = Worker { launches, group, output, settings, browsers: Browsers::default() };
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(test) = next else { return };
                let result = worker.run(test);
                results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
            }
        });
        threads.push(thread.map_err(|problem| problem.to_string())?);
    }
    threads.into_iter().for_each(cdpilot::sync::Thread::join);
    let results = std::mem::take(&mut *results.lock().unwrap_or_else(PoisonError::into_inner));
    times.extend(results.iter().map(|result| (result.test.name.clone(), Cost { cpu: result.cpu, wall: result.wall })));
    write_times(&times);
    let launches = launches.as_ref().as_ref().map(Launches::so_far).unwrap_or_default();
    Ok(Outcome { results, launches, seconds: begin.elapsed().as_secs_f64(), ..Outcome::default() })
}

struct Worker {
    launches: Arc<Option<Launches>>,
    group: Option<Group>,
    output: PathBuf,
    settings: Settings,
    browsers: Browsers,
}

/// The browsers of a worker.
#[derive(Default)]
struct Browsers {
    full: Option<Leased>,
    /// `None` on a machine without a headless shell.
    shell: Option<Leased>,
}

impl Browsers {
    /// Starts those that are missing.
    fn complete(&mut self, launches: &Launches, group: Option<&Group>) -> Result<(), String> {
        let start = |kind| launches.lease(kind, group).map_err(|error| format!("no browser for the pool: {error}"));
        if self.full.is_none() {
            self.full = Some(start(Kind::Full)?);
        }
        if self.shell.is_none() && launches.has_shell() {
            self.shell = Some(start(Kind::Shell)?);
        }
        Ok(())
    }

    /// Makes them ready for the next test.
    fn take_back(&self) -> Result<(), String> {
        for browser in [&self.full, &self.shell].into_iter().flatten() {
            browser.take_back().map_err(|left| format!("it left in the leased browser: {left}"))?;
        }
        Ok(())
    }
}

impl Worker {
    fn run(&mut self, test: Test) -> TestResult {
        let started = match self.launches.as_ref() {
            Some(launches) => self.browsers.complete(launches, self.group.as_ref()),
            None => Ok(()),
        };
        let (begin, cpu) = (Instant::now(), self.group.as_ref().and_then(Group::seconds));
        let status =
            started.and_then(|()| self.start(&test).map_err(|error| format!("cannot start the test: {error}")));
        let status = status.and_then(wait).and_then(|status| match status.success() {
            true => self.browsers.take_back().map(|()| status),
            false => Ok(status),
        });
        let wall = begin.elapsed().as_secs_f64();
        let used = self.group.as_ref().and_then(Group::seconds);
        let cpu = cpu.zip(used).map(|(before, after)| after - before);
        let output = std::fs::read(&self.output).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let omitted = output.lines().find_map(|line| {
            let (_, why) = line.split_once("SKIPPED")?;
            Some(why.trim_start_matches([',', ':', ' ']).split(": ").next().unwrap_or_default().to_owned())
        });
        let passed = matches!(&status, Ok(status) if status.success());
        match (&status, passed) {
            (_, true) => println!("test {} ... ok", test.name),
            (status, false) => {
                // It may have left them in any state.
                self.browsers = Browsers::default();
                let why = status.as_ref().map_or_else(Clone::clone, ToString::to_string);
                let kind = self.settings.kind(&test).name();
                println!("test {} ... FAILED ({wall:.1} s, CDPILOT_TEST_BROWSER={kind})\n{output}\n{why}", test.name);
            }
        }
        TestResult { test, passed, omitted, cpu, wall }
    }

    fn start(&self, test: &Test) -> std::io::Result<Child> {
        let binary = &test.binary;
        let mut command = match &self.group {
            Some(group) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", "echo $$ >\"$0\"; exec \"$@\""]).arg(group.entrance()).arg(&binary.path);
                shell
            }
            None => Command::new(&binary.path),
        };
        let output = File::create(&self.output)?;
        command.args([test.name.as_str(), "--exact", "--nocapture", "--test-threads=1"]).current_dir(&binary.folder);
        command.env("CARGO_MANIFEST_DIR", &binary.folder).env("CDPILOT_TEST_SEED", self.settings.seed.to_string());
        if let Some(launches) = self.launches.as_ref() {
            command.envs(launches.env(&test.name));
        }
        let shell = self.browsers.shell.as_ref().filter(|_| !needs_full(&test.name));
        let mut leases = [(Kind::Full, self.browsers.full.as_ref()), (Kind::Shell, shell)];
        leases.sort_by_key(|(kind, _)| *kind != self.settings.kind(test));
        let leases = leases.into_iter().filter_map(|(kind, browser)| Some((kind, browser?)));
        let leases = leases.map(|(kind, browser)| format!("{}={}", kind.name(), browser.url)).collect::<Vec<_>>();
        command.env("CDPILOT_TEST_LEASES", leases.join(" "));
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).spawn()
    }
}

fn wait(mut child: Child) -> Result<ExitStatus, String> {
    let (until, mut next) = (Deadline::after(LIMIT), Duration::from_millis(1));
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if !until.passed() => pause(next),
            outcome => {
                let _ = child.kill();
                let _ = child.wait();
                let hangs = format!("it did not end within {} s and was killed", LIMIT.as_secs());
                return Err(outcome.err().map_or(hangs, |problem| problem.to_string()));
            }
        }
        next = (next * 2).min(Duration::from_millis(10));
    }
}

/// What a test took the last time, in seconds.
#[derive(Debug, Serialize, Deserialize)]
struct Cost {
    cpu: Option<f64>,
    wall: f64,
}

/// Where the durations of the last run are kept: beside the program.
fn times_file() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.join("testkit-times.json"))
}

fn read_times() -> BTreeMap<String, Cost> {
    let text = times_file().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

fn write_times(times: &BTreeMap<String, Cost>) {
    if let (Some(path), Ok(text)) = (times_file(), serde_json::to_string(times)) {
        // Only the order of the next run depends on it.
        let _ = std::fs::write(path, text);
    }
}
