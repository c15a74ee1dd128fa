//! The commands, the server that they start, and a browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cdpilot::sync::{pause, spawn};
use cdpilot_server::config::{Home, Running};
use serde_json::{Value, json};

use crate::cli_run::{Program, Ran, has_browser, kill, processes_with};
use crate::support::share::share;
use crate::support::site::{Answer, Site};

/// A home whose server takes any free port.
pub(crate) struct AtHome {
    pub(crate) program: Program,
    pub(crate) home: Home,
}

impl AtHome {
    /// One whose server launches a browser when it needs one. `more` are further settings of the browser.
    pub(crate) fn new(more: &str) -> Self {
        Self::of(Program::new(), more)
    }

    fn of(program: Program, more: &str) -> Self {
        let folder = program.temp.path().join("home");
        fs::create_dir(&folder).unwrap();
        fs::write(
            folder.join("config.yaml"),
            format!(
                "server: {{port: 0}}\nagent: {{confirm: always}}\nbrowser: {{cdp_port: 0, headless: true{more}}}\n"
            ),
        )
        .unwrap();
        let home = Home::at(&folder);
        Self { program: program.env("CDPILOT_HOME", folder.to_str().unwrap()), home }
    }

    /// A home whose server attaches to a leased browser. `None` if there is no browser here and none is required.
    pub(crate) fn browsing() -> Option<Self> {
        Some(Self::of(Program::new().leasing()?, ""))
    }

    pub(crate) fn set_env(&mut self, name: &str, value: &str) {
        self.program.set_env(name, value);
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.program.run(args)
    }

    /// A command that works.
    pub(crate) fn does(&self, line: &str) -> String {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = self.run(&[&["browser"], &args[..]].concat());
        assert_eq!(ran.code, Some(0), "{line} {ran:?}");
        ran.stdout
    }

    /// What a command answers with `--json`, and its exit status.
    pub(crate) fn asks(&self, args: &[&str]) -> (Option<i32>, Value) {
        let ran = self.run(&[&["browser"], args, &["--json"]].concat());
        (ran.code, ran.json())
    }

    pub(crate) fn running(&self) -> Option<Running> {
        Running::of(&self.home).unwrap()
    }
}

impl Drop for AtHome {
    fn drop(&mut self) {
        let Ok(Some(running)) = Running::of(&self.home) else { return };
        kill(running.pid, "-TERM");
        let until = crate::support::soon();
        while !until.passed() && !processes_with(self.home.root()).is_empty() {
            pause(Duration::from_millis(20));
        }
        kill(running.pid, "-KILL");
    }
}

/// The ref in the line of a snapshot that has a text.
pub(crate) fn reference(snapshot: &str, text: &str) -> String {
    let line = snapshot.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{text} in {snapshot}"));
    line.split("[ref=").nth(1).unwrap().split(']').next().unwrap().to_owned()
}

#[test]
fn an_action_prints_its_outcome() {
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page(
        "/",
        "<title>Desk</title><button id=n>Nothing</button><button id=s onclick=\"t.textContent = 'Saved'\">Save</button>
         <p role=status id=t></p><a id=g href='/gone'>Gone</a><form><input aria-label=Name required><button id=f>Send</button></form>",
    );
    site.put("/gone", Answer::html("<title>Lost</title>").status("404 Not Found"));
    let (url, gone) = (site.url("a", "/"), site.url("a", "/gone"));
    assert_eq!(at.does(&format!("navigate {url}")), format!("done: navigated to {url} (200)\nDesk\n"));
    assert_eq!(at.does("click --selector #n"), "done (no visible change)\n");
    assert_eq!(at.does("click --selector #s"), "done\nstatus: Saved\n");
    let refused = at.does("click --selector #f");
    assert!(refused.starts_with("done\ninvalid \"Name\": "), "{refused}");
    let (code, response) = at.asks(&["click", "--selector", "#s"]);
    assert_eq!(
        (code, &response["settled"], &response["notices"][0]["text"]),
        (Some(0), &json!("page_settled"), &json!("Saved"))
    );
    assert_eq!(at.does("click --selector #g"), format!("done: navigated to {gone} (404)\n"));
    assert_eq!(at.does(&format!("navigate {gone}")), format!("done: navigated to {gone} (404)\nLost\n"));
}

