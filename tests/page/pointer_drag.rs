//! Mouse drags and drag and drop, verified by the events of the page.

use cdpilot::page::{Input, Settled};
use serde_json::{Value, json};

use crate::support::site::{Answer, Held};
use crate::support::test_tab::{TestTab, ref_of};

/// An element to drag and a drop target that logs its events.
fn things(left: &str, right: &str) -> String {
    let style = "position: absolute; top: 20px; width: 80px; height: 80px";
    format!(
        "<div id=from draggable=true style='{style}; left: 10px'>{left}</div>
        <div id=to style='{style}; left: 200px'>{right}</div>
        <div id=other style='{style}; left: 400px'></div>
        <script>
        const seen = [];
        addEventListener('dragstart', e => {{ seen.push('start'); e.dataTransfer.setData('text/plain', 'hello {left}'); e.dataTransfer.setData('application/x-own', 'mine') }});
        for (const kind of ['dragenter', 'dragover']) to.addEventListener(kind, e => {{ e.preventDefault(); if (seen.at(-1) !== kind) seen.push(kind) }});
        to.addEventListener('drop', e => {{ e.preventDefault(); seen.push(['drop', e.dataTransfer.getData('text/plain'), e.dataTransfer.getData('application/x-own'), e.isTrusted].join()) }});
        addEventListener('dragend', e => seen.push('end'));
        </script>"
    )
}

fn seen(page: &TestTab, path: &str) -> Value {
    page.value_in(&page.frame(path), "seen.splice(0)")
}

fn forms() -> [(Value, Option<Input>); 2] {
    [(Value::Null, None), (json!("synthetic"), Some(Input::Synthetic))]
}

#[test]
fn a_drop_receives_the_dragged_data() {
    let Some(page) = TestTab::new("drop") else { return };
    page.put(
        "/",
        &format!(
            "{}<iframe src='@b/in' style='margin-top: 300px; width: 600px; height: 250px'></iframe>",
            things("top", "top")
        ),
    );
    page.put("/in", &things("inner", "inner"));
    page.go("/");
    let inner = page.id_of("/in");
    for (input, said) in forms() {
        for (path, frame) in [("/", None), ("/in", Some(&inner)), ("/", None)] {
            let drag = json!({ "kind": "drag", "startSelector": "#from", "endSelector": "#to", "frameId": frame, "input": input });
            let outcome = page.act(drag).unwrap();
            assert_eq!(outcome.input, said);
            let what = if frame.is_some() { "inner" } else { "top" };
            let dropped = format!("drop,hello {what},mine,{}", said.is_none());
            assert_eq!(seen(&page, path), json!(["start", "dragenter", "dragover", dropped, "end"]), "{path} {said:?}");
        }
        let outcome =
            page.act(json!({ "kind": "drag", "startSelector": "#from", "endSelector": "#other", "input": input }));
        outcome.unwrap();
        let events = seen(&page, "/");
        assert!(!events.to_string().contains("drop,"), "nothing takes it there: {events}");
    }
}

#[test]
fn a_drag_between_processes_leaves_both_frames_working() {
    let Some(page) = TestTab::new("drop-across") else { return };
    page.put(
        "/",
        &format!(
            "{}<iframe src='@b/in' style='margin-top: 300px; width: 600px; height: 250px'></iframe>",
            things("top", "top")
        ),
    );
    page.put("/in", &things("inner", "inner"));
    page.go("/");
    page.frame("/in");
    // By points: the frame's own things are 300 px and a border further down.
    let inner = page.value("(() => { const box = document.querySelector('iframe').getBoundingClientRect(); return [box.x + 2, box.y + 2] })()");
    let (x, y) = (inner[0].as_f64().unwrap(), inner[1].as_f64().unwrap());
    let in_frame = json!({ "x": x + 240.0, "y": y + 60.0 });
    for _ in 0..2 {
        page.act(json!({ "kind": "drag", "startSelector": "#from", "end": in_frame })).unwrap();
        assert_eq!(seen(&page, "/"), json!(["start", "end"]));
        assert_eq!(seen(&page, "/in"), json!(["dragenter", "dragover", "drop,hello top,mine,true"]));
        let start = json!({ "x": x + 50.0, "y": y + 60.0 });
        page.act(json!({ "kind": "drag", "start": start, "endSelector": "#to" })).unwrap();
        assert_eq!(seen(&page, "/in"), json!(["start", "end"]));
        assert_eq!(seen(&page, "/"), json!(["dragenter", "dragover", "drop,hello inner,mine,true"]));
    }
    page.log();
    page.click("#other");
    assert!(page.log().ends_with("click#other"));
}

