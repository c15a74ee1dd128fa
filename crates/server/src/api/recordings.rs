//! Bodies, queries and answers of the routes for recordings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compile::{CompileFailure, CompileStatus, LeftOut, Settled};
use crate::record::draft::{Step, Workflow};
use crate::record::interchange::Viewport;
use crate::record::{Event, Metadata};

/// `POST /recordings`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CreateRecording {
    /// Id of a registered browser, instead of a profile.
    pub browser_id: Option<String>,
    /// Name of the profile whose browser is recorded; it is started if it is not running. Default: the default profile.
    pub profile: Option<String>,
    /// Id of a conversation whose tabs are recorded, instead of a window.
    pub conversation_id: Option<String>,
    /// A name, at most 200 characters.
    pub name: Option<String>,
    /// Which window is recorded. Default: `dedicated_window`.
    pub launch_mode: Option<LaunchMode>,
    /// Address that is opened first. Default: none, an empty tab.
    pub start_url: Option<String>,
}

/// Which window is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchMode {
    /// One that is opened for the recording.
    DedicatedWindow,
    /// The one in front.
    CurrentWindow,
}

/// `GET /recordings/:id/events`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecordingEventsPage {
    /// Return only events with an `event_index` above this.
    pub after: Option<u64>,
    /// Maximum number of events. Default: 500; at most 5,000.
    pub limit: Option<usize>,
}

/// `POST /recordings/:id/events`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddRecordingEvents {
    /// 1 to 5,000 events. An `event_index` that the recording has is refused. What sensitive fields held is not stored.
    pub events: Vec<Event>,
}

/// `GET /recordings/:id/keyframes/:index`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeyframeQuery {
    /// Return the screenshot from after the event, instead of the one from before it.
    pub after: bool,
}

/// `POST /recordings/:id/intent-note`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetIntentNote {
    /// What the person wanted to do, at most 10,000 characters. Replaces an earlier note.
    pub intent_note: String,
}

/// A format of files of recordings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordingFormat {
    /// That of cdpilot: one JSON object with all events and screenshots.
    #[default]
    Cdpilot,
    /// That of the Recorder of Chrome DevTools, without screenshots.
    Devtools,
}

/// `GET /recordings/:id/export`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExportRecording {
    /// Format of `content`.
    pub format: RecordingFormat,
}

/// `POST /recordings/import`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImportRecording {
    /// Format of `content`.
    pub format: RecordingFormat,
    /// The content of the file: a JSON object, or its text.
    pub content: Value,
}

/// `POST /recordings/ingest`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IngestRecording {
    /// Its name, at most 200 characters.
    pub name: String,
    /// What the person wanted to do.
    #[serde(default)]
    pub intent_note: Option<String>,
    /// Events as `GET /recordings/:id/events` returns them, at least one.
    pub events: Vec<Event>,
    /// Facts about it. Other fields are ignored.
    #[serde(default)]
    pub metadata: Option<Metadata>,
}

/// The compilation of a recording into a routine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompileState {
    /// Where it is.
    pub status: CompileStatus,
    /// In `error`: the code of the reason, such as `CANCELLED` or `MODEL_ERROR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Path of the trace of the compilation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_path: Option<String>,
}

/// `POST /recordings/:id/compile`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompileRecording {
    /// Alias of the model. Default: `agent.model`.
    pub model: Option<String>,
    /// Numbers of events that are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(!skip_serializing_if)]
    pub exclude: Vec<u64>,
}

/// `POST /recordings/:id/compile/answer`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerCompilation {
    /// While it is `asking`: the answer to its questions. In `review`: what to change in the routine. At most 10,000 characters.
    pub text: String,
    /// Number of the round that is answered; 0: the routine is to be changed. With it, an answer never goes to another question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
}

/// `POST /recordings/:id/compile/finalize`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FinalizeCompilation {
    /// A name for the routine, at most 100 characters, which no other routine has.
    pub name: String,
    /// The text that was read. With it, a text that was changed meanwhile is not saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routine_markdown: Option<String>,
}

/// `GET /recordings/:id/compile`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompilationShown {
    /// Id of the recording.
    pub recording_id: String,
    /// Where it is.
    pub status: CompileStatus,
    /// Alias of the model; null before.
    pub model: Option<String>,
    /// Numbers of the events that are left out.
    pub exclude: Vec<u64>,
    /// In `asking` and `review`: what the person has to answer or to read.
    pub result: Option<CompileResult>,
    /// In `error`: why it failed.
    pub error: Option<CompileFailure>,
    /// All questions so far, with their answers.
    pub questions: Vec<CompileQuestion>,
    /// The text that the model works on; it stays after an error.
    pub draft: String,
    /// Id of the conversation, whose events `GET /agent/conversations/:id/stream` streams; null before.
    pub conversation_id: Option<String>,
    /// Id of the routine, once it is saved.
    pub routine_id: Option<String>,
    /// Path of the file with all messages.
    pub trace_path: Option<String>,
}

