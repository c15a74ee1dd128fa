//! The browser tools, called as a model calls them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::fake_model::{FakeModel, ModelAnswer};
use crate::support::share::{rounds, share};
use crate::support::site::{Answer, Held};
use crate::support::test_home::TestHome;
use crate::support::tool_home::{ToolHome, ref_in};
use crate::support::tool_workspace::no_scope;
use cdpilot::supervisor::{LogEvent, NetworkRequest};
use cdpilot::sync::Deadline;
use cdpilot_server::control::Profile;
use cdpilot_server::llm::{ChatRequest, Client, Message, Role, ToolSpec};
use cdpilot_server::tools::{Allowed, Effect, Guard, Image, Session, ToolContext, ToolError};

const ASKING: &str = "<title>Shop</title><h1>Shop</h1><label>Name <input id=n></label>
    <button onclick=\"out.textContent = confirm('Buy it, ' + n.value + '?') ? 'bought' : 'not bought'\">Buy</button><p id=out>nothing yet</p>
    <iframe src='@b/outer' width=400 height=300></iframe>";

fn shop(tooled: &ToolHome) {
    tooled.home.site.page("/", ASKING);
    tooled.home.site.page("/outer", "<h2>Outer</h2><iframe src='@c/inner' width=300 height=150></iframe>");
    tooled.home.site.page("/inner", "<button onclick='this.textContent = \"Pressed\"'>Deep</button>");
}

#[test]
fn a_task_with_a_dialog_and_nested_frames() {
    let Some(tooled) = ToolHome::new("") else { return };
    shop(&tooled);
    let seen = tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", "/") }));
    assert_eq!((&seen["title"], seen["untrusted"].is_string()), (&json!("Shop"), true));
    let name = ref_in(&seen, "textbox");
    let typed = tooled.done("browser_type", json!({ "ref": name, "text": "Ada" }));
    assert_eq!((&typed["element"], &typed["typed"]), (&json!(name), &json!("3 characters")));
    let clicked = tooled.done("browser_click", json!({ "ref": format!("@{}", ref_in(&seen, "button \"Buy\"")) }));
    assert_eq!(
        (&clicked["blockedByDialog"], &clicked["pending_dialogs"][0]["message"]),
        (&json!(true), &json!("Buy it, Ada?"))
    );
    // Whatever is called meanwhile tells of it.
    let seen = tooled.done("browser_snapshot", json!({}));
    assert_eq!(seen["pending_dialogs"][0]["message"], "Buy it, Ada?");
    let tabs = tooled.done("browser_tabs", json!({ "action": "list" }));
    assert_eq!((&tabs["pending_dialogs"][0]["type"], tabs["tabs"].as_array().unwrap().len()), (&json!("confirm"), 1));
    let refused = tooled.call("browser_press", json!({ "key": "Tab" }));
    assert_eq!((&refused["success"], &refused["code"]), (&json!(false), &json!("BLOCKED_BY_DIALOG")));
    assert_eq!(refused["pending_dialogs"][0]["message"], "Buy it, Ada?");
    assert!(refused["untrusted"].as_str().unwrap().contains("do not follow"), "{refused}");
    let answered = tooled.done("browser_dialog", json!({ "action": "accept" }));
    assert_eq!((&answered["action"], &answered["dialog"]["accepted"]), (&json!("accept"), &json!(true)));
    assert_eq!(tooled.call("browser_dialog", json!({ "action": "accept" }))["code"], "NO_DIALOG");
    let seen = tooled.done("browser_snapshot", json!({ "full": true }));
    assert!(seen["snapshot"].as_str().unwrap().contains("bought"), "{seen}");
    assert!(seen.get("recent_dialogs").is_none(), "{seen}");
    assert_eq!(seen["frame_tree"]["children"].as_array().unwrap().len(), 2, "{}", seen["frame_tree"]);
    let clicked = tooled.done("browser_click", json!({ "ref": ref_in(&seen, "Deep") }));
    assert!(clicked["changes"].as_str().unwrap().contains("Pressed"), "{clicked}");
}

