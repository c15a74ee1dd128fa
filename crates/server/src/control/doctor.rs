//! `doctor`: checks of the machine and the home, and repairs that are safe.

use std::path::Path;
use std::sync::Arc;

use super::profiles::Profiles;
use super::shared::Shared;
use super::{Check, Fixed, Overrides, checks, trial};
use crate::config::{Config, Home, Running};
use cdpilot::sync::Deadline;
use cdpilot::{browser, page};

/// All checks. If no browser is running, one is started with a temporary profile and closed again.
pub(super) fn doctor(shared: &Shared, profiles: &Profiles, deadline: Deadline<'_>) -> Vec<Check> {
    let (home, config) = (&shared.home, &shared.config);
    // Before a browser is started, which also cleans up leftovers.
    let mut all = vec![trial::leftovers()];
    all.extend([checks::home(home), checks::config(home), checks::token(home), checks::disk(home), trial::temporary()]);
    if cfg!(target_os = "linux") {
        all.push(trial::shared_memory());
        all.extend(trial::fonts());
    }
    if let Ok(profile) = profiles.get(None) {
        let found = checks::browser(&profile);
        let may_start = found.status != super::CheckStatus::Fail && config.browser.enabled;
        all.push(found);
        if may_start {
            all.extend(trial::launch(&profile, profiles, config, deadline));
        }
        if !profile.settings().is_remote(config.browser.attach_only) {
            all.extend([
                checks::lock(&profile),
                checks::port(&profile),
                checks::display(&profile, config),
                checks::sandbox(&profile, config),
            ]);
        }
    }
    if !config.browser.enabled {
        let hint = "set browser.enabled: true in config.yaml";
        all.push(Check::warn("enabled", "browsers are disabled in the settings", hint));
    }
    all.push(checks::server(home, config));
    all.push(Check::pass("version", concat!("cdpilot ", env!("CARGO_PKG_VERSION"))));
    all
}

/// All checks of a home that has no running server. An existing home is prepared as on a server start; a missing one is
/// not created.
#[must_use]
pub fn doctor_of(home: &Home, overrides: Overrides, deadline: Deadline<'_>) -> Vec<Check> {
    if home.root().is_dir()
        && let Err(problem) = home.prepare()
    {
        tracing::debug!(%problem, "the home cannot be prepared");
    }
    // If the settings are invalid, their check fails and the other checks use the defaults.
    let open = |config: Config| -> Result<(Arc<Shared>, Profiles), super::Error> {
        let shared = Arc::new(Shared::new(home.clone(), config, overrides.clone())?);
        let profiles = Profiles::open(&shared)?;
        Ok((shared, profiles))
    };
    match open(Config::of(home).unwrap_or_default()) {
        Ok((shared, profiles)) => doctor(&shared, &profiles, deadline),
        Err(problem) => {
            let profiles = Check::fail("profiles", problem.to_string(), "correct the settings of the home");
            let rest = [checks::home(home), checks::config(home), checks::token(home), checks::disk(home)];
            // The check of the settings names the problem.
            let is_known = rest.iter().any(|check| check.id == "config" && check.status == super::CheckStatus::Fail);
            rest.into_iter().chain((!is_known).then_some(profiles)).collect()
        }
    }
}

/// Removes permissions of other users on the home, and cleans up after killed processes: browsers, stale locks,
/// incomplete downloads. Returns what was repaired.
pub(super) fn fix(shared: &Shared, profiles: &Profiles) -> Vec<Fixed> {
    let home = &shared.home;
    let mut done = Vec::new();
    let token = home.token();
    for (id, path) in [
        ("home", home.root()),
        ("token", &token),
        ("home", &home.profiles()),
        ("home", &home.media()),
        ("home", &home.downloads()),
        ("home", &home.uploads()),
        ("home", &home.traces()),
        ("home", &home.memory()),
        ("home", &home.skills()),
        ("home", &home.run()),
    ] {
        if checks::open_to_others(path).unwrap_or(false) && restrict_to_owner(path).is_ok() {
            done.push(Fixed { id, summary: format!("removed permissions of other users from {}", path.display()) });
        }
    }
    // First: suspended processes do not respond, and a suspended reaper removes nothing.
    if let Ok(Some(server)) = Running::process_of(home)
        && browser::resume_process(server)
    {
        let summary = format!("resumed the suspended server of this home (process {server})");
        done.push(Fixed { id: "server", summary });
    }
    for profile in profiles.all() {
        let folder = &profile.settings().user_data_dir;
        let resumed = browser::resume(folder);
        if !resumed.is_empty() {
            let resumed: Vec<String> = resumed.iter().map(u32::to_string).collect();
            let what = format!("resumed the suspended browser of profile {}", profile.name());
            done.push(Fixed { id: "profile", summary: format!("{what} (process {})", resumed.join(", ")) });
        }
        if profile.is_up() {
            continue;
        }
        if browser::recover(folder) {
            let what = "cleaned up after a killed server: ended its browser and removed its locks from";
            done.push(Fixed { id: "profile", summary: format!("{what} {}", folder.display()) });
        } else if browser::clear_stale_lock(folder) {
            let summary = format!("removed the stale browser lock from {}", folder.display());
            done.push(Fixed { id: "profile", summary });
        }
    }
    for left in page::clear_incoming(&home.downloads()) {
        done.push(Fixed { id: "downloads", summary: format!("removed incomplete downloads from {}", left.display()) });
    }
    done
}

/// Removes all permissions of other users.
fn restrict_to_owner(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path)?.permissions().mode() & 0o700;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}
