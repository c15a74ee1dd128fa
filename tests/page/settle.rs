//! When an action returns, and what it reports: changes of the page, documents, tabs, dialogs, errors.

use cdpilot::cdp::ConnectOptions;
use cdpilot::page::{Outcome, PageOptions, SnapshotOptions};
use cdpilot::supervisor::{DialogAnswer, Pages, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::{soon, until};
use crate::support::lease::Lease;
use crate::support::settle_tab::SettleTab;
use crate::support::share::share;
use crate::support::site::{Answer, Held};
use crate::support::test_tab::TestTab;

const NOTHING: &str = "no_change";
const RESTS: &str = "page_settled";
const LOADED: &str = "navigated";

fn settled(outcome: &Outcome) -> &str {
    outcome.settled.as_str()
}

/// A page with a button that runs a script.
fn button(script: &str) -> String {
    format!("<button id=b onclick=\"{script}\">Go</button><p id=p>old</p>")
}

#[test]
fn an_action_without_effect_reports_no_change() {
    let Some(page) = TestTab::showing("settle-nothing", &button("window.clicked = 1")) else { return };
    for act in [
        json!({ "kind": "click", "selector": "#b" }),
        json!({ "kind": "hover", "selector": "#b" }),
        json!({ "kind": "press", "key": "Shift" }),
        json!({ "kind": "evaluate", "fn": "1 + 1" }),
    ] {
        let outcome = page.act(act.clone()).unwrap();
        assert_eq!(settled(&outcome), NOTHING, "{act}");
        assert!(!outcome.navigated && !outcome.blocked_by_dialog && outcome.new_tabs.is_empty(), "{outcome:?}");
        assert!(outcome.url.ends_with("/") && outcome.console_errors.is_empty(), "{outcome:?}");
    }
    assert_eq!(page.value("clicked"), 1);
    let waited = page.act(json!({ "kind": "wait", "selector": "#b" })).unwrap();
    assert_eq!(settled(&waited), "done");
}

#[test]
fn changes_deferred_to_frames_and_timers_are_awaited() {
    let Some(page) = TestTab::new("settle-chains") else { return };
    let raf = |then: &str| format!("requestAnimationFrame(() => {{ {then} }})");
    let timer = |then: &str| format!("setTimeout(() => {{ {then} }})");
    let last = "p.textContent = 'new'";
    let chains = [
        last.to_owned(),
        format!("Promise.resolve().then(() => {{ {last} }})"),
        raf(&raf(&raf(last))),
        timer(&timer(&timer(last))),
        raf(&timer(&raf(last))),
        timer(&raf(&timer(last))),
        // With something to see on the way, twice as far.
        raf(&raf(&format!("p.textContent = 'half'; {}", raf(&timer(&raf(last)))))),
    ];
    for chain in share(chains, 3) {
        page.put("/", &button(&chain));
        page.go("/");
        let outcome = page.click("#b");
        assert_eq!(page.value("p.textContent"), "new", "{chain}");
        assert_eq!(settled(&outcome), RESTS, "{chain}");
    }
}

#[test]
fn changes_in_shadow_roots_and_parent_documents_are_detected() {
    let Some(page) = TestTab::new("settle-places") else { return };
    page.put(
        "/",
        "<div id=h></div><p id=p>old</p><script>
            const root = h.attachShadow({ mode: 'open' });
            root.innerHTML = '<button>Go</button><p>old</p>';
            root.firstChild.onclick = () => { root.lastChild.textContent = 'new' };
            addEventListener('message', () => requestAnimationFrame(() => { p.textContent = 'told' }));
        </script><iframe src='@a/in'></iframe><iframe src='@b/far'></iframe>",
    );
    page.put("/in", "<button id=b onclick='parent.postMessage(1, \"*\")'>Go</button>");
    page.put("/far", "<button id=b onclick='parent.postMessage(1, \"*\")'>Go</button>");
    page.go("/");
    let outcome = page.click("button");
    assert_eq!((settled(&outcome), page.value("root.lastChild.textContent")), (RESTS, json!("new")));
    for path in share(["/in", "/far"], 1) {
        let frame = page.id_of(path);
        page.value("p.textContent = 'old'");
        let outcome = page.act(json!({ "kind": "click", "selector": "#b", "frameId": frame })).unwrap();
        assert_eq!((settled(&outcome), page.value("p.textContent")), (RESTS, json!("told")), "{path}");
    }
}

#[test]
fn an_action_on_an_endlessly_changing_page_returns() {
    // With every frame too: on a slow machine timers come late.
    let forever = "setInterval(() => { p.textContent = Math.random() }, 10);
        (function change() { p.textContent = Math.random(); requestAnimationFrame(change) })()";
    let Some(page) = TestTab::showing("settle-forever", &button(forever)) else { return };
    let outcome = page.click("#b");
    assert_eq!(settled(&outcome), "page_changing");
    // It is not this action that makes it change.
    let outcome = page.act(json!({ "kind": "hover", "selector": "#b" })).unwrap();
    assert_eq!(settled(&outcome), NOTHING);
}

#[test]
fn changes_already_under_way_are_not_attributed_to_an_action() {
    let Some(page) = TestTab::new("settle-animated") else { return };
    // Styles, texts, attributes, and a list that is built anew with every frame.
    let animations = [
        "p.style.left = Math.random() + 'px'",
        "p.textContent = Math.random()",
        "p.firstChild.data = Math.random()",
        "p.title = Math.random()",
        "p.innerHTML = '<b>a</b><i style=\"top:1px\">' + Math.random() + '</i>'; p.lastChild.style.top = '2px'",
    ];
    for animation in share(animations, 2) {
        page.put(
            "/",
            &format!(
                "<button id=b>Go</button><p id=p>old</p><p id=q></p><script>
                    (function change() {{ {animation}; requestAnimationFrame(change) }})();
                </script>"
            ),
        );
        page.go("/");
        let outcome = page.click("#b");
        let expected: &[&str] = if animation.contains("innerHTML") { &[NOTHING, RESTS] } else { &[NOTHING] };
        assert!(expected.contains(&settled(&outcome)), "{animation}: {outcome:?}");
        page.value("b.onclick = () => requestAnimationFrame(() => { q.textContent = 'new' }), 1");
        let outcome = page.click("#b");
        assert_eq!((settled(&outcome), page.value("q.textContent")), (RESTS, json!("new")), "{animation}");
    }
}

#[test]
fn an_animation_started_by_an_action_is_not_awaited() {
    let script = "(function move(n) { p.style.marginLeft = n + 'px'; window.at = n; requestAnimationFrame(() => move(n + 1)) })(0)";
    let Some(page) = TestTab::showing("settle-moves", &button(script)) else { return };
    let outcome = page.click("#b");
    assert_eq!(settled(&outcome), RESTS);
}

#[test]
fn the_settle_time_of_an_action_can_be_set() {
    let Some(page) = TestTab::new("settle-chosen") else { return };
    let (held, held2) = (Held::default(), Held::default());
    page.site.put("/slow", Answer::html("slow").held_by(&held));
    page.put(
        "/",
        "<button id=b>Go</button><p id=p>old</p><script>b.onclick = async () => {
            p.textContent = await (await fetch('/slow')).text();
        }</script>",
    );
    page.go("/");
    let click = |settle: serde_json::Value| json!({ "kind": "click", "selector": "#b", "settle": settle });
    let cases = [
        (json!("none"), "not_waited"),
        (json!({ "maxMs": 1 }), "requests_pending"),
        (json!("auto"), "requests_pending"),
    ];
    for (settle, expected) in share(cases, 1) {
        page.go("/");
        assert_eq!(settled(&page.act(click(settle.clone())).unwrap()), expected, "{settle}");
    }
    held.release();
    page.site.put("/slow", Answer::html("later").held_by(&held2));
    page.go("/");
    let requested = page.site.requested().iter().filter(|path| path.ends_with("/slow")).count();
    let outcome = std::thread::scope(|scope| {
        let acting = scope.spawn(|| page.act(click(json!({ "maxMs": 60_000 }))).unwrap());
        page.site.wait_requested("a.localhost/slow", requested + 1);
        let auto = page.act(json!({ "kind": "wait", "timeMs": 700 })).unwrap();
        assert_eq!(settled(&auto), "done");
        assert!(!acting.is_finished());
        held2.release();
        acting.join().unwrap()
    });
    assert_eq!((settled(&outcome), page.value("p.textContent")), (RESTS, json!("later")));
    let point = json!({ "kind": "clickCoords", "x": 10, "y": 10 });
    assert_eq!(settled(&page.act(point).unwrap()), "not_waited");
    let batch = json!({ "kind": "batch", "settle": "none", "actions": [click(json!(null)), click(json!("auto"))] });
    let results = page.act(batch).unwrap().results.unwrap();
    let response: Vec<_> = results.iter().map(|result| result["settled"].as_str().unwrap()).collect();
    assert!(response[0] == "not_waited" && response[1] != "not_waited", "{response:?}");
    for wrong in [json!("soon"), json!({ "maxMs": -1 }), json!({ "ms": 5 })] {
        let error = cdpilot::page::Act::parse(click(wrong.clone())).unwrap_err();
        let expected = if wrong == json!({ "ms": 5 }) { "UNKNOWN_FIELD" } else { "BAD_REQUEST" };
        assert_eq!(error.code(), expected, "{wrong}: {error}");
    }
}

