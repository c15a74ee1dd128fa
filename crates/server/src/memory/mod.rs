//! What is kept for later conversations: two files of notes, which people edit, too.
//!
//! | file | contents |
//! |---|---|
//! | `notes` | notes and their origins |
//! | `checks` | what is not kept |
//!
//! Changes are made under a lock that all processes respect, and written whole; each can be undone.

mod checks;
mod notes;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

pub(crate) use checks::is_unseen;
pub use notes::{AGENT, FROM, Note, Notes, PERSON};

use crate::config::{Home, lock_file, replace_file};
use cdpilot::code::Code;
use cdpilot::redact::Secrets;
use cdpilot::sync::Deadline;

/// Changes that can be undone.
const MOST_CHANGES: usize = 100;
/// Largest file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// One of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// What the agent has learnt: sites, tools, ways that work.
    Memory,
    /// What it knows of the user.
    User,
}

impl Target {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Memory, Self::User];

    /// Its name in arguments.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::User => "user",
        }
    }

    /// Most characters.
    #[must_use]
    pub fn limit(self) -> usize {
        match self {
            Self::Memory => 4_000,
            Self::User => 2_000,
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Memory => "agent.md",
            Self::User => "user.md",
        }
    }
}

/// Why notes are not changed or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not kept.
    #[error("nothing was kept: {0}")]
    Refused(String),
    /// There is no room.
    #[error(
        "nothing was kept: the notes would have {chars} of {limit} characters; replace notes by shorter ones or remove some, then try again"
    )]
    Full {
        /// The length with the new note, in characters.
        chars: usize,
        /// The most characters.
        limit: usize,
    },
    /// It is there already.
    #[error("nothing was kept: there is this note already: {0:?}")]
    Known(String),
    /// No note contains the text.
    #[error("no note contains {0:?}; `list` shows them")]
    NotFound(String),
    /// Several notes contain the text.
    #[error("{count} notes contain {text:?}; give a longer part of one")]
    Several {
        /// The text.
        text: String,
        /// How many.
        count: usize,
    },
    /// There is nothing to undo.
    #[error("no change is left to undo")]
    NothingToUndo,
    /// Another process holds the lock.
    #[error("the notes are being changed by another process; try again")]
    Busy,
    /// A file cannot be read or written.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        problem: String,
    },
}

impl Error {
    /// Its code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(_) | Self::Several { .. } => Code::BadRequest,
            Self::Full { .. } => Code::TooLarge,
            Self::Known(_) | Self::NothingToUndo | Self::Busy => Code::Conflict,
            Self::NotFound(_) => Code::NotFound,
            Self::File { .. } => Code::Internal,
        }
    }
}

/// A change of notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new note.
    Add {
        /// Its text.
        content: String,
    },
    /// Another text for the note that contains `old_text`.
    Replace {
        /// A part of the present text.
        old_text: String,
        /// The new text.
        content: String,
    },
    /// Removes the note that contains `old_text`.
    Remove {
        /// A part of its text.
        old_text: String,
    },
}

/// A change as it is kept for undoing it.
#[derive(Debug, Serialize, Deserialize)]
struct Before {
    at: u64,
    target: Target,
    file: String,
}

/// The notes of a home. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Memory {
    folder: PathBuf,
}

impl Memory {
    /// The notes of a home. Nothing is created before the first note.
    #[must_use]
    pub fn of(home: &Home) -> Self {
        Self { folder: home.memory() }
    }

    /// The path of a file, for people.
    #[must_use]
    pub fn path(&self, target: Target) -> PathBuf {
        self.folder.join(target.file())
    }

