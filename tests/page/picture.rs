//! Screenshots: their content, pixel by pixel, and what the page notices.

use cdpilot::page::{Act, Error, Fit, PictureType, Rect, Screenshot, ScreenshotOptions};
use serde_json::{Value, json};

use crate::support::chrome::{soon, until};
use crate::support::pixels::{Pixels, keep};
use crate::support::share::rounds;
use crate::support::site::Answer;
use crate::support::test_tab::{TestTab, ref_of};

fn shoot(paged: &TestTab, options: &ScreenshotOptions) -> (Screenshot, Pixels) {
    let picture = paged.tab.screenshot(options, soon()).unwrap();
    keep(&picture);
    let pixels = Pixels::of(&picture);
    assert_eq!((pixels.width, pixels.height), (picture.width, picture.height));
    (picture, pixels)
}

fn of(element: &str) -> ScreenshotOptions {
    ScreenshotOptions::new().element(element)
}

fn whole_page() -> ScreenshotOptions {
    ScreenshotOptions::new().full_page(true)
}

fn json_of(paged: &TestTab, script: &str) -> Value {
    paged.supervisor().evaluate(&paged.top(), script, soon()).unwrap().result.value
}

/// Records what the page notices, except visibility, which other tests change.
const NOTICE: &str = "window.seen = [];
    for (const name of ['resize', 'scroll'])
        addEventListener(name, () => seen.push(name + innerWidth + 'x' + innerHeight + '@' + scrollX + ',' + scrollY));
    const high = innerHeight;
    (function look() { if (innerHeight !== high) seen.push('high' + innerHeight); requestAnimationFrame(look); })();";

/// What the page noticed, after two more animation frames, if the tab draws any.
fn noticed(paged: &TestTab) -> Vec<String> {
    let frames = "new Promise(done => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, 500);
    }).then(() => seen.splice(0))";
    serde_json::from_value(json_of(paged, frames)).unwrap()
}

