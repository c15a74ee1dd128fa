//! Raw CDP commands.

use cdpilot_server::control::{Error, Profile, RawCall, RawLevel, Refusal, raw_methods};
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::test_home::{TestHome, seen};

fn call(
    profile: &Profile,
    method: &str,
    params: Value,
    target: Option<&str>,
    frame: Option<&str>,
) -> Result<Value, Error> {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let call = {
        let mut options = RawCall::new(method).params(params);
        options.target = own(target);
        options.frame = own(frame);
        options
    };
    profile.raw(call, soon())
}

#[test]
fn a_raw_command_reaches_its_target_and_returns_no_secret() {
    let Some(home) = TestHome::new("") else { return };
    home.site
        .page("/", "<title>top</title><iframe name=near src='/near'></iframe><iframe name=far src='@b/far'></iframe>");
    home.site.page("/near", "<title>near</title>");
    home.site.page("/far", "<title>far</title>");
    let profile = home.main();
    let tab = home.open("/");
    let title = json!({ "expression": "document.title", "returnByValue": true });
    let now = seen(&profile, "the frames", |now| {
        let named =
            |name: &str| now.frames.iter().any(|f| &*f.name == name && f.session_id.is_some() && !f.origin.is_empty());
        named("near") && now.frames.iter().any(|f| f.is_oopif && f.session_id.is_some() && f.url.ends_with("/far"))
    });
    let near = now.frames.iter().find(|frame| &*frame.name == "near").unwrap().frame_id.to_string();
    let far = now.frames.iter().find(|frame| frame.is_oopif).unwrap().frame_id.to_string();
    for (frame, expected) in [(None, "top"), (Some(&*near), "near"), (Some(&*far), "far")] {
        let response = call(&profile, "Runtime.evaluate", title.clone(), None, frame).unwrap();
        assert_eq!(response["result"]["value"], expected, "{response}");
    }
    let response = call(&profile, "Page.getFrameTree", Value::Null, Some("t1"), Some(&far)).unwrap();
    assert!(response["frameTree"]["frame"]["url"].as_str().unwrap().ends_with("/far"), "{response}");
    let wrong = call(&profile, "Page.getFrameTree", json!({}), None, Some(&near)).unwrap_err();
    assert!(wrong.code() == "BAD_REQUEST" && wrong.to_string().contains("shares the session of frame"), "{wrong}");
    assert_eq!(
        call(&profile, "Page.getFrameTree", json!({}), Some("t1"), Some("nope")).unwrap_err().code(),
        "FRAME_NOT_FOUND"
    );

    let browser = call(&profile, "Browser.getVersion", Value::Null, None, None).unwrap();
    assert!(browser["product"].as_str().unwrap().contains("Chrom"));
    let targets = call(&profile, "Target.getTargets", Value::Null, None, None).unwrap();
    let targets = targets["targetInfos"].as_array().unwrap();
    assert!(targets.iter().any(|target| target["targetId"] == *tab.target_id), "{targets:?}");
    let picture = call(&profile, "Page.captureScreenshot", json!({}), None, None).unwrap();
    assert!(picture["data"].as_str().unwrap().starts_with("iVBOR"), "bytes are as they were");
    let secret = json!({ "expression": "'ws://127.0.0.1:1/devtools/browser/abc Bearer abcdef123456'" });
    let response = call(&profile, "Runtime.evaluate", secret, None, None).unwrap();
    assert_eq!(response["result"]["value"], "ws://127.0.0.1:1/… Bearer [secret]");

    let unknown = call(&profile, "Page.doesNotExist", json!({}), None, None).unwrap_err();
    assert!(unknown.code() == "BAD_REQUEST" && unknown.to_string().contains("docs/raw-cdp.md"), "{unknown}");
    for method in ["Browser.close", "Target.setAutoAttach", "Fetch.disable", "Page.disable", "nonsense", "", "a.b c"] {
        assert_eq!(call(&profile, method, json!({}), None, None).unwrap_err().code(), "BAD_REQUEST", "{method}");
    }
    assert_eq!(call(&profile, "Page.reload", json!([1]), None, None).unwrap_err().code(), "BAD_REQUEST");
    let made = call(&profile, "Target.createTarget", json!({ "url": "about:blank" }), None, None).unwrap();
    let made = made["targetId"].as_str().unwrap();
    assert_eq!(profile.tab(Some(made)).unwrap().info.tab_id, "t2");
    assert_eq!(
        call(&profile, "Target.closeTarget", json!({ "targetId": made }), None, None).unwrap(),
        json!({"success": true})
    );
    call(&profile, "Page.close", json!({}), Some("t1"), None).unwrap();
    assert!(profile.tabs().iter().all(|left| left.target_id != tab.target_id) && profile.status().running);
}

