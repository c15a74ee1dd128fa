//! `todo`: the to-do list of a session.

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Effects, Outcome, Registry, RegistryError, Tool, ToolError};
use crate::control::PerSession;
use cdpilot::code::Code;

/// The toolset.
const TODO: &str = "todo";
/// Maximum number of items.
const MAX_ITEMS: usize = 200;
/// Maximum length of an item and of its id, in characters.
const MAX_ITEM_CHARS: usize = 2_000;
const MAX_ID_CHARS: usize = 64;

#[derive(Debug, Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Item {
    id: String,
    content: String,
    status: Status,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Todo {
    /// Omit to read the list. One in_progress at a time
    todos: Option<Vec<Item>>,
    /// Update or add items by id; keep the others
    #[serde(default)]
    merge: bool,
}

/// Registers the tool. Each session has its own list.
///
/// # Errors
/// The name is taken.
pub(super) fn register(registry: &Registry) -> Result<(), RegistryError> {
    let lists = PerSession::new(|| Mutex::new(Vec::new()));
    let tool = Tool::of("todo", "Read, replace or update the to-do list.", move |call, arguments: Todo| {
        let list = lists.of(call.session);
        match arguments.todos {
            None => Ok(list_outcome(&list.lock())),
            Some(todos) => change(&list, todos, arguments.merge),
        }
    });
    registry.register(TODO, tool.with_effects(Effects::None))
}

fn change(list: &Mutex<Vec<Item>>, todos: Vec<Item>, merge: bool) -> Result<Outcome, ToolError> {
    let bad = |problem: String| Err(ToolError::new(Code::BadRequest, problem));
    for (at, item) in todos.iter().enumerate() {
        if item.id.trim().is_empty() || item.id.chars().count() > MAX_ID_CHARS {
            return bad(format!("todos[{at}].id must have 1 to {MAX_ID_CHARS} characters"));
        }
        if item.content.trim().is_empty() || item.content.chars().count() > MAX_ITEM_CHARS {
            return bad(format!("todos[{at}].content must have 1 to {MAX_ITEM_CHARS} characters"));
        }
        if todos.iter().take(at).any(|other| other.id == item.id) {
            return bad(format!("todos[{at}].id: duplicate id {:?}; use a unique id for each item", item.id));
        }
    }
    let mut list = list.lock();
    let mut next = if merge { list.clone() } else { Vec::new() };
    for item in todos {
        match next.iter_mut().find(|known| known.id == item.id) {
            Some(known) => *known = item,
            None => next.push(item),
        }
    }
    if next.len() > MAX_ITEMS {
        return bad(format!("{} items exceed the limit of {MAX_ITEMS}; remove completed items", next.len()));
    }
    *list = next;
    Ok(list_outcome(&list))
}

fn list_outcome(list: &[Item]) -> Outcome {
    let count = |status: Status| list.iter().filter(|item| item.status == status).count();
    let summary: Value = json!({
        "total": list.len(),
        "pending": count(Status::Pending),
        "in_progress": count(Status::InProgress),
        "completed": count(Status::Completed),
        "cancelled": count(Status::Cancelled),
    });
    let outcome = Outcome::default().with("todos", json!(list)).with("summary", summary);
    if count(Status::InProgress) > 1 {
        return outcome.with("hint", "several items are in_progress; keep one at a time");
    }
    outcome
}
