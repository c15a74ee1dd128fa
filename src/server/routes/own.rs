//! The server itself.

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderValue};

use super::super::failure::Failure;
use super::super::http::Answer;
use super::super::openapi;
use super::super::types::{Doctor, Health, Nothing, Ticket};
use super::{Call, Reply};

/// How long a ticket is good for, milliseconds.
const TICKET: u64 = 60_000;

// Handlers have one shape, also where nothing can fail.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn health(_: &Call<'_>, _: Nothing) -> Result<Health, Failure> {
    Ok(Health { status: "ok" })
}

#[allow(clippy::unnecessary_wraps)]
pub(super) fn doctor(call: &Call<'_>, _: Nothing) -> Result<Doctor, Failure> {
    Ok(Doctor { checks: call.front.control.doctor() })
}

#[allow(clippy::unnecessary_wraps)]
pub(super) fn openapi(_: &Call<'_>, _: Nothing) -> Result<Reply, Failure> {
    let answer = Answer::json(StatusCode::OK, &*openapi::DOCUMENT);
    Ok(Reply::Other(answer.with(CACHE_CONTROL, HeaderValue::from_static("no-store"))))
}

pub(super) fn ticket(call: &Call<'_>, _: Nothing) -> Result<Ticket, Failure> {
    let issued = call.front.tickets.issue();
    let ticket = issued.map_err(|problem| Failure::new("INTERNAL", format!("no ticket can be made: {problem}")))?;
    let url = format!("{}/?ticket={ticket}", call.front.url);
    Ok(Ticket { ticket, url, expires_in_ms: TICKET })
}
