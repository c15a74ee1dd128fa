//! A real Selenium Grid: a hub and nodes on the loopback, as `scripts/ensure-grid.sh` installs it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use cdpilot::sync::{Deadline, pause};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

/// How a Grid is set up.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub nodes: usize,
    /// Number of sessions per node.
    pub slots: usize,
    /// Seconds after which a node ends a session without commands.
    pub session_timeout: u32,
    /// Seconds that a request waits for a slot.
    pub queue: u32,
    /// A name and a password.
    pub login: Option<(&'static str, &'static str)>,
}

/// A Grid. Dropping it ends all of its processes.
pub struct Grid {
    hub: Child,
    nodes: Vec<Node>,
    port: u16,
    login: Option<(&'static str, &'static str)>,
    temp: TempDir,
}

struct Node {
    child: Child,
    uri: String,
    /// The folder of its temporary files, which identifies its browsers.
    folder: PathBuf,
}

/// `None` if it is not installed; `CDPILOT_REQUIRE_GRID=1` turns that into a failure.
fn jar() -> Option<PathBuf> {
    let named = std::env::var_os("CDPILOT_GRID").map(PathBuf::from);
    let place = named.unwrap_or_else(|| crate::root().join("target/selenium-grid"));
    let has_java =
        Command::new("java").arg("-version").stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if place.join("stamp").is_file() && has_java {
        return Some(place.join("selenium-server.jar"));
    }
    let required = std::env::var("CDPILOT_REQUIRE_GRID").is_ok_and(|value| value == "1");
    assert!(!required, "CDPILOT_REQUIRE_GRID=1, but there is no Selenium Grid; run scripts/ensure-grid.sh");
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED, no Selenium Grid here (scripts/ensure-grid.sh): {name}");
    None
}

fn chromedriver() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&path).map(|folder| folder.join("chromedriver"));
    let more = ["/usr/lib/chromium-browser/chromedriver", "/usr/lib/chromium/chromedriver"].map(PathBuf::from);
    all.chain(more).find(|file| file.is_file())
}

fn free_ports<const N: usize>() -> [u16; N] {
    let sockets = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap().port())
}

/// Starts a part of the Grid in its own process group.
fn run(jar: &Path, folder: &Path, args: &[String]) -> Child {
    fs::create_dir_all(folder).unwrap();
    let log = File::create(folder.join("log")).unwrap();
    let mut command = Command::new("java");
    command.args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar"]).arg(jar).args(args).env("TMPDIR", folder);
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).process_group(0);
    command.spawn().unwrap()
}

impl Grid {
    pub fn start(setup: Setup) -> Option<Self> {
        super::browser_path()?;
        let jar = jar()?;
        let driver = chromedriver().expect("chromedriver; `make driver` installs one");
        let temp = tempfile::Builder::new().prefix("grid-").tempdir().unwrap();
        let [hub_port, publish, subscribe] = free_ports();
        let events = [
            "--publish-events".to_owned(),
            format!("tcp://127.0.0.1:{publish}"),
            "--subscribe-events".to_owned(),
            format!("tcp://127.0.0.1:{subscribe}"),
        ];
        let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut args = words(format!(
            "hub --host 127.0.0.1 --port {hub_port} --session-request-timeout {} --reject-unsupported-caps true",
            setup.queue
        ));
        if let Some((name, password)) = setup.login {
            args.extend(words(format!("--username {name} --password {password}")));
        }
        args.extend(events.clone());
        let hub = run(&jar, &temp.path().join("hub"), &args);
        let mut grid = Self { hub, nodes: Vec::new(), port: hub_port, login: setup.login, temp };
        for number in 0..setup.nodes {
            let [port] = free_ports();
            let (hub, Setup { slots, session_timeout, .. }) = (hub_port, setup);
            let mut args = words(format!(
                "node --host 127.0.0.1 --port {port} --grid-url http://127.0.0.1:{hub} --detect-drivers false --max-sessions {slots} \
                 --override-max-sessions true --session-timeout {session_timeout} --driver-configuration display-name=chrome \
                 max-sessions={slots} stereotype={{\"browserName\":\"chrome\",\"platformName\":\"linux\"}} webdriver-executable={}",
                driver.display()
            ));
            args.retain(|arg| !arg.is_empty());
            args.extend(events.clone());
            let folder = grid.temp.path().join(format!("node{number}"));
            let child = run(&jar, &folder, &args);
            grid.nodes.push(Node { child, uri: format!("http://127.0.0.1:{port}"), folder });
        }
        let until = Deadline::after_secs(120);
        while grid.status().is_none_or(|status| status["nodes"].as_array().map_or(0, Vec::len) < setup.nodes) {
            let log = || fs::read_to_string(grid.temp.path().join("hub/log")).unwrap_or_default();
            assert!(!until.passed(), "the Grid did not come up:\n{}", log());
            pause(std::time::Duration::from_millis(200));
        }
        Some(grid)
    }

    /// Its URL, with name and password if it has any.
    pub fn address(&self) -> String {
        let login = self.login.map(|(name, password)| format!("{name}:{password}@")).unwrap_or_default();
        format!("webdriver+http://{login}127.0.0.1:{}", self.port)
    }

    /// Its URL without them.
    pub fn open_address(&self) -> String {
        format!("webdriver+http://127.0.0.1:{}", self.port)
    }

    fn status(&self) -> Option<Value> {
        let mut request = ureq::get(format!("http://127.0.0.1:{}/status", self.port));
        if let Some((name, password)) = self.login {
            let code = base64::engine::general_purpose::STANDARD.encode(format!("{name}:{password}"));
            request = request.header("Authorization", format!("Basic {code}"));
        }
        let text = request.call().ok()?.body_mut().read_to_string().ok()?;
        let status: Value = serde_json::from_str(&text).ok()?;
        Some(status["value"].clone())
    }

    /// The sessions of each node, by its URL.
    pub fn sessions(&self) -> BTreeMap<String, Vec<String>> {
        let status = self.status().expect("the hub answers");
        let of_node = |node: &Value| {
            let slots = node["slots"].as_array().unwrap();
            slots.iter().filter_map(|slot| slot["session"]["sessionId"].as_str().map(str::to_owned)).collect()
        };
        let nodes = status["nodes"].as_array().unwrap();
        nodes.iter().map(|node| (node["uri"].as_str().unwrap().to_owned(), of_node(node))).collect()
    }

    /// Waits until the sessions satisfy a condition.
    pub fn until(&self, what: &str, accept: impl Fn(&BTreeMap<String, Vec<String>>) -> bool) {
        let until = Deadline::after_secs(60);
        loop {
            let now = self.sessions();
            if accept(&now) {
                return;
            }
            assert!(!until.passed(), "{what}: {now:?}");
            pause(std::time::Duration::from_millis(100));
        }
    }

    /// Kills a node with all its children, as when its machine fails.
    pub fn kill(&mut self, uri: &str) {
        self.nodes.iter_mut().find(|node| node.uri == uri).expect("it is one of these").kill();
    }
}

impl Node {
    fn kill(&mut self) {
        end(&mut self.child);
        let folder = self.folder.to_str().unwrap();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
            if let Some(id) = id.filter(|_| String::from_utf8_lossy(&line).contains(folder)) {
                let _ = kill_process(id, Signal::KILL);
            }
        }
    }
}

fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

impl Drop for Grid {
    fn drop(&mut self) {
        end(&mut self.hub);
        self.nodes.iter_mut().for_each(Node::kill);
    }
}