const RED: [u8; 3] = [255, 0, 0];
const LIME: [u8; 3] = [0, 255, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const WHITE: [u8; 3] = [255; 3];

#[test]
fn a_viewport_screenshot_is_exact_and_unnoticed_by_the_page() {
    // Only foreground tabs draw by themselves.
    let Some(paged) = TestTab::new("picture-viewport") else { return };
    paged.site.page(
        "/",
        "<body style='margin:0;height:3000px'><div style='position:absolute;left:40px;top:130px;width:20px;height:10px;background:red'>",
    );
    paged.go("/");
    paged.eval(NOTICE);
    // The event comes with a frame.
    paged.eval("new Promise(done => { addEventListener('scroll', () => done(1)); scrollTo(0, 100) })");
    assert_eq!(noticed(&paged).len(), 1, "the scroll of ours");
    let (picture, pixels) = shoot(&paged, &ScreenshotOptions::default());
    assert_eq!(json!([picture.width, picture.height]), json_of(&paged, "[innerWidth, innerHeight]"));
    assert_eq!(pixels.bounds(RED), Some((40, 30, 60, 40)));
    assert_eq!((picture.kind, picture.scale, picture.url), (PictureType::Png, 1.0, paged.site.url("a", "/")));
    assert_eq!(noticed(&paged), [""; 0]);
    let last = paged.supervisor().last_picture(paged.tab.target()).unwrap();
    assert_eq!(&*last.png, &picture.bytes[..], "it is kept for when a dialog is open");
}

#[test]
fn a_full_page_screenshot_does_not_scroll_or_repeat_fixed_headers() {
    let Some(paged) = TestTab::showing(
        "picture-page",
        "<body style='margin:0'><div style='position:fixed;top:0;left:0;width:100%;height:20px;background:blue'></div>
         <div style='height:4990px'></div><div style='height:10px;background:red'>",
    ) else {
        return;
    };
    paged.eval(NOTICE);
    let (picture, pixels) = shoot(&paged, &whole_page());
    assert_eq!(json!([picture.width, picture.height]), json_of(&paged, "[document.documentElement.clientWidth, 5000]"));
    assert_eq!(pixels.bounds(BLUE), Some((0, 0, picture.width, 20)));
    assert_eq!(pixels.bounds(RED).map(|red| (red.1, red.3)), Some((4990, 5000)));
    assert_eq!(noticed(&paged), [""; 0]);
    assert_eq!(picture.notes, [""; 0]);
}

/// A page for phones and desktops that rebuilds itself when its size changes, closes menus when it scrolls, and loads what comes into
/// view.
#[test]
fn a_screenshot_beyond_the_viewport_changes_nothing_in_the_page() {
    const PAGE: &str = "<!doctype html><style>body { margin: 0 } #head { position: sticky; top: 0; height: 20px; background: blue }
          #bar { position: fixed; bottom: 0; left: 0; width: 100%; height: 30px; background: lime }
          #bg { position: fixed; inset: 0; z-index: -1; background: #eee }</style>
        <div id=bg></div><div id=head></div><div id=app></div><div id=menu>open</div><div id=big style='height:2500px'>big</div>
        <img id=late style='display:block;width:50px;height:50px'><div id=bar></div><script>
        window.got = [];
        const build = () => { app.innerHTML = '<input aria-label=Name>' }; build();
        matchMedia('(max-width:600px)').onchange = () => { build(); got.push('media') };
        addEventListener('resize', () => { menu.hidden = true; got.push('resize') });
        document.addEventListener('scroll', () => { menu.hidden = true; got.push('scroll') });
        new ResizeObserver(() => got.push('size')).observe(document.documentElement);
        new IntersectionObserver(all => all.some(e => e.isIntersecting) && (late.src = '/late.svg')).observe(late);
        </script>";
    let Some(paged) = TestTab::showing("picture-unchanged", PAGE) else { return };
    let red = "<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'><rect width='50' height='50' fill='#f00'/></svg>";
    paged.site.put("/late.svg", Answer::bytes("image/svg+xml", red.as_bytes().to_vec()));
    paged.act(json!({ "kind": "type", "selector": "input", "text": "Ada" })).unwrap();
    let rest = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => \
                done([document.querySelector('input').value, menu.hidden, scrollY, document.getAnimations().length, ...got.splice(0)]))))";
    json_of(&paged, rest);
    let (picture, pixels) = shoot(&paged, &whole_page());
    assert_eq!(json_of(&paged, rest), json!(["Ada", false, 0, 0]), "the whole page");
    assert_eq!(pixels.bounds(BLUE).map(|blue| (blue.1, blue.3)), Some((0, 20)), "what sticks is there once");
    let height = picture.height;
    assert_eq!(pixels.bounds(LIME).map(|bar| (bar.1, bar.3)), Some((height - 30, height)), "at the end of the page");
    assert!(pixels.count(RED) > 500, "what loads when it is in view is there");
    paged.eval("scrollTo(0, 40)");
    json_of(&paged, rest);
    paged.eval("menu.hidden = false");
    json_of(&paged, rest);
    for element in ["#big", "#late"] {
        let (_, pixels) = shoot(&paged, &of(element));
        assert_eq!(json_of(&paged, rest), json!(["Ada", false, 40, 0]), "{element}");
        assert!(pixels.bounds(BLUE).is_none() && (element != "#big" || pixels.bounds(LIME).is_none()), "{element}");
    }
}

#[test]
fn what_scrolls_inside_a_page_is_said() {
    let inner = "<body style='margin:0'><main id=list style='height:100vh;overflow:auto'><div style='height:4000px'>long</div></main>";
    let Some(paged) = TestTab::showing("picture-inner", inner) else { return };
    let (picture, _) = shoot(&paged, &whole_page());
    assert!(picture.notes[0].starts_with("main#list scrolls by itself"), "{:?}", picture.notes);
    assert!(picture.notes[0].contains("of its 4000 CSS pixels"), "{:?}", picture.notes);
    let (picture, _) = shoot(&paged, &ScreenshotOptions::default());
    assert_eq!(picture.notes, [""; 0]);
}

#[test]
fn a_full_page_screenshot_of_a_small_page_is_the_viewport() {
    let Some(paged) = TestTab::showing("picture-small-page", "<p>small") else { return };
    paged.eval(NOTICE);
    let (picture, _) = shoot(&paged, &whole_page());
    assert_eq!(json!([picture.width, picture.height]), json_of(&paged, "[innerWidth, innerHeight]"));
    assert_eq!(noticed(&paged), [""; 0]);
}

