//! The user agent of a headless browser, as it would be with a window.

use std::collections::HashMap;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;

use super::find::Os;
use super::options::UserAgent;
use crate::sync::{Deadline, pause};

/// How long `--version` may take.
const VERSION: Duration = Duration::from_secs(2);
/// Maximum size of its output, in bytes.
const MAX_OUTPUT: u64 = 1024;
/// Known versions, by executable and modification time.
static KNOWN: Mutex<Option<HashMap<PathBuf, (SystemTime, String)>>> = Mutex::new(None);

/// The first line that an executable prints for `--version`. `None` when it does not answer within two seconds, and on
/// Windows, where it would open a window.
#[must_use]
pub fn version_of(executable: &Path) -> Option<String> {
    version_until(executable, Deadline::after(VERSION))
}

fn version_until(executable: &Path, deadline: Deadline<'_>) -> Option<String> {
    if cfg!(windows) {
        return None;
    }
    let changed = executable.metadata().and_then(|about| about.modified()).ok()?;
    if let Some((of, version)) = KNOWN.lock().as_ref().and_then(|known| known.get(executable))
        && *of == changed
    {
        return Some(version.clone());
    }
    let version = ask(executable, deadline)?;
    KNOWN.lock().get_or_insert_default().insert(executable.to_owned(), (changed, version.clone()));
    Some(version)
}

fn ask(executable: &Path, deadline: Deadline<'_>) -> Option<String> {
    // Into a file: a pipe only ends when every process that inherited it has ended.
    let mut output = tempfile::tempfile().ok()?;
    let mut command = Command::new(executable);
    command.arg("--version").stdin(Stdio::null()).stdout(output.try_clone().ok()?).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let deadline = deadline.within(VERSION);
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if !deadline.passed() => pause(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let mut text = Vec::new();
    output.rewind().ok()?;
    output.take(MAX_OUTPUT).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next().map(str::trim).filter(|line| status.success() && !line.is_empty())?;
    Some(line.chars().take(100).collect())
}

/// The value of the switch `--user-agent`; `None` for the browser's own.
pub(super) fn text(requested: &UserAgent, headless: bool, executable: &Path, deadline: Deadline<'_>) -> Option<String> {
    match requested {
        UserAgent::Native => None,
        UserAgent::Text(text) => Some(text.clone()),
        UserAgent::LikeHeaded if !headless => None,
        UserAgent::LikeHeaded => reduced(Os::this(), &version_until(executable, deadline)?),
    }
}

/// The user agent of a version. Chromium only reports major version and system family:
/// <https://www.chromium.org/updates/ua-reduction/>.
fn reduced(os: Os, version: &str) -> Option<String> {
    let major = version.split([' ', '/']).find_map(|word| word.split_once('.')?.0.parse::<u32>().ok())?;
    let system = match os {
        Os::Linux => "X11; Linux x86_64",
        Os::Mac => "Macintosh; Intel Mac OS X 10_15_7",
        Os::Windows => "Windows NT 10.0; Win64; x64",
    };
    let edge = if version.contains("Edge") { format!(" Edg/{major}.0.0.0") } else { String::new() };
    Some(format!(
        "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36{edge}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_becomes_the_user_agent_of_its_browser() {
        let linux = |version: &str| reduced(Os::Linux, version);
        let plain =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
        assert_eq!(linux("Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)").unwrap(), plain);
        assert_eq!(linux("Google Chrome 156.0.8078.79 ").unwrap(), plain);
        assert_eq!(linux("Microsoft Edge 156.0.1.2").unwrap(), format!("{plain} Edg/156.0.0.0"));
        assert!(reduced(Os::Mac, "Chromium 99.1.2.3").unwrap().contains("Intel Mac OS X 10_15_7"));
        assert_eq!(linux("no version"), None);
    }
}
