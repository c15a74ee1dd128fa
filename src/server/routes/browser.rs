//! The life of browsers, and profiles.

use http::header::AUTHORIZATION;
use serde_json::Value;

use super::super::failure::Failure;
use super::super::types::{NewSession, Nothing, OneProfile, OneSession, Profiles, RootQuery, Sessions, Start};
use super::super::ui;
use super::{Call, Reply};
use crate::control::{NewProfile, StartWith, Status};

pub(super) fn root(call: &Call<'_>, _: RootQuery) -> Result<Reply, Failure> {
    // Who is here without a header has a ticket, which serves for the page alone.
    if ui::is_wanted(call.request) || !call.request.headers.contains_key(AUTHORIZATION) {
        return Ok(Reply::Other(ui::page()));
    }
    let told = serde_json::to_value(call.profile()?.status());
    match told {
        Ok(Value::Object(map)) => Ok(Reply::Fields(map)),
        _ => Err(Failure::new("INTERNAL", "the status cannot be written")),
    }
}

pub(super) fn start(call: &Call<'_>, start: Start) -> Result<Status, Failure> {
    let with = StartWith { headless: start.headless, capabilities: start.capabilities.unwrap_or_default() };
    Ok(call.profile()?.start_with(&with, call.deadline)?)
}

pub(super) fn stop(call: &Call<'_>, _: Nothing) -> Result<Status, Failure> {
    Ok(call.profile()?.stop(call.deadline)?)
}

pub(super) fn profiles(call: &Call<'_>, _: Nothing) -> Result<Profiles, Failure> {
    Ok(Profiles { profiles: call.front.control.profiles() })
}

pub(super) fn create_profile(call: &Call<'_>, new: NewProfile) -> Result<OneProfile, Failure> {
    Ok(OneProfile { profile: call.front.control.create_profile(new)? })
}

pub(super) fn delete_profile(call: &Call<'_>, _: Nothing) -> Result<OneProfile, Failure> {
    Ok(OneProfile { profile: call.front.control.delete_profile(call.at(0), call.deadline)? })
}

pub(super) fn reset_profile(call: &Call<'_>, _: Nothing) -> Result<OneProfile, Failure> {
    Ok(OneProfile { profile: call.front.control.reset_profile(call.at(0), call.deadline)? })
}

pub(super) fn sessions(call: &Call<'_>, _: Nothing) -> Result<Sessions, Failure> {
    Ok(Sessions { sessions: call.front.control.list_sessions() })
}

pub(super) fn create_session(call: &Call<'_>, new: NewSession) -> Result<OneSession, Failure> {
    Ok(OneSession { session: call.front.control.create_session(&new.name, new.isolated)? })
}

pub(super) fn end_session(call: &Call<'_>, _: Nothing) -> Result<OneSession, Failure> {
    Ok(OneSession { session: call.front.control.end_session(call.at(0), call.deadline)? })
}
