//! The navigation policy with a real browser: blocked documents are not requested.

use std::net::IpAddr;

use cdpilot::browser::{BrowserProcess, TransportKind};
use cdpilot::cdp::protocol::page::Navigate;
use cdpilot::supervisor::{
    BridgeMode, Error, EventKind, FrameRef, Login, NavigationPolicy, PageState, PageView, SupervisorOptions,
};
use serde_json::{Value, json};

use crate::support::chrome::{ACCEPT, Task, options, soon, top_of};
use crate::support::lease::Lease;
use crate::support::share::{rounds, share};
use crate::support::site::{Answer, Held, Site};

/// `b.localhost` is blocked.
fn without_b(name: &str) -> SupervisorOptions {
    let policy = NavigationPolicy::new(&[] as &[&str], &["b.localhost"], true, false).unwrap();
    SupervisorOptions::task(name).navigation(policy)
}

fn start(options: SupervisorOptions) -> Option<Task> {
    let task = Task::leased_with(options)?;
    task.site.page("/", "start");
    task.site.page("/good", "good");
    task.site.put("/to-b", redirect(&task.site.url("b", "/secret")));
    task.site.put("/twice", redirect("/to-b"));
    task.site.page("/secret", "secret");
    task.go(&task.site.url("a", "/"));
    Some(task)
}

fn redirect(to: &str) -> Answer {
    Answer::html("").status("302 Found").header("Location", to)
}

/// The reason of a refusal.
fn reason<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    match outcome {
        Err(error @ Error::NavigationBlocked { .. }) => {
            assert_eq!(error.code(), "NAVIGATION_BLOCKED");
            error.to_string()
        }
        other => panic!("not blocked: {other:?}"),
    }
}

/// Waits until the log contains a number of blocked navigations to a URL.
fn blocked(task: &Task, url: &str, times: usize) -> Value {
    let deadline = soon();
    loop {
        let last = task.log().last();
        let response =
            task.log().since(0, usize::MAX).entries.into_iter().filter(|e| e.kind() == EventKind::NavigationBlocked);
        let response: Vec<Value> = response.map(|entry| serde_json::to_value(&*entry.event).unwrap()).collect();
        let here: Vec<&Value> =
            response.iter().filter(|response| response["url"].as_str().unwrap().ends_with(url)).collect();
        if let Some(found) = here.get(times - 1) {
            return (*found).clone();
        }
        assert!(!deadline.passed(), "{url} was not blocked {times} times: {response:#?}");
        let _ = task.log().wait_since(last, 1, deadline);
    }
}

/// The pages beside the first.
fn others(task: &Task) -> Vec<PageView> {
    let first = task.target();
    task.view().pages.iter().filter(|page| page.target_id != first).cloned().collect()
}

fn close_others(task: &Task) {
    for page in others(task) {
        let _ = task.close_page(&page.target_id, soon());
    }
}

#[test]
fn a_blocked_navigation_keeps_the_page() {
    let Some(task) = start(without_b("nav-stay")) else { return };
    let (a, b) = (|path: &str| task.site.url("a", path), |path: &str| task.site.url("b", path));
    let at = |url: &str| assert_eq!(task.eval("location.href"), json!(url));

    let response = reason(task.navigate(&FrameRef::Top, &b("/secret?token=1"), soon()));
    assert!(response.contains("b.localhost") && response.contains("browser.navigation.block"), "{response}");
    assert!(!response.contains("token"), "{response}");
    assert_eq!(reason(task.check_navigation(&b("/secret?token=1"), soon())), response);
    assert!(task.check_navigation(&a("/good"), soon()).is_ok());
    reason(task.open_page(&b("/"), None, soon()));
    at(&a("/"));

    // Redirects, one and two of them.
    for path in ["/to-b", "/twice"] {
        let response = reason(task.navigate(&FrameRef::Top, &a(path), soon()));
        assert!(response.contains("/secret"), "{response}");
        at(&a("/"));
    }
    // By itself: a script, a link, a form, a refresh.
    let scripts = [
        "location = LINK",
        "document.body.innerHTML = `<a href='${LINK}'>go</a>`; document.querySelector('a').click()",
        "document.body.innerHTML = `<form method=post action='${LINK}'>`; document.querySelector('form').submit()",
        "document.head.innerHTML = `<meta http-equiv=refresh content='0;url=${LINK}'>`",
    ];
    for (times, script) in share(scripts, 2).into_iter().enumerate() {
        task.eval(&format!("{{ const LINK = '{}'; {script} }}; 1", b("/by-itself")));
        let response = blocked(&task, "/by-itself", times + 1);
        assert_eq!((&response["main"], &response["frameId"]), (&json!(true), &json!(task.top())));
        at(&a("/"));
    }
    // A reload that leads elsewhere by now.
    task.go(&a("/good"));
    task.site.put("/good", redirect(&b("/moved")));
    reason(task.reload(&FrameRef::Top, soon()));
    at(&a("/good"));
    // Allowed navigations continue.
    task.site.page("/good", "better");
    task.go(&a("/good"));
    assert_eq!(task.eval("document.body.textContent"), json!("better"));
    assert_eq!(task.site.requested_from("b.localhost"), [""; 0]);
}

