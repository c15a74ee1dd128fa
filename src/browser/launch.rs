//! Starting a browser up to its first answer, and the reasons of failures.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::endpoint::Endpoint;
use super::find::{self, Os};
use super::flags::{Facts, flags, talks_by_pipe};
use super::options::{Decision, LaunchOptions, Surroundings};
use super::platform::Pipes;
use super::port_file::{self, NotReady};
use super::process::{Plan, Process};
use super::profile::Profile;
use super::{Error, Version};
use crate::cdp::{self, Connection};
use crate::sync::Deadline;

/// A started browser, and the decisions about it.
#[derive(Debug)]
pub(super) struct Running {
    // Field order: the process ends before its profile is removed.
    pub(super) process: Process,
    pub(super) profile: Profile,
    /// The pipe when it is not the transport: its closing ends the browser if this process is killed.
    pub(super) life_line: Option<Pipes>,
    pub(super) executable: PathBuf,
    pub(super) headless: Decision,
    pub(super) no_sandbox: Decision,
}

/// The result of a start.
pub(super) struct Started {
    pub(super) running: Running,
    /// The endpoint, when the port is the transport.
    pub(super) by_port: Option<Endpoint>,
    pub(super) connection: Connection,
    pub(super) endpoint: Option<Endpoint>,
    pub(super) version: Version,
}

/// Why a start failed, before the browser's output is examined.
enum Failure {
    Ended,
    PortRefused,
    TimeUp(&'static str),
    Other(Error),
}

const FIRST_ANSWER: &str = "answer its first call";
const OPEN_PORT: &str = "open its debugging port";

/// Starts a browser and waits for its first answer.
pub(super) fn start(options: &LaunchOptions, deadline: Deadline<'_>) -> Result<Started, Error> {
    let deadline = deadline.within(options.start_timeout);
    let executable = find::find(options.executable.as_deref())?.path;
    let around = Surroundings::read();
    let headless = around.headless(options.headless, &options.extra_args);
    let no_sandbox = around.no_sandbox(options.no_sandbox, &options.extra_args);

    let mut profile = Profile::open(options.user_data_dir.as_deref(), &executable)?;
    let user_agent = super::user_agent::text(&options.user_agent, headless.on, &executable, deadline);
    let facts = Facts {
        os: Os::this(),
        user_data_dir: profile.dir(),
        headless: headless.on,
        no_sandbox: no_sandbox.on,
        user_agent: user_agent.as_deref(),
    };
    let args = flags(options, &facts)?;
    if let Some(port) = options.transport.port() {
        check_free(port)?;
    }
    let mut env = profile.env();
    env.extend(options.env.iter().map(|(name, value)| (name.into(), value.into())));
    let (crashes, removable) = (profile.crashes(), profile.removable().map(Path::to_owned));
    let plan =
        Plan { executable: &executable, args: &args, env: &env, removable: removable.as_deref(), crashes: &crashes };
    let (process, pipes) = Process::spawn(&plan, |pid| profile.taken_by(pid, &executable))?;
    let mut running = Running { process, profile, life_line: None, executable, headless, no_sandbox };
    running.profile.sweep(&running.executable); // while the browser starts

    match connect(options, &mut running, pipes, deadline) {
        Ok((connection, endpoint, version)) => {
            let by_port = endpoint.clone().filter(|_| !talks_by_pipe(options.transport, Os::this()));
            Ok(Started { running, by_port, connection, endpoint, version })
        }
        Err(failure) => Err(explain(options, running, failure)),
    }
}

/// Chromium only logs that its port is taken and continues without it, so check first.
fn check_free(port: u16) -> Result<(), Error> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Err(problem) if problem.kind() == std::io::ErrorKind::AddrInUse => Err(Error::PortInUse { port }),
        _ => Ok(()),
    }
}

type Connected = (Connection, Option<Endpoint>, Version);

