//! From a profile to a browser with a supervisor: started, or attached to.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::book::Book;
use super::decorate::{Look, decorate};
use super::life::Running;
use super::ports::Port;
use super::settings::{Settings, check_folder};
use super::shared::{BROWSER, Shared};
use super::{Error, StartWith, events};
use crate::browser::{self, AttachOptions, BrowserProcess, LaunchOptions, Switch, TransportKind};
use crate::config;
use crate::page::{PageOptions, TabNames, Tabs};
use crate::supervisor::{
    BridgeMode, DialogPolicy, EventLog, NavigationPolicy, Pages, ProtectedPorts, Supervisor, SupervisorOptions,
    TargetId,
};
use crate::sync::Deadline;

/// Ports that turned out to be taken only when the browser wanted them.
const PORT_TRIES: usize = 4;

/// What is known of a browser from its start on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) pid: Option<u32>,
    pub(super) cdp_port: Option<u16>,
    /// Redacted.
    pub(super) cdp_url: Option<String>,
    pub(super) product: String,
    pub(super) executable: Option<String>,
    pub(super) user_data_dir: Option<String>,
    pub(super) headless: Option<bool>,
    pub(super) no_sandbox: Option<bool>,
    pub(super) transport: &'static str,
    pub(super) notes: Vec<String>,
}

