//! A page that tries to reach a port that controls browsers: the control server, or a debugging port.

use cdpilot_server::control::Navigate;
use serde_json::json;

use super::super::{Attack, Row, rows, run_some};
use super::door::Door;
use crate::support::chrome::soon;
use crate::support::site::Answer;
use crate::support::test_home::{TestHome, eval_value};

const WITNESS: &str = "a connection to a server at a protected port; the same script connects to another port";

/// What each script may use. `PORT` is the port to be reached, `AT` an address of this machine with it.
const HELP: &str = "
    const rest = time => new Promise(done => setTimeout(done, time));
    const over = (thing, ...names) => Promise.race([rest(600), ...names.map(name => new Promise(done => thing['on' + name] = done))]);
    const put = (name, properties) => { const made = Object.assign(document.createElement(name), properties); document.body.append(made); return made };
    const quiet = promise => Promise.race([rest(600), Promise.resolve(promise).catch(() => 0)]);
    const hosts = ['127.0.0.1', 'localhost', 'localhost.', 'x.localhost', '127.1', '2130706433', '0x7f.0.0.1', '0177.0.0.1',
        '0.0.0.0', '127.0.0.1.', '127.127.127.127', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', 'LOCALHOST', '①②⑦.0.0.1'];
";

struct Target {
    // Field order: the browser ends before the ports close.
    home: TestHome,
    forbidden: Door,
    other: Door,
    debugging: u16,
}

impl Target {
    fn new() -> Option<Self> {
        let home = TestHome::launching("transport: port")?;
        let (forbidden, other) = (Door::open(), Door::open());
        home.protect_port(forbidden.port, "a test");
        let debugging = home.main().start(None, soon()).unwrap().cdp_port.unwrap();
        home.site.page("/", "<title>page</title><body>");
        home.site.leads("/leads");
        for (name, ending) in [
            ("worker", "onmessage = async event => postMessage(await job(event.data))"),
            (
                "shared",
                "onconnect = event => { const [port] = event.ports; port.onmessage = async message => port.postMessage(await job(message.data)) }",
            ),
            ("service", "onmessage = async event => event.source.postMessage(await job(event.data))"),
        ] {
            let job = "const job = async at => { await fetch(`http://${at}/NAME`, { mode: 'no-cors' }).catch(() => 0);
                if (self.importScripts) try { importScripts(`http://${at}/NAME-import`) } catch { } return 'over' };";
            home.site.put(&format!("/{name}.js"), Answer::script(job.replace("NAME", name) + ending));
        }
        home.site.put(
            "/csp",
            Answer::html("<img src='/x'>").header("Content-Security-Policy", "img-src 'none'; report-uri @query"),
        );
        Some(Self { home, forbidden, other, debugging })
    }

    fn attempt(&self, script: &str, port: u16) {
        let navigate = Navigate::new(self.home.site.url("a", "/"));
        self.home.main().navigate(navigate, soon()).unwrap();
        let script = script.replace("AT", &format!("127.0.0.1:{port}")).replace("PORT", &port.to_string());
        let response =
            eval_value(&self.home.main(), None, &format!("(async () => {{ {HELP} {script}; return 'over' }})()"));
        assert_eq!(response, "over", "{response}");
    }

    /// The script reaches another port, and not the protected one.
    fn keeps_out(&self, script: &str) -> Result<(), String> {
        self.attempt(script, self.forbidden.port);
        let before = self.other.seen().len();
        self.attempt(script, self.other.port);
        assert!(self.other.wait_beyond(before), "the script reaches no port at all");
        let seen = self.forbidden.seen();
        if seen.is_empty() { Ok(()) } else { Err(format!("{seen:?}")) }
    }
}

