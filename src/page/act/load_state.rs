//! How far a document has loaded.

use serde::{Deserialize, Serialize};

/// How far the document of a tab must have loaded, for [`WaitFor::load_state`](super::WaitFor::load_state).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum LoadState {
    /// The `load` event was dispatched: the document, its style sheets, images and frames are loaded.
    Load,
    /// The document is parsed; images and frames may still be loading.
    DomContentLoaded,
    /// Loaded, and no request was in progress for 500 ms. Sockets and event streams do not count.
    NetworkIdle,
}

impl LoadState {
    /// The name in requests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::DomContentLoaded => "domcontentloaded",
            Self::NetworkIdle => "networkidle",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::LoadState;
    use crate::page::Act;

    #[test]
    fn an_unknown_state_is_refused_with_those_that_exist() {
        let error = Act::parse(json!({"kind": "wait", "loadState": "idle"})).unwrap_err();
        assert_eq!(error.code(), "BAD_REQUEST");
        let text = error.to_string();
        for state in [LoadState::Load, LoadState::DomContentLoaded, LoadState::NetworkIdle] {
            assert!(text.contains(state.name()), "{text}");
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }
}
