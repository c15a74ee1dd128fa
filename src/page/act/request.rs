//! The actions as they are asked for: the fields of `POST /act`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::supervisor::Secrets;
use crate::sync::Deadline;

/// An action on a tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Act {
    /// What is done.
    #[serde(flatten)]
    pub kind: ActKind,
    /// How long it may take, milliseconds: 8,000 by default, 20,000 for `wait` and `evaluate`, 120,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How events get into the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// Also when what the ref stands for has changed since it was shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether what changed on the page is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delta: bool,
    /// How long the effects of the action are waited for: `auto` by default, `none` for `mouse` and `clickCoords`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
    /// Secrets to cover in what is told of the page's changes, together with what looks like one.
    #[serde(skip)]
    pub redact: Option<Secrets>,
}

/// The time that an action takes at most when none is given, and the most that may be given.
const USUAL: Duration = Duration::from_secs(8);
const PATIENT: Duration = Duration::from_secs(20);
const LONGEST: Duration = Duration::from_secs(120);

impl Act {
    /// An action with nothing but its kind.
    #[must_use]
    pub fn new(kind: ActKind) -> Self {
        Self { kind, timeout_ms: None, input: None, force: false, delta: false, settle: None, redact: None }
    }

    /// How long its effects are waited for.
    #[must_use]
    pub fn settles(&self) -> Settle {
        self.settle.unwrap_or(match self.kind {
            ActKind::Mouse { .. } | ActKind::ClickCoords { .. } => Settle::None,
            _ => Settle::Auto,
        })
    }

    /// Its own deadline, within another one.
    #[must_use]
    pub fn deadline(&self, within: Deadline) -> Deadline {
        let usual = match self.kind {
            ActKind::Wait(_) | ActKind::Evaluate { .. } => PATIENT,
            ActKind::Batch { .. } => LONGEST,
            _ => USUAL,
        };
        within.within(self.timeout_ms.map_or(usual, Duration::from_millis).min(LONGEST))
    }
}

/// How long the effects of an action are waited for before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Settle {
    /// Until navigations have ended, and what the action changed has come to rest: at most 500 ms after the last change that
    /// it caused.
    Auto,
    /// Not at all.
    None,
    /// As `auto`, but for so many milliseconds at most altogether, requests and navigations included.
    MaxMs(u64),
}

/// The kinds that act on one element.
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
    /// Its name in requests.
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

    /// Whether it waits for its turn. `wait` changes nothing, and a tab can be closed whatever hangs in it.
    pub(super) fn takes_turn(&self) -> bool {
        !matches!(self, Self::Wait(_) | Self::Close {})
    }

    /// The frames it names, those of a batch's actions aside.
    pub(super) fn frames(&self) -> Vec<&str> {
        let named = match self {
            Self::Wait(wanted) => vec![&wanted.frame_id],
            Self::Evaluate { frame_id, .. } | Self::Drag { frame_id, .. } => vec![frame_id],
            Self::Fill { fields, .. } => fields.iter().map(|field| &field.at.frame_id).collect(),
            _ => self.locator().map(|at| &at.frame_id).into_iter().collect(),
        };
        named.into_iter().flatten().map(String::as_str).collect()
    }

    /// The same, to be changed.
    pub(super) fn frames_mut(&mut self) -> Vec<&mut String> {
        let named = match self {
            Self::Wait(wanted) => vec![&mut wanted.frame_id],
            Self::Evaluate { frame_id, .. } | Self::Drag { frame_id, .. } => vec![frame_id],
            Self::Fill { fields, .. } => fields.iter_mut().map(|field| &mut field.at.frame_id).collect(),
            _ => self.locator_mut().map(|at| &mut at.frame_id).into_iter().collect(),
        };
        named.into_iter().flatten().collect()
    }

    /// The element it is about, if it is about one.
    pub(in crate::page) fn locator(&self) -> Option<&Locator> {
        match self {
            on_element!(at) => Some(at),
            Self::Fill { fields, .. } => fields.first().map(|field| &field.at),
            _ => None,
        }
    }

    /// The same, to be changed; not that of a field in a form.
    pub(in crate::page) fn locator_mut(&mut self) -> Option<&mut Locator> {
        match self {
            on_element!(at) => Some(at),
            _ => None,
        }
    }
}

/// How events get into the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Through the browser, as a person's.
    Trusted,
    /// Dispatched by script, in their full sequence.
    Synthetic,
}

