//! What a model submits as the routine of a recording, and the rules for it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::evidence::{element_texts, texts};
use super::keywords::{Used, check_keyword, check_varying};
use super::state::{Compilation, Review};
use super::values::check_values;
use super::view::{cut, numbers, quoted};
use super::{Ambiguity, AmbiguityKind, Evidence};
use crate::record::draft::{Draft, Step as DraftStep, StepType};
use crate::record::{Event, EventType};
use crate::routine::{self, Context, InstructionKind, Problem, RecordedEvent, Routine, StepEvents};

/// Shortest quotation, in characters without white space.
const SHORTEST_QUOTE: usize = 8;
/// Longest text of the recording in a problem, in characters.
const MOST_TEXT: usize = 60;
/// Most problems of one kind.
const MOST_OF_KIND: usize = 10;

/// How an ambiguity was settled without asking the person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CompileSettlement")]
pub struct Settlement {
    /// Id of the ambiguity, such as A1.
    pub ambiguity: String,
    /// Words that settle it, letter for letter.
    pub quote: String,
    /// Number of the event that has these words. Without it: the intent note or an answer of the person has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
}

/// An ambiguity that was settled without asking the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CompileSettled")]
pub struct Settled {
    /// Its kind.
    pub kind: AmbiguityKind,
    /// What was open.
    pub problem: String,
    /// The words that settle it.
    pub quote: String,
    /// Number of the event that has these words; absent if the person has said them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u64>,
}

/// Recorded actions that a routine leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CompileLeftOut")]
pub struct LeftOut {
    /// Numbers of the events.
    pub events: Vec<u64>,
    /// Why the routine does not need them.
    pub why: String,
}

/// What a model submits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Submission {
    /// The text of the routine.
    pub markdown: String,
    /// Numbers of the recorded events of each step, by the number of the step.
    pub step_events: BTreeMap<String, Vec<u64>>,
    /// Ambiguities that are settled without a question.
    pub settled: Vec<Settlement>,
    /// Recorded actions that the routine leaves out.
    pub left_out: Vec<LeftOut>,
}

/// Checks a submission against the recording and what the person has said. `admits`: the navigation policy.
///
/// # Errors
/// All problems, by line. Line 1 has those of no line.
pub fn check(
    evidence: &Evidence,
    compilation: &Compilation,
    submission: &Submission,
    admits: &dyn Fn(&str) -> Result<(), String>,
) -> Result<Review, Vec<Problem>> {
    let mut problems = Vec::new();
    let steps = numbered(submission, &mut problems);
    let events = step_events(evidence, &steps);
    let checked = routine::check(&submission.markdown, &Context { admits, events: Some(&events) });
    let parsed = match checked {
        Ok(routine) => Some(routine),
        Err(of_text) => {
            problems.extend(of_text);
            // A text whose structure is right is checked on.
            routine::parse(&submission.markdown).ok()
        }
    };
    if let Some(routine) = &parsed {
        check_steps(evidence, compilation, routine, &steps, &mut problems);
        check_left_out(evidence, submission, &steps, &mut problems);
        check_start(evidence, compilation, routine, &mut problems);
    }
    check_ambiguities(evidence, compilation, submission, &mut problems);
    if let (Some(routine), true) = (parsed, problems.is_empty()) {
        return Ok(Review {
            routine_markdown: routine::normalise(&submission.markdown),
            goal: routine.goal.clone(),
            step_count: routine.steps.len(),
            step_events: submission.step_events.clone(),
            left_out: submission.left_out.clone(),
            settled: settled(evidence, submission),
        });
    }
    problems.sort_by_key(|problem| problem.line);
    Err(problems)
}

/// The ambiguities that a submission settles.
fn settled(evidence: &Evidence, submission: &Submission) -> Vec<Settled> {
    let all = submission.settled.iter().filter_map(|settlement| {
        let ambiguity = evidence.ambiguity(&settlement.ambiguity)?;
        Some(Settled {
            kind: ambiguity.kind,
            problem: ambiguity.problem.clone(),
            quote: settlement.quote.clone(),
            event: settlement.event,
        })
    });
    all.collect()
}

/// The events of the steps by number; names that are no numbers are problems.
fn numbered(submission: &Submission, problems: &mut Vec<Problem>) -> BTreeMap<u32, Vec<u64>> {
    let mut steps = BTreeMap::new();
    for (name, events) in &submission.step_events {
        match name.trim().parse() {
            Ok(n) => _ = steps.insert(n, events.clone()),
            Err(_) => problems.push(problem(
                1,
                "STEP_EVENTS",
                format!("step_events: {} is not the number of a step, such as \"1\"", quoted(name, MOST_TEXT)),
            )),
        }
    }
    steps
}

