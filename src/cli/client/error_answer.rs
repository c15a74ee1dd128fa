//! Error answers of the server, turned into CLI errors: exit status, and the message in terms of commands and flags.

use serde_json::Value;

use super::super::failure::{Exit, Failure};
use super::super::output::clean;
use super::super::settings::env;
use super::Answer;
use crate::code::Code;

/// The exit status for a code.
pub(in super::super) fn exit_of(code: &str) -> Exit {
    match Code::parse(code) {
        Some(Code::BlockedByDialog) => Exit::Dialog,
        Some(Code::Unauthorized | Code::BrowserNotRunning | Code::BrowserDisabled) => Exit::NoBrowser,
        Some(Code::BadRequest | Code::UnknownField | Code::UnknownKind) => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// The failure in an answer; `None` for a success.
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
    let error = match Code::parse(&code) {
        Some(Code::Unauthorized) => wrong_token(&answer.server),
        _ => for_cli(&code, &clean(&error)),
    };
    // The browser did not start: none is reachable.
    let exit = match details.as_ref().and_then(|details| details["stage"].as_str()) {
        Some("start") if exit == Exit::Failed => Exit::NoBrowser,
        _ => exit,
    };
    Some(Failure { error, code: code.into(), details, exit })
}

/// The error for a token that the server refuses.
fn wrong_token(server: &str) -> String {
    let file = "the file `token` in the home of that server";
    match env("CDPILOT_TOKEN") {
        Some(_) => format!("CDPILOT_TOKEN is not the token of {server}; set it to the content of {file}"),
        None => {
            format!(
                "{server} has another token than the home of this command; set CDPILOT_TOKEN to the content of {file}"
            )
        }
    }
}

/// What to do next in terms of commands, by code. Replaces advice that names routes.
fn advice(code: &str) -> Option<&'static str> {
    Some(match Code::parse(code)? {
        Code::BrowserNotRunning => "start it with `cdpilot start`",
        Code::TabNotFound => "`cdpilot tabs` lists the tabs, `cdpilot open URL` opens one",
        Code::TabGone => "choose another tab with --target; `cdpilot tabs` lists the tabs",
        _ => return None,
    })
}

/// Routes, and the commands that send requests to them.
const ROUTES: [(&str, &str); 10] = [
    ("POST /profiles", "`cdpilot profiles create NAME`"),
    ("POST /hooks/dialog", "`cdpilot dialog`"),
    ("POST /reload", "`cdpilot reload`"),
    ("POST /start", "`cdpilot start`"),
    ("POST /stop", "`cdpilot stop`"),
    ("POST /tabs/open", "`cdpilot open URL`"),
    ("GET /tabs", "`cdpilot tabs`"),
    ("POST /wait/download", "`cdpilot download`"),
    ("POST /hooks/file-chooser", "`cdpilot upload`"),
    ("POST /act", "`cdpilot drag`"),
];

/// Fields of requests whose flag has another name.
const FIELDS: [(&str, &str); 21] = [
    ("abort", "--abort"),
    ("credentials", "--credentials"),
    ("cpu", "--cpu"),
    ("delayMs", "--delay"),
    ("device", "--device"),
    ("force", "--force"),
    ("fulfil", "--fulfil"),
    ("geolocation", "--geo"),
    ("headers", "--header"),
    ("input", "--synthetic"),
    ("locale", "--locale"),
    ("media", "--media"),
    ("method", "--method"),
    ("network", "--network"),
    ("pattern", "PATTERN"),
    ("requestHeaders", "--request-header"),
    ("resourceType", "--type"),
    ("status", "--status"),
    ("timezone", "--timezone"),
    ("userAgent", "--user-agent"),
    ("viewport", "--viewport"),
];

/// Fields that errors name within a sentence.
const WORDS: [(&str, &str); 12] = [
    ("with dismissDialogs", "with --dismiss-dialogs"),
    ("X-Cdpilot-Session: ", "--session: "),
    ("`sameSite: None` needs `secure: true`", "--same-site None needs --secure"),
    ("(timeoutMs)", "(--timeout)"),
    ("with targetId", "with --target"),
    ("with frameId", "with --frame"),
    ("timeMs is", "MS is"),
    ("deviceScaleFactor", "--scale"),
    ("null clears it", "--reset removes it"),
    ("or null to clear it", "or remove it with --reset"),
    ("--abort: true, or a reason", "--abort: give a reason"),
    ("in config.yaml and restart the server", "in config.yaml, then run `cdpilot serve --stop`"),
];

/// A message of the server in terms of commands and flags.
fn for_cli(code: &str, error: &str) -> String {
    let names_route = |clause: &&str| ROUTES.iter().any(|(route, _)| clause.contains(route));
    let advice = advice(code);
    let mut text = match advice {
        Some(advice) if error.split("; ").any(|clause| names_route(&clause)) => {
            let kept = error.split("; ").filter(|clause| !names_route(clause));
            kept.chain([advice]).collect::<Vec<_>>().join("; ")
        }
        _ => error.to_owned(),
    };
    for (route, command) in ROUTES {
        text = text.replace(route, command);
    }
    if Code::parse(code) == Some(Code::BadRequest)
        && let Some((field, problem)) = text.split_once(": ")
        && let Some((_, flag)) = FIELDS.iter().find(|(name, _)| *name == field.trim_matches('`'))
    {
        text = format!("{flag}: {problem}");
    }
    for (word, flag) in WORDS {
        text = text.replace(word, flag);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::for_cli;

    #[test]
    fn messages_name_commands_and_flags() {
        for (code, error, expected) in [
            (
                "BROWSER_NOT_RUNNING",
                "the browser of profile a is not running; start it with `cdpilot start` or POST /start",
                "the browser of profile a is not running; start it with `cdpilot start`",
            ),
            (
                "TAB_NOT_FOUND",
                "no tab \"t9\"; did you mean t1?; `cdpilot tabs` or GET /tabs lists them",
                "no tab \"t9\"; did you mean t1?; `cdpilot tabs` lists the tabs, `cdpilot open URL` opens one",
            ),
            ("FORBIDDEN", "stop the browser with POST /stop", "stop the browser with `cdpilot stop`"),
            ("BAD_REQUEST", "resourceType: \"a\" is unknown", "--type: \"a\" is unknown"),
            ("BAD_REQUEST", "`geolocation`: latitude is -90 to 90", "--geo: latitude is -90 to 90"),
            ("BROWSER_NOT_RUNNING", "the browser has ended", "the browser has ended"),
            ("NOT_FOUND", "viewport: x", "viewport: x"),
        ] {
            assert_eq!(for_cli(code, error), expected);
        }
    }
}
