//! The request that each command of `cdpilot browser` sends, as in the contract.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cli_fake_server::{FakeServer, TOKEN, ok};
use cdpilot::page::{ACTIONS, ActionSpec, FieldType};

/// A command line, and the request it stands for.
type Case = (&'static str, &'static str, &'static str, Value);

fn words(line: &str) -> Vec<String> {
    // As a shell splits them: spaces, but for what stands between quotes.
    let (mut words, mut quoted, mut word, mut any) = (Vec::new(), None, String::new(), false);
    for c in line.chars() {
        match quoted {
            Some(quote) if c == quote => quoted = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => (quoted, any) = (Some(c), true),
            None if c == ' ' => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            None => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The path and the query parameters in any order.
fn parts(url: &str) -> (&str, BTreeSet<&str>) {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    (path, query.split('&').collect())
}

fn check(cases: Vec<Case>) {
    let server = FakeServer::always(200, ok());
    let program = server.program();
    let mut wrong = Vec::new();
    for (line, method, url, body) in cases {
        let line = format!("browser {line}");
        let line = words(&line);
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let ran = program.run(&line);
        let requested = server.requested();
        let [one] = requested.as_slice() else {
            wrong.push(format!("{line:?}: {} requests, {ran:?}", requested.len()));
            continue;
        };
        if (one.method.as_str(), parts(&one.url), &one.body) != (method, parts(url), &body) || ran.code != Some(0) {
            wrong.push(format!("{line:?}: {} {} {}\n{ran:?}", one.method, one.url, one.body));
        }
        assert_eq!(one.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()), "{line:?}");
        let kind = (method == "POST").then_some("application/json");
        assert_eq!(one.header("content-type"), kind, "{line:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const NONE: Value = Value::Null;

#[test]
fn the_quick_reference_is_parsed_line_by_line() {
    let act = |value: Value| ("POST", "/act", value);
    let with = |line, (method, url, body)| (line, method, url, body);
    check(vec![
        ("status", "GET", "/", NONE),
        ("start", "POST", "/start", json!({})),
        ("stop", "POST", "/stop", json!({})),
        ("rescue", "POST", "/rescue", json!({})),
        ("tabs", "GET", "/tabs", NONE),
        ("open https://example.com", "POST", "/tabs/open", json!({"url": "https://example.com"})),
        ("focus abcd1234", "POST", "/tabs/focus", json!({"targetId": "abcd1234"})),
        // Target ids without a letter, or with an e ahead of digits, are no refs.
        ("focus 14459713", "POST", "/tabs/focus", json!({"targetId": "14459713"})),
        ("focus e4459713", "POST", "/tabs/focus", json!({"targetId": "e4459713"})),
        ("focus 0445", "POST", "/tabs/focus", json!({"targetId": "0445"})),
        with("focus 12", act(json!({"kind": "focus", "ref": "e12"}))),
        with("focus e123456", act(json!({"kind": "focus", "ref": "e123456"}))),
        ("close abcd1234", "DELETE", "/tabs/abcd1234", NONE),
        ("screenshot", "POST", "/screenshot", json!({})),
        ("screenshot --full-page", "POST", "/screenshot", json!({"fullPage": true})),
        ("screenshot --ref 12", "POST", "/screenshot", json!({"ref": "e12"})),
        ("snapshot --format aria --limit 200", "GET", "/snapshot?format=aria&limit=200", NONE),
        ("snapshot --format aria", "GET", "/snapshot?format=aria", NONE),
        ("navigate https://example.com", "POST", "/navigate", json!({"url": "https://example.com"})),
        with("resize 1280 720", act(json!({"kind": "resize", "width": 1280, "height": 720}))),
        with("click 12 --double", act(json!({"kind": "click", "ref": "e12", "double": true}))),
        with(
            r#"type 23 "hello" --submit"#,
            act(json!({"kind": "type", "ref": "e23", "text": "hello", "submit": true})),
        ),
        with("press Enter", act(json!({"kind": "press", "key": "Enter"}))),
        with("hover 44", act(json!({"kind": "hover", "ref": "e44"}))),
        with("drag 10 11", act(json!({"kind": "drag", "startRef": "e10", "endRef": "e11"}))),
        with("select 9 OptionA OptionB", act(json!({"kind": "select", "ref": "e9", "values": ["OptionA", "OptionB"]}))),
        with(
            r#"fill --fields '[{"ref":"1","value":"Ada"}]'"#,
            act(json!({"kind": "fill", "fields": [{"ref": "e1", "value": "Ada"}]})),
        ),
        with(
            r#"fill --fields '[{\"ref\":\"1\",\"value\":\"Ada\"}]'"#,
            act(json!({"kind": "fill", "fields": [{"ref": "e1", "value": "Ada"}]})),
        ),
        ("dialog --accept", "POST", "/hooks/dialog", json!({"accept": true})),
        with(r#"wait --text "Done""#, act(json!({"kind": "wait", "text": "Done"}))),
        with(
            "evaluate --fn '(el) => el.textContent' --ref 7",
            act(json!({"kind": "evaluate", "fn": "(el) => el.textContent", "ref": "e7"})),
        ),
        ("console --level error", "GET", "/console?level=error", NONE),
        ("pdf", "POST", "/pdf", json!({})),
    ]);
}

#[test]
fn browser_and_tab_commands_send_their_requests() {
    check(vec![
        ("start --headless", "POST", "/start", json!({"headless": true})),
        (
            r#"start --capability platformName=linux --capability 'se:x={"a": 1}' --capability browserVersion=156"#,
            "POST",
            "/start",
            json!({"capabilities": {"platformName": "linux", "se:x": {"a": 1}, "browserVersion": "156"}}),
        ),
        ("start --headless auto", "POST", "/start", json!({"headless": "auto"})),
        ("start --headless false", "POST", "/start", json!({"headless": false})),
        ("start --headless=false --profile work", "POST", "/start?profile=work", json!({"headless": false})),
        (
            "open example.com --label main --background",
            "POST",
            "/tabs/open",
            json!({"url": "https://example.com", "label": "main", "background": true}),
        ),
        ("open localhost:3000/x", "POST", "/tabs/open", json!({"url": "http://localhost:3000/x"})),
        ("open about:blank --timeout 900", "POST", "/tabs/open", json!({"url": "about:blank", "timeoutMs": 900})),
        ("close 'my tab/ü'", "DELETE", "/tabs/my%20tab%2F%C3%BC", NONE),
        ("close --target t2 --profile work", "DELETE", "/tabs/t2?profile=work", NONE),
        ("close", "POST", "/act", json!({"kind": "close"})),
        ("label t2 main", "POST", "/tabs/label", json!({"targetId": "t2", "label": "main"})),
        (
            "navigate example.com --until domcontentloaded --target t1",
            "POST",
            "/navigate",
            json!({"url": "https://example.com", "waitUntil": "domcontentloaded", "targetId": "t1"}),
        ),
        ("tabs --profile 'a b' --timeout 5", "GET", "/tabs?profile=a%20b", NONE),
        ("sessions", "GET", "/sessions", NONE),
        ("sessions list --profile work", "GET", "/sessions", NONE),
        ("sessions create alice", "POST", "/sessions", json!({"name":"alice"})),
        ("sessions create bob --isolated", "POST", "/sessions", json!({"isolated":true,"name":"bob"})),
        ("sessions end a/b", "DELETE", "/sessions/a%2Fb", NONE),
        ("profiles", "GET", "/profiles", NONE),
        ("profiles list --profile work", "GET", "/profiles", NONE),
        (
            "profiles create work --color '#00AA00' --cdp-port 0 --headless --cdp-url ws://h:1/x",
            "POST",
            "/profiles",
            json!({"name": "work", "color": "#00AA00", "cdpPort": 0, "headless": true, "cdpUrl": "ws://h:1/x"}),
        ),
        ("profiles delete work", "DELETE", "/profiles/work", NONE),
        ("profiles reset office", "POST", "/profiles/office/reset", json!({})),
    ]);
}

#[test]
fn read_commands_send_their_requests() {
    check(vec![
        ("snapshot", "GET", "/snapshot", NONE),
        (
            "snapshot --interactive --compact --depth 3 --selector main --frame @e5 --labels --urls --diff --fold --expand 40 \
          --max-chars 0 --target t1 --timeout 700",
            "GET",
            "/snapshot?targetId=t1&maxChars=0&interactive=true&compact=true&depth=3&selector=main&frame=e5&labels=true&\
             urls=true&diff=true&fold=true&expand=e40&timeoutMs=700",
            NONE,
        ),
        ("snapshot --efficient", "GET", "/snapshot?interactive=true&compact=true", NONE),
        (
            "screenshot t3 --type jpg --quality 70 --labels",
            "POST",
            "/screenshot",
            json!({"targetId": "t3", "type": "jpeg", "quality": 70, "labels": true}),
        ),
        (
            "screenshot --element '#a > b' --target t3",
            "POST",
            "/screenshot",
            json!({"targetId": "t3", "element": "#a > b"}),
        ),
        (
            "text --selector main --max-chars 100 --target t1",
            "GET",
            "/text?targetId=t1&selector=main&maxChars=100",
            NONE,
        ),
        ("frames --full", "GET", "/frames?full=true", NONE),
        ("console --limit 5 --clear --target t1", "GET", "/console?targetId=t1&limit=5&clear=true", NONE),
        ("errors --target t1 --limit 2 --clear", "GET", "/errors?targetId=t1&limit=2&clear=true", NONE),
        ("requests --filter api --clear --limit 3", "GET", "/requests?filter=api&limit=3&clear=true", NONE),
        ("pdf --target t1", "POST", "/pdf", json!({"targetId": "t1"})),
        ("highlight 3", "POST", "/highlight", json!({"ref": "e3"})),
        ("highlight --target t1", "POST", "/highlight", json!({"targetId": "t1"})),
        ("dialogs --target t1", "GET", "/dialogs?targetId=t1", NONE),
    ]);
}

#[test]
fn actions() {
    let act = |line: &'static str, body: Value| -> Case { (line, "POST", "/act", body) };
    check(vec![
        act(
            "click --selector '#go' --frame e3 --button right --modifiers Shift,ctrl --target t1 --timeout 900 --force",
            json!({"kind": "click", "selector": "#go", "frameId": "e3", "button": "right", "modifiers": ["Shift", "Control"],
                "targetId": "t1", "timeoutMs": 900, "force": true}),
        ),
        act(
            "click @e5 --synthetic --delta",
            json!({"kind": "click", "ref": "e5", "input": "synthetic", "delta": true}),
        ),
        act("click-coords 10.5 -3 --double", json!({"kind": "clickCoords", "x": 10.5, "y": -3.0, "double": true})),
        act("type hello", json!({"kind": "type", "text": "hello"})),
        act(
            "type 'two words' --selector '#q' --slowly --append",
            json!({"kind": "type", "text": "two words", "selector": "#q", "slowly": true, "append": true}),
        ),
        act("type --ref 4 12", json!({"kind": "type", "ref": "e4", "text": "12"})),
        act("type e4 -5", json!({"kind": "type", "ref": "e4", "text": "-5"})),
        act("type e4 -- --x", json!({"kind": "type", "ref": "e4", "text": "--x"})),
        act("type e4 ''", json!({"kind": "type", "ref": "e4", "text": ""})),
        act("insert-text 'ö ß'", json!({"kind": "insertText", "text": "ö ß"})),
        act(
            "press Control+a --ref 3 --repeat 2",
            json!({"kind": "press", "key": "Control+a", "ref": "e3", "repeat": 2}),
        ),
        act("press - --selector a", json!({"kind": "press", "key": "-", "selector": "a"})),
        act("hover --selector a", json!({"kind": "hover", "selector": "a"})),
        act(
            "drag 10,20 e7 --steps 4",
            json!({"kind": "drag", "start": {"x": 10.0, "y": 20.0}, "endRef": "e7", "steps": 4}),
        ),
        act(
            "drag --from-selector a --to-selector b --frame e1",
            json!({"kind": "drag", "startSelector": "a", "endSelector": "b", "frameId": "e1"}),
        ),
        act("drag 4 --to-selector b", json!({"kind": "drag", "startRef": "e4", "endSelector": "b"})),
        act("select --selector select A", json!({"kind": "select", "selector": "select", "values": ["A"]})),
        act("select 9 10", json!({"kind": "select", "ref": "e9", "values": ["10"]})),
        act("select --ref 9 A", json!({"kind": "select", "ref": "e9", "values": ["A"]})),
        act("check 3", json!({"kind": "check", "ref": "e3"})),
        act("uncheck --selector '#c'", json!({"kind": "uncheck", "selector": "#c"})),
        act("scroll", json!({"kind": "scroll", "direction": "down"})),
        act(
            "scroll up 300 --selector main",
            json!({"kind": "scroll", "direction": "up", "pixels": 300.0, "selector": "main"}),
        ),
        act("scroll left --ref e3", json!({"kind": "scroll", "direction": "left", "ref": "e3"})),
        act("scroll-into-view 7", json!({"kind": "scrollIntoView", "ref": "e7"})),
        act("scrollintoview 7", json!({"kind": "scrollIntoView", "ref": "e7"})),
        act("resize 300 200 --target t1", json!({"kind": "resize", "width": 300, "height": 200, "targetId": "t1"})),
        act("wait 250", json!({"kind": "wait", "timeMs": 250})),
        act(
            "wait --time 250 --text-gone Loading --selector '#x' --load networkidle --fn 'window.ready'",
            json!({"kind": "wait", "timeMs": 250, "textGone": "Loading", "selector": "#x", "loadState": "networkidle",
                "fn": "window.ready"}),
        ),
        act("wait --url '**/done' --timeout 30000", json!({"kind": "wait", "url": "**/done", "timeoutMs": 30000})),
        act("wait --ref 4 --state hidden", json!({"kind": "wait", "ref": "e4", "state": "hidden"})),
        act("wait --ref 4", json!({"kind": "wait", "ref": "e4", "state": "visible"})),
        act("evaluate '1 + 1'", json!({"kind": "evaluate", "fn": "1 + 1"})),
        act("evaluate -1", json!({"kind": "evaluate", "fn": "-1"})),
        act(
            "evaluate document.title --frame 4ADF --target t1",
            json!({"kind": "evaluate", "fn": "document.title", "frameId": "4ADF", "targetId": "t1"}),
        ),
        act(
            r#"fill --fields '{"selector": "main a", "value": true}' --target t1"#,
            json!({"kind": "fill", "fields": [{"selector": "main a", "value": true}], "targetId": "t1"}),
        ),
        act(
            r#"fill --fields '[{"ref": 3, "value": 4}]'"#,
            json!({"kind": "fill", "fields": [{"ref": "e3", "value": 4}]}),
        ),
        act(
            r#"batch --actions '[{"kind": "click", "ref": "3"}, {"kind": "press", "key": "a"}]' --continue"#,
            json!({"kind": "batch", "stopOnError": false,
                "actions": [{"kind": "click", "ref": "e3"}, {"kind": "press", "key": "a"}]}),
        ),
    ]);
}

#[test]
fn other_commands_send_their_requests() {
    check(vec![
        (
            "dialog --accept --prompt 'my name' --id d-1 --target t1 --timeout 1000",
            "POST",
            "/hooks/dialog",
            json!({"accept": true, "promptText": "my name", "dialogId": "d-1", "targetId": "t1", "timeoutMs": 1000}),
        ),
        ("dialog --disarm --target t1", "DELETE", "/hooks/dialog?targetId=t1", NONE),
        ("dialog --dismiss", "POST", "/hooks/dialog", json!({"accept": false})),
        ("cookies", "GET", "/cookies", NONE),
        ("cookies list https://a.example/x", "GET", "/cookies?url=https%3A%2F%2Fa.example%2Fx", NONE),
        (
            "cookies set n v --domain a.example --path / --expires 99 --http-only --secure --same-site lax",
            "POST",
            "/cookies",
            json!({"cookies": [{"name": "n", "value": "v", "domain": "a.example", "path": "/", "expires": 99.0,
                "httpOnly": true, "secure": true, "sameSite": "Lax"}]}),
        ),
        (
            "cookies set n -1 --for https://a.example",
            "POST",
            "/cookies",
            json!({"cookies": [{"name": "n", "value": "-1", "url": "https://a.example"}]}),
        ),
        (
            r#"cookies set --cookies '[{"name":"n","value":"v","domain":"d"}]'"#,
            "POST",
            "/cookies",
            json!({"cookies": [{"name": "n", "value": "v", "domain": "d"}]}),
        ),
        ("cookies clear --name n --domain d", "DELETE", "/cookies?name=n&domain=d", NONE),
        ("storage local", "GET", "/storage/local", NONE),
        ("storage session get k --target t1", "GET", "/storage/session?key=k&targetId=t1", NONE),
        (
            "storage local set k 'v w' --target t1",
            "POST",
            "/storage/local",
            json!({"items": {"k": "v w"}, "targetId": "t1"}),
        ),
        (r#"storage local set --items '{"a":"1"}'"#, "POST", "/storage/local", json!({"items": {"a": "1"}})),
        ("storage session clear", "DELETE", "/storage/session", NONE),
        ("storage session clear k", "DELETE", "/storage/session?key=k", NONE),
        (
            "emulate --viewport 390x844 --scale 3 --mobile --touch --target t1",
            "POST",
            "/emulate",
            json!({"targetId": "t1",
                "viewport": {"width": 390, "height": 844, "deviceScaleFactor": 3.0, "mobile": true, "touch": true}}),
        ),
        (
            "emulate --device 'iPhone 15' --geo 52.5,-13.4,10 --timezone Europe/Berlin --locale de-DE --media print \
          --color-scheme dark --reduced-motion reduce --offline --header 'X-A: b: c' --user-agent UA --credentials u:p:w",
            "POST",
            "/emulate",
            json!({"device": "iPhone 15", "geolocation": {"latitude": 52.5, "longitude": -13.4, "accuracy": 10.0},
                "timezone": "Europe/Berlin", "locale": "de-DE",
                "media": {"type": "print", "colorScheme": "dark", "reducedMotion": "reduce"}, "offline": true,
                "headers": {"X-A": "b: c"}, "userAgent": "UA", "credentials": {"username": "u", "password": "p:w"}}),
        ),
        (
            "emulate --offline=false --reset timezone,locale",
            "POST",
            "/emulate",
            json!({"offline": false, "timezone": null, "locale": null}),
        ),
        (
            "download report.pdf --timeout 2000",
            "POST",
            "/wait/download",
            json!({"path": "report.pdf", "timeoutMs": 2000}),
        ),
        ("download", "POST", "/wait/download", json!({})),
        ("cdp Browser.getVersion", "POST", "/cdp", json!({"method": "Browser.getVersion"})),
        (
            r#"cdp Runtime.evaluate '{"expression":"1"}' --frame F1 --target t1 --timeout 100"#,
            "POST",
            "/cdp",
            json!({"method": "Runtime.evaluate", "params": {"expression": "1"}, "frameId": "F1", "targetId": "t1",
                "timeoutMs": 100}),
        ),
    ]);
}

#[test]
fn the_arguments_of_plain_actions_are_their_fields() {
    let case = |action: &'static ActionSpec| -> Option<Case> {
        let mut line = action.command?.name.to_owned();
        let mut body = json!({ "kind": action.kind });
        for field in action.fields {
            let Some(argument) = field.argument else { continue };
            let (typed, value) = match field.value {
                FieldType::Element => ("e3", json!("e3")),
                FieldType::Boolean => ("", json!(true)),
                FieldType::Count | FieldType::Integer => ("2", json!(2)),
                FieldType::Number => ("-1.5", json!(-1.5)),
                // Not the first, which may be the default.
                FieldType::Choice(names) => (names[1], json!(names[1])),
                FieldType::List(FieldType::Choice(names)) => (names[1], json!([names[1]])),
                _ => ("'a b'", json!("a b")),
            };
            let is_element = matches!(field.value, FieldType::Element);
            let name = if is_element { "ref" } else { field.name };
            let flag = if is_element { "ref" } else { field.kebab_name };
            if argument.positional {
                line = format!("{line} {typed}");
            } else {
                line = format!("{line} --{flag} {typed}");
            }
            body[name] = value;
        }
        let line: &'static str = Box::leak(line.into_boxed_str());
        Some((line, "POST", "/act", body))
    };
    let cases: Vec<Case> = ACTIONS.iter().filter_map(case).collect();
    assert!(cases.len() >= 10);
    check(cases);
}

#[test]
fn every_command_is_covered_by_a_request_test() {
    let program = crate::cli_run::Program::new();
    let help = program.run(&["browser", "--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let table: String = include_str!("browser_requests.rs").lines().map(str::trim).collect();
    // These are looked at elsewhere: two read or write files, one follows a stream, and those of `cli_find`.
    let elsewhere = ["upload", "events", "state", "back", "forward", "reload", "find", "get", "is"];
    // Those whose arguments are the fields of an action are all run above.
    let plain: Vec<&str> = ACTIONS.iter().filter_map(|action| Some(action.command?.name)).collect();
    let missing: Vec<&str> = names
        .filter(|name| !elsewhere.contains(name) && !plain.contains(name))
        .filter(|name| {
            !["(\"", "(r#\"", "with(r#\""]
                .iter()
                .any(|start| [" ", "\""].iter().any(|end| table.contains(&format!("{start}{name}{end}"))))
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn help_lists_only_options_that_have_an_effect() {
    let program = crate::cli_run::Program::new();
    for action in ACTIONS {
        let special = ["type", "drag", "select", "fill", "wait", "evaluate", "batch", "focus"].contains(&action.kind);
        let name = match (action.command, special) {
            (Some(command), _) => command.name,
            (None, true) => action.kind,
            (None, false) => continue,
        };
        let help = program.run(&["browser", name, "--help"]).stdout;
        let shows = |option: &str| help.contains(&format!("{option}\n")) || help.contains(&format!("{option} "));
        // These two have no options of actions.
        let shared = !["wait", "evaluate"].contains(&name);
        let expected = (shared && action.takes_force, shared && action.takes_input);
        assert_eq!((shows("--force"), shows("--synthetic")), expected, "{name}: {help}");
    }
}

#[test]
fn route_commands_send_their_requests() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made.json");
    std::fs::write(&file, "{}").unwrap();
    let fulfil: &'static str = Box::leak(
        format!("route add **/api/*.json --fulfil {} --status 201 --header X-A=b=c", file.display()).into_boxed_str(),
    );
    check(vec![
        ("route add /x --abort", "POST", "/routes", json!({"pattern": "/x", "abort": "failed"})),
        (
            "route add /x --abort=timedout --method POST --type xhr --times 2 --target t1",
            "POST",
            "/routes",
            json!({"pattern": "/x", "abort": "timedout", "method": "POST", "resourceType": "xhr", "times": 2, "targetId": "t1"}),
        ),
        ("route add --abort /x", "POST", "/routes", json!({"pattern": "/x", "abort": "failed"})),
        ("route add /x --status 404", "POST", "/routes", json!({"pattern": "/x", "status": 404})),
        (
            fulfil,
            "POST",
            "/routes",
            json!({"pattern": "**/api/*.json", "status": 201, "headers": {"X-A": "b=c"},
                   "fulfil": {"bodyBase64": "e30=", "contentType": "application/json"}}),
        ),
        (
            "route add a.test --delay 500 --request-header 'X-B: c'",
            "POST",
            "/routes",
            json!({"pattern": "a.test", "delayMs": 500, "requestHeaders": {"X-B": "c"}}),
        ),
        ("route list", "GET", "/routes", NONE),
        ("route remove route1", "DELETE", "/routes/route1", NONE),
        ("route clear", "DELETE", "/routes", NONE),
    ]);
}

#[test]
fn invalid_routes_are_usage_errors() {
    let server = FakeServer::always(200, ok());
    let program = server.program();
    for line in [
        "route add /x",
        "route add /x --header A=b",
        "route add /x --abort --status 200",
        "route add /x --status 99",
        "route add /x --delay 200000",
        "route add /x --status 200 --request-header A=b",
        "route add --abort",
        "route",
    ] {
        let ran = program.run(&[&["browser"], &line.split(' ').collect::<Vec<_>>()[..]].concat());
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large");
    std::fs::File::create(&file).unwrap().set_len(768_001).unwrap();
    let ran = program.run(&["browser", "route", "add", "/x", "--fulfil", file.to_str().unwrap()]);
    assert!(ran.code == Some(1) && ran.stderr.contains("768000"), "{ran:?}");
    assert!(server.requested().is_empty());
}

#[test]
fn request_detail_and_throttling_commands_send_their_requests() {
    check(vec![
        ("requests --headers", "GET", "/requests?headers=true", NONE),
        ("requests --headers --raw --filter api", "GET", "/requests?filter=api&headers=true&raw=true", NONE),
        ("request r12 --body --target t1", "GET", "/requests/r12?targetId=t1&body=true", NONE),
        ("request r12 --raw", "GET", "/requests/r12?raw=true", NONE),
        ("emulate --cpu 4 --network slow-3g", "POST", "/emulate", json!({"cpu": 4.0, "network": "slow-3g"})),
        (
            "emulate --network 100,2000,500 --reset cpu",
            "POST",
            "/emulate",
            json!({"cpu": null, "network": {"latencyMs": 100.0, "downloadKbps": 2000.0, "uploadKbps": 500.0}}),
        ),
    ]);
}
