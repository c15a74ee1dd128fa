//! Mocks an API: some requests are answered here, some fail, the rest goes to the server.
//!
//! `cargo run --example intercept -- https://example.com`

use std::io::Write;

use cdpilot::supervisor::{AbortReason, Fulfilment, InterceptRule};
use cdpilot::sync::{Deadline, spawn};
use cdpilot::{Browser, LaunchOptions};

const USERS: &str = r#"[{"name": "Ada"}, {"name": "Grace"}]"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let site = std::env::args().nth(1).unwrap_or_else(|| "https://example.com/".to_owned());
    run(&site, &mut std::io::stdout())
}

/// Shows what a page of the site gets.
pub(crate) fn run(site: &str, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    let browser = Browser::launch(LaunchOptions::new())?;
    let page = browser.page()?;
    let api = page.intercept(InterceptRule::new("/api/**"))?;
    // Requests are answered in a thread of their own: `goto` below waits for what the page loads.
    let mock = spawn("mock", move || {
        while let Ok(request) = api.next(Deadline::after_secs(600)) {
            // An error says that the page has left the request meanwhile.
            let _ = match (request.method(), request.url().ends_with("/api/users")) {
                ("GET", true) => {
                    let json = vec![("Content-Type".to_owned(), "application/json".to_owned())];
                    request.fulfil(Fulfilment::new(200, json, USERS))
                }
                ("GET", false) => request.continue_(),
                _ => request.fail(AbortReason::AccessDenied),
            };
        }
    })?;

    page.goto(site)?;
    let ask = |path: &str, method: &str| -> Result<String, cdpilot::Error> {
        let script = format!("fetch('{path}', {{ method: '{method}' }}).then(r => r.text()).catch(e => e.name)");
        page.evaluate(&script)
    };
    writeln!(out, "users: {}", ask("/api/users", "GET")?)?;
    writeln!(out, "delete: {}", ask("/api/users", "DELETE")?)?;
    writeln!(out, "server: {}", ask("/api/other", "GET")?)?;

    drop(browser); // ends the interception, and with it the thread
    drop(mock);
    Ok(())
}
