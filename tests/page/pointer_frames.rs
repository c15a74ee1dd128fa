//! Clicks in frames of every kind, verified by the events of the frames.

use cdpilot::supervisor::FrameRef;
use serde_json::json;

use crate::support::share::share;
use crate::support::test_tab::TestTab;

const BUTTON: &str =
    "<button id=b style='position: absolute; left: 40px; top: 30px; width: 60px; height: 20px'>Go</button>";

/// Clicks `#b` in a frame, trusted and then by script, and looks at what that frame got.
fn clicked_in(page: &TestTab, path: &str) {
    let (frame, id) = (page.frame(path), page.id_of(path));
    page.log_of(&frame);
    let outcome = page.act(json!({ "kind": "click", "selector": "#b", "frameId": id })).unwrap();
    assert_eq!(outcome.input, None, "{path}");
    let log = page.log_of(&frame);
    assert!(log.ends_with("pointerup#b mouseup#b click#b"), "{path}: {log}");
    at_the_middle(page, &frame, path);
    page.act(json!({ "kind": "hover", "selector": "#b", "frameId": id })).unwrap();
    page.act(json!({ "kind": "click", "selector": "#b", "frameId": id, "input": "synthetic" })).unwrap();
    let log = page.log_of(&frame);
    assert!(log.ends_with("pointerup!#b mouseup!#b click!#b"), "{path}: {log}");
    at_the_middle(page, &frame, path);
}

/// Within a pixel: where a frame is drawn is a whole number of pixels of the screen.
fn at_the_middle(page: &TestTab, frame: &FrameRef, path: &str) {
    let off = "(() => { const box = b.getBoundingClientRect(); return [Math.abs(last.click.x - box.x - box.width / 2), \
         Math.abs(last.click.y - box.y - box.height / 2)] })()";
    let off = page.value_in(frame, off);
    assert!(off.as_array().unwrap().iter().all(|by| by.as_f64().unwrap() <= 1.5), "{path}: off by {off}");
}

#[test]
fn clicks_hit_in_frames_of_any_process_and_depth() {
    let Some(page) = TestTab::new("depths") else { return };
    let style = "style='margin: 17px; border: 5px solid; padding: 9px; width: 70%; height: 300px'";
    page.put("/", &format!("<iframe src='@a/same' {style}></iframe><iframe src='@b/other' {style}></iframe>"));
    page.put("/same", &format!("{BUTTON}<iframe src='@a/same2' {style}></iframe>"));
    page.put("/same2", BUTTON);
    page.put("/other", &format!("{BUTTON}<iframe src='@a/back' {style}></iframe>"));
    page.put("/back", &format!("{BUTTON}<iframe src='@b/deepest' {style}></iframe>"));
    page.put("/deepest", BUTTON);
    page.go("/");
    for path in share(["/same", "/same2", "/other", "/back", "/deepest"], 2) {
        clicked_in(&page, path);
    }
}

#[test]
fn clicks_hit_in_transformed_and_zoomed_frames() {
    let Some(page) = TestTab::new("transforms") else { return };
    let styles = [
        "transform: scale(0.5)",
        "transform: rotate(30deg) scale(1.3)",
        "rotate: 90deg; scale: 0.8 1.2",
        "transform: skewX(20deg) translate(30px, 10px); transform-origin: 0 0",
        "zoom: 1.5",
        "zoom: 0.5; border-width: 10px; box-sizing: border-box",
        "transform: rotateY(40deg)",
        "transform: scaleX(-1)",
    ];
    // Of both kinds in turn, and of both for the first two.
    let hosts = |number: usize| if number < 2 { vec!["a", "b"] } else { vec![["a", "b"][number % 2]] };
    let cases = (0..styles.len()).flat_map(|number| hosts(number).into_iter().map(move |host| (number, host)));
    for (number, host) in share(cases, 3) {
        let style = styles[number];
        let around = "margin: 120px; width: 300px; height: 200px; border: 3px solid; padding: 4px";
        let path = format!("/in-{host}-{number}");
        page.put("/", &format!("<iframe src='@{host}{path}' style='{around}; {style}'></iframe>"));
        page.put(&path, BUTTON);
        page.go("/");
        clicked_in(&page, &path);
    }
}

