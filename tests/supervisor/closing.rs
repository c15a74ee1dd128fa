//! Leaving: what is closed, what stays, and what state it is left in. Each test has a browser of its
//! own, since Chromium as a whole ends when a tab is closed under a dialog of one of its subframes.

use cdpilot::cdp::protocol::browser::GetVersion;
use cdpilot::cdp::protocol::runtime::Evaluate;
use cdpilot::cdp::protocol::target::{AttachToTarget, CreateTarget, GetTargets, SetDiscoverTargets, TargetId};
use cdpilot::cdp::{Capacity, ConnectOptions, Connection, Item, Watch};
use cdpilot::supervisor::{ClosedBy, DialogPolicy, FrameRef, Pages, SupervisorOptions};
use serde_json::{Value, json};

use crate::support::chrome::{Task, soon};
use crate::support::lease::Lease;
use crate::support::share::share;

fn other_client(lease: &Lease) -> Connection {
    Connection::connect(lease.url(), &ConnectOptions::default()).unwrap()
}

/// Evaluates a script in a page through another client.
fn ask(client: &Connection, target: &TargetId, script: &str) -> Value {
    let mut attach = AttachToTarget::new(target.clone());
    attach.flatten = Some(true);
    let id = client.call(&attach, soon()).unwrap().session_id;
    let mut evaluate = Evaluate::new(script);
    evaluate.return_by_value = Some(true);
    let response = client.session(id.as_str()).call(&evaluate, soon()).unwrap();
    response.result.value.map(|raw| serde_json::from_str(raw.get()).unwrap()).unwrap_or_default()
}

fn pages(client: &Connection) -> Vec<TargetId> {
    let all = client.call(&GetTargets::default(), soon()).unwrap().target_infos;
    all.into_iter().filter(|info| info.r#type == "page").map(|info| info.target_id).collect()
}

/// A page with frames of the same process, of another and two down.
fn framed(task: &Task) {
    task.site.page("/", "<iframe src='@a/same'></iframe><iframe src='@b/one'></iframe>");
    task.site.page("/same", "same");
    task.site.page("/one", "<iframe src='@c/two'></iframe>");
    task.site.page("/two", "two");
}

#[test]
fn a_tab_is_closed_safely_under_a_dialog_of_any_frame() {
    let Some(lease) = Lease::take() else { return };
    let client = other_client(&lease);
    let task = Task::attach(lease.url(), SupervisorOptions::task("closing"));
    framed(&task);
    let places = ["top", "/same", "/one", "/two"];
    let scripts = ["alert('once')", "for (let i = 0; i < 50; i++) alert(i)", "while (true) alert('for ever')"];
    let cases = places.into_iter().flat_map(|place| scripts.map(|script| (place, script)));
    for (place, script) in share(cases, 2) {
        {
            let target = task.open_page(&task.site.url("a", "/"), None, soon()).unwrap();
            let here = |path: &str| {
                let ends = |url: &str| if path == "top" { url.ends_with('/') } else { url.ends_with(path) };
                let now = task.until(path, |now| {
                    now.frames_of(target.as_str()).count() == 4
                        && now.frames_of(target.as_str()).any(|f| ends(&f.url) && f.session_id.is_some())
                });
                now.frames_of(target.as_str()).find(|f| ends(&f.url)).unwrap().frame_id.clone()
            };
            let frame = here(place);
            task.loaded(&FrameRef::Id(frame.clone()));
            task.run_in(&frame, script);
            let dialog = task.dialog();
            assert_eq!(dialog.frame_id, Some(frame), "{place}: {script}");
            task.close_page(&target, soon()).unwrap();
            let now = task.view();
            assert!(now.page(target.as_str()).is_none() && now.dialogs.is_empty(), "{place}: {script}");
            assert_eq!(now.frames_of(target.as_str()).count(), 0);
            let closed = now.recent.last().unwrap();
            assert!(matches!(closed.closed_by, ClosedBy::Agent | ClosedBy::Remote), "{place}: {script}: {closed:?}");
            client.call(&GetVersion::new(), soon()).expect("the browser lives");
        }
    }
    assert_eq!(task.eval("1 + 1"), 2);
    drop(task);
}

#[test]
fn a_page_with_a_beforeunload_handler_is_closed() {
    let Some(task) = Task::leased("guarded") else { return };
    framed(&task);
    let target = task.open_page(&task.site.url("a", "/"), None, soon()).unwrap();
    let page = FrameRef::TopOf(target.clone());
    task.until("all frames", |now| now.frames_of(target.as_str()).count() == 4);
    task.loaded(&page);
    task.evaluate(&page, "onbeforeunload = event => event.preventDefault()", soon()).unwrap();
    task.close_page(&target, soon()).unwrap();
    assert!(task.view().page(target.as_str()).is_none());
}

#[test]
fn stopping_closes_own_pages_and_leaves_others() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    let client = other_client(&lease);
    let before = pages(&client);
    let cases = [(true, "/one"), (true, "/same"), (false, "/one"), (true, "top")];
    for (close_own_pages, place) in share(cases, 2) {
        let adopted = client.call(&CreateTarget::new("about:blank"), soon()).unwrap().target_id;
        let pages_of = Pages::Existing(adopted.clone());
        let options = SupervisorOptions::task("stopping").pages(pages_of).close_own_pages(close_own_pages);
        let task = Task::attach(url, options);
        framed(&task);
        task.go(&task.site.url("a", "/"));
        let frame = if place == "top" { task.top() } else { task.frame(place).frame_id };
        let own = task.open_page("about:blank", None, soon()).unwrap();
        task.start_script(&FrameRef::TopOf(own.clone()), "alert('on its own page')").unwrap();
        task.run_in(&frame, "window.got = confirm('on the adopted page')");
        task.until("both dialogs", |now| now.dialogs.len() == 2);
        task.stop(soon());
        assert!(!task.is_active());
        assert_eq!(task.view().dialogs.len(), 0);
        let left = pages(&client);
        assert!(left.contains(&adopted), "an adopted page stays");
        assert_eq!(left.contains(&own), !close_own_pages, "{place}");
        assert!(before.iter().all(|target| left.contains(target)), "pages of others stay");
        assert_eq!(ask(&client, &adopted, "location.pathname"), "/", "no dialog is left in the way");
        assert_eq!(ask(&client, &adopted, "document.readyState"), "complete");
        if !close_own_pages {
            assert_eq!(ask(&client, &own, "1 + 1"), 2, "nor there");
        }
        drop(task);
        for target in [adopted, own] {
            let _ = client.call_raw("Target.closeTarget", &json!({ "targetId": target }), soon());
        }
    }
    client.call(&GetVersion::new(), soon()).expect("the browser lives");
    drop(client);
}

