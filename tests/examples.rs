//! The examples, against pages on loopback.

use std::time::Duration;

use cdpilot::sync::spawn;
use cdpilot::{Act, Browser, BrowserOptions};

use crate::support::lease::Lease;
use crate::support::site::Site;

#[path = "../examples/capture.rs"]
#[allow(dead_code)]
mod capture;
#[path = "../examples/crawl.rs"]
#[allow(dead_code)]
mod crawl;
#[path = "../examples/dialogs.rs"]
#[allow(dead_code)]
mod dialogs;
#[path = "../examples/intercept.rs"]
#[allow(dead_code)]
mod intercept;

fn site() -> Option<Site> {
    crate::support::browser_path()?;
    let site = Site::start();
    site.page("/", "<title>Start</title><a href=/one>one</a> <a href=/two>two</a> <a href='@b/away'>away</a>");
    site.page("/one", "<title>One</title><a href=/two>two</a><a href=/three>three</a>");
    site.page("/two", "<title>Two</title><a href=/>start</a>");
    site.page("/three", "<title>Three</title><button>Save</button>");
    site.page("/api/other", "from the server");
    Some(site)
}

/// Reports the first line, which says that the example is attached.
struct Attached {
    text: Vec<u8>,
    attached: crossbeam_channel::Sender<()>,
}

impl std::io::Write for Attached {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text.extend_from_slice(bytes);
        let _ = self.attached.try_send(());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn text(written: Vec<u8>) -> String {
    String::from_utf8(written).unwrap()
}

#[test]
fn the_crawl_visits_each_page_of_the_site_once() {
    let Some(site) = site() else { return };
    let mut out = Vec::new();
    crawl::run(site.url("a", "/"), &mut out).unwrap();
    let out = text(out);
    let mut titles: Vec<&str> = out.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["One", "Start", "Three", "Two"], "{out}");
}

#[test]
fn requests_are_mocked() {
    let Some(site) = site() else { return };
    let mut out = Vec::new();
    intercept::run(&site.url("a", "/"), &mut out).unwrap();
    let wanted = "users: [{\"name\": \"Ada\"}, {\"name\": \"Grace\"}]\ndelete: TypeError\nserver: from the server\n";
    assert_eq!(text(out), wanted);
}

#[test]
fn screenshots_and_a_pdf_are_written() {
    let Some(site) = site() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut out = Vec::new();
    capture::run(&site.url("a", "/three"), folder.path(), &mut out).unwrap();
    let out = text(out);
    assert!(out.contains("viewport: 1280 x 800") && out.contains("button \"Save\""), "{out}");
    for (file, magic) in [("viewport.png", "\u{89}PNG"), ("whole.png", "\u{89}PNG"), ("page.pdf", "%PDF")] {
        let bytes = std::fs::read(folder.path().join(file)).unwrap();
        let begins: String = bytes.iter().take(4).map(|byte| char::from(*byte)).collect();
        assert_eq!(begins, magic, "{file}");
    }
}

#[test]
fn dialogs_of_a_running_browser_are_answered() {
    let Some(lease) = Lease::take() else { return };
    let mine = Browser::attach_with(lease.url(), BrowserOptions::new()).unwrap();
    let page = mine.page().unwrap();
    let (attached, is_attached) = crossbeam_channel::bounded(1);
    let asking = page.clone();
    let asks = spawn("test-prompt", move || {
        is_attached.recv().unwrap();
        asking.act(Act::evaluate("void setTimeout(() => { document.title = prompt('Your name?') })")).unwrap();
    });
    let mut out = Attached { text: Vec::new(), attached };
    dialogs::run(lease.url(), Duration::from_secs(5), &mut out).unwrap();
    drop(asks);
    let out = text(out.text);
    assert!(out.contains("prompt on null: \"Your name?\""), "{out}");
    assert_eq!(page.evaluate::<String>("document.title").unwrap(), "Ada");
}
