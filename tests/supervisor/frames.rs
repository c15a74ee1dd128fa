//! The frame tree of a page: after attach, truncated, named.

use cdpilot::supervisor::{Frame, FrameRef, FrameTree, PageState, Pages, Supervisor, SupervisorOptions, View};
use serde_json::json;

use crate::support::chrome::{Task, soon, top_of, until};
use crate::support::lease::Lease;
use crate::support::share::rounds;
use crate::support::site::Site;

/// Three sites in one another, a frame of the same process beside each.
fn nested(site: &Site) -> String {
    site.page("/", "<iframe src='@a/same'></iframe><iframe name=outer src='@b/one'></iframe>");
    site.page("/same", "same");
    site.page("/one", "<iframe src='@b/same?b'></iframe><iframe src='@c/two'></iframe>");
    site.page("/two", "<iframe src='@a/three'></iframe><iframe src='@c/same?c'></iframe>");
    site.page("/three", "three");
    site.url("a", "/")
}

const ADDRESSES: [&str; 7] = ["/", "/same", "/one", "/same?b", "/two", "/three", "/same?c"];

/// Waits until the page above is complete.
fn complete<'a>(supervisor: &'a Supervisor, site: &Site) -> std::sync::Arc<View> {
    let _: &'a Supervisor = supervisor;
    let url = |path: &str| {
        let host = match path {
            "/one" | "/same?b" => "b",
            "/two" | "/same?c" => "c",
            _ => "a",
        };
        site.url(host, path)
    };
    until(supervisor, "seven frames", |now| {
        now.frames.len() == 7
            && ADDRESSES.iter().all(|path| now.frames.iter().any(|f| *f.url == url(path) && !f.origin.is_empty()))
    })
}

/// Address, parent's address, own process.
fn shape(now: &View) -> Vec<(String, String, bool)> {
    let path = |frame: &Frame| frame.url.splitn(4, '/').last().map(|path| format!("/{path}")).unwrap_or_default();
    let parent = |frame: &Frame| {
        let parent = frame.parent_frame_id.as_ref();
        parent.map(|id| path(now.frame(id.as_str()).expect("its parent is there"))).unwrap_or_default()
    };
    let mut all: Vec<_> = now.frames.iter().map(|frame| (path(frame), parent(frame), frame.is_oopif)).collect();
    all.sort();
    all
}

fn expected() -> Vec<(String, String, bool)> {
    let mut all = vec![
        ("/", "", false),
        ("/same", "/", false),
        ("/one", "/", true),
        ("/same?b", "/one", false),
        ("/two", "/one", true),
        ("/three", "/two", true),
        ("/same?c", "/two", false),
    ];
    all.sort_unstable();
    all.into_iter().map(|(path, parent, oopif)| (path.to_owned(), parent.to_owned(), oopif)).collect()
}

/// Every frame answers for itself.
fn all_answer(supervisor: &Supervisor, now: &View) {
    for frame in now.frames.iter() {
        let id = FrameRef::Id(frame.frame_id.clone());
        assert_eq!(supervisor.evaluate(&id, "location.href", soon()).unwrap().value, &*frame.url);
        let origin = supervisor.evaluate(&id, "self.origin", soon()).unwrap().result.value;
        assert_eq!(origin, &*frame.origin);
    }
}

#[test]
fn a_page_loaded_after_attach_has_its_full_frame_tree() {
    let Some(task) = Task::leased("seen") else { return };
    task.navigate(&FrameRef::Top, &nested(&task.site), soon()).unwrap();
    let now = complete(&task, &task.site);
    assert_eq!(shape(&now), expected());
    all_answer(&task, &now);
    let named = now.frames.iter().find(|frame| frame.url.ends_with("/one")).unwrap();
    assert_eq!(&*named.name, "outer");
}

