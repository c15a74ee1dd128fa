//! The handles of the library: `Browser` and `Page`, with a real browser.

use std::time::{Duration, Instant};

use cdpilot::browser::TransportKind;
use cdpilot::page::{Fit, PictureType, ScreenshotOptions};
use cdpilot::supervisor::{DialogAnswer, DialogPolicy, Pages};
use cdpilot::sync::{Cancel, Deadline, spawn};
use cdpilot::{Act, Browser, BrowserOptions, Error, LaunchOptions, Locator, State, WaitFor};
use serde_json::json;

use crate::support::browser_path;
use crate::support::chrome::{options, soon};
use crate::support::leaks::{Baseline, alone};
use crate::support::lease::Lease;
use crate::support::site::Site;

const FORM: &str = "<title>Form</title><form onsubmit='event.preventDefault(); \
    document.querySelector(`output`).textContent = `Hello ` + document.querySelector(`input`).value'>\
    <label>Name <input></label><label><input type=checkbox id=box> Agree</label>\
    <select id=list><option>one<option>two</select></form>\
    <button onclick='setTimeout(() => { document.querySelector(`p`).textContent = `Done` }, 50)'>Go</button>\
    <p></p><output></output><i class=twice></i><i class=twice></i>";

fn launched() -> Option<Browser> {
    let launch = LaunchOptions::new().executable(browser_path()?).headless(true);
    Some(Browser::launch(launch).unwrap())
}

/// A leased browser with a page of its own.
fn attached(options: BrowserOptions) -> Option<(Lease, Browser)> {
    let lease = Lease::take()?;
    let browser = Browser::attach_with(lease.url(), options).unwrap();
    Some((lease, browser))
}

#[test]
fn the_example_of_the_library_works() {
    if options(TransportKind::Pipe).is_none() {
        return;
    }
    let (site, browser) = (Site::start(), launched().unwrap());
    site.page("/", FORM);
    let page = browser.page().unwrap();
    let navigation = page.goto(&site.url("a", "/")).unwrap();
    assert_eq!((navigation.status, navigation.stayed), (Some(200), false));
    let seen = page.snapshot().unwrap();
    let (button, _) = seen.refs.iter().find(|(_, info)| info.name == "Go").unwrap();
    page.click(button).unwrap();
    let title: String = page.evaluate("document.title").unwrap();
    assert_eq!(title, "Form");
    page.timeout(crate::support::LIMIT).wait_for("text=Done").unwrap();
    page.act(Act::fill("label=Name", "Ada").submit()).unwrap();
    assert_eq!(page.text_of("output").unwrap(), "Hello Ada");
    assert_eq!((page.title().unwrap().as_str(), page.url()), ("Form", site.url("a", "/")));
}

#[test]
fn every_user_action_has_a_method() {
    let Some((_lease, browser)) = attached(BrowserOptions::new()) else { return };
    let site = Site::start();
    site.page("/", FORM);
    site.page("/next", "<title>Next</title>next");
    let page = browser.new_page().unwrap();
    page.goto(&site.url("a", "/")).unwrap();
    page.fill("label=Name", "Ada").unwrap();
    page.type_("label=Name", "Grace").unwrap();
    page.press("label=Name", "Enter").unwrap();
    assert_eq!(page.value_of("label=Name").unwrap(), "Grace");
    assert_eq!(page.text_of("css=output").unwrap(), "Hello Grace");
    page.check("#box").unwrap();
    assert!(page.evaluate::<bool>("document.querySelector('#box').checked").unwrap());
    page.uncheck("#box").unwrap();
    page.select("#list", ["two"]).unwrap();
    page.hover("text=Go").unwrap();
    assert_eq!(page.value_of("#list").unwrap(), "two");
    assert_eq!(page.attribute("#list", "id").unwrap().as_deref(), Some("list"));
    assert_eq!(page.attribute("#list", "lang").unwrap(), None);
    assert!(page.is_visible("#list").unwrap() && !page.is_visible("#nowhere").unwrap());
    let several = page.click(".twice").unwrap_err();
    assert_eq!(several.code(), "AMBIGUOUS_LOCATOR", "{several}");
    page.act(Act::hover(Locator::css("label").nth(-1))).unwrap();

    page.goto(&site.url("b", "/next")).unwrap();
    assert_eq!(page.text().unwrap(), "next");
    assert!(page.back().unwrap().is_some());
    assert_eq!(page.title().unwrap(), "Form");
    assert!(page.forward().unwrap().is_some() && page.forward().unwrap().is_none());
    page.reload().unwrap();
    assert_eq!(page.frames().len(), 1);
    assert!(page.cookies().unwrap().is_empty());
    assert!(page.screenshot().unwrap().bytes.starts_with(b"\x89PNG"));
    let small = ScreenshotOptions::new().kind(PictureType::Jpeg).fit(Fit::default());
    assert!(page.screenshot_with(&small).unwrap().bytes.starts_with(&[0xff, 0xd8]));
    assert!(page.pdf().unwrap().starts_with(b"%PDF"));
    assert!(browser.pages().contains(&page));
    let other = browser.new_page().unwrap();
    assert_ne!(page, other);
    other.close().unwrap();
    assert!(page.is_open());
}

