//! Playwright Test and TypeScript, as `scripts/ensure-playwright-peer.sh` installs them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::browser_path;

/// The folder of the packages. `None` with a message if they are not installed; `CDPILOT_REQUIRE_PLAYWRIGHT_PEER=1` turns that into
/// a failure.
fn place() -> Option<PathBuf> {
    let place = std::env::var_os("CDPILOT_PLAYWRIGHT_PEER")
        .map_or_else(|| crate::root().join("target/playwright-peer"), PathBuf::from);
    if place.join("stamp").is_file() {
        return Some(place);
    }
    let required = std::env::var_os("CDPILOT_REQUIRE_PLAYWRIGHT_PEER").is_some_and(|value| value == "1");
    assert!(!required, "no Playwright in {}; run scripts/ensure-playwright-peer.sh", place.display());
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    // Written past the test harness, which shows the output of failed tests only.
    let _ = writeln!(std::io::stderr(), "OMITTED, run scripts/ensure-playwright-peer.sh: {name}");
    None
}

/// A folder in which a test of Playwright can be run.
#[derive(Debug)]
pub struct PlaywrightPeer {
    place: PathBuf,
    folder: tempfile::TempDir,
}

impl PlaywrightPeer {
    /// With this test. `None` if Playwright is not installed.
    pub fn with(test: &str) -> Option<Self> {
        let place = place()?;
        // Modules are looked for in the folders above.
        let folder = tempfile::tempdir_in(&place).unwrap();
        fs::write(folder.path().join("routine.spec.ts"), test).unwrap();
        let executable = serde_json::to_string(&browser_path()?).unwrap();
        let config = format!(
            "export default {{ testDir: '.', workers: 1, reporter: 'line', use: {{ launchOptions: {{ executablePath: {executable}, \
             args: ['--no-sandbox'] }} }} }};\n"
        );
        fs::write(folder.path().join("playwright.config.ts"), config).unwrap();
        let options = r#"{ "compilerOptions": { "strict": true, "noEmit": true, "noUnusedLocals": true, "module": "nodenext",
            "target": "es2022", "types": ["node"], "skipLibCheck": true }, "files": ["routine.spec.ts"] }"#;
        fs::write(folder.path().join("tsconfig.json"), options).unwrap();
        Some(Self { place, folder })
    }

    /// Checks the types.
    pub fn check(&self) -> Output {
        let mut command = self.node("typescript/bin/tsc");
        command.arg("-p").arg(self.folder.path()).output().unwrap()
    }

    /// Runs the test in a browser that it launches.
    pub fn run(&self, variables: &[(&str, &str)]) -> Output {
        let mut command = self.node("@playwright/test/cli.js");
        command.envs(variables.iter().copied()).env("CI", "1");
        command.args(["test", "--config"]).arg(self.folder.path().join("playwright.config.ts")).output().unwrap()
    }

    fn node(&self, script: &str) -> Command {
        let mut command = Command::new("node");
        command.arg(self.place.join("node_modules").join(Path::new(script))).current_dir(self.folder.path());
        command
    }
}
