//! Questions whether something may be done, and what their answers lead to.
//!
//! A call whose effect needs approval is refused with `APPROVAL_NEEDED`. Its intent is closed, the question is stored,
//! and the turn ends; the call stays unanswered, and its arguments are kept in memory, because they may contain text
//! that is not stored. The answer is stored, then a run begins which makes the same call once more, and the tool
//! determines the effect again. If its fingerprint is that of the question, the element is bound to a number over the
//! same facts, which the page script compares at the moment of the press. Otherwise the approval is void. A call with
//! text and Enter types first, and the fingerprint is that of Enter; the second time only Enter is pressed.
//!
//! An approval lives in memory between its answer and the call. After a crash in between, the call has no intent and
//! gets the result that it was not made; after a crash during the call its intent is open, and it counts as unknown.
//! Approvals for an origin or a kind are stored with the conversation.

use serde_json::{Map, Value, json};

use super::calls::{Made, Prepared};
use super::events::{AGENT_EVENT, AgentEvent, HELP_REQUEST};
use super::guard::{GRANTS, Grant, Resumed, Wanted, grants_of};
use super::messages::Entry;
use super::questions;
use super::routine::RoutineRun;
use super::settings::Settings;
use super::turn::{Draft, End, Turn};
use super::wire::Answered;
use super::{Error, host_requests};
use crate::llm::{FunctionCall, ToolCall};
use crate::store::{Batch, Conversation, ConversationState, IntentOutcome, Question, QuestionKind};
use crate::tools::EffectKind;
use cdpilot::code::Code;
use cdpilot::text::shown;

/// Maximum length of a note of the person, in characters.
pub(super) const MOST_NOTE: usize = 2_000;

/// The answer to the question whether something may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// This once.
    Once,
    /// This kind of effect at this origin, until the conversation is deleted.
    Origin,
    /// This kind of effect everywhere, until the conversation is deleted.
    Kind,
    /// This effect in this step of the routine, also in later runs of it.
    Routine,
    /// Not at all.
    Refuse,
}

impl Decision {
    /// Its name in requests and in the database.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Origin => "origin",
            Self::Kind => "kind",
            Self::Routine => "routine",
            Self::Refuse => "refuse",
        }
    }

    /// The decision of a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Once, Self::Origin, Self::Kind, Self::Routine, Self::Refuse].into_iter().find(|one| one.as_str() == text)
    }
}

/// A call that was approved and is about to be made.
#[derive(Debug, Clone)]
pub(super) struct Approved {
    call_id: String,
    fingerprint: String,
    /// Fingerprints that were approved for the same call before, none of which is done yet.
    before: Vec<String>,
    /// Whether the first part of the call is done.
    resumes: bool,
    /// The message with earlier images of the same answer.
    pictures: Value,
}

