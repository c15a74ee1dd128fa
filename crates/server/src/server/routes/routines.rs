//! Routes for routines and their runs.

use std::collections::BTreeMap;

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};
use serde_json::{Value, json};

use super::super::error::ApiError;
use super::conversations::{ENDPOINT, agents, follow};
use super::{Call, Reply, browsers};
use crate::agent::{NewConversation, RoutineError, RoutineStart, RunLimits, check_routine, run_facts};
use crate::api::{
    ChangeRoutine, CreateRoutine, FoundElement, Login, NoFields, OneRoutine, OneVersion, ProposedVersion, Removed,
    RoutineCreated, RoutineInfo, RoutineInput, RoutineList, RoutinePermission, RunDefaults, RunInfo, RunList,
    RunRoutine, VersionInfo, VersionList, VersionQuery,
};
use crate::http::Answer;
use crate::record::stored_events;
use crate::replay::{Recorded, described_place};
use crate::routine;
use crate::store::{
    BrowserBinding, NewRoutine, RoutineChange, RoutineVersion, Store, StoredRoutine, StoredRun, new_id,
};
use cdpilot::code::Code;
use cdpilot::sync::Deadline;
use cdpilot::text::is_hidden;
use std::time::Duration;

/// Time limit for an operation on the database.
const STORE: Duration = Duration::from_secs(10);
/// Maximum number of routines in a list.
const MOST: usize = 1_000;
/// Maximum length of a name, in characters.
const MOST_NAME: usize = 100;
/// Sizes of tabs, in CSS pixels.
const SIZES: std::ops::RangeInclusive<u32> = 200..=4_000;

pub(super) fn list(call: &Call<'_>, _: NoFields) -> Result<RoutineList, ApiError> {
    let all = store(call)?.routines(MOST, deadline())?;
    let routines: Vec<RoutineInfo> = all.into_iter().map(info).collect();
    Ok(RoutineList { count: routines.len(), routines })
}

pub(super) fn create(call: &Call<'_>, new: CreateRoutine) -> Result<RoutineCreated, ApiError> {
    let name = checked_name(&new.name)?;
    let markdown = checked_text(call, &new.routine_markdown)?;
    let defaults = checked_defaults(new.defaults.as_ref())?.unwrap_or_else(|| json!({}));
    let id = new_id()?;
    let new = NewRoutine { id: id.clone(), name, markdown, recording: None, defaults, step_events: Value::Null };
    let routine = store(call)?.create_routine(new, deadline())?;
    Ok(RoutineCreated { routine_id: id, routine: info(routine) })
}

pub(super) fn show(call: &Call<'_>, _: NoFields) -> Result<OneRoutine, ApiError> {
    Ok(OneRoutine { routine: info(found(call)?) })
}

pub(super) fn change(call: &Call<'_>, change: ChangeRoutine) -> Result<OneRoutine, ApiError> {
    let before = found(call)?;
    let name = change.name.as_deref().map(checked_name).transpose()?;
    let markdown = change.routine_markdown.as_deref().map(|text| checked_text(call, text)).transpose()?;
    let defaults = checked_defaults(change.defaults.as_ref())?;
    let step_events = match &markdown {
        Some(markdown) => kept_events(call, &before, markdown)?,
        None => Value::Null,
    };
    if name.is_none() && markdown.is_none() && defaults.is_none() {
        return Err(ApiError::bad("nothing changes; give name, routine_markdown or defaults"));
    }
    let wanted = RoutineChange { name, markdown, defaults, step_events };
    Ok(OneRoutine { routine: info(store(call)?.change_routine(&before.id, change.version, wanted, deadline())?) })
}