#[test]
fn an_action_that_navigates_returns_after_the_load() {
    let Some(page) = TestTab::new("settle-navigates") else { return };
    let held = Held::default();
    page.put("/next", "<p>Next</p><img src='/slow.png'><iframe src='@b/in'></iframe>");
    page.put("/in", "<p>In</p>");
    page.site.put("/slow.png", Answer::html("").held_by(&held));
    let cases = [
        ("<a id=b href='/next'>Next</a>", true),
        ("<form action='/next'><button id=b>Send</button></form>", true),
        ("<form action='/next' method=post><button id=b>Send</button></form>", true),
        ("<button id=b onclick='location = \"/next\"'>Go</button>", true),
        ("<button id=b onclick='setTimeout(() => location.replace(\"@b/next\"))'>Go</button>", true),
    ];
    for (html, navigated) in share(cases, 2) {
        page.put("/", html);
        page.go("/");
        let outcome = std::thread::scope(|scope| {
            let acting = scope.spawn(|| page.click("#b"));
            page.site
                .wait_requested(if html.contains("@b") { "b.localhost/slow.png" } else { "a.localhost/slow.png" }, 1);
            held.release();
            acting.join().unwrap()
        });
        assert_eq!((settled(&outcome), outcome.navigated), (LOADED, navigated), "{html}");
        assert!(outcome.url.contains("/next"), "{html}: {}", outcome.url);
        assert_eq!(page.value("document.readyState + ' ' + document.querySelector('p').textContent"), "complete Next");
    }
}

