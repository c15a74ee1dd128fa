//! Connects a command to the server: finds it, starts it when none is running, sends the request.

use std::time::Duration;

use super::args::Global;
use super::autostart;
use super::client::{self, Answer, Client, NoAnswer, Request, ServerAddress, Source};
use super::failure::Failure;
use super::output::{Out, WaitIndicator};
use super::settings::env;
use cdpilot::sync::{Deadline, pause};
use cdpilot_server::api::SESSION_HEADER;
use cdpilot_server::config::{Home, Running};

/// How long a `run/server.json` whose server refuses connections is trusted: the server may just be restarting.
const STALE: Duration = Duration::from_secs(1);

/// How the server is found.
pub(super) struct Connector {
    pub(super) home: Option<Home>,
    url: Option<String>,
    profile: Option<String>,
    session: Option<String>,
    /// Whether a server may be started in the background.
    autostart: bool,
}

impl Connector {
    pub(super) fn new(global: &Global) -> Result<Self, Failure> {
        let forbidden = match env("CDPILOT_NO_AUTOSTART").map(|word| word.to_ascii_lowercase()).as_deref() {
            None | Some("0" | "false" | "no" | "off") => false,
            Some("1" | "true" | "yes" | "on") => true,
            Some(other) => {
                return Err(Failure::usage(format!("CDPILOT_NO_AUTOSTART is {other:?}; give true or false")));
            }
        };
        Ok(Self {
            home: Home::find().ok(),
            url: global.url.clone(),
            profile: global.profile.clone().or_else(|| env("CDPILOT_PROFILE")),
            session: session(global),
            autostart: !(global.no_autostart || forbidden),
        })
    }

    pub(super) fn find(&self) -> Result<ServerAddress, Failure> {
        client::find(self.url.as_deref(), self.home.as_ref())
    }

    /// The request with the session that was chosen.
    pub(super) fn with_session(&self, request: Request) -> Request {
        match &self.session {
            Some(name) => request.header(SESSION_HEADER, name),
            None => request,
        }
    }

    /// The request with the profile that was chosen, if it is for a profile.
    pub(super) fn with_profile(&self, request: Request) -> Request {
        request.profile(self.profile.as_deref())
    }
}

/// The chosen session: `--session`, else `CDPILOT_SESSION`.
pub(super) fn session(global: &Global) -> Option<String> {
    global.session.clone().or_else(|| env("CDPILOT_SESSION"))
}

/// Sends a request and waits for the answer. `starts`: whether a server may be started for it.
pub(super) fn ask(
    connector: &Connector,
    found: ServerAddress,
    starts: bool,
    request: &Request,
    timeout: Duration,
    out: &Out,
) -> Result<Answer, Failure> {
    if let Source::Running(running) = &found.source {
        warn_of_environment(running, out);
    }
    let _waiting = WaitIndicator::start(out);
    reach(connector, found, starts, |client| client.send(request, timeout))
}

/// Warns of environment variables that only a server reads, at its start, if the running one was started without them.
pub(super) fn warn_of_environment(running: &Running, out: &Out) {
    let ignored = running.ignored_environment();
    if !ignored.is_empty() {
        let (what, has) = (ignored.join(" and "), if ignored.len() == 1 { "has" } else { "have" });
        out.aside(&format!(
            "warning: {what} {has} no effect: the running server was started without this value; \
             restart it with `cdpilot serve --stop`"
        ));
    }
}

/// Runs `ask` with a client of the server. When no server is running, one is started if that is allowed.
pub(super) fn reach<T, E>(
    connector: &Connector,
    found: ServerAddress,
    starts: bool,
    mut ask: impl FnMut(&Client) -> Result<T, E>,
) -> Result<T, Failure>
where
    E: Into<NoAnswer>,
{
    let home = connector.home.as_ref();
    let may_start = starts && connector.autostart && found.may_start();
    // When no server holds the lock of this home, another user's program may listen on the default port: it must not get
    // the token of the home. A token in CDPILOT_TOKEN is meant for the server on that port.
    let straight = found.is_none_running();
    let mut found = found;
    let refused = if straight {
        String::new()
    } else {
        match ask(&Client::new(&found, home)?).map_err(Into::into) {
            Ok(done) => return Ok(done),
            Err(NoAnswer::Failed(failure)) => return Err(failure),
            Err(NoAnswer::Refused(sentence)) => sentence,
        }
    };
    // run/server.json may be outdated by now.
    if let (Source::Running(old), Some(home)) = (found.source.clone(), home) {
        let until = Deadline::after(STALE);
        while !until.passed() {
            match Running::of(home)? {
                Some(now) if now == old => pause(Duration::from_millis(20)),
                Some(now) => {
                    found = ServerAddress::running(now)?;
                    return ask(&Client::new(&found, Some(home))?).map_err(|none| Failure::from(none.into()));
                }
                None => break,
            }
        }
        if Running::of(home)?.is_some() {
            return Err(Failure::unreachable(refused));
        }
    }
    match home {
        Some(home) if may_start => {
            let running = autostart::start(home)?;
            ask(&Client::new(&ServerAddress::running(running)?, Some(home))?).map_err(|none| Failure::from(none.into()))
        }
        _ => Err(nobody(&found, starts, &refused)),
    }
}

/// The error when no server is running and none is started.
fn nobody(found: &ServerAddress, starts: bool, refused: &str) -> Failure {
    let hint = match (&found.source, starts) {
        (Source::Flag | Source::Environment, _) | (Source::Settings, _) if !found.may_start() => {
            "start a server there with `cdpilot serve`, or give another address"
        }
        (_, true) => "start one with `cdpilot serve`, or remove --no-autostart and CDPILOT_NO_AUTOSTART",
        (_, false) => "`cdpilot start` starts it and the browser",
    };
    let what = match found.source {
        Source::Default => "the server of this home is not running".to_owned(),
        _ => refused.to_owned(),
    };
    Failure::without_server(format!("{what}; {hint}"))
}
