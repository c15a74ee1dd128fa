//! The request of a command and how its answer is handled; arguments that several commands share.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::super::client::Request;
use super::super::failure::Failure;
use super::super::output::Out;
use super::super::values::signed;
use cdpilot::page::{Act, ActKind, Input, Locator, Settle};
use cdpilot_server::api::operations as op;
use cdpilot_server::config::nearest;

/// Prints an answer as text.
pub(super) type Printer = fn(&Value, &Out);

/// The request of a command and how its answer is handled.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) request: Request,
    /// Whether a server is started when none is running.
    pub(super) starts: bool,
    pub(super) show: Printer,
    /// Printed before the answer: what the command did, where the answer does not say it.
    pub(super) done: Option<String>,
    /// Output path for the file in the answer.
    pub(super) file: Option<PathBuf>,
    /// Printed as the reason when the answer takes long.
    pub(super) waits_for: Option<&'static str>,
    /// Output file for the login state in the answer.
    pub(super) keep: Option<super::login::StateFile>,
}

impl Call {
    pub(super) fn new(request: Request, show: Printer) -> Self {
        Self { request, starts: true, show, done: None, file: None, waits_for: None, keep: None }
    }

    /// Marks a command that must not start a server.
    pub(super) fn never_starts(self) -> Self {
        Self { starts: false, ..self }
    }

    pub(super) fn file(self, file: Option<PathBuf>) -> Self {
        Self { file, ..self }
    }
}

/// The `--target` option.
#[derive(Debug, Args)]
pub(super) struct Tab {
    /// Tab: id (t1), label, target id or unique prefix of the target id [default: the current tab]
    #[arg(long, value_name = "TAB")]
    pub(super) target: Option<String>,
}

impl Tab {
    /// The request for this tab.
    pub(super) fn of(&self, request: Request) -> Request {
        request.tab(self.target.as_deref())
    }
}

/// Options that all actions share.
#[derive(Debug, Args)]
pub(super) struct ActionOptions {
    #[command(flatten)]
    pub(super) tab: Tab,
    /// Act even if the element's role or name has changed since the snapshot
    #[arg(long)]
    force: bool,
    /// Dispatch synthetic DOM events instead of trusted browser input
    #[arg(long)]
    synthetic: bool,
    /// Print the snapshot lines that changed
    #[arg(long)]
    delta: bool,
    /// How long to wait for the page to settle: auto, none, or a limit in milliseconds [default: auto, except none for click-coords]
    #[arg(long, value_name = "WHEN", value_parser = settle)]
    settle: Option<Settle>,
}

impl ActionOptions {
    /// The request for an action with these options.
    pub(super) fn request(&self, kind: ActKind) -> Request {
        let input = self.synthetic.then_some(Input::Synthetic);
        let (force, delta, settle) = (self.force, self.delta, self.settle);
        request(&Act { input, force, delta, settle, ..Act::new(kind) }, &self.tab)
    }
}

fn settle(text: &str) -> Result<Settle, String> {
    match (text, text.parse()) {
        ("auto", _) => Ok(Settle::Auto),
        ("none", _) => Ok(Settle::None),
        (_, Ok(millis)) => Ok(Settle::MaxMs(millis)),
        _ => Err("give auto, none or a number of milliseconds".to_owned()),
    }
}

/// The request for an action.
pub(super) fn request(act: &Act, tab: &Tab) -> Request {
    Request::new(op::ACT, act).tab(tab.target.as_deref())
}

/// A required element: ref, locator or CSS selector.
#[derive(Debug, Args)]
pub(super) struct Element {
    /// Element: ref from a snapshot (12, e12 or @e12), or a locator such as role=button[name="Save"] or text=Save
    #[arg(value_name = "REF", value_parser = element, required_unless_present = "selector")]
    pub(super) at: Option<String>,
    #[command(flatten)]
    pub(super) by: Selector,
}

/// The options `--selector`, `--nth` and `--frame`.
#[derive(Debug, Args)]
pub(super) struct Selector {
    /// CSS selector instead of a ref; the first match is used
    #[arg(long, value_name = "CSS", conflicts_with = "at")]
    pub(super) selector: Option<String>,
    /// Use match N of the locator, counted from 0; negative: from the end [default: the locator must match one element]
    #[arg(long, value_name = "N", value_parser = signed, allow_negative_numbers = true)]
    pub(super) nth: Option<i32>,
    /// Frame to search: frame id, or ref of the iframe [default: the main frame for --selector, all frames for a locator]
    #[arg(long, value_name = "FRAME", value_parser = frame)]
    pub(super) frame: Option<String>,
}

impl Element {
    pub(super) fn locator(&self) -> Locator {
        self.by.locator(self.at.as_deref())
    }
}

impl Selector {
    /// An element, by these options or by a ref or locator.
    pub(super) fn locator(&self, at: Option<&str>) -> Locator {
        let Self { selector, nth, frame } = self;
        Locator { selector: selector.clone(), nth: *nth, frame_id: frame.clone(), ..locator(at) }
    }
}

