//! A parallel crawl: follows the links of a site over several tabs of one browser.
//!
//! `cargo run --example crawl -- https://example.com`

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

use cdpilot::{Browser, LaunchOptions};

/// Tabs that work at once.
const TABS: usize = 4;
/// Pages to visit at most.
const PAGES: usize = 50;
const LINKS: &str = "[...document.querySelectorAll('a[href]')].map(a => a.href.split('#')[0])";

/// What is still to be visited, and what was or is being visited.
struct Frontier {
    open: Vec<String>,
    seen: BTreeSet<String>,
    working: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = std::env::args().nth(1).unwrap_or_else(|| "https://example.com/".to_owned());
    run(start, &mut std::io::stdout())
}

/// Crawls and writes a line for each page.
pub(crate) fn run(start: String, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    let origin = start.split('/').take(3).collect::<Vec<_>>().join("/");
    let browser = Browser::launch(LaunchOptions::new())?;
    let frontier = Mutex::new(Frontier { open: vec![start.clone()], seen: BTreeSet::from([start]), working: 0 });
    let changed = Condvar::new();
    let (report, lines) = mpsc::sync_channel::<String>(PAGES);

    std::thread::scope(|scope| -> std::io::Result<()> {
        for _ in 0..TABS {
            let report = report.clone();
            let (browser, frontier, changed, origin) = (&browser, &frontier, &changed, &origin);
            scope.spawn(move || {
                let Ok(page) = browser.new_page() else { return };
                loop {
                    let mut all = frontier.lock().unwrap_or_else(PoisonError::into_inner);
                    let url = loop {
                        match all.open.pop() {
                            Some(url) => break url,
                            None if all.working == 0 => return changed.notify_all(),
                            None => all = changed.wait(all).unwrap_or_else(PoisonError::into_inner),
                        }
                    };
                    all.working += 1;
                    drop(all);
                    let found = page.goto(&url).and_then(|went| {
                        let line = format!("{} {} {url}", went.status.unwrap_or_default(), page.title()?);
                        Ok((line, page.evaluate::<Vec<String>>(LINKS)?))
                    });
                    let (line, links) = found.unwrap_or_else(|error| (format!("{url}: {error}"), Vec::new()));
                    let _ = report.send(line);
                    let mut all = frontier.lock().unwrap_or_else(PoisonError::into_inner);
                    for link in links.into_iter().filter(|link| link.starts_with(origin.as_str())) {
                        if all.seen.len() < PAGES && all.seen.insert(link.clone()) {
                            all.open.push(link);
                        }
                    }
                    all.working -= 1;
                    changed.notify_all();
                }
            });
        }
        drop(report);
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    })?;
    Ok(())
}
