//! `cdpilot supervise`: supervises a browser from a shell. Requests of the HTTP API are read from stdin; events and answers are
//! JSON lines on stdout.
//!
//! The main thread waits for input and for reasons to end, and passes requests to worker lanes; it never waits for a page.
//! Threads: `cli-in` reads, `cli-out` writes, `cli-log` follows the event log, `cli-page-…` run requests in parallel, and
//! `cli-quick` those that need no page, so that a dialog can be answered while a script waits for it.

mod input;
mod lines;
mod request;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::args::Supervise;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::{Settings, env, headers, headless};
use cdpilot::browser::{AttachOptions, BrowserProcess, LaunchOptions, Switch, TransportKind};
use cdpilot::page::PageOptions;
use cdpilot::supervisor::{DialogPolicy, Entry, PageView, Pages, Supervisor, SupervisorOptions};
use cdpilot::sync::{Deadline, Thread, spawn};
use cdpilot_server::control::Control;
use cdpilot_server::server::LocalApi;
use input::Input;
use lines::Lines;
use request::Request;

pub(super) mod fuzzing {
    //! Parsing of stdin without a browser, for fuzz targets.

    use super::input::{Line, Splitter};
    use super::request::Request;

    /// The result of parsing a line.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Read {
        /// An empty line.
        Empty,
        /// A request: its debug text.
        Request(String),
        /// Why the line is no request.
        Invalid(String),
    }

    /// Parses stdin that arrives in these pieces.
    #[must_use]
    pub fn stdin_lines(pieces: &[&[u8]]) -> Vec<Read> {
        let mut splitter = Splitter::default();
        let mut lines: Vec<Line> = pieces.iter().flat_map(|piece| splitter.push(piece)).collect();
        lines.extend(splitter.end());
        lines.into_iter().map(read).collect()
    }

    fn read(line: Line) -> Read {
        match Request::parse(line) {
            None => Read::Empty,
            Some(Request { call: Err(problem), .. }) => Read::Invalid(problem),
            Some(request) => Read::Request(format!("{request:?}")),
        }
    }
}

/// Capacity of a lane's queue.
const WAITING: usize = 256;
/// Threads for requests that wait for a page.
const PAGE_THREADS: usize = 4;
/// Time limit for stopping the session.
const STOP_TIME: Duration = Duration::from_secs(5);
/// How long to wait for the reader of the last lines.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Why the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// stdin was closed; earlier requests are answered.
    Input,
    /// A signal arrived.
    #[cfg(unix)]
    Signal,
    /// stdout was closed.
    ReaderGone,
    /// The browser has ended or the connection is lost.
    Lost,
}

pub(super) fn run(args: &Supervise, settings: &Settings, out: &Out) -> Result<Exit, Failure> {
    check_files(args)?;
    let supervisor = Arc::new(start(args, settings)?);
    if std::io::stdin().is_terminal() {
        out.aside(&format!(
            "supervising the browser; requests are lines such as {}, Ctrl-D ends the session",
            request::EXAMPLE
        ));
    }
    let end = Session::open(&supervisor, args)?.run();
    Ok(if end == End::Lost { Exit::Failed } else { Exit::Done })
}

