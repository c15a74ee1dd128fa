//! Converts the tools of a server: unique names, bounded descriptions, schemas of one object. All of it is untrusted
//! content.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::config::McpTools;
use crate::tools::Registry;
use crate::tools::toolsets::DEFINED;
use cdpilot::text::{is_hidden, shown};

/// Maximum length of a tool name, in characters, as in the registry.
const NAME: usize = 64;
/// Maximum length of the server's own tool name, in bytes. Tools with longer names are skipped.
const OWN_NAME: usize = 1024;
/// Maximum length of a description, in characters.
const DESCRIPTION: usize = 1000;
/// Maximum size of a schema, in bytes; a larger one is omitted.
const SCHEMA: usize = 32 * 1024;
/// Keywords of a schema whose text is a value and must not be changed.
const VALUES: [&str; 4] = ["const", "default", "pattern", "$ref"];
/// Keywords that combine schemas.
const UNIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Toolsets reserved for cdpilot: a server's tool never replaces one of theirs, even while it is not registered. Other
/// toolsets are open: a server's `ha_get_state` is part of `homeassistant`.
const OURS: [&str; 8] = ["browser", "clarify", "file", "search", "terminal", "todo", "vision", "web"];

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listed {
    /// The server's own name of the tool.
    pub(super) own: String,
    /// The registered name.
    pub(super) name: String,
    /// The description.
    pub(super) description: String,
    /// The schema of the arguments.
    pub(super) schema: Value,
    /// Whether the server says that it changes nothing.
    pub(super) read_only: bool,
}

/// The tools of a server that its settings include, under unique names. Skipped tools are logged.
pub(super) fn listed(server: &str, tools: &[Value], settings: &McpTools, registry: &Registry) -> Vec<Listed> {
    let toolset = super::toolset(server);
    let ours = DEFINED.iter().filter(|set| OURS.contains(&set.name));
    let mut taken: BTreeSet<String> = ours.flat_map(|set| set.tools).map(|tool| (*tool).to_owned()).collect();
    taken.extend(registry.all().into_iter().filter(|(_, set)| **set != *toolset).map(|(tool, _)| tool.to_string()));
    let mut all: Vec<Listed> = Vec::new();
    for tool in tools {
        let Some(own) = tool["name"].as_str().filter(|name| !name.is_empty()) else {
            tracing::warn!(server, "a tool of an MCP server has no name");
            continue;
        };
        if own.len() > OWN_NAME {
            tracing::warn!(server, bytes = own.len(), "a tool of an MCP server is left out: its name is too long");
            continue;
        }
        let is_known = all.iter().any(|listed| listed.own == own);
        if is_known || !is_let_in(own, settings) {
            continue;
        }
        let candidates = [fitted(own), fitted(&format!("{server}_{own}"))];
        let Some(name) = candidates.into_iter().find(|name| !taken.contains(name)) else {
            tracing::warn!(server, tool = own, "a tool of an MCP server is left out: its names are taken");
            continue;
        };
        if name != own {
            tracing::info!(server, tool = own, name, "a tool of an MCP server is registered under another name");
        }
        taken.insert(name.clone());
        all.push(Listed {
            own: own.to_owned(),
            name,
            description: described(tool),
            schema: schema(&tool["inputSchema"]),
            read_only: tool["annotations"]["readOnlyHint"] == true,
        });
    }
    let names: BTreeSet<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    for missing in settings.include.iter().filter(|wanted| !names.contains(wanted.as_str())) {
        tracing::warn!(server, tool = missing, "an MCP server has no tool that its settings include");
    }
    all
}

/// Whether the settings include a tool; `include` takes precedence over `exclude`.
pub(super) fn is_let_in(own: &str, settings: &McpTools) -> bool {
    let names = |list: &[String]| list.iter().any(|name| name == own);
    if settings.include.is_empty() { !names(&settings.exclude) } else { names(&settings.include) }
}

/// Converts a name to a valid one: a hidden character becomes its code point, any other invalid one an underscore.
fn fitted(name: &str) -> String {
    let mut fitted = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => fitted.push(c),
            c if is_hidden(c) => fitted.push_str(&format!("_u{:04x}_", u32::from(c))),
            _ => fitted.push('_'),
        }
    }
    fitted.truncate(NAME);
    fitted
}