#[test]
fn scripts_return_typed_values() {
    let Some((_lease, browser)) = attached(BrowserOptions::new()) else { return };
    let page = browser.page().unwrap();
    let pairs: Vec<(String, u8)> = page.evaluate("[['a', 1], ['b', 2]]").unwrap();
    assert_eq!(pairs, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    assert_eq!(page.evaluate::<Option<u8>>("undefined").unwrap(), None);
    page.evaluate::<()>("null").unwrap();
    assert_eq!(page.evaluate::<serde_json::Value>("({ a: [1] })").unwrap(), json!({ "a": [1] }));
    let error = page.evaluate::<Vec<(String, u8)>>("[['a', 1], ['b', 'x']]").unwrap_err();
    assert!(matches!(&error, Error::UnexpectedValue { path, .. } if path == "[1][1]"), "{error}");
    let error = page.evaluate::<u8>("nowhere").unwrap_err();
    assert!(error.to_string().contains("nowhere is not defined"), "{error}");
}

#[test]
fn a_scope_narrows_the_deadline() {
    let Some((_lease, browser)) = attached(BrowserOptions::new()) else { return };
    let page = browser.page().unwrap();
    let began = Instant::now();
    let error = page.timeout(Duration::from_millis(300)).wait_for("text=never").unwrap_err();
    // Under load the page may not have been looked at once.
    assert!(matches!(error.code(), "NOT_FOUND" | "TIMEOUT" | "PAGE_BUSY"), "{error}");
    let error = page.until(Deadline::after_millis(300)).wait_for(WaitFor::new().url("never")).unwrap_err();
    assert_eq!(error.code(), "TIMEOUT", "{error}");
    let narrow = page.until(Deadline::after_millis(300)).timeout(Duration::from_secs(600));
    assert!(narrow.click("text=never").is_err());
    assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());

    let cancel = Cancel::new();
    let flag = cancel.clone();
    let waiting = page.cancelled_by(&cancel);
    let (ended, outcome) = crossbeam_channel::bounded(1);
    let waiter = spawn("test-cancel", move || {
        let _ = ended.send(waiting.wait_for(WaitFor::new().element("text=never", State::Visible)));
    });
    flag.set();
    let error = outcome.recv_deadline(soon().instant()).unwrap().unwrap_err();
    assert_eq!(error.code(), "CANCELLED", "{error}");
    drop(waiter);
}

#[test]
fn dialogs_can_be_awaited_and_answered() {
    let Some((_lease, browser)) = attached(BrowserOptions::new()) else { return };
    let site = Site::start();
    site.page("/", "<button onclick='document.title = prompt(`Your name?`, `nobody`)'>Ask</button>");
    let page = browser.page().unwrap();
    page.goto(&site.url("a", "/")).unwrap();
    let clicked = page.click("text=Ask").unwrap();
    assert!(clicked.blocked_by_dialog);
    let dialog = page.wait_dialog().unwrap();
    assert_eq!((&*dialog.message, browser.dialogs().len()), ("Your name?", 1));
    let error = page.evaluate::<u8>("1").unwrap_err();
    assert!(error.is_blocked_by_dialog(), "{error}");
    page.answer_dialog(DialogAnswer::Accept(Some("Ada".to_owned()))).unwrap();
    page.wait_for(WaitFor::new().script("document.title === 'Ada'")).unwrap();
    page.answer_next_dialog(DialogAnswer::Dismiss).unwrap();
    assert!(!page.click("text=Ask").unwrap().blocked_by_dialog);
    assert_eq!(page.evaluate::<String>("document.title").unwrap(), "null");
    assert!(page.accept_dialog().is_err(), "none is open");
}

#[test]
fn attaching_leaves_other_pages_alone() {
    let Some(lease) = Lease::take() else { return };
    let attached = |options| Browser::attach_with(lease.url(), options).unwrap();
    let owner = attached(BrowserOptions::new());
    let theirs = owner.new_page().unwrap();
    let guest = attached(BrowserOptions::new());
    assert!(guest.pages().is_empty());
    let ours = guest.page().unwrap();
    assert_ne!(ours.id(), theirs.id());
    let all = attached(BrowserOptions::new().pages(Pages::All).dialogs(DialogPolicy::AutoDismiss));
    assert!(all.pages().iter().any(|page| page.id() == theirs.id()));
    drop(all);
    drop(guest);
    assert!(theirs.is_open() && theirs.evaluate::<u8>("1").is_ok());
}

#[test]
fn popups_are_pages() {
    let Some((_lease, browser)) = attached(BrowserOptions::new()) else { return };
    let page = browser.page().unwrap();
    let known = browser.pages();
    page.act(Act::evaluate("void window.open('about:blank')")).unwrap();
    let popup = browser.wait_for_page(&known).unwrap();
    assert_eq!(popup.evaluate::<String>("location.href").unwrap(), "about:blank");
}

#[test]
fn dropping_the_browser_ends_it_and_its_threads() {
    if options(TransportKind::Pipe).is_none() {
        return;
    }
    alone(module_path!(), "dropping_the_browser_ends_it_and_its_threads", || {
        let base = Baseline::now();
        let browser = launched().unwrap();
        let page = browser.page().unwrap();
        page.goto("data:text/html,<title>x</title>").unwrap();
        drop(browser);
        assert!(!page.is_open());
        let began = Instant::now();
        let error = page.click("text=x").unwrap_err();
        assert_eq!(error.code(), "BROWSER_NOT_RUNNING", "{error}");
        assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
        drop(page); // it keeps the descriptors of the connection
        base.assert_back(soon());
    });
}
