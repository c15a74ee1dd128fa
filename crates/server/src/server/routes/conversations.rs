//! Routes for conversations of the agent.

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Map, Value, json};

use super::super::error::ApiError;
use super::super::params::shown;
use super::{Call, Reply, browsers};
use crate::agent::{Agents, Decision, Followed, Follower, Mode, NewConversation, Overview};
use crate::api::{
    AllowedEffects, AnswerQuestion, ConversationCreated, ConversationEvent, ConversationEvents, ConversationInfo,
    ConversationList, ConversationMessages, ConversationShown, ConversationsQuery, CreateConversation, DecisionName,
    EventsPage, HeldUp, NoFields, OpenQuestion, Removed, RunChanged, SendMessage,
};
use crate::http::{Answer, Event, EventSource, Next};
use crate::store::{BrowserBinding, ConversationState};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// Maximum number of events of one answer.
const MOST_EVENTS: usize = 100_000;
/// The setting with the address of the browser that a conversation is bound to. Secret: in no answer.
pub(super) const ENDPOINT: &str = "endpoint";

pub(super) fn create(call: &Call<'_>, new: CreateConversation) -> Result<ConversationCreated, ApiError> {
    let agents = agents(call)?;
    let mode = match new.mode.as_deref() {
        None => Mode::default(),
        Some(text) => Mode::parse(text)
            .filter(|mode| *mode != Mode::Compile)
            .ok_or_else(|| ApiError::bad(format!("mode: {:?} is not chat or routine_replay", shown(text))))?,
    };
    if let Some(cwd) = new.cwd.as_deref().filter(|cwd| !std::path::Path::new(cwd).is_dir()) {
        return Err(ApiError::bad(format!("cwd: {:?} is not a folder", shown(cwd))));
    }
    if new.hosts.as_ref().is_some_and(Vec::is_empty) {
        return Err(ApiError::bad("hosts: give at least one pattern, or leave the field out to admit all hosts"));
    }
    if let Some(wrong) = new.requests.iter().find(|text| !is_request(text)) {
        let problem =
            format!("requests: {:?} is no METHOD ADDRESS, such as POST https://example.com/api/search", shown(wrong));
        return Err(ApiError::bad(problem));
    }
    let mut more = Map::new();
    for (name, value) in [
        ("guard", new.guard.map(|guard| json!(guard))),
        ("confirm", new.confirm.map(|confirm| json!(confirm))),
        ("hosts", new.hosts.map(|hosts| json!(hosts))),
        ("secrets", (!new.secrets.is_empty()).then(|| json!(new.secrets))),
        ("requests", (!new.requests.is_empty()).then(|| json!(new.requests))),
    ] {
        more.extend(value.map(|value| (name.to_owned(), value)));
    }
    let mut conversation = NewConversation::new().mode(mode).toolsets(new.toolsets).share_login(new.share_login);
    conversation.model = new.model;
    conversation.cwd = new.cwd;
    if let Some(id) = &new.browser_id {
        match browsers::binding_of(call, id)? {
            BrowserBinding::Profile(name) => conversation.profile = Some(name),
            BrowserBinding::Endpoint(url) => {
                conversation.profile = Some(call.context.control.endpoint_profile(&url)?.name().to_owned());
                more.insert(ENDPOINT.to_owned(), url.into());
            }
        }
    }
    let conversation_id = agents.create(conversation.more(more))?;
    Ok(ConversationCreated { conversation_id })
}

pub(super) fn list(call: &Call<'_>, query: ConversationsQuery) -> Result<ConversationList, ApiError> {
    let state = match query.status.as_deref() {
        None => None,
        Some(text) => Some(ConversationState::parse(text).ok_or_else(|| {
            ApiError::bad(format!("status: {:?} is not idle, active, waiting or error", shown(text)))
        })?),
    };
    let guard = call.context.control.config().agent.guard;
    let all = agents(call)?.list(state, query.all)?.into_iter();
    let conversations: Vec<ConversationInfo> = all.map(|overview| info(overview, guard)).collect();
    Ok(ConversationList { count: conversations.len(), conversations })
}

