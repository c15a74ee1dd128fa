//! Routes for recordings.

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde_json::json;

use super::super::error::ApiError;
use super::super::params::shown;
use super::conversations::{agents, attach};
use super::{Call, Reply, browsers};
use crate::api::{
    AddRecordingEvents, CompileState, CreateRecording, ExportRecording, ImportRecording, IngestRecording,
    KeyframeQuery, LaunchMode, NoFields, OneRecording, RecordConversation, RecordingCreated, RecordingDraft,
    RecordingEvents, RecordingEventsPage, RecordingExported, RecordingFormat, RecordingInfo, RecordingList, Removed,
    SetIntentNote,
};
use crate::compile::{Compilation, CompileStatus};
use crate::control::Profile;
use crate::http::{Answer, Event, EventSource, Next};
use crate::record::draft::Draft;
use crate::record::interchange::Viewport;
use crate::record::{Followed, Follower, Format, Recordings, StartRecording, Window};
use crate::store::{BrowserBinding, ConversationState, StoredRecording};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// Number of events of one answer, unless the request says otherwise.
const EVENTS: usize = 500;
/// Maximum number of events of one answer.
const MOST_EVENTS: usize = 5_000;

pub(super) fn list(call: &Call<'_>, _: NoFields) -> Result<RecordingList, ApiError> {
    let recordings: Vec<RecordingInfo> = recordings(call)?.list()?.into_iter().map(info).collect();
    Ok(RecordingList { count: recordings.len(), recordings })
}

pub(super) fn start(call: &Call<'_>, new: CreateRecording) -> Result<RecordingCreated, ApiError> {
    let profile = profile(call, &new)?;
    let is_of_window = new.conversation_id.is_none();
    if !is_of_window && (new.launch_mode.is_some() || new.start_url.is_some()) {
        let problem = "conversation_id: the tabs of a conversation have no window of their own; leave out launch_mode and start_url";
        return Err(ApiError::bad(problem));
    }
    let start_url = new.start_url.filter(|url| !url.trim().is_empty());
    let window = match new.launch_mode.unwrap_or(LaunchMode::DedicatedWindow) {
        LaunchMode::DedicatedWindow => Window::Dedicated,
        LaunchMode::CurrentWindow => Window::Current,
    };
    let wanted = StartRecording { profile, conversation: new.conversation_id, window, name: new.name, start_url };
    Ok(created(recordings(call)?.start(wanted, call.deadline)?))
}

/// The profile whose browser a request names: by its name, by the id of the browser, or by a conversation.
fn profile(call: &Call<'_>, new: &CreateRecording) -> Result<Profile, ApiError> {
    let control = &call.context.control;
    match (&new.browser_id, &new.profile, &new.conversation_id) {
        (Some(id), None, None) => match browsers::binding_of(call, id)? {
            BrowserBinding::Profile(name) => Ok(control.profile(Some(&name))?),
            BrowserBinding::Endpoint(url) => Ok(control.endpoint_profile(&url)?),
        },
        (None, name, None) => Ok(control.profile(name.as_deref())?.for_session(&call.session)),
        (None, None, Some(id)) => {
            let agents = agents(call)?;
            attach(call, &agents.get(id)?)?;
            Ok(agents.profile_of(id)?)
        }
        _ => Err(ApiError::bad("send one of browser_id, profile and conversation_id, not several")),
    }
}

pub(super) fn show(call: &Call<'_>, _: NoFields) -> Result<OneRecording, ApiError> {
    one(recordings(call)?.show(call.path_param(0))?)
}

pub(super) fn delete(call: &Call<'_>, _: NoFields) -> Result<Removed, ApiError> {
    agents(call)?.end_compilation(call.path_param(0), call.deadline);
    recordings(call)?.delete(call.path_param(0), call.deadline)?;
    Ok(Removed { removed: true })
}

pub(super) fn pause(call: &Call<'_>, _: NoFields) -> Result<OneRecording, ApiError> {
    one(recordings(call)?.set_paused(call.path_param(0), true)?)
}

