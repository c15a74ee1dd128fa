//! What `doctor` looks at, one by one.

use std::fs;
use std::io;
use std::path::Path;

use super::port_holder::port_in_use;
use super::ports::is_free;
use super::trial::can_write;
use super::{Check, CheckStatus, Profile};
use crate::browser::{self, Surroundings, find};
use crate::config::{Config, Home, Running, Token};

/// Free space below which a browser's profile may not fit.
const MIN_FREE_SPACE: u64 = 200 << 20;

impl Check {
    fn new(id: &'static str, status: CheckStatus, summary: impl Into<String>, hint: Option<String>) -> Self {
        Self { id: id.to_owned(), status, summary: summary.into(), fix_hint: hint }
    }

    /// All is well.
    pub(super) fn pass(id: &'static str, summary: impl Into<String>) -> Self {
        Self::new(id, CheckStatus::Pass, summary, None)
    }

    /// Something to know about, and what to do.
    pub(super) fn warn(id: &'static str, summary: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(id, CheckStatus::Warn, summary, Some(hint.into()))
    }

    /// Something does not work, and what to do.
    pub(super) fn fail(id: &'static str, summary: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(id, CheckStatus::Fail, summary, Some(hint.into()))
    }

    /// From an error whose message ends in what to do, behind a semicolon.
    pub(super) fn failed(id: &'static str, error: &browser::Error) -> Self {
        let text = error.to_string();
        match text.split_once("; ") {
            Some((what, hint)) => Self::fail(id, what, hint),
            None => Self::new(id, CheckStatus::Fail, text, None),
        }
    }
}

/// The home: whether it can be written to, and by its owner alone.
pub(super) fn home(home: &Home) -> Check {
    let (shown, hint) = (home.root().display(), "set CDPILOT_HOME to a folder that you may write to");
    if !home.root().is_dir() {
        if home.root().exists() {
            return Check::fail("home", format!("{shown} is not a folder"), hint);
        }
        // The nearest thing above it that exists; a file cannot be written into either.
        let above = home.root().ancestors().skip(1).find(|folder| folder.exists());
        return match above.map(can_write) {
            Some(Ok(())) => Check::pass("home", format!("{shown} does not exist yet and can be created")),
            Some(Err(problem)) => Check::fail("home", format!("{shown} cannot be created: {problem}"), hint),
            None => Check::fail("home", format!("{shown} cannot be created"), hint),
        };
    }
    if let Err(problem) = can_write(home.root()) {
        return Check::fail("home", format!("{shown} cannot be written to: {problem}"), hint);
    }
    match open_to_others(home.root()) {
        Ok(false) => Check::pass("home", format!("{shown} can be written to, and is yours alone")),
        Ok(true) => Check::fail("home", format!("{shown} can be looked into by others"), fix(home.root(), "700")),
        Err(problem) => Check::fail("home", format!("{shown} cannot be looked at: {problem}"), "look at the folder"),
    }
}

/// `config.yaml`, as it is now: a server has read it at its start.
pub(super) fn config(home: &Home) -> Check {
    let path = home.config();
    match Config::of(home) {
        Ok(_) if path.is_file() => Check::pass("config", format!("{} is valid", path.display())),
        Ok(_) => Check::pass("config", format!("there is no {}; the defaults hold", path.display())),
        Err(problem) => Check::fail("config", problem.to_string(), "correct the file, then restart the server"),
    }
}

/// The token: whether there is one, for its owner alone.
pub(super) fn token(home: &Home) -> Check {
    let path = home.token();
    match Token::read(home) {
        Ok(None) => Check::pass("token", "there is none yet; the first start of the server makes one"),
        Err(problem) => Check::fail("token", problem.to_string(), format!("delete {}", path.display())),
        Ok(Some(_)) if open_to_others(&path).unwrap_or(false) => {
            Check::fail("token", format!("{} can be read by others", path.display()), fix(&path, "600"))
        }
        Ok(Some(_)) => Check::pass("token", "it is yours alone"),
    }
}

/// Whether anybody but the owner may do something with it.
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
    format!("run `cdpilot doctor --fix`, or chmod {mode} {}", path.display())
}

