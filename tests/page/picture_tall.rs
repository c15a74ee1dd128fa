//! Screenshots taller than what the browser draws at once, and failing captures.

use std::sync::Arc;
use std::time::Duration;

use cdpilot::cdp::ConnectOptions;
use cdpilot::page::{Act, ScreenshotOptions, Tab, Tabs};
use cdpilot::supervisor::{FrameRef, Pages, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::lease::Lease;
use crate::support::pixels::Pixels;
use crate::support::proxy::{Capture, Proxy};
use crate::support::site::Site;

/// What graphics processors draw into at most.
const TEXTURE: f64 = 16_384.0;

/// The width of the page beside its scroll bar.
const WIDTH: u32 = 105;

/// A narrow tab, so that there are not too many pixels, behind a proxy that limits screenshots.
struct Limited {
    // Field order: dropped from the first to the last.
    tab: Arc<Tab>,
    _tabs: Tabs,
    proxy: Proxy,
    site: Site,
    _lease: Lease,
}

impl Limited {
    fn new(how: Capture) -> Option<Self> {
        let lease = Lease::take()?;
        let proxy = Proxy::of(lease.url());
        let options = SupervisorOptions::task("limited").pages(Pages::None).start_timeout(soon().left());
        let supervisor = Supervisor::attach(&proxy.url(), &ConnectOptions::default(), options).unwrap();
        let site = Site::start();
        // Every thousand pixels its own colour, and a head that stays.
        let rows: String = (0..40).map(|n| format!("<p style='background:rgb({n},0,0)'></p>")).collect();
        let style = "body { margin: 0 } p { margin: 0; height: 1000px } b { position: fixed; top: 0; left: 0; width: 9px; height: 9px; background: lime }";
        site.page("/", &format!("<!doctype html><style>{style}</style><b></b><main>{rows}</main>"));
        let target = supervisor.open_page(&site.url("a", "/"), None, soon()).unwrap();
        let tabs = Tabs::new(Arc::new(supervisor));
        let tab = tabs.tab(&target).unwrap();
        let loaded =
            "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))";
        tab.supervisor().evaluate(&FrameRef::TopOf(target), loaded, soon()).unwrap();
        let narrow: Act = serde_json::from_value(json!({ "kind": "resize", "width": 120, "height": 1500 })).unwrap();
        tab.act(&narrow, soon()).unwrap();
        proxy.limit_captures(TEXTURE, how);
        Some(Self { tab, _tabs: tabs, proxy, site, _lease: lease })
    }
}

fn whole_page() -> ScreenshotOptions {
    ScreenshotOptions::new().full_page(true)
}

fn is_right(pixels: &Pixels, rows: u32) {
    for y in 0..rows * 1000 {
        let colour = [u8::try_from(y / 1000).unwrap(), 0, 0];
        assert!(pixels.at(60, y) == colour && pixels.at(WIDTH - 1, y) == colour, "line {y} is not of row {}", y / 1000);
    }
    assert_eq!(pixels.bounds([0, 255, 0]), Some((0, 0, 9, 9)), "what is fixed is there once");
}

#[test]
fn a_tall_page_is_captured_in_tiles_and_truncated_at_30_000() {
    let Some(limited) = Limited::new(Capture::Refused) else { return };
    let picture = limited.tab.screenshot(&whole_page(), soon()).unwrap();
    assert_eq!((picture.width, picture.height, picture.cut_at), (WIDTH, 30_000, Some(30_000.0)));
    assert!(picture.notes[0].contains("the first 105x30000"), "{:?}", picture.notes);
    is_right(&Pixels::of(&picture), 30);
    let heights = limited.proxy.capture_heights();
    assert!(heights.len() > 1 && heights.iter().all(|height| *height <= TEXTURE), "{heights:?}");
    // An element of that height, and a page that fits.
    let element = ScreenshotOptions::new().element("main");
    let picture = limited.tab.screenshot(&element, soon()).unwrap();
    assert_eq!((picture.height, picture.cut_at), (30_000, Some(30_000.0)));
    let top = FrameRef::TopOf(limited.tab.target().clone());
    let shorter = "[...document.querySelectorAll('p')].slice(20).forEach(row => row.remove())";
    limited.tab.supervisor().evaluate(&top, shorter, soon()).unwrap();
    let picture = limited.tab.screenshot(&whole_page(), soon()).unwrap();
    assert_eq!((picture.height, picture.cut_at, picture.notes.len()), (20_000, None, 0));
    is_right(&Pixels::of(&picture), 20);
}

#[test]
fn a_failed_capture_is_not_reported_as_a_lost_page() {
    let Some(limited) = Limited::new(Capture::Refused) else { return };
    limited.proxy.limit_captures(10.0, Capture::Refused);
    let refused = limited.tab.screenshot(&whole_page(), soon()).unwrap_err();
    assert_eq!(refused.code(), "BROWSER_ERROR", "{refused}");
    limited.proxy.limit_captures(10.0, Capture::NeverAnswered);
    let late = limited.tab.screenshot(&whole_page(), Deadline::after(Duration::from_millis(1500))).unwrap_err();
    assert_eq!(late.code(), "TIMEOUT", "{late}");
    for error in [refused, late] {
        let error = error.to_string();
        assert!(error.contains("could not be captured") && error.contains("not affected"), "{error}");
        assert!(!error.contains("lost") && !error.contains("revive"), "{error}");
    }
    // It is as it was: what needs no such capture works.
    assert!(limited.tab.text(Some("body"), None, soon()).unwrap().text.is_empty());
    assert_eq!(limited.tab.screenshot(&ScreenshotOptions::default(), soon()).unwrap().width, 120);
    limited.site.page("/", "");
}
