//! What a play looks for on the screen.

use super::screen::Element;

/// An element that is looked for: all parts stand in its HTML or its hints. `Want::new().has("id=\"size-option-m\"")`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Want {
    parts: Vec<String>,
    not: Vec<String>,
    kind: Option<&'static str>,
}

impl Want {
    pub(super) fn id(id: &str) -> Self {
        Self::default().has(&format!("id=\"{id}\""))
    }

    /// An element whose HTML contains this.
    pub(super) fn html(part: &str) -> Self {
        Self::default().has(part)
    }

    /// An element with this text, between tags.
    pub(super) fn text(text: &str) -> Self {
        Self::default().has(&format!(">{text}<"))
    }

    pub(super) fn has(mut self, part: &str) -> Self {
        self.parts.push(part.to_owned());
        self
    }

    pub(super) fn lacks(mut self, part: &str) -> Self {
        self.not.push(part.to_owned());
        self
    }

    /// Only elements of this type.
    pub(super) fn of(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }

    pub(super) fn fits(&self, element: &Element) -> bool {
        // White space at the ends of texts is kept in HTML.
        let html = element.html.replace("> ", ">").replace(" <", "<");
        let hints = element.hints.join(", ");
        let has = |part: &String| [&element.html, &html, &hints].iter().any(|text| text.contains(part.as_str()));
        self.parts.iter().all(has) && !self.not.iter().any(has) && self.kind.is_none_or(|kind| element.kind == kind)
    }
}
