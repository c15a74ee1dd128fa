//! playwright-core, if it is installed.

use std::path::Path;
use std::process::{Command, Stdio};

/// Median milliseconds of playwright-core for the same operation; `None` if it is not installed.
pub(crate) fn measure(endpoint: &str, url: &str, what: &str, rounds: usize) -> Option<f64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/page");
    if !folder.join("node_modules/playwright-core").exists() {
        return None;
    }
    let output = Command::new("node")
        .arg(folder.join("playwright.mjs"))
        .args([endpoint, url, what, &rounds.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}
