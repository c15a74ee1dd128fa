//! Downloads: paths, names and reports.

use std::path::Path;
use std::sync::Arc;

use cdpilot::page::{Download, DownloadState, Error, PageOptions, SnapshotOptions};
use cdpilot::supervisor::{EventKind, SupervisorOptions};
use cdpilot::sync::Deadline;
use serde_json::json;

use crate::support::chrome::soon;
use crate::support::settle_tab::SettleTab;
use crate::support::site::{Answer, Held};

fn downloading(name: &str, folder: &Path) -> Option<SettleTab> {
    let mut page = PageOptions::default();
    page.downloads = Some(folder.to_owned());
    SettleTab::with(SupervisorOptions::task(name), page)
}

fn attachment(name: &str, bytes: impl Into<Arc<[u8]>>) -> Answer {
    let how = format!("attachment; filename=\"{name}\"");
    Answer::bytes("application/octet-stream", bytes).header("Content-Disposition", &how)
}

fn next(tab: &SettleTab) -> Download {
    tab.wait_download(None, soon()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with("incoming-"));
    names.sort();
    names
}

#[test]
fn a_download_is_saved_under_its_name_however_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("made/downloads");
    let Some(tab) = downloading("downloads", &root) else { return };
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    tab.site.page("/", "<a id=a href=/file>file</a>");
    tab.site.put("/file", attachment("report.bin", bytes.clone()));
    tab.go("/");

    tab.eval("a.click()");
    let got = next(&tab);
    assert_eq!((got.state, got.bytes, &*got.suggested_filename), (DownloadState::Completed, 100_000, "report.bin"));
    assert_eq!(*got.url, *tab.site.url("a", "/file"));
    assert_eq!(got.path.as_deref(), Some(root.canonicalize().unwrap().join("report.bin").as_path()));
    assert_eq!(std::fs::read(got.path.unwrap()).unwrap(), bytes);

    // The same name again, by a requested navigation.
    let done = tab.supervisor().navigate(&tab.top(), &tab.site.url("a", "/file"), soon()).unwrap();
    assert_eq!(done.is_download, Some(true));
    assert_eq!(next(&tab).path.unwrap().file_name().unwrap(), "report (1).bin");

    for (href, name, text) in [
        ("data:text/plain,from-data", "data.txt", "from-data"),
        ("URL.createObjectURL(new Blob(['from-blob']))", "blob.txt", "from-blob"),
    ] {
        let href = if href.starts_with("data:") { format!("'{href}'") } else { href.to_owned() };
        tab.eval(&format!(
            "(() => {{ const a = document.createElement('a'); a.href = {href}; a.download = '{name}'; a.click() }})()"
        ));
        let got = next(&tab);
        assert_eq!((got.state, &*got.suggested_filename), (DownloadState::Completed, name), "{got:?}");
        assert_eq!(std::fs::read_to_string(got.path.unwrap()).unwrap(), text);
    }

    // From a frame of another process, and from a tab that closes over it.
    tab.site.page("/outer", "<iframe src='@b/'></iframe>");
    tab.go("/outer");
    let inner = tab.frame("/");
    let inner = if inner.is_oopif { inner } else { tab.frame("b.localhost/") };
    tab.eval_in(&inner.frame_id, "a.click()");
    assert_eq!(next(&tab).path.unwrap().file_name().unwrap(), "report (2).bin");
    tab.eval("window.open('/file'), 1");
    assert_eq!(next(&tab).path.unwrap().file_name().unwrap(), "report (3).bin");

    let shown = serde_json::to_value(&tab.downloads()[0]).unwrap();
    let keys: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["bytes", "path", "state", "suggestedFilename", "url"]);
    assert_eq!(tab.downloads().len(), 6);
    let log = tab.supervisor().log().since(0, usize::MAX).entries;
    assert_eq!(log.iter().filter(|entry| entry.kind() == EventKind::Download).count(), 12);
    assert_eq!(names(&root).len(), 6);
    drop(tab);
    assert_eq!(std::fs::read_dir(&root).unwrap().count(), 6, "what was half done is removed");
}

/// The tab that is opened never shows a document, and the browser may report the download before that tab.
#[test]
fn a_download_in_a_new_tab_belongs_to_the_action() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tab) = downloading("downloads-new-tab", folder.path()) else { return };
    tab.site.page(
        "/",
        "<a href=/file target=_blank>Link</a> <a href=/file target=_blank rel=opener>With opener</a>\
         <form action=/file method=post target=_blank><button>Form</button></form>\
         <button onclick=\"window.open('/file')\">Script</button>\
         <button onclick=\"const w = window.open('about:blank'); setTimeout(() => w.location = '/file')\">Later</button>",
    );
    tab.site.put("/file", attachment("new.bin", vec![7; 1000]));
    tab.go("/");
    for (count, name) in ["Link", "With opener", "Form", "Script", "Later"].into_iter().enumerate() {
        let kind = json!({ "kind": "click", "locator": format!("text=\"{name}\"") });
        let outcome = tab.act(&serde_json::from_value(kind).unwrap(), soon()).unwrap();
        // It may begin after the answer.
        let got = [next(&tab)];
        assert!(outcome.downloads.is_empty() || outcome.downloads[0].path == got[0].path, "{name}: {outcome:?}");
        let found: Vec<_> = got.iter().map(|got| (got.state, got.bytes, got.path.is_some())).collect();
        assert_eq!(found, [(DownloadState::Completed, 1000, true)], "{name}: {got:?}");
        assert_eq!(tab.downloads().len(), count + 1, "{name}");
    }
    assert_eq!(names(folder.path()).len(), 5);
}

