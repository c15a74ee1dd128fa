//! Attaches to a running browser and answers the dialogs of all its pages, until there are none for a while.
//!
//! `chromium --remote-debugging-port=9333`, then
//! `cargo run --example dialogs -- 127.0.0.1:9333`

use std::io::Write;
use std::time::Duration;

use cdpilot::supervisor::{DialogAnswer, DialogType, Pages};
use cdpilot::sync::Deadline;
use cdpilot::{Browser, BrowserOptions};

/// How long the next dialog is waited for.
const QUIET: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:9333".to_owned());
    run(&address, QUIET, &mut std::io::stdout())
}

/// Answers dialogs until none has opened for a while.
pub(crate) fn run(address: &str, quiet: Duration, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    let browser = Browser::attach_with(address, BrowserOptions::new().pages(Pages::All))?;
    writeln!(out, "attached: {} pages", browser.pages().len())?;
    let watching = browser.supervisor();
    while let Some(now) = watching.wait_until(Deadline::after(quiet), |now| !now.dialogs.is_empty()) {
        for dialog in now.dialogs.iter() {
            let answer = match dialog.kind {
                DialogType::Prompt => DialogAnswer::Accept(Some("Ada".to_owned())),
                DialogType::BeforeUnload => DialogAnswer::Dismiss,
                _ => DialogAnswer::Accept(None),
            };
            writeln!(out, "{} on {}: {:?}, {answer:?}", dialog.kind.as_str(), dialog.origin, dialog.message)?;
            match watching.respond(Some(&dialog.id), answer, Deadline::after_secs(5)) {
                Ok(_) => {}
                Err(error) => writeln!(out, "  {error}")?, // somebody else was faster
            }
        }
    }
    Ok(()) // the browser stays as it is
}
