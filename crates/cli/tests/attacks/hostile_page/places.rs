//! A page that tries to navigate or send requests where the navigation policy forbids it.

use cdpilot::supervisor::View;
use cdpilot_server::control::{Navigate, NewTab};
use serde_json::{Value, json};

use super::super::{Attack, Row, rows, run_some};
use super::door::Door;
use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::test_home::{TestHome, eval_value, run};

/// A browser in which cloud metadata lies behind a port of the test, and so does `fine.test`.
struct Clouded {
    home: TestHome,
    metadata: Door,
    fine: Door,
}

/// Addresses of metadata services as a page may write them.
const METADATA: [&str; 8] = [
    "169.254.169.254",
    "169.254.169.254.",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "metadata.google.internal",
    "METADATA.google.internal.",
];

const OF_METADATA: &str =
    "a request at a server to which the metadata service resolves; the same script reaches it under another host name";

impl Clouded {
    fn new() -> Option<Self> {
        let (metadata, fine) = (Door::open(), Door::open());
        let map = |host: &str, door: &Door| format!("MAP {host} 127.0.0.1:{}", door.port);
        let hosts = ["169.254.169.254", "[::ffff:a9fe:a9fe]", "metadata.google.internal", "metadata.google.internal."];
        let rules: Vec<String> =
            hosts.iter().map(|host| map(host, &metadata)).chain([map("fine.test", &fine)]).collect();
        let home = TestHome::launching(&format!("extra_args: ['--host-resolver-rules={}']", rules.join(", ")))?;
        home.site.page("/", "<title>page</title><body>");
        home.site.leads("/leads");
        home.open("/");
        Some(Self { home, metadata, fine })
    }

    /// Starts a script in a new tab for a share of the addresses, and for `fine.test`.
    fn keeps_out(&self, script: &str) -> Result<(), String> {
        let profile = self.home.main();
        let url = self.home.site.url("a", "/");
        let mut tabs = Vec::new();
        for host in share(METADATA, 3).into_iter().chain(["fine.test"]) {
            let before = self.fine.seen().len();
            let tab = profile.open_tab(NewTab::new(url.clone()), soon()).unwrap();
            run(&profile, &tab.target_id, &script.replace("AT", host));
            tabs.push(tab.target_id);
            assert!(host != "fine.test" || self.fine.wait_beyond(before), "the script gets nowhere");
        }
        for tab in tabs {
            let _ = profile.close_tab(&tab, soon());
        }
        let seen = self.metadata.seen();
        if seen.is_empty() { Ok(()) } else { Err(format!("{seen:?}")) }
    }
}

const CLOUDED: [Attack<Clouded>; 4] = [
    Attack {
        name: "navigates to the cloud metadata service under eight spellings",
        witness: OF_METADATA,
        run: |on| on.keeps_out("location = 'http://AT/latest/meta-data/'"),
    },
    Attack {
        name: "redirects itself to the cloud metadata service",
        witness: OF_METADATA,
        run: |on| on.keeps_out("location = '/leads?' + encodeURIComponent('http://AT/redirected')"),
    },
    Attack {
        name: "shows the cloud metadata service in a frame",
        witness: OF_METADATA,
        run: |on| {
            on.keeps_out(
                "document.body.append(Object.assign(document.createElement('iframe'), { src: 'http://AT/frame' }))",
            )
        },
    },
    Attack {
        name: "opens the cloud metadata service in a popup that starts empty, and by a form",
        witness: OF_METADATA,
        run: |on| {
            on.keeps_out(
                "const popup = window.open(''); popup.location = 'http://AT/popup'; setTimeout(() => popup.close(), 500);
                document.body.append(Object.assign(document.createElement('iframe'), { name: 'sink' }));
                const form = Object.assign(document.createElement('form'), { action: 'http://AT/form', method: 'POST', target: 'sink' });
                document.body.append(form); form.submit()",
            )
        },
    },
];

/// Without a browser: each attack has its own settings.
struct Nothing;

/// A document without a site, which every policy allows.
const EMPTY: &str = "data:text/html,<title>empty</title>";

fn shown(home: &TestHome, url: &str) {
    home.main().navigate(Navigate::new(url), soon()).unwrap();
}

/// Connects to addresses by WebSockets, preconnects and WebRTC.
const CONNECT: &str = "(async () => {
    const rest = time => new Promise(done => setTimeout(done, time));
    for (const at of ADDRESSES) {
        const socket = new WebSocket(`ws://${at}/socket`);
        await Promise.race([rest(1500), new Promise(done => socket.onopen = socket.onerror = done)]);
        if (ALONE) continue;
        document.head.append(Object.assign(document.createElement('link'), { rel: 'preconnect', href: `http://${at}` }));
        const peer = new RTCPeerConnection({ iceServers: [{ urls: [`turn:${at}?transport=tcp`], username: 'x', credential: 'x' }] });
        peer.createDataChannel('x');
        await peer.setLocalDescription(await peer.createOffer());
        await rest(300);
        peer.close();
    }
    return 'over' })()";

/// `alone`: by WebSockets alone.
fn connect(home: &TestHome, addresses: &[String], alone: bool) {
    let script = CONNECT.replace("ADDRESSES", &json!(addresses).to_string()).replace("ALONE", &alone.to_string());
    assert_eq!(eval_value(&home.main(), None, &script), "over");
}

