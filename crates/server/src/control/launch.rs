//! Launches the browser of a profile, or attaches to it, and starts its supervisor.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::decorate::{Appearance, decorate};
use super::lifecycle::Running;
use super::ports::Port;
use super::settings::{Settings, check_folder, switch};
use super::shared::{BROWSER, Shared};
use super::tab_index::TabIndex;
use super::{Error, StartWith, events};
use crate::config::{self, AutoSwitch};
use cdpilot::browser::{self, AttachOptions, BrowserProcess, LaunchOptions, Surroundings, TransportKind};
use cdpilot::page::{HiddenTexts, PageOptions, TabNames, Tabs};
use cdpilot::supervisor::{
    BridgeMode, DialogPolicy, EventLog, NavigationPolicy, Pages, ProtectedPorts, Supervisor, SupervisorOptions,
    TargetId,
};
use cdpilot::sync::Deadline;

/// Ports to try after the browser reported one as occupied.
const PORT_TRIES: usize = 4;

/// Properties of a browser that are known from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) pid: Option<u32>,
    pub(super) cdp_port: Option<u16>,
    /// The CDP URL without its secret path.
    pub(super) cdp_url: Option<String>,
    pub(super) product: String,
    pub(super) executable: Option<String>,
    pub(super) user_data_dir: Option<String>,
    pub(super) headless: Option<bool>,
    /// Whether it runs on this machine.
    pub(super) is_local: bool,
    pub(super) no_sandbox: Option<bool>,
    pub(super) transport: &'static str,
    pub(super) notes: Vec<String>,
}

/// Why a browser could not be brought up.
pub(super) enum BringUpError {
    /// The browser did not start; counts towards the pause between attempts.
    Launch(Error),
    /// Any other error.
    Other(Error),
}

impl From<Error> for BringUpError {
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
    tab_index: &Arc<Mutex<TabIndex>>,
    deadline: Deadline<'_>,
) -> Result<Running, BringUpError> {
    let (browser, facts, unreachable_ports) = match address(shared, settings)? {
        Some(url) => {
            let attached = attach(&url, capabilities(settings, with, &url)?, deadline);
            let (browser, facts) = attached.map_err(|error| name_setting(error, settings))?;
            (browser, facts, Vec::new())
        }
        None => {
            capabilities(settings, with, "")?;
            launch(shared, settings, with.headless, deadline)?
        }
    };
    // Before it has pages that could navigate there.
    let port = browser.endpoint().map(|endpoint| shared.protected.protect(endpoint.port(), BROWSER));
    let local = is_local(&browser);
    let ours = browser.is_ours();
    let log = Some(Arc::clone(log));
    let mut options = options(shared, settings, deadline);
    options.unreachable_ports = unreachable_ports;
    options.prepared = ours;
    options.log = log;
    let supervisor = Supervisor::start_until(browser, options, deadline).map_err(|error| match ours {
        true => BringUpError::Launch(error.into()),
        false => BringUpError::Other(error.into()),
    })?;
    let supervisor = Arc::new(supervisor);
    shared.keep_protected(&supervisor);
    // A launched browser opens with one page, which may appear with a delay.
    let first = supervisor.wait_until(deadline.within(FIRST_PAGE), |now| !ours || !now.pages.is_empty());
    let initial = first.filter(|_| ours && facts.pid.is_some()).and_then(|now| untouched(&now));
    let (names, secrets) = (Arc::clone(tab_index), shared.secret_store.clone());
    let mut pages = PageOptions::default();
    pages.network = true;
    pages.downloads = local.then(|| shared.home.downloads());
    pages.uploads = Some(shared.files.upload_roots().to_vec());
    pages.tab_names = Some(TabNames::new(move |target, now| names.lock().tab_id(target, &now.pages)));
    pages.hidden = Some(HiddenTexts::new(move |base| secrets.fingerprints(base)));
    let (end_thread, over) = events::watch_end(&settings.name, &supervisor)?;
    let tabs = match Tabs::with_options_until(Arc::clone(&supervisor), pages, deadline.renewed(SETTING)) {
        Ok(tabs) => tabs,
        Err(error) => {
            supervisor.stop(Deadline::after_secs(5));
            return Err(BringUpError::Other(error.into()));
        }
    };
    Ok(Running {
        tabs,
        facts,
        initial: Mutex::new(initial),
        watched: parking_lot::Mutex::default(),
        over,
        end_thread: Mutex::new(Some(end_thread)),
        _port: port,
    })
}

/// Time limit for setting up the tabs of a browser that has started.
const SETTING: std::time::Duration = std::time::Duration::from_secs(2);
/// How long to wait for the first page of a browser.
const FIRST_PAGE: std::time::Duration = std::time::Duration::from_secs(3);