/// What came of trying.
pub(super) enum Failure {
    /// The browser did not start: it may be too much to try again at once.
    Launch(Error),
    /// Anything else.
    Other(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Starts the browser of a profile, or attaches to it.
pub(super) fn bring_up(
    shared: &Shared,
    settings: &Settings,
    with: &StartWith,
    log: &Arc<EventLog>,
    book: &Arc<Mutex<Book>>,
    deadline: Deadline,
) -> Result<Running, Failure> {
    let (browser, facts, unreachable_ports) = match address(shared, settings)? {
        Some(url) => {
            let (browser, facts) = attach(&url, capabilities(settings, with, &url)?, deadline)?;
            (browser, facts, Vec::new())
        }
        None => {
            capabilities(settings, with, "")?;
            launch(shared, settings, with.headless, deadline)?
        }
    };
    // Before it has pages that could be sent there.
    let port = browser.endpoint().map(|endpoint| shared.protected.protect(endpoint.port(), BROWSER));
    let local = browser.endpoint().is_none_or(browser::Endpoint::is_loopback) && browser.webdriver().is_none();
    let ours = browser.is_ours();
    let log = Some(Arc::clone(log));
    let options = SupervisorOptions { unreachable_ports, prepared: ours, log, ..options(shared, settings, deadline) };
    let supervisor = Supervisor::start(browser, options).map_err(|error| match ours {
        true => Failure::Launch(error.into()),
        false => Failure::Other(error.into()),
    })?;
    let supervisor = Arc::new(supervisor);
    shared.keep_protected(&supervisor);
    // A browser that we start opens with one page, which may come a moment later.
    let first = supervisor.wait_until(deadline.within(FIRST_PAGE), |now| !ours || !now.pages.is_empty());
    let initial = first.filter(|_| ours && facts.pid.is_some()).and_then(|now| untouched(&now));
    let names = Arc::clone(book);
    let pages = PageOptions {
        network: true,
        downloads: local.then(|| shared.home.downloads()),
        uploads: Some(shared.files.upload_roots().to_vec()),
        tab_names: Some(TabNames::new(move |target, now| Some(names.lock().info(target, &now.pages)?.tab_id))),
        ..PageOptions::default()
    };
    let (end_thread, over) = events::watch_end(&settings.name, &supervisor)?;
    let tabs = match Tabs::with_options(Arc::clone(&supervisor), pages) {
        Ok(tabs) => tabs,
        Err(error) => {
            supervisor.stop(Deadline::after_secs(5));
            return Err(Failure::Other(error.into()));
        }
    };
    Ok(Running {
        tabs,
        facts,
        initial: Mutex::new(initial),
        over,
        end_thread: Mutex::new(Some(end_thread)),
        _port: port,
    })
}

/// How long the first page of a browser may take.
const FIRST_PAGE: std::time::Duration = std::time::Duration::from_secs(3);

/// The page that a browser opens with.
fn untouched(now: &crate::supervisor::View) -> Option<TargetId> {
    now.pages.first().filter(|page| now.pages.len() == 1 && &*page.url == "about:blank").map(|p| p.target_id.clone())
}

/// Where to attach; `None` when a browser is to be started.
fn address(shared: &Shared, settings: &Settings) -> Result<Option<String>, Error> {
    if let Some(url) = &settings.cdp_url {
        return Ok(Some(url.clone()));
    }
    if shared.config.browser.attach_only {
        return match settings.cdp_port {
            Some(port) if port != 0 => Ok(Some(format!("http://127.0.0.1:{port}"))),
            _ => Err(Error::Conflict {
                problem: format!(
                    "browser.attach_only is set, and profile {} has neither cdp_url nor cdp_port to attach to; set one in config.yaml",
                    settings.name
                ),
            }),
        };
    }
    let control = url::Url::parse(&shared.config.browser.control_url).ok();
    let here = control.as_ref().and_then(url::Url::host).is_none_or(|host| match host {
        url::Host::Domain(name) => name.trim_end_matches('.').eq_ignore_ascii_case("localhost"),
        url::Host::Ipv4(ip) => ip.is_loopback(),
        url::Host::Ipv6(ip) => ip.is_loopback(),
    });
    if here {
        return Ok(None);
    }
    let problem = "browser.control_url names another machine, so no browser is started here; talk to that server, or set it to http://127.0.0.1:18791";
    Err(Error::Conflict { problem: problem.to_owned() })
}

/// The capabilities to ask for: those of the start replace those of the profile.
fn capabilities(settings: &Settings, with: &StartWith, url: &str) -> Result<Map<String, Value>, Error> {
    let mut wanted = settings.capabilities.clone();
    wanted.extend(with.capabilities.clone());
    if !wanted.is_empty() && !url.starts_with("webdriver+") {
        let problem = format!(
            "capabilities are for WebDriver servers and Selenium Grids, and the browser of profile {} is none: set cdp_url to a \
             webdriver+http:// address, or leave them out",
            settings.name
        );
        return Err(match with.capabilities.is_empty() {
            true => Error::Conflict { problem },
            false => Error::BadRequest { problem },
        });
    }
    Ok(wanted)
}

/// Whether a start may have these wishes, whatever runs at the moment.
pub(super) fn check(shared: &Shared, settings: &Settings, with: &StartWith) -> Result<(), Error> {
    if with.headless.is_none() && with.capabilities.is_empty() {
        return Ok(());
    }
    let address = address(shared, settings)?;
    capabilities(settings, with, address.as_deref().unwrap_or_default())?;
    if with.headless.is_some() && address.is_some() {
        let problem = format!(
            "the browser of profile {} is started by somebody else, so headless has no effect; leave it out",
            settings.name
        );
        return Err(Error::BadRequest { problem });
    }
    Ok(())
}

fn attach(url: &str, capabilities: Map<String, Value>, deadline: Deadline) -> Result<(BrowserProcess, Facts), Error> {
    let mut how = AttachOptions::default();
    how.webdriver.capabilities = capabilities;
    how.connect.connect_timeout = deadline.left();
    how.webdriver.session_timeout = deadline.left();
    let browser = BrowserProcess::attach_with(url, &how)?;
    let facts = Facts {
        cdp_port: browser.endpoint().filter(|at| at.is_loopback()).map(browser::Endpoint::port),
        transport: "remote",
        ..facts(&browser)
    };
    Ok((browser, facts))
}

fn launch(
    shared: &Shared,
    settings: &Settings,
    headless: Option<bool>,
    deadline: Deadline,
) -> Result<(BrowserProcess, Facts, Vec<u16>), Failure> {
    let folder = &settings.user_data_dir;
    if !settings.owns_data {
        check_folder(folder)?;
    }
    // It may be a browser of ours that hangs, whose owner and guard were killed.
    if browser::holder_of(folder).is_some() {
        browser::recover(folder);
    }
    if let Some(holder) = browser::holder_of(folder) {
        let taken = browser::Error::ProfileInUse { path: folder.clone(), holder };
        return Err(Failure::Launch(taken.into()));
    }
    let downloads = shared.home.downloads();
    let look = Look { name: &settings.name, color: &settings.color, downloads: &downloads };
    let mut notes = Vec::new();
    if let Err(problem) = decorate(folder, &look) {
        notes.push(format!("the profile's name and colour could not be set: {problem}"));
    }
    let mut refused = Vec::new();
    loop {
        let port = port(shared, settings, &refused)?;
        // Those of other profiles' browsers that start later are cut off in each session.
        let own = port.as_ref().map(|port| port.number);
        let unreachable: Vec<u16> = shared.protected.all().into_iter().chain(own).collect();
        let (resolver_rules, extra_args) = network(shared, &unreachable);
        // Hosts that are excluded from the rules can be reached with any port, so each session cuts the ports off too.
        let unreachable = if NavigationPolicy::excludes_hosts(&resolver_rules) { Vec::new() } else { unreachable };
        let viewport = shared.config.browser.viewport;
        let options = LaunchOptions {
            executable: settings.executable.clone(),
            user_data_dir: Some(folder.clone()),
            headless: match headless {
                Some(true) => Switch::On,
                Some(false) => Switch::Off,
                None => settings.headless,
            },
            no_sandbox: settings.no_sandbox,
            transport: port.as_ref().map_or(TransportKind::Pipe, |port| TransportKind::PipeAndPort(port.number)),
            extra_args,
            resolver_rules,
            viewport: Some((viewport.width, viewport.height)),
            user_agent: user_agent(&shared.config.browser.user_agent),
            start_timeout: LaunchOptions::default().start_timeout.min(deadline.left()),
            ..LaunchOptions::default()
        };
        match BrowserProcess::launch(&options) {
            Ok(browser) => {
                if let Some(Port { number, instead_of: Some(wished) }) = port {
                    notes.push(format!("port {wished} is in use by another program; {number} is used instead"));
                }
                let mut facts = facts(&browser);
                facts.transport = if options.transport.port().is_some() { "port" } else { "pipe" };
                facts.notes.splice(0..0, notes);
                return Ok((browser, facts, unreachable));
            }
            Err(browser::Error::PortInUse { port })
                if port != 0 && !settings.port_is_asked && refused.len() < PORT_TRIES =>
            {
                refused.push(port);
            }
            Err(error) => {
                shared.ports.take_back(&settings.name);
                return Err(Failure::Launch(error.into()));
            }
        }
    }
}

fn user_agent(set: &config::UserAgent) -> browser::UserAgent {
    match set {
        config::UserAgent::Auto => browser::UserAgent::LikeHeaded,
        config::UserAgent::Native => browser::UserAgent::Native,
        config::UserAgent::Text(text) => browser::UserAgent::Text(text.clone()),
    }
}

/// What a browser cannot connect to, and the other arguments of the settings.
fn network(shared: &Shared, unreachable: &[u16]) -> (Vec<String>, Vec<String>) {
    let value = |arg: &str| {
        let (name, rules) = arg.trim_start_matches('-').split_once('=')?;
        (name == browser::RESOLVER_RULES).then(|| rules.to_owned())
    };
    let (given, others): (Vec<&String>, Vec<&String>) =
        shared.config.browser.extra_args.iter().partition(|arg| value(arg).is_some());
    // Chromium reads the last one only.
    let given = given.last().and_then(|arg| value(arg)).unwrap_or_default();
    let given: Vec<String> = given.split(',').map(|rule| rule.trim().to_owned()).filter(|r| !r.is_empty()).collect();
    let proxied = others.iter().any(|arg| arg.trim_start_matches('-').starts_with("proxy-")) || has_proxy();
    let mut rules = ProtectedPorts::resolver_rules(unreachable);
    rules.extend(shared.navigation.resolver_rules(&given, !proxied));
    (rules, others.into_iter().cloned().collect())
}

/// Whether the environment names a proxy.
fn has_proxy() -> bool {
    let names = ["http_proxy", "https_proxy", "all_proxy"];
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    names.iter().any(|name| set(name) || set(&name.to_ascii_uppercase()))
}

/// A port for the browser, where it gets one.
fn port(shared: &Shared, settings: &Settings, refused: &[u16]) -> Result<Option<Port>, Error> {
    if !settings.opens_port() {
        return Ok(None);
    }
    let base = shared.overrides.cdp_port.unwrap_or(shared.config.browser.cdp_port);
    match shared.ports.give(settings, base, refused) {
        Some(port) => Ok(Some(port)),
        None if settings.port_is_asked => {
            Err(browser::Error::PortInUse { port: settings.cdp_port.unwrap_or(base) }.into())
        }
        None => Err(Error::Conflict {
            problem: format!(
                "no port above {base} is free for the browser of profile {}; set browser.cdp_port to another one, or to 0 for any",
                settings.name
            ),
        }),
    }
}

/// What a browser tells of itself.
fn facts(browser: &BrowserProcess) -> Facts {
    let shown = |path: &std::path::Path| path.display().to_string();
    let no_sandbox = browser.no_sandbox();
    let note = no_sandbox.filter(|decided| decided.on).map(|d| format!("without the sandbox: {}", d.because));
    Facts {
        pid: browser.pid(),
        cdp_port: browser.endpoint().map(browser::Endpoint::port),
        cdp_url: browser.endpoint().map(ToString::to_string),
        product: browser.version().product.clone(),
        executable: browser.executable().map(shown),
        user_data_dir: browser.user_data_dir().map(shown),
        headless: browser.headless().map(|decided| decided.on),
        no_sandbox: no_sandbox.map(|decided| decided.on),
        transport: "pipe",
        notes: note.into_iter().collect(),
    }
}

fn options(shared: &Shared, settings: &Settings, deadline: Deadline) -> SupervisorOptions {
    let browser = &shared.config.browser;
    SupervisorOptions {
        task: settings.name.clone(),
        pages: Pages::All,
        policy: match browser.dialog_policy {
            config::Policy::MustRespond => DialogPolicy::MustRespond,
            config::Policy::AutoDismiss => DialogPolicy::AutoDismiss,
            config::Policy::AutoAccept => DialogPolicy::AutoAccept,
        },
        bridge: match browser.dialog_bridge {
            config::Bridge::Auto => BridgeMode::Auto,
            config::Bridge::Always => BridgeMode::Always,
            config::Bridge::Never => BridgeMode::Never,
        },
        secrets: shared.secrets.clone(),
        dialog_timeout: std::time::Duration::from_secs(browser.dialog_timeout_s),
        start_timeout: deadline.left(),
        rescue_after: std::time::Duration::from_millis(browser.rescue_after_ms),
        network: true,
        navigation: Some(shared.navigation.clone()),
        max_pages: Some(browser.tabs.max),
        ..SupervisorOptions::default()
    }
}
