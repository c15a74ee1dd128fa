//! Network routes: what pages receive, what servers see, and what no route can do.

use std::fs;

use cdpilot::cdp::ConnectOptions;
use cdpilot::supervisor::{
    AbortReason, BridgeMode, Fulfilment, RouteAction, RouteRule, Supervisor, SupervisorOptions, TargetId,
};
use cdpilot_server::config::Config;
use serde_json::{Value, json};

use crate::support::api::TestServer;
use crate::support::chrome::{ACCEPT, Task, soon};
use crate::support::lease::Lease;
use crate::support::share::share;
use crate::support::site::{Answer, Held, Site};

/// The result of `fetch`: status, media type and text, or the name of its error.
fn fetch(url: &str) -> String {
    format!(
        "fetch('{url}').then(async r => `${{r.status}} ${{r.headers.get('content-type')}} ${{await r.text()}}`)\
         .catch(problem => problem.name)"
    )
}

fn add(served: &TestServer, route: Value) -> Value {
    served.api.post("/routes", &route).ok()["route"].take()
}

#[test]
fn a_route_fulfils_requests_in_place_of_the_server() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    site.page("/api/user.json", "of the server");
    served.show("<title>page</title>");
    let route = add(
        &served,
        json!({ "pattern": "**/api/*.json", "fulfil": { "body": "{\"name\": \"Ada\"}", "headers": { "X-Made": "up" } } }),
    );
    assert_eq!((&route["id"], &route["hits"]), (&json!("route1"), &json!(0)));
    assert_eq!(
        route["fulfil"],
        json!({ "status": 200, "bodyBytes": 15, "headers": [
            { "name": "X-Made", "value": "up" }, { "name": "Content-Type", "value": "application/json" },
        ] })
    );
    assert_eq!(api.eval(&fetch("/api/user.json")), "200 application/json {\"name\": \"Ada\"}");
    // From another site, with a preflight that its server is not asked for either.
    let target = site.url("b", "/api/user.json");
    let requested = format!("fetch('{target}', {{ method: 'PUT', headers: {{ 'X-A': '1' }} }}).then(r => r.text())");
    assert_eq!(api.eval(&requested), "{\"name\": \"Ada\"}");
    assert_eq!(api.eval(&fetch("/api/deeper/user.json")), "404 text/html; charset=utf-8 no such page");
    assert!(!site.requested().iter().any(|requested| requested.ends_with("/api/user.json")), "{:?}", site.requested());
    // The newest one that fits holds.
    add(&served, json!({ "pattern": "/api/**", "status": 503, "headers": { "Retry-After": "9" }, "times": 1 }));
    assert_eq!(
        api.eval("fetch('/api/user.json').then(r => [r.status, r.headers.get('retry-after')])"),
        json!([503, "9"])
    );
    assert_eq!(api.eval(&fetch("/api/user.json")), "200 application/json {\"name\": \"Ada\"}");
    let listed = api.get("/routes").ok();
    assert_eq!(listed["routes"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["routes"][0]["hits"], 3);
    // A document, and what is listed of it.
    add(
        &served,
        json!({ "pattern": "nowhere.test", "fulfil": { "bodyBase64": "PHRpdGxlPk1hZGUgdXA8L3RpdGxlPg==", "contentType": "text/html" } }),
    );
    let navigation = api.post("/navigate", &json!({ "url": "http://nowhere.test/x" })).ok();
    assert_eq!((&navigation["title"], &navigation["status"]), (&json!("Made up"), &json!(200)));
    assert_eq!(api.get("/requests?filter=nowhere.test/x").ok()["requests"][0]["status"], 200);
    assert_eq!(api.delete("/routes/route1").ok()["deleted"], 1);
    let response = api.delete("/routes/route1").fails(404, "NOT_FOUND");
    assert!(response["error"].as_str().unwrap().contains("route3"), "{response}");
    assert_eq!(api.delete("/routes").ok()["deleted"], 1);
    api.post("/navigate", &json!({ "url": site.url("a", "/") })).ok();
    assert_eq!(api.eval(&fetch("/api/user.json")), "200 text/html; charset=utf-8 of the server");
}

