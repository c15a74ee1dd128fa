//! Labels in screenshots: positions, elements, and unchanged pixels.

use cdpilot::page::{Annotation, Rect, Screenshot, ScreenshotOptions};
use serde_json::Value;

use crate::support::chrome::{soon, until};
use crate::support::pixels::{Pixels, keep};
use crate::support::test_tab::TestTab;

fn labelled() -> ScreenshotOptions {
    ScreenshotOptions::new().labels(true)
}

fn shoot(paged: &TestTab, options: &ScreenshotOptions) -> (Screenshot, Vec<Annotation>, Pixels) {
    let picture = paged.tab.screenshot(options, soon()).unwrap();
    keep(&picture);
    let pixels = Pixels::of(&picture);
    let annotations = picture.annotations.clone().unwrap();
    (picture, annotations, pixels)
}

fn value(paged: &TestTab, script: &str) -> Value {
    paged.supervisor().evaluate(&paged.top(), script, soon()).unwrap().result.value
}

/// The box of an element according to the page.
fn box_of(paged: &TestTab, selector: &str) -> Rect {
    let script = format!(
        "(({{x, y, width, height}}) => ({{x, y, width, height}}))(document.querySelector('{selector}').getBoundingClientRect())"
    );
    serde_json::from_value(value(paged, &script)).unwrap()
}

fn named<'a>(annotations: &'a [Annotation], name: &str) -> &'a Annotation {
    annotations.iter().find(|annotation| annotation.name == name).unwrap_or_else(|| panic!("{name}: {annotations:?}"))
}

