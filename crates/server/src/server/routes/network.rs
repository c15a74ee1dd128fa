//! Routes for network requests (interception).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::super::error::ApiError;
use super::Call;
use crate::api::{Abort, AddRoute, Deleted, Fulfil, NoFields, RouteAdded, Routes};
use crate::control::media_type;
use cdpilot::code::Code;
use cdpilot::supervisor::{AbortReason, Fulfilment, HeaderList, NetworkRoute, RouteAction, RouteRule, Supervisor};

/// Maximum size in bytes of a file used as a response.
const FILE: u64 = 16 * 1024 * 1024;

pub(super) fn routes(call: &Call<'_>, _: NoFields) -> Result<Routes, ApiError> {
    Ok(Routes { routes: own(call, &*supervisor(call)?)? })
}

/// The routes that the session of a call may list and remove: its own; all of them for the default session.
fn own(call: &Call<'_>, supervisor: &Supervisor) -> Result<Vec<NetworkRoute>, ApiError> {
    let mut routes = supervisor.routes(call.deadline)?;
    if !call.session.is_default() {
        routes.retain(|route| route.client == call.session.key());
    }
    Ok(routes)
}

pub(super) fn add_route(call: &Call<'_>, add: AddRoute) -> Result<RouteAdded, ApiError> {
    let supervisor = supervisor(call)?;
    let target = match add.target_id.as_deref() {
        Some(wanted) => Some(call.profile()?.tab_to_read(Some(wanted))?.tab.target().clone()),
        None => None,
    };
    let mut rule = RouteRule::new(add.pattern.clone(), RouteAction::Abort(AbortReason::Failed));
    rule.target = target;
    rule.method.clone_from(&add.method);
    rule.resource_type.clone_from(&add.resource_type);
    rule.delay = add.delay_ms.map(Duration::from_millis).unwrap_or_default();
    rule.times = add.times;
    rule.client = call.session.key();
    rule.action = action(call, add)?;
    Ok(RouteAdded { route: supervisor.add_route(rule, call.deadline)? })
}

pub(super) fn remove_route(call: &Call<'_>, _: NoFields) -> Result<Deleted, ApiError> {
    let (supervisor, id) = (supervisor(call)?, call.path_param(0));
    let own = own(call, &supervisor)?;
    if !own.iter().any(|route| route.id == id) {
        let known = own.into_iter().map(|route| route.id).collect();
        return Err(cdpilot::supervisor::Error::RouteNotFound { id: id.chars().take(40).collect(), known }.into());
    }
    Ok(Deleted { deleted: supervisor.remove_routes(Some(id), call.deadline)?.len() })
}

pub(super) fn clear_routes(call: &Call<'_>, _: NoFields) -> Result<Deleted, ApiError> {
    let supervisor = supervisor(call)?;
    if call.session.is_default() {
        return Ok(Deleted { deleted: supervisor.remove_routes(None, call.deadline)?.len() });
    }
    let mut deleted = 0;
    for route in own(call, &supervisor)? {
        deleted += supervisor.remove_routes(Some(&route.id), call.deadline)?.len();
    }
    Ok(Deleted { deleted })
}

fn supervisor(call: &Call<'_>) -> Result<Arc<Supervisor>, ApiError> {
    Ok(Arc::clone(call.profile()?.running()?.supervisor()))
}

/// The action of a route: fail, respond or continue.
fn action(call: &Call<'_>, add: AddRoute) -> Result<RouteAction, ApiError> {
    let answers = add.fulfil.is_some() || add.status.is_some();
    let reason = match add.abort {
        None | Some(Abort::Switch(false)) => None,
        Some(Abort::Switch(true)) => Some(AbortReason::Failed),
        Some(Abort::Reason(reason)) => Some(reason),
    };
    if reason.is_some() && (answers || !add.request_headers.is_empty()) {
        return Err(ApiError::bad(
            "abort cannot be combined with fulfil, status or requestHeaders; send only one of them",
        ));
    }
    if answers && !add.request_headers.is_empty() {
        return Err(ApiError::bad(
            "requestHeaders cannot be combined with fulfil or status, which do not send the request; omit one side",
        ));
    }
    if !answers && !add.headers.is_empty() {
        let problem =
            "headers are response headers and require fulfil or status; to change request headers, send requestHeaders";
        return Err(ApiError::bad(problem));
    }
    if let Some(reason) = reason {
        return Ok(RouteAction::Abort(reason));
    }
    if !answers {
        return Ok(RouteAction::Continue { headers: add.request_headers.into_iter().collect() });
    }
    let mut headers: HeaderList = add.headers.into_iter().collect();
    let mut status = add.status;
    let mut body = Vec::new();
    if let Some(fulfil) = add.fulfil {
        if fulfil.status.is_some() && add.status.is_some() {
            return Err(ApiError::bad("status is given twice, in fulfil and next to it; send it once"));
        }
        status = status.or(fulfil.status);
        headers.retain(|(name, _)| !fulfil.headers.keys().any(|own| own.eq_ignore_ascii_case(name)));
        headers.extend(fulfil.headers.clone());
        let (bytes, kind) = body_of(call, &fulfil)?;
        body = bytes;
        let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some(kind) = fulfil.content_type.or(kind.filter(|_| !has_type).map(str::to_owned)) {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            headers.push(("Content-Type".to_owned(), kind));
        }
    }
    Ok(RouteAction::Fulfil(Arc::new(Fulfilment::new(status.unwrap_or(200), headers, body))))
}

/// The body of a response and its probable media type.
fn body_of(call: &Call<'_>, fulfil: &Fulfil) -> Result<(Vec<u8>, Option<&'static str>), ApiError> {
    match (&fulfil.path, &fulfil.body, &fulfil.body_base64) {
        (None, None, None) => Ok((Vec::new(), None)),
        (Some(path), None, None) => {
            let file = call.context.control.files().check_upload(Path::new(path))?;
            let kind = media_type(&file).unwrap_or("application/octet-stream");
            let refuse = |why: &dyn std::fmt::Display| {
                ApiError::new(Code::PathRefused, format!("fulfil.path: cannot use {}: {why}", file.display()))
            };
            let mut bytes = Vec::new();
            let opened = File::open(&file).map_err(|problem| refuse(&problem))?;
            opened.take(FILE + 1).read_to_end(&mut bytes).map_err(|problem| refuse(&problem))?;
            if bytes.len() as u64 > FILE {
                return Err(refuse(&"the file is larger than 16 MiB"));
            }
            Ok((bytes, Some(kind)))
        }
        (None, Some(text), None) => {
            let is_json = text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok();
            let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
            Ok((text.clone().into_bytes(), Some(kind)))
        }
        (None, None, Some(text)) => {
            let bytes = STANDARD.decode(text);
            let bytes =
                bytes.map_err(|problem| ApiError::bad(format!("fulfil.bodyBase64: not valid Base64: {problem}")))?;
            Ok((bytes, Some("application/octet-stream")))
        }
        _ => Err(ApiError::bad("fulfil: send only one of path, body and bodyBase64")),
    }
}
