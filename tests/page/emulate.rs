//! Emulation as pages and servers see it.

use cdpilot::page::{Emulation, Error, PageOptions};
use cdpilot::supervisor::{BridgeMode, SupervisorOptions};
use serde_json::{Value, json};

use crate::support::chrome::{soon, soon_rescued};
use crate::support::settle_tab::SettleTab;
use crate::support::site::Answer;

/// The observations of a document.
const TELL: &str = "(() => { const place = new Promise(done => navigator.geolocation.getCurrentPosition( \
    p => done([p.coords.latitude, p.coords.longitude, p.coords.accuracy]), e => done(e.code), { timeout: 5000 })); \
    const is = query => matchMedia(query).matches; \
    return place.then(place => ({ place, zone: Intl.DateTimeFormat().resolvedOptions().timeZone, \
    number: (1234.5).toLocaleString(), language: navigator.language, agent: navigator.userAgent, \
    dark: is('(prefers-color-scheme: dark)'), calm: is('(prefers-reduced-motion: reduce)'), print: is('print'), \
    touch: navigator.maxTouchPoints, online: navigator.onLine })) })()";
const SCREEN: &str = "[innerWidth, innerHeight, devicePixelRatio, screen.width, navigator.maxTouchPoints]";

#[test]
fn a_script_under_cpu_throttling_has_more_time() {
    let Some(tab) = SettleTab::with(soon_rescued(SupervisorOptions::task("slow-script")), PageOptions::default())
    else {
        return;
    };
    tab.site.page("/", "<button id=b onclick='const end = performance.now() + 2500; while (performance.now() < end); done = true'>Go</button><script>done = false</script>");
    tab.go("/");
    let click =
        || tab.act(&serde_json::from_value(json!({ "kind": "click", "selector": "#b" })).unwrap(), soon()).unwrap();
    // As quick as usual, it would be one that does not let go.
    assert!(click().rescued);
    assert_eq!(tab.eval("done"), false);
    emulate(&tab, json!({ "cpu": 10 }));
    assert!(!click().rescued);
    assert_eq!(tab.eval("done"), true);
    emulate(&tab, json!({ "cpu": null }));
    tab.eval("done = false");
    assert!(click().rescued);
}

fn emulate(tab: &SettleTab, change: Value) {
    let change: Emulation = serde_json::from_value(change).unwrap();
    tab.emulate(&change, soon()).unwrap();
}

fn refused(tab: &SettleTab, change: Value) -> String {
    let change: Emulation = serde_json::from_value(change).unwrap();
    let error = tab.emulate(&change, soon()).unwrap_err();
    assert!(matches!(&error, Error::BadRequest { .. }), "{error:?}");
    error.to_string()
}

/// A header of the newest request for a path.
fn header(tab: &SettleTab, path: &str, name: &str) -> Option<String> {
    let heads = tab.site.heads(path);
    let begin = format!("{name}: ").to_ascii_lowercase();
    let line = heads.last().unwrap().lines().find(|line| line.to_ascii_lowercase().starts_with(&begin))?;
    Some(line[begin.len()..].to_owned())
}

