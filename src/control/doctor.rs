//! `doctor`: whether it all works on this machine, and putting right what can be without a risk.

use std::path::Path;

use super::profiles::Profiles;
use super::shared::Shared;
use super::{Check, Fixed, checks};
use crate::browser;

/// All checks. No browser is started; one that is installed is asked for its version.
pub(super) fn doctor(shared: &Shared, profiles: &Profiles) -> Vec<Check> {
    let (home, config) = (&shared.home, &shared.config);
    let mut all = vec![checks::home(home), checks::token(home), checks::disk(home)];
    if let Ok(profile) = profiles.get(None) {
        all.push(checks::browser(&profile));
        if !profile.settings().is_remote(config.browser.attach_only) {
            all.extend([
                checks::lock(&profile),
                checks::port(&profile, config),
                checks::display(&profile, config),
                checks::sandbox(&profile, config),
            ]);
        }
    }
    if !config.browser.enabled {
        let hint = "set browser.enabled: true in config.yaml to use them";
        all.push(Check::warn("enabled", "browsers are disabled in the settings", hint));
    }
    all.push(checks::server(home));
    all.push(Check::pass("version", concat!("cdpilot ", env!("CARGO_PKG_VERSION"))));
    all
}

/// Takes back what others may do with the home, and removes locks of browsers that are gone. Returns what was done.
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
        ("home", &home.run()),
    ] {
        if checks::open_to_others(path).unwrap_or(false) && take_back(path).is_ok() {
            done.push(Fixed { id, summary: format!("{} is yours alone now", path.display()) });
        }
    }
    for profile in profiles.all() {
        let folder = &profile.settings().user_data_dir;
        if !profile.is_up() && browser::clear_stale_lock(folder) {
            let summary = format!("removed the lock of a browser that is gone from {}", folder.display());
            done.push(Fixed { id: "profile", summary });
        }
    }
    done
}

/// Nobody but the owner may do anything with it any more.
fn take_back(path: &Path) -> std::io::Result<()> {
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
