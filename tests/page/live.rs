//! The live picture of a page whose frames take long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cdpilot::page::Tabs;
use cdpilot::sync::pause;
use parking_lot::Mutex;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::fake_cdp::Action;
use crate::support::fake_pages::{PAGE, browser, supervise, tell};

/// How long the page takes for a frame, as under a heavy load.
const DRAWING: Duration = Duration::from_millis(2500);

#[test]
fn a_frame_that_takes_seconds_is_waited_for() {
    let fake = browser();
    // As in Chromium: a start of the screencast drops the frame that is in progress.
    let started: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let starts = Arc::clone(&started);
    fake.on("Page.startScreencast").with(move |_| {
        starts.lock().push(Instant::now());
        vec![Action::Reply(json!({}))]
    });
    let pages = Tabs::new(Arc::new(supervise(&fake)));
    let tab = pages.tab(&PAGE.into()).unwrap();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let is_drawn = || started.lock().last().is_some_and(|at| at.elapsed() >= DRAWING);
            while !is_done.load(Ordering::SeqCst) && !is_drawn() {
                pause(Duration::from_millis(20));
            }
            let size = json!({
                "offsetTop": 0, "pageScaleFactor": 1, "deviceWidth": 800, "deviceHeight": 600,
                "scrollOffsetX": 0, "scrollOffsetY": 0
            });
            let frame = json!({ "data": "AAAA", "metadata": size, "sessionId": 1 });
            tell(&fake, "Page.screencastFrame", frame);
        });
        // Watchers ask again after a while, as the web UI does.
        let deadline = soon();
        let mut frame = None;
        while frame.is_none() && !deadline.passed() {
            frame = tab.live_frame(0, crate::support::soon()).unwrap();
        }
        is_done.store(true, Ordering::SeqCst);
        let frame = frame.unwrap_or_else(|| panic!("no frame after {} starts", started.lock().len()));
        assert_eq!((frame.width, frame.height), (800.0, 600.0));
    });
}
