//! Sending tabs to addresses.

use std::sync::Arc;

use cdpilot::supervisor::DialogAnswer;
use cdpilot::sync::{Deadline, spawn};
use cdpilot_server::control::{Error, Navigate, Navigated, NewTab, Profile, WaitUntil};

use crate::support::chrome::soon;
use crate::support::site::{Answer, Held};
use crate::support::test_home::{TestHome, eval_value, run, seen};

fn go(profile: &Profile, url: &str, wait_until: WaitUntil, deadline: Deadline<'_>) -> Result<Navigated, Error> {
    profile.navigate(Navigate::new(url).wait_until(wait_until), deadline)
}

fn load(profile: &Profile, url: &str) -> Navigated {
    go(profile, url, WaitUntil::Load, soon()).unwrap()
}

#[test]
fn a_navigation_waits_as_requested_and_returns_the_status() {
    let Some(home) = TestHome::new("") else { return };
    let profile = home.main();
    let site = &home.site;
    site.page("/", "<title>home</title>");
    site.put("/missing", Answer::html("<title>none</title>").status("404 Not Found"));
    site.put("/moved", Answer::html("").status("302 Found").header("Location", "/missing"));
    let navigation = load(&profile, &site.url("a", "/"));
    assert_eq!(
        (navigation.status, navigation.title.as_str(), navigation.navigated, navigation.blocked_by_dialog),
        (Some(200), "home", None, false)
    );
    assert_eq!(profile.tabs().len(), 1, "the page that the browser opens with");
    let navigation = load(&profile, &site.url("a", "/moved"));
    assert_eq!((navigation.status, navigation.url), (Some(404), site.url("a", "/missing")));
    // In the same document there is no other status.
    assert_eq!(load(&profile, &site.url("a", "/missing#part")).status, None);
    assert_eq!(load(&profile, "data:text/html,<title>d</title>").title, "d");

    let (script, picture) = (Held::default(), Held::default());
    site.put("/late.js", Answer::script("window.late = 1").held_by(&script));
    site.put("/late.png", Answer::html("").held_by(&picture));
    site.page("/slow", "<title>slow</title><script src='/late.js'></script><img src='/late.png'>");
    let slow = site.url("a", "/slow");
    let late = go(&profile, &slow, WaitUntil::DomContentLoaded, Deadline::after_secs(1)).unwrap_err();
    assert_eq!(late.code(), "TIMEOUT", "{late}");
    script.release();
    let parsed = go(&profile, &slow, WaitUntil::DomContentLoaded, soon()).unwrap();
    assert_eq!((parsed.status, eval_value(&profile, None, "window.late")), (Some(200), 1.into()));
    assert_eq!(eval_value(&profile, None, "document.readyState"), "interactive");
    let late = go(&profile, &slow, WaitUntil::Load, Deadline::after_secs(1)).unwrap_err();
    assert_eq!(late.code(), "TIMEOUT", "{late}");
    picture.release();
    load(&profile, &slow);
    assert_eq!(eval_value(&profile, None, "document.readyState"), "complete");

    // With nothing waited for, the answer comes before the server's.
    let document = Held::default();
    site.put("/held", Answer::html("<title>held</title>").held_by(&document));
    let held = site.url("a", "/held");
    let under_way = go(&profile, &held, WaitUntil::None, soon()).unwrap();
    assert_eq!((under_way.url.as_str(), under_way.blocked_by_dialog), (slow.as_str(), false));
    site.wait_requested("a.localhost/held", 1);
    document.release();
    seen(&profile, "the held page", |now| now.pages.iter().any(|page| *page.url == *held));

    let refused = go(&profile, "http://127.0.0.1:1/", WaitUntil::Load, soon()).unwrap_err();
    assert!(refused.code() == "BROWSER_ERROR" && refused.to_string().contains("ERR_"), "{refused}");
    let no_address = go(&profile, "a.test/?pass=geheim", WaitUntil::Load, soon()).unwrap_err();
    assert!(no_address.code() == "BAD_REQUEST" && !no_address.to_string().contains("geheim"), "{no_address}");
}

