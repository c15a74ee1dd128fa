//! A real chromedriver.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use cdpilot::sync::{Thread, pause, spawn};
use tempfile::TempDir;

/// A chromedriver on a free port, with its own folder for temporary files, which identifies its browsers.
/// Dropping it ends it.
pub struct Driver {
    child: Child,
    port: u16,
    temp: TempDir,
    _output: Thread,
}

impl Driver {
    /// `None` if none is installed and none is required.
    pub fn start() -> Option<Self> {
        super::browser_path()?;
        // The places that `scripts/ensure-browser.sh` looks at.
        const NAMES: [&str; 5] = [
            "chromedriver",
            "chromium.chromedriver",
            "/snap/bin/chromium.chromedriver",
            "/usr/lib/chromium-browser/chromedriver",
            "/usr/lib/chromium/chromedriver",
        ];
        let temp = tempfile::Builder::new().prefix("wd-").tempdir().unwrap();
        let start = |name: &&str| {
            let mut command = Command::new(name);
            command.arg("--port=0").env("TMPDIR", temp.path()).stdin(Stdio::null());
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()
        };
        let mut child = match NAMES.iter().find_map(start) {
            Some(child) => child,
            None => {
                let required = std::env::var("CDPILOT_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
                assert!(
                    !required,
                    "CDPILOT_REQUIRE_BROWSER=1, but there is no chromedriver; `make driver` installs one"
                );
                let name = std::thread::current().name().unwrap_or("a test").to_owned();
                let _ = writeln!(std::io::stderr(), "SKIPPED, no chromedriver here: {name}");
                return None;
            }
        };
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.by_ref().find_map(|line| {
            let rest = line.split_once("started successfully on port ")?.1;
            rest.trim_end_matches('.').parse().ok()
        });
        let output = spawn("driver-out", move || lines.for_each(drop)).unwrap();
        Some(Self { child, port: port.expect("chromedriver tells its port"), temp, _output: output })
    }

    pub fn address(&self) -> String {
        format!("webdriver+http://127.0.0.1:{}", self.port)
    }

    /// Command lines of the processes of its browsers.
    pub fn browsers(&self) -> Vec<String> {
        let folder = self.temp.path().to_str().unwrap();
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = all.filter_map(|entry| std::fs::read(Path::new(&entry.path()).join("cmdline")).ok());
        let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
        lines.filter(|line| line.contains(folder)).collect()
    }

    /// Waits until none of its browsers is running; the system removes ended processes with a delay.
    pub fn assert_no_browser(&self) {
        let until = super::soon();
        loop {
            let left = self.browsers();
            if left.is_empty() {
                return;
            }
            assert!(!until.passed(), "{left:?}");
            pause(std::time::Duration::from_millis(20));
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Asked to end it ends its browsers; killed it would leave them.
        #[cfg(unix)]
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        #[cfg(not(unix))]
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
