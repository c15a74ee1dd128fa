//! File uploads: what the page receives, allowed folders, reports.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cdpilot::page::{Error, PageOptions, SnapshotOptions, Upload};
use cdpilot::supervisor::{self, ArmedChooser, EventKind, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::{Value, json};

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;

/// A page that reports the values of its inputs.
const PAGE: &str = "<label for=one>One</label><input id=one type=file aria-label='the one'>\
    <input id=many type=file multiple aria-label='the many'><button onclick='one.click()'>open</button>\
    <button id=other aria-label='no input'>x</button><script>seen = []; \
    for (const input of [one, many]) for (const kind of ['input', 'change', 'cancel']) \
    input.addEventListener(kind, event => { const item = [input.id, kind]; seen.push(item); \
    item.read = Promise.all([...input.files].map(f => f.text().then(t => f.name + ':' + t))).then(files => item.push(...files)) })</script>";

fn armed(upload: Upload) -> ArmedChooser {
    match upload {
        Upload::Armed(armed) => armed,
        Upload::Done(_) => panic!("done at once"),
    }
}

fn files(folder: &Path) -> [PathBuf; 2] {
    ["a.txt", "b.txt"].map(|name| {
        let path = folder.join(name);
        std::fs::write(&path, name.to_uppercase()).unwrap();
        path
    })
}

/// The events of the page, once there are this many.
fn seen(at: &dyn Fn(&str) -> Value, many: usize) -> Value {
    at(&format!(
        "new Promise(done => {{ const look = () => seen.length >= {many} ? done(Promise.all(seen.map(item => item.read)).then(() => \
         seen.map(item => [...item]))) : setTimeout(look, 10); look() }})"
    ))
}

/// What the page keeps is compared with what was given; folders and drop zones.
#[test]
fn files_reach_the_page_as_a_whole_or_it_is_said() {
    let Some(tab) = SettleTab::new("files-whole") else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("sub/c.txt"), "C").unwrap();
    tab.site.page(
        "/",
        "<input type=file multiple aria-label=plain id=plain><input type=file multiple aria-label=half id=half>\
         <input type=file multiple aria-label=cleared id=cleared><input type=file webkitdirectory multiple aria-label=folder id=folder>\
         <div role=button aria-label=zone id=zone style='height:80px'>Drop</div><button aria-label=dead>Dead</button><script>\
         dropped = []; zone.ondragover = e => e.preventDefault();\
         zone.ondrop = e => { e.preventDefault(); for (const f of e.dataTransfer.files) f.text().then(t => dropped.push(f.name + ':' + t)) };\
         half.onchange = () => { const d = new DataTransfer(); d.items.add(half.files[0]); half.files = d.files };\
         cleared.onchange = () => { got = cleared.files.length; cleared.value = '' };</script>",
    );
    tab.go("/");
    let seen = tab.snapshot(&SnapshotOptions::default(), soon()).unwrap();
    let at = |name: &str| seen.refs.iter().find(|(_, shown)| shown.name == name).unwrap().0.clone();
    let give = |name: &str, paths: &[PathBuf]| tab.arm_chooser(paths, Some(&at(name)), soon());
    let done = |name: &str, paths: &[PathBuf]| match give(name, paths).unwrap() {
        Upload::Done(given) => (given.count, given.cleared),
        Upload::Armed(_) => panic!("armed"),
    };
    assert_eq!(done("plain", &files), (2, false));
    let error = give("half", &files).unwrap_err().to_string();
    assert!(error.contains("it holds 1 of 2 files"), "{error}");
    assert_eq!((done("cleared", &files), tab.eval("got")), ((2, true), json!(2)));
    assert_eq!(done("folder", &[folder.path().to_owned()]), (3, false));
    let names = "[...folder.files].map(f => f.webkitRelativePath.split('/').slice(1).join('/')).sort()";
    assert_eq!(tab.eval(names), json!(["a.txt", "b.txt", "sub/c.txt"]));
    assert_eq!(done("zone", &files), (2, false));
    assert_eq!(
        tab.eval("new Promise(done => { const look = () => dropped.length === 2 ? done(dropped.sort()) : setTimeout(look, 10); look() })"),
        json!(["a.txt:A.TXT", "b.txt:B.TXT"])
    );
    for (name, paths, why) in [
        ("dead", &files[..1], "takes no dropped files"),
        ("plain", &[folder.path().to_owned()][..], "it takes files, not a folder"),
        ("folder", &files[..1], "it takes one folder, not files"),
        ("zone", &[folder.path().to_owned()][..], "a folder is given to one that takes folders"),
    ] {
        let error = give(name, paths).unwrap_err().to_string();
        assert!(error.contains(why), "{name}: {error}");
    }
    assert_eq!(tab.eval("location.pathname"), "/", "a dropped file is not opened in place of the page");
    std::os::unix::fs::symlink("/etc/hostname", folder.path().join("sub/link")).unwrap();
    assert!(give("folder", &[folder.path().to_owned()]).unwrap_err().to_string().contains("is a link"));
}