/// The recorded events of the steps that a new text has unchanged.
fn kept_events(call: &Call<'_>, before: &StoredRoutine, markdown: &str) -> Result<Value, ApiError> {
    let versions = store(call)?.routine_versions(&before.id, deadline())?;
    let present = versions.into_iter().find(|version| version.n == before.version);
    let events = present.map(|version| version.step_events).filter(|events| !events.is_null());
    let recorded = events.and_then(|events| serde_json::from_value::<Recorded>(events).ok());
    let Some(recorded) = recorded else { return Ok(Value::Null) };
    match (routine::parse(&before.markdown), routine::parse(markdown)) {
        (Ok(old), Ok(new)) => {
            let source = before.recording.as_deref().filter(|_| before.source_present);
            let events = source.and_then(|id| stored_events(store(call).ok()?, id).ok()).unwrap_or_default();
            let mut kept = Recorded {
                steps: routine::kept_events(&old, &new, &recorded.steps),
                digests: routine::kept_events(&old, &new, &recorded.digests),
                ..recorded
            };
            kept.note_fast(&new, &events);
            Ok(json!(kept))
        }
        _ => Ok(Value::Null),
    }
}

pub(super) fn delete(call: &Call<'_>, _: NoFields) -> Result<Removed, ApiError> {
    let id = found(call)?.id;
    store(call)?.delete_routine(&id, deadline())?;
    Ok(Removed { removed: true })
}

pub(super) fn versions(call: &Call<'_>, _: NoFields) -> Result<VersionList, ApiError> {
    let all = store(call)?.routine_versions(&found(call)?.id, deadline())?;
    let versions: Vec<VersionInfo> = all.into_iter().map(version_info).collect();
    Ok(VersionList { count: versions.len(), versions })
}

pub(super) fn version(call: &Call<'_>, query: VersionQuery) -> Result<OneVersion, ApiError> {
    let routine = found(call)?;
    let all = store(call)?.routine_versions(&routine.id, deadline())?;
    let find = |n: u64| {
        let known = all.iter().find(|version| version.n == n);
        known.ok_or_else(|| ApiError::new(Code::NotFound, format!("the routine has no version {n}")))
    };
    let version = find(number(call, 1)?)?;
    let difference = match query.against {
        Some(n) => Some(routine::unified(&find(n)?.markdown, &version.markdown)),
        None => None,
    };
    let recorded: Recorded = serde_json::from_value(version.step_events.clone()).unwrap_or_default();
    let found = recorded.found.into_iter().map(|(event, found)| FoundElement {
        step: found.step,
        was: found.was,
        now: found.now,
        recorded_image: recorded_image(call, routine.recording.as_deref(), event),
        image: Some(format!(
            "/routines/{}/runs/{}/images/{}",
            routine.id,
            found.run,
            if found.image == 0 { u64::from(found.step) } else { found.image }
        )),
    });
    let read = recorded.reads.into_iter().filter_map(|(name, places)| {
        let place = places.first()?;
        let step = name.strip_prefix("step")?.split('.').next()?.parse().ok()?;
        Some(FoundElement {
            step,
            was: format!("{name} was read by a model"),
            now: format!("{name} in the text {}", described_place(&place.place)),
            recorded_image: None,
            image: Some(format!("/routines/{}/runs/{}/images/{step}", routine.id, place.run)),
        })
    });
    Ok(OneVersion { version: version_info(version.clone()), difference, found: found.chain(read).collect() })
}

/// Path of the recorded picture of an event, if there is one.
fn recorded_image(call: &Call<'_>, recording: Option<&str>, event: u64) -> Option<String> {
    let id = recording?;
    let picture = store(call).ok()?.recording_picture(id, event, false, deadline()).ok()?;
    picture.map(|_| format!("/recordings/{id}/keyframes/{event}"))
}

pub(super) fn approve(call: &Call<'_>, _: NoFields) -> Result<OneRoutine, ApiError> {
    decide(call, true)
}

pub(super) fn reject(call: &Call<'_>, _: NoFields) -> Result<OneRoutine, ApiError> {
    decide(call, false)
}

fn decide(call: &Call<'_>, is_accepted: bool) -> Result<OneRoutine, ApiError> {
    let id = found(call)?.id;
    let routine = store(call)?.decide_version(&id, number(call, 1)?, is_accepted, deadline())?;
    Ok(OneRoutine { routine: info(routine) })
}

pub(super) fn remove_permission(call: &Call<'_>, _: NoFields) -> Result<OneRoutine, ApiError> {
    let id = found(call)?.id;
    let index = usize::try_from(number(call, 1)?).unwrap_or(usize::MAX);
    let change = move |mut allowed: Value| {
        let all = allowed.as_array_mut().filter(|all| index < all.len());
        let Some(all) = all else {
            return Err(crate::store::Error::NotFound { what: "permission", id: index.to_string() });
        };
        all.remove(index);
        Ok(allowed)
    };
    Ok(OneRoutine { routine: info(store(call)?.change_allowed(&id, change, deadline())?) })
}