const FORM: &str = "<style>body { font: 16px sans-serif; margin: 30px } header { background: #1b1f2a; padding: 24px; margin: -30px -30px 20px }
    header a { color: #cde; margin-right: 24px } input, select { padding: 6px; margin: 4px 12px 4px 4px }</style>
    <header><a href=/1>Home</a><a href=/2>Products</a><a href=/3>About us</a><button>Sign in</button></header>
    <h1>Order</h1><p>Please read <a href=/t>the terms and conditions</a> before <a href=/o>ordering</a>.</p>
    <label>Name <input id=name></label><label>Size <select><option>Small<option>Large</select></label>
    <label><input type=checkbox> Gift wrap</label><br><br>
    <button id=send>Send order</button> <button disabled>Cancel</button>
    <ul><li><a href=/a>First item in a list</a><li><a href=/b>Second item in a list</a><li><a href=/c>Third item in a list</a></ul>
    <table border=1><tr><td><a href=/x>1</a><td><a href=/x>2</a><td><a href=/x>3</a><td><a href=/x>4</a></table>";

#[test]
fn label_boxes_match_the_boxes_of_the_page() {
    let Some(paged) = TestTab::showing("labels-boxes", FORM) else { return };
    let (picture, annotations, pixels) = shoot(&paged, &labelled());
    let seen = paged.snapshot();
    shoot(&paged, &labelled());
    let diff = cdpilot::page::SnapshotOptions::new().diff(true);
    assert_eq!(paged.snapshot_with(diff).snapshot.as_deref(), Some(""), "a picture is no snapshot to compare with");
    for (name, selector) in [("Send order", "#send"), ("Name", "#name"), ("Home", "header a"), ("Size", "select")] {
        let annotation = named(&annotations, name);
        let response = box_of(&paged, selector);
        let near = |one: f64, other: f64| (one - other).abs() < 0.02;
        let got = annotation.bounds;
        assert!(near(got.x, response.x) && near(got.y, response.y), "{name}: {got:?} {response:?}");
        assert!(near(got.width, response.width) && near(got.height, response.height), "{name}: {got:?} {response:?}");
        let info = &seen.refs[&annotation.reference];
        assert_eq!((&info.role, &*info.name), (&annotation.role, name));
        assert_eq!(annotation.reference, format!("e{}", annotation.number));
        // The line of its box: the upper one, in the middle, on one of the rows beside the edge.
        let (x, y) = (response.x + response.width / 2.0, response.y.round());
        let plain = Pixels::of(&paged.tab.screenshot(&ScreenshotOptions::default(), soon()).unwrap());
        let changed = |dy: i32| {
            let y = (y as i32 + dy) as u32;
            pixels.at(x as u32, y) != plain.at(x as u32, y)
        };
        assert!(changed(-1) && changed(-2) && !changed(0), "{name}");
    }
    let counts = picture.labels.unwrap();
    assert_eq!((counts.placed, counts.skipped), (annotations.len(), 0));
    assert!(annotations.iter().all(|annotation| annotation.role != "option"), "{annotations:?}");
}

#[test]
fn only_frames_and_labels_differ_from_the_plain_screenshot() {
    let Some(paged) = TestTab::showing(
        "labels-plain",
        "<body style='margin:0;background:white'><button style='position:absolute;left:100px;top:80px;width:200px;height:100px;background:yellow;border:0'>x</button>",
    ) else {
        return;
    };
    let plain = Pixels::of(&paged.tab.screenshot(&ScreenshotOptions::default(), soon()).unwrap());
    let (_, annotations, pixels) = shoot(&paged, &labelled());
    assert_eq!(annotations.len(), 1);
    let mut changed = (0, u32::MAX, u32::MAX);
    for y in 0..pixels.height {
        for x in 0..pixels.width {
            if pixels.at(x, y) == plain.at(x, y) {
                continue;
            }
            changed = (changed.0 + 1, changed.1.min(x), changed.2.min(y));
            let inside = (100..300).contains(&x) && (80..180).contains(&y);
            let near = (95..305).contains(&x) && (60..185).contains(&y);
            assert!(near && !inside, "{x} {y}");
        }
    }
    assert!(changed.0 > 1000 && changed.1 == 98 && changed.2 < 80, "a line around it, a label above: {changed:?}");
}

#[test]
fn invisible_elements_get_no_label() {
    let Some(paged) = TestTab::showing(
        "labels-unseen",
        "<body style='margin:0'><button>seen</button><button style='position:absolute;top:5000px'>below</button>
         <button style='visibility:hidden'>invisible</button>
         <div style='height:40px;overflow:auto;position:absolute;top:100px'><button>upper</button><div style='height:100px'></div><button>scrolled out</button></div>
         <button style='position:absolute;left:300px;top:100px'>covered</button>
         <div style='position:absolute;left:250px;top:50px;width:300px;height:300px;background:silver'></div>",
    ) else {
        return;
    };
    let (_, annotations, _) = shoot(&paged, &labelled());
    let names: Vec<&str> = annotations.iter().map(|annotation| annotation.name.as_str()).collect();
    assert_eq!(names, ["seen", "upper"]);
    let whole = labelled().full_page(true);
    let (_, annotations, _) = shoot(&paged, &whole);
    let names: Vec<&str> = annotations.iter().map(|annotation| annotation.name.as_str()).collect();
    assert_eq!(names, ["seen", "below", "upper"]);
    assert!((named(&annotations, "below").bounds.y - 5000.0).abs() < 0.5);
}

#[test]
fn elements_in_cross_origin_frames_are_labelled_in_place() {
    let Some(paged) = TestTab::new("labels-frames") else { return };
    paged.site.page("/", "<body style='margin:0'><iframe src='@b/middle' style='position:absolute;left:100px;top:50px;width:600px;height:400px;border:7px solid;padding:11px'></iframe>");
    paged.site.page("/middle", "<body style='margin:0;background:#eef'><iframe src='@c/inner' style='position:absolute;left:40px;top:30px;width:300px;height:200px;border:0;transform:scale(0.5);transform-origin:0 0'></iframe><button style='position:absolute;left:20px;top:300px'>outer</button>");
    paged.site.page("/inner", "<body style='margin:0;background:#fee'><button style='position:absolute;left:60px;top:80px;width:120px;height:60px;background:red;border:0;color:red'>deep</button>");
    paged.go("/");
    until(paged.supervisor(), "the inner frame", |now| {
        now.frames.iter().any(|frame| frame.url.ends_with("/inner") && frame.session_id.is_some())
    });
    while !paged.snapshot().snapshot.unwrap_or_default().contains("deep") {}
    // A cross-process frame is drawn by its own process later.
    let (_, annotations, pixels) = std::iter::repeat_with(|| shoot(&paged, &labelled()))
        .take(50)
        .find(|(_, _, pixels)| pixels.bounds([255, 0, 0]).is_some())
        .expect("the inner frame is never drawn");
    let deep = named(&annotations, "deep").bounds;
    // 100 + 7 + 11 + 40 + 60 / 2 and so on.
    assert_eq!(deep, Rect::new(188.0, 138.0, 60.0, 30.0));
    let red = pixels.bounds([255, 0, 0]).unwrap();
    assert!(red.0 >= 188 && red.1 >= 138 && red.2 <= 248 && red.3 <= 168, "{red:?}");
    assert!((named(&annotations, "outer").bounds.y - (50.0 + 7.0 + 11.0 + 300.0)).abs() < 0.5);
}

#[test]
fn labels_are_limited_and_the_rest_is_counted() {
    let links: String = (0..400).map(|n| format!("<a href=/{n}>link {n}</a> ")).collect();
    let Some(paged) =
        TestTab::showing("labels-many", &format!("<body style='line-height:40px;word-spacing:20px'>{links}"))
    else {
        return;
    };
    let (picture, annotations, _) = shoot(&paged, &labelled());
    let counts = picture.labels.unwrap();
    assert!(counts.placed <= 150 && counts.placed == annotations.len(), "{counts:?}");
    let in_view = "[...document.links].filter(a => a.getBoundingClientRect().bottom > 0.5 && a.getBoundingClientRect().top < innerHeight - 0.5).length";
    assert_eq!(counts.placed + counts.skipped, usize::try_from(value(&paged, in_view).as_u64().unwrap()).unwrap());
    assert!(picture.notes.is_empty(), "{:?}", picture.notes);
}

#[test]
fn a_wrapped_link_gets_a_box_per_line() {
    let Some(paged) = TestTab::showing(
        "labels-wrapped",
        "<body style='margin:0'><p style='position:absolute;margin:0;left:100px;top:100px;width:300px;font:20px/40px monospace'>
         <a href=/x>fifteen letters</a> <a href=/y>a second link that is so long that it goes on in another line</a>",
    ) else {
        return;
    };
    let (_, annotations, pixels) = shoot(&paged, &labelled());
    assert_eq!(annotations.len(), 2);
    let union = named(&annotations, "a second link that is so long that it goes on in another line").bounds;
    let response = box_of(&paged, "a:last-of-type");
    assert!((union.width - response.width).abs() < 0.02 && (union.height - response.height).abs() < 0.02);
    // Nothing is drawn at the left of its first line, where the union begins.
    let first: Rect = named(&annotations, "fifteen letters").bounds;
    let middle = (first.y + first.height / 2.0) as u32;
    assert_eq!(pixels.at(95, middle), [255; 3]);
    assert_ne!(pixels.at(99, middle + 40), [255; 3], "its second line is framed");
}
