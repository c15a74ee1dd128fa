//! Extracting pages as text, and images for vision models.

use std::sync::Arc;

use cdpilot::sync::{Cancel, Deadline, spawn};
use cdpilot_server::tools::{Registry, Toolbox, ToolboxOptions};
use serde_json::{Value, json};

use crate::support::fake_model::{FakeModel, ModelAnswer};
use crate::support::site::{Answer, Held};
use crate::support::test_home::TestHome;
use crate::support::tool_workspace::{ToolWorkspace, called, no_scope};

fn model(target: &FakeModel) -> String {
    json!({ "models": { "eyes": { "model": "m", "base_url": target.url() } } }).to_string()
}

fn registry(home: &TestHome) -> Arc<Registry> {
    let options = ToolboxOptions::new().workspace(home.path());
    Arc::clone(Toolbox::open(&home.control, &options).unwrap().registry())
}

#[test]
fn pages_are_extracted_in_background_tabs_that_are_closed() {
    let Some(home) = TestHome::new("navigation: {block: [c.localhost]}") else { return };
    let eyes = FakeModel::saying([ModelAnswer::text("a red square")]);
    std::fs::write(home.path().join("llm.json"), model(&eyes)).unwrap();
    let (registry, site) = (registry(&home), &home.site);
    let call = |name: &str, arguments: Value| called(&registry, &no_scope(), name, arguments, crate::support::soon());
    site.page("/mine", "<title>mine</title>");
    site.page(
        "/",
        "<title>Story</title><main><h1>Head</h1><p id=x></p></main><iframe src='@b/in'></iframe>\
         <script>fetch('/data').then(r => r.text()).then(t => x.textContent = t)</script>",
    );
    site.page("/data", "made by a script");
    site.page("/in", "<p>framed text</p>");
    site.page("/loud", "<title>Loud</title><script>alert('hello'); confirm('sure?')</script><p>after the dialogs</p>");
    site.put("/away", Answer::html("").status("302 Found").header("Location", &site.url("c", "/")));
    let long: String = (1..=6_000).map(|number| format!("<p>line {number}")).collect();
    site.page("/long", &long);
    let mine = home.open("/mine");
    let profile = home.main();
    let no_tab_is_left = || {
        let tabs: Vec<_> = profile.tabs().into_iter().map(|tab| (tab.target_id, tab.active)).collect();
        assert_eq!(tabs, [(mine.target_id.clone(), true)]);
    };
    let response = call("web_extract", json!({ "url": site.url("a", "/") }));
    let content = response["content"].as_str().unwrap_or_else(|| panic!("{response}"));
    assert!(content.starts_with("Head\n\nmade by a script\n") && content.contains("framed text"), "{content}");
    assert_eq!(
        (&response["title"], &response["status"], response["untrusted"].is_string()),
        (&json!("Story"), &json!(200), true)
    );
    no_tab_is_left();
    // Each is reported separately.
    let urls = [site.url("a", "/loud"), site.url("c", "/"), site.url("a", "/away"), site.url("a", "/none")];
    let response = call("web_extract", json!({ "urls": urls }));
    let results = response["results"].as_array().unwrap_or_else(|| panic!("{response}"));
    assert!(results[0]["content"].as_str().unwrap().contains("after the dialogs"), "{}", results[0]);
    assert_eq!(results[0]["dismissed_dialogs"], json!(["hello", "sure?"]));
    let codes: Vec<_> = results[1..3].iter().map(|response| response["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["NAVIGATION_BLOCKED"; 2], "{response}");
    assert!(results[1]["url"] == site.url("c", "/") && results[3]["status"] == 404, "{response}");
    assert!(site.requested_from("c.localhost").is_empty());
    no_tab_is_left();
    // Long ones in parts.
    let response = call("web_extract", json!({ "url": site.url("a", "/long"), "offset": 11_990 }));
    assert!(response["content"].as_str().unwrap().ends_with("line 6000\n"), "{}", response["lines"]);
    let response = call("web_extract", json!({ "url": site.url("a", "/long") }));
    assert!(response["truncated"].as_str().unwrap().contains("continue with offset"), "{}", response["truncated"]);
    assert_eq!(call("web_extract", json!({}))["code"], "BAD_REQUEST");
    // A caller who goes leaves none either.
    let held = Held::default();
    site.put("/held", Answer::html("late").held_by(&held));
    let cancel = Cancel::new();
    let response = extracting(&registry, &cancel, site.url("a", "/held"));
    site.wait_requested("a.localhost/held", 1);
    cancel.set();
    let response = response.recv_timeout(crate::support::LIMIT).unwrap();
    assert_eq!(response["success"], false, "{response}");
    no_tab_is_left();
    // Nor does a server that says nothing.
    let silent = json!({ "url": site.url("a", "/held") });
    let response = called(&registry, &no_scope(), "web_extract", silent, Deadline::after_secs(4));
    assert_eq!(response["code"], "TIMEOUT", "{response}");
    assert!(response["error"].as_str().unwrap().contains("does not respond"), "{response}");
    no_tab_is_left();
    held.release();
    // A picture at an address is looked at as the browser shows it.
    site.page("/red", "<body style='background: red'>");
    let response = call("vision_analyze", json!({ "image": site.url("a", "/red"), "question": "What is it?" }));
    assert_eq!(response["analysis"], "a red square", "{response}");
    let requested = &eyes.requested()[0].body["messages"][1]["content"];
    assert_eq!(requested[0]["text"], "What is it?");
    assert!(requested[1]["image_url"]["url"].as_str().unwrap().starts_with("data:image/"), "{requested}");
    let response = call("vision_analyze", json!({ "image": site.url("c", "/red"), "question": "What is it?" }));
    assert_eq!(response["code"], "NAVIGATION_BLOCKED");
    no_tab_is_left();
}

/// Reads a page on a thread of its own: where the outcome comes.
fn extracting(registry: &Arc<Registry>, cancel: &Cancel, url: String) -> crossbeam_channel::Receiver<Value> {
    let (send, response) = crossbeam_channel::bounded(1);
    let (registry, cancel) = (Arc::clone(registry), cancel.clone());
    let thread = spawn("test-extract", move || {
        let arguments = json!({ "url": url });
        let deadline = Deadline::after_secs(600).cancelled_by(&cancel);
        let _ = send.send(called(&registry, &no_scope(), "web_extract", arguments, deadline));
    });
    // It is over when the outcome is there.
    std::mem::forget(thread.unwrap());
    response
}

#[test]
fn images_are_read_only_from_allowed_folders() {
    assert!(!ToolWorkspace::new("").offers("vision_analyze"));
    let eyes = FakeModel::saying([ModelAnswer::text("a cat"), ModelAnswer::text("a page")]);
    let shop = ToolWorkspace::with("", |folder, options| {
        std::fs::create_dir_all(folder.join("home/media")).unwrap();
        std::fs::write(folder.join("home/llm.json"), model(&eyes)).unwrap();
        options
    });
    let picture = b"\x89PNG\r\n\x1a\n0000";
    shop.put("cat.png", picture);
    shop.put("cat.txt", "cat");
    std::fs::write(shop.path("home/media/shot.png"), picture).unwrap();
    std::fs::write(shop.path("out.png"), picture).unwrap();
    let look = |image: &str| shop.call("vision_analyze", json!({ "image": image, "question": "What?" }));
    assert_eq!(look("cat.png")["analysis"], "a cat");
    // As a tool reports the path of a screenshot.
    assert_eq!(look(&shop.path("home/media/shot.png").display().to_string())["analysis"], "a page");
    let code = |image: &str| look(image)["code"].as_str().unwrap().to_owned();
    assert_eq!(code("cat.txt"), "BAD_REQUEST");
    assert_eq!(code("none.png"), "NOT_FOUND");
    for outside in ["../out.png", "../home/media/shot.png", &shop.path("home/token").display().to_string()] {
        assert_eq!(code(outside), "PATH_REFUSED", "{outside}");
    }
    let sent = &eyes.requested()[0].body["messages"][1]["content"][1]["image_url"]["url"];
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, picture);
    assert_eq!(*sent, format!("data:image/png;base64,{encoded}"));
    assert_eq!(eyes.requested().len(), 2);
}