/// Starts a run, and streams its events.
pub(super) fn run(call: &Call<'_>, wanted: RunRoutine) -> Result<Reply, ApiError> {
    let (agents, routine) = (agents(call)?, found(call)?);
    let defaults: RunDefaults = serde_json::from_value(routine.defaults.clone()).unwrap_or_default();
    let limits = merged(wanted.limits, defaults.limits);
    checked_limits(&limits)?;
    let clean = wanted.verify.then_some(Login::Own);
    let login = wanted.login.or(clean).or(defaults.login).unwrap_or_default();
    if wanted.hosts.is_some() && login == Login::Profile {
        return Err(ApiError::bad(
            "hosts: the logged-in context of a profile has no limits; add login: \"own\", or leave out hosts",
        ));
    }
    let mut conversation = NewConversation::new().share_login(login == Login::Profile);
    conversation.model = wanted.model.or(defaults.model);
    conversation.profile = wanted.profile.or(defaults.profile);
    for (name, value) in [
        ("guard", wanted.guard.or(defaults.guard).map(|guard| json!(guard))),
        ("hosts", wanted.hosts.map(|hosts| json!(hosts))),
        ("viewport", defaults.viewport.map(|viewport| json!([viewport.width, viewport.height]))),
    ] {
        conversation.more.extend(value.map(|value| (name.to_owned(), value)));
    }
    if let Some(id) = &wanted.browser_id {
        match browsers::binding_of(call, id)? {
            BrowserBinding::Profile(name) => conversation.profile = Some(name),
            BrowserBinding::Endpoint(url) => {
                conversation.profile = Some(call.context.control.endpoint_profile(&url)?.name().to_owned());
                conversation.more.insert(ENDPOINT.to_owned(), url.into());
            }
        }
    }
    let start = RoutineStart {
        routine,
        conversation,
        inputs: wanted.inputs,
        secrets: wanted.secrets,
        limits,
        verify: wanted.verify,
        fast_only: wanted.fast_only,
    };
    let (id, after) = agents.run_routine(start, call.deadline).map_err(refused)?;
    follow(agents, &id, after)
}

pub(super) fn runs(call: &Call<'_>, _: NoFields) -> Result<RunList, ApiError> {
    let all = store(call)?.runs(&found(call)?.id, MOST, deadline())?;
    let pictures = RecordedPictures::of(call, &found(call)?)?;
    let runs: Vec<RunInfo> = all.iter().map(|run| run_info(run, &pictures)).collect();
    Ok(RunList { count: runs.len(), runs })
}

pub(super) fn show_run(call: &Call<'_>, _: NoFields) -> Result<RunInfo, ApiError> {
    let run = found_run(call)?;
    Ok(run_info(&run, &RecordedPictures::of(call, &found(call)?)?))
}

pub(super) fn run_image(call: &Call<'_>, _: NoFields) -> Result<Reply, ApiError> {
    let (run, n) = (found_run(call)?, number(call, 2)?);
    let image = store(call)?.run_image(&run.id, n, deadline())?;
    let image =
        image.ok_or_else(|| ApiError::new(Code::NotFound, format!("the report has no picture {n} any more")))?;
    let media_type = if image.media_type == "image/jpeg" { "image/jpeg" } else { "image/png" };
    let answer = Answer::bytes(StatusCode::OK, media_type, image.bytes);
    Ok(Reply::Other(answer.with(CACHE_CONTROL, HeaderValue::from_static("private, max-age=60"))))
}

pub(super) fn store<'c>(call: &Call<'c>) -> Result<&'c Store, ApiError> {
    Ok(agents(call)?.store())
}

pub(super) fn deadline() -> Deadline<'static> {
    Deadline::after(STORE)
}