/// The events as the rules of routines take them.
fn step_events(evidence: &Evidence, steps: &BTreeMap<u32, Vec<u64>>) -> StepEvents {
    let recorded = |index: &u64| RecordedEvent {
        event_index: *index,
        texts: evidence.event(*index).and_then(|event| event.element.as_ref()).map(element_texts).unwrap_or_default(),
    };
    StepEvents {
        steps: steps.iter().map(|(n, events)| (*n, events.iter().map(recorded).collect())).collect(),
        existing: evidence.events.iter().map(|event| event.event_index).collect(),
    }
}

/// The rules for each step and its events.
fn check_steps(
    evidence: &Evidence,
    compilation: &Compilation,
    routine: &Routine,
    steps: &BTreeMap<u32, Vec<u64>>,
    problems: &mut Vec<Problem>,
) {
    let used = Used::of(&evidence.events);
    let has_words = !evidence.intent_note.trim().is_empty() || compilation.words().next().is_some();
    for step in &routine.steps {
        let indexes = steps.get(&step.n).map(Vec::as_slice).unwrap_or_default();
        let events: Vec<&Event> = indexes.iter().filter_map(|index| evidence.event(*index)).collect();
        let is_recorded = events.iter().any(|event| !is_passive_event(event));
        let is_passive =
            |kind: &InstructionKind| matches!(kind, InstructionKind::Read { .. } | InstructionKind::IfShown);
        let needs_events = !step.instructions.iter().all(|one| is_passive(&one.kind));
        if !is_recorded && needs_events && !has_words {
            problems.push(problem(
                step.line,
                "STEP_NOT_RECORDED",
                format!(
                    "step {} has no recorded event, and the person has said nothing about it; name its events in step_events, or \
                     remove the step",
                    step.n
                ),
            ));
        }
        check_keyword(&used, step, &events, problems);
        check_varying(routine, step, problems);
        check_values(routine, step, &events, problems);
    }
}

/// Whether an event says only what was shown.
fn is_passive_event(event: &Event) -> bool {
    matches!(
        event.event_type,
        EventType::RecordingStarted
            | EventType::RecordingStopped
            | EventType::PageView
            | EventType::TabReady
            | EventType::TabActivated
            | EventType::Focus
            | EventType::Gap
    )
}

/// Each recorded action is in a step, or is left out with a reason.
fn check_left_out(
    evidence: &Evidence,
    submission: &Submission,
    steps: &BTreeMap<u32, Vec<u64>>,
    problems: &mut Vec<Problem>,
) {
    for left_out in &submission.left_out {
        let unknown = left_out.events.iter().find(|index| evidence.event(**index).is_none());
        if let Some(index) = unknown {
            let message = format!("left_out: event {index} is not in the recording; {}", evidence.known_events());
            problems.push(problem(1, "EVENTS_UNKNOWN", message));
        }
        if left_out.why.trim().is_empty() {
            problems.push(problem(1, "LEFT_OUT", "left_out: say in why the routine does not need these events"));
        }
    }
    let used: BTreeSet<u64> = steps
        .values()
        .flatten()
        .chain(submission.left_out.iter().flat_map(|left_out| &left_out.events))
        .copied()
        .collect();
    let is_act = |index: &u64| evidence.event(*index).is_some_and(|event| !is_passive_event(event));
    let has_acts = evidence.events.iter().any(|event| !is_passive_event(event));
    if has_acts && !steps.values().flatten().any(is_act) {
        let message = "no step has a recorded action; a routine repeats what was recorded, so name the events of its steps in step_events";
        problems.push(problem(1, "EVENTS_MISSING", message));
    }
    for action in missing_actions(&evidence.draft, &evidence.events, &used).into_iter().take(MOST_OF_KIND) {
        let message = format!(
            "a recorded action is in no step: {action}; name its events in step_events, or in left_out with the reason"
        );
        problems.push(problem(1, "EVENTS_MISSING", message));
    }
}

/// The recorded actions of which no event is among `known`, as clauses.
#[must_use]
pub fn missing_actions(draft: &Draft, events: &[Event], known: &BTreeSet<u64>) -> Vec<String> {
    let is_trigger = |index: &u64| {
        let at = events.binary_search_by_key(index, |event| event.event_index).ok();
        at.and_then(|at| events.get(at))
            .is_some_and(|event| matches!(event.event_type, EventType::Click | EventType::Keydown | EventType::Submit))
    };
    let missing = draft.normalized_steps.iter().enumerate().filter(|(at, step)| {
        let sources = &step.source_event_indexes;
        let is_sent = step.target.as_ref().is_some_and(|target| target.submit.is_some());
        let is_known = |index: &&u64| known.contains(index);
        // Filling in a form and sending it are two actions.
        let is_missing = !sources.iter().any(|index| known.contains(index))
            || (is_sent && !sources.iter().filter(|index| is_trigger(index)).any(|index| is_known(&index)));
        is_needed(*at, step) && is_missing
    });
    let described = missing
        .map(|(_, step)| format!("{} (events {})", cut(&step.description, 120), numbers(&step.source_event_indexes)));
    described.collect()
}

