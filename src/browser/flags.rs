//! The command line of a browser. Pure functions.

use std::ffi::OsString;
use std::path::Path;

use super::Error;
use super::find::Os;
use super::options::{LaunchOptions, TransportKind, flag_name};
use crate::setters;

/// The inputs of the command line besides the options.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Facts<'a> {
    /// The family of systems.
    pub os: Os,
    /// The profile folder, passed as `--user-data-dir`.
    pub user_data_dir: &'a Path,
    /// Whether to run without a window.
    pub headless: bool,
    /// Whether to run without the sandbox.
    pub no_sandbox: bool,
    /// The user agent, unless it is the browser's own.
    pub user_agent: Option<&'a str>,
}

impl<'a> Facts<'a> {
    /// A browser with a window and a sandbox, and the user agent of its own.
    #[must_use]
    pub fn new(os: Os, user_data_dir: &'a Path) -> Self {
        Self { os, user_data_dir, headless: false, no_sandbox: false, user_agent: None }
    }
}

setters! { <'a> Facts<'a>: headless(bool), no_sandbox(bool), user_agent(some &'a str) }

/// The debugging port reserved for manual debugging.
const RESERVED_PORT: u16 = 9222;

/// No first-run pages, no network traffic of the browser itself, nothing that covers a page, no throttling of
/// background tabs (where an automated browser has most of its tabs).
///
/// Chromium's crash handler stays on. It has a session of its own and ends with its browser; switched off
/// (`disable-crashpad-for-testing`), Chromium 156 started over a pipe repeatedly loses its network service ("FD
/// ownership violation"), and no page ever loads.
const ALWAYS: [&str; 22] = [
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-pings",
    "--disable-default-apps",
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-search-engine-choice-screen",
    "--disable-session-crashed-bubble",
    "--hide-crash-restore-bubble",
    "--disable-infobars",
    "--disable-prompt-on-repost",
    "--disable-popup-blocking",
    "--disable-hang-monitor",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--metrics-recording-only",
    "--password-store=basic",
];

/// Features that connect to other servers, cover the page, change typed addresses, delay the effects of input, or load
/// pages of the browser's own: both omnibox popups are such pages, loaded with every window in a process of their own.
/// Without them a start of Chromium 156 takes 0.4 s of CPU time in place of 0.9 s.
const DISABLED_FEATURES: [&str; 12] = [
    "DeferRendererTasksAfterInput", // timers and messages after a click would wait for the next frame
    "Translate",
    "MediaRouter",
    "DialMediaRouteProvider",
    "OptimizationHints",
    "InterestFeedContentSuggestions",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
];

/// Height of the window frame in Chromium 156 without a display.
const HEADLESS_FRAME: u32 = 87;
/// The switch that maps names and IP addresses before the browser connects.
pub const RESOLVER_RULES: &str = "host-resolver-rules";

/// The arguments of the browser, without the program name.
///
/// # Errors
/// [`Error::Argument`] when an extra argument would break the control of the browser, [`Error::ReservedPort`] for port
/// 9222.
pub fn flags(options: &LaunchOptions, facts: &Facts<'_>) -> Result<Vec<OsString>, Error> {
    let mut flags: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    let mut add = |flag: &str| flags.push(OsString::from(flag));

    let transport = options.transport.on(facts.os);
    if facts.os != Os::Windows {
        add("--remote-debugging-pipe"); // the transport; with `Port`, only to end with this process
    }
    if let Some(port) = transport.port() {
        if port == RESERVED_PORT {
            return Err(Error::ReservedPort { port });
        }
        add(&format!("--remote-debugging-port={port}"));
    }
    if facts.headless && !super::options::has_flag(&options.extra_args, "headless") {
        add("--headless=new");
    }
    if facts.no_sandbox {
        add("--no-sandbox");
    }
    match facts.os {
        Os::Linux => add("--disable-dev-shm-usage"), // 64 MiB in a container: tabs die when it is full
        Os::Mac => add("--use-mock-keychain"),
        Os::Windows => {}
    }
    let own = |name: &str| super::options::has_flag(&options.extra_args, name);
    match (options.viewport.filter(|_| facts.headless), options.window_size) {
        (Some(_), _) if own("window-size") => {}
        (Some((width, height)), _) => {
            let outer = height + HEADLESS_FRAME;
            add(&format!("--window-size={width},{outer}"));
            if !own("screen-info") {
                add(&format!("--screen-info={{{width}x{outer}}}"));
            }
        }
        (None, Some((width, height))) => add(&format!("--window-size={width},{height}")),
        (None, None) => {}
    }
    if let Some(text) = facts.user_agent.filter(|_| !own("user-agent")) {
        add(&format!("--user-agent={text}"));
    }
    let mut rules = options.resolver_rules.clone();
    let mut features = DISABLED_FEATURES.join(",");
    for arg in &options.extra_args {
        check(arg)?;
        match arg.strip_prefix("--disable-features=") {
            // Chromium only uses the last such switch, so both are merged.
            Some(theirs) => features.extend([",", theirs]),
            None if flag_name(arg) == Some(RESOLVER_RULES) => {
                let theirs = arg.split_once('=').map(|(_, rules)| rules.to_owned());
                rules.extend(theirs.filter(|rules| !rules.is_empty()));
            }
            None if flag_name(arg) == Some("no-sandbox") => {} // decided before
            None => add(arg),
        }
    }
    add(&format!("--disable-features={features}"));
    if !rules.is_empty() {
        add(&format!("--{RESOLVER_RULES}={}", rules.join(",")));
    }

    let mut profile = OsString::from("--user-data-dir=");
    profile.push(facts.user_data_dir);
    flags.push(profile);
    flags.push(OsString::from("about:blank"));
    Ok(flags)
}

/// Refuses arguments that would break the control of the browser.
///
/// # Errors
/// [`Error::Argument`].
pub fn check(arg: &str) -> Result<(), Error> {
    let Some(name) = flag_name(arg) else { return Ok(()) };
    let refuse = |reason| Err(Error::Argument { argument: arg.to_owned(), reason });
    match name {
        "user-data-dir" | "temp-profile" => refuse("the profile is set by user_data_dir"),
        "remote-allow-origins" if arg.ends_with('*') => {
            refuse("it would let any web page drive the browser; name the origins one by one")
        }
        _ if name.starts_with("remote-debugging-") => refuse(
            "cdpilot sets the debugging channel itself; a port for other programs is opened by transport (port) and cdp_port",
        ),
        "" => refuse("later arguments would no longer be read as switches"),
        _ => Ok(()),
    }
}

/// Whether the options use the pipe as transport.
pub(super) fn talks_by_pipe(transport: TransportKind, os: Os) -> bool {
    matches!(transport.on(os), TransportKind::Pipe | TransportKind::PipeAndPort(_))
}