#[test]
fn stopping_twice_is_allowed() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    let task = Task::attach(url, SupervisorOptions::task("none").pages(Pages::None));
    assert!(task.is_active() && task.view().pages.is_empty());
    task.stop(soon());
    task.stop(soon());
    assert!(!task.is_active());
    drop(task);
    other_client(&lease).call(&GetVersion::new(), soon()).expect("the browser lives");
}

#[test]
fn pages_of_other_clients_are_left_alone() {
    let Some(lease) = Lease::take_empty() else { return };
    let client = other_client(&lease);
    let policy = DialogPolicy::AutoDismiss; // must not touch the dialogs of others
    let options = SupervisorOptions::task("neighbour").policy(policy);
    let task = Task::attach(lease.url(), options);
    task.site.page("/", "<title>foreign</title><iframe src='@b/leaf'></iframe>");
    task.site.page("/leaf", "leaf");
    let changes = client.subscribe(Watch::everything().only(&["Target.targetInfoChanged"]), Capacity::default());
    client.call(&SetDiscoverTargets::new(true), soon()).unwrap();
    let foreign = client.call(&CreateTarget::new(task.site.url("a", "/")), soon()).unwrap().target_id;
    task.site.wait_requested("b.localhost/leaf", 1);
    // Until no client is attached: a change is reported on each attach and detach.
    loop {
        let info = client.call_raw("Target.getTargetInfo", &json!({ "targetId": foreign }), soon()).unwrap();
        let info = info.value().unwrap()["targetInfo"].clone();
        if info["attached"] == false && info["url"] == task.site.url("a", "/") {
            break;
        }
        assert!(matches!(changes.next(soon()), Ok(Item::Event(_))), "still attached: {info}");
    }
    assert_eq!(task.view().pages.len(), 1);
    assert!(task.view().page(foreign.as_str()).is_none());
    assert_eq!(ask(&client, &foreign, "document.title"), "foreign");
    assert_eq!(ask(&client, &foreign, "open('about:blank') !== null"), true);
    assert_eq!(task.eval("1 + 1"), 2);
    assert_eq!(task.view().pages.len(), 1, "nor what it opens");
    drop((task, client));
}

#[test]
fn popups_of_own_pages_end_with_the_task_and_those_of_others_stay() {
    let Some(lease) = Lease::take_empty() else { return };
    let client = other_client(&lease);
    let adopted = client.call(&CreateTarget::new("about:blank"), soon()).unwrap().target_id;
    let options = SupervisorOptions::task("popups").pages(Pages::Existing(adopted.clone()));
    let task = Task::attach(lease.url(), options);
    let own = task.open_page("about:blank", None, soon()).unwrap();
    let opened = |opener: &TargetId| {
        let known = task.view().pages.len();
        task.start_script(&FrameRef::TopOf(opener.clone()), "open('about:blank')").unwrap();
        task.until("the popup", |now| now.pages.len() > known).pages.last().unwrap().target_id.clone()
    };
    let first = opened(&own);
    let of_popup = opened(&first);
    let of_adopted = opened(&adopted);
    task.stop(soon());
    let left = pages(&client);
    assert!(left.contains(&adopted) && left.contains(&of_adopted), "{left:?}");
    for gone in [&own, &first, &of_popup] {
        assert!(!left.contains(gone), "{gone} of {own}, {first}, {of_popup}");
    }
}
