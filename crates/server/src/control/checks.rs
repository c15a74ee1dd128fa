//! The checks of `doctor`.

use std::fs;
use std::io;
use std::path::Path;

use super::port_holder::port_in_use;
use super::ports::is_free;
use super::trial::can_write;
use super::{Check, CheckStatus, Profile};
use crate::config::{Config, Home, Running, Token};
use cdpilot::browser::{self, Surroundings, find};

/// Free disk space in bytes below which a browser's profile may not fit.
const MIN_FREE_SPACE: u64 = 200 << 20;

impl Check {
    fn new(id: &'static str, status: CheckStatus, summary: impl Into<String>, hint: Option<String>) -> Self {
        Self { id: id.to_owned(), status, summary: summary.into(), fix_hint: hint }
    }

    /// A check without a problem.
    pub(super) fn pass(id: &'static str, summary: impl Into<String>) -> Self {
        Self::new(id, CheckStatus::Pass, summary, None)
    }

    /// A possible problem, and how to fix it.
    pub(super) fn warn(id: &'static str, summary: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(id, CheckStatus::Warn, summary, Some(hint.into()))
    }

    /// A problem, and how to fix it.
    pub(super) fn fail(id: &'static str, summary: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(id, CheckStatus::Fail, summary, Some(hint.into()))
    }

    /// A failed check from an error message; the part after the first semicolon is the hint.
    pub(super) fn failed(id: &'static str, error: &browser::Error) -> Self {
        let text = super::Error::from(error.clone()).to_string();
        match text.split_once("; ") {
            Some((what, hint)) => Self::fail(id, what, hint),
            None => Self::new(id, CheckStatus::Fail, text, None),
        }
    }
}

/// Checks that the home is writable and accessible to its owner only.
pub(super) fn home(home: &Home) -> Check {
    let (shown, hint) = (home.root().display(), "set CDPILOT_HOME to a writable folder");
    if !home.root().is_dir() {
        if home.root().exists() {
            return Check::fail("home", format!("{shown} is not a folder"), hint);
        }
        // The nearest existing ancestor, which may be a file.
        let above = home.root().ancestors().skip(1).find(|folder| folder.exists());
        return match above.map(can_write) {
            Some(Ok(())) => Check::pass("home", format!("{shown} does not exist yet and can be created")),
            Some(Err(problem)) => Check::fail("home", format!("{shown} cannot be created: {problem}"), hint),
            None => Check::fail("home", format!("{shown} cannot be created"), hint),
        };
    }
    if let Err(problem) = can_write(home.root()) {
        return Check::fail("home", format!("{shown} is not writable: {problem}"), hint);
    }
    match open_to_others(home.root()) {
        Ok(false) => Check::pass("home", format!("{shown} is writable and accessible to you only")),
        Ok(true) => Check::fail("home", format!("{shown} is accessible to other users"), fix(home.root(), "700")),
        Err(problem) => {
            Check::fail("home", format!("{shown} cannot be read: {problem}"), "check the permissions of the folder")
        }
    }
}

/// Checks `config.yaml` as it is on disk. A running server uses the version from its start.
pub(super) fn config(home: &Home) -> Check {
    let path = home.config();
    match Config::of(home) {
        Ok(config) if super::shared::check(home, &config).is_err() => {
            let problem = super::shared::check(home, &config).err().map(|problem| problem.to_string());
            Check::fail("config", problem.unwrap_or_default(), "correct the file and restart the server")
        }
        Ok(_) if path.is_file() => Check::pass("config", format!("{} is valid", path.display())),
        Ok(_) => Check::pass("config", format!("{} does not exist; defaults are used", path.display())),
        Err(problem) => Check::fail("config", problem.to_string(), "correct the file and restart the server"),
    }
}

/// Checks that the token, if it exists, is accessible to its owner only.
pub(super) fn token(home: &Home) -> Check {
    let path = home.token();
    match Token::read(home) {
        Ok(None) => Check::pass("token", "no token yet; the server creates one on its first start"),
        Err(problem) => Check::fail(
            "token",
            problem.to_string(),
            format!("delete {}; the server creates a new token", path.display()),
        ),
        Ok(Some(_)) if open_to_others(&path).unwrap_or(false) => {
            Check::fail("token", format!("{} is readable by other users", path.display()), fix(&path, "600"))
        }
        Ok(Some(_)) => Check::pass("token", "the token is readable by you only"),
    }
}

/// Whether other users have any permission on a path.
pub(super) fn open_to_others(path: &Path) -> io::Result<bool> {
    let facts = fs::metadata(path)?;
    #[cfg(unix)]
    return Ok(std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o077 != 0);
    #[cfg(not(unix))]
    {
        drop(facts);
        Ok(false)
    }
}

fn fix(path: &Path, mode: &str) -> String {
    format!("run `cdpilot doctor --fix` or `chmod {mode} {}`", path.display())
}

/// Checks the browser's executable and version.
pub(super) fn browser(profile: &Profile) -> Check {
    let status = profile.status();
    if let (Some(product), path) = (&status.browser, status.executable_path.as_deref().unwrap_or("remote")) {
        return Check::pass("browser", format!("{product} ({path}) is running"));
    }
    if status.transport == "remote" {
        return Check::pass("browser", "no browser is launched: the profile attaches to a remote one");
    }
    match find::find(profile.settings().executable.as_deref()) {
        Err(error) => Check::failed("browser", &profile.settings().explain(error)),
        Ok(found) => match browser::version_of(&found.path) {
            _ if cfg!(windows) => Check::pass("browser", format!("found {}", found.path.display())),
            Some(version) if !is_chromium(&version) => Check::warn(
                "browser",
                format!("{} reports {version:?}, which is not a known Chromium-based browser", found.path.display()),
                "set CDPILOT_BROWSER or browser.executable_path to a Chromium-based browser",
            ),
            Some(version) => Check::pass("browser", format!("{version} ({})", found.path.display())),
            None => Check::warn(
                "browser",
                format!("{} does not report its version", found.path.display()),
                "start it manually to check that it works, or set CDPILOT_BROWSER to another executable",
            ),
        },
    }
}

