//! The schema of HAR 1.2 and a validator, as `scripts/ensure-har-peer.sh` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Validates an archive and returns its errors. Skipped with a message if the validator is not installed;
/// `CDPILOT_REQUIRE_HAR_PEER=1` turns that into a failure.
pub fn check(archive: &Path) -> Result<(), String> {
    let root = crate::root();
    let place = std::env::var_os("CDPILOT_HAR_PEER").map_or_else(|| root.join("target/har-peer"), PathBuf::from);
    if !place.join("stamp").is_file() {
        let required = std::env::var_os("CDPILOT_REQUIRE_HAR_PEER").is_some_and(|value| value == "1");
        assert!(!required, "no HAR validator in {}; run scripts/ensure-har-peer.sh", place.display());
        println!("left out: no HAR validator in {}; run scripts/ensure-har-peer.sh", place.display());
        return Ok(());
    }
    let ran = Command::new("node").arg(root.join("tests/har/validate.mjs")).arg(&place).arg(archive).output().unwrap();
    if ran.status.success() { Ok(()) } else { Err(format!("{ran:?}")) }
}
