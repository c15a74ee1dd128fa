//! Raw CDP commands.

use cdpilot::control::{Error, Profile, RawCall};
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::controlled::{Homely, seen};

fn call(
    profile: &Profile,
    method: &str,
    params: Value,
    target: Option<&str>,
    frame: Option<&str>,
) -> Result<Value, Error> {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let call = RawCall { method: method.to_owned(), params, target: own(target), frame: own(frame) };
    profile.raw(call, soon())
}

#[test]
fn a_command_goes_where_it_is_sent_and_brings_no_secret_back() {
    let Some(home) = Homely::new("") else { return };
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
        let told = call(&profile, "Runtime.evaluate", title.clone(), None, frame).unwrap();
        assert_eq!(told["result"]["value"], expected, "{told}");
    }
    let told = call(&profile, "Page.getFrameTree", Value::Null, Some("t1"), Some(&far)).unwrap();
    assert!(told["frameTree"]["frame"]["url"].as_str().unwrap().ends_with("/far"), "{told}");
    let wrong = call(&profile, "Page.getFrameTree", json!({}), None, Some(&near)).unwrap_err();
    assert!(wrong.code() == "BAD_REQUEST" && wrong.to_string().contains("shares the process"), "{wrong}");
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
    let told = call(&profile, "Runtime.evaluate", secret, None, None).unwrap();
    assert_eq!(told["result"]["value"], "ws://127.0.0.1:1/… Bearer [secret]");

    let unknown = call(&profile, "Page.doesNotExist", json!({}), None, None).unwrap_err();
    assert_eq!(unknown.code(), "BROWSER_ERROR", "{unknown}");
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
fn what_is_switched_off_is_refused() {
    let Some(home) = Homely::new("evaluate_enabled: false") else { return };
    let profile = home.started();
    for method in ["Runtime.evaluate", "Runtime.callFunctionOn", "Page.addScriptToEvaluateOnNewDocument"] {
        assert_eq!(call(&profile, method, json!({}), None, None).unwrap_err().code(), "EVALUATE_DISABLED", "{method}");
    }
    call(&profile, "Page.getFrameTree", json!({}), None, None).unwrap();
    let home = home.again("raw_cdp_enabled: false", Default::default());
    assert_eq!(call(&home.main(), "Browser.getVersion", json!({}), None, None).unwrap_err().code(), "RAW_CDP_DISABLED");
}

#[test]
fn a_page_is_given_no_other_files_than_may_be_uploaded() {
    let Some(home) = Homely::new("") else { return };
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
    let read = json!({ "url": "file:///etc/passwd", "options": { "disableCache": true, "includeCredentials": false } });
    assert_eq!(
        call(&profile, "Network.loadNetworkResource", read, None, None).unwrap_err().code(),
        "NAVIGATION_BLOCKED"
    );
}