    /// The notes.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn read(&self, target: Target) -> Result<Notes, Error> {
        Ok(Notes::parse(&self.file(&self.path(target))?))
    }

    /// Whether the text of a change may be kept.
    ///
    /// # Errors
    /// [`Error::Refused`].
    pub fn check(change: &Change, secrets: &Secrets) -> Result<(), Error> {
        match change {
            Change::Add { content } | Change::Replace { content, .. } => checks::checked(content, secrets).map(drop),
            Change::Remove { .. } => Ok(()),
        }
    }

    /// Changes notes. `origin`: who does it, and what was read before. A note keeps the origins that it has. Returns the notes and the
    /// origin of the one that was changed.
    ///
    /// # Errors
    /// All of [`Error`] but [`Error::NothingToUndo`]; nothing is changed then.
    pub fn change(
        &self,
        target: Target,
        change: &Change,
        origin: &str,
        secrets: &Secrets,
        deadline: Deadline<'_>,
    ) -> Result<(Notes, String), Error> {
        let _lock = self.lock(deadline)?;
        let before = self.file(&self.path(target))?;
        let mut notes = Notes::parse(&before);
        let only = |notes: &Notes, text: &str| match notes.with(text.trim()).as_slice() {
            _ if text.trim().is_empty() => Err(Error::NotFound(text.to_owned())),
            [] => Err(Error::NotFound(text.to_owned())),
            [one] => Ok(*one),
            all => Err(Error::Several { text: text.to_owned(), count: all.len() }),
        };
        let own = match change {
            Change::Add { content } => {
                let text = checks::checked(content, secrets)?;
                if let Some(known) = notes.like(&text) {
                    return Err(Error::Known(known.text.clone()));
                }
                notes.0.push(Note { text, origin: origin.to_owned() });
                origin.to_owned()
            }
            Change::Replace { old_text, content } => {
                let text = checks::checked(content, secrets)?;
                let at = only(&notes, old_text)?;
                let old = notes.0.remove(at);
                if let Some(known) = notes.like(&text) {
                    return Err(Error::Known(known.text.clone()));
                }
                let origin = notes::both(&old.origin, origin);
                notes.0.insert(at, Note { text, origin: origin.clone() });
                origin
            }
            Change::Remove { old_text } => {
                let at = only(&notes, old_text)?;
                notes.0.remove(at).origin
            }
        };
        let (chars, limit) = (notes.chars(), target.limit());
        if chars > limit && !matches!(change, Change::Remove { .. }) && chars >= Notes::parse(&before).chars() {
            return Err(Error::Full { chars, limit });
        }
        self.write(target, before, &notes.print())?;
        Ok((notes, own))
    }

    /// Writes a file as a person has edited it.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Busy`], [`Error::File`].
    pub fn edit(&self, target: Target, file: &str, deadline: Deadline<'_>) -> Result<Notes, Error> {
        let notes = Notes::parse(file);
        let (chars, limit) = (notes.chars(), target.limit());
        if chars > limit {
            return Err(Error::Full { chars, limit });
        }
        let _lock = self.lock(deadline)?;
        let before = self.file(&self.path(target))?;
        self.write(target, before, &notes.print())?;
        Ok(notes)
    }

    /// Undoes the last change of either file. Returns which, and its notes.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`], [`Error::Busy`], [`Error::File`].
    pub fn undo(&self, deadline: Deadline<'_>) -> Result<(Target, Notes), Error> {
        let _lock = self.lock(deadline)?;
        let mut changes = self.changes()?;
        let Before { target, file, .. } = changes.pop().ok_or(Error::NothingToUndo)?;
        self.put(&self.path(target), &file)?;
        self.keep(&changes)?;
        Ok((target, Notes::parse(&file)))
    }

    /// Both files as a prompt has them; empty without notes.
    #[must_use]
    pub fn for_prompt(&self) -> String {
        let mut text = String::new();
        for target in Target::ALL {
            let notes = self.read(target).inspect_err(|problem| tracing::warn!(%problem, "notes cannot be read"));
            let shown = notes.map(|notes| notes.shown()).unwrap_or_default();
            if !shown.is_empty() {
                let head = if target == Target::User { "About the user:" } else { "From earlier work:" };
                // A person may have made the file longer than it may be.
                let most = 2 * target.limit();
                text.push_str(&format!("{head}\n{}", shown.chars().take(most).collect::<String>()));
            }
        }
        text
    }

    fn write(&self, target: Target, before: String, now: &str) -> Result<(), Error> {
        let mut changes = self.changes()?;
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        changes.push(Before { at, target, file: before });
        let from = changes.len().saturating_sub(MOST_CHANGES);
        // First: a change that is not made after all is undone to what is there.
        self.keep(changes.get(from..).unwrap_or_default())?;
        self.put(&self.path(target), now)
    }

    fn history(&self) -> PathBuf {
        self.folder.join("changes.json")
    }

    fn changes(&self) -> Result<Vec<Before>, Error> {
        let text = self.file(&self.history())?;
        // Damaged, it is begun anew: the notes are what matters.
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    fn keep(&self, changes: &[Before]) -> Result<(), Error> {
        let text = serde_json::to_string(changes).map_err(|problem| failed(&self.history(), problem))?;
        self.put(&self.history(), &text)
    }

    /// The text of a file; empty if it is missing.
    fn file(&self, path: &Path) -> Result<String, Error> {
        match fs::metadata(path) {
            Ok(facts) if facts.len() > MOST_BYTES => return Err(failed(path, "it is larger than 1 MiB")),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Ok(_) => {}
            Err(problem) => return Err(failed(path, problem)),
        }
        fs::read_to_string(path).map_err(|problem| failed(path, problem))
    }

    fn put(&self, path: &Path, text: &str) -> Result<(), Error> {
        replace_file(path, text.as_bytes()).map_err(|problem| failed(path, problem))
    }

    fn lock(&self, deadline: Deadline<'_>) -> Result<File, Error> {
        let path = self.folder.join("lock");
        lock_file(&path, deadline).map_err(|problem| failed(&path, problem))?.ok_or(Error::Busy)
    }
}

fn failed(path: &Path, problem: impl ToString) -> Error {
    Error::File { path: path.display().to_string(), problem: problem.to_string() }
}
