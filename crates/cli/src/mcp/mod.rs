//! `cdpilot mcp`: an MCP server on stdin and stdout, one JSON object per line.
//!
//! | file | contents |
//! |---|---|
//! | `tool_source` | where tools run: in a running server, or in one started here |
//! | `http_backend` | requests to a running server |
//! | `input` | stdin, ended by signals too |

mod http_backend;
mod input;
mod tool_source;

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use super::args::{Global, Mcp};
use super::failure::{Exit, Failure};
use super::settings::env;
use cdpilot::sync::{Cancel, Deadline};
use cdpilot_server::control::Session;
use cdpilot_server::mcp::server::{Backend, Limits, serve};
use tool_source::ToolSource;

/// Time limit for stopping our own browser.
const STOP_TIME: Duration = Duration::from_millis(3_500);

pub(super) fn run(args: &Mcp, global: &Global) -> Result<Exit, Failure> {
    let hurry = Cancel::new();
    let input = input::Input::start(&hurry)
        .map_err(|problem| Failure::internal(format!("cannot register signal handlers: {problem}")))?;
    let profile = global.profile.clone().or_else(|| env("CDPILOT_PROFILE"));
    let toolsets = args.toolsets.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    let tool_source = Arc::new(ToolSource::new(global, toolsets, profile)?);
    // Errors in the arguments are reported before serving starts.
    tool_source.check()?;
    if std::io::stdin().is_terminal() && !global.quiet {
        let hint = "MCP server started; it expects JSON-RPC from an MCP client on stdin (see `cdpilot mcp --help`). Ctrl-D stops it";
        // A closed stderr is not an error.
        let _ = writeln!(std::io::stderr(), "{hint}");
    }
    let backend: Arc<dyn Backend> = tool_source.clone();
    let limits = Limits::default();
    let session = Session::new();
    let served = serve(&backend, &session, input, std::io::stdout(), &hurry, &limits);
    // Ends the process if stopping takes too long.
    #[cfg(unix)]
    let _late = super::signals::exit_after(STOP_TIME + Duration::from_millis(500), 0);
    tool_source.close(&session, Deadline::after(STOP_TIME));
    match served {
        Ok(()) => Ok(Exit::Done),
        // The client has disconnected.
        Err(problem) if problem.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(problem) => Err(Failure::internal(format!("cannot read stdin: {problem}"))),
    }
}