pub(super) fn show(call: &Call<'_>, _: NoFields) -> Result<ConversationShown, ApiError> {
    let guard = call.context.control.config().agent.guard;
    let (agents, id) = (agents(call)?, call.path_param(0));
    let conversation = info(agents.get(id)?, guard);
    // The profile of a conversation may have been deleted.
    Ok(ConversationShown { conversation, tabs: agents.tabs(id).unwrap_or_default() })
}

pub(super) fn delete(call: &Call<'_>, _: NoFields) -> Result<Removed, ApiError> {
    agents(call)?.delete(call.path_param(0), call.deadline)?;
    Ok(Removed { removed: true })
}

/// Sends a message, and streams the events of the run that it starts.
pub(super) fn send(call: &Call<'_>, message: SendMessage) -> Result<Reply, ApiError> {
    let (agents, id) = (agents(call)?, call.path_param(0));
    let overview = agents.get(id)?;
    if let Some(browser_id) = &message.browser_id {
        check_binding(call, browser_id, &overview)?;
    }
    attach(call, &overview)?;
    let after = agents.send(id, &message.text)?;
    follow(agents, id, after)
}

/// Streams events after `Last-Event-ID`, or all of them.
pub(super) fn stream(call: &Call<'_>, _: NoFields) -> Result<Reply, ApiError> {
    let seen = call.request.header("last-event-id").map(str::trim).filter(|id| !id.is_empty());
    let after = seen
        .map_or(Ok(0), str::parse)
        .map_err(|_| ApiError::bad("Last-Event-ID: expected the number of an event of this conversation, such as 7"))?;
    let (agents, id) = (agents(call)?, call.path_param(0));
    let newest = agents.get(id)?.conversation.last_event;
    if after > newest {
        let problem = format!("Last-Event-ID: the conversation has no event {after}; its newest one is {newest}");
        return Err(ApiError::bad(problem));
    }
    follow(agents, id, after)
}

