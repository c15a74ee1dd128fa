//! `cdpilot man`: manual pages, made from the same definition that parses.

use std::path::Path;

use clap::CommandFactory;
use serde::Serialize;

use super::args::Cli;
use super::failure::{Exit, Failure};
use super::output::Out;

pub(super) fn run(folder: Option<&Path>, out: &Out) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Made {
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        page: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    }
    let failed = |problem: std::io::Error| Failure::internal(format!("manual pages cannot be written: {problem}"));
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
        out.line(&folder.display().to_string());
        out.object(&Made { ok: true, page: None, folder: Some(folder.display().to_string()) });
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(failed)?;
    let page = String::from_utf8_lossy(&page).into_owned();
    out.text(&page);
    out.object(&Made { ok: true, page: Some(page), folder: None });
    Ok(Exit::Done)
}
