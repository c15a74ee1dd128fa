//! Recordings as one JSON file: `{format, recording, events, keyframes}`.
//!
//! A file that is imported is untrusted. Its size, depth, counts, addresses and images are checked, invisible characters
//! are removed from names, and nothing in it runs.

mod checks;
mod error;
#[cfg(test)]
mod limits_tests;
mod pictures;
mod raw;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cdpilot::fields::{self, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::event::Event;
pub(super) use checks::{
    MAX_EVENTS, MAX_NAME, Notes, address, clean, event as check_event, is_invisible, length, many,
};
pub use error::ImportError;
use pictures::MAX_PICTURES;
pub(super) use raw::{check_depth, parse};

/// Value of `format` in a file.
pub const FORMAT: &str = "cdpilot-recording/v1";

/// Fields of a recording that belong to one server and are not exported.
const LOCAL: [&str; 3] = ["browser_id", "compile", "routine_ids"];
/// The longest note of what the recording is for, in bytes.
const MAX_NOTE: usize = 64 << 10;

/// A screenshot of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Index of the event.
    pub event_index: u64,
    /// Whether it shows the page after the event.
    pub after: bool,
    /// `image/jpeg` or `image/png`.
    pub media_type: String,
    /// The encoded image.
    pub bytes: Vec<u8>,
}

/// A recording from a file, after its checks.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedRecording {
    /// Facts about the recording.
    pub recording: Header,
    /// The events, with increasing `event_index`. Their paths of screenshots are removed.
    pub events: Vec<Event>,
    /// Screenshots of the events, in the order of the file.
    pub keyframes: Vec<Picture>,
    /// Changes and removals, in sentences.
    pub notes: Vec<String>,
}

/// Facts about a recording in a file. Other fields belong to the server that recorded it and are not imported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Header {
    /// Its name.
    pub name: Option<String>,
    /// Purpose of the recording, in the person's words.
    pub intent_note: Option<String>,
    /// The first address.
    pub start_url: Option<String>,
    /// Size of the viewport, in CSS pixels.
    pub viewport: Option<Viewport>,
    /// When it began, in seconds since 1970.
    pub started_at: Option<f64>,
    /// When it ended, in seconds since 1970.
    pub stopped_at: Option<f64>,
}

/// Size of a viewport, in CSS pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RecordedViewport")]
pub struct Viewport {
    /// Its width.
    pub width: u32,
    /// Its height.
    pub height: u32,
}

