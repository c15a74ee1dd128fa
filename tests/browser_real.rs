//! The browser room with a real Chromium, and with scripts that behave like a broken one.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cdpilot::browser::{Browser, Error, LaunchOptions, Switch, TransportKind};
use cdpilot::cdp::ConnectOptions;
use cdpilot::cdp::protocol::target::{CloseTarget, GetTargets};
use cdpilot::sync::{Deadline, pause};
use tempfile::TempDir;

use crate::support::browser_path;

const TRANSPORTS: [TransportKind; 3] = [TransportKind::Pipe, TransportKind::Port(0), TransportKind::PipeAndPort(0)];

/// Options for a browser without a window. `None` when there is no browser on this machine.
fn options(transport: TransportKind) -> Option<LaunchOptions> {
    let executable = browser_path();
    if executable.is_none() {
        eprintln!("skipped: no browser here");
    }
    Some(LaunchOptions { executable: Some(executable?), headless: Switch::On, transport, ..Default::default() })
}

fn soon() -> Deadline {
    Deadline::after_secs(10)
}

/// Ids of the processes of a group that are more than zombies.
fn group(id: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-eo", "pid=,pgid=,stat="]).output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[1] == id.to_string() && !row[2].starts_with('Z'))
        .map(|row| row[0].parse().unwrap())
        .collect()
}

/// Processes anywhere whose command line names the folder.
fn users_of(folder: &Path) -> Vec<String> {
    let listed = Command::new("ps").args(["-eo", "pid=,stat=,args=", "-ww"]).output().unwrap();
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    text.lines().filter(|line| line.contains(folder.to_str().unwrap())).map(str::to_owned).collect()
}

/// The folder that holds a temporary profile and the browser's own temporary files.
fn root_of(browser: &Browser) -> PathBuf {
    browser.user_data_dir().unwrap().parent().unwrap().to_owned()
}

fn assert_nothing_left(pid: u32, root: &Path) {
    assert_eq!(group(pid), [0; 0], "processes of the group are left");
    assert_eq!(users_of(root), [""; 0], "processes outside the group are left");
    assert!(!root.exists(), "the temporary profile is left");
}

fn pages(browser: &Browser) -> usize {
    let targets = browser.connection().call(&GetTargets::default(), soon()).unwrap().target_infos;
    targets.iter().filter(|target| target.r#type == "page").count()
}

#[test]
fn every_transport_starts_and_closes_without_a_trace() {
    for transport in TRANSPORTS {
        let Some(options) = options(transport) else { return };
        let browser = Browser::launch(&options).unwrap();
        assert!(browser.version().product.starts_with("Chrome/"), "{:?}", browser.version());
        assert!(browser.is_ours() && browser.headless().unwrap().on);
        assert_eq!(browser.endpoint().is_some(), transport != TransportKind::Pipe);
        let pid = browser.pid().unwrap();
        assert!(group(pid).len() > 3, "the browser's helpers are in its group, the wrapper script became the browser");
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or("chrom".to_owned());
        assert!(!name.starts_with("sh"), "{name}");
        let root = root_of(&browser);
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&root.metadata().unwrap()) & 0o777, 0o700);
        browser.close(soon()).unwrap();
        assert_nothing_left(pid, &root);
    }
}

#[test]
fn dropping_is_closing_and_returns_quickly() {
    for transport in TRANSPORTS {
        let Some(options) = options(transport) else { return };
        let browser = Browser::launch(&options).unwrap();
        let (pid, root) = (browser.pid().unwrap(), root_of(&browser));
        let kept = browser.connection().clone(); // somebody else still holds the connection
        let began = Instant::now();
        drop(browser);
        assert!(began.elapsed() < Duration::from_secs(6));
        assert_nothing_left(pid, &root);
        assert!(kept.is_closed());
    }
}

#[test]
fn a_fixed_port_is_used_and_a_taken_one_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let Some(options) = options(TransportKind::Port(port)) else { return };
    assert!(matches!(Browser::launch(&options), Err(Error::PortInUse { port: p }) if p == port));
    drop(taken);
    let browser = Browser::launch(&options).unwrap();
    assert_eq!(browser.endpoint().unwrap().port(), port);
    browser.close(soon()).unwrap();
}

#[test]
fn a_profile_of_ones_own_stays_and_keeps_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(profile.clone());
    for _ in 0..2 {
        let browser = Browser::launch(&options).unwrap();
        assert_eq!(browser.user_data_dir().unwrap(), profile.canonicalize().unwrap());
        browser.close(soon()).unwrap();
        assert!(profile.join("Local State").exists());
        assert!(std::fs::symlink_metadata(profile.join("SingletonLock")).is_err());
    }
}

