//! The files around the browsers of a home.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cdpilot_server::control::{FileKind, Overrides};

use crate::support::chrome::soon;
use crate::support::test_home::TestHome;

fn bare(browser: &str) -> TestHome {
    TestHome::without_browser(browser, Overrides::default())
}

#[test]
fn screenshots_are_written_atomically_and_kept_for_a_day() {
    let home = bare("");
    let files = home.files();
    let path = files.save(FileKind::Media, "png", b"picture").unwrap();
    assert_eq!(path.parent().unwrap(), home.path().join("media"));
    assert_eq!(fs::read(&path).unwrap(), b"picture");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    for ending in ["", "../x", "p.ng", "a/b", "verylongone"] {
        assert_eq!(files.save(FileKind::Media, ending, b"").unwrap_err().code(), "PATH_REFUSED", "{ending}");
    }
    let trace = files.save(FileKind::Trace, "json", b"{}").unwrap();
    assert_eq!(home.sweep(Duration::from_secs(23 * 3600), soon()), (0, 0));
    assert_eq!(home.sweep(Duration::from_secs(25 * 3600), soon()), (0, 1));
    assert!(!path.exists() && trace.exists());
    assert_eq!(fs::read_dir(home.path().join("media")).unwrap().count(), 0);

    // What was left from before goes when the server starts.
    let old = files.save(FileKind::Media, "pdf", b"old").unwrap();
    let new = files.save(FileKind::Media, "pdf", b"new").unwrap();
    let age = Duration::from_secs(25 * 3600);
    fs::File::options().write(true).open(&old).unwrap().set_modified(std::time::SystemTime::now() - age).unwrap();
    let home = home.again("", Overrides::default());
    let deadline = soon();
    while old.exists() && !deadline.passed() {
        cdpilot::sync::pause(Duration::from_millis(10));
    }
    assert!(!old.exists() && new.exists());
    drop(home);
}

#[cfg(unix)]
#[test]
fn only_regular_files_below_the_upload_folders_may_be_uploaded() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("given");
    fs::create_dir(&root).unwrap();
    let home = bare(&format!("upload_roots: ['{}']", root.display()));
    let uploads = home.path().join("uploads");
    let put = |path: &Path| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    };
    let check = |path: &Path| home.files().check_upload(path);
    put(&uploads.join("deep/a.txt"));
    put(&root.join("b.txt"));
    put(&outside.path().join("secret"));
    put(&home.path().join("token"));
    // As it is, through another way of writing it, and by its name below uploads.
    for good in
        [uploads.join("deep/a.txt"), uploads.join("deep/../deep/a.txt"), "deep/a.txt".into(), root.join("b.txt")]
    {
        let found = check(&good).unwrap();
        assert!(found.ends_with("deep/a.txt") || found.ends_with("b.txt"), "{found:?}");
    }
    symlink(outside.path().join("secret"), uploads.join("link")).unwrap();
    symlink(outside.path(), uploads.join("folder")).unwrap();
    symlink(uploads.join("deep/a.txt"), uploads.join("inner")).unwrap();
    fs::hard_link(outside.path().join("secret"), uploads.join("hard")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, uploads.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let bad = [
        outside.path().join("secret"),
        home.path().join("token"),
        uploads.join("../token"),
        uploads.join("link"),
        uploads.join("folder/secret"),
        uploads.join("folder/given/../secret"),
        uploads.join("hard"),
        uploads.join("pipe"),
        uploads.clone(),
        // The folder has a link out of it.
        uploads.join("with-link"),
        uploads.join("none"),
        "/dev/null".into(),
        "".into(),
        format!("{}-2/x", root.display()).into(),
    ];
    put(&outside.path().join("given-2/x"));
    put(&uploads.join("with-link/a.txt"));
    symlink(outside.path().join("secret"), uploads.join("with-link/b.txt")).unwrap();
    assert_eq!(check(&uploads.join("deep")).unwrap(), uploads.join("deep").canonicalize().unwrap());
    for path in bad {
        let refused = check(&path).unwrap_err();
        assert_eq!(refused.code(), "PATH_REFUSED", "{path:?}: {refused}");
    }
    // A link that stays inside is what it leads to.
    assert_eq!(check(&uploads.join("inner")).unwrap(), uploads.join("deep/a.txt").canonicalize().unwrap());
}