impl Locator {
    /// Whether it names an element at all.
    pub(super) fn is_given(&self) -> bool {
        self.reference.is_some() || self.selector.is_some() || self.locator.is_some()
    }
}

/// An element: by ref, or by a CSS selector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Locator {
    /// A ref of a snapshot.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "server", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
    pub reference: Option<String>,
    /// The first match in document order over open shadow roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// `role=button[name="Save"]`, `text=…`, `label=…`, `placeholder=…`, `testid=…`, `css=…`, chained by ` >> `; over all
    /// frames and shadow roots. Several matches are an error unless `nth` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locator: Option<String>,
    /// Which match of the locator: from 0, or from the end for a negative number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<i32>,
    /// The frame that a selector or locator is looked for in, by its id or the ref of the iframe. Default: the top frame for a selector, all frames for a locator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ActKind {
    /// Presses and releases a mouse button on an element.
    Click {
        /// The element.
        #[serde(flatten)]
        at: Locator,
        /// Twice in a row.
        #[serde(default)]
        double: bool,
        /// Which button.
        #[serde(default)]
        button: Button,
        /// Keys that are held.
        #[serde(default)]
        modifiers: Vec<Modifier>,
    },
    /// Moves the mouse over an element.
    Hover {
        /// The element.
        #[serde(flatten)]
        at: Locator,
    },
    /// Gives an element the focus.
    Focus {
        /// The element.
        #[serde(flatten)]
        at: Locator,
    },
    /// Brings an element into view.
    ScrollIntoView {
        /// The element.
        #[serde(flatten)]
        at: Locator,
    },
    /// Clicks at a point of the viewport, CSS pixels.
    ClickCoords {
        /// From the left.
        x: f64,
        /// From the top.
        y: f64,
        /// Twice in a row.
        #[serde(default)]
        double: bool,
        /// Which button.
        #[serde(default)]
        button: Button,
    },
    /// Single mouse events.
    Mouse {
        /// In this order.
        events: Vec<MouseEvent>,
    },
    /// Types into an element, or into the focused one.
    Type {
        /// The element.
        #[serde(flatten)]
        at: Locator,
        /// What.
        text: String,
        /// Press Enter afterwards.
        #[serde(default)]
        submit: bool,
        /// With 75 ms between characters.
        #[serde(default)]
        slowly: bool,
        /// Behind what is there, instead of in its place.
        #[serde(default)]
        append: bool,
    },
    /// Puts text into the focused element, without key events.
    InsertText {
        /// What.
        text: String,
    },
    /// Presses a key or a chord: `Enter`, `Control+a`, `Shift+ArrowDown`.
    Press {
        /// The element.
        #[serde(flatten)]
        at: Locator,
        /// Which.
        key: String,
        /// How often.
        #[serde(default)]
        repeat: Option<u32>,
    },
    /// Drags from one place to another.
    Drag {
        /// Where it begins: a ref,
        #[serde(default)]
        #[cfg_attr(feature = "server", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
        start_ref: Option<String>,
        /// a selector,
        #[serde(default)]
        start_selector: Option<String>,
        /// a locator,
        #[serde(default)]
        start_locator: Option<String>,
        /// or a point.
        #[serde(default)]
        start: Option<Point>,
        /// Where it ends: a ref,
        #[serde(default)]
        #[cfg_attr(feature = "server", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
        end_ref: Option<String>,
        /// a selector,
        #[serde(default)]
        end_selector: Option<String>,
        /// a locator,
        #[serde(default)]
        end_locator: Option<String>,
        /// or a point.
        #[serde(default)]
        end: Option<Point>,
        /// Moves on the way; 10 by default.
        #[serde(default)]
        steps: Option<u32>,
        /// The frame of selectors and scripts, by its id or the ref of the iframe; the top frame by default.
        #[serde(default)]
        frame_id: Option<String>,
    },
    /// Chooses options by value or label.
    Select {
        /// The element.
        #[serde(flatten)]
        at: Locator,
        /// Values or labels.
        values: Vec<String>,
    },
    /// Ticks a checkbox, radio button or switch.
    Check {
        /// The element.
        #[serde(flatten)]
        at: Locator,
    },
    /// Unticks one.
    Uncheck {
        /// The element.
        #[serde(flatten)]
        at: Locator,
    },
    /// Fills in several fields.
    Fill {
        /// In this order.
        fields: Vec<Field>,
        /// Press Enter afterwards, in the last text field.
        #[serde(default)]
        submit: bool,
    },
    /// Scrolls the page, or what is in an element.
    Scroll {
        /// The element.
        #[serde(flatten)]
        at: Locator,
        /// Where to.
        direction: Direction,
        /// How far, CSS pixels; most of a view by default.
        #[serde(default)]
        pixels: Option<f64>,
    },
    /// Waits until all of the conditions hold.
    Wait(WaitFor),
    /// Sets the size of the viewport, CSS pixels.
    Resize {
        /// How wide.
        width: u32,
        /// How high.
        height: u32,
    },
    /// Closes the tab.
    Close {},
    /// Runs a script of the caller.
    Evaluate {
        /// An expression, a function that is called with the element, or the body of one.
        #[serde(rename = "fn")]
        script: String,
        /// The element that it gets.
        #[serde(default, rename = "ref")]
        #[cfg_attr(feature = "server", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
        reference: Option<String>,
        /// The element, as a locator.
        #[serde(default)]
        locator: Option<String>,
        /// The frame of selectors and scripts, by its id or the ref of the iframe; the top frame by default.
        #[serde(default)]
        frame_id: Option<String>,
    },
    /// Several in a row.
    Batch {
        /// In this order.
        actions: Vec<Act>,
        /// Whether the first that fails ends it; true by default.
        #[serde(default)]
        stop_on_error: Option<bool>,
    },
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Button {
    /// The usual one.
    #[default]
    Left,
    /// The one for menus.
    Right,
    /// The wheel.
    Middle,
}

