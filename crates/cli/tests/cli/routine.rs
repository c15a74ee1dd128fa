//! `cdpilot routine`: texts are stored and refused, runs are followed line by line.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cdpilot::sync::pause;
use parking_lot::Mutex;

use serde_json::{Value, json};

use crate::cli_browser_real::AtHome;
use crate::cli_chat::{api_of, home_with, prepared};
use crate::cli_run::{Ran, kill};
use crate::support::agent_plan::{Do, model_of, model_of_shared};
use crate::support::site::Site;
use crate::support::streaming_model::{Script, StreamingModel};

const TEXT: &str = "# Workflow: Look around\n\n## Prerequisites\nStarting URL: https://shop.example/\n\n\
                    ## Step 1: Look\nLook at the page.\n";

/// Runs a command with something on its stdin.
pub(crate) fn given(at: &AtHome, args: &[&str], text: &str) -> Ran {
    let mut child = at.program.command(args).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn texts_are_stored_compared_restored_and_deleted() {
    let (at, _model) = home_with(model_of(Vec::new()));
    let empty = at.program.run(&["routine", "list"]);
    assert!(empty.code == Some(0) && empty.stderr.contains("cdpilot routine edit"), "{empty:?}");
    let stored = given(&at, &["routine", "edit", "look", "--file", "-"], TEXT);
    assert_eq!((stored.code, stored.stdout.as_str()), (Some(0), "stored look as version 1\n"), "{stored:?}");
    // What is wrong is listed by line, and nothing is stored.
    let wrong = given(&at, &["routine", "edit", "look", "--file", "-"], &TEXT.replace("## Step 1", "## Step 2"));
    assert!(
        wrong.code == Some(2) && wrong.stderr.contains("line 6: ") && wrong.stderr.contains("## Step 1"),
        "{wrong:?}"
    );
    let shown = at.program.run(&["routine", "show", "look"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), TEXT), "{shown:?}");
    let changed = given(&at, &["routine", "edit", "look", "--file", "-"], &TEXT.replace("Look at", "Read"));
    assert_eq!(changed.stdout, "stored look as version 2\n", "{changed:?}");
    let compared = at.program.run(&["routine", "show", "look", "--against", "1"]);
    assert!(
        compared.stdout.contains("-Look at the page.") && compared.stdout.contains("+Read the page."),
        "{compared:?}"
    );
    let restored = at.program.run(&["routine", "approve", "look", "1"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_eq!(at.program.run(&["routine", "export", "look"]).stdout, TEXT);
    let refused = at.program.run(&["routine", "from-conversation", "nothing"]);
    assert_eq!((refused.code, &*refused.stdout), (Some(1), ""), "{}", refused.stderr);
    for format in ["playwright", "http"] {
        let refused = at.program.run(&["routine", "export", "look", "--format", format]);
        assert_eq!((refused.code, &*refused.stdout), (Some(1), ""), "{}", refused.stderr);
        assert!(refused.stderr.contains("--format markdown"), "{}", refused.stderr);
    }
    let history = at.program.run(&["routine", "history", "look"]);
    assert_eq!(history.stdout.lines().count(), 3, "{history:?}");
    let renamed = at.program.run(&["routine", "edit", "look", "--rename", "see"]);
    assert!(
        renamed.code == Some(0) && at.program.run(&["routine", "list"]).stdout.starts_with("see  1 steps, untried")
    );
    assert_eq!(at.program.run(&["routine", "reject", "see"]).code, Some(1));
    assert_eq!(at.program.run(&["routine", "disallow", "see", "0"]).code, Some(1));
    // Nobody can be asked here.
    assert_eq!(at.program.run(&["routine", "delete", "see"]).code, Some(2));
    assert_eq!(at.program.run(&["routine", "delete", "see", "--yes"]).code, Some(0));
    let gone = at.program.run(&["routine", "show", "see", "--json"]);
    assert_eq!((gone.code, gone.json()["code"].as_str()), (Some(1), Some("NOT_FOUND")), "{gone:?}");
}

/// A search that was recorded elsewhere; its name selects the plan of the model.
const FLOW: &str = r##"{ "title": "Lamps plan 0 today", "steps": [
    { "type": "navigate", "url": "https://shop.example/" },
    { "type": "change", "value": "lamp", "selectors": [["aria/Search"], ["#main-search"]] },
    { "type": "click", "selectors": [["aria/Find"], ["#find"]], "offsetX": 1, "offsetY": 1 }] }"##;

