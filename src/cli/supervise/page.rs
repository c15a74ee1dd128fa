//! Commands to the page layer: snapshots, actions, data and files of a tab.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::failure::Failure;
use crate::page::{
    self, Act, Emulation, Locator, NewCookie, PdfOptions, PictureType, ScreenshotOptions, SnapshotOptions, Storage,
    Tab, Upload,
};
use crate::supervisor::ConsoleLevel;
use crate::sync::Deadline;

/// Color of highlights: red, green, blue.
const ORANGE: [u8; 3] = [255, 69, 0];

/// The command word of an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Word(&'static str);

/// A command to one tab.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum OnTab {
    See(Box<SnapshotOptions>),
    /// An action and its command word.
    #[serde(skip)]
    Act {
        word: Word,
        act: Box<Act>,
    },
    Screenshot(Box<ScreenshotOptions>),
    Pdf(Box<PdfOptions>),
    #[serde(rename_all = "camelCase")]
    Text {
        selector: Option<String>,
        max_chars: Option<usize>,
    },
    Console {
        level: Option<ConsoleLevel>,
        limit: Option<usize>,
        #[serde(default)]
        clear: bool,
    },
    Errors {
        limit: Option<usize>,
        #[serde(default)]
        clear: bool,
    },
    Requests {
        filter: Option<String>,
        #[serde(default)]
        clear: bool,
    },
    #[serde(rename_all = "camelCase")]
    Body {
        request: String,
        max_bytes: Option<usize>,
    },
    Cookies {
        url: Option<String>,
    },
    SetCookies {
        cookies: Vec<NewCookie>,
    },
    DeleteCookies {
        name: Option<String>,
        domain: Option<String>,
    },
    Storage {
        area: Storage,
        key: Option<String>,
    },
    SetStorage {
        area: Storage,
        items: BTreeMap<String, String>,
    },
    DeleteStorage {
        area: Storage,
        key: Option<String>,
    },
    Emulate(Box<Emulation>),
    Downloads {},
    Download {
        path: Option<String>,
    },
    Upload {
        paths: Vec<PathBuf>,
        #[serde(rename = "ref")]
        reference: Option<String>,
    },
    Highlight {
        #[serde(rename = "ref")]
        reference: Option<String>,
    },
}

/// Usage and description of each command, for `help`.
pub(super) const HELP: [(&str, &str); 25] = [
    ("see [interactive] [compact] [urls] [fold] [diff]", "take a snapshot with refs; JSON takes all snapshot options"),
    ("act {\"kind\": …}", "run any action, JSON only: {\"cmd\": \"act\", \"kind\": \"click\", \"ref\": \"e12\"}"),
    ("click REF", "click an element; use act for a selector"),
    ("hover REF", "move the mouse over an element"),
    ("type REF TEXT", "type text into a field, replacing its content"),
    ("press KEY", "press a key or key combination: Enter, Control+a"),
    ("choose REF VALUE", "select an option by value or label"),
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
    ("downloads", "list downloads of the tab; needs --files"),
    ("download [NAME]", "wait for a download to finish"),
    ("upload PATH", "give a file to the next file chooser; JSON takes paths, and ref for a file field"),
    ("highlight [REF]", "highlight an element; without REF the highlight is removed"),
];

