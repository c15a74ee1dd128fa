//! `cdpilot supervise`: supervises a browser from a shell. Events and results are JSON lines on stdout, commands are read from
//! stdin.
//!
//! The main thread waits for input and for reasons to end, and passes commands to worker lanes; it never waits for a page.
//! Threads: `cli-in` reads, `cli-out` writes, `cli-log` follows the event log, `cli-typed` runs typed commands in sequence,
//! `cli-json-…` run JSON commands in parallel, and `cli-dialog` runs commands that need no page, so that a dialog can be answered
//! while a script waits for it.

mod act;
mod command;
mod input;
mod lines;
mod page;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::Supervise;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::{Settings, env, headers, headless};
use crate::browser::{AttachOptions, BrowserProcess, LaunchOptions, Switch, TransportKind};
use crate::control::Control;
use crate::page::PageOptions;
use crate::server::LocalApi;
use crate::supervisor::{DialogPolicy, Entry, Pages, Supervisor, SupervisorOptions};
use crate::sync::{Deadline, Thread, spawn};
use act::{Answer, Context};
use command::{Command, InvalidLine, Request};
use input::{Input, Line};
use lines::Lines;

pub(super) mod fuzzing {
    //! Parsing of stdin without a browser, for fuzz targets.

    use super::command;
    use super::input::{Line, Splitter};

    /// The result of parsing a line.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Read {
        /// An empty line.
        Empty,
        /// A command: its name, whether it was JSON, its debug text.
        Command(String, bool, String),
        /// The name of the command and the problem.
        InvalidLine(String, String),
        /// Too long, or not UTF-8.
        Unreadable(&'static str),
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
        let text = match line {
            Line::Text(text) => text,
            Line::Unreadable(problem) => return Read::Unreadable(problem),
        };
        match command::parse(&text) {
            None => Read::Empty,
            Some(Ok(asked)) => Read::Command(asked.command.name().to_owned(), asked.json, format!("{asked:?}")),
            Some(Err(misread)) => Read::InvalidLine(misread.command, misread.problem),
        }
    }
}

/// Capacity of a lane's queue.
const WAITING: usize = 256;
/// Threads for JSON commands.
const JSON_THREADS: usize = 4;
/// Time limit for stopping the session.
const STOP_TIME: Duration = Duration::from_secs(5);
/// How long to wait for the reader of the last lines.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Why the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// `quit`, or stdin closed; earlier commands are finished.
    Request,
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
        out.aside("supervising the browser; `help` lists the commands, `quit` ends the session");
    }
    let end = Session::open(&supervisor, *settings, args)?.run();
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
        let mut launch = LaunchOptions {
            executable: args.browser.clone(),
            headless: headless(args.headless, Switch::Auto),
            transport: args.port.map_or(TransportKind::Pipe, TransportKind::PipeAndPort),
            ..LaunchOptions::default()
        };
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
        let pages = supervisor.view().pages.iter().map(act::page_line).collect();
        let version = env!("CARGO_PKG_VERSION");
        Self { kind: "ready", version, browser, launched: pid.is_some(), pid, cdp_port, policy, pages }
    }
}

/// Worker threads for commands. They end when the lane is closed and empty.
struct Lane {
    jobs: Sender<Request>,
    threads: Vec<Thread>,
}