/// Fields of `recording` that are accepted and not imported.
const NOT_IMPORTED: [&str; 11] = [
    "recording_id",
    "status",
    "paused",
    "launch_mode",
    "profile",
    "stop_reason",
    "event_count",
    "gaps",
    "compile",
    "routine_ids",
    "conversation_id",
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: String,
    #[serde(default)]
    recording: Header,
    events: Vec<Event>,
    #[serde(default)]
    keyframes: Vec<EncodedPicture>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EncodedPicture {
    event_index: u64,
    #[serde(default)]
    after: bool,
    media_type: String,
    base64: String,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(fields::schema_of::<File>);
static EVENT_SCHEMA: LazyLock<Value> = LazyLock::new(fields::schema_of::<Event>);

/// A recording as the text of one file. `recording` is the recording as the HTTP API shows it.
///
/// # Errors
/// When `recording` cannot be written as a JSON object.
pub fn export(
    recording: &impl Serialize,
    events: &[Event],
    keyframes: &[Picture],
) -> Result<String, serde_json::Error> {
    let mut recording: Map<String, Value> = serde_json::from_value(serde_json::to_value(recording)?)?;
    recording.retain(|key, _| !LOCAL.contains(&key.as_str()));
    let keyframes = keyframes.iter().map(|picture| {
        serde_json::to_value(EncodedPicture {
            event_index: picture.event_index,
            after: picture.after,
            media_type: picture.media_type.clone(),
            base64: STANDARD.encode(&picture.bytes),
        })
    });
    let events = events.iter().map(exported);
    let file = object([
        ("format", FORMAT.into()),
        ("recording", recording.into()),
        ("events", events.collect::<Result<_, _>>()?),
        ("keyframes", keyframes.collect::<Result<_, _>>()?),
    ]);
    Ok(Value::Object(file).to_string())
}

/// An event without the paths of its screenshots, which are valid on this server only.
pub(super) fn exported(event: &Event) -> Result<Value, serde_json::Error> {
    let timestamp = if event.timestamp.is_finite() { event.timestamp } else { 0.0 };
    serde_json::to_value(Event { timestamp, keyframe: None, keyframe_after: None, ..event.clone() })
}

/// Reads a file of [`export`], as untrusted text.
///
/// # Errors
/// The first part that is not accepted.
pub fn import(content: &str) -> Result<ImportedRecording, ImportError> {
    read(raw::parse(content)?)
}

/// Reads a file of [`export`] that was parsed already, as untrusted content.
///
/// # Errors
/// The first part that is not accepted.
pub fn read(mut value: Value) -> Result<ImportedRecording, ImportError> {
    check_depth(&value)?;
    check_format(&value)?;
    check_counts(&value)?;
    if let Some(recording) = value.get_mut("recording").and_then(Value::as_object_mut) {
        recording.retain(|key, _| !NOT_IMPORTED.contains(&key.as_str()));
    }
    let file: File = fields::read(value, &SCHEMA, Style::Exact).map_err(misfit)?;
    let mut notes = Notes::default();
    let recording = header(file.recording)?;
    let mut events = file.events;
    let mut last = 0;
    for (position, event) in events.iter_mut().enumerate() {
        let place = format!("events[{position}]");
        checks::event(&place, event, &mut notes)?;
        if event.event_index <= last {
            let problem = format!("{} follows {last}", event.event_index);
            let advice = "write the events in the order of event_index, each index once";
            return Err(ImportError::new(format!("{place}.event_index"), problem, advice));
        }
        last = event.event_index;
    }
    let keyframes = keyframes(file.keyframes, &events)?;
    Ok(ImportedRecording { recording, events, keyframes, notes: notes.into_vec() })
}

/// An event from outside, which is not part of a file of [`export`].
pub(super) fn read_event(place: &str, value: Value, notes: &mut Notes) -> Result<Event, ImportError> {
    let mut event: Event = fields::read(value, &EVENT_SCHEMA, Style::Exact).map_err(|problem| {
        let error = misfit(problem);
        let at = if error.place().is_empty() { place.to_owned() } else { format!("{place}.{}", error.place()) };
        error.moved(at)
    })?;
    checks::event(place, &mut event, notes)?;
    Ok(event)
}

fn check_format(value: &Value) -> Result<(), ImportError> {
    let Some(file) = value.as_object() else {
        return Err(ImportError::new("", "the file is not a JSON object", "import the file as it was exported"));
    };
    match file.get("format").and_then(Value::as_str) {
        Some(FORMAT) => Ok(()),
        Some(other) => {
            let other: String = other.chars().filter(|c| !is_invisible(*c)).take(40).collect();
            let problem = format!("{other:?} is not a known format");
            Err(ImportError::new("format", problem, format!("write {FORMAT:?}")))
        }
        None if file.contains_key("steps") => {
            let problem = "this looks like a recording of Chrome DevTools";
            Err(ImportError::new("format", problem, "import it as devtools"))
        }
        None => Err(ImportError::new("format", "the format is missing", format!("write {FORMAT:?}"))),
    }
}

/// Checks counts before anything is built from the lists.
fn check_counts(value: &Value) -> Result<(), ImportError> {
    for (key, most) in [("events", MAX_EVENTS), ("keyframes", MAX_PICTURES)] {
        many(key, value.get(key).and_then(Value::as_array).map_or(0, Vec::len), most)?;
    }
    Ok(())
}

fn misfit(misfit: fields::Misfit) -> ImportError {
    let advice = match &misfit.problem {
        fields::Problem::Missing { .. } => "add it",
        fields::Problem::Unknown { .. } => "remove it",
        _ => "correct it",
    };
    let problem = match &misfit.problem {
        fields::Problem::Missing { .. } => "the field is missing".to_owned(),
        problem => problem.to_string(),
    };
    ImportError::new(misfit.at, problem, advice)
}

fn header(mut header: Header) -> Result<Header, ImportError> {
    if let Some(name) = &mut header.name {
        clean(name);
        *name = name.trim().to_owned();
        if name.chars().count() > MAX_NAME {
            let problem = format!("the name has more than {MAX_NAME} characters");
            return Err(ImportError::new("recording.name", problem, "shorten it"));
        }
    }
    header.name = header.name.filter(|name| !name.is_empty());
    if let Some(note) = &header.intent_note {
        length("recording.intent_note", note, MAX_NOTE)?;
    }
    if let Some(url) = &header.start_url {
        address("recording.start_url", url)?;
    }
    for (key, time) in [("started_at", header.started_at), ("stopped_at", header.stopped_at)] {
        if time.is_some_and(|time| !(0.0..=1e11).contains(&time)) {
            let place = format!("recording.{key}");
            return Err(ImportError::new(place, "not a valid time", "write seconds since 1970"));
        }
    }
    Ok(header)
}

fn keyframes(encoded: Vec<EncodedPicture>, events: &[Event]) -> Result<Vec<Picture>, ImportError> {
    let known: BTreeSet<u64> = events.iter().map(|event| event.event_index).collect();
    let mut seen = BTreeSet::new();
    let mut pictures = Vec::new();
    for (position, picture) in encoded.into_iter().enumerate() {
        let place = format!("keyframes[{position}]");
        let index = picture.event_index;
        if !known.contains(&index) {
            let problem = format!("there is no event {index}");
            let advice = "write the event_index of an event of this file";
            return Err(ImportError::new(format!("{place}.event_index"), problem, advice));
        }
        if !seen.insert((index, picture.after)) {
            let when = if picture.after { "after" } else { "before" };
            let problem = format!("event {index} has a screenshot from {when} it already");
            return Err(ImportError::new(place, problem, "write one before and one after each event"));
        }
        let bytes = pictures::decode(&place, &picture.media_type, &picture.base64)?;
        pictures.push(Picture { event_index: index, after: picture.after, media_type: picture.media_type, bytes });
    }
    Ok(pictures)
}

/// The parts of `data` that are objects, for callers that build events.
pub(super) fn object<const N: usize>(parts: [(&str, Value); N]) -> Map<String, Value> {
    parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