#[test]
fn a_profile_in_use_is_refused_and_its_browser_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(folder.path().to_owned());
    let first = Browser::launch(&options).unwrap();
    let before = pages(&first);
    let error = Browser::launch(&options).unwrap_err();
    let Error::ProfileInUse { holder, .. } = &error else { panic!("{error:?}") };
    assert_eq!((holder.pid, &holder.other_host), (first.pid(), &None));
    assert_eq!(pages(&first), before);
    first.close(soon()).unwrap();
    Browser::launch(&options).unwrap();
}

#[test]
fn a_lock_that_was_left_behind_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(folder.path().to_owned());
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let lock = folder.path().join("SingletonLock");
    std::os::unix::fs::symlink(format!("{host}-{}", gone.id()), &lock).unwrap();
    Browser::launch(&options).unwrap().close(soon()).unwrap();

    std::os::unix::fs::symlink(format!("elsewhere-{}", gone.id()), &lock).unwrap();
    let error = Browser::launch(&options).unwrap_err();
    assert!(matches!(&error, Error::ProfileInUse { holder, .. } if holder.other_host.as_deref() == Some("elsewhere")));
    assert!(error.to_string().contains("SingletonLock"), "{error}");
}

#[test]
fn a_killed_browser_leaves_no_lock_and_is_reaped() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(folder.path().to_owned());
    let browser = Browser::launch(&options).unwrap();
    let pid = browser.pid().unwrap();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    let began = Instant::now();
    browser.close(soon()).unwrap();
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(group(pid), [0; 0]);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it is a zombie");
    assert!(std::fs::symlink_metadata(folder.path().join("SingletonLock")).is_err());
}

#[test]
fn a_stopped_browser_is_killed_in_time() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    let browser = Browser::launch(&options).unwrap();
    let (pid, root) = (browser.pid().unwrap(), root_of(&browser));
    assert!(Command::new("kill").args(["-STOP", "--", &format!("-{pid}")]).status().unwrap().success());
    let began = Instant::now();
    browser.close(Deadline::after_secs(2)).unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_nothing_left(pid, &root);
}

// ---- attaching ---------------------------------------------------------------------------------

#[test]
fn attaching_finds_the_browser_and_never_ends_it() {
    let Some(options) = options(TransportKind::PipeAndPort(0)) else { return };
    let ours = Browser::launch(&options).unwrap();
    let endpoint = ours.endpoint().unwrap();
    let port = endpoint.port();
    let addresses =
        [endpoint.url(), format!("http://127.0.0.1:{port}"), format!("localhost:{port}"), format!("{port}")];
    for address in &addresses {
        let theirs = Browser::attach(address, &ConnectOptions::default()).unwrap();
        assert!(!theirs.is_ours() && theirs.pid().is_none());
        assert_eq!(theirs.version(), ours.version());
        assert_eq!(theirs.endpoint().unwrap().scheme(), endpoint.scheme());
        assert!(!format!("{theirs:?}").contains("devtools"), "{theirs:?}");
        theirs.close(soon()).unwrap();
    }
    drop(Browser::attach(&addresses[0], &ConnectOptions::default()).unwrap());
    assert_eq!(pages(&ours), 1);
    let wrong = format!("ws://127.0.0.1:{port}/devtools/browser/hush");
    let error = Browser::attach(&wrong, &ConnectOptions::default()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    ours.close(soon()).unwrap();
    let error = Browser::attach(&addresses[0], &ConnectOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

// ---- contexts ----------------------------------------------------------------------------------

#[test]
fn contexts_keep_their_cookies_to_themselves_and_close_their_pages() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    let browser = Browser::launch(&options).unwrap();
    let connection = browser.connection();
    let cookies = |context: &cdpilot::browser::Context| -> usize {
        let params = serde_json::json!({"browserContextId": context.id().as_str()});
        let answer = connection.call_raw("Storage.getCookies", &params, soon()).unwrap().value().unwrap();
        answer["cookies"].as_array().unwrap().len()
    };
    let (one, two) = (browser.new_context(soon()).unwrap(), browser.new_context(soon()).unwrap());
    assert_ne!(one.id(), two.id());
    let cookie = serde_json::json!({"name": "a", "value": "b", "domain": "x.test", "path": "/"});
    let params = serde_json::json!({"cookies": [cookie], "browserContextId": one.id().as_str()});
    connection.call_raw("Storage.setCookies", &params, soon()).unwrap();
    assert_eq!((cookies(&one), cookies(&two)), (1, 0));

    let before = pages(&browser);
    let page = one.new_page("about:blank", soon()).unwrap();
    two.new_page("about:blank", soon()).unwrap();
    assert_eq!(pages(&browser), before + 2);
    one.dispose(soon()).unwrap();
    assert_eq!(pages(&browser), before + 1);
    assert!(connection.call(&CloseTarget::new(page), soon()).is_err(), "its page is gone");
    drop(two); // tells the browser, does not wait
    let given_up = soon();
    while pages(&browser) > before {
        assert!(!given_up.passed(), "the page of the dropped context is still there");
        pause(Duration::from_millis(10));
    }
    browser.close(soon()).unwrap();
}

// ---- starts that fail --------------------------------------------------------------------------

/// A script in place of the browser; what it does is told by the variable `DO`.
fn script(what: &str) -> LaunchOptions {
    static SCRIPT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = SCRIPT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not-a-browser");
        std::fs::write(&path, "#!/bin/sh\neval \"$DO\"\n").unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        (folder, path)
    });
    LaunchOptions {
        executable: Some(path.clone()),
        headless: Switch::On,
        env: vec![("DO".to_owned(), what.to_owned())],
        ..Default::default()
    }
}

