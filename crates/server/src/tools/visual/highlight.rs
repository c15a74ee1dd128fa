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

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Highlight {
    #[serde(default)]
    element_type: ElementType,
    /// From 1
    page: Option<usize>,
    /// Exact texts or attribute values seen in the page, instead of paging
    keywords: Option<Vec<String>>,
}

pub(super) fn tool(visual: &VisualTools) -> Tool {
    let visual = visual.clone();
    Tool::of(
        "highlight",
        "See the usable elements of the current tab, labelled with ids in a picture. Labels that would overlap are on later \
         pages. Ids stay valid while the document does.",
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
    let mut options = LookOptions::new().element_type(wanted.element_type);
    (options.page, options.keywords) = (wanted.page, wanted.keywords);
    visual.shown(&handle, &options, observation, true)
}
