//! `cdpilot models`: models that are added after a test, listed, tested and removed.

use serde_json::Value;

use crate::cli_browser_real::AtHome;
use crate::support::fake_model::{FakeModel, ModelAnswer};
use crate::support::pty::Terminal;

fn stored(at: &AtHome) -> Value {
    let text = std::fs::read_to_string(at.home.root().join("llm.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[test]
fn a_model_is_added_after_a_test() {
    let at = AtHome::new("");
    let none = at.run(&["models", "list"]);
    assert!(none.stderr.contains("`cdpilot models add` adds one"), "{none:?}");
    let endpoint = FakeModel::saying([ModelAnswer::text("ok"), ModelAnswer::text("ok again")]);
    let (url, key) = (endpoint.url(), at.home.root().join("key"));
    std::fs::write(&key, "sk-kestrel\n").unwrap();
    let key = key.to_str().unwrap();
    let added = at.run(&["models", "add", "--base-url", &url, "--model", "large", "--key-file", key]);
    assert_eq!(added.code, Some(0), "{added:?}");
    assert!(added.stdout.contains("main answered") && added.stdout.contains(": ok\n"), "{added:?}");
    assert!(added.stdout.contains("stored main, the default model"), "{added:?}");
    assert!(!format!("{added:?}").contains("kestrel"));
    let request = &endpoint.requested()[0];
    assert_eq!(request.authorization.as_deref(), Some("Bearer sk-kestrel"));
    assert!(request.body.to_string().contains("image_url"), "{}", request.body);
    assert_eq!(
        (&stored(&at)["default"], &stored(&at)["models"]["main"]["api_key"]),
        (&"main".into(), &"sk-kestrel".into())
    );

    let tested = at.run(&["models", "test"]);
    assert!(tested.code == Some(0) && tested.stdout.contains("ok again"), "{tested:?}");
    let listed = at.run(&["models", "list"]);
    assert!(listed.stdout.contains("main  large") && listed.stdout.contains("default"), "{listed:?}");
    let unknown = at.run(&["models", "test", "other"]);
    assert!(
        unknown.code != Some(0) && unknown.stderr.contains("other") && unknown.stderr.contains("main"),
        "{unknown:?}"
    );
    let removed = at.run(&["models", "remove", "main"]);
    assert_eq!((removed.code, &stored(&at)["models"]), (Some(0), &serde_json::json!({})), "{removed:?}");
}

#[test]
fn a_model_that_does_not_answer_is_not_stored() {
    let at = AtHome::new("");
    let endpoint = FakeModel::saying([
        ModelAnswer::failing(401, r#"{"error":{"message":"no such key"}}"#),
        ModelAnswer::failing(400, r#"{"error":{"message":"images are not supported"}}"#),
        ModelAnswer::text("ok"),
    ]);
    let url = endpoint.url();
    let add = ["models", "add", "one", "--base-url", &url, "--model", "m"];
    let refused = at.run(&add);
    assert!(refused.code == Some(1) && refused.stderr.contains("no such key"), "{refused:?}");
    assert!(refused.stderr.contains("nothing was stored"), "{refused:?}");
    assert_eq!(stored(&at), Value::Null);
    // One that refuses pictures works without them.
    let added = at.run(&add);
    assert!(added.code == Some(0) && added.stdout.contains("does not accept pictures"), "{added:?}");
    assert_eq!(stored(&at)["models"]["one"]["vision"], false);
    assert!(!endpoint.requested()[2].body.to_string().contains("image_url"));
    let untested =
        at.run(&["models", "add", "two", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "--no-test"]);
    assert!(untested.code == Some(0) && stored(&at)["default"] == "one", "{untested:?}");
    let bad = at.run(&["models", "add", "three", "--base-url", "ftp://x", "--model", "m"]);
    assert!(bad.code != Some(0) && bad.stderr.contains("http"), "{bad:?}");
    let missing = at.run(&["models", "add", "three", "--model", "m"]);
    assert!(missing.code == Some(2) && missing.stderr.contains("--base-url is missing"), "{missing:?}");
}

#[test]
fn what_is_not_given_is_asked_for_at_a_terminal() {
    let at = AtHome::new("");
    let endpoint = FakeModel::saying([ModelAnswer::text("ok")]);
    let mut command = at.program.command(&["models", "add"]);
    command.env("TERM", "xterm");
    let mut terminal = Terminal::start(command);
    terminal.shows(&["Name of the model here"]);
    terminal.types("\r");
    terminal.shows(&["Address"]);
    terminal.types(&format!("{}\r", endpoint.url()));
    terminal.shows(&["at that address"]);
    terminal.types("large\r");
    terminal.shows(&["API key"]);
    terminal.types("sk-heron\r");
    let shown = terminal.shows(&["stored main"]);
    assert!(!shown.contains("heron"), "{shown}");
    assert!(terminal.ends().success());
    assert_eq!(stored(&at)["models"]["main"]["model"], "large");
    assert_eq!(endpoint.requested()[0].authorization.as_deref(), Some("Bearer sk-heron"));
}
