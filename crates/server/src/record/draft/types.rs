//! Types of a draft. Their names in `openapi.json` begin with `Draft`: others have the same ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::event::{Container, Element, FrameStep};

/// The steps of a recording, derived from its events without a model. The same events give the same draft.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Draft")]
pub struct Draft {
    /// Id of the recording.
    pub recording_id: String,
    /// The steps in the order in which they were done.
    pub normalized_steps: Vec<Step>,
    /// Number of steps.
    pub normalized_step_count: usize,
    /// The same steps as a workflow, with inputs and warnings.
    pub workflow: Workflow,
}

/// Version of the workflow format.
pub const WORKFLOW_VERSION: &str = "workflow_ir/v1";

/// The steps as a workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftWorkflow")]
pub struct Workflow {
    /// `workflow_ir/v1`.
    pub version: String,
    /// Name of the recording, or a sentence made from its last step.
    pub goal: String,
    /// Values that were entered. Names are unique over all steps.
    pub inputs: Vec<Input>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Missing or uncertain parts.
    pub warnings: Vec<Warning>,
}

/// A value that was entered in a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftInput")]
pub struct Input {
    /// A lower-case letter, then letters, digits and `_`.
    pub name: String,
    /// Label or name of the field, as shown; empty for a field without one.
    pub label: String,
    /// Whether a run needs a value. Otherwise `default` is used.
    pub required: bool,
    /// Whether the value is secret. Such an input has no default.
    pub sensitive: bool,
    /// The recorded value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Id of the step that uses it.
    pub step: String,
}

/// A missing or uncertain part of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftWarning")]
pub struct Warning {
    /// `gap` or `empty`.
    pub code: String,
    /// The warning as a sentence.
    pub message: String,
    /// Event that the warning is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_index: Option<u64>,
    /// How many events are missing; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Id of the step before the gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_step: Option<String>,
}

/// A step of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftStep")]
pub struct Step {
    /// `step_001`, `step_002`, ….
    pub id: String,
    /// The kind of step.
    #[serde(rename = "type")]
    pub kind: StepType,
    /// The action, in more detail than `type`.
    pub action: Action,
    /// The step as a sentence.
    pub description: String,
    /// Events that the step was made from, in order. Events that only followed from the step are its `postcondition`.
    pub source_event_indexes: Vec<u64>,
    /// Where it is done; null for steps of no page.
    pub target: Option<Target>,
    /// Value that is entered, key that is pressed, address that is opened; null for steps without one.
    pub value: Option<StepValue>,
    /// Recorded effect of the step; null if none was recorded.
    pub postcondition: Option<Postcondition>,
}

/// Kinds of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
#[schemars(rename = "DraftStepType")]
pub enum StepType {
    Navigate,
    Tab,
    Click,
    Form,
    Submit,
    Key,
    Scroll,
    Hover,
    Drag,
    Files,
    Dialog,
    Download,
}

/// Actions of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
#[schemars(rename = "DraftAction")]
pub enum Action {
    Open,
    Reload,
    Back,
    Forward,
    OpenTab,
    SwitchTab,
    CloseTab,
    Click,
    DoubleClick,
    RightClick,
    MiddleClick,
    Fill,
    FillSubmit,
    Submit,
    Press,
    ScrollToReveal,
    ScrollContainer,
    Hover,
    Drag,
    ChooseFiles,
    AcceptDialog,
    DismissDialog,
    Download,
}

/// Where a step is done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DraftTarget")]
pub struct Target {
    /// Number of the tab in the recording.
    pub tab: u64,
    /// Address of the page.
    pub page_url: String,
    /// Frames from the top document to that of the element.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame: Vec<FrameStep>,
    /// The element, for steps with one element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<Anchor>,
    /// Fields of a form step, in the order of entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// How the form was submitted, for `fill_submit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit: Option<FormSubmit>,
}

/// Identifying properties of an element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "DraftAnchor")]
pub struct Anchor {
    /// Name of its tag, in lower case.
    pub tag: String,
    /// Its role.
    pub role: String,
    /// Its accessible name.
    pub name: String,
    /// Its text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The text of its label.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Its test id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub test_id: String,
    /// Selectors that matched only this element.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selectors: Vec<String>,
    /// The row, card, dialog, form or section around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// The state of a button that has one, before it was used.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// Whether what it holds is never recorded.
    pub sensitive: bool,
}

