//! Programs that impersonate the server or the browser.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cdpilot::sync::{Thread, pause, spawn};
use parking_lot::Mutex;
use serde_json::json;

use super::super::Attack;
use super::super::llm_endpoint::{Endpoint, http};
use crate::cli_fake_server::{TOKEN, program};
use crate::cli_run::Program;
use crate::support::DEFAULT_PORT;
use crate::support::api::TestServer;
use crate::support::chrome::soon;

/// The port of the server where nothing else is set.
const USUAL: u16 = 18_791;

pub(super) const ATTACKS: &[Attack<()>] = &[
    Attack {
        name: "listens on the port of the server while none runs",
        witness: "the token in what it receives from commands",
        run: takes_the_port,
    },
    Attack {
        name: "listens at the address of a server that has ended",
        witness: "requests that it receives",
        run: stale_address,
    },
    Attack {
        name: "answers as the server and redirects commands to another address",
        witness: "requests that the other address receives",
        run: redirects,
    },
    Attack {
        name: "poses as the HTTP proxy of commands and of the server",
        witness: "requests that the proxy receives",
        run: is_the_proxy,
    },
    Attack {
        name: "puts a program with the name of a browser into the current folder",
        witness: "a file that the program writes when it is started",
        run: planted_browser,
    },
    Attack {
        name: "reads the command lines of browsers, which all users can see, and their environment variables",
        witness: "the token or the key of a model in them",
        run: reads_processes,
    },
];

fn served() -> Vec<u8> {
    http("200 OK", "Content-Type: application/json\r\n", json!({ "ok": true, "profiles": [] }).to_string().as_bytes())
}

/// A program at the default port that records what it receives.
struct Squatter {
    _port: parking_lot::MutexGuard<'static, ()>,
    heard: Arc<Mutex<String>>,
    over: Arc<AtomicBool>,
    thread: Option<Thread>,
}

impl Squatter {
    fn start() -> Self {
        let port = DEFAULT_PORT.lock();
        // Another run of the tests may have it for a moment.
        let deadline = soon();
        let listener = loop {
            match TcpListener::bind(("127.0.0.1", USUAL)) {
                Ok(listener) => break listener,
                Err(problem) => assert!(!deadline.passed(), "port {USUAL}: {problem}"),
            }
            pause(Duration::from_millis(50)); // nothing signals that a port is free
        };
        let (heard, over) = (Arc::<Mutex<String>>::default(), Arc::<AtomicBool>::default());
        let (writes, ends) = (Arc::clone(&heard), Arc::clone(&over));
        let thread = spawn("squatter", move || {
            for socket in listener.incoming() {
                if ends.load(Ordering::Acquire) {
                    return;
                }
                let Ok(mut socket) = socket else { continue };
                let _ = socket.set_read_timeout(Some(Duration::from_secs(5)));
                let mut bytes = [0; 16 * 1024];
                let count = socket.read(&mut bytes).unwrap_or(0);
                writes.lock().push_str(&String::from_utf8_lossy(&bytes[..count]));
                let _ = socket.write_all(&served());
            }
        });
        Self { _port: port, heard, over, thread: Some(thread.unwrap()) }
    }
}

impl Drop for Squatter {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        let _ = TcpStream::connect(("127.0.0.1", USUAL)); // wakes it
        drop(self.thread.take());
    }
}

fn takes_the_port(_: &()) -> Result<(), String> {
    let (squatter, program) = (Squatter::start(), program().env("CDPILOT_NO_AUTOSTART", "1"));
    for command in [
        &["browser", "status"][..],
        &["browser", "stop"],
        &["--no-autostart", "browser", "tabs"],
        &["--no-autostart", "browser", "profiles"],
        &["--no-autostart", "tool"],
        &["doctor"],
        &["serve", "--stop"],
    ] {
        let ran = program.run(command);
        if squatter.heard.lock().contains(TOKEN) {
            return Err(format!("{command:?}: {ran:?}"));
        }
    }
    // A command that follows redirects reaches the port: the silence before means that nothing was sent.
    program.run(&["--url", &format!("http://127.0.0.1:{USUAL}"), "browser", "profiles"]);
    assert!(squatter.heard.lock().contains(TOKEN), "{}", squatter.heard.lock());
    Ok(())
}