/// What the drop changes in the other frame is an effect of the drag.
#[test]
fn a_drop_in_another_process_is_seen() {
    let Some(page) = TestTab::new("drop-seen") else { return };
    page.put(
        "/",
        "<div draggable=true role=button aria-label=Drag style='width: 80px; height: 40px' \
         ondragstart=\"event.dataTransfer.setData('text/plain', 'hi')\">d</div><iframe src='@b/in'></iframe>",
    );
    page.put(
        "/in",
        "<div role=button aria-label=Target style='width: 200px; height: 100px' ondragover='event.preventDefault()' \
         ondrop=\"event.preventDefault(); this.innerHTML = '<b>Got it</b>'\">t</div>",
    );
    page.go("/");
    page.frame("/in");
    let seen = page.snapshot();
    let (start, end) = (ref_of(&seen, "\"Drag\""), ref_of(&seen, "\"Target\""));
    let done = page.act(json!({ "kind": "drag", "startRef": start, "endRef": end })).unwrap();
    assert_eq!(done.settled, Settled::PageSettled, "{done:?}");
    assert!(done.notices.iter().any(|notice| notice.text == "Got it"), "{done:?}");
}

#[test]
fn a_slider_follows_the_mouse() {
    let html = "<div id=track style='position: absolute; left: 20px; top: 20px; width: 300px; height: 20px; background: silver'>
        <div id=thumb style='position: absolute; width: 20px; height: 20px; background: navy'></div></div>
        <script>let moves = 0, downs = [], ups = [];
        thumb.onpointerdown = e => { thumb.setPointerCapture(e.pointerId); downs.push(e.clientX) };
        thumb.onpointermove = e => { if (e.buttons) { moves++; thumb.style.left = (e.clientX - 30) + 'px' } };
        thumb.onpointerup = e => ups.push(e.clientX);</script>";
    let Some(page) = TestTab::logging("slider", html) else { return };
    for (input, _) in forms() {
        page.value("moves = 0, downs = [], ups = [], thumb.style.left = '0px'");
        let drag = json!({ "kind": "drag", "startSelector": "#thumb", "end": { "x": 230.0, "y": 30.0 }, "steps": 7, "input": input });
        page.act(drag).unwrap();
        assert_eq!(
            page.value("[thumb.style.left, downs, ups]"),
            json!(["200px", [30], [230]]),
            "{input} {}",
            page.log()
        );
        assert!(page.value("moves").as_i64().unwrap() >= 7);
    }
}

#[test]
fn a_drag_target_out_of_view_is_scrolled_to_during_the_drag() {
    let html = "<div id=from style='width: 80px; height: 80px'>From</div><div style='height: 3000px'></div>
        <div id=to style='width: 80px; height: 80px'>To</div>";
    let Some(page) = TestTab::logging("drag-far", html) else { return };
    page.act(json!({ "kind": "drag", "startSelector": "#from", "endSelector": "#to" })).unwrap();
    let log = page.log();
    assert!(log.contains("mousedown#from") && log.contains("mouseup#to"), "{log}");
}

