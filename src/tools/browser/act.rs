//! Tools that act: clicks, keys, forms, waits, scripts.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::super::{Outcome, Tool, ToolContext, ToolError};
use super::{Browser, BrowserTools};
use crate::page::Act;

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Click {
    /// Ref from a snapshot: e12
    r#ref: String,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Hover {
    r#ref: String,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Type {
    r#ref: String,
    /// Replaces the field's content
    text: String,
    /// Press Enter afterwards
    #[serde(default)]
    submit: bool,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Press {
    /// Enter, Tab, Control+a, …
    key: String,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Scroll {
    direction: Direction,
    /// Element to scroll [the page]
    #[serde(skip_serializing_if = "Option::is_none")]
    r#ref: Option<String>,
    /// Distance [500]
    #[serde(skip_serializing_if = "Option::is_none")]
    pixels: Option<u32>,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Select {
    r#ref: String,
    /// Values or labels of options
    values: Vec<String>,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Drag {
    #[serde(rename(serialize = "startRef"))]
    start_ref: String,
    #[serde(rename(serialize = "endRef"))]
    end_ref: String,
    #[serde(skip_serializing)]
    target: Option<String>,
}

fn text_or_boolean(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "boolean"] })
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Field {
    r#ref: String,
    /// Text; true or false for checkboxes; an option
    #[schemars(schema_with = "text_or_boolean")]
    value: Value,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fill {
    fields: Vec<Field>,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// Text that appears
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(rename(serialize = "textGone"), skip_serializing_if = "Option::is_none")]
    text_gone: Option<String>,
    /// CSS of a visible element
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<String>,
    /// URL glob, as */done
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(rename(serialize = "timeMs"), skip_serializing_if = "Option::is_none")]
    time_ms: Option<u64>,
    /// Time limit [20000]
    #[serde(rename(serialize = "timeoutMs"), skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(skip_serializing)]
    target: Option<String>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Evaluate {
    /// Expression, statements with return, or function of the element
    #[serde(rename(serialize = "fn"))]
    script: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#ref: Option<String>,
    /// Frame to run in
    #[serde(rename(serialize = "frameId"), skip_serializing_if = "Option::is_none")]
    frame_id: Option<String>,
    #[serde(skip_serializing)]
    target: Option<String>,
}

/// Hint for a script without a result.
const NO_RETURN: &str = "statements have no result without return; end the script with return VALUE";

impl Evaluate {
    /// Whether the script has statements but no `return`.
    fn forgets_return(&self) -> bool {
        let script = self.script.trim().trim_end_matches(';');
        script.contains([';', '\n']) && !script.contains("return")
    }
}

/// Arguments of an action.
trait Acting: Serialize {
    fn target(&self) -> Option<&str>;
    fn describe(&self, outcome: Outcome) -> Outcome {
        outcome
    }
}

macro_rules! acting {
    ($($kind:ty $(, |$acts:ident, $outcome:ident| $result:expr)?;)*) => { $(
        impl Acting for $kind {
            fn target(&self) -> Option<&str> {
                self.target.as_deref()
            }
            $(fn describe(&self, $outcome: Outcome) -> Outcome {
                let $acts = self;
                $result
            })?
        }
    )* };
}

acting! {
    Click, |acts, outcome| outcome.with("clicked", acts.r#ref.as_str());
    Hover, |acts, outcome| outcome.with("hovered", acts.r#ref.as_str());
    Type, |acts, outcome| outcome.with("typed", typed(&acts.text)).with("element", acts.r#ref.as_str());
    Press, |acts, outcome| outcome.with("pressed", acts.key.as_str());
    Scroll, |acts, outcome| outcome.with("scrolled", json!(acts.direction));
    Select;
    Drag;
    Fill;
    Wait;
    Evaluate;
}

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    fn of<I>(browser: &BrowserTools, name: &str, kind: &'static str, description: &str) -> Tool
    where
        I: Acting + serde::de::DeserializeOwned + JsonSchema + 'static,
    {
        let browser = browser.clone();
        Tool::of(name, description, move |call, acts: I| act(&browser.on(call), call, kind, &acts))
    }
    let (wait, evaluate) = (browser.clone(), browser.clone());
    vec![
        of::<Click>(browser, "browser_click", "click", "Click an element. Reports what changed."),
        of::<Type>(browser, "browser_type", "type", "Replace the text of a field."),
        of::<Press>(browser, "browser_press", "press", "Press a key in the focused element."),
        of::<Scroll>(browser, "browser_scroll", "scroll", "Scroll the page, or the container of an element."),
        of::<Hover>(browser, "browser_hover", "hover", "Move the mouse over an element."),
        of::<Drag>(browser, "browser_drag", "drag", "Drag one element onto another."),
        of::<Select>(browser, "browser_select", "select", "Select options of a dropdown."),
        of::<Fill>(browser, "browser_fill", "fill", "Fill several form fields at once."),
        Tool::of("browser_wait", "Wait until all conditions hold.", move |call, wanted: Wait| {
            let for_what = [&wanted.text, &wanted.text_gone, &wanted.selector, &wanted.url];
            if wanted.time_ms.is_none() && for_what.iter().all(|what| what.is_none()) {
                let message = "no condition; pass text, text_gone, selector, url or time_ms";
                return Err(ToolError::new("BAD_REQUEST", message));
            }
            act(&wait.on(call), call, "wait", &wanted)
        }),
        Tool::of("browser_evaluate", "Run JavaScript in the page.", move |call, acts: Evaluate| {
            may_evaluate(&evaluate)?;
            let outcome = act(&evaluate.on(call), call, "evaluate", &acts)?;
            let is_nothing = outcome.fields.get("result").is_some_and(Value::is_null);
            Ok(if is_nothing && acts.forgets_return() { outcome.with("hint", NO_RETURN) } else { outcome })
        }),
    ]
}

/// The length of typed text; the text may be a password.
fn typed(text: &str) -> String {
    format!("{} characters", text.chars().count())
}

/// Fails when `browser.evaluate_enabled` is false.
pub(super) fn may_evaluate(browser: &BrowserTools) -> Result<(), ToolError> {
    if browser.control.config().browser.evaluate_enabled {
        return Ok(());
    }
    Err(crate::control::Error::EvaluateDisabled.into())
}

fn act(browser: &Browser<'_>, call: &ToolContext<'_>, kind: &str, acts: &impl Acting) -> Result<Outcome, ToolError> {
    let internal = |problem: &dyn std::fmt::Display| {
        ToolError::new("INTERNAL", format!("cannot encode the {kind} action: {problem}"))
    };
    let mut action = match serde_json::to_value(acts) {
        Ok(Value::Object(action)) => action,
        Ok(_) => Map::new(),
        Err(problem) => return Err(internal(&problem)),
    };
    action.insert("kind".to_owned(), kind.into());
    if !matches!(kind, "wait" | "evaluate") {
        action.insert("delta".to_owned(), true.into());
    }
    let mut act = Act::parse(Value::Object(action))?;
    act.redact = Some(browser.secrets.clone());
    let handle = browser.tab(acts.target())?;
    let done = browser.profile()?.act(&handle, &act, act.deadline(call.deadline))?;
    let mut outcome = browser.caused(acts.describe(Outcome::default()), &done);
    if let Some(result) = done.result {
        outcome = browser.with_result(outcome, result)?;
    }
    Ok(browser.finished(outcome))
}
