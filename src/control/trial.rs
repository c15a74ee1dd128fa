//! Checks of `doctor` that try something: a browser with a temporary profile, a remote endpoint, the machine's folders.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::profiles::Profiles;
use super::{Check, Profile};
use crate::browser::{AttachOptions, BrowserProcess, LaunchOptions, Space, Switch, reap, space};
use crate::config::Config;
use crate::sync::Deadline;

/// Free space below which a browser's profile may not fit.
const LITTLE_SPACE: u64 = 200 << 20;
/// What Docker gives a container for shared memory.
const LITTLE_SHARED_MEMORY: u64 = 64 << 20;
/// Longest time for the start of a browser, for its end, and for a remote endpoint.
const LAUNCH: Duration = Duration::from_secs(20);
const CLOSE: Duration = Duration::from_secs(5);
const ATTACH: Duration = Duration::from_secs(5);
/// How long a browser that started is not started again for a check.
const FRESH: Duration = Duration::from_secs(60);

/// The last start that succeeded. Held while one is under way, so that requests start one browser at a time.
static LAST: Mutex<Option<(Instant, LaunchOptions, String)>> = Mutex::new(None);

/// Whether a browser works: one that runs already, else one that is started, or attached to, for a moment.
pub(super) fn launch(profile: &Profile, profiles: &Profiles, config: &Config, deadline: Deadline) -> Option<Check> {
    let settings = profile.settings();
    let remote = settings.is_remote(config.browser.attach_only);
    let id = if remote { "endpoint" } else { "launch" };
    let is_alike = |other: &Profile| other.settings().is_remote(config.browser.attach_only) == remote;
    let running = profiles.all().into_iter().filter(|other| is_alike(other)).find(|other| other.running().is_ok());
    if let Some(other) = running {
        let product = other.status().browser.unwrap_or_default();
        return Some(Check::pass(id, format!("the browser of profile {} runs ({product})", other.name())));
    }
    if remote {
        return settings.cdp_url.as_deref().map(|url| endpoint(url, deadline));
    }
    let options = LaunchOptions {
        executable: settings.executable.clone(),
        headless: Switch::On,
        no_sandbox: settings.no_sandbox,
        start_timeout: deadline.within(LAUNCH).left(),
        ..LaunchOptions::default()
    };
    Some(start(options, deadline))
}

fn start(options: LaunchOptions, deadline: Deadline) -> Check {
    const ID: &str = "launch";
    let Some(mut last) = LAST.try_lock() else {
        return Check::warn(ID, "another check starts a browser at the moment", "run doctor again in a moment");
    };
    let same =
        |known: &LaunchOptions| (&known.executable, known.no_sandbox) == (&options.executable, options.no_sandbox);
    if let Some((_, _, summary)) = last.as_ref().filter(|(at, known, _)| at.elapsed() < FRESH && same(known)) {
        return Check::pass(ID, summary.as_str());
    }
    *last = None;
    let began = Instant::now();
    let browser = match BrowserProcess::launch(&options) {
        Ok(browser) => browser,
        Err(error) => return Check::failed(ID, &error),
    };
    let summary = format!("{} answered after {} ms and closed", browser.version().product, began.elapsed().as_millis());
    match browser.close(deadline.within(CLOSE)) {
        Ok(()) => {
            *last = Some((Instant::now(), options, summary.clone()));
            Check::pass(ID, summary)
        }
        Err(error) => Check::failed(ID, &error),
    }
}

fn endpoint(url: &str, deadline: Deadline) -> Check {
    let timeout = deadline.within(ATTACH).left();
    let mut options = AttachOptions::default();
    (options.connect.connect_timeout, options.webdriver.session_timeout) = (timeout, timeout);
    match BrowserProcess::attach_with(url, &options) {
        Ok(browser) => Check::pass("endpoint", format!("the browser answers as {}", browser.version().product)),
        Err(error) => Check::failed("endpoint", &error),
    }
}

/// Ends browsers and removes temporary profiles of processes of ours that were killed, and reports them.
pub(super) fn leftovers() -> Check {
    const ID: &str = "leftovers";
    let found = reap();
    let cleared = match (found.ended.len(), found.removed.len()) {
        (0, 0) => None,
        (0, profiles) => Some(format!("removed {profiles} temporary profiles that were left behind")),
        (browsers, profiles) => {
            Some(format!("ended {browsers} browsers that were left behind, and removed {profiles} temporary profiles"))
        }
    };
    let Some(left) = found.left.first() else {
        return match cleared {
            None => Check::pass(ID, "no browser and no temporary profile was left behind"),
            Some(cleared) => {
                let hint =
                    "nothing to do now; end programs with Ctrl-C or SIGTERM, SIGKILL gives them no time to clear up";
                Check::warn(ID, cleared, hint)
            }
        };
    };
    let more = match found.left.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let also = cleared.map(|cleared| format!("; {cleared}")).unwrap_or_default();
    let what = format!("{} is left behind: {}{more}{also}", left.folder.display(), left.problem);
    Check::warn(ID, what, "look at the processes with `ps`, end them if they are not needed, and delete the folder")
}

/// The folder for temporary files, where browsers without a profile of a home keep theirs.
pub(super) fn temporary() -> Check {
    const HINT: &str = "set TMPDIR to a folder that you may write to";
    let folder = std::env::temp_dir();
    let shown = folder.display();
    if let Err(problem) = can_write(&folder) {
        return Check::fail("temp", format!("{shown} cannot be written to: {problem}"), HINT);
    }
    match space(&folder) {
        Some(Space { free, .. }) if free < LITTLE_SPACE => Check::warn(
            "temp",
            format!("{shown} has {} left", mebibytes(free)),
            "browsers keep their profiles there; make room",
        ),
        Some(Space { free, .. }) => Check::pass("temp", format!("{shown} can be written to, {} left", mebibytes(free))),
        None => Check::pass("temp", format!("{shown} can be written to")),
    }
}

/// Browsers that we start do without it; others lose tabs when it is full.
pub(super) fn shared_memory() -> Check {
    let hint = "only browsers that something else starts need it, to be attached to; in a container: --shm-size=1g";
    match space(Path::new("/dev/shm")) {
        Some(Space { total, .. }) if total > LITTLE_SHARED_MEMORY => {
            Check::pass("shared_memory", format!("/dev/shm has {}", mebibytes(total)))
        }
        Some(Space { total, .. }) => {
            Check::warn("shared_memory", format!("/dev/shm has {} only", mebibytes(total)), hint)
        }
        None => Check::warn("shared_memory", "there is no /dev/shm", hint),
    }
}

/// Makes a file in a folder and removes it.
pub(super) fn can_write(folder: &Path) -> io::Result<()> {
    tempfile::Builder::new().prefix(".cdpilot-doctor-").tempfile_in(folder).map(drop)
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}