#[test]
fn a_tall_page_is_one_screenshot_and_a_huge_one_is_truncated() {
    let Some(paged) = TestTab::showing(
        "picture-high",
        "<body style='margin:0'><div style='height:19990px'></div><div id=end style='height:10px;background:red'>",
    ) else {
        return;
    };
    // Narrow, so that there are not too many pixels to read.
    let narrow: Act = serde_json::from_value(json!({ "kind": "resize", "width": 200, "height": 400 })).unwrap();
    paged.tab.act(&narrow, soon()).unwrap();
    let (picture, pixels) = shoot(&paged, &whole_page());
    assert_eq!(picture.height, 20_000);
    assert_eq!(pixels.bounds(RED).map(|red| (red.1, red.3)), Some((19_990, 20_000)));
    assert_eq!(picture.cut_at, None);
    let model = ScreenshotOptions::for_model().full_page(true);
    let (picture, _) = shoot(&paged, &model);
    assert_eq!(picture.height, 2000);
    assert!(picture.notes.iter().any(|note| note.contains("unreadable")), "{:?}", picture.notes);
    paged.eval("document.querySelector('div').style.height = '300000px'");
    let (picture, _) = shoot(&paged, &whole_page());
    assert_eq!((picture.height, picture.cut_at), (30_000, Some(30_000.0)));
    assert!(picture.notes[0].starts_with("cut: the page is"), "{:?}", picture.notes);
}

#[test]
fn an_element_screenshot_scrolls_the_element_into_view() {
    let Some(paged) = TestTab::showing(
        "picture-element",
        "<body style='margin:0'><div id=near style='position:absolute;left:10px;top:10px;width:30px;height:20px;background:red'></div>
         <div id=far style='position:absolute;left:50px;top:4000px;width:70px;height:40px;background:lime'></div>
         <div style='position:absolute;top:300px;height:50px;width:50px;overflow:auto'><div style='height:900px'></div>
         <div id=inside style='height:20px;width:25px;background:blue'></div></div>
         <div id=shadow></div><div id=hidden style='display:none'>x</div>
         <script>shadow.attachShadow({mode: 'open'}).innerHTML = '<b style=\"display:block;width:9px;height:8px;background:red\"></b>'</script>",
    ) else {
        return;
    };
    paged.eval(NOTICE);
    for (element, colour, size) in
        [("#near", RED, (30, 20)), ("#far", LIME, (70, 40)), ("#inside", BLUE, (25, 20)), ("b", RED, (9, 8))]
    {
        let (picture, pixels) = shoot(&paged, &of(element));
        assert_eq!((picture.width, picture.height), size, "{element} {:?}", picture.notes);
        assert_eq!(pixels.bounds(colour), Some((0, 0, size.0, size.1)), "{element}");
        assert_eq!(pixels.count(colour), (size.0 * size.1) as usize, "{element}");
    }
    assert_eq!(json_of(&paged, "[scrollY, document.querySelector('div[style*=overflow]').scrollTop]"), json!([0, 0]));
    let error = |options: &ScreenshotOptions| paged.tab.screenshot(options, soon()).unwrap_err();
    assert_eq!(error(&of("#missing")).code(), "NOT_FOUND");
    assert_eq!(error(&of("#hidden")).code(), "NOT_ACTIONABLE");
    assert_eq!(error(&of("<<")).code(), "BAD_REQUEST");
    assert_eq!(error(&of("#near").full_page(true)).code(), "BAD_REQUEST");
    assert_eq!(error(&ScreenshotOptions::new().quality(50)).code(), "BAD_REQUEST");
    let unknown = ScreenshotOptions::new().reference("e999");
    assert!(matches!(error(&unknown), Error::StaleRef { .. }));
}

#[test]
fn an_element_in_nested_cross_origin_frames_is_captured() {
    let Some(paged) = TestTab::new("picture-nested") else { return };
    paged.site.page("/", "<body style='margin:0'><div style='height:2500px'></div><iframe src='@b/middle' style='width:500px;height:400px'></iframe><div style='height:2500px'>");
    paged.site.page(
        "/middle",
        "<div style='height:700px'></div><iframe src='@c/inner' style='width:300px;height:200px'></iframe>",
    );
    paged.site.page("/inner", "<body style='margin:0'><button style='width:120px;height:60px;background:red;border:0;margin:30px;color:red'>deep</button>");
    paged.go("/");
    until(paged.supervisor(), "the inner frame", |now| {
        now.frames.iter().any(|frame| frame.url.ends_with("/inner") && frame.session_id.is_some())
    });
    let mut seen = paged.snapshot();
    while !seen.snapshot.as_deref().unwrap_or_default().contains("deep") {
        seen = paged.snapshot();
    }
    let reference = ref_of(&seen, "deep");
    let (picture, pixels) = shoot(&paged, &ScreenshotOptions::new().reference(reference));
    assert_eq!((picture.width, picture.height), (120, 60), "{:?}", picture.notes);
    assert!(pixels.count(RED) > 7000, "{}", pixels.count(RED));
    assert_eq!(json_of(&paged, "scrollY"), json!(0));
}

