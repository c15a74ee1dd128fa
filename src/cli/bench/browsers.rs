//! The measured browsers: started for the run, or a running one in which only a new page is used.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::super::args;
use super::super::demo::processes;
use super::super::failure::Failure;
use super::super::settings::headless;
use super::memory::Amount;
use super::run_limit::RunLimit;
use crate::browser::{BrowserProcess, ConnectOptions, LaunchOptions, Switch, TransportKind, find};
use crate::supervisor::{DialogPolicy, Supervisor, SupervisorOptions};

/// Source of browsers.
pub(super) struct BrowserSource {
    source: Source,
    product: Mutex<Option<String>>,
}

enum Source {
    Launch(Box<LaunchOptions>),
    Attach(String),
}

impl BrowserSource {
    pub(super) fn new(args: &args::Bench) -> Result<Self, Failure> {
        let source = match &args.cdp_url {
            Some(url) => Source::Attach(url.clone()),
            None => Source::Launch(Box::new(LaunchOptions {
                executable: Some(find::find(args.browser.as_deref())?.path),
                headless: headless(args.headless, Switch::On),
                transport: args.transport.into(),
                ..LaunchOptions::default()
            })),
        };
        Ok(Self { source, product: Mutex::new(None) })
    }

    /// A new browser, or a new connection to the running one.
    pub(super) fn browser(&self, watch: &RunLimit) -> Result<BrowserProcess, Failure> {
        let time = watch.soon().left();
        let browser = match &self.source {
            Source::Launch(options) => {
                BrowserProcess::launch(&LaunchOptions { start_timeout: time, ..(**options).clone() })?
            }
            Source::Attach(url) => {
                let usual = ConnectOptions::default();
                let connect_timeout = usual.connect_timeout.min(time);
                BrowserProcess::attach(url, &ConnectOptions { connect_timeout, ..usual })
                    .map_err(|error| Failure::of_address(error, "--cdp-url", url))?
            }
        };
        *self.product.lock() = Some(browser.version().product.clone());
        Ok(browser)
    }

    /// A supervisor of a new browser or connection.
    pub(super) fn supervisor(&self, policy: DialogPolicy, watch: &RunLimit) -> Result<Arc<Supervisor>, Failure> {
        Self::supervise(self.browser(watch)?, policy, watch)
    }

    pub(super) fn supervise(
        browser: BrowserProcess,
        policy: DialogPolicy,
        watch: &RunLimit,
    ) -> Result<Arc<Supervisor>, Failure> {
        let options =
            SupervisorOptions { policy, start_timeout: watch.soon().left(), ..SupervisorOptions::task("bench") };
        Ok(Arc::new(Supervisor::start(browser, options)?))
    }

    /// Product name of the browser, once one was started.
    pub(super) fn product(&self) -> Option<String> {
        self.product.lock().clone()
    }

    pub(super) fn transport(&self) -> &'static str {
        match &self.source {
            Source::Attach(_) => "attached",
            Source::Launch(options) if options.transport == TransportKind::Pipe => "pipe",
            Source::Launch(_) => "port",
        }
    }
}

/// Process ids of these browsers. `None` if one was not started by us, or the system does not provide them.
pub(super) fn processes<'a>(all: impl IntoIterator<Item = &'a Arc<Supervisor>>) -> Option<Vec<u32>> {
    let mut processes = Vec::new();
    for supervisor in all {
        let (id, profile): (u32, PathBuf) =
            supervisor.with_browser(|browser| Some((browser.pid()?, browser.user_data_dir()?.to_owned())))??;
        processes.extend(processes::of(id, &profile)?);
    }
    Some(processes)
}

/// Total memory of these browsers.
pub(super) fn memory<'a>(all: impl IntoIterator<Item = &'a Arc<Supervisor>>) -> Option<Amount> {
    super::memory::of(&processes(all)?)
}
