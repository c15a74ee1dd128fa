//! The dialog bridge in a real browser: documents whose calls reach it, and documents with native dialogs.

use std::io::{Read as _, Write as _};

use cdpilot::cdp::Session;
use serde_json::{Value, json};

use crate::support::bridged::{ALL, BridgeCall, Bridged, HandledBy, Setup};
use crate::support::chrome::soon;
use crate::support::fake_cdp::Fake;
use crate::support::share::share;
use crate::support::site::Answer;
use crate::support::tls::server;

/// Calls all three functions in a session and says which way they went.
fn three(tab: &mut Bridged, session: &Session, functions_of: &str) -> (HandledBy, Vec<BridgeCall>) {
    tab.taken();
    let script = format!("(w => [String(w.alert('A')), w.confirm('C'), w.prompt('P', 'D')])({functions_of})");
    assert_eq!(tab.eval_in(session, &script), json!(["undefined", true, "typed"]), "{script}");
    let met = tab.taken();
    let said: Vec<_> = met.iter().map(|met| (&*met.kind, &*met.message, &*met.default)).collect();
    assert_eq!(said, [("alert", "A", ""), ("confirm", "C", ""), ("prompt", "P", "D")]);
    let way = met[0].way;
    assert!(met.iter().all(|met| met.way == way), "{met:?}");
    (way, met)
}

fn way(tab: &mut Bridged, functions_of: &str) -> HandledBy {
    let page = tab.page.clone();
    three(tab, &page, functions_of).0
}

#[test]
fn every_scheme_reaches_the_bridge() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    tab.site.page("/", "http");
    tab.secure.insert("page".to_owned(), (json!([]), "https".to_owned()));
    let http = tab.site.url("a", "/");
    assert_eq!(way(&mut tab, "window"), HandledBy::Bridge, "the first empty document");
    for url in [&*http, "https://secure.test/page", "data:text/html,data", "about:blank", "https://secure.test/page"] {
        tab.go(url);
        assert_eq!(way(&mut tab, "window"), HandledBy::Bridge, "{url}");
        tab.accept = false;
        assert_eq!(tab.eval("[String(alert()), confirm(), prompt()]"), json!(["undefined", false, null]));
        tab.accept = true;
    }
}

#[test]
fn a_page_of_a_tls_server_reaches_the_bridge() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    let site = Fake::script(|socket| {
        let mut tls = server(socket);
        let _ = tls.read(&mut [0; 4096]);
        let html = "<iframe></iframe><script>window.early = confirm('early')</script>";
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
        let strict = "Content-Security-Policy: default-src 'unsafe-inline'\r\nStrict-Transport-Security: max-age=60";
        let _ = tls.write_all(format!("{head}\r\n{strict}\r\nContent-Length: {}\r\n\r\n{html}", html.len()).as_bytes());
        let _ = tls.flush();
    });
    tab.page.call_raw("Security.setIgnoreCertificateErrors", &json!({"ignore": true}), soon()).unwrap();
    tab.go(&format!("https://localhost:{}/", site.port()));
    assert_eq!(tab.eval("[location.protocol, isSecureContext, early]"), json!(["https:", true, true]));
    assert_eq!(way(&mut tab, "window"), HandledBy::Bridge);
    assert_eq!(way(&mut tab, "frames[0]"), HandledBy::Bridge);
}

#[test]
fn frames_of_the_same_process_reach_the_bridge() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    let html = "<iframe></iframe><iframe src='about:blank'></iframe><iframe srcdoc='doc'></iframe>\
        <iframe id=blob></iframe><iframe src='javascript:\"js\"'></iframe><iframe src='/leaf'></iframe><script>\
        blob.src = URL.createObjectURL(new Blob(['blob'], {type: 'text/html'}))</script>";
    tab.site.page("/", html);
    tab.site.page("/leaf", "leaf");
    tab.secure.insert("frames".to_owned(), (json!([]), html.to_owned()));
    for url in [tab.site.url("a", "/"), "https://secure.test/frames".to_owned()] {
        tab.go(&url);
        let top = way_and_frame(&mut tab, "window");
        for index in 0..6 {
            let (way, frame) = way_and_frame(&mut tab, &format!("frames[{index}]"));
            assert_eq!(way, HandledBy::Bridge, "frame {index} of {url}");
            // An empty document that was never loaded shares the network access of the one that made it, and
            // Chromium names that one.
            assert_eq!(frame == top.1, [0, 1, 4].contains(&index), "frame {index} of {url}");
        }
    }
}

fn way_and_frame(tab: &mut Bridged, functions_of: &str) -> (HandledBy, String) {
    let page = tab.page.clone();
    let (way, met) = three(tab, &page, functions_of);
    (way, met[0].frame.clone())
}

