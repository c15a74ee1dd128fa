//! Committing a batch.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension as _, Statement, params};
use serde_json::Value;

use super::batch::REFERENCE;
use super::search::searched;
use super::{Batch, Error, IntentOutcome, KEPT_IMAGES, QuestionKind, Store, now, text_of};
use super::{compilations, runs};
use cdpilot::sync::Deadline;

/// Length of a title, in characters.
const TITLE_CHARS: usize = 100;

/// Numbers that a committed batch got. Without events, messages or images, the first number is that of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// Id of the first event of the batch.
    pub first_event: u64,
    /// Id of the newest event of the conversation.
    pub last_event: u64,
    /// Number of the first appended message.
    pub first_message: u64,
    /// Number of the newest message of the conversation.
    pub last_message: u64,
    /// Number of the first image of the batch.
    pub first_image: u64,
    /// Number of the newest image of the conversation.
    pub last_image: u64,
}

impl Store {
    /// Stores the changes of a batch in one transaction.
    ///
    /// # Errors
    /// Nothing is stored after an error, unless it is [`Error::Timeout`] or [`Error::Cancelled`] with `unknown`.
    /// [`Error::NotFound`] when there is no such conversation, message, open intent or open question. [`Error::Conflict`]
    /// when an intent or a question with the same id exists, or when a reference names an image that is not in the batch.
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn commit(&self, conversation: &str, batch: Batch, deadline: Deadline<'_>) -> Result<Committed, Error> {
        let id = conversation.to_owned();
        self.write(deadline, move |on| apply(on, &id, &batch))
    }

    /// Replaces all messages from number `from_n` (from 1) to the last one, see [`Batch::rewrite_messages`]. Returns the
    /// number of messages.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn replace_messages(
        &self,
        conversation: &str,
        from_n: u64,
        bodies: Vec<Value>,
        deadline: Deadline<'_>,
    ) -> Result<u64, Error> {
        let batch = Batch::new().rewrite_messages(from_n, bodies);
        Ok(self.commit(conversation, batch, deadline)?.last_message)
    }
}

/// Counters of a conversation.
struct Counters {
    messages: u64,
    images: u64,
    events: u64,
}

/// A conversation that a batch is applied to.
struct Target<'a> {
    on: &'a Connection,
    id: &'a str,
    at: f64,
    /// Numbers of the images of the batch.
    images: Range<u64>,
}

fn apply(on: &Connection, id: &str, batch: &Batch) -> Result<Committed, Error> {
    let sql = "SELECT message_count, images, last_event FROM conversations WHERE id = ?1";
    let before =
        on.query_row(sql, [id], |row| Ok(Counters { messages: row.get(0)?, images: row.get(1)?, events: row.get(2)? }));
    let before = before.optional()?.ok_or_else(|| Error::not_found("conversation", id))?;
    let last_image = before.images + batch.images.len() as u64;
    let target = Target { on, id, at: now(), images: before.images + 1..last_image + 1 };
    target.put_images(&batch.images)?;
    let (first_message, last_message) = target.put_messages(before.messages, batch)?;
    let last_event = target.put_events(before.events, &batch.events)?;
    target.put_actions(&batch.actions)?;
    target.open_intents(&batch.intents)?;
    target.close_intents(&batch.closed)?;
    target.ask(&batch.questions)?;
    target.answer(&batch.answers)?;
    let after = Counters { messages: last_message, images: last_image, events: last_event };
    target.update(batch, &after)?;
    if let Some(state) = batch.state {
        runs::follow(on, id, state)?;
    }
    if let Some(change) = &batch.run {
        runs::apply(on, id, change)?;
    }
    if let Some((recording, state)) = &batch.compilation {
        compilations::apply(on, id, recording, state)?;
    }
    Ok(Committed {
        first_event: before.events + 1,
        last_event,
        first_message,
        last_message,
        first_image: before.images + 1,
        last_image,
    })
}

