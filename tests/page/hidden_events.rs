//! Pages that hide mouse events from other listeners and show an overlay when the mouse arrives.

use serde_json::json;

use crate::support::test_tab::TestTab;

/// The events of a press.
const PRESS: &str = "'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'";

/// A button, and a sheet that covers it when the mouse comes. Some events are stopped before any other listener gets them.
fn page(stopped: &str) -> String {
    format!(
        "<script>
        window.bought = window.cancelled = window.pressed = 0;
        addEventListener('pointermove', () => pay.hidden = false, true);
        addEventListener('pointerdown', () => pressed++, true);
        for (const type of [{stopped}]) addEventListener(type, event => event.stopImmediatePropagation(), true);
        </script>
        <button id=no onclick='cancelled++'>Cancel</button>
        <div id=pay hidden onclick='bought++' style='position: fixed; inset: 0; background: #fff'>Pay</div>"
    )
}

#[test]
fn an_overlay_is_not_pressed_when_pointerdown_is_stopped() {
    let Some(page) = TestTab::showing("hidden-down", &page("'pointerdown'")) else { return };
    let error = page.fails(json!({ "kind": "click", "locator": "role=button[name=Cancel]" }));
    assert_eq!(error.code(), "NOT_ACTIONABLE", "{error}");
    assert_eq!(page.value("[bought, cancelled]"), json!([0, 0]));
}

#[test]
fn a_press_without_a_receiving_listener_is_not_sent() {
    for act in [
        json!({ "kind": "click", "selector": "#no" }),
        json!({ "kind": "drag", "startSelector": "#no", "end": { "x": 300, "y": 300 } }),
    ] {
        // A new one each time: where the mouse is already, it could show the overlay at any moment.
        let Some(page) = TestTab::showing("hidden-press", &page(PRESS)) else { return };
        let error = page.fails(act.clone());
        assert_eq!(error.code(), "NOT_ACTIONABLE", "{act}: {error}");
        assert!(error.to_string().contains("is not known"), "{error}");
        assert_eq!(page.value("pressed"), 1, "{act} is not repeated");
    }
}

#[test]
fn a_covered_element_is_not_hovered_when_mousemove_is_stopped() {
    let Some(page) = TestTab::showing("hidden-move", &page("'mousemove', 'mouseover'")) else { return };
    let error = page.fails(json!({ "kind": "hover", "selector": "#no" }));
    assert_eq!(error.code(), "NOT_ACTIONABLE", "{error}");
    assert!(error.to_string().contains("div#pay"), "{error}");
}

#[test]
fn a_page_that_stops_events_without_overlay_can_be_used() {
    let html = "<script>for (const type of ['pointerdown', 'mousemove', 'pointermove'])
        addEventListener(type, event => event.stopImmediatePropagation(), true)</script>
        <button id=no onclick='window.hit = (window.hit || 0) + 1'>Cancel</button>
        <iframe srcdoc='<p>inside' id=frame></iframe>";
    let Some(page) = TestTab::showing("hidden-nothing", html) else { return };
    page.act(json!({ "kind": "hover", "selector": "#no" })).unwrap();
    page.act(json!({ "kind": "hover", "selector": "#no" })).unwrap();
    page.click("#no");
    page.act(json!({ "kind": "click", "selector": "#no", "double": true })).unwrap();
    assert_eq!(page.value("hit"), 3);
    // A press inside a frame does not concern the parent document.
    page.click("#frame");
}