#[test]
fn frames_of_other_processes_and_popups_reach_the_bridge() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    tab.site.page(
        "/",
        "<iframe src='@b/one'></iframe><iframe src=\"data:text/html,<script>alert('data')</script>\"></iframe>",
    );
    tab.site.page("/one", "<iframe src='@c/two'></iframe>");
    tab.site.page("/two", "two");
    tab.site.page("/popup", "popup");
    let url = tab.site.url("a", "/");
    tab.go(&url);
    assert_eq!(tab.taken()[0].short(), (HandledBy::Bridge, "alert", "data"));
    for frame in ["/one", "/two"] {
        let session = tab.session(frame);
        let (way, met) = three(&mut tab, &session, "window");
        assert_eq!(way, HandledBy::Bridge, "{frame}");
        assert!(!met[0].frame.is_empty());
    }
    // Dialogs before the load of the frame and the popup is over.
    tab.site.page("/early", "<script>window.early = prompt('early', location.pathname)</script>");
    let url = tab.site.url("b", "/early");
    tab.eval(&format!("window.opened = [open('/popup'), open('{url}'), open('about:blank')]; 0"));
    tab.until("the early prompt", |tab| tab.met.iter().any(|met| met.message == "early"));
    assert_eq!(tab.met[0].short(), (HandledBy::Bridge, "prompt", "early"));
    for popup in ["/popup", "/early", "about:blank"] {
        let session = tab.session(popup);
        assert_eq!(three(&mut tab, &session, "window").0, HandledBy::Bridge, "{popup}");
    }
    // Through the opener's handle, also in one go with the opening.
    for window in
        ["opened[0]", "open('about:blank')", "open('')", "open('/popup')", "open('/popup', '_blank', 'popup')"]
    {
        assert_eq!(way(&mut tab, window), HandledBy::Bridge, "{window}");
    }
    let written =
        "(w => { w.document.write('<script>opener.got = confirm(1)<' + '/script>'); return got })(open('about:blank'))";
    assert_eq!(tab.eval(written), true);
    assert_eq!(tab.taken()[0].short(), (HandledBy::Bridge, "confirm", "1"));
}

fn with_header(tab: &mut Bridged, name: &str, value: &str) {
    tab.site.put("/header", Answer::html("<iframe></iframe>").header(name, value));
    let header = json!([{"name": name, "value": value}]);
    tab.secure.insert("header".to_owned(), (header, "<iframe></iframe>".to_owned()));
}

#[test]
fn response_headers_select_bridge_or_native_dialog() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    let bridged = [
        ("Content-Security-Policy", "default-src 'none'; connect-src 'self'", HandledBy::Bridge),
        ("Content-Security-Policy", "require-trusted-types-for 'script'", HandledBy::Bridge),
        ("Content-Security-Policy", "upgrade-insecure-requests; block-all-mixed-content", HandledBy::Bridge),
        ("Cross-Origin-Embedder-Policy", "require-corp", HandledBy::Bridge),
        ("Cross-Origin-Embedder-Policy", "credentialless", HandledBy::Bridge),
        ("Cross-Origin-Opener-Policy", "same-origin", HandledBy::Bridge),
        ("Origin-Agent-Cluster", "?1", HandledBy::Bridge),
        ("Origin-Agent-Cluster", "?0", HandledBy::Bridge),
        ("Referrer-Policy", "no-referrer", HandledBy::Bridge),
        ("Document-Policy", "sync-xhr=?0", HandledBy::Bridge),
    ];
    let native = ("Permissions-Policy", "sync-xhr=()", HandledBy::Native);
    for (name, value, expected) in share(bridged, 3).into_iter().chain([native]) {
        with_header(&mut tab, name, value);
        for url in [tab.site.url("a", "/header"), "https://secure.test/header".to_owned()] {
            tab.go(&url);
            for functions_of in ["window", "frames[0]"] {
                assert_eq!(way(&mut tab, functions_of), expected, "{name}: {value} of {functions_of} in {url}");
            }
        }
    }
}

#[test]
fn a_csp_that_is_not_bypassed_results_in_native_dialogs() {
    let Some(mut tab) = Bridged::start(Setup { bypass_csp: false, ..ALL }) else { return };
    with_header(&mut tab, "Content-Security-Policy", "connect-src 'self'");
    tab.go("https://secure.test/header");
    assert_eq!(way(&mut tab, "window"), HandledBy::Native);
}

#[test]
fn without_interception_dialogs_are_native() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    tab.secure.insert("page".to_owned(), (json!([]), "https".to_owned()));
    tab.go("https://secure.test/page");
    tab.page.call_raw("Fetch.disable", &json!({}), soon()).unwrap();
    assert_eq!(way(&mut tab, "window"), HandledBy::Native);
}

#[test]
fn a_fallback_or_modified_answer_opens_the_native_dialog() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    tab.site.page("/", "page");
    let url = tab.site.url("a", "/");
    tab.go(&url);
    for change in ["native", "accepted", "code", "cut", "empty", "status", "older"] {
        let reply = {
            tab.spoil = Some(change);
            tab.eval("prompt('message', 'default')")
        };
        assert_eq!(reply, json!("typed"), "{change}");
        let met = tab.taken();
        let ways: Vec<HandledBy> = met.iter().map(|met| met.way).collect();
        assert_eq!(ways, [HandledBy::Bridge, HandledBy::Native], "{change}: {met:?}");
        assert_eq!((&*met[1].message, &*met[1].default), ("message", "default"));
    }
    tab.spoil = None;
    assert_eq!(way(&mut tab, "window"), HandledBy::Bridge);
}