/// Parses a command from words; `None` for an unknown word.
pub(super) fn from_words(word: &str, rest: &str) -> Option<Result<OnTab, String>> {
    let usage = || {
        let of = |(usage, _): &&(&str, &str)| usage.split(' ').next() == Some(word);
        Err(format!("usage: {}", HELP.iter().find(of).map_or(word, |(usage, _)| usage)))
    };
    let (first, text) = rest.split_once(char::is_whitespace).map_or((rest, ""), |(a, b)| (a, b.trim_start()));
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let area = || serde_json::from_value(json!(first));
    let at = Locator::by_ref(first);
    let short = |word, act| Ok(OnTab::Act { word: Word(word), act: Box::new(act) });
    Some(match word {
        "see" => flags(word, rest, &["interactive", "compact", "urls", "fold", "diff"]),
        "screenshot" => flags(word, rest, &["full", "labels"]),
        "pdf" | "console" | "errors" | "downloads" => flags(word, rest, &[]),
        "act" | "set_cookies" | "set_storage" | "emulate" => match serde_json::from_str(rest) {
            Ok(Value::Object(map)) => read(word, map),
            Ok(_) => usage(),
            Err(problem) => Err(format!("not a JSON object: {problem}")),
        },
        "click" | "hover" | "press" if first.is_empty() => usage(),
        "type" | "choose" if text.is_empty() => usage(),
        "body" | "upload" if rest.is_empty() => usage(),
        "click" => short("click", Act::click(at)),
        "hover" => short("hover", Act::hover(at)),
        "type" => short("type", Act::type_text(at, text)),
        "press" => short("press", Act::press(first)),
        "choose" => short("choose", Act::select(at, [text])),
        "text" => Ok(OnTab::Text { selector: some(rest), max_chars: None }),
        "requests" => Ok(OnTab::Requests { filter: some(rest), clear: false }),
        "body" => Ok(OnTab::Body { request: rest.to_owned(), max_bytes: None }),
        "cookies" => Ok(OnTab::Cookies { url: some(rest) }),
        "delete_cookies" => Ok(OnTab::DeleteCookies { name: some(rest), domain: None }),
        "storage" => area().map_or_else(|_| usage(), |area| Ok(OnTab::Storage { area, key: some(text) })),
        "delete_storage" => area().map_or_else(|_| usage(), |area| Ok(OnTab::DeleteStorage { area, key: some(text) })),
        "download" => Ok(OnTab::Download { path: some(rest) }),
        "upload" => Ok(OnTab::Upload { paths: vec![rest.into()], reference: None }),
        "highlight" => Ok(OnTab::Highlight { reference: some(rest) }),
        _ => return None,
    })
}