/// A ref or a locator.
pub(super) fn locator(at: Option<&str>) -> Locator {
    let at = at.map(str::to_owned);
    match at.as_deref().and_then(number) {
        Some(_) => Locator { reference: at, ..Locator::default() },
        None => Locator { locator: at, ..Locator::default() },
    }
}

/// An optional element, given by options.
#[derive(Debug, Args)]
pub(super) struct OptionalElement {
    /// Target element: ref from a snapshot (12, e12 or @e12) or locator
    #[arg(id = "at", long = "ref", value_name = "REF", value_parser = element)]
    pub(super) at: Option<String>,
    #[command(flatten)]
    pub(super) by: Selector,
}

impl OptionalElement {
    pub(super) fn locator(&self) -> Locator {
        self.by.locator(self.at.as_deref())
    }
}

/// Prefixes of locators.
const LOCATORS: [&str; 7] = ["role=", "text=", "label=", "placeholder=", "testid=", "css=", "ref="];

/// Parses a ref or a locator.
pub(super) fn element(text: &str) -> Result<String, String> {
    if LOCATORS.iter().any(|start| text.trim_start().starts_with(start)) {
        return Ok(text.to_owned());
    }
    if text.trim().is_empty() {
        return Err("it is empty; give a ref such as e12, or a locator such as text=Save".to_owned());
    }
    reference(text).map_err(|_| {
        let word: String = text.chars().take(60).collect();
        let problem = format!("{word:?} is neither a ref nor a locator");
        if word.starts_with(['#', '.']) {
            return format!("{problem}; for a CSS selector, give 'css={word}' or use --selector");
        }
        let near = word.split_once('=').and_then(|(prefix, value)| {
            let near = nearest(prefix.trim(), LOCATORS.map(|known| known.trim_end_matches('=')))?;
            Some(format!("{problem}; did you mean '{near}={value}'?"))
        });
        near.unwrap_or_else(|| {
            format!(
                "{problem}; refs look like e12 and come from `cdpilot snapshot`, locators look like 'text={word}', label=…, \
                 placeholder=…, testid=…, css=… or role=button[name=\"Save\"]; --selector takes CSS"
            )
        })
    })
}

/// Parses a ref: `12`, `e12` or `@e12`.
pub(super) fn reference(text: &str) -> Result<String, String> {
    match number(text) {
        Some(digits) => Ok(format!("e{digits}")),
        None => Err("refs look like e12 and come from `cdpilot snapshot`; --selector takes CSS".to_owned()),
    }
}

fn number(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('@').unwrap_or(text);
    let digits = digits.strip_prefix('e').unwrap_or(digits);
    let number = !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|b| b.is_ascii_digit());
    number.then_some(digits)
}

/// Parses a frame: a ref, else a frame id as it is.
pub(super) fn frame(text: &str) -> Result<String, String> {
    match (text.is_empty(), number(text)) {
        (true, _) => Err("give a frame id, or the ref of the iframe".to_owned()),
        (false, Some(digits)) => Ok(format!("e{digits}")),
        (false, None) => Ok(text.to_owned()),
    }
}

/// Parses JSON; `what` names it in the error.
pub(super) fn json(text: &str, what: &str) -> Result<Value, Failure> {
    let plain = |text: &str| serde_json::from_str::<Value>(text);
    let read = plain(text).or_else(|problem| {
        // Pasted from source code, where the quotes were escaped.
        if text.contains("\\\"") { plain(&text.replace("\\\"", "\"")).map_err(|_| problem) } else { Err(problem) }
    });
    read.map_err(|problem| Failure::usage(format!("{what} is not valid JSON: {problem}")))
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
    fn what_is_no_locator_suggests_what_was_meant() {
        for (text, part) in [
            ("#dlg", "'css=#dlg'"),
            (".a > b", "'css=.a > b'"),
            ("rol=button", "did you mean 'role=button'?"),
            ("Save", "'text=Save'"),
            ("", "it is empty"),
            (" ", "it is empty"),
        ] {
            let problem = element(text).unwrap_err();
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }

    #[test]
    fn json_is_read_with_quotes_that_were_escaped_too() {
        let wanted = serde_json::json!([{"ref": "1", "value": "Ada"}]);
        assert_eq!(json(r#"[{"ref":"1","value":"Ada"}]"#, "x").unwrap(), wanted);
        assert_eq!(json(r#"[{\"ref\":\"1\",\"value\":\"Ada\"}]"#, "x").unwrap(), wanted);
        assert_eq!(json(r#"{"a":"say \"b\""}"#, "x").unwrap(), serde_json::json!({"a": "say \"b\""}));
        assert!(json("[{", "--fields").unwrap_err().error.starts_with("--fields is not valid JSON"));
    }
}
