//! Browsers, profiles and sessions.

use http::header::AUTHORIZATION;
use serde_json::Value;

use super::super::error::ApiError;
use super::super::ui;
use super::{Call, Reply};
use crate::api::{NewSession, NoFields, OneProfile, OneSession, Profiles, RootQuery, Sessions, Start};
use crate::control::{NewProfile, StartWith, Status};
use cdpilot::code::Code;

pub(super) fn root(call: &Call<'_>, _: RootQuery) -> Result<Reply, ApiError> {
    // A request admitted without `Authorization` has a ticket, which is valid for the page only.
    if ui::is_wanted(call.request) || !call.request.headers.contains_key(AUTHORIZATION) {
        return Ok(Reply::Other(ui::page()));
    }
    let value = serde_json::to_value(call.profile()?.status());
    match value {
        Ok(Value::Object(map)) => Ok(Reply::Fields(map)),
        _ => Err(ApiError::new(Code::Internal, "the status cannot be serialised")),
    }
}

pub(super) fn start(call: &Call<'_>, start: Start) -> Result<Status, ApiError> {
    let with = StartWith { headless: start.headless, capabilities: start.capabilities.unwrap_or_default() };
    Ok(call.profile()?.start_with(&with, call.deadline)?)
}

pub(super) fn stop(call: &Call<'_>, _: NoFields) -> Result<Status, ApiError> {
    Ok(call.profile()?.stop(call.deadline)?)
}

pub(super) fn profiles(call: &Call<'_>, _: NoFields) -> Result<Profiles, ApiError> {
    Ok(Profiles { profiles: call.context.control.profiles() })
}

pub(super) fn create_profile(call: &Call<'_>, new: NewProfile) -> Result<OneProfile, ApiError> {
    Ok(OneProfile { profile: call.context.control.create_profile(new)? })
}

pub(super) fn delete_profile(call: &Call<'_>, _: NoFields) -> Result<OneProfile, ApiError> {
    Ok(OneProfile { profile: call.context.control.delete_profile(call.path_param(0), call.deadline)? })
}

pub(super) fn reset_profile(call: &Call<'_>, _: NoFields) -> Result<OneProfile, ApiError> {
    Ok(OneProfile { profile: call.context.control.reset_profile(call.path_param(0), call.deadline)? })
}

pub(super) fn sessions(call: &Call<'_>, _: NoFields) -> Result<Sessions, ApiError> {
    Ok(Sessions { sessions: call.context.control.list_sessions() })
}

pub(super) fn create_session(call: &Call<'_>, new: NewSession) -> Result<OneSession, ApiError> {
    Ok(OneSession { session: call.context.control.create_session(&new.name, new.isolated)? })
}

pub(super) fn end_session(call: &Call<'_>, _: NoFields) -> Result<OneSession, ApiError> {
    Ok(OneSession { session: call.context.control.end_session(call.path_param(0), call.deadline)? })
}
