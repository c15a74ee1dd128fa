//! Bodies, queries and answers of the routes for conversations and browser ids.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `POST /browsers/register`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RegisterBrowser {
    /// Address of a browser that is running elsewhere: `ws://`, `wss://`, `http://` or `https://`.
    pub endpoint: Option<String>,
    /// Name of a profile. Default, without `endpoint`: the default profile.
    pub profile: Option<String>,
    /// Hours until the id expires, also fractions. Default: 24.
    pub ttl_hours: Option<f64>,
}

/// `POST /agent/conversations`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CreateConversation {
    /// Alias of the model. Default: `agent.model`.
    pub model: Option<String>,
    /// Id of a registered browser. Default: the server's own browser.
    pub browser_id: Option<String>,
    /// `chat` (default) or `routine_replay`.
    pub mode: Option<String>,
    /// Toolsets and single tools. Default: `visual`, `todo`, `clarify`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(!skip_serializing_if)]
    pub toolsets: Vec<String>,
    /// Folder of file and terminal tools. Default: that of the server.
    pub cwd: Option<String>,
    /// Use the cookies of the profile instead of a browser context of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(!skip_serializing_if)]
    pub share_login: bool,
    /// Which actions a person approves. `off`: none. `irreversible`: those that cannot be undone. `all`: all that
    /// change something. Default: `agent.guard`.
    pub guard: Option<crate::config::Guard>,
    /// Which actions of the visual tools show a preview that the model has to confirm. `always`: all that can. `auto`: those for which it helps.
    /// `never`: none. Default: `agent.confirm`.
    pub confirm: Option<crate::config::Confirm>,
    /// Patterns of hosts that its browser context may reach, such as `example.com` or `*.example.com`. Default: all.
    pub hosts: Option<Vec<String>>,
    /// Names of stored secrets that it may type, but not see.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(!skip_serializing_if)]
    pub secrets: Vec<String>,
    /// Requests with effects that its pages may send without approval, as `METHOD ADDRESS`, such as
    /// `POST https://example.com/api/search`: all whose address begins so. `*` is any method.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(!skip_serializing_if)]
    pub requests: Vec<String>,
}

/// `GET /agent/conversations`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConversationsQuery {
    /// Only conversations in this state: `idle`, `active`, `waiting` or `error`.
    pub status: Option<String>,
    /// List those that compile a recording, too.
    pub all: bool,
}

/// `POST /agent/conversations/:id/messages`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    /// The message.
    pub text: String,
    /// Id of the conversation's browser. Not needed.
    #[serde(default)]
    pub browser_id: Option<String>,
}

/// `POST /agent/conversations/:id/answer`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerQuestion {
    /// Id of the question, as in `help_request`. With it, an answer never goes to another question. Default: the open one.
    #[serde(default)]
    pub question_id: Option<String>,
    /// The answer to the open question.
    #[serde(default)]
    pub text: Option<String>,
    /// Id of an approval, as in `help_request`.
    #[serde(default)]
    pub approval_id: Option<String>,
    /// The decision about an approval: this `once`, this kind of effect at this `origin`, this `kind` everywhere, in
    /// later runs of this `routine` too, or `refuse`.
    #[serde(default)]
    pub decision: Option<DecisionName>,
    /// A word for the model with a refusal; at most 2,000 characters.
    #[serde(default)]
    pub note: Option<String>,
}

/// A decision about an approval.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionName {
    /// This once.
    Once,
    /// This kind of effect at this origin, in this conversation.
    Origin,
    /// This kind of effect, in this conversation.
    Kind,
    /// In a run of a routine: this effect in this step, also in later runs.
    Routine,
    /// Not at all.
    Refuse,
}

/// `GET /agent/conversations/:id/events`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventsPage {
    /// Only events after this id.
    pub after: Option<u64>,
    /// Maximum number of events. Default and maximum: 100,000.
    pub limit: Option<usize>,
}

/// `POST /browsers/register`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrowserRegistered {
    /// The id, a UUID (version 4). Whoever has it can use the browser; it is not shown again.
    pub browser_id: String,
    /// When it expires, in seconds since 1970.
    pub expires_at: f64,
}

/// `GET /browsers/:id/valid`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrowserIdValid {
    /// Whether the id gives access to a browser.
    pub valid: bool,
    /// Whether it did until it expired.
    pub expired: bool,
    /// When it expires or expired, in seconds since 1970; null for an unknown id.
    pub expires_at: Option<f64>,
}

