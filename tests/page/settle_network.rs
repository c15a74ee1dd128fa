//! Requests and downloads started by an action: which of them the action waits for.

use std::path::Path;

use cdpilot::page::{Act, DownloadState, Outcome, PageOptions};
use cdpilot::supervisor::SupervisorOptions;
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;
use crate::support::site::{Answer, Held};
use crate::support::test_tab::TestTab;

const NOTHING: &str = "no_change";
const RESTS: &str = "page_settled";

fn settled(outcome: &Outcome) -> &str {
    outcome.settled.as_str()
}

#[test]
fn responses_are_rendered_before_an_action_returns() {
    let Some(page) = TestTab::new("settle-fetch") else { return };
    let (one, two) = (Held::default(), Held::default());
    page.site.put("/one", Answer::html("one").held_by(&one));
    page.site.put("/two", Answer::html("two").held_by(&two));
    page.put(
        "/",
        "<button id=b>Go</button><p id=p>old</p><script>b.onclick = async () => {
            const spin = setInterval(() => { p.title = Math.random() }, 10);
            const one = await (await fetch('/one')).text();
            await new Promise(done => setTimeout(done));
            const two = await (await fetch('/two')).text();
            clearInterval(spin);
            await new Promise(done => requestAnimationFrame(done));
            p.textContent = one + two;
        }</script>",
    );
    page.go("/");
    let outcome = std::thread::scope(|scope| {
        let acting = scope.spawn(|| page.click("#b"));
        page.site.wait_requested("a.localhost/one", 1);
        one.release();
        page.site.wait_requested("a.localhost/two", 1);
        two.release();
        acting.join().unwrap()
    });
    assert_eq!(page.value("p.textContent"), "onetwo", "{outcome:?}");
    assert!(!outcome.navigated);
}

#[test]
fn earlier_and_irrelevant_requests_are_not_awaited() {
    let Some(page) = TestTab::new("settle-polls") else { return };
    let (poll, again, slow) = (Held::default(), Held::default(), Held::default());
    page.site.put("/poll", Answer::html("").held_by(&poll));
    page.site.put("/events", Answer::html(":\n\n").kind("text/event-stream").header("Content-Length", "1000"));
    page.site.put("/slow", Answer::html("").held_by(&slow));
    page.put(
        "/",
        "<button id=b>Go</button><iframe src='about:blank'></iframe><script>
            const poll = async n => { await fetch('/poll?' + n); poll(n + 1) };
            poll(1);
            const events = new EventSource('/events');
        </script>",
    );
    page.go("/");
    page.site.wait_requested("a.localhost/poll", 1);
    // A frame that never comes is no more than a request that never ends.
    page.value("document.querySelector('iframe').src = '/slow', 1");
    page.site.wait_requested("a.localhost/slow", 1);
    page.act(json!({ "kind": "evaluate", "fn": "1" })).unwrap();
    for script in ["1", "new EventSource('/events')", "navigator.sendBeacon('/slow')"] {
        page.value(&format!("b.onclick = () => {{ {script} }}; 1"));
        assert_eq!(settled(&page.click("#b")), NOTHING, "{script}");
    }
    // The poll comes round while it is acted.
    page.site.put("/poll", Answer::html("").held_by(&again));
    page.value("b.onclick = () => { window.pressed = 1 }; 1");
    std::thread::scope(|scope| {
        page.value("b.onpointerdown = () => fetch('/down'), 1");
        let acting = scope.spawn(|| page.click("#b"));
        page.site.wait_requested("a.localhost/down", 1);
        poll.release();
        page.site.wait_requested("a.localhost/poll", 2);
        let outcome = acting.join().unwrap();
        assert!([NOTHING, RESTS].contains(&settled(&outcome)), "{outcome:?}");
    });
    assert_eq!(page.value("pressed"), 1);
}

#[test]
fn an_endless_request_is_awaited_up_to_a_limit() {
    let Some(page) = TestTab::new("settle-endless") else { return };
    page.site.put("/never", Answer::html("").held_by(&Held::default()));
    page.put("/", "<button id=b onclick='fetch(\"/never\")'>Go</button>");
    page.go("/");
    let act: Act = serde_json::from_value(json!({ "kind": "click", "selector": "#b" })).unwrap();
    let outcome = page.tab.act(&act, Deadline::after_secs(5)).unwrap();
    assert_eq!(settled(&outcome), "requests_pending");
}