#[test]
fn raw_commands_are_refused_when_disabled() {
    let Some(home) = TestHome::new("evaluate_enabled: false") else { return };
    home.site.page("/", "page");
    home.open("/");
    let profile = home.main();
    for method in ["Runtime.evaluate", "Runtime.callFunctionOn", "Page.addScriptToEvaluateOnNewDocument"] {
        assert_eq!(call(&profile, method, json!({}), None, None).unwrap_err().code(), "EVALUATE_DISABLED", "{method}");
    }
    call(&profile, "Page.getFrameTree", json!({}), None, None).unwrap();
    let home = home.again("raw_cdp_enabled: false", Default::default());
    assert_eq!(call(&home.main(), "Browser.getVersion", json!({}), None, None).unwrap_err().code(), "RAW_CDP_DISABLED");
}

#[test]
fn raw_commands_accept_only_files_that_may_be_uploaded() {
    let Some(home) = TestHome::new("") else { return };
    home.site.page("/", "<input type=file id=f>");
    std::fs::write(home.path().join("uploads/a.txt"), "x").unwrap();
    let (profile, token) = (home.main(), home.path().join("token"));
    std::fs::write(&token, "x").unwrap();
    home.open("/");
    let input = json!({ "expression": "document.getElementById('f')" });
    let input = call(&profile, "Runtime.evaluate", input, None, None).unwrap()["result"]["objectId"].clone();
    let give =
        |file: &str| call(&profile, "DOM.setFileInputFiles", json!({ "files": [file], "objectId": input }), None, None);
    assert_eq!(give(token.to_str().unwrap()).unwrap_err().code(), "PATH_REFUSED");
    assert_eq!(give("../token").unwrap_err().code(), "PATH_REFUSED");
    let dragged = json!({ "type": "drop", "x": 5, "y": 5, "data": { "items": [], "dragOperationsMask": 1, "files": ["/etc/passwd"] } });
    assert_eq!(call(&profile, "Input.dispatchDragEvent", dragged, None, None).unwrap_err().code(), "PATH_REFUSED");
    give("a.txt").unwrap();
    let name = json!({ "expression": "document.getElementById('f').files[0].name" });
    assert_eq!(call(&profile, "Runtime.evaluate", name, None, None).unwrap()["result"]["value"], "a.txt");
}

#[test]
fn raw_commands_that_bypass_policy_or_supervisor_are_refused() {
    let Some(home) = TestHome::new("navigation: {block: [b.localhost]}") else { return };
    home.site.page("/", "start");
    home.open("/");
    let (profile, blocked) = (home.main(), home.site.url("b", "/"));
    let options = json!({ "disableCache": true, "includeCredentials": false });
    for (method, params) in [
        ("Network.loadNetworkResource", json!({ "url": blocked, "options": options })),
        ("Target.setRemoteLocations", json!({ "locations": [{ "host": "127.0.0.1", "port": 1 }] })),
        ("Target.createBrowserContext", json!({ "proxyServer": "127.0.0.1:1" })),
        ("Target.createBrowserContext", json!({ "originsWithUniversalNetworkAccess": ["http://a.localhost"] })),
        ("Target.setDiscoverTargets", json!({ "discover": false })),
        ("Target.attachToTarget", json!({ "targetId": "x", "flatten": true })),
        ("Browser.setPermission", json!({ "permission": { "name": "local-network-access" }, "setting": "granted" })),
        ("Browser.grantPermissions", json!({ "permissions": ["localNetworkAccess"] })),
        ("Network.emulateNetworkConditionsByRule", json!({ "matchedNetworkConditions": [] })),
        ("Page.setPrerenderingAllowed", json!({ "isAllowed": true })),
        ("Fetch.enable", json!({})),
        ("Extensions.loadUnpacked", json!({ "path": "/tmp" })),
        ("Tethering.bind", json!({ "port": 1 })),
        ("PWA.launch", json!({ "manifestId": "x" })),
    ] {
        for target in [None, Some("t1")] {
            let response = call(&profile, method, params.clone(), target, None).unwrap_err();
            assert_eq!(response.code(), "BAD_REQUEST", "{method}: {response}");
        }
    }
    for target in [None, Some("t1")] {
        let response = call(&profile, "Target.createTarget", json!({ "url": blocked }), target, None).unwrap_err();
        assert_eq!(response.code(), "NAVIGATION_BLOCKED", "{response}");
        // What leads there is opened, and refused on its way.
        home.site.leads("/leads");
        let leading = home.site.url("a", &format!("/leads?{blocked}"));
        call(&profile, "Target.createTarget", json!({ "url": leading }), target, None).unwrap();
    }
    seen(&profile, "both refused", |now| now.pages.iter().filter(|page| page.blocked.is_some()).count() == 2);
    assert_eq!(home.site.requested_from("b.localhost"), [""; 0]);
}

