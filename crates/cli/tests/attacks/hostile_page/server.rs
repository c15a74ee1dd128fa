//! A page in a browser of the user, which nothing separates from the port of the control server.

use serde_json::{Value, json};

use super::super::{Attack, Row, rows, run_all};
use crate::support::api::TestServer;
use crate::support::chrome::Task;

struct Everyday {
    // Field order: the page goes before the server.
    task: Task,
    served: TestServer,
}

const WITNESS: &str = "a profile that the request creates, or an answer that the page can read; the same request of a program creates one";

/// The names of all profiles.
fn profiles(on: &Everyday) -> Vec<Value> {
    let response = on.served.api.get("/profiles").ok();
    response["profiles"].as_array().unwrap().iter().map(|profile| profile["name"].clone()).collect()
}

/// Runs a script that tries to make the profile `hacked` with `AT` (host and port of the server) and `TOKEN`.
fn attempt(on: &Everyday, script: &str) -> Result<(), String> {
    on.task.site.page("/", "<title>page</title><body>");
    on.task.go(&on.task.site.url("1", "/"));
    let Everyday { task, served } = on;
    let script = script.replace("AT", &served.api.address.to_string()).replace("TOKEN", &served.api.token);
    let script = script.replace("PORT", &served.api.address.port().to_string());
    let got = task.eval(&format!(
        "(async () => {{ const body = '{{\"name\":\"hacked\"}}', rest = time => new Promise(done => setTimeout(done, time)); const got = []; {script}; return got }})()"
    ));
    let made = profiles(on);
    if got == json!([]) && !made.contains(&json!("hacked")) { Ok(()) } else { Err(format!("{got} {made:?}")) }
}

