//! Routes of the server itself: health, doctor, OpenAPI, web UI sign-in.

use std::time::Duration;

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};

use super::super::auth;
use super::super::error::ApiError;
use super::super::openapi;
use super::super::settings_check;
use super::super::tickets::{IDLE_LIFE, SECRET_LIFE, TICKET_LIFE};
use super::super::ui;
use super::{Call, Reply};
use crate::api::{Doctor, Health, NoFields, Ticket, UiSecret};
use crate::config::Config;
use crate::http::Answer;
use cdpilot::code::Code;

// All handlers have the same signature.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn health(_: &Call<'_>, _: NoFields) -> Result<Health, ApiError> {
    Ok(Health { status: "ok" })
}

#[allow(clippy::unnecessary_wraps)]
pub(super) fn doctor(call: &Call<'_>, _: NoFields) -> Result<Doctor, ApiError> {
    let control = &call.context.control;
    let mut checks = control.doctor(call.deadline);
    if let Ok(config) = Config::of(control.home()) {
        let problems = call.context.tools.setting_problems(&config);
        settings_check::complete_with(&mut checks, control.home(), &config, problems);
    }
    Ok(Doctor { checks })
}

#[allow(clippy::unnecessary_wraps)]
pub(super) fn openapi(_: &Call<'_>, _: NoFields) -> Result<Reply, ApiError> {
    let answer = Answer::json(StatusCode::OK, &*openapi::DOCUMENT);
    Ok(Reply::Other(answer.with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

/// A file of the web UI.
pub(super) fn asset(call: &Call<'_>, _: NoFields) -> Result<Reply, ApiError> {
    let name = call.path_param(0);
    let answer =
        ui::asset(name).ok_or_else(|| ApiError::new(Code::NotFound, format!("the web UI has no file {name:?}")))?;
    Ok(Reply::Other(answer))
}

pub(super) fn ticket(call: &Call<'_>, _: NoFields) -> Result<Ticket, ApiError> {
    let issued = call.context.tickets.issue();
    let ticket =
        issued.map_err(|problem| ApiError::new(Code::Internal, format!("cannot create a ticket: {problem}")))?;
    let url = format!("{}/?ticket={ticket}", call.context.url);
    Ok(Ticket { ticket, url, expires_in_ms: millis(TICKET_LIFE) })
}

/// Exchanges a ticket of the web UI for a secret. `auth` has checked the origin of the request.
pub(super) fn secret(call: &Call<'_>, _: NoFields) -> Result<UiSecret, ApiError> {
    let Some(ticket) = auth::ticket(call.request) else {
        let error = "the ticket is missing; send `Authorization: Ticket …` with a ticket of POST /ui/ticket";
        return Err(ApiError::new(Code::Unauthorized, error));
    };
    let exchanged = call.context.tickets.exchange(ticket);
    let secret =
        exchanged.map_err(|problem| ApiError::new(Code::Internal, format!("cannot create a secret: {problem}")))?;
    let secret = secret.ok_or_else(|| {
        ApiError::new(
            Code::Unauthorized,
            "the ticket has been used or is older than 60 seconds; run `cdpilot ui` for a new address",
        )
    })?;
    Ok(UiSecret { secret, idle_ms: millis(IDLE_LIFE), expires_in_ms: millis(SECRET_LIFE) })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
