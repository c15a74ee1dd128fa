//! The server of the mock sites. It listens on this machine only, and has no route of the control API.
//!
//! | file | contents |
//! |---|---|
//! | `runs` | runs: their origins, their events, their seed |
//! | `pages` | the files of the sites, the search of the news site, the failing service |
//! | `api` | `/api/…`: events of pages, for the runner |
//! | `safety` | `/safety/…`: the pages of the safety track, and the effects that they have |
//!
//! Each run has two origins of its own, `ID-a.localhost` and `ID-b.localhost`: they are different sites to a browser, which
//! resolves names below `localhost` to this machine by itself. Plain `localhost` belongs to the standing run, which people
//! can use to try the sites.
//!
//! Other names get 404, so that no page reaches the sites by a name that resolves to this machine. Events are sent by
//! one script, one batch at a time; what is left when a page is left goes out as a beacon, or with the first batch of
//! the next page. The server drops what it received twice and sorts by the time of the browser.

mod api;
mod pages;
mod runs;
mod safety;

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::assets::Assets;
use super::placeholders::Places;
use cdpilot::code::Code;
use cdpilot_server::http::{Answer, Handler, Head, HttpServer, Lane, Limits, Listener, Request};
pub use runs::{MAX_EVENTS, Run, Tracked};
use runs::{Origin, Runs, Site};
pub(super) use safety::colour;

/// Largest body that pages may send, in bytes.
const MAX_BODY: usize = 1 << 20;
/// Time limit for a request.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// A running server of the sites. Dropping it stops it.
pub struct Sites {
    server: HttpServer,
    shared: Arc<Shared>,
}

struct Shared {
    assets: Assets,
    runs: Runs,
}

impl Sites {
    /// Serves sites on a port of this machine; 0 is any free one.
    ///
    /// # Errors
    /// If the system refuses: the port is in use.
    pub fn start(assets: Assets, port: u16) -> io::Result<Self> {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        // Chromium tries ::1 first for names below localhost.
        let listener =
            Listener::bind_both(local, IpAddr::V6(Ipv6Addr::LOCALHOST)).or_else(|problem| match problem.kind() {
                io::ErrorKind::AddrInUse if port != 0 => Err(problem),
                // A machine without IPv6.
                _ => Listener::bind(local),
            })?;
        let shared = Arc::new(Shared { assets, runs: Runs::new(listener.address().port()) });
        let limits = Limits { body_bytes: MAX_BODY, any_media_type: true, ..Limits::default() };
        let server = HttpServer::start(listener, limits, Arc::clone(&shared) as Arc<dyn Handler>)?;
        Ok(Self { server, shared })
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// Begins a run with a random seed that is derived from a number.
    #[must_use]
    pub fn begin(&self, seed: u64) -> Arc<Run> {
        self.shared.runs.begin(seed)
    }

    /// Forgets a run and its events.
    pub fn end(&self, run: &Run) {
        self.shared.runs.end(run);
    }

    /// The run that people use to try the sites.
    #[must_use]
    pub fn standing(&self) -> Arc<Run> {
        self.shared.runs.standing()
    }

    /// What the placeholders of a test stand for in a run.
    #[must_use]
    pub fn places(&self, run: &Run) -> Places {
        run.places(self.port())
    }

    /// The sites: the folders with an `index.html`.
    #[must_use]
    pub fn sites(&self) -> Vec<String> {
        self.shared.sites()
    }
}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sites({})", self.server.address())
    }
}

impl Shared {
    fn sites(&self) -> Vec<String> {
        let pages = self.assets.ending("/index.html").unwrap_or_default();
        let folder = |path: &String| path.strip_suffix("/index.html").map(str::to_owned);
        pages.iter().filter_map(folder).filter(|path| !path.contains('/')).collect()
    }
}

impl Handler for Shared {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        // Pages of other hosts must not reach the sites by a name that they resolve to this machine.
        if self.runs.origin(head.header("host").unwrap_or_default()).is_none() {
            let problem =
                "this server has only runs of the evaluation: http://localhost and ID-a.localhost, ID-b.localhost";
            return Err(Answer::failure(StatusCode::NOT_FOUND, Code::NotFound, problem));
        }
        Ok(())
    }

    fn lane(&self, head: &Head) -> Lane {
        if pages::is_slow(&head.path) { Lane::Action } else { Lane::Control }
    }

    fn handle(&self, request: Request) -> Answer {
        let Some(Origin { run, site }) = self.runs.origin(request.header("host").unwrap_or_default()) else {
            return Answer::failure(StatusCode::NOT_FOUND, Code::NotFound, "the run has ended");
        };
        if request.path.starts_with("/api/") && site != Site::C {
            return api::answer(self, &run, &request);
        }
        if site == Site::C || request.path.starts_with(safety::PATH) {
            return safety::answer(self, &run, site, &request);
        }
        pages::answer(self, &run, &request, request.deadline(REQUEST_LIMIT))
    }
}
