//! Uploading files.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::guard::check_upload;
use super::super::{Outcome, Tool, ToolContext, ToolError};
use super::{Browser, BrowserTools, soon};
use cdpilot::page::Upload;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Files {
    /// Files below uploads/ of the cdpilot home
    paths: Vec<String>,
    /// File input [the next file chooser]
    r#ref: Option<String>,
    target: Option<String>,
}

pub(super) fn all(browser: &BrowserTools) -> Vec<Tool> {
    let browser = browser.clone();
    vec![Tool::of(
        "browser_upload",
        "Upload files to a file input, or to the next file chooser.",
        move |call, files| upload(&browser.on(call), call, files),
    )]
}

fn upload(browser: &Browser<'_>, call: &ToolContext<'_>, files: Files) -> Result<Outcome, ToolError> {
    let ours = browser.control.files();
    let checked: Result<Vec<PathBuf>, _> = files.paths.iter().map(|path| ours.check_upload(Path::new(path))).collect();
    let paths = checked?;
    let handle = browser.tab(files.target.as_deref())?;
    check_upload(call, &handle, &paths)?;
    let tab = handle.tab;
    // Files for a file chooser stay armed after this call.
    let until = match &files.r#ref {
        Some(_) => soon(call),
        None => call.deadline.renewed(cdpilot::supervisor::Supervisor::CHOOSER_LIMIT),
    };
    let given = match tab.arm_chooser(&paths, files.r#ref.as_deref(), until)? {
        Upload::Done(given) => Some(given),
        Upload::Armed(_) => None,
    };
    let names: Vec<String> =
        paths.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    let mut outcome = Outcome::default()
        .with("uploaded", given.is_some())
        .with("armed", given.is_none())
        .with("count", paths.len())
        .with("files", json!(names));
    if let Some(given) = given {
        let mut element = json!({ "ref": given.reference, "role": given.shown.role, "name": given.shown.name });
        if given.cleared {
            element["note"] = "the field is empty again: the page has taken the files, or has refused them".into();
        }
        outcome = outcome.with("element", element);
    }
    Ok(browser.finished(outcome))
}