#[test]
fn a_same_document_navigation_counts_as_navigated() {
    let Some(page) = TestTab::new("settle-addresses") else { return };
    let cases = [
        ("<button id=b onclick='history.pushState(1, \"\", \"/pushed\")'>Go</button>", "/pushed"),
        (
            "<button id=b onclick='setTimeout(() => history.replaceState(1, \"\", \"/replaced\"))'>Go</button>",
            "/replaced",
        ),
        ("<a id=b href='#part'>Part</a>", "/#part"),
    ];
    for (html, end) in share(cases, 1) {
        page.put("/", &format!("{html}<p>Same</p><script>window.mark = 1</script>"));
        page.go("/");
        let outcome = page.click("#b");
        assert!(outcome.navigated && outcome.url.ends_with(end), "{html}: {outcome:?}");
        assert_eq!(page.value("mark"), 1);
    }
    // A cancelled one does not.
    page.site.put("/none", Answer::html("").status("204 No Content"));
    page.put("/", "<a id=b href='/none'>None</a>");
    page.go("/");
    let outcome = page.click("#b");
    assert!(!outcome.navigated && outcome.url.ends_with("/"), "{outcome:?}");
    // A reload shows the same address and another document.
    page.put("/", "<button id=b onclick='location.reload()'>Go</button>");
    page.go("/");
    page.value("window.mark = 1");
    let outcome = page.click("#b");
    assert!(outcome.navigated && page.value("typeof mark") == "undefined", "{outcome:?}");
}

#[test]
fn an_action_that_navigates_a_frame_returns_after_its_load() {
    let Some(page) = TestTab::new("settle-frame") else { return };
    page.put("/", "<iframe src='@a/near'></iframe><iframe src='@b/far'></iframe>");
    page.put("/near", "<a id=b href='@a/near-next'>Next</a>");
    page.put("/far", "<a id=b href='@c/far-next'>Next</a>");
    for path in ["/near-next", "/far-next"] {
        page.put(path, "<p id=p>There</p>");
    }
    page.go("/");
    for (path, next) in share([("/near", "/near-next"), ("/far", "/far-next")], 1) {
        let frame = page.id_of(path);
        let outcome = page.act(json!({ "kind": "click", "selector": "#b", "frameId": frame })).unwrap();
        assert!(!outcome.navigated && outcome.url == page.site.url("a", "/"), "{path}: {outcome:?}");
        assert_eq!(settled(&outcome), RESTS, "{path}");
        let now = page.supervisor().view();
        let shown = now.frame(&frame).unwrap();
        assert!(shown.url.ends_with(next), "{path}: {}", shown.url);
        let at = cdpilot::supervisor::FrameRef::Id(shown.frame_id.clone());
        assert_eq!(page.value_in(&at, "document.readyState + p.textContent"), "completeThere");
    }
}