#[test]
fn routes_abort_requests_or_change_their_headers() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    site.put("/", Answer::html("<title>page</title>").header("Set-Cookie", "kept=1"));
    site.page("/plain", "plain");
    site.page("/typed", "typed");
    served.open("/");
    add(&served, json!({ "pattern": "/plain", "abort": true, "method": "get" }));
    assert_eq!(api.eval(&fetch("/plain")), "TypeError");
    assert_eq!(api.eval("fetch('/plain', { method: 'POST' }).then(r => r.status)"), 200);
    let failed = api.get("/requests?filter=/plain").ok()["requests"][0]["failure"].take();
    assert_eq!(failed, "net::ERR_FAILED");
    add(&served, json!({ "pattern": "/typed", "abort": "connectionrefused", "resourceType": "image" }));
    assert_eq!(api.eval(&fetch("/typed")), "200 text/html; charset=utf-8 typed");
    let image = "new Promise(done => { const image = new Image(); image.onload = () => done('loaded'); \
                 image.onerror = () => done('failed'); image.src = '/typed'; })";
    assert_eq!(api.eval(image), "failed");
    assert_eq!(site.requested_from("a.localhost").iter().filter(|requested| requested.ends_with("/typed")).count(), 1);
    add(&served, json!({ "pattern": "/typed", "requestHeaders": { "X-Extra": "more", "accept": "text/x" } }));
    api.eval(&fetch("/typed?2"));
    assert!(!site.heads("a.localhost/typed")[1].contains("X-Extra"), "the query is part of the address");
    api.eval(&fetch("/typed"));
    let head = site.heads("a.localhost/typed")[2].clone();
    assert!(head.contains("X-Extra: more") && head.contains("text/x") && !head.contains("*/*"), "{head}");
    assert!(head.contains("kept=1"), "{head}");
    // Not along a redirect.
    site.put("/moved", Answer::html("").status("302 Found").header("Location", &site.url("b", "/end")));
    add(&served, json!({ "pattern": "/moved", "requestHeaders": { "Authorization": "Bearer abcdef" } }));
    api.eval("fetch('/moved', { mode: 'no-cors' }).then(() => 1, () => 0)");
    assert!(site.heads("a.localhost/moved")[0].contains("Bearer abcdef"));
    assert!(!site.heads("b.localhost/end")[0].contains("Bearer"), "{:?}", site.heads("b.localhost/end"));
    let secret = json!({ "pattern": "/x", "requestHeaders": { "Authorization": "Bearer abcdef", "X-Plain": "1" } });
    assert_eq!(
        add(&served, secret)["requestHeaders"],
        json!([{ "name": "Authorization", "value": "Bearer [secret]" }, { "name": "X-Plain", "value": "1" }])
    );
    // A page that fails to load.
    add(&served, json!({ "pattern": "/gone", "abort": "internetdisconnected" }));
    let response = api.post("/navigate", &json!({ "url": site.url("a", "/gone") }));
    assert!(response.text.contains("ERR_INTERNET_DISCONNECTED"), "{}", response.text);
}

#[test]
fn every_status_can_be_fulfilled() {
    let Some(task) = Task::leased("statuses") else { return };
    task.go(&task.site.url("a", "/"));
    // Some have no phrase of their own, without which Chromium takes none.
    for status in [200, 218, 226, 299, 304, 418, 419, 451, 499, 520, 599] {
        let answer = RouteAction::Fulfil(Fulfilment::new(status, Vec::new(), "").into());
        task.add_route(RouteRule::new("/status", answer), soon()).unwrap();
        assert_eq!(task.eval("fetch('/status').then(r => r.status)"), json!(status));
    }
}

