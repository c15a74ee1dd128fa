//! Actions as callers describe them: the fields of `POST /act`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::kinds::ActKind;
use super::secrets::TypedSecrets;
use super::spec::{Described, FieldSpec, FieldType};
use crate::redact::Secrets;
use crate::sync::Deadline;

described! {
    /// An action on a tab.
    Act {
        /// The kind of action, with its own fields.
        kind: ActKind => flatten,
        /// Maximum duration, in milliseconds. Default 8,000 (20,000 for `wait` and `evaluate`, 120,000 for `batch`), at
        /// most 120,000.
        timeout_ms as "timeoutMs": Option<u64> = default,
        /// How events are dispatched. Default `trusted`.
        input: Option<Input> = default,
        /// Act even if role or name of the element changed since the snapshot. Default false.
        force: bool = default,
        /// Report the changed lines of the page in `changes`. Default false.
        delta: bool = default,
        /// How long to wait for the effects of the action. Default `auto`; `none` for `mouse` and `clickCoords`.
        settle: Option<Settle> = default,
        /// Secrets to cover in the reported changes, besides texts that look like one.
        redact: Option<Secrets> => skip,
        /// Secrets that texts to type may name as `{{secret:NAME}}`; without them, that is typed as it is.
        secrets: Option<TypedSecrets> => skip,
        /// For `evaluate`: V8 ends the script before its first effect, which is an error.
        read_only: bool => skip,
    }
}

/// Default durations, and the maximum.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(8);
const LONG_DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_TIMEOUT: Duration = Duration::from_secs(120);

impl Act {
    /// An action with defaults for all common fields.
    #[must_use]
    pub fn new(kind: ActKind) -> Self {
        Self {
            kind,
            timeout_ms: None,
            input: None,
            force: false,
            delta: false,
            settle: None,
            redact: None,
            secrets: None,
            read_only: false,
        }
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
    pub fn deadline<'c>(&self, within: Deadline<'c>) -> Deadline<'c> {
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

impl ActKind {
    /// Whether the action waits for its turn. `wait` changes nothing, and a tab can be closed whatever runs in it.
    pub(super) fn takes_turn(&self) -> bool {
        !matches!(self, Self::Wait(_) | Self::Close {})
    }