#[test]
fn tools_that_need_cdp_are_listed_only_with_it() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page("/", "<p>here");
    let gated = ["browser_cdp", "browser_dialog"];
    for _ in 0..2 {
        let offered = tooled.offered("browser");
        assert!(gated.iter().all(|name| !offered.contains(*name)) && offered.contains("browser_click"), "{offered:?}");
        assert_eq!(tooled.call("browser_cdp", json!({ "method": "Browser.getVersion" }))["code"], "TOOL_UNAVAILABLE");
        tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", "/") }));
        let offered = tooled.offered("browser");
        assert!(gated.iter().all(|name| offered.contains(*name)), "{offered:?}");
        let response =
            tooled.done("browser_cdp", json!({ "method": "Runtime.evaluate", "params": { "expression": "6 * 7" } }));
        assert_eq!(response["result"]["result"]["value"], 42);
        tooled.home.main().stop(soon()).unwrap();
    }
    let Some(tooled) = ToolHome::new("raw_cdp_enabled: false, evaluate_enabled: false") else { return };
    tooled.home.started();
    let offered = tooled.offered("browser");
    assert!(!offered.contains("browser_cdp") && offered.contains("browser_dialog"));
    tooled.done("browser_tabs", json!({ "action": "open", "url": "about:blank" }));
    assert_eq!(tooled.call("browser_evaluate", json!({ "script": "1" }))["code"], "EVALUATE_DISABLED");
    assert_eq!(tooled.call("browser_get_images", json!({}))["code"], "EVALUATE_DISABLED");
}

#[test]
fn every_browser_tool_works() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page(
        "/",
        "<title>All</title><input aria-label=Name><select aria-label=Kind><option>one<option>two</select><input type=checkbox aria-label=Yes>
         <button onclick=\"console.error('pressed')\">Press</button><div style='height: 3000px'></div><p>below</p>
         <img alt=dot src='/dot.png'><img alt=inside src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>",
    );
    let url = tooled.home.site.url("a", "/");
    let opened = tooled.done("browser_tabs", json!({ "action": "open", "url": url, "label": "main" }));
    assert_eq!((&opened["tab"]["label"], &opened["tab"]["tabId"]), (&json!("main"), &json!("t1")));
    let seen = tooled.done("browser_snapshot", json!({ "target": "main" }));
    let (name, kind, yes) = (ref_in(&seen, "Name"), ref_in(&seen, "Kind"), ref_in(&seen, "Yes"));
    tooled.done("browser_fill", json!({ "fields": [{ "ref": name, "value": "Ada" }, { "ref": yes, "value": true }] }));
    tooled.done("browser_select", json!({ "ref": kind, "values": ["two"] }));
    let values =
        "[...document.querySelectorAll('input, select')].map(e => e.type === 'checkbox' ? e.checked : e.value)";
    let response = tooled.done("browser_evaluate", json!({ "script": values }));
    assert_eq!(response["result"], json!(["Ada", "two", true]));
    for (script, result, hint) in [
        ("const x = 4; x * 2", Value::Null, true),
        ("const x = 4; return x * 2;", json!(8), false),
        ("null;", Value::Null, false),
    ] {
        let response = tooled.done("browser_evaluate", json!({ "script": script }));
        assert_eq!((&response["result"], response["hint"].is_string()), (&result, hint), "{script}: {response}");
    }
    tooled.done("browser_click", json!({ "ref": ref_in(&seen, "Press") }));
    let console = tooled.done("browser_console", json!({}));
    let message = &console["console_messages"][0];
    assert_eq!((&console["total_messages"], &message["text"]), (&json!(1), &json!("pressed")));
    assert_eq!((&message["type"], &message["source"]), (&json!("error"), &json!("console")));
    let response = tooled.done("browser_console", json!({ "expression": "({ a: 1 })" }));
    assert_eq!((&response["result"], &response["result_type"]), (&json!({ "a": 1 }), &json!("object")));
    let href = tooled
        .done("browser_evaluate", json!({ "script": "history.pushState(0, '', '?q=shoes&page=2'), location.href" }));
    assert!(href["result"].as_str().unwrap().ends_with("/?q=shoes&page=2"), "{href}");
    assert_eq!(tooled.done("browser_scroll", json!({ "direction": "down" }))["scrolled"], "down");
    assert!(tooled.done("browser_evaluate", json!({ "script": "scrollY" }))["result"].as_f64().unwrap() > 100.0);
    let images = tooled.done("browser_get_images", json!({}));
    assert_eq!((&images["count"], &images["images"][0]["alt"]), (&json!(1), &json!("dot")), "{images}");
    assert_eq!(tooled.done("browser_press", json!({ "key": "Tab" }))["pressed"], "Tab");
    tooled.done("browser_hover", json!({ "ref": name }));
    tooled.done("browser_wait", json!({ "text": "below" }));
    assert_eq!(tooled.call("browser_wait", json!({ "text": "never", "timeout_ms": 300 }))["code"], "TIMEOUT");
    let closed = tooled.done("browser_tabs", json!({ "action": "close", "target": "main" }));
    assert_eq!(closed["closed"]["label"], "main");
}

