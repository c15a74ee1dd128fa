//! What a browser is started with, and what is decided when the options leave it open.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::find::Os;
use crate::cdp::ConnectOptions;

/// How to start a browser. The default is what most callers want: any browser found, a fresh profile
/// that is removed at the end, a pipe as transport.
///
/// ```
/// use cdpilot::browser::{LaunchOptions, Switch, TransportKind};
/// let options = LaunchOptions { headless: Switch::On, transport: TransportKind::Port(0), ..Default::default() };
/// ```
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    /// The executable, a macOS application bundle, or a program name in `PATH`. `None` searches, see
    /// [`find`](super::find).
    pub executable: Option<PathBuf>,
    /// The profile folder (Chrome's "user data directory"); made with mode 0700 when it is missing.
    /// `None` takes a fresh temporary one that is removed at the end.
    pub user_data_dir: Option<PathBuf>,
    /// Without a window. `Auto`: see [`Surroundings::headless`].
    pub headless: Switch,
    /// Without Chromium's sandbox. `Auto`: see [`Surroundings::no_sandbox`].
    pub no_sandbox: Switch,
    /// How we talk to the browser, and whether others may.
    pub transport: TransportKind,
    /// Arguments added behind ours. Those that would take the browser out of our hands are refused.
    pub extra_args: Vec<String>,
    /// Size of a new window in pixels, width and height.
    pub window_size: Option<(u32, u32)>,
    /// Size of the page's area in a browser without a window, in CSS pixels; comes before `window_size` there.
    pub viewport: Option<(u32, u32)>,
    /// What the browser calls itself to servers and scripts.
    pub user_agent: UserAgent,
    /// Rules for names and addresses that the browser connects to, as in Chromium's `--host-resolver-rules`. They come
    /// before those in `extra_args`.
    pub resolver_rules: Vec<String>,
    /// Environment variables set for the browser on top of ours.
    pub env: Vec<(String, String)>,
    /// How long the start may take, to the first answer of the browser.
    pub start_timeout: Duration,
    /// How the connection is made.
    pub connect: ConnectOptions,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            executable: None,
            user_data_dir: None,
            headless: Switch::Auto,
            no_sandbox: Switch::Auto,
            transport: TransportKind::Pipe,
            extra_args: Vec::new(),
            window_size: None,
            viewport: None,
            user_agent: UserAgent::Native,
            resolver_rules: Vec::new(),
            env: Vec::new(),
            start_timeout: Duration::from_secs(20),
            connect: ConnectOptions::default(),
        }
    }
}

impl LaunchOptions {
    /// The default options.
    ///
    /// ```
    /// use cdpilot::browser::LaunchOptions;
    /// let options = LaunchOptions::new().headless(true).viewport(1280, 800).arg("--lang=de");
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts this executable, macOS application bundle or program in `PATH`. Default: search for one.
    #[must_use]
    pub fn executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.executable = Some(path.into());
        self
    }

    /// Uses this profile folder and keeps it. Default: a temporary one.
    #[must_use]
    pub fn user_data_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.user_data_dir = Some(folder.into());
        self
    }

    /// Runs without a window, or with one. Default: without one when there is no display.
    #[must_use]
    pub fn headless(mut self, headless: bool) -> Self {
        self.headless = headless.into();
        self
    }

    /// Runs with Chromium's sandbox, or without. Default: without it as root in a container only.
    #[must_use]
    pub fn sandbox(mut self, sandbox: bool) -> Self {
        self.no_sandbox = (!sandbox).into();
        self
    }

    /// How to talk to the browser, and whether others may. Default: a pipe that nobody else reaches.
    #[must_use]
    pub fn transport(mut self, transport: TransportKind) -> Self {
        self.transport = transport;
        self
    }

    /// Adds an argument for the browser.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.extra_args.push(argument.into());
        self
    }

    /// Size of a new window, in pixels.
    #[must_use]
    pub fn window_size(mut self, width: u32, height: u32) -> Self {
        self.window_size = Some((width, height));
        self
    }

    /// Size of the viewport of a browser without a window, in CSS pixels.
    #[must_use]
    pub fn viewport(mut self, width: u32, height: u32) -> Self {
        self.viewport = Some((width, height));
        self
    }

    /// The user agent. Default: the browser's own.
    #[must_use]
    pub fn user_agent(mut self, user_agent: UserAgent) -> Self {
        self.user_agent = user_agent;
        self
    }

    /// Adds rules in the syntax of Chromium's `--host-resolver-rules`.
    #[must_use]
    pub fn resolver_rules<R: Into<String>>(mut self, rules: impl IntoIterator<Item = R>) -> Self {
        self.resolver_rules.extend(rules.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable for the browser.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// How long the start may take. Default: 20 s.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// How the connection is made.
    #[must_use]
    pub fn connect(mut self, connect: ConnectOptions) -> Self {
        self.connect = connect;
        self
    }
}

impl From<bool> for Switch {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

/// What a browser that we start calls itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserAgent {
    /// Whatever it does by itself.
    #[default]
    Native,
    /// The same as with a window: without the word `HeadlessChrome`.
    LikeHeaded,
    /// This text.
    Text(String),
}

/// A setting that may be left to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Switch {
    /// We decide and say why.
    #[default]
    Auto,
    /// Yes.
    On,
    /// No.
    Off,
}