#[test]
fn the_next_file_chooser_of_any_frame_gets_the_files() {
    let Some(tab) = SettleTab::new("choosers") else { return };
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = files(folder.path());
    tab.site.page("/", &format!("{PAGE}<iframe src='@b/inner'></iframe>"));
    tab.site.page("/inner", PAGE);
    tab.go("/");
    let inner = tab.frame("/inner");
    let in_top = |script: &str| tab.eval(script);
    let in_frame = |script: &str| tab.eval_in(&inner.frame_id, script);
    let places: [&dyn Fn(&str) -> Value; 2] = [&in_top, &in_frame];
    for at in places {
        let one = armed(tab.arm_chooser(std::slice::from_ref(&a), None, soon()).unwrap());
        at("one.click()");
        let chosen = one.wait(soon()).unwrap();
        assert_eq!((chosen.files, chosen.several), (1, false));
        let many = armed(tab.arm_chooser(&[a.clone(), b.clone()], None, soon()).unwrap());
        at("many.click()");
        assert!(many.wait(soon()).unwrap().several);
        let expected = json!([
            ["one", "input", "a.txt:A.TXT"],
            ["one", "change", "a.txt:A.TXT"],
            ["many", "input", "a.txt:A.TXT", "b.txt:B.TXT"],
            ["many", "change", "a.txt:A.TXT", "b.txt:B.TXT"],
        ]);
        assert_eq!(seen(at, 4), expected);
    }

    // Several files for an input that accepts one: reported, and the page gets none.
    let two = armed(tab.arm_chooser(&[a.clone(), b], None, soon()).unwrap());
    tab.eval("one.value = '', one.click()");
    assert!(matches!(two.wait(soon()), Err(supervisor::Error::ChooserOfOne { files: 2 })));
    assert_eq!(tab.eval("one.files.length"), 0);

    // Files that others take the place of, and files that no chooser comes for.
    let old = armed(tab.arm_chooser(std::slice::from_ref(&a), None, soon()).unwrap());
    let new =
        armed(tab.arm_chooser(std::slice::from_ref(&a), None, Deadline::after(Duration::from_millis(300))).unwrap());
    assert!(matches!(old.wait(soon()), Err(supervisor::Error::ChooserReplaced)));
    assert!(matches!(new.wait(soon()), Err(supervisor::Error::NoChooser { .. })));

    // A file chooser that was not armed is cancelled, and the page continues.
    tab.eval("seen = []; one.click()");
    assert_eq!(seen(&in_top, 1), json!([["one", "cancel"]]));
    tab.supervisor().caught_up(soon()).unwrap();
    let log = tab.supervisor().log().since(0, usize::MAX).entries;
    let answered: Vec<bool> = log
        .iter()
        .filter(|entry| entry.kind() == EventKind::FileChooser)
        .map(|entry| serde_json::to_value(&*entry.event).unwrap()["answered"] == true)
        .collect();
    assert_eq!(answered, [true, true, true, true, true, false]);
}

