//! Whether a conversation has read untrusted text, and from where.

use serde_json::Value;
use url::Url;

use super::messages::{Entry, Kind, text_of};
use crate::llm::Role;

/// The tools that keep something for later conversations.
pub(super) const KEEPING: [&str; 2] = ["memory", "skill_manage"];
/// Tools whose results come from the program and its user.
const OWN: [&str; 8] =
    ["memory", "skills_list", "skill_manage", "todo", "clarify", "please_help_me", "request_host", "routine_step"];
/// Longest origin, in characters.
const MOST: usize = 200;

/// The origin of the newest untrusted text in a conversation: that of a page, else the name of the tool that returned it. What was
/// condensed counts as untrusted.
pub(super) fn origin_read(entries: &[Entry]) -> Option<String> {
    let calls: Vec<_> = entries.iter().flat_map(|entry| &entry.message.tool_calls).collect();
    let mut tool = None;
    for entry in entries.iter().rev() {
        if entry.kind == Kind::Summary {
            tool = tool.or_else(|| Some("an earlier part of the conversation".to_owned()));
        }
        if entry.message.role != Role::Tool {
            continue;
        }
        let id = entry.message.tool_call_id.as_deref();
        let call = calls.iter().rev().find(|call| Some(&*call.id) == id);
        let name = call.map_or("an unknown tool", |call| &*call.function.name);
        if OWN.contains(&name) {
            continue;
        }
        let result = serde_json::from_str::<Value>(&text_of(&entry.message)).unwrap_or_default();
        if let Some(origin) = result["url"].as_str().and_then(|url| Url::parse(url).ok()) {
            let origin = origin.origin().ascii_serialization();
            if origin != "null" {
                return Some(origin.chars().take(MOST).collect());
            }
        }
        tool = tool.or_else(|| Some(name.chars().take(MOST).collect()));
    }
    tool
}