#[test]
fn a_request_with_an_oversized_body_fails_alone() {
    let Some(lease) = Lease::take() else { return };
    let connect = ConnectOptions::new().max_message(1 << 20);
    let url = lease.url().to_owned();
    let task = Task::over(Supervisor::attach(&url, &connect, SupervisorOptions::task("large")).unwrap());
    task.go(&task.site.url("a", "/"));
    let action = RouteAction::Continue { headers: vec![("X-A".to_owned(), "1".to_owned())] };
    task.add_route(RouteRule::new("**/taken", action), soon()).unwrap();
    let sent = |bytes: usize| {
        let script = format!(
            "fetch('/taken', {{ method: 'POST', body: 'x'.repeat({bytes}) }}).then(() => 'sent', problem => problem.name)"
        );
        task.eval(&script)
    };
    assert_eq!((sent(1000), sent(2 << 20), sent(1000)), (json!("sent"), json!("TypeError"), json!("sent")));
    // So does a call whose answer is too large, and a console entry is missing.
    let script = "console.log('x'.repeat(2 ** 21)); 'x'.repeat(2 ** 21)";
    let problem = task.evaluate(&cdpilot::supervisor::FrameRef::Top, script, soon()).unwrap_err().to_string();
    assert!(problem.contains("more than the limit of 1048576"), "{problem}");
    assert_eq!(task.eval("1 + 1"), json!(2));
}

#[test]
fn large_answers_for_many_requests_are_delivered() {
    let Some(task) = Task::leased("large answers") else { return };
    task.go(&task.site.url("a", "/"));
    let body = vec![b'x'; 12 << 20];
    let answer = RouteAction::Fulfil(Fulfilment::new(200, Vec::new(), body).into());
    task.add_route(RouteRule::new("/large", answer), soon()).unwrap();
    let all = "Promise.all(Array.from({ length: 12 }, () => fetch('/large').then(r => r.arrayBuffer()).then(b => b.byteLength)))\
               .then(all => all.filter(length => length === 12 * 2 ** 20).length)";
    assert_eq!(task.eval(all), json!(12));
}

#[test]
fn invalid_routes_are_refused_naming_the_field() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show("page");
    for (route, part) in [
        (json!({ "pattern": "/x" }), "has no effect"),
        (json!({ "pattern": "a b", "abort": true }), "pattern"),
        (json!({ "pattern": "/x", "abort": "sadly" }), "timedout"),
        (json!({ "pattern": "/x", "abort": true, "status": 200 }), "abort"),
        (json!({ "pattern": "/x", "headers": { "A": "1" } }), "requestHeaders"),
        (json!({ "pattern": "/x", "status": 200, "requestHeaders": { "A": "1" } }), "requestHeaders"),
        (json!({ "pattern": "/x", "requestHeaders": { "Host": "b" } }), "Host"),
        (json!({ "pattern": "/x", "status": 200, "headers": { "A": "1\r\nB: 2" } }), "headers"),
        (json!({ "pattern": "/x", "status": 99 }), "status"),
        (json!({ "pattern": "/x", "abort": true, "times": 0 }), "times"),
        (json!({ "pattern": "/x", "abort": true, "delayMs": 120_001 }), "delayMs"),
        (json!({ "pattern": "/x", "abort": true, "resourceType": "picture" }), "resourceType"),
        (json!({ "pattern": "/x", "fulfil": { "body": "a", "bodyBase64": "YQ==" } }), "bodyBase64"),
        (json!({ "pattern": "/x", "fulfil": { "bodyBase64": "?" } }), "Base64"),
    ] {
        let response = api.post("/routes", &route).fails(400, "BAD_REQUEST");
        assert!(response["error"].as_str().unwrap().contains(part), "{route}: {response}");
    }
    api.post("/routes", &json!({ "pattern": "/x", "abort": true, "targetId": "nobody" })).fails(404, "TAB_NOT_FOUND");
    assert_eq!(api.get("/routes").ok()["routes"], json!([]));
    for _ in 0..256 {
        add(&served, json!({ "pattern": "/x", "abort": true }));
    }
    api.post("/routes", &json!({ "pattern": "/x", "abort": true })).fails(409, "CONFLICT");
}

