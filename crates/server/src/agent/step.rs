//! One step: a request to the model, and its answer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::compile::Concluded;
use super::condense::is_too_long;
use super::events::{AGENT_EVENT, AgentEvent, COMPLETE, Source, USAGE_METRICS, complete};
use super::feed::Entry as FeedEntry;
use super::held_up::Activity;
use super::messages::{Entry, Kind};
use super::questions::Ask;
use super::routine::{Answered, Fast};
use super::turn::{Draft, End, Turn};
use super::usage::usage_metrics;
use super::{Error, run};
use crate::llm::{Answer, ChatRequest, Client, Message, Model, Models, Patience, Progress, Role};
use crate::store::ConversationState;
use cdpilot::code::Code;
use cdpilot::sync::Deadline;

/// Time limit of a request with all its attempts.
const MODEL: Duration = Duration::from_secs(15 * 60);
/// The finish reason of an answer that was cut off.
pub(super) const CUT_OFF: &str = "length";
const WRITTEN: &str = "Your answer has a tool call as text, which was not made. Call tools through the tool interface, one of those \
     that you have, or give a final answer without such text.";
const CONTINUE: &str = "Your answer was cut off at the limit of output tokens, without a tool call. Continue: call a tool, or \
     give a shorter final answer.";

/// Whether followers see an answer while it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Yes,
    No,
}