#[test]
fn a_drag_needs_one_source_and_one_target() {
    let Some(page) = TestTab::logging("drag-bad", "<p id=a>a</p>") else { return };
    for (bad, part) in [
        (json!({ "kind": "drag", "startSelector": "#a" }), "endRef"),
        (json!({ "kind": "drag", "endSelector": "#a" }), "startRef"),
        (
            json!({ "kind": "drag", "startSelector": "#a", "start": { "x": 1.0, "y": 1.0 }, "endSelector": "#a" }),
            "startRef",
        ),
        (json!({ "kind": "drag", "startSelector": "#a", "endSelector": "#a", "steps": 0 }), "steps"),
        (json!({ "kind": "drag", "startSelector": "#a", "end": { "x": -1.0, "y": 1.0 } }), "outside the viewport"),
    ] {
        let error = page.fails(bad);
        assert_eq!(error.code(), "BAD_REQUEST");
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = page.fails(json!({ "kind": "drag", "startSelector": "#a", "endSelector": "#nowhere" }));
    assert_eq!(error.code(), "NOT_FOUND");
    assert_eq!(page.log(), "", "and the page was left alone");
}

/// A page that counts presses and releases, and where the last release was.
fn counting(then: &str) -> String {
    format!(
        "<div id=from style='width: 80px; height: 40px'>Card</div>
        <button id=to style='position: absolute; top: 200px; left: 200px; width: 80px; height: 40px'>Bin</button>
        <script>
        window.downs = window.ups = 0; window.over = '';
        addEventListener('mouseup', event => {{ ups++; over = event.target.dataset.of || event.target.id }}, true);
        addEventListener('mousedown', () => {{ downs++; {then} }}, true);
        </script>"
    )
}

#[test]
fn a_drag_target_replaced_on_press_is_located_again() {
    let anew =
        "const next = to.cloneNode(true); next.dataset.of = downs; next.style.left = '300px'; to.replaceWith(next)";
    let Some(page) = TestTab::showing("drag-anew", &counting(anew)) else { return };
    page.act(json!({ "kind": "drag", "startLocator": "text=Card", "endLocator": "role=button[name=Bin]" })).unwrap();
    assert_eq!(page.value("[downs, ups, over]"), json!([1, 1, "1"]));
}

#[test]
fn a_drag_with_a_removed_target_is_not_repeated() {
    let Some(page) = TestTab::showing("drag-gone", &counting("document.querySelector('button')?.remove()")) else {
        return;
    };
    for start in [json!({ "startLocator": "text=Card" }), json!({ "startSelector": "#from" })] {
        page.value("if (!document.querySelector('button')) document.body.insertAdjacentHTML('beforeend', '<button id=to>Bin</button>'); downs = ups = 0; 1");
        let mut drag = json!({ "kind": "drag", "endLocator": "role=button[name=Bin]" });
        drag.as_object_mut().unwrap().extend(start.as_object().unwrap().clone());
        let error = page.fails(drag);
        assert_eq!(page.value("[downs, ups]"), json!([1, 1]), "{error}");
        assert!(error.to_string().contains("cancelled"), "{error}");
    }
}

#[test]
fn no_button_stays_pressed_when_the_page_blocks_a_drag() {
    // The first move with the button down takes longer than the whole drag may: it waits for an answer.
    let html = counting("")
        + "<script>addEventListener('mousemove', event => {
            if (!event.buttons || window.held) return;
            window.held = new XMLHttpRequest;
            held.open('GET', '/held', false);
            held.send();
        }, true)</script>";
    let Some(page) = TestTab::new("drag-held") else { return };
    let held = Held::default();
    page.site.page("/", &html);
    page.site.put("/held", Answer::html("late").held_by(&held));
    page.go("/");
    page.fails_by(
        json!({ "kind": "drag", "startSelector": "#from", "endSelector": "#to" }),
        cdpilot::sync::Deadline::after_millis(4000),
    );
    held.release();
    let script = "new Promise(done => { const look = () => ups ? done([downs, ups]) : setTimeout(look, 20); look() })";
    assert_eq!(page.value(script), json!([1, 1]));
}

/// A list whose rows are moved with mouse events: a placeholder is inserted, and the dragged row no longer takes part in the layout.
const SORTABLE: &str = "<!doctype html><title>Sortable</title><style>li { height: 40px; width: 200px; list-style: none; border: 1px solid }</style>
    <ul id=l><li>Row 0<li>Row 1<li>Row 2<li>Row 3<li>Row 4</ul><script>
        let on = null, hole = null; const dropped = [], ended = [];
        l.onmousedown = e => { on = e.target; e.preventDefault() };
        onmousemove = e => { if (on && !hole) { hole = document.createElement('li'); on.before(hole); on.style.position = 'absolute';
            if (window.deaf) for (const one of l.children) one.style.pointerEvents = 'none' } };
        onkeydown = e => { if (e.key === 'Escape') ended.push('escape') };
        onmouseup = e => { if (!on) return; on.style.visibility = 'hidden'; for (const one of l.children) one.style.pointerEvents = '';
            dropped.push(document.elementFromPoint(e.clientX, e.clientY).textContent); on.style = ''; hole.remove(); on = hole = null };
    </script>";

#[test]
fn a_drag_ends_on_the_element_that_was_named() {
    let Some(page) = TestTab::showing("drag-named", SORTABLE) else { return };
    for deaf in [false, true] {
        // With a placeholder, or without pointer events, the target is still the one that the selector named at first.
        page.value(&format!("window.deaf = {deaf}, dropped.length = 0, 1"));
        let drag =
            json!({ "kind": "drag", "startSelector": "#l > li:nth-child(2)", "endSelector": "#l > li:nth-child(4)" });
        page.act(drag).unwrap();
        assert_eq!(page.value("dropped.join()"), "Row 3", "deaf: {deaf}");
    }
}

#[test]
fn a_drag_that_cannot_go_on_is_cancelled() {
    let Some(page) = TestTab::showing("drag-cancelled", SORTABLE) else { return };
    page.value("addEventListener('mousemove', () => on && l.children[4] && l.children[4].textContent === 'Row 3' && l.children[4].remove()), 1");
    let error = page.fails(
        json!({ "kind": "drag", "startSelector": "#l > li:nth-child(2)", "endSelector": "#l > li:nth-child(4)" }),
    );
    assert!(error.to_string().contains("cancelled"), "{error}");
    // Released where it began, which is now a gap between the rows.
    assert_eq!(page.value("[ended.join(), dropped]"), json!(["escape", [""]]));
}
