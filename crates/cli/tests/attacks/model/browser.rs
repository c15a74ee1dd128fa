//! The browser's tools and raw commands.

use cdpilot_server::control::NewTab;
use serde_json::{Value, json};

use super::super::{Attack, Row, rows, run_some};
use super::{Armed, CANARY, hidden, refused};
use crate::support::chrome::soon;
use crate::support::tool_home::ref_in;

/// Names of the files in the page's input.
const FILES: &str = "[...document.querySelector('input').files].map(file => file.name)";

/// Calls that open an address, by a tool or a raw command.
fn going(url: &str) -> Vec<(&'static str, Value)> {
    let cdp = |method: &str, params: Value| json!({ "method": method, "params": params });
    vec![
        ("browser_navigate", json!({ "url": url, "dismiss_dialogs": true })),
        ("browser_tabs", json!({ "action": "open", "url": url })),
        ("web_extract", json!({ "url": url })),
        ("web_extract", json!({ "urls": [url] })),
        ("browser_cdp", cdp("Page.navigate", json!({ "url": url }))),
        (
            "browser_cdp",
            cdp("Page.navigate", json!({ "url": url, "referrer": "http://a.localhost/", "transitionType": "typed" })),
        ),
        ("browser_cdp", cdp("Target.createTarget", json!({ "url": url }))),
        ("browser_cdp", cdp("Target.createTarget", json!({ "url": url, "newWindow": true }))),
    ]
}

/// What all tabs show by now.
fn shown(on: &Armed) -> Vec<Value> {
    let tabs = on.profile().tabs();
    let texts: Vec<Value> =
        tabs.iter().map(|tab| on.call("browser_snapshot", json!({ "full": true, "target": tab.target_id }))).collect();
    // The first one stays.
    for tab in tabs.iter().skip(1) {
        let _ = on.profile().close_tab(&tab.target_id, soon());
    }
    on.focus_first();
    texts
}

