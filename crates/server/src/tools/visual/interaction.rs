//! `element_interaction`: its arguments.

use schemars::JsonSchema;
use serde::Deserialize;

use super::action::Action;

#[derive(Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Default)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    Up,
    #[default]
    Down,
    Left,
    Right,
    Next,
    Prev,
}

#[derive(Deserialize, JsonSchema, Debug)]
#[serde(untagged)]
pub(super) enum Values {
    One(String),
    Number(f64),
    Many(Vec<String>),
}

impl Values {
    pub(super) fn texts(&self) -> Vec<String> {
        match self {
            Self::One(value) => vec![value.clone()],
            Self::Number(number) => vec![number.to_string()],
            Self::Many(values) => values.clone(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Interaction {
    pub(super) action: Action,
    /// Omit to scroll the page, or to press a key where the focus is
    pub(super) element_id: Option<String>,
    /// For scroll; next or prev for swipe
    pub(super) direction: Option<Direction>,
    /// Parts of the visible area, 0.1 to 3 [0.5]
    pub(super) scroll_amount: Option<f64>,
    /// 1 to 5 [1]
    pub(super) swipe_count: Option<u32>,
    /// Replaces the field's text; empty clears it. For wait: appears
    pub(super) text: Option<String>,
    /// Add to the field's text
    #[serde(default)]
    pub(super) append: bool,
    /// Press Enter after the text
    #[serde(default)]
    pub(super) submit: bool,
    /// Option, or several; number or percentage of a slider
    pub(super) value: Option<Values>,
    /// Where to drop
    pub(super) target_element_id: Option<String>,
    /// File below uploads/ of the cdpilot home
    pub(super) file_path: Option<String>,
    /// Escape, Enter, ArrowDown, Control+a
    pub(super) key: Option<String>,
    /// For wait: text that disappears
    pub(super) gone: Option<String>,
    /// For wait: until the page changes
    #[serde(default)]
    pub(super) changed: bool,
    /// Longest wait, to 30 [10]
    pub(super) seconds: Option<f64>,
    pub(super) tab_id: Option<String>,
}
