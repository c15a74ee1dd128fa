//! `cdpilot bench`: a short check of how fast one browser answers.
//!
//! It measures through the supervisor, as programs use it, except for pipelined calls, which use the connection below it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use super::args;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::{Settings, headless};
use cdpilot::browser::{BrowserProcess, ConnectOptions, LaunchOptions, Switch};
use cdpilot::code::Code;
use cdpilot::supervisor::{self, FrameRef, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;

/// Default time limit of the run.
const USUAL: Duration = Duration::from_secs(120);
const SUM: &str = "1 + 1";
/// Calls before the measurement.
const WARM_UP: usize = 50;
/// Pipelined calls that wait for their answer at the same time.
const IN_FLIGHT: usize = 64;
/// Console messages, and how many of them a script writes.
const EVENTS: usize = 10_000;
const MESSAGES: usize = 1000;

/// The JSON result; `--help` describes it.
#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    version: &'static str,
    browser: String,
    transport: &'static str,
    calls: usize,
    p50_us: f64,
    p95_us: f64,
    sequential_per_s: f64,
    pipelined_per_s: f64,
    events_per_s: f64,
}

pub(super) fn run(args: &args::Bench, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    let run = Run { deadline: settings.deadline(USUAL), interrupted: interrupted()? };
    // The end of the run may have caused the failure; then it is reported instead.
    let report = run.measure(args).map_err(|failure| run.check().err().unwrap_or(failure))?;
    print(&report, out);
    out.object(&report);
    Ok(Exit::Done)
}

fn print(report: &Report, out: &Out) {
    let over = if report.transport == "attached" { "already running" } else { report.transport };
    out.line(&out.style.bold(&format!("cdpilot {} on {} ({over})", report.version, report.browser)));
    let micros = out.style.pick("µs", "us");
    for (what, value, unit) in [
        ("round trip, median", report.p50_us, micros),
        ("round trip, 95th percentile", report.p95_us, micros),
        ("sequential calls", report.sequential_per_s, "/s"),
        ("pipelined calls", report.pipelined_per_s, "/s"),
        ("console events", report.events_per_s, "/s"),
    ] {
        out.line(&format!("  {what:<27}  {value:>8.0} {unit}"));
    }
}

fn browser(args: &args::Bench, deadline: Deadline<'_>) -> Result<BrowserProcess, Failure> {
    let Some(url) = &args.cdp_url else {
        let mut launch = LaunchOptions::default();
        launch.executable = args.browser.clone();
        launch.headless = headless(args.headless, Switch::On);
        launch.transport = args.transport.into();
        launch.start_timeout = launch.start_timeout.min(deadline.left());
        return Ok(BrowserProcess::launch(&launch)?);
    };
    let mut connect = ConnectOptions::default();
    connect.connect_timeout = connect.connect_timeout.min(deadline.left());
    BrowserProcess::attach(url, &connect).map_err(|error| Failure::of_address(error, "--cdp-url", url))
}

/// A flag that SIGINT and SIGTERM set, so that no page is left in a running browser. A second signal ends the process.
fn interrupted() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        use signal_hook::flag::{register, register_conditional_shutdown};
        register_conditional_shutdown(signal, 130, Arc::clone(&flag))
            .and_then(|_| register(signal, Arc::clone(&flag)))
            .map_err(|problem| Failure::internal(format!("cannot register signal handlers: {problem}")))?;
    }
    Ok(flag)
}

struct Run {
    deadline: Deadline<'static>,
    interrupted: Arc<AtomicBool>,
}

