//! `cdpilot chat`, with a server and a model that follows a script.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use cdpilot::sync::pause;
use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::cli_run::{Ran, kill};
use crate::support::agent_plan::{Do, model_of};
use crate::support::agent_wire::check;
use crate::support::api::Api;
use crate::support::pty::Terminal;
use crate::support::site::Site;
use crate::support::streaming_model::{Script, StreamingModel};

/// A home whose model gives these answers.
fn home(answers: Vec<Script>) -> (AtHome, StreamingModel) {
    home_with(StreamingModel::new(answers))
}

pub(crate) fn home_with(model: StreamingModel) -> (AtHome, StreamingModel) {
    prepared(AtHome::new(""), model)
}

pub(crate) fn prepared(at: AtHome, model: StreamingModel) -> (AtHome, StreamingModel) {
    let models = json!({ "models": {
        "one": { "model": "m", "base_url": model.url() },
        "blind": { "model": "b", "base_url": model.url(), "vision": false },
    }, "default": "one" });
    std::fs::write(at.home.root().join("llm.json"), models.to_string()).unwrap();
    (at, model)
}

fn todo(id: &str) -> Script {
    let items = json!({ "todos": [{ "id": "1", "content": "look", "status": "pending" }] });
    Script::stream().call(id, "todo", &items).done()
}

fn said(text: &str) -> Script {
    Script::stream().text(text).done()
}

fn help() -> Script {
    Script::stream().call("h1", "please_help_me", &json!({ "message": "Which colour?" })).done()
}

/// The id of a conversation in a message.
fn id_in(text: &str) -> String {
    let id = text.split_whitespace().find(|word| word.len() == 36 && word.matches('-').count() == 4);
    id.unwrap_or_else(|| panic!("no id in {text}")).to_owned()
}

