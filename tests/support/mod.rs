//! What tests share.

pub(crate) mod fake_cdp;
mod fake_cdp_link;
mod fake_cdp_rules;
mod fake_cdp_serve;
pub(crate) mod fake_cdp_wire;
pub(crate) mod leaks;

use std::path::PathBuf;

/// A browser to test with: `CDPILOT_BROWSER`, else the usual names on `PATH`.
pub fn browser_path() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CDPILOT_BROWSER") {
        return Some(path.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    names.iter().flat_map(|name| std::env::split_paths(&path).map(move |dir| dir.join(name))).find(|p| p.is_file())
}