fn start(args: &Supervise, settings: &Settings) -> Result<Supervisor, Failure> {
    let mut options = SupervisorOptions::task("supervise");
    options.policy = args.policy.into();
    options.bridge = args.dialog_bridge.into();
    options.rescue_after = Duration::from_millis(args.rescue_after);
    options.dialog_timeout = Duration::from_secs(args.dialog_timeout);
    options.start_timeout = settings.timeout(options.start_timeout);
    if args.launch {
        let mut launch = LaunchOptions::default();
        launch.executable = args.browser.clone();
        launch.headless = headless(args.headless, Switch::Auto);
        launch.transport = args.port.map_or(TransportKind::Pipe, TransportKind::PipeAndPort);
        launch.start_timeout = settings.timeout(launch.start_timeout);
        return Ok(Supervisor::launch(&launch, options)?);
    }
    let given = args.cdp_url.clone().map(|url| ("--cdp-url", url));
    let (name, url) = given
        .or_else(|| Some(("CDPILOT_CDP_URL", env("CDPILOT_CDP_URL")?)))
        .ok_or_else(|| Failure::usage("no browser given; use --launch or --cdp-url URL, or set CDPILOT_CDP_URL"))?;
    options.pages = args.target.as_deref().map_or(Pages::All, |target| Pages::Existing(target.into()));
    let mut attach = AttachOptions::default();
    attach.connect.headers = headers(&args.cdp_headers)?;
    attach.connect.connect_timeout = settings.timeout(attach.connect.connect_timeout);
    attach.webdriver.session_timeout = settings.timeout(attach.webdriver.session_timeout);
    let browser = BrowserProcess::attach_with(&url, &attach);
    Ok(Supervisor::start(browser.map_err(|error| Failure::of_address(error, name, &url))?, options)?)
}

/// The first output line.
#[derive(Debug, Serialize)]
struct Ready {
    #[serde(rename = "type")]
    kind: &'static str,
    version: &'static str,
    browser: String,
    /// Whether this program started the browser.
    launched: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(rename = "cdpPort", skip_serializing_if = "Option::is_none")]
    cdp_port: Option<u16>,
    policy: DialogPolicy,
    pages: Vec<Map<String, Value>>,
}

impl Ready {
    fn of(supervisor: &Supervisor, policy: DialogPolicy) -> Self {
        let details = supervisor.with_browser(|browser: &BrowserProcess| {
            let port = browser.endpoint().map(|endpoint| endpoint.port());
            (browser.version().product.clone(), browser.pid(), port.filter(|_| browser.pid().is_some()))
        });
        let (browser, pid, cdp_port) = details.unwrap_or_default();
        let pages = supervisor.view().pages.iter().map(page_line).collect();
        let version = env!("CARGO_PKG_VERSION");
        Self { kind: "ready", version, browser, launched: pid.is_some(), pid, cdp_port, policy, pages }
    }
}