/// A key that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
pub enum Modifier {
    /// Alt, Option.
    Alt,
    /// Control.
    Control,
    /// Command on macOS, Control elsewhere.
    ControlOrMeta,
    /// Command, Windows.
    Meta,
    /// Shift.
    Shift,
}

/// A point of the viewport, CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A single mouse event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MouseEvent {
    /// What happens.
    #[serde(rename = "type")]
    pub kind: MouseKind,
    /// From the left, CSS pixels.
    pub x: f64,
    /// From the top, CSS pixels.
    pub y: f64,
    /// For a wheel: to the right, CSS pixels.
    #[serde(default)]
    pub delta_x: f64,
    /// For a wheel: down, CSS pixels.
    #[serde(default)]
    pub delta_y: f64,
}

/// What a single mouse event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MouseKind {
    /// It moves.
    Move,
    /// The left button goes down.
    Down,
    /// The left button goes up.
    Up,
    /// The wheel turns.
    Wheel,
}

/// A field and what goes into it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "server", schemars(extend("additionalProperties" = false)))]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// Which.
    #[serde(flatten)]
    pub at: Locator,
    /// What.
    pub value: FieldValue,
}

/// What goes into a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FieldValue {
    /// For a checkbox, radio button or switch.
    Flag(bool),
    /// For a number or a range.
    Number(serde_json::Number),
    /// Text, a date, a colour, an option by value or label.
    Text(String),
    /// Several options.
    Texts(Vec<String>),
}

/// Where a scroll goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
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

/// Conditions; all that are given must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "server", schemars(inline))]
#[serde(rename_all = "camelCase", default)]
pub struct WaitFor {
    /// So long, milliseconds.
    pub time_ms: Option<u64>,
    /// The text is visible in some frame.
    pub text: Option<String>,
    /// The text is visible in no frame.
    pub text_gone: Option<String>,
    /// Something visible matches.
    pub selector: Option<String>,
    /// The tab's address matches: `*` and `?` as in file names.
    pub url: Option<String>,
    /// `load`, `domcontentloaded` or `networkidle`.
    pub load_state: Option<String>,
    /// A script gives something true.
    #[serde(rename = "fn")]
    pub script: Option<String>,
    /// The element is in this state.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "server", schemars(regex(pattern = "^@?e?[0-9]{1,9}$")))]
    pub reference: Option<String>,
    /// The element that this locator matches is in this state.
    pub locator: Option<String>,
    /// Which match of the locator: from 0, or from the end for a negative number.
    pub nth: Option<i32>,
    /// The state. Default with a locator: visible.
    pub state: Option<State>,
    /// The frame that selector and script are for, by its id or the ref of the iframe.
    pub frame_id: Option<String>,
}

/// A state that an element can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum State {
    /// Rendered and not hidden.
    Visible,
    /// Not rendered, hidden or gone.
    Hidden,
    /// Can be used.
    Enabled,
    /// Cannot be used.
    Disabled,
    /// Ticked.
    Checked,
    /// Not ticked.
    Unchecked,
    /// Not in the document any more.
    Gone,
}
