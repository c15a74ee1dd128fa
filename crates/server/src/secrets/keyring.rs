//! The keyring of the system: the Secret Service on Linux (by `secret-tool`, of libsecret), Keychain on macOS, the Credential
//! Manager on Windows.

use super::Error;
use crate::config::Home;

#[cfg(any(target_os = "macos", windows))]
use native as system;
#[cfg(not(any(target_os = "macos", windows)))]
use secret_service as system;

/// The keyring, for the secrets of one home.
#[derive(Debug, Clone)]
pub(super) struct Keyring {
    /// Tells the secrets of several homes apart.
    home: String,
}

impl Keyring {
    /// The keyring for a home; `None` where the system has none.
    pub(super) fn of(home: &Home) -> Option<Self> {
        system::is_there().then(|| Self { home: home.root().display().to_string() })
    }

    /// Stores a value. False: there is no keyring after all.
    pub(super) fn store(&self, name: &str, value: &str) -> Result<bool, Error> {
        if !system::store(&self.home, name, value)? {
            return Ok(false);
        }
        match self.value(name)? {
            Some(kept) if kept == value => Ok(true),
            _ => Err(failed("did not keep the value; set `secrets.store: file` in config.yaml to use a file")),
        }
    }

    /// A stored value; `None` if it is not there.
    pub(super) fn value(&self, name: &str) -> Result<Option<String>, Error> {
        system::value(&self.home, name)
    }

    /// Removes a value.
    pub(super) fn remove(&self, name: &str) -> Result<(), Error> {
        system::remove(&self.home, name)
    }
}

fn failed(problem: impl Into<String>) -> Error {
    Error::Keyring { problem: problem.into() }
}

#[cfg(not(any(target_os = "macos", windows)))]
mod secret_service {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::super::Error;
    use super::failed;
    use cdpilot::process::poll_until;
    use cdpilot::sync::Deadline;

    const TOOL: &str = "secret-tool";
    /// A locked keyring asks its user.
    const LIMIT: Duration = Duration::from_secs(20);
    const MOST: u64 = 64 * 1024;

    /// Whether there is the tool, and a session bus to reach a keyring.
    pub(super) fn is_there() -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let bus = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| std::path::Path::new(&folder).join("bus"));
        let has_bus = is_set("DBUS_SESSION_BUS_ADDRESS") || bus.is_some_and(|bus| bus.exists());
        let path = std::env::var_os("PATH").unwrap_or_default();
        has_bus && std::env::split_paths(&path).any(|folder| folder.is_absolute() && folder.join(TOOL).is_file())
    }

    pub(super) fn store(home: &str, name: &str, value: &str) -> Result<bool, Error> {
        let label = format!("--label=cdpilot: {name}");
        let ran = run(&["store", &label], home, name, Some(value))?;
        Ok(ran.is_some())
    }

    pub(super) fn value(home: &str, name: &str) -> Result<Option<String>, Error> {
        Ok(run(&["lookup"], home, name, None)?.filter(|value| !value.is_empty()))
    }

    pub(super) fn remove(home: &str, name: &str) -> Result<(), Error> {
        run(&["clear"], home, name, None).map(drop)
    }

    /// Runs the tool. Returns what it printed; `None` if it failed.
    fn run(what: &[&str], home: &str, name: &str, input: Option<&str>) -> Result<Option<String>, Error> {
        let mut command = Command::new(TOOL);
        command.args(what).args(["service", "cdpilot", "home", home, "name", name]);
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child =
            child.map_err(|problem| failed(format!("cannot be reached: {TOOL} does not start: {problem}")))?;
        // The pipe holds the whole value.
        if let Some((mut pipe, value)) = child.stdin.take().zip(input) {
            let _ = pipe.write_all(value.as_bytes());
        }
        let shared = std::cell::RefCell::new(&mut child);
        let has_ended = || matches!(shared.borrow_mut().try_wait(), Ok(Some(_)) | Err(_));
        if !poll_until(Deadline::after(LIMIT), has_ended) {
            let _ = child.kill();
            let _ = child.wait();
            let problem = "does not answer within 20 s; unlock it, or set `secrets.store: file` in config.yaml";
            return Err(failed(problem));
        }
        let mut text = String::new();
        let read = child.stdout.take().map(|pipe| pipe.take(MOST).read_to_string(&mut text));
        let is_done = child.wait().is_ok_and(|status| status.success());
        Ok((is_done && read.is_some_and(|read| read.is_ok())).then_some(text))
    }
}

#[cfg(any(target_os = "macos", windows))]
mod native {
    use super::super::Error;
    use super::failed;

    pub(super) fn is_there() -> bool {
        true
    }

    fn entry(home: &str, name: &str) -> Result<keyring::Entry, Error> {
        keyring::Entry::new("cdpilot", &format!("{name} ({home})")).map_err(|problem| failed_with(&problem))
    }

    pub(super) fn store(home: &str, name: &str, value: &str) -> Result<bool, Error> {
        match entry(home, name)?.set_password(value) {
            Ok(()) => Ok(true),
            Err(keyring::Error::NoStorageAccess(_) | keyring::Error::PlatformFailure(_)) => Ok(false),
            Err(problem) => Err(failed_with(&problem)),
        }
    }

    pub(super) fn value(home: &str, name: &str) -> Result<Option<String>, Error> {
        match entry(home, name)?.get_password() {
            Ok(value) => Ok(Some(value)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(problem) => Err(failed_with(&problem)),
        }
    }

    pub(super) fn remove(home: &str, name: &str) -> Result<(), Error> {
        match entry(home, name)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(problem) => Err(failed_with(&problem)),
        }
    }

    fn failed_with(problem: &keyring::Error) -> Error {
        failed(format!("failed: {problem}; unlock it, or set `secrets.store: file` in config.yaml"))
    }
}