#[test]
fn a_page_with_text_only_is_not_reported_as_empty() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page("/", "<title>Text</title><p>Only words.</p>");
    let url = tooled.home.site.url("a", "/");
    for seen in [tooled.done("browser_navigate", json!({ "url": url })), tooled.done("browser_snapshot", json!({}))] {
        assert_eq!((&seen["snapshot"], &seen["element_count"]), (&json!(""), &json!(0)));
        assert!(seen["hint"].as_str().unwrap().contains("full"), "{seen}");
    }
    let seen = tooled.done("browser_snapshot", json!({ "full": true }));
    assert!(seen["snapshot"].as_str().unwrap().contains("Only words.") && seen.get("hint").is_none(), "{seen}");
}

#[test]
fn back_forward_and_reload() {
    let Some(tooled) = ToolHome::new("navigation: {block: [gone.test]}") else { return };
    let site = &tooled.home.site;
    let counts = "<script>history.scrollRestoration; document.title += ' ' + (sessionStorage.n = 1 + +(sessionStorage.n || 0))</script>";
    site.page("/one", &format!("<title>one</title><button onclick='this.textContent = \"First\"'>Go</button>{counts}"));
    site.page("/two", "<title>two</title><iframe src='@a/one'></iframe><a href='#part'>Part</a>");
    site.page(
        "/stay",
        "<title>stay</title><button>b</button><script>onbeforeunload = e => e.preventDefault()</script>",
    );
    let (one, two) = (site.url("a", "/one"), site.url("b", "/two"));
    let moved = |action: &str| tooled.done("browser_navigate", json!({ "action": action }));
    assert_eq!(tooled.call("browser_back", json!({}))["code"], "BROWSER_NOT_RUNNING");
    tooled.done("browser_navigate", json!({ "url": one }));
    tooled.done("browser_navigate", json!({ "url": two }));
    // Another process, a document that may have been kept, one that may not.
    let back = tooled.done("browser_back", json!({}));
    assert_eq!(back["url"], one.as_str());
    let clicked = tooled.done("browser_click", json!({ "ref": ref_in(&back, "button \"Go\"") }));
    assert!(clicked["changes"].as_str().unwrap().contains("First"), "{clicked}");
    let forward = moved("forward");
    assert_eq!((&forward["url"], &forward["title"]), (&json!(two), &json!("two")));
    assert_eq!(tooled.call("browser_navigate", json!({ "action": "forward" }))["code"], "CONFLICT");
    // Within a document.
    tooled.done("browser_click", json!({ "ref": ref_in(&forward, "link \"Part\"") }));
    assert_eq!(tooled.done("browser_evaluate", json!({ "script": "location.hash" }))["result"], "#part");
    assert_eq!(moved("back")["url"], two.as_str());
    assert_eq!(tooled.done("browser_evaluate", json!({ "script": "location.hash" }))["result"], "");
    tooled.done("browser_evaluate", json!({ "script": "history.pushState(1, '', location.href)" }));
    assert_eq!(moved("back")["url"], two.as_str());
    tooled.done("browser_evaluate", json!({ "script": "window.before = 1" }));
    let again = moved("reload");
    assert_eq!((&again["url"], &again["status"]), (&json!(two), &json!(200)));
    assert_eq!(tooled.done("browser_evaluate", json!({ "script": "typeof before" }))["result"], "undefined");
    // A page that asks whether it may be left.
    let stay = tooled.done("browser_navigate", json!({ "url": site.url("a", "/stay") }));
    tooled.done("browser_click", json!({ "ref": ref_in(&stay, "button") }));
    let requested = tooled.done("browser_back", json!({}));
    assert_eq!((&requested["blockedByDialog"], &requested["navigated"]), (&json!(true), &json!(false)), "{requested}");
    assert_eq!(requested["pending_dialogs"][0]["type"], "beforeunload");
    tooled.done("browser_dialog", json!({ "action": "dismiss" }));
    assert_eq!(tooled.done("browser_evaluate", json!({ "script": "location.href" }))["result"], site.url("a", "/stay"));
    for bad in [json!({}), json!({ "url": one, "action": "back" })] {
        assert_eq!(tooled.call("browser_navigate", bad)["code"], "BAD_REQUEST");
    }
}

