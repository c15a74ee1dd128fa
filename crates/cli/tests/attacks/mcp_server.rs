//! Attacks of an MCP server.

mod fake;
mod starts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use cdpilot::sync::Deadline;
use cdpilot_server::config::{Config, Home};
use cdpilot_server::control::Control;
use cdpilot_server::mcp::client::Servers;
use cdpilot_server::tools::{Outcome, Registry, Scope, Session, ToolContext, ToolError, Toolbox, ToolboxOptions};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::llm_endpoint::in_time;
use super::{Attack, Row, rows, run_all};
use crate::support::test_home::overrides;

/// The test that plays the servers.
const STAGE: &str = "attacks_of_an_mcp_server";
/// The settings of a server.
const KEY: &str = concat!("gh", "p_0123456789abcdefghijklmnopqrstuvwxyz");
const TOOLSET: &str = "mcp-evil";

/// The tools of a home, and those of a hostile server among them.
struct Target {
    // Field order: the servers end before their folder goes.
    _servers: Servers,
    registry: Arc<Registry>,
    scope: Scope,
    folder: TempDir,
}

const ATTACKS: &[Attack<Target>] = &[
    Attack {
        name: "gives tools the names of cdpilot's tools, hidden characters, slashes and two megabytes as names",
        witness: "the toolset that cdpilot's names belong to, and the characters of the other names",
        run: names,
    },
    Attack {
        name: "writes megabytes and hidden characters into descriptions and schemas",
        witness: "length and characters of the tool descriptions that a model gets",
        run: descriptions,
    },
    Attack {
        name: "describes arguments by schemas that refer to themselves, are no object, or are huge",
        witness: "schemas that are not one object of bounded size, and tools that cannot be called",
        run: schemas,
    },
    Attack {
        name: "returns megabytes, as text, as structure and as an error",
        witness: "the length of the result, and its mark as untrusted",
        run: large_results,
    },
    Attack {
        name: "writes an endless line, invalid UTF-8 and NUL",
        witness: "the next call, which must be answered",
        run: no_lines,
    },
    Attack {
        name: "sends 10,000 notifications, and reports changes of its tools all the time",
        witness: "the call meanwhile, and lists that are requested",
        run: floods,
    },
    Attack {
        name: "answers calls that were not sent yet, and one call twice",
        witness: "results of later calls",
        run: forges,
    },
    Attack {
        name: "requests sampling, elicitation, roots and tools from cdpilot",
        witness: "a result instead of an error",
        run: requests,
    },
    Attack {
        name: "sends requests with ids and methods of hundreds of kilobytes, to have them repeated",
        witness: "the longest line that cdpilot sends to it",
        run: echoes,
    },
    Attack {
        name: "returns its environment",
        witness: "variables that it was not given, and the key that it was given, in the result",
        run: environment,
    },
    Attack {
        name: "returns images that are invalid, of another type, too large or too many",
        witness: "images that are passed on",
        run: pictures,
    },
    Attack { name: "returns links to files", witness: "contents of the file in the result", run: links },
];

pub(super) fn listed() -> Vec<Row> {
    let mut all = rows(ATTACKS);
    all.extend(rows(starts::ATTACKS));
    all
}

#[test]
fn attacks_of_an_mcp_server() {
    if fake::play() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("ours.txt"), "what is in our file").unwrap();
    let evil = fake::server("all", folder.path());
    let config = json!({ "mcp_servers": { "evil": evil } }).to_string();
    let config = Config::parse(&config, Path::new("config.yaml")).unwrap();
    let control = Arc::new(Control::open(Home::at(folder.path().join("home")), config, overrides(None)).unwrap());
    let options = ToolboxOptions::new().workspace(work);
    let toolbox = Toolbox::open(&control, &options).unwrap();
    let registry = Arc::clone(toolbox.registry());
    let scope = toolbox.scope().clone();
    let target = Target { _servers: Servers::attach(&toolbox), registry, scope, folder };
    assert_eq!(target.registry.load(&BTreeSet::from([TOOLSET.to_owned()]), deadline()), []);
    // An honest call is answered: what fails below fails for the attack.
    assert_eq!(target.says("hello").unwrap(), "hello");
    run_all(&target, ATTACKS);
    run_all(&(), starts::ATTACKS);
}

