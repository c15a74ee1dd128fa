//! What a command asks of the server, and what is done with the answer.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::super::client::Request;
use super::super::failure::Failure;
use super::super::output::Out;

/// Prints an answer for people.
pub(super) type Show = fn(&Value, &Out);

/// What a command asks.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) request: Request,
    /// Whether a server is started for it when none runs.
    pub(super) starts: bool,
    /// Whether the route takes `timeoutMs`: those that are answered at once do not.
    pub(super) timed: bool,
    /// Whether it is about one profile.
    pub(super) of_profile: bool,
    pub(super) show: Show,
    /// Where the file that the answer tells of, or holds, is put.
    pub(super) file: Option<PathBuf>,
    /// What the answer may be long in coming for.
    pub(super) waits_for: Option<&'static str>,
    /// Where the login state that the answer holds is put.
    pub(super) keep: Option<super::login::Keep>,
}

impl Call {
    pub(super) fn new(request: Request, show: Show) -> Self {
        Self { request, starts: true, timed: true, of_profile: true, show, file: None, waits_for: None, keep: None }
    }

    /// The route answers at once.
    pub(super) fn quick(self) -> Self {
        Self { timed: false, ..self }
    }

    /// It is about the server as a whole.
    pub(super) fn global(self) -> Self {
        Self { of_profile: false, ..self }
    }

    /// It asks how things are, or ends something: where nothing runs, that is the answer.
    pub(super) fn never_starts(self) -> Self {
        Self { starts: false, ..self }
    }

    pub(super) fn file(self, file: Option<PathBuf>) -> Self {
        Self { file, ..self }
    }
}

/// The tab that a command is about.
#[derive(Debug, Args)]
pub(super) struct Tab {
    /// The tab: its id (t1), its label, its target id or the beginning of that [default: the last used]
    #[arg(long, value_name = "TAB")]
    pub(super) target: Option<String>,
}

/// How an action is carried out.
#[derive(Debug, Args)]
pub(super) struct Acting {
    #[command(flatten)]
    pub(super) tab: Tab,
    /// Also when role or name of the element have changed since the snapshot
    #[arg(long)]
    force: bool,
    /// Dispatch events by script instead of through the browser's input
    #[arg(long)]
    synthetic: bool,
    /// Print the lines of the snapshot that changed
    #[arg(long)]
    delta: bool,
    /// How long to wait for the effects: auto, none, or milliseconds [default: auto]
    #[arg(long, value_name = "WHEN", value_parser = settle)]
    settle: Option<Value>,
}

impl Acting {
    /// An action of a kind.
    pub(super) fn act(&self, kind: &str) -> Request {
        let input = self.synthetic.then_some("synthetic");
        let request = act(kind, &self.tab).on("force", self.force).field("input", input).on("delta", self.delta);
        request.field("settle", self.settle.clone())
    }
}

fn settle(text: &str) -> Result<Value, String> {
    match (text, text.parse::<u64>()) {
        ("auto" | "none", _) => Ok(text.into()),
        (_, Ok(millis)) => Ok(serde_json::json!({ "maxMs": millis })),
        _ => Err("auto, none or a number of milliseconds".to_owned()),
    }
}

/// An action without options of its own.
pub(super) fn act(kind: &str, tab: &Tab) -> Request {
    Request::post("/act").field("kind", Some(kind)).field("targetId", tab.target.clone())
}

/// An element: by its ref or a locator, or by a selector.
#[derive(Debug, Args)]
pub(super) struct At {
    /// The element: its ref in a snapshot (12, e12 or @e12), or a locator such as role=button[name="Save"] or text=Save
    #[arg(value_name = "REF", value_parser = element, required_unless_present = "selector")]
    pub(super) at: Option<String>,
    #[command(flatten)]
    pub(super) by: Selector,
}

/// The other way to name an element.
#[derive(Debug, Args)]
pub(super) struct Selector {
    /// The first element that matches this CSS selector, instead of a ref
    #[arg(long, value_name = "CSS", conflicts_with = "at")]
    pub(super) selector: Option<String>,
    /// Which match of a locator, from 0, or from the end for a negative number [default: there must be only one]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) nth: Option<i32>,
    /// The frame that a selector or locator is for: its id, or the ref of the iframe
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    pub(super) frame: Option<String>,
}

impl At {
    pub(super) fn of(&self, request: Request) -> Request {
        self.by.of(named(request, self.at.as_deref()))
    }
}

