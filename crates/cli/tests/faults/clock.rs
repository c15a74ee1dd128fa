//! A clock that jumps by a day, forward and back, while the server works: nothing acknowledged is lost.
//!
//! The clock of the server alone is set, by libfaketime, whose file says by how much. `make faults` installs it; without
//! it the test says so and is left out.
#![allow(clippy::print_stdout, clippy::print_stderr)] // figures, and a skipped test must not go unseen

use std::fs;
use std::path::Path;
use std::time::Duration;

use cdpilot::sync::pause;
use serde_json::Value;

use crate::cli_run::{Program, has_browser};
use crate::support::site::Site;

const DAY: f64 = 86_400.0;

/// The library that sets the clock.
fn library() -> Option<String> {
    let folders =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    let paths = folders.iter().map(|folder| format!("{folder}/faketime/libfaketime.so.1"));
    let found = paths.into_iter().find(|path| Path::new(path).exists());
    let required = std::env::var("CDPILOT_REQUIRE_FAKETIME").is_ok_and(|value| value == "1");
    assert!(found.is_some() || !required, "CDPILOT_REQUIRE_FAKETIME=1, but libfaketime is not installed");
    if found.is_none() {
        eprintln!("SKIPPED, libfaketime is not installed: a clock that jumps");
    }
    found
}

#[test]
fn a_clock_jump_of_a_day_loses_nothing() {
    if !has_browser() {
        return;
    }
    let Some(library) = library() else { return };
    let program = Program::new();
    let home = program.temp.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("config.yaml"), "server: {port: 0}\nbrowser: {cdp_port: 0, headless: true}\n").unwrap();
    let clock = program.temp.path().join("clock");
    let set = |offset: &str| {
        let next = clock.with_extension("new");
        fs::write(&next, format!("{offset}\n")).unwrap();
        fs::rename(&next, &clock).unwrap();
    };
    set("+0");
    // The browser keeps its own clock.
    let browser = program.temp.path().join("browser");
    let real = crate::support::browser_path().unwrap();
    fs::write(&browser, format!("#!/bin/sh\nunset LD_PRELOAD\nexec {} \"$@\"\n", real.display())).unwrap();

    fs::set_permissions(&browser, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.env("CDPILOT_HOME", home.to_str().unwrap());
    let mut server = program
        .command(&["serve", "--json"])
        .env("LD_PRELOAD", &library)
        .env("FAKETIME_TIMESTAMP_FILE", &clock)
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_NO_CACHE", "1")
        .env("CDPILOT_BROWSER", &browser)
        .spawn()
        .unwrap();
    let up = crate::support::soon();
    while !home.join("run/server.json").exists() {
        assert!(!up.passed(), "no server");
        pause(Duration::from_millis(10));
    }
    let run = |line: &str| program.run(&line.split(' ').collect::<Vec<_>>());
    let does = |line: &str| {
        let ran = run(line);
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    };
    let site = Site::start();
    site.page(
        "/",
        "<title>Here</title><p id=p>Here<button id=ask onclick=\"setTimeout(() => alert('Sure?'))\">Ask</button>",
    );
    does(&format!("browser open {}", site.url("a", "/")));
    does("browser label t1 kept");
    does("browser profiles create kept --color #112233");
    does("browser storage local set k v");
    let mut pictures = vec![picture(&does("browser screenshot --json").json())];
    let mut last_id = 0;
    let mut events = |since: u64| {
        does("browser evaluate console.log('x')");
        let response = does(&format!("browser events --since {since} --count 1 --json")).stdout;
        let event: Value = serde_json::from_str(response.lines().next().unwrap()).unwrap();
        println!("event after {since}: {event}");
        let id = event["seq"].as_u64().unwrap_or_else(|| panic!("{event}"));
        assert!(id > last_id, "{event}");
        last_id = id;
        id
    };
    let mut since = events(0);
    for offset in ["+1d", "-1d"] {
        // Under way while the clock jumps.
        does("browser evaluate delete(window.tried)");
        let condition = format!("(window.tried=true)&&document.body.innerText.includes('Done{offset}')");
        let mut waiting =
            program.command(&["browser", "wait", "--fn", &condition, "--timeout", "30000"]).spawn().unwrap();
        let under_way = crate::support::soon();
        while does("browser evaluate window.tried===true").stdout.trim() != "true" {
            assert!(!under_way.passed(), "the wait does not begin");
        }
        set(offset);
        assert!(does("browser tabs --json").stdout.contains("\"kept\""), "{offset}");
        assert_eq!(waiting.try_wait().unwrap(), None, "{offset}: the clock ends no wait");
        does(&format!("browser evaluate p.append('Done{offset}')"));
        assert!(waiting.wait().unwrap().success(), "{offset}");
        assert!(does("browser profiles --json").stdout.contains("#112233"), "{offset}");
        assert!(does("browser storage local get k").stdout.contains('v'), "{offset}");
        pictures.push(picture(&does("browser screenshot --json").json()));
        since = events(since);
        // A dialog and a link to the UI of before the next jump, which is back.
        let link = does("ui").stdout.trim().to_owned();
        does("browser click --selector #ask");
        let open =
            |response: &Value| (response["open"].as_array().map(Vec::len), response["open"][0]["openedAt"].clone());
        let before = does("browser dialogs --json").json();
        set("+0");
        let seen = does("browser dialogs --json").json();
        assert_eq!(open(&seen), open(&before), "{offset}: an open dialog is the one of before: {seen}");
        assert!(seen.to_string().contains("Sure?"), "{seen}");
        does("browser dialog --accept");
        let answer = ureq::get(&link).call();
        assert!(answer.as_ref().is_ok_and(|answer| answer.status() == 200), "{offset}: {link}: {answer:?}");
        since = events(since);
    }
    let different: std::collections::BTreeSet<&String> = pictures.iter().collect();
    assert_eq!(different.len(), pictures.len(), "{pictures:?}");
    for path in &pictures {
        assert!(fs::metadata(path).unwrap().len() > 100, "{path}");
    }
    // The clock did jump for the server: names of pictures have its time.
    let times: Vec<f64> = pictures.iter().filter_map(|path| millis(path)).map(|millis| millis / 1000.0).collect();
    println!("times in names of pictures: {times:?}");
    assert!(times[1] - times[0] > DAY - 600.0 && times[0] - times[2] > DAY - 600.0, "{times:?}");
    does("serve --stop");
    assert!(server.wait().unwrap().success());
    // Another server, with the clock as it is.
    assert!(does("browser profiles --json").stdout.contains("#112233"));
    does("serve --stop");
}

fn picture(response: &Value) -> String {
    response["path"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// The milliseconds in the name of a file.
fn millis(path: &str) -> Option<f64> {
    let name = Path::new(path).file_name()?.to_str()?;
    name.split(['-', '.']).find_map(|part| part.parse::<f64>().ok().filter(|number| *number > 1e12))
}
