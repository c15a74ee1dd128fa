//! Starting a run: the text is checked, its inputs are filled in, and the conversation is created.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fast::FastRun;
use super::report::{Report, RunLimits};
use super::verify;
use crate::agent::agents::Inner;
use crate::agent::settings::{Mode, NewConversation};
use crate::agent::turn::NO_MODEL;
use crate::agent::{Agents, Error, WRITE};
use crate::control::Control;
use crate::llm::Models;
use crate::record::stored_events;
use crate::replay::{self, Recorded};
use crate::routine::{self, Context, PlaceholderKind, Problem, Routine};
use crate::store::StoredRoutine;
use cdpilot::sync::Deadline;

/// Longest value of an input, in characters.
const MOST_VALUE: usize = 2_000;
/// The toolsets of a run, with a model that sees pictures and with one that does not.
const SEEING: [&str; 2] = ["visual", "clarify"];
const BLIND: [&str; 2] = ["browser", "clarify"];

/// What the model of a run gets to know whose first page is open.
const OPENED: &str = "(The Starting URL is open in the current tab already.)";

/// A run to start.
#[derive(Debug)]
pub struct RoutineStart {
    /// The routine, whose present version is run.
    pub routine: StoredRoutine,
    /// The conversation: model, profile, guard, hosts.
    pub conversation: NewConversation,
    /// Values of the inputs by name.
    pub inputs: BTreeMap<String, String>,
    /// Names of stored secrets that may be typed, besides those that the routine names.
    pub secrets: Vec<String>,
    /// Limits in place of the defaults.
    pub limits: RunLimits,
    /// Whether the run is recorded and compared with the recording of the routine.
    pub verify: bool,
    /// Whether it stops where a step needs a model.
    pub fast_only: bool,
}

