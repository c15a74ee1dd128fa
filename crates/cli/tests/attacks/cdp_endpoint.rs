//! Attacks of a CDP endpoint.

mod wire;

use std::path::Path;
use std::sync::Arc;

use cdpilot::page::{DownloadState, PageOptions, Tab, Tabs};
use cdpilot::supervisor::Supervisor;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::llm_endpoint::in_time;
use super::{Attack, Row, rows, run_all};
use crate::support::chrome::soon;
use crate::support::fake_cdp::Fake;
use crate::support::fake_pages::{PAGE, attached, browser, folded, frame, opening, supervise, tell};

/// A page of the endpoint, with downloads into a folder of ours beside a file that is not to be touched.
struct Target {
    // Field order: the connection ends before the endpoint.
    tab: Arc<Tab>,
    tabs: Tabs,
    fake: Fake,
    folder: TempDir,
}

const ATTACKS: &[Attack<Target>] = &[
    Attack {
        name: "sends a path that leads out of the folder as the id of a download",
        witness: "a file outside of the folder, which must stay where it is",
        run: id_leads_out,
    },
    Attack {
        name: "reports a file of the user as the file of a download",
        witness: "that file, which must stay where it is",
        run: file_elsewhere,
    },
    Attack {
        name: "reports frames that contain themselves",
        witness: "a frame tree that does not end",
        run: frames_in_circles,
    },
    Attack {
        name: "reports 3,000 frames, half of them nested in each other",
        witness: "later events, which must be processed, and the depth of the frame tree",
        run: many_frames,
    },
    Attack {
        name: "reports events of sessions, frames and targets that do not exist, and malformed events",
        witness: "pages and frames, which must be unchanged",
        run: nonsense,
    },
    Attack {
        name: "opens a dialog with half a megabyte of text",
        witness: "the length of the text that is kept after it is closed",
        run: long_dialog,
    },
    Attack {
        name: "opens and closes 2,000 dialogs",
        witness: "the number of dialogs that are kept, and events after them",
        run: many_dialogs,
    },
    Attack {
        name: "reports an address and a title of ten megabytes",
        witness: "the bytes that the event log keeps",
        run: long_address,
    },
];

pub(super) fn listed() -> Vec<Row> {
    let mut all = rows(ATTACKS);
    all.extend(rows(wire::ATTACKS));
    all
}

#[test]
fn attacks_of_a_cdp_endpoint() {
    let fake = browser();
    let supervisor: Arc<Supervisor> = Arc::new(supervise(&fake));
    let folder = tempfile::tempdir().unwrap();
    let mut options = PageOptions::default();
    options.downloads = Some(folder.path().join("downloads"));
    let tabs = Tabs::with_options(supervisor, options).unwrap();
    let top = tabs.supervisor().view().pages[0].target_id.clone();
    let target = Target { tab: tabs.tab(&top).unwrap(), tabs, fake, folder };
    // An honest download is moved to its place: what fails below fails for the attack.
    let response = target.download("honest", |incoming| {
        std::fs::write(incoming.join("honest"), "x").unwrap();
        None
    });
    let expected = target.folder.path().join("downloads/name.txt").canonicalize().ok();
    assert_eq!((response.0, response.1), (DownloadState::Completed, expected));
    run_all(&target, ATTACKS);
}

impl Target {
    fn supervisor(&self) -> &Supervisor {
        self.tabs.supervisor()
    }

    /// The download folder that the browser was given.
    fn incoming(&self) -> std::path::PathBuf {
        let sets_path = |request: &&crate::support::fake_cdp::Request| request.params["downloadPath"].is_string();
        self.fake.wait("where downloads go", |log| log.requests.iter().any(|request| sets_path(&request)));
        let place = self.fake.log(|log| log.requests.iter().find(sets_path).unwrap().params["downloadPath"].clone());
        place.as_str().unwrap().into()
    }

    /// A download with its id and outcome. The end reports the file.
    fn download(
        &self,
        guid: &str,
        file: impl FnOnce(&Path) -> Option<String>,
    ) -> (DownloadState, Option<std::path::PathBuf>) {
        let file = file(&self.incoming());
        let begin =
            json!({ "frameId": PAGE, "guid": guid, "url": "http://fake.test/f", "suggestedFilename": "name.txt" });
        self.fake.emit(None, "Browser.downloadWillBegin", begin);
        let mut end = json!({ "guid": guid, "totalBytes": 1, "receivedBytes": 1, "state": "completed" });
        if let Some(file) = file {
            end["filePath"] = file.into();
        }
        self.fake.emit(None, "Browser.downloadProgress", end);
        let response = self.tab.wait_download(None, soon()).unwrap();
        (response.state, response.path)
    }

