//! Tabs of a profile by name.

use std::time::Duration;

use cdpilot::supervisor::{EventKind, TargetId};
use cdpilot_server::control::{NewTab, TabInfo};

use crate::support::chrome::soon;
use crate::support::share::rounds;
use crate::support::test_home::{TestHome, eval_value, event, run, seen};

fn labelled(home: &TestHome, label: &str, background: bool) -> TabInfo {
    let new = NewTab::new(home.site.url("a", "/")).label(label).background(background);
    home.main().open_tab(new, soon()).unwrap()
}

fn ids(tabs: &[TabInfo]) -> Vec<&str> {
    tabs.iter().map(|tab| tab.tab_id.as_str()).collect()
}

#[test]
fn tabs_are_labelled_found_limited_and_closed() {
    let Some(home) = TestHome::launching("tabs: {max: 3, idle_minutes: 60}") else { return };
    home.site.page("/", "<title>page</title><a id=a href='/pop' target=_blank>x</a>");
    home.site.page("/pop", "<title>pop</title>");
    let profile = home.main();

    // Opening starts the browser, and takes the page that it opens with.
    let first = labelled(&home, "main", false);
    assert_eq!((first.tab_id.as_str(), first.title.as_str(), first.kind.as_str()), ("t1", "page", "page"));
    assert_eq!((first.label.as_deref(), first.active, profile.tabs().len()), (Some("main"), true, 1));
    let behind = labelled(&home, "behind", true);
    assert_eq!((behind.tab_id.as_str(), behind.active), ("t2", false));
    assert_eq!(profile.tab(None).unwrap().info.tab_id, "t1", "what is opened in the background is not the one meant");

    // By every name.
    for name in [&first.target_id, "t1", "main", &first.target_id.to_ascii_lowercase(), &first.target_id[..12]] {
        assert_eq!(profile.tab(Some(name)).unwrap().info.target_id, first.target_id, "{name}");
    }
    let none = profile.tab(Some("mian")).unwrap_err();
    assert!(none.code() == "TAB_NOT_FOUND" && none.to_string().contains("did you mean main?"), "{none}");

    // A label moves to the tab that got it last.
    let moved = profile.label("t2", "main").unwrap();
    assert_eq!(moved.label_taken_from.as_deref(), Some("t1"));
    let moved = moved.tab;
    assert_eq!((moved.label.as_deref(), moved.active), (Some("main"), false));
    assert_eq!(profile.tab(Some("main")).unwrap().info.tab_id, "t2");
    assert!(profile.tabs()[0].label.is_none());
    for bad in ["t7", "a b", ""] {
        assert_eq!(profile.label("t1", bad).unwrap_err().code(), "BAD_REQUEST", "{bad}");
    }

    // At the limit: the one that was idle longest is named. A popup counts, and is not kept from opening.
    let requested = profile.focus("t1", soon()).unwrap();
    assert!(requested.active);
    let before = profile.events().last();
    run(&profile, "t1", "document.getElementById('a').click()");
    seen(&profile, "the popup", |now| now.pages.iter().any(|page| &*page.title == "pop"));
    let tabs = profile.tabs();
    assert_eq!(ids(&tabs), ["t1", "t2", "t3"]);
    event(&profile, before, EventKind::TabOpened, &tabs[2].target_id);
    let url = home.site.url("a", "/");
    let full = profile.open_tab(NewTab::new(url.clone()), soon()).unwrap_err();
    assert!(
        full.code() == "TAB_LIMIT" && full.to_string().contains("for example main, which was idle longest"),
        "{full}"
    );
    assert_eq!(full.details().unwrap()["oldestIdle"], "main");
    let params = serde_json::json!({ "url": url });
    let raw = cdpilot_server::control::RawCall::new("Target.createTarget").params(params);
    assert_eq!(profile.raw(raw, soon()).unwrap_err().code(), "TAB_LIMIT");

    // Closed: no other tab is meant instead.
    profile.tab(Some("t3")).unwrap();
    let closed = profile.close_tab("t3", soon()).unwrap();
    assert_eq!(closed.tab.target_id, tabs[2].target_id);
    assert!(closed.replaced_by.is_none());
    assert_eq!(ids(&profile.tabs()), ["t1", "t2"]);
    assert_eq!(profile.tab(None).unwrap_err().code(), "TAB_GONE");
    assert_eq!(profile.tab(Some("t3")).unwrap_err().code(), "TAB_NOT_FOUND");
    profile.tab(Some("t2")).unwrap();

    // Under a dialog of a frame, closing is as safe as otherwise.
    home.site.page("/frames", "<iframe src='@b/alert'></iframe>");
    home.site.page("/alert", "<script>setTimeout(() => alert('boo'))</script>");
    let new = NewTab::new(home.site.url("a", "/frames"));
    let blocked = profile.open_tab(new, soon()).unwrap();
    seen(&profile, "the dialog", |now| !now.dialogs.is_empty());
    assert_eq!(profile.status().pending_dialogs, 1);
    profile.close_tab(&blocked.tab_id, soon()).unwrap();
    assert!(profile.status().running);

    // Idle ones are closed, but for those that nobody asked for; the last page of a browser has a successor.
    let pid = profile.status().pid;
    assert_eq!(home.sweep(Duration::from_secs(59 * 60), soon()).0, 0);
    assert_eq!(home.sweep(Duration::from_secs(61 * 60), soon()).0, 2);
    let left = profile.tabs();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((left[0].url.as_str(), profile.status().pid), ("about:blank", pid));
    let reused = home.open("/");
    assert_eq!((reused.target_id.as_str(), profile.tabs().len()), (left[0].target_id.as_str(), 1));
}