fn failed(options: &LaunchOptions) -> (Error, Duration) {
    let began = Instant::now();
    let error = Browser::launch(options).unwrap_err();
    (error, began.elapsed())
}

#[test]
fn an_exit_while_starting_is_told_at_once_with_its_last_words() {
    for transport in TRANSPORTS {
        let what = "echo something broke >&2; echo DevTools at ws://u:hush@h/devtools/browser/hush >&2; exit 3";
        let (error, took) = failed(&LaunchOptions { transport, ..script(what) });
        assert!(took < Duration::from_secs(5), "{took:?}");
        let Error::Exited { status, clean: false, stderr } = &error else { panic!("{error:?}") };
        assert!(status.contains('3') && stderr.contains("something broke"), "{error:?}");
        assert!(!error.to_string().contains("hush"), "{error}");
    }
    let (error, _) = failed(&script("kill -9 $$"));
    assert!(matches!(&error, Error::Exited { status, .. } if status.contains('9')), "{error:?}");
    let (error, _) = failed(&script("exit 0"));
    assert!(matches!(&error, Error::Exited { clean: true, .. }) && error.to_string().contains("already runs"), "{error}");
}

#[test]
fn the_quoted_words_are_the_last_two_thousand_characters() {
    let what = "i=0; while [ $i -lt 9000 ]; do echo \"line ü $i\"; i=$((i+1)); done >&2; echo the end >&2; exit 1";
    let (error, _) = failed(&script(what));
    let Error::Exited { stderr, .. } = &error else { panic!("{error:?}") };
    assert!(stderr.ends_with("the end") && stderr.starts_with('…'), "{stderr}");
    assert!((1900..=2001).contains(&stderr.chars().count()), "{}", stderr.chars().count());
}

#[test]
fn a_browser_that_never_answers_is_stopped_with_all_it_started() {
    for transport in TRANSPORTS {
        // A helper that ignores the gentle signal, and one that has lost its parent.
        let what = "echo pid $$ >&2; trap '' TERM; sh -c 'trap \"\" TERM; sleep 61' & (sleep 62 &); sleep 63";
        let start_timeout = Duration::from_millis(600);
        let (error, took) = failed(&LaunchOptions { transport, start_timeout, ..script(what) });
        let Error::StartTimeout { stderr, after, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*after, start_timeout);
        assert!(took >= start_timeout && took < Duration::from_secs(4), "{took:?}");
        let pid = stderr.strip_prefix("pid ").unwrap().parse().unwrap();
        assert_eq!(group(pid), [0; 0]);
    }
}

#[test]
fn known_complaints_have_an_error_of_their_own() {
    let complain = |words: &str| failed(&script(&format!("echo '{words}' >&2; exit 1"))).0;
    let root = complain("Running as root without --no-sandbox is not supported.");
    assert!(matches!(&root, Error::Sandbox { root: true, .. }) && root.to_string().contains("no_sandbox"), "{root}");
    assert!(matches!(complain("FATAL: No usable sandbox! Update"), Error::Sandbox { root: false, .. }));
    let display = complain("ERROR: Missing X server or $DISPLAY");
    assert!(matches!(&display, Error::NoDisplay { .. }) && display.to_string().contains("headless"), "{display}");
    assert!(matches!(complain("Opening in existing browser session."), Error::ProfileInUse { .. }));
}

#[test]
fn what_cannot_be_executed_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    for path in [folder.path(), &plain, Path::new("/no/such/browser")] {
        let options = LaunchOptions { executable: Some(path.to_owned()), ..Default::default() };
        assert!(matches!(Browser::launch(&options), Err(Error::Executable { .. })), "{}", path.display());
    }
    let under_a_file = LaunchOptions { user_data_dir: Some(plain.join("profile")), ..script("exit 1") };
    assert!(matches!(Browser::launch(&under_a_file), Err(Error::Profile { .. })));
}

