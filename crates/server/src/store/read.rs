//! Messages, events and images of a conversation.

use rusqlite::{OptionalExtension as _, params};
use serde_json::Value;

use super::conversations::count;
use super::{Error, Store, parsed};
use cdpilot::sync::Deadline;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// Its number, from 1 without gaps.
    pub n: u64,
    /// Its content, as given.
    pub body: Value,
}

/// An event of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// Its id, from 1 without gaps.
    pub id: u64,
    /// Its time, in seconds since 1970.
    pub ts: f64,
    /// Its name, such as `agent_event`.
    pub event: String,
    /// Its data, as JSON text on one line.
    pub data: String,
}

/// An image of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// The encoded image.
    pub bytes: Vec<u8>,
}

impl Store {
    /// What the agent of a conversation did in pages, as events of a recording. Empty for an unknown conversation.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn actions(&self, conversation: &str, deadline: Deadline<'_>) -> Result<Vec<Value>, Error> {
        self.read(deadline, |on| {
            let mut query = on.prepare("SELECT body FROM actions WHERE conversation = ?1 ORDER BY n")?;
            let mut rows = query.query([conversation])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let body: String = row.get(0)?;
                all.push(parsed(&body)?);
            }
            Ok(all)
        })
    }

    /// At most `limit` messages of a conversation from number `from_n` on. Empty for an unknown conversation.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn messages(
        &self,
        conversation: &str,
        from_n: u64,
        limit: usize,
        deadline: Deadline<'_>,
    ) -> Result<Vec<StoredMessage>, Error> {
        self.read(deadline, |on| {
            let sql = "SELECT n, body FROM messages WHERE conversation = ?1 AND n >= ?2 ORDER BY n LIMIT ?3";
            let mut query = on.prepare(sql)?;
            let mut rows = query.query(params![conversation, number(from_n), count(limit)])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let body: String = row.get(1)?;
                all.push(StoredMessage { n: row.get(0)?, body: parsed(&body)? });
            }
            Ok(all)
        })
    }

    /// At most `limit` events of a conversation with ids above `after_id`, in order. Empty for an unknown conversation.
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn events(
        &self,
        conversation: &str,
        after_id: u64,
        limit: usize,
        deadline: Deadline<'_>,
    ) -> Result<Vec<StoredEvent>, Error> {
        self.read(deadline, |on| {
            let sql = "SELECT id, ts, event, data FROM events WHERE conversation = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
            let mut query = on.prepare(sql)?;
            let rows = query.query_map(params![conversation, number(after_id), count(limit)], |row| {
                Ok(StoredEvent { id: row.get(0)?, ts: row.get(1)?, event: row.get(2)?, data: row.get(3)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// An image of a conversation; `None` when there is none with this number, or when it is no longer
    /// [kept](super::KEPT_IMAGES).
    ///
    /// # Errors
    /// The errors of reading, see [`conversation`](Self::conversation).
    pub fn image(&self, conversation: &str, n: u64, deadline: Deadline<'_>) -> Result<Option<Image>, Error> {
        self.read(deadline, |on| {
            let sql = "SELECT media_type, bytes FROM images WHERE conversation = ?1 AND n = ?2";
            let image = on.query_row(sql, params![conversation, number(n)], |row| {
                Ok(Image { media_type: row.get(0)?, bytes: row.get(1)? })
            });
            Ok(image.optional()?)
        })
    }
}

/// A number as SQLite takes it: clients may send larger ones.
fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
