//! Routes for browser ids: secrets that give conversations access to a browser.

use std::time::{SystemTime, UNIX_EPOCH};

use super::super::error::ApiError;
use super::Call;
use super::conversations::ENDPOINT;
use crate::api::{BrowserIdValid, BrowserRegistered, NoFields, RegisterBrowser, Removed};
use crate::control::StartWith;
use crate::store::{BrowserBinding, BrowserLookup, Store, new_id};
use cdpilot::code::Code;

/// Hours until an id expires.
const USUAL_HOURS: f64 = 24.0;
const MOST_HOURS: f64 = 24.0 * 366.0;
const SECONDS: f64 = 3_600.0;
/// How many conversations are searched for one that uses a browser.
const MOST_CONVERSATIONS: usize = 100_000;

/// Registers a browser, attaches to it if it is at an endpoint, and shows its id once.
pub(super) fn register(call: &Call<'_>, new: RegisterBrowser) -> Result<BrowserRegistered, ApiError> {
    let hours = new.ttl_hours.unwrap_or(USUAL_HOURS);
    if !(hours > 0.0 && hours <= MOST_HOURS) {
        return Err(ApiError::bad(format!("ttlHours: expected a number above 0 and up to {MOST_HOURS}")));
    }
    let control = &call.context.control;
    let binding = match (new.endpoint, new.profile) {
        (Some(_), Some(_)) => return Err(ApiError::bad("send endpoint or profile, not both")),
        (None, name) => BrowserBinding::Profile(control.profile(name.as_deref())?.name().to_owned()),
        (Some(endpoint), None) => {
            let profile = control.endpoint_profile(&endpoint)?;
            let attached = profile.start_with(&StartWith::default(), call.deadline);
            attached.inspect_err(|_| control.forget_endpoint(profile.name(), call.deadline))?;
            BrowserBinding::Endpoint(endpoint)
        }
    };
    let (browser_id, created_at) = (new_id()?, now());
    let expires_at = created_at + hours * SECONDS;
    let store = store(call)?;
    store.sweep_browser_ids(created_at, call.deadline)?;
    store.register_browser_id(&browser_id, binding, created_at, expires_at, call.deadline)?;
    Ok(BrowserRegistered { browser_id, expires_at })
}

pub(super) fn is_valid(call: &Call<'_>, _: NoFields) -> Result<BrowserIdValid, ApiError> {
    let found = store(call)?.find_browser_id(call.path_param(0), now(), call.deadline)?;
    Ok(match found {
        BrowserLookup::Valid(browser) => {
            BrowserIdValid { valid: true, expired: false, expires_at: Some(browser.expires_at) }
        }
        BrowserLookup::Expired(browser) => {
            BrowserIdValid { valid: false, expired: true, expires_at: Some(browser.expires_at) }
        }
        _ => BrowserIdValid { valid: false, expired: false, expires_at: None },
    })
}

/// Removes an id. Conversations that use its browser keep it; the one at an endpoint is detached if there are none.
pub(super) fn remove(call: &Call<'_>, _: NoFields) -> Result<Removed, ApiError> {
    let store = store(call)?;
    let found = store.find_browser_id(call.path_param(0), now(), call.deadline)?;
    // The id is a secret: the error does not repeat it.
    if store.remove_browser_id(call.path_param(0), call.deadline)? {
        if let BrowserLookup::Valid(browser) | BrowserLookup::Expired(browser) = found
            && let BrowserBinding::Endpoint(url) = browser.binding
        {
            let all = store.conversations(None, None, MOST_CONVERSATIONS, call.deadline)?;
            if all.iter().all(|conversation| conversation.settings[ENDPOINT] != *url) {
                let control = &call.context.control;
                control.forget_endpoint(control.endpoint_profile(&url)?.name(), call.deadline);
            }
        }
        return Ok(Removed { removed: true });
    }
    Err(ApiError::new(
        Code::NotFound,
        "no browser is registered under this id; POST /browsers/register returns a new one",
    ))
}

/// The browser of a valid id.
pub(super) fn binding_of(call: &Call<'_>, id: &str) -> Result<BrowserBinding, ApiError> {
    match store(call)?.find_browser_id(id, now(), call.deadline)? {
        BrowserLookup::Valid(browser) => Ok(browser.binding),
        BrowserLookup::Expired(_) => {
            Err(ApiError::bad("browser_id: it has expired; POST /browsers/register returns a new one"))
        }
        _ => Err(ApiError::bad("browser_id: no browser is registered under it; POST /browsers/register returns one")),
    }
}

fn store<'c>(call: &Call<'c>) -> Result<&'c Store, ApiError> {
    call.context.agent.as_ref().map(|agent| &agent.store).map_err(Clone::clone)
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
