//! The browser module with a real Chromium: launch, close, attach, contexts.
#![cfg(unix)]
#![allow(clippy::print_stdout, clippy::print_stderr)] // a skipped test says so; a helper process reports

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use cdpilot::browser::{BrowserProcess, Error, TransportKind};
use cdpilot::cdp::ConnectOptions;
use cdpilot::cdp::protocol::target::{CloseTarget, GetTargets};
use cdpilot::sync::{Deadline, pause};

pub(crate) use crate::support::launched::{assert_nothing_left, group, options, root_of};
use crate::support::leaks::{Baseline, alone};
pub(crate) use crate::support::soon;

pub(crate) const TRANSPORTS: [TransportKind; 3] =
    [TransportKind::Pipe, TransportKind::Port(0), TransportKind::PipeAndPort(0)];

fn pages(browser: &BrowserProcess) -> usize {
    let targets = browser.connection().call(&GetTargets::default(), soon()).unwrap().target_infos;
    targets.iter().filter(|target| target.r#type == "page").count()
}

#[test]
fn every_transport_launches_and_closes_cleanly() {
    for transport in TRANSPORTS {
        let Some(options) = options(transport) else { return };
        let browser = BrowserProcess::launch(&options).unwrap();
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
fn dropping_a_browser_closes_it_quickly() {
    for transport in TRANSPORTS {
        let Some(options) = options(transport) else { return };
        let browser = BrowserProcess::launch(&options).unwrap();
        let (pid, root) = (browser.pid().unwrap(), root_of(&browser));
        let kept = browser.connection().clone(); // somebody else still holds the connection
        let began = Instant::now();
        drop(browser);
        assert!(began.elapsed() < crate::support::LIMIT);
        assert_nothing_left(pid, &root);
        assert!(kept.is_closed());
    }
}

#[test]
fn a_fixed_port_is_used_and_an_occupied_one_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let Some(options) = options(TransportKind::Port(port)) else { return };
    assert!(matches!(BrowserProcess::launch(&options), Err(Error::PortInUse { port: p }) if p == port));
    drop(taken);
    // A process that another test has just forked holds the listener until it runs its own program.
    let free = soon();
    let browser = loop {
        match BrowserProcess::launch(&options) {
            Err(Error::PortInUse { .. }) if !free.passed() => pause(Duration::from_millis(10)),
            launched => break launched.unwrap(),
        }
    };
    assert_eq!(browser.endpoint().unwrap().port(), port);
    browser.close(soon()).unwrap();
}

#[test]
fn a_permanent_profile_keeps_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(profile.clone());
    for _ in 0..2 {
        let browser = BrowserProcess::launch(&options).unwrap();
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
    options.transport = TransportKind::PipeAndPort(0);
    let first = BrowserProcess::launch(&options).unwrap();
    let before = pages(&first);
    let error = BrowserProcess::launch(&options).unwrap_err();
    let Error::ProfileInUse { holder, .. } = &error else { panic!("{error:?}") };
    assert_eq!((holder.pid, &holder.other_host), (first.pid(), &None));
    assert_eq!((holder.owner, holder.port), (Some(std::process::id()), Some(first.endpoint().unwrap().port())));
    assert!(holder.command.as_ref().is_some_and(|command| command.contains("chrom")), "{holder:?}");
    let (text, attach) = (error.to_string(), format!("attach to it at 127.0.0.1:{}", holder.port.unwrap()));
    assert!(text.contains("choose another profile") && text.contains(&attach), "{text}");
    assert_eq!(pages(&first), before);
    first.close(soon()).unwrap();
    BrowserProcess::launch(&options).unwrap();
}

#[test]
fn a_stale_profile_lock_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(folder.path().to_owned());
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
    let lock = folder.path().join("SingletonLock");
    std::os::unix::fs::symlink(format!("{host}-{}", gone.id()), &lock).unwrap();
    BrowserProcess::launch(&options).unwrap().close(soon()).unwrap();

    std::os::unix::fs::symlink(format!("elsewhere-{}", gone.id()), &lock).unwrap();
    let error = BrowserProcess::launch(&options).unwrap_err();
    assert!(matches!(&error, Error::ProfileInUse { holder, .. } if holder.other_host.as_deref() == Some("elsewhere")));
    assert!(error.to_string().contains("SingletonLock"), "{error}");
    assert!(std::fs::symlink_metadata(&lock).is_ok(), "the lock of another host stays");
    std::fs::remove_file(&lock).unwrap();

    if !cfg!(target_os = "linux") {
        return; // the arguments of others cannot be told apart for sure
    }
    // Its number belongs to a browser that works in another profile now.
    let other = BrowserProcess::launch(&{
        let mut options = options.clone();
        options.user_data_dir = None;
        options
    })
    .unwrap();
    std::os::unix::fs::symlink(format!("{host}-{}", other.pid().unwrap()), &lock).unwrap();
    BrowserProcess::launch(&options).unwrap().close(soon()).unwrap();
    assert_eq!(pages(&other), 1);
}

#[test]
fn a_killed_browser_leaves_no_lock_and_is_reaped() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut options) = options(TransportKind::Pipe) else { return };
    options.user_data_dir = Some(folder.path().to_owned());
    let browser = BrowserProcess::launch(&options).unwrap();
    let pid = browser.pid().unwrap();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    let began = Instant::now();
    browser.close(soon()).unwrap();
    assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
    assert_eq!(group(pid), [0; 0]);
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it is a zombie");
    assert!(std::fs::symlink_metadata(folder.path().join("SingletonLock")).is_err());
}

