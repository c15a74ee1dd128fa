//! Ports that no page may reach: the server's own, and the debugging ports of its browsers. A site stands for the port
//! and tells what arrived.

use cdpilot::supervisor::EventKind;
use cdpilot::sync::Deadline;
use cdpilot_server::control::{Control, Error, Navigate, NewTab, Profile};
use serde_json::json;

use crate::support::api::TestServer;
use crate::support::chrome::soon;
use crate::support::lease::Lease;
use crate::support::port_attempts::{KINDS, arrived, attempt};
use crate::support::share::share;
use crate::support::site::Site;
use crate::support::test_home::{TestHome, eval_value};

/// Spellings of this machine that lead to a server on 127.0.0.1.
const SPELLINGS: [&str; 10] = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "localhost",
    "localhost.",
    "x.localhost",
    "0.0.0.0",
    "[::ffff:127.0.0.1]",
    "127.0.0.1.",
];

fn protected(control: &Control) -> Site {
    let witness = Site::start();
    control.protect_port(witness.port(), "a test");
    witness
}

fn go(profile: &Profile, url: String) -> Result<String, Error> {
    profile.navigate(Navigate::new(url), soon()).map(|navigation| navigation.url)
}

/// Waits until a navigation to an address was refused.
fn blocked(profile: &Profile, after: u64, url: &str) {
    let (mut seen, deadline) = (after, soon());
    while !deadline.passed() {
        for entry in profile.events().wait_since(seen, 100, Deadline::after_millis(200)).entries {
            seen = entry.seq;
            if entry.kind() == EventKind::NavigationBlocked
                && serde_json::to_string(&*entry.event).unwrap().contains(url)
            {
                return;
            }
        }
    }
    panic!("{url} was not blocked: {:#?}", profile.events().since(after, 1000).entries)
}

/// Nothing of what a page can do gets there, while all of it reaches another server.
fn holds(profile: &Profile, site: &Site, witness: &Site) {
    attempt(profile, site, &format!("127.0.0.1:{}", witness.port()));
    assert_eq!(arrived(witness), [""; 0]);
    for host in share(SPELLINGS, 3) {
        let at = format!("{host}:{}", witness.port());
        let response = go(profile, format!("http://{at}/document")).unwrap_err();
        assert_eq!(response.code(), "NAVIGATION_BLOCKED", "{host}: {response}");
        assert!(response.to_string().contains("used by a test"), "{response}");
        let script = format!(
            "Promise.all([fetch('http://{at}/fetch', {{ mode: 'no-cors' }}).catch(() => 0),
            new Promise(done => {{ const socket = new WebSocket('ws://{at}/ws'); socket.onopen = socket.onerror = done }})]).then(() => 1)"
        );
        eval_value(profile, None, &script);
    }
    let before = profile.events().last();
    let popup = format!("http://127.0.0.1:{}/popup", witness.port());
    eval_value(profile, None, &format!("window.open('{popup}'); 1"));
    blocked(profile, before, &popup);
    assert_eq!(arrived(witness), [""; 0]);
    // And what is not protected is there.
    let other = Site::start();
    attempt(profile, site, &format!("127.0.0.1:{}", other.port()));
    assert_eq!(arrived(&other), KINDS);
}

#[test]
fn no_page_reaches_a_port_protected_at_launch() {
    let Some(home) = TestHome::new("") else { return };
    let witness = protected(&home);
    home.open("/");
    holds(&home.main(), &home.site, &witness);
}

#[test]
fn no_page_reaches_a_port_once_it_is_protected() {
    let Some(home) = TestHome::new("") else { return };
    home.open("/");
    let witness = protected(&home);
    holds(&home.main(), &home.site, &witness);
}

