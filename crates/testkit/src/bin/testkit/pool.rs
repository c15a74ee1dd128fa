//! One browser for each worker, which its tests lease one after the other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cdpilot::browser::{BrowserProcess, LaunchOptions, TransportKind, find};
use cdpilot::cdp::Connection;
use cdpilot::sync::{Deadline, pause};
use serde_json::{Value, json};

use crate::usage::Group;

/// Counts launches by test, and puts the browsers of the pool into the control group of their worker.
const SCRIPT: &str = r#"#!/bin/sh
case " $* " in *" --user-data-dir="*) echo "$TESTKIT_TEST" >>"$TESTKIT_LAUNCHES" ;; esac
[ -z "$TESTKIT_GROUP" ] || echo $$ >"$TESTKIT_GROUP"
exec "$TESTKIT_BROWSER" "$@"
"#;

/// How browsers are launched and counted during a run.
#[derive(Debug)]
pub(crate) struct Launches {
    /// The script that is passed to tests as the browser.
    executable: PathBuf,
    browser: PathBuf,
    shell: Option<PathBuf>,
    log: PathBuf,
}

/// What a test leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The browser that people have, without a window.
    Full,
    /// Chromium's headless shell: the same engine without the user interface of a browser. A page costs half the CPU time there, a
    /// browser context a third.
    Shell,
}

impl Kind {
    /// Its name in `CDPILOT_TEST_BROWSER`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Shell => "shell",
        }
    }
}

impl Launches {
    /// `None` without a browser, and on systems without `sh`: there nothing is leased or counted.
    pub(crate) fn new(folder: &Path) -> Result<Option<Self>, String> {
        let is_absent = std::env::var("CDPILOT_TEST_BROWSER").is_ok_and(|value| value == "none");
        let (false, true, Ok(found)) = (is_absent, cfg!(unix), find::find(None)) else { return Ok(None) };
        let (executable, log) = (folder.join("chromium"), folder.join("launches"));
        let written = std::fs::write(&executable, SCRIPT)
            .and_then(|()| std::fs::write(&log, ""))
            .and_then(|()| mark(&executable));
        written.map_err(|problem| format!("{}: {problem}", folder.display()))?;
        Ok(Some(Self { executable, browser: found.path, shell: find_shell(), log }))
    }

    /// Whether there is a headless shell.
    pub(crate) fn has_shell(&self) -> bool {
        self.shell.is_some()
    }

    fn of(&self, kind: Kind) -> &Path {
        match (kind, &self.shell) {
            (Kind::Shell, Some(shell)) => shell,
            _ => &self.browser,
        }
    }

