//! Commands to one page: words for routes of the HTTP API.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api;
use crate::api::Method::{self, Delete, Get, Post};
use crate::page::{Act, Locator};
use crate::server::LocalRequest;

/// Usage and description of each command, for `help`.
pub(super) const HELP: [(&str, &str); 25] = [
    (
        "see [interactive] [compact] [urls] [fold] [diff]",
        "take a snapshot with refs, as `snapshot` with any of these words does; JSON takes all snapshot options",
    ),
    ("act {\"kind\": …}", "run any action, JSON only: {\"cmd\": \"act\", \"kind\": \"click\", \"ref\": \"e12\"}"),
    ("click REF", "click an element; use act for a selector"),
    ("hover REF", "move the mouse over an element"),
    ("type REF TEXT", "type text into a field, replacing its content"),
    ("press KEY", "press a key or key combination: Enter, Control+a"),
    ("choose REF VALUE", "select an option by value or label"),
    ("select REF VALUE", "same as choose"),
    ("screenshot [full] [labels]", "save a screenshot; JSON adds ref, element, type, quality, maxWidth, …"),
    ("pdf", "save the page as PDF; JSON adds landscape, paperWidth, pageRanges, …"),
    ("text [SELECTOR]", "print the visible text; JSON adds maxChars"),
    ("console", "list console messages; JSON adds level, limit, clear"),
    ("errors", "list uncaught exceptions; JSON adds limit, clear"),
    ("requests [FILTER]", "list network requests; JSON adds clear"),
    ("body REQUEST", "print the response body of a request; JSON adds maxBytes"),
    ("cookies [URL]", "list cookies, all or those of a URL"),
    ("set_cookies {\"cookies\": …}", "set cookies, JSON only: a list of {name, value, url or domain, …}"),
    ("delete_cookies [NAME]", "delete cookies, all or those with this name; JSON adds domain"),
    ("storage local|session [KEY]", "print stored items"),
    ("set_storage {\"area\": …}", "set stored items, JSON only: area and items, {key: value}"),
    ("delete_storage local|session [KEY]", "delete one stored item, or all"),
    ("emulate {\"offline\": true, …}", "override device, location, locale, network, JSON only; null removes a setting"),
    ("download [NAME]", "wait for a download to finish"),
    ("upload PATH", "give a file to the next file chooser; JSON takes paths, and ref for a file field"),
    ("highlight [REF]", "highlight an element; without REF the highlight is removed"),
];

/// The route of each command that is not an action. A part of the path that begins with a colon is a field of the command.
const ROUTES: [(&str, Method, &str); 19] = [
    ("see", Get, "/snapshot"),
    ("act", Post, "/act"),
    ("screenshot", Post, "/screenshot"),
    ("pdf", Post, "/pdf"),
    ("text", Get, "/text"),
    ("console", Get, "/console"),
    ("errors", Get, "/errors"),
    ("requests", Get, "/requests"),
    ("body", Get, "/requests/:request/body"),
    ("cookies", Get, "/cookies"),
    ("set_cookies", Post, "/cookies"),
    ("delete_cookies", Delete, "/cookies"),
    ("storage", Get, "/storage/:area"),
    ("set_storage", Post, "/storage/:area"),
    ("delete_storage", Delete, "/storage/:area"),
    ("emulate", Post, "/emulate"),
    ("download", Post, "/wait/download"),
    ("upload", Post, "/hooks/file-chooser"),
    ("highlight", Post, "/highlight"),
];

/// A command to one page: a request of the HTTP API without its tab.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OnTab {
    /// The word of the command.
    pub(super) word: &'static str,
    method: Method,
    path: String,
    fields: Map<String, Value>,
}

impl OnTab {
    /// The command of this name with these fields.
    fn new(name: &str, mut fields: Map<String, Value>) -> Result<Self, String> {
        let known = ROUTES.iter().find(|(word, ..)| *word == name);
        let (word, method, route) = *known.ok_or_else(|| format!("unknown command `{name}`"))?;
        let mut path = String::new();
        for part in route.split('/').skip(1) {
            path.push('/');
            let Some(field) = part.strip_prefix(':') else {
                path.push_str(part);
                continue;
            };
            match fields.remove(field) {
                Some(Value::String(value)) if field != "area" || matches!(&*value, "local" | "session") => {
                    path.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
                }
                Some(_) if field == "area" => return Err("area must be `local` or `session`".to_owned()),
                Some(_) => return Err(format!("{field} must be a string")),
                None => return Err(format!("{field} is missing")),
            }
        }
        Ok(Self { word, method, path, fields })
    }

    /// The request for a tab. Requests that wait for a page end after `timeout_ms`.
    pub(super) fn request(&self, target: &str, timeout_ms: Option<u64>) -> Result<LocalRequest, String> {
        let build = |timeout_ms: Option<u64>| {
            let mut fields = self.fields.clone();
            fields.insert("targetId".to_owned(), target.into());
            if let Some(millis) = timeout_ms {
                fields.insert("timeoutMs".to_owned(), millis.into());
            }
            if self.method.has_body() {
                LocalRequest::new(self.method, &self.path, Some(&fields))
            } else {
                LocalRequest::new(self.method, &format!("{}?{}", self.path, query(&fields)?), None)
            }
        };
        let request = build(None)?;
        if timeout_ms.is_none() || request.is_quick() { Ok(request) } else { build(timeout_ms) }
    }
}

