//! Tools that act: clicks, keys, forms, waits, scripts. Names, descriptions and arguments come from the table of actions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::guard::{Checked, Doing, check_element, check_keys, check_script, check_secrets};
use super::super::tool::Handler;
use super::super::{Outcome, SECRET_FIELD, Tool, ToolContext, ToolError, arguments};
use super::{Browser, BrowserTools};
use crate::control::{self, TabHandle};
use cdpilot::code::Code;
use cdpilot::page::{
    ACTIONS, Act, ActKind, ActionSpec, FieldSpec, FieldType, Locator, Node, Shown, ToolArgumentSpec, ToolSpec, Using,
    WaitFor, secrets_in,
};
use cdpilot::sync::Deadline;

/// The argument that names a tab.
const TARGET: &str = "target";
/// The argument that limits the time of an action.
const TIMEOUT: &str = "timeout_ms";

/// Time limit for finding out whether a field is secret.
const SECRECY_LIMIT: Duration = Duration::from_secs(1);
/// Hint for a script without a result.
const NO_RETURN: &str = "statements have no result without return; end the script with return VALUE";

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    ACTIONS.iter().filter_map(|action| Some(tool(browser, action, action.tool?))).collect()
}

fn tool(browser: &BrowserTools, action: &'static ActionSpec, tool: ToolSpec) -> Tool {
    let mut schema = object(action.fields);
    let properties = &mut schema["properties"];
    properties[TARGET] = json!({ "type": "string" });
    if let Some(description) = tool.timeout {
        properties[TIMEOUT] = typed(FieldType::Integer);
        properties[TIMEOUT]["description"] = description.into();
    }
    let handler = Acting { browser: browser.clone(), action, schema: schema.clone() };
    Tool::new(tool.name, tool.description, schema, Arc::new(handler))
}

/// The tool that does what was recorded: any action with the fields of `POST /act`, in the tab `target`.
pub(super) fn recorded(browser: &BrowserTools) -> Tool {
    let schema = json!({ "type": "object", "properties": { TARGET: { "type": "string" } } });
    let handler = Recorded { browser: browser.clone() };
    Tool::new(super::RECORDED, "Do an action of the recording.", schema, Arc::new(handler))
}

/// Performs a recorded action.
struct Recorded {
    browser: BrowserTools,
}

impl Handler for Recorded {
    fn call(&self, call: &ToolContext<'_>, mut given: Map<String, Value>) -> Result<Outcome, ToolError> {
        let target = given.remove(TARGET);
        let act = Act::parse(Value::Object(given))?;
        if matches!(act.kind, ActKind::Evaluate { .. }) {
            return Err(ToolError::new(Code::BadRequest, "scripts are not recorded"));
        }
        let (browser, target) = (self.browser.on(call), target.as_ref().and_then(Value::as_str));
        let Some(node) = pressed(&browser, &act.kind, target)? else {
            return self::act(&browser, call, act, target);
        };
        // Pages may change an element when the pointer arrives. A guard binds what it allows.
        let handle = browser.tab(target)?;
        let now = handle.tab.effect(Some(&node), Using::Press, call.deadline).map_err(control::Error::from)?;
        let _binding = call.scope.guard().is_none().then(|| handle.tab.bind_to(&now.node, now.identity.clone()));
        self::act(&browser, call, act, target)
    }
}

/// The element that an action presses, if it names one by its ref.
fn pressed(browser: &Browser<'_>, kind: &ActKind, target: Option<&str>) -> Result<Option<Node>, ToolError> {
    let at = match kind {
        ActKind::Click { at, .. } | ActKind::Check { at } | ActKind::Uncheck { at } => at,
        _ => return Ok(None),
    };
    let Some(reference) = &at.reference else { return Ok(None) };
    let (node, _) = browser.tab(target)?.tab.resolve(reference).map_err(control::Error::from)?;
    Ok(Some(node))
}

/// The fields that are arguments, with the names of the arguments.
fn arguments_of(
    fields: &'static [FieldSpec],
) -> impl Iterator<Item = (&'static str, &'static FieldSpec, ToolArgumentSpec)> {
    let named = |field: &'static FieldSpec, argument: ToolArgumentSpec| match (argument.name, field.value) {
        (Some(name), _) => name,
        (None, FieldType::Element) => "ref",
        (None, _) => field.snake_name,
    };
    fields.iter().filter_map(move |field| field.tool.map(|argument| (named(field, argument), field, argument)))
}