#[test]
fn an_endlessly_loading_page_succeeds_within_thirty_seconds() {
    let Some(tooled) = ToolHome::new("") else { return };
    let (site, held) = (&tooled.home.site, Held::default());
    site.put("/never.png", Answer::html("").held_by(&held));
    site.put("/silent", Answer::html("at last").held_by(&held));
    site.page("/", "<title>quick</title>");
    site.page("/slow", "<title>slow</title><button>Here</button><img src='/never.png'>");
    let (quick, slow) = (site.url("a", "/"), site.url("a", "/slow"));
    tooled.done("browser_navigate", json!({ "url": quick }));
    let loading = |response: &Value| {
        assert_eq!((&response["success"], &response["loading"]), (&json!(true), &json!(true)), "{response}");
        assert!(response["note"].as_str().unwrap().contains("still loading"), "{response}");
    };
    // Over MCP a call may take two minutes, and clients give up after one.
    let response = std::thread::scope(|scope| {
        let (send, response) = crossbeam_channel::bounded(1);
        let (tooled, slow) = (&tooled, &slow);
        scope.spawn(move || {
            let response = tooled.call_by("browser_navigate", json!({ "url": slow }), Deadline::after_secs(120));
            let _ = send.send(response);
        });
        response.recv_timeout(crate::support::LIMIT).expect("an answer before clients give up")
    });
    loading(&response);
    assert_eq!(
        (&response["url"], &response["title"], &response["status"]),
        (&json!(slow), &json!("slow"), &json!(200))
    );
    assert!(response["snapshot"].as_str().unwrap().contains("Here"), "{response}");
    loading(&tooled.call_by("browser_navigate", json!({ "action": "reload" }), Deadline::after_secs(2)));
    tooled.done("browser_navigate", json!({ "url": quick }));
    loading(&tooled.call_by("browser_navigate", json!({ "action": "back" }), Deadline::after_secs(2)));
    loading(&tooled.done("browser_tabs", json!({ "action": "open", "url": slow })));
    let opened = tooled.done("browser_tabs", json!({ "action": "open", "url": quick }));
    assert_eq!((&opened["loading"], &opened["tab"]["title"]), (&Value::Null, &json!("quick")));
    // One whose server says nothing shows nothing new, and goes elsewhere when it is told to.
    let silent = json!({ "url": site.url("a", "/silent") });
    let late = tooled.call_by("browser_navigate", silent, Deadline::after_secs(2));
    assert_eq!((&late["success"], &late["code"]), (&json!(false), &json!("TIMEOUT")), "{late}");
    let nothing = tooled.call_by("browser_snapshot", json!({}), Deadline::after_secs(2));
    assert_eq!((&nothing["loading"], &nothing["snapshot"]), (&json!(true), &json!("")), "{nothing}");
    assert!(nothing["note"].as_str().unwrap().contains("navigate elsewhere"), "{nothing}");
    assert_eq!(tooled.done("browser_navigate", json!({ "url": quick }))["title"], "quick");
    held.release();
}

#[test]
fn long_results_are_truncated_and_name_the_file_with_the_rest() {
    let Some(tooled) = ToolHome::new("") else { return };
    let many = rounds("CDPILOT_TEST_ROWS", 400, 1500);
    let rows: String = (0..many)
        .map(|n| {
            format!(
                "<h{0}>Heading {n} of many</h{0}><p><button>Button {n}</button><a href='#{n}'>Link {n}</a></p>",
                n % 6 + 1
            )
        })
        .collect();
    tooled.home.site.page("/", &rows);
    let seen = tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", "/") }));
    let short = seen["snapshot"].as_str().unwrap();
    assert!(short.len() < 7_000 && short.trim_end().ends_with("lines omitted: call browser_snapshot]"), "{short}");
    let (mut offset, mut found) = (0, 0);
    loop {
        let seen = tooled.done("browser_snapshot", json!({ "offset": offset, "full": true }));
        let text = seen["snapshot"].as_str().unwrap();
        assert!(text.chars().count() < 15_200, "{}", text.len());
        found += text.lines().filter(|line| line.contains("of many")).count();
        let Some(next) = text.lines().last().unwrap().strip_suffix(']').and_then(|l| l.split("with offset ").nth(1))
        else {
            break;
        };
        offset = next.parse().unwrap();
    }
    assert!(offset > 0);
    assert_eq!(found, many);
    let long = tooled.done("browser_evaluate", json!({ "script": "Array.from({ length: 9000 }, (_, n) => n)" }));
    let file = std::fs::read_to_string(long["result_path"].as_str().unwrap()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&file).unwrap().as_array().unwrap().len(), 9000);
    assert!(long["result"].as_str().unwrap().len() < 21_000);
    // Secrets are covered on every path.
    let token = format!("ghp_{}", "a1".repeat(18));
    let script = format!("(console.log('{token}'), ['{token}', 'Bearer {token}'])");
    let response = tooled.done("browser_evaluate", json!({ "script": script })).to_string();
    let console = tooled.done("browser_console", json!({})).to_string();
    let raw = tooled
        .done("browser_cdp", json!({ "method": "Runtime.evaluate", "params": { "expression": format!("'{token}'") } }));
    for response in [response, console, raw.to_string()] {
        assert!(!response.contains(&token) && response.contains("[secret]"), "{response}");
    }
}

