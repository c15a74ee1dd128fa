//! Completions in real shells: bash everywhere, fish and zsh where installed.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cli_fake_server::{FakeServer, program};
use crate::cli_run::Program;
use crate::support::site::Site;

/// A shell that has the program in its PATH.
pub(crate) fn in_shell(program: &Program, shell: &str) -> Command {
    let mut command = Command::new(shell);
    // Where everything is slow the values are late, and left out.
    command.env("CDPILOT_COMPLETE_MS", "20000");
    for (name, value) in program.command(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_cdpilot")).parent().unwrap();
    let mut path = OsString::from(folder);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    command.env("PATH", path).env("HOME", program.temp.path()).current_dir(program.temp.path());
    command
}

/// What a script prints. `None` where the shell is not installed.
fn shell(program: &Program, shell: &[&str], script: &str) -> Option<String> {
    let mut command = in_shell(program, shell[0]);
    let ran = command.args(&shell[1..]).arg(script).stdin(Stdio::null()).output().ok()?;
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{script}");
    Some(String::from_utf8(ran.stdout).unwrap())
}

/// What bash offers for the last of the words, which bash has split at `=` and `:`.
fn bash(program: &Program, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
    let last = quoted.last().unwrap();
    let script = format!(
        "source <(cdpilot completions bash); COMP_WORDS=({}); COMP_CWORD={}; COMPREPLY=(); \
         _cdpilot cdpilot {last} ''; for reply in \"${{COMPREPLY[@]}}\"; do printf '%s\\n' \"$reply\"; done",
        quoted.join(" "),
        words.len() - 1,
    );
    let response = shell(program, &["bash", "--norc", "-c"], &script).unwrap_or_default();
    response.lines().map(str::to_owned).collect()
}

fn known() -> Value {
    json!({
        "ok": true,
        "tabs": [
            { "targetId": "AB", "tabId": "t1", "title": "Shop", "url": "https://shop.test/" },
            { "targetId": "CD", "tabId": "t2", "label": "login", "title": "", "url": "https://login.test/" },
        ],
        "refs": { "e2": { "role": "button", "name": "Save" }, "e10": { "role": "link", "name": "Away" }, "e1": { "role": "textbox" } },
        "profiles": [{ "name": "cdpilot", "running": true }, { "name": "work" }],
    })
}

#[test]
fn bash_completes_commands_and_values_of_the_server() {
    let server = FakeServer::always(200, known());
    let program = server.program();
    if bash(&program, &["cdpilot", "comp"]) != ["completions"] {
        assert!(Command::new("bash").arg("--version").output().is_err(), "bash is here and completes nothing");
        return;
    }
    assert_eq!(bash(&program, &["cdpilot", "snaps"]), ["snapshot"], "without the word browser");
    assert_eq!(bash(&program, &["cdpilot", "browser", "snaps"]), ["snapshot"]);
    assert_eq!(bash(&program, &["cdpilot", "text", "--max"]), ["--max-chars"]);
    assert_eq!(server.requested(), [], "nothing is asked for what the program knows itself");

    assert_eq!(bash(&program, &["cdpilot", "text", "--target", ""]), ["t1", "t2", "login"]);
    assert_eq!(bash(&program, &["cdpilot", "text", "--target", "lo"]), ["login"]);
    assert_eq!(bash(&program, &["cdpilot", "text", "--target", "=", "t"]), ["t1", "t2"]);
    assert_eq!(bash(&program, &["cdpilot", "text", "--target", "="]), ["t1", "t2", "login"]);
    assert_eq!(bash(&program, &["cdpilot", "close", "t"]), ["t1", "t2"]);
    assert_eq!(bash(&program, &["cdpilot", "click", "e"]), ["e1", "e2", "e10"]);
    assert_eq!(bash(&program, &["cdpilot", "screenshot", "--ref", "e1"]), ["e1", "e10"]);
    assert_eq!(bash(&program, &["cdpilot", "focus", "l"]), ["login"]);
    assert_eq!(bash(&program, &["cdpilot", "focus", "e2"]), ["e2"]);
    assert_eq!(bash(&program, &["cdpilot", "tabs", "--profile", "w"]), ["work"]);
    assert_eq!(bash(&program, &["cdpilot", "profiles", "reset", "w"]), ["work"]);
    assert_eq!(
        bash(&program, &["cdpilot", "emulate", "--device", "iPhone 14"]),
        ["iPhone\\ 14", "iPhone\\ 14\\ Pro\\ Max"]
    );
    server.requested();

    // The tab and the profile of the command line count.
    bash(&program, &["cdpilot", "--profile", "work", "click", "--target", "t2", "e"]);
    let requested = server.requested();
    assert_eq!(requested[0].url, "/refs?targetId=t2&profile=work", "{requested:?}");
    // An address is one word for the program, whatever bash makes of it.
    let url = server.url();
    let port = url.rsplit(':').next().unwrap();
    let words = ["cdpilot", "--url", "http", ":", "//127.0.0.1", ":", port, "close", "lo"];
    assert_eq!(bash(&program.env("CDPILOT_URL", ""), &words), ["login"]);
}

#[test]
fn completion_without_a_server_starts_and_prints_nothing() {
    let program = program();
    let home = program.temp.path().join("home");
    let words = ["cdpilot", "click", "e"];
    assert_eq!(bash(&program, &words), [""; 0]);
    assert_eq!(bash(&program, &["cdpilot", "text", "--target", ""]), [""; 0]);
    assert!(!home.join("run").exists() && !home.join("profiles").exists());
    // One that takes the connection and never answers; one that fails; one that is none.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("http://{}", silent.local_addr().unwrap());
    assert_eq!(bash(&program.env("CDPILOT_URL", &silent_url).env("CDPILOT_COMPLETE_MS", "300"), &words), [""; 0]);
    for answer in [
        json!({ "ok": false, "error": "no", "code": "BROWSER_NOT_RUNNING" }),
        json!([1]),
        json!({ "ok": true, "refs": 7 }),
    ] {
        let server = FakeServer::always(200, answer);
        assert_eq!(bash(&server.program(), &words), [""; 0]);
    }
}

/// Names that a page or its site chose to get at the shell or the terminal.
fn hostile() -> Value {
    let names = [
        "$(touch owned)",
        "`touch owned`",
        "a;touch owned",
        "a|b",
        "a\nb",
        "a\tb",
        "\u{1b}[2Jx",
        "*",
        "~root",
        "--json",
        "x'y",
        "x\"y",
        "%F{red}",
        "\u{202e}evil",
        "a\u{b}b",
        "$HOME",
        "{a,b}",
        "!!",
        "a\\b",
    ];
    let tab = |name: &&str| json!({ "tabId": "t7", "label": name, "title": name, "url": name });
    let refs: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "role": name, "name": name }))).collect();
    let mut answer = json!({
        "ok": true,
        "tabs": names.iter().map(tab).collect::<Vec<_>>(),
        "profiles": names.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "refs": refs,
    });
    answer["refs"]["e5"] = json!({ "role": "button", "name": names.concat() });
    answer
}

