//! The example, against pages on loopback.

use cdpilot_server::config::Home;
use serde_json::json;

use crate::support::site::Site;

#[path = "../examples/agent.rs"]
#[allow(dead_code)]
mod agent;

#[test]
fn an_agent_works_with_a_scripted_model() {
    if crate::support::browser_path().is_none() {
        return;
    }
    let site = Site::start();
    site.page("/three", "<title>Three</title><button>Save</button>");
    let folder = tempfile::tempdir().unwrap();
    let overrides = crate::support::test_home::overrides(crate::support::browser_path());
    let (url, mut steps) = (site.url("a", "/three"), 0);
    let mut model = |tools: &[cdpilot_server::tools::Tool], last: &serde_json::Value| {
        assert!(tools.iter().any(|tool| &*tool.name == "browser_click"));
        steps += 1;
        match steps {
            1 => agent::Step::Call("browser_navigate", json!({ "url": url })),
            2 => agent::Step::Call("browser_click", json!({ "ref": "e999" })),
            3 => {
                assert_eq!(last["success"], false, "{last}");
                agent::Step::Call("browser_snapshot", json!({}))
            }
            _ => agent::Step::Done(last["snapshot"].as_str().unwrap_or_default().to_owned()),
        }
    };
    let mut out = Vec::new();
    agent::run(Home::at(folder.path()), overrides, &mut model, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("browser_navigate: true\nbrowser_click: false\nbrowser_snapshot: true\n"), "{out}");
    assert!(out.contains("button \"Save\""), "{out}");
}
