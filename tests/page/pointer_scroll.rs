//! Scrolling, resizing and closing.

use cdpilot::cdp::protocol::emulation::SetDeviceMetricsOverride;
use serde_json::{Value, json};

use crate::support::chrome::{soon, until};
use crate::support::share::share;
use crate::support::test_tab::TestTab;

const LONG: &str = "<div style='width: 4000px; height: 5000px'>Long</div>";

#[test]
fn the_page_scrolls_by_the_given_amount() {
    let html = format!(
        "<div id=box style='position: fixed; inset: 25% 25%; overflow: auto; background: white'>{LONG}</div>{LONG}
        <script>let wheels = []; addEventListener('wheel', e => wheels.push(e.isTrusted), true)</script>"
    );
    let Some(page) = TestTab::logging("scroll-page", &html) else { return };
    for (input, trusted) in [(Value::Null, true), (json!("synthetic"), false)] {
        page.value("scrollTo(0, 0)");
        for (direction, pixels, at) in
            [("down", 700, [0, 700]), ("right", 300, [300, 700]), ("up", 200, [300, 500]), ("left", 1000, [0, 500])]
        {
            let act = json!({ "kind": "scroll", "direction": direction, "pixels": pixels, "input": input });
            let outcome = page.act(act).unwrap();
            assert_eq!(page.value("[scrollX, scrollY]"), json!(at), "{direction} {input}");
            let moved = outcome.result.unwrap();
            let by = moved["x"].as_f64().unwrap() + moved["y"].as_f64().unwrap();
            assert_eq!(by.abs(), if direction == "left" { 300.0 } else { f64::from(pixels) });
        }
        assert_eq!(page.value("box.scrollTop"), 0, "not what lies over it");
        let wheels = page.value("wheels.splice(0)");
        assert_eq!(wheels, if trusted { json!([true, true, true, true]) } else { json!([false, false, false, false]) });
    }
    page.act(json!({ "kind": "scroll", "direction": "down" })).unwrap();
    assert!(page.value("(scrollY - 500) / innerHeight > 0.6 && (scrollY - 500) / innerHeight < 1").as_bool().unwrap());
}

#[test]
fn the_content_of_an_element_scrolls() {
    let Some(page) = TestTab::new("scroll-inner") else { return };
    page.put("/", &format!("<div style='height: 3000px'></div><div id=box style='overflow: auto; width: 300px; height: 200px'><p id=in>In</p>{LONG}</div><iframe src='@b/in'></iframe>{LONG}"));
    page.put("/in", &format!("<p id=in>In</p>{LONG}"));
    page.go("/");
    for input in share([Value::Null, json!("synthetic")], 1) {
        page.value("document.querySelector('#box').scrollTo(0, 0)");
        for (number, selector) in ["#box", "#in", "#box p"].iter().enumerate() {
            page.act(
                json!({ "kind": "scroll", "selector": selector, "direction": "down", "pixels": 150, "input": input }),
            )
            .unwrap();
            assert_eq!(page.value("document.querySelector('#box').scrollTop"), 150 * (number + 1));
        }
        let inner = page.frame("/in");
        page.value_in(&inner, "scrollTo(0, 0)");
        let id = page.id_of("/in");
        page.act(json!({ "kind": "scroll", "selector": "#in", "frameId": id, "direction": "down", "pixels": 120, "input": input })).unwrap();
        page.act(json!({ "kind": "scroll", "frameId": id, "direction": "right", "pixels": 80, "input": input }))
            .unwrap();
        assert_eq!(page.value_in(&inner, "[scrollX, scrollY]"), json!([80, 120]));
    }
}

#[test]
fn a_page_that_cancels_wheel_events_is_scrolled() {
    let html =
        format!("{LONG}<script>addEventListener('wheel', e => e.preventDefault(), {{ passive: false }})</script>");
    let Some(page) = TestTab::logging("scroll-kept", &html) else { return };
    page.act(json!({ "kind": "scroll", "direction": "down", "pixels": 400 })).unwrap();
    assert_eq!(page.value("scrollY"), 400);
    page.value("document.documentElement.style.scrollBehavior = 'smooth'");
    page.act(json!({ "kind": "scroll", "direction": "up", "pixels": 300 })).unwrap();
    assert_eq!(page.value("scrollY"), 100);
}

/// The page moves on each turn of the wheel too, and is slow: the end of its own step is not the end of the wheel's.
#[test]
fn a_distance_is_not_scrolled_twice() {
    let html =
        "<div id=o style='height:300px;width:300px;overflow:auto'><div style='height:90000px'>text</div></div><script>
        const busy = () => { const t = performance.now(); while (performance.now() < t + 12); };
        let step = 25, wheels = 0;
        o.addEventListener('wheel', () => { wheels++; o.scrollTop += step; busy() });
        o.addEventListener('scroll', () => { o.firstChild.style.paddingTop = (o.scrollTop % 7) + 'px'; busy() });
        </script>";
    let Some(page) = TestTab::showing("scroll-twice", html) else { return };
    for (step, most) in [(25, 1100), (-25, 1000), (200, 1250)] {
        page.value(&format!("o.scrollTop = 0, step = {step}, wheels = 0, 1"));
        let act = json!({ "kind": "scroll", "selector": "#o", "direction": "down", "pixels": 1000 });
        let y = page.act(act).unwrap().result.unwrap()["y"].as_f64().unwrap();
        assert!(y >= 950.0 && y <= f64::from(most), "{step}: {y}");
        assert_eq!(page.value("Math.round(o.scrollTop)"), y, "{step}");
    }
}