#[test]
fn a_page_loaded_before_attach_has_its_full_frame_tree() {
    let Some(lease) = Lease::take() else { return };
    let url = lease.url();
    let task = Task::attach(url, SupervisorOptions::task("before"));
    task.navigate(&FrameRef::Top, &nested(&task.site), soon()).unwrap();
    let first = complete(&task, &task.site);
    let second = Task::second(url, "later", Pages::Existing(task.target()));
    let now = complete(&second, &task.site);
    assert_eq!(shape(&now), expected());
    assert_eq!((now.pages.len(), now.pages[0].own, now.pages[0].state), (1, false, PageState::Ready));
    assert_eq!(now.pages[0].top_frame, first.pages[0].top_frame);
    all_answer(&second, &now);
    let named = now.frames.iter().find(|frame| frame.url.ends_with("/one")).unwrap();
    assert_eq!(&*named.name, "outer");
    second.stop(soon());
    assert_eq!(task.eval("1"), 1, "the page stays");
}

#[test]
fn all_existing_pages_can_be_supervised() {
    let Some(lease) = Lease::take_empty() else { return };
    let url = lease.url();
    let one = Task::attach(url, SupervisorOptions::task("one"));
    let two = Task::attach(url, SupervisorOptions::task("two"));
    one.navigate(&FrameRef::Top, &nested(&one.site), soon()).unwrap();
    complete(&one, &one.site);
    two.site.page("/", "<title>plain</title>");
    two.go(&two.site.url("b", "/"));
    let all = Task::second(url, "all", Pages::All);
    let now = until(&all, "two pages and eight frames", |now| now.pages.len() == 2 && now.frames.len() == 8);
    assert!(now.pages.iter().all(|page| page.state == PageState::Ready && !page.own));
    let of = |task: &Task| now.frames_of(task.target().as_str()).count();
    assert_eq!((of(&one), of(&two)), (7, 1));
    let three = Task::attach(url, SupervisorOptions::task("three"));
    let now = until(&all, "a page that came later", |now| now.page(three.target().as_str()).is_some());
    assert_eq!(now.pages.len(), 3);
    assert!(one.view().pages.len() == 1 && two.view().pages.len() == 1);
    all.stop(soon());
    for task in [&one, &two, &three] {
        assert_eq!(task.eval("1"), 1, "no page was closed");
    }
    drop((one, two, three));
}

fn paths(tree: &FrameTree) -> Vec<&str> {
    tree.children.iter().map(|frame| frame.url.rsplit('/').next().unwrap_or_default()).collect()
}

#[test]
fn a_frame_tree_omits_deep_cross_process_frames() {
    let Some(task) = Task::leased("deep") else { return };
    task.navigate(&FrameRef::Top, &nested(&task.site), soon()).unwrap();
    let now = complete(&task, &task.site);
    let tree = now.frame_tree(task.target().as_str());
    let mut seen = paths(&tree);
    seen.sort_unstable();
    assert_eq!(seen, ["one", "same", "same?b", "same?c", "two"], "only the one at depth three in a process of its own");
    assert!(tree.truncated);
    let full = now.full_frame_tree(task.target().as_str());
    assert_eq!((full.children.len(), full.truncated), (6, false));
    assert!(paths(&full).contains(&"three"));
    let json = serde_json::to_value(&tree).unwrap();
    let one = json["children"].as_array().unwrap().iter().find(|frame| frame["is_oopif"] == true).unwrap();
    assert!(one["session_id"].is_string() && one["parent_frame_id"].is_string(), "{one}");
    assert_eq!(one["name"], "outer");
    let same = json["children"].as_array().unwrap().iter().find(|frame| frame["is_oopif"] == false).unwrap();
    assert!(same.get("session_id").is_none(), "{same}");
}

