//! Popups that are resumed before their supervisor has prepared them.

use cdpilot::browser::TransportKind;
use cdpilot::cdp::{Capacity, ConnectOptions, Connection, Item, Session, Subscription, Watch};
use cdpilot::supervisor::{EventKind, NavigationPolicy, Supervisor, SupervisorOptions};
use cdpilot::sync::{Deadline, spawn};
use serde_json::{Value, json};

use crate::support::chrome::{Task, launch, soon};
use crate::support::site::{Answer, Held, Site};

/// Another program that attaches to all pages, which wait for it.
struct Other {
    connection: Connection,
    attached: Subscription,
}

impl Other {
    fn start(url: &str) -> Self {
        let connection = Connection::connect(url, &ConnectOptions::default()).unwrap();
        let watch = Watch::everything().only(&["Target.attachedToTarget"]);
        let attached = connection.subscribe(watch, Capacity::of(1000));
        let filter = json!([{ "type": "page" }, { "exclude": true }]);
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter });
        connection.call_raw("Target.setAutoAttach", &attach, soon()).unwrap();
        Self { connection, attached }
    }

    /// The next page that waits.
    fn waiting(&self, deadline: Deadline<'_>) -> Option<(Session, Value)> {
        loop {
            let Ok(Item::Event(event)) = self.attached.next(deadline) else { return None };
            let params: Value = serde_json::from_slice(event.params()).unwrap();
            if params["waitingForDebugger"] == true {
                let session = self.connection.session(params["sessionId"].as_str().unwrap());
                return Some((session, params["targetInfo"].clone()));
            }
        }
    }
}

fn resume(session: &Session) {
    session.send_raw("Runtime.runIfWaitingForDebugger", &json!({})).unwrap();
}

#[test]
fn a_supervisor_resumes_no_popup_of_another_program() {
    let Some(browser) = launch(TransportKind::Port(0)) else { return };
    let url = browser.endpoint().unwrap().url();
    let (site, other) = (Site::start(), Other::start(&url));
    site.page("/", "opener");
    let create = json!({ "url": site.url("a", "/") });
    other.connection.call_raw("Target.createTarget", &create, soon()).unwrap();
    let (page, opener) = other.waiting(soon()).unwrap();
    resume(&page);
    site.wait_requested("a.localhost/", 1);
    for path in ["/one", "/two"] {
        // Once the document is there, which has the address of the site.
        let open = format!(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done)) \
             .then(() => open('{}'))",
            site.url("b", path)
        );
        page.send_raw("Runtime.evaluate", &json!({ "expression": open })).unwrap();
        let (popup, info) = other.waiting(soon()).unwrap();
        assert_eq!(info["openerId"], opener["targetId"]);

        // It attaches to all pages, lets them go, and opens its own.
        let options = SupervisorOptions::task("later").start_timeout(soon().left());
        let later = Supervisor::attach(&url, &ConnectOptions::default(), options).unwrap();
        later.stop(soon());
        let (own, _) = other.waiting(soon()).unwrap();
        resume(&own);
        assert_eq!(site.requested_from("b.localhost").iter().filter(|got| got.ends_with(path)).count(), 0);

        resume(&popup);
        site.wait_requested(&format!("b.localhost{path}"), 1);
    }
}

/// Waits until this many navigations were blocked.
fn blocked(task: &Task, times: usize) {
    task.until("blocked popups", |_| {
        let all = task.log().since(0, usize::MAX).entries;
        all.iter().filter(|entry| entry.kind() == EventKind::NavigationBlocked).count() == times
    });
}

#[test]
fn the_policy_applies_to_popups_that_another_program_resumes() {
    let Some(browser) = launch(TransportKind::Port(0)) else { return };
    let url = browser.endpoint().unwrap().url();
    let policy = NavigationPolicy::new(&[] as &[&str], &["b.localhost"], true, false).unwrap();
    let task = Task::attach(&url, SupervisorOptions::task("early").navigation(policy)).unwrap();
    task.site.page("/", "start");
    task.site.page("/good", "good");
    task.go(&task.site.url("a", "/"));
    let other = Other::start(&url);
    let (end, end_seen) = crossbeam_channel::bounded::<()>(0);
    let hasty = spawn("hasty-client", move || {
        while end_seen.try_recv() != Err(crossbeam_channel::TryRecvError::Disconnected) {
            if let Some((popup, _)) = other.waiting(Deadline::after_millis(100)) {
                resume(&popup);
            }
        }
    })
    .unwrap();
    let end = end; // dropped before the thread, which it ends
    for round in 0..4 {
        let link = task.site.url("b", &format!("/early-{round}-"));
        task.eval(&format!("for (let n = 0; n < 8; n++) open('{link}' + n); 1"));
        blocked(&task, 8 * (round + 1));
        assert_eq!(task.site.requested_from("b.localhost"), [""; 0]);
    }
    // A redirect that comes late is checked too: the session of the page may not see it.
    let held = Held::default();
    let late = task.site.url("a", "/late-");
    for n in 0..4 {
        let to_b = Answer::html("").status("302 Found").header("Location", &task.site.url("b", "/late"));
        task.site.put(&format!("/late-{n}"), to_b.held_by(&held));
    }
    task.eval(&format!("for (let n = 0; n < 4; n++) open('{late}' + n); 1"));
    for n in 0..4 {
        task.site.wait_requested(&format!("a.localhost/late-{n}"), 1);
    }
    held.release();
    blocked(&task, 36);
    assert_eq!(task.site.requested_from("b.localhost"), [""; 0]);
    // What the policy allows is shown.
    let good = task.site.url("a", "/good");
    task.eval(&format!("open('{good}'); 1"));
    task.until(&good, |now| now.pages.iter().any(|page| *page.url == good));
    drop(end);
    hasty.join();
}
