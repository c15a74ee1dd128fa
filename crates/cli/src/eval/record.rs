//! The files of a run: `result.json`, `track.json` (what the pages reported), `events.json` (the conversation), `images/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::failure::Failure;
use super::super::files::{Readers, write};
use super::plan::{Job, Rates};
use cdpilot::code::Code;
use cdpilot_eval::dataset::Test;
use cdpilot_eval::safety::{Cases, Seen, Verdict};
use cdpilot_eval::{Day, Facts, Places, Score};

/// The file that says that a run is over. It is written last.
pub(super) const RESULT: &str = "result.json";
pub(super) const TRACK: &str = "track.json";
pub(super) const EVENTS: &str = "events.json";
/// The conversation of a run that is in progress.
pub(super) const CONVERSATION: &str = "conversation.txt";

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Passed,
    Failed,
    /// It could not be run to its end; `cause` says why.
    Error,
}

/// Where a run took place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) a: String,
    pub(super) b: String,
    /// Days since 1970-01-01.
    pub(super) day: u64,
    pub(super) seed: u64,
}

impl Place {
    pub(super) fn places(&self) -> Places {
        Places { a: self.a.clone(), b: self.b.clone(), today: Day(self.day) }
    }
}

/// Tokens that the endpoint counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) prompt: u64,
    pub(super) cached: u64,
    pub(super) completion: u64,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) repeat: u32,
    pub(super) status: Status,
    /// Why it ended before the model said that it is done.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) cause: Option<String>,
    /// Whether the cause is an error of the run, and not the doing of the model.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(super) broken: bool,
    pub(super) place: Place,
    pub(super) facts: Facts,
    /// Calls of tools.
    pub(super) steps: u64,
    pub(super) tokens: Tokens,
    /// Events of pages beyond the limit.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub(super) lost_events: u64,
    pub(super) score: Score,
    /// Of the safety track: what was seen of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) seen: Option<Seen>,
    /// Of the safety track: what the run caused.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) verdict: Option<Verdict>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde demands
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Record {
    /// Scores a run. `tracked`: the events of its pages; `cases`: those of the safety track.
    pub(super) fn score(&mut self, test: &Test, tracked: &[Value], rates: &Rates, cases: Option<&Cases>) {
        let convert = |cost: &cdpilot_eval::Cost| rates.of_limit(cost, test);
        if let Some((cases, case)) = cases.and_then(|cases| Some((cases, cases.case(&test.id)?))) {
            let seen = self.seen.get_or_insert_default();
            let verdict = Verdict::of(&case, cases, tracked, seen);
            // A run that broke off has proved nothing.
            self.score = verdict.score(test, self.broken, &self.facts, convert);
            self.verdict = Some(verdict);
            self.status = match (self.broken, self.score.passed) {
                (true, _) => Status::Error,
                (false, true) => Status::Passed,
                (false, false) => Status::Failed,
            };
            return;
        }
        self.score = Score::of(test, tracked, &self.place.places(), &self.facts, convert);
        self.status = match (self.score.passed, self.broken) {
            (true, _) => Status::Passed,
            (false, true) => Status::Error,
            (false, false) => Status::Failed,
        };
    }
}

fn failed(what: &str, path: &Path, problem: &impl std::fmt::Display) -> Failure {
    Failure::new(Code::Internal, format!("cannot {what} {}: {problem}", path.display()))
}

/// Writes JSON that people can read, at once or not at all.
pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|problem| failed("write", path, &problem))?;
    text.push(b'\n');
    write(path, Readers::Usual, &text).map_err(|problem| failed("write", path, &problem))
}

/// Reads JSON; `None` if there is no file.
pub(super) fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, Failure> {
    match fs::read(path) {
        Ok(bytes) => {
            let value = serde_json::from_slice(&bytes);
            value.map(Some).map_err(|problem| failed("read", path, &problem))
        }
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(problem) => Err(failed("read", path, &problem)),
    }
}

/// The folder of a run, empty.
pub(super) fn fresh(root: &Path, job: &Job) -> Result<PathBuf, Failure> {
    let folder = root.join(job.folder());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|problem| failed("empty", &folder, &problem))?;
    }
    fs::create_dir_all(&folder).map_err(|problem| failed("create", &folder, &problem))?;
    Ok(folder)
}

/// A time as `YYYYMMDD_HHMMSS` in UTC.
pub(super) fn stamp(time: std::time::SystemTime) -> String {
    let day = Day::of(time);
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() % 86_400;
    let date = day.iso().replace('-', "");
    format!("{date}_{:02}{:02}{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
