//! `cdpilot serve`: runs the control server of a home until a signal stops it.

use std::time::Duration;

use serde::Serialize;

use super::args::{Global, Serve};
use super::client::is_loopback_url;
use super::failure::{Exit, Failure};
use super::output::Out;
use super::settings::env;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Home, RESERVED_PORT, Running};
use cdpilot_server::control::Overrides;
use cdpilot_server::server::{Error, Server, ServerOptions};

/// Time limit for stopping; the documented limit is five seconds.
const STOP_TIME: Duration = Duration::from_millis(4_500);
/// Set to 1, it makes the server answer routes that are for tests.
const TEST_ROUTES: &str = "CDPILOT_TEST_ROUTES";
/// How often the server is checked on systems without signals.
#[cfg(not(unix))]
const POLL_INTERVAL: Duration = Duration::from_millis(500);

pub(super) fn run(args: &Serve, global: &Global, out: &Out) -> Result<Exit, Failure> {
    let home = Home::find()?;
    if args.stop {
        return stop(&home, out);
    }
    #[cfg(unix)]
    let signals = super::signals::Signals::register()
        .map_err(|problem| Failure::internal(format!("cannot register signal handlers: {problem}")))?;
    if args.background {
        leave_terminal();
    }
    let server = Server::start(options(args, global, home)?)?;
    announce(&server, args, out);
    #[cfg(unix)]
    {
        let ring =
            signals.ring().map_err(|problem| Failure::internal(format!("cannot watch the server: {problem}")))?;
        server.when_failed(ring);
        signals.wait();
    }
    #[cfg(not(unix))]
    while !server.has_failed() {
        cdpilot::sync::pause(POLL_INTERVAL);
    }
    let failed = server.has_failed();
    // Ends the process if stopping takes too long.
    #[cfg(unix)]
    let _late = super::signals::exit_after(STOP_TIME + Duration::from_millis(300), i32::from(failed));
    server.stop(Deadline::after(STOP_TIME));
    if failed {
        let what = "internal error: the server has stopped with its browsers; see its log for the reason";
        return Err(Failure::internal(format!("{what}; the next command starts a new server")));
    }
    Ok(Exit::Done)
}

pub(super) fn options(args: &Serve, global: &Global, home: Home) -> Result<ServerOptions, Failure> {
    let config = Config::of(&home)?;
    if !is_loopback_url(&config.browser.control_url) {
        let what = "cannot serve: browser.control_url in config.yaml points to another machine";
        let hint = "remove the setting to run a server here";
        return Err(Failure::unreachable(format!("{what}; {hint}")));
    }
    for (name, port) in [("--port", args.port), ("--cdp-port", args.cdp_port)] {
        if port == Some(RESERVED_PORT) {
            let why = "is reserved for manual debugging; choose another port";
            return Err(Failure::usage(format!("{name} {RESERVED_PORT} {why}")));
        }
    }
    let flags = Overrides {
        headless: args.headless.map(Into::into),
        cdp_port: args.cdp_port,
        profile: global.profile.clone(),
        ..Overrides::default()
    };
    let mut options = ServerOptions::new(home, config);
    options.overrides = flags.or(Overrides::env());
    options.bind = args.bind.clone();
    options.port = args.port;
    // Commands find a background server by run/server.json, so any port will do.
    options.any_port = args.background;
    options.test_routes = env(TEST_ROUTES).is_some_and(|value| value == "1");
    Ok(options)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Taken { .. } => {
                Self::new(Code::Conflict, text.replace("stop it first", "stop it first with `cdpilot serve --stop`"))
            }
            Error::Bind { .. } => Self::new(Code::Conflict, text),
            Error::NotLoopback { .. } | Error::NotAnAddress { .. } => Self::usage(text),
            Error::Config(inner) => inner.into(),
            Error::Control(inner) => Self::new(inner.kind(), text),
            _ => Self::new(Code::Internal, text),
        }
    }
}

fn announce(server: &Server, args: &Serve, out: &Out) {
    #[derive(Serialize)]
    struct Serving<'a> {
        ok: bool,
        url: &'a str,
        port: u16,
        pid: u32,
        version: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        warning: Option<&'a str>,
    }
    let (url, address) = (server.url(), server.addr());
    let warning = server.is_exposed().then(|| {
        format!(
            "other machines can reach the server on {address}, and the token travels unencrypted; \
             put a TLS proxy in front of the server (see docs/remote.md)"
        )
    });
    out.object(&Serving {
        ok: true,
        url,
        port: address.port(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION"),
        warning: warning.as_deref(),
    });
    out.line(url);
    if let Some(warning) = &warning {
        out.aside(&format!("warning: {warning}"));
    }
    if !args.background {
        out.aside("serving; `cdpilot ui` prints a URL of the web UI, Ctrl-C stops the server");
    }
}

/// Starts a new process session, so that Ctrl-C and the end of the terminal do not stop the server.
fn leave_terminal() {
    #[cfg(unix)]
    if let Err(problem) = rustix::process::setsid() {
        tracing::warn!("the server stays in the session of the command that started it: {problem}");
    }
}

/// Stops the server of the home with SIGTERM and waits for its end.
fn stop(home: &Home, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Stopped {
        ok: bool,
        stopped: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
    }
    let report = |stopped: bool, pid: Option<u32>| {
        out.line(if stopped { "stopped the server" } else { "the server of this home is not running" });
        out.object(&Stopped { ok: true, stopped, pid });
    };
    let Some(server) = Running::process_of(home)? else {
        report(false, None);
        return Ok(Exit::Done);
    };
    end(server)?;
    let until = Deadline::after_secs(8);
    while Running::process_of(home)? == Some(server) {
        if until.passed() {
            let why =
                format!("the server (process {server}) did not stop within 8 s; end it with `kill -KILL {server}`");
            return Err(Failure::new(Code::Timeout, why));
        }
        cdpilot::sync::pause(Duration::from_millis(20));
    }
    report(true, Some(server));
    Ok(Exit::Done)
}

/// Sends SIGTERM. The process holds the lock of the home, so its id is not reused.
fn end(pid: u32) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        let id = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let id = id.ok_or_else(|| Failure::internal(format!("{pid} is not a process id")))?;
        kill_process(id, Signal::TERM)
            .map_err(|problem| Failure::internal(format!("cannot stop process {pid}: {problem}")))?;
        // A suspended process receives SIGTERM once it continues.
        let _ = kill_process(id, Signal::CONT);
        Ok(())
    }
    #[cfg(not(unix))]
    Err(Failure::internal(format!("cannot stop the server on this system; end process {pid} with the task manager")))
}