/// The browser's executable and its version.
pub(super) fn browser(profile: &Profile) -> Check {
    let status = profile.status();
    if let (Some(product), path) = (&status.browser, status.executable_path.as_deref().unwrap_or("attached to")) {
        return Check::pass("browser", format!("{product} ({path}), it runs"));
    }
    if status.transport == "remote" {
        return Check::pass("browser", "none is started here: the profile attaches to one");
    }
    match find::find(profile.settings().executable.as_deref()) {
        Err(error) => Check::failed("browser", &error),
        Ok(found) => match browser::version_of(&found.path) {
            _ if cfg!(windows) => Check::pass("browser", format!("found ({})", found.path.display())),
            Some(version) => Check::pass("browser", format!("{version} ({})", found.path.display())),
            None => Check::warn(
                "browser",
                format!("{} does not tell its version", found.path.display()),
                "start it by hand to see whether it works, or set CDPILOT_BROWSER to another one",
            ),
        },
    }
}

/// The port that a profile's browser listens on.
pub(super) fn port(profile: &Profile) -> Check {
    let (id, name) = ("port", profile.name());
    if let Ok(running) = profile.running() {
        return match running.facts.cdp_port {
            Some(port) => Check::pass(id, format!("{port} is that of the running browser of profile {name}")),
            None => Check::pass(id, format!("the browser of profile {name} runs without one")),
        };
    }
    match profile.settings().cdp_port {
        _ if !profile.settings().opens_port() => Check::pass(id, format!("the browser of profile {name} opens none")),
        None | Some(0) => Check::pass(id, format!("profile {name} takes any free one")),
        Some(port) if is_free(port) => Check::pass(id, format!("{port} is free for the browser of profile {name}")),
        Some(port) => Check::warn(
            id,
            format!("{port} is in use by another program"),
            format!("profile {name} takes the next free one; end what uses it, or set another cdp_port"),
        ),
    }
}

/// Who works in a profile's folder.
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
            "end that browser, or use another profile with --profile",
        ),
    }
}

/// Whether a window can be opened, and whether one will be.
pub(super) fn display(profile: &Profile, config: &Config) -> Check {
    let around = Surroundings::read();
    let decided = around.headless(profile.settings().headless, &config.browser.extra_args);
    if !decided.on && !around.display {
        let hint = "set browser.headless: true, or DISPLAY or WAYLAND_DISPLAY";
        return Check::fail("display", "browsers are to open a window, and there is no display", hint);
    }
    let what = if decided.on { "browsers start without a window" } else { "browsers open a window" };
    Check::pass("display", format!("{what}: {}", decided.because))
}

/// Whether browsers run in their sandbox.
pub(super) fn sandbox(profile: &Profile, config: &Config) -> Check {
    let around = Surroundings::read();
    let without = around.no_sandbox(profile.settings().no_sandbox, &config.browser.extra_args);
    if without.on {
        let hint = "visit trusted pages only, or run as an ordinary user";
        return Check::warn("sandbox", format!("browsers start without their sandbox: {}", without.because), hint);
    }
    if around.root {
        let hint = "Chromium does not run as root with its sandbox; run as an ordinary user";
        return Check::fail("sandbox", without.because, hint);
    }
    Check::pass("sandbox", format!("on: {}", without.because))
}

/// Room for profiles and files.
pub(super) fn disk(home: &Home) -> Check {
    let folder = home.root().ancestors().find(|folder| folder.is_dir()).unwrap_or(home.root());
    let free = browser::space(folder).map(|space| space.free);
    match free {
        Some(free) if free < MIN_FREE_SPACE => Check::fail(
            "disk",
            format!("{} has {} MiB left", home.root().display(), free >> 20),
            "browsers keep their profiles there; make room",
        ),
        Some(free) => Check::pass("disk", format!("{} MiB left", free >> 20)),
        None => Check::pass("disk", "the system does not tell how much is left"),
    }
}

/// The server of the home, or the port that it would take.
pub(super) fn server(home: &Home, config: &Config) -> Check {
    let port = config.server.port;
    match Running::of(home) {
        Ok(None) if port == 0 => Check::pass("server", "none runs; a browser command starts one on any free port"),
        Ok(None) if is_free(port) => {
            Check::pass("server", format!("none runs; a browser command starts one on port {port}, which is free"))
        }
        Ok(None) => Check::warn(
            "server",
            format!("none runs, and {}", port_in_use(port)),
            "a browser command starts one on another port; for `cdpilot serve` end that program, or set server.port",
        ),
        Ok(Some(running)) if running.version != env!("CARGO_PKG_VERSION") => Check::warn(
            "server",
            format!(
                "one of version {} runs at {}, this is {}",
                running.version,
                running.url,
                env!("CARGO_PKG_VERSION")
            ),
            format!("end it (process {}); the next browser command starts one of this version", running.pid),
        ),
        Ok(Some(running)) => Check::pass("server", format!("one runs at {} (process {})", running.url, running.pid)),
        Err(problem) => Check::fail("server", problem.to_string(), "look at the folder run of the home"),
    }
}
