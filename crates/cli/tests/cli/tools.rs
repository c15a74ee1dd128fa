//! `cdpilot tools list|enable|disable` and `cdpilot tool`: the real program, with homes of its own.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli_fake_server::FakeServer;
use crate::cli_run::{Program, Ran};
use crate::support::fake_model::{FakeModel, ModelAnswer};

/// The program, and a home with settings.
struct Homed {
    program: Program,
    config: PathBuf,
}

impl Homed {
    fn new(config: Option<&str>) -> Self {
        let program = Program::new();
        let home = program.temp.path().join("home");
        fs::create_dir(&home).unwrap();
        let path = home.join("config.yaml");
        if let Some(text) = config {
            fs::write(&path, text).unwrap();
        }
        Self { program: program.env("CDPILOT_HOME", home.to_str().unwrap()), config: path }
    }

    fn run(&self, line: &str) -> Ran {
        self.program.run(&line.split(' ').collect::<Vec<_>>())
    }

    /// What a command says that works.
    fn does(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!(ran.code, Some(0), "{line} {ran:?}");
        ran.stdout
    }

    fn json(&self, line: &str) -> Value {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(ran.code, Some(0), "{line} {ran:?}");
        ran.json()
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.config).unwrap_or_default()
    }

    /// What `cdpilot tools` has written.
    fn choices(&self) -> Value {
        let text = fs::read_to_string(self.config.with_file_name("tools.json")).unwrap_or_else(|_| "null".to_owned());
        serde_json::from_str(&text).unwrap()
    }

    /// A tool as it is listed.
    fn tool(&self, platform: &str, name: &str) -> Value {
        let output = self.json(&format!("tools list --platform {platform}"));
        let all = output["tools"].as_array().unwrap();
        all.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} in {output}")).clone()
    }
}

const COMMENTED: &str = "\
# my settings, by hand
browser:
  color: \"#112233\"   # dark

# what models may do
toolsets:
  # everything at first
  - cdpilot-cli  # all of it

custom_toolsets: {mine: [file, 'todo']}  # for notes
tools:
    # where files are
    workspace: .
    disabled: [rl]   # never
# the end
";

#[test]
fn tools_are_listed_with_their_requirements() {
    let at = Homed::new(Some("mcp_servers: {files: {command: x}}\ncustom_toolsets: {mine: [file, nosuch]}\n"));
    let click = at.tool("cli", "browser_click");
    assert_eq!((&click["toolset"], &click["on"], &click["available"]), (&json!("browser"), &json!(true), &json!(true)));
    let dialog = at.tool("mcp", "browser_dialog");
    assert_eq!((&dialog["available"], &dialog["why"]), (&json!(false), &json!("needs a running browser")));
    assert_eq!(at.tool("mcp", "browser_cdp")["on"], false);
    assert_eq!(at.tool("cli", "web_search")["why"], "needs tools.search.url");
    assert!(at.tool("cli", "terminal")["why"].as_str().unwrap().contains("tools.terminal.enabled"));
    let schedules = at.tool("cdpilot-telegram", "cronjob");
    assert!(schedules["why"].as_str().unwrap().contains("MCP server"), "{schedules}");
    assert_eq!(at.tool("cli", "mcp-files")["on"], false);
    let list = at.json("tools list --toolsets");
    let of = |name: &str| list["toolsets"].as_array().unwrap().iter().find(|set| set["name"] == name).unwrap().clone();
    assert_eq!((&of("mine")["kind"], &of("mcp-files")["kind"]), (&json!("custom"), &json!("dynamic")));
    assert_eq!((&of("cdpilot-mcp")["kind"], &of("cdpilot-mcp")["tools"]), (&json!("platform"), &json!(12)));
    assert_eq!(
        (&of("safe")["kind"], &of("safe")["members"]),
        (&json!("composite"), &json!(["image_gen", "vision", "web"]))
    );
    let text = at.does("tools list");
    assert!(text.starts_with("cli: ") && text.contains("on   browser_click"), "{text}");
    assert!(at.does("tools list --toolsets").contains("debugging"));
    let hermes = at.run("tools list --platform hermes-telegram");
    assert!(hermes.code == Some(2) && hermes.stderr.contains("did you mean cdpilot-telegram?"), "{hermes:?}");
    let hermes = at.run("tools enable hermes-discord");
    assert!(hermes.code == Some(2) && hermes.stderr.contains("did you mean cdpilot-discord?"), "{hermes:?}");
    let odd = at.run("tools list --platform telegran");
    assert!(odd.code == Some(2) && odd.stderr.contains("did you mean telegram?"), "{odd:?}");
    let at = Homed::new(Some("toolsets: [cdpilot-cli, brwser, a]\ncustom_toolsets: {a: [b], b: [a]}\n"));
    let output = at.json("tools list");
    let problems = output["problems"].to_string();
    assert!(problems.contains("browser") && problems.contains("a → b → a"), "{problems}");
}

