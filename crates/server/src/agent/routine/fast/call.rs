//! The tool and the arguments of a recorded action.

use cdpilot::page::{ActKind, Field, FieldValue, Locator};
use serde_json::{Value, json};

use crate::replay::{FastAction, What, described};
use crate::tools::browser::RECORDED;

/// A call of the program.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// What it does, for people.
    pub(super) text: String,
}

/// The call for an action on an element with a ref, in a tab. `end`: the ref of the element that it is dragged to. `dialog`: the id of
/// the dialog that is open. `filled`: a text with the values that earlier steps have read.
pub(super) fn call(
    action: &FastAction,
    target: &str,
    (reference, end): (Option<&str>, Option<&str>),
    dialog: Option<&str>,
    filled: &dyn Fn(&str) -> String,
) -> Call {
    let element = action.element.as_ref().map(described).unwrap_or_default();
    let at = || Locator { reference: reference.map(str::to_owned), ..Locator::default() };
    let act = |kind: ActKind, text: String| {
        let mut arguments = json!(kind);
        arguments["target"] = target.into();
        Call { tool: RECORDED, arguments, text }
    };
    let navigate = |fields: Value, text: String| {
        let mut arguments = fields;
        arguments["target"] = target.into();
        Call { tool: "browser_navigate", arguments, text }
    };
    match &action.what {
        What::Click { button, double, modifiers } => {
            let verb = if *double { "double-click" } else { "click" };
            let (double, button, modifiers) = (*double, *button, modifiers.clone());
            act(ActKind::Click { at: at(), double, button, modifiers }, format!("{verb} {element}"))
        }
        What::Fill { text } => {
            let field = Field { at: at(), value: FieldValue::Text(filled(text)) };
            act(ActKind::Fill { fields: vec![field], submit: false }, format!("fill in {element}"))
        }
        What::Check { on: true } => act(ActKind::Check { at: at() }, format!("check {element}")),
        What::Check { on: false } => act(ActKind::Uncheck { at: at() }, format!("uncheck {element}")),
        What::Select { values } => {
            let values: Vec<String> = values.iter().map(|value| filled(value)).collect();
            let text = format!("choose {} in {element}", values.join(", "));
            act(ActKind::Select { at: at(), values }, text)
        }
        What::Press { key, times } => {
            let kind = ActKind::Press { at: at(), key: key.clone(), repeat: Some(*times) };
            act(kind, format!("press {key}"))
        }
        What::Hover => act(ActKind::Hover { at: at() }, format!("point at {element}")),
        What::Drag { to } => {
            let kind = ActKind::Drag {
                start_ref: reference.map(str::to_owned),
                end_ref: end.map(str::to_owned),
                start_selector: None,
                start_locator: None,
                start: None,
                end_selector: None,
                end_locator: None,
                end: None,
                steps: None,
                frame_id: None,
            };
            act(kind, format!("drag {element} to {}", described(to)))
        }
        What::Upload { paths } => {
            let paths: Vec<String> = paths.iter().map(|path| filled(path)).collect();
            let arguments = json!({ "ref": reference, "paths": paths, "target": target });
            Call { tool: "browser_upload", arguments, text: format!("choose a file for {element}") }
        }
        What::Dialog { answer } => {
            let verb = if answer.accepted { "accept" } else { "dismiss" };
            let mut arguments = json!({ "action": verb });
            if let Some(dialog) = dialog {
                arguments["dialog_id"] = dialog.into();
            }
            if let Some(text) = answer.prompt_text.as_ref().filter(|_| answer.accepted) {
                arguments["prompt_text"] = filled(text).into();
            }
            Call { tool: "browser_dialog", arguments, text: format!("{verb} the dialog") }
        }
        What::Open { url } => navigate(json!({ "url": url }), "open the page".to_owned()),
        What::OpenTab { url } => {
            let arguments = json!({ "action": "open", "url": url });
            Call { tool: "browser_tabs", arguments, text: "open a tab".to_owned() }
        }
        What::Back => navigate(json!({ "action": "back" }), "go back".to_owned()),
        What::Forward => navigate(json!({ "action": "forward" }), "go forward".to_owned()),
        What::Reload => navigate(json!({ "action": "reload" }), "reload the page".to_owned()),
        What::CloseTab => {
            let arguments = json!({ "action": "close", "target": target });
            Call { tool: "browser_tabs", arguments, text: "close the tab".to_owned() }
        }
    }
}