const PAGE: &str = "<title>Desk</title><h1 id=h>Hello</h1>\
    <button id=b onclick=\"h.textContent='Clicked'\" ondblclick=\"h.textContent='Twice'\">Press</button>\
    <input id=i aria-label=Name><form onsubmit=\"event.preventDefault(); h.textContent='Sent '+q.value\"><input id=q aria-label=Find></form>\
    <select id=s aria-label=Choice multiple><option>OptionA<option>OptionB<option>OptionC</select>\
    <div id=from draggable=true aria-label=From role=button>From</div><div id=to aria-label=To role=button>To</div>\
    <input type=file id=f aria-label=File onchange=\"h.textContent='File '+f.files[0].name\">\
    <button onclick=\"setTimeout(() => h.textContent = confirm('Sure?') ? 'Yes' : 'No')\">Ask</button>\
    <script>console.error('an error of the page')</script>";

#[test]
fn the_quick_reference_works_line_by_line() {
    if !has_browser() {
        return;
    }
    let site = Site::start();
    let at = AtHome::new("");
    site.page("/desk", PAGE);
    site.page("/next", "<title>Next</title><p>Done");
    let url = site.url("a", "/desk");
    // Basics. Nothing runs yet: the first command starts a server, one that needs a browser that too.
    assert_eq!(at.run(&["browser", "stop"]).code, Some(0));
    assert_eq!(at.run(&["browser", "status", "--json"]).json()["running"], false);
    let started = at.does("start");
    assert!(started.contains("running"), "{started}");
    let server = at.running().expect("a server was started");
    assert!(at.does("status").contains("running"));
    let opened = at.asks(&["open", &url]);
    assert_eq!((opened.0, &opened.1["ok"]), (Some(0), &json!(true)), "{opened:?}");
    let target = opened.1["targetId"].as_str().unwrap().to_owned();
    assert!(at.does("tabs").contains("Desk"));
    at.does(&format!("focus {}", &target[..8]));
    // Inspection.
    for line in ["screenshot", "screenshot --full-page", "pdf"] {
        let response = at.does(line);
        let path = Path::new(response.split("  ").next().unwrap().trim());
        assert!(path.starts_with(at.home.media()) && fs::metadata(path).unwrap().len() > 100, "{line}: {response}");
    }
    let snapshot = at.does("snapshot --format ai");
    let of = |text: &str| reference(&snapshot, text);
    assert!(at.does("snapshot --format aria --limit 200").contains("button \"Press\""));
    at.does(&format!("screenshot --ref {}", of("\"Press\"").trim_start_matches('e')));
    // Actions, with refs in each form.
    at.does("resize 1280 720");
    let title = || at.does("evaluate h.textContent").trim().to_owned();
    at.does(&format!("click {}", of("\"Press\"")));
    assert_eq!(title(), "Clicked");
    at.does(&format!("click {} --double", of("\"Press\"").trim_start_matches('e')));
    assert_eq!(title(), "Twice");
    at.does(&format!("type @{} hello --submit", of("\"Find\"")));
    assert_eq!(title(), "Sent hello");
    at.does("press Enter");
    at.does(&format!("hover {}", of("\"From\"")));
    at.does(&format!("drag {} {}", of("\"From\""), of("\"To\"")));
    at.does(&format!("select {} OptionA OptionB", of("\"Choice\"")));
    assert_eq!(at.does("evaluate s.selectedOptions.length").trim(), "2");
    let fields = json!([{ "ref": of("\"Name\"").trim_start_matches('e'), "value": "Ada" }]).to_string();
    let filled = at.run(&["browser", "fill", "--fields", &fields]);
    assert_eq!(filled.code, Some(0), "{filled:?}");
    assert_eq!(at.does("evaluate i.value").trim(), "Ada");
    assert_eq!(at.does(&format!("evaluate --fn (el)=>el.textContent --ref {}", of("\"Press\""))).trim(), "Press");
    // Arming calls: before the click that opens what they are for.
    let file = at.program.temp.path().join("file.pdf");
    fs::write(&file, "%PDF").unwrap();
    at.does(&format!("upload {}", file.display()));
    at.does(&format!("click {}", of("\"File\"")));
    at.does("wait --text file.pdf --timeout 20000");
    assert_eq!(title(), "File file.pdf");
    at.does("dialog --accept");
    at.does(&format!("click {}", of("\"Ask\"")));
    at.does("wait --text Yes --timeout 20000");
    assert_eq!(title(), "Yes");
    assert!(at.does("console --level error").contains("an error of the page"));
    at.does(&format!("navigate {}", site.url("a", "/next")));
    at.does("wait --text Done");
    // What is beside the quick reference.
    assert_eq!(at.does("text").trim(), "Done");
    assert!(at.does("frames").contains("/next"));
    let picture = at.program.temp.path().join("shot.jpg");
    at.does(&format!("screenshot -o {}", picture.display()));
    assert!(fs::read(&picture).unwrap().starts_with(&[0xff, 0xd8, 0xff]));
    assert!(at.does("requests").contains("/next"));
    at.does("storage local set k v");
    assert!(at.does("storage local get k").contains('v'));
    assert_eq!(at.does("storage local get nokey"), "no item has this key\n");
    assert!(at.does("storage local clear nokey").starts_with("there is no item \"nokey\" now\n"));
    at.does(&format!("cookies set name value --for {url}"));
    assert!(at.does("cookies").contains("name"));
    at.does("emulate --viewport 390x844");
    assert_eq!(at.does("evaluate innerWidth").trim(), "390");
    assert!(at.does("cdp Browser.getVersion").contains("product"));
    let har = at.program.temp.path().join("page.har");
    assert!(at.does(&format!("requests --har {}", har.display())).contains("page.har"));
    let har: Value = serde_json::from_slice(&fs::read(&har).unwrap()).unwrap();
    assert!(har["log"]["entries"].to_string().contains("/next") && har.get("ok").is_none(), "{har}");
    assert!(at.does("requests --headers --filter /next").contains("< Content-Type: text/html; charset=utf-8"));
    let id = at.asks(&["requests", "--filter", "/next"]).1["requests"][0]["id"].as_str().unwrap().to_owned();
    assert!(at.does(&format!("request {id} --body")).contains("<p>Done"));
    let made = at.program.temp.path().join("made.txt");
    fs::write(&made, "made up").unwrap();
    let added = at.does(&format!("route add **/made --fulfil {} --status 201", made.display()));
    assert_eq!(added, "route1  **/made: fulfil 201, 7 bytes\n");
    assert_eq!(at.does("evaluate fetch('/made').then(r=>r.text())").trim(), "made up");
    assert!(at.does("route list").contains("**/made"));
    assert_eq!(at.does("route remove route1"), "deleted 1 route\n");
    assert!(at.does("profiles").contains("cdpilot"));
    let late = at.asks(&["wait", "--text", "never", "--timeout", "300"]);
    assert_eq!((late.0, &late.1["code"]), (Some(1), &json!("TIMEOUT")), "{late:?}");
    let batch =
        at.asks(&["batch", "--actions", r#"[{"kind": "press", "key": "a"}, {"kind": "click", "ref": "99999"}]"#]);
    assert_eq!((batch.0, &batch.1["failed"]), (Some(1), &json!(1)), "{batch:?}");
    let events = at.run(&["browser", "events", "--since", "0", "--count", "3", "--json"]);
    assert_eq!((events.code, events.stdout.lines().count()), (Some(0), 3), "{events:?}");
    // A dialog that a click opens is reported; what cannot be done then is code 4; and it is answered.
    at.does(&format!("navigate {url}"));
    let snapshot = at.does("snapshot");
    let clicked = at.does(&format!("click {}", reference(&snapshot, "\"Ask\"")));
    let wait = crate::support::soon();
    while at.asks(&["dialogs"]).1["pending_dialogs"] == json!([]) {
        assert!(!wait.passed(), "{clicked}");
    }
    let blocked = at.asks(&["click", &reference(&snapshot, "\"Press\"")]);
    assert_eq!((blocked.0, &blocked.1["code"]), (Some(4), &json!("BLOCKED_BY_DIALOG")), "{blocked:?}");
    assert_eq!(at.asks(&["status"]).1["pendingDialogs"], 1);
    at.does("dialog --dismiss");
    at.does("wait --text No");
    // A wrong ref and a wrong tab.
    let gone = at.asks(&["click", "99999"]);
    assert_eq!((gone.0, &gone.1["code"]), (Some(1), &json!("STALE_REF")), "{gone:?}");
    let none = at.asks(&["focus", "nowhere"]);
    assert_eq!((none.0, &none.1["code"]), (Some(1), &json!("TAB_NOT_FOUND")), "{none:?}");
    // The token and the profiles are no files for pages.
    let token = at.home.token();
    let refused = at.asks(&["upload", token.to_str().unwrap()]);
    assert_eq!((refused.0, &refused.1["code"]), (Some(1), &json!("PATH_REFUSED")), "{refused:?}");
    at.does(&format!("close {}", &target[..8]));
    let gone = at.asks(&["snapshot"]);
    assert_eq!((gone.0, &gone.1["code"]), (Some(1), &json!("TAB_GONE")), "{gone:?}");
    at.does("stop");
    assert_eq!(at.asks(&["snapshot"]).0, Some(3));
    assert_eq!(at.running().unwrap().pid, server.pid, "one server for all of it");
    let stranger = Program::new().env("CDPILOT_TOKEN", &"ab".repeat(32)).env("CDPILOT_URL", &server.url);
    assert_eq!(stranger.run(&["browser", "tabs"]).code, Some(3));
    // And its end.
    let ended = at.run(&["serve", "--stop", "--json"]);
    assert_eq!((ended.code, &ended.json()["stopped"]), (Some(0), &json!(true)), "{ended:?}");
    assert_eq!(at.running(), None);
    assert_eq!(at.run(&["serve", "--stop", "--json"]).json()["stopped"], false);
}

#[test]
fn commands_that_race_start_one_server() {
    let at = AtHome::new("");
    let home = at.home.root().to_owned();
    let race = |number: usize| {
        let home: PathBuf = home.clone();
        spawn(format!("race-{number}"), move || {
            let program = Program::new().env("CDPILOT_HOME", home.to_str().unwrap());
            let ran = program.run(&["browser", "profiles", "--json"]);
            assert_eq!((ran.code, &ran.json()["ok"]), (Some(0), &json!(true)), "{ran:?}");
        })
    };
    let racing: Vec<_> = (0..6).map(|number| race(number).unwrap()).collect();
    drop(racing);
    let running = at.running().expect("a server runs");
    let servers: Vec<String> = processes_of("serve --background")
        .into_iter()
        .filter(|pid| environment(pid).contains(home.to_str().unwrap()))
        .collect();
    assert_eq!(servers, [running.pid.to_string()]);
    let log = home.join("run/server.log");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&log).unwrap().permissions()) & 0o777, 0o600);
    assert!(log.is_file());
    // A second one by hand is refused, and says where the first is.
    let second = at.run(&["serve", "--json"]);
    assert_eq!((second.code, &second.json()["code"]), (Some(1), &json!("CONFLICT")), "{second:?}");
    assert!(second.json()["error"].as_str().unwrap().contains(&running.url), "{second:?}");
    // Killed, it leaves word that is not believed: the next command starts another.
    kill(running.pid, "-KILL");
    let after = at.run(&["browser", "profiles"]);
    assert_eq!(after.code, Some(0), "{after:?}");
    assert_ne!(at.running().unwrap().pid, running.pid);
    let doctor = at.run(&["doctor", "--json"]).json();
    let server = doctor["checks"].as_array().unwrap().iter().find(|check| check["id"] == "server").unwrap().clone();
    assert!(server["summary"].as_str().unwrap().contains(&at.running().unwrap().url), "{server}");
}

