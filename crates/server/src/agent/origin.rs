//! Whether a conversation has read untrusted text, and from where.

use serde_json::Value;

use super::messages::{Entry, Kind, text_of};
use crate::llm::Role;
use crate::tools::Origins;

/// The origins of untrusted text in a conversation. What was condensed counts as untrusted.
pub(super) fn origins_read(entries: &[Entry]) -> Origins {
    let calls: Vec<_> = entries.iter().flat_map(|entry| &entry.message.tool_calls).collect();
    let mut read = Origins::default();
    for entry in entries {
        if entry.kind == Kind::Summary {
            read.push("an earlier part of the conversation".to_owned());
        }
        if entry.message.role == Role::Tool {
            let id = entry.message.tool_call_id.as_deref();
            let call = calls.iter().rev().find(|call| Some(&*call.id) == id);
            let result = serde_json::from_str::<Value>(&text_of(&entry.message)).unwrap_or_default();
            read.add(call.map_or("an unknown tool", |call| &*call.function.name), &result);
        }
    }
    read
}
