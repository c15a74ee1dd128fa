//! Looks and clicks at every scale of the device, zoom of the page and zoom of the browser: boxes are around their elements,
//! and clicks reach the element whose id was given.

use cdpilot::browser::{BrowserProcess, TransportKind};
use cdpilot::page::{Look, VisibleElement};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::chrome::{options, soon};
use crate::support::pixels::{Pixels, around};
use crate::support::share::share;
use crate::support::test_tab::TestTab;

/// Buttons at the corners, in a scrolled container and in frames, each of one colour.
const PAGE: &str = "<!doctype html><title>Corners</title><style>
     html, body { margin: 0; height: 100% } button { width: 64px; height: 30px; border: 0; border-radius: 0; padding: 0 }
     .corner { position: fixed } iframe { position: absolute; border: 5px solid #ddd; padding: 4px; width: 150px; height: 80px }
     #box { position: absolute; left: 35%; top: 20%; width: 150px; height: 110px; overflow: auto; background: #fff }
     #box div { height: 900px; padding: 230px 0 0 18px } #turned { position: absolute; left: 62%; top: 25%; transform: scale(1.2) }
     </style><script>got = []; addEventListener('click', event => got.push(event.composedPath()[0].name || 'nothing'), true);</script>
     <button name=nw class=corner style='left:0;top:0;background:rgb(200,10,10)'></button><button name=ne class=corner style='right:0;top:0;background:rgb(10,150,10)'></button>
     <button name=sw class=corner style='left:0;bottom:0;background:rgb(10,10,200)'></button><button name=se class=corner style='right:0;bottom:0;background:rgb(150,10,150)'></button>
     <div id=box><div><button name=inside style='background:rgb(10,130,130)'></button></div></div><button name=turned id=turned style='background:rgb(130,130,10)'></button>
     <iframe id=near src='/near' style='left:12%;top:60%'></iframe><iframe id=far src='@b/far' style='left:55%;top:60%'></iframe>
     <script>box.scrollTop = 180</script>";
const COLOURS: [(&str, [u8; 3]); 8] = [
    ("nw", [200, 10, 10]),
    ("ne", [10, 150, 10]),
    ("sw", [10, 10, 200]),
    ("se", [150, 10, 150]),
    ("inside", [10, 130, 130]),
    ("turned", [130, 130, 10]),
    ("near", [90, 40, 10]),
    ("far", [40, 90, 60]),
];

/// A frame with a button at its lower right corner.
fn frame(name: &str, [red, green, blue]: [u8; 3]) -> String {
    format!(
        "<!doctype html><style>html, body {{ margin: 0; height: 100% }} button {{ position: absolute; right: 6px; bottom: 4px; width: 64px; height: 30px; border: 0; padding: 0 }}</style>
         <script>got = []; addEventListener('click', event => got.push(event.composedPath()[0].name || 'nothing'), true);</script>
         <button name={name} style='background:rgb({red},{green},{blue})'></button>"
    )
}

/// The colour of the boxes of what is clicked, and of previews.
const BLUE: [u8; 3] = [0x00, 0x5a, 0xe0];
const YELLOW: [u8; 3] = [0xff, 0xd4, 0x00];
/// Height of the question above a preview, in pixels.
const BANNER: u32 = 34;

fn show(page: &TestTab) {
    page.site.page("/", PAGE);
    for (name, colour) in COLOURS.iter().filter(|(name, _)| matches!(*name, "near" | "far")) {
        page.site.page(&format!("/{name}"), &frame(name, *colour));
    }
    page.go("/");
    page.frame("/near");
    page.frame("/far");
}

fn named<'a>(look: &'a Look, name: &str) -> &'a VisibleElement {
    let found = look.all.iter().find(|element| element.html.starts_with(&format!("<button name=\"{name}\"")));
    found.unwrap_or_else(|| panic!("no {name}: {:?}", look.all))
}

/// The box around the pixels of a colour, below a row.
fn bounds_below(picture: &Pixels, from: u32, colour: [u8; 3]) -> Option<(u32, u32, u32, u32)> {
    // Single pixels of a colour may be a mixture of others.
    let is_inside = |x: u32, y: u32| x == 0 || y == from || picture.at(x - 1, y - 1) == colour;
    around(picture.places(colour).filter(|(x, y)| *y >= from && is_inside(*x, *y)))
}

/// Whether the line of a box is within some pixels of each edge of an area.
fn is_framed(picture: &Pixels, (left, top, right, bottom): (u32, u32, u32, u32)) -> bool {
    let near = |at: u32, most: u32| at.saturating_sub(4)..(at + 4).min(most);
    let (x, y) = (left.midpoint(right), top.midpoint(bottom));
    [left, right].iter().all(|edge| near(*edge, picture.width).any(|x| picture.at(x, y) == BLUE))
        && [top, bottom].iter().all(|edge| near(*edge, picture.height).any(|y| picture.at(x, y) == BLUE))
}

