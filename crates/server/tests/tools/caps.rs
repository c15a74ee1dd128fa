//! Pages with excessive content: every answer that a model reads stays limited.

use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::share::share;
use crate::support::test_home::{run, seen};
use crate::support::tool_home::ToolHome;

/// Characters of an answer at most, whatever the page does.
const ANSWER: usize = 60_000;

/// Everything that a page can make long.
const FLOOD: &str = r#"(() => {
    const flood = (word, times) => (word + ' ').repeat(times);
    document.title = flood('title', 100000);
    history.replaceState(null, '', '?' + 'u'.repeat(100000));
    document.body.innerHTML = '<button id=b>Go</button>' + '<img src="/dot.png">'.repeat(300);
    b.setAttribute('aria-label', flood('name', 50000));
    for (const image of document.images) image.alt = flood('alt', 200);
    for (let n = 0; n < 40; n++) {
        const frame = document.createElement('iframe');
        frame.name = flood('frame', 2000);
        frame.src = '/inner?' + 'f'.repeat(10000);
        document.body.append(frame);
    }
    for (let n = 0; n < 50; n++) console.log(flood('logged', 2000));
    b.onclick = () => { for (let n = 0; n < 20; n++) console.error(flood('said', 5000)); };
})()"#;

fn bounded(response: &Value, what: &str) {
    let size = response.to_string().chars().count();
    assert!(
        size < ANSWER,
        "{what}: {size} characters: {}",
        response.to_string().chars().take(2_000).collect::<String>()
    );
}

fn marked(text: &Value, most: usize) {
    let text = text.as_str().unwrap_or_else(|| panic!("no text: {text}"));
    let (kept, mark) = text.split_once("… [truncated: ").unwrap_or_else(|| panic!("{} characters", text.len()));
    assert!(kept.chars().count() <= most && mark.starts_with(&format!("{most} of ")), "{mark}");
}

#[test]
fn a_page_cannot_flood_a_model() {
    let Some(tooled) = ToolHome::new("") else { return };
    let site = &tooled.home.site;
    site.page("/", "<p>plain");
    site.page("/inner", "x");
    tooled.done("browser_navigate", json!({ "url": site.url("a", "/") }));
    let evaluated = tooled.done("browser_evaluate", json!({ "script": FLOOD }));
    bounded(&evaluated, "evaluate");
    let profile = tooled.home.main();
    seen(&profile, "the flood", |now| now.pages.iter().any(|page| page.title.len() > 3_000));
    // A click needs a snapshot, and makes the console longer.
    let first = [("browser_snapshot", json!({})), ("browser_click", json!({ "ref": "e1" }))];
    let others = [
        ("browser_snapshot", json!({ "full": true })),
        ("browser_tabs", json!({ "action": "list" })),
        ("browser_console", json!({})),
        ("browser_get_images", json!({})),
        ("browser_screenshot", json!({ "labels": true })),
        ("browser_evaluate", json!({ "script": "({ ['k'.repeat(500000)]: 1 })" })),
        ("browser_evaluate", json!({ "script": "'r'.repeat(500000)" })),
        ("browser_cdp", json!({ "method": "Page.getFrameTree" })),
    ];
    let last = [("browser_navigate", json!({ "action": "reload" }))];
    for (name, arguments) in first.into_iter().chain(share(others, 3)).chain(last) {
        bounded(&tooled.done(name, arguments.clone()), &format!("{name} {arguments}"));
    }
    let evaluated = tooled.done("browser_evaluate", json!({ "script": FLOOD }));
    let seen_next = tooled.done("browser_snapshot", json!({}));
    // The address and title are in the first answer that knows them.
    let response = if seen_next["title"].is_string() { &seen_next } else { &evaluated };
    marked(&response["title"], 300);
    marked(&response["url"], 2_000);
    let listed = tooled.done("browser_tabs", json!({ "action": "list" }));
    marked(&listed["tabs"][0]["title"], 300);
    marked(&listed["tabs"][0]["url"], 2_000);
    let thrown = tooled.call("browser_evaluate", json!({ "script": "throw new Error('e'.repeat(500000))" }));
    assert_eq!(thrown["success"], false);
    marked(&thrown["error"], 2_000);
    bounded(&thrown, "error");
    let tab = profile.tab(None).unwrap().tab.target().to_string();
    run(&profile, &tab, "prompt('m'.repeat(500000), 'd'.repeat(500000))");
    seen(&profile, "a dialog", |now| !now.dialogs.is_empty());
    let under_a_dialog = [
        ("browser_snapshot", json!({})),
        ("browser_tabs", json!({ "action": "list" })),
        ("browser_press", json!({ "key": "Tab" })),
    ];
    for (name, arguments) in share(under_a_dialog, 1) {
        let response = tooled.call(name, arguments);
        bounded(&response, name);
        let dialog = &response["pending_dialogs"][0];
        marked(&dialog["message"], 2_000);
        marked(&dialog["default_prompt"], 1_000);
    }
    bounded(&tooled.done("browser_dialog", json!({ "action": "dismiss" })), "dismissed");
    profile.stop(soon()).unwrap();
}
