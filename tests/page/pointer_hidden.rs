//! Input to background tabs.

use cdpilot::cdp::protocol::emulation::SetFocusEmulationEnabled;
use cdpilot::cdp::protocol::page::StopScreencast;
use cdpilot::page::Input;
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::test_tab::{TestTab, ref_of};

const BUTTON: &str = "<button id=b>Go</button>";

/// A tab behind another one.
fn behind(name: &str) -> Option<TestTab> {
    let page = TestTab::new(name)?;
    page.put("/", &format!("{BUTTON}<iframe src='@b/in'></iframe>"));
    page.put("/in", BUTTON);
    page.go("/");
    page.frame("/in");
    page.supervisor().open_page("about:blank", None, soon()).unwrap();
    let hidden = "document.hidden || new Promise(done => addEventListener('visibilitychange', () => done(document.hidden), true))";
    assert_eq!(page.value(hidden), true);
    Some(page)
}

#[test]
fn a_background_tab_receives_trusted_input() {
    let Some(page) = behind("behind") else { return };
    let inner = page.id_of("/in");
    for frame in [None, Some(&inner)] {
        let at = frame.map_or_else(|| page.top(), |_| page.frame("/in"));
        let hover = page.act(json!({ "kind": "hover", "selector": "#b", "frameId": frame })).unwrap();
        let click = page.act(json!({ "kind": "click", "selector": "#b", "frameId": frame })).unwrap();
        assert_eq!((hover.input, click.input), (None, None));
        assert!(page.log_of(&at).ends_with("mouseup#b click#b"));
        assert_eq!(page.value_in(&at, "[document.visibilityState, document.hasFocus()]"), json!(["visible", true]));
    }
    page.act(json!({ "kind": "drag", "startSelector": "#b", "end": { "x": 200.0, "y": 90.0 } })).unwrap();
    assert!(page.log().contains("mousedown#b"));
}

#[test]
fn unanswered_trusted_input_is_replaced_by_script_events_once() {
    let Some(page) = behind("unanswered") else { return };
    page.act(json!({ "kind": "hover", "selector": "iframe" })).unwrap();
    let (inner, id) = (page.frame("/in"), page.id_of("/in"));
    // Another client disables the emulated focus again, in every process of the page, and thereby drawing.
    page.supervisor().call(&page.top(), &StopScreencast::new(), soon()).unwrap();
    let emulate = |on: bool| {
        for frame in [&page.top(), &inner] {
            page.supervisor().call(frame, &SetFocusEmulationEnabled::new(on), soon()).unwrap();
        }
    };
    emulate(false);
    let hidden = "document.hidden || new Promise(done => addEventListener('visibilitychange', () => done(document.hidden), true))";
    assert_eq!(page.value(hidden), true);
    page.log();
    page.log_of(&inner);
    // An earlier listener on the window receives events that are hidden from the page; one on the element does not.
    page.value(
        "window.heard = [], ['pointerover', 'mouseover', 'mousemove'].forEach(kind => b.addEventListener(kind, \
        e => heard.push(`${e.type} ${e.isTrusted}`)))",
    );
    let hover = page.act(json!({ "kind": "hover", "selector": "#b" })).unwrap();
    assert_eq!(hover.input, Some(Input::Synthetic));
    let click = page.act(json!({ "kind": "click", "selector": "#b", "frameId": id })).unwrap();
    emulate(true);
    let frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))";
    page.value(frames);
    page.value_in(&inner, frames);
    let heard = json!(["pointerover false", "mouseover false", "mousemove false"]);
    assert_eq!(page.value("heard"), heard, "and not again by the browser");
    let log = page.log_of(&inner);
    let clicks = log.split(' ').filter(|line| line.starts_with("click")).count();
    assert_eq!(clicks, 1, "{:?} {log}", click.input);
    // From here on it is as before.
    let click = page.click("#b");
    assert_eq!(click.input, None);
    assert!(page.log().ends_with("click#b"));
}