/// Adds an element that was named by a ref or a locator.
pub(super) fn named(request: Request, at: Option<&str>) -> Request {
    match at {
        Some(at) if number(at).is_none() => request.field("locator", Some(at)),
        at => request.field("ref", at),
    }
}

impl Selector {
    pub(super) fn of(&self, request: Request) -> Request {
        let request = request.field("selector", self.selector.clone()).field("nth", self.nth);
        request.field("frameId", self.frame.clone())
    }
}

/// An element that may be left out: named by options.
#[derive(Debug, Args)]
pub(super) struct Maybe {
    /// The element: its ref in a snapshot (12, e12 or @e12), or a locator such as role=textbox[name="Search"]
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    pub(super) at: Option<String>,
    #[command(flatten)]
    pub(super) by: Selector,
}

impl Maybe {
    pub(super) fn of(&self, request: Request) -> Request {
        self.by.of(named(request, self.at.as_deref()))
    }
}

/// Words that a locator begins with.
const LOCATORS: [&str; 7] = ["role=", "text=", "label=", "placeholder=", "testid=", "css=", "ref="];

/// Reads a ref or a locator.
pub(super) fn element(text: &str) -> Result<String, String> {
    if LOCATORS.iter().any(|start| text.trim_start().starts_with(start)) {
        return Ok(text.to_owned());
    }
    reference(text).map_err(|_| {
        let word: String = text.chars().take(60).collect();
        format!(
            "{word:?} is neither a ref nor a locator: refs look like e12 and come from `cdpilot browser snapshot`; a locator is \
             role=button[name=\"Save\"], text=…, label=…, placeholder=…, testid=… or css=…, as in 'label={word}'; --selector takes CSS"
        )
    })
}

/// Reads a ref: `12`, `e12` or `@e12`.
pub(super) fn reference(text: &str) -> Result<String, String> {
    match number(text) {
        Some(digits) => Ok(format!("e{digits}")),
        None => Err("refs look like e12 and come from `cdpilot browser snapshot`; --selector takes CSS".to_owned()),
    }
}

fn number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let digits = digits.strip_prefix('e').unwrap_or(digits);
    let number = !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit());
    number.then_some(digits)
}

/// Reads a frame: a frame id as it is, or a ref.
pub(super) fn frame(text: &str) -> Result<String, String> {
    match (text.is_empty(), number(text)) {
        (true, _) => Err("a frame is named by its id, or by the ref of its iframe".to_owned()),
        (false, Some(digits)) => Ok(format!("e{digits}")),
        (false, None) => Ok(text.to_owned()),
    }
}

/// Reads JSON that stands for something.
pub(super) fn json(text: &str, what: &str) -> Result<Value, Failure> {
    let plain = |text: &str| serde_json::from_str::<Value>(text);
    let read = plain(text).or_else(|problem| {
        // From a place where quotes had to be escaped, pasted into one where they need not be.
        if text.contains("\\\"") { plain(&text.replace("\\\"", "\"")).map_err(|_| problem) } else { Err(problem) }
    });
    read.map_err(|problem| Failure::usage(format!("{what} is no JSON: {problem}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refs_are_read_in_every_form() {
        for text in ["12", "e12", "@e12", "@12"] {
            assert_eq!(reference(text).unwrap(), "e12", "{text}");
        }
        for text in ["", "e", "@", "x12", "#a", "1.5", "-1", "e12e", "12345678901"] {
            assert!(reference(text).is_err(), "{text}");
        }
        assert_eq!(frame("@e7").unwrap(), "e7");
        assert_eq!(frame("4ADF00").unwrap(), "4ADF00");
        assert!(frame("").is_err());
    }

    #[test]
    fn json_is_read_with_quotes_that_were_escaped_too() {
        let wanted = serde_json::json!([{"ref": "1", "value": "Ada"}]);
        assert_eq!(json(r#"[{"ref":"1","value":"Ada"}]"#, "x").unwrap(), wanted);
        assert_eq!(json(r#"[{\"ref\":\"1\",\"value\":\"Ada\"}]"#, "x").unwrap(), wanted);
        assert_eq!(json(r#"{"a":"say \"b\""}"#, "x").unwrap(), serde_json::json!({"a": "say \"b\""}));
        assert!(json("[{", "--fields").unwrap_err().error.starts_with("--fields is no JSON"));
    }
}
