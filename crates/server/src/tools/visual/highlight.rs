//! `highlight`: finding elements.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Outcome, Tool, ToolError};
use super::observation::Observation;
use super::{Visual, VisualTools};
use cdpilot::code::Code;
use cdpilot::page::{ElementType, LookOptions};

/// Maximum number of keywords.
const MOST_KEYWORDS: usize = 20;

// The names say it all: descriptions would take more bytes than the rest of the tool.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Any,
    Clickable,
    Inputable,
    Selectable,
    Scrollable,
    Hoverable,
}

impl From<Kind> for ElementType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Any => Self::Any,
            Kind::Clickable => Self::Clickable,
            Kind::Inputable => Self::Inputable,
            Kind::Selectable => Self::Selectable,
            Kind::Scrollable => Self::Scrollable,
            Kind::Hoverable => Self::Hoverable,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Highlight {
    /// [any]
    element_type: Option<Kind>,
    /// From 1
    page: Option<usize>,
    /// Exact texts or attribute values seen in the page, instead of paging
    keywords: Option<Vec<String>>,
}

pub(super) fn tool(visual: &VisualTools) -> Tool {
    let visual = visual.clone();
    Tool::of(
        "highlight",
        "See the usable elements of the current tab, labelled with ids in a picture. Page 1 lists all; labels that would hide \
         something are on later pages. Ids stay valid while the document does.",
        move |call, arguments| highlight(&visual.on(call), arguments),
    )
}

fn highlight(visual: &Visual<'_>, wanted: Highlight) -> Result<Outcome, ToolError> {
    visual.take_pending();
    let mut observation = Observation::default();
    visual.unblocked_into(&mut observation)?;
    if wanted.keywords.as_ref().is_some_and(|keywords| keywords.is_empty() || keywords.len() > MOST_KEYWORDS) {
        return Err(ToolError::new(
            Code::BadRequest,
            format!("keywords takes 1 to {MOST_KEYWORDS} texts; omit it to see all"),
        ));
    }
    let handle = visual.tab(None)?;
    let mut options =
        LookOptions::new().element_type(wanted.element_type.map_or_else(ElementType::default, Into::into));
    (options.page, options.keywords) = (wanted.page, wanted.keywords);
    visual.shown(&handle, &options, observation, true)
}
