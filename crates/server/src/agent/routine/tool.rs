//! The tool `routine_step`: which step is in progress, what became of it, and the items of its list.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::report::{Item, ItemState, KeywordUse, MOST_NOTE, RunCause, StepHow, StepStatus};
use super::{RoutineRun, TARGET_NOT_FOUND};
use crate::agent::now;
use crate::replay::{value_key, values_of};
use crate::routine::{InstructionKind, Step};
use crate::tools::{Tool, ToolError};
use cdpilot::code::Code;

/// Name of the tool; runs of routines have it.
pub(in crate::agent) const TOOL: &str = "routine_step";
/// Most items that one step has, and that one answer lists.
const MOST_ITEMS: usize = 2_000;
const MOST_LISTED: usize = 30;
/// Longest title, address or value, in characters.
const MOST_TEXT: usize = 300;

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// begin a step; item: record items of its list; read: keep a value; done; blocked: it cannot be done
    command: Command,
    /// Number of the step
    n: u32,
    /// What was done, or why it cannot be done
    #[serde(default)]
    note: Option<String>,
    /// For item: what becomes of the items
    #[serde(default)]
    state: Option<ItemState>,
    /// For item
    #[serde(default)]
    items: Vec<GivenItem>,
    /// For read: name of the value
    #[serde(default)]
    name: Option<String>,
    /// For read: the value as the page shows it
    #[serde(default)]
    value: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Command {
    Begin,
    Item,
    Read,
    Done,
    Blocked,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct GivenItem {
    /// As the page shows it
    title: String,
    /// Address of its link, if it has one
    #[serde(default)]
    address: Option<String>,
}

/// The tool as models get it. Its calls do not reach the registry.
pub(in crate::agent) fn tool() -> Tool {
    let description = "Report the progress of the routine. begin a step before you act, done when all of it is done (the answer has the next \
         step, which is begun then), blocked when it cannot be done: the user gets your note and helps. For a list (For each …), record with item \
         what you find (state found), begin an item before you act on it, then done; items that do not belong to it: skipped. An \
         item that is done is never done again. read keeps a value that the step asks for.";
    Tool::of(TOOL, description, |_, _: Arguments| {
        Err(ToolError::new(Code::ToolUnavailable, "steps are recorded by the run of a routine only"))
    })
}

fn bad(problem: impl Into<String>) -> ToolError {
    ToolError::new(Code::BadRequest, problem)
}

fn conflict(problem: impl Into<String>) -> ToolError {
    ToolError::new(Code::Conflict, problem)
}

fn short(text: &str, most: usize) -> String {
    text.trim().chars().take(most).collect()
}

fn not_begun(title: &str) -> ToolError {
    conflict(format!("the item {title:?} was not begun; begin it before you act on it"))
}

fn is_done(list: &[Item], title: &str, address: &str) -> bool {
    list.iter().any(|item| item.state == ItemState::Done && item.is(title, address))
}

/// What a call of the tool asks a person, if it is `blocked`: the reason.
pub(in crate::agent) fn blocked(tool: &str, arguments: &Map<String, Value>) -> Option<(u32, String)> {
    if tool != TOOL || arguments.get("command")?.as_str()? != "blocked" {
        return None;
    }
    let n = u32::try_from(arguments.get("n")?.as_u64()?).ok()?;
    let note = arguments.get("note").and_then(Value::as_str).unwrap_or_default();
    Some((n, short(note, MOST_NOTE)))
}

impl RoutineRun {
    /// Does what a call of the tool says.
    ///
    /// # Errors
    /// What the model gets instead of a result.
    pub(in crate::agent) fn command(&mut self, arguments: &Map<String, Value>) -> Result<Value, ToolError> {
        let given: Arguments = serde_json::from_value(Value::Object(arguments.clone()))
            .map_err(|problem| bad(format!("{problem}; give command and n")))?;
        let last = self.routine.steps.len();
        if self.step(given.n).is_none() {
            return Err(bad(format!("the routine has no step {}; its steps are 1 to {last}", given.n)));
        }
        let answer = match given.command {
            Command::Begin => self.begin(given.n),
            Command::Item => self.item(&given),
            Command::Read => self.read(&given),
            Command::Done => self.done(&given),
            Command::Blocked => Err(bad("give a note: why the step cannot be done")),
        };
        self.is_changed = true;
        answer
    }

    fn begin(&mut self, n: u32) -> Result<Value, ToolError> {
        if self.report.pinned == Some(n) {
            return Ok(self.described(n));
        }
        if let Some(other) = self.report.pinned {
            return Err(conflict(format!("step {other} is in progress; end it with done or blocked first")));
        }
        match self.report.next() {
            Some(next) if next == n => {}
            Some(next) if n > next => {
                return Err(conflict(format!("the steps are done in order: step {next} is next")));
            }
            Some(next) => return Err(conflict(format!("step {n} has ended already; step {next} is next"))),
            None => return Err(conflict("all steps have ended; give the final answer")),
        }
        self.pin(n);
        Ok(self.described(n))
    }

    /// Makes a step the one in progress.
    pub(super) fn pin(&mut self, n: u32) {
        self.report.pinned = Some(n);
        self.report.requests_since = 0;
        self.scope.set_step(n);
        if let Some(state) = self.report.state(n).filter(|state| state.began_at == 0.0) {
            state.began_at = now();
        }
    }

    /// No step is in progress any more.
    pub(super) fn unpin(&mut self) {
        self.report.pinned = None;
        self.report.requests_since = 0;
        self.scope.set_step(0);
        self.is_changed = true;
    }

    /// A step as the model gets it.
    fn described(&self, n: u32) -> Value {
        let Some(step) = self.step(n) else { return Value::Null };
        let texts: Vec<String> = step.instructions.iter().map(|one| self.with_values(&one.text)).collect();
        let mut answer = json!({ "success": true, "step": n, "title": step.title, "instructions": texts.join("\n") });
        if let Some(keyword) = &step.keyword {
            answer["keywords"] = json!([keyword]);
        }
        if let Some(reasoning) = &step.reasoning {
            answer["reasoning"] = reasoning.clone().into();
        }
        if step.is_list() {
            answer["items"] = self.table(n);
        }
        answer
    }

    /// A text with the values that earlier steps have read.
    pub(super) fn with_values(&self, text: &str) -> String {
        self.report
            .values
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
    }

    /// The items of a step that works through a list, if some are known.
    pub(super) fn list_so_far(&self, n: u32) -> Option<Value> {
        let state = self.report.steps.iter().find(|state| state.step.n == n)?;
        (!state.list.is_empty()).then(|| self.table(n))
    }

    /// The items of a step, as far as an answer lists them.
    fn table(&self, n: u32) -> Value {
        let Some(state) = self.report.steps.iter().find(|state| state.step.n == n) else { return Value::Null };
        let titles = |wanted: ItemState| {
            let all = state.list.iter().filter(|item| item.state == wanted).take(MOST_LISTED);
            all.map(|item| item.title.as_str()).collect::<Vec<_>>()
        };
        let counts = state.counts();
        let mut table = json!({ "done": counts.done, "total": counts.total, "open": titles(ItemState::Found) });
        let begun = titles(ItemState::Begun);
        if !begun.is_empty() {
            table["begun"] = json!(begun);
        }
        table
    }

    fn item(&mut self, given: &Arguments) -> Result<Value, ToolError> {
        let n = given.n;
        self.check_pinned(n)?;
        if !self.step(n).is_some_and(Step::is_list) {
            return Err(bad(format!("step {n} has no list: its first instruction does not begin with For each")));
        }
        let wanted = given.state.unwrap_or_default();
        if given.items.is_empty() {
            return Err(bad("give items: title and, if it has one, address of each"));
        }
        if wanted == ItemState::Begun && given.items.len() > 1 {
            return Err(bad("begin one item at a time"));
        }
        let mut already = Vec::new();
        let Some(state) = self.report.state(n) else { return Err(bad("there is no such step")) };
        if state.list.len() + given.items.len() > MOST_ITEMS {
            return Err(conflict(format!("a step works through at most {MOST_ITEMS} items")));
        }
        for one in &given.items {
            let (title, address) = (one.title.trim(), one.address.as_deref().unwrap_or_default().trim());
            if title.is_empty() {
                return Err(bad("an item has an empty title; give the title as the page shows it"));
            }
            let (title, address) = (short(title, MOST_TEXT), short(address, MOST_TEXT));
            let other = state.list.iter().find(|item| item.state == ItemState::Begun && !item.is(&title, &address));
            if let Some(other) = other.filter(|_| wanted == ItemState::Begun && !is_done(&state.list, &title, &address))
            {
                return Err(conflict(format!(
                    "the item {:?} is begun; record it as done or skipped before you begin another one",
                    other.title
                )));
            }
            match state.list.iter_mut().find(|item| item.is(&title, &address)) {
                Some(item) if item.state == ItemState::Done => already.push(item.title.clone()),
                Some(item) if wanted == ItemState::Done && item.state != ItemState::Begun => {
                    return Err(not_begun(&title));
                }
                Some(item) => {
                    if wanted != ItemState::Found {
                        item.state = wanted;
                    }
                    if item.address.is_empty() {
                        item.address = address;
                    }
                }
                None if wanted == ItemState::Done => return Err(not_begun(&title)),
                None => state.list.push(Item { title, address, state: wanted }),
            }
        }
        if wanted == ItemState::Begun && !already.is_empty() {
            return Err(conflict(format!("the item {:?} is done already; do not do it again", already[0])));
        }
        if wanted == ItemState::Done {
            self.report.requests_since = 0;
        }
        let mut answer = json!({ "success": true, "items": self.table(n) });
        if !already.is_empty() {
            already.truncate(MOST_LISTED);
            answer["already_done"] = json!(already);
        }
        Ok(answer)
    }

    fn read(&mut self, given: &Arguments) -> Result<Value, ToolError> {
        self.check_pinned(given.n)?;
        let name = given.name.as_deref().unwrap_or_default().trim();
        let names = self.values_of(given.n);
        if !names.iter().any(|known| known == name) {
            let known =
                if names.is_empty() { "it reads none".to_owned() } else { format!("it reads {}", names.join(", ")) };
            return Err(bad(format!("step {} reads no value {name:?}; {known}", given.n)));
        }
        let value = short(given.value.as_deref().unwrap_or_default(), MOST_TEXT);
        if value.is_empty() {
            return Err(bad("give value: the text that the page shows"));
        }
        self.keep_value(given.n, name, &value);
        Ok(json!({ "success": true }))
    }

    /// Keeps a value that was read. Later instructions contain it: on one line, and without placeholders.
    pub(super) fn keep_value(&mut self, n: u32, name: &str, value: &str) {
        let value = value.replace(['\n', '\r'], " ").replace("{{", "{ {");
        self.report.values.insert(value_key(n, name), value);
        self.is_changed = true;
    }

    /// Names of the values that a step reads.
    fn values_of(&self, n: u32) -> Vec<String> {
        self.step(n).map(|step| values_of(step).map(ToOwned::to_owned).collect()).unwrap_or_default()
    }

    fn done(&mut self, given: &Arguments) -> Result<Value, ToolError> {
        let n = given.n;
        self.check_pinned(n)?;
        let values = self.values_of(n);
        let missing = values.iter().find(|name| !self.report.values.contains_key(&value_key(n, name)));
        if let Some(name) = missing {
            return Err(conflict(format!("step {n} has not read {name}; record it with command read first")));
        }
        let (is_list, is_optional) = self.step(n).map_or((false, false), |step| {
            (step.is_list(), step.instructions.iter().all(|one| one.kind == InstructionKind::IfShown))
        });
        let note = given.note.as_deref().map(|note| short(note, MOST_NOTE)).filter(|note| !note.is_empty());
        let table = self.table(n);
        let is_handed = self.report.fast.as_ref().is_some_and(|fast| fast.is_handed(n));
        let Some(state) = self.report.state(n) else { return Err(bad("there is no such step")) };
        if state.is_refused {
            let problem =
                format!("the user has refused an action of step {n}, so it is not done; report it as blocked");
            return Err(conflict(problem));
        }
        if let Some(error) = &state.failed {
            let problem = format!(
                "the last action of step {n} has failed ({error}), so it is not done; do what it says in another way, or report it \
                 as blocked"
            );
            return Err(conflict(problem));
        }
        if is_list {
            let is_open = |item: &&Item| matches!(item.state, ItemState::Found | ItemState::Begun);
            if state.list.iter().any(|item| is_open(&item)) {
                let problem = format!("items of step {n} are open: {table}; do them, or record them as skipped");
                return Err(conflict(problem));
            }
            if state.list.is_empty() && note.is_none() {
                return Err(conflict(
                    "no item was recorded; record what the list has, or say in note why there is none",
                ));
            }
        }
        let is_skipped = is_optional && !state.has_acted;
        // The program has looked for its target in vain, and the model has found it.
        let is_anew = |cause: &RunCause| ["TARGET_NOT_FOUND", "TARGET_AMBIGUOUS"].contains(&&*cause.code);
        let is_healed = is_handed && state.step.cause.as_ref().is_some_and(is_anew);
        state.step.status = match (is_skipped, is_healed) {
            (true, _) => StepStatus::Skipped,
            (false, true) => StepStatus::Healed,
            (false, false) => StepStatus::Done,
        };
        state.step.how = Some(if state.has_help { StepHow::Person } else { StepHow::Model });
        state.step.note = note;
        if !is_healed {
            state.step.cause = None;
        }
        self.unpin();
        let ended = if is_skipped { "skipped" } else { "done" };
        let mut answer = json!({ "success": true, "step": n, "status": ended });
        match self.report.next() {
            Some(next) => {
                self.pin(next);
                answer["next"] = self.described(next);
                if let Some(fields) = answer["next"].as_object_mut() {
                    fields.remove("success");
                }
            }
            None => answer["next"] = self.ending().into(),
        }
        Ok(answer)
    }

    /// What the model does when all steps have ended.
    fn ending(&self) -> String {
        match &self.routine.result {
            None => "All steps have ended. Give a final answer: one or two sentences about what was done.".to_owned(),
            Some(result) => {
                let text = self.with_values(&result.text);
                let data = match &result.schema {
                    Some(schema) => format!(" It has one ```json block with data that fits this schema: {schema}"),
                    None => String::new(),
                };
                format!("All steps have ended. The final answer is: {text}{data}")
            }
        }
    }

    fn check_pinned(&self, n: u32) -> Result<(), ToolError> {
        match self.report.pinned {
            Some(pinned) if pinned == n => Ok(()),
            Some(pinned) => Err(conflict(format!("step {pinned} is in progress, not step {n}"))),
            None if self.report.next().is_none() => Err(conflict("all steps have ended; give the final answer")),
            None if self.report.next() != Some(n) => {
                Err(conflict(format!("step {n} has ended, or is not the next one")))
            }
            None => Err(conflict(format!("step {n} is not in progress; begin it first"))),
        }
    }

    /// Records that the step in progress cannot be done, and that a person is asked.
    pub(in crate::agent) fn set_blocked(&mut self, note: &str) {
        self.is_changed = true;
        let sought = self.report.pinned.and_then(|n| self.step(n)).map(|step| {
            step.keyword.as_ref().map_or_else(|| step.title.clone(), |keyword| format!("{} ({keyword})", step.title))
        });
        let Some(state) = self.report.current() else { return };
        state.has_help = true;
        (state.failed, state.is_refused) = (None, false);
        state.keyword = KeywordUse::Matched;
        let found = short(note, MOST_NOTE);
        state.step.cause =
            Some(RunCause { code: TARGET_NOT_FOUND.to_owned(), sought: sought.unwrap_or_default(), found });
    }
}
