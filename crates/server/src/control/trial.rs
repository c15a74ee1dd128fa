//! Checks of `doctor` that perform an operation: start a browser, connect to a remote endpoint, write to folders.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::profiles::Profiles;
use super::{Check, Profile};
use crate::config::Config;
use cdpilot::browser::{AttachOptions, BrowserProcess, DiskSpace, LaunchOptions, Switch, disk_space, reap};
use cdpilot::sync::Deadline;

/// Free space in bytes below which a browser's profile may not fit.
const MIN_FREE_SPACE: u64 = 200 << 20;
/// Docker's default size of shared memory, in bytes.
const MIN_SHARED_MEMORY: u64 = 64 << 20;
/// Time limits for starting a browser, closing it, and connecting to a remote endpoint.
const LAUNCH: Duration = Duration::from_secs(20);
const CLOSE: Duration = Duration::from_secs(5);
const ATTACH: Duration = Duration::from_secs(5);
/// How long the result of a successful start is reused.
const FRESH: Duration = Duration::from_secs(60);

/// The last successful start. Locked during a start, so that only one browser is started at a time.
static LAST: Mutex<Option<(Instant, LaunchOptions, String)>> = Mutex::new(None);

/// Checks that a browser works: a running one, else one that is started or attached to temporarily.
pub(super) fn launch(profile: &Profile, profiles: &Profiles, config: &Config, deadline: Deadline<'_>) -> Option<Check> {
    let settings = profile.settings();
    let remote = settings.is_remote(config.browser.attach_only);
    let id = if remote { "endpoint" } else { "launch" };
    let is_alike = |other: &Profile| other.settings().is_remote(config.browser.attach_only) == remote;
    let running = profiles.all().into_iter().filter(|other| is_alike(other)).find(|other| other.running().is_ok());
    if let Some(other) = running {
        let product = other.status().browser.unwrap_or_default();
        return Some(Check::pass(id, format!("the browser of profile {} is running ({product})", other.name())));
    }
    if remote {
        return settings.cdp_url.as_deref().map(|url| endpoint(url, deadline));
    }
    let mut options = LaunchOptions::default();
    options.executable = settings.executable.clone();
    options.headless = Switch::On;
    options.no_sandbox = settings.no_sandbox;
    options.start_timeout = deadline.within(LAUNCH).left();
    Some(start(options, deadline))
}

fn start(options: LaunchOptions, deadline: Deadline<'_>) -> Check {
    const ID: &str = "launch";
    let Some(mut last) = LAST.try_lock() else {
        return Check::warn(ID, "another check is starting a browser", "run doctor again in a few seconds");
    };
    let same =
        |known: &LaunchOptions| (&known.executable, known.no_sandbox) == (&options.executable, options.no_sandbox);
    if let Some((_, _, summary)) = last.as_ref().filter(|(at, known, _)| at.elapsed() < FRESH && same(known)) {
        return Check::pass(ID, summary.as_str());
    }
    *last = None;
    let began = Instant::now();
    let browser = match BrowserProcess::launch_until(&options, deadline) {
        Ok(browser) => browser,
        Err(error) => return Check::failed(ID, &error),
    };
    let summary = format!("{} started in {} ms and closed", browser.version().product, began.elapsed().as_millis());
    match browser.close(deadline.within(CLOSE)) {
        Ok(()) => {
            *last = Some((Instant::now(), options, summary.clone()));
            Check::pass(ID, summary)
        }
        Err(error) => Check::failed(ID, &error),
    }
}

fn endpoint(url: &str, deadline: Deadline<'_>) -> Check {
    let timeout = deadline.within(ATTACH).left();
    let mut options = AttachOptions::default();
    (options.connect.connect_timeout, options.webdriver.session_timeout) = (timeout, timeout);
    match BrowserProcess::attach_until(url, &options, deadline) {
        Ok(browser) => Check::pass("endpoint", format!("the remote browser responds ({})", browser.version().product)),
        Err(error) => Check::failed("endpoint", &error),
    }
}