/// How we talk to a browser that we start.
///
/// On Unix the browser always gets a pipe, with `Port` as a life line only: Chromium ends when its
/// pipe closes, so it ends with us whatever ends us, and a small guard process ends one that hangs.
/// Windows has no such pipe; there `Pipe` means `Port(0)`, and a job object ties the browser to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransportKind {
    /// A pipe that nobody else can reach.
    #[default]
    Pipe,
    /// A WebSocket on this loopback port; 0 for any free one.
    Port(u16),
    /// The pipe for us, and this loopback port for others; 0 for any free one.
    PipeAndPort(u16),
}

impl TransportKind {
    /// The debugging port asked for, 0 for any free one.
    #[must_use]
    pub fn port(self) -> Option<u16> {
        match self {
            Self::Pipe => None,
            Self::Port(port) | Self::PipeAndPort(port) => Some(port),
        }
    }

    /// What it comes down to on a family of systems.
    #[must_use]
    pub fn on(self, os: Os) -> Self {
        match (os, self) {
            (Os::Windows, Self::Pipe) => Self::Port(0),
            (Os::Windows, Self::PipeAndPort(port)) => Self::Port(port),
            _ => self,
        }
    }
}

/// What was decided, and why, in words for a status page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The decision.
    pub on: bool,
    /// The reason.
    pub because: String,
}

impl Decision {
    fn new(on: bool, because: impl Into<String>) -> Self {
        Self { on, because: because.into() }
    }
}

/// What the decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The family of systems.
    pub os: Os,
    /// Whether we run as root.
    pub root: bool,
    /// Whether there is a display to open a window on.
    pub display: bool,
    /// The sign that this is a container or another machine that is thrown away, if there is one.
    pub container: Option<String>,
    /// `CDPILOT_HEADLESS`.
    pub headless_env: Option<String>,
}

