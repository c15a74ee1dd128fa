//! Workers and console messages.

use cdpilot::cdp::protocol::page::FrameId;
use cdpilot::supervisor::{ConsoleEntry, ConsoleLevel, EventKind, FrameRef};
use serde_json::json;

use crate::support::chrome::{Task, soon};
use crate::support::site::Answer;

#[test]
fn pages_with_workers_work() {
    let Some(task) = Task::leased("workers") else { return };
    task.site.page("/", "page");
    task.site.put(
        "/worker.js",
        Answer::script(
            "onmessage = event => {
            const inner = new Worker('/inner.js');
            inner.onmessage = reply => postMessage([event.data, reply.data]);
            inner.postMessage('ping');
        };
        console.log('worker says hello')",
        ),
    );
    task.site.put("/inner.js", Answer::script("onmessage = event => postMessage(event.data + ' pong')"));
    task.site.put("/shared.js", Answer::script("onconnect = event => event.ports[0].postMessage('shared')"));
    task.go(&task.site.url("a", "/"));
    let talk = "new Promise((done, fail) => {
        const worker = new Worker('/worker.js');
        worker.onerror = () => fail(new Error('worker'));
        worker.onmessage = event => { worker.terminate(); done(event.data) };
        worker.postMessage('start');
    })";
    for _ in 0..3 {
        assert_eq!(task.eval(talk), json!(["start", "ping pong"]));
    }
    let shared = "new Promise(done => new SharedWorker('/shared.js').port.onmessage = event => done(event.data))";
    assert_eq!(task.eval(shared), "shared");
    let now = task.until("the worker's message", |now| now.console.iter().any(|e| &*e.text == "worker says hello"));
    let said = now.console.iter().find(|entry| &*entry.text == "worker says hello").unwrap();
    assert_eq!((said.frame_id.as_ref(), &said.target_id), (None, &task.target()));
    assert_eq!(now.frames.len(), 1, "a worker is no frame");
    // A worker may be blocked.
    task.eval("stuck = new Worker(URL.createObjectURL(new Blob(['while (true);']))), 1");
    assert_eq!(task.eval("1 + 1"), 2);
    task.eval("stuck.terminate()");
}

#[test]
fn cross_process_frames_with_workers_work() {
    let Some(task) = Task::leased("frame-workers") else { return };
    task.site.page("/", "<iframe src='@b/inner'></iframe>");
    task.site.page("/inner", "inner");
    task.site.put("/worker.js", Answer::script("postMessage('there')"));
    task.go(&task.site.url("a", "/"));
    let inner = task.frame("/inner").frame_id;
    let talk = "new Promise(done => new Worker('/worker.js').onmessage = event => done(event.data))";
    assert_eq!(task.eval_in(&inner, talk), "there");
}

#[test]
fn pages_with_service_workers_work() {
    let Some(task) = Task::leased("service-worker") else { return };
    task.site.page("/", "page");
    task.site.put(
        "/service.js",
        Answer::script(
            "oninstall = () => skipWaiting();
        onactivate = event => event.waitUntil(clients.claim());
        onfetch = event => {
            if (event.request.url.endsWith('/made-up')) event.respondWith(new Response('by the worker'));
        }",
        ),
    );
    task.go(&task.site.url("l", "/"));
    let register = "(async () => {
        const taken = new Promise(done => navigator.serviceWorker.oncontrollerchange = done);
        await navigator.serviceWorker.register('/service.js');
        await navigator.serviceWorker.ready;
        await taken;
        return (await fetch('/made-up')).text();
    })()";
    assert_eq!(task.eval(register), "by the worker");
    task.go(&task.site.url("l", "/?again"));
    assert_eq!(task.eval("fetch('/made-up').then(answer => answer.text())"), "by the worker");
    let away = "navigator.serviceWorker.getRegistrations().then(all => Promise.all(all.map(one => one.unregister())))";
    assert_eq!(task.eval(away), json!([true]));
}

/// A page with a frame of its own process and one of another.
fn two_frames(task: &Task) -> [FrameId; 3] {
    task.site.page("/", "<iframe src='@a/x'></iframe><iframe src='@b/y'></iframe>");
    task.site.page("/x", "x");
    task.site.page("/y", "y");
    task.go(&task.site.url("a", "/"));
    [task.top(), task.frame("/x").frame_id, task.frame("/y").frame_id]
}

/// Waits for the message with this text.
fn said(task: &Task, text: &str) -> ConsoleEntry {
    let now = task.until(text, |now| now.console.iter().any(|entry| &*entry.text == text));
    now.console.iter().find(|entry| &*entry.text == text).unwrap().clone()
}

