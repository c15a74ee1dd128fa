//! The question about a held request, and what follows its answer.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::super::Error;
use super::super::approvals::{Decision, insert_numbered};
use super::super::calls::{Prepared, Returned};
use super::super::guard::Wanted;
use super::super::messages::{Entry, Kind};
use super::super::turn::{Draft, End, Turn};
use super::{Facts, Wire};
use crate::llm::ToolCall;
use cdpilot::code::Code;
use cdpilot::page::{PictureType, ScreenshotOptions};
use cdpilot::sync::{Deadline, pause};

/// Time limit for the picture of a question, and for the end of a request that was approved.
const PICTURE: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(5);
/// How long other requests may take to follow from it.
const FOLLOWING: Duration = Duration::from_millis(200);
const POLL: Duration = Duration::from_millis(20);

/// The answer about a held request, for the run that begins.
#[derive(Debug, Clone)]
pub(in crate::agent) struct Answered {
    pub(in crate::agent) decision: Decision,
    pub(in crate::agent) note: String,
    pub(in crate::agent) fingerprint: String,
    /// What was sent, as it was shown.
    pub(in crate::agent) request: Value,
    /// The result of the call that led to it; `null` if none was under way.
    pub(in crate::agent) result: Value,
    /// The call; empty if none was under way.
    pub(in crate::agent) call_id: String,
    /// The message with images of earlier results of the same answer.
    pub(in crate::agent) pictures: Value,
}

