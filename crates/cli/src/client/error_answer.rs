//! Error answers of the server, turned into CLI errors: exit status, and the message in terms of commands and flags.

use serde_json::Value;

use super::super::failure::{Exit, Failure};
use super::super::output::clean;
use super::super::settings::env;
use super::Answer;
use cdpilot::code::Code;

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

/// Fields of requests whose flag has another name.
const FIELDS: [(&str, &str); 25] = [
    ("abort", "--abort"),
    ("cdpUrl", "--cdp-url"),
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
    ("offset", "--offset"),
    ("origin", "--origin"),
    ("pattern", "PATTERN"),
    ("requestHeaders", "--request-header"),
    ("resourceType", "--type"),
    ("status", "--status"),
    ("timeoutMs", "--timeout"),
    ("timezone", "--timezone"),
    ("userAgent", "--user-agent"),
    ("viewport", "--viewport"),
];

/// Words of messages from the modules below the server, which do not know the client.
const WORDS: [(&str, &str); 13] = [
    ("choose another cdpPort", "choose another --cdp-port"),
    ("fn is empty; give an expression", "the script is empty; give an expression"),
    ("fn is not valid JavaScript", "the script is not valid JavaScript"),
    ("quality is not supported for PNG; use type jpeg", "--quality is not supported for PNG; use --type jpeg"),
    ("leave out share_login, or hosts", "leave out --share-login, or --host"),
    (
        "pixels must be 0 or more; use direction to scroll the other way",
        "PIXELS must be 0 or more; give another direction",
    ),
    ("`sameSite: None` needs `secure: true`", "--same-site None needs --secure"),
    ("timeMs is", "MS is"),
    ("deviceScaleFactor", "--scale"),
    ("null clears it", "--reset removes it"),
    ("or null to clear it", "or remove it with --reset"),
    ("--abort: true, or a reason", "--abort: give a reason"),
    ("in config.yaml and restart the server", "in config.yaml, then run `cdpilot serve --stop`"),
];

/// Whether the session was given on the command line, not by the variable.
fn has_session() -> bool {
    let mut args = std::env::args_os().skip(1).take_while(|arg| arg != "--");
    args.any(|arg| arg.to_str().is_some_and(|arg| arg == "--session" || arg.starts_with("--session=")))
}

/// A message of the server with flags in place of fields. Advice is in terms of commands already, because requests carry
/// [`CLIENT_HEADER`](cdpilot_server::api::CLIENT_HEADER).
fn for_cli(code: &str, error: &str) -> String {
    let mut text = error.to_owned();
    if let Some(problem) =
        error.strip_prefix("--session: ").filter(|_| env("CDPILOT_SESSION").is_some() && !has_session())
    {
        text = format!("CDPILOT_SESSION: {problem}");
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
    fn messages_name_flags() {
        for (code, error, expected) in [
            ("BAD_REQUEST", "resourceType: \"a\" is unknown", "--type: \"a\" is unknown"),
            ("BAD_REQUEST", "`geolocation`: latitude is -90 to 90", "--geo: latitude is -90 to 90"),
            (
                "BAD_REQUEST",
                "cpu: the slowdown must be 1 to 20; null clears it",
                "--cpu: the slowdown must be 1 to 20; --reset removes it",
            ),
            ("NOT_FOUND", "viewport: x", "viewport: x"),
            ("BAD_REQUEST", "cdpUrl: not the address of a browser", "--cdp-url: not the address of a browser"),
            ("BAD_REQUEST", "offset: 9 is beyond the end of the text", "--offset: 9 is beyond the end of the text"),
            (
                "BAD_REQUEST",
                "port 9222 is reserved for manual debugging; choose another cdpPort",
                "port 9222 is reserved for manual debugging; choose another --cdp-port",
            ),
        ] {
            assert_eq!(for_cli(code, error), expected);
        }
    }
}