/// The description of a tool in whole sentences, with hidden characters escaped.
fn described(tool: &Value) -> String {
    let text = [&tool["description"], &tool["title"], &tool["annotations"]["title"]];
    let text = text.into_iter().find_map(Value::as_str).unwrap_or_default();
    shortened(shown(text.trim()).as_ref(), DESCRIPTION)
}

/// The first sentences of a text; if the first one is too long, its first words.
fn shortened(text: &str, most: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(most) else { return text.to_owned() };
    let cut = text.get(..end).unwrap_or_default();
    let mut sentences = cut.match_indices(['.', '!', '?', '\n']).filter(|(at, _)| {
        let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
        next.is_none_or(char::is_whitespace)
    });
    match sentences.next_back() {
        Some((at, _)) => cut.get(..=at).unwrap_or_default().trim_end().to_owned(),
        None => format!("{}…", cut.rsplit_once(char::is_whitespace).map_or(cut, |(words, _)| words)),
    }
}

/// Converts a schema to one object without combined schemas at its top: their properties are merged. The server
/// validates the arguments itself; this schema is for models.
fn schema(given: &Value) -> Value {
    let mut top = given.as_object().cloned().unwrap_or_default();
    for _ in 0..8 {
        let Some(target) = top.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#')) else {
            break;
        };
        let Some(Value::Object(target)) = given.pointer(target).cloned() else { break };
        top.remove("$ref");
        for (key, value) in target {
            top.entry(key).or_insert(value);
        }
    }
    for union in UNIONS {
        if let Some(Value::Array(branches)) = top.remove(union) {
            branches.iter().for_each(|branch| join(&mut top, branch, union == "allOf", given));
        }
    }
    for key in ["$schema", "$id", "title", "description", "$ref", "not", "if", "then", "else", "format"] {
        top.remove(key);
    }
    top.insert("type".to_owned(), json!("object"));
    if !top.get("properties").is_some_and(Value::is_object) {
        top.insert("properties".to_owned(), json!({}));
    }
    let mut schema = Value::Object(top);
    show_hidden(&mut schema);
    if schema.to_string().len() > SCHEMA {
        tracing::warn!(bytes = schema.to_string().len(), "a schema of an MCP server is too large to be shown");
        return json!({ "type": "object", "properties": {} });
    }
    schema
}

/// Escapes hidden characters in the texts of a schema. Names and values stay: calls need them.
fn show_hidden(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(show_hidden),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(_) if VALUES.contains(&name.as_str()) => {}
                    Value::String(text) => *text = shown(text).into_owned(),
                    value => show_hidden(value),
                }
            }
        }
        _ => {}
    }
}

