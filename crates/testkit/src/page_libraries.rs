//! Libraries that pages load, as `scripts/ensure-page-libraries.sh` installs them.

use std::io::Write as _;
use std::path::PathBuf;

use super::site::{Answer, Site};

/// Serves files of the packages below `/lib/`. `None` with a message if the libraries are not installed;
/// `CDPILOT_REQUIRE_PAGE_LIBRARIES=1` turns that into a failure.
pub fn serve(site: &Site, files: &[&str]) -> Option<()> {
    for file in files {
        site.put(&format!("/lib/{file}"), Answer::bytes("text/javascript", read(file)?.into_bytes()));
    }
    Some(())
}

/// A file of the packages; `None` as for [`serve`].
pub fn read(file: &str) -> Option<String> {
    let root = crate::root();
    let place =
        std::env::var_os("CDPILOT_PAGE_LIBRARIES").map_or_else(|| root.join("target/page-libraries"), PathBuf::from);
    if !place.join("stamp").is_file() {
        let required = std::env::var_os("CDPILOT_REQUIRE_PAGE_LIBRARIES").is_some_and(|value| value == "1");
        assert!(!required, "no libraries in {}; run scripts/ensure-page-libraries.sh", place.display());
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        // Written past the test harness, which shows the output of failed tests only.
        let _ = writeln!(std::io::stderr(), "OMITTED, run scripts/ensure-page-libraries.sh: {name}");
        return None;
    }
    let path = place.join("node_modules").join(file);
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}