/// Checks the boxes of all elements, their previews, and where clicks on them arrive.
fn check(page: &TestTab, setting: &str) {
    let clean = Pixels::decode(&page.tab.clean_picture(soon()).unwrap().bytes);
    assert!(clean.width <= 1280 && clean.height <= 720, "{setting}");
    let looks = page.look_at_all();
    for (name, colour) in share(COLOURS, 4) {
        let what = format!("{setting}: {name}");
        let area = bounds_below(&clean, 0, colour).unwrap_or_else(|| panic!("{what} is not in the picture"));
        let element = named(&looks[0], name);
        let shown = looks.iter().find(|look| look.elements.iter().any(|one| one.id == element.id));
        let picture = Pixels::decode(&shown.unwrap_or_else(|| panic!("{what} is on no page")).picture.bytes);
        assert_eq!((picture.width, picture.height), (clean.width, clean.height), "{what}");
        assert!(is_framed(&picture, area), "{what}: no box around {area:?}");

        let preview = page.tab.preview(&element.id, (&element.node, &element.shown), "This one?", soon()).unwrap();
        let picture = Pixels::decode(&preview.picture.bytes);
        let inner = bounds_below(&picture, BANNER, colour).unwrap_or_else(|| panic!("{what} is not in its preview"));
        let outer = bounds_below(&picture, BANNER, YELLOW).unwrap_or_else(|| panic!("{what}: no yellow box"));
        let fits = |inner: u32, outer: u32, edge: u32| inner.abs_diff(outer) <= 7 || outer == edge;
        assert!(
            fits(inner.0, outer.0, 0)
                && fits(inner.2, outer.2, picture.width)
                && fits(inner.3, outer.3, picture.height),
            "{what}: {inner:?} in {outer:?}"
        );

        let place = if matches!(name, "near" | "far") { page.frame(&format!("/{name}")) } else { page.top() };
        page.act(json!({ "kind": "click", "ref": element.reference, "settle": "none" }))
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(page.value_in(&place, "got.splice(0)"), json!([name]), "{what}");
    }
}

/// A browser on a screen with so many device pixels per CSS pixel, whose pages are zoomed by its own setting.
fn browser(factor: f64, percent: f64) -> Option<(TempDir, BrowserProcess)> {
    let folder = tempfile::Builder::new().prefix("cdpilot-zoom-").tempdir().unwrap();
    let level = (percent / 100.0).ln() / 1.2_f64.ln();
    let settings: Value = json!({ "partition": { "default_zoom_level": { "x": level } } });
    std::fs::create_dir_all(folder.path().join("Default")).unwrap();
    std::fs::write(folder.path().join("Default/Preferences"), settings.to_string()).unwrap();
    let mut launch = options(TransportKind::Pipe)?.window_size(1280, 860);
    launch = launch.arg(format!("--force-device-scale-factor={factor}"));
    launch.user_data_dir = Some(folder.path().to_owned());
    let browser = BrowserProcess::launch(&launch).unwrap();
    Some((folder, browser))
}

#[test]
fn boxes_and_clicks_fit_at_every_zoom_of_the_page_and_scale_of_the_device() {
    // Every scale and every zoom, and the extremes of both together.
    for (factor, zoom) in share([(1.0, 0.67), (1.0, 2.0), (1.5, 1.0), (2.0, 2.0)], 1) {
        let Some((_folder, browser)) = browser(factor, 100.0) else { return };
        let page = TestTab::of("zoom-device", browser);
        show(&page);
        assert_eq!(page.value("devicePixelRatio").as_f64(), Some(factor));
        page.eval(&format!("document.documentElement.style.zoom = {zoom}; box.scrollTop = 180; 0"));
        check(&page, &format!("device scale {factor}, CSS zoom {zoom}"));
    }
}

#[test]
fn boxes_and_clicks_fit_at_every_zoom_of_the_browser() {
    for (percent, factor) in share([(67.0, 1.0), (150.0, 2.0)], 1) {
        let Some((_folder, browser)) = browser(factor, percent) else { return };
        let page = TestTab::of("zoom-browser", browser);
        show(&page);
        let ratio = page.value("devicePixelRatio").as_f64().unwrap();
        assert!((ratio - factor * percent / 100.0).abs() < 0.01, "{percent} %: {ratio}");
        check(&page, &format!("browser zoom {percent} %, device scale {factor}"));
    }
}

#[test]
fn boxes_are_around_what_a_pinch_zoom_shows() {
    let Some((_folder, browser)) = browser(1.0, 100.0) else { return };
    let page = TestTab::of("zoom-pinch", browser);
    show(&page);
    for scale in share([1.5, 2.0], 1) {
        let scaled = json!({ "pageScaleFactor": scale });
        page.supervisor().call_raw(&page.top(), "Emulation.setPageScaleFactor", &scaled, soon()).unwrap();
        let seen = page.value("visualViewport.scale").as_f64().unwrap();
        assert!((seen - scale).abs() < 0.01, "{seen}");
        let looks = page.look_at_all();
        let clean = Pixels::decode(&page.tab.clean_picture(soon()).unwrap().bytes);
        let mut found = 0;
        for (name, colour) in COLOURS {
            let area = bounds_below(&clean, 0, colour).filter(|(l, t, r, b)| r - l > 20 && b - t > 20);
            let Some(area) = area else { continue };
            let element = named(&looks[0], name);
            let shown = looks.iter().find(|look| look.elements.iter().any(|one| one.id == element.id)).unwrap();
            let picture = Pixels::decode(&shown.picture.bytes);
            assert!(is_framed(&picture, area), "pinched to {scale}, {name}: no box around {area:?}");
            found += 1;
        }
        assert!(found > 1, "{scale}: {found}");
    }
}
