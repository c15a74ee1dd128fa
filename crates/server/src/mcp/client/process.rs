//! A server's process and its three streams, with a thread for each.
//!
//! `mcp-out-NAME` writes requests to stdin, `mcp-in-NAME` reads responses from stdout, `mcp-err-NAME` reads stderr. The
//! threads end with the process, even if a descendant holds a stream open.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::link::{Link, Outbox};
use super::platform::{self, Process};
use super::stderr::Tail;
use crate::config::McpServer;
use cdpilot::process::stdio::{self, Stop};
use cdpilot::sync::{Thread, on_panic, spawn};

/// The streams of a started process.
pub(super) struct Streams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Streams {
    pub(super) fn of(child: &mut Child) -> io::Result<Self> {
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("it has no pipes"));
        };
        Ok(Self { stdin, stdout, stderr })
    }
}

/// A running server. It has to be [ended](Self::end); dropping it kills it.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) link: Arc<Link>,
    pub(super) tail: Arc<Tail>,
    process: Process,
    // The order of the fields matters: the stop signal is dropped before the threads are joined.
    _stop: Stop,
    _threads: Vec<Thread>,
}

impl Running {
    /// Starts a server and its threads. The name is used for threads and logs.
    pub(super) fn start(name: &str, settings: &McpServer, tail: Arc<Tail>) -> io::Result<Self> {
        let (stop, stopped) = stdio::stop()?;
        let stopped = Arc::new(stopped);
        let (process, streams) = Process::spawn(&mut command(settings))?;
        tracing::debug!(server = name, pid = process.pid(), "an MCP server was started");
        let (link, outbox) = Link::new(name);
        // Created first, so that any later error ends the process.
        let mut running = Self { link, tail, process, _stop: stop, _threads: Vec::new() };
        let Streams { mut stdin, stdout, stderr } = streams;
        let ends = Arc::clone(&stopped);
        let writer = spawn(format!("mcp-out-{name}"), move || {
            let Outbox(messages) = outbox;
            for message in messages {
                if stdio::write_until_stopped(&mut stdin, message.as_bytes(), &ends).is_err() {
                    return;
                }
            }
        })?;
        running._threads.push(writer);
        let (link, ends) = (Arc::clone(&running.link), Arc::clone(&stopped));
        let reader = spawn(format!("mcp-in-{name}"), move || {
            // Pending requests fail at once.
            let _guard = on_panic(|| link.abandon());
            let mut lines = super::lines::Lines::default();
            stdio::read_until_stopped(stdout, &ends, |bytes| lines.take(bytes, |line| link.read(line)));
            link.abandon();
        })?;
        running._threads.push(reader);
        let tail = Arc::clone(&running.tail);
        let beside = spawn(format!("mcp-err-{name}"), move || {
            stdio::read_until_stopped(stderr, &stopped, |bytes| tail.push(bytes));
            tail.end();
        })?;
        running._threads.push(beside);
        Ok(running)
    }

    /// Ends the server: closes its stdin, waits up to `patience`, sends SIGTERM, waits again, and kills it. Pending
    /// requests fail at once. Its output until then is in its tail.
    pub(super) fn end(mut self, grace: Duration) {
        self.link.abandon();
        self.process.end(grace);
    }
}

/// The command of a server, with its own environment instead of the inherited one.
fn command(settings: &McpServer) -> Command {
    let mut command = Command::new(platform::program(&settings.command));
    let ours = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(platform::is_passed_on));
    command.args(&settings.args).env_clear().envs(ours).envs(&settings.env);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