fn deadline() -> Deadline<'static> {
    crate::support::soon()
}

/// Whether a text has a character that is not seen or changes how others are seen.
fn has_hidden(text: &str) -> bool {
    let is_hidden = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    text.contains(is_hidden)
}

impl Target {
    fn call(&self, name: &str, arguments: &Value) -> Result<Result<Outcome, ToolError>, String> {
        let (registry, scope, named) = (Arc::clone(&self.registry), self.scope.clone(), name.to_owned());
        let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
        in_time(name, move || {
            let session = Session::default();
            let call = ToolContext::new(&session, &scope, deadline());
            registry.call(&named, &call, arguments)
        })
    }

    /// The result of a tool, including errors.
    fn result(&self, name: &str, arguments: &Value) -> Result<Value, String> {
        Ok(match self.call(name, arguments)? {
            Ok(outcome) => outcome.to_value(),
            Err(error) => error.to_value(),
        })
    }

    /// What its honest tool returns.
    fn says(&self, text: &str) -> Result<String, String> {
        let result = self.result("say", &json!({ "text": text }))?;
        result["text"].as_str().map(ToOwned::to_owned).ok_or_else(|| result.to_string())
    }

    /// Whether it still responds.
    fn is_sane(&self) -> Result<(), String> {
        for number in 0..3 {
            let text = format!("answer {number}");
            let said = self.says(&text)?;
            if said != text {
                return Err(format!("{text:?} was answered with {said:.200}"));
            }
        }
        Ok(())
    }

    /// Its tools.
    fn tools(&self) -> BTreeMap<String, cdpilot_server::tools::Tool> {
        let all = self.registry.all().into_iter().filter(|(_, set)| **set == *TOOLSET);
        all.map(|(name, _)| (name.to_string(), self.registry.get(&name).unwrap())).collect()
    }
}