#[test]
fn route_files_come_only_from_the_upload_folders() {
    let Some(served) = TestServer::browsing() else { return };
    let api = &served.api;
    served.show("page");
    fs::write(served.home.uploads().join("made.css"), "p {}").unwrap();
    add(&served, json!({ "pattern": "/made", "fulfil": { "path": "made.css" } }));
    assert_eq!(api.eval(&fetch("/made")), "200 text/css; charset=utf-8 p {}");
    let outside = served.home.root().join("token");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, served.home.uploads().join("link")).unwrap();
    for path in [outside.to_str().unwrap(), "/etc/passwd", "../token", "link"] {
        let route = json!({ "pattern": "/made", "fulfil": { "path": path } });
        api.post("/routes", &route).fails(403, "PATH_REFUSED");
    }
    fs::File::create(served.home.uploads().join("large")).unwrap().set_len(16 * 1024 * 1024 + 1).unwrap();
    api.post("/routes", &json!({ "pattern": "/made", "fulfil": { "path": "large" } })).fails(403, "PATH_REFUSED");
}

/// One for all tabs reaches popups, frames of other sites and workers; one of a tab only that one. Not shared workers: Chromium
/// 156 does not always hold one at its start, and one that runs can be reached no more.
#[test]
fn routes_apply_to_popups_frames_and_workers() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    let job = "fetch('/mock').then(r => r.text()).catch(problem => problem.name)";
    site.put("/worker.js", Answer::script(format!("onmessage = async () => postMessage(await {job})")));
    site.put(
        "/service.js",
        Answer::script(format!("onmessage = async event => event.source.postMessage(await {job})")),
    );
    site.page("/inner", &format!("<script>{job}.then(text => parent.postMessage(text, '*'))</script>"));
    site.page("/popup", &format!("<script>{job}.then(text => opener.postMessage(text, '*'))</script>"));
    site.page("/mock", "of the server");
    let first = served.show("<button onclick=\"window.open('/popup')\">Open</button>");
    let second = served.open("/");
    add(&served, json!({ "pattern": "**/mock", "fulfil": { "body": "mocked" } }));
    let received = "const next = thing => new Promise(done => thing.onmessage = event => done(event.data))";
    let frame = format!(
        "const frame = document.createElement('iframe'); frame.src = '{}'; document.body.append(frame); return next(window)",
        site.url("b", "/inner")
    );
    let places = [
        ("page", "return JOB"),
        ("frame of another site", &*frame),
        ("worker", "const worker = new Worker('/worker.js'); worker.postMessage(1); return next(worker)"),
        (
            "service worker",
            "await navigator.serviceWorker.register('/service.js'); const { active } = await navigator.serviceWorker.ready; \
             const reply = next(navigator.serviceWorker); active.postMessage(1); return reply",
        ),
    ];
    for (place, script) in share(places, 2) {
        let script = format!("(async () => {{ {received}; {} }})()", script.replace("JOB", job));
        let response = api.act(&json!({ "kind": "evaluate", "fn": script }));
        assert_eq!(response.json()["result"], "mocked", "{place}: {}", response.text);
    }
    api.eval("void (said = new Promise(done => onmessage = event => done(event.data)))");
    api.act(&json!({ "kind": "click", "selector": "button", "targetId": second })).ok();
    assert_eq!(api.eval("said"), "mocked", "a popup has it from its beginning");
    assert!(!site.requested().iter().any(|requested| requested.ends_with("/mock")), "{:?}", site.requested());

    api.delete("/routes").ok();
    let route = add(&served, json!({ "pattern": "**/mock", "status": 418, "targetId": &first[..8] }));
    assert_eq!(route["targetId"], first);
    let status = |tab: &str| {
        let act = json!({ "kind": "evaluate", "fn": "fetch('/mock').then(r => r.status)", "targetId": tab });
        api.act(&act).ok()["result"].take()
    };
    assert_eq!((status(&first), status(&second)), (json!(418), json!(200)));
    api.delete(&format!("/tabs/{first}")).ok();
    assert_eq!(api.get("/routes").ok()["routes"], json!([]), "gone with its tab");
}

