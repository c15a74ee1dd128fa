//! What a conversation is made with.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Error;
use crate::config::Confirm;
use cdpilot::setters;

/// The toolsets of a conversation that names none.
const TOOLSETS: [&str; 3] = ["visual", "todo", "clarify"];

/// What a conversation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// `chat`: tasks in the words of the user.
    #[default]
    Chat,
    /// `routine_replay`: the first message is a routine.
    RoutineReplay,
    /// `compile`: it turns a recording into a routine. Begun for a recording only.
    Compile,
}

impl Mode {
    /// The text of the mode.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::RoutineReplay => "routine_replay",
            Self::Compile => crate::store::COMPILE_MODE,
        }
    }

    /// The mode of a text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Chat, Self::RoutineReplay, Self::Compile].into_iter().find(|mode| mode.as_str() == text)
    }
}

/// A conversation to create.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewConversation {
    /// Alias of the model. Default: `agent.model`.
    pub model: Option<String>,
    /// Profile whose browser is used. Default: the default profile.
    pub profile: Option<String>,
    /// What it is for. Default: `chat`.
    pub mode: Mode,
    /// Toolsets and single tools. Default: `visual`, `todo`, `clarify`.
    pub toolsets: Vec<String>,
    /// Folder of file and terminal tools. Default: that of the server.
    pub cwd: Option<String>,
    /// Whether it uses the cookies of the profile instead of a browser context of its own.
    pub share_login: bool,
    /// Further settings, which are stored with it: `confirm`, `guard`, `hosts`, `secrets`, the browser that it is bound to.
    pub more: serde_json::Map<String, Value>,
}

impl NewConversation {
    /// A conversation with all defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { NewConversation:
    model(some into String),
    profile(some into String),
    mode(Mode),
    toolsets(each String),
    cwd(some into String),
    share_login(bool),
    more(serde_json::Map<String, Value>),
}

/// The setting with the patterns of the hosts that a conversation may reach.
pub(super) const HOSTS: &str = "hosts";
/// The setting with the hosts that the person has refused since the last message.
pub(super) const REFUSED_HOSTS: &str = "refused_hosts";

/// The setting with the notes of earlier conversations.
pub(super) const NOTES: &str = "notes";

/// The stored settings of a conversation.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Settings {
    pub(super) profile: Option<String>,
    pub(super) toolsets: Vec<String>,
    pub(super) cwd: Option<String>,
    pub(super) share_login: bool,
    #[serde(skip)]
    pub(super) mode: Mode,
    #[serde(flatten)]
    pub(super) more: serde_json::Map<String, Value>,
}

impl Settings {
    pub(super) fn of(new: NewConversation) -> Self {
        let NewConversation { profile, mode, mut toolsets, cwd, share_login, more, model: _ } = new;
        if toolsets.is_empty() {
            toolsets = TOOLSETS.map(ToOwned::to_owned).to_vec();
        }
        Self { profile, toolsets, cwd, share_login, mode, more }
    }

    pub(super) fn read(stored: &crate::store::Conversation) -> Result<Self, Error> {
        let read: Self = serde_json::from_value(stored.settings.clone())
            .map_err(|problem| Error::conflict(format!("the stored settings cannot be used: {problem}")))?;
        Ok(Self { mode: Mode::parse(&stored.mode).unwrap_or_default(), ..read })
    }

    /// Patterns of the hosts that it may reach; empty: all.
    pub(super) fn hosts(&self) -> Vec<String> {
        let patterns = self.texts(HOSTS);
        // Everything.
        if patterns.iter().any(|pattern| pattern == "*") { Vec::new() } else { patterns }
    }

    /// Hosts that the person has refused since the last message.
    pub(super) fn refused_hosts(&self) -> Vec<String> {
        self.texts(REFUSED_HOSTS)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let all = self.more.get(name).and_then(Value::as_array).into_iter().flatten();
        all.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
    }

    /// Requests with effects that its pages may send, as `METHOD ADDRESS`: all that begin with the address.
    pub(super) fn requests(&self) -> Vec<String> {
        self.texts("requests")
    }

    /// Which actions of the visual tools show a preview; `None`: as the settings of the home say.
    pub(super) fn confirm(&self) -> Option<Confirm> {
        serde_json::from_value(self.more.get("confirm")?.clone()).ok()
    }

    /// The notes of earlier conversations, as they were when it was created.
    pub(super) fn notes(&self) -> &str {
        self.more.get(NOTES).and_then(Value::as_str).unwrap_or_default()
    }

    /// The names of the secrets that it may type.
    pub(super) fn secrets(&self) -> Vec<String> {
        self.texts("secrets")
    }

    /// The size of its tabs, in CSS pixels.
    pub(super) fn viewport(&self) -> Option<(u32, u32)> {
        serde_json::from_value(self.more.get("viewport")?.clone()).ok()
    }

    pub(super) fn is_replay(&self) -> bool {
        self.mode == Mode::RoutineReplay
    }
}