#[test]
fn the_policy_applies_to_the_first_request_of_frames_and_popups() {
    let Some(task) = start(without_b("nav-frames")) else { return };
    let site = &task.site;
    site.page("/framed", "<iframe name=bad src='@b/inner'></iframe><iframe name=led src='/to-b'></iframe><iframe name=other src='@c/nested'></iframe>");
    site.page("/nested", "nested<iframe name=deep src='@b/deep'></iframe>");
    task.go(&site.url("a", "/framed"));
    for url in ["/inner", "/secret", "/deep"] {
        let response = blocked(&task, url, 1);
        assert_eq!(response["main"], json!(false), "{response}");
    }
    let nested = task.frame("/nested");
    assert!(nested.is_oopif);
    task.eval_in(
        &nested.frame_id,
        "document.querySelector('iframe').src = '@b/again'.replace('@b/', 'http://b.localhost:1/'); 1",
    );
    blocked(&task, "/again", 1);
    // It is the frame that is kept, not its page.
    assert!(task.view().pages[0].blocked.is_none());

    let popups = [
        ("plain", "open(LINK)"),
        ("unrelated", "open(LINK, '', 'noopener')"),
        ("led", "open(LED)"),
        (
            "link",
            "document.body.innerHTML = `<a target=_blank href='${LINK}'>go</a>`; document.querySelector('a').click()",
        ),
        ("later", "const it = open('about:blank'); it.location = LINK"),
    ];
    for (name, script) in share(popups, 2) {
        let (link, led) = (site.url("b", &format!("/popup-{name}")), site.url("a", &format!("/led-{name}")));
        site.put(&format!("/led-{name}"), redirect(&link));
        task.eval(&format!("{{ const LINK = '{link}', LED = '{led}'; {script} }}; 1"));
        blocked(&task, &format!("/popup-{name}"), 1);
        let blank = |page: &PageView| page.state == PageState::Ready && matches!(&*page.url, "about:blank" | "");
        let now = task.until(name, |now| now.pages.iter().skip(1).any(|page| blank(page) && page.blocked.is_some()));
        let popup = now.pages[1].clone();
        assert_eq!(
            task.evaluate(&FrameRef::TopOf(popup.target_id), "location.href", soon()).unwrap().value,
            json!("about:blank")
        );
        close_others(&task);
        task.until("no popup", |now| now.pages.len() == 1);
    }
    // One that we open ourselves, led away.
    let opened = task.open_page(&site.url("a", "/twice"), None, soon()).unwrap();
    let now = task.until("its refusal", |now| now.page(opened.as_str()).is_some_and(|page| page.blocked.is_some()));
    assert!(now.page(opened.as_str()).unwrap().blocked.as_ref().unwrap().url.ends_with("/secret"));
    // And some that may go where they want.
    for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 2, 5) {
        let opened = task.open_page(&site.url("c", "/good"), None, soon()).unwrap();
        let top = FrameRef::TopOf(opened.clone());
        task.until("the page", |now| now.page(opened.as_str()).is_some_and(|page| page.url.ends_with("/good")));
        task.loaded(&top);
        assert_eq!(task.evaluate(&top, "document.body.textContent", soon()).unwrap().value, json!("good"));
    }
    assert_eq!(site.requested_from("b.localhost"), [""; 0]);
}

/// Popups in quick succession, with other supervisors on the same browser: none sends its first request, nor when it is closed.
#[test]
fn the_policy_applies_to_many_popups_at_once() {
    let others = ["nav-other-1", "nav-other-2", "nav-other-3"].map(|name| start(SupervisorOptions::task(name)));
    if others.iter().any(Option::is_none) {
        return;
    }
    let Some(task) = start(without_b("nav-burst")) else { return };
    for round in 0..rounds("CDPILOT_TEST_ROUNDS", 2, 4) {
        let link = task.site.url("b", &format!("/burst-{round}-"));
        task.eval(&format!("for (let n = 0; n < 8; n++) open('{link}' + n, '', n % 2 ? 'noopener' : ''); 1"));
        for number in 0..8 {
            blocked(&task, &format!("/burst-{round}-{number}"), 1);
        }
        assert_eq!(task.site.requested_from("b.localhost"), [""; 0], "before they are closed");
        close_others(&task);
        task.until("no popup", |now| now.pages.len() == 1);
    }
    // What was sent before this request would be here.
    task.go(&task.site.url("a", "/good"));
    assert_eq!(task.site.requested_from("b.localhost"), [""; 0]);
}