#[test]
fn requests_without_visible_effect_are_not_awaited() {
    let Some(page) = TestTab::new("settle-aside") else { return };
    page.site.put("/never", Answer::html("").held_by(&Held::default()));
    page.site.put("/never.png", Answer::html("").held_by(&Held::default()));
    page.site.put("/stream", Answer::html("the first half and the second").half_held_by(&Held::default()));
    page.put("/", "<button id=b>Go</button><p id=p></p>");
    page.go("/");
    for (script, expected) in [
        ("new Image().src = '/never.png'", NOTHING),
        ("navigator.sendBeacon('/never', 'x')", NOTHING),
        ("new EventSource('/never')", NOTHING),
        ("fetch('/stream').then(() => { p.textContent = 'begun' })", RESTS),
    ] {
        page.value(&format!("b.onclick = () => {{ {script} }}; 1"));
        assert_eq!(settled(&page.click("#b")), expected, "{script}");
    }
}

#[test]
fn polled_urls_are_not_awaited() {
    let Some(page) = TestTab::new("settle-polled") else { return };
    let held = Held::default();
    page.site.page("/poll", "");
    page.put(
        "/",
        "<button id=b onclick='fetch(\"/poll?click\")'>Go</button><script>
            window.polls = 0;
            (async () => { for (; polls < 3; polls++) await fetch('/poll?' + polls) })();
        </script>",
    );
    page.go("/");
    page.act(json!({ "kind": "wait", "fn": "polls === 3" })).unwrap();
    page.site.put("/poll", Answer::html("").held_by(&held));
    assert_eq!(settled(&page.click("#b")), NOTHING);
    // What clicks requested is no polling.
    page.site.page("/list", "");
    page.put("/", "<button id=b onclick='fetch(\"/list\")'>Go</button>");
    page.go("/");
    for _ in 0..4 {
        page.click("#b");
    }
    page.site.put("/list", Answer::html("").held_by(&held));
    assert_eq!(settled(&page.click("#b")), "requests_pending");
}

fn downloading(name: &str, folder: &Path) -> Option<SettleTab> {
    let mut page = PageOptions::default();
    page.downloads = Some(folder.to_owned());
    SettleTab::with(SupervisorOptions::task(name), page)
}

fn act(tab: &SettleTab, act: Value) -> Outcome {
    let act: Act = serde_json::from_value(act).unwrap();
    tab.act(&act, soon()).unwrap()
}

#[test]
fn downloads_started_by_an_action_are_reported_at_their_start() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tab) = downloading("settle-downloads", folder.path()) else { return };
    let how = |name: &str| format!("attachment; filename=\"{name}\"");
    let file =
        |name: &str| Answer::bytes("application/octet-stream", vec![1; 1000]).header("Content-Disposition", &how(name));
    tab.site.put("/linked", file("linked.bin"));
    tab.site.page("/plain", "plain");
    tab.site.page("/next", "next");
    tab.site.page(
        "/",
        "<a id=linked href=/linked>a</a> <a id=named download=named.txt href=/plain>b</a>
         <a id=data download=data.txt href='data:text/plain,x'>c</a> <a id=prevented download href=/plain onclick='return false'>d</a>
         <button id=framed onclick='document.body.append(Object.assign(document.createElement(\"iframe\"), { src: \"/linked\" }))'>e</button>
         <a id=shown href=/next>f</a>",
    );
    tab.go("/");
    for (id, name) in [("linked", "linked.bin"), ("named", "named.txt"), ("data", "data.txt"), ("framed", "linked.bin")]
    {
        let outcome = act(&tab, json!({ "kind": "click", "selector": format!("#{id}") }));
        assert_eq!(settled(&outcome), "download_started", "{id}: {outcome:?}");
        let [download] = outcome.downloads.as_slice() else { panic!("{id}: {outcome:?}") };
        assert_eq!(&*download.suggested_filename, name, "{id}");
        assert!([DownloadState::InProgress, DownloadState::Completed].contains(&download.state), "{download:?}");
        assert!(!outcome.navigated && outcome.url.ends_with('/'), "{outcome:?}");
        let whole = tab.wait_download(None, soon()).unwrap();
        assert_eq!((whole.number, whole.state), (download.number, DownloadState::Completed));
    }
    let response = serde_json::to_value(act(&tab, json!({ "kind": "click", "selector": "#linked" }))).unwrap();
    assert_eq!(response["downloads"][0]["suggestedFilename"], "linked.bin", "{response}");
    for id in ["prevented", "shown"] {
        let outcome = act(&tab, json!({ "kind": "click", "selector": format!("#{id}") }));
        assert!(outcome.downloads.is_empty() && outcome.navigated == (id == "shown"), "{outcome:?}");
    }
}
