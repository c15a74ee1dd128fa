//! Conversations: creating, listing and deleting them, and their recovery after a crash.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use super::texts::texts;
use super::{Error, Store, now, parsed, text_of};
use cdpilot::sync::Deadline;

texts! {
    /// State of a conversation.
    ConversationState {
        /// `idle`: no run is in progress.
        Idle = "idle",
        /// `active`: a run is in progress, perhaps paused.
        Active = "active",
        /// `waiting`: a run waits for the answer to a question.
        Waiting = "waiting",
        /// `error`: the last run failed.
        Error = "error",
    }
}

/// A conversation, without its messages and events.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The id, as given when it was created.
    pub id: String,
    /// When it was created, in seconds since 1970.
    pub created_at: f64,
    /// When it was last changed, in seconds since 1970.
    pub updated_at: f64,
    /// State of its run.
    pub state: ConversationState,
    /// Alias of the model.
    pub model: String,
    /// Mode, such as `chat`.
    pub mode: String,
    /// First 100 characters of the first message of the user; empty before it.
    pub title: String,
    /// Settings, as given.
    pub settings: Value,
    /// Usage of models, as given last; null before.
    pub usage: Value,
    /// Number of messages, which is the number of the newest one.
    pub message_count: u64,
    /// Whether its last turn was not finished and can be continued.
    pub unfinished: bool,
    /// Number of the newest image; 0 without images.
    pub images: u64,
    /// Id of the newest event; 0 without events.
    pub last_event: u64,
}

/// A conversation to create.
#[derive(Debug, Clone)]
pub struct NewConversation {
    id: String,
    model: String,
    mode: String,
    settings: Value,
}

impl NewConversation {
    /// A conversation with an id that is not in use, the alias of a model and a mode. The settings are `{}`.
    #[must_use]
    pub fn new(id: impl Into<String>, model: impl Into<String>, mode: impl Into<String>) -> Self {
        Self { id: id.into(), model: model.into(), mode: mode.into(), settings: Value::Object(serde_json::Map::new()) }
    }

    /// The settings: toolsets, browser, folder and so on. The store does not interpret them.
    #[must_use]
    pub fn settings(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }
}

const COLUMNS: &str = "id, created_at, updated_at, state, model, mode, title, settings, usage, message_count, unfinished, \
                       images, last_event";

impl Store {
    /// Creates a conversation in the state `idle`.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the id is in use, and the errors of writing: [`Error::Busy`], [`Error::Timeout`],
    /// [`Error::Cancelled`], [`Error::DiskFull`], [`Error::Closed`], [`Error::Failed`].
    pub fn create_conversation(&self, new: NewConversation, deadline: Deadline<'_>) -> Result<Conversation, Error> {
        let settings = text_of(&new.settings)?;
        self.write(deadline, move |on| {
            let sql = "INSERT INTO conversations (id, created_at, updated_at, state, model, mode, settings) \
                       VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING";
            let idle = ConversationState::Idle;
            if on.execute(sql, params![new.id, now(), idle, new.model, new.mode, settings])? == 0 {
                return Err(Error::conflict(format!("there is a conversation {:?} already", new.id)));
            }
            one(on, &new.id)?.ok_or_else(|| Error::not_found("conversation", &new.id))
        })
    }

    /// A conversation; `None` when there is none with this id.
    ///
    /// # Errors
    /// The errors of reading: [`Error::Busy`], [`Error::Timeout`], [`Error::Cancelled`], [`Error::Failed`].
    pub fn conversation(&self, id: &str, deadline: Deadline<'_>) -> Result<Option<Conversation>, Error> {
        self.read(deadline, |on| one(on, id))
    }

    /// At most `limit` conversations, the last changed first; only those in `state` if it is given, and without those of the mode
    /// `hidden`.
    ///
    /// # Errors
    /// As [`conversation`](Self::conversation).
    pub fn conversations(
        &self,
        state: Option<ConversationState>,
        hidden: Option<&str>,
        limit: usize,
        deadline: Deadline<'_>,
    ) -> Result<Vec<Conversation>, Error> {
        self.read(deadline, |on| {
            let sql = format!(
                "SELECT {COLUMNS} FROM conversations WHERE (?1 IS NULL OR state = ?1) AND mode IS NOT ?3 \
                 ORDER BY updated_at DESC, id LIMIT ?2"
            );
            let mut query = on.prepare(&sql)?;
            let mut rows = query.query(params![state, count(limit), hidden])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                all.push(conversation(row)?);
            }
            Ok(all)
        })
    }

    /// Deletes a conversation with all that belongs to it. False when there is none with this id.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn delete_conversation(&self, id: &str, deadline: Deadline<'_>) -> Result<bool, Error> {
        let id = id.to_owned();
        self.write(deadline, move |on| Ok(on.execute("DELETE FROM conversations WHERE id = ?1", [&id])? > 0))
    }

    /// Ends the runs that a crash interrupted; to be called once after opening. Conversations that were `active` become
    /// `waiting` if a question is open, otherwise `idle` and unfinished. Returns the ids of the latter. Their open intents
    /// stay open, see [`open_intents`](Self::open_intents).
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn recover(&self, deadline: Deadline<'_>) -> Result<Vec<String>, Error> {
        use ConversationState::{Active, Idle, Waiting};
        self.write(deadline, |on| {
            let sql = "UPDATE conversations SET state = ?1 WHERE state = ?2 AND EXISTS \
                       (SELECT 1 FROM questions WHERE conversation = conversations.id AND answered_at IS NULL)";
            on.execute(sql, [Waiting, Active])?;
            super::runs::recover(on)?;
            let sql = "UPDATE conversations SET state = ?1, unfinished = 1 WHERE state = ?2 RETURNING id";
            let mut query = on.prepare(sql)?;
            let ids = query.query_map([Idle, Active], |row| row.get(0))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }
}

/// A limit as SQLite takes it.
pub(super) fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn one(on: &Connection, id: &str) -> Result<Option<Conversation>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM conversations WHERE id = ?1");
    on.query_row(&sql, [id], |row| Ok(conversation(row))).optional()?.transpose()
}

/// A row with [`COLUMNS`].
fn conversation(row: &Row<'_>) -> Result<Conversation, Error> {
    Ok(Conversation {
        id: row.get(0)?,
        created_at: row.get(1)?,
        updated_at: row.get(2)?,
        state: row.get(3)?,
        model: row.get(4)?,
        mode: row.get(5)?,
        title: row.get(6)?,
        settings: parsed(row.get_ref(7)?.as_str().map_err(rusqlite::Error::from)?)?,
        usage: parsed(row.get_ref(8)?.as_str().map_err(rusqlite::Error::from)?)?,
        message_count: row.get(9)?,
        unfinished: row.get(10)?,
        images: row.get(11)?,
        last_event: row.get(12)?,
    })
}
