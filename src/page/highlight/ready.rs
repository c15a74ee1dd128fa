//! Whether a page is drawn far enough to be looked at.

use serde::{Deserialize, Serialize};

/// How far a page is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// It shows placeholders, a spinner, or hardly anything.
    NotReady,
    /// It has content, but images are missing.
    ProvisionallyReady,
    /// It has content.
    Ready,
}

impl Readiness {
    /// Its name in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotReady => "not_ready",
            Self::ProvisionallyReady => "provisionally_ready",
            Self::Ready => "ready",
        }
    }
}

/// What was counted in the viewport.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub(super) struct Signs {
    complete: bool,
    /// Whether a transition ends soon.
    #[serde(default)]
    pub(super) moving: bool,
    /// Images that are loading.
    pending: u32,
    /// Images, drawings and videos that are there.
    media: u32,
    /// Blocks of text.
    blocks: u32,
    /// Characters of text.
    chars: u32,
    controls: u32,
    skeletons: u32,
    spinners: u32,
    /// The part of the viewport that placeholders cover.
    placeholders: f64,
}

/// More pending images than this: not quite ready; not ready.
const FEW_PENDING: u32 = 1;
const MANY_PENDING: u32 = 6;
/// With this much content, placeholders do not matter.
const RICH: u32 = 4;
/// The part of the viewport from which placeholders matter.
const MUCH_PLACEHOLDER: f64 = 0.12;

impl Signs {
    /// Points for content.
    fn content(&self) -> u32 {
        let text = self.blocks >= 6 || self.chars >= 140;
        let controls = self.controls >= 6 && self.chars >= 80;
        u32::from(self.media >= 2) + u32::from(text) + u32::from(self.controls >= 12) + 2 * u32::from(controls)
    }

    pub(super) fn grade(&self) -> Readiness {
        let content = self.content();
        let is_empty = content == 0 && self.chars < 40 && self.controls < 3 && self.media == 0;
        let has_placeholders = self.skeletons >= 2 || self.placeholders >= MUCH_PLACEHOLDER;
        let is_blocked = !self.complete
            || self.spinners > 0
            || (has_placeholders && content < RICH)
            || (is_empty && self.pending > 0);
        if is_blocked || self.pending > MANY_PENDING {
            Readiness::NotReady
        } else if self.pending > FEW_PENDING {
            Readiness::ProvisionallyReady
        } else {
            Readiness::Ready
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_follow_what_is_shown() {
        let full = Signs { complete: true, media: 3, blocks: 8, chars: 900, controls: 14, ..Signs::default() };
        // A page with little on it is ready once it has loaded: there may be nothing more.
        let small = Signs { complete: true, chars: 5, controls: 1, ..Signs::default() };
        for (signs, grade) in [
            (full, Readiness::Ready),
            (small, Readiness::Ready),
            (Signs { complete: true, ..Signs::default() }, Readiness::Ready),
            (Signs { complete: false, ..full }, Readiness::NotReady),
            (Signs { spinners: 1, ..full }, Readiness::NotReady),
            (Signs { skeletons: 9, placeholders: 0.5, ..small }, Readiness::NotReady),
            (Signs { skeletons: 9, placeholders: 0.5, ..full }, Readiness::Ready),
            (Signs { pending: 3, ..full }, Readiness::ProvisionallyReady),
            (Signs { pending: 9, ..full }, Readiness::NotReady),
        ] {
            assert_eq!(signs.grade(), grade, "{signs:?}");
        }
    }
}
