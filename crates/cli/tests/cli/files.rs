//! Output files of commands: written atomically, and private if they contain secrets.

use std::fs;
use std::path::Path;

use crate::cli_browser_real::AtHome;
use crate::support::site::Site;

#[cfg(unix)]
#[test]
fn output_files_are_replaced_and_secret_ones_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let Some(at) = AtHome::browsing() else { return };
    let site = Site::start();
    site.page("/", "<title>Desk</title><p>some text that fills a line of the snapshot");
    let folder = at.program.temp.path().join("made");
    fs::create_dir(&folder).unwrap();
    let does = |args: &[&str]| {
        let ran = at.run(&[&["browser"], args].concat());
        assert_eq!(ran.code, Some(0), "{args:?} {ran:?}");
        ran.stdout
    };
    does(&["navigate", &site.url("a", "/")]);
    for (name, args, is_private) in [
        ("page.har", &["requests", "--har"][..], true),
        ("shot.png", &["screenshot", "-o"], false),
        ("tree.txt", &["snapshot", "-o"], false),
        ("aria.txt", &["snapshot", "--format", "aria", "-o"], false),
        ("page.pdf", &["pdf", "-o"], true),
        ("state.json", &["state", "save"], true),
    ] {
        let (file, other) = (folder.join(name), folder.join("the file before"));
        // Another name of the old content: it would change if the file were written in place.
        fs::write(&file, r#"{"format":"cdpilot-state"}"#).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        fs::hard_link(&file, &other).unwrap();
        let link = folder.join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        does(&[args, &[link.to_str().unwrap()]].concat());
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}: a link is followed");
        assert_eq!(fs::read_to_string(&other).unwrap(), r#"{"format":"cdpilot-state"}"#, "{name}");
        assert!(fs::metadata(&file).unwrap().len() > 30, "{name}");
        assert!(!is_private || mode(&file) == 0o600, "{name} {:o}", mode(&file));
        let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names.len(), 3, "{names:?}");
        for path in [&file, &other, &link] {
            fs::remove_file(path).unwrap();
        }
    }
    // What is no regular file is written to as it is.
    assert!(does(&["screenshot", "-o", "/dev/null"]).contains("/dev/null"));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    assert!(does(&["requests", "--har", "/dev/stdout"]).contains("\"entries\""));
}