#[test]
fn every_built_in_tool_has_a_row_in_the_documentation() {
    let path = testkit::root().join("docs/tools.md");
    let rows: Vec<String> =
        fs::read_to_string(path).unwrap().lines().filter(|line| line.starts_with('|')).map(str::to_owned).collect();
    let output = Homed::new(None).json("tools list");
    let tools = output["tools"].as_array().unwrap();
    let built_in = tools.iter().filter(|tool| !tool["why"].to_string().contains("not built in"));
    let names: Vec<&str> = built_in.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.len() > 30, "{names:?}");
    let missing: Vec<_> =
        names.into_iter().filter(|name| !rows.iter().any(|row| row.contains(&format!("`{name}`")))).collect();
    assert!(missing.is_empty(), "add to docs/tools.md what these tools do: {missing:?}");
}

#[test]
fn tools_unavailable_without_cdp_are_named() {
    let rest = Homed::new(Some("browser: {cdp_url: 'rest+https://me:hush@browsers.example/v1'}\n"));
    let never = |name: &str| rest.tool("cli", name)["why"].as_str().unwrap_or_default().to_owned();
    for name in ["browser_cdp", "browser_dialog"] {
        assert!(never(name).contains("never") && never(name).contains("without CDP"), "{name}: {}", never(name));
        assert_eq!(rest.tool("cli", name)["available"], false);
    }
    let text = rest.does("tools list");
    assert!(text.contains("without CDP") && !text.contains("hush"), "{text}");
    // As a profile has it, or the environment.
    let profiles = Homed::new(Some("browser: {profiles: {cdpilot: {cdp_url: 'rest+http://127.0.0.1:1'}}}\n"));
    assert!(profiles.tool("cli", "browser_cdp")["why"].as_str().unwrap().contains("without CDP"));
    let mut at = Homed::new(None);
    at.program = at.program.env("CDPILOT_CDP_URL", "rest+http://127.0.0.1:1");
    assert!(at.tool("cli", "browser_cdp")["why"].as_str().unwrap().contains("without CDP"));
    assert_eq!(Homed::new(None).tool("cli", "browser_cdp")["why"], "needs a running browser");
}

#[test]
fn enabled_and_disabled_tools_are_saved_beside_config_yaml() {
    let at = Homed::new(Some(COMMENTED));
    assert_eq!(at.tool("cli", "browser_cdp")["from"], "default");
    assert_eq!(at.does("tools disable browser_cdp memory"), "browser_cdp: off everywhere\nmemory: off everywhere\n");
    assert_eq!(at.choices()["disabled"], json!({ "add": ["browser_cdp", "memory"], "remove": [] }));
    let off = at.tool("cli", "browser_cdp");
    assert_eq!((&off["on"], &off["from"]), (&json!(false), &json!("tools.json")));
    assert!(at.does("tools list").contains("(tools.json)"));
    assert_eq!(at.does("tools disable memory"), "memory: already off everywhere\n");
    let output = at.json("tools enable memory mixture_of_agents");
    assert_eq!(
        (&output["ok"], &output["on"], &output["changed"]),
        (&json!(true), &json!(true), &json!(["memory", "mixture_of_agents"]))
    );
    assert!(output["path"].as_str().unwrap().ends_with("tools.json"), "{output}");
    assert_eq!(at.choices()["toolsets"]["add"], json!(["mixture_of_agents"]));
    at.does("tools enable todo mine --platform mcp");
    at.does("tools disable browser_evaluate --platform mcp");
    let mcp = at.choices()["platforms"]["mcp"].clone();
    assert_eq!(mcp["toolsets"]["all"], json!(["cdpilot-mcp", "todo", "mine"]));
    assert_eq!(mcp["disabled"]["add"], json!(["browser_evaluate"]));
    assert_eq!(at.tool("mcp", "write_file")["on"], true);
    assert_eq!(
        (&at.tool("mcp", "browser_evaluate")["on"], &at.tool("cli", "browser_evaluate")["on"]),
        (&json!(false), &json!(true))
    );
    at.does("tools enable browser_evaluate --platform mcp");
    assert_eq!(at.tool("mcp", "browser_evaluate")["on"], true);
    // One toolset that is off takes nothing from another.
    let output = at.does("tools disable browser");
    assert!(output.contains("web_search stays on"), "{output}");
    assert_eq!(
        (&at.tool("cli", "browser_click")["on"], &at.tool("cli", "web_search")["on"]),
        (&json!(false), &json!(true))
    );
    at.does("tools enable browser_click");
    assert_eq!(
        (&at.tool("cli", "browser_click")["on"], &at.tool("cli", "browser_type")["on"]),
        (&json!(true), &json!(false))
    );
    let output = at.does("tools enable terminal");
    assert!(output.contains("run commands on this machine") && at.choices()["terminal"]["enabled"] == true, "{output}");
    assert_eq!(at.tool("cli", "terminal")["from"], "tools.json");
    assert_eq!(at.text(), COMMENTED);
}