#[test]
fn download_names_of_a_page_cannot_leave_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tab) = downloading("download-names", folder.path()) else { return };
    tab.site.page("/", "");
    tab.go("/");
    std::fs::write(folder.path().join("taken.txt"), "mine").unwrap();
    for wanted in ["../../up.txt", ".bashrc", "CON.txt", "a\\\\b.txt", "taken.txt", "/etc/x.txt"] {
        tab.eval(&format!(
            "(() => {{ const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['x'])); \
             a.download = '{wanted}'; a.click() }})()"
        ));
        let got = next(&tab);
        assert_eq!(got.state, DownloadState::Completed, "{wanted}: {got:?}");
        let path = got.path.unwrap();
        assert_eq!(path.parent().unwrap(), folder.path().canonicalize().unwrap(), "{wanted}");
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        println!("{wanted:?} suggested {:?} is {name:?}", got.suggested_filename);
        assert!(!name.starts_with('.') && name != "CON.txt", "{wanted}: {name}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("taken.txt")).unwrap(), "mine");
    assert!(names(folder.path()).contains(&"taken (1).txt".to_owned()));

    // A name that is asked for.
    let click =
        "(() => { const a = document.createElement('a'); a.href = 'data:,y'; a.download = 'y.txt'; a.click() })()";
    tab.eval(click);
    let got = tab.wait_download(Some("mine.txt"), soon()).unwrap();
    assert_eq!(got.path.unwrap().file_name().unwrap(), "mine.txt");
    assert!(!names(folder.path()).contains(&"y.txt".to_owned()));
    for bad in ["../x", "/etc/x", "a/b", "", ".", "..", ".hidden", "a\\b", "nul"] {
        let error = tab.wait_download(Some(bad), Deadline::after_millis(1)).unwrap_err();
        assert!(matches!(&error, Error::PathRefused { .. }) && error.code() == "PATH_REFUSED", "{bad:?}: {error}");
    }
}

#[test]
fn download_progress_and_interruption_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tab) = downloading("download-ends", folder.path()) else { return };
    let held = Held::default();
    tab.site.page("/", "<a id=slow href=/slow>slow</a><a id=broken href=/broken>broken</a>");
    tab.site.put("/slow", attachment("slow.bin", vec![1; 1000]).held_by(&held));
    tab.site.put("/broken", attachment("broken.bin", vec![1; 1000]).header("Content-Length", "5000"));
    tab.go("/");
    tab.eval("broken.click()");
    let got = next(&tab);
    assert_eq!((got.state, got.path.clone()), (DownloadState::Canceled, None), "{got:?}");
    assert!(got.failure.is_some());

    // Asked for before it comes.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| next(&tab));
        tab.eval("slow.click()");
        tab.site.wait_requested("a.localhost/slow", 1);
        held.release();
        assert_eq!(waiting.join().unwrap().state, DownloadState::Completed);
    });
    let late = tab.wait_download(None, Deadline::after_millis(200)).unwrap_err();
    assert!(matches!(&late, Error::Timeout { .. }) && late.code() == "TIMEOUT", "{late}");
    assert_eq!(names(folder.path()), ["slow.bin"]);
    let states: Vec<DownloadState> = tab.downloads().iter().map(|download| download.state).collect();
    assert_eq!(states, [DownloadState::Canceled, DownloadState::Completed]);

    let Some(without) = SettleTab::new("no-downloads") else { return };
    let error = without.wait_download(None, soon()).unwrap_err();
    assert_eq!(error.code(), "BAD_REQUEST");
}

/// A tab with a PDF says so, and its document can be saved.
#[test]
fn a_pdf_is_named_and_saved() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tab) = downloading("downloads-pdf", folder.path()) else { return };
    let file = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n";
    tab.site.put("/report.pdf", Answer::bytes("application/pdf", file.as_bytes()));
    tab.go("/report.pdf");
    let seen = tab.tab.snapshot(&SnapshotOptions::default(), soon()).unwrap();
    let text = tab.tab.text(None, None, soon()).unwrap();
    assert!(seen.pdf && text.pdf && text.text.is_empty(), "{text:?}");
    let saved = tab.tab.download_document(Some("mine.pdf"), soon()).unwrap();
    assert_eq!(std::fs::read_to_string(saved.path.unwrap()).unwrap(), file);
}