    /// A file that is not to be touched.
    fn victim(&self) -> std::path::PathBuf {
        let folder = self.folder.path().join("victim");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("key"), "a key").unwrap();
        folder.join("key")
    }
}

/// What became of the file that a download named.
fn untouched(victim: &Path, how: &str, response: &(DownloadState, Option<std::path::PathBuf>)) -> Result<(), String> {
    match (victim.exists(), response) {
        (true, (DownloadState::Failed, None)) => Ok(()),
        (target, response) => Err(format!("{how}: the file is there: {target}, the download: {response:?}")),
    }
}

fn id_leads_out(target: &Target) -> Result<(), String> {
    let victim = target.victim();
    for guid in [
        "../../victim/key".to_owned(),
        "x/../../../victim/key".to_owned(),
        "../../victim/./key".to_owned(),
        victim.display().to_string(),
        String::new(),
        ".".to_owned(),
        "..".to_owned(),
        ".owner".to_owned(),
        "a\0b".to_owned(),
        "x".repeat(100_000),
    ] {
        let response = target.download(&guid, |_| None);
        untouched(&victim, &guid, &response)?;
    }
    Ok(())
}

fn file_elsewhere(target: &Target) -> Result<(), String> {
    let victim = target.victim();
    let pretended = target.folder.path().join("incoming-pretended");
    std::fs::create_dir_all(&pretended).unwrap();
    std::fs::write(pretended.join("key"), "a key").unwrap();
    let incoming = target.incoming();
    let inside = |tail: &str| format!("{}/{tail}", incoming.display());
    for (number, file) in [
        victim.display().to_string(),
        inside("../../victim/key"),
        inside("./../../victim/key"),
        inside(".owner"),
        pretended.join("key").display().to_string(),
        incoming.display().to_string(),
        "key".to_owned(),
        "/dev/zero".to_owned(),
        "/".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let response = target.download(&format!("id{number}"), |_| Some(file.clone()));
        untouched(&victim, &file, &response)?;
    }
    if !pretended.join("key").exists() || !incoming.join(".owner").exists() {
        return Err("another file was moved".to_owned());
    }
    Ok(())
}

fn inside(target: &Target, id: &str, parent: &str) {
    tell(&target.fake, "Page.frameAttached", json!({ "frameId": id, "parentFrameId": parent }));
}

fn frames_in_circles(target: &Target) -> Result<(), String> {
    inside(target, "A", PAGE);
    inside(target, "B", "A");
    let now = folded(&target.fake, target.supervisor());
    assert_eq!(now.full_frame_tree(PAGE).children.len(), 2);
    inside(target, "A", "B");
    inside(target, PAGE, "B");
    inside(target, PAGE, PAGE);
    inside(target, "C", "C");
    for (id, parent) in [("A", "B"), ("B", "B"), ("C", "C")] {
        let event = json!({ "frame": frame(id, Some(parent), "/circle"), "type": "Navigation" });
        tell(&target.fake, "Page.frameNavigated", event);
        inside(target, "B", "A");
    }
    let now = folded(&target.fake, target.supervisor());
    let children = in_time("the frame tree", move || now.full_frame_tree(PAGE).children.len())?;
    tell(&target.fake, "Page.frameNavigated", json!({ "frame": frame(PAGE, None, "/"), "type": "Navigation" }));
    folded(&target.fake, target.supervisor());
    if children <= 3 { Ok(()) } else { Err(format!("{children} frames in the tree")) }
}

fn many_frames(target: &Target) -> Result<(), String> {
    let mut parent = PAGE.to_owned();
    for number in 0..1_500 {
        let id = format!("D{number}");
        inside(target, &id, &parent);
        parent = id;
    }
    (0..1_500).for_each(|number| inside(target, &format!("W{number}"), PAGE));
    let now = folded(&target.fake, target.supervisor());
    let children = in_time("the frame tree", move || now.full_frame_tree(PAGE).children.len())?;
    tell(&target.fake, "Page.frameNavigated", json!({ "frame": frame(PAGE, None, "/"), "type": "Navigation" }));
    let now = folded(&target.fake, target.supervisor());
    // Of the deep ones no more than a browser would have; with another document they are gone.
    match ((1_500..=2_600).contains(&children), now.full_frame_tree(PAGE).children.len()) {
        (true, 0) => Ok(()),
        (_, left) => Err(format!("{children} frames, {left} with another document")),
    }
}

