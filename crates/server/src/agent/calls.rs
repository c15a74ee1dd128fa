//! The tool calls of an answer: each is stored before it is made, and with its result afterwards.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Error;
use super::events::{AGENT_EVENT, AgentEvent};
use super::guard::{Resumed, Wanted};
use super::held_up::Activity;
use super::messages::Entry;
use super::origin::origins_read;
use super::questions::Ask;
use super::routine;
use super::turn::{Draft, End, Picture, Turn};
use super::typed;
use super::wire::{Facts, Wire};
use crate::control::Hosts;
use crate::llm::{FunctionCall, ToolCall};
use crate::store::IntentOutcome;
use crate::tools::{Image, KEEPING, ToolContext, ToolError};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot::text::shown;

/// Time limit of a call.
const CALL: Duration = Duration::from_secs(120);
/// Maximum length of the name of a tool.
const NAME: usize = 64;
/// The tool with previews, and its actions that show one.
const INTERACTION: &str = "element_interaction";
const PREVIEWED: [&str; 4] = ["click", "keyboard_input", "select", "drag_and_drop"];
/// How many hosts that were not reached a result lists.
const MOST_HOSTS: usize = 10;
/// Longest name of a blocked host that is reported, in characters: that of a DNS name.
const MOST_HOST_NAME: usize = 253;
/// Stands for a name that no tool can have.
const NO_NAME: &str = "unknown_tool";

/// A call of the model.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// As it is stored first: without secrets, and without text that may be one.
    pub(super) stored: ToolCall,
    /// Whether `stored` lacks a text that is stored once it is known to be no secret.
    pub(super) is_withheld: bool,
    /// As it is stored when nothing has to be withheld.
    revealed: ToolCall,
    /// As the model gave them, or why they are not valid.
    arguments: Result<Map<String, Value>, String>,
    /// Whether it confirms a preview of the same answer, which the model has not seen.
    is_unseen: bool,
}

impl Prepared {
    pub(super) fn name(&self) -> &str {
        &self.stored.function.name
    }

    pub(super) fn id(&self) -> &str {
        &self.stored.id
    }

    /// The arguments as the model gave them; `None` if they are not valid.
    pub(super) fn given(&self) -> Option<&Map<String, Value>> {
        self.arguments.as_ref().ok()
    }

    /// The call as it is stored first.
    pub(super) fn stored(&self) -> &ToolCall {
        &self.stored
    }

    /// The event of the call.
    pub(super) fn action(&self, text: &str) -> AgentEvent {
        AgentEvent::action(text, self.name(), self.id(), arguments_of(&self.stored))
    }
}

