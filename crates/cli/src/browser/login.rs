//! `cdpilot state`: saves cookies and storage of all origins to a file, and restores them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use super::super::client::Request;
use super::super::failure::Failure;
use super::super::files::{self, Readers};
use super::call::{Call, Tab};
use super::show;
use cdpilot::code::Code;
use cdpilot::page::STATE_FORMAT;
use cdpilot_server::api::{self, operations as op};

/// Size limit for saved states, bytes.
const MOST: u64 = 96 << 20;
/// The `format` of states that earlier versions encrypted.
const ENCRYPTED: &str = "cdpilot-state-encrypted";

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
    /// Overwrite a file that is not a saved state
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    tab: Tab,
}

/// Output file for the state in an answer.
#[derive(Debug)]
pub(super) struct StateFile(PathBuf);

impl State {
    pub(super) fn call(&self) -> Result<Call, Failure> {
        match &self.what {
            What::Save(save) => save.call(),
            What::Load { file, tab } => {
                let state = serde_json::from_str::<Map<String, Value>>(&text_of(file)?).map_err(|_| {
                    refused(file, "not a saved state (not a JSON object); give a file written by `cdpilot state save`")
                })?;
                if state.get("format").is_some_and(|format| format == ENCRYPTED) {
                    let why = "an earlier version of cdpilot encrypted it, and this version does not decrypt states; load it \
                               with that version, and save it again without --encrypt";
                    return Err(refused(file, why));
                }
                let request = Request::new(op::LOAD_STATE, &api::LoadStateBody { state });
                Ok(Call::new(tab.of(request), show::state_loaded))
            }
        }
    }
}

impl Save {
    fn call(&self) -> Result<Call, Failure> {
        if !self.force {
            may_be_overwritten(&self.file)?;
        }
        let origins = (!self.origin.is_empty()).then(|| self.origin.clone());
        let request = Request::new(op::SAVE_STATE, &api::SaveStateBody { origins });
        let call = Call::new(self.tab.of(request), show::state_saved);
        Ok(Call { keep: Some(StateFile(self.file.clone())), ..call })
    }
}

impl StateFile {
    /// Writes the state to the file, and replaces it in the answer by the path.
    pub(super) fn write(&self, answer: &mut Value) -> Result<(), Failure> {
        let state = answer.as_object_mut().and_then(|answer| answer.remove("state"));
        let state = state.ok_or_else(|| Failure::new(Code::Internal, "the server's answer has no state; it may be of another version: restart it with `cdpilot serve --stop`"))?;
        let failed =
            |problem: io::Error| Failure::new(Code::Internal, format!("cannot write {}: {problem}", self.0.display()));
        let file = std::path::absolute(&self.0).map_err(failed)?;
        // Not indented: indentation would multiply the size of large databases.
        files::write(&file, Readers::Owner, format!("{state}\n").as_bytes()).map_err(failed)?;
        answer["path"] = file.display().to_string().into();
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
            || json["format"] == ENCRYPTED
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
