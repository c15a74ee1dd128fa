//! Bodies, queries and answers of the routes for conversations and browser ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `POST /browsers/register`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub(crate) struct RegisterBrowser {
    /// Address of a browser that is running elsewhere: `ws://`, `wss://`, `http://` or `https://`.
    pub(crate) endpoint: Option<String>,
    /// Name of a profile. Default, without `endpoint`: the default profile.
    pub(crate) profile: Option<String>,
    /// Hours until the id expires, also fractions. Default: 24.
    pub(crate) ttl_hours: Option<f64>,
}

/// `POST /agent/conversations`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CreateConversation {
    /// Alias of the model. Default: `agent.model`.
    pub(crate) model: Option<String>,
    /// Id of a registered browser. Default: the server's own browser.
    pub(crate) browser_id: Option<String>,
    /// `chat` (default) or `routine_replay`.
    pub(crate) mode: Option<String>,
    /// Toolsets and single tools. Default: `visual`, `todo`, `clarify`.
    pub(crate) toolsets: Vec<String>,
    /// Folder of file and terminal tools. Default: that of the server.
    pub(crate) cwd: Option<String>,
    /// Use the cookies of the profile instead of a browser context of its own.
    pub(crate) share_login: bool,
    /// Which actions a person approves. `off`: none. `irreversible`: those that cannot be undone. `all`: all that
    /// change something. Default: `agent.guard`.
    pub(crate) guard: Option<crate::config::Guard>,
    /// Patterns of hosts that its browser context may reach, such as `example.com` or `*.example.com`. Default: all.
    pub(crate) hosts: Option<Vec<String>>,
    /// Names of stored secrets that it may type, but not see.
    pub(crate) secrets: Vec<String>,
}

/// `GET /agent/conversations`: the query.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ConversationsQuery {
    /// Only conversations in this state: `idle`, `active`, `waiting` or `error`.
    pub(crate) status: Option<String>,
}

/// `POST /agent/conversations/:id/messages`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendMessage {
    /// The message.
    pub(crate) text: String,
    /// Id of the conversation's browser. Not needed.
    #[serde(default)]
    pub(crate) browser_id: Option<String>,
}

/// `POST /agent/conversations/:id/answer`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerQuestion {
    /// Id of the question, as in `help_request`. With it, an answer never goes to another question. Default: the open one.
    #[serde(default)]
    pub(crate) question_id: Option<String>,
    /// The answer to the open question.
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// Id of an approval, as in `help_request`.
    #[serde(default)]
    pub(crate) approval_id: Option<String>,
    /// The decision about an approval: this `once`, this kind of effect at this `origin`, this `kind` everywhere, or `refuse`.
    #[serde(default)]
    pub(crate) decision: Option<DecisionName>,
    /// A word for the model with a refusal; at most 2,000 characters.
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// A decision about an approval.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecisionName {
    /// This once.
    Once,
    /// This kind of effect at this origin, in this conversation.
    Origin,
    /// This kind of effect, in this conversation.
    Kind,
    /// Not at all.
    Refuse,
}

/// `GET /agent/conversations/:id/events`: the query.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct EventsPage {
    /// Only events after this id.
    pub(crate) after: Option<u64>,
    /// Maximum number of events. Default and maximum: 100,000.
    pub(crate) limit: Option<usize>,
}

/// `POST /browsers/register`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BrowserRegistered {
    /// The id, a UUID (version 4). Whoever has it can use the browser; it is not shown again.
    pub(crate) browser_id: String,
    /// When it expires, in seconds since 1970.
    pub(crate) expires_at: f64,
}

/// `GET /browsers/:id/valid`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BrowserIdValid {
    /// Whether the id gives access to a browser.
    pub(crate) valid: bool,
    /// Whether it did until it expired.
    pub(crate) expired: bool,
    /// When it expires or expired, in seconds since 1970; null for an unknown id.
    pub(crate) expires_at: Option<f64>,
}

