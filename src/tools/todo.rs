//! `todo`: what is to be done in this session, as long as it lasts.

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Outcome, Registry, RegistryError, Tool, ToolError};
use crate::control::PerSession;

/// The toolset.
const TODO: &str = "todo";
/// Items at most.
const MAX_ITEMS: usize = 200;
/// Characters of an item and of its id at most.
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
    /// Without: the list is only told. One in_progress at a time
    todos: Option<Vec<Item>>,
    /// Change and add items by id, keep the others
    #[serde(default)]
    merge: bool,
}

/// Adds the tool. Each session has its own list.
///
/// # Errors
/// Another one is called like it.
pub(super) fn register(registry: &Registry) -> Result<(), RegistryError> {
    let lists = PerSession::new(|| Mutex::new(Vec::new()));
    let tool =
        Tool::of("todo", "The list of what is to be done: read it, set it, change it.", move |call, wanted: Todo| {
            let list = lists.of(call.session);
            match wanted.todos {
                None => Ok(list_outcome(&list.lock())),
                Some(todos) => change(&list, todos, wanted.merge),
            }
        });
    registry.register(TODO, tool)
}

fn change(list: &Mutex<Vec<Item>>, todos: Vec<Item>, merge: bool) -> Result<Outcome, ToolError> {
    let bad = |problem: String| Err(ToolError::new("BAD_REQUEST", problem));
    for (at, item) in todos.iter().enumerate() {
        if item.id.trim().is_empty() || item.id.chars().count() > MAX_ID_CHARS {
            return bad(format!("todos[{at}].id: an id has 1 to {MAX_ID_CHARS} characters"));
        }
        if item.content.trim().is_empty() || item.content.chars().count() > MAX_ITEM_CHARS {
            return bad(format!("todos[{at}].content: an item has 1 to {MAX_ITEM_CHARS} characters"));
        }
        if todos.iter().take(at).any(|other| other.id == item.id) {
            return bad(format!("todos[{at}].id: {:?} is there twice; give each item an id of its own", item.id));
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
        return bad(format!("{} items are too many; {MAX_ITEMS} may be there, take away what is done", next.len()));
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
        return outcome.with("hint", "several are in_progress; keep to one at a time");
    }
    outcome
}
