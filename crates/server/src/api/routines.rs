//! Bodies, queries and answers of the routes for routines.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{RunCounts, RunLimits, RunResult, RunStep, RunVerification};
use crate::config::Guard;

/// `POST /routines`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateRoutine {
    /// Its name, 1 to 100 characters, which no other routine has.
    pub name: String,
    /// Its text; see docs/routines.md.
    pub routine_markdown: String,
    /// How runs are made unless they say otherwise.
    #[serde(default)]
    pub defaults: Option<RunDefaults>,
}

/// `PATCH /routines/:id`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeRoutine {
    /// The version that the change is made to, as it was read. If the routine has another one by now, nothing changes.
    pub version: u64,
    /// A new name.
    #[serde(default)]
    pub name: Option<String>,
    /// A new text, which becomes a version of its own.
    #[serde(default)]
    pub routine_markdown: Option<String>,
    /// New defaults of runs, in place of all earlier ones.
    #[serde(default)]
    pub defaults: Option<RunDefaults>,
}

/// How runs of a routine are made unless they say otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunDefaults {
    /// `profile`: in the logged-in context of the profile. `own`: in an empty context. Default: `profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
    /// Name of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Size of the tabs, in CSS pixels. Default: 1280 x 720.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viewport: Option<RunViewport>,
    /// Which actions a person approves. Default: `agent.guard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// Alias of the model. Default: `agent.model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Limits of its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<RunLimits>,
}

/// A size in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunViewport {
    /// 200 to 4,000.
    pub width: u32,
    /// 200 to 4,000.
    pub height: u32,
}

/// Whose login a run uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Login {
    /// That of the profile.
    #[default]
    Profile,
    /// None: an empty context.
    Own,
}

/// `POST /routines/:id/run`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunRoutine {
    /// Values of the inputs that the routine declares, by name. Those of sensitive inputs are seen by no model and stored nowhere.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(!skip_serializing_if)]
    pub inputs: BTreeMap<String, String>,
    /// Names of stored secrets that may be typed, besides those that the routine names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(!skip_serializing_if)]
    pub secrets: Vec<String>,
    /// Alias of the model; `none`: without a model, which needs a routine with recorded steps.
    pub model: Option<String>,
    /// Whose login it uses.
    pub login: Option<Login>,
    /// Name of the profile. Default: that of the routine, else the default profile.
    pub profile: Option<String>,
    /// Id of a registered browser, instead of a profile.
    pub browser_id: Option<String>,
    /// Which actions a person approves.
    pub guard: Option<Guard>,
    /// Patterns of hosts that its browser context may reach; only with `login: own`. Default: all.
    pub hosts: Option<Vec<String>>,
    /// Stop instead of asking a model where a step needs one. Needs a routine with recorded steps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(!skip_serializing_if)]
    pub fast_only: bool,
    /// Compare with the recording. Needs a routine with recorded steps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(!skip_serializing_if)]
    pub verify: bool,
    /// Limits, in place of those of the routine.
    pub limits: Option<RunLimits>,
}

/// `GET /routines/:id/versions/:n`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VersionQuery {
    /// Number of a version to compare with.
    pub against: Option<u64>,
}

/// What a routine is exported as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoutineFormat {
    /// Its text.
    #[default]
    Markdown,
    /// A test of Playwright in TypeScript.
    Playwright,
    /// A Python script that uses this API.
    Http,
}

/// `GET /routines/:id/export`: the query.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExportRoutine {
    /// What it is exported as. All but `markdown` need a routine that is verified.
    pub format: RoutineFormat,
}

/// `GET /routines/:id/export`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoutineExported {
    /// What it was exported as.
    pub format: RoutineFormat,
    /// A name for the file.
    pub filename: String,
    /// The content of the file.
    pub content: String,
    /// What the file does not do: it has a TODO there.
    pub omitted: Vec<OmittedPart>,
}

/// A part of a routine that an exported file does not do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OmittedPart {
    /// Number of the step.
    pub step: u32,
    /// Its title.
    pub title: String,
    /// Why, as a part of a sentence.
    pub why: String,
}

/// An input of a routine.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RoutineInput {
    /// Its name, as in `{{name}}`.
    pub name: String,
    /// What it is if a run does not give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Whether no model, event, picture, log or database gets its value.
    pub sensitive: bool,
    /// The stored secret that it is if a run does not give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A version that a run proposes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProposedVersion {
    /// Its number.
    pub version: u64,
    /// The run.
    pub run_id: String,
}

