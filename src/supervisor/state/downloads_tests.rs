//! Downloads that are reported before their page, with made-up events.

use serde_json::json;

use super::super::super::options::{Pages, SupervisorOptions};
use super::super::super::snapshot::View;
use super::*;
use crate::cdp::protocol::target::TargetInfo;

fn now() -> Now {
    Now { instant: std::time::Instant::now(), unix: 0.0 }
}

fn begin(state: &mut State, guid: &str, frame: &str) {
    let event = json!({ "frameId": frame, "guid": guid, "url": "http://a.test/f", "suggestedFilename": "f" });
    state.download_begins(serde_json::from_value(event).unwrap(), now());
}

fn progress(state: &mut State, guid: &str, kind: &str) {
    let event = json!({ "guid": guid, "totalBytes": 5, "receivedBytes": 5, "state": kind });
    state.download_goes_on(serde_json::from_value(event).unwrap(), now());
}

fn attach(state: &mut State, target: &str) {
    let info: TargetInfo = serde_json::from_value(json!({
        "targetId": target, "type": "page", "title": "", "url": "", "attached": true, "canAccessOpener": false
    }))
    .unwrap();
    state.adopt_page(&format!("S{target}").as_str().into(), &info, now());
}

fn seen(state: &mut State) -> Vec<(String, DownloadProgress)> {
    let view = state.view(&View::empty()).unwrap_or_else(View::empty);
    view.downloads.iter().map(|download| (download.target_id.to_string(), download.state)).collect()
}

#[test]
fn downloads_reported_before_their_page_are_kept_with_their_progress() {
    let mut state = State::new(SupervisorOptions { pages: Pages::All, ..SupervisorOptions::task("early") });
    begin(&mut state, "1", "P");
    begin(&mut state, "2", "P");
    begin(&mut state, "3", "elsewhere");
    progress(&mut state, "1", "completed");
    progress(&mut state, "1", "completed");
    assert_eq!(seen(&mut state), []);
    attach(&mut state, "Q");
    assert_eq!(seen(&mut state), []);
    attach(&mut state, "P");
    let page = |state: DownloadProgress| ("P".to_owned(), state);
    assert_eq!(seen(&mut state), [page(DownloadProgress::Completed), page(DownloadProgress::InProgress)]);
    progress(&mut state, "2", "canceled");
    assert_eq!(seen(&mut state), [page(DownloadProgress::Completed), page(DownloadProgress::Canceled)]);
    // Once it is attached, before its frame tree.
    begin(&mut state, "4", "Q");
    assert_eq!(seen(&mut state).last().unwrap(), &("Q".to_owned(), DownloadProgress::InProgress));
}

#[test]
fn downloads_of_unknown_pages_are_bounded() {
    let mut state = State::new(SupervisorOptions { pages: Pages::All, ..SupervisorOptions::task("unclaimed") });
    for number in 0..MAX_UNCLAIMED + 10 {
        begin(&mut state, &number.to_string(), &format!("F{number}"));
    }
    assert_eq!(state.downloads.unclaimed.len(), MAX_UNCLAIMED);
}