/// `POST /agent/conversations`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationCreated {
    /// The id of the conversation.
    pub(crate) conversation_id: String,
}

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationInfo {
    /// Its id.
    pub(crate) id: String,
    /// `idle`, `active`, `waiting` (a question is open) or `error`.
    pub(crate) status: &'static str,
    /// Whether its run is paused.
    pub(crate) paused: bool,
    /// Whether its run waits until another one ends.
    pub(crate) queued: bool,
    /// Whether its last turn was not finished; `POST …/resume` continues it.
    pub(crate) unfinished: bool,
    /// Alias of its model.
    pub(crate) model: String,
    /// `chat` or `routine_replay`.
    pub(crate) mode: String,
    /// The first 100 characters of the first message.
    pub(crate) title: String,
    /// When it was created, in seconds since 1970.
    pub(crate) created_at: f64,
    /// When it was last changed, in seconds since 1970.
    pub(crate) updated_at: f64,
    /// Number of messages: those of the user, of the model, and results of tools.
    pub(crate) message_count: u64,
    /// Id of its newest event; 0 without events.
    pub(crate) last_event: u64,
    /// The last `usage_metrics`; null before the first answer of the model.
    pub(crate) usage: Value,
    /// The open question; null without one.
    pub(crate) question: Option<OpenQuestion>,
    /// What holds it up; null if it goes on, or rests.
    pub(crate) held_up: Option<HeldUp>,
    /// Name of the profile of its browser; null: the default profile.
    pub(crate) profile: Option<String>,
    /// Patterns of the hosts that it may reach; null: all.
    pub(crate) hosts: Option<Vec<String>>,
    /// Names of the secrets that it may type.
    pub(crate) secrets: Vec<String>,
    /// Which actions need approval.
    pub(crate) guard: crate::config::Guard,
    /// What needs no further approval in it, because a person said so.
    pub(crate) allowed: Vec<AllowedEffects>,
}

/// Effects that a person has allowed for the rest of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AllowedEffects {
    /// The kind of effect, such as `purchase` or `send`.
    pub(crate) effect: String,
    /// Where it is allowed; null: everywhere.
    pub(crate) origin: Option<String>,
    /// Whether this is about one effect, such as the use of one secret, and not about all of its kind.
    pub(crate) one: bool,
}

/// What holds up a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HeldUp {
    /// `dialog`, `page_busy`, `page_crashed`, `browser_gone`, `tool`, `model`, `model_failing`, `approval`, `question`, `paused`,
    /// `queued` or `storage`.
    pub(crate) state: &'static str,
    /// Since when, in seconds since 1970; null if that is not known.
    pub(crate) since: Option<f64>,
    /// What helps.
    pub(crate) help: String,
}

/// A question to a person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OpenQuestion {
    /// Its id.
    pub(crate) id: String,
    /// `help`, `clarify` or `approval`.
    pub(crate) kind: &'static str,
    /// The tool call that asks.
    pub(crate) tool_call_id: String,
    /// What is asked.
    pub(crate) body: Value,
}

/// `GET /agent/conversations`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationList {
    /// The conversations, the last changed first, at most 1,000.
    pub(crate) conversations: Vec<ConversationInfo>,
    /// Their number.
    pub(crate) count: usize,
}

/// `GET /agent/conversations/:id`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationShown {
    pub(crate) conversation: ConversationInfo,
    /// Its tabs; `active` is the one that it works in.
    pub(crate) tabs: Vec<crate::control::TabInfo>,
}

/// A stored event.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationEvent {
    /// Its id, from 1.
    pub(crate) id: u64,
    /// `agent_event`, `usage_metrics`, `help_request`, `dialog`, `complete` or `error`.
    pub(crate) event: String,
    /// Its data.
    pub(crate) data: Value,
}

/// `GET /agent/conversations/:id/events`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationEvents {
    /// The events in order. Pictures are referred to by their path.
    pub(crate) events: Vec<ConversationEvent>,
    /// Their number.
    pub(crate) count: usize,
}

/// `GET /agent/conversations/:id/history`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConversationMessages {
    /// The messages in order.
    pub(crate) messages: Vec<Value>,
    /// Their number.
    pub(crate) count: usize,
}

/// `POST /agent/conversations/:id/pause`, `/resume`, `/stop`, `/answer`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunChanged {
    /// `idle`, `active`, `waiting` or `error`.
    pub(crate) status: &'static str,
    /// Whether the run is paused.
    pub(crate) paused: bool,
}
