//! A fake browser with one page, for a supervisor.

use cdpilot::supervisor::{Supervisor, SupervisorOptions, View};
use serde_json::{Value, json};

use super::chrome::{soon, until};
use super::fake_cdp::{Action, Fake, Request};

/// The page's target and top frame.
pub const PAGE: &str = "P";
/// The page's session.
pub const SESSION: &str = "S";

/// The event of a session that is attached to a target.
pub fn attached(session: &str, target: &str, kind: &str, parent: Option<&str>) -> Value {
    let mut info = json!({
        "targetId": target, "type": kind, "title": "", "url": "http://fake.test/", "attached": true,
        "canAccessOpener": false
    });
    if let Some(parent) = parent {
        info["parentFrameId"] = parent.into();
    }
    json!({ "sessionId": session, "targetInfo": info, "waitingForDebugger": true })
}

/// A frame as Chromium describes it.
pub fn frame(id: &str, parent: Option<&str>, path: &str) -> Value {
    let mut frame = json!({
        "id": id, "loaderId": format!("loader of {path}"), "url": format!("http://fake.test{path}"),
        "domainAndRegistry": "fake.test", "securityOrigin": "http://fake.test", "mimeType": "text/html",
        "secureContextType": "InsecureScheme", "crossOriginIsolatedContextType": "NotIsolated",
        "gatedAPIFeatures": []
    });
    if let Some(parent) = parent {
        frame["parentId"] = parent.into();
    }
    frame
}

/// The answer to `Page.getFrameTree`: a top frame and those right below it.
pub fn tree(top: &Value, below: &[Value]) -> Value {
    let below: Vec<Value> = below.iter().map(|frame| json!({ "frame": frame })).collect();
    json!({ "frameTree": { "frame": top, "childFrames": below } })
}

/// The opening of a dialog.
pub fn opening(frame: &str, kind: &str, message: &str) -> Value {
    json!({
        "url": "http://fake.test/", "frameId": frame, "message": message, "type": kind,
        "hasBrowserHandler": true, "defaultPrompt": ""
    })
}

/// The closing of a dialog.
pub fn closing(frame: &str, result: bool) -> Value {
    json!({ "frameId": frame, "result": result, "userInput": "" })
}

/// A browser that opens requested pages.
pub fn browser() -> Fake {
    let fake = Fake::start();
    fake.on("Target.createTarget").with(|_| {
        let event = Action::event("Target.attachedToTarget", attached(SESSION, PAGE, "page", None));
        vec![event, Action::Reply(json!({ "targetId": PAGE }))]
    });
    fake.on("Page.getFrameTree").in_session(SESSION).reply(tree(&frame(PAGE, None, "/"), &[]));
    fake.on("Target.closeTarget").with(|request: &Request| {
        let gone = json!({ "sessionId": SESSION, "targetId": request.params["targetId"] });
        let event = Action::event("Target.detachedFromTarget", gone);
        vec![Action::Reply(json!({ "success": true })), event]
    });
    fake.on("Page.navigate").with(|request: &Request| {
        let mut blank = frame(PAGE, None, "/");
        blank["url"] = request.params["url"].clone();
        let session = request.session.clone().unwrap_or_default();
        let event = Action::event_in(&session, "Page.frameNavigated", json!({ "frame": blank, "type": "Navigation" }));
        vec![Action::Reply(json!({ "frameId": PAGE })), event]
    });
    // Sessions of frames are asked as well; each is the top of its own tree.
    fake.on("Target.getTargetInfo").with(|request: &Request| {
        let info = attached("", request.params["targetId"].as_str().unwrap_or(PAGE), "page", None);
        vec![Action::Reply(json!({ "targetInfo": info["targetInfo"] }))]
    });
    fake
}

/// A supervisor of that page.
pub fn supervise(fake: &Fake) -> Supervisor {
    supervise_with(fake, SupervisorOptions::task("fake"))
}

pub fn supervise_with(fake: &Fake, mut options: SupervisorOptions) -> Supervisor {
    options.start_timeout = soon().left();
    Supervisor::over(fake.connect(), options).unwrap()
}

/// Sends an event to the page's session.
pub fn tell(fake: &Fake, method: &str, params: Value) {
    fake.emit(Some(SESSION), method, params);
}

/// Waits until everything that was sent so far is folded: a message at the end of it is.
pub fn folded(fake: &Fake, supervisor: &Supervisor) -> std::sync::Arc<View> {
    let mark = format!("http://fake.test/#{}", supervisor.version());
    tell(fake, "Page.navigatedWithinDocument", json!({ "frameId": PAGE, "url": mark, "navigationType": "fragment" }));
    until(supervisor, "the mark", |now| now.pages.iter().any(|page| *page.url == mark))
}
