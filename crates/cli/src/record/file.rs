//! Files of recordings.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::super::chat::link::Link;
use super::super::client::Request;
use super::super::failure::{Exit, Failure};
use super::super::files::{self, Readers};
use super::super::output::{Out, clean, one_line};
use super::{find, lines};
use cdpilot::code::Code;
use cdpilot_server::api::operations as op;
use cdpilot_server::api::{ExportRecording, ImportRecording, RecordingFormat};

/// Size limit of a file, in bytes.
const MOST: u64 = 64 << 20;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// That of cdpilot: events and screenshots
    Cdpilot,
    /// That of the Recorder of Chrome DevTools
    Devtools,
}

impl From<Format> for RecordingFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Cdpilot => Self::Cdpilot,
            Format::Devtools => Self::Devtools,
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct Export {
    /// ID or name of the recording [default: the active one, else the last one]
    id: Option<String>,
    /// Format of the file
    #[arg(long, value_enum, default_value = "cdpilot")]
    format: Format,
    /// Output file [default: stdout]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct Import {
    /// File to import; - is stdin
    file: String,
    /// Format of the file [default: recognised by its content]
    #[arg(long, value_enum)]
    format: Option<Format>,
}

pub(super) fn export(link: &Link<'_>, args: &Export, out: &Out) -> Result<Exit, Failure> {
    if let Some(path) = &args.out {
        files::check_folder(path)?;
    }
    let id = find::active_or_last(link, args.id.as_deref())?;
    let query = ExportRecording { format: args.format.into() };
    let mut answer = link.ask(&Request::at(op::EXPORT_RECORDING, &[&id]).and(&query))?;
    let Some(path) = &args.out else {
        out.object(&answer);
        out.line(&pretty(&answer["content"])?);
        return Ok(Exit::Done);
    };
    let text = pretty(&answer["content"].take())? + "\n";
    // What was typed is in it.
    files::write(path, Readers::Owner, text.as_bytes())
        .map_err(|problem| Failure::new(Code::Internal, format!("cannot write {}: {problem}", path.display())))?;
    if let Some(fields) = answer.as_object_mut() {
        fields.remove("content");
        fields.insert("path".to_owned(), path.display().to_string().into());
    }
    out.object(&answer);
    out.line(&format!("wrote {}", path.display()));
    Ok(Exit::Done)
}

fn pretty(content: &Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(content)
        .map_err(|problem| Failure::internal(format!("the export cannot be written: {problem}")))
}

pub(super) fn import(link: &Link<'_>, args: &Import, out: &Out) -> Result<Exit, Failure> {
    let text = files::read_text(&args.file, MOST)?;
    let content: Value = serde_json::from_str(&text)
        .map_err(|problem| Failure::usage(format!("{} is not JSON: {problem}", clean(&args.file))))?;
    let format = args.format.map(Into::into).or_else(|| recognised(&content)).ok_or_else(|| {
        let problem =
            format!("the format of {} is not known; give --format cdpilot or --format devtools", clean(&args.file));
        Failure::usage(problem)
    })?;
    let answer = link.ask(&Request::new(op::IMPORT_RECORDING, &ImportRecording { format, content }))?;
    out.object(&answer);
    out.line(&format!("imported {}", lines::recording(&answer["recording"])));
    for note in answer["notes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        out.aside(&one_line(note));
    }
    Ok(Exit::Done)
}

/// The format of a file: that of cdpilot names itself, that of DevTools has steps.
fn recognised(content: &Value) -> Option<RecordingFormat> {
    if content["format"].is_string() {
        return Some(RecordingFormat::Cdpilot);
    }
    content["steps"].is_array().then_some(RecordingFormat::Devtools)
}