/// The schema of an object with these fields.
fn object(fields: &'static [FieldSpec]) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for (name, field, argument) in arguments_of(fields) {
        let mut schema = typed(field.value);
        if !argument.description.is_empty() {
            schema["description"] = argument.description.into();
        }
        if matches!(field.value, FieldType::Boolean) && !argument.required {
            schema["default"] = false.into();
        }
        if argument.required {
            required.push(name);
        }
        properties.insert(name.to_owned(), schema);
    }
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn typed(value: FieldType) -> Value {
    match value {
        FieldType::Boolean => json!({ "type": "boolean" }),
        // Models give distances in whole pixels.
        FieldType::Integer | FieldType::Number => json!({ "type": "integer", "minimum": 0 }),
        FieldType::Count => json!({ "type": "integer", "minimum": 1 }),
        FieldType::Choice(names) => json!({ "type": "string", "enum": names }),
        FieldType::FormValue => json!({ "type": ["string", "boolean"] }),
        FieldType::List(items) => json!({ "type": "array", "items": typed(*items) }),
        FieldType::Object(fields) => object(fields),
        _ => json!({ "type": "string" }),
    }
}

/// The fields of a request for arguments that fit the schema.
fn fields_of(fields: &'static [FieldSpec], mut given: Map<String, Value>) -> Map<String, Value> {
    let mut request = Map::new();
    for (name, field, _) in arguments_of(fields) {
        let Some(value) = given.remove(name) else { continue };
        let field_name = if matches!(field.value, FieldType::Element) { name } else { field.name };
        let value = match (field.value, value) {
            (FieldType::List(FieldType::Object(inner)), Value::Array(all)) => {
                let one = |one| if let Value::Object(map) = one { fields_of(inner, map).into() } else { one };
                all.into_iter().map(one).collect()
            }
            (_, value) => value,
        };
        request.insert(field_name.to_owned(), value);
    }
    request
}

/// Performs an action.
struct Acting {
    browser: BrowserTools,
    action: &'static ActionSpec,
    schema: Value,
}

impl Handler for Acting {
    fn call(&self, call: &ToolContext<'_>, given: Map<String, Value>) -> Result<Outcome, ToolError> {
        let mut given: Map<String, Value> = arguments::read(&self.schema, given)?;
        let target = given.remove(TARGET);
        let timeout = given.remove(TIMEOUT);
        let mut action = fields_of(self.action.fields, given);
        action.insert("kind".to_owned(), self.action.kind.into());
        let mut act = Act::parse(Value::Object(action))?;
        act.timeout_ms = timeout.as_ref().and_then(Value::as_u64);
        match &act.kind {
            ActKind::Wait(wanted) if *wanted == WaitFor::default() => {
                let message = "no condition; pass text, text_gone, selector, url or time_ms";
                return Err(ToolError::new(Code::BadRequest, message));
            }
            ActKind::Wait(wanted) => {
                call.scope.check_selector(wanted.selector.as_deref().unwrap_or_default())?;
                if wanted.script.is_some() {
                    call.scope.check_script()?;
                }
            }
            ActKind::Evaluate { .. } => {
                call.scope.check_script()?;
                may_evaluate(&self.browser)?;
            }
            _ => {}
        }
        self::act(&self.browser.on(call), call, act, target.as_ref().and_then(Value::as_str))
    }
}

/// Fails when `browser.evaluate_enabled` is false.
pub(super) fn may_evaluate(browser: &BrowserTools) -> Result<(), ToolError> {
    if browser.control.config().browser.evaluate_enabled {
        return Ok(());
    }
    Err(crate::control::Error::EvaluateDisabled.into())
}

fn act(
    browser: &Browser<'_>,
    call: &ToolContext<'_>,
    mut act: Act,
    target: Option<&str>,
) -> Result<Outcome, ToolError> {
    act.delta = !matches!(act.kind, ActKind::Wait(_) | ActKind::Evaluate { .. });
    act.redact = Some(browser.secrets.clone());
    act.secrets = Some(call.scope.typed_secrets());
    let handle = browser.tab(target)?;
    // Conversations store calls, but no text of secret fields.
    let is_secret = call.scope.is_conversation().then(|| is_secret(&handle, &act.kind, call.deadline)).flatten();
    let mark = |error: ToolError| match is_secret {
        Some(is_secret) => error.with(SECRET_FIELD, is_secret),
        None => error,
    };
    let done = guarded(browser, call, &handle, act.clone()).map_err(mark)?;
    let mut outcome = browser.caused(outcome_of(&act.kind), &done);
    if types(&act.kind) && call.scope.is_conversation() {
        // What is not known may be secret.
        outcome = outcome.with(SECRET_FIELD, is_secret.unwrap_or(true));
    }
    if let Some(result) = done.result {
        let is_nothing = result.is_null();
        outcome = browser.with_result(outcome, result)?;
        if is_nothing && forgets_return(&act.kind) {
            outcome = outcome.with("hint", NO_RETURN);
        }
    }
    Ok(browser.finished(outcome))
}

