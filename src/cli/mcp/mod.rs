//! `cdpilot mcp`: the tools for models, one JSON object per line on stdin and stdout.
//!
//! | file | what it holds |
//! |---|---|
//! | `switch` | whose tools they are: a server's that runs, or our own |
//! | `bridge` | one request to a server that runs |
//! | `input` | stdin, which a signal ends |

mod bridge;
mod input;
mod switch;

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use super::args::{Global, Mcp};
use super::failure::{Exit, Failure};
use super::settings::env;
use crate::control::Session;
use crate::mcp::server::{Backend, Limits, serve};
use crate::sync::{Cancel, Deadline};
use switch::Switch;

/// What the end of a browser of our own may take.
const STOP_TIME: Duration = Duration::from_millis(3_500);

pub(super) fn run(args: &Mcp, global: &Global) -> Result<Exit, Failure> {
    let hurry = Cancel::new();
    let input = input::Input::start(&hurry)
        .map_err(|problem| Failure::internal(format!("signals cannot be heard: {problem}")))?;
    let profile = global.profile.clone().or_else(|| env("CDPILOT_PROFILE"));
    let toolsets = args.toolsets.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    let switch = Arc::new(Switch::new(global, toolsets, profile)?);
    // Whatever is wrong with what was asked for is told before anything is served.
    switch.check()?;
    if std::io::stdin().is_terminal() && !global.quiet {
        let hint = "serving MCP; a client is to write JSON lines here, `cdpilot mcp --help` says how. Ctrl-D ends it";
        // A closed stderr is no reason to end.
        let _ = writeln!(std::io::stderr(), "{hint}");
    }
    let backend: Arc<dyn Backend> = switch.clone();
    let limits = Limits::default();
    let session = Session::new();
    let served = serve(&backend, &session, input, std::io::stdout(), &hurry, &limits);
    // Whatever does not end in time ends with us.
    #[cfg(unix)]
    let _late = super::signals::exit_after(STOP_TIME + Duration::from_millis(500), 0);
    switch.close(&session, Deadline::after(STOP_TIME));
    match served {
        Ok(()) => Ok(Exit::Done),
        // The client has gone; nobody is there to be told.
        Err(problem) if problem.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(problem) => Err(Failure::internal(format!("stdin cannot be read: {problem}"))),
    }
}
