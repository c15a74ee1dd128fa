//! Questions to the person: those of one answer of the model are one round.

use serde_json::{Map, Value, json};

use super::{ASK, CompileRun, trace};
use crate::agent::Error;
use crate::agent::calls::Prepared;
use crate::agent::events::{AGENT_EVENT, AgentEvent};
use crate::agent::messages::Entry;
use crate::agent::questions::Ask;
use crate::agent::turn::{Draft, End, Turn};
use crate::compile::{Asked, CompileStatus, MOST_QUESTIONS};
use crate::llm::ToolCall;

impl CompileRun {
    /// Records the questions of a round. Returns the text that the person gets.
    fn ask(&mut self, round: &[&Map<String, Value>]) -> String {
        let questions: Vec<_> = round.iter().filter_map(|given| self.question(given).ok()).collect();
        let text = match questions.as_slice() {
            [one] => self.evidence.question(&one.question, &one.topic, &one.events),
            many => {
                let lines = many.iter().enumerate().map(|(at, one)| {
                    let text = self.evidence.question(&one.question, &one.topic, &one.events);
                    format!("{}. {text}", at + 1)
                });
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        self.state.asked.extend(questions.into_iter().map(|one| Asked {
            question: one.question.trim().to_owned(),
            topic: one.topic.trim().to_owned(),
            events: one.events,
            answer: None,
        }));
        self.state.round += 1;
        self.state.question = Some(text.clone());
        self.state.status = CompileStatus::Asking;
        self.is_changed = true;
        text
    }
}

impl Turn<'_> {
    /// Asks the person the questions of an answer, from the first one on; the calls between them are not made.
    pub(in crate::agent) fn ask_round(&mut self, calls: &[Prepared]) -> Result<Option<End>, Error> {
        let is_question = |call: &&Prepared| {
            call.name() == ASK
                && call
                    .given()
                    .is_some_and(|given| self.compile.as_ref().is_some_and(|run| run.question(given).is_ok()))
        };
        let round: Vec<&Prepared> = calls.iter().filter(is_question).take(MOST_QUESTIONS).collect();
        let Some((first, others)) = round.split_first() else { return Ok(None) };
        let given: Vec<&Map<String, Value>> = round.iter().filter_map(|call| call.given()).collect();
        let Some(text) = self.compile.as_mut().map(|run| run.ask(&given)) else { return Ok(None) };
        let mut draft = Draft::default();
        for other in others {
            let result = json!({ "success": true, "answer": "Asked together with the first question; its result has the answer to all questions of the round." });
            let event = AgentEvent::observation(ASK, other.id(), &result);
            draft.event(AGENT_EVENT, event.into_value());
            draft.entries.push(Entry::result(&other.stored, &result));
        }
        let rest: Vec<ToolCall> = calls
            .iter()
            .filter(|call| !round.iter().any(|asked| asked.id() == call.id()))
            .map(|call| call.stored.clone())
            .collect();
        self.write_trace(&draft);
        self.ask(draft, &Ask::clarify(text), Some(&first.stored), &rest).map(Some)
    }

    /// Writes the trace of a compilation, with messages that are about to be stored.
    pub(in crate::agent) fn write_trace(&mut self, draft: &Draft) {
        let bodies: Vec<Value> = self.entries.iter().chain(&draft.entries).map(Entry::body).collect();
        if let Some(run) = &mut self.compile {
            trace::write(self.inner, &run.recording, &mut run.state, &bodies);
        }
    }
}
