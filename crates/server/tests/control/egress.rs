//! A session with hosts reaches nothing else, by any route that a page has: another server counts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use cdpilot::supervisor::FrameRef;
use cdpilot::sync::{Thread, spawn};
use cdpilot_server::control::{Control, Hosts, NewTab, Overrides, Profile, Session, StartWith};
use parking_lot::Mutex;

use crate::support::lease::Lease;
use crate::support::share::share;
use crate::support::site::{Answer, Site};
use crate::support::soon;
use crate::support::test_home::TestHome;

/// Where another server is: an address that the site does not use.
const FOREIGN: &str = "127.0.0.2";

/// How a route ends in a session with hosts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// At the proxy, which refuses it.
    Refused,
    /// Chromium does not try it behind a proxy, or it is disabled.
    NotTried,
    /// As `NotTried` in browsers that cdpilot starts. In others, the frame may run its script too early.
    NotTriedIfStarted,
}

/// A route: its name, what a page of the site contains, and how it ends. `$F` stands for the foreign address `host:port`.
const ROUTES: [(&str, &str, End); 42] = [
    ("navigation by script", "<script>location = 'http://$F/'</script>", End::Refused),
    ("navigation by refresh", "<meta http-equiv=refresh content='0;url=http://$F/'>", End::Refused),
    ("link", "<a href='http://$F/'>x</a><script>document.querySelector('a').click()</script>", End::Refused),
    ("redirect", "<script>location = '/leads?http%3A%2F%2F$F%2F'</script>", End::Refused),
    ("form, GET", "<form action='http://$F/'></form><script>document.forms[0].submit()</script>", End::Refused),
    (
        "form, POST",
        "<form method=post action='http://$F/'></form><script>document.forms[0].submit()</script>",
        End::Refused,
    ),
    ("popup", "<script>open('http://$F/')</script>", End::Refused),
    ("popup without opener", "<script>open('http://$F/', '', 'noopener')</script>", End::Refused),
    (
        "request in an empty popup",
        "<script>{ const w = open(''); const i = w.document.createElement('img'); i.src = 'http://$F/'; w.document.body.append(i) }</script>",
        End::Refused,
    ),
    ("frame", "<iframe src='http://$F/'></iframe>", End::Refused),
    ("frame in a srcdoc frame", "<iframe srcdoc=\"<iframe src='http://$F/'></iframe>\"></iframe>", End::Refused),
    ("sandboxed frame", "<iframe sandbox='allow-scripts' srcdoc=\"<img src='http://$F/'>\"></iframe>", End::Refused),
    ("object", "<object data='http://$F/'></object>", End::Refused),
    ("embed", "<embed src='http://$F/'>", End::Refused),
    (
        "download",
        "<a href='http://$F/' download>x</a><script>document.querySelector('a').click()</script>",
        End::Refused,
    ),
    (
        "link ping",
        "<a href='#x' ping='http://$F/'>x</a><script>document.querySelector('a').click()</script>",
        End::NotTried,
    ),
    ("fetch", "<script>fetch('http://$F/', {mode: 'no-cors'}).catch(() => 0)</script>", End::Refused),
    ("fetch over https", "<script>fetch('https://$F/', {mode: 'no-cors'}).catch(() => 0)</script>", End::Refused),
    (
        "XMLHttpRequest",
        "<script>{ const x = new XMLHttpRequest(); x.open('GET', 'http://$F/'); x.send() }</script>",
        End::Refused,
    ),
    (
        "keepalive request",
        "<script>fetch('http://$F/', {mode: 'no-cors', keepalive: true}).catch(() => 0)</script>",
        End::Refused,
    ),
    ("beacon", "<script>navigator.sendBeacon('http://$F/', 'x')</script>", End::Refused),
    ("EventSource", "<script>new EventSource('http://$F/')</script>", End::Refused),
    ("WebSocket", "<script>new WebSocket('ws://$F/')</script>", End::Refused),
    ("WebSocket over TLS", "<script>new WebSocket('wss://$F/')</script>", End::Refused),
    ("image", "<img src='http://$F/'>", End::Refused),
    ("script", "<script src='http://$F/'></script>", End::Refused),
    ("module", "<script type=module>import('http://$F/').catch(() => 0)</script>", End::Refused),
    ("style sheet", "<link rel=stylesheet href='http://$F/'>", End::Refused),
    (
        "style sheet import and font",
        "<style>@import 'http://$F/'; @font-face { font-family: f; src: url('http://$F/f') } p { font-family: f }</style><p>x",
        End::Refused,
    ),
    ("video", "<video src='http://$F/' autoplay muted></video>", End::Refused),
    ("prefetch", "<link rel=prefetch href='http://$F/'>", End::Refused),
    ("preload", "<link rel=preload as=script href='http://$F/'>", End::Refused),
    ("icon", "<link rel=icon href='http://$F/'>", End::Refused),
    (
        "preconnect, DNS prefetch",
        "<link rel=preconnect href='http://$F/'><link rel=dns-prefetch href='http://$F/'>",
        End::NotTried,
    ),
    (
        "speculation rules",
        "<script type=speculationrules>{\"prefetch\": [{\"source\": \"list\", \"urls\": [\"http://$F/\"]}], \"prerender\": [{\"source\": \"list\", \"urls\": [\"http://$F/\"]}]}</script>",
        End::NotTried,
    ),
    (
        "dedicated worker",
        "<script>new Worker(URL.createObjectURL(new Blob([\"fetch('http://$F/', {mode: 'no-cors'}).catch(() => 0)\"])))</script>",
        End::Refused,
    ),
    (
        "shared worker",
        "<script>new SharedWorker(URL.createObjectURL(new Blob([\"fetch('http://$F/', {mode: 'no-cors'}).catch(() => 0)\"])))</script>",
        End::Refused,
    ),
    ("service worker", "<script>navigator.serviceWorker.register('/worker-$N')</script>", End::Refused),
    ("violation report", "<meta http-equiv=x><script>location = '/reported-$N'</script>", End::Refused),
    (
        "WebRTC",
        "<script>rtc = 'RTCPeerConnection' in window; try { const p = self.p = new RTCPeerConnection({iceServers: [{urls: 'stun:$F'}, {urls: 'turn:$F?transport=tcp', username: 'u', credential: 'c'}]}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)) } catch {}</script>",
        End::NotTried,
    ),
    (
        "WebRTC in a sandboxed frame",
        "<iframe sandbox='allow-scripts' srcdoc=\"<script>try { const p = self.p = new RTCPeerConnection({iceServers: [{urls: 'stun:$F'}, {urls: 'turn:$F?transport=tcp', username: 'u', credential: 'c'}]}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)) } catch {}</script>\"></iframe>",
        End::NotTriedIfStarted,
    ),
    (
        "WebTransport",
        "<script>try { new WebTransport('https://$F/').ready.catch(() => 0) } catch {}</script>",
        End::NotTried,
    ),
];

