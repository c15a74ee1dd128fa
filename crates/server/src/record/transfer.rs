//! Files of recordings: import and export. The draft of a recording.

use serde::Serialize;
use serde_json::Value;

use super::accept::{self, Metadata};
use super::interchange::{self, ImportError, ImportedRecording, Picture};
use super::recordings::{Complete, IMPORT};
use super::{Error, Recordings, STORE, devtools, draft};
use crate::store::{self, Image, RecordingPicture, StoredRecording};
use cdpilot::sync::Deadline;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// That of cdpilot.
    Cdpilot,
    /// That of the Recorder of Chrome DevTools.
    Devtools,
}

impl Recordings {
    /// The steps that the events of a recording amount to.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn draft(&self, id: &str) -> Result<draft::Draft, Error> {
        let recording = self.show(id)?;
        Ok(draft::draft(id, recording.name.as_deref(), &self.events(id, 0, usize::MAX)?))
    }

    /// A recording as the content of a file. `shown`: the recording as the HTTP API shows it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub fn export(&self, id: &str, format: Format, shown: &impl Serialize) -> Result<Value, Error> {
        let recording = self.show(id)?;
        let events = self.events(id, 0, usize::MAX)?;
        match format {
            Format::Cdpilot => {
                let pictures = self.store().recording_pictures(id, Deadline::after(STORE))?;
                let pictures: Vec<Picture> = pictures.into_iter().map(exported).collect();
                let text = interchange::export(shown, &events, &pictures);
                let content = text.and_then(|text| serde_json::from_str(&text));
                let failed = |problem| store::Error::Failed { problem: format!("the export failed: {problem}") };
                Ok(content.map_err(failed)?)
            }
            Format::Devtools => Ok(devtools::export(recording.name.as_deref().unwrap_or_default(), &events)),
        }
    }

    /// Stores a recording from the content of a file: a JSON object, or its text. Also returns what was changed or left out, in
    /// sentences.
    ///
    /// # Errors
    /// [`Error::BadRequest`] for content that is not accepted; [`Error::Store`].
    pub fn import(&self, format: Format, content: Value) -> Result<(StoredRecording, Vec<String>), Error> {
        let refused = |problem: ImportError| {
            let mark = if problem.place().is_empty() { ": " } else { "." };
            Error::bad(format!("content{mark}{problem}"))
        };
        let (mut complete, notes) = match (format, content) {
            (Format::Cdpilot, Value::String(text)) => of_cdpilot(interchange::import(&text).map_err(refused)?),
            (Format::Cdpilot, file) => of_cdpilot(interchange::read(file).map_err(refused)?),
            (Format::Devtools, Value::String(text)) => of_devtools(devtools::import(&text).map_err(refused)?),
            (Format::Devtools, file) => of_devtools(devtools::read(&file).map_err(refused)?),
        };
        complete.events.iter_mut().for_each(accept::forget_secrets);
        Ok((self.add(complete)?, notes))
    }
}

fn of_cdpilot(imported: ImportedRecording) -> (Complete, Vec<String>) {
    let ImportedRecording { recording, events, keyframes, notes } = imported;
    let complete = Complete {
        name: recording.name,
        intent_note: recording.intent_note.unwrap_or_default(),
        events,
        pictures: keyframes.into_iter().map(stored).collect(),
        metadata: Metadata { start_url: recording.start_url, profile: None, viewport: recording.viewport },
        times: (recording.started_at, recording.stopped_at),
        source: IMPORT,
    };
    (complete, notes)
}

fn of_devtools(imported: devtools::Imported) -> (Complete, Vec<String>) {
    let devtools::Imported { name, events, notes } = imported;
    let viewport = events.first().and_then(|event| event.data.get("viewport")).cloned();
    let viewport = viewport.and_then(|viewport| serde_json::from_value(viewport).ok());
    let metadata = Metadata { viewport, ..Metadata::default() };
    let name = Some(name).filter(|name| !name.is_empty());
    (Complete { name, events, metadata, source: IMPORT, ..Complete::default() }, notes)
}

fn exported(picture: RecordingPicture) -> Picture {
    let RecordingPicture { index, after, image: Image { media_type, bytes } } = picture;
    Picture { event_index: index, after, media_type, bytes }
}

fn stored(picture: Picture) -> RecordingPicture {
    let Picture { event_index, after, media_type, bytes } = picture;
    RecordingPicture { index: event_index, after, image: Image { media_type, bytes } }
}