#[test]
fn no_page_of_an_attached_browser_reaches_a_protected_port() {
    let Some(lease) = Lease::take_empty() else { return };
    let debugging = cdpilot::browser::Endpoint::parse(lease.url()).unwrap().port();
    let home = TestHome::without_browser(&format!("cdp_url: 'http://127.0.0.1:{debugging}'"), Default::default());
    let witness = protected(&home);
    home.open("/");
    holds(&home.main(), &home.site, &witness);
    // Its own debugging port is.
    let response = go(&home.main(), format!("http://127.0.0.1:{debugging}/json/version")).unwrap_err();
    assert_eq!(response.code(), "NAVIGATION_BLOCKED", "{response}");
}

#[test]
fn emulated_networks_do_not_open_a_protected_port() {
    let Some(home) = TestHome::new("") else { return };
    let tab = home.open("/");
    let (profile, witness) = (home.main(), protected(&home));
    let handle = profile.tab(Some(&tab.target_id)).unwrap().tab;
    for change in [
        json!({ "offline": true }),
        json!({ "offline": false }),
        json!({ "offline": null }),
        json!({ "network": "offline" }),
        json!({ "network": { "latencyMs": 1 } }),
    ] {
        let change = serde_json::from_value(change).unwrap();
        handle.emulate(&change, soon()).unwrap();
    }
    holds(&profile, &home.site, &witness);
}

#[test]
fn requested_debugging_ports_are_unreachable_for_pages() {
    let Some(home) = TestHome::launching("transport: port, profiles: {other: {}}") else { return };
    let (main, other) = (home.main(), home.profile(Some("other")).unwrap());
    let first = main.start(None, soon()).unwrap();
    let second = other.start(None, soon()).unwrap();
    assert_eq!((&*first.transport, &*second.transport), ("port", "port"));
    home.open("/");
    for port in [first.cdp_port.unwrap(), second.cdp_port.unwrap()] {
        for profile in [&main, &other] {
            let response = go(profile, format!("http://localhost:{port}/json/version")).unwrap_err();
            assert!(
                response.code() == "NAVIGATION_BLOCKED" && response.to_string().contains("debugging"),
                "{response}"
            );
            let opened = profile.open_tab(NewTab::new(format!("http://127.0.0.1:{port}/json")), soon());
            assert_eq!(opened.unwrap_err().code(), "NAVIGATION_BLOCKED");
        }
        let script = format!(
            "fetch('http://127.0.0.1:{port}/json/version', {{ mode: 'no-cors' }}).then(() => 'reached', () => 'not reached')"
        );
        assert_eq!(eval_value(&main, None, &script), "not reached");
    }
}

#[test]
fn no_debugging_port_is_open_by_default() {
    let Some(home) = TestHome::launching("profiles: {open: {cdp_port: 0}}") else { return };
    let closed = home.main().start(None, soon()).unwrap();
    assert_eq!((closed.cdp_port, closed.cdp_url, &*closed.transport), (None, None, "pipe"));
    let open = home.profile(Some("open")).unwrap().start(None, soon()).unwrap();
    assert!(open.cdp_port.is_some_and(|port| port != 0) && open.transport == "port", "{open:?}");
}

#[test]
fn no_page_reaches_the_control_server() {
    let Some(served) = TestServer::launching() else { return };
    served.show("<title>page</title>");
    let port = served.api.address.port();
    assert_eq!(served.api.get("/").ok()["cdpPort"], json!(null));
    for host in ["127.0.0.1", "localhost", "[::1]", "127.1"] {
        let response = served
            .api
            .post("/navigate", &json!({ "url": format!("http://{host}:{port}/health") }))
            .fails(403, "NAVIGATION_BLOCKED");
        assert!(response["details"]["reason"].as_str().unwrap().contains("the control server"), "{response}");
    }
    let script = format!(
        "fetch('http://127.0.0.1:{port}/health', {{ mode: 'no-cors' }}).then(() => 'reached', () => 'not reached')"
    );
    let response = served.api.act(&json!({ "kind": "evaluate", "fn": script })).ok();
    assert_eq!(response["result"], "not reached");
}
