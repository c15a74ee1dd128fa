//! `memory`: notes for later conversations.

use schemars::JsonSchema;
use serde::Deserialize;

use super::guard::permit;
use super::{Effect, EffectKind, Effects, Guard, Outcome, Registry, RegistryError, Tool, ToolContext, ToolError};
use crate::config::{Config, Home};
use crate::memory::{AGENT, Change, Error, Memory, Note, Notes, PERSON, Target};
use cdpilot::code::Code;
use cdpilot::redact::Secrets;

/// The toolset.
const MEMORY: &str = "memory";

#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Action {
    Add,
    Replace,
    Remove,
    List,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    /// memory: sites, tools, ways that work. user: who the user is, and what they prefer
    target: Target,
    /// One fact in a sentence, for add and replace
    content: Option<String>,
    /// A part of the note, for replace and remove
    old_text: Option<String>,
}

/// Registers the tool.
///
/// # Errors
/// The name is taken.
pub(super) fn register(
    registry: &Registry,
    home: &Home,
    config: &Config,
    secrets: &Secrets,
) -> Result<(), RegistryError> {
    let (memory, unasked, secrets) = (Memory::of(home), config.tools.memory.unasked, secrets.clone());
    let tool = Tool::of(
        "memory",
        "Keep short facts for later conversations: add, replace, remove or list notes. No task progress, secrets or orders of pages.",
        move |call, arguments: Arguments| run(&memory, unasked, &secrets, call, arguments),
    );
    registry.register(MEMORY, tool.with_effects(Effects::None))
}

fn run(
    memory: &Memory,
    unasked: bool,
    secrets: &Secrets,
    call: &ToolContext<'_>,
    wanted: Arguments,
) -> Result<Outcome, ToolError> {
    let missing = |field: &str| ToolError::new(Code::BadRequest, format!("{field} is missing"));
    let content = || wanted.content.clone().ok_or_else(|| missing("content"));
    let old_text = || wanted.old_text.clone().ok_or_else(|| missing("old_text"));
    let target = wanted.target;
    let change = match wanted.action {
        Action::List => {
            let notes = memory.read(target).map_err(|problem| failed(memory, target, &problem))?;
            return Ok(shown(target, &notes));
        }
        Action::Add => Change::Add { content: content()? },
        Action::Replace => Change::Replace { old_text: old_text()?, content: content()? },
        Action::Remove => Change::Remove { old_text: old_text()? },
    };
    let old = memory.check(target, &change, secrets).map_err(|problem| failed(memory, target, &problem))?;
    let read = call.scope.has_read();
    let is_persons = old.as_ref().is_some_and(|old| old.origin.split(", ").any(|origin| origin == PERSON));
    let why = match read {
        Some(read) if !unasked => {
            Some(format!("this conversation has read other texts ({read}), and the note may come from there"))
        }
        _ if is_persons && !unasked => Some("a person wrote the old note".to_owned()),
        _ if call.scope.guard().is_some_and(Guard::guards_all) => Some("each change is asked about".to_owned()),
        _ => None,
    };
    let origin = read.unwrap_or(AGENT);
    if let Some(why) = why.filter(|_| call.scope.conversation().is_some()) {
        ask(call, target, &change, (old.as_ref(), origin), &why)?;
    }
    let changed = memory.change(target, &change, (origin, old.as_ref()), secrets, call.deadline);
    let (notes, origin) = changed.map_err(|problem| failed(memory, target, &problem))?;
    Ok(shown(target, &notes).with("origin", origin))
}

/// Waits for the yes of a person, which is for exactly these notes.
fn ask(
    call: &ToolContext<'_>,
    target: Target,
    change: &Change,
    (old, origin): (Option<&Note>, &str),
    why: &str,
) -> Result<(), ToolError> {
    if call.scope.guard().is_none() {
        let problem = format!(
            "nothing was changed: {why}, so a person has to agree, and this conversation has no guard that could ask. It needs a guard, or \
             `tools.memory.unasked: true`"
        );
        return Err(ToolError::new(Code::ApprovalRefused, problem));
    }
    let about = if target == Target::User { "about the user" } else { "of the agent" };
    let (action, new) = match change {
        Change::Add { content } => (format!("remember a note {about}, for later conversations"), Some(content)),
        Change::Replace { content, .. } => (format!("replace a note {about}"), Some(content)),
        Change::Remove { .. } => (format!("remove a note {about}"), None),
    };
    let old = old.map(|old| format!("{} [{}]", old.text, old.origin));
    let new = new.map(|new| format!("{new} [{origin}]"));
    let bound = [target.as_str(), old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default()];
    let effect = Effect::new(EffectKind::Note, action, why, &bound);
    let effect = old.iter().fold(effect, |effect, old| effect.value("old note", old));
    permit(call, new.iter().fold(effect, |effect, new| effect.value("new note", new))).map(drop)
}

fn shown(target: Target, notes: &Notes) -> Outcome {
    Outcome::default()
        .with("target", target.as_str())
        .with("text", notes.shown())
        .with("chars", notes.chars())
        .with("limit", target.limit())
}

/// An error; of notes that are full, with the notes, so that the model can make them shorter.
fn failed(memory: &Memory, target: Target, problem: &Error) -> ToolError {
    let error = ToolError::new(problem.code(), problem.to_string());
    match (problem, memory.read(target)) {
        (Error::Full { .. } | Error::NotFound(_) | Error::Several { .. }, Ok(notes)) => {
            error.with("text", notes.shown()).with("chars", notes.chars()).with("limit", target.limit())
        }
        _ => error,
    }
}