/// The routine in the path.
pub(super) fn found(call: &Call<'_>) -> Result<StoredRoutine, ApiError> {
    let wanted = call.path_param(0);
    let found = store(call)?.routine(wanted, deadline())?;
    found.ok_or_else(|| {
        let shown = super::super::params::shown(wanted);
        ApiError::new(Code::NotFound, format!("there is no routine {shown:?}; GET /routines lists them"))
    })
}

/// The run in the path.
fn found_run(call: &Call<'_>) -> Result<StoredRun, ApiError> {
    let routine = found(call)?.id;
    let run = store(call)?.run(call.path_param(1), deadline())?;
    run.filter(|run| run.routine.as_deref() == Some(&*routine))
        .ok_or_else(|| ApiError::new(Code::NotFound, "the routine has no such run; its reports may have been removed"))
}

/// A number in the path.
fn number(call: &Call<'_>, at: usize) -> Result<u64, ApiError> {
    call.path_param(at).parse().map_err(|_| {
        let shown = super::super::params::shown(call.path_param(at));
        ApiError::bad(format!("{shown:?} is not a number"))
    })
}

pub(super) fn checked_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let has_control = name.chars().any(|c| c.is_control() || is_hidden(c));
    if name.is_empty() || name.chars().count() > MOST_NAME || has_control || name.contains('/') {
        return Err(ApiError::bad(format!("name: give 1 to {MOST_NAME} characters, without / and line breaks")));
    }
    Ok(name.to_owned())
}

/// A text as it is stored; an error with all its problems if it is not valid.
fn checked_text(call: &Call<'_>, text: &str) -> Result<String, ApiError> {
    check_routine(&call.context.control, text).map_err(|problems| invalid(&problems))?;
    Ok(routine::normalise(text))
}

fn invalid(problems: &[routine::Problem]) -> ApiError {
    let first =
        problems.first().map_or_else(String::new, |problem| format!(" Line {}: {}.", problem.line, problem.message));
    let count = match problems.len() {
        1 => "one problem".to_owned(),
        many => format!("{many} problems"),
    };
    ApiError::bad(format!("the routine has {count}; nothing was stored.{first}")).with("problems", &problems)
}

/// A run that was not started, as an answer.
fn refused(error: RoutineError) -> ApiError {
    match error {
        RoutineError::Invalid(problems) => invalid(&problems),
        RoutineError::Inputs(problem) => ApiError::bad(problem),
        RoutineError::Agent(error) => error.into(),
    }
}

/// Defaults as they are stored.
fn checked_defaults(defaults: Option<&RunDefaults>) -> Result<Option<Value>, ApiError> {
    let Some(defaults) = defaults else { return Ok(None) };
    if let Some(viewport) = defaults.viewport
        && !(SIZES.contains(&viewport.width) && SIZES.contains(&viewport.height))
    {
        return Err(ApiError::bad("defaults.viewport: width and height are 200 to 4,000 CSS pixels"));
    }
    if let Some(limits) = &defaults.limits {
        checked_limits(limits)?;
    }
    Ok(Some(serde_json::to_value(defaults).unwrap_or_default()))
}

fn checked_limits(limits: &RunLimits) -> Result<(), ApiError> {
    let is_wrong = |value: Option<f64>| value.is_some_and(|value| !(value > 0.0 && value.is_finite()));
    if is_wrong(limits.seconds) || is_wrong(limits.cost) || limits.model_steps == Some(0) {
        return Err(ApiError::bad("limits: seconds, cost and model_steps are greater than 0"));
    }
    Ok(())
}

fn merged(own: Option<RunLimits>, of_routine: Option<RunLimits>) -> RunLimits {
    let (own, rest) = (own.unwrap_or_default(), of_routine.unwrap_or_default());
    RunLimits {
        seconds: own.seconds.or(rest.seconds),
        cost: own.cost.or(rest.cost),
        model_steps: own.model_steps.or(rest.model_steps),
    }
}

