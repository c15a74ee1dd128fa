//! What the agent was about to do (intents) and what it asks the user (questions).

use rusqlite::{OptionalExtension as _, Row};
use serde_json::Value;

use super::texts::texts;
use super::{Error, Store, parsed};
use cdpilot::sync::Deadline;

texts! {
    /// How a tool call ended.
    IntentOutcome {
        /// `done`: it has succeeded.
        Done = "done",
        /// `failed`: it has failed.
        Failed = "failed",
        /// `unknown`: a crash interrupted it; it may have had its effect.
        Unknown = "unknown",
    }
}

texts! {
    /// What a question asks for.
    QuestionKind {
        /// `help`: something that only a person can do.
        Help = "help",
        /// `clarify`: missing information.
        Clarify = "clarify",
        /// `approval`: permission for an action.
        Approval = "approval",
    }
}

/// A tool call that was stored before it was performed.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    /// Its place in the order of all intents of the database.
    pub n: u64,
    /// Id of the call, as the model gave it.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub arguments: Value,
    /// When it was stored, in seconds since 1970.
    pub at: f64,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its id, as given.
    pub id: String,
    /// Id of the conversation.
    pub conversation: String,
    /// Id of the tool call that asks.
    pub call_id: String,
    /// What it asks for.
    pub kind: QuestionKind,
    /// Its content, as given.
    pub body: Value,
    /// When it was asked, in seconds since 1970.
    pub asked_at: f64,
    /// The answer, as given; `None` while it is open.
    pub answer: Option<Value>,
    /// When it was answered, in seconds since 1970.
    pub answered_at: Option<f64>,
}

const QUESTION: &str = "SELECT id, conversation, call_id, kind, body, asked_at, answer, answered_at FROM questions";

impl Store {
    /// The intents of a conversation that are not closed, in the order in which they were opened.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn open_intents(&self, conversation: &str, deadline: Deadline<'_>) -> Result<Vec<Intent>, Error> {
        self.read(deadline, |on| {
            let sql = "SELECT n, call_id, tool, arguments, at FROM intents \
                       WHERE conversation = ?1 AND outcome IS NULL ORDER BY n";
            let mut query = on.prepare(sql)?;
            let mut rows = query.query([conversation])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let arguments: String = row.get(3)?;
                all.push(Intent {
                    n: row.get(0)?,
                    call_id: row.get(1)?,
                    tool: row.get(2)?,
                    arguments: parsed(&arguments)?,
                    at: row.get(4)?,
                });
            }
            Ok(all)
        })
    }

    /// The newest question of a conversation that is not answered.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn open_question(&self, conversation: &str, deadline: Deadline<'_>) -> Result<Option<Question>, Error> {
        self.read(deadline, |on| {
            let sql = format!("{QUESTION} WHERE conversation = ?1 AND answered_at IS NULL ORDER BY n DESC LIMIT 1");
            on.query_row(&sql, [conversation], |row| Ok(question(row))).optional()?.transpose()
        })
    }

    /// A question, open or answered; `None` when there is none with this id.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn question(&self, id: &str, deadline: Deadline<'_>) -> Result<Option<Question>, Error> {
        self.read(deadline, |on| {
            let sql = format!("{QUESTION} WHERE id = ?1");
            on.query_row(&sql, [id], |row| Ok(question(row))).optional()?.transpose()
        })
    }
}

fn question(row: &Row<'_>) -> Result<Question, Error> {
    let (body, answer): (String, Option<String>) = (row.get(4)?, row.get(6)?);
    Ok(Question {
        id: row.get(0)?,
        conversation: row.get(1)?,
        call_id: row.get(2)?,
        kind: row.get(3)?,
        body: parsed(&body)?,
        asked_at: row.get(5)?,
        answer: answer.as_deref().map(parsed).transpose()?,
        answered_at: row.get(7)?,
    })
}
