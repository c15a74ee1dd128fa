//! Browsers that fail to start, die or outlive their owner: a real Chromium, and scripts in its place.
#![cfg(unix)]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cdpilot::browser::{BrowserProcess, Error, LaunchOptions, TransportKind};
use tempfile::TempDir;

use crate::browser_real::{TRANSPORTS, group, options, soon};

// ---- starts that fail --------------------------------------------------------------------------

/// A script in place of the browser; what it does is set by the variable `DO`.
fn script(what: &str) -> LaunchOptions {
    static SCRIPT: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = SCRIPT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("not-a-browser");
        std::fs::write(&path, "#!/bin/sh\neval \"$DO\"\n").unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        (folder, path)
    });
    {
        let mut options = LaunchOptions::new().executable(path.clone()).headless(true);
        options.env = vec![("DO".to_owned(), what.to_owned())];
        options
    }
}

fn failed(options: &LaunchOptions) -> (Error, Duration) {
    let began = Instant::now();
    let error = BrowserProcess::launch(options).unwrap_err();
    (error, began.elapsed())
}

#[test]
fn an_exit_during_launch_fails_at_once_and_quotes_stderr() {
    for transport in TRANSPORTS {
        let what = "for a; do case $a in --user-data-dir=*) echo my folder is ${a#*=} >&2; esac; done
            echo something broke >&2; echo DevTools at ws://u:hush@h/devtools/browser/hush >&2; exit 3";
        let (error, took) = failed(&script(what).transport(transport));
        assert!(took < crate::support::LIMIT, "{took:?}");
        let Error::Exited { status, clean: false, stderr } = &error else { panic!("{error:?}") };
        assert!(status.contains('3') && stderr.contains("something broke"), "{error:?}");
        let folder = stderr.split_once("my folder is ").unwrap().1.lines().next().unwrap();
        assert!(folder.contains("cdpilot") && !Path::new(folder).exists(), "{folder} is left");
        assert!(!error.to_string().contains("hush"), "{error}");
    }
    let (error, _) = failed(&script("kill -9 $$"));
    assert!(matches!(&error, Error::Exited { status, .. } if status.contains('9')), "{error:?}");
    let (error, _) = failed(&script("exit 0"));
    assert!(
        matches!(&error, Error::Exited { clean: true, .. }) && error.to_string().contains("already runs"),
        "{error}"
    );
}

#[test]
fn quoted_stderr_is_limited_to_the_last_two_thousand_characters() {
    let what = "i=0; while [ $i -lt 9000 ]; do echo \"line ü $i\"; i=$((i+1)); done >&2; echo the end >&2; exit 1";
    let (error, _) = failed(&script(what));
    let Error::Exited { stderr, .. } = &error else { panic!("{error:?}") };
    assert!(stderr.ends_with("the end") && stderr.starts_with('…'), "{stderr}");
    assert!((1900..=2001).contains(&stderr.chars().count()), "{}", stderr.chars().count());
}

#[test]
fn a_browser_that_never_responds_is_killed_with_its_children() {
    for transport in TRANSPORTS {
        // A helper that ignores the gentle signal, and one that has lost its parent.
        let what = "echo pid $$ >&2; trap '' TERM; sh -c 'trap \"\" TERM; sleep 61' & (sleep 62 &); sleep 63";
        let start_timeout = Duration::from_millis(600);
        let (error, took) = failed(&script(what).transport(transport).start_timeout(start_timeout));
        let Error::StartTimeout { stderr, after, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*after, start_timeout);
        assert!(took >= start_timeout && took < crate::support::LIMIT, "{took:?}");
        let pid = stderr.strip_prefix("pid ").unwrap().parse().unwrap();
        assert_eq!(group(pid), [0; 0]);
    }
}

#[test]
fn known_launch_failures_have_their_own_errors() {
    let complain = |words: &str| failed(&script(&format!("echo '{words}' >&2; exit 1"))).0;
    let root = complain("Running as root without --no-sandbox is not supported.");
    assert!(matches!(&root, Error::Sandbox { root: true, .. }) && root.to_string().contains("no_sandbox"), "{root}");
    assert!(matches!(complain("FATAL: No usable sandbox! Update"), Error::Sandbox { root: false, .. }));
    let display = complain("ERROR: Missing X server or $DISPLAY");
    assert!(matches!(&display, Error::NoDisplay { .. }) && display.to_string().contains("headless"), "{display}");
    assert!(matches!(complain("Opening in existing browser session."), Error::ProfileInUse { .. }));
}

#[test]
fn a_file_that_is_not_executable_is_refused_before_launch() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    for path in [folder.path(), &plain, Path::new("/no/such/browser")] {
        let options = LaunchOptions::new().executable(path);
        assert!(matches!(BrowserProcess::launch(&options), Err(Error::Executable { .. })), "{}", path.display());
    }
    let under_a_file = script("exit 1").user_data_dir(plain.join("profile"));
    assert!(matches!(BrowserProcess::launch(&under_a_file), Err(Error::Profile { .. })));
}

#[test]
fn missing_display_and_missing_sandbox_are_reported() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        let (error, took) = failed(&options.clone().headless(false));
        assert!(matches!(error, Error::NoDisplay { .. }), "{error:?}");
        assert!(took < crate::support::LIMIT, "{took:?}");
    }
    if rustix::process::geteuid().is_root() {
        let (error, _) = failed(&options.sandbox(true));
        assert!(matches!(error, Error::Sandbox { root: true, .. }), "{error:?}");
    }
}

#[test]
fn a_missing_listening_line_is_replaced_by_the_port_file() {
    let Some(options) = options(TransportKind::Port(0)) else { return };
    let real = options.executable.clone().unwrap();
    let hide = format!("exec {} \"$@\" 2>/dev/null", real.display());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for transport in [TransportKind::Port(0), TransportKind::PipeAndPort(free)] {
        let browser = BrowserProcess::launch(&script(&hide).transport(transport)).unwrap();
        assert!(browser.endpoint().is_some());
        browser.close(soon()).unwrap();
    }
}

// ---- ends that are not ours to choose ----------------------------------------------------------

#[test]
fn temporary_profiles_of_killed_owners_are_removed() {
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
    let (half, mark, _) = make("half-removed");
    drop(mark);
    std::fs::remove_file(half.join("owner")).unwrap();
    age(&half, old);
    BrowserProcess::launch(&options).unwrap().close(soon()).unwrap();
    assert!(!abandoned.exists() && !half.exists() && held.exists() && young.exists());
    std::fs::remove_dir_all(held).unwrap();
    std::fs::remove_dir_all(young).unwrap();
}
