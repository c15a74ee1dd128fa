//! Whether a page is drawn far enough for a picture of it.

use cdpilot::page::{Look, LookOptions, Readiness};

use cdpilot::cdp::{Capacity, ConnectOptions, Connection, Item, Watch};
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::lease::Lease;
use crate::support::pixels::Pixels;
use crate::support::share::share;
use crate::support::test_tab::TestTab;

/// Placeholders and a spinner. `finish` puts content in their place.
const LOADING: &str = "<!doctype html><title>Loading</title><style>body { margin: 0 }
     .skeleton { width: 600px; height: 90px; margin: 12px; background: rgb(210, 210, 210) } .spinner { width: 30px; height: 30px; background: #06c }</style>
     <main><div class=skeleton></div><div class=skeleton></div><div class=skeleton></div><div class=spinner></div></main>
     <script>const finish = () => {
        document.querySelector('main').innerHTML = '<p style=\"background: rgb(0, 128, 0); color: white; width: 600px; height: 300px; margin: 0\">' +
            'The list of all orders of this year. '.repeat(12) + '</p><button>Order again</button>';
        document.title = 'Done';
     }</script>";
const GREY: [u8; 3] = [210, 210, 210];
const GREEN: [u8; 3] = [0, 128, 0];

fn look(page: &TestTab) -> Look {
    page.tab.look_at(&LookOptions::new(), soon()).unwrap()
}

#[test]
fn a_page_that_is_drawn_within_the_retries_is_ready_in_its_picture() {
    let Some(page) = TestTab::new("ready-soon") else { return };
    page.site.page("/", LOADING);
    page.go("/");
    page.eval("setTimeout(finish, 400); 0");
    let ready = look(&page);
    assert_eq!((ready.readiness, &*ready.title), (Readiness::Ready, "Done"));
    let picture = Pixels::decode(&ready.picture.bytes);
    assert!(picture.count(GREEN) > 50_000 && picture.count(GREY) < 1_000, "{}", picture.count(GREEN));
    assert_eq!(ready.all.len(), 1, "{:?}", ready.all);
}

#[test]
fn a_page_that_is_never_drawn_is_reported_with_its_picture() {
    let Some(page) = TestTab::new("ready-never") else { return };
    let cases = [
        ("", Readiness::NotReady),
        ("document.querySelector('.spinner').remove()", Readiness::NotReady),
        ("document.querySelectorAll('.skeleton').forEach(one => one.remove())", Readiness::NotReady),
        ("finish()", Readiness::Ready),
    ];
    for (part, grade) in share(cases, 2) {
        page.site.page("/", LOADING);
        page.go("/");
        page.eval(&format!("{part}; 0"));
        let look = look(&page);
        assert_eq!(look.readiness, grade, "{part}");
        let picture = Pixels::decode(&look.picture.bytes);
        let shows_placeholders = picture.count(GREY) > 50_000;
        assert_eq!(shows_placeholders, part.is_empty() || part.contains("spinner"), "{part}");
    }
}

/// The number of timers that documents set while something is done, in every world, as the browser records it.
fn timers_set(connection: &Connection, doing: impl FnOnce()) -> usize {
    let events = connection
        .subscribe(Watch::browser().only(&["Tracing.dataCollected", "Tracing.tracingComplete"]), Capacity::of(100_000));
    let call = |method: &'static str, params: Value| connection.call_raw(method, &params, soon()).unwrap();
    let categories = json!({ "includedCategories": ["devtools.timeline", "disabled-by-default-devtools.timeline"] });
    call("Tracing.start", json!({ "traceConfig": categories, "transferMode": "ReportEvents" }));
    doing();
    call("Tracing.end", json!({}));
    let mut set = 0;
    loop {
        let Item::Event(event) = events.next(soon()).unwrap() else { panic!("events were dropped") };
        let params: Value = serde_json::from_slice(event.params()).unwrap();
        if event.method() == "Tracing.tracingComplete" {
            return set;
        }
        let is_timer = |entry: &&Value| entry["name"] == "TimerInstall";
        set += params["value"].as_array().into_iter().flatten().filter(is_timer).count();
    }
}

#[test]
fn a_look_sets_no_timer_in_the_page() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url().to_owned();
    let page = TestTab::attached("ready-timers", &url);
    let connection = Connection::connect(&url, &ConnectOptions::default()).unwrap();
    page.site.page("/", LOADING);
    page.go("/");
    look(&page);
    // A witness: one of the page itself is recorded.
    assert_eq!(timers_set(&connection, || drop(page.eval("setTimeout(() => {}, 5); 0"))), 1);
    let set = timers_set(&connection, || assert_eq!(look(&page).readiness, Readiness::NotReady));
    assert_eq!(set, 0);
}