#[test]
fn cross_origin_frames_are_drawn_in_full_page_screenshots() {
    let Some(paged) = TestTab::new("picture-page-frames") else { return };
    paged.site.page("/", "<body style='margin:0'><div style='height:2500px'></div><iframe src='@b/in' style='display:block;width:400px;height:300px;border:0'></iframe><div style='height:1000px'></div><iframe src='@b/in' style='display:block;width:200px;height:1500px;border:0'></iframe>");
    paged.site.page("/in", "<body style='margin:0;background:lime'>");
    paged.go("/");
    until(paged.supervisor(), "both frames", |now| {
        now.frames.iter().filter(|frame| frame.url.ends_with("/in") && frame.session_id.is_some()).count() == 2
    });
    let (_, pixels) = shoot(&paged, &whole_page());
    assert_eq!(pixels.count(LIME), 400 * 300 + 200 * 1500);
    assert_eq!(pixels.bounds(LIME), Some((0, 2500, 400, 5300)));
    assert_eq!(json_of(&paged, "scrollY"), json!(0));
}

#[test]
fn screenshots_and_boxes_use_device_pixels() {
    let Some(paged) = TestTab::showing(
        "picture-ratio",
        "<body style='margin:0'><button style='position:absolute;left:40px;top:50px;width:100px;height:30px;background:red;border:0'></button>",
    ) else {
        return;
    };
    let metrics = json!({ "width": 400, "height": 300, "deviceScaleFactor": 2, "mobile": false });
    paged.supervisor().call_raw(&paged.top(), "Emulation.setDeviceMetricsOverride", &metrics, soon()).unwrap();
    let (picture, pixels) = shoot(&paged, &ScreenshotOptions::default());
    assert_eq!((picture.width, picture.height, picture.scale), (800, 600, 2.0));
    assert_eq!(pixels.bounds(RED), Some((80, 100, 280, 160)));
    let (picture, pixels) = shoot(&paged, &of("button"));
    assert_eq!((picture.width, picture.height, pixels.count(RED)), (200, 60, 12_000));
    let labelled = ScreenshotOptions::new().labels(true);
    let (picture, _) = shoot(&paged, &labelled);
    let annotations = picture.annotations.unwrap();
    assert_eq!(annotations[0].bounds, Rect::new(80.0, 100.0, 200.0, 60.0));
    let smaller = labelled.max_width(400);
    let (picture, _) = shoot(&paged, &smaller);
    assert_eq!((picture.width, picture.height), (400, 300));
    assert_eq!(picture.annotations.unwrap()[0].bounds, Rect::new(40.0, 50.0, 100.0, 30.0));
}

#[test]
fn jpeg_screenshots_can_be_decoded_by_browsers() {
    let Some(paged) = TestTab::showing("picture-jpeg", "<body style='margin:0;background:lime'>") else { return };
    let options = ScreenshotOptions::new().kind(PictureType::Jpeg).quality(90);
    let picture = paged.tab.screenshot(&options, soon()).unwrap();
    assert!(picture.bytes.starts_with(&[0xff, 0xd8, 0xff]));
    let read = format!(
        "(async () => {{
            const image = new Image();
            image.src = 'data:image/jpeg;base64,{}';
            await image.decode();
            const canvas = document.createElement('canvas');
            [canvas.width, canvas.height] = [image.width, image.height];
            const drawn = canvas.getContext('2d');
            drawn.drawImage(image, 0, 0);
            return [image.width, image.height, ...drawn.getImageData(image.width - 1, image.height - 1, 1, 1).data];
        }})()",
        crate::support::pixels::base64(&picture.bytes)
    );
    let read: Vec<u32> = serde_json::from_value(json_of(&paged, &read)).unwrap();
    assert_eq!(read[..2], [picture.width, picture.height]);
    assert!(read[2] < 8 && read[3] > 247 && read[4] < 8, "{read:?}");
}