#[test]
fn page_titles_are_not_executed_by_the_shell() {
    let server = FakeServer::always(200, hostile());
    let program = server.program();
    std::fs::write(program.temp.path().join("afile"), "").unwrap();
    if Command::new("bash").arg("--version").output().is_ok() {
        let mut tabs = bash(&program, &["cdpilot", "text", "--target", ""]);
        tabs.dedup();
        assert_eq!(tabs, ["t7"]);
        assert_eq!(bash(&program, &["cdpilot", "click", "e"]), ["e5"]);
        assert_eq!(bash(&program, &["cdpilot", "tabs", "--profile", ""]), [""; 0]);
    }
    for command in ["cdpilot click ", "cdpilot text --target ", "cdpilot tabs --profile "] {
        let all = fish(&program, command).into_iter().chain(zsh(&program, command));
        for line in all.filter(|line| !line.starts_with('-')) {
            let plain = |c: char| c.is_alphanumeric() || "-_.,/+()?! :\t".contains(c);
            assert!(line.chars().all(plain) && (line.starts_with("t7") || line.starts_with("e5")), "{line:?}");
        }
    }
    assert!(!program.temp.path().join("owned").exists());
}

fn fish(program: &Program, line: &str) -> Vec<String> {
    let script = format!("cdpilot completions fish | source; complete -C '{line}'");
    let response = shell(program, &["fish", "--no-config", "-c"], &script).unwrap_or_default();
    response.lines().map(str::to_owned).collect()
}

/// What is handed to zsh's own `_describe`: values and descriptions, with a colon between them.
fn zsh(program: &Program, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split(' ').collect();
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "compdef() {{ }}; _describe() {{ print -rl -- ${{(P)3}} }}; source <(cdpilot completions zsh); \
         words=({}); CURRENT={}; _clap_dynamic_completer_cdpilot",
        quoted.join(" "),
        words.len(),
    );
    let response = shell(program, &["zsh", "-f", "-c"], &script).unwrap_or_default();
    response.lines().map(str::to_owned).collect()
}

#[test]
fn fish_and_zsh_describe_values() {
    let server = FakeServer::always(200, known());
    let program = server.program();
    let has = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if has("fish") {
        let refs = fish(&program, "cdpilot click e");
        assert_eq!(refs, ["e1\ttextbox", "e2\tbutton Save", "e10\tlink Away"]);
        assert_eq!(fish(&program, "cdpilot close l"), ["login\thttps //login.test/"]);
        let devices = fish(&program, "cdpilot emulate --device Galaxy");
        assert_eq!(devices.len(), 3, "{devices:?}");
    }
    if has("zsh") {
        assert_eq!(zsh(&program, "cdpilot click e"), ["e1:textbox", "e2:button Save", "e10:link Away"]);
        assert_eq!(zsh(&program, "cdpilot tabs --profile "), ["cdpilot:running", "work"]);
    }
}

#[test]
fn refs_are_completed_until_the_page_changes() {
    if Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    let site = Site::start();
    site.page("/", "<title>One</title><button>Save</button><a href='/two'>Away</a><iframe src='@b/inner'></iframe>");
    site.page("/inner", "<button>Inside</button>");
    site.page("/two", "<title>Two</title><button>Other</button>");
    let Some(program) = Program::at_home().0.leasing() else { return };
    let ran = program.run(&["open", &site.url("a", "/"), "--label", "shop"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(bash(&program, &["cdpilot", "click", "e"]), [""; 0], "no snapshot yet");
    let shown = program.run(&["snapshot", "--json"]).json();
    let mut expected: Vec<String> = shown["refs"].as_object().unwrap().keys().cloned().collect();
    expected.sort_by_key(|name| name[1..].parse::<u32>().unwrap());
    assert!(expected.len() >= 3, "{shown}");
    assert_eq!(bash(&program, &["cdpilot", "click", "e"]), expected);
    assert!(bash(&program, &["cdpilot", "close", "s"]) == ["shop"]);
    assert_eq!(program.run(&["navigate", &site.url("a", "/two")]).code, Some(0));
    assert_eq!(bash(&program, &["cdpilot", "click", "e"]), [""; 0], "another document");
    assert_eq!(program.run(&["serve", "--stop"]).code, Some(0));
}