/// Ends browsers and removes temporary profiles of killed cdpilot processes, and reports them.
pub(super) fn leftovers() -> Check {
    const ID: &str = "leftovers";
    let found = reap();
    let cleared = match (found.ended.len(), found.removed.len()) {
        (0, 0) => None,
        (0, profiles) => Some(format!("removed {profiles} leftover temporary profiles")),
        (browsers, profiles) => {
            Some(format!("ended {browsers} leftover browsers and removed {profiles} temporary profiles"))
        }
    };
    let Some(left) = found.left.first() else {
        return match cleared {
            None => Check::pass(ID, "no leftover browsers or temporary profiles"),
            Some(cleared) => {
                let hint = "no action needed; stop programs with Ctrl-C or SIGTERM instead of SIGKILL, so that they can clean up";
                Check::warn(ID, cleared, hint)
            }
        };
    };
    let more = match found.left.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let also = cleared.map(|cleared| format!("; {cleared}")).unwrap_or_default();
    let what = format!("cannot clean up {}: {}{more}{also}", left.folder.display(), left.problem);
    Check::warn(ID, what, "end the processes that use the folder (see `ps`) and delete the folder")
}

/// Checks the folder for temporary files, in which browsers without a profile store their data.
pub(super) fn temporary() -> Check {
    const HINT: &str = "set TMPDIR to a writable folder";
    let folder = std::env::temp_dir();
    let shown = folder.display();
    if let Err(problem) = can_write(&folder) {
        return Check::fail("temp", format!("{shown} is not writable: {problem}"), HINT);
    }
    match disk_space(&folder) {
        Some(DiskSpace { free, .. }) if free < MIN_FREE_SPACE => Check::warn(
            "temp",
            format!("{shown} has {} of free space", mebibytes(free)),
            "browsers store temporary profiles there; free some space",
        ),
        Some(DiskSpace { free, .. }) => Check::pass("temp", format!("{shown} is writable, {} free", mebibytes(free))),
        None => Check::pass("temp", format!("{shown} is writable")),
    }
}

/// Checks that there are fonts with emoji and with Chinese, Japanese and Korean characters; `None` where fontconfig, which
/// Chromium uses on Linux, cannot be asked.
pub(super) fn fonts() -> Option<Check> {
    let listed = |character: &str| {
        let asked = Command::new("fc-list").args([&format!(":charset={character}"), "family"]).output().ok()?;
        asked.status.success().then_some(!asked.stdout.is_empty())
    };
    // A smiling face and the character for "Chinese".
    Some(fonts_of(listed("1f600")?, listed("6f22")?))
}

fn fonts_of(emoji: bool, cjk: bool) -> Check {
    let (what, package) = match (emoji, cjk) {
        (true, true) => return Check::pass("fonts", "there are fonts for emoji and for Chinese, Japanese and Korean"),
        (false, true) => ("emoji", "fonts-noto-color-emoji"),
        (true, false) => ("Chinese, Japanese and Korean", "fonts-noto-cjk"),
        (false, false) => ("emoji or for Chinese, Japanese and Korean", "fonts-noto-color-emoji fonts-noto-cjk"),
    };
    let hint = format!("install fonts, on Debian and Ubuntu with `apt-get install {package}`");
    Check::warn("fonts", format!("there is no font for {what}: screenshots show boxes instead"), hint)
}

/// Checks shared memory. Launched browsers do not use it; the tabs of others crash when it is full.
pub(super) fn shared_memory() -> Check {
    let hint = "needed only by browsers that cdpilot attaches to; in a container, use --shm-size=1g";
    match disk_space(Path::new("/dev/shm")) {
        Some(DiskSpace { total, .. }) if total > MIN_SHARED_MEMORY => {
            Check::pass("shared_memory", format!("/dev/shm has {}", mebibytes(total)))
        }
        Some(DiskSpace { total, .. }) => {
            Check::warn("shared_memory", format!("/dev/shm has only {}", mebibytes(total)), hint)
        }
        None => Check::warn("shared_memory", "/dev/shm does not exist", hint),
    }
}

/// Creates a file in a folder and removes it.
pub(super) fn can_write(folder: &Path) -> io::Result<()> {
    tempfile::Builder::new().prefix(".cdpilot-doctor-").tempfile_in(folder).map(drop)
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::CheckStatus;

    #[test]
    fn missing_fonts_are_named() {
        assert_eq!(fonts_of(true, true).status, CheckStatus::Pass);
        for (emoji, cjk, package) in
            [(false, true, "emoji"), (true, false, "cjk"), (false, false, "emoji fonts-noto-cjk")]
        {
            let check = fonts_of(emoji, cjk);
            assert_eq!(check.status, CheckStatus::Warn);
            assert!(format!("{check:?}").contains(package), "{check:?}");
        }
    }
}