/// Merges the properties of a combined schema; its required ones only if all combined schemas apply.
fn join(top: &mut Map<String, Value>, branch: &Value, all_count: bool, root: &Value) {
    let target = branch["$ref"].as_str().and_then(|path| root.pointer(path.strip_prefix('#')?));
    let branch = target.unwrap_or(branch);
    if let Some(more) = branch["properties"].as_object() {
        let properties = top.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            for (key, value) in more {
                properties.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
    }
    if let Some(more) = branch["required"].as_array().filter(|_| all_count) {
        let required = top.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(required) = required {
            for name in more {
                if !required.contains(name) {
                    required.push(name.clone());
                }
            }
        }
    }
    // A combined schema may forbid the properties of the others.
    top.remove("additionalProperties");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tools::{Handler, Outcome, Tool, ToolContext, ToolError};

    struct Nothing;

    impl Handler for Nothing {
        fn call(&self, _: &ToolContext<'_>, _: Map<String, Value>) -> Result<Outcome, ToolError> {
            Ok(Outcome::default())
        }
    }

    fn names(tools: &[&str], settings: &McpTools, registry: &Registry) -> Vec<(String, String)> {
        let tools: Vec<Value> = tools.iter().map(|name| json!({ "name": name })).collect();
        let all = listed("my.files", &tools, settings, registry).into_iter();
        all.map(|tool| (tool.own, tool.name)).collect()
    }

    #[test]
    fn names_that_are_taken_get_the_servers_name_before_them() {
        let registry = Registry::new();
        let tool = |name: &str| Tool::new(name, "", json!({}), Arc::new(Nothing));
        registry.register("mcp-other", tool("search")).unwrap();
        registry.register("mcp-my.files", tool("mine")).unwrap();
        let all = ["mine", "search", "browser_click", "write_file", "ha_get_state", "a.b", "a_b", "a:b", "", "mine"];
        let actual = names(&all, &McpTools::default(), &registry);
        let expected = [
            ("mine", "mine"),
            ("search", "my_files_search"),
            // Also reserved tools that are not registered at the moment.
            ("browser_click", "my_files_browser_click"),
            ("write_file", "my_files_write_file"),
            ("ha_get_state", "ha_get_state"),
            ("a.b", "a_b"),
            ("a_b", "my_files_a_b"),
        ];
        assert_eq!(actual, expected.map(|(own, name)| (own.to_owned(), name.to_owned())), "a:b has no name left");
        let long = "x".repeat(100);
        assert_eq!(names(&[&long], &McpTools::default(), &registry), [(long.clone(), "x".repeat(64))]);
    }

    #[test]
    fn what_is_included_counts_more_than_what_is_excluded() {
        let of = |include: &[&str], exclude: &[&str]| {
            let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let settings = McpTools { include: list(include), exclude: list(exclude) };
            let actual = names(&["a", "b", "c"], &settings, &Registry::new());
            actual.into_iter().map(|(own, _)| own).collect::<Vec<_>>()
        };
        assert_eq!(of(&[], &[]), ["a", "b", "c"]);
        assert_eq!(of(&[], &["b"]), ["a", "c"]);
        assert_eq!(of(&["b", "nobody"], &["b", "c"]), ["b"]);
    }

    #[test]
    fn descriptions_end_with_a_sentence() {
        assert_eq!(shortened("Reads 1.5 files. Writes none.", 100), "Reads 1.5 files. Writes none.");
        assert_eq!(shortened("Reads 1.5 files. Writes none.", 20), "Reads 1.5 files.");
        assert_eq!(shortened("Reads 1.5 files. Writes none.", 12), "Reads 1.5…");
        assert_eq!(shortened("ääääää", 3), "äää…");
        assert_eq!(described(&json!({ "title": "A\u{1b}[31m" })), r"A\u{1b}[31m");
        assert_eq!(described(&json!({ "description": "Reads\u{202e} all\u{200b}." })), r"Reads\u{202e} all\u{200b}.");
        assert_eq!(fitted("re\u{202e}ad \u{e0041}é"), "re_u202e_ad__ue0041__");
        let long = described(&json!({ "description": "Ignore all that. ".repeat(200) }));
        assert!(long.len() <= DESCRIPTION && long.ends_with('.'), "{long}");
    }

    #[test]
    fn schemas_are_one_object_without_unions_at_the_top() {
        let plain = json!({ "type": "object", "properties": { "a": { "anyOf": [{ "type": "string" }] } } });
        assert_eq!(schema(&plain), plain);
        assert_eq!(schema(&Value::Null), json!({ "type": "object", "properties": {} }));
        let union = json!({
            "$schema": "x",
            "properties": { "a": { "type": "string" } },
            "additionalProperties": false,
            "required": ["a"],
            "oneOf": [{ "properties": { "b": { "type": "number" } }, "required": ["b"] }, { "$ref": "#/$defs/C" }],
            "allOf": [{ "properties": { "d": {} }, "required": ["d"] }],
            "$defs": { "C": { "properties": { "c": {} } } },
        });
        assert_eq!(
            schema(&union),
            json!({
                "type": "object",
                "properties": { "a": { "type": "string" }, "b": { "type": "number" }, "c": {}, "d": {} },
                "required": ["a", "d"],
                "$defs": { "C": { "properties": { "c": {} } } },
            })
        );
        let by_name = json!({ "$ref": "#/$defs/T", "$defs": { "T": { "type": "object", "properties": { "t": {} } } } });
        assert_eq!(schema(&by_name)["properties"], json!({ "t": {} }));
        let endless = json!({ "$ref": "#" });
        assert_eq!(schema(&endless), json!({ "type": "object", "properties": {} }));
        let large = json!({ "properties": { "a": { "description": "x".repeat(SCHEMA) } } });
        assert_eq!(schema(&large)["properties"], json!({}));
    }
}