#[test]
fn blocked_documents_without_request_are_replaced() {
    let Some(task) = start(without_b("nav-schemes")) else { return };
    let home = task.site.url("a", "/");
    let file = tempfile::NamedTempFile::with_suffix(".html").unwrap();
    std::fs::write(file.path(), "<title>a file</title>").unwrap();
    let file = format!("file://{}", file.path().display());
    for url in [&*file, "chrome://version/", "javascript:document.title='run'", "view-source:about:blank"] {
        reason(task.navigate(&FrameRef::Top, url, soon()));
        reason(task.open_page(url, None, soon()));
    }
    assert_eq!(task.eval("location.href + document.title"), json!(home));
    // Bypassing the check, as another client would: it is not shown, or replaced soon.
    for url in [&*file, "chrome://version/"] {
        let _ = task.call(&FrameRef::Top, &Navigate::new(url), soon());
        blocked(&task, url, 1);
        task.until("another page", |now| top_of(now).is_some_and(|top| [&*home, "about:blank"].contains(&&*top.url)));
        let shows = task.eval("location.href + document.title");
        assert!([&*home, "about:blank"].contains(&shows.as_str().unwrap()), "{shows}");
        task.go(&home);
    }
    // What pages make up themselves passes.
    task.navigate(&FrameRef::Top, "data:text/html,<title>made up</title>", soon()).unwrap();
    task.loaded(&FrameRef::Top);
    assert_eq!(task.eval("document.title"), json!("made up"));
    task.go(&home);
    let made = task.eval("URL.createObjectURL(new Blob(['<title>blob</title>'], {type: 'text/html'}))");
    task.navigate(&FrameRef::Top, made.as_str().unwrap(), soon()).unwrap();
    task.loaded(&FrameRef::Top);
    assert_eq!(task.eval("document.title"), json!("blob"));
    let script = "const f = document.createElement('iframe'); f.srcdoc = 'inside'; document.body.append(f);
        new Promise(done => f.onload = () => done(f.contentDocument.body.textContent))";
    assert_eq!(task.eval(script), json!("inside"));
}

/// Addresses of the test host names for cdpilot; the browser resolves all of them to this machine.
fn names(host: &str) -> Vec<IpAddr> {
    let address = match host {
        "metadata.test" => "169.254.169.254",
        "inner.test" | "named.test" => "10.0.0.1",
        "slow.test" => {
            slow().wait();
            "8.8.8.8"
        }
        "gone.test" => return Vec::new(),
        _ => "8.8.8.8",
    };
    vec![address.parse().unwrap()]
}

/// Holds the look-up of `slow.test`.
fn slow() -> &'static Held {
    static SLOW: std::sync::LazyLock<Held> = std::sync::LazyLock::new(Held::default);
    &SLOW
}

/// A browser for which every name below `.test` is this machine.
fn named(options_of: SupervisorOptions) -> Option<Task> {
    let mut launch = options(TransportKind::Pipe)?;
    launch.extra_args.push("--host-resolver-rules=MAP *.test 127.0.0.1".to_owned());
    let supervisor =
        cdpilot::supervisor::Supervisor::start(BrowserProcess::launch(&launch).unwrap(), options_of).unwrap();
    Some(Task::over(supervisor))
}

fn at(site: &Site, host: &str, path: &str) -> String {
    site.url("1", path).replace("127.0.0.1", host)
}

#[test]
fn host_names_are_resolved_before_a_navigation() {
    let policy = NavigationPolicy::new(&["*.test", "named.test"], &[] as &[&str], false, false).unwrap();
    let policy = policy.with_names(names);
    let options = SupervisorOptions::task("nav-names").navigation(policy);
    let Some(task) = named(options) else { return };
    let site = &task.site;
    site.page("/", "page");
    for (host, part) in [("metadata.test", "169.254.169.254"), ("inner.test", "10.0.0.1")] {
        let response = reason(task.navigate(&FrameRef::Top, &at(site, host, "/"), soon()));
        assert!(response.contains(part), "{response}");
    }
    for host in ["open.test", "named.test", "gone.test"] {
        task.go(&at(site, host, "/"));
    }
    site.put("/away", redirect(&at(site, "inner.test", "/secret")));
    reason(task.navigate(&FrameRef::Top, &at(site, "open.test", "/away"), soon()));
    // A slow name lookup delays only navigations to that name.
    let slow_page = at(site, "slow.test", "/");
    task.eval(&format!(
        "const f = document.createElement('iframe'); f.src = '{slow_page}'; document.body.append(f); 1"
    ));
    let other = task.open_page(&at(site, "more.test", "/"), None, soon()).unwrap();
    task.until("the other page", |now| now.page(other.as_str()).is_some_and(|page| page.url.contains("more.test")));
    assert_eq!(task.eval("1 + 1"), json!(2));
    assert_eq!(site.requested_from("slow.test"), [""; 0]);
    slow().release();
    // Refused by now if this machine stood still for seconds, else it is on its way.
    let response = task.check_navigation(&slow_page, soon());
    assert!(response.is_ok(), "{response:?}");
    for host in ["metadata.test", "inner.test"] {
        assert_eq!(site.requested_from(host), [""; 0]);
    }
}