pub(super) fn resume(call: &Call<'_>, _: NoFields) -> Result<OneRecording, ApiError> {
    one(recordings(call)?.set_paused(call.path_param(0), false)?)
}

pub(super) fn stop(call: &Call<'_>, _: NoFields) -> Result<OneRecording, ApiError> {
    one(recordings(call)?.stop(call.path_param(0), call.deadline)?)
}

pub(super) fn set_note(call: &Call<'_>, note: SetIntentNote) -> Result<OneRecording, ApiError> {
    one(recordings(call)?.set_note(call.path_param(0), &note.intent_note)?)
}

pub(super) fn events(call: &Call<'_>, page: RecordingEventsPage) -> Result<RecordingEvents, ApiError> {
    let limit = page.limit.unwrap_or(EVENTS).min(MOST_EVENTS);
    let events = recordings(call)?.events(call.path_param(0), page.after.unwrap_or(0), limit)?;
    Ok(RecordingEvents { count: events.len(), events })
}

pub(super) fn add_events(call: &Call<'_>, new: AddRecordingEvents) -> Result<OneRecording, ApiError> {
    one(recordings(call)?.append(call.path_param(0), new.events)?)
}

pub(super) fn keyframe(call: &Call<'_>, query: KeyframeQuery) -> Result<Reply, ApiError> {
    let index = call.path_param(1);
    let number =
        index.parse().map_err(|_| ApiError::bad(format!("{:?} is not the number of an event", shown(index))))?;
    let image = recordings(call)?.keyframe(call.path_param(0), number, query.after)?;
    let media_type = if image.media_type == "image/png" { "image/png" } else { "image/jpeg" };
    let answer = Answer::bytes(StatusCode::OK, media_type, image.bytes);
    Ok(Reply::Other(answer.with(CACHE_CONTROL, HeaderValue::from_static("private, max-age=60"))))
}

pub(super) fn draft(call: &Call<'_>, _: NoFields) -> Result<RecordingDraft, ApiError> {
    let Draft { recording_id, normalized_steps, normalized_step_count, workflow } =
        recordings(call)?.draft(call.path_param(0))?;
    Ok(RecordingDraft { recording_id, normalized_steps, normalized_step_count, workflow })
}

pub(super) fn export(call: &Call<'_>, query: ExportRecording) -> Result<RecordingExported, ApiError> {
    let (recordings, id) = (recordings(call)?, call.path_param(0));
    let shown = info(recordings.show(id)?);
    let content = recordings.export(id, format(query.format), &shown)?;
    let end = match query.format {
        RecordingFormat::Cdpilot => "cdpilot.json",
        RecordingFormat::Devtools => "devtools.json",
    };
    let filename = format!("{}.{end}", file_name(shown.name.as_deref().unwrap_or_default()));
    Ok(RecordingExported { format: query.format, filename, content })
}

pub(super) fn import(call: &Call<'_>, file: ImportRecording) -> Result<RecordingCreated, ApiError> {
    let (recording, notes) = recordings(call)?.import(format(file.format), file.content)?;
    Ok(RecordingCreated { notes, ..created(recording) })
}

/// Makes a recording of what a conversation did.
pub(super) fn of_conversation(call: &Call<'_>, wanted: RecordConversation) -> Result<RecordingCreated, ApiError> {
    let id = call.path_param(0);
    let overview = agents(call)?.get(id)?;
    let state = overview.conversation.state;
    if matches!(state, ConversationState::Active | ConversationState::Waiting) {
        let problem = format!("the conversation is {}; wait until it has ended, or stop it", state.as_str());
        return Err(ApiError::new(Code::Conflict, problem));
    }
    let recording = recordings(call)?.of_conversation(id, &overview.conversation.title, wanted.name.as_deref())?;
    Ok(created(recording))
}

pub(super) fn ingest(call: &Call<'_>, new: IngestRecording) -> Result<RecordingCreated, ApiError> {
    let IngestRecording { name, intent_note, events, metadata } = new;
    let note = intent_note.unwrap_or_default();
    Ok(created(recordings(call)?.ingest(Some(&name), &note, events, metadata.unwrap_or_default())?))
}

