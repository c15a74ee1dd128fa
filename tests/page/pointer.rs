//! Clicks and hovers in one document, verified by its events.

use serde_json::json;

use crate::support::test_tab::TestTab;

const CLICKED: &str = "pointerover#b mouseover#b pointerdown#b mousedown#b focusin#b pointerup#b mouseup#b click#b";

#[test]
fn a_click_is_trusted_and_hits_the_centre() {
    let Some(page) = TestTab::logging("click", "<button id=b style='width: 101px; height: 41px'>Go</button>") else {
        return;
    };
    let outcome = page.click("#b");
    assert_eq!(outcome.input, None);
    assert_eq!(page.log(), CLICKED);
    let last = page.value("last.click");
    assert_eq!(last, json!({ "x": 50, "y": 20, "detail": 1, "button": 0, "buttons": 0, "trusted": true, "keys": "" }));
    assert_eq!(page.value("last.mousedown.buttons"), 1);
}

#[test]
fn buttons_click_counts_and_modifiers_are_applied() {
    let Some(page) = TestTab::logging("buttons", "<button id=b>Go</button>") else { return };
    page.act(json!({ "kind": "click", "selector": "#b", "double": true })).unwrap();
    let twice = "pointerdown#b mousedown#b focusin#b pointerup#b mouseup#b click#b \
                 pointerdown#b mousedown#b pointerup#b mouseup#b click#b dblclick#b";
    assert!(page.log().ends_with(twice));
    assert_eq!(page.value("[last.click.detail, last.dblclick.detail]"), json!([2, 2]));
    page.act(json!({ "kind": "click", "selector": "#b", "button": "right" })).unwrap();
    assert!(page.log().ends_with("mousedown#b contextmenu#b pointerup#b mouseup#b auxclick#b"));
    assert_eq!(page.value("[last.mousedown.button, last.mousedown.buttons, last.auxclick.button]"), json!([2, 2, 2]));
    page.act(json!({ "kind": "click", "selector": "#b", "button": "middle" })).unwrap();
    assert!(page.log().ends_with("pointerup#b mouseup#b auxclick#b"));
    assert_eq!(page.value("[last.mousedown.button, last.mousedown.buttons]"), json!([1, 4]));
    for (modifier, keys) in [("Alt", "Alt"), ("Control", "Control"), ("Meta", "Meta"), ("Shift", "Shift")] {
        page.act(json!({ "kind": "click", "selector": "#b", "modifiers": [modifier] })).unwrap();
        assert_eq!(
            page.value("[last.mousemove.keys, last.mousedown.keys, last.click.keys]"),
            json!([keys, keys, keys])
        );
    }
    let both = if cfg!(target_os = "macos") { "Meta+Shift" } else { "Control+Shift" };
    page.act(json!({ "kind": "click", "selector": "#b", "modifiers": ["Shift", "ControlOrMeta"] })).unwrap();
    assert_eq!(page.value("last.click.keys"), both);
}

#[test]
fn a_hover_only_moves_the_mouse() {
    let Some(page) = TestTab::logging("hover", "<button id=a>One</button><button id=b disabled>Two</button>") else {
        return;
    };
    page.act(json!({ "kind": "hover", "selector": "#a" })).unwrap();
    assert_eq!(page.log(), "pointerover#a mouseover#a");
    assert_eq!(page.value("document.querySelector('#a').matches(':hover')"), true);
    page.act(json!({ "kind": "hover", "selector": "#b" })).unwrap();
    assert_eq!(page.value("document.querySelector('#b').matches(':hover')"), true);
}

#[test]
fn a_synthetic_click_has_the_full_event_sequence() {
    let html = "<button id=b style='width: 101px; height: 41px'>Go</button><input type=checkbox id=c>";
    let Some(page) = TestTab::logging("synthetic", html) else { return };
    let outcome = page.act(json!({ "kind": "click", "selector": "#b", "input": "synthetic" })).unwrap();
    assert_eq!(outcome.input, Some(cdpilot::page::Input::Synthetic));
    let all = CLICKED.replace('#', "!#").replace("focusin!#", "focusin#");
    assert_eq!(page.log(), all);
    let last = json!({ "x": 50, "y": 20, "detail": 1, "button": 0, "buttons": 0, "trusted": false, "keys": "" });
    assert_eq!(page.value("last.click"), last);
    assert_eq!(page.value("[last.mousedown.buttons, last.mousedown.detail]"), json!([1, 1]));
    page.act(json!({ "kind": "click", "selector": "#c", "input": "synthetic" })).unwrap();
    assert_eq!(page.value("document.querySelector('#c').checked"), true);
    page.log();
    let double =
        json!({ "kind": "click", "selector": "#b", "input": "synthetic", "double": true, "modifiers": ["Shift"] });
    page.act(double).unwrap();
    assert!(page.log().ends_with("click!#b pointerdown!#b mousedown!#b pointerup!#b mouseup!#b click!#b dblclick!#b"));
    assert_eq!(page.value("[last.dblclick.detail, last.dblclick.keys]"), json!([2, "Shift"]));
    page.act(json!({ "kind": "click", "selector": "#b", "input": "synthetic", "button": "right" })).unwrap();
    assert!(page.log().ends_with("mousedown!#b contextmenu!#b pointerup!#b mouseup!#b auxclick!#b"));
}

