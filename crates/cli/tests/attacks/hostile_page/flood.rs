//! A page that tries to exhaust the browser, the server or the reader of its answers.

use serde_json::{Value, json};

use super::super::{Attack, Row, rows, run_some};
use crate::support::api::TestServer;

/// Opens a page of the site in a tab, all others but one closed: its target id.
fn show(on: &TestServer, html: &str) -> String {
    for _ in 0..20 {
        let response = on.api.get("/tabs").ok();
        let tabs = response["tabs"].as_array().unwrap();
        if tabs.len() < 2 {
            break;
        }
        for tab in &tabs[1..] {
            on.api.delete(&format!("/tabs/{}", tab["targetId"].as_str().unwrap()));
        }
    }
    on.site.page("/", html);
    on.open("/")
}

fn close(on: &TestServer, tab: &str) -> Result<(), String> {
    let closed = on.api.delete(&format!("/tabs/{tab}"));
    if closed.status == 200 { Ok(()) } else { Err(format!("the tab cannot be closed: {}", closed.text)) }
}

/// Whether another tab works.
fn works(on: &TestServer, what: &str) -> Result<(), String> {
    on.site.page("/next", "<title>next</title><button onclick='document.title = \"clicked\"'>Next</button>");
    let tab = on.open("/next");
    let response = on.api.act(&json!({ "kind": "click", "selector": "button", "targetId": tab }));
    let title = on.api.act(&json!({ "kind": "evaluate", "fn": "document.title", "targetId": tab }));
    let text = format!("{} {}", response.text, title.text);
    close(on, &tab)?;
    if response.status == 200 && title.text.contains("clicked") { Ok(()) } else { Err(format!("after {what}: {text}")) }
}

fn act(on: &TestServer, tab: &str, script: &str) -> Value {
    on.api.act(&json!({ "kind": "evaluate", "fn": script, "targetId": tab })).json()
}

const AFTER: &str = "another tab that does not work afterwards, or a tab that cannot be closed";