fn connect(
    options: &LaunchOptions,
    running: &mut Running,
    pipes: Option<Pipes>,
    deadline: Deadline<'_>,
) -> Result<Connected, Failure> {
    let port = options.transport.on(Os::this()).port();
    let by_pipe = if talks_by_pipe(options.transport, Os::this()) {
        pipes
    } else {
        running.life_line = pipes;
        None
    };
    let wait_for_port = |running: &mut Running, port| {
        port_file::wait(&mut running.process, running.profile.dir(), port, deadline)
            .map_err(|why| match why {
                NotReady::Ended => Failure::Ended,
                NotReady::PortRefused => Failure::PortRefused,
                NotReady::TimeUp => Failure::TimeUp(OPEN_PORT),
            })
            .and_then(|endpoint| match endpoint.host() {
                // Taken since the check: Chromium then silently listens on the IPv6 loopback.
                "::1" if check_free(port).is_err() => Err(Failure::PortRefused),
                _ => Ok(endpoint),
            })
    };
    match (by_pipe, port) {
        (Some(pipes), port) => {
            let connection = over_pipe(pipes, options).map_err(broken)?;
            let version = Version::ask(&connection, deadline).map_err(broken)?;
            let endpoint = port.map(|port| wait_for_port(running, port)).transpose()?;
            Ok((connection, endpoint, version))
        }
        (None, port) => {
            let endpoint = wait_for_port(running, port.unwrap_or(0))?;
            let connection = Connection::connect_until(&endpoint.url(), &options.connect, deadline).map_err(broken)?;
            let version = Version::ask(&connection, deadline).map_err(broken)?;
            Ok((connection, Some(endpoint), version))
        }
    }
}

#[cfg(unix)]
fn over_pipe(pipes: Pipes, options: &LaunchOptions) -> Result<Connection, cdp::Error> {
    Connection::over_pipe(pipes.from_browser, pipes.to_browser, &options.connect)
}

#[cfg(not(unix))]
fn over_pipe(pipes: Pipes, _options: &LaunchOptions) -> Result<Connection, cdp::Error> {
    match pipes {}
}

fn broken(problem: cdp::Error) -> Failure {
    match problem {
        cdp::Error::Closed { .. } => Failure::Ended,
        cdp::Error::Timeout { .. } => Failure::TimeUp(FIRST_ANSWER),
        other => Failure::Other(Error::Cdp(other)),
    }
}

/// Ends the browser and turns the failure and the browser's output into an error.
fn explain(options: &LaunchOptions, mut running: Running, failure: Failure) -> Error {
    /// A closed connection is detected a moment before the end of the process.
    const ENDING: Duration = Duration::from_secs(1);
    /// The output is already in the pipe when the process ends; a helper may keep the pipe open longer.
    const OUTPUT_TIME: Duration = Duration::from_millis(200);

    let ended = match failure {
        Failure::Ended => running.process.wait_ended(Deadline::after(ENDING)),
        _ => running.process.wait_ended(Deadline::after(Duration::ZERO)),
    };
    let holder = running.profile.holder();
    let status = running.process.end(Deadline::after(ENDING));
    running.process.log().wait(Deadline::after(OUTPUT_TIME), |findings| findings.ended);
    let (words, stderr) = (running.process.log().text(), running.process.log().quote());
    let (pid, path) = (running.process.pid(), running.profile.dir().to_owned());
    if status.is_ok()
        && let Err(problem) = running.profile.close(pid, Deadline::after(ENDING))
    {
        tracing::warn!("{problem}");
    }

    if let Some(error) = known(&words, &stderr) {
        return match (error, holder) {
            (Known::Error(error), _) => error,
            (Known::InUse, holder) => Error::ProfileInUse { path, holder: holder.unwrap_or_default() },
        };
    }
    match (failure, status) {
        (Failure::PortRefused, _) => Error::PortInUse { port: options.transport.port().unwrap_or(0) },
        (Failure::Other(error), _) if !ended => error,
        (Failure::TimeUp(waiting_for), _) if !ended => {
            Error::StartTimeout { waiting_for, after: options.start_timeout, stderr }
        }
        (Failure::Ended, _) if !ended => {
            Error::Exited { status: "it closed its debugging channel".to_owned(), clean: false, stderr }
        }
        (_, Ok(status)) => Error::Exited { status: status.to_string(), clean: status.success(), stderr },
        (_, Err(problem)) => problem,
    }
}

enum Known {
    Error(Error),
    InUse,
}

/// Messages of Chromium that have an error variant.
fn known(words: &str, stderr: &str) -> Option<Known> {
    let says = |sentences: &[&str]| sentences.iter().any(|sentence| words.contains(sentence));
    let stderr = stderr.to_owned();
    if says(&["Opening in existing browser session", "profile appears to be in use by another"]) {
        Some(Known::InUse)
    } else if says(&["Running as root without --no-sandbox"]) {
        Some(Known::Error(Error::Sandbox { root: true, stderr }))
    } else if says(&["No usable sandbox"]) {
        Some(Known::Error(Error::Sandbox { root: false, stderr }))
    } else if says(&["Missing X server or $DISPLAY", "Unable to open X display", "cannot open display"]) {
        Some(Known::Error(Error::NoDisplay { stderr }))
    } else {
        None
    }
}