#[test]
fn files_and_screenshots_are_transferred() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page(
        "/",
        "<input type=file aria-label=File><button id=c onclick='document.querySelector(\"input\").click()'>Choose</button>
         <button onclick='setTimeout(() => alert(1))'>Alert</button>",
    );
    let file = tooled.home.control.home().uploads().join("note.txt");
    std::fs::write(&file, "hello").unwrap();
    let seen = tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", "/") }));
    let paths = json!([file]);
    let given = tooled.done("browser_upload", json!({ "paths": paths, "ref": ref_in(&seen, "\"File\"") }));
    assert_eq!((&given["uploaded"], &given["count"]), (&json!(true), &json!(1)));
    let name = "document.querySelector('input').files[0]?.name";
    assert_eq!(tooled.done("browser_evaluate", json!({ "script": name }))["result"], "note.txt");
    tooled.done("browser_evaluate", json!({ "script": "document.querySelector('input').value = ''" }));
    assert_eq!(tooled.done("browser_upload", json!({ "paths": paths }))["armed"], true);
    tooled.done("browser_click", json!({ "ref": ref_in(&seen, "\"Choose\"") }));
    tooled.done("browser_evaluate", json!({ "script": "new Promise(done => { const i = document.querySelector('input'); i.files.length ? done() : i.onchange = done })" }));
    assert_eq!(tooled.done("browser_evaluate", json!({ "script": name }))["result"], "note.txt");
    let outside = tooled.home.control.home().token();
    assert_eq!(tooled.call("browser_upload", json!({ "paths": [outside] }))["code"], "PATH_REFUSED");
    // A picture before, and the same one while a dialog holds the page.
    assert!(tooled.done("browser_screenshot", json!({}))["width"].as_u64().unwrap() > 100);
    tooled.done("browser_click", json!({ "ref": ref_in(&seen, "\"Alert\"") }));
    tooled.home.main().running().unwrap().supervisor().wait_until(soon(), |now| !now.dialogs.is_empty()).unwrap();
    let response = tooled.call("browser_screenshot", json!({}));
    assert_eq!(
        (&response["pending_dialogs"][0]["message"], &response["blockedByDialog"]),
        (&json!("1"), &json!(true)),
        "{response}"
    );
}

#[test]
fn errors_for_closed_pages_and_browsers_contain_advice() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page("/", "<title>here</title>");
    let home = json!({ "url": tooled.home.site.url("a", "/") });
    let response = |what: Value| what["error"].as_str().unwrap().to_owned();
    tooled.done("browser_navigate", home.clone());
    tooled.call("browser_cdp", json!({ "method": "Page.crash", "timeout": 5 }));
    let crashed = response(tooled.call("browser_snapshot", json!({})));
    assert!(crashed.contains("crashed") && crashed.contains("reload"), "{crashed}");
    assert_eq!(tooled.done("browser_navigate", json!({ "action": "reload" }))["title"], "here");
    tooled.home.main().stop(soon()).unwrap();
    let ended = response(tooled.call("browser_snapshot", json!({})));
    assert!(ended.contains("start it with browser_navigate"), "{ended}");
    assert_eq!(tooled.done("browser_navigate", home)["title"], "here");
}

