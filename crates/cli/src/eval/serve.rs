//! `cdpilot eval serve`.

use std::io;

use serde::Serialize;

use super::super::failure::{Exit, Failure};
use super::super::output::Out;
use super::args::Serve;
use super::inputs;
use cdpilot_eval::Assets;
use cdpilot_eval::sites::Sites;

/// Ports that belong to other programs: the debugging port that people open by hand, and the control server.
const TAKEN: [u16; 2] = [9222, 18791];

/// Starts the server of the sites.
pub(super) fn start(assets: Assets, port: u16) -> Result<Sites, Failure> {
    if TAKEN.contains(&port) {
        let whose = if port == 9222 { "debugging ports of browsers" } else { "the control server" };
        return Err(Failure::usage(format!("port {port} is the usual one of {whose}; choose another one")));
    }
    Sites::start(assets, port).map_err(|problem| match problem.kind() {
        io::ErrorKind::AddrInUse => {
            Failure::usage(format!("port {port} is in use; choose another one with --port, 0 for any free one"))
        }
        _ => Failure::internal(format!("cannot serve the sites on port {port}: {problem}")),
    })
}

pub(super) fn run(args: &Serve, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Output {
        ok: bool,
        url: String,
    }
    let sites = start(inputs::sites(args.sites.as_deref())?, args.port)?;
    if sites.sites().is_empty() {
        return Err(Failure::usage("the folder of --sites contains no site; a site is a folder with an index.html"));
    }
    let url = sites.places(&sites.standing()).a;
    out.line(&url);
    out.object(&Output { ok: true, url });
    out.aside("events of the pages are at /api/events; Ctrl-C ends");
    wait()?;
    Ok(Exit::Done)
}

#[cfg(unix)]
fn wait() -> Result<(), Failure> {
    let signals = super::super::signals::Signals::register();
    signals.map_err(|problem| Failure::internal(format!("cannot handle Ctrl-C: {problem}")))?.wait();
    Ok(())
}

/// Here Ctrl-C ends the process.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // as on Unix
fn wait() -> Result<(), Failure> {
    loop {
        cdpilot::sync::pause(std::time::Duration::from_secs(3600));
    }
}
