//! Events of a recording: what was done, on which element of which page, and what followed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An event of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RecordingEvent")]
pub struct Event {
    /// Its number in the recording, from 1.
    pub event_index: u64,
    /// What happened.
    pub event_type: EventType,
    /// When, in seconds since 1970.
    pub timestamp: f64,
    /// Who did it.
    #[serde(default)]
    pub by: Actor,
    /// Number of the tab in the recording, from 1; 0 for events of no tab.
    #[serde(default)]
    pub tab: u64,
    /// The frames from the top document to that of the event, without the top document: empty for events of the top document.
    #[serde(default)]
    pub frame: Vec<FrameStep>,
    /// The page that the tab showed.
    #[serde(default)]
    pub page: PageShown,
    /// The element that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<Element>,
    /// Facts of this type of event; docs/recording.md lists them.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// Path of the screenshot before the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyframe: Option<String>,
    /// Path of the screenshot after the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyframe_after: Option<String>,
}

/// Types of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RecordingEventType")]
pub enum EventType {
    /// The recording began.
    RecordingStarted,
    /// The recording ended.
    RecordingStopped,
    /// A tab became part of the recording: `{url, target_id, opener?}`.
    TabCreated,
    /// A tab was brought to the front.
    TabActivated,
    /// A new tab has loaded its first page.
    TabReady,
    /// A tab shows another address: `{url, caused_by?}`.
    TabNavigated,
    /// A tab went back in its history: `{url}`.
    TabBack,
    /// A tab went forward in its history: `{url}`.
    TabForward,
    /// A tab was closed.
    TabClosed,
    /// A page has loaded.
    PageView,
    /// A click: `{button, count, modifiers}`.
    Click,
    /// Text was typed: `{value, source_count}`; `value` is what the field holds afterwards, null for a sensitive field.
    Input,
    /// A choice was made: `{values: [{value, label}]}`, `{checked}` or `{value}`.
    Change,
    /// A key was pressed: `{key, modifiers}`.
    Keydown,
    /// A form was submitted.
    Submit,
    /// A field received the focus by the keyboard.
    Focus,
    /// A page or container was scrolled: `{container?, x, y}`.
    Scroll,
    /// The pointer was moved to an element, which opened something that was used then.
    Hover,
    /// Something was dragged: `{from, to}`.
    Drag,
    /// Files were chosen: `{names}`.
    FileChosen,
    /// A dialog was answered: `{type, message, accepted, prompt_text?}`.
    Dialog,
    /// A download began: `{url, filename}`.
    Download,
    /// Something is missing here: `{count, why}`; `count` is null if it is not known.
    Gap,
}

impl EventType {
    /// Its name in JSON, such as `tab_created`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RecordingStarted => "recording_started",
            Self::RecordingStopped => "recording_stopped",
            Self::TabCreated => "tab_created",
            Self::TabActivated => "tab_activated",
            Self::TabReady => "tab_ready",
            Self::TabNavigated => "tab_navigated",
            Self::TabBack => "tab_back",
            Self::TabForward => "tab_forward",
            Self::TabClosed => "tab_closed",
            Self::PageView => "page_view",
            Self::Click => "click",
            Self::Input => "input",
            Self::Change => "change",
            Self::Keydown => "keydown",
            Self::Submit => "submit",
            Self::Focus => "focus",
            Self::Scroll => "scroll",
            Self::Hover => "hover",
            Self::Drag => "drag",
            Self::FileChosen => "file_chosen",
            Self::Dialog => "dialog",
            Self::Download => "download",
            Self::Gap => "gap",
        }
    }
}

/// Who did something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "RecordedActor")]
pub enum Actor {
    /// A person, at the browser or in the live view.
    #[default]
    Person,
    /// An action of cdpilot: of an agent, the shell or the HTTP API.
    Agent,
}

/// A frame in the path to a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FrameStep {
    /// Its place among the frames of its parent, from 0.
    pub index: u64,
    /// Its name; often empty.
    pub name: String,
    /// Its address.
    pub url: String,
}

/// What a tab shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PageShown {
    /// Its address, with tokens covered.
    pub url: String,
    /// Its title.
    pub title: String,
}

/// An element as it was shown when it was used. Untrusted: all texts are those of the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RecordedElement")]
pub struct Element {
    /// Name of its tag, in lower case.
    pub tag: String,
    /// Its role, as in snapshots.
    pub role: String,
    /// Its accessible name, as in snapshots.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The text of its label, for a field.
    pub label: String,
    /// Its test id (`data-testid` and the like).
    pub test_id: String,
    /// Selectors that matched only this element, the most lasting first.
    pub selectors: Vec<String>,
    /// Its HTML, cut to 1,500 characters; empty for a sensitive field.
    pub html: String,
    /// Where it was, in CSS pixels of the viewport of its frame.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// The row, card, dialog, form or section around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// The state of a button that has one: `pressed`, `not pressed`, `mixed`, `checked`, `not checked`, `expanded`,
    /// `collapsed`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// Whether what it holds is never recorded.
    pub sensitive: bool,
    /// The name under which its form sends it, for a sensitive field. Not stored.
    #[serde(skip_serializing)]
    #[schemars(skip)]
    pub parameter: String,
}

/// A rectangle in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RecordedArea")]
pub struct Area {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

impl Container {
    /// Whether it is an entry of a list, with a title.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        matches!(&*self.kind, "row" | "item" | "card") && !self.title.trim().is_empty()
    }
}

/// What is around an element and distinguishes it from others that look alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "RecordedContainer")]
pub struct Container {
    /// `row`, `item`, `card`, `dialog`, `form`, `section`.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Where its main link leads; empty if it has none.
    pub href: String,
    /// The title of the container around it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// Of a row: the head of the column in which it has its title.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub column: String,
}
