//! The accessibility tree of one frame: the answer of the in-page call `tree`.

use serde::de::{IgnoredAny, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::internals::Internal;

/// Arguments of the in-page call.
#[derive(Debug, Clone, Serialize)]
pub(super) struct TreeArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) selector: Option<&'a str>,
    pub(super) urls: bool,
    pub(super) description: bool,
    /// Numbers of the elements that listen to clicks.
    pub(super) listening: &'a [u32],
    /// Roles and states of custom elements.
    pub(super) internals: &'a [Internal],
}

/// The answer of the in-page call.
#[derive(Debug, Deserialize)]
pub(super) struct Tree {
    #[serde(default)]
    pub(super) url: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) nodes: Vec<TreeNode>,
    /// The number of elements, including those in shadow roots.
    #[serde(default)]
    pub(super) count: u64,
    /// Numbers of custom elements whose roles only the browser knows and that were not queried yet.
    #[serde(default)]
    pub(super) unknown: Vec<u32>,
    /// Whether something was left out because it is nested too deeply.
    #[serde(default)]
    pub(super) cut: bool,
    /// The document is a PDF.
    #[serde(default)]
    pub(super) pdf: bool,
    /// Nothing matches the selector.
    #[serde(default)]
    pub(super) missing: bool,
    /// What is wrong with the selector.
    pub(super) error: Option<String>,
}

/// A node: depth, role, name, number (0 for text) and details.
#[derive(Debug, Deserialize)]
pub(super) struct TreeNode(
    pub(super) u32,
    pub(super) Box<str>,
    pub(super) Box<str>,
    pub(super) u32,
    #[serde(deserialize_with = "zero_or_more")] pub(super) Option<Box<NodeDetails>>,
);

/// Details that most nodes do not have.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct NodeDetails {
    pub(super) checked: Option<Value>,
    pub(super) disabled: bool,
    pub(super) expanded: Option<bool>,
    pub(super) pressed: Option<Value>,
    pub(super) selected: Option<bool>,
    pub(super) active: bool,
    pub(super) required: bool,
    pub(super) readonly: bool,
    pub(super) invalid: Option<Value>,
    pub(super) level: Option<u32>,
    pub(super) value: Option<String>,
    pub(super) description: Option<String>,
    pub(super) placeholder: Option<String>,
    pub(super) url: Option<String>,
    /// What an element without a name seems to be: `icon=trash`.
    pub(super) hint: Option<String>,
    pub(super) cursor: bool,
    /// Whether other elements can be dropped on it, judging by similar elements.
    pub(super) place: bool,
    /// Whether the value is a secret that the page shows, such as a password, by the field's attributes or style.
    pub(super) secret: bool,
    /// Whether it is inactive itself, judging by its attributes.
    pub(super) idle: bool,
    /// Whether its content is its name only while it has the focus.
    #[serde(rename = "byFocus")]
    pub(super) by_focus: bool,
}

fn zero_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<NodeDetails>>, D::Error> {
    struct Either;
    impl<'de> Visitor<'de> for Either {
        type Value = Option<Box<NodeDetails>>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("0 or an object")
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            NodeDetails::deserialize(MapAccessDeserializer::new(map)).map(|more| Some(Box::new(more)))
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(None)
        }
    }
    deserializer.deserialize_any(Either)
}