#[test]
fn tabs_opened_by_an_action_are_reported() {
    let Some(page) = TestTab::new("settle-tabs") else { return };
    page.put("/next", "<p>Next</p>");
    let kinds = [
        "<button id=b onclick='window.open(\"/next\")'>Go</button>",
        "<button id=b onclick='setTimeout(() => window.open(\"/next\", \"_blank\", \"noopener\"))'>Go</button>",
        "<a id=b target=_blank href='@b/next'>Go</a>",
    ];
    for html in share(kinds, 1) {
        page.put("/", html);
        page.go("/");
        let outcome = page.click("#b");
        assert!(outcome.new_tabs.len() == 1 && !outcome.navigated, "{html}: {outcome:?}");
        let tab = page.pages.tab(&outcome.new_tabs[0].target_id).unwrap();
        let new = tab.target().as_str();
        until(page.supervisor(), "the address", |now| now.page(new).is_some_and(|page| page.url.ends_with("/next")));
        page.supervisor().close_page(tab.target(), soon()).unwrap();
    }
}

#[test]
fn tabs_without_opener_are_reported_where_detected() {
    let options = SupervisorOptions::task("settle-own-tabs").pages(Pages::All).start_timeout(soon().left());
    let Some(lease) = Lease::take_empty() else { return };
    let supervisor = Supervisor::attach(lease.url(), &ConnectOptions::default(), options).unwrap();
    supervisor.open_page("about:blank", None, soon()).unwrap();
    let tab = SettleTab::over(supervisor, PageOptions::default()).holding(lease);
    tab.site.page("/", "<a id=b href='/next'>Go</a>");
    tab.site.page("/next", "<p>Next</p>");
    tab.go("/");
    for act in [json!({ "modifiers": ["ControlOrMeta"] }), json!({ "button": "middle" })] {
        let mut click = json!({ "kind": "click", "selector": "#b" });
        click.as_object_mut().unwrap().extend(act.as_object().unwrap().clone());
        let outcome = tab.act(&serde_json::from_value(click).unwrap(), soon()).unwrap();
        assert!(outcome.new_tabs.len() == 1 && !outcome.navigated, "{act}: {outcome:?}");
    }
}

#[test]
fn a_dialog_is_reported_at_once_and_blocks_the_next_action() {
    let script = "p.textContent = 'new'; alert('Now'); p.textContent = 'newer'";
    let Some(page) = TestTab::showing("settle-dialog", &button(script)) else { return };
    for act in [json!({ "kind": "click", "selector": "#b" }), json!({ "kind": "evaluate", "fn": "b.click()" })] {
        let outcome = page.act(act).unwrap();
        assert!(outcome.blocked_by_dialog && settled(&outcome) == "dialog_opened", "{outcome:?}");
        assert_eq!(&*outcome.pending_dialogs[0].message, "Now");
        for next in [
            json!({ "kind": "click", "selector": "#b" }),
            json!({ "kind": "evaluate", "fn": "1" }),
            json!({ "kind": "type", "text": "x" }),
        ] {
            let error = page.act(next).unwrap_err();
            assert!(error.is_blocked_by_dialog() && error.code() == "BLOCKED_BY_DIALOG", "{error}");
        }
        page.supervisor().respond(None, DialogAnswer::Dismiss, soon()).unwrap();
        until(page.supervisor(), "no dialog", |now| now.dialogs.is_empty());
        assert_eq!(page.value("p.textContent"), "newer");
    }
    // One that a timer opens.
    page.value("b.onclick = () => setTimeout(() => alert('Then'))");
    let outcome = page.click("#b");
    assert!(outcome.blocked_by_dialog, "{outcome:?}");
    page.supervisor().respond(None, DialogAnswer::Dismiss, soon()).unwrap();
}