impl Run {
    fn measure(&self, args: &args::Bench) -> Result<Report, Failure> {
        let browser = browser(args, self.deadline)?;
        let product = browser.version().product.clone();
        let mut options = SupervisorOptions::task("bench");
        options.start_timeout = self.deadline.left();
        let supervisor = Supervisor::start(browser, options)?;
        let count = usize::try_from(args.calls).unwrap_or(usize::MAX);
        let (mut micros, sequential_per_s) = self.sequential(&supervisor, count)?;
        micros.sort_by(f64::total_cmp);
        let percentile = |percent: usize| micros.get((count - 1) * percent / 100).copied().unwrap_or_default();
        Ok(Report {
            ok: true,
            version: env!("CARGO_PKG_VERSION"),
            browser: product,
            transport: match (&args.cdp_url, args.transport) {
                (Some(_), _) => "attached",
                (None, args::Transport::Pipe) => "pipe",
                (None, args::Transport::Port) => "port",
            },
            calls: count,
            p50_us: percentile(50),
            p95_us: percentile(95),
            sequential_per_s,
            pipelined_per_s: self.pipelined(&supervisor, count)?,
            events_per_s: self.events(&supervisor)?,
        })
    }

    /// Fails when the run has to end.
    fn check(&self) -> Result<(), Failure> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Failure::new(Code::Interrupted, "interrupted"));
        }
        if self.deadline.passed() {
            let error = "not finished in time; allow more with --timeout, or measure less with --calls";
            return Err(Failure::new(Code::Timeout, error));
        }
        Ok(())
    }

    fn evaluate(&self, supervisor: &Supervisor, script: &str) -> Result<(), Failure> {
        self.check()?;
        supervisor.evaluate(&FrameRef::Top, script, self.deadline)?;
        Ok(())
    }

    /// The duration of each call, in microseconds, and calls per second.
    fn sequential(&self, supervisor: &Supervisor, count: usize) -> Result<(Vec<f64>, f64), Failure> {
        for _ in 0..WARM_UP {
            self.evaluate(supervisor, SUM)?;
        }
        let began = Instant::now();
        let call = |_| {
            let began = Instant::now();
            self.evaluate(supervisor, SUM).map(|()| began.elapsed().as_secs_f64() * 1e6)
        };
        let micros = (0..count).map(call).collect::<Result<Vec<_>, _>>()?;
        Ok((micros, rate(count, began)))
    }

    /// Calls per second from one thread. They use the connection, since calls of the supervisor block.
    fn pipelined(&self, supervisor: &Supervisor, count: usize) -> Result<f64, Failure> {
        let now = supervisor.view();
        let top = now.pages.first().and_then(|page| page.top_frame.as_ref());
        let session = top.and_then(|top| now.frame(top.as_str())).and_then(|frame| frame.session_id.clone());
        let session = supervisor.connection().session(session.ok_or(supervisor::Error::NoPage)?);
        let params = json!({ "expression": SUM });
        let mut under_way = VecDeque::new();
        let began = Instant::now();
        for number in 1..count + IN_FLIGHT {
            if number <= count {
                let sent = session.send_raw("Runtime.evaluate", &params).map_err(supervisor::Error::from)?;
                under_way.push_back(sent);
            }
            if number >= IN_FLIGHT
                && let Some(oldest) = under_way.pop_front()
            {
                self.check()?;
                oldest.wait_raw(self.deadline).map_err(supervisor::Error::from)?;
            }
        }
        Ok(rate(count, began))
    }

    /// Received console messages per second.
    fn events(&self, supervisor: &Supervisor) -> Result<f64, Failure> {
        let received = || supervisor.connection().counters().events;
        let (before, began) = (received(), Instant::now());
        for from in (0..EVENTS).step_by(MESSAGES) {
            let script = format!("for (let i = {from}; i < {}; i++) console.log(i)", from + MESSAGES);
            self.evaluate(supervisor, &script)?;
        }
        // The answer to a script arrives after its messages.
        Ok(rate(usize::try_from(received() - before).unwrap_or(usize::MAX), began))
    }
}

fn rate(count: usize, began: Instant) -> f64 {
    count as f64 / began.elapsed().as_secs_f64().max(1e-9)
}