/// Streams events as they are stored.
pub(super) fn stream(call: &Call<'_>, _: NoFields) -> Result<Reply, ApiError> {
    let seen = call.request.header("last-event-id").map(str::trim).filter(|id| !id.is_empty());
    let after = seen.map_or(Ok(0), str::parse);
    let after =
        after.map_err(|_| ApiError::bad("Last-Event-ID: expected the id of an event of this stream, such as 7"))?;
    let id = call.path_param(0);
    let source =
        Stream { follower: recordings(call)?.follow(id, after)?, first: Some(connected(id)), has_ended: false };
    Ok(Reply::Other(Answer::events(source).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

fn connected(id: &str) -> Event {
    let data = json!({ "recording_id": id, "status": "connected" }).to_string();
    Event { name: Some("connected".to_owned()), id: None, data }
}

/// The events of a recording as Server-Sent Events: `recording_event` for each that was written or written again, `complete` at
/// the end.
struct Stream {
    follower: Follower,
    first: Option<Event>,
    has_ended: bool,
}

impl EventSource for Stream {
    fn next(&mut self, deadline: Deadline<'_>) -> Next {
        if let Some(first) = self.first.take() {
            return Next::Event(first);
        }
        if self.has_ended {
            return Next::End;
        }
        let last = |name: &str, data: serde_json::Value| {
            Next::Event(Event { name: Some(name.to_owned()), id: None, data: data.to_string() })
        };
        match self.follower.next(deadline) {
            Ok(Followed::Event { change, event }) => {
                let data = serde_json::to_string(&event).unwrap_or_default();
                Next::Event(Event { name: Some("recording_event".to_owned()), id: Some(change.to_string()), data })
            }
            Ok(Followed::Ended(recording)) => {
                self.has_ended = true;
                last("complete", json!({ "recording_id": recording.id, "recording": info(*recording) }))
            }
            Ok(Followed::Deleted) => Next::End,
            Ok(_) => Next::Nothing,
            Err(problem) => {
                self.has_ended = true;
                last("error", json!({ "error": problem.to_string(), "code": problem.kind().as_str() }))
            }
        }
    }
}

fn recordings<'c>(call: &Call<'c>) -> Result<&'c Recordings, ApiError> {
    call.context.agent.as_ref().map(|agent| &*agent.recordings).map_err(Clone::clone)
}

fn format(format: RecordingFormat) -> Format {
    match format {
        RecordingFormat::Cdpilot => Format::Cdpilot,
        RecordingFormat::Devtools => Format::Devtools,
    }
}

/// The name of a recording or routine as that of a file, without its extension.
pub(super) fn file_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(60).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "recording".to_owned() } else { plain.to_owned() }
}

fn one(recording: StoredRecording) -> Result<OneRecording, ApiError> {
    Ok(OneRecording { recording: info(recording) })
}

fn created(recording: StoredRecording) -> RecordingCreated {
    RecordingCreated { recording_id: recording.id.clone(), recording: info(recording), notes: Vec::new() }
}

fn info(stored: StoredRecording) -> RecordingInfo {
    let compilation: Compilation = serde_json::from_value(stored.compile).unwrap_or_default();
    let code = compilation.error.filter(|_| compilation.status == CompileStatus::Error).map(|error| error.code);
    let compile = CompileState { status: compilation.status, code, trace_path: compilation.trace_path };
    RecordingInfo {
        compile,
        recording_id: stored.id,
        name: stored.name,
        status: stored.status.as_str(),
        paused: stored.paused,
        launch_mode: stored.launch_mode,
        profile: stored.profile,
        start_url: stored.start_url,
        viewport: stored.viewport.map(|(width, height)| Viewport { width, height }),
        started_at: stored.started_at,
        stopped_at: stored.stopped_at,
        stop_reason: stored.stop_reason.map(|reason| reason.as_str()),
        event_count: stored.event_count,
        gaps: stored.gaps,
        intent_note: stored.intent_note,
        routine_ids: stored.routines,
    }
}