/// Whether a version is that of a Chromium-based browser, by its name.
fn is_chromium(version: &str) -> bool {
    let version = version.to_ascii_lowercase();
    ["chrom", "brave", "edge", "opera", "vivaldi", "yandex", "headless"].iter().any(|name| version.contains(name))
}

/// Checks the CDP port of a profile.
pub(super) fn port(profile: &Profile) -> Check {
    let (id, name) = ("port", profile.name());
    if let Ok(running) = profile.running() {
        return match running.facts.cdp_port {
            Some(port) => Check::pass(id, format!("the browser of profile {name} listens on port {port}")),
            None => Check::pass(id, format!("the browser of profile {name} runs without an open port")),
        };
    }
    match profile.settings().cdp_port {
        _ if !profile.settings().opens_port() => {
            Check::pass(id, format!("the browser of profile {name} opens no port"))
        }
        None | Some(0) => Check::pass(id, format!("profile {name} uses any free port")),
        Some(port) if is_free(port) => {
            Check::pass(id, format!("port {port} is free for the browser of profile {name}"))
        }
        Some(port) => Check::warn(
            id,
            format!("port {port} is in use by another program"),
            format!(
                "profile {name} will use the next free port; stop the other program, or set another cdp_port in config.yaml"
            ),
        ),
    }
}

/// Checks that no other browser uses a profile's folder.
pub(super) fn lock(profile: &Profile) -> Check {
    let (id, name) = ("profile", profile.name());
    let folder = &profile.settings().user_data_dir;
    if profile.running().is_ok() {
        return Check::pass(id, format!("{name} is in use by its own browser"));
    }
    match browser::holder_of(folder) {
        None => Check::pass(id, format!("no browser uses profile {name}")),
        Some(holder) => Check::fail(
            id,
            format!("{} is in use by {holder}", folder.display()),
            "stop that browser, or use another profile (--profile)",
        ),
    }
}

/// Checks for a display if browsers open windows.
pub(super) fn display(profile: &Profile, config: &Config) -> Check {
    let around = Surroundings::read();
    let decided = profile.settings().headless(&around, &config.browser.extra_args);
    if !decided.on && !around.display {
        let hint = "set browser.headless: true in config.yaml, or set DISPLAY or WAYLAND_DISPLAY";
        return Check::fail("display", "browsers are configured to open a window, but there is no display", hint);
    }
    let what = if decided.on { "browsers start without a window" } else { "browsers open a window" };
    Check::pass("display", format!("{what}: {}", decided.because))
}

/// Checks the browser sandbox.
pub(super) fn sandbox(profile: &Profile, config: &Config) -> Check {
    let around = Surroundings::read();
    let without = profile.settings().no_sandbox(&around, &config.browser.extra_args);
    if without.on {
        let hint = "open trusted pages only, or run as a non-root user";
        return Check::warn("sandbox", format!("browsers start without a sandbox: {}", without.because), hint);
    }
    if around.root {
        let hint =
            "run as a non-root user; in a disposable container, browser.no_sandbox: true starts it without a sandbox";
        let what = format!("{}, but Chromium cannot use its sandbox as root", without.because);
        return Check::fail("sandbox", what, hint);
    }
    Check::pass("sandbox", format!("the sandbox is on: {}", without.because))
}

/// Checks the free disk space of the home.
pub(super) fn disk(home: &Home) -> Check {
    let folder = home.root().ancestors().find(|folder| folder.is_dir()).unwrap_or(home.root());
    let free = browser::disk_space(folder).map(|space| space.free);
    match free {
        Some(free) if free < MIN_FREE_SPACE => Check::fail(
            "disk",
            format!("{} has {} MiB of free space", home.root().display(), free >> 20),
            "browsers store their profiles there; free some space",
        ),
        Some(free) => Check::pass("disk", format!("{} MiB free", free >> 20)),
        None => Check::pass("disk", "the free space is unknown on this system"),
    }
}

/// Checks the server of the home, or the port it would use.
pub(super) fn server(home: &Home, config: &Config) -> Check {
    let port = config.server.port;
    match Running::of(home) {
        Ok(None) if port == 0 => Check::pass("server", "not running; browser commands start it on any free port"),
        Ok(None) if is_free(port) => {
            Check::pass("server", format!("not running; browser commands start it on port {port}, which is free"))
        }
        Ok(None) => Check::warn(
            "server",
            format!("not running, and {}", port_in_use(port)),
            "browser commands start it on another port; for `cdpilot serve`, stop the other program or set server.port",
        ),
        Ok(Some(running)) if running.version != env!("CARGO_PKG_VERSION") => Check::warn(
            "server",
            format!(
                "version {} is running at {}, but this is version {}",
                running.version,
                running.url,
                env!("CARGO_PKG_VERSION")
            ),
            format!("stop it (process {}); the next browser command starts this version", running.pid),
        ),
        Ok(Some(running)) => Check::pass("server", format!("running at {} (process {})", running.url, running.pid)),
        Err(problem) => Check::fail("server", problem.to_string(), "check the folder `run` of the home"),
    }
}