/// Whether a routine has to repeat a derived step, or to leave it out knowingly.
fn is_needed(at: usize, step: &DraftStep) -> bool {
    match step.kind {
        StepType::Click | StepType::Form | StepType::Submit | StepType::Key | StepType::Drag | StepType::Files => true,
        // The first one is the Starting URL.
        StepType::Navigate => at > 0,
        StepType::Tab | StepType::Scroll | StepType::Hover | StepType::Dialog | StepType::Download => false,
    }
}

/// The Starting URL was recorded, or the person named it.
fn check_start(evidence: &Evidence, compilation: &Compilation, routine: &Routine, problems: &mut Vec<Problem>) {
    let address = routine::address(routine, &BTreeMap::new());
    let Ok(start) = Url::parse(&address) else { return };
    let is_same = |text: &str| {
        Url::parse(text).is_ok_and(|url| {
            url.origin() == start.origin() && url.path().trim_end_matches('/') == start.path().trim_end_matches('/')
        })
    };
    let of_event = |event: &Event| {
        is_same(&event.page.url) || event.data.get("url").and_then(|url| url.as_str()).is_some_and(is_same)
    };
    let words = || compilation.words().chain([evidence.intent_note.as_str()]);
    let plain = |text: &str| text.trim_end_matches('/').to_owned();
    let is_named = words().any(|text| text.contains(&plain(&routine.starting_url)));
    if !is_named && !evidence.events.iter().any(of_event) {
        let line =
            routine.to_string().lines().position(|line| line.contains(&routine.starting_url)).map_or(1, |at| at + 1);
        let message = format!(
            "the address {} was not recorded, and the person has not named it; write the address of a recorded page",
            quoted(&routine.starting_url, 120)
        );
        problems.push(problem(line, "URL_NOT_RECORDED", message));
    }
}

/// Each ambiguity was asked, or is settled by a quotation.
fn check_ambiguities(
    evidence: &Evidence,
    compilation: &Compilation,
    submission: &Submission,
    problems: &mut Vec<Problem>,
) {
    for settlement in &submission.settled {
        if evidence.ambiguity(&settlement.ambiguity).is_none() {
            let message = format!("settled: there is no ambiguity {}", quoted(&settlement.ambiguity, 20));
            problems.push(problem(1, "AMBIGUITY_UNKNOWN", message));
        }
    }
    for ambiguity in &evidence.ambiguities {
        if compilation
            .asked
            .iter()
            .any(|asked| asked.answer.is_some() && ambiguity.is_about(&asked.topic, &asked.events))
        {
            continue;
        }
        let settlement = submission.settled.iter().find(|settlement| settlement.ambiguity == ambiguity.id);
        let message = match settlement {
            None => format!(
                "{} ({}) is open: {} Ask it with ask_user, or settle it with a quotation",
                ambiguity.id,
                ambiguity.kind.as_str(),
                ambiguity.problem
            ),
            Some(settlement) => match proof(evidence, compilation, ambiguity, settlement) {
                Ok(()) => continue,
                Err(why) => format!("{} ({}) is not settled: {why}", ambiguity.id, ambiguity.kind.as_str()),
            },
        };
        problems.push(problem(1, "AMBIGUITY_OPEN", message));
    }
}

/// Whether a quotation settles an ambiguity; the reason why not, as a clause.
fn proof(
    evidence: &Evidence,
    compilation: &Compilation,
    ambiguity: &Ambiguity,
    settlement: &Settlement,
) -> Result<(), String> {
    let quote = folded(&settlement.quote);
    if quote.chars().filter(|c| !c.is_whitespace()).count() < SHORTEST_QUOTE {
        return Err(format!(
            "the quotation is too short; quote at least {SHORTEST_QUOTE} characters, letter for letter"
        ));
    }
    let shown = quoted(&settlement.quote, MOST_TEXT);
    match settlement.event {
        Some(_) if !ambiguity.settled_by_event => {
            Err("no event can settle it, because the events show what was done, not why; ask the person".to_owned())
        }
        Some(index) => {
            let event = evidence.event(index);
            let event =
                event.ok_or_else(|| format!("event {index} is not in the recording; {}", evidence.known_events()))?;
            match texts(event).iter().any(|text| folded(text).contains(&quote)) {
                true => Ok(()),
                false => Err(format!("{shown} does not occur in event {index}")),
            }
        }
        None => {
            let mut words = compilation.words().chain([evidence.intent_note.as_str()]);
            match words.any(|text| folded(text).contains(&quote)) {
                true => Ok(()),
                false => Err(format!("{shown} occurs neither in the intent note nor in an answer of the person")),
            }
        }
    }
}

/// A text in lower case with single blanks.
pub(super) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

pub(super) fn problem(line: usize, code: &'static str, message: impl Into<String>) -> Problem {
    Problem { line, code, message: message.into() }
}
