//! `cdpilot memory`, and the tools that work on the home from a shell.

use serde_json::json;

use crate::cli_chat::home_with;
use crate::cli_routine::given;
use crate::support::agent_plan::model_of;

#[test]
fn notes_are_listed_edited_forgotten_and_taken_back() {
    let (at, _model) = home_with(model_of(Vec::new()));
    let run = |args: &[&str]| at.program.run(&[&["memory"], args].concat());
    let empty = run(&["list"]);
    assert!(empty.code == Some(0) && empty.stdout.contains("about the user (0 of 2000 characters"), "{empty:?}");
    // Over the server, as a client of MCP would.
    for (target, content) in [("user", "Prefers window seats"), ("memory", "Dover opens at nine")] {
        let arguments = json!({ "action": "add", "target": target, "content": content }).to_string();
        let added = at.program.run(&["tool", "memory", &arguments]);
        assert!(added.code == Some(0) && added.stdout.contains("[agent]"), "{added:?}");
    }
    let listed = run(&["list", "user"]);
    assert!(
        listed.stdout.contains("  - Prefers window seats  [agent]") && !listed.stdout.contains("Dover"),
        "{listed:?}"
    );
    // A person adds a note, and the other one keeps its origin.
    let text = "- Prefers window seats <!-- agent -->\nSpeaks German\n";
    let edited = given(&at, &["memory", "edit", "user", "--file", "-"], text);
    assert!(edited.code == Some(0) && edited.stdout.contains("user has 2 notes now"), "{edited:?}");
    let listed = run(&["list"]);
    assert!(
        listed.stdout.contains("Speaks German  [person]") && listed.stdout.contains("seats  [agent]"),
        "{listed:?}"
    );
    let several = run(&["forget", "user", "e"]);
    assert!(several.code == Some(1) && several.stderr.contains("2 notes contain"), "{several:?}");
    assert_eq!(run(&["forget", "user", "window"]).code, Some(0));
    let back = at.program.run(&["--json", "memory", "undo"]);
    assert!(back.stdout.contains("Prefers window seats [agent]"), "{back:?}");
    let full = given(&at, &["memory", "edit", "user", "--file", "-"], &"- long long note\n".repeat(200));
    assert!(full.code == Some(1) && full.stderr.contains("of 2000 characters"), "{full:?}");
    let search = at.program.run(&["tool", "session_search", "{\"query\":\"window\"}"]);
    assert!(search.code == Some(0) && search.stdout.contains("nothing was found"), "{search:?}");
}
