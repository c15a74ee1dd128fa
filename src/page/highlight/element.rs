//! What is known of a usable element.

use serde::{Deserialize, Serialize};

use super::super::error::Shown;
use super::super::screenshot::Rect;
use super::super::world::Node;

/// How an element is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// It is clicked: buttons, links, checkboxes, and whatever reacts to clicks.
    Clickable,
    /// Text is typed into it.
    Inputable,
    /// It is a list of options, `<select>`.
    Selectable,
    /// It scrolls its content.
    Scrollable,
    /// It reacts to the mouse above it only.
    Hoverable,
}

impl Use {
    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clickable => "clickable",
            Self::Inputable => "inputable",
            Self::Selectable => "selectable",
            Self::Scrollable => "scrollable",
            Self::Hoverable => "hoverable",
        }
    }
}

/// Which elements to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// All.
    #[default]
    Any,
    /// Only those to click.
    Clickable,
    /// Only those to type into.
    Inputable,
    /// Only those that scroll their content.
    Scrollable,
    /// Only those that react to the mouse above them.
    Hoverable,
    /// Only lists of options.
    Selectable,
}

impl ElementType {
    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.only().map_or("any", Use::name)
    }

    fn only(self) -> Option<Use> {
        match self {
            Self::Any => None,
            Self::Clickable => Some(Use::Clickable),
            Self::Inputable => Some(Use::Inputable),
            Self::Scrollable => Some(Use::Scrollable),
            Self::Hoverable => Some(Use::Hoverable),
            Self::Selectable => Some(Use::Selectable),
        }
    }

    /// Whether an element is one of these.
    #[must_use]
    pub fn includes(self, element: &VisibleElement) -> bool {
        self.only().is_none_or(|only| element.kind == only || element.also == Some(only))
    }
}

/// Something to know before an element is used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// It cannot be used at present.
    Disabled,
    /// It is a checkbox or radio button that is checked.
    Checked,
    /// A part of it is outside the viewport or its container.
    PartlyVisible,
    /// It is at the edge of the viewport.
    NearEdge,
    /// A fixed or sticky element covers a part of it.
    UnderSticky,
    /// It is in a scrollable element, with this id.
    ScrollsIn(String),
    /// Its content is moved by `swipe`.
    Swipable,
    /// Elements can be dropped on it.
    Droppable,
    /// It takes a value by `set_slider`.
    Slidable,
    /// It takes a file by `upload_file`.
    Uploadable,
}

impl std::fmt::Display for Hint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Disabled => "disabled",
            Self::Checked => "checked",
            Self::PartlyVisible => "partly_visible",
            Self::NearEdge => "near_edge",
            Self::UnderSticky => "under_sticky",
            Self::ScrollsIn(id) => return write!(f, "scrolls_in {id}"),
            Self::Swipable => "swipable",
            Self::Droppable => "droppable",
            Self::Slidable => "slidable",
            Self::Uploadable => "uploadable",
        })
    }
}

/// What an element is in: the nearest row, card, dialog or group around it with a title.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[non_exhaustive]
pub struct Setting {
    /// `row`, `card`, `dialog` or `group`.
    pub kind: String,
    /// Its title, at most 80 characters. Untrusted.
    pub title: String,
}

impl Setting {
    /// Kind and title: `row "Invoice 12"`.
    #[must_use]
    pub fn described(&self) -> String {
        format!("{} {:?}", self.kind, self.title)
    }
}

/// A usable element that is visible in the viewport.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VisibleElement {
    /// Its id: six characters `[a-z0-9]`. The same element has the same id after a reload, and an element that the page has drawn
    /// anew has the id of the one before if it is the only one with that role, name and setting.
    pub id: String,
    /// Its main use.
    pub kind: Use,
    /// Another use: a list of options may scroll.
    pub also: Option<Use>,
    /// What to know before it is used.
    pub hints: Vec<Hint>,
    /// Its HTML with white space folded, at most 900 characters; 20,000 of a `<select>`. Untrusted. Values of password fields are covered.
    pub html: String,
    /// What the field holds, or which options are chosen, where its HTML does not show it; at most 300 characters. Untrusted;
    /// covered for secret fields.
    pub held: Option<String>,
    /// Role and name. Untrusted.
    pub shown: Shown,
    /// The row, card, dialog or group that it is in, if one has a title.
    pub setting: Option<Setting>,
    /// Its ref for [`Tab::act`](super::super::Tab::act).
    pub reference: String,
    /// The DOM node.
    pub node: Node,
    /// The node that is drawn in its place: the label of a hidden checkbox, for example.
    pub place: Option<Node>,
    /// Its visible part, in CSS pixels of the top viewport.
    pub bounds: Rect,
}