#[test]
fn emulation_applies_to_all_frames_and_navigations_until_cleared() {
    let Some(tab) = SettleTab::new("emulate") else { return };
    tab.site.page("/", "<iframe allow=geolocation src='@b/inner'></iframe>");
    tab.site.page("/inner", "inner");
    tab.go("/");
    tab.frame("/inner");
    let before = tab.eval(TELL);
    println!("before: {before}");
    emulate(
        &tab,
        json!({
            "geolocation": { "latitude": 52.5, "longitude": 13.4, "accuracy": 7 }, "timezone": "Asia/Tokyo",
            "locale": "de-DE", "media": { "type": "print", "colorScheme": "dark", "reducedMotion": "reduce" },
            "userAgent": "Teller/1.0", "headers": { "X-Told": "yes" },
            "viewport": { "width": 500, "height": 400, "deviceScaleFactor": 2, "mobile": true },
        }),
    );
    let expected = json!({
        "place": [52.5, 13.4, 7], "zone": "Asia/Tokyo", "number": "1.234,5", "language": "de-DE", "agent": "Teller/1.0",
        "dark": true, "calm": true, "print": true, "touch": 5, "online": true,
    });
    assert_eq!(tab.eval(TELL), expected, "the present document");
    let in_frame = |when: &str| {
        let inner = tab.frame("/inner");
        assert!(inner.is_oopif);
        assert_eq!(tab.eval_in(&inner.frame_id, TELL), expected, "{when}");
    };
    in_frame("a frame that was there");
    tab.go("/");
    assert_eq!(tab.eval(TELL), expected, "the same process");
    in_frame("a frame that is new");
    tab.go_to(&tab.site.url("b", "/"));
    assert_eq!(tab.eval(TELL), expected, "another process");
    tab.go_to(&tab.site.url("c", "/"));
    assert_eq!(tab.eval(TELL), expected, "a third one");
    assert_eq!(tab.eval("[innerWidth, innerHeight, devicePixelRatio]").as_array().unwrap()[2], 2);
    for path in ["c.localhost/", "b.localhost/inner"] {
        assert_eq!(header(&tab, path, "X-Told").as_deref(), Some("yes"), "{path}");
        assert_eq!(header(&tab, path, "User-Agent").as_deref(), Some("Teller/1.0"), "{path}");
        assert!(header(&tab, path, "Accept-Language").unwrap().starts_with("de-DE"), "{path}");
    }

    // Omitted values stay, null removes a value.
    emulate(&tab, json!({ "timezone": null, "media": { "colorScheme": "dark" } }));
    let now = tab.eval(TELL);
    assert_eq!((&now["zone"], &now["print"], &now["calm"]), (&before["zone"], &json!(false), &before["calm"]));
    assert_eq!((&now["dark"], &now["agent"]), (&json!(true), &json!("Teller/1.0")));
    emulate(
        &tab,
        json!({ "geolocation": null, "locale": null, "media": null, "userAgent": null, "headers": null, "viewport": null }),
    );
    tab.go("/");
    tab.frame("/inner");
    let mut after = tab.eval(TELL);
    assert!(after["place"].is_number(), "{after}");
    after["place"] = before["place"].clone();
    assert_eq!(after, before);
    assert_eq!(header(&tab, "b.localhost/inner", "X-Told"), None);
}

#[test]
fn a_device_sets_screen_and_user_agent() {
    let Some(tab) = SettleTab::new("devices") else { return };
    tab.site.page("/", "<meta name=viewport content='width=device-width'>hello");
    tab.go("/");
    let before = (tab.eval(SCREEN), tab.eval("navigator.userAgent"));
    emulate(&tab, json!({ "device": "pixel 7" }));
    tab.go("/");
    assert_eq!(tab.eval(SCREEN), json!([412, 915, 2.625, 412, 5]));
    let agent = tab.eval("navigator.userAgent");
    assert!(agent.as_str().unwrap().contains("Android 14; Pixel 7"), "{agent}");
    assert_eq!(header(&tab, "a.localhost/", "User-Agent").as_deref(), agent.as_str());
    // Explicit values take precedence.
    emulate(&tab, json!({ "viewport": { "width": 300, "height": 600, "touch": false }, "userAgent": "Mine/1" }));
    tab.go("/");
    assert_eq!((tab.eval(SCREEN), tab.eval("navigator.userAgent")), (json!([300, 600, 1, 300, 0]), json!("Mine/1")));
    emulate(&tab, json!({ "viewport": null }));
    tab.go("/");
    assert_eq!((tab.eval("innerWidth"), tab.eval("navigator.userAgent")), (json!(412), json!("Mine/1")));
    emulate(&tab, json!({ "device": null, "userAgent": null }));
    tab.go("/");
    assert_eq!((tab.eval(SCREEN), tab.eval("navigator.userAgent")), before);
}