#[test]
fn arguments_are_accepted_in_the_forms_that_models_write() {
    let Some(tooled) = ToolHome::new("") else { return };
    tooled.home.site.page(
        "/",
        "<input aria-label=Name><input type=checkbox aria-label=Box><select aria-label=Sel><option>one<option>2</select>",
    );
    let url = tooled.home.site.url("a", "/");
    let seen = tooled.done("browser_navigate", json!({ "url": url, "action": null, "target": null }));
    let number = |part: &str| ref_in(&seen, part)[1..].parse::<u64>().unwrap();
    let (name, tick) = (number("textbox"), number("checkbox"));
    tooled.done("browser_type", json!({ "ref": name, "text": 5, "submit": "false" }));
    tooled.done("browser_fill", json!({ "fields": json!([{ "ref": tick, "value": "true" }]).to_string() }));
    tooled.done("browser_select", json!({ "ref": number("combobox"), "values": 2 }));
    let values = "[...document.querySelectorAll('input, select')].map(e => e.type == 'checkbox' ? e.checked : e.value)";
    assert_eq!(tooled.done("browser_evaluate", json!({ "script": values }))["result"], json!(["5", true, "2"]));
    tooled.done("browser_wait", json!({ "time_ms": "1", "text": null }));
    tooled.done("browser_snapshot", json!({ "full": "True", "offset": 0.0, "diff": null }));
    let error = |name: &str, arguments: Value| {
        let response = tooled.call(name, arguments);
        assert_eq!(response["code"], "BAD_REQUEST", "{response}");
        response["error"].as_str().unwrap().to_owned()
    };
    let response = error("browser_wait", json!({ "time_ms": "soon" }));
    assert!(response.contains("time_ms") && response.contains("a whole number"), "{response}");
    let response = error("browser_fill", json!({ "fields": 5 }));
    assert!(response.contains("fields") && response.contains("an object with ref and value"), "{response}");
    let response = error("browser_fill", json!({ "fields": [{ "ref": name, "value": null }] }));
    assert!(response.contains("fields[0].value") && response.contains("string"), "{response}");
}

#[test]
fn tool_errors_have_one_shape() {
    let Some(tooled) = ToolHome::new("") else { return };
    let code = |name: &str, arguments: Value| {
        let response = tooled.call(name, arguments);
        assert_eq!((&response["success"], response["error"].is_string()), (&json!(false), true), "{response}");
        let not_for_models = ["`cdpilot ", "GET /", "POST /", "timeMs"];
        assert!(!not_for_models.iter().any(|one| response["error"].as_str().unwrap().contains(one)), "{response}");
        response["code"].as_str().unwrap().to_owned()
    };
    // What models are advised to do is what they can do.
    let advised = |name: &str, arguments: Value, tool: &str| {
        let response = tooled.call(name, arguments);
        let error = response["error"].as_str().unwrap();
        let foreign = ["POST /", "GET /", "cdpilot browser"].iter().any(|other| error.contains(other));
        assert!(error.contains(tool) && !foreign, "{name}: {response}");
    };
    advised("browser_click", json!({ "ref": "e1" }), "browser_navigate");
    assert_eq!(code("browser_click", json!({ "ref": "e1" })), "BROWSER_NOT_RUNNING");
    assert_eq!(code("browser_click", json!({})), "BAD_REQUEST");
    assert_eq!(code("browser_click", json!({ "ref": "e1", "colour": "red" })), "BAD_REQUEST");
    assert_eq!(code("browser_navigate", json!({ "url": "http://169.254.169.254/" })), "NAVIGATION_BLOCKED");
    assert_eq!(code("browser_navigate", json!({ "url": "mailto:a@b.c" })), "NAVIGATION_BLOCKED");
    tooled.done("browser_tabs", json!({ "action": "open", "url": "about:blank" }));
    let file = Answer::bytes("application/octet-stream", vec![1; 9]).header("Content-Disposition", "attachment");
    tooled.home.site.put("/file", file);
    let response = tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", "/file") }));
    assert!(response["navigated"] == false && response["note"].as_str().unwrap().contains("download"), "{response}");
    assert_eq!(code("browser_click", json!({ "ref": "e1" })), "STALE_REF");
    assert_eq!(code("browser_tabs", json!({ "action": "focus", "target": "t9" })), "TAB_NOT_FOUND");
    advised("browser_tabs", json!({ "action": "focus", "target": "t9" }), "browser_tabs");
    for (method, tool) in [("Browser.close", "browser_tabs"), ("Input.setInterceptDrags", "browser_drag")] {
        advised("browser_cdp", json!({ "method": method }), tool);
    }
    assert_eq!(code("browser_tabs", json!({ "action": "open" })), "BAD_REQUEST");
    assert_eq!(code("browser_upload", json!({ "paths": [] })), "BAD_REQUEST");
    assert_eq!(code("browser_wait", json!({})), "BAD_REQUEST");
    tooled.done("browser_tabs", json!({ "action": "open", "url": "about:blank" }));
    tooled.done("browser_tabs", json!({ "action": "close", "target": "t2" }));
    assert_eq!(code("browser_snapshot", json!({})), "TAB_GONE");
    tooled.done("browser_snapshot", json!({ "target": "t1" }));
    tooled.done("browser_tabs", json!({ "action": "close", "target": "t1" }));
    assert_eq!(code("browser_snapshot", json!({ "target": "t1" })), "TAB_NOT_FOUND");
}