/// Fields as a query.
fn query(fields: &Map<String, Value>) -> Result<String, String> {
    let mut pairs = Vec::new();
    for (name, value) in fields {
        let value = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => {
                return Err(format!("{name} must be a string, a number or a boolean"));
            }
        };
        let encoded = |text| utf8_percent_encode(text, NON_ALPHANUMERIC);
        pairs.push(format!("{}={}", encoded(name), encoded(&value)));
    }
    Ok(pairs.join("&"))
}

/// Parses a command from words; `None` for an unknown word.
pub(super) fn from_words(word: &str, rest: &str) -> Option<Result<OnTab, String>> {
    let usage = || {
        let of = |(usage, _): &&(&str, &str)| usage.split(' ').next() == Some(word);
        Err(format!("usage: {}", HELP.iter().find(of).map_or(word, |(usage, _)| usage)))
    };
    let (first, text) = rest.split_once(char::is_whitespace).map_or((rest, ""), |(a, b)| (a, b.trim_start()));
    let at = || Locator::by_ref(first);
    Some(match word {
        // Without arguments, `snapshot` is that of all pages.
        "see" | "snapshot" if word == "see" || !rest.is_empty() => {
            flags("see", rest, &["interactive", "compact", "urls", "fold", "diff"])
        }
        "screenshot" => flags(word, rest, &["full", "labels"]),
        "pdf" | "console" | "errors" => flags(word, rest, &[]),
        "act" | "set_cookies" | "set_storage" | "emulate" => match serde_json::from_str(rest) {
            Ok(Value::Object(map)) => OnTab::new(word, map),
            Ok(_) => usage(),
            Err(problem) => Err(format!("not a JSON object: {problem}")),
        },
        "click" | "hover" | "press" if first.is_empty() => usage(),
        "type" | "choose" | "select" if text.is_empty() => usage(),
        "body" | "upload" if rest.is_empty() => usage(),
        "storage" | "delete_storage" if !matches!(first, "local" | "session") => usage(),
        "click" => act("click", &Act::click(at())),
        "hover" => act("hover", &Act::hover(at())),
        "type" => act("type", &Act::type_text(at(), text)),
        "press" => act("press", &Act::press(first)),
        "choose" => act("choose", &Act::select(at(), [text])),
        "select" => act("select", &Act::select(at(), [text])),
        "text" => of(word, &json!({ "selector": given(rest) })),
        "requests" => of(word, &json!({ "filter": given(rest) })),
        "body" => of(word, &json!({ "request": rest })),
        "cookies" => of(word, &json!({ "url": given(rest) })),
        "delete_cookies" => of(word, &json!({ "name": given(rest) })),
        "storage" | "delete_storage" => of(word, &json!({ "area": first, "key": given(text) })),
        "download" => of(word, &api::WaitDownload { path: owned(rest) }),
        "upload" => of(word, &api::ArmChooser { paths: vec![rest.to_owned()], reference: None, locator: None }),
        "highlight" => of(word, &api::Highlight { reference: owned(rest), locator: None }),
        _ => return None,
    })
}

/// An argument, unless it is missing.
fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn owned(text: &str) -> Option<String> {
    given(text).map(str::to_owned)
}

/// Parses a command whose arguments are flags.
fn flags(command: &str, words: &str, known: &[&str]) -> Result<OnTab, String> {
    let mut map = Map::new();
    for word in words.split_whitespace().map(|word| word.trim_start_matches("--")) {
        if !known.contains(&word) {
            let known = if known.is_empty() {
                "it takes no arguments".to_owned()
            } else {
                format!("it takes {}", known.join(", "))
            };
            return Err(format!("unknown argument `{word}` of `{command}`; {known}; further options need JSON"));
        }
        map.insert(if word == "full" { "fullPage" } else { word }.to_owned(), true.into());
    }
    OnTab::new(command, map)
}

/// A command with the fields of a JSON object.
fn of(name: &str, fields: &impl Serialize) -> Result<OnTab, String> {
    match serde_json::to_value(fields) {
        Ok(Value::Object(map)) => OnTab::new(name, map),
        _ => OnTab::new(name, Map::new()),
    }
}

/// An action under its own word.
fn act(word: &'static str, act: &Act) -> Result<OnTab, String> {
    of("act", act).map(|command| OnTab { word, ..command })
}

/// Whether a JSON command belongs to this module.
pub(super) fn knows(name: &str) -> bool {
    ROUTES.iter().any(|(word, ..)| *word == name)
}

/// Whether a JSON command is `snapshot` with an option of `see`.
pub(super) fn is_see(map: &Map<String, Value>) -> bool {
    const OPTIONS: [&str; 14] = [
        "compact",
        "depth",
        "diff",
        "expand",
        "fold",
        "format",
        "frame",
        "interactive",
        "labels",
        "limit",
        "maxChars",
        "offset",
        "selector",
        "urls",
    ];
    map.get("cmd").is_some_and(|cmd| cmd == "snapshot") && OPTIONS.iter().any(|option| map.contains_key(*option))
}

/// Parses a JSON object without its `cmd`; returns the command and the target.
pub(super) fn from_json(name: &str, mut map: Map<String, Value>) -> Result<(OnTab, Option<String>), String> {
    let target = match map.remove("target") {
        None => None,
        Some(Value::String(target)) => Some(target),
        Some(_) => return Err("target must be a string".to_owned()),
    };
    OnTab::new(name, map).map(|command| (command, target))
}
