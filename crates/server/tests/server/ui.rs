//! The web UI in a browser of its own, and what other servers of the machine see of it.

use cdpilot::supervisor::FrameRef;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::chrome::{Task, soon, top_of};

/// Opens an address and waits until the page is loaded.
fn open(task: &Task, url: &str) {
    task.navigate(&FrameRef::Top, url, soon()).unwrap();
    task.loaded(&FrameRef::Top);
}

/// Waits until a condition holds in the page.
fn until(task: &Task, condition: &str) {
    let script = format!(
        "new Promise(done => {{ const look = () => ({condition}) ? done(true) : setTimeout(look, 20); look(); }})"
    );
    task.eval(&script);
}

/// The UI with everything that it shows once it is in, and the view of the browser.
fn signed_in(task: &Task) {
    until(task, "document.querySelector('#facts dt') && document.body.dataset.view");
    task.eval("document.querySelector('nav a[data-view=browser]').click()");
    until(task, "!document.getElementById('view-browser').hidden");
}

#[test]
fn other_local_ports_receive_no_credentials() {
    let Some(task) = Task::leased("ui") else { return };
    let served = TestServer::start();
    let url = served.server().ui_url().unwrap();
    open(&task, &url);
    signed_in(&task);
    let ticket = url.split("ticket=").nth(1).unwrap();
    let secrets = task.eval("Object.values(sessionStorage)");
    let secrets: Vec<&str> = secrets.as_array().unwrap().iter().filter_map(Value::as_str).collect();

    // The page of another server on 127.0.0.1: everything that the browser sends there, and all that a script finds.
    served.site.page("/steal", "<img src=/image><script>fetch('/fetched', { credentials: 'include' })</script>");
    open(&task, &served.site.url("1", "/steal"));
    served.site.wait_requested("127.0.0.1/fetched", 1);
    for path in ["127.0.0.1/steal", "127.0.0.1/fetched", "127.0.0.1/image"] {
        for head in served.site.heads(path) {
            let lower = head.to_ascii_lowercase();
            assert!(!lower.contains("\r\ncookie:") && !lower.contains("\r\nauthorization:"), "{head}");
            assert!(!head.contains(ticket) && secrets.iter().all(|secret| !head.contains(secret)), "{head}");
        }
    }
    let found = task.eval(
        "JSON.stringify([document.cookie, document.referrer, window.name, {...sessionStorage}, {...localStorage}])",
    );
    assert_eq!(found, json!(r#"["","","",{},{}]"#));

    // Nor does the browser get in for it: requests, a form, a frame, a link.
    let port = served.api.address.port();
    let fetched = task.eval(&format!(
        "Promise.all(['GET', 'POST'].map(method => fetch('http://127.0.0.1:{port}/tabs/open', \
         {{ method, credentials: 'include' }}).then(() => 'read', () => 'refused')))"
    ));
    assert_eq!(fetched, json!(["refused", "refused"]));
    task.run(&format!("location = 'http://127.0.0.1:{port}/tabs'"));
    let url = format!("http://127.0.0.1:{port}/tabs");
    task.until(&url, |now| top_of(now).is_some_and(|top| *top.url == *url));
    task.loaded(&FrameRef::Top);
    let shown = task.eval("document.body.textContent");
    assert!(shown.as_str().unwrap().contains("FORBIDDEN_ORIGIN"), "{shown}");
    let status = served.api.get("/").ok();
    assert_eq!(status["running"], false, "{status}");
}

#[test]
fn the_ui_controls_the_browser_and_survives_a_reload() {
    let Some(task) = Task::leased("ui") else { return };
    let Some(served) = TestServer::launching() else { return };
    let url = served.server().ui_url().unwrap();
    open(&task, &url);
    signed_in(&task);
    let address = task.eval("location.pathname + location.search + location.hash");
    assert_eq!(address, json!("/#/browser"), "the ticket is gone from the address");
    assert_eq!(task.eval("document.cookie"), json!(""));
    assert_eq!(task.eval("Object.keys(localStorage).length"), json!(0));

    task.eval("document.getElementById('start').click()");
    until(&task, "document.getElementById('state').textContent === 'browser running'");
    served.site.page("/", "<title>Shown</title>x");
    let target = served.open("/");
    until(&task, "document.getElementById('tabs')?.textContent.includes('Shown')");
    until(&task, "document.getElementById('log').textContent.includes('tab_opened')");
    // A picture of the tab, the color of the profile, and facts in words.
    until(&task, "document.querySelector('#tabs img')?.naturalWidth > 100");
    let facts = task.eval("document.getElementById('facts').innerText").to_string();
    assert!(facts.contains("Data folder") && facts.contains("no (headless)"), "{facts}");
    assert!(!facts.contains("userDataDir") && !facts.contains("pendingDialogs"), "{facts}");
    let color = served.api.get("/").ok()["color"].as_str().unwrap().to_owned();
    let mark = "getComputedStyle(document.documentElement).getPropertyValue('--mark')";
    assert_eq!(task.eval(mark), json!(color));
    let dialog = served.dialog("confirm('Sure?')");
    until(&task, "document.querySelector('#dialogs li.dialog')");
    task.eval("[...document.querySelectorAll('#dialogs button')].find(one => one.textContent === 'OK').click()");
    let closed = |response: &Value| {
        response["recent_dialogs"][0]["id"] == json!(dialog) && response["recent_dialogs"][0]["accepted"] == true
    };
    served.api.until("the answer from the UI", "/dialogs", closed);
    until(&task, "!document.querySelector('#dialogs li.dialog')");

    // It continues after a reload, but not in another tab.
    task.reload(&FrameRef::Top, soon()).unwrap();
    task.loaded(&FrameRef::Top);
    until(&task, "document.getElementById('tabs')?.textContent.includes('Shown')");
    served.api.delete(&format!("/tabs/{target}")).ok();
    until(&task, "!document.getElementById('tabs')?.textContent.includes('Shown')");
    task.eval("sessionStorage.clear()");
    open(&task, served.server().url());
    until(&task, "document.body.innerText.includes('cdpilot ui')");
    assert_eq!(task.eval("document.querySelectorAll('#facts dt').length"), json!(0));
    // The printed address serves once.
    open(&task, &url);
    until(&task, "document.body.innerText.includes('cdpilot ui')");
}