#[test]
fn internal_pages_are_no_tabs_and_a_used_page_is_not_reused() {
    let Some(home) = TestHome::launching("") else { return };
    home.site.page("/", "<title>page</title>");
    let profile = home.started();
    // Somebody looks at the empty page, so it is theirs.
    assert_eq!(eval_value(&profile, None, "document.title = 'mine'"), "mine");
    let first = profile.tabs()[0].clone();
    let opened = home.open("/");
    assert_ne!(opened.target_id, first.target_id);
    assert_eq!(profile.tabs().len(), 2);
    let supervisor = profile.running().unwrap().supervisor().clone();
    let params = serde_json::json!({ "url": "chrome://newtab/" });
    let made = supervisor.browser_raw("Target.createTarget", &params, soon()).unwrap();
    let hidden = TargetId::from(made["targetId"].as_str().unwrap());
    seen(&profile, "the page", |now| now.page(hidden.as_str()).is_some_and(|page| page.url.starts_with("chrome:")));
    assert_eq!(profile.tabs().len(), 2);
    assert_eq!(profile.status().tabs, 2);
    assert_eq!(profile.tab(Some(hidden.as_str())).unwrap_err().code(), "TAB_NOT_FOUND");
    // An address that cannot be reached leaves no tab behind.
    let url = "http://127.0.0.1:1/".to_owned();
    let failed = profile.open_tab(NewTab::new(url), soon()).unwrap_err();
    assert!(failed.code() == "BROWSER_ERROR" && failed.to_string().contains("ERR_"), "{failed}");
    for bad in ["example", "", "//x"] {
        let error = profile.open_tab(NewTab::new(bad), soon()).unwrap_err();
        assert_eq!(error.code(), "BAD_REQUEST", "{bad}");
    }
    assert_eq!(profile.tabs().len(), 2);
    // After a stop on request nothing was used yet.
    profile.stop(soon()).unwrap();
    profile.start(None, soon()).unwrap();
    assert_eq!(profile.tab(None).unwrap().info.url, "about:blank");
}

#[test]
fn closing_the_last_tabs_concurrently_leaves_a_page() {
    let Some(home) = TestHome::launching("") else { return };
    home.site.page("/", "<title>page</title>");
    let profile = home.main();
    labelled(&home, "a", false);
    for round in 0..rounds("CDPILOT_TEST_ROUNDS", 3, 10) {
        labelled(&home, "b", true);
        let together = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for label in ["a", "b"] {
                let (profile, together) = (&profile, &together);
                scope.spawn(move || {
                    together.wait();
                    profile.close_tab(label, soon()).unwrap();
                });
            }
        });
        // With a window, a browser ends with its last page.
        let left = profile.tabs();
        assert!(!left.is_empty(), "round {round}: no page is left");
        assert!(left.iter().all(|tab| tab.url == "about:blank"), "round {round}: {left:?}");
        labelled(&home, "a", false);
    }
}

#[cfg(unix)]
#[test]
fn a_last_tab_that_floods_the_browser_with_urls_is_closed() {
    let Some(home) = TestHome::launching("") else { return };
    home.site.page("/", "<title>page</title>");
    let tab = home.open("/");
    let profile = home.main();
    // 200 kB each: the browser process handles them more slowly than the page makes them, and executes no command meanwhile.
    let flood = "const long = '?' + 'y'.repeat(2e5), on = new MessageChannel(); let n = 0; \
        on.port1.onmessage = () => { history.replaceState({}, '', long + n++); on.port2.postMessage(0); }; on.port2.postMessage(0);";
    run(&profile, &tab.target_id, flood);
    seen(&profile, "the flood", |now| now.pages.iter().any(|page| page.url.contains("?yyy")));
    cdpilot::sync::pause(std::time::Duration::from_millis(200)); // lets the queue grow: the browser reports nothing about it
    let deadline = soon();
    let closed = profile.close_tab(&tab.target_id, deadline).unwrap();
    assert!(!deadline.passed());
    let left = profile.tabs();
    assert_eq!(closed.replaced_by.map(|empty| empty.tab_id).as_ref(), left.first().map(|tab| &tab.tab_id));
    assert!(left.iter().all(|tab| tab.url == "about:blank"), "{left:?}");
    // The browser works. It may still be busy with the rest, so opening a tab may return before the page has loaded.
    let next = home.open("/");
    seen(&profile, "the next page", |now| now.page(&next.target_id).is_some_and(|page| &*page.title == "page"));
    assert_eq!(eval_value(&profile, Some(&next.target_id), "document.title"), "page");
}