/// Parses a command whose arguments are flags.
fn flags(command: &str, words: &str, known: &[&str]) -> Result<OnTab, String> {
    let mut map = Map::new();
    for word in words.split_whitespace() {
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
    read(command, map)
}

/// Parses a command from its name and fields.
fn read(name: &str, mut map: Map<String, Value>) -> Result<OnTab, String> {
    if name == "act" {
        let act = Act::parse(Value::Object(map)).map_err(|error| error.to_string())?;
        return Ok(OnTab::Act { word: Word("act"), act: Box::new(act) });
    }
    map.insert("cmd".to_owned(), name.into());
    serde_json::from_value(Value::Object(map)).map_err(|problem| problem.to_string())
}

/// Whether a JSON command belongs to the page layer.
pub(super) fn knows(name: &str) -> bool {
    const SHORT: [&str; 5] = ["click", "hover", "type", "press", "choose"]; // JSON uses `act` for these
    !SHORT.contains(&name) && HELP.iter().any(|(usage, _)| usage.split(' ').next() == Some(name))
}

/// Parses a JSON object without its `cmd`; returns the command and the target.
pub(super) fn from_json(name: &str, mut map: Map<String, Value>) -> Result<(OnTab, Option<String>), String> {
    let target = match map.remove("target") {
        None => None,
        Some(Value::String(target)) => Some(target),
        Some(_) => return Err("target must be a string".to_owned()),
    };
    read(name, map).map(|command| (command, target))
}

impl OnTab {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::See(_) => "see",
            Self::Act { word, .. } => word.0,
            Self::Screenshot(_) => "screenshot",
            Self::Pdf(_) => "pdf",
            Self::Text { .. } => "text",
            Self::Console { .. } => "console",
            Self::Errors { .. } => "errors",
            Self::Requests { .. } => "requests",
            Self::Body { .. } => "body",
            Self::Cookies { .. } => "cookies",
            Self::SetCookies { .. } => "set_cookies",
            Self::DeleteCookies { .. } => "delete_cookies",
            Self::Storage { .. } => "storage",
            Self::SetStorage { .. } => "set_storage",
            Self::DeleteStorage { .. } => "delete_storage",
            Self::Emulate(_) => "emulate",
            Self::Downloads {} => "downloads",
            Self::Download { .. } => "download",
            Self::Upload { .. } => "upload",
            Self::Highlight { .. } => "highlight",
        }
    }

    /// Runs the command. Screenshots and PDFs are written to `media`.
    pub(super) fn run(&self, tab: &Tab, media: &Path, deadline: Deadline) -> Result<Map<String, Value>, Failure> {
        let told = match self {
            Self::See(options) => told(&tab.snapshot(options, deadline)?),
            Self::Act { act, .. } => told(&tab.act(act, act.deadline(deadline))?),
            Self::Screenshot(options) => {
                let picture = tab.screenshot(options, deadline)?;
                let ending = if picture.kind == PictureType::Png { "png" } else { "jpg" };
                let path = page::save(media, "screenshot", ending, &picture.bytes)?;
                let mut told = told(&picture);
                told["path"] = json!(path);
                told
            }
            Self::Pdf(options) => {
                let bytes = tab.pdf(options, deadline)?;
                json!({ "path": page::save(media, "page", "pdf", &bytes)?, "bytes": bytes.len() })
            }
            Self::Text { selector, max_chars } => told(&tab.text(selector.as_deref(), *max_chars, deadline)?),
            Self::Console { level, limit, clear } => json!({ "messages": tab.console(*level, *limit, *clear) }),
            Self::Errors { limit, clear } => json!({ "errors": tab.errors(*limit, *clear) }),
            Self::Requests { filter, clear } => {
                let requests = tab.requests(filter.as_deref(), *clear);
                json!({ "requests": requests.iter().map(AsRef::as_ref).map(told).collect::<Vec<_>>() })
            }
            Self::Body { request, max_bytes } => told(&tab.response_body(request, *max_bytes, deadline)?),
            Self::Cookies { url } => {
                let urls: Vec<&str> = url.as_deref().into_iter().collect();
                json!({ "cookies": tab.cookies(&urls, deadline)? })
            }
            Self::SetCookies { cookies } => json!({ "added": tab.set_cookies(cookies, deadline)? }),
            Self::DeleteCookies { name, domain } => {
                json!({ "deleted": tab.delete_cookies(name.as_deref(), domain.as_deref(), deadline)? })
            }
            Self::Storage { area, key } => json!({ "items": tab.storage(*area, key.as_deref(), deadline)? }),
            Self::SetStorage { area, items } => json!({ "items": tab.set_storage(*area, items, deadline)? }),
            Self::DeleteStorage { area, key } => {
                json!({ "items": tab.delete_storage(*area, key.as_deref(), deadline)? })
            }
            Self::Emulate(change) => {
                tab.emulate(change, deadline)?;
                json!({})
            }
            Self::Downloads {} => json!({ "downloads": tab.downloads() }),
            Self::Download { path } => json!({ "download": tab.wait_download(path.as_deref(), deadline)? }),
            Self::Upload { paths, reference } => match tab.arm_chooser(paths, reference.as_deref(), deadline)? {
                Upload::Done(_) => json!({ "armed": false }),
                // The event log reports the outcome.
                Upload::Armed(_) => json!({ "armed": true }),
            },
            Self::Highlight { reference } => {
                match reference {
                    Some(reference) => tab.highlight(reference, ORANGE, deadline)?,
                    None => tab.clear_highlight(deadline)?,
                }
                json!({})
            }
        };
        Ok(match told {
            Value::Object(map) => map,
            _ => Map::new(),
        })
    }
}

/// Serialises a result; `null` on failure.
fn told(what: &impl Serialize) -> Value {
    serde_json::to_value(what).unwrap_or_default()
}