#[test]
fn a_page_loaded_from_another_ip_address_is_replaced() {
    let policy = NavigationPolicy::new(&["named.test"], &[] as &[&str], false, false).unwrap();
    let everywhere = NavigationPolicy::new(&[] as &[&str], &[] as &[&str], false, false).unwrap();
    drop(policy);
    let options = SupervisorOptions::task("nav-rebound").navigation(everywhere.with_names(names)).network(true);
    let Some(task) = named(options) else { return };
    task.site.page("/", "<title>rebound</title>");
    let _ = task.navigate(&FrameRef::Top, &at(&task.site, "rebound.test", "/"), soon());
    let response = blocked(&task, "/", 1);
    assert!(response["reason"].as_str().unwrap().contains("rebound.test resolves to 127.0.0.1"), "{response}");
    task.until("a blank page", |now| top_of(now).is_some_and(|top| matches!(&*top.url, "about:blank" | "")));
    assert_eq!(task.eval("location.href + document.title"), json!("about:blank"));
}

#[test]
fn the_policy_works_with_the_bridge_and_logins() {
    let options = without_b("nav-bridge").bridge(BridgeMode::Always);
    let Some(task) = start(options) else { return };
    let target = task.target();
    for login in [None, Some(Login::new("ann", "sesame")), None] {
        let with_login = login.is_some();
        task.set_login(&target, login, soon()).unwrap();
        task.go(&task.site.url("a", "/good"));
        reason(task.navigate(&FrameRef::Top, &task.site.url("a", "/twice"), soon()));
        task.run_in(&task.top(), "window.said = confirm('sure?')");
        assert!(task.dialog_saying("sure?").bridged);
        task.answer(ACCEPT);
        assert_eq!(task.eval("said"), json!(true));
        if with_login {
            task.site.page("/locked", "open");
            task.site.lock("/locked", "ann:sesame");
            task.go(&task.site.url("a", "/locked"));
            assert_eq!(task.eval("document.body.textContent"), json!("open"));
            // All requests are paused now, and continue.
            task.site.page("/plain", "plain");
            assert_eq!(task.eval("fetch('/plain').then(it => it.text())"), json!("plain"));
        }
        task.go(&task.site.url("c", "/good"));
    }
    assert_eq!(task.site.requested_from("b.localhost"), [""; 0]);
}

#[test]
fn a_start_at_a_blocked_url_is_refused() {
    let Some(lease) = Lease::take() else { return };
    let pages = cdpilot::supervisor::Pages::New { url: "http://b.localhost/".to_owned(), context: None };
    let options = without_b("nav-start").pages(pages);
    let started =
        cdpilot::supervisor::Supervisor::attach(lease.url(), &cdpilot::cdp::ConnectOptions::default(), options);
    reason(started);
}

/// Chromium 156 forgets a navigation that it is asking the old document about when another one replaces that document.
#[test]
fn a_navigation_during_another_one_is_not_lost() {
    for network in share([true, false], 1) {
        let Some(task) = Task::leased_with(SupervisorOptions::task("lost").network(network)) else { return };
        task.site.page("/", "<title>home</title>");
        task.site.page("/draft", "<title>draft</title>");
        for round in 0..rounds("CDPILOT_TEST_ROUNDS", 3, if network { 12 } else { 4 }) {
            task.go(&task.site.url("a", "/draft"));
            task.loaded(&FrameRef::Top);
            let ask_once = "let asked = 0; onbeforeunload = event => { if (asked++ === 0) event.preventDefault(); }";
            let gesture = json!({ "expression": ask_once, "userGesture": true });
            task.call_raw(&FrameRef::Top, "Runtime.evaluate", &gesture, soon()).unwrap();
            task.run("location.reload()");
            task.dialog();
            task.answer(ACCEPT);
            let home = task.site.url("a", &format!("/?{round}"));
            task.navigate(&FrameRef::Top, &home, soon()).unwrap();
            task.until("the new document", |now| top_of(now).is_some_and(|top| *top.url == *home));
        }
    }
}
