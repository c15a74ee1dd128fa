//! Errors of imports.

/// An import was refused. The message names the place and says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}; {advice}", self.shown_place())]
pub struct ImportError {
    place: String,
    problem: String,
    advice: String,
}

impl ImportError {
    pub(in super::super) fn new(
        place: impl Into<String>,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), problem: problem.into(), advice: advice.into() }
    }

    /// Path of the part that is wrong, such as `events[3].element.box.width`; empty for the whole file.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The same error at another place.
    pub(super) fn moved(self, place: String) -> Self {
        Self { place, ..self }
    }

    fn shown_place(&self) -> String {
        if self.place.is_empty() { String::new() } else { format!("{}: ", self.place) }
    }
}