const ATTACKS: [Attack<TestServer>; 9] = [
    Attack {
        name: "opens popups in a loop, at a click and by timers, also from popups",
        witness: "more tabs than browser.tabs.max; that many open",
        run: |on| {
            on.site.page("/pop", "<script>for (let i = 0; i < 5; i++) open('/pop')</script>");
            let tab = show(
                on,
                "<button onclick=\"for (let i = 0; i < 30; i++) window.open('/pop')\">x</button><script>setInterval(() => open('/pop'), 5)</script>",
            );
            for _ in 0..2 {
                let click = json!({ "kind": "click", "selector": "button", "targetId": tab, "timeoutMs": 30_000 });
                let response = on.api.act(&click);
                // Behind its popups the page does not get the press.
                assert!(response.status == 200 || response.json()["code"] == "NOT_ACTIONABLE", "{}", response.text);
                let tabs = on.api.get("/tabs").ok()["tabs"].as_array().unwrap().len();
                assert!(tabs > 1, "no popup opens");
                if tabs > 6 {
                    return Err(format!("{tabs} tabs"));
                }
            }
            act(on, &tab, "for (let i = 1; i < 1000; i++) clearInterval(i)");
            let tab = show(on, "<p>page");
            close(on, &tab)?;
            works(on, "popups")
        },
    },
    Attack {
        name: "shows dialogs in an endless loop, in its frames too",
        witness: AFTER,
        run: |on| {
            on.site.page("/loop", "<script>setTimeout(() => { for (;;) confirm('inner') })</script>");
            let tab = show(
                on,
                "<iframe src='@b/loop'></iframe><iframe src='/loop'></iframe><script>setTimeout(() => { for (;;) alert('again') }, 100)</script>",
            );
            on.api.until("a dialog", "/dialogs", |response| response["pending_dialogs"][0].is_object());
            for _ in 0..5 {
                let response =
                    on.api.until("the next dialog", "/dialogs", |response| response["pending_dialogs"][0].is_object());
                let id = response["pending_dialogs"][0]["id"].clone();
                on.api.post("/hooks/dialog", &json!({ "accept": true, "dialogId": id, "targetId": tab }));
            }
            works(on, "dialogs")?;
            close(on, &tab)
        },
    },
    Attack {
        name: "shows a beforeunload dialog, and another one after each answer",
        witness: AFTER,
        run: |on| {
            let tab = show(
                on,
                "<button>x</button><script>addEventListener('beforeunload', event => { event.preventDefault(); event.returnValue = 'stay'; setTimeout(() => location.reload()); setTimeout(() => location = '/?again') })</script>",
            );
            on.api.act(&json!({ "kind": "click", "selector": "button", "targetId": tab })).ok();
            let url = on.site.url("a", "/elsewhere");
            on.site.page("/elsewhere", "<title>elsewhere</title>");
            let gone = on.api.post("/navigate", &json!({ "url": url, "targetId": tab })).json();
            assert!(gone["blockedByDialog"] == true || gone["ok"] == true, "{gone}");
            on.api.post("/navigate", &json!({ "url": url, "targetId": tab, "dismissDialogs": true }));
            works(on, "beforeunload")?;
            close(on, &tab)
        },
    },
    Attack {
        name: "writes 30,000 messages to the console, and errors with long stacks",
        witness: "a list of messages above its limit, or another tab that does not work; messages are listed",
        run: |on| {
            let tab = show(on, "<p>page");
            act(
                on,
                &tab,
                "for (let i = 0; i < 3e4; i++) console.log('m'.repeat(100) + i); for (let i = 0; i < 200; i++) setTimeout(() => { throw new Error('e'.repeat(1e4)) }); 1",
            );
            let response = on.api.get(&format!("/console?targetId={tab}")).ok();
            let count = response["messages"].as_array().unwrap().len();
            assert!(count > 0, "{response}");
            works(on, "messages")?;
            close(on, &tab)?;
            if count <= 1_000 { Ok(()) } else { Err(format!("{count} messages")) }
        },
    },
    Attack {
        name: "contains 30,000 elements, 500 nested levels and a title of 3 MB",
        witness: "a snapshot above its limit; it shows some of the elements",
        run: |on| {
            let tab = show(on, "<body>");
            act(
                on,
                &tab,
                "document.body.innerHTML = '<button>many</button>'.repeat(3e4); let at = document.body; for (let i = 0; i < 500; i++) { const inner = document.createElement('div'); inner.role = 'group'; inner.ariaLabel = 'deep'; at.append(inner); at = inner } document.title = 't'.repeat(3e6); 1",
            );
            let response = on.api.get(&format!("/snapshot?targetId={tab}&timeoutMs=60000")).ok();
            let text = response["snapshot"].as_str().unwrap();
            assert!(text.contains("many"), "{text}");
            works(on, "elements")?;
            close(on, &tab)?;
            if text.chars().count() <= 40_000 { Ok(()) } else { Err(format!("{} characters", text.len())) }
        },
    },
    Attack {
        name: "changes its address, its title and its frames thousands of times, then closes itself",
        witness: AFTER,
        run: |on| {
            let opener = show(on, "<p>opener");
            on.site.page("/busy", "<script>
                for (let i = 0; i < 1000; i++) { try { history.replaceState(null, '', '?' + i) } catch { } document.title = i }
                for (let i = 0; i < 300; i++) { const f = document.createElement('iframe'); f.name = 'f' + i; document.documentElement.append(f); f.remove() }
                close()</script>");
            act(on, &opener, "window.open('/busy'); 1");
            on.site.wait_requested("a.localhost/busy", 1);
            on.api.until("the popup's end", "/tabs", |response| {
                !response["tabs"].as_array().unwrap().iter().any(|tab| tab["url"].as_str().unwrap().contains("/busy"))
            });
            works(on, "changes")?;
            close(on, &opener)
        },
    },
    Attack {
        name: "starts 60 downloads with names like .., devices, links and invisible characters",
        witness: "a file in another folder or with an unsafe name; files appear in downloads/",
        run: |on| {
            let tab = show(on, "<p>page");
            act(
                on,
                &tab,
                r"const names = ['../../up.txt', '..\\..\\up.txt', '/tmp/up.txt', '.bashrc', 'a\u202etxt.exe', 'a\u200b.txt', 'CON', 'nul.txt', 'x'.repeat(500) + '.txt', '\u0000x', '~', '-rf', '$(id).txt', 'a\nb.txt', '%2e%2e%2fup.txt'];
                for (let i = 0; i < 60; i++) { const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'])); a.download = names[i % names.length]; a.click() } 1",
            );
            let folder = on.home.root().join("downloads");
            let files = || -> Vec<String> {
                let all = std::fs::read_dir(&folder).into_iter().flatten().flatten();
                all.filter(|entry| entry.file_type().unwrap().is_file())
                    .map(|entry| entry.file_name().to_string_lossy().into_owned())
                    .collect()
            };
            on.api.post("/wait/download", &json!({ "targetId": tab, "timeoutMs": 20_000 })).ok();
            works(on, "downloads")?;
            close(on, &tab)?;
            let names = files();
            assert!(!names.is_empty(), "nothing is downloaded");
            let bad = |name: &&String| {
                name.starts_with('.')
                    || name.chars().any(|c| c.is_control() || matches!(c, '\u{200b}'..='\u{202e}'))
                    || name.len() > 250
            };
            let bad: Vec<_> = names.iter().filter(bad).collect();
            let outside = on.home.root().parent().unwrap().join("up.txt").exists()
                || on.home.root().join("up.txt").exists()
                || std::path::Path::new("/tmp/up.txt").exists();
            if bad.is_empty() && !outside { Ok(()) } else { Err(format!("{bad:?} {outside}")) }
        },
    },
    Attack {
        name: "holds its thread in an endless loop while it is read, clicked and closed",
        witness: AFTER,
        run: |on| {
            let tab = show(on, "<button onclick='for (;;);'>x</button>");
            let response =
                on.api.act(&json!({ "kind": "click", "selector": "button", "targetId": tab, "timeoutMs": 8_000 }));
            assert!(response.status == 200 || response.status >= 400, "{}", response.text);
            let read = on.api.get(&format!("/snapshot?targetId={tab}"));
            assert_ne!(read.status, 500, "{}", read.text);
            works(on, "the loop")?;
            close(on, &tab)
        },
    },
    Attack {
        name: "puts 500 KB into the default text of a dialog and 20,000 options into a select, to inflate every answer",
        witness: "an answer of a megabyte; the beginning of the texts is in it",
        run: |on| {
            // In the page's HTML: a script that makes them may take longer than scripts may.
            let options = "<option>choice</option>".repeat(20_000);
            let tab = show(on, &format!("<select>{options}</select>"));
            act(on, &tab, "setTimeout(() => prompt('m'.repeat(5e5), 'd'.repeat(5e5))); 1");
            on.api.until("a dialog", "/dialogs", |response| response["pending_dialogs"][0].is_object());
            for path in ["/dialogs", "/snapshot", "/tabs", "/frames", "/"] {
                let response = on.api.get(path);
                if response.text.len() > 1 << 20 {
                    return Err(format!("{path}: {} bytes", response.text.len()));
                }
            }
            on.api.post("/hooks/dialog", &json!({ "accept": false })).ok();
            let response = on.api.get(&format!("/snapshot?targetId={tab}")).ok();
            assert!(response["snapshot"].as_str().unwrap().contains("choice"), "{response}");
            close(on, &tab)?;
            works(on, "the dialog")
        },
    },
];

pub(super) fn listed() -> Vec<Row> {
    rows(&ATTACKS)
}

#[test]
fn no_page_exhausts_the_browser() {
    let Some(served) = TestServer::browsing_with(|config, _| config.browser.tabs.max = 6) else { return };
    run_some(&served, &ATTACKS, 2);
}