#[test]
fn a_real_browser_says_why_it_cannot_open_a_window_or_use_its_sandbox() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        let (error, took) = failed(&LaunchOptions { headless: Switch::Off, ..options.clone() });
        assert!(matches!(error, Error::NoDisplay { .. }), "{error:?}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
    if rustix::process::geteuid().is_root() {
        let (error, _) = failed(&LaunchOptions { no_sandbox: Switch::Off, ..options });
        assert!(matches!(error, Error::Sandbox { root: true, .. }), "{error:?}");
    }
}

#[test]
fn a_hidden_listening_line_is_made_up_for_by_the_port() {
    let Some(options) = options(TransportKind::Port(0)) else { return };
    let real = options.executable.clone().unwrap();
    let hide = format!("exec {} \"$@\" 2>/dev/null", real.display());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for transport in [TransportKind::Port(0), TransportKind::PipeAndPort(free)] {
        let browser = Browser::launch(&LaunchOptions { transport, ..script(&hide) }).unwrap();
        assert!(browser.endpoint().is_some());
        browser.close(soon()).unwrap();
    }
}

// ---- ends that are not ours to choose ----------------------------------------------------------

/// Not a test of its own: a process that holds a browser until it is killed, see below.
#[test]
fn held_browser() {
    let Some(transport) = std::env::var_os("CDPILOT_TEST_HOLD") else { return };
    let transport = if transport == "pipe" { TransportKind::Pipe } else { TransportKind::Port(0) };
    let browser = Browser::launch(&options(transport).unwrap()).unwrap();
    println!("held {} {}", browser.pid().unwrap(), root_of(&browser).display());
    pause(Duration::from_secs(60));
}

#[test]
fn a_browser_dies_with_us_however_we_end() {
    if browser_path().is_none() {
        return;
    }
    for transport in ["pipe", "port"] {
        let mut holder = Command::new(std::env::current_exe().unwrap())
            .args(["held_browser", "--nocapture", "--test-threads=1"])
            .env("CDPILOT_TEST_HOLD", transport)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
        let line = lines.find_map(|line| line.split_once("held ").map(|(_, rest)| rest.to_owned())).unwrap();
        let (pid, root) = line.split_once(' ').unwrap();
        let pid = pid.parse().unwrap();
        assert!(!group(pid).is_empty());
        holder.kill().unwrap(); // SIGKILL: none of our code runs
        let began = Instant::now();
        while !group(pid).is_empty() {
            assert!(began.elapsed() < Duration::from_secs(3), "left after 3 s: {:?}", group(pid));
            pause(Duration::from_millis(20));
        }
        holder.wait().unwrap();
        std::fs::remove_dir_all(root).unwrap(); // the next start would, once it is a minute old
    }
}

#[test]
fn temporary_profiles_of_killed_owners_are_swept_up() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    let make = |name: &str| {
        let folder = std::env::temp_dir().join(format!("cdpilot-browser-{name}{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let mark = std::fs::File::create(folder.join("owner")).unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(120);
        (folder.clone(), mark, old)
    };
    let age = |folder: &Path, old| std::fs::File::open(folder).unwrap().set_modified(old).unwrap();
    let (abandoned, mark, old) = make("abandoned");
    drop(mark);
    age(&abandoned, old);
    let (held, mark, _) = make("held");
    rustix::fs::flock(&mark, rustix::fs::FlockOperation::LockExclusive).unwrap();
    age(&held, old);
    let (young, _mark, _) = make("young");
    Browser::launch(&options).unwrap().close(soon()).unwrap();
    assert!(!abandoned.exists() && held.exists() && young.exists());
    std::fs::remove_dir_all(held).unwrap();
    std::fs::remove_dir_all(young).unwrap();
}

#[test]
fn several_browsers_start_at_once_and_none_holds_another_up() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    let mut closers = Vec::new();
    for _ in 0..3 {
        let options = options.clone();
        let body = move || {
            let browser = Browser::launch(&options).unwrap();
            let (pid, root) = (browser.pid().unwrap(), root_of(&browser));
            browser.close(soon()).unwrap();
            assert_nothing_left(pid, &root);
            std::fs::write(std::env::temp_dir().join(format!("cdpilot-test-done-{pid}")), "").unwrap();
            std::fs::remove_file(std::env::temp_dir().join(format!("cdpilot-test-done-{pid}"))).unwrap();
        };
        closers.push(cdpilot::sync::spawn("test-launch", body).unwrap());
    }
    closers.into_iter().for_each(cdpilot::sync::Thread::join);
}