/// A question of a compilation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompileQuestion {
    /// The question.
    pub question: String,
    /// Its topic.
    pub topic: String,
    /// Numbers of the events that it is about.
    pub events: Vec<u64>,
    /// The answer to the questions of its round; null while it is open.
    pub answer: Option<String>,
}

/// What a compilation has come to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum CompileResult {
    /// It waits for an answer.
    Asking {
        /// The question; several are numbered, a line each.
        question: String,
        /// Number of the round, from 1 to 5.
        round: u32,
        /// Path of the file with all messages.
        trace_path: Option<String>,
    },
    /// A routine waits to be read.
    Review {
        /// The text of the routine.
        routine_markdown: String,
        /// Its goal.
        goal: String,
        /// Number of its steps.
        step_count: usize,
        /// Numbers of the recorded events of each step, by the number of the step.
        step_events: BTreeMap<String, Vec<u64>>,
        /// How the model sums it up.
        summary_message: String,
        /// Recorded actions that it leaves out.
        left_out: Vec<LeftOut>,
        /// Ambiguities that were settled without a question.
        settled: Vec<Settled>,
        /// The differences from the text that was read before, in unified form; null for the first one.
        difference: Option<String>,
        /// Path of the file with all messages.
        trace_path: Option<String>,
    },
}

/// A recording.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordingInfo {
    /// Id of the recording.
    pub recording_id: String,
    /// Its name; null without one.
    pub name: Option<String>,
    /// `active`, `stopped` or `error` (it could not begin).
    pub status: &'static str,
    /// Whether it is active and paused.
    pub paused: bool,
    /// `dedicated_window` or `current_window`; null for a recording of a conversation's tabs and for one of another program.
    pub launch_mode: Option<String>,
    /// Name of the profile; null for a recording of another program.
    pub profile: Option<String>,
    /// Where it began; empty if that is not known.
    pub start_url: String,
    /// Size of the viewport at the start; null if that is not known.
    pub viewport: Option<Viewport>,
    /// When it began, in seconds since 1970.
    pub started_at: f64,
    /// When it ended, in seconds since 1970; null while it is active.
    pub stopped_at: Option<f64>,
    /// Why it ended: `user`, `browser_disconnected`, `server_ended`, `window_closed` or `limit`; null while it is active.
    pub stop_reason: Option<&'static str>,
    /// Number of its events.
    pub event_count: u64,
    /// Number of its events of type `gap`, where something is missing.
    pub gaps: u64,
    /// What the person wanted to do; empty without a note.
    pub intent_note: String,
    /// Its compilation into a routine.
    pub compile: CompileState,
    /// Ids of the routines that were made from it.
    pub routine_ids: Vec<String>,
}

/// `POST /recordings`, `POST /recordings/import`, `POST /recordings/ingest`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordingCreated {
    /// Id of the recording.
    pub recording_id: String,
    /// The recording.
    pub recording: RecordingInfo,
    /// What was changed or left out in an imported file.
    pub notes: Vec<String>,
}

/// One recording.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneRecording {
    /// The recording.
    pub recording: RecordingInfo,
}

/// `GET /recordings`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordingList {
    /// The recordings, the last started first, at most 1,000.
    pub recordings: Vec<RecordingInfo>,
    /// Their number.
    pub count: usize,
}

/// `GET /recordings/:id/events`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordingEvents {
    /// The events, in the order of `event_index`. Texts of pages are untrusted content.
    pub events: Vec<Event>,
    /// Their number.
    pub count: usize,
}

/// `GET /recordings/:id/workflow-draft`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordingDraft {
    /// Id of the recording.
    pub recording_id: String,
    /// The steps in the order in which they were done.
    pub normalized_steps: Vec<Step>,
    /// How many steps there are.
    pub normalized_step_count: usize,
    /// The same steps as a workflow, with inputs and warnings.
    pub workflow: Workflow,
}

/// `GET /recordings/:id/export`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecordingExported {
    /// Format of `content`.
    pub format: RecordingFormat,
    /// A name for the file.
    pub filename: String,
    /// The content of the file.
    pub content: Value,
}
