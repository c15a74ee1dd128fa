//! A browser reached over one transport, and fresh clients on it.

use std::path::Path;
use std::sync::Arc;

use cdpilot::cdp::{ConnectOptions, Connection, Latency, Session};
use cdpilot::supervisor::{Pages, Supervisor, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::Result;
use crate::chrome::{Chrome, Endpoint};
use crate::measure::{Sample, median};
use crate::raw::{Raw, field};

/// One browser over one transport.
pub(crate) struct Lane {
    pub(crate) name: &'static str,
    pub(crate) version: String,
    chrome: Chrome,
    /// The tab that is measured.
    page: String,
}

/// Deadline for a browser on a loaded machine.
pub(crate) fn patience() -> Deadline<'static> {
    Deadline::after_secs(120)
}

impl Lane {
    pub(crate) fn start(program: &Path, name: &'static str) -> Result<Self> {
        let chrome = if name == "ws" { Chrome::with_port(program)? } else { Chrome::with_pipe(program)? };
        let mut lane = Self { name, version: String::new(), chrome, page: String::new() };
        let mut raw = lane.bare()?;
        lane.version = field(&raw.call("Browser.getVersion", "{}", None)?, "product")?.to_owned();
        lane.page = lane.tab(&mut raw)?;
        Ok(lane)
    }

    pub(crate) fn browser_process(&self) -> u32 {
        self.chrome.process()
    }

    /// A raw connection without a session.
    pub(crate) fn bare(&self) -> Result<Raw> {
        match (&self.chrome.endpoint, self.chrome.pipe_files()) {
            (Endpoint::Ws(address), _) => Raw::ws(address),
            (_, Some(files)) => files.and_then(|(from, to)| Raw::pipe(from, to)),
            (Endpoint::Pipe(..), None) => Err("no pipe".into()),
        }
    }

    /// Opens a tab and returns its target id.
    pub(crate) fn tab(&self, raw: &mut Raw) -> Result<String> {
        Ok(field(&raw.call("Target.createTarget", r#"{"url":"about:blank"}"#, None)?, "targetId")?.to_owned())
    }

    /// Runs `body` with a raw connection attached to the tab.
    pub(crate) fn raw<T>(&self, body: impl FnOnce(&mut Raw, &str) -> Result<T>) -> Result<T> {
        let mut raw = self.bare()?;
        let params = format!(r#"{{"targetId":"{}","flatten":true}}"#, self.page);
        let answer = raw.call("Target.attachToTarget", &params, None)?;
        let session = field(&answer, "sessionId")?.to_owned();
        let out = body(&mut raw, &session)?;
        raw.spin(false)?;
        raw.call("Target.detachFromTarget", &format!(r#"{{"sessionId":"{session}"}}"#), None)?;
        Ok(out)
    }

    /// A connection of cdpilot.
    pub(crate) fn connect(&self, latency: Latency) -> Result<Connection> {
        let options = ConnectOptions::new().latency(latency);
        Ok(match &self.chrome.endpoint {
            Endpoint::Ws(address) => Connection::connect(address, &options)?,
            Endpoint::Pipe(from, to) => Connection::over_pipe(from.try_clone()?, to.try_clone()?, &options)?,
        })
    }

    /// Runs `body` with a CDP session of cdpilot attached to the tab.
    pub(crate) fn ours<T>(&self, latency: Latency, body: impl FnOnce(&Session) -> Result<T>) -> Result<T> {
        let connection = self.connect(latency)?;
        let params = json!({"targetId": self.page, "flatten": true});
        let answer = connection.call_raw("Target.attachToTarget", &params, patience())?.value()?;
        let session = connection.session(answer["sessionId"].as_str().ok_or("no session")?);
        let out = body(&session)?;
        connection.call_raw("Target.detachFromTarget", &json!({"sessionId": session.id()}), patience())?;
        connection.close();
        Ok(out)
    }

    /// The address of the browser, if it has one.
    pub(crate) fn address(&self) -> Option<&str> {
        match &self.chrome.endpoint {
            Endpoint::Ws(address) => Some(address),
            Endpoint::Pipe(..) => None,
        }
    }

    /// The tab that is measured, for a supervisor.
    pub(crate) fn pages(&self) -> Pages {
        Pages::Existing(self.page.as_str().into())
    }

    /// Runs `body` with a supervisor of the tab.
    pub(crate) fn supervised<T>(
        &self,
        latency: Latency,
        body: impl FnOnce(&Arc<Supervisor>) -> Result<T>,
    ) -> Result<T> {
        let options = SupervisorOptions::task("bench").pages(self.pages());
        let supervisor = Arc::new(Supervisor::over(self.connect(latency)?, options)?);
        let out = body(&supervisor)?;
        supervisor.stop(patience());
        // A browser at the other end of a pipe does not notice that a client has left.
        let off = r#"{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}"#;
        self.bare()?.call("Target.setAutoAttach", off, None)?;
        Ok(out)
    }
}

/// A contestant, which runs once per round.
pub(crate) type Contestant<'a> = Box<dyn FnMut() -> Result<Sample> + 'a>;

/// Runs every contestant once per round, in rotating order. Returns one list of samples per contestant.
pub(crate) fn rounds(count: usize, contestants: &mut [Contestant<'_>]) -> Result<Vec<Vec<Sample>>> {
    let mut samples = vec![Vec::new(); contestants.len()];
    for round in 0..count {
        for turn in 0..contestants.len() {
            let who = (round + turn) % contestants.len();
            samples[who].push(contestants[who]()?);
        }
    }
    Ok(samples)
}

/// Medians of both, and the median of the ratios per round.
pub(crate) fn compare(raw: &[Sample], ours: &[Sample], figure: impl Fn(&Sample) -> f64) -> (f64, f64, f64) {
    let figures = |samples: &[Sample]| samples.iter().map(&figure).collect::<Vec<_>>();
    let (raw, ours) = (figures(raw), figures(ours));
    let ratios = raw.iter().zip(&ours).map(|(raw, ours)| ours / raw).collect();
    (median(raw), median(ours), median(ratios))
}