impl Turn<'_> {
    /// Asks the model and does what it answers. `None`: another step follows.
    pub(super) fn step(&mut self) -> Result<Option<End>, Error> {
        match self.fast()? {
            Fast::Model => {}
            Fast::Next => return Ok(None),
            Fast::End(end) => return Ok(Some(end)),
        }
        let models = Models::of(self.inner.control.home())?;
        let (alias, model) = models.find(Some(&self.model))?;
        let client = self.live.client(alias, model)?;
        self.hand_back()?;
        self.drop_old_pictures()?;
        if self.is_nearly_full(model) {
            self.condense(model, &client, false)?;
        }
        let mut answer = self.ask_model(&client);
        if let Err(Error::Model(error)) = &answer
            && is_too_long(error)
            && self.condense(model, &client, true)?
        {
            answer = self.ask_model(&client);
        }
        match answer {
            Ok(answer) => self.answered(model, answer),
            Err(_) if self.cancel.is_set() => Ok(Some(End::Interrupted)),
            Err(error) => Err(error),
        }
    }

    fn ask_model(&self, client: &Client) -> Result<Answer, Error> {
        self.request(client, &ChatRequest::new(self.messages()).tools(self.tools.clone()), Shown::Yes)
    }

    /// The system prompt and all messages.
    pub(super) fn messages(&self) -> Vec<Message> {
        let system = Message::text(Role::System, &*self.system);
        std::iter::once(system).chain(self.entries.iter().map(|entry| entry.message.clone())).collect()
    }

    /// Sends a request, and reports what happens meanwhile.
    pub(super) fn request(&self, client: &Client, request: &ChatRequest, shown: Shown) -> Result<Answer, Error> {
        let deadline = Deadline::after(MODEL).cancelled_by(&self.cancel);
        let _busy = self.live.busy(Activity::model());
        let delta = |body| self.live.feed.publish([FeedEntry::Delta(Arc::new(body))]);
        let answer = client.chat(request, Patience::long(), deadline, &mut |progress| match progress {
            Progress::Text(_) | Progress::Reasoning(_) if shown == Shown::No => {}
            Progress::Text(text) => delta(json!({ "text": self.offer.cover(text) })),
            Progress::Reasoning(text) => delta(json!({ "reasoning": self.offer.cover(text) })),
            Progress::Again { error, pause } => {
                self.live.model_fails();
                delta(json!({ "reset": true }));
                let text = format!("{error}. The request is repeated in {} s.", pause.as_secs());
                run::report(self.inner, self.live, &self.offer.cover(&text));
            }
            Progress::Adapted(refusal) => {
                run::report(self.inner, self.live, &format!("The request was changed: {}.", refusal.consequence()));
            }
        });
        Ok(answer?)
    }

    /// Stores the answer of the model and makes its calls.
    fn answered(&mut self, model: &Model, answer: Answer) -> Result<Option<End>, Error> {
        let mut draft = Draft::default();
        self.report_dialogs(&mut draft);
        self.count(model, &answer, &mut draft);
        let text = self.offer.cover(&answer.text);
        let reasoning = self.offer.cover(&answer.reasoning);
        if answer.is_recovered {
            draft.system("The model wrote its calls as text; they were recovered.");
        }
        let calls = self.prepare_all(&answer.tool_calls);
        let mut message = answer.to_message();
        message.parts.clear();
        if !text.is_empty() {
            message.parts.push(crate::llm::Part::Text(text.clone()));
        }
        message.tool_calls = calls.iter().map(|prepared| prepared.stored.clone()).collect();
        draft.entries.push(Entry::new(Kind::Plain, message));
        if calls.is_empty() && answer.unreadable_calls && answer.finish != CUT_OFF {
            return self.wrote_calls(draft, &text, &reasoning);
        }
        if calls.is_empty() {
            return self.said(draft, &text, &reasoning, answer.finish == CUT_OFF);
        }
        let mut unstored = Some((text, reasoning));
        if calls.first().is_some_and(|first| first.is_withheld)
            && let Some((text, reasoning)) =
                unstored.take_if(|(text, reasoning)| !text.is_empty() || !reasoning.is_empty())
        {
            let event = AgentEvent::message(Source::Agent, text).reasoning(&reasoning);
            draft.event(AGENT_EVENT, event.into_value());
        }
        for prepared in calls.iter().filter(|prepared| !prepared.is_withheld) {
            let (text, reasoning) = unstored.take().unwrap_or_default();
            draft.event(AGENT_EVENT, prepared.action(&text).reasoning(&reasoning).into_value());
        }
        let opened = self.open_next(calls.first(), &mut draft);
        self.commit(draft)?;
        if let Some(end) = self.call_all(&calls, opened)? {
            return Ok(Some(end));
        }
        let pages = self.pages();
        if let Some(ending) = self.routine.as_mut().and_then(|run| run.login_wall(&pages)) {
            return Ok(Some(End::Routine(ending)));
        }
        self.check_progress()
    }

    /// Adds the tokens of an answer.
    pub(super) fn count(&mut self, model: &Model, answer: &Answer, draft: &mut Draft) {
        let input = answer.usage.map(|usage| usage.input).filter(|input| *input > 0);
        self.last_input = input.map(|input| (input, self.entries.len()));
        let before = self.metrics.cost();
        self.metrics.add(model, answer.usage);
        if let Some(run) = &mut self.routine {
            run.count_request(self.metrics.cost() - before);
        }
        let metrics = self.metrics.to_value(model, answer.usage);
        draft.event(USAGE_METRICS, usage_metrics(model, &metrics));
        draft.change(|batch| batch.usage(metrics));
    }

    /// Stores an answer that has calls as text which cannot be made: the model is notified, and continues.
    fn wrote_calls(&mut self, mut draft: Draft, text: &str, reasoning: &str) -> Result<Option<End>, Error> {
        let event = AgentEvent::message(Source::Agent, text).reasoning(reasoning);
        draft.event(AGENT_EVENT, event.into_value());
        self.stuck.said();
        draft.entries.push(Entry::user(Kind::Notice, WRITTEN));
        draft.system("The model wrote a call as text that cannot be read; it was told so.");
        self.commit(draft)?;
        self.check_progress()
    }

    /// Stores an answer without calls: the end of the turn, unless it was cut off.
    fn said(&mut self, mut draft: Draft, text: &str, reasoning: &str, is_cut_off: bool) -> Result<Option<End>, Error> {
        let event = AgentEvent::message(Source::Agent, text).reasoning(reasoning);
        draft.event(AGENT_EVENT, event.into_value());
        if is_cut_off {
            self.stuck.said();
            draft.entries.push(Entry::user(Kind::Notice, CONTINUE));
            draft.system("The answer was cut off at the limit of output tokens; the model continues.");
            self.commit(draft)?;
            return self.check_progress();
        }
        // What pages want to send after the last action; the answer of the model is not the last one then.
        if let Some(held) = self.held_request("the last action") {
            self.commit(draft)?;
            return self.ask_request(held, None, &[]).map(Some);
        }
        match self.compile.as_mut().map(|run| run.concluded(text)) {
            Some(Concluded::Continue(notice)) => {
                draft.entries.push(Entry::user(Kind::Notice, notice));
                draft.system("No routine was submitted; the model was reminded.");
                self.commit(draft)?;
                return Ok(None);
            }
            Some(Concluded::Failed(problem)) => {
                self.commit(draft)?;
                return Ok(Some(End::Failed { code: Code::ModelError, problem }));
            }
            Some(Concluded::Review) => self.write_trace(&draft),
            None => {}
        }
        let pages = self.pages();
        match self.routine.as_mut().map(|run| run.answered(text, &pages)) {
            Some(Answered::Continue(notice)) => {
                draft.entries.push(Entry::user(Kind::Notice, notice));
                draft.system("The answer is not the end of the routine; the model was reminded.");
                self.commit(draft)?;
                return Ok(None);
            }
            Some(Answered::Failed(ending)) => {
                self.commit(draft)?;
                return Ok(Some(End::Routine(ending)));
            }
            Some(Answered::Done) => {
                if let Some(ending) = self.verify_run()? {
                    self.commit(draft)?;
                    return Ok(Some(End::Routine(ending)));
                }
            }
            None => {}
        }
        draft.event(COMPLETE, complete(&self.live.id, true, false));
        draft.change(|batch| batch.state(ConversationState::Idle).unfinished(false));
        self.commit(draft)?;
        Ok(Some(End::Finished))
    }

    /// Warns a model that makes no progress; the second time, help is requested.
    fn check_progress(&mut self) -> Result<Option<End>, Error> {
        let Some(pattern) = self.stuck.take() else { return Ok(None) };
        let mut draft = Draft::default();
        let problem = pattern.describe();
        if self.is_warned && self.compile.is_some() {
            let problem = format!("{problem}, after a warning; compile again, or use another model");
            return Ok(Some(End::Failed { code: Code::ModelError, problem }));
        }
        if self.is_warned {
            draft.system(format!("{problem}. Help is requested."));
            let ask = Ask::help(format!("{problem}, after a warning. How should the task be continued?"));
            return self.ask(draft, &ask, None, &[]).map(Some);
        }
        self.is_warned = true;
        draft.system(format!("{problem}. The model was warned."));
        let warning = format!("{problem}. {}", pattern.advice());
        draft.entries.push(Entry::user(Kind::Notice, warning));
        self.commit(draft)?;
        Ok(None)
    }
}
