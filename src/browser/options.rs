//! Options of a start, and decisions where they are left open.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::find::Os;
use crate::cdp::ConnectOptions;
use crate::setters;

/// How to start a browser. The defaults suit most callers: any installed browser, a temporary profile, a pipe as
/// transport.
///
/// ```
/// use cdpilot::browser::{LaunchOptions, TransportKind};
/// let options = LaunchOptions::new().headless(true).transport(TransportKind::Port(0));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LaunchOptions {
    /// The executable, a macOS application bundle, or a program name in `PATH`. `None` searches, see
    /// [`find`](super::find).
    pub executable: Option<PathBuf>,
    /// The profile folder (Chrome's "user data directory"); created with mode 0700 if missing. `None`: a temporary one,
    /// removed at the end.
    pub user_data_dir: Option<PathBuf>,
    /// Run without a window. `Auto`: see [`Surroundings::headless`].
    pub headless: Switch,
    /// Run without Chromium's sandbox. `Auto`: see [`Surroundings::no_sandbox`].
    pub no_sandbox: Switch,
    /// The transport, and whether other programs can connect.
    pub transport: TransportKind,
    /// Extra arguments, appended. Those that would break the control of the browser are refused.
    pub extra_args: Vec<String>,
    /// Size of a new window in pixels: width and height.
    pub window_size: Option<(u32, u32)>,
    /// Viewport of a headless browser in CSS pixels; overrides `window_size` there.
    pub viewport: Option<(u32, u32)>,
    /// The user agent string. Default [`UserAgent::Native`].
    pub user_agent: UserAgent,
    /// Rules for names and addresses, as in Chromium's `--host-resolver-rules`. They precede those in `extra_args`.
    pub resolver_rules: Vec<String>,
    /// Environment variables of the process, in addition to those of this one: name and value.
    pub env: Vec<(String, String)>,
    /// Maximum time to the first answer of the browser.
    pub start_timeout: Duration,
    /// Options of the connection.
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
    pub fn headless(mut self, headless: impl Into<Switch>) -> Self {
        self.headless = headless.into();
        self
    }

    /// Runs with Chromium's sandbox, or without. Default: without it as root in a container only.
    #[must_use]
    pub fn sandbox(mut self, sandbox: bool) -> Self {
        self.no_sandbox = (!sandbox).into();
        self
    }

    /// Sets the transport, and whether other programs can connect. Default: a pipe, which no other process can use.
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

    /// Adds arguments for the browser.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.extra_args.extend(arguments.into_iter().map(Into::into));
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

/// The user agent of a started browser.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UserAgent {
    /// The browser's own string, unchanged: `HeadlessChrome` in it reveals headless mode.
    #[default]
    Native,
    /// The one of a browser with a window: without `HeadlessChrome`.
    LikeHeaded,
    /// This string, for all pages.
    Text(String),
}

/// A setting that may be automatic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Switch {
    /// Decided at the start, with a reason.
    #[default]
    Auto,
    /// Always, whatever the surroundings are.
    On,
    /// Never, whatever the surroundings are.
    Off,
}

/// The transport to a started browser.
///
/// On Unix the browser always gets a pipe, with `Port` only to detect the end of this process: Chromium exits when its
/// pipe closes, and a small reaper process kills one that hangs. Windows has no such pipe; there `Pipe` means
/// `Port(0)`, and a job object ties the browser to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TransportKind {
    /// A pipe, which no other process can use.
    #[default]
    Pipe,
    /// A WebSocket on this loopback port; 0: any free port.
    Port(u16),
    /// A pipe, and this loopback port for other programs; 0: any free port.
    PipeAndPort(u16),
}

impl TransportKind {
    /// The requested debugging port; 0: any free port.
    #[must_use]
    pub fn port(self) -> Option<u16> {
        match self {
            Self::Pipe => None,
            Self::Port(port) | Self::PipeAndPort(port) => Some(port),
        }
    }

    /// The effective transport on a family of operating systems.
    #[must_use]
    pub fn on(self, os: Os) -> Self {
        match (os, self) {
            (Os::Windows, Self::Pipe) => Self::Port(0),
            (Os::Windows, Self::PipeAndPort(port)) => Self::Port(port),
            _ => self,
        }
    }
}