#[test]
fn with_scripts_disabled_no_raw_command_runs_a_script() {
    let Some(home) = TestHome::new("evaluate_enabled: false") else { return };
    home.site.page("/", "<p>text</p>");
    home.open("/");
    let profile = home.main();
    let root = call(&profile, "DOM.getDocument", json!({ "depth": -1 }), None, None).unwrap()["root"]["nodeId"].clone();
    for (method, params) in [
        ("DOM.setOuterHTML", json!({ "nodeId": root, "outerHTML": "<img src=x onerror='document.title = 1'>" })),
        ("DOM.setAttributeValue", json!({ "nodeId": root, "name": "onclick", "value": "1" })),
        ("Debugger.enable", json!({})),
        (
            "Debugger.setBreakpointByUrl",
            json!({ "lineNumber": 0, "urlRegex": ".*", "condition": "document.title = 1" }),
        ),
        ("Page.setDocumentContent", json!({ "frameId": "x", "html": "<script>1</script>" })),
        ("Page.createIsolatedWorld", json!({ "frameId": "x" })),
        ("Page.reload", json!({ "scriptToEvaluateOnLoad": "1" })),
        ("Runtime.compileScript", json!({ "expression": "1", "sourceURL": "", "persistScript": true })),
    ] {
        assert_eq!(call(&profile, method, params, None, None).unwrap_err().code(), "EVALUATE_DISABLED", "{method}");
    }
}

#[test]
fn an_access_level_admits_only_its_commands() {
    let Some(home) = TestHome::new("raw_cdp_enabled: read") else { return };
    home.site.page("/", "text");
    home.open("/");
    let profile = home.main();
    call(&profile, "DOM.getDocument", json!({}), None, None).unwrap();
    let response = call(&profile, "Input.insertText", json!({ "text": "x" }), None, None).unwrap_err();
    assert!(
        response.code() == "RAW_CDP_DISABLED" && response.to_string().contains("raw_cdp_enabled: act"),
        "{response}"
    );
}

/// `docs/raw-cdp.md` is the table in the code. `UPDATE_DOCS=1` writes it anew.
#[test]
fn the_documentation_of_raw_commands_is_up_to_date() {
    const HEAD: &str = "\
# Raw CDP commands

Commands that `POST /cdp`, `cdpilot cdp` and `browser_cdp` can send. A command that is not listed is refused with `BAD_REQUEST`.
`browser.raw_cdp_enabled` selects the levels that are allowed: `read`, `act` (includes `read`), `all` or `true` (includes both), `false`
for none. `read`: reads without side effects that pages or servers can see. `act`: changes pages, their data or their environment. `all`:
debugs, measures or controls internals of the browser. `script`: runs a script of the caller; it needs the level `all` and
`browser.evaluate_enabled`. `never` marks commands that are always refused, with the reason
or the alternative. `Domain.*` stands for the commands of a domain that are not listed separately.
This page is generated by a test.

| command | level |
|---|---|
";
    let line = |(method, allowed): (String, Result<RawLevel, Refusal>)| {
        let level = match allowed {
            Ok(RawLevel::Read) => "read".to_owned(),
            Ok(RawLevel::Act) => "act".to_owned(),
            Ok(RawLevel::All) => "all".to_owned(),
            Ok(RawLevel::Script) => "script".to_owned(),
            Err(instead) => format!("never: {instead}"),
        };
        format!("| `{method}` | {level} |\n")
    };
    let page = HEAD.to_owned() + &raw_methods().into_iter().map(line).collect::<String>();
    let path = testkit::root().join("docs/raw-cdp.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/raw-cdp.md is out of date: UPDATE_DOCS=1 cargo test --workspace --test server -- control_raw"
    );
}

/// Somebody has thought of each command of the pinned protocol.
#[test]
fn every_protocol_command_is_classified() {
    let listed: Vec<String> = raw_methods().into_iter().map(|(method, _)| method).collect();
    let root = testkit::root().join("cdp-gen/protocol");
    let mut missing = Vec::new();
    for file in ["browser.json", "js.json"] {
        let protocol: Value = serde_json::from_slice(&std::fs::read(root.join(file)).unwrap()).unwrap();
        for domain in protocol["domains"].as_array().unwrap() {
            let name = domain["domain"].as_str().unwrap();
            for command in domain["commands"].as_array().into_iter().flatten() {
                let method = format!("{name}.{}", command["name"].as_str().unwrap());
                if !listed.contains(&method) && !listed.contains(&format!("{name}.*")) {
                    missing.push(method);
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