#[test]
fn console_messages_have_level_and_frame() {
    let Some(task) = Task::leased("levels") else { return };
    let frames = two_frames(&task);
    for (number, frame) in frames.iter().enumerate() {
        for (call, level) in [
            ("log", ConsoleLevel::Log),
            ("info", ConsoleLevel::Log),
            ("debug", ConsoleLevel::Log),
            ("warn", ConsoleLevel::Warning),
            ("error", ConsoleLevel::Error),
        ] {
            let text = format!("{call} from {number}");
            task.eval_in(frame, &format!("console.{call}('{text}')"));
            let entry = said(&task, &text);
            assert_eq!((entry.level, entry.frame_id.as_ref(), &entry.target_id), (level, Some(frame), &task.target()));
        }
        task.eval_in(frame, &format!("console.assert(false, 'assert {number}')"));
        assert_eq!(said(&task, &format!("Assertion failed: assert {number}")).level, ConsoleLevel::Error);
        task.eval_in(frame, &format!("setTimeout(function late() {{ throw new Error('thrown {number}') }}, 0)"));
        let now = task.until("the exception", |now| {
            now.console.iter().any(|entry| entry.text.contains(&format!("thrown {number}")))
        });
        let entry = now.console.last().unwrap();
        assert_eq!((entry.level, entry.frame_id.as_ref()), (ConsoleLevel::Exception, Some(frame)));
        assert!(entry.text.starts_with("Error: thrown"), "{entry:?}");
        task.eval_in(frame, &format!("Promise.reject(new Error('rejected {number}')), 1"));
        task.until("the rejection", |now| {
            now.console.last().is_some_and(|entry| {
                entry.text.contains(&format!("rejected {number}")) && entry.level == ConsoleLevel::Exception
            })
        });
    }
}

#[test]
fn console_messages_are_formatted_as_displayed() {
    let Some(task) = Task::leased("texts") else { return };
    task.site.page("/", "<script>\n  console.log('from a file')</script>");
    task.go(&task.site.url("a", "/"));
    let entry = said(&task, "from a file");
    assert_eq!(entry.url.as_deref(), Some(&*task.site.url("a", "/")));
    assert_eq!((entry.line, entry.column), (Some(1), Some(10)));
    assert!(entry.timestamp > 1_600_000_000.0, "Unix seconds");
    task.eval("console.log('text', 1.5, true, null, 'last')");
    said(&task, "text 1.5 true null last");
    task.eval("console.log(undefined, NaN, -0, 12n)");
    said(&task, "undefined NaN -0 12n");
    task.eval("console.log({ a: 1 }, [1, 2], document.body, Symbol('s'))");
    said(&task, "{a: 1} (2) [1, 2] body Symbol(s)");
    task.eval("console.log('🦀'.repeat(100000))");
    let now = task.until("the long one", |now| now.console.last().is_some_and(|entry| entry.text.starts_with('🦀')));
    let length = now.console.last().unwrap().text.len();
    assert!((1000..=5000).contains(&length), "{length}");
    let json = serde_json::to_value(now.console.last().unwrap()).unwrap();
    assert_eq!(json["level"], "log");
}

#[test]
fn the_last_fifty_console_messages_are_kept() {
    let Some(task) = Task::leased("fifty") else { return };
    task.eval("for (let i = 0; i < 130; i++) console.log('message ' + i)");
    let now = task.until("the last one", |now| now.console.last().is_some_and(|e| &*e.text == "message 129"));
    assert_eq!(now.console.len(), 50);
    assert_eq!(&*now.console[0].text, "message 80");
    let tail = task.log().since(0, 10_000);
    let logged = tail.entries.iter().filter(|entry| entry.kind() == EventKind::Console).count();
    assert_eq!((logged, tail.lost), (130, 0), "the event log keeps more");
}

#[test]
fn a_flood_of_console_messages_delays_nothing() {
    let Some(task) = Task::leased("flood") else { return };
    task.eval("window.flood = setInterval(() => { for (let i = 0; i < 500; i++) console.log('flood ' + i) }, 0)");
    task.until("the flood", |now| now.console.len() == 50);
    for n in 0..crate::support::share::rounds("CDPILOT_TEST_ROUNDS", 2, 5) {
        task.run(&format!("window.got = confirm('under the flood {n}')"));
        task.dialog_saying(&format!("under the flood {n}"));
        task.respond(None, crate::support::chrome::ACCEPT, soon()).unwrap();
        assert_eq!(task.evaluate(&FrameRef::Top, "window.got", soon()).unwrap().value, true);
    }
    task.eval("clearInterval(window.flood)");
    task.eval("console.log('dry')");
    task.until("the end", |now| now.console.last().is_some_and(|entry| &*entry.text == "dry"));
}