#[test]
fn signals_end_a_server_cleanly() {
    for signal in share(["-INT", "-TERM"], 1) {
        let at = AtHome::new("");
        let ran = at.program.run_and(&["serve", "--headless", "--json"], |id| {
            let until = crate::support::soon();
            while at.running().is_none_or(|running| running.pid != id) {
                assert!(!until.passed(), "it does not serve");
                pause(Duration::from_millis(10));
            }
            if has_browser() {
                at.does("start");
                assert!(!processes_with(&at.home.profiles()).is_empty(), "its browser runs");
            }
            kill(id, signal);
        });
        assert_eq!(ran.code, Some(0), "{signal} {ran:?}");
        assert_eq!(ran.json()["ok"], true, "{ran:?}");
        assert_eq!(at.running(), None);
        assert_eq!(processes_with(&at.home.profiles()), Vec::<String>::new(), "{signal}");
    }
}

#[test]
fn a_server_that_cannot_start_reports_the_reason() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let at = AtHome::new("");
    let ran = at.run(&["serve", "--port", &port]);
    assert!(ran.code == Some(1) && ran.stderr.contains(&port), "{ran:?}");
    for (args, code) in [(["--bind", "0.0.0.0"], 2), (["--port", "9222"], 2), (["--cdp-port", "9222"], 2)] {
        assert_eq!(at.run(&["serve", args[0], args[1]]).code, Some(code), "{args:?}");
    }
    // With names that clients may use, other addresses are served, and the start says what that means.
    fs::write(at.home.config(), "server: {port: 0, bind: 0.0.0.0}").unwrap();
    let refused = at.run(&["serve"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("server.bind") && refused.stderr.contains("server.allowed_hosts"), "{refused:?}");
    let ran = at.run(&["browser", "profiles"]);
    assert!(
        ran.code == Some(3) && ran.stderr.contains("allowed_hosts") && ran.stderr.contains("server.log"),
        "{ran:?}"
    );
    fs::write(at.home.config(), "server: {port: 0, bind: 0.0.0.0, allowed_hosts: [pilot.example.com]}").unwrap();
    for json in [true, false] {
        let args: &[&str] = if json { &["serve", "--json"] } else { &["serve"] };
        let ran = at.program.run_and(args, |id| {
            let until = crate::support::soon();
            while at.running().is_none_or(|running| running.pid != id) {
                assert!(!until.passed(), "it does not serve");
                pause(Duration::from_millis(10));
            }
            let ran = at.run(&["browser", "profiles"]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            kill(id, "-TERM");
        });
        assert!(ran.code == Some(0) && ran.stderr.contains("the token travels unencrypted"), "{ran:?}");
        if json {
            assert!(ran.json()["warning"].as_str().unwrap().contains("unencrypted"), "{ran:?}");
        }
    }
    fs::write(at.home.config(), "browser: {headles: true}").unwrap();
    let ran = at.run(&["browser", "profiles"]);
    assert!(ran.code != Some(0) && ran.stderr.contains("did you mean headless"), "{ran:?}");
}

/// Ids of processes whose command line has a text.
fn processes_of(text: &str) -> Vec<String> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let line = |entry: &fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
    let has = |entry: &fs::DirEntry| String::from_utf8_lossy(&line(entry)).replace('\0', " ").contains(text);
    all.filter(has).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn environment(pid: &str) -> String {
    String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()).into_owned()
}
