//! Finding the browser: a given path, `CDPILOT_BROWSER`, or the usual places of packages and installers.
//!
//! [`search`] is pure: environment and file system are passed as functions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Error, install};
use crate::setters;

/// Families of operating systems, as far as paths and package managers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Os {
    /// Linux and other Unix systems without application bundles.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

impl Os {
    /// The family this program was built for.
    #[must_use]
    pub const fn this() -> Self {
        if cfg!(target_os = "macos") {
            Self::Mac
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// The source of an executable's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Given by the caller.
    Explicit,
    /// The variable `CDPILOT_BROWSER`.
    Environment,
    /// Found in the usual places.
    System,
}

/// The executable of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Path of the executable.
    pub path: PathBuf,
    /// Where the path came from.
    pub origin: Origin,
}

impl Found {
    /// An executable, and what led to it.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, origin: Origin) -> Self {
        Self { path: path.into(), origin }
    }
}

/// The inputs of a search.
#[non_exhaustive]
pub struct Sources<'a> {
    /// The family of operating systems.
    pub os: Os,
    /// A path or program name; nothing else is tried then.
    pub explicit: Option<&'a Path>,
    /// Reads an environment variable: `CDPILOT_BROWSER`, `PATH`, `HOME`, `ProgramFiles`,
    /// `ProgramFiles(x86)`, `LOCALAPPDATA`.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// Whether a path is an executable program. The error says why not.
    pub usable: &'a dyn Fn(&Path) -> Result<(), String>,
}

/// The source of a path that the caller gave, in [`Error::Executable`]; callers that know more replace it.
pub const GIVEN: &str = "given";

impl<'a> Sources<'a> {
    /// A search in all places of this family of systems.
    #[must_use]
    pub fn new(
        os: Os,
        env: &'a dyn Fn(&str) -> Option<OsString>,
        usable: &'a dyn Fn(&Path) -> Result<(), String>,
    ) -> Self {
        Self { os, explicit: None, env, usable }
    }
}

setters! { <'a> Sources<'a>: explicit(some &'a Path) }

/// Finds a browser on this machine.
///
/// # Errors
/// [`Error::NotFound`] when there is none, [`Error::Executable`] when a given one (`explicit` or `CDPILOT_BROWSER`)
/// cannot be used: no other one is started instead.
pub fn find(explicit: Option<&Path>) -> Result<Found, Error> {
    search(&Sources { os: Os::this(), explicit, env: &|name| std::env::var_os(name), usable: &usable })
}

/// Searches in this order: the given path, `CDPILOT_BROWSER`, the usual places of the system.
///
/// # Errors
/// As [`find`].
pub fn search(sources: &Sources<'_>) -> Result<Found, Error> {
    if let Some(path) = sources.explicit {
        return named(sources, path, Origin::Explicit, GIVEN);
    }
    if let Some(value) = (sources.env)("CDPILOT_BROWSER").filter(|value| !value.is_empty()) {
        return named(sources, Path::new(&value), Origin::Environment, "from CDPILOT_BROWSER");
    }
    let mut tried = Vec::new();
    for candidate in candidates(sources) {
        match (sources.usable)(&candidate.path) {
            Ok(()) => return Ok(Found { path: candidate.path, origin: Origin::System }),
            Err(_) if tried.last() == Some(&candidate.label) => {}
            Err(_) => tried.push(candidate.label),
        }
    }
    let install = install::plan().map(|plan| plan.command_line());
    Err(Error::NotFound { tried, install })
}

/// A browser given by a path, an application bundle, or a program name in `PATH`.
fn named(sources: &Sources<'_>, path: &Path, origin: Origin, words: &'static str) -> Result<Found, Error> {
    let mut candidates = Vec::new();
    let mut problem = "it is in no folder of PATH; give the full path".to_owned();
    if sources.os == Os::Mac && path.extension().is_some_and(|e| e == "app") {
        candidates.extend(path.file_stem().map(|name| path.join("Contents/MacOS").join(name)));
    }
    if candidates.is_empty() && path.components().count() == 1 && !path.is_absolute() {
        // Never in the current folder: anyone may have put a program there.
        candidates.extend(path_folders(sources).into_iter().map(|folder| folder.join(path)));
    } else {
        candidates.push(path.to_owned());
    }
    for candidate in candidates {
        match (sources.usable)(&candidate) {
            Ok(()) => return Ok(Found { path: candidate, origin }),
            Err(why) => problem = why,
        }
    }
    Err(Error::Executable { path: path.to_owned(), origin: words, problem })
}

struct Candidate {
    path: PathBuf,
    /// The label in the error: a program name stands for all folders of `PATH`.
    label: String,
}

impl Candidate {
    fn at(path: PathBuf) -> Self {
        Self { label: path.display().to_string(), path }
    }
}

fn candidates(sources: &Sources<'_>) -> Vec<Candidate> {
    match sources.os {
        Os::Mac => mac(sources),
        Os::Windows => windows(sources),
        Os::Linux => linux(sources),
    }
}

/// Canary and Chromium first: they are rarely a user's everyday browser.
const MAC_APPS: [&str; 5] = ["Google Chrome Canary", "Chromium", "Google Chrome", "Brave Browser", "Microsoft Edge"];

fn mac(sources: &Sources<'_>) -> Vec<Candidate> {
    let mut folders = vec![PathBuf::from("/Applications")];
    folders.extend((sources.env)("HOME").map(|home| Path::new(&home).join("Applications")));
    let bundle =
        |folder: &PathBuf, app: &str| Candidate::at(folder.join(format!("{app}.app")).join("Contents/MacOS").join(app));
    MAC_APPS.iter().flat_map(|app| folders.iter().map(move |folder| bundle(folder, app))).collect()
}

const LINUX_NAMES: [&str; 10] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "google-chrome-beta",
    "google-chrome-unstable",
    "brave-browser",
    "brave-browser-stable",
    "microsoft-edge-stable",
    "microsoft-edge",
];

/// For a `PATH` that lacks the usual folders, as under cron or a service manager.
const LINUX_PATHS: [&str; 10] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/snap/bin/chromium",
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/opt/chromium/chrome",
    "/opt/brave.com/brave/brave",
    "/opt/brave-bin/brave",
    "/opt/microsoft/msedge/msedge",
    "/var/lib/flatpak/exports/bin/org.chromium.Chromium",
];

