//! Files into pages.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::{Call, Outcome, Tool, ToolError};
use super::{Browser, soon};
use crate::page::Upload;
use crate::sync::Deadline;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Files {
    /// Below uploads/ of cdpilot's home
    paths: Vec<String>,
    /// The file input; without it they wait for the next file chooser
    r#ref: Option<String>,
    target: Option<String>,
}

pub(super) fn all(browser: &Browser) -> Vec<Tool> {
    let browser = browser.clone();
    vec![Tool::of("browser_upload", "Give files to a file input, or to the next file chooser.", move |call, files| {
        upload(&browser, call, files)
    })]
}

fn upload(browser: &Browser, call: &Call<'_>, files: Files) -> Result<Outcome, ToolError> {
    let ours = browser.control.files();
    let checked: Result<Vec<PathBuf>, _> = files.paths.iter().map(|path| ours.check_upload(Path::new(path))).collect();
    let paths = checked?;
    let tab = browser.tab(files.target.as_deref())?.tab;
    // Files that wait do so after this call has been answered.
    let until = match &files.r#ref {
        Some(_) => soon(call),
        None => Deadline::after(crate::supervisor::Supervisor::CHOOSER_LIMIT),
    };
    let armed = matches!(tab.arm_chooser(&paths, files.r#ref.as_deref(), until)?, Upload::Armed(_));
    Ok(browser.told(Outcome::default().with("uploaded", !armed).with("armed", armed).with("count", paths.len())))
}