/// A routine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoutineInfo {
    /// Its id.
    pub routine_id: String,
    /// Its name.
    pub name: String,
    /// Number of its present version, from 1.
    pub version: u64,
    /// Its text.
    pub routine_markdown: String,
    /// What it is for.
    pub goal: String,
    /// Number of its steps.
    pub step_count: usize,
    /// Where it starts.
    pub starting_url: String,
    /// The inputs that it declares.
    pub inputs: Vec<RoutineInput>,
    /// Id of the recording that it was made from; null without one.
    pub source_recording_id: Option<String>,
    /// Whether that recording is `present` or `deleted`; `none` without one.
    pub source: &'static str,
    /// Numbers of the steps that can be done without a model.
    pub fast_steps: Vec<u32>,
    /// `untried`, `verified` (by a run that did what was recorded, or by five good ones) or `failing`.
    pub trust: &'static str,
    /// What needs no approval in its runs, because a person said so.
    pub allowed: Vec<RoutinePermission>,
    /// The newest version that a run proposes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposed: Option<ProposedVersion>,
    /// How runs are made unless they say otherwise.
    pub defaults: Value,
    /// When it was created, in seconds since 1970.
    pub created_at: f64,
    /// When it was last changed, in seconds since 1970.
    pub updated_at: f64,
}

/// What a person has allowed for the later runs of a routine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoutinePermission {
    /// Number of the step that it was given for.
    pub step: u32,
    /// Kind of effect, such as `purchase` or `send`.
    pub effect: String,
    /// Origin of the page.
    pub origin: String,
    /// Role of the element, or `request` for a request of a page.
    pub role: String,
    /// Name of the element, or method and address of the request.
    pub name: String,
    /// Until when it holds, in seconds since 1970.
    pub expires_at: f64,
    /// Whether it still holds: not expired, and the step is as it was.
    #[serde(default)]
    pub valid: bool,
}

/// `POST /routines`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoutineCreated {
    /// Its id.
    pub routine_id: String,
    /// The routine.
    pub routine: RoutineInfo,
}

/// One routine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneRoutine {
    /// The routine.
    pub routine: RoutineInfo,
}

/// `GET /routines`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RoutineList {
    /// The routines, the last changed first, at most 1,000.
    pub routines: Vec<RoutineInfo>,
    /// Their number.
    pub count: usize,
}

/// A version of a routine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VersionInfo {
    /// Its number, from 1.
    pub version: u64,
    /// `accepted`, `proposed` or `rejected`.
    pub state: &'static str,
    /// The run that has proposed it; null for a text of a person.
    pub run_id: Option<String>,
    /// When it was stored, in seconds since 1970.
    pub created_at: f64,
    /// Its text.
    pub routine_markdown: String,
}

/// `GET /routines/:id/versions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VersionList {
    /// The versions, the newest first.
    pub versions: Vec<VersionInfo>,
    /// Their number.
    pub count: usize,
}

/// `GET /routines/:id/versions/:n`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OneVersion {
    /// The version.
    pub version: VersionInfo,
    /// The lines in which it differs from the version `against`, as a unified diff; null without one.
    pub difference: Option<String>,
    /// Elements that a run has found in place of the recorded ones.
    pub found: Vec<FoundElement>,
}

/// An element that a run has found in place of the recorded one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundElement {
    /// Number of the step.
    pub step: u32,
    /// The recorded element. Untrusted.
    pub was: String,
    /// The element that was used instead. Untrusted.
    pub now: String,
    /// Path of the recorded picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_image: Option<String>,
    /// Path of the picture of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// A run of a routine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunInfo {
    /// Its id, which is that of its conversation: pause, resume, stop and answer of conversations apply.
    pub run_id: String,
    /// The routine; null for a text that is not stored as a routine.
    pub routine_id: Option<String>,
    /// The version of the routine.
    pub version: u64,
    /// `running`, `waiting`, `done`, `failed`, `stopped` or `interrupted`.
    pub status: &'static str,
    /// Why it stopped: `LOGIN_REQUIRED`, `TARGET_NOT_FOUND`, `LIMIT_REACHED`, `POSTCONDITION_FAILED`, `INTERRUPTED`, `MODEL_ERROR`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Its steps.
    pub steps: Vec<RunStep>,
    /// How many ended how.
    pub counts: RunCounts,
    /// What it returned; null until it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<RunResult>,
    /// For a run with `verify`: what the comparison with the recording has shown; null until it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<RunVerification>,
    /// Requests to the model.
    pub model_requests: u32,
    /// The version that it proposes, with elements that a model had to find anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposed_version: Option<u64>,
    /// When it was started, in seconds since 1970.
    pub started_at: f64,
    /// When it ended, in seconds since 1970; null while it has not.
    pub ended_at: Option<f64>,
}

/// `GET /routines/:id/runs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunList {
    /// The runs, the newest first.
    pub runs: Vec<RunInfo>,
    /// Their number.
    pub count: usize,
}