#[test]
fn points_and_single_mouse_events_hit_their_coordinates() {
    let html =
        "<div id=a style='width: 100px; height: 100px'></div><div id=b style='width: 100px; height: 100px'></div>";
    let Some(page) = TestTab::logging("points", html) else { return };
    page.act(json!({ "kind": "clickCoords", "x": 40.0, "y": 130.0, "double": true })).unwrap();
    assert!(page.log().ends_with("click#b dblclick#b"));
    assert_eq!(page.value("[last.click.x, last.click.y]"), json!([40, 130]));
    let events = json!([
        { "type": "move", "x": 10.0, "y": 10.0 }, { "type": "down", "x": 10.0, "y": 10.0 },
        { "type": "move", "x": 20.0, "y": 110.0 },
    ]);
    page.act(json!({ "kind": "mouse", "events": events })).unwrap();
    assert_eq!(page.value("last.mousemove.buttons"), 1, "it is down still");
    let events = json!([{ "type": "move", "x": 30.0, "y": 110.0 }, { "type": "up", "x": 30.0, "y": 110.0 }]);
    page.act(json!({ "kind": "mouse", "events": events })).unwrap();
    assert_eq!(page.value("[last.mousemove.buttons, last.mouseup.x]"), json!([1, 30]));
    assert!(page.log().contains("mousedown#a"));
    page.act(json!({ "kind": "mouse", "events": [{ "type": "move", "x": 31.0, "y": 110.0 }] })).unwrap();
    assert_eq!(page.value("last.mousemove.buttons"), 0);
    let error = page.fails(json!({ "kind": "clickCoords", "x": 40.0, "y": 99999.0 }));
    assert_eq!(error.code(), "BAD_REQUEST");
    let error = page.fails(json!({ "kind": "clickCoords", "x": 40.0, "y": 9.0, "input": "synthetic" }));
    assert!(error.to_string().contains("no synthetic form"), "{error}");
    // What begins outside of the viewport would not be answered.
    for outside in [
        json!({ "type": "down", "x": -1, "y": 5 }),
        json!({ "type": "wheel", "x": 1e5, "y": 5, "deltaY": 10 }),
        json!({ "type": "move", "x": 1e9, "y": 5 }),
    ] {
        let error = page.fails(json!({ "kind": "mouse", "events": [outside] }));
        assert_eq!(error.code(), "BAD_REQUEST", "{error}");
    }
}

/// The release comes after the frame that a press has asked for; a label that lets the mouse through is clicked behind.
#[test]
fn a_page_may_prepare_for_the_release() {
    let Some(page) = TestTab::new("pointer-held") else { return };
    page.put(
        "/",
        "<div id=d style='width: 90px; height: 30px'>Solo</div><p id=o>none</p>
         <div id=q onclick='w.textContent = event.target.id' style='cursor: pointer'>
           <span id=l style='pointer-events: none'>Section</span></div><p id=w></p>
         <script>d.addEventListener('mousedown', () => requestAnimationFrame(() =>
           document.addEventListener('mouseup', () => o.textContent = 'seen', { once: true })))</script>",
    );
    page.go("/");
    // A release without the wait may come after a frame by chance, but not each time.
    for _ in 0..8 {
        page.value("o.textContent = 'none'");
        page.act(json!({ "kind": "click", "selector": "#d" })).unwrap();
        assert_eq!(page.value("o.textContent"), "seen");
    }
    page.act(json!({ "kind": "click", "selector": "#l" })).unwrap();
    assert_eq!(page.value("w.textContent"), "q");
    page.act(json!({ "kind": "click", "locator": "text=Section" })).unwrap();
}

/// Pages that follow the mouse once per frame see the last move of a drag.
#[test]
fn the_last_move_of_a_drag_is_drawn() {
    let Some(page) = TestTab::new("pointer-throttled") else { return };
    page.put(
        "/",
        "<canvas id=c width=400 height=300></canvas><script>
         let before = 0;
         c.onmousemove = e => { if (e.buttons && performance.now() - before > 15) { before = performance.now(); document.title = e.offsetX; } };
         </script>",
    );
    page.go("/");
    let box_ = page.value("(() => { const box = c.getBoundingClientRect(); return [box.x, box.y] })()");
    let (x, y) = (box_[0].as_f64().unwrap(), box_[1].as_f64().unwrap());
    let point = |dx: f64, dy: f64| json!({ "x": x + dx, "y": y + dy });
    page.act(json!({ "kind": "drag", "start": point(20.0, 20.0), "end": point(300.0, 150.0) })).unwrap();
    assert_eq!(page.value("document.title"), "300");
}
