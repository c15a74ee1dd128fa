//! The interactive list of `cdpilot tools`, in a terminal.

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
    let choices = config.with_file_name("tools.json");
    let start = || {
        let terminal = Terminal::start(program.command(&["tools", "--platform", "mcp"]));
        terminal.shows(&["Tools that are on for mcp:", "[ ] browser_cdp", "[x] browser_click", "Click an element"]);
        terminal
    };
    // Esc leaves everything as it is.
    let mut terminal = start();
    terminal.types(" ");
    terminal.shows(&["> [x] browser_back"]);
    terminal.types(ESC);
    terminal.shows(&["no changes"]);
    assert_eq!((terminal.ends().code(), choices.exists()), (Some(0), false));
    // A tool is found by its toolset and its description too.
    let mut terminal = start();
    terminal.types("todo");
    terminal.shows(&["[ ] todo"]);
    terminal.types(" ");
    terminal.shows(&["[x] todo"]);
    terminal.types(ENTER);
    let response = terminal.shows(&["todo: on for mcp", "saved to"]);
    assert!(!response.contains(": off"), "{response}");
    assert_eq!(terminal.ends().code(), Some(0));
    let chosen: serde_json::Value = serde_json::from_str(&fs::read_to_string(choices).unwrap()).unwrap();
    assert_eq!(chosen["platforms"]["mcp"]["toolsets"]["all"], serde_json::json!(["cdpilot-mcp", "todo"]));
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    let mut terminal = start();
    terminal.types(ENTER);
    terminal.shows(&["no changes"]);
    assert_eq!(terminal.ends().code(), Some(0));
}
