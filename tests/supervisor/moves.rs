//! The frame tree while a page changes: frames come, go and move between processes.
#![allow(clippy::print_stdout)] // figures, for whoever asks with --nocapture

use cdpilot::cdp::protocol::page::FrameId;
use cdpilot::supervisor::{FrameRef, LogEvent, View};
use serde_json::json;

use crate::support::chrome::{Task, soon};
use crate::support::share::{rounds, share};

/// A page with a frame of its own process and one of another.
fn two_frames(task: &Task) -> [FrameId; 2] {
    task.site.page("/", "<iframe name=x src='@a/x'></iframe><iframe name=y src='@b/y'></iframe>");
    for name in ["x", "y", "z"] {
        task.site.page(&format!("/{name}"), &format!("<script>who = '{name}'</script>"));
    }
    task.site.page("/next", "<script>who = 'next'</script><iframe name=z src='@c/z'></iframe>");
    task.go(&task.site.url("a", "/"));
    ["/x", "/y"].map(|path| task.frame(path).frame_id)
}

fn paths(now: &View) -> Vec<String> {
    let path = |url: &str| url.rsplit('/').next().unwrap_or_default().to_owned();
    let mut all: Vec<String> = now.frames.iter().map(|frame| path(&frame.url)).collect();
    all.sort();
    all
}

fn has(now: &View, expected: &[&str]) -> bool {
    paths(now) == expected && now.frames.iter().all(|frame| frame.session_id.is_some())
}

#[test]
fn a_removed_frame_is_gone() {
    let Some(task) = Task::leased("removed") else { return };
    let [x, y] = two_frames(&task);
    for (frame, name, left) in [(y, "y", 2), (x, "x", 1)] {
        task.eval(&format!("document.querySelector('[name={name}]').remove()"));
        let now = task.until("one frame less", |now| now.frames.len() == left);
        assert!(now.frame(frame.as_str()).is_none());
        let error = task.evaluate(&FrameRef::Id(frame.clone()), "1", soon()).unwrap_err();
        assert!(error.to_string().contains(frame.as_str()), "{error}");
    }
    let tree = task.view().frame_tree(task.target().as_str());
    assert_eq!((tree.children.len(), tree.truncated), (0, false));
}

#[test]
fn a_removed_frame_takes_its_children_along() {
    let Some(task) = Task::leased("subtree") else { return };
    task.site.page("/", "<iframe src='@b/one'></iframe>");
    task.site.page("/one", "<iframe src='@c/two'></iframe><iframe src='@b/leaf'></iframe>");
    task.site.page("/two", "<iframe src='@a/leaf?a'></iframe><iframe src='@c/leaf?c'></iframe>");
    task.site.page("/leaf", "leaf");
    task.go(&task.site.url("a", "/"));
    for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 2, 3) {
        task.until("the whole tree", |now| has(now, &["", "leaf", "leaf?a", "leaf?c", "one", "two"]));
        task.eval("frame = document.querySelector('iframe'); frame.remove()");
        task.until("the top frame alone", |now| has(now, &[""]));
        task.eval("document.body.append(frame)");
    }
}

#[test]
fn a_frame_keeps_its_id_while_it_moves_between_processes() {
    let Some(task) = Task::leased("moving") else { return };
    let [x, y] = two_frames(&task);
    for round in 0..rounds("CDPILOT_TEST_ROUNDS", 1, 3) {
        for (host, path, oopif) in [("b", "/y?", true), ("a", "/x?", false), ("c", "/z?", true), ("b", "/z?", true)] {
            for frame in [&x, &y] {
                let name = if *frame == x { "x" } else { "y" };
                let url = task.site.url(host, &format!("{path}{round}{name}"));
                task.eval(&format!("document.querySelector('[name={name}]').src = '{url}'"));
                task.until(&url, |now| {
                    now.frame(frame.as_str()).is_some_and(|f| *f.url == url && f.session_id.is_some())
                });
                let moved = task.frame(&url);
                assert_eq!((&moved.frame_id, moved.is_oopif), (frame, oopif), "{url}");
                assert_eq!(&*moved.origin, task.site.url(host, "").as_str());
                assert_eq!(task.eval_in(frame, "[location.href, who]"), json!([url, path[1..2]]));
            }
        }
    }
    assert_eq!(task.view().frames.len(), 3);
}

#[test]
fn a_navigation_replaces_all_frames() {
    let Some(task) = Task::leased("top") else { return };
    let [x, y] = two_frames(&task);
    let top = task.top();
    for host in share(["a", "b", "a"], 2) {
        task.go(&task.site.url(host, "/next"));
        let now = task.until("the new frames", |now| has(now, &["next", "z"]));
        assert!(now.frame(x.as_str()).is_none() && now.frame(y.as_str()).is_none());
        assert_eq!(task.eval_in(&task.frame("/z").frame_id, "who"), "z");
        assert_eq!(task.top(), top, "a page's top frame keeps its id");
        assert_eq!(task.eval("who"), "next");
        task.go(&task.site.url(host, "/"));
        task.until("the old ones", |now| has(now, &["", "x", "y"]));
    }
}