fn linux(sources: &Sources<'_>) -> Vec<Candidate> {
    let folders = path_folders(sources);
    let by_name = LINUX_NAMES.iter().flat_map(|name| {
        folders.iter().map(move |folder| Candidate { path: folder.join(name), label: (*name).to_owned() })
    });
    by_name.chain(LINUX_PATHS.iter().map(|path| Candidate::at(PathBuf::from(path)))).collect()
}

const WINDOWS_PATHS: [&str; 5] = [
    r"Chromium\Application\chrome.exe",
    r"Google\Chrome SxS\Application\chrome.exe",
    r"Google\Chrome\Application\chrome.exe",
    r"BraveSoftware\Brave-Browser\Application\brave.exe",
    r"Microsoft\Edge\Application\msedge.exe",
];

fn windows(sources: &Sources<'_>) -> Vec<Candidate> {
    let roots: Vec<String> = ["ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA"]
        .iter()
        .filter_map(|name| (sources.env)(name))
        .map(|root| root.to_string_lossy().into_owned())
        .collect();
    WINDOWS_PATHS
        .iter()
        .flat_map(|tail| roots.iter().map(move |root| Candidate::at(PathBuf::from(format!(r"{root}\{tail}")))))
        .collect()
}

fn path_folders(sources: &Sources<'_>) -> Vec<PathBuf> {
    (sources.env)("PATH")
        .map(|path| std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect())
        .unwrap_or_default()
}

/// Whether a path is an executable program. The error says why not.
///
/// Ubuntu's `chromium-browser` package is a small script that only refers to the snap; without the snap it counts as
/// missing.
///
/// # Errors
/// The reason, as part of a sentence.
pub fn usable(path: &Path) -> Result<(), String> {
    let facts = std::fs::metadata(path).map_err(|problem| match problem.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => problem.to_string(),
    })?;
    if !facts.is_file() {
        return Err("it is not a file".to_owned());
    }
    #[cfg(unix)]
    {
        if rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
            return Err("it is not executable".to_owned());
        }
        const SCRIPT: u64 = 16 * 1024;
        const SNAP: &str = "/snap/bin/chromium";
        if facts.len() < SCRIPT
            && std::fs::read_to_string(path).is_ok_and(|text| text.contains(SNAP))
            && !Path::new(SNAP).exists()
        {
            return Err("it only refers to the chromium snap, which is not installed".to_owned());
        }
    }
    Ok(())
}
