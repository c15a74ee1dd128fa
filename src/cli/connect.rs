//! From a command to the server that answers it: found, started when there is none, asked.

use std::time::Duration;

use super::args::Global;
use super::autostart;
use super::client::{self, Answer, Client, Found, NoAnswer, Request, Source};
use super::failure::{Exit, Failure};
use super::output::{Out, Waiting};
use super::settings::env;
use crate::config::{Home, Running};
use crate::server::SESSION_HEADER;
use crate::sync::{Deadline, pause};

/// How long word of a server that takes no connection is believed: it may have been left by one that is just being
/// replaced.
const STALE: Duration = Duration::from_secs(1);

/// How the server is found.
pub(super) struct Link {
    pub(super) home: Option<Home>,
    url: Option<String>,
    profile: Option<String>,
    session: Option<String>,
    /// Whether a server may be started.
    autostart: bool,
}

impl Link {
    pub(super) fn new(global: &Global) -> Result<Self, Failure> {
        let forbidden = env("CDPILOT_NO_AUTOSTART").is_some_and(|word| !matches!(word.as_str(), "0" | "false" | "no"));
        Ok(Self {
            home: Home::find().ok(),
            url: global.url.clone(),
            profile: global.profile.clone().or_else(|| env("CDPILOT_PROFILE")),
            session: session(global),
            autostart: !(global.no_autostart || forbidden),
        })
    }

    pub(super) fn find(&self) -> Result<Found, Failure> {
        client::find(self.url.as_deref(), self.home.as_ref())
    }

    /// The request with the session that was chosen.
    pub(super) fn with_session(&self, request: Request) -> Request {
        match &self.session {
            Some(name) => request.header(SESSION_HEADER, name),
            None => request,
        }
    }

    pub(super) fn with_profile(&self, request: Request) -> Request {
        request.query("profile", self.profile.clone())
    }
}

/// The session that was chosen: `--session`, else `CDPILOT_SESSION`.
pub(super) fn session(global: &Global) -> Option<String> {
    global.session.clone().or_else(|| env("CDPILOT_SESSION"))
}

/// Asks the server, and waits for its answer.
pub(super) fn ask(
    link: &Link,
    found: Found,
    starts: bool,
    request: &Request,
    patience: Duration,
    out: &Out,
) -> Result<Answer, Failure> {
    let _waiting = Waiting::start(out);
    reach(link, found, starts, |client| client.send(request, patience))
}

/// Does something with a client of the server; starts one when nobody is there and that is allowed.
pub(super) fn reach<T, E>(
    link: &Link,
    found: Found,
    starts: bool,
    mut ask: impl FnMut(&Client) -> Result<T, E>,
) -> Result<T, Failure>
where
    E: Into<NoAnswer>,
{
    let home = link.home.as_ref();
    let may_start = starts && link.autostart && found.may_start();
    // When no server holds the lock of this home, whatever listens at the usual port is not ours and must not get the
    // token: any user of this machine can listen there. A token in CDPILOT_TOKEN was given for the server at that port.
    let straight = found.source == Source::Default && env("CDPILOT_TOKEN").is_none();
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
    // What was said of a server may have been true a moment ago.
    if let (Source::Running(old), Some(home)) = (found.source.clone(), home) {
        let until = Deadline::after(STALE);
        while !until.passed() {
            match Running::of(home)? {
                Some(now) if now == old => pause(Duration::from_millis(20)),
                Some(now) => {
                    found = Found::running(now)?;
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
            ask(&Client::new(&Found::running(running)?, Some(home))?).map_err(|none| Failure::from(none.into()))
        }
        _ => Err(nobody(&found, starts, &refused)),
    }
}

/// There is no server, and none is started.
fn nobody(found: &Found, starts: bool, refused: &str) -> Failure {
    let hint = match (&found.source, starts) {
        (Source::Flag | Source::Environment, _) | (Source::Settings, _) if !found.may_start() => {
            "start one there with `cdpilot serve`, or name another address"
        }
        (_, true) => "start one with `cdpilot serve`, or leave --no-autostart and CDPILOT_NO_AUTOSTART out",
        (_, false) => "so no browser of cdpilot runs; `cdpilot browser start` starts both",
    };
    let what = match found.source {
        Source::Default => "no server runs for this home".to_owned(),
        _ => refused.to_owned(),
    };
    Failure::unreachable(format!("{what}; {hint}")).with(Exit::NoBrowser)
}