#[test]
fn config_yaml_can_be_overridden_and_restored() {
    let at = Homed::new(Some("tools: {disabled: [todo, memory]}\n"));
    assert_eq!(at.tool("cli", "todo")["from"], "config.yaml");
    at.does("tools enable todo");
    assert_eq!((&at.tool("cli", "todo")["on"], &at.tool("cli", "memory")["on"]), (&json!(true), &json!(false)));
    at.does("tools enable terminal");
    // What is edited afterwards applies together with it.
    fs::write(&at.config, "tools: {disabled: [todo, clarify], terminal: {enabled: false}}\n").unwrap();
    let on = ["todo", "memory", "clarify"].map(|name| at.tool("cli", name)["on"].clone());
    assert_eq!(on, [true, true, false]);
    // Commands stay forbidden for whoever forbids them later.
    assert!(at.tool("cli", "terminal")["why"].as_str().unwrap().contains("tools.terminal.enabled"));
    // Back to what the file says, nothing is left to override.
    at.does("tools disable todo");
    assert_eq!(at.choices()["disabled"], json!({ "add": [], "remove": [] }));
    fs::write(at.config.with_file_name("tools.json"), "{\"disabled\": 3}").unwrap();
    let ran = at.run("tools list");
    assert!(ran.code == Some(1) && ran.stderr.contains("tools.json") && ran.stderr.contains("delete it"), "{ran:?}");
}

#[test]
fn tool_switches_are_saved_in_a_new_home() {
    let at = Homed::new(None);
    at.does("tools disable todo");
    assert_eq!((at.text(), at.tool("cli", "todo")["on"].clone()), (String::new(), json!(false)));
    assert!(!at.config.exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&at.config.with_file_name("tools.json")), 0o600);
    }
}

#[test]
fn invalid_switches_change_nothing() {
    let at = Homed::new(Some(COMMENTED));
    let cases = [
        ("tools disable memory browser_clik", 2, "browser_click"),
        ("tools enable brwser", 2, "did you mean browser?"),
        ("tools enable todo --platform nowhere", 2, "there is no platform"),
        ("tools disable all", 2, "cannot be turned off"),
        ("tools enable rl --platform mcp", 1, "off on all platforms"),
        ("tools enable", 2, "NAME"),
        ("tools", 2, "tools list"),
        ("tools --json", 2, ""),
        ("tools --platform mcp list", 2, "cannot be used with"),
    ];
    for (line, code, named) in cases {
        let ran = at.run(line);
        assert!(ran.code == Some(code) && ran.stderr.contains(named), "{line} {ran:?}");
        assert_eq!(at.text(), COMMENTED, "{line}");
    }
    // What is to be off but is not is reported.
    fs::write(&at.config, "tools: {disabled: [terminl]}\n").unwrap();
    let ran = at.run("tools list");
    assert!(ran.code == Some(0) && ran.stderr.contains("did you mean \"terminal\"?"), "{ran:?}");
    // Text that is wrong stays as it is.
    for (text, named) in
        [("x: &a [todo]\n", "unknown key"), ("browser: {disabled: &a [x]}\n", "unknown key"), ("toolsets: [", "YAML")]
    {
        fs::write(&at.config, text).unwrap();
        let ran = at.run("tools disable todo");
        assert!(ran.code == Some(1) && ran.stderr.contains(named), "{ran:?}");
        assert_eq!((at.text().as_str(), at.choices()), (text, Value::Null));
    }
    // However it is written.
    fs::write(&at.config, "toolsets: &a [web]\ntools:\n  disabled: *a # the same\n").unwrap();
    at.does("tools enable todo");
    assert_eq!((&at.tool("cli", "todo")["on"], &at.tool("cli", "web_search")["on"]), (&json!(true), &json!(false)));
}