#[test]
fn invalid_emulation_values_are_refused_naming_the_field() {
    let Some(tab) = SettleTab::new("bad-emulation") else { return };
    for (change, part) in [
        (json!({ "device": "iphone 51" }), "did you mean iPhone"),
        (json!({ "viewport": { "width": 0, "height": 5 } }), "`viewport`"),
        (json!({ "viewport": { "width": 5, "height": 5, "deviceScaleFactor": 0 } }), "deviceScaleFactor"),
        (json!({ "geolocation": { "latitude": 91, "longitude": 0 } }), "latitude"),
        (json!({ "timezone": "Mars/Base" }), "`timezone`"),
        (json!({ "locale": "de, en" }), "`locale`"),
        (json!({ "userAgent": "a\nb" }), "`userAgent`"),
        (json!({ "cpu": 0.5 }), "`cpu`"),
        (json!({ "cpu": 21 }), "`cpu`"),
        (json!({ "network": { "latencyMs": -1 } }), "latencyMs"),
        (json!({ "network": { "downloadKbps": 0 } }), "downloadKbps"),
        (json!({ "network": {} }), "`network`"),
        (json!({ "headers": { "X Y": "z" } }), "not a valid header name"),
        (json!({ "headers": { "Host": "z" } }), "by the browser"),
        (json!({ "headers": { "Authorization": "Bearer sesame\r\nX: y" } }), "control character"),
    ] {
        let error = refused(&tab, change.clone());
        assert!(error.contains(part) && !error.contains("sesame"), "{change}: {error}");
    }
    let error = serde_json::from_value::<Emulation>(json!({ "media": { "colorScheme": "blue" } })).unwrap_err();
    assert!(error.to_string().contains("`blue`, expected `light` or `dark`"), "{error}");
    for unknown in [
        json!({ "speed": 1 }),
        json!({ "network": "5g" }),
        json!({ "network": { "speed": 1 } }),
        json!({ "viewport": { "width": 5 } }),
        json!({ "credentials": { "user": "x" } }),
    ] {
        assert!(serde_json::from_value::<Emulation>(unknown).is_err());
    }
    let secret =
        json!({ "headers": { "X-Key": "sesame" }, "credentials": { "username": "ann", "password": "sesame" } });
    let shown = format!("{:?}", serde_json::from_value::<Emulation>(secret).unwrap());
    assert!(!shown.contains("sesame") && !shown.contains("ann") && shown.contains("X-Key"), "{shown}");
}

#[test]
fn an_offline_tab_reaches_nothing() {
    let Some(tab) = SettleTab::new("offline") else { return };
    tab.site.page(
        "/",
        "<iframe src='@b/inner'></iframe><script>worker = new Worker('/worker.js'); \
        reach = () => new Promise(done => { worker.onmessage = e => done(e.data); worker.postMessage(1) })</script>",
    );
    tab.site.page("/inner", "inner");
    tab.site.put(
        "/worker.js",
        Answer::script("onmessage = () => fetch('/there').then(() => postMessage(true), () => postMessage(false))"),
    );
    tab.site.page("/there", "there");
    tab.go("/");
    let inner = tab.frame("/inner");
    let reach = "fetch('/there').then(() => true, () => false)";
    let all =
        || [tab.eval(reach), tab.eval_in(&inner.frame_id, reach), tab.eval("reach()"), tab.eval("navigator.onLine")];
    assert_eq!(all(), [true; 4]);
    emulate(&tab, json!({ "offline": true }));
    assert_eq!(all(), [false; 4]);
    let quiet = |traffic: &cdpilot::supervisor::Traffic| traffic.of(tab.target()).next().is_none();
    tab.supervisor().caught_up(soon()).unwrap();
    tab.supervisor().wait_traffic(soon(), quiet).unwrap();
    let failed = tab.requests(Some("/there"), false);
    assert!(
        failed.iter().rev().take(3).all(|r| r.failure.as_deref() == Some("net::ERR_INTERNET_DISCONNECTED")),
        "{failed:#?}"
    );
    emulate(&tab, json!({ "offline": null }));
    assert_eq!(all(), [true; 4]);
}

fn logs_in(tab: &SettleTab) {
    tab.site.page("/", "top");
    tab.site.page("/locked", "inside");
    tab.site.lock("/locked", "ann:sesame");
    tab.go("/");
    let body = "document.body.textContent";
    let status = |host: &str| {
        let url = tab.site.url(host, "/locked");
        tab.go_to(&url);
        tab.eval(body)
    };
    emulate(tab, json!({ "credentials": { "username": "ann", "password": "wrong" } }));
    assert_eq!(status("a"), "locked", "a wrong password shows what the server says");
    assert!(tab.site.heads("a.localhost/locked").iter().any(|head| head.contains("Authorization: Basic")));
    emulate(tab, json!({ "credentials": { "username": "ann", "password": "sesame" } }));
    assert_eq!(status("a"), "inside");
    let knocks = tab.site.heads("b.localhost/locked").len();
    assert_eq!(status("b"), "locked", "another origin that asks gets nothing");
    let heads = tab.site.heads("b.localhost/locked");
    assert!(heads.len() > knocks && heads.iter().all(|head| !head.contains("Authorization")), "{heads:#?}");
    assert!(tab.requests(None, false).iter().all(|r| !format!("{r:?}").contains("sesame")));
}

