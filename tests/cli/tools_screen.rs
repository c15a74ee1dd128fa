//! The interactive screen of `cdpilot tools`, in a terminal.

use std::fs;

use crate::cli_run::Program;
use crate::support::pty::Terminal;

const ENTER: &str = "\r";
const ESC: &str = "\x1b";

#[test]
fn the_tools_screen_switches_tools() {
    let program = Program::new();
    let home = program.temp.path().join("home");
    fs::create_dir(&home).unwrap();
    let config = home.join("config.yaml");
    let before = "# mine\ntoolsets: [cdpilot-cli]  # all\n";
    fs::write(&config, before).unwrap();
    let program = program.env("CDPILOT_HOME", home.to_str().unwrap()).env("NO_COLOR", "1").env("TERM", "xterm");
    let mut terminal = Terminal::start(program.command(&["tools"]));
    terminal.shows(&["Choose a platform:", "cli", "api-server"]);
    terminal.types("mcp");
    terminal.shows(&["mcp"]);
    terminal.types(ENTER);
    terminal.shows(&["Tools that are on for mcp:", "[ ] browser_cdp", "[x] browser_click", "Click an element"]);
    // What is looked for is there by its toolset and its description too.
    terminal.types("todo");
    terminal.shows(&["[ ] todo"]);
    terminal.types(" ");
    terminal.shows(&["[x] todo"]);
    terminal.types(ENTER);
    let response = terminal.shows(&["on:  todo", "Save the changes?"]);
    assert!(!response.contains("off:"), "{response}");
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    terminal.types(ENTER);
    terminal.shows(&["saved to", "Choose a platform:", "13 of"]);
    let after = fs::read_to_string(config.with_file_name("tools.json")).unwrap();
    let choices: serde_json::Value = serde_json::from_str(&after).unwrap();
    assert_eq!(choices["platforms"]["mcp"]["toolsets"]["all"], serde_json::json!(["cdpilot-mcp", "todo"]));
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    // Esc leaves everything as it is, at each step.
    terminal.types(ENTER);
    terminal.shows(&["Tools that are on for mcp:", "esc: back"]);
    terminal.types(" ");
    terminal.shows(&["> [x] browser_back"]);
    terminal.types(ESC);
    terminal.shows(&["as before", "Choose a platform:", "esc: quit"]);
    terminal.types(ENTER);
    terminal.shows(&["Tools that are on for mcp:", "esc: back"]);
    terminal.types(&format!(" {ENTER}"));
    terminal.shows(&["Save the changes?"]);
    terminal.types(&format!("n{ENTER}"));
    terminal.shows(&["Choose a platform:", "esc: quit"]);
    terminal.types(ESC);
    assert_eq!(terminal.ends().code(), Some(0));
    assert_eq!(fs::read_to_string(config.with_file_name("tools.json")).unwrap(), after);
}