const ATTACKS: [Attack<Target>; 12] = [
    Attack {
        name: "fetches the control server's port under 15 spellings of this machine",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "await Promise.all(hosts.map(host => quiet(fetch(`http://${host}:PORT/fetch`, { mode: 'no-cors' }))))",
            )
        },
    },
    Attack {
        name: "opens WebSockets to the control server's port under 15 spellings of this machine",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "await Promise.all(hosts.map(host => over(new WebSocket(`ws://${host}:PORT/socket`), 'open', 'error')));
                if (window.WebSocketStream) await quiet(new WebSocketStream('ws://AT/stream').opened)",
            )
        },
    },
    Attack {
        name: "shows the control server's port in frames, embeds and objects",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "const made = [put('iframe', { src: 'http://AT/frame' }), put('embed', { src: 'http://AT/embed' }),
                    put('object', { data: 'http://AT/object', type: 'text/html' }),
                    put('iframe', { srcdoc: `<meta http-equiv=refresh content='0;url=http://AT/refresh'>` }),
                    put('iframe', { src: URL.createObjectURL(new Blob([`<script>location = 'http://AT/blob'</script>`], { type: 'text/html' })) }),
                    put('iframe', { src: `data:text/html,<script>location = 'http://AT/data'</script>` }),
                    put('iframe', { srcdoc: `<frameset><frame src='http://AT/frameset'></frameset>` })];
                await Promise.all(made.map(frame => over(frame, 'none')))",
            )
        },
    },
    Attack {
        name: "navigates popups, links and forms to the control server's port",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "const opened = [window.open('http://AT/popup'), window.open('')];
                opened[1].location = 'http://AT/popup-later';
                put('iframe', { name: 'sink' });
                const form = put('form', { action: 'http://AT/form', method: 'POST', target: 'sink' });
                form.submit();
                put('a', { href: 'http://AT/download', download: 'x', target: 'sink' }).click();
                await rest(400);
                for (const popup of opened) popup?.close()",
            )
        },
    },
    Attack {
        name: "redirects itself to the control server's port",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "const leads = path => `/leads?${encodeURIComponent(`http://AT/${path}`)}`;
                await quiet(fetch(leads('fetch'), { mode: 'no-cors' }));
                await quiet(fetch(leads('post'), { mode: 'no-cors', method: 'POST', body: 'x' }));
                await Promise.all([over(put('iframe', { src: leads('frame') }), 'load'), over(put('img', { src: leads('image') }), 'load', 'error'),
                    over(put('script', { src: leads('script') }), 'load', 'error'), over(new EventSource(leads('source')), 'open', 'error')])",
            )
        },
    },
    Attack {
        name: "requests the control server's port from workers of three kinds",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "const worker = new Worker('/worker.js');
                worker.postMessage('AT');
                await over(worker, 'message');
                await over(new Worker(URL.createObjectURL(new Blob([`import('http://AT/module').catch(() => 0).then(() => postMessage(1))`])), { type: 'module' }), 'message', 'error');
                const shared = new SharedWorker('/shared.js');
                shared.port.postMessage('AT');
                await over(shared.port, 'message');
                await navigator.serviceWorker.register('/service.js');
                (await navigator.serviceWorker.ready).active.postMessage('AT');
                await over(navigator.serviceWorker, 'message')",
            )
        },
    },
    Attack {
        name: "makes the browser connect early to the control server's port: preload, prefetch, preconnect, prerender, manifest",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'modulepreload', 'prerender', 'manifest', 'icon', 'stylesheet', 'compression-dictionary'])
                    document.head.append(Object.assign(document.createElement('link'), { rel, href: `http://AT/${rel}` }));
                for (const as of ['script', 'style', 'image', 'font', 'fetch'])
                    document.head.append(Object.assign(document.createElement('link'), { rel: 'preload', as, href: `http://AT/preload-${as}` }));
                put('script', { type: 'speculationrules', textContent: JSON.stringify({
                    prefetch: [{ source: 'list', urls: ['http://AT/rules-prefetch'], eagerness: 'immediate' }],
                    prerender: [{ source: 'list', urls: ['http://AT/rules-prerender'], eagerness: 'immediate' }] }) });
                await rest(500)",
            )
        },
    },
    Attack {
        name: "uses the control server's port as style sheet, font, image, video, track and module",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "put('style', { textContent: `@import 'http://AT/import.css'; @font-face { font-family: f; src: url(http://AT/font) }
                    body { font-family: f; background: url(http://AT/background); cursor: url(http://AT/cursor), auto; mask-image: url(http://AT/mask) }` });
                put('p', { textContent: 'x' });
                put('video', { src: 'http://AT/video', poster: 'http://AT/poster', preload: 'auto' });
                const audio = put('audio', { src: 'http://AT/audio', preload: 'auto' });
                audio.append(Object.assign(document.createElement('track'), { src: 'http://AT/track', default: true }));
                put('div', { innerHTML: `<svg><image href='http://AT/svg' width=9 height=9 /><use href='http://AT/use#x' /></svg><img srcset='http://AT/set 1x'><input type=image src='http://AT/input'>` });
                await quiet(import('http://AT/dynamic'));
                await quiet(new AudioContext().audioWorklet.addModule('http://AT/worklet'));
                await rest(300)",
            )
        },
    },
    Attack {
        name: "sends beacons, pings, violation reports and event streams to the control server's port",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "navigator.sendBeacon('http://AT/beacon', 'x');
                window.fetchLater?.('http://AT/later', { activateAfter: 0 });
                const link = put('a', { href: '#', ping: 'http://AT/ping' });
                link.click();
                await quiet(fetch('http://AT/keepalive', { keepalive: true, mode: 'no-cors', method: 'POST' }));
                put('iframe', { src: '/csp?http://AT/report' });
                await over(new EventSource('http://AT/source'), 'open', 'error');
                const request = new XMLHttpRequest();
                request.open('POST', 'http://AT/xhr');
                request.send('x');
                await over(request, 'loadend');
                await rest(200)",
            )
        },
    },
    Attack {
        name: "leaves requests to the control server's port running when its frame is removed",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "const frame = put('iframe', { src: '/' });
                await over(frame, 'load');
                const leads = path => `/leads?${encodeURIComponent(`http://AT/${path}`)}`;
                frame.contentWindow.fetch('http://AT/keepalive', { keepalive: true, mode: 'no-cors' });
                frame.contentWindow.fetch(leads('keepalive-redirected'), { keepalive: true, mode: 'no-cors' });
                frame.contentWindow.navigator.sendBeacon(leads('beacon-redirected'), 'x');
                frame.contentWindow.fetchLater?.('http://AT/later');
                frame.contentWindow.fetchLater?.(leads('later-redirected'));
                frame.remove();
                await rest(400)",
            )
        },
    },
    Attack {
        name: "connects to the control server's port with WebRTC over TCP",
        witness: WITNESS,
        run: |on| {
            on.keeps_out(
                "const peer = new RTCPeerConnection({ iceTransportPolicy: 'all', iceServers: [
                    { urls: ['turn:127.0.0.1:PORT?transport=tcp', 'turn:localhost:PORT?transport=tcp', 'turns:127.0.0.1:PORT?transport=tcp'], username: 'x', credential: 'x' }] });
                peer.createDataChannel('x');
                await peer.setLocalDescription(await peer.createOffer());
                await rest(600);
                peer.close()",
            )
        },
    },
    Attack {
        name: "reads the tabs of its own browser at its debugging port, and opens its WebSocket",
        witness: "an answer or an open socket; the test process gets an answer from that port",
        run: |on| {
            let port = on.debugging;
            let ours = std::net::TcpStream::connect(("127.0.0.1", port));
            assert!(ours.is_ok(), "nobody listens at the debugging port: {ours:?}");
            let script = format!(
                "(async () => {{ {HELP} const got = [];
                for (const host of hosts) {{
                    await quiet(fetch(`http://${{host}}:{port}/json/list`, {{ mode: 'no-cors' }}).then(() => got.push('fetch ' + host)));
                    const socket = new WebSocket(`ws://${{host}}:{port}/devtools/browser`);
                    socket.addEventListener('open', () => got.push('socket ' + host));
                    await over(socket, 'open', 'error');
                }}
                return got }})()"
            );
            let got = eval_value(&on.home.main(), None, &script);
            if got == json!([]) { Ok(()) } else { Err(got.to_string()) }
        },
    },
];

pub(super) fn listed() -> Vec<Row> {
    rows(&ATTACKS)
}

#[test]
fn no_page_reaches_a_port_that_controls_browsers() {
    let Some(target) = Target::new() else { return };
    run_some(&target, &ATTACKS, 4);
    let late = target.forbidden.seen();
    assert!(late.is_empty(), "arrived late: {late:?}");
}