#[test]
fn screenshot_limits_always_hold() {
    let Some(paged) = TestTab::showing(
        "picture-fit",
        "<body style='margin:0'><canvas width=900 height=500></canvas><script>
         const canvas = document.querySelector('canvas').getContext('2d'), image = canvas.createImageData(900, 500);
         for (let i = 0; i < image.data.length; i++) image.data[i] = i % 4 === 3 ? 255 : Math.random() * 256;
         canvas.putImageData(image, 0, 0)</script>",
    ) else {
        return;
    };
    let fit = Fit::new().max_side(600).max_bytes(30_000);
    let options = of("canvas").fit(fit);
    let picture = paged.tab.screenshot(&options, soon()).unwrap();
    keep(&picture);
    assert!(picture.bytes.len() <= 30_000 && picture.width <= 600, "{} {}", picture.bytes.len(), picture.width);
    assert_eq!(picture.kind, PictureType::Jpeg);
    assert!(picture.notes.iter().any(|note| note.contains("JPEG")), "{:?}", picture.notes);
    let (picture, pixels) = shoot(&paged, &of("canvas").scale(0.5));
    assert_eq!((picture.width, picture.height, picture.scale), (450, 250, 0.5));
    assert!(pixels.count(WHITE) < 10);
}

#[test]
fn a_background_tab_is_captured_in_the_background() {
    let Some(paged) = TestTab::showing("picture-back", "<body style='margin:0;background:red'>back") else { return };
    paged.eval(NOTICE);
    let front = paged.supervisor().open_page(&paged.site.url("a", "/"), None, soon()).unwrap();
    until(paged.supervisor(), "the other tab", |now| now.page(front.as_str()).is_some());
    let top = cdpilot::supervisor::FrameRef::TopOf(front.clone());
    paged.supervisor().call_raw(&top, "Page.bringToFront", &Value::Null, soon()).unwrap();
    paged.eval("document.hidden || new Promise(done => document.addEventListener('visibilitychange', done))");
    for options in [ScreenshotOptions::default(), whole_page(), of("body")] {
        let (_, pixels) = shoot(&paged, &options);
        assert!(pixels.count(RED) > 1000);
    }
    assert_eq!(json_of(&paged, "document.hidden"), json!(true), "it stays in the background");
    assert_eq!(noticed(&paged), [""; 0]);
    paged.supervisor().close_page(&front, soon()).unwrap();
}

#[test]
fn a_screenshot_under_a_dialog_fails_and_the_last_one_is_available() {
    let Some(paged) = TestTab::showing("picture-dialog", "<body style='background:red'>") else { return };
    paged.tab.screenshot(&of("body"), soon()).unwrap();
    assert!(paged.supervisor().last_picture(paged.tab.target()).is_none(), "a part of the page is not kept");
    paged.tab.screenshot(&ScreenshotOptions::default(), soon()).unwrap();
    paged.supervisor().start_script(&paged.top(), "alert('wait')").unwrap();
    until(paged.supervisor(), "the dialog", |now| !now.dialogs.is_empty());
    for options in [ScreenshotOptions::default(), whole_page(), of("body")] {
        let error = paged.tab.screenshot(&options, soon()).unwrap_err();
        assert_eq!(error.code(), "BLOCKED_BY_DIALOG");
    }
    let last = paged.supervisor().last_picture(paged.tab.target()).unwrap();
    assert!(Pixels::decode(&last.png).count(RED) > 1000);
}

#[test]
fn a_page_that_navigates_during_a_screenshot_is_captured() {
    let Some(paged) = TestTab::new("picture-gone") else { return };
    for (host, next) in [("a", "b"), ("b", "a")] {
        let away = format!(
            "<body style='background:red'><script>onload = () => setTimeout(() => location = {:?}, performance.now() * 7919 % 60)</script>",
            paged.site.url(next, if host == "a" { "/back" } else { "/" })
        );
        paged.site.page(if host == "a" { "/" } else { "/back" }, &away);
    }
    paged.supervisor().navigate(&paged.top(), &paged.site.url("a", "/"), soon()).unwrap();
    for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 1, 10) {
        match paged.tab.screenshot(&ScreenshotOptions::default(), soon()) {
            Ok(picture) => keep(&picture),
            Err(Error::DocumentGone { .. }) => {} // it was asked about its size just then
            Err(error) => panic!("{error}"),
        }
    }
}