fn stale_address(_: &()) -> Result<(), String> {
    let (endpoint, program) = (Endpoint::start(), program().env("CDPILOT_NO_AUTOSTART", "1"));
    endpoint.answers(served);
    let run = program.temp.path().join("home/run");
    fs::create_dir_all(&run).unwrap();
    let url = endpoint.url("");
    let running = json!({ "pid": std::process::id(), "port": 1, "url": url, "started_at": 1.0, "version": "1" });
    let announce = || fs::write(run.join("server.json"), running.to_string()).unwrap();
    announce();
    fs::write(run.join("server.lock"), "").unwrap();
    for command in
        [&["browser", "status"][..], &["--no-autostart", "browser", "tabs"], &["serve", "--stop"], &["doctor"]]
    {
        program.run(command);
        announce(); // a command may have cleared it away
    }
    if let Some(head) = endpoint.heads().first() {
        return Err(head.clone());
    }
    // While a server of the home holds the lock, its word counts.
    let lock = fs::File::open(run.join("server.lock")).unwrap();
    lock.lock().unwrap();
    program.run(&["--no-autostart", "browser", "profiles"]);
    assert!(endpoint.heads().iter().any(|head| head.contains(TOKEN)), "{:?}", endpoint.heads());
    Ok(())
}

fn redirects(_: &()) -> Result<(), String> {
    let (endpoint, elsewhere, program) = (Endpoint::start(), Endpoint::start(), program());
    for status in ["301 x", "302 x", "303 x", "307 x", "308 x"] {
        for to in [elsewhere.url("/profiles"), elsewhere.url("/profiles").replace("http:", "")] {
            let answer = http(status, &format!("Location: {to}\r\n"), b"{\"ok\":true}");
            endpoint.answers(move || answer.clone());
            program.run(&["--url", &endpoint.url(""), "browser", "profiles"]);
        }
    }
    assert!(endpoint.heads().iter().all(|head| head.contains(TOKEN)) && endpoint.heads().len() >= 10);
    elsewhere.heads().first().map_or(Ok(()), |head| Err(head.clone()))
}

fn is_the_proxy(_: &()) -> Result<(), String> {
    let (proxy, target) = (Endpoint::start(), Endpoint::start());
    proxy.answers(served);
    target.answers(served);
    let names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy", "HTTPS_PROXY"];
    let through = names.iter().fold(program(), |program, name| program.env(name, &proxy.url("")));
    for url in [target.url(""), target.url("").replace("127.0.0.1", "localhost")] {
        through.run(&["--url", &url, "browser", "profiles"]);
    }
    assert!(target.heads().iter().any(|head| head.contains(TOKEN)), "{:?}", target.heads());
    proxy.heads().first().map_or(Ok(()), |head| Err(head.clone()))
}

fn planted_browser(_: &()) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    for name in ["chromium", "google-chrome", "chrome", "planted-browser"] {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\necho {name} >> {}\n", mark.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let program = Program::new();
    let start = |browser: &str, path: &str| {
        let mut command = program.command(&["supervise", "--launch", "--json", "--timeout", "5000"]);
        command.current_dir(folder.path()).env("CDPILOT_BROWSER", browser).env("PATH", path);
        if browser.is_empty() {
            command.env_remove("CDPILOT_BROWSER");
        }
        command.output().unwrap()
    };
    for path in ["", ".", ":/nowhere:", "./"] {
        let response = start("planted-browser", path);
        if mark.exists() {
            return Err(format!("PATH={path:?}: {response:?}"));
        }
    }
    // A path selects that one.
    let response = start("./planted-browser", "/usr/bin:/bin");
    assert!(mark.exists(), "{response:?}");
    Ok(())
}

fn reads_processes(_: &()) -> Result<(), String> {
    const KEY: &str = concat!("sk", "-of-a-model-0123456789");
    let served = TestServer::launching_with(|_, options| {
        fs::create_dir_all(options.home.root()).unwrap();
        let models = json!({ "models": { "m": { "model": "m", "base_url": "http://127.0.0.1:1", "api_key": KEY } } });
        fs::write(options.home.root().join("llm.json"), models.to_string()).unwrap();
    });
    let Some(served) = served else { return Ok(()) };
    served.site.page("/", "x");
    served.open("/");
    let root = served.home.root().display().to_string();
    let mut seen = 0;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let read = |name: &str| {
            let bytes = fs::read(entry.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let command = read("cmdline");
        if command.contains(&root) {
            seen += 1;
            let all = command + &read("environ");
            if all.contains(&served.api.token) || all.contains(KEY) {
                return Err(format!("{:?}: {all}", entry.file_name()));
            }
        }
    }
    assert!(seen > 0 || !cfg!(target_os = "linux"), "no browser was seen");
    Ok(())
}
