//! Shows dialogs and frames in a real browser, step by step.
//!
//! `make demo`, or `cargo run --example demo`

// Shared with `cdpilot demo`.
#[path = "../crates/cli/src/demo/show/mod.rs"]
#[allow(dead_code)]
mod show;
#[path = "../crates/cli/src/style.rs"]
#[allow(dead_code)]
mod style;

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use cdpilot::browser::{Switch, find};
use cdpilot::sync::{Thread, spawn};
use tiny_http::{Header, Request, Response, Server};

fn main() -> ExitCode {
    let executable = match find::find(None) {
        Ok(found) => found.path,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{problem}");
            return ExitCode::FAILURE;
        }
    };
    let write = |text: &str| {
        let mut out = std::io::stdout();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    };
    let options = show::Options { serve: &serve, executable, headless: Switch::On, screenshot: None, timeout: None };
    let style = style::Style::of(std::io::stdout().is_terminal());
    let report = show::run(&options, &show::Screen { write: &write, style, quiet: false });
    if report.failure.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A server of the pages, which dropping stops.
struct Pages {
    server: Arc<Server>,
    _thread: Thread,
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

fn serve() -> std::io::Result<show::Sites> {
    let server = Arc::new(Server::http(("127.0.0.1", 0)).map_err(std::io::Error::other)?);
    let port = server.server_addr().to_ip().map(|address| address.port()).unwrap_or_default();
    let serving = Arc::clone(&server);
    let thread = spawn("demo-sites", move || serving.incoming_requests().for_each(answer))?;
    Ok(show::Sites { port, _server: Box::new(Pages { server, _thread: thread }) })
}

fn answer(request: Request) {
    let host =
        request.headers().iter().find(|header| header.field.equiv("Host")).map(|header| header.value.to_string());
    // A client that is gone needs no answer.
    let _ = match show::page(&host.unwrap_or_default(), request.url()) {
        None => request.respond(Response::empty(404)),
        Some((media_type, text)) => {
            let header = Header::from_bytes("Content-Type", media_type);
            request.respond(header.into_iter().fold(Response::from_string(text), Response::with_header))
        }
    };
}
