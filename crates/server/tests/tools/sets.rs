//! Toolsets: which tools each resolves to, and which are enabled.

use crate::support::tool_workspace::no_scope;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use cdpilot::ErrorKind;
use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Home};
use cdpilot_server::control::{Control, Overrides};
use cdpilot_server::tools::toolsets::{DEFINED, Enabled, Kind, Problem, Toolsets};
use cdpilot_server::tools::{
    Outcome, Registry, RegistryError, Session, Source, Tool, ToolContext, ToolError, Toolbox, ToolboxOptions,
};
use serde_json::{Map, Value, json};

fn tool(name: &str) -> Tool {
    Tool::of::<Value, _>(name, "For tests.", |_, response| Ok(Outcome::default().with("told", response)))
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Toolsets over a registry in which there are `registered`, and custom ones.
fn toolsets(registered: &[(&str, &str)], custom: &[(&str, &[&str])]) -> (Arc<Registry>, Toolsets) {
    let registry = Arc::new(Registry::new());
    for (toolset, name) in registered {
        registry.register(toolset, tool(name)).unwrap();
    }
    let custom =
        custom.iter().map(|(name, parts)| ((*name).to_owned(), parts.iter().map(|p| (*p).to_owned()).collect()));
    let toolsets = Toolsets::new(Arc::clone(&registry), custom.collect::<BTreeMap<_, _>>());
    (registry, toolsets)
}

const FILE: [&str; 4] = ["patch", "read_file", "search_files", "write_file"];
const SEED_BROWSER: [&str; 13] = [
    "browser_back",
    "browser_cdp",
    "browser_click",
    "browser_console",
    "browser_dialog",
    "browser_get_images",
    "browser_navigate",
    "browser_press",
    "browser_scroll",
    "browser_snapshot",
    "browser_type",
    "browser_vision",
    "web_search",
];

#[test]
fn each_toolset_resolves_to_its_tools() {
    let (_, toolsets) = toolsets(&[], &[]);
    let plain: [(&str, &[&str]); 22] = [
        ("clarify", &["clarify", "please_help_me"]),
        ("code_execution", &["execute_code"]),
        ("cronjob", &["cronjob"]),
        ("delegation", &["delegate_task"]),
        ("feishu_doc", &["feishu_doc_read"]),
        (
            "feishu_drive",
            &[
                "feishu_drive_add_comment",
                "feishu_drive_list_comment_replies",
                "feishu_drive_list_comments",
                "feishu_drive_reply_comment",
            ],
        ),
        ("file", &FILE),
        ("homeassistant", &["ha_call_service", "ha_get_state", "ha_list_entities", "ha_list_services"]),
        ("image_gen", &["image_generate"]),
        ("memory", &["memory"]),
        ("messaging", &["send_message"]),
        ("moa", &["mixture_of_agents"]),
        (
            "rl",
            &[
                "rl_check_status",
                "rl_edit_config",
                "rl_get_current_config",
                "rl_get_results",
                "rl_list_environments",
                "rl_list_runs",
                "rl_select_environment",
                "rl_start_training",
                "rl_stop_training",
                "rl_test_inference",
            ],
        ),
        ("search", &["web_search"]),
        ("session_search", &["session_search"]),
        ("skills", &["skill_manage", "skill_view", "skills_list"]),
        ("terminal", &["process", "terminal"]),
        ("todo", &["todo"]),
        ("tts", &["text_to_speech"]),
        ("vision", &["vision_analyze"]),
        ("web", &["web_extract", "web_search"]),
        (
            "debugging",
            &["patch", "process", "read_file", "search_files", "terminal", "web_extract", "web_search", "write_file"],
        ),
    ];
    for (name, tools) in plain {
        let resolved = toolsets.resolve(name);
        assert_eq!((resolved.tools, resolved.problems.len()), (set(tools), 0), "{name}");
    }
    assert_eq!(toolsets.resolve("safe").tools, set(&["image_generate", "vision_analyze", "web_extract", "web_search"]));
    let browser = toolsets.resolve("browser").tools;
    assert!(browser.is_superset(&set(&SEED_BROWSER)), "{browser:?}");
    assert!(browser.iter().all(|tool| tool.starts_with("browser_") || tool == "web_search"));

    let cli = toolsets.resolve("cdpilot-cli").tools;
    for absent in ["rl_list_runs", "mixture_of_agents", "feishu_doc_read"] {
        assert!(!cli.contains(absent), "{absent}");
    }
    let without = |gone: &[&str]| cli.difference(&set(gone)).cloned().collect::<BTreeSet<_>>();
    let home = ["ha_call_service", "ha_get_state", "ha_list_entities", "ha_list_services"];
    let mut dropped = vec!["clarify", "please_help_me", "send_message", "text_to_speech"];
    assert_eq!(toolsets.resolve("cdpilot-api-server").tools, without(&dropped));
    dropped.extend(["cronjob", "image_generate"]);
    dropped.extend(home);
    assert_eq!(toolsets.resolve("cdpilot-acp").tools, without(&dropped));
    for messenger in
        ["telegram", "discord", "slack", "email", "sms", "homeassistant", "webhook", "wecom-callback", "gateway"]
    {
        assert_eq!(toolsets.resolve(&format!("cdpilot-{messenger}")).tools, cli, "{messenger}");
    }
}

#[test]
fn built_in_toolsets_are_consistent() {
    let (_, toolsets) = toolsets(&[], &[]);
    let mut names = BTreeSet::new();
    for defined in DEFINED {
        assert!(names.insert(defined.name), "{} is there twice", defined.name);
        assert!(!defined.description.is_empty());
        assert!(!defined.tools.is_empty() || !defined.includes.is_empty());
        let bundles = !defined.includes.is_empty();
        assert!(
            if defined.kind == Kind::Core { !bundles } else { bundles || defined.name == "cdpilot-mcp" },
            "{}",
            defined.name
        );
        assert!(
            defined.includes.iter().all(|name| DEFINED.iter().any(|other| other.name == *name)),
            "{}",
            defined.name
        );
        assert!(toolsets.resolve(defined.name).problems.is_empty(), "{}", defined.name);
    }
}

#[test]
fn toolset_cycles_are_reported() {
    let (_, toolsets) =
        toolsets(&[], &[("a", &["b", "todo"]), ("b", &["c"]), ("c", &["a", "file"]), ("self", &["self", "web"])]);
    let resolved = toolsets.resolve("a");
    let tools: BTreeSet<String> = set(&FILE).into_iter().chain(set(&["todo"])).collect();
    assert_eq!(resolved.tools, tools, "what else there is in it counts");
    let cycle = |path: &[&str]| Problem::Cycle { path: path.iter().map(|name| (*name).to_owned()).collect() };
    assert_eq!(resolved.problems, BTreeSet::from([cycle(&["a", "b", "c", "a"])]));
    assert_eq!(resolved.problems.first().unwrap().to_string(), "the toolset a includes itself: a → b → c → a");
    assert_eq!(toolsets.resolve("self").problems, BTreeSet::from([cycle(&["self", "self"])]));
    // Two ways to the same are none.
    let (_, toolsets) = self::toolsets(&[], &[("top", &["left", "right"]), ("left", &["file"]), ("right", &["file"])]);
    assert_eq!((toolsets.resolve("top").tools, toolsets.resolve("top").problems.len()), (set(&FILE), 0));
}

#[test]
fn unknown_toolset_names_are_ignored_and_reported() {
    let (_, toolsets) = toolsets(&[("plug", "plug_do")], &[("mine", &["fiel", "todo"])]);
    let resolved = toolsets.resolve("mine");
    assert_eq!(resolved.tools, set(&["todo"]));
    assert_eq!(
        resolved.problems.first().unwrap().to_string(),
        "unknown toolset or tool \"fiel\"; did you mean \"file\"?"
    );
    assert!(toolsets.resolve("zzqqxx").tools.is_empty());
    for (name, known) in
        [("file", true), ("all", true), ("*", true), ("plug", true), ("mine", true), ("fiel", false), ("", false)]
    {
        assert_eq!(toolsets.is_known(name), known, "{name}");
    }
    assert_eq!(toolsets.resolve_all::<&str>(&[], &BTreeSet::new()).tools, set(&[]));
}

#[test]
fn legacy_tool_names_are_mapped() {
    let (_, toolsets) = toolsets(&[], &[]);
    for (name, ours) in
        [("hermes-telegram", "cdpilot-telegram"), ("hermes-cli", "cdpilot-cli"), ("hermes-gatewy", "cdpilot-gateway")]
    {
        let resolved = toolsets.resolve(name);
        let problem = resolved.problems.first().unwrap().to_string();
        assert!(problem.contains(&format!("did you mean {ours:?}?")), "{problem}");
        assert!(resolved.tools.is_empty());
    }
}

#[test]
fn the_toolset_all_contains_every_tool() {
    let (registry, toolsets) = toolsets(&[("mcp-git", "git_log"), ("plug", "plug_do")], &[("mine", &["git", "todo"])]);
    let all = toolsets.resolve("all");
    assert_eq!(all, toolsets.resolve("*"));
    for name in toolsets.names() {
        assert!(all.tools.is_superset(&toolsets.resolve(&name).tools), "{name}");
    }
    assert!(all.tools.contains("git_log") && all.tools.contains("plug_do"));
    assert_eq!(registry.all().len(), 2);
}

#[test]
fn toolsets_and_single_tools_are_combined() {
    let (_, toolsets) = toolsets(&[], &[]);
    let names = |names: &[&str]| toolsets.resolve_all(names, &BTreeSet::new()).tools;
    assert_eq!(names(&["web", "search", "web"]), set(&["web_extract", "web_search"]));
    assert_eq!(names(&["search", "read_file"]), set(&["read_file", "web_search"]));
}

#[test]
fn toolset_descriptions() {
    let (_, toolsets) = toolsets(&[("file", "file_extra")], &[]);
    let info = toolsets.info("file", true).unwrap();
    assert_eq!((info.tool_count, info.is_composite, info.includes.len()), (5, false, 0));
    assert_eq!(info.direct_tools, info.resolved_tools);
    let info = toolsets.info("file", false).unwrap();
    assert_eq!(info.direct_tools, set(&FILE), "as it is written, whatever was registered into it");
    let info = toolsets.info("debugging", true).unwrap();
    assert!(info.is_composite && info.direct_tools.is_empty() && info.tool_count == 9, "{info:?}");
    let info = toolsets.info("debugging", false).unwrap();
    assert_eq!((info.tool_count, info.resolved_tools.contains("file_extra")), (8, false), "its parts too");
    assert_eq!(toolsets.info("nothing", true), None);
    assert_eq!(toolsets.info("mcp-git", false), None);
}

#[test]
fn added_and_removed_tools_are_visible_at_once() {
    let (registry, toolsets) = toolsets(&[], &[]);
    assert!(!toolsets.is_known("git"));
    let before = registry.generation();
    registry.register("mcp-git", tool("git_log")).unwrap();
    assert!(registry.generation() > before);
    for name in ["mcp-git", "git"] {
        assert_eq!(toolsets.resolve(name).tools, set(&["git_log"]), "{name}");
        assert!(toolsets.is_known(name));
    }
    assert_eq!(toolsets.info("mcp-git", true).unwrap().description, "Tools of the MCP server git.");
    assert_eq!(registry.deregister("mcp-git"), 1);
    assert!(!toolsets.is_known("git") && toolsets.resolve("git").tools.is_empty());
}

#[test]
fn a_tool_of_another_toolset_is_not_replaced() {
    let (registry, _) = toolsets(&[("file", "read_file")], &[]);
    let taken = registry.register("plug", tool("read_file")).unwrap_err();
    assert_eq!(taken, RegistryError::Taken { name: "read_file".into(), toolset: "file".into() });
    registry.register("file", tool("read_file")).unwrap();
    for bad in ["", "with space", "ä", &"x".repeat(65)] {
        assert!(matches!(registry.register("plug", tool(bad)), Err(RegistryError::BadName { .. })), "{bad}");
    }
}

#[test]
fn a_disabled_toolset_removes_no_tool_of_others() {
    let (registry, toolsets) = toolsets(
        &[("browser", "browser_click"), ("browser", "web_search"), ("web", "web_extract"), ("todo", "todo")],
        &[],
    );
    let on = |sets: &[&str], off: &[&str]| {
        let enabled = Enabled::new(sets.iter().copied()).off(set(off));
        let names = enabled
            .tools(&toolsets, &registry, &no_scope())
            .iter()
            .map(|tool| tool.name.to_string())
            .collect::<BTreeSet<_>>();
        assert!(names.is_subset(&enabled.names(&toolsets).0));
        names
    };
    assert_eq!(on(&["cdpilot-cli"], &[]), set(&["browser_click", "todo", "web_extract", "web_search"]));
    assert_eq!(
        on(&["cdpilot-cli"], &["browser"]),
        set(&["todo", "web_extract", "web_search"]),
        "web has the search too"
    );
    assert_eq!(on(&["cdpilot-cli"], &["browser", "web"]), set(&["todo"]));
    assert_eq!(
        on(&["cdpilot-cli"], &["web_search"]),
        set(&["browser_click", "todo", "web_extract"]),
        "a tool is off everywhere"
    );
    assert_eq!(on(&["cdpilot-cli"], &["todo"]), set(&["browser_click", "web_extract", "web_search"]));
    assert_eq!(on(&["all"], &["cdpilot-cli", "cdpilot-acp"]).len(), 4, "a bundle that is off takes nothing with it");
    assert_eq!(on(&["browser", "cdpilot-cli"], &["cdpilot-cli"]), set(&["browser_click", "web_search"]));
    // A slip of the pen leaves on what should be off.
    let wrong = |off: &[&str]| {
        let enabled = Enabled::default().off(set(off));
        enabled.wrong_off(&toolsets).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(wrong(&["browser", "browser_click", "cdpilot-mcp", "memory", "terminal"]), Vec::<String>::new());
    let response = wrong(&["terminl"]);
    assert!(response.len() == 1 && response[0].contains("did you mean \"terminal\"?"), "{response:?}");
}

#[test]
fn tool_results_have_one_shape() {
    let (registry, _) = toolsets(&[("plug", "echo")], &[]);
    let (session, scope) = (Session::default(), no_scope());
    let call = ToolContext::new(&session, &scope, Deadline::after_secs(5));
    let response = registry.call("echo", &call, Map::from_iter([("a".to_owned(), json!(1))])).unwrap();
    assert_eq!(response.to_value(), json!({ "success": true, "told": { "a": 1 } }));
    let unknown = registry.call("ecco", &call, Map::new()).unwrap_err();
    assert_eq!(unknown.to_value()["code"], "UNKNOWN_TOOL");

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Takes {
        /// How many.
        count: u32,
        #[allow(dead_code)]
        name: Option<String>,
    }
    let when = |is_there: bool| {
        Tool::when::<Takes, _>(
            "take",
            "Takes.",
            move |_| is_there,
            |_, takes: Takes| {
                if takes.count > 9 {
                    return Err(ToolError::new(ErrorKind::Conflict, "too many").with("count", takes.count));
                }
                Ok(Outcome::default().with("count", takes.count))
            },
        )
    };
    registry.register("plug", when(true)).unwrap();
    let schema = &registry.get("take").unwrap().schema;
    assert_eq!(
        **schema,
        json!({
            "type": "object",
            "properties": { "count": { "description": "How many.", "type": "integer", "minimum": 0 }, "name": { "type": "string" } },
            "required": ["count"],
            "additionalProperties": false,
        })
    );
    let take = |arguments: Value| registry.call("take", &call, arguments.as_object().unwrap().clone());
    assert_eq!(take(json!({ "count": 3 })).unwrap().to_value(), json!({ "success": true, "count": 3 }));
    let refused = take(json!({ "count": 10 })).unwrap_err().to_value();
    assert_eq!(refused, json!({ "success": false, "error": "too many", "code": "CONFLICT", "count": 10 }));
    let wrong = take(json!({ "count": "x" })).unwrap_err();
    assert_eq!(wrong.code, ErrorKind::BadRequest);
    assert!(wrong.message.contains("count"), "{wrong}");
    registry.register("plug", when(false)).unwrap();
    assert_eq!(take(json!({ "count": 3 })).unwrap_err().code, ErrorKind::ToolUnavailable);
}

/// What can be meant in one way only is taken so; of anything else the field is named, what it takes, and never what was
/// given, which may be a password.
#[test]
fn arguments_are_coerced_from_the_forms_that_models_send() {
    #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Direction {
        Up,
        Down,
    }
    #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Part {
        r#ref: String,
        #[serde(default)]
        on: bool,
    }
    #[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Takes {
        /// What to type
        text: String,
        #[serde(default)]
        submit: bool,
        #[serde(default)]
        parts: Vec<Part>,
        #[serde(default)]
        names: Vec<String>,
        lines: Option<usize>,
        way: Option<Direction>,
        #[serde(default)]
        params: Map<String, Value>,
    }
    let (registry, _) = toolsets(&[], &[]);
    registry.register("plug", Tool::of("take", "Takes.", |_, takes: Takes| Outcome::of(&takes))).unwrap();
    let (session, scope) = (Session::default(), no_scope());
    let call = ToolContext::new(&session, &scope, Deadline::after_secs(5));
    let take = |arguments: &Value| registry.call("take", &call, arguments.as_object().unwrap().clone());
    for (name, given, taken) in [
        ("text", json!(42), json!("42")),
        ("submit", json!("True"), json!(true)),
        ("submit", json!(null), json!(false)),
        ("lines", json!("7"), json!(7)),
        ("lines", json!(7.0), json!(7)),
        ("lines", json!(null), json!(null)),
        ("way", json!("Down"), json!("down")),
        ("names", json!("green"), json!(["green"])),
        ("names", json!([2, "x"]), json!(["2", "x"])),
        ("names", json!("[\"a\", \"b\"]"), json!(["a", "b"])),
        ("names", json!(null), json!([])),
        ("parts", json!({ "ref": 3, "on": "false" }), json!([{ "ref": "3", "on": false }])),
        ("parts", json!("[{\"ref\": \"e1\"}]"), json!([{ "ref": "e1", "on": false }])),
        ("params", json!("{\"a\": 1}"), json!({ "a": 1 })),
    ] {
        let mut arguments = json!({ "text": "t" });
        arguments[name] = given.clone();
        assert_eq!(take(&arguments).unwrap().fields[name], taken, "{name}: {given}");
    }
    for (given, response) in [
        (json!({}), "text is missing; expected a string (What to type)"),
        (json!({ "text": null }), "text: expected a string (What to type), got null"),
        (json!({ "text": { "a": "hunter2" } }), "text: expected a string (What to type), got an object"),
        (json!({ "text": "t", "submit": "hunter2" }), "submit: expected true or false, got a string"),
        (json!({ "text": "t", "lines": "hunter2" }), "lines: expected a whole number, 0 or more, got a string"),
        (json!({ "text": "t", "lines": -1 }), "lines: expected a whole number, 0 or more"),
        (json!({ "text": "t", "lines": 1.5 }), "lines: expected a whole number, 0 or more, got a number"),
        (json!({ "text": "t", "way": "hunter2" }), "way: unknown value; use up or down"),
        (json!({ "text": "t", "parts": [{ "on": true }] }), "parts[0].ref is missing; expected a string"),
        (
            json!({ "text": "t", "parts": [{ "ref": "e1", "onn": true }] }),
            "unknown argument parts[0].onn; did you mean parts[0].on?",
        ),
        (
            json!({ "txt": "hunter2" }),
            "unknown argument txt; did you mean text? required: text; optional: lines, names",
        ),
        (json!({ "text": "t", "params": [1] }), "params: expected an object, got a list"),
    ] {
        let refused = take(&given).unwrap_err();
        assert_eq!(refused.code, ErrorKind::BadRequest, "{given}");
        let message = refused.message.strip_prefix("invalid arguments: ").unwrap();
        assert!(message.starts_with(response) && !message.contains("hunter2"), "{given}: {message}");
        assert!(["invalid type", "usize", "`"].iter().all(|word| !message.contains(word)), "{message}");
    }
}

