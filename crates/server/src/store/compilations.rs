//! Compilations of recordings: their state is stored with the recording, as JSON with the fields `status` and `conversation_id`.

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

use super::{Error, NewRoutine, Store, StoredRecording, StoredRoutine, recordings, routines, text_of};
use cdpilot::sync::Deadline;

/// The mode of their conversations, which lists and searches leave out.
pub(crate) const COMPILE_MODE: &str = "compile";

impl Store {
    /// Stores the state of a compilation that begins. Returns the recording as it was before: its compilation has ended.
    ///
    /// # Errors
    /// [`Error::NotFound`]; the errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn begin_compilation(
        &self,
        recording: &str,
        state: &Value,
        deadline: Deadline<'_>,
    ) -> Result<StoredRecording, Error> {
        let (id, state) = (recording.to_owned(), text_of(state)?);
        self.write(deadline, move |on| {
            let before = recordings::existing(on, &id)?;
            on.execute("UPDATE recordings SET compile = ?2 WHERE id = ?1", params![id, state])?;
            Ok(before)
        })
    }

    /// Replaces the state of a compilation, unless another conversation has begun to compile the recording, or it was saved.
    ///
    /// # Errors
    /// [`Error::NotFound`]; the errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn change_compilation(
        &self,
        recording: &str,
        conversation: &str,
        state: &Value,
        deadline: Deadline<'_>,
    ) -> Result<(), Error> {
        let (recording, conversation, state) = (recording.to_owned(), conversation.to_owned(), state.clone());
        self.write(deadline, move |on| {
            recordings::existing(on, &recording)?;
            apply(on, &conversation, &recording, &state)
        })
    }

    /// Stores a routine that was made from a recording, and the state of the compilation after it. `decide` gets the present
    /// state and returns both; nothing is stored after an error.
    ///
    /// # Errors
    /// [`Error::NotFound`]; those of `decide`; [`Error::Conflict`] when the name of the routine is in use; the errors of writing, see
    /// [`create_conversation`](Self::create_conversation).
    pub fn finish_compilation(
        &self,
        recording: &str,
        mut decide: impl FnMut(&StoredRecording) -> Result<(NewRoutine, Value), Error> + Send + 'static,
        deadline: Deadline<'_>,
    ) -> Result<StoredRoutine, Error> {
        let id = recording.to_owned();
        self.write(deadline, move |on| {
            let (routine, state) = decide(&recordings::existing(on, &id)?)?;
            let created = routines::create(on, &routine)?;
            on.execute("UPDATE recordings SET compile = ?2 WHERE id = ?1", params![id, text_of(&state)?])?;
            Ok(created)
        })
    }

    /// Marks the compilations that a crash has interrupted: `status` becomes `error`, and `error` is set. To be called once after
    /// opening.
    ///
    /// # Errors
    /// The errors of writing, see [`create_conversation`](Self::create_conversation).
    pub fn recover_compilations(&self, error: &Value, deadline: Deadline<'_>) -> Result<(), Error> {
        let error = text_of(error)?;
        self.write(deadline, move |on| {
            let sql = "UPDATE recordings SET compile = json_set(compile, '$.status', 'error', '$.error', json(?1)) \
                       WHERE json_extract(compile, '$.status') = 'running'";
            on.execute(sql, [&error])?;
            Ok(())
        })
    }
}

/// Replaces the state of a compilation, if it is that of this conversation. One that was saved does not change any more.
pub(super) fn apply(on: &Connection, conversation: &str, recording: &str, state: &Value) -> Result<(), Error> {
    let sql = "SELECT json_extract(compile, '$.conversation_id'), json_extract(compile, '$.status') FROM recordings WHERE id = ?1";
    let present: Option<(Option<String>, Option<String>)> =
        on.query_row(sql, [recording], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((owner, status)) = present else { return Ok(()) };
    if owner.as_deref() == Some(conversation) {
        if status.as_deref() == Some("completed") {
            return Err(Error::conflict("the routine of this compilation was saved meanwhile"));
        }
        on.execute("UPDATE recordings SET compile = ?2 WHERE id = ?1", params![recording, text_of(state)?])?;
    }
    Ok(())
}