fn client(target: &FakeModel) -> Client {
    let model = json!({ "model": "m", "base_url": target.url() });
    Client::new("m", &serde_json::from_value(model).unwrap()).unwrap()
}

#[test]
fn a_vision_model_is_asked_about_a_screenshot() {
    let Some(home) = TestHome::new("") else { return };
    let target = FakeModel::saying([ModelAnswer::text("A red square.")]);
    let tooled = ToolHome::with(home, |browser| browser.with_vision_model(client(&target)));
    tooled.home.site.page("/", "<body style='background: red'><button>Go</button>");
    tooled.done("browser_navigate", json!({ "url": tooled.home.site.url("a", "/") }));
    let response = tooled.done("browser_vision", json!({ "question": "What is there?", "annotate": true }));
    assert_eq!((&response["analysis"], &response["annotations"][0]["name"]), (&json!("A red square."), &json!("Go")));
    assert!(std::path::Path::new(response["screenshot_path"].as_str().unwrap()).is_file());
    let requested = &target.requested()[0].body["messages"];
    assert_eq!(requested[1]["content"][0]["text"], "What is there?");
    assert!(requested[1]["content"][1]["image_url"]["url"].as_str().unwrap().starts_with("data:image/"));
    let Some(without) = ToolHome::new("") else { return };
    assert!(!without.offered("browser").contains("browser_vision"));
}

/// What a model does is scripted; what it receives is real.
#[test]
fn a_scripted_model_completes_a_task() {
    let Some(tooled) = ToolHome::new("") else { return };
    shop(&tooled);
    let url = tooled.home.site.url("a", "/");
    type Arguments = Box<dyn Fn(&Value) -> Value>;
    let steps: [(&str, Arguments); 6] = [
        ("browser_navigate", Box::new(move |_| json!({ "url": url }))),
        ("browser_click", Box::new(|response| json!({ "ref": ref_in(response, "button \"Buy\"") }))),
        (
            "browser_dialog",
            Box::new(
                |response| json!({ "action": if response["blockedByDialog"] == true { "accept" } else { "dismiss" } }),
            ),
        ),
        ("browser_snapshot", Box::new(|_| json!({ "full": true }))),
        ("browser_click", Box::new(|response| json!({ "ref": ref_in(response, "Deep") }))),
        ("browser_snapshot", Box::new(|_| json!({ "full": true }))),
    ];
    let offered = tooled.offered("browser");
    let tools: Vec<ToolSpec> = offered
        .iter()
        .filter_map(|name| tooled.registry.get(name))
        .map(|tool| ToolSpec::new(tool.name.to_string(), tool.description.to_string(), (*tool.schema).clone()))
        .collect();
    let mut ask = ChatRequest::new(vec![Message::text(Role::User, "Buy it, then press what lies deep.")]).tools(tools);
    let mut response = Value::Null;
    for (number, (name, arguments)) in steps.iter().enumerate() {
        // Each turn is a request of its own over HTTP, whose answer depends on the answers before.
        let target = FakeModel::saying([ModelAnswer::call(&format!("c{number}"), name, &arguments(&response))]);
        let answer = client(&target).ask(&ask, soon()).unwrap();
        assert_eq!(target.requested()[0].body["messages"].as_array().unwrap().len(), ask.messages.len());
        ask.messages.push(answer.to_message());
        for call in &answer.tool_calls {
            response = tooled.done(&call.function.name, serde_json::from_str(&call.function.arguments).unwrap());
            ask.messages.push(Message::result(call, response.to_string()));
        }
    }
    let text = response["snapshot"].as_str().unwrap();
    assert!(text.contains("bought") && text.contains("Pressed"), "{text}");
}