/// Fields may have any name, and what may be left out is not `null` in a schema: strict model endpoints refuse that.
#[test]
fn compact_schemas_keep_every_field() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Direction {
        Up,
        Down,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Inner {
        /// Of the picture.
        format: Option<String>,
        way: Option<Direction>,
    }
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Takes {
        #[serde(rename = "type")]
        kind: Option<String>,
        format: String,
        default: Option<u32>,
        #[serde(rename = "enum")]
        of: Vec<Direction>,
        way: Option<Direction>,
        inner: Option<Inner>,
    }
    let tool = Tool::of::<Takes, _>("take", "Takes.", |_, _: Takes| Ok(Outcome::default()));
    let text = json!({ "type": "string" });
    let way = json!({ "type": "string", "enum": ["up", "down"] });
    let inner = json!({
        "type": "object",
        "properties": { "format": { "description": "Of the picture.", "type": "string" }, "way": way },
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "type": text, "format": text, "default": { "type": "integer", "minimum": 0 },
            "enum": { "type": "array", "items": way }, "way": way, "inner": inner,
        },
        "required": ["format", "enum"],
    });
    assert_eq!(*tool.schema, expected);
}

/// Tools that come when they are asked for, or do not.
struct Elsewhere {
    toolset: &'static str,
    registry: Weak<Registry>,
    brings: Option<&'static str>,
    requested: AtomicUsize,
}