#[test]
fn going_back_and_forward_restores_the_frames() {
    let Some(task) = Task::leased("back") else { return };
    two_frames(&task);
    task.eval("addEventListener('pageshow', event => console.log(event.persisted ? 'kept' : 'anew')); mark = 7");
    task.go(&task.site.url("b", "/next"));
    task.until("the next page", |now| has(now, &["next", "z"]));
    for _ in 0..rounds("CDPILOT_TEST_ROUNDS", 1, 3) {
        task.run("history.back()");
        task.until("back", |now| has(now, &["", "x", "y"]));
        for (path, who) in [("/x", "x"), ("/y", "y")] {
            assert_eq!(task.eval_in(&task.frame(path).frame_id, "who"), who);
        }
        assert!(task.frame("/y").is_oopif);
        assert_eq!(task.eval("location.pathname"), "/");
        task.run("history.forward()");
        task.until("forward", |now| has(now, &["next", "z"]));
        assert_eq!(task.eval_in(&task.frame("/z").frame_id, "who"), "z");
        assert_eq!(task.eval("who"), "next");
    }
    task.run("history.back()");
    task.until("back", |now| has(now, &["", "x", "y"]));
    println!("the first page was kept by Chromium: {}", task.eval("typeof mark !== 'undefined'"));
}

#[test]
fn a_same_document_navigation_keeps_the_document() {
    let Some(task) = Task::leased("within") else { return };
    let [x, y] = two_frames(&task);
    task.eval("mark = 7; history.pushState({}, '', '/pushed?1')");
    let now = task.until("the new address", |now| now.pages[0].url.ends_with("/pushed?1"));
    assert_eq!(&*now.frame(task.top().as_str()).unwrap().url, task.site.url("a", "/pushed?1"));
    assert_eq!(now.frames.len(), 3, "no frame is lost");
    task.eval("location.hash = 'part'");
    task.until("the fragment", |now| now.pages[0].url.ends_with("/pushed?1#part"));
    for (frame, host, path) in [(x, "a", "/x"), (y, "b", "/y")] {
        task.eval_in(&frame, "history.replaceState({}, '', location.pathname + '#inner')");
        let url = task.site.url(host, &format!("{path}#inner"));
        task.until(&url, |now| now.frame(frame.as_str()).is_some_and(|f| *f.url == url));
    }
    assert_eq!(task.eval("[mark, location.hash]"), json!([7, "#part"]));
    assert!(task.view().pages[0].url.ends_with("/pushed?1#part"), "a frame's address is not the page's");
    let within = task
        .log()
        .since(0, 1000)
        .entries
        .into_iter()
        .filter(|entry| matches!(&*entry.event, LogEvent::Navigated { same_document: true, .. }));
    assert_eq!(within.count(), 4);
}

#[test]
fn the_url_of_a_new_document_includes_its_fragment() {
    let Some(task) = Task::leased("fragment") else { return };
    two_frames(&task);
    let url = task.site.url("b", "/next#there");
    task.navigate(&FrameRef::Top, &url, soon()).unwrap();
    task.until("the address", |now| *now.pages[0].url == url);
    let now = task.until("the frame", |now| has(now, &["next#there", "z"]));
    assert_eq!(&*now.frame(task.top().as_str()).unwrap().url, url);
}

#[test]
fn a_page_has_title_and_url() {
    let Some(task) = Task::leased("title") else { return };
    task.site.page("/", "<title>first</title>");
    task.go(&task.site.url("a", "/"));
    task.until("the title", |now| &*now.pages[0].title == "first");
    task.eval("document.title = 'second'; location.hash = 'part'");
    let url = task.site.url("a", "/#part");
    task.until("the new title and address", |now| &*now.pages[0].title == "second" && *now.pages[0].url == url);
}

#[test]
fn short_lived_frames_leave_no_trace() {
    let Some(task) = Task::leased("churn") else { return };
    two_frames(&task);
    let site = &task.site;
    let many = rounds("CDPILOT_TEST_FRAMES", 12, 40);
    let script = format!(
        "(async () => {{
            for (let i = 0; i < {many}; i++) {{
                const frame = document.createElement('iframe');
                frame.src = (i % 2 ? '{}' : '{}') + '?' + i;
                document.body.append(frame);
                if (i % 4 < 2) await new Promise(done => frame.onload = done);
                frame.remove();
            }}
            return document.querySelectorAll('iframe').length;
        }})()",
        site.url("a", "/x"),
        site.url("c", "/z")
    );
    assert_eq!(task.eval(&script), 2);
    let now = task.until("the two that stay", |now| has(now, &["", "x", "y"]));
    assert_eq!(now.frames.len(), 3);
}