#[test]
fn a_given_file_input_gets_the_files_at_once() {
    let Some(tab) = SettleTab::new("upload-refs") else { return };
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = files(folder.path());
    tab.site.page("/", &format!("{PAGE}<iframe src='@b/inner'></iframe>"));
    tab.site.page("/inner", PAGE);
    tab.go("/");
    let inner = tab.frame("/inner");
    let shot = tab.snapshot(&SnapshotOptions::default(), soon()).unwrap();
    let text = shot.snapshot.as_deref().unwrap();
    let refs = |name: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains(name));
        lines.map(|line| line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()).collect()
    };
    let [one, many, other] = ["the one", "the many", "no input"].map(refs);
    assert_eq!((one.len(), many.len()), (2, 2), "{text}");
    for (index, at) in [(0, None), (1, Some(&inner.frame_id))] {
        let eval = |script: &str| at.map_or_else(|| tab.eval(script), |frame| tab.eval_in(frame, script));
        let done = tab.arm_chooser(std::slice::from_ref(&a), Some(&one[index]), soon()).unwrap();
        assert!(matches!(done, Upload::Done(_)));
        let _ = tab.arm_chooser(&[a.clone(), b.clone()], Some(&many[index]), soon()).unwrap();
        assert_eq!(
            seen(&eval, 4),
            json!([
                ["one", "input", "a.txt:A.TXT"],
                ["one", "change", "a.txt:A.TXT"],
                ["many", "input", "a.txt:A.TXT", "b.txt:B.TXT"],
                ["many", "change", "a.txt:A.TXT", "b.txt:B.TXT"],
            ])
        );
    }
    let error = tab.arm_chooser(&[a.clone(), b], Some(&one[0]), soon()).unwrap_err();
    assert!(matches!(&error, Error::NotActionable { .. }) && error.to_string().contains("one file"), "{error}");
    let error = tab.arm_chooser(std::slice::from_ref(&a), Some(&other[0]), soon()).unwrap_err();
    assert!(error.to_string().contains("<button>"), "{error}");
    tab.eval("one.remove()");
    let error = tab.arm_chooser(std::slice::from_ref(&a), Some(&one[0]), soon()).unwrap_err();
    assert_eq!(error.code(), "STALE_REF");
}

#[cfg(unix)]
#[test]
fn uploads_come_only_from_the_given_folders() {
    use std::os::unix::fs::symlink;

    let root = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut options = PageOptions::default();
    options.uploads = Some(vec![root.path().to_owned()]);
    let Some(tab) = SettleTab::with(SupervisorOptions::task("upload-roots"), options) else { return };
    let [inside, linked] = files(root.path());
    let [outside, _] = files(elsewhere.path());
    symlink(&outside, root.path().join("out")).unwrap();
    symlink(&inside, elsewhere.path().join("in")).unwrap();
    std::fs::hard_link(&linked, elsewhere.path().join("hard")).unwrap();
    std::fs::create_dir(root.path().join("folder")).unwrap();
    let up = root.path().join("folder/../../").join(elsewhere.path().file_name().unwrap()).join("a.txt");
    for refused in [
        outside.clone(),
        root.path().join("out"),
        root.path().join("none"),
        root.path().join("folder"),
        linked,
        up,
        PathBuf::from("/dev/null"),
    ] {
        let error = tab.arm_chooser(std::slice::from_ref(&refused), None, soon()).unwrap_err();
        assert_eq!(error.code(), "PATH_REFUSED", "{}: {error}", refused.display());
    }
    for fine in [inside, elsewhere.path().join("in")] {
        assert!(matches!(tab.arm_chooser(&[fine], None, soon()).unwrap(), Upload::Armed(_)));
    }
}