const ATTACKS: [Attack<Everyday>; 6] = [
    Attack {
        name: "sends requests to the control server by fetch, forms and beacons, also with the right token",
        witness: WITNESS,
        run: |on| {
            attempt(
                on,
                "for (const host of ['AT', 'localhost:PORT']) for (const mode of ['cors', 'no-cors'])
                    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) for (const how of [{}, { Authorization: 'Bearer TOKEN' }])
                    await fetch(`http://${host}/profiles`, { method: 'POST', mode, body, credentials: 'include', headers: { 'Content-Type': type, ...how } })
                        .then(async answer => { const text = await answer.text(); if (text) got.push(text) }, () => 0);
                navigator.sendBeacon('http://AT/profiles', new Blob([body], { type: 'text/plain' }));
                try { navigator.sendBeacon('http://AT/profiles', new Blob([body], { type: 'application/json' })) } catch { }
                const sink = Object.assign(document.createElement('iframe'), { name: 'sink' });
                document.body.append(sink);
                for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
                    const form = Object.assign(document.createElement('form'), { action: 'http://AT/profiles', method: 'POST', enctype, target: 'sink' });
                    form.append(Object.assign(document.createElement('input'), { name: '{\"name\":\"hacked\",\"x\":\"', value: '\"}' }));
                    document.body.append(form); form.submit(); await rest(100);
                }",
            )
        },
    },
    Attack {
        name: "reaches the control server under a name of its own that resolves to this machine (DNS rebinding)",
        witness: WITNESS,
        run: |on| {
            attempt(
                on,
                "for (const host of ['evil.localhost', 'localhost.evil.localhost', '127.0.0.1.localhost'])
                    for (const path of ['/health', '/', '/tabs', '/profiles', '/openapi.json'])
                        await fetch(`http://${host}:PORT${path}`, { headers: path === '/health' ? {} : { Authorization: 'Bearer TOKEN' } })
                            .then(async answer => got.push(await answer.text()), () => 0)",
            )?;
            // A request with the page's own name arrives with that name.
            for host in
                ["evil.localhost", "evil.localhost:80", "127.0.0.1.evil.test", "localhost@evil.test", "127.0.0.1:1"]
            {
                let mut raw = std::net::TcpStream::connect(on.served.api.address).unwrap();
                let request = format!("GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
                std::io::Write::write_all(&mut raw, request.as_bytes()).unwrap();
                let mut answer = String::new();
                std::io::Read::read_to_string(&mut raw, &mut answer).unwrap();
                if !answer.contains(" 403 ") && !answer.contains(" 400 ") {
                    return Err(format!("{host}: {answer}"));
                }
            }
            assert_eq!(on.served.api.get("/health").status, 200);
            Ok(())
        },
    },
    Attack {
        name: "guesses tickets of the web UI, in popups, frames and requests",
        witness: WITNESS,
        run: |on| {
            attempt(
                on,
                "for (const guess of ['', '0', 'null', 'TOKEN', '0'.repeat(64), '../token', '%00', '*'])
                    for (const path of [`/?ticket=${guess}`, `/ui/secret?ticket=${guess}`, `/ui/ticket?ticket=${guess}`])
                        for (const method of ['GET', 'POST'])
                            await fetch(`http://AT${path}`, { method, credentials: 'include', headers: { Authorization: `Ticket ${guess}` } })
                                .then(async answer => got.push(await answer.text()), () => 0)",
            )
        },
    },
    Attack {
        name: "shows the web UI in a frame of its own, to catch clicks (clickjacking)",
        witness: "a document of the server in a frame; a page of another site is shown there",
        run: |on| {
            let url = on.served.server().ui_url().unwrap();
            on.task.site.page("/plain", "<title>plain</title>");
            on.task.site.page("/", &format!("<iframe src='{url}'></iframe><iframe src='http://{}/'></iframe><object data='http://{}/'></object><embed src='{url}'><iframe src='@l/plain'></iframe>", on.served.api.address, on.served.api.address));
            on.task.go(&on.task.site.url("1", "/"));
            on.task.frame("/plain");
            let port = format!(":{}/", on.served.api.address.port());
            let now = on.task.view();
            let theirs = now.frames.iter().filter(|frame| frame.url.contains(&port));
            // An error page of the browser has the URL of the failed document.
            let shown: Vec<_> = theirs
                .filter(|frame| on.task.eval_in(&frame.frame_id, "!!document.getElementById('facts')") == true)
                .collect();
            let page = on.task.eval_in(&on.task.frame("/plain").frame_id, "document.title");
            assert_eq!(page, "plain");
            if shown.is_empty() { Ok(()) } else { Err(format!("{shown:?}")) }
        },
    },
    Attack {
        name: "opens the web UI in a popup, reads it and sends it messages and commands",
        witness: WITNESS,
        run: |on| {
            attempt(
                on,
                "const popup = open('http://AT/');
                for (let i = 0; i < 10 && popup; i++) {
                    for (const message of [{ ticket: 'x' }, 'TOKEN', { type: 'secret', token: 'TOKEN' }, { method: 'POST', path: '/profiles', body }]) popup.postMessage(message, '*');
                    try { got.push(popup.document.title || 'a document') } catch { }
                    await rest(30);
                }
                got.splice(0, got.filter(title => title === 'a document').length);
                popup?.close()",
            )
        },
    },
    Attack {
        name: "opens streams and WebSockets of the control server and loads its answers as scripts and images",
        witness: WITNESS,
        run: |on| {
            attempt(
                on,
                "const over = (thing, ...names) => Promise.race([rest(1000), ...names.map(name => new Promise(done => thing['on' + name] = done))]);
                for (const path of ['/events', '/mcp', '/']) {
                    const socket = new WebSocket(`ws://AT${path}`);
                    socket.addEventListener('open', () => got.push('socket ' + path));
                    await over(socket, 'open', 'error');
                    const source = new EventSource(`http://AT${path}`, { withCredentials: true });
                    source.addEventListener('open', () => got.push('source ' + path));
                    await over(source, 'open', 'error');
                    source.close();
                }
                for (const path of ['/tabs', '/openapi.json', '/profiles', '/health']) {
                    const script = Object.assign(document.createElement('script'), { src: `http://AT${path}` });
                    script.addEventListener('load', () => got.push('script ' + path));
                    document.body.append(script);
                    await over(script, 'load', 'error');
                }",
            )
        },
    },
];

pub(super) fn listed() -> Vec<Row> {
    rows(&ATTACKS)
}

#[test]
fn no_page_of_another_browser_uses_the_control_server() {
    let Some(task) = Task::leased("everyday") else { return };
    let on = Everyday { task, served: TestServer::start() };
    run_all(&on, &ATTACKS);
    // The request itself is good.
    on.served.api.post("/profiles", &json!({ "name": "hacked" })).ok();
    assert!(profiles(&on).contains(&json!("hacked")));
}