/// Overlays that wait for a person: gone with the first move of the mouse.
#[test]
fn what_covers_an_element_until_the_mouse_moves_is_moved_away() {
    let html =
        "<button id=b onclick='clicked = 1'>Play</button><div id=shield style='position:fixed;inset:0'></div><script>
        clicked = 0; let moves = 0;
        shield.onpointermove = () => { moves++; shield.style.display = 'none' };
        </script>";
    let Some(page) = TestTab::showing("shield", html) else { return };
    for kind in ["click", "hover"] {
        page.value("shield.style.display = '', clicked = 0, 1");
        page.act(json!({ "kind": kind, "selector": "#b" })).unwrap();
        assert_eq!(page.value("clicked"), i32::from(kind == "click"), "{kind}");
    }
    page.value("shield.onpointermove = null, shield.style.display = '', 1");
    let error = page.fails_by(json!({ "kind": "click", "selector": "#b" }), Deadline::after_millis(600));
    assert!(error.to_string().contains("covered by"), "{error}");
}

/// What covers an element is named by its text, if by nothing else; a hidden element is hidden, not another one.
#[test]
fn the_reason_names_what_a_person_sees() {
    let html =
        "<button id=b>Play</button><div style='position:fixed;inset:0'><p>Rate this <b>app</b>, please</p></div>";
    let Some(page) = TestTab::showing("cover", html) else { return };
    let error = page.fails_by(json!({ "kind": "click", "selector": "#b" }), Deadline::after_millis(600));
    assert!(error.to_string().contains("in div \"Rate this app, please\""), "{error}");

    page.value("document.querySelector('div').remove(), 1");
    let reference = ref_of(&page.snapshot(), "Play");
    page.value("b.style.display = 'none', 1");
    let error = page.fails_by(json!({ "kind": "click", "ref": reference }), Deadline::after_millis(600));
    assert!(error.to_string().contains("not visible (display: none)"), "{error}");
}

/// A page that replaces what is pressed gets no click: the answer says so.
#[test]
fn a_press_without_a_click_is_said_to_be_one() {
    let html = "<button id=b><svg width=16 height=16><rect width=16 height=16 /></svg></button><button id=plain>x</button><script>
        got = 0;
        b.onpointerdown = () => b.innerHTML = b.innerHTML;
        b.onclick = plain.onclick = () => got++;
        </script>";
    let Some(page) = TestTab::showing("replaced", html) else { return };
    let outcome = page.act(json!({ "kind": "click", "selector": "#b" })).unwrap();
    assert_eq!(page.value("got"), 0);
    assert!(outcome.hint.is_some_and(|hint| hint.contains("no click followed")), "{:?}", outcome.hint);
    let outcome = page.act(json!({ "kind": "click", "selector": "#plain" })).unwrap();
    assert_eq!((page.value("got"), outcome.hint), (json!(1), None));
}

/// Straight lines have a box without an area; keys are held at coordinates, too.
#[test]
fn lines_and_points_can_be_clicked() {
    let html = "<style>body { margin: 0 }</style><svg width=400 height=200>
        <path id=flat d='M50 50L250 50' stroke=black stroke-width=10 /><line id=steep x1=300 y1=20 x2=300 y2=180 stroke=black stroke-width=8 />
        </svg><script>
        got = [];
        for (const one of [flat, steep]) one.onclick = event => got.push(one.id + (event.ctrlKey ? '+' : ''));
        </script>";
    let Some(page) = TestTab::showing("lines", html) else { return };
    for act in [
        json!({ "kind": "click", "selector": "#flat" }),
        json!({ "kind": "click", "selector": "#steep" }),
        json!({ "kind": "clickCoords", "x": 100, "y": 50, "modifiers": ["Control"] }),
    ] {
        page.act(act.clone()).unwrap_or_else(|error| panic!("{act}: {error}"));
    }
    assert_eq!(page.value("got"), json!(["flat", "steep", "flat+"]));
}