#[test]
fn concurrent_switches_lose_nothing() {
    let at = Homed::new(Some("# kept\n"));
    let names = ["todo", "memory", "clarify", "cronjob", "browser_cdp", "rl"];
    std::thread::scope(|scope| {
        for name in names {
            let at = &at;
            scope.spawn(move || at.does(&format!("tools disable {name}")));
        }
    });
    let choices = at.choices();
    let off = choices["disabled"]["add"].as_array().unwrap();
    assert!(at.text() == "# kept\n" && names.iter().all(|name| off.contains(&json!(name))), "{choices}");
}

/// What the door for models says.
fn answered(result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result })
}

fn reply(structured: Value) -> Value {
    let error = structured["success"] != true;
    let text = json!({ "type": "text", "text": structured.to_string() });
    answered(json!({ "content": [text], "structuredContent": structured, "isError": error, "resultType": "complete" }))
}

#[test]
fn tool_call_returns_the_result_for_models() {
    let server =
        FakeServer::always(200, reply(json!({ "success": true, "snapshot": "- heading\n- button\u{1b}[2J", "n": 1 })));
    let program = server.program().env("CDPILOT_PROFILE", "work");
    let ran = program.run(&["tool", "browser_snapshot", "{\"full\": true}", "--toolsets", "browser,todo"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "{\n  \"n\": 1,\n  \"success\": true\n}\n\nsnapshot:\n- heading\n- button[2J\n"),
        "{ran:?}"
    );
    let requested = server.requested().remove(0);
    assert_eq!(
        (requested.method.as_str(), requested.url.as_str()),
        ("POST", "/mcp?platform=cli&toolsets=browser%2Ctodo&profile=work")
    );
    let header = |name: &str| requested.header(name).unwrap_or_default().to_owned();
    assert_eq!(header("mcp-protocol-version"), "2026-07-28");
    assert_eq!((header("mcp-method"), header("mcp-name")), ("tools/call".to_owned(), "browser_snapshot".to_owned()));
    assert!(header("accept").contains("application/json") && header("authorization").starts_with("Bearer "));
    let params = &requested.body["params"];
    assert_eq!((&params["name"], &params["arguments"]), (&json!("browser_snapshot"), &json!({ "full": true })));
    assert_eq!(params["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let ran = program.run(&["tool", "browser_snapshot", "--json"]);
    assert_eq!(ran.json(), json!({ "success": true, "snapshot": "- heading\n- button\u{1b}[2J", "n": 1 }));
}

#[test]
fn a_refused_tool_call_sets_the_exit_status() {
    for (code, exit) in [("STALE_REF", 1), ("BLOCKED_BY_DIALOG", 4), ("BROWSER_NOT_RUNNING", 3), ("BAD_REQUEST", 2)] {
        let refused = json!({ "success": false, "error": "It did not work.", "code": code, "ref": "e3" });
        let server = FakeServer::always(200, reply(refused.clone()));
        let ran = server.program().run(&["tool", "browser_click", "{\"ref\": \"e3\"}"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(exit), "error: It did not work.\n"), "{ran:?}");
        assert_eq!(ran.stdout, "", "the fields of a failure are shown with --json only");
        let ran = server.program().run(&["tool", "browser_click", "{}", "--json"]);
        assert_eq!((ran.code, ran.json()), (Some(exit), refused));
    }
    let gate = json!({ "ok": false, "code": "UNAUTHORIZED", "error": "Show the token." });
    let server = FakeServer::always(401, gate);
    let ran = server.program().run(&["tool", "browser_click", "{}", "--json"]);
    assert_eq!((ran.code, &ran.json()["code"]), (Some(3), &json!("UNAUTHORIZED")), "{ran:?}");
    // Something that is no server of ours.
    let server = FakeServer::always(200, json!({ "hello": 1 }));
    assert_eq!(server.program().run(&["tool", "browser_click", "{}"]).code, Some(3));
}

#[test]
fn an_image_result_is_saved() {
    let server = FakeServer::new(|_| {
        let result = json!({
            "content": [{ "type": "text", "text": "{}" }, { "type": "image", "mimeType": "image/png", "data": "cGljdHVyZQ==" }],
            "structuredContent": { "success": true, "width": 2 },
        });
        (200, answered(result).to_string())
    });
    let program = server.program();
    let ran = program.run(&["tool", "browser_screenshot"]);
    let path = ran.stdout.lines().find_map(|line| line.strip_prefix("image: ")).unwrap_or_else(|| panic!("{ran:?}"));
    assert!(
        path.starts_with(program.temp.path().join("home/media").to_str().unwrap()) && path.ends_with(".png"),
        "{path}"
    );
    assert_eq!(fs::read(path).unwrap(), b"picture");
    let output = program.run(&["tool", "browser_screenshot", "--json"]).json();
    assert!(output["pictures"][0].as_str().is_some_and(|path| fs::read(path).unwrap() == b"picture"), "{output}");
}

#[test]
fn invalid_arguments_show_an_example() {
    let server = FakeServer::always(200, reply(json!({ "success": true })));
    let program = server.program();
    for (arguments, named) in [("{\"ref\": e3}", "line 1 column 9"), ("[]", "not an object"), ("", "line 1 column 0")] {
        let ran = program.run(&["tool", "browser_click", arguments]);
        assert!(ran.code == Some(2) && ran.stderr.contains(named), "{arguments} {ran:?}");
        assert!(ran.stderr.contains("cdpilot tool browser_click '{\"ref\":\"e3\"}'"), "{ran:?}");
    }
    assert!(server.requested().is_empty());
    // Nothing on stdin is nothing to say.
    assert_eq!(program.run(&["tool", "browser_click", "-"]).code, Some(0));
    assert_eq!(server.requested()[0].body["params"]["arguments"], json!({}));
}

#[test]
fn an_unavailable_tool_reports_the_reason() {
    let server = FakeServer::new(|requested| {
        let fault =
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32602, "message": "there is no such tool" } });
        let tools = json!({ "tools": [{ "name": "browser_click", "description": "Click.", "inputSchema": {} }, { "name": "files_read", "description": "Reads.", "inputSchema": { "properties": { "path": { "type": "string" } }, "required": ["path"] } }] });
        match requested.body["method"].as_str() {
            Some("tools/list") => (200, answered(tools).to_string()),
            _ => (400, fault.to_string()),
        }
    });
    let program = server.program();
    fs::write(program.temp.path().join("home/config.yaml"), "tools: {disabled: [todo]}\n").unwrap();
    for (args, named) in [
        (&["browser_clik"][..], "did you mean browser_click?"),
        (&["todo"], "`cdpilot tools enable todo`"),
        (&["cronjob"], "MCP server"),
        (&["web_search"], "tools.search.url"),
        (&["browser_drag", "--toolsets", "web"], "not in the toolsets given by --toolsets (web)"),
        (&["no tool at all"], "there is no tool"),
    ] {
        let ran = program.run(&[&["tool"], args].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(named), "{args:?} {ran:?}");
    }
    // One that the server has of somebody else.
    let ran = program.run(&["tool", "files_read", "--schema"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("path  string  required"), "{ran:?}");
}

