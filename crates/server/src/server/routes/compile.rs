//! Routes that compile a recording into a routine.

use std::time::Duration;

use http::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::conversations::{agents, delta};
use super::{Call, Reply, routines};
use crate::agent::{Agents, CompileBegun, CompileStart, Followed, Follower};
use crate::api::{
    AnswerCompilation, CompilationShown, CompileQuestion, CompileRecording, CompileResult, FinalizeCompilation, Login,
    NoFields, RoutineCreated, RunDefaults, RunViewport,
};
use crate::compile::{Compilation, CompileStatus};
use crate::http::{Answer, Event, EventSource, Next};
use crate::routine;
use crate::store::StoredRecording;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// Time limit for an operation on the database.
const STORE: Duration = Duration::from_secs(10);

/// Begins to compile, and streams what happens.
pub(super) fn begin(call: &Call<'_>, wanted: CompileRecording) -> Result<Reply, ApiError> {
    let (agents, recording) = (agents(call)?, call.path_param(0).to_owned());
    let start = CompileStart { recording, model: wanted.model, exclude: wanted.exclude };
    let begun = agents.compile(start, call.deadline)?;
    follow(agents, call.path_param(0), begun)
}

/// Answers a question or revises a routine, and streams what happens.
pub(super) fn answer(call: &Call<'_>, answer: AnswerCompilation) -> Result<Reply, ApiError> {
    let agents = agents(call)?;
    let begun = agents.answer_compilation(call.path_param(0), answer.round, &answer.text)?;
    follow(agents, call.path_param(0), begun)
}

pub(super) fn show(call: &Call<'_>, _: NoFields) -> Result<CompilationShown, ApiError> {
    let id = call.path_param(0);
    let state = agents(call)?.compilation(id)?;
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Ok(CompilationShown {
        recording_id: id.to_owned(),
        status: state.status,
        model: text(&state.model),
        conversation_id: text(&state.conversation_id),
        result: result(&state),
        questions: state
            .asked
            .into_iter()
            .map(|asked| CompileQuestion {
                question: asked.question,
                topic: asked.topic,
                events: asked.events,
                answer: asked.answer,
            })
            .collect(),
        exclude: state.exclude,
        error: state.error.filter(|_| state.status == CompileStatus::Error),
        draft: state.draft,
        routine_id: state.routine_id,
        trace_path: state.trace_path,
    })
}

pub(super) fn finalize(call: &Call<'_>, wanted: FinalizeCompilation) -> Result<RoutineCreated, ApiError> {
    let (agents, id) = (agents(call)?, call.path_param(0));
    let name = routines::checked_name(&wanted.name)?;
    if agents.store().routine(&name, Deadline::after(STORE))?.is_some() {
        let problem = format!("there is a routine named {name:?} already; choose another name");
        return Err(ApiError::new(Code::Conflict, problem).with("name", &name));
    }
    let recording = call.context.agent.as_ref().map_err(Clone::clone)?.recordings.show(id)?;
    let saved = agents.save_compilation(id, &name, wanted.routine_markdown.as_deref(), defaults(&recording))?;
    Ok(RoutineCreated { routine_id: saved.id.clone(), routine: routines::info(saved) })
}

/// How a routine is run that comes from a recording: as it was recorded.
fn defaults(recording: &StoredRecording) -> Value {
    let defaults = RunDefaults {
        login: recording.launch_mode.as_ref().map(|_| Login::Profile),
        profile: recording.profile.clone().filter(|_| recording.launch_mode.is_some()),
        viewport: recording.viewport.map(|(width, height)| RunViewport { width, height }),
        ..RunDefaults::default()
    };
    serde_json::to_value(defaults).unwrap_or_default()
}

/// What a person has to answer or to read.
fn result(state: &Compilation) -> Option<CompileResult> {
    let trace_path = state.trace_path.clone();
    match state.status {
        CompileStatus::Asking => {
            let question = state.question.clone()?;
            Some(CompileResult::Asking { question, round: state.round, trace_path })
        }
        CompileStatus::Review | CompileStatus::Completed => {
            let review = state.review.clone()?;
            let difference = state.reviewed.as_ref().map(|before| routine::unified(before, &review.routine_markdown));
            Some(CompileResult::Review {
                routine_markdown: review.routine_markdown,
                goal: review.goal,
                step_count: review.step_count,
                step_events: review.step_events,
                summary_message: state.summary_message.clone(),
                left_out: review.left_out,
                settled: review.settled,
                difference,
                trace_path,
            })
        }
        CompileStatus::None | CompileStatus::Running | CompileStatus::Error => None,
    }
}

fn follow(agents: &Agents, recording: &str, begun: CompileBegun) -> Result<Reply, ApiError> {
    let follower = agents.follow_compilation(&begun)?;
    let CompileBegun { conversation, has_replaced, .. } = begun;
    let connected = json!({
        "recording_id": recording, "conversation_id": conversation, "status": "connected", "replaced": has_replaced,
    });
    let source = Stream {
        agents: agents.clone(),
        recording: recording.to_owned(),
        follower,
        conversation,
        first: Some(Event { name: Some("connected".to_owned()), id: None, data: connected.to_string() }),
        has_ended: false,
    };
    Ok(Reply::Other(Answer::events(source).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

/// The events of a compilation, until the person has to answer or to read something.
struct Stream {
    agents: Agents,
    recording: String,
    conversation: String,
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
        match self.follower.next(deadline) {
            Ok(Followed::Event { id, event, data }) if matches!(&*event, "agent_event" | "usage_metrics") => {
                Next::Event(Event { name: Some(event), id: Some(id.to_string()), data })
            }
            Ok(Followed::Delta { data }) => {
                Next::Event(Event { name: Some("agent_event".to_owned()), id: None, data: delta(&data) })
            }
            Ok(Followed::Event { event, .. }) if !matches!(&*event, "help_request" | "complete" | "error") => {
                Next::Nothing
            }
            Ok(Followed::Nothing) => Next::Nothing,
            // The end of the run; its state was stored with it.
            Ok(Followed::Event { .. } | Followed::Unstored { .. } | Followed::End) | Err(_) => {
                self.has_ended = true;
                Next::Event(self.last())
            }
        }
    }
}

impl Stream {
    /// `complete` with the result, or `error`.
    fn last(&self) -> Event {
        let failed = |code: &str, problem: &str, trace_path: Option<&String>| {
            let data =
                json!({ "recording_id": self.recording, "error": problem, "code": code, "trace_path": trace_path });
            Event { name: Some("error".to_owned()), id: None, data: data.to_string() }
        };
        let state = match self.agents.compilation(&self.recording) {
            Ok(state) => state,
            Err(problem) => return failed(problem.kind().as_str(), &problem.to_string(), None),
        };
        if state.conversation_id != self.conversation {
            return failed(
                Code::Cancelled.as_str(),
                "another compilation of the recording was begun, which ended this one",
                None,
            );
        }
        let trace_path = state.trace_path.as_ref();
        match (result(&state), &state.error) {
            (Some(result), _) => {
                let data = json!({ "recording_id": self.recording, "result": result });
                Event { name: Some("complete".to_owned()), id: None, data: data.to_string() }
            }
            (None, Some(error)) => failed(&error.code, &error.problem, trace_path),
            (None, None) => failed(
                Code::Interrupted.as_str(),
                "the end of the compilation could not be stored; read its state with GET /recordings/:id/compile",
                trace_path,
            ),
        }
    }
}