/// Boxes that move their content by a script: the wheel goes to them, and the page around them stays.
#[test]
fn a_box_that_scrolls_itself_gets_the_wheel() {
    let html = "<body style='margin:0'>{TALL}<div id=box style='overflow:hidden;width:300px;height:200px'><div id=inner style='height:5000px'>long</div></div>
        <div id=dead style='overflow:hidden;width:300px;height:50px'>dead</div><script>
        let at = 0;
        box.addEventListener('wheel', e => { e.preventDefault(); at += e.deltaY; inner.style.transform = `translateY(${-at}px)` }, { passive: false });
        </script>";
    for tall in ["", "<div style='height:2000px'></div>"] {
        let Some(page) = TestTab::showing("scroll-itself", &html.replace("{TALL}", tall)) else { return };
        for selector in ["#box", "#inner"] {
            page.value("scrollTo(0, document.documentElement.scrollHeight), at = 0, 1");
            let before = page.value("scrollY");
            let act = json!({ "kind": "scroll", "selector": selector, "direction": "up", "pixels": 120 });
            let result = page.act(act).unwrap().result.unwrap();
            assert_eq!(result, json!({ "x": 0.0, "y": 0.0, "handledByPage": true }), "{selector}");
            assert_eq!(page.value("[at, scrollY]"), json!([-120, before]), "{selector}");
        }
    }
    let Some(page) = TestTab::showing("scroll-dead", &html.replace("{TALL}", "")) else { return };
    let act = json!({ "kind": "scroll", "selector": "#dead", "direction": "down", "pixels": 120 });
    assert_eq!(page.act(act).unwrap().result, Some(json!({ "x": 0.0, "y": 0.0 })));
}

#[test]
fn an_element_that_cannot_scroll_is_reported() {
    let Some(page) = TestTab::logging("scroll-none", "<p id=p>Short</p>") else { return };
    let outcome = page.act(json!({ "kind": "scroll", "direction": "down", "pixels": 400 })).unwrap();
    assert_eq!(outcome.result, Some(json!({ "x": 0.0, "y": 0.0 })));
    let error = page.fails(json!({ "kind": "scroll", "direction": "down", "pixels": -4 }));
    assert_eq!(error.code(), "BAD_REQUEST");
}

#[test]
fn an_element_is_scrolled_into_view_through_its_frames() {
    let Some(page) = TestTab::new("into-view") else { return };
    page.put("/", &format!("{LONG}<iframe src='@b/in' style='margin-left: 2000px'></iframe>{LONG}"));
    page.put("/in", &format!("{LONG}<p id=far style='margin-left: 3000px; width: 90px'>Far</p>{LONG}"));
    page.go("/");
    let id = page.id_of("/in");
    page.act(json!({ "kind": "scrollIntoView", "selector": "#far", "frameId": id })).unwrap();
    let inner = page.frame("/in");
    let seen = "(() => { const box = far.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.left < innerWidth })()";
    assert_eq!(page.value_in(&inner, seen), true);
    let frame = "(() => { const box = document.querySelector('iframe').getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth })()";
    assert_eq!(page.value(frame), true);
}

#[test]
fn the_viewport_is_resized() {
    let Some(page) =
        TestTab::logging("resize", "<button id=b style='position: absolute; right: 0; bottom: 0'>Go</button>")
    else {
        return;
    };
    for (width, height) in [(500, 400), (1301, 907), (320, 640)] {
        page.act(json!({ "kind": "resize", "width": width, "height": height })).unwrap();
        assert_eq!(page.value("[innerWidth, innerHeight]"), json!([width, height]));
        page.click("#b");
        assert!(page.log().ends_with("click#b"));
    }
    for bad in [
        json!({ "kind": "resize", "width": 0, "height": 40 }),
        json!({ "kind": "resize", "width": 40, "height": 99999 }),
    ] {
        assert_eq!(page.fails(bad).code(), "BAD_REQUEST");
    }
}

#[test]
fn clicks_hit_with_a_device_pixel_ratio_of_two() {
    let Some(page) = TestTab::new("twice") else { return };
    page.put("/", "<iframe src='@b/in' style='margin: 33px; transform: scale(0.8)'></iframe><button id=b style='position: absolute; left: 500px; top: 300px'>Go</button>");
    page.put("/in", "<button id=b style='position: absolute; left: 100px; top: 90px'>Go</button>");
    page.go("/");
    page.supervisor().call(&page.top(), &SetDeviceMetricsOverride::new(800, 600, 2.0, false), soon()).unwrap();
    assert_eq!(page.value("devicePixelRatio"), 2);
    page.click("#b");
    assert!(page.log().ends_with("click#b"));
    let id = page.id_of("/in");
    page.act(json!({ "kind": "click", "selector": "#b", "frameId": id })).unwrap();
    assert!(page.log_of(&page.frame("/in")).ends_with("click#b"));
}

#[test]
fn a_tab_is_closed() {
    let Some(page) = TestTab::logging("close", "<p>Bye</p>") else { return };
    page.act(json!({ "kind": "close" })).unwrap();
    let target = page.tab.target().clone();
    until(page.supervisor(), "the end of the page", |now| now.page(target.as_str()).is_none());
}