impl Turn<'_> {
    /// Asks whether a call may have its effect, which ends the turn. `rest`: the calls behind it, which are not made. `before`: the
    /// fingerprints that were approved for the call already.
    pub(super) fn ask_approval(
        &mut self,
        pending: Wanted,
        prepared: &Prepared,
        rest: &[ToolCall],
        before: &[String],
    ) -> Result<End, Error> {
        let mut draft = Draft::default();
        draft.change(|batch| batch.close_intent(prepared.id(), IntentOutcome::Failed));
        self.ask_about(draft, pending, Some(prepared), rest, before, None)
    }

    /// Asks a person about an effect, which ends the turn. `request`: the request that is held, and the result of the call that led
    /// to it.
    pub(super) fn ask_about(
        &mut self,
        mut draft: Draft,
        pending: Wanted,
        prepared: Option<&Prepared>,
        rest: &[ToolCall],
        before: &[String],
        request: Option<(Value, Value)>,
    ) -> Result<End, Error> {
        if self.routine.as_ref().is_some_and(RoutineRun::stops_before_effects) {
            return self.stop_before_effect(draft, &pending, prepared, rest);
        }
        let Wanted { effect, picture } = pending;
        let call_id = prepared.map(Prepared::id).unwrap_or_default().to_owned();
        questions::not_made(&mut draft, rest);
        let id = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let cover = |text: &str| shown(&self.offer.cover(text)).into_owned();
        let mut values = Map::new();
        for (name, value) in &effect.values {
            insert_numbered(&mut values, &cover(name), cover(value));
        }
        let action = cover(&effect.action);
        let who = match (request.is_some(), prepared.is_some_and(|call| self.is_own(call))) {
            (true, _) => "A page",
            (false, true) => "The routine",
            (false, false) => "The model",
        };
        let message = format!("{who} wants to {action}. This needs your approval, because {}.", cover(&effect.why));
        let facts = json!({
            "action": action,
            "effect": effect.kind.as_str(),
            "why": cover(&effect.why),
            "origin": cover(&effect.origin),
            "destination": cover(&effect.destination),
            "values": values,
        });
        let pictures = self.take_pictures().map(|pictures| pictures.body());
        let mut body = json!({
            "tool_name": prepared.map(Prepared::name),
            "message": message,
            "pictures": pictures,
            "fingerprint": effect.fingerprint,
            "approved_before": before,
            "resumes": effect.follows,
            "role": effect.element.as_ref().map(|(role, _)| role),
            "name": effect.element.as_ref().map(|(_, name)| name),
        });
        let mut event = json!({
            "conversation_id": self.live.id,
            "question_id": id,
            "approval_id": id,
            "kind": QuestionKind::Approval.as_str(),
            "message": message,
            "tool_call_id": call_id,
        });
        let step = self.routine.as_ref().and_then(RoutineRun::allowable_step).filter(|_| effect.element.is_some());
        if let Some(step) = step {
            (event["routine_step"], body["routine_step"]) = (step.into(), step.into());
        }
        if let Some((request, result)) = request {
            event["request"] = request.clone();
            (body["request"], body["result"]) = (request, self.offer.cover_value(&result));
        }
        for (name, value) in facts.as_object().into_iter().flatten() {
            body[name] = value.clone();
            event[name] = value.clone();
        }
        if let Some(picture) = picture {
            event["image"] = draft.image(picture.media_type, picture.bytes).into();
        }
        draft.event(HELP_REQUEST, event);
        draft.change(|batch| batch.ask(&*id, call_id, QuestionKind::Approval, body).state(ConversationState::Waiting));
        if let Some(prepared) = prepared {
            // Its arguments may contain texts that are not stored.
            self.live.keep_call(prepared.clone());
        }
        self.commit(draft)?;
        Ok(End::Waiting)
    }

    /// Makes a call that was approved. `None`: the turn goes on.
    pub(super) fn make_approved(&mut self, approved: Approved) -> Result<Option<End>, Error> {
        let Approved { call_id, fingerprint, mut before, resumes, pictures } = approved;
        let at = self.entries.iter().rposition(|entry| entry.message.tool_calls.iter().any(|call| call.id == call_id));
        let found = at.and_then(|at| self.entries.get(at));
        let call = found.and_then(|entry| entry.message.tool_calls.iter().find(|call| call.id == call_id).cloned());
        let (Some(at), Some(call)) = (at, call) else {
            return Err(Error::conflict("the call that was approved is not stored"));
        };
        let kept = self.live.take_call().filter(|kept| kept.id() == call_id);
        let prepared = match kept {
            Some(kept) => kept,
            None => self.prepare_all(std::slice::from_ref(&call)).pop().ok_or_else(|| Error::conflict("no call"))?,
        };
        match self.make(
            &prepared,
            false,
            Some(Resumed { fingerprint: &fingerprint, before: &before, follows: resumes }),
        )? {
            Made::Interrupted => Ok(Some(End::Interrupted)),
            Made::Unapproved(wanted) => {
                self.restore_pictures(&pictures);
                before.push(fingerprint);
                self.ask_approval(*wanted, &prepared, &[], &before).map(Some)
            }
            Made::Held(held, returned) => {
                self.restore_pictures(&pictures);
                self.ask_request(*held, Some((&prepared, &returned)), &[]).map(Some)
            }
            Made::Returned(returned) => {
                self.restore_pictures(&pictures);
                self.returned(&prepared, returned, at + 1, None)?;
                Ok(None)
            }
        }
    }
}

