//! Actions as callers describe them: the fields of `POST /act`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::redact::Secrets;
use crate::sync::Deadline;

/// An action on a tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Act {
    /// The kind of action, with its own fields.
    #[serde(flatten)]
    pub kind: ActKind,
    /// Maximum duration, in milliseconds. Default 8,000 (20,000 for `wait` and `evaluate`, 120,000 for `batch`), at
    /// most 120,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How events are dispatched. Default `trusted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// Act even if role or name of the element changed since the snapshot. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Report the changed lines of the page in `changes`. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delta: bool,
    /// How long to wait for the effects of the action. Default `auto`; `none` for `mouse` and `clickCoords`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
    /// Secrets to cover in the reported changes, besides texts that look like one.
    #[serde(skip)]
    pub redact: Option<Secrets>,
}

/// Default durations, and the maximum.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(8);
const LONG_DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_TIMEOUT: Duration = Duration::from_secs(120);

impl Act {
    /// An action with defaults for all common fields.
    #[must_use]
    pub fn new(kind: ActKind) -> Self {
        Self { kind, timeout_ms: None, input: None, force: false, delta: false, settle: None, redact: None }
    }

    /// How long to wait for the effects of the action.
    #[must_use]
    pub fn settles(&self) -> Settle {
        self.settle.unwrap_or(match self.kind {
            ActKind::Mouse { .. } | ActKind::ClickCoords { .. } => Settle::None,
            _ => Settle::Auto,
        })
    }

    /// The deadline of the action, within another one.
    #[must_use]
    pub fn deadline(&self, within: Deadline) -> Deadline {
        let usual = match self.kind {
            ActKind::Wait(_) | ActKind::Evaluate { .. } => LONG_DEFAULT_TIMEOUT,
            ActKind::Batch { .. } => MAX_TIMEOUT,
            _ => DEFAULT_TIMEOUT,
        };
        within.within(self.timeout_ms.map_or(usual, Duration::from_millis).min(MAX_TIMEOUT))
    }
}

/// How long to wait for the effects of an action before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Settle {
    /// Until navigations have ended and the page has settled, at most 500 ms after the last change that the action
    /// caused.
    Auto,
    /// Do not wait.
    None,
    /// As `auto`, but at most this many milliseconds in total, requests and navigations included.
    MaxMs(u64),
}

/// The kinds with one element.
macro_rules! on_element {
    ($at:ident) => {
        Self::Click { at: $at, .. }
            | Self::Hover { at: $at }
            | Self::Focus { at: $at }
            | Self::ScrollIntoView { at: $at }
            | Self::Type { at: $at, .. }
            | Self::Press { at: $at, .. }
            | Self::Select { at: $at, .. }
            | Self::Check { at: $at }
            | Self::Uncheck { at: $at }
            | Self::Scroll { at: $at, .. }
    };
}