fn nonsense(target: &Target) -> Result<(), String> {
    let state = |target: &Target| {
        let now = folded(&target.fake, target.supervisor());
        (now.pages.len(), now.frames.iter().filter(|frame| frame.target_id.as_str() == PAGE).count(), now.dialogs.len())
    };
    let before = state(target);
    let shapes = [json!(null), json!(5), json!([]), json!({}), json!({ "frameId": 7 }), json!({ "frame": "x" })];
    let methods = [
        "Page.frameAttached",
        "Page.frameDetached",
        "Page.frameNavigated",
        "Page.javascriptDialogOpening",
        "Target.attachedToTarget",
        "Target.detachedFromTarget",
        "Target.targetDestroyed",
        "Runtime.executionContextCreated",
        "Browser.downloadWillBegin",
        "Network.requestWillBeSent",
    ];
    for method in methods {
        for shape in &shapes {
            target.fake.emit(None, method, shape.clone());
            tell(&target.fake, method, shape.clone());
            target.fake.emit(Some("no such session"), method, shape.clone());
        }
    }
    target.fake.emit(Some("nobody"), "Page.javascriptDialogOpening", opening(PAGE, "alert", "x"));
    target.fake.emit(None, "Target.detachedFromTarget", json!({ "sessionId": "nobody", "targetId": PAGE }));
    target.fake.emit(Some("nobody"), "Page.frameDetached", json!({ "frameId": PAGE, "reason": "remove" }));
    target.fake.emit(Some("nobody"), "Inspector.targetCrashed", json!({}));
    let now = state(target);
    if now == before { Ok(()) } else { Err(format!("{before:?} became {now:?}")) }
}

/// Closes the dialog of the page.
fn close_dialog(target: &Target) {
    tell(&target.fake, "Page.javascriptDialogClosed", json!({ "frameId": PAGE, "result": false, "userInput": "" }));
}

fn long_dialog(target: &Target) -> Result<(), String> {
    let message = "\u{1b}[2J\u{202e}Ignore that. ".repeat(30_000);
    tell(&target.fake, "Page.javascriptDialogOpening", opening(PAGE, "alert", &message));
    let now = folded(&target.fake, target.supervisor());
    assert_eq!(now.dialogs.len(), 1);
    close_dialog(target);
    let now = folded(&target.fake, target.supervisor());
    let kept = now.recent.last().map_or(0, |closed| closed.dialog.message.len());
    if (100..=10_000).contains(&kept) { Ok(()) } else { Err(format!("{kept} bytes are kept")) }
}

fn many_dialogs(target: &Target) -> Result<(), String> {
    for number in 0..2_000 {
        tell(&target.fake, "Page.javascriptDialogOpening", opening(PAGE, "confirm", &number.to_string()));
        close_dialog(target);
    }
    let now = folded(&target.fake, target.supervisor());
    let kept = (now.dialogs.len(), now.recent.len());
    let last = now.recent.last().map(|closed| closed.dialog.message.to_string());
    if kept.0 == 0 && kept.1 <= 20 && last.as_deref() == Some("1999") {
        Ok(())
    } else {
        Err(format!("{kept:?} {last:?}"))
    }
}

fn long_address(target: &Target) -> Result<(), String> {
    let long = format!("http://fake.test/{}", "x".repeat(10 << 20));
    let mut document = frame(PAGE, None, "/");
    document["url"] = long.as_str().into();
    for _ in 0..3 {
        tell(&target.fake, "Page.frameNavigated", json!({ "frame": document, "type": "Navigation" }));
        let mut info: Value = attached("", PAGE, "page", None)["targetInfo"].take();
        info["title"] = long.as_str().into();
        target.fake.emit(None, "Target.targetInfoChanged", json!({ "targetInfo": info }));
    }
    folded(&target.fake, target.supervisor());
    let entries = target.supervisor().log().since(0, 20_000).entries;
    let bytes: usize = entries.iter().map(|entry| serde_json::to_string(&*entry.event).unwrap().len()).sum();
    if bytes <= 20 << 20 { Ok(()) } else { Err(format!("{bytes} bytes in the log")) }
}
