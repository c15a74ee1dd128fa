//! The life of browsers, and profiles.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, VARY};
use serde_json::Value;

use super::super::failure::Failure;
use super::super::http::Answer;
use super::super::types::{Nothing, OneProfile, Profiles, Start};
use super::{Call, Reply};
use crate::control::{NewProfile, Status};

const PAGE: &str = include_str!("../ui.html");
/// Nothing from elsewhere, and nothing but the page's own script and style, which are in it.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn root(call: &Call<'_>, _: Nothing) -> Result<Reply, Failure> {
    if wants_html(call) {
        let page = Answer::html(PAGE)
            .with(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
            .with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with(HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer"))
            .with(VARY, HeaderValue::from_static("Accept"));
        return Ok(Reply::Other(page));
    }
    let told = serde_json::to_value(call.profile()?.status());
    match told {
        Ok(Value::Object(map)) => Ok(Reply::Fields(map)),
        _ => Err(Failure::new("INTERNAL", "the status cannot be written")),
    }
}

/// Whether a browser asks: HTML is named before JSON.
fn wants_html(call: &Call<'_>) -> bool {
    let accept = call.request.header("accept").unwrap_or_default().to_ascii_lowercase();
    let at = |kind: &str| accept.find(kind).unwrap_or(usize::MAX);
    at("text/html") < at("application/json")
}

pub(super) fn start(call: &Call<'_>, start: Start) -> Result<Status, Failure> {
    Ok(call.profile()?.start(start.headless, call.deadline)?)
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