#[test]
fn credentials_go_only_to_the_first_origin_that_requests_them() {
    let Some(tab) = SettleTab::new("login") else { return };
    logs_in(&tab);
    emulate(&tab, json!({ "credentials": null }));
    assert_eq!(tab.eval("fetch('/', { cache: 'no-store' }).then(r => r.text())"), "top");
}

/// A server that is reached by a redirect, a frame or the page's own requests gets nothing, whoever asks first.
#[test]
fn credentials_are_for_the_origin_that_was_opened() {
    let Some(tab) = SettleTab::new("login-redirect") else { return };
    let body = "new Promise(done => { const show = () => done(document.body.textContent); \
                document.readyState === 'complete' ? show() : addEventListener('load', show); })";
    tab.site.page("/", "top");
    tab.site.page("/locked", "inside");
    tab.site.lock("/locked", "ann:sesame");
    tab.site.leads("/leads");
    let leads = |host: &str, to: &str| tab.site.url(host, &format!("/leads?{}", tab.site.url(to, "/locked")));
    let got = |host: &str| {
        let heads = tab.site.heads(&format!("{host}.localhost/locked"));
        heads.iter().filter(|head| head.contains("Authorization")).count()
    };
    let open = |url: &str| tab.supervisor().navigate(&tab.top(), url, soon()).map(drop).unwrap();
    open("about:blank");
    emulate(&tab, json!({ "credentials": { "username": "ann", "password": "sesame" } }));
    open(&leads("a", "b"));
    assert_eq!((tab.eval(body), got("b")), (json!("locked"), 0), "a redirect of the address that was opened");
    assert_eq!(tab.eval("fetch('/locked').then(r => r.status)"), 401, "where a redirect has led");
    open(&tab.site.url("a", "/"));
    let other = tab.site.url("b", "/locked");
    tab.eval(&format!(
        "new Promise(done => {{ const add = () => {{ const f = document.createElement('iframe'); f.onload = done; f.src = '{other}'; \
         document.documentElement.append(f); }}; document.readyState === 'complete' ? add() : addEventListener('load', add); }})"
    ));
    assert_eq!(got("b"), 0, "a frame");
    open(&leads("a", "a"));
    assert_eq!(tab.eval(body), "inside", "a redirect within the origin");
    open(&tab.site.url("b", "/locked"));
    assert_eq!((tab.eval(body), got("b")), (json!("locked"), 0), "another origin, after the first has them");
    emulate(&tab, json!({ "credentials": { "username": "ann", "password": "sesame" } }));
    assert_eq!(
        tab.eval("fetch('/locked').then(r => r.status)"),
        200,
        "the document that was shown when they were given"
    );

    let given = |origin: &str| json!({ "credentials": { "username": "ann", "password": "sesame", "origin": origin } });
    emulate(&tab, given(&tab.site.url("c", "/any")));
    open(&leads("a", "c"));
    assert_eq!(tab.eval(body), "inside", "a given origin is also reached by a redirect");
    assert!(refused(&tab, given("c.localhost")).contains("origin must be that of a website"));
}

#[test]
fn logins_and_the_dialog_bridge_work_together() {
    let mut options = SupervisorOptions::task("login-bridge");
    options.bridge = BridgeMode::Always;
    let Some(tab) = SettleTab::with(options, PageOptions::default()) else { return };
    let bridged = |text: &str| {
        tab.supervisor().start_script(&tab.top(), &format!("answer = confirm('{text}')")).unwrap();
        let now = tab.until(text, |now| !now.dialogs.is_empty());
        assert!(now.dialogs[0].bridged, "{text}");
        let accept = cdpilot::supervisor::DialogAnswer::Accept(None);
        tab.supervisor().respond(None, accept, soon()).unwrap();
        assert_eq!(tab.eval("answer"), true);
    };
    tab.site.page("/", "top");
    tab.go("/");
    bridged("before");
    logs_in(&tab);
    bridged("with a login");
    emulate(&tab, json!({ "credentials": null }));
    bridged("after it");
}

