//! `doctor` of a home.

use cdpilot_server::control::{Check, CheckStatus, Overrides};

use crate::support::browser_path;
use crate::support::chrome::soon;
use crate::support::test_home::{TestHome, overrides};

fn check<'a>(checks: &'a [Check], id: &str) -> &'a Check {
    checks.iter().find(|check| check.id == id).unwrap_or_else(|| panic!("no {id}: {checks:#?}"))
}

#[test]
fn the_doctor_checks_a_home_with_and_without_its_browser() {
    let Some(home) = TestHome::launching("transport: port") else { return };
    let down = home.doctor(soon());
    for id in ["home", "token", "disk", "browser", "profile", "port", "display", "server", "version"] {
        assert_eq!(check(&down, id).status, CheckStatus::Pass, "{down:#?}");
    }
    assert!(check(&down, "browser").summary.contains("Chrom"), "{down:#?}");
    assert!(check(&down, "profile").summary.contains("no browser uses"), "{down:#?}");
    let port = home.started().status().cdp_port.unwrap();
    let up = home.doctor(soon());
    assert!(check(&up, "port").summary.contains(&format!("port {port}")), "{up:#?}");
    assert!(check(&up, "profile").summary.contains("its own browser"), "{up:#?}");

    // Another home that wants the same folder and port.
    let folder = home.path().join("profiles/cdpilot");
    let other = TestHome::without_browser(
        &format!(
            "transport: port, cdp_port: {port}, default_profile: thief, profiles: {{thief: {{user_data_dir: '{}'}}}}",
            folder.display()
        ),
        overrides(browser_path()),
    );
    let checks = other.doctor(soon());
    assert_eq!(check(&checks, "port").status, CheckStatus::Warn, "{checks:#?}");
    let taken = check(&checks, "profile");
    assert!(taken.status == CheckStatus::Fail && taken.fix_hint.is_some(), "{checks:#?}");

    // The default profile's port is taken: the next free one is used, and that is said; asked for by name, it is not.
    let other = TestHome::without_browser(&format!("transport: port, cdp_port: {port}"), overrides(browser_path()));
    let status = other.main().start(None, soon()).unwrap();
    assert!(status.cdp_port.is_some_and(|taken| taken != port), "{status:?}");
    assert!(status.notes.iter().any(|note| note.contains(&format!("port {port} is in use"))), "{status:?}");
    let requested = overrides(browser_path()).cdp_port(port);
    let requested = TestHome::without_browser("", requested);
    let refused = requested.main().start(None, soon()).unwrap_err();
    assert!(refused.to_string().contains(&format!("port {port} is in use")), "{refused}");
}

#[cfg(unix)]
#[test]
fn the_doctor_fixes_file_permissions() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let missing = Overrides::new().executable("/does/not/exist");
    let home = TestHome::without_browser("enabled: false", missing);
    let token = cdpilot_server::config::Token::of(home.home()).unwrap();
    let (path, downloads) = (home.path().join("token"), home.path().join("downloads"));
    for (path, mode) in [(home.path(), 0o755), (&*path, 0o644), (&*downloads, 0o777)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let profile = home.path().join("profiles/cdpilot");
    std::fs::create_dir_all(&profile).unwrap();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    symlink(format!("{host}-999999999"), profile.join("SingletonLock")).unwrap();
    let checks = home.doctor(soon());
    for id in ["home", "token", "browser"] {
        let found = check(&checks, id);
        assert!(found.status == CheckStatus::Fail && found.fix_hint.is_some(), "{checks:#?}");
    }
    assert_eq!(check(&checks, "enabled").status, CheckStatus::Warn);
    assert_eq!(check(&checks, "profile").status, CheckStatus::Pass, "whoever it names is gone");
    assert!(!format!("{checks:?}").contains(token.reveal()));
    let fixed = home.fix();
    assert_eq!(
        fixed.iter().map(|fixed| fixed.id).collect::<Vec<_>>(),
        ["home", "token", "home", "profile"],
        "{fixed:#?}"
    );
    assert!(!profile.join("SingletonLock").is_symlink());
    let checks = home.doctor(soon());
    for id in ["home", "token"] {
        assert_eq!(check(&checks, id).status, CheckStatus::Pass, "{checks:#?}");
    }
    assert!(home.fix().is_empty());
}
