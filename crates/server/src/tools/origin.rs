//! Where the texts come from that a caller has read, for what it keeps for later.

use serde_json::Value;
use url::Url;

/// The tools that keep something for later conversations.
pub(crate) const KEEPING: [&str; 2] = ["memory", "skill_manage"];
/// Tools whose results come from the program and its user.
const OWN: [&str; 8] =
    ["memory", "skills_list", "skill_manage", "todo", "clarify", "please_help_me", "request_host", "routine_step"];
/// The tool that returns skills of people and others.
const SKILL_VIEW: &str = "skill_view";
/// Most origins that are named.
const MOST: usize = 5;
/// Longest name of a tool as an origin, in characters.
const MOST_NAME: usize = 64;
/// How deep addresses are looked for in a result.
const DEEPEST: usize = 6;
/// What stands for the rest.
const OTHERS: &str = "others";

/// The origins of what was read, in order, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origins(Vec<String>);

impl Origins {
    /// Adds those of a result of a tool: of the pages in it, else the name of the tool.
    pub(crate) fn add(&mut self, tool: &str, result: &Value) {
        // What people wrote, and what is part of the program, has no such mark.
        let is_own_skill = tool == SKILL_VIEW && result["untrusted"].is_null();
        if OWN.contains(&tool) || is_own_skill {
            return;
        }
        let mut pages = Vec::new();
        addresses(result, DEEPEST, &mut pages);
        if pages.is_empty() {
            pages.push(tool.chars().take(MOST_NAME).collect());
        }
        for page in pages {
            self.push(page);
        }
    }

    pub(crate) fn push(&mut self, origin: String) {
        if self.0.len() < MOST && !self.0.contains(&origin) {
            self.0.push(origin);
        } else if !self.0.contains(&origin) && !self.0.iter().any(|known| known == OTHERS) {
            self.0.push(OTHERS.to_owned());
        }
    }

    /// The origins as they are stamped on a note; `None` if nothing was read.
    pub(crate) fn stamp(&self) -> Option<String> {
        let all: Vec<String> = self.0.iter().map(|origin| format!("{}{origin}", crate::memory::FROM)).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// The origins of all addresses in a result.
fn addresses(value: &Value, depth: usize, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) if depth > 0 => {
            if let Some(url) = fields.get("url").and_then(Value::as_str).and_then(|url| Url::parse(url).ok()) {
                let origin = url.origin().ascii_serialization();
                let origin = if origin == "null" { format!("a {}: page", url.scheme()) } else { origin };
                if !out.contains(&origin) && url.scheme() != "about" {
                    out.push(origin);
                }
            }
            fields.values().for_each(|inner| addresses(inner, depth - 1, out));
        }
        Value::Array(all) if depth > 0 => all.iter().for_each(|inner| addresses(inner, depth - 1, out)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_origins_are_named_once() {
        let mut read = Origins::default();
        assert_eq!(read.stamp(), None);
        read.add("skill_view", &json!({ "text": "By a person" }));
        assert_eq!(read.stamp(), None);
        let mut skill = Origins::default();
        skill.add("skill_view", &json!({ "text": "By a model", "untrusted": "…" }));
        assert_eq!(skill.stamp().as_deref(), Some("from skill_view"));
        read.add("todo", &json!({ "url": "https://a.example/" }));
        assert_eq!(read.stamp(), None);
        read.add(
            "browser_navigate",
            &json!({ "url": "https://a.example/x", "frame_tree": [{ "url": "https://b.example/" }] }),
        );
        read.add("read_file", &json!({ "text": "x" }));
        read.add("browser_snapshot", &json!({ "url": "data:text/html,x" }));
        let stamp = "from https://a.example, from https://b.example, from read_file, from a data: page";
        assert_eq!(read.stamp().as_deref(), Some(stamp));
        for n in 0..9 {
            read.push(format!("x{n}"));
        }
        assert_eq!(read.stamp(), Some(format!("{stamp}, from x0, from others")));
    }
}