/// What a page reads about its network, in its frames too: a figure of the emulation, not a time that was taken. In a browser of
/// its own, since it is one for each process.
#[test]
fn network_throttling_lasts_for_the_tab() {
    let Some(tab) = SettleTab::new("throttled") else { return };
    tab.site.page("/", "<iframe src='@b/inner'></iframe>");
    tab.site.page("/inner", "inner");
    tab.site.page("/next", "next");
    tab.go("/");
    // Chromium rounds both, and adds a tenth of chance for each host.
    let is = "const { rtt, downlink } = navigator.connection, near = (is, wanted) => Math.abs(is - wanted) <= wanted / 6 + 25;";
    let holds = |latency: u32, downlink: f64| {
        format!(
            "(() => {{ {is} return near(rtt, {latency}) && Math.abs(downlink - {downlink}) <= {downlink} / 6 + 0.03 }})()"
        )
    };
    let slow = holds(2000, 0.4);
    assert_eq!(tab.eval(&slow), false);
    emulate(&tab, json!({ "network": "slow-3g" }));
    assert_eq!(tab.eval(&slow), true);
    let inner = tab.frame("/inner");
    assert_eq!(tab.eval_in(&inner.frame_id, &slow), true);
    // Not the process of the frame, whose override Chromium takes back when the frame goes.
    tab.go_to(&tab.site.url("c", "/next"));
    assert_eq!(tab.eval(&slow), true, "in another process too");
    let own = holds(300, 0.8);
    assert_eq!(tab.eval(&own), false);
    emulate(&tab, json!({ "network": { "latencyMs": 300, "downloadKbps": 800 } }));
    assert_eq!(tab.eval(&own), true);
    // Without a network in between, and then as before.
    let reach = "fetch('/next').then(() => true, () => false)";
    emulate(&tab, json!({ "offline": true }));
    assert_eq!((tab.eval(reach), tab.eval("navigator.onLine")), (json!(false), json!(false)));
    emulate(&tab, json!({ "offline": null }));
    assert_eq!((tab.eval(reach), tab.eval(&own)), (json!(true), json!(true)));
    emulate(&tab, json!({ "network": "offline" }));
    assert_eq!(tab.eval(reach), false);
    emulate(&tab, json!({ "network": "4g" }));
    assert_eq!((tab.eval(reach), tab.eval(&holds(165, 8.1))), (json!(true), json!(true)));
    emulate(&tab, json!({ "network": null }));
    assert_eq!((tab.eval(reach), tab.eval(&holds(165, 8.1))), (json!(true), json!(false)));
}

/// Rounds of a loop in a slice of the page's own time, of several tries the most without and the least with a slower
/// processor: far apart on a busy machine too.
#[test]
fn cpu_throttling_slows_pages_and_frames() {
    let Some(tab) = SettleTab::new("slow-cpu") else { return };
    tab.site.page("/", "<iframe src='@b/inner'></iframe>");
    tab.site.page("/inner", "inner");
    tab.go("/");
    let inner = tab.frame("/inner");
    let rounds = "(() => { const all = []; for (let go = 0; go < 8; go++) { const began = performance.now(); let n = 0; \
                  while (performance.now() - began < 30) { for (let i = 0; i < 200; i++) Math.sqrt(i); n++; } all.push(n); } \
                  return Math.WHICH(...all); })()";
    let both = |which: &str| {
        let script = rounds.replace("WHICH", which);
        [tab.eval(&script).as_f64().unwrap(), tab.eval_in(&inner.frame_id, &script).as_f64().unwrap()]
    };
    let before = both("max");
    emulate(&tab, json!({ "cpu": 20 }));
    let slow = both("min");
    emulate(&tab, json!({ "cpu": null }));
    let after = both("max");
    for place in 0..2 {
        assert!(slow[place] * 2.0 < before[place].max(after[place]), "{before:?} {slow:?} {after:?}");
    }
}