    /// The frames that the action names, without those of a batch's actions.
    pub(super) fn frames(&self) -> Vec<&str> {
        let named = match self {
            Self::Wait(condition) => vec![&condition.frame_id],
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
}

impl FieldValue {
    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Locator {
    /// Whether an element is given at all.
    pub(super) fn is_given(&self) -> bool {
        self.reference.is_some() || self.selector.is_some() || self.locator.is_some()
    }
}

described! {
    /// A point of the viewport, CSS pixels.
    #[derive(Copy)]
    #[serde(deny_unknown_fields)]
    Point {
        /// Distance from the left.
        x: f64,
        /// Distance from the top.
        y: f64,
    }
}

described! {
    /// A single mouse event.
    #[derive(Copy)]
    #[serde(deny_unknown_fields)]
    MouseEvent {
        /// The type of event.
        kind as "type": MouseKind,
        /// Distance from the left, in CSS pixels.
        x: f64,
        /// Distance from the top, in CSS pixels.
        y: f64,
        /// For `wheel`: distance to the right, in CSS pixels.
        delta_x as "deltaX": f64 = default,
        /// For `wheel`: distance down, in CSS pixels.
        delta_y as "deltaY": f64 = default,
    }
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

choices! {
    /// How events are dispatched.
    Input {
        /// By the browser, like input of a person.
        Trusted = "trusted",
        /// By a script, in the full DOM sequence.
        Synthetic = "synthetic",
    }

    /// The type of a single mouse event.
    MouseKind {
        /// Move the mouse.
        Move = "move",
        /// Press the left button.
        Down = "down",
        /// Release the left button.
        Up = "up",
        /// Turn the wheel.
        Wheel = "wheel",
    }

    /// A mouse button.
    #[derive(Default)]
    Button {
        /// The primary button.
        #[default]
        Left = "left",
        /// The secondary button, which opens context menus.
        Right = "right",
        /// The middle button, or wheel.
        Middle = "middle",
    }

    /// A modifier key.
    #[derive(Hash)]
    Modifier {
        /// Alt (Option on macOS).
        Alt = "Alt",
        /// Control.
        Control = "Control",
        /// Command on macOS, Control elsewhere.
        ControlOrMeta = "ControlOrMeta",
        /// Command on macOS, the Windows key elsewhere.
        Meta = "Meta",
        /// Shift.
        Shift = "Shift",
    }

    /// The direction of a scroll.
    Direction {
        /// Up.
        Up = "up",
        /// Down.
        Down = "down",
        /// Left.
        Left = "left",
        /// Right.
        Right = "right",
    }

    /// A state of an element to wait for.
    #[non_exhaustive]
    State {
        /// Rendered and not hidden.
        Visible = "visible",
        /// Not rendered, hidden or gone.
        Hidden = "hidden",
        /// Not disabled.
        Enabled = "enabled",
        /// Cannot be used.
        Disabled = "disabled",
        /// Checked.
        Checked = "checked",
        /// Not checked.
        Unchecked = "unchecked",
        /// Removed from the document.
        Gone = "gone",
    }
}

described! {
    /// An element: by ref, CSS selector or locator.
    #[derive(Default, Eq)]
    Locator {
        /// A ref from a snapshot, such as `e12`.
        reference as "ref": Option<String> = default [regex(pattern = "^@?e?[0-9]{1,9}$")],
        /// A CSS selector: the first match in document order, over open shadow roots.
        selector: Option<String> = default,
        /// `role=button[name="Save"]`, `text=…`, `label=…`, `placeholder=…`, `testid=…` or `css=…`, chained by ` >> `, over
        /// all frames and shadow roots. Several matches are an error unless `nth` is given.
        locator: Option<String> = default,
        /// Which match of the locator to use: from 0, or from the end if negative.
        nth: Option<i32> = default,
        /// The frame to search: a frame id or the ref of an iframe. Default: the top frame for a selector, all frames for a
        /// locator.
        frame_id as "frameId": Option<String> = default,
    }
}

described! {
    /// A form field and its new value.
    #[cfg_attr(feature = "schema", schemars(extend("additionalProperties" = false)))]
    Field {
        /// The field.
        at: Locator => flatten; tool needs(""),
        /// The value.
        value: FieldValue; tool needs("Text; true or false for checkboxes; an option"),
    }
}

described! {
    /// Conditions. All that are given must hold at once.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(inline))]
    WaitFor {
        /// Time to wait, in milliseconds; at most 30,000.
        time_ms as "timeMs": Option<u64> = default; tool takes(""),
        /// A text that is visible in some frame. Case and white space are ignored.
        text: Option<String> = default; tool takes("Text that appears"),
        /// A text that is visible in no frame.
        text_gone as "textGone": Option<String> = default; tool takes(""),
        /// A CSS selector with a visible match, or one in `state`.
        selector: Option<String> = default; tool takes("CSS of a visible element"),
        /// A pattern for the URL of the tab: `*` matches any text, `?` one character.
        url: Option<String> = default; tool takes("URL glob, as */done"),
        /// `load`, `domcontentloaded` or `networkidle`.
        load_state as "loadState": Option<super::LoadState> = default,
        /// A script that returns a true value.
        script as "fn": Option<String> = default,
        /// A ref whose element is in `state`.
        reference as "ref": Option<String> = default [regex(pattern = "^@?e?[0-9]{1,9}$")],
        /// A locator whose element is in `state`.
        locator: Option<String> = default,
        /// Which match of the locator to use: from 0, or from the end if negative.
        nth: Option<i32> = default,
        /// The state of the element. Default `visible`.
        state: Option<State> = default,
        /// The frame of `selector` and `fn`: a frame id or the ref of an iframe. Default: the top frame.
        frame_id as "frameId": Option<String> = default,
    }
}

of_type! {
    ActKind => FieldType::Text,
    Act => FieldType::Action,
    FieldValue => FieldType::FormValue,
    MouseEvent => FieldType::Object(MouseEvent::FIELDS),
    Point => FieldType::Object(Point::FIELDS),
    Settle => FieldType::Either(&[FieldType::Choice(&["auto", "none"]), FieldType::Object(MAX_MS)]),
}

/// The field of a settle limit.
const MAX_MS: &[FieldSpec] = &[described_field!(["The limit, in milliseconds"] max_ms ["maxMs"] [u64] [] [] [])];

impl Described for Locator {
    const TYPE: FieldType = FieldType::Element;

    fn element(&self) -> Option<&Locator> {
        Some(self)
    }

    fn element_mut(&mut self) -> Option<&mut Locator> {
        Some(self)
    }
}

impl Described for Field {
    const TYPE: FieldType = FieldType::Object(Self::FIELDS);

    fn element(&self) -> Option<&Locator> {
        Some(&self.at)
    }
}
