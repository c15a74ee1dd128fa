//! Elements that move, change, hide or disappear during an action.

use cdpilot::page::Error;
use cdpilot::supervisor::DialogAnswer;
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::test_tab::{TestTab, ref_of};

fn not_actionable(error: &Error) -> (String, Option<String>) {
    match error {
        Error::NotActionable { reason, covered_by, .. } => (reason.clone(), covered_by.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_click_waits_until_the_element_is_actionable() {
    let Some(page) = TestTab::logging("torture-waits", "") else { return };
    let button = "<button id=b>Go</button>";
    let cases = [
        ("".to_owned(), "document.body.insertAdjacentHTML('beforeend', '<button id=b>Go</button>')"),
        (format!("<div style='display: none' id=d>{button}</div>"), "d.style.display = ''"),
        (format!("<div style='visibility: hidden' id=d>{button}</div>"), "d.style.visibility = ''"),
        ("<button id=b disabled>Go</button>".to_owned(), "b.disabled = false"),
        (format!("<fieldset id=d disabled>{button}</fieldset>"), "d.disabled = false"),
        (format!("<div aria-disabled=true id=d>{button}</div>"), "d.removeAttribute('aria-disabled')"),
        (format!("{button}<div id=d style='position: fixed; inset: 0'></div>"), "d.remove()"),
        (format!("<div id=d inert>{button}</div>"), "d.inert = false"),
        ("<button id=b style='pointer-events: none'>Go</button>".to_owned(), "b.style.pointerEvents = ''"),
        ("<button id=b style='position: fixed; left: -500px'>Go</button>".to_owned(), "b.style.left = '20px'"),
    ];
    for (html, then) in share(cases, 3) {
        page.value(&format!("document.body.innerHTML = {}; scrollTo(0, 0), log.length = 0", json!(html)));
        page.value(&format!("setTimeout(() => {{ {then}; log.push('now') }}, 250)"));
        page.click("#b");
        let log = page.log();
        assert!(log.starts_with("now") || log.contains(" now "), "{html}: {log}");
        assert!(log.ends_with("click#b"), "{html}: {log}");
    }
}

#[test]
fn a_permanent_overlay_is_named() {
    // All in one page: each waits until its deadline, so they wait together.
    let cases = [
        (
            "<div style='display: none' id=d0><button id=b0>Go</button></div>",
            "not visible (display: none of div#d0)",
            None,
        ),
        ("<button id=b1 style='visibility: hidden'>Go</button>", "not visible (visibility: hidden)", None),
        (
            "<button id=b2 style='width: 0; height: 0; border: 0; padding: 0; overflow: hidden'></button>",
            "it has no size",
            None,
        ),
        ("<button id=b3 disabled>Go</button>", "it is disabled", None),
        ("<fieldset id=d4 disabled><button id=b4>Go</button></fieldset>", "disabled by group (fieldset#d4)", None),
        ("<div id=d5 inert><button id=b5>Go</button></div>", "inert with div#d5", None),
        ("<button id=b6 style='pointer-events: none'>Go</button>", "pointer-events: none", None),
        ("<button id=b7 style='position: fixed; left: -500px'>Go</button>", "outside the viewport", None),
        (
            "<div style='position: relative; width: 200px; height: 60px'><button id=b8>Go</button><div id=d8 role=dialog aria-label='We value you' style='position: absolute; inset: 0'><p id=p style='height: 100%; margin: 0'>Cookies</p></div></div>",
            "covered",
            Some("paragraph (p#p) in dialog \"We value you\" (div#d8)"),
        ),
        (
            "<style>@keyframes go { to { transform: translateX(300px) } }</style><button id=b9 style='animation: go 970ms linear infinite'>Go</button>",
            "it is moving",
            None,
        ),
    ];
    let html: String = cases.iter().map(|(html, ..)| *html).collect();
    let Some(page) = TestTab::logging("torture-reasons", &html) else { return };
    for (number, (html, reason, cover)) in share(cases.iter().enumerate(), 3) {
        let click = json!({ "kind": "click", "selector": format!("#b{number}") });
        let error = page.fails_by(click, Deadline::after_millis(1200));
        assert_eq!(error.code(), "NOT_ACTIONABLE", "{html}: {error}");
        let (said, by) = not_actionable(&error);
        assert!(said.contains(reason), "{html}: {said}");
        assert_eq!(by.as_deref(), *cover, "{html}");
    }
    assert!(!page.log().contains("down"));
    let error = page.fails(json!({ "kind": "click", "selector": "#nowhere" }));
    assert_eq!(error.code(), "NOT_FOUND");
    for bad in [
        json!({ "kind": "click" }),
        json!({ "kind": "click", "selector": "p[" }),
        json!({ "kind": "click", "selector": "#b", "ref": "e1" }),
    ] {
        assert_eq!(page.fails(bad).code(), "BAD_REQUEST");
    }
}

#[test]
fn a_moving_element_is_clicked_when_it_stops() {
    let html = "<style>@keyframes go { from { transform: translateX(400px) } }</style>
        <button id=b style='animation: go 700ms linear'>Go</button>";
    let Some(page) = TestTab::logging("torture-moves", html) else { return };
    page.click("#b");
    let log = page.log();
    assert!(log.ends_with("click#b"), "{log} {}", page.value("[b.style.cssText, scrollY, JSON.stringify(last.click), JSON.stringify(last.mousedown), JSON.stringify(b.getBoundingClientRect())]"));
    // And one that a script pushes on for a while, out of view in the end.
    page.value("(() => { let n = 0; const go = () => { b.style.cssText = `animation: none; position: absolute; top: ${n * 50}px`; if (n++ < 40) requestAnimationFrame(go) }; go() })()");
    page.click("#b");
    let log = page.log();
    assert!(log.ends_with("click#b"), "{log} {}", page.value("[b.style.cssText, scrollY, JSON.stringify(last.click), JSON.stringify(last.mousedown), JSON.stringify(b.getBoundingClientRect())]"));
}

#[test]
fn an_element_of_a_scrolling_page_is_clicked_when_it_stops() {
    let html = "<div style='height: 3000px'></div><button id=b>Go</button><div style='height: 3000px'></div>";
    let Some(page) = TestTab::logging("torture-scrolls", html) else { return };
    page.value("(() => { let n = 0; const go = () => { scrollTo(0, n * 80); if (n++ < 40) requestAnimationFrame(go) }; go() })()");
    page.click("#b");
    assert!(page.log().ends_with("click#b"));
}

#[test]
fn an_element_is_scrolled_out_from_under_a_sticky_header() {
    let html = "<div style='position: sticky; top: 0; height: 60%; min-height: 360px; background: silver; z-index: 1'>Head</div>
        <div style='height: 700px'></div><button id=b>Go</button><div style='height: 3000px'></div>";
    let Some(page) = TestTab::logging("torture-sticky", html) else { return };
    page.value("scrollTo(0, 720)");
    page.click("#b");
    assert!(page.log().ends_with("click#b"));
}

#[test]
fn a_wrapped_link_is_clicked_inside_one_of_its_boxes() {
    let html = "<p style='width: 200px; font: 16px/20px monospace'>some words here <a id=b href='#x'>a link that wraps over</a> and more</p>
        <div id=over style='position: absolute; left: 0; top: 0; width: 300px; height: 36px'></div>";
    let Some(page) = TestTab::logging("torture-wraps", html) else { return };
    page.click("#b");
    assert!(page.log().ends_with("click#b"));
}

#[test]
fn a_ref_is_bound_to_one_element_with_its_role_and_name() {
    let Some(page) = TestTab::logging("torture-refs", "<div id=d><button id=b>Delete drafts (3)</button></div>") else {
        return;
    };
    let reference = ref_of(&page.snapshot(), "Delete");
    page.value("b.textContent = 'Delete  drafts (17)'");
    page.act(json!({ "kind": "click", "ref": reference })).unwrap();
    assert!(page.log().ends_with("click#b"), "counters and spaces do not count");
    page.value("b.textContent = 'Send 17 drafts'");
    let error = page.act(json!({ "kind": "click", "ref": format!("@{reference}") })).unwrap_err();
    assert_eq!(error.code(), "REF_CHANGED");
    let details = error.details().unwrap();
    assert_eq!(details["was"], json!({ "role": "button", "name": "Delete drafts (3)" }));
    assert_eq!(details["now"], json!({ "role": "button", "name": "Send 17 drafts" }));
    assert_eq!(details["ref"], reference.as_str());
    assert!(!page.log().contains("down"));
    page.act(json!({ "kind": "click", "ref": reference, "force": true })).unwrap();
    assert!(page.log().ends_with("click#b"));
    page.value("b.setAttribute('role', 'link'); b.textContent = 'Delete 3 drafts'");
    assert_eq!(page.fails(json!({ "kind": "click", "ref": reference })).code(), "REF_CHANGED");
    // Drawn anew: the same to a reader, another element.
    page.value("d.innerHTML = d.innerHTML");
    for force in [false, true] {
        let error = page.fails(json!({ "kind": "click", "ref": reference, "force": force }));
        assert_eq!(error.code(), "STALE_REF", "{error}");
    }
    page.go("/");
    assert_eq!(page.fails(json!({ "kind": "click", "ref": reference })).code(), "STALE_REF");
    assert_eq!(page.fails(json!({ "kind": "click", "ref": "e999" })).code(), "STALE_REF");
    assert_eq!(page.fails(json!({ "kind": "click", "ref": "x1" })).code(), "BAD_REQUEST");
    assert!(!page.log().contains("down"));
}

#[test]
fn a_name_that_changes_during_the_wait_makes_a_ref_stale() {
    let html = "<button id=b>Keep</button><div id=d style='position: fixed; inset: 0'></div>";
    let Some(page) = TestTab::logging("torture-name", html) else { return };
    page.value("d.remove()");
    let reference = ref_of(&page.snapshot(), "Keep");
    page.value("document.body.append(Object.assign(document.createElement('div'), { id: 'd', style: 'position: fixed; inset: 0' })); setTimeout(() => { b.textContent = 'Drop'; d.remove() }, 300)");
    let error = page.act(json!({ "kind": "click", "ref": reference })).unwrap_err();
    assert_eq!(error.code(), "REF_CHANGED");
    assert!(!page.log().contains("down"));
}

#[test]
fn a_dialog_during_a_click_ends_it_successfully() {
    let Some(page) = TestTab::new("torture-dialogs") else { return };
    let input = "<input id=i onblur=\"if (window.armed) { armed = 0; alert('blur') }\">";
    page.put("/", &format!("{input}<button id=b>Go</button><iframe src='@b/in'></iframe>"));
    page.put("/in", "<button id=b>Go</button>");
    page.go("/");
    let inner = page.id_of("/in");
    let ways = [
        (None, json!(null)),
        (None, json!("synthetic")),
        (Some(&inner), json!(null)),
        (Some(&inner), json!("synthetic")),
    ];
    let cases = ["mouseover", "pointerdown", "mousedown", "mouseup", "click"]
        .into_iter()
        .flat_map(|kind| ways.iter().map(move |(frame, input)| (kind, *frame, input)));
    for (kind, frame, input) in share(cases, 5) {
        let at = frame.map_or_else(|| page.top(), |_| page.frame("/in"));
        page.act(json!({ "kind": "hover", "selector": "#i" })).unwrap();
        page.value_in(
            &at,
            &format!("b.addEventListener('{kind}', () => alert('{kind}'), {{ once: true }}); log.length = 0"),
        );
        let outcome = page.act(json!({ "kind": "click", "selector": "#b", "frameId": frame, "input": input })).unwrap();
        assert!(outcome.blocked_by_dialog, "{kind} {frame:?} {input}");
        assert_eq!(outcome.pending_dialogs.len(), 1);
        page.supervisor().respond(None, DialogAnswer::Dismiss, soon()).unwrap();
        // And the mouse is free again.
        page.act(json!({ "kind": "click", "selector": "#b", "frameId": frame })).unwrap();
        let log = page.log_of(&at).replace(" focusin#b", "").replace('!', "");
        assert!(
            log.ends_with("pointerdown#b mousedown#b pointerup#b mouseup#b click#b"),
            "{kind} {frame:?} {input}: {log}"
        );
    }
    page.value("i.focus(), window.armed = 1");
    let outcome = page.click("#b");
    assert!(outcome.blocked_by_dialog);
    page.supervisor().respond(None, DialogAnswer::Dismiss, soon()).unwrap();
    page.click("#b");
}

#[test]
fn a_beforeunload_dialog_ends_a_click_successfully() {
    let Some(page) = TestTab::new("torture-unload") else { return };
    page.put(
        "/",
        "<script>addEventListener('beforeunload', e => e.preventDefault())</script><a id=b href='/next'>Next</a>",
    );
    page.put("/next", "<p>There</p>");
    page.go("/");
    let outcome = page.click("#b");
    assert!(outcome.blocked_by_dialog);
    page.supervisor().respond(None, DialogAnswer::Dismiss, soon()).unwrap();
    assert!(page.value("location.pathname").as_str() == Some("/"));
    let outcome = page.click("#b");
    assert!(outcome.blocked_by_dialog);
    page.supervisor().respond(None, DialogAnswer::Accept(None), soon()).unwrap();
    crate::support::chrome::until(page.supervisor(), "the next page", |now| {
        now.page(page.tab.target().as_str()).is_some_and(|page| page.url.ends_with("/next"))
    });
}

#[test]
fn an_element_removed_on_press_is_clicked() {
    let html = "<div id=d><button id=b>Go</button></div><script>
        d.addEventListener('mousedown', () => { if (window.armed) d.innerHTML = '<button id=c>New</button>' })</script>";
    let Some(page) = TestTab::logging("torture-goes", html) else { return };
    for input in [json!(null), json!("synthetic")] {
        page.value("armed = 1, d.innerHTML = '<button id=b>Go</button>'");
        page.act(json!({ "kind": "click", "selector": "#b", "input": input })).unwrap();
        let log = page.log();
        assert!(!log.contains("click#b") && !log.contains("click!#b"), "{log}");
        page.value("armed = 0");
        page.click("#c");
        assert!(page.log().ends_with("click#c"));
    }
}

#[test]
fn a_click_follows_a_frame_that_changes_process() {
    let Some(page) = TestTab::new("torture-swap") else { return };
    page.put("/", "<iframe src='@a/one'></iframe>");
    page.put("/one", "<p>One</p>");
    page.put("/two", "<button id=b>Go</button>");
    page.go("/");
    let id = page.id_of("/one");
    for (host, after) in [("b", 300), ("a", 600), ("c", 300)] {
        let url = page.site.url(host, "/two");
        page.value(&format!("setTimeout(() => document.querySelector('iframe').src = '{url}?{after}{host}', {after})"));
        page.act(json!({ "kind": "click", "selector": "#b", "frameId": id })).unwrap();
        // Whichever of the two documents it was in; the first one has no button.
        let log = page.log_of(&page.frame(&format!("/two?{after}{host}")));
        assert!(log.contains("mouseup#b click#b") || host != "b", "{host}: {log}");
    }
}

#[test]
fn a_click_that_closes_its_tab_or_navigates_succeeds() {
    let Some(page) = TestTab::soon_rescued("torture-leaves") else { return };
    page.put("/", "<a id=b href='@b/next'>Next</a>");
    page.put("/next", "<button id=c onclick='location = \"@c/third\"'>On</button>");
    page.put("/third", "<button id=e onclick='while (true);'>Hang</button>");
    page.go("/");
    let outcome = page.click("#b");
    assert!(outcome.navigated && outcome.url.ends_with("/next"), "{outcome:?}");
    let outcome = page.click("#c");
    assert!(outcome.url.ends_with("/third"), "{outcome:?}");
    let outcome = page.click("#e");
    assert!(outcome.rescued, "a script that hangs in a click is ended: {outcome:?}");
    assert_eq!(page.value("1 + 1"), 2);
}