/// The foreign server: counts connections and datagrams.
struct Foreign {
    address: String,
    seen: Arc<Mutex<Vec<String>>>,
    tcp: Option<Thread>,
    udp: Arc<UdpSocket>,
}

impl Foreign {
    fn start() -> Self {
        let (listener, udp) = std::iter::repeat_with(|| TcpListener::bind((FOREIGN, 0)).unwrap())
            .find_map(|listener| {
                let udp = UdpSocket::bind(listener.local_addr().unwrap()).ok()?;
                Some((listener, udp))
            })
            .unwrap();
        udp.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        let tcp = spawn("foreign", move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut start = [0; 64];
                stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
                let count = stream.read(&mut start).unwrap_or(0);
                if start.starts_with(b"END") {
                    return;
                }
                noted.lock().push(format!("TCP {}", String::from_utf8_lossy(&start[..count])));
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        });
        Self { address: address.to_string(), seen, tcp: Some(tcp.unwrap()), udp: Arc::new(udp) }
    }

    /// What it has received.
    fn seen(&self) -> Vec<String> {
        let (mut seen, mut datagram) = (self.seen.lock(), [0; 64]);
        while self.udp.recv(&mut datagram).is_ok() {
            seen.push("UDP".to_owned());
        }
        seen.clone()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Ok(mut stream) = TcpStream::connect(&self.address) {
            let _ = stream.write_all(b"END");
        }
        drop(self.tcp.take());
    }
}