/// A decision with its reason, for a status page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// Whether the feature that was decided about is on.
    pub on: bool,
    /// Why, as a phrase for people, such as `there is no display`.
    pub because: String,
}

impl Decision {
    fn new(on: bool, because: impl Into<String>) -> Self {
        Self { on, because: because.into() }
    }
}

/// The inputs of decisions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surroundings {
    /// The family of systems.
    pub os: Os,
    /// Whether this process runs as root.
    pub root: bool,
    /// Whether there is a display for a window.
    pub display: bool,
    /// The sign of a container or disposable machine, if there is one.
    pub container: Option<String>,
    /// Value of the environment variable `CDPILOT_HEADLESS`; `None` if it is not set or empty.
    pub headless_env: Option<String>,
}

impl Surroundings {
    /// A machine with a display, of a user without administrator rights, outside a container.
    #[must_use]
    pub fn new(os: Os) -> Self {
        Self { os, root: false, display: true, container: None, headless_env: None }
    }
}

setters! { Surroundings:
    root(bool),
    display(bool),
    container(some into String),
    headless_env(some into String),
}

impl Surroundings {
    /// Reads the inputs from this machine.
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

    /// Whether to run without a window: as requested; else as an extra argument says; else as `CDPILOT_HEADLESS` says
    /// (`1`, `true`, `yes`, `on` or their opposites); else if there is no display (Linux without `DISPLAY` and
    /// `WAYLAND_DISPLAY`).
    #[must_use]
    pub fn headless(&self, requested: Switch, extra_args: &[String]) -> Decision {
        if let Some(on) = explicit(requested) {
            return Decision::new(on, "requested");
        }
        if has_flag(extra_args, "headless") {
            return Decision::new(true, "set by an extra argument");
        }
        match self.headless_env.as_deref().map(str::to_ascii_lowercase).as_deref() {
            Some("1" | "true" | "yes" | "on") => return Decision::new(true, "set by CDPILOT_HEADLESS"),
            Some("0" | "false" | "no" | "off") => return Decision::new(false, "set by CDPILOT_HEADLESS"),
            _ => {}
        }
        if self.display {
            Decision::new(false, "there is a display")
        } else {
            Decision::new(true, "there is no display")
        }
    }

    /// Whether to run without the sandbox: as requested; else as an extra argument says; else as root on Linux in a
    /// container-like environment.
    ///
    /// Chromium does not run as root with its sandbox, and a disposable container limits what a page that escapes can
    /// reach. Root on another machine is no exception: there the start fails with
    /// [`Error::Sandbox`](super::Error::Sandbox), which says what to do.
    #[must_use]
    pub fn no_sandbox(&self, requested: Switch, extra_args: &[String]) -> Decision {
        if let Some(on) = explicit(requested) {
            return Decision::new(on, "requested");
        }
        if has_flag(extra_args, "no-sandbox") {
            return Decision::new(true, "set by an extra argument");
        }
        match (&self.container, self.root && self.os == Os::Linux) {
            (_, false) => Decision::new(false, "not running as root on Linux"),
            (Some(sign), true) => {
                Decision::new(true, format!("running as root in a container-like environment ({sign})"))
            }
            (None, true) => Decision::new(false, "running as root, but not in a container-like environment"),
        }
    }
}

/// Finds a sign of a container or disposable machine. `set` says whether an environment variable is set, `read` reads a
/// file.
#[must_use]
pub fn container_sign(set: &dyn Fn(&str) -> bool, read: &dyn Fn(&Path) -> Option<String>) -> Option<String> {
    /// First processes of machines that a person maintains.
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

/// Whether `args` contain the switch `name`, with or without a value.
pub(super) fn has_flag(args: &[String], name: &str) -> bool {
    args.iter().any(|arg| flag_name(arg) == Some(name))
}

/// The name of a switch: Chromium accepts one or two dashes, and on Windows a slash.
pub(super) fn flag_name(arg: &str) -> Option<&str> {
    let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
    let name = if cfg!(windows) { name.or_else(|| arg.strip_prefix('/')) } else { name };
    name.map(|name| name.split_once('=').map_or(name, |(name, _)| name))
}

fn explicit(requested: Switch) -> Option<bool> {
    match requested {
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