impl ActKind {
    /// The `kind` in requests.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Click { .. } => "click",
            Self::Hover { .. } => "hover",
            Self::Focus { .. } => "focus",
            Self::ScrollIntoView { .. } => "scrollIntoView",
            Self::ClickCoords { .. } => "clickCoords",
            Self::Mouse { .. } => "mouse",
            Self::Type { .. } => "type",
            Self::InsertText { .. } => "insertText",
            Self::Press { .. } => "press",
            Self::Drag { .. } => "drag",
            Self::Select { .. } => "select",
            Self::Check { .. } => "check",
            Self::Uncheck { .. } => "uncheck",
            Self::Fill { .. } => "fill",
            Self::Scroll { .. } => "scroll",
            Self::Wait(_) => "wait",
            Self::Resize { .. } => "resize",
            Self::Close {} => "close",
            Self::Evaluate { .. } => "evaluate",
            Self::Batch { .. } => "batch",
        }
    }

    /// Whether the action waits for its turn. `wait` changes nothing, and a tab can be closed whatever runs in it.
    pub(super) fn takes_turn(&self) -> bool {
        !matches!(self, Self::Wait(_) | Self::Close {})
    }

    /// The frames that the action names, without those of a batch's actions.
    pub(super) fn frames(&self) -> Vec<&str> {
        let named = match self {
            Self::Wait(wanted) => vec![&wanted.frame_id],
            Self::Evaluate { frame_id, .. } | Self::Drag { frame_id, .. } => vec![frame_id],
            Self::Fill { fields, .. } => fields.iter().map(|field| &field.at.frame_id).collect(),
            _ => self.locator().map(|at| &at.frame_id).into_iter().collect(),
        };
        named.into_iter().flatten().map(String::as_str).collect()
    }

    /// As [`frames`](Self::frames), mutable.
    pub(super) fn frames_mut(&mut self) -> Vec<&mut String> {
        let named = match self {
            Self::Wait(wanted) => vec![&mut wanted.frame_id],
            Self::Evaluate { frame_id, .. } | Self::Drag { frame_id, .. } => vec![frame_id],
            Self::Fill { fields, .. } => fields.iter_mut().map(|field| &mut field.at.frame_id).collect(),
            _ => self.locator_mut().map(|at| &mut at.frame_id).into_iter().collect(),
        };
        named.into_iter().flatten().collect()
    }

    /// The element of the action, if it has one.
    pub(in crate::page) fn locator(&self) -> Option<&Locator> {
        match self {
            on_element!(at) => Some(at),
            Self::Fill { fields, .. } => fields.first().map(|field| &field.at),
            _ => None,
        }
    }

    /// As [`locator`](Self::locator), mutable, and without the fields of a form.
    pub(in crate::page) fn locator_mut(&mut self) -> Option<&mut Locator> {
        match self {
            on_element!(at) => Some(at),
            _ => None,
        }
    }
}

/// How events are dispatched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// By the browser, like input of a person.
    Trusted,
    /// By a script, in the full DOM sequence.
    Synthetic,
}

impl Locator {
    /// Whether an element is given at all.
    pub(super) fn is_given(&self) -> bool {
        self.reference.is_some() || self.selector.is_some() || self.locator.is_some()
    }
}

/// An element: by ref, CSS selector or locator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Locator {
    /// A ref from a snapshot, such as `e12`.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
    pub reference: Option<String>,
    /// A CSS selector: the first match in document order, over open shadow roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// `role=button[name="Save"]`, `text=…`, `label=…`, `placeholder=…`, `testid=…` or `css=…`, chained by ` >> `, over
    /// all frames and shadow roots. Several matches are an error unless `nth` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locator: Option<String>,
    /// Which match of the locator to use: from 0, or from the end if negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<i32>,
    /// The frame to search: a frame id or the ref of an iframe. Default: the top frame for a selector, all frames for a
    /// locator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
}