/// Serves the page of a route. Returns its address.
fn page(site: &Site, number: usize, foreign: &str) -> String {
    let (_, html, _) = ROUTES[number];
    site.page(&format!("/{number}"), &html.replace("$F", foreign).replace("$N", &number.to_string()));
    site.leads("/leads");
    let request = format!("fetch('http://{foreign}/', {{mode: 'no-cors'}}).catch(() => 0)");
    let worker = format!("self.oninstall = event => event.waitUntil({request})");
    site.put(&format!("/worker-{number}"), Answer::script(worker));
    let policy = format!("script-src 'none'; report-uri http://{foreign}/");
    let reported = Answer::html("<script>1</script>").header("Content-Security-Policy", &policy);
    site.put(&format!("/reported-{number}"), reported);
    site.url("a", &format!("/{number}"))
}

fn close_all(profile: &Profile) {
    for tab in profile.tabs() {
        let _ = profile.close_tab(&tab.target_id, soon());
    }
}

/// Opens the pages of all routes, and waits until each route has ended. Returns what foreign servers saw, and which routes were
/// not tried although they should.
fn leaks(profile: &Profile, hosts: &Hosts, site: &Site, is_started: bool) -> Vec<String> {
    let mut found = Vec::new();
    let is_held = |number: &usize| is_started || ROUTES[*number].2 != End::NotTriedIfStarted;
    let numbers = share((0..ROUTES.len()).filter(is_held), 5);
    for some in numbers.chunks(14) {
        let foreign: Vec<(usize, Foreign)> = some.iter().map(|number| (*number, Foreign::start())).collect();
        for (number, foreign) in &foreign {
            // Some leave at once, so that the page does not load.
            let _ = profile.open_tab(NewTab::new(page(site, *number, &foreign.address)), soon());
        }
        let (deadline, mut refused) = (soon(), BTreeSet::new());
        let is_due = |(number, foreign): &&(usize, Foreign), refused: &BTreeSet<String>| {
            ROUTES[*number].2 == End::Refused && !refused.contains(&foreign.address)
        };
        while foreign.iter().any(|one| is_due(&one, &refused)) && !deadline.passed() {
            refused.extend(hosts.take_refused().into_iter().map(|refused| refused.host));
            cdpilot::sync::pause(Duration::from_millis(10));
        }
        let missing = foreign.iter().filter(|one| is_due(one, &refused));
        found.extend(missing.map(|(number, _)| format!("{}: not tried", ROUTES[*number].0)));
        // What should not be tried would have been by now: a later request is.
        let last = Foreign::start();
        let script = format!(
            "new Promise(done => setTimeout(done, 400)).then(() => fetch('http://{}/', {{mode: 'no-cors'}})).catch(() => 0)",
            last.address
        );
        site.page("/last", "last");
        let tab = profile.open_tab(NewTab::new(site.url("a", "/last")), soon()).unwrap();
        let tab = profile.tab(Some(&tab.target_id)).unwrap().tab;
        tab.supervisor().evaluate(&FrameRef::TopOf(tab.target().clone()), &script, soon()).unwrap();
        assert!(hosts.take_refused().iter().any(|refused| refused.host == last.address), "the proxy is in use");
        for (number, foreign) in foreign.iter().map(|(number, foreign)| (*number, foreign)) {
            found.extend(foreign.seen().into_iter().map(|seen| format!("{}: {seen}", ROUTES[number].0)));
        }
        close_all(profile);
    }
    found
}

fn confined(control: &Control) -> (Profile, Hosts, Session) {
    let hosts = control.hosts(&["a.localhost".to_owned()]).unwrap();
    let session = Session::unlisted("confined", true).with_hosts(hosts.clone()).unwrap();
    (control.profile(None).unwrap().for_session(&session), hosts, session)
}