/// `POST /agent/conversations`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationCreated {
    /// The id of the conversation.
    pub conversation_id: String,
}

/// A conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationInfo {
    /// Its id.
    pub id: String,
    /// `idle`, `active`, `waiting` (a question is open) or `error`.
    pub status: &'static str,
    /// Whether its run is paused.
    pub paused: bool,
    /// Whether its run waits until another one ends.
    pub queued: bool,
    /// Whether its last turn was not finished; `POST …/resume` continues it.
    pub unfinished: bool,
    /// Alias of its model.
    pub model: String,
    /// `chat`, `routine_replay` or `compile`.
    pub mode: String,
    /// The first 100 characters of the first message.
    pub title: String,
    /// When it was created, in seconds since 1970.
    pub created_at: f64,
    /// When it was last changed, in seconds since 1970.
    pub updated_at: f64,
    /// Number of messages: those of the user, of the model, and results of tools.
    pub message_count: u64,
    /// Id of its newest event; 0 without events.
    pub last_event: u64,
    /// The last `usage_metrics`; null before the first answer of the model.
    pub usage: Value,
    /// The open question; null without one.
    pub question: Option<OpenQuestion>,
    /// What holds it up; null if it goes on, or rests.
    pub held_up: Option<HeldUp>,
    /// Name of the profile of its browser; null: the default profile.
    pub profile: Option<String>,
    /// Patterns of the hosts that it may reach; null: all.
    pub hosts: Option<Vec<String>>,
    /// Names of the secrets that it may type.
    pub secrets: Vec<String>,
    /// Requests with effects that its pages may send without approval.
    pub requests: Vec<String>,
    /// Which actions need approval.
    pub guard: crate::config::Guard,
    /// What needs no further approval in it, because a person said so.
    pub allowed: Vec<AllowedEffects>,
}

/// Effects that a person has allowed for the rest of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllowedEffects {
    /// The kind of effect, such as `purchase` or `send`.
    pub effect: String,
    /// Where it is allowed; null: everywhere.
    pub origin: Option<String>,
    /// Whether this is about one effect, such as the use of one secret, and not about all of its kind.
    pub one: bool,
}

/// What holds up a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeldUp {
    /// `dialog`, `page_busy`, `page_crashed`, `browser_gone`, `tool`, `model`, `model_failing`, `approval`, `question`, `paused`,
    /// `queued` or `storage`.
    pub state: &'static str,
    /// Since when, in seconds since 1970; null if that is not known.
    pub since: Option<f64>,
    /// What helps.
    pub help: String,
}

/// A question to a person.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenQuestion {
    /// Its id.
    pub id: String,
    /// `help`, `clarify` or `approval`.
    pub kind: &'static str,
    /// The tool call that asks.
    pub tool_call_id: String,
    /// What is asked.
    pub body: Value,
}

/// `GET /agent/conversations`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationList {
    /// The conversations, the last changed first, at most 1,000.
    pub conversations: Vec<ConversationInfo>,
    /// Their number.
    pub count: usize,
}

/// `GET /agent/conversations/:id`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationShown {
    pub conversation: ConversationInfo,
    /// Its tabs; `active` is the one that it works in.
    pub tabs: Vec<crate::control::TabInfo>,
}

/// A stored event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationEvent {
    /// Its id, from 1.
    pub id: u64,
    /// `agent_event`, `usage_metrics`, `help_request`, `dialog`, `complete` or `error`.
    pub event: String,
    /// Its data.
    pub data: Value,
}

/// `GET /agent/conversations/:id/events`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationEvents {
    /// The events in order. Pictures are referred to by their path.
    pub events: Vec<ConversationEvent>,
    /// Their number.
    pub count: usize,
}

/// `GET /agent/conversations/:id/history`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationMessages {
    /// The messages in order.
    pub messages: Vec<Value>,
    /// Their number.
    pub count: usize,
}

/// `POST /agent/conversations/:id/pause`, `/resume`, `/stop`, `/answer`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunChanged {
    /// `idle`, `active`, `waiting` or `error`.
    pub status: &'static str,
    /// Whether the run is paused.
    pub paused: bool,
}

/// `POST /agent/conversations/:id/recording`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordConversation {
    /// A name for the recording, at most 200 characters. Default: the title of the conversation.
    pub name: Option<String>,
}