impl Turn<'_> {
    /// The held request that a person has to decide about before the model gets the result of a call.
    pub(in crate::agent) fn held_request(&self, after: &str) -> Option<(Facts, Wanted)> {
        let (facts, during) = self.wire.as_ref()?.take_held()?;
        let effect = facts.effect(if during { after } else { "" });
        if let Some(why) = effect.unshowable() {
            // Nobody can judge it.
            if let Some(wire) = &self.wire {
                wire.answer(false, "");
            }
            let line = facts.line();
            super::super::run::report(self.inner, self.live, &format!("Not sent, because {why}: {line}."));
            return self.held_request(after);
        }
        let picture = self.picture_of(&facts.page);
        Some((facts, Wanted { effect, picture }))
    }

    fn picture_of(&self, page: &str) -> Option<crate::tools::Image> {
        let handle = self.pages().tab_to_read(Some(page)).ok()?;
        let picture = handle.tab.screenshot(&ScreenshotOptions::for_model(), Deadline::after(PICTURE)).ok()?;
        let media_type = if picture.kind == PictureType::Png { "image/png" } else { "image/jpeg" };
        Some(crate::tools::Image::new(media_type, picture.bytes))
    }

    /// Asks about a held request; the call that led to it has its result already.
    pub(in crate::agent) fn ask_request(
        &mut self,
        (facts, wanted): (Facts, Wanted),
        call: Option<(&Prepared, &Returned)>,
        rest: &[ToolCall],
    ) -> Result<End, Error> {
        let mut fields = Map::new();
        for (name, value) in facts.fields() {
            insert_numbered(&mut fields, &self.shown(&name), self.shown(&value));
        }
        let request = json!({ "method": facts.method, "url": self.shown(&facts.url), "fields": fields });
        let result = call.map_or(Value::Null, |(_, returned)| returned.result().clone());
        let mut draft = Draft::default();
        if let Some((id, outcome)) = call.and_then(|(prepared, returned)| Some((prepared.id(), returned.outcome()?))) {
            draft.change(|batch| batch.close_intent(id, outcome));
        }
        self.ask_about(draft, wanted, call.map(|(prepared, _)| prepared), rest, &[], Some((request, result)))
    }

    /// A text of a page for a person: without secrets, hidden characters shown.
    fn shown(&self, text: &str) -> String {
        cdpilot::text::shown(&self.offer.cover(text)).into_owned()
    }

    /// Sends or fails the request that a person has decided about, and reports it to the model. `None`: the turn goes on.
    pub(in crate::agent) fn answer_request(&mut self, answered: Answered) -> Result<Option<End>, Error> {
        let Answered { decision, note, fingerprint, mut request, result, call_id, pictures } = answered;
        self.restore_pictures(&pictures);
        let approved = decision != Decision::Refuse;
        let page = self.pages();
        let reached = self.wire.as_ref().is_some_and(|wire| wire.answer(approved, &fingerprint));
        let (method, url) =
            (request["method"].as_str().unwrap_or_default(), request["url"].as_str().unwrap_or_default());
        let line = format!("{method} {url}");
        if let Some(wire) = self.wire.as_ref().filter(|_| approved && reached) {
            wait_for_end(&page, method, url, wire);
        }
        if let Some(fields) = request.as_object_mut() {
            fields.remove("fields");
        }
        request["sent"] = (approved && reached).into();
        let mut result = match result {
            Value::Object(_) => result,
            _ => json!({ "success": true }),
        };
        result["request"] = request;
        let said = if note.is_empty() { String::new() } else { format!(" The user says: {note}") };
        let message = match (approved, reached) {
            (true, true) => {
                format!("the user approved the request {line}, and it was sent; look at the page as it is now")
            }
            (true, false) => format!(
                "the user approved the request {line}, but the page no longer waited for it, so it was not sent; repeat the action, and it will be"
            ),
            (false, _) => {
                format!("the user refused the request {line}: it was not sent, so what it was for was not done.{said}")
            }
        };
        if approved && reached {
            result["note"] = message.clone().into();
        } else {
            let code = if approved { Code::ApprovalVoid } else { Code::ApprovalRefused };
            (result["success"], result["error"], result["code"]) =
                (false.into(), message.clone().into(), code.as_str().into());
        }
        let result = self.offer.cover_value(&result);
        let calls = self.entries.iter().enumerate().rev();
        let mut found = calls.filter_map(|(at, entry)| {
            let call = entry.message.tool_calls.iter().find(|call| call.id == call_id)?;
            Some((at, call.clone()))
        });
        let Some((at, call)) = found.next().filter(|_| !call_id.is_empty()) else {
            let mut draft = Draft::default();
            draft.entries.push(Entry::user(Kind::Notice, format!("About the page: {message}.")));
            return self.commit(draft).map(|_| None);
        };
        let kept = self.live.take_call().filter(|kept| kept.id() == call_id);
        let prepared = match kept {
            Some(kept) => kept,
            None => self.prepare_all(std::slice::from_ref(&call)).pop().ok_or_else(|| Error::conflict("no call"))?,
        };
        let returned = Returned::of(result);
        // It may have led to another one.
        if let Some(held) = self.held_request(prepared.name()) {
            return self.ask_request(held, Some((&prepared, &returned)), &[]).map(Some);
        }
        self.returned(&prepared, returned, at + 1, None)?;
        Ok(None)
    }
}

/// Waits until a request that was sent has its answer, and for what follows from it: a redirect, or another request of the page.
fn wait_for_end(pages: &crate::control::Profile, method: &str, url: &str, wire: &Wire) {
    let deadline = Deadline::after(ANSWER);
    while !deadline.passed() {
        let targets = pages.targets();
        let tabs = targets.iter().filter_map(|target| pages.tab_to_read(Some(target)).ok());
        let mut all = tabs.flat_map(|handle| handle.tab.requests(Some(url), false));
        let is_it = |request: &std::sync::Arc<cdpilot::supervisor::NetworkRequest>| {
            &*request.method == method && (request.status.is_some() || request.failure.is_some())
        };
        if all.any(|request| is_it(&request)) {
            break;
        }
        pause(POLL);
    }
    let deadline = Deadline::after(FOLLOWING);
    while !deadline.passed() && !wire.has_held() {
        pause(POLL);
    }
}