/// The changes that close the question whether something may be done, and the call that is to be made then.
pub(super) fn decided(
    conversation: &Conversation,
    question: &Question,
    decision: Decision,
    note: &str,
) -> Result<Decided, Error> {
    let text = |name: &str| question.body[name].as_str().unwrap_or_default();
    let (kind, action) = (text("effect"), text("action"));
    if kind == host_requests::EFFECT {
        return Ok(Decided::of(host_requests::decided(conversation, question, decision, note)?));
    }
    let is_request = kind == EffectKind::Request.as_str();
    let answer = json!({ "decision": decision.as_str(), "note": note });
    let batch = Batch::new().answer(&*question.id, answer);
    if decision == Decision::Refuse {
        let note_text = if note.is_empty() { String::new() } else { format!(" The user says: {note}") };
        let system = AgentEvent::system(format!("Refused: {action}.{note_text}"));
        if is_request {
            let batch = batch.event(AGENT_EVENT, system.into_value());
            return Ok(Decided { answered: Some(answered(question, decision, note)), ..Decided::of(batch) });
        }
        let done = match question.body["resumes"] == true {
            true => "the text before it is typed",
            false => "nothing was done",
        };
        let message = format!("the user refused to {action}; {done}. Do not try it in another way.{note_text}");
        let mut result = json!({ "success": false, "error": message, "code": Code::ApprovalRefused });
        if !note.is_empty() {
            result["note"] = note.into();
        }
        let call = ToolCall::new(&*question.call_id, FunctionCall::new(text("tool_name"), "{}"));
        let event = AgentEvent::observation(text("tool_name"), &question.call_id, &result);
        let batch = batch.event(AGENT_EVENT, system.into_value()).event(AGENT_EVENT, event.into_value());
        let batch = batch.message(Entry::result(&call, &result).body());
        return Ok(Decided::of(questions::with_pictures(batch, question)));
    }
    let fingerprint = text("fingerprint").to_owned();
    let origin = Some(text("origin")).filter(|origin| !origin.is_empty());
    let grant = match decision {
        Decision::Kind => Some(Grant::of_kind(kind)),
        // Without an origin, only the same effect.
        Decision::Origin => Some(match origin {
            Some(origin) => Grant::at(kind, origin, text("destination")),
            None => Grant::of_effect(kind, &fingerprint),
        }),
        // A secret is asked for at its first use.
        _ if kind == "secret" => Some(Grant::of_effect(kind, &fingerprint)),
        _ => None,
    };
    let batch = match grant {
        None => batch,
        Some(grant) => {
            let mut grants = grants_of(&Settings::read(conversation)?);
            grants.push(grant);
            let mut settings = conversation.settings.clone();
            settings[GRANTS] = serde_json::to_value(grants).unwrap_or_default();
            batch.settings(settings)
        }
    };
    let how = match decision {
        Decision::Origin => {
            format!("Approved, and everything of this kind ({kind}) at {}", origin.unwrap_or("this place"))
        }
        Decision::Kind => format!("Approved, and everything of this kind ({kind})"),
        Decision::Routine => "Approved, and in this step of the routine in later runs".to_owned(),
        _ if kind == "secret" => "Approved for this conversation".to_owned(),
        _ => "Approved".to_owned(),
    };
    let batch = batch.event(AGENT_EVENT, AgentEvent::system(format!("{how}: {action}.")).into_value());
    if is_request {
        return Ok(Decided { answered: Some(answered(question, decision, note)), ..Decided::of(batch) });
    }
    let approved = Approved {
        call_id: question.call_id.clone(),
        fingerprint,
        before: serde_json::from_value(question.body["approved_before"].clone()).unwrap_or_default(),
        resumes: question.body["resumes"] == true,
        pictures: question.body["pictures"].clone(),
    };
    Ok(Decided { approved: Some(approved), ..Decided::of(batch) })
}

/// Adds a value by its name; a name that is there already gets a number.
pub(super) fn insert_numbered(values: &mut Map<String, Value>, name: &str, value: String) {
    let (mut key, mut number) = (name.to_owned(), 1);
    while values.contains_key(&key) {
        number += 1;
        key = format!("{name} ({number})");
    }
    values.insert(key, value.into());
}

/// What follows a decision.
pub(super) struct Decided {
    /// The changes to the conversation.
    pub(super) batch: Batch,
    /// A call that is to be made.
    pub(super) approved: Option<Approved>,
    /// The answer about a request that is held.
    pub(super) answered: Option<Answered>,
}

impl Decided {
    fn of(batch: Batch) -> Self {
        Self { batch, approved: None, answered: None }
    }
}

/// The answer about the request that a question is about.
fn answered(question: &Question, decision: Decision, note: &str) -> Answered {
    let body = &question.body;
    Answered {
        decision,
        note: note.to_owned(),
        fingerprint: body["fingerprint"].as_str().unwrap_or_default().to_owned(),
        request: body["request"].clone(),
        result: body["result"].clone(),
        call_id: question.call_id.clone(),
        pictures: body["pictures"].clone(),
    }
}
