//! Every means by which a page can send requests to another server, and which of them arrived.

use cdpilot_server::control::Profile;

use super::site::{Answer, Site};
use super::test_home::eval_value;

/// The requests of a worker. `NAME` is the kind of worker.
const JOB: &str = "async function job(at) {
    await fetch(`http://${at}/NAME-fetch`, { mode: 'no-cors' }).catch(() => 0);
    await new Promise(done => { const socket = new WebSocket(`ws://${at}/NAME-ws`); socket.onopen = socket.onerror = done; });
    return 'done';
};";

/// The requests of a page to `AT`, a host with a port. Resolves when all have ended.
const ATTEMPTS: &str = "(async () => {
    const at = 'AT', over = (thing, ...names) => new Promise(done => names.forEach(name => thing['on' + name] = done));
    navigator.sendBeacon(`http://${at}/beacon`, 'x');
    const frame = document.createElement('iframe'), led = document.createElement('iframe');
    frame.src = `http://${at}/frame`;
    led.src = `/leads?${encodeURIComponent(`http://${at}/frame-redirect`)}`;
    const loaded = [over(frame, 'load'), over(led, 'load')];
    document.body.append(frame, led);
    await Promise.all(loaded);
    await fetch(`http://${at}/fetch`, { mode: 'no-cors' }).catch(() => 0);
    await fetch(`/leads?${encodeURIComponent(`http://${at}/fetch-redirect`)}`, { mode: 'no-cors' }).catch(() => 0);
    await over(new WebSocket(`ws://${at}/ws`), 'open', 'error');
    await over(new EventSource(`http://${at}/source`), 'open', 'error');
    const image = new Image(), script = document.createElement('script');
    image.src = `http://${at}/image`;
    script.src = `http://${at}/script`;
    document.body.append(script);
    await Promise.all([over(image, 'load', 'error'), over(script, 'load', 'error')]);
    const worker = new Worker('/worker.js');
    worker.postMessage(at);
    await over(worker, 'message', 'error');
    const shared = new SharedWorker('/shared.js');
    const answered = over(shared.port, 'message');
    shared.port.postMessage(at);
    await answered;
    await navigator.serviceWorker.register('/service.js');
    const service = (await navigator.serviceWorker.ready).active;
    const heard = over(navigator.serviceWorker, 'message');
    service.postMessage(at);
    await heard;
    return 'over';
})()";

/// Every kind of [`ATTEMPTS`].
pub(crate) const KINDS: [&str; 15] = [
    "beacon",
    "fetch",
    "fetch-redirect",
    "frame",
    "frame-redirect",
    "image",
    "script",
    "service-fetch",
    "service-ws",
    "shared-fetch",
    "shared-ws",
    "source",
    "worker-fetch",
    "worker-ws",
    "ws",
];

/// Puts the page and its workers on a site.
pub(crate) fn put_pages(site: &Site) {
    site.page("/reach", "<title>reach</title><body>");
    for (kind, ending) in [
        ("worker", "onmessage = async event => postMessage(await job(event.data))"),
        (
            "shared",
            "onconnect = event => { const [port] = event.ports; port.onmessage = async message => port.postMessage(await job(message.data)) }",
        ),
        ("service", "onmessage = async event => event.source.postMessage(await job(event.data))"),
    ] {
        site.put(&format!("/{kind}.js"), Answer::script(JOB.replace("NAME", kind) + ending));
    }
}

/// Runs all attempts of the page in the current tab on a host with a port.
pub(crate) fn attempt(profile: &Profile, site: &Site, at: &str) {
    put_pages(site);
    site.leads("/leads");
    profile.navigate(cdpilot_server::control::Navigate::new(site.url("a", "/reach")), super::chrome::soon()).unwrap();
    assert_eq!(eval_value(profile, None, &ATTEMPTS.replace("AT", at)), "over", "{at}");
}

/// The kinds that a witness received, for any host.
pub(crate) fn arrived(witness: &Site) -> Vec<String> {
    let mut seen: Vec<String> =
        witness.requested().iter().filter_map(|requested| Some(requested.split_once('/')?.1.to_owned())).collect();
    seen.retain(|path| path != "favicon.ico");
    seen.sort();
    seen.dedup();
    seen
}
