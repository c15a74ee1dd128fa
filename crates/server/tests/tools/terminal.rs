//! Terminal commands: their results, and no leftover processes.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use cdpilot::sync::{Cancel, Deadline, pause, spawn};
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::leaks::{Baseline, alone, rerun};
use crate::support::tool_workspace::ToolWorkspace;

const ON: &str = "terminal: {enabled: true, max_processes: 2}";

/// A number of seconds that no other process sleeps for.
fn mark() -> String {
    format!("98765.{:012}", fastrand::u64(..1_000_000_000_000))
}

/// How many processes have this on their command line, zombies apart.
fn running(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let line = |path: &Path| std::fs::read(path.join("cmdline")).unwrap_or_default();
    entries.filter(|entry| String::from_utf8_lossy(&line(&entry.path())).contains(mark)).count()
}

/// Waits for what the system tells nobody.
fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = soon();
    while !holds() {
        assert!(!deadline.passed(), "{what}");
        pause(Duration::from_millis(5));
    }
}

fn run(shop: &ToolWorkspace, command: &str) -> Value {
    shop.done("terminal", json!({ "command": command }))
}

#[test]
fn the_terminal_is_disabled_by_default() {
    let off = ToolWorkspace::new("");
    assert!(!off.offers("terminal") && !off.offers("process"));
    let (code, error) = off.refused("terminal", json!({ "command": "echo" }));
    assert!(code == "TOOL_UNAVAILABLE" && error.contains("tools.terminal.enabled"), "{code}: {error}");
    let on = ToolWorkspace::new(ON);
    assert!(on.offers("terminal") && on.offers("process"));
}

#[test]
fn a_command_returns_output_and_exit_status() {
    let shop = ToolWorkspace::new(ON);
    shop.put("sub/f.txt", "x");
    let response = run(&shop, "echo one; echo two >&2; printf three");
    assert_eq!(
        (&response["output"], &response["exit_code"], &response["lines"]),
        (&json!("one\ntwo\nthree\n"), &json!(0), &json!(3))
    );
    assert_eq!(run(&shop, "exit 7")["exit_code"], 7);
    assert_eq!(run(&shop, "kill -9 $$")["signal"], "SIGKILL");
    // Nobody is waited for who would have to type something.
    assert_eq!(run(&shop, "cat; echo end")["output"], "end\n");
    let response = shop.done("terminal", json!({ "command": "ls; basename \"$PWD\"", "workdir": "sub" }));
    assert_eq!(response["output"], "f.txt\nsub\n");
    for (command, workdir, code) in [
        ("ls", "..", "PATH_REFUSED"),
        ("ls", "/", "PATH_REFUSED"),
        ("ls", "none", "NOT_FOUND"),
        (" ", ".", "BAD_REQUEST"),
    ] {
        let (response, error) = shop.refused("terminal", json!({ "command": command, "workdir": workdir }));
        assert_eq!(response, code, "{command} in {workdir}: {error}");
    }
}