fn tools(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Runs the interactive chat on lines from a pipe.
fn piped(at: &AtHome, lines: &str) -> Ran {
    let mut child = at.program.command(&["chat"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The interactive chat in a terminal.
fn interactive(at: &AtHome) -> Terminal {
    let mut command = at.program.command(&["chat"]);
    command.env("NO_COLOR", "1").env("TERM", "xterm");
    let terminal = Terminal::start(command);
    terminal.shows(&["you:"]);
    terminal
}

/// The server of a home.
pub(crate) fn api_of(at: &AtHome) -> Api {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], at.running().unwrap().port));
    Api { address, token: std::fs::read_to_string(at.home.token()).unwrap().trim().to_owned() }
}

/// Waits for a state of the conversation that was changed last.
fn wait_until(at: &AtHome, is: impl Fn(&Value) -> bool) {
    let deadline = crate::support::soon();
    let api = api_of(at);
    while !is(&api.get("/agent/conversations").ok()["conversations"][0]) {
        assert!(!deadline.passed());
        pause(Duration::from_millis(20));
    }
}

#[test]
fn a_task_prints_its_final_text() {
    let (at, model) = home(vec![todo("c1"), said("All done."), said("Again."), said("Silence.")]);
    let ran = at.run(&["chat", "Look around"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "All done.\n"), "{ran:?}");
    assert!(ran.stderr.contains("-> todo {") && !ran.stderr.contains("All done."), "{ran:?}");
    let first = model.requests().remove(0);
    assert!(tools(&first).contains(&"element_interaction".to_owned()), "{first}");

    let ran = at.run(&["chat", "--model", "blind", "--json", "Look again"]);
    let shown = ran.json();
    assert_eq!((ran.code, &shown["ok"], &shown["text"]), (Some(0), &json!(true), &json!("Again.")), "{ran:?}");
    let last = model.requests().pop().unwrap();
    let offered = tools(&last);
    assert!(offered.contains(&"browser_snapshot".to_owned()), "{offered:?}");
    assert!(!offered.contains(&"element_interaction".to_owned()), "{offered:?}");

    let ran = at.run(&["chat", "--toolsets", "todo,tts", "Speak"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("tts: none of its tools is available here"), "{ran:?}");

    for wrong in [["--toolsets", "todo,nope"], ["--model", "nope"]] {
        let ran = at.run(&[&["chat"], &wrong[..], &["x"]].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains("nope"), "{ran:?}");
    }
    for wrong in [&["chat", " "][..], &["chat", "--json"], &["chat", "--session", "s", "x"]] {
        assert_eq!(at.run(wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_task_that_fails_or_asks_exits_with_1() {
    let refused = Script::status(401, "", r#"{"error": {"message": "no such key"}}"#);
    let (at, model) = home(vec![refused, help(), said("Blue it is.")]);
    let ran = at.run(&["chat", "Fail"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("no such key") && ran.stdout.is_empty(), "{ran:?}");

    let ran = at.run(&["chat", "--json", "Choose"]);
    let shown = ran.json();
    assert!(ran.code == Some(1) && shown["error"].as_str().unwrap().contains("Which colour?"), "{ran:?}");
    assert_eq!(shown["details"]["question"]["message"], "Which colour?", "{ran:?}");
    let id = shown["details"]["conversation_id"].as_str().unwrap().to_owned();
    let ran = at.run(&["chat", "--conversation", &id, "blue"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "Blue it is.\n"), "{ran:?}");
    let last = model.requests().pop().unwrap();
    let answer = last["messages"].as_array().unwrap().last().unwrap();
    assert!(answer["role"] == "tool" && answer["content"].as_str().unwrap().contains("blue"), "{answer}");
    let ran = at.run(&["chat", "--conversation", "none", "x"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("there is no conversation"), "{ran:?}");
}

#[test]
fn messages_and_commands_come_from_a_pipe() {
    let (at, model) = home(vec![said("Hi."), help(), said("Thanks."), said("New.")]);
    let lines =
        "Hello\n/model blind\nAsk me\nred\n/new\n/tools disable todo\n/tools list\nGo\n/nonsense\n/quit\nnever\n";
    let ran = piped(&at, lines);
    assert_eq!(ran.code, Some(2), "the last command failed: {ran:?}");
    assert!(ran.stderr.contains("there is no command or skill /nonsense"), "{ran:?}");
    let places: Vec<Option<usize>> =
        ["Hi.", "from the next conversation on", "? Which colour?", "Thanks.", "todo: off", "New."]
            .iter()
            .map(|part| ran.stdout.find(part))
            .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {ran:?}");
    let requests = model.requests();
    let models: Vec<&str> = requests.iter().filter_map(|request| request["model"].as_str()).collect();
    assert_eq!(models, ["m", "m", "m", "b"]);
    assert!(tools(&requests[0]).contains(&"todo".to_owned()));
    let last = tools(&requests[3]);
    assert!(!last.contains(&"todo".to_owned()) && last.contains(&"browser_click".to_owned()), "{last:?}");
    let ran = piped(&at, "/resume\n");
    assert!(ran.stdout.contains("Hello") && ran.stdout.contains("Go"), "it lists conversations: {ran:?}");
}

/// Waits for the pause, and for the prompt behind it, which takes keys.
fn paused(terminal: &mut Terminal) {
    let shown = terminal.shows(&["Ctrl-C leaves."]);
    if !shown.rsplit("Ctrl-C leaves.").next().unwrap_or_default().contains("you:") {
        terminal.shows(&["you:"]);
    }
}

#[test]
fn ctrl_c_pauses_and_the_second_one_leaves() {
    let (at, _model) = home(vec![Script::stream().text("Thinking").hang(), Script::stream().text("x").hang()]);
    let mut terminal = interactive(&at);
    terminal.types("Think\r");
    terminal.shows(&["Thinking"]);
    terminal.interrupts();
    paused(&mut terminal);
    terminal.types("/resume\r");
    wait_until(&at, |conversation| conversation["paused"] == false);
    terminal.interrupts();
    paused(&mut terminal);
    terminal.types("\x03");
    assert_eq!(terminal.ends().code(), Some(0));

    // Without a terminal.
    let ran = at.program.run_and(&["chat", "Think"], |process| {
        wait_until(&at, |conversation| conversation["paused"] == false && conversation["status"] == "active");
        kill(process, "-INT");
    });
    assert!(ran.code == Some(1) && ran.stderr.contains("paused; `cdpilot chat --conversation"), "{ran:?}");
    let ran = piped(&at, "/resume\n");
    assert_eq!(ran.stdout.matches("paused").count(), 2, "{ran:?}");
}

/// A search with a dialog, a frame of another site, a wrong preview, and a question that is answered by another command.
#[test]
fn a_whole_task_is_done_in_a_browser() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    let style = "<style>body { font: 16px sans-serif } * { margin: 8px }</style>";
    let form = "<form action=/found><input name=q aria-label=Search><button>Find</button></form>";
    site.page("/", &format!("{style}{form}"));
    let frame = format!("<iframe width=600 height=300 src=\"{}\"></iframe>", site.url("b", "/inner"));
    site.page("/found", &format!("{style}<button>Delete</button>{frame}"));
    let ask = "if (confirm('Buy it?')) this.textContent = 'Bought'";
    site.page("/inner", &format!("{style}<button onclick=\"{ask}\">Buy</button>"));
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("keyboard_input", "aria-label=\"Search\"", "lamp"),
        Do::Act("confirm_keyboard_input", "", ""),
        Do::Act("click", ">Find<", ""),
        Do::Act("confirm_click", "", ""),
        // The wrong one.
        Do::Act("click", ">Delete<", ""),
        Do::Act("click", ">Buy<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Help("Shall I buy it?"),
        Do::Dialog("accept", ""),
        Do::Look,
        Do::Say("It is bought."),
    ];
    let (at, model) = prepared(at, model_of(vec![plan]));
    let ran = at.run(&["chat", "Follow plan 0"]);
    // The program asks before the click, the model afterwards.
    assert!(ran.code == Some(1) && ran.stderr.contains("click the button \\\"Buy\\\""), "{ran:?}");
    let id = id_in(&ran.stderr);
    let ran = at.run(&["chat", "--conversation", &id, "once"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("Shall I buy it?"), "{ran:?}");
    // The answer to the model is no approval of what it does next.
    let ran = at.run(&["chat", "--conversation", &id, "Yes"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("accept the dialog"), "{ran:?}");
    let ran = at.run(&["chat", "--conversation", &id, "maybe"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("answer once, origin, kind"), "{ran:?}");
    let ran = at.run(&["chat", "--conversation", &id, "once"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "It is bought.\n"), "{ran:?}");
    let last = model.requests().last().unwrap()["messages"].to_string();
    assert!(last.contains(">Bought<") && last.contains("/found?q=lamp"), "{last}");
    check(&model.requests());
}

#[test]
fn a_dialog_is_answered_during_a_run() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<button onclick=\"if (confirm('Sure?')) fetch('/sure')\">Ask</button>");
    let plan = vec![
        Do::Tab("init", site.url("a", "/")),
        Do::Act("click", ">Ask<", ""),
        Do::Act("confirm_click", "", ""),
        Do::Hang,
    ];
    let (at, _model) = prepared(at, model_of(vec![plan]));
    let mut terminal = interactive(&at);
    terminal.types("Follow plan 0\r");
    terminal.shows(&["/dialog accept|dismiss answers it"]);
    terminal.types("Hello\r");
    terminal.shows(&["The run goes on"]);
    terminal.types("/dialog accept\r");
    terminal.shows(&["Accepted."]);
    terminal.types("/stop\r");
    terminal.shows(&["The run was stopped", "you:"]);
    assert!(site.requested().iter().any(|line| line.contains("/sure")), "{:?}", site.requested());
    terminal.types("/quit\r");
    assert_eq!(terminal.ends().code(), Some(0));
}

#[test]
fn a_browser_that_cannot_be_reached_does_not_end_the_chat() {
    let (at, _model) = home(vec![said("Hi.")]);
    let ran = piped(&at, "/browser connect ws://127.0.0.1:1/devtools/browser/x\nHello\n");
    assert!(ran.code == Some(0) && ran.stdout.contains("Hi.") && ran.stderr.contains("error: "), "{ran:?}");
}