#[test]
fn a_suspended_browser_is_killed_within_the_deadline() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    let browser = BrowserProcess::launch(&options).unwrap();
    let (pid, root) = (browser.pid().unwrap(), root_of(&browser));
    assert!(Command::new("kill").args(["-STOP", "--", &format!("-{pid}")]).status().unwrap().success());
    let began = Instant::now();
    browser.close(Deadline::after_secs(2)).unwrap();
    assert!(began.elapsed() < crate::support::LIMIT, "{:?}", began.elapsed());
    assert_nothing_left(pid, &root);
}

// ---- attaching ---------------------------------------------------------------------------------

#[test]
fn an_attached_browser_is_never_ended() {
    let Some(options) = options(TransportKind::PipeAndPort(0)) else { return };
    let ours = BrowserProcess::launch(&options).unwrap();
    let endpoint = ours.endpoint().unwrap();
    let port = endpoint.port();
    let addresses =
        [endpoint.url(), format!("http://127.0.0.1:{port}"), format!("localhost:{port}"), format!("{port}")];
    for address in &addresses {
        let theirs = BrowserProcess::attach(address, &ConnectOptions::default()).unwrap();
        assert!(!theirs.is_ours() && theirs.pid().is_none());
        assert_eq!(theirs.version(), ours.version());
        assert_eq!(theirs.endpoint().unwrap().scheme(), endpoint.scheme());
        assert!(!format!("{theirs:?}").contains("devtools"), "{theirs:?}");
        theirs.close(soon()).unwrap();
    }
    drop(BrowserProcess::attach(&addresses[0], &ConnectOptions::default()).unwrap());
    assert_eq!(pages(&ours), 1);
    let wrong = format!("ws://127.0.0.1:{port}/devtools/browser/hush");
    let error = BrowserProcess::attach(&wrong, &ConnectOptions::default()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    ours.close(soon()).unwrap();
    let error = BrowserProcess::attach(&addresses[0], &ConnectOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}

// ---- contexts ----------------------------------------------------------------------------------

#[test]
fn contexts_have_separate_cookies_and_close_their_pages() {
    let Some(options) = options(TransportKind::Pipe) else { return };
    let browser = BrowserProcess::launch(&options).unwrap();
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

// ---- leaks -------------------------------------------------------------------------------------

#[test]
fn browsers_leak_no_thread_descriptor_or_process() {
    alone(module_path!(), "browsers_leak_no_thread_descriptor_or_process", || {
        let Some(options) = options(TransportKind::Pipe) else { return };
        BrowserProcess::launch(&options).unwrap().close(soon()).unwrap();
        let baseline = Baseline::now();
        for transport in TRANSPORTS {
            let browser = BrowserProcess::launch(&options.clone().transport(transport)).unwrap();
            let context = browser.new_context(soon()).unwrap();
            context.new_page("about:blank", soon()).unwrap();
            drop(browser); // before its context
        }
        let options = options.start_timeout(Duration::from_millis(1));
        assert!(BrowserProcess::launch(&options).is_err());
        baseline.assert_back(soon());
    });
}

#[test]
fn a_browser_may_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<BrowserProcess>();
    shared::<cdpilot::browser::Context>();
    shared::<Error>();
}