#[test]
fn long_output_is_truncated_in_the_middle() {
    let shop = ToolWorkspace::new(ON);
    let response = run(&shop, "seq 1 200000");
    let output = response["output"].as_str().unwrap();
    assert!(output.starts_with("1\n2\n") && output.ends_with("199999\n200000\n"), "{output}");
    assert!(output.contains("lines omitted") && output.chars().count() < 21_000 && response["lines"] == 200_000);
    let response = run(&shop, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end");
    let output = response["output"].as_str().unwrap();
    assert!(output.contains("bytes omitted]\nend\n") && output.len() < 21_000, "{}", output.len());
}

#[test]
fn secrets_are_removed_from_the_environment() {
    const GIVEN: &str = "TOOLS_TERMINAL_GIVEN";
    let name = "secrets_are_removed_from_the_environment";
    if std::env::var_os(GIVEN).is_none() {
        let mut again = rerun(module_path!(), name);
        again.env(GIVEN, "plain").env("X_API_KEY", "hunter22x").env("X_SITE", "https://ada:hunter22x@example.test/");
        let output = again.env("CDPILOT_TOKEN", "hunter22x").output().unwrap();
        let response = String::from_utf8_lossy(&output.stdout);
        return assert!(output.status.success() && response.contains("1 passed"), "{response}");
    }
    let shop = ToolWorkspace::new(ON);
    let response = run(&shop, "env");
    let variables = response["output"].as_str().unwrap();
    assert!(variables.contains("TOOLS_TERMINAL_GIVEN=plain") && variables.contains("PATH="), "{variables}");
    for gone in ["X_API_KEY", "X_SITE", "CDPILOT_", "hunter22x"] {
        assert!(!variables.contains(gone), "{gone}: {variables}");
    }
}

#[test]
fn the_process_tree_is_killed_on_timeout_or_cancellation() {
    let (shop, mark) = (ToolWorkspace::new(ON), mark());
    let command =
        format!("echo begun; sleep {mark} & (trap '' TERM; sleep {mark}) & setsid sh -c 'sleep {mark}' & wait");
    let response = shop.call("terminal", json!({ "command": command, "timeout_s": 1 }));
    assert_eq!((&response["code"], &response["output"]), (&json!("TIMEOUT"), &json!("begun\n")));
    assert_eq!(running(&mark), 0);
    let cancel = Cancel::new();
    let (flag, seen) = (cancel.clone(), mark.clone());
    let canceller = spawn("test-cancel", move || {
        // The shell, its subshells, and those that sleep.
        until("it runs", || running(&seen) >= 5);
        flag.set();
    });
    let deadline = Deadline::after_secs(600).cancelled_by(&cancel);
    let response = shop.call_by("terminal", json!({ "command": command }), deadline);
    assert_eq!(response["code"], "CANCELLED");
    assert_eq!(running(&mark), 0);
    drop(canceller);
}

#[test]
fn a_foreground_command_leaves_no_process() {
    let (shop, mark) = (ToolWorkspace::new(ON), mark());
    let response = run(&shop, &format!("nohup sleep {mark} >/dev/null 2>&1 & echo done"));
    assert!(response["output"] == "done\n" && response["note"].as_str().unwrap().contains("background"), "{response}");
    assert_eq!(running(&mark), 0);
    // Also what holds on to the output.
    let response = run(&shop, &format!("sleep {mark} & echo done"));
    assert!(response["output"] == "done\n" && response["exit_code"] == 0 && response["note"].is_string(), "{response}");
    assert_eq!(running(&mark), 0);
    assert!(run(&shop, "echo alone").get("note").is_none());
}

#[test]
fn background_processes_are_read_written_and_ended() {
    let shop = ToolWorkspace::new(ON);
    let start = |command: &str| shop.call("terminal", json!({ "command": command, "background": true }));
    let process = |action: &str, id: &str| shop.call("process", json!({ "action": action, "id": id }));
    let id = start("echo ready; read x; echo \"got $x\"; cat; exit 3")["id"].as_str().unwrap().to_owned();
    let read = |wanted: &str| {
        let (deadline, mut output) = (soon(), String::new());
        while !output.contains(wanted) {
            assert!(!deadline.passed(), "{wanted:?} is not in {output:?}");
            let response = process("poll", &id);
            output.push_str(response["output"].as_str().unwrap());
            pause(Duration::from_millis(5));
        }
        output
    };
    assert_eq!(read("ready\n"), "ready\n");
    let response = shop.done("process", json!({ "action": "write", "id": id, "input": "hello\n" }));
    assert_eq!((&response["status"], &response["written"]), (&json!("running"), &json!(6)));
    assert_eq!(read("got hello\n"), "got hello\n");
    shop.done("process", json!({ "action": "write", "id": id, "input": "rest", "close": true }));
    let response = process("wait", &id);
    assert_eq!(
        (&response["status"], &response["exit_code"], &response["output"]),
        (&json!("exited"), &json!(3), &json!("rest\n"))
    );
    let response = shop.done("process", json!({ "action": "log", "id": id, "offset": 2, "limit": 1 }));
    assert_eq!(
        (&response["output"], &response["truncated"]),
        (&json!("got hello\n"), &json!("continue with offset 3"))
    );
    let response = shop.call("process", json!({ "action": "write", "id": id, "input": "x" }));
    assert_eq!(response["code"], "CONFLICT");
    // So many at once, and no more.
    let first = start("sleep 9999")["id"].as_str().unwrap().to_owned();
    assert_eq!(start("sleep 9999")["status"], "running");
    let response = start("sleep 9999");
    assert_eq!(response["code"], "BUSY", "{response}");
    let response = process("kill", &first);
    assert_eq!(
        (&response["status"], &response["signal"], &response["killed"]),
        (&json!("killed"), &json!("SIGTERM"), &json!(true))
    );
    assert_eq!(start("sleep 9999")["status"], "running");
    let all = shop.done("process", json!({ "action": "list" }));
    let states: Vec<_> =
        all["processes"].as_array().unwrap().iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["exited", "killed", "running", "running"]);
    assert_eq!(process("poll", "p99")["code"], "NOT_FOUND");
    assert_eq!(shop.refused("process", json!({ "action": "poll" })).0, "BAD_REQUEST");
    // One that does not read is written to no longer than that takes.
    let response = shop.call("process", json!({ "action": "kill", "id": "p3" }));
    assert_eq!(response["killed"], true);
    let deaf = start("sleep 9999")["id"].as_str().unwrap().to_owned();
    let much = || json!({ "action": "write", "id": deaf, "input": "x".repeat(60_000) });
    assert_eq!(shop.call("process", much())["success"], true, "as much as the system keeps");
    let response = shop.call_by("process", much(), Deadline::after_millis(200));
    assert_eq!(response["code"], "BUSY", "{response}");
    assert_eq!(shop.call("process", much())["code"], "BUSY");
}

#[test]
fn background_processes_end_with_their_tools() {
    alone(module_path!(), "background_processes_end_with_their_tools", || {
        let (mark, before) = (mark(), Baseline::now());
        {
            let shop = ToolWorkspace::new(ON);
            for command in [format!("sleep {mark} & wait"), format!("trap '' TERM; setsid sleep {mark}; sleep {mark}")]
            {
                shop.done("terminal", json!({ "command": command, "background": true }));
            }
            until("both run", || running(&mark) >= 4);
        }
        assert_eq!(running(&mark), 0);
        before.assert_back(soon());
    });
}

/// A process that is killed can end nothing itself.
#[test]
fn background_processes_end_when_their_owner_is_killed() {
    const VICTIM: &str = "TOOLS_TERMINAL_VICTIM";
    let name = "background_processes_end_when_their_owner_is_killed";
    if let Ok(mark) = std::env::var(VICTIM) {
        let shop = ToolWorkspace::new(ON);
        let command = format!("sleep {mark} & setsid sleep {mark} & trap '' TERM; wait");
        let response = shop.done("terminal", json!({ "command": command, "background": true }));
        loop {
            let wait = json!({ "action": "wait", "id": response["id"], "timeout_s": 60 });
            shop.call_by("process", wait, crate::support::soon());
        }
    }
    let mark = mark();
    let mut victim = rerun(module_path!(), name);
    let mut victim = victim.env(VICTIM, &mark).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it runs", || running(&mark) >= 3);
    victim.kill().unwrap();
    victim.wait().unwrap();
    until("all of it ends", || running(&mark) == 0);
}
