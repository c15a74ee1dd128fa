//! Routines as files of other programs.

use super::super::error::{Advice, ApiError};
use super::Call;
use super::recordings::file_name;
use super::routines::{deadline, found, store};
use crate::api::{ExportRoutine, OmittedPart, RoutineExported, RoutineFormat};
use crate::record::stored_events;
use crate::replay::Recorded;
use crate::replay::export::{Source, Target, export as exported};
use crate::routine;
use crate::store::{StoredRoutine, Trust};
use cdpilot::code::Code;

pub(super) fn export(call: &Call<'_>, query: ExportRoutine) -> Result<RoutineExported, ApiError> {
    let routine = found(call)?;
    let (target, end) = match query.format {
        RoutineFormat::Markdown => (None, "md"),
        RoutineFormat::Playwright => (Some(Target::Playwright), "spec.ts"),
        RoutineFormat::Http => (Some(Target::Http), "py"),
    };
    let filename = format!("{}.{end}", file_name(&routine.name));
    let Some(target) = target else {
        let content = routine.markdown;
        return Ok(RoutineExported { format: query.format, filename, content, omitted: Vec::new() });
    };
    let script = script(call, &routine, target)?;
    let omitted = script.omitted.into_iter();
    let omitted = omitted.map(|part| OmittedPart { step: part.step, title: part.title, why: part.why }).collect();
    Ok(RoutineExported { format: query.format, filename, content: script.text, omitted })
}

/// A verified routine as a script.
fn script(
    call: &Call<'_>,
    stored: &StoredRoutine,
    target: Target,
) -> Result<crate::replay::export::Exported, ApiError> {
    let conflict = |problem: String| ApiError::new(Code::Conflict, problem);
    let versions = store(call)?.routine_versions(&stored.id, deadline())?;
    let present = versions.into_iter().find(|version| version.n == stored.version);
    let recorded = present.and_then(|version| serde_json::from_value::<Recorded>(version.step_events).ok());
    let recorded = recorded.filter(|recorded| !recorded.steps.is_empty()).zip(stored.recording.as_ref());
    let Some((recorded, source)) = recorded else {
        let problem = "no step of this routine was recorded, so there are no actions to export; export its text";
        return Err(conflict(problem.to_owned()).advising(Advice::ExportText));
    };
    if !stored.source_present {
        let problem =
            "the recording of this routine was deleted, so its actions are not known any more; export its text";
        return Err(conflict(problem.to_owned()).advising(Advice::ExportText));
    }
    if stored.trust != Trust::Verified {
        let problem =
            format!("the routine is {}, and only one that is verified can be exported", stored.trust.as_str());
        return Err(conflict(problem).advising(Advice::VerifyRoutine));
    }
    let parsed =
        routine::parse(&stored.markdown).map_err(|_| conflict("the text of the routine has problems".to_owned()))?;
    let events = stored_events(store(call)?, source)?;
    let source =
        Source { name: &stored.name, version: stored.version, routine: &parsed, recorded: &recorded, events: &events };
    Ok(exported(&source, target))
}
