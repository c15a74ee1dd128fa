//! Bodies and answers of the routes for what is kept for later conversations: notes and skills.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::{Notes, Target};

/// `GET /memory`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryShown {
    /// The notes of the agent, then those about the user.
    pub memory: Vec<MemoryFile>,
}

/// The notes of one file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryFile {
    /// Which one: `memory` (of the agent) or `user`.
    pub target: Target,
    /// The length of all notes, in characters.
    pub chars: usize,
    /// The most characters.
    pub limit: usize,
    /// The file, with one note on each line and its origin in a comment behind it.
    pub text: String,
    /// The notes in order.
    pub notes: Vec<MemoryNote>,
}

/// A note.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryNote {
    /// Its text. Untrusted unless a person wrote it.
    pub text: String,
    /// Who wrote it: `person`, `agent`, or `from` and what was read before; several with commas.
    pub origin: String,
}

/// `POST /memory`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditMemory {
    /// The file that is replaced.
    pub target: Target,
    /// The whole file. Notes that were there keep their origins; other lines without a comment are notes of a person.
    pub text: String,
    /// The file as it was read: if it is another one by now, nothing is changed (`CONFLICT`). Default: not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// `POST /memory` and `POST /memory/undo`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryChanged {
    /// The file that was changed, as it is now.
    pub memory: MemoryFile,
}

/// `GET /skills`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkillList {
    /// The skills by name.
    pub skills: Vec<SkillShown>,
}

/// A skill, without its text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkillShown {
    /// Its name: a message `/NAME TASK` follows it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Who wrote it: `person`, `agent`, `from https://…`, `elsewhere`, or `cdpilot`.
    pub origin: String,
}

impl MemoryFile {
    /// A file with these notes.
    pub(crate) fn of(target: Target, notes: Notes) -> Self {
        let (chars, limit, text) = (notes.chars(), target.limit(), notes.print());
        let notes = notes.0.into_iter().map(|note| MemoryNote { text: note.text, origin: note.origin }).collect();
        Self { target, chars, limit, text, notes }
    }
}