#[test]
fn nothing_leaves_a_session_with_hosts() {
    let Some(home) = TestHome::launching("") else { return };
    let (profile, hosts, _session) = confined(&home.control);
    let found = leaks(&profile, &hosts, &home.site, true);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn nothing_leaves_it_in_a_browser_that_was_running_already() {
    let Some(lease) = Lease::take_empty() else { return };
    let overrides = Overrides { cdp_url: Some(lease.url().to_owned()), ..Overrides::default() };
    let home = TestHome::without_browser("", overrides);
    home.main().start_with(&StartWith::default(), soon()).unwrap();
    let (profile, hosts, _session) = confined(&home.control);
    let found = leaks(&profile, &hosts, &home.site, false);
    assert!(found.is_empty(), "{found:#?}");
}

/// The routes are real: without hosts, the foreign server gets nearly all of them.
#[test]
fn without_hosts_the_same_pages_reach_the_other_server() {
    let Some(home) = TestHome::new("") else { return };
    let session = Session::unlisted("free", true);
    let profile = home.control.profile(None).unwrap().for_session(&session);
    let mut missing = Vec::new();
    // Chromium sends these in other circumstances only.
    let rare = ["link ping", "preconnect, DNS prefetch", "speculation rules", "prefetch", "WebTransport"];
    let numbers = share((0..ROUTES.len()).filter(|number| !rare.contains(&ROUTES[*number].0)), 5);
    for some in numbers.chunks(14) {
        let foreign: Vec<(usize, Foreign)> = some.iter().map(|number| (*number, Foreign::start())).collect();
        for (number, foreign) in &foreign {
            let _ = profile.open_tab(NewTab::new(page(&home.site, *number, &foreign.address)), soon());
        }
        let deadline = soon();
        while foreign.iter().any(|(_, foreign)| foreign.seen().is_empty()) && !deadline.passed() {
            cdpilot::sync::pause(Duration::from_millis(10));
        }
        let unseen = foreign.iter().filter(|(_, foreign)| foreign.seen().is_empty());
        missing.extend(unseen.map(|(number, _)| ROUTES[*number].0));
        close_all(&profile);
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn admitted_hosts_work_and_others_are_named() {
    let Some(home) = TestHome::new("") else { return };
    let (profile, hosts, _session) = confined(&home.control);
    home.site.page("/", "<title>here</title><img src='@b/x.png'>");
    let tab = profile.open_tab(NewTab::new(home.site.url("a", "/")), soon()).unwrap();
    assert_eq!(tab.title, "here");
    let refused = hosts.take_refused();
    assert_eq!(
        refused.iter().map(|refused| refused.host.as_str()).collect::<Vec<_>>(),
        [format!("b.localhost:{}", home.site.port())]
    );
    let error = profile.open_tab(NewTab::new(home.site.url("b", "/")), soon()).unwrap_err();
    assert_eq!(error.code(), "NAVIGATION_BLOCKED");
    assert!(error.to_string().contains("is not among the hosts of this conversation: a.localhost"), "{error}");
    assert!(home.control.hosts(&["http://".to_owned()]).is_err());
    // A limit that would not hold is an error.
    let shared = Session::unlisted("shared", false);
    assert!(shared.with_hosts(hosts.clone()).is_err());
    let used = Session::unlisted("used", true);
    assert!(used.clone().with_hosts(hosts.clone()).is_err() && used.hosts().is_none());
    assert!(home.site.requested_from("b.localhost").is_empty());
}

const START: &str = "<!-- generated: egress -->\n";
const END: &str = "<!-- end of egress -->\n";

/// The table in `docs/security.md`. `UPDATE_DOCS=1` writes it.
#[test]
fn the_security_page_lists_every_route() {
    let mut table = "\n| channel | how it ends |\n|---|---|\n".to_owned();
    for (name, _, end) in ROUTES {
        let end = match end {
            End::Refused => "refused by the proxy",
            End::NotTried => "not sent",
            End::NotTriedIfStarted => "not sent by browsers that cdpilot starts; in others, it may be",
        };
        let _ = writeln!(table, "| {name} | {end} |");
    }
    table.push('\n');
    let path = testkit::root().join("docs/security.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).expect("the place for the table");
    let (kept, behind) = rest.split_once(END).expect("the end of the table");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{START}{table}{END}{behind}")).unwrap();
        return;
    }
    assert!(
        kept == table,
        "docs/security.md is out of date: UPDATE_DOCS=1 cargo test --workspace --test server -- control_egress"
    );
}