/// Why a run was not started. No tab was opened.
#[derive(Debug, thiserror::Error)]
pub enum RoutineError {
    /// The text is not valid.
    #[error("the routine has problems")]
    Invalid(Vec<Problem>),
    /// The inputs are not those that the routine declares.
    #[error("{0}")]
    Inputs(String),
    /// The conversation cannot be created.
    #[error(transparent)]
    Agent(#[from] Error),
}

/// The routine of a text whose starting address the settings of the home admit.
///
/// # Errors
/// All problems of the text.
pub fn check_routine(control: &Control, text: &str) -> Result<Routine, Vec<Problem>> {
    let admits = |address: &str| control.admits(address).map_err(|problem| problem.to_string());
    routine::check(text, &Context { admits: &admits, events: None })
}

/// The text and the first report of a conversation whose first message is a routine: with the defaults of its inputs.
///
/// # Errors
/// All problems of the text; [`Error::BadRequest`] for inputs without a default.
pub(in crate::agent) fn first_message(control: &Control, text: &str) -> Result<(String, Value), Error> {
    let parsed = check_routine(control, text).map_err(|problems| Error::Routine { problems })?;
    let inputs = Inputs::of(&parsed, BTreeMap::new()).map_err(|error| Error::BadRequest {
        problem: format!("{error}; a conversation takes no inputs: store the routine and run it"),
    })?;
    if !inputs.sensitive.is_empty() || !inputs.stored.is_empty() {
        let problem = "a conversation takes no sensitive inputs; store the routine and run it";
        return Err(Error::BadRequest { problem: problem.to_owned() });
    }
    let markdown = if parsed.inputs.is_empty() { routine::normalise(text) } else { inputs.fill(&parsed) };
    let filled = routine::parse(&markdown).map_err(|problems| Error::Routine { problems })?;
    Ok((markdown.clone(), json!(Report::of(&filled, markdown, RunLimits::default(), Vec::new()))))
}

impl Agents {
    /// Starts a run of a routine. Returns its id, which is that of its conversation, and the id of the last event before.
    ///
    /// # Errors
    /// [`RoutineError`]; nothing is stored and no tab is opened after one.
    pub fn run_routine(&self, start: RoutineStart, deadline: Deadline<'_>) -> Result<(String, u64), RoutineError> {
        let inner = self.inner();
        let RoutineStart { routine: stored, conversation, inputs, secrets, limits, verify, fast_only } = start;
        let has_model = conversation.model.as_deref() != Some(NO_MODEL);
        let parsed = check_routine(&inner.control, &stored.markdown).map_err(RoutineError::Invalid)?;
        let inputs = Inputs::of(&parsed, inputs)?;
        let mut conversation = conversation.mode(Mode::RoutineReplay);
        if !has_model {
            conversation.toolsets = BLIND.map(ToOwned::to_owned).to_vec();
        }
        if conversation.toolsets.is_empty() {
            let models = Models::of(inner.control.home()).map_err(Error::from)?;
            let alias = conversation.model.as_deref().unwrap_or(&inner.control.config().agent.model);
            let (_, model) = models.find(Some(alias)).map_err(Error::from)?;
            let toolsets = if model.vision { SEEING } else { BLIND };
            conversation.toolsets = toolsets.map(ToOwned::to_owned).to_vec();
        }
        let mut names = routine::secrets_used(&parsed);
        names.extend(parsed.inputs.iter().filter_map(|input| input.secret.clone()));
        names.extend(secrets);
        names.sort();
        names.dedup();
        if let Some(name) = inputs.sensitive.keys().find(|name| names.contains(name)) {
            return Err(RoutineError::Inputs(format!(
                "the input {name:?} has the name of a secret that the routine uses; rename the input"
            )));
        }
        if !names.is_empty() {
            conversation.more.insert("secrets".to_owned(), json!(names));
        }
        let markdown = inputs.fill(&parsed);
        // Inputs may name the host.
        let address = routine::address(&parsed, &inputs.plain);
        inner.control.admits(&address).map_err(|problem| {
            RoutineError::Inputs(format!("the starting address with these inputs is refused: {problem}"))
        })?;
        let filled = routine::parse(&markdown).map_err(RoutineError::Invalid)?;
        if limits.cost.is_some() && has_model {
            let models = Models::of(inner.control.home()).map_err(Error::from)?;
            let alias = conversation.model.as_deref().unwrap_or(&inner.control.config().agent.model);
            let (_, model) = models.find(Some(alias)).map_err(Error::from)?;
            if model.price.is_none() {
                return Err(RoutineError::Inputs(format!(
                    "limits.cost: the cost of the model {alias:?} is not known; add its price to llm.json, or leave the limit out"
                )));
            }
        }
        let origin = crate::agent::guard::origin_of(&address);
        let recorded = verify::recorded(inner, &stored)?;
        let verification = match verify {
            true => Some(verify::plan(inner, &stored, &parsed, recorded.as_ref(), &inputs.plain)?),
            false => None,
        };
        let only = fast_only || !has_model;
        let fast = match verify {
            true => None,
            false => fast(inner, &stored, &parsed, recorded.as_ref(), &inputs)?,
        };
        if only && (verify || fast.is_none()) {
            return Err(RoutineError::Agent(Error::conflict(match verify {
                true => {
                    "a run that is compared with the recording needs a model; leave out model: \"none\" and fast_only"
                }
                false => {
                    "no step of the routine can be done without a model: fast_steps of the routine lists those that can"
                }
            })));
        }
        let fast = fast.map(|fast| fast.only(only).at(&address));
        let id = self.create(conversation)?;
        let sensitive: Vec<String> = inputs.sensitive.keys().cloned().collect();
        for (name, value) in inputs.sensitive {
            inner.control.secret_store().lend(&lent(&id, &name), &origin, value);
        }
        let mut report = Report::of(&filled, markdown.clone(), limits, sensitive);
        report.is_recorded = recorded.is_some();
        if let Some(verification) = verification {
            report.verification = Some(self.watch(&id, (&stored.name, &address), verification, deadline)?);
        }
        let is_open = verify || fast.is_some();
        if fast.is_some() {
            self.open_start(&id, &address, deadline)?;
        }
        report.fast = fast;
        let kept = &inner.control.config().routines;
        let created = inner.store.create_run(
            &id,
            Some((&stored.id, stored.version)),
            &json!(report),
            (kept.keep_runs, kept.keep_days),
            Deadline::after(WRITE),
        );
        let message = if is_open { format!("{markdown}\n{OPENED}") } else { markdown };
        let sent = created.map_err(Error::from).and_then(|()| self.send(&id, &message));
        match sent {
            Ok(after) => Ok((id, after)),
            Err(error) => {
                inner.control.secret_store().take_back(&format!("{id}/"));
                Err(error.into())
            }
        }
    }
}

/// What a run does without a model; `None` if that is nothing.
fn fast(
    inner: &Inner,
    stored: &StoredRoutine,
    routine: &Routine,
    recorded: Option<&Recorded>,
    inputs: &Inputs,
) -> Result<Option<FastRun>, Error> {
    let (Some(recorded), Some(source)) = (recorded, stored.recording.as_ref().filter(|_| stored.source_present)) else {
        return Ok(None);
    };
    let events = stored_events(&inner.store, source).map_err(|problem| Error::conflict(problem.to_string()))?;
    let mut given = inputs.plain.clone();
    // That they are given counts; their values are not known here.
    given.extend(inputs.sensitive.keys().map(|name| (name.clone(), String::new())));
    let plan = replay::plan(routine, recorded, &events, &given);
    if !plan.is_any() {
        return Ok(None);
    }
    let changed = recorded.inputs.iter().filter_map(|(name, was)| Some((was.clone(), inputs.plain.get(name)?.clone())));
    Ok(Some(FastRun::new(plan, source.clone(), changed.collect())))
}

/// The name under which the value of a sensitive input is kept in memory while its run lasts.
pub(in crate::agent) fn lent(conversation: &str, name: &str) -> String {
    format!("{conversation}/{name}")
}

/// The inputs of a run.
#[derive(Debug, Default)]
struct Inputs {
    /// Those that stand in the text.
    plain: BTreeMap<String, String>,
    /// Those that no model sees.
    sensitive: BTreeMap<String, String>,
    /// Sensitive inputs that are stored secrets, with the names of these.
    stored: BTreeMap<String, String>,
}

impl Inputs {
    /// The given values with the defaults of a routine.
    fn of(routine: &Routine, mut given: BTreeMap<String, String>) -> Result<Self, RoutineError> {
        let mut all = Self::default();
        let mut missing = Vec::new();
        for input in &routine.inputs {
            match (given.remove(&input.name), &input.default, &input.secret) {
                (Some(value), _, _) if value.chars().count() > MOST_VALUE || value.contains('\0') => {
                    return Err(RoutineError::Inputs(format!(
                        "inputs.{}: at most {MOST_VALUE} characters, without NUL",
                        input.name
                    )));
                }
                (Some(value), _, _) if input.sensitive => _ = all.sensitive.insert(input.name.clone(), value),
                (Some(value), _, _) => _ = all.plain.insert(input.name.clone(), value),
                (None, _, Some(secret)) => _ = all.stored.insert(input.name.clone(), secret.clone()),
                (None, Some(value), _) if input.sensitive => {
                    _ = all.sensitive.insert(input.name.clone(), value.clone());
                }
                (None, Some(value), _) => _ = all.plain.insert(input.name.clone(), value.clone()),
                (None, None, None) => missing.push(input.name.as_str()),
            }
        }
        let declared: Vec<&str> = routine.inputs.iter().map(|input| input.name.as_str()).collect();
        if let Some(unknown) = given.keys().next() {
            let unknown: String = unknown.chars().take(60).collect();
            let known = match declared.as_slice() {
                [] => "the routine has no inputs".to_owned(),
                all => format!("its inputs are {}", all.join(", ")),
            };
            return Err(RoutineError::Inputs(format!("inputs: unknown input {unknown:?}; {known}")));
        }
        if !missing.is_empty() {
            return Err(RoutineError::Inputs(format!("inputs: missing {}; nothing was started", missing.join(", "))));
        }
        Ok(all)
    }

    /// The text with the inputs: values where they may be seen, names of secrets where not.
    fn fill(&self, routine: &Routine) -> String {
        let text = routine::fill(routine, &self.plain);
        let mut filled = String::with_capacity(text.len());
        let mut from = 0;
        for placeholder in routine::placeholders(&text) {
            let PlaceholderKind::Input(name) = &placeholder.kind else { continue };
            let secret = match (self.sensitive.contains_key(name), self.stored.get(name)) {
                (true, _) => name,
                (false, Some(secret)) => secret,
                (false, None) => continue,
            };
            filled.push_str(text.get(from..placeholder.range.start).unwrap_or_default());
            filled.push_str(&format!("{{{{secret:{secret}}}}}"));
            from = placeholder.range.end;
        }
        filled.push_str(text.get(from..).unwrap_or_default());
        without_inputs(&filled)
    }
}

/// The text without its section of inputs, which are filled in.
fn without_inputs(text: &str) -> String {
    let mut is_inputs = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            is_inputs = line.trim() == "## Inputs";
        }
        if !is_inputs {
            lines.push(line);
        }
    }
    lines.join("\n") + "\n"
}