impl Surroundings {
    /// Looks around on this machine.
    #[must_use]
    pub fn read() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let os = Os::this();
        Self {
            os,
            root: is_root(),
            display: os != Os::Linux || set("DISPLAY") || set("WAYLAND_DISPLAY"),
            container: container_sign(&set, &|path| std::fs::read_to_string(path).ok()),
            headless_env: std::env::var("CDPILOT_HEADLESS").ok().filter(|value| !value.is_empty()),
        }
    }

    /// Whether to run without a window: as asked; else as an extra argument says; else as
    /// `CDPILOT_HEADLESS` says (`1`, `true`, `yes`, `on` or their opposites); else exactly when there is
    /// no display (Linux without `DISPLAY` and `WAYLAND_DISPLAY`).
    #[must_use]
    pub fn headless(&self, wish: Switch, extra_args: &[String]) -> Decision {
        if let Some(on) = asked(wish) {
            return Decision::new(on, "asked for");
        }
        if has_flag(extra_args, "headless") {
            return Decision::new(true, "an extra argument says so");
        }
        match self.headless_env.as_deref().map(str::to_ascii_lowercase).as_deref() {
            Some("1" | "true" | "yes" | "on") => return Decision::new(true, "CDPILOT_HEADLESS says so"),
            Some("0" | "false" | "no" | "off") => return Decision::new(false, "CDPILOT_HEADLESS says so"),
            _ => {}
        }
        if self.display {
            Decision::new(false, "there is a display")
        } else {
            Decision::new(true, "there is no display")
        }
    }

    /// Whether to run without the sandbox: as asked; else as an extra argument says; else exactly when
    /// we are root on Linux in a container-like place.
    ///
    /// Chromium does not run as root with its sandbox, and a container that is thrown away bounds what
    /// a page that breaks out can reach. Root on a machine of its own gets no such exception: there the
    /// start fails with [`Error::Sandbox`](super::Error::Sandbox), which says what to do.
    #[must_use]
    pub fn no_sandbox(&self, wish: Switch, extra_args: &[String]) -> Decision {
        if let Some(on) = asked(wish) {
            return Decision::new(on, "asked for");
        }
        if has_flag(extra_args, "no-sandbox") {
            return Decision::new(true, "an extra argument says so");
        }
        match (&self.container, self.root && self.os == Os::Linux) {
            (_, false) => Decision::new(false, "not running as root on Linux"),
            (Some(sign), true) => Decision::new(true, format!("running as root in a container-like place ({sign})")),
            (None, true) => Decision::new(false, "running as root, but not in a container-like place"),
        }
    }
}

/// Looks for a sign of a container or another machine that is thrown away. `set` tells whether an
/// environment variable is set, `read` reads a file.
#[must_use]
pub fn container_sign(set: &dyn Fn(&str) -> bool, read: &dyn Fn(&Path) -> Option<String>) -> Option<String> {
    /// First processes of machines that are looked after by a person.
    const INITS: [&str; 9] =
        ["systemd", "init", "launchd", "runit", "openrc-init", "s6-svscan", "dinit", "shepherd", "busybox"];
    if let Some(file) = ["/.dockerenv", "/run/.containerenv"].into_iter().find(|f| read(Path::new(f)).is_some()) {
        return Some(file.to_owned());
    }
    if let Some(name) = ["container", "KUBERNETES_SERVICE_HOST", "CI"].into_iter().find(|name| set(name)) {
        return Some(format!("{name} is set"));
    }
    let groups = read(Path::new("/proc/1/cgroup")).unwrap_or_default();
    if let Some(word) =
        ["docker", "kubepods", "containerd", "libpod", "lxc"].into_iter().find(|word| groups.contains(word))
    {
        return Some(format!("control group of {word}"));
    }
    let first = read(Path::new("/proc/1/comm"))?;
    let first = first.trim();
    (!first.is_empty() && !INITS.contains(&first)).then(|| format!("the first process is {first}"))
}

/// Whether `args` hold the switch `name`, with or without a value.
pub(super) fn has_flag(args: &[String], name: &str) -> bool {
    args.iter().any(|arg| flag_name(arg) == Some(name))
}

/// Name of a switch: Chromium takes one or two dashes, and on Windows a slash.
pub(super) fn flag_name(arg: &str) -> Option<&str> {
    let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
    let name = if cfg!(windows) { name.or_else(|| arg.strip_prefix('/')) } else { name };
    name.map(|name| name.split_once('=').map_or(name, |(name, _)| name))
}

fn asked(wish: Switch) -> Option<bool> {
    match wish {
        Switch::Auto => None,
        Switch::On => Some(true),
        Switch::Off => Some(false),
    }
}

fn is_root() -> bool {
    #[cfg(unix)]
    return rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    false
}