fn arguments_of(call: &ToolCall) -> Value {
    serde_json::from_str(&call.function.arguments).unwrap_or(Value::Null)
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum Made {
    /// It was interrupted, and its effect is unknown; or it was not begun.
    Interrupted,
    /// It has a result.
    Returned(Returned),
    /// It has done nothing that needs approval: a person has to approve it first.
    Unapproved(Box<Wanted>),
    /// It has a result, but its page wants to send a request that a person has to approve first.
    Held(Box<(Facts, Wanted)>, Returned),
}

/// What a call returned.
#[derive(Debug)]
pub(super) struct Returned {
    result: Value,
    images: Vec<Image>,
    /// How its intent is closed; `None` if it was refused before.
    outcome: Option<IntentOutcome>,
}

impl Returned {
    /// A result whose intent is closed already.
    pub(super) fn of(result: Value) -> Self {
        Self { result, images: Vec::new(), outcome: None }
    }

    pub(super) fn result(&self) -> &Value {
        &self.result
    }

    /// How its intent is to be closed; `None` if it is closed already.
    pub(super) fn outcome(&self) -> Option<IntentOutcome> {
        self.outcome
    }
}

impl Turn<'_> {
    /// The calls of an answer.
    pub(super) fn prepare_all(&self, calls: &[ToolCall]) -> Vec<Prepared> {
        let mut all: Vec<Prepared> = calls.iter().map(|call| self.prepare(call)).collect();
        let mut has_preview = false;
        for prepared in &mut all {
            let action = prepared.arguments.as_ref().ok().and_then(|arguments| arguments.get("action")?.as_str());
            match action.filter(|_| &*prepared.stored.function.name == INTERACTION) {
                Some(action) if action.starts_with("confirm_") => prepared.is_unseen = has_preview,
                // The longer names of actions are accepted, too.
                Some(action) => has_preview |= PREVIEWED.contains(&action.trim_end_matches("_element")),
                None => {}
            }
        }
        all
    }

    pub(super) fn prepare(&self, call: &ToolCall) -> Prepared {
        let text = call.function.arguments.trim();
        let arguments = match text {
            "" | "null" => Ok(Map::new()),
            text => serde_json::from_str::<Map<String, Value>>(text).map_err(|problem| {
                // Not quoted: they may contain a text for a secret field.
                format!("the arguments are not a JSON object: {problem}; call the tool again with valid arguments")
            }),
        };
        // Endpoints refuse other names in the history.
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = self.offer.cover(&call.function.name);
        let is_valid = (1..=NAME).contains(&name.len()) && name.chars().all(is_name);
        let name = if is_valid { name } else { NO_NAME.to_owned() };
        let with = |arguments: String| ToolCall::new(&*call.id, FunctionCall::new(&*name, arguments));
        // Endpoints may refuse arguments that are not valid.
        let Ok(given) = &arguments else {
            let stored = with("{}".to_owned());
            return Prepared { revealed: stored.clone(), stored, is_withheld: false, arguments, is_unseen: false };
        };
        let covered = self.offer.cover_arguments(given);
        let text = |arguments: &Map<String, Value>| json!(arguments).to_string();
        let is_as_given = covered == *given && !call.function.arguments.trim().is_empty();
        let revealed = with(if is_as_given { call.function.arguments.clone() } else { text(&covered) });
        match typed::withheld(&name, &covered) {
            Some(withheld) => {
                let stored = with(text(&withheld));
                Prepared { stored, is_withheld: true, revealed, arguments, is_unseen: false }
            }
            None => Prepared { stored: revealed.clone(), is_withheld: false, revealed, arguments, is_unseen: false },
        }
    }

    /// Why a call is answered without being made; `None` if it is made.
    fn refusal(&self, prepared: &Prepared) -> Option<ToolError> {
        if self.is_own(prepared) {
            return self.host_refusal(prepared.name(), prepared.arguments.as_ref().ok()?);
        }
        let problem = match (&prepared.arguments, self.offer.has(prepared.name())) {
            (_, false) => {
                let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
                let name = prepared.name();
                let unknown = if name == NO_NAME {
                    "the name of the tool is not valid".to_owned()
                } else {
                    format!("unknown tool {name:?}")
                };
                let problem = format!("{unknown}; the tools are {}", names.join(", "));
                return Some(ToolError::new(Code::UnknownTool, problem));
            }
            (Err(problem), true) => problem.clone(),
            _ if prepared.is_unseen && !self.has_preview => {
                let problem =
                    "the action before it was done at once, without a preview, so there is nothing to confirm";
                return Some(ToolError::new(Code::Conflict, problem));
            }
            _ if prepared.is_unseen => {
                let problem = "the preview is of the same answer, so you have not seen it; nothing was confirmed. Look at the \
                     preview, then confirm in your next answer";
                return Some(ToolError::new(Code::Conflict, problem));
            }
            (Ok(arguments), true) if typed::types_cover(prepared.name(), arguments) => {
                let problem = "the text is the cover of a text that is not shown to you; give the text itself";
                problem.to_owned()
            }
            (Ok(arguments), true) => match Ask::of(prepared.name(), arguments) {
                Some(Err(problem)) => problem,
                Some(Ok(_)) => return self.compile.as_ref()?.refusal(prepared.name(), arguments),
                None => {
                    let refused = self.routine.as_ref().and_then(|run| run.refusal(prepared.name(), arguments));
                    return refused.or_else(|| self.host_refusal(prepared.name(), arguments));
                }
            },
        };
        Some(ToolError::new(Code::BadRequest, problem))
    }

    /// Whether a call is one of the program, which does what was recorded.
    pub(super) fn is_own(&self, prepared: &Prepared) -> bool {
        let own = self.routine.as_ref().and_then(|run| run.own_call());
        own.is_some_and(|own| own == prepared.id()) && self.offer.replays(prepared.name())
    }

    /// The question that a call asks.
    fn question(&self, prepared: &Prepared) -> Option<Ask> {
        let arguments = prepared.arguments.as_ref().ok().filter(|_| self.offer.has(prepared.name()))?;
        if self.compile.as_ref().is_some_and(|run| run.refusal(prepared.name(), arguments).is_some()) {
            return None;
        }
        Ask::of(prepared.name(), arguments)?.ok()
    }

    /// Opens the intent of the next call together with other changes, which saves a transaction. False when it is not made
    /// right afterwards.
    pub(super) fn open_next(&self, next: Option<&Prepared>, draft: &mut Draft) -> bool {
        let next = next.filter(|_| !self.live.is_held());
        let next = next.filter(|next| self.refusal(next).is_none() && self.question(next).is_none());
        let next = next.filter(|next| self.host_request(next).is_none());
        let Some(next) = next else { return false };
        let arguments = arguments_of(&next.stored);
        draft.change(|batch| batch.open_intent(next.id(), next.name(), arguments));
        true
    }

    /// Makes the calls of the last message, in order. `is_open`: the intent of the first one is stored. `None`: all have
    /// their results.
    pub(super) fn call_all(&mut self, calls: &[Prepared], mut is_open: bool) -> Result<Option<End>, Error> {
        let message = self.entries.len();
        for (at, prepared) in calls.iter().enumerate() {
            if !is_open && self.checkpoint().is_some() {
                return Ok(Some(End::Interrupted));
            }
            if let Some(ask) = self.question(prepared) {
                if let Some(end) = self.ask_round(calls.get(at..).unwrap_or_default())? {
                    return Ok(Some(end));
                }
                if let (Some(run), Some((_, note))) =
                    (&mut self.routine, prepared.given().and_then(|given| routine::blocked(prepared.name(), given)))
                {
                    run.set_blocked(&note);
                }
                let rest: Vec<ToolCall> = calls.iter().skip(at + 1).map(|rest| rest.stored.clone()).collect();
                return self.ask(Draft::default(), &ask, Some(&prepared.stored), &rest).map(Some);
            }
            if let Some(request) = self.host_request(prepared) {
                let rest: Vec<ToolCall> = calls.iter().skip(at + 1).map(|rest| rest.stored.clone()).collect();
                return self.ask_host(&request, prepared, &rest).map(Some);
            }
            let returned = match self.make(prepared, is_open, None)? {
                Made::Interrupted => return Ok(Some(End::Interrupted)),
                Made::Returned(returned) => returned,
                Made::Unapproved(wanted) => {
                    let rest: Vec<ToolCall> = calls.iter().skip(at + 1).map(|rest| rest.stored.clone()).collect();
                    return self.ask_approval(*wanted, prepared, &rest, &[]).map(Some);
                }
                Made::Held(held, returned) => {
                    let rest: Vec<ToolCall> = calls.iter().skip(at + 1).map(|rest| rest.stored.clone()).collect();
                    return self.ask_request(*held, Some((prepared, &returned)), &rest).map(Some);
                }
            };
            is_open = self.returned(prepared, returned, message, calls.get(at + 1))?;
        }
        Ok(None)
    }

    /// Makes a call. `approved`: what a person has approved of it, if it is made once more.
    pub(super) fn make(
        &mut self,
        prepared: &Prepared,
        is_open: bool,
        approved: Option<Resumed<'_>>,
    ) -> Result<Made, Error> {
        let arguments = match (self.refusal(prepared), &prepared.arguments) {
            (None, Ok(arguments)) => arguments.clone(),
            (refusal, _) => {
                let refusal =
                    refusal.unwrap_or_else(|| ToolError::new(Code::BadRequest, "the arguments are not valid"));
                return Ok(Made::Returned(Returned { result: refusal.to_value(), images: Vec::new(), outcome: None }));
            }
        };
        if is_open && self.live.is_held() && self.checkpoint().is_some() {
            // It was paused or interrupted while the intent was stored; the call is not made.
            let mut intent = Draft::default();
            intent.change(|batch| batch.close_intent(prepared.id(), IntentOutcome::Failed));
            self.commit(intent)?;
            return Ok(Made::Interrupted);
        }
        if !is_open {
            let mut intent = Draft::default();
            let stored = arguments_of(&prepared.stored);
            intent.change(|batch| batch.open_intent(prepared.id(), prepared.name(), stored));
            self.commit(intent)?;
        }
        if prepared.name() == routine::TOOL
            && let Some(run) = &mut self.routine
        {
            let done = run.command(&arguments);
            if done.is_ok() {
                self.learn_value(&arguments);
            }
            let outcome = Some(if done.is_ok() { IntentOutcome::Done } else { IntentOutcome::Failed });
            let result = done.unwrap_or_else(|error| error.to_value());
            return Ok(Made::Returned(Returned { result, images: Vec::new(), outcome }));
        }
        if let Some(done) = self.compile.as_mut().and_then(|run| run.call(self.inner, prepared.name(), &arguments)) {
            let outcome = Some(if done.is_ok() { IntentOutcome::Done } else { IntentOutcome::Failed });
            let (result, images) = done.unwrap_or_else(|error| (error.to_value(), Vec::new()));
            return Ok(Made::Returned(Returned { result, images, outcome }));
        }
        let cancel = self.cancel.part();
        let deadline = Deadline::after(CALL).cancelled_by(&cancel);
        if let Some(guard) = &self.guard {
            guard.begin(approved);
            // Text that is being typed is not cut off.
            let types = ["text", "fields"].iter().any(|name| arguments.contains_key(*name));
            guard.wire().begin_call(&cancel, types, texts_in(&arguments));
        }
        let read = KEEPING.contains(&prepared.name()).then(|| origins_read(&self.entries).stamp()).flatten();
        let scope = read.map_or_else(|| self.offer.scope.clone(), |origin| self.offer.scope.having_read(&origin));
        let context = ToolContext::new(&self.session, &scope, deadline);
        let busy = self.live.busy(Activity::tool(prepared.name(), self.pages()));
        let called = self.offer.call(prepared.name(), &context, arguments);
        drop(busy);
        if let Some(run) = &self.routine {
            run.catch_up(self.inner);
        }
        if let Some(guard) = &self.guard {
            guard.wire().end_call();
        }
        let is_waited = cancel.is_set() && !self.cancel.is_set();
        let is_asked = called.as_ref().is_err_and(|error| error.code == Code::ApprovalNeeded);
        let held = if is_asked || self.cancel.is_set() { None } else { self.held_request(prepared.name()) };
        if let Some(held) = held {
            let result = match &called {
                Ok(outcome) => outcome.to_value(),
                // It waited for what the page waits for.
                Err(_) if is_waited => json!({ "success": true }),
                Err(error) => error.to_value(),
            };
            let images = called.map(|outcome| outcome.images).unwrap_or_default();
            let returned = Returned { result, images, outcome: Some(IntentOutcome::Done) };
            return Ok(Made::Held(Box::new(held), returned));
        }
        Ok(match called {
            Ok(outcome) => {
                let result = outcome.to_value();
                Made::Returned(Returned { result, images: outcome.images, outcome: Some(IntentOutcome::Done) })
            }
            // It may have had its effect.
            Err(_) if self.cancel.is_set() => Made::Interrupted,
            Err(error) => match self.guard.as_ref().and_then(|guard| guard.take_wanted()) {
                Some(wanted) => Made::Unapproved(Box::new(wanted)),
                None => {
                    let outcome = Some(IntentOutcome::Failed);
                    Made::Returned(Returned { result: error.to_value(), images: Vec::new(), outcome })
                }
            },
        })
    }

    /// Stores the result of a call. `message`: number of the message with the call. Returns whether the intent of the next
    /// one is stored, too.
    pub(super) fn returned(
        &mut self,
        prepared: &Prepared,
        returned: Returned,
        message: usize,
        next: Option<&Prepared>,
    ) -> Result<bool, Error> {
        let Returned { mut result, images, outcome } = returned;
        let mut draft = Draft::default();
        if prepared.name() == INTERACTION {
            self.has_preview = result["pending"].is_object();
        }
        let is_secret = typed::take_is_secret(&mut result);
        if result["code"] == Code::ApprovalVoid.as_str() {
            draft.system("The approval is void: what was approved has changed since. It was not done.");
        }
        self.report_dialogs(&mut draft);
        self.note_actions(prepared, result["success"] == true, &mut draft);
        self.report_hosts(&mut draft, &mut result);
        self.report_unsent(&mut draft, &mut result);
        if prepared.is_withheld {
            let shown = if is_secret { &prepared.stored } else { &prepared.revealed };
            let event = AgentEvent::action("", prepared.name(), prepared.id(), arguments_of(shown));
            draft.event(AGENT_EVENT, event.into_value());
            if !is_secret {
                self.reveal(prepared, message, &mut draft);
            }
        }
        if let Some(run) = &mut self.routine {
            run.count_time();
            if let Some(given) = prepared.given() {
                run.called(prepared.name(), given, &result);
            }
            if let Some(image) = images.last() {
                run.pictured(image.media_type, &image.bytes);
            }
        }
        let (mut references, mut pictures) = (Vec::new(), Vec::new());
        for image in images {
            let reference = draft.image(image.media_type, image.bytes.clone());
            references.push(reference.clone());
            if self.sees {
                let caption = format!("the result of {} (call {})", prepared.name(), prepared.id());
                let media_type = image.media_type.to_owned();
                pictures.push(Picture { caption, media_type, bytes: image.bytes, path: reference });
            }
        }
        if !self.sees
            && !references.is_empty()
            && let Some(fields) = result.as_object_mut()
        {
            fields.insert("note".to_owned(), "the picture was stored for the user; you do not see pictures".into());
        }
        let event = AgentEvent::observation(prepared.name(), prepared.id(), &result).images(&references);
        draft.event(AGENT_EVENT, event.into_value());
        let text = result.to_string();
        if !self.is_own(prepared) {
            let error = result["error"].as_str().filter(|_| result["success"] != true);
            self.stuck.called(prepared.name(), &prepared.revealed.function.arguments, &text, error);
        }
        draft.entries.push(Entry::result(&prepared.stored, &result));
        if next.is_none() {
            let all = std::mem::take(&mut self.pictures).into_iter().chain(pictures.drain(..)).collect();
            draft.entries.extend(Turn::message_with(all));
        }
        if let Some(outcome) = outcome {
            draft.change(|batch| batch.close_intent(prepared.id(), outcome));
        }
        let is_open = self.open_next(next, &mut draft);
        let committed = self.commit(draft)?;
        // Only now, with their paths: until then they are not stored.
        for picture in &mut pictures {
            picture.path = self.path_of(&picture.path, &committed);
        }
        self.pictures.append(&mut pictures);
        Ok(is_open)
    }

    /// Reports the hosts that pages requested and did not get, also to the model.
    fn report_hosts(&self, draft: &mut Draft, result: &mut Value) {
        let refused = self.session.hosts().map(Hosts::take_refused).unwrap_or_default();
        if refused.is_empty() {
            return;
        }
        let names: Vec<String> =
            refused.iter().take(MOST_HOSTS).map(|refused| shown_host(&self.offer.cover(&refused.host))).collect();
        let count: u64 = refused.iter().map(|refused| refused.count).sum();
        let more = refused.len().saturating_sub(MOST_HOSTS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        draft.system(format!(
            "Not reached, because the conversation is limited to other hosts: {}{more} ({count} requests).",
            names.join(", ")
        ));
        if let Some(fields) = result.as_object_mut() {
            fields.insert("blocked_hosts".to_owned(), json!(names));
        }
    }

    /// Reports requests that were not sent without a question, also to the model.
    fn report_unsent(&self, draft: &mut Draft, result: &mut Value) {
        let unsent = self.wire.as_ref().map(Wire::take_unsent).unwrap_or_default();
        if unsent.is_empty() {
            return;
        }
        let lines: Vec<String> = unsent.iter().map(|line| shown(&self.offer.cover(line)).into_owned()).collect();
        draft.system(format!("Not sent, because nobody approved it: {}.", lines.join(", ")));
        if let Some(fields) = result.as_object_mut() {
            fields.insert("unsent_requests".to_owned(), json!(lines));
        }
    }

    /// Stores the text of a call that was withheld.
    fn reveal(&mut self, prepared: &Prepared, message: usize, draft: &mut Draft) {
        let Some(entry) = message.checked_sub(1).and_then(|at| self.entries.get_mut(at)) else { return };
        let call = entry.message.tool_calls.iter_mut().find(|call| call.id == prepared.id());
        if let Some(call) = call {
            *call = prepared.revealed.clone();
        }
        let body = entry.body();
        draft.change(|batch| batch.replace_message(message as u64, body));
    }
}

/// The texts in the arguments of a call.
fn texts_in(arguments: &Map<String, Value>) -> impl Iterator<Item = String> {
    let mut texts = Vec::new();
    let mut waiting: Vec<&Value> = arguments.values().collect();
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(all) => waiting.extend(all),
            Value::Object(fields) => waiting.extend(fields.values()),
            _ => {}
        }
    }
    texts.into_iter()
}

/// A host as it is reported: a page chooses its length and characters.
fn shown_host(host: &str) -> String {
    let start: String = host.chars().take(MOST_HOST_NAME).collect();
    let rest = if start.len() < host.len() { "…" } else { "" };
    format!("{}{rest}", shown(&start))
}
