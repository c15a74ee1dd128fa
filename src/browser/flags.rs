//! The command line of a browser that we start. Pure.

use std::ffi::OsString;
use std::path::Path;

use super::Error;
use super::find::Os;
use super::options::{LaunchOptions, TransportKind, flag_name};

/// What the command line depends on besides the options.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The family of systems.
    pub os: Os,
    /// The profile folder.
    pub user_data_dir: &'a Path,
    /// Without a window.
    pub headless: bool,
    /// Without the sandbox.
    pub no_sandbox: bool,
    /// The user agent, where it is not left to the browser.
    pub user_agent: Option<&'a str>,
}

/// The debugging port that is left to people who debug by hand.
const RESERVED_PORT: u16 = 9222;

/// No first-run pages, no traffic of its own, nothing that gets in the way of a page, no throttling of
/// tabs in the background (a browser that is driven has most of its tabs there).
///
/// Chromium's crash handler is left on. It lives in a session of its own and leaves when its browser
/// does; switched off (`disable-crashpad-for-testing`), Chromium 156 started over a pipe loses its
/// network service again and again ("FD ownership violation") and no page ever loads.
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

/// Features that connect to servers of their own, cover the page, change typed addresses or delay the effects of input.
const DISABLED_FEATURES: [&str; 10] = [
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
];

/// What a window is higher than its page in Chromium 156 without a display.
const HEADLESS_FRAME: u32 = 87;
/// The switch that maps names and addresses before the browser connects; IP addresses too.
pub const RESOLVER_RULES: &str = "host-resolver-rules";

/// The arguments of the browser, without its name.
///
/// # Errors
/// [`Error::Argument`] when an extra argument would take the browser out of our hands,
/// [`Error::ReservedPort`] for port 9222.
pub fn flags(options: &LaunchOptions, facts: &Facts<'_>) -> Result<Vec<OsString>, Error> {
    let mut flags: Vec<OsString> = ALWAYS.iter().map(OsString::from).collect();
    let mut add = |flag: &str| flags.push(OsString::from(flag));

    let transport = options.transport.on(facts.os);
    if facts.os != Os::Windows {
        add("--remote-debugging-pipe"); // the transport, or the life line of `Port`
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
            // Chromium takes the last such switch only, so ours and theirs become one.
            Some(theirs) => features.extend([",", theirs]),
            None if flag_name(arg) == Some(RESOLVER_RULES) => {
                let theirs = arg.split_once('=').map(|(_, rules)| rules.to_owned());
                rules.extend(theirs.filter(|rules| !rules.is_empty()));
            }
            None if arg == "--no-sandbox" && facts.no_sandbox => {}
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

/// Refuses what would take the browser out of our hands.
fn check(arg: &str) -> Result<(), Error> {
    let Some(name) = flag_name(arg) else { return Ok(()) };
    let refuse = |reason| Err(Error::Argument { argument: arg.to_owned(), reason });
    match name {
        "user-data-dir" | "temp-profile" => refuse("the profile is set by user_data_dir"),
        "remote-allow-origins" if arg.ends_with('*') => {
            refuse("it would let any web page drive the browser; name the origins one by one")
        }
        _ if name.starts_with("remote-debugging-") => refuse("the debugging channel is set by transport"),
        "" => refuse("what follows it would no longer be read as switches"),
        _ => Ok(()),
    }
}

/// Whether the options ask for a connection over the pipe.
pub(super) fn talks_by_pipe(transport: TransportKind, os: Os) -> bool {
    matches!(transport.on(os), TransportKind::Pipe | TransportKind::PipeAndPort(_))
}
