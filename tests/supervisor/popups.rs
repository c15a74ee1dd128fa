//! Popups.

use cdpilot::cdp::protocol::target::TargetId;
use cdpilot::supervisor::DialogAnswer::Dismiss;
use cdpilot::supervisor::{EventKind, FrameRef, PageState, PageView};
use serde_json::{Value, json};

use crate::support::chrome::{ACCEPT, Task, blocking, soon, text};

/// Waits for the page that is not the first.
fn popup(task: &Task) -> PageView {
    let first = task.target();
    let is_new = |page: &&PageView| page.target_id != first && page.state == PageState::Ready;
    let now = task.until("a second page", |now| now.pages.iter().any(|page| is_new(&page)));
    now.pages.iter().find(is_new).unwrap().clone()
}

fn eval(task: &Task, page: &TargetId, script: &str) -> Value {
    task.evaluate(&FrameRef::TopOf(page.clone()), script, soon()).unwrap().result.value
}

#[test]
fn a_popup_belongs_to_the_task() {
    let Some(task) = Task::leased("popup") else { return };
    task.site.page("/", "<a target=_blank href='@b/other'>open</a>");
    task.site.page("/other", "<title>other</title><iframe src='@c/leaf'></iframe>");
    task.site.page("/leaf", "leaf");
    task.go(&task.site.url("a", "/"));
    let first = task.target();
    for (script, has_opener) in [
        (format!("window.open('{}') !== null", task.site.url("b", "/other")), true),
        (format!("window.open('{}', '_blank', 'noopener') === null", task.site.url("b", "/other")), false),
        ("document.querySelector('a').click(), true".to_owned(), false),
    ] {
        assert_eq!(eval(&task, &first, &script), true, "the opener goes on at once: {script}");
        let page = popup(&task);
        assert_eq!((page.opener.as_ref(), page.own), (Some(&first), false), "{script}");
        let target = page.target_id.clone();
        let url = task.site.url("b", "/other");
        task.until(&url, |now| now.page(target.as_str()).is_some_and(|page| *page.url == url));
        task.until("its frames", |now| now.frames_of(target.as_str()).count() == 2);
        assert_eq!(eval(&task, &target, "location.pathname"), "/other");
        assert_eq!(eval(&task, &target, "window.opener !== null"), has_opener, "{script}");
        assert_eq!(task.eval("location.pathname"), "/", "the page that the task began with is the one that is meant");
        task.close_page(&target, soon()).unwrap();
        let now = task.view();
        assert!(now.pages.len() == 1 && now.frames.len() == 1, "{now:?}");
    }
    let kinds: Vec<EventKind> = task.log().since(0, 1000).entries.iter().map(|entry| entry.kind()).collect();
    let count = |kind: EventKind| kinds.iter().filter(|k| **k == kind).count();
    assert_eq!((count(EventKind::TabOpened), count(EventKind::TabClosed)), (4, 3));
}

#[test]
fn a_call_on_a_popup_names_the_dialog_of_its_opener() {
    let Some(task) = Task::leased("opener-asks") else { return };
    task.site.page("/", "opener");
    task.site.page("/pop", "<title>popup</title>");
    task.go(&task.site.url("a", "/"));
    // Both are in one process, which the dialog blocks.
    task.run(&format!("window.open('{}'); alert('wait')", task.site.url("a", "/pop")));
    let dialog = task.dialog();
    let now = task.until("the popup", |now| now.pages.len() == 2);
    let popup = now.pages[1].target_id.clone();
    assert_eq!(blocking(task.evaluate(&FrameRef::TopOf(popup.clone()), "1", soon())), [dialog.id.to_string()]);
    task.answer(ACCEPT);
    task.until("its document", |now| now.page(popup.as_str()).is_some_and(|page| &*page.title == "popup"));
    assert_eq!(eval(&task, &popup, "document.title"), "popup");
}

