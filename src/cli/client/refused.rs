//! What a request that failed comes to.

use serde_json::Value;

use super::super::failure::{Exit, Failure};
use super::super::output::clean;
use super::Answer;
use crate::code::Code;

/// The exit status that a code stands for.
pub(in super::super) fn exit_of(code: &str) -> Exit {
    match Code::parse(code) {
        Some(Code::BlockedByDialog) => Exit::Dialog,
        Some(Code::Unauthorized | Code::BrowserNotRunning | Code::BrowserDisabled) => Exit::NoBrowser,
        Some(Code::BadRequest | Code::UnknownField | Code::UnknownKind) => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// The failure that an answer tells, if it tells one.
pub(in super::super) fn of_answer(answer: &Answer) -> Option<Failure> {
    let text = |name: &str| answer.value.get(name).and_then(Value::as_str).map(str::to_owned);
    if answer.value.get("ok").and_then(Value::as_bool) == Some(true) && answer.status < 400 {
        return None;
    }
    let code =
        text("code").unwrap_or_else(|| if answer.status == 401 { "UNAUTHORIZED" } else { "INTERNAL" }.to_owned());
    let error = text("error").unwrap_or_else(|| format!("the server answered with HTTP status {}", answer.status));
    let exit = exit_of(&code);
    let details = answer.value.get("details").filter(|details| !details.is_null()).cloned();
    let hint = (Code::parse(&code) == Some(Code::Unauthorized))
        .then_some("; the token is in the file `token` of the home of that server, CDPILOT_TOKEN takes another one");
    let mut error = format!("{}{}", clean(&error), hint.unwrap_or_default());
    // The same sentence serves those who speak HTTP.
    for route in [" or POST /start", " or POST /tabs/open", " or GET /tabs"] {
        error = error.replace(route, "");
    }
    Some(Failure { error, code: code.into(), details, exit })
}