/// The kind of action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ActKind {
    /// Clicks an element.
    Click {
        /// The element to click.
        #[serde(flatten)]
        at: Locator,
        /// Double-click. Default false.
        #[serde(default)]
        double: bool,
        /// The mouse button. Default `left`.
        #[serde(default)]
        button: Button,
        /// Modifier keys to hold.
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
    /// Moves the mouse over an element.
    Hover {
        /// The element to hover.
        #[serde(flatten)]
        at: Locator,
    },
    /// Moves the focus to an element.
    Focus {
        /// The element to focus.
        #[serde(flatten)]
        at: Locator,
    },
    /// Scrolls an element into view.
    ScrollIntoView {
        /// The element to show.
        #[serde(flatten)]
        at: Locator,
    },
    /// Clicks a point of the viewport.
    ClickCoords {
        /// Distance from the left, in CSS pixels.
        x: f64,
        /// Distance from the top, in CSS pixels.
        y: f64,
        /// Double-click. Default false.
        #[serde(default)]
        double: bool,
        /// The mouse button. Default `left`.
        #[serde(default)]
        button: Button,
    },
    /// Sends single mouse events.
    Mouse {
        /// The events, in order.
        events: Vec<MouseEvent>,
    },
    /// Types text into an element, or into the focused one.
    Type {
        /// The field. Default: the focused element.
        #[serde(flatten)]
        at: Locator,
        /// The text to type.
        text: String,
        /// Press Enter afterwards. Default false.
        #[serde(default)]
        submit: bool,
        /// Wait 75 ms between characters. Default false.
        #[serde(default)]
        slowly: bool,
        /// Append instead of replacing. Default false.
        #[serde(default)]
        append: bool,
    },
    /// Inserts text into the focused element, without key events.
    InsertText {
        /// The text to insert.
        text: String,
    },
    /// Presses a key or a chord: `Enter`, `Control+a`, `Shift+ArrowDown`.
    Press {
        /// The element to focus first. Default: the focused element.
        #[serde(flatten)]
        at: Locator,
        /// The key or chord.
        key: String,
        /// How many times to press it, 1 to 1,000. Default 1.
        #[serde(default)]
        repeat: Option<u32>,
    },
    /// Drags from one place to another.
    Drag {
        /// The start, as a ref.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
        start_ref: Option<String>,
        /// The start, as a CSS selector.
        #[serde(default)]
        start_selector: Option<String>,
        /// The start, as a locator.
        #[serde(default)]
        start_locator: Option<String>,
        /// The start, as a point of the viewport.
        #[serde(default)]
        start: Option<Point>,
        /// The target, as a ref.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
        end_ref: Option<String>,
        /// The target, as a CSS selector.
        #[serde(default)]
        end_selector: Option<String>,
        /// The target, as a locator.
        #[serde(default)]
        end_locator: Option<String>,
        /// The target, as a point of the viewport.
        #[serde(default)]
        end: Option<Point>,
        /// Mouse moves between start and target, 1 to 1,000. Default 10.
        #[serde(default)]
        steps: Option<u32>,
        /// The frame of selectors and locators: a frame id or the ref of an iframe. Default: the top frame.
        #[serde(default)]
        frame_id: Option<String>,
    },
    /// Selects options of a `<select>`.
    Select {
        /// The `<select>`.
        #[serde(flatten)]
        at: Locator,
        /// Values or labels of the options.
        values: Vec<String>,
    },
    /// Checks a checkbox, radio button or switch.
    Check {
        /// The element to check.
        #[serde(flatten)]
        at: Locator,
    },
    /// Unchecks a checkbox or switch.
    Uncheck {
        /// The element to uncheck.
        #[serde(flatten)]
        at: Locator,
    },
    /// Fills in form fields.
    Fill {
        /// The fields, in order.
        fields: Vec<Field>,
        /// Press Enter in the last text field afterwards. Default false.
        #[serde(default)]
        submit: bool,
    },
    /// Scrolls the page or a container.
    Scroll {
        /// An element in the container to scroll. Default: the page.
        #[serde(flatten)]
        at: Locator,
        /// The direction.
        direction: Direction,
        /// Distance in CSS pixels. Default: most of a page.
        #[serde(default)]
        pixels: Option<f64>,
    },
    /// Waits until all given conditions hold at once.
    Wait(WaitFor),
    /// Sets the size of the viewport.
    Resize {
        /// Width in CSS pixels, 1 to 8,192.
        width: u32,
        /// Height in CSS pixels, 1 to 8,192.
        height: u32,
    },
    /// Closes the tab.
    Close {},
    /// Runs JavaScript in the page.
    Evaluate {
        /// An expression, a function that is called with the element, or a function body. Promises are awaited.
        #[serde(rename = "fn")]
        script: String,
        /// The element to pass, as a ref.
        #[serde(default, rename = "ref")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
        reference: Option<String>,
        /// The element to pass, as a locator.
        #[serde(default)]
        locator: Option<String>,
        /// The frame to run in: a frame id or the ref of an iframe. Default: the top frame.
        #[serde(default)]
        frame_id: Option<String>,
    },
    /// Runs several actions one after the other.
    Batch {
        /// The actions, in order; at most 100.
        actions: Vec<Act>,
        /// Stop at the first failure. Default true.
        #[serde(default)]
        stop_on_error: Option<bool>,
    },
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Button {
    /// The primary button.
    #[default]
    Left,
    /// The secondary button, which opens context menus.
    Right,
    /// The middle button, or wheel.
    Middle,
}

/// A modifier key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Modifier {
    /// Alt (Option on macOS).
    Alt,
    /// Control.
    Control,
    /// Command on macOS, Control elsewhere.
    ControlOrMeta,
    /// Command on macOS, the Windows key elsewhere.
    Meta,
    /// Shift.
    Shift,
}