/// While a request is held, others go on, actions end, and so does the browser.
#[test]
fn a_delayed_request_delays_no_other() {
    let Some(served) = TestServer::browsing() else { return };
    let (api, site) = (&served.api, &served.site);
    site.page("/slow", "slow");
    site.page("/quick", "quick");
    served
        .show("<button onclick=\"fetch('/slow').then(r => r.text()).then(text => document.title = text)\">Go</button>");
    add(&served, json!({ "pattern": "/quick", "delayMs": 1 }));
    assert_eq!(api.eval(&fetch("/quick")), "200 text/html; charset=utf-8 quick");
    let route = add(&served, json!({ "pattern": "/slow", "delayMs": 120_000 }));
    let acted = api.act(&json!({ "kind": "click", "selector": "button", "settle": { "maxMs": 300 } }));
    let acted = if acted.status == 200 {
        acted
    } else {
        api.act(&json!({ "kind": "click", "selector": "button", "timeoutMs": 1500 }))
    };
    assert_eq!(acted.ok()["settled"], "requests_pending");
    assert_eq!(api.eval(&fetch("/quick")), "200 text/html; charset=utf-8 quick");
    assert!(!site.requested().iter().any(|requested| requested.ends_with("/slow")), "{:?}", site.requested());
    // What a route holds goes on when it is removed.
    api.delete(&format!("/routes/{}", route["id"].as_str().unwrap())).ok();
    api.act(&json!({ "kind": "wait", "fn": "document.title === 'slow'" })).ok();
    // A page that is held is left and closed, and the browser ends.
    add(&served, json!({ "pattern": "/slow", "delayMs": 120_000 }));
    api.post("/navigate", &json!({ "url": site.url("a", "/slow"), "waitUntil": "none" })).ok();
    let other = served.open("/");
    api.post("/navigate", &json!({ "url": site.url("a", "/slow"), "waitUntil": "none" })).ok();
    api.delete(&format!("/tabs/{other}")).ok();
    assert_eq!(api.post("/stop", &json!({})).ok()["running"], false);
    api.post("/start", &json!({})).ok();
    assert_eq!(api.get("/routes").ok()["routes"], json!([]), "gone with its browser");
}

/// A blocked site and a route for every request: the policy takes precedence.
#[test]
fn no_route_bypasses_the_navigation_policy() {
    let witness = Site::start();
    let block = format!("browser: {{cdp_port: 0, navigation: {{block: ['c.localhost:{}']}}}}", witness.port());
    let Some(served) = TestServer::browsing_with(|config, _| {
        *config = Config::parse(&block, std::path::Path::new("config.yaml")).unwrap();
    }) else {
        return;
    };
    let (api, site) = (&served.api, &served.site);
    served.show("page");
    add(&served, json!({ "pattern": "**", "fulfil": { "body": "made up" } }));
    let own = format!("http://127.0.0.1:{}/", api.address.port());
    let blocked = witness.url("c", "/x");
    assert_eq!(api.eval(&fetch("/anything")), "200 text/plain; charset=utf-8 made up");
    for url in [&own, &blocked] {
        assert_eq!(api.eval(&fetch(url)), "TypeError", "{url}");
        api.post("/navigate", &json!({ "url": url })).fails(403, "NAVIGATION_BLOCKED");
        let frame = format!(
            "new Promise(done => {{ const frame = document.createElement('iframe'); frame.onload = () => done(1); \
             frame.src = '{url}'; document.body.append(frame); }})"
        );
        api.eval(&frame);
    }
    let text = api.get("/snapshot").ok()["snapshot"].to_string();
    assert!(!text.contains("made up"), "{text}");
    // An answer that leads there.
    api.delete("/routes").ok();
    for (path, url) in [("/own", &own), ("/blocked", &blocked)] {
        add(&served, json!({ "pattern": path, "status": 302, "headers": { "Location": url } }));
        assert_eq!(api.eval(&fetch(path)), "TypeError", "{url}");
        let navigation = api.post("/navigate", &json!({ "url": site.url("a", path) }));
        assert_ne!(navigation.status, 200, "{}", navigation.text);
    }
    // A request that goes on, with headers that name another host.
    add(&served, json!({ "pattern": "**", "requestHeaders": { "X-Forwarded-Host": "c.localhost" }, "delayMs": 1 }));
    assert_eq!(api.eval(&fetch(&blocked)), "TypeError");
    assert_eq!(witness.requested(), [""; 0]);
}