#[test]
fn clicks_hit_in_frames_inside_transforms_and_zoom() {
    let Some(page) = TestTab::new("around") else { return };
    let inner = "<div style='zoom: 1.2; padding: 11px'><iframe src='@a/back' style='width: 200px; height: 120px'></iframe></div>";
    page.put("/other", &format!("{BUTTON}{inner}"));
    page.put("/back", BUTTON);
    let styles = ["transform: rotate(-20deg) scale(0.9)", "zoom: 0.7", "scale: 1.1; transform: rotate(5deg)"];
    for style in share(styles, 1) {
        let frame = "<iframe src='@b/other' style='width: 400px; height: 300px'></iframe>";
        page.put("/", &format!("<div style='padding: 60px; {style}'>{frame}</div>"));
        page.go("/");
        clicked_in(&page, "/other");
        clicked_in(&page, "/back");
    }
}

#[test]
fn elements_are_scrolled_into_view_in_all_frames() {
    let Some(page) = TestTab::new("scrolled") else { return };
    let far = |what: &str| {
        format!(
            "<div style='height: 2000px; width: 3000px'></div><div style='margin-left: 1500px'>{what}</div><div style='height: 2000px'></div>"
        )
    };
    let button = "<button id=b>Go</button>";
    let boxed = |what: &str| format!("<div style='overflow: auto; width: 400px; height: 250px'>{}</div>", far(what));
    page.put("/", &boxed("<iframe src='@b/other' style='width: 300px; height: 200px'></iframe>"));
    page.put("/other", &far("<iframe src='@a/back' style='width: 250px; height: 900px'></iframe>"));
    page.put("/back", &boxed(button));
    page.go("/");
    clicked_in(&page, "/back");
    // Also after a script scrolls it away.
    page.value("document.querySelector('div').scrollTo(0, 0)");
    clicked_in(&page, "/back");
}

#[test]
fn an_overlay_over_a_frame_is_named() {
    let Some(page) = TestTab::new("frame-covers") else { return };
    page.put(
        "/",
        "<iframe src='@b/other' style='width: 400px; height: 300px'></iframe>
        <div id=veil role=dialog aria-label=Cookies style='position: fixed; inset: 0'></div>",
    );
    page.put("/other", "<iframe src='@a/back' style='width: 300px; height: 200px'></iframe>");
    page.put("/back", BUTTON);
    page.go("/");
    let id = page.id_of("/back");
    let error = page.fails(json!({ "kind": "click", "selector": "#b", "frameId": id }));
    assert_eq!(error.code(), "NOT_ACTIONABLE");
    let said = error.to_string();
    assert!(said.contains("covered by dialog \"Cookies\" (div#veil) (waited "), "{error}");
    assert!(said.contains(" s); close or move what covers it"), "{error}");
    page.value("veil.remove()");
    let middle = page.frame("/other");
    page.value_in(
        &middle,
        "document.body.insertAdjacentHTML('beforeend', '<p id=over style=\"position: fixed; inset: 0\">Over</p>')",
    );
    let error = page.fails(json!({ "kind": "click", "selector": "#b", "frameId": id }));
    assert!(error.to_string().contains("p#over"), "{error}");
    page.value_in(&middle, "over.remove()");
    clicked_in(&page, "/back");
}

#[test]
fn clicks_hit_in_open_and_closed_shadow_roots() {
    let Some(page) = TestTab::new("shadows") else { return };
    let html = "<div id=open></div><div id=closed></div><script>
        for (const mode of ['open', 'closed']) {
            const root = document.getElementById(mode).attachShadow({ mode });
            root.innerHTML = `<p><button id=in-${mode}>Press ${mode}</button></p><div></div>`;
            root.querySelector('button').onclick = e => log.push(`own-${mode}-${e.isTrusted}`);
            const inner = root.querySelector('div').attachShadow({ mode });
            inner.innerHTML = `<button class=deep>Deep ${mode}</button>`;
            inner.querySelector('button').onclick = e => log.push(`deep-${mode}-${e.isTrusted}`);
        }
        </script>";
    page.put("/", html);
    page.go("/");
    page.click("#in-open");
    assert!(page.log().ends_with("click#in-open own-open-true"));
    page.click(".deep");
    assert!(page.log().ends_with("deep-open-true"));
    let seen = page.snapshot();
    for (name, event) in [("Press closed", "own-closed"), ("Deep closed", "deep-closed"), ("Deep open", "deep-open")] {
        let reference = crate::support::test_tab::ref_of(&seen, name);
        page.act(json!({ "kind": "click", "ref": reference })).unwrap();
        assert!(page.log().ends_with(&format!("{event}-true")));
        page.act(json!({ "kind": "click", "ref": reference, "input": "synthetic" })).unwrap();
        assert!(page.log().ends_with(&format!("{event}-false")));
    }
}