impl Source for Elsewhere {
    fn toolset(&self) -> &str {
        self.toolset
    }

    fn load(&self, _: Deadline<'_>) -> Result<(), ToolError> {
        self.requested.fetch_add(1, Ordering::Relaxed);
        let Some(name) = self.brings else { return Err(ToolError::new(ErrorKind::McpServerGone, "it does not start")) };
        self.registry.upgrade().unwrap().register(self.toolset, tool(name)).unwrap();
        Ok(())
    }
}

#[test]
fn tools_of_mcp_servers_are_enabled_by_their_toolset() {
    let (registry, toolsets) = toolsets(&[("todo", "todo")], &[("mine", &["git", "todo"])]);
    let source = |toolset: &'static str, brings| {
        let registry_ = Arc::downgrade(&registry);
        let source = Arc::new(Elsewhere { toolset, registry: registry_, brings, requested: AtomicUsize::new(0) });
        registry.add_source(Arc::clone(&source) as Arc<dyn Source>);
        source
    };
    let before = registry.generation();
    let (git, broken) = (source("mcp-git", Some("git_log")), source("mcp-broken", None));
    assert!(registry.generation() > before);
    for name in ["mcp-git", "git", "mcp-broken"] {
        assert!(toolsets.is_known(name) && toolsets.resolve(name).problems.is_empty(), "{name}");
    }
    assert_eq!(toolsets.info("mcp-git", false), None);
    let load = |names: &[&str], off: &[&str]| {
        let on = Enabled::new(names.iter().copied()).off(set(off));
        let failed = on.load(&toolsets, &registry, Deadline::after_secs(5));
        let tools: BTreeSet<String> =
            on.tools(&toolsets, &registry, &no_scope()).iter().map(|tool| tool.name.to_string()).collect();
        (failed, tools)
    };
    assert_eq!(load(&["todo"], &[]), (Vec::new(), set(&["todo"])));
    for name in ["mcp-git", "git"] {
        assert_eq!(load(&["mine"], &[name]), (Vec::new(), set(&["todo"])), "off by either name");
    }
    assert_eq!(git.requested.load(Ordering::Relaxed), 0, "nobody asked for them");
    assert_eq!(load(&["mine"], &[]), (Vec::new(), set(&["git_log", "todo"])));
    let (failed, tools) = load(&["all"], &[]);
    assert_eq!((failed.len(), failed[0].0.as_str(), failed[0].1.code), (1, "mcp-broken", ErrorKind::McpServerGone));
    assert_eq!(tools, set(&["git_log", "todo"]), "one that fails takes nothing from the others");
    assert_eq!((git.requested.load(Ordering::Relaxed), broken.requested.load(Ordering::Relaxed)), (2, 1));
}