struct Session {
    supervisor: Arc<Supervisor>,
    input: Input,
    lines: Lines,
    control: Receiver<End>,
    typed: Lane,
    json: Lane,
    dialogs: Lane,
    /// Invalid lines, which are answered too.
    misread: Sender<InvalidLine>,
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
    fn open(supervisor: &Arc<Supervisor>, settings: Settings, args: &Supervise) -> Result<Self, Failure> {
        let refused = |problem: std::io::Error| Failure::internal(format!("cannot start a thread: {problem}"));
        // Before any thread: dropping those after a failure would wait for stdin.
        let downloads = args.files.as_ref().map(|folder| folder.join("downloads"));
        let options = PageOptions { downloads, ..PageOptions::default() };
        let media = args.files.as_ref().map_or_else(|| PathBuf::from("."), |folder| folder.join("media"));
        let browsers = Arc::new(Control::of_supervisor(Arc::clone(supervisor), options, &media)?);
        let tabs = browsers.profile(None)?.running()?.tabs.clone();
        let context = Context { tabs, settings, api: Arc::new(LocalApi::new(browsers)) };
        // Every sender sends at most one message.
        let (tell, control) = bounded(8);
        let (alive, writing) = bounded(0);
        let (working, busy) = bounded(0);
        let (lines, patience, writer) = Lines::start(tell.clone(), alive.clone()).map_err(refused)?;
        lines.write(&Ready::of(supervisor, args.policy.into()));
        let (misread, unread) = bounded::<InvalidLine>(WAITING);
        let lane = |name: &str, count: usize, unread: Option<Receiver<InvalidLine>>| -> Result<Lane, Failure> {
            let (jobs, queue) = bounded::<Request>(WAITING);
            let threads = (1..=count).map(|number| {
                let (queue, unread, working) = (queue.clone(), unread.clone(), working.clone());
                let (context, lines) = (context.clone(), lines.clone());
                let name = if count == 1 { name.to_owned() } else { format!("{name}-{number}") };
                spawn(name, move || {
                    let _working = working;
                    let unread = unread.unwrap_or_else(crossbeam_channel::never);
                    work(&queue, &unread, &context, &lines);
                })
            });
            Ok(Lane { threads: threads.collect::<std::io::Result<_>>().map_err(refused)?, jobs })
        };
        let typed = lane("cli-typed", 1, None)?;
        let json = lane("cli-json", JSON_THREADS, None)?;
        let dialogs = lane("cli-dialog", 1, Some(unread))?;
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
        Ok(Self {
            supervisor,
            input,
            lines,
            control,
            typed,
            json,
            dialogs,
            misread,
            busy,
            writing,
            patience,
            log,
            writer,
        })
    }

    fn run(self) -> End {
        let mut end = self.take_commands();
        let Self {
            supervisor,
            input,
            lines,
            control,
            typed,
            json,
            dialogs,
            misread,
            busy,
            writing,
            patience,
            log,
            writer,
        } = self;
        drop(input);
        drop(misread);
        let threads: Vec<Thread> = [typed, json, dialogs].into_iter().flat_map(|lane| lane.threads).collect();
        if end == End::Request {
            // Earlier commands are finished, unless another reason to end arrives.
            select! {
                recv(busy) -> _ => {}
                recv(control) -> why => end = why.unwrap_or(End::Request),
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

    /// Passes commands to the lanes until there is a reason to end.
    fn take_commands(&self) -> End {
        loop {
            let line = select! {
                recv(self.input.lines) -> line => line,
                recv(self.control) -> why => return why.unwrap_or(End::Lost),
            };
            let read = match line {
                Err(_) => return End::Request,
                Ok(Line::Text(text)) => command::parse(&text),
                Ok(Line::Unreadable(problem)) => Some(Err(InvalidLine {
                    is_request: false,
                    command: String::new(),
                    id: None,
                    problem: problem.to_owned(),
                })),
            };
            let quit = matches!(&read, Some(Ok(asked)) if asked.command == Command::Quit {});
            let stopped = match read {
                None => None,
                Some(Ok(asked)) => {
                    let lane = if !asked.command.waits_for_page() {
                        &self.dialogs
                    } else if asked.json {
                        &self.json
                    } else {
                        &self.typed
                    };
                    self.hand(&lane.jobs, asked)
                }
                Some(Err(misread)) => self.hand(&self.misread, misread),
            };
            match stopped {
                Some(end) => return end,
                None if quit => return End::Request,
                None => {}
            }
        }
    }

    /// Queues a job; waits for room in the lane or a reason to end.
    fn hand<T>(&self, lane: &Sender<T>, job: T) -> Option<End> {
        select! {
            send(lane, job) -> _ => None,
            recv(self.control) -> why => Some(why.unwrap_or(End::Lost)),
        }
    }
}

fn work(queue: &Receiver<Request>, unread: &Receiver<InvalidLine>, context: &Context, lines: &Lines) {
    loop {
        select! {
            recv(queue) -> asked => match asked {
                Ok(asked) => lines.write(&act::carry_out(asked, context)),
                Err(_) => break,
            },
            recv(unread) -> misread => match misread {
                Ok(misread) => lines.write(&Answer::misread(misread)),
                Err(_) => break,
            },
        }
    }
    queue.iter().for_each(|asked| lines.write(&act::carry_out(asked, context)));
    unread.try_iter().for_each(|misread| lines.write(&Answer::misread(misread)));
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
