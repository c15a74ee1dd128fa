//! Popups that are resumed before their supervisor has prepared them.

use cdpilot::cdp::{Capacity, ConnectOptions, Connection, Item, Session, Subscription, Watch};
use cdpilot::supervisor::{EventKind, NavigationPolicy, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::{Task, soon};
use crate::support::lease::Lease;
use crate::support::proxy::Proxy;
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
    // The pages of the other program stay.
    let Some(lease) = Lease::take_empty() else { return };
    let url = lease.url().to_owned();
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

/// A supervisor that is slower than another program: what it sends and receives can be held back.
struct Slow {
    task: Task,
    proxy: Proxy,
    other: Other,
    /// The session of the other program with the page of the task.
    page: Session,
    _lease: Lease,
}

impl Slow {
    fn start() -> Option<Self> {
        let lease = Lease::take_empty()?;
        let url = lease.url().to_owned();
        let policy = NavigationPolicy::new(&[] as &[&str], &["b.localhost"], true, false).unwrap();
        let proxy = Proxy::of(&url);
        let task = Task::attach(&proxy.url(), SupervisorOptions::task("early").navigation(policy));
        task.site.page("/", "start");
        task.site.page("/good", "good");
        task.go(&task.site.url("a", "/"));
        let other = Other::start(&url);
        let attach = json!({ "targetId": task.target(), "flatten": true });
        let attached = other.connection.call_raw("Target.attachToTarget", &attach, soon()).unwrap().value().unwrap();
        let page = other.connection.session(attached["sessionId"].as_str().unwrap());
        Some(Self { task, proxy, other, page, _lease: lease })
    }

    /// Opens a popup, which the other program resumes before the supervisor has heard of it. Returns when it navigates.
    fn open(&self, url: &str) {
        let watch = Watch::everything().only(&["Page.frameStartedNavigating"]);
        let navigating = self.other.connection.subscribe(watch, Capacity::of(100));
        self.proxy.silence(true);
        self.page.send_raw("Runtime.evaluate", &json!({ "expression": format!("open('{url}'); 1") })).unwrap();
        let (popup, _) = self.other.waiting(soon()).unwrap();
        popup.send_raw("Page.enable", &json!({})).unwrap();
        resume(&popup);
        let begun = navigating.next(soon()).unwrap();
        assert!(matches!(&begun, Item::Event(event) if event.session() == Some(popup.id())), "{begun:?}");
        self.proxy.silence(false);
    }

    /// Waits until this many navigations were blocked.
    fn blocked(&self, times: usize) {
        self.task.until("blocked popups", |_| {
            let all = self.task.log().since(0, usize::MAX).entries;
            all.iter().filter(|entry| entry.kind() == EventKind::NavigationBlocked).count() == times
        });
        assert_eq!(self.task.site.requested_from("b.localhost"), [""; 0]);
    }
}

#[test]
fn the_policy_applies_to_popups_that_another_program_resumes() {
    let Some(slow) = Slow::start() else { return };
    for n in 1..=3 {
        slow.open(&slow.task.site.url("b", &format!("/early-{n}")));
        slow.blocked(n);
    }
    // What it allows is shown.
    let good = slow.task.site.url("a", "/good");
    slow.open(&good);
    slow.task.until(&good, |now| now.pages.iter().any(|page| *page.url == good));
}

#[test]
fn redirects_of_such_popups_are_checked() {
    let Some(slow) = Slow::start() else { return };
    let (site, held) = (&slow.task.site, Held::default());
    let to_b = Answer::html("").status("302 Found").header("Location", &site.url("b", "/secret"));
    site.put("/late", to_b.held_by(&held));
    slow.open(&site.url("a", "/late"));
    site.wait_requested("a.localhost/late", 1);
    held.release();
    slow.blocked(1);
}
