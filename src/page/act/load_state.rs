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
    /// The names of the values in requests.
    pub const NAMES: &'static [&'static str] = &["load", "domcontentloaded", "networkidle"];

    /// The value with a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Load, Self::DomContentLoaded, Self::NetworkIdle].into_iter().find(|state| state.name() == name)
    }

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

impl super::spec::Described for LoadState {
    const TYPE: super::spec::FieldType = super::spec::FieldType::Choice(Self::NAMES);
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