pub(super) fn follow(agents: &Agents, id: &str, after: u64) -> Result<Reply, ApiError> {
    let connected = Event {
        name: Some("connected".to_owned()),
        id: None,
        data: json!({ "conversation_id": id, "status": "connected" }).to_string(),
    };
    let source = Stream { follower: agents.follow(id, after)?, first: Some(connected), has_failed: false };
    Ok(Reply::Other(Answer::events(source).with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

pub(super) fn events(call: &Call<'_>, page: EventsPage) -> Result<ConversationEvents, ApiError> {
    let limit = page.limit.unwrap_or(MOST_EVENTS).min(MOST_EVENTS);
    let stored = agents(call)?.events(call.path_param(0), page.after.unwrap_or(0), limit)?;
    let event = |stored: crate::store::StoredEvent| ConversationEvent {
        id: stored.id,
        event: stored.event,
        data: serde_json::from_str(&stored.data).unwrap_or_default(),
    };
    let events: Vec<ConversationEvent> = stored.into_iter().map(event).collect();
    Ok(ConversationEvents { count: events.len(), events })
}

pub(super) fn history(call: &Call<'_>, _: NoFields) -> Result<ConversationMessages, ApiError> {
    let messages = agents(call)?.history(call.path_param(0))?;
    Ok(ConversationMessages { count: messages.len(), messages })
}

pub(super) fn image(call: &Call<'_>, _: NoFields) -> Result<Reply, ApiError> {
    let number = call.path_param(1);
    let number = number.parse().map_err(|_| ApiError::bad("the number of an image is 1 or more"))?;
    let image = agents(call)?.image(call.path_param(0), number)?;
    let media_type = if image.media_type == "image/jpeg" { "image/jpeg" } else { "image/png" };
    let answer = Answer::bytes(StatusCode::OK, media_type, image.bytes);
    Ok(Reply::Other(answer.with(CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"))))
}

pub(super) fn pause(call: &Call<'_>, _: NoFields) -> Result<RunChanged, ApiError> {
    agents(call)?.pause(call.path_param(0))?;
    changed(call)
}

pub(super) fn resume(call: &Call<'_>, _: NoFields) -> Result<RunChanged, ApiError> {
    let (agents, id) = (agents(call)?, call.path_param(0));
    attach(call, &agents.get(id)?)?;
    agents.resume(id)?;
    changed(call)
}

pub(super) fn stop(call: &Call<'_>, _: NoFields) -> Result<RunChanged, ApiError> {
    agents(call)?.stop_run(call.path_param(0), call.deadline)?;
    changed(call)
}

pub(super) fn answer(call: &Call<'_>, answer: AnswerQuestion) -> Result<RunChanged, ApiError> {
    let (agents, id) = (agents(call)?, call.path_param(0));
    attach(call, &agents.get(id)?)?;
    let AnswerQuestion { question_id, text, approval_id, decision, note } = answer;
    match (text, approval_id, decision) {
        (Some(text), None, None) if note.is_none() => agents.answer_question(id, question_id.as_deref(), &text)?,
        (None, Some(approval_id), Some(decision)) if question_id.is_none() => {
            let decision = match decision {
                DecisionName::Once => Decision::Once,
                DecisionName::Origin => Decision::Origin,
                DecisionName::Kind => Decision::Kind,
                DecisionName::Routine => Decision::Routine,
                DecisionName::Refuse => Decision::Refuse,
            };
            agents.decide(id, &approval_id, decision, note.as_deref().unwrap_or_default())?
        }
        _ => {
            return Err(ApiError::bad(
                "give text (and question_id) for a question, or approval_id and decision (and note) for an approval",
            ));
        }
    };
    changed(call)
}

fn changed(call: &Call<'_>) -> Result<RunChanged, ApiError> {
    let overview = agents(call)?.get(call.path_param(0))?;
    Ok(RunChanged { status: overview.conversation.state.as_str(), paused: overview.paused })
}

pub(super) fn agents<'c>(call: &Call<'c>) -> Result<&'c Agents, ApiError> {
    call.context.agent.as_ref().map(|agent| &agent.agents).map_err(Clone::clone)
}

/// Checks the browser id of a message: it must belong to the browser of the conversation.
fn check_binding(call: &Call<'_>, browser_id: &str, overview: &Overview) -> Result<(), ApiError> {
    let binding = browsers::binding_of(call, browser_id)?;
    let settings = &overview.conversation.settings;
    let is_same = match &binding {
        BrowserBinding::Endpoint(url) => settings[ENDPOINT] == **url,
        BrowserBinding::Profile(name) => {
            let own = call.context.control.profile(settings["profile"].as_str())?;
            settings[ENDPOINT].is_null() && own.name() == name
        }
    };
    if is_same {
        return Ok(());
    }
    let problem = "browser_id: it belongs to another browser than the one that the conversation was created for; leave it out, \
                   or create a conversation with it";
    Err(ApiError::new(Code::Conflict, problem))
}

/// Makes the profile of a browser at an endpoint known again after a restart of the server.
pub(super) fn attach(call: &Call<'_>, overview: &Overview) -> Result<(), ApiError> {
    if let Some(url) = overview.conversation.settings[ENDPOINT].as_str() {
        call.context.control.endpoint_profile(url)?;
    }
    Ok(())
}

/// A conversation without the rest of its settings, which may contain the address of a browser. `guard`: that of the server.
fn info(overview: Overview, guard: crate::config::Guard) -> ConversationInfo {
    let Overview { conversation, paused, queued, question, held_up, .. } = overview;
    let texts = |name: &str| {
        let all = conversation.settings[name].as_array()?;
        Some(all.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect::<Vec<_>>())
    };
    let (hosts, secrets) = (texts("hosts"), texts("secrets").unwrap_or_default());
    let requests = texts("requests").unwrap_or_default();
    let own_guard = serde_json::from_value(conversation.settings["guard"].clone()).ok();
    let profile = conversation.settings["profile"].as_str().map(ToOwned::to_owned);
    ConversationInfo {
        profile,
        id: conversation.id,
        status: conversation.state.as_str(),
        paused,
        queued,
        unfinished: conversation.unfinished,
        model: conversation.model,
        mode: conversation.mode,
        title: conversation.title,
        created_at: conversation.created_at,
        updated_at: conversation.updated_at,
        message_count: conversation.message_count,
        last_event: conversation.last_event,
        usage: conversation.usage,
        question: question.map(|question| OpenQuestion {
            id: question.id,
            kind: question.kind.as_str(),
            tool_call_id: question.call_id,
            body: shown_body(question.body),
        }),
        held_up: held_up.map(|held_up| HeldUp {
            state: held_up.state.as_str(),
            since: held_up.since,
            help: held_up.help,
        }),
        hosts,
        secrets,
        requests,
        guard: own_guard.unwrap_or(guard),
        allowed: allowed(&conversation.settings["grants"]),
    }
}

/// Whether a text is a method and an address with a host.
fn is_request(text: &str) -> bool {
    let Some((method, address)) = text.split_once(' ') else { return false };
    let is_method = method == "*" || !method.is_empty() && method.chars().all(|c| c.is_ascii_alphabetic());
    // With a path: `https://a.test` begins `https://a.test.evil.test`, too.
    is_method && url::Url::parse(address).is_ok_and(|url| url.has_host() && address.matches('/').count() >= 3)
}

/// What a person has allowed for the rest of a conversation.
fn allowed(grants: &Value) -> Vec<AllowedEffects> {
    let text = |grant: &Value, name: &str| grant[name].as_str().map(ToOwned::to_owned);
    let all = grants.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter()
        .map(|grant| AllowedEffects {
            effect: text(grant, "kind").unwrap_or_default(),
            origin: text(grant, "origin"),
            one: !grant["fingerprint"].is_null(),
        })
        .collect()
}

/// What is asked, without what only the program needs.
fn shown_body(mut body: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        for name in ["fingerprint", "approved_before", "resumes", "result", "role", "name"] {
            fields.remove(name);
        }
    }
    body
}

/// The events of a conversation as Server-Sent Events.
struct Stream {
    follower: Follower,
    first: Option<Event>,
    has_failed: bool,
}

impl EventSource for Stream {
    fn next(&mut self, deadline: Deadline<'_>) -> Next {
        if let Some(first) = self.first.take() {
            return Next::Event(first);
        }
        if self.has_failed {
            return Next::End;
        }
        match self.follower.next(deadline) {
            Ok(Followed::Event { id, event, data }) => {
                Next::Event(Event { name: Some(event), id: Some(id.to_string()), data })
            }
            Ok(Followed::Delta { data }) => {
                Next::Event(Event { name: Some("agent_event".to_owned()), id: None, data: delta(&data) })
            }
            Ok(Followed::Unstored { data }) => Next::Event(Event { name: Some("error".to_owned()), id: None, data }),
            Ok(Followed::End) => Next::End,
            Ok(_) => Next::Nothing,
            Err(problem) => {
                self.has_failed = true;
                let data = json!({ "error": problem.to_string(), "code": problem.kind() }).to_string();
                Next::Event(Event { name: Some("error".to_owned()), id: None, data })
            }
        }
    }
}

/// A part of an answer as an `agent_event`.
pub(super) fn delta(data: &str) -> String {
    let mut fields = Map::from_iter([("type".to_owned(), Value::from("TextDelta"))]);
    if let Ok(Value::Object(part)) = serde_json::from_str(data) {
        fields.extend(part);
    }
    Value::Object(fields).to_string()
}