/// Performs an action once the guard of the call allows it. Text is typed first, then Enter is a step of its own: what is sent
/// is known only then.
fn guarded(
    browser: &Browser<'_>,
    call: &ToolContext<'_>,
    handle: &TabHandle,
    mut act: Act,
) -> Result<cdpilot::page::Outcome, ToolError> {
    if let ActKind::Evaluate { .. } = &act.kind {
        return scripted(browser, call, handle, act);
    }
    let deadline = act.deadline(call.deadline);
    let perform = |act: &Act| Ok::<_, ToolError>(browser.profile()?.act(handle, act, deadline)?);
    let Some(guard) = call.scope.guard() else { return perform(&act) };
    let enters = submitted(&act.kind);
    if enters.is_none() {
        let _checked = check(call, handle, &act.kind)?;
        return perform(&act);
    }
    let field = enters.and_then(|at| at.reference).ok_or_else(|| {
        ToolError::new(
            Code::BadRequest,
            "the last field has no ref, so it is not known what Enter would send; name it by its ref",
        )
    })?;
    let delta = std::mem::take(&mut act.delta);
    let time = act.timeout_ms;
    match &mut act.kind {
        ActKind::Type { submit, .. } | ActKind::Fill { submit, .. } => *submit = false,
        _ => {}
    }
    if !guard.resumes() {
        let _checked = check(call, handle, &act.kind)?;
        let typed = perform(&act)?;
        if typed.blocked_by_dialog || typed.navigated {
            return Ok(typed);
        }
    }
    let mut enter = Act::press("Enter").on(Locator::by_ref(field.as_str()));
    (enter.delta, enter.redact, enter.timeout_ms) = (delta, act.redact.clone(), time);
    let (node, shown) = handle.tab.resolve(&field)?;
    let _checked = check_keys(call, handle, Some((&node, &shown)), ("Enter", true)).map_err(|mut error| {
        error.message.push_str("; the text is typed, Enter was not pressed");
        error
    })?;
    perform(&enter)
}

/// The field in which an action presses Enter at its end.
fn submitted(kind: &ActKind) -> Option<Locator> {
    match kind {
        ActKind::Type { at, submit: true, .. } => Some(at.clone()),
        ActKind::Fill { fields, submit: true } => fields.last().map(|field| field.at.clone()),
        _ => None,
    }
}

/// Asks the guard of the call about an action, and binds its element.
fn check<'t>(call: &ToolContext<'_>, handle: &'t TabHandle, kind: &ActKind) -> Result<Checked<'t>, ToolError> {
    let element = |at: Option<&Locator>| -> Result<Option<(Node, Shown)>, ToolError> {
        let reference = at.and_then(|at| at.reference.as_deref());
        Ok(reference.map(|reference| handle.tab.resolve(reference)).transpose()?)
    };
    let checked = |found: &Option<(Node, Shown)>, doing: Doing<'_>| match found {
        Some((node, shown)) => check_element(call, handle, (node, shown), doing),
        None => Ok(Checked::free()),
    };
    match kind {
        ActKind::Click { .. } => checked(&element(kind.locator())?, Doing::new("click", Using::Press)),
        ActKind::Press { at, key, .. } => {
            let found = element(Some(at))?;
            check_keys(call, handle, found.as_ref().map(|(node, shown)| (node, shown)), (key, false))
        }
        ActKind::Drag { end_ref, .. } => {
            let found = end_ref.as_deref().map(|end| handle.tab.resolve(end)).transpose()?;
            checked(&found, Doing::new("drop something on", Using::Press))
        }
        ActKind::Select { values, .. } => {
            let text = values.join(", ");
            checked(&element(kind.locator())?, Doing { text: &text, ..Doing::new("choose in", Using::Other) })
        }
        ActKind::Type { at, text, .. } => {
            let found = element(Some(at))?;
            if let Some((node, shown)) = &found {
                check_secrets(call, handle, (node, shown), text)?;
            }
            checked(&found, Doing { text, ..Doing::new("type into", Using::Other) })
        }
        ActKind::Fill { fields, .. } => {
            for field in fields {
                let Some((node, shown)) = element(Some(&field.at))? else { continue };
                let text = field.value.as_text().unwrap_or_default();
                check_secrets(call, handle, (&node, &shown), text)?;
                let _each = check_element(
                    call,
                    handle,
                    (&node, &shown),
                    Doing { text, ..Doing::new("fill in", Using::Other) },
                )?;
            }
            Ok(Checked::free())
        }
        // Nothing to ask about.
        ActKind::Hover { .. }
        | ActKind::Focus { .. }
        | ActKind::ScrollIntoView { .. }
        | ActKind::Scroll { .. }
        | ActKind::Wait(_)
        | ActKind::Resize { .. } => Ok(Checked::free()),
        // Asked about by the handler.
        ActKind::Evaluate { .. } => Ok(Checked::free()),
        // Of no tool. One that gets a tool is asked about like a click, until it has an arm of its own.
        _ => checked(&element(kind.locator())?, Doing::new("act on", Using::Press)),
    }
}

