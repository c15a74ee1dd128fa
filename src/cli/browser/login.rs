//! `cdpilot state`: saves cookies and storage of all origins to a file, and restores them.

use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use inquire::{Password, PasswordDisplayMode};
use serde_json::{Map, Value};

use super::super::client::Request;
use super::super::failure::Failure;
use super::super::files::{self, Readers};
use super::super::seal::{self, Passphrase, SEALED};
use super::super::settings::env;
use super::call::{Call, Tab};
use super::show;
use crate::api;
use crate::code::Code;
use crate::page::STATE_FORMAT;

/// Size limit for saved states, bytes.
const MOST: u64 = 96 << 20;
/// Environment variable with the passphrase.
const VARIABLE: &str = "CDPILOT_STATE_PASSPHRASE";

#[derive(Debug, Args)]
pub(in super::super) struct State {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Save cookies, localStorage, sessionStorage and IndexedDB of all origins to a file
    Save(Save),
    /// Restore a saved state, or a storageState file of Playwright
    Load {
        /// Saved state, or storageState file of Playwright
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        secret: Secret,
        #[command(flatten)]
        tab: Tab,
    },
}

#[derive(Debug, Args)]
struct Save {
    /// Output file, readable by its owner only
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Save only this origin, for example `https://example.com`; repeatable [default: all origins]
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<String>,
    /// Encrypt the file; --passphrase-file implies this. The passphrase is read from --passphrase-file,
    /// CDPILOT_STATE_PASSPHRASE or the terminal
    #[arg(long)]
    encrypt: bool,
    /// Overwrite a file that is not a saved state
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    secret: Secret,
    #[command(flatten)]
    tab: Tab,
}

#[derive(Debug, Args)]
struct Secret {
    /// Read the passphrase from the first line of this file
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

/// Output file for the state in an answer.
#[derive(Debug)]
pub(super) struct StateFile {
    file: PathBuf,
    passphrase: Option<Passphrase>,
}

impl State {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        match &self.what {
            What::Save(save) => save.call(),
            What::Load { file, secret, tab } => {
                let text = text_of(file)?;
                let json = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
                let refused = || {
                    refused(file, "not a saved state (not a JSON object); give a file written by `cdpilot state save`")
                };
                let mut state = json(&text).ok_or_else(refused)?;
                if state.get("format").is_some_and(|format| format == SEALED) {
                    let passphrase = secret.passphrase(false)?;
                    state = json(&seal::open(&text, &passphrase)?).ok_or_else(refused)?;
                }
                let request = Request::post("/state/load").object(&api::LoadStateBody { state });
                Ok(Call::new(request.field("targetId", tab.target.clone()), show::state_loaded))
            }
        }
    }
}

impl Save {
    fn call(&self) -> Result<Call, Failure> {
        if !self.force {
            may_be_overwritten(&self.file)?;
        }
        let is_encrypted = self.encrypt || self.secret.passphrase_file.is_some();
        // Read first, so that a missing passphrase fails before the browser is used.
        let passphrase = is_encrypted.then(|| self.secret.passphrase(true)).transpose()?;
        let origins = (!self.origin.is_empty()).then(|| self.origin.clone());
        let request = Request::post("/state/save").object(&api::SaveStateBody { origins });
        let call = Call::new(request.field("targetId", self.tab.target.clone()), show::state_saved);
        Ok(Call { keep: Some(StateFile { file: self.file.clone(), passphrase }), ..call })
    }
}

impl Secret {
    /// Reads the passphrase from the file, the environment or the terminal. A new one is asked for twice.
    fn passphrase(&self, is_new: bool) -> Result<Passphrase, Failure> {
        if let Some(path) = &self.passphrase_file {
            let mut text = String::new();
            let read = File::open(path).and_then(|file| file.take(64 * 1024).read_to_string(&mut text));
            read.map_err(|problem| refused(path, &problem.to_string()))?;
            return Passphrase::new(text.lines().next().unwrap_or_default().to_owned());
        }
        if let Some(text) = env(VARIABLE) {
            return Passphrase::new(text);
        }
        if !io::stdin().is_terminal() {
            let needs = if is_new { "--encrypt needs a passphrase" } else { "the state is encrypted" };
            return Err(Failure::usage(format!(
                "{needs}, and there is no terminal to ask for the passphrase; give --passphrase-file or set {VARIABLE}"
            )));
        }
        let ask = Password::new("Passphrase of the state:").with_display_mode(PasswordDisplayMode::Hidden);
        let ask = if is_new { ask } else { ask.without_confirmation() };
        let text = ask.prompt().map_err(|problem| Failure::usage(format!("no passphrase was entered: {problem}")))?;
        Passphrase::new(text)
    }
}

impl StateFile {
    /// Writes the state to the file, and replaces it in the answer by the path.
    pub(super) fn write(&self, answer: &mut Value) -> Result<(), Failure> {
        let state = answer.as_object_mut().and_then(|answer| answer.remove("state"));
        let state = state.ok_or_else(|| Failure::new(Code::Internal, "the server's answer has no state; it may be of another version: restart it with `cdpilot serve --stop`"))?;
        let text = match &self.passphrase {
            Some(passphrase) => seal::seal(&state.to_string(), passphrase)?,
            // Not indented: indentation would multiply the size of large databases.
            None => format!("{state}\n"),
        };
        let failed = |problem: io::Error| {
            Failure::new(Code::Internal, format!("cannot write {}: {problem}", self.file.display()))
        };
        let file = std::path::absolute(&self.file).map_err(failed)?;
        files::write(&file, Readers::Owner, text.as_bytes()).map_err(failed)?;
        answer["path"] = file.display().to_string().into();
        answer["encrypted"] = self.passphrase.is_some().into();
        Ok(())
    }
}

fn refused(file: &Path, why: &str) -> Failure {
    Failure::new(Code::PathRefused, format!("cannot read {}: {why}", file.display()))
}

fn text_of(file: &Path) -> Result<String, Failure> {
    let failed = |problem: &dyn std::fmt::Display| refused(file, &problem.to_string());
    let opened = File::open(file).map_err(|problem| failed(&problem))?;
    let mut text = String::new();
    let length = opened.take(MOST + 1).read_to_string(&mut text).map_err(|problem| match problem.kind() {
        io::ErrorKind::InvalidData => refused(file, "it is not a text file"),
        _ => failed(&problem),
    })?;
    if length as u64 > MOST {
        return Err(refused(file, "it is larger than 96 MiB, the limit for saved states"));
    }
    Ok(text)
}

/// Refuses to overwrite an existing file that is not a saved state.
fn may_be_overwritten(file: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(file).is_err() {
        return Ok(());
    }
    let is_state = text_of(file).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok()).is_some_and(|json| {
        json["format"] == STATE_FORMAT
            || json["format"] == SEALED
            || (json["cookies"].is_array() && json["origins"].is_array())
    });
    match is_state {
        true => Ok(()),
        false => Err(Failure::new(
            Code::PathRefused,
            format!(
                "{} exists and is not a saved state; choose another name, or overwrite it with --force",
                file.display()
            ),
        )),
    }
}
