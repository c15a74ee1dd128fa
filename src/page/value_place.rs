//! Values that stand in a page: where a text stands, and what stands there in another load of the page.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Error, Tab};
use crate::cdp::protocol::page::FrameId;
use crate::sync::Deadline;

/// Where a value stands: in which element, between which texts. Untrusted, like all texts of pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ValuePlace {
    /// Name of the tag of the element.
    pub tag: String,
    /// Its text before the value.
    pub before: String,
    /// Its text behind the value.
    pub after: String,
    /// The head of its column, or the term that it defines.
    pub heading: String,
    /// The row, card, dialog, form or section around it.
    pub container: Option<ValueContainer>,
    /// Its test id.
    pub test_id: String,
    /// Lasting selectors that match only it.
    pub selectors: Vec<String>,
}

/// What is around the element of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ValueContainer {
    /// `row`, `item`, `card`, `dialog`, `form` or `section`.
    pub kind: String,
    /// Its title.
    pub title: String,
}

/// The different values at each of some places.
pub type ValuesAt = Vec<Vec<String>>;

impl Tab {
    /// Where a value stands in the frames of the page: at most three places a frame, each of which leads to this value alone.
    ///
    /// # Errors
    /// Those of the supervisor when the top frame does not answer.
    pub fn value_places(&self, value: &str, deadline: Deadline<'_>) -> Result<Vec<(FrameId, ValuePlace)>, Error> {
        let found = self.in_frames::<Vec<ValuePlace>>("valuePlaces", &json!({ "value": value }), deadline)?;
        Ok(found
            .into_iter()
            .flat_map(|(frame, places)| places.into_iter().map(move |one| (frame.clone(), one)))
            .collect())
    }

    /// What stands at some places now, for each frame: the different values that fit each of them.
    ///
    /// # Errors
    /// Those of the supervisor when the top frame does not answer.
    pub fn values_at(&self, places: &[ValuePlace], deadline: Deadline<'_>) -> Result<Vec<(FrameId, ValuesAt)>, Error> {
        self.in_frames("valuesAt", &json!({ "places": places }), deadline)
    }

    /// The answers of the frames of the page. Frames that do not answer are left out, but not the top one.
    fn in_frames<T: serde::de::DeserializeOwned>(
        &self,
        name: &'static str,
        arguments: &serde_json::Value,
        deadline: Deadline<'_>,
    ) -> Result<Vec<(FrameId, T)>, Error> {
        self.arrived(deadline)?;
        let top = self.top()?;
        let (frames, ..) = self.frames_below(&top);
        let answers = self.call_all::<T, _>(&frames, name, |_| arguments, deadline);
        let mut all = Vec::new();
        for (frame, answer) in frames.into_iter().zip(answers) {
            match answer {
                Ok((_, done)) => all.push((frame, done.result)),
                Err(error) if error.is_blocked_by_dialog() || frame == top => return Err(error),
                Err(_) => {}
            }
        }
        Ok(all)
    }
}
