//! Bodies of the stored events.

use serde_json::{Map, Value, json};

use super::now;

/// Name of the events of the agent.
pub(super) const AGENT_EVENT: &str = "agent_event";
pub(super) const USAGE_METRICS: &str = "usage_metrics";
pub(super) const HELP_REQUEST: &str = "help_request";
pub(super) const DIALOG: &str = "dialog";
pub(super) const COMPLETE: &str = "complete";
pub(super) const ERROR: &str = "error";

/// The author of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Agent,
    Environment,
    User,
}

impl Source {
    fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Environment => "environment",
            Self::User => "user",
        }
    }
}

/// The body of an `agent_event`.
#[derive(Debug, Clone)]
pub(super) struct AgentEvent(Map<String, Value>);

impl AgentEvent {
    fn new(kind: &str, source: Source, text: impl Into<String>) -> Self {
        let body = [
            ("type".to_owned(), Value::from(kind)),
            ("text".to_owned(), Value::from(text.into())),
            ("timestamp".to_owned(), Value::from(now())),
            ("source".to_owned(), Value::from(source.as_str())),
        ];
        Self(Map::from_iter(body))
    }

    /// What the user or the model says.
    pub(super) fn message(source: Source, text: impl Into<String>) -> Self {
        let role = if source == Source::User { "user" } else { "assistant" };
        Self::new("MessageEvent", source, text).with("role", role)
    }

    /// What the program reports: retries, changes of the request, condensing.
    pub(super) fn system(text: impl Into<String>) -> Self {
        Self::new("SystemEvent", Source::Environment, text)
    }

    /// A call of a tool that is about to be made.
    pub(super) fn action(text: &str, tool: &str, call_id: &str, arguments: Value) -> Self {
        let event = Self::new("ActionEvent", Source::Agent, text);
        event.with("tool_name", tool).with("tool_call_id", call_id).with("action", arguments)
    }

    /// The result of a call.
    pub(super) fn observation(tool: &str, call_id: &str, result: &Value) -> Self {
        let success = result["success"] == true;
        let message = match result["observation"].as_str() {
            Some(text) => text.to_owned(),
            None => result.to_string(),
        };
        let error = result["error"].as_str();
        let event = Self::new("ObservationEvent", Source::Environment, error.unwrap_or(&message));
        let event = event.with("tool_name", tool).with("tool_call_id", call_id).with("success", success);
        match error.filter(|_| !success) {
            Some(error) => event.with("error", error).with("code", result["code"].clone()),
            None => event.with("message", message),
        }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// With the reasoning of the model, if there is any.
    pub(super) fn reasoning(self, reasoning: &str) -> Self {
        if reasoning.is_empty() { self } else { self.with("reasoning_content", reasoning) }
    }

    /// With references to images: the first one as `image`, all of them as `images`.
    pub(super) fn images(self, images: &[String]) -> Self {
        match images.first() {
            Some(first) => self.with("image", first.as_str()).with("images", images),
            None => self,
        }
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

/// The body of `complete`: the end of a run.
pub(super) fn complete(conversation: &str, success: bool, stopped: bool) -> Value {
    let message = match (success, stopped) {
        (true, _) => "Conversation completed",
        (false, true) => "Run stopped",
        (false, false) => "Run failed",
    };
    let mut body = json!({ "conversation_id": conversation, "message": message, "success": success });
    if stopped {
        body["stopped"] = true.into();
    }
    body
}

/// The body of `error`.
pub(super) fn error(conversation: &str, code: &str, problem: &str) -> Value {
    json!({ "conversation_id": conversation, "error": problem, "code": code })
}