#[test]
fn tools_are_described_without_a_server() {
    let at = Homed::new(None);
    let text = at.does("tool browser_dialog --schema");
    for part in
        ["browser_dialog", "accept | dismiss", "required", "cdpilot tool browser_dialog '{\"action\":\"accept\"}'"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    let output = at.json("tool browser_click --help-schema");
    assert_eq!((&output["ok"], &output["schema"]["required"]), (&json!(true), &json!(["ref"])));
    assert!(at.does("tool").contains("browser_navigate"));
    let list = at.json("tool");
    let names: Vec<&str> = list["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"browser_click") && !names.contains(&"cronjob"), "{names:?}");
}

/// A file is in the folder that the command was typed in, wherever the browser's server is; an address is the server's.
#[test]
fn an_image_path_is_relative_to_the_working_directory() {
    let eyes = FakeModel::saying([ModelAnswer::text("a cat")]);
    let at = Homed::new(None);
    let models = json!({ "models": { "eyes": { "model": "m", "base_url": eyes.url() } } });
    fs::write(at.config.with_file_name("llm.json"), models.to_string()).unwrap();
    let folder = at.program.temp.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("cat.png"), b"\x89PNG\r\n\x1a\n0000").unwrap();
    let look = |image: &str| {
        let arguments = json!({ "image": image, "question": "What?" }).to_string();
        let mut command = at.program.command(&["tool", "vision_analyze", &arguments, "--json", "--no-autostart"]);
        command.current_dir(&folder).output().unwrap()
    };
    let file = look("cat.png");
    let output: Value = serde_json::from_slice(&file.stdout).unwrap_or_else(|_| panic!("{file:?}"));
    assert_eq!((file.status.code(), &output["analysis"]), (Some(0), &json!("a cat")), "{output}");
    assert_eq!(look("http://127.0.0.1:1/cat.png").status.code(), Some(3));
    assert_eq!(eyes.requested().len(), 1);
}

/// Each command is a process of its own; the browser stays.
#[cfg(unix)]
#[test]
fn consecutive_commands_share_one_browser() {
    use crate::cli_browser_real::{AtHome, reference};
    use crate::support::site::Site;

    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Shop</title><h1>Shop</h1><button onclick=\"out.textContent = confirm('Buy it?')\">Buy</button><p id=out>nothing");
    let tool = |name: &str, arguments: Value| {
        let ran = at.run(&["tool", name, &arguments.to_string(), "--json"]);
        assert_eq!((ran.code, &ran.json()["success"]), (Some(0), &json!(true)), "{name} {ran:?}");
        ran.json()
    };
    assert_eq!(at.run(&["tool", "browser_click", "{\"ref\": \"e1\"}", "--no-autostart"]).code, Some(3));
    let seen = tool("browser_navigate", json!({ "url": site.url("a", "/") }));
    let buy = reference(seen["snapshot"].as_str().unwrap(), "\"Buy\"");
    assert_eq!(tool("browser_click", json!({ "ref": buy }))["pending_dialogs"][0]["message"], "Buy it?");
    let blocked = at.run(&["tool", "browser_press", "{\"key\": \"Tab\"}"]);
    assert_eq!(blocked.code, Some(4), "{blocked:?}");
    tool("browser_dialog", json!({ "action": "accept" }));
    let text = at.run(&["tool", "browser_snapshot", "{\"full\": true}"]);
    assert!(text.stdout.contains("\nsnapshot:\n- heading \"Shop\""), "{text:?}");
    assert!(text.stdout.lines().any(|line| line.contains("true") && line.starts_with("- ")), "{text:?}");
    let shot = tool("browser_screenshot", json!({}));
    let path = PathBuf::from(shot["pictures"][0].as_str().unwrap_or_else(|| panic!("{shot}")));
    assert!(path.starts_with(at.home.media()) && fs::metadata(&path).unwrap().len() > 100, "{path:?}");
    // What is turned off is off for the server that runs, at once.
    assert_eq!(at.run(&["tools", "disable", "browser_press"]).code, Some(0));
    let off = at.run(&["tool", "browser_press", "{\"key\": \"Tab\"}"]);
    assert!(off.code == Some(2) && off.stderr.contains("off for cli"), "{off:?}");
    assert_eq!(at.run(&["tools", "enable", "browser_press"]).code, Some(0));
    tool("browser_press", json!({ "key": "Tab" }));
}