#[test]
fn console_errors_since_an_action_are_reported() {
    let script = "console.log('fine'); console.error('bad', 1); setTimeout(() => { throw new Error('worse') })";
    let Some(page) = TestTab::showing("settle-errors", &button(script)) else { return };
    page.value("console.error('before')");
    let outcome = page.click("#b");
    let [bad, worse] = outcome.console_errors.as_slice() else { panic!("{outcome:?}") };
    assert!(bad.contains("bad 1") && worse.contains("worse"), "{bad} {worse}");
}

/// What changed between an earlier delta and the action is not an effect of the action.
#[test]
fn a_delta_compares_with_the_page_before_the_action() {
    let html = "<button id=b onclick=\"p.textContent = 'clicked'\">Go</button><p id=p>old</p><p id=q>quiet</p>";
    let Some(page) = TestTab::showing("settle-delta-now", html) else { return };
    page.snapshot_with(SnapshotOptions::new().fold(true));
    page.value("q.textContent = 'meanwhile'");
    let changes = page.act(json!({ "kind": "click", "selector": "#b", "delta": true })).unwrap().changes.unwrap();
    assert!(changes.contains("clicked") && !changes.contains("meanwhile"), "{changes}");
}

#[test]
fn delta_returns_the_changed_lines() {
    let items: String = (0..20).map(|n| format!("<li>Item {n}</li>")).collect();
    let script = "p.textContent = 'new'; document.querySelector('li').remove()";
    let html = format!("{}<ul>{items}</ul>", button(script));
    let Some(page) = TestTab::showing("settle-delta", &html) else { return };
    let click = json!({ "kind": "click", "selector": "#b", "delta": true });
    for take in share([None, Some(false), Some(true)], 1) {
        page.go("/");
        if let Some(fold) = take {
            page.snapshot_with(SnapshotOptions::new().fold(fold));
        }
        let response = page.act(click.clone()).unwrap().changes.unwrap();
        let has = |start: &str, part: &str| response.lines().any(|line| line.starts_with(start) && line.contains(part));
        assert!(has("- ", ": old") && has("+ ", ": new") && has("- ", "Item 0"), "{take:?}\n{response}");
        assert!(!response.contains("Item 19"), "{take:?}\n{response}");
        assert!(response.lines().count() < 12, "{take:?}\n{response}");
    }
    let none = page.act(json!({ "kind": "hover", "selector": "p", "delta": true })).unwrap();
    assert_eq!(none.changes.as_deref(), Some(""));
    assert!(page.click("#b").changes.is_none());
    page.value("b.onclick = () => { for (let n = 0; n < 2000; n++) document.body.append(document.createElement('hr'), 'x' + n) }");
    let response = page.act(click).unwrap().changes.unwrap();
    assert!(response.len() < 4_200 && response.lines().last().unwrap().starts_with("[truncated"), "{}", response.len());
}

#[test]
fn an_action_on_an_unresponsive_page_fails_by_its_deadline() {
    let Some(page) = TestTab::showing("settle-wedged", &button("1")) else { return };
    // A script of another caller that has more time.
    std::thread::scope(|scope| {
        page.put("/held", "");
        let hangs = "fetch('/held'); const end = Date.now() + 6000; while (Date.now() < end);";
        let other = scope.spawn(|| page.supervisor().evaluate(&page.top(), hangs, soon()));
        page.site.wait_requested("a.localhost/held", 1);
        let act = serde_json::from_value(json!({ "kind": "click", "selector": "#b" })).unwrap();
        let error = page.tab.act(&act, Deadline::after_millis(2500)).unwrap_err();
        assert!(["TIMEOUT", "BUSY", "PAGE_BUSY"].contains(&error.code()), "{error:?} {}", error.code());
        let _ = other.join().unwrap();
    });
    page.click("#b");
}

/// A list that is filtered once the keys have ended is filtered when the typing is done.
#[test]
fn what_a_page_defers_until_the_keys_have_ended_is_awaited() {
    let html = "<input id=i><p id=p>all</p><script>let timer;
        i.oninput = () => { clearTimeout(timer); timer = setTimeout(() => p.textContent = 'found ' + i.value, 250) }</script>";
    let Some(page) = TestTab::showing("settle-typed", html) else { return };
    page.act(json!({ "kind": "type", "selector": "#i", "text": "blu" })).unwrap();
    assert_eq!(page.value("p.textContent"), "found blu");
    page.act(json!({ "kind": "fill", "fields": [{ "selector": "#i", "value": "red" }] })).unwrap();
    assert_eq!(page.value("p.textContent"), "found red");
}