const ALONE: [Attack<Nothing>; 3] = [
    Attack {
        name: "connects to private networks by WebSocket, preconnect and WebRTC although private addresses are refused",
        witness: "a connection to a server that these addresses resolve to; it receives the connections if they are allowed",
        run: |_| {
            let door = Door::open();
            let hosts = [
                "172.16.0.1",
                "172.31.255.254",
                "100.64.0.1",
                "100.127.255.254",
                "198.18.0.1",
                "192.0.0.8",
                "10.0.0.1",
                "192.168.0.1",
            ];
            let rules: Vec<String> = hosts.iter().map(|host| format!("MAP {host} 127.0.0.1:{}", door.port)).collect();
            let rules = format!("extra_args: ['--host-resolver-rules={}']", rules.join(", "));
            let addresses: Vec<String> = hosts.iter().map(|host| format!("{host}:{}", door.port)).collect();
            for (settings, reaches) in [("navigation: {private_addresses: false}", false), ("", true)] {
                let Some(home) = TestHome::launching(&format!("{rules}, {settings}")) else { return Ok(()) };
                shown(&home, EMPTY);
                connect(&home, &addresses, false);
                let seen = door.seen();
                if !reaches && !seen.is_empty() {
                    return Err(format!("{seen:?}"));
                }
                assert!(!reaches || !seen.is_empty(), "nothing arrives where it may");
            }
            Ok(())
        },
    },
    Attack {
        name: "opens a WebSocket to the control server's port under a name that a pattern of the policy allows",
        witness: "a connection to a server at a protected port; another port under the same name gets connections",
        run: |_| {
            let (forbidden, other) = (Door::open(), Door::open());
            let Some(home) = TestHome::launching("navigation: {allow: ['*.localhost', 'a.localhost']}") else {
                return Ok(());
            };
            home.protect_port(forbidden.port, "a test");
            home.site.page("/", "<title>page</title>");
            shown(&home, &home.site.url("a", "/"));
            connect(&home, &[format!("x.localhost:{}", forbidden.port)], true);
            connect(&home, &[format!("x.localhost:{}", other.port)], true);
            assert!(!other.seen().is_empty(), "nothing arrives where it may");
            let seen = forbidden.seen();
            if seen.is_empty() { Ok(()) } else { Err(format!("{seen:?}")) }
        },
    },
    Attack {
        name: "navigates itself and frames to file:, chrome:, devtools:, view-source: and javascript: addresses",
        witness: "an address of such a scheme in the list of tabs or frames; http and blob: documents do appear",
        run: |_| {
            let Some(home) = TestHome::launching("") else { return Ok(()) };
            home.site.page("/", "<title>page</title><body>");
            home.site.page("/there", "<title>there</title>");
            home.site.leads("/leads");
            let profile = home.main();
            let urls = [
                "file:///etc/passwd",
                "file://localhost/etc/passwd",
                "view-source:file:///etc/passwd",
                "view-source:http://127.0.0.1/",
                "chrome://settings",
                "chrome://version",
                "about:gpu",
                "devtools://devtools/bundled/inspector.html",
                "chrome-untrusted://print",
                "filesystem:http://127.0.0.1/temporary/x",
                "javascript:document.write('<title>script</title>')",
                "intent://x#Intent;scheme=file;end",
                "blob:null/00000000-0000-0000-0000-000000000000",
            ];
            for url in share(urls, 4) {
                let tab = home.open("/");
                let script = format!(
                    "const url = {}; const tries = [() => window.open(url), () => document.body.append(Object.assign(document.createElement('iframe'), {{ src: url }})),
                        () => document.body.append(Object.assign(document.createElement('iframe'), {{ src: '/leads?' + encodeURIComponent(url) }})),
                        () => window.open('/leads?' + encodeURIComponent(url)), () => {{ window.open('').location = url }}, () => {{ location = url }}];
                    for (const one of tries) try {{ one() }} catch {{ }}",
                    json!(url)
                );
                run(&profile, &tab.target_id, &script);
                // A later part of the same page is shown, so the earlier ones have been decided.
                let after = home.open("/there");
                let fine = |url: &str| {
                    ["http:", "about:blank", "about:srcdoc", "blob:http", "chrome-error:"]
                        .iter()
                        .any(|fine| url.starts_with(fine))
                        || url.is_empty()
                };
                // A document that is refused is left for an empty one.
                let wrong = |now: &View| {
                    let urls = now.pages.iter().map(|page| &page.url).chain(now.frames.iter().map(|frame| &frame.url));
                    urls.filter(|url| !fine(url)).map(ToString::to_string).next()
                };
                let running = profile.running().unwrap();
                let supervisor = running.supervisor();
                supervisor.caught_up(crate::support::soon()).unwrap();
                if supervisor.wait_until(crate::support::soon(), |now| wrong(now).is_none()).is_none() {
                    return Err(format!("{url}: {:?}", wrong(&supervisor.view())));
                }
                let urls: Vec<String> = profile.tabs().into_iter().map(|tab| tab.url).collect();
                assert!(urls.iter().any(|url| url.ends_with("/there")), "{urls:?}");
                let response = eval_value(&profile, Some(&after.target_id), "document.title");
                assert_eq!(response, Value::from("there"));
                for tab in profile.tabs().into_iter().filter(|tab| tab.target_id != after.target_id) {
                    let _ = profile.close_tab(&tab.target_id, soon());
                }
                let _ = profile.close_tab(&after.target_id, soon());
            }
            Ok(())
        },
    },
];

pub(super) fn listed() -> Vec<Row> {
    rows(&CLOUDED).into_iter().chain(rows(&ALONE)).collect()
}

#[test]
fn no_page_reaches_cloud_metadata() {
    let Some(target) = Clouded::new() else { return };
    run_some(&target, &CLOUDED, 1);
}

#[test]
fn no_page_bypasses_the_navigation_policy() {
    run_some(&Nothing, &ALONE, 1);
}