#[test]
fn a_dialog_of_an_opening_popup_is_answered() {
    let Some(task) = Task::leased("asking-popup") else { return };
    task.site.page("/", "opener");
    task.site
        .page("/asks", "<script>got = [String(alert('one')), confirm('two'), prompt('three', 'x')]</script><p id=end>");
    task.go(&task.site.url("a", "/"));
    let first = task.target();
    for (host, features) in [("a", ""), ("b", ""), ("a", "noopener"), ("b", "noopener")] {
        let url = task.site.url(host, "/asks");
        let script = format!("window.open('{url}', '_blank', '{features}'), 1");
        task.start_script(&FrameRef::TopOf(first.clone()), &script).unwrap();
        let one = task.dialog_saying("one");
        assert_ne!(one.target_id, first);
        assert_eq!(task.view().dialogs.len(), 1);
        let page = FrameRef::TopOf(one.target_id.clone());
        blocking(task.evaluate(&page, "1", soon()));
        task.respond(Some(&one.id), Dismiss, soon()).unwrap();
        task.respond(Some(&task.dialog_saying("two").id), ACCEPT, soon()).unwrap();
        task.respond(Some(&task.dialog_saying("three").id), text("y"), soon()).unwrap();
        task.loaded(&page);
        let got = task.evaluate(&page, "[...got, !!document.querySelector('#end')]", soon()).unwrap().result.value;
        assert_eq!(got, json!(["undefined", true, "y", true]), "{host} {features}");
        task.close_page(&one.target_id, soon()).unwrap();
    }
    assert_eq!(eval(&task, &first, "1 + 1"), 2);
}

#[test]
fn a_popup_of_a_cross_process_frame_belongs_to_the_task() {
    let Some(task) = Task::leased("frame-popup") else { return };
    task.site.page("/", "<iframe src='@b/inner'></iframe>");
    task.site.page("/inner", "inner");
    task.site.page("/asks", "<script>got = confirm('sure?')</script>");
    task.go(&task.site.url("a", "/"));
    let inner = task.frame("/inner").frame_id;
    for features in ["", "noopener"] {
        let url = task.site.url("c", "/asks");
        task.run_in(&inner, &format!("window.open('{url}', '_blank', '{features}')"));
        let dialog = task.dialog_saying("sure?");
        task.answer(ACCEPT);
        assert_eq!(eval(&task, &dialog.target_id, "got"), true);
        task.close_page(&dialog.target_id, soon()).unwrap();
    }
}

#[test]
fn a_popup_may_close_itself() {
    let Some(task) = Task::leased("closes-itself") else { return };
    task.site.page("/", "opener");
    task.site.page("/other", "other");
    task.go(&task.site.url("a", "/"));
    let first = task.target();
    for _ in 0..3 {
        let url = task.site.url("a", "/other");
        eval(&task, &first, &format!("popup = window.open('{url}'), 1"));
        let page = popup(&task);
        task.until("the other page", |now| now.page(page.target_id.as_str()).is_some_and(|p| *p.url == url));
        task.start_script(&FrameRef::TopOf(first.clone()), "popup.close()").unwrap();
        task.until("one page", |now| now.pages.len() == 1);
    }
    // A page that closes itself with its dialog open takes the dialog along.
    task.run("popup = window.open('about:blank'); popup.setTimeout('confirm(1)', 0); 1");
    let dialog = task.dialog();
    task.close_page(&dialog.target_id, soon()).unwrap();
    let now = task.view();
    assert!(now.dialogs.is_empty() && now.recent.last().unwrap().dialog.id == dialog.id);
}

#[test]
fn pages_of_the_task_are_opened_and_closed() {
    let Some(task) = Task::leased("own-pages") else { return };
    task.site.page("/", "<title>mine</title>");
    let mut open = Vec::new();
    for n in 0..5 {
        let url = task.site.url("a", &format!("/?{n}"));
        let target = task.open_page(&url, None, soon()).unwrap();
        let now = task.view();
        let page = now.page(target.as_str()).expect("in the view when the call returns");
        assert_eq!((page.state, page.own), (PageState::Ready, true));
        open.push((target, url));
    }
    for (target, url) in &open {
        task.until(url, |now| now.page(target.as_str()).is_some_and(|page| *page.url == **url));
        task.loaded(&FrameRef::TopOf(target.clone()));
        assert_eq!(eval(&task, target, "location.href"), url.as_str());
    }
    for (target, _) in &open {
        task.close_page(target, soon()).unwrap();
        assert!(task.view().page(target.as_str()).is_none());
    }
    let context = cdpilot::supervisor::Error::PageNotFound { target: open[0].0.to_string() };
    assert_eq!(task.close_page(&open[0].0, soon()).unwrap_err().to_string(), context.to_string());
    let bad = task.open_page("about:blank", Some("F00D".into()), soon()).unwrap_err();
    assert!(matches!(bad, cdpilot::supervisor::Error::Cdp(_)), "{bad:?}");
}