/// A page that says something on its way elsewhere: once the server has answered, Chromium takes no answer to the dialog
/// any more, and the next document waits for it.
#[test]
fn a_dialog_of_an_unloading_page_blocks_nothing() {
    let Some(tooled) = ToolHome::new("") else { return };
    let site = &tooled.home.site;
    site.page(
        "/",
        "<title>form</title><button onclick=\"location.href = '/saved'; alert('Saved')\">Save</button>
         <button onclick='alert(1); alert(2); alert(3)'>Three</button>
         <button onclick='setInterval(() => alert(4), 20)'>Nag</button>",
    );
    site.page("/saved", "<title>saved</title><p>done");
    let start = || tooled.done("browser_navigate", json!({ "url": site.url("a", "/") }));
    let title = || tooled.done("browser_evaluate", json!({ "script": "document.title" }))["result"].clone();

    let clicked = tooled.done("browser_click", json!({ "ref": ref_in(&start(), "Save") }));
    assert_eq!(clicked["pending_dialogs"][0]["message"], "Saved", "{clicked}");
    // From here on it is too late for an answer.
    let running = tooled.home.main().running().unwrap();
    let page = running.supervisor().view().pages[0].target_id.clone();
    let saved = |request: &NetworkRequest| request.url.ends_with("/saved") && request.status == Some(200);
    let deadline = soon();
    while !running.supervisor().network_requests(&page).iter().any(|request| saved(request)) {
        assert!(!deadline.passed(), "the server has not answered");
        std::thread::yield_now();
    }
    drop(running);
    let response = tooled.done("browser_dialog", json!({ "action": "accept" }));
    assert_eq!(response["dialog"]["closed_by"], "agent", "{response}");
    tooled.done("browser_wait", json!({ "url": "*/saved" }));
    assert_eq!(title(), "saved");

    for button in share(["Save", "Three", "Nag"], 1) {
        let clicked = tooled.done("browser_click", json!({ "ref": ref_in(&start(), button) }));
        assert!(clicked["pending_dialogs"].is_array(), "{button}: {clicked}");
        let to = |dismiss: bool| json!({ "url": site.url("a", "/saved"), "dismiss_dialogs": dismiss });
        let gone = tooled.done("browser_navigate", to(true));
        assert_eq!((&gone["title"], gone.get("blockedByDialog")), (&json!("saved"), None), "{button}: {gone}");
        assert_eq!(gone["dismissed_dialogs"][0]["id"], clicked["pending_dialogs"][0]["id"], "{button}: {gone}");
        assert_eq!(title(), "saved", "{button}");
    }
}

/// A guard that allows everything.
struct Permissive;

impl Guard for Permissive {
    fn guards_all(&self) -> bool {
        false
    }

    fn permit(&self, _: Effect, _: &dyn Fn() -> Option<Image>) -> Result<Allowed, ToolError> {
        Ok(Allowed::Approved)
    }
}

#[test]
fn a_guarded_script_acts_for_its_session() {
    let Some(tooled) = ToolHome::new("") else { return };
    let site = &tooled.home.site;
    site.page("/", "<title>opener</title>");
    site.page("/popup", "<title>popup</title>");
    let (session, scope) = (Session::new(), no_scope().with_guard(Arc::new(Permissive)));
    let call = |name: &str, arguments: Value| {
        let call = ToolContext::new(&session, &scope, soon());
        let arguments = arguments.as_object().cloned().unwrap();
        tooled.registry.call(name, &call, arguments).unwrap_or_else(|error| panic!("{name}: {}", error.to_value()))
    };
    call("browser_navigate", json!({ "url": site.url("a", "/") }));
    let (own, other) = (tooled.home.main().for_session(&session), tooled.home.main().for_session(&Session::new()));
    let popups = |profile: &Profile| profile.tabs().iter().filter(|tab| tab.url.ends_with("/popup")).count();
    let open = "window.open('/popup', '_blank', 'noopener'), 1";
    for (count, (name, argument)) in [(1, ("browser_evaluate", "script")), (2, ("browser_console", "expression"))] {
        let before = own.events().last();
        call(name, json!({ argument: open }));
        let mut actors = Vec::new();
        for entry in own.events().since(before, 1000).entries {
            if let LogEvent::ActionStarted(action) | LogEvent::ActionFinished { action, .. } = &*entry.event {
                actors.push(action.actor.clone());
            }
        }
        // Twice: the attempt to run it without effects, and the script.
        assert_eq!(actors.iter().map(|actor| actor.as_deref()).collect::<Vec<_>>(), [session.actor(); 4], "{name}");
        assert_eq!((popups(&own), popups(&other)), (count, 0), "{name}");
    }
}
