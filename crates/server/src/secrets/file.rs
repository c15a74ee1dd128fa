//! `secrets.json`: names and origins, and the values that are not in a keyring.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::config::Home;

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    secrets: BTreeMap<String, Entry>,
}

/// One secret. `Debug` is left out: it may hold the value.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) origin: String,
    /// Whether it is the key of one-time codes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) totp: bool,
    /// Fields that it may be typed into, besides those for passwords and one-time codes: their names, `name` or `id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fields: Vec<String>,
    /// `None`: it is in the keyring of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<String>,
}

/// Tells versions of the file apart: time of modification and length; `None` without a file.
pub(super) type FileVersion = Option<(SystemTime, u64)>;

pub(super) fn path(home: &Home) -> PathBuf {
    home.root().join("secrets.json")
}

pub(super) fn version(home: &Home) -> FileVersion {
    let facts = std::fs::metadata(path(home)).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

/// The secrets of a home; none without a file.
pub(super) fn read(home: &Home) -> Result<BTreeMap<String, Entry>, Error> {
    let path = path(home);
    let failed = |problem: String| Error::File { what: "read", path: path.clone(), problem };
    let text = match home.read(&path) {
        Ok(text) => text,
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(problem) => return Err(failed(problem.to_string())),
    };
    // The reason is not repeated: it may quote a value.
    let content: Content = serde_json::from_str(&text).map_err(|problem| {
        let (line, column) = (problem.line(), problem.column());
        failed(format!("it is damaged at line {line}, column {column}; delete it and store the secrets again"))
    })?;
    if content.version != VERSION {
        return Err(failed(format!(
            "it has version {}, and this program knows version {VERSION}; use the cdpilot that wrote it",
            content.version
        )));
    }
    Ok(content.secrets)
}

/// Replaces the file as a whole; readable by its owner only.
pub(super) fn write(home: &Home, secrets: &BTreeMap<String, Entry>) -> Result<(), Error> {
    let path = path(home);
    let failed =
        |problem: std::io::Error| Error::File { what: "write", path: path.clone(), problem: problem.to_string() };
    let content = Content { version: VERSION, secrets: secrets.clone() };
    let text = serde_json::to_string_pretty(&content).map_err(|problem| failed(problem.into()))?;
    // Created with mode 0600.
    let mut file = tempfile::Builder::new().prefix(".secrets").tempfile_in(home.root()).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&path).map_err(|problem| failed(problem.error))?;
    Ok(())
}