    /// The environment of a test or browser.
    pub(crate) fn env(&self, test: &str) -> Vec<(String, String)> {
        let shown = |path: &Path| path.display().to_string();
        let own = [
            ("CDPILOT_BROWSER", shown(&self.executable)),
            ("TESTKIT_BROWSER", shown(&self.browser)),
            ("TESTKIT_LAUNCHES", shown(&self.log)),
            ("TESTKIT_TEST", test.to_owned()),
        ];
        own.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    /// Starts a browser for tests to lease.
    pub(crate) fn lease(&self, kind: Kind, group: Option<&Group>) -> Result<Leased, String> {
        let mut options = LaunchOptions::new().executable(&self.executable).headless(true);
        options.transport = TransportKind::PipeAndPort(0);
        // As large as a picture for models may be: making it smaller takes long in debug builds.
        options.viewport = Some((1280, 720));
        if kind == Kind::Shell {
            // The full browser isolates sites by default, and has a toolbar above the viewport.
            options = options.arg("--site-per-process").arg("--window-size=1280,720");
        }
        options.env = self.env("(pool)");
        options.env.push(("TESTKIT_BROWSER".to_owned(), self.of(kind).display().to_string()));
        let entrance = group.map(|group| ("TESTKIT_GROUP".to_owned(), group.entrance().display().to_string()));
        options.env.extend(entrance);
        let browser = BrowserProcess::launch(&options).map_err(|problem| problem.to_string())?;
        let url = browser.endpoint().map(cdpilot::browser::Endpoint::url);
        let url = url.ok_or("the browser has no port")?;
        let deadline = Deadline::after(CLEAN);
        loop {
            // A launched browser opens with one page, which may appear with a delay.
            if let Some(page) = left_in(browser.connection())?.pop() {
                return Ok(Leased { browser, url, blank: page.target });
            }
            if deadline.passed() {
                return Err("the browser has no page".to_owned());
            }
            pause(POLL);
        }
    }

    /// The tests that launched browsers so far, one entry for each launch.
    pub(crate) fn so_far(&self) -> Vec<String> {
        std::fs::read_to_string(&self.log).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// A browser that tests lease.
pub(crate) struct Leased {
    browser: BrowserProcess,
    pub(crate) url: String,
    /// Its first, empty page. A test may close it.
    blank: String,
}

/// How long a browser may take to close what a test has left, such as pages that are being closed.
const CLEAN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(2);

impl Leased {
    /// Makes it ready for the next test.
    ///
    /// # Errors
    /// What the last test has left in it.
    pub(crate) fn take_back(&self) -> Result<(), String> {
        let connection = self.browser.connection();
        let deadline = Deadline::after(CLEAN);
        loop {
            let mut left = left_in(connection)?;
            left.retain(|thing| thing.target != self.blank);
            if left.is_empty() {
                break;
            }
            if deadline.passed() {
                return Err(left.into_iter().map(|thing| thing.name).collect::<Vec<_>>().join(", "));
            }
            // A service worker outlives its page by half a minute.
            for worker in left.iter().filter(|thing| thing.is_worker) {
                // It may have ended meanwhile.
                let _ = call(connection, "Target.closeTarget", &json!({ "targetId": worker.target }));
            }
            pause(POLL);
        }
        // What the next server would find in the default context.
        for method in ["Storage.clearCookies", "Browser.resetPermissions"] {
            call(connection, method, &json!({}))?;
        }
        call(connection, "Browser.setDownloadBehavior", &json!({ "behavior": "default" })).map(drop)
    }
}

/// Something in a browser.
struct Thing {
    /// For a message.
    name: String,
    /// The target id of a target that no client is attached to and that shows nothing, or of a worker.
    target: String,
    is_worker: bool,
}

/// The targets and browser contexts of a browser.
fn left_in(connection: &Connection) -> Result<Vec<Thing>, String> {
    let targets = call(connection, "Target.getTargets", &json!({}))?;
    let contexts = call(connection, "Target.getBrowserContexts", &json!({}))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let targets = list(&targets["targetInfos"]);
    let targets = targets.iter().filter(|target| target["type"] != "browser_ui").map(|target| {
        let text = |name: &str| target[name].as_str().unwrap_or_default().to_owned();
        let kind = text("type");
        let is_worker = matches!(&*kind, "service_worker" | "shared_worker");
        let is_untouched = kind == "page" && text("url") == "about:blank" && target["attached"] == false;
        let target = if is_worker || is_untouched { text("targetId") } else { String::new() };
        Thing { name: format!("{kind} {:?}", text("url")), target, is_worker }
    });
    let contexts = list(&contexts["browserContextIds"]).into_iter();
    let contexts =
        contexts.map(|id| Thing { name: format!("browser context {id}"), target: String::new(), is_worker: false });
    Ok(targets.chain(contexts).collect())
}

fn call(connection: &Connection, method: &'static str, params: &Value) -> Result<Value, String> {
    let reply = connection.call_raw(method, params, Deadline::after(CLEAN));
    let reply = reply.map_err(|problem| format!("the browser has ended or does not answer: {problem}"))?;
    reply.value().map_err(|problem| problem.to_string())
}

/// The headless shell as Debian and Chrome for Testing name it.
fn find_shell() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&folders).flat_map(|folder| SHELLS.map(|name| folder.join(name)));
    found.into_iter().find(|path| path.is_file())
}

const SHELLS: [&str; 2] = ["chromium-headless-shell", "chrome-headless-shell"];

#[cfg(unix)]
fn mark(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn mark(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
