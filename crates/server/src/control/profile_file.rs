//! `profiles.json`: profiles created on request. `config.yaml` is only edited by the user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Error;
use crate::config::{self, AutoSwitch, Home};

/// A profile created on request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Stored {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cdp_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cdp_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) headless: Option<AutoSwitch>,
}

impl Stored {
    /// The profile as in `config.yaml`.
    pub(super) fn settings(&self) -> config::Profile {
        config::Profile {
            cdp_port: self.cdp_port,
            cdp_url: self.cdp_url.clone(),
            color: self.color.clone(),
            headless: self.headless,
            ..config::Profile::default()
        }
    }
}

/// All created profiles by name.
pub(super) type All = BTreeMap<String, Stored>;

fn path(home: &Home) -> PathBuf {
    home.root().join("profiles.json")
}

/// Reads the file; empty if it does not exist.
pub(super) fn read(home: &Home) -> Result<All, Error> {
    let path = path(home);
    let text = match home.read(&path) {
        Ok(text) => text,
        Err(problem) if config::is_absent(&problem) => return Ok(All::new()),
        Err(problem) => return Err(file("read", &path, &problem)),
    };
    serde_json::from_str(&text).map_err(|problem| {
        let problem = format!("{problem}; correct the file or delete it (the data of the profiles is kept)");
        Error::Config(config::Error::Syntax { path, format: "JSON", problem })
    })
}

/// Writes the file atomically, readable by its owner only: URLs in it may be secret.
pub(super) fn write(home: &Home, all: &All) -> Result<(), Error> {
    let path = path(home);
    let text = serde_json::to_vec_pretty(all).map_err(|problem| file("write", &path, &problem.into()))?;
    config::replace_file(&path, &text).map_err(|problem| file("write", &path, &problem))
}

fn file(doing: &'static str, path: &Path, problem: &std::io::Error) -> Error {
    Error::Config(config::Error::File { doing, path: path.to_owned(), problem: problem.to_string() })
}