/// Runs a script. With a guard, it runs first so that V8 ends it before its first effect, and with effects only if the guard
/// allows that.
pub(super) fn scripted(
    browser: &Browser<'_>,
    call: &ToolContext<'_>,
    handle: &TabHandle,
    act: Act,
) -> Result<cdpilot::page::Outcome, ToolError> {
    let (profile, deadline) = (browser.profile()?, act.deadline(call.deadline));
    if call.scope.guard().is_some() {
        let reading = Act { read_only: true, ..act.clone() };
        match profile.act(handle, &reading, deadline) {
            Err(control::Error::Page(error)) if error.is_side_effect() => {}
            outcome => return Ok(outcome?),
        }
        if let ActKind::Evaluate { script, .. } = &act.kind {
            check_script(call, handle, script)?;
        }
    }
    Ok(profile.act(handle, &act, deadline)?)
}

fn types(kind: &ActKind) -> bool {
    matches!(kind, ActKind::Type { .. } | ActKind::Fill { .. })
}

/// Whether the text of an action is for a secret field; `None` if it types none, or if a field is not known.
fn is_secret(handle: &TabHandle, kind: &ActKind, deadline: Deadline<'_>) -> Option<bool> {
    let fields: Vec<&Locator> = match kind {
        ActKind::Type { .. } => vec![kind.locator()?],
        ActKind::Fill { fields, .. } => fields.iter().map(|field| &field.at).collect(),
        _ => return None,
    };
    let each = fields.into_iter().map(|at| {
        let (node, _) = handle.tab.resolve(at.reference.as_deref()?).ok()?;
        handle.tab.is_secret_field(&node, deadline.within(SECRECY_LIMIT)).ok()
    });
    each.collect::<Option<Vec<bool>>>().map(|all| all.contains(&true))
}

/// What was done, in the terms of the arguments.
fn outcome_of(kind: &ActKind) -> Outcome {
    let outcome = Outcome::default();
    let reference = kind.locator().and_then(|at| at.reference.as_deref()).unwrap_or_default();
    match kind {
        ActKind::Click { .. } => outcome.with("clicked", reference),
        ActKind::Hover { .. } => outcome.with("hovered", reference),
        // The text may be a password.
        ActKind::Type { text, .. } if !secrets_in(text).is_empty() => {
            outcome.with("typed", format!("the secret {}", secrets_in(text).join(", "))).with("element", reference)
        }
        ActKind::Type { text, .. } => {
            outcome.with("typed", format!("{} characters", text.chars().count())).with("element", reference)
        }
        ActKind::Press { key, .. } => outcome.with("pressed", key.as_str()),
        ActKind::Scroll { direction, .. } => outcome.with("scrolled", json!(direction)),
        _ => outcome,
    }
}

/// Whether an action is a script with statements but without `return`.
fn forgets_return(kind: &ActKind) -> bool {
    let ActKind::Evaluate { script, .. } = kind else { return false };
    let script = script.trim().trim_end_matches(';');
    script.contains([';', '\n']) && !script.contains("return")
}

#[cfg(test)]
mod tests {
    use cdpilot::page::ACTIONS;

    #[test]
    fn approval_is_decided_for_each_action_that_has_a_tool() {
        let decided = ["click", "hover", "type", "fill", "press", "drag", "select", "scroll", "wait", "evaluate"];
        for action in ACTIONS.iter().filter(|action| action.tool.is_some()) {
            assert!(
                decided.contains(&action.kind),
                "{}: decide in `check` whether its tool needs approval, and add it here",
                action.kind
            );
        }
    }
}