#[test]
fn long_texts_are_transferred_up_to_the_limit() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    tab.site.page("/", "page");
    let url = tab.site.url("a", "/");
    tab.go(&url);
    let texts = [("x", 1_000), ("x", 1_000_000), ("ä", 65_536), ("🦀", 40_000), ("%\n", 30_000)];
    for (unit, times) in share(texts, 2) {
        tab.text = unit.repeat(times);
        let got = tab.eval(&format!("(t => prompt(t, t) === t)({}.repeat({times}))", json!(unit)));
        assert_eq!(got, true);
        let met = tab.taken();
        let units = |text: &str| text.encode_utf16().count();
        assert_eq!(met.len(), 1);
        let limit = (units(unit) * times).min(cdpilot::supervisor::bridge::TEXT_LIMIT);
        assert_eq!((units(&met[0].message), units(&met[0].default)), (limit, limit), "{unit}");
        assert_eq!(met[0].carried, (true, 1), "{} bytes arrive in one piece", met[0].body.len());
    }
}

#[test]
fn texts_of_all_kinds_are_transferred_unchanged() {
    let Some(mut tab) = Bridged::start(ALL) else { return };
    tab.site.page("/", "page");
    let url = tab.site.url("a", "/");
    tab.go(&url);
    for sample in ["", " ", "%", "%0041", "\n\r\t\0\u{7f}", "äß \"'\\ 日本 🦀", "\u{2028}\u{feff}\u{fffd}", "a\nb\nc"]
    {
        tab.text = sample.to_owned();
        let quoted = Value::from(sample);
        assert_eq!(tab.eval(&format!("prompt({quoted}, {quoted})")), quoted);
        let met = tab.taken();
        assert_eq!((met[0].way, &*met[0].message, &*met[0].default), (HandledBy::Bridge, sample, sample));
    }
    tab.eval("alert('\\ud800x')");
    assert_eq!(tab.taken()[0].message, "\u{fffd}x");
}

/// A page with a frame of another process, which waits for the answer to a call.
fn waiting() -> Option<Bridged> {
    let mut tab = Bridged::start(ALL)?;
    tab.site.page("/", "<iframe src='@b/one'></iframe>");
    tab.site.page("/one", "one");
    tab.site.page("/next", "next");
    let url = tab.site.url("a", "/");
    tab.go(&url);
    let frame = tab.session("/one");
    tab.hold = true;
    for session in [frame, tab.page.clone()] {
        session.send_raw("Runtime.evaluate", &json!({"expression": "confirm('held')"})).unwrap();
        let before = tab.met.len();
        tab.until("the call", |tab| tab.met.len() > before);
    }
    assert!(tab.met.iter().all(|met| met.way == HandledBy::Bridge));
    Some(tab)
}

#[test]
fn a_page_waiting_for_an_answer_navigates_after_the_answer() {
    // Chromium does not finish a navigation to the same site before; nor does it tell anybody why.
    let Some(mut tab) = waiting() else { return };
    let (next, loads) = (tab.site.url("a", "/next"), tab.loads);
    let left = tab.page.send_raw("Page.navigate", &json!({"url": next})).unwrap();
    tab.site.wait_requested("a.localhost/next", 1);
    tab.release();
    tab.until("the next page", |tab| tab.loads > loads);
    left.wait_raw(soon()).unwrap();
    assert_eq!(tab.eval("document.body.textContent"), "next");
    assert_eq!(way(&mut tab, "window"), HandledBy::Bridge);
}

#[test]
fn a_page_waiting_for_an_answer_can_be_closed() {
    let Some(mut tab) = waiting() else { return };
    let target = tab.page.call_raw("Target.getTargetInfo", &json!({}), soon()).unwrap().value().unwrap();
    let target = json!({"targetId": target["targetInfo"]["targetId"]});
    tab.page.connection().call_raw("Target.closeTarget", &target, soon()).unwrap();
    let page = tab.page.id().to_owned();
    tab.until("its end", |tab| !tab.sessions.iter().any(|(_, session)| session.id() == page));
    tab.page.connection().call_raw("Browser.getVersion", &json!({}), soon()).unwrap();
}

#[test]
fn when_interception_ends_pending_calls_open_native_dialogs() {
    let Some(mut tab) = waiting() else { return };
    tab.met.clear();
    tab.page.call_raw("Fetch.disable", &json!({}), soon()).unwrap();
    tab.until("the browser's own dialog", |tab| !tab.met.is_empty());
    assert_eq!(tab.met[0].short(), (HandledBy::Native, "confirm", "held"));
}