/// A page in the first line.
fn page_line(page: &PageView) -> Map<String, Value> {
    let fields = [
        ("targetId", json!(page.target_id.as_str())),
        ("url", json!(page.url)),
        ("title", json!(page.title)),
        ("state", json!(page.state)),
        ("own", json!(page.own)),
        ("lostDialog", json!(page.lost_dialog)),
        ("opener", json!(page.opener.as_ref().map(|opener| opener.as_str()))),
    ];
    fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Worker threads for requests. They end when the lane is closed and empty.
struct Lane {
    jobs: Sender<Request>,
    threads: Vec<Thread>,
}

struct Session {
    supervisor: Arc<Supervisor>,
    input: Input,
    lines: Lines,
    control: Receiver<End>,
    pages: Lane,
    quick: Lane,
    /// Disconnects when all lanes have ended.
    busy: Receiver<()>,
    /// Disconnects when the log and all lines are written.
    writing: Receiver<()>,
    patience: Sender<()>,
    log: Thread,
    writer: Thread,
}

/// Refuses a `--files` that cannot be a folder.
fn check_files(args: &Supervise) -> Result<(), Failure> {
    match &args.files {
        Some(path) if path.exists() && !path.is_dir() => Err(Failure::usage(format!(
            "--files {} is not a folder; give a folder, which is created when missing",
            path.display()
        ))),
        _ => Ok(()),
    }
}

impl Session {
    fn open(supervisor: &Arc<Supervisor>, args: &Supervise) -> Result<Self, Failure> {
        let refused = |problem: std::io::Error| Failure::internal(format!("cannot start a thread: {problem}"));
        // Before any thread: dropping those after a failure would wait for stdin.
        let downloads = args.files.as_ref().map(|folder| folder.join("downloads"));
        let mut options = PageOptions::default();
        options.downloads = downloads;
        let media = args.files.as_ref().map_or_else(|| PathBuf::from("."), |folder| folder.join("media"));
        let browsers = Arc::new(Control::of_supervisor(Arc::clone(supervisor), options, &media)?);
        let api = Arc::new(LocalApi::new(browsers));
        // Every sender sends at most one message.
        let (tell, control) = bounded(8);
        let (alive, writing) = bounded(0);
        let (working, busy) = bounded(0);
        let (lines, patience, writer) = Lines::start(tell.clone(), alive.clone()).map_err(refused)?;
        lines.write(&Ready::of(supervisor, args.policy.into()));
        let lane = |name: &str, count: usize| -> Result<Lane, Failure> {
            let (jobs, queue) = bounded::<Request>(WAITING);
            let threads = (1..=count).map(|number| {
                let (queue, working, api, lines) = (queue.clone(), working.clone(), Arc::clone(&api), lines.clone());
                let name = if count == 1 { name.to_owned() } else { format!("{name}-{number}") };
                spawn(name, move || {
                    let _working = working;
                    queue.iter().for_each(|request| lines.write(&request.answer(&api)));
                })
            });
            Ok(Lane { threads: threads.collect::<std::io::Result<_>>().map_err(refused)?, jobs })
        };
        let pages = lane("cli-page", PAGE_THREADS)?;
        let quick = lane("cli-quick", 1)?;
        let input = Input::start(tell.clone()).map_err(refused)?;
        let log = {
            let (supervisor, lines) = (Arc::clone(supervisor), lines.clone());
            spawn("cli-log", move || {
                let _alive = alive;
                follow(&supervisor, &lines);
                let _ = tell.try_send(End::Lost);
            })
        };
        let supervisor = Arc::clone(supervisor);
        let log = log.map_err(refused)?;
        Ok(Self { supervisor, input, lines, control, pages, quick, busy, writing, patience, log, writer })
    }

    fn run(self) -> End {
        let mut end = self.take_requests();
        let Self { supervisor, input, lines, control, pages, quick, busy, writing, patience, log, writer } = self;
        drop(input);
        let threads: Vec<Thread> = [pages, quick].into_iter().flat_map(|lane| lane.threads).collect();
        if end == End::Input {
            // Earlier requests are answered, unless another reason to end arrives.
            select! {
                recv(busy) -> _ => {}
                recv(control) -> why => end = why.unwrap_or(End::Input),
            }
        }
        supervisor.stop(Deadline::after(STOP_TIME));
        drop(lines);
        if writing.recv_timeout(LAST_LINES) == Err(crossbeam_channel::RecvTimeoutError::Timeout) {
            drop(patience);
            // It is blocked on stdout, until the process ends.
            std::mem::forget(writer);
        }
        drop((log, threads));
        end
    }

    /// Passes requests to the lanes until there is a reason to end; waits for room in the lane.
    fn take_requests(&self) -> End {
        loop {
            let line = select! {
                recv(self.input.lines) -> line => line,
                recv(self.control) -> why => return why.unwrap_or(End::Lost),
            };
            let Ok(line) = line else { return End::Input };
            let Some(request) = Request::parse(line) else { continue };
            let lane = if request.is_quick() { &self.quick } else { &self.pages };
            select! {
                send(lane.jobs, request) -> _ => {}
                recv(self.control) -> why => return why.unwrap_or(End::Lost),
            }
        }
    }
}

/// Writes new entries of the event log until it ends.
fn follow(supervisor: &Supervisor, lines: &Lines) {
    #[derive(Serialize)]
    struct Lost {
        #[serde(rename = "type")]
        kind: &'static str,
        count: u64,
    }
    const AT_ONCE: usize = 256;
    let log = supervisor.log();
    let mut seen = 0;
    loop {
        let ended = log.has_ended();
        let tail = log.wait_since(seen, AT_ONCE, Deadline::after_secs(60));
        if tail.lost > 0 {
            lines.write(&Lost { kind: "lost", count: tail.lost });
        }
        let write = |entry: &Entry| lines.write(entry);
        tail.entries.iter().for_each(write);
        match tail.entries.last() {
            Some(entry) => seen = entry.seq,
            None if ended => return,
            None => {}
        }
    }
}