impl From<&Element> for Anchor {
    fn from(element: &Element) -> Self {
        Self {
            tag: element.tag.clone(),
            role: element.role.clone(),
            name: element.name.clone(),
            text: if element.sensitive { String::new() } else { element.text.clone() },
            label: element.label.clone(),
            test_id: element.test_id.clone(),
            selectors: element.selectors.clone(),
            container: element.container.clone(),
            state: element.state.clone(),
            sensitive: element.sensitive,
        }
    }
}

/// A field of a form step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftField")]
pub struct Field {
    /// The field.
    pub element: Anchor,
    /// Its value after the step.
    pub value: FieldValue,
}

/// Value of a field after a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "DraftFieldValue")]
pub enum FieldValue {
    /// The value of an input.
    Variable {
        /// Name of the input.
        name: String,
        /// Whether a run needs a value.
        required: bool,
        /// Whether the value is secret.
        sensitive: bool,
        /// The recorded value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default: Option<String>,
        /// Options chosen in a list, by value and label.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
    },
    /// The state of a checkbox, a switch or a radio button.
    Checked {
        /// Whether it is on.
        checked: bool,
    },
}

/// An option of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftChoice")]
pub struct Choice {
    /// Its value.
    pub value: String,
    /// Its label, as shown.
    pub label: String,
}

/// How a form was submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftFormSubmit")]
pub struct FormSubmit {
    /// Trigger of the submission.
    pub by: SubmitBy,
    /// The button that was clicked, or the field in which Enter was pressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Anchor>,
}

/// Trigger of a form submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DraftSubmitBy")]
pub enum SubmitBy {
    /// A click.
    Click,
    /// The Enter key.
    Enter,
    /// Neither was recorded.
    Other,
}

/// Value of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs)]
#[schemars(rename = "DraftStepValue")]
pub enum StepValue {
    /// An address to open.
    Url { url: String },
    /// A click: `left`, `right` or `middle`, how often, and keys held meanwhile.
    Click { button: String, count: u64, modifiers: Vec<String> },
    /// A key, with keys held meanwhile, pressed `count` times.
    Key { key: String, modifiers: Vec<String>, count: u64 },
    /// The scroll position afterwards, in CSS pixels, and the direction: `up`, `down`, `left` or `right`.
    Scroll { x: f64, y: f64, direction: String },
    /// Start and end of a drag, as recorded.
    Drag { from: Value, to: Value },
    /// Names of the chosen files, without folders.
    Files { names: Vec<String> },
    /// A tab, why it is used, and the id of the step that opened it.
    Tab {
        tab: u64,
        why: TabReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opened_by: Option<String>,
    },
    /// A dialog and its answer.
    Dialog(DialogAnswer),
    /// A download.
    Download { url: String, filename: String },
}

/// Why a step uses another tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DraftTabReason")]
pub enum TabReason {
    /// An earlier step opened it.
    OpenedByStep,
    /// It was opened for the step, by hand.
    OpenedByHand,
    /// It was used before.
    Returned,
    /// The tab that was used before was closed.
    PreviousClosed,
    /// It existed before and was not used until now.
    FirstUse,
}

/// A dialog and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DraftDialogAnswer")]
pub struct DialogAnswer {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    pub dialog: String,
    /// Its message, from the page.
    pub message: String,
    /// Whether it was accepted.
    pub accepted: bool,
    /// The text that was entered in a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_text: Option<String>,
}

/// Recorded effects of a step: one, or several in the order in which they followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "DraftPostcondition")]
pub enum Postcondition {
    /// One effect.
    One(Effect),
    /// Several effects: `{kind: "all", of: [...]}`.
    Several(Effects),
}

/// Several effects of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DraftEffects")]
pub struct Effects {
    /// `all`.
    pub kind: EffectsKind,
    /// The effects, in the order in which they followed.
    pub of: Vec<Effect>,
}

/// The value of `kind` in [`Effects`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DraftEffectsKind")]
pub enum EffectsKind {
    /// All of them followed.
    All,
}

/// An effect of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs)]
#[schemars(rename = "DraftEffect")]
pub enum Effect {
    /// The tab shows this address.
    Url { url: String },
    /// A tab was opened.
    Tab { tab: u64, url: String },
    /// A tab was closed.
    TabClosed { tab: u64 },
    /// A dialog was shown, and answered in this way.
    Dialog(DialogAnswer),
    /// A download began.
    Download { url: String, filename: String },
}