/// The initial empty page of a browser, if it is its only page.
fn untouched(now: &cdpilot::supervisor::View) -> Option<TargetId> {
    now.pages.first().filter(|page| now.pages.len() == 1 && &*page.url == "about:blank").map(|p| p.target_id.clone())
}

/// URL to attach to; `None` if a browser is to be launched.
fn address(shared: &Shared, settings: &Settings) -> Result<Option<String>, Error> {
    if let Some(url) = &settings.cdp_url {
        return Ok(Some(url.clone()));
    }
    if shared.config.browser.attach_only {
        return match settings.cdp_port {
            Some(port) if port != 0 => Ok(Some(format!("http://127.0.0.1:{port}"))),
            _ => Err(Error::Conflict {
                problem: format!(
                    "browser.attach_only is true, but profile {} has neither cdp_url nor cdp_port; set one of them in config.yaml",
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
    let problem = "browser.control_url names another machine, so no browser is started here; use the server there, or set browser.control_url to http://127.0.0.1:18791";
    Err(Error::Conflict { problem: problem.to_owned() })
}

/// The capabilities to request: those of the profile, overridden by those of the start.
fn capabilities(settings: &Settings, with: &StartWith, url: &str) -> Result<Map<String, Value>, Error> {
    let mut wanted = settings.capabilities.clone();
    wanted.extend(with.capabilities.clone());
    if !wanted.is_empty() && !url.starts_with("webdriver+") {
        let problem = format!(
            "capabilities require a WebDriver server or Selenium Grid, which profile {} does not use; set its cdp_url to a \
             webdriver+http:// URL, or omit capabilities",
            settings.name
        );
        return Err(match with.capabilities.is_empty() {
            true => Error::Conflict { problem },
            false => Error::BadRequest { problem },
        });
    }
    Ok(wanted)
}

/// Checks the options of a start against the settings, independent of a running browser.
pub(super) fn check(shared: &Shared, settings: &Settings, with: &StartWith) -> Result<(), Error> {
    if with.headless.is_none() && with.capabilities.is_empty() {
        return Ok(());
    }
    let address = address(shared, settings)?;
    capabilities(settings, with, address.as_deref().unwrap_or_default())?;
    if with.headless.is_some() && address.is_some() {
        let problem =
            format!("profile {} attaches to a remote browser, so headless has no effect; omit it", settings.name);
        return Err(Error::BadRequest { problem });
    }
    Ok(())
}

/// Names the setting with the address in an error about an unreachable browser.
fn name_setting(error: Error, settings: &Settings) -> Error {
    match error {
        Error::Browser(browser::Error::Unreachable { endpoint, problem }) => {
            let from = match settings.cdp_url {
                Some(_) => settings.cdp_url_from.clone(),
                None => format!("browser.attach_only: true with cdp_port {}", settings.cdp_port.unwrap_or_default()),
            };
            Error::Browser(browser::Error::Unreachable { endpoint: format!("{endpoint} ({from})"), problem })
        }
        error => error,
    }
}

fn attach(
    url: &str,
    capabilities: Map<String, Value>,
    deadline: Deadline<'_>,
) -> Result<(BrowserProcess, Facts), Error> {
    let mut how = AttachOptions::default();
    how.webdriver.capabilities = capabilities;
    how.connect.connect_timeout = deadline.left();
    how.webdriver.session_timeout = deadline.left();
    let browser = BrowserProcess::attach_until(url, &how, deadline)?;
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
    headless: Option<AutoSwitch>,
    deadline: Deadline<'_>,
) -> Result<(BrowserProcess, Facts, Vec<u16>), BringUpError> {
    let folder = &settings.user_data_dir;
    if !settings.owns_data {
        check_folder(folder)?;
    }
    // It may be a hanging browser whose cdpilot and reaper processes were killed.
    if browser::holder_of(folder).is_some() {
        browser::recover(folder);
    }
    if let Some(holder) = browser::holder_of(folder) {
        let taken = browser::Error::ProfileInUse { path: folder.clone(), holder };
        return Err(BringUpError::Launch(taken.into()));
    }
    let downloads = shared.home.downloads();
    let appearance = Appearance { name: &settings.name, color: &settings.color, downloads: &downloads };
    let mut notes = Vec::new();
    if let Err(problem) = decorate(folder, &appearance) {
        notes.push(format!("cannot set the profile's name and colour: {problem}"));
    }
    let mut refused = Vec::new();
    loop {
        let port = port(shared, settings, &refused)?;
        // Ports of browsers that start later are blocked in each CDP session.
        let own = port.as_ref().map(|port| port.number);
        let unreachable: Vec<u16> = shared.protected.all().into_iter().chain(own).collect();
        let (resolver_rules, mut extra_args) = network(shared, &unreachable);
        extra_args.push(SANDBOXED_FRAMES.to_owned());
        // Hosts excluded from the resolver rules are reachable on any port, so the ports are blocked in each CDP session.
        let unreachable = if NavigationPolicy::excludes_hosts(&resolver_rules) { Vec::new() } else { unreachable };
        let viewport = shared.config.browser.viewport;
        let mut options = LaunchOptions::default();
        options.executable = settings.executable.clone();
        options.user_data_dir = Some(folder.clone());
        options.headless = headless.map_or(settings.headless, switch);
        options.no_sandbox = settings.no_sandbox;
        options.transport = port.as_ref().map_or(TransportKind::Pipe, |port| TransportKind::PipeAndPort(port.number));
        options.extra_args = extra_args;
        options.resolver_rules = resolver_rules;
        options.viewport = Some((viewport.width, viewport.height));
        options.user_agent = user_agent(&shared.config.browser.user_agent);
        options.start_timeout = LaunchOptions::default().start_timeout.min(deadline.left());
        match BrowserProcess::launch_until(&options, deadline) {
            Ok(browser) => {
                if let Some(Port { number, instead_of: Some(wished) }) = port {
                    notes.push(format!("port {wished} is in use by another program; using port {number}"));
                }
                let mut facts = facts(&browser);
                if facts.no_sandbox == Some(true) {
                    let decided = settings.no_sandbox(&Surroundings::read(), &shared.config.browser.extra_args);
                    facts.notes.push(format!("the sandbox is off: {}", decided.because));
                }
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
                return Err(BringUpError::Launch(settings.explain(error).into()));
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

/// In a process of its own, a sandboxed `srcdoc` frame may run its script before it gets the one that confines a context to its
/// hosts (Chromium 156).
const SANDBOXED_FRAMES: &str = "--disable-features=IsolateSandboxedIframes";

/// The resolver rules that block connections, and the remaining `extra_args` of the settings.
fn network(shared: &Shared, unreachable: &[u16]) -> (Vec<String>, Vec<String>) {
    let value = |arg: &str| {
        let (name, rules) = arg.trim_start_matches('-').split_once('=')?;
        (name == browser::RESOLVER_RULES).then(|| rules.to_owned())
    };
    let (given, others): (Vec<&String>, Vec<&String>) =
        shared.config.browser.extra_args.iter().partition(|arg| value(arg).is_some());
    // Chromium uses the last one only.
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

/// Reserves a port for the browser, if it opens one.
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
                "no free port above {base} for the browser of profile {}; set browser.cdp_port to another port, or to 0 for any free port",
                settings.name
            ),
        }),
    }
}

/// Whether a browser runs on this machine.
fn is_local(browser: &BrowserProcess) -> bool {
    browser.endpoint().is_none_or(browser::Endpoint::is_loopback) && browser.webdriver().is_none()
}

/// Reads the properties of a browser.
pub(super) fn facts(browser: &BrowserProcess) -> Facts {
    let shown = |path: &std::path::Path| path.display().to_string();
    let no_sandbox = browser.no_sandbox();
    Facts {
        pid: browser.pid(),
        cdp_port: browser.endpoint().map(browser::Endpoint::port),
        cdp_url: browser.endpoint().map(ToString::to_string),
        product: browser.version().product.clone(),
        executable: browser.executable().map(shown),
        user_data_dir: browser.user_data_dir().map(shown),
        headless: browser.headless().map(|decided| decided.on),
        is_local: is_local(browser),
        no_sandbox: no_sandbox.map(|decided| decided.on),
        transport: "pipe",
        notes: Vec::new(),
    }
}

fn options(shared: &Shared, settings: &Settings, deadline: Deadline<'_>) -> SupervisorOptions {
    let browser = &shared.config.browser;
    let mut options = SupervisorOptions::default();
    options.task = settings.name.clone();
    options.pages = Pages::All;
    options.policy = match browser.dialog_policy {
        config::Policy::MustRespond => DialogPolicy::MustRespond,
        config::Policy::AutoDismiss => DialogPolicy::AutoDismiss,
        config::Policy::AutoAccept => DialogPolicy::AutoAccept,
    };
    options.bridge = match browser.dialog_bridge {
        config::Bridge::Auto => BridgeMode::Auto,
        config::Bridge::Always => BridgeMode::Always,
        config::Bridge::Never => BridgeMode::Never,
    };
    options.secrets = shared.secrets.clone();
    options.dialog_timeout = std::time::Duration::from_secs(browser.dialog_timeout_s);
    options.start_timeout = deadline.left();
    options.rescue_after = std::time::Duration::from_millis(browser.rescue_after_ms);
    options.rescue_after_load = std::time::Duration::from_millis(browser.rescue_after_load_ms);
    options.network = true;
    options.navigation = Some(shared.navigation.clone());
    options.max_pages = Some(browser.tabs.max);
    options
}
