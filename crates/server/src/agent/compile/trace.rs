//! The trace of a compilation: a file in the home with all messages, for people who want to know why a routine is as it is.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::agent::agents::Inner;
use crate::agent::now;
use crate::compile::Compilation;

/// Folder below that of traces.
const FOLDER: &str = "compiler";
/// Longest text in a trace, in characters.
const MOST_TEXT: usize = 20_000;

/// The path of the trace of a compilation that begins now: its name has the id of the recording and the time in milliseconds since 1970.
pub(super) fn path(inner: &Inner, recording: &str) -> String {
    let at = (now() * 1_000.0) as u64;
    let file = inner.control.home().traces().join(FOLDER).join(format!("{recording}_{at}.json"));
    file.display().to_string()
}

/// Writes the trace; messages are without secrets already. A failure is logged, and the state has no path then.
pub(super) fn write(inner: &Inner, recording: &str, state: &mut Compilation, messages: &[Value]) {
    let Some(path) = state.trace_path.clone() else { return };
    let mut messages = messages.to_vec();
    messages.iter_mut().for_each(shorten);
    let trace = json!({
        "recording_id": recording,
        "conversation_id": state.conversation_id,
        "model": state.model,
        "status": state.status,
        "error": state.error,
        "written_at": now(),
        "exclude": state.exclude,
        "questions": state.asked,
        "feedback": state.feedback,
        "routine": state.review,
        "messages": messages,
    });
    let folder = inner.control.home().traces().join(FOLDER);
    let text = serde_json::to_string_pretty(&trace).unwrap_or_default();
    let written = private_folder(&folder).and_then(|()| private_file(path.as_ref(), text.as_bytes()));
    if let Err(problem) = written {
        tracing::warn!(%recording, %problem, "the trace of a compilation cannot be written");
        state.trace_path = None;
    }
}

/// Creates a folder for its owner only.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes a file for its owner only.
fn private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

/// Cuts long texts.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((at, _)) = text.char_indices().nth(MOST_TEXT) {
                text.truncate(at);
                text.push('…');
            }
        }
        Value::Array(all) => all.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

/// Removes the traces of a recording.
pub(super) fn remove(inner: &Inner, recording: &str) {
    let folder = inner.control.home().traces().join(FOLDER);
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        if file.file_name().to_string_lossy().starts_with(&format!("{recording}_")) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}