#[test]
fn a_recording_is_compiled_with_the_person_at_the_terminal() {
    let text = "# Workflow: Find lamps\n\n## Prerequisites\nStarting URL: https://shop.example/\n\n## Inputs\n- what (default lamp)\n\n\
                ## Step 1: Search\nType {{what}} into Search and press Find.\n";
    let plans = Arc::new(Mutex::new(vec![Vec::new()]));
    let (at, _model) = home_with(model_of_shared(&plans));
    let imported = given(&at, &["record", "import", "-"], FLOW);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let api = api_of(&at);
    let id = api.get("/recordings").ok()["recordings"][0]["recording_id"].as_str().unwrap().to_owned();
    let shown = api.get(&format!("/recordings/{id}/events")).ok();
    let of_kind = |event: &&Value| ["input", "change", "click"].contains(&event["event_type"].as_str().unwrap());
    let actions: Vec<&Value> =
        shown["events"].as_array().unwrap().iter().filter(of_kind).map(|event| &event["event_index"]).collect();
    assert!(actions.len() >= 2, "{shown}");
    let right = || Do::Call("submit_routine", json!({ "markdown": text, "step_events": { "1": actions } }));
    let view = |command: &str| Do::Call("trace_viewer", json!({ "command": command }));
    let all: Vec<&Value> = shown["events"].as_array().unwrap().iter().map(|event| &event["event_index"]).collect();
    plans.lock()[0] = vec![
        view("summary"),
        view("normalized_steps"),
        Do::Call("ask_user", json!({ "question": "Always lamps?\u{1b}[31m", "topic": "varying_value", "events": all })),
        Do::Call("submit_routine", json!({ "markdown": text, "step_events": { "1": [99] } })),
        right(),
        Do::Say("Searches for something."),
        Do::Call("draft", json!({ "command": "replace", "old": "press Find", "new": "press the button Find" })),
        Do::Call("submit_routine", json!({ "step_events": { "1": actions } })),
        Do::Say("It says button now."),
    ];
    let compile = |args: &[&str], typed: &str| given(&at, &[&["routine", "compile"], args].concat(), typed);
    // Without an answer it waits, also for the next command.
    let waits = compile(&["Lamps plan 0 today"], "");
    assert_eq!(waits.code, Some(4), "{waits:?}");
    assert!(waits.stdout.contains("Round 1 of at most 5:\n  Always lamps?"), "{waits:?}");
    assert!(!waits.stdout.contains('\u{1b}'), "{waits:?}");
    for part in ["reads the summary of the recording", "asks", "--answer TEXT"] {
        assert!(waits.stderr.contains(part), "{part}: {waits:?}");
    }
    let state = at.program.run(&["routine", "compile", "--json"]);
    assert_eq!((state.code, &state.json()["status"]), (Some(4), &json!("asking")), "{state:?}");
    let read = compile(&["--answer", "-"], "It differs.");
    assert_eq!(read.code, Some(4), "{read:?}");
    assert!(read.stdout.contains("## Step 1: Search") && read.stderr.contains("Searches for something."), "{read:?}");
    assert!(read.stderr.contains("refused: the routine has problems"), "{read:?}");
    // Revised, and saved under another name than the first one, which is in use.
    let other = given(&at, &["routine", "edit", "lamps", "--file", "-"], TEXT);
    assert_eq!(other.code, Some(0), "{other:?}");
    let saved = compile(&[], "Say that Find is a button.\n\nlamps\n\nmore lamps\n");
    assert_eq!(saved.code, Some(0), "{saved:?}");
    for part in ["-Type {{what}} into Search and press Find.", "saved as more lamps"] {
        assert!(saved.stdout.contains(part), "{part}: {saved:?}");
    }
    assert!(saved.stderr.contains("there is a routine named"), "{saved:?}");
    let shown = at.program.run(&["routine", "show", "more lamps"]);
    assert!(shown.stdout.contains("press the button Find") && shown.stderr.contains("untried"), "{shown:?}");
    // One that is saved is compiled anew.
    let nothing = at.program.run(&["routine", "compile", "none at all"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
}

/// An editor that writes a broken text: the text stays when it is refused.
#[cfg(unix)]
#[test]
fn a_text_of_the_editor_is_kept_when_it_is_refused() {
    use crate::support::pty::Terminal;

    let (at, _model) = home_with(model_of(Vec::new()));
    let folder = at.home.root().parent().unwrap().to_owned();
    let editor = folder.join("editor.sh");
    std::fs::write(&editor, "#!/bin/sh\nprintf '# Workflow: Broken\\n' > \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut command = at.program.command(&["routine", "edit", "new"]);
    command.env("EDITOR", &editor).env_remove("VISUAL").env("TMPDIR", &folder).env("NO_COLOR", "1");
    let terminal = Terminal::start(command);
    terminal.shows(&["line 1: ", "your text is kept in", "Press Enter to edit it again"]);
    let kept = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let kept = kept.filter(|path| path.extension().is_some_and(|end| end == "md")).collect::<Vec<_>>();
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "# Workflow: Broken\n");
    drop(terminal);
}

/// Works through a list of three items. It hangs in the second one, as long as `hangs` is set.
fn lister(hangs: Arc<AtomicBool>) -> StreamingModel {
    StreamingModel::answering(move |request| {
        let messages = request["messages"].as_array().unwrap();
        let calls = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        let item = |state: &str, titles: &[&str]| {
            let items: Vec<Value> = titles.iter().map(|title| json!({ "title": title })).collect();
            json!({ "command": "item", "n": 1, "state": state, "items": items })
        };
        let step = |command: &str| json!({ "command": command, "n": 1 });
        let plan = [
            step("begin"),
            item("found", &["a", "b", "c"]),
            item("begun", &["a"]),
            item("done", &["a"]),
            item("begun", &["b"]),
            // After the interruption: where the list is, and an item that is done already.
            step("begin"),
            item("begun", &["a"]),
            item("done", &["b"]),
            item("begun", &["c"]),
            item("done", &["c"]),
            step("done"),
        ];
        match plan.get(calls) {
            Some(_) if calls == 5 && hangs.load(Ordering::SeqCst) => Script::stream().text("Hm").hang(),
            Some(arguments) => Script::stream().call(&format!("c{calls}"), "routine_step", arguments).done(),
            None => Script::stream().text("Done.").done(),
        }
    })
}

#[cfg(unix)]
#[test]
fn a_list_goes_on_where_it_was_after_the_server_was_killed() {
    let hangs = Arc::new(AtomicBool::new(true));
    let (at, model) = home_with(lister(Arc::clone(&hangs)));
    let text = TEXT.replace("Look at the page.", "For each card, press Vote.");
    assert_eq!(given(&at, &["routine", "edit", "vote", "--file", "-"], &text).code, Some(0));
    let child = at.program.command(&["routine", "run", "vote", "--guard", "off"]).spawn().unwrap();
    let until = crate::support::soon();
    while model.requests().len() < 6 {
        assert!(!until.passed());
        pause(Duration::from_millis(20));
    }
    kill(at.running().unwrap().pid, "-KILL");
    hangs.store(false, Ordering::SeqCst);
    let runs = at.program.run(&["routine", "runs", "vote", "--json"]).json();
    let run = &runs["runs"][0];
    assert_eq!([&run["status"], &run["code"]], [&json!("interrupted"), &json!("INTERRUPTED")], "{runs:#}");
    assert_eq!(run["steps"][0]["items"], json!({ "done": 1, "total": 3 }));
    // The command that followed it says so, once.
    let followed = child.wait_with_output().unwrap();
    let said = String::from_utf8(followed.stdout).unwrap();
    let id = run["run_id"].as_str().unwrap();
    assert_eq!(followed.status.code(), Some(1), "{said}");
    assert_eq!(said.matches("interrupted, because the server ended").count(), 1, "{said}");
    assert!(said.contains(&format!("cdpilot routine resume vote {id}")), "{said}");
    let resumed = at.program.run(&["routine", "resume", "vote", id]);
    assert!(resumed.code == Some(0) && resumed.stdout.contains("step 1  done"), "{resumed:?}");
    let ended = api_of(&at).get(&format!("/routines/vote/runs/{id}")).ok();
    assert_eq!(
        [&ended["status"], &ended["steps"][0]["items"]],
        [&json!("done"), &json!({ "done": 3, "total": 3 })],
        "{ended:#}"
    );
    // It was informed of what was begun, and the item that was done was refused.
    let messages = model.requests().last().unwrap()["messages"].to_string();
    assert!(messages.contains("\\\"begun\\\":[\\\"b\\\"]"), "{messages}");
    assert!(messages.contains("is done already; do not do it again"), "{messages}");
}

#[test]
fn a_run_prints_its_steps_and_exits_by_its_end() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<style>body { font: 16px sans-serif }</style><h1>Shop</h1><button>Go</button>");
    let step = |command: &str, n: u32| Do::Call("routine_step", json!({ "command": command, "n": n }));
    let open = || Do::Tab("init", site.url("a", "/"));
    let done = vec![open(), step("begin", 1), step("done", 1), Do::Say("It is a shop.")];
    let blocked = vec![
        open(),
        step("begin", 1),
        Do::Call("routine_step", json!({ "command": "blocked", "n": 1, "note": "Nothing to look at." })),
        Do::Say("Done."),
    ];
    let early = vec![open(), Do::Say("1"), Do::Say("2"), Do::Say("3"), Do::Say("4")];
    let (at, model) = prepared(at, model_of(vec![done, blocked, early]));
    for plan in 0..3 {
        let text = TEXT
            .replace("https://shop.example/", &site.url("a", "/"))
            .replace("the page.", &format!("the {{{{what}}}}. Follow plan {plan}"));
        let text = text.replace("## Step 1", "## Inputs\n- what\n\n## Step 1");
        let stored = given(&at, &["routine", "edit", &format!("look{plan}"), "--file", "-"], &text);
        assert_eq!(stored.code, Some(0), "{stored:?}");
    }
    let run = |name: &str, more: &[&str]| {
        at.program.run(&[&["routine", "run", name, "--login", "own", "--guard", "off"], more].concat())
    };
    let ran =
        given(&at, &["routine", "run", "look0", "--login", "own", "--guard", "off", "--input", "what=-"], "page\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("step 1  done") && ran.stdout.contains("It is a shop."), "{ran:?}");
    assert!(model.requests()[0]["messages"].to_string().contains("Look at the page. Follow"), "{ran:?}");
    let waits = run("look1", &["--input", "what=page"]);
    assert!(waits.code == Some(4) && waits.stdout.contains("Nothing to look at."), "{waits:?}");
    let failed = run("look2", &["--input", "what=page", "--json"]);
    assert_eq!((failed.code, failed.json()["code"].as_str()), (Some(1), Some("POSTCONDITION_FAILED")), "{failed:?}");
    assert_eq!(run("look0", &[]).code, Some(2));
    assert_eq!(run("look0", &["--input", "what=a", "--input", "what=b"]).code, Some(2));
    assert_eq!(run("nothing", &["--input", "what=a"]).code, Some(1));
    let runs = at.program.run(&["routine", "runs", "look0", "--json"]).json();
    assert_eq!([&runs["count"], &runs["runs"][0]["status"]], [&json!(1), &json!("done")], "{runs:#}");
    let id = runs["runs"][0]["run_id"].as_str().unwrap();
    let report = at.program.run(&["routine", "runs", "look0", id]);
    assert!(
        report.stdout.starts_with("done, version 1\nstep 1  done      Look (")
            && report.stdout.contains("It is a shop."),
        "{report:?}"
    );
    let shown: Value = at.program.run(&["routine", "show", "look2", "--json"]).json();
    assert_eq!(shown["routine"]["trust"], "failing");
}