/// Its server here is the program itself.
#[test]
fn tools_of_mcp_servers_can_be_named() {
    let at = Homed::new(None);
    let other = at.program.temp.path().join("other");
    let settings = json!({ "mcp_servers": { "other": {
        "command": env!("CARGO_BIN_EXE_cdpilot"),
        "args": ["mcp", "--toolsets", "todo"],
        "env": { "CDPILOT_HOME": other.to_str().unwrap(), "CDPILOT_NO_AUTOSTART": "1" },
    } } });
    fs::write(&at.config, format!("{settings}\n")).unwrap();
    assert_eq!(at.tool("cli", "mcp-other")["available"], false);
    let output = at.json("tools list --servers");
    let tools = output["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["toolset"] == "mcp-other").unwrap_or_else(|| panic!("{output}"));
    assert_eq!((&tool["name"], &tool["on"], &tool["available"]), (&json!("other_todo"), &json!(false), &json!(true)));
    at.does("tools enable other_todo --platform mcp");
    assert_eq!(at.choices()["platforms"]["mcp"]["toolsets"]["all"], json!(["cdpilot-mcp", "other_todo"]));
    let ran = at.run("tools disable other_tod");
    assert!(ran.code == Some(2) && ran.stderr.contains("did you mean other_todo?"), "{ran:?}");
}