#[test]
fn a_navigation_that_opens_a_dialog_succeeds_and_reports_it() {
    let Some(home) = TestHome::new("rescue_after_ms: 1000, rescue_after_load_ms: 0") else { return };
    let (profile, site) = (home.main(), &home.site);
    site.page("/", "<title>home</title>");
    site.page("/stay", "<title>stay</title><button>b</button><script>addEventListener('beforeunload', e => e.preventDefault())</script>");
    site.page("/alert", "<title>loud</title><script>alert('hello')</script><p>after</p>");
    let (stay, other) = (site.url("a", "/stay"), site.url("a", "/"));
    let tab = home.open("/stay");
    // Chromium asks only where somebody has done something.
    let touch = cdpilot::page::Act::click_at(20.0, 20.0);
    profile.tab(None).unwrap().tab.act(&touch, soon()).unwrap();
    let requested = load(&profile, &other);
    assert_eq!(
        (requested.navigated, requested.blocked_by_dialog, requested.url.as_str()),
        (Some(false), true, stay.as_str())
    );
    assert_eq!(requested.pending_dialogs.len(), 1);
    let json = serde_json::to_value(&requested).unwrap();
    assert_eq!(
        (&json["navigated"], &json["blockedByDialog"], &json["pending_dialogs"][0]["type"]),
        (&false.into(), &true.into(), &"beforeunload".into())
    );
    let supervisor = Arc::clone(profile.running().unwrap().supervisor());
    supervisor.respond(None, DialogAnswer::Dismiss, soon()).unwrap();
    let requested = go(&profile, &other, WaitUntil::None, soon()).unwrap();
    assert_eq!((requested.navigated, requested.blocked_by_dialog), (Some(false), true));
    supervisor.respond(None, DialogAnswer::Accept(None), soon()).unwrap();
    seen(&profile, "the other page", |now| now.pages.iter().any(|page| *page.url == *other));

    // One that opens while the page loads.
    let loud = load(&profile, &site.url("a", "/alert"));
    assert_eq!((loud.blocked_by_dialog, loud.navigated, loud.status), (true, None, Some(200)), "{loud:?}");
    assert_eq!(&*loud.pending_dialogs[0].message, "hello");
    // The next navigation takes it along, when that is wanted.
    let refused = go(&profile, &other, WaitUntil::Load, soon()).unwrap_err();
    assert!(refused.code() == "BLOCKED_BY_DIALOG" && refused.to_string().contains("hello"), "{refused}");
    let to = Navigate::new(other.clone()).dismiss_dialogs(true);
    let navigation = profile.navigate(to, soon()).unwrap();
    assert_eq!(&*navigation.dismissed_dialogs[0].dialog.message, "hello");
    assert_eq!(
        (navigation.blocked_by_dialog, navigation.pending_dialogs.len(), navigation.title.as_str()),
        (false, 0, "home")
    );

    // A new tab is there although its page shows a dialog.
    let opened = profile.open_tab(NewTab::new(site.url("a", "/alert")), soon()).unwrap();
    assert_eq!(profile.dialogs(Some(&opened.tab_id)).unwrap().0.len(), 1);
    assert_eq!(profile.dialogs(Some(&tab.tab_id)).unwrap().0.len(), 0);

    // A script that never ends is ended: the page is sent away all the same.
    run(&profile, &tab.tab_id, "while (true) {}");
    let to = Navigate::new(site.url("b", "/")).target(tab.tab_id);
    profile.dialogs(None).unwrap().0.iter().for_each(|dialog| {
        supervisor.respond(Some(&dialog.id), DialogAnswer::Dismiss, soon()).unwrap();
    });
    let navigation = profile.navigate(to, soon()).unwrap();
    assert_eq!((navigation.title.as_str(), navigation.rescued), ("home", true));
}

#[test]
fn the_navigation_policy_applies_to_every_entry_point() {
    let Some(home) = TestHome::new("navigation: {block: ['b.localhost']}") else { return };
    let (profile, site) = (home.started(), &home.site);
    site.page("/", "<title>home</title>");
    let (here, target) = (site.url("a", "/"), site.url("b", "/"));
    load(&profile, &here);
    let pages = profile.tabs().len();
    for url in [
        &*target,
        "javascript:alert(1)",
        "chrome://version/",
        "file:///etc/passwd",
        "view-source:http://a.localhost/",
        "http://169.254.169.254/",
    ] {
        for until in [WaitUntil::Load, WaitUntil::None] {
            let blocked = go(&profile, url, until, soon()).unwrap_err();
            assert_eq!(blocked.code(), "NAVIGATION_BLOCKED", "{url}: {blocked}");
            assert!(blocked.details().unwrap()["reason"].as_str().is_some_and(|why| !why.is_empty()));
        }
        let blocked = profile.open_tab(NewTab::new(url), soon()).unwrap_err();
        assert_eq!(blocked.code(), "NAVIGATION_BLOCKED", "{url}: {blocked}");
        for method in ["Page.navigate", "Target.createTarget"] {
            let params = serde_json::json!({ "url": url });
            let call = cdpilot_server::control::RawCall::new(method).params(params);
            let blocked = profile.raw(call, soon()).unwrap_err();
            assert_eq!(blocked.code(), "NAVIGATION_BLOCKED", "{method} {url}: {blocked}");
        }
    }
    assert_eq!((profile.tabs().len(), profile.tabs()[0].url.as_str()), (pages, here.as_str()));
    site.put("/moved", Answer::html("").status("302 Found").header("Location", &target));
    let moved = go(&profile, &site.url("a", "/moved"), WaitUntil::Load, soon()).unwrap_err();
    assert_eq!(moved.code(), "NAVIGATION_BLOCKED", "{moved}");
    assert!(moved.details().unwrap()["reason"].is_string());
    // Also where the address itself is none that is refused: in new tabs, however they are opened.
    let url = site.url("a", "/moved");
    let params = serde_json::json!({ "url": url });
    let raw = cdpilot_server::control::RawCall::new("Target.createTarget").params(params);
    let made = profile.raw(raw, soon()).unwrap();
    let made = made["targetId"].as_str().unwrap();
    seen(&profile, "the refusal", |now| now.page(made).is_some_and(|page| page.blocked.is_some()));
    assert_eq!(&*profile.running().unwrap().supervisor().view().page(made).unwrap().url, "about:blank");
    let opened = profile.open_tab(NewTab::new(url), soon()).unwrap_err();
    assert_eq!(opened.code(), "NAVIGATION_BLOCKED", "{opened}");
    assert_eq!(site.requested_from("b.localhost"), [""; 0]);
}

#[test]
fn concurrent_callers_share_a_start() {
    let Some(home) = TestHome::new("") else { return };
    home.site.page("/", "<title>home</title>");
    let (profile, url) = (home.main(), home.site.url("a", "/"));
    let opens: Vec<_> = (0..4)
        .map(|n| {
            let (profile, url) = (profile.clone(), url.clone());
            let open = move || drop(profile.open_tab(NewTab::new(url), soon()).unwrap());
            spawn(format!("open-{n}"), open).unwrap()
        })
        .collect();
    drop(opens);
    let tabs = profile.tabs();
    assert_eq!(tabs.len(), 4, "{tabs:?}");
    assert!(tabs.iter().all(|tab| tab.url == url) && tabs.iter().filter(|tab| tab.active).count() == 1, "{tabs:?}");
}