fn names(target: &Target) -> Result<(), String> {
    let tools = target.tools();
    assert!(tools.contains_key("evil_read_file") && tools.contains_key("dup"), "{:?}", tools.keys());
    for ours in fake::OURS {
        if tools.contains_key(ours) {
            return Err(format!("{ours} is the server's"));
        }
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if let Some(name) = tools.keys().find(|name| name.is_empty() || name.len() > 64 || !name.chars().all(plain)) {
        return Err(format!("{name:?}"));
    }
    let result = target.result("read_file", &json!({ "path": "ours.txt" }))?.to_string();
    if result.contains("what is in our file") { Ok(()) } else { Err(result) }
}

fn descriptions(target: &Target) -> Result<(), String> {
    let tools = target.tools();
    assert!(tools["instructs"].description.contains("Ignore"), "{}", tools["instructs"].description);
    for (name, tool) in &tools {
        let length = tool.description.chars().count();
        if length > 1_100 || has_hidden(&tool.description) {
            return Err(format!("{name}: {length} characters: {:?}", tool.description));
        }
        let mut texts = vec![&*tool.schema];
        while let Some(value) = texts.pop() {
            match value {
                Value::String(text) if has_hidden(text) => return Err(format!("{name}: {text:?}")),
                Value::Array(all) => texts.extend(all),
                Value::Object(fields) => texts.extend(fields.values()),
                _ => {}
            }
        }
    }
    Ok(())
}

fn schemas(target: &Target) -> Result<(), String> {
    let tools = target.tools();
    for name in ["circle", "odd", "deep", "large"] {
        let schema = &tools[name].schema;
        let size = schema.to_string().len();
        if schema["type"] != "object" || !schema["properties"].is_object() || size > 33 * 1024 {
            return Err(format!("{name}: {size} bytes: {:.200}", schema.to_string()));
        }
        let result = target.result(name, &json!({}))?;
        if result["text"] != name {
            return Err(result.to_string());
        }
    }
    Ok(())
}

fn large_results(target: &Target) -> Result<(), String> {
    for how in ["text", "lines", "structure", "error", "fault", "parts"] {
        let result = target.result("big", &json!({ "text": how }))?;
        let size = result.to_string().len();
        if size > 60_000 || !result["untrusted"].is_string() {
            return Err(format!("{how}: {size} bytes, untrusted: {}", result["untrusted"]));
        }
        if result.to_string().contains(KEY) {
            return Err(format!("{how}: the key is in it"));
        }
    }
    target.is_sane()
}

fn no_lines(target: &Target) -> Result<(), String> {
    for how in ["endless", "bytes", "nul", "surrogate", "bom", "returns", "array", "number", "deep"] {
        let result = target.result("noise", &json!({ "text": how }))?;
        assert!(result.is_object(), "{result}");
        target.is_sane().map_err(|problem| format!("after {how}: {problem}"))?;
    }
    Ok(())
}

fn floods(target: &Target) -> Result<(), String> {
    let lists = || fake::noted(target.folder.path(), "tools/list").len();
    let before = lists();
    let result = target.result("flood", &json!({ "text": "done" }))?;
    if result["text"] != "done" {
        return Err(result.to_string());
    }
    target.is_sane()?;
    let lists = lists() - before;
    if lists <= 10 { Ok(()) } else { Err(format!("{lists} lists were requested")) }
}

fn forges(target: &Target) -> Result<(), String> {
    let result = target.result("forge", &json!({ "text": "mine" }))?;
    if result["text"] != "mine" {
        return Err(result.to_string());
    }
    target.is_sane()
}

fn requests(target: &Target) -> Result<(), String> {
    for method in [
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "tools/call",
        "tools/list",
        "resources/read",
        "completion/complete",
        "logging/setLevel",
        "initialize",
    ] {
        let result = target.result("ask", &json!({ "text": method }))?;
        let reply: Value = serde_json::from_str(result["text"].as_str().unwrap_or_default()).unwrap_or_default();
        if !reply["error"].is_object() || !reply["result"].is_null() {
            return Err(format!("{method}: {result}"));
        }
    }
    target.is_sane()
}

fn echoes(target: &Target) -> Result<(), String> {
    let result = target.result("echoes", &json!({}))?;
    let longest: usize =
        result["text"].as_str().and_then(|text| text.parse().ok()).ok_or_else(|| result.to_string())?;
    if longest <= 10_000 { target.is_sane() } else { Err(format!("a line of {longest} bytes")) }
}

fn environment(target: &Target) -> Result<(), String> {
    let result = target.result("env", &json!({}))?["text"].as_str().unwrap_or_default().to_owned();
    let passed =
        ["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", "EVIL_KEY", "PWD"];
    let is_known = |name: &str| passed.contains(&name) || name.starts_with("LC_") || name.starts_with("HOSTILE_MCP");
    let named: Vec<&str> = result.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert!(named.contains(&"EVIL_KEY"), "{result}");
    assert!(std::env::vars().any(|(name, _)| !is_known(&name)), "there is nothing of ours to be kept from it");
    if result.contains(KEY) {
        return Err("the key is in it".to_owned());
    }
    match named.into_iter().find(|name| !is_known(name) && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')) {
        None => Ok(()),
        Some(name) => Err(format!("it has {name}")),
    }
}

fn pictures(target: &Target) -> Result<(), String> {
    let outcome = target.call("pictures", &json!({}))?.map_err(|error| error.message)?;
    let kinds: BTreeSet<&str> = outcome.images.iter().map(|image| image.media_type).collect();
    let is_png = |bytes: &[u8]| bytes.starts_with(b"\x89PNG\r\n\x1a\n");
    let all_png = outcome.images.iter().all(|image| is_png(&image.bytes) && image.bytes.len() < 1000);
    // PNG files, whatever media type the server declares.
    if all_png && kinds == BTreeSet::from(["image/png"]) && outcome.images.len() <= 8 {
        return Ok(());
    }
    Err(format!("{kinds:?}, {} pictures", outcome.images.len()))
}

fn links(target: &Target) -> Result<(), String> {
    let secret = target.folder.path().join("secret");
    std::fs::write(&secret, "contents of a file").unwrap();
    let result = target.result("link", &json!({ "text": secret.display().to_string() }))?.to_string();
    assert!(result.contains("file://"), "{result}");
    if result.contains("contents of a file") { Err(result) } else { Ok(()) }
}