impl Target<'_> {
    fn put_images(&self, images: &[(String, Vec<u8>)]) -> Result<(), Error> {
        if images.is_empty() {
            return Ok(());
        }
        let sql = "INSERT INTO images (conversation, n, media_type, bytes) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.on.prepare(sql)?;
        for (n, (media_type, bytes)) in self.images.clone().zip(images) {
            insert.execute(params![self.id, n, media_type, bytes])?;
        }
        let sql = "DELETE FROM images WHERE conversation = ?1 AND n < ?2";
        self.on.execute(sql, params![self.id, self.images.end.saturating_sub(KEPT_IMAGES)])?;
        Ok(())
    }

    /// Returns the numbers of the first appended message and of the newest one.
    fn put_messages(&self, count: u64, batch: &Batch) -> Result<(u64, u64), Error> {
        let mut count = count;
        let sql = "INSERT INTO messages (conversation, n, body) VALUES (?1, ?2, ?3)";
        let append = |insert: &mut Statement<'_>, n: u64, body: &Value| -> Result<(), Error> {
            insert.execute(params![self.id, n, self.text(body)?])?;
            Ok(())
        };
        let mut insert = self.on.prepare(sql)?;
        if let Some((from, bodies)) = &batch.rewritten {
            if *from == 0 || *from > count + 1 {
                return Err(Error::not_found("message", from.to_string()));
            }
            self.on.execute("DELETE FROM messages WHERE conversation = ?1 AND n >= ?2", params![self.id, from])?;
            count = from - 1;
            for body in bodies {
                count += 1;
                append(&mut insert, count, body)?;
            }
        }
        for (n, body) in &batch.replaced {
            let sql = "UPDATE messages SET body = ?3 WHERE conversation = ?1 AND n = ?2";
            if self.on.execute(sql, params![self.id, n, self.text(body)?])? == 0 {
                return Err(Error::not_found("message", n.to_string()));
            }
        }
        let first = count + 1;
        let sql = "INSERT INTO texts (conversation, at, role, body) VALUES (?1, ?2, ?3, ?4)";
        let mut insert_text = self.on.prepare(sql)?;
        for body in &batch.messages {
            count += 1;
            append(&mut insert, count, body)?;
            if let Some((role, text)) = searched(body) {
                insert_text.execute(params![self.id, self.at, role, text])?;
            }
        }
        Ok((first, count))
    }

    /// Returns the id of the newest event.
    fn put_events(&self, last: u64, events: &[(String, Value, f64)]) -> Result<u64, Error> {
        let sql = "INSERT INTO events (conversation, id, ts, event, data) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = self.on.prepare(sql)?;
        let mut last = last;
        for (event, data, ts) in events {
            last += 1;
            insert.execute(params![self.id, last, ts, event, self.text(data)?])?;
        }
        Ok(last)
    }

    fn put_actions(&self, actions: &[(u64, Value)]) -> Result<(), Error> {
        for (n, body) in actions {
            let sql = "INSERT OR REPLACE INTO actions (conversation, n, body) VALUES (?1, ?2, ?3)";
            self.on.execute(sql, params![self.id, n, text_of(body)?])?;
        }
        Ok(())
    }

    fn open_intents(&self, intents: &[(String, String, Value)]) -> Result<(), Error> {
        for (call_id, tool, arguments) in intents {
            let sql = "DELETE FROM intents WHERE conversation = ?1 AND call_id = ?2 AND outcome IS NOT NULL";
            self.on.execute(sql, params![self.id, call_id])?;
            let sql = "INSERT INTO intents (conversation, call_id, tool, arguments, at) VALUES (?1, ?2, ?3, ?4, ?5) \
                       ON CONFLICT (conversation, call_id) DO NOTHING";
            let row = params![self.id, call_id, tool, text_of(arguments)?, self.at];
            if self.on.execute(sql, row)? == 0 {
                return Err(Error::conflict(format!("the intent {call_id:?} is open already")));
            }
        }
        Ok(())
    }

    fn close_intents(&self, closed: &[(String, IntentOutcome)]) -> Result<(), Error> {
        for (call_id, outcome) in closed {
            let sql = "UPDATE intents SET outcome = ?3, closed_at = ?4 \
                       WHERE conversation = ?1 AND call_id = ?2 AND outcome IS NULL";
            if self.on.execute(sql, params![self.id, call_id, outcome, self.at])? == 0 {
                return Err(Error::not_found("open intent", call_id));
            }
        }
        Ok(())
    }

    fn ask(&self, questions: &[(String, String, QuestionKind, Value)]) -> Result<(), Error> {
        for (id, call_id, kind, body) in questions {
            let sql = "INSERT INTO questions (id, conversation, call_id, kind, body, asked_at) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING";
            let row = params![id, self.id, call_id, kind, self.text(body)?, self.at];
            if self.on.execute(sql, row)? == 0 {
                return Err(Error::conflict(format!("there is a question {id:?} already")));
            }
        }
        Ok(())
    }

    fn answer(&self, answers: &[(String, Value)]) -> Result<(), Error> {
        for (id, answer) in answers {
            let sql = "UPDATE questions SET answer = ?3, answered_at = ?4 \
                       WHERE conversation = ?1 AND id = ?2 AND answered_at IS NULL";
            if self.on.execute(sql, params![self.id, id, text_of(answer)?, self.at])? == 0 {
                return Err(Error::not_found("open question", id));
            }
        }
        Ok(())
    }

    fn update(&self, batch: &Batch, now: &Counters) -> Result<(), Error> {
        let sql = "UPDATE conversations SET updated_at = ?2, state = coalesce(?3, state), model = coalesce(?4, model), \
                   title = CASE title WHEN '' THEN coalesce(?5, '') ELSE title END, \
                   settings = coalesce(?6, settings), usage = coalesce(?7, usage), \
                   unfinished = coalesce(?8, unfinished), message_count = ?9, images = ?10, last_event = ?11 \
                   WHERE id = ?1";
        let title = batch.title.as_deref().map(|text| text.trim().chars().take(TITLE_CHARS).collect::<String>());
        let settings = batch.settings.as_ref().map(text_of).transpose()?;
        let usage = batch.usage.as_ref().map(text_of).transpose()?;
        let row = params![
            self.id,
            self.at,
            batch.state,
            batch.model,
            title,
            settings,
            usage,
            batch.unfinished,
            now.messages,
            now.images,
            now.events
        ];
        self.on.execute(sql, row)?;
        Ok(())
    }

    /// The text of an event, a message or a question, with the paths of images in place of their references.
    fn text(&self, value: &Value) -> Result<String, Error> {
        let is_reference = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(REFERENCE));
        let refers = value.get("image").is_some_and(is_reference)
            || value.get("images").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_reference));
        if !refers {
            return text_of(value);
        }
        let mut value = value.clone();
        if let Some(image) = value.get_mut("image") {
            self.resolve(image)?;
        }
        for image in value.get_mut("images").and_then(Value::as_array_mut).into_iter().flatten() {
            self.resolve(image)?;
        }
        text_of(&value)
    }

    /// Replaces a reference by the path of its image.
    fn resolve(&self, value: &mut Value) -> Result<(), Error> {
        let Some(place) = value.as_str().and_then(|text| text.strip_prefix(REFERENCE)) else { return Ok(()) };
        let n = place.parse::<u64>().ok().and_then(|place| self.images.start.checked_add(place));
        let Some(n) = n.filter(|n| self.images.contains(n)) else {
            let count = self.images.end - self.images.start;
            return Err(Error::conflict(format!(
                "{REFERENCE}{place} refers to none of the {count} images of the batch"
            )));
        };
        *value = Value::from(format!("/agent/conversations/{}/images/{n}", self.id));
        Ok(())
    }
}