/// One `Fetch` for routes, logins and dialogs over the bridge.
#[test]
fn routes_logins_and_bridged_dialogs_share_interception() {
    let options = SupervisorOptions::task("shared-fetch").bridge(BridgeMode::Always);
    let Some(task) = Task::leased_with(options) else { return };
    task.site.page("/", "here");
    task.site.page("/locked", "unlocked");
    task.site.lock("/locked", "ann:sesame");
    task.go(&task.site.url("a", "/"));
    let target: TargetId = task.view().pages[0].target_id.clone();
    let mocked = RouteAction::Fulfil(std::sync::Arc::new(Fulfilment::new(200, Vec::new(), "mocked")));
    task.add_route(RouteRule::new("**/mock", mocked), soon()).unwrap();
    assert_eq!(task.eval("fetch('/mock').then(r => r.text())"), "mocked");
    task.add_route(RouteRule::new("/once", RouteAction::Abort(AbortReason::Failed)).times(1), soon()).unwrap();
    assert_eq!(task.eval("fetch('/once').catch(() => 'failed')"), "failed", "also when nothing is caught afterwards");
    assert_eq!(task.eval("fetch('/once').then(r => r.status)"), 404);
    let login = cdpilot::supervisor::Login::new("ann", "sesame");
    task.set_login(&target, Some(login), soon()).unwrap();
    assert_eq!(task.eval("fetch('/locked').then(r => r.text())"), "unlocked");
    assert_eq!(task.eval("fetch('/mock').then(r => r.text())"), "mocked");
    task.add_route(RouteRule::new("**", RouteAction::Abort(AbortReason::Failed)).times(1000), soon()).unwrap();
    task.run("window.got = confirm('sure?')");
    assert!(task.dialog_saying("sure?").bridged, "a route for everything does not take the bridge's calls");
    task.answer(ACCEPT);
    assert_eq!(task.eval("got"), true);
    assert_eq!(task.remove_routes(None, soon()).unwrap().len(), 2);
    task.set_login(&target, None, soon()).unwrap();
    assert_eq!(task.eval("fetch('/mock').then(r => r.status)"), 404);
    task.run("window.got = prompt('again?')");
    assert!(task.dialog_saying("again?").bridged);
    task.answer(ACCEPT);
}

/// No request is lost while routes are added and removed.
#[test]
fn routes_can_be_added_and_removed_under_load() {
    let Some(task) = Task::leased_with(SupervisorOptions::task("routes-under-load")) else { return };
    let held = Held::default();
    task.site.page("/", "here");
    task.site.page("/x", "real");
    task.site.put("/last", Answer::html("last").held_by(&held));
    task.go(&task.site.url("a", "/"));
    task.run(
        "window.all = []; window.going = true; (async () => { while (going) { \
         all.push(...await Promise.all([1, 2, 3, 4].map(() => fetch('/x').then(r => r.text())))); } window.over = true; })()",
    );
    for _ in 0..20 {
        let mocked = RouteAction::Fulfil(std::sync::Arc::new(Fulfilment::new(200, Vec::new(), "mocked")));
        task.add_route(RouteRule::new("/x", mocked).delay(std::time::Duration::from_millis(1)), soon()).unwrap();
        task.eval("fetch('/x').then(r => r.text())");
        task.remove_routes(None, soon()).unwrap();
    }
    for delay in [0, 5] {
        let once = RouteRule::new("/alone", RouteAction::Abort(AbortReason::Failed)).times(1);
        task.add_route(once.delay(std::time::Duration::from_millis(delay)), soon()).unwrap();
        assert_eq!(task.eval("fetch('/alone').then(() => 'sent', () => 'failed')"), "failed", "{delay}");
    }
    held.release();
    let seen = task.eval("going = false, new Promise(done => { const look = () => window.over ? done(all) : setTimeout(look, 5); look(); })");
    let seen: Vec<&str> = seen.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    assert!(seen.iter().all(|text| ["real", "mocked"].contains(text)), "{seen:?}");
    assert!(seen.contains(&"mocked"), "{} requests", seen.len());
}