#[test]
fn a_frame_tree_is_truncated_at_thirty_frames() {
    let Some(task) = Task::leased("hundred") else { return };
    let many = rounds("CDPILOT_TEST_FRAMES", 40, 100);
    task.site.page(
        "/",
        &format!(
            "<script>for (let i = 0; i < {many}; i++) document.write(`<iframe src='@a/f?${{i}}'></iframe>`)</script>"
        ),
    );
    task.site.page("/f", "frame");
    task.go(&task.site.url("a", "/"));
    let now = task.until("all frames", |now| {
        now.frames.len() == many + 1
            && now.frames.iter().all(|frame| !frame.url.is_empty() && frame.session_id.is_some())
    });
    let target = task.target();
    let tree = now.frame_tree(target.as_str());
    assert_eq!((tree.children.len(), tree.truncated), (30, true));
    let numbers: Vec<String> = (0..30).map(|i| format!("f?{i}")).collect();
    assert_eq!(paths(&tree), numbers, "the first ones, in their order");
    let full = now.full_frame_tree(target.as_str());
    assert_eq!((full.children.len(), full.truncated), (many, false));
    let last = full.children.last().unwrap().frame_id.clone();
    assert_eq!(task.eval_in(&last, "location.search"), format!("?{}", many - 1));
    // Exactly thirty are not cut.
    task.eval("[...document.querySelectorAll('iframe')].slice(30).forEach(frame => frame.remove())");
    let now = task.until("thirty left", |now| now.frames.len() == 31);
    let tree = now.frame_tree(target.as_str());
    assert_eq!((tree.children.len(), tree.truncated), (30, false));
}

#[test]
fn frames_without_url_are_listed() {
    let Some(task) = Task::leased("srcdoc") else { return };
    task.site.page(
        "/",
        "<iframe name=plain srcdoc='<script>who = 1</script>'></iframe>\
         <iframe name=boxed sandbox=allow-scripts srcdoc='<script>who = 2</script>'></iframe>\
         <iframe name=empty></iframe>\
         <iframe name=blob></iframe>\
         <script>document.querySelector('[name=blob]').src = \
           URL.createObjectURL(new Blob(['<script>who = 4</' + 'script>'], { type: 'text/html' }))</script>",
    );
    task.go(&task.site.url("a", "/"));
    let get = |name: &str| task.frame_named(name);
    let urls = ["plain", "boxed", "empty", "blob"].map(|name| get(name).url.split(':').next().unwrap().to_owned());
    assert_eq!(urls, ["about", "about", "about", "blob"]);
    assert_eq!((get("plain").is_oopif, get("boxed").is_oopif), (false, true));
    assert_eq!((&*get("boxed").origin, &*get("plain").origin), ("null", &*get("blob").origin));
    for (name, who) in [("plain", json!(1)), ("boxed", json!(2)), ("blob", json!(4))] {
        assert_eq!(task.eval_in(&get(name).frame_id, "who"), who);
        assert_eq!(task.eval_in(&get(name).frame_id, "self.origin"), &*get(name).origin, "{name}");
    }
    assert_eq!(task.eval_in(&get("empty").frame_id, "typeof who"), "undefined");
    task.run_in(&get("boxed").frame_id, "parent.postMessage('ignored', '*'); document.title = 'boxed'");
    assert_eq!(task.eval_in(&get("boxed").frame_id, "document.title"), "boxed");
}

#[test]
fn a_frame_of_a_loading_page_is_listed_before_its_response() {
    let Some(task) = Task::leased("held") else { return };
    let held = crate::support::site::Held::default();
    task.site.page("/", "<iframe src='@a/slow'></iframe><iframe src='@b/slow'></iframe><p id=end>");
    task.site.put("/slow", crate::support::site::Answer::html("<title>slow</title>").held_by(&held));
    task.navigate(&FrameRef::Top, &task.site.url("a", "/"), soon()).unwrap();
    task.site.wait_requested("a.localhost/slow", 1);
    task.site.wait_requested("b.localhost/slow", 1);
    let now = task.until("both frames", |now| now.frames.len() == 3);
    assert!(top_of(&now).is_some());
    assert_eq!(task.eval("document.readyState"), "interactive", "the page answers meanwhile");
    held.release();
    for host in ["a", "b"] {
        let frame = task.frame(&task.site.url(host, "/slow"));
        assert_eq!(frame.is_oopif, host == "b");
        assert_eq!(task.eval_in(&frame.frame_id, "document.title"), "slow");
    }
}