#[test]
fn settings_select_the_enabled_tools() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path().join("home"));
    let config = "toolsets: [todo, mine]
custom_toolsets: {mine: [browser_click, safe]}
tools:
  disabled: [web_extract]
  platforms:
    mcp: {disabled: [browser_tabs]}
    acp: {toolsets: [file]}
";
    let config = Config::parse(config, &home.config()).unwrap();
    let control = Arc::new(Control::open(home, config, Overrides::default()).unwrap());
    let toolbox = Toolbox::open(&control, &ToolboxOptions::default()).unwrap();
    let on = |platform: &str, session: &[&str]| {
        let session: Vec<String> = session.iter().map(|name| (*name).to_owned()).collect();
        toolbox.enabled(platform, &session).names(toolbox.toolsets()).0
    };
    assert_eq!(on("cli", &[]), set(&["browser_click", "image_generate", "todo", "vision_analyze", "web_search"]));
    assert_eq!(on("acp", &[]), set(&FILE));
    let mcp = on("mcp", &[]);
    assert!(mcp.len() == 11 && mcp.contains("browser_click") && !mcp.contains("browser_tabs"), "{mcp:?}");
    assert!(on("telegram", &[]).contains("send_message"), "the platform's own");
    assert_eq!(on("unheard-of", &[]), on("cli", &[]));
    assert_eq!(on("cli", &["web"]), set(&["web_search"]), "what is off is off for a session too");
    assert_eq!(on("mcp", &["browser_tabs", "todo"]), set(&["todo"]));
    let names: BTreeSet<_> = toolbox.registry().all().into_iter().map(|(name, _)| name.to_string()).collect();
    assert!(toolbox.toolsets().resolve("cdpilot-mcp").tools.is_subset(&names), "all of the twelve are there");
    assert!(
        toolbox
            .enabled("mcp", &[])
            .tools(toolbox.toolsets(), toolbox.registry(), toolbox.scope())
            .iter()
            .all(|tool| &*tool.name != "browser_dialog")
    );
}
