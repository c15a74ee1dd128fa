//! The dataset and the sites: those of the program, or of folders.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::failure::Failure;
use super::super::output::Out;
use super::args::Inputs;
use super::safety;
use cdpilot_eval::dataset::{Dataset, DatasetError};
use cdpilot_eval::{Assets, AssetsError};

pub(super) fn unusable(problem: &AssetsError) -> Failure {
    Failure::usage(problem.to_string())
}

/// The tests of a track.
pub(super) fn dataset(inputs: &Inputs, track: &str, out: &Out) -> Result<Dataset, Failure> {
    if track == safety::TRACK {
        return match inputs.dataset {
            None => Ok(safety::cases()?.dataset()),
            Some(_) => {
                Err(Failure::usage("--dataset is for the browse track; the cases of the safety track are fixed"))
            }
        };
    }
    let faulty = |problem: DatasetError| Failure::usage(problem.to_string());
    let Some(folder) = &inputs.dataset else {
        return Dataset::load(&Assets::embedded("dataset"), Some(&Assets::embedded("fixtures"))).map_err(faulty);
    };
    let tests = Assets::folder(folder).map_err(|problem| unusable(&problem))?;
    let beside = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let places = [folder.join("fixtures"), beside.parent().unwrap_or(Path::new(".")).join("fixtures")];
    let traces = places.iter().find(|place| place.is_dir()).map(|place| Assets::folder(place)).transpose();
    let traces = traces.map_err(|problem| unusable(&problem))?;
    if traces.is_none() {
        out.warning(&format!(
            "warning: {} has no fixtures; the criteria of its tests are not verified",
            folder.display()
        ));
    }
    Dataset::load(&tests, traces.as_ref()).map_err(faulty)
}

/// The text of a routine: one of the program, or of a file beside the folder of the dataset.
pub(super) fn routine(dataset: Option<&Path>, file: &str) -> Result<String, Failure> {
    let unreadable = |why: String| Failure::usage(format!("cannot read the routine {file}: {why}"));
    let (assets, path) = match dataset {
        None => (Assets::embedded("routines"), file.strip_prefix("routines/").unwrap_or(file)),
        Some(folder) => {
            let beside = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            let beside = beside.parent().unwrap_or(Path::new(".")).to_owned();
            (Assets::folder(&beside).map_err(|problem| unusable(&problem))?, file)
        }
    };
    let bytes = assets.read(path).map_err(|problem| unusable(&problem))?;
    let bytes = bytes.ok_or_else(|| unreadable("there is no such file".to_owned()))?;
    String::from_utf8(bytes.into_owned()).map_err(|_| unreadable("it is not UTF-8".to_owned()))
}

/// What perfect play of a test takes: what the oracle needed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct PerfectPlay {
    /// Calls of tools.
    pub(super) steps: u64,
    pub(super) seconds: f64,
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
}

/// Perfect play by test: the file `oracle.json` beside the tests, if there is one.
pub(super) fn perfect_play(dataset: Option<&Path>) -> BTreeMap<String, PerfectPlay> {
    let assets = dataset.map_or_else(|| Some(Assets::embedded("dataset")), |folder| Assets::folder(folder).ok());
    let file = assets.and_then(|assets| assets.read("oracle.json").ok().flatten());
    file.and_then(|file| serde_json::from_slice(&file).ok()).unwrap_or_default()
}

/// The sites.
pub(super) fn sites(folder: Option<&Path>) -> Result<Assets, Failure> {
    folder.map_or_else(
        || Ok(Assets::embedded("sites")),
        |folder| Assets::folder(folder).map_err(|problem| unusable(&problem)),
    )
}