const ATTACKS: [Attack<Armed>; 12] = [
    Attack {
        name: "opens files, internal pages of the browser and addresses with passwords in tabs, in eight ways and 20 spellings",
        witness: "the file's content in a tab or a result; a page of a site appears",
        run: |on| {
            on.show(&format!("<p>{CANARY} of a site"));
            assert!(
                hidden(&on.done("browser_snapshot", json!({ "full": true })), "").is_err(),
                "the site is not shown"
            );
            on.show("<p>start");
            let file = format!("file://{}", on.text("outside/secret.html"));
            for url in [
                file.clone(),
                format!(" {file}"),
                format!("\u{1}{file}"),
                file.replace("file:", "FILE:"),
                file.replace("file:", "fi\nle:"),
                file.replace("file:", "fi\tle:"),
                file.replace("file://", "file:\\\\\\"),
                file.replace("file:///", "file:/"),
                file.replace("file:///", "file://localhost/"),
                file.replace("file:///", "file:////"),
                format!("view-source:{file}"),
                format!("blob:{file}"),
                format!("filesystem:{file}"),
                format!("chrome://view-source/{file}"),
                format!("jar:{file}!/"),
                "chrome://version".to_owned(),
                "about:version".to_owned(),
                "devtools://devtools/bundled/inspector.html".to_owned(),
                on.site.url("a", "/").replace("http://", "http://ada:lovelace@"),
                "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/index.html".to_owned(),
            ] {
                for (tool, arguments) in going(&url) {
                    let response = on.call(tool, arguments.clone());
                    let response =
                        if response["results"].is_array() { response["results"][0].clone() } else { response };
                    refused(&response, &format!("{tool} {arguments}"))?;
                    hidden(&response, &format!("{tool} {arguments}"))?;
                }
            }
            shown(on).iter().try_for_each(|response| hidden(response, "a tab"))
        },
    },
    Attack {
        name: "opens blocked hosts, cloud metadata and the control server by tools, raw commands and redirects",
        witness: "a request for the blocked host; requests for another host arrive",
        run: |on| {
            on.site.leads("/leads");
            on.site.page("/ok", "<p>ok");
            on.show("<p>start");
            let blocked = on.site.url("b", "/blocked");
            let spelled = [
                blocked.clone(),
                blocked.replace("b.local", "B.LOCAL"),
                blocked.replace("localhost:", "localhost.:"),
                blocked.replace("b.localhost", "%62.localhost"),
            ];
            let metadata = [
                "http://169.254.169.254/latest/meta-data/",
                "http://[::ffff:a9fe:a9fe]/",
                "http://2852039166/",
                "http://metadata.google.internal/computeMetadata/v1/",
            ];
            for url in spelled.iter().map(String::as_str).chain(metadata) {
                for (tool, arguments) in going(url) {
                    let response = on.call(tool, arguments.clone());
                    let response =
                        if response["results"].is_array() { response["results"][0].clone() } else { response };
                    refused(&response, &format!("{tool} {arguments}"))?;
                }
            }
            let leading = on.site.url("a", "/leads?") + &blocked;
            for (tool, arguments) in going(&leading) {
                on.call(tool, arguments);
            }
            shown(on);
            on.done("browser_navigate", json!({ "url": on.site.url("c", "/ok") }));
            assert_eq!(
                on.site.requested_from("c.localhost").iter().filter(|requested| requested.ends_with("/ok")).count(),
                1
            );
            let arrived = on.site.requested_from("b.localhost");
            if arrived.is_empty() { Ok(()) } else { Err(format!("{arrived:?}")) }
        },
    },
    Attack {
        name: "passes local files to a page: by upload, by a raw command for inputs, by drag and drop",
        witness: "a file in the page's input or drop; one from uploads/ arrives",
        run: |on| {
            let seen = on.show("<input type=file multiple aria-label=Files style='width: 300px; height: 200px'><script>window.dropped = []; ondragover = e => e.preventDefault(); ondrop = e => { e.preventDefault(); dropped.push(...[...e.dataTransfer.files].map(f => f.name)) }</script>");
            let at = ref_in(&seen, "Files");
            let input = on.cdp("Runtime.evaluate", json!({ "expression": "document.querySelector('input')" }))["result"]["result"]["objectId"].clone();
            std::os::unix::fs::symlink(on.path("outside/secret.txt"), on.path("home/uploads/link.txt")).unwrap();
            std::os::unix::fs::symlink(on.path("outside"), on.path("home/uploads/folder")).unwrap();
            for path in [
                on.text("outside/secret.txt"),
                "/etc/passwd".to_owned(),
                on.text("home/token"),
                "../token".to_owned(),
                "../config.yaml".to_owned(),
                "../llm.json".to_owned(),
                "link.txt".to_owned(),
                "folder/secret.txt".to_owned(),
                "fine.txt/../../token".to_owned(),
                "/proc/self/environ".to_owned(),
                format!("file://{}", on.text("home/token")),
                "fine.txt\0".to_owned(),
                ".".to_owned(),
                String::new(),
            ] {
                for response in [
                    on.call("browser_upload", json!({ "paths": [path], "ref": at })),
                    on.call("browser_upload", json!({ "paths": ["fine.txt", path], "ref": at })),
                    on.call("browser_upload", json!({ "paths": [path] })),
                    on.cdp("DOM.setFileInputFiles", json!({ "files": [path], "objectId": input })),
                    on.cdp("DOM.setFileInputFiles", json!({ "files": ["fine.txt", path], "objectId": input })),
                    on.cdp("DOM.setFileInputFiles", json!({ "files": path, "objectId": input })),
                    on.cdp("Input.dispatchDragEvent", json!({ "type": "drop", "x": 50, "y": 50, "data": { "items": [], "dragOperationsMask": 1, "files": [path] } })),
                    on.cdp("Input.dispatchDragEvent", json!({ "type": "drop", "x": 50, "y": 50, "data": { "items": [], "dragOperationsMask": 1, "files": path } })),
                ] {
                    refused(&response, &path)?;
                }
            }
            on.cdp("Input.dispatchDragEvent", json!({ "type": "drop", "x": 50, "y": 50, "data": { "dragOperationsMask": 1,
                "items": [{ "mimeType": "text/uri-list", "data": format!("file://{}", on.text("outside/secret.html")) }] } }));
            let got = on.eval(&format!("[{FILES}, dropped]"));
            if got != json!([[], []]) {
                return Err(got.to_string());
            }
            on.done("browser_upload", json!({ "paths": ["fine.txt"], "ref": at }));
            assert_eq!(on.eval(FILES), json!(["fine.txt"]));
            Ok(())
        },
    },
    Attack {
        name: "sends raw commands that would remove the browser from cdpilot's control",
        witness: "a command that is not refused; a harmless one is sent, and the browser keeps running",
        run: |on| {
            on.show("<p>page");
            let url = on.site.url("b", "/raw");
            for (method, params) in [
                ("Browser.close", json!({})),
                ("Browser.crash", json!({})),
                ("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": on.text("outside") })),
                ("Page.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": on.text("outside") })),
                ("Browser.addPrivacySandboxEnrollmentOverride", json!({ "url": "http://a.localhost" })),
                ("Browser.executeBrowserCommand", json!({ "commandId": "openTabSearch" })),
                ("Browser.grantPermissions", json!({ "permissions": ["geolocation", "LocalNetworkAccess"] })),
                (
                    "Browser.setPermission",
                    json!({ "permission": { "name": "loopback-network" }, "setting": "granted" }),
                ),
                ("Target.createBrowserContext", json!({ "proxyServer": "127.0.0.1:1" })),
                ("Target.createBrowserContext", json!({ "proxyBypassList": "*" })),
                ("Target.createBrowserContext", json!({ "originsWithUniversalNetworkAccess": ["http://a.localhost"] })),
                ("Target.setDiscoverTargets", json!({ "discover": false })),
                ("Target.setAutoAttach", json!({ "autoAttach": false, "waitForDebuggerOnStart": false })),
                ("Target.attachToBrowserTarget", json!({})),
                ("Target.exposeDevToolsProtocol", json!({ "targetId": "x" })),
                ("Target.setRemoteLocations", json!({ "locations": [{ "host": "127.0.0.1", "port": 1 }] })),
                ("Target.openDevTools", json!({ "targetId": "x" })),
                (
                    "Network.loadNetworkResource",
                    json!({ "url": url, "options": { "disableCache": true, "includeCredentials": true } }),
                ),
                ("Network.setRequestInterception", json!({ "patterns": [] })),
                (
                    "Network.emulateNetworkConditions",
                    json!({ "offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 }),
                ),
                ("Network.emulateNetworkConditionsByRule", json!({ "matchedNetworkConditions": [] })),
                ("Network.disable", json!({})),
                ("Fetch.enable", json!({})),
                ("Fetch.disable", json!({})),
                ("Fetch.continueRequest", json!({ "requestId": "interception-job-1.0", "url": url })),
                ("Fetch.fulfillRequest", json!({ "requestId": "interception-job-1.0", "responseCode": 200 })),
                ("Page.setInterceptFileChooserDialog", json!({ "enabled": false })),
                ("Page.setPrerenderingAllowed", json!({ "isAllowed": true })),
                ("Page.setBypassCSP", json!({ "enabled": true })),
                ("Page.waitForDebugger", json!({})),
                ("Extensions.loadUnpacked", json!({ "path": on.text("outside") })),
                ("Tethering.bind", json!({ "port": 1 })),
                ("PWA.install", json!({ "manifestId": url })),
                ("Cast.enable", json!({})),
                ("HeadlessExperimental.beginFrame", json!({})),
                ("Overlay.x", json!({})),
                ("Browser.close ", json!({})),
                ("browser.close", json!({})),
                ("Browser.Close", json!({})),
                ("Target.\u{ff53}etDiscoverTargets", json!({})),
            ] {
                let response = on.cdp(method, params);
                refused(&response, method)?;
                if response["code"] != "BAD_REQUEST" {
                    return Err(format!("{method}: {response}"));
                }
            }
            assert_eq!(on.cdp("Page.getFrameTree", json!({}))["success"], true);
            if on.profile().status().running { Ok(()) } else { Err("the browser is gone".to_owned()) }
        },
    },
    Attack {
        name: "reads a file and a blocked host in an isolated world with access to all origins",
        witness: "the file's content in a result, or a request for the blocked host; the page's own address is fetched",
        run: |on| {
            on.show("<p>page");
            let frame = on.cdp("Page.getFrameTree", json!({}))["result"]["frameTree"]["frame"]["id"].clone();
            let world = on.cdp(
                "Page.createIsolatedWorld",
                json!({ "frameId": frame, "grantUniveralAccess": true, "worldName": "x" }),
            );
            let context = world["result"]["executionContextId"].clone();
            assert!(context.is_number(), "{world}");
            let before = on.site.requested_from("b.localhost").len();
            let script = format!(
                "Promise.all(['file://{}', '{}', location.href].map(url => new Promise(done => {{ const ask = new XMLHttpRequest(); ask.onloadend = () => done(ask.responseText.slice(0, 200)); ask.open('GET', url); ask.send() }})
                    .catch(error => 'refused')))",
                on.text("outside/secret.html"),
                on.site.url("b", "/world")
            );
            let response = on.cdp(
                "Runtime.evaluate",
                json!({ "expression": script, "contextId": context, "awaitPromise": true, "returnByValue": true }),
            );
            assert!(
                response["result"]["result"]["value"][2].as_str().is_some_and(|text| text.contains("page")),
                "{response}"
            );
            hidden(&response, "the world")?;
            let after = on.site.requested_from("b.localhost").len();
            if after == before { Ok(()) } else { Err("the blocked host was asked".to_owned()) }
        },
    },
    Attack {
        name: "makes the browser fetch a blocked manifest, style sheet and replayed request by raw commands",
        witness: "a request for the blocked host; those for another host arrive",
        run: |on| {
            for host in ["c", "b"] {
                let manifest = on.site.url(host, "/manifest.json");
                on.show(&format!("<link rel=manifest href='{manifest}' crossorigin=use-credentials><p id=p>page"));
                on.cdp("Page.getAppManifest", json!({}));
                on.cdp("Page.getManifestIcons", json!({}));
                on.cdp("CSS.enable", json!({}));
                let frame = on.cdp("Page.getFrameTree", json!({}))["result"]["frameTree"]["frame"]["id"].clone();
                let sheet =
                    on.cdp("CSS.createStyleSheet", json!({ "frameId": frame }))["result"]["styleSheetId"].clone();
                let text = format!("body {{ background: url('{}') }}", on.site.url(host, "/sheet"));
                let response = on.cdp("CSS.setStyleSheetText", json!({ "styleSheetId": sheet, "text": text }));
                assert_eq!(response["success"], true, "{response}");
                on.done("browser_screenshot", json!({}));
                on.call("browser_evaluate", json!({ "script": format!("fetch('{}', {{ mode: 'no-cors' }}).catch(() => 0).then(() => 1)", on.site.url(host, "/fetched")) }));
            }
            let requested =
                |host: &str, path: &str| on.site.requested_from(host).iter().any(|requested| requested.ends_with(path));
            assert!(
                requested("c.localhost", "/sheet") && requested("c.localhost", "/fetched"),
                "{:?}",
                on.site.requested()
            );
            let found: Vec<_> = ["/manifest.json", "/sheet", "/fetched"]
                .into_iter()
                .filter(|path| requested("b.localhost", path))
                .collect();
            if found.is_empty() { Ok(()) } else { Err(format!("{found:?}")) }
        },
    },
    Attack {
        name: "reads or changes other tabs by the ids of their targets and frames",
        witness: "a value of the other tab in a result; the same frame is read under its own tab",
        run: |on| {
            on.show("<p>mine");
            on.site.page(
                "/other",
                &format!("<title>other</title><p>{CANARY}<iframe srcdoc='<p>{CANARY} inside'></iframe>"),
            );
            let other = on.profile().open_tab(NewTab::new(on.site.url("a", "/other")), soon()).unwrap();
            let frames = on.call("browser_cdp", json!({ "method": "Page.getFrameTree", "target_id": other.target_id }));
            let frame = frames["result"]["frameTree"]["frame"]["id"].clone();
            let child = frames["result"]["frameTree"]["childFrames"][0]["frame"]["id"].clone();
            assert!(frame.is_string() && child.is_string(), "{frames}");
            let mine = on.profile().tabs().into_iter().find(|tab| tab.target_id != other.target_id).unwrap().target_id;
            let read = json!({ "expression": "document.body.textContent", "returnByValue": true });
            for frame in [&frame, &child] {
                for response in [
                    on.call(
                        "browser_cdp",
                        json!({ "method": "Runtime.evaluate", "params": read, "target_id": mine, "frame_id": frame }),
                    ),
                    on.call(
                        "browser_evaluate",
                        json!({ "script": "document.body.textContent", "target": mine, "frame_id": frame }),
                    ),
                    on.call("browser_snapshot", json!({ "full": true, "target": mine, "frame": frame })),
                ] {
                    refused(&response, "another tab's frame")?;
                    hidden(&response, "another tab's frame")?;
                }
            }
            let own = on.call("browser_cdp", json!({ "method": "Runtime.evaluate", "params": read, "target_id": other.target_id, "frame_id": child }));
            assert!(hidden(&own, "").is_err(), "{own}");
            for target in ["", "x", "t99", "../t1", "t1\0", "*", "%", "page", "T1"] {
                if !target.is_empty() {
                    refused(&on.call("browser_click", json!({ "ref": "e1", "target": target })), target)?;
                }
            }
            let _ = on.profile().close_tab(&other.target_id, soon());
            on.focus_first();
            Ok(())
        },
    },
    Attack {
        name: "invents refs: of other tabs, not assigned yet, negative, huge, in other scripts, with a selector in them",
        witness: "a click that the page counts; a click on the real ref counts",
        run: |on| {
            let seen = on.show("<body onclick='window.clicks = (window.clicks || 0) + 1'><button>Pay</button>");
            let real = ref_in(&seen, "Pay");
            let next = format!("e{}", real.trim_start_matches('e').parse::<u32>().unwrap() + 1);
            for made in [
                next.as_str(),
                "e0",
                "e-1",
                "e999999999",
                "e4294967297",
                "e18446744073709551617",
                "e1.5",
                "e1 ",
                "ee1",
                "e\u{661}",
                "\u{ff45}1",
                "e1]",
                "e1;e2",
                "#x",
                "button",
                "css=button",
                "e1\n",
                "e",
                "@",
                "@@e1",
                "0x1",
                "e1e1",
                "E1",
            ] {
                if made.trim_start_matches(['e', '@']).trim() == real.trim_start_matches('e') {
                    continue;
                }
                refused(&on.call("browser_click", json!({ "ref": made })), made)?;
            }
            if on.eval("window.clicks || 0") != 0 {
                return Err("the page was clicked".to_owned());
            }
            on.done("browser_click", json!({ "ref": real }));
            assert_eq!(on.eval("clicks"), 1);
            Ok(())
        },
    },
    Attack {
        name: "opens more tabs than browser.tabs.max by raw commands: hidden, in new windows and new contexts",
        witness: "more pages in the browser than browser.tabs.max; that many open",
        run: |on| {
            on.show("<p>page");
            let context =
                on.cdp("Target.createBrowserContext", json!({ "disposeOnDetach": true }))["result"]["browserContextId"]
                    .clone();
            let mut made = 0;
            for turn in 0..24 {
                let params = match turn % 6 {
                    0 => json!({ "url": "about:blank" }),
                    1 => json!({ "url": "about:blank", "newWindow": true }),
                    2 => json!({ "url": "about:blank", "background": true }),
                    3 => json!({ "url": "about:blank", "forTab": true }),
                    4 => json!({ "url": "about:blank", "hidden": true }),
                    _ => json!({ "url": "about:blank", "browserContextId": context }),
                };
                made += usize::from(on.cdp("Target.createTarget", params)["success"] == true);
            }
            let targets = on.cdp("Target.getTargets", json!({ "filter": [{}] }))["result"]["targetInfos"].clone();
            let pages = targets.as_array().unwrap().iter().filter(|target| target["type"] == "page").count();
            for tab in on.profile().tabs().iter().skip(1) {
                let _ = on.profile().close_tab(&tab.target_id, soon());
            }
            on.focus_first();
            on.cdp("Target.disposeBrowserContext", json!({ "browserContextId": context }));
            assert!(made >= 2, "nothing opened");
            if pages <= 6 { Ok(()) } else { Err(format!("{pages} pages: {targets}")) }
        },
    },
    Attack {
        name: "returns the token, model keys and strings that look like secrets from scripts and raw commands",
        witness: "the secret in a result; the text around it appears",
        run: |on| {
            on.show("<p>page");
            let github = ["gh", "p_", "a1B2c3D4e5F6g7H8i9J0"].concat();
            let jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiJhZGEifQ", "c2lnbmF0dXJlLW9mLWFkYQ"].join(".");
            let secrets = [on.token.clone(), on.key.clone(), github, jwt];
            for secret in &secrets {
                let texts = [
                    format!("({{ 'around {secret}': ['around {secret}', {{ a: 'around {secret}' }}] }})"),
                    format!("throw new Error('around {secret}')"),
                    format!("console.log('around {secret}'), document.title = 'around {secret}', 'around'"),
                    format!("history.replaceState(null, '', '/?around={secret}'), 'around'"),
                    format!(
                        "document.body.innerHTML = '<p>around {secret}</p><button aria-label=\"around {secret}\">x</button><img src=\"/around?{secret}\">', 'around'"
                    ),
                    format!("setTimeout(() => prompt('around {secret}', 'around {secret}')), 'around'"),
                ];
                for script in texts {
                    let mut all = vec![on.call("browser_evaluate", json!({ "script": script }))];
                    assert!(all[0].to_string().contains("around"), "{}", all[0]);
                    for (tool, arguments) in [
                        ("browser_snapshot", json!({ "full": true })),
                        ("browser_console", json!({ "clear": true })),
                        ("browser_tabs", json!({ "action": "list" })),
                        ("browser_get_images", json!({})),
                        ("browser_cdp", json!({ "method": "Page.getFrameTree" })),
                        ("browser_dialog", json!({ "action": "dismiss" })),
                        (
                            "browser_cdp",
                            json!({ "method": "Runtime.evaluate", "params": { "expression": "document.documentElement.outerHTML + document.title" } }),
                        ),
                    ] {
                        all.push(on.call(tool, arguments));
                    }
                    if let Some(response) = all.iter().find(|response| response.to_string().contains(secret.as_str())) {
                        return Err(response.to_string());
                    }
                }
            }
            Ok(())
        },
    },
    Attack {
        name: "calls tools with huge, deep, negative and endless arguments",
        witness: "a call that ends by panic, or a browser that does not answer afterwards",
        run: |on| {
            let seen = on.show("<input aria-label=Field><button>Go</button>");
            let at = ref_in(&seen, "Field");
            let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
            let long = "x".repeat(3 << 20);
            for (tool, arguments) in [
                ("browser_click", json!({ "ref": long })),
                ("browser_press", json!({ "key": long })),
                ("browser_press", json!({ "key": "Control+".repeat(100_000) })),
                ("browser_scroll", json!({ "direction": "down", "pixels": u32::MAX })),
                ("browser_scroll", json!({ "direction": "down", "pixels": -1 })),
                ("browser_wait", json!({ "time_ms": u64::MAX, "timeout_ms": 1 })),
                ("browser_wait", json!({ "selector": "a".repeat(1 << 20), "timeout_ms": 1 })),
                ("browser_wait", json!({ "url": "*".repeat(20_000) + "x", "timeout_ms": 1 })),
                ("browser_snapshot", json!({ "offset": u64::MAX })),
                ("browser_snapshot", json!({ "expand": long })),
                ("browser_select", json!({ "ref": at, "values": vec!["x"; 100_000] })),
                ("browser_fill", json!({ "fields": vec![json!({ "ref": "e999999", "value": "x" }); 20_000] })),
                ("browser_upload", json!({ "paths": vec!["x"; 20_000] })),
                ("browser_evaluate", json!({ "script": "(".repeat(200_000) })),
                (
                    "browser_evaluate",
                    json!({ "script": "let a = []; a.push(a); for (let i = 0; i < 1e5; i++) a.push({}); a" }),
                ),
                (
                    "browser_evaluate",
                    json!({ "script": "(f => { let a = 1; for (let i = 0; i < 5000; i++) a = [a]; return a })()" }),
                ),
                ("browser_cdp", json!({ "method": "Page.navigate", "params": { "url": deep } })),
                ("browser_cdp", json!({ "method": long, "params": {} })),
                (
                    "browser_cdp",
                    json!({ "method": "Page.captureScreenshot", "params": { "clip": { "x": -1e308, "y": 0, "width": 1e308, "height": 1e308, "scale": 1e308 } }, "timeout": 3 }),
                ),
                (
                    "browser_cdp",
                    json!({ "method": "Emulation.setDeviceMetricsOverride", "params": { "width": 10_000_000, "height": 10_000_000, "deviceScaleFactor": 1e9, "mobile": false } }),
                ),
                ("browser_cdp", json!({ "method": "Emulation.clearDeviceMetricsOverride", "timeout": u32::MAX })),
                ("browser_tabs", json!({ "action": "label", "target": "t1", "label": long })),
                ("browser_navigate", json!({ "url": format!("http://a.localhost/{long}") })),
                ("read_file", json!({ "path": "inside.txt", "offset": u64::MAX, "limit": u64::MAX })),
                ("search_files", json!({ "pattern": "(a+)+".repeat(200) })),
                ("search_files", json!({ "pattern": "(?:x{1000}){1000}{1000}" })),
                ("todo", json!({ "todos": deep })),
                ("no_such_tool", json!({})),
            ] {
                let what: String = format!("{tool} {arguments}").chars().take(300).collect();
                let response = on.call(tool, arguments);
                let size = response.to_string().len();
                if !response["success"].is_boolean() || response["code"] == "INTERNAL" || size > 200_000 {
                    return Err(format!(
                        "{what}: {size}: {}",
                        response.to_string().chars().take(500).collect::<String>()
                    ));
                }
                let alive = on.call_for(
                    6,
                    "browser_navigate",
                    json!({ "url": on.site.url("a", "/"), "dismiss_dialogs": true }),
                );
                if alive["success"] != true {
                    return Err(format!("after {what}: {alive}"));
                }
            }
            let seen = on.show("<button onclick='this.textContent = \"done\"'>Go</button>");
            let response = on.done("browser_click", json!({ "ref": ref_in(&seen, "Go") }));
            if response["changes"].as_str().is_some_and(|text| text.contains("done")) {
                Ok(())
            } else {
                Err(response.to_string())
            }
        },
    },
    Attack {
        name: "saves downloads outside downloads/, by names with folders and by raw commands",
        witness: "a file outside; one under its name appears in downloads/",
        run: |on| {
            on.show("<p>page");
            for name in [
                "../../escaped.txt",
                "..\\..\\escaped.txt",
                "/tmp/escaped.txt",
                ".escaped",
                "escaped\u{202e}txt.exe",
                "fine-escaped.txt",
            ] {
                on.cdp(
                    "Browser.setDownloadBehavior",
                    json!({ "behavior": "allowAndName", "downloadPath": on.text("outside") }),
                );
                on.call("browser_evaluate", json!({ "script": format!("(() => {{ const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'])); a.download = {}; a.click() }})()", json!(name)) }));
                let tab = on.profile().tab(None).unwrap().tab;
                let got = tab.wait_download(None, soon()).unwrap();
                let path = got.path.unwrap_or_else(|| panic!("{name}: {:?}", got.failure));
                let inside = on.path("home/downloads").canonicalize().unwrap();
                let plain = path.file_name().unwrap().to_string_lossy().into_owned();
                if path.parent() != Some(&inside) || plain.starts_with('.') || plain.contains('\u{202e}') {
                    return Err(format!("{name:?}: {}", path.display()));
                }
            }
            assert!(on.path("home/downloads/fine-escaped.txt").exists());
            let outside = std::fs::read_dir(on.path("outside")).unwrap().count();
            if outside == 2 && !std::path::Path::new("/tmp/escaped.txt").exists() {
                Ok(())
            } else {
                Err(format!("{outside} files"))
            }
        },
    },
];

pub(super) fn listed() -> Vec<Row> {
    rows(&ATTACKS)
}

#[test]
fn no_model_exceeds_the_limits_of_the_browser_tools() {
    let settings = "browser: {navigation: {block: [b.localhost]}, tabs: {max: 6}}";
    let Some(armed) = Armed::new(settings) else { return };
    run_some(&armed, &ATTACKS, 2);
}