pub(super) fn info(stored: StoredRoutine) -> RoutineInfo {
    // What is stored was checked; a text of an older version of the program may have problems by now.
    let parsed = routine::parse(&stored.markdown).ok();
    let inputs = parsed.iter().flat_map(|parsed| &parsed.inputs).map(|input| RoutineInput {
        name: input.name.clone(),
        default: input.default.clone(),
        sensitive: input.sensitive,
        secret: input.secret.clone(),
    });
    let allowed = serde_json::from_value::<Vec<crate::agent::Permission>>(stored.allowed).unwrap_or_default();
    let allowed = allowed.iter().map(|permission| RoutinePermission {
        step: permission.step,
        effect: permission.effect.clone(),
        origin: permission.origin.clone(),
        role: permission.role.clone(),
        name: permission.name.clone(),
        expires_at: permission.expires_at,
        valid: parsed.as_ref().is_some_and(|parsed| permission.holds_in(parsed)),
    });
    RoutineInfo {
        inputs: inputs.collect(),
        allowed: allowed.collect(),
        goal: parsed.as_ref().map(|parsed| parsed.goal.clone()).unwrap_or_default(),
        step_count: parsed.as_ref().map_or(0, |parsed| parsed.steps.len()),
        starting_url: parsed.as_ref().map(|parsed| parsed.starting_url.clone()).unwrap_or_default(),
        routine_id: stored.id,
        name: stored.name,
        version: stored.version,
        routine_markdown: stored.markdown,
        source: match (&stored.recording, stored.source_present) {
            (None, _) => "none",
            (Some(_), true) => "present",
            (Some(_), false) => "deleted",
        },
        source_recording_id: stored.recording,
        fast_steps: match stored.source_present {
            true => serde_json::from_value(stored.fast_steps).unwrap_or_default(),
            false => Vec::new(),
        },
        trust: stored.trust.as_str(),
        proposed: stored.proposed.map(|(version, run_id)| ProposedVersion { version, run_id }),
        defaults: stored.defaults,
        created_at: stored.created_at,
        updated_at: stored.updated_at,
    }
}

fn version_info(version: RoutineVersion) -> VersionInfo {
    VersionInfo {
        version: version.n,
        state: version.state.as_str(),
        run_id: version.run,
        created_at: version.created_at,
        routine_markdown: version.markdown,
    }
}

/// Pictures of the recording of a routine.
#[derive(Default)]
struct RecordedPictures {
    recording: String,
    /// Events that have one, and whether it is one from after the event.
    all: Vec<(u64, bool)>,
    /// Recorded events of its versions.
    versions: BTreeMap<u64, Recorded>,
}

impl RecordedPictures {
    fn of(call: &Call<'_>, routine: &StoredRoutine) -> Result<Self, ApiError> {
        let Some(recording) = routine.recording.clone() else { return Ok(Self::default()) };
        let all = store(call)?.pictured_events(&recording, deadline())?;
        let versions = store(call)?.routine_versions(&routine.id, deadline())?.into_iter();
        let recorded = |value: Value| serde_json::from_value(value).unwrap_or_default();
        let versions = versions.map(|version| (version.n, recorded(version.step_events))).collect();
        Ok(Self { recording, all, versions })
    }

    /// The path of that of a step: of the event where it stopped, or else of its last one, as late as there is one.
    fn of_step(&self, version: u64, n: u32, stopped_at: Option<u64>) -> Option<String> {
        let events = self.versions.get(&version)?.of_step(n);
        let mut of_step = self.all.iter().filter(|(event, _)| events.contains(event));
        let (event, after) = match stopped_at {
            Some(at) => of_step.rfind(|(event, after)| *event <= at && !(*event == at && *after))?,
            None => of_step.next_back()?,
        };
        let end = if *after { "?after" } else { "" };
        Some(format!("/recordings/{}/keyframes/{event}{end}", self.recording))
    }
}

fn run_info(run: &StoredRun, pictures: &RecordedPictures) -> RunInfo {
    let mut facts = run_facts(run);
    for step in &mut facts.steps {
        step.recorded_image = pictures.of_step(run.version, step.n, facts.stopped_at.get(&step.n).copied());
    }
    RunInfo {
        run_id: run.id.clone(),
        routine_id: run.routine.clone(),
        version: run.version,
        status: run.status.as_str(),
        code: run.code.clone(),
        counts: facts.counts,
        steps: facts.steps,
        result: facts.result,
        verification: facts.verification,
        model_requests: facts.model_requests,
        proposed_version: facts.proposed_version,
        started_at: run.started_at,
        ended_at: run.ended_at,
    }
}