/// A point of the viewport, CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Distance from the left.
    pub x: f64,
    /// Distance from the top.
    pub y: f64,
}

/// A single mouse event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MouseEvent {
    /// The type of event.
    #[serde(rename = "type")]
    pub kind: MouseKind,
    /// Distance from the left, in CSS pixels.
    pub x: f64,
    /// Distance from the top, in CSS pixels.
    pub y: f64,
    /// For `wheel`: distance to the right, in CSS pixels.
    #[serde(default)]
    pub delta_x: f64,
    /// For `wheel`: distance down, in CSS pixels.
    #[serde(default)]
    pub delta_y: f64,
}

/// The type of a single mouse event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MouseKind {
    /// Move the mouse.
    Move,
    /// Press the left button.
    Down,
    /// Release the left button.
    Up,
    /// Turn the wheel.
    Wheel,
}

/// A form field and its new value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = false)))]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// The field.
    #[serde(flatten)]
    pub at: Locator,
    /// The value.
    pub value: FieldValue,
}

/// The value of a form field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FieldValue {
    /// For a checkbox, radio button or switch.
    Flag(bool),
    /// For a number or range.
    Number(serde_json::Number),
    /// Text, a date, a colour, or an option by value or label.
    Text(String),
    /// Several options.
    Texts(Vec<String>),
}

/// The direction of a scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
}

/// Conditions. All that are given must hold at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "camelCase", default)]
pub struct WaitFor {
    /// Time to wait, in milliseconds; at most 30,000.
    pub time_ms: Option<u64>,
    /// A text that is visible in some frame. Case and white space are ignored.
    pub text: Option<String>,
    /// A text that is visible in no frame.
    pub text_gone: Option<String>,
    /// A CSS selector with a visible match, or one in `state`.
    pub selector: Option<String>,
    /// A pattern for the URL of the tab: `*` matches any text, `?` one character.
    pub url: Option<String>,
    /// `load`, `domcontentloaded` or `networkidle`.
    pub load_state: Option<super::LoadState>,
    /// A script that returns a true value.
    #[serde(rename = "fn")]
    pub script: Option<String>,
    /// A ref whose element is in `state`.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
    pub reference: Option<String>,
    /// A locator whose element is in `state`.
    pub locator: Option<String>,
    /// Which match of the locator to use: from 0, or from the end if negative.
    pub nth: Option<i32>,
    /// The state of the element. Default `visible`.
    pub state: Option<State>,
    /// The frame of `selector` and `fn`: a frame id or the ref of an iframe. Default: the top frame.
    pub frame_id: Option<String>,
}

/// A state of an element to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum State {
    /// Rendered and not hidden.
    Visible,
    /// Not rendered, hidden or gone.
    Hidden,
    /// Not disabled.
    Enabled,
    /// Cannot be used.
    Disabled,
    /// Checked.
    Checked,
    /// Not checked.
    Unchecked,
    /// Removed from the document.
    Gone,
}
