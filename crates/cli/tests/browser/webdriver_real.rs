//! Browsers from a real chromedriver.

use std::time::Duration;

use cdpilot::browser::{AttachOptions, BrowserProcess, Error, WebDriverProblem};
use cdpilot::supervisor::{DialogAnswer, DialogType, FrameRef, PageState, Supervisor, SupervisorOptions};

use crate::support::chrome::{soon, until};
use crate::support::driver::Driver;

fn options() -> AttachOptions {
    let mut options = AttachOptions::default();
    options.connect.connect_timeout = soon().left();
    options.webdriver.session_timeout = soon().left();
    // Often, so that it would be seen if it closed dialogs.
    options.webdriver.keep_alive = Some(Duration::from_millis(20));
    options
}

#[test]
fn webdriver_leaves_dialogs_to_the_supervisor() {
    let Some(driver) = Driver::start() else { return };
    let browser = BrowserProcess::attach_with(&driver.address(), &options()).unwrap();
    assert!(browser.is_ours() && browser.pid().is_none());
    assert!(browser.version().product.contains("Chrome/"), "{browser:?}");
    assert!(!driver.browsers().is_empty());
    let mut task = SupervisorOptions::task("wd");
    task.start_timeout = soon().left();
    let supervisor = Supervisor::start(browser, task).unwrap();

    supervisor.start_script(&FrameRef::Top, "window.name2 = prompt('Your name?', 'nobody')").unwrap();
    let now = until(&supervisor, "the prompt", |now| !now.dialogs.is_empty());
    let opened = now.dialogs[0].id.clone();
    cdpilot::sync::pause(Duration::from_millis(500)); // 25 keep-alive commands
    assert_eq!(supervisor.view().dialogs.first().map(|dialog| dialog.id.clone()), Some(opened));
    let closed = supervisor.respond(None, DialogAnswer::Accept(Some("Ada".into())), soon()).unwrap();
    assert!(closed.accepted, "{closed:?}");
    assert_eq!(supervisor.evaluate(&FrameRef::Top, "window.name2", soon()).unwrap().to_string(), "Ada");

    // One before a page is left: drivers tend to close those by themselves.
    supervisor.evaluate(&FrameRef::Top, "onbeforeunload = event => event.preventDefault()", soon()).unwrap();
    let response = supervisor.navigate(&FrameRef::Top, "data:text/html,next", soon());
    assert!(response.unwrap_err().is_blocked_by_dialog());
    cdpilot::sync::pause(Duration::from_millis(200));
    let now = supervisor.view();
    assert_eq!(now.dialogs.first().map(|dialog| dialog.kind), Some(DialogType::BeforeUnload));
    supervisor.respond(None, DialogAnswer::Dismiss, soon()).unwrap();

    // Popups are watched too, though the driver looks at them as well.
    supervisor.start_script(&FrameRef::Top, "window.open('about:blank#popup')").unwrap();
    until(&supervisor, "the popup", |now| {
        now.pages.iter().any(|page| page.opener.is_some() && page.state == PageState::Ready)
    });

    supervisor.stop(soon());
    driver.assert_no_browser();
}

#[test]
fn dropping_a_webdriver_browser_ends_it() {
    let Some(driver) = Driver::start() else { return };
    drop(BrowserProcess::attach_with(&driver.address(), &options()).unwrap());
    driver.assert_no_browser();

    // One whose driver cannot give what is asked for.
    let mut odd = options();
    odd.webdriver.capabilities.insert("browserName".to_owned(), "lynx".into());
    let error = BrowserProcess::attach_with(&driver.address(), &odd).unwrap_err();
    let Error::WebDriver { problem: WebDriverProblem::Refused { code, message }, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(code, "session not created");
    assert!(!message.contains("#0"), "no stack: {message}");
    driver.assert_no_browser();
}

#[cfg(unix)]
#[test]
fn supervise_attaches_to_a_webdriver_browser() {
    let Some(driver) = Driver::start() else { return };
    let program = crate::cli_run::Program::new();
    let (mut session, ready) = program.supervise(&["--cdp-url", &driver.address()]);
    assert_eq!((&ready["launched"], ready.get("cdpPort")), (&false.into(), None), "{ready}");
    assert_eq!(session.evaluate("1 + 1")["result"], 2);
    session.end_input();
    assert_eq!(session.wait().0, Some(0));
    driver.assert_no_browser();
}
